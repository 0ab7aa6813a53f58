/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_CHECK_H
#define YOKE_PARTITION_CHECK_H

/* Private to yoke_plan_check_figures(): its parts. Each adds the faults that it finds. */

#include "partition/faults.h"
#include "partition/layout.h"

/* Shards that a plan states, against the dimensions of its stages' layers. */
void yoke_check_shards(const yoke_plan_t *plan, const yoke_model_t *model,
                       yoke_faults_t *faults);

/* Against the same placement made anew: memory over its limit goes to `faults`;
 * figures that the plan states and that are no longer those of the placement, to `stale`.
 */
void yoke_check_values(const yoke_plan_t *stated, const yoke_plan_t *right,
                       yoke_faults_t *faults, yoke_faults_t *stale);

#endif
