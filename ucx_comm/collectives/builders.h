/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_BUILDERS_H
#define YOKE_COMM_BUILDERS_H

/* What the files of builders share. */

#include <stdlib.h>
#include "ucx_comm/collectives/algorithms.h"

#define IN_SEND(offset) yoke_range(YOKE_REGION_SEND, (offset))
#define IN_RECV(offset) yoke_range(YOKE_REGION_RECV, (offset))
#define IN_SCRATCH(offset) yoke_range(YOKE_REGION_SCRATCH, (offset))

/* Channels of the phases of one algorithm; the schedule numbers them anew. */
#define PHASE(n) ((uint32_t)(n) << 28)

/* Segments of a pipeline that are under way at once. */
#define WINDOW 4

/* Offsets of scratch blocks. */
static inline uint64_t yoke_round_line(uint64_t size)
{
    return (size + 63) / 64 * 64;
}

/* n steps, all -1; NULL: the schedule says that memory is out. */
yoke_step_t *yoke_steps_new(yoke_schedule_t *schedule, uint64_t n);

/* This rank's part of an all-gather of the blocks of RECV by a ring over `size` places:
 * block i belongs to place i; ready[i * segments + s] comes to hold the step after which
 * segment s of block i is in RECV (own ones: given). `rank_of` maps places to ranks. */
typedef struct yoke_ring {
    int size, place;
    int previous, next; /* ranks */
    uint32_t phase, segments;
    yoke_step_t *ready;
    uint64_t (*offset)(const void *context, int place, uint32_t segment);
    const void *context;
} yoke_ring_t;
void yoke_ring_all_gather(const yoke_ring_t *ring, yoke_schedule_t *schedule);

/* The root's parts by place (rank - root) mod size, scattered over a binomial tree into
 * RECV at the same offsets: part i lies in offset(shape, i) .. offset(shape, i + 1).
 * Returns the step after which this rank's own part is there (-1: from the start). */
yoke_step_t yoke_tree_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule,
                              uint32_t phase,
                              uint64_t (*offset)(const yoke_shape_t *shape, int place));

/* How many places, itself too, a place of that tree stands over. */
int yoke_tree_below(const yoke_shape_t *shape, int place);

#endif
