/* SPDX-License-Identifier: Apache-2.0 */
/* Time and memory of whole layouts against sums made here by hand. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/collective.h"
#include "tests/partition/fixture.h"

static const fixture_spec_t small = {.layers = 6,
                                     .hidden = 512,
                                     .ffn = 2048,
                                     .heads = 8,
                                     .kv_heads = 8,
                                     .vocabulary = 1000};
#define BLOCK (4 * 512.0 * 512 + 2 * 512.0 * 2048 + 2 * 512)
#define VOCABULARY (1000 * 512.0)

typedef struct world {
    yoke_model_t *model;
    yoke_constants_t constants;
    yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    yoke_evaluation_t result;
} world_t;

static void open_world(world_t *world, const fixture_spec_t *spec, unsigned hosts,
                       unsigned kinds, unsigned per_host)
{
    *world = (world_t){.model = fixture_model(spec), .constants = fixture_ideal()};
    world->problem =
        fixture_problem(world->model, &world->constants, hosts, kinds, per_host);
    world->cache = yoke_cost_cache_new(world->problem);
    assert_non_null(world->cache);
}

static void close_world(world_t *world)
{
    yoke_evaluation_free(&world->result);
    yoke_cost_cache_free(world->cache);
    fixture_problem_free(world->problem);
    fixture_model_free(world->model);
}

static double evaluate(world_t *world, yoke_pipeline_t *pipelines, unsigned count,
                       bool sharded)
{
    yoke_layout_t layout = {sharded, pipelines, count};
    assert_int_equal(
        yoke_evaluate(world->problem, world->cache, &layout, NULL, NULL, &world->result),
        YOKE_OK);
    return world->result.iteration_time;
}

/* Sum over layers first..last of a class, straight from the cost functions. */
static yoke_layer_cost_t layers_cost(const world_t *world, unsigned class_index,
                                     unsigned first, unsigned last, unsigned micro_batch)
{
    yoke_layer_cost_t sum = {0};
    for (unsigned i = first; i <= last; i++) {
        yoke_layer_cost_t one;
        yoke_layer_time(&world->model->layers[i],
                        &world->problem->classes[class_index].rates, &world->constants, 1,
                        micro_batch, 1024, YOKE_BF16, YOKE_RECOMPUTE_NONE, &one);
        sum.forward += one.forward;
        sum.backward += one.backward;
    }
    return sum;
}

static void test_single_device(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 1, 1, 1);
    world.constants.optimizer_traffic_adam = 30;
    world.constants.step_overhead = 0.25;
    fixture_pipeline_t only;
    fixture_pipeline_set(&only, world.problem, 1, NULL, (unsigned[]){0}, 5, 2);
    double got = evaluate(&world, &only.pipeline, 1, false);
    yoke_layer_cost_t cost = layers_cost(&world, 0, 0, 7, 2);
    double update = (6 * BLOCK + 2 * VOCABULARY + 512) * 30 / 1e12;
    fixture_assert_near(got, 5 * (cost.forward + cost.backward) + update + 0.25, 1e-12,
                        "time");
    assert_true(world.result.stages[0].sync == 0 && world.result.stages[0].send == 0);
    assert_true(world.result.fits);
    close_world(&world);
}

static void test_boundary_paths(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 2, 2, 4);
    world.problem->classes[0].rates.link_latency = 1;
    world.problem->classes[0].rates.link_mesh = true;
    world.problem->classes[1].intra_latency = 2;
    world.problem->classes[1].nic_latency = 3;
    world.problem->classes[1].nic = 4e9;
    const yoke_problem_t *problem = world.problem;
    unsigned slots[] = {fixture_slot(problem, 0, 0, 0), fixture_slot(problem, 0, 0, 1),
                        fixture_slot(problem, 0, 1, 0), fixture_slot(problem, 1, 1, 0)};
    yoke_replica_t at[4];
    for (unsigned i = 0; i < 4; i++)
        at[i] = (yoke_replica_t){1, 1, problem->slots[slots[i]].class_index, &slots[i]};
    /* a pair of 4 peers gets a third of the link */
    fixture_assert_near(yoke_boundary_time(problem, &at[0], &at[1], 1e10), 1 + 0.3, 1e-12,
                        "peers");
    fixture_assert_near(yoke_boundary_time(problem, &at[0], &at[2], 1e10), 2 + 0.5, 1e-12,
                        "unlike devices of a node");
    /* one of 8 devices has an eighth of the slower network */
    fixture_assert_near(yoke_boundary_time(problem, &at[0], &at[3], 1e10), 3 + 20, 1e-12,
                        "between nodes");
    at[3].tp = 4;
    fixture_assert_near(yoke_boundary_time(problem, &at[0], &at[3], 1e10), 3 + 8, 1e-12,
                        "the narrower side counts");
    assert_true(yoke_boundary_time(problem, &at[3], &at[0], 1e10) ==
                yoke_boundary_time(problem, &at[0], &at[3], 1e10));
    close_world(&world);
}

/* Samples 0-2 | 3 to 0-1 | 2-3 on unlike paths: the pairs send 2, 1 and 1. */
static void test_boundary_shares(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 2, 1, 2);
    unsigned slots[] = {0, 2, 1, 3}; /* from: host 0, host 1; to: host 0, host 1 */
    yoke_replica_t replicas[] = {{3, 1, 0, &slots[0]},
                                 {1, 1, 0, &slots[1]},
                                 {2, 1, 0, &slots[2]},
                                 {2, 1, 0, &slots[3]}};
    yoke_stage_t from = {.replicas = replicas, .replica_count = 2};
    yoke_stage_t to = {.replicas = replicas + 2, .replica_count = 2};
    /* 2 samples at the link's 1e11, 1 over the network at 5e9, 1 at 1e11 */
    fixture_assert_near(yoke_stage_boundary_time(world.problem, &from, &to, 1e9), 0.2,
                        1e-12, "network");
    world.problem->classes[0].nic = 1e13;
    fixture_assert_near(yoke_stage_boundary_time(world.problem, &from, &to, 1e9), 0.02,
                        1e-12, "link, two samples");
    close_world(&world);
}

static void test_two_stages(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 2, 1, 1);
    fixture_pipeline_t pair;
    fixture_pipeline_set(&pair, world.problem, 2, (unsigned[]){3}, (unsigned[]){0, 1}, 4,
                         2);
    double got = evaluate(&world, &pair.pipeline, 1, false);
    yoke_layer_cost_t a = layers_cost(&world, 0, 0, 2, 2),
                      b = layers_cost(&world, 0, 3, 7, 2);
    double send = 2 * 1024 * 512.0 * 2 / 1e10;
    double want = yoke_simulate_1f1b(2, 4, (double[]){a.forward, b.forward},
                                     (double[]){a.backward, b.backward}, &send, NULL,
                                     NULL, NULL, NULL, 0);
    fixture_assert_near(got, want, 1e-12, "two stages");
    fixture_assert_near(world.result.stages[0].send, send, 1e-12, "send");
    assert_true(world.result.compute_end == got);
    close_world(&world);
}

static void test_slowest_replica(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 1, 2, 1);
    world.problem->classes[1].rates.compute = 5e13;
    unsigned slots[] = {0, 1};
    yoke_replica_t replicas[] = {{3, 1, 0, &slots[0]}, {2, 1, 1, &slots[1]}};
    yoke_stage_t stage = {.last = 7, .replicas = replicas, .replica_count = 2};
    yoke_pipeline_t pipeline = {4, &stage, 1};
    evaluate(&world, &pipeline, 1, false);
    yoke_layer_cost_t fast = layers_cost(&world, 0, 0, 7, 3);
    yoke_layer_cost_t slow = layers_cost(&world, 1, 0, 7, 2);
    assert_true(slow.forward > fast.forward);
    fixture_assert_near(world.result.stages[0].forward, slow.forward, 1e-12, "slow");
    /* the one with more samples may be the one whose memory is fullest */
    assert_true(world.result.stages[0].memory.activations > 0);
    double parameters = 6 * BLOCK + 2 * VOCABULARY + 512;
    double sync =
        yoke_cost_all_reduce(2, parameters * 4, 2e10, 0); /* unlike devices: intra */
    fixture_assert_near(world.result.stages[0].sync, sync, 1e-12, "sync");
    close_world(&world);
}

static void test_sync_paths(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 2, 1, 4);
    world.problem->classes[0].rates.link_mesh = true;
    world.problem->classes[0].nic_latency = 1e-3;
    unsigned slots[] = {0, 1, 4, 5};
    yoke_replica_t replicas[4];
    for (unsigned i = 0; i < 4; i++)
        replicas[i] = (yoke_replica_t){1, 1, 0, &slots[i]};
    yoke_stage_t stage = {.last = 7, .replicas = replicas, .replica_count = 2};
    yoke_pipeline_t pipeline = {2, &stage, 1};
    double bytes = (6 * BLOCK + 2 * VOCABULARY + 512) * 4;
    evaluate(&world, &pipeline, 1, false);
    fixture_assert_near(world.result.stages[0].sync,
                        yoke_cost_all_reduce(2, bytes, 1e11 / 3, 0), 1e-12,
                        "a mesh pair of four");
    stage.replica_count =
        4; /* two of four devices on each of two hosts: half of the network */
    evaluate(&world, &pipeline, 1, false);
    fixture_assert_near(world.result.stages[0].sync,
                        yoke_cost_all_reduce(4, bytes, 5e9, 1e-3), 1e-12, "network");
    world.problem->classes[0].nic =
        1e12; /* now the mesh pair inside is the narrow place */
    evaluate(&world, &pipeline, 1, false);
    fixture_assert_near(world.result.stages[0].sync,
                        yoke_cost_all_reduce(4, bytes, 1e11 / 3, 1e-3), 1e-12, "capped");
    double whole = world.result.stages[0].sync;
    world.constants.data_overlap = 0.5;
    evaluate(&world, &pipeline, 1, false);
    double hidden = world.result.stages[0].backward;
    hidden = hidden < whole ? hidden : whole;
    fixture_assert_near(world.result.stages[0].sync, whole - hidden / 2, 1e-12,
                        "overlap");
    close_world(&world);
}

/* Two pipelines with different cuts: layers 3..4 of one are on two stages of the other.
 */
static void test_unequal_pipelines(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 4, 1, 1);
    fixture_pipeline_t a, b;
    fixture_pipeline_set(&a, world.problem, 2, (unsigned[]){3}, (unsigned[]){0, 1}, 4, 1);
    fixture_pipeline_set(&b, world.problem, 2, (unsigned[]){5}, (unsigned[]){2, 3}, 3, 1);
    yoke_pipeline_t pipelines[] = {a.pipeline, b.pipeline};
    double got = evaluate(&world, pipelines, 2, true);
    const yoke_stage_result_t *r = world.result.stages;
    assert_int_equal(world.result.stage_count, 4);
    /* a0 (0..2) meets b0 only; a1 (3..7) meets both; b0 (0..4) both; b1 (5..7) a1 */
    double parameters[] = {VOCABULARY + 2 * BLOCK, 4 * BLOCK + VOCABULARY + 512,
                           VOCABULARY + 4 * BLOCK, 2 * BLOCK + VOCABULARY + 512};
    double ends[] = {r[0].end, r[1].end, r[2].end, r[3].end};
#define MAX(x, y) ((x) > (y) ? (x) : (y))
    double starts[] = {MAX(ends[0], ends[2]), MAX(ends[1], MAX(ends[2], ends[3])),
                       MAX(ends[2], MAX(ends[0], ends[1])), MAX(ends[3], ends[1])};
    double want = 0;
    for (int i = 0; i < 4; i++) {
        double sync = yoke_cost_all_reduce(2, parameters[i] * 4, 1e10, 0);
        fixture_assert_near(r[i].sync, sync, 1e-12, "sync");
        want = MAX(want, starts[i] + sync);
    }
    fixture_assert_near(got, want, 1e-12, "iteration");
    close_world(&world);
}

static void test_tied(void **state)
{
    (void)state;
    fixture_spec_t spec = small;
    spec.tied = true;
    world_t world;
    open_world(&world, &spec, 2, 1, 1);
    fixture_pipeline_t one, two;
    fixture_pipeline_set(&one, world.problem, 1, NULL, (unsigned[]){0}, 2, 1);
    fixture_pipeline_set(&two, world.problem, 2, (unsigned[]){4}, (unsigned[]){0, 1}, 2,
                         1);
    evaluate(&world, &one.pipeline, 1, false);
    assert_true(world.result.stages[0].memory.weights ==
                (6 * BLOCK + VOCABULARY + 512) * 2);
    assert_true(world.result.stages[0].sync == 0);
    evaluate(&world, &two.pipeline, 1, false);
    const yoke_stage_result_t *r = world.result.stages;
    assert_true(r[0].memory.weights == (3 * BLOCK + VOCABULARY) * 2);
    assert_true(r[1].memory.weights == (3 * BLOCK + VOCABULARY + 512) * 2);
    double sync = yoke_cost_all_reduce(2, VOCABULARY * 4, 1e10, 0);
    fixture_assert_near(r[0].sync, sync, 1e-12, "tied");
    fixture_assert_near(r[1].sync, sync, 1e-12, "tied");
    close_world(&world);
}

/* 2 + 4 + 12 bytes a parameter in mixed precision, 6 + 12/d when the state is split; 4 +
 * 4 + 8 in fp32 (Megatron-LM's table). */
static void test_memory_states(void **state)
{
    (void)state;
    static const struct {
        yoke_dtype_t dtype;
        yoke_optimizer_t optimizer;
        unsigned ranks;
        bool sharded;
        double bytes;
    } rows[] = {{YOKE_BF16, YOKE_OPTIMIZER_ADAM, 1, false, 18},
                {YOKE_BF16, YOKE_OPTIMIZER_ADAM, 4, false, 18},
                {YOKE_BF16, YOKE_OPTIMIZER_ADAM, 4, true, 6 + 12.0 / 4},
                {YOKE_FP32, YOKE_OPTIMIZER_ADAM, 1, false, 16},
                {YOKE_FP32, YOKE_OPTIMIZER_ADAM, 8, true, 8 + 8.0 / 8},
                {YOKE_BF16, YOKE_OPTIMIZER_SGD, 1, false, 14},
                {YOKE_BF16, YOKE_OPTIMIZER_NONE, 1, false, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world_t world;
        open_world(&world, &small, 1, 1, 1);
        world.problem->options.dtype = rows[i].dtype;
        world.problem->options.optimizer = rows[i].optimizer;
        fixture_pipeline_t only;
        fixture_pipeline_set(&only, world.problem, 1, NULL, (unsigned[]){0}, 2, 1);
        yoke_memory_terms_t terms;
        yoke_stage_memory(world.problem, world.cache, &only.stages[0], &only.replicas[0],
                          1, rows[i].ranks, rows[i].sharded, true, &terms);
        double parameters = 6 * BLOCK + 2 * VOCABULARY + 512;
        fixture_assert_near(terms.weights + terms.gradients + terms.optimizer,
                            parameters * rows[i].bytes, 1e-12, "states");
        close_world(&world);
    }
}

static void test_memory_terms(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 1, 1, 4);
    world.constants.context_bytes = 1e9;
    world.constants.communication_bytes = 3e8;
    world.constants.slack_fraction = 0.05;
    fixture_pipeline_t four;
    fixture_pipeline_set(&four, world.problem, 4, (unsigned[]){2, 4, 6},
                         (unsigned[]){0, 1, 2, 3}, 3, 2);
    evaluate(&world, &four.pipeline, 1, false);
    yoke_layer_bytes_t block;
    yoke_layer_get_bytes(&world.model->layers[1], 1, 2, 1024, YOKE_BF16,
                         YOKE_RECOMPUTE_NONE, &block);
    static const unsigned in_flight[] = {3, 3, 2, 1}; /* min(M, P - s) of 3 and 4 */
    static const unsigned blocks[] = {1, 2, 2, 1};
    for (unsigned s = 0; s < 4; s++) {
        const yoke_memory_terms_t *m = &world.result.stages[s].memory;
        double others = s == 3 ? 2 * 1024 * 512 * 2.0 * 2 : 0; /* the head's norm */
        fixture_assert_near(m->activations,
                            blocks[s] * block.activations * in_flight[s] + others, 1e-12,
                            "activations");
        assert_true(m->logits == (s == 3 ? 2 * 1024 * 1000 * 8.0 : 0));
        assert_true(m->context == 1e9 && m->communication == 3e8);
        double held = m->weights + m->gradients + m->optimizer + m->activations +
                      m->logits + m->working_set + m->communication;
        fixture_assert_near(m->slack, 0.05 * held, 1e-12, "slack");
        fixture_assert_near(m->predicted, 1.05 * held + 1e9, 1e-12, "sum");
        assert_non_null(m->peak_at);
    }
    assert_true(world.result.fits);

    /* the first stage is the fullest; a byte less than it needs does not fit */
    double need = 0;
    size_t fullest = 0;
    for (unsigned s = 0; s < 4; s++)
        if (world.result.stages[s].memory.predicted > need) {
            need = world.result.stages[s].memory.predicted;
            fullest = s;
        }
    world.problem->classes[0].memory_limit = need;
    evaluate(&world, &four.pipeline, 1, false);
    assert_true(world.result.fits && world.result.tightest_stage == fullest);
    world.problem->classes[0].memory_limit = need - 1;
    double time = evaluate(&world, &four.pipeline, 1, false);
    assert_false(world.result.fits);
    assert_true(time > 0);

    /* replicas also hold a bucket of gradients, at most all of them */
    yoke_memory_terms_t terms;
    world.constants.bucket_bytes = 1e6;
    yoke_stage_memory(world.problem, world.cache, &four.stages[1], &four.replicas[1], 1,
                      2, false, true, &terms);
    assert_true(terms.communication == 3e8 + 1e6);
    world.constants.bucket_bytes = 1e9;
    yoke_stage_memory(world.problem, world.cache, &four.stages[1], &four.replicas[1], 1,
                      2, false, true, &terms);
    assert_true(terms.communication == 3e8 + 2 * BLOCK * 4);

    fixture_pipeline_t one;
    fixture_pipeline_set(&one, world.problem, 1, NULL, (unsigned[]){0}, 3, 2);
    evaluate(&world, &one.pipeline, 1, false);
    assert_true(world.result.stages[0].memory.communication == 0); /* alone */
    world.problem->classes[0].rates.host = true;
    world.constants.host_context_bytes = 7;
    evaluate(&world, &one.pipeline, 1, false);
    assert_true(world.result.stages[0].memory.context == 7);
    close_world(&world);
}

static void test_cannot_shard(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 1, 1, 3);
    unsigned slots[] = {0, 1, 2};
    yoke_replica_t replica = {1, 3, 0, slots};
    yoke_stage_t stage = {.last = 7, .replicas = &replica, .replica_count = 1};
    yoke_pipeline_t pipeline = {1, &stage, 1};
    yoke_layout_t layout = {false, &pipeline, 1};
    yoke_log_set_level(YOKE_LOG_ERROR);
    assert_int_equal(
        yoke_evaluate(world.problem, world.cache, &layout, NULL, NULL, &world.result),
        YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "degree 3"));
    close_world(&world);
}

typedef struct totals {
    double busy, sync, optimizer, latest;
} totals_t;

static void add_event(void *context, unsigned pipeline, unsigned stage,
                      yoke_event_kind_t kind, unsigned micro_batch, double start,
                      double end)
{
    totals_t *totals = context;
    (void)pipeline;
    (void)stage;
    (void)micro_batch;
    assert_true(end >= start);
    if (kind == YOKE_EVENT_FORWARD || kind == YOKE_EVENT_BACKWARD)
        totals->busy += end - start;
    if (kind == YOKE_EVENT_SYNC)
        totals->sync += end - start;
    if (kind == YOKE_EVENT_OPTIMIZER)
        totals->optimizer += end - start;
    totals->latest = end > totals->latest ? end : totals->latest;
}

static void test_events(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 4, 1, 1);
    world.constants.optimizer_traffic_adam = 30;
    world.constants.step_overhead = 0.125;
    fixture_pipeline_t a, b;
    fixture_pipeline_set(&a, world.problem, 2, (unsigned[]){3}, (unsigned[]){0, 1}, 4, 1);
    fixture_pipeline_set(&b, world.problem, 2, (unsigned[]){5}, (unsigned[]){2, 3}, 3, 1);
    yoke_pipeline_t pipelines[] = {a.pipeline, b.pipeline};
    yoke_layout_t layout = {false, pipelines, 2};
    totals_t totals = {0};
    assert_int_equal(yoke_evaluate(world.problem, world.cache, &layout, add_event,
                                   &totals, &world.result),
                     YOKE_OK);
    double busy = 0, sync = 0, optimizer = 0;
    for (size_t i = 0; i < 4; i++) {
        const yoke_stage_result_t *r = &world.result.stages[i];
        busy += (r->forward + r->backward) * (i < 2 ? 4 : 3);
        sync += r->sync;
        optimizer += r->optimizer;
    }
    fixture_assert_near(totals.busy, busy, 1e-9, "busy");
    fixture_assert_near(totals.sync, sync, 1e-9, "sync");
    fixture_assert_near(totals.optimizer, optimizer, 1e-9, "optimizer");
    assert_true(optimizer > 0 && sync > 0);
    assert_true(world.result.iteration_time == totals.latest + 0.125);
    close_world(&world);
}

/* A random layout of one or two pipelines on distinct hosts. */
static unsigned random_layout(uint64_t *seed, const yoke_problem_t *problem,
                              fixture_pipeline_t pipelines[2])
{
    unsigned count = 1 + (unsigned)(fixture_random(seed) % 2);
    unsigned slot = 0;
    for (unsigned p = 0; p < count; p++) {
        unsigned stages = 1 + (unsigned)(fixture_random(seed) % 3);
        unsigned cuts[2] = {1 + (unsigned)(fixture_random(seed) % 3),
                            4 + (unsigned)(fixture_random(seed) % 4)};
        unsigned slots[3];
        for (unsigned s = 0; s < stages; s++)
            slots[s] = slot++;
        fixture_pipeline_set(&pipelines[p], problem, stages, cuts, slots,
                             1 + (unsigned)(fixture_random(seed) % 6),
                             1 + (unsigned)(fixture_random(seed) % 3));
    }
    return count;
}

/* Faster devices and links never make a layout slower, and nothing depends on what was
 * evaluated before. */
static void test_monotonic_and_repeatable(void **state)
{
    (void)state;
    uint64_t seed = 3;
    world_t world, other;
    open_world(&world, &small, 2, 3, 1);
    world.constants = fixture_constants();
    for (int i = 0; i < 400; i++) {
        fixture_pipeline_t pipelines[2];
        unsigned count = random_layout(&seed, world.problem, pipelines);
        yoke_pipeline_t list[2] = {pipelines[0].pipeline, pipelines[1].pipeline};
        bool sharded = fixture_random(&seed) % 2 == 0;
        double before = evaluate(&world, list, count, sharded);

        open_world(&other, &small, 2, 3, 1);
        other.constants = world.constants;
        memcpy(other.problem->classes, world.problem->classes,
               world.problem->class_count * sizeof *world.problem->classes);
        assert_true(evaluate(&other, list, count, sharded) == before); /* the same bits */
        assert_memory_equal(other.result.stages, world.result.stages,
                            world.result.stage_count * sizeof *world.result.stages);

        yoke_class_t *class = &other.problem->classes[fixture_random(&seed) % 3];
        double *rates[] = {&class->rates.compute, &class->rates.bandwidth,
                           &class->rates.link, &class->nic, &class->intra};
        *rates[fixture_random(&seed) % 5] *= fixture_uniform(&seed, 1, 5);
        yoke_cost_cache_free(other.cache);
        other.cache = yoke_cost_cache_new(other.problem);
        assert_non_null(other.cache);
        assert_true(evaluate(&other, list, count, sharded) <= before * (1 + 1e-12));
        close_world(&other);
    }
    close_world(&world);
}

static void test_cache(void **state)
{
    (void)state;
    world_t world;
    open_world(&world, &small, 1, 2, 1);
    const yoke_cost_table_t *first =
        yoke_cost_cache_get(world.cache, 0, 1, 1, YOKE_RECOMPUTE_NONE);
    /* enough to grow: pointers stay */
    for (unsigned micro_batch = 1; micro_batch <= 40; micro_batch++)
        for (unsigned recompute = 0; recompute < 3; recompute++) {
            const yoke_cost_table_t *table = yoke_cost_cache_get(
                world.cache, 1, 2, micro_batch, (yoke_recompute_t)recompute);
            assert_non_null(table);
            assert_true(table->possible);
            assert_ptr_equal(table, yoke_cost_cache_get(world.cache, 1, 2, micro_batch,
                                                        (yoke_recompute_t)recompute));
        }
    assert_ptr_equal(first,
                     yoke_cost_cache_get(world.cache, 0, 1, 1, YOKE_RECOMPUTE_NONE));
    assert_false(
        yoke_cost_cache_get(world.cache, 0, 3, 1, YOKE_RECOMPUTE_NONE)->possible);
    for (unsigned i = 0; i < 8; i++) {
        yoke_layer_cost_t cost = layers_cost(&world, 0, 0, i, 1);
        fixture_assert_near(first->forward[i + 1], cost.forward, 1e-12, "prefix");
        fixture_assert_near(first->backward[i + 1], cost.backward, 1e-12, "prefix");
    }
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_device),
        cmocka_unit_test(test_boundary_paths),
        cmocka_unit_test(test_boundary_shares),
        cmocka_unit_test(test_two_stages),
        cmocka_unit_test(test_slowest_replica),
        cmocka_unit_test(test_sync_paths),
        cmocka_unit_test(test_unequal_pipelines),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_memory_states),
        cmocka_unit_test(test_memory_terms),
        cmocka_unit_test(test_cannot_shard),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_monotonic_and_repeatable),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
