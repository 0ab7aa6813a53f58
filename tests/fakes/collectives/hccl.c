/* SPDX-License-Identifier: Apache-2.0 */
/* HCCL, from third_party/hccl/inc/hccl/{hccl,hccl_types}.h of Ascend/pytorch. What the
 * reductions take is by the API reference of CANN (hcclcpp_07_0020, HcclAllReduce): int8,
 * int16, int32, int64, float16, float32, bfp16; no prod of int16 and bfp16. */
#include "ccl.h"
#include <stdlib.h>

typedef void *HcclComm;
typedef struct {
    char internal[4108];
} HcclRootInfo;
typedef int HcclResult;
typedef struct {
    int sendRecvType;
    void *buf;
    uint64_t count;
    int dataType;
    uint32_t remoteRank;
} HcclSendRecvItem;

enum {
    HCCL_SUCCESS = 0,
    HCCL_E_PARA = 1,
    HCCL_E_PTR = 2,
    HCCL_E_NOT_SUPPORT = 5,
    HCCL_E_TIMEOUT = 9,
    HCCL_E_TCP_CONNECT = 11,
    HCCL_E_RUNTIME = 15,
    HCCL_E_REMOTE = 21
};

const ccl_library_t ccl_library = {"libascendcl.so", 80000, false};
const fake_defaults_t fake_defaults = {.vendor = "ascend",
                                       .name = "",
                                       .arch = "",
                                       .mask = "ASCEND_RT_VISIBLE_DEVICES",
                                       .rule = FAKE_MASK_STOP};

static ccl_type_t type_of(int type)
{
    static const ccl_type_t types[] = {CCL_I8,  CCL_I16, CCL_I32, CCL_F16,
                                       CCL_F32, CCL_I64, CCL_U64, CCL_U8,
                                       CCL_U16, CCL_U32, CCL_F64, CCL_BF16};
    return type >= 0 && type < 12 ? types[type] : CCL_NO_TYPE;
}

static ccl_op_t op_of(int op)
{
    static const ccl_op_t ops[] = {CCL_SUM, CCL_PROD, CCL_MAX, CCL_MIN};
    return op >= 0 && op < 4 ? ops[op] : CCL_NO_OP;
}

static HcclResult result_of(ccl_result_t result)
{
    return result == CCL_OK        ? HCCL_SUCCESS
           : result == CCL_DEVICE  ? HCCL_E_RUNTIME
           : result == CCL_TIMEOUT ? HCCL_E_TIMEOUT
           : result == CCL_SYSTEM  ? HCCL_E_TCP_CONNECT
                                   : HCCL_E_PARA;
}

static bool reduces(ccl_type_t type, ccl_op_t op)
{
    if (op == CCL_PROD && (type == CCL_I16 || type == CCL_BF16))
        return false;
    return type == CCL_I8 || type == CCL_I16 || type == CCL_I32 || type == CCL_I64 ||
           type == CCL_F16 || type == CCL_F32 || type == CCL_BF16;
}

static HcclResult start(HcclComm handle, ccl_kind_t kind, const void *send, void *recv,
                        uint64_t count, int type, int op, uint32_t root, void *stream)
{
    ccl_comm_t *comm = ccl_comm(handle);
    ccl_call_t call = {.kind = kind,
                       .send = send,
                       .recv = recv,
                       .count = count,
                       .type = type_of(type),
                       .op = op_of(op),
                       .root = (int)root};
    if (comm == NULL)
        return HCCL_E_PTR;
    if (kind <= CCL_REDUCE_SCATTER && call.type != CCL_NO_TYPE && call.op != CCL_NO_OP &&
        !reduces(call.type, call.op))
        return HCCL_E_NOT_SUPPORT;
    return result_of(ccl_start(comm, &call, stream));
}

#define DEFINE(name, parameters)                                                         \
    FAKE_API HcclResult name parameters;                                                 \
    FAKE_API HcclResult name parameters

DEFINE(HcclGetRootInfo, (HcclRootInfo * rootInfo))
{
    FAKE_CALL(HcclGetRootInfo, HcclResult);
    return rootInfo == NULL ? HCCL_E_PTR
                            : result_of(ccl_id_make(rootInfo, sizeof *rootInfo));
}

DEFINE(HcclCommInitRootInfo,
       (uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank, HcclComm *comm))
{
    FAKE_CALL(HcclCommInitRootInfo, HcclResult);
    if (rootInfo == NULL || comm == NULL)
        return HCCL_E_PTR;
    if (nRanks > 1024 || rank >= nRanks)
        return HCCL_E_PARA;
    return result_of(ccl_join(rootInfo, sizeof *rootInfo, (int)nRanks, (int)rank, -1,
                              (ccl_comm_t **)(void *)comm));
}

DEFINE(HcclCommDestroy, (HcclComm handle))
{
    FAKE_CALL(HcclCommDestroy, HcclResult);
    ccl_comm_t *comm = ccl_comm(handle);
    return comm == NULL ? HCCL_E_PTR : result_of(ccl_leave(comm));
}

DEFINE(HcclGetRankSize, (HcclComm handle, uint32_t *rankSize))
{
    FAKE_CALL(HcclGetRankSize, HcclResult);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || rankSize == NULL)
        return HCCL_E_PTR;
    FAKE_OUT(*rankSize, ccl_ranks(comm));
    return HCCL_SUCCESS;
}

DEFINE(HcclGetRankId, (HcclComm handle, uint32_t *rank))
{
    FAKE_CALL(HcclGetRankId, HcclResult);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || rank == NULL)
        return HCCL_E_PTR;
    FAKE_OUT(*rank, ccl_rank(comm));
    return HCCL_SUCCESS;
}

DEFINE(HcclGetCommAsyncError, (HcclComm handle, HcclResult *asyncError))
{
    FAKE_CALL(HcclGetCommAsyncError, HcclResult);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || asyncError == NULL)
        return HCCL_E_PTR;
    FAKE_OUT(*asyncError, ccl_async(comm, HCCL_E_REMOTE, HCCL_E_RUNTIME));
    return HCCL_SUCCESS;
}

FAKE_API const char *HcclGetErrorString(HcclResult code);
FAKE_API const char *HcclGetErrorString(HcclResult code)
{
    FAKE_CALL_OTHER(HcclGetErrorString, NULL);
    return code == HCCL_SUCCESS  ? "no error"
           : code == HCCL_E_PARA ? "parameter error"
                                 : "other error";
}

DEFINE(HcclAllReduce, (void *sendBuf, void *recvBuf, uint64_t count, int dataType, int op,
                       HcclComm comm, void *stream))
{
    FAKE_CALL(HcclAllReduce, HcclResult);
    return start(comm, CCL_ALL_REDUCE, sendBuf, recvBuf, count, dataType, op, 0, stream);
}

DEFINE(HcclReduce, (void *sendBuf, void *recvBuf, uint64_t count, int dataType, int op,
                    uint32_t root, HcclComm comm, void *stream))
{
    FAKE_CALL(HcclReduce, HcclResult);
    return start(comm, CCL_REDUCE, sendBuf, recvBuf, count, dataType, op, root, stream);
}

DEFINE(HcclReduceScatter, (void *sendBuf, void *recvBuf, uint64_t recvCount, int dataType,
                           int op, HcclComm comm, void *stream))
{
    FAKE_CALL(HcclReduceScatter, HcclResult);
    return start(comm, CCL_REDUCE_SCATTER, sendBuf, recvBuf, recvCount, dataType, op, 0,
                 stream);
}

DEFINE(HcclAllGather, (void *sendBuf, void *recvBuf, uint64_t sendCount, int dataType,
                       HcclComm comm, void *stream))
{
    FAKE_CALL(HcclAllGather, HcclResult);
    return start(comm, CCL_ALL_GATHER, sendBuf, recvBuf, sendCount, dataType, 0, 0,
                 stream);
}

DEFINE(HcclBroadcast, (void *buf, uint64_t count, int dataType, uint32_t root,
                       HcclComm comm, void *stream))
{
    FAKE_CALL(HcclBroadcast, HcclResult);
    return start(comm, CCL_BROADCAST, buf, buf, count, dataType, 0, root, stream);
}

DEFINE(HcclScatter, (void *sendBuf, void *recvBuf, uint64_t recvCount, int dataType,
                     uint32_t root, HcclComm comm, void *stream))
{
    FAKE_CALL(HcclScatter, HcclResult);
    return start(comm, CCL_SCATTER, sendBuf, recvBuf, recvCount, dataType, 0, root,
                 stream);
}

DEFINE(HcclAlltoAll,
       (const void *sendBuf, uint64_t sendCount, int sendType, const void *recvBuf,
        uint64_t recvCount, int recvType, HcclComm comm, void *stream))
{
    FAKE_CALL(HcclAlltoAll, HcclResult);
    if (sendCount != recvCount || sendType != recvType)
        return HCCL_E_PARA;
    return start(comm, CCL_ALL_TO_ALL, sendBuf, (void *)(uintptr_t)recvBuf, sendCount,
                 sendType, 0, 0, stream);
}

/* Counts and places are arrays of uint64_t in host memory. */
DEFINE(HcclAlltoAllV, (const void *sendBuf, const void *sendCounts, const void *sdispls,
                       int sendType, const void *recvBuf, const void *recvCounts,
                       const void *rdispls, int recvType, HcclComm handle, void *stream))
{
    FAKE_CALL(HcclAlltoAllV, HcclResult);
    ccl_comm_t *comm = ccl_comm(handle);
    if (comm == NULL || sendCounts == NULL || sdispls == NULL || recvCounts == NULL ||
        rdispls == NULL)
        return HCCL_E_PTR;
    if (sendType != recvType)
        return HCCL_E_PARA;
    ccl_call_t call = {.kind = CCL_ALL_TO_ALL,
                       .send = sendBuf,
                       .recv = (void *)(uintptr_t)recvBuf,
                       .type = type_of(sendType),
                       .send_counts = sendCounts,
                       .send_places = sdispls,
                       .recv_counts = recvCounts,
                       .recv_places = rdispls};
    return result_of(ccl_start(comm, &call, stream));
}

DEFINE(HcclBarrier, (HcclComm comm, void *stream))
{
    FAKE_CALL(HcclBarrier, HcclResult);
    return start(comm, CCL_BARRIER, NULL, NULL, 0, 0, 0, 0, stream);
}

DEFINE(HcclSend, (void *sendBuf, uint64_t count, int dataType, uint32_t destRank,
                  HcclComm comm, void *stream))
{
    FAKE_CALL(HcclSend, HcclResult);
    return start(comm, CCL_SEND, sendBuf, NULL, count, dataType, 0, destRank, stream);
}

DEFINE(HcclRecv, (void *recvBuf, uint64_t count, int dataType, uint32_t srcRank,
                  HcclComm comm, void *stream))
{
    FAKE_CALL(HcclRecv, HcclResult);
    return start(comm, CCL_RECV, NULL, recvBuf, count, dataType, 0, srcRank, stream);
}

DEFINE(HcclBatchSendRecv,
       (HcclSendRecvItem * sendRecvInfo, uint32_t itemNum, HcclComm comm, void *stream))
{
    FAKE_CALL(HcclBatchSendRecv, HcclResult);
    HcclResult result = HCCL_SUCCESS;
    if (sendRecvInfo == NULL)
        return HCCL_E_PTR;
    ccl_group_begin();
    for (uint32_t i = 0; i < itemNum && result == HCCL_SUCCESS; i++) {
        const HcclSendRecvItem *item = &sendRecvInfo[i];
        if (item->sendRecvType != 0 && item->sendRecvType != 1)
            result = HCCL_E_PARA;
        else
            result = start(comm, item->sendRecvType == 0 ? CCL_SEND : CCL_RECV,
                           item->sendRecvType == 0 ? item->buf : NULL,
                           item->sendRecvType == 1 ? item->buf : NULL, item->count,
                           item->dataType, 0, item->remoteRank, stream);
    }
    HcclResult ended = result_of(ccl_group_end());
    return result != HCCL_SUCCESS ? result : ended;
}
