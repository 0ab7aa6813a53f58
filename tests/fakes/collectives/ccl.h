/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COLLECTIVES_CCL_H
#define YOKE_TESTS_FAKES_COLLECTIVES_CCL_H

/*
 * What the fake collective libraries share: ranks of one clique meet, bytes go between
 * their processes, reductions are computed. Each library's own file has the vendor's
 * names, conventions and numbers.
 *
 * Work is done when the stream comes to it, without blocking the runtime's thread: it is
 * asked every 50 microseconds whether it is done (fake_service_t.poll).
 * Threads: any; one communicator by one thread at a time, but for abort.
 */

#include "tests/fakes/common/entry.h"

typedef enum ccl_type {
    CCL_I8,
    CCL_U8,
    CCL_I16,
    CCL_U16,
    CCL_I32,
    CCL_U32,
    CCL_I64,
    CCL_U64,
    CCL_F16,
    CCL_F32,
    CCL_F64,
    CCL_BF16,
    CCL_E4M3,
    CCL_E5M2,
    CCL_NO_TYPE
} ccl_type_t;

typedef enum ccl_op { CCL_SUM, CCL_PROD, CCL_MAX, CCL_MIN, CCL_AVG, CCL_NO_OP } ccl_op_t;

typedef enum ccl_result {
    CCL_OK,
    CCL_ARGUMENT, /* a value, an address, or an id that is none */
    CCL_USAGE,    /* in the wrong order, or ranks that disagree */
    CCL_SYSTEM,   /* the one who made the id is gone */
    CCL_DEVICE,   /* the runtime refused, or the device is lost */
    CCL_TIMEOUT   /* not all ranks came */
} ccl_result_t;

/* Defined once by each library. */
typedef struct ccl_library {
    const char *runtime; /* file of this folder that lends streams; NULL: host memory */
    uint32_t version;
    bool self; /* a rank may send to itself */
} ccl_library_t;
extern const ccl_library_t ccl_library;

typedef struct ccl_comm ccl_comm_t;

/* Every byte of an id counts: the last eight are a sum of the others. */
ccl_result_t ccl_id_make(void *id, size_t size);
/* Waits for the others, at most 30 s. `device`: -1: the thread's current one. */
ccl_result_t ccl_join(const void *id, size_t size, int ranks, int rank, int device,
                      ccl_comm_t **out_comm);
/* Waits for its work. */
ccl_result_t ccl_leave(ccl_comm_t *comm);
/* Its work ends where it stands. */
ccl_result_t ccl_abort(ccl_comm_t *comm);
/* NULL: no live one. */
ccl_comm_t *ccl_comm(const void *handle);
int ccl_rank(const ccl_comm_t *comm);
int ccl_ranks(const ccl_comm_t *comm);
int ccl_device(const ccl_comm_t *comm);
bool ccl_lost(const ccl_comm_t *comm);
/* What went wrong after a call returned: 0, or the vendor's code that `mismatch` is. */
int64_t ccl_async(const ccl_comm_t *comm, int64_t mismatch, int64_t lost);

typedef enum ccl_kind {
    CCL_ALL_REDUCE,
    CCL_REDUCE,
    CCL_REDUCE_SCATTER,
    CCL_ALL_GATHER,
    CCL_BROADCAST,
    CCL_GATHER,
    CCL_SCATTER,
    CCL_ALL_TO_ALL,
    CCL_SEND,
    CCL_RECV,
    CCL_BARRIER
} ccl_kind_t;

typedef struct ccl_call {
    ccl_kind_t kind;
    const void *send;
    void *recv;
    uint64_t count; /* of each rank's block, or of the vector */
    ccl_type_t type;
    ccl_op_t op;
    int root; /* or the peer */
    /* all-to-all with unlike blocks: elements, by rank; NULL: count each, in order */
    const uint64_t *send_counts, *send_places, *recv_counts, *recv_places;
} ccl_call_t;

/* Enqueue; inside a group: when it ends. */
ccl_result_t ccl_start(ccl_comm_t *comm, const ccl_call_t *call, void *stream);
void ccl_group_begin(void);
ccl_result_t ccl_group_end(void);
/* Ends it, and nothing of it is done. */
void ccl_group_drop(void);

size_t ccl_size(ccl_type_t type);
/* out[i] = op over parts[rank][i], in the order of ranks. */
void ccl_reduce(void *out, const void *const *parts, int ranks, uint64_t count,
                ccl_type_t type, ccl_op_t op);

/* --- for tests --------------------------------------------------------------------- */

/* All communicators of this process have this asynchronous error; 0: none. */
FAKE_API void yoke_fake_ccl_async(int64_t code);
/* Work that streams come to waits until this is called with false. */
FAKE_API void yoke_fake_ccl_stall(bool stall);

#endif
