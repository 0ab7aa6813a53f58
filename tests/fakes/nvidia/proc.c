/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: the variant of a function that a version of CUDA means. When each
 * came is in the names of cudaTypedefs.h of the CUDA Toolkit 13.0 (PFN_cuMemAlloc_v3020).
 * The variants per thread (_ptsz) are not here. */
#include "cuda.h"
#include <stddef.h>
#include <string.h>

typedef struct row {
    const char *base;
    void *function;
    int since;
} row_t;

#define ROW(base, symbol, since)                                                         \
    {                                                                                    \
#base, (void *)(uintptr_t)symbol, since                                          \
    }
static const row_t rows[] = {
    ROW(cuInit, cuInit, 2000),
    ROW(cuDriverGetVersion, cuDriverGetVersion, 2020),
    ROW(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000),
    ROW(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 11000),
    ROW(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000),
    ROW(cuCtxCreate, cuCtxCreate_v2, 3020),
    ROW(cuCtxCreate, cuCtxCreate_v4, 12050),
    ROW(cuCtxDestroy, cuCtxDestroy_v2, 4000),
    ROW(cuCtxPushCurrent, cuCtxPushCurrent_v2, 4000),
    ROW(cuCtxPopCurrent, cuCtxPopCurrent_v2, 4000),
    ROW(cuCtxSetCurrent, cuCtxSetCurrent, 4000),
    ROW(cuCtxGetCurrent, cuCtxGetCurrent, 4000),
    ROW(cuCtxGetDevice, cuCtxGetDevice, 2000),
    ROW(cuCtxGetFlags, cuCtxGetFlags, 7000),
    ROW(cuCtxGetApiVersion, cuCtxGetApiVersion, 3020),
    ROW(cuCtxSynchronize, cuCtxSynchronize, 2000),
    ROW(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050),
    ROW(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000),
    ROW(cuCtxDisablePeerAccess, cuCtxDisablePeerAccess, 4000),
    ROW(cuDeviceGetCount, cuDeviceGetCount, 2000),
    ROW(cuDeviceGet, cuDeviceGet, 2000),
    ROW(cuDeviceGetName, cuDeviceGetName, 2000),
    ROW(cuDeviceGetUuid, cuDeviceGetUuid, 9020),
    ROW(cuDeviceGetUuid, cuDeviceGetUuid_v2, 11040),
    ROW(cuDeviceTotalMem, cuDeviceTotalMem_v2, 3020),
    ROW(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000),
    ROW(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010),
    ROW(cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, 4010),
    ROW(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000),
    ROW(cuMemGetInfo, cuMemGetInfo_v2, 3020),
    ROW(cuMemAlloc, cuMemAlloc_v2, 3020),
    ROW(cuMemFree, cuMemFree_v2, 3020),
    ROW(cuMemAllocManaged, cuMemAllocManaged, 6000),
    ROW(cuMemHostAlloc, cuMemHostAlloc, 2020),
    ROW(cuMemAllocHost, cuMemAllocHost_v2, 3020),
    ROW(cuMemFreeHost, cuMemFreeHost, 2000),
    ROW(cuMemHostRegister, cuMemHostRegister_v2, 6050),
    ROW(cuMemHostUnregister, cuMemHostUnregister, 4000),
    ROW(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, 3020),
    ROW(cuMemGetAddressRange, cuMemGetAddressRange_v2, 3020),
    ROW(cuPointerGetAttribute, cuPointerGetAttribute, 4000),
    ROW(cuMemcpy, cuMemcpy, 4000),
    ROW(cuMemcpyAsync, cuMemcpyAsync, 4000),
    ROW(cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020),
    ROW(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020),
    ROW(cuMemcpyDtoD, cuMemcpyDtoD_v2, 3020),
    ROW(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020),
    ROW(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020),
    ROW(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020),
    ROW(cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000),
    ROW(cuMemsetD8, cuMemsetD8_v2, 3020),
    ROW(cuMemsetD8Async, cuMemsetD8Async, 3020),
    ROW(cuMemsetD2D8, cuMemsetD2D8_v2, 3020),
    ROW(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020),
    ROW(cuMemsetD16, cuMemsetD16_v2, 3020),
    ROW(cuMemsetD16Async, cuMemsetD16Async, 3020),
    ROW(cuMemsetD2D16, cuMemsetD2D16_v2, 3020),
    ROW(cuMemsetD2D16Async, cuMemsetD2D16Async, 3020),
    ROW(cuMemsetD32, cuMemsetD32_v2, 3020),
    ROW(cuMemsetD32Async, cuMemsetD32Async, 3020),
    ROW(cuMemsetD2D32, cuMemsetD2D32_v2, 3020),
    ROW(cuMemsetD2D32Async, cuMemsetD2D32Async, 3020),
    ROW(cuStreamCreate, cuStreamCreate, 2000),
    ROW(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050),
    ROW(cuStreamDestroy, cuStreamDestroy_v2, 4000),
    ROW(cuStreamSynchronize, cuStreamSynchronize, 2000),
    ROW(cuStreamQuery, cuStreamQuery, 2000),
    ROW(cuStreamGetCtx, cuStreamGetCtx, 9020),
    ROW(cuStreamGetFlags, cuStreamGetFlags, 5050),
    ROW(cuStreamGetPriority, cuStreamGetPriority, 5050),
    ROW(cuStreamIsCapturing, cuStreamIsCapturing, 10000),
    ROW(cuLaunchHostFunc, cuLaunchHostFunc, 10000),
    ROW(cuStreamWaitValue32, cuStreamWaitValue32_v2, 11070),
    ROW(cuStreamWaitValue64, cuStreamWaitValue64_v2, 11070),
    ROW(cuStreamWriteValue32, cuStreamWriteValue32_v2, 11070),
    ROW(cuStreamWriteValue64, cuStreamWriteValue64_v2, 11070),
    ROW(cuEventCreate, cuEventCreate, 2000),
    ROW(cuEventDestroy, cuEventDestroy_v2, 4000),
    ROW(cuEventRecord, cuEventRecord, 2000),
    ROW(cuEventRecordWithFlags, cuEventRecordWithFlags, 11010),
    ROW(cuEventQuery, cuEventQuery, 2000),
    ROW(cuEventSynchronize, cuEventSynchronize, 2000),
    ROW(cuStreamWaitEvent, cuStreamWaitEvent, 3020),
    ROW(cuEventElapsedTime, cuEventElapsedTime, 2000),
    ROW(cuEventElapsedTime, cuEventElapsedTime_v2, 12080),
    ROW(cuModuleLoadData, cuModuleLoadData, 2000),
    ROW(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010),
    ROW(cuModuleUnload, cuModuleUnload, 2000),
    ROW(cuModuleGetFunction, cuModuleGetFunction, 2000),
    ROW(cuFuncGetAttribute, cuFuncGetAttribute, 2020),
    ROW(cuFuncSetAttribute, cuFuncSetAttribute, 9000),
    ROW(cuLaunchKernel, cuLaunchKernel, 4000),
    ROW(cuGetErrorName, cuGetErrorName, 6000),
    ROW(cuGetErrorString, cuGetErrorString, 6000),
    ROW(cuGetProcAddress, cuGetProcAddress, 11030),
    ROW(cuGetProcAddress, cuGetProcAddress_v2, 12000),
};

/* CUdriverProcAddressQueryResult: SUCCESS 0, SYMBOL_NOT_FOUND 1,
 * VERSION_NOT_SUFFICIENT 2. */
static cu_result_t find(const char *symbol, void **out_function, int version,
                        int *out_status)
{
    const row_t *best = NULL;
    bool known = false;
    if (symbol == NULL || out_function == NULL ||
        version > (int)fake_config_number(-1, "driver", 13000))
        return CU_INVALID_VALUE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].base, symbol) != 0)
            continue;
        known = true;
        if (rows[i].since <= version && (best == NULL || rows[i].since > best->since))
            best = &rows[i];
    }
    *out_function = best != NULL ? best->function : NULL;
    *out_status = best != NULL ? 0 : known ? 2 : 1;
    return CU_SUCCESS;
}

/* Before 12.0: one argument less, and a missing symbol is an error. */
FAKE_API cu_result_t cuGetProcAddress(const char *symbol, void **out_function,
                                      int version, unsigned long long flags)
{
    FAKE_CALL(cuGetProcAddress, cu_result_t);
    int status = 0;
    (void)flags;
    cu_result_t result = find(symbol, out_function, version, &status);
    return result == CU_SUCCESS && status != 0 ? CU_NOT_FOUND : result;
}

FAKE_API cu_result_t cuGetProcAddress_v2(const char *symbol, void **out_function,
                                         int version, unsigned long long flags,
                                         int *out_status)
{
    FAKE_CALL(cuGetProcAddress_v2, cu_result_t);
    int status = 0;
    (void)flags;
    cu_result_t result = find(symbol, out_function, version, &status);
    if (out_status != NULL && result == CU_SUCCESS)
        *out_status = status;
    return result;
}
