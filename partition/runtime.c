/* SPDX-License-Identifier: Apache-2.0 */
/* Does a layout keep the rules of a runtime? One small function a rule. */
#include "partition/runtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef struct checker {
    const yoke_runtime_t *runtime;
    const yoke_problem_t *problem;
    const yoke_layout_t *layout;
    char *why; /* NULL: nobody asks */
    size_t size;
} checker_t;

static bool broken(const checker_t *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool broken(const checker_t *at, const char *format, ...)
{
    if (at->why != NULL && at->size > 0) {
        va_list args;
        va_start(args, format);
        yoke_vsnprintf(at->why, at->size, format, args);
        va_end(args);
    }
    return false;
}

static const yoke_class_t *class_of(const checker_t *at, const yoke_replica_t *replica)
{
    return &at->problem->classes[replica->class_index];
}

static const char *vendor_of(const checker_t *at, const yoke_replica_t *replica)
{
    const char *vendor = class_of(at, replica)->device->vendor;
    return vendor != NULL ? vendor : "unknown";
}

/* Calls for every replica in the order of the ranks: stage by stage, all pipelines. */
typedef bool (*visit_t)(const checker_t *at, void *context, unsigned stage,
                        const yoke_replica_t *replica);

static bool each_replica(const checker_t *at, visit_t visit, void *context)
{
    unsigned stages = 0;
    for (unsigned p = 0; p < at->layout->pipeline_count; p++)
        if (at->layout->pipelines[p].stage_count > stages)
            stages = at->layout->pipelines[p].stage_count;
    for (unsigned s = 0; s < stages; s++)
        for (unsigned p = 0; p < at->layout->pipeline_count; p++) {
            const yoke_pipeline_t *pipeline = &at->layout->pipelines[p];
            for (unsigned r = 0;
                 s < pipeline->stage_count && r < pipeline->stages[s].replica_count; r++)
                if (!visit(at, context, s, &pipeline->stages[s].replicas[r]))
                    return false;
        }
    return true;
}

static const yoke_replica_t *first_replica(const checker_t *at, unsigned stage)
{
    return &at->layout->pipelines[0].stages[stage].replicas[0];
}

static unsigned last_stage(const checker_t *at)
{
    return at->layout->pipelines[0].stage_count - 1;
}

/* --- the rules -----------------------------------------------------------------------
 */

static bool equal_pipelines(const checker_t *at)
{
    const yoke_pipeline_t *first = &at->layout->pipelines[0];
    for (unsigned p = 1; p < at->layout->pipeline_count; p++) {
        const yoke_pipeline_t *other = &at->layout->pipelines[p];
        if (other->stage_count != first->stage_count ||
            other->micro_batches != first->micro_batches)
            return broken(at,
                          "pipeline %u has %u stages and %u micro-batches, pipeline 0 "
                          "%u and %u",
                          p, other->stage_count, other->micro_batches, first->stage_count,
                          first->micro_batches);
        for (unsigned s = 0; s < first->stage_count; s++)
            if (other->stages[s].first != first->stages[s].first ||
                other->stages[s].last != first->stages[s].last)
                return broken(at,
                              "stage %u holds layers %u-%u in pipeline %u, %u-%u in "
                              "pipeline 0",
                              s, other->stages[s].first, other->stages[s].last, p,
                              first->stages[s].first, first->stages[s].last);
    }
    return true;
}

static bool visit_degree(const checker_t *at, void *context, unsigned stage,
                         const yoke_replica_t *replica)
{
    const yoke_replica_t *model = context;
    return replica->tp == model->tp ||
           broken(at, "stage %u has tensor degree %u, stage 0 has %u", stage, replica->tp,
                  model->tp);
}

static bool equal_tensor_degree(const checker_t *at)
{
    yoke_replica_t model = *first_replica(at, 0);
    return each_replica(at, visit_degree, &model);
}

static bool visit_micro_batch(const checker_t *at, void *context, unsigned stage,
                              const yoke_replica_t *replica)
{
    const yoke_replica_t *model = context;
    return replica->micro_batch == model->micro_batch ||
           broken(at,
                  "a replica of stage %u takes micro-batches of %u samples, one of "
                  "stage 0 %u",
                  stage, replica->micro_batch, model->micro_batch);
}

static bool equal_data_degree(const checker_t *at)
{
    yoke_replica_t model = *first_replica(at, 0);
    for (unsigned p = 0; p < at->layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &at->layout->pipelines[p];
        for (unsigned s = 1; s < pipeline->stage_count; s++)
            if (pipeline->stages[s].replica_count != pipeline->stages[0].replica_count)
                return broken(at, "stage %u has %u replicas, stage 0 has %u", s,
                              pipeline->stages[s].replica_count,
                              pipeline->stages[0].replica_count);
    }
    return each_replica(at, visit_micro_batch, &model);
}

static bool equal_recompute(const checker_t *at)
{
    const yoke_recompute_t wanted = at->layout->pipelines[0].stages[0].recompute;
    for (unsigned p = 0; p < at->layout->pipeline_count; p++)
        for (unsigned s = 0; s < at->layout->pipelines[p].stage_count; s++) {
            yoke_recompute_t other = at->layout->pipelines[p].stages[s].recompute;
            if (other != wanted)
                return broken(at, "stage %u recomputes %s, stage 0 %s", s,
                              yoke_recompute_name(other), yoke_recompute_name(wanted));
        }
    return true;
}

static bool visit_vendor(const checker_t *at, void *context, unsigned stage,
                         const yoke_replica_t *replica)
{
    const char *first = vendor_of(at, context), *other = vendor_of(at, replica);
    return strcmp(first, other) == 0 ||
           broken(at, "stage %u is on devices of %s, stage 0 on those of %s", stage,
                  other, first);
}

static bool one_vendor(const checker_t *at)
{
    yoke_replica_t model = *first_replica(at, 0);
    return each_replica(at, visit_vendor, &model);
}

static bool one_type_a_stage(const checker_t *at)
{
    for (unsigned p = 0; p < at->layout->pipeline_count; p++)
        for (unsigned s = 0; s < at->layout->pipelines[p].stage_count; s++) {
            const yoke_stage_t *stage = &at->layout->pipelines[p].stages[s];
            const char *type = class_of(at, first_replica(at, s))->type;
            for (unsigned r = 0; r < stage->replica_count; r++)
                if (strcmp(class_of(at, &stage->replicas[r])->type, type) != 0)
                    return broken(at, "stage %u has replicas on %s and on %s", s, type,
                                  class_of(at, &stage->replicas[r])->type);
        }
    return true;
}

static bool types_together(const checker_t *at)
{
    for (unsigned s = 2; s <= last_stage(at); s++) {
        const char *type = class_of(at, first_replica(at, s))->type;
        if (strcmp(class_of(at, first_replica(at, s - 1))->type, type) == 0)
            continue;
        for (unsigned before = 0; before + 1 < s; before++)
            if (strcmp(class_of(at, first_replica(at, before))->type, type) == 0)
                return broken(at,
                              "stages %u and %u are on %s, and another type stands "
                              "between them",
                              before, s, type);
    }
    return true;
}

/* Types and last ranks by host. */
typedef struct host_state {
    const char **type;
    unsigned *seen; /* 1 + number of the run of ranks on it, 0: none */
    unsigned host, run;
} host_state_t;

static bool visit_host_type(const checker_t *at, void *context, unsigned stage,
                            const yoke_replica_t *replica)
{
    host_state_t *state = context;
    unsigned host = at->problem->slots[replica->slots[0]].host;
    const char *type = class_of(at, replica)->type;
    if (state->type[host] == NULL)
        state->type[host] = type;
    return strcmp(state->type[host], type) == 0 ||
           broken(at, "%s gives devices of %s and, to stage %u, of %s",
                  at->problem->hosts[host], state->type[host], stage, type);
}

static bool visit_host_order(const checker_t *at, void *context, unsigned stage,
                             const yoke_replica_t *replica)
{
    host_state_t *state = context;
    unsigned host = at->problem->slots[replica->slots[0]].host;
    if (state->run == 0 || host != state->host) {
        if (state->seen[host] != 0)
            return broken(at,
                          "the devices of %s are used again in stage %u, after those "
                          "of another host",
                          at->problem->hosts[host], stage);
        state->run++;
        state->host = host;
        state->seen[host] = state->run;
    }
    return true;
}

static bool walk_hosts(const checker_t *at, visit_t visit)
{
    host_state_t state = {0};
    state.type = calloc(at->problem->host_count + 1, sizeof *state.type);
    state.seen = calloc(at->problem->host_count + 1, sizeof *state.seen);
    bool kept =
        state.type != NULL && state.seen != NULL && each_replica(at, visit, &state);
    free(state.type);
    free(state.seen);
    return kept;
}

static bool one_type_a_host(const checker_t *at)
{
    return walk_hosts(at, visit_host_type);
}

static bool hosts_in_order(const checker_t *at)
{
    return walk_hosts(at, visit_host_order);
}

static unsigned count_kind(const checker_t *at, const yoke_stage_t *stage,
                           yoke_layer_kind_t kind)
{
    unsigned count = 0;
    for (unsigned l = stage->first; l <= stage->last; l++)
        count += at->problem->model->layers[l].kind == kind;
    return count;
}

static bool decoders_in_every_stage(const checker_t *at)
{
    for (unsigned s = 0; s <= last_stage(at); s++)
        if (count_kind(at, &at->layout->pipelines[0].stages[s], YOKE_LAYER_DECODER) == 0)
            return broken(at, "stage %u holds no decoder layer", s);
    return true;
}

static bool tied_ends_equal(const checker_t *at)
{
    const yoke_stage_t *last = &at->layout->pipelines[0].stages[last_stage(at)];
    unsigned begin = first_replica(at, 0)->tp, end = last->replicas[0].tp;
    if (!at->problem->model->tied && count_kind(at, last, YOKE_LAYER_PREDICTION) == 0)
        return true;
    return begin == end || broken(at,
                                  "the head shares the embedding's matrix, and the "
                                  "first stage has tensor degree %u, the last %u",
                                  begin, end);
}

static bool prediction_layers(const checker_t *at)
{
    unsigned holders = 0;
    for (unsigned s = 0; s <= last_stage(at); s++) {
        unsigned count =
            count_kind(at, &at->layout->pipelines[0].stages[s], YOKE_LAYER_PREDICTION);
        holders += count > 0;
        if (holders > 1 || (count > 0 && s == 0 && last_stage(at) > 0))
            return broken(at, "stage %u holds extra prediction layers", s);
    }
    return true;
}

static bool always(const checker_t *at)
{
    (void)at; /* layouts have one chunk a stage */
    return true;
}

static bool replicas_shard(const checker_t *at)
{
    unsigned replicas = 0;
    for (unsigned p = 0; p < at->layout->pipeline_count; p++)
        replicas += at->layout->pipelines[p].stages[0].replica_count;
    bool alone = last_stage(at) == 0 && first_replica(at, 0)->tp == 1;
    return replicas == 1 || alone || at->layout->sharded_optimizer ||
           broken(at,
                  "%u replicas keep whole optimizer states beside tensor or pipeline "
                  "parallelism",
                  replicas);
}

static bool (*const checks[YOKE_RULE_COUNT])(const checker_t *at) = {
    equal_pipelines,
    equal_tensor_degree,
    equal_data_degree,
    equal_recompute,
    one_vendor,
    one_type_a_stage,
    types_together,
    one_type_a_host,
    hosts_in_order,
    decoders_in_every_stage,
    tied_ends_equal,
    prediction_layers,
    always,
    always,
    replicas_shard};

/* --- all of them ---------------------------------------------------------------------
 */

bool yoke_runtime_takes_job(const yoke_runtime_t *runtime,
                            const yoke_plan_options_t *options, char *why, size_t size)
{
    checker_t at = {.why = why, .size = size};
    if (!runtime->dtypes[options->dtype])
        return broken(&at, "%s does not train in %s", runtime->title,
                      yoke_dtype_name(options->dtype));
    if (!runtime->optimizers[options->optimizer])
        return broken(&at, "%s has no run with optimizer %s", runtime->title,
                      yoke_optimizer_name(options->optimizer));
    return true;
}

static bool takes_recompute(const checker_t *at)
{
    for (unsigned p = 0; p < at->layout->pipeline_count; p++)
        for (unsigned s = 0; s < at->layout->pipelines[p].stage_count; s++) {
            yoke_recompute_t level = at->layout->pipelines[p].stages[s].recompute;
            if (level >= YOKE_RECOMPUTE_AUTO || !at->runtime->recompute[level])
                return broken(at, "stage %u recomputes %s, which %s cannot", s,
                              yoke_recompute_name(level), at->runtime->title);
        }
    return true;
}

bool yoke_runtime_allows(const yoke_runtime_t *runtime, const yoke_problem_t *problem,
                         const yoke_layout_t *layout, char *why, size_t size,
                         yoke_runtime_rule_t *out_rule)
{
    checker_t at = {runtime, problem, layout, why, size};
    yoke_runtime_rule_t rule = YOKE_RULE_COUNT;
    bool kept = yoke_runtime_takes_job(runtime, &problem->options, why, size) &&
                takes_recompute(&at);
    for (size_t i = 0; kept && i < YOKE_RULE_COUNT; i++)
        if (runtime->because[i] != NULL && !checks[i](&at)) {
            rule = (yoke_runtime_rule_t)i;
            kept = false;
        }
    if (!kept && out_rule != NULL)
        *out_rule = rule;
    return kept;
}
