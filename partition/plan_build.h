/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PLAN_BUILD_H
#define YOKE_PARTITION_PLAN_BUILD_H

/* Private to yoke_plan_from_layout(): its parts. */

#include "partition/document.h"
#include "partition/layout.h"

typedef struct builder {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    const yoke_layout_t *layout;
    const yoke_evaluation_t *evaluation;
    yoke_plan_t *plan;
} builder_t;

/* One stage of the layout. */
typedef struct place {
    const yoke_pipeline_t *pipeline;
    const yoke_stage_t *stage;
    unsigned index;
} place_t;

/* Replicas of all pipelines that hold a layer. */
uint64_t yoke_layout_layer_ranks(const yoke_layout_t *layout, unsigned layer);
/* Model FLOPs of one sample on layers first..last, forward and backward. */
double yoke_layout_layer_flops(const yoke_problem_t *problem, unsigned first,
                               unsigned last);

/* The two-factor match of every type of device. */
yoke_status_t yoke_plan_build_matches(const builder_t *build);
/* Tensor, data and pipeline groups. */
yoke_status_t yoke_plan_build_groups(const builder_t *build);

#endif
