/* SPDX-License-Identifier: Apache-2.0 */
/* What limits a step, from the times that the plan states. */
#include "partition/explain.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static void look_at(const yoke_plan_t *plan, size_t p, size_t s, yoke_limit_t *limit)
{
    const yoke_plan_stage_t *stage = &plan->pipelines[p].stages[s];
    double steps = (double)plan->pipelines[p].micro_batches;
    double compute = (known(stage->forward_time) + known(stage->backward_time)) * steps /
                     plan->iteration_time;
    double sync = known(stage->sync_time) / plan->iteration_time;
    double optimizer = known(stage->optimizer_time) / plan->iteration_time;
    double send = known(stage->send_time) * steps / plan->iteration_time;
    if (compute > limit->compute) {
        limit->compute = compute;
        limit->pipeline = p;
        limit->stage = s;
    }
    if (sync > limit->sync) {
        limit->sync = sync;
        limit->sync_pipeline = p;
        limit->sync_stage = s;
    }
    if (send > limit->send) {
        limit->send = send;
        limit->send_pipeline = p;
        limit->send_stage = s;
    }
    limit->optimizer = optimizer > limit->optimizer ? optimizer : limit->optimizer;
}

bool yoke_plan_limit(const yoke_plan_t *plan, yoke_limit_t *out_limit)
{
    yoke_limit_t limit = {0};
    if (!(plan->iteration_time > 0))
        return false;
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            look_at(plan, p, s, &limit);
    if (!(limit.compute > 0))
        return false;
    double rest = 1 - limit.compute - limit.sync - limit.optimizer;
    limit.idle = rest > 0 ? rest : 0;
    *out_limit = limit;
    return true;
}

void yoke_stage_layers(const yoke_plan_stage_t *stage, yoke_text_t *out)
{
    for (size_t i = 0; i < stage->chunk_count; i++) {
        unsigned long long first = (unsigned long long)stage->chunks[i].first;
        unsigned long long last = (unsigned long long)stage->chunks[i].last;
        if (first == last)
            yoke_text_printf(out, "%s%llu", i == 0 ? "layer " : " and ", first);
        else
            yoke_text_printf(out, "%s%llu to %llu", i == 0 ? "layers " : " and ", first,
                             last);
    }
}

/* "stage 2 (layers 3 to 7 on A100-SXM4-80GB)" */
static void add_stage(const yoke_plan_t *plan, size_t p, size_t s, yoke_text_t *out)
{
    const yoke_plan_stage_t *stage = &plan->pipelines[p].stages[s];
    const char *type = NULL;
    if (stage->replica_count > 0 && stage->replicas[0].device_count > 0)
        type = stage->replicas[0].devices[0].type;
    if (plan->pipeline_count > 1)
        yoke_text_printf(out, "pipeline %zu ", p);
    yoke_text_printf(out, "stage %zu (", s);
    yoke_stage_layers(stage, out);
    yoke_text_printf(out, "%s%s)", type != NULL ? " on " : "", type != NULL ? type : "");
}

static void describe(const yoke_plan_t *plan, const yoke_limit_t *limit, yoke_text_t *out)
{
    if (limit->send > limit->compute) {
        yoke_text_add(out, "the link behind ");
        add_stage(plan, limit->send_pipeline, limit->send_stage, out);
        yoke_text_printf(out, ": its traffic takes %.1f%% of the step in each direction",
                         100 * limit->send);
    } else if (limit->compute >= limit->sync && limit->compute >= limit->idle) {
        yoke_text_add(out, "compute of ");
        add_stage(plan, limit->pipeline, limit->stage, out);
        yoke_text_printf(out, ": busy %.1f%% of the step", 100 * limit->compute);
    } else if (limit->sync >= limit->idle) {
        yoke_text_add(out, "gradient exchange of ");
        add_stage(plan, limit->sync_pipeline, limit->sync_stage, out);
        yoke_text_printf(out, ": %.1f%% of the step", 100 * limit->sync);
    } else {
        uint64_t steps = plan->pipelines[limit->pipeline].micro_batches;
        size_t stages = plan->pipelines[limit->pipeline].stage_count;
        yoke_text_printf(out,
                         "filling and draining the pipeline: %llu micro-batch%s through "
                         "%zu stage%s, and the busiest, ",
                         (unsigned long long)steps, steps == 1 ? "" : "es", stages,
                         stages == 1 ? "" : "s");
        add_stage(plan, limit->pipeline, limit->stage, out);
        yoke_text_printf(out, ", computes %.1f%% of the step", 100 * limit->compute);
    }
}

char *yoke_plan_limit_text(const yoke_plan_t *plan)
{
    yoke_limit_t limit;
    yoke_text_t text = {0};
    if (yoke_plan_limit(plan, &limit))
        describe(plan, &limit, &text);
    else
        yoke_text_add(&text, "not stated: the plan has no times");
    if (text.failed)
        yoke_text_free(&text);
    return text.data;
}
