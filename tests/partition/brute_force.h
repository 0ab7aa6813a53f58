/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_BRUTE_FORCE_H
#define YOKE_TESTS_PARTITION_BRUTE_FORCE_H

/*
 * The planner's oracle: every candidate of the space of docs/planner.md, one after
 * another, each timed by the evaluator. Written from that page, not from the search; it
 * shares with the planner the meaning of a candidate (partition/shape.h) and the
 * evaluator, nothing else.
 */

#include "partition/shape.h"

/* Candidates in the space; stops counting above `limit`. */
uint64_t brute_force_count(const yoke_problem_t *problem, uint64_t limit);

typedef struct brute_force_result {
    uint64_t evaluated;
    uint64_t fitting; /* of these, whose memory fits */
    bool found;
    double time;
    yoke_candidate_t best; /* the first that has this time */
    double fastest_unfit;  /* least time of those that do not fit; 0: all fit */
} brute_force_result_t;

/* The minimum. Ends the test on a failure of the evaluator. */
void brute_force(const yoke_problem_t *problem, brute_force_result_t *out_result);

#endif
