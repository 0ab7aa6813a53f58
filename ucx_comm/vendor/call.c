/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the vendors' libraries: what they can do, and what is made of sends and
 * receives where they lack a call. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/live/current.h"
#include "ucx_comm/vendor/library.h"
#include "yoke/adopt.h"

/* ---- what it can do ---------------------------------------------------------------- */

static bool reduces(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static bool composes(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_TO_ALL;
}

static bool has_function(const yoke_vendor_t *vendor, yoke_collective_t collective,
                         char why[128])
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    const char *missing = kind->family->missing(vendor, collective);
    const char *part = NULL; /* of what it would be made of */
    if (missing != NULL && composes(collective)) {
        part = kind->family->missing(vendor, YOKE_COLLECTIVE_SEND_RECV);
        if (part == NULL)
            return true;
    }
    if (missing != NULL)
        snprintf(why, 128, "%s %.30s lacks %s%s%s%s%s", kind->name, vendor->version,
                 kind->prefix, missing, part != NULL ? " and " : "",
                 part != NULL ? kind->prefix : "", part != NULL ? part : "");
    return missing == NULL;
}

static bool can_reduce(const yoke_vendor_t *vendor, yoke_element_t element,
                       yoke_reduction_t reduction, char why[128])
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    if ((unsigned)reduction >= YOKE_REDUCTION_COUNT) {
        snprintf(why, 128, "%d is no reduction", (int)reduction);
        return false;
    }
    const char *element_name = yoke_element_name(element);
    const char *reduction_name = yoke_reduction_name(reduction);
    if (vendor->elements[element] < 0)
        snprintf(why, 128, "%s %.40s has no %s", kind->name, vendor->version,
                 element_name);
    else if (vendor->reductions[reduction] < 0)
        snprintf(why, 128, "%s %.40s has no %s", kind->name, vendor->version,
                 reduction_name);
    else if (kind->family->reduces != NULL && !kind->family->reduces(element, reduction))
        snprintf(why, 128, "%s %.40s has no %s of %s", kind->name, vendor->version,
                 reduction_name, element_name);
    else
        return true;
    return false;
}

bool yoke_vendor_can(const yoke_vendor_t *vendor, yoke_collective_t collective,
                     yoke_element_t element, yoke_reduction_t reduction, char why[128])
{
    char spare[128];
    if (why == NULL)
        why = spare;
    why[0] = '\0';
    if (collective <= YOKE_COLLECTIVE_NONE || collective >= YOKE_COLLECTIVE_COUNT)
        snprintf(why, 128, "%d is no collective", (int)collective);
    else if (collective == YOKE_COLLECTIVE_BARRIER)
        snprintf(why, 128, "barriers do not go by %s", vendor->kind->name);
    else if ((unsigned)element >= YOKE_ELEMENT_COUNT)
        snprintf(why, 128, "%d is no element", (int)element);
    else
        return has_function(vendor, collective, why) &&
               (!reduces(collective) || can_reduce(vendor, element, reduction, why));
    return false;
}

/* ---- sends and receives ------------------------------------------------------------ */

static yoke_status_t check(yoke_vendor_comm_t *comm, const char *call, int64_t code)
{
    return yoke_vendor_good(comm->vendor, code) ? YOKE_OK
                                                : yoke_vendor_comm_fail(comm, call, code);
}

static yoke_status_t hold(yoke_vendor_comm_t *comm,
                          const yoke_vendor_operation_t *operation)
{
    if (comm->held_count > 0 && comm->held[0].stream != operation->stream)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: a group on two queues",
                         comm->vendor->kind->name);
    if (comm->held_count == comm->held_room) {
        size_t room = comm->held_room == 0 ? 16 : comm->held_room * 2;
        yoke_vendor_operation_t *more = realloc(comm->held, room * sizeof *more);
        if (more == NULL)
            return yoke_fail_memory();
        comm->held = more;
        comm->held_room = room;
    }
    comm->held[comm->held_count++] = *operation;
    return YOKE_OK;
}

static yoke_status_t call_library(yoke_vendor_comm_t *comm,
                                  const yoke_vendor_operation_t *operation)
{
    const char *call = "";
    int64_t code =
        comm->vendor->kind->family->call(comm->vendor, comm->comm, operation, &call);
    return check(comm, call, code);
}

static yoke_status_t open_group(yoke_vendor_comm_t *comm)
{
    const yoke_vendor_family_t *family = comm->vendor->kind->family;
    const char *call = "";
    comm->held_count = 0;
    if (family->batch != NULL)
        return YOKE_OK;
    int64_t code = family->group(comm->vendor, true, &call);
    return check(comm, call, code);
}

static yoke_status_t close_group(yoke_vendor_comm_t *comm)
{
    const yoke_vendor_family_t *family = comm->vendor->kind->family;
    const char *call = "";
    int64_t code = 0;
    if (family->batch == NULL) {
        code = family->group(comm->vendor, false, &call);
        return check(comm, call, code);
    }
    size_t count = comm->held_count;
    comm->held_count = 0;
    if (count == 0)
        return YOKE_OK;
    code = family->batch(comm->vendor, comm->comm, comm->held, count,
                         comm->held[0].stream, &call);
    return check(comm, call, code);
}

/* After a failure, whose message stays: what was begun must be ended, or the thread stays
 * in the group. */
static void abandon_group(yoke_vendor_comm_t *comm)
{
    const yoke_vendor_family_t *family = comm->vendor->kind->family;
    const char *call = "";
    comm->held_count = 0;
    if (family->batch == NULL)
        (void)family->group(comm->vendor, false, &call);
}

/* One of a group. */
static yoke_status_t move(yoke_vendor_comm_t *comm, yoke_vendor_operation_t operation,
                          const void *send, void *recv, int peer)
{
    operation.collective = YOKE_COLLECTIVE_SEND_RECV;
    operation.sends = send != NULL;
    operation.send = send;
    operation.recv = recv;
    operation.peer = peer;
    return comm->vendor->kind->family->batch != NULL ? hold(comm, &operation)
                                                     : call_library(comm, &operation);
}

/* ---- this rank's own block --------------------------------------------------------- */

/* On the queue, as spans of wrapped memory. */
static yoke_status_t copy_on_queue(yoke_vendor_comm_t *comm, yoke_queue_t *queue,
                                   void *to, const void *from, uint64_t size)
{
    yoke_buffer_t *target = NULL, *source = NULL;
    yoke_status_t status =
        yoke_buffer_wrap(comm->device, YOKE_MEMORY_DEVICE, to, size, NULL, NULL, &target);
    if (status == YOKE_OK)
        status = yoke_buffer_wrap(comm->device, YOKE_MEMORY_DEVICE,
                                  (void *)(uintptr_t)from, size, NULL, NULL, &source);
    if (status == YOKE_OK)
        status = yoke_queue_copy(queue, yoke_span(target, 0), yoke_span(source, 0), size);
    yoke_buffer_destroy(source);
    yoke_buffer_destroy(target);
    return status;
}

/* ---- collectives of sends and receives --------------------------------------------- */

typedef struct run {
    yoke_vendor_comm_t *comm;
    yoke_vendor_operation_t operation;
    uint64_t bytes; /* of one block */
    yoke_queue_t *queue;
    yoke_status_t status;
} run_t;

static char *block(const void *base, int rank, uint64_t bytes)
{
    return (char *)(uintptr_t)base + (uint64_t)rank * bytes;
}

/* What this rank gives to `rank`, or NULL. */
static const char *gives(const run_t *run, int rank)
{
    const yoke_vendor_operation_t *o = &run->operation;
    switch (o->collective) {
    case YOKE_COLLECTIVE_GATHER:
        return rank == o->peer ? o->send : NULL;
    case YOKE_COLLECTIVE_SCATTER:
        return run->comm->rank == o->peer ? block(o->send, rank, run->bytes) : NULL;
    default:
        return block(o->send, rank, run->bytes);
    }
}

/* Where it takes from `rank`, or NULL. */
static char *takes(const run_t *run, int rank)
{
    const yoke_vendor_operation_t *o = &run->operation;
    switch (o->collective) {
    case YOKE_COLLECTIVE_GATHER:
        return run->comm->rank == o->peer ? block(o->recv, rank, run->bytes) : NULL;
    case YOKE_COLLECTIVE_SCATTER:
        return rank == o->peer ? o->recv : NULL;
    default:
        return block(o->recv, rank, run->bytes);
    }
}

static yoke_status_t compose(run_t *run)
{
    yoke_vendor_comm_t *comm = run->comm;
    uint32_t flags = comm->vendor->kind->flags;
    const char *mine = gives(run, comm->rank);
    char *to = takes(run, comm->rank);
    bool own = mine != NULL && to != NULL && mine != to;
    bool by_send = own && (flags & YOKE_VENDOR_SELF) != 0 && !(flags & YOKE_VENDOR_HOST);
    if (own && (flags & YOKE_VENDOR_HOST) != 0)
        memcpy(to, mine, run->bytes);
    yoke_status_t status = YOKE_OK;
    if (own && !by_send && !(flags & YOKE_VENDOR_HOST))
        status = copy_on_queue(comm, run->queue, to, mine, run->bytes);
    if (status == YOKE_OK && !comm->grouped)
        status = open_group(comm);
    if (status != YOKE_OK)
        return status;
    for (int i = 0; i < comm->size && status == YOKE_OK; i++) {
        int r = (comm->rank + i) % comm->size; /* not all to rank 0 first */
        const char *out = r != comm->rank || by_send ? gives(run, r) : NULL;
        char *in = r != comm->rank || by_send ? takes(run, r) : NULL;
        if (out != NULL)
            status = move(comm, run->operation, out, NULL, r);
        if (in != NULL && status == YOKE_OK)
            status = move(comm, run->operation, NULL, in, r);
    }
    if (comm->grouped)
        return status;
    if (status == YOKE_OK)
        return close_group(comm);
    abandon_group(comm);
    return status;
}

static void run_now(void *context)
{
    run_t *run = context;
    yoke_vendor_comm_t *comm = run->comm;
    const yoke_vendor_family_t *family = comm->vendor->kind->family;
    yoke_vendor_operation_t *o = &run->operation;
    if (o->collective == YOKE_COLLECTIVE_SEND_RECV && comm->grouped)
        run->status = move(comm, *o, o->send, o->recv, o->peer);
    else if (composes(o->collective) &&
             family->missing(comm->vendor, o->collective) != NULL)
        run->status = compose(run);
    else
        run->status = call_library(comm, o);
}

/* ---- checks ------------------------------------------------------------------------ */

static bool is_root(const run_t *run)
{
    return run->comm->rank == run->operation.peer;
}

/* Which of its buffers a call reads and writes on this rank. */
static void uses(const run_t *run, bool *out_send, bool *out_recv)
{
    const yoke_vendor_operation_t *o = &run->operation;
    *out_send = *out_recv = true;
    switch (o->collective) {
    case YOKE_COLLECTIVE_REDUCE:
    case YOKE_COLLECTIVE_GATHER:
        *out_recv = is_root(run);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        *out_send = is_root(run);
        break;
    case YOKE_COLLECTIVE_BROADCAST:
        *out_send = is_root(run);
        break;
    case YOKE_COLLECTIVE_SEND_RECV:
        *out_send = o->sends;
        *out_recv = !o->sends;
        break;
    default:
        break;
    }
}

static yoke_status_t check_buffers(const run_t *run, yoke_element_t element)
{
    const yoke_vendor_operation_t *o = &run->operation;
    const yoke_vendor_kind_t *kind = run->comm->vendor->kind;
    size_t size = yoke_element_size(element);
    bool sends, receives;
    uses(run, &sends, &receives);
    if ((sends && o->send == NULL) || (receives && o->recv == NULL))
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_call: %s is NULL",
                         sends && o->send == NULL ? "send" : "recv");
    if ((sends && (uintptr_t)o->send % size != 0) ||
        (receives && (uintptr_t)o->recv % size != 0))
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: a buffer is not aligned to its elements of %zu bytes",
                         kind->name, size);
    if (o->collective == YOKE_COLLECTIVE_ALL_TO_ALL && o->send == o->recv)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: no all-to-all in place", kind->name);
    if (o->collective == YOKE_COLLECTIVE_BROADCAST && sends && o->send != o->recv &&
        (kind->flags & YOKE_VENDOR_FIXED) != 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s broadcasts in place only", kind->name);
    if (o->collective == YOKE_COLLECTIVE_SEND_RECV && is_root(run) &&
        (kind->flags & YOKE_VENDOR_SELF) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: a rank does not send to itself",
                         kind->name);
    return YOKE_OK;
}

static yoke_status_t check_call(const yoke_vendor_comm_t *comm, uint64_t count,
                                yoke_element_t element, int peer)
{
    if (comm->comm == NULL || comm->failed)
        return yoke_fail(YOKE_ERR_REVOKED, "the %s communicator has failed before",
                         comm->vendor->kind->name);
    if (peer < 0 || peer >= comm->size)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_call: rank %d of %d", peer,
                         comm->size);
    if (count > (UINT64_C(1) << 61) / yoke_element_size(element) / (uint64_t)comm->size)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "yoke_vendor_call: %" PRIu64 " elements are too many", count);
    return YOKE_OK;
}

/* The native stream; where calls wait, the queue's earlier work is waited for. */
static yoke_status_t find_stream(run_t *run)
{
    yoke_native_t native = {.struct_size = sizeof native};
    if ((run->comm->vendor->kind->flags & YOKE_VENDOR_HOST) != 0)
        return run->queue != NULL ? yoke_queue_sync(run->queue) : YOKE_OK;
    /* BKCL's devices have no backend yet: host memory, and no queue */
    if (run->queue == NULL && run->comm->vendor->kind->id_size == 0)
        return YOKE_OK;
    if (run->queue == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_call: queue is NULL");
    yoke_status_t status = yoke_queue_native(run->queue, &native);
    run->operation.stream = native.handle;
    return status;
}

/* ---- the call ---------------------------------------------------------------------- */

static void prepare(run_t *run, yoke_element_t element, yoke_reduction_t reduction,
                    uint64_t count)
{
    const yoke_vendor_t *vendor = run->comm->vendor;
    yoke_vendor_operation_t *o = &run->operation;
    uint64_t size = yoke_element_size(element);
    bool plain = o->collective == YOKE_COLLECTIVE_SCATTER &&
                 (vendor->kind->flags & YOKE_VENDOR_PLAIN) != 0;
    run->bytes = count * size;
    o->count = count;
    o->element = vendor->elements[element];
    if (reduces(o->collective))
        o->reduction = vendor->reductions[reduction];
    else if (o->element < 0 || plain) { /* what only moves may be bytes */
        o->element = vendor->bytes;
        o->count = count * size;
    }
    if (o->collective == YOKE_COLLECTIVE_BROADCAST && (!is_root(run) || o->send == NULL))
        o->send = o->recv;
}

yoke_status_t yoke_vendor_call(yoke_vendor_comm_t *comm, yoke_collective_t collective,
                               const void *send, void *recv, uint64_t count,
                               yoke_element_t element, yoke_reduction_t reduction,
                               int peer, yoke_queue_t *queue)
{
    char why[128];
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_call: comm is NULL");
    if (!yoke_vendor_can(comm->vendor, collective, element, reduction, why))
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s", why);
    yoke_status_t status = check_call(comm, count, element, peer);
    if (status != YOKE_OK || count == 0)
        return status;
    run_t run = {.comm = comm, .queue = queue};
    run.operation.collective = collective;
    run.operation.send = send;
    run.operation.recv = recv;
    run.operation.peer = peer;
    run.operation.sends = send != NULL;
    if (collective == YOKE_COLLECTIVE_SEND_RECV && (send == NULL) == (recv == NULL))
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_call: one of send and recv is NULL "
                                         "in a send or receive, and not both");
    prepare(&run, element, reduction, count);
    status = check_buffers(&run, element);
    if (status == YOKE_OK)
        status = find_stream(&run);
    if (status == YOKE_OK)
        status = yoke_device_call(comm->device, run_now, &run);
    return status == YOKE_OK ? run.status : status;
}

/* ---- groups ------------------------------------------------------------------------ */

static void begin_now(void *context)
{
    run_t *run = context;
    run->status = open_group(run->comm);
}

static void end_now(void *context)
{
    run_t *run = context;
    run->status = close_group(run->comm);
}

yoke_status_t yoke_vendor_group_begin(yoke_vendor_comm_t *comm)
{
    char why[128];
    if (comm == NULL || comm->grouped)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_group_begin: %s",
                         comm == NULL ? "comm is NULL" : "groups do not nest");
    if (!has_function(comm->vendor, YOKE_COLLECTIVE_SEND_RECV, why))
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s", why);
    if (comm->comm == NULL || comm->failed)
        return yoke_fail(YOKE_ERR_REVOKED, "the %s communicator has failed before",
                         comm->vendor->kind->name);
    run_t run = {.comm = comm};
    yoke_status_t status = yoke_device_call(comm->device, begin_now, &run);
    if (status == YOKE_OK)
        status = run.status;
    comm->grouped = status == YOKE_OK;
    return status;
}

yoke_status_t yoke_vendor_group_end(yoke_vendor_comm_t *comm)
{
    if (comm == NULL || !comm->grouped)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_group_end: no group was begun");
    comm->grouped = false;
    if (comm->comm == NULL)
        return yoke_fail(YOKE_ERR_REVOKED, "the %s communicator was aborted",
                         comm->vendor->kind->name);
    run_t run = {.comm = comm};
    yoke_status_t status = yoke_device_call(comm->device, end_now, &run);
    return status == YOKE_OK ? run.status : status;
}
