/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of unlike layers: linear attention, state space, and layers chosen by search. */
#include <string.h>

#include "costmodel/arch_keys.h"

static const arch_rule_t hybrid_embedding[] = {{.name = "model.embed_tokens.weight",
                                                .rows = "vocabulary",
                                                .columns = "hidden",
                                                .shard = YOKE_SHARD_VOCAB},
                                               RULES_END};

static const arch_rule_t hybrid_head[] = {RULES_HEAD("model.norm.weight"), RULES_END};

/* Qwen3-Next: three layers of gated delta rule, then one of gated attention. */
static const arch_rule_t qwen3_next_layer[] = {
    ARCH_NORM("input_layernorm.weight"),
    ARCH_MATRIX("linear_attn.in_proj_qkvz.weight", "2*keys+2*values", "hidden", HEADS,
                .when = "linear", .kept = "hidden", .kept_cut = "2*keys+2*values"),
    ARCH_MATRIX("linear_attn.in_proj_ba.weight", "2*linear_heads", "hidden", HEADS,
                .when = "linear", .kept_cut = "2*linear_heads"),
    {.name = "linear_attn.conv1d.weight",
     .rows = "2*keys+values",
     .columns = "kernel",
     .shard = YOKE_SHARD_HEADS,
     .when = "linear",
     .kept_cut = "2*keys+values"},
    ARCH_VECTOR("linear_attn.dt_bias", "linear_heads", HEADS, .when = "linear"),
    ARCH_VECTOR("linear_attn.A_log", "linear_heads", HEADS, .when = "linear"),
    ARCH_VECTOR("linear_attn.norm.weight", "linear_v_dim", NONE, .when = "linear",
                .kept_cut = "values"),
    ARCH_MATRIX("linear_attn.out_proj.weight", "hidden", "values", HEADS,
                .when = "linear", .kept_cut = "values"),
    /* The query projection is twice as wide: its second half gates the output. */
    ARCH_MATRIX("self_attn.q_proj.weight", "2*heads*head_dim", "hidden", HEADS,
                .when = "!linear", .kept = "hidden", .kept_cut = "2*heads*head_dim"),
    ARCH_VECTOR("self_attn.q_proj.bias", "2*heads*head_dim", HEADS,
                .when = "!linear&attention_bias"),
    ARCH_MATRIX("self_attn.k_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .when = "!linear", .kept_cut = "kv_heads*head_dim"),
    ARCH_VECTOR("self_attn.k_proj.bias", "kv_heads*head_dim", KV_HEADS,
                .when = "!linear&attention_bias"),
    ARCH_MATRIX("self_attn.v_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .when = "!linear", .kept_cut = "kv_heads*head_dim"),
    ARCH_VECTOR("self_attn.v_proj.bias", "kv_heads*head_dim", KV_HEADS,
                .when = "!linear&attention_bias"),
    ARCH_MATRIX("self_attn.o_proj.weight", "hidden", "heads*head_dim", HEADS,
                .when = "!linear", .kept_cut = "2*heads*head_dim"),
    ARCH_VECTOR("self_attn.o_proj.bias", "hidden", NONE,
                .when = "!linear&attention_bias"),
    RULES_QK_NORM("!linear"),
    ARCH_NORM("post_attention_layernorm.weight"),
    RULES_GATED_MLP("mlp.", "ffn", "!moe", "hidden"),
    RULE_ROUTER("mlp.gate.weight", "moe"),
    RULES_GATED_EXPERTS("mlp.experts.*.gate_proj.weight", "mlp.experts.*.up_proj.weight",
                        "mlp.experts.*.down_proj.weight", "expert_ffn", "moe"),
    RULES_GATED_MLP("mlp.shared_expert.", "shared_ffn", "moe", NULL),
    ARCH_MATRIX("mlp.shared_expert_gate.weight", "1", "hidden", NONE, .when = "moe"),
    RULES_END};

static const arch_key_t qwen3_next_keys[] = {
    KEYS_SIZES,
    KEY_FFN,
    KEY_KV_HEADS("2"),
    KEY_HEAD_DIM_CLASS("256"),
    {.name = "experts", .keys = {"num_experts", "num_local_experts"}},
    {.name = "topk", .keys = {"num_experts_per_tok"}},
    {.name = "expert_ffn", .keys = {"moe_intermediate_size"}},
    {.name = "shared_ffn", .keys = {"shared_expert_intermediate_size"}},
    {.name = "sparse_step", .keys = {"decoder_sparse_step"}, .absent = "1"},
    {.name = "period", .keys = {"full_attention_interval"}, .absent = "4"},
    {.name = "linear_k_heads", .keys = {"linear_num_key_heads"}},
    {.name = "linear_heads", .keys = {"linear_num_value_heads"}},
    {.name = "linear_k_dim", .keys = {"linear_key_head_dim"}},
    {.name = "linear_v_dim", .keys = {"linear_value_head_dim"}},
    {.name = "kernel", .keys = {"linear_conv_kernel_dim"}},
    KEY_CONSTANT("keys", "linear_k_heads*linear_k_dim"),
    KEY_CONSTANT("values", "linear_heads*linear_v_dim"),
    KEY_CONSTANT("all_states", "linear_heads*linear_k_dim*linear_v_dim"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    KEY_TIED("0"),
    KEYS_END};

static yoke_status_t qwen3_next_values(arch_import_t *import, uint64_t index)
{
    const char *type = NULL;
    yoke_status_t status = arch_layer_type(import, index, &type);
    if (status != YOKE_OK)
        return status;
    bool linear = (index + 1) % arch_get(&import->values, "period") != 0;
    if (type != NULL) {
        linear = strcmp(type, "linear_attention") == 0;
        if (!linear && strcmp(type, "full_attention") != 0)
            return yoke_cursor_fail(
                &import->config, "layer_types",
                "layer %llu: \"%s\" is neither \"linear_attention\" nor "
                "\"full_attention\"",
                (unsigned long long)index, type);
    }
    arch_set(&import->values, "linear", linear);
    return arch_step_sparse(import, index);
}

const arch_t arch_qwen3_next = {.name = "Qwen3NextForCausalLM",
                                .model_types = {"qwen3_next"},
                                .keys = qwen3_next_keys,
                                .embedding = hybrid_embedding,
                                .layer = qwen3_next_layer,
                                .head = hybrid_head,
                                .gated = true,
                                .prefix = "model.layers.",
                                .check = arch_check_sparse,
                                .layer_values = qwen3_next_values};

/* Nemotron-H: every layer is one norm and one mixer: state space, experts, attention or
 * MLP. */
static const arch_rule_t nemotron_h_embedding[] = {{.name = "backbone.embeddings.weight",
                                                    .rows = "vocabulary",
                                                    .columns = "hidden",
                                                    .shard = YOKE_SHARD_VOCAB},
                                                   RULES_END};

static const arch_rule_t nemotron_h_head[] = {RULES_HEAD("backbone.norm_f.weight"),
                                              RULES_END};

static const arch_rule_t nemotron_h_layer[] = {
    ARCH_NORM("norm.weight"),
    ARCH_MATRIX("mixer.in_proj.weight", "inner+conv+mamba_heads", "hidden", HEADS,
                .when = "linear", .kept = "hidden", .kept_cut = "inner+conv+mamba_heads"),
    ARCH_VECTOR("mixer.in_proj.bias", "inner+conv+mamba_heads", HEADS,
                .when = "linear&mamba_bias"),
    {.name = "mixer.conv1d.weight",
     .rows = "conv",
     .columns = "kernel",
     .shard = YOKE_SHARD_HEADS,
     .when = "linear",
     .kept_cut = "conv"},
    ARCH_VECTOR("mixer.conv1d.bias", "conv", HEADS, .when = "linear&conv_bias"),
    ARCH_VECTOR("mixer.dt_bias", "mamba_heads", HEADS, .when = "linear"),
    ARCH_VECTOR("mixer.A_log", "mamba_heads", HEADS, .when = "linear"),
    ARCH_VECTOR("mixer.D", "mamba_heads", HEADS, .when = "linear"),
    ARCH_VECTOR("mixer.norm.weight", "inner", HEADS, .when = "linear",
                .kept_cut = "inner"),
    ARCH_MATRIX("mixer.out_proj.weight", "hidden", "inner", HEADS, .when = "linear",
                .kept_cut = "inner"),
    ARCH_VECTOR("mixer.out_proj.bias", "hidden", NONE, .when = "linear&mamba_bias"),
    RULE_ROUTER("mixer.gate.weight", "moe"),
    ARCH_VECTOR("mixer.gate.e_score_correction_bias", "experts", NONE, .when = "moe"),
    ARCH_EXPERT("mixer.experts.*.up_proj.weight", "expert_ffn", "hidden", .when = "moe",
                .kept_cut = "hidden+expert_ffn"),
    ARCH_EXPERT("mixer.experts.*.down_proj.weight", "hidden", "expert_ffn", .when = "moe",
                .kept_cut = "hidden+expert_ffn"),
    ARCH_MATRIX("mixer.shared_experts.up_proj.weight", "shared_ffn", "hidden", COLUMNS,
                .when = "moe", .kept_cut = "shared_ffn"),
    ARCH_MATRIX("mixer.shared_experts.down_proj.weight", "hidden", "shared_ffn", COLUMNS,
                .when = "moe", .kept_cut = "shared_ffn"),
    ARCH_MATRIX("mixer.q_proj.weight", "heads*head_dim", "hidden", HEADS,
                .when = "attention", .kept = "hidden", .kept_cut = "heads*head_dim"),
    ARCH_MATRIX("mixer.k_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .when = "attention", .kept_cut = "kv_heads*head_dim"),
    ARCH_MATRIX("mixer.v_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,
                .when = "attention", .kept_cut = "kv_heads*head_dim"),
    ARCH_MATRIX("mixer.o_proj.weight", "hidden", "heads*head_dim", HEADS,
                .when = "attention", .kept_cut = "heads*head_dim"),
    ARCH_MATRIX("mixer.up_proj.weight", "ffn", "hidden", COLUMNS, .when = "mlp",
                .kept = "hidden", .kept_cut = "ffn"),
    ARCH_VECTOR("mixer.up_proj.bias", "ffn", COLUMNS, .when = "mlp&mlp_bias"),
    ARCH_MATRIX("mixer.down_proj.weight", "hidden", "ffn", COLUMNS, .when = "mlp",
                .kept_cut = "ffn"),
    ARCH_VECTOR("mixer.down_proj.bias", "hidden", NONE, .when = "mlp&mlp_bias"),
    RULES_END};

static const arch_key_t nemotron_h_keys[] = {
    {.name = "hidden", .keys = {"hidden_size"}},
    {.name = "pattern_layers",
     .keys = {"num_hidden_layers"},
     .absent = "0",
     .flags = ARCH_ZERO | ARCH_LAYERS},
    {.name = "heads", .keys = {"num_attention_heads"}},
    {.name = "vocabulary", .keys = {"vocab_size"}},
    {.name = "positions",
     .keys = {"max_position_embeddings"},
     .absent = "0",
     .flags = ARCH_ZERO},
    KEY_FFN,
    {.name = "kv_heads", .keys = {"num_key_value_heads"}},
    KEY_HEAD_DIM_CLASS("128"),
    {.name = "mamba_heads", .keys = {"mamba_num_heads"}},
    {.name = "mamba_dim", .keys = {"mamba_head_dim"}},
    {.name = "state", .keys = {"ssm_state_size"}},
    {.name = "groups", .keys = {"n_groups"}},
    {.name = "kernel", .keys = {"conv_kernel"}},
    KEY_CONSTANT("inner", "mamba_heads*mamba_dim"),
    KEY_CONSTANT("conv", "inner+2*groups*state"),
    KEY_CONSTANT("all_states", "inner*state"),
    KEY_FLAG("mamba_bias", "use_bias", "0"),
    KEY_FLAG("conv_bias", "use_conv_bias", "1"),
    KEY_FLAG("mlp_bias", "mlp_bias", "0"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    {.name = "experts", .keys = {"n_routed_experts"}, .absent = "0", .flags = ARCH_ZERO},
    {.name = "topk", .keys = {"num_experts_per_tok"}, .absent = "0", .flags = ARCH_ZERO},
    {.name = "expert_ffn",
     .keys = {"moe_intermediate_size"},
     .absent = "0",
     .flags = ARCH_ZERO},
    {.name = "shared_ffn",
     .keys = {"moe_shared_expert_intermediate_size"},
     .absent = "0",
     .flags = ARCH_ZERO},
    {.name = "expert_latent",
     .keys = {"moe_latent_size"},
     .absent = "0",
     .flags = ARCH_ZERO},
    KEY_TIED("0"),
    KEYS_END};

/* One letter a layer; its length is the number of layers, whatever num_hidden_layers
 * says. */
static yoke_status_t check_nemotron_h(arch_import_t *import)
{
    static const char key[] = "hybrid_override_pattern";
    const char *pattern = NULL;
    yoke_status_t status = yoke_need_string(&import->config, key, &pattern);
    if (status != YOKE_OK)
        return status;
    size_t count = strlen(pattern), known = strspn(pattern, "ME*-");
    if (count == 0 || count > ARCH_LIMIT_LAYERS)
        return yoke_cursor_fail(&import->config, key,
                                "must have 1 to %d letters, has %zu", ARCH_LIMIT_LAYERS,
                                count);
    if (known < count)
        return yoke_cursor_fail(
            &import->config, key,
            "'%c' at position %zu is none of M (state space), E (experts), "
            "* (attention), - (MLP)",
            pattern[known] >= ' ' ? pattern[known] : '?', known + 1);
    uint64_t stated = arch_get(&import->values, "pattern_layers");
    if (stated != 0 && stated != count)
        status = arch_notice(import->model,
                             "num_hidden_layers %llu is not the length %zu of %s; the "
                             "pattern counts",
                             (unsigned long long)stated, count, key);
    if (status != YOKE_OK)
        return status;
    if (arch_get(&import->values, "expert_latent") != 0)
        return yoke_cursor_fail(
            &import->config, "moe_latent_size",
            "must be null: experts of a latent width are not imported");
    if (strchr(pattern, 'E') != NULL && (arch_get(&import->values, "experts") == 0 ||
                                         arch_get(&import->values, "topk") == 0 ||
                                         arch_get(&import->values, "expert_ffn") == 0 ||
                                         arch_get(&import->values, "shared_ffn") == 0))
        return yoke_cursor_fail(
            &import->config, NULL,
            "the pattern has layers of experts: n_routed_experts, "
            "num_experts_per_tok, moe_intermediate_size and "
            "moe_shared_expert_intermediate_size are needed, 1 or more");
    arch_set(&import->values, "layers", count);
    return YOKE_OK;
}

static yoke_status_t nemotron_h_values(arch_import_t *import, uint64_t index)
{
    const char *pattern = NULL;
    yoke_status_t status =
        yoke_need_string(&import->config, "hybrid_override_pattern", &pattern);
    if (status != YOKE_OK)
        return status;
    arch_set(&import->values, "linear", pattern[index] == 'M');
    arch_set(&import->values, "moe", pattern[index] == 'E');
    arch_set(&import->values, "attention", pattern[index] == '*');
    arch_set(&import->values, "mlp", pattern[index] == '-');
    return YOKE_OK;
}

const arch_t arch_nemotron_h = {.name = "NemotronHForCausalLM",
                                .model_types = {"nemotron_h"},
                                .keys = nemotron_h_keys,
                                .embedding = nemotron_h_embedding,
                                .layer = nemotron_h_layer,
                                .head = nemotron_h_head,
                                .prefix = "backbone.layers.",
                                .check = check_nemotron_h,
                                .layer_values = nemotron_h_values};

/* Nemotron-NAS: Llama layers whose attention and MLP were searched one by one. */
static const arch_rule_t decilm_layer[] = {
    ARCH_NORM("input_layernorm.weight", .when = "attention_block"),
    RULES_ATTENTION("attention", "attention_bias&attention", "attention_bias&attention"),
    ARCH_MATRIX("self_attn.linear_attn.weight", "hidden", "hidden", COLUMNS,
                .when = "attention_linear", .kept = "hidden"),
    ARCH_NORM("post_attention_layernorm.weight", .when = "mlp_block"),
    RULES_GATED_MLP("mlp.", "ffn", "mlp", "hidden"),
    ARCH_VECTOR("mlp.gate_proj.bias", "ffn", COLUMNS, .when = "mlp&mlp_bias"),
    ARCH_VECTOR("mlp.up_proj.bias", "ffn", COLUMNS, .when = "mlp&mlp_bias"),
    ARCH_VECTOR("mlp.down_proj.bias", "hidden", NONE, .when = "mlp&mlp_bias"),
    ARCH_MATRIX("mlp.linear_mlp.weight", "hidden", "hidden", COLUMNS,
                .when = "mlp_linear", .kept = "hidden"),
    RULES_END};

static const arch_key_t decilm_keys[] = {
    KEYS_SIZES,
    KEY_CONSTANT("head_dim", "hidden/heads"),
    KEY_FLAG("attention_bias", "attention_bias", "0"),
    KEY_FLAG("mlp_bias", "mlp_bias", "0"),
    KEY_TIED("0"),
    KEYS_END};

static yoke_status_t check_decilm(arch_import_t *import)
{
    yoke_cursor_t blocks;
    yoke_status_t status = yoke_cursor_need(&import->config, "block_configs", &blocks);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&blocks);
    if (status != YOKE_OK)
        return status;
    uint64_t layers = arch_get(&import->values, "layers");
    if (yoke_cursor_count(&blocks) != layers)
        return yoke_cursor_fail(
            &blocks, NULL, "must have one entry for each of the %llu layers, has %zu",
            (unsigned long long)layers, yoke_cursor_count(&blocks));
    return YOKE_OK;
}

static yoke_status_t read_choice(const yoke_cursor_t *part, bool *out_full,
                                 bool *out_linear)
{
    bool none = false, linear = false;
    yoke_status_t status = yoke_opt_bool(part, "no_op", &none);
    if (status == YOKE_OK)
        status = yoke_opt_bool(part, "replace_with_linear", &linear);
    if (status != YOKE_OK)
        return status;
    *out_full = !none && !linear;
    *out_linear = !none && linear;
    return YOKE_OK;
}

static yoke_status_t decilm_attention(arch_import_t *import, const yoke_cursor_t *part)
{
    bool full = false, linear = false;
    uint64_t heads = arch_get(&import->values, "heads"), per_group = 0, window = 0;
    yoke_status_t status = read_choice(part, &full, &linear);
    if (status == YOKE_OK && full)
        status = yoke_need_u64(part, "n_heads_in_group", 1, heads, &per_group);
    if (status == YOKE_OK && full)
        status = yoke_opt_u64(part, "window_length", 1, ARCH_LIMIT_NUMBER, &window);
    if (status != YOKE_OK)
        return status;
    if (full && heads % per_group != 0)
        return yoke_cursor_fail(part, "n_heads_in_group",
                                "%llu does not divide the %llu attention heads",
                                (unsigned long long)per_group, (unsigned long long)heads);
    arch_set(&import->values, "attention", full);
    arch_set(&import->values, "attention_linear", linear);
    arch_set(&import->values, "attention_block", full || linear);
    arch_set(&import->values, "kv_heads", full ? heads / per_group : 0);
    arch_set(&import->values, "window", window);
    return YOKE_OK;
}

static yoke_status_t decilm_mlp(arch_import_t *import, const yoke_cursor_t *part)
{
    bool full = false, linear = false;
    double factor = 0;
    yoke_status_t status = read_choice(part, &full, &linear);
    if (status == YOKE_OK && full)
        status = yoke_need_double(part, "ffn_mult", 0x1p-20, 1024, &factor);
    if (status != YOKE_OK)
        return status;
    /* int(2 * ffn_mult * hidden / 3), up to a multiple of 256, as the model's code does.
     */
    double width = 2 * factor * (double)arch_get(&import->values, "hidden") / 3;
    uint64_t ffn =
        width >= (double)ARCH_LIMIT_NUMBER ? ARCH_LIMIT_NUMBER : (uint64_t)width;
    arch_set(&import->values, "mlp", full);
    arch_set(&import->values, "mlp_linear", linear);
    arch_set(&import->values, "mlp_block", full || linear);
    arch_set(&import->values, "ffn", (ffn + 255) / 256 * 256);
    return YOKE_OK;
}

static yoke_status_t decilm_values(arch_import_t *import, uint64_t index)
{
    yoke_cursor_t blocks, part;
    yoke_status_t status = yoke_cursor_need(&import->config, "block_configs", &blocks);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t block = yoke_cursor_item(&blocks, (size_t)index);
    status = yoke_cursor_need(&block, "attention", &part);
    if (status == YOKE_OK)
        status = decilm_attention(import, &part);
    if (status == YOKE_OK)
        status = yoke_cursor_need(&block, "ffn", &part);
    if (status == YOKE_OK)
        status = decilm_mlp(import, &part);
    return status;
}

const arch_t arch_decilm = {.name = "DeciLMForCausalLM",
                            .model_types = {"nemotron-nas"},
                            .keys = decilm_keys,
                            .embedding = hybrid_embedding,
                            .layer = decilm_layer,
                            .head = hybrid_head,
                            .gated = true,
                            .prefix = "model.layers.",
                            .check = check_decilm,
                            .layer_values = decilm_values};
