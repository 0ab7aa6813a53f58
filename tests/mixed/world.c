/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a world, their order, and what they are compared with. */
#include "tests/mixed/world.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
uint32_t world_random(world_t *world, uint32_t below)
{
    uint64_t x = world->random += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ (x >> 31)) >> 32) % below;
}

bool world_check(world_t *world, yoke_status_t status, const char *what, const end_t *end)
{
    if (status == YOKE_OK)
        return true;
    if (!world->failed)
        printf("%s on %s: %s: %s\n", what, end->name, yoke_status_name(status),
               yoke_last_error());
    world->failed = true;
    return false;
}

/* --- making ---------------------------------------------------------------------------
 */

static bool make_slot(world_t *world, end_t *end, yoke_memory_kind_t kind)
{
    slot_t *slot = &end->slots[end->slot_count];
    yoke_buffer_t *buffer = NULL;
    void *host = NULL;
    if (!world_check(world, yoke_buffer_create(end->device, kind, SLOT_SIZE, &buffer),
                     "yoke_buffer_create", end))
        return false;
    *slot = (slot_t){.span = yoke_span(buffer, 0), .size = SLOT_SIZE};
    if (kind == YOKE_MEMORY_HOST && yoke_buffer_host_address(buffer, &host) == YOKE_OK)
        slot->host = host;
    slot->model = calloc(1, SLOT_SIZE);
    end->slot_count++;
    unsigned char zero = 0;
    return slot->model != NULL &&
           world_check(world,
                       yoke_queue_fill(end->queues[0], slot->span, &zero, 1, SLOT_SIZE),
                       "yoke_queue_fill", end) &&
           world_check(world, yoke_queue_sync(end->queues[0]), "yoke_queue_sync", end);
}

static bool make_end(world_t *world, end_t *end)
{
    yoke_device_t *device = end->device;
    bool well = true;
    end->info.struct_size = sizeof end->info;
    well = world_check(world, yoke_device_info(device, &end->info), "info", end);
    for (unsigned i = 0; i < QUEUES && well; i++)
        well = world_check(world, yoke_queue_create(device, NULL, &end->queues[i]),
                           "yoke_queue_create", end);
    for (unsigned i = 0; i < EVENTS && well; i++)
        well = world_check(world, yoke_event_create(device, 0, &end->events[i]),
                           "yoke_event_create", end);
    if (well)
        well = world_check(world, yoke_pool_create(device, NULL, &end->pool),
                           "yoke_pool_create", end);
    bool pinned = (end->info.capabilities & YOKE_CAP_PINNED) != 0;
    for (unsigned i = 0; i < SLOTS && well; i++)
        well = make_slot(world, end,
                         i == 0 && pinned ? YOKE_MEMORY_HOST : YOKE_MEMORY_DEVICE);
    return well;
}

bool world_make(world_t *world, const char *const *names, yoke_device_t *const *devices,
                unsigned count, uint64_t seed)
{
    memset(world, 0, sizeof *world);
    world->random = seed;
    for (unsigned i = 0; i < count; i++) {
        end_t *end = &world->ends[world->count++];
        snprintf(end->name, sizeof end->name, "%s", names[i]);
        end->device = devices[i];
        if (!make_end(world, end))
            return false;
    }
    return true;
}

void world_end(world_t *world)
{
    for (unsigned i = 0; i < world->count; i++)
        for (unsigned j = 0; j < world->count; j++)
            yoke_transfer_destroy(world->transfers[i][j]);
    for (unsigned i = 0; i < world->count; i++) {
        end_t *end = &world->ends[i];
        for (unsigned s = 0; s < end->slot_count; s++) {
            free(end->slots[s].model);
            if (s < SLOTS)
                yoke_buffer_destroy(end->slots[s].span.buffer);
        }
        yoke_pool_destroy(end->pool);
        for (unsigned e = 0; e < EVENTS; e++)
            yoke_event_destroy(end->events[e]);
        for (unsigned q = 0; q < QUEUES; q++)
            yoke_queue_destroy(end->queues[q]);
    }
    for (unsigned i = 0; i < world->kept_count; i++)
        free(world->kept[i]);
}

/* --- order ----------------------------------------------------------------------------
 */

static void poll_one(world_t *world, unsigned i, unsigned j)
{
    yoke_status_t status = yoke_transfer_poll(world->transfers[i][j]);
    if (status == YOKE_ERR_NOT_READY)
        return;
    world_check(world, status, "yoke_transfer_poll", &world->ends[j]);
    world->open[i][j] = false;
    world->open_count--;
}

/* All in turn: one may stand in a queue behind another. */
void world_advance(world_t *world)
{
    while (world->open_count > 0) {
        for (unsigned i = 0; i < world->count; i++)
            for (unsigned j = 0; j < world->count; j++)
                if (world->open[i][j])
                    poll_one(world, i, j);
        sched_yield();
    }
    world->open_starts = 0;
}

void world_use(world_t *world, end_t *end, slot_t *slot, unsigned queue)
{
    yoke_event_t *event = end->events[end->next_event];
    if (slot->used && slot->queue != queue) {
        end->next_event = (end->next_event + 1) % EVENTS;
        world_check(world, yoke_event_record(event, end->queues[slot->queue]),
                    "yoke_event_record", end);
        world_check(world, yoke_queue_wait(end->queues[queue], event), "yoke_queue_wait",
                    end);
    }
    if (slot - end->slots >= SLOTS && queue != slot->home &&
        (slot->seen & (1u << queue)) == 0) {
        slot->seen |= 1u << queue;
        world_check(world, yoke_pool_record(end->pool, slot->span, end->queues[queue]),
                    "yoke_pool_record", end);
    }
    slot->used = true;
    slot->queue = queue;
}

void *world_keep(world_t *world, uint64_t size)
{
    if (world->kept_count == KEPT)
        world_settle(world, false);
    void *memory = malloc(size);
    if (memory == NULL)
        abort();
    world->kept[world->kept_count++] = memory;
    return memory;
}

/* --- comparing ------------------------------------------------------------------------
 */

static void compare(world_t *world, const unsigned char *got,
                    const unsigned char *expected, uint64_t size, const char *device)
{
    world->compared += size;
    if (memcmp(got, expected, size) == 0 || world->failed)
        return;
    uint64_t at = 0;
    while (got[at] == expected[at])
        at++;
    printf("%s: byte %llu of %llu is %02x and should be %02x\n", device,
           (unsigned long long)at, (unsigned long long)size, got[at], expected[at]);
    world->failed = true;
}

static void compare_all(world_t *world)
{
    static _Thread_local unsigned char got[SLOT_SIZE];
    for (unsigned i = 0; i < world->count; i++) {
        end_t *end = &world->ends[i];
        for (unsigned s = 0; s < end->slot_count; s++) {
            slot_t *slot = &end->slots[s];
            world_use(world, end, slot, 0);
            world_check(world,
                        yoke_queue_read(end->queues[0], got, slot->span, slot->size),
                        "yoke_queue_read", end);
            world_check(world, yoke_queue_sync(end->queues[0]), "yoke_queue_sync", end);
            compare(world, got, slot->model, slot->size, end->name);
        }
    }
}

void world_settle(world_t *world, bool all)
{
    world_advance(world);
    for (unsigned i = 0; i < world->count; i++)
        for (unsigned q = 0; q < QUEUES; q++)
            world_check(world, yoke_queue_sync(world->ends[i].queues[q]),
                        "yoke_queue_sync", &world->ends[i]);
    for (unsigned i = 0; i < world->read_count; i++)
        compare(world, world->reads[i].got, world->reads[i].expected,
                world->reads[i].size, world->reads[i].device);
    world->read_count = 0;
    for (unsigned i = 0; i < world->kept_count; i++)
        free(world->kept[i]);
    world->kept_count = 0;
    if (all)
        compare_all(world);
}
