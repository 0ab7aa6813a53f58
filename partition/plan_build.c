/* SPDX-License-Identifier: Apache-2.0 */
/* The plan document of an evaluated layout: placement, times, memory, totals. */
#include "partition/plan_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/explain.h"
#include "partition/plan_digest.h"
#include "partition/runtime.h"

#define TRY(step)                                                                        \
    do {                                                                                 \
        yoke_status_t try_status = (step);                                               \
        if (try_status != YOKE_OK)                                                       \
            return try_status;                                                           \
    } while (0)

/* --- placement ------------------------------------------------------------------------
 */

uint64_t yoke_layout_layer_ranks(const yoke_layout_t *layout, unsigned layer)
{
    uint64_t ranks = 0;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++) {
            const yoke_stage_t *stage = &layout->pipelines[p].stages[s];
            if (layer >= stage->first && layer <= stage->last)
                ranks += stage->replica_count;
        }
    return ranks;
}

/* Replicas among which the optimizer state of the stage is split: those of its least
 * replicated layer. */
static unsigned least_ranks(const yoke_layout_t *layout, const yoke_stage_t *stage)
{
    uint64_t least = UINT_MAX;
    for (unsigned i = stage->first; i <= stage->last; i++) {
        uint64_t ranks = yoke_layout_layer_ranks(layout, i);
        least = ranks < least ? ranks : least;
    }
    return (unsigned)least;
}

static yoke_status_t add_shards(const builder_t *build, const yoke_stage_t *stage,
                                unsigned rank, unsigned tp, yoke_plan_device_t *device)
{
    yoke_extent_t extents[YOKE_EXTENT_MAX];
    size_t count =
        yoke_layer_extents(build->problem->model, stage->first, stage->last, tp, extents);
    for (size_t i = 0; i < count; i++) {
        uint64_t begin, end;
        yoke_extent_range(&extents[i], rank, tp, &begin, &end);
        if (yoke_device_add_shard(device, extents[i].dimension, begin, end) == NULL)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

static yoke_status_t add_device(const builder_t *build, const yoke_stage_t *stage,
                                const yoke_replica_t *from, unsigned rank,
                                const yoke_memory_terms_t *memory,
                                yoke_plan_replica_t *to)
{
    char *name = yoke_problem_slot_name(build->problem, from->slots[rank]);
    yoke_plan_device_t *device = name != NULL ? yoke_replica_add_device(to, name) : NULL;
    free(name);
    if (device == NULL)
        return yoke_fail_memory();
    device->memory = *memory;
    TRY(yoke_plan_set_string(&device->type,
                             build->problem->classes[from->class_index].type));
    return add_shards(build, stage, rank, from->tp, device);
}

static yoke_status_t add_replica(const builder_t *build, const place_t *at,
                                 unsigned index, yoke_plan_stage_t *to_stage)
{
    const yoke_replica_t *from = &at->stage->replicas[index];
    yoke_plan_replica_t *to = yoke_stage_add_replica(to_stage);
    if (to == NULL)
        return yoke_fail_memory();
    to->micro_batch = from->micro_batch;
    to->tp = from->tp;
    to->share = (double)from->micro_batch * (double)at->pipeline->micro_batches /
                (double)build->problem->options.global_batch;
    unsigned behind = at->pipeline->stage_count - at->index;
    unsigned steps = at->pipeline->micro_batches;
    yoke_memory_terms_t memory;
    yoke_stage_memory(
        build->problem, build->cache, at->stage, from, behind < steps ? behind : steps,
        least_ranks(build->layout, at->stage), build->layout->sharded_optimizer,
        at->pipeline->stage_count == 1, &memory);
    for (unsigned rank = 0; rank < from->tp; rank++)
        TRY(add_device(build, at->stage, from, rank, &memory, to));
    return YOKE_OK;
}

static yoke_status_t add_stage(const builder_t *build, const place_t *at,
                               const yoke_stage_result_t *result,
                               yoke_plan_pipeline_t *to)
{
    yoke_plan_stage_t *stage = yoke_pipeline_add_stage(to);
    if (stage == NULL ||
        yoke_stage_add_chunk(stage, at->stage->first, at->stage->last) == NULL)
        return yoke_fail_memory();
    stage->recompute = at->stage->recompute;
    stage->forward_time = result->forward;
    stage->backward_time = result->backward;
    stage->send_time = result->send;
    stage->sync_time = result->sync;
    stage->optimizer_time = result->optimizer;
    stage->busy = (result->forward + result->backward) *
                  (double)at->pipeline->micro_batches / build->evaluation->iteration_time;
    for (unsigned r = 0; r < at->stage->replica_count; r++)
        TRY(add_replica(build, at, r, stage));
    return YOKE_OK;
}

static yoke_status_t add_pipelines(const builder_t *build)
{
    const yoke_stage_result_t *result = build->evaluation->stages;
    for (unsigned p = 0; p < build->layout->pipeline_count; p++) {
        const yoke_pipeline_t *from = &build->layout->pipelines[p];
        yoke_plan_pipeline_t *to = yoke_plan_add_pipeline(build->plan);
        if (to == NULL)
            return yoke_fail_memory();
        to->micro_batches = from->micro_batches;
        if (from->micro_batches > build->plan->schedule_micro_batches)
            build->plan->schedule_micro_batches = from->micro_batches;
        for (unsigned s = 0; s < from->stage_count; s++, result++) {
            place_t at = {from, &from->stages[s], s};
            TRY(add_stage(build, &at, result, to));
        }
    }
    build->plan->schedule_chunks = 1;
    return yoke_plan_set_string(&build->plan->schedule, "1f1b");
}

/* --- head of the document -------------------------------------------------------------
 */

static yoke_status_t add_inputs(const builder_t *build)
{
    const yoke_problem_t *problem = build->problem;
    yoke_plan_t *plan = build->plan;
    char digest[32];
    TRY(yoke_plan_set_string(&plan->made_by_command, problem->options.command));
    TRY(yoke_plan_set_string(&plan->made_by_version, yoke_version()));
    TRY(yoke_plan_set_string(&plan->model_name, problem->model->name));
    const char *model_digest = problem->model->digest;
    TRY(yoke_plan_set_string(&plan->model_digest,
                             model_digest[0] != '\0' ? model_digest : NULL));
    TRY(yoke_plan_set_string(&plan->inventory_name, problem->inventory->name));
    TRY(yoke_plan_inventory_digest(problem->inventory, digest));
    return yoke_plan_set_string(&plan->inventory_digest, digest);
}

static yoke_status_t add_job(const builder_t *build)
{
    const yoke_plan_options_t *options = &build->problem->options;
    yoke_plan_t *plan = build->plan;
    plan->global_batch = options->global_batch;
    plan->sequence = options->sequence;
    plan->dtype = options->dtype;
    plan->optimizer = options->optimizer;
    plan->sharded_optimizer = build->layout->sharded_optimizer;
    plan->memory_policy =
        yoke_memory_policy_text(options->memory, options->memory_fraction);
    if (plan->memory_policy == NULL)
        return yoke_fail_memory();
    TRY(yoke_plan_set_string(&plan->nodes, options->nodes));
    for (const char *const *s = options->exclude; s != NULL && *s != NULL; s++)
        TRY(yoke_plan_add_exclude(plan, *s));
    return YOKE_OK;
}

/* The same check that `plan --for` and `export` use. */
static yoke_status_t add_runtimes(const builder_t *build)
{
    const yoke_runtime_t *runtimes = NULL;
    size_t count = 0;
    TRY(yoke_plan_add_runnable(build->plan, "yoke"));
    TRY(yoke_runtimes_get(&runtimes, &count));
    for (size_t i = 0; i < count; i++)
        if (yoke_runtime_allows(&runtimes[i], build->problem, build->layout, NULL, 0,
                                NULL))
            TRY(yoke_plan_add_runnable(build->plan, runtimes[i].name));
    return YOKE_OK;
}

double yoke_layout_layer_flops(const yoke_problem_t *problem, unsigned first,
                               unsigned last)
{
    double flops = 0;
    for (unsigned i = first; i <= last; i++) {
        yoke_layer_cost_t cost;
        yoke_layer_time(&problem->model->layers[i], &problem->classes[0].rates,
                        problem->constants, 1, 1, (double)problem->options.sequence,
                        problem->options.dtype, YOKE_RECOMPUTE_NONE, &cost);
        flops += cost.flops;
    }
    return flops;
}

static double used_rate(const yoke_problem_t *problem, const yoke_layout_t *layout)
{
    double rate = 0;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++) {
            const yoke_stage_t *stage = &layout->pipelines[p].stages[s];
            for (unsigned r = 0; r < stage->replica_count; r++)
                rate += problem->classes[stage->replicas[r].class_index].rates.compute *
                        (double)stage->replicas[r].tp;
        }
    return rate;
}

static void add_totals(const builder_t *build)
{
    const yoke_problem_t *problem = build->problem;
    yoke_plan_t *plan = build->plan;
    double time = build->evaluation->iteration_time;
    double batch = (double)problem->options.global_batch;
    double flops = batch * yoke_layout_layer_flops(
                               problem, 0, (unsigned)problem->model->layer_count - 1);
    plan->feasible = build->evaluation->fits;
    plan->iteration_time = time;
    plan->samples_per_second = batch / time;
    plan->tokens_per_second = batch * (double)problem->options.sequence / time;
    plan->utilisation = flops / time / used_rate(problem, build->layout);
}

/* Devices that the problem left out, those of one name and one reason as one host list.
 */
static yoke_status_t add_unused(const builder_t *build)
{
    const yoke_problem_t *problem = build->problem;
    bool *done = calloc(problem->unused_count + 1, sizeof *done);
    yoke_status_t status = done != NULL ? YOKE_OK : yoke_fail_memory();
    for (size_t i = 0; i < problem->unused_count && status == YOKE_OK; i++) {
        if (done[i])
            continue;
        const char *id = strchr(problem->unused[i].device, '/');
        yoke_strings_t hosts = {0};
        for (size_t j = i; j < problem->unused_count && status == YOKE_OK && id != NULL;
             j++) {
            const char *name = problem->unused[j].device;
            const char *other = strchr(name, '/');
            if (other == NULL || strcmp(other, id) != 0 ||
                strcmp(problem->unused[j].reason, problem->unused[i].reason) != 0)
                continue;
            char *host = yoke_strndup(name, (size_t)(other - name));
            status = host != NULL ? yoke_strings_add(&hosts, host) : yoke_fail_memory();
            free(host);
            done[j] = true;
        }
        char *list = hosts.count > 0 ? yoke_hostlist_compress(&hosts) : NULL;
        char *device = list != NULL ? yoke_format("%s%s", list, id)
                                    : yoke_strdup(problem->unused[i].device);
        if (status == YOKE_OK)
            status = device != NULL ? yoke_plan_add_unused(build->plan, device,
                                                           problem->unused[i].reason)
                                    : yoke_fail_memory();
        free(device);
        free(list);
        yoke_strings_free(&hosts);
    }
    free(done);
    return status;
}

static yoke_status_t build_plan(const builder_t *build)
{
    TRY(add_inputs(build));
    TRY(add_job(build));
    TRY(add_runtimes(build));
    add_totals(build);
    TRY(add_pipelines(build));
    TRY(yoke_plan_build_matches(build));
    TRY(yoke_plan_build_groups(build));
    TRY(add_unused(build));
    char *limit = yoke_plan_limit_text(build->plan);
    yoke_status_t status = limit != NULL
                               ? yoke_plan_set_string(&build->plan->limited_by, limit)
                               : yoke_fail_memory();
    free(limit);
    return status;
}

yoke_status_t yoke_plan_from_layout(const yoke_problem_t *problem,
                                    yoke_cost_cache_t *cache, const yoke_layout_t *layout,
                                    const yoke_evaluation_t *evaluation,
                                    yoke_plan_t **out_plan)
{
    builder_t build = {problem, cache, layout, evaluation, yoke_plan_new()};
    if (build.plan == NULL)
        return yoke_fail_memory();
    yoke_status_t status = build_plan(&build);
    if (status != YOKE_OK) {
        yoke_plan_free(build.plan);
        return status;
    }
    *out_plan = build.plan;
    return YOKE_OK;
}
