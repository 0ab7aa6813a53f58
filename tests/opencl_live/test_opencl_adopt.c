/* SPDX-License-Identifier: Apache-2.0 */
/* A framework's own OpenCL objects through yoke/adopt.h. */
#include "tests/opencl_live/support.h"

#include <stdio.h>
#include <string.h>

#include "backends/opencl/live.h"
#include "yoke/adopt.h"

static yoke_impl_runtime_t *runtime; /* for its entry points */

static void released(void *context, void *handle)
{
    void **seen = context;
    *seen = handle;
}

/* A framework with a context of its own, on one device. */
typedef struct framework {
    yoke_device_t *device;
    yoke_cl_context_t context;
    yoke_cl_queue_t queue;
    yoke_cl_memory_t memory;
} framework_t;

static framework_t framework_on(const char *name)
{
    framework_t own = {NULL, NULL, NULL, NULL};
    yoke_device_t *plain = NULL;
    yoke_native_t native = {.struct_size = sizeof native};
    int32_t code = 0;
    ok(yoke_device_open(name, NULL, &plain));
    ok(yoke_device_native(plain, &native));
    yoke_cl_device_t device = native.handle;
    own.context = runtime->cl.work.create_context(NULL, 1, &device, NULL, NULL, &code);
    own.queue = runtime->cl.work.create_queue(own.context, device, 0, &code);
    own.memory = runtime->cl.work.create_buffer(own.context, YOKE_CL_MEM_READ_WRITE, 4096,
                                                NULL, &code);
    assert_non_null(own.memory);
    native.context = own.context;
    ok(yoke_device_from_native("opencl", &native, NULL, &own.device));
    yoke_device_close(plain);
    return own;
}

static void end(framework_t *own)
{
    yoke_device_close(own->device);
    runtime->cl.release_memory(own->memory);
    runtime->cl.release_queue(own->queue);
    runtime->cl.release_context(own->context);
}

static void test_queue_and_buffer(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        framework_t own = framework_on(*name);
        yoke_queue_t *queue = NULL;
        yoke_buffer_t *buffer = NULL;
        yoke_native_t native = {.struct_size = sizeof native};
        uint32_t data[4] = {1, 2, 3, 4}, got[4] = {0};
        void *queue_seen = NULL, *buffer_seen = NULL;
        ok(yoke_queue_wrap(own.device, own.queue, released, &queue_seen, &queue));
        ok(yoke_buffer_wrap(own.device, YOKE_MEMORY_DEVICE, own.memory, 4096, released,
                            &buffer_seen, &buffer));
        ok(yoke_queue_native(queue, &native));
        assert_ptr_equal(native.handle, own.queue);
        assert_ptr_equal(native.context, own.context);
        ok(yoke_buffer_native(buffer, &native));
        assert_ptr_equal(native.handle, own.memory);
        /* the framework writes, we read behind it, without a fence */
        assert_int_equal(runtime->cl.work.write_buffer(own.queue, own.memory, 0, 128, 16,
                                                       data, 0, NULL, NULL),
                         0);
        ok(yoke_queue_copy(queue, yoke_span(buffer, 512), yoke_span(buffer, 128), 16));
        ok(yoke_queue_read(queue, got, yoke_span(buffer, 512), 16));
        yoke_status_t status = YOKE_ERR_NOT_READY;
        while (status == YOKE_ERR_NOT_READY)
            status = yoke_queue_query(queue);
        ok(status);
        assert_memory_equal(got, data, 16);
        /* theirs and ours together, each kind of ours */
        for (int kind = 0; kind < 2; kind++) {
            yoke_buffer_t *ours = NULL;
            uint32_t value = 40 + (uint32_t)kind;
            ok(yoke_buffer_create(own.device, (yoke_memory_kind_t)kind, 64, &ours));
            ok(yoke_queue_fill(queue, yoke_span(ours, 0), &value, 4, 64));
            ok(yoke_queue_copy(queue, yoke_span(buffer, 1024), yoke_span(ours, 0), 64));
            ok(yoke_queue_copy(queue, yoke_span(ours, 4), yoke_span(buffer, 128), 16));
            ok(yoke_queue_read(queue, got, yoke_span(buffer, 1072), 16));
            ok(yoke_queue_sync(queue));
            assert_int_equal(got[3], value);
            ok(yoke_queue_read(queue, got, yoke_span(ours, 4), 16));
            ok(yoke_queue_sync(queue));
            assert_memory_equal(got, data, 16);
            yoke_buffer_destroy(ours);
        }
        yoke_buffer_destroy(buffer);
        yoke_queue_destroy(queue);
        assert_ptr_equal(queue_seen, own.queue);
        assert_ptr_equal(buffer_seen, own.memory);
        end(&own);
    }
}

static void test_event(void **state)
{
    (void)state;
    if (support_pocl() == NULL)
        skip();
    framework_t own = framework_on(support_pocl());
    int32_t code = 0;
    yoke_cl_event_t theirs = runtime->cl.user_event(own.context, &code);
    yoke_event_t *event = NULL;
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = NULL;
    void *seen = NULL;
    uint32_t value = 77, got = 0;
    ok(yoke_event_wrap(own.device, theirs, released, &seen, &event));
    ok(yoke_queue_create(own.device, NULL, &queue));
    ok(yoke_buffer_wrap(own.device, YOKE_MEMORY_DEVICE, own.memory, 4096, NULL, NULL,
                        &buffer));
    assert_int_equal(yoke_event_query(event), YOKE_ERR_NOT_READY);
    ok(yoke_queue_wait(queue, event));
    ok(yoke_queue_fill(queue, yoke_span(buffer, 0), &value, 4, 64));
    ok(yoke_queue_read(queue, &got, yoke_span(buffer, 0), 4));
    assert_int_equal(yoke_queue_query(queue), YOKE_ERR_NOT_READY);
    assert_int_equal(runtime->cl.set_user_event(theirs, YOKE_CL_COMPLETE), 0);
    ok(yoke_queue_sync(queue));
    ok(yoke_event_query(event));
    assert_int_equal(got, 77);
    yoke_event_destroy(event);
    assert_ptr_equal(seen, theirs);
    /* still theirs, and alive */
    int32_t status = -1;
    assert_int_equal(runtime->cl.event_info(theirs, YOKE_CL_EVENT_STATUS, sizeof status,
                                            &status, NULL),
                     0);
    assert_int_equal(status, YOKE_CL_COMPLETE);
    runtime->cl.release_event(theirs);
    yoke_buffer_destroy(buffer);
    yoke_queue_destroy(queue);
    end(&own);
}

static void test_refusals(void **state)
{
    (void)state;
    if (support_pocl() == NULL)
        skip();
    framework_t own = framework_on(support_pocl());
    yoke_device_t *plain = NULL;
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = NULL;
    yoke_device_t *none = NULL;
    int32_t code = 0;
    yoke_native_t native = {.struct_size = sizeof native, .handle = &code};
    ok(yoke_device_open(support_pocl(), NULL, &plain));
    /* objects of another context */
    assert_int_equal(yoke_queue_wrap(plain, own.queue, NULL, NULL, &queue),
                     YOKE_ERR_UNREACHABLE);
    assert_int_equal(yoke_buffer_wrap(plain, YOKE_MEMORY_DEVICE, own.memory, 4096, NULL,
                                      NULL, &buffer),
                     YOKE_ERR_UNREACHABLE);
    assert_non_null(strstr(yoke_last_error(), "yoke_native_t.context"));
    /* more than there is */
    assert_int_equal(yoke_buffer_wrap(own.device, YOKE_MEMORY_DEVICE, own.memory, 4097,
                                      NULL, NULL, &buffer),
                     YOKE_ERR_OUT_OF_RANGE);
    /* a queue that is not in order */
    ok(yoke_device_native(own.device, &native));
    yoke_cl_queue_t loose = runtime->cl.work.create_queue(
        own.context, native.handle, YOKE_CL_QUEUE_OUT_OF_ORDER, &code);
    assert_non_null(loose);
    assert_int_equal(yoke_queue_wrap(own.device, loose, NULL, NULL, &queue),
                     YOKE_ERR_UNSUPPORTED);
    runtime->cl.release_queue(loose);
    /* no such device; a context without the device */
    native.handle = &code;
    assert_int_equal(yoke_device_from_native("opencl", &native, NULL, &none),
                     YOKE_ERR_NOT_FOUND);
    if (support_oclgrind() != NULL) {
        yoke_device_t *other = NULL;
        ok(yoke_device_open(support_oclgrind(), NULL, &other));
        ok(yoke_device_native(other, &native));
        native.context = own.context;
        assert_int_equal(yoke_device_from_native("opencl", &native, NULL, &none),
                         YOKE_ERR_USAGE);
        yoke_device_close(other);
    }
    yoke_device_close(plain);
    end(&own);
}

/* One device opened twice is one context: its objects meet. */
static void test_opened_twice(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *one = NULL, *two = NULL;
        yoke_queue_t *queue = NULL;
        yoke_buffer_t *x = NULL, *y = NULL;
        uint32_t data = 5, got = 0;
        ok(yoke_device_open(*name, NULL, &one));
        ok(yoke_device_open(*name, NULL, &two));
        ok(yoke_queue_create(one, NULL, &queue));
        ok(yoke_buffer_create(one, YOKE_MEMORY_DEVICE, 64, &x));
        ok(yoke_buffer_create(two, YOKE_MEMORY_DEVICE, 64, &y));
        ok(yoke_queue_write(queue, yoke_span(x, 0), &data, 4));
        ok(yoke_queue_copy(queue, yoke_span(y, 32), yoke_span(x, 0), 4));
        ok(yoke_queue_read(queue, &got, yoke_span(y, 32), 4));
        ok(yoke_queue_sync(queue));
        assert_int_equal(got, 5);
        yoke_buffer_destroy(x);
        yoke_buffer_destroy(y);
        yoke_queue_destroy(queue);
        yoke_device_close(one);
        yoke_device_close(two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_and_buffer),
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_opened_twice),
    };
    if (!support_prepare()) {
        support_clean();
        return 77;
    }
    if (yoke_opencl_ops.runtime_open(&runtime) != YOKE_OK) {
        printf("%s\n", yoke_last_error());
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    support_clean();
    return failed;
}
