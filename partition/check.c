/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `check`: a plan, also one written by hand, against model and cluster. First the inputs
 * that it was made for and the structure, by the document; then, where that holds, memory
 * and everything stated, by making the plan of the same placement anew.
 *
 * Two kinds of findings are kept apart. Faults are of the placement: with one, the plan
 * cannot run as it says. Stale figures only describe the placement, and no longer agree
 * with it, as after an edit by hand: they can all be made new from it.
 */
#include "partition/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/certificate.h"
#include "partition/plan_digest.h"

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

/* --- inputs
 * ----------------------------------------------------------------------------- */

/* First of all, since a plan for another cluster has many faults and this one reason. */
static yoke_status_t check_inputs(const yoke_problem_t *problem, const yoke_plan_t *plan,
                                  yoke_faults_t *faults)
{
    char digest[32];
    const char *model = problem->model->digest;
    if (plan->model_digest != NULL && model[0] != '\0' &&
        strcmp(plan->model_digest, model) != 0)
        yoke_faults_add(
            faults, "/model/digest",
            "the plan was made for another model than the one given (%s, and it is "
            "%s); give that one, or plan again",
            plan->model_digest, model);
    if (plan->inventory_digest == NULL)
        return YOKE_OK;
    yoke_status_t status = yoke_plan_inventory_digest(problem->inventory, digest);
    if (status == YOKE_OK && strcmp(plan->inventory_digest, digest) != 0)
        yoke_faults_add(
            faults, "/inventory/digest",
            "the plan was made for another cluster, or other figures of it, than "
            "the one given (%s, and it is %s); give that one with the same "
            "--assume, or plan again",
            plan->inventory_digest, digest);
    return status;
}

static void check_schedule(const yoke_plan_t *plan, yoke_faults_t *faults)
{
    if (plan->schedule != NULL && strcmp(plan->schedule, "1f1b") != 0)
        yoke_faults_add(faults, "/schedule/name",
                        "states \"%s\", and \"1f1b\" is the only schedule that is "
                        "simulated; write that or leave it out",
                        plan->schedule);
}

/* --- figures
 * ---------------------------------------------------------------------------- */

/* The search words what limits a plan in one way, a replay in another; both are right. */
static yoke_status_t accept_limit(const yoke_problem_t *problem,
                                  const yoke_layout_t *layout,
                                  const yoke_evaluation_t *evaluation,
                                  const yoke_plan_t *plan, yoke_plan_t *right)
{
    if (plan->limited_by == NULL ||
        (right->limited_by != NULL && strcmp(plan->limited_by, right->limited_by) == 0))
        return YOKE_OK;
    free(right->limited_by);
    right->limited_by = yoke_certificate_limit(problem, layout, evaluation);
    return right->limited_by != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t check_figures(const yoke_problem_t *problem,
                                   const yoke_layout_t *layout, const yoke_plan_t *plan,
                                   yoke_faults_t *faults, yoke_faults_t *stale)
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
        status = accept_limit(problem, layout, &evaluation, plan, right);
    if (status == YOKE_OK)
        yoke_check_values(plan, right, faults, stale);
    yoke_plan_free(right);
    yoke_evaluation_free(&evaluation);
    yoke_cost_cache_free(cache);
    return status;
}

/* --- the whole
 * -------------------------------------------------------------------------- */

static yoke_status_t check_placement(const yoke_problem_t *problem,
                                     const yoke_plan_t *plan, yoke_faults_t *faults,
                                     yoke_faults_t *stale)
{
    bool chunks = has_chunks(plan);
    yoke_layout_t layout;
    yoke_status_t status = check_inputs(problem, plan, faults);
    check_schedule(plan, faults);
    size_t before = faults->count; /* the rest can be looked at all the same */
    if (status == YOKE_OK)
        status = yoke_layout_resolve(problem, plan, faults, &layout);
    if (status != YOKE_OK)
        return status;
    yoke_layout_faults(problem, &layout, !chunks, faults);
    if (chunks)
        status = check_chunks(plan, problem->model, faults);
    if (status == YOKE_OK && faults->count == before)
        yoke_check_shards(plan, problem->model, faults);
    if (status == YOKE_OK && faults->count == before)
        status = check_figures(problem, &layout, plan, faults, stale);
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

/* Takes the lines out of a list; NULL when it is empty. */
static char *take_lines(yoke_faults_t *list)
{
    char *lines = list->count > 0 ? list->lines.data : NULL;
    if (lines != NULL)
        list->lines = (yoke_text_t){0};
    return lines;
}

static yoke_status_t finish(yoke_faults_t *faults, yoke_faults_t *stale,
                            char **out_faults, char **out_stale)
{
    if (faults->count > YOKE_FAULTS_SHOWN)
        yoke_text_printf(&faults->lines, "/: and %zu faults more\n",
                         faults->count - YOKE_FAULTS_SHOWN);
    if (faults->lines.failed || stale->lines.failed)
        return yoke_fail_memory();
    yoke_status_t status = faults->count > 0 ? YOKE_ERR_NO : YOKE_OK;
    *out_faults = take_lines(faults);
    *out_stale = take_lines(stale);
    return status;
}

yoke_status_t yoke_plan_check_figures(const yoke_plan_t *plan, const yoke_model_t *model,
                                      const yoke_inventory_t *inventory,
                                      char **out_faults, char **out_stale)
{
    yoke_faults_t faults = {0}, stale = {.all = true};
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
        status = check_placement(problem, plan, &faults, &stale);
    yoke_problem_free(problem);
    free(exclude);
    if (status == YOKE_OK || status == YOKE_ERR_NO)
        status = finish(&faults, &stale, out_faults, out_stale);
    yoke_faults_free(&faults);
    yoke_faults_free(&stale);
    return status;
}

yoke_status_t yoke_plan_check(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory, char **out_faults)
{
    char *stale = NULL;
    yoke_status_t status =
        yoke_plan_check_figures(plan, model, inventory, out_faults, &stale);
    free(stale);
    return status;
}
