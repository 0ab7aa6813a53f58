/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_CERTIFICATE_H
#define YOKE_PARTITION_CERTIFICATE_H

/* What makes a found layout a plan that can be trusted: range, sensitivity, limits,
 * words. */

#include "partition/document.h"
#include "partition/layout.h"
#include "partition/search.h"

/* Low and high step time when all rates are off by their uncertainty. */
yoke_status_t yoke_certificate_range(const yoke_problem_t *problem,
                                     const yoke_layout_t *layout, double *out_low,
                                     double *out_high);
/* Effect of each input's uncertainty alone, the largest first, at most 8. */
yoke_status_t yoke_certificate_sensitivity(const yoke_problem_t *problem,
                                           const yoke_layout_t *layout,
                                           yoke_plan_t *plan);
/* Sentence on what the step is made of; caller frees. NULL: out of memory. */
char *yoke_certificate_limit(const yoke_problem_t *problem, const yoke_layout_t *layout,
                             const yoke_evaluation_t *evaluation);
/* Devices that could have been used and are not. */
yoke_status_t yoke_certificate_unused(const yoke_problem_t *problem,
                                      const yoke_layout_t *layout, yoke_plan_t *plan);

#endif
