/* SPDX-License-Identifier: Apache-2.0 */
/* Our DLPack declarations against the installed header (0.6: the unversioned struct). */
#define DLManagedTensor real_managed_tensor
#include <dlpack/dlpack.h>
#undef DLManagedTensor

#include <stddef.h>

#include "hal/live/dlpack_abi.h"

#define SAME_PLACE(real, ours, field)                                                    \
    _Static_assert(offsetof(real, field) == offsetof(ours, field), #field);              \
    _Static_assert(sizeof(((real *)0)->field) == sizeof(((ours *)0)->field), #field)
#define SAME_NUMBER(real, ours) _Static_assert((int)(real) == (int)(ours), #real)

_Static_assert(sizeof(DLTensor) == sizeof(dl_tensor_t), "DLTensor");
SAME_PLACE(DLTensor, dl_tensor_t, data);
SAME_PLACE(DLTensor, dl_tensor_t, device);
SAME_PLACE(DLTensor, dl_tensor_t, device.device_type);
SAME_PLACE(DLTensor, dl_tensor_t, device.device_id);
SAME_PLACE(DLTensor, dl_tensor_t, ndim);
SAME_PLACE(DLTensor, dl_tensor_t, dtype);
SAME_PLACE(DLTensor, dl_tensor_t, dtype.code);
SAME_PLACE(DLTensor, dl_tensor_t, dtype.bits);
SAME_PLACE(DLTensor, dl_tensor_t, dtype.lanes);
SAME_PLACE(DLTensor, dl_tensor_t, shape);
SAME_PLACE(DLTensor, dl_tensor_t, strides);
SAME_PLACE(DLTensor, dl_tensor_t, byte_offset);
_Static_assert(sizeof(struct real_managed_tensor) == sizeof(struct DLManagedTensor), "");
SAME_PLACE(struct real_managed_tensor, struct DLManagedTensor, dl_tensor);
SAME_PLACE(struct real_managed_tensor, struct DLManagedTensor, manager_ctx);
SAME_PLACE(struct real_managed_tensor, struct DLManagedTensor, deleter);

SAME_NUMBER(kDLCPU, DL_CPU);
SAME_NUMBER(kDLCUDA, DL_CUDA);
SAME_NUMBER(kDLCUDAHost, DL_CUDA_HOST);
SAME_NUMBER(kDLOpenCL, DL_OPENCL);
SAME_NUMBER(kDLROCM, DL_ROCM);
SAME_NUMBER(kDLROCMHost, DL_ROCM_HOST);
SAME_NUMBER(kDLExtDev, DL_EXT_DEV);
SAME_NUMBER(kDLCUDAManaged, DL_CUDA_MANAGED);
SAME_NUMBER(kDLInt, DL_INT);
SAME_NUMBER(kDLUInt, DL_UINT);
SAME_NUMBER(kDLFloat, DL_FLOAT);
SAME_NUMBER(kDLBfloat, DL_BFLOAT);
