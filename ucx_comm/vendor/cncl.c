/* SPDX-License-Identifier: Apache-2.0 */
/* CNCL's way of calling: the id is a struct of 128 bytes and a hash, by pointer; lists of
 * devices and ranks of a process; the asynchronous error is the answer itself. */
#include <stdio.h>
#include <stdlib.h>

#include "ucx_comm/vendor/library.h"

typedef struct functions {
    int (*version)(int *major, int *minor, int *patch);
    int (*get_id)(void *id);
    int (*init)(void **comms, int count, const int *devices, const int *ranks, int size,
                const void *id);
    int (*free_comm)(void *comm);
    int (*abort)(void *comm);
    int (*async_error)(const void *comm);
    const char *(*error_string)(int code);
    int (*all_reduce)(const void *, void *, size_t, int, int, void *, void *);
    int (*reduce)(const void *, void *, size_t, int, int, int, void *, void *);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, void *, void *);
    int (*all_gather)(const void *, void *, size_t, int, void *, void *);
    int (*broadcast)(const void *, void *, size_t, int, int, void *, void *);
    int (*all_to_all)(const void *, void *, size_t, int, void *, void *);
    int (*send)(void *, size_t, int, int, void *, void *);
    int (*recv)(void *, size_t, int, int, void *, void *);
    int (*group_start)(void);
    int (*group_end)(void);
} functions_t;

static const functions_t *functions_of(const yoke_vendor_t *vendor)
{
    return vendor->functions;
}

static const char *resolve(yoke_vendor_t *vendor)
{
    functions_t *f = calloc(1, sizeof *f);
    if (f == NULL)
        return "memory";
    vendor->functions = f;
    const yoke_symbol_t symbols[] = {
        {"cnclGetCliqueId", NULL, &f->get_id, false},
        {"cnclInitComms", NULL, &f->init, false},
        {"cnclFreeComm", NULL, &f->free_comm, false},
        {"cnclAllReduce", NULL, &f->all_reduce, false},
        {"cnclGetLibVersion", NULL, &f->version, true},
        {"cnclAbortComm", NULL, &f->abort, true},
        {"cnclGetCommAsyncError", NULL, &f->async_error, true},
        {"cnclGetErrorStr", NULL, &f->error_string, true},
        {"cnclReduce", NULL, &f->reduce, true},
        {"cnclReduceScatter", NULL, &f->reduce_scatter, true},
        {"cnclAllGather", NULL, &f->all_gather, true},
        {"cnclBroadcast", NULL, &f->broadcast, true},
        {"cnclAlltoAll", NULL, &f->all_to_all, true},
        {"cnclSend", NULL, &f->send, true},
        {"cnclRecv", NULL, &f->recv, true},
        {"cnclGroupStart", NULL, &f->group_start, true},
        {"cnclGroupEnd", NULL, &f->group_end, true},
    };
    return yoke_library_resolve(&vendor->library, symbols,
                                sizeof symbols / sizeof *symbols);
}

static bool version(yoke_vendor_t *vendor, int64_t *out_code)
{
    int major = -1, minor = -1, patch = -1;
    *out_code = 0;
    if (functions_of(vendor)->version == NULL)
        return false;
    *out_code = functions_of(vendor)->version(&major, &minor, &patch);
    if (*out_code != 0 || major < 0 || minor < 0 || patch < 0 || major > 9999)
        return true;
    vendor->number = (uint32_t)(major * 10000 + minor % 100 * 100 + patch % 100);
    snprintf(vendor->version, sizeof vendor->version, "%d.%d.%d", major, minor, patch);
    return true;
}

static int64_t make_id(const yoke_vendor_t *vendor, void *id, const char **out_call)
{
    *out_call = "cnclGetCliqueId";
    return functions_of(vendor)->get_id(id);
}

static int64_t join(const yoke_vendor_t *vendor, int size, int rank, const void *id,
                    int ordinal, void **out_comm, const char **out_call)
{
    *out_call = "cnclInitComms";
    return functions_of(vendor)->init(out_comm, 1, &ordinal, &rank, size, id);
}

static int64_t leave(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "cnclFreeComm";
    return functions_of(vendor)->free_comm(comm);
}

static bool can_stop(const yoke_vendor_t *vendor)
{
    return functions_of(vendor)->abort != NULL;
}

static int64_t stop(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "cnclAbortComm";
    return functions_of(vendor)->abort(comm);
}

static int64_t asynchronous(const yoke_vendor_t *vendor, void *comm, int64_t *out_code,
                            const char **out_call)
{
    *out_call = "cnclGetCommAsyncError";
    *out_code = 0;
    if (functions_of(vendor)->async_error != NULL)
        *out_code = functions_of(vendor)->async_error(comm);
    return 0;
}

static int64_t call(const yoke_vendor_t *vendor, void *comm,
                    const yoke_vendor_operation_t *o, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    size_t count = (size_t)o->count;
    switch (o->collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        *out_call = "cnclAllReduce";
        return f->all_reduce(o->send, o->recv, count, o->element, o->reduction, comm,
                             o->stream);
    case YOKE_COLLECTIVE_REDUCE:
        *out_call = "cnclReduce";
        return f->reduce(o->send, o->recv, count, o->element, o->reduction, o->peer, comm,
                         o->stream);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        *out_call = "cnclReduceScatter";
        return f->reduce_scatter(o->send, o->recv, count, o->element, o->reduction, comm,
                                 o->stream);
    case YOKE_COLLECTIVE_ALL_GATHER:
        *out_call = "cnclAllGather";
        return f->all_gather(o->send, o->recv, count, o->element, comm, o->stream);
    case YOKE_COLLECTIVE_BROADCAST:
        *out_call = "cnclBroadcast";
        return f->broadcast(o->send, o->recv, count, o->element, o->peer, comm,
                            o->stream);
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_call = "cnclAlltoAll";
        return f->all_to_all(o->send, o->recv, count, o->element, comm, o->stream);
    default:
        *out_call = o->sends ? "cnclSend" : "cnclRecv";
        return o->sends ? f->send((void *)(uintptr_t)o->send, count, o->element, o->peer,
                                  comm, o->stream)
                        : f->recv(o->recv, count, o->element, o->peer, comm, o->stream);
    }
}

static int64_t group(const yoke_vendor_t *vendor, bool begin, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    *out_call = begin ? "cnclGroupStart" : "cnclGroupEnd";
    return begin ? f->group_start() : f->group_end();
}

static const char *missing(const yoke_vendor_t *vendor, yoke_collective_t collective)
{
    const functions_t *f = functions_of(vendor);
    switch (collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return NULL;
    case YOKE_COLLECTIVE_REDUCE:
        return f->reduce == NULL ? "cnclReduce" : NULL;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return f->reduce_scatter == NULL ? "cnclReduceScatter" : NULL;
    case YOKE_COLLECTIVE_ALL_GATHER:
        return f->all_gather == NULL ? "cnclAllGather" : NULL;
    case YOKE_COLLECTIVE_BROADCAST:
        return f->broadcast == NULL ? "cnclBroadcast" : NULL;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return f->all_to_all == NULL ? "cnclAlltoAll" : NULL;
    case YOKE_COLLECTIVE_SEND_RECV:
        return f->send == NULL          ? "cnclSend"
               : f->recv == NULL        ? "cnclRecv"
               : f->group_start == NULL ? "cnclGroupStart"
               : f->group_end == NULL   ? "cnclGroupEnd"
                                        : NULL;
    default:
        return "cnclGather";
    }
}

static const char *words(const yoke_vendor_t *vendor, void *comm, int64_t code)
{
    (void)comm;
    return functions_of(vendor)->error_string != NULL
               ? functions_of(vendor)->error_string((int)code)
               : NULL;
}

const yoke_vendor_family_t yoke_vendor_cncl = {
    .resolve = resolve,
    .version = version,
    .make_id = make_id,
    .join = join,
    .leave = leave,
    .stop = stop,
    .asynchronous = asynchronous,
    .call = call,
    .group = group,
    .missing = missing,
    .can_stop = can_stop,
    .words = words,
};
