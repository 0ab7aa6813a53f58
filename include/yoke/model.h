/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

/**
 * The model document (yoke-model/1): an ordered list of layers with their parameters,
 * tensors and operations, from which FLOPs, bytes and activations follow for any batch
 * and sequence.
 *
 * A layer is what a pipeline stage can hold whole: the embedding, one decoder block, the
 * head (final norm and vocabulary projection), an extra prediction layer.
 * Ownership and threads as in inventory.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_layer_kind {
    YOKE_LAYER_EMBEDDING = 0,
    YOKE_LAYER_DECODER,
    YOKE_LAYER_HEAD,
    YOKE_LAYER_PREDICTION /**< extra prediction layer (multi-token prediction) */
} yoke_layer_kind_t;

/** "embedding" "decoder" "head" "prediction" */
const char *yoke_layer_kind_name(yoke_layer_kind_t kind);

/** Along what a tensor can be cut for tensor parallelism. */
typedef enum yoke_shard {
    YOKE_SHARD_NONE = 0, /**< replicated: norms, biases of row-parallel layers, routers */
    YOKE_SHARD_HEADS,    /**< query heads */
    YOKE_SHARD_KV_HEADS, /**< key/value heads; replicated when there are fewer than ranks
                          */
    YOKE_SHARD_COLUMNS,  /**< MLP columns (or rows of the down projection) */
    YOKE_SHARD_VOCAB,    /**< vocabulary rows */
    YOKE_SHARD_EXPERTS   /**< whole experts (each expert's columns otherwise) */
} yoke_shard_t;

/** "none" "heads" "kv_heads" "columns" "vocabulary" "experts" */
const char *yoke_shard_name(yoke_shard_t shard);

typedef struct yoke_tensor {
    char *name;             /**< e.g. "self_attn.q_proj.weight" */
    uint64_t rows, columns; /**< columns 1 for vectors; rows = output features */
    uint64_t copies;        /**< how many equal ones (experts); 1 otherwise */
    uint64_t active; /**< how many of the copies one token uses (= copies when dense) */
    yoke_shard_t shard;
    bool matmul; /**< true: a weight of a matrix multiplication over all tokens */
    bool tied;   /**< shares storage with the embedding: 0 parameters of its own */
    /* Elements kept per token until the backward pass because of this tensor's operation,
     * all active copies together (docs/model-document.md lists them). */
    uint64_t
        kept; /**< whole on every tensor-parallel rank: inputs of matmuls and norms */
    uint64_t kept_cut; /**< divided along with the tensor: queries, MLP columns, expert
                          outputs */
    uint64_t
        kept_fp32; /**< whole, and 4 bytes each whatever the data type: router scores */
} yoke_tensor_t;

/** Score-and-mix part of attention (softmax or linear); none: heads = 0. */
typedef struct yoke_attention {
    uint64_t heads;    /**< query heads */
    uint64_t kv_heads; /**< key/value heads (1 for latent attention's cache) */
    uint64_t qk_dim;   /**< per-head width of query and key */
    uint64_t v_dim;    /**< per-head width of the value */
    uint64_t window;   /**< sliding window in tokens; 0: full */
    bool linear;       /**< linear attention or state space: cost grows with s, not s^2 */
    uint64_t state;    /**< linear: state elements per head (qk_dim x v_dim); else 0 */
    uint64_t cache_per_token; /**< elements kept per token for decoding */
    bool chunked; /**< `window` is a chunk: a token sees its own chunk only (Llama 4) */
    uint64_t index_heads,
        index_dim; /**< scoring heads that choose `window` keys; 0: none */
} yoke_attention_t;

typedef struct yoke_layer {
    char *name; /**< "embed", "layers.0", "head" */
    yoke_layer_kind_t kind;
    yoke_tensor_t *tensors;
    size_t tensor_count;
    yoke_attention_t attention;
    uint64_t hidden; /**< model width */
    uint64_t ffn; /**< intermediate width of the dense MLP that a token passes; 0 none */
    bool gated;   /**< MLP has a gate branch */
    uint64_t experts, experts_active, expert_ffn; /**< 0: dense */
    uint64_t shared_ffn; /**< total width of the shared experts; 0 none */
    bool parallel; /**< attention and MLP read the same input: one all-reduce less */
    uint64_t
        parameters;  /**< stored parameters (a tied head: without the shared matrix) */
    uint64_t active; /**< parameters that one token uses (a tied head: with it) */
    void *extra;     /**< kept "x-*" members (opaque) */
} yoke_layer_t;

typedef struct yoke_model {
    char *name;
    char *architecture;
    uint64_t hidden, vocabulary, heads, kv_heads, head_dim;
    uint64_t positions; /**< longest sequence that the model was made for; 0 unknown */
    uint64_t experts;   /**< routed experts of a layer, 0: dense */
    bool tied;          /**< head shares the embedding's matrix */
    uint64_t parameters_total;      /**< every stored parameter once */
    uint64_t parameters_active;     /**< that one token uses, each once */
    uint64_t parameters_prediction; /**< of extra prediction layers, NOT in total */
    uint64_t parameters_other;      /**< vision tower, projector: in total, in no layer */
    char *dtype;                    /**< of the stored weights: "bf16"; NULL unknown */
    yoke_layer_t *layers;
    size_t layer_count;
    char **notices; /**< e.g. "index says 999999 bytes, expected 213632" */
    size_t notice_count;
    char digest[32]; /**< of the canonical document text */
    void *extra;     /**< kept "x-*" members (opaque) */
} yoke_model_t;

/** A NULL pointer in place of the options, and one zeroed but for struct_size, mean the
 *  same: the defaults below. */
typedef struct yoke_model_options {
    size_t struct_size;     /**< sizeof(yoke_model_options_t); 0 is refused */
    bool prediction_layers; /**< make layers of the extra prediction layers too; default:
                               no */
    const char *index; /**< safetensors index to compare with; NULL: beside the config */
} yoke_model_options_t;

/**
 * Read a model: a Hugging Face config.json, a folder that holds one, a safetensors file
 * or index beside one, or a yoke-model/1 document (told apart by its content). `options`
 * may be NULL: the defaults. A bare name ("llama-3.1-8b") that is no file is looked up
 * among the bundled models. "-" is standard input. The caller frees the model with
 * yoke_model_free(); what was noticed while reading stands in its `notices`.
 * @retval YOKE_OK
 * @retval YOKE_ERR_UNSUPPORTED  unknown architecture; the message lists the known ones
 * @retval YOKE_ERR_BAD_INPUT    malformed, a missing or impossible number
 * @retval YOKE_ERR_NOT_FOUND    no such file, and no bundled model of that name
 * @retval YOKE_ERR_SYSTEM       a file is there but cannot be read
 * @retval YOKE_ERR_USAGE        options->struct_size is too small
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_model_read(const char *path, const yoke_model_options_t *options,
                              yoke_model_t **out_model);
/**
 * The same from memory: a config.json or a model document of `size` bytes, which need not
 * end with a NUL and are not kept; `name` is used in messages and becomes the model's
 * name. No other file is looked at. Statuses and ownership as of yoke_model_read().
 */
yoke_status_t yoke_model_parse(const char *name, const char *data, size_t size,
                               const yoke_model_options_t *options,
                               yoke_model_t **out_model);
/**
 * Document text (yoke-model/1) with a final newline; the caller frees it with free().
 * @retval YOKE_OK  @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_model_text(const yoke_model_t *model, char **out_text);
/** Free it and all that hangs below; NULL is allowed. */
void yoke_model_free(yoke_model_t *model);

/** Names of the architectures that the importer knows, NULL-terminated; static storage.
 */
const char *const *yoke_model_architectures(void);

/**
 * Work of one layer, unsharded, for `batch` sequences of `sequence` tokens.
 * Forward only; backward has twice the matmul FLOPs and the attention's 2 (not flash) or
 * 2.5 (flash) times.
 */
typedef struct yoke_layer_work {
    double matmul_flops; /**< forward, 2 x active matmul parameters x tokens (head and
                            router included) */
    double
        attention_flops; /**< forward score and mix, causal (half) where the model is */
    double weight_bytes; /**< weights read once, in `element_size` bytes each */
    double
        activation_bytes; /**< kept for backward without recomputation, flash attention */
    double activation_bytes_selective; /**< with the attention core recomputed */
    double boundary_bytes;             /**< tensor passed on to the next layer */
    double cache_bytes;                /**< decoding cache for these tokens */
    double activation_cut_bytes; /**< the part of activation_bytes that tensor parallelism
                                    divides */
    double logit_bytes; /**< head: logits in 4 bytes each, NOT in activation_bytes */
} yoke_layer_work_t;
void yoke_layer_get_work(const yoke_layer_t *layer, double batch, double sequence,
                         unsigned element_size, yoke_layer_work_t *out_work);

#ifdef __cplusplus
}
#endif
#endif
