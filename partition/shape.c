/* SPDX-License-Identifier: Apache-2.0 */
/* From a candidate to devices: the deterministic placement. */
#include "partition/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MAX_MICRO_BATCH 32
#define SMALL_BATCH 128

yoke_status_t yoke_placement_init(const yoke_problem_t *problem, yoke_placement_t *out)
{
    memset(out, 0, sizeof *out);
    size_t cells = problem->host_count * problem->class_count + 1;
    out->stage_capacity = (size_t)YOKE_MAX_STAGES * YOKE_MAX_SHAPES;
    out->replica_capacity = problem->slot_count;
    out->slot_capacity = problem->slot_count;
    out->stages = calloc(out->stage_capacity, sizeof *out->stages);
    out->replicas = calloc(out->replica_capacity + 1, sizeof *out->replicas);
    out->slots = calloc(out->slot_capacity + 1, sizeof *out->slots);
    out->used = calloc(cells, sizeof *out->used);
    out->first = calloc(cells, sizeof *out->first);
    if (out->stages == NULL || out->replicas == NULL || out->slots == NULL ||
        out->used == NULL || out->first == NULL) {
        yoke_placement_free(out);
        return yoke_fail_memory();
    }
    for (size_t s = problem->slot_count; s-- > 0;) {
        const yoke_slot_t *slot = &problem->slots[s];
        out->first[slot->host * problem->class_count + slot->class_index] = (unsigned)s;
    }
    out->layout.pipelines = out->pipelines;
    return YOKE_OK;
}

void yoke_placement_free(yoke_placement_t *placement)
{
    free(placement->stages);
    free(placement->replicas);
    free(placement->slots);
    free(placement->used);
    free(placement->first);
    memset(placement, 0, sizeof *placement);
}

unsigned yoke_class_units(const yoke_class_t *class, unsigned tp)
{
    return tp == 0 ? 0 : class->hosts * (class->per_host / tp);
}

/* Take tp devices of the class on the first host that has them; UINT32_MAX: none has. */
static unsigned take(const yoke_problem_t *problem, yoke_placement_t *placement,
                     unsigned class_index, unsigned tp, unsigned *hint)
{
    const yoke_class_t *class = &problem->classes[class_index];
    for (unsigned host = *hint; host < problem->host_count; host++) {
        if (problem->host_shape[host] != class->shape)
            continue;
        unsigned *used = &placement->used[host * problem->class_count + class_index];
        if (*used + tp > class->per_host)
            continue;
        unsigned first =
            placement->first[host * problem->class_count + class_index] + *used;
        *used += tp;
        *hint = host;
        return first;
    }
    return UINT32_MAX;
}

static bool place_stage(const yoke_problem_t *problem, const yoke_candidate_t *candidate,
                        const yoke_shape_t *shape, unsigned stage, yoke_stage_t *out,
                        yoke_placement_t *placement, size_t *slot_count)
{
    unsigned class_index = shape->classes[stage];
    unsigned tp = candidate->tp[class_index];
    unsigned hint = 0;
    for (unsigned r = 0; r < shape->dp; r++) {
        unsigned first = take(problem, placement, class_index, tp, &hint);
        if (first == UINT32_MAX)
            return false;
        for (unsigned i = 0; i < tp; i++)
            placement->slots[*slot_count + i] = first + i;
        out->replicas[r] = (yoke_replica_t){candidate->micro_batch, tp, class_index,
                                            &placement->slots[*slot_count]};
        *slot_count += tp;
    }
    return true;
}

/* Lay out the stage and replica arrays; false when there are too few devices at all. */
static bool lay_arrays(const yoke_candidate_t *candidate, yoke_placement_t *placement)
{
    size_t stages = 0, replicas = 0;
    for (unsigned g = 0; g < candidate->shape_count; g++) {
        const yoke_shape_t *shape = &candidate->shapes[g];
        yoke_pipeline_t *pipeline = &placement->pipelines[g];
        pipeline->micro_batches = shape->micro_batches;
        pipeline->stage_count = shape->stages;
        pipeline->stages = &placement->stages[stages];
        for (unsigned s = 0; s < shape->stages; s++) {
            if (replicas + shape->dp > placement->replica_capacity)
                return false;
            yoke_stage_t *stage = &placement->stages[stages++];
            stage->recompute = candidate->recompute;
            stage->replica_count = shape->dp;
            stage->replicas = &placement->replicas[replicas];
            replicas += shape->dp;
        }
    }
    placement->layout.pipeline_count = candidate->shape_count;
    placement->layout.sharded_optimizer = candidate->sharded_optimizer;
    return true;
}

void yoke_placement_set_cuts(const yoke_candidate_t *candidate,
                             yoke_placement_t *placement)
{
    for (unsigned g = 0; g < candidate->shape_count; g++) {
        const yoke_shape_t *shape = &candidate->shapes[g];
        unsigned first = 0;
        placement->pipelines[g].micro_batches = shape->micro_batches;
        for (unsigned s = 0; s < shape->stages; s++) {
            placement->pipelines[g].stages[s].first = first;
            placement->pipelines[g].stages[s].last = shape->last[s];
            first = shape->last[s] + 1u;
        }
    }
}

bool yoke_place(const yoke_problem_t *problem, const yoke_candidate_t *candidate,
                yoke_placement_t *placement)
{
    if (!lay_arrays(candidate, placement))
        return false;
    memset(placement->used, 0,
           problem->host_count * problem->class_count * sizeof *placement->used);
    unsigned largest = 0;
    for (size_t c = 0; c < problem->class_count; c++)
        largest = candidate->tp[c] > largest ? candidate->tp[c] : largest;
    size_t slots = 0;
    for (unsigned tp = largest; tp > 0; tp--)
        for (unsigned g = 0; g < candidate->shape_count; g++)
            for (unsigned s = 0; s < candidate->shapes[g].stages; s++) {
                const yoke_shape_t *shape = &candidate->shapes[g];
                if (candidate->tp[shape->classes[s]] != tp)
                    continue;
                if (slots + (size_t)tp * shape->dp > placement->slot_capacity ||
                    !place_stage(problem, candidate, shape, s,
                                 &placement->pipelines[g].stages[s], placement, &slots))
                    return false;
            }
    yoke_placement_set_cuts(candidate, placement);
    return true;
}

/* "type:X:tp=4" in --fix: the degree for the class; 0: none given. */
static unsigned fixed_degree(const yoke_problem_t *problem, const yoke_class_t *class)
{
    unsigned degree = (unsigned)problem->options.tp;
    for (const char *const *fix = problem->options.fix; fix != NULL && *fix != NULL;
         fix++) {
        const char *mark = strstr(*fix, ":tp=");
        uint64_t value = 0;
        if (strncmp(*fix, "type:", 5) != 0 || mark == NULL ||
            !yoke_parse_u64(mark + 4, strlen(mark + 4), 1, 4096, &value))
            continue;
        size_t size = (size_t)(mark - (*fix + 5));
        if (strlen(class->type) == size && strncmp(class->type, *fix + 5, size) == 0)
            degree = (unsigned)value;
    }
    return degree;
}

static bool all_layers_shard(const yoke_model_t *model, unsigned tp)
{
    for (size_t i = 0; i < model->layer_count; i++)
        if (!yoke_layer_can_shard(&model->layers[i], tp))
            return false;
    return true;
}

size_t yoke_class_degrees(const yoke_problem_t *problem, unsigned class_index,
                          unsigned *out_degrees, size_t capacity)
{
    const yoke_class_t *class = &problem->classes[class_index];
    unsigned fixed = fixed_degree(problem, class);
    size_t count = 0;
    for (unsigned tp = 1; tp <= class->per_host && count < capacity; tp++) {
        if (fixed != 0 ? tp != fixed : class->per_host % tp != 0)
            continue;
        if (all_layers_shard(problem->model, tp))
            out_degrees[count++] = tp;
    }
    return count;
}

size_t yoke_micro_batches(const yoke_problem_t *problem, unsigned *out, size_t capacity)
{
    const yoke_plan_options_t *options = &problem->options;
    size_t count = 0;
    if (options->micro_batch != 0) {
        if (options->global_batch % options->micro_batch == 0 && capacity > 0)
            out[count++] = (unsigned)options->micro_batch;
        return count;
    }
    /* All divisors: an odd batch is not left with 1. Small batches as a whole, since
     * small models on large devices want them. */
    const uint64_t most =
        options->global_batch <= SMALL_BATCH ? SMALL_BATCH : MAX_MICRO_BATCH;
    for (unsigned b = 1; b <= most && count < capacity; b++)
        if (options->global_batch % b == 0)
            out[count++] = b;
    return count;
}
