/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: what can be asked without a context. */
#include "cuda.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of CUdevice_attribute (cuda.h), and what an H100 answers by NVIDIA's published
 * tables ("Compute Capabilities" of the CUDA C++ Programming Guide). */
static int attribute(const fake_card_t *card, int which, int *out_value)
{
    int capability = 90;
    const char *digits = strpbrk(card->arch, "0123456789");
    if (digits != NULL)
        capability = atoi(digits);
    switch (which) {
    case 1: /* MAX_THREADS_PER_BLOCK */
    case 2: /* MAX_BLOCK_DIM_X */
    case 3: /* MAX_BLOCK_DIM_Y */
        *out_value = 1024;
        break;
    case 4: /* MAX_BLOCK_DIM_Z */
        *out_value = 64;
        break;
    case 5: /* MAX_GRID_DIM_X */
        *out_value = 2147483647;
        break;
    case 6: /* MAX_GRID_DIM_Y */
    case 7: /* MAX_GRID_DIM_Z */
        *out_value = 65535;
        break;
    case 8: /* MAX_SHARED_MEMORY_PER_BLOCK */
        *out_value = 49152;
        break;
    case 9: /* TOTAL_CONSTANT_MEMORY */
        *out_value = 65536;
        break;
    case 10: /* WARP_SIZE */
        *out_value = 32;
        break;
    case 12: /* MAX_REGISTERS_PER_BLOCK */
    case 82: /* MAX_REGISTERS_PER_MULTIPROCESSOR */
        *out_value = 65536;
        break;
    case 13: /* CLOCK_RATE, kHz */
        *out_value = 1980000;
        break;
    case 14: /* TEXTURE_ALIGNMENT */
        *out_value = 512;
        break;
    case 16: /* MULTIPROCESSOR_COUNT */
        *out_value = (int)fake_config_number(card->index, "units", 132);
        break;
    case 18: /* INTEGRATED */
        *out_value = card->unified;
        break;
    case 19: /* CAN_MAP_HOST_MEMORY */
    case 31: /* CONCURRENT_KERNELS */
    case 41: /* UNIFIED_ADDRESSING */
    case 78: /* STREAM_PRIORITIES_SUPPORTED */
    case 83: /* MANAGED_MEMORY */
    case 91: /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
    case 99: /* HOST_REGISTER_SUPPORTED */
        *out_value = 1;
        break;
    case 92:  /* CAN_USE_STREAM_MEM_OPS_V1 */
    case 122: /* CAN_USE_64_BIT_STREAM_MEM_OPS */
    case 93:  /* CAN_USE_64_BIT_STREAM_MEM_OPS_V1 */
        *out_value = fake_config_number(card->index, "stream_wait", 1) != 0;
        break;
    case 33: /* PCI_BUS_ID */
        *out_value = (int)card->bus;
        break;
    case 34: /* PCI_DEVICE_ID */
        *out_value = (int)card->device;
        break;
    case 50: /* PCI_DOMAIN_ID */
        *out_value = (int)card->domain;
        break;
    case 36: /* MEMORY_CLOCK_RATE, kHz */
        *out_value = 2619000;
        break;
    case 37: /* GLOBAL_MEMORY_BUS_WIDTH, bits */
        *out_value = 5120;
        break;
    case 38: /* L2_CACHE_SIZE */
        *out_value = 52428800;
        break;
    case 39: /* MAX_THREADS_PER_MULTIPROCESSOR */
        *out_value = 2048;
        break;
    case 40: /* ASYNC_ENGINE_COUNT */
        *out_value = 3;
        break;
    case 75: /* COMPUTE_CAPABILITY_MAJOR */
        *out_value = capability / 10;
        break;
    case 76: /* COMPUTE_CAPABILITY_MINOR */
        *out_value = capability % 10;
        break;
    case 81: /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
        *out_value = 233472;
        break;
    case 97: /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
        *out_value = 232448;
        break;
    default:
        if (which < 1 || which > 144)
            return CU_INVALID_VALUE;
        *out_value = 0;
    }
    return CU_SUCCESS;
}

#define CARD_OR_RETURN(device)                                                           \
    fake_card_t *card = NULL;                                                            \
    cu_result_t found = cu_card(device, &card);                                          \
    if (found != CU_SUCCESS)                                                             \
    return found

FAKE_API cu_result_t cuDeviceGetCount(int *count)
{
    CU_CALL(cuDeviceGetCount);
    if (count == NULL)
        return CU_INVALID_VALUE;
    FAKE_OUT(*count, fake_visible_count());
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDeviceGet(cu_device_t *device, int ordinal)
{
    CU_CALL(cuDeviceGet);
    CARD_OR_RETURN(ordinal);
    if (device == NULL)
        return CU_INVALID_VALUE;
    FAKE_OUT(*device, ordinal);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDeviceGetName(char *name, int size, cu_device_t device)
{
    CU_CALL(cuDeviceGetName);
    CARD_OR_RETURN(device);
    if (name == NULL || size <= 0)
        return CU_INVALID_VALUE;
    snprintf(name, (size_t)size, "%s", card->name);
    return CU_SUCCESS;
}

static cu_result_t copy_uuid(char *uuid, cu_device_t device, bool slice)
{
    CARD_OR_RETURN(device);
    if (uuid == NULL)
        return CU_INVALID_VALUE;
    memcpy(uuid, card->uuid, 16);
    if (slice && card->mig > 0)
        uuid[0] = (char)(uuid[0] ^ 0x5a); /* v2 tells the slice's own */
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDeviceGetUuid(char *uuid, cu_device_t device)
{
    CU_CALL(cuDeviceGetUuid);
    return copy_uuid(uuid, device, false);
}

FAKE_API cu_result_t cuDeviceGetUuid_v2(char *uuid, cu_device_t device)
{
    CU_CALL(cuDeviceGetUuid_v2);
    return copy_uuid(uuid, device, true);
}

FAKE_API cu_result_t cuDeviceTotalMem_v2(size_t *bytes, cu_device_t device)
{
    CU_CALL(cuDeviceTotalMem_v2);
    CARD_OR_RETURN(device);
    if (bytes == NULL)
        return CU_INVALID_VALUE;
    FAKE_OUT(*bytes, card->memory);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDeviceGetAttribute(int *value, int which, cu_device_t device)
{
    CU_CALL(cuDeviceGetAttribute);
    CARD_OR_RETURN(device);
    int answer = 0;
    if (value == NULL)
        return CU_INVALID_VALUE;
    cu_result_t result = attribute(card, which, &answer);
    if (result == CU_SUCCESS)
        FAKE_OUT(*value, answer);
    return result;
}

FAKE_API cu_result_t cuDeviceGetPCIBusId(char *text, int size, cu_device_t device)
{
    CU_CALL(cuDeviceGetPCIBusId);
    CARD_OR_RETURN(device);
    /* 13 characters and the NUL (cuda.h). */
    if (text == NULL || size < 1)
        return CU_INVALID_VALUE;
    fake_pci_text(card, text, (size_t)size);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDeviceGetByPCIBusId(cu_device_t *device, const char *text)
{
    CU_CALL(cuDeviceGetByPCIBusId);
    char own[32];
    if (device == NULL || text == NULL)
        return CU_INVALID_VALUE;
    for (int i = 0; i < fake_visible_count(); i++) {
        fake_pci_text(fake_visible(i), own, sizeof own);
        if (strcasecmp(own, text) == 0) {
            *device = i;
            return CU_SUCCESS;
        }
    }
    return CU_INVALID_DEVICE;
}

FAKE_API cu_result_t cuDeviceCanAccessPeer(int *can, cu_device_t device, cu_device_t peer)
{
    CU_CALL(cuDeviceCanAccessPeer);
    CARD_OR_RETURN(device);
    fake_card_t *other = NULL;
    cu_result_t result = cu_card(peer, &other);
    if (result != CU_SUCCESS)
        return result;
    FAKE_OUT(*can, card != other && card->peer && other->peer);
    return CU_SUCCESS;
}
