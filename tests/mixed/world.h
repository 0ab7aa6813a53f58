/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_MIXED_WORLD_H
#define YOKE_TESTS_MIXED_WORLD_H

/*
 * Devices of several vendors in one process, what lies in their memory, and a model of it
 * on the host. Operations are enqueued and change the model at once; a checkpoint waits
 * for everything and compares.
 *
 * A world is one thread's. Several worlds may share the devices.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/buffer.h"
#include "yoke/pool.h"
#include "yoke/queue.h"
#include "yoke/transfer.h"

#include "hal/cts/wrapped.h" /* the current devices around every call: current.c */

enum {
    MAX_ENDS = 16,
    QUEUES = 2,
    EVENTS = 4,
    SLOTS = 4, /* buffers of a device; the rest is from its pool */
    MAX_SLOTS = 7,
    SLOT_SIZE = 48 * 1024,
    MAX_READS = 64,
    KEPT = 256
};

/* One region of memory. */
typedef struct slot {
    yoke_span_t span;
    uint64_t size;
    unsigned char *model;
    unsigned queue; /* that used it last */
    bool used;      /* at all */
    unsigned home;  /* queue that it was allocated for, of the pool's */
    uint32_t seen;  /* queues that the pool knows of, bits */
    char *host;     /* address for the host, or NULL */
} slot_t;

typedef struct end {
    char name[32];
    yoke_device_t *device;
    yoke_device_info_t info;
    yoke_queue_t *queues[QUEUES];
    yoke_event_t *events[EVENTS];
    unsigned next_event;
    yoke_pool_t *pool;
    slot_t slots[MAX_SLOTS];
    unsigned slot_count;
} end_t;

/* A read to the host that was enqueued. */
typedef struct read_back {
    unsigned char *got, *expected;
    uint64_t size;
    const char *device;
} read_back_t;

typedef struct world {
    uint64_t random;
    end_t ends[MAX_ENDS];
    unsigned count;
    yoke_transfer_t *transfers[MAX_ENDS][MAX_ENDS];
    bool threaded[MAX_ENDS][MAX_ENDS];
    bool open[MAX_ENDS][MAX_ENDS]; /* copies under way */
    unsigned open_count, open_starts;
    read_back_t reads[MAX_READS];
    unsigned read_count;
    void *kept[KEPT]; /* host memory that queues may still read */
    unsigned kept_count;
    uint64_t done[8]; /* by operation */
    uint64_t compared;
    bool failed;
} world_t;

uint32_t world_random(world_t *world, uint32_t below);

/* Objects on devices that are open; false with a message on stdout. */
bool world_make(world_t *world, const char *const *names, yoke_device_t *const *devices,
                unsigned count, uint64_t seed);
void world_end(world_t *world);
/* Wait for all that is enqueued and compare reads; with `all`, every byte of memory. */
void world_settle(world_t *world, bool all);
/* Ended transfers: nothing of ours is needed to advance any queue. */
void world_advance(world_t *world);
/* Make `queue` of the slot's device wait for what used the slot last. */
void world_use(world_t *world, end_t *end, slot_t *slot, unsigned queue);
/* Host memory of `size` bytes that lives until everything has been waited for. */
void *world_keep(world_t *world, uint64_t size);
/* Report a status that is not YOKE_OK. */
bool world_check(world_t *world, yoke_status_t status, const char *what,
                 const end_t *end);
/* One random operation. */
void world_step(world_t *world);

#endif
