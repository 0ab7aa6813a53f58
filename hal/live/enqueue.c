/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short paths: everything that is enqueued or polled. One test tells whether there is
 * anything to do but to call the backend; that is out of line in layers.c. No lock, no
 * allocation.
 *
 * A freed object that the validation layer keeps has no device, so that comparing devices
 * finds it too.
 */
#include "hal/live/layers.h"

static inline bool is_plain(const yoke_queue_t *queue)
{
    return queue != NULL && yoke_object_flags(&queue->object) == 0;
}

static inline bool is_near(const yoke_queue_t *queue, const yoke_buffer_t *buffer)
{
    return buffer != NULL && buffer->object.device == queue->object.device;
}

static inline yoke_impl_span_t to_impl(yoke_span_t span)
{
    return (yoke_impl_span_t){span.buffer->object.impl.buffer, span.offset};
}

yoke_status_t yoke_queue_copy(yoke_queue_t *queue, yoke_span_t dst, yoke_span_t src,
                              uint64_t size)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || !is_near(queue, dst.buffer) ||
                      !is_near(queue, src.buffer) || size == 0))
        return yoke_layers_copy(queue, dst, src, size);
    return yoke_device_answer(queue->object.device,
                              queue->object.ops->copy(queue->object.impl.queue,
                                                      to_impl(dst), to_impl(src), size));
}

yoke_status_t yoke_queue_write(yoke_queue_t *queue, yoke_span_t dst, const void *src,
                               uint64_t size)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || !is_near(queue, dst.buffer) || size == 0))
        return yoke_layers_write(queue, dst, src, size);
    return yoke_device_answer(
        queue->object.device,
        queue->object.ops->write(queue->object.impl.queue, to_impl(dst), src, size));
}

yoke_status_t yoke_queue_read(yoke_queue_t *queue, void *dst, yoke_span_t src,
                              uint64_t size)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || !is_near(queue, src.buffer) || size == 0))
        return yoke_layers_read(queue, dst, src, size);
    return yoke_device_answer(
        queue->object.device,
        queue->object.ops->read(queue->object.impl.queue, dst, to_impl(src), size));
}

yoke_status_t yoke_queue_fill(yoke_queue_t *queue, yoke_span_t dst, const void *pattern,
                              size_t pattern_size, uint64_t size)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || !is_near(queue, dst.buffer) || size == 0))
        return yoke_layers_fill(queue, dst, pattern, pattern_size, size);
    return yoke_device_answer(queue->object.device,
                              queue->object.ops->fill(queue->object.impl.queue,
                                                      to_impl(dst), pattern, pattern_size,
                                                      size));
}

yoke_status_t yoke_queue_host_call(yoke_queue_t *queue, void (*function)(void *),
                                   void *context)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || function == NULL ||
                      queue->object.ops->host_call == NULL))
        return yoke_layers_host_call(queue, function, context);
    return yoke_device_answer(
        queue->object.device,
        queue->object.ops->host_call(queue->object.impl.queue, function, context));
}

yoke_status_t yoke_event_record(yoke_event_t *event, yoke_queue_t *queue)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || event == NULL ||
                      event->object.device != queue->object.device))
        return yoke_layers_record(event, queue);
    return yoke_device_answer(queue->object.device,
                              queue->object.ops->event_record(event->object.impl.event,
                                                              queue->object.impl.queue));
}

yoke_status_t yoke_queue_wait(yoke_queue_t *queue, yoke_event_t *event)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || event == NULL ||
                      event->object.device != queue->object.device))
        return yoke_layers_wait(queue, event);
    return yoke_device_answer(queue->object.device,
                              queue->object.ops->queue_wait(queue->object.impl.queue,
                                                            event->object.impl.event));
}

yoke_status_t yoke_kernel_launch(yoke_queue_t *queue, yoke_kernel_t *kernel,
                                 const yoke_launch_t *launch,
                                 const yoke_argument_t *arguments, size_t count)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || kernel == NULL ||
                      kernel->object.device != queue->object.device))
        return yoke_layers_launch(queue, kernel, launch, arguments, count);
    return yoke_device_answer(queue->object.device,
                              queue->object.ops->launch(queue->object.impl.queue,
                                                        kernel->object.impl.kernel,
                                                        launch, arguments, count));
}

yoke_status_t yoke_queue_launch_prepared(yoke_queue_t *queue,
                                         yoke_prepared_launch_t *prepared)
{
    if (YOKE_UNLIKELY(!is_plain(queue) || prepared == NULL ||
                      yoke_object_flags(&prepared->object) != 0 ||
                      prepared->object.device != queue->object.device))
        return yoke_layers_launch_prepared(queue, prepared);
    return yoke_device_answer(
        queue->object.device,
        prepared->enqueue(queue->object.impl.queue, prepared->object.impl.prepared));
}

/* --- waiting on the host -------------------------------------------------------------
 */

yoke_status_t yoke_queue_sync(yoke_queue_t *queue)
{
    static const char call[] = "yoke_queue_sync";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(queue->object.device,
                                queue->object.ops->queue_sync(queue->object.impl.queue));
    yoke_trace_end(begin, queue->object.device, call, status, "queue=%p", (void *)queue);
    return status;
}

yoke_status_t yoke_queue_query(yoke_queue_t *queue)
{
    static const char call[] = "yoke_queue_query";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(queue->object.device,
                                queue->object.ops->queue_query(queue->object.impl.queue));
    yoke_trace_end(begin, queue->object.device, call, status, "queue=%p", (void *)queue);
    return status;
}

yoke_status_t yoke_event_query(yoke_event_t *event)
{
    static const char call[] = "yoke_event_query";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, call);
    if (status == YOKE_OK)
        status = yoke_validate_recorded(event, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&event->object);
    status = yoke_device_answer(event->object.device,
                                event->object.ops->event_query(event->object.impl.event));
    yoke_trace_end(begin, event->object.device, call, status, "event=%p", (void *)event);
    return status;
}

yoke_status_t yoke_event_sync(yoke_event_t *event)
{
    static const char call[] = "yoke_event_sync";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, call);
    if (status == YOKE_OK)
        status = yoke_validate_recorded(event, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&event->object);
    status = yoke_device_answer(event->object.device,
                                event->object.ops->event_sync(event->object.impl.event));
    yoke_trace_end(begin, event->object.device, call, status, "event=%p", (void *)event);
    return status;
}
