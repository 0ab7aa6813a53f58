/* SPDX-License-Identifier: Apache-2.0 */
/* BKCL, Kunlun's; see bkcl_include/bkcl.h for what is known of it. There is no fake of
 * Kunlun's runtime: memory is the host's, streams are ignored, a call waits. */
#include "bkcl_include/bkcl.h"
#include "ccl.h"

const ccl_library_t ccl_library = {NULL, 1, true};
const fake_defaults_t fake_defaults = {.vendor = "kunlun", .name = "", .arch = ""};

static ccl_type_t type_of(int type)
{
    switch (type) {
    case BKCL_UINT8:
        return CCL_U8;
    case BKCL_INT32:
        return CCL_I32;
    case BKCL_INT64:
        return CCL_I64;
    case BKCL_FLOAT16:
        return CCL_F16;
    case BKCL_FLOAT:
        return CCL_F32;
    case BKCL_FLOAT64:
        return CCL_F64;
    case BKCL_BFLOAT16:
        return CCL_BF16;
    default:
        return CCL_NO_TYPE;
    }
}

static ccl_op_t op_of(int op)
{
    return op == BKCL_ADD       ? CCL_SUM
           : op == BKCL_PRODUCT ? CCL_PROD
           : op == BKCL_MIN     ? CCL_MIN
           : op == BKCL_MAX     ? CCL_MAX
                                : CCL_NO_OP;
}

static int result_of(ccl_result_t result)
{
    return result == CCL_OK         ? BKCL_SUCCESS
           : result == CCL_ARGUMENT ? BKCL_INVALID_ARGUMENT
           : result == CCL_DEVICE   ? BKCL_RUNTIME_ERROR
           : result == CCL_USAGE    ? BKCL_INTERNAL_ERROR
                                    : BKCL_SYSTEM_ERROR;
}

static int start(BKCLContext_t handle, ccl_kind_t kind, const void *send, void *recv,
                 size_t count, int type, int op, int root)
{
    ccl_comm_t *comm = ccl_comm(handle);
    ccl_call_t call = {.kind = kind,
                       .send = send,
                       .recv = recv,
                       .count = count,
                       .type = type_of(type),
                       .op = op_of(op),
                       .root = root};
    if (comm == NULL)
        return BKCL_INVALID_ARGUMENT;
    int result = result_of(ccl_start(comm, &call, NULL));
    return result == BKCL_SUCCESS && ccl_async(comm, 1, 1) != 0 ? BKCL_INTERNAL_ERROR
                                                                : result;
}

#define DEFINE(name, parameters)                                                         \
    FAKE_API int name parameters;                                                        \
    FAKE_API int name parameters

DEFINE(bkcl_get_unique_id, (BKCLUniqueId * id))
{
    FAKE_CALL(bkcl_get_unique_id, int);
    return id == NULL ? BKCL_INVALID_ARGUMENT : result_of(ccl_id_make(id, sizeof *id));
}

DEFINE(bkcl_init_rank,
       (BKCLContext_t * context, int rank, int nranks, const BKCLUniqueId *id))
{
    FAKE_CALL(bkcl_init_rank, int);
    if (context == NULL || id == NULL)
        return BKCL_INVALID_ARGUMENT;
    return result_of(
        ccl_join(id, sizeof *id, nranks, rank, -1, (ccl_comm_t **)(void *)context));
}

DEFINE(bkcl_destroy_context, (BKCLContext_t context))
{
    FAKE_CALL(bkcl_destroy_context, int);
    ccl_comm_t *comm = ccl_comm(context);
    return comm == NULL ? BKCL_INVALID_ARGUMENT : result_of(ccl_leave(comm));
}

DEFINE(bkcl_comm_abort, (BKCLContext_t context))
{
    FAKE_CALL(bkcl_comm_abort, int);
    ccl_comm_t *comm = ccl_comm(context);
    return comm == NULL ? BKCL_INVALID_ARGUMENT : result_of(ccl_abort(comm));
}

DEFINE(bkcl_comm_count, (BKCLContext_t context, int *count))
{
    FAKE_CALL(bkcl_comm_count, int);
    ccl_comm_t *comm = ccl_comm(context);
    if (comm == NULL || count == NULL)
        return BKCL_INVALID_ARGUMENT;
    FAKE_OUT(*count, ccl_ranks(comm));
    return BKCL_SUCCESS;
}

DEFINE(bkcl_comm_user_rank, (BKCLContext_t context, int *rank))
{
    FAKE_CALL(bkcl_comm_user_rank, int);
    ccl_comm_t *comm = ccl_comm(context);
    if (comm == NULL || rank == NULL)
        return BKCL_INVALID_ARGUMENT;
    FAKE_OUT(*rank, ccl_rank(comm));
    return BKCL_SUCCESS;
}

DEFINE(bkcl_all_reduce, (BKCLContext_t context, const void *send, void *recv,
                         size_t count, int type, int op, void *stream))
{
    FAKE_CALL(bkcl_all_reduce, int);
    (void)stream;
    return start(context, CCL_ALL_REDUCE, send, recv, count, type, op, 0);
}

DEFINE(bkcl_reduce, (BKCLContext_t context, const void *send, void *recv, size_t count,
                     int type, int op, int root, void *stream))
{
    FAKE_CALL(bkcl_reduce, int);
    (void)stream;
    return start(context, CCL_REDUCE, send, recv, count, type, op, root);
}

DEFINE(bkcl_reduce_scatter, (BKCLContext_t context, const void *send, void *recv,
                             size_t count, int type, int op, void *stream))
{
    FAKE_CALL(bkcl_reduce_scatter, int);
    (void)stream;
    return start(context, CCL_REDUCE_SCATTER, send, recv, count, type, op, 0);
}

DEFINE(bkcl_all_gather, (BKCLContext_t context, const void *send, size_t count,
                         void *recv, int type, void *stream))
{
    FAKE_CALL(bkcl_all_gather, int);
    (void)stream;
    return start(context, CCL_ALL_GATHER, send, recv, count, type, BKCL_ADD, 0);
}

DEFINE(bkcl_broadcast, (BKCLContext_t context, const void *send, void *recv, size_t count,
                        int type, int root, void *stream))
{
    FAKE_CALL(bkcl_broadcast, int);
    (void)stream;
    return start(context, CCL_BROADCAST, send, recv, count, type, BKCL_ADD, root);
}

DEFINE(bkcl_all_to_all, (BKCLContext_t context, const void *send, size_t count,
                         void *recv, int type, void *stream))
{
    FAKE_CALL(bkcl_all_to_all, int);
    (void)stream;
    return start(context, CCL_ALL_TO_ALL, send, recv, count, type, BKCL_ADD, 0);
}

DEFINE(bkcl_send, (BKCLContext_t context, const void *send, size_t count, int peer,
                   int type, void *stream))
{
    FAKE_CALL(bkcl_send, int);
    (void)stream;
    return start(context, CCL_SEND, send, NULL, count, type, BKCL_ADD, peer);
}

DEFINE(bkcl_recv, (BKCLContext_t context, void *recv, size_t count, int peer, int type,
                   void *stream))
{
    FAKE_CALL(bkcl_recv, int);
    (void)stream;
    return start(context, CCL_RECV, NULL, recv, count, type, BKCL_ADD, peer);
}

DEFINE(bkcl_group_start, (void))
{
    FAKE_CALL(bkcl_group_start, int);
    ccl_group_begin();
    return BKCL_SUCCESS;
}

DEFINE(bkcl_group_end, (void))
{
    FAKE_FUNCTION(bkcl_group_end);
    int64_t code;
    if (fake_enter(&fake_self, &code)) { /* the group is over all the same */
        ccl_group_drop();
        return (int)code;
    }
    return result_of(ccl_group_end());
}
