/* SPDX-License-Identifier: Apache-2.0 */
/* Layer times and rates against closed forms computed here by hand. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "costmodel/collective.h"
#include "tests/costmodel/fixture.h"

static const fixture_spec_t gpt = {.layers = 2,
                                   .hidden = 1024,
                                   .ffn = 4096,
                                   .heads = 16,
                                   .kv_heads = 16,
                                   .vocabulary = 50257};
static const fixture_spec_t llama = {.layers = 2,
                                     .hidden = 4096,
                                     .ffn = 14336,
                                     .heads = 32,
                                     .kv_heads = 8,
                                     .vocabulary = 128256,
                                     .gated = true};
static const fixture_spec_t sparse = {.layers = 1,
                                      .hidden = 512,
                                      .heads = 8,
                                      .kv_heads = 8,
                                      .vocabulary = 1000,
                                      .experts = 8,
                                      .experts_active = 2,
                                      .expert_ffn = 1024,
                                      .gated = true};

static yoke_layer_cost_t cost(const yoke_layer_t *layer, const yoke_rates_t *rates,
                              const yoke_constants_t *constants, unsigned tp,
                              yoke_recompute_t recompute)
{
    yoke_layer_cost_t out;
    yoke_layer_time(layer, rates, constants, tp, 2, 2048, YOKE_BF16, recompute, &out);
    return out;
}

static void test_collectives(void **state)
{
    (void)state;
    static const unsigned logs[][2] = {{0, 0}, {1, 0}, {2, 1}, {3, 2},
                                       {4, 2}, {5, 3}, {8, 3}, {9, 4}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_int_equal(yoke_ceil_log2(logs[i][0]), logs[i][1]);
    assert_int_equal(yoke_ceil_log2(UINT32_MAX), 32);
    assert_true(yoke_cost_all_reduce(1, 1e9, 1e9, 1) == 0);
    assert_true(yoke_cost_all_gather(1, 1e9, 1e9, 1) == 0);
    /* 2 x 7/8 x 8e9 / 1e9 + 6 x 0.5 */
    fixture_assert_near(yoke_cost_all_reduce(8, 8e9, 1e9, 0.5), 17, 1e-12, "all-reduce");
    fixture_assert_near(yoke_cost_reduce_scatter(8, 8e9, 1e9, 0.5), 8.5, 1e-12, "rs");
    fixture_assert_near(yoke_cost_all_gather(3, 3e9, 1e9, 0.5), 3, 1e-12, "ag");
    fixture_assert_near(yoke_cost_all_to_all(2, 2e9, 1e9, 0.25), 1.25, 1e-12, "a2a");
    fixture_assert_near(yoke_cost_p2p(2e9, 1e9, 0.25), 2.25, 1e-12, "p2p");
    assert_true(yoke_cost_p2p(1, 0, 0) > 1e9); /* no link: hopeless, and not infinite */
}

static yoke_inventory_device_t device(double rate, yoke_source_t source)
{
    yoke_inventory_device_t out = {.kind = YOKE_DEVICE_GPU};
    out.compute[YOKE_BF16] = (yoke_quantity_t){.value = rate, .source = source};
    out.bandwidth = (yoke_quantity_t){.value = 1e12, .source = YOKE_SOURCE_CATALOG};
    return out;
}

static void test_rates(void **state)
{
    (void)state;
    yoke_constants_t constants = fixture_constants();
    yoke_rates_t rates;
    bool supported;
    const char *missing = NULL;

    yoke_inventory_device_t peak = device(1e14, YOKE_SOURCE_CATALOG);
    assert_true(yoke_rates_from_device(&peak, YOKE_BF16, &constants, &rates, &supported,
                                       &missing));
    assert_true(supported);
    fixture_assert_near(rates.compute,
                        1e14 * constants.compute_fraction * constants.gemm_fraction,
                        1e-12, "default fraction");
    fixture_assert_near(rates.bandwidth, 1e12 * constants.bandwidth_fraction, 1e-12,
                        "hbm");
    assert_true(rates.uncertainty == constants.uncertainty_default);
    assert_true(rates.link == constants.default_intra_rate);

    peak.achieved[YOKE_BF16] =
        (yoke_quantity_t){.value = 0.5, .source = YOKE_SOURCE_CATALOG};
    peak.bandwidth_achieved = peak.achieved[YOKE_BF16];
    peak.link_rate = (yoke_quantity_t){.value = 1e11, .source = YOKE_SOURCE_CATALOG};
    assert_true(yoke_rates_from_device(&peak, YOKE_BF16, &constants, &rates, &supported,
                                       &missing));
    fixture_assert_near(rates.compute, 0.5e14 * constants.gemm_fraction, 1e-12,
                        "achieved");
    fixture_assert_near(rates.bandwidth, 0.5e12, 1e-12, "hbm achieved");
    fixture_assert_near(rates.link, 1e11 * constants.link_fraction, 1e-12, "link");
    assert_true(rates.uncertainty == constants.uncertainty_catalog);

    peak.compute[YOKE_BF16].marks = YOKE_MARK_DISPUTED;
    assert_true(yoke_rates_from_device(&peak, YOKE_BF16, &constants, &rates, &supported,
                                       &missing));
    assert_true(rates.uncertainty == constants.uncertainty_disputed);

    yoke_inventory_device_t measured = device(0.7e14, YOKE_SOURCE_MEASURED);
    measured.bandwidth.source = YOKE_SOURCE_MEASURED;
    assert_true(yoke_rates_from_device(&measured, YOKE_BF16, &constants, &rates,
                                       &supported, &missing));
    assert_true(rates.compute == 0.7e14 && rates.bandwidth == 1e12);
    assert_true(rates.uncertainty == constants.uncertainty_measured);
}

static void test_unknown_is_not_zero(void **state)
{
    (void)state;
    yoke_constants_t constants = fixture_constants();
    yoke_rates_t rates;
    bool supported = true;
    const char *missing = NULL;

    /* fp32 known, bf16 not: missing, not guessed, on a CPU as well */
    yoke_inventory_device_t cpu = device(0, YOKE_SOURCE_UNKNOWN);
    cpu.kind = YOKE_DEVICE_CPU;
    cpu.compute[YOKE_FP32] =
        (yoke_quantity_t){.value = 1e12, .source = YOKE_SOURCE_MEASURED};
    assert_false(yoke_rates_from_device(&cpu, YOKE_BF16, &constants, &rates, &supported,
                                        &missing));
    assert_string_equal(missing, "bf16");
    assert_true(yoke_rates_from_device(&cpu, YOKE_FP32, &constants, &rates, &supported,
                                       &missing));
    assert_true(rates.host);

    yoke_inventory_device_t none = device(0, YOKE_SOURCE_CATALOG);
    assert_true(yoke_rates_from_device(&none, YOKE_BF16, &constants, &rates, &supported,
                                       &missing));
    assert_false(supported);

    yoke_inventory_device_t no_memory = device(1e14, YOKE_SOURCE_CATALOG);
    no_memory.bandwidth.source = YOKE_SOURCE_UNKNOWN;
    assert_false(yoke_rates_from_device(&no_memory, YOKE_BF16, &constants, &rates,
                                        &supported, &missing));
    assert_string_equal(missing, "hbm");
}

static void test_mesh(void **state)
{
    (void)state;
    yoke_rates_t mesh = {.link = 7e11, .link_mesh = true, .link_peers = 8};
    fixture_assert_near(yoke_rates_group_bandwidth(&mesh, 8), 7e11, 1e-12, "all peers");
    fixture_assert_near(yoke_rates_group_bandwidth(&mesh, 4), 3e11, 1e-12, "half");
    fixture_assert_near(yoke_rates_pair_bandwidth(&mesh), 1e11, 1e-12, "pair");
    mesh.link_mesh = false;
    fixture_assert_near(yoke_rates_pair_bandwidth(&mesh), 7e11, 1e-12, "switched");
}

/* Bridges: a tensor group that fits one has it; the others go through the host. */
static void test_bridge(void **state)
{
    (void)state;
    yoke_rates_t bridge = {
        .link = 3e11, .link_group = 2, .link_beyond = 1e10, .link_peers = 4};
    fixture_assert_near(yoke_rates_group_bandwidth(&bridge, 2), 3e11, 1e-12, "pair");
    fixture_assert_near(yoke_rates_group_bandwidth(&bridge, 4), 1e10, 1e-12, "four");
    fixture_assert_near(yoke_rates_spread_bandwidth(&bridge, 2), 1e10, 1e-12, "any two");
    fixture_assert_near(yoke_rates_pair_bandwidth(&bridge), 1e10, 1e-12, "any pair");
    bridge.link_peers = 2;
    fixture_assert_near(yoke_rates_pair_bandwidth(&bridge), 3e11, 1e-12, "the only two");
    bridge.link_group = 8;
    bridge.link_peers = 16;
    fixture_assert_near(yoke_rates_group_bandwidth(&bridge, 8), 3e11, 1e-12, "island");
    fixture_assert_near(yoke_rates_group_bandwidth(&bridge, 16), 1e10, 1e-12, "beyond");
}

/* Memory infinitely fast, no overheads: FLOPs / rate. */
static void test_compute_bound(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    yoke_rates_t rates = {.compute = 1e14, .bandwidth = 1e30};
    yoke_model_t *model = fixture_model(&llama);
    double tokens = 2.0 * 2048, h = 4096, f = 14336, kv = 1024;
    double gemm = 2 * tokens * (2 * h * h + 2 * h * kv + 3 * h * f);
    double attention = 4 * tokens * 1024 * h; /* a query sees half of the keys */
    yoke_layer_cost_t block =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(block.forward, (gemm + attention) / 1e14, 1e-9, "forward");
    fixture_assert_near(block.backward, (2 * gemm + 2.5 * attention) / 1e14, 1e-9,
                        "backward");
    fixture_assert_near(block.flops, 3 * (gemm + attention), 1e-12, "flops");

    double head = 2 * tokens * h * 128256;
    yoke_layer_cost_t last =
        cost(&model->layers[3], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(last.forward, head / 1e14, 1e-9, "head");

    yoke_layer_cost_t selective =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_SELECTIVE);
    fixture_assert_near(selective.backward - block.backward, attention / 1e14, 1e-9,
                        "selective");
    yoke_layer_cost_t full =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_FULL);
    fixture_assert_near(full.backward - block.backward, block.forward, 1e-9, "full");
    yoke_layer_cost_t again =
        cost(&model->layers[3], &rates, &ideal, 1, YOKE_RECOMPUTE_FULL);
    assert_true(again.backward == last.backward); /* only blocks are computed again */
    fixture_model_free(model);
}

static void test_window(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    yoke_rates_t rates = {.compute = 1e14, .bandwidth = 1e30};
    yoke_model_t *model = fixture_model(&llama);
    yoke_layer_t *layer = &model->layers[1];
    double full = cost(layer, &rates, &ideal, 1, YOKE_RECOMPUTE_NONE).forward;
    layer->attention.window = 512;
    double window = cost(layer, &rates, &ideal, 1, YOKE_RECOMPUTE_NONE).forward;
    /* mean keys: exact sum over queries of min(position, window), up to half a key */
    double keys = 0;
    for (int i = 0; i < 2048; i++)
        keys += i < 512 ? i + 0.5 : 512;
    double saved = 4 * 4096.0 * (1024 - keys / 2048) * 4096 / 1e14;
    fixture_assert_near(full - window, saved, 1e-3, "window");
    layer->attention.chunked = true;
    double chunk = cost(layer, &rates, &ideal, 1, YOKE_RECOMPUTE_NONE).forward;
    fixture_assert_near(full - chunk, 4 * 4096.0 * (1024 - 256) * 4096 / 1e14, 1e-9,
                        "chunk");
    fixture_model_free(model);
}

/* Compute infinitely fast: bytes / bandwidth. */
static void test_memory_bound(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    ideal.elementwise_hidden = 10;
    ideal.elementwise_ffn = 3;
    yoke_rates_t rates = {.compute = 1e30, .bandwidth = 1e12};
    yoke_model_t *model = fixture_model(&gpt);
    double tokens = 4096, h = 1024, f = 4096;
    double weights = 4 * h * h + 2 * h * f;
    double gemm = weights + tokens * (8 * h + 2 * h + 2 * f);
    double attention = tokens * 4 * h;
    double elementwise = tokens * (10 * h + 3 * f);
    yoke_layer_cost_t block =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(block.forward, 2 * (gemm + attention + elementwise) / 1e12, 1e-9,
                        "bytes");
    fixture_model_free(model);
}

static void test_host_floor(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    ideal.kernels_per_layer = 30;
    ideal.kernel_latency = 1e-5;
    yoke_rates_t rates = {.compute = 1e30, .bandwidth = 1e30};
    yoke_model_t *model = fixture_model(&gpt);
    yoke_layer_cost_t block =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(block.forward, 3e-4, 1e-9, "floor");
    fixture_assert_near(block.backward, 6e-4, 1e-9, "floor");
    rates.host = true;
    block = cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    assert_true(block.forward < 1e-12);
    fixture_model_free(model);
}

static void test_tensor_parallel(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    yoke_rates_t rates = {
        .compute = 1e14, .bandwidth = 1e30, .link = 1e11, .link_latency = 1e-6};
    yoke_model_t *model = fixture_model(&gpt);
    double bytes = 4096.0 * 1024 * 2;
    double whole =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE).forward;
    double quarter =
        cost(&model->layers[1], &rates, &ideal, 4, YOKE_RECOMPUTE_NONE).forward;
    double exchange = 2 * (2 * 0.75 * bytes / 1e11 + 4 * 1e-6);
    fixture_assert_near(quarter, whole / 4 + exchange, 1e-9, "2 all-reduces");
    model->layers[1].parallel = true;
    quarter = cost(&model->layers[1], &rates, &ideal, 4, YOKE_RECOMPUTE_NONE).forward;
    fixture_assert_near(quarter, whole / 4 + exchange / 2, 1e-9, "1 when parallel");

    rates.link_mesh = true;
    rates.link_peers = 7; /* 3 of 6 neighbours: half of the link */
    quarter = cost(&model->layers[1], &rates, &ideal, 4, YOKE_RECOMPUTE_NONE).forward;
    fixture_assert_near(quarter, whole / 4 + 2 * 2 * 0.75 * bytes / 1e11 + 4e-6, 1e-9,
                        "mesh");

    /* 50257 rows on 4 ranks: 12565 each */
    rates = (yoke_rates_t){.compute = 1e14, .bandwidth = 1e30, .link = 1e30};
    double head = cost(&model->layers[3], &rates, &ideal, 4, YOKE_RECOMPUTE_NONE).forward;
    fixture_assert_near(head, 2 * 4096.0 * 1024 * 12565 / 1e14, 1e-9, "padded rows");
    fixture_model_free(model);
}

static void test_experts(void **state)
{
    (void)state;
    yoke_constants_t ideal = fixture_ideal();
    ideal.expert_fraction = 0.5;
    yoke_rates_t rates = {.compute = 1e14, .bandwidth = 1e30};
    yoke_model_t *model = fixture_model(&sparse);
    double tokens = 4096, h = 512, f = 1024;
    double dense = 2 * tokens * (4 * h * h + h * 8) + 4 * tokens * 1024 * h;
    double experts = 2 * tokens * 2 * 3 * h * f;
    yoke_layer_cost_t block =
        cost(&model->layers[1], &rates, &ideal, 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(block.forward, (dense + experts / 0.5) / 1e14, 1e-9, "experts");
    fixture_assert_near(block.flops, 3 * (dense + experts), 1e-12,
                        "flops, router included");

    /* one token touches 2 of the 8 experts: the other weights are not read */
    rates = (yoke_rates_t){.compute = 1e30, .bandwidth = 1e12};
    yoke_layer_cost_t one;
    yoke_layer_time(&model->layers[1], &rates, &ideal, 1, 1, 1, YOKE_BF16,
                    YOKE_RECOMPUTE_NONE, &one);
    double weights = 4 * h * h + 8 * h + 2 * 3 * h * f;
    assert_true(one.forward > 2 * weights / 1e12);
    assert_true(one.forward < 2 * weights * 1.02 / 1e12);
    fixture_model_free(model);
}

/* More of anything is never slower. */
static void test_monotonic(void **state)
{
    (void)state;
    yoke_constants_t constants = fixture_constants();
    uint64_t seed = 7;
    yoke_model_t *models[] = {fixture_model(&gpt), fixture_model(&llama),
                              fixture_model(&sparse)};
    for (int i = 0; i < 2000; i++) {
        const yoke_model_t *model = models[fixture_random(&seed) % 3];
        const yoke_layer_t *layer =
            &model->layers[fixture_random(&seed) % model->layer_count];
        unsigned tp = 1u << fixture_random(&seed) % 4;
        yoke_recompute_t recompute = (yoke_recompute_t)(fixture_random(&seed) % 3);
        yoke_rates_t rates = {.compute = fixture_uniform(&seed, 1e12, 1e15),
                              .bandwidth = fixture_uniform(&seed, 1e10, 1e13),
                              .link = fixture_uniform(&seed, 1e9, 1e12),
                              .link_latency = 1e-6,
                              .link_mesh = fixture_random(&seed) % 2 == 0,
                              .link_peers = 8};
        yoke_layer_cost_t before = cost(layer, &rates, &constants, tp, recompute);
        double *rate[] = {&rates.compute, &rates.bandwidth, &rates.link};
        *rate[fixture_random(&seed) % 3] *= fixture_uniform(&seed, 1, 4);
        yoke_layer_cost_t after = cost(layer, &rates, &constants, tp, recompute);
        assert_true(before.forward > 0 && before.backward > 0);
        assert_true(after.forward <= before.forward && after.backward <= before.backward);
    }
    for (size_t i = 0; i < 3; i++)
        fixture_model_free(models[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_unknown_is_not_zero),
        cmocka_unit_test(test_mesh),
        cmocka_unit_test(test_bridge),
        cmocka_unit_test(test_compute_bound),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_memory_bound),
        cmocka_unit_test(test_host_floor),
        cmocka_unit_test(test_tensor_parallel),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_monotonic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
