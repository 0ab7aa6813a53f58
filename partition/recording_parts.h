/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RECORDING_PARTS_H
#define YOKE_PARTITION_RECORDING_PARTS_H

/* A recorded trace in memory, between its reader and its replay. */

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"
#include "partition/recording.h"

typedef enum yoke_operation_kind {
    YOKE_OPERATION_LOCAL = 0, /* of one rank */
    YOKE_OPERATION_PIPELINE,  /* local, and a forward or backward */
    YOKE_OPERATION_EXCHANGE,  /* of all that have the same key */
    YOKE_OPERATION_ARRIVAL /* the receiving side of a send that its rank does not wait in
                              line for */
} yoke_operation_kind_t;

enum { YOKE_OPERATION_KEY = 5 };
#define YOKE_ANY_RANK UINT32_MAX

typedef struct yoke_operation {
    double start, end; /* seconds */
    long step;
    unsigned rank; /* index into the ranks */
    unsigned name; /* index into the names */
    /* Exchanges of one step with the same key belong together: what, its data, pipeline
     * and tensor rank (or any), number. */
    uint32_t key[YOKE_OPERATION_KEY];
    yoke_operation_kind_t kind;
} yoke_operation_t;

typedef struct yoke_recorded_rank {
    unsigned dp, pp, tp;
} yoke_recorded_rank_t;

struct yoke_recording {
    yoke_operation_t *operations;
    size_t operation_count, operation_capacity;
    yoke_recorded_rank_t *ranks;
    size_t rank_count, rank_capacity;
    yoke_strings_t names;
    size_t unknown;
};

enum {
    YOKE_MOST_RECORDED_NAMES = 64,
    YOKE_MOST_RECORDED_RANKS = 1 << 16 /* also the most of each degree */
};

/* Operations that are one: an exchange of all its ranks, or what one rank does alone. */
typedef struct yoke_recorded_event {
    size_t first, count; /* in the order of operations */
    double start;        /* recorded: when its last member came */
    double step;         /* recorded: when its step began */
    double delay;        /* from ready to start; then the typical one */
    size_t also;         /* position + 1 of what it waits for on another rank, or 0 */
} yoke_recorded_event_t;

typedef struct yoke_recorded_run {
    const yoke_recording_t *recording;
    size_t *order;           /* operations: by step, then event, then rank */
    size_t *event_of;        /* of each operation, in the order of `order` */
    size_t *waits, *wait_at; /* waits[wait_at[i] .. wait_at[i + 1]]: positions */
    size_t wait_count, wait_capacity;
    yoke_recorded_event_t *events;
    size_t event_count;
    double *ends;   /* replayed end of each, by position */
    double *speeds; /* of each operation, by position */
} yoke_recorded_run_t;

static inline const yoke_operation_t *yoke_recorded_at(const yoke_recorded_run_t *run,
                                                       size_t position)
{
    return &run->recording->operations[run->order[position]];
}

static inline bool yoke_is_exchange(const yoke_operation_t *operation)
{
    return operation->kind >= YOKE_OPERATION_EXCHANGE;
}

typedef struct yoke_recorded_span {
    double step, pipeline;
} yoke_recorded_span_t;

/* Position after the last operation of the step that begins at `first`. */
size_t yoke_recorded_step_end(const yoke_recorded_run_t *run, size_t first);
/* Length of a step, and from its first forward to its last backward, as recorded. */
yoke_recorded_span_t yoke_recorded_span(const yoke_recorded_run_t *run, size_t first,
                                        size_t end);
/* How much the recorded end of `other` lies past the recorded start of what waits for it.
 */
double yoke_recorded_overlap(const yoke_recorded_run_t *run, size_t other,
                             size_t position);

/* In this order: events, what waits for what, waits that the trace leaves out, delays. */
yoke_status_t yoke_recorded_events(yoke_recorded_run_t *run);
yoke_status_t yoke_recorded_waits(yoke_recorded_run_t *run);
yoke_status_t yoke_recorded_hidden_waits(yoke_recorded_run_t *run);
yoke_status_t yoke_recorded_delays(yoke_recorded_run_t *run);
/* Speeds of all operations, with the ranks slowed. */
yoke_status_t yoke_recorded_speeds(yoke_recorded_run_t *run,
                                   const yoke_recording_slow_t *slow, size_t slow_count);

#endif
