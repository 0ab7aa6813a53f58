/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SHARED_H
#define YOKE_COMM_SHARED_H

/*
 * Collectives among ranks that share one piece of memory (an arena of arena.h; threads of
 * one process may use any memory). Ranks are numbered within it. Every call is made by
 * all of them, in the same order.
 *
 * Threads: one at a time for each rank. Nothing here blocks or allocates: advance() does
 * what it can. Where the word that is given as `state` is not 0, calls end with
 * YOKE_ERR_REVOKED (no message) at once, whatever the other ranks do; the memory is never
 * used again then. A rank writes into that memory and its own caller's only; it may read
 * another rank's send buffer while that rank's call is under way.
 *
 * A call ends on a rank as soon as that rank's part is done. It ends with
 * YOKE_ERR_MISMATCH where another rank, whose data or arrival it waits for, made another
 * call. The caller revokes then.
 */

#include <stdatomic.h>
#include "ucx_comm/collectives/reduce.h"
#include "ucx_comm/transport/transport.h"

#define YOKE_SHARED_RANKS 64 /* most */

typedef struct yoke_shared yoke_shared_t;

typedef struct yoke_shared_place {
    void *base; /* zeroed, aligned to 64; the same memory on all ranks */
    int ranks;
    int index;                     /* this rank */
    const _Atomic uint32_t *state; /* yoke_control_state(); NULL: never revoked */
    const int *pids;    /* process_vm_readv() works between all of them; copied.
                           NULL, on all ranks alike: it does not */
    const int *numbers; /* for messages: ranks of the communicator; copied.
                           NULL: as here */
} yoke_shared_place_t;

/* Bytes that the memory must have for so many ranks; 0: too many. */
uint64_t yoke_shared_size(int ranks);
/* NO_MEMORY, or OUT_OF_RANGE for too many ranks. Not collective: makes only what is this
 * rank's own. */
yoke_status_t yoke_shared_create(const yoke_shared_place_t *place,
                                 yoke_shared_t **out_shared);
void yoke_shared_destroy(yoke_shared_t *shared);

/*
 * One call, as in yoke/comm.h; pointers to host memory. Counts and displacements are
 * elements. Arrays are used until the call has ended.
 *
 *               count          v-form (counts of all ranks)      displacements
 * broadcast     all            -                                 -
 * reduce        all            -                                 -
 * all-reduce    all            -                                 -
 * reduce-scatter a block       recv_counts                       -
 * all-gather    a block        recv_counts                       recv_displacements
 * gather        a block        recv_counts                       recv_displacements
 * (root) scatter       a block        send_counts send_displacements (root) all-to-all a
 * block        send_counts and recv_counts       both
 *
 * Displacements NULL: one block after the other. A broadcast's buffer is recv (send is
 * not looked at). In place as in yoke/comm.h.
 */
typedef struct yoke_shared_call {
    yoke_collective_t collective;
    yoke_element_t element;
    yoke_reduction_t reduction;
    int root;
    const void *send;
    void *recv;
    uint64_t count;
    const uint64_t *send_counts, *send_displacements;
    const uint64_t *recv_counts, *recv_displacements;
} yoke_shared_call_t;

/*
 * Start a call; the one before must have ended. Returns as advance().
 * Parameters are the caller's to check (roots, overflow of count x size).
 */
yoke_status_t yoke_shared_start(yoke_shared_t *shared, const yoke_shared_call_t *call);
/* YOKE_OK: ended. YOKE_ERR_NOT_READY: not yet (no message). Else an error: the call is
 * over and no other can be started. */
yoke_status_t yoke_shared_advance(yoke_shared_t *shared);
/* What a waiting loop does after NOT_READY: spins, then yields, then sleeps until another
 * rank has something for this one, at most 1 ms; by how long nothing has moved. */
void yoke_shared_pause(yoke_shared_t *shared);
/* Start, wait, end. For callers that have nothing else to advance. deadline_ms 0: none;
 * else YOKE_ERR_TIMEOUT after it. */
yoke_status_t yoke_shared_run(yoke_shared_t *shared, const yoke_shared_call_t *call,
                              uint32_t deadline_ms);
/* The lowest rank that the call under way waits for, as the communicator's rank; -1:
 * none. For yoke_control_suspect(). */
int yoke_shared_waits_for(const yoke_shared_t *shared);

#endif
