/* SPDX-License-Identifier: Apache-2.0 */
/* The fakes' prototypes against the installed headers of CUDA; compiling is the test. Not
 * checked, because the header of 13.0 no longer has them: cuCtxCreate_v2, the first
 * cuGetProcAddress, cuDeviceGetUuid and cuEventElapsedTime. */
#include <cuda.h>
#include <nvrtc.h>
#include <cublas_v2.h>
#include <cublasLt.h>
#include "header_check.hpp"
#undef cuGetProcAddress
#undef cuDeviceGetUuid
#undef cuEventElapsedTime

namespace fake {
typedef int cu_result_t;
typedef int cu_device_t;
typedef unsigned long long cu_address_t;
typedef cublasLtMatmulHeuristicResult_t cublaslt_heuristic_t;
typedef cublasLtMatmulAlgo_t cublaslt_algorithm_t;
#include "nvidia/functions.h"
#include "nvidia/nvrtc.h"
#include "nvidia/cublas.h"
}
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96, "cublaslt_heuristic_t");
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "cublaslt_algorithm_t");

CHECK(cuInit)
CHECK(cuDriverGetVersion)
CHECK(cuDevicePrimaryCtxRetain)
CHECK(cuDevicePrimaryCtxRelease_v2)
CHECK(cuDevicePrimaryCtxGetState)
CHECK(cuCtxCreate_v4)
CHECK(cuCtxDestroy_v2)
CHECK(cuCtxPushCurrent_v2)
CHECK(cuCtxPopCurrent_v2)
CHECK(cuCtxSetCurrent)
CHECK(cuCtxGetCurrent)
CHECK(cuCtxGetDevice)
CHECK(cuCtxGetFlags)
CHECK(cuCtxGetApiVersion)
CHECK(cuCtxSynchronize)
CHECK(cuCtxGetStreamPriorityRange)
CHECK(cuCtxEnablePeerAccess)
CHECK(cuCtxDisablePeerAccess)
CHECK(cuDeviceGetCount)
CHECK(cuDeviceGet)
CHECK(cuDeviceGetName)
CHECK(cuDeviceGetUuid_v2)
CHECK(cuDeviceTotalMem_v2)
CHECK(cuDeviceGetAttribute)
CHECK(cuDeviceGetPCIBusId)
CHECK(cuDeviceGetByPCIBusId)
CHECK(cuDeviceCanAccessPeer)
CHECK(cuMemGetInfo_v2)
CHECK(cuMemAlloc_v2)
CHECK(cuMemFree_v2)
CHECK(cuMemAllocManaged)
CHECK(cuMemHostAlloc)
CHECK(cuMemAllocHost_v2)
CHECK(cuMemFreeHost)
CHECK(cuMemHostRegister_v2)
CHECK(cuMemHostUnregister)
CHECK(cuMemHostGetDevicePointer_v2)
CHECK(cuMemGetAddressRange_v2)
CHECK(cuPointerGetAttribute)
CHECK(cuMemcpy)
CHECK(cuMemcpyAsync)
CHECK(cuMemcpyHtoD_v2)
CHECK(cuMemcpyDtoH_v2)
CHECK(cuMemcpyDtoD_v2)
CHECK(cuMemcpyHtoDAsync_v2)
CHECK(cuMemcpyDtoHAsync_v2)
CHECK(cuMemcpyDtoDAsync_v2)
CHECK(cuMemcpyPeerAsync)
CHECK(cuMemsetD8_v2)
CHECK(cuMemsetD8Async)
CHECK(cuMemsetD2D8_v2)
CHECK(cuMemsetD2D8Async)
CHECK(cuMemsetD16_v2)
CHECK(cuMemsetD16Async)
CHECK(cuMemsetD2D16_v2)
CHECK(cuMemsetD2D16Async)
CHECK(cuMemsetD32_v2)
CHECK(cuMemsetD32Async)
CHECK(cuMemsetD2D32_v2)
CHECK(cuMemsetD2D32Async)
CHECK(cuStreamCreate)
CHECK(cuStreamCreateWithPriority)
CHECK(cuStreamDestroy_v2)
CHECK(cuStreamSynchronize)
CHECK(cuStreamQuery)
CHECK(cuStreamGetCtx)
CHECK(cuStreamGetFlags)
CHECK(cuStreamGetPriority)
CHECK(cuStreamIsCapturing)
CHECK(cuLaunchHostFunc)
CHECK(cuStreamWaitValue32_v2)
CHECK(cuStreamWaitValue64_v2)
CHECK(cuStreamWriteValue32_v2)
CHECK(cuStreamWriteValue64_v2)
CHECK(cuEventCreate)
CHECK(cuEventDestroy_v2)
CHECK(cuEventRecord)
CHECK(cuEventRecordWithFlags)
CHECK(cuEventQuery)
CHECK(cuEventSynchronize)
CHECK(cuStreamWaitEvent)
CHECK(cuEventElapsedTime_v2)
CHECK(cuModuleLoadData)
CHECK(cuModuleLoadDataEx)
CHECK(cuModuleUnload)
CHECK(cuModuleGetFunction)
CHECK(cuFuncGetAttribute)
CHECK(cuFuncSetAttribute)
CHECK(cuLaunchKernel)
CHECK(cuGetErrorName)
CHECK(cuGetErrorString)
CHECK(cuGetProcAddress_v2)
CHECK(nvrtcGetErrorString)
CHECK(nvrtcVersion)
CHECK(nvrtcGetNumSupportedArchs)
CHECK(nvrtcGetSupportedArchs)
CHECK(nvrtcCreateProgram)
CHECK(nvrtcDestroyProgram)
CHECK(nvrtcCompileProgram)
CHECK(nvrtcGetPTXSize)
CHECK(nvrtcGetPTX)
CHECK(nvrtcGetCUBINSize)
CHECK(nvrtcGetCUBIN)
CHECK(nvrtcGetProgramLogSize)
CHECK(nvrtcGetProgramLog)
CHECK(cublasLtCreate)
CHECK(cublasLtDestroy)
CHECK(cublasLtGetVersion)
CHECK(cublasLtGetStatusName)
CHECK(cublasLtMatrixLayoutCreate)
CHECK(cublasLtMatrixLayoutDestroy)
CHECK(cublasLtMatrixLayoutSetAttribute)
CHECK(cublasLtMatmulDescCreate)
CHECK(cublasLtMatmulDescDestroy)
CHECK(cublasLtMatmulDescSetAttribute)
CHECK(cublasLtMatmulPreferenceCreate)
CHECK(cublasLtMatmulPreferenceDestroy)
CHECK(cublasLtMatmulPreferenceSetAttribute)
CHECK(cublasLtMatmulAlgoGetHeuristic)
CHECK(cublasLtMatmul)
CHECK(cublasCreate_v2)
CHECK(cublasDestroy_v2)
CHECK(cublasGetVersion_v2)
CHECK(cublasSetStream_v2)

/* Overloaded in C++; the C one is meant. */
typedef cublasStatus_t (*gemm_t)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                 int, const void *, const void *, cudaDataType, int,
                                 const void *, cudaDataType, int, const void *, void *,
                                 cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
typedef cublasStatus_t (*gemm_batched_t)(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                         int, int, int, const void *, const void *,
                                         cudaDataType, int, long long int, const void *,
                                         cudaDataType, int, long long int, const void *, void *,
                                         cudaDataType, int, long long int, int,
                                         cublasComputeType_t, cublasGemmAlgo_t);
static const gemm_t gemm = &::cublasGemmEx;
static const gemm_batched_t gemm_batched = &::cublasGemmStridedBatchedEx;
static_assert(same_shape<gemm_t, decltype(&fake::cublasGemmEx)>::value, "cublasGemmEx");
static_assert(same_shape<gemm_batched_t, decltype(&fake::cublasGemmStridedBatchedEx)>::value,
              "cublasGemmStridedBatchedEx");
