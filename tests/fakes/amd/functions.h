/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's functions, by hip_runtime_api.h and hiprtc.h of HIP 5.2.3; handles are void *. No
 * include guard: ../header_check_hip.cpp reads it into a namespace. */
FAKE_API hip_result_t hipGetDeviceCount(int *count);
FAKE_API hip_result_t hipInit(unsigned flags);
FAKE_API hip_result_t hipRuntimeGetVersion(int *version);
FAKE_API hip_result_t hipDriverGetVersion(int *version);
FAKE_API hip_result_t hipDeviceGet(int *out_device, int ordinal);
FAKE_API hip_result_t hipDeviceGetName(char *name, int size, int ordinal);
FAKE_API hip_result_t hipDeviceGetUuid(char *uuid, int ordinal);
FAKE_API hip_result_t hipDeviceTotalMem(size_t *bytes, int ordinal);
FAKE_API hip_result_t hipDeviceGetAttribute(int *value, int which, int ordinal);
FAKE_API hip_result_t hipDeviceGetPCIBusId(char *text, int size, int ordinal);
FAKE_API hip_result_t hipDeviceGetByPCIBusId(int *out_device, const char *text);
FAKE_API hip_result_t hipGetDeviceProperties(void *out, int ordinal);
FAKE_API hip_result_t hipGetDevicePropertiesR0600(void *out, int ordinal);
FAKE_API hip_result_t hipSetDevice(int ordinal);
FAKE_API hip_result_t hipGetDevice(int *ordinal);
FAKE_API hip_result_t hipDeviceSynchronize(void);
FAKE_API hip_result_t hipDeviceGetStreamPriorityRange(int *least, int *greatest);
FAKE_API hip_result_t hipDeviceCanAccessPeer(int *can, int ordinal, int peer);
FAKE_API hip_result_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
FAKE_API hip_result_t hipDeviceDisablePeerAccess(int peer);
FAKE_API const char *hipGetErrorName(hip_result_t code);
FAKE_API const char *hipGetErrorString(hip_result_t code);
FAKE_API hip_result_t hipGetLastError(void);
FAKE_API hip_result_t hipPeekAtLastError(void);
FAKE_API hip_result_t hipMemGetInfo(size_t *free, size_t *total);
FAKE_API hip_result_t hipMalloc(void **out, size_t size);
FAKE_API hip_result_t hipExtMallocWithFlags(void **out, size_t size, unsigned flags);
FAKE_API hip_result_t hipFree(void *address);
FAKE_API hip_result_t hipMallocManaged(void **out, size_t size, unsigned flags);
FAKE_API hip_result_t hipHostMalloc(void **out, size_t size, unsigned flags);
FAKE_API hip_result_t hipHostFree(void *address);
FAKE_API hip_result_t hipHostRegister(void *address, size_t size, unsigned flags);
FAKE_API hip_result_t hipHostUnregister(void *address);
FAKE_API hip_result_t hipHostGetDevicePointer(void **out, void *address, unsigned flags);
FAKE_API hip_result_t hipPointerGetAttributes(void *out, const void *address);
FAKE_API hip_result_t hipMemcpy(void *to, const void *from, size_t size, int kind);
FAKE_API hip_result_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind,
                                     void *stream);
FAKE_API hip_result_t hipMemcpyHtoDAsync(void *to, void *from, size_t size, void *stream);
FAKE_API hip_result_t hipMemcpyDtoHAsync(void *to, void *from, size_t size, void *stream);
FAKE_API hip_result_t hipMemcpyDtoDAsync(void *to, void *from, size_t size, void *stream);
FAKE_API hip_result_t hipMemcpyPeerAsync(void *to, int to_device, const void *from,
                                         int from_device, size_t size, void *stream);
FAKE_API hip_result_t hipMemset(void *to, int value, size_t size);
FAKE_API hip_result_t hipMemsetAsync(void *to, int value, size_t size, void *stream);
FAKE_API hip_result_t hipMemsetD8Async(void *to, unsigned char value, size_t count,
                                       void *stream);
FAKE_API hip_result_t hipMemsetD16Async(void *to, unsigned short value, size_t count,
                                        void *stream);
FAKE_API hip_result_t hipMemsetD32Async(void *to, int value, size_t count, void *stream);
FAKE_API hip_result_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                       size_t height, void *stream);
FAKE_API hip_result_t hipStreamCreate(void **out_stream);
FAKE_API hip_result_t hipStreamCreateWithFlags(void **out_stream, unsigned flags);
FAKE_API hip_result_t hipStreamCreateWithPriority(void **out_stream, unsigned flags,
                                                  int priority);
FAKE_API hip_result_t hipStreamDestroy(void *handle);
FAKE_API hip_result_t hipStreamSynchronize(void *handle);
FAKE_API hip_result_t hipStreamQuery(void *handle);
FAKE_API hip_result_t hipStreamGetFlags(void *handle, unsigned *flags);
FAKE_API hip_result_t hipStreamGetPriority(void *handle, int *priority);
FAKE_API hip_result_t hipStreamGetDevice(void *handle, int *ordinal);
FAKE_API hip_result_t hipLaunchHostFunc(void *stream, void (*function)(void *),
                                        void *data);
FAKE_API hip_result_t hipStreamAddCallback(void *stream,
                                           void (*callback)(void *, hip_result_t, void *),
                                           void *data, unsigned flags);
FAKE_API hip_result_t hipStreamWaitValue32(void *stream, void *address, uint32_t value,
                                           unsigned flags, uint32_t mask);
FAKE_API hip_result_t hipStreamWriteValue32(void *stream, void *address, uint32_t value,
                                            unsigned flags);
FAKE_API hip_result_t hipEventCreate(void **out_event);
FAKE_API hip_result_t hipEventCreateWithFlags(void **out_event, unsigned flags);
FAKE_API hip_result_t hipEventDestroy(void *handle);
FAKE_API hip_result_t hipEventRecord(void *handle, void *stream);
FAKE_API hip_result_t hipEventQuery(void *handle);
FAKE_API hip_result_t hipEventSynchronize(void *handle);
FAKE_API hip_result_t hipStreamWaitEvent(void *stream, void *handle, unsigned flags);
FAKE_API hip_result_t hipEventElapsedTime(float *milliseconds, void *from, void *to);
FAKE_API hip_result_t hipModuleLoadData(void **out_module, const void *image);
FAKE_API hip_result_t hipModuleLoadDataEx(void **out_module, const void *image,
                                          unsigned count, int *options, void **values);
FAKE_API hip_result_t hipModuleUnload(void *handle);
FAKE_API hip_result_t hipModuleGetFunction(void **out_function, void *handle,
                                           const char *name);
FAKE_API hip_result_t hipModuleLaunchKernel(void *handle, unsigned gx, unsigned gy,
                                            unsigned gz, unsigned bx, unsigned by,
                                            unsigned bz, unsigned shared, void *stream,
                                            void **parameters, void **extra);
FAKE_API const char *hiprtcGetErrorString(int result);
FAKE_API int hiprtcVersion(int *major, int *minor);
FAKE_API int hiprtcCreateProgram(void **out_program, const char *source, const char *name,
                                 int header_count, const char **headers,
                                 const char **include_names);
FAKE_API int hiprtcDestroyProgram(void **handle);
FAKE_API int hiprtcCompileProgram(void *handle, int option_count, const char **words);
FAKE_API int hiprtcGetCodeSize(void *handle, size_t *size);
FAKE_API int hiprtcGetCode(void *handle, char *code);
FAKE_API int hiprtcGetProgramLogSize(void *handle, size_t *size);
FAKE_API int hiprtcGetProgramLog(void *handle, char *log);
