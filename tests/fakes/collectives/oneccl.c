/* SPDX-License-Identifier: Apache-2.0 */
/* oneCCL's C interface, from oneapi/ccl.h and oneapi/ccl/v2/types.h of oneCCL 2022.1
 * (PyPI, oneccl-devel), with the plug-in for host memory: `stream` is NULL and a call
 * returns when it has ended. What the header declares as not implemented is not. */
#include "ccl.h"

typedef struct onecclComm *onecclComm_t;
typedef struct {
    char data[4096];
} onecclUniqueId;
typedef int onecclResult_t;

enum {
    SUCCESS = 0,
    SYSTEM_ERROR = 2,
    INTERNAL_ERROR = 3,
    INVALID_ARGUMENT = 4,
    INVALID_USAGE = 5,
    FAILURE_CPU = 8,
    NOT_IMPLEMENTED = 12
};

const ccl_library_t ccl_library = {NULL, 20220100, true};
const fake_defaults_t fake_defaults = {.vendor = "oneccl", .name = "", .arch = ""};

static ccl_type_t type_of(int type)
{
    static const ccl_type_t types[] = {CCL_I8,  CCL_U8,  CCL_I32, CCL_U32, CCL_I64,
                                       CCL_U64, CCL_F16, CCL_F32, CCL_F64, CCL_BF16};
    return type >= 0 && type < 10 ? types[type] : CCL_NO_TYPE;
}

static ccl_op_t op_of(int op)
{
    static const ccl_op_t ops[] = {CCL_SUM, CCL_PROD, CCL_MAX, CCL_MIN, CCL_AVG};
    return op >= 0 && op < 5 ? ops[op] : CCL_NO_OP;
}

static onecclResult_t result_of(ccl_result_t result)
{
    return result == CCL_OK         ? SUCCESS
           : result == CCL_ARGUMENT ? INVALID_ARGUMENT
           : result == CCL_USAGE    ? INVALID_USAGE
           : result == CCL_DEVICE   ? FAILURE_CPU
                                    : SYSTEM_ERROR;
}

static onecclResult_t start(onecclComm_t handle, ccl_kind_t kind, const void *send,
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
    if (comm == NULL || stream != NULL)
        return INVALID_ARGUMENT;
    onecclResult_t result = result_of(ccl_start(comm, &call, NULL));
    if (result == SUCCESS && ccl_async(comm, 1, 1) != 0)
        return INTERNAL_ERROR;
    return result;
}

/* The prototypes, for -Wmissing-prototypes, are of the definitions below. */
#define DEFINE(name, parameters)                                                         \
    FAKE_API onecclResult_t name parameters;                                             \
    FAKE_API onecclResult_t name parameters

DEFINE(onecclGetVersion, (int *version))
{
    FAKE_CALL(onecclGetVersion, onecclResult_t);
    if (version == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*version, ccl_library.version);
    return SUCCESS;
}

DEFINE(onecclGetUniqueId, (onecclUniqueId * uniqueId))
{
    FAKE_CALL(onecclGetUniqueId, onecclResult_t);
    return uniqueId == NULL ? INVALID_ARGUMENT
                            : result_of(ccl_id_make(uniqueId, sizeof *uniqueId));
}

DEFINE(onecclSetDevice, (uint32_t index))
{
    FAKE_CALL(onecclSetDevice, onecclResult_t);
    (void)index;
    return SUCCESS;
}

DEFINE(onecclCommInitRank,
       (onecclComm_t * comm, size_t nranks, onecclUniqueId commId, int rank))
{
    FAKE_CALL(onecclCommInitRank, onecclResult_t);
    if (comm == NULL || nranks > 1024)
        return INVALID_ARGUMENT;
    return result_of(ccl_join(&commId, sizeof commId, (int)nranks, rank, -1,
                              (ccl_comm_t **)(void *)comm));
}

DEFINE(onecclCommDestroy, (onecclComm_t handle))
{
    FAKE_CALL(onecclCommDestroy, onecclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? INVALID_ARGUMENT : result_of(ccl_leave(comm));
}

DEFINE(onecclCommAbort, (onecclComm_t comm))
{
    FAKE_CALL(onecclCommAbort, onecclResult_t);
    (void)comm;
    return NOT_IMPLEMENTED;
}

DEFINE(onecclCommCount, (onecclComm_t handle, int *size))
{
    FAKE_CALL(onecclCommCount, onecclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || size == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*size, ccl_ranks(comm));
    return SUCCESS;
}

DEFINE(onecclCommUserRank, (onecclComm_t handle, int *rank))
{
    FAKE_CALL(onecclCommUserRank, onecclResult_t);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || rank == NULL)
        return INVALID_ARGUMENT;
    FAKE_OUT(*rank, ccl_rank(comm));
    return SUCCESS;
}

FAKE_API const char *onecclGetErrorString(onecclResult_t result);
FAKE_API const char *onecclGetErrorString(onecclResult_t result)
{
    FAKE_CALL_OTHER(onecclGetErrorString, NULL);
    return result == SUCCESS            ? "Success"
           : result == INVALID_ARGUMENT ? "Invalid argument"
           : result == INVALID_USAGE    ? "Invalid usage"
           : result == SYSTEM_ERROR     ? "System error"
                                        : "Unknown error code";
}

DEFINE(onecclAllReduce, (void *sendbuff, void *recvbuff, size_t count, int datatype,
                         int op, onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclAllReduce, onecclResult_t);
    return start(comm, CCL_ALL_REDUCE, sendbuff, recvbuff, count, datatype, op, 0,
                 stream);
}

DEFINE(onecclReduce, (const void *sendbuff, void *recvbuff, size_t count, int datatype,
                      int op, int root, onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclReduce, onecclResult_t);
    return start(comm, CCL_REDUCE, sendbuff, recvbuff, count, datatype, op, root, stream);
}

DEFINE(onecclReduceScatter, (const void *sendbuff, void *recvbuff, size_t recvcount,
                             int datatype, int op, onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclReduceScatter, onecclResult_t);
    return start(comm, CCL_REDUCE_SCATTER, sendbuff, recvbuff, recvcount, datatype, op, 0,
                 stream);
}

DEFINE(onecclAllGather, (const void *sendbuff, void *recvbuff, size_t sendcount,
                         int datatype, onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclAllGather, onecclResult_t);
    return start(comm, CCL_ALL_GATHER, sendbuff, recvbuff, sendcount, datatype, 0, 0,
                 stream);
}

DEFINE(onecclBroadcast, (const void *sendbuff, void *recvbuff, size_t count, int datatype,
                         int root, onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclBroadcast, onecclResult_t);
    return start(comm, CCL_BROADCAST, sendbuff, recvbuff, count, datatype, 0, root,
                 stream);
}

DEFINE(onecclAllToAll, (const void *sendbuff, void *recvbuff, size_t count, int datatype,
                        onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclAllToAll, onecclResult_t);
    return start(comm, CCL_ALL_TO_ALL, sendbuff, recvbuff, count, datatype, 0, 0, stream);
}

DEFINE(onecclSend, (const void *sendbuff, size_t count, int datatype, int peer,
                    onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclSend, onecclResult_t);
    return start(comm, CCL_SEND, sendbuff, NULL, count, datatype, 0, peer, stream);
}

DEFINE(onecclRecv, (void *recvbuff, size_t count, int datatype, int peer,
                    onecclComm_t comm, void *stream))
{
    FAKE_CALL(onecclRecv, onecclResult_t);
    return start(comm, CCL_RECV, NULL, recvbuff, count, datatype, 0, peer, stream);
}

DEFINE(onecclGroupStart, (void))
{
    FAKE_CALL(onecclGroupStart, onecclResult_t);
    ccl_group_begin();
    return SUCCESS;
}

DEFINE(onecclGroupEnd, (void))
{
    FAKE_FUNCTION(onecclGroupEnd);
    int64_t code;
    if (fake_enter(&fake_self, &code)) { /* the group is over all the same */
        ccl_group_drop();
        return (onecclResult_t)code;
    }
    return result_of(ccl_group_end());
}
