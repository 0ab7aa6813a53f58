/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_H
#define YOKE_COMM_H

/**
 * Communication between ranks whose devices may be of different vendors (libyoke_comm).
 *
 * A communicator is a fixed set of ranks, each a process (or a thread with a communicator
 * of its own). Every rank makes the same collective calls on it in the same order; calls
 * that disagree are found and fail with YOKE_ERR_MISMATCH. A buffer is ordinary host
 * memory or a span of a Yoke buffer (yoke/buffer.h); ranks may differ in that within one
 * call.
 *
 * Threads: one thread at a time uses a communicator, except yoke_comm_abort(),
 * yoke_comm_revoke() and yoke_comm_status(), which any thread may call at any time.
 * Different communicators may be used by different threads at once.
 *
 * Errors: once a call fails for another reason than YOKE_ERR_USAGE, YOKE_ERR_OUT_OF_RANGE
 * or YOKE_ERR_UNSUPPORTED (which are found before anything is sent, but only on the rank
 * that made the mistake), the communicator is revoked on all ranks: calls under way end
 * with YOKE_ERR_PEER_FAILED, YOKE_ERR_TIMEOUT, YOKE_ERR_MISMATCH or YOKE_ERR_REVOKED, and
 * later ones return YOKE_ERR_REVOKED at once. yoke_comm_agree() and yoke_comm_shrink()
 * are what is left to call then, and yoke_comm_destroy(). The terms are those of
 * fault-tolerant MPI (User Level Failure Mitigation, MPI Forum ticket 20).
 *
 * Reductions: bitwise equal on all ranks, and on every repeat of the same call with the
 * same communicator. Partial sums of f16, bf16 and fp8 travel in their own type where
 * docs/comm.md says so, and in f32 elsewhere.
 */

#include "yoke/buffer.h"
#include "yoke/element.h"
#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_comm yoke_comm_t;
typedef struct yoke_comm_request yoke_comm_request_t;

/* --- making one ------------------------------------------------------------------ */

/**
 * The caller's own all-gather among the ranks: `size` bytes of each, in rank order, into
 * `all` (ranks x size bytes). It is called by yoke_comm_create() only, on the calling
 * thread, the same number of times on every rank.
 */
typedef yoke_status_t (*yoke_comm_all_gather_t)(void *context, const void *mine,
                                                size_t size, void *all);

#define YOKE_COMM_CHECK                                                                  \
    (1u << 0)                      /**< compare each call on all ranks before data moves \
                                    */
#define YOKE_COMM_THREAD (1u << 1) /**< make a thread that advances calls under way */

typedef struct yoke_comm_options {
    size_t struct_size;
    uint32_t flags;            /**< YOKE_COMM_* */
    uint32_t timeout_ms;       /**< of each call; 0: YOKE_COMM_TIMEOUT, default 60,000 */
    uint32_t setup_timeout_ms; /**< of making one; 0: YOKE_COMM_SETUP_TIMEOUT, 60,000 */
    uint32_t reserved;
    yoke_device_t
        *device; /**< whose buffers will be given; NULL: host memory. Retained */
    const char *interface; /**< NULL: YOKE_COMM_INTERFACE, or one that the others reach */
} yoke_comm_options_t;

/** @param options  NULL: defaults
 *  @retval YOKE_ERR_REFUSED      another rank speaks another version of the protocol
 *  @retval YOKE_ERR_UNREACHABLE  two ranks have no way to each other: both are named
 *  @retval YOKE_ERR_TIMEOUT      some rank did not come: named where known */
yoke_status_t yoke_comm_create(int size, int rank, yoke_comm_all_gather_t all_gather,
                               void *context, const yoke_comm_options_t *options,
                               yoke_comm_t **out_comm);

/** Made by one rank, brought to the others by the caller: an address and a secret. */
typedef struct yoke_comm_id {
    uint8_t bytes[256];
} yoke_comm_id_t;

/** Opens a rendezvous that lives until all ranks have come or the set-up time has passed.
 *  @param size  ranks that will come */
yoke_status_t yoke_comm_id_create(int size, const yoke_comm_options_t *options,
                                  yoke_comm_id_t *out_id);
/** @retval YOKE_ERR_REFUSED  wrong secret, size or version, or a rank that came twice */
yoke_status_t yoke_comm_create_from_id(const yoke_comm_id_t *id, int size, int rank,
                                       const yoke_comm_options_t *options,
                                       yoke_comm_t **out_comm);
/**
 * From the launcher: PMIx (mpirun, srun --mpi=pmix), or RANK, WORLD_SIZE, MASTER_ADDR,
 * MASTER_PORT and YOKE_COMM_SECRET (torchrun and the like).
 * @retval YOKE_ERR_NOT_FOUND  neither is there: the message says what was looked for
 */
yoke_status_t yoke_comm_create_from_env(const yoke_comm_options_t *options,
                                        yoke_comm_t **out_comm);

/** Ends it without waiting for the others; calls under way end with YOKE_ERR_REVOKED.
 *  NULL is allowed. */
void yoke_comm_destroy(yoke_comm_t *comm);

int yoke_comm_rank(const yoke_comm_t *comm);
int yoke_comm_size(const yoke_comm_t *comm);

/** Collective. Ranks of one color form a communicator, ordered by key, then by rank; a
 *  negative color: *out_comm is NULL. */
yoke_status_t yoke_comm_split(yoke_comm_t *comm, int color, int key,
                              yoke_comm_t **out_comm);

/* --- calls ----------------------------------------------------------------------- */

/** A place in host memory (host != NULL) or in a Yoke buffer. Both NULL: allowed where
 *  nothing is read or written. */
typedef struct yoke_comm_buffer {
    void *host;
    yoke_span_t span;
} yoke_comm_buffer_t;

static inline yoke_comm_buffer_t yoke_comm_host(const void *host)
{
    yoke_comm_buffer_t buffer;
    buffer.host = (void *)(uintptr_t)host;
    buffer.span = yoke_span((yoke_buffer_t *)0, 0);
    return buffer;
}

static inline yoke_comm_buffer_t yoke_comm_span(yoke_buffer_t *memory, uint64_t offset)
{
    yoke_comm_buffer_t buffer;
    buffer.host = (void *)0;
    buffer.span = yoke_span(memory, offset);
    return buffer;
}

/**
 * How one call is made. NULL: blocking, with the communicator's defaults.
 * out_request set: the call returns once it is started, and the request is the caller's
 * until yoke_comm_wait() or a yoke_comm_test() that is not YOKE_ERR_NOT_READY ends it.
 * queue set: the call starts when the queue comes to it, and later work of the queue
 * waits for it (without YOKE_CAP_GATE the call itself waits for both ends).
 * Buffers stay the caller's, unchanged, until the call has ended.
 */
typedef struct yoke_comm_call {
    size_t struct_size;
    yoke_comm_request_t **out_request;
    yoke_queue_t *queue;
    uint32_t timeout_ms; /**< 0: the communicator's */
    uint32_t reserved;
    const char *algorithm; /**< NULL: chosen; else a name of docs/comm.md, on all ranks */
} yoke_comm_call_t;

/* Counts are elements. `send` equal to `recv` is in place (all-gather, gather: send is
 * this rank's block of recv; reduce-scatter, scatter: recv is its block of send). Other
 * overlaps are not allowed. v-forms: counts and displacements (elements) for each rank;
 * arrays are read before the call returns. */

yoke_status_t yoke_comm_barrier(yoke_comm_t *comm, const yoke_comm_call_t *call);
yoke_status_t yoke_comm_broadcast(yoke_comm_t *comm, yoke_comm_buffer_t buffer,
                                  uint64_t count, yoke_element_t element, int root,
                                  const yoke_comm_call_t *call);
yoke_status_t yoke_comm_reduce(yoke_comm_t *comm, yoke_comm_buffer_t send,
                               yoke_comm_buffer_t recv, uint64_t count,
                               yoke_element_t element, yoke_reduction_t reduction,
                               int root, const yoke_comm_call_t *call);
yoke_status_t yoke_comm_all_reduce(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element, yoke_reduction_t reduction,
                                   const yoke_comm_call_t *call);
/** @param count  elements of each rank's block of the result */
yoke_status_t yoke_comm_reduce_scatter(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                       yoke_comm_buffer_t recv, uint64_t count,
                                       yoke_element_t element, yoke_reduction_t reduction,
                                       const yoke_comm_call_t *call);
yoke_status_t yoke_comm_reduce_scatter_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                         yoke_comm_buffer_t recv, const uint64_t *counts,
                                         yoke_element_t element,
                                         yoke_reduction_t reduction,
                                         const yoke_comm_call_t *call);
/** @param count  elements of each rank's block */
yoke_status_t yoke_comm_all_gather(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element, const yoke_comm_call_t *call);
/** @param displacements  NULL: one block after the other */
yoke_status_t yoke_comm_all_gather_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                     yoke_comm_buffer_t recv, const uint64_t *counts,
                                     const uint64_t *displacements,
                                     yoke_element_t element,
                                     const yoke_comm_call_t *call);
yoke_status_t yoke_comm_gather(yoke_comm_t *comm, yoke_comm_buffer_t send,
                               yoke_comm_buffer_t recv, uint64_t count,
                               yoke_element_t element, int root,
                               const yoke_comm_call_t *call);
/** counts: on every rank; displacements: read on the root, NULL: one after the other */
yoke_status_t yoke_comm_gather_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                 yoke_comm_buffer_t recv, const uint64_t *counts,
                                 const uint64_t *displacements, yoke_element_t element,
                                 int root, const yoke_comm_call_t *call);
yoke_status_t yoke_comm_scatter(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                yoke_comm_buffer_t recv, uint64_t count,
                                yoke_element_t element, int root,
                                const yoke_comm_call_t *call);
yoke_status_t yoke_comm_scatter_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                  yoke_comm_buffer_t recv, const uint64_t *counts,
                                  const uint64_t *displacements, yoke_element_t element,
                                  int root, const yoke_comm_call_t *call);
/** @param count  elements from each rank to each */
yoke_status_t yoke_comm_all_to_all(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                   yoke_comm_buffer_t recv, uint64_t count,
                                   yoke_element_t element, const yoke_comm_call_t *call);
yoke_status_t yoke_comm_all_to_all_v(yoke_comm_t *comm, yoke_comm_buffer_t send,
                                     const uint64_t *send_counts,
                                     const uint64_t *send_displacements,
                                     yoke_comm_buffer_t recv, const uint64_t *recv_counts,
                                     const uint64_t *recv_displacements,
                                     yoke_element_t element,
                                     const yoke_comm_call_t *call);

/** Messages of one pair of ranks with one tag are matched in order; sizes must agree. */
yoke_status_t yoke_comm_send(yoke_comm_t *comm, yoke_comm_buffer_t send, uint64_t count,
                             yoke_element_t element, int peer, uint32_t tag,
                             const yoke_comm_call_t *call);
yoke_status_t yoke_comm_recv(yoke_comm_t *comm, yoke_comm_buffer_t recv, uint64_t count,
                             yoke_element_t element, int peer, uint32_t tag,
                             const yoke_comm_call_t *call);

/** Calls between the two are started together and waited for by the second; the first
 *  error is returned. Groups do not nest. Calls with a request are allowed in one. */
yoke_status_t yoke_comm_group_begin(yoke_comm_t *comm);
yoke_status_t yoke_comm_group_end(yoke_comm_t *comm);

/** Advance. YOKE_ERR_NOT_READY: not ended (no message); else the call's own status, and
 *  the request is freed and set to NULL. */
yoke_status_t yoke_comm_test(yoke_comm_request_t **request);
yoke_status_t yoke_comm_wait(yoke_comm_request_t **request);

/* --- failure --------------------------------------------------------------------- */

/** YOKE_OK, or why the communicator is revoked. Threads: any. */
yoke_status_t yoke_comm_status(yoke_comm_t *comm);
/** Ranks known to have failed, ascending. @param capacity  of ranks[]
 *  @return how many there are */
int yoke_comm_failed(yoke_comm_t *comm, int *ranks, int capacity);
/** Revoke on all ranks. Threads: any. */
yoke_status_t yoke_comm_revoke(yoke_comm_t *comm);
/** Revoke, and make this rank's calls under way return within 100 ms. Threads: any. */
yoke_status_t yoke_comm_abort(yoke_comm_t *comm);
/**
 * Agree among the survivors, revoked or not: *flags becomes the bitwise "and" of what
 * they gave, and all get the same set of failed ranks (yoke_comm_failed()).
 */
yoke_status_t yoke_comm_agree(yoke_comm_t *comm, uint32_t *flags);
/** Agree, then form a communicator of the survivors, in the old order, on new resources:
 *  nothing that a failed rank still sends or writes reaches it. The old one stays
 *  revoked. */
yoke_status_t yoke_comm_shrink(yoke_comm_t *comm, yoke_comm_t **out_comm);

/* --- what it found --------------------------------------------------------------- */

/** The island of this rank: ranks that reach each other much better than the rest have
 *  one number. Islands are numbered from 0 by their lowest rank. */
int yoke_comm_island(const yoke_comm_t *comm);

/**
 * The plan of a collective as text (or JSON): islands, levels, algorithm, chunk, and
 * bytes and predicted time for each link.
 * @param collective  "all-reduce", "all-gather", ... (names of docs/comm.md)
 * @param size        bytes, as nccl-tests counts them
 * @param out_text    freed by the caller with free()
 */
yoke_status_t yoke_comm_explain(yoke_comm_t *comm, const char *collective, uint64_t size,
                                bool json, char **out_text);

/**
 * What is known of the links between the ranks, as an inventory document
 * (yoke-inventory/1, yoke/inventory.h): the ranks are its devices, "rank-0" and so on, of
 * their hosts. YOKE_COMM_TOPOLOGY takes such a file.
 * @param out_text  freed by the caller with free()
 */
yoke_status_t yoke_comm_links(yoke_comm_t *comm, char **out_text);

#ifdef __cplusplus
}
#endif
#endif
