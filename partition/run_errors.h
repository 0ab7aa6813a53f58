/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RUN_ERRORS_H
#define YOKE_PARTITION_RUN_ERRORS_H

/* Error of predictions against measured times, and how well they choose plans. */

#include "partition/run.h"

/* All relative: 0.1 is 10 %. */
typedef struct yoke_errors {
    size_t count;
    double mean, median, p90, bias;
    size_t pairs;  /* of one model, device count and batch that differ by over 5 % */
    double order;  /* of those, part put in the right order */
    size_t groups; /* with two runs or more */
    double regret, regret_most; /* of the run predicted to be best, over the best */
} yoke_errors_t;

/* One prediction. `group`: runs with the same number compete (same work and devices). */
typedef struct yoke_error_row {
    double predicted, measured;
    unsigned group;
} yoke_error_row_t;

/* Sorts `rows`. */
yoke_errors_t yoke_errors_of(yoke_error_row_t *rows, size_t count);

/* Do two runs the same work on the same devices? Then they compete. */
bool yoke_run_rivals(const yoke_run_t *a, const yoke_run_t *b);
/* A number for each set of rivals, in the order of the first; `out` has run_count. */
void yoke_run_groups(const yoke_run_set_t *set, unsigned *out);

/* Fit: the constants called `names` (NULL-terminated) of the runs chosen by `use`,
 * changed by common factors, so that the mean of max(predicted / measured, measured /
 * predicted) is least. Coordinate search with shrinking steps; no clock and no chance in
 * it.
 * @retval YOKE_ERR_BAD_INPUT  none of the runs has a measured time
 * @retval YOKE_ERR_USAGE      no such constant */
yoke_status_t yoke_run_fit(const yoke_run_set_t *set, const bool *use,
                           const char *const *names, yoke_constants_t *constants,
                           double *out_loss);

#endif
