/* SPDX-License-Identifier: Apache-2.0 */
/* The fake libcuda and libnvrtc (and those of CUDA's shape that take the same calls),
 * driven as a raw program drives the real ones. */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/fakes/fake.h"

typedef unsigned long long address_t;
#define AT(p) ((address_t)(uintptr_t)(p))

/* Prototypes as a program that loads the libraries declares them (cuda.h, nvrtc.h). */
#define FUNCTIONS(X)                                                                     \
    X(cuInit, (unsigned))                                                                \
    X(cuDeviceGetCount, (int *))                                                         \
    X(cuDeviceGetAttribute, (int *, int, int))                                           \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                          \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                               \
    X(cuCtxSetCurrent, (void *))                                                         \
    X(cuCtxGetCurrent, (void **))                                                        \
    X(cuCtxSynchronize, (void))                                                          \
    X(cuCtxEnablePeerAccess, (void *, unsigned))                                         \
    X(cuMemAlloc_v2, (address_t *, size_t))                                              \
    X(cuMemFree_v2, (address_t))                                                         \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                       \
    X(cuMemFreeHost, (void *))                                                           \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                             \
    X(cuMemcpyHtoD_v2, (address_t, const void *, size_t))                                \
    X(cuMemcpyDtoH_v2, (void *, address_t, size_t))                                      \
    X(cuMemcpyHtoDAsync_v2, (address_t, const void *, size_t, void *))                   \
    X(cuMemcpyDtoHAsync_v2, (void *, address_t, size_t, void *))                         \
    X(cuMemcpyAsync, (address_t, address_t, size_t, void *))                             \
    X(cuMemsetD32Async, (address_t, unsigned, size_t, void *))                           \
    X(cuMemsetD2D16Async, (address_t, size_t, unsigned short, size_t, size_t, void *))   \
    X(cuStreamCreate, (void **, unsigned))                                               \
    X(cuStreamDestroy_v2, (void *))                                                      \
    X(cuStreamSynchronize, (void *))                                                     \
    X(cuStreamQuery, (void *))                                                           \
    X(cuStreamWaitEvent, (void *, void *, unsigned))                                     \
    X(cuStreamWaitValue32_v2, (void *, address_t, uint32_t, unsigned))                   \
    X(cuEventCreate, (void **, unsigned))                                                \
    X(cuEventDestroy_v2, (void *))                                                       \
    X(cuEventRecord, (void *, void *))                                                   \
    X(cuEventQuery, (void *))                                                            \
    X(cuEventSynchronize, (void *))                                                      \
    X(cuEventElapsedTime, (float *, void *, void *))                                     \
    X(cuLaunchHostFunc, (void *, void (*)(void *), void *))                              \
    X(cuModuleLoadData, (void **, const void *))                                         \
    X(cuModuleUnload, (void *))                                                          \
    X(cuModuleGetFunction, (void **, void *, const char *))                              \
    X(cuGetProcAddress_v2, (const char *, void **, int, unsigned long long, int *))      \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                       unsigned, unsigned, void *, void **, void **))
#define COMPILER(X)                                                                      \
    X(nvrtcCreateProgram, (void **, const char *, const char *, int,                     \
                           const char *const *, const char *const *))                    \
    X(nvrtcDestroyProgram, (void **))                                                    \
    X(nvrtcCompileProgram, (void *, int, const char *const *))                           \
    X(nvrtcGetPTXSize, (void *, size_t *))                                               \
    X(nvrtcGetPTX, (void *, char *))                                                     \
    X(nvrtcGetCUBINSize, (void *, size_t *))                                             \
    X(nvrtcGetCUBIN, (void *, char *))                                                   \
    X(nvrtcGetProgramLogSize, (void *, size_t *))                                        \
    X(nvrtcGetProgramLog, (void *, char *))
#define POINTER(name, arguments) static int(*name) arguments;
FUNCTIONS(POINTER)
COMPILER(POINTER)
static uint64_t (*fake_current)(void);
static void (*fake_set_current)(int);
static uint64_t (*fake_calls)(void);
static void (*fake_fault)(const char *, yoke_fake_fault_t, int64_t, uint64_t);
static void (*fake_lose)(int);
static uint64_t (*fake_alive)(void);

static void *need(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return symbol;
}

static void load(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *cuda = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    snprintf(path, sizeof path, "%s/libnvrtc.so.13", folder);
    void *nvrtc = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (cuda == NULL || nvrtc == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name, arguments) *(void **)(void *)&name = need(cuda, #name);
    FUNCTIONS(FIND)
#undef FIND
#define FIND(name, arguments) *(void **)(void *)&name = need(nvrtc, #name);
    COMPILER(FIND)
    *(void **)(void *)&fake_current = need(cuda, "yoke_fake_current");
    *(void **)(void *)&fake_set_current = need(cuda, "yoke_fake_set_current");
    *(void **)(void *)&fake_calls = need(cuda, "yoke_fake_calls");
    *(void **)(void *)&fake_fault = need(cuda, "yoke_fake_fault");
    *(void **)(void *)&fake_lose = need(cuda, "yoke_fake_lose");
    *(void **)(void *)&fake_alive = need(cuda, "yoke_fake_alive");
}

static void *contexts[2];

static int begin(void **state)
{
    (void)state;
    assert_int_equal(cuInit(0), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cuDevicePrimaryCtxRetain(&contexts[i], i), 0);
    assert_int_equal(cuCtxSetCurrent(contexts[0]), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cuCtxSetCurrent(contexts[0]);
    assert_int_equal(fake_alive(), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cuDevicePrimaryCtxRelease_v2(i), 0);
    return 0;
}

/* A program that does not wait sees old data; one that waits does not. */
static void copies_are_late(void **state)
{
    (void)state;
    address_t memory;
    void *stream;
    int in = 7, out = -1;
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 0);
    assert_int_equal(cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cuMemcpyHtoDAsync_v2(memory, &in, 4, stream), 0);
    assert_int_equal(cuMemcpyDtoHAsync_v2(&out, memory, 4, stream), 0);
    int early = __atomic_load_n(&out, __ATOMIC_RELAXED);
    assert_int_equal(cuStreamQuery(stream), 600);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(early, -1);
    assert_int_equal(out, 7);
    assert_int_equal(cuStreamQuery(stream), 0);
    assert_int_equal(cuStreamDestroy_v2(stream), 0);
    assert_int_equal(cuStreamDestroy_v2(stream), 400);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

static sigjmp_buf after_fault;

static void caught(int signal)
{
    siglongjmp(after_fault, signal);
}

static void host_may_not_touch(void **state)
{
    (void)state;
    address_t memory;
    void *pinned;
    struct sigaction action = {.sa_handler = caught}, before;
    assert_int_equal(cuMemAlloc_v2(&memory, 4096), 0);
    sigaction(SIGSEGV, &action, &before);
    int signal = sigsetjmp(after_fault, 1);
    if (signal == 0) {
        *(volatile int *)(uintptr_t)memory = 1;
        fail();
    }
    sigaction(SIGSEGV, &before, NULL);
    assert_int_equal(signal, SIGSEGV);
    assert_int_equal(cuMemHostAlloc(&pinned, 64, 0), 0);
    memset(pinned, 1, 64);
    assert_int_equal(cuMemFreeHost(pinned), 0);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

static void bad_addresses(void **state)
{
    (void)state;
    address_t memory;
    char host[256] = "";
    assert_int_equal(cuMemAlloc_v2(&memory, 100), 0);
    assert_int_equal(cuMemcpyHtoD_v2(memory, host, 101), 1);
    assert_int_equal(cuMemcpyHtoD_v2(memory + 90, host, 10), 0);
    assert_int_equal(cuMemcpyHtoD_v2(AT(host), host, 4), 1);
    assert_int_equal(cuMemFree_v2(memory + 4), 1);
    assert_int_equal(cuMemFree_v2(memory), 0);
    assert_int_equal(cuMemcpyHtoD_v2(memory, host, 4), 1);
    assert_int_equal(cuMemFree_v2(memory), 1);
}

static void memory_ends(void **state)
{
    (void)state;
    size_t left, all;
    address_t most, more;
    assert_int_equal(cuMemGetInfo_v2(&left, &all), 0);
    assert_int_equal(left, all);
    assert_int_equal(cuMemAlloc_v2(&most, all + 1), 2);
    assert_int_equal(cuMemAlloc_v2(&most, all), 0);
    assert_int_equal(cuMemAlloc_v2(&more, 1), 2);
    assert_int_equal(cuMemFree_v2(most), 0);
    assert_int_equal(cuMemAlloc_v2(&more, 1), 0);
    assert_int_equal(cuMemFree_v2(more), 0);
}

static void fills(void **state)
{
    (void)state;
    address_t memory;
    uint32_t words[4] = {0};
    assert_int_equal(cuMemAlloc_v2(&memory, 16), 0);
    assert_int_equal(cuMemsetD32Async(memory, 0x01020304, 4, NULL), 0);
    assert_int_equal(cuMemsetD32Async(memory + 2, 0, 1, NULL), 1);
    assert_int_equal(cuMemsetD2D16Async(memory + 2, 8, 0xffff, 1, 2, NULL), 0);
    assert_int_equal(cuMemcpyDtoH_v2(words, memory, 16), 0);
    assert_int_equal(words[0], 0xffff0304);
    assert_int_equal(words[1], 0x01020304);
    assert_int_equal(words[2], 0xffff0304);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

/* ---- kernels ----------------------------------------------------------------------- */

static char *compile(const char *source, const char *arch, int want, int form)
{
    void *program;
    size_t size = 0;
    const char *options[] = {arch, "-DFACTOR=3", "--fmad=false", "-DA=1 +1"};
    assert_int_equal(nvrtcCreateProgram(&program, source, "test.cu", 0, NULL, NULL), 0);
    assert_int_equal(nvrtcCompileProgram(program, 4, options), want);
    char *image = NULL;
    if (want != 0) {
        assert_int_equal(nvrtcGetProgramLogSize(program, &size), 0);
        image = malloc(size);
        assert_int_equal(nvrtcGetProgramLog(program, image), 0);
    } else if (form == 'p') {
        assert_int_equal(nvrtcGetPTXSize(program, &size), 0);
        image = malloc(size);
        assert_int_equal(nvrtcGetPTX(program, image), 0);
    } else {
        assert_int_equal(nvrtcGetCUBINSize(program, &size), 0);
        image = malloc(size);
        assert_int_equal(nvrtcGetCUBIN(program, image), 0);
    }
    assert_int_equal(nvrtcDestroyProgram(&program), 0);
    return image;
}

static const char source[] =
    "#define KERNEL extern \"C\" __global__ void\n"
    "__device__ float scale(float x) { return FACTOR * x; }\n"
    "KERNEL axpy(float a, const float *x, float *y, unsigned n) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] += scale(a * x[i]);\n"
    "}\n"
    "KERNEL __launch_bounds__(64) sum(const unsigned *x, unsigned *out) {\n"
    "    __shared__ unsigned part[64];\n"
    "    unsigned i = threadIdx.x;\n"
    "    part[i] = x[blockIdx.x * 64 + i];\n"
    "    __syncthreads();\n"
    "    for (unsigned half = 32; half > 0; half /= 2) {\n"
    "        if (i < half) part[i] += part[i + half];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (i == 0) atomicAdd(out, part[0]);\n"
    "}\n"
    "KERNEL reverse(unsigned *x) {\n"
    "    extern __shared__ unsigned whole[];\n"
    "    whole[threadIdx.x] = x[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = whole[blockDim.x - 1 - threadIdx.x];\n"
    "}\n"
    "__global__ void mangled(int *x) { *x = 1; }\n";

static void *module_of(const char *image)
{
    void *module = NULL;
    assert_int_equal(cuModuleLoadData(&module, image), 0);
    return module;
}

static void kernel_without_barrier(void **state)
{
    (void)state;
    char *image = compile(source, "--gpu-architecture=sm_90", 0, 'b');
    void *module = module_of(image), *function, *missing;
    address_t x, y;
    float host[100], a = 2;
    unsigned n = 100;
    for (int i = 0; i < 100; i++)
        host[i] = (float)i;
    assert_int_equal(cuModuleGetFunction(&function, module, "axpy"), 0);
    assert_int_equal(cuModuleGetFunction(&missing, module, "absent"), 500);
    assert_int_equal(cuModuleGetFunction(&missing, module, "mangled"), 500);
    assert_int_equal(cuMemAlloc_v2(&x, sizeof host), 0);
    assert_int_equal(cuMemAlloc_v2(&y, sizeof host), 0);
    assert_int_equal(cuMemcpyHtoD_v2(x, host, sizeof host), 0);
    assert_int_equal(cuMemcpyHtoD_v2(y, host, sizeof host), 0);
    void *arguments[] = {&a, &x, &y, &n};
    assert_int_equal(
        cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL), 0);
    a = -1; /* parameters were read */
    assert_int_equal(
        cuLaunchKernel(function, 4, 1, 1, 2000, 1, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(cuMemcpyDtoH_v2(host, y, sizeof host), 0);
    for (int i = 0; i < 100; i++)
        assert_true(host[i] == (float)(7 * i));
    assert_int_equal(cuModuleUnload(module), 0);
    assert_int_equal(cuMemFree_v2(x), 0);
    assert_int_equal(cuMemFree_v2(y), 0);
    free(image);
}

static void kernels_with_barriers(void **state)
{
    (void)state;
    char *image = compile(source, "--gpu-architecture=compute_80", 0, 'p');
    void *module = module_of(image), *sum, *reverse;
    unsigned host[256], total = 0, want = 0;
    address_t x, out;
    for (unsigned i = 0; i < 256; i++)
        want += host[i] = i * i;
    assert_int_equal(cuModuleGetFunction(&sum, module, "sum"), 0);
    assert_int_equal(cuModuleGetFunction(&reverse, module, "reverse"), 0);
    assert_int_equal(cuMemAlloc_v2(&x, sizeof host), 0);
    assert_int_equal(cuMemAlloc_v2(&out, 4), 0);
    assert_int_equal(cuMemcpyHtoD_v2(x, host, sizeof host), 0);
    assert_int_equal(cuMemcpyHtoD_v2(out, &total, 4), 0);
    void *arguments[] = {&x, &out};
    assert_int_equal(cuLaunchKernel(sum, 4, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL), 0);
    assert_int_equal(
        cuLaunchKernel(reverse, 1, 1, 1, 256, 1, 1, 1024, NULL, arguments, NULL), 0);
    assert_int_equal(cuMemcpyDtoH_v2(&total, out, 4), 0);
    assert_int_equal(total, want);
    assert_int_equal(cuMemcpyDtoH_v2(host, x, sizeof host), 0);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(host[i], (255 - i) * (255 - i));
    assert_int_equal(cuModuleUnload(module), 0);
    assert_int_equal(cuMemFree_v2(x), 0);
    assert_int_equal(cuMemFree_v2(out), 0);
    free(image);
}

static void compiler_refuses(void **state)
{
    (void)state;
    char *log = compile("extern \"C\" __global__ void k() { undeclared = 1; }",
                        "--gpu-architecture=sm_90", 6, 0);
    assert_non_null(strstr(log, "undeclared"));
    assert_non_null(strstr(log, "test.cu"));
    free(log);
    free(compile(source, "--gpu-architecture=sm_70", 5, 0));
    free(compile("#include <stdint.h>\n", "--gpu-architecture=sm_90", 6, 0));
    char *image = compile(source, "--gpu-architecture=sm_80", 0, 'b');
    void *module;
    assert_int_equal(cuModuleLoadData(&module, image), 209);
    image[200] ^= 1;
    assert_int_equal(cuModuleLoadData(&module, image), 200);
    assert_int_equal(cuModuleLoadData(&module, "nonsense that is no image"), 200);
    free(image);
}

/* ---- contexts, events, waits ------------------------------------------------------- */

static void other_context(void **state)
{
    (void)state;
    void *stream, *event, *current = NULL;
    address_t memory;
    char *image = compile(source, "--gpu-architecture=sm_90", 0, 'b');
    void *module = module_of(image), *function;
    assert_int_equal(cuModuleGetFunction(&function, module, "reverse"), 0);
    assert_int_equal(cuStreamCreate(&stream, 0), 0);
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 0);
    uint64_t before = fake_current();
    assert_int_equal(cuCtxSetCurrent(contexts[1]), 0);
    assert_true(fake_current() != before);
    assert_int_equal(cuEventCreate(&event, 0), 0);
    void *arguments[] = {&memory};
    assert_int_equal(
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 4, stream, arguments, NULL), 400);
    assert_int_equal(cuEventRecord(event, stream), 400);
    assert_int_equal(cuCtxSetCurrent(contexts[0]), 0);
    assert_int_equal(fake_current(), before);
    fake_set_current(1);
    assert_int_equal(cuCtxGetCurrent(&current), 0);
    assert_true(current != NULL && current != contexts[1]);
    fake_set_current(-1);
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 201);
    assert_int_equal(cuCtxSetCurrent(contexts[0]), 0);
    assert_int_equal(cuEventDestroy_v2(event), 0);
    assert_int_equal(cuStreamDestroy_v2(stream), 0);
    assert_int_equal(cuModuleUnload(module), 0);
    assert_int_equal(cuMemFree_v2(memory), 0);
    free(image);
}

static void add_one(void *counter)
{
    ++*(int *)counter;
}

static void order_between_streams(void **state)
{
    (void)state;
    void *first, *second, *start, *event;
    uint32_t *gate;
    int counter = 0;
    float milliseconds = -1;
    assert_int_equal(cuMemHostAlloc((void **)&gate, 4, 2), 0);
    *gate = 0;
    assert_int_equal(cuStreamCreate(&first, 1), 0);
    assert_int_equal(cuStreamCreate(&second, 1), 0);
    assert_int_equal(cuEventCreate(&start, 0), 0);
    assert_int_equal(cuEventCreate(&event, 0), 0);
    assert_int_equal(cuEventQuery(event), 0); /* never recorded */
    assert_int_equal(cuEventRecord(start, first), 0);
    assert_int_equal(cuStreamWaitValue32_v2(first, AT(gate), 5, 0), 0);
    assert_int_equal(cuLaunchHostFunc(first, add_one, &counter), 0);
    assert_int_equal(cuEventRecord(event, first), 0);
    assert_int_equal(cuStreamWaitEvent(second, event, 0), 0);
    assert_int_equal(cuLaunchHostFunc(second, add_one, &counter), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(cuStreamQuery(second), 600);
        assert_int_equal(cuEventElapsedTime(&milliseconds, start, event), 600);
        usleep(1000);
    }
    __atomic_store_n(gate, 5, __ATOMIC_RELEASE);
    assert_int_equal(cuStreamSynchronize(second), 0);
    assert_int_equal(counter, 2);
    assert_int_equal(cuEventElapsedTime(&milliseconds, start, event), 0);
    assert_true(milliseconds > 0);
    assert_int_equal(cuEventDestroy_v2(start), 0);
    assert_int_equal(cuEventDestroy_v2(event), 0);
    assert_int_equal(cuStreamDestroy_v2(first), 0);
    assert_int_equal(cuStreamDestroy_v2(second), 0);
    assert_int_equal(cuMemFreeHost(gate), 0);
}

static void wait_for_flag(void *flag)
{
    while (!__atomic_load_n((int *)flag, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* A host function that blocks holds up its own stream only. */
static void blocking_host_function(void **state)
{
    (void)state;
    void *first, *second;
    address_t memory;
    int flag = 0, in = 9, out = 0;
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 0);
    assert_int_equal(cuStreamCreate(&first, 1), 0);
    assert_int_equal(cuStreamCreate(&second, 1), 0);
    assert_int_equal(cuLaunchHostFunc(first, wait_for_flag, &flag), 0);
    assert_int_equal(cuStreamQuery(first), 600);
    assert_int_equal(cuMemcpyHtoDAsync_v2(memory, &in, 4, second), 0);
    assert_int_equal(cuMemcpyDtoHAsync_v2(&out, memory, 4, second), 0);
    assert_int_equal(cuStreamSynchronize(second), 0);
    assert_int_equal(out, 9);
    assert_int_equal(cuStreamQuery(first), 600);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    assert_int_equal(cuStreamSynchronize(first), 0);
    assert_int_equal(cuStreamDestroy_v2(first), 0);
    assert_int_equal(cuStreamDestroy_v2(second), 0);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

/* The legacy default stream waits for the others, but not for non-blocking ones. */
static void default_stream(void **state)
{
    (void)state;
    void *joining;
    address_t memory;
    int value = 3, out = 0;
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 0);
    assert_int_equal(cuStreamCreate(&joining, 0), 0);
    assert_int_equal(cuMemcpyHtoDAsync_v2(memory, &value, 4, joining), 0);
    assert_int_equal(cuMemcpyDtoH_v2(&out, memory, 4), 0);
    assert_int_equal(out, 3);
    assert_int_equal(cuStreamDestroy_v2(joining), 0);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

/* ---- cuBLASLt ---------------------------------------------------------------------- */

static const char *folder;

typedef struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} heuristic_t;
#define BLAS(X)                                                                          \
    X(cublasLtCreate, (void **))                                                         \
    X(cublasLtDestroy, (void *))                                                         \
    X(cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t))           \
    X(cublasLtMatrixLayoutDestroy, (void *))                                             \
    X(cublasLtMatmulDescCreate, (void **, int, int))                                     \
    X(cublasLtMatmulDescDestroy, (void *))                                               \
    X(cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t))               \
    X(cublasLtMatmulPreferenceCreate, (void **))                                         \
    X(cublasLtMatmulPreferenceDestroy, (void *))                                         \
    X(cublasLtMatmulAlgoGetHeuristic, (void *, void *, void *, void *, void *, void *,   \
                                       void *, int, heuristic_t *, int *))               \
    X(cublasLtMatmul, (void *, void *, const void *, const void *, void *, const void *, \
                       void *, const void *, const void *, void *, void *, void *,       \
                       const void *, void *, size_t, void *))
BLAS(POINTER)

/* 2x3 by 3x2 of halves, the first transposed, into floats: small whole numbers are exact.
 */
static void product(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/libcublasLt.so.13", folder);
    void *blas = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(blas);
#define FIND_BLAS(name, arguments) *(void **)(void *)&name = need(blas, #name);
    BLAS(FIND_BLAS)
    static const uint16_t one_to_six[6] = {0x3c00, 0x4000, 0x4200,
                                           0x4400, 0x4500, 0x4600};
    void *handle, *what, *a, *b, *d, *preference;
    address_t memory;
    heuristic_t found;
    int transposed = 1, count = 0;
    float one = 1, zero = 0, result[4];
    assert_int_equal(cuMemAlloc_v2(&memory, 64), 0);
    assert_int_equal(cuMemcpyHtoD_v2(memory, one_to_six, 12), 0);
    void *at = (void *)(uintptr_t)memory, *to = (void *)(uintptr_t)(memory + 16);
    assert_int_equal(cublasLtCreate(&handle), 0);
    assert_int_equal(cublasLtMatmulDescCreate(&what, 68, 0), 0);
    assert_int_equal(cublasLtMatmulDescSetAttribute(what, 3, &transposed, 4), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&a, 2, 3, 2, 3), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&b, 2, 3, 2, 3), 0);
    assert_int_equal(cublasLtMatrixLayoutCreate(&d, 0, 2, 2, 2), 0);
    assert_int_equal(cublasLtMatmulPreferenceCreate(&preference), 0);
    assert_int_equal(cublasLtMatmulAlgoGetHeuristic(handle, what, b, a, d, d, preference,
                                                    1, &found, &count),
                     0);
    assert_int_equal(count, 1);
    assert_int_equal(cublasLtMatmul(handle, what, &one, at, a, at, b, &zero, to, d, to, d,
                                    found.algorithm, NULL, 0, NULL),
                     0);
    assert_int_equal(cublasLtMatmul(handle, what, &one, result, a, at, b, &zero, to, d,
                                    to, d, found.algorithm, NULL, 0, NULL),
                     13);
    assert_int_equal(cuMemcpyDtoH_v2(result, memory + 16, 16), 0);
    assert_true(result[0] == 14 && result[1] == 32 && result[2] == 32 && result[3] == 77);
    assert_int_equal(cublasLtMatmulPreferenceDestroy(preference), 0);
    assert_int_equal(cublasLtMatrixLayoutDestroy(a), 0);
    assert_int_equal(cublasLtMatrixLayoutDestroy(b), 0);
    assert_int_equal(cublasLtMatrixLayoutDestroy(d), 0);
    assert_int_equal(cublasLtMatmulDescDestroy(what), 0);
    assert_int_equal(cublasLtDestroy(handle), 0);
    assert_int_equal(cuMemFree_v2(memory), 0);
}

/* ---- faults ------------------------------------------------------------------------ */

static void faults(void **state)
{
    (void)state;
    int count = -5;
    uint64_t calls = fake_calls();
    fake_fault("cuDeviceGetCount", YOKE_FAKE_ERROR, 999, 2);
    assert_int_equal(cuDeviceGetCount(&count), 0);
    assert_int_equal(count, 2);
    count = -5;
    assert_int_equal(cuDeviceGetCount(&count), 999);
    assert_int_equal(cuDeviceGetCount(&count), 999);
    assert_int_equal(count, -5);
    fake_fault("cuDeviceGetCount", YOKE_FAKE_UNWRITTEN, 0, 1);
    assert_int_equal(cuDeviceGetCount(&count), 0);
    assert_int_equal(count, -5);
    fake_fault("cuDeviceGetCount", YOKE_FAKE_GARBAGE, -1, 1);
    assert_int_equal(cuDeviceGetCount(&count), 0);
    assert_int_equal(count, -1);
    fake_fault(NULL, YOKE_FAKE_NONE, 0, 0);
    assert_int_equal(cuDeviceGetCount(&count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(fake_calls() - calls, 6);
}

static void versions(void **state)
{
    (void)state;
    void *function;
    int status;
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status), 0);
    assert_ptr_equal(function, *(void **)(void *)&cuMemAlloc_v2);
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &function, 2000, 0, &status), 0);
    assert_int_equal(status, 2);
    assert_null(function);
    assert_int_equal(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status), 0);
    assert_int_equal(status, 1);
}

/* A pointer that the device cannot follow ruins the context: every call says so after. */
static void illegal_address(void **state)
{
    (void)state;
    unsigned host[4];
    unsigned *wrong = host;
    char *image = compile(source, "--gpu-architecture=sm_90", 0, 'b');
    assert_int_equal(cuCtxSetCurrent(contexts[1]), 0);
    void *module = module_of(image), *function;
    address_t memory;
    assert_int_equal(cuModuleGetFunction(&function, module, "reverse"), 0);
    void *arguments[] = {&wrong};
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 4, NULL, arguments, NULL),
                     0);
    assert_int_equal(cuCtxSynchronize(), 700);
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 700);
    assert_int_equal(cuModuleUnload(module), 700);
    free(image);
}

static void lost(void **state)
{
    (void)state;
    address_t memory;
    void *stream, *gate;
    assert_int_equal(cuCtxSetCurrent(contexts[0]), 0);
    assert_int_equal(cuMemAlloc_v2(&memory, 4), 0);
    assert_int_equal(cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cuMemHostAlloc(&gate, 4, 0), 0);
    memset(gate, 0, 4);
    assert_int_equal(cuStreamWaitValue32_v2(stream, AT(gate), 1, 0), 0);
    fake_lose(0);
    assert_int_equal(cuStreamSynchronize(stream), 719);
    assert_int_equal(cuMemcpyDtoH_v2(gate, memory, 4), 719);
    assert_int_equal(cuStreamDestroy_v2(stream), 719);
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: %s FOLDER-OF-THE-FAKES\n", words[0]);
        return 2;
    }
    folder = words[1];
    load(folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_late),
        cmocka_unit_test(host_may_not_touch),
        cmocka_unit_test(bad_addresses),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(fills),
        cmocka_unit_test(kernel_without_barrier),
        cmocka_unit_test(kernels_with_barriers),
        cmocka_unit_test(compiler_refuses),
        cmocka_unit_test(other_context),
        cmocka_unit_test(order_between_streams),
        cmocka_unit_test(default_stream),
        cmocka_unit_test(blocking_host_function),
        cmocka_unit_test(faults),
        cmocka_unit_test(versions),
        cmocka_unit_test(product),
    };
    const struct CMUnitTest last[] = {
        cmocka_unit_test(illegal_address),
        cmocka_unit_test(lost),
    };
    int failed = cmocka_run_group_tests(tests, begin, end);
    return failed + cmocka_run_group_tests(last, begin, NULL);
}
