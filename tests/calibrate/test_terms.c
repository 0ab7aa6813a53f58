/* SPDX-License-Identifier: Apache-2.0 */
/* Every term that runs of frameworks need, against numbers worked out here by hand. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "costmodel/collective.h"
#include "costmodel/data_parallel.h"
#include "tests/costmodel/fixture.h"

/* h = 8, one head of 8, f = 32: a block has GEMM parameters 8 x 8 x 4 + 2 x 8 x 32 = 768.
 */
static const fixture_spec_t tiny = {
    .layers = 1, .hidden = 8, .ffn = 32, .heads = 2, .kv_heads = 2, .vocabulary = 57};
static const fixture_spec_t experts = {.layers = 1,
                                       .hidden = 8,
                                       .heads = 2,
                                       .kv_heads = 2,
                                       .vocabulary = 57,
                                       .experts = 4,
                                       .experts_active = 2,
                                       .expert_ffn = 16,
                                       .gated = true};

enum { B = 2, S = 4 }; /* samples, tokens of each */

static const double parameters = 768, width = 8;

/* Compute-bound: memory is as good as free. */
static yoke_rates_t fast_memory(void)
{
    return (yoke_rates_t){.compute = 1, .bandwidth = 1e30, .link = 1e30, .link_peers = 8};
}

/* Memory-bound. */
static yoke_rates_t fast_compute(void)
{
    return (yoke_rates_t){.compute = 1e30, .bandwidth = 1, .link = 1e30, .link_peers = 8};
}

static yoke_layer_setting_t usual(void)
{
    return (yoke_layer_setting_t){
        .tp = 1, .micro_batch = B, .sequence = S, .dtype = YOKE_BF16};
}

static yoke_layer_cost_t block(const yoke_rates_t *rates,
                               const yoke_constants_t *constants,
                               const yoke_layer_setting_t *setting)
{
    yoke_model_t *model = fixture_model(&tiny);
    yoke_layer_cost_t out;
    yoke_layer_time_in(&model->layers[1], rates, constants, setting, &out);
    fixture_model_free(model);
    return out;
}

static const double gemm = 2 * 768.0 * B * S; /* FLOPs of a block's GEMMs */
static const double pairs = 2.0 * 8 * 2 * B * (S * S / 2.0); /* causal score and mix */

static void test_attention(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_layer_setting_t setting = usual();
    (void)parameters;
    fixture_assert_near(block(&rates, &c, &setting).forward, gemm + pairs, 1e-12,
                        "causal");
    c.dense_attention = 1; /* the whole square: twice the pairs */
    fixture_assert_near(block(&rates, &c, &setting).forward, gemm + 2 * pairs, 1e-12,
                        "dense");
    c.dense_attention = 0;
    setting.gemm_rate = 2; /* GEMMs in 8 bits twice as fast, attention not */
    fixture_assert_near(block(&rates, &c, &setting).forward, gemm / 2 + pairs, 1e-12,
                        "8-bit GEMMs");
}

static void test_scores(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_compute();
    yoke_layer_setting_t setting = usual();
    double without = block(&rates, &c, &setting).forward;
    c.score_traffic = 3; /* 3 elements of 2 bytes for each of b a s^2 scores */
    fixture_assert_near(block(&rates, &c, &setting).forward - without,
                        3 * 2.0 * B * 2 * S * S, 1e-9, "scores");
}

static void test_exposed_gemm(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_layer_setting_t setting = usual();
    yoke_rates_t both = {.compute = 1, .bandwidth = 1e-3, .link = 1e30};
    double memory_bound = block(&both, &c, &setting).forward;
    c.gemm_exposed = 0.5; /* half of the computing comes on top of the traffic */
    fixture_assert_near(block(&both, &c, &setting).forward - memory_bound, gemm / 2, 1e-9,
                        "exposed");
}

static void test_recompute(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_layer_setting_t setting = usual();
    double plain = block(&rates, &c, &setting).backward;
    fixture_assert_near(plain, 2 * gemm + 2.5 * pairs, 1e-12, "none");
    setting.recompute = YOKE_RECOMPUTE_SELECTIVE;
    fixture_assert_near(block(&rates, &c, &setting).backward, plain + pairs, 1e-12,
                        "attention only");
    c.selective_gemm = 0.5;
    fixture_assert_near(block(&rates, &c, &setting).backward, plain + pairs + gemm / 2,
                        1e-12, "every second GEMM");
    setting.recompute = YOKE_RECOMPUTE_FULL;
    fixture_assert_near(block(&rates, &c, &setting).backward, plain + pairs + gemm, 1e-12,
                        "full");
}

/* Norms and residuals are cut by sequence parallelism, the exchange is not less. */
static void test_sequence_parallel(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_compute();
    yoke_layer_setting_t setting = usual();
    setting.tp = 2;
    c.elementwise_hidden = 0;
    double none = block(&rates, &c, &setting).forward;
    c.elementwise_hidden = 10;
    double whole = block(&rates, &c, &setting).forward - none;
    setting.sequence_parallel = true;
    double cut = block(&rates, &c, &setting).forward - none;
    fixture_assert_near(whole, 10 * width * B * S * 2, 1e-9, "whole");
    fixture_assert_near(cut, whole / 2, 1e-9, "cut");
}

/* Half the tokens, a quarter... of nothing: pairs are shared, keys and values travel. */
static void test_context_parallel(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_layer_setting_t setting = usual();
    setting.cp = 2;
    setting.ring = 1e30;
    fixture_assert_near(block(&rates, &c, &setting).forward, (gemm + pairs) / 2, 1e-12,
                        "shared");
    /* One pass of keys and values of b s / 2 tokens, 2 heads of 4 + 4, 2 bytes: at a rate
     * of 1 B/s 2 x 2 x 8 x 4 = 128 s; the part beyond the attention shows. */
    setting.ring = 1;
    double sent = (B * S / 2.0) * 2 * 8 * 2;
    double attention = pairs / 2;
    double exposed = sent > attention ? sent - attention : 0;
    fixture_assert_near(block(&rates, &c, &setting).forward, (gemm + pairs) / 2 + exposed,
                        1e-12, "ring");
    c.ring_exposed = 1; /* nothing hides */
    fixture_assert_near(block(&rates, &c, &setting).forward, (gemm + pairs) / 2 + sent,
                        1e-12, "ring, exposed");
}

static void test_experts(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_model_t *model = fixture_model(&experts);
    yoke_layer_setting_t setting = usual();
    yoke_layer_cost_t alone, spread, uneven;
    yoke_layer_time_in(&model->layers[1], &rates, &c, &setting, &alone);
    setting.ep = 4;
    setting.expert = 1;
    yoke_layer_time_in(&model->layers[1], &rates, &c, &setting, &spread);
    /* There and back: 3/4 of b s tokens x 2 experts x 8 wide x 2 bytes. */
    fixture_assert_near(spread.forward - alone.forward, 2 * 0.75 * B * S * 2 * 8 * 2,
                        1e-12, "dispatch");
    setting.expert = 1e30;
    setting.imbalance = 1.5; /* experts: 3 matrices of 8 x 16, 2 active */
    yoke_layer_time_in(&model->layers[1], &rates, &c, &setting, &uneven);
    fixture_assert_near(uneven.forward - alone.forward,
                        0.5 * 2.0 * B * S * 2 * 3 * 8 * 16, 1e-9, "imbalance");
    fixture_model_free(model);
}

/* Where launches of exchanges are counted, the device exchanges while the host launches.
 */
static void test_launches(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_layer_setting_t setting = usual();
    rates.link = 1;
    setting.tp = 2;
    double exchange = 2 * (2 * 0.5 * B * S * width * 2); /* two all-reduces over 1 B/s */
    double work = (gemm + pairs) / 2;
    c.kernel_latency = 1;
    c.kernels_per_layer = 1e6;
    fixture_assert_near(block(&rates, &c, &setting).forward, 1e6 + exchange, 1e-12,
                        "on top");
    c.kernels_exchange = 5;
    fixture_assert_near(block(&rates, &c, &setting).forward, 1e6 + 2 * 5, 1e-12,
                        "beside");
    c.kernels_per_layer = 0;
    fixture_assert_near(block(&rates, &c, &setting).forward, work + exchange, 1e-12,
                        "device-bound");
    c.exchange_hidden = 0.25;
    fixture_assert_near(block(&rates, &c, &setting).forward, work + 0.75 * exchange,
                        1e-12, "asynchronous");
}

static void test_head(void **state)
{
    (void)state;
    yoke_constants_t c = fixture_ideal();
    yoke_rates_t rates = fast_memory();
    yoke_model_t *model = fixture_model(&tiny);
    yoke_layer_setting_t setting = usual();
    yoke_layer_cost_t aligned, odd;
    yoke_layer_time_in(&model->layers[2], &rates, &c, &setting, &aligned);
    fixture_assert_near(aligned.forward, 2.0 * B * S * 57 * 8, 1e-12, "head");
    c.misaligned_fraction = 0.5; /* 57 is no multiple of 8 */
    c.head_latency = 3;
    yoke_layer_time_in(&model->layers[2], &rates, &c, &setting, &odd);
    fixture_assert_near(odd.forward, 2 * aligned.forward + 3, 1e-12, "odd rows");
    fixture_model_free(model);
}

static void test_exchange(void **state)
{
    (void)state;
    yoke_constants_t c = {
        .gradient_exchange_bytes = 4, .gather_bytes = 2, .scatter_bytes = 4};
    /* 8 ranks, 4 in a node: their share of the network is 100 B/s, the links give 300. */
    yoke_path_t path = {8, 4, 300, 0.001, 100, 0.01};
    double one = 7.0 / 8 * 1000 / 100, latency = 3 * 0.01;
    fixture_assert_near(yoke_gradient_time(&path, &c, 1000), 2 * (4 * one + latency),
                        1e-12, "all-reduce");
    fixture_assert_near(yoke_gather_time(&path, &c, 1000), 2 * one + latency, 1e-12,
                        "gather");
    fixture_assert_near(yoke_scatter_time(&path, &c, 1000), 4 * one + latency, 1e-12,
                        "scatter");
    path.ranks = 4; /* now all in one node */
    fixture_assert_near(yoke_gather_time(&path, &c, 1000), 0.75 * 2000 / 300 + 2 * 0.001,
                        1e-12, "in the node");
    path.ranks = 1;
    assert_true(yoke_gradient_time(&path, &c, 1000) == 0);
    fixture_assert_near(yoke_cost_ramp(1e6, 8, 1e6), 4, 1e-12, "half of the ramp");
    fixture_assert_near(yoke_cost_ramp(3e6, 8, 1e6), 6, 1e-12, "three quarters");
    fixture_assert_near(yoke_beside(5, 2, 0.25), 5.5, 1e-12, "beside");
    fixture_assert_near(yoke_beside(2, 5, 0), 5, 1e-12, "beside, hidden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_exposed_gemm),
        cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_sequence_parallel),
        cmocka_unit_test(test_context_parallel),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
