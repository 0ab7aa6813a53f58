/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of a layer: two factors (compute and bytes) per operator, plus launches and the
 * tensor-parallel exchange. The formulas and their sources are in docs/cost-model.md.
 */
#include "costmodel/cost.h"

#include "costmodel/collective.h"
#include "yoke/inventory.h"

/* What every step of the sum needs. */
typedef struct work {
    const yoke_layer_t *layer;
    const yoke_rates_t *rates;
    const yoke_constants_t *constants;
    uint64_t tp;
    double batch, sequence, tokens;
    double size; /* bytes of an element */
} work_t;

typedef struct parts {
    double gemm, attention, elementwise; /* seconds, forward */
    double flops;                        /* model FLOPs, forward, whole layer */
} parts_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Kernel launches are free on the host. */
static double gemm_latency(const work_t *work)
{
    return work->rates->host ? 0 : work->constants->gemm_latency;
}

static bool is_routed(const yoke_tensor_t *tensor)
{
    return tensor->shard == YOKE_SHARD_EXPERTS && tensor->copies > 1;
}

static void add_gemm(const work_t *work, const yoke_tensor_t *tensor, parts_t *parts)
{
    double n = (double)tensor->rows, k = (double)tensor->columns;
    double uses =
        (double)tensor->active * work->tokens; /* rows of the input, all copies */
    double touched = smaller((double)tensor->copies, uses);
    double share = yoke_tensor_share(work->layer, tensor, work->tp);
    double rate = work->rates->compute;
    if (is_routed(tensor))
        rate *= work->constants->expert_fraction;

    /* Weights of the touched copies once; the cut side of the activations by the share.
     */
    double moved = (touched * n * k + uses * (n + k)) * share * work->size;
    double flops = 2 * uses * n * k;
    parts->gemm +=
        gemm_latency(work) + larger(flops * share / rate, moved / work->rates->bandwidth);
    parts->flops += flops;
}

static void add_logits(const work_t *work, const yoke_tensor_t *tensor, parts_t *parts)
{
    double share = yoke_tensor_share(work->layer, tensor, work->tp);
    double elements = work->tokens * (double)tensor->rows * share;
    double bytes = elements * work->constants->softmax_passes * sizeof(float);
    parts->elementwise += bytes / work->rates->bandwidth;
}

static void add_tensor(const work_t *work, const yoke_tensor_t *tensor, parts_t *parts)
{
    if (tensor->matmul) {
        add_gemm(work, tensor, parts);
        if (tensor->shard == YOKE_SHARD_VOCAB)
            add_logits(work, tensor, parts);
    } else if (tensor->shard == YOKE_SHARD_VOCAB) {
        double bytes = 2 * work->tokens * (double)tensor->columns * work->size;
        parts->elementwise +=
            bytes / work->rates->bandwidth; /* a lookup reads and writes */
    }
}

static void add_attention(const work_t *work, parts_t *parts)
{
    const yoke_attention_t *attention = &work->layer->attention;
    if (attention->heads == 0)
        return;
    double shards = (double)work->tp;
    double heads = (double)attention->heads / shards;
    double kv = larger((double)attention->kv_heads / shards, 1);
    double qk_dim = (double)attention->qk_dim, v_dim = (double)attention->v_dim;
    double moved = work->tokens * (heads + kv) * (qk_dim + v_dim) * work->size;
    yoke_layer_work_t whole;
    yoke_layer_get_work(work->layer, work->batch, work->sequence, (unsigned)work->size,
                        &whole);
    double flops = whole.attention_flops;
    double rate = work->rates->compute * work->constants->attention_fraction;
    parts->attention += gemm_latency(work) +
                        larger(flops / shards / rate, moved / work->rates->bandwidth);
    parts->flops += flops;
}

static double mlp_width(const yoke_layer_t *layer)
{
    return (double)layer->ffn + (double)layer->shared_ffn +
           (double)layer->experts_active * (double)layer->expert_ffn;
}

/* Is it made of blocks that read and write the residual stream? */
static bool is_block(const yoke_layer_t *layer)
{
    return layer->kind == YOKE_LAYER_DECODER || layer->kind == YOKE_LAYER_PREDICTION;
}

/* Norms and residuals are done by every rank (no sequence parallelism); the MLP's
 * activation on its own columns. */
static void add_elementwise(const work_t *work, parts_t *parts)
{
    const yoke_layer_t *layer = work->layer;
    const yoke_constants_t *constants = work->constants;
    double elements = 0;
    if (is_block(layer))
        elements = constants->elementwise_hidden * (double)layer->hidden +
                   constants->elementwise_ffn * mlp_width(layer) / (double)work->tp;
    else if (layer->kind == YOKE_LAYER_HEAD)
        elements = 2 * (double)layer->hidden; /* final norm: read, write */
    parts->elementwise += work->tokens * elements * work->size / work->rates->bandwidth;
}

static double host_floor(const work_t *work)
{
    if (work->rates->host || !is_block(work->layer))
        return 0;
    return work->constants->kernels_per_layer * work->constants->kernel_latency;
}

static double exchange(const work_t *work, double count, double bytes)
{
    unsigned ranks = (unsigned)work->tp;
    double bandwidth = yoke_rates_group_bandwidth(work->rates, ranks);
    return count *
           yoke_cost_all_reduce(ranks, bytes, bandwidth, work->rates->link_latency);
}

static double block_exchanges(const yoke_layer_t *layer)
{
    bool both = layer->attention.heads > 0 && mlp_width(layer) > 0;
    return both && !layer->parallel ? 2 : 1;
}

/*
 * A block all-reduces its outputs forward and the gradients of its inputs backward. The
 * embedding sums its rows forward only; the head sums the loss's two fp32 numbers per
 * token forward and the gradient of its input backward.
 */
static void get_exchange(const work_t *work, double *out_forward, double *out_backward)
{
    double hidden = work->tokens * (double)work->layer->hidden * work->size;
    *out_forward = *out_backward = 0;
    if (work->tp <= 1)
        return;
    switch (work->layer->kind) {
    case YOKE_LAYER_EMBEDDING:
        *out_forward = exchange(work, 1, hidden);
        break;
    case YOKE_LAYER_HEAD:
        *out_forward = exchange(work, 1, work->tokens * 2 * sizeof(float));
        *out_backward = exchange(work, 1, hidden);
        break;
    case YOKE_LAYER_DECODER:
    case YOKE_LAYER_PREDICTION:
        *out_forward = exchange(work, block_exchanges(work->layer), hidden);
        *out_backward = *out_forward;
        break;
    }
}

void yoke_layer_time(const yoke_layer_t *layer, const yoke_rates_t *rates,
                     const yoke_constants_t *constants, uint64_t tp, double micro_batch,
                     double sequence, yoke_dtype_t dtype, yoke_recompute_t recompute,
                     yoke_layer_cost_t *out_cost)
{
    work_t work = {.layer = layer,
                   .rates = rates,
                   .constants = constants,
                   .tp = tp,
                   .batch = micro_batch,
                   .sequence = sequence,
                   .tokens = micro_batch * sequence,
                   .size = (double)yoke_dtype_size(dtype)};
    parts_t parts = {0};
    double exchange_forward, exchange_backward;
    for (size_t i = 0; i < layer->tensor_count; i++)
        add_tensor(&work, &layer->tensors[i], &parts);
    add_attention(&work, &parts);
    add_elementwise(&work, &parts);
    get_exchange(&work, &exchange_forward, &exchange_backward);

    double floor = host_floor(&work);
    double forward = larger(parts.gemm + parts.attention + parts.elementwise, floor);
    double backward = constants->backward_gemm * parts.gemm +
                      constants->backward_attention * parts.attention +
                      constants->backward_elementwise * parts.elementwise;
    backward = larger(backward, floor * constants->kernels_backward);

    out_cost->forward = forward + exchange_forward;
    out_cost->backward = backward + exchange_backward;
    if (is_block(layer) && recompute == YOKE_RECOMPUTE_FULL)
        out_cost->backward += out_cost->forward;
    else if (is_block(layer) && recompute == YOKE_RECOMPUTE_SELECTIVE)
        out_cost->backward += parts.attention;
    out_cost->flops = parts.flops * (1 + constants->backward_gemm);
}
