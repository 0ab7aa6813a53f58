/* SPDX-License-Identifier: Apache-2.0 */
/* Live OpenCL devices through the public API: PoCL and Oclgrind in one process. */
#include "tests/opencl_live/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yoke/kernel.h"

static bool is_oclgrind(const char *name)
{
    return support_oclgrind() != NULL && strcmp(name, support_oclgrind()) == 0;
}

static yoke_device_t *opened(const char *name)
{
    yoke_device_t *device = NULL;
    ok(yoke_device_open(name, NULL, &device));
    return device;
}

static yoke_device_info_t info_of(yoke_device_t *device)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    ok(yoke_device_info(device, &info));
    return info;
}

static yoke_buffer_t *made(yoke_device_t *device, yoke_memory_kind_t kind, uint64_t size)
{
    yoke_buffer_t *buffer = NULL;
    ok(yoke_buffer_create(device, kind, size, &buffer));
    return buffer;
}

static yoke_queue_t *queue_on(yoke_device_t *device)
{
    yoke_queue_t *queue = NULL;
    ok(yoke_queue_create(device, NULL, &queue));
    return queue;
}

static yoke_kernel_t *kernel_of(yoke_device_t *device, const char *text, const char *name,
                                yoke_program_t **out_program)
{
    yoke_kernel_t *kernel = NULL;
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_NATIVE,
                                      .flags = YOKE_PROGRAM_NO_CACHE,
                                      .data = text,
                                      .size = strlen(text)};
    ok(yoke_program_create(device, &options, out_program));
    ok(yoke_kernel_create(*out_program, name, &kernel));
    return kernel;
}

/* --- what devices say --------------------------------------------------------------- */

static void test_info(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_device_info_t info = info_of(device);
        assert_string_equal(info.backend, "opencl");
        assert_true(strlen(info.name) > 0);
        assert_non_null(strstr(info.version, "OpenCL "));
        assert_non_null(strstr(info.library, "OpenCL"));
        assert_true(info.memory_total > 0 && info.compute_units > 0);
        assert_true(info.max_group >= 1 && info.alignment >= 1);
        assert_int_equal(info.capabilities & YOKE_CAP_EXHAUSTS, 0);
        assert_int_equal(info.kind,
                         is_oclgrind(*name) ? YOKE_DEVICE_EMULATOR : YOKE_DEVICE_CPU);
        /* Oclgrind waits for user events inside clFlush(). */
        assert_int_equal((info.capabilities & YOKE_CAP_GATE) != 0, !is_oclgrind(*name));
        if (strncmp(info.version, "Portable Computing", 18) == 0) {
            assert_string_not_equal(info.vendor, "Intel"); /* its id says so, wrongly */
            assert_int_equal(info.capabilities & YOKE_CAP_ADDRESS, 0);
            assert_true((info.capabilities & YOKE_CAP_SHARED) != 0);
        }
        yoke_device_close(device);
    }
}

static void test_limit_is_ours(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_buffer_t *first = NULL, *second = NULL;
        ok(yoke_device_limit_memory(device, 1 << 20));
        ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 900 << 10, &first));
        assert_int_equal(
            yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 900 << 10, &second),
            YOKE_ERR_DEVICE_MEMORY);
        yoke_buffer_destroy(first);
        /* more than the device has: the runtime's own refusal, or ours */
        ok(yoke_device_limit_memory(device, 0));
        assert_int_equal(
            yoke_buffer_create(device, YOKE_MEMORY_DEVICE, UINT64_C(1) << 50, &second),
            YOKE_ERR_DEVICE_MEMORY);
        yoke_device_close(device);
    }
}

/* --- copies ------------------------------------------------------------------------- */

/* Host -> a -> b -> host by every kind of memory, at uneven offsets. */
static void round_trip(yoke_device_t *device, yoke_memory_kind_t a_kind,
                       yoke_memory_kind_t b_kind)
{
    enum { SIZE = 5000, AT = 37, COUNT = 4001 };
    unsigned char *want = support_bytes(SIZE, 7), *got = calloc(1, SIZE);
    yoke_queue_t *queue = queue_on(device);
    yoke_buffer_t *a = made(device, a_kind, SIZE), *b = made(device, b_kind, SIZE);
    unsigned char zero = 0;
    ok(yoke_queue_write(queue, yoke_span(a, 0), want, SIZE));
    ok(yoke_queue_fill(queue, yoke_span(b, 0), &zero, 1, SIZE));
    ok(yoke_queue_copy(queue, yoke_span(b, AT), yoke_span(a, 11), COUNT));
    ok(yoke_queue_read(queue, got, yoke_span(b, 0), SIZE));
    ok(yoke_queue_sync(queue));
    assert_memory_equal(got + AT, want + 11, COUNT);
    for (size_t i = 0; i < SIZE; i++)
        if (i < AT || i >= AT + COUNT)
            assert_int_equal(got[i], 0);
    void *address = NULL;
    if (b_kind != YOKE_MEMORY_DEVICE) {
        ok(yoke_buffer_host_address(b, &address));
        assert_memory_equal((unsigned char *)address + AT, want + 11, COUNT);
    } else {
        assert_int_equal(yoke_buffer_host_address(b, &address), YOKE_ERR_UNSUPPORTED);
    }
    yoke_buffer_destroy(a);
    yoke_buffer_destroy(b);
    yoke_queue_destroy(queue);
    free(want);
    free(got);
}

static void test_copies(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        bool shared = (info_of(device).capabilities & YOKE_CAP_SHARED) != 0;
        for (int a = 0; a < (shared ? 3 : 2); a++)
            for (int b = 0; b < (shared ? 3 : 2); b++)
                round_trip(device, (yoke_memory_kind_t)a, (yoke_memory_kind_t)b);
        yoke_buffer_t *none = NULL;
        if (!shared)
            assert_int_equal(yoke_buffer_create(device, YOKE_MEMORY_SHARED, 64, &none),
                             YOKE_ERR_UNSUPPORTED);
        yoke_device_close(device);
    }
}

static void test_fills(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_queue_t *queue = queue_on(device);
        unsigned char got[1024], *pattern = support_bytes(16, 3);
        for (int kind = 0; kind < 2; kind++) {
            yoke_buffer_t *buffer = made(device, (yoke_memory_kind_t)kind, sizeof got);
            for (size_t size = 1; size <= 16; size *= 2) {
                unsigned char copy[16], zero = 0;
                memcpy(copy, pattern, sizeof copy);
                ok(yoke_queue_fill(queue, yoke_span(buffer, 0), &zero, 1, sizeof got));
                ok(yoke_queue_fill(queue, yoke_span(buffer, 16), copy, size, 960));
                memset(copy, 0xff,
                       sizeof copy); /* it was read before the call returned */
                ok(yoke_queue_read(queue, got, yoke_span(buffer, 0), sizeof got));
                ok(yoke_queue_sync(queue));
                for (size_t i = 0; i < sizeof got; i++)
                    assert_int_equal(got[i],
                                     i < 16 || i >= 976 ? 0 : pattern[(i - 16) % size]);
            }
            yoke_buffer_destroy(buffer);
        }
        free(pattern);
        yoke_queue_destroy(queue);
        yoke_device_close(device);
    }
}

static void test_large_copy(void **state)
{
    (void)state;
    const size_t size = (size_t)64 << 20;
    if (support_pocl() == NULL)
        skip();
    yoke_device_t *device = opened(support_pocl());
    yoke_queue_t *queue = queue_on(device);
    yoke_buffer_t *a = made(device, YOKE_MEMORY_DEVICE, size);
    yoke_buffer_t *b = made(device, YOKE_MEMORY_DEVICE, size);
    yoke_buffer_t *host = made(device, YOKE_MEMORY_HOST, size);
    unsigned char *want = support_bytes(size, 11);
    void *address = NULL;
    ok(yoke_buffer_host_address(host, &address));
    memset(address, 0, size);
    ok(yoke_queue_write(queue, yoke_span(a, 0), want, size));
    ok(yoke_queue_copy(queue, yoke_span(b, 0), yoke_span(a, 0), size));
    ok(yoke_queue_copy(queue, yoke_span(host, 0), yoke_span(b, 0), size));
    ok(yoke_queue_sync(queue));
    assert_true(memcmp(address, want, size) == 0);
    free(want);
    yoke_buffer_destroy(a);
    yoke_buffer_destroy(b);
    yoke_buffer_destroy(host);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
}

/* Buffers of two contexts do not meet; pinned memory is the host's and does. */
static void test_two_platforms(void **state)
{
    (void)state;
    if (support_pocl() == NULL || support_oclgrind() == NULL)
        skip();
    yoke_device_t *one = opened(support_pocl()), *two = opened(support_oclgrind());
    yoke_queue_t *queue_one = queue_on(one), *queue_two = queue_on(two);
    yoke_buffer_t *mine = made(one, YOKE_MEMORY_DEVICE, 256);
    yoke_buffer_t *theirs = made(two, YOKE_MEMORY_DEVICE, 256);
    yoke_buffer_t *pinned = made(two, YOKE_MEMORY_HOST, 256);
    unsigned char *want = support_bytes(256, 5), got[256];
    yoke_event_t *event = NULL;
    assert_int_equal(
        yoke_queue_copy(queue_one, yoke_span(mine, 0), yoke_span(theirs, 0), 256),
        YOKE_ERR_UNREACHABLE);
    ok(yoke_event_create(two, 0, &event));
    ok(yoke_queue_write(queue_two, yoke_span(theirs, 0), want, 256));
    ok(yoke_queue_copy(queue_two, yoke_span(pinned, 0), yoke_span(theirs, 0), 256));
    ok(yoke_event_record(event, queue_two));
    ok(yoke_queue_wait(queue_one, event)); /* an event of another platform */
    ok(yoke_queue_copy(queue_one, yoke_span(mine, 0), yoke_span(pinned, 0), 256));
    ok(yoke_queue_read(queue_one, got, yoke_span(mine, 0), 256));
    ok(yoke_queue_sync(queue_one));
    assert_memory_equal(got, want, 256);
    free(want);
    yoke_event_destroy(event);
    yoke_buffer_destroy(mine);
    yoke_buffer_destroy(theirs);
    yoke_buffer_destroy(pinned);
    yoke_queue_destroy(queue_one);
    yoke_queue_destroy(queue_two);
    yoke_device_close(one);
    yoke_device_close(two);
}

/* --- events ------------------------------------------------------------------------- */

static void test_events(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_queue_t *a = queue_on(device), *b = queue_on(device);
        yoke_buffer_t *x = made(device, YOKE_MEMORY_DEVICE, 1 << 20);
        yoke_event_t *start = NULL, *end = NULL;
        uint32_t value = 5, got = 0;
        double seconds = -1;
        ok(yoke_event_create(device, YOKE_EVENT_TIMING, &start));
        ok(yoke_event_create(device, YOKE_EVENT_TIMING, &end));
        assert_int_equal(yoke_event_query(start), YOKE_ERR_USAGE);
        for (int round = 0; round < 20; round++) {
            value++;
            ok(yoke_event_record(start, a));
            ok(yoke_queue_fill(a, yoke_span(x, 0), &value, 4, 1 << 20));
            ok(yoke_event_record(end, a));
            ok(yoke_queue_wait(b, end));
            ok(yoke_queue_read(b, &got, yoke_span(x, (1 << 20) - 4), 4));
            ok(yoke_queue_sync(b));
            assert_int_equal(got, value);
        }
        ok(yoke_event_sync(end));
        ok(yoke_event_query(end));
        ok(yoke_event_elapsed(start, end, &seconds));
        assert_true(seconds >= 0 && seconds < 100);
        ok(yoke_event_elapsed(end, start, &seconds));
        assert_true(seconds <= 0);
        /* a queue becomes idle without a sync, and says so */
        ok(yoke_queue_fill(a, yoke_span(x, 0), &value, 4, 64));
        yoke_status_t status = YOKE_ERR_NOT_READY;
        while (status == YOKE_ERR_NOT_READY)
            status = yoke_queue_query(a);
        ok(status);
        ok(yoke_queue_query(a));
        yoke_event_destroy(start);
        yoke_event_destroy(end);
        yoke_buffer_destroy(x);
        yoke_queue_destroy(a);
        yoke_queue_destroy(b);
        yoke_device_close(device);
    }
}

typedef struct seen {
    pthread_mutex_t lock;
    int calls;
    const unsigned char *data; /* what the call must already see */
    unsigned char value;
} seen_t;

static void on_host(void *context)
{
    seen_t *seen = context;
    pthread_mutex_lock(&seen->lock);
    seen->calls++;
    seen->value = *seen->data;
    pthread_mutex_unlock(&seen->lock);
}

static void test_host_calls(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_queue_t *queue = queue_on(device);
        yoke_buffer_t *host = made(device, YOKE_MEMORY_HOST, 64);
        void *address = NULL;
        ok(yoke_buffer_host_address(host, &address));
        seen_t seen = {PTHREAD_MUTEX_INITIALIZER, 0, address, 0};
        for (unsigned char i = 1; i <= 50; i++) {
            unsigned char next = (unsigned char)(i + 100);
            ok(yoke_queue_fill(queue, yoke_span(host, 0), &i, 1, 64));
            ok(yoke_queue_host_call(queue, on_host, &seen));
            ok(yoke_queue_fill(queue, yoke_span(host, 0), &next, 1, 64));
            if (i % 10 != 0)
                continue;
            ok(yoke_queue_sync(queue));
            assert_int_equal(seen.calls, i);
            assert_int_equal(seen.value, i); /* after the first fill, before the next */
        }
        yoke_buffer_destroy(host);
        yoke_queue_destroy(queue);
        yoke_device_close(device);
    }
}

/* --- kernels ------------------------------------------------------------------------ */

static const char text[] =
    "__kernel void scale(__global const float *x, __global float *y, float a, uint n)\n"
    "{ uint i = get_global_id(0); if (i < n) y[i] = a * x[i] + (float)get_group_id(1); "
    "}\n"
    "__kernel void reverse(__global uint *x, __local uint *t)\n"
    "{ uint i = get_local_id(0), n = get_local_size(0), g = get_group_id(0) * n;\n"
    "  t[i] = x[g + i]; barrier(CLK_LOCAL_MEM_FENCE); x[g + i] = t[n - 1 - i]; }\n";

static void scale_once(yoke_queue_t *queue, yoke_kernel_t *kernel, yoke_span_t x,
                       yoke_span_t y, float a, uint32_t n)
{
    const yoke_launch_t launch = {{(n + 15) / 16, 1, 1}, {16, 1, 1}};
    const yoke_argument_t arguments[] = {
        yoke_argument_span(x.buffer, x.offset), yoke_argument_span(y.buffer, y.offset),
        yoke_argument_value(&a, sizeof a), yoke_argument_value(&n, sizeof n)};
    ok(yoke_kernel_launch(queue, kernel, &launch, arguments, 4));
}

static void check_scaled(yoke_queue_t *queue, const float *x, yoke_span_t y, float a,
                         uint32_t n)
{
    float got[128];
    ok(yoke_queue_read(queue, got, y, n * sizeof *got));
    ok(yoke_queue_sync(queue));
    for (uint32_t i = 0; i < n; i++)
        assert_true(got[i] == a * x[i]);
}

/* Arguments change, stay, and name new buffers that may get an old one's address. */
static void test_launches(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_program_t *program = NULL;
        yoke_kernel_t *scale = kernel_of(device, text, "scale", &program);
        yoke_queue_t *queue = queue_on(device), *other = queue_on(device);
        uint32_t step = info_of(device).alignment > 4 ? info_of(device).alignment : 4;
        float data[100];
        for (int i = 0; i < 100; i++)
            data[i] = (float)(i - 50) * 0.25f;
        for (int kind = 0; kind < 2; kind++) {
            yoke_buffer_t *x = made(device, (yoke_memory_kind_t)kind, sizeof data);
            ok(yoke_queue_write(queue, yoke_span(x, 0), data, sizeof data));
            for (int round = 0; round < 5; round++) {
                yoke_buffer_t *y =
                    made(device, (yoke_memory_kind_t)kind, sizeof data + 4 * step);
                float a = (float)(round / 2 + 1);
                yoke_span_t at = yoke_span(y, (uint64_t)(round % 3) * step);
                scale_once(queue, scale, yoke_span(x, 0), at, a, 100);
                check_scaled(queue, data, at, a, 100);
                scale_once(queue, scale, yoke_span(x, 0), at, a, 100); /* unchanged */
                scale_once(queue, scale, yoke_span(x, 0), at, a + 1, 100);
                check_scaled(queue, data, at, a + 1, 100);
                scale_once(other, scale, yoke_span(x, 0), at, a, 100);
                check_scaled(other, data, at, a, 100);
                yoke_buffer_destroy(y);
            }
            yoke_buffer_destroy(x);
        }
        yoke_kernel_destroy(scale);
        yoke_program_destroy(program);
        yoke_queue_destroy(queue);
        yoke_queue_destroy(other);
        yoke_device_close(device);
    }
}

static void test_local_memory(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_program_t *program = NULL;
        yoke_kernel_t *reverse = kernel_of(device, text, "reverse", &program);
        yoke_queue_t *queue = queue_on(device);
        yoke_buffer_t *x = made(device, YOKE_MEMORY_DEVICE, 64 * 4);
        uint32_t data[64];
        for (uint32_t local = 4; local <= 32; local *= 2) {
            const yoke_launch_t launch = {{64 / local, 1, 1}, {local, 1, 1}};
            const yoke_argument_t arguments[] = {yoke_argument_span(x, 0),
                                                 yoke_argument_local(local * 4)};
            for (uint32_t i = 0; i < 64; i++)
                data[i] = i;
            ok(yoke_queue_write(queue, yoke_span(x, 0), data, sizeof data));
            ok(yoke_kernel_launch(queue, reverse, &launch, arguments, 2));
            ok(yoke_queue_read(queue, data, yoke_span(x, 0), sizeof data));
            ok(yoke_queue_sync(queue));
            for (uint32_t i = 0; i < 64; i++)
                assert_int_equal(data[i], i / local * local + local - 1 - i % local);
        }
        yoke_buffer_destroy(x);
        yoke_kernel_destroy(reverse);
        yoke_program_destroy(program);
        yoke_queue_destroy(queue);
        yoke_device_close(device);
    }
}

/* More offsets than a buffer keeps parts for: a prepared launch has its own then. */
static void test_prepared(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_program_t *program = NULL;
        yoke_kernel_t *scale = kernel_of(device, text, "scale", &program);
        yoke_queue_t *queue = queue_on(device);
        uint64_t step = info_of(device).alignment > 4 ? info_of(device).alignment : 4;
        enum { COUNT = 150 };
        const yoke_launch_t launch = {{1, 1, 1}, {4, 1, 1}};
        float data[4] = {1, 2, 3, 4}, a = 2, *all = calloc(1, COUNT * step + sizeof data);
        uint32_t n = 4;
        yoke_buffer_t *x = made(device, YOKE_MEMORY_DEVICE, sizeof data);
        yoke_buffer_t *y = made(device, YOKE_MEMORY_DEVICE, COUNT * step + sizeof data);
        yoke_prepared_launch_t *prepared = NULL, *last = NULL, *none = NULL;
        assert_non_null(all);
        yoke_argument_t arguments[] = {yoke_argument_span(x, 0), yoke_argument_span(y, 0),
                                       yoke_argument_value(&a, sizeof a),
                                       yoke_argument_value(&n, sizeof n)};
        ok(yoke_queue_write(queue, yoke_span(x, 0), data, sizeof data));
        ok(yoke_prepared_launch_create(scale, &launch, arguments, 4, &prepared));
        for (uint64_t i = 0; i < COUNT; i++) {
            yoke_argument_t at = yoke_argument_span(y, i * step);
            ok(yoke_prepared_launch_set_argument(prepared, 1, &at));
            ok(yoke_queue_launch_prepared(queue, prepared));
        }
        arguments[1] = yoke_argument_span(y, COUNT * step);
        ok(yoke_prepared_launch_create(scale, &launch, arguments, 4, &last));
        ok(yoke_queue_launch_prepared(queue, last));
        ok(yoke_queue_read(queue, all, yoke_span(y, 0), COUNT * step + sizeof data));
        ok(yoke_queue_sync(queue));
        for (uint64_t i = 0; i <= COUNT; i++)
            assert_true(all[i * step / 4] == 2);
        for (int i = 0; i < 4; i++)
            assert_true(all[COUNT * step / 4 + (size_t)i] == 2 * data[i]);
        /* What the runtime alone can tell. */
        assert_int_equal(yoke_prepared_launch_create(scale, &launch, arguments, 3, &none),
                         YOKE_ERR_USAGE);
        arguments[3].size = 2;
        assert_int_equal(yoke_prepared_launch_create(scale, &launch, arguments, 4, &none),
                         YOKE_ERR_USAGE);
        assert_null(none);
        yoke_prepared_launch_destroy(last);
        yoke_prepared_launch_destroy(prepared);
        yoke_buffer_destroy(x);
        yoke_buffer_destroy(y);
        yoke_kernel_destroy(scale);
        yoke_program_destroy(program);
        yoke_queue_destroy(queue);
        yoke_device_close(device);
        free(all);
    }
}

static void test_bad_launches(void **state)
{
    (void)state;
    const char *name = support_pocl();
    if (name == NULL)
        skip();
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    options.layers = 0; /* the runtime's own answers, not the layer's */
    ok(yoke_device_open(name, &options, &device));
    if (info_of(device).alignment == 1) { /* addresses: nothing to misalign */
        yoke_device_close(device);
        skip();
    }
    yoke_program_t *program = NULL;
    yoke_kernel_t *reverse = kernel_of(device, text, "reverse", &program), *none = NULL;
    yoke_queue_t *queue = queue_on(device);
    yoke_buffer_t *x = made(device, YOKE_MEMORY_DEVICE, 4096);
    const yoke_launch_t launch = {{1, 1, 1}, {4, 1, 1}},
                        huge = {{1, 1, 1}, {65536, 1, 1}};
    yoke_argument_t arguments[] = {yoke_argument_span(x, 4), yoke_argument_local(16)};
    assert_int_equal(yoke_kernel_launch(queue, reverse, &launch, arguments, 2),
                     YOKE_ERR_OUT_OF_RANGE); /* offset 4, alignment 128 */
    assert_non_null(strstr(yoke_last_error(), "CL_MISALIGNED_SUB_BUFFER_OFFSET"));
    arguments[0].span.offset = 4096;
    assert_int_equal(yoke_kernel_launch(queue, reverse, &launch, arguments, 2),
                     YOKE_ERR_OUT_OF_RANGE);
    arguments[0].span.offset = 0;
    assert_int_equal(yoke_kernel_launch(queue, reverse, &huge, arguments, 2),
                     YOKE_ERR_OUT_OF_RANGE);
    assert_int_equal(yoke_kernel_launch(queue, reverse, &launch, arguments, 1),
                     YOKE_ERR_USAGE);
    ok(yoke_kernel_launch(queue, reverse, &launch, arguments, 2));
    ok(yoke_queue_sync(queue));
    assert_int_equal(yoke_kernel_create(program, "nothing", &none), YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "CL_INVALID_KERNEL_NAME"));
    yoke_buffer_destroy(x);
    yoke_kernel_destroy(reverse);
    yoke_program_destroy(program);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
}

static void test_programs(void **state)
{
    (void)state;
    for (const char *const *name = support_devices(); *name != NULL; name++) {
        yoke_device_t *device = opened(*name);
        yoke_program_t *program = NULL, *again = NULL;
        static const char wrong[] = "__kernel void f(void) { no such thing; }";
        yoke_program_options_t options = {.struct_size = sizeof options,
                                          .format = YOKE_PROGRAM_NATIVE,
                                          .flags = YOKE_PROGRAM_NO_CACHE,
                                          .data = wrong,
                                          .size = sizeof wrong - 1};
        assert_int_equal(yoke_program_create(device, &options, &program),
                         YOKE_ERR_BAD_INPUT);
        assert_true(strlen(yoke_program_log()) > 0);
        options.data = text;
        options.size = sizeof text - 1;
        ok(yoke_program_create(device, &options, &program));
        ok(yoke_program_binary(program, &options.data, &options.size));
        assert_true(options.size > 0);
        options.format = YOKE_PROGRAM_BINARY;
        ok(yoke_program_create(device, &options, &again));
        yoke_kernel_t *kernel = NULL;
        ok(yoke_kernel_create(again, "scale", &kernel));
        yoke_queue_t *queue = queue_on(device);
        yoke_buffer_t *x = made(device, YOKE_MEMORY_DEVICE, 256);
        const float data[4] = {1, 2, 3, 4};
        ok(yoke_queue_write(queue, yoke_span(x, 0), data, sizeof data));
        scale_once(queue, kernel, yoke_span(x, 0), yoke_span(x, 0), 3, 4);
        check_scaled(queue, data, yoke_span(x, 0), 3, 4);
        options.data = "rubbish, not a binary";
        options.size = 21;
        yoke_program_t *bad = NULL;
        if (!is_oclgrind(*name)) /* it ends the process: a fatal error inside LLVM */
            assert_int_equal(yoke_program_create(device, &options, &bad),
                             YOKE_ERR_BAD_INPUT);
        yoke_buffer_destroy(x);
        yoke_queue_destroy(queue);
        yoke_kernel_destroy(kernel);
        yoke_program_destroy(again);
        yoke_program_destroy(program);
        yoke_device_close(device);
    }
}

/* --- threads ------------------------------------------------------------------------ */

typedef struct worker {
    yoke_device_t *device;
    yoke_program_t *program;
    yoke_buffer_t *shared; /* read by all, at the same offset */
    float a;
    int wrong;
} worker_t;

static void *work(void *argument)
{
    worker_t *worker = argument;
    yoke_queue_t *queue = NULL;
    yoke_kernel_t *kernel = NULL;
    yoke_buffer_t *y = NULL;
    float got[100];
    yoke_device_info_t info = {.struct_size = sizeof info};
    if (yoke_device_info(worker->device, &info) != YOKE_OK ||
        yoke_queue_create(worker->device, NULL, &queue) != YOKE_OK ||
        yoke_kernel_create(worker->program, "scale", &kernel) != YOKE_OK ||
        yoke_buffer_create(worker->device, YOKE_MEMORY_DEVICE, 400, &y) != YOKE_OK) {
        worker->wrong = 1;
        return NULL;
    }
    for (int round = 0; round < 30; round++) {
        uint32_t n = 100, step = info.alignment < 4 ? 4 : info.alignment;
        uint64_t offset = (uint64_t)(round % 12) * step;
        const yoke_launch_t launch = {{7, 1, 1}, {16, 1, 1}};
        const yoke_argument_t arguments[] = {
            yoke_argument_span(worker->shared, offset), yoke_argument_span(y, 0),
            yoke_argument_value(&worker->a, 4), yoke_argument_value(&n, 4)};
        if (yoke_kernel_launch(queue, kernel, &launch, arguments, 4) != YOKE_OK ||
            yoke_queue_read(queue, got, yoke_span(y, 0), 400) != YOKE_OK ||
            yoke_queue_sync(queue) != YOKE_OK)
            worker->wrong++;
        for (uint32_t i = 0; i < n; i++)
            worker->wrong += got[i] != worker->a * (float)(offset / 4 + i);
    }
    yoke_buffer_destroy(y);
    yoke_kernel_destroy(kernel);
    yoke_queue_destroy(queue);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { COUNT = 4096, THREADS = 4 };
    if (support_pocl() == NULL)
        skip();
    yoke_device_t *device = opened(support_pocl());
    yoke_program_t *program = NULL;
    yoke_kernel_t *kernel = kernel_of(device, text, "scale", &program);
    yoke_buffer_t *shared = made(device, YOKE_MEMORY_DEVICE, COUNT * 4);
    yoke_queue_t *queue = queue_on(device);
    float *data = malloc(COUNT * sizeof *data);
    pthread_t threads[THREADS];
    worker_t workers[THREADS];
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)i;
    ok(yoke_queue_write(queue, yoke_span(shared, 0), data, COUNT * 4));
    ok(yoke_queue_sync(queue));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker_t){device, program, shared, (float)(i + 2), 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    free(data);
    yoke_kernel_destroy(kernel);
    yoke_program_destroy(program);
    yoke_buffer_destroy(shared);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),       cmocka_unit_test(test_limit_is_ours),
        cmocka_unit_test(test_copies),     cmocka_unit_test(test_fills),
        cmocka_unit_test(test_large_copy), cmocka_unit_test(test_two_platforms),
        cmocka_unit_test(test_events),     cmocka_unit_test(test_host_calls),
        cmocka_unit_test(test_launches),   cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_prepared),   cmocka_unit_test(test_bad_launches),
        cmocka_unit_test(test_programs),   cmocka_unit_test(test_threads),
    };
    if (!support_prepare()) {
        support_clean();
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    support_clean();
    return failed;
}
