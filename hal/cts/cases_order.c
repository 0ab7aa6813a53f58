/* SPDX-License-Identifier: Apache-2.0 */
/* Order: within a queue, between queues by events, host calls, and random work against a
 * model on the host. */
#include "hal/cts/case.h"

#include <stdatomic.h>

/* --- one queue ---------------------------------------------------------------------- */

static void overwrites(yoke_cts_t *t)
{
    enum { SIZE = 1 << 18 };
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
    uint32_t *expected = yoke_cts_memory(t, SIZE);
    for (uint32_t round = 0; round < 32; round++)
        OK(t, yoke_queue_fill(queue, yoke_span(buffer, 0), &round, 4, SIZE));
    for (size_t i = 0; i < SIZE / 4; i++)
        expected[i] = 31;
    EXPECT(t, queue, buffer, 0, expected, SIZE);
}

static void read_between_fills(yoke_cts_t *t)
{
    enum { SIZE = 1 << 16, ROUNDS = 8 };
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
    unsigned char *seen = yoke_cts_memory(t, SIZE * ROUNDS);
    for (unsigned char i = 0; i < ROUNDS; i++) {
        OK(t, yoke_queue_fill(queue, yoke_span(buffer, 0), &i, 1, SIZE));
        OK(t,
           yoke_queue_read(queue, seen + (size_t)i * SIZE, yoke_span(buffer, 0), SIZE));
    }
    OK(t, yoke_queue_sync(queue));
    for (size_t i = 0; i < (size_t)SIZE * ROUNDS; i++)
        if (seen[i] != i / SIZE)
            FAIL(t, "read %zu saw the fill of round %d", i / SIZE, seen[i]);
}

/* What was read is host memory that a later write takes: a loop through the host. */
static void write_after_read(yoke_cts_t *t)
{
    unsigned char data[3001], *bounce = yoke_cts_memory(t, sizeof data);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *a = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_buffer_t *b = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    yoke_cts_noise(data, sizeof data, 70);
    OK(t, yoke_queue_write(queue, yoke_span(a, 0), data, sizeof data));
    OK(t, yoke_queue_read(queue, bounce, yoke_span(a, 0), sizeof data));
    OK(t, yoke_queue_sync(queue));
    OK(t, yoke_queue_write(queue, yoke_span(b, 0), bounce, sizeof data));
    EXPECT(t, queue, b, 0, data, sizeof data);
}

/* --- random work -------------------------------------------------------------------- */

enum { AREA = 20000, BUFFERS = 4 };

typedef struct world {
    yoke_queue_t *queues[2];
    yoke_event_t *events[2];
    yoke_buffer_t *buffers[BUFFERS];
    unsigned char *models[BUFFERS];
    unsigned char *source; /* never changed while work is under way */
    uint64_t state;
} world_t;

static size_t below(world_t *world, size_t limit)
{
    return (size_t)(yoke_cts_random(&world->state) % limit);
}

static void random_copy(yoke_cts_t *t, world_t *world, yoke_queue_t *queue)
{
    size_t a = below(world, BUFFERS), b = below(world, BUFFERS - 1);
    b += b >= a;
    size_t size = 1 + below(world, AREA / 2), to = below(world, AREA - size + 1),
           from = below(world, AREA - size + 1);
    OK(t, yoke_queue_copy(queue, yoke_span(world->buffers[a], to),
                          yoke_span(world->buffers[b], from), size));
    memcpy(world->models[a] + to, world->models[b] + from, size);
}

static void random_fill(yoke_cts_t *t, world_t *world, yoke_queue_t *queue)
{
    unsigned char pattern[16];
    size_t a = below(world, BUFFERS), unit = (size_t)1 << below(world, 5);
    size_t count = 1 + below(world, AREA / 2 / unit);
    size_t to = below(world, AREA / unit - count + 1) * unit;
    yoke_cts_noise(pattern, sizeof pattern, world->state);
    OK(t, yoke_queue_fill(queue, yoke_span(world->buffers[a], to), pattern, unit,
                          unit * count));
    for (size_t i = 0; i < unit * count; i++)
        world->models[a][to + i] = pattern[i % unit];
}

static void random_write(yoke_cts_t *t, world_t *world, yoke_queue_t *queue)
{
    size_t a = below(world, BUFFERS), size = 1 + below(world, AREA / 2);
    size_t to = below(world, AREA - size + 1), from = below(world, AREA - size + 1);
    OK(t, yoke_queue_write(queue, yoke_span(world->buffers[a], to), world->source + from,
                           size));
    memcpy(world->models[a] + to, world->source + from, size);
}

static void random_step(yoke_cts_t *t, world_t *world, yoke_queue_t *queue)
{
    size_t kind = below(world, 3);
    if (kind == 0)
        random_copy(t, world, queue);
    else if (kind == 1)
        random_fill(t, world, queue);
    else
        random_write(t, world, queue);
}

static void make_world(yoke_cts_t *t, world_t *world, uint64_t seed)
{
    world->state = seed;
    world->source = yoke_cts_memory(t, AREA);
    yoke_cts_noise(world->source, AREA, seed + 1);
    for (size_t i = 0; i < 2; i++) {
        world->queues[i] = yoke_cts_queue(t, yoke_cts_device(t));
        world->events[i] = yoke_cts_event(t, yoke_cts_device(t), 0);
    }
    for (size_t i = 0; i < BUFFERS; i++) {
        world->buffers[i] = yoke_cts_buffer(t, yoke_cts_device(t), AREA);
        world->models[i] = yoke_cts_memory(t, AREA);
        yoke_cts_put(t, world->queues[0], world->buffers[i], 0, world->models[i], AREA);
    }
}

static void check_world(yoke_cts_t *t, world_t *world)
{
    for (size_t i = 0; i < BUFFERS; i++)
        EXPECT(t, world->queues[0], world->buffers[i], 0, world->models[i], AREA);
}

static void random_one_queue(yoke_cts_t *t)
{
    world_t world = {0};
    int64_t steps = yoke_cts_parameter(t);
    make_world(t, &world, (uint64_t)yoke_cts_second(t));
    for (int64_t i = 0; i < steps; i++)
        random_step(t, &world, world.queues[0]);
    check_world(t, &world);
}

/* Each step on a random queue; a change of queue goes through an event. */
static void random_two_queues(yoke_cts_t *t)
{
    world_t world = {0};
    size_t now = 0;
    int64_t steps = yoke_cts_parameter(t);
    make_world(t, &world, (uint64_t)yoke_cts_second(t));
    for (int64_t i = 0; i < steps; i++) {
        size_t next = below(&world, 2);
        if (next != now) {
            OK(t, yoke_event_record(world.events[now], world.queues[now]));
            OK(t, yoke_queue_wait(world.queues[next], world.events[now]));
        }
        now = next;
        random_step(t, &world, world.queues[now]);
    }
    OK(t, yoke_queue_sync(world.queues[1]));
    OK(t, yoke_queue_sync(world.queues[0]));
    check_world(t, &world);
}

/* Two queues at once on buffers of their own. */
static void two_queues_at_once(yoke_cts_t *t)
{
    world_t one = {0}, two = {0};
    make_world(t, &one, 81);
    make_world(t, &two, 82);
    for (int i = 0; i < 200; i++) {
        random_step(t, &one, one.queues[0]);
        random_step(t, &two, two.queues[0]);
    }
    check_world(t, &one);
    check_world(t, &two);
}

/* Two queues write halves of one buffer: bytes of the other half stay. */
static void two_queues_one_buffer(yoke_cts_t *t)
{
    enum { SIZE = 40001, CUT = 20003 };
    unsigned char *expected = yoke_cts_memory(t, SIZE);
    yoke_queue_t *a = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_queue_t *b = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
    for (unsigned char i = 0; i < 20; i++) {
        unsigned char other = (unsigned char)(200 - i);
        OK(t, yoke_queue_fill(a, yoke_span(buffer, 0), &i, 1, CUT));
        OK(t, yoke_queue_fill(b, yoke_span(buffer, CUT), &other, 1, SIZE - CUT));
    }
    OK(t, yoke_queue_sync(b));
    memset(expected, 19, CUT);
    memset(expected + CUT, 181, SIZE - CUT);
    EXPECT(t, a, buffer, 0, expected, SIZE);
}

/* --- host calls --------------------------------------------------------------------- */

typedef struct called {
    atomic_int count;
    const unsigned char *memory;
    unsigned char seen;
    int order[16];
    struct called *shared;
    int number;
} called_t;

static void note_call(void *context)
{
    called_t *called = context;
    called->seen = called->memory != NULL ? called->memory[0] : 0;
    atomic_fetch_add(&called->count, 1);
}

static void note_order(void *context)
{
    called_t *called = context;
    int at = atomic_fetch_add(&called->shared->count, 1);
    if (at < 16)
        called->shared->order[at] = called->number;
}

static void host_call_once(yoke_cts_t *t)
{
    called_t *called = yoke_cts_memory(t, sizeof *called);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    OK(t, yoke_queue_host_call(queue, note_call, called));
    OK(t, yoke_queue_sync(queue));
    EQUAL(t, 1, atomic_load(&called->count));
}

static void host_call_after_read(yoke_cts_t *t)
{
    called_t *called = yoke_cts_memory(t, sizeof *called);
    unsigned char *memory = yoke_cts_memory(t, 1 << 20), pattern = 0x6b;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 20);
    called->memory = memory;
    OK(t, yoke_queue_fill(queue, yoke_span(buffer, 0), &pattern, 1, 1 << 20));
    OK(t, yoke_queue_read(queue, memory, yoke_span(buffer, 0), 1 << 20));
    OK(t, yoke_queue_host_call(queue, note_call, called));
    OK(t, yoke_queue_sync(queue));
    EQUAL(t, 0x6b, called->seen);
}

static void host_calls_in_order(yoke_cts_t *t)
{
    called_t *all = yoke_cts_memory(t, 17 * sizeof *all);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (int i = 0; i < 16; i++) {
        all[i + 1].shared = &all[0];
        all[i + 1].number = i;
        OK(t, yoke_queue_host_call(queue, note_order, &all[i + 1]));
    }
    OK(t, yoke_queue_sync(queue));
    for (int i = 0; i < 16; i++)
        EQUAL(t, i, all[0].order[i]);
}

static void host_call_before_event(yoke_cts_t *t)
{
    called_t *called = yoke_cts_memory(t, sizeof *called);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    OK(t, yoke_queue_host_call(queue, note_call, called));
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    EQUAL(t, 1, atomic_load(&called->count));
}

static void host_call_absent(yoke_cts_t *t)
{
    called_t *called = yoke_cts_memory(t, sizeof *called);
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_HOST_CALL) != 0)
        yoke_cts_unsupported(t, "host calls are there");
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    GIVES(t, YOKE_ERR_UNSUPPORTED, yoke_queue_host_call(queue, note_call, called));
    OK(t, yoke_queue_sync(queue));
    EQUAL(t, 0, atomic_load(&called->count));
}

static const yoke_cts_case_t cases[] = {
    {"order/overwrites", 0, 0, overwrites, 0, 0},
    {"order/read-between-fills", 0, 0, read_between_fills, 0, 0},
    {"order/write-after-read", 0, 0, write_after_read, 0, 0},
    {"order/random-1000", 0, 0, random_one_queue, 1000, 91},
    {"order/random-300-a", 0, 0, random_one_queue, 300, 92},
    {"order/random-300-b", 0, 0, random_one_queue, 300, 93},
    {"order/random-two-queues-300", 0, 0, random_two_queues, 300, 94},
    {"order/random-two-queues-600", 0, 0, random_two_queues, 600, 95},
    {"order/two-queues-at-once", 0, 0, two_queues_at_once, 0, 0},
    {"order/two-queues-one-buffer", 0, 0, two_queues_one_buffer, 0, 0},
    {"host-call/once", YOKE_CAP_HOST_CALL, 0, host_call_once, 0, 0},
    {"host-call/after-read", YOKE_CAP_HOST_CALL, 0, host_call_after_read, 0, 0},
    {"host-call/in-order", YOKE_CAP_HOST_CALL, 0, host_calls_in_order, 0, 0},
    {"host-call/before-event", YOKE_CAP_HOST_CALL, 0, host_call_before_event, 0, 0},
    {"host-call/absent", 0, 0, host_call_absent, 0, 0},
};

YOKE_CTS_GROUP(order, cases);
