/* SPDX-License-Identifier: Apache-2.0 */
/* HCCL's way of calling: 64-bit counts, 32-bit ranks, the id by pointer, broadcast in
 * place only, sends and receives together in one list. No function aborts. */
#include <stdlib.h>

#include "ucx_comm/vendor/library.h"

typedef struct item { /* HcclSendRecvItem */
    int kind;         /* 0: send, 1: receive */
    void *buffer;
    uint64_t count;
    int element;
    uint32_t rank;
} item_t;

typedef struct functions {
    int (*get_root_info)(void *id);
    int (*init_root_info)(uint32_t ranks, const void *id, uint32_t rank, void **comm);
    int (*destroy)(void *comm);
    int (*async_error)(void *comm, int *error);
    const char *(*error_string)(int code);
    int (*all_reduce)(void *, void *, uint64_t, int, int, void *, void *);
    int (*reduce)(void *, void *, uint64_t, int, int, uint32_t, void *, void *);
    int (*reduce_scatter)(void *, void *, uint64_t, int, int, void *, void *);
    int (*all_gather)(void *, void *, uint64_t, int, void *, void *);
    int (*broadcast)(void *, uint64_t, int, uint32_t, void *, void *);
    int (*scatter)(void *, void *, uint64_t, int, uint32_t, void *, void *);
    int (*all_to_all)(const void *, uint64_t, int, const void *, uint64_t, int, void *,
                      void *);
    int (*batch)(item_t *, uint32_t, void *, void *);
    int (*send)(void *, uint64_t, int, uint32_t, void *, void *);
    int (*recv)(void *, uint64_t, int, uint32_t, void *, void *);
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
        {"HcclGetRootInfo", NULL, &f->get_root_info, false},
        {"HcclCommInitRootInfo", NULL, &f->init_root_info, false},
        {"HcclCommDestroy", NULL, &f->destroy, false},
        {"HcclAllReduce", NULL, &f->all_reduce, false},
        {"HcclGetCommAsyncError", NULL, &f->async_error, true},
        {"HcclGetErrorString", NULL, &f->error_string, true},
        {"HcclReduce", NULL, &f->reduce, true},
        {"HcclReduceScatter", NULL, &f->reduce_scatter, true},
        {"HcclAllGather", NULL, &f->all_gather, true},
        {"HcclBroadcast", NULL, &f->broadcast, true},
        {"HcclScatter", NULL, &f->scatter, true},
        {"HcclAlltoAll", NULL, &f->all_to_all, true},
        {"HcclBatchSendRecv", NULL, &f->batch, true},
        {"HcclSend", NULL, &f->send, true},
        {"HcclRecv", NULL, &f->recv, true},
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
    *out_call = "HcclGetRootInfo";
    return functions_of(vendor)->get_root_info(id);
}

static int64_t join(const yoke_vendor_t *vendor, int size, int rank, const void *id,
                    int ordinal, void **out_comm, const char **out_call)
{
    (void)ordinal;
    *out_call = "HcclCommInitRootInfo";
    return functions_of(vendor)->init_root_info((uint32_t)size, id, (uint32_t)rank,
                                                out_comm);
}

static int64_t leave(const yoke_vendor_t *vendor, void *comm, const char **out_call)
{
    *out_call = "HcclCommDestroy";
    return functions_of(vendor)->destroy(comm);
}

static bool can_stop(const yoke_vendor_t *vendor)
{
    (void)vendor;
    return false;
}

static int64_t asynchronous(const yoke_vendor_t *vendor, void *comm, int64_t *out_code,
                            const char **out_call)
{
    int error = 0;
    *out_call = "HcclGetCommAsyncError";
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
    void *send = (void *)(uintptr_t)o->send;
    uint32_t peer = (uint32_t)o->peer;
    switch (o->collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        *out_call = "HcclAllReduce";
        return f->all_reduce(send, o->recv, o->count, o->element, o->reduction, comm,
                             o->stream);
    case YOKE_COLLECTIVE_REDUCE:
        *out_call = "HcclReduce";
        return f->reduce(send, o->recv, o->count, o->element, o->reduction, peer, comm,
                         o->stream);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        *out_call = "HcclReduceScatter";
        return f->reduce_scatter(send, o->recv, o->count, o->element, o->reduction, comm,
                                 o->stream);
    case YOKE_COLLECTIVE_ALL_GATHER:
        *out_call = "HcclAllGather";
        return f->all_gather(send, o->recv, o->count, o->element, comm, o->stream);
    case YOKE_COLLECTIVE_BROADCAST:
        *out_call = "HcclBroadcast";
        return f->broadcast(o->recv, o->count, o->element, peer, comm, o->stream);
    case YOKE_COLLECTIVE_SCATTER:
        *out_call = "HcclScatter";
        return f->scatter(send, o->recv, o->count, o->element, peer, comm, o->stream);
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_call = "HcclAlltoAll";
        return f->all_to_all(send, o->count, o->element, o->recv, o->count, o->element,
                             comm, o->stream);
    default:
        *out_call = o->sends ? "HcclSend" : "HcclRecv";
        return o->sends ? f->send(send, o->count, o->element, peer, comm, o->stream)
                        : f->recv(o->recv, o->count, o->element, peer, comm, o->stream);
    }
}

static int64_t batch(const yoke_vendor_t *vendor, void *comm,
                     const yoke_vendor_operation_t *operations, size_t count,
                     void *stream, const char **out_call)
{
    item_t *items = calloc(count, sizeof *items);
    *out_call = "HcclBatchSendRecv";
    if (items == NULL)
        return 3; /* HCCL_E_MEMORY */
    for (size_t i = 0; i < count; i++) {
        const yoke_vendor_operation_t *o = &operations[i];
        items[i] =
            (item_t){o->sends ? 0 : 1, o->sends ? (void *)(uintptr_t)o->send : o->recv,
                     o->count, o->element, (uint32_t)o->peer};
    }
    int64_t code = functions_of(vendor)->batch(items, (uint32_t)count, comm, stream);
    free(items);
    return code;
}

static const char *missing(const yoke_vendor_t *vendor, yoke_collective_t collective)
{
    const functions_t *f = functions_of(vendor);
    switch (collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return NULL;
    case YOKE_COLLECTIVE_REDUCE:
        return f->reduce == NULL ? "HcclReduce" : NULL;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return f->reduce_scatter == NULL ? "HcclReduceScatter" : NULL;
    case YOKE_COLLECTIVE_ALL_GATHER:
        return f->all_gather == NULL ? "HcclAllGather" : NULL;
    case YOKE_COLLECTIVE_BROADCAST:
        return f->broadcast == NULL ? "HcclBroadcast" : NULL;
    case YOKE_COLLECTIVE_SCATTER:
        return f->scatter == NULL ? "HcclScatter" : NULL;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return f->all_to_all == NULL ? "HcclAlltoAll" : NULL;
    case YOKE_COLLECTIVE_SEND_RECV:
        return f->send == NULL    ? "HcclSend"
               : f->recv == NULL  ? "HcclRecv"
               : f->batch == NULL ? "HcclBatchSendRecv"
                                  : NULL;
    default:
        return "HcclGather";
    }
}

static const char *words(const yoke_vendor_t *vendor, void *comm, int64_t code)
{
    (void)comm;
    return functions_of(vendor)->error_string != NULL
               ? functions_of(vendor)->error_string((int)code)
               : NULL;
}

/* CANN's page of HcclAllReduce: int8 int16 int32 int64 float16 float32 bfp16; no prod of
 * int16 and bfp16. What the first Atlas lacks of these HCCL itself refuses. */
static bool reduces(yoke_element_t element, yoke_reduction_t reduction)
{
    switch (element) {
    case YOKE_ELEMENT_I8:
    case YOKE_ELEMENT_I32:
    case YOKE_ELEMENT_I64:
    case YOKE_ELEMENT_F16:
    case YOKE_ELEMENT_F32:
        return true;
    case YOKE_ELEMENT_BF16:
        return reduction != YOKE_REDUCE_PROD;
    default:
        return false;
    }
}

const yoke_vendor_family_t yoke_vendor_hccl = {
    .resolve = resolve,
    .version = version,
    .make_id = make_id,
    .join = join,
    .leave = leave,
    .asynchronous = asynchronous,
    .call = call,
    .batch = batch,
    .missing = missing,
    .can_stop = can_stop,
    .words = words,
    .reduces = reduces,
};
