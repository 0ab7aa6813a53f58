/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caching allocator: blocks.c keeps the books, this file asks the device for
 * segments, waits for queues where memory changes hands, and counts.
 *
 * A block that other queues used waits after its free for one event each, and comes back
 * when they are reached: looked for only while there are such blocks.
 */
#include "yoke/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/live/object.h"
#include "hal/memory/blocks.h"

typedef struct waiting {
    yoke_event_t *event;
    yoke_block_t *block;
} waiting_t;

struct yoke_pool {
    yoke_object_t object;
    pthread_mutex_t lock;
    yoke_device_t *device;
    yoke_pool_options_t options;
    yoke_blocks_t blocks;
    yoke_pool_stats_t stats;
    waiting_t *waiting;
    size_t waiting_count, waiting_capacity;
    yoke_event_t **events; /* to be used again */
    size_t event_count, event_capacity;
};

/* --- making and ending
 * ------------------------------------------------------------------- */

static yoke_status_t check_options(const yoke_device_t *device,
                                   const yoke_pool_options_t *options)
{
    if (options->kind != YOKE_MEMORY_DEVICE && options->kind != YOKE_MEMORY_HOST &&
        options->kind != YOKE_MEMORY_SHARED)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_pool_create: no kind of memory %d",
                         (int)options->kind);
    if (options->max_split != 0 && options->max_split < YOKE_POOL_MEDIUM_SEGMENT)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_pool_create: max_split %llu is below 20 MiB, the size of "
                         "segments that are shared",
                         (unsigned long long)options->max_split);
    uint64_t needed = options->kind == YOKE_MEMORY_HOST     ? YOKE_CAP_PINNED
                      : options->kind == YOKE_MEMORY_SHARED ? YOKE_CAP_SHARED
                                                            : 0;
    if ((device->info.capabilities & needed) != needed)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "yoke_pool_create: %s has no %s memory",
                         device->label, yoke_capability_name(needed));
    return YOKE_OK;
}

yoke_status_t yoke_pool_create(yoke_device_t *device, const yoke_pool_options_t *options,
                               yoke_pool_t **out_pool)
{
    static const char call[] = "yoke_pool_create";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status != YOKE_OK)
        return status;
    yoke_pool_options_t taken = {.struct_size = sizeof taken};
    status = yoke_options_take(&taken, sizeof taken, options, call);
    if (status == YOKE_OK && out_pool == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: out_pool is NULL", call);
    if (status == YOKE_OK)
        status = check_options(device, &taken);
    if (status != YOKE_OK)
        return status;

    yoke_pool_t *pool = yoke_object_new(sizeof *pool, YOKE_OBJECT_POOL, device);
    if (pool == NULL)
        return YOKE_ERR_NO_MEMORY;
    if (!yoke_blocks_init(&pool->blocks, taken.max_split)) {
        yoke_object_discard(&pool->object);
        return yoke_fail_memory();
    }
    pool->device = device;
    pool->options = taken;
    pthread_mutex_init(&pool->lock, NULL);
    yoke_object_attach(&pool->object);
    *out_pool = pool;
    return YOKE_OK;
}

void yoke_pool_destroy(yoke_pool_t *pool)
{
    if (!yoke_object_endable(YOKE_OBJECT(pool), YOKE_OBJECT_POOL, "yoke_pool_destroy"))
        return;
    for (size_t i = 0; i < pool->waiting_count; i++)
        yoke_event_destroy(pool->waiting[i].event);
    for (size_t i = 0; i < pool->event_count; i++)
        yoke_event_destroy(pool->events[i]);
    for (yoke_segment_t *segment = pool->blocks.segments; segment != NULL;
         segment = segment->next)
        yoke_buffer_destroy(segment->buffer);
    yoke_blocks_end(&pool->blocks);
    free(pool->waiting);
    free(pool->events);
    pthread_mutex_destroy(&pool->lock);
    yoke_object_end(&pool->object);
}

/* --- blocks that wait for other queues
 * ----------------------------------------------------- */

static void keep_event(yoke_pool_t *pool, yoke_event_t *event)
{
    if (pool->event_count == pool->event_capacity) {
        size_t capacity = pool->event_capacity * 2 + 8;
        yoke_event_t **events = realloc(pool->events, capacity * sizeof *events);
        if (events == NULL) {
            yoke_event_destroy(event);
            return;
        }
        pool->events = events;
        pool->event_capacity = capacity;
    }
    pool->events[pool->event_count++] = event;
}

static yoke_status_t get_event(yoke_pool_t *pool, yoke_event_t **out_event)
{
    if (pool->event_count == 0)
        return yoke_event_create(pool->device, 0, out_event);
    *out_event = pool->events[--pool->event_count];
    return YOKE_OK;
}

/* Take back what has passed; with `wait`, all. */
static yoke_status_t collect(yoke_pool_t *pool, bool wait)
{
    size_t kept = 0;
    yoke_status_t result = YOKE_OK;
    for (size_t i = 0; i < pool->waiting_count; i++) {
        waiting_t *waiting = &pool->waiting[i];
        yoke_status_t status = result != YOKE_OK ? YOKE_ERR_NOT_READY
                               : wait            ? yoke_event_sync(waiting->event)
                                                 : yoke_event_query(waiting->event);
        if (status == YOKE_OK) {
            keep_event(pool, waiting->event);
            if (--waiting->block->pending == 0 && waiting->block->freed)
                yoke_blocks_give(&pool->blocks, waiting->block);
            continue;
        }
        if (status != YOKE_ERR_NOT_READY)
            result = status;
        pool->waiting[kept++] = *waiting;
    }
    pool->waiting_count = kept;
    return result;
}

static bool reserve_waiting(yoke_pool_t *pool, size_t more)
{
    size_t needed = pool->waiting_count + more;
    if (needed <= pool->waiting_capacity)
        return true;
    size_t capacity = needed * 2;
    waiting_t *waiting = realloc(pool->waiting, capacity * sizeof *waiting);
    if (waiting == NULL)
        return false;
    pool->waiting = waiting;
    pool->waiting_capacity = capacity;
    return true;
}

/* One event on each queue that used the block besides its own. */
static yoke_status_t wait_for_users(yoke_pool_t *pool, yoke_block_t *block)
{
    if (!reserve_waiting(pool, block->user_count))
        return yoke_fail_memory();
    while (block->user_count > 0) {
        yoke_event_t *event;
        yoke_status_t status = get_event(pool, &event);
        if (status != YOKE_OK)
            return status;
        status = yoke_event_record(event, block->users[block->user_count - 1]);
        if (status != YOKE_OK) {
            keep_event(pool, event);
            return status;
        }
        block->user_count--;
        block->pending++;
        pool->waiting[pool->waiting_count++] = (waiting_t){event, block};
    }
    return YOKE_OK;
}

/* --- segments
 * ------------------------------------------------------------------------------ */

/* Work of the queues that used the segment may still run. */
static yoke_status_t sync_segment(const yoke_segment_t *segment)
{
    const yoke_queue_t *last = NULL;
    for (yoke_block_t *block = segment->first; block != NULL; block = block->after) {
        if (block->queue == NULL || block->queue == last)
            continue;
        yoke_status_t status = yoke_queue_sync(block->queue);
        if (status != YOKE_OK)
            return status;
        last = block->queue;
    }
    return YOKE_OK;
}

/* Give wholly free segments back until at most `keep` bytes are reserved. */
static yoke_status_t release_segments(yoke_pool_t *pool, uint64_t keep,
                                      uint64_t *out_released)
{
    yoke_status_t status = collect(pool, true);
    yoke_segment_t *segment = pool->blocks.segments;
    *out_released = 0;
    while (status == YOKE_OK && segment != NULL && pool->stats.reserved > keep) {
        yoke_segment_t *next = segment->next;
        if (yoke_segment_is_free(segment)) {
            status = sync_segment(segment);
            if (status != YOKE_OK)
                break;
            uint64_t size = segment->size;
            yoke_buffer_destroy(yoke_blocks_remove(&pool->blocks, segment));
            pool->stats.reserved -= size;
            pool->stats.segments--;
            *out_released += size;
        }
        segment = next;
    }
    return status;
}

static yoke_status_t new_buffer(yoke_pool_t *pool, uint64_t size,
                                yoke_buffer_t **out_buffer)
{
    if (pool->options.limit != 0 && pool->stats.reserved + size > pool->options.limit)
        return YOKE_ERR_DEVICE_MEMORY; /* the caller makes the message */
    yoke_fail_quiet(true);
    yoke_status_t status =
        yoke_buffer_create(pool->device, pool->options.kind, size, out_buffer);
    yoke_fail_quiet(false);
    return status;
}

static yoke_status_t out_of_memory(yoke_pool_t *pool, uint64_t size)
{
    char want[32], used[32], reserved[32], limit[32], available[32] = "unknown";
    uint64_t bytes = 0;
    pool->stats.failures++;
    if (yoke_device_memory(pool->device, &bytes, NULL) == YOKE_OK)
        yoke_show_bytes((double)bytes, available);
    return yoke_fail(
        YOKE_ERR_DEVICE_MEMORY,
        "yoke_pool_allocate: no %s on %s: %s handed out, %s reserved, limit of "
        "the pool %s, free on the device %s",
        yoke_show_bytes((double)size, want), pool->device->label,
        yoke_show_bytes((double)pool->stats.allocated, used),
        yoke_show_bytes((double)pool->stats.reserved, reserved),
        pool->options.limit != 0 ? yoke_show_bytes((double)pool->options.limit, limit)
                                 : "none",
        available);
}

/* A segment for a request; a full device is asked again after all that is cached went
 * back, and at last for no more than the request itself. */
static yoke_status_t add_segment(yoke_pool_t *pool, yoke_queue_t *queue, uint64_t rounded,
                                 yoke_block_t **out_block)
{
    yoke_buffer_t *buffer = NULL;
    uint64_t size = yoke_blocks_segment_size(rounded), released = 0;
    yoke_status_t status = new_buffer(pool, size, &buffer);
    if (status == YOKE_ERR_DEVICE_MEMORY) {
        status = release_segments(pool, 0, &released);
        if (status != YOKE_OK)
            return status;
        pool->stats.retries++;
        status = new_buffer(pool, size, &buffer);
        if (status == YOKE_ERR_DEVICE_MEMORY && rounded < size) {
            size = rounded;
            status = new_buffer(pool, size, &buffer);
        }
        if (status == YOKE_ERR_DEVICE_MEMORY)
            return out_of_memory(pool, rounded);
    }
    if (status != YOKE_OK)
        return status;
    *out_block = yoke_blocks_add(&pool->blocks, buffer, size,
                                 yoke_blocks_is_small(rounded), queue);
    if (*out_block == NULL) {
        yoke_buffer_destroy(buffer);
        return yoke_fail_memory();
    }
    yoke_pool_stats_t *stats = &pool->stats;
    stats->reserved += size;
    stats->segments++;
    stats->device_allocations++;
    if (stats->reserved > stats->reserved_peak)
        stats->reserved_peak = stats->reserved;
    return YOKE_OK;
}

/* --- allocating and freeing
 * ------------------------------------------------------------------ */

static yoke_status_t check_pool(const yoke_pool_t *pool, const char *call)
{
    return yoke_object_check_handle(YOKE_OBJECT(pool), YOKE_OBJECT_POOL, call);
}

static yoke_status_t check_queue(const yoke_pool_t *pool, const yoke_queue_t *queue,
                                 const char *call)
{
    yoke_status_t status = check_pool(pool, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK && !yoke_device_same(queue->object.device, pool->device))
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the queue is of %s, the pool of %s", call,
                           queue->object.device->label, pool->device->label);
    return status;
}

static yoke_status_t allocate(yoke_pool_t *pool, yoke_queue_t *queue, uint64_t size,
                              yoke_span_t *out_span)
{
    uint64_t rounded = yoke_blocks_round(size);
    yoke_status_t status = pool->waiting_count > 0 ? collect(pool, false) : YOKE_OK;
    if (status != YOKE_OK)
        return status;
    yoke_block_t *block = yoke_blocks_find(&pool->blocks, queue, rounded);
    if (block == NULL)
        status = add_segment(pool, queue, rounded, &block);
    if (status != YOKE_OK)
        return status;
    if (!yoke_blocks_take(&pool->blocks, block, queue, rounded, size))
        return yoke_fail_memory();
    yoke_pool_stats_t *stats = &pool->stats;
    stats->allocations++;
    stats->allocated += block->size;
    stats->requested += size;
    if (stats->allocated > stats->allocated_peak)
        stats->allocated_peak = stats->allocated;
    *out_span = yoke_span(block->segment->buffer, block->offset);
    return YOKE_OK;
}

yoke_status_t yoke_pool_allocate(yoke_pool_t *pool, yoke_queue_t *queue, uint64_t size,
                                 yoke_span_t *out_span)
{
    static const char call[] = "yoke_pool_allocate";
    yoke_status_t status = check_queue(pool, queue, call);
    if (status == YOKE_OK && out_span == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: out_span is NULL", call);
    if (status == YOKE_OK && size == 0)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the size is 0; it is at least 1", call);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    /* Above that, rounding up would wrap around; no device has so much. */
    status = size > (uint64_t)1 << 62 ? out_of_memory(pool, size)
                                      : allocate(pool, queue, size, out_span);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

static yoke_status_t not_handed_out(const char *call, yoke_span_t span)
{
    return yoke_fail(YOKE_ERR_USAGE,
                     "%s: the span at byte %llu of buffer %p was not handed out by this "
                     "pool, or was freed before",
                     call, (unsigned long long)span.offset, (void *)span.buffer);
}

static yoke_status_t add_user(yoke_block_t *block, yoke_queue_t *queue)
{
    if (block->queue == queue)
        return YOKE_OK;
    for (size_t i = 0; i < block->user_count; i++)
        if (block->users[i] == queue)
            return YOKE_OK;
    yoke_queue_t **users =
        realloc(block->users, (block->user_count + 1) * sizeof *block->users);
    if (users == NULL)
        return yoke_fail_memory();
    users[block->user_count++] = queue;
    block->users = users;
    return YOKE_OK;
}

yoke_status_t yoke_pool_record(yoke_pool_t *pool, yoke_span_t span, yoke_queue_t *queue)
{
    static const char call[] = "yoke_pool_record";
    yoke_status_t status = check_queue(pool, queue, call);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    yoke_block_t *block = yoke_blocks_at(&pool->blocks, span);
    status = block != NULL ? add_user(block, queue) : not_handed_out(call, span);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

static yoke_status_t give_back(yoke_pool_t *pool, yoke_block_t *block)
{
    yoke_status_t status = wait_for_users(pool, block);
    if (status != YOKE_OK)
        return status; /* it stays handed out: freeing it may be tried again */
    yoke_blocks_forget(&pool->blocks, block);
    pool->stats.allocated -= block->size;
    pool->stats.requested -= block->requested;
    block->freed = true;
    if (block->pending == 0)
        yoke_blocks_give(&pool->blocks, block);
    return YOKE_OK;
}

yoke_status_t yoke_pool_free(yoke_pool_t *pool, yoke_span_t span)
{
    static const char call[] = "yoke_pool_free";
    yoke_status_t status = check_pool(pool, call);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    yoke_block_t *block = yoke_blocks_at(&pool->blocks, span);
    status = block != NULL ? give_back(pool, block) : not_handed_out(call, span);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* --- the rest
 * --------------------------------------------------------------------------------- */

yoke_status_t yoke_pool_trim(yoke_pool_t *pool, uint64_t keep, uint64_t *out_released)
{
    uint64_t released = 0;
    yoke_status_t status = check_pool(pool, "yoke_pool_trim");
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    status = release_segments(pool, keep, &released);
    pthread_mutex_unlock(&pool->lock);
    if (status == YOKE_OK && out_released != NULL)
        *out_released = released;
    return status;
}

yoke_status_t yoke_pool_stats(yoke_pool_t *pool, yoke_pool_stats_t *stats)
{
    yoke_status_t status = check_pool(pool, "yoke_pool_stats");
    if (status == YOKE_OK && stats == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "yoke_pool_stats: stats is NULL");
    if (status != YOKE_OK)
        return status;
    size_t size = stats->struct_size;
    if (size < sizeof stats->struct_size)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_pool_stats: struct_size is %zu", size);
    pthread_mutex_lock(&pool->lock);
    yoke_pool_stats_t now = pool->stats;
    now.inactive_split = yoke_blocks_inactive(&pool->blocks);
    pthread_mutex_unlock(&pool->lock);
    memcpy(stats, &now, size < sizeof now ? size : sizeof now);
    stats->struct_size = size;
    return YOKE_OK;
}

yoke_status_t yoke_pool_forget_queue(yoke_pool_t *pool, yoke_queue_t *queue)
{
    static const char call[] = "yoke_pool_forget_queue";
    yoke_status_t status = check_queue(pool, queue, call);
    if (status != YOKE_OK)
        return status;
    status = yoke_queue_sync(queue);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&pool->lock);
    yoke_blocks_forget_queue(&pool->blocks, queue);
    status = collect(pool, false);
    pthread_mutex_unlock(&pool->lock);
    return status;
}
