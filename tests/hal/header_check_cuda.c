/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the CUDA driver API against the installed cuda.h; compiling is the
 * test. */
#include <cuda.h>
#include <nvrtc.h>
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define HAVE_CUBLAS 1
#endif
#include "backends/cuda/cu.h"
#include "backends/cuda/live.h"
#include "backends/cudalike/cublas.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME(YOKE_CU_SUCCESS, CUDA_SUCCESS);
SAME(YOKE_CU_ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME(YOKE_CU_ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(YOKE_CU_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
SAME(YOKE_CU_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(YOKE_CU_ERROR_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(YOKE_CU_ATTRIBUTE_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(YOKE_CU_ATTRIBUTE_PCI_BUS, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME(YOKE_CU_ATTRIBUTE_PCI_DEVICE, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME(YOKE_CU_ATTRIBUTE_PCI_DOMAIN, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
SAME(sizeof(yoke_cu_uuid_t), sizeof(CUuuid));
SAME(sizeof(yoke_cu_device_t), sizeof(CUdevice));
SAME(sizeof(int), sizeof(CUresult));
SAME(sizeof(int), sizeof(CUdevice_attribute));

/* --- the live backend -----------------------------------------------------------------
 */

#define ATTRIBUTE(key, number, theirs) SAME(number, CU_DEVICE_ATTRIBUTE_##theirs);
YOKE_CUDA_ATTRIBUTES_LIST(ATTRIBUTE)

SAME(YOKE_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(YOKE_CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(YOKE_CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(YOKE_CUDA_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(YOKE_CUDA_MANAGED_GLOBAL, CU_MEM_ATTACH_GLOBAL);
SAME(0, CU_STREAM_WAIT_VALUE_GEQ); /* WAIT_AT_LEAST of gate.c */
SAME(5, CU_JIT_ERROR_LOG_BUFFER);  /* JIT_ERROR_LOG of program.c */
SAME(6, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(YOKE_CUDALIKE_SUCCESS, CUDA_SUCCESS);
SAME(YOKE_CUDALIKE_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(YOKE_CUDALIKE_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(YOKE_CUDALIKE_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
SAME(YOKE_CUDALIKE_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(YOKE_CUDALIKE_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
SAME(YOKE_CUDALIKE_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
SAME(YOKE_CUDALIKE_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
SAME(YOKE_CUDALIKE_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(YOKE_CUDALIKE_ECC, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(YOKE_CUDALIKE_PEER_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME(YOKE_CUDALIKE_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
SAME(YOKE_CUDALIKE_LINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(YOKE_CUDALIKE_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(YOKE_CUDALIKE_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE);
SAME(YOKE_CUDALIKE_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
SAME(YOKE_CUDALIKE_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(YOKE_CUDALIKE_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(YOKE_CUDALIKE_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(YOKE_CUDALIKE_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(YOKE_CUDALIKE_PEER_ALREADY, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(YOKE_CUDALIKE_PEER_NOT_ENABLED, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
SAME(YOKE_CUDALIKE_CONTEXT_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(YOKE_CUDALIKE_ASSERT, CUDA_ERROR_ASSERT);
SAME(YOKE_CUDALIKE_HARDWARE_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(YOKE_CUDALIKE_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(YOKE_CUDALIKE_MISALIGNED, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(YOKE_CUDALIKE_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(YOKE_CUDALIKE_INVALID_PC, CUDA_ERROR_INVALID_PC);
SAME(YOKE_CUDALIKE_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED);
SAME(YOKE_CUDALIKE_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
SAME(sizeof(yoke_cudalike_address_t), sizeof(CUdeviceptr));
SAME(sizeof(uint32_t), sizeof(cuuint32_t));
SAME(sizeof(void *), sizeof(CUstream));
SAME(sizeof(int), sizeof(CUjit_option));
SAME(YOKE_RTC_INVALID_OPTION, NVRTC_ERROR_INVALID_OPTION);
SAME(YOKE_RTC_COMPILATION, NVRTC_ERROR_COMPILATION);
SAME(sizeof(int), sizeof(nvrtcResult));

/* Shapes: assignments to pointers of the slot's shape, with the vendor's own types where
 * ours are void * or int. */
int header_check_cuda_calls(void);
int header_check_cuda_calls(void)
{
    CUresult (*retain)(CUcontext *, CUdevice) = cuDevicePrimaryCtxRetain;
    CUresult (*let_go)(CUdevice) = cuDevicePrimaryCtxRelease;
    CUresult (*get)(CUcontext *) = cuCtxGetCurrent;
    CUresult (*set)(CUcontext) = cuCtxSetCurrent;
    CUresult (*free_total)(size_t *, size_t *) = cuMemGetInfo;
    CUresult (*allocate)(CUdeviceptr *, size_t) = cuMemAlloc;
    CUresult (*release)(CUdeviceptr) = cuMemFree;
    CUresult (*host)(void **, size_t, unsigned) = cuMemHostAlloc;
    CUresult (*plain)(void **, size_t) = cuMemAllocHost;
    CUresult (*host_release)(void *) = cuMemFreeHost;
    CUresult (*host_address)(CUdeviceptr *, void *, unsigned) = cuMemHostGetDevicePointer;
    CUresult (*managed)(CUdeviceptr *, size_t, unsigned) = cuMemAllocManaged;
    CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = cuMemcpyAsync;
    CUresult (*in)(CUdeviceptr, const void *, size_t, CUstream) = cuMemcpyHtoDAsync;
    CUresult (*out)(void *, CUdeviceptr, size_t, CUstream) = cuMemcpyDtoHAsync;
    CUresult (*peer)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream) =
        cuMemcpyPeerAsync;
    CUresult (*fill8)(CUdeviceptr, unsigned char, size_t, CUstream) = cuMemsetD8Async;
    CUresult (*fill16)(CUdeviceptr, unsigned short, size_t, CUstream) = cuMemsetD16Async;
    CUresult (*fill32)(CUdeviceptr, unsigned, size_t, CUstream) = cuMemsetD32Async;
    CUresult (*strided)(CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream) =
        cuMemsetD2D32Async;
    return retain && let_go && get && set && free_total && allocate && release && host &&
           plain && host_release && host_address && managed && copy && in && out &&
           peer && fill8 && fill16 && fill32 && strided;
}

int header_check_cuda_queues(void);
int header_check_cuda_queues(void)
{
    CUresult (*create)(CUstream *, unsigned) = cuStreamCreate;
    CUresult (*priority)(CUstream *, unsigned, int) = cuStreamCreateWithPriority;
    CUresult (*range)(int *, int *) = cuCtxGetStreamPriorityRange;
    CUresult (*destroy)(CUstream) = cuStreamDestroy;
    CUresult (*sync)(CUstream) = cuStreamSynchronize;
    CUresult (*query)(CUstream) = cuStreamQuery;
    CUresult (*wait)(CUstream, CUevent, unsigned) = cuStreamWaitEvent;
    CUresult (*call)(CUstream, void (*)(void *), void *) = cuLaunchHostFunc;
    CUresult (*value)(CUstream, CUdeviceptr, cuuint32_t, unsigned) = cuStreamWaitValue32;
    CUresult (*event)(CUevent *, unsigned) = cuEventCreate;
    CUresult (*end)(CUevent) = cuEventDestroy;
    CUresult (*record)(CUevent, CUstream) = cuEventRecord;
    CUresult (*reached)(CUevent) = cuEventQuery;
    CUresult (*event_sync)(CUevent) = cuEventSynchronize;
    CUresult (*elapsed)(float *, CUevent, CUevent) = cuEventElapsedTime;
    CUresult (*can)(int *, CUdevice, CUdevice) = cuDeviceCanAccessPeer;
    CUresult (*enable)(CUcontext, unsigned) = cuCtxEnablePeerAccess;
    CUresult (*load)(CUmodule *, const void *) = cuModuleLoadData;
    CUresult (*load_log)(CUmodule *, const void *, unsigned, CUjit_option *, void **) =
        cuModuleLoadDataEx;
    CUresult (*unload)(CUmodule) = cuModuleUnload;
    CUresult (*function)(CUfunction *, CUmodule, const char *) = cuModuleGetFunction;
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, unsigned, CUstream, void **, void **) = cuLaunchKernel;
    return create && priority && range && destroy && sync && query && wait && call &&
           value && event && end && record && reached && event_sync && elapsed && can &&
           enable && load && load_log && unload && function && launch;
}

int header_check_nvrtc(void);
int header_check_nvrtc(void)
{
    nvrtcResult (*version)(int *, int *) = nvrtcVersion;
    nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int,
                          const char *const *, const char *const *) = nvrtcCreateProgram;
    nvrtcResult (*compile)(nvrtcProgram, int, const char *const *) = nvrtcCompileProgram;
    nvrtcResult (*destroy)(nvrtcProgram *) = nvrtcDestroyProgram;
    nvrtcResult (*log_size)(nvrtcProgram, size_t *) = nvrtcGetProgramLogSize;
    nvrtcResult (*log)(nvrtcProgram, char *) = nvrtcGetProgramLog;
    nvrtcResult (*code_size)(nvrtcProgram, size_t *) = nvrtcGetCUBINSize;
    nvrtcResult (*code)(nvrtcProgram, char *) = nvrtcGetCUBIN;
    nvrtcResult (*text_size)(nvrtcProgram, size_t *) = nvrtcGetPTXSize;
    nvrtcResult (*text)(nvrtcProgram, char *) = nvrtcGetPTX;
    nvrtcResult (*count)(int *) = nvrtcGetNumSupportedArchs;
    nvrtcResult (*archs)(int *) = nvrtcGetSupportedArchs;
    const char *(*words)(nvrtcResult) = nvrtcGetErrorString;
    return version && create && compile && destroy && log_size && log && code_size &&
           code && text_size && text && count && archs && words;
}

#ifdef HAVE_CUBLAS
SAME(YOKE_CUBLAS_OP_N, CUBLAS_OP_N);
SAME(YOKE_CUBLAS_OP_T, CUBLAS_OP_T);
SAME(YOKE_CUBLAS_R_32F, CUDA_R_32F);
SAME(YOKE_CUBLAS_R_64F, CUDA_R_64F);
SAME(YOKE_CUBLAS_R_16F, CUDA_R_16F);
SAME(YOKE_CUBLAS_R_16BF, CUDA_R_16BF);
SAME(YOKE_CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(YOKE_CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F);
SAME(YOKE_CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT);
SAME(3, CUBLAS_STATUS_ALLOC_FAILED);
SAME(15, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(sizeof(int), sizeof(cublasComputeType_t));
SAME(sizeof(int), sizeof(cudaDataType));
SAME(sizeof(int), sizeof(cublasStatus_t));

int header_check_cublas(void);
int header_check_cublas(void)
{
    cublasStatus_t (*create)(cublasHandle_t *) = cublasCreate;
    cublasStatus_t (*destroy)(cublasHandle_t) = cublasDestroy;
    cublasStatus_t (*version)(cublasHandle_t, int *) = cublasGetVersion;
    cublasStatus_t (*stream)(cublasHandle_t, cudaStream_t) = cublasSetStream;
    cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                           int, const void *, const void *, cudaDataType, int, long long,
                           const void *, cudaDataType, int, long long, const void *,
                           void *, cudaDataType, int, long long, int, cublasComputeType_t,
                           cublasGemmAlgo_t) = cublasGemmStridedBatchedEx;
    return create && destroy && version && stream && gemm;
}
#endif

int header_check_cuda(void);
int header_check_cuda(void)
{
    CUresult (*init)(unsigned) = cuInit;
    CUresult (*version)(int *) = cuDriverGetVersion;
    CUresult (*count)(int *) = cuDeviceGetCount;
    CUresult (*get)(yoke_cu_device_t *, int) = cuDeviceGet;
    CUresult (*name)(char *, int, yoke_cu_device_t) = cuDeviceGetName;
    CUresult (*uuid)(CUuuid *, yoke_cu_device_t) = cuDeviceGetUuid;
    CUresult (*memory)(size_t *, yoke_cu_device_t) = cuDeviceTotalMem;
    CUresult (*attribute)(int *, CUdevice_attribute, yoke_cu_device_t) =
        cuDeviceGetAttribute;
    CUresult (*pci)(char *, int, yoke_cu_device_t) = cuDeviceGetPCIBusId;
    return init && version && count && get && name && uuid && memory && attribute && pci;
}
