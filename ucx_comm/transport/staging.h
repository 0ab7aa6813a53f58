/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_STAGING_H
#define YOKE_COMM_STAGING_H

/*
 * Host memory in place of device memory, for one call. UCX and our shared-memory path
 * move host memory; where a call's buffers are spans, a stage brings what is sent to the
 * host, and what was received back, in the order of a queue:
 *
 *   yoke_stage_begin()    queue: copies of the input in pieces, each followed by an
 * event; [gate]; copies of the output yoke_stage_arrived()  how much of the input is
 * there yoke_stage_finish()   the collective has ended: the gate is opened
 *   yoke_stage_poll()     until the output is where it belongs
 *   yoke_stage_end()
 *
 * So later work of the queue waits for the call, and no thread waits for anything.
 * Without YOKE_CAP_GATE (yoke_stage_gated() says), the output is enqueued by finish():
 * then the caller must not enqueue anything between begin() and finish(), that is, the
 * call itself waits.
 *
 * Spans that the host can reach (host backend, HOST and SHARED buffers) are not copied;
 * the queue is ordered all the same.
 *
 * Threads: one at a time a staging object and its stages; the queue is used by begin()
 * and finish(), as yoke/queue.h says. Nothing here blocks but begin(), where a runtime
 * without pinned memory copies in the call.
 */

#include "yoke/comm.h"

typedef struct yoke_staging yoke_staging_t; /* of one device; keeps pinned memory, events
                                               and gates for the next stages */
typedef struct yoke_stage yoke_stage_t;     /* of one call */

yoke_status_t yoke_staging_create(yoke_device_t *device, yoke_staging_t **out_staging);
/* Stages that have not ended are given up: their gates are opened, and their memory goes
 * as soon as no queue uses it, at the latest with the process. NULL is allowed. */
void yoke_staging_destroy(yoke_staging_t *staging);

/* Bytes of a buffer that are written. */
typedef struct yoke_stage_range {
    uint64_t offset, size;
} yoke_stage_range_t;

typedef struct yoke_stage_call {
    yoke_queue_t *queue; /* of the staging's device; NULL: the buffers are ready, and
                            poll() is what later work waits for */
    yoke_comm_buffer_t send, recv; /* either may be host memory, or nothing (size 0) */
    uint64_t send_size, recv_size; /* bytes */
    /* What of recv is written; NULL: all of it. Copied. The rest of a span is left as it
     * is. */
    const yoke_stage_range_t *ranges;
    size_t range_count;
    /* In place with data that the call reads in recv itself is found by comparing the
     * spans: send may lie within recv, or recv within send. */
} yoke_stage_call_t;

/* Calls without any span, and without a queue, are not for this. */
yoke_status_t yoke_stage_begin(yoke_staging_t *staging, const yoke_stage_call_t *call,
                               yoke_stage_t **out_stage);
/* Where the collective reads and writes. Valid from begin() to end(). */
void *yoke_stage_send(const yoke_stage_t *stage);
void *yoke_stage_recv(const yoke_stage_t *stage);
/* The queue waits by a gate: begin() may return to the caller's caller. */
bool yoke_stage_gated(const yoke_stage_t *stage);

/* YOKE_OK: the queue has come to the call, and all of send is there;
 * YOKE_ERR_NOT_READY: not yet (*out_bytes of it are). out_bytes may be NULL. */
yoke_status_t yoke_stage_arrived(yoke_stage_t *stage, uint64_t *out_bytes);
/* The collective has ended with `result`; later work of the queue may go on. With another
 * result than YOKE_OK the content of recv is undefined. Also allowed before all of send
 * has arrived. */
yoke_status_t yoke_stage_finish(yoke_stage_t *stage, yoke_status_t result);
/* After finish(). YOKE_OK: nothing of the call is under way; YOKE_ERR_NOT_READY. */
yoke_status_t yoke_stage_poll(yoke_stage_t *stage);
/* After finish(); what is still under way is kept until it has passed. */
void yoke_stage_end(yoke_stage_t *stage);

#endif
