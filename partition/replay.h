/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_REPLAY_H
#define YOKE_PARTITION_REPLAY_H

/*
 * A plan document evaluated again on a model and a cluster: for `explain` and `simulate`,
 * which start from the document and never from the search.
 */

#include "partition/layout.h"

typedef struct yoke_replay {
    const char **exclude; /* of the problem's options */
    yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    yoke_layout_t layout;
    yoke_evaluation_t evaluation;
} yoke_replay_t;

/* Devices that run slower than the cluster document says. */
typedef struct yoke_slowdown {
    const char *selector;
    double factor; /* of speed and bandwidth, above 0: 0.5 is half as fast */
} yoke_slowdown_t;

/**
 * Resolve the plan. Model, inventory and plan must outlive the replay. A tensor group
 * runs at the pace of its slowest device, so one slow device slows its group.
 * @retval YOKE_ERR_BAD_INPUT  the plan is not well formed (first fault), a bad selector
 * @retval YOKE_ERR_USAGE      a selector of `slow` matches no device of the plan
 */
yoke_status_t yoke_replay_new(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory,
                              const yoke_slowdown_t *slow, size_t slow_count,
                              yoke_replay_t *out_replay);
/* Evaluate; `sink` may be NULL. Fills replay->evaluation. */
yoke_status_t yoke_replay_run(yoke_replay_t *replay, yoke_event_sink_t sink,
                              void *context);
void yoke_replay_free(yoke_replay_t *replay);

/**
 * The plan with its times and memory made anew; what only the search knows (bound,
 * alternatives, sensitivities, notes, devices left out) is taken over from `plan`.
 */
yoke_status_t yoke_plan_reevaluate(const yoke_plan_t *plan, const yoke_model_t *model,
                                   const yoke_inventory_t *inventory,
                                   yoke_plan_t **out_plan);

#endif
