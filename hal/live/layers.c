/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueueing with layers, on lost devices, across devices, and with wrong handles. */
#include "hal/live/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/live/device.h"

static bool is_set(const char *name, _Atomic bool *told)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0' || strcmp(text, "0") == 0)
        return false;
    if (strcmp(text, "1") != 0 && !atomic_exchange(told, true))
        yoke_warn("%s: '%s' is neither 0 nor 1; taken as 1", name, text);
    return true;
}

uint32_t yoke_layers_flags(uint32_t layers)
{
    static _Atomic bool told[2];
    uint32_t flags = layers & (YOKE_LAYER_VALIDATE | YOKE_LAYER_TRACE);
    if ((layers & YOKE_LAYER_DEFAULT) != 0 && is_set("YOKE_VALIDATE", &told[0]))
        flags |= YOKE_LAYER_VALIDATE;
    if ((layers & YOKE_LAYER_DEFAULT) != 0 && is_set("YOKE_TRACE_CALLS", &told[1]))
        flags |= YOKE_LAYER_TRACE;
    return flags;
}

static bool validates(const yoke_object_t *object)
{
    return (yoke_object_flags(object) & YOKE_FLAG_VALIDATE) != 0;
}

/* --- spans ---------------------------------------------------------------------------
 */

static yoke_status_t check_span(const yoke_queue_t *queue, yoke_span_t span,
                                uint64_t size, const char *call, const char *what)
{
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(span.buffer), YOKE_OBJECT_BUFFER, call);
    if (status == YOKE_OK && validates(&queue->object))
        status = yoke_validate_span(span, size, call, what);
    return status;
}

/* Memory of another device: one physical device by two handles, pinned memory of this
 * runtime, or a peer where the operation can have one. */
static yoke_status_t reach(const yoke_queue_t *queue, const yoke_buffer_t *buffer,
                           bool peers, const char *call)
{
    yoke_device_t *device = queue->object.device, *other = buffer->object.device;
    if (yoke_device_same(device, other) ||
        (device->runtime == other->runtime && buffer->kind != YOKE_MEMORY_DEVICE))
        return YOKE_OK;
    if (peers)
        return yoke_device_reach(device, other);
    return yoke_fail(YOKE_ERR_USAGE, "%s: the buffer is of %s, the queue of %s", call,
                     other->label, device->label);
}

static yoke_impl_span_t to_impl(yoke_span_t span)
{
    return (yoke_impl_span_t){span.buffer->object.impl.buffer, span.offset};
}

yoke_status_t yoke_layers_copy(yoke_queue_t *queue, yoke_span_t dst, yoke_span_t src,
                               uint64_t size)
{
    static const char call[] = "yoke_queue_copy";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = check_span(queue, dst, size, call, "dst");
    if (status == YOKE_OK)
        status = check_span(queue, src, size, call, "src");
    if (status == YOKE_OK && validates(&queue->object))
        status = yoke_validate_copy(dst, src, size);
    if (status == YOKE_OK)
        status = reach(queue, dst.buffer, true, call);
    if (status == YOKE_OK)
        status = reach(queue, src.buffer, true, call);
    if (status != YOKE_OK || size == 0)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device, queue->object.ops->copy(queue->object.impl.queue,
                                                      to_impl(dst), to_impl(src), size));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, dst=%p+%llu, src=%p+%llu, size=%llu", (void *)queue,
                   (void *)dst.buffer, (unsigned long long)dst.offset, (void *)src.buffer,
                   (unsigned long long)src.offset, (unsigned long long)size);
    return status;
}

/* Handle, span and the host's pointer of write, read and fill. */
static yoke_status_t check_one(yoke_queue_t *queue, yoke_span_t span, const void *host,
                               uint64_t size, const char *call, const char *what)
{
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = check_span(queue, span, size, call, what);
    if (status == YOKE_OK && host == NULL && size > 0)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the host's pointer is NULL", call);
    if (status == YOKE_OK)
        status = reach(queue, span.buffer, false, call);
    return status;
}

yoke_status_t yoke_layers_write(yoke_queue_t *queue, yoke_span_t dst, const void *src,
                                uint64_t size)
{
    static const char call[] = "yoke_queue_write";
    yoke_status_t status = check_one(queue, dst, src, size, call, "dst");
    if (status != YOKE_OK || size == 0)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device,
        queue->object.ops->write(queue->object.impl.queue, to_impl(dst), src, size));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, dst=%p+%llu, src=%p, size=%llu", (void *)queue,
                   (void *)dst.buffer, (unsigned long long)dst.offset, src,
                   (unsigned long long)size);
    return status;
}

yoke_status_t yoke_layers_read(yoke_queue_t *queue, void *dst, yoke_span_t src,
                               uint64_t size)
{
    static const char call[] = "yoke_queue_read";
    yoke_status_t status = check_one(queue, src, dst, size, call, "src");
    if (status != YOKE_OK || size == 0)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device,
        queue->object.ops->read(queue->object.impl.queue, dst, to_impl(src), size));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, dst=%p, src=%p+%llu, size=%llu", (void *)queue, dst,
                   (void *)src.buffer, (unsigned long long)src.offset,
                   (unsigned long long)size);
    return status;
}

yoke_status_t yoke_layers_fill(yoke_queue_t *queue, yoke_span_t dst, const void *pattern,
                               size_t pattern_size, uint64_t size)
{
    static const char call[] = "yoke_queue_fill";
    yoke_status_t status = check_one(queue, dst, pattern, size, call, "dst");
    if (status == YOKE_OK && validates(&queue->object))
        status = yoke_validate_pattern(dst, pattern, pattern_size, size);
    if (status != YOKE_OK || size == 0)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status =
        yoke_device_answer(queue->object.device,
                           queue->object.ops->fill(queue->object.impl.queue, to_impl(dst),
                                                   pattern, pattern_size, size));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, dst=%p+%llu, pattern_size=%zu, size=%llu", (void *)queue,
                   (void *)dst.buffer, (unsigned long long)dst.offset, pattern_size,
                   (unsigned long long)size);
    return status;
}

/* --- calls, events, kernels ----------------------------------------------------------
 */

yoke_status_t yoke_layers_host_call(yoke_queue_t *queue, void (*function)(void *),
                                    void *context)
{
    static const char call[] = "yoke_queue_host_call";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK && function == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the function is NULL", call);
    if (status == YOKE_OK && queue->object.ops->host_call == NULL)
        status =
            yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: queues of %s call no host functions",
                      call, queue->object.device->label);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device,
        queue->object.ops->host_call(queue->object.impl.queue, function, context));
    yoke_trace_end(begin, queue->object.device, call, status, "queue=%p", (void *)queue);
    return status;
}

static yoke_status_t check_event(const yoke_queue_t *queue, const yoke_event_t *event,
                                 const char *call)
{
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, call);
    return status;
}

static yoke_status_t wrong_device(const yoke_queue_t *queue, const yoke_object_t *other,
                                  const char *call, const char *what)
{
    return yoke_fail(YOKE_ERR_USAGE, "%s: the %s is of %s, the queue of %s", call, what,
                     other->device->label, queue->object.device->label);
}

yoke_status_t yoke_layers_record(yoke_event_t *event, yoke_queue_t *queue)
{
    static const char call[] = "yoke_event_record";
    yoke_status_t status = check_event(queue, event, call);
    if (status == YOKE_OK &&
        !yoke_device_same(queue->object.device, event->object.device))
        status = wrong_device(queue, &event->object, call, "event");
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device, queue->object.ops->event_record(event->object.impl.event,
                                                              queue->object.impl.queue));
    if (status == YOKE_OK)
        event->recorded = true;
    yoke_trace_end(begin, queue->object.device, call, status, "event=%p, queue=%p",
                   (void *)event, (void *)queue);
    return status;
}

yoke_status_t yoke_layers_wait(yoke_queue_t *queue, yoke_event_t *event)
{
    static const char call[] = "yoke_queue_wait";
    yoke_status_t status = check_event(queue, event, call);
    if (status == YOKE_OK &&
        queue->object.device->runtime != event->object.device->runtime)
        status = wrong_device(queue, &event->object, call, "event");
    if (status == YOKE_OK)
        status = yoke_validate_recorded(event, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(queue->object.device,
                                queue->object.ops->queue_wait(queue->object.impl.queue,
                                                              event->object.impl.event));
    yoke_trace_end(begin, queue->object.device, call, status, "queue=%p, event=%p",
                   (void *)queue, (void *)event);
    return status;
}

yoke_status_t yoke_layers_launch(yoke_queue_t *queue, yoke_kernel_t *kernel,
                                 const yoke_launch_t *launch,
                                 const yoke_argument_t *arguments, size_t count)
{
    static const char call[] = "yoke_kernel_launch";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(kernel), YOKE_OBJECT_KERNEL, call);
    if (status == YOKE_OK &&
        !yoke_device_same(queue->object.device, kernel->object.device))
        status = wrong_device(queue, &kernel->object, call, "kernel");
    if (status == YOKE_OK && validates(&queue->object))
        status =
            yoke_validate_launch(queue->object.device, launch, arguments, count, call);
    if (status == YOKE_OK && validates(&queue->object))
        status = yoke_validate_arguments(kernel, arguments, count, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(queue->object.device,
                                queue->object.ops->launch(queue->object.impl.queue,
                                                          kernel->object.impl.kernel,
                                                          launch, arguments, count));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, kernel=%s, groups=%ux%ux%u, local=%ux%ux%u, arguments=%zu",
                   (void *)queue, kernel->name, launch->groups[0], launch->groups[1],
                   launch->groups[2], launch->local[0], launch->local[1],
                   launch->local[2], count);
    return status;
}

/* Which of its buffers are gone is told by prepared.c, under its lock. */
yoke_status_t yoke_layers_launch_prepared(yoke_queue_t *queue,
                                          yoke_prepared_launch_t *prepared)
{
    static const char call[] = "yoke_queue_launch_prepared";
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(prepared), YOKE_OBJECT_PREPARED, call);
    if (status == YOKE_OK &&
        !yoke_device_same(queue->object.device, prepared->object.device))
        status = wrong_device(queue, &prepared->object, call, "prepared launch");
    if (status == YOKE_OK &&
        (yoke_object_flags(&prepared->object) & YOKE_FLAG_STALE) != 0)
        status = yoke_prepared_stale(prepared, call);
    if (status != YOKE_OK)
        return status;
    const yoke_launch_t *launch = &prepared->launch;
    uint64_t begin = yoke_trace_begin(&queue->object);
    status = yoke_device_answer(
        queue->object.device,
        prepared->enqueue(queue->object.impl.queue, prepared->object.impl.prepared));
    yoke_trace_end(begin, queue->object.device, call, status,
                   "queue=%p, kernel=%s, groups=%ux%ux%u, local=%ux%ux%u, arguments=%zu",
                   (void *)queue, prepared->kernel->name, launch->groups[0],
                   launch->groups[1], launch->groups[2], launch->local[0],
                   launch->local[1], launch->local[2], prepared->count);
    return status;
}
