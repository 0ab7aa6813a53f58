/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers between the device under test and the host backend, and gates through them.
 */
#include "hal/cts/case.h"

enum { SLOT = 4096, SLOTS = 3 };

/* One end: its device, a queue, and a buffer. */
typedef struct end {
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_buffer_t *buffer;
} end_t;

static end_t make_end(yoke_cts_t *t, yoke_device_t *device, size_t size)
{
    end_t end = {device, yoke_cts_queue(t, device), yoke_cts_buffer(t, device, size)};
    return end;
}

static void end_transfer(void *object)
{
    yoke_transfer_destroy(object);
}

static yoke_transfer_t *make_transfer(yoke_cts_t *t, yoke_device_t *from,
                                      yoke_device_t *to, uint32_t flags)
{
    yoke_transfer_options_t options = {sizeof options, flags, SLOTS, SLOT};
    yoke_transfer_t *transfer = NULL;
    OK(t, yoke_transfer_create(from, to, &options, &transfer));
    CHECK(t, transfer != NULL);
    yoke_cts_keep_transfer(t, transfer, end_transfer);
    const char *method = yoke_transfer_method(transfer);
    CHECK(t, strcmp(method, "peer") == 0 || strcmp(method, "gated") == 0 ||
                 strcmp(method, "driven") == 0);
    return transfer;
}

/* second: 0 host to device, 1 device to host, 2 device to itself. */
static void choose(yoke_cts_t *t, yoke_device_t **from, yoke_device_t **to)
{
    yoke_device_t *here = yoke_cts_device(t), *host = yoke_cts_host(t);
    *from = yoke_cts_second(t) == 0 ? host : here;
    *to = yoke_cts_second(t) == 1 ? host : here;
}

static void copy_size(yoke_cts_t *t)
{
    size_t size = (size_t)yoke_cts_parameter(t), whole = size + 256;
    yoke_device_t *from_device, *to_device;
    unsigned char *data = yoke_cts_memory(t, whole),
                  *expected = yoke_cts_memory(t, whole);
    choose(t, &from_device, &to_device);
    end_t from = make_end(t, from_device, whole), to = make_end(t, to_device, whole);
    yoke_transfer_t *transfer = make_transfer(t, from_device, to_device, 0);
    yoke_cts_noise(data, whole, 170);
    yoke_cts_noise(expected, whole, 171);
    yoke_cts_put(t, from.queue, from.buffer, 0, data, whole);
    yoke_cts_put(t, to.queue, to.buffer, 0, expected, whole);
    OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 64), from.queue,
                              yoke_span(from.buffer, 128), size));
    OK(t, yoke_transfer_wait(transfer));
    OK(t, yoke_transfer_poll(transfer));
    memcpy(expected + 64, data + 128, size);
    EXPECT(t, to.queue, to.buffer, 0, expected, whole);
}

/* Behind work of the source, before work of the destination. */
static void queue_order(yoke_cts_t *t)
{
    enum { SIZE = 5 * SLOT + 77 };
    yoke_device_t *from_device, *to_device;
    unsigned char *expected = yoke_cts_memory(t, SIZE);
    choose(t, &from_device, &to_device);
    end_t from = make_end(t, from_device, SIZE), to = make_end(t, to_device, SIZE);
    yoke_buffer_t *copy = yoke_cts_buffer(t, to_device, SIZE);
    yoke_transfer_t *transfer = make_transfer(t, from_device, to_device, 0);
    for (unsigned char i = 1; i <= 10; i++) {
        unsigned char other = (unsigned char)(100 + i);
        OK(t, yoke_queue_fill(from.queue, yoke_span(from.buffer, 0), &i, 1, SIZE));
        OK(t, yoke_queue_fill(to.queue, yoke_span(to.buffer, 0), &other, 1, SIZE));
        OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0), from.queue,
                                  yoke_span(from.buffer, 0), SIZE));
        OK(t,
           yoke_queue_copy(to.queue, yoke_span(copy, 0), yoke_span(to.buffer, 0), SIZE));
        OK(t, yoke_transfer_wait(transfer));
        memset(expected, i, SIZE);
        EXPECT(t, to.queue, copy, 0, expected, SIZE);
    }
}

/* Several copies under way at once; too many give NOT_READY and no copy. */
static void many_at_once(yoke_cts_t *t)
{
    enum { COUNT = 200, SIZE = 300 };
    yoke_device_t *from_device, *to_device;
    unsigned char *data = yoke_cts_memory(t, COUNT * SIZE);
    choose(t, &from_device, &to_device);
    end_t from = make_end(t, from_device, COUNT * SIZE);
    end_t to = make_end(t, to_device, COUNT * SIZE);
    yoke_transfer_t *transfer = make_transfer(t, from_device, to_device, 0);
    yoke_cts_noise(data, COUNT * SIZE, 172);
    yoke_cts_put(t, from.queue, from.buffer, 0, data, COUNT * SIZE);
    for (uint64_t i = 0; i < COUNT; i++) {
        yoke_status_t status;
        while ((status = yoke_transfer_start(
                    transfer, to.queue, yoke_span(to.buffer, i * SIZE), from.queue,
                    yoke_span(from.buffer, i * SIZE), SIZE)) == YOKE_ERR_NOT_READY) {
            status = yoke_transfer_poll(transfer);
            CHECK(t, status == YOKE_OK || status == YOKE_ERR_NOT_READY);
        }
        OK(t, status);
    }
    OK(t, yoke_transfer_wait(transfer));
    EXPECT(t, to.queue, to.buffer, 0, data, COUNT * SIZE);
}

static void both_ways(yoke_cts_t *t)
{
    enum { SIZE = 9 * SLOT + 5 };
    unsigned char *there = yoke_cts_memory(t, SIZE), *here = yoke_cts_memory(t, SIZE);
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t a = make_end(t, device, 2 * SIZE), b = make_end(t, host, 2 * SIZE);
    yoke_transfer_t *out = make_transfer(t, device, host, 0);
    yoke_transfer_t *in = make_transfer(t, host, device, 0);
    yoke_queue_t *a_in = yoke_cts_queue(t, device), *b_in = yoke_cts_queue(t, host);
    yoke_cts_noise(there, SIZE, 173);
    yoke_cts_noise(here, SIZE, 174);
    yoke_cts_put(t, a.queue, a.buffer, 0, here, SIZE);
    yoke_cts_put(t, b.queue, b.buffer, 0, there, SIZE);
    OK(t, yoke_transfer_start(out, b_in, yoke_span(b.buffer, SIZE), a.queue,
                              yoke_span(a.buffer, 0), SIZE));
    OK(t, yoke_transfer_start(in, a_in, yoke_span(a.buffer, SIZE), b.queue,
                              yoke_span(b.buffer, 0), SIZE));
    yoke_status_t first, second;
    do {
        first = yoke_transfer_poll(out);
        second = yoke_transfer_poll(in);
        CHECK(t, first == YOKE_OK || first == YOKE_ERR_NOT_READY);
        CHECK(t, second == YOKE_OK || second == YOKE_ERR_NOT_READY);
    } while (first != YOKE_OK || second != YOKE_OK);
    OK(t, yoke_queue_sync(a_in));
    OK(t, yoke_queue_sync(b_in));
    EXPECT(t, a.queue, a.buffer, SIZE, there, SIZE);
    EXPECT(t, b.queue, b.buffer, SIZE, here, SIZE);
}

/* With a thread nobody polls: waiting for the queue is enough. */
static void own_thread(yoke_cts_t *t)
{
    enum { SIZE = 7 * SLOT + 1 };
    yoke_device_t *from_device, *to_device;
    unsigned char *data = yoke_cts_memory(t, SIZE);
    choose(t, &from_device, &to_device);
    end_t from = make_end(t, from_device, SIZE), to = make_end(t, to_device, SIZE);
    yoke_transfer_t *transfer =
        make_transfer(t, from_device, to_device, YOKE_TRANSFER_THREAD);
    for (uint64_t i = 0; i < 5; i++) {
        yoke_cts_noise(data, SIZE, 175 + i);
        yoke_cts_put(t, from.queue, from.buffer, 0, data, SIZE);
        OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0), from.queue,
                                  yoke_span(from.buffer, 0), SIZE));
        EXPECT(t, to.queue, to.buffer, 0, data, SIZE);
    }
    OK(t, yoke_transfer_wait(transfer));
}

static void default_options(yoke_cts_t *t)
{
    unsigned char data[1000];
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, sizeof data), to = make_end(t, device, sizeof data);
    yoke_transfer_t *transfer = NULL;
    OK(t, yoke_transfer_create(host, device, NULL, &transfer));
    yoke_cts_keep_transfer(t, transfer, end_transfer);
    yoke_cts_noise(data, sizeof data, 180);
    yoke_cts_put(t, from.queue, from.buffer, 0, data, sizeof data);
    OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0), from.queue,
                              yoke_span(from.buffer, 0), sizeof data));
    OK(t, yoke_transfer_wait(transfer));
    EXPECT(t, to.queue, to.buffer, 0, data, sizeof data);
}

static void destroy_waits(yoke_cts_t *t)
{
    enum { SIZE = 20 * SLOT };
    unsigned char *data = yoke_cts_memory(t, SIZE);
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, SIZE), to = make_end(t, device, SIZE);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_cts_noise(data, SIZE, 181);
    yoke_cts_put(t, from.queue, from.buffer, 0, data, SIZE);
    OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0), from.queue,
                              yoke_span(from.buffer, 0), SIZE));
    yoke_cts_forget(t, transfer);
    yoke_transfer_destroy(transfer);
    EXPECT(t, to.queue, to.buffer, 0, data, SIZE);
}

/* --- gates -------------------------------------------------------------------------- */

/* A queue of the device waits for an event of the host's, by a gate that a poll opens. */
static void gate_holds_the_queue(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, 64), to = make_end(t, device, 64);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_event_t *event = yoke_cts_event(t, host, 0);
    yoke_event_t *behind = yoke_cts_event(t, device, 0);
    uint32_t zero = 0, one = 1, seen = 7;
    OK(t, yoke_queue_fill(to.queue, yoke_span(to.buffer, 0), &zero, 4, 64));
    OK(t, yoke_queue_sync(to.queue));
    OK(t, yoke_event_record(event, from.queue));
    OK(t, yoke_transfer_wait_event(transfer, to.queue, event));
    OK(t, yoke_queue_fill(to.queue, yoke_span(to.buffer, 0), &one, 4, 64));
    OK(t, yoke_event_record(behind, to.queue));
    /* Nobody has polled: whatever the host has done, the gate is closed. */
    for (int i = 0; i < 20; i++)
        GIVES(t, YOKE_ERR_NOT_READY, yoke_event_query(behind));
    GIVES(t, YOKE_ERR_NOT_READY, yoke_queue_query(to.queue));
    yoke_queue_t *other = yoke_cts_queue(t, device);
    yoke_cts_get(t, other, to.buffer, 0, &seen, 4);
    EQUAL(t, 0, seen);
    OK(t, yoke_transfer_wait(transfer));
    OK(t, yoke_event_sync(behind));
    yoke_cts_get(t, other, to.buffer, 0, &seen, 4);
    EQUAL(t, 1, seen);
}

/* A copy behind a closed gate is not done before it opens. */
static void gate_holds_a_copy(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, 64), to = make_end(t, device, 64);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_event_t *event = yoke_cts_event(t, host, 0);
    yoke_queue_t *other = yoke_cts_queue(t, device);
    yoke_buffer_t *source = yoke_cts_buffer(t, device, 64);
    unsigned char before[64], after[64];
    yoke_cts_noise(before, sizeof before, 183);
    yoke_cts_noise(after, sizeof after, 184);
    yoke_cts_put(t, to.queue, to.buffer, 0, before, sizeof before);
    yoke_cts_put(t, to.queue, source, 0, after, sizeof after);
    OK(t, yoke_event_record(event, from.queue));
    OK(t, yoke_transfer_wait_event(transfer, to.queue, event));
    OK(t, yoke_queue_copy(to.queue, yoke_span(to.buffer, 0), yoke_span(source, 0), 64));
    EXPECT(t, other, to.buffer, 0, before, sizeof before);
    OK(t, yoke_transfer_wait(transfer));
    EXPECT(t, to.queue, to.buffer, 0, after, sizeof after);
}

/* Events are late while a gate is closed: the right time to ask for them. */
static void gate_and_events(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, 64), to = make_end(t, device, 64);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_event_t *event = yoke_cts_event(t, host, 0), *marks[3];
    yoke_queue_t *second = yoke_cts_queue(t, device);
    for (size_t i = 0; i < 3; i++)
        marks[i] = yoke_cts_event(t, device, 0);
    OK(t, yoke_event_record(marks[0], to.queue));
    OK(t, yoke_event_record(event, from.queue));
    OK(t, yoke_transfer_wait_event(transfer, to.queue, event));
    OK(t, yoke_event_record(marks[1], to.queue));
    OK(t, yoke_queue_wait(second, marks[1]));
    OK(t, yoke_event_record(marks[2], second));
    OK(t, yoke_event_sync(marks[0])); /* before the gate: reached */
    GIVES(t, YOKE_ERR_NOT_READY, yoke_event_query(marks[1]));
    GIVES(t, YOKE_ERR_NOT_READY,
          yoke_event_query(marks[2])); /* through the other queue */
    OK(t, yoke_transfer_wait(transfer));
    OK(t, yoke_event_sync(marks[2]));
    OK(t, yoke_event_query(marks[1]));
}

static void gates_again_and_again(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, 64), to = make_end(t, device, 64);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_event_t *event = yoke_cts_event(t, host, 0);
    for (uint32_t i = 0; i < 100; i++) {
        OK(t, yoke_event_record(event, from.queue));
        OK(t, yoke_transfer_wait_event(transfer, to.queue, event));
        OK(t, yoke_queue_fill(to.queue, yoke_span(to.buffer, 0), &i, 4, 64));
        OK(t, yoke_transfer_wait(transfer));
        OK(t, yoke_queue_sync(to.queue));
    }
}

static void gate_absent(yoke_cts_t *t)
{
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_GATE) != 0)
        yoke_cts_unsupported(t, "the runtime has gates");
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    end_t from = make_end(t, host, 64), to = make_end(t, device, 64);
    yoke_transfer_t *transfer = make_transfer(t, host, device, 0);
    yoke_event_t *event = yoke_cts_event(t, host, 0);
    OK(t, yoke_event_record(event, from.queue));
    GIVES(t, YOKE_ERR_UNSUPPORTED, yoke_transfer_wait_event(transfer, to.queue, event));
}

/* --- a peer, and what is refused ---------------------------------------------------- */

static void to_peer(yoke_cts_t *t)
{
    enum { SIZE = 3 * SLOT + 9 };
    unsigned char *data = yoke_cts_memory(t, SIZE);
    yoke_device_t *here = yoke_cts_device(t), *there = yoke_cts_peer(t);
    end_t from = make_end(t, here, SIZE), to = make_end(t, there, SIZE);
    yoke_transfer_t *transfer = make_transfer(t, here, there, 0);
    yoke_cts_noise(data, SIZE, 182);
    yoke_cts_put(t, from.queue, from.buffer, 0, data, SIZE);
    OK(t, yoke_transfer_start(transfer, to.queue, yoke_span(to.buffer, 0), from.queue,
                              yoke_span(from.buffer, 0), SIZE));
    OK(t, yoke_transfer_wait(transfer));
    EXPECT(t, to.queue, to.buffer, 0, data, SIZE);
}

static void null_arguments(yoke_cts_t *t)
{
    yoke_transfer_t *transfer = NULL;
    yoke_device_t *device = yoke_cts_device(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, 64);
    yoke_span_t span = yoke_span(buffer, 0);
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_create(NULL, device, NULL, &transfer));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_create(device, NULL, NULL, &transfer));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_create(device, device, NULL, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_start(NULL, queue, span, queue, span, 1));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_poll(NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_wait(NULL));
    yoke_transfer_destroy(NULL);
    CHECK(t, transfer == NULL);
}

#define IN(name, size)                                                                   \
    {                                                                                    \
        "transfer/to-device-" name, 0, YOKE_CTS_HOST, copy_size, size, 0                 \
    }
#define OUT(name, size)                                                                  \
    {                                                                                    \
        "transfer/to-host-" name, 0, YOKE_CTS_HOST, copy_size, size, 1                   \
    }
#define H(name, function, second)                                                        \
    {                                                                                    \
        "transfer/" name, 0, YOKE_CTS_HOST, function, 0, second                          \
    }
#define GATE(name, function)                                                             \
    {                                                                                    \
        "gate/" name, YOKE_CAP_GATE, YOKE_CTS_HOST, function, 0, 0                       \
    }

static const yoke_cts_case_t cases[] = {
    IN("0", 0),
    IN("1", 1),
    IN("slot-less-1", SLOT - 1),
    IN("slot", SLOT),
    IN("slot-and-1", SLOT + 1),
    IN("all-slots", SLOT *SLOTS),
    IN("all-slots-and-1", SLOT *SLOTS + 1),
    IN("1m-and-3", (1 << 20) + 3),
    OUT("0", 0),
    OUT("1", 1),
    OUT("slot-less-1", SLOT - 1),
    OUT("slot", SLOT),
    OUT("slot-and-1", SLOT + 1),
    OUT("all-slots", SLOT *SLOTS),
    OUT("all-slots-and-1", SLOT *SLOTS + 1),
    OUT("1m-and-3", (1 << 20) + 3),
    {"transfer/to-itself", 0, YOKE_CTS_HOST, copy_size, 3 * SLOT, 2},
    H("order-to-device", queue_order, 0),
    H("order-to-host", queue_order, 1),
    H("many-to-device", many_at_once, 0),
    H("many-to-host", many_at_once, 1),
    H("both-ways", both_ways, 0),
    H("thread-to-device", own_thread, 0),
    H("thread-to-host", own_thread, 1),
    H("default-options", default_options, 0),
    H("destroy-waits", destroy_waits, 0),
    {"transfer/to-peer", 0, YOKE_CTS_PEER, to_peer, 0, 0},
    H("null", null_arguments, 0),
    GATE("holds-the-queue", gate_holds_the_queue),
    GATE("holds-a-copy", gate_holds_a_copy),
    GATE("and-events", gate_and_events),
    GATE("again-and-again", gates_again_and_again),
    {"gate/absent", 0, YOKE_CTS_HOST, gate_absent, 0, 0},
};

YOKE_CTS_GROUP(transfer, cases);
