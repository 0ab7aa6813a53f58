/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by the vendors' libraries: which, and their steps. */

#include "ucx_comm/comm/route_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool is_reducing(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

/* Sums of these lose digits when they are rounded on the way between islands. */
static bool is_narrow(yoke_element_t element)
{
    return element == YOKE_ELEMENT_F16 || element == YOKE_ELEMENT_BF16 ||
           element == YOKE_ELEMENT_F8E4M3 || element == YOKE_ELEMENT_F8E5M2;
}

bool yoke_route_can(const yoke_comm_t *comm, bool v_form, const yoke_shape_t *shape)
{
    const yoke_vendors_t *vendors = comm->vendors;
    yoke_collective_t collective = shape->collective;
    if (vendors == NULL || v_form || shape->count == 0 ||
        collective == YOKE_COLLECTIVE_BARRIER || collective == YOKE_COLLECTIVE_SEND_RECV)
        return false;
    if (vendors->groups > 1 &&
        (collective != YOKE_COLLECTIVE_ALL_REDUCE || is_narrow(shape->element) ||
         shape->reduction == YOKE_REDUCE_AVG))
        return false;
    unsigned bit = is_reducing(collective) ? (unsigned)shape->reduction : 0;
    return (vendors->can[collective][shape->element] >> bit & 1u) != 0;
}

bool yoke_route_wanted(const yoke_comm_t *comm, uint64_t size)
{
    const yoke_vendors_t *vendors = comm->vendors;
    if (vendors == NULL || vendors->off)
        return false;
    if (comm->mode == YOKE_VENDOR_ALWAYS)
        return true;
    int i = 0; /* the largest size that was timed and is not larger */
    while (i + 1 < ROUTE_SIZES && yoke_route_sizes[i + 1] <= size)
        i++;
    return vendors->faster[i];
}

static bool is_own(const yoke_comm_t *comm, const yoke_comm_buffer_t *buffer,
                   uint64_t size, uint64_t unit, void **out_address)
{
    void *address = NULL;
    if (size == 0 || buffer->host != NULL || buffer->span.buffer == NULL ||
        yoke_buffer_device(buffer->span.buffer) != comm->device)
        return false;
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_buffer_address(buffer->span.buffer, &address);
    yoke_fail_quiet(false);
    if (status != YOKE_OK)
        return false;
    *out_address = (char *)address + buffer->span.offset;
    return ((uintptr_t)*out_address % unit) == 0;
}

bool yoke_route_is_direct(const yoke_comm_t *comm, const yoke_call_t *call,
                          const yoke_comm_call_t *options)
{
    void *address = NULL;
    const yoke_shape_t *shape = &call->shape;
    uint64_t unit = yoke_element_size(shape->element);
    yoke_queue_t *queue = options != NULL ? options->queue : NULL;
    if (comm->vendors->groups > 1 ||
        (queue != NULL && yoke_queue_device(queue) != comm->device))
        return false;
    if (shape->in_place && shape->collective != YOKE_COLLECTIVE_ALL_REDUCE)
        return false;
    if (shape->collective != YOKE_COLLECTIVE_BROADCAST &&
        !is_own(comm, &call->send, call->send_size, unit, &address))
        return false;
    return is_own(comm, &call->recv, call->recv_size, unit, &address);
}

/* --- steps
 * --------------------------------------------------------------------------- */

static yoke_status_t make_room(yoke_vendors_t *vendors, yoke_device_t *device,
                               uint64_t size)
{
    if (size <= vendors->room)
        return YOKE_OK;
    uint64_t room = 64u << 10;
    while (room < size)
        room *= 2;
    vendors->room = 0;
    for (int i = 0; i < 2; i++) {
        yoke_buffer_destroy(vendors->memory[i]);
        vendors->memory[i] = NULL;
        yoke_status_t status =
            yoke_buffer_create(device, YOKE_MEMORY_DEVICE, room, &vendors->memory[i]);
        if (status == YOKE_OK)
            status = yoke_buffer_address(vendors->memory[i], &vendors->address[i]);
        if (status != YOKE_OK)
            return status;
    }
    vendors->room = room;
    return YOKE_OK;
}

/* The library's part on a queue, and an event that tells its end. */
static yoke_status_t enqueue(yoke_vendors_t *vendors, yoke_collective_t collective,
                             const void *send, void *recv, const yoke_shape_t *shape,
                             int peer, yoke_queue_t *queue)
{
    yoke_status_t status =
        yoke_vendor_call(vendors->island, collective, send, recv, shape->count,
                         shape->element, shape->reduction, peer, queue);
    return status == YOKE_OK ? yoke_event_record(vendors->event, queue) : status;
}

static yoke_status_t start_direct(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    const yoke_shape_t *shape = &request->shape;
    void *send = NULL, *recv = NULL;
    yoke_queue_t *queue = request->queue != NULL ? request->queue : comm->vendors->queue;
    uint64_t unit = yoke_element_size(shape->element);
    is_own(comm, &request->recv, request->recv_size, unit, &recv);
    if (!is_own(comm, &request->send, request->send_size, unit, &send))
        send = recv;
    request->step = ROUTE_LAST;
    return enqueue(comm->vendors, shape->collective, send, recv, shape, shape->root,
                   queue);
}

static yoke_status_t start_copied(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    yoke_vendors_t *vendors = comm->vendors;
    const yoke_shape_t *shape = &request->shape;
    bool mixed = vendors->groups > 1;
    bool spread = shape->collective == YOKE_COLLECTIVE_BROADCAST;
    uint64_t most =
        request->send_size > request->recv_size ? request->send_size : request->recv_size;
    const void *from = spread ? request->host_recv : request->host_send;
    uint64_t size = spread ? request->recv_size : request->send_size;
    int into = spread ? 1 : 0;
    request->step = mixed ? ROUTE_INSIDE : ROUTE_LAST;
    if (vendors->island == NULL) { /* alone among islands */
        memmove(request->host_recv, request->host_send, request->recv_size);
        return YOKE_OK;
    }
    yoke_status_t status = make_room(vendors, comm->device, most);
    if (status == YOKE_OK && size > 0 && (!spread || shape->root == shape->rank))
        status = yoke_queue_write(vendors->queue, yoke_span(vendors->memory[into], 0),
                                  from, size);
    if (status != YOKE_OK)
        return status;
    return enqueue(vendors, mixed ? YOKE_COLLECTIVE_REDUCE : shape->collective,
                   vendors->address[into], vendors->address[1], shape,
                   mixed ? 0 : shape->root, vendors->queue);
}

yoke_status_t yoke_route_start(yoke_comm_request_t *request, void *send, void *recv)
{
    request->host_send = send;
    request->host_recv = recv;
    yoke_status_t status =
        request->direct ? start_direct(request) : start_copied(request);
    return status == YOKE_OK ? yoke_route_advance(request) : status;
}

/* The event has passed: nothing waits for another rank here. */
static yoke_status_t bring_back(yoke_comm_request_t *request)
{
    yoke_vendors_t *vendors = request->comm->vendors;
    yoke_status_t status =
        yoke_queue_read(vendors->queue, request->host_recv,
                        yoke_span(vendors->memory[1], 0), request->recv_size);
    return status == YOKE_OK ? yoke_queue_sync(vendors->queue) : status;
}

static yoke_status_t start_across(yoke_comm_request_t *request)
{
    yoke_vendors_t *vendors = request->comm->vendors;
    const yoke_shape_t *shape = &request->shape;
    yoke_comm_call_t options = {.struct_size = sizeof options,
                                .timeout_ms = request->timeout_ms,
                                .out_request = &vendors->across};
    yoke_status_t status = vendors->island != NULL ? bring_back(request) : YOKE_OK;
    request->step = ROUTE_ACROSS;
    if (status != YOKE_OK)
        return status;
    yoke_comm_buffer_t place = yoke_comm_host(request->host_recv);
    return yoke_comm_all_reduce(vendors->leaders, place, place, shape->count,
                                shape->element, shape->reduction, &options);
}

/* Leaders come here when they have the result, the others at once. */
static yoke_status_t start_spread(yoke_comm_request_t *request)
{
    yoke_vendors_t *vendors = request->comm->vendors;
    yoke_status_t status = YOKE_OK;
    request->step = ROUTE_LAST;
    if (vendors->island == NULL)
        return YOKE_OK;
    if (vendors->leaders != NULL)
        status = yoke_queue_write(vendors->queue, yoke_span(vendors->memory[1], 0),
                                  request->host_recv, request->recv_size);
    return status == YOKE_OK
               ? enqueue(vendors, YOKE_COLLECTIVE_BROADCAST, vendors->address[1],
                         vendors->address[1], &request->shape, 0, vendors->queue)
               : status;
}

static yoke_status_t end_last(yoke_comm_request_t *request)
{
    bool only_reads = request->shape.collective == YOKE_COLLECTIVE_BROADCAST &&
                      request->shape.root == request->shape.rank;
    if (request->direct || request->comm->vendors->island == NULL || only_reads ||
        request->recv_size == 0)
        return YOKE_OK;
    return bring_back(request);
}

yoke_status_t yoke_route_advance(yoke_comm_request_t *request)
{
    yoke_vendors_t *vendors = request->comm->vendors;
    yoke_status_t status = YOKE_OK;
    if (request->step == ROUTE_ACROSS) {
        status = yoke_comm_test(&vendors->across);
        if (status == YOKE_OK)
            status = start_spread(request);
        if (status != YOKE_OK)
            return status;
    }
    if (vendors->island != NULL) {
        status = yoke_vendor_comm_status(vendors->island);
        if (status == YOKE_OK)
            status = yoke_event_query(vendors->event);
        if (status != YOKE_OK)
            return status;
    }
    if (request->step == ROUTE_LAST)
        return end_last(request);
    status = vendors->leaders != NULL ? start_across(request) : start_spread(request);
    return status == YOKE_OK ? YOKE_ERR_NOT_READY : status;
}

void yoke_route_abort(yoke_comm_t *comm)
{
    yoke_vendors_t *vendors = comm->vendors;
    if (vendors == NULL || vendors->island == NULL || vendors->aborted)
        return;
    vendors->aborted = true;
    yoke_fail_quiet(true);
    yoke_vendor_comm_abort(vendors->island);
    yoke_fail_quiet(false);
}
