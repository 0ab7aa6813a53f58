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

/* What is needed to make a copy once more. */
typedef struct copy_call {
    yoke_impl_queue_t *queue;
    yoke_cudalike_address_t to, from;
    size_t size;
} copy_call_t;

/* By the first of the calls that the runtime has: a driver API's, or the one that is told
 * the kind. */
static inline __attribute__((always_inline)) int copy_now(const copy_call_t *call,
                                                          int kind)
{
    const yoke_cudalike_api_t *api = call->queue->api;
    void *stream = call->queue->stream;
    if (kind == KIND_IN && api->copy_in != NULL)
        return api->copy_in(call->to, (const void *)call->from, call->size, stream);
    if (kind == KIND_OUT && api->copy_out != NULL)
        return api->copy_out((void *)call->to, call->from, call->size, stream);
    if (api->copy_kind != NULL)
        return api->copy_kind(call->to, call->from, call->size, kind, stream);
    return api->copy(call->to, call->from, call->size, stream);
}

/* Which that is, for messages. */
static uint16_t copy_slot(const yoke_cudalike_api_t *api, int kind)
{
    if (kind == KIND_IN && api->copy_in != NULL)
        return YOKE_CUDALIKE_SLOT(copy_in);
    if (kind == KIND_OUT && api->copy_out != NULL)
        return YOKE_CUDALIKE_SLOT(copy_out);
    return api->copy_kind != NULL ? YOKE_CUDALIKE_SLOT(copy_kind)
                                  : YOKE_CUDALIKE_SLOT(copy);
}

/* As launch_carefully() of program.c: what is rare, out of line. */
static __attribute__((noinline)) yoke_status_t
copy_carefully(const copy_call_t *call, int kind, bool tried, int code)
{
    yoke_impl_device_t *device = call->queue->device;
    yoke_cudalike_scope_t scope;
    if (!tried || yoke_cudalike_suspect(code)) {
        int entered = yoke_cudalike_enter(device, &scope);
        if (entered != 0)
            return yoke_cudalike_fail(device->runtime, scope.slot, entered);
        if (!tried || scope.changed)
            code = copy_now(call, kind);
        yoke_cudalike_leave(&scope);
    }
    return code == 0
               ? YOKE_OK
               : yoke_cudalike_fail(device->runtime, copy_slot(device->api, kind), code);
}

static inline __attribute__((always_inline)) yoke_status_t
copy_as(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
        yoke_cudalike_address_t from, size_t size, int kind)
{
    const copy_call_t call = {queue, to, from, size};
    if (__builtin_expect(yoke_cudalike_noted[queue->index] != queue->enough, 0))
        return copy_carefully(&call, kind, false, 0);
    int code = copy_now(&call, kind);
    return __builtin_expect(code == 0, 1) ? (yoke_status_t)code
                                          : copy_carefully(&call, kind, true, code);
}

/* Buffers of two devices: perhaps one physical device by two handles. */
static __attribute__((noinline)) yoke_status_t copy_between(yoke_impl_queue_t *queue,
                                                            yoke_impl_span_t dst,
                                                            yoke_impl_span_t src,
                                                            uint64_t size)
{
    yoke_cudalike_address_t to = dst.buffer->address + dst.offset;
    yoke_cudalike_address_t from = src.buffer->address + src.offset;
    if (dst.buffer->device->current != src.buffer->device->current &&
        dst.buffer->kind == YOKE_MEMORY_DEVICE && src.buffer->kind == YOKE_MEMORY_DEVICE)
        return copy_peer(queue, dst.buffer, to, src.buffer, from, size);
    return copy_as(queue, to, from, size, KIND_BY_ADDRESS);
}

yoke_status_t yoke_cudalike_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 yoke_impl_span_t src, uint64_t size)
{
    if (__builtin_expect(dst.buffer->device != src.buffer->device, 0))
        return copy_between(queue, dst, src, size);
    return copy_as(queue, dst.buffer->address + dst.offset,
                   src.buffer->address + src.offset, size, KIND_BY_ADDRESS);
}

/* Pinned memory that a buffer stands for: which side it is on is the vendor's to see. */
static __attribute__((noinline)) yoke_status_t
copy_by_address(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
                yoke_cudalike_address_t from, size_t size)
{
    return copy_as(queue, to, from, size, KIND_BY_ADDRESS);
}

yoke_status_t yoke_cudalike_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *src, uint64_t size)
{
    yoke_cudalike_address_t to = dst.buffer->address + dst.offset;
    yoke_cudalike_address_t from = (yoke_cudalike_address_t)src;
    if (__builtin_expect(dst.buffer->kind == YOKE_MEMORY_HOST, 0))
        return copy_by_address(queue, to, from, size);
    return copy_as(queue, to, from, size, KIND_IN);
}

yoke_status_t yoke_cudalike_read(yoke_impl_queue_t *queue, void *dst,
                                 yoke_impl_span_t src, uint64_t size)
{
    yoke_cudalike_address_t to = (yoke_cudalike_address_t)dst;
    yoke_cudalike_address_t from = src.buffer->address + src.offset;
    if (__builtin_expect(src.buffer->kind == YOKE_MEMORY_HOST, 0))
        return copy_by_address(queue, to, from, size);
    return copy_as(queue, to, from, size, KIND_OUT);
}
