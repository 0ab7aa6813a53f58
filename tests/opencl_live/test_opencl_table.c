/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the OpenCL backend: what the public API does not show. */
#include "tests/opencl_live/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/opencl/live.h"
#include "yoke/buffer.h"

#define OPS (&yoke_opencl_ops)

static yoke_impl_runtime_t *runtime; /* a second one, beside the core's */

static yoke_impl_device_t *opened(const char *name)
{
    yoke_impl_device_t *device = NULL;
    ok(OPS->device_open(runtime, (uint32_t)atoi(strchr(name, ':') + 1), NULL, &device));
    return device;
}

/* What a launch finds behind a span: the first field is all it reads. */
typedef struct handle {
    yoke_impl_buffer_t *impl;
} handle_t;

static yoke_argument_t span_of(handle_t *handle, uint64_t offset)
{
    return yoke_argument_span((yoke_buffer_t *)(void *)handle, offset);
}

static yoke_impl_span_t at(yoke_impl_buffer_t *buffer, uint64_t offset)
{
    yoke_impl_span_t span = {buffer, offset};
    return span;
}

static yoke_impl_program_t *program_of(yoke_impl_device_t *device, const char *text)
{
    yoke_impl_program_t *program = NULL;
    const yoke_impl_program_source_t source = {text, strlen(text), "test", "", false};
    ok(OPS->program_create(device, &source, NULL, NULL, &program));
    return program;
}

static const char add_text[] =
    "__kernel void add(__global uint *x, uint a) { x[get_global_id(0)] += a; }";

/* --- gates -------------------------------------------------------------------------- */

typedef struct opener {
    yoke_impl_gate_t *gate;
    _Atomic int about;
} opener_t;

static void *open_later(void *argument)
{
    opener_t *opener = argument;
    usleep(20000);
    atomic_store(&opener->about, 1);
    if (OPS->gate_open(opener->gate) != YOKE_OK)
        atomic_store(&opener->about, 2);
    return NULL;
}

static void test_gates(void **state)
{
    (void)state;
    if (support_pocl() == NULL)
        skip();
    yoke_impl_device_t *device = opened(support_pocl());
    yoke_impl_queue_t *held = NULL, *free_queue = NULL;
    yoke_impl_buffer_t *x = NULL;
    yoke_impl_event_t *event = NULL;
    yoke_impl_gate_t *gate = NULL;
    uint32_t got = 0;
    ok(OPS->queue_create(device, 0, &held));
    ok(OPS->queue_create(device, 0, &free_queue));
    ok(OPS->buffer_create(device, YOKE_MEMORY_DEVICE, 64, &x));
    ok(OPS->event_create(device, 0, &event));
    ok(OPS->gate_create(device, &gate));
    for (uint32_t round = 1; round <= 20; round++) {
        opener_t opener = {.gate = gate};
        pthread_t thread;
        uint32_t before = 1000 + round, after = 2000 + round;
        ok(OPS->fill(held, at(x, 0), &before, 4, 64));
        ok(OPS->queue_sync(held));
        ok(OPS->gate_wait(held, gate));
        ok(OPS->fill(held, at(x, 0), &after, 4, 64));
        ok(OPS->event_record(event, held));
        /* another queue is not held */
        ok(OPS->read(free_queue, &got, at(x, 0), 4));
        ok(OPS->queue_sync(free_queue));
        assert_int_equal(got, before);
        assert_int_equal(OPS->event_query(event), YOKE_ERR_NOT_READY);
        assert_int_equal(OPS->queue_query(held), YOKE_ERR_NOT_READY);
        if (round % 2 == 0) {
            atomic_store(&opener.about, 1);
            ok(OPS->gate_open(gate));
        } else {
            assert_int_equal(pthread_create(&thread, NULL, open_later, &opener), 0);
        }
        /* no sync: the queue goes on by itself, somebody polls the event */
        yoke_status_t status = YOKE_ERR_NOT_READY;
        while (status == YOKE_ERR_NOT_READY)
            status = OPS->event_query(event);
        ok(status);
        assert_int_equal(atomic_load(&opener.about), 1);
        if (round % 2 != 0)
            pthread_join(thread, NULL);
        ok(OPS->read(free_queue, &got, at(x, 60), 4));
        ok(OPS->queue_sync(free_queue));
        assert_int_equal(got, after);
        ok(OPS->gate_reset(gate));
    }
    /* a gate that nobody opened lets its queue go when it ends */
    ok(OPS->gate_wait(held, gate));
    OPS->gate_destroy(gate);
    ok(OPS->queue_sync(held));
    OPS->event_destroy(event);
    OPS->buffer_destroy(x);
    OPS->queue_destroy(held);
    OPS->queue_destroy(free_queue);
    OPS->device_close(device);
}

/* The first event with times on a queue that is held: its order stays, the handle that
 * was shown too. */
static void test_times_come_later(void **state)
{
    (void)state;
    if (support_pocl() == NULL)
        skip();
    yoke_impl_device_t *device = opened(support_pocl());
    yoke_impl_queue_t *queue = NULL, *other = NULL;
    yoke_impl_buffer_t *x = NULL;
    yoke_impl_event_t *start = NULL, *end = NULL;
    yoke_impl_gate_t *gate = NULL;
    uint32_t one = 1, two = 2, got = 0;
    double seconds = -1;
    ok(OPS->queue_create(device, 0, &queue));
    ok(OPS->queue_create(device, 0, &other));
    ok(OPS->buffer_create(device, YOKE_MEMORY_DEVICE, 1 << 20, &x));
    ok(OPS->event_create(device, YOKE_EVENT_TIMING, &start));
    ok(OPS->event_create(device, YOKE_EVENT_TIMING, &end));
    ok(OPS->gate_create(device, &gate));
    ok(OPS->fill(queue, at(x, 0), &one, 4, 1 << 20));
    ok(OPS->gate_wait(queue, gate));
    ok(OPS->event_record(start, queue));
    void *native = OPS->queue_native(queue);
    ok(OPS->fill(queue, at(x, 0), &two, 4, 1 << 20));
    ok(OPS->event_record(end, queue));
    assert_int_equal(OPS->event_query(start), YOKE_ERR_NOT_READY);
    assert_int_equal(OPS->event_elapsed(start, end, &seconds), YOKE_ERR_NOT_READY);
    ok(OPS->gate_open(gate));
    ok(OPS->read(queue, &got, at(x, 4096), 4));
    ok(OPS->queue_sync(queue));
    assert_int_equal(got, 2);
    ok(OPS->event_elapsed(start, end, &seconds));
    assert_true(seconds > 0);
    assert_ptr_equal(OPS->queue_native(queue), native);
    /* a handle that was shown first stays when times come */
    native = OPS->queue_native(other);
    ok(OPS->event_record(start, other));
    assert_ptr_equal(OPS->queue_native(other), native);
    ok(OPS->event_sync(start));
    ok(OPS->event_elapsed(end, start, &seconds));
    OPS->gate_destroy(gate);
    OPS->event_destroy(start);
    OPS->event_destroy(end);
    OPS->buffer_destroy(x);
    OPS->queue_destroy(queue);
    OPS->queue_destroy(other);
    OPS->device_close(device);
}

static void test_gates_of_oclgrind(void **state)
{
    (void)state;
    if (support_oclgrind() == NULL)
        skip();
    yoke_impl_device_t *device = opened(support_oclgrind());
    yoke_impl_gate_t *gate = NULL;
    assert_int_equal(OPS->gate_create(device, &gate), YOKE_ERR_UNSUPPORTED);
    OPS->device_close(device);
}

/* --- old platforms ------------------------------------------------------------------ */

static int newer_calls;

static void *no_alloc(yoke_cl_context_t context, uint64_t flags, size_t size,
                      uint32_t alignment)
{
    (void)context, (void)flags, (void)size, (void)alignment;
    newer_calls++;
    return NULL;
}

static int32_t no_argument(yoke_cl_kernel_t kernel, uint32_t index, const void *value)
{
    (void)kernel, (void)index, (void)value;
    newer_calls++;
    return -59;
}

static int32_t no_copy(yoke_cl_queue_t queue, uint32_t blocking, void *dst,
                       const void *src, size_t size, uint32_t count,
                       yoke_ocl_events_t events, yoke_cl_event_t *event)
{
    (void)queue, (void)blocking, (void)dst, (void)src, (void)size;
    (void)count, (void)events, (void)event;
    newer_calls++;
    return -59;
}

static int32_t no_fill(yoke_cl_queue_t queue, void *dst, const void *pattern,
                       size_t pattern_size, size_t size, uint32_t count,
                       yoke_ocl_events_t events, yoke_cl_event_t *event)
{
    (void)queue, (void)dst, (void)pattern, (void)pattern_size, (void)size;
    (void)count, (void)events, (void)event;
    newer_calls++;
    return -59;
}

static yoke_cl_queue_t no_queue(yoke_cl_context_t context, yoke_cl_device_t device,
                                const uint64_t *properties, int32_t *code)
{
    (void)context, (void)device, (void)properties;
    newer_calls++;
    *code = -59;
    return NULL;
}

static yoke_cl_program_t no_il(yoke_cl_context_t context, const void *data, size_t size,
                               int32_t *code)
{
    (void)context, (void)data, (void)size;
    newer_calls++;
    *code = -59;
    return NULL;
}

/* Everything once, with every kind of memory that the device has. */
static void use_all(yoke_impl_device_t *device)
{
    yoke_impl_queue_t *queue = NULL;
    yoke_impl_program_t *program = program_of(device, add_text);
    yoke_impl_kernel_t *kernel = NULL;
    yoke_impl_event_t *event = NULL;
    uint32_t data[32], one = 1, pattern[4] = {7, 8, 9, 10};
    ok(OPS->queue_create(device, -1, &queue));
    ok(OPS->kernel_create(program, "add", &kernel));
    ok(OPS->event_create(device, YOKE_EVENT_TIMING, &event));
    for (uint32_t kind = 0; kind < 2; kind++) {
        handle_t x = {NULL};
        yoke_impl_buffer_t *y = NULL;
        const yoke_launch_t launch = {{4, 1, 1}, {8, 1, 1}};
        ok(OPS->buffer_create(device, kind, sizeof data, &x.impl));
        ok(OPS->buffer_create(device, kind, sizeof data, &y));
        const yoke_argument_t arguments[] = {span_of(&x, 0),
                                             yoke_argument_value(&one, 4)};
        ok(OPS->fill(queue, at(x.impl, 0), pattern, 16, sizeof data));
        ok(OPS->event_record(event, queue));
        ok(OPS->queue_wait(queue, event));
        ok(OPS->launch(queue, kernel, &launch, arguments, 2));
        ok(OPS->copy(queue, at(y, 0), at(x.impl, 0), sizeof data));
        ok(OPS->read(queue, data, at(y, 0), sizeof data));
        ok(OPS->queue_sync(queue));
        ok(OPS->event_query(event));
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(data[i], 8 + i % 4);
        OPS->buffer_destroy(x.impl);
        OPS->buffer_destroy(y);
    }
    yoke_impl_program_t *none = NULL;
    const uint32_t spirv[] = {0x07230203, 0x10000, 0, 1, 0};
    const yoke_impl_program_source_t source = {spirv, sizeof spirv, "il", "", true};
    if (!device->slot->il)
        assert_int_equal(OPS->program_create(device, &source, NULL, NULL, &none),
                         YOKE_ERR_UNSUPPORTED);
    OPS->event_destroy(event);
    OPS->kernel_destroy(kernel);
    OPS->program_destroy(program);
    OPS->queue_destroy(queue);
}

/* Oclgrind's own functions of OpenCL 2.0 never return; these say that they were called.
 */
static void test_no_newer_calls(void **state)
{
    (void)state;
    if (support_oclgrind() == NULL)
        skip();
    yoke_ocl_live_t kept = runtime->cl;
    runtime->cl.svm_alloc = no_alloc;
    runtime->cl.svm_argument = no_argument;
    runtime->cl.svm_copy = no_copy;
    runtime->cl.svm_fill = no_fill;
    runtime->cl.queue_2_0 = no_queue;
    runtime->cl.create_il = no_il;
    yoke_impl_device_t *device = opened(support_oclgrind());
    assert_int_equal(device->slot->version, YOKE_CL_VERSION(1, 2));
    use_all(device);
    OPS->device_close(device);
    runtime->cl = kept;
    assert_int_equal(newer_calls, 0);
}

/* The ways of OpenCL 1.1, on Oclgrind (PoCL aborts in clEnqueueWaitForEvents). */
static void test_version_1_1(void **state)
{
    (void)state;
    if (support_oclgrind() == NULL)
        skip();
    yoke_impl_device_t *device = opened(support_oclgrind());
    uint32_t version = device->slot->version;
    unsigned char got[20000], pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    yoke_impl_queue_t *queue = NULL;
    yoke_impl_buffer_t *x = NULL;
    device->slot->version = YOKE_CL_VERSION(1, 1);
    ok(OPS->queue_create(device, 0, &queue));
    ok(OPS->buffer_create(device, YOKE_MEMORY_DEVICE, sizeof got, &x));
    ok(OPS->fill(queue, at(x, 8), pattern, 8, sizeof got - 16));
    ok(OPS->read(queue, got, at(x, 0), sizeof got));
    ok(OPS->queue_sync(queue));
    for (size_t i = 8; i < sizeof got - 8; i++)
        assert_int_equal(got[i], pattern[i % 8]);
    OPS->buffer_destroy(x);
    OPS->queue_destroy(queue);
    use_all(device);
    device->slot->version = version;
    OPS->device_close(device);
}

/* --- parts of buffers --------------------------------------------------------------- */

/* More offsets than are kept. */
static void test_many_offsets(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_impl_device_t *device = opened(*name);
        yoke_impl_queue_t *queue = NULL;
        yoke_impl_program_t *program = program_of(device, add_text);
        yoke_impl_kernel_t *kernel = NULL;
        handle_t x = {NULL};
        uint32_t step = device->slot->info.alignment, zero = 0;
        step = step < 4 ? 4 : step;
        uint32_t *got = malloc((size_t)COUNT * step);
        const yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
        ok(OPS->queue_create(device, 0, &queue));
        ok(OPS->kernel_create(program, "add", &kernel));
        ok(OPS->buffer_create(device, YOKE_MEMORY_DEVICE, (uint64_t)COUNT * step,
                              &x.impl));
        ok(OPS->fill(queue, at(x.impl, 0), &zero, 4, (uint64_t)COUNT * step));
        for (uint32_t i = 0; i < 2 * COUNT; i++) {
            uint32_t value = 1 + i % COUNT;
            const yoke_argument_t arguments[] = {
                span_of(&x, (uint64_t)(i % COUNT) * step),
                yoke_argument_value(&value, 4)};
            ok(OPS->launch(queue, kernel, &launch, arguments, 2));
        }
        ok(OPS->read(queue, got, at(x.impl, 0), (uint64_t)COUNT * step));
        ok(OPS->queue_sync(queue));
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(got[i * step / 4], 2 * (1 + i));
        free(got);
        OPS->buffer_destroy(x.impl);
        OPS->kernel_destroy(kernel);
        OPS->program_destroy(program);
        OPS->queue_destroy(queue);
        OPS->device_close(device);
    }
}

/* --- two contexts of one device ----------------------------------------------------- */

static void test_event_of_another_context(void **state)
{
    (void)state;
    if (support_pocl() == NULL)
        skip();
    uint32_t ordinal = (uint32_t)atoi(strchr(support_pocl(), ':') + 1);
    yoke_impl_device_t *one = opened(support_pocl()), *two = NULL;
    int32_t code = 0;
    yoke_cl_context_t context =
        runtime->cl.work.create_context(NULL, 1, &one->slot->device, NULL, NULL, &code);
    assert_non_null(context);
    const yoke_native_t native = {sizeof native, one->slot->device, context};
    ok(OPS->device_open(runtime, ordinal, &native, &two));
    yoke_impl_queue_t *a = NULL, *b = NULL;
    yoke_impl_buffer_t *pinned = NULL, *x = NULL;
    yoke_impl_event_t *event = NULL;
    yoke_impl_gate_t *gate = NULL;
    ok(OPS->queue_create(one, 0, &a));
    ok(OPS->queue_create(two, 0, &b));
    ok(OPS->buffer_create(one, YOKE_MEMORY_HOST, 64, &pinned));
    ok(OPS->buffer_create(two, YOKE_MEMORY_DEVICE, 64, &x));
    ok(OPS->event_create(one, 0, &event));
    ok(OPS->gate_create(one, &gate));
    assert_int_equal(OPS->copy(a, at(x, 0), at(pinned, 0), 64), YOKE_ERR_UNREACHABLE);
    for (uint32_t round = 1; round <= 30; round++) {
        uint32_t got = 0;
        ok(OPS->gate_wait(a, gate));
        ok(OPS->fill(a, at(pinned, 0), &round, 4, 64));
        ok(OPS->event_record(event, a));
        ok(OPS->queue_wait(b, event));
        ok(OPS->copy(b, at(x, 0), at(pinned, 0), 64));
        ok(OPS->read(b, &got, at(x, 60), 4));
        assert_int_equal(OPS->queue_query(b), YOKE_ERR_NOT_READY);
        ok(OPS->gate_open(gate));
        ok(OPS->queue_sync(b));
        assert_int_equal(got, round);
        ok(OPS->queue_sync(a));
        ok(OPS->gate_reset(gate));
    }
    OPS->gate_destroy(gate);
    OPS->event_destroy(event);
    OPS->buffer_destroy(pinned);
    OPS->buffer_destroy(x);
    OPS->queue_destroy(a);
    OPS->queue_destroy(b);
    OPS->device_close(two);
    OPS->device_close(one);
    runtime->cl.release_context(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_times_come_later),
        cmocka_unit_test(test_gates_of_oclgrind),
        cmocka_unit_test(test_no_newer_calls),
        cmocka_unit_test(test_version_1_1),
        cmocka_unit_test(test_many_offsets),
        cmocka_unit_test(test_event_of_another_context),
    };
    if (!support_prepare()) {
        support_clean();
        return 77;
    }
    if (OPS->runtime_open(&runtime) != YOKE_OK) {
        printf("%s\n", yoke_last_error());
        return 1;
    }
    alarm(200); /* a wait that never ends is a failure, not a hang */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    support_clean();
    return failed;
}
