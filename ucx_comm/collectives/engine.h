/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ENGINE_H
#define YOKE_COMM_ENGINE_H

/*
 * Runs schedules over a transport. Many runs may be under way; nothing blocks. Schedules
 * and what a run needs are kept by the shape of the call (the least recently used go
 * first), so that a call that is repeated allocates nothing.
 *
 * Threads: one at a time.
 */

#include "ucx_comm/collectives/algorithms.h"

typedef struct yoke_engine yoke_engine_t;
typedef struct yoke_run yoke_run_t;

typedef struct yoke_run_options {
    void *send, *recv; /* host memory of the regions */
    /* Of every message; `tag` is joined with the message's channel (the lower 32 bits are
     * free), so that runs do not take each other's messages. */
    yoke_signature_t signature;
    uint64_t tag;
    uint32_t timeout_ms;
    bool count_is_size; /* each message's own element count goes into its signature */
} yoke_run_options_t;

yoke_status_t yoke_engine_create(yoke_control_t *control, yoke_transport_t *transport,
                                 yoke_engine_t **out_engine);
/* Runs under way must have ended, or their messages been cancelled. */
void yoke_engine_destroy(yoke_engine_t *engine);

/* The run is the caller's until yoke_run_end(). Failures after the start are the run's.
 */
yoke_status_t yoke_engine_start(yoke_engine_t *engine, const yoke_shape_t *shape,
                                const yoke_run_options_t *options, yoke_run_t **out_run);
/*
 * Advances the transport and all runs; returns how much happened. A run that fails
 * revokes the communicator; a run that waits past its deadline has the peer that it waits
 * for suspected (yoke_control_suspect()).
 */
unsigned yoke_engine_progress(yoke_engine_t *engine);

/* YOKE_ERR_NOT_READY while under way. */
yoke_status_t yoke_run_status(const yoke_run_t *run);
/* Gives the run back; it has ended. */
void yoke_run_end(yoke_run_t *run);

/* How many schedules were built so far: those that the cache did not have. */
uint64_t yoke_engine_built(const yoke_engine_t *engine);
/* Most schedules kept. */
#define YOKE_ENGINE_CACHE 64

#endif
