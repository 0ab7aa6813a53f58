/* SPDX-License-Identifier: Apache-2.0 */
/* What each type of device computes and holds, against what it can. */
#include "partition/plan_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Sums of one type before they are divided. */
typedef struct tally {
    double flops, rate, bytes, limit; /* rate and limit of all its devices */
    double busy, filled;              /* sums over its used devices */
} tally_t;

static size_t type_index(yoke_plan_t *plan, const char *type)
{
    for (size_t i = 0; i < plan->match_count; i++)
        if (strcmp(plan->matches[i].type, type) == 0)
            return i;
    return yoke_plan_add_match(plan, type) != NULL ? plan->match_count - 1 : SIZE_MAX;
}

/* Types in the order of the classes, and what they have to offer. */
static yoke_status_t tally_supply(const builder_t *build, tally_t *tallies)
{
    const yoke_problem_t *problem = build->problem;
    for (size_t c = 0; c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        size_t type = type_index(build->plan, class->type);
        if (type == SIZE_MAX)
            return yoke_fail_memory();
        build->plan->matches[type].devices += class->count;
        tallies[type].rate += class->rates.compute * (double)class->count;
        tallies[type].limit += class->memory_limit * (double)class->count;
    }
    return YOKE_OK;
}

static void tally_replica(const builder_t *build, const place_t *at, unsigned index,
                          const yoke_plan_replica_t *planned, tally_t *tallies)
{
    const yoke_replica_t *replica = &at->stage->replicas[index];
    const char *type = build->problem->classes[replica->class_index].type;
    size_t t = type_index(build->plan, type);
    double steps = (double)at->pipeline->micro_batches;
    tallies[t].flops +=
        yoke_layout_layer_flops(build->problem, at->stage->first, at->stage->last) *
        steps * (double)replica->micro_batch;
    const yoke_cost_table_t *table =
        yoke_cost_cache_get(build->cache, replica->class_index, replica->tp,
                            replica->micro_batch, at->stage->recompute);
    double step = 0;
    if (table != NULL && table->possible)
        step = table->forward[at->stage->last + 1] - table->forward[at->stage->first] +
               table->backward[at->stage->last + 1] - table->backward[at->stage->first];
    for (size_t d = 0; d < planned->device_count; d++) {
        const yoke_memory_terms_t *memory = &planned->devices[d].memory;
        tallies[t].bytes += memory->predicted;
        tallies[t].filled += memory->predicted / memory->limit;
        tallies[t].busy += step * steps / build->evaluation->iteration_time;
        build->plan->matches[t].used++;
    }
}

static void tally_demand(const builder_t *build, tally_t *tallies)
{
    for (unsigned p = 0; p < build->layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &build->layout->pipelines[p];
        for (unsigned s = 0; s < pipeline->stage_count; s++) {
            place_t at = {pipeline, &pipeline->stages[s], s};
            for (unsigned r = 0; r < at.stage->replica_count; r++)
                tally_replica(build, &at, r,
                              &build->plan->pipelines[p].stages[s].replicas[r], tallies);
        }
    }
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

yoke_status_t yoke_plan_build_matches(const builder_t *build)
{
    tally_t *tallies = calloc(build->problem->class_count + 1, sizeof *tallies);
    if (tallies == NULL)
        return yoke_fail_memory();
    yoke_status_t status = tally_supply(build, tallies);
    if (status != YOKE_OK)
        goto out;
    tally_demand(build, tallies);
    tally_t all = {0};
    for (size_t t = 0; t < build->plan->match_count; t++) {
        all.flops += tallies[t].flops;
        all.rate += tallies[t].rate;
        all.bytes += tallies[t].bytes;
        all.limit += tallies[t].limit;
    }
    for (size_t t = 0; t < build->plan->match_count; t++) {
        yoke_plan_match_t *match = &build->plan->matches[t];
        match->compute_share = share(tallies[t].flops, all.flops);
        match->compute_supply = share(tallies[t].rate, all.rate);
        match->memory_share = share(tallies[t].bytes, all.bytes);
        match->memory_supply = share(tallies[t].limit, all.limit);
        match->compute_used = share(tallies[t].busy, (double)match->used);
        match->memory_used = share(tallies[t].filled, (double)match->used);
    }
out:
    free(tallies);
    return status;
}
