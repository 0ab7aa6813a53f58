/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_SHAPE_H
#define YOKE_PARTITION_SHAPE_H

/*
 * A candidate plan in the search's own words, and its deterministic placement.
 *
 * The space that the search covers: every stage of a shape is one class of devices; all
 * stages of one class in one plan have the same tensor-parallel degree; a shape is
 * repeated `dp` times side by side (those replicas have equal micro-batches); a plan has
 * at most options.max_shapes shapes, which differ in their micro-batch counts;
 * micro-batch size and recomputation are one for the plan.
 */

#include "partition/evaluate.h"

#define YOKE_MAX_STAGES 256
#define YOKE_MAX_SHAPES 8
#define YOKE_MAX_CLASSES 64

typedef struct yoke_shape {
    unsigned dp;            /* replicas of this pipeline */
    unsigned micro_batches; /* steps of each */
    unsigned stages;
    uint8_t classes[YOKE_MAX_STAGES];
    uint16_t last[YOKE_MAX_STAGES]; /* last layer of each stage */
} yoke_shape_t;

typedef struct yoke_candidate {
    unsigned micro_batch;
    yoke_recompute_t recompute;
    bool sharded_optimizer;
    unsigned tp[YOKE_MAX_CLASSES]; /* per class; 0: the class is not used */
    unsigned shape_count;
    yoke_shape_t shapes[YOKE_MAX_SHAPES];
} yoke_candidate_t;

/* A layout with its own storage, reused from candidate to candidate. */
typedef struct yoke_placement {
    yoke_layout_t layout;
    yoke_pipeline_t pipelines[YOKE_MAX_SHAPES];
    yoke_stage_t *stages;
    yoke_replica_t *replicas;
    unsigned *slots;
    size_t stage_capacity, replica_capacity, slot_capacity;
    unsigned *used;  /* per (host, class): devices taken */
    unsigned *first; /* per (host, class): first slot */
} yoke_placement_t;

/*
 * Place: stages in order of falling tensor-parallel degree, then shape, then stage;
 * within a stage the replicas in order; a replica takes the first host (natural order)
 * that has enough free devices of its class. Returns false when it does not fit.
 */
yoke_status_t yoke_placement_init(const yoke_problem_t *problem, yoke_placement_t *out);
void yoke_placement_free(yoke_placement_t *placement);
bool yoke_place(const yoke_problem_t *problem, const yoke_candidate_t *candidate,
                yoke_placement_t *placement);
/* Only the layer ranges of a placed candidate changed (same shapes and degrees). */
void yoke_placement_set_cuts(const yoke_candidate_t *candidate,
                             yoke_placement_t *placement);

/* Tensor-parallel degrees that the class may use under the options, ascending. */
size_t yoke_class_degrees(const yoke_problem_t *problem, unsigned class_index,
                          unsigned *out_degrees, size_t capacity);
/* Replicas of degree tp that the class has room for. */
unsigned yoke_class_units(const yoke_class_t *class, unsigned tp);
/* Micro-batch sizes to try: the fixed one, or the divisors of the global batch up to 32,
 * of a global batch up to 128 all of them; ascending, at most `capacity`. */
size_t yoke_micro_batches(const yoke_problem_t *problem, unsigned *out, size_t capacity);

#endif
