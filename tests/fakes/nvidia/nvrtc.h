/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's functions, by nvrtc.h of the CUDA Toolkit 13.0; a program is void *. No include
 * guard: ../header_check_cuda.cpp reads it into a namespace. */
FAKE_API const char *nvrtcGetErrorString(int result);
FAKE_API int nvrtcVersion(int *major, int *minor);
FAKE_API int nvrtcGetNumSupportedArchs(int *count);
FAKE_API int nvrtcGetSupportedArchs(int *archs);
FAKE_API int nvrtcCreateProgram(void **out_program, const char *source, const char *name,
                                int header_count, const char *const *headers,
                                const char *const *include_names);
FAKE_API int nvrtcDestroyProgram(void **program);
FAKE_API int nvrtcCompileProgram(void *program, int option_count,
                                 const char *const *options);
FAKE_API int nvrtcGetPTXSize(void *program, size_t *size);
FAKE_API int nvrtcGetPTX(void *program, char *ptx);
FAKE_API int nvrtcGetCUBINSize(void *program, size_t *size);
FAKE_API int nvrtcGetCUBIN(void *program, char *cubin);
FAKE_API int nvrtcGetProgramLogSize(void *program, size_t *size);
FAKE_API int nvrtcGetProgramLog(void *program, char *log);
