/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_ARCH_KEYS_H
#define YOKE_COSTMODEL_ARCH_KEYS_H

/* Rows that many families' tables share. */

#include "costmodel/arch.h"

/* Sizes under the names that most files use today. */
#define KEYS_SIZES                                                                       \
    {.name = "hidden", .keys = {"hidden_size"}},                                         \
        {.name = "layers", .keys = {"num_hidden_layers"}, .flags = ARCH_LAYERS},         \
        {.name = "heads", .keys = {"num_attention_heads"}},                              \
        {.name = "vocabulary", .keys = {"vocab_size"}},                                  \
    {                                                                                    \
        .name = "positions", .keys = {"max_position_embeddings"}, .absent = "0",         \
        .flags = ARCH_ZERO                                                               \
    }
/* The same under GPT-2's names; n_inner is 4 x hidden unless given. */
#define KEYS_SIZES_GPT2                                                                  \
    {.name = "hidden", .keys = {"n_embd", "hidden_size"}},                               \
        {.name = "layers",                                                               \
         .keys = {"n_layer", "num_hidden_layers"},                                       \
         .flags = ARCH_LAYERS},                                                          \
        {.name = "heads", .keys = {"n_head", "num_attention_heads"}},                    \
        {.name = "vocabulary", .keys = {"vocab_size"}},                                  \
        {.name = "ffn", .keys = {"n_inner", "intermediate_size"}, .absent = "4*hidden"}, \
    {                                                                                    \
        .name = "head_dim", .absent = "hidden/heads"                                     \
    }
#define KEY_FFN                                                                          \
    {                                                                                    \
        .name = "ffn", .keys = { "intermediate_size" }                                   \
    }
/* A class whose own number of key/value heads is a constant; null means "as many as
 * heads". */
#define KEY_KV_HEADS(NUMBER)                                                             \
    {                                                                                    \
        .name = "kv_heads", .keys = {"num_key_value_heads"}, .absent = (NUMBER),         \
        .null = "heads", .flags = ARCH_DEFAULT                                           \
    }
#define KEY_KV_HEADS_ALL                                                                 \
    {                                                                                    \
        .name = "kv_heads", .keys = {"num_key_value_heads"}, .absent = "heads"           \
    }
#define KEY_HEAD_DIM                                                                     \
    {                                                                                    \
        .name = "head_dim", .keys = {"head_dim"}, .absent = "hidden/heads"               \
    }
#define KEY_HEAD_DIM_CLASS(NUMBER)                                                       \
    {                                                                                    \
        .name = "head_dim", .keys = {"head_dim"}, .absent = (NUMBER),                    \
        .null = "hidden/heads", .flags = ARCH_DEFAULT                                    \
    }
#define KEY_FLAG(NAME, KEY, ABSENT)                                                      \
    {                                                                                    \
        .name = (NAME), .keys = {(KEY)}, .absent = (ABSENT), .flags = ARCH_BOOL          \
    }
#define KEY_TIED(ABSENT)                                                                 \
    {                                                                                    \
        .name = "tied", .keys = {"tie_word_embeddings"}, .absent = (ABSENT),             \
        .flags = ARCH_BOOL | ARCH_TOP                                                    \
    }
/* 0 and null: no sliding window. */
#define KEY_WINDOW(ABSENT)                                                               \
    {                                                                                    \
        .name = "sliding_window", .keys = {"sliding_window"}, .absent = (ABSENT),        \
        .null = "0", .flags = ARCH_ZERO                                                  \
    }
#define KEY_CONSTANT(NAME, FORMULA)                                                      \
    {                                                                                    \
        .name = (NAME), .absent = (FORMULA)                                              \
    }
#define KEYS_END                                                                         \
    {                                                                                    \
        .name = NULL                                                                     \
    }
#define RULES_END                                                                        \
    {                                                                                    \
        .name = NULL                                                                     \
    }

/* Embedding, final norm and head of the Llama line. */
#define RULES_HEAD(NORM)                                                                 \
    ARCH_NORM(NORM, .when = NULL),                                                       \
        ARCH_MATRIX("lm_head.weight", "vocabulary", "hidden", VOCAB, .kept = "hidden")

/* Separate q, k, v and o projections; every matrix with its bias where `BIAS` is true. */
#define RULES_ATTENTION(WHEN, QKV_BIAS, O_BIAS)                                          \
    ARCH_MATRIX("self_attn.q_proj.weight", "heads*head_dim", "hidden", HEADS,            \
                .when = (WHEN), .kept = "hidden", .kept_cut = "heads*head_dim"),         \
        ARCH_VECTOR("self_attn.q_proj.bias", "heads*head_dim", HEADS,                    \
                    .when = (QKV_BIAS)),                                                 \
        ARCH_MATRIX("self_attn.k_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,  \
                    .when = (WHEN), .kept_cut = "kv_heads*head_dim"),                    \
        ARCH_VECTOR("self_attn.k_proj.bias", "kv_heads*head_dim", KV_HEADS,              \
                    .when = (QKV_BIAS)),                                                 \
        ARCH_MATRIX("self_attn.v_proj.weight", "kv_heads*head_dim", "hidden", KV_HEADS,  \
                    .when = (WHEN), .kept_cut = "kv_heads*head_dim"),                    \
        ARCH_VECTOR("self_attn.v_proj.bias", "kv_heads*head_dim", KV_HEADS,              \
                    .when = (QKV_BIAS)),                                                 \
        ARCH_MATRIX("self_attn.o_proj.weight", "hidden", "heads*head_dim", HEADS,        \
                    .when = (WHEN), .kept_cut = "heads*head_dim"),                       \
        ARCH_VECTOR("self_attn.o_proj.bias", "hidden", NONE, .when = (O_BIAS))
#define RULES_QK_NORM(WHEN)                                                              \
    ARCH_VECTOR("self_attn.q_norm.weight", "head_dim", NONE, .when = (WHEN),             \
                .kept_cut = "heads*head_dim"),                                           \
        ARCH_VECTOR("self_attn.k_norm.weight", "head_dim", NONE, .when = (WHEN),         \
                    .kept_cut = "kv_heads*head_dim")

/* down(act(gate) * up): keeps its input (unless another tensor counts it: NULL), both
 * branches and their product. */
#define RULES_GATED_MLP(PREFIX, WIDTH, WHEN, INPUT)                                      \
    ARCH_MATRIX(PREFIX "gate_proj.weight", WIDTH, "hidden", COLUMNS, .when = (WHEN),     \
                .kept = (INPUT), .kept_cut = WIDTH),                                     \
        ARCH_MATRIX(PREFIX "up_proj.weight", WIDTH, "hidden", COLUMNS, .when = (WHEN),   \
                    .kept_cut = WIDTH),                                                  \
        ARCH_MATRIX(PREFIX "down_proj.weight", "hidden", WIDTH, COLUMNS, .when = (WHEN), \
                    .kept_cut = WIDTH)
/* The same for routed experts: each active one keeps its copy of the token and its
 * output. */
#define RULES_GATED_EXPERTS(GATE, UP, DOWN, WIDTH, WHEN)                                 \
    ARCH_EXPERT(GATE, WIDTH, "hidden", .when = (WHEN), .kept_cut = "hidden+" WIDTH),     \
        ARCH_EXPERT(UP, WIDTH, "hidden", .when = (WHEN), .kept_cut = WIDTH),             \
        ARCH_EXPERT(DOWN, "hidden", WIDTH, .when = (WHEN), .kept_cut = "hidden+" WIDTH)
#define RULE_ROUTER(NAME, WHEN)                                                          \
    ARCH_MATRIX(NAME, "experts", "hidden", NONE, .when = (WHEN), .kept = "hidden",       \
                .kept_fp32 = "experts")

#endif
