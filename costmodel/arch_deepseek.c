/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeepSeek V3 and V3.2: latent attention, dense first layers, routed and shared experts,
 * extra prediction layers. The router's correction bias is stored with the weights, so it
 * counts.
 */
#include "costmodel/arch_keys.h"

static const arch_rule_t deepseek_embedding[] = {{.name = "model.embed_tokens.weight",
                                                  .rows = "vocabulary",
                                                  .columns = "hidden",
                                                  .shard = YOKE_SHARD_VOCAB},
                                                 RULES_END};

static const arch_rule_t deepseek_head[] = {RULES_HEAD("model.norm.weight"), RULES_END};

#define RULES_LATENT                                                                     \
    ARCH_MATRIX("self_attn.q_proj.weight", "heads*qk_dim", "hidden", HEADS,              \
                .when = "!q_rank", .kept_cut = "heads*qk_dim"),                          \
        ARCH_MATRIX("self_attn.q_a_proj.weight", "q_rank", "hidden", NONE,               \
                    .when = "q_rank"),                                                   \
        ARCH_VECTOR("self_attn.q_a_proj.bias", "q_rank", NONE,                           \
                    .when = "q_rank&attention_bias"),                                    \
        ARCH_VECTOR("self_attn.q_a_layernorm.weight", "q_rank", NONE, .when = "q_rank",  \
                    .kept = "q_rank"),                                                   \
        ARCH_MATRIX("self_attn.q_b_proj.weight", "heads*qk_dim", "q_rank", HEADS,        \
                    .when = "q_rank", .kept = "q_rank", .kept_cut = "heads*qk_dim"),     \
        ARCH_MATRIX("self_attn.kv_a_proj_with_mqa.weight", "kv_rank+rope_dim", "hidden", \
                    NONE, .kept = "hidden"),                                             \
        ARCH_VECTOR("self_attn.kv_a_proj_with_mqa.bias", "kv_rank+rope_dim", NONE,       \
                    .when = "attention_bias"),                                           \
        ARCH_VECTOR("self_attn.kv_a_layernorm.weight", "kv_rank", NONE,                  \
                    .kept = "kv_rank"),                                                  \
        ARCH_MATRIX("self_attn.kv_b_proj.weight", "heads*(nope_dim+v_dim)", "kv_rank",   \
                    HEADS, .kept = "kv_rank", .kept_cut = "heads*(qk_dim+v_dim)"),       \
        ARCH_MATRIX("self_attn.o_proj.weight", "hidden", "heads*v_dim", HEADS,           \
                    .kept_cut = "heads*v_dim"),                                          \
        ARCH_VECTOR("self_attn.o_proj.bias", "hidden", NONE, .when = "attention_bias")

#define RULES_DEEPSEEK_MLP                                                               \
    ARCH_NORM("post_attention_layernorm.weight"),                                        \
        RULES_GATED_MLP("mlp.", "ffn", "!moe", "hidden"),                                \
        RULE_ROUTER("mlp.gate.weight", "moe"),                                           \
        ARCH_VECTOR("mlp.gate.e_score_correction_bias", "experts", NONE, .when = "moe"), \
        RULES_GATED_EXPERTS("mlp.experts.*.gate_proj.weight",                            \
                            "mlp.experts.*.up_proj.weight",                              \
                            "mlp.experts.*.down_proj.weight", "expert_ffn", "moe"),      \
        RULES_GATED_MLP("mlp.shared_experts.", "shared_ffn", "moe&shared_ffn", NULL)

static const arch_rule_t v3_layer[] = {ARCH_NORM("input_layernorm.weight"), RULES_LATENT,
                                       RULES_DEEPSEEK_MLP, RULES_END};

/* The indexer scores all earlier tokens with small heads; attention then reads
 * index_topk. */
static const arch_rule_t v32_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_LATENT,
    ARCH_MATRIX("self_attn.indexer.wq_b.weight", "index_heads*index_dim", "q_rank", NONE,
                .kept = "index_heads*index_dim"),
    ARCH_MATRIX("self_attn.indexer.wk.weight", "index_dim", "hidden", NONE),
    ARCH_VECTOR("self_attn.indexer.k_norm.weight", "index_dim", NONE,
                .kept = "2*index_dim"),
    ARCH_VECTOR("self_attn.indexer.k_norm.bias", "index_dim", NONE),
    ARCH_MATRIX("self_attn.indexer.weights_proj.weight", "index_heads", "hidden", NONE,
                .kept = "index_heads"),
    RULES_DEEPSEEK_MLP,
    RULES_END};

/* A prediction layer joins the embedding of the next token to the hidden state; embedding
 * and head are those of the model. */
static const arch_rule_t deepseek_prediction[] = {
    {.name = "embed_tokens.weight",
     .rows = "vocabulary",
     .columns = "hidden",
     .shard = YOKE_SHARD_VOCAB,
     .tied = true},
    ARCH_NORM("enorm.weight"),
    ARCH_NORM("hnorm.weight"),
    ARCH_MATRIX("eh_proj.weight", "hidden", "2*hidden", NONE, .kept = "2*hidden"),
    ARCH_NORM("shared_head.norm.weight"),
    ARCH_MATRIX("shared_head.head.weight", "vocabulary", "hidden", VOCAB, .tied = true,
                .kept = "hidden"),
    RULES_END};

#define DEEPSEEK_KEYS                                                                    \
    KEYS_SIZES, KEY_FFN, {.name = "kv_rank", .keys = {"kv_lora_rank"}},                  \
        {.name = "nope_dim", .keys = {"qk_nope_head_dim"}},                              \
        {.name = "rope_dim", .keys = {"qk_rope_head_dim"}},                              \
        {.name = "v_dim", .keys = {"v_head_dim"}},                                       \
        KEY_CONSTANT("qk_dim", "nope_dim+rope_dim"),                                     \
        KEY_CONSTANT("head_dim", "qk_dim"), /* All heads share one latent;               \
                                               num_key_value_heads plays no part. */     \
        KEY_CONSTANT("kv_heads", "heads"), KEY_CONSTANT("latent", "1"),                  \
        {.name = "experts", .keys = {"n_routed_experts"}},                               \
        {.name = "topk", .keys = {"num_experts_per_tok"}},                               \
        {.name = "expert_ffn", .keys = {"moe_intermediate_size"}},                       \
        {.name = "shared_experts",                                                       \
         .keys = {"n_shared_experts"},                                                   \
         .absent = "1",                                                                  \
         .null = "0",                                                                    \
         .flags = ARCH_ZERO},                                                            \
        KEY_CONSTANT("shared_ffn", "shared_experts*expert_ffn"),                         \
        {.name = "dense_layers",                                                         \
         .keys = {"first_k_dense_replace"},                                              \
         .absent = "3",                                                                  \
         .flags = ARCH_ZERO | ARCH_DEFAULT},                                             \
        {.name = "prediction_layers",                                                    \
         .keys = {"num_nextn_predict_layers"},                                           \
         .absent = "0",                                                                  \
         .flags = ARCH_ZERO},                                                            \
        KEY_FLAG("attention_bias", "attention_bias", "0"), KEY_TIED("0")

static const arch_key_t v3_keys[] = {DEEPSEEK_KEYS,
                                     {.name = "q_rank",
                                      .keys = {"q_lora_rank"},
                                      .absent = "1536",
                                      .null = "0",
                                      .flags = ARCH_ZERO | ARCH_DEFAULT},
                                     KEYS_END};

static const arch_key_t v32_keys[] = {
    DEEPSEEK_KEYS,
    {.name = "q_rank", .keys = {"q_lora_rank"}},
    {.name = "index_heads",
     .keys = {"index_n_heads"},
     .absent = "64",
     .flags = ARCH_DEFAULT},
    {.name = "index_dim",
     .keys = {"index_head_dim"},
     .absent = "128",
     .flags = ARCH_DEFAULT},
    {.name = "window", .keys = {"index_topk"}, .absent = "2048", .flags = ARCH_DEFAULT},
    KEYS_END};

static yoke_status_t deepseek_layer(arch_import_t *import, uint64_t index)
{
    arch_set(&import->values, "moe", index >= arch_get(&import->values, "dense_layers"));
    return YOKE_OK;
}

const arch_t arch_deepseek_v3 = {.name = "DeepseekV3ForCausalLM",
                                 .model_types = {"deepseek_v3"},
                                 .keys = v3_keys,
                                 .embedding = deepseek_embedding,
                                 .layer = v3_layer,
                                 .head = deepseek_head,
                                 .prediction = deepseek_prediction,
                                 .gated = true,
                                 .prefix = "model.layers.",
                                 .layer_values = deepseek_layer};

const arch_t arch_deepseek_v32 = {.name = "DeepseekV32ForCausalLM",
                                  .model_types = {"deepseek_v32"},
                                  .keys = v32_keys,
                                  .embedding = deepseek_embedding,
                                  .layer = v32_layer,
                                  .head = deepseek_head,
                                  .prediction = deepseek_prediction,
                                  .gated = true,
                                  .prefix = "model.layers.",
                                  .layer_values = deepseek_layer};
