/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RECORDING_H
#define YOKE_PARTITION_RECORDING_H

/*
 * A recorded trace of training steps, run again from its own operation times: is the step
 * explained by them, and what would it be if some ranks were slower or faster?
 *
 * Two forms of Chrome trace events are read, plain or compressed by gzip:
 * - per-operation traces with threads named "PP rank P, TP rank T, compute|pp-comm|
 *   tp-comm|dp-comm|misc", processes that are data-parallel ranks, and in args "step" and
 *   "seq_id" (the form of ByteDance-Seed/StragglerAnalysis, analyzer/to_timeline.py);
 * - those of `yoke simulate --trace` (threads "stage S, ...", processes are pipelines).
 *
 * What waits for what is read from the trace: an operation waits for all that had ended
 * on its rank when it started, and an exchange for all ranks that take part in it. Time
 * between operations that no operation explains (the framework's host code) is a delay of
 * its own; the typical one, the median over the steps, is used for every step.
 */

#include <stddef.h>
#include "yoke/status.h"

typedef struct yoke_recording yoke_recording_t;

/** Ranks `selector` run at `factor` times their speed. */
typedef struct yoke_recording_slow {
    const char *selector; /* "dp=0,pp=3,tp=1,op=NAME"; any part may be left out */
    double factor;        /* above 0; 0.5 is half as fast */
} yoke_recording_slow_t;

typedef struct yoke_recording_step {
    long number; /* as the trace counts */
    double recorded;
    double replayed;   /* operation times, and the typical delay between them */
    double operations; /* operation times alone */
    /* From the first forward to the last backward; the same from operation times alone.
     */
    double pipeline_recorded, pipeline_replayed;
    double changed; /* replayed, with the ranks slowed */
} yoke_recording_step_t;

typedef struct yoke_recording_rank {
    unsigned dp, pp, tp;
    /* Shares of the recorded steps; what is left is idle. */
    double compute, exchange;
} yoke_recording_rank_t;

typedef struct yoke_recording_result {
    yoke_recording_step_t *steps;
    size_t step_count;
    yoke_recording_rank_t *ranks;
    size_t rank_count;
    size_t operations, unknown; /* unknown: of a name that is not known, taken as local */
    size_t apart; /* exchanges whose members did not overlap: wrongly paired */
} yoke_recording_result_t;

/**
 * @retval YOKE_ERR_BAD_INPUT  message has file:line:column or file and JSON pointer
 * @retval YOKE_ERR_NOT_FOUND, YOKE_ERR_SYSTEM, YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_recording_read(const char *path, yoke_recording_t **out_recording);
/** From memory: JSON, or JSON compressed by gzip. */
yoke_status_t yoke_recording_parse(const char *name, const char *data, size_t size,
                                   yoke_recording_t **out_recording);
void yoke_recording_free(yoke_recording_t *recording);

/**
 * Without an operation named by its selector, a slow rank's own operations (forward,
 * backward, weight update, ...) take longer, its exchanges do not.
 * @retval YOKE_ERR_USAGE  a selector is not well formed or matches nothing
 */
yoke_status_t yoke_recording_replay(const yoke_recording_t *recording,
                                    const yoke_recording_slow_t *slow, size_t slow_count,
                                    yoke_recording_result_t *out_result);
void yoke_recording_result_free(yoke_recording_result_t *result);

#endif
