/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations that are foreign, incomplete, impossible or hostile: refused with the
 * place. */
#include "model_support.h"

/* A Llama of `text` members, on top of sizes that are right. */
static char *llama(const char *text)
{
    static char buffer[8192];
    snprintf(buffer, sizeof buffer,
             "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\"%s%s}",
             *text == '\0' ? "" : ", ", text);
    return buffer;
}

#define SIZES                                                                            \
    "\"num_hidden_layers\": 2, \"vocab_size\": 32, \"intermediate_size\": 8, "           \
    "\"num_attention_heads\": 2"
#define GOOD "\"hidden_size\": 4, " SIZES

static void test_foreign(void **state)
{
    (void)state;
    support_refuse("{\"dim\": 2048, \"inter_dim\": 10944, \"n_layers\": 27}",
                   YOKE_ERR_UNSUPPORTED, "DeepSeek's own inference code", "config.json",
                   NULL);
    support_refuse(
        "{\"dim\": 4096, \"n_layers\": 32, \"n_heads\": 32, \"norm_eps\": 1e-5}",
        YOKE_ERR_UNSUPPORTED, "params.json", NULL, NULL);
    support_refuse("MODEL_ARGS:\n  --num-layers: 32\n  --hidden-size: 4096\n",
                   YOKE_ERR_UNSUPPORTED, "Megatron-LM", "config.json", NULL);
    support_refuse("{\"num_layers\": 2, \"hidden_size\": 8, \"ffn_hidden_size\": 32}",
                   YOKE_ERR_UNSUPPORTED, "Megatron-LM", NULL, NULL);
    support_refuse("{\"weight_map\": {}}", YOKE_ERR_UNSUPPORTED, "safetensors index",
                   NULL, NULL);
    support_refuse("{\"a\": 1}", YOKE_ERR_BAD_INPUT, "architectures", "model_type", NULL);
    support_refuse("[]", YOKE_ERR_BAD_INPUT, "must be an object", NULL, NULL);
    support_refuse("{\"a\": 1,}", YOKE_ERR_BAD_INPUT, "test.json:1:", NULL, NULL);
    support_refuse("", YOKE_ERR_BAD_INPUT, "test.json", NULL, NULL);
}

static void test_unknown_architecture(void **state)
{
    (void)state;
    support_refuse("{\"architectures\": [\"FalconMambaForCausalLM\"]}",
                   YOKE_ERR_UNSUPPORTED, "/architectures/0", "FalconMambaForCausalLM",
                   "GPT2LMHeadModel");
    support_refuse("{\"architectures\": [\"LlamaForCausalLN\"]}", YOKE_ERR_UNSUPPORTED,
                   "did you mean LlamaForCausalLM", NULL, NULL);
    support_refuse("{\"model_type\": \"rwkv\"}", YOKE_ERR_UNSUPPORTED, "/model_type",
                   "rwkv", NULL);
    support_refuse("{\"architectures\": []}", YOKE_ERR_BAD_INPUT, "/architectures", NULL,
                   NULL);
    support_refuse("{\"architectures\": [3]}", YOKE_ERR_BAD_INPUT, "/architectures", NULL,
                   NULL);
    support_refuse("{\"architectures\": \"x\"}", YOKE_ERR_BAD_INPUT, "must be a list",
                   NULL, NULL);
    support_refuse("{\"model_type\": 5}", YOKE_ERR_BAD_INPUT, "/model_type", NULL, NULL);
}

/* Sizes of another family must never stand in for a missing one. */
static void test_missing(void **state)
{
    (void)state;
    support_refuse(llama(""), YOKE_ERR_BAD_INPUT, "hidden_size is absent",
                   "LlamaForCausalLM", NULL);
    support_refuse(llama(SIZES), YOKE_ERR_BAD_INPUT, "test.json: hidden_size is absent",
                   NULL, NULL);
    support_refuse(llama("\"hidden_size\": null, " SIZES), YOKE_ERR_BAD_INPUT,
                   "hidden_size is absent", NULL, NULL);
    support_refuse(
        "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, \"n_layer\": 2}",
        YOKE_ERR_BAD_INPUT, "vocab_size is absent", NULL, NULL);
    support_refuse("{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, "
                   "\"vocab_size\": 7}",
                   YOKE_ERR_BAD_INPUT, "n_layer or num_hidden_layers", NULL, NULL);
    support_refuse("{\"model_type\": \"gemma3\"}", YOKE_ERR_BAD_INPUT, "text_config",
                   NULL, NULL);
    support_refuse("{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 8}}",
                   YOKE_ERR_BAD_INPUT, "/text_config", "num_hidden_layers", NULL);
    support_refuse("{\"model_type\": \"gemma3\", \"text_config\": 3}", YOKE_ERR_BAD_INPUT,
                   "/text_config", "object", NULL);
}

static void test_impossible(void **state)
{
    (void)state;
    support_refuse(llama("\"hidden_size\": 0, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "found 0", NULL);
    support_refuse(llama("\"hidden_size\": -4, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "found -4", NULL);
    support_refuse(llama("\"hidden_size\": 4.5, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "4.5", NULL);
    support_refuse(llama("\"hidden_size\": \"4\", " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "\"4\"", NULL);
    support_refuse(llama("\"hidden_size\": true, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "true", NULL);
    support_refuse(llama("\"hidden_size\": [4], " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "a list", NULL);
    support_refuse(llama("\"hidden_size\": 5, " SIZES), YOKE_ERR_BAD_INPUT,
                   "hidden size 5 is not divisible by 2 attention heads", "head_dim",
                   NULL);
    support_refuse(llama("\"num_key_value_heads\": 3, " GOOD), YOKE_ERR_BAD_INPUT,
                   "3 key/value heads do not divide 2", NULL, NULL);
    support_refuse("{\"model_type\": \"mistral\", " GOOD "}", YOKE_ERR_BAD_INPUT,
                   "num_key_value_heads is absent",
                   "8 key/value heads, the default of MistralForCausalLM", "give it");
    support_refuse(llama("\"tie_word_embeddings\": 1, " GOOD), YOKE_ERR_BAD_INPUT,
                   "/tie_word_embeddings", "true or false", NULL);
    support_refuse("{\"model_type\": \"mixtral\", \"num_local_experts\": 2, "
                   "\"num_experts_per_tok\": 3, \"num_key_value_heads\": 1, " GOOD "}",
                   YOKE_ERR_BAD_INPUT, "uses 3 experts", "only 2", NULL);
    support_refuse(
        "{\"model_type\": \"qwen\", \"hidden_size\": 4, \"num_hidden_layers\": 2, "
        "\"vocab_size\": 32, \"intermediate_size\": 7, \"num_attention_heads\": 2}",
        YOKE_ERR_BAD_INPUT, "both_branches/2", "whole", NULL);
    /* An odd width is fine where the width of a head is given. */
    yoke_model_free(support_parse(llama("\"head_dim\": 3, \"hidden_size\": 5, " SIZES)));
    yoke_model_free(support_parse(llama("\"hidden_size\": 4.0, " SIZES)));
}

static void test_hostile(void **state)
{
    (void)state;
#define REST "\"vocab_size\": 32, \"intermediate_size\": 8, \"num_attention_heads\": 2"
    support_refuse(llama("\"hidden_size\": 1099511627777, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", "1099511627776", NULL);
    support_refuse(llama("\"hidden_size\": 1e300, " SIZES), YOKE_ERR_BAD_INPUT,
                   "/hidden_size", NULL, NULL);
    support_refuse(llama("\"hidden_size\": 99999999999999999999999999, " SIZES),
                   YOKE_ERR_BAD_INPUT, "/hidden_size", NULL, NULL);
    support_refuse(llama("\"hidden_size\": 4, \"num_hidden_layers\": 100001, " REST),
                   YOKE_ERR_BAD_INPUT, "/num_hidden_layers", "100000", NULL);
    /* Each number is allowed, their product is not. */
    support_refuse(llama("\"hidden_size\": 1099511627776, " SIZES), YOKE_ERR_BAD_INPUT,
                   "2^60", NULL, NULL);
    support_refuse(
        llama("\"hidden_size\": 536870912, \"num_hidden_layers\": 100000, " REST),
        YOKE_ERR_BAD_INPUT, "2^60", NULL, NULL);
    support_refuse(llama("\"head_dim\": 1099511627776, \"hidden_size\": 1048576, " SIZES),
                   YOKE_ERR_BAD_INPUT, "2^60", NULL, NULL);
    yoke_model_t *model =
        support_parse(llama("\"hidden_size\": 4, \"num_hidden_layers\": 100000, " REST));
    assert_int_equal(model->layer_count, 100002);
    assert_string_equal(model->layers[100000].name, "layers.99999");
    yoke_model_free(model);
}

static void test_lists(void **state)
{
    (void)state;
#define NEXT                                                                             \
    "{\"model_type\": \"qwen3_next\", \"hidden_size\": 8, \"num_hidden_layers\": 2, "    \
    "\"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"head_dim\": 4, "          \
    "\"vocab_size\": 32, \"intermediate_size\": 8, \"num_experts\": 2, "                 \
    "\"num_experts_per_tok\": 1, \"moe_intermediate_size\": 4, "                         \
    "\"shared_expert_intermediate_size\": 4, \"linear_num_key_heads\": 1, "              \
    "\"linear_num_value_heads\": 1, \"linear_key_head_dim\": 4, "                        \
    "\"linear_value_head_dim\": 4, \"linear_conv_kernel_dim\": 4"
    yoke_model_free(support_parse(NEXT "}"));
    support_refuse(NEXT ", \"layer_types\": [\"full_attention\"]}", YOKE_ERR_BAD_INPUT,
                   "/layer_types", "2 layers, has 1", NULL);
    support_refuse(NEXT ", \"layer_types\": [\"full_attention\", 5]}", YOKE_ERR_BAD_INPUT,
                   "/layer_types/1", "string", NULL);
    support_refuse(NEXT ", \"layer_types\": [\"full_attention\", \"x\"]}",
                   YOKE_ERR_BAD_INPUT, "/layer_types", "\"x\"", NULL);
    support_refuse(NEXT ", \"mlp_only_layers\": [2]}", YOKE_ERR_BAD_INPUT,
                   "/mlp_only_layers/0", "0 to 1", NULL);
    support_refuse(NEXT ", \"mlp_only_layers\": [-1]}", YOKE_ERR_BAD_INPUT,
                   "/mlp_only_layers/0", NULL, NULL);
    support_refuse(NEXT ", \"mlp_only_layers\": {}}", YOKE_ERR_BAD_INPUT,
                   "/mlp_only_layers", "list", NULL);
    support_refuse("{\"model_type\": \"nemotron-nas\", \"block_configs\": [], " GOOD "}",
                   YOKE_ERR_BAD_INPUT, "/block_configs", "2 layers", NULL);
    support_refuse(
        "{\"model_type\": \"nemotron-nas\", \"block_configs\": [{\"attention\": "
        "{\"n_heads_in_group\": 3}, \"ffn\": {\"ffn_mult\": 1}}, {}], " GOOD "}",
        YOKE_ERR_BAD_INPUT, "/block_configs/0/attention/n_heads_in_group", NULL, NULL);
    support_refuse(
        "{\"model_type\": \"nemotron-nas\", \"block_configs\": [{\"attention\": "
        "{\"n_heads_in_group\": 2}, \"ffn\": {\"ffn_mult\": 1e9}}, {}], " GOOD "}",
        YOKE_ERR_BAD_INPUT, "/block_configs/0/ffn/ffn_mult", NULL, NULL);
}

/* Variants of a known architecture that would count wrong. */
static void test_variants(void **state)
{
    (void)state;
#define MPT                                                                              \
    "{\"model_type\": \"mpt\", \"d_model\": 8, \"n_heads\": 2, \"n_layers\": 1, "        \
    "\"vocab_size\": 10"
    yoke_model_free(support_parse(MPT "}"));
    support_refuse(MPT ", \"no_bias\": false}", YOKE_ERR_BAD_INPUT, "/no_bias", NULL,
                   NULL);
    support_refuse(MPT ", \"attn_config\": {\"alibi\": false}}", YOKE_ERR_BAD_INPUT,
                   "alibi", NULL, NULL);
    support_refuse(MPT ", \"attn_config\": {\"attn_type\": \"grouped_query_attention\"}}",
                   YOKE_ERR_BAD_INPUT, "/attn_config/attn_type", NULL, NULL);
    support_refuse(
        "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, \"n_layer\": 1, "
        "\"vocab_size\": 9, \"add_cross_attention\": true}",
        YOKE_ERR_BAD_INPUT, "/add_cross_attention", NULL, NULL);
    support_refuse("{\"model_type\": \"phi\", \"qk_layernorm\": true, " GOOD "}",
                   YOKE_ERR_BAD_INPUT, "/qk_layernorm", NULL, NULL);
}

/* Class defaults that are used are said; two names for one architecture are said. */
static void test_notices(void **state)
{
    (void)state;
    yoke_model_t *model =
        support_parse("{\"model_type\": \"gemma2\", \"hidden_size\": 8, "
                      "\"num_hidden_layers\": 1, \"num_attention_heads\": 8, "
                      "\"vocab_size\": 9, \"intermediate_size\": 8}");
    assert_true(support_noticed(model, "num_key_value_heads is absent: 4"));
    assert_true(support_noticed(model, "head_dim is absent: 256"));
    yoke_model_free(model);
    model = support_parse("{\"architectures\": [\"LlamaForCausalLM\"], "
                          "\"model_type\": \"kimi\", " GOOD "}");
    assert_true(support_noticed(model, "\"kimi\" is read as LlamaForCausalLM"));
    yoke_model_free(model);
    /* null is no class default: as many key/value heads as heads. */
    model = support_parse(
        "{\"model_type\": \"mistral\", \"num_key_value_heads\": null, " GOOD "}");
    assert_int_equal(model->kv_heads, 2);
    yoke_model_free(model);
}

/* Every cut of a good file is refused or read, and never more than that. */
static void test_truncated(void **state)
{
    (void)state;
    char text[8192];
    snprintf(text, sizeof text, "%s", llama(GOOD));
    for (size_t size = 0; size < strlen(text); size++) {
        yoke_model_t *model = NULL;
        assert_int_not_equal(yoke_model_parse("cut", text, size, NULL, &model), YOKE_OK);
        assert_null(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign),  cmocka_unit_test(test_unknown_architecture),
        cmocka_unit_test(test_missing),  cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_lists),
        cmocka_unit_test(test_variants), cmocka_unit_test(test_notices),
        cmocka_unit_test(test_truncated)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
