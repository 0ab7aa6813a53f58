/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL, RCCL, DTK's RCCL, CoreX's NCCL and both MCCLs (by names.h). What each version has
 * is by the release notes of NCCL 2.7.3 (send and receive), 2.10.3 (avg, bfloat16), 2.24
 * (fp8) and the headers named in nccl.h. FAKE_CCL_VERSION is as NCCL_VERSION(2, y, 0).
 *   FAKE_CCL_ALLTOALL  1: ncclAlltoAll, ncclGather, ncclScatter (NCCL 2.28)
 *                      2: ncclAllToAll and the same (RCCL, MetaX)
 */
#include "nccl.h"

enum {
    SUCCESS = 0,
    UNHANDLED_DEVICE_ERROR = 1,
    SYSTEM_ERROR = 2,
    INVALID_ARGUMENT = 4,
    INVALID_USAGE = 5,
    REMOTE_ERROR = 6
};

const ccl_library_t ccl_library = {FAKE_CCL_RUNTIME, FAKE_CCL_VERSION, true};

static _Thread_local const char *last = "";

static ncclResult_t result_of(ccl_result_t result)
{
    switch (result) {
    case CCL_OK:
        return SUCCESS;
    case CCL_ARGUMENT:
        last = "a value is out of range, or an address not the device's";
        return INVALID_ARGUMENT;
    case CCL_USAGE:
        last = "ranks disagree";
        return INVALID_USAGE;
    case CCL_DEVICE:
        last = "the runtime refused";
        return UNHANDLED_DEVICE_ERROR;
    default:
        last = "no connection";
        return SYSTEM_ERROR;
    }
}

/* ncclDataType_t */
static ccl_type_t type_of(int type)
{
    static const ccl_type_t types[] = {CCL_I8,  CCL_U8,   CCL_I32,  CCL_U32,
                                       CCL_I64, CCL_U64,  CCL_F16,  CCL_F32,
                                       CCL_F64, CCL_BF16, CCL_E4M3, CCL_E5M2};
    int known = FAKE_CCL_VERSION >= 22400 ? 12 : FAKE_CCL_VERSION >= 21000 ? 10 : 9;
    return type >= 0 && type < known ? types[type] : CCL_NO_TYPE;
}

/* ncclRedOp_t */
static ccl_op_t op_of(int op)
{
    static const ccl_op_t ops[] = {CCL_SUM, CCL_PROD, CCL_MAX, CCL_MIN, CCL_AVG};
    return op >= 0 && op < (FAKE_CCL_VERSION >= 21000 ? 5 : 4) ? ops[op] : CCL_NO_OP;
}

static ncclResult_t start(ncclComm_t handle, ccl_kind_t kind, const void *send,
                          void *recv, size_t count, int type, int op, int root,
                          void *stream)
{
    ccl_comm_t *comm = ccl_comm(handle);
    ccl_call_t call = {.kind = kind,
                       .send = send,
                       .recv = recv,
                       .count = count,
                       .type = type_of(type),
                       .op = op_of(op),
                       .root = root};
    return comm == NULL ? INVALID_ARGUMENT : result_of(ccl_start(comm, &call, stream));
}

/* ---- communicators ----------------------------------------------------------------- */

FAKE_API ncclResult_t ncclGetVersion(int *version)
{
    FAKE_CALL(ncclGetVersion, ncclResult_t);
    if (version == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*version, FAKE_CCL_VERSION);
    return SUCCESS;
}

FAKE_API ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)
{
    FAKE_CALL(ncclGetUniqueId, ncclResult_t);
    return uniqueId == NULL ? INVALID_ARGUMENT
                            : result_of(ccl_id_make(uniqueId, sizeof *uniqueId));
}

FAKE_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId,
                                       int rank)
{
    FAKE_CALL(ncclCommInitRank, ncclResult_t);
    return comm == NULL ? INVALID_ARGUMENT
                        : result_of(ccl_join(&commId, sizeof commId, nranks, rank, -1,
                                             (ccl_comm_t **)(void *)comm));
}

FAKE_API ncclResult_t ncclCommDestroy(ncclComm_t handle)
{
    FAKE_CALL(ncclCommDestroy, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? INVALID_ARGUMENT : result_of(ccl_leave(comm));
}

FAKE_API ncclResult_t ncclCommAbort(ncclComm_t handle)
{
    FAKE_CALL(ncclCommAbort, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? INVALID_ARGUMENT : result_of(ccl_abort(comm));
}

FAKE_API ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *asyncError)
{
    FAKE_CALL(ncclCommGetAsyncError, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || asyncError == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*asyncError, ccl_async(comm, REMOTE_ERROR, UNHANDLED_DEVICE_ERROR));
    return SUCCESS;
}

FAKE_API ncclResult_t ncclCommCount(ncclComm_t handle, int *count)
{
    FAKE_CALL(ncclCommCount, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || count == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*count, ccl_ranks(comm));
    return SUCCESS;
}

FAKE_API ncclResult_t ncclCommCuDevice(ncclComm_t handle, int *device)
{
    FAKE_CALL(ncclCommCuDevice, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || device == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*device, ccl_device(comm));
    return SUCCESS;
}

FAKE_API ncclResult_t ncclCommUserRank(ncclComm_t handle, int *rank)
{
    FAKE_CALL(ncclCommUserRank, ncclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || rank == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*rank, ccl_rank(comm));
    return SUCCESS;
}

FAKE_API const char *ncclGetErrorString(ncclResult_t result)
{
    FAKE_CALL_OTHER(ncclGetErrorString, NULL);
    switch (result) {
    case SUCCESS:
        return "no error";
    case UNHANDLED_DEVICE_ERROR:
        return "unhandled cuda error";
    case SYSTEM_ERROR:
        return "unhandled system error";
    case INVALID_ARGUMENT:
        return "invalid argument";
    case INVALID_USAGE:
        return "invalid usage";
    case REMOTE_ERROR:
        return "remote process exited or there was a network error";
    default:
        return "unknown result code";
    }
}

#if FAKE_CCL_VERSION >= 21300
FAKE_API const char *ncclGetLastError(ncclComm_t comm)
{
    FAKE_CALL_OTHER(ncclGetLastError, NULL);
    (void)comm;
    return last;
}
#endif

/* ---- collectives ------------------------------------------------------------------- */

FAKE_API ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
                                    int datatype, int op, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclAllReduce, ncclResult_t);
    return start(comm, CCL_ALL_REDUCE, sendbuff, recvbuff, count, datatype, op, 0,
                 stream);
}

FAKE_API ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count,
                                 int datatype, int op, int root, ncclComm_t comm,
                                 void *stream)
{
    FAKE_CALL(ncclReduce, ncclResult_t);
    return start(comm, CCL_REDUCE, sendbuff, recvbuff, count, datatype, op, root, stream);
}

FAKE_API ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff,
                                        size_t recvcount, int datatype, int op,
                                        ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclReduceScatter, ncclResult_t);
    return start(comm, CCL_REDUCE_SCATTER, sendbuff, recvbuff, recvcount, datatype, op, 0,
                 stream);
}

FAKE_API ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff,
                                    size_t sendcount, int datatype, ncclComm_t comm,
                                    void *stream)
{
    FAKE_CALL(ncclAllGather, ncclResult_t);
    return start(comm, CCL_ALL_GATHER, sendbuff, recvbuff, sendcount, datatype, 0, 0,
                 stream);
}

FAKE_API ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                                    int datatype, int root, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclBroadcast, ncclResult_t);
    return start(comm, CCL_BROADCAST, sendbuff, recvbuff, count, datatype, 0, root,
                 stream);
}

#if FAKE_CCL_ALLTOALL == 1
FAKE_API ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
                                   int datatype, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclAlltoAll, ncclResult_t);
    return start(comm, CCL_ALL_TO_ALL, sendbuff, recvbuff, count, datatype, 0, 0, stream);
}
#elif FAKE_CCL_ALLTOALL == 2
FAKE_API ncclResult_t ncclAllToAll(const void *sendbuff, void *recvbuff, size_t count,
                                   int datatype, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclAllToAll, ncclResult_t);
    return start(comm, CCL_ALL_TO_ALL, sendbuff, recvbuff, count, datatype, 0, 0, stream);
}
#endif

#if FAKE_CCL_ALLTOALL > 0
FAKE_API ncclResult_t ncclGather(const void *sendbuff, void *recvbuff, size_t count,
                                 int datatype, int root, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclGather, ncclResult_t);
    return start(comm, CCL_GATHER, sendbuff, recvbuff, count, datatype, 0, root, stream);
}

FAKE_API ncclResult_t ncclScatter(const void *sendbuff, void *recvbuff, size_t count,
                                  int datatype, int root, ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclScatter, ncclResult_t);
    return start(comm, CCL_SCATTER, sendbuff, recvbuff, count, datatype, 0, root, stream);
}
#endif

/* ---- point to point ---------------------------------------------------------------- */

#if FAKE_CCL_VERSION >= 2700
FAKE_API ncclResult_t ncclSend(const void *sendbuff, size_t count, int datatype, int peer,
                               ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclSend, ncclResult_t);
    return start(comm, CCL_SEND, sendbuff, NULL, count, datatype, 0, peer, stream);
}

FAKE_API ncclResult_t ncclRecv(void *recvbuff, size_t count, int datatype, int peer,
                               ncclComm_t comm, void *stream)
{
    FAKE_CALL(ncclRecv, ncclResult_t);
    return start(comm, CCL_RECV, NULL, recvbuff, count, datatype, 0, peer, stream);
}
#endif

FAKE_API ncclResult_t ncclGroupStart(void)
{
    FAKE_CALL(ncclGroupStart, ncclResult_t);
    ccl_group_begin();
    return SUCCESS;
}

FAKE_API ncclResult_t ncclGroupEnd(void)
{
    FAKE_FUNCTION(ncclGroupEnd);
    int64_t code;
    if (fake_enter(&fake_self, &code)) { /* the group is over all the same */
        ccl_group_drop();
        return (ncclResult_t)code;
    }
    return result_of(ccl_group_end());
}
