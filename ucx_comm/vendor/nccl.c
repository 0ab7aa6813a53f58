/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's way of calling: NCCL, RCCL, both MCCLs, and oneCCL's C interface, which differs
 * in the id (4096 bytes, by value as well) and in the type of the number of ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucx_comm/vendor/library.h"

/* Ids go by value: more than 16 bytes lie on the caller's stack, so that the size is part
 * of the convention. */
typedef struct small_id {
    char bytes[128];
} small_id_t;
typedef struct large_id {
    char bytes[4096];
} large_id_t;

typedef struct functions {
    int (*get_version)(int *version);
    int (*get_unique_id)(void *id);
    union {
        int (*small)(void **comm, int ranks, small_id_t id, int rank);
        int (*large)(void **comm, size_t ranks, large_id_t id, int rank);
    } init_rank;
    int (*destroy)(void *comm);
    int (*abort)(void *comm);
    int (*async_error)(void *comm, int *error);
    const char *(*error_string)(int result);
    const char *(*last_error)(void *comm);
    int (*all_reduce)(const void *, void *, size_t, int, int, void *, void *);
    int (*reduce)(const void *, void *, size_t, int, int, int, void *, void *);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, void *, void *);
    int (*all_gather)(const void *, void *, size_t, int, void *, void *);
    int (*broadcast)(const void *, void *, size_t, int, int, void *, void *);
    int (*all_to_all)(const void *, void *, size_t, int, void *, void *);
    int (*gather)(const void *, void *, size_t, int, int, void *, void *);
    int (*scatter)(const void *, void *, size_t, int, int, void *, void *);
    int (*send)(const void *, size_t, int, int, void *, void *);
    int (*recv)(void *, size_t, int, int, void *, void *);
    int (*group_start)(void);
    int (*group_end)(void);
} functions_t;

static const functions_t *functions_of(const yoke_vendor_t *vendor)
{
    return vendor->functions;
}

static bool is_large(const yoke_vendor_t *vendor)
{
    return vendor->id_size == sizeof(large_id_t);
}

/* "not implemented" by oneCCL's header: declared, exported, and answered with an error.
 */
static bool is_one(const yoke_vendor_t *vendor)
{
    return (vendor->kind->flags & YOKE_VENDOR_HOST) != 0;
}

typedef struct row {
    const char *suffix, *other; /* NCCL 2.28 writes "AlltoAll" */
    size_t slot;
    bool optional;
} row_t;

static const row_t rows[] = {
    {"GetVersion", NULL, offsetof(functions_t, get_version), false},
    {"GetUniqueId", NULL, offsetof(functions_t, get_unique_id), false},
    {"CommInitRank", NULL, offsetof(functions_t, init_rank), false},
    {"CommDestroy", NULL, offsetof(functions_t, destroy), false},
    {"CommAbort", NULL, offsetof(functions_t, abort), true},
    {"CommGetAsyncError", NULL, offsetof(functions_t, async_error), true},
    {"GetErrorString", NULL, offsetof(functions_t, error_string), true},
    {"GetLastError", NULL, offsetof(functions_t, last_error), true},
    {"AllReduce", NULL, offsetof(functions_t, all_reduce), false},
    {"Reduce", NULL, offsetof(functions_t, reduce), true},
    {"ReduceScatter", NULL, offsetof(functions_t, reduce_scatter), true},
    {"AllGather", NULL, offsetof(functions_t, all_gather), true},
    {"Broadcast", NULL, offsetof(functions_t, broadcast), true},
    {"AllToAll", "AlltoAll", offsetof(functions_t, all_to_all), true},
    {"Gather", NULL, offsetof(functions_t, gather), true},
    {"Scatter", NULL, offsetof(functions_t, scatter), true},
    {"Send", NULL, offsetof(functions_t, send), true},
    {"Recv", NULL, offsetof(functions_t, recv), true},
    {"GroupStart", NULL, offsetof(functions_t, group_start), true},
    {"GroupEnd", NULL, offsetof(functions_t, group_end), true},
};
#define ROWS (sizeof rows / sizeof *rows)

static const char *resolve(yoke_vendor_t *vendor)
{
    static _Thread_local char missing[64];
    functions_t *functions = calloc(1, sizeof *functions);
    if (functions == NULL)
        return "memory";
    vendor->functions = functions;
    for (size_t i = 0; i < ROWS; i++) {
        char name[64], other[64];
        snprintf(name, sizeof name, "%s%s", vendor->kind->prefix, rows[i].suffix);
        snprintf(other, sizeof other, "%s%s", vendor->kind->prefix,
                 rows[i].other != NULL ? rows[i].other : rows[i].suffix);
        yoke_symbol_t symbol = {name, other, (char *)functions + rows[i].slot,
                                rows[i].optional};
        if (yoke_library_resolve(&vendor->library, &symbol, 1) != NULL) {
            memcpy(missing, name, sizeof missing);
            return missing;
        }
    }
    if (is_one(vendor)) {
        functions->abort = NULL;
        functions->async_error = NULL;
        /* On host memory these look for a device in the stream that is not there, and
         * crash: 2022.1.2, tried. */
        functions->send = NULL;
        functions->recv = NULL;
    }
    return NULL;
}

static bool version(yoke_vendor_t *vendor, int64_t *out_code)
{
    int number = 0;
    *out_code = functions_of(vendor)->get_version(&number);
    if (*out_code != 0 || number <= 0)
        return true;
    /* NCCL_VERSION: up to 2.8 the major counts thousands, later ten thousands. */
    int major = number < 10000 ? number / 1000 : number / 10000;
    int rest = number < 10000 ? number % 1000 : number % 10000;
    vendor->number = (uint32_t)(major * 10000 + rest);
    snprintf(vendor->version, sizeof vendor->version, "%d.%d.%d", major, rest / 100,
             rest % 100);
    return true;
}

static int64_t make_id(const yoke_vendor_t *vendor, void *id, const char **out_call)
{
    *out_call = "GetUniqueId";
    return functions_of(vendor)->get_unique_id(id);
}

static int64_t join(const yoke_vendor_t *vendor, int size, int rank, const void *id,
                    int ordinal, void **out_comm, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    small_id_t small;
    large_id_t large;
    (void)ordinal; /* the current device counts */
    *out_call = "CommInitRank";
    if (is_large(vendor)) {
        memcpy(&large, id, sizeof large);
        return f->init_rank.large(out_comm, (size_t)size, large, rank);
    }
    memcpy(&small, id, sizeof small);
    return f->init_rank.small(out_comm, size, small, rank);
}

static int64_t leave(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "CommDestroy";
    return functions_of(vendor)->destroy(comm);
}

static bool can_stop(const yoke_vendor_t *vendor)
{
    return functions_of(vendor)->abort != NULL;
}

static int64_t stop(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "CommAbort";
    return functions_of(vendor)->abort(comm);
}

static int64_t asynchronous(const yoke_vendor_t *vendor, void *comm, int64_t *out_code,
                            const char **out_call)
{
    int error = 0;
    *out_call = "CommGetAsyncError";
    *out_code = 0;
    if (functions_of(vendor)->async_error == NULL)
        return 0;
    int64_t code = functions_of(vendor)->async_error(comm, &error);
    *out_code = error;
    return code;
}

static int64_t call(const yoke_vendor_t *vendor, void *comm,
                    const yoke_vendor_operation_t *o, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    size_t count = (size_t)o->count;
    switch (o->collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        *out_call = "AllReduce";
        return f->all_reduce(o->send, o->recv, count, o->element, o->reduction, comm,
                             o->stream);
    case YOKE_COLLECTIVE_REDUCE:
        *out_call = "Reduce";
        return f->reduce(o->send, o->recv, count, o->element, o->reduction, o->peer, comm,
                         o->stream);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        *out_call = "ReduceScatter";
        return f->reduce_scatter(o->send, o->recv, count, o->element, o->reduction, comm,
                                 o->stream);
    case YOKE_COLLECTIVE_ALL_GATHER:
        *out_call = "AllGather";
        return f->all_gather(o->send, o->recv, count, o->element, comm, o->stream);
    case YOKE_COLLECTIVE_BROADCAST:
        *out_call = "Broadcast";
        return f->broadcast(o->send, o->recv, count, o->element, o->peer, comm,
                            o->stream);
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_call = "AllToAll";
        return f->all_to_all(o->send, o->recv, count, o->element, comm, o->stream);
    case YOKE_COLLECTIVE_GATHER:
        *out_call = "Gather";
        return f->gather(o->send, o->recv, count, o->element, o->peer, comm, o->stream);
    case YOKE_COLLECTIVE_SCATTER:
        *out_call = "Scatter";
        return f->scatter(o->send, o->recv, count, o->element, o->peer, comm, o->stream);
    default:
        *out_call = o->sends ? "Send" : "Recv";
        return o->sends ? f->send(o->send, count, o->element, o->peer, comm, o->stream)
                        : f->recv(o->recv, count, o->element, o->peer, comm, o->stream);
    }
}

static int64_t group(const yoke_vendor_t *vendor, bool begin, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    *out_call = begin ? "GroupStart" : "GroupEnd";
    return begin ? f->group_start() : f->group_end();
}

static const char *missing(const yoke_vendor_t *vendor, yoke_collective_t collective)
{
    const functions_t *f = functions_of(vendor);
    switch (collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return NULL; /* without it the library is not taken */
    case YOKE_COLLECTIVE_REDUCE:
        return f->reduce == NULL ? "Reduce" : NULL;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return f->reduce_scatter == NULL ? "ReduceScatter" : NULL;
    case YOKE_COLLECTIVE_ALL_GATHER:
        return f->all_gather == NULL ? "AllGather" : NULL;
    case YOKE_COLLECTIVE_BROADCAST:
        return f->broadcast == NULL ? "Broadcast" : NULL;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return f->all_to_all == NULL ? "AllToAll" : NULL;
    case YOKE_COLLECTIVE_GATHER:
        return f->gather == NULL ? "Gather" : NULL;
    case YOKE_COLLECTIVE_SCATTER:
        return f->scatter == NULL ? "Scatter" : NULL;
    case YOKE_COLLECTIVE_SEND_RECV:
        return f->send == NULL          ? "Send"
               : f->recv == NULL        ? "Recv"
               : f->group_start == NULL ? "GroupStart"
               : f->group_end == NULL   ? "GroupEnd"
                                        : NULL;
    default:
        return "Barrier";
    }
}

static const char *words(const yoke_vendor_t *vendor, void *comm, int64_t code)
{
    const functions_t *f = functions_of(vendor);
    const char *text =
        f->last_error != NULL && !is_one(vendor) ? f->last_error(comm) : NULL;
    if ((text == NULL || text[0] == '\0') && f->error_string != NULL)
        text = f->error_string((int)code);
    return text;
}

const yoke_vendor_family_t yoke_vendor_nccl = {
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
