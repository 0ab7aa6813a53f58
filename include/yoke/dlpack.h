/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_DLPACK_H
#define YOKE_DLPACK_H

/**
 * Tensors from and to frameworks by DLPack (github.com/dmlc/dlpack, 0.6 to 1.x). Its
 * structs are declared by dlpack/dlpack.h, which this header does not need.
 *
 * Device types: host kDLCPU, cuda and corex kDLCUDA, hip and dtk kDLROCM, opencl
 * kDLOpenCL, level_zero kDLOneAPI; pinned memory kDLCUDAHost and kDLROCMHost; all others
 * kDLExtDev, which names no vendor: import needs the device from the caller.
 *
 * Threads, ownership and errors: yoke/device.h.
 */

#include "yoke/buffer.h"
#include "yoke/element.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;          /* "dltensor": before DLPack 1.0 */
struct DLManagedTensorVersioned; /* "dltensor_versioned" */

#define YOKE_MAX_DIMENSIONS 16

typedef struct yoke_dltensor {
    size_t struct_size; /**< sizeof(yoke_dltensor_t) */
    yoke_span_t span;   /**< of element 0 */
    yoke_element_t element;
    uint32_t dimensions;                  /**< 0: a scalar */
    int64_t shape[YOKE_MAX_DIMENSIONS];   /**< elements */
    int64_t strides[YOKE_MAX_DIMENSIONS]; /**< elements; always filled on import */
    uint32_t read_only;
    uint32_t reserved;
} yoke_dltensor_t;

/**
 * Take over a tensor. Its memory is wrapped: no copy. The buffer in out_tensor->span is
 * the caller's; destroying it calls the tensor's deleter. On failure the tensor stays the
 * giver's.
 *
 * @param device  the device that it lies on: backend and ordinal must be the tensor's
 * @retval YOKE_ERR_USAGE        another device, or a byte range that does not fit
 * @retval YOKE_ERR_UNSUPPORTED  an element type or a major version that we do not know,
 * vector lanes, too many dimensions
 */
yoke_status_t yoke_dlpack_import(yoke_device_t *device,
                                 struct DLManagedTensorVersioned *managed,
                                 yoke_dltensor_t *out_tensor);
yoke_status_t yoke_dlpack_import_legacy(yoke_device_t *device,
                                        struct DLManagedTensor *managed,
                                        yoke_dltensor_t *out_tensor);

/**
 * Give a tensor out. `release` is called with `context` when the receiver is done with
 * it; the buffer must live until then. Devices without addresses give the cl_mem and
 * byte_offset.
 * @param out_managed  ended by its own deleter
 */
yoke_status_t yoke_dlpack_export(const yoke_dltensor_t *tensor,
                                 void (*release)(void *context), void *context,
                                 struct DLManagedTensorVersioned **out_managed);
yoke_status_t yoke_dlpack_export_legacy(const yoke_dltensor_t *tensor,
                                        void (*release)(void *context), void *context,
                                        struct DLManagedTensor **out_managed);

#ifdef __cplusplus
}
#endif
#endif
