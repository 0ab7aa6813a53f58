/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small configurations of every architecture, with sizes that no two dimensions share:
 * what real files leave at its default is switched here. The counts are from outside
 * (data/small-counts.json says how); two models are listed tensor by tensor by hand.
 */
#include "costmodel/arch.h"
#include "model_support.h"

#define NONE YOKE_SHARD_NONE
#define HEADS YOKE_SHARD_HEADS
#define COLUMNS YOKE_SHARD_COLUMNS

typedef struct expected {
    const char *layer, *tensor;
    uint64_t rows, columns;
    yoke_shard_t shard;
    bool matmul;
} expected_t;

static const yoke_layer_t *layer_of(const yoke_model_t *model, const char *name)
{
    for (size_t i = 0; i < model->layer_count; i++)
        if (strcmp(model->layers[i].name, name) == 0)
            return &model->layers[i];
    fail_msg("no layer %s", name);
    return NULL;
}

static const yoke_tensor_t *tensor_of(const yoke_layer_t *layer, const char *name)
{
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (strcmp(layer->tensors[i].name, name) == 0)
            return &layer->tensors[i];
    fail_msg("%s: no tensor %s", layer->name, name);
    return NULL;
}

static void check_tensors(const yoke_model_t *model, const expected_t *list, size_t count)
{
    size_t tensors = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        tensors += model->layers[i].tensor_count;
    assert_int_equal(tensors, count);
    for (size_t i = 0; i < count; i++) {
        const yoke_tensor_t *tensor =
            tensor_of(layer_of(model, list[i].layer), list[i].tensor);
        assert_int_equal(tensor->rows, list[i].rows);
        assert_int_equal(tensor->columns, list[i].columns);
        assert_int_equal(tensor->copies, 1);
        assert_int_equal(tensor->shard, list[i].shard);
        assert_int_equal(tensor->matmul, list[i].matmul);
    }
}

/* Width 8, 2 heads, 10 words, 6 positions, 2 layers; the MLP is 4 x 8 = 32 wide. */
static void test_gpt2_by_hand(void **state)
{
    (void)state;
#define BLOCK(N)                                                                         \
    {N, "ln_1.weight", 8, 1, NONE, false}, {N, "ln_1.bias", 8, 1, NONE, false},          \
        {N, "attn.c_attn.weight", 24, 8, HEADS, true},                                   \
        {N, "attn.c_attn.bias", 24, 1, HEADS, false},                                    \
        {N, "attn.c_proj.weight", 8, 8, HEADS, true},                                    \
        {N, "attn.c_proj.bias", 8, 1, NONE, false},                                      \
        {N, "ln_2.weight", 8, 1, NONE, false}, {N, "ln_2.bias", 8, 1, NONE, false},      \
        {N, "mlp.c_fc.weight", 32, 8, COLUMNS, true},                                    \
        {N, "mlp.c_fc.bias", 32, 1, COLUMNS, false},                                     \
        {N, "mlp.c_proj.weight", 8, 32, COLUMNS, true},                                  \
    {                                                                                    \
        N, "mlp.c_proj.bias", 8, 1, NONE, false                                          \
    }
    static const expected_t list[] = {
        {"embed", "transformer.wte.weight", 10, 8, YOKE_SHARD_VOCAB, false},
        {"embed", "transformer.wpe.weight", 6, 8, NONE, false},
        BLOCK("layers.0"),
        BLOCK("layers.1"),
        {"head", "transformer.ln_f.weight", 8, 1, NONE, false},
        {"head", "transformer.ln_f.bias", 8, 1, NONE, false},
        {"head", "lm_head.weight", 10, 8, YOKE_SHARD_VOCAB, true}};
    yoke_model_t *model =
        support_read(support_path("tests/costmodel/data/small/gpt2.json"), NULL);
    check_tensors(model, list, sizeof list / sizeof *list);
    /* One block: 16 + 192+24 + 64+8 + 16 + 256+32 + 256+8 = 872; twice, + 80 + 48 + 16.
     */
    assert_int_equal(layer_of(model, "layers.1")->parameters, 872);
    assert_int_equal(model->parameters_total, 2 * 872 + 80 + 48 + 16);
    /* The head's matrix is the embedding's: used, stored once. */
    assert_true(model->tied);
    assert_true(tensor_of(layer_of(model, "head"), "lm_head.weight")->tied);
    assert_int_equal(layer_of(model, "head")->parameters, 16);
    assert_int_equal(layer_of(model, "head")->active, 16 + 80);
    assert_int_equal(model->parameters_active, model->parameters_total);
    yoke_model_free(model);
}

/* Width 48, 6 heads of 8, 2 key/value heads, MLP 112, 331 words, 3 layers, no bias. */
static void test_llama_by_hand(void **state)
{
    (void)state;
#undef BLOCK
#define BLOCK(N)                                                                         \
    {N, "input_layernorm.weight", 48, 1, NONE, false},                                   \
        {N, "self_attn.q_proj.weight", 48, 48, HEADS, true},                             \
        {N, "self_attn.k_proj.weight", 16, 48, YOKE_SHARD_KV_HEADS, true},               \
        {N, "self_attn.v_proj.weight", 16, 48, YOKE_SHARD_KV_HEADS, true},               \
        {N, "self_attn.o_proj.weight", 48, 48, HEADS, true},                             \
        {N, "post_attention_layernorm.weight", 48, 1, NONE, false},                      \
        {N, "mlp.gate_proj.weight", 112, 48, COLUMNS, true},                             \
        {N, "mlp.up_proj.weight", 112, 48, COLUMNS, true},                               \
    {                                                                                    \
        N, "mlp.down_proj.weight", 48, 112, COLUMNS, true                                \
    }
    static const expected_t list[] = {
        {"embed", "model.embed_tokens.weight", 331, 48, YOKE_SHARD_VOCAB, false},
        BLOCK("layers.0"),
        BLOCK("layers.1"),
        BLOCK("layers.2"),
        {"head", "model.norm.weight", 48, 1, NONE, false},
        {"head", "lm_head.weight", 331, 48, YOKE_SHARD_VOCAB, true}};
    yoke_model_t *model =
        support_read(support_path("tests/costmodel/data/small/llama.json"), NULL);
    check_tensors(model, list, sizeof list / sizeof *list);
    /* 48 + 2304 + 768 + 768 + 2304 + 48 + 3 x 5376 = 22368 a block. */
    assert_int_equal(layer_of(model, "layers.2")->parameters, 22368);
    assert_int_equal(model->parameters_total, 3 * 22368 + 2 * 331 * 48 + 48);
    assert_int_equal(model->layers[1].attention.cache_per_token, 2 * 2 * 8);
    yoke_model_free(model);
}

static uint64_t number(const json_t *entry, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(entry, key));
}

static void check_entry(const char *file, const yoke_model_t *model, const json_t *entry)
{
    const json_t *layers = json_object_get(entry, "layers");
    if (model->parameters_total != number(entry, "total") ||
        model->parameters_active != number(entry, "active") ||
        model->parameters_other != number(entry, "other") ||
        model->layer_count != json_array_size(layers) + 2)
        fail_msg("%s: total %llu, active %llu, other %llu, %zu layers", file,
                 (unsigned long long)model->parameters_total,
                 (unsigned long long)model->parameters_active,
                 (unsigned long long)model->parameters_other, model->layer_count);
    for (size_t i = 0; i < json_array_size(layers); i++)
        assert_int_equal(model->layers[i + 1].parameters,
                         json_integer_value(json_array_get(layers, i)));
}

static void test_small_counts(void **state)
{
    (void)state;
    json_t *root = support_json(support_path("tests/costmodel/data/small-counts.json"));
    bool seen[64] = {false};
    const char *file;
    json_t *entry;
    json_object_foreach(json_object_get(root, "models"), file, entry)
    {
        char path[256];
        snprintf(path, sizeof path, "tests/costmodel/data/small/%s", file);
        yoke_model_t *model = support_read(support_path(path), NULL);
        check_entry(file, model, entry);
        for (size_t i = 0; arch_all[i] != NULL; i++)
            if (strcmp(arch_all[i]->name, model->architecture) == 0)
                seen[i] = true;
        yoke_model_free(model);
    }
    for (size_t i = 0; arch_all[i] != NULL; i++)
        if (!seen[i])
            fail_msg("%s has no small configuration", arch_all[i]->name);
    json_decref(root);
}

static void test_architecture_list(void **state)
{
    (void)state;
    const char *const *names = yoke_model_architectures();
    for (size_t i = 0; arch_all[i] != NULL || names[i] != NULL; i++)
        assert_string_equal(arch_all[i]->name, names[i]);
}

/* What the counts do not show: windows, experts, kinds of mixing, side-by-side layers. */
static void test_structure(void **state)
{
    (void)state;
    yoke_model_t *model;
#define SMALL(NAME)                                                                      \
    support_read(support_path("tests/costmodel/data/small/" NAME ".json"), NULL)
    model = SMALL("gemma3"); /* every sixth layer sees everything */
    for (size_t i = 1; i <= 7; i++)
        assert_int_equal(model->layers[i].attention.window, i == 6 ? 0 : 16);
    yoke_model_free(model);

    model =
        SMALL("llama4"); /* sparse 1 and 3; layer 3 sees everything, the others a chunk */
    for (size_t i = 1; i <= 5; i++) {
        assert_int_equal(model->layers[i].experts, i % 2 == 0 ? 4 : 0);
        assert_int_equal(model->layers[i].ffn, i % 2 == 0 ? 0 : 72);
        assert_int_equal(model->layers[i].shared_ffn, i % 2 == 0 ? 40 : 0);
        assert_int_equal(model->layers[i].attention.window, i == 4 ? 0 : 16);
        assert_int_equal(model->layers[i].attention.chunked, i != 4);
    }
    yoke_model_free(model);

    model = SMALL("qwen2-moe"); /* 1, 3, 5 by step; 3 excepted by the list */
    for (size_t i = 1; i <= 6; i++)
        assert_int_equal(model->layers[i].experts, i == 2 || i == 6 ? 7 : 0);
    yoke_model_free(model);

    model = SMALL("qwen3-next-types");
    assert_false(model->layers[1].attention.linear);
    assert_true(model->layers[2].attention.linear);
    assert_int_equal(model->layers[2].attention.state, 6 * 10);
    assert_int_equal(model->layers[2].attention.cache_per_token, 0);
    yoke_model_free(model);

    model = SMALL("nemotron-h"); /* M * E - M E */
    assert_int_equal(model->layers[1].attention.heads, 4);
    assert_true(model->layers[1].attention.linear);
    assert_int_equal(model->layers[1].ffn, 0);
    assert_int_equal(model->layers[2].attention.heads, 6);
    assert_int_equal(model->layers[3].attention.heads, 0);
    assert_int_equal(model->layers[3].experts, 5);
    assert_int_equal(model->layers[4].ffn, 112);
    yoke_model_free(model);

    model = SMALL("deepseek-v3"); /* the cache is one latent and one rotary part */
    assert_int_equal(model->layers[1].attention.kv_heads, 1);
    assert_int_equal(model->layers[1].attention.qk_dim, 12);
    assert_int_equal(model->layers[1].attention.v_dim, 6);
    assert_int_equal(model->layers[1].attention.cache_per_token, 14 + 4);
    assert_int_equal(model->layers[1].experts, 0);
    assert_int_equal(model->layers[2].experts_active, 2);
    yoke_model_free(model);

    model = SMALL("decilm");
    assert_int_equal(model->layers[1].attention.kv_heads, 2);
    assert_int_equal(model->layers[2].attention.heads, 0);
    assert_int_equal(model->layers[3].attention.window, 16);
    assert_int_equal(model->layers[3].ffn, 0);
    yoke_model_free(model);

    model = SMALL("gptj");
    assert_true(model->layers[1].parallel);
    yoke_model_free(model);
    model = SMALL("gpt-neox");
    assert_false(model->layers[1].parallel);
    yoke_model_free(model);
    model = SMALL("gpt-bigcode");
    assert_int_equal(model->kv_heads, 1);
    yoke_model_free(model);
}

/* Prediction layers count apart, and become layers when asked. */
static void test_prediction(void **state)
{
    (void)state;
    const char *path = support_path("tests/costmodel/data/small/deepseek-v3.json");
    yoke_model_options_t options = {.struct_size = sizeof options,
                                    .prediction_layers = true};
    yoke_model_t *without = support_read(path, NULL),
                 *with = support_read(path, &options);
    /* A sparse layer, three norms, and the matrix that joins two widths into one. */
    uint64_t own = without->layers[3].parameters + 3 * 48 + 48 * 96;
    assert_int_equal(without->parameters_prediction, own);
    assert_int_equal(with->parameters_prediction, own);
    assert_int_equal(with->parameters_total, without->parameters_total);
    assert_int_equal(with->parameters_active, without->parameters_active);
    assert_int_equal(with->layer_count, without->layer_count + 1);
    assert_int_equal(with->layers[4].kind, YOKE_LAYER_PREDICTION);
    assert_int_equal(with->layers[4].parameters, own);
    assert_int_equal(with->layers[5].kind, YOKE_LAYER_HEAD);
    yoke_model_free(without);
    yoke_model_free(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpt2_by_hand), cmocka_unit_test(test_llama_by_hand),
        cmocka_unit_test(test_small_counts), cmocka_unit_test(test_architecture_list),
        cmocka_unit_test(test_structure),    cmocka_unit_test(test_prediction)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
