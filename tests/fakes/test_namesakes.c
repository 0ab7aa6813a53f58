/* SPDX-License-Identifier: Apache-2.0 */
/* The fakes that are CUDA's or HIP's under other names: the names are there, and work.
 * The first argument is the folder of all fakes. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *folder;

static void *open_fake(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fprintf(stderr, "%s\n", dlerror());
    assert_non_null(library);
    return library;
}

static void *need(void *library, const char *prefix, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    void *address = dlsym(library, symbol);
    if (address == NULL)
        fprintf(stderr, "%s is missing\n", symbol);
    assert_non_null(address);
    return address;
}
#define CALL(type, library, prefix, name)                                                \
    (*(type *)&(void *){need(library, prefix, name)})

typedef int (*init_t)(unsigned);
typedef int (*name_t)(char *, int, int);
typedef int (*retain_t)(void **, int);
typedef int (*context_t)(void *);
typedef int (*allocate_t)(void *, size_t);
typedef int (*free_t)(unsigned long long);
typedef int (*to_device_t)(unsigned long long, const void *, size_t);
typedef int (*to_host_t)(void *, unsigned long long, size_t);
typedef int (*release_t)(int);
typedef int (*error_t_)(int, const char **);

static void driver(const char *file, const char *prefix, const char *device,
                   const char *error)
{
    void *library = open_fake(file), *context;
    unsigned long long memory;
    char name[64];
    const char *text;
    int in = 5, out = 0;
    assert_int_equal(CALL(init_t, library, prefix, "Init")(0), 0);
    assert_int_equal(CALL(name_t, library, prefix, "DeviceGetName")(name, 64, 0), 0);
    assert_string_equal(name, device);
    assert_int_equal(
        CALL(retain_t, library, prefix, "DevicePrimaryCtxRetain")(&context, 0), 0);
    assert_int_equal(CALL(context_t, library, prefix, "CtxSetCurrent")(context), 0);
    assert_int_equal(CALL(allocate_t, library, prefix, "MemAlloc_v2")(&memory, 4), 0);
    assert_int_equal(CALL(to_device_t, library, prefix, "MemcpyHtoD_v2")(memory, &in, 4),
                     0);
    assert_int_equal(CALL(to_host_t, library, prefix, "MemcpyDtoH_v2")(&out, memory, 4),
                     0);
    assert_int_equal(out, 5);
    assert_int_equal(CALL(free_t, library, prefix, "MemFree_v2")(memory), 0);
    assert_int_equal(CALL(release_t, library, prefix, "DevicePrimaryCtxRelease_v2")(0),
                     0);
    assert_int_equal(CALL(error_t_, library, prefix, "GetErrorName")(2, &text), 0);
    assert_string_equal(text, error);
}

/* NVIDIA's and Iluvatar's have one name, and are two libraries in one process. */
static void drivers(void **state)
{
    (void)state;
    driver("nvidia/libcuda.so.1", "cu", "NVIDIA H100 80GB HBM3",
           "CUDA_ERROR_OUT_OF_MEMORY");
    driver("corex/libcuda.so.1", "cu", "Iluvatar BI-V100", "CUDA_ERROR_OUT_OF_MEMORY");
    driver("musa/libmusa.so.1", "mu", "MTT S4000", "MUSA_ERROR_OUT_OF_MEMORY");
}

typedef int (*copy_t)(void *, const void *, size_t, int);
typedef int (*free_pointer_t)(void *);
typedef int (*attribute_t)(int *, int, int);
typedef const char *(*error_name_t)(int);

static void maca(void **state)
{
    (void)state;
    void *library = open_fake("maca/libmcruntime.so"), *memory;
    int in = 5, out = 0, warp = 0;
    assert_int_equal(CALL(attribute_t, library, "mc", "DeviceGetAttribute")(&warp, 9, 0),
                     0);
    assert_int_equal(warp, 64);
    assert_int_equal(CALL(allocate_t, library, "mc", "Malloc")(&memory, 4), 0);
    assert_int_equal(CALL(copy_t, library, "mc", "Memcpy")(memory, &in, 4, 1), 0);
    assert_int_equal(CALL(copy_t, library, "mc", "Memcpy")(&out, memory, 4, 2), 0);
    assert_int_equal(out, 5);
    assert_int_equal(CALL(free_pointer_t, library, "mc", "Free")(memory), 0);
    assert_string_equal(CALL(error_name_t, library, "mc", "GetErrorName")(2),
                        "mcErrorMemoryAllocation");
    need(library, "mc", "MallocHost");
    need(library, "mc", "ModuleLaunchKernel");
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    folder = words[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(drivers), cmocka_unit_test(maca)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
