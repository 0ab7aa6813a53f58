/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and copies. */
#include "backends/ascend/ascend.h"
#include "backends/pattern.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(object, name, code) yoke_ascend_check((object)->device->runtime, name, code)

/* --- streams --------------------------------------------------------------------------
 */

static int make_pattern_block(yoke_impl_queue_t *queue, const char **out_name)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    *out_name = "aclrtMallocHost";
    int code = acl->allocate_host(&queue->pattern, YOKE_ASCEND_PATTERN_SIZE);
    if (code == YOKE_ACL_SUCCESS && queue->pattern == NULL)
        code = YOKE_ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (code == YOKE_ACL_SUCCESS) {
        *out_name = "aclrtCreateEventWithFlag";
        code = acl->event_create(&queue->pattern_event, YOKE_ACL_EVENT_SYNC);
    }
    return code;
}

static void end_queue_memory(yoke_impl_queue_t *queue)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    if (queue->pattern_event != NULL)
        acl->event_destroy(queue->pattern_event);
    if (queue->pattern != NULL)
        acl->release_host(queue->pattern);
    if (queue->workspace != NULL)
        acl->release(queue->workspace);
}

static yoke_status_t queue_new(yoke_impl_device_t *device, void *handle, bool wrapped,
                               yoke_impl_queue_t **out_queue)
{
    const yoke_acl_t *acl = &device->runtime->acl;
    const char *name = "aclrtCreateStream";
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    queue->device = device;
    queue->stream = handle;
    queue->wrapped = wrapped;

    yoke_ascend_scope_t scope;
    int code = yoke_ascend_enter(device, &scope);
    if (code != YOKE_ACL_SUCCESS) {
        free(queue);
        return yoke_ascend_check(device->runtime, "aclrtSetCurrentContext", code);
    }
    if (!wrapped)
        code = acl->stream_create(&queue->stream);
    if (code == YOKE_ACL_SUCCESS) {
        code = make_pattern_block(queue, &name);
        if (code != YOKE_ACL_SUCCESS && !wrapped)
            acl->stream_destroy(queue->stream);
    }
    if (code != YOKE_ACL_SUCCESS)
        end_queue_memory(queue);
    yoke_ascend_leave(device, &scope);
    if (code != YOKE_ACL_SUCCESS) {
        free(queue);
        return yoke_ascend_check(device->runtime, name, code);
    }
    *out_queue = queue;
    return YOKE_OK;
}

yoke_status_t yoke_ascend_queue_create(yoke_impl_device_t *device, int32_t priority,
                                       yoke_impl_queue_t **out_queue)
{
    /* acl_rt.h: "the priority of stream, reserved param, must be 0". */
    (void)priority;
    return queue_new(device, NULL, false, out_queue);
}

yoke_status_t yoke_ascend_queue_wrap(yoke_impl_device_t *device, void *handle,
                                     yoke_impl_queue_t **out_queue)
{
    return queue_new(device, handle, true, out_queue);
}

void yoke_ascend_queue_destroy(yoke_impl_queue_t *queue)
{
    yoke_ascend_scope_t scope;
    if (yoke_ascend_enter(queue->device, &scope) == YOKE_ACL_SUCCESS) {
        /* What is ours must not go while the stream still reads it. */
        if (queue->pattern_used || queue->workspace != NULL)
            queue->device->runtime->acl.stream_sync(queue->stream);
        end_queue_memory(queue);
        if (!queue->wrapped)
            queue->device->runtime->acl.stream_destroy(queue->stream);
        yoke_ascend_leave(queue->device, &scope);
    }
    free(queue);
}

yoke_status_t yoke_ascend_queue_sync(yoke_impl_queue_t *queue)
{
    int code;
    YOKE_ASCEND_CALL(queue->device, code,
                     queue->device->runtime->acl.stream_sync(queue->stream));
    return CHECK(queue, "aclrtSynchronizeStream", code);
}

yoke_status_t yoke_ascend_queue_query(yoke_impl_queue_t *queue)
{
    int code, state = YOKE_ACL_STREAM_STATUS_NOT_READY;
    YOKE_ASCEND_CALL(queue->device, code,
                     queue->device->runtime->acl.stream_query(queue->stream, &state));
    if (code != YOKE_ACL_SUCCESS)
        return CHECK(queue, "aclrtStreamQuery", code);
    return state == YOKE_ACL_STREAM_STATUS_COMPLETE ? YOKE_OK : YOKE_ERR_NOT_READY;
}

/* --- copies ---------------------------------------------------------------------------
 */

static int kind_of(bool dst_host, bool src_host)
{
    if (dst_host)
        return src_host ? YOKE_ACL_MEMCPY_HOST_TO_HOST : YOKE_ACL_MEMCPY_DEVICE_TO_HOST;
    return src_host ? YOKE_ACL_MEMCPY_HOST_TO_DEVICE : YOKE_ACL_MEMCPY_DEVICE_TO_DEVICE;
}

/* The asynchronous copy wants aligned addresses on the chip; the other one does not. It
 * is no enqueue then: what is in the stream must end first. */
static yoke_status_t copy_unaligned(yoke_impl_queue_t *queue, char *dst, uint64_t room,
                                    const char *src, uint64_t size)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    int code;
    YOKE_ASCEND_CALL(queue->device, code, acl->stream_sync(queue->stream));
    if (code != YOKE_ACL_SUCCESS)
        return CHECK(queue, "aclrtSynchronizeStream", code);
    YOKE_ASCEND_CALL(queue->device, code,
                     acl->copy(dst, room, src, size, YOKE_ACL_MEMCPY_DEVICE_TO_DEVICE));
    return CHECK(queue, "aclrtMemcpy", code);
}

/* "This API does not support asynchronous memory copy within the host", it returns
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT (CANN 8.5 API reference, aclrtMemcpyAsync,
 * "Restrictions"). It is no enqueue then. */
static yoke_status_t copy_in_host(yoke_impl_queue_t *queue, void *dst, const void *src,
                                  uint64_t size)
{
    int code;
    YOKE_ASCEND_CALL(queue->device, code,
                     queue->device->runtime->acl.stream_sync(queue->stream));
    if (code == YOKE_ACL_SUCCESS)
        memcpy(dst, src, size);
    return CHECK(queue, "aclrtSynchronizeStream", code);
}

yoke_status_t yoke_ascend_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                               yoke_impl_span_t src, uint64_t size)
{
    char *to = dst.buffer->address + dst.offset;
    const char *from = src.buffer->address + src.offset;
    uint64_t room = dst.buffer->size - dst.offset;
    int kind = kind_of(dst.buffer->host, src.buffer->host);
    if (kind == YOKE_ACL_MEMCPY_HOST_TO_HOST)
        return copy_in_host(queue, to, from, size);
    if (kind == YOKE_ACL_MEMCPY_DEVICE_TO_DEVICE &&
        (((uintptr_t)to | (uintptr_t)from) % YOKE_ACL_COPY_ALIGNMENT) != 0)
        return copy_unaligned(queue, to, room, from, size);
    int code;
    YOKE_ASCEND_ENQUEUE(queue->device, code,
                        queue->device->runtime->acl.copy_async(to, room, from, size, kind,
                                                               queue->stream));
    return CHECK(queue, "aclrtMemcpyAsync", code);
}

yoke_status_t yoke_ascend_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                const void *src, uint64_t size)
{
    int code;
    if (dst.buffer->host)
        return copy_in_host(queue, dst.buffer->address + dst.offset, src, size);
    YOKE_ASCEND_ENQUEUE(queue->device, code,
                        queue->device->runtime->acl.copy_async(
                            dst.buffer->address + dst.offset,
                            dst.buffer->size - dst.offset, src, size,
                            kind_of(dst.buffer->host, true), queue->stream));
    return CHECK(queue, "aclrtMemcpyAsync", code);
}

yoke_status_t yoke_ascend_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                               uint64_t size)
{
    int code;
    if (src.buffer->host)
        return copy_in_host(queue, dst, src.buffer->address + src.offset, size);
    YOKE_ASCEND_ENQUEUE(queue->device, code,
                        queue->device->runtime->acl.copy_async(
                            dst, size, src.buffer->address + src.offset, size,
                            kind_of(true, src.buffer->host), queue->stream));
    return CHECK(queue, "aclrtMemcpyAsync", code);
}

/* --- fill ------------------------------------------------------------------------------
 */

/* AscendCL fills with bytes only. Other patterns are copied from a pinned block; a second
 * fill waits until the block's last use has passed. */
static yoke_status_t fill_from_block(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                     const void *pattern, size_t pattern_size,
                                     uint64_t size)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    int code;
    if (queue->pattern_used) {
        YOKE_ASCEND_CALL(queue->device, code, acl->event_sync(queue->pattern_event));
        if (code != YOKE_ACL_SUCCESS)
            return CHECK(queue, "aclrtSynchronizeEvent", code);
        queue->pattern_used = false;
    }
    uint64_t block =
        size < YOKE_ASCEND_PATTERN_SIZE ? size : (uint64_t)YOKE_ASCEND_PATTERN_SIZE;
    for (uint64_t at = 0; at < block; at += pattern_size)
        memcpy((char *)queue->pattern + at, pattern, pattern_size);
    for (uint64_t at = 0; at < size; at += block) {
        uint64_t part = size - at < block ? size - at : block;
        yoke_impl_span_t to = {dst.buffer, dst.offset + at};
        yoke_status_t status = yoke_ascend_write(queue, to, queue->pattern, part);
        if (status != YOKE_OK)
            return status;
    }
    YOKE_ASCEND_ENQUEUE(queue->device, code,
                        acl->event_record(queue->pattern_event, queue->stream));
    queue->pattern_used = code == YOKE_ACL_SUCCESS;
    return CHECK(queue, "aclrtRecordEvent", code);
}

yoke_status_t yoke_ascend_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                               const void *pattern, size_t pattern_size, uint64_t size)
{
    const unsigned char *bytes = pattern;
    if (!yoke_pattern_is_one_byte(bytes, pattern_size) || dst.buffer->host)
        return fill_from_block(queue, dst, pattern, pattern_size, size);
    int code;
    YOKE_ASCEND_ENQUEUE(
        queue->device, code,
        queue->device->runtime->acl.fill_async(dst.buffer->address + dst.offset,
                                               dst.buffer->size - dst.offset, bytes[0],
                                               size, queue->stream));
    return CHECK(queue, "aclrtMemsetAsync", code);
}

yoke_status_t yoke_ascend_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                    void *context)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    if (acl->host_call == NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "ascend: %s has no aclrtLaunchHostFunc",
                                      queue->device->runtime->library);
    int code;
    YOKE_ASCEND_ENQUEUE(queue->device, code,
                        acl->host_call(queue->stream, function, context));
    return CHECK(queue, "aclrtLaunchHostFunc", code);
}

/* --- events ----------------------------------------------------------------------------
 */

static yoke_status_t event_new(yoke_impl_device_t *device, void *handle, bool wrapped,
                               yoke_impl_event_t **out_event)
{
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    event->device = device;
    event->event = handle;
    event->wrapped = wrapped;
    *out_event = event;
    return YOKE_OK;
}

yoke_status_t yoke_ascend_event_create(yoke_impl_device_t *device, uint32_t flags,
                                       yoke_impl_event_t **out_event)
{
    uint32_t native = YOKE_ACL_EVENT_SYNC;
    if ((flags & YOKE_EVENT_TIMING) != 0)
        native |= YOKE_ACL_EVENT_TIME_LINE; /* only such can be timed */
    void *handle = NULL;
    int code;
    YOKE_ASCEND_CALL(device, code, device->runtime->acl.event_create(&handle, native));
    if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(device->runtime, "aclrtCreateEventWithFlag", code);
    yoke_status_t status = event_new(device, handle, false, out_event);
    if (status != YOKE_OK)
        YOKE_ASCEND_CALL(device, code, device->runtime->acl.event_destroy(handle));
    return status;
}

yoke_status_t yoke_ascend_event_wrap(yoke_impl_device_t *device, void *handle,
                                     yoke_impl_event_t **out_event)
{
    return event_new(device, handle, true, out_event);
}

void yoke_ascend_event_destroy(yoke_impl_event_t *event)
{
    int code;
    if (!event->wrapped)
        YOKE_ASCEND_CALL(event->device, code,
                         event->device->runtime->acl.event_destroy(event->event));
    free(event);
}

yoke_status_t yoke_ascend_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    int code;
    YOKE_ASCEND_ENQUEUE(
        queue->device, code,
        queue->device->runtime->acl.event_record(event->event, queue->stream));
    return CHECK(queue, "aclrtRecordEvent", code);
}

yoke_status_t yoke_ascend_event_query(yoke_impl_event_t *event)
{
    int code, state = 0;
    YOKE_ASCEND_CALL(event->device, code,
                     event->device->runtime->acl.event_query(event->event, &state));
    if (code != YOKE_ACL_SUCCESS)
        return CHECK(event, "aclrtQueryEventStatus", code);
    return state == YOKE_ACL_EVENT_RECORDED_STATUS_COMPLETE ? YOKE_OK
                                                            : YOKE_ERR_NOT_READY;
}

yoke_status_t yoke_ascend_event_sync(yoke_impl_event_t *event)
{
    int code;
    YOKE_ASCEND_CALL(event->device, code,
                     event->device->runtime->acl.event_sync(event->event));
    return CHECK(event, "aclrtSynchronizeEvent", code);
}

yoke_status_t yoke_ascend_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                        double *out_seconds)
{
    yoke_status_t status = yoke_ascend_event_query(start);
    if (status == YOKE_OK)
        status = yoke_ascend_event_query(end);
    if (status != YOKE_OK)
        return status;
    float ms = 0;
    int code;
    YOKE_ASCEND_CALL(
        start->device, code,
        start->device->runtime->acl.event_elapsed(&ms, start->event, end->event));
    if (code == YOKE_ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL) { /* end came first */
        YOKE_ASCEND_CALL(
            start->device, code,
            start->device->runtime->acl.event_elapsed(&ms, end->event, start->event));
        ms = -ms;
    }
    if (code != YOKE_ACL_SUCCESS)
        return CHECK(start, "aclrtEventElapsedTime", code);
    *out_seconds = (double)ms * 1e-3;
    return YOKE_OK;
}

yoke_status_t yoke_ascend_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    int code;
    YOKE_ASCEND_ENQUEUE(
        queue->device, code,
        queue->device->runtime->acl.stream_wait(queue->stream, event->event));
    return CHECK(queue, "aclrtStreamWaitEvent", code);
}
