/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_MUSA_NAMES_H
#define YOKE_TESTS_FAKES_MUSA_NAMES_H

/*
 * MUSA's driver API is CUDA's with another prefix: of 84 names that ggml-org/ggml
 * (src/ggml-cuda/vendors/musa.h) maps, all; of 95 in kvcache-ai/Mooncake, 94.
 */
#define cuInit muInit
#define cuDriverGetVersion muDriverGetVersion
#define cuDevicePrimaryCtxRetain muDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRelease_v2 muDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxGetState muDevicePrimaryCtxGetState
#define cuCtxCreate_v2 muCtxCreate_v2
#define cuCtxDestroy_v2 muCtxDestroy_v2
#define cuCtxPushCurrent_v2 muCtxPushCurrent_v2
#define cuCtxPopCurrent_v2 muCtxPopCurrent_v2
#define cuCtxSetCurrent muCtxSetCurrent
#define cuCtxGetCurrent muCtxGetCurrent
#define cuCtxGetDevice muCtxGetDevice
#define cuCtxGetFlags muCtxGetFlags
#define cuCtxGetApiVersion muCtxGetApiVersion
#define cuCtxSynchronize muCtxSynchronize
#define cuCtxGetStreamPriorityRange muCtxGetStreamPriorityRange
#define cuCtxEnablePeerAccess muCtxEnablePeerAccess
#define cuCtxDisablePeerAccess muCtxDisablePeerAccess
#define cuDeviceGetCount muDeviceGetCount
#define cuDeviceGet muDeviceGet
#define cuDeviceGetName muDeviceGetName
#define cuDeviceGetUuid muDeviceGetUuid
#define cuDeviceGetUuid_v2 muDeviceGetUuid_v2
#define cuDeviceTotalMem_v2 muDeviceTotalMem_v2
#define cuDeviceGetAttribute muDeviceGetAttribute
#define cuDeviceGetPCIBusId muDeviceGetPCIBusId
#define cuDeviceGetByPCIBusId muDeviceGetByPCIBusId
#define cuDeviceCanAccessPeer muDeviceCanAccessPeer
#define cuMemGetInfo_v2 muMemGetInfo_v2
#define cuMemAlloc_v2 muMemAlloc_v2
#define cuMemFree_v2 muMemFree_v2
#define cuMemAllocManaged muMemAllocManaged
#define cuMemHostAlloc muMemHostAlloc
#define cuMemAllocHost_v2 muMemAllocHost_v2
#define cuMemFreeHost muMemFreeHost
#define cuMemHostRegister_v2 muMemHostRegister_v2
#define cuMemHostUnregister muMemHostUnregister
#define cuMemHostGetDevicePointer_v2 muMemHostGetDevicePointer_v2
#define cuMemGetAddressRange_v2 muMemGetAddressRange_v2
#define cuPointerGetAttribute muPointerGetAttribute
#define cuMemcpy muMemcpy
#define cuMemcpyAsync muMemcpyAsync
#define cuMemcpyHtoD_v2 muMemcpyHtoD_v2
#define cuMemcpyDtoH_v2 muMemcpyDtoH_v2
#define cuMemcpyDtoD_v2 muMemcpyDtoD_v2
#define cuMemcpyHtoDAsync_v2 muMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync_v2 muMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync_v2 muMemcpyDtoDAsync_v2
#define cuMemcpyPeerAsync muMemcpyPeerAsync
#define cuMemsetD8_v2 muMemsetD8_v2
#define cuMemsetD8Async muMemsetD8Async
#define cuMemsetD2D8_v2 muMemsetD2D8_v2
#define cuMemsetD2D8Async muMemsetD2D8Async
#define cuMemsetD16_v2 muMemsetD16_v2
#define cuMemsetD16Async muMemsetD16Async
#define cuMemsetD2D16_v2 muMemsetD2D16_v2
#define cuMemsetD2D16Async muMemsetD2D16Async
#define cuMemsetD32_v2 muMemsetD32_v2
#define cuMemsetD32Async muMemsetD32Async
#define cuMemsetD2D32_v2 muMemsetD2D32_v2
#define cuMemsetD2D32Async muMemsetD2D32Async
#define cuStreamCreate muStreamCreate
#define cuStreamCreateWithPriority muStreamCreateWithPriority
#define cuStreamDestroy_v2 muStreamDestroy_v2
#define cuStreamSynchronize muStreamSynchronize
#define cuStreamQuery muStreamQuery
#define cuStreamGetCtx muStreamGetCtx
#define cuStreamGetFlags muStreamGetFlags
#define cuStreamGetPriority muStreamGetPriority
#define cuStreamIsCapturing muStreamIsCapturing
#define cuLaunchHostFunc muLaunchHostFunc
#define cuStreamWaitValue32_v2 muStreamWaitValue32_v2
#define cuStreamWaitValue64_v2 muStreamWaitValue64_v2
#define cuStreamWriteValue32_v2 muStreamWriteValue32_v2
#define cuStreamWriteValue64_v2 muStreamWriteValue64_v2
#define cuEventCreate muEventCreate
#define cuEventDestroy_v2 muEventDestroy_v2
#define cuEventRecord muEventRecord
#define cuEventRecordWithFlags muEventRecordWithFlags
#define cuEventQuery muEventQuery
#define cuEventSynchronize muEventSynchronize
#define cuStreamWaitEvent muStreamWaitEvent
#define cuEventElapsedTime muEventElapsedTime
#define cuModuleLoadData muModuleLoadData
#define cuModuleLoadDataEx muModuleLoadDataEx
#define cuModuleUnload muModuleUnload
#define cuModuleGetFunction muModuleGetFunction
#define cuFuncGetAttribute muFuncGetAttribute
#define cuFuncSetAttribute muFuncSetAttribute
#define cuLaunchKernel muLaunchKernel
#define cuGetErrorName muGetErrorName
#define cuGetErrorString muGetErrorString

#endif
