/* SPDX-License-Identifier: Apache-2.0 */
/* Events: record, wait, query, sync, time between two, recorded again, between queues. */
#include "hal/cts/case.h"

#include <math.h>

enum { SIZE = 1 << 20 };

/* A queue, a device buffer, and host memory that a read fills. */
typedef struct bench {
    yoke_queue_t *queue, *other;
    yoke_buffer_t *buffer, *second;
    unsigned char *memory, *expected;
} bench_t;

static bench_t make_bench(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t);
    bench_t bench = {yoke_cts_queue(t, device),        yoke_cts_queue(t, device),
                     yoke_cts_buffer(t, device, SIZE), yoke_cts_buffer(t, device, SIZE),
                     yoke_cts_memory(t, SIZE),         yoke_cts_memory(t, SIZE)};
    return bench;
}

/* Work whose end can be seen in bench->memory without another call. */
static void enqueue(yoke_cts_t *t, bench_t *bench, yoke_queue_t *queue,
                    unsigned char value)
{
    OK(t, yoke_queue_fill(queue, yoke_span(bench->buffer, 0), &value, 1, SIZE));
    OK(t, yoke_queue_read(queue, bench->memory, yoke_span(bench->buffer, 0), SIZE));
    memset(bench->expected, value, SIZE);
}

static void check(yoke_cts_t *t, const bench_t *bench)
{
    BYTES(t, "read before the event", bench->expected, bench->memory, SIZE);
}

static void sync_means_done(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    for (unsigned char i = 1; i < 8; i++) {
        enqueue(t, &bench, bench.queue, i);
        OK(t, yoke_event_record(event, bench.queue));
        OK(t, yoke_event_sync(event));
        check(t, &bench);
    }
}

static void query_means_done(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    for (unsigned char i = 1; i < 8; i++) {
        yoke_status_t status;
        enqueue(t, &bench, bench.queue, i);
        OK(t, yoke_event_record(event, bench.queue));
        do {
            status = yoke_event_query(event);
        } while (status == YOKE_ERR_NOT_READY);
        OK(t, status);
        check(t, &bench);
    }
}

static void reached_after_queue_sync(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    enqueue(t, &bench, bench.queue, 9);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_queue_sync(bench.queue));
    OK(t, yoke_event_query(event));
    OK(t, yoke_event_sync(event));
}

static void on_empty_queue(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    OK(t, yoke_event_query(event));
}

static void stays_reached(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_event_sync(event));
    enqueue(t, &bench, bench.queue, 3);
    OK(t, yoke_event_query(event));
    OK(t, yoke_queue_sync(bench.queue));
    OK(t, yoke_event_query(event));
}

static void recorded_again(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_event_record(event, bench.queue));
    enqueue(t, &bench, bench.queue, 4);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_event_sync(event));
    check(t, &bench);
}

static void recorded_on_another_queue(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_event_record(event, bench.queue));
    enqueue(t, &bench, bench.other, 5);
    OK(t, yoke_event_record(event, bench.other));
    OK(t, yoke_event_sync(event));
    check(t, &bench);
}

static void recorded_many_times(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    for (int i = 0; i < 500; i++)
        OK(t, yoke_event_record(event, bench.queue));
    enqueue(t, &bench, bench.queue, 6);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_event_sync(event));
    check(t, &bench);
}

/* --- between queues ----------------------------------------------------------------- */

static void orders_two_queues(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    for (unsigned char i = 1; i < 6; i++) {
        OK(t, yoke_queue_fill(bench.queue, yoke_span(bench.buffer, 0), &i, 1, SIZE));
        OK(t, yoke_event_record(event, bench.queue));
        OK(t, yoke_queue_wait(bench.other, event));
        OK(t, yoke_queue_copy(bench.other, yoke_span(bench.second, 0),
                              yoke_span(bench.buffer, 0), SIZE));
        memset(bench.expected, i, SIZE);
        EXPECT(t, bench.other, bench.second, 0, bench.expected, SIZE);
    }
}

/* To and fro: each queue takes what the other has made. */
static void ping_pong(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_queue_t *queues[2] = {bench.queue, bench.other};
    yoke_buffer_t *buffers[2] = {bench.buffer, bench.second};
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    unsigned char value = 0;
    memset(bench.expected, 0, SIZE);
    OK(t, yoke_queue_fill(queues[0], yoke_span(buffers[0], 0), &value, 1, SIZE));
    for (size_t i = 0; i < 40; i++) {
        yoke_queue_t *queue = queues[i % 2];
        value = (unsigned char)(i + 1);
        OK(t,
           yoke_queue_fill(queue, yoke_span(buffers[i % 2], 1000 * i), &value, 1, 1000));
        OK(t, yoke_queue_copy(queue, yoke_span(buffers[1 - i % 2], 0),
                              yoke_span(buffers[i % 2], 0), SIZE));
        OK(t, yoke_event_record(event, queue));
        OK(t, yoke_queue_wait(queues[1 - i % 2], event));
        memset(bench.expected + 1000 * i, value, 1000);
    }
    EXPECT(t, queues[0], buffers[0], 0, bench.expected, SIZE);
}

static void chain_of_queues(yoke_cts_t *t)
{
    enum { LENGTH = 8 };
    yoke_queue_t *queues[LENGTH];
    yoke_event_t *events[LENGTH];
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
    unsigned char *expected = yoke_cts_memory(t, SIZE);
    for (unsigned char i = 0; i < LENGTH; i++) {
        queues[i] = yoke_cts_queue(t, yoke_cts_device(t));
        events[i] = yoke_cts_event(t, yoke_cts_device(t), 0);
        if (i > 0)
            OK(t, yoke_queue_wait(queues[i], events[i - 1]));
        OK(t, yoke_queue_fill(queues[i], yoke_span(buffer, 0), &i, 1, SIZE));
        OK(t, yoke_event_record(events[i], queues[i]));
    }
    OK(t, yoke_event_sync(events[LENGTH - 1]));
    for (size_t i = 0; i < LENGTH; i++)
        OK(t, yoke_event_query(events[i]));
    memset(expected, LENGTH - 1, SIZE);
    EXPECT(t, queues[LENGTH - 1], buffer, 0, expected, SIZE);
}

static void fan_in(yoke_cts_t *t)
{
    enum { COUNT = 4 };
    yoke_queue_t *last = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *all = yoke_cts_buffer(t, yoke_cts_device(t), COUNT * 1000);
    yoke_buffer_t *copy = yoke_cts_buffer(t, yoke_cts_device(t), COUNT * 1000);
    unsigned char expected[COUNT * 1000];
    for (unsigned char i = 0; i < COUNT; i++) {
        yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
        yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
        OK(t, yoke_queue_fill(queue, yoke_span(all, i * 1000u), &i, 1, 1000));
        OK(t, yoke_event_record(event, queue));
        OK(t, yoke_queue_wait(last, event));
        memset(expected + i * 1000, i, 1000);
    }
    OK(t, yoke_queue_copy(last, yoke_span(copy, 0), yoke_span(all, 0), sizeof expected));
    EXPECT(t, last, copy, 0, expected, sizeof expected);
}

static void fan_out(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    unsigned char value = 0x42;
    memset(bench.expected, value, SIZE);
    OK(t, yoke_queue_fill(bench.queue, yoke_span(bench.buffer, 0), &value, 1, SIZE));
    OK(t, yoke_event_record(event, bench.queue));
    for (int i = 0; i < 4; i++) {
        yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
        yoke_buffer_t *copy = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
        OK(t, yoke_queue_wait(queue, event));
        OK(t,
           yoke_queue_copy(queue, yoke_span(copy, 0), yoke_span(bench.buffer, 0), SIZE));
        EXPECT(t, queue, copy, 0, bench.expected, SIZE);
    }
}

/* The wait is for the event as it is recorded now: recording it later elsewhere, behind
 * work of the waiting queue itself, must not make a circle. */
static void wait_takes_the_present_record(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    unsigned char value = 7;
    OK(t, yoke_queue_fill(bench.queue, yoke_span(bench.buffer, 0), &value, 1, SIZE));
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_queue_wait(bench.other, event));
    OK(t, yoke_queue_copy(bench.other, yoke_span(bench.second, 0),
                          yoke_span(bench.buffer, 0), SIZE));
    OK(t, yoke_event_record(event, bench.other));
    OK(t, yoke_queue_wait(bench.queue, event));
    value = 8;
    OK(t, yoke_queue_fill(bench.queue, yoke_span(bench.buffer, 0), &value, 1, SIZE));
    OK(t, yoke_queue_sync(bench.queue));
    memset(bench.expected, 7, SIZE);
    EXPECT(t, bench.other, bench.second, 0, bench.expected, SIZE);
}

static void wait_on_own_queue(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    enqueue(t, &bench, bench.queue, 1);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_queue_wait(bench.queue, event));
    enqueue(t, &bench, bench.queue, 2);
    OK(t, yoke_queue_sync(bench.queue));
    check(t, &bench);
}

static void wait_for_reached(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_event_sync(event));
    OK(t, yoke_queue_wait(bench.other, event));
    enqueue(t, &bench, bench.other, 2);
    OK(t, yoke_queue_sync(bench.other));
    check(t, &bench);
}

static void event_ends_after_wait(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *event = NULL;
    OK(t, yoke_event_create(yoke_cts_device(t), 0, &event));
    yoke_cts_keep_event(t, event);
    enqueue(t, &bench, bench.queue, 2);
    OK(t, yoke_event_record(event, bench.queue));
    OK(t, yoke_queue_wait(bench.other, event));
    OK(t, yoke_queue_sync(bench.other));
    yoke_cts_forget(t, event);
    yoke_event_destroy(event);
    check(t, &bench);
}

static void many(yoke_cts_t *t)
{
    enum { COUNT = 300 };
    yoke_event_t *events[COUNT];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (size_t i = 0; i < COUNT; i++) {
        events[i] = yoke_cts_event(t, yoke_cts_device(t), 0);
        OK(t, yoke_event_record(events[i], queue));
    }
    OK(t, yoke_event_sync(events[COUNT - 1]));
    for (size_t i = 0; i < COUNT; i++)
        OK(t, yoke_event_query(events[i]));
}

static void create_and_end(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (int i = 0; i < 200; i++) {
        yoke_event_t *event = NULL;
        OK(t, yoke_event_create(yoke_cts_device(t), 0, &event));
        if (i % 2 == 0) {
            yoke_status_t status = yoke_event_record(event, queue);
            status = status == YOKE_OK ? yoke_event_sync(event) : status;
            yoke_event_destroy(event);
            OK(t, status);
        } else {
            yoke_event_destroy(event);
        }
    }
}

/* --- time --------------------------------------------------------------------------- */

static yoke_event_t *timed(yoke_cts_t *t)
{
    return yoke_cts_event(t, yoke_cts_device(t), YOKE_EVENT_TIMING);
}

static void elapsed(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *start = timed(t), *middle = timed(t), *end = timed(t);
    double first = -1, second = -1, whole = -1, back = 1;
    OK(t, yoke_event_record(start, bench.queue));
    enqueue(t, &bench, bench.queue, 1);
    OK(t, yoke_event_record(middle, bench.queue));
    enqueue(t, &bench, bench.queue, 2);
    OK(t, yoke_event_record(end, bench.queue));
    OK(t, yoke_event_sync(end));
    OK(t, yoke_event_elapsed(start, middle, &first));
    OK(t, yoke_event_elapsed(middle, end, &second));
    OK(t, yoke_event_elapsed(start, end, &whole));
    OK(t, yoke_event_elapsed(end, start, &back));
    CHECK(t, first >= 0 && second >= 0 && whole >= 0 && whole < 3600);
    CHECK(t, back <= 0);
    /* CUDA and HIP count in steps of half a microsecond, in single precision. */
    CHECK(t, fabs(whole - (first + second)) <= 2e-6 + 1e-5 * whole);
    CHECK(t, fabs(whole + back) <= 2e-6 + 1e-5 * whole);
}

static void elapsed_zero(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_event_t *event = timed(t);
    double seconds = 1;
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    OK(t, yoke_event_elapsed(event, event, &seconds));
    CHECK(t, seconds == 0);
}

static void elapsed_again(yoke_cts_t *t)
{
    bench_t bench = make_bench(t);
    yoke_event_t *start = timed(t), *end = timed(t);
    for (unsigned char i = 0; i < 5; i++) {
        double seconds = -1;
        OK(t, yoke_event_record(start, bench.queue));
        enqueue(t, &bench, bench.queue, i);
        OK(t, yoke_event_record(end, bench.queue));
        OK(t, yoke_event_sync(end));
        OK(t, yoke_event_elapsed(start, end, &seconds));
        CHECK(t, seconds >= 0);
    }
}

static void timing_absent(yoke_cts_t *t)
{
    yoke_event_t *event = NULL;
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_TIMING) != 0)
        yoke_cts_unsupported(t, "events have times here");
    GIVES(t, YOKE_ERR_UNSUPPORTED,
          yoke_event_create(yoke_cts_device(t), YOKE_EVENT_TIMING, &event));
    CHECK(t, event == NULL);
}

static const yoke_cts_case_t cases[] = {
    {"event/sync-means-done", 0, 0, sync_means_done, 0, 0},
    {"event/query-means-done", 0, 0, query_means_done, 0, 0},
    {"event/reached-after-queue-sync", 0, 0, reached_after_queue_sync, 0, 0},
    {"event/on-empty-queue", 0, 0, on_empty_queue, 0, 0},
    {"event/stays-reached", 0, 0, stays_reached, 0, 0},
    {"event/recorded-again", 0, 0, recorded_again, 0, 0},
    {"event/recorded-on-another-queue", 0, 0, recorded_on_another_queue, 0, 0},
    {"event/recorded-many-times", 0, 0, recorded_many_times, 0, 0},
    {"event/orders-two-queues", 0, 0, orders_two_queues, 0, 0},
    {"event/ping-pong", 0, 0, ping_pong, 0, 0},
    {"event/chain-of-queues", 0, 0, chain_of_queues, 0, 0},
    {"event/fan-in", 0, 0, fan_in, 0, 0},
    {"event/fan-out", 0, 0, fan_out, 0, 0},
    {"event/wait-takes-the-present-record", 0, 0, wait_takes_the_present_record, 0, 0},
    {"event/wait-on-own-queue", 0, 0, wait_on_own_queue, 0, 0},
    {"event/wait-for-reached", 0, 0, wait_for_reached, 0, 0},
    {"event/ends-after-wait", 0, 0, event_ends_after_wait, 0, 0},
    {"event/many", 0, 0, many, 0, 0},
    {"event/create-and-end", 0, 0, create_and_end, 0, 0},
    {"event/elapsed", YOKE_CAP_TIMING, 0, elapsed, 0, 0},
    {"event/elapsed-zero", YOKE_CAP_TIMING, 0, elapsed_zero, 0, 0},
    {"event/elapsed-again", YOKE_CAP_TIMING, 0, elapsed_again, 0, 0},
    {"event/timing-absent", 0, 0, timing_absent, 0, 0},
};

YOKE_CTS_GROUP(event, cases);
