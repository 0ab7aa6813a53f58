/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues are immediate command lists. Drivers of specification 1.7 and later keep such a
 * list in order when asked to. Earlier ones may overlap its commands: then a barrier goes
 * before each command that follows another, which is one vendor call more.
 */
#include "backends/level_zero/live.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"

/* --- making and ending -------------------------------------------------------------- */

static yoke_ze_progress_t *take_progress(yoke_impl_runtime_t *runtime)
{
    pthread_mutex_lock(&runtime->lock);
    yoke_ze_progress_t *progress = runtime->progress;
    while (progress != NULL && progress->in_use)
        progress = progress->next;
    if (progress == NULL) {
        progress = calloc(1, sizeof *progress);
        if (progress != NULL) {
            progress->next = runtime->progress;
            runtime->progress = progress;
        }
    }
    if (progress != NULL)
        progress->in_use = true;
    pthread_mutex_unlock(&runtime->lock);
    return progress;
}

static yoke_impl_queue_t *new_queue(yoke_impl_device_t *device)
{
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->device = device;
    queue->ze = device->ze;
    queue->dirty = true;
    queue->progress = take_progress(device->runtime);
    if (queue->progress != NULL)
        return queue;
    free(queue);
    return NULL;
}

static void free_queue(yoke_impl_queue_t *queue)
{
    yoke_impl_runtime_t *runtime = queue->device->runtime;
    pthread_mutex_lock(&runtime->lock);
    yoke_ze_passed(queue->progress, queue->progress->submitted);
    queue->progress->in_use = false;
    pthread_mutex_unlock(&runtime->lock);
    free(queue);
}

/* The list itself answers from specification 1.6 on. */
static bool has_list_sync(const yoke_impl_queue_t *queue)
{
    return queue->ze->list_sync != NULL &&
           queue->device->slot->driver->version >= YOKE_ZE_VERSION(1, 6);
}

yoke_status_t yoke_ze_queue_create(yoke_impl_device_t *device, int32_t priority,
                                   yoke_impl_queue_t **out_queue)
{
    const yoke_ze_queue_desc_t desc = {
        .stype = YOKE_ZE_QUEUE_DESC,
        .ordinal = device->slot->group,
        .flags = device->slot->in_order ? YOKE_ZE_QUEUE_IN_ORDER : 0,
        .mode = YOKE_ZE_MODE_ASYNCHRONOUS,
        .priority = priority < 0   ? YOKE_ZE_PRIORITY_HIGH
                    : priority > 0 ? YOKE_ZE_PRIORITY_LOW
                                   : YOKE_ZE_PRIORITY_NORMAL};
    yoke_impl_queue_t *queue = new_queue(device);
    if (queue == NULL)
        return yoke_fail_memory();
    uint32_t code = device->ze->list_immediate(device->context, device->slot->device,
                                               &desc, &queue->list);
    if (code != YOKE_ZE_SUCCESS) {
        free_queue(queue);
        return yoke_ze_fail("zeCommandListCreateImmediate", code);
    }
    queue->in_order = device->slot->in_order;
    /* Waiting must not need what can run out: its signal is made here. */
    yoke_status_t status =
        has_list_sync(queue) ? YOKE_OK : yoke_ze_mark_take(device, false, &queue->probe);
    if (status != YOKE_OK) {
        queue->ze->list_destroy(queue->list);
        free_queue(queue);
        return status;
    }
    *out_queue = queue;
    return YOKE_OK;
}

/* Whether the caller's list is in order cannot be asked, nor what is on it: a barrier
 * goes before every command of ours. */
yoke_status_t yoke_ze_queue_wrap(yoke_impl_device_t *device, void *handle,
                                 yoke_impl_queue_t **out_queue)
{
    if (handle == NULL)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "level_zero: there is no default queue; give an "
                                      "immediate ze_command_list_handle_t");
    yoke_impl_queue_t *queue = new_queue(device);
    if (queue == NULL)
        return yoke_fail_memory();
    queue->list = (yoke_ze_list_t)handle;
    queue->wrapped = true;
    queue->pending = true;
    *out_queue = queue;
    return YOKE_OK;
}

void yoke_ze_queue_destroy(yoke_impl_queue_t *queue)
{
    yoke_ze_stage_free(queue);
    yoke_ze_mark_give(queue->device, queue->probe);
    if (!queue->wrapped)
        queue->ze->list_destroy(queue->list);
    free_queue(queue);
}

void *yoke_ze_queue_native(yoke_impl_queue_t *queue)
{
    return queue->list;
}

/* --- sync and query ----------------------------------------------------------------- */

/* A new signal behind all work; the old one has come, so it can be taken again. */
static yoke_status_t set_probe(yoke_impl_queue_t *queue)
{
    yoke_status_t status = YOKE_OK;
    if (queue->probe == NULL || !yoke_ze_mark_renew(queue->ze, queue->probe)) {
        yoke_ze_mark_give(queue->device, queue->probe);
        queue->probe = NULL;
        status = yoke_ze_mark_take(queue->device, false, &queue->probe);
    }
    if (status == YOKE_OK)
        status = yoke_ze_mark_record(queue->probe, queue, false);
    if (status == YOKE_OK)
        queue->dirty = false;
    return status;
}

static yoke_status_t ask_list(yoke_impl_queue_t *queue, uint64_t timeout)
{
    uint64_t submitted = queue->progress->submitted;
    uint32_t code = queue->ze->list_sync(queue->list, timeout);
    if (code == YOKE_ZE_NOT_READY)
        return YOKE_ERR_NOT_READY;
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeCommandListHostSynchronize", code);
    queue->pending = queue->wrapped;
    yoke_ze_passed(queue->progress, submitted);
    return YOKE_OK;
}

yoke_status_t yoke_ze_queue_sync(yoke_impl_queue_t *queue)
{
    if (has_list_sync(queue))
        return ask_list(queue, UINT64_MAX);
    yoke_status_t status = set_probe(queue);
    return status == YOKE_OK ? yoke_ze_mark_sync(queue->ze, queue->probe) : status;
}

/* A caller's list may hold work that we have not seen: the signal is always a new one,
 * which needs a moment even when the list is empty. */
static yoke_status_t query_wrapped(yoke_impl_queue_t *queue)
{
    struct timespec start, now;
    yoke_status_t status = set_probe(queue);
    if (status != YOKE_OK)
        return status;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        status = yoke_ze_mark_query(queue->ze, queue->probe);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (status == YOKE_ERR_NOT_READY &&
             (now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec <
                 200000L);
    return status;
}

yoke_status_t yoke_ze_queue_query(yoke_impl_queue_t *queue)
{
    yoke_status_t status = YOKE_OK;
    if (has_list_sync(queue))
        return ask_list(queue, 0);
    if (queue->wrapped)
        return query_wrapped(queue);
    /* While the last signal has not come there is no need for another. */
    if (queue->probe != NULL && queue->probe->used)
        status = yoke_ze_mark_query(queue->ze, queue->probe);
    if (status != YOKE_OK || !queue->dirty)
        return status;
    status = set_probe(queue);
    return status == YOKE_OK ? yoke_ze_mark_query(queue->ze, queue->probe) : status;
}
