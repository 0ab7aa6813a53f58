/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `check`: a plan, also one written by hand, against model and cluster. First the
 * structure, by the document; then, where that holds, everything stated, by making the
 * plan of the same placement anew.
 */
#include "partition/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- several chunks a stage
 * ------------------------------------------------------------- */

static bool has_chunks(const yoke_plan_t *plan)
{
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            if (plan->pipelines[p].stages[s].chunk_count > 1)
                return true;
    return false;
}

static void count_chunks(const yoke_plan_pipeline_t *pipeline, size_t index,
                         unsigned *counts, size_t layers, yoke_faults_t *faults)
{
    char place[96], pointer[128];
    for (size_t s = 0; s < pipeline->stage_count; s++)
        for (size_t c = 0; c < pipeline->stages[s].chunk_count; c++) {
            const yoke_plan_chunk_t *chunk = &pipeline->stages[s].chunks[c];
            if (chunk->first > chunk->last || chunk->last >= layers) {
                yoke_snprintf(pointer, sizeof pointer, "%s/chunks/%zu",
                              yoke_fault_place(place, (long)index, (long)s, -1), c);
                yoke_faults_add(
                    faults, pointer,
                    "[%llu, %llu] is no range of the model's layers, 0 to %zu",
                    (unsigned long long)chunk->first, (unsigned long long)chunk->last,
                    layers - 1);
                continue;
            }
            for (uint64_t i = chunk->first; i <= chunk->last; i++)
                counts[i]++;
        }
}

/* Every layer once, in whatever order: that of interleaved chunks is not judged yet. */
static yoke_status_t check_chunks(const yoke_plan_t *plan, const yoke_model_t *model,
                                  yoke_faults_t *faults)
{
    char place[96];
    unsigned *counts = calloc(model->layer_count + 1, sizeof *counts);
    if (counts == NULL)
        return yoke_fail_memory();
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        memset(counts, 0, model->layer_count * sizeof *counts);
        count_chunks(&plan->pipelines[p], p, counts, model->layer_count, faults);
        for (size_t i = 0; i < model->layer_count; i++)
            if (counts[i] != 1)
                yoke_faults_add(
                    faults, yoke_fault_place(place, (long)p, -1, -1),
                    "layer %zu is in %u chunks of the pipeline; it must be in "
                    "exactly one",
                    i, counts[i]);
    }
    free(counts);
    return YOKE_OK;
}

/* --- figures
 * ---------------------------------------------------------------------------- */

static yoke_status_t check_figures(const yoke_problem_t *problem,
                                   const yoke_layout_t *layout, const yoke_plan_t *plan,
                                   yoke_faults_t *faults)
{
    yoke_evaluation_t evaluation = {0};
    yoke_plan_t *right = NULL;
    yoke_status_t status = YOKE_OK;
    if (yoke_layout_operations(layout) > YOKE_MOST_OPERATIONS) {
        yoke_faults_add(
            faults, "/pipelines",
            "too many micro-batches to simulate (%.3g operations, at most %.3g)",
            yoke_layout_operations(layout), YOKE_MOST_OPERATIONS);
        return YOKE_OK;
    }
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    if (cache == NULL)
        return yoke_fail_memory();
    status = yoke_evaluate(problem, cache, layout, NULL, NULL, &evaluation);
    if (status == YOKE_OK)
        status = yoke_plan_from_layout(problem, cache, layout, &evaluation, &right);
    if (status == YOKE_OK)
        yoke_check_values(plan, right, faults);
    yoke_plan_free(right);
    yoke_evaluation_free(&evaluation);
    yoke_cost_cache_free(cache);
    return status;
}

/* --- the whole
 * -------------------------------------------------------------------------- */

static yoke_status_t check_placement(const yoke_problem_t *problem,
                                     const yoke_plan_t *plan, yoke_faults_t *faults)
{
    bool chunks = has_chunks(plan);
    yoke_layout_t layout;
    yoke_status_t status = yoke_layout_resolve(problem, plan, faults, &layout);
    if (status != YOKE_OK)
        return status;
    yoke_layout_faults(problem, &layout, !chunks, faults);
    if (chunks)
        status = check_chunks(plan, problem->model, faults);
    if (status == YOKE_OK && faults->count == 0)
        yoke_check_shards(plan, problem->model, faults);
    if (status == YOKE_OK && faults->count == 0)
        status = check_figures(problem, &layout, plan, faults);
    yoke_layout_free(&layout);
    return status;
}

/* A job that the cluster cannot have (a host that is not there, no device left) is a
 * fault of the plan; a rate that nobody knows is a question to the user. */
static yoke_status_t new_problem(const yoke_plan_t *plan, const yoke_model_t *model,
                                 const yoke_inventory_t *inventory, const char **exclude,
                                 yoke_faults_t *faults, yoke_problem_t **out_problem)
{
    yoke_plan_options_t options;
    yoke_status_t status = yoke_plan_get_options(plan, exclude, &options);
    if (status == YOKE_OK)
        status = yoke_problem_new(model, inventory, &options, out_problem);
    if (status == YOKE_ERR_NO || status == YOKE_ERR_USAGE ||
        status == YOKE_ERR_BAD_INPUT) {
        yoke_faults_add(faults, "/job", "%s", yoke_last_error());
        return YOKE_ERR_NO;
    }
    return status;
}

static yoke_status_t finish(yoke_status_t status, yoke_faults_t *faults,
                            char **out_faults)
{
    if (status != YOKE_OK && status != YOKE_ERR_NO) {
        yoke_faults_free(faults);
        return status;
    }
    if (faults->count > YOKE_FAULTS_SHOWN)
        yoke_text_printf(&faults->lines, "/: and %zu faults more\n",
                         faults->count - YOKE_FAULTS_SHOWN);
    if (faults->lines.failed) {
        yoke_faults_free(faults);
        return yoke_fail_memory();
    }
    *out_faults = faults->lines.data;
    return faults->count > 0 ? YOKE_ERR_NO : YOKE_OK;
}

yoke_status_t yoke_plan_check(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory, char **out_faults)
{
    yoke_faults_t faults = {0};
    yoke_problem_t *problem = NULL;
    if (model->layer_count == 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: the model has no layers",
                         model->name != NULL ? model->name : "model");
    const char **exclude = calloc(plan->exclude_count + 1, sizeof *exclude);
    if (exclude == NULL)
        return yoke_fail_memory();
    yoke_status_t status =
        new_problem(plan, model, inventory, exclude, &faults, &problem);
    if (status == YOKE_OK)
        status = check_placement(problem, plan, &faults);
    yoke_problem_free(problem);
    free(exclude);
    return finish(status, &faults, out_faults);
}
