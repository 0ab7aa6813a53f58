/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/rivals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/evaluate.h"
#include "yoke/plan.h"

/* --- even split ----------------------------------------------------------------------
 */

typedef struct even {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    unsigned *slots; /* all devices, in rank order */
    unsigned groups, tp, stages, replicas, micro_batch;
    yoke_replica_t *members; /* of all stages */
    yoke_stage_t *parts;
    yoke_evaluation_t evaluation;
    double best;
} even_t;

static void *zeroed(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL)
        exit(4);
    return block;
}

/* Decoder layers in equal numbers, the remainder to the first stages; the ends take the
 * rest. */
static bool cut_evenly(const yoke_model_t *model, unsigned stages, yoke_stage_t *parts)
{
    unsigned decoders = 0, layer = 0, last = (unsigned)model->layer_count - 1;
    for (size_t l = 0; l < model->layer_count; l++)
        decoders += model->layers[l].kind == YOKE_LAYER_DECODER;
    if (stages > decoders)
        return false;
    for (unsigned s = 0; s < stages; s++) {
        unsigned wanted = decoders / stages + (s < decoders % stages);
        parts[s].first = layer;
        while (wanted > 0)
            wanted -= model->layers[layer++].kind == YOKE_LAYER_DECODER;
        parts[s].last = layer - 1;
    }
    parts[stages - 1].last = last;
    return true;
}

/* Rank order: the stages of one pipeline are neighbours, or the replicas of one stage
 * are. */
static void seat(even_t *even, bool pipeline_inner)
{
    for (unsigned s = 0; s < even->stages; s++) {
        even->parts[s].replicas = &even->members[s * even->replicas];
        even->parts[s].replica_count = even->replicas;
        for (unsigned r = 0; r < even->replicas; r++) {
            unsigned group =
                pipeline_inner ? r * even->stages + s : s * even->replicas + r;
            const unsigned *slots = &even->slots[group * even->tp];
            even->parts[s].replicas[r] =
                (yoke_replica_t){even->micro_batch, even->tp,
                                 even->problem->slots[slots[0]].class_index, slots};
        }
    }
}

/* Are the devices of every group of one class and node? */
static bool groups_hold(const even_t *even)
{
    const yoke_slot_t *slots = even->problem->slots;
    for (unsigned g = 0; g < even->groups; g++)
        for (unsigned i = 1; i < even->tp; i++) {
            const yoke_slot_t *a = &slots[even->slots[g * even->tp]];
            const yoke_slot_t *b = &slots[even->slots[g * even->tp + i]];
            if (a->host != b->host || a->class_index != b->class_index)
                return false;
        }
    return true;
}

static void try_layout(even_t *even, yoke_recompute_t recompute, bool pipeline_inner)
{
    uint64_t each = (uint64_t)even->replicas * even->micro_batch;
    for (unsigned s = 0; s < even->stages; s++)
        even->parts[s].recompute = recompute;
    seat(even, pipeline_inner);
    yoke_pipeline_t pipeline = {
        .micro_batches = (unsigned)(even->problem->options.global_batch / each),
        .stages = even->parts,
        .stage_count = even->stages};
    yoke_layout_t layout = {.sharded_optimizer = even->replicas > 1,
                            .pipelines = &pipeline,
                            .pipeline_count = 1};
    if (yoke_evaluate(even->problem, even->cache, &layout, NULL, NULL,
                      &even->evaluation) != YOKE_OK ||
        !even->evaluation.fits)
        return;
    double time = even->evaluation.iteration_time;
    if (even->best <= 0 || time < even->best)
        even->best = time;
}

static void try_depths(even_t *even)
{
    uint64_t batch = even->problem->options.global_batch;
    for (even->stages = 1; even->stages <= even->groups; even->stages++) {
        if (even->groups % even->stages != 0 ||
            !cut_evenly(even->problem->model, even->stages, even->parts))
            continue;
        even->replicas = even->groups / even->stages;
        for (even->micro_batch = 1; even->micro_batch <= 32; even->micro_batch *= 2)
            for (int r = YOKE_RECOMPUTE_NONE; r <= YOKE_RECOMPUTE_FULL; r++) {
                if (batch % ((uint64_t)even->replicas * even->micro_batch) != 0)
                    continue;
                try_layout(even, (yoke_recompute_t)r, false);
                if (even->stages > 1 && even->replicas > 1)
                    try_layout(even, (yoke_recompute_t)r, true);
            }
    }
}

/* Slots by class in the given order of classes; within a class by host. */
static void order_slots(even_t *even, const unsigned *order)
{
    size_t count = 0;
    for (size_t c = 0; c < even->problem->class_count; c++)
        for (size_t s = 0; s < even->problem->slot_count; s++)
            if (even->problem->slots[s].class_index == order[c])
                even->slots[count++] = (unsigned)s;
}

static void try_degrees(even_t *even)
{
    for (even->tp = 1; even->tp <= 8; even->tp *= 2) {
        bool possible = even->problem->slot_count % even->tp == 0;
        for (size_t l = 0; l < even->problem->model->layer_count; l++)
            possible = possible &&
                       yoke_layer_can_shard(&even->problem->model->layers[l], even->tp);
        even->groups = (unsigned)even->problem->slot_count / even->tp;
        if (possible && groups_hold(even))
            try_depths(even);
    }
}

static void try_orders(even_t *even, unsigned *order, size_t fixed)
{
    if (fixed == even->problem->class_count) {
        order_slots(even, order);
        try_degrees(even);
        return;
    }
    for (size_t i = fixed; i < even->problem->class_count; i++) {
        unsigned kept = order[fixed];
        order[fixed] = order[i];
        order[i] = kept;
        try_orders(even, order, fixed + 1);
        order[i] = order[fixed];
        order[fixed] = kept;
    }
}

double rival_even_split(const yoke_problem_t *problem)
{
    even_t even = {.problem = problem};
    unsigned *order = zeroed(problem->class_count, sizeof *order);
    for (unsigned c = 0; c < problem->class_count; c++)
        order[c] = c;
    even.slots = zeroed(problem->slot_count, sizeof *even.slots);
    even.members = zeroed(problem->slot_count, sizeof *even.members);
    even.parts = zeroed(problem->slot_count, sizeof *even.parts);
    even.cache = yoke_cost_cache_new(problem);
    if (even.cache == NULL)
        exit(4);
    try_orders(&even, order, 0);
    yoke_evaluation_free(&even.evaluation);
    yoke_cost_cache_free(even.cache);
    free(even.parts);
    free(even.members);
    free(even.slots);
    free(order);
    return even.best;
}

/* --- one type alone ------------------------------------------------------------------
 */

enum { MOST_TYPES = 16 };

static size_t list_types(const yoke_inventory_t *inventory, const char *types[MOST_TYPES])
{
    size_t count = 0;
    for (size_t n = 0; n < inventory->node_count; n++)
        for (size_t d = 0; d < inventory->nodes[n].device_count; d++) {
            const char *type = inventory->nodes[n].devices[d].type;
            bool known = type == NULL;
            for (size_t i = 0; i < count; i++)
                known = known || strcmp(types[i], type) == 0;
            if (!known && count < MOST_TYPES)
                types[count++] = type;
        }
    return count;
}

double rival_single_type(const yoke_model_t *model, const yoke_inventory_t *inventory,
                         const yoke_plan_options_t *options, const char **out_type)
{
    const char *types[MOST_TYPES];
    char selectors[MOST_TYPES][96];
    size_t count = list_types(inventory, types);
    double best = 0;
    for (size_t only = 0; only < count; only++) {
        const char *exclude[MOST_TYPES + 1] = {NULL};
        size_t excluded = 0;
        for (size_t i = 0; i < count; i++) {
            if (i == only)
                continue;
            snprintf(selectors[i], sizeof selectors[i], "type:%s", types[i]);
            exclude[excluded++] = selectors[i];
        }
        yoke_plan_options_t alone = *options;
        yoke_plan_t *plan = NULL;
        alone.exclude = exclude;
        if (yoke_plan_search(model, inventory, &alone, &plan) != YOKE_OK)
            continue;
        if (best <= 0 || plan->iteration_time < best) {
            best = plan->iteration_time;
            *out_type = types[only];
        }
        yoke_plan_free(plan);
    }
    return best;
}
