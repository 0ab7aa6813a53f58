/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating a plan document again. */
#include "partition/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/document.h"

/* --- slow devices
 * ------------------------------------------------------------------------ */

static yoke_status_t matches_replica(const yoke_problem_t *problem, const char *selector,
                                     const yoke_replica_t *replica, bool *out_match)
{
    *out_match = false;
    for (unsigned d = 0; d < replica->tp && !*out_match; d++) {
        const yoke_slot_t *slot = &problem->slots[replica->slots[d]];
        yoke_status_t status = yoke_selector_match(selector, problem->hosts[slot->host],
                                                   slot->device, out_match);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

/* A class like `index` but slower: an equal one made before, or a new one. */
static yoke_status_t slower_class(yoke_problem_t *problem, unsigned index, double factor,
                                  unsigned *out_index)
{
    yoke_class_t class = problem->classes[index];
    class.rates.compute *= factor;
    class.rates.bandwidth *= factor;
    for (size_t c = 0; c < problem->class_count; c++) {
        const yoke_class_t *other = &problem->classes[c];
        if (other->device == class.device && other->shape == class.shape &&
            other->rates.compute == class.rates.compute &&
            other->rates.bandwidth == class.rates.bandwidth) {
            *out_index = (unsigned)c;
            return YOKE_OK;
        }
    }
    yoke_class_t *grown =
        realloc(problem->classes, (problem->class_count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    problem->classes = grown;
    grown[problem->class_count] = class;
    *out_index = (unsigned)problem->class_count++;
    return YOKE_OK;
}

/* Only the replicas change class: the slots keep theirs, by which devices are told apart.
 */
static yoke_status_t slow_down(yoke_replay_t *replay, const yoke_slowdown_t *slow)
{
    size_t slowed = 0;
    for (unsigned p = 0; p < replay->layout.pipeline_count; p++)
        for (unsigned s = 0; s < replay->layout.pipelines[p].stage_count; s++) {
            yoke_stage_t *stage = &replay->layout.pipelines[p].stages[s];
            for (unsigned r = 0; r < stage->replica_count; r++) {
                bool match;
                yoke_status_t status = matches_replica(replay->problem, slow->selector,
                                                       &stage->replicas[r], &match);
                if (status == YOKE_OK && match)
                    status = slower_class(replay->problem, stage->replicas[r].class_index,
                                          slow->factor, &stage->replicas[r].class_index);
                if (status != YOKE_OK)
                    return status;
                slowed += match;
            }
        }
    if (slowed == 0)
        return yoke_fail(YOKE_ERR_USAGE, "--slow: '%s' matches no device of the plan",
                         slow->selector);
    return YOKE_OK;
}

/* --- replay
 * ------------------------------------------------------------------------------ */

yoke_status_t yoke_replay_new(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory,
                              const yoke_slowdown_t *slow, size_t slow_count,
                              yoke_replay_t *out_replay)
{
    yoke_replay_t replay = {0};
    yoke_plan_options_t options;
    replay.exclude = calloc(plan->exclude_count + 1, sizeof *replay.exclude);
    if (replay.exclude == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_plan_get_options(plan, replay.exclude, &options);
    options.command = plan->made_by_command;
    if (status == YOKE_OK)
        status = yoke_problem_new(model, inventory, &options, &replay.problem);
    if (status == YOKE_OK)
        status = yoke_layout_from_plan(replay.problem, plan, &replay.layout);
    for (size_t i = 0; i < slow_count && status == YOKE_OK; i++)
        status = slow_down(&replay, &slow[i]);
    if (status == YOKE_OK) {
        replay.cache = yoke_cost_cache_new(replay.problem);
        status = replay.cache != NULL ? YOKE_OK : yoke_fail_memory();
    }
    if (status != YOKE_OK) {
        yoke_replay_free(&replay);
        return status;
    }
    *out_replay = replay;
    return YOKE_OK;
}

yoke_status_t yoke_replay_run(yoke_replay_t *replay, yoke_event_sink_t sink,
                              void *context)
{
    double operations = yoke_layout_operations(&replay->layout);
    if (operations > YOKE_MOST_OPERATIONS)
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "plan: /pipelines: too many micro-batches to simulate (%.3g operations, "
            "at most %.3g)",
            operations, YOKE_MOST_OPERATIONS);
    return yoke_evaluate(replay->problem, replay->cache, &replay->layout, sink, context,
                         &replay->evaluation);
}

void yoke_replay_free(yoke_replay_t *replay)
{
    yoke_evaluation_free(&replay->evaluation);
    yoke_cost_cache_free(replay->cache);
    yoke_layout_free(&replay->layout);
    yoke_problem_free(replay->problem);
    free(replay->exclude);
    *replay = (yoke_replay_t){0};
}

/* --- the plan anew
 * ----------------------------------------------------------------------- */

static yoke_status_t take_over(const yoke_plan_t *from, yoke_plan_t *to)
{
    yoke_status_t status =
        yoke_plan_set_string(&to->made_by_version, from->made_by_version);
    to->bound_time = from->bound_time;
    to->bound_gap =
        from->bound_time > 0 ? to->iteration_time / from->bound_time - 1 : (double)NAN;
    /* A range around another time would mislead. */
    if (fabs(to->iteration_time - from->iteration_time) <= 1e-6 * to->iteration_time) {
        to->iteration_time_low = from->iteration_time_low;
        to->iteration_time_high = from->iteration_time_high;
    }
    if (status == YOKE_OK)
        status = yoke_plan_set_string(&to->bound_binding, from->bound_binding);
    for (size_t i = 0; i < from->alternative_count && status == YOKE_OK; i++)
        status = yoke_plan_add_alternative(
            to, from->alternatives[i].kind, from->alternatives[i].feasible,
            from->alternatives[i].iteration_time, from->alternatives[i].why);
    for (size_t i = 0; i < from->sensitivity_count && status == YOKE_OK; i++)
        status = yoke_plan_add_sensitivity(
            to, from->sensitivities[i].input, from->sensitivities[i].from,
            from->sensitivities[i].to, from->sensitivities[i].iteration_time[0],
            from->sensitivities[i].iteration_time[1], from->sensitivities[i].source);
    for (size_t i = 0; i < from->note_count && status == YOKE_OK; i++)
        status = yoke_plan_add_note(to, "%s", from->notes[i]);
    return status;
}

static bool has_unused(const yoke_plan_t *plan, const char *device)
{
    for (size_t i = 0; i < plan->unused_count; i++)
        if (strcmp(plan->unused[i].device, device) == 0)
            return true;
    return false;
}

static yoke_status_t take_over_unused(const yoke_plan_t *from, yoke_plan_t *to)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < from->unused_count && status == YOKE_OK; i++)
        if (!has_unused(to, from->unused[i].device))
            status =
                yoke_plan_add_unused(to, from->unused[i].device, from->unused[i].reason);
    return status;
}

yoke_status_t yoke_plan_reevaluate(const yoke_plan_t *plan, const yoke_model_t *model,
                                   const yoke_inventory_t *inventory,
                                   yoke_plan_t **out_plan)
{
    yoke_replay_t replay;
    yoke_plan_t *anew = NULL;
    yoke_status_t status = yoke_replay_new(plan, model, inventory, NULL, 0, &replay);
    if (status != YOKE_OK)
        return status;
    status = yoke_replay_run(&replay, NULL, NULL);
    if (status == YOKE_OK)
        status = yoke_plan_from_layout(replay.problem, replay.cache, &replay.layout,
                                       &replay.evaluation, &anew);
    if (status == YOKE_OK)
        status = take_over(plan, anew);
    if (status == YOKE_OK)
        status = take_over_unused(plan, anew);
    yoke_replay_free(&replay);
    if (status != YOKE_OK) {
        yoke_plan_free(anew);
        return status;
    }
    *out_plan = anew;
    return YOKE_OK;
}
