/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_EXPLAIN_H
#define YOKE_PARTITION_EXPLAIN_H

/* A plan in words. Everything is read from the document; `model` only adds names of
 * layers. */

#include "base/text.h"
#include "yoke/plan.h"

/* What the step's time is made of, as seen by the stage that binds. Fractions of the
 * step. */
typedef struct yoke_limit {
    size_t pipeline, stage; /* the busiest stage */
    double compute;         /* it computes */
    double sync;            /* gradient exchange left exposed, of the stage with most */
    size_t sync_pipeline, sync_stage;
    double optimizer; /* weight update, of the slowest stage */
    double idle;      /* the rest: the busiest stage waits */
    double send; /* one boundary's traffic in one direction, all steps; it overlaps */
    size_t send_pipeline, send_stage;
} yoke_limit_t;
/* False: the plan does not state its times. */
bool yoke_plan_limit(const yoke_plan_t *plan, yoke_limit_t *out_limit);
/* One sentence, without a full stop; caller frees. NULL: out of memory. */
char *yoke_plan_limit_text(const yoke_plan_t *plan);

/* "layers 3 to 7", or "layer 3", by its chunks. */
void yoke_stage_layers(const yoke_plan_stage_t *stage, yoke_text_t *out);

/* The whole explanation, at most `width` columns (0: 80). */
void yoke_plan_explain(const yoke_plan_t *plan, const yoke_model_t *model, size_t width,
                       yoke_text_t *out);

#endif
