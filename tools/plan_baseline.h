/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_PLAN_BASELINE_H
#define YOKE_TOOLS_PLAN_BASELINE_H

/* `yoke plan --baseline`: the user's present run beside the plan. */

#include "tools/inputs.h"

typedef struct yoke_baseline {
    yoke_plan_t *plan;   /* NULL: none was asked for */
    double measured;     /* seconds of a step, from the log; 0: not given */
    unsigned iterations; /* of the log */
} yoke_baseline_t;

/* Read and predict it. What the command line leaves open of the job (batch, sequence,
 * data type, optimizer) is taken from it, so that like is compared with like. */
yoke_status_t yoke_baseline_read(const yoke_args_t *args, const yoke_model_t *model,
                                 const yoke_inventory_t *inventory,
                                 yoke_plan_options_t *options,
                                 yoke_baseline_t *out_baseline);
/* As one of the plan's alternatives. */
yoke_status_t yoke_baseline_add(const yoke_args_t *args, const yoke_baseline_t *baseline,
                                yoke_plan_t *plan);

#endif
