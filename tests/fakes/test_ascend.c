/* SPDX-License-Identifier: Apache-2.0 */
/* FAKE AscendCL, DCMI and aclnn, driven as a plain program would. */
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
#include "ascend/acl.h"
#include "ascend/dcmi.h"

#define OK(call) assert_int_equal((call), ACL_SUCCESS)
#define FAILS(code, call) assert_int_equal((call), (code))
#define SIZE 4096

/* name, result, arguments: by the headers that ascend/acl.h names */
#define ACL_FUNCTIONS(F)                                                                 \
    F(aclInit, aclError, (const char *))                                                 \
    F(aclFinalize, aclError, (void))                                                     \
    F(aclGetRecentErrMsg, const char *, (void))                                          \
    F(aclrtGetLastError, aclError, (aclrtLastErrLevel))                                  \
    F(aclrtGetDeviceCount, aclError, (uint32_t *))                                       \
    F(aclrtSetDevice, aclError, (int32_t))                                               \
    F(aclrtResetDevice, aclError, (int32_t))                                             \
    F(aclrtGetDevice, aclError, (int32_t *))                                             \
    F(aclrtCreateContext, aclError, (aclrtContext *, int32_t))                           \
    F(aclrtDestroyContext, aclError, (aclrtContext))                                     \
    F(aclrtGetCurrentContext, aclError, (aclrtContext *))                                \
    F(aclrtSetCurrentContext, aclError, (aclrtContext))                                  \
    F(aclrtGetSocName, const char *, (void))                                             \
    F(aclrtGetDeviceInfo, aclError, (uint32_t, aclrtDevAttr, int64_t *))                 \
    F(aclrtGetMemInfo, aclError, (aclrtMemAttr, size_t *, size_t *))                     \
    F(aclrtDeviceGetPCIBusId, aclError, (int32_t, char *, int32_t))                      \
    F(aclrtDeviceCanAccessPeer, aclError, (int32_t *, int32_t, int32_t))                 \
    F(aclrtDeviceEnablePeerAccess, aclError, (int32_t, uint32_t))                        \
    F(aclrtMalloc, aclError, (void **, size_t, aclrtMemMallocPolicy))                    \
    F(aclrtFree, aclError, (void *))                                                     \
    F(aclrtMallocHost, aclError, (void **, size_t))                                      \
    F(aclrtFreeHost, aclError, (void *))                                                 \
    F(aclrtMemcpy, aclError, (void *, size_t, const void *, size_t, aclrtMemcpyKind))    \
    F(aclrtMemcpyAsync, aclError,                                                        \
      (void *, size_t, const void *, size_t, aclrtMemcpyKind, aclrtStream))              \
    F(aclrtMemset, aclError, (void *, size_t, int32_t, size_t))                          \
    F(aclrtMemsetAsync, aclError, (void *, size_t, int32_t, size_t, aclrtStream))        \
    F(aclrtCreateStream, aclError, (aclrtStream *))                                      \
    F(aclrtDestroyStream, aclError, (aclrtStream))                                       \
    F(aclrtSynchronizeStream, aclError, (aclrtStream))                                   \
    F(aclrtSynchronizeStreamWithTimeout, aclError, (aclrtStream, int32_t))               \
    F(aclrtStreamQuery, aclError, (aclrtStream, aclrtStreamStatus *))                    \
    F(aclrtCreateEvent, aclError, (aclrtEvent *))                                        \
    F(aclrtCreateEventWithFlag, aclError, (aclrtEvent *, uint32_t))                      \
    F(aclrtDestroyEvent, aclError, (aclrtEvent))                                         \
    F(aclrtRecordEvent, aclError, (aclrtEvent, aclrtStream))                             \
    F(aclrtStreamWaitEvent, aclError, (aclrtStream, aclrtEvent))                         \
    F(aclrtQueryEventStatus, aclError, (aclrtEvent, aclrtEventRecordedStatus *))         \
    F(aclrtSynchronizeEvent, aclError, (aclrtEvent))                                     \
    F(aclrtEventElapsedTime, aclError, (float *, aclrtEvent, aclrtEvent))                \
    F(aclrtLaunchHostFunc, aclError, (aclrtStream, aclrtHostFunc, void *))               \
    F(aclrtLaunchCallback, aclError,                                                     \
      (aclrtCallback, void *, aclrtCallbackBlockType, aclrtStream))                      \
    F(aclrtSubscribeReport, aclError, (uint64_t, aclrtStream))                           \
    F(aclrtUnSubscribeReport, aclError, (uint64_t, aclrtStream))                         \
    F(aclrtProcessReport, aclError, (int32_t))                                           \
    F(yoke_fake_current, uint64_t, (void))                                               \
    F(yoke_fake_set_current, void, (int))                                                \
    F(yoke_fake_fault, void, (const char *, yoke_fake_fault_t, int64_t, uint64_t))       \
    F(yoke_fake_lose, void, (int))                                                       \
    F(yoke_fake_calls_of, uint64_t, (const char *))                                      \
    F(yoke_fake_functions, const char *const *, (size_t *))                              \
    F(yoke_fake_alive, uint64_t, (void))

#define NN_FUNCTIONS(F)                                                                  \
    F(aclCreateTensor, aclTensor *,                                                      \
      (const int64_t *, uint64_t, aclDataType, const int64_t *, int64_t, aclFormat,      \
       const int64_t *, uint64_t, void *))                                               \
    F(aclDestroyTensor, aclnnStatus, (const aclTensor *))                                \
    F(aclCreateScalar, aclScalar *, (void *, aclDataType))                               \
    F(aclDestroyScalar, aclnnStatus, (const aclScalar *))                                \
    F(aclnnAddGetWorkspaceSize, aclnnStatus,                                             \
      (const aclTensor *, const aclTensor *, const aclScalar *, aclTensor *, uint64_t *, \
       aclOpExecutor **))                                                                \
    F(aclnnAdd, aclnnStatus, (void *, uint64_t, aclOpExecutor *, aclrtStream))           \
    F(aclnnMaximumGetWorkspaceSize, aclnnStatus,                                         \
      (const aclTensor *, const aclTensor *, aclTensor *, uint64_t *, aclOpExecutor **)) \
    F(aclnnMaximum, aclnnStatus, (void *, uint64_t, aclOpExecutor *, aclrtStream))       \
    F(aclnnMatmulGetWorkspaceSize, aclnnStatus,                                          \
      (const aclTensor *, const aclTensor *, aclTensor *, int8_t, uint64_t *,            \
       aclOpExecutor **))                                                                \
    F(aclnnMatmul, aclnnStatus, (void *, uint64_t, aclOpExecutor *, aclrtStream))

#define DCMI_FUNCTIONS(F)                                                                \
    F(dcmi_init, int, (void))                                                            \
    F(dcmi_get_card_list, int, (int *, int *, int))                                      \
    F(dcmi_get_device_num_in_card, int, (int, int *))                                    \
    F(dcmi_get_device_logic_id, int, (int *, int, int))                                  \
    F(dcmi_get_hbm_info, int, (int, int, struct dsmi_hbm_info_stru *))                   \
    F(dcmi_get_device_pcie_info_v2, int, (int, int, struct dcmi_pcie_info_all *))

#define DECLARE(name, result, arguments) static result(*name##_) arguments;
ACL_FUNCTIONS(DECLARE)
NN_FUNCTIONS(DECLARE)
DCMI_FUNCTIONS(DECLARE)

static void load(void)
{
    void *acl = dlopen(FAKE_FOLDER "/libascendcl.so", RTLD_NOW | RTLD_LOCAL);
    void *nn = dlopen(FAKE_FOLDER "/libopapi.so", RTLD_NOW | RTLD_LOCAL);
    void *dcmi = dlopen(FAKE_FOLDER "/libdcmi.so", RTLD_NOW | RTLD_LOCAL);
    if (acl == NULL || nn == NULL || dcmi == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND_IN(library, name)                                                           \
    *(void **)(void *)&name##_ = dlsym(library, #name);                                  \
    if (name##_ == NULL)                                                                 \
        exit(2);
#define FIND_ACL(name, result, arguments) FIND_IN(acl, name)
#define FIND_NN(name, result, arguments) FIND_IN(nn, name)
#define FIND_DCMI(name, result, arguments) FIND_IN(dcmi, name)
    ACL_FUNCTIONS(FIND_ACL)
    NN_FUNCTIONS(FIND_NN)
    DCMI_FUNCTIONS(FIND_DCMI)
}

static void *device_memory(size_t size)
{
    void *memory = NULL;
    OK(aclrtMalloc_(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

static void *host_memory(size_t size)
{
    void *memory = NULL;
    OK(aclrtMallocHost_(&memory, size));
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

/* --- initialisation and threads
 * --------------------------------------------------------- */

/* The first test: aclInit() is once per process. */
static void test_nothing_works_before_init(void **state)
{
    uint32_t count = 77;
    void *memory;
    (void)state;
    FAILS(ACL_ERROR_UNINITIALIZE, aclrtGetDeviceCount_(&count));
    FAILS(ACL_ERROR_UNINITIALIZE, aclrtSetDevice_(0));
    FAILS(ACL_ERROR_UNINITIALIZE, aclrtMalloc_(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    assert_null(aclrtGetSocName_());
    assert_int_equal(count, 77);
    assert_non_null(aclGetRecentErrMsg_());
    assert_null(aclGetRecentErrMsg_()); /* given once */
    OK(aclInit_(NULL));
    FAILS(ACL_ERROR_REPEAT_INITIALIZE, aclInit_(NULL));
    OK(aclrtGetDeviceCount_(&count));
    assert_int_equal(count, 2);
    assert_string_equal(aclrtGetSocName_(), "Ascend910B3");
}

static void *new_thread(void *unused)
{
    int32_t device = 77;
    void *memory;
    aclrtContext context;
    (void)unused;
    FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice_(&device));
    FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext_(&context));
    FAILS(ACL_ERROR_RT_CONTEXT_NULL,
          aclrtMalloc_(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    assert_int_equal(device, 77);
    OK(aclrtSetDevice_(1));
    OK(aclrtGetDevice_(&device));
    assert_int_equal(device, 1);
    OK(aclrtResetDevice_(1));
    FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice_(&device));
    return NULL;
}

static void test_each_thread_has_its_device(void **state)
{
    pthread_t thread;
    int32_t device;
    aclrtContext first, own, now;
    (void)state;
    FAILS(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice_(2));
    OK(aclrtSetDevice_(0));
    assert_int_equal(pthread_create(&thread, NULL, new_thread, NULL), 0);
    pthread_join(thread, NULL);
    OK(aclrtGetDevice_(&device));
    assert_int_equal(device, 0);
    OK(aclrtGetCurrentContext_(&first));
    uint64_t before = yoke_fake_current_();
    OK(aclrtCreateContext_(&own, 1));
    OK(aclrtGetDevice_(&device));
    assert_int_equal(device, 1);
    assert_true(before != yoke_fake_current_());
    OK(aclrtSetCurrentContext_(first));
    assert_true(before == yoke_fake_current_());
    OK(aclrtDestroyContext_(own));
    FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext_(own));
    yoke_fake_set_current_(1);
    OK(aclrtGetCurrentContext_(&now));
    assert_true(now != first);
    yoke_fake_set_current_(-1);
    FAILS(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext_(&now));
    OK(aclrtSetCurrentContext_(first));
}

static void test_stream_of_another_context(void **state)
{
    aclrtContext first, own;
    aclrtStream stream;
    (void)state;
    OK(aclrtCreateStream_(&stream));
    OK(aclrtGetCurrentContext_(&first));
    OK(aclrtCreateContext_(&own, 0));
    FAILS(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream_(stream));
    OK(aclrtSynchronizeStream_(NULL)); /* the context's own */
    OK(aclrtSetCurrentContext_(first));
    OK(aclrtSynchronizeStream_(stream));
    OK(aclrtDestroyContext_(own));
    OK(aclrtDestroyStream_(stream));
}

/* --- memory ---------------------------------------------------------------------------
 */

static void test_copies(void **state)
{
    char *device = device_memory(SIZE), *pinned = host_memory(SIZE),
         *plain = malloc(SIZE);
    (void)state;
    assert_true(faults(device));
    memset(plain, 3, SIZE);
    OK(aclrtMemcpy_(device, SIZE, plain, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy_(pinned, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_memory_equal(pinned, plain, SIZE);
    FAILS(ACL_ERROR_RT_PARAM_INVALID, /* destMax */
          aclrtMemcpy_(device, SIZE - 1, plain, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, /* wrong kinds */
          aclrtMemcpy_(device, SIZE, plain, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    FAILS(ACL_ERROR_RT_PARAM_INVALID,
          aclrtMemcpy_(device, SIZE, plain, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    FAILS(ACL_ERROR_INVALID_PARAM,
          aclrtMemcpy_(device, SIZE, plain, SIZE, (aclrtMemcpyKind)9));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, /* past the end */
          aclrtMemcpy_(device + 1, SIZE, plain, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    FAILS(ACL_ERROR_INVALID_PARAM,
          aclrtMemcpy_(NULL, SIZE, plain, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy_(NULL, 0, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset_(device, SIZE, 5, 10));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset_(device, 9, 5, 10));
    OK(aclrtMemcpy_(plain, SIZE, device, SIZE, ACL_MEMCPY_DEFAULT));
    assert_true(plain[9] == 5 && plain[10] == 3);
    OK(aclrtFree_(device));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtFree_(device));
    FAILS(ACL_ERROR_RT_PARAM_INVALID,
          aclrtMemcpy_(plain, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtFreeHost_(pinned));
    free(plain);
}

static void test_asynchronous_copies(void **state)
{
    char *device = device_memory(SIZE), *host = host_memory(2 * SIZE);
    aclrtStream stream;
    aclrtStreamStatus status;
    (void)state;
    OK(aclrtCreateStream_(&stream));
    memset(host, 1, 2 * SIZE);
    OK(aclrtMemcpyAsync_(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtMemcpyAsync_(host + SIZE, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST,
                         stream));
    memset(host, 2, SIZE); /* not read yet */
    assert_int_equal(host[SIZE], 1);
    FAILS(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtMemcpyAsync_(host, SIZE, host + SIZE, 64, ACL_MEMCPY_HOST_TO_HOST, stream));
    FAILS(ACL_ERROR_RT_ADDR_UNALIGNED,
          aclrtMemcpyAsync_(device, SIZE, device + 32, 16, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            stream));
    OK(aclrtSynchronizeStream_(stream));
    assert_int_equal(host[SIZE], 2);
    OK(aclrtMemcpyAsync_(device + 64, 64, device, 64, ACL_MEMCPY_DEVICE_TO_DEVICE,
                         stream));
    OK(aclrtMemsetAsync_(device, SIZE, 9, 64, stream));
    OK(aclrtSynchronizeStreamWithTimeout_(stream, 10000));
    OK(aclrtStreamQuery_(stream, &status));
    assert_int_equal(status, ACL_STREAM_STATUS_COMPLETE);
    OK(aclrtMemcpy_(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_true(host[0] == 9 && host[64] == 2);
    OK(aclrtDestroyStream_(stream));
    OK(aclrtFree_(device));
    OK(aclrtFreeHost_(host));
}

static void test_memory_size(void **state)
{
    size_t left, total, after;
    void *memory = NULL;
    (void)state;
    OK(aclrtGetMemInfo_(ACL_HBM_MEM, &left, &total));
    assert_int_equal(total, 64 << 20);
    void *half = device_memory(40 << 20);
    OK(aclrtGetMemInfo_(ACL_HBM_MEM, &after, &total));
    assert_true(after <= left - (40 << 20));
    FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION,
          aclrtMalloc_(&memory, 40 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    assert_null(memory);
    OK(aclrtFree_(half));
    OK(aclrtGetMemInfo_(ACL_DDR_MEM, &left, &total));
    assert_int_equal(total, 0); /* there is none, which is no error */
    FAILS(ACL_ERROR_INVALID_PARAM, aclrtMalloc_(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void test_peers(void **state)
{
    int32_t can = 0;
    char *here = device_memory(64), *there;
    (void)state;
    OK(aclrtDeviceCanAccessPeer_(&can, 0, 1));
    assert_int_equal(can, 1);
    OK(aclrtSetDevice_(1));
    there = device_memory(64);
    OK(aclrtSetDevice_(0));
    FAILS(ACL_ERROR_RT_PARAM_INVALID,
          aclrtMemcpy_(there, 64, here, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtDeviceEnablePeerAccess_(1, 0));
    OK(aclrtMemcpy_(there, 64, here, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtFree_(here));
    OK(aclrtFree_(there));
}

/* --- events and host functions --------------------------------------------------------
 */

static void test_events(void **state)
{
    aclrtEvent plain, start, end;
    aclrtStream first, second;
    aclrtEventRecordedStatus status;
    float ms = -1;
    char *device = device_memory(SIZE), *host = host_memory(SIZE);
    (void)state;
    OK(aclrtCreateStream_(&first));
    OK(aclrtCreateStream_(&second));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag_(&plain, 0));
    OK(aclrtCreateEventWithFlag_(&plain, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag_(&start, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    OK(aclrtCreateEvent_(&end));
    OK(aclrtQueryEventStatus_(plain, &status));
    assert_int_equal(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    host[0] = 1;
    OK(aclrtRecordEvent_(start, first));
    OK(aclrtMemsetAsync_(device, SIZE, 6, SIZE, first));
    OK(aclrtRecordEvent_(plain, first));
    OK(aclrtRecordEvent_(end, first));
    FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime_(&ms, start, end));
    OK(aclrtStreamWaitEvent_(second, plain));
    OK(aclrtMemcpyAsync_(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, second));
    assert_int_equal(host[0], 1);
    OK(aclrtSynchronizeStream_(second));
    assert_int_equal(host[0], 6);
    OK(aclrtSynchronizeEvent_(end));
    OK(aclrtQueryEventStatus_(end, &status));
    assert_int_equal(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtEventElapsedTime_(&ms, start, end));
    assert_true(ms >= 0);
    FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, /* no ACL_EVENT_TIME_LINE */
          aclrtEventElapsedTime_(&ms, start, plain));
    OK(aclrtDestroyEvent_(plain));
    FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEvent_(plain));
    OK(aclrtDestroyEvent_(start));
    OK(aclrtDestroyEvent_(end));
    OK(aclrtDestroyStream_(first));
    OK(aclrtDestroyStream_(second));
    OK(aclrtFree_(device));
    OK(aclrtFreeHost_(host));
}

static void note_thread(void *place)
{
    *(pthread_t *)place = pthread_self();
}

static void test_host_functions(void **state)
{
    aclrtStream stream;
    pthread_t by = 0, here = pthread_self();
    (void)state;
    OK(aclrtCreateStream_(&stream));
    OK(aclrtLaunchHostFunc_(stream, note_thread, &by));
    OK(aclrtSynchronizeStream_(stream));
    assert_true(by != 0 && !pthread_equal(by, here));
    FAILS(ACL_ERROR_RT_STREAM_NO_CB_REG,
          aclrtLaunchCallback_(note_thread, &by, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtSubscribeReport_((uint64_t)here, stream));
    by = 0;
    OK(aclrtLaunchCallback_(note_thread, &by, ACL_CALLBACK_BLOCK, stream));
    FAILS(507046,
          aclrtSynchronizeStreamWithTimeout_(stream, 5)); /* it blocks the stream */
    assert_true(by == 0);
    OK(aclrtProcessReport_(10000));
    assert_true(pthread_equal(by, here)); /* in the thread that subscribed */
    OK(aclrtSynchronizeStream_(stream));
    FAILS(507012, aclrtProcessReport_(1));
    OK(aclrtUnSubscribeReport_((uint64_t)here, stream));
    OK(aclrtDestroyStream_(stream));
}

/* --- aclnn ----------------------------------------------------------------------------
 */

static aclTensor *tensor(int64_t rows, int64_t columns, aclDataType type, void *data)
{
    int64_t shape[] = {rows, columns}, strides[] = {columns, 1};
    aclTensor *made =
        aclCreateTensor_(shape, 2, type, strides, 0, ACL_FORMAT_ND, shape, 2, data);
    assert_non_null(made);
    return made;
}

static void test_add_of_float16(void **state)
{
    uint16_t *a = device_memory(64), *b = device_memory(64), host[8];
    float two = 2;
    uint64_t workspace;
    aclOpExecutor *executor;
    aclScalar *alpha = aclCreateScalar_(&two, ACL_FLOAT);
    aclTensor *x = tensor(2, 4, ACL_FLOAT16, a), *row = tensor(1, 4, ACL_FLOAT16, b);
    aclTensor *wrong = tensor(2, 4, ACL_INT32, a);
    (void)state;
    uint16_t ones[8] = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x4000, 0x4000, 0x4000, 0x7bff};
    uint16_t more[4] = {0x3c00, 0x0001, 0xc000, 0x7bff}; /* 1, 2^-24, -2, 65504 */
    OK(aclrtMemcpy_(a, 64, ones, sizeof ones, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy_(b, 64, more, sizeof more, ACL_MEMCPY_HOST_TO_DEVICE));
    FAILS(ACLNN_ERR_PARAM_NULLPTR,
          aclnnAddGetWorkspaceSize_(x, row, NULL, x, &workspace, &executor));
    FAILS(ACLNN_ERR_PARAM_INVALID,
          aclnnAddGetWorkspaceSize_(x, wrong, alpha, x, &workspace, &executor));
    FAILS(ACLNN_ERR_PARAM_INVALID,
          aclnnAddGetWorkspaceSize_(x, row, alpha, row, &workspace, &executor));
    OK(aclnnAddGetWorkspaceSize_(x, row, alpha, x, &workspace, &executor));
    OK(aclnnAdd_(NULL, workspace, executor, NULL));
    assert_true(aclnnAdd_(NULL, workspace, executor, NULL) != ACLNN_SUCCESS); /* once */
    OK(aclrtSynchronizeStream_(NULL));
    OK(aclrtMemcpy_(host, sizeof host, a, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST));
    uint16_t sums[8] = {0x4200, 0x3c00, 0xc200, 0x7c00, 0x4400, 0x4000, 0xc000, 0x7c00};
    assert_memory_equal(host, sums, sizeof sums);
    OK(aclDestroyTensor_(x));
    OK(aclDestroyTensor_(row));
    OK(aclDestroyTensor_(wrong));
    OK(aclDestroyScalar_(alpha));
    OK(aclrtFree_(a));
    OK(aclrtFree_(b));
}

static void test_maximum_of_integers(void **state)
{
    int8_t *a = device_memory(64), host[4], left[4] = {1, -5, 127, -128},
           right[4] = {0, 5, 3, 1};
    uint64_t workspace;
    aclOpExecutor *executor;
    aclTensor *x = tensor(1, 4, ACL_INT8, a), *y = tensor(1, 4, ACL_INT8, a + 4);
    aclTensor *z = tensor(1, 4, ACL_UINT16, a);
    (void)state;
    OK(aclrtMemcpy_(a, 4, left, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy_(a + 4, 4, right, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    FAILS(ACLNN_ERR_PARAM_INVALID, /* not a type of this operator */
          aclnnMaximumGetWorkspaceSize_(z, z, z, &workspace, &executor));
    OK(aclnnMaximumGetWorkspaceSize_(x, y, x, &workspace, &executor));
    OK(aclnnMaximum_(NULL, workspace, executor, NULL));
    OK(aclrtSynchronizeStream_(NULL));
    OK(aclrtMemcpy_(host, 4, a, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_true(host[0] == 1 && host[1] == 5 && host[2] == 127 && host[3] == 1);
    OK(aclDestroyTensor_(x));
    OK(aclDestroyTensor_(y));
    OK(aclDestroyTensor_(z));
    OK(aclrtFree_(a));
}

static void test_matmul(void **state)
{
    float *a = device_memory(256), host[6];
    float left[6] = {1, 2, 3, 4, 5, 6}, right[6] = {1, 0, 2, 1, 0, 1};
    int64_t shape[] = {3, 2}, transposed[] = {1, 3};
    uint64_t workspace;
    aclOpExecutor *executor;
    aclTensor *x = tensor(2, 3, ACL_FLOAT, a), *out = tensor(2, 2, ACL_FLOAT, a + 16);
    /* right is stored 2 x 3: a view turns it */
    aclTensor *y = aclCreateTensor_(shape, 2, ACL_FLOAT, transposed, 0, ACL_FORMAT_ND,
                                    shape, 2, a + 8);
    (void)state;
    OK(aclrtMemcpy_(a, 24, left, 24, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy_(a + 8, 24, right, 24, ACL_MEMCPY_HOST_TO_DEVICE));
    FAILS(ACLNN_ERR_PARAM_INVALID,
          aclnnMatmulGetWorkspaceSize_(x, x, out, 0, &workspace, &executor));
    FAILS(ACLNN_ERR_PARAM_INVALID,
          aclnnMatmulGetWorkspaceSize_(x, y, out, 5, &workspace, &executor));
    OK(aclnnMatmulGetWorkspaceSize_(x, y, out, 0, &workspace, &executor));
    assert_true(workspace > 0);
    FAILS(ACLNN_ERR_RUNTIME_ERROR, aclnnMatmul_(NULL, 0, executor, NULL));
    OK(aclnnMatmulGetWorkspaceSize_(x, y, out, 0, &workspace, &executor));
    void *scratch = device_memory(workspace);
    OK(aclnnMatmul_(scratch, workspace, executor, NULL));
    OK(aclrtSynchronizeStream_(NULL));
    OK(aclrtMemcpy_(host, 16, a + 16, 16, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_true(host[0] == 7 && host[1] == 4 && host[2] == 16 && host[3] == 10);
    OK(aclDestroyTensor_(x));
    OK(aclDestroyTensor_(y));
    OK(aclDestroyTensor_(out));
    OK(aclrtFree_(scratch));
    OK(aclrtFree_(a));
}

/* --- probing --------------------------------------------------------------------------
 */

static void test_dcmi(void **state)
{
    int cards[8], count = 0, devices = 0, logic = -1;
    struct dsmi_hbm_info_stru memory;
    struct dcmi_pcie_info_all pci;
    char address[32];
    (void)state;
    assert_true(dcmi_get_card_list_(&count, cards, 8) != 0); /* dcmi_init() comes first */
    OK(dcmi_init_());
    OK(dcmi_get_card_list_(&count, cards, 8));
    assert_int_equal(count, 1);
    assert_int_equal(cards[0], 4);
    OK(dcmi_get_device_num_in_card_(4, &devices));
    assert_int_equal(devices, 2);
    OK(dcmi_get_device_logic_id_(&logic, 4, 1));
    assert_int_equal(logic, 1);
    OK(dcmi_get_hbm_info_(4, 1, &memory));
    assert_int_equal(memory.memory_size, 64 << 10);
    OK(dcmi_get_device_pcie_info_v2_(4, 1, &pci));
    assert_int_equal(pci.bdf_busid, 0xc2);
    OK(aclrtDeviceGetPCIBusId_(1, address, sizeof address));
    assert_string_equal(address, "0000:c2:00.0");
    FAILS(-8001, dcmi_get_device_num_in_card_(0, &devices));
}

static int show(void)
{
    uint32_t count = 0;
    OK(aclInit_(NULL));
    aclError code = aclrtGetDeviceCount_(&count);
    printf("%d %u", code, count);
    for (uint32_t i = 0; i < count; i++) {
        char address[32] = "";
        OK(aclrtDeviceGetPCIBusId_((int32_t)i, address, sizeof address));
        printf(" %s", address);
    }
    printf("\n");
    return 0;
}

static void shows(const char *mask, const char *expected)
{
    char command[512], line[256] = "";
    snprintf(command, sizeof command, "ASCEND_RT_VISIBLE_DEVICES='%s' %s show", mask,
             FAKE_TEST_PROGRAM);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(line, sizeof line, output));
    assert_int_equal(pclose(output), 0);
    assert_string_equal(line, expected);
}

static void test_masks(void **state)
{
    (void)state;
    shows("1", "0 1 0000:c2:00.0\n");
    shows("0,1,8", "0 2 0000:c1:00.0 0000:c2:00.0\n"); /* the rest is dropped silently */
    shows("1, 0", "0 1 0000:c2:00.0\n");
    shows("7", "207004 0\n");
    shows("1,0", "207004 0\n");
    shows("1,1", "207004 0\n");
}

/* --- faults and loss, at the end
 * -------------------------------------------------------- */

static void test_faults(void **state)
{
    void *memory = NULL;
    size_t functions = 0;
    uint32_t count = 0;
    (void)state;
    yoke_fake_fault_("aclrtMalloc", YOKE_FAKE_ERROR, 507899, 2);
    OK(aclrtMalloc_(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree_(memory));
    memory = NULL;
    FAILS(507899, aclrtMalloc_(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    yoke_fake_fault_("aclrtMalloc", YOKE_FAKE_UNWRITTEN, 0, 1);
    OK(aclrtMalloc_(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    assert_null(memory);
    yoke_fake_fault_("aclrtGetDeviceCount", YOKE_FAKE_GARBAGE, 0, 1);
    OK(aclrtGetDeviceCount_(&count));
    assert_true(count > 1000);
    yoke_fake_fault_(NULL, YOKE_FAKE_NONE, 0, 0);
    assert_non_null(yoke_fake_functions_(&functions));
    assert_true(functions > 50);
    assert_true(yoke_fake_calls_of_("aclrtGetDeviceCount") > 0);
}

static void test_lost_device(void **state)
{
    char *device = device_memory(SIZE), *host = host_memory(SIZE);
    aclrtStream stream;
    (void)state;
    OK(aclrtCreateStream_(&stream));
    host[0] = 1;
    OK(aclrtMemsetAsync_(device, SIZE, 9, SIZE, stream));
    OK(aclrtMemcpyAsync_(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    yoke_fake_lose_(0);
    FAILS(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSynchronizeStream_(stream));
    FAILS(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtMemset_(device, SIZE, 1, 1));
    FAILS(ACL_ERROR_RT_LOST_HEARTBEAT, aclrtSetDevice_(0));
    OK(aclrtSetDevice_(1)); /* the other lives */
    yoke_fake_set_current_(0);
    assert_int_equal(host[0], 1);
    aclrtFree_(device);
    aclrtFreeHost_(host);
    aclrtDestroyStream_(stream);
    assert_int_equal(yoke_fake_alive_(), 0);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/yoke-fakes-XXXXXX";
    int file = mkstemp(path);
    FILE *text = fdopen(file, "w");
    fprintf(text, "ascend memory 64M\nascend latency 20000\nascend chips 2\n"
                  "ascend first_card 4\n");
    fclose(text);
    setenv("YOKE_FAKES", path, 1);
    load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_works_before_init),
        cmocka_unit_test(test_each_thread_has_its_device),
        cmocka_unit_test(test_stream_of_another_context),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_asynchronous_copies),
        cmocka_unit_test(test_memory_size),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_host_functions),
        cmocka_unit_test(test_add_of_float16),
        cmocka_unit_test(test_maximum_of_integers),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_dcmi),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_lost_device),
    };
    int failed = argc > 1 && strcmp(argv[1], "show") == 0
                     ? show()
                     : cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
