/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower bounds against random plans: none may be above the simulated time of a plan that
 * it speaks of, nor may a memory cap shut out a plan that fits. The plans are drawn
 * blindly, with up to four shapes, more than the search uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/cut.h"
#include "partition/search.h"
#include "tests/partition/instances.h"

enum { PLANS = 250, CHAINS_OF_EACH = 500, MOST_SHAPES = 4 };

static unsigned instance_count = 400;

/* The evaluator's sums are rounded; a bound may pass the time by that much. */
#define ROUNDING (1 + 1e-12)

static void shuffle_in(random_source_t *random, uint8_t *classes, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i++) {
        unsigned j = i + random_below(random, count - i);
        uint8_t kept = classes[i];
        classes[i] = classes[j];
        classes[j] = kept;
    }
}

/* A random number of the groups that are left become the stages of a shape. */
static bool draw_stages(random_source_t *random, const yoke_problem_t *problem,
                        unsigned *left, yoke_shape_t *shape)
{
    uint8_t pool[64];
    unsigned count = 0;
    shape->dp = 1 + random_below(random, 3);
    for (size_t c = 0; c < problem->class_count; c++)
        for (unsigned k = 0; k < left[c] / shape->dp; k++)
            pool[count++] = (uint8_t)c;
    if (count == 0)
        return false;
    shuffle_in(random, pool, count);
    unsigned layers = (unsigned)problem->model->layer_count;
    unsigned most = count < layers ? count : layers;
    shape->stages = 1 + random_below(random, most);
    for (unsigned s = 0; s < shape->stages; s++) {
        shape->classes[s] = pool[s];
        left[pool[s]] -= shape->dp;
    }
    return true;
}

/* Every layer but the first begins a stage with the same chance. */
static void draw_cut(random_source_t *random, unsigned layers, yoke_shape_t *shape)
{
    unsigned wanted = shape->stages - 1, stage = 0;
    for (unsigned l = 1; l < layers; l++)
        if (random_below(random, layers - l) < wanted) {
            shape->last[stage++] = (uint16_t)(l - 1);
            wanted--;
        }
    shape->last[stage] = (uint16_t)(layers - 1);
}

/* Steps for every shape that add up; false: this draw does not. */
static bool draw_steps(random_source_t *random, unsigned steps,
                       yoke_candidate_t *candidate)
{
    for (unsigned g = 0; g < candidate->shape_count; g++) {
        yoke_shape_t *shape = &candidate->shapes[g];
        unsigned most = steps / shape->dp;
        if (most == 0)
            return false;
        bool final = g + 1 == candidate->shape_count;
        shape->micro_batches = final ? most : 1 + random_below(random, most);
        steps -= shape->micro_batches * shape->dp;
    }
    return steps == 0;
}

static bool draw(random_source_t *random, const yoke_problem_t *problem,
                 yoke_candidate_t *candidate)
{
    unsigned sizes[16], degrees[16], left[YOKE_MAX_CLASSES] = {0};
    memset(candidate, 0, sizeof *candidate);
    size_t count = yoke_micro_batches(problem, sizes, 16);
    candidate->micro_batch = sizes[random_below(random, (unsigned)count)];
    candidate->recompute = (yoke_recompute_t)random_below(random, 3);
    for (unsigned c = 0; c < problem->class_count; c++) {
        count = yoke_class_degrees(problem, c, degrees, 16);
        if (count == 0)
            continue;
        candidate->tp[c] = degrees[random_below(random, (unsigned)count)];
        left[c] = yoke_class_units(&problem->classes[c], candidate->tp[c]);
    }
    unsigned shapes = 1 + random_below(random, MOST_SHAPES), replicas = 0;
    for (unsigned g = 0; g < shapes; g++) {
        yoke_shape_t *shape = &candidate->shapes[candidate->shape_count];
        if (!draw_stages(random, problem, left, shape))
            continue;
        draw_cut(random, (unsigned)problem->model->layer_count, shape);
        candidate->shape_count++;
        replicas += shape->dp;
    }
    candidate->sharded_optimizer = replicas > 1 && random_below(random, 2) == 0;
    unsigned steps = (unsigned)problem->options.global_batch / candidate->micro_batch;
    return candidate->shape_count > 0 && draw_steps(random, steps, candidate);
}

typedef struct tally {
    unsigned plans, fitting, many_shapes;
    double tightest_family, tightest_chain; /* largest bound / time */
    unsigned exact_chains;
} tally_t;

typedef struct bench {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    yoke_placement_t placement;
    yoke_evaluation_t evaluation;
    double family_bound;
    uint64_t seed;
    tally_t *tally;
} bench_t;

static void at_most(const bench_t *bench, const char *what, double bound, double time)
{
    if (!(bound <= time * ROUNDING))
        fail_msg("seed %llu: the %s of %.12g s is above a plan's %.12g s",
                 (unsigned long long)bench->seed, what, bound, time);
}

/* Stage times as the evaluator found them: closed form against simulation. */
static void check_stages(const bench_t *bench, const yoke_shape_t *shape,
                         const yoke_stage_result_t *results)
{
    double forward[64], backward[64], send[64];
    for (unsigned s = 0; s < shape->stages; s++) {
        forward[s] = results[s].forward;
        backward[s] = results[s].backward;
        send[s] = results[s].send;
    }
    double end = yoke_simulate_1f1b(shape->stages, shape->micro_batches, forward,
                                    backward, send, NULL, NULL, NULL, NULL, 0);
    double bound =
        yoke_bound_stages(shape->stages, shape->micro_batches, forward, backward, send);
    at_most(bench, "stage bound", bound, end);
}

static void check_shape(const bench_t *bench, const yoke_candidate_t *candidate,
                        yoke_sheet_t *sheet, unsigned g, unsigned replicas,
                        const yoke_stage_result_t *results)
{
    const yoke_shape_t *shape = &candidate->shapes[g];
    double time = bench->evaluation.iteration_time;
    double send[64];
    for (unsigned s = 0; s < shape->stages; s++)
        send[s] = results[s].send;
    at_most(bench, "sequence bound",
            yoke_bound_sequence(sheet, shape->classes, shape->stages,
                                shape->micro_batches, NULL),
            time);
    at_most(bench, "sequence bound with sends",
            yoke_bound_sequence(sheet, shape->classes, shape->stages,
                                shape->micro_batches, send),
            time);
    double with_sends = yoke_bound_sequence(sheet, shape->classes, shape->stages,
                                            shape->micro_batches, send);
    assert_true(yoke_bound_sequence_reaches(sheet, shape->classes, shape->stages,
                                            shape->micro_batches, send,
                                            with_sends * (1 - 1e-9)));
    assert_false(yoke_bound_sequence_reaches(sheet, shape->classes, shape->stages,
                                             shape->micro_batches, send,
                                             with_sends * (1 + 1e-9)));
    yoke_chain_t chain;
    assert_true(yoke_chain_init(&chain, sheet, shape->classes, shape->stages,
                                shape->micro_batches, replicas,
                                candidate->sharded_optimizer));
    memcpy(chain.send, send, shape->stages * sizeof *send);
    double bound = yoke_chain_bound(&chain, shape->last);
    at_most(bench, "bound of the cut", bound, time);
    if (candidate->shape_count == 1 && bound / time > bench->tally->tightest_chain)
        bench->tally->tightest_chain = bound / time;
    if (!bench->evaluation.fits)
        return;
    for (unsigned s = 0, first = 0; s < shape->stages; first = shape->last[s++] + 1u)
        if (shape->last[s] > chain.cap[s][first])
            fail_msg(
                "seed %llu: a plan fits, but its stage of layers %u to %u is above the "
                "memory cap of %d",
                (unsigned long long)bench->seed, first, shape->last[s],
                chain.cap[s][first]);
}

static void check_plan(bench_t *bench, const yoke_candidate_t *candidate)
{
    bool placed = false;
    assert_int_equal(yoke_candidate_evaluate(bench->problem, bench->cache, candidate,
                                             &bench->placement, &bench->evaluation,
                                             &placed),
                     YOKE_OK);
    assert_true(placed);
    double time = bench->evaluation.iteration_time;
    unsigned replicas = 0;
    for (unsigned g = 0; g < candidate->shape_count; g++)
        replicas += candidate->shapes[g].dp;
    yoke_sheet_t sheet;
    assert_true(yoke_sheet_init(bench->problem, bench->cache, candidate->micro_batch,
                                candidate->recompute, candidate->tp, &sheet));
    at_most(bench, "bound for the number of replicas",
            yoke_bound_replicas(&sheet, replicas), time);
    const yoke_stage_result_t *results = bench->evaluation.stages;
    for (unsigned g = 0; g < candidate->shape_count; g++) {
        check_stages(bench, &candidate->shapes[g], results);
        check_shape(bench, candidate, &sheet, g, replicas, results);
        results += candidate->shapes[g].stages;
    }
    bench->tally->plans++;
    bench->tally->many_shapes += candidate->shape_count > 2;
    if (bench->evaluation.fits) {
        unsigned most = yoke_sheet_max_replicas(&sheet, candidate->sharded_optimizer);
        if (replicas > most)
            fail_msg("seed %llu: a plan with %u replicas fits, the limit says %u",
                     (unsigned long long)bench->seed, replicas, most);
        at_most(bench, "family bound", bench->family_bound, time);
        bench->tally->fitting++;
        if (bench->family_bound / time > bench->tally->tightest_family)
            bench->tally->tightest_family = bench->family_bound / time;
    }
    yoke_sheet_free(&sheet);
}

static void run_instance(uint64_t seed, tally_t *tally)
{
    instance_t instance;
    yoke_search_result_t result = {0};
    instance_make(seed, &instance);
    instance.options.effort = 1; /* the bound does not depend on it */
    yoke_problem_t *problem = instance_problem(&instance);
    assert_non_null(problem);
    bench_t bench = {.problem = problem, .seed = seed, .tally = tally};
    bench.cache = yoke_cost_cache_new(problem);
    assert_non_null(bench.cache);
    assert_int_equal(yoke_placement_init(problem, &bench.placement), YOKE_OK);
    assert_int_equal(yoke_search(problem, bench.cache, YOKE_ALL_CLASSES, &result),
                     YOKE_OK);
    bench.family_bound = result.bound;
    for (unsigned i = 0; i < PLANS; i++) {
        yoke_candidate_t candidate;
        if (draw(&instance.random, problem, &candidate))
            check_plan(&bench, &candidate);
    }
    yoke_evaluation_free(&bench.evaluation);
    yoke_placement_free(&bench.placement);
    yoke_cost_cache_free(bench.cache);
    yoke_problem_free(problem);
    instance_free(&instance);
}

static void bounds_hold_for_random_plans(void **state)
{
    (void)state;
    tally_t tally = {0};
    for (uint64_t seed = 1; seed <= instance_count; seed++)
        run_instance(100000 + seed, &tally);
    printf("%u random plans, %u with three or four shapes, %u fit the memory; bound / "
           "time at "
           "most %.4f (family), %.4f (one cut)\n",
           tally.plans, tally.many_shapes, tally.fitting, tally.tightest_family,
           tally.tightest_chain);
    assert_true(tally.fitting >
                10 * instance_count); /* else the test has shown nothing */
}

/* A time that is zero now and then, or much larger than the others. */
static double draw_time(random_source_t *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return 0;
    case 1:
        return random_between(random, 5, 50);
    default:
        return random_between(random, 0.1, 2);
    }
}

static void stage_bound_holds_for_random_times(void **state)
{
    (void)state;
    random_source_t random = {7};
    bench_t bench = {0};
    unsigned equal = 0, chains = CHAINS_OF_EACH * instance_count;
    for (unsigned i = 0; i < chains; i++) {
        double forward[16], backward[16], send[16];
        unsigned stages = 1 + random_below(&random, 12);
        unsigned steps = 1 + random_below(&random, 40);
        bool linked = random_below(&random, 2) == 0;
        for (unsigned s = 0; s < stages; s++) {
            forward[s] = draw_time(&random);
            backward[s] = draw_time(&random);
            send[s] = linked ? draw_time(&random) : 0;
        }
        double end = yoke_simulate_1f1b(stages, steps, forward, backward, send, NULL,
                                        NULL, NULL, NULL, 0);
        double bound = yoke_bound_stages(stages, steps, forward, backward, send);
        bench.seed = i;
        at_most(&bench, "stage bound", bound, end);
        equal += bound >= end * (1 - 1e-9);
    }
    printf("%u random chains, the closed form is the simulated time in %u\n", chains,
           equal);
    assert_true(equal > chains / 100);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_for_random_plans),
        cmocka_unit_test(stage_bound_holds_for_random_times),
    };
    if (argc > 1)
        instance_count = (unsigned)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
