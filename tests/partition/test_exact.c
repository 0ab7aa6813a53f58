/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner against brute force: the same optimum, or both say that nothing fits, on
 * generated instances. Arguments: first seed, number of instances, most candidates of
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "partition/search.h"
#include "tests/partition/brute_force.h"
#include "tests/partition/instances.h"

static uint64_t first_seed = 1, instance_count = 100, most_candidates = 20000;
static bool verbose;

typedef struct tally {
    unsigned instances, infeasible, eight_devices, three_types, twelve_layers,
        all_of_them;
    unsigned two_shapes, two_allowed, tight, mixed, slow, uneven, tied, memory_binds,
        sharded;
    unsigned free_options, empty, several_hosts;
    uint64_t candidates, most, searched;
    double force_seconds, search_seconds, loosest;
} tally_t;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_candidate(const char *who, const yoke_candidate_t *candidate)
{
    fprintf(stderr, "  %s: micro-batch %u, recompute %s, sharded %d\n", who,
            candidate->micro_batch, yoke_recompute_name(candidate->recompute),
            candidate->sharded_optimizer);
    for (unsigned g = 0; g < candidate->shape_count; g++) {
        const yoke_shape_t *shape = &candidate->shapes[g];
        fprintf(stderr, "    %u x %u steps:", shape->dp, shape->micro_batches);
        for (unsigned s = 0; s < shape->stages; s++)
            fprintf(stderr, " ..%u on class %u (tp %u)", shape->last[s],
                    shape->classes[s], candidate->tp[shape->classes[s]]);
        fputc('\n', stderr);
    }
}

static void print_instance(const instance_t *instance, const yoke_problem_t *problem)
{
    const yoke_plan_options_t *options = &instance->options;
    fprintf(
        stderr,
        "seed %llu: %u devices of %u types, %u decoders, batch %llu (micro %llu), "
        "recompute %s, sharded %d, tp %llu, dp %llu, stages %llu, shapes %u%s%s%s%s%s\n",
        (unsigned long long)instance->seed, instance->devices, instance->types,
        instance->decoders, (unsigned long long)options->global_batch,
        (unsigned long long)options->micro_batch, yoke_recompute_name(options->recompute),
        options->sharded_optimizer, (unsigned long long)options->tp,
        (unsigned long long)options->dp, (unsigned long long)options->stages,
        options->max_shapes, instance->tight ? ", tight" : "",
        instance->mixed ? ", mixed" : "", instance->slow ? ", slow" : "",
        instance->uneven ? ", uneven" : "", instance->model->tied ? ", tied" : "");
    for (size_t c = 0; c < problem->class_count; c++)
        fprintf(stderr, "  class %zu: %s, %u hosts x %u\n", c, problem->classes[c].type,
                problem->classes[c].hosts, problem->classes[c].per_host);
}

static double timed(const yoke_problem_t *problem, const yoke_candidate_t *candidate)
{
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    yoke_placement_t placement;
    yoke_evaluation_t evaluation = {0};
    bool placed = false;
    assert_non_null(cache);
    assert_int_equal(yoke_placement_init(problem, &placement), YOKE_OK);
    assert_int_equal(yoke_candidate_evaluate(problem, cache, candidate, &placement,
                                             &evaluation, &placed),
                     YOKE_OK);
    assert_true(placed);
    assert_true(evaluation.fits);
    double time = evaluation.iteration_time;
    yoke_evaluation_free(&evaluation);
    yoke_placement_free(&placement);
    yoke_cost_cache_free(cache);
    return time;
}

static bool near(double a, double b)
{
    double difference = a > b ? a - b : b - a;
    return difference <= 1e-9 * (a > b ? a : b);
}

/* What disagrees; NULL: nothing. */
static const char *compare(const yoke_problem_t *problem,
                           const brute_force_result_t *force,
                           const yoke_search_result_t *search)
{
    if (!search->complete)
        return "the search did not finish";
    if (force->found != search->found)
        return force->found ? "the search found nothing" : "the search found too much";
    if (!force->found)
        return NULL;
    if (!near(force->time, timed(problem, &force->best)))
        return "brute force times its best otherwise than the search does";
    if (!near(search->time, timed(problem, &search->best)))
        return "the search's time is not its plan's";
    if (search->bound > force->time * (1 + 1e-9))
        return "the bound is above the optimum";
    return near(force->time, search->time) ? NULL : "times differ";
}

static bool has_equal_hosts(const yoke_problem_t *problem)
{
    for (size_t c = 0; c < problem->class_count; c++)
        if (problem->classes[c].hosts > 1)
            return true;
    return false;
}

static void count_instance(const instance_t *instance, const yoke_problem_t *problem,
                           const brute_force_result_t *force,
                           const yoke_search_result_t *search, tally_t *tally)
{
    tally->several_hosts += has_equal_hosts(problem);
    bool eight = instance->devices == 8, three = instance->types == 3,
         twelve = instance->decoders == 12;
    tally->instances++;
    tally->eight_devices += eight;
    tally->three_types += three;
    tally->twelve_layers += twelve;
    tally->all_of_them += eight && three && twelve;
    tally->two_allowed += instance->options.max_shapes > 1;
    tally->tight += instance->tight;
    tally->mixed += instance->mixed;
    tally->slow += instance->slow;
    tally->uneven += instance->uneven;
    tally->tied += instance->model->tied;
    tally->free_options += instance->options.micro_batch == 0 &&
                           instance->options.recompute == YOKE_RECOMPUTE_AUTO &&
                           instance->options.sharded_optimizer == YOKE_AUTO &&
                           instance->options.tp == 0 && instance->options.dp == 0 &&
                           instance->options.stages == 0;
    tally->empty += force->evaluated == 0;
    tally->candidates += force->evaluated;
    if (force->evaluated > tally->most)
        tally->most = force->evaluated;
    tally->searched += search->evaluated;
    if (!force->found) {
        tally->infeasible++;
        return;
    }
    tally->two_shapes += force->best.shape_count > 1;
    tally->sharded += force->best.sharded_optimizer;
    tally->memory_binds += force->fastest_unfit > 0 && force->fastest_unfit < force->time;
    double gap = force->time / search->bound - 1;
    if (gap > tally->loosest)
        tally->loosest = gap;
}

static bool run_one(uint64_t seed, tally_t *tally)
{
    instance_t instance;
    brute_force_result_t force;
    yoke_search_result_t search = {0};
    instance_make(seed, &instance);
    /* Most are small, so that the large ones have their time. */
    uint64_t budget = most_candidates >> random_below(&instance.random, 8);
    instance_shrink(&instance, budget);
    yoke_problem_t *problem = instance_problem(&instance);
    assert_non_null(problem);

    double start = now();
    brute_force(problem, &force);
    double middle = now();
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    assert_non_null(cache);
    yoke_status_t status = yoke_search(problem, cache, YOKE_ALL_CLASSES, &search);
    assert_true(status == YOKE_OK || status == YOKE_ERR_NO);
    double end = now();
    yoke_cost_cache_free(cache);
    tally->force_seconds += middle - start;
    tally->search_seconds += end - middle;

    const char *wrong = compare(problem, &force, &search);
    if (wrong != NULL || verbose) {
        print_instance(&instance, problem);
        fprintf(
            stderr,
            "  %s: brute force %.12g of %llu, search %.12g of %llu (bound %.12g, %s), "
            "%.0f and %.0f ms\n",
            wrong != NULL ? wrong : "agree", force.found ? force.time : -1,
            (unsigned long long)force.evaluated, search.found ? search.time : -1,
            (unsigned long long)search.evaluated, search.bound,
            search.complete ? "complete" : "incomplete", 1e3 * (middle - start),
            1e3 * (end - middle));
    }
    if (wrong != NULL && force.found)
        print_candidate("brute force", &force.best);
    if (wrong != NULL && search.found)
        print_candidate("search", &search.best);
    count_instance(&instance, problem, &force, &search, tally);
    yoke_problem_free(problem);
    instance_free(&instance);
    return wrong == NULL;
}

static void print_tally(const tally_t *tally)
{
    printf(
        "%u instances: %u with 8 devices, %u with 3 types, %u with 12 decoder layers, %u "
        "with all three; %u equal nodes, %u mixed nodes, %u slow networks, %u uneven "
        "layers, %u tied\n",
        tally->instances, tally->eight_devices, tally->three_types, tally->twelve_layers,
        tally->all_of_them, tally->several_hosts, tally->mixed, tally->slow,
        tally->uneven, tally->tied);
    printf("%u with tight memory: %u infeasible (%u without any candidate), in %u more "
           "it excludes a faster plan; two "
           "shapes allowed in %u, best in %u; sharded optimizer best in %u; all options "
           "free "
           "in %u\n",
           tally->tight, tally->infeasible, tally->empty, tally->memory_binds,
           tally->two_allowed, tally->two_shapes, tally->sharded, tally->free_options);
    printf("brute force: %llu candidates (most %llu), %.1f s; search: %llu, %.1f s; "
           "largest gap "
           "to the bound %.1f %%\n",
           (unsigned long long)tally->candidates, (unsigned long long)tally->most,
           tally->force_seconds, (unsigned long long)tally->searched,
           tally->search_seconds, 100 * tally->loosest);
}

static void equals_brute_force(void **state)
{
    (void)state;
    tally_t tally = {0};
    unsigned wrong = 0;
    for (uint64_t seed = first_seed; seed < first_seed + instance_count; seed++)
        wrong += !run_one(seed, &tally);
    print_tally(&tally);
    if (wrong > 0)
        fail_msg("%u of %u instances differ", wrong, tally.instances);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_brute_force)};
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        instance_count = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        most_candidates = strtoull(argv[3], NULL, 10);
    verbose = argc > 4;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
