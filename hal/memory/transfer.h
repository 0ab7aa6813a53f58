/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_MEMORY_TRANSFER_H
#define YOKE_HAL_MEMORY_TRANSFER_H

/* What a transfer consists of: made and ended in transfer_create.c, used in transfer.c.
 */

#include <pthread.h>
#include "hal/live/object.h"
#include "yoke/transfer.h"

#define YOKE_TRANSFER_RING 64    /* chunks under way at once */
#define YOKE_TRANSFER_COPIES 64  /* copies under way at once */
#define YOKE_TRANSFER_WAITERS 16 /* yoke_transfer_wait_event() under way at once */

typedef struct yoke_transfer_end {
    yoke_device_t *device;
    yoke_buffer_t *slots; /* pinned; NULL for peers */
    char *memory;         /* the host's address of it */
    bool gated;           /* its queues can wait for us */
} yoke_transfer_end_t;

typedef struct yoke_chunk {
    uint64_t size;
    yoke_event_t *filled;  /* of the source: its slot holds the data */
    yoke_event_t *drained; /* of the destination: the data is out of its slot */
    yoke_impl_gate_t *from_gate, *to_gate;
    bool from_gate_used, to_gate_used;     /* to be closed again */
    bool from_gate_closed, to_gate_closed; /* enqueued and not opened yet */
    bool written;                          /* the destination's half is enqueued */
    bool last;                             /* of its copy */
} yoke_chunk_t;

typedef enum yoke_waiter_state {
    YOKE_WAITER_FREE = 0,
    YOKE_WAITER_CLOSED, /* waits for `event` */
    YOKE_WAITER_OPEN    /* waits until the queue has passed */
} yoke_waiter_state_t;

typedef struct yoke_waiter {
    yoke_waiter_state_t state;
    yoke_impl_gate_t *gate;
    yoke_event_t *event;  /* the caller's */
    yoke_event_t *passed; /* on the queue, after the gate */
} yoke_waiter_t;

struct yoke_transfer {
    yoke_object_t object; /* of the destination's device */
    yoke_transfer_end_t from, to;
    char label[112]; /* "opencl:0 -> host:0" */
    bool peer;
    uint64_t slots, slot_size;
    /* Numbers of chunks: drained <= moved <= issued. */
    uint64_t issued, moved, drained;
    unsigned copies, waiting;
    yoke_status_t failed; /* YOKE_OK: it has not */
    yoke_chunk_t ring[YOKE_TRANSFER_RING];
    yoke_waiter_t waiters[YOKE_TRANSFER_WAITERS];
    pthread_mutex_t lock; /* against the thread of its own */
    pthread_cond_t work;
    pthread_t thread;
    bool has_thread, stop;
};

#pragma GCC visibility push(hidden)
static inline yoke_status_t yoke_transfer_check(const yoke_transfer_t *transfer,
                                                const char *call)
{
    return yoke_object_check_handle(YOKE_OBJECT(transfer), YOKE_OBJECT_TRANSFER, call);
}
yoke_status_t yoke_transfer_run_thread(yoke_transfer_t *transfer);
#pragma GCC visibility pop

#endif
