/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_NVIDIA_NVML_H
#define YOKE_TESTS_FAKES_NVIDIA_NVML_H

/* Layouts and functions of NVML, by nvml.h (NVIDIA/go-nvml, pkg/nvml/nvml.h). */
#include "tests/fakes/common/entry.h"

typedef struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
} nvml_pci_t;

typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory_t;

FAKE_API int nvmlInit_v2(void);
FAKE_API int nvmlShutdown(void);
FAKE_API int nvmlSystemGetDriverVersion(char *text, unsigned size);
FAKE_API int nvmlSystemGetNVMLVersion(char *text, unsigned size);
FAKE_API int nvmlDeviceGetCount_v2(unsigned *count);
FAKE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
FAKE_API int nvmlDeviceGetName(void *device, char *text, unsigned size);
FAKE_API int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
FAKE_API int nvmlDeviceGetPciInfo_v3(void *device, nvml_pci_t *pci);
FAKE_API int nvmlDeviceGetMemoryInfo(void *device, nvml_memory_t *memory);
FAKE_API int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *value);
FAKE_API int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *value);
FAKE_API int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *value);
FAKE_API int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *value);
FAKE_API int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
FAKE_API int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count);
FAKE_API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
                                                 void **slice);

#endif
