/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, notifiers and copies. */
#include "backends/cambricon/cambricon.h"
#include "backends/pattern.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(object, name, code)                                                        \
    yoke_cambricon_check((object)->device->runtime, name, code)

/* --- queues
 * ----------------------------------------------------------------------------- */

static int create_native(yoke_impl_device_t *device, int32_t priority, void **out_queue)
{
    const yoke_cnrt_t *cnrt = &device->runtime->cnrt;
    int least = 0, greatest = 0;
    if (priority == 0 || cnrt->queue_create_priority == NULL ||
        cnrt->priority_range == NULL ||
        cnrt->priority_range(&least, &greatest) != YOKE_CNRT_SUCCESS)
        return cnrt->queue_create(out_queue);
    return cnrt->queue_create_priority(out_queue, 0, priority < 0 ? greatest : least);
}

static void end_block(yoke_impl_queue_t *queue)
{
    const yoke_cnrt_t *cnrt = &queue->device->runtime->cnrt;
    if (queue->pattern_notifier != NULL)
        cnrt->notifier_destroy(queue->pattern_notifier);
    if (queue->pattern != NULL)
        cnrt->release_host(queue->pattern);
}

/* In the device's scope. */
static int make_queue(yoke_impl_queue_t *queue, int32_t priority, const char **out_name)
{
    const yoke_cnrt_t *cnrt = &queue->device->runtime->cnrt;
    int code = YOKE_CNRT_SUCCESS;
    *out_name = "cnrtQueueCreate";
    if (!queue->wrapped)
        code = create_native(queue->device, priority, &queue->queue);
    if (code != YOKE_CNRT_SUCCESS)
        return code;
    *out_name = "cnrtHostMalloc";
    code = cnrt->allocate_host(&queue->pattern, YOKE_CAMBRICON_PATTERN_SIZE);
    if (code == YOKE_CNRT_SUCCESS && queue->pattern == NULL)
        code = YOKE_CNRT_ERROR_NO_MEM;
    if (code == YOKE_CNRT_SUCCESS) {
        *out_name = "cnrtNotifierCreateWithFlags";
        code = cnrt->notifier_create(&queue->pattern_notifier,
                                     YOKE_CNRT_NOTIFIER_DISABLE_TIMING_ALL);
    }
    if (code != YOKE_CNRT_SUCCESS) {
        end_block(queue);
        if (!queue->wrapped)
            cnrt->queue_destroy(queue->queue);
    }
    return code;
}

static yoke_status_t queue_new(yoke_impl_device_t *device, void *handle, bool wrapped,
                               int32_t priority, yoke_impl_queue_t **out_queue)
{
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    queue->device = device;
    queue->queue = handle;
    queue->wrapped = wrapped;
    const char *name = "cnrtSetDevice";
    int code;
    YOKE_CAMBRICON_CALL(device, code, make_queue(queue, priority, &name));
    if (code != YOKE_CNRT_SUCCESS) {
        free(queue);
        return yoke_cambricon_check(device->runtime, name, code);
    }
    *out_queue = queue;
    return YOKE_OK;
}

yoke_status_t yoke_cambricon_queue_create(yoke_impl_device_t *device, int32_t priority,
                                          yoke_impl_queue_t **out_queue)
{
    return queue_new(device, NULL, false, priority, out_queue);
}

yoke_status_t yoke_cambricon_queue_wrap(yoke_impl_device_t *device, void *handle,
                                        yoke_impl_queue_t **out_queue)
{
    return queue_new(device, handle, true, 0, out_queue);
}

/* Also where the device cannot be made current any more: then it is lost, and what CNRT
 * still lets go is let go. */
void yoke_cambricon_queue_destroy(yoke_impl_queue_t *queue)
{
    const yoke_cnrt_t *cnrt = &queue->device->runtime->cnrt;
    yoke_cambricon_scope_t scope;
    yoke_cambricon_enter(queue->device, &scope);
    if (queue->pattern_used) /* the block must not go while it is read */
        cnrt->notifier_wait(queue->pattern_notifier);
    end_block(queue);
    if (!queue->wrapped)
        cnrt->queue_destroy(queue->queue);
    cnrt->last_error();
    yoke_cambricon_leave(queue->device, &scope);
    free(queue);
}

yoke_status_t yoke_cambricon_queue_sync(yoke_impl_queue_t *queue)
{
    int code;
    YOKE_CAMBRICON_CALL(queue->device, code,
                        queue->device->runtime->cnrt.queue_sync(queue->queue));
    return CHECK(queue, "cnrtQueueSync", code);
}

yoke_status_t yoke_cambricon_queue_query(yoke_impl_queue_t *queue)
{
    int code;
    YOKE_CAMBRICON_CALL(queue->device, code,
                        queue->device->runtime->cnrt.queue_query(queue->queue));
    return yoke_cambricon_check_query(queue->device->runtime, "cnrtQueueQuery", code);
}

/* --- copies
 * ----------------------------------------------------------------------------- */

static int direction_of(bool dst_host, bool src_host)
{
    if (dst_host)
        return src_host ? YOKE_CNRT_HOST_TO_HOST : YOKE_CNRT_DEVICE_TO_HOST;
    return src_host ? YOKE_CNRT_HOST_TO_DEVICE : YOKE_CNRT_DEVICE_TO_DEVICE;
}

static yoke_status_t copy_peer(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                               yoke_impl_span_t src, uint64_t size)
{
    int code;
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           queue->device->runtime->cnrt.copy_peer_async(
                               dst.buffer->address + dst.offset,
                               dst.buffer->device->ordinal,
                               src.buffer->address + src.offset,
                               src.buffer->device->ordinal, size, queue->queue));
    return CHECK(queue, "cnrtMemcpyPeerAsync", code);
}

/* cnrt.h (6.x) on cnrtMemcpyAsync_V3: the direction "must be one of" HostToDev, DevToDev,
 * DevToHost, PeerToPeer and NoDirection: there is no copy within the host in a queue. It
 * is no enqueue then: what is in the queue must end first. */
static yoke_status_t copy_in_host(yoke_impl_queue_t *queue, void *dst, const void *src,
                                  uint64_t size)
{
    int code;
    YOKE_CAMBRICON_CALL(queue->device, code,
                        queue->device->runtime->cnrt.queue_sync(queue->queue));
    if (code == YOKE_CNRT_SUCCESS)
        memcpy(dst, src, size);
    return CHECK(queue, "cnrtQueueSync", code);
}

yoke_status_t yoke_cambricon_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  yoke_impl_span_t src, uint64_t size)
{
    bool dst_host = dst.buffer->host, src_host = src.buffer->host;
    if (!dst_host && !src_host &&
        dst.buffer->device->ordinal != src.buffer->device->ordinal)
        return copy_peer(queue, dst, src, size);
    if (dst_host && src_host)
        return copy_in_host(queue, dst.buffer->address + dst.offset,
                            src.buffer->address + src.offset, size);
    int code;
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           queue->device->runtime->cnrt.copy_async(
                               dst.buffer->address + dst.offset,
                               src.buffer->address + src.offset, size, queue->queue,
                               direction_of(dst_host, src_host)));
    return CHECK(queue, "cnrtMemcpyAsync_V3", code);
}

yoke_status_t yoke_cambricon_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                   const void *src, uint64_t size)
{
    union { /* CNRT takes its sources without const */
        const void *in;
        void *out;
    } from = {src};
    int code;
    if (dst.buffer->host)
        return copy_in_host(queue, dst.buffer->address + dst.offset, src, size);
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           queue->device->runtime->cnrt.copy_async(
                               dst.buffer->address + dst.offset, from.out, size,
                               queue->queue, direction_of(dst.buffer->host, true)));
    return CHECK(queue, "cnrtMemcpyAsync_V3", code);
}

yoke_status_t yoke_cambricon_read(yoke_impl_queue_t *queue, void *dst,
                                  yoke_impl_span_t src, uint64_t size)
{
    int code;
    if (src.buffer->host)
        return copy_in_host(queue, dst, src.buffer->address + src.offset, size);
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           queue->device->runtime->cnrt.copy_async(
                               dst, src.buffer->address + src.offset, size, queue->queue,
                               direction_of(true, src.buffer->host)));
    return CHECK(queue, "cnrtMemcpyAsync_V3", code);
}

/* --- fill
 * -------------------------------------------------------------------------------- */

/* Patterns of more than a byte are copied from a pinned block; a second fill waits until
 * the block's last use has passed. (cnrtMemsetD32Async would do for 4 bytes, but its
 * header 6.x was not found.) */
static yoke_status_t fill_from_block(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                     const void *pattern, size_t pattern_size,
                                     uint64_t size)
{
    const yoke_cnrt_t *cnrt = &queue->device->runtime->cnrt;
    int code;
    if (queue->pattern_used) {
        YOKE_CAMBRICON_CALL(queue->device, code,
                            cnrt->notifier_wait(queue->pattern_notifier));
        if (code != YOKE_CNRT_SUCCESS)
            return CHECK(queue, "cnrtWaitNotifier", code);
        queue->pattern_used = false;
    }
    uint64_t block =
        size < YOKE_CAMBRICON_PATTERN_SIZE ? size : (uint64_t)YOKE_CAMBRICON_PATTERN_SIZE;
    for (uint64_t at = 0; at < block; at += pattern_size)
        memcpy((char *)queue->pattern + at, pattern, pattern_size);
    for (uint64_t at = 0; at < size; at += block) {
        uint64_t part = size - at < block ? size - at : block;
        yoke_impl_span_t to = {dst.buffer, dst.offset + at};
        yoke_status_t status = yoke_cambricon_write(queue, to, queue->pattern, part);
        if (status != YOKE_OK)
            return status;
    }
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           cnrt->notifier_place(queue->pattern_notifier, queue->queue));
    queue->pattern_used = code == YOKE_CNRT_SUCCESS;
    return CHECK(queue, "cnrtPlaceNotifier", code);
}

yoke_status_t yoke_cambricon_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *pattern, size_t pattern_size, uint64_t size)
{
    const unsigned char *bytes = pattern;
    if (!yoke_pattern_is_one_byte(bytes, pattern_size) || dst.buffer->host)
        return fill_from_block(queue, dst, pattern, pattern_size, size);
    int code;
    YOKE_CAMBRICON_ENQUEUE(
        queue->device, code,
        queue->device->runtime->cnrt.fill_async(dst.buffer->address + dst.offset,
                                                bytes[0], size, queue->queue));
    return CHECK(queue, "cnrtMemsetAsync", code);
}

yoke_status_t yoke_cambricon_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                       void *context)
{
    const yoke_cnrt_t *cnrt = &queue->device->runtime->cnrt;
    if (cnrt->host_call == NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "cambricon: %s has no cnrtInvokeHostFunc",
                                      queue->device->runtime->library);
    int code;
    YOKE_CAMBRICON_ENQUEUE(queue->device, code,
                           cnrt->host_call(queue->queue, function, context));
    return CHECK(queue, "cnrtInvokeHostFunc", code);
}

/* --- events
 * ------------------------------------------------------------------------------ */

static yoke_status_t event_new(yoke_impl_device_t *device, void *handle, bool wrapped,
                               yoke_impl_event_t **out_event)
{
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    event->device = device;
    event->notifier = handle;
    event->wrapped = wrapped;
    *out_event = event;
    return YOKE_OK;
}

yoke_status_t yoke_cambricon_event_create(yoke_impl_device_t *device, uint32_t flags,
                                          yoke_impl_event_t **out_event)
{
    const yoke_cnrt_t *cnrt = &device->runtime->cnrt;
    bool timed = (flags & YOKE_EVENT_TIMING) != 0;
    void *handle = NULL;
    int code;
    YOKE_CAMBRICON_CALL(
        device, code,
        cnrt->notifier_create(&handle, timed ? YOKE_CNRT_NOTIFIER_DEFAULT
                                             : YOKE_CNRT_NOTIFIER_DISABLE_TIMING_ALL));
    if (code != YOKE_CNRT_SUCCESS)
        return yoke_cambricon_check(device->runtime, "cnrtNotifierCreateWithFlags", code);
    yoke_status_t status = event_new(device, handle, false, out_event);
    if (status != YOKE_OK)
        YOKE_CAMBRICON_CALL(device, code, cnrt->notifier_destroy(handle));
    return status;
}

yoke_status_t yoke_cambricon_event_wrap(yoke_impl_device_t *device, void *handle,
                                        yoke_impl_event_t **out_event)
{
    return event_new(device, handle, true, out_event);
}

void yoke_cambricon_event_destroy(yoke_impl_event_t *event)
{
    yoke_cambricon_scope_t scope;
    if (!event->wrapped) {
        yoke_cambricon_enter(event->device, &scope);
        event->device->runtime->cnrt.notifier_destroy(event->notifier);
        event->device->runtime->cnrt.last_error();
        yoke_cambricon_leave(event->device, &scope);
    }
    free(event);
}

yoke_status_t yoke_cambricon_event_record(yoke_impl_event_t *event,
                                          yoke_impl_queue_t *queue)
{
    int code;
    YOKE_CAMBRICON_ENQUEUE(
        queue->device, code,
        queue->device->runtime->cnrt.notifier_place(event->notifier, queue->queue));
    return CHECK(queue, "cnrtPlaceNotifier", code);
}

yoke_status_t yoke_cambricon_event_query(yoke_impl_event_t *event)
{
    int code;
    YOKE_CAMBRICON_CALL(event->device, code,
                        event->device->runtime->cnrt.notifier_query(event->notifier));
    return yoke_cambricon_check_query(event->device->runtime, "cnrtQueryNotifier", code);
}

yoke_status_t yoke_cambricon_event_sync(yoke_impl_event_t *event)
{
    int code;
    YOKE_CAMBRICON_CALL(event->device, code,
                        event->device->runtime->cnrt.notifier_wait(event->notifier));
    return CHECK(event, "cnrtWaitNotifier", code);
}

yoke_status_t yoke_cambricon_event_elapsed(yoke_impl_event_t *start,
                                           yoke_impl_event_t *end, double *out_seconds)
{
    yoke_status_t status = yoke_cambricon_event_query(start);
    if (status == YOKE_OK)
        status = yoke_cambricon_event_query(end);
    if (status != YOKE_OK)
        return status;
    float ms = 0; /* cnrtNotifierDuration() would give microseconds */
    int code;
    YOKE_CAMBRICON_CALL(start->device, code,
                        start->device->runtime->cnrt.notifier_elapsed(
                            start->notifier, end->notifier, &ms));
    if (code != YOKE_CNRT_SUCCESS)
        return CHECK(start, "cnrtNotifierElapsedTime", code);
    *out_seconds = (double)ms * 1e-3;
    return YOKE_OK;
}

yoke_status_t yoke_cambricon_queue_wait(yoke_impl_queue_t *queue,
                                        yoke_impl_event_t *event)
{
    int code;
    YOKE_CAMBRICON_ENQUEUE(
        queue->device, code,
        queue->device->runtime->cnrt.queue_wait(event->notifier, queue->queue, 0));
    return CHECK(queue, "cnrtQueueWaitNotifier", code);
}
