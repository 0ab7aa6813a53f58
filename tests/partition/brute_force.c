/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/brute_force.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/*
 * Loops, from the outside: degrees of the classes, micro-batch, recomputation, sharded
 * optimizer, then shape after shape its replicas, class sequence and steps, then the cuts
 * of all shapes. A class has a degree exactly when a stage uses it, so that no candidate
 * comes twice.
 */
typedef struct force {
    const yoke_problem_t *problem;
    yoke_candidate_t candidate;
    unsigned left[YOKE_MAX_CLASSES]; /* groups of each class not used yet */
    uint64_t samples;                /* of the global batch, not given out yet */

    uint64_t count, limit; /* counting only */

    yoke_cost_cache_t *cache; /* NULL: count only */
    yoke_placement_t placement;
    yoke_evaluation_t evaluation;
    brute_force_result_t *result;
} force_t;

static bool done(const force_t *force)
{
    return force->cache == NULL && force->count > force->limit;
}

/* --- the innermost part: one candidate, all cuts -------------------------------------
 */

static void evaluate(force_t *force)
{
    brute_force_result_t *result = force->result;
    yoke_placement_set_cuts(&force->candidate, &force->placement);
    assert_int_equal(yoke_evaluate(force->problem, force->cache, &force->placement.layout,
                                   NULL, NULL, &force->evaluation),
                     YOKE_OK);
    double time = force->evaluation.iteration_time;
    result->evaluated++;
    if (!force->evaluation.fits) {
        if (result->fastest_unfit <= 0 || time < result->fastest_unfit)
            result->fastest_unfit = time;
        return;
    }
    result->fitting++;
    if (result->found && time >= result->time)
        return;
    result->found = true;
    result->time = time;
    result->best = force->candidate;
}

static void cut(force_t *force, unsigned g, unsigned stage)
{
    yoke_candidate_t *candidate = &force->candidate;
    if (g == candidate->shape_count) {
        evaluate(force);
        return;
    }
    yoke_shape_t *shape = &candidate->shapes[g];
    unsigned layers = (unsigned)force->problem->model->layer_count;
    unsigned first = stage == 0 ? 0 : shape->last[stage - 1] + 1u;
    if (stage + 1 == shape->stages) {
        shape->last[stage] = (uint16_t)(layers - 1);
        cut(force, g + 1, 0);
        return;
    }
    unsigned behind = shape->stages - 1 - stage; /* stages that still need a layer */
    for (unsigned last = first; last + behind < layers; last++) {
        shape->last[stage] = (uint16_t)last;
        cut(force, g, stage + 1);
    }
}

/* n over k; at most 63 over 31. */
static uint64_t choose(uint64_t n, uint64_t k)
{
    uint64_t value = 1;
    for (uint64_t i = 1; i <= k; i++)
        value = value * (n - k + i) / i;
    return value;
}

static bool uses_all_degrees(const force_t *force)
{
    const yoke_candidate_t *candidate = &force->candidate;
    bool used[YOKE_MAX_CLASSES] = {false};
    for (unsigned g = 0; g < candidate->shape_count; g++)
        for (unsigned s = 0; s < candidate->shapes[g].stages; s++)
            used[candidate->shapes[g].classes[s]] = true;
    for (size_t c = 0; c < force->problem->class_count; c++)
        if (candidate->tp[c] != 0 && !used[c])
            return false;
    return true;
}

static uint64_t replicas(const yoke_candidate_t *candidate)
{
    uint64_t sum = 0;
    for (unsigned g = 0; g < candidate->shape_count; g++)
        sum += candidate->shapes[g].dp;
    return sum;
}

/* Classes, replicas and steps of all shapes stand. */
static void structure(force_t *force)
{
    yoke_candidate_t *candidate = &force->candidate;
    const yoke_plan_options_t *options = &force->problem->options;
    if (!uses_all_degrees(force))
        return;
    /* Nothing to split over one replica: a plan like the one without (when it is asked
     * for). */
    if (candidate->sharded_optimizer && replicas(candidate) < 2 &&
        options->sharded_optimizer != YOKE_ON)
        return;
    if (options->dp != 0 && replicas(candidate) != options->dp)
        return;
    if (force->cache == NULL) {
        uint64_t cuts = 1;
        for (unsigned g = 0; g < candidate->shape_count; g++)
            cuts *= choose(force->problem->model->layer_count - 1,
                           candidate->shapes[g].stages - 1);
        force->count += cuts;
        return;
    }
    assert_true(yoke_place(force->problem, candidate, &force->placement));
    cut(force, 0, 0);
}

/* --- shapes --------------------------------------------------------------------------
 */

static void add_shape(force_t *force);

/* The last shape's classes stand: give it steps, end the plan or add another shape. */
static void give_steps(force_t *force)
{
    yoke_candidate_t *candidate = &force->candidate;
    yoke_shape_t *shape = &candidate->shapes[candidate->shape_count - 1];
    const yoke_plan_options_t *options = &force->problem->options;
    uint64_t samples = force->samples;
    uint64_t step = (uint64_t)shape->dp * candidate->micro_batch;
    if (options->stages != 0 && shape->stages != options->stages)
        return;
    for (unsigned steps = 1; steps * step <= samples && !done(force); steps++) {
        shape->micro_batches = steps;
        force->samples = samples - steps * step;
        if (force->samples == 0)
            structure(force);
        else if (candidate->shape_count < options->max_shapes)
            add_shape(force);
    }
    force->samples = samples;
}

/* Lengthen the last shape's class sequence in every way, using it at every length. */
static void add_stage(force_t *force)
{
    unsigned g = force->candidate.shape_count - 1;
    yoke_shape_t *shape = &force->candidate.shapes[g];
    if (shape->stages == force->problem->model->layer_count)
        return;
    for (unsigned c = 0; c < force->problem->class_count && !done(force); c++) {
        if (force->candidate.tp[c] == 0 || force->left[c] < shape->dp)
            continue;
        force->left[c] -= shape->dp;
        shape->classes[shape->stages++] = (uint8_t)c;
        give_steps(force);
        add_stage(force);
        shape->stages--;
        force->left[c] += shape->dp;
    }
}

static void add_shape(force_t *force)
{
    yoke_candidate_t *candidate = &force->candidate;
    yoke_shape_t *shape = &candidate->shapes[candidate->shape_count++];
    unsigned most = 0;
    for (size_t c = 0; c < force->problem->class_count; c++)
        if (force->left[c] > most)
            most = force->left[c];
    for (unsigned dp = 1; dp <= most; dp++) {
        shape->dp = dp;
        shape->stages = 0;
        add_stage(force);
    }
    candidate->shape_count--;
}

/* --- what is one for the plan --------------------------------------------------------
 */

static void choose_rest(force_t *force)
{
    const yoke_plan_options_t *options = &force->problem->options;
    unsigned sizes[32];
    size_t size_count = yoke_micro_batches(force->problem, sizes, 32);
    for (size_t i = 0; i < size_count; i++)
        for (int r = YOKE_RECOMPUTE_NONE; r < YOKE_RECOMPUTE_AUTO; r++)
            for (int sharded = 0; sharded < 2; sharded++) {
                if (options->recompute != YOKE_RECOMPUTE_AUTO &&
                    (int)options->recompute != r)
                    continue;
                if (options->sharded_optimizer == (sharded ? YOKE_OFF : YOKE_ON))
                    continue;
                force->candidate.micro_batch = sizes[i];
                force->candidate.recompute = (yoke_recompute_t)r;
                force->candidate.sharded_optimizer = sharded != 0;
                force->candidate.shape_count = 0;
                force->samples = options->global_batch;
                add_shape(force);
            }
}

static void choose_degrees(force_t *force, unsigned c)
{
    const yoke_problem_t *problem = force->problem;
    if (c == problem->class_count) {
        choose_rest(force);
        return;
    }
    unsigned degrees[64];
    size_t count = yoke_class_degrees(problem, c, degrees, 64);
    force->candidate.tp[c] = 0;
    force->left[c] = 0;
    choose_degrees(force, c + 1);
    for (size_t i = 0; i < count && !done(force); i++) {
        force->candidate.tp[c] = degrees[i];
        force->left[c] = yoke_class_units(&problem->classes[c], degrees[i]);
        choose_degrees(force, c + 1);
    }
}

uint64_t brute_force_count(const yoke_problem_t *problem, uint64_t limit)
{
    force_t force = {.problem = problem, .limit = limit};
    choose_degrees(&force, 0);
    return force.count;
}

void brute_force(const yoke_problem_t *problem, brute_force_result_t *out_result)
{
    force_t force = {.problem = problem, .result = out_result};
    memset(out_result, 0, sizeof *out_result);
    force.cache = yoke_cost_cache_new(problem);
    assert_non_null(force.cache);
    assert_int_equal(yoke_placement_init(problem, &force.placement), YOKE_OK);
    choose_degrees(&force, 0);
    yoke_evaluation_free(&force.evaluation);
    yoke_placement_free(&force.placement);
    yoke_cost_cache_free(force.cache);
}
