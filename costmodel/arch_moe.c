/* SPDX-License-Identifier: Apache-2.0 */
/* Mixtures of experts over ordinary attention. */
#include "costmodel/arch_keys.h"

static const arch_rule_t moe_embedding[] = {{.name = "model.embed_tokens.weight",
                                             .rows = "vocabulary",
                                             .columns = "hidden",
                                             .shard = YOKE_SHARD_VOCAB},
                                            RULES_END};

static const arch_rule_t moe_head[] = {RULES_HEAD("model.norm.weight"), RULES_END};

#define KEY_EXPERTS(...)                                                                 \
    {                                                                                    \
        .name = "experts", .keys = { __VA_ARGS__ }                                       \
    }
#define KEY_TOPK                                                                         \
    {                                                                                    \
        .name = "topk", .keys = { "num_experts_per_tok" }                                \
    }
#define KEY_EXPERT_FFN                                                                   \
    {                                                                                    \
        .name = "expert_ffn", .keys = { "moe_intermediate_size" }                        \
    }

/* Mixtral: intermediate_size is the width of one expert. */
static const arch_rule_t mixtral_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "no_bias", "no_bias"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULE_ROUTER("block_sparse_moe.gate.weight", NULL),
    RULES_GATED_EXPERTS("block_sparse_moe.experts.*.w1.weight",
                        "block_sparse_moe.experts.*.w3.weight",
                        "block_sparse_moe.experts.*.w2.weight", "expert_ffn", NULL),
    RULES_END};

static const arch_key_t mixtral_keys[] = {
    KEYS_SIZES,
    {.name = "expert_ffn", .keys = {"intermediate_size"}},
    KEY_KV_HEADS("8"),
    KEY_HEAD_DIM,
    KEY_EXPERTS("num_local_experts", "num_experts"),
    KEY_TOPK,
    KEY_CONSTANT("no_bias", "0"),
    KEY_CONSTANT("moe", "1"),
    KEY_WINDOW("0"),
    KEY_TIED("0"),
    KEYS_END};

const arch_t arch_mixtral = {.name = "MixtralForCausalLM",
                             .model_types = {"mixtral"},
                             .keys = mixtral_keys,
                             .embedding = moe_embedding,
                             .layer = mixtral_layer,
                             .head = moe_head,
                             .gated = true,
                             .prefix = "model.layers.",
                             .layer_values = arch_step_window};

/* Qwen: some layers sparse, by decoder_sparse_step and mlp_only_layers. */
#define QWEN_MOE_KEYS                                                                    \
    KEYS_SIZES, KEY_FFN, KEY_EXPERTS("num_experts", "num_local_experts"), KEY_TOPK,      \
        KEY_EXPERT_FFN,                                                                  \
        {.name = "sparse_step", .keys = {"decoder_sparse_step"}, .absent = "1"},         \
        KEY_FLAG("use_window", "use_sliding_window", "0"), KEY_WINDOW("4096"),           \
        KEY_TIED("0")

#define QWEN_MOE_MLP                                                                     \
    RULES_GATED_MLP("mlp.", "ffn", "!moe", "hidden"),                                    \
        RULE_ROUTER("mlp.gate.weight", "moe"),                                           \
        RULES_GATED_EXPERTS("mlp.experts.*.gate_proj.weight",                            \
                            "mlp.experts.*.up_proj.weight",                              \
                            "mlp.experts.*.down_proj.weight", "expert_ffn", "moe")

static yoke_status_t qwen_moe_layer(arch_import_t *import, uint64_t index)
{
    yoke_status_t status = arch_step_window(import, index);
    return status != YOKE_OK ? status : arch_step_sparse(import, index);
}

static const arch_rule_t qwen2_moe_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "qkv_bias", "output_bias"),
    ARCH_NORM("post_attention_layernorm.weight"),
    QWEN_MOE_MLP,
    RULES_GATED_MLP("mlp.shared_expert.", "shared_ffn", "moe", NULL),
    ARCH_MATRIX("mlp.shared_expert_gate.weight", "1", "hidden", NONE, .when = "moe"),
    RULES_END};

static const arch_key_t qwen2_moe_keys[] = {
    QWEN_MOE_KEYS,
    KEY_KV_HEADS("16"),
    KEY_HEAD_DIM,
    KEY_FLAG("qkv_bias", "qkv_bias", "1"),
    KEY_CONSTANT("output_bias", "0"),
    /* Every other one of the first max_window_layers layers. */
    {.name = "window_until",
     .keys = {"max_window_layers"},
     .absent = "28",
     .flags = ARCH_ZERO},
    KEY_CONSTANT("window_period", "2"),
    {.name = "shared_ffn", .keys = {"shared_expert_intermediate_size"}},
    KEYS_END};

const arch_t arch_qwen2_moe = {.name = "Qwen2MoeForCausalLM",
                               .model_types = {"qwen2_moe"},
                               .keys = qwen2_moe_keys,
                               .embedding = moe_embedding,
                               .layer = qwen2_moe_layer,
                               .head = moe_head,
                               .gated = true,
                               .prefix = "model.layers.",
                               .check = arch_check_sparse,
                               .layer_values = qwen_moe_layer};

static const arch_rule_t qwen3_moe_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "attention_bias", "attention_bias"),
    RULES_QK_NORM(NULL),
    ARCH_NORM("post_attention_layernorm.weight"),
    QWEN_MOE_MLP,
    RULES_END};

static const arch_key_t qwen3_moe_keys[] = {
    QWEN_MOE_KEYS, KEY_KV_HEADS("4"), KEY_HEAD_DIM,
    KEY_FLAG("attention_bias", "attention_bias", "0"), KEYS_END};

const arch_t arch_qwen3_moe = {.name = "Qwen3MoeForCausalLM",
                               .model_types = {"qwen3_moe"},
                               .keys = qwen3_moe_keys,
                               .embedding = moe_embedding,
                               .layer = qwen3_moe_layer,
                               .head = moe_head,
                               .gated = true,
                               .prefix = "model.layers.",
                               .check = arch_check_sparse,
                               .layer_values = qwen_moe_layer};

/* gpt-oss: experts of one layer in one tensor, biases everywhere, a sink per head. */
static const arch_rule_t gpt_oss_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    ARCH_VECTOR("self_attn.sinks", "heads", HEADS),
    RULES_ATTENTION(NULL, "attention_bias", "attention_bias"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULE_ROUTER("mlp.router.weight", NULL),
    ARCH_VECTOR("mlp.router.bias", "experts", NONE),
    ARCH_EXPERT("mlp.experts.gate_up_proj", "2*expert_ffn", "hidden",
                .kept_cut = "hidden+2*expert_ffn"),
    {.name = "mlp.experts.gate_up_proj_bias",
     .rows = "2*expert_ffn",
     .columns = "1",
     .copies = "experts",
     .active = "topk",
     .shard = YOKE_SHARD_EXPERTS},
    ARCH_EXPERT("mlp.experts.down_proj", "hidden", "expert_ffn",
                .kept_cut = "hidden+expert_ffn"),
    {.name = "mlp.experts.down_proj_bias",
     .rows = "hidden",
     .columns = "1",
     .copies = "experts",
     .active = "topk",
     .shard = YOKE_SHARD_EXPERTS},
    RULES_END};

static const arch_key_t gpt_oss_keys[] = {
    KEYS_SIZES,
    {.name = "expert_ffn", .keys = {"intermediate_size"}},
    KEY_KV_HEADS("8"),
    KEY_HEAD_DIM_CLASS("64"),
    KEY_EXPERTS("num_local_experts", "num_experts"),
    {.name = "topk",
     .keys = {"num_experts_per_tok"},
     .absent = "4",
     .flags = ARCH_DEFAULT},
    KEY_FLAG("attention_bias", "attention_bias", "1"),
    KEY_CONSTANT("moe", "1"),
    KEY_WINDOW("128"),
    KEY_CONSTANT("window_period", "2"),
    KEY_TIED("0"),
    KEYS_END};

const arch_t arch_gpt_oss = {.name = "GptOssForCausalLM",
                             .model_types = {"gpt_oss"},
                             .keys = gpt_oss_keys,
                             .embedding = moe_embedding,
                             .layer = gpt_oss_layer,
                             .head = moe_head,
                             .gated = true,
                             .prefix = "model.layers.",
                             .layer_values = arch_step_window};

/* Llama 4: one shared expert beside the routed ones; three layers of four attend in
 * chunks. */
static const arch_rule_t llama4_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "attention_bias", "attention_bias"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULES_GATED_MLP("feed_forward.", "ffn", "!moe", "hidden"),
    RULE_ROUTER("feed_forward.router.weight", "moe"),
    ARCH_EXPERT("feed_forward.experts.gate_up_proj", "2*expert_ffn", "hidden",
                .when = "moe", .kept_cut = "hidden+2*expert_ffn"),
    ARCH_EXPERT("feed_forward.experts.down_proj", "hidden", "expert_ffn", .when = "moe",
                .kept_cut = "hidden+expert_ffn"),
    RULES_GATED_MLP("feed_forward.shared_expert.", "shared_ffn", "moe", NULL),
    RULES_END};

static const arch_key_t llama4_keys[] = {
    KEYS_SIZES,
    {.name = "ffn", .keys = {"intermediate_size_mlp"}},
    {.name = "expert_ffn", .keys = {"intermediate_size"}},
    KEY_CONSTANT("shared_ffn", "expert_ffn"),
    KEY_KV_HEADS("8"),
    KEY_HEAD_DIM_CLASS("128"),
    KEY_EXPERTS("num_local_experts", "num_experts"),
    KEY_TOPK,
    {.name = "sparse_step", .keys = {"interleave_moe_layer_step"}, .absent = "1"},
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    {.name = "sliding_window",
     .keys = {"attention_chunk_size"},
     .absent = "8192",
     .null = "0",
     .flags = ARCH_ZERO},
    KEY_CONSTANT("window_period", "4"),
    KEY_CONSTANT("chunked", "1"),
    KEY_TIED("0"),
    KEYS_END};

static const char *const llama4_names[] = {"language_model.model.", "model.",
                                           "language_model.lm_head.", "lm_head.", NULL};

const arch_t arch_llama4 = {.name = "Llama4ForConditionalGeneration",
                            .model_types = {"llama4"},
                            .nested = "text_config",
                            .keys = llama4_keys,
                            .embedding = moe_embedding,
                            .layer = llama4_layer,
                            .head = moe_head,
                            .part = &arch_part_llama4,
                            .gated = true,
                            .prefix = "model.layers.",
                            .aliases = llama4_names,
                            .check = arch_check_sparse,
                            .layer_values = qwen_moe_layer};
