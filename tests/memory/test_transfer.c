/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: data, order of both queues, gates across runtimes, bad arguments, failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "yoke/transfer.h"

#define KIB 1024u

typedef struct end {
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_buffer_t *buffer;
} end_t;

#define SIZE (1024 * KIB)

static bool open_end(const char *name, end_t *end)
{
    memset(end, 0, sizeof *end);
    if (yoke_device_open(name, NULL, &end->device) != YOKE_OK)
        return false;
    assert_int_equal(yoke_queue_create(end->device, NULL, &end->queue), YOKE_OK);
    assert_int_equal(
        yoke_buffer_create(end->device, YOKE_MEMORY_DEVICE, SIZE, &end->buffer), YOKE_OK);
    return true;
}

static void close_end(end_t *end)
{
    yoke_buffer_destroy(end->buffer);
    yoke_queue_destroy(end->queue);
    yoke_device_close(end->device);
}

static void put(end_t *end, const unsigned char *data, uint64_t size)
{
    assert_int_equal(yoke_queue_write(end->queue, yoke_span(end->buffer, 0), data, size),
                     YOKE_OK);
}

static unsigned char *random_bytes(uint64_t size, unsigned seed)
{
    unsigned char *data = malloc(size);
    assert_non_null(data);
    for (uint64_t i = 0; i < size; i++) {
        seed = seed * 1103515245u + 12345u;
        data[i] = (unsigned char)(seed >> 16);
    }
    return data;
}

static void same(end_t *end, uint64_t offset, const unsigned char *data, uint64_t size)
{
    unsigned char *read = malloc(size);
    assert_non_null(read);
    assert_int_equal(
        yoke_queue_read(end->queue, read, yoke_span(end->buffer, offset), size), YOKE_OK);
    assert_int_equal(yoke_queue_sync(end->queue), YOKE_OK);
    assert_memory_equal(read, data, size);
    free(read);
}

/* Sizes around the ends of slots, of the row of slots, and of the ring. */
static void copies(const char *from_name, const char *to_name, uint32_t flags)
{
    end_t from, to;
    if (!open_end(from_name, &from)) {
        print_message("no %s: %s\n", from_name, yoke_last_error());
        skip();
    }
    if (!open_end(to_name, &to)) {
        close_end(&from);
        skip();
    }
    yoke_transfer_options_t options = {sizeof options, flags, 3, 4 * KIB};
    yoke_transfer_t *transfer = NULL;
    assert_int_equal(yoke_transfer_create(from.device, to.device, &options, &transfer),
                     YOKE_OK);
    static const uint64_t sizes[] = {1,         4 * KIB - 1,  4 * KIB,   4 * KIB + 1,
                                     12 * KIB,  12 * KIB + 5, 255 * KIB, 256 * KIB,
                                     257 * KIB, SIZE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *data = random_bytes(sizes[i], (unsigned)i + 1);
        put(&from, data, sizes[i]);
        assert_int_equal(yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0),
                                             from.queue, yoke_span(from.buffer, 0),
                                             sizes[i]),
                         YOKE_OK);
        /* What comes later on the source's queue must not be seen. */
        assert_int_equal(
            yoke_queue_fill(from.queue, yoke_span(from.buffer, 0), "\xee", 1, sizes[i]),
            YOKE_OK);
        if ((flags & YOKE_TRANSFER_THREAD) == 0)
            assert_int_equal(yoke_transfer_wait(transfer), YOKE_OK);
        same(&to, 0, data, sizes[i]);
        free(data);
    }
    assert_int_equal(yoke_transfer_wait(transfer), YOKE_OK);
    yoke_transfer_destroy(transfer);
    close_end(&from);
    close_end(&to);
}

static void host_to_host(void **state)
{
    (void)state;
    copies("host", "host", 0);
}

static void opencl_to_host(void **state)
{
    (void)state;
    copies("opencl", "host", 0);
}

static void host_to_opencl(void **state)
{
    (void)state;
    copies("host", "opencl", 0);
}

static void with_a_thread(void **state)
{
    (void)state;
    copies("opencl", "host", YOKE_TRANSFER_THREAD);
    copies("host", "opencl", YOKE_TRANSFER_THREAD);
}

/* Several at once, without waiting between: each sees the data of its place in the
 * queues. */
static void many_under_way(void **state)
{
    (void)state;
    end_t from, to;
    if (!open_end("opencl", &from))
        skip();
    assert_true(open_end("host", &to));
    yoke_transfer_options_t options = {sizeof options, 0, 2, 4 * KIB};
    yoke_transfer_t *transfer = NULL;
    assert_int_equal(yoke_transfer_create(from.device, to.device, &options, &transfer),
                     YOKE_OK);
    uint64_t part = 5 * KIB;
    unsigned char expected[20];
    for (unsigned i = 0; i < 20; i++) {
        expected[i] = (unsigned char)(i * 7 + 1);
        assert_int_equal(
            yoke_queue_fill(from.queue, yoke_span(from.buffer, 0), &expected[i], 1, part),
            YOKE_OK);
        yoke_status_t status;
        while ((status = yoke_transfer_start(
                    transfer, to.queue, yoke_span(to.buffer, i * part), from.queue,
                    yoke_span(from.buffer, 0), part)) == YOKE_ERR_NOT_READY)
            yoke_transfer_poll(transfer);
        assert_int_equal(status, YOKE_OK);
    }
    assert_int_equal(yoke_transfer_wait(transfer), YOKE_OK);
    unsigned char *data = malloc(part);
    for (unsigned i = 0; i < 20; i++) {
        memset(data, expected[i], part);
        same(&to, i * part, data, part);
    }
    free(data);
    yoke_transfer_destroy(transfer);
    close_end(&from);
    close_end(&to);
}

/* A queue of one runtime waits for an event of another. */
static void waits_for_a_foreign_event(void **state)
{
    (void)state;
    end_t from, to;
    if (!open_end("opencl", &from))
        skip();
    assert_true(open_end("host", &to));
    yoke_transfer_t *transfer = NULL;
    yoke_event_t *event = NULL;
    assert_int_equal(yoke_transfer_create(from.device, to.device, NULL, &transfer),
                     YOKE_OK);
    assert_int_equal(yoke_event_create(from.device, 0, &event), YOKE_OK);
    for (int round = 0; round < 40; round++) { /* more than there are waiters */
        assert_int_equal(yoke_event_record(event, from.queue), YOKE_OK);
        assert_int_equal(yoke_transfer_wait_event(transfer, to.queue, event), YOKE_OK);
        assert_int_equal(yoke_transfer_wait(transfer), YOKE_OK);
        assert_int_equal(yoke_queue_query(to.queue), YOKE_OK);
    }
    yoke_event_destroy(event);
    yoke_transfer_destroy(transfer);
    close_end(&from);
    close_end(&to);
}

static void refuses(void **state)
{
    (void)state;
    end_t a, b;
    assert_true(open_end("host", &a));
    assert_true(open_end("null", &b));
    yoke_transfer_t *transfer = NULL;
    yoke_transfer_options_t options = {sizeof options, 0, 65, 0};
    assert_int_equal(yoke_transfer_create(NULL, a.device, NULL, &transfer),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_create(a.device, NULL, NULL, &transfer),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_create(a.device, a.device, NULL, NULL),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_create(a.device, a.device, &options, &transfer),
                     YOKE_ERR_USAGE);
    options = (yoke_transfer_options_t){sizeof options, 8, 0, 0};
    assert_int_equal(yoke_transfer_create(a.device, a.device, &options, &transfer),
                     YOKE_ERR_USAGE);
    options = (yoke_transfer_options_t){sizeof options, 0, 0, 100};
    assert_int_equal(yoke_transfer_create(a.device, a.device, &options, &transfer),
                     YOKE_ERR_USAGE);
    assert_null(transfer);
    assert_int_equal(yoke_transfer_create(a.device, a.device, NULL, &transfer), YOKE_OK);
    yoke_span_t span = yoke_span(a.buffer, 0);
    assert_int_equal(yoke_transfer_start(NULL, a.queue, span, a.queue, span, 1),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_start(transfer, NULL, span, a.queue, span, 1),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_start(transfer, b.queue, span, a.queue, span, 1),
                     YOKE_ERR_USAGE);
    assert_int_equal(
        yoke_transfer_start(transfer, a.queue, yoke_span(b.buffer, 0), a.queue, span, 1),
        YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_start(transfer, a.queue, span, a.queue,
                                         yoke_span(a.buffer, SIZE - 1), 2),
                     YOKE_ERR_OUT_OF_RANGE);
    assert_int_equal(yoke_transfer_start(transfer, a.queue,
                                         yoke_span(a.buffer, UINT64_MAX), a.queue, span,
                                         2),
                     YOKE_ERR_OUT_OF_RANGE);
    assert_int_equal(yoke_transfer_start(transfer, a.queue, span, a.queue, span, 0),
                     YOKE_OK);
    /* A copy that is refused leaves the transfer usable. */
    assert_int_equal(
        yoke_transfer_start(transfer, a.queue, span, a.queue, yoke_span(a.buffer, 4), 8),
        YOKE_ERR_USAGE);
    assert_int_equal(
        yoke_transfer_start(transfer, a.queue, span, a.queue, yoke_span(a.buffer, 8), 8),
        YOKE_OK);
    assert_int_equal(yoke_transfer_wait(transfer), YOKE_OK);
    assert_int_equal(yoke_transfer_poll(NULL), YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_wait(NULL), YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "yoke_transfer_wait:"));
    assert_int_equal(yoke_transfer_wait_event(NULL, a.queue, NULL), YOKE_ERR_USAGE);
    assert_int_equal(yoke_transfer_wait_event(transfer, a.queue, NULL), YOKE_ERR_USAGE);
    assert_string_equal(yoke_transfer_method(NULL), "");
    yoke_transfer_destroy(transfer);
    yoke_transfer_destroy(NULL);
    close_end(&a);
    close_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_to_host),   cmocka_unit_test(opencl_to_host),
        cmocka_unit_test(host_to_opencl), cmocka_unit_test(with_a_thread),
        cmocka_unit_test(many_under_way), cmocka_unit_test(waits_for_a_foreign_event),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
