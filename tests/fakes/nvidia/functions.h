/* SPDX-License-Identifier: Apache-2.0 */
/* The driver API's functions, by cuda.h of the CUDA Toolkit 13.0; handles are void *. No
 * include guard: ../header_check_cuda.cpp reads it into a namespace. */
FAKE_API cu_result_t cuInit(unsigned flags);
FAKE_API cu_result_t cuDriverGetVersion(int *version);
FAKE_API cu_result_t cuDevicePrimaryCtxRetain(void **out_context, cu_device_t device);
FAKE_API cu_result_t cuDevicePrimaryCtxRelease_v2(cu_device_t device);
FAKE_API cu_result_t cuDevicePrimaryCtxGetState(cu_device_t device, unsigned *flags,
                                                int *active);
FAKE_API cu_result_t cuCtxCreate_v2(void **out_context, unsigned flags,
                                    cu_device_t device);
FAKE_API cu_result_t cuCtxCreate_v4(void **out_context, void *parameters, unsigned flags,
                                    cu_device_t device);
FAKE_API cu_result_t cuCtxDestroy_v2(void *handle);
FAKE_API cu_result_t cuCtxPushCurrent_v2(void *handle);
FAKE_API cu_result_t cuCtxPopCurrent_v2(void **out_context);
FAKE_API cu_result_t cuCtxSetCurrent(void *handle);
FAKE_API cu_result_t cuCtxGetCurrent(void **out_context);
FAKE_API cu_result_t cuCtxGetDevice(cu_device_t *out_device);
FAKE_API cu_result_t cuCtxGetFlags(unsigned *flags);
FAKE_API cu_result_t cuCtxGetApiVersion(void *handle, unsigned *version);
FAKE_API cu_result_t cuCtxSynchronize(void);
FAKE_API cu_result_t cuCtxGetStreamPriorityRange(int *least, int *greatest);
FAKE_API cu_result_t cuCtxEnablePeerAccess(void *handle, unsigned flags);
FAKE_API cu_result_t cuCtxDisablePeerAccess(void *handle);
FAKE_API cu_result_t cuDeviceGetCount(int *count);
FAKE_API cu_result_t cuDeviceGet(cu_device_t *device, int ordinal);
FAKE_API cu_result_t cuDeviceGetName(char *name, int size, cu_device_t device);
FAKE_API cu_result_t cuDeviceGetUuid(char *uuid, cu_device_t device);
FAKE_API cu_result_t cuDeviceGetUuid_v2(char *uuid, cu_device_t device);
FAKE_API cu_result_t cuDeviceTotalMem_v2(size_t *bytes, cu_device_t device);
FAKE_API cu_result_t cuDeviceGetAttribute(int *value, int which, cu_device_t device);
FAKE_API cu_result_t cuDeviceGetPCIBusId(char *text, int size, cu_device_t device);
FAKE_API cu_result_t cuDeviceGetByPCIBusId(cu_device_t *device, const char *text);
FAKE_API cu_result_t cuDeviceCanAccessPeer(int *can, cu_device_t device,
                                           cu_device_t peer);
FAKE_API cu_result_t cuMemGetInfo_v2(size_t *free, size_t *total);
FAKE_API cu_result_t cuMemAlloc_v2(cu_address_t *out, size_t size);
FAKE_API cu_result_t cuMemFree_v2(cu_address_t address);
FAKE_API cu_result_t cuMemAllocManaged(cu_address_t *out, size_t size, unsigned flags);
FAKE_API cu_result_t cuMemHostAlloc(void **out, size_t size, unsigned flags);
FAKE_API cu_result_t cuMemAllocHost_v2(void **out, size_t size);
FAKE_API cu_result_t cuMemFreeHost(void *address);
FAKE_API cu_result_t cuMemHostRegister_v2(void *address, size_t size, unsigned flags);
FAKE_API cu_result_t cuMemHostUnregister(void *address);
FAKE_API cu_result_t cuMemHostGetDevicePointer_v2(cu_address_t *out, void *address,
                                                  unsigned flags);
FAKE_API cu_result_t cuMemGetAddressRange_v2(cu_address_t *base, size_t *size,
                                             cu_address_t address);
FAKE_API cu_result_t cuPointerGetAttribute(void *data, int which, cu_address_t address);
FAKE_API cu_result_t cuMemcpy(cu_address_t to, cu_address_t from, size_t size);
FAKE_API cu_result_t cuMemcpyAsync(cu_address_t to, cu_address_t from, size_t size,
                                   void *stream);
FAKE_API cu_result_t cuMemcpyHtoD_v2(cu_address_t to, const void *from, size_t size);
FAKE_API cu_result_t cuMemcpyDtoH_v2(void *to, cu_address_t from, size_t size);
FAKE_API cu_result_t cuMemcpyDtoD_v2(cu_address_t to, cu_address_t from, size_t size);
FAKE_API cu_result_t cuMemcpyHtoDAsync_v2(cu_address_t to, const void *from, size_t size,
                                          void *stream);
FAKE_API cu_result_t cuMemcpyDtoHAsync_v2(void *to, cu_address_t from, size_t size,
                                          void *stream);
FAKE_API cu_result_t cuMemcpyDtoDAsync_v2(cu_address_t to, cu_address_t from, size_t size,
                                          void *stream);
FAKE_API cu_result_t cuMemcpyPeerAsync(cu_address_t to, void *to_context,
                                       cu_address_t from, void *from_context, size_t size,
                                       void *stream);
FAKE_API cu_result_t cuMemsetD8_v2(cu_address_t, unsigned char, size_t);
FAKE_API cu_result_t cuMemsetD8Async(cu_address_t, unsigned char, size_t, void *);
FAKE_API cu_result_t cuMemsetD2D8_v2(cu_address_t, size_t, unsigned char, size_t, size_t);
FAKE_API cu_result_t cuMemsetD2D8Async(cu_address_t, size_t, unsigned char, size_t,
                                       size_t, void *);
FAKE_API cu_result_t cuMemsetD16_v2(cu_address_t, unsigned short, size_t);
FAKE_API cu_result_t cuMemsetD16Async(cu_address_t, unsigned short, size_t, void *);
FAKE_API cu_result_t cuMemsetD2D16_v2(cu_address_t, size_t, unsigned short, size_t,
                                      size_t);
FAKE_API cu_result_t cuMemsetD2D16Async(cu_address_t, size_t, unsigned short, size_t,
                                        size_t, void *);
FAKE_API cu_result_t cuMemsetD32_v2(cu_address_t, unsigned, size_t);
FAKE_API cu_result_t cuMemsetD32Async(cu_address_t, unsigned, size_t, void *);
FAKE_API cu_result_t cuMemsetD2D32_v2(cu_address_t, size_t, unsigned, size_t, size_t);
FAKE_API cu_result_t cuMemsetD2D32Async(cu_address_t, size_t, unsigned, size_t, size_t,
                                        void *);
FAKE_API cu_result_t cuStreamCreate(void **out_stream, unsigned flags);
FAKE_API cu_result_t cuStreamCreateWithPriority(void **out_stream, unsigned flags,
                                                int priority);
FAKE_API cu_result_t cuStreamDestroy_v2(void *handle);
FAKE_API cu_result_t cuStreamSynchronize(void *handle);
FAKE_API cu_result_t cuStreamQuery(void *handle);
FAKE_API cu_result_t cuStreamGetCtx(void *handle, void **out_context);
FAKE_API cu_result_t cuStreamGetFlags(void *handle, unsigned *flags);
FAKE_API cu_result_t cuStreamGetPriority(void *handle, int *priority);
FAKE_API cu_result_t cuStreamIsCapturing(void *handle, int *status);
FAKE_API cu_result_t cuLaunchHostFunc(void *handle, void (*function)(void *), void *data);
FAKE_API cu_result_t cuStreamWaitValue32_v2(void *stream, cu_address_t address,
                                            uint32_t value, unsigned flags);
FAKE_API cu_result_t cuStreamWaitValue64_v2(void *stream, cu_address_t address,
                                            uint64_t value, unsigned flags);
FAKE_API cu_result_t cuStreamWriteValue32_v2(void *stream, cu_address_t address,
                                             uint32_t value, unsigned flags);
FAKE_API cu_result_t cuStreamWriteValue64_v2(void *stream, cu_address_t address,
                                             uint64_t value, unsigned flags);
FAKE_API cu_result_t cuEventCreate(void **out_event, unsigned flags);
FAKE_API cu_result_t cuEventDestroy_v2(void *handle);
FAKE_API cu_result_t cuEventRecord(void *event, void *stream);
FAKE_API cu_result_t cuEventRecordWithFlags(void *event, void *stream, unsigned flags);
FAKE_API cu_result_t cuEventQuery(void *handle);
FAKE_API cu_result_t cuEventSynchronize(void *handle);
FAKE_API cu_result_t cuStreamWaitEvent(void *stream, void *handle, unsigned flags);
FAKE_API cu_result_t cuEventElapsedTime(float *milliseconds, void *start, void *end);
FAKE_API cu_result_t cuEventElapsedTime_v2(float *milliseconds, void *start, void *end);
FAKE_API cu_result_t cuModuleLoadData(void **out_module, const void *image);
FAKE_API cu_result_t cuModuleLoadDataEx(void **out_module, const void *image,
                                        unsigned count, int *options, void **values);
FAKE_API cu_result_t cuModuleUnload(void *handle);
FAKE_API cu_result_t cuModuleGetFunction(void **out_function, void *handle,
                                         const char *name);
FAKE_API cu_result_t cuFuncGetAttribute(int *value, int which, void *handle);
FAKE_API cu_result_t cuFuncSetAttribute(void *handle, int which, int value);
FAKE_API cu_result_t cuLaunchKernel(void *handle, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz,
                                    unsigned shared, void *stream, void **parameters,
                                    void **extra);
FAKE_API cu_result_t cuGetErrorName(cu_result_t code, const char **out_name);
FAKE_API cu_result_t cuGetErrorString(cu_result_t code, const char **out_text);
FAKE_API cu_result_t cuGetProcAddress(const char *symbol, void **out_function,
                                      int version, unsigned long long flags);
FAKE_API cu_result_t cuGetProcAddress_v2(const char *symbol, void **out_function,
                                         int version, unsigned long long flags,
                                         int *status);
