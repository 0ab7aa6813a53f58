/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of tests/cases/model-*, by kind of fault: each with its own files and with
 * variants of the same fault. Case 10 is in test_model_weights, 11 in test_model_work.
 */
#include "model_support.h"

static json_t *right_of(const char *name, json_t **out_root)
{
    char path[256];
    snprintf(path, sizeof path, "tests/cases/%s/case.json", name);
    *out_root = support_json(support_path(path));
    return json_object_get(*out_root, "right");
}

static uint64_t number(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("the case has no %s", key);
    return (uint64_t)json_integer_value(value);
}

static yoke_model_t *case_model(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, "tests/cases/%s", path);
    return support_read(support_path(full), NULL);
}

static uint64_t tensor_size(const yoke_layer_t *layer, const char *part)
{
    uint64_t size = 0;
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (strstr(layer->tensors[i].name, part) != NULL)
            size += layer->tensors[i].rows * layer->tensors[i].columns;
    return size;
}

static void check_total(const char *text, uint64_t right)
{
    yoke_model_t *model = support_parse(text);
    if (model->parameters_total != right)
        fail_msg("%llu, expected %llu: %s", (unsigned long long)model->parameters_total,
                 (unsigned long long)right, text);
    yoke_model_free(model);
}

/* 01: old key names, a null, no tie key. */
static void test_old_names(void **state)
{
    (void)state;
    json_t *root, *right = right_of("model-01-gpt2-names", &root);
    yoke_model_t *model = case_model("model-01-gpt2-names/config.json");
    assert_int_equal(model->parameters_total, number(right, "params"));
    assert_int_equal(model->layers[1].parameters, number(right, "per_layer"));
    assert_int_equal(model->layer_count, number(right, "layers") + 2);
    assert_int_equal(model->layers[1].ffn, number(right, "ffn"));
    assert_true(model->tied);
    yoke_model_free(model);
    json_decref(root);
    /* Variants: new names, null absent, a width given, an explicit head of its own. */
    const uint64_t base = 124439808;
#define GPT2(SIZES, MORE)                                                                \
    "{\"model_type\": \"gpt2\", \"vocab_size\": 50257, \"n_positions\": 1024, " SIZES    \
        MORE "}"
#define OLD "\"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12"
#define NEW "\"hidden_size\": 768, \"num_attention_heads\": 12, \"num_hidden_layers\": 12"
    check_total(GPT2(OLD, ""), base);
    check_total(GPT2(NEW, ""), base);
    check_total(GPT2(OLD, ", \"n_inner\": 3072"), base);
    check_total(GPT2(OLD, ", \"n_inner\": 3073"), base + 12 * (2 * 768 + 1));
    check_total(GPT2(OLD, ", \"tie_word_embeddings\": false"), base + 50257 * 768);
    check_total(GPT2(OLD, ", \"tie_word_embeddings\": null"), base);
    /* n_ctx is not read; the table of positions has n_positions rows. */
    check_total(GPT2(OLD, ", \"n_ctx\": 2048"), base);
}

/* 04: sizes nested, and most of them left to the class. */
static void test_nested(void **state)
{
    (void)state;
    json_t *root, *right = right_of("model-04-nested-sparse", &root);
    yoke_model_t *model = case_model("model-04-nested-sparse/config.json");
    assert_int_equal(model->parameters_total - model->parameters_other,
                     number(right, "text_params"));
    assert_int_equal(model->parameters_other,
                     number(right, "vision_params") + number(right, "projector_params"));
    assert_int_equal(model->parameters_total, number(right, "total_params"));
    assert_int_equal(model->hidden, 2560); /* not the vision tower's 1152 */
    assert_true(support_noticed(model, "num_attention_heads is absent: 8"));
    assert_true(support_noticed(model, "vocab_size is absent: 262208"));
    yoke_model_free(model);
    json_decref(root);
    /* Variants: no vision part; sizes at the wrong level are not taken. */
#define TEXT                                                                             \
    "\"text_config\": {\"hidden_size\": 2560, \"intermediate_size\": 10240, "            \
    "\"num_hidden_layers\": 34}"
    model = support_parse("{\"model_type\": \"gemma3\", " TEXT "}");
    assert_int_equal(model->parameters_total, 3880263168);
    assert_true(support_noticed(model, "vision_config is absent"));
    yoke_model_free(model);
    check_total(
        "{\"model_type\": \"gemma3\", \"hidden_size\": 1, \"vocab_size\": 1, " TEXT "}",
        3880263168);
    support_refuse("{\"model_type\": \"gemma3\", \"hidden_size\": 2560, "
                   "\"intermediate_size\": 10240, \"num_hidden_layers\": 34}",
                   YOKE_ERR_BAD_INPUT, "text_config", NULL, NULL);
    support_refuse("{\"model_type\": \"gemma3\", " TEXT ", \"vision_config\": {}}",
                   YOKE_ERR_BAD_INPUT, "/vision_config", "hidden_size", NULL);
    support_refuse(
        "{\"model_type\": \"gemma3\", " TEXT ", \"vision_config\": "
        "{\"hidden_size\": 8, \"intermediate_size\": 8, \"num_hidden_layers\": 1, "
        "\"patch_size\": 7, \"image_size\": 15}}",
        YOKE_ERR_BAD_INPUT, "/vision_config", "whole", NULL);
}

/* 05: experts that take intermediate_size as their width. */
static void test_experts(void **state)
{
    (void)state;
    json_t *root, *right = right_of("model-05-experts-without-own-width", &root);
    yoke_model_t *model = case_model("model-05-experts-without-own-width/config.json");
    const yoke_layer_t *layer = &model->layers[1];
    assert_int_equal(model->parameters_total, number(right, "params"));
    assert_int_equal(model->parameters_active, number(right, "active"));
    assert_int_equal(layer->parameters, number(right, "per_layer"));
    assert_int_equal(tensor_size(layer, "experts."), number(right, "one_expert"));
    assert_int_equal(tensor_size(layer, "gate.weight"),
                     number(right, "router_per_layer"));
    assert_int_equal(2 * 32 * layer->attention.cache_per_token,
                     number(right, "kv_bytes_per_token"));
    assert_int_equal(layer->ffn, 0);
    assert_int_equal(layer->expert_ffn, 14336);
    yoke_model_free(model);
    json_decref(root);
    /* Variants: the alias of the library, and a top-k of all experts. */
#define MIXTRAL(EXPERTS, K)                                                              \
    "{\"model_type\": \"mixtral\", \"hidden_size\": 8, \"intermediate_size\": 12, "      \
    "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, " \
    "\"vocab_size\": 5, " EXPERTS ", \"num_experts_per_tok\": " K "}"
    const uint64_t outside = 2 * 5 * 8 + 8 + 16 + 2 * 8 * 8 + 2 * 4 * 8 + 3 * 8;
    check_total(MIXTRAL("\"num_local_experts\": 3", "1"), outside + 3 * 3 * 8 * 12);
    check_total(MIXTRAL("\"num_experts\": 3", "1"), outside + 3 * 3 * 8 * 12);
    model = support_parse(MIXTRAL("\"num_local_experts\": 3", "3"));
    assert_int_equal(model->parameters_active, model->parameters_total);
    yoke_model_free(model);
    support_refuse(MIXTRAL("\"n_experts\": 3", "1"), YOKE_ERR_BAD_INPUT,
                   "num_local_experts or num_experts is absent", NULL, NULL);
}

/* 08: JSON as tools write it. */
static void test_dialect(void **state)
{
    (void)state;
    json_t *root, *right = right_of("model-08-json-dialect", &root);
    static const char *const files[] = {"model-08-json-dialect/bom.json",
                                        "model-08-json-dialect/inf.json"};
    for (size_t i = 0; i < 2; i++) {
        yoke_model_t *model = case_model(files[i]);
        assert_int_equal(model->parameters_total, number(right, "bom"));
        assert_string_equal(model->name, "acme/NaNo-Infinity-1B");
        yoke_model_free(model);
    }
    json_decref(root);
    /* Variants: both at once, Windows line ends, the words as a size, cut words. */
#define LLAMA(MORE)                                                                      \
    "{\"model_type\": \"llama\",\r\n\"hidden_size\": 8, \"intermediate_size\": 12, "     \
    "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"vocab_size\": 5" MORE "}"
    const uint64_t total = 2 * 5 * 8 + 8 + 16 + 4 * 64 + 3 * 96;
    check_total(
        "\xEF\xBB\xBF" LLAMA(",\r\n\"a\": [NaN, -Infinity, \"NaN \\\" Infinity\"]"),
        total);
    check_total(LLAMA(", \"head_dim\": NaN"), total); /* null: the default */
    yoke_model_t *model = support_parse(LLAMA(", \"_name_or_path\": \"a/NaN-Infinity\""));
    assert_string_equal(model->name, "a/NaN-Infinity");
    yoke_model_free(model);
    support_refuse("{\"model_type\": \"llama\", \"hidden_size\": Infinity}",
                   YOKE_ERR_BAD_INPUT, "hidden_size is absent", NULL, NULL);
    support_refuse(LLAMA(", \"a\": Infinit"), YOKE_ERR_BAD_INPUT, "test.json:", NULL,
                   NULL);
    support_refuse(LLAMA(", \"a\": nan"), YOKE_ERR_BAD_INPUT, "test.json:", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_names), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_experts), cmocka_unit_test(test_dialect)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
