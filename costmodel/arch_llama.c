/* SPDX-License-Identifier: Apache-2.0 */
/* The Llama line: RMS norms, rotary positions, a gated MLP, a dense stack of equal
 * layers. */
#include "costmodel/arch_keys.h"

static const arch_rule_t llama_embedding[] = {{.name = "model.embed_tokens.weight",
                                               .rows = "vocabulary",
                                               .columns = "hidden",
                                               .shard = YOKE_SHARD_VOCAB},
                                              RULES_END};

static const arch_rule_t llama_head[] = {RULES_HEAD("model.norm.weight"), RULES_END};

static const arch_rule_t llama_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "attention_bias", "output_bias"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULES_GATED_MLP("mlp.", "ffn", NULL, "hidden"),
    ARCH_VECTOR("mlp.gate_proj.bias", "ffn", COLUMNS, .when = "mlp_bias"),
    ARCH_VECTOR("mlp.up_proj.bias", "ffn", COLUMNS, .when = "mlp_bias"),
    ARCH_VECTOR("mlp.down_proj.bias", "hidden", NONE, .when = "mlp_bias"),
    RULES_END};

/* Vision-language files put the language model one level deeper. */
static const char *const nested_names[] = {"language_model.model.",
                                           "model.",
                                           "model.language_model.",
                                           "model.",
                                           "language_model.lm_head.",
                                           "lm_head.",
                                           NULL};

static const arch_key_t llama_keys[] = {KEYS_SIZES,
                                        KEY_FFN,
                                        KEY_KV_HEADS_ALL,
                                        KEY_HEAD_DIM,
                                        KEY_FLAG("attention_bias", "attention_bias", "0"),
                                        KEY_CONSTANT("output_bias", "attention_bias"),
                                        KEY_FLAG("mlp_bias", "mlp_bias", "0"),
                                        KEY_TIED("0"),
                                        KEYS_END};

const arch_t arch_llama = {.name = "LlamaForCausalLM",
                           .model_types = {"llama"},
                           .keys = llama_keys,
                           .embedding = llama_embedding,
                           .layer = llama_layer,
                           .head = llama_head,
                           .gated = true,
                           .prefix = "model.layers."};

static const arch_key_t mistral_keys[] = {KEYS_SIZES,
                                          KEY_FFN,
                                          KEY_KV_HEADS("8"),
                                          KEY_HEAD_DIM,
                                          KEY_CONSTANT("attention_bias", "0"),
                                          KEY_CONSTANT("output_bias", "0"),
                                          KEY_CONSTANT("mlp_bias", "0"),
                                          KEY_WINDOW("4096"),
                                          KEY_TIED("0"),
                                          KEYS_END};

const arch_t arch_mistral = {.name = "MistralForCausalLM",
                             .model_types = {"mistral"},
                             .keys = mistral_keys,
                             .embedding = llama_embedding,
                             .layer = llama_layer,
                             .head = llama_head,
                             .gated = true,
                             .prefix = "model.layers.",
                             .layer_values = arch_step_window};

/* Qwen2: q, k and v always have a bias, o never. */
static const arch_key_t qwen2_keys[] = {KEYS_SIZES,
                                        KEY_FFN,
                                        KEY_KV_HEADS("32"),
                                        KEY_HEAD_DIM,
                                        KEY_CONSTANT("attention_bias", "1"),
                                        KEY_CONSTANT("output_bias", "0"),
                                        KEY_CONSTANT("mlp_bias", "0"),
                                        KEY_FLAG("use_window", "use_sliding_window", "0"),
                                        KEY_WINDOW("4096"),
                                        {.name = "window_from",
                                         .keys = {"max_window_layers"},
                                         .absent = "28",
                                         .flags = ARCH_ZERO},
                                        KEY_TIED("0"),
                                        KEYS_END};

const arch_t arch_qwen2 = {.name = "Qwen2ForCausalLM",
                           .model_types = {"qwen2"},
                           .keys = qwen2_keys,
                           .embedding = llama_embedding,
                           .layer = llama_layer,
                           .head = llama_head,
                           .gated = true,
                           .prefix = "model.layers.",
                           .layer_values = arch_step_window};

static const arch_rule_t qwen3_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "attention_bias", "attention_bias"),
    RULES_QK_NORM(NULL),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULES_GATED_MLP("mlp.", "ffn", NULL, "hidden"),
    RULES_END};

#define QWEN3_KEYS                                                                       \
    KEYS_SIZES, KEY_FFN, KEY_KV_HEADS("32"), KEY_HEAD_DIM_CLASS("128"),                  \
        KEY_FLAG("attention_bias", "attention_bias", "0"),                               \
        KEY_FLAG("use_window", "use_sliding_window", "0"), KEY_WINDOW("4096"),           \
        {.name = "window_from",                                                          \
         .keys = {"max_window_layers"},                                                  \
         .absent = "28",                                                                 \
         .flags = ARCH_ZERO},                                                            \
        KEY_TIED("0")

static const arch_key_t qwen3_keys[] = {QWEN3_KEYS, KEYS_END};

const arch_t arch_qwen3 = {.name = "Qwen3ForCausalLM",
                           .model_types = {"qwen3"},
                           .keys = qwen3_keys,
                           .embedding = llama_embedding,
                           .layer = qwen3_layer,
                           .head = llama_head,
                           .gated = true,
                           .prefix = "model.layers.",
                           .layer_values = arch_step_window};

const arch_t arch_qwen3_vl = {.name = "Qwen3VLForConditionalGeneration",
                              .model_types = {"qwen3_vl"},
                              .nested = "text_config",
                              .keys = qwen3_keys,
                              .embedding = llama_embedding,
                              .layer = qwen3_layer,
                              .head = llama_head,
                              .part = &arch_part_qwen3_vl,
                              .gated = true,
                              .prefix = "model.layers.",
                              .aliases = nested_names,
                              .layer_values = arch_step_window};

/* Gemma: the embedding is the head; widths are the class's where the file has none. */
static const arch_key_t gemma_keys[] = {KEYS_SIZES,
                                        KEY_FFN,
                                        KEY_KV_HEADS("16"),
                                        KEY_HEAD_DIM_CLASS("256"),
                                        KEY_FLAG("attention_bias", "attention_bias", "0"),
                                        KEY_CONSTANT("output_bias", "attention_bias"),
                                        KEY_CONSTANT("mlp_bias", "0"),
                                        KEY_TIED("1"),
                                        KEYS_END};

const arch_t arch_gemma = {.name = "GemmaForCausalLM",
                           .model_types = {"gemma"},
                           .keys = gemma_keys,
                           .embedding = llama_embedding,
                           .layer = llama_layer,
                           .head = llama_head,
                           .gated = true,
                           .prefix = "model.layers."};

/* Gemma 2 and 3 also norm what attention and MLP give back. */
static const arch_rule_t gemma2_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    RULES_ATTENTION(NULL, "attention_bias", "attention_bias"),
    RULES_QK_NORM("qk_norm"),
    ARCH_NORM("post_attention_layernorm.weight"),
    ARCH_NORM("pre_feedforward_layernorm.weight"),
    RULES_GATED_MLP("mlp.", "ffn", NULL, "hidden"),
    ARCH_NORM("post_feedforward_layernorm.weight"),
    RULES_END};

static const arch_key_t gemma2_keys[] = {
    KEYS_SIZES,
    KEY_FFN,
    KEY_KV_HEADS("4"),
    KEY_HEAD_DIM_CLASS("256"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    KEY_CONSTANT("qk_norm", "0"),
    KEY_WINDOW("4096"),
    KEY_CONSTANT("window_period", "2"),
    KEY_TIED("1"),
    KEYS_END};

const arch_t arch_gemma2 = {.name = "Gemma2ForCausalLM",
                            .model_types = {"gemma2"},
                            .keys = gemma2_keys,
                            .embedding = llama_embedding,
                            .layer = gemma2_layer,
                            .head = llama_head,
                            .gated = true,
                            .prefix = "model.layers.",
                            .layer_values = arch_step_window};

/* Published Gemma 3 files leave most sizes to the class (gemma3_text). */
static const arch_key_t gemma3_keys[] = {
    {.name = "hidden", .keys = {"hidden_size"}},
    {.name = "layers", .keys = {"num_hidden_layers"}, .flags = ARCH_LAYERS},
    {.name = "heads",
     .keys = {"num_attention_heads"},
     .absent = "8",
     .flags = ARCH_DEFAULT},
    {.name = "vocabulary",
     .keys = {"vocab_size"},
     .absent = "262208",
     .flags = ARCH_DEFAULT},
    {.name = "positions", .keys = {"max_position_embeddings"}, .absent = "131072"},
    KEY_FFN,
    KEY_KV_HEADS("4"),
    KEY_HEAD_DIM_CLASS("256"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    KEY_CONSTANT("qk_norm", "1"),
    KEY_WINDOW("4096"),
    {.name = "window_period", .keys = {"sliding_window_pattern"}, .absent = "6"},
    KEY_TIED("1"),
    KEYS_END};

const arch_t arch_gemma3 = {.name = "Gemma3ForCausalLM",
                            .model_types = {"gemma3_text"},
                            .keys = gemma3_keys,
                            .embedding = llama_embedding,
                            .layer = gemma2_layer,
                            .head = llama_head,
                            .gated = true,
                            .prefix = "model.layers.",
                            .layer_values = arch_step_window};

const arch_t arch_gemma3_vision = {.name = "Gemma3ForConditionalGeneration",
                                   .model_types = {"gemma3"},
                                   .nested = "text_config",
                                   .keys = gemma3_keys,
                                   .embedding = llama_embedding,
                                   .layer = gemma2_layer,
                                   .head = llama_head,
                                   .part = &arch_part_siglip,
                                   .gated = true,
                                   .prefix = "model.layers.",
                                   .aliases = nested_names,
                                   .layer_values = arch_step_window};

/* Phi-3 and 4 fuse q, k and v, and the two MLP branches; no biases. */
static const arch_rule_t phi3_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    ARCH_MATRIX("self_attn.qkv_proj.weight[q]", "heads*head_dim", "hidden", HEADS,
                .kept = "hidden", .kept_cut = "heads*head_dim"),
    ARCH_MATRIX("self_attn.qkv_proj.weight[kv]", "2*kv_heads*head_dim", "hidden",
                KV_HEADS, .kept_cut = "2*kv_heads*head_dim"),
    ARCH_MATRIX("self_attn.o_proj.weight", "hidden", "heads*head_dim", HEADS,
                .kept_cut = "heads*head_dim"),
    ARCH_NORM("post_attention_layernorm.weight"),
    ARCH_MATRIX("mlp.gate_up_proj.weight", "2*ffn", "hidden", COLUMNS, .kept = "hidden",
                .kept_cut = "2*ffn"),
    ARCH_MATRIX("mlp.down_proj.weight", "hidden", "ffn", COLUMNS, .kept_cut = "ffn"),
    RULES_END};

static const arch_key_t phi3_keys[] = {KEYS_SIZES,   KEY_FFN,         KEY_KV_HEADS_ALL,
                                       KEY_HEAD_DIM, KEY_WINDOW("0"), KEY_TIED("0"),
                                       KEYS_END};

const arch_t arch_phi3 = {.name = "Phi3ForCausalLM",
                          .model_types = {"phi3"},
                          .keys = phi3_keys,
                          .embedding = llama_embedding,
                          .layer = phi3_layer,
                          .head = llama_head,
                          .gated = true,
                          .prefix = "model.layers.",
                          .layer_values = arch_step_window};

/* Baichuan-7B: as many key/value heads as heads, q, k and v in one matrix. */
static const arch_rule_t baichuan_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    ARCH_MATRIX("self_attn.W_pack.weight", "3*heads*head_dim", "hidden", HEADS,
                .kept = "hidden", .kept_cut = "3*heads*head_dim"),
    ARCH_MATRIX("self_attn.o_proj.weight", "hidden", "heads*head_dim", HEADS,
                .kept_cut = "heads*head_dim"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULES_GATED_MLP("mlp.", "ffn", NULL, "hidden"),
    RULES_END};

static const arch_key_t baichuan_keys[] = {KEYS_SIZES,
                                           KEY_FFN,
                                           KEY_CONSTANT("kv_heads", "heads"),
                                           KEY_CONSTANT("head_dim", "hidden/heads"),
                                           KEY_TIED("0"),
                                           KEYS_END};

const arch_t arch_baichuan = {.name = "BaiChuanForCausalLM",
                              .model_types = {"baichuan"},
                              .keys = baichuan_keys,
                              .embedding = llama_embedding,
                              .layer = baichuan_layer,
                              .head = llama_head,
                              .gated = true,
                              .prefix = "model.layers."};

static const arch_key_t internlm_keys[] = {KEYS_SIZES,
                                           KEY_FFN,
                                           KEY_KV_HEADS_ALL,
                                           KEY_CONSTANT("head_dim", "hidden/heads"),
                                           KEY_FLAG("attention_bias", "bias", "1"),
                                           KEY_CONSTANT("output_bias", "attention_bias"),
                                           KEY_CONSTANT("mlp_bias", "0"),
                                           KEY_TIED("0"),
                                           KEYS_END};

const arch_t arch_internlm = {.name = "InternLMForCausalLM",
                              .model_types = {"internlm"},
                              .keys = internlm_keys,
                              .embedding = llama_embedding,
                              .layer = llama_layer,
                              .head = llama_head,
                              .gated = true,
                              .prefix = "model.layers."};

static const arch_key_t minicpm_keys[] = {
    KEYS_SIZES,
    KEY_FFN,
    KEY_KV_HEADS_ALL,
    KEY_CONSTANT("head_dim", "hidden/heads"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    KEY_CONSTANT("output_bias", "attention_bias"),
    KEY_CONSTANT("mlp_bias", "0"),
    KEY_TIED("1"),
    KEYS_END};

const arch_t arch_minicpm = {.name = "MiniCPMForCausalLM",
                             .model_types = {"minicpm"},
                             .keys = minicpm_keys,
                             .embedding = llama_embedding,
                             .layer = llama_layer,
                             .head = llama_head,
                             .gated = true,
                             .prefix = "model.layers."};
