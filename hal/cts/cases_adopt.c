/* SPDX-License-Identifier: Apache-2.0 */
/* Native handles out, and wrapped again; a second device of the same runtime. */
#include "hal/cts/case.h"

#include <stdatomic.h>

typedef struct released {
    atomic_int count;
    void *handle;
} released_t;

static void on_release(void *context, void *handle)
{
    released_t *released = context;
    released->handle = handle;
    atomic_fetch_add(&released->count, 1);
}

static yoke_native_t native_of_device(yoke_cts_t *t)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_status_t status = yoke_device_native(yoke_cts_device(t), &native);
    if (status == YOKE_ERR_UNSUPPORTED)
        yoke_cts_unsupported(t, "devices have no native handle");
    OK(t, status);
    return native;
}

static void device_round_trip(yoke_cts_t *t)
{
    yoke_native_t native = native_of_device(t), again = {.struct_size = sizeof again};
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_device_t *device = NULL;
    unsigned char data[1000];
    OK(t, yoke_device_from_native(yoke_cts_backend(t), &native, NULL, &device));
    yoke_cts_keep_device(t, device);
    OK(t, yoke_device_info(device, &info));
    EQUAL(t, yoke_cts_info(t)->ordinal, info.ordinal);
    OK(t, yoke_device_native(device, &again));
    CHECK(t, native.handle == again.handle && native.context == again.context);
    /* Queues and buffers of both may be mixed. */
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_cts_noise(data, sizeof data, 110);
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    EXPECT(t, queue, buffer, 0, data, sizeof data);
}

static void device_unknown_backend(yoke_cts_t *t)
{
    yoke_native_t native = native_of_device(t);
    yoke_device_t *device = NULL;
    GIVES(t, YOKE_ERR_NOT_FOUND,
          yoke_device_from_native("nosuchruntime", &native, NULL, &device));
    CHECK(t, device == NULL);
}

static void buffer_round_trip(yoke_cts_t *t)
{
    yoke_native_t native = {.struct_size = sizeof native}, again = native;
    released_t *released = yoke_cts_memory(t, sizeof *released);
    unsigned char data[3000];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_buffer_t *wrapped = NULL;
    OK(t, yoke_buffer_native(buffer, &native));
    OK(t, yoke_buffer_wrap(yoke_cts_device(t), YOKE_MEMORY_DEVICE, native.handle,
                           sizeof data, on_release, released, &wrapped));
    yoke_cts_keep_buffer(t, wrapped);
    EQUAL(t, sizeof data, yoke_buffer_size(wrapped));
    EQUAL(t, YOKE_MEMORY_DEVICE, yoke_buffer_kind(wrapped));
    OK(t, yoke_buffer_native(wrapped, &again));
    CHECK(t, native.handle == again.handle);
    yoke_cts_noise(data, sizeof data, 111);
    yoke_cts_put(t, queue, wrapped, 0, data, sizeof data);
    EXPECT(t, queue, buffer, 0, data, sizeof data);
    EQUAL(t, 0, atomic_load(&released->count));
    yoke_cts_forget(t, wrapped);
    yoke_buffer_destroy(wrapped);
    EQUAL(t, 1, atomic_load(&released->count));
    CHECK(t, released->handle == native.handle);
    EXPECT(t, queue, buffer, 0, data, sizeof data); /* the memory is still the owner's */
}

static void buffer_without_release(yoke_cts_t *t)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 100), *wrapped = NULL;
    OK(t, yoke_buffer_native(buffer, &native));
    OK(t, yoke_buffer_wrap(yoke_cts_device(t), YOKE_MEMORY_DEVICE, native.handle, 100,
                           NULL, NULL, &wrapped));
    yoke_buffer_destroy(wrapped);
}

static void buffer_wrap_size_zero(yoke_cts_t *t)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 100), *wrapped = NULL;
    OK(t, yoke_buffer_native(buffer, &native));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_buffer_wrap(yoke_cts_device(t), YOKE_MEMORY_DEVICE, native.handle, 0, NULL,
                           NULL, &wrapped));
    CHECK(t, wrapped == NULL);
}

static void buffer_wrap_address(yoke_cts_t *t)
{
    void *address = NULL, *inner = NULL;
    unsigned char data[256];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 4096), *wrapped = NULL;
    OK(t, yoke_buffer_address(buffer, &address));
    yoke_native_t native = {.struct_size = sizeof native};
    OK(t, yoke_buffer_native(buffer, &native));
    if (native.handle != address)
        yoke_cts_unsupported(t, "the native handle is not an address");
    OK(t, yoke_buffer_wrap(yoke_cts_device(t), YOKE_MEMORY_DEVICE, (char *)address + 1024,
                           sizeof data, NULL, NULL, &wrapped));
    yoke_cts_keep_buffer(t, wrapped);
    OK(t, yoke_buffer_address(wrapped, &inner));
    CHECK(t, (char *)inner == (char *)address + 1024);
    yoke_cts_noise(data, sizeof data, 112);
    yoke_cts_put(t, queue, wrapped, 0, data, sizeof data);
    EXPECT(t, queue, buffer, 1024, data, sizeof data);
}

static void *native_queue(yoke_cts_t *t, const yoke_queue_t *queue)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_status_t status = yoke_queue_native(queue, &native);
    if (status == YOKE_ERR_UNSUPPORTED || (status == YOKE_OK && native.handle == NULL))
        yoke_cts_unsupported(t, "queues have no native handle");
    OK(t, status);
    return native.handle;
}

static void queue_round_trip(yoke_cts_t *t)
{
    released_t *released = yoke_cts_memory(t, sizeof *released);
    unsigned char data[2000];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t)), *wrapped = NULL;
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    void *handle = native_queue(t, queue);
    OK(t, yoke_queue_wrap(yoke_cts_device(t), handle, on_release, released, &wrapped));
    yoke_cts_keep_queue(t, wrapped);
    CHECK(t, native_queue(t, wrapped) == handle);
    CHECK(t, yoke_queue_device(wrapped) == yoke_cts_device(t));
    yoke_cts_noise(data, sizeof data, 113);
    /* One stream under two objects: in order without an event. */
    OK(t, yoke_queue_write(wrapped, yoke_span(buffer, 0), data, sizeof data));
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    EXPECT(t, queue, buffer, 0, data, sizeof data);
    yoke_cts_forget(t, wrapped);
    yoke_queue_destroy(wrapped);
    EQUAL(t, 1, atomic_load(&released->count));
    CHECK(t, released->handle == handle);
    EXPECT(t, queue, buffer, 0, data, sizeof data); /* the queue lives on */
}

static void queue_default(yoke_cts_t *t)
{
    unsigned char data[2000];
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_status_t status = yoke_queue_wrap(yoke_cts_device(t), NULL, NULL, NULL, &queue);
    if (status == YOKE_ERR_UNSUPPORTED || status == YOKE_ERR_USAGE)
        yoke_cts_unsupported(t, "the runtime has no default stream");
    OK(t, status);
    yoke_cts_keep_queue(t, queue);
    yoke_cts_noise(data, sizeof data, 114);
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    EXPECT(t, queue, buffer, 0, data, sizeof data);
}

static void event_round_trip(yoke_cts_t *t)
{
    released_t *released = yoke_cts_memory(t, sizeof *released);
    yoke_native_t native = {.struct_size = sizeof native};
    unsigned char memory[2000], expected[2000], pattern = 0x3c;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof memory);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0), *wrapped = NULL;
    OK(t, yoke_queue_fill(queue, yoke_span(buffer, 0), &pattern, 1, sizeof memory));
    OK(t, yoke_queue_read(queue, memory, yoke_span(buffer, 0), sizeof memory));
    OK(t, yoke_event_record(event, queue));
    yoke_status_t status = yoke_event_native(event, &native);
    if (status == YOKE_ERR_UNSUPPORTED || (status == YOKE_OK && native.handle == NULL))
        yoke_cts_unsupported(t, "events have no native handle");
    OK(t, status);
    OK(t, yoke_event_wrap(yoke_cts_device(t), native.handle, on_release, released,
                          &wrapped));
    yoke_cts_keep_event(t, wrapped);
    OK(t, yoke_event_sync(wrapped));
    memset(expected, pattern, sizeof expected);
    BYTES(t, "read before the event", expected, memory, sizeof memory);
    OK(t, yoke_event_query(wrapped));
    yoke_cts_forget(t, wrapped);
    yoke_event_destroy(wrapped);
    EQUAL(t, 1, atomic_load(&released->count));
    OK(t, yoke_event_query(event));
}

static void wrap_absent(yoke_cts_t *t)
{
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = NULL;
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_WRAP) != 0)
        yoke_cts_unsupported(t, "native objects can be wrapped here");
    GIVES(t, YOKE_ERR_UNSUPPORTED,
          yoke_queue_wrap(yoke_cts_device(t), &queue, NULL, NULL, &queue));
    GIVES(t, YOKE_ERR_UNSUPPORTED,
          yoke_buffer_wrap(yoke_cts_device(t), YOKE_MEMORY_DEVICE, &queue, 8, NULL, NULL,
                           &buffer));
    CHECK(t, queue == NULL && buffer == NULL);
}

/* --- peers -------------------------------------------------------------------------- */

static void peer_copy(yoke_cts_t *t)
{
    size_t size = (size_t)yoke_cts_parameter(t);
    bool pull = yoke_cts_second(t) != 0, can = false;
    unsigned char *data = yoke_cts_memory(t, size);
    yoke_device_t *here = yoke_cts_device(t), *there = yoke_cts_peer(t);
    yoke_queue_t *ours = yoke_cts_queue(t, here), *theirs = yoke_cts_queue(t, there);
    yoke_buffer_t *from = yoke_cts_buffer(t, here, size);
    yoke_buffer_t *to = yoke_cts_buffer(t, there, size);
    OK(t, yoke_device_can_reach(pull ? there : here, pull ? here : there, &can));
    if (!can)
        yoke_cts_unsupported(t, "the two devices do not reach each other");
    yoke_cts_noise(data, size, 115);
    yoke_cts_put(t, ours, from, 0, data, size);
    yoke_queue_t *queue = pull ? theirs : ours;
    OK(t, yoke_queue_copy(queue, yoke_span(to, 0), yoke_span(from, 0), size));
    OK(t, yoke_queue_sync(queue));
    EXPECT(t, theirs, to, 0, data, size);
}

static void peer_event(yoke_cts_t *t)
{
    yoke_device_t *here = yoke_cts_device(t), *there = yoke_cts_peer(t);
    yoke_queue_t *ours = yoke_cts_queue(t, here), *theirs = yoke_cts_queue(t, there);
    yoke_buffer_t *from = yoke_cts_buffer(t, here, 1 << 20);
    yoke_buffer_t *to = yoke_cts_buffer(t, there, 1 << 20);
    yoke_event_t *event = yoke_cts_event(t, here, 0);
    unsigned char *expected = yoke_cts_memory(t, 1 << 20), pattern = 0x19;
    bool can = false;
    OK(t, yoke_device_can_reach(there, here, &can));
    if (!can)
        yoke_cts_unsupported(t, "the two devices do not reach each other");
    OK(t, yoke_queue_fill(ours, yoke_span(from, 0), &pattern, 1, 1 << 20));
    OK(t, yoke_event_record(event, ours));
    OK(t, yoke_queue_wait(theirs, event));
    OK(t, yoke_queue_copy(theirs, yoke_span(to, 0), yoke_span(from, 0), 1 << 20));
    memset(expected, pattern, 1 << 20);
    EXPECT(t, theirs, to, 0, expected, 1 << 20);
}

static void two_devices_at_once(yoke_cts_t *t)
{
    yoke_device_t *devices[2] = {yoke_cts_device(t), yoke_cts_peer(t)};
    yoke_queue_t *queues[2];
    yoke_buffer_t *buffers[2];
    unsigned char *expected = yoke_cts_memory(t, 1 << 16);
    for (size_t i = 0; i < 2; i++) {
        queues[i] = yoke_cts_queue(t, devices[i]);
        buffers[i] = yoke_cts_buffer(t, devices[i], 1 << 16);
    }
    for (unsigned char round = 0; round < 50; round++)
        for (unsigned char i = 0; i < 2; i++) {
            unsigned char value = (unsigned char)(2 * round + i);
            OK(t,
               yoke_queue_fill(queues[i], yoke_span(buffers[i], 0), &value, 1, 1 << 16));
        }
    for (int i = 0; i < 2; i++) {
        memset(expected, 98 + i, 1 << 16);
        EXPECT(t, queues[i], buffers[i], 0, expected, 1 << 16);
    }
}

static void reach_is_symmetric_in_type(yoke_cts_t *t)
{
    bool can = false, back = false;
    OK(t, yoke_device_can_reach(yoke_cts_device(t), yoke_cts_peer(t), &can));
    OK(t, yoke_device_can_reach(yoke_cts_peer(t), yoke_cts_device(t), &back));
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_PEER) == 0)
        CHECK(t, !can && !back);
}

static void reach_other_runtime(yoke_cts_t *t)
{
    bool can = true;
    if (strcmp(yoke_cts_backend(t), "host") == 0)
        yoke_cts_unsupported(t, "the host is the device under test");
    yoke_status_t status =
        yoke_device_can_reach(yoke_cts_device(t), yoke_cts_host(t), &can);
    if (status == YOKE_OK)
        CHECK(t, !can);
    else
        EQUAL(t, YOKE_ERR_USAGE, status);
}

static const yoke_cts_case_t cases[] = {
    {"adopt/device-round-trip", 0, 0, device_round_trip, 0, 0},
    {"adopt/device-unknown-backend", 0, 0, device_unknown_backend, 0, 0},
    {"adopt/buffer-round-trip", YOKE_CAP_WRAP, 0, buffer_round_trip, 0, 0},
    {"adopt/buffer-without-release", YOKE_CAP_WRAP, 0, buffer_without_release, 0, 0},
    {"adopt/buffer-wrap-size-zero", YOKE_CAP_WRAP, 0, buffer_wrap_size_zero, 0, 0},
    {"adopt/buffer-wrap-address", YOKE_CAP_WRAP | YOKE_CAP_ADDRESS, 0,
     buffer_wrap_address, 0, 0},
    {"adopt/queue-round-trip", YOKE_CAP_WRAP, 0, queue_round_trip, 0, 0},
    {"adopt/queue-default", YOKE_CAP_WRAP, 0, queue_default, 0, 0},
    {"adopt/event-round-trip", YOKE_CAP_WRAP, 0, event_round_trip, 0, 0},
    {"adopt/wrap-absent", 0, 0, wrap_absent, 0, 0},
    {"peer/push-1", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 1, 0},
    {"peer/push-4099", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 4099, 0},
    {"peer/push-1m", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 1 << 20, 0},
    {"peer/pull-1", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 1, 1},
    {"peer/pull-4099", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 4099, 1},
    {"peer/pull-1m", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_copy, 1 << 20, 1},
    {"peer/event", YOKE_CAP_PEER, YOKE_CTS_PEER, peer_event, 0, 0},
    {"peer/two-devices-at-once", 0, YOKE_CTS_PEER, two_devices_at_once, 0, 0},
    {"peer/reach-both-ways", 0, YOKE_CTS_PEER, reach_is_symmetric_in_type, 0, 0},
    {"peer/reach-other-runtime", 0, YOKE_CTS_HOST, reach_other_runtime, 0, 0},
};

YOKE_CTS_GROUP(adopt, cases);
