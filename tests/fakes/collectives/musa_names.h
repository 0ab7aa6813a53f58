/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COLLECTIVES_MUSA_NAMES_H
#define YOKE_TESTS_FAKES_COLLECTIVES_MUSA_NAMES_H

/* NCCL's functions as MCCL names them: Moore Threads; its header is not public, the names
 * are those that FlagCX (flagcx/adaptor/ccl/musa_mccl_adaptor.cc) and torch_musa call;
 * numbers are taken to be NCCL's, as FlagCX casts its own, which are. */
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
#define ncclCommCuDevice mcclCommMuDevice

#endif
