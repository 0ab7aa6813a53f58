/* SPDX-License-Identifier: Apache-2.0 */
/* yoke_layer_get_work() against sums made by hand. */
#include "model_support.h"

/* cmocka 1.1.5 compares floats only: exact equality, since every number here is whole. */
#define assert_same(GOT, RIGHT)                                                          \
    do {                                                                                 \
        double got_ = (GOT), right_ = (RIGHT);                                           \
        if (got_ != right_)                                                              \
            fail_msg("%s is %.17g, expected %.17g", #GOT, got_, right_);                 \
    } while (0)

static yoke_layer_work_t work_of(const yoke_layer_t *layer, double batch, double sequence)
{
    yoke_layer_work_t work;
    yoke_layer_get_work(layer, batch, sequence, 2, &work);
    return work;
}

/* Llama-3.1-8B, one sample of 4096 tokens, bf16. */
static void test_llama_block(void **state)
{
    (void)state;
    yoke_model_t *model = support_read("llama-3.1-8b", NULL);
    const double s = 4096, h = 4096, f = 14336, kv = 1024;
    yoke_layer_work_t work = work_of(&model->layers[1], 1, s);
    double matmul = 2 * h * h + 2 * kv * h + 3 * f * h;
    assert_same(work.matmul_flops, 2 * matmul * s);
    /* Score and mix are 2 s^2 x 32 heads x 128 each; the causal half of both. */
    assert_same(work.attention_flops, 2 * s * s * h);
    assert_same(work.weight_bytes, 2 * (matmul + 2 * h));
    /* Norm inputs 2h, q/k/v input h, q h, k and v 2kv, o's input h, MLP input h, gate, up
     * and product 3f; one log-sum-exp of 4 bytes per head. */
    assert_same(work.activation_bytes, s * (2 * (6 * h + 2 * kv + 3 * f) + 4 * 32));
    assert_same(work.activation_bytes_selective, s * 2 * (6 * h + 2 * kv + 3 * f));
    assert_same(work.activation_cut_bytes, s * (2 * (2 * h + 2 * kv + 3 * f) + 4 * 32));
    assert_same(work.boundary_bytes, 2 * s * h);
    assert_same(work.cache_bytes, 2 * s * 2 * kv);
    assert_same(work.logit_bytes, 0);
    yoke_model_free(model);
}

static void test_ends(void **state)
{
    (void)state;
    yoke_model_t *model = support_read("llama-3.1-8b", NULL);
    const double s = 100, h = 4096, v = 128256;
    yoke_layer_work_t embed = work_of(&model->layers[0], 1, s);
    assert_same(embed.matmul_flops, 0);
    assert_same(embed.weight_bytes, 2 * s * h); /* a lookup reads one row a token */
    assert_same(embed.activation_bytes, 0);
    assert_same(embed.boundary_bytes, 2 * s * h);
    yoke_layer_work_t head = work_of(&model->layers[33], 1, s);
    assert_same(head.matmul_flops, 2 * v * h * s);
    assert_same(head.activation_bytes, 2 * s * 2 * h);
    assert_same(head.logit_bytes, 4 * s * v);
    assert_same(head.boundary_bytes, 0);
    yoke_model_free(model);
    /* A tied head stores nothing and multiplies all the same. */
    model = support_read("gpt2", NULL);
    head = work_of(&model->layers[13], 1, s);
    assert_int_equal(model->layers[13].parameters, 2 * 768);
    assert_same(head.matmul_flops, 2.0 * 50257 * 768 * s);
    assert_same(head.weight_bytes, 2.0 * (50257 * 768 + 2 * 768));
    yoke_model_free(model);
}

/* Training costs about 6 FLOPs a parameter and token: 2 of them forward. */
static void test_rule_of_six(void **state)
{
    (void)state;
    static const char *const names[] = {"llama-2-7b", "llama-3.1-70b", "llama-3.1-405b",
                                        "mixtral-8x7b", "deepseek-v3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        yoke_model_t *model = support_read(names[i], NULL);
        double matmul = 0;
        for (size_t k = 0; k < model->layer_count; k++)
            matmul += work_of(&model->layers[k], 1, 1).matmul_flops;
        /* The embedding is a lookup; norms and the like are no matmuls. */
        double rule =
            2.0 * (double)(model->parameters_active - model->layers[0].parameters);
        assert_true(matmul <= rule && matmul > 0.999 * rule);
        yoke_model_free(model);
    }
}

/* GPT-3-like block without a gate: 34 s b h of the literature has two masks of one byte.
 */
static void test_plain_block(void **state)
{
    (void)state;
    yoke_model_t *model = support_parse(
        "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_head\": 4, \"n_layer\": 1, "
        "\"n_positions\": 32, \"vocab_size\": 10}");
    yoke_layer_work_t work = work_of(&model->layers[1], 3, 32);
    assert_same(work.activation_bytes_selective, 32.0 * 3 * 32 * 64);
    assert_same(work.attention_flops, 3.0 * 2 * 32 * 32 * 64);
    yoke_model_free(model);
}

static void test_experts(void **state)
{
    (void)state;
    yoke_model_t *model = support_read("mixtral-8x7b", NULL);
    const yoke_layer_t *layer = &model->layers[1];
    const double h = 4096, f = 14336, attention = 2 * h * h + 2 * 1024 * h;
    yoke_layer_work_t many = work_of(layer, 1, 1000), one = work_of(layer, 1, 1);
    assert_same(many.matmul_flops, 1000 * 2 * (attention + 8 * h + 2 * 3 * f * h));
    /* One token reads two experts, many tokens all eight. */
    assert_same(one.weight_bytes, 2 * (attention + 8 * h + 2 * 3 * f * h + 2 * h));
    assert_same(many.weight_bytes, 2 * (attention + 8 * h + 8 * 3 * f * h + 2 * h));
    /* Beyond attention (5h + 2kv, as in a dense block): the router's input, and for each
     * of two experts the token's copy, gate, up, product and output; 8 scores in 4 bytes.
     */
    assert_same(one.activation_bytes,
                2 * (5 * h + 2 * 1024 + h + 2 * (2 * h + 3 * f)) + 4 * 8 + 4 * 32);
    yoke_model_free(model);
}

static double flops(const char *attention, double sequence)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"schema\": \"yoke-model/1\", \"layers\": [{\"name\": \"x\", \"kind\": "
             "\"decoder\", \"hidden\": 8, \"attention\": {%s}, \"tensors\": []}]}",
             attention);
    yoke_model_t *model = support_parse(text);
    yoke_layer_work_t work = work_of(&model->layers[0], 1, sequence);
    yoke_model_free(model);
    return work.attention_flops;
}

static void test_windows(void **state)
{
    (void)state;
#define HEADS "\"heads\": 2, \"kv_heads\": 1, \"qk_dim\": 3, \"v_dim\": 5"
    const double pair = 2 * 2 * (3 + 5);
    assert_same(flops(HEADS, 100), pair * 100 * 100 / 2);
    assert_same(flops(HEADS ", \"window\": 100", 100), pair * 100 * 100 / 2);
    assert_same(flops(HEADS ", \"window\": 200", 100), pair * 100 * 100 / 2);
    /* A triangle of 20, then 80 rows of 20. */
    assert_same(flops(HEADS ", \"window\": 20", 100), pair * (20 * 20 / 2 + 80 * 20));
    /* Four triangles of 24 and one of 4. */
    assert_same(flops(HEADS ", \"window\": 24, \"chunked\": true", 100),
                pair * (4 * 24 * 24 / 2 + 4 * 4 / 2));
    /* Index heads score all pairs, attention only those chosen. */
    assert_same(
        flops(HEADS ", \"window\": 20, \"index_heads\": 3, \"index_dim\": 7", 100),
        pair * (20 * 20 / 2 + 80 * 20) + 2 * 3 * 7 * 100 * 100 / 2);
    /* A state of 3 x 5 is updated and read once a token. */
    assert_same(flops(HEADS ", \"linear\": true, \"state\": 15", 100), 2 * 4 * 15 * 100);
}

static void test_caches(void **state)
{
    (void)state;
    yoke_model_t *model =
        support_read(support_path("tests/cases/model-05-experts-without-own-"
                                  "width/config.json"),
                     NULL);
    double cache = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        cache += work_of(&model->layers[i], 1, 1).cache_bytes;
    assert_same(cache, 131072); /* of the case, per token */
    yoke_model_free(model);
    model = support_read("deepseek-v3", NULL);
    assert_same(work_of(&model->layers[1], 2, 10).cache_bytes, 2.0 * 2 * 10 * (512 + 64));
    yoke_model_free(model);
    model = support_read(support_path("tests/costmodel/data/small/gemma3.json"), NULL);
    /* A window of 16 holds 16 tokens; the sixth layer holds all. */
    assert_same(work_of(&model->layers[1], 1, 100).cache_bytes, 2.0 * 16 * 2 * 4 * 256);
    assert_same(work_of(&model->layers[6], 1, 100).cache_bytes, 2.0 * 100 * 2 * 4 * 256);
    yoke_model_free(model);
    model =
        support_read(support_path("tests/costmodel/data/small/qwen3-next.json"), NULL);
    assert_same(work_of(&model->layers[1], 1, 100).cache_bytes,
                work_of(&model->layers[1], 1, 7).cache_bytes);
    yoke_model_free(model);
}

/* The document's coefficients make the same numbers as the function. */
static void test_coefficients(void **state)
{
    (void)state;
    yoke_model_t *model = support_read("deepseek-v3", NULL);
    char *text = NULL;
    assert_int_equal(yoke_model_text(model, &text), YOKE_OK);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *layer = json_array_get(json_object_get(root, "layers"), 2);
    const json_t *flops_of = json_object_get(layer, "forward_flops");
    const json_t *bytes_of = json_object_get(layer, "activation_bytes");
    const double b = 3, s = 512;
#define NUMBER(OBJECT, KEY) ((double)json_integer_value(json_object_get(OBJECT, KEY)))
    yoke_layer_work_t work = work_of(&model->layers[5], b, s);
    assert_same(work.matmul_flops + work.attention_flops,
                NUMBER(flops_of, "per_token") * b * s +
                    NUMBER(flops_of, "per_token_pair") * b * s * s / 2);
    assert_same(work.activation_bytes, b * s *
                                           (2 * NUMBER(bytes_of, "per_token_element") +
                                            NUMBER(bytes_of, "per_token")));
    json_decref(root);
    free(text);
    yoke_model_free(model);
}

/* Case model-11: products beyond 32 bits, and the bytes of its 14 stages. */
static void test_over_32_bits(void **state)
{
    (void)state;
    json_t *root =
        support_json(support_path("tests/cases/model-11-over-32-bits/case.json"));
    const json_t *right = json_object_get(root, "right");
    yoke_model_t *model =
        support_read(support_path("tests/cases/model-11-over-32-bits/config.json"), NULL);
    double layer = 2 * (double)model->layers[1].parameters;
    double embed = 2 * (double)model->layers[0].parameters;
    double head = 2 * (double)model->layers[127].parameters;
    assert_same((double)model->layers[1].parameters, NUMBER(right, "per_layer"));
    assert_same(layer, NUMBER(right, "per_layer_bytes"));
    assert_same(2 * (double)model->parameters_total, NUMBER(right, "bytes_bf16"));
    assert_same(9 * layer, NUMBER(right, "stage_9_layers_bytes"));
    assert_same(9 * layer + embed, NUMBER(right, "first_stage_bytes"));
    assert_same(9 * layer + head, NUMBER(right, "last_stage_bytes"));
    yoke_model_free(model);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llama_block), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_rule_of_six), cmocka_unit_test(test_plain_block),
        cmocka_unit_test(test_experts),     cmocka_unit_test(test_windows),
        cmocka_unit_test(test_caches),      cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_over_32_bits)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
