/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose buffers the host cannot reach, or that a queue orders: their way through
 * transport/staging.h. */

#include "ucx_comm/comm/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* One for each device that calls have named. */
struct yoke_comm_staging {
    yoke_comm_staging_t *next;
    yoke_device_t *device;
    yoke_staging_t *staging;
};

yoke_status_t yoke_comm_staging(yoke_comm_t *comm, yoke_device_t *device,
                                yoke_staging_t **out_staging)
{
    for (yoke_comm_staging_t *entry = comm->stagings; entry != NULL; entry = entry->next)
        if (entry->device == device) {
            *out_staging = entry->staging;
            return YOKE_OK;
        }
    yoke_comm_staging_t *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_staging_create(device, &entry->staging);
    if (status != YOKE_OK) {
        free(entry);
        return status;
    }
    entry->device = device;
    entry->next = comm->stagings;
    comm->stagings = entry;
    *out_staging = entry->staging;
    return YOKE_OK;
}

void yoke_comm_stagings_free(yoke_comm_t *comm)
{
    while (comm->stagings != NULL) {
        yoke_comm_staging_t *entry = comm->stagings;
        comm->stagings = entry->next;
        yoke_staging_destroy(entry->staging);
        free(entry);
    }
}

static bool host_reaches(const yoke_comm_buffer_t *buffer, uint64_t size)
{
    void *place = NULL;
    if (size == 0 || buffer->host != NULL || buffer->span.buffer == NULL)
        return true;
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_buffer_place(buffer, &place);
    yoke_fail_quiet(false);
    return status == YOKE_OK;
}

bool yoke_stage_needed(const yoke_call_t *call, const yoke_comm_call_t *options)
{
    return (options != NULL && options->queue != NULL) ||
           !host_reaches(&call->send, call->send_size) ||
           !host_reaches(&call->recv, call->recv_size);
}

/* The device that copies: the queue's, or that of the span which the host cannot reach.
 */
static yoke_device_t *device_of(const yoke_call_t *call, const yoke_comm_call_t *options)
{
    if (options != NULL && options->queue != NULL)
        return yoke_queue_device(options->queue);
    const yoke_comm_buffer_t *buffer =
        host_reaches(&call->send, call->send_size) ? &call->recv : &call->send;
    return yoke_buffer_device(buffer->span.buffer);
}

/* Blocks of a v-form need not touch: what lies between them is left alone. */
static yoke_status_t list_ranges(const yoke_comm_request_t *request,
                                 yoke_stage_range_t **out_ranges, size_t *out_count)
{
    const yoke_shape_t *shape = &request->shape;
    bool several = shape->collective == YOKE_COLLECTIVE_ALL_GATHER ||
                   shape->collective == YOKE_COLLECTIVE_GATHER ||
                   shape->collective == YOKE_COLLECTIVE_ALL_TO_ALL;
    *out_ranges = NULL;
    *out_count = 0;
    if (!several || shape->counts == NULL || request->recv_size == 0)
        return YOKE_OK;
    yoke_stage_range_t *ranges = calloc((size_t)shape->size, sizeof *ranges);
    if (ranges == NULL)
        return yoke_fail_memory();
    for (int i = 0; i < shape->size; i++) {
        ranges[i].offset = yoke_block_offset(shape, i);
        ranges[i].size = yoke_block_size(shape, i);
    }
    *out_ranges = ranges;
    *out_count = (size_t)shape->size;
    return YOKE_OK;
}

yoke_status_t yoke_stage_open(yoke_comm_request_t *request, const yoke_call_t *call,
                              const yoke_comm_call_t *options)
{
    yoke_staging_t *staging = NULL;
    yoke_stage_range_t *ranges = NULL;
    yoke_stage_call_t stage;
    memset(&stage, 0, sizeof stage);
    stage.queue = options != NULL ? options->queue : NULL;
    stage.send = call->send;
    stage.send_size = call->send_size;
    stage.recv = call->recv;
    stage.recv_size = call->recv_size;
    /* A broadcast's root only reads its buffer. */
    request->reads_recv = call->shape.collective == YOKE_COLLECTIVE_BROADCAST &&
                          call->shape.root == call->shape.rank;
    if (request->reads_recv) {
        stage.send = call->recv;
        stage.send_size = call->recv_size;
        stage.recv_size = 0;
    }
    yoke_status_t status =
        yoke_comm_staging(request->comm, device_of(call, options), &staging);
    if (status == YOKE_OK)
        status = list_ranges(request, &ranges, &stage.range_count);
    stage.ranges = ranges;
    if (status == YOKE_OK)
        status = yoke_stage_begin(staging, &stage, &request->stage);
    free(ranges);
    return status;
}

void yoke_stage_places(const yoke_comm_request_t *request, void **out_send,
                       void **out_recv)
{
    *out_send = yoke_stage_send(request->stage);
    *out_recv = request->reads_recv ? *out_send : yoke_stage_recv(request->stage);
}
