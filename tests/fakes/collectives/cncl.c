/* SPDX-License-Identifier: Apache-2.0 */
/* CNCL, from Cambricon's cncl.h 1.25.0, which public repositories of its users carry. A
 * rank does not send to itself: the header's example of a group leaves that out. */
#include "ccl.h"
#include <stdlib.h>

struct cnclCliqueId {
    char data[128];
    uint64_t hash;
};
typedef struct cnclCliqueId *cnclCliqueId_t;
typedef struct cnclComm *cnclComm_t;
typedef int cnclResult_t;

enum {
    CNCL_RET_SUCCESS = 0x0,
    CNCL_RET_ERR_UNSUPPORTED = 0x11,
    CNCL_RET_ERR_INIT = 0x51,
    CNCL_RET_ERR_SYS_SOCKET = 0x22,
    CNCL_RET_ERR_MLU_RUNTIME = 0x03,
    CNCL_RET_ASYNC_IN_PROGRESS = 0x06,
    CNCL_RET_ASYNC_ERROR = 0x16,
    CNCL_RET_ERR_ARGUMENTS = 0x07
};

const ccl_library_t ccl_library = {"libcnrt.so", 12500, false};
const fake_defaults_t fake_defaults = {.vendor = "cambricon",
                                       .name = "",
                                       .arch = "",
                                       .mask = "MLU_VISIBLE_DEVICES",
                                       .rule = FAKE_MASK_STOP};

static ccl_type_t type_of(int type)
{
    static const struct {
        int code;
        ccl_type_t type;
    } rows[] = {{0x10, CCL_F16}, {0x11, CCL_BF16}, {0x12, CCL_F32}, {0x20, CCL_I8},
                {0x21, CCL_I16}, {0x22, CCL_I32},  {0x23, CCL_I64}, {0x30, CCL_U8},
                {0x31, CCL_U16}, {0x32, CCL_U32},  {0x33, CCL_U64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == type)
            return rows[i].type;
    return CCL_NO_TYPE;
}

static ccl_op_t op_of(int op)
{
    static const ccl_op_t ops[] = {CCL_SUM, CCL_PROD, CCL_MAX, CCL_MIN};
    return op >= 0 && op < 4 ? ops[op] : CCL_NO_OP;
}

static cnclResult_t result_of(ccl_result_t result)
{
    return result == CCL_OK         ? CNCL_RET_SUCCESS
           : result == CCL_ARGUMENT ? CNCL_RET_ERR_ARGUMENTS
           : result == CCL_USAGE    ? CNCL_RET_ERR_INIT
           : result == CCL_DEVICE   ? CNCL_RET_ERR_MLU_RUNTIME
                                    : CNCL_RET_ERR_SYS_SOCKET;
}

static cnclResult_t start(cnclComm_t handle, ccl_kind_t kind, const void *send,
                          void *recv, size_t count, int type, int op, int root,
                          void *queue)
{
    ccl_comm_t *comm = ccl_comm(handle);
    ccl_call_t call = {.kind = kind,
                       .send = send,
                       .recv = recv,
                       .count = count,
                       .type = type_of(type),
                       .op = op_of(op),
                       .root = root};
    return comm == NULL ? CNCL_RET_ERR_ARGUMENTS
                        : result_of(ccl_start(comm, &call, queue));
}

#define DEFINE(name, parameters)                                                         \
    FAKE_API cnclResult_t name parameters;                                               \
    FAKE_API cnclResult_t name parameters

DEFINE(cnclGetLibVersion, (int *major, int *minor, int *patch))
{
    FAKE_CALL(cnclGetLibVersion, cnclResult_t);
    if (major == NULL || minor == NULL || patch == NULL)
        return CNCL_RET_ERR_ARGUMENTS;
    FAKE_OUT(*major, 1);
    FAKE_OUT(*minor, 25);
    FAKE_OUT(*patch, 0);
    return CNCL_RET_SUCCESS;
}

DEFINE(cnclGetCliqueId, (cnclCliqueId_t clique_id))
{
    FAKE_CALL(cnclGetCliqueId, cnclResult_t);
    return clique_id == NULL ? CNCL_RET_ERR_ARGUMENTS
                             : result_of(ccl_id_make(clique_id, sizeof *clique_id));
}

DEFINE(cnclInitComms, (cnclComm_t * comms, int num_comm, const int *dev_list,
                       const int *rank_list, int nrank, const struct cnclCliqueId *id))
{
    FAKE_CALL(cnclInitComms, cnclResult_t);
    if (comms == NULL || dev_list == NULL || rank_list == NULL || num_comm != 1 ||
        id == NULL) /* several of one process are left out */
        return CNCL_RET_ERR_ARGUMENTS;
    return result_of(ccl_join(id, sizeof *id, nrank, rank_list[0], dev_list[0],
                              (ccl_comm_t **)(void *)comms));
}

DEFINE(cnclFreeComm, (cnclComm_t handle))
{
    FAKE_CALL(cnclFreeComm, cnclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? CNCL_RET_ERR_ARGUMENTS : result_of(ccl_leave(comm));
}

DEFINE(cnclAbortComm, (cnclComm_t handle))
{
    FAKE_CALL(cnclAbortComm, cnclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? CNCL_RET_ERR_ARGUMENTS : result_of(ccl_abort(comm));
}

DEFINE(cnclGetCommAsyncError, (const struct cnclComm *handle))
{
    FAKE_CALL(cnclGetCommAsyncError, cnclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL)
        return CNCL_RET_ERR_ARGUMENTS;
    return (cnclResult_t)ccl_async(comm, CNCL_RET_ASYNC_ERROR, CNCL_RET_ERR_MLU_RUNTIME);
}

DEFINE(cnclGetCommCount, (int *count, const struct cnclComm *handle))
{
    FAKE_CALL(cnclGetCommCount, cnclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || count == NULL)
        return CNCL_RET_ERR_ARGUMENTS;
    FAKE_OUT(*count, ccl_ranks(comm));
    return CNCL_RET_SUCCESS;
}

DEFINE(cnclGetCommRank, (int *rank, const struct cnclComm *handle))
{
    FAKE_CALL(cnclGetCommRank, cnclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || rank == NULL)
        return CNCL_RET_ERR_ARGUMENTS;
    FAKE_OUT(*rank, ccl_rank(comm));
    return CNCL_RET_SUCCESS;
}

FAKE_API const char *cnclGetErrorStr(cnclResult_t ret);
FAKE_API const char *cnclGetErrorStr(cnclResult_t ret)
{
    FAKE_CALL_OTHER(cnclGetErrorStr, NULL);
    return ret == CNCL_RET_SUCCESS         ? "success"
           : ret == CNCL_RET_ERR_ARGUMENTS ? "illegal arguments"
                                           : "other error";
}

DEFINE(cnclAllReduce, (const void *send, void *recv, size_t count, int data_type,
                       int reduce_op, cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclAllReduce, cnclResult_t);
    return start(comm, CCL_ALL_REDUCE, send, recv, count, data_type, reduce_op, 0, queue);
}

DEFINE(cnclReduce, (const void *send, void *recv, size_t count, int data_type,
                    int reduce_op, int root, cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclReduce, cnclResult_t);
    return start(comm, CCL_REDUCE, send, recv, count, data_type, reduce_op, root, queue);
}

DEFINE(cnclReduceScatter, (const void *send, void *recv, size_t count, int data_type,
                           int reduce_op, cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclReduceScatter, cnclResult_t);
    return start(comm, CCL_REDUCE_SCATTER, send, recv, count, data_type, reduce_op, 0,
                 queue);
}

DEFINE(cnclAllGather, (const void *send, void *recv, size_t count, int data_type,
                       cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclAllGather, cnclResult_t);
    return start(comm, CCL_ALL_GATHER, send, recv, count, data_type, 0, 0, queue);
}

DEFINE(cnclBroadcast, (const void *send, void *recv, size_t count, int data_type,
                       int root, cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclBroadcast, cnclResult_t);
    return start(comm, CCL_BROADCAST, send, recv, count, data_type, 0, root, queue);
}

DEFINE(cnclAlltoAll, (const void *send, void *recv, size_t count, int data_type,
                      cnclComm_t comm, void *queue))
{
    FAKE_CALL(cnclAlltoAll, cnclResult_t);
    if (send == recv) /* "the correct results are not guaranteed" */
        return CNCL_RET_ERR_ARGUMENTS;
    return start(comm, CCL_ALL_TO_ALL, send, recv, count, data_type, 0, 0, queue);
}

DEFINE(cnclSend, (void *buffer, size_t count, int data_type, int dest, cnclComm_t comm,
                  void *queue))
{
    FAKE_CALL(cnclSend, cnclResult_t);
    return start(comm, CCL_SEND, buffer, NULL, count, data_type, 0, dest, queue);
}

DEFINE(cnclRecv, (void *buffer, size_t count, int data_type, int source, cnclComm_t comm,
                  void *queue))
{
    FAKE_CALL(cnclRecv, cnclResult_t);
    return start(comm, CCL_RECV, NULL, buffer, count, data_type, 0, source, queue);
}

DEFINE(cnclGroupStart, (void))
{
    FAKE_CALL(cnclGroupStart, cnclResult_t);
    ccl_group_begin();
    return CNCL_RET_SUCCESS;
}

DEFINE(cnclGroupEnd, (void))
{
    FAKE_FUNCTION(cnclGroupEnd);
    int64_t code;
    if (fake_enter(&fake_self, &code)) { /* the group is over all the same */
        ccl_group_drop();
        return (cnclResult_t)code;
    }
    return result_of(ccl_group_end());
}
