/* SPDX-License-Identifier: Apache-2.0 */
/* FAKE CNRT, CNDev and CNNL, driven as a plain program would. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "fake.h"
#include "cambricon/cnrt.h"

#define OK(call) assert_int_equal((call), 0)
#define FAILS(code, call) assert_int_equal((call), (code))
#define SIZE 4096

/* name, result, arguments: by the headers that cambricon/cnrt.h names */
#define CNRT_FUNCTIONS(F)                                                                \
    F(cnrtGetLastError, cnrtRet_t, (void))                                               \
    F(cnrtPeekAtLastError, cnrtRet_t, (void))                                            \
    F(cnrtGetErrorStr, const char *, (cnrtRet_t))                                        \
    F(cnrtGetDeviceCount, cnrtRet_t, (unsigned *))                                       \
    F(cnrtSetDevice, cnrtRet_t, (int))                                                   \
    F(cnrtGetDevice, cnrtRet_t, (int *))                                                 \
    F(cnrtDeviceGetAttribute, cnrtRet_t, (int *, cnrtDeviceAttr_t, int))                 \
    F(cnrtGetDeviceProperties_V3, cnrtRet_t, (cnrtDeviceProp_t *, int))                  \
    F(cnrtDeviceGetPCIBusId, cnrtRet_t, (char *, int, int))                              \
    F(cnrtGetPeerAccessibility, cnrtRet_t, (unsigned *, int, int))                       \
    F(cnrtMemGetInfo, cnrtRet_t, (size_t *, size_t *))                                   \
    F(cnrtMalloc, cnrtRet_t, (void **, size_t))                                          \
    F(cnrtFree, cnrtRet_t, (void *))                                                     \
    F(cnrtHostMalloc, cnrtRet_t, (void **, size_t))                                      \
    F(cnrtFreeHost, cnrtRet_t, (void *))                                                 \
    F(cnrtMemcpy, cnrtRet_t, (void *, void *, size_t, cnrtMemTransDir_t))                \
    F(cnrtMemcpyAsync, cnrtRet_t,                                                        \
      (void *, void *, size_t, cnrtQueue_t, cnrtMemTransDir_t))                          \
    F(cnrtMemcpyAsync_V2, cnrtRet_t,                                                     \
      (void *, void *, size_t, cnrtQueue_t, cnrtMemTransDir_t))                          \
    F(cnrtMemcpyAsync_V3, cnrtRet_t,                                                     \
      (void *, void *, size_t, cnrtQueue_t, cnrtMemTransDir_t))                          \
    F(cnrtMemcpyPeer, cnrtRet_t, (void *, int, void *, int, size_t))                     \
    F(cnrtMemset, cnrtRet_t, (void *, int, size_t))                                      \
    F(cnrtMemsetAsync, cnrtRet_t, (void *, int, size_t, cnrtQueue_t))                    \
    F(cnrtQueueCreate, cnrtRet_t, (cnrtQueue_t *))                                       \
    F(cnrtQueueDestroy, cnrtRet_t, (cnrtQueue_t))                                        \
    F(cnrtQueueSync, cnrtRet_t, (cnrtQueue_t))                                           \
    F(cnrtQueueQuery, cnrtRet_t, (cnrtQueue_t))                                          \
    F(cnrtNotifierCreate, cnrtRet_t, (cnrtNotifier_t *))                                 \
    F(cnrtNotifierCreateWithFlags, cnrtRet_t, (cnrtNotifier_t *, unsigned))              \
    F(cnrtNotifierDestroy, cnrtRet_t, (cnrtNotifier_t))                                  \
    F(cnrtPlaceNotifier, cnrtRet_t, (cnrtNotifier_t, cnrtQueue_t))                       \
    F(cnrtQueueWaitNotifier, cnrtRet_t, (cnrtNotifier_t, cnrtQueue_t, unsigned))         \
    F(cnrtWaitNotifier, cnrtRet_t, (cnrtNotifier_t))                                     \
    F(cnrtQueryNotifier, cnrtRet_t, (cnrtNotifier_t))                                    \
    F(cnrtNotifierElapsedTime, cnrtRet_t, (cnrtNotifier_t, cnrtNotifier_t, float *))     \
    F(cnrtNotifierDuration, cnrtRet_t, (cnrtNotifier_t, cnrtNotifier_t, float *))        \
    F(cnrtInvokeHostFunc, cnrtRet_t, (cnrtQueue_t, cnrtHostFn_t, void *))                \
    F(yoke_fake_current, uint64_t, (void))                                               \
    F(yoke_fake_set_current, void, (int))                                                \
    F(yoke_fake_fault, void, (const char *, yoke_fake_fault_t, int64_t, uint64_t))       \
    F(yoke_fake_lose, void, (int))                                                       \
    F(yoke_fake_alive, uint64_t, (void))

#define CNDEV_FUNCTIONS(F)                                                               \
    F(cndevInit, cndevRet_t, (int))                                                      \
    F(cndevGetDeviceCount, cndevRet_t, (cndevCardInfo_t *))                              \
    F(cndevGetMemoryUsage, cndevRet_t, (cndevMemoryInfo_t *, cndevDevice_t))             \
    F(cndevGetPCIeInfo, cndevRet_t, (cndevPCIeInfo_t *, cndevDevice_t))                  \
    F(cndevGetUUID, cndevRet_t, (cndevUUID_t *, cndevDevice_t))

#define CNNL_FUNCTIONS(F)                                                                \
    F(cnnlCreate, cnnlStatus_t, (cnnlHandle_t *))                                        \
    F(cnnlDestroy, cnnlStatus_t, (cnnlHandle_t))                                         \
    F(cnnlSetQueue, cnnlStatus_t, (cnnlHandle_t, cnrtQueue_t))                           \
    F(cnnlCreateTensorDescriptor, cnnlStatus_t, (cnnlTensorDescriptor_t *))              \
    F(cnnlDestroyTensorDescriptor, cnnlStatus_t, (cnnlTensorDescriptor_t))               \
    F(cnnlSetTensorDescriptor, cnnlStatus_t,                                             \
      (cnnlTensorDescriptor_t, cnnlTensorLayout_t, cnnlDataType_t, int, const int[]))    \
    F(cnnlAddN, cnnlStatus_t,                                                            \
      (cnnlHandle_t, const cnnlTensorDescriptor_t[], const void *const[], uint32_t,      \
       const cnnlTensorDescriptor_t, void *))                                            \
    F(cnnlGetMaximumWorkspaceSize, cnnlStatus_t,                                         \
      (cnnlHandle_t, const cnnlTensorDescriptor_t, size_t *))                            \
    F(cnnlMaximum, cnnlStatus_t,                                                         \
      (cnnlHandle_t, const cnnlTensorDescriptor_t, const void *,                         \
       const cnnlTensorDescriptor_t, const void *, const cnnlTensorDescriptor_t, void *, \
       void *, size_t))                                                                  \
    F(cnnlMatMul, cnnlStatus_t,                                                          \
      (cnnlHandle_t, bool, bool, const void *, const cnnlTensorDescriptor_t,             \
       const void *, const cnnlTensorDescriptor_t, const void *, const void *,           \
       const cnnlTensorDescriptor_t, void *))

#define DECLARE(name, result, arguments) static result(*name##_) arguments;
CNRT_FUNCTIONS(DECLARE)
CNDEV_FUNCTIONS(DECLARE)
CNNL_FUNCTIONS(DECLARE)

static void load(void)
{
    void *cnrt = dlopen(FAKE_FOLDER "/libcnrt.so", RTLD_NOW | RTLD_LOCAL);
    void *cndev = dlopen(FAKE_FOLDER "/libcndev.so", RTLD_NOW | RTLD_LOCAL);
    void *cnnl = dlopen(FAKE_FOLDER "/libcnnl.so", RTLD_NOW | RTLD_LOCAL);
    if (cnrt == NULL || cndev == NULL || cnnl == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND_IN(library, name)                                                           \
    *(void **)(void *)&name##_ = dlsym(library, #name);                                  \
    if (name##_ == NULL)                                                                 \
        exit(2);
#define FIND_CNRT(name, result, arguments) FIND_IN(cnrt, name)
#define FIND_CNDEV(name, result, arguments) FIND_IN(cndev, name)
#define FIND_CNNL(name, result, arguments) FIND_IN(cnnl, name)
    CNRT_FUNCTIONS(FIND_CNRT)
    CNDEV_FUNCTIONS(FIND_CNDEV)
    CNNL_FUNCTIONS(FIND_CNNL)
}

static void *device_memory(size_t size)
{
    void *memory = NULL;
    OK(cnrtMalloc_(&memory, size));
    return memory;
}

static void *host_memory(size_t size)
{
    void *memory = NULL;
    OK(cnrtHostMalloc_(&memory, size));
    return memory;
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

/* --- devices --------------------------------------------------------------------------
 */

static void *new_thread(void *unused)
{
    int device = -1;
    (void)unused;
    OK(cnrtGetDevice_(&device));
    assert_int_equal(device, 0); /* without a call */
    OK(cnrtSetDevice_(1));
    return NULL;
}

static void test_devices(void **state)
{
    unsigned count = 0, can = 7;
    int value = 0, device;
    char address[32];
    cnrtDeviceProp_t properties;
    pthread_t thread;
    (void)state;
    OK(cnrtGetDeviceCount_(&count));
    assert_int_equal(count, 2);
    FAILS(cnrtErrorDeviceInvalid, cnrtSetDevice_(2));
    FAILS(cnrtErrorDeviceInvalid, cnrtPeekAtLastError_());
    FAILS(cnrtErrorDeviceInvalid, cnrtGetLastError_());
    OK(cnrtGetLastError_());
    OK(cnrtDeviceGetAttribute_(&value, cnrtAttrTotalMemSize, 0));
    assert_int_equal(value, 64); /* MB */
    FAILS(cnrtErrorNoAttribute,
          cnrtDeviceGetAttribute_(&value, (cnrtDeviceAttr_t)0x999, 0));
    OK(cnrtGetDeviceProperties_V3_(&properties, 1));
    assert_string_equal(properties.name, "MLU590-M9");
    assert_int_equal(properties.totalGlobalMemSize, 64 << 20);
    OK(cnrtDeviceGetPCIBusId_(address, sizeof address, 1));
    assert_string_equal(address, "0000:0e:00.0");
    OK(cnrtGetPeerAccessibility_(&can, 0, 1));
    assert_int_equal(can, 1);
    assert_string_equal(cnrtGetErrorStr_(cnrtErrorNoMem), "cnrtErrorNoMem");
    assert_int_equal(pthread_create(&thread, NULL, new_thread, NULL), 0);
    pthread_join(thread, NULL);
    OK(cnrtGetDevice_(&device));
    assert_int_equal(device, 0);
    uint64_t before = yoke_fake_current_();
    yoke_fake_set_current_(1);
    assert_true(before != yoke_fake_current_());
    OK(cnrtSetDevice_(0));
    assert_true(before == yoke_fake_current_());
    cnrtGetLastError_();
}

/* --- memory ---------------------------------------------------------------------------
 */

static void test_copies(void **state)
{
    char *device = device_memory(SIZE), *other = device_memory(SIZE),
         *host = malloc(SIZE);
    (void)state;
    assert_true(faults(device));
    memset(host, 3, SIZE);
    OK(cnrtMemcpy_(device, host, SIZE, (cnrtMemTransDir_t)0));
    OK(cnrtMemcpy_(other, device, SIZE, (cnrtMemTransDir_t)1)); /* D2D, not CUDA's D2H */
    memset(host, 0, SIZE);
    OK(cnrtMemcpy_(host, other, SIZE, (cnrtMemTransDir_t)2));
    assert_int_equal(host[SIZE - 1], 3);
    FAILS(cnrtErrorMemcpyDirectionInvalid,
          cnrtMemcpy_(host, other, SIZE, cnrtMemcpyDevToDev));
    FAILS(cnrtErrorMemcpyDirectionInvalid,
          cnrtMemcpy_(other, device, SIZE, cnrtMemcpyPeerToPeer)); /* one device */
    FAILS(cnrtErrorMemcpyDirectionInvalid,
          cnrtMemcpy_(host, other, SIZE, (cnrtMemTransDir_t)6));
    FAILS(cnrtErrorArgsInvalid, cnrtMemcpy_(host, other + 1, SIZE, cnrtMemcpyDevToHost));
    OK(cnrtMemcpy_(host, other, SIZE, cnrtMemcpyNoDirection));
    OK(cnrtFree_(NULL));
    OK(cnrtFree_(other));
    FAILS(cnrtErrorCndrvFuncCall, cnrtFree_(other));
    OK(cnrtSetDevice_(1));
    other = device_memory(SIZE);
    OK(cnrtSetDevice_(0));
    FAILS(cnrtErrorMemcpyDirectionInvalid,
          cnrtMemcpy_(other, device, SIZE, cnrtMemcpyDevToDev));
    OK(cnrtMemcpyPeer_(other, 1, device, 0, SIZE));
    OK(cnrtFree_(other));
    OK(cnrtFree_(device));
    free(host);
    cnrtGetLastError_();
}

static void test_asynchronous_copies(void **state)
{
    char *device = device_memory(SIZE), *host = host_memory(2 * SIZE);
    cnrtQueue_t queue, elsewhere;
    (void)state;
    OK(cnrtQueueCreate_(&queue));
    memset(host, 1, 2 * SIZE);
    OK(cnrtMemcpyAsync_(device, host, SIZE, queue, cnrtMemcpyHostToDev));
    OK(cnrtMemcpyAsync_V2_(host + SIZE, device, SIZE / 2, queue, cnrtMemcpyDevToHost));
    OK(cnrtMemcpyAsync_V3_(host + SIZE + SIZE / 2, device, SIZE / 2, queue,
                           cnrtMemcpyNoDirection));
    memset(host, 2, SIZE); /* not read yet */
    assert_int_equal(host[SIZE], 1);
    FAILS(cnrtErrorMemcpyDirectionInvalid,
          cnrtMemcpyAsync_(host, host + SIZE, SIZE, queue, cnrtMemcpyHostToHost));
    OK(cnrtQueueSync_(queue));
    assert_true(host[SIZE] == 2 && host[2 * SIZE - 1] == 2);
    OK(cnrtQueueQuery_(queue));
    OK(cnrtMemsetAsync_(device, 5, SIZE, queue));
    FAILS(cnrtErrorArgsInvalid, cnrtMemsetAsync_(host, 5, SIZE, queue));
    OK(cnrtQueueSync_(queue));
    OK(cnrtMemcpy_(host, device, SIZE, cnrtMemcpyDevToHost));
    assert_int_equal(host[7], 5);
    OK(cnrtSetDevice_(1));
    OK(cnrtQueueCreate_(&elsewhere));
    FAILS(cnrtErrorDevice, cnrtMemsetAsync_(device, 5, SIZE, queue)); /* of device 0 */
    OK(cnrtQueueSync_(queue));
    OK(cnrtSetDevice_(0));
    OK(cnrtQueueDestroy_(queue));
    OK(cnrtQueueDestroy_(elsewhere));
    FAILS(cnrtErrorInvalidResourceHandle, cnrtQueueSync_(queue));
    OK(cnrtFree_(device));
    OK(cnrtFreeHost_(host));
    cnrtGetLastError_();
}

static void test_memory_size(void **state)
{
    size_t left, total;
    void *half = device_memory(40 << 20), *more = NULL;
    (void)state;
    OK(cnrtMemGetInfo_(&left, &total));
    assert_true(total == 64 << 20 && left <= 24 << 20);
    FAILS(cnrtErrorNoMem, cnrtMalloc_(&more, 40 << 20));
    assert_null(more);
    OK(cnrtFree_(half));
    OK(cnrtMalloc_(&more, 40 << 20));
    OK(cnrtFree_(more));
    cnrtGetLastError_();
}

/* --- notifiers ------------------------------------------------------------------------
 */

static void test_notifiers(void **state)
{
    cnrtNotifier_t start, end, untimed;
    cnrtQueue_t first, second;
    float ms = -1, us = -1;
    char *device = device_memory(SIZE), *host = host_memory(SIZE);
    (void)state;
    OK(cnrtQueueCreate_(&first));
    OK(cnrtQueueCreate_(&second));
    OK(cnrtNotifierCreate_(&start));
    OK(cnrtNotifierCreate_(&end));
    OK(cnrtNotifierCreateWithFlags_(&untimed, CNRT_NOTIFIER_DISABLE_TIMING_ALL));
    OK(cnrtQueryNotifier_(start)); /* never placed: done */
    FAILS(cnrtErrorCndrvFuncCall, cnrtNotifierElapsedTime_(start, end, &ms));
    cnrtGetLastError_();
    host[0] = 1;
    OK(cnrtPlaceNotifier_(start, first));
    OK(cnrtMemsetAsync_(device, 6, SIZE, first));
    OK(cnrtPlaceNotifier_(end, first));
    OK(cnrtPlaceNotifier_(untimed, first));
    FAILS(cnrtErrorNotReady, cnrtNotifierElapsedTime_(start, end, &ms));
    FAILS(cnrtErrorNotReady, cnrtGetLastError_()); /* sticky */
    OK(cnrtQueueWaitNotifier_(end, second, 0));
    OK(cnrtMemcpyAsync_(host, device, SIZE, second, cnrtMemcpyDevToHost));
    assert_int_equal(host[0], 1);
    OK(cnrtQueueSync_(second));
    assert_int_equal(host[0], 6);
    OK(cnrtWaitNotifier_(end));
    OK(cnrtQueryNotifier_(end));
    OK(cnrtNotifierElapsedTime_(start, end, &ms));
    OK(cnrtNotifierDuration_(start, end, &us));
    assert_true(ms >= 0 && us >= 999 * ms && us <= 1001 * ms);
    FAILS(cnrtErrorArgsInvalid, cnrtNotifierElapsedTime_(start, untimed, &ms));
    OK(cnrtNotifierDestroy_(start));
    OK(cnrtNotifierDestroy_(end));
    OK(cnrtNotifierDestroy_(untimed));
    OK(cnrtQueueDestroy_(first));
    OK(cnrtQueueDestroy_(second));
    OK(cnrtFree_(device));
    OK(cnrtFreeHost_(host));
    cnrtGetLastError_();
}

static void note_thread(void *place)
{
    *(pthread_t *)place = pthread_self();
}

static void test_host_function(void **state)
{
    pthread_t by = 0;
    (void)state;
    OK(cnrtInvokeHostFunc_(NULL, note_thread, &by)); /* the default queue */
    OK(cnrtQueueSync_(NULL));
    assert_true(by != 0 && !pthread_equal(by, pthread_self()));
}

/* --- cnnl and cndev -------------------------------------------------------------------
 */

static cnnlTensorDescriptor_t tensor(int rows, int columns, cnnlDataType_t type)
{
    cnnlTensorDescriptor_t desc;
    int shape[] = {rows, columns};
    OK(cnnlCreateTensorDescriptor_(&desc));
    OK(cnnlSetTensorDescriptor_(desc, CNNL_LAYOUT_ARRAY, type, 2, shape));
    return desc;
}

static void test_cnnl(void **state)
{
    cnnlHandle_t handle;
    cnrtQueue_t queue;
    cnnlTensorDescriptor_t square = tensor(2, 2, CNNL_DTYPE_FLOAT);
    cnnlTensorDescriptor_t half = tensor(2, 2, CNNL_DTYPE_HALF);
    cnnlTensorDescriptor_t squares[] = {square, square};
    float *a = device_memory(64), host[4], one = 1, zero = 0;
    float left[] = {1, 2, 3, 4}, right[] = {5, 6, 7, 8};
    const void *inputs[] = {a, a + 4};
    size_t size = 0;
    (void)state;
    OK(cnrtQueueCreate_(&queue));
    OK(cnnlCreate_(&handle));
    OK(cnnlSetQueue_(handle, queue));
    OK(cnrtMemcpy_(a, left, 16, cnrtMemcpyHostToDev));
    OK(cnrtMemcpy_(a + 4, right, 16, cnrtMemcpyHostToDev));
    OK(cnnlMatMul_(handle, false, true, &one, square, a, square, a + 4, &zero, square,
                   a + 8));
    OK(cnrtQueueSync_(queue));
    OK(cnrtMemcpy_(host, a + 8, 16, cnrtMemcpyDevToHost));
    assert_true(host[0] == 17 && host[1] == 23 && host[2] == 39 && host[3] == 53);
    OK(cnnlAddN_(handle, squares, inputs, 2, square, a));
    OK(cnnlGetMaximumWorkspaceSize_(handle, square, &size));
    void *workspace = device_memory(size);
    FAILS(CNNL_STATUS_BAD_PARAM,
          cnnlMaximum_(handle, square, a, square, a + 4, square, a, NULL, 0));
    OK(cnnlMaximum_(handle, square, a, square, a + 8, square, a, workspace, size));
    OK(cnrtQueueSync_(queue));
    OK(cnrtMemcpy_(host, a, 16, cnrtMemcpyDevToHost));
    assert_true(host[0] == 17 && host[1] == 23 && host[2] == 39 && host[3] == 53);
    FAILS(CNNL_STATUS_BAD_PARAM, /* ordinary memory */
          cnnlMaximum_(handle, square, host, square, a, square, a, workspace, size));
    FAILS(CNNL_STATUS_BAD_PARAM,
          cnnlMaximum_(handle, square, a, half, a, square, a, workspace, size));
    OK(cnnlDestroyTensorDescriptor_(square));
    OK(cnnlDestroyTensorDescriptor_(half));
    OK(cnnlDestroy_(handle));
    OK(cnrtQueueDestroy_(queue));
    OK(cnrtFree_(workspace));
    OK(cnrtFree_(a));
}

static void test_cndev(void **state)
{
    cndevCardInfo_t cards = {.version = CNDEV_VERSION_5};
    cndevMemoryInfo_t memory = {.version = CNDEV_VERSION_5};
    cndevPCIeInfo_t pci = {.version = CNDEV_VERSION_5};
    cndevUUID_t uuid = {.version = CNDEV_VERSION_5};
    (void)state;
    FAILS(CNDEV_ERROR_UNINITIALIZED, cndevGetDeviceCount_(&cards));
    OK(cndevInit_(0));
    OK(cndevGetDeviceCount_(&cards));
    assert_int_equal(cards.number, 2);
    OK(cndevGetMemoryUsage_(&memory, 1));
    assert_int_equal(memory.physicalMemoryTotal, 64); /* MB */
    OK(cndevGetPCIeInfo_(&pci, 1));
    assert_int_equal(pci.bus, 0x0e);
    OK(cndevGetUUID_(&uuid, 1));
    assert_int_equal(strlen((char *)uuid.uuid), 36);
    memory.version = 0;
    FAILS(CNDEV_ERROR_UNSUPPORTED_API_VERSION, cndevGetMemoryUsage_(&memory, 1));
    FAILS(CNDEV_ERROR_INVALID_DEVICE_ID, cndevGetPCIeInfo_(&pci, 2));
}

static int show(void)
{
    unsigned count = 0;
    OK(cnrtGetDeviceCount_(&count));
    for (unsigned i = 0; i < count; i++) {
        char address[32] = "";
        OK(cnrtDeviceGetPCIBusId_(address, sizeof address, (int)i));
        printf("%s ", address);
    }
    printf("%u\n", count);
    return 0;
}

static void test_mask(void **state)
{
    char line[128] = "";
    (void)state;
    FILE *output = popen("MLU_VISIBLE_DEVICES=1 " FAKE_TEST_PROGRAM " show", "r");
    assert_non_null(output);
    assert_non_null(fgets(line, sizeof line, output));
    assert_int_equal(pclose(output), 0);
    assert_string_equal(line, "0000:0e:00.0 1\n");
}

/* --- faults and loss, at the end
 * -------------------------------------------------------- */

static void test_faults_and_loss(void **state)
{
    char *device = device_memory(SIZE), *host = host_memory(SIZE);
    cnrtQueue_t queue;
    void *memory = NULL;
    unsigned count = 0;
    (void)state;
    yoke_fake_fault_("cnrtMalloc", YOKE_FAKE_ERROR, cnrtErrorUnknown, 1);
    FAILS(cnrtErrorUnknown, cnrtMalloc_(&memory, 64));
    yoke_fake_fault_("cnrtMalloc", YOKE_FAKE_UNWRITTEN, 0, 1);
    OK(cnrtMalloc_(&memory, 64));
    assert_null(memory);
    yoke_fake_fault_("cnrtGetDeviceCount", YOKE_FAKE_GARBAGE, 0, 1);
    OK(cnrtGetDeviceCount_(&count));
    assert_true(count > 1000);
    yoke_fake_fault_(NULL, YOKE_FAKE_NONE, 0, 0);
    OK(cnrtQueueCreate_(&queue));
    host[0] = 1;
    OK(cnrtMemsetAsync_(device, 9, SIZE, queue));
    OK(cnrtMemcpyAsync_(host, device, SIZE, queue, cnrtMemcpyDevToHost));
    yoke_fake_lose_(0);
    FAILS(cnrtErrorCndrvFuncCall, cnrtQueueSync_(queue));
    FAILS(cnrtErrorCndrvFuncCall, cnrtMalloc_(&memory, 64));
    OK(cnrtSetDevice_(1));
    assert_int_equal(host[0], 1);
    OK(cnrtQueueDestroy_(queue));
    OK(cnrtFree_(device));
    OK(cnrtFreeHost_(host));
    assert_int_equal(yoke_fake_alive_(), 0);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/yoke-fakes-XXXXXX";
    int file = mkstemp(path);
    FILE *text = fdopen(file, "w");
    fprintf(text, "cambricon memory 64M\ncambricon latency 20000\n");
    fclose(text);
    setenv("YOKE_FAKES", path, 1);
    load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_asynchronous_copies),
        cmocka_unit_test(test_memory_size),
        cmocka_unit_test(test_notifiers),
        cmocka_unit_test(test_host_function),
        cmocka_unit_test(test_cnnl),
        cmocka_unit_test(test_cndev),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_faults_and_loss),
    };
    int failed = argc > 1 && strcmp(argv[1], "show") == 0
                     ? show()
                     : cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
