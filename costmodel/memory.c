/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that one rank holds of a layer: parameters, activations until the backward (the
 * model lists them tensor by tensor), the largest temporary.
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

static double cut_elements(const rank_t *rank, const yoke_tensor_t *tensor)
{
    return (double)tensor->kept_cut * yoke_tensor_share(rank->layer, tensor, rank->tp);
}

/* Models without a gated MLP are of the generation that drops out: one byte of mask for
 * each element that a block adds to the residual stream. */
static double masks_per_token(const yoke_layer_t *layer)
{
    bool attention = layer->attention.heads > 0;
    bool mlp = layer->ffn > 0 || layer->experts > 0 || layer->shared_ffn > 0;
    if (!is_block(layer) || layer->gated)
        return 0;
    return (double)layer->hidden * ((attention ? 1 : 0) + (mlp ? 1 : 0));
}

/* Row sums of the softmax that flash attention keeps, fp32. */
static double statistics_per_token(const rank_t *rank)
{
    const yoke_attention_t *attention = &rank->layer->attention;
    if (attention->linear)
        return 0;
    return sizeof(float) * (double)attention->heads / (double)rank->tp;
}

static double activations(const rank_t *rank, yoke_recompute_t recompute)
{
    const yoke_layer_t *layer = rank->layer;
    if (is_block(layer) && recompute == YOKE_RECOMPUTE_FULL)
        return rank->tokens * (double)layer->hidden * rank->size; /* its input */
    double bytes = masks_per_token(layer);
    /* Flash attention keeps of the core only what its neighbours keep anyway, so that
     * doing it again in backward saves no more than its row sums. */
    if (recompute != YOKE_RECOMPUTE_SELECTIVE)
        bytes += statistics_per_token(rank);
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        bytes += ((double)tensor->kept + cut_elements(rank, tensor)) * rank->size +
                 (double)tensor->kept_fp32 * sizeof(float);
    }
    return rank->tokens * bytes;
}

/* In backward the gradients of what one half of a block keeps on its own shard, attention
 * or MLP, live at the same time, with that of the residual stream. */
static double working_set(const rank_t *rank)
{
    const yoke_layer_t *layer = rank->layer;
    double attention = 0, mlp = 0;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        double elements = cut_elements(rank, tensor);
        if (tensor->shard == YOKE_SHARD_HEADS || tensor->shard == YOKE_SHARD_KV_HEADS)
            attention += elements;
        else
            mlp += elements;
    }
    double elements = larger(attention, mlp) + (double)layer->hidden;
    return rank->tokens * elements * rank->size;
}

/* Logits in fp32 and their gradient. */
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
    bytes.working_set = working_set(&rank);
    if (is_block(layer) && recompute == YOKE_RECOMPUTE_FULL)
        bytes.working_set += activations(&rank, YOKE_RECOMPUTE_NONE);
    *out_bytes = bytes;
}
