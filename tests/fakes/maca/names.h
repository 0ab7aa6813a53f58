/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_MACA_NAMES_H
#define YOKE_TESTS_FAKES_MACA_NAMES_H

/*
 * MACA's runtime has driver and runtime calls under one prefix, as HIP has. By
 * kvcache-ai/Mooncake (gpu_vendor/maca.h) 72 of 79 names of CUDA's runtime differ in the
 * prefix alone; host memory is mcMallocHost and mcFreeHost. Launches:
 * mcModuleLaunchKernel (tile-ai/tilelang-metax).
 */
#define hipGetDeviceCount mcGetDeviceCount
#define hipInit mcInit
#define hipRuntimeGetVersion mcRuntimeGetVersion
#define hipDriverGetVersion mcDriverGetVersion
#define hipDeviceGet mcDeviceGet
#define hipDeviceGetName mcDeviceGetName
#define hipDeviceGetUuid mcDeviceGetUuid
#define hipDeviceTotalMem mcDeviceTotalMem
#define hipDeviceGetAttribute mcDeviceGetAttribute
#define hipDeviceGetPCIBusId mcDeviceGetPCIBusId
#define hipDeviceGetByPCIBusId mcDeviceGetByPCIBusId
#define hipSetDevice mcSetDevice
#define hipGetDevice mcGetDevice
#define hipDeviceSynchronize mcDeviceSynchronize
#define hipDeviceGetStreamPriorityRange mcDeviceGetStreamPriorityRange
#define hipDeviceCanAccessPeer mcDeviceCanAccessPeer
#define hipDeviceEnablePeerAccess mcDeviceEnablePeerAccess
#define hipDeviceDisablePeerAccess mcDeviceDisablePeerAccess
#define hipGetErrorName mcGetErrorName
#define hipGetErrorString mcGetErrorString
#define hipGetLastError mcGetLastError
#define hipPeekAtLastError mcPeekAtLastError
#define hipMemGetInfo mcMemGetInfo
#define hipMalloc mcMalloc
#define hipExtMallocWithFlags mcExtMallocWithFlags
#define hipFree mcFree
#define hipMallocManaged mcMallocManaged
#define hipHostMalloc mcMallocHost
#define hipHostFree mcFreeHost
#define hipHostRegister mcHostRegister
#define hipHostUnregister mcHostUnregister
#define hipHostGetDevicePointer mcHostGetDevicePointer
#define hipMemcpy mcMemcpy
#define hipMemcpyAsync mcMemcpyAsync
#define hipMemcpyHtoDAsync mcMemcpyHtoDAsync
#define hipMemcpyDtoHAsync mcMemcpyDtoHAsync
#define hipMemcpyDtoDAsync mcMemcpyDtoDAsync
#define hipMemcpyPeerAsync mcMemcpyPeerAsync
#define hipMemset mcMemset
#define hipMemsetAsync mcMemsetAsync
#define hipMemsetD8Async mcMemsetD8Async
#define hipMemsetD16Async mcMemsetD16Async
#define hipMemsetD32Async mcMemsetD32Async
#define hipMemset2DAsync mcMemset2DAsync
#define hipStreamCreate mcStreamCreate
#define hipStreamCreateWithFlags mcStreamCreateWithFlags
#define hipStreamCreateWithPriority mcStreamCreateWithPriority
#define hipStreamDestroy mcStreamDestroy
#define hipStreamSynchronize mcStreamSynchronize
#define hipStreamQuery mcStreamQuery
#define hipStreamGetFlags mcStreamGetFlags
#define hipStreamGetPriority mcStreamGetPriority
#define hipStreamGetDevice mcStreamGetDevice
#define hipLaunchHostFunc mcLaunchHostFunc
#define hipStreamAddCallback mcStreamAddCallback
#define hipStreamWaitValue32 mcStreamWaitValue32
#define hipStreamWriteValue32 mcStreamWriteValue32
#define hipEventCreate mcEventCreate
#define hipEventCreateWithFlags mcEventCreateWithFlags
#define hipEventDestroy mcEventDestroy
#define hipEventRecord mcEventRecord
#define hipEventQuery mcEventQuery
#define hipEventSynchronize mcEventSynchronize
#define hipStreamWaitEvent mcStreamWaitEvent
#define hipEventElapsedTime mcEventElapsedTime
#define hipModuleLoadData mcModuleLoadData
#define hipModuleLoadDataEx mcModuleLoadDataEx
#define hipModuleUnload mcModuleUnload
#define hipModuleGetFunction mcModuleGetFunction
#define hipModuleLaunchKernel mcModuleLaunchKernel

#endif
