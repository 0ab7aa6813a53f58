/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of yoke/comm.h: each says what it is, and is checked and made. */

#include "ucx_comm/comm/object.h"

#include <string.h>

#include "base/error.h"

static yoke_call_t call_of(yoke_collective_t collective, yoke_element_t element)
{
    yoke_call_t call;
    memset(&call, 0, sizeof call);
    call.shape.collective = collective;
    call.shape.element = element;
    return call;
}

static yoke_status_t make(yoke_comm_t *comm, yoke_call_t *call,
                          const yoke_comm_call_t *options, const char *name)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the communicator is NULL", name);
    yoke_status_t status = yoke_call_check(comm, call, options, name);
    return status == YOKE_OK ? yoke_call_make(comm, call, options) : status;
}

yoke_status_t yoke_comm_barrier(yoke_comm_t *comm, const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_BARRIER, YOKE_ELEMENT_U8);
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_broadcast(yoke_comm_t *comm, yoke_comm_buffer_t buffer,
                                  uint64_t count, yoke_element_t element, int root,
                                  const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_BROADCAST, element);
    call.recv = buffer;
    call.shape.count = count;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_reduce(yoke_comm_t *comm, yoke_comm_buffer_t send,
                               yoke_comm_buffer_t recv, uint64_t count,
                               yoke_element_t element, yoke_reduction_t reduction,
                               int root, const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_REDUCE, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    call.shape.reduction = reduction;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_all_reduce(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element, yoke_reduction_t reduction,
                                   const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_ALL_REDUCE, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    call.shape.reduction = reduction;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_reduce_scatter(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                       yoke_comm_buffer_t recv, uint64_t count,
                                       yoke_element_t element, yoke_reduction_t reduction,
                                       const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_REDUCE_SCATTER, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    call.shape.reduction = reduction;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_reduce_scatter_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                         yoke_comm_buffer_t recv, const uint64_t *counts,
                                         yoke_element_t element,
                                         yoke_reduction_t reduction,
                                         const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_REDUCE_SCATTER, element);
    call.send = send;
    call.recv = recv;
    call.v_form = true;
    call.shape.counts = counts;
    call.shape.reduction = reduction;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_all_gather(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element,
                                   const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_ALL_GATHER, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_all_gather_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                     yoke_comm_buffer_t recv, const uint64_t *counts,
                                     const uint64_t *displacements,
                                     yoke_element_t element,
                                     const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_ALL_GATHER, element);
    call.send = send;
    call.recv = recv;
    call.v_form = true;
    call.shape.counts = counts;
    call.shape.displacements = displacements;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_gather(yoke_comm_t *comm, yoke_comm_buffer_t send,
                               yoke_comm_buffer_t recv, uint64_t count,
                               yoke_element_t element, int root,
                               const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_GATHER, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_gather_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                 yoke_comm_buffer_t recv, const uint64_t *counts,
                                 const uint64_t *displacements, yoke_element_t element,
                                 int root, const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_GATHER, element);
    call.send = send;
    call.recv = recv;
    call.v_form = true;
    call.shape.counts = counts;
    call.shape.displacements = comm != NULL && comm->rank == root ? displacements : NULL;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_scatter(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                yoke_comm_buffer_t recv, uint64_t count,
                                yoke_element_t element, int root,
                                const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_SCATTER, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_scatter_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                  yoke_comm_buffer_t recv, const uint64_t *counts,
                                  const uint64_t *displacements, yoke_element_t element,
                                  int root, const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_SCATTER, element);
    call.send = send;
    call.recv = recv;
    call.v_form = true;
    call.shape.counts = counts;
    call.shape.displacements = comm != NULL && comm->rank == root ? displacements : NULL;
    call.shape.root = root;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_all_to_all(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element,
                                   const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_ALL_TO_ALL, element);
    call.send = send;
    call.recv = recv;
    call.shape.count = count;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_all_to_all_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                     const uint64_t *send_counts,
                                     const uint64_t *send_displacements,
                                     yoke_comm_buffer_t recv, const uint64_t *recv_counts,
                                     const uint64_t *recv_displacements,
                                     yoke_element_t element,
                                     const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_ALL_TO_ALL, element);
    call.send = send;
    call.recv = recv;
    call.v_form = true;
    call.shape.send_counts = send_counts;
    call.shape.send_displacements = send_displacements;
    call.shape.counts = recv_counts;
    call.shape.displacements = recv_displacements;
    return make(comm, &call, options, __func__);
}

/* A schedule of one step: radix 0 sends, 1 receives. */
yoke_status_t yoke_comm_send(yoke_comm_t *comm, yoke_comm_buffer_t send, uint64_t count,
                             yoke_element_t element, int peer, uint32_t tag,
                             const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_SEND_RECV, element);
    call.send = send;
    call.shape.count = count;
    call.shape.root = peer;
    call.shape.radix = 0;
    call.tag = tag;
    return make(comm, &call, options, __func__);
}

yoke_status_t yoke_comm_recv(yoke_comm_t *comm, yoke_comm_buffer_t recv, uint64_t count,
                             yoke_element_t element, int peer, uint32_t tag,
                             const yoke_comm_call_t *options)
{
    yoke_call_t call = call_of(YOKE_COLLECTIVE_SEND_RECV, element);
    call.recv = recv;
    call.shape.count = count;
    call.shape.root = peer;
    call.shape.radix = 1;
    call.tag = tag;
    return make(comm, &call, options, __func__);
}
