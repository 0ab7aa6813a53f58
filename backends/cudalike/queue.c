/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: made and wrapped, waited for, and the copies on them. */
#include "backends/cudalike/internal.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/buffer.h"

/* hipMemcpyKind (hip/driver_types.h 5.2); mcMemcpyKind has the same five values (Cython
 * binding of mcr/mc_runtime_api.h in MetaX's port of CuPy). */
enum { KIND_IN = 1, KIND_OUT = 2, KIND_BY_ADDRESS = 4 };

/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD (cuda.h), hipStreamPerThread: 1 and 2. They
 * and NULL mean a stream of whatever is current. */
#define LAST_SPECIAL_STREAM 2

static yoke_status_t add_queue(yoke_impl_device_t *device, void *stream, bool owned,
                               yoke_impl_queue_t **out_queue)
{
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return yoke_fail_memory();
    queue->device = device;
    queue->stream = stream;
    queue->owned = owned;
    queue->pinned = (uintptr_t)stream > LAST_SPECIAL_STREAM;
    queue->api = device->api;
    queue->index = device->index;
    queue->enough = queue->pinned ? device->current : UINTPTR_MAX;
    *out_queue = queue;
    return YOKE_OK;
}

/* Lower numbers are higher priorities; "least" is the larger number. */
static int priority_of(yoke_impl_device_t *device, int32_t priority)
{
    int least = 0, greatest = 0;
    yoke_cudalike_scope_t scope;
    if (priority == 0 || device->api->priority_range == NULL ||
        yoke_cudalike_enter(device, &scope) != 0)
        return 0;
    int code = device->api->priority_range(&least, &greatest);
    yoke_cudalike_leave(&scope);
    return code != 0 ? 0 : priority < 0 ? greatest : least;
}

yoke_status_t yoke_cudalike_queue_create(yoke_impl_device_t *device, int32_t priority,
                                         yoke_impl_queue_t **out_queue)
{
    const yoke_cudalike_api_t *api = device->api;
    unsigned flags = (unsigned)device->flavour->stream_flags;
    void *stream = NULL;
    yoke_status_t status;
    int wanted = priority_of(device, priority);
    if (wanted != 0 && api->stream_create_priority != NULL)
        YOKE_CUDALIKE_CALL(device, false, stream_create_priority,
                           api->stream_create_priority(&stream, flags, wanted), status);
    else
        YOKE_CUDALIKE_CALL(device, false, stream_create,
                           api->stream_create(&stream, flags), status);
    if (status == YOKE_OK && stream == NULL)
        status = yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s:%u made no stream",
                                        device->flavour->ops->name, device->ordinal);
    if (status != YOKE_OK)
        return status;
    status = add_queue(device, stream, true, out_queue);
    yoke_cudalike_scope_t scope;
    if (status != YOKE_OK && yoke_cudalike_enter(device, &scope) == 0) {
        (void)api->stream_destroy(stream);
        yoke_cudalike_leave(&scope);
    }
    return status;
}

yoke_status_t yoke_cudalike_queue_wrap(yoke_impl_device_t *device, void *handle,
                                       yoke_impl_queue_t **out_queue)
{
    return add_queue(device, handle, false, out_queue);
}

void yoke_cudalike_queue_destroy(yoke_impl_queue_t *queue)
{
    yoke_cudalike_scope_t scope;
    if (queue->owned && yoke_cudalike_enter(queue->device, &scope) == 0) {
        (void)queue->device->api->stream_destroy(queue->stream);
        yoke_cudalike_leave(&scope);
    }
    free(queue);
}

void *yoke_cudalike_queue_native(yoke_impl_queue_t *queue)
{
    return queue->stream;
}

yoke_status_t yoke_cudalike_queue_sync(yoke_impl_queue_t *queue)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(queue->device, queue->pinned, stream_sync,
                       queue->device->api->stream_sync(queue->stream), status);
    return status;
}

yoke_status_t yoke_cudalike_queue_query(yoke_impl_queue_t *queue)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(queue->device, queue->pinned, stream_query,
                       queue->device->api->stream_query(queue->stream), status);
    return status;
}

yoke_status_t yoke_cudalike_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                      void *context)
{
    const yoke_cudalike_api_t *api = queue->device->api;
    yoke_status_t status;
    if (api->host_call == NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "%s has no host calls",
                                      queue->device->flavour->ops->name);
    YOKE_CUDALIKE_CALL(queue->device, queue->pinned, host_call,
                       api->host_call(queue->stream, function, context), status);
    return status;
}

/* --- copies ------------------------------------------------------------------------- */

static yoke_status_t copy_peer(yoke_impl_queue_t *queue, const yoke_impl_buffer_t *dst,
                               yoke_cudalike_address_t to, const yoke_impl_buffer_t *src,
                               yoke_cudalike_address_t from, size_t size)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_status_t status;
    if (api->copy_peer_contexts != NULL)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_peer_contexts,
                           api->copy_peer_contexts(to, dst->device->context, from,
                                                   src->device->context, size,
                                                   queue->stream),
                           status);
    else if (api->copy_peer_devices != NULL)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_peer_devices,
                           api->copy_peer_devices(to, dst->device->device, from,
                                                  src->device->device, size,
                                                  queue->stream),
                           status);
    else
        status = yoke_backend_fail_text(
            YOKE_ERR_UNREACHABLE, "%s cannot copy from device %u to device %u",
            device->flavour->ops->name, src->device->ordinal, dst->device->ordinal);
    return status;
}

static inline bool other_device(const yoke_impl_buffer_t *a, const yoke_impl_buffer_t *b)
{
    return __builtin_expect(a->device != b->device, 0) &&
           a->device->current != b->device->current && a->kind == YOKE_MEMORY_DEVICE &&
           b->kind == YOKE_MEMORY_DEVICE;
}

yoke_status_t yoke_cudalike_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 yoke_impl_span_t src, uint64_t size)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_cudalike_address_t to = dst.buffer->address + dst.offset;
    yoke_cudalike_address_t from = src.buffer->address + src.offset;
    yoke_status_t status;
    if (other_device(dst.buffer, src.buffer))
        return copy_peer(queue, dst.buffer, to, src.buffer, from, size);
    if (api->copy != NULL)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy,
                           api->copy(to, from, size, queue->stream), status);
    else
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_kind,
                           api->copy_kind(to, from, size, KIND_BY_ADDRESS, queue->stream),
                           status);
    return status;
}

yoke_status_t yoke_cudalike_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *src, uint64_t size)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_cudalike_address_t to = dst.buffer->address + dst.offset;
    bool host = dst.buffer->kind == YOKE_MEMORY_HOST;
    yoke_status_t status;
    if (api->copy_in != NULL && !host)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_in,
                           api->copy_in(to, src, size, queue->stream), status);
    else if (api->copy != NULL)
        YOKE_CUDALIKE_CALL(
            device, queue->pinned, copy,
            api->copy(to, (yoke_cudalike_address_t)src, size, queue->stream), status);
    else
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_kind,
                           api->copy_kind(to, (yoke_cudalike_address_t)src, size,
                                          host ? KIND_BY_ADDRESS : KIND_IN,
                                          queue->stream),
                           status);
    return status;
}

yoke_status_t yoke_cudalike_read(yoke_impl_queue_t *queue, void *dst,
                                 yoke_impl_span_t src, uint64_t size)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_cudalike_address_t from = src.buffer->address + src.offset;
    bool host = src.buffer->kind == YOKE_MEMORY_HOST;
    yoke_status_t status;
    if (api->copy_out != NULL && !host)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_out,
                           api->copy_out(dst, from, size, queue->stream), status);
    else if (api->copy != NULL)
        YOKE_CUDALIKE_CALL(
            device, queue->pinned, copy,
            api->copy((yoke_cudalike_address_t)dst, from, size, queue->stream), status);
    else
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy_kind,
                           api->copy_kind((yoke_cudalike_address_t)dst, from, size,
                                          host ? KIND_BY_ADDRESS : KIND_OUT,
                                          queue->stream),
                           status);
    return status;
}
