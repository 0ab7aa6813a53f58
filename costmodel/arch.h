/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_ARCH_H
#define YOKE_COSTMODEL_ARCH_H

/*
 * Architectures as tables. A descriptor says which keys of a config.json it reads under
 * which names, and which tensors a layer has, their shapes written as expressions over
 * those numbers ("heads*head_dim"). docs/add-an-architecture.md walks through one.
 */

#include "base/json.h"
#include "yoke/model.h"

enum { ARCH_LIMIT_LAYERS = 100000, ARCH_VALUES = 96 };
#define ARCH_LIMIT_NUMBER ((uint64_t)1 << 40) /* of any one number of a file */
#define ARCH_LIMIT_TOTAL ((uint64_t)1 << 60)  /* of a product, and of all parameters */

/* The numbers of a model by name: those read, then those of the layer at hand. */
typedef struct arch_values {
    struct {
        const char *name; /* static storage */
        uint64_t value;
    } items[ARCH_VALUES];
    size_t count;
} arch_values_t;

void arch_set(arch_values_t *values, const char *name, uint64_t value);
/* 0 where there is none. */
uint64_t arch_get(const arch_values_t *values, const char *name);

typedef enum arch_outcome {
    ARCH_OK = 0,
    ARCH_TOO_LARGE,  /* passes ARCH_LIMIT_TOTAL */
    ARCH_NOT_WHOLE,  /* a division with a remainder, or by zero */
    ARCH_BAD_FORMULA /* an unknown name or a slip in a table */
} arch_outcome_t;

/* Value of "a*b+2*c", "hidden/heads", "(a+b)*c"; left to right, * and / before +. */
arch_outcome_t arch_evaluate(const char *formula, const arch_values_t *values,
                             uint64_t *out_value);
/* Truth of "moe", "!moe", "linear&bias"; NULL is true. */
arch_outcome_t arch_condition(const char *condition, const arch_values_t *values,
                              bool *out_true);

enum {
    ARCH_ZERO = 1 << 0,    /* 0 is a sensible value */
    ARCH_BOOL = 1 << 1,    /* true or false */
    ARCH_TOP = 1 << 2,     /* read from the top level even where the model is nested */
    ARCH_DEFAULT = 1 << 3, /* `absent` is the class's number: say so when it is used */
    ARCH_LAYERS = 1 << 4,  /* at most ARCH_LIMIT_LAYERS */
    ARCH_COUNT = 1 << 5    /* the number of items of a list */
};

typedef struct arch_key {
    const char *name; /* in formulas */
    const char
        *keys[3];       /* in config.json, the first that is there; "a.b" is b inside a */
    const char *absent; /* formula when there is none; NULL: the key is needed */
    const char *null;   /* formula when it is null; NULL: like absent */
    unsigned flags;
} arch_key_t;

/* One tensor of a layer. */
typedef struct arch_rule {
    const char *name; /* below the layer's prefix; '*' stands for the expert's number */
    const char *rows, *columns;
    const char *when;            /* condition; NULL always */
    const char *copies, *active; /* NULL: 1, and all */
    yoke_shard_t shard;
    bool matmul;
    bool tied;
    const char *kept, *kept_cut, *kept_fp32; /* per token and active copy; NULL: 0 */
} arch_rule_t;

/* A part that is no layer: vision tower, projector. Counted in parameters_other. */
typedef struct arch_part {
    const char *object; /* "vision_config"; without it the part is not counted */
    const arch_key_t *keys;
    const arch_rule_t *rules; /* `copies` is the number of times */
} arch_part_t;

typedef struct arch arch_t;

/* An import under way. */
typedef struct arch_import {
    const arch_t *arch;
    yoke_cursor_t top;    /* of the file */
    yoke_cursor_t config; /* of the language model: top, or its text_config */
    arch_values_t values;
    unsigned char *sparse; /* per layer, 1: mixture of experts; NULL where no list says */
    yoke_model_t *model;
} arch_import_t;

struct arch {
    const char *name;           /* in "architectures" */
    const char *model_types[3]; /* in "model_type" */
    const char *nested; /* object that holds the language model; NULL: top level */
    const arch_key_t *keys;
    const arch_rule_t *embedding, *layer, *head;
    const arch_rule_t
        *prediction; /* extra tensors of a prediction layer, with `layer`'s */
    const arch_part_t *part;
    bool gated;                 /* MLP with a gate branch */
    const char *parallel;       /* condition: attention and MLP side by side */
    const char *prefix;         /* of a layer's tensors, before its number */
    const char *const *aliases; /* pairs: a prefix in files, the prefix used here */
    /* What keys alone cannot say: refuse variants, read lists. May be NULL. */
    yoke_status_t (*check)(arch_import_t *import);
    /* Numbers of one layer (which kind of mixing, window, experts). May be NULL. */
    yoke_status_t (*layer_values)(arch_import_t *import, uint64_t index);
};

/* Every descriptor, in the order shown to users; ends with NULL. */
extern const arch_t *const arch_all[];

extern const arch_part_t arch_part_siglip, arch_part_qwen3_vl, arch_part_llama4;

/* Family tables (arch_*.c). */
extern const arch_t arch_llama, arch_mistral, arch_qwen2, arch_qwen3, arch_gemma,
    arch_gemma2, arch_gemma3, arch_gemma3_vision, arch_phi3, arch_baichuan, arch_internlm,
    arch_minicpm, arch_decilm, arch_qwen3_vl;
extern const arch_t arch_gpt2, arch_gpt_bigcode, arch_gptj, arch_gpt_neox, arch_mpt,
    arch_phi, arch_qwen;
extern const arch_t arch_mixtral, arch_qwen2_moe, arch_qwen3_moe, arch_deepseek_v3,
    arch_deepseek_v32, arch_gpt_oss, arch_llama4;
extern const arch_t arch_qwen3_next, arch_nemotron_h;

/* Reading (arch_config.c). */
yoke_status_t arch_read_keys(arch_import_t *import, const arch_key_t *keys,
                             const yoke_cursor_t *object);
yoke_status_t arch_notice(yoke_model_t *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Mark layers named in the list `key` of the config; false in *out_found when absent. */
yoke_status_t arch_read_layer_list(arch_import_t *import, const char *key,
                                   unsigned char mark, bool *out_found);
/* Entry of "layer_types"; NULL when the config has none. */
yoke_status_t arch_layer_type(arch_import_t *import, uint64_t index,
                              const char **out_type);

/* Layer steps that families share (arch_steps.c). */
yoke_status_t arch_step_window(arch_import_t *import, uint64_t index);
yoke_status_t arch_step_sparse(arch_import_t *import, uint64_t index);
yoke_status_t arch_check_sparse(arch_import_t *import);

/* Building (arch_layers.c): layers and parts from filled values. */
yoke_status_t arch_build(arch_import_t *import, bool prediction_layers);

/* The whole of it (arch.c): a config.json into a model without totals. `*out_arch` may be
 * used to compare names with weight files. */
yoke_status_t arch_import_config(const yoke_json_t *json,
                                 const yoke_model_options_t *options, yoke_model_t *model,
                                 const arch_t **out_arch);

#define ARCH_MATRIX(NAME, ROWS, COLUMNS, SHARD, ...)                                     \
    {                                                                                    \
        .name = (NAME), .rows = (ROWS), .columns = (COLUMNS),                            \
        .shard = YOKE_SHARD_##SHARD, .matmul = true, __VA_ARGS__                         \
    }
#define ARCH_VECTOR(NAME, ROWS, SHARD, ...)                                              \
    {                                                                                    \
        .name = (NAME), .rows = (ROWS), .columns = "1", .shard = YOKE_SHARD_##SHARD,     \
        __VA_ARGS__                                                                      \
    }
#define ARCH_NORM(NAME, ...)                                                             \
    ARCH_VECTOR(NAME, "hidden", NONE, .kept = "hidden", __VA_ARGS__)
#define ARCH_EXPERT(NAME, ROWS, COLUMNS, ...)                                            \
    {                                                                                    \
        .name = (NAME), .rows = (ROWS), .columns = (COLUMNS),                            \
        .shard = YOKE_SHARD_EXPERTS, .matmul = true, .copies = "experts",                \
        .active = "topk", __VA_ARGS__                                                    \
    }

#endif
