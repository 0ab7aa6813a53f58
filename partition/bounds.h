/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_BOUNDS_H
#define YOKE_PARTITION_BOUNDS_H

/*
 * Lower bounds on the simulated step time. docs/planner.md derives them.
 *
 * A sheet fixes micro-batch, recomputation and the tensor-parallel degree of every class.
 * It gives every layer a reference weight and every class a speed such that no stage of a
 * class finishes a layer faster than weight / speed; the bounds then only need sums.
 */

#include "partition/shape.h"

#define YOKE_CAP_BUCKETS 64

typedef struct yoke_memory_cap yoke_memory_cap_t;

typedef struct yoke_sheet {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    unsigned micro_batch;
    yoke_recompute_t recompute;
    unsigned tp[YOKE_MAX_CLASSES];    /* 0: class not used */
    unsigned units[YOKE_MAX_CLASSES]; /* tensor groups that the class has room for */
    const yoke_cost_table_t *table[YOKE_MAX_CLASSES];
    double speed[YOKE_MAX_CLASSES]; /* reference weight per second */
    double weight;                  /* of all layers */
    double *prefix;                 /* prefix sums of the weights, layer_count + 1 */
    double max_speed;
    double phi;    /* largest forward / (forward + backward) of any decoder layer */
    double excess; /* forward time of other layers beyond phi, all together */
    yoke_memory_cap_t *caps; /* cache of memory limits, by class and in-flight count */
    size_t cap_count, cap_capacity;
    unsigned cap_buckets[YOKE_CAP_BUCKETS]; /* heads of chains, 1-based */
} yoke_sheet_t;

/* tp[] has one entry a class. False: no class can run (nothing to bound). */
bool yoke_sheet_init(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                     unsigned micro_batch, yoke_recompute_t recompute, const unsigned *tp,
                     yoke_sheet_t *out);
void yoke_sheet_free(yoke_sheet_t *sheet);

/*
 * last[i]: the last layer that a stage of the class can hold when it starts at layer i,
 * with `in_flight` micro-batches kept; i - 1 when not even layer i fits. Valid until the
 * sheet is freed; NULL: out of memory.
 */
const int *yoke_sheet_memory_cap(yoke_sheet_t *sheet, unsigned class_index,
                                 unsigned in_flight, unsigned data_ranks, bool sharded,
                                 bool alone);

/* Most replicas of the model that the memory of all devices together can hold; 0: none.
 */
unsigned yoke_sheet_max_replicas(const yoke_sheet_t *sheet, bool sharded);

/* The same by what one group can hold: whole decoder layers, one micro-batch kept. `most`
 * is an upper bound already known. */
unsigned yoke_sheet_max_replicas_by_layers(yoke_sheet_t *sheet, unsigned most,
                                           bool sharded);

/* Bound over all plans of the sheet with `replicas` pipelines in all (any shapes). */
double yoke_bound_replicas(const yoke_sheet_t *sheet, unsigned replicas);

/* Bound over all cuts of one sequence of stages; `send` has stages - 1 entries or is
 * NULL. */
double yoke_bound_sequence(const yoke_sheet_t *sheet, const uint8_t *classes,
                           unsigned stages, unsigned micro_batches, const double *send);

/* Is that bound at least `time`? Much quicker than the bound itself. */
bool yoke_bound_sequence_reaches(const yoke_sheet_t *sheet, const uint8_t *classes,
                                 unsigned stages, unsigned micro_batches,
                                 const double *send, double time);

/*
 * Bound on the step of one cut sequence (no gradient exchange, no overhead): what 1F1B
 * cannot beat whatever the order of events. Equal to the simulated end in most cases.
 */
double yoke_bound_stages(unsigned stages, unsigned micro_batches, const double *forward,
                         const double *backward, const double *send);

#endif
