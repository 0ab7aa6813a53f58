/* SPDX-License-Identifier: Apache-2.0 */
/* libnvidia-ml: sees every card in PCI order, whatever CUDA_VISIBLE_DEVICES says; a
 * broken one is lost. Own keys of the file: `nvml_init`, a code that nvmlInit_v2()
 * answers. */
#include "nvml.h"
#include <stdio.h>
#include <string.h>

enum {
    NVML_OK = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_GPU_IS_LOST = 15
};

/* Handles: a card is 1..., a slice of card c is (c + 1) * 256 + slice + 1. */
static fake_card_t *card_of(void *device)
{
    size_t value = (size_t)device;
    return fake_card(value >= 256 ? (int)(value / 256) - 1 : (int)value - 1);
}

static int slice_of(void *device)
{
    size_t value = (size_t)device;
    return value >= 256 ? (int)(value % 256) - 1 : -1;
}

#define NVML_CARD(function, device)                                                      \
    FAKE_CALL(function, int);                                                            \
    fake_card_t *card = card_of(device);                                                 \
    if (card == NULL)                                                                    \
        return NVML_INVALID_ARGUMENT;                                                    \
    if (card->broken != 0 || atomic_load(&card->lost))                                   \
    return NVML_GPU_IS_LOST

static int put(char *text, unsigned size, const char *value)
{
    if (strlen(value) >= size)
        return NVML_INSUFFICIENT_SIZE;
    strcpy(text, value);
    return NVML_OK;
}

FAKE_API int nvmlInit_v2(void)
{
    FAKE_CALL(nvmlInit_v2, int);
    return (int)fake_config_number(-1, "nvml_init", 0);
}

FAKE_API int nvmlShutdown(void)
{
    FAKE_CALL(nvmlShutdown, int);
    return NVML_OK;
}

FAKE_API int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    FAKE_CALL(nvmlSystemGetDriverVersion, int);
    return put(text, size, "580.65.06");
}

FAKE_API int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    FAKE_CALL(nvmlSystemGetNVMLVersion, int);
    return put(text, size, "13.580.65.06");
}

FAKE_API int nvmlDeviceGetCount_v2(unsigned *count)
{
    FAKE_CALL(nvmlDeviceGetCount_v2, int);
    FAKE_OUT(*count, fake_card_count());
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    FAKE_CALL(nvmlDeviceGetHandleByIndex_v2, int);
    const fake_card_t *card = fake_card((int)index);
    if (card == NULL)
        return NVML_INVALID_ARGUMENT;
    if (card->broken != 0 || atomic_load(&card->lost))
        return NVML_GPU_IS_LOST;
    *device = (void *)(size_t)(index + 1);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    NVML_CARD(nvmlDeviceGetName, device);
    char name[160];
    snprintf(name, sizeof name, "%s%s", card->name,
             slice_of(device) >= 0 ? " MIG 1g.10gb" : "");
    return put(text, size, name);
}

FAKE_API int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    NVML_CARD(nvmlDeviceGetUUID, device);
    char digits[40], uuid[64];
    fake_card_t slice = {.index = card->index};
    memcpy(slice.uuid, card->uuid, sizeof slice.uuid);
    if (slice_of(device) >= 0)
        slice.uuid[0] = (uint8_t)(slice.uuid[0] ^ (0x50 + slice_of(device)));
    fake_uuid_text(&slice, digits, sizeof digits);
    snprintf(uuid, sizeof uuid, "%s%s", slice_of(device) >= 0 ? "MIG-" : "GPU-", digits);
    return put(text, size, uuid);
}

FAKE_API int nvmlDeviceGetPciInfo_v3(void *device, nvml_pci_t *pci)
{
    NVML_CARD(nvmlDeviceGetPciInfo_v3, device);
    memset(pci, 0, sizeof *pci);
    fake_pci_text(card, pci->legacy, sizeof pci->legacy);
    fake_pci_text(card, pci->text, sizeof pci->text);
    pci->domain = card->domain;
    pci->bus = card->bus;
    pci->device = card->device;
    pci->id = 0x233010de; /* H100 SXM5 80GB in pci.ids */
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMemoryInfo(void *device, nvml_memory_t *memory)
{
    NVML_CARD(nvmlDeviceGetMemoryInfo, device);
    uint64_t total = card->memory;
    if (slice_of(device) >= 0 && card->mig > 0)
        total /= (uint64_t)card->mig;
    FAKE_OUT(memory->total, total);
    memory->free = (uint64_t)fake_config_number(card->index, "free", (int64_t)total);
    memory->used = total - memory->free;
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *value)
{
    NVML_CARD(nvmlDeviceGetCurrPcieLinkGeneration, device);
    FAKE_OUT(*value, 4);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *value)
{
    NVML_CARD(nvmlDeviceGetMaxPcieLinkGeneration, device);
    FAKE_OUT(*value, 5);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *value)
{
    NVML_CARD(nvmlDeviceGetCurrPcieLinkWidth, device);
    FAKE_OUT(*value, 16);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *value)
{
    NVML_CARD(nvmlDeviceGetMaxPcieLinkWidth, device);
    FAKE_OUT(*value, 16);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    NVML_CARD(nvmlDeviceGetMigMode, device);
    FAKE_OUT(*current, card->mig > 0);
    FAKE_OUT(*pending, card->mig > 0);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
    NVML_CARD(nvmlDeviceGetMaxMigDeviceCount, device);
    FAKE_OUT(*count, card->mig > 0 ? 7 : 0);
    return NVML_OK;
}

FAKE_API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
                                                 void **slice)
{
    NVML_CARD(nvmlDeviceGetMigDeviceHandleByIndex, device);
    if (index >= (unsigned)card->mig)
        return NVML_NOT_FOUND;
    *slice = (void *)((size_t)(card->index + 1) * 256 + index + 1);
    return NVML_OK;
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
