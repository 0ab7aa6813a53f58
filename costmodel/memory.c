/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that one rank holds of a layer, from an explicit list of the tensors that
 * training keeps: parameters, activations until the backward, the largest temporary.
 */
#include "costmodel/cost.h"

#include "yoke/inventory.h"

typedef struct rank {
    const yoke_layer_t *layer;
    uint64_t tp;
    double tokens;
    double size; /* bytes of an element */
} rank_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_block(const yoke_layer_t *layer)
{
    return layer->kind == YOKE_LAYER_DECODER || layer->kind == YOKE_LAYER_PREDICTION;
}

static double parameters(const rank_t *rank, const yoke_tensor_t *tensor)
{
    double count =
        (double)tensor->rows * (double)tensor->columns * (double)tensor->copies;
    return count * yoke_tensor_share(rank->layer, tensor, rank->tp);
}

/* Is it the projection back to the model's width (attention output, MLP down)? */
static bool is_output(const rank_t *rank, const yoke_tensor_t *tensor)
{
    const yoke_layer_t *layer = rank->layer;
    uint64_t mixed = layer->attention.heads * layer->attention.v_dim;
    if (tensor->rows != layer->hidden)
        return false;
    return tensor->shard == YOKE_SHARD_HEADS ? tensor->columns == mixed
                                             : tensor->shard != YOKE_SHARD_NONE;
}

/*
 * Elements per token that one GEMM keeps on a rank. Column-parallel ones (queries, keys,
 * values, gate, up) leave their output, row-parallel ones (attention output, down) their
 * input; what they have in common, the norm's output, is counted by the block. Both ends
 * of a routed expert are kept as well: tokens are gathered before and weighted after it.
 */
static double gemm_elements(const rank_t *rank, const yoke_tensor_t *tensor)
{
    double kept =
        is_output(rank, tensor) ? (double)tensor->columns : (double)tensor->rows;
    double share = yoke_tensor_share(rank->layer, tensor, rank->tp);
    return kept * share * (double)tensor->active;
}

/* Model-wide tensors of routed tokens: gathered inputs and results not yet weighted. */
static double routed_elements(const rank_t *rank)
{
    const yoke_layer_t *layer = rank->layer;
    if (layer->experts == 0)
        return 0;
    return 2 * (double)layer->experts_active * (double)layer->hidden / (double)rank->tp;
}

static unsigned block_count(const yoke_layer_t *layer)
{
    bool attention = layer->attention.heads > 0;
    bool mlp = layer->ffn > 0 || layer->experts > 0 || layer->shared_ffn > 0;
    return (unsigned)attention + (unsigned)mlp;
}

/* Bytes per token of a block without recomputation; flash attention, so no sequence^2. */
static double block_bytes_per_token(const rank_t *rank)
{
    const yoke_layer_t *layer = rank->layer;
    double hidden = (double)layer->hidden;
    unsigned blocks = block_count(layer);
    unsigned norms = layer->parallel ? 1 : blocks;

    /* Every norm keeps its input and gives the input of the GEMMs behind it. */
    double elements = 2 * (double)norms * hidden + routed_elements(rank);
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (layer->tensors[i].matmul)
            elements += gemm_elements(rank, &layer->tensors[i]);
    /* Models without a gate are of the generation that drops out: a byte per element. */
    double masks = layer->gated ? 0 : (double)blocks * hidden;
    return elements * rank->size + masks;
}

/* Row sums of the softmax that flash attention keeps, fp32. */
static double statistics_per_token(const rank_t *rank)
{
    const yoke_attention_t *attention = &rank->layer->attention;
    return attention->linear ? 0 : 4.0 * (double)attention->heads / (double)rank->tp;
}

static double activations(const rank_t *rank, yoke_recompute_t recompute)
{
    const yoke_layer_t *layer = rank->layer;
    double input = (double)layer->hidden * rank->size;
    if (layer->kind == YOKE_LAYER_EMBEDDING)
        return rank->tokens *
               sizeof(int64_t); /* token ids; the output is the next's input */
    if (layer->kind == YOKE_LAYER_HEAD)
        return rank->tokens * 2 * input; /* the norm's input and output */
    if (recompute == YOKE_RECOMPUTE_FULL)
        return rank->tokens * input;
    double bytes = block_bytes_per_token(rank);
    /* With flash attention the core keeps only what its neighbours keep anyway; doing it
     * again in backward saves no more than its row sums. */
    if (recompute != YOKE_RECOMPUTE_SELECTIVE)
        bytes += statistics_per_token(rank);
    return rank->tokens * bytes;
}

/* Gradients of the widest GEMM's input and output live at the same time. */
static double widest_gemm(const rank_t *rank)
{
    double widest = 0;
    for (size_t i = 0; i < rank->layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &rank->layer->tensors[i];
        if (!tensor->matmul || tensor->shard == YOKE_SHARD_VOCAB)
            continue;
        double cut = gemm_elements(rank, tensor);
        widest = larger(widest, cut + (double)rank->layer->hidden);
    }
    return rank->tokens * widest * rank->size;
}

static double logits(const rank_t *rank)
{
    double bytes = 0;
    for (size_t i = 0; i < rank->layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &rank->layer->tensors[i];
        if (tensor->matmul && tensor->shard == YOKE_SHARD_VOCAB)
            bytes += rank->tokens * (double)tensor->rows *
                     yoke_tensor_share(rank->layer, tensor, rank->tp) * 2 * sizeof(float);
    }
    return bytes;
}

void yoke_layer_get_bytes(const yoke_layer_t *layer, uint64_t tp, double micro_batch,
                          double sequence, yoke_dtype_t dtype, yoke_recompute_t recompute,
                          yoke_layer_bytes_t *out_bytes)
{
    rank_t rank = {.layer = layer,
                   .tp = tp,
                   .tokens = micro_batch * sequence,
                   .size = (double)yoke_dtype_size(dtype)};
    yoke_layer_bytes_t bytes = {0};
    for (size_t i = 0; i < layer->tensor_count; i++) {
        double count = parameters(&rank, &layer->tensors[i]);
        bytes.parameters += count;
        if (layer->tensors[i].tied)
            bytes.tied += count;
    }
    bytes.activations = activations(&rank, recompute);
    if (layer->kind != YOKE_LAYER_HEAD)
        bytes.boundary = rank.tokens * (double)layer->hidden * rank.size;
    bytes.logits = logits(&rank);
    bytes.working_set = widest_gemm(&rank);
    if (is_block(layer) && recompute == YOKE_RECOMPUTE_FULL)
        bytes.working_set += activations(&rank, YOKE_RECOMPUTE_NONE);
    *out_bytes = bytes;
}
