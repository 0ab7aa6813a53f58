/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDA_CU_H
#define YOKE_BACKENDS_CUDA_CU_H

/*
 * Our own declarations of what we use of the CUDA driver API and of NVML. The first is
 * compared with cuda.h (13.0) by tests/hal/header_check_cuda.c where that is installed.
 * For NVML no header is installed: names, structures and codes are from NVIDIA's "NVML
 * API Reference Guide", docs.nvidia.com/deploy/nvml-api.
 */

#include <stddef.h>
#include <stdint.h>

typedef int yoke_cu_device_t;

enum {
    YOKE_CU_SUCCESS = 0,
    YOKE_CU_ERROR_STUB_LIBRARY = 34,
    YOKE_CU_ERROR_NO_DEVICE = 100,
    YOKE_CU_ERROR_NOT_PERMITTED = 800,
    YOKE_CU_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    YOKE_CU_ERROR_COMPAT_NOT_SUPPORTED = 804,
    YOKE_CU_ATTRIBUTE_INTEGRATED = 18,
    YOKE_CU_ATTRIBUTE_PCI_BUS = 33,
    YOKE_CU_ATTRIBUTE_PCI_DEVICE = 34,
    YOKE_CU_ATTRIBUTE_PCI_DOMAIN = 50
};

typedef struct yoke_cu_uuid {
    char bytes[16];
} yoke_cu_uuid_t;

typedef struct yoke_cu {
    int (*init)(unsigned);
    int (*driver_version)(int *);
    int (*device_count)(int *);
    int (*device_get)(yoke_cu_device_t *, int);
    int (*device_name)(char *, int, yoke_cu_device_t);
    int (*device_uuid)(yoke_cu_uuid_t *, yoke_cu_device_t);
    int (*total_memory)(size_t *, yoke_cu_device_t);
    int (*attribute)(int *, int, yoke_cu_device_t);
    int (*pci_bus_id)(char *, int, yoke_cu_device_t);
} yoke_cu_t;

const char *yoke_cu_error_name(int64_t code);

/* --- NVML --------------------------------------------------------------------------- */

typedef struct yoke_nvml_device *yoke_nvml_device_t;

enum {
    YOKE_NVML_SUCCESS = 0,
    YOKE_NVML_NOT_SUPPORTED = 3,
    YOKE_NVML_NO_PERMISSION = 4,
    YOKE_NVML_DRIVER_NOT_LOADED = 9,
    YOKE_NVML_GPU_IS_LOST = 15,
    YOKE_NVML_VERSION_MISMATCH = 18
};

typedef struct yoke_nvml_pci { /* nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3 */
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
} yoke_nvml_pci_t;

typedef struct yoke_nvml_memory { /* nvmlMemory_t */
    unsigned long long total, free, used;
} yoke_nvml_memory_t;

typedef struct yoke_nvml {
    int (*init)(void);
    int (*driver_version)(char *, unsigned);
    int (*nvml_version)(char *, unsigned);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, yoke_nvml_device_t *);
    int (*name)(yoke_nvml_device_t, char *, unsigned);
    int (*uuid)(yoke_nvml_device_t, char *, unsigned);
    int (*pci)(yoke_nvml_device_t, yoke_nvml_pci_t *);
    int (*memory)(yoke_nvml_device_t, yoke_nvml_memory_t *);
    int (*link_generation)(yoke_nvml_device_t, unsigned *);
    int (*link_width)(yoke_nvml_device_t, unsigned *);
    int (*max_link_generation)(yoke_nvml_device_t, unsigned *);
    int (*max_link_width)(yoke_nvml_device_t, unsigned *);
    int (*mig_mode)(yoke_nvml_device_t, unsigned *, unsigned *);
    int (*max_migs)(yoke_nvml_device_t, unsigned *);
    int (*mig_by_index)(yoke_nvml_device_t, unsigned, yoke_nvml_device_t *);
} yoke_nvml_t;

const char *yoke_nvml_error_name(int64_t code);

#endif
