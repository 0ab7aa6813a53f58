/* SPDX-License-Identifier: Apache-2.0 */
/* FAKE Level Zero driver behind the real loader, driven as a plain program would. */
#include <level_zero/ze_api.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "fake.h"

#define OK(call) assert_int_equal((call), ZE_RESULT_SUCCESS)
#define FAILS(code, call) assert_int_equal((call), (code))
#define FOREVER UINT64_MAX

typedef struct fake {
    __typeof__(&yoke_fake_fault) fault;
    __typeof__(&yoke_fake_lose) lose;
    __typeof__(&yoke_fake_alive) alive;
    __typeof__(&yoke_fake_calls_of) calls_of;
} fake_t;

static fake_t fake;
static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    assert_non_null(address);
    return address;
}

static int open_driver(void **state)
{
    uint32_t count = 1;
    (void)state;
    OK(zeInit(0));
    OK(zeDriverGet(&count, &driver));
    assert_int_equal(count, 1);
    count = 1;
    OK(zeDeviceGet(driver, &count, &device));
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &desc, &context));
    void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)(void *)&fake.fault = symbol(library, "yoke_fake_fault");
    *(void **)(void *)&fake.lose = symbol(library, "yoke_fake_lose");
    *(void **)(void *)&fake.alive = symbol(library, "yoke_fake_alive");
    *(void **)(void *)&fake.calls_of = symbol(library, "yoke_fake_calls_of");
    return 0;
}

static int close_driver(void **state)
{
    (void)state;
    zeContextDestroy(context);
    return fake.alive() == 0 ? 0 : -1;
}

/* --- helpers ------------------------------------------------------------------------ */

static void *device_memory(size_t size)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;
    OK(zeMemAllocDevice(context, &desc, size, 64, device, &memory));
    return memory;
}

static void *host_memory(size_t size)
{
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    OK(zeMemAllocHost(context, &desc, size, 64, &memory));
    return memory;
}

static ze_command_queue_handle_t new_queue(uint32_t ordinal)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = ordinal,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    OK(zeCommandQueueCreate(context, device, &desc, &queue));
    return queue;
}

static ze_command_list_handle_t new_list(uint32_t ordinal)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = ordinal};
    ze_command_list_handle_t list;
    OK(zeCommandListCreate(context, device, &desc, &list));
    return list;
}

static void submit(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
}

static ze_event_handle_t new_event(ze_event_pool_handle_t pool, uint32_t index)
{
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
    ze_event_handle_t event;
    OK(zeEventCreate(pool, &desc, &event));
    return event;
}

static ze_event_pool_handle_t new_pool(uint32_t flags)
{
    ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = flags, .count = 4};
    ze_event_pool_handle_t pool;
    OK(zeEventPoolCreate(context, &desc, 0, NULL, &pool));
    return pool;
}

static sigjmp_buf back;
static void on_fault(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static int faults(const volatile char *address)
{
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, old;
    sigaction(SIGSEGV, &action, &old);
    volatile int faulted = sigsetjmp(back, 1);
    if (!faulted)
        (void)*address;
    sigaction(SIGSEGV, &old, NULL);
    return faulted;
}

/* --- memory and order --------------------------------------------------------------- */

static void test_properties(void **state)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    ze_device_memory_properties_t memory = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    uint32_t count = 0;
    (void)state;
    OK(zeDeviceGet(driver, &count, NULL));
    assert_int_equal(count, 2);
    OK(zeDeviceGetProperties(device, &p));
    assert_string_equal(p.name, "Intel(R) Data Center GPU Max 1550");
    OK(zeDevicePciGetPropertiesExt(device, &pci));
    assert_int_equal(pci.address.bus, 0x3a);
    count = 1;
    OK(zeDeviceGetMemoryProperties(device, &count, &memory));
    assert_int_equal(memory.totalSize, 64 << 20);
}

static void test_copies_are_late(void **state)
{
    ze_command_queue_handle_t queue = new_queue(0);
    ze_command_list_handle_t list = new_list(0);
    char *to = device_memory(4096), *host = host_memory(4096);
    (void)state;
    assert_true(faults(to));
    memset(host, 7, 4096);
    OK(zeCommandListAppendMemoryCopy(list, to, host, 4096, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, host + 2048, to, 1024, NULL, 0, NULL));
    memset(host + 1, 9, 1);
    submit(queue, list);
    memset(host, 8, 1); /* not read yet */
    OK(zeCommandQueueSynchronize(queue, FOREVER));
    assert_int_equal(host[2048], 8);
    assert_int_equal(host[2049], 9);
    assert_int_equal(host[2050], 7);
    FAILS(ZE_RESULT_ERROR_INVALID_ARGUMENT,
          zeCommandListAppendBarrier(list, NULL, 0, NULL)); /* closed */
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, to));
    OK(zeMemFree(context, host));
    FAILS(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context, to));
}

/* Without a barrier the second copy may, and here does, come first. */
static void test_no_order_without_barrier(void **state)
{
    ze_command_queue_handle_t queue = new_queue(0);
    ze_command_list_handle_t list = new_list(0);
    char *middle = device_memory(64), *host = host_memory(128), one = 1;
    (void)state;
    memset(host, 5, 128);
    OK(zeCommandListAppendMemoryFill(list, middle, &one, 1, 64, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, middle, host, 64, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, host + 64, middle, 64, NULL, 0, NULL));
    submit(queue, list);
    OK(zeCommandQueueSynchronize(queue, FOREVER));
    assert_int_equal(host[64], 1);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, middle));
    OK(zeMemFree(context, host));
}

static void test_events(void **state)
{
    ze_command_queue_handle_t queue = new_queue(0), other = new_queue(0);
    ze_command_list_handle_t list = new_list(0), second = new_list(0);
    ze_event_pool_handle_t pool =
        new_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t gate = new_event(pool, 0), done = new_event(pool, 1);
    ze_kernel_timestamp_result_t time;
    char *to = device_memory(64), *host = host_memory(128), four = 4;
    (void)state;
    memset(host, 0, 128);
    OK(zeCommandListAppendMemoryFill(list, to, &four, 1, 64, done, 1, &gate));
    OK(zeCommandListAppendMemoryCopy(second, host, to, 64, NULL, 1, &done));
    submit(other, second);
    submit(queue, list);
    FAILS(ZE_RESULT_NOT_READY, zeEventQueryStatus(done));
    FAILS(ZE_RESULT_NOT_READY, zeEventQueryKernelTimestamp(done, &time));
    FAILS(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 3000000));
    FAILS(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(other, 1000000));
    assert_int_equal(host[0], 0);
    OK(zeEventHostSignal(gate));
    OK(zeEventHostSynchronize(done, FOREVER));
    OK(zeEventQueryKernelTimestamp(done, &time));
    OK(zeCommandQueueSynchronize(other, FOREVER));
    assert_int_equal(host[63], 4);
    OK(zeEventHostReset(done));
    FAILS(ZE_RESULT_NOT_READY, zeEventQueryStatus(done));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(second));
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandQueueDestroy(other));
    OK(zeEventDestroy(gate));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, to));
    OK(zeMemFree(context, host));
}

static void test_event_not_for_the_host(void **state)
{
    ze_event_pool_handle_t pool = new_pool(0);
    ze_event_handle_t event = new_event(pool, 0);
    ze_event_desc_t far = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 4};
    ze_kernel_timestamp_result_t time;
    (void)state;
    FAILS(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventQueryStatus(event));
    FAILS(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
          zeEventHostSynchronize(event, 0));
    FAILS(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
          zeEventQueryKernelTimestamp(event, &time));
    OK(zeEventDestroy(event));
    FAILS(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventCreate(pool, &far, &event));
    OK(zeEventPoolDestroy(pool));
}

static void test_immediate_list_and_fence(void **state)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t immediate, list = new_list(1);
    ze_command_queue_handle_t queue = new_queue(1), compute = new_queue(0);
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    int pattern = 0x01020304, *to = device_memory(64), *host = host_memory(64);
    (void)state;
    OK(zeCommandListCreateImmediate(context, device, &desc, &immediate));
    OK(zeCommandListAppendMemoryFill(immediate, to, &pattern, 4, 64, NULL, 0, NULL));
    FAILS(ZE_RESULT_ERROR_INVALID_SIZE,
          zeCommandListAppendMemoryFill(immediate, to, &pattern, 3, 63, NULL, 0, NULL));
    FAILS(ZE_RESULT_ERROR_INVALID_SIZE, /* the copy group fills single bytes only */
          zeCommandListAppendMemoryFill(list, to, &pattern, 4, 64, NULL, 0, NULL));
    desc.flags = 2; /* in-order lists are of a later specification */
    FAILS(ZE_RESULT_ERROR_INVALID_ENUMERATION,
          zeCommandListCreateImmediate(context, device, &desc, &list));
    OK(zeFenceCreate(queue, &fence_desc, &fence));
    FAILS(ZE_RESULT_NOT_READY, zeFenceQueryStatus(fence));
    OK(zeCommandListAppendMemoryCopy(list, host, to, 64, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    FAILS(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
          zeCommandQueueExecuteCommandLists(compute, 1, &list, NULL));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeFenceHostSynchronize(fence, FOREVER));
    assert_int_equal(host[15], pattern);
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandQueueDestroy(compute));
    OK(zeMemFree(context, to));
    OK(zeMemFree(context, host));
}

static void test_out_of_memory(void **state)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL, *first = device_memory(48 << 20);
    (void)state;
    FAILS(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
          zeMemAllocDevice(context, &desc, 32 << 20, 0, device, &memory));
    FAILS(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
          zeMemAllocDevice(context, &desc, 65 << 20, 0, device, &memory));
    assert_null(memory);
    OK(zeMemFree(context, first));
    OK(zeMemAllocDevice(context, &desc, 32 << 20, 0, device, &memory));
    OK(zeMemFree(context, memory));
}

/* --- kernels ------------------------------------------------------------------------ */

static const char source[] =
    "typedef struct { float scale; int shift; } pair;\n"
    "__constant int table[2] = {10, 20};\n"
    "__kernel void scale(__global float *y, __global const float *x, float a, uint n,\n"
    "                    pair p) {\n"
    "  size_t i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] * p.scale + p.shift + table[get_group_id(0) & 1];\n"
    "}\n"
    "__kernel void sum(__global uint *out, __global const uint *x, __local uint *part) "
    "{\n"
    "  __local uint copy[64];\n"
    "  uint l = get_local_id(0);\n"
    "  part[l] = x[get_global_id(0)]; copy[l] = part[l];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (uint s = get_local_size(0) / 2; s > 0; s /= 2) {\n"
    "    if (l < s) part[l] += part[l + s];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  if (l == 0) { out[get_group_id(0)] = part[0]; atomic_add(out + 4, part[0]);\n"
    "    out[5] = atomic_max(out + 6, copy[get_local_size(0) - 1]); }\n"
    "}\n"
    "__kernel void where(__global uint *out) {\n"
    "  size_t at = get_global_id(0) + get_global_size(0) *\n"
    "              (get_global_id(1) + get_global_size(1) * get_global_id(2));\n"
    "  out[at] = get_local_id(0) + 10 * get_local_id(1) + 100 * get_group_id(2);\n"
    "}\n"
    "__kernel void math(__global float *f) {\n"
    "  f[0] = exp(f[0]); f[1] = rsqrt(f[1]); f[2] = fma(f[2], f[2], -f[2]);\n"
    "  f[3] = as_float(as_uint(f[3]) + 1); f[4] = erf(f[4]); f[5] = pow(2.0f, f[5]);\n"
    "}\n";

static unsigned char *spirv;
static size_t spirv_size;

static void compile_source(void)
{
    char folder[] = "/tmp/yoke-test-ze-XXXXXX", command[1024], path[64];
    if (spirv != NULL)
        return;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.cl", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && " FAKE_CLANG " -x cl -cl-std=CL1.2 -target spir64 -O1 -emit-llvm "
             "-Xclang -finclude-default-header -c k.cl -o k.bc && " FAKE_LLVM_SPIRV
             " k.bc -o k.spv",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/k.spv", folder);
    file = fopen(path, "rb");
    assert_non_null(file);
    spirv = malloc(1 << 20);
    spirv_size = fread(spirv, 1, 1 << 20, file);
    fclose(file);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static ze_module_handle_t new_module(void)
{
    compile_source();
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv_size,
                             .pInputModule = spirv};
    ze_module_build_log_handle_t log;
    ze_module_handle_t module;
    char text[4096] = "";
    size_t size = sizeof text;
    ze_result_t result = zeModuleCreate(context, device, &desc, &module, &log);
    OK(zeModuleBuildLogGetString(log, &size, text));
    OK(zeModuleBuildLogDestroy(log));
    if (result != ZE_RESULT_SUCCESS)
        print_error("%s\n", text);
    OK(result);
    return module;
}

static ze_kernel_handle_t new_kernel(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    OK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static void launch(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
    ze_command_queue_handle_t queue = new_queue(0);
    ze_command_list_handle_t list = new_list(0);
    ze_group_count_t groups = {x, y, z};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    submit(queue, list);
    OK(zeCommandQueueSynchronize(queue, FOREVER));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

static void test_kernel(void **state)
{
    ze_module_handle_t module = new_module();
    ze_kernel_handle_t kernel = new_kernel(module, "scale");
    struct {
        float scale;
        int shift;
    } pair = {0.5f, 3};
    float a = 4, *x = host_memory(400), *y = host_memory(400);
    uint32_t n = 100, count = 0;
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    (void)state;
    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    OK(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 4);
    OK(zeKernelGetProperties(kernel, &properties));
    assert_int_equal(properties.numKernelArgs, 5);
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof y, &y));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof x, &x));
    FAILS(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
          zeKernelSetArgumentValue(kernel, 2, 8, &a));
    OK(zeKernelSetArgumentValue(kernel, 2, sizeof a, &a));
    OK(zeKernelSetArgumentValue(kernel, 3, sizeof n, &n));
    OK(zeKernelSetArgumentValue(kernel, 4, sizeof pair, &pair));
    FAILS(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
          zeKernelSetArgumentValue(kernel, 5, sizeof n, &n));
    FAILS(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
          zeKernelSetGroupSize(kernel, 1024, 2, 1));
    launch(kernel, 2, 1, 1);
    for (int i = 0; i < 100; i++)
        assert_true(y[i] == 2 * x[i] + 3 + (i < 64 ? 10 : 20));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(context, x));
    OK(zeMemFree(context, y));
}

static void test_barrier_kernel(void **state)
{
    ze_module_handle_t module = new_module();
    ze_kernel_handle_t kernel = new_kernel(module, "sum");
    uint32_t *x = host_memory(1024), *out = host_memory(64), all = 0;
    (void)state;
    memset(out, 0, 64);
    for (uint32_t i = 0; i < 256; i++)
        all += x[i] = i * i;
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof x, &x));
    FAILS(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
          zeKernelSetArgumentValue(kernel, 2, 8, &x)); /* local memory has no value */
    OK(zeKernelSetArgumentValue(kernel, 2, 256, NULL));
    launch(kernel, 4, 1, 1);
    assert_int_equal(out[0] + out[1] + out[2] + out[3], all);
    assert_int_equal(out[4], all);
    assert_int_equal(out[6], 255 * 255);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(context, x));
    OK(zeMemFree(context, out));
}

static void test_three_dimensions_and_math(void **state)
{
    ze_module_handle_t module = new_module();
    ze_kernel_handle_t where = new_kernel(module, "where"),
                       math = new_kernel(module, "math");
    uint32_t *out = host_memory(4 * 4 * 6 * 4);
    float *f = host_memory(64);
    (void)state;
    OK(zeKernelSetGroupSize(where, 2, 3, 1));
    OK(zeKernelSetArgumentValue(where, 0, sizeof out, &out));
    launch(where, 2, 2, 4);
    for (uint32_t z = 0; z < 4; z++)
        for (uint32_t y = 0; y < 6; y++)
            for (uint32_t x = 0; x < 4; x++)
                assert_int_equal(out[x + 4 * (y + 6 * z)],
                                 x % 2 + 10 * (y % 3) + 100 * z);
    float inputs[] = {0, 4, 3, 1, 0, 5};
    memcpy(f, inputs, sizeof inputs);
    OK(zeKernelSetGroupSize(math, 1, 1, 1));
    OK(zeKernelSetArgumentValue(math, 0, sizeof f, &f));
    launch(math, 1, 1, 1);
    assert_true(f[0] == 1 && f[1] == 0.5f && f[2] == 6 && f[3] > 1 && f[3] < 1.000001f &&
                f[4] == 0 && f[5] == 32);
    OK(zeKernelDestroy(where));
    OK(zeKernelDestroy(math));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(context, out));
    OK(zeMemFree(context, f));
}

static void test_native_binary_and_bad_modules(void **state)
{
    ze_module_handle_t module = new_module(), copy;
    ze_module_build_log_handle_t log;
    ze_kernel_desc_t none = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                             .pKernelName = "none"};
    ze_kernel_handle_t kernel;
    size_t size = 0;
    char text[4096];
    (void)state;
    FAILS(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, zeKernelCreate(module, &none, &kernel));
    OK(zeModuleGetNativeBinary(module, &size, NULL));
    unsigned char *binary = malloc(size);
    OK(zeModuleGetNativeBinary(module, &size, binary));
    OK(zeModuleDestroy(module));
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = binary};
    OK(zeModuleCreate(context, device, &desc, &copy, NULL));
    OK(zeKernelDestroy(new_kernel(copy, "math")));
    OK(zeModuleDestroy(copy));
    binary[0] ^= 1;
    FAILS(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
          zeModuleCreate(context, device, &desc, &copy, NULL));
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    FAILS(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
          zeModuleCreate(context, device, &desc, &copy, &log));
    size = sizeof text;
    OK(zeModuleBuildLogGetString(log, &size, text));
    assert_true(strlen(text) > 10);
    OK(zeModuleBuildLogDestroy(log));
    free(binary);
}

/* --- faults, at the end: they cannot be undone
 * ------------------------------------------ */

static void test_fault(void **state)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;
    uint32_t count = 0;
    uint64_t before = fake.calls_of("zeDeviceGet");
    (void)state;
    fake.fault("zeMemAllocDevice", YOKE_FAKE_ERROR, ZE_RESULT_ERROR_UNKNOWN, 1);
    FAILS(ZE_RESULT_ERROR_UNKNOWN,
          zeMemAllocDevice(context, &desc, 64, 0, device, &memory));
    fake.fault("zeMemAllocDevice", YOKE_FAKE_UNWRITTEN, 0, 1);
    OK(zeMemAllocDevice(context, &desc, 64, 0, device, &memory));
    assert_null(memory);
    fake.fault("zeDeviceGet", YOKE_FAKE_GARBAGE, 0, 1);
    OK(zeDeviceGet(driver, &count, NULL));
    assert_true(count > 1000);
    fake.fault(NULL, YOKE_FAKE_NONE, 0, 0);
    assert_int_equal(fake.calls_of("zeDeviceGet"), before + 1);
}

/* A kernel that is given ordinary memory brings the device down. */
static void test_page_fault_loses_device(void **state)
{
    ze_module_handle_t module = new_module();
    ze_kernel_handle_t kernel = new_kernel(module, "math");
    ze_command_queue_handle_t queue = new_queue(0);
    ze_command_list_handle_t list = new_list(0);
    ze_event_pool_handle_t pool = new_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = new_event(pool, 0), later = new_event(pool, 1);
    ze_group_count_t groups = {1, 1, 1};
    float *memory = malloc(64);
    (void)state;
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    OK(zeCommandListAppendBarrier(list, later, 0, NULL));
    submit(queue, list);
    FAILS(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue, FOREVER));
    FAILS(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(later, FOREVER));
    FAILS(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(device));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(later));
    OK(zeEventPoolDestroy(pool));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    free(memory);
}

/* --- hierarchies, each in a process of its own
 * ------------------------------------------- */

static int show(void)
{
    uint32_t count = 0, tiles;
    ze_device_handle_t devices[16], inner[16];
    OK(zeInit(0));
    count = 1;
    OK(zeDriverGet(&count, &driver));
    count = 16;
    OK(zeDeviceGet(driver, &count, devices));
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
        OK(zeDeviceGetProperties(devices[i], &p));
        OK(zeDevicePciGetPropertiesExt(devices[i], &pci));
        printf("%x", pci.address.bus);
        if ((p.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0)
            printf(".%u", p.subdeviceId);
        tiles = 16;
        OK(zeDeviceGetSubDevices(devices[i], &tiles, inner));
        printf("/%u:%lluM ", tiles, (unsigned long long)p.maxMemAllocSize >> 20);
    }
    printf("\n");
    return 0;
}

static void shows(const char *hierarchy, const char *mask, const char *expected)
{
    char command[512], line[256] = "";
    snprintf(command, sizeof command,
             "ZE_FLAT_DEVICE_HIERARCHY=%s ZE_AFFINITY_MASK=%s %s show", hierarchy, mask,
             FAKE_TEST_PROGRAM);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(line, sizeof line, output));
    assert_int_equal(pclose(output), 0);
    assert_string_equal(line, expected);
}

static void test_hierarchies(void **state)
{
    (void)state;
    shows("FLAT", "", "3a.0/0:32M 3a.1/0:32M 3b.0/0:32M 3b.1/0:32M \n");
    shows("COMPOSITE", "", "3a/2:64M 3b/2:64M \n");
    shows("FLAT", "3,0", "3a.0/0:32M 3b.1/0:32M \n");
    shows("COMPOSITE", "1", "3b/2:64M \n");
    shows("COMPOSITE", "1.1,0", "3a/2:64M 3b.1/0:32M \n");
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/yoke-fakes-XXXXXX";
    int file = mkstemp(path);
    setenv("ZE_ENABLE_ALT_DRIVERS", FAKE_LIBRARY, 1);
    setenv("YOKE_FAKES", path, 1);
    FILE *text = fdopen(file, "w");
    bool showing = argc > 1 && strcmp(argv[1], "show") == 0;
    fprintf(text, "level_zero memory 64M\nlevel_zero %s\n",
            showing ? "tiles 2" : "latency 20000");
    fclose(text);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_copies_are_late),
        cmocka_unit_test(test_no_order_without_barrier),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_event_not_for_the_host),
        cmocka_unit_test(test_immediate_list_and_fence),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_barrier_kernel),
        cmocka_unit_test(test_three_dimensions_and_math),
        cmocka_unit_test(test_native_binary_and_bad_modules),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_hierarchies),
        cmocka_unit_test(test_page_fault_loses_device),
    };
    (void)argv;
    int failed =
        showing ? show() : cmocka_run_group_tests(tests, open_driver, close_driver);
    free(spirv);
    unlink(path);
    return failed;
}
