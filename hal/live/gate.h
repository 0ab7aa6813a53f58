/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_GATE_H
#define YOKE_HAL_LIVE_GATE_H

/*
 * A gate: a queue waits for the host (YOKE_CAP_GATE). Not public: whoever closes one and
 * forgets it leaves the queue, and what ends its device's memory, waiting for ever.
 * libyoke_comm uses it to hold a queue while a call is under way.
 *
 * Threads: as yoke/device.h, but yoke_gate_open() is for any thread.
 */

#include "yoke/queue.h"

typedef struct yoke_gate yoke_gate_t;

/* Closed. Keeps its device alive.
 * @retval YOKE_ERR_UNSUPPORTED  the device has none; some say so only here */
yoke_status_t yoke_gate_create(yoke_device_t *device, yoke_gate_t **out_gate);
/* No queue is waiting for it. NULL is allowed. */
void yoke_gate_destroy(yoke_gate_t *gate);
/* Enqueue: later work of `queue`, of the gate's device, waits until it is opened. */
yoke_status_t yoke_gate_wait(yoke_queue_t *queue, yoke_gate_t *gate);
/* Once after each creation or reset. */
yoke_status_t yoke_gate_open(yoke_gate_t *gate);
/* Close it again; the queue has passed it. */
yoke_status_t yoke_gate_reset(yoke_gate_t *gate);

#endif
