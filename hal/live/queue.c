/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending queues and events; what is enqueued is in enqueue.c. */
#include "yoke/queue.h"

#include "base/error.h"
#include "hal/live/layers.h"

/* --- queues --------------------------------------------------------------------------
 */

yoke_status_t yoke_queue_create(yoke_device_t *device,
                                const yoke_queue_options_t *options,
                                yoke_queue_t **out_queue)
{
    static const char call[] = "yoke_queue_create";
    yoke_queue_options_t chosen = {.struct_size = sizeof chosen};
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_queue == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (status == YOKE_OK)
        status = yoke_options_take(&chosen, sizeof chosen, options, call);
    if (status != YOKE_OK)
        return status;
    yoke_queue_t *queue = yoke_object_new(sizeof *queue, YOKE_OBJECT_QUEUE, device);
    if (queue == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    int32_t priority = (chosen.priority > 0) - (chosen.priority < 0);
    if ((device->info.capabilities & YOKE_CAP_PRIORITY) == 0)
        priority = 0; /* a hint */
    status = yoke_device_answer(
        device, device->object.ops->queue_create(device->object.impl.device, priority,
                                                 &queue->object.impl.queue));
    if (status == YOKE_OK) {
        yoke_object_attach(&queue->object);
        *out_queue = queue;
    } else {
        yoke_object_discard(&queue->object);
    }
    yoke_trace_end(begin, device, call, status, "priority=%d", (int)priority);
    return status;
}

void yoke_queue_destroy(yoke_queue_t *queue)
{
    static const char call[] = "yoke_queue_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call))
        return;
    uint64_t begin = yoke_trace_begin(&queue->object);
    const yoke_backend_ops_t *ops = queue->object.ops;
    yoke_impl_queue_t *impl = queue->object.impl.queue;
    bool lost = (yoke_object_flags(&queue->object) & YOKE_FLAG_LOST) != 0;
    if (!queue->wrapped.is && !lost)
        yoke_device_answer(queue->object.device, ops->queue_sync(impl));
    ops->queue_destroy(impl);
    if (queue->wrapped.release != NULL)
        queue->wrapped.release(queue->wrapped.context, queue->wrapped.handle);
    yoke_trace_end(begin, queue->object.device, call, YOKE_OK, "queue=%p", (void *)queue);
    yoke_object_end(&queue->object);
}

yoke_device_t *yoke_queue_device(const yoke_queue_t *queue)
{
    if (queue == NULL || yoke_object_check_alive(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE,
                                                 "yoke_queue_device") != YOKE_OK)
        return NULL;
    return queue->object.device;
}

/* --- events --------------------------------------------------------------------------
 */

static yoke_status_t check_flags(const yoke_device_t *device, uint32_t flags,
                                 const char *call)
{
    if ((flags & ~YOKE_EVENT_TIMING) != 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: unknown flags 0x%x", call, flags);
    if ((flags & YOKE_EVENT_TIMING) != 0 &&
        (device->info.capabilities & YOKE_CAP_TIMING) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: events of %s have no time", call,
                         device->label);
    return YOKE_OK;
}

yoke_status_t yoke_event_create(yoke_device_t *device, uint32_t flags,
                                yoke_event_t **out_event)
{
    static const char call[] = "yoke_event_create";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_event == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (status == YOKE_OK)
        status = check_flags(device, flags, call);
    if (status != YOKE_OK)
        return status;
    yoke_event_t *event = yoke_object_new(sizeof *event, YOKE_OBJECT_EVENT, device);
    if (event == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    event->options = flags;
    status = yoke_device_answer(
        device, device->object.ops->event_create(device->object.impl.device, flags,
                                                 &event->object.impl.event));
    if (status == YOKE_OK) {
        yoke_object_attach(&event->object);
        *out_event = event;
    } else {
        yoke_object_discard(&event->object);
    }
    yoke_trace_end(begin, device, call, status, "flags=0x%x", flags);
    return status;
}

void yoke_event_destroy(yoke_event_t *event)
{
    static const char call[] = "yoke_event_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, call))
        return;
    uint64_t begin = yoke_trace_begin(&event->object);
    event->object.ops->event_destroy(event->object.impl.event);
    if (event->wrapped.release != NULL)
        event->wrapped.release(event->wrapped.context, event->wrapped.handle);
    yoke_trace_end(begin, event->object.device, call, YOKE_OK, "event=%p", (void *)event);
    yoke_object_end(&event->object);
}

static yoke_status_t check_timed(const yoke_event_t *event, const char *call)
{
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, call);
    if (status == YOKE_OK)
        status = yoke_validate_recorded(event, call);
    if (status == YOKE_OK && !event->wrapped.is &&
        (event->options & YOKE_EVENT_TIMING) == 0)
        status = yoke_fail(YOKE_ERR_USAGE,
                           "%s: an event was made without "
                           "YOKE_EVENT_TIMING",
                           call);
    return status;
}

yoke_status_t yoke_event_elapsed(yoke_event_t *start, yoke_event_t *end,
                                 double *out_seconds)
{
    static const char call[] = "yoke_event_elapsed";
    yoke_status_t status = check_timed(start, call);
    if (status == YOKE_OK)
        status = check_timed(end, call);
    if (status != YOKE_OK)
        return status;
    yoke_device_t *device = start->object.device;
    if (out_seconds == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (!yoke_device_same(device, end->object.device))
        return yoke_fail(YOKE_ERR_USAGE, "%s: the events are of %s and %s", call,
                         device->label, end->object.device->label);
    if ((device->info.capabilities & YOKE_CAP_TIMING) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: events of %s have no time", call,
                         device->label);
    double seconds = 0;
    uint64_t begin = yoke_trace_begin(&start->object);
    status = yoke_device_answer(
        device, start->object.ops->event_elapsed(start->object.impl.event,
                                                 end->object.impl.event, &seconds));
    yoke_trace_end(begin, device, call, status, "start=%p, end=%p", (void *)start,
                   (void *)end);
    if (status == YOKE_OK)
        *out_seconds = seconds;
    return status;
}
