/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COLLECTIVES_NCCL_H
#define YOKE_TESTS_FAKES_COLLECTIVES_NCCL_H

/* nccl.h of NCCL 2.28.9 (installed with CUDA 13.0) and NVIDIA/nccl src/nccl.h.in; RCCL:
 * ROCm/rccl src/nccl.h.in; MCCL of MetaX: mccl.h 2.16.5, which differs in names. */

#include "ccl.h"

typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef int ncclResult_t;

ncclResult_t ncclGetVersion(int *version);
ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId,
                              int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError);
ncclResult_t ncclCommCount(ncclComm_t comm, int *count);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
                           int datatype, int op, ncclComm_t comm, void *stream);
ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
                        int op, int root, ncclComm_t comm, void *stream);
ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
                               int datatype, int op, ncclComm_t comm, void *stream);
ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
                           int datatype, ncclComm_t comm, void *stream);
ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                           int datatype, int root, ncclComm_t comm, void *stream);
ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
                          int datatype, ncclComm_t comm, void *stream);
ncclResult_t ncclAllToAll(const void *sendbuff, void *recvbuff, size_t count,
                          int datatype, ncclComm_t comm, void *stream);
ncclResult_t ncclGather(const void *sendbuff, void *recvbuff, size_t count, int datatype,
                        int root, ncclComm_t comm, void *stream);
ncclResult_t ncclScatter(const void *sendbuff, void *recvbuff, size_t count, int datatype,
                         int root, ncclComm_t comm, void *stream);
ncclResult_t ncclSend(const void *sendbuff, size_t count, int datatype, int peer,
                      ncclComm_t comm, void *stream);
ncclResult_t ncclRecv(void *recvbuff, size_t count, int datatype, int peer,
                      ncclComm_t comm, void *stream);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

#endif
