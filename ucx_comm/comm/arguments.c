/* SPDX-License-Identifier: Apache-2.0 */
/* What a call was given: checked before anything is sent. */

#include "ucx_comm/comm/object.h"

#include <string.h>

#include "base/error.h"

#define MOST_BYTES ((uint64_t)1 << 60)

static bool is_rooted(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_BROADCAST ||
           collective == YOKE_COLLECTIVE_REDUCE || collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER;
}

static bool is_reducing(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static yoke_status_t check_names(const yoke_comm_t *comm, const yoke_shape_t *shape,
                                 const char *name)
{
    if (yoke_element_size(shape->element) == 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %d is no element type", name,
                         (int)shape->element);
    if (is_reducing(shape->collective) && yoke_reduction_name(shape->reduction) == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %d is no reduction", name,
                         (int)shape->reduction);
    bool pair = shape->collective == YOKE_COLLECTIVE_SEND_RECV;
    if ((is_rooted(shape->collective) || pair) &&
        (shape->root < 0 || shape->root >= comm->size))
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s %d is not a rank of 0 to %d", name,
                         pair ? "peer" : "root", shape->root, comm->size - 1);
    return YOKE_OK;
}

/* End of the blocks of a buffer in bytes; OUT_OF_RANGE past what can be. */
static yoke_status_t extent(const uint64_t *counts, const uint64_t *displacements, int n,
                            uint64_t unit, const char *name, uint64_t *out_end)
{
    uint64_t end = 0, next = 0;
    for (int i = 0; i < n; i++) {
        uint64_t begin = displacements != NULL ? displacements[i] : next;
        if (counts[i] > MOST_BYTES / unit || begin > MOST_BYTES / unit - counts[i])
            return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                             "%s: the block of rank %d ends beyond 2^60 bytes", name, i);
        next = begin + counts[i];
        end = next > end ? next : end;
    }
    *out_end = end * unit;
    return YOKE_OK;
}

/* Bytes of n blocks, and of this rank's. */
typedef struct sizes {
    uint64_t vector, own, blocks, sent;
} sizes_t;

static yoke_status_t measure(const yoke_call_t *call, const char *name, sizes_t *out)
{
    const yoke_shape_t *shape = &call->shape;
    uint64_t unit = yoke_element_size(shape->element), n = (uint64_t)shape->size;
    if (!call->v_form) {
        if (shape->count > MOST_BYTES / unit / n)
            return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                             "%s: %llu elements of %s on %d ranks are beyond 2^60 bytes",
                             name, (unsigned long long)shape->count,
                             yoke_element_name(shape->element), shape->size);
        out->vector = out->own = shape->count * unit;
        out->blocks = out->sent = out->own * n;
        return YOKE_OK;
    }
    bool all_to_all = shape->collective == YOKE_COLLECTIVE_ALL_TO_ALL;
    if (shape->counts == NULL || (all_to_all && shape->send_counts == NULL))
        return yoke_fail(YOKE_ERR_USAGE, "%s: the array of counts is NULL", name);
    yoke_status_t status = extent(shape->counts, shape->displacements, shape->size, unit,
                                  name, &out->blocks);
    if (status == YOKE_OK && all_to_all)
        status = extent(shape->send_counts, shape->send_displacements, shape->size, unit,
                        name, &out->sent);
    out->vector = 0;
    out->own = shape->counts[shape->rank] * unit;
    return status;
}

static void assign_sizes(yoke_call_t *call, const sizes_t *sizes)
{
    const yoke_shape_t *shape = &call->shape;
    bool root = shape->rank == shape->root;
    switch (shape->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        call->recv_size = sizes->vector;
        break;
    case YOKE_COLLECTIVE_REDUCE:
        call->send_size = sizes->vector;
        call->recv_size = root ? sizes->vector : 0;
        break;
    case YOKE_COLLECTIVE_ALL_REDUCE:
        call->send_size = call->recv_size = sizes->vector;
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        call->send_size = sizes->blocks;
        call->recv_size = sizes->own;
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        call->send_size = sizes->own;
        call->recv_size = sizes->blocks;
        break;
    case YOKE_COLLECTIVE_GATHER:
        call->send_size = sizes->own;
        call->recv_size = root ? sizes->blocks : 0;
        break;
    case YOKE_COLLECTIVE_SCATTER:
        call->send_size = root ? sizes->blocks : 0;
        call->recv_size = sizes->own;
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        call->send_size = sizes->sent;
        call->recv_size = sizes->blocks;
        break;
    case YOKE_COLLECTIVE_SEND_RECV:
        *(shape->radix == 0 ? &call->send_size : &call->recv_size) = sizes->vector;
        break;
    default:
        break;
    }
}

static yoke_status_t check_buffer(const yoke_comm_buffer_t *buffer, uint64_t size,
                                  const char *name, const char *which)
{
    if (size == 0)
        return YOKE_OK;
    if (buffer->host != NULL)
        return YOKE_OK;
    if (buffer->span.buffer == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s is NULL, and %llu bytes of it are used",
                         name, which, (unsigned long long)size);
    uint64_t whole = yoke_buffer_size(buffer->span.buffer);
    if (buffer->span.offset > whole || size > whole - buffer->span.offset)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: %s: %llu bytes at offset %llu pass the end of a buffer of "
                         "%llu bytes",
                         name, which, (unsigned long long)size,
                         (unsigned long long)buffer->span.offset,
                         (unsigned long long)whole);
    return YOKE_OK;
}

/* Distance from `a` to `b` in bytes, where both are in one memory. */
static bool distance(const yoke_comm_buffer_t *a, const yoke_comm_buffer_t *b,
                     int64_t *out_bytes)
{
    if (a->host != NULL && b->host != NULL) {
        *out_bytes = (int64_t)((uintptr_t)b->host - (uintptr_t)a->host);
        return true;
    }
    if (a->host != NULL || b->host != NULL || a->span.buffer == NULL ||
        a->span.buffer != b->span.buffer)
        return false;
    *out_bytes = (int64_t)(b->span.offset - a->span.offset);
    return true;
}

/* Where recv stands from send when the call is in place. */
static int64_t place_in_place(const yoke_call_t *call)
{
    const yoke_shape_t *shape = &call->shape;
    uint64_t unit = yoke_element_size(shape->element), own = 0;
    if (shape->counts == NULL)
        own = shape->stride * (uint64_t)shape->rank;
    else if (shape->displacements != NULL)
        own = shape->displacements[shape->rank];
    else
        for (int i = 0; i < shape->rank; i++)
            own += shape->counts[i];
    switch (shape->collective) {
    case YOKE_COLLECTIVE_ALL_GATHER:
    case YOKE_COLLECTIVE_GATHER:
        return -(int64_t)(own * unit);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
    case YOKE_COLLECTIVE_SCATTER:
        return (int64_t)(own * unit);
    default:
        return 0;
    }
}

static yoke_status_t check_overlap(yoke_call_t *call, const char *name)
{
    int64_t bytes;
    if (call->send_size == 0 || call->recv_size == 0 ||
        !distance(&call->send, &call->recv, &bytes))
        return YOKE_OK;
    if (bytes == place_in_place(call)) {
        call->shape.in_place = true;
        if (call->shape.collective == YOKE_COLLECTIVE_ALL_TO_ALL && call->v_form)
            return yoke_fail(YOKE_ERR_UNSUPPORTED,
                             "%s: not in place: blocks of other sizes go than come",
                             name);
        return YOKE_OK;
    }
    bool apart = bytes >= 0 ? (uint64_t)bytes >= call->send_size
                            : (uint64_t)-bytes >= call->recv_size;
    if (apart)
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_USAGE,
                     "%s: send and recv overlap; a call in place would have recv %lld "
                     "bytes from send, not %lld",
                     name, (long long)place_in_place(call), (long long)bytes);
}

yoke_status_t yoke_call_check(yoke_comm_t *comm, yoke_call_t *call,
                              const yoke_comm_call_t *options, const char *name)
{
    if (options != NULL && options->struct_size < sizeof *options)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: yoke_comm_call_t.struct_size is %zu, not %zu", name,
                         options->struct_size, sizeof *options);
    yoke_shape_t *shape = &call->shape;
    shape->size = comm->size;
    shape->rank = comm->rank;
    shape->stride = shape->count;
    shape->topology = comm->topology;
    sizes_t sizes = {0};
    yoke_status_t status = check_names(comm, shape, name);
    if (status == YOKE_OK)
        status = measure(call, name, &sizes);
    if (status != YOKE_OK)
        return status;
    assign_sizes(call, &sizes);
    status = check_buffer(&call->send, call->send_size, name, "send");
    if (status == YOKE_OK)
        status = check_buffer(&call->recv, call->recv_size, name, "recv");
    if (status == YOKE_OK)
        status = check_overlap(call, name);
    return status;
}

yoke_status_t yoke_buffer_place(const yoke_comm_buffer_t *buffer, void **out_place)
{
    *out_place = buffer->host;
    if (buffer->host != NULL || buffer->span.buffer == NULL)
        return YOKE_OK;
    void *base = NULL;
    yoke_status_t status = yoke_buffer_host_address(buffer->span.buffer, &base);
    if (status == YOKE_OK)
        *out_place = (char *)base + buffer->span.offset;
    return status;
}
