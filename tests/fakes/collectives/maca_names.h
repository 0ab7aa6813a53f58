/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COLLECTIVES_MACA_NAMES_H
#define YOKE_TESTS_FAKES_COLLECTIVES_MACA_NAMES_H

/* NCCL's functions as MCCL names them: mccl.h 2.16.5 of MetaX. */
#define ncclGetVersion mcclGetVersion
#define ncclGetUniqueId mcclGetUniqueId
#define ncclCommInitRank mcclCommInitRank
#define ncclCommDestroy mcclCommDestroy
#define ncclCommAbort mcclCommAbort
#define ncclCommGetAsyncError mcclCommGetAsyncError
#define ncclCommCount mcclCommCount
#define ncclCommUserRank mcclCommUserRank
#define ncclGetErrorString mcclGetErrorString
#define ncclGetLastError mcclGetLastError
#define ncclAllReduce mcclAllReduce
#define ncclReduce mcclReduce
#define ncclReduceScatter mcclReduceScatter
#define ncclAllGather mcclAllGather
#define ncclBroadcast mcclBroadcast
#define ncclAllToAll mcclAllToAll
#define ncclGather mcclGather
#define ncclScatter mcclScatter
#define ncclSend mcclSend
#define ncclRecv mcclRecv
#define ncclGroupStart mcclGroupStart
#define ncclGroupEnd mcclGroupEnd
#define ncclCommCuDevice mcclCommMcDevice

#endif
