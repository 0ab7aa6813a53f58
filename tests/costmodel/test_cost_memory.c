/* SPDX-License-Identifier: Apache-2.0 */
/* How layers are cut, and the bytes of one rank, against published formulas. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/costmodel/fixture.h"

static json_t *read_case(const char *file)
{
    char path[4096];
    const char *source = getenv("YOKE_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/cases/plan-04-kv-heads/%s",
             source ? source : ".", file);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

static uint64_t number(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

/* Case plan-04: heads per device, or a refusal; never less than one head. */
static void test_heads(void **state)
{
    (void)state;
    json_t *rows = read_case("rows.json");
    json_t *whole = read_case("case.json");
    json_t *right = json_object_get(whole, "right");
    const char *name;
    json_t *row;
    size_t seen = 0;
    json_object_foreach(rows, name, row)
    {
        json_t *answer = json_object_get(right, name);
        uint64_t q = 0, kv = 0, copies = 0, heads = number(row, "heads");
        bool ok = yoke_shard_heads(heads, number(row, "kv"), number(row, "tp"), &q, &kv,
                                   &copies);
        seen++;
        if (json_is_string(answer)) {
            assert_int_equal(strncmp(json_string_value(answer), "refused", 7), 0);
            assert_false(ok);
            continue;
        }
        assert_true(ok);
        assert_int_equal(q, number(answer, "q"));
        assert_int_equal(kv, number(answer, "kv"));
        assert_int_equal(copies, number(answer, "copies"));
    }
    assert_int_equal(seen, 6);

    json_t *c = json_object_get(rows, "c");
    json_t *weights = json_object_get(right, "c_kv_weight_rows");
    uint64_t all = number(c, "kv") * number(c, "head_dim");
    assert_int_equal(all, number(weights, "unsplit"));
    yoke_layer_t layer = {
        .attention = {.heads = number(c, "heads"), .kv_heads = number(c, "kv")}};
    yoke_tensor_t tensor = {.rows = all, .columns = 1, .shard = YOKE_SHARD_KV_HEADS};
    double share = yoke_tensor_share(&layer, &tensor, number(c, "tp"));
    assert_true(share * (double)all == (double)number(weights, "per_device"));
    assert_true(share * (double)all * (double)number(c, "tp") ==
                (double)number(weights, "total"));
    json_decref(rows);
    json_decref(whole);
}

static void test_head_edges(void **state)
{
    (void)state;
    uint64_t q, kv, copies;
    assert_false(yoke_shard_heads(8, 8, 0, &q, &kv, &copies));
    assert_false(yoke_shard_heads(0, 0, 2, &q, &kv, &copies));
    assert_false(yoke_shard_heads(8, 8, 16, &q, &kv, &copies)); /* half a head */
    assert_true(yoke_shard_heads(8, 8, 1, &q, &kv, &copies));
    assert_int_equal(q, 8);
    assert_int_equal(kv, 8);
    assert_int_equal(copies, 1);
}

static void test_can_shard(void **state)
{
    (void)state;
    fixture_spec_t spec = {.layers = 1,
                           .hidden = 768,
                           .ffn = 3072,
                           .heads = 12,
                           .kv_heads = 12,
                           .vocabulary = 50257};
    yoke_model_t *model = fixture_model(&spec);
    assert_true(yoke_layer_can_shard(&model->layers[1], 1));
    assert_true(yoke_layer_can_shard(&model->layers[1], 4));
    assert_true(yoke_layer_can_shard(&model->layers[1], 6));
    assert_false(yoke_layer_can_shard(&model->layers[1], 8)); /* 12 heads */
    assert_false(yoke_layer_can_shard(&model->layers[1], 0));
    assert_true(yoke_layer_can_shard(&model->layers[0], 8)); /* rows are padded */
    fixture_model_free(model);

    spec = (fixture_spec_t){.layers = 1,
                            .hidden = 512,
                            .heads = 8,
                            .kv_heads = 8,
                            .vocabulary = 99,
                            .experts = 6,
                            .experts_active = 2,
                            .expert_ffn = 100};
    model = fixture_model(&spec);
    assert_true(yoke_layer_can_shard(&model->layers[1], 2));
    assert_true(yoke_layer_can_shard(&model->layers[1], 4));  /* 100 columns each */
    assert_false(yoke_layer_can_shard(&model->layers[1], 8)); /* neither 6 nor 100 */
    fixture_model_free(model);
}

static yoke_layer_bytes_t bytes_of(const yoke_layer_t *layer, unsigned tp,
                                   yoke_recompute_t recompute)
{
    yoke_layer_bytes_t bytes;
    yoke_layer_get_bytes(layer, tp, 2, 1024, YOKE_BF16, recompute, &bytes);
    return bytes;
}

/* Korthikanti et al. 2022: s b h (10 + 24/t) with no sequence parallelism, flash
 * attention or selective recomputation; 2 s b h with full recomputation. */
static void test_published_activations(void **state)
{
    (void)state;
    fixture_spec_t spec = {.layers = 1,
                           .hidden = 2048,
                           .ffn = 8192,
                           .heads = 16,
                           .kv_heads = 16,
                           .vocabulary = 50257};
    yoke_model_t *model = fixture_model(&spec);
    for (unsigned tp = 1; tp <= 8; tp *= 2) {
        double want = 2.0 * 1024 * 2048 * (10 + 24.0 / tp);
        fixture_assert_near(
            bytes_of(&model->layers[1], tp, YOKE_RECOMPUTE_SELECTIVE).activations, want,
            1e-9, "selective");
        fixture_assert_near(
            bytes_of(&model->layers[1], tp, YOKE_RECOMPUTE_NONE).activations, want, 0.01,
            "none");
        fixture_assert_near(
            bytes_of(&model->layers[1], tp, YOKE_RECOMPUTE_FULL).activations,
            2.0 * 1024 * 2048 * 2, 1e-9, "full");
    }
    yoke_layer_bytes_t full = bytes_of(&model->layers[1], 1, YOKE_RECOMPUTE_FULL);
    yoke_layer_bytes_t none = bytes_of(&model->layers[1], 1, YOKE_RECOMPUTE_NONE);
    fixture_assert_near(full.working_set - none.working_set, none.activations, 1e-9,
                        "full: one block is whole in the working set");
    fixture_model_free(model);
}

static void test_parameters(void **state)
{
    (void)state;
    fixture_spec_t spec = {.layers = 1,
                           .hidden = 4096,
                           .ffn = 14336,
                           .heads = 32,
                           .kv_heads = 8,
                           .vocabulary = 128256,
                           .gated = true};
    yoke_model_t *model = fixture_model(&spec);
    double block = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2 * 4096;
    assert_true(bytes_of(&model->layers[1], 1, YOKE_RECOMPUTE_NONE).parameters == block);
    /* 16 ranks: 8 kv heads are held twice; norms whole */
    double rank = 2.0 * 4096 * 4096 / 16 + 2.0 * 4096 * 1024 / 8 +
                  3.0 * 4096 * 14336 / 16 + 2 * 4096;
    assert_true(bytes_of(&model->layers[1], 16, YOKE_RECOMPUTE_NONE).parameters == rank);

    yoke_layer_bytes_t embedding = bytes_of(&model->layers[0], 1, YOKE_RECOMPUTE_NONE);
    assert_true(embedding.parameters == 128256.0 * 4096);
    assert_true(embedding.boundary == 2.0 * 1024 * 4096 * 2);
    yoke_layer_bytes_t head = bytes_of(&model->layers[2], 1, YOKE_RECOMPUTE_NONE);
    assert_true(head.parameters == 128256.0 * 4096 + 4096);
    assert_true(head.tied == 0 && head.boundary == 0);
    assert_true(head.logits == 2.0 * 1024 * 128256 * 8);
    model->layers[2].tensors[1].tied = true;
    assert_true(bytes_of(&model->layers[2], 1, YOKE_RECOMPUTE_NONE).tied ==
                128256.0 * 4096);
    fixture_model_free(model);
}

static void test_experts(void **state)
{
    (void)state;
    fixture_spec_t spec = {.layers = 1,
                           .hidden = 512,
                           .heads = 8,
                           .kv_heads = 8,
                           .vocabulary = 99,
                           .experts = 8,
                           .experts_active = 2,
                           .expert_ffn = 1024,
                           .gated = true};
    yoke_model_t *model = fixture_model(&spec);
    yoke_layer_bytes_t bytes = bytes_of(&model->layers[1], 1, YOKE_RECOMPUTE_SELECTIVE);
    assert_true(bytes.parameters ==
                4.0 * 512 * 512 + 8 * 512 + 8 * 3.0 * 512 * 1024 + 1024);
    double elements = 4 * 512 + 4 * 512 + 2 * (3 * 1024 + 512);
    fixture_assert_near(bytes.activations, 2048 * (2 * elements + 4 * 8), 1e-12, "moe");
    fixture_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),      cmocka_unit_test(test_head_edges),
        cmocka_unit_test(test_can_shard),  cmocka_unit_test(test_published_activations),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
