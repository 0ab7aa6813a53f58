/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_EVALUATE_H
#define YOKE_PARTITION_EVALUATE_H

/*
 * Time and memory of one concrete layout: the only source of every time shown. The
 * search, `check`, `simulate` and `explain` all end here.
 */

#include "partition/problem.h"

typedef struct yoke_replica {
    unsigned micro_batch; /* samples of one step */
    unsigned tp;
    unsigned class_index;  /* of all its devices */
    const unsigned *slots; /* tp slot indexes, all on one host */
} yoke_replica_t;

typedef struct yoke_stage {
    unsigned first, last; /* layers, inclusive */
    yoke_recompute_t recompute;
    yoke_replica_t *replicas;
    unsigned replica_count;
} yoke_stage_t;

typedef struct yoke_pipeline {
    unsigned micro_batches; /* steps */
    yoke_stage_t *stages;
    unsigned stage_count;
} yoke_pipeline_t;

typedef struct yoke_layout {
    bool sharded_optimizer;
    yoke_pipeline_t *pipelines;
    unsigned pipeline_count;
} yoke_layout_t;

typedef struct yoke_stage_result {
    double forward, backward; /* one step; slowest replica */
    double send; /* to the next stage, one step, one direction; 0 for the last */
    double first_start, end;    /* of its compute */
    double sync;                /* gradient exchange exposed after its last backward */
    double optimizer;           /* weight update */
    yoke_memory_terms_t memory; /* of the fullest replica's device */
} yoke_stage_result_t;

typedef struct yoke_evaluation {
    double iteration_time;
    double compute_end;          /* latest end of any backward */
    yoke_stage_result_t *stages; /* all pipelines' stages one after another */
    size_t stage_count;
    size_t stage_capacity; /* of stages, for reuse */
    bool fits;
    size_t
        tightest_stage; /* index with the least (limit - predicted); worst when !fits */
} yoke_evaluation_t;

/* One recorded operation of the simulated step, for `simulate` and traces. */
typedef enum yoke_event_kind {
    YOKE_EVENT_FORWARD = 0,
    YOKE_EVENT_BACKWARD,
    YOKE_EVENT_SEND_FORWARD,
    YOKE_EVENT_SEND_BACKWARD,
    YOKE_EVENT_SYNC,
    YOKE_EVENT_OPTIMIZER
} yoke_event_kind_t;
typedef void (*yoke_event_sink_t)(void *context, unsigned pipeline, unsigned stage,
                                  yoke_event_kind_t kind, unsigned micro_batch,
                                  double start, double end);

/*
 * Cache of layer times: evaluations of one problem share it. Not locked.
 * Prefix sums over layers of forward/backward time and of bytes, per (class, tp,
 * micro_batch, recompute).
 */
typedef struct yoke_cost_cache yoke_cost_cache_t;
yoke_cost_cache_t *yoke_cost_cache_new(const yoke_problem_t *problem);
void yoke_cost_cache_free(yoke_cost_cache_t *cache);

typedef struct yoke_cost_table {
    bool possible;         /* every layer can be sharded tp ways */
    const double *forward; /* layer_count + 1 prefix sums, seconds */
    const double *backward;
    const double *parameters;  /* per rank */
    const double *activations; /* per rank and micro-batch */
    const double
        *boundary; /* of layer i at i (not a prefix sum): whole micro-batch bytes */
    const double *logits;      /* of layer i at i */
    const double *working_set; /* of layer i at i */
    const unsigned *run_end;   /* last of the equal layers that follow layer i, at i */
    double tied; /* parameters per rank that the head shares with the embedding */
    /* Measured: prefix sums of the weight update, or NULL; of a whole stage, or -1. */
    const double *update;
    double stage_update;
} yoke_cost_table_t;
/* NULL: out of memory. A table lives as long as its cache. When it is not `possible`,
 * only that is set. */
const yoke_cost_table_t *yoke_cost_cache_get(yoke_cost_cache_t *cache,
                                             unsigned class_index, unsigned tp,
                                             unsigned micro_batch,
                                             yoke_recompute_t recompute);

/* Parameters that one rank of a stage holds; a matrix shared by embedding and head once.
 */
double yoke_stage_parameters(const yoke_problem_t *problem,
                             const yoke_cost_table_t *table, const yoke_stage_t *stage);

/*
 * 1F1B by event recurrence: stage s runs min(M, P-1-s) warm-up forwards, then one forward
 * and one backward in turn, then the remaining backwards. An operation starts when its
 * stage is free and its input has arrived; a transfer starts when its producer ends and
 * the link of that boundary and direction is free; transfers do not occupy devices.
 * Arrays have `stages` entries (send: stages-1). `sink` may be NULL. out_first and
 * out_end (may be NULL): first start and last end of each stage. Returns the latest end.
 */
double yoke_simulate_1f1b(unsigned stages, unsigned micro_batches, const double *forward,
                          const double *backward, const double *send, double *out_first,
                          double *out_end, yoke_event_sink_t sink, void *context,
                          unsigned pipeline);

/* Seconds of one step of boundary traffic between two replicas (their tp groups). */
double yoke_boundary_time(const yoke_problem_t *problem, const yoke_replica_t *from,
                          const yoke_replica_t *to, double bytes);

/*
 * Evaluate. The layout must be well formed (yoke_layout_check() says so with words).
 * Result arrays belong to `out` and are reused; start with a zeroed struct, end with
 * yoke_evaluation_free(). iteration_time is set also when memory does not fit.
 */
yoke_status_t yoke_evaluate(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                            const yoke_layout_t *layout, yoke_event_sink_t sink,
                            void *context, yoke_evaluation_t *out);
void yoke_evaluation_free(yoke_evaluation_t *evaluation);

/*
 * Seconds of one step of boundary traffic between two stages: samples are laid out in
 * order over the replicas of both, every overlapping pair sends its part, the slowest
 * counts. `sample_bytes` is what one sample carries.
 */
double yoke_stage_boundary_time(const yoke_problem_t *problem, const yoke_stage_t *from,
                                const yoke_stage_t *to, double sample_bytes);

/*
 * Gradient exchange of the layers of `stage`, whole (nothing hidden): all replicas of all
 * pipelines that hold one of its layers take part. `bytes` is one rank's gradients.
 * out_ranks_min, out_ranks_max: replicas that hold a layer, least and most over its
 * layers.
 */
yoke_status_t yoke_stage_sync_time(const yoke_problem_t *problem,
                                   yoke_cost_cache_t *cache, const yoke_layout_t *layout,
                                   const yoke_stage_t *stage, double bytes,
                                   unsigned *out_ranks_min, unsigned *out_ranks_max,
                                   double *out_seconds);

/*
 * Memory terms of one device of a replica of a stage (position and in-flight count
 * given). `alone`: the pipeline has no other stage. `data_ranks` split the state of a
 * sharded optimizer: where they differ among the stage's layers, the least.
 */
void yoke_stage_memory(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                       const yoke_stage_t *stage, const yoke_replica_t *replica,
                       unsigned in_flight, unsigned data_ranks, bool sharded_optimizer,
                       bool alone, yoke_memory_terms_t *out);

#endif
