/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TRANSFER_H
#define YOKE_TRANSFER_H

/**
 * Copies between devices of different runtimes, by way of pinned slots on the host.
 *
 * A transfer object belongs to one ordered pair of devices and has its slots, events and
 * gates from the start: starting a copy allocates nothing. Copies keep the order of both
 * queues: the source is read when `from_queue` comes to it, and what is enqueued on
 * `to_queue` later sees the data. How each end waits is chosen by what its runtime has:
 *
 *   same runtime, YOKE_CAP_PEER       one copy and an event; no slots
 *   source: any                       reads into slots, each followed by an event
 *   destination: YOKE_CAP_GATE        writes enqueued behind gates that open as slots
 * fill destination: no gate              start() itself drives the copy to its end
 *   source: more chunks than slots    later reads behind gates; without YOKE_CAP_GATE
 * start() itself drives
 *
 * A copy advances when somebody calls yoke_transfer_poll() or _wait(), or on a thread
 * that was asked for. Without either, waiting for `to_queue` waits for ever; so may
 * ending buffers and pools of its device, since some runtimes wait for the whole device
 * then.
 *
 * Threads: one thread at a time uses a transfer, besides its own. Ownership and errors:
 * yoke/device.h.
 */

#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_transfer yoke_transfer_t;

#define YOKE_TRANSFER_THREAD (1u << 0) /**< make one thread that advances it */

typedef struct yoke_transfer_options {
    size_t struct_size;
    uint32_t flags;     /**< YOKE_TRANSFER_* */
    uint32_t slots;     /**< default 4 */
    uint64_t slot_size; /**< bytes, default 4 MiB */
} yoke_transfer_options_t;

/** @param options  NULL: defaults */
yoke_status_t yoke_transfer_create(yoke_device_t *from, yoke_device_t *to,
                                   const yoke_transfer_options_t *options,
                                   yoke_transfer_t **out_transfer);
/** Waits for copies that were started, as far as no device is lost. NULL is allowed. */
void yoke_transfer_destroy(yoke_transfer_t *transfer);

/**
 * Start a copy of `size` bytes.
 * @param to, from              spans on the two devices; kept until the copy has ended
 * @param to_queue, from_queue  queues of the two devices
 * When more than 64 chunks of a slot's size are under way it advances this transfer, and
 * waits, until there is room: advance the others first where this one stands behind them.
 * @retval YOKE_ERR_NOT_READY   too many copies are under way (64): poll or wait first
 */
yoke_status_t yoke_transfer_start(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                  yoke_span_t to, yoke_queue_t *from_queue,
                                  yoke_span_t from, uint64_t size);
/** Advance without waiting. YOKE_OK: all copies have ended; YOKE_ERR_NOT_READY: not all.
 *  A failure of one end opens all gates, so that no queue is left stuck; the data of
 * copies that were under way is then undefined, and the transfer takes no more. */
yoke_status_t yoke_transfer_poll(yoke_transfer_t *transfer);
/** Advance until all have ended. */
yoke_status_t yoke_transfer_wait(yoke_transfer_t *transfer);

/** How the two ends wait: "peer", "gated", "driven" (start() itself drives). Static. */
const char *yoke_transfer_method(const yoke_transfer_t *transfer);

/**
 * Make `queue` wait for an event of another runtime: a gate that opens when the event is
 * reached. Advanced as copies are.
 * @retval YOKE_ERR_UNSUPPORTED  the queue's runtime has no gates
 */
yoke_status_t yoke_transfer_wait_event(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                       yoke_event_t *from_event);

#ifdef __cplusplus
}
#endif
#endif
