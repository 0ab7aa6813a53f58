/* SPDX-License-Identifier: Apache-2.0 */
/* The fake HIP libraries, driven as a raw program drives the real ones: what differs from
 * CUDA; what is alike runs the same code of common/ as test_cuda.c. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/fakes/fake.h"

#define FUNCTIONS(X)                                                                     \
    X(hipGetDeviceCount, (int *))                                                        \
    X(hipSetDevice, (int))                                                               \
    X(hipGetDevice, (int *))                                                             \
    X(hipDeviceGetAttribute, (int *, int, int))                                          \
    X(hipGetDeviceProperties, (void *, int))                                             \
    X(hipGetLastError, (void))                                                           \
    X(hipMalloc, (void **, size_t))                                                      \
    X(hipFree, (void *))                                                                 \
    X(hipMemcpy, (void *, const void *, size_t, int))                                    \
    X(hipMemcpyAsync, (void *, const void *, size_t, int, void *))                       \
    X(hipMemsetD32Async, (void *, int, size_t, void *))                                  \
    X(hipStreamCreateWithFlags, (void **, unsigned))                                     \
    X(hipStreamDestroy, (void *))                                                        \
    X(hipStreamSynchronize, (void *))                                                    \
    X(hipStreamQuery, (void *))                                                          \
    X(hipEventCreateWithFlags, (void **, unsigned))                                      \
    X(hipEventDestroy, (void *))                                                         \
    X(hipEventRecord, (void *, void *))                                                  \
    X(hipEventSynchronize, (void *))                                                     \
    X(hipModuleLoadData, (void **, const void *))                                        \
    X(hipModuleUnload, (void *))                                                         \
    X(hipModuleGetFunction, (void **, void *, const char *))                             \
    X(hipModuleLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned,  \
                              unsigned, unsigned, void *, void **, void **))             \
    X(hiprtcCreateProgram,                                                               \
      (void **, const char *, const char *, int, const char **, const char **))          \
    X(hiprtcDestroyProgram, (void **))                                                   \
    X(hiprtcCompileProgram, (void *, int, const char **))                                \
    X(hiprtcGetCodeSize, (void *, size_t *))                                             \
    X(hiprtcGetCode, (void *, char *))
#define POINTER(name, arguments) static int(*name) arguments;
FUNCTIONS(POINTER)
static int (*new_properties)(void *, int);
static uint64_t (*fake_current)(void);
static uint64_t (*fake_alive)(void);
static void (*fake_lose)(int);
static bool old_attributes;

static void load(const char *folder, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name, arguments) *(void **)(void *)&name = dlsym(library, #name);
    FUNCTIONS(FIND)
    *(void **)(void *)&new_properties = dlsym(library, "hipGetDevicePropertiesR0600");
    *(void **)(void *)&fake_current = dlsym(library, "yoke_fake_current");
    *(void **)(void *)&fake_alive = dlsym(library, "yoke_fake_alive");
    *(void **)(void *)&fake_lose = dlsym(library, "yoke_fake_lose");
    old_attributes = strstr(file, "galaxy") != NULL;
}

static void current_device(void **state)
{
    (void)state;
    int device = -1;
    assert_int_equal(hipGetDevice(&device), 0);
    assert_int_equal(device, 0);
    assert_int_equal(hipSetDevice(1), 0);
    assert_int_equal(fake_current(), 1);
    assert_int_equal(hipSetDevice(2), 101);
    assert_int_equal(hipGetLastError(), 101);
    assert_int_equal(hipGetLastError(), 0);
    assert_int_equal(hipSetDevice(0), 0);
}

/* "gfx90a" stands at two places, by the symbol that is asked. */
static void properties(void **state)
{
    (void)state;
    static char bytes[2048];
    int warp = 0;
    const char *arch = old_attributes ? "gfx906" : "gfx90a";
    assert_int_equal(hipGetDeviceProperties(bytes, 0), 0);
    assert_string_equal(bytes + 396, arch);
    if (new_properties != NULL) {
        assert_int_equal(new_properties(bytes, 0), 0);
        assert_string_equal(bytes + 1160, arch);
    }
    assert_int_equal(hipDeviceGetAttribute(&warp, old_attributes ? 9 : 87, 0), 0);
    assert_int_equal(warp, 64);
    if (old_attributes)
        assert_int_equal(hipDeviceGetAttribute(&warp, 87, 0), 1);
}

static void copies_are_late(void **state)
{
    (void)state;
    void *memory, *stream;
    int in = 7, out = -1;
    assert_int_equal(hipMalloc(&memory, 4), 0);
    assert_int_equal(hipStreamCreateWithFlags(&stream, 1), 0);
    assert_int_equal(hipMemcpyAsync(memory, &in, 4, 1, stream), 0);
    assert_int_equal(hipMemcpyAsync(&out, memory, 4, 2, stream), 0);
    int early = __atomic_load_n(&out, __ATOMIC_RELAXED);
    assert_int_equal(early, -1);
    assert_int_equal(hipStreamQuery(stream), 600);
    assert_int_equal(hipStreamSynchronize(stream), 0);
    assert_int_equal(out, 7);
    assert_int_equal(hipMemcpyAsync(&out, memory, 4, 1, stream), 1); /* wrong kind */
    assert_int_equal(hipMemcpyAsync(&out, memory, 5, 2, stream), 1);
    assert_int_equal(hipMemcpyAsync(&out, memory, 4, 9, stream), 21);
    assert_int_equal(hipStreamDestroy(stream), 0);
    assert_int_equal(hipFree(memory), 0);
    assert_int_equal(hipFree(memory), 1);
    assert_int_equal(hipMalloc(&memory, 0), 0);
    assert_null(memory);
    assert_int_equal(hipMalloc(&memory, (size_t)1 << 40), 2);
}

static const char source[] =
    "extern \"C\" __global__ void __launch_bounds__(256) reverse(unsigned *x) {\n"
    "    HIP_DYNAMIC_SHARED(unsigned, whole)\n"
    "    whole[threadIdx.x] = x[threadIdx.x] * FACTOR;\n"
    "    __syncthreads();\n"
    "    x[threadIdx.x] = whole[blockDim.x - 1 - threadIdx.x];\n"
    "}\n";

static int compile(const char *option, char **out_code)
{
    void *program;
    size_t size;
    const char *options[] = {"-DFACTOR=3", option};
    assert_int_equal(hiprtcCreateProgram(&program, source, "test.hip", 0, NULL, NULL), 0);
    int result = hiprtcCompileProgram(program, 2, options);
    if (result == 0) {
        assert_int_equal(hiprtcGetCodeSize(program, &size), 0);
        *out_code = malloc(size);
        assert_int_equal(hiprtcGetCode(program, *out_code), 0);
    }
    assert_int_equal(hiprtcDestroyProgram(&program), 0);
    return result;
}

static void kernel(void **state)
{
    (void)state;
    char *code = NULL;
    void *module, *function, *memory, *other;
    unsigned host[100];
    for (unsigned i = 0; i < 100; i++)
        host[i] = i;
    assert_int_equal(compile("-O2", &code), 6); /* no architecture */
    assert_int_equal(
        compile(old_attributes ? "--offload-arch=gfx906" : "--offload-arch=gfx90a:xnack-",
                &code),
        0);
    assert_int_equal(hipModuleLoadData(&module, code), 0);
    assert_int_equal(hipModuleGetFunction(&function, module, "reverse"), 0);
    assert_int_equal(hipMalloc(&memory, sizeof host), 0);
    assert_int_equal(hipMemcpy(memory, host, sizeof host, 1), 0);
    size_t size = sizeof memory;
    void *extra[] = {(void *)1, &memory, (void *)2, &size, (void *)3};
    assert_int_equal(
        hipModuleLaunchKernel(function, 1, 1, 1, 100, 1, 1, 400, NULL, NULL, extra), 0);
    assert_int_equal(hipMemcpy(host, memory, sizeof host, 2), 0);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(host[i], 3 * (99 - i));
    /* A stream of another device. */
    assert_int_equal(hipSetDevice(1), 0);
    assert_int_equal(hipStreamCreateWithFlags(&other, 1), 0);
    void *arguments[] = {&memory};
    assert_int_equal(
        hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 4, other, arguments, NULL),
        400);
    assert_int_equal(hipSetDevice(0), 0);
    assert_int_equal(hipStreamDestroy(other), 0);
    assert_int_equal(hipModuleUnload(module), 0);
    assert_int_equal(hipFree(memory), 0);
    free(code);
}

/* Only in a child: the process ends. */
static void unknown_architecture(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        char *code;
        freopen("/dev/null", "w", stderr);
        compile("--offload-arch=gfx9999", &code);
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void lost(void **state)
{
    (void)state;
    void *memory, *stream;
    int out;
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(hipMalloc(&memory, 4), 0);
    assert_int_equal(hipStreamCreateWithFlags(&stream, 1), 0);
    fake_lose(0);
    assert_int_equal(hipMemcpyAsync(&out, memory, 4, 2, stream), 719);
    assert_int_equal(hipStreamSynchronize(stream), 719);
    assert_int_equal(hipStreamDestroy(stream), 0);
    assert_int_equal(hipFree(memory), 0);
    assert_int_equal(fake_alive(), 0);
}

int main(int count, char **words)
{
    if (count != 3) {
        fprintf(stderr, "usage: %s FOLDER FILE\n", words[0]);
        return 2;
    }
    load(words[1], words[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(current_device),  cmocka_unit_test(properties),
        cmocka_unit_test(copies_are_late), cmocka_unit_test(unknown_architecture),
        cmocka_unit_test(kernel),          cmocka_unit_test(lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
