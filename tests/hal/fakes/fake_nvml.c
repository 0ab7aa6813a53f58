/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libnvidia-ml.so.1: sees every card, whatever the mask says; a broken one is
 * lost. */
#include "fake.h"

#define API __attribute__((visibility("default")))

typedef struct pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
} pci_t;

typedef struct memory {
    unsigned long long total, free, used;
} memory_t;

static int card_of(void *device)
{
    return (int)((size_t)device - 1);
}

API int nvmlInit_v2(void)
{
    const char *fails = getenv("FAKE_NVML_INIT");
    return fails != NULL ? atoi(fails) : 0;
}

API int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "550.54.15");
    return 0;
}

API int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    snprintf(text, size, "12.550.54");
    return 0;
}

API int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)fake_cards();
    return 0;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (fake_broken((int)index))
        return 15;
    *device = (void *)(size_t)(index + 1);
    return 0;
}

API int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    (void)device;
    snprintf(text, size, "NVIDIA H100 80GB HBM3");
    return 0;
}

API int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    snprintf(text, size, "GPU-11111111-1111-1111-1111-1111111111%02x", card_of(device));
    return 0;
}

API int nvmlDeviceGetPciInfo_v3(void *device, pci_t *pci)
{
    memset(pci, 0, sizeof *pci);
    fake_pci(card_of(device), pci->text, (int)sizeof pci->text);
    pci->id = 0x233010de;
    return 0;
}

API int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory)
{
    (void)device;
    memory->total = 85899345920ull;
    memory->free = 1073741824ull;
    memory->used = memory->total - memory->free;
    return 0;
}

API int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *value)
{
    (void)device;
    *value = 4;
    return 0;
}

API int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *value)
{
    (void)device;
    *value = 5;
    return 0;
}
