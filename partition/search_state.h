/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_SEARCH_STATE_H
#define YOKE_PARTITION_SEARCH_STATE_H

/* What the parts of the search share: private to search*.c. */

#include "partition/search.h"

typedef struct yoke_node_ref {
    double bound;      /* no plan of the node is faster */
    double estimate;   /* where to look first: a balanced pipeline of all groups */
    unsigned sheet;    /* index into sheets */
    unsigned replicas; /* of the model in all shapes */
} yoke_node_ref_t;

typedef struct yoke_search {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    yoke_sheet_t *sheets;   /* every (micro-batch, recomputation, degrees) that can run */
    unsigned *max_replicas; /* of each sheet, by memory */
    size_t sheet_count;
    bool truncated; /* not every combination of degrees has a sheet */
    yoke_placement_t placement;
    yoke_evaluation_t evaluation;
    uint64_t split[YOKE_MAX_STAGES]; /* of --split */
    unsigned split_count;            /* 0: none */
    uint64_t effort;                 /* left */
    uint64_t fitting;                /* candidates that fitted the memory */
    yoke_search_result_t *result;
    yoke_status_t status; /* first failure inside a callback */
} yoke_search_t;

/* Steps of all pipelines together for a sheet. */
unsigned yoke_search_steps(const yoke_search_t *search, const yoke_sheet_t *sheet);
/* Is sharding of the optimizer state on for that many replicas? */
bool yoke_search_sharded(const yoke_search_t *search, unsigned replicas);
/* A candidate of the sheet without shapes. */
void yoke_search_start(const yoke_sheet_t *sheet, yoke_candidate_t *out);
/* Evaluate and keep when better. */
void yoke_search_try(yoke_search_t *search, const yoke_candidate_t *candidate);
/* Sends between adjacent stages of the candidate's first shape as placed; false: no room.
 */
bool yoke_search_sends(yoke_search_t *search, const yoke_candidate_t *candidate,
                       unsigned shape, double *out_send);

/* Step time of a balanced pipeline on all groups, or without the slowest classes if
 * better. */
double yoke_search_estimate(const yoke_search_t *search, const yoke_sheet_t *sheet,
                            unsigned replicas);

/* search_heuristic.c: good candidates of one node with one shape, or of a sheet with two.
 */
void yoke_search_one_shape(yoke_search_t *search, yoke_sheet_t *sheet, unsigned replicas);
void yoke_search_two_shapes(yoke_search_t *search, yoke_sheet_t *sheet);
/* Cut the shapes of the best candidate, which is of this sheet, with all care. */
void yoke_search_refine(yoke_search_t *search, yoke_sheet_t *sheet);

/*
 * search_polish.c: what the closed form does not see, such as gradient exchange. Layers
 * of the best plan move, and its stages change their order, while the simulated time
 * falls.
 */
void yoke_search_polish(yoke_search_t *search);

/* search_exact.c: everything of the node that could be better. False: out of effort. */
bool yoke_search_exact_node(yoke_search_t *search, yoke_sheet_t *sheet,
                            unsigned replicas);

#endif
