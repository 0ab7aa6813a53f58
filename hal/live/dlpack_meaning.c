/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of DLPack's numbers: devices, element types, strides. */
#include <string.h>

#include "base/error.h"
#include "hal/live/dlpack.h"

/* --- devices -------------------------------------------------------------------------
 */

typedef struct device_types {
    const char *backend;
    int32_t memory, pinned, managed; /* 0: has none of its own */
} device_types_t;

/* The last row is for backends that DLPack does not know. */
static const device_types_t types[] = {
    {"host", DL_CPU, 0, 0},
    {"cuda", DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED},
    {"corex", DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED},
    {"hip", DL_ROCM, DL_ROCM_HOST, 0},
    {"dtk", DL_ROCM, DL_ROCM_HOST, 0},
    {"opencl", DL_OPENCL, 0, 0},
    {"level_zero", DL_ONEAPI, 0, 0},
    {NULL, DL_EXT_DEV, 0, 0},
};

static const device_types_t *types_of(const yoke_device_t *device)
{
    const device_types_t *row = types;
    while (row->backend != NULL && strcmp(row->backend, device->info.backend) != 0)
        row++;
    return row;
}

int32_t yoke_dlpack_device_type(const yoke_device_t *device, yoke_memory_kind_t kind,
                                int32_t *out_id)
{
    const device_types_t *row = types_of(device);
    /* "For vanilla CPU memory, pinned memory, or managed memory, this is set to 0." */
    *out_id = row->memory == DL_CPU ? 0 : (int32_t)device->info.ordinal;
    if (kind == YOKE_MEMORY_HOST && row->pinned != 0) {
        *out_id = 0;
        return row->pinned;
    }
    if (kind == YOKE_MEMORY_SHARED && row->managed != 0) {
        *out_id = 0;
        return row->managed;
    }
    return row->memory;
}

bool yoke_dlpack_is_on(const yoke_device_t *device, const dl_tensor_t *tensor,
                       yoke_memory_kind_t *out_kind)
{
    const device_types_t *row = types_of(device);
    int32_t type = tensor->device.device_type;
    /* Memory of the host is of no numbered device; receivers set 0. */
    if (type == DL_CPU && tensor->device.device_id != 0)
        return false;
    if (type == row->pinned && type != 0)
        *out_kind = YOKE_MEMORY_HOST;
    else if (type == row->managed && type != 0)
        *out_kind = YOKE_MEMORY_SHARED;
    else if (type == DL_CPU && row->memory == DL_CPU)
        *out_kind = YOKE_MEMORY_DEVICE;
    else if (type == row->memory &&
             tensor->device.device_id == (int32_t)device->info.ordinal)
        *out_kind = YOKE_MEMORY_DEVICE;
    else
        return false;
    return true;
}

/* --- elements ------------------------------------------------------------------------
 */

static const struct {
    uint8_t code, bits;
} elements[YOKE_ELEMENT_COUNT] = {
    [YOKE_ELEMENT_F64] = {DL_FLOAT, 64},
    [YOKE_ELEMENT_F32] = {DL_FLOAT, 32},
    [YOKE_ELEMENT_F16] = {DL_FLOAT, 16},
    [YOKE_ELEMENT_BF16] = {DL_BFLOAT, 16},
    [YOKE_ELEMENT_F8E4M3] = {DL_FLOAT8_E4M3FN, 8},
    [YOKE_ELEMENT_F8E5M2] = {DL_FLOAT8_E5M2, 8},
    [YOKE_ELEMENT_I8] = {DL_INT, 8},
    [YOKE_ELEMENT_U8] = {DL_UINT, 8},
    [YOKE_ELEMENT_I32] = {DL_INT, 32},
    [YOKE_ELEMENT_U32] = {DL_UINT, 32},
    [YOKE_ELEMENT_I64] = {DL_INT, 64},
    [YOKE_ELEMENT_U64] = {DL_UINT, 64},
};

bool yoke_dlpack_element(const dl_tensor_t *tensor, yoke_element_t *out_element)
{
    for (unsigned i = 0; i < YOKE_ELEMENT_COUNT; i++)
        if (elements[i].code == tensor->dtype.code &&
            elements[i].bits == tensor->dtype.bits && tensor->dtype.lanes == 1) {
            *out_element = (yoke_element_t)i;
            return true;
        }
    return false;
}

void yoke_dlpack_set_element(yoke_element_t element, dl_tensor_t *out_tensor)
{
    out_tensor->dtype.code = elements[element].code;
    out_tensor->dtype.bits = elements[element].bits;
    out_tensor->dtype.lanes = 1;
}

/* --- strides -------------------------------------------------------------------------
 */

yoke_status_t yoke_dlpack_range(uint32_t dimensions, const int64_t *shape,
                                const int64_t *strides, size_t element_size,
                                yoke_dlpack_range_t *out_range)
{
    int64_t low = 0, high = 0, reach, size = (int64_t)element_size;
    bool empty = false, wrong = false;
    for (uint32_t i = 0; i < dimensions; i++) {
        wrong |= shape[i] < 0;
        empty |= shape[i] == 0;
    }
    for (uint32_t i = 0; i < dimensions && !wrong && !empty; i++) {
        wrong |= __builtin_mul_overflow(shape[i] - 1, strides[i], &reach);
        wrong |= !wrong && (reach < 0 ? __builtin_add_overflow(low, reach, &low)
                                      : __builtin_add_overflow(high, reach, &high));
    }
    wrong = wrong || __builtin_mul_overflow(low, size, &low) ||
            __builtin_mul_overflow(high, size, &high) ||
            __builtin_add_overflow(high, size, &high) || low == INT64_MIN;
    if (wrong)
        return yoke_fail(YOKE_ERR_USAGE,
                         "DLPack: shape and strides of the tensor are negative or pass "
                         "all memory");
    *out_range = empty ? (yoke_dlpack_range_t){.empty = true}
                       : (yoke_dlpack_range_t){(uint64_t)-low, (uint64_t)high, false};
    return YOKE_OK;
}
