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

#endif
