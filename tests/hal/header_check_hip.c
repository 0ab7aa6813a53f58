/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of HIP against the installed hip_runtime_api.h; compiling is the test.
 */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include "backends/hip/hip.h"
#include "backends/hip/live.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME(YOKE_HIP_SUCCESS, hipSuccess);
SAME(YOKE_HIP_ERROR_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver);
SAME(YOKE_HIP_ERROR_NO_DEVICE, hipErrorNoDevice);
SAME(YOKE_HIP_ERROR_INVALID_DEVICE, hipErrorInvalidDevice);
SAME(sizeof(yoke_hip_uuid_t), sizeof(hipUUID));
SAME(sizeof(int), sizeof(hipError_t));
SAME(sizeof(int), sizeof(hipDevice_t));

/* --- the live backend -----------------------------------------------------------------
 */

#define ATTRIBUTE(key, number, theirs) SAME(number, hipDeviceAttribute##theirs);
YOKE_HIP_ATTRIBUTES_LIST(ATTRIBUTE)

SAME(YOKE_HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking);
SAME(YOKE_HIP_EVENT_DISABLE_TIMING, hipEventDisableTiming);
SAME(YOKE_HIP_HOST_PORTABLE, hipHostMallocPortable);
SAME(YOKE_HIP_HOST_MAPPED, hipHostMallocMapped);
SAME(YOKE_HIP_MANAGED_GLOBAL, hipMemAttachGlobal);
SAME(YOKE_HIP_SIGNAL_MEMORY, hipMallocSignalMemory);
SAME(0, hipStreamWaitValueGte); /* WAIT_AT_LEAST of gate.c */
SAME(1, hipMemcpyHostToDevice); /* KIND_... of queue.c */
SAME(2, hipMemcpyDeviceToHost);
SAME(4, hipMemcpyDefault);
SAME(YOKE_CUDALIKE_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(YOKE_CUDALIKE_DEINITIALIZED, hipErrorDeinitialized);
SAME(YOKE_CUDALIKE_NO_DEVICE, hipErrorNoDevice);
SAME(YOKE_CUDALIKE_INVALID_DEVICE, hipErrorInvalidDevice);
SAME(YOKE_CUDALIKE_INVALID_IMAGE, hipErrorInvalidImage);
SAME(YOKE_CUDALIKE_INVALID_CONTEXT, hipErrorInvalidContext);
SAME(YOKE_CUDALIKE_NO_BINARY, hipErrorNoBinaryForGpu);
SAME(YOKE_CUDALIKE_ECC, hipErrorECCNotCorrectable);
SAME(YOKE_CUDALIKE_PEER_UNSUPPORTED, hipErrorPeerAccessUnsupported);
SAME(YOKE_CUDALIKE_INVALID_PTX, hipErrorInvalidKernelFile);
SAME(YOKE_CUDALIKE_INVALID_SOURCE, hipErrorInvalidSource);
SAME(YOKE_CUDALIKE_INVALID_HANDLE, hipErrorInvalidHandle);
SAME(YOKE_CUDALIKE_NOT_FOUND, hipErrorNotFound);
SAME(YOKE_CUDALIKE_NOT_READY, hipErrorNotReady);
SAME(YOKE_CUDALIKE_ILLEGAL_ADDRESS, hipErrorIllegalAddress);
SAME(YOKE_CUDALIKE_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut);
SAME(YOKE_CUDALIKE_PEER_ALREADY, hipErrorPeerAccessAlreadyEnabled);
SAME(YOKE_CUDALIKE_PEER_NOT_ENABLED, hipErrorPeerAccessNotEnabled);
SAME(YOKE_CUDALIKE_CONTEXT_DESTROYED, hipErrorContextIsDestroyed);
SAME(YOKE_CUDALIKE_ASSERT, hipErrorAssert);
SAME(YOKE_CUDALIKE_LAUNCH_FAILED, hipErrorLaunchFailure);
SAME(YOKE_CUDALIKE_NOT_SUPPORTED, hipErrorNotSupported);
SAME(sizeof(yoke_cudalike_address_t), sizeof(hipDeviceptr_t));
SAME(sizeof(int), sizeof(hipMemcpyKind));
SAME(sizeof(int), sizeof(hipDeviceAttribute_t));
/* The layout of HIP 5; R0600 came with 6. */
SAME(YOKE_HIP_ARCH_OFFSET, offsetof(hipDeviceProp_t, gcnArchName));
SAME(792, sizeof(hipDeviceProp_t));
SAME(YOKE_RTC_INVALID_OPTION, HIPRTC_ERROR_INVALID_OPTION);
SAME(YOKE_RTC_COMPILATION, HIPRTC_ERROR_COMPILATION);

int header_check_hip_calls(void);
int header_check_hip_calls(void)
{
    hipError_t (*attribute)(int *, hipDeviceAttribute_t, int) = hipDeviceGetAttribute;
    hipError_t (*properties)(hipDeviceProp_t *, int) = hipGetDeviceProperties;
    hipError_t (*get)(int *) = hipGetDevice;
    hipError_t (*set)(int) = hipSetDevice;
    hipError_t (*free_total)(size_t *, size_t *) = hipMemGetInfo;
    hipError_t (*allocate)(void **, size_t) = hipMalloc;
    hipError_t (*release)(void *) = hipFree;
    hipError_t (*host)(void **, size_t, unsigned) = hipHostMalloc;
    hipError_t (*host_release)(void *) = hipHostFree;
    hipError_t (*host_address)(void **, void *, unsigned) = hipHostGetDevicePointer;
    hipError_t (*managed)(void **, size_t, unsigned) = hipMallocManaged;
    hipError_t (*signal)(void **, size_t, unsigned) = hipExtMallocWithFlags;
    hipError_t (*copy)(void *, const void *, size_t, hipMemcpyKind, hipStream_t) =
        hipMemcpyAsync;
    hipError_t (*peer)(void *, int, const void *, int, size_t, hipStream_t) =
        hipMemcpyPeerAsync;
    hipError_t (*fill8)(hipDeviceptr_t, unsigned char, size_t, hipStream_t) =
        hipMemsetD8Async;
    hipError_t (*fill16)(hipDeviceptr_t, unsigned short, size_t, hipStream_t) =
        hipMemsetD16Async;
    hipError_t (*fill32)(hipDeviceptr_t, int, size_t, hipStream_t) = hipMemsetD32Async;
    return attribute && properties && get && set && free_total && allocate && release &&
           host && host_release && host_address && managed && signal && copy && peer &&
           fill8 && fill16 && fill32;
}

int header_check_hip_queues(void);
int header_check_hip_queues(void)
{
    hipError_t (*create)(hipStream_t *, unsigned) = hipStreamCreateWithFlags;
    hipError_t (*priority)(hipStream_t *, unsigned, int) = hipStreamCreateWithPriority;
    hipError_t (*range)(int *, int *) = hipDeviceGetStreamPriorityRange;
    hipError_t (*destroy)(hipStream_t) = hipStreamDestroy;
    hipError_t (*sync)(hipStream_t) = hipStreamSynchronize;
    hipError_t (*query)(hipStream_t) = hipStreamQuery;
    hipError_t (*wait)(hipStream_t, hipEvent_t, unsigned) = hipStreamWaitEvent;
    hipError_t (*call)(hipStream_t, void (*)(void *), void *) = hipLaunchHostFunc;
    hipError_t (*value)(hipStream_t, void *, uint32_t, unsigned, uint32_t) =
        hipStreamWaitValue32;
    hipError_t (*event)(hipEvent_t *, unsigned) = hipEventCreateWithFlags;
    hipError_t (*end)(hipEvent_t) = hipEventDestroy;
    hipError_t (*record)(hipEvent_t, hipStream_t) = hipEventRecord;
    hipError_t (*reached)(hipEvent_t) = hipEventQuery;
    hipError_t (*event_sync)(hipEvent_t) = hipEventSynchronize;
    hipError_t (*elapsed)(float *, hipEvent_t, hipEvent_t) = hipEventElapsedTime;
    hipError_t (*can)(int *, int, int) = hipDeviceCanAccessPeer;
    hipError_t (*enable)(int, unsigned) = hipDeviceEnablePeerAccess;
    hipError_t (*load)(hipModule_t *, const void *) = hipModuleLoadData;
    hipError_t (*unload)(hipModule_t) = hipModuleUnload;
    hipError_t (*function)(hipFunction_t *, hipModule_t, const char *) =
        hipModuleGetFunction;
    hipError_t (*launch)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, unsigned, hipStream_t, void **, void **) =
        hipModuleLaunchKernel;
    return create && priority && range && destroy && sync && query && wait && call &&
           value && event && end && record && reached && event_sync && elapsed && can &&
           enable && load && unload && function && launch;
}

int header_check_hiprtc(void);
int header_check_hiprtc(void)
{
    hiprtcResult (*version)(int *, int *) = hiprtcVersion;
    hiprtcResult (*create)(hiprtcProgram *, const char *, const char *, int,
                           const char **, const char **) = hiprtcCreateProgram;
    hiprtcResult (*compile)(hiprtcProgram, int, const char **) = hiprtcCompileProgram;
    hiprtcResult (*destroy)(hiprtcProgram *) = hiprtcDestroyProgram;
    hiprtcResult (*log_size)(hiprtcProgram, size_t *) = hiprtcGetProgramLogSize;
    hiprtcResult (*log)(hiprtcProgram, char *) = hiprtcGetProgramLog;
    hiprtcResult (*code_size)(hiprtcProgram, size_t *) = hiprtcGetCodeSize;
    hiprtcResult (*code)(hiprtcProgram, char *) = hiprtcGetCode;
    const char *(*words)(hiprtcResult) = hiprtcGetErrorString;
    return version && create && compile && destroy && log_size && log && code_size &&
           code && words;
}

int header_check_hip(void);
int header_check_hip(void)
{
    hipError_t (*count)(int *) = hipGetDeviceCount;
    hipError_t (*version)(int *) = hipRuntimeGetVersion;
    hipError_t (*name)(char *, int, hipDevice_t) = hipDeviceGetName;
    hipError_t (*uuid)(hipUUID *, hipDevice_t) = hipDeviceGetUuid;
    hipError_t (*memory)(size_t *, hipDevice_t) = hipDeviceTotalMem;
    hipError_t (*pci)(char *, int, int) = hipDeviceGetPCIBusId;
    return count && version && name && uuid && memory && pci;
}
