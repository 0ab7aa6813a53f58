/* SPDX-License-Identifier: Apache-2.0 */
/* Vision towers and projectors: counted, and in no layer of the pipeline. */
#include "costmodel/arch_keys.h"

#define TIMES(NAME, ROWS, COLUMNS, COUNT)                                                \
    {                                                                                    \
        .name = (NAME), .rows = (ROWS), .columns = (COLUMNS), .copies = (COUNT)          \
    }
#define LINEAR(NAME, ROWS, COLUMNS, COUNT)                                               \
    TIMES(NAME ".weight", ROWS, COLUMNS, COUNT), TIMES(NAME ".bias", ROWS, "1", COUNT)
#define LAYER_NORM(NAME, WIDTH, COUNT)                                                   \
    TIMES(NAME ".weight", WIDTH, "1", COUNT), TIMES(NAME ".bias", WIDTH, "1", COUNT)

/* SigLIP (Gemma 3), without its pooling head. */
static const arch_key_t siglip_keys[] = {
    {.name = "v_hidden", .keys = {"hidden_size"}},
    {.name = "v_ffn", .keys = {"intermediate_size"}},
    {.name = "v_layers", .keys = {"num_hidden_layers"}, .flags = ARCH_LAYERS},
    {.name = "v_channels", .keys = {"num_channels"}, .absent = "3"},
    {.name = "v_patch", .keys = {"patch_size"}},
    {.name = "v_image", .keys = {"image_size"}},
    KEY_CONSTANT("v_side", "v_image/v_patch"),
    KEYS_END};

static const arch_rule_t siglip_rules[] = {
    LINEAR("patch_embedding", "v_hidden", "v_channels*v_patch*v_patch", "1"),
    TIMES("position_embedding.weight", "v_side*v_side", "v_hidden", "1"),
    LAYER_NORM("layer_norm1", "v_hidden", "v_layers"),
    LINEAR("q_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("k_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("v_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("out_proj", "v_hidden", "v_hidden", "v_layers"),
    LAYER_NORM("layer_norm2", "v_hidden", "v_layers"),
    LINEAR("fc1", "v_ffn", "v_hidden", "v_layers"),
    LINEAR("fc2", "v_hidden", "v_ffn", "v_layers"),
    LAYER_NORM("post_layernorm", "v_hidden", "1"),
    TIMES("mm_input_projection_weight", "v_hidden", "hidden", "1"),
    TIMES("mm_soft_emb_norm.weight", "v_hidden", "1", "1"),
    RULES_END};

const arch_part_t arch_part_siglip = {
    .object = "vision_config", .keys = siglip_keys, .rules = siglip_rules};

/* Qwen3-VL: a merger after the tower, and one more for each layer that is tapped. */
static const arch_key_t qwen3_vl_keys[] = {
    {.name = "v_hidden", .keys = {"hidden_size"}},
    {.name = "v_ffn", .keys = {"intermediate_size"}},
    {.name = "v_layers", .keys = {"depth"}, .flags = ARCH_LAYERS},
    {.name = "v_out", .keys = {"out_hidden_size"}},
    {.name = "v_channels", .keys = {"in_channels"}, .absent = "3"},
    {.name = "v_patch", .keys = {"patch_size"}},
    {.name = "v_frames", .keys = {"temporal_patch_size"}, .absent = "2"},
    {.name = "v_positions", .keys = {"num_position_embeddings"}},
    {.name = "v_merge", .keys = {"spatial_merge_size"}},
    KEY_CONSTANT("v_merged", "v_merge*v_merge*v_hidden"),
    {.name = "v_taps",
     .keys = {"deepstack_visual_indexes"},
     .absent = "3",
     .flags = ARCH_ZERO | ARCH_COUNT},
    KEYS_END};

static const arch_rule_t qwen3_vl_rules[] = {
    LINEAR("patch_embed.proj", "v_hidden", "v_channels*v_frames*v_patch*v_patch", "1"),
    TIMES("pos_embed.weight", "v_positions", "v_hidden", "1"),
    LAYER_NORM("norm1", "v_hidden", "v_layers"),
    LAYER_NORM("norm2", "v_hidden", "v_layers"),
    LINEAR("attn.qkv", "3*v_hidden", "v_hidden", "v_layers"),
    LINEAR("attn.proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("mlp.linear_fc1", "v_ffn", "v_hidden", "v_layers"),
    LINEAR("mlp.linear_fc2", "v_hidden", "v_ffn", "v_layers"),
    LAYER_NORM("merger.norm", "v_hidden", "1"),
    LINEAR("merger.linear_fc1", "v_merged", "v_merged", "1"),
    LINEAR("merger.linear_fc2", "v_out", "v_merged", "1"),
    LAYER_NORM("deepstack_merger_list.norm", "v_merged", "v_taps"),
    LINEAR("deepstack_merger_list.linear_fc1", "v_merged", "v_merged", "v_taps"),
    LINEAR("deepstack_merger_list.linear_fc2", "v_out", "v_merged", "v_taps"),
    RULES_END};

const arch_part_t arch_part_qwen3_vl = {
    .object = "vision_config", .keys = qwen3_vl_keys, .rules = qwen3_vl_rules};

/* Llama 4: class and position embeddings, a pixel shuffle, an adapter, a projector. */
static const arch_key_t llama4_keys[] = {
    {.name = "v_hidden", .keys = {"hidden_size"}},
    {.name = "v_ffn", .keys = {"intermediate_size"}},
    {.name = "v_layers", .keys = {"num_hidden_layers"}, .flags = ARCH_LAYERS},
    {.name = "v_channels", .keys = {"num_channels"}, .absent = "3"},
    {.name = "v_patch", .keys = {"patch_size"}},
    {.name = "v_image", .keys = {"image_size"}},
    {.name = "v_adapter_in", .keys = {"projector_input_dim"}, .absent = "4096"},
    {.name = "v_adapter_out", .keys = {"projector_output_dim"}, .absent = "4096"},
    {.name = "v_out", .keys = {"vision_output_dim"}, .absent = "7680"},
    KEY_CONSTANT("v_side", "v_image/v_patch"),
    KEYS_END};

static const arch_rule_t llama4_rules[] = {
    TIMES("class_embedding", "v_hidden", "1", "1"),
    TIMES("positional_embedding_vlm", "v_side*v_side+1", "v_hidden", "1"),
    TIMES("patch_embedding.linear.weight", "v_hidden", "v_channels*v_patch*v_patch", "1"),
    LAYER_NORM("layernorm_pre", "v_hidden", "1"),
    LAYER_NORM("layernorm_post", "v_hidden", "1"),
    LINEAR("self_attn.q_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("self_attn.k_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("self_attn.v_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("self_attn.o_proj", "v_hidden", "v_hidden", "v_layers"),
    LINEAR("mlp.fc1", "v_ffn", "v_hidden", "v_layers"),
    LINEAR("mlp.fc2", "v_hidden", "v_ffn", "v_layers"),
    LAYER_NORM("input_layernorm", "v_hidden", "v_layers"),
    LAYER_NORM("post_attention_layernorm", "v_hidden", "v_layers"),
    TIMES("vision_adapter.mlp.fc1.weight", "v_adapter_in", "v_ffn", "1"),
    TIMES("vision_adapter.mlp.fc2.weight", "v_adapter_out", "v_adapter_out", "1"),
    TIMES("multi_modal_projector.linear_1.weight", "hidden", "v_out", "1"),
    RULES_END};

const arch_part_t arch_part_llama4 = {
    .object = "vision_config", .keys = llama4_keys, .rules = llama4_rules};
