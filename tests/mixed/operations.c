/* SPDX-License-Identifier: Apache-2.0 */
/* The random operations. Each changes the model at once and enqueues the same. */
#include "tests/mixed/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct range {
    end_t *end;
    slot_t *slot;
    unsigned queue;
    uint64_t offset;
} range_t;

/* Mostly small, some odd, some the whole. */
static uint64_t random_size(world_t *world, uint64_t limit)
{
    uint64_t size;
    switch (world_random(world, 8)) {
    case 0:
        size = limit;
        break;
    case 1:
    case 2:
        size = 1 + world_random(world, (uint32_t)limit);
        break;
    case 3:
        size = 1;
        break;
    default:
        size = 1 + world_random(world, 3000);
    }
    return size < limit ? size : limit;
}

static range_t random_range(world_t *world)
{
    range_t range;
    range.end = &world->ends[world_random(world, world->count)];
    range.slot = &range.end->slots[world_random(world, range.end->slot_count)];
    range.queue = world_random(world, QUEUES);
    range.offset = 0;
    return range;
}

static uint64_t place(world_t *world, range_t *range, uint64_t size)
{
    range->offset = world_random(world, (uint32_t)(range->slot->size - size + 1));
    return range->slot->span.offset + range->offset;
}

static yoke_span_t span_of(const range_t *range)
{
    return yoke_span(range->slot->span.buffer, range->slot->span.offset + range->offset);
}

static yoke_queue_t *queue_of(const range_t *range)
{
    return range->end->queues[range->queue];
}

static void use(world_t *world, const range_t *range)
{
    world_use(world, range->end, range->slot, range->queue);
}

static void noise(world_t *world, unsigned char *data, uint64_t size)
{
    uint32_t word = world_random(world, UINT32_MAX) | 1u;
    for (uint64_t i = 0; i < size; i++) {
        word = word * 1664525u + 1013904223u;
        data[i] = (unsigned char)(word >> 24);
    }
}

/* --- one device -----------------------------------------------------------------------
 */

static void copy_within(world_t *world)
{
    range_t to = random_range(world), from = to;
    from.slot = &to.end->slots[world_random(world, to.end->slot_count)];
    if (from.slot == to.slot)
        from.slot =
            &to.end->slots[(size_t)(to.slot - to.end->slots + 1) % to.end->slot_count];
    uint64_t limit = to.slot->size < from.slot->size ? to.slot->size : from.slot->size;
    uint64_t size = random_size(world, limit);
    place(world, &to, size);
    place(world, &from, size);
    use(world, &to);
    use(world, &from);
    world_check(world, yoke_queue_copy(queue_of(&to), span_of(&to), span_of(&from), size),
                "yoke_queue_copy", to.end);
    memcpy(to.slot->model + to.offset, from.slot->model + from.offset, size);
}

static void fill(world_t *world)
{
    range_t to = random_range(world);
    unsigned char pattern[16];
    uint64_t width = 1u << world_random(world, 5);
    uint64_t size = (random_size(world, to.slot->size) + width - 1) / width * width;
    noise(world, pattern, width);
    if (size > to.slot->size)
        size -= width;
    if (size == 0)
        return;
    place(world, &to, size);
    to.offset = to.offset / width * width;
    use(world, &to);
    world_check(world, yoke_queue_fill(queue_of(&to), span_of(&to), pattern, width, size),
                "yoke_queue_fill", to.end);
    for (uint64_t at = 0; at < size; at += width)
        memcpy(to.slot->model + to.offset + at, pattern, width);
}

static void write_host(world_t *world)
{
    range_t to = random_range(world);
    uint64_t size = random_size(world, to.slot->size);
    unsigned char *data = world_keep(world, size);
    noise(world, data, size);
    place(world, &to, size);
    use(world, &to);
    world_check(world, yoke_queue_write(queue_of(&to), span_of(&to), data, size),
                "yoke_queue_write", to.end);
    memcpy(to.slot->model + to.offset, data, size);
}

static void read_host(world_t *world)
{
    range_t from = random_range(world);
    uint64_t size = random_size(world, from.slot->size);
    if (world->read_count == MAX_READS || world->kept_count + 2 > KEPT)
        world_settle(world, false);
    read_back_t *read = &world->reads[world->read_count];
    read->got = world_keep(world, size);
    read->expected = world_keep(world, size);
    read->size = size;
    read->device = from.end->name;
    place(world, &from, size);
    use(world, &from);
    memcpy(read->expected, from.slot->model + from.offset, size);
    world->read_count++;
    world_check(world, yoke_queue_read(queue_of(&from), read->got, span_of(&from), size),
                "yoke_queue_read", from.end);
}

static void pool(world_t *world)
{
    end_t *end = &world->ends[world_random(world, world->count)];
    unsigned queue = world_random(world, QUEUES);
    if (end->slot_count == MAX_SLOTS) {
        slot_t *slot = &end->slots[SLOTS + world_random(world, MAX_SLOTS - SLOTS)];
        world_settle(world, false); /* reads and transfers of it have ended */
        world_check(world, yoke_pool_free(end->pool, slot->span), "yoke_pool_free", end);
        free(slot->model);
        *slot = end->slots[--end->slot_count];
        return;
    }
    slot_t *slot = &end->slots[end->slot_count];
    uint64_t size = 1 + world_random(world, SLOT_SIZE);
    *slot = (slot_t){.size = size, .home = queue, .queue = queue, .used = true};
    if (!world_check(world,
                     yoke_pool_allocate(end->pool, end->queues[queue], size, &slot->span),
                     "yoke_pool_allocate", end))
        return;
    slot->model = calloc(1, size);
    end->slot_count++;
    world_check(world, yoke_queue_fill(end->queues[queue], slot->span, "\0", 1, size),
                "yoke_queue_fill", end);
}

/* --- two devices ----------------------------------------------------------------------
 */

static yoke_transfer_t *transfer_of(world_t *world, unsigned from, unsigned to)
{
    yoke_transfer_t **transfer = &world->transfers[from][to];
    if (*transfer != NULL)
        return *transfer;
    /* Oclgrind 21.10 keeps commands and buffers in maps without locks (asyncQueueRelease,
     * Memory::deallocateBuffer): it is one thread's. */
    bool threaded = (from * 5 + to) % 7 == 0 &&
                    world->ends[from].info.kind != YOKE_DEVICE_EMULATOR &&
                    world->ends[to].info.kind != YOKE_DEVICE_EMULATOR;
    yoke_transfer_options_t options = {sizeof options,
                                       threaded ? YOKE_TRANSFER_THREAD : 0, 3, 4096};
    world->threaded[from][to] = threaded;
    world_check(world,
                yoke_transfer_create(world->ends[from].device, world->ends[to].device,
                                     &options, transfer),
                "yoke_transfer_create", &world->ends[to]);
    return *transfer;
}

static void note_open(world_t *world, unsigned from, unsigned to)
{
    world->open_starts++;
    if (world->open[from][to])
        return;
    world->open[from][to] = true;
    world->open_count++;
}

static void transfer(world_t *world)
{
    range_t to = random_range(world), from = random_range(world);
    if (to.end == from.end)
        return;
    unsigned a = (unsigned)(from.end - world->ends), b = (unsigned)(to.end - world->ends);
    uint64_t limit = to.slot->size < from.slot->size ? to.slot->size : from.slot->size;
    uint64_t size = random_size(world, limit);
    yoke_transfer_t *object = transfer_of(world, a, b);
    if (object == NULL)
        return;
    /* start() drives without a gate at the destination, and from a source without gates
     * when there are more chunks than slots; it may wait for what only we advance. */
    if (strcmp(yoke_transfer_method(object), "driven") == 0 ||
        (from.end->info.capabilities & YOKE_CAP_GATE) == 0)
        world_advance(world);
    place(world, &to, size);
    place(world, &from, size);
    use(world, &to);
    use(world, &from);
    yoke_status_t status = yoke_transfer_start(object, queue_of(&to), span_of(&to),
                                               queue_of(&from), span_of(&from), size);
    if (!world_check(world, status, "yoke_transfer_start", to.end))
        return;
    memcpy(to.slot->model + to.offset, from.slot->model + from.offset, size);
    note_open(world, a, b);
}

/* A device reads into pinned memory of another; the other's queue waits for the first's
 * event and copies it on. Without a gate the host waits. */
static void foreign_event(world_t *world)
{
    range_t from = random_range(world), to = random_range(world);
    slot_t *meeting = &to.end->slots[0];
    if (to.end == from.end || meeting->host == NULL)
        return;
    unsigned a = (unsigned)(from.end - world->ends), b = (unsigned)(to.end - world->ends);
    if (to.slot == meeting)
        to.slot = &to.end->slots[1];
    uint64_t limit = to.slot->size < from.slot->size ? to.slot->size : from.slot->size;
    uint64_t size = random_size(world, limit);
    place(world, &from, size);
    place(world, &to, size);
    /* The meeting place must be free for a foreign queue. */
    world_advance(world);
    world_settle(world, false);
    use(world, &from);
    yoke_event_t *event = from.end->events[from.end->next_event];
    from.end->next_event = (from.end->next_event + 1) % EVENTS;
    world_check(world,
                yoke_queue_read(queue_of(&from), meeting->host, span_of(&from), size),
                "yoke_queue_read", from.end);
    world_check(world, yoke_event_record(event, queue_of(&from)), "yoke_event_record",
                from.end);
    yoke_transfer_t *object = transfer_of(world, a, b);
    yoke_status_t status = yoke_transfer_wait_event(object, queue_of(&to), event);
    if (status == YOKE_ERR_UNSUPPORTED)
        world_check(world, yoke_event_sync(event), "yoke_event_sync", from.end);
    else if (world_check(world, status, "yoke_transfer_wait_event", to.end))
        note_open(world, a, b);
    range_t via = {to.end, meeting, to.queue, 0};
    use(world, &via);
    use(world, &to);
    world_check(world, yoke_queue_copy(queue_of(&to), span_of(&to), span_of(&via), size),
                "yoke_queue_copy", to.end);
    memcpy(meeting->model, from.slot->model + from.offset, size);
    memcpy(to.slot->model + to.offset, meeting->model, size);
}

/* --- the mix --------------------------------------------------------------------------
 */

void world_step(world_t *world)
{
    static const struct {
        void (*run)(world_t *world);
        unsigned share;
        bool light; /* never waits: may come between a copy's start and its end */
    } mix[] = {
        {copy_within, 20, true}, {fill, 14, true},     {write_host, 16, false},
        {read_host, 16, false},  {transfer, 26, true}, {foreign_event, 4, false},
        {pool, 4, false},
    };
    uint32_t pick = world_random(world, 100);
    size_t i = 0;
    while (pick >= mix[i].share)
        pick -= mix[i++].share;
    /* A transfer takes 64 chunks, of which a copy may have 12, before start() waits. */
    if (!mix[i].light || world->open_starts >= 5)
        world_advance(world);
    mix[i].run(world);
    world->done[i]++;
}
