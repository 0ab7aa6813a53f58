/* SPDX-License-Identifier: Apache-2.0 */
/* BKCL's way of calling: the communicator first, and counts before buffers in some. Names
 * and orders as PaddlePaddle/Paddle and flagos-ai/FlagCX (xccl_adaptor.cc) call them; the
 * numbers come from the header beside the library (header.c). No backend of the HAL
 * opens Kunlun's devices yet. */
#include <stdlib.h>

#include "ucx_comm/vendor/library.h"

typedef struct functions {
    int (*get_unique_id)(void *id);
    int (*init_rank)(void **comm, int rank, int ranks, const void *id);
    int (*destroy)(void *comm);
    int (*abort)(void *comm);
    int (*all_reduce)(void *, const void *, void *, size_t, int, int, void *);
    int (*reduce)(void *, const void *, void *, size_t, int, int, int, void *);
    int (*reduce_scatter)(void *, const void *, void *, size_t, int, int, void *);
    int (*all_gather)(void *, const void *, size_t, void *, int, void *);
    int (*broadcast)(void *, const void *, void *, size_t, int, int, void *);
    int (*all_to_all)(void *, const void *, size_t, void *, int, void *);
    int (*send)(void *, const void *, size_t, int, int, void *);
    int (*recv)(void *, void *, size_t, int, int, void *);
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
        {"bkcl_get_unique_id", NULL, &f->get_unique_id, false},
        {"bkcl_init_rank", NULL, &f->init_rank, false},
        {"bkcl_destroy_context", NULL, &f->destroy, false},
        {"bkcl_all_reduce", NULL, &f->all_reduce, false},
        {"bkcl_comm_abort", NULL, &f->abort, true},
        {"bkcl_reduce", NULL, &f->reduce, true},
        {"bkcl_reduce_scatter", NULL, &f->reduce_scatter, true},
        {"bkcl_all_gather", NULL, &f->all_gather, true},
        {"bkcl_broadcast", NULL, &f->broadcast, true},
        {"bkcl_all_to_all", NULL, &f->all_to_all, true},
        {"bkcl_send", NULL, &f->send, true},
        {"bkcl_recv", NULL, &f->recv, true},
        {"bkcl_group_start", NULL, &f->group_start, true},
        {"bkcl_group_end", NULL, &f->group_end, true},
    };
    return yoke_library_resolve(&vendor->library, symbols,
                                sizeof symbols / sizeof *symbols);
}

static bool version(yoke_vendor_t *vendor, int64_t *out_code)
{
    (void)vendor;
    *out_code = 0;
    return false;
}

static int64_t make_id(const yoke_vendor_t *vendor, void *id, const char **out_call)
{
    *out_call = "bkcl_get_unique_id";
    return functions_of(vendor)->get_unique_id(id);
}

static int64_t join(const yoke_vendor_t *vendor, int size, int rank, const void *id,
                    int ordinal, void **out_comm, const char **out_call)
{
    (void)ordinal;
    *out_call = "bkcl_init_rank";
    return functions_of(vendor)->init_rank(out_comm, rank, size, id);
}

static int64_t leave(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "bkcl_destroy_context";
    return functions_of(vendor)->destroy(comm);
}

static bool can_stop(const yoke_vendor_t *vendor)
{
    return functions_of(vendor)->abort != NULL;
}

static int64_t stop(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "bkcl_comm_abort";
    return functions_of(vendor)->abort(comm);
}

/* None is known. */
static int64_t asynchronous(const yoke_vendor_t *vendor, void *comm, int64_t *out_code,
                            const char **out_call)
{
    (void)comm;
    *out_call = "";
    *out_code = vendor->codes[0].code;
    return vendor->codes[0].code;
}

static int64_t call(const yoke_vendor_t *vendor, void *comm,
                    const yoke_vendor_operation_t *o, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    size_t count = (size_t)o->count;
    switch (o->collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        *out_call = "bkcl_all_reduce";
        return f->all_reduce(comm, o->send, o->recv, count, o->element, o->reduction,
                             o->stream);
    case YOKE_COLLECTIVE_REDUCE:
        *out_call = "bkcl_reduce";
        return f->reduce(comm, o->send, o->recv, count, o->element, o->reduction, o->peer,
                         o->stream);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        *out_call = "bkcl_reduce_scatter";
        return f->reduce_scatter(comm, o->send, o->recv, count, o->element, o->reduction,
                                 o->stream);
    case YOKE_COLLECTIVE_ALL_GATHER:
        *out_call = "bkcl_all_gather";
        return f->all_gather(comm, o->send, count, o->recv, o->element, o->stream);
    case YOKE_COLLECTIVE_BROADCAST:
        *out_call = "bkcl_broadcast";
        return f->broadcast(comm, o->send, o->recv, count, o->element, o->peer,
                            o->stream);
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_call = "bkcl_all_to_all";
        return f->all_to_all(comm, o->send, count, o->recv, o->element, o->stream);
    default:
        *out_call = o->sends ? "bkcl_send" : "bkcl_recv";
        return o->sends ? f->send(comm, o->send, count, o->peer, o->element, o->stream)
                        : f->recv(comm, o->recv, count, o->peer, o->element, o->stream);
    }
}

static int64_t group(const yoke_vendor_t *vendor, bool begin, const char **out_call)
{
    const functions_t *f = functions_of(vendor);
    *out_call = begin ? "bkcl_group_start" : "bkcl_group_end";
    return begin ? f->group_start() : f->group_end();
}

static const char *missing(const yoke_vendor_t *vendor, yoke_collective_t collective)
{
    const functions_t *f = functions_of(vendor);
    switch (collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return NULL;
    case YOKE_COLLECTIVE_REDUCE:
        return f->reduce == NULL ? "bkcl_reduce" : NULL;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return f->reduce_scatter == NULL ? "bkcl_reduce_scatter" : NULL;
    case YOKE_COLLECTIVE_ALL_GATHER:
        return f->all_gather == NULL ? "bkcl_all_gather" : NULL;
    case YOKE_COLLECTIVE_BROADCAST:
        return f->broadcast == NULL ? "bkcl_broadcast" : NULL;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return f->all_to_all == NULL ? "bkcl_all_to_all" : NULL;
    case YOKE_COLLECTIVE_SEND_RECV:
        return f->send == NULL          ? "bkcl_send"
               : f->recv == NULL        ? "bkcl_recv"
               : f->group_start == NULL ? "bkcl_group_start"
               : f->group_end == NULL   ? "bkcl_group_end"
                                        : NULL;
    default:
        return "bkcl_gather";
    }
}

static const char *words(const yoke_vendor_t *vendor, void *comm, int64_t code)
{
    (void)vendor;
    (void)comm;
    (void)code;
    return NULL;
}

const yoke_vendor_family_t yoke_vendor_bkcl = {
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
