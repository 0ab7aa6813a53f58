/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that run at once, until one has to wait: then its operations are held.
 *
 * A queue is held from the first wait that is not over until its ring is empty. Only the
 * thread that enqueues sets `held`, only one that has emptied the ring, under the lock,
 * clears it: an enqueuer that finds it clear sees all that was held done, and needs no
 * lock. Held operations are run without the lock, one thread a queue (`draining`), so
 * that a host call may take its time. Whoever waits does the work of others that is ready
 * first: there is no thread of our own.
 */
#include "backends/host/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static yoke_impl_queue_t *held_queues;

/* --- timelines ---------------------------------------------------------------------- */

static yoke_host_timeline_t *timeline_retain(yoke_host_timeline_t *timeline)
{
    atomic_fetch_add_explicit(&timeline->references, 1, memory_order_relaxed);
    return timeline;
}

static void timeline_release(yoke_host_timeline_t *timeline)
{
    if (timeline != NULL &&
        atomic_fetch_sub_explicit(&timeline->references, 1, memory_order_acq_rel) == 1)
        free(timeline);
}

static bool passed(const yoke_host_timeline_t *timeline, uint64_t ticket)
{
    return timeline == NULL ||
           atomic_load_explicit(&timeline->done, memory_order_acquire) >= ticket;
}

static bool is_open(const yoke_impl_gate_t *gate, uint64_t generation)
{
    return atomic_load_explicit(&gate->opened, memory_order_acquire) >= generation;
}

/* --- holding and draining ----------------------------------------------------------- */

static bool ready(const yoke_host_operation_t *operation)
{
    if (operation->kind == YOKE_HOST_WAIT)
        return passed(operation->as.wait.timeline, operation->as.wait.ticket);
    if (operation->kind == YOKE_HOST_GATE)
        return is_open(operation->as.gate.gate, operation->as.gate.generation);
    return true;
}

/* What an operation keeps alive. */
static void let_go(yoke_host_operation_t *operation)
{
    if (operation->kind == YOKE_HOST_WAIT)
        timeline_release(operation->as.wait.timeline);
    if (operation->kind == YOKE_HOST_RECORD)
        yoke_host_event_destroy(operation->as.record.event);
}

static void unlist(yoke_impl_queue_t *queue)
{
    yoke_impl_queue_t **at = &held_queues;
    while (*at != NULL && *at != queue)
        at = &(*at)->next;
    if (*at != NULL)
        *at = queue->next;
    queue->next = NULL;
    atomic_store_explicit(&queue->held, false, memory_order_release);
}

/* The first operation of one queue, the lock given back meanwhile. */
static void step(yoke_impl_queue_t *queue)
{
    yoke_host_operation_t *operation = &queue->ring[queue->first];
    queue->draining = true;
    pthread_mutex_unlock(&lock);
    yoke_host_operation_run(queue, operation);
    let_go(operation);
    pthread_mutex_lock(&lock);
    queue->draining = false;
    queue->first = (queue->first + 1) % YOKE_HOST_RING;
    queue->count--;
    atomic_fetch_add_explicit(&queue->timeline->done, 1, memory_order_release);
    if (queue->count == 0)
        unlist(queue);
    pthread_cond_broadcast(&changed);
}

/* Run all that can run, of every queue; under the lock. */
static void progress(void)
{
    yoke_impl_queue_t *queue = held_queues;
    while (queue != NULL) {
        if (!queue->draining && queue->count > 0 && ready(&queue->ring[queue->first])) {
            step(queue);
            queue = held_queues; /* the list may be another now */
        } else {
            queue = queue->next;
        }
    }
}

yoke_host_operation_t *yoke_host_hold(yoke_impl_queue_t *queue, bool force)
{
    if (!force && !atomic_load_explicit(&queue->held, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&lock);
    progress();
    while (queue->count == YOKE_HOST_RING) {
        pthread_cond_wait(&changed, &lock);
        progress();
    }
    if (!atomic_load_explicit(&queue->held, memory_order_relaxed)) {
        if (!force) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        queue->next = held_queues;
        held_queues = queue;
        atomic_store_explicit(&queue->held, true, memory_order_release);
    }
    return &queue->ring[(queue->first + queue->count) % YOKE_HOST_RING];
}

uint64_t yoke_host_held(yoke_impl_queue_t *queue)
{
    uint64_t ticket = ++queue->timeline->issued;
    queue->count++;
    pthread_mutex_unlock(&lock);
    return ticket;
}

/* --- queues ------------------------------------------------------------------------- */

yoke_status_t yoke_host_queue_create(yoke_impl_device_t *device, int32_t priority,
                                     yoke_impl_queue_t **out_queue)
{
    (void)device;
    (void)priority;
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        goto failed;
    queue->timeline = calloc(1, sizeof *queue->timeline);
    /* Pages that no held operation comes to are never touched. */
    queue->ring = calloc(YOKE_HOST_RING, sizeof *queue->ring);
    queue->local = aligned_alloc(YOKE_HOST_ALIGNMENT, YOKE_HOST_LOCAL_MEMORY);
    if (queue->timeline == NULL || queue->ring == NULL || queue->local == NULL)
        goto failed;
    atomic_init(&queue->timeline->references, 1);
    *out_queue = queue;
    return YOKE_OK;

failed:
    if (queue != NULL) {
        free(queue->timeline);
        free(queue->ring);
        free(queue->local);
    }
    free(queue);
    return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "no memory for a queue");
}

void yoke_host_queue_destroy(yoke_impl_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    while (queue->draining)
        pthread_cond_wait(&changed, &lock);
    /* Only what never came to run is left. */
    for (uint32_t i = 0; i < queue->count; i++)
        let_go(&queue->ring[(queue->first + i) % YOKE_HOST_RING]);
    atomic_store(&queue->timeline->done, queue->timeline->issued);
    if (atomic_load(&queue->held))
        unlist(queue);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    timeline_release(queue->timeline);
    yoke_host_fibers_destroy(queue->fibers);
    free(queue->ring);
    free(queue->local);
    free(queue);
}

yoke_status_t yoke_host_queue_sync(yoke_impl_queue_t *queue)
{
    if (atomic_load_explicit(&queue->held, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        for (;;) {
            progress();
            if (!atomic_load_explicit(&queue->held, memory_order_relaxed))
                break;
            pthread_cond_wait(&changed, &lock);
        }
        pthread_mutex_unlock(&lock);
    }
    if (atomic_exchange(&queue->failed, false))
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY,
                                      "a launch that was held did not run: no memory for "
                                      "the stacks of a group's items");
    return YOKE_OK;
}

yoke_status_t yoke_host_queue_query(yoke_impl_queue_t *queue)
{
    if (!atomic_load_explicit(&queue->held, memory_order_acquire))
        return YOKE_OK;
    pthread_mutex_lock(&lock);
    progress();
    bool held = atomic_load_explicit(&queue->held, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return held ? YOKE_ERR_NOT_READY : YOKE_OK;
}

/* --- events ------------------------------------------------------------------------- */

yoke_status_t yoke_host_event_create(yoke_impl_device_t *device, uint32_t flags,
                                     yoke_impl_event_t **out_event)
{
    (void)device;
    (void)flags;
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "no memory for an event");
    atomic_init(&event->references, 1);
    *out_event = event;
    return YOKE_OK;
}

void yoke_host_event_destroy(yoke_impl_event_t *event)
{
    if (atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) != 1)
        return;
    timeline_release(event->timeline);
    free(event);
}

yoke_status_t yoke_host_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    uint64_t stamp =
        atomic_fetch_add_explicit(&event->stamp, 1, memory_order_relaxed) + 1;
    yoke_host_timeline_t *before = event->timeline;
    yoke_host_operation_t *operation = yoke_host_hold(queue, false);
    if (operation == NULL) {
        event->timeline = NULL;
        yoke_host_record_now(event, stamp);
    } else {
        operation->kind = YOKE_HOST_RECORD;
        operation->as.record.event = event;
        operation->as.record.stamp = stamp;
        atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
        event->timeline = timeline_retain(queue->timeline);
        event->ticket = queue->timeline->issued + 1;
        yoke_host_held(queue);
    }
    timeline_release(before);
    return YOKE_OK;
}

yoke_status_t yoke_host_event_query(yoke_impl_event_t *event)
{
    if (passed(event->timeline, event->ticket))
        return YOKE_OK;
    pthread_mutex_lock(&lock);
    progress();
    pthread_mutex_unlock(&lock);
    return passed(event->timeline, event->ticket) ? YOKE_OK : YOKE_ERR_NOT_READY;
}

yoke_status_t yoke_host_event_sync(yoke_impl_event_t *event)
{
    if (passed(event->timeline, event->ticket))
        return YOKE_OK;
    pthread_mutex_lock(&lock);
    for (;;) {
        progress();
        if (passed(event->timeline, event->ticket))
            break;
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return YOKE_OK;
}

yoke_status_t yoke_host_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                      double *out_seconds)
{
    if (yoke_host_event_query(start) != YOKE_OK || yoke_host_event_query(end) != YOKE_OK)
        return YOKE_ERR_NOT_READY;
    *out_seconds = (double)(atomic_load(&end->time) - atomic_load(&start->time)) * 1e-9;
    return YOKE_OK;
}

yoke_status_t yoke_host_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    if (passed(event->timeline, event->ticket))
        return YOKE_OK;
    yoke_host_operation_t *operation = yoke_host_hold(queue, true);
    operation->kind = YOKE_HOST_WAIT;
    operation->as.wait.timeline = timeline_retain(event->timeline);
    operation->as.wait.ticket = event->ticket;
    yoke_host_held(queue);
    return YOKE_OK;
}

/* --- gates -------------------------------------------------------------------------- */

yoke_status_t yoke_host_gate_create(yoke_impl_device_t *device,
                                    yoke_impl_gate_t **out_gate)
{
    (void)device;
    yoke_impl_gate_t *gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "no memory for a gate");
    atomic_init(&gate->generation, 1);
    *out_gate = gate;
    return YOKE_OK;
}

void yoke_host_gate_destroy(yoke_impl_gate_t *gate)
{
    free(gate);
}

yoke_status_t yoke_host_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate)
{
    uint64_t generation = atomic_load_explicit(&gate->generation, memory_order_relaxed);
    if (is_open(gate, generation))
        return YOKE_OK;
    yoke_host_operation_t *operation = yoke_host_hold(queue, true);
    operation->kind = YOKE_HOST_GATE;
    operation->as.gate.gate = gate;
    operation->as.gate.generation = generation;
    yoke_host_held(queue);
    return YOKE_OK;
}

yoke_status_t yoke_host_gate_open(yoke_impl_gate_t *gate)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&gate->opened, atomic_load(&gate->generation),
                          memory_order_release);
    progress();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return YOKE_OK;
}

yoke_status_t yoke_host_gate_reset(yoke_impl_gate_t *gate)
{
    atomic_fetch_add_explicit(&gate->generation, 1, memory_order_relaxed);
    return YOKE_OK;
}
