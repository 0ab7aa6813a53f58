/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_SEARCH_H
#define YOKE_PARTITION_SEARCH_H

/*
 * The search over candidates (space: shape.h). Best-first over (micro-batch,
 * recomputation, degrees, replicas) by lower bound; heuristics find a good plan, then an
 * exact enumeration runs as far as the effort goes. Every time compared is the
 * evaluator's.
 */

#include "partition/cut.h"

typedef struct yoke_search_result {
    bool found;
    yoke_candidate_t best;
    double time;
    bool complete;       /* the whole space was searched: no better plan in it */
    double bound;        /* no plan of the space is faster (family bound of bounds.h) */
    const char *binding; /* what the bound is made of; static text */
    uint64_t evaluated;  /* candidates evaluated */
    /* Why nothing was found: the nearest miss. */
    bool have_miss;
    double miss_needed, miss_limit; /* bytes of the fullest device of the nearest miss */
    unsigned miss_class, miss_stage;
} yoke_search_result_t;

#define YOKE_ALL_CLASSES UINT64_MAX

/* Search on the classes of the bit set `classes`. `result` is plain data. */
yoke_status_t yoke_search(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                          uint64_t classes, yoke_search_result_t *out_result);

/* The same on every set of classes that the problem's runtime lets stand together. */
yoke_status_t yoke_search_all(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                              yoke_search_result_t *out_result);

/* The best even split: all devices alike, one degree, layers cut evenly, every device
 * used. */
yoke_status_t yoke_search_even(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                               yoke_search_result_t *out_result);

/* Evaluate a candidate; fits and time. YOKE_OK with *out_placed false when devices lack.
 */
yoke_status_t yoke_candidate_evaluate(const yoke_problem_t *problem,
                                      yoke_cost_cache_t *cache,
                                      const yoke_candidate_t *candidate,
                                      yoke_placement_t *placement,
                                      yoke_evaluation_t *evaluation, bool *out_placed);

#endif
