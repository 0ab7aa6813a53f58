/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan says of itself, against the same placement made anew by evaluator and
 * simulator. Figures that it does not state are passed over.
 */
#include "partition/check.h"

#include <math.h>
#include <string.h>

/* Documents keep 12 digits; what differs by more than this was not the simulator's. */
#define TOLERANCE 1e-6

typedef struct comparison {
    yoke_faults_t *faults, *stale;
    char place[96]; /* JSON pointer of the object under comparison */
} comparison_t;

static void compare_number(const comparison_t *at, const char *key, double stated,
                           double right)
{
    char pointer[160];
    double largest = fabs(stated) > fabs(right) ? fabs(stated) : fabs(right);
    if (isnan(stated) || fabs(stated - right) <= TOLERANCE * largest)
        return;
    yoke_snprintf(pointer, sizeof pointer, "%s/%s", at->place, key);
    yoke_faults_add(at->stale, pointer, "states %.12g, and %.12g is right", stated,
                    right);
}

static void compare_count(const comparison_t *at, const char *key, uint64_t stated,
                          uint64_t right)
{
    char pointer[160];
    if (stated == right)
        return;
    yoke_snprintf(pointer, sizeof pointer, "%s/%s", at->place, key);
    yoke_faults_add(at->stale, pointer, "states %llu, and %llu is right",
                    (unsigned long long)stated, (unsigned long long)right);
}

static void compare_string(const comparison_t *at, const char *key, const char *stated,
                           const char *right)
{
    char pointer[160];
    if (stated == NULL || (right != NULL && strcmp(stated, right) == 0))
        return;
    yoke_snprintf(pointer, sizeof pointer, "%s/%s", at->place, key);
    yoke_faults_add(at->stale, pointer, "states \"%s\", and %s%s%s is right", stated,
                    right != NULL ? "\"" : "", right != NULL ? right : "null",
                    right != NULL ? "\"" : "");
}

/* --- placement ------------------------------------------------------------------------
 */

static void compare_memory(const comparison_t *at, const yoke_memory_terms_t *stated,
                           const yoke_memory_terms_t *right)
{
    compare_number(at, "memory/predicted", stated->predicted, right->predicted);
    compare_number(at, "memory/limit", stated->limit, right->limit);
    compare_string(at, "memory/peak_at", stated->peak_at, right->peak_at);
    compare_number(at, "memory/terms/weights", stated->weights, right->weights);
    compare_number(at, "memory/terms/gradients", stated->gradients, right->gradients);
    compare_number(at, "memory/terms/optimizer", stated->optimizer, right->optimizer);
    compare_number(at, "memory/terms/activations", stated->activations,
                   right->activations);
    compare_number(at, "memory/terms/logits", stated->logits, right->logits);
    compare_number(at, "memory/terms/working_set", stated->working_set,
                   right->working_set);
    compare_number(at, "memory/terms/communication", stated->communication,
                   right->communication);
    compare_number(at, "memory/terms/context", stated->context, right->context);
    compare_number(at, "memory/terms/slack", stated->slack, right->slack);
}

/* Memory is the evaluator's, whatever the plan says; all devices of a replica are alike.
 */
static void check_fit(const comparison_t *at, const yoke_plan_replica_t *right)
{
    const yoke_memory_terms_t *memory = &right->devices[0].memory;
    char pointer[160], needs[32], has[32], over[32];
    if (memory->predicted <= memory->limit)
        return;
    yoke_snprintf(pointer, sizeof pointer, "%s/devices/0/memory", at->place);
    yoke_faults_add(
        at->faults, pointer,
        "each device of this replica needs %s and has %s, %s too little; hold fewer "
        "layers here, recompute, or take a smaller micro_batch",
        yoke_show_bytes(memory->predicted, needs), yoke_show_bytes(memory->limit, has),
        yoke_show_bytes(memory->predicted - memory->limit, over));
}

static void compare_replica(comparison_t *at, const yoke_plan_replica_t *stated,
                            const yoke_plan_replica_t *right)
{
    size_t length = strlen(at->place);
    compare_number(at, "share", stated->share, right->share);
    check_fit(at, right);
    for (size_t d = 0; d < stated->device_count && d < right->device_count; d++) {
        yoke_snprintf(at->place + length, sizeof at->place - length, "/devices/%zu", d);
        compare_string(at, "type", stated->devices[d].type, right->devices[d].type);
        compare_memory(at, &stated->devices[d].memory, &right->devices[d].memory);
    }
}

static void compare_stage(const comparison_t *at, const yoke_plan_stage_t *stated,
                          const yoke_plan_stage_t *right)
{
    compare_number(at, "predicted/forward", stated->forward_time, right->forward_time);
    compare_number(at, "predicted/backward", stated->backward_time, right->backward_time);
    compare_number(at, "predicted/send", stated->send_time, right->send_time);
    compare_number(at, "predicted/sync", stated->sync_time, right->sync_time);
    compare_number(at, "predicted/optimizer", stated->optimizer_time,
                   right->optimizer_time);
    compare_number(at, "predicted/busy", stated->busy, right->busy);
}

static void compare_pipelines(comparison_t *at, const yoke_plan_t *stated,
                              const yoke_plan_t *right)
{
    for (size_t p = 0; p < stated->pipeline_count; p++)
        for (size_t s = 0; s < stated->pipelines[p].stage_count; s++) {
            const yoke_plan_stage_t *stage = &stated->pipelines[p].stages[s];
            const yoke_plan_stage_t *other = &right->pipelines[p].stages[s];
            yoke_fault_place(at->place, (long)p, (long)s, -1);
            compare_stage(at, stage, other);
            for (size_t r = 0; r < stage->replica_count; r++) {
                yoke_fault_place(at->place, (long)p, (long)s, (long)r);
                compare_replica(at, &stage->replicas[r], &other->replicas[r]);
            }
        }
}

/* --- groups and match -----------------------------------------------------------------
 */

static bool same_ranks(const yoke_plan_group_t *a, const yoke_plan_group_t *b)
{
    if (a->rank_count != b->rank_count)
        return false;
    for (size_t i = 0; i < a->rank_count; i++)
        if (strcmp(a->ranks[i], b->ranks[i]) != 0)
            return false;
    return true;
}

static void compare_groups(comparison_t *at, const yoke_plan_t *stated,
                           const yoke_plan_t *right)
{
    if (stated->group_count == 0)
        return;
    at->place[0] = '\0';
    if (stated->group_count != right->group_count)
        yoke_faults_add(
            at->stale, "/groups", "lists %zu group%s, and the placement has %zu",
            stated->group_count, stated->group_count == 1 ? "" : "s", right->group_count);
    for (size_t i = 0; i < stated->group_count && i < right->group_count; i++) {
        const yoke_plan_group_t *group = &stated->groups[i];
        yoke_snprintf(at->place, sizeof at->place, "/groups/%zu", i);
        compare_string(at, "kind", group->kind, right->groups[i].kind);
        compare_string(at, "transport", group->transport, right->groups[i].transport);
        if (!same_ranks(group, &right->groups[i]))
            yoke_faults_add(
                at->stale, at->place,
                "its ranks are not the %zu device%s that the placement has in this "
                "%s group, in their order",
                right->groups[i].rank_count, right->groups[i].rank_count == 1 ? "" : "s",
                right->groups[i].kind);
    }
}

static void compare_matches(comparison_t *at, const yoke_plan_t *stated,
                            const yoke_plan_t *right)
{
    for (size_t i = 0; i < stated->match_count; i++) {
        const yoke_plan_match_t *match = &stated->matches[i], *other = NULL;
        yoke_snprintf(at->place, sizeof at->place, "/match/%zu", i);
        for (size_t j = 0; j < right->match_count && other == NULL; j++)
            if (strcmp(right->matches[j].type, match->type) == 0)
                other = &right->matches[j];
        if (other == NULL) {
            yoke_faults_add(at->stale, at->place,
                            "the cluster has no device of type %s to plan on",
                            match->type);
            continue;
        }
        compare_count(at, "devices", match->devices, other->devices);
        compare_count(at, "used", match->used, other->used);
        compare_number(at, "compute_share", match->compute_share, other->compute_share);
        compare_number(at, "compute_supply", match->compute_supply,
                       other->compute_supply);
        compare_number(at, "memory_share", match->memory_share, other->memory_share);
        compare_number(at, "memory_supply", match->memory_supply, other->memory_supply);
        compare_number(at, "compute_used", match->compute_used, other->compute_used);
        compare_number(at, "memory_used", match->memory_used, other->memory_used);
    }
}

/* --- totals ---------------------------------------------------------------------------
 */

/* Every device that does not fit has its own line. */
static void compare_feasible(const comparison_t *at, const yoke_plan_t *stated,
                             const yoke_plan_t *right)
{
    if (!stated->feasible && right->feasible)
        yoke_faults_add(at->stale, "/feasible", "states false, and the plan fits");
}

static void compare_runtimes(const comparison_t *at, const yoke_plan_t *stated,
                             const yoke_plan_t *right)
{
    bool same = stated->runnable_in_count == right->runnable_in_count;
    if (stated->runnable_in_count == 0)
        return;
    for (size_t i = 0; same && i < stated->runnable_in_count; i++)
        same = strcmp(stated->runnable_in[i], right->runnable_in[i]) == 0;
    if (same)
        return;
    yoke_text_t list = {0};
    for (size_t i = 0; i < right->runnable_in_count; i++)
        yoke_text_printf(&list, "%s%s", i > 0 ? ", " : "", right->runnable_in[i]);
    yoke_faults_add(at->stale, "/runnable_in", "the placement can run in %s",
                    yoke_text_get(&list));
    yoke_text_free(&list);
}

static void compare_bound(const comparison_t *at, const yoke_plan_t *stated,
                          const yoke_plan_t *right)
{
    double time = right->iteration_time;
    if (stated->bound_time > time * (1 + TOLERANCE))
        yoke_faults_add(
            at->stale, "/bound/iteration_time",
            "%.12g is above the plan's own %.12g; a bound is at most any plan's time",
            stated->bound_time, time);
    if (stated->bound_time > 0 && !isnan(stated->bound_gap) &&
        fabs(stated->bound_gap - (time / stated->bound_time - 1)) > 2 * TOLERANCE)
        yoke_faults_add(at->stale, "/bound/gap", "states %.12g, and %.12g is right",
                        stated->bound_gap, time / stated->bound_time - 1);
    if (stated->iteration_time_low > time * (1 + TOLERANCE) ||
        stated->iteration_time_high < time * (1 - TOLERANCE))
        yoke_faults_add(at->stale, "/predicted/iteration_time_range",
                        "%.12g to %.12g does not hold the time itself, %.12g",
                        stated->iteration_time_low, stated->iteration_time_high, time);
}

static void compare_totals(comparison_t *at, const yoke_plan_t *stated,
                           const yoke_plan_t *right)
{
    yoke_snprintf(at->place, sizeof at->place, "/predicted");
    compare_number(at, "iteration_time", stated->iteration_time, right->iteration_time);
    compare_number(at, "samples_per_second", stated->samples_per_second,
                   right->samples_per_second);
    compare_number(at, "tokens_per_second", stated->tokens_per_second,
                   right->tokens_per_second);
    compare_number(at, "utilisation", stated->utilisation, right->utilisation);
    yoke_snprintf(at->place, sizeof at->place, "/schedule");
    if (stated->schedule_micro_batches != 0)
        compare_count(at, "micro_batches", stated->schedule_micro_batches,
                      right->schedule_micro_batches);
    if (stated->schedule_chunks != 0)
        compare_count(at, "chunks", stated->schedule_chunks, right->schedule_chunks);
    compare_bound(at, stated, right);
    at->place[0] = '\0';
    compare_string(at, "limited_by", stated->limited_by, right->limited_by);
    compare_feasible(at, stated, right);
    compare_runtimes(at, stated, right);
}

void yoke_check_values(const yoke_plan_t *stated, const yoke_plan_t *right,
                       yoke_faults_t *faults, yoke_faults_t *stale)
{
    comparison_t at = {.faults = faults, .stale = stale};
    compare_totals(&at, stated, right);
    compare_pipelines(&at, stated, right);
    compare_groups(&at, stated, right);
    compare_matches(&at, stated, right);
}
