/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks. A native event is a flag: recording an event of ours again must not reset the
 * flag while somebody still waits for its first meaning. So every recording takes a mark
 * that nothing needs any more: it was signalled, and the queues that were told to wait
 * for it are known to have passed that point (by a sync, or by a later event that the
 * host saw signalled).
 */
#include "backends/level_zero/live.h"

#include <stdlib.h>

#include "base/error.h"

#define SEARCH 16 /* spare marks looked at before a new one is made */

void yoke_ze_passed(yoke_ze_progress_t *progress, uint64_t ticket)
{
    uint64_t old = atomic_load_explicit(&progress->passed, memory_order_relaxed);
    while (old < ticket && !atomic_compare_exchange_weak_explicit(
                               &progress->passed, &old, ticket, memory_order_release,
                               memory_order_relaxed))
        ;
}

static bool waits_passed(const yoke_ze_mark_t *mark)
{
    for (uint32_t i = 0; i < mark->wait_count; i++)
        if (atomic_load_explicit(&mark->waits[i].queue->passed, memory_order_acquire) <
            mark->waits[i].ticket)
            return false;
    return !mark->crowded;
}

yoke_status_t yoke_ze_mark_reset(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark)
{
    const char *call = "zeEventQueryStatus";
    uint32_t code = ze->event_query(mark->event);
    if (code == YOKE_ZE_NOT_READY)
        return YOKE_ERR_NOT_READY;
    if (code == YOKE_ZE_SUCCESS) {
        call = "zeEventHostReset";
        code = ze->event_reset(mark->event);
    }
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail(call, code);
    mark->used = false;
    mark->wait_count = 0;
    mark->recorder = NULL;
    return YOKE_OK;
}

bool yoke_ze_mark_renew(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark)
{
    if (!mark->used)
        return true;
    if (!waits_passed(mark) || ze->event_query(mark->event) != YOKE_ZE_SUCCESS ||
        ze->event_reset(mark->event) != YOKE_ZE_SUCCESS)
        return false;
    mark->used = false;
    mark->wait_count = 0;
    mark->recorder = NULL;
    return true;
}

/* --- the device's store ------------------------------------------------------------- */

static yoke_status_t add_pool(yoke_impl_device_t *device)
{
    const yoke_ze_pool_desc_t desc = {.stype = YOKE_ZE_EVENT_POOL_DESC,
                                      .flags = YOKE_ZE_POOL_HOST_VISIBLE,
                                      .count = YOKE_ZE_POOL_EVENTS};
    yoke_ze_event_pool_t *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return yoke_fail_memory();
    /* No devices named: all of the context. */
    uint32_t code = device->ze->pool_create(device->context, &desc, 0, NULL, &pool->pool);
    if (code != YOKE_ZE_SUCCESS) {
        free(pool);
        return yoke_ze_fail("zeEventPoolCreate", code);
    }
    if (pool->pool == NULL) {
        free(pool);
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                      "level_zero: zeEventPoolCreate gave no pool");
    }
    pool->next = device->pools;
    device->pools = pool;
    return YOKE_OK;
}

static yoke_status_t make_mark(yoke_impl_device_t *device, yoke_ze_mark_t **out_mark)
{
    yoke_status_t status = YOKE_OK;
    if (device->pools == NULL || device->pools->used == YOKE_ZE_POOL_EVENTS)
        status = add_pool(device);
    if (status != YOKE_OK)
        return status;
    yoke_ze_event_pool_t *pool = device->pools;
    const yoke_ze_event_desc_t desc = {.stype = YOKE_ZE_EVENT_DESC,
                                       .index = pool->used,
                                       .signal = YOKE_ZE_SCOPE_HOST,
                                       .wait = YOKE_ZE_SCOPE_HOST};
    yoke_ze_mark_t *mark = &pool->marks[pool->used];
    uint32_t code = device->ze->event_create(pool->pool, &desc, &mark->event);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeEventCreate", code);
    if (mark->event == NULL)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                      "level_zero: zeEventCreate gave no event");
    pool->used++;
    *out_mark = mark;
    return YOKE_OK;
}

static yoke_ze_mark_t *find_spare(yoke_impl_device_t *device)
{
    yoke_ze_mark_t **link = &device->spare;
    for (int i = 0; i < SEARCH && *link != NULL; i++, link = &(*link)->next)
        if (yoke_ze_mark_renew(device->ze, *link)) {
            yoke_ze_mark_t *mark = *link;
            *link = mark->next;
            mark->next = NULL;
            return mark;
        }
    return NULL;
}

yoke_status_t yoke_ze_mark_take(yoke_impl_device_t *device, bool timing,
                                yoke_ze_mark_t **out_mark)
{
    yoke_status_t status = YOKE_OK;
    void *memory = NULL;
    pthread_mutex_lock(&device->lock);
    yoke_ze_mark_t *mark = find_spare(device);
    if (mark == NULL)
        status = make_mark(device, &mark);
    pthread_mutex_unlock(&device->lock);
    if (status == YOKE_OK && timing && mark->stamp == NULL) {
        status = yoke_ze_host_memory(device, sizeof *mark->stamp, &memory);
        if (status == YOKE_OK)
            mark->stamp = memory;
        else
            yoke_ze_mark_give(device, mark);
    }
    if (status == YOKE_OK)
        *out_mark = mark;
    return status;
}

void yoke_ze_mark_give(yoke_impl_device_t *device, yoke_ze_mark_t *mark)
{
    if (mark == NULL)
        return;
    pthread_mutex_lock(&device->lock);
    yoke_ze_mark_t **link = &device->spare;
    if (mark->used) /* the ones that can be taken at once stay in front */
        while (*link != NULL)
            link = &(*link)->next;
    mark->next = *link;
    *link = mark;
    pthread_mutex_unlock(&device->lock);
}

void yoke_ze_marks_free(yoke_impl_device_t *device)
{
    while (device->pools != NULL) {
        yoke_ze_event_pool_t *pool = device->pools;
        for (uint32_t i = 0; i < pool->used; i++) {
            device->ze->event_destroy(pool->marks[i].event);
            if (pool->marks[i].stamp != NULL)
                device->ze->free(device->context, pool->marks[i].stamp);
        }
        device->ze->pool_destroy(pool->pool);
        device->pools = pool->next;
        free(pool);
    }
}

/* --- use ---------------------------------------------------------------------------- */

/* A barrier without waits holds until all before it has ended, then signals. */
yoke_status_t yoke_ze_mark_record(yoke_ze_mark_t *mark, yoke_impl_queue_t *queue,
                                  bool timing)
{
    uint32_t code;
    if (timing) {
        yoke_status_t status = yoke_ze_begin(queue);
        if (status != YOKE_OK)
            return status;
        code = queue->ze->stamp(queue->list, mark->stamp, NULL, 0, NULL);
        if (code != YOKE_ZE_SUCCESS)
            return yoke_ze_fail("zeCommandListAppendWriteGlobalTimestamp", code);
    }
    code = queue->ze->barrier(queue->list, mark->event, 0, NULL);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeCommandListAppendBarrier", code);
    mark->used = true;
    mark->recorder = queue->progress;
    mark->ticket = ++queue->progress->submitted;
    queue->pending = queue->wrapped;
    return YOKE_OK;
}

static yoke_status_t answer(yoke_ze_mark_t *mark, const char *call, uint32_t code)
{
    if (code == YOKE_ZE_NOT_READY)
        return YOKE_ERR_NOT_READY;
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail(call, code);
    if (mark->recorder != NULL)
        yoke_ze_passed(mark->recorder, mark->ticket);
    return YOKE_OK;
}

yoke_status_t yoke_ze_mark_query(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark)
{
    return answer(mark, "zeEventQueryStatus", ze->event_query(mark->event));
}

yoke_status_t yoke_ze_mark_sync(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark)
{
    return answer(mark, "zeEventHostSynchronize",
                  ze->event_sync(mark->event, UINT64_MAX));
}

static void note_wait(yoke_ze_mark_t *mark, yoke_impl_queue_t *queue)
{
    uint64_t ticket = ++queue->progress->submitted;
    for (uint32_t i = 0; i < mark->wait_count; i++)
        if (mark->waits[i].queue == queue->progress) {
            mark->waits[i].ticket = ticket;
            return;
        }
    if (mark->wait_count == YOKE_ZE_WAITS) {
        mark->crowded = true;
        return;
    }
    mark->waits[mark->wait_count].queue = queue->progress;
    mark->waits[mark->wait_count++].ticket = ticket;
}

/* A barrier with waits does not hold for what is before it, so `pending` stays. */
yoke_status_t yoke_ze_mark_wait(yoke_ze_mark_t *mark, yoke_impl_queue_t *queue)
{
    uint32_t code = queue->ze->barrier(queue->list, NULL, 1, &mark->event);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeCommandListAppendBarrier", code);
    note_wait(mark, queue);
    queue->dirty = true;
    return YOKE_OK;
}
