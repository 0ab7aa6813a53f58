/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_DLPACK_H
#define YOKE_HAL_LIVE_DLPACK_H

/* What import and export of DLPack share: the meaning of its numbers. */

#include "hal/live/dlpack_abi.h"
#include "hal/live/object.h"
#include "yoke/dlpack.h"

#pragma GCC visibility push(hidden)

/** DLPack's number for memory of a kind on a device; *out_id is its device_id. */
int32_t yoke_dlpack_device_type(const yoke_device_t *device, yoke_memory_kind_t kind,
                                int32_t *out_id);
/** Is the tensor's memory on `device`, and of which kind? */
bool yoke_dlpack_is_on(const yoke_device_t *device, const dl_tensor_t *tensor,
                       yoke_memory_kind_t *out_kind);
/** false: no such element of ours. */
bool yoke_dlpack_element(const dl_tensor_t *tensor, yoke_element_t *out_element);
void yoke_dlpack_set_element(yoke_element_t element, dl_tensor_t *out_tensor);

/** Bytes that a tensor touches, relative to its element 0. */
typedef struct yoke_dlpack_range {
    uint64_t below; /* before element 0, by negative strides */
    uint64_t above; /* from the beginning of element 0 to the end of the last */
    bool empty;
} yoke_dlpack_range_t;

/** @retval YOKE_ERR_USAGE  a negative size, or more bytes than there can be */
yoke_status_t yoke_dlpack_range(uint32_t dimensions, const int64_t *shape,
                                const int64_t *strides, size_t element_size,
                                yoke_dlpack_range_t *out_range);

#pragma GCC visibility pop
#endif
