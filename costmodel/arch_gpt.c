/* SPDX-License-Identifier: Apache-2.0 */
/* The GPT line: norms with a bias, a plain MLP of two matrices, often old key names. */
#include <string.h>

#include "costmodel/arch_keys.h"

#define LAYER_NORM(NAME)                                                                 \
    ARCH_NORM(NAME ".weight"), ARCH_VECTOR(NAME ".bias", "hidden", NONE)

#define EMBEDDING(NAME)                                                                  \
    {                                                                                    \
        .name = (NAME), .rows = "vocabulary", .columns = "hidden",                       \
        .shard = YOKE_SHARD_VOCAB                                                        \
    }

#define HEAD_MATRIX(NAME)                                                                \
    ARCH_MATRIX(NAME, "vocabulary", "hidden", VOCAB, .kept = "hidden")

/* The plain MLP keeps its input, what it activates and the activation. */
#define PLAIN_MLP(UP, DOWN)                                                              \
    ARCH_MATRIX(UP ".weight", "ffn", "hidden", COLUMNS, .kept = "hidden",                \
                .kept_cut = "ffn"),                                                      \
        ARCH_VECTOR(UP ".bias", "ffn", COLUMNS),                                         \
        ARCH_MATRIX(DOWN ".weight", "hidden", "ffn", COLUMNS, .kept_cut = "ffn"),        \
        ARCH_VECTOR(DOWN ".bias", "hidden", NONE)

/* The published GPT-2 weights have no "transformer." before their names. */
static const char *const gpt2_names[] = {
    "h.",    "transformer.h.",    "wte.", "transformer.wte.", "wpe.", "transformer.wpe.",
    "ln_f.", "transformer.ln_f.", NULL};

static const arch_rule_t gpt2_embedding[] = {
    EMBEDDING("transformer.wte.weight"),
    {.name = "transformer.wpe.weight", .rows = "positions", .columns = "hidden"},
    RULES_END};

static const arch_rule_t gpt2_head[] = {LAYER_NORM("transformer.ln_f"),
                                        HEAD_MATRIX("lm_head.weight"), RULES_END};

static const arch_rule_t gpt2_layer[] = {
    LAYER_NORM("ln_1"),
    ARCH_MATRIX("attn.c_attn.weight", "3*hidden", "hidden", HEADS, .kept = "hidden",
                .kept_cut = "3*hidden"),
    ARCH_VECTOR("attn.c_attn.bias", "3*hidden", HEADS),
    ARCH_MATRIX("attn.c_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_VECTOR("attn.c_proj.bias", "hidden", NONE),
    LAYER_NORM("ln_2"),
    PLAIN_MLP("mlp.c_fc", "mlp.c_proj"),
    RULES_END};

#define GPT2_KEYS                                                                        \
    KEYS_SIZES_GPT2,                                                                     \
        {.name = "positions",                                                            \
         .keys = {"n_positions", "max_position_embeddings"},                             \
         .absent = "1024",                                                               \
         .flags = ARCH_DEFAULT},                                                         \
        KEY_FLAG("cross_attention", "add_cross_attention", "0"), KEY_TIED("1")

static const arch_key_t gpt2_keys[] = {GPT2_KEYS, KEY_CONSTANT("kv_heads", "heads"),
                                       KEYS_END};

static yoke_status_t check_gpt2(arch_import_t *import)
{
    if (arch_get(&import->values, "cross_attention") != 0)
        return yoke_cursor_fail(&import->config, "add_cross_attention",
                                "must be false: cross-attention is not imported");
    return YOKE_OK;
}

const arch_t arch_gpt2 = {.name = "GPT2LMHeadModel",
                          .model_types = {"gpt2"},
                          .keys = gpt2_keys,
                          .embedding = gpt2_embedding,
                          .layer = gpt2_layer,
                          .head = gpt2_head,
                          .prefix = "transformer.h.",
                          .aliases = gpt2_names,
                          .check = check_gpt2};

/* GPT-BigCode: GPT-2 with one key/value head for all, unless multi_query is false. */
static const arch_rule_t bigcode_layer[] = {
    LAYER_NORM("ln_1"),
    ARCH_MATRIX("attn.c_attn.weight[q]", "hidden", "hidden", HEADS, .kept = "hidden",
                .kept_cut = "hidden"),
    ARCH_MATRIX("attn.c_attn.weight[kv]", "2*kv_heads*head_dim", "hidden", KV_HEADS,
                .kept_cut = "2*kv_heads*head_dim"),
    ARCH_VECTOR("attn.c_attn.bias[q]", "hidden", HEADS),
    ARCH_VECTOR("attn.c_attn.bias[kv]", "2*kv_heads*head_dim", KV_HEADS),
    ARCH_MATRIX("attn.c_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_VECTOR("attn.c_proj.bias", "hidden", NONE),
    LAYER_NORM("ln_2"),
    PLAIN_MLP("mlp.c_fc", "mlp.c_proj"),
    RULES_END};

static const arch_key_t bigcode_keys[] = {GPT2_KEYS,
                                          KEY_FLAG("multi_query", "multi_query", "1"),
                                          KEY_CONSTANT("kv_heads", "heads"), KEYS_END};

static yoke_status_t check_bigcode(arch_import_t *import)
{
    if (arch_get(&import->values, "multi_query") != 0)
        arch_set(&import->values, "kv_heads", 1);
    return check_gpt2(import);
}

const arch_t arch_gpt_bigcode = {.name = "GPTBigCodeForCausalLM",
                                 .model_types = {"gpt_bigcode"},
                                 .keys = bigcode_keys,
                                 .embedding = gpt2_embedding,
                                 .layer = bigcode_layer,
                                 .head = gpt2_head,
                                 .prefix = "transformer.h.",
                                 .aliases = gpt2_names,
                                 .check = check_bigcode};

/* GPT-J: attention and MLP side by side behind one norm; the head has a bias. */
static const arch_rule_t gptj_embedding[] = {EMBEDDING("transformer.wte.weight"),
                                             RULES_END};

static const arch_rule_t gptj_head[] = {
    LAYER_NORM("transformer.ln_f"), HEAD_MATRIX("lm_head.weight"),
    ARCH_VECTOR("lm_head.bias", "vocabulary", VOCAB), RULES_END};

static const arch_rule_t gptj_layer[] = {
    LAYER_NORM("ln_1"),
    ARCH_MATRIX("attn.q_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_MATRIX("attn.k_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_MATRIX("attn.v_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_MATRIX("attn.out_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    PLAIN_MLP("mlp.fc_in", "mlp.fc_out"),
    RULES_END};

static const arch_key_t gptj_keys[] = {
    KEYS_SIZES_GPT2,
    {.name = "positions",
     .keys = {"n_positions", "max_position_embeddings"},
     .absent = "0",
     .flags = ARCH_ZERO},
    KEY_CONSTANT("kv_heads", "heads"),
    KEY_TIED("0"),
    KEYS_END};

const arch_t arch_gptj = {.name = "GPTJForCausalLM",
                          .model_types = {"gptj"},
                          .keys = gptj_keys,
                          .embedding = gptj_embedding,
                          .layer = gptj_layer,
                          .head = gptj_head,
                          .parallel = "heads",
                          .prefix = "transformer.h."};

/* GPT-NeoX (Pythia, RedPajama): q, k and v interleaved by head in one matrix. */
static const arch_rule_t neox_embedding[] = {EMBEDDING("gpt_neox.embed_in.weight"),
                                             RULES_END};

static const arch_rule_t neox_head[] = {LAYER_NORM("gpt_neox.final_layer_norm"),
                                        HEAD_MATRIX("embed_out.weight"), RULES_END};

static const arch_rule_t neox_layer[] = {
    LAYER_NORM("input_layernorm"),
    ARCH_MATRIX("attention.query_key_value.weight", "3*hidden", "hidden", HEADS,
                .kept = "hidden", .kept_cut = "3*hidden"),
    ARCH_VECTOR("attention.query_key_value.bias", "3*hidden", HEADS,
                .when = "attention_bias"),
    ARCH_MATRIX("attention.dense.weight", "hidden", "hidden", HEADS,
                .kept_cut = "hidden"),
    ARCH_VECTOR("attention.dense.bias", "hidden", NONE, .when = "attention_bias"),
    /* Side by side, both norms read the same kept input. */
    ARCH_VECTOR("post_attention_layernorm.weight", "hidden", NONE, .when = "parallel"),
    ARCH_NORM("post_attention_layernorm.weight", .when = "!parallel"),
    ARCH_VECTOR("post_attention_layernorm.bias", "hidden", NONE),
    PLAIN_MLP("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"), RULES_END};

static const arch_key_t neox_keys[] = {KEYS_SIZES,
                                       KEY_FFN,
                                       KEY_CONSTANT("kv_heads", "heads"),
                                       KEY_CONSTANT("head_dim", "hidden/heads"),
                                       KEY_FLAG("attention_bias", "attention_bias", "1"),
                                       KEY_FLAG("parallel", "use_parallel_residual", "1"),
                                       KEY_TIED("0"),
                                       KEYS_END};

static const char *const neox_names[] = {"lm_head.", "embed_out.", NULL};

const arch_t arch_gpt_neox = {.name = "GPTNeoXForCausalLM",
                              .model_types = {"gpt_neox"},
                              .keys = neox_keys,
                              .embedding = neox_embedding,
                              .layer = neox_layer,
                              .head = neox_head,
                              .parallel = "parallel",
                              .prefix = "gpt_neox.layers.",
                              .aliases = neox_names};

/* MPT in the library's form: no biases at all, positions by ALiBi, MLP of 4 x hidden. */
static const arch_rule_t mpt_head[] = {ARCH_NORM("transformer.norm_f.weight"),
                                       HEAD_MATRIX("lm_head.weight"), RULES_END};

static const arch_rule_t mpt_layer[] = {
    ARCH_NORM("norm_1.weight"),
    ARCH_MATRIX("attn.Wqkv.weight", "3*hidden", "hidden", HEADS, .kept = "hidden",
                .kept_cut = "3*hidden"),
    ARCH_MATRIX("attn.out_proj.weight", "hidden", "hidden", HEADS, .kept_cut = "hidden"),
    ARCH_NORM("norm_2.weight"),
    ARCH_MATRIX("ffn.up_proj.weight", "ffn", "hidden", COLUMNS, .kept = "hidden",
                .kept_cut = "ffn"),
    ARCH_MATRIX("ffn.down_proj.weight", "hidden", "ffn", COLUMNS, .kept_cut = "ffn"),
    RULES_END};

static const arch_key_t mpt_keys[] = {
    {.name = "hidden", .keys = {"d_model", "hidden_size"}},
    {.name = "layers", .keys = {"n_layers", "num_hidden_layers"}, .flags = ARCH_LAYERS},
    {.name = "heads", .keys = {"n_heads", "num_attention_heads"}},
    {.name = "vocabulary", .keys = {"vocab_size"}},
    {.name = "positions", .keys = {"max_seq_len"}, .absent = "0", .flags = ARCH_ZERO},
    {.name = "expansion", .keys = {"expansion_ratio"}, .absent = "4"},
    KEY_CONSTANT("ffn", "4*hidden"),
    KEY_CONSTANT("kv_heads", "heads"),
    KEY_CONSTANT("head_dim", "hidden/heads"),
    KEY_FLAG("no_bias", "no_bias", "1"),
    KEY_FLAG("alibi", "attn_config.alibi", "1"),
    KEY_FLAG("qk_ln", "attn_config.qk_ln", "0"),
    KEY_TIED("1"),
    KEYS_END};

/* The publisher's own code obeys these keys and the library's ignores them: where the two
 * would disagree there is no right answer to give. */
static yoke_status_t check_mpt(arch_import_t *import)
{
    const arch_values_t *values = &import->values;
    if (arch_get(values, "no_bias") == 0)
        return yoke_cursor_fail(&import->config, "no_bias",
                                "must be true: MPT with biases is not imported");
    if (arch_get(values, "expansion") != 4)
        return yoke_cursor_fail(&import->config, "expansion_ratio",
                                "must be 4: other MPT widths are not imported");
    if (arch_get(values, "alibi") == 0)
        return yoke_cursor_fail(
            &import->config, "attn_config",
            "alibi must be true: MPT with a table of positions is not "
            "imported");
    if (arch_get(values, "qk_ln") != 0)
        return yoke_cursor_fail(&import->config, "attn_config",
                                "qk_ln must be false: MPT with norms of q and k is not "
                                "imported");
    yoke_cursor_t attention;
    const char *type = "multihead_attention";
    if (yoke_cursor_member(&import->config, "attn_config", &attention)) {
        yoke_status_t status = yoke_opt_string(&attention, "attn_type", &type);
        if (status != YOKE_OK)
            return status;
        if (strcmp(type, "multihead_attention") != 0)
            return yoke_cursor_fail(&attention, "attn_type",
                                    "must be multihead_attention, found %s", type);
    }
    return YOKE_OK;
}

const arch_t arch_mpt = {.name = "MptForCausalLM",
                         .model_types = {"mpt"},
                         .keys = mpt_keys,
                         .embedding = gptj_embedding,
                         .layer = mpt_layer,
                         .head = mpt_head,
                         .prefix = "transformer.blocks.",
                         .check = check_mpt};

/* Phi-1.5 and 2: one norm, biases everywhere; the first files used GPT-2's key names. */
static const arch_rule_t phi_embedding[] = {EMBEDDING("model.embed_tokens.weight"),
                                            RULES_END};

static const arch_rule_t phi_head[] = {
    LAYER_NORM("model.final_layernorm"), HEAD_MATRIX("lm_head.weight"),
    ARCH_VECTOR("lm_head.bias", "vocabulary", VOCAB), RULES_END};

static const arch_rule_t phi_layer[] = {
    LAYER_NORM("input_layernorm"),
    ARCH_MATRIX("self_attn.q_proj.weight", "heads*head_dim", "hidden", HEADS,
                .kept_cut = "heads*head_dim"),
    ARCH_VECTOR("self_attn.q_proj.bias", "heads*head_dim", HEADS),
    ARCH_MATRIX("self_attn.k_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .kept_cut = "kv_heads*head_dim"),
    ARCH_VECTOR("self_attn.k_proj.bias", "kv_heads*head_dim", KV_HEADS),
    ARCH_MATRIX("self_attn.v_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .kept_cut = "kv_heads*head_dim"),
    ARCH_VECTOR("self_attn.v_proj.bias", "kv_heads*head_dim", KV_HEADS),
    ARCH_MATRIX("self_attn.dense.weight", "hidden", "heads*head_dim", HEADS,
                .kept_cut = "heads*head_dim"),
    ARCH_VECTOR("self_attn.dense.bias", "hidden", NONE),
    PLAIN_MLP("mlp.fc1", "mlp.fc2"),
    RULES_END};

static const arch_key_t phi_keys[] = {
    {.name = "hidden", .keys = {"hidden_size", "n_embd"}},
    {.name = "layers", .keys = {"num_hidden_layers", "n_layer"}, .flags = ARCH_LAYERS},
    {.name = "heads", .keys = {"num_attention_heads", "n_head"}},
    {.name = "kv_heads", .keys = {"num_key_value_heads", "n_head_kv"}, .absent = "heads"},
    {.name = "vocabulary", .keys = {"vocab_size"}},
    {.name = "ffn", .keys = {"intermediate_size", "n_inner"}, .absent = "4*hidden"},
    {.name = "positions",
     .keys = {"max_position_embeddings", "n_positions"},
     .absent = "0",
     .flags = ARCH_ZERO},
    KEY_CONSTANT("head_dim", "hidden/heads"),
    KEY_FLAG("qk_norm", "qk_layernorm", "0"),
    KEY_TIED("0"),
    KEYS_END};

static yoke_status_t check_phi(arch_import_t *import)
{
    if (arch_get(&import->values, "qk_norm") != 0)
        return yoke_cursor_fail(
            &import->config, "qk_layernorm",
            "must be false: Phi with norms of q and k is not imported");
    return YOKE_OK;
}

const arch_t arch_phi = {.name = "PhiForCausalLM",
                         .model_types = {"phi", "phi-msft"},
                         .keys = phi_keys,
                         .embedding = phi_embedding,
                         .layer = phi_layer,
                         .head = phi_head,
                         .parallel = "heads",
                         .prefix = "model.layers.",
                         .check = check_phi};

/* Qwen 1: intermediate_size is the sum of the two branches; c_attn always has a bias. */
static const arch_rule_t qwen_head[] = {ARCH_NORM("transformer.ln_f.weight"),
                                        HEAD_MATRIX("lm_head.weight"), RULES_END};

static const arch_rule_t qwen_layer[] = {
    ARCH_NORM("ln_1.weight"),
    ARCH_MATRIX("attn.c_attn.weight", "3*heads*head_dim", "hidden", HEADS,
                .kept = "hidden", .kept_cut = "3*heads*head_dim"),
    ARCH_VECTOR("attn.c_attn.bias", "3*heads*head_dim", HEADS),
    ARCH_MATRIX("attn.c_proj.weight", "hidden", "heads*head_dim", HEADS,
                .kept_cut = "heads*head_dim"),
    ARCH_VECTOR("attn.c_proj.bias", "hidden", NONE, .when = "!no_bias"),
    ARCH_NORM("ln_2.weight"),
    ARCH_MATRIX("mlp.w1.weight", "ffn", "hidden", COLUMNS, .kept = "hidden",
                .kept_cut = "ffn"),
    ARCH_VECTOR("mlp.w1.bias", "ffn", COLUMNS, .when = "!no_bias"),
    ARCH_MATRIX("mlp.w2.weight", "ffn", "hidden", COLUMNS, .kept_cut = "ffn"),
    ARCH_VECTOR("mlp.w2.bias", "ffn", COLUMNS, .when = "!no_bias"),
    ARCH_MATRIX("mlp.c_proj.weight", "hidden", "ffn", COLUMNS, .kept_cut = "ffn"),
    ARCH_VECTOR("mlp.c_proj.bias", "hidden", NONE, .when = "!no_bias"),
    RULES_END};

static const arch_key_t qwen_keys[] = {
    KEYS_SIZES,
    {.name = "both_branches", .keys = {"intermediate_size"}},
    KEY_CONSTANT("ffn", "both_branches/2"),
    KEY_CONSTANT("kv_heads", "heads"),
    {.name = "head_dim", .keys = {"kv_channels"}, .absent = "hidden/heads"},
    KEY_FLAG("no_bias", "no_bias", "1"),
    KEY_TIED("0"),
    KEYS_END};

const arch_t arch_qwen = {.name = "QWenLMHeadModel",
                          .model_types = {"qwen"},
                          .keys = qwen_keys,
                          .embedding = gptj_embedding,
                          .layer = qwen_layer,
                          .head = qwen_head,
                          .gated = true,
                          .prefix = "transformer.h."};
