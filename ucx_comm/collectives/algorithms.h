/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ALGORITHMS_H
#define YOKE_COMM_ALGORITHMS_H

/*
 * What a call looks like to a builder, and the builders by name.
 *
 * A rank that is one of n holds, by collective:
 *   broadcast                        the vector in RECV, on all ranks
 *   reduce, all-reduce               the vector in SEND, the result in RECV
 *   reduce-scatter                   n blocks in SEND, its own block of the result in
 * RECV all-gather, gather               its block in SEND, n blocks in RECV scatter n
 * blocks in SEND (root), its block in RECV all-to-all                       n blocks in
 * SEND, n blocks in RECV RECV does not exist on ranks that get nothing (reduce, gather:
 * all but the root), nor SEND on those that give nothing (scatter). In place SEND and
 * RECV are the same memory: the whole vector, or this rank's block of it.
 *
 * Every message of these patterns is sent, empty ones too: no rank waits for a message
 * that another one found not worth sending.
 */

#include "ucx_comm/collectives/schedule.h"
#include "ucx_comm/topology/topology.h"

typedef struct yoke_shape {
    yoke_collective_t collective;
    yoke_element_t element;
    yoke_reduction_t reduction;
    yoke_algorithm_t algorithm;
    int size, rank, root;
    bool in_place;
    uint32_t radix;  /* knomial; 0: its own */
    uint64_t chunk;  /* bytes of a segment of pipelined algorithms; 0: their own */
    uint64_t count;  /* elements of the vector, or of a block */
    uint64_t stride; /* elements from one block to the next */
    /* v-forms: of the blocks (all-to-all: those received), in elements; NULL: count and
     * stride. Both are there or none. */
    const uint64_t *counts, *displacements;
    const uint64_t *send_counts, *send_displacements; /* all-to-all's blocks in SEND */
    const yoke_topology_t *topology;                  /* NULL: unknown */
} yoke_shape_t;

/* Bytes of the vector (broadcast, reduce, all-reduce). */
uint64_t yoke_shape_bytes(const yoke_shape_t *shape);
/* Block of `rank`: bytes, and where it begins in the buffer of n blocks. */
uint64_t yoke_block_size(const yoke_shape_t *shape, int rank);
uint64_t yoke_block_offset(const yoke_shape_t *shape, int rank);
/* all-to-all: the block in SEND that goes to `rank` */
uint64_t yoke_send_size(const yoke_shape_t *shape, int rank);
uint64_t yoke_send_offset(const yoke_shape_t *shape, int rank);
/* the blocks lie one after the other without gaps, in rank order */
bool yoke_blocks_touch(const yoke_shape_t *shape);

/* Number `index` of `parts` nearly equal shares of `bytes`, which begin at elements (of
 * large vectors: at cache lines). parts + 1 offsets make all of them. */
uint64_t yoke_share_offset(const yoke_shape_t *shape, uint64_t bytes, int parts,
                           int index);

/* How many segments of about shape->chunk (or `usual`) bytes a range of `size` is cut
 * into (at least 1), and where number `index` begins; index == count gives `size`. */
uint32_t yoke_segments(const yoke_shape_t *shape, uint64_t size, uint64_t usual);
uint64_t yoke_segment_offset(const yoke_shape_t *shape, uint64_t size, uint32_t segments,
                             uint32_t index);

typedef struct yoke_builder {
    yoke_algorithm_t algorithm;
    yoke_collective_t collective;
    /* NULL: any shape. Must answer alike on all ranks of a call. */
    bool (*can)(const yoke_shape_t *shape);
    void (*build)(const yoke_shape_t *shape, yoke_schedule_t *schedule);
} yoke_builder_t;

/* One table a file; each ends with build == NULL. */
extern const yoke_builder_t yoke_linear_builders[];
extern const yoke_builder_t yoke_knomial_builders[];
extern const yoke_builder_t yoke_ring_builders[];
extern const yoke_builder_t yoke_recursive_doubling_builders[];
extern const yoke_builder_t yoke_rabenseifner_builders[];
extern const yoke_builder_t yoke_bruck_builders[];
extern const yoke_builder_t yoke_pairwise_builders[];
extern const yoke_builder_t yoke_weighted_builders[];
extern const yoke_builder_t yoke_hierarchical_builders[];

/* All tables; ends with NULL. */
extern const yoke_builder_t *const yoke_builders[];
/* NULL: none of that name does this collective (in this shape). */
const yoke_builder_t *yoke_builder_find(const yoke_shape_t *shape);
/* Build and seal. Frees on failure. */
yoke_status_t yoke_schedule_build(const yoke_shape_t *shape,
                                  yoke_schedule_t **out_schedule);

/* "all-reduce"; NULL: none */
const char *yoke_collective_name(yoke_collective_t collective);
bool yoke_collective_parse(const char *name, yoke_collective_t *out_collective);

#endif
