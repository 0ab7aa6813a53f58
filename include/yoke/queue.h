/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_QUEUE_H
#define YOKE_QUEUE_H

/**
 * Queues and events. A queue is in order: work starts when all that was enqueued before
 * it has ended. More queues give concurrency; events order them. Threads, ownership and
 * errors: yoke/device.h. Every function here may also return YOKE_ERR_DEVICE_LOST and
 * YOKE_ERR_SYSTEM.
 */

#include "yoke/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_queue yoke_queue_t;
typedef struct yoke_event yoke_event_t;

typedef struct yoke_queue_options {
    size_t struct_size;
    int32_t priority; /**< below 0: high; above 0: low; a hint (YOKE_CAP_PRIORITY) */
    uint32_t reserved;
} yoke_queue_options_t;

/** @param options  NULL: defaults */
yoke_status_t yoke_queue_create(yoke_device_t *device,
                                const yoke_queue_options_t *options,
                                yoke_queue_t **out_queue);
/** Waits for what is enqueued, unless the device is lost, then ends it. A wrapped queue
 * is neither waited for nor ended: its release callback is called. NULL is allowed. */
void yoke_queue_destroy(yoke_queue_t *queue);
yoke_device_t *yoke_queue_device(const yoke_queue_t *queue);

/** Wait until all that is enqueued has ended; errors of that work show here. */
yoke_status_t yoke_queue_sync(yoke_queue_t *queue);
/** YOKE_OK: all has ended; YOKE_ERR_NOT_READY: not yet (no message, not logged). */
yoke_status_t yoke_queue_query(yoke_queue_t *queue);

/**
 * Enqueue a copy between two buffers that the queue's device can reach: its own, pinned
 * ones of its runtime, and those of another device of its runtime where YOKE_CAP_PEER is
 * set. Buffers of two runtimes: yoke/transfer.h.
 *
 * @param size  bytes; 0 is allowed and enqueues nothing
 * Ownership: keep both buffers until the queue has passed the copy.
 * @retval YOKE_ERR_OUT_OF_RANGE  (validation) offset + size passes the end of a buffer
 * @retval YOKE_ERR_UNREACHABLE   the queue's device cannot reach one of them
 * @retval YOKE_ERR_USAGE         (validation) the two ranges overlap
 */
yoke_status_t yoke_queue_copy(yoke_queue_t *queue, yoke_span_t dst, yoke_span_t src,
                              uint64_t size);
/**
 * Enqueue a copy from ordinary host memory. The memory must stay unchanged until the
 * queue has passed it; the call may block while a runtime stages it.
 */
yoke_status_t yoke_queue_write(yoke_queue_t *queue, yoke_span_t dst, const void *src,
                               uint64_t size);
/** Enqueue a copy to ordinary host memory, which is valid once the queue has passed it.
 */
yoke_status_t yoke_queue_read(yoke_queue_t *queue, void *dst, yoke_span_t src,
                              uint64_t size);
/**
 * Enqueue a fill with a repeated pattern.
 * @param pattern       read before the call returns
 * @param pattern_size  1, 2, 4, 8 or 16 bytes
 * @param size          bytes, a multiple of pattern_size, as is dst.offset
 */
yoke_status_t yoke_queue_fill(yoke_queue_t *queue, yoke_span_t dst, const void *pattern,
                              size_t pattern_size, uint64_t size);

/**
 * Enqueue a call of a host function when the queue comes to it, on a thread of the
 * runtime (or on the caller's, before this returns, where the queue is already there). It
 * must not call Yoke or the runtime. Needs YOKE_CAP_HOST_CALL.
 */
yoke_status_t yoke_queue_host_call(yoke_queue_t *queue, void (*function)(void *context),
                                   void *context);

#define YOKE_EVENT_TIMING (1u << 0) /**< for yoke_event_elapsed() */

/** @param flags  YOKE_EVENT_*; timing needs YOKE_CAP_TIMING */
yoke_status_t yoke_event_create(yoke_device_t *device, uint32_t flags,
                                yoke_event_t **out_event);
void yoke_event_destroy(yoke_event_t *event);

/** Enqueue a mark: the event is reached when all work before it has ended. Recording
 * again moves it. The queue is of the event's device. */
yoke_status_t yoke_event_record(yoke_event_t *event, yoke_queue_t *queue);
/** YOKE_OK: reached; YOKE_ERR_NOT_READY: not yet; YOKE_ERR_USAGE: (validation) never
 *  recorded. */
yoke_status_t yoke_event_query(yoke_event_t *event);
/** Wait on the host until it is reached. */
yoke_status_t yoke_event_sync(yoke_event_t *event);
/** Enqueue a wait: later work of `queue` starts when the event, as it is recorded now, is
 *  reached. Queue and event are of one runtime; of two: yoke/transfer.h. */
yoke_status_t yoke_queue_wait(yoke_queue_t *queue, yoke_event_t *event);
/**
 * Time between two reached events with YOKE_EVENT_TIMING, by the device's clock.
 * @param out_seconds  below 0 when `end` came first
 * @retval YOKE_ERR_NOT_READY  one is not reached yet
 */
yoke_status_t yoke_event_elapsed(yoke_event_t *start, yoke_event_t *end,
                                 double *out_seconds);

#ifdef __cplusplus
}
#endif
#endif
