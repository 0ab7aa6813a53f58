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
    const yoke_layer_setting_t *setting;
    uint64_t tp;
    double cp, ep;
    double batch, sequence;
    double tokens; /* of one rank: a context-parallel rank has its part of the sequence */
    double size;   /* bytes of an element */
} work_t;

typedef struct parts {
    double gemm, attention, elementwise; /* seconds, forward */
    double scores; /* of attention: traffic of scores that are written out */
    double flops;  /* model FLOPs, forward, whole layer */
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

/* Matrix units want rows of whole 16 bytes. Frameworks that cut the vocabulary pad it; a
 * head that stands whole often keeps its odd number of rows. */
static bool misaligned(const work_t *work, const yoke_tensor_t *tensor)
{
    return work->constants->misaligned_fraction > 0 && work->tp == 1 &&
           tensor->shard == YOKE_SHARD_VOCAB && tensor->rows % 8 != 0;
}

static void add_gemm(const work_t *work, const yoke_tensor_t *tensor, parts_t *parts)
{
    double n = (double)tensor->rows, k = (double)tensor->columns;
    double uses =
        (double)tensor->active * work->tokens; /* rows of the input, all copies */
    double touched = smaller((double)tensor->copies, uses);
    double share = yoke_tensor_share(work->layer, tensor, work->tp);
    double setting_rate = work->setting->gemm_rate;
    double rate = setting_rate > 0 ? setting_rate : work->rates->compute;
    double load = 1;
    if (misaligned(work, tensor))
        rate *= work->constants->misaligned_fraction;
    if (is_routed(tensor)) {
        rate *= work->constants->expert_fraction;
        load = larger(work->setting->imbalance, 1);
        touched =
            larger(touched / work->ep, 1); /* its own experts, for the tokens of ep */
    }

    /* Weights of the touched copies once; the cut side of the activations by the share.
     */
    double moved = (touched * n * k + uses * (n + k)) * share * work->size;
    double flops = 2 * uses * n * k;
    double compute = load * flops * share / rate;
    double traffic = load * moved / work->rates->bandwidth;
    parts->gemm += gemm_latency(work) + larger(compute, traffic) +
                   work->constants->gemm_exposed * smaller(compute, traffic);
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
    /* Ranks of a context-parallel group share the pairs evenly: each has one early and
     * one late part of the sequence. */
    double flops = whole.attention_flops / work->cp;
    bool full = attention->window == 0 && !attention->linear;
    double masked = full ? work->constants->dense_attention : 0;
    double rate = work->rates->compute * work->constants->attention_fraction;
    parts->attention += gemm_latency(work) + larger((1 + masked) * flops / shards / rate,
                                                    moved / work->rates->bandwidth);
    if (full)
        parts->scores += work->constants->score_traffic * work->batch * heads *
                         work->sequence * work->sequence / work->cp * work->size /
                         work->rates->bandwidth;
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

/* Norms and residuals are done by every rank unless the sequence is cut; the MLP's
 * activation on its own columns. */
static void add_elementwise(const work_t *work, parts_t *parts)
{
    const yoke_layer_t *layer = work->layer;
    const yoke_constants_t *constants = work->constants;
    double cut = work->setting->sequence_parallel ? (double)work->tp : 1;
    double elements = 0;
    if (is_block(layer))
        elements = constants->elementwise_hidden * (double)layer->hidden / cut +
                   constants->elementwise_ffn * mlp_width(layer) / (double)work->tp;
    else if (layer->kind == YOKE_LAYER_HEAD)
        elements = 2 * (double)layer->hidden; /* final norm: read, write */
    parts->elementwise += work->tokens * elements * work->size / work->rates->bandwidth;
}

static double block_exchanges(const yoke_layer_t *layer);

static double host_floor(const work_t *work)
{
    if (work->rates->host || !is_block(work->layer))
        return 0;
    double kernels = work->constants->kernels_per_layer;
    if (work->tp > 1)
        kernels += work->constants->kernels_exchange * block_exchanges(work->layer);
    return kernels * work->constants->kernel_latency;
}

static double exchange(const work_t *work, double count, double bytes)
{
    unsigned ranks = (unsigned)work->tp;
    double bandwidth = yoke_rates_group_bandwidth(work->rates, ranks);
    double once =
        yoke_cost_all_reduce(ranks, bytes, bandwidth, work->rates->link_latency) +
        yoke_cost_ramp(bytes, work->constants->exchange_ramp,
                       work->constants->exchange_half);
    return count * once * (1 - work->constants->exchange_hidden);
}

/* Keys and values go round the ring of context-parallel ranks, cp - 1 passes; the part
 * that hides behind the pass's own attention is not counted. */
static double ring(const work_t *work, double attention)
{
    const yoke_attention_t *of = &work->layer->attention;
    if (work->cp <= 1 || of->heads == 0 || of->linear)
        return 0;
    double kv = larger((double)of->kv_heads / (double)work->tp, 1);
    double bytes = work->tokens * kv * (double)(of->qk_dim + of->v_dim) * work->size;
    double seconds = (work->cp - 1) * yoke_cost_p2p(bytes, work->setting->ring,
                                                    work->setting->ring_latency);
    double exposed = larger(seconds - attention, 0);
    return exposed + work->constants->ring_exposed * (seconds - exposed);
}

/* Tokens to the ranks that hold their experts, and back. */
static double dispatch(const work_t *work)
{
    const yoke_layer_t *layer = work->layer;
    if (work->ep <= 1 || layer->experts == 0)
        return 0;
    double cut = work->setting->sequence_parallel ? (double)work->tp : 1;
    double bytes = work->tokens * (double)layer->experts_active * (double)layer->hidden *
                   work->size / cut * larger(work->setting->imbalance, 1);
    return 2 * yoke_cost_all_to_all((unsigned)work->ep, bytes, work->setting->expert,
                                    work->setting->expert_latency);
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

/* The device works and exchanges while the host launches. Where the launches of exchanges
 * are not counted, they are taken to come on top. */
static double beside_launches(const work_t *work, double computing, double exchanging,
                              double floor)
{
    if (work->constants->kernels_exchange > 0)
        return larger(computing + exchanging, floor);
    return larger(computing, floor) + exchanging;
}

static double recomputed(const work_t *work, const parts_t *parts,
                         const yoke_layer_cost_t *cost)
{
    const yoke_constants_t *constants = work->constants;
    if (!is_block(work->layer))
        return 0;
    switch (work->setting->recompute) {
    case YOKE_RECOMPUTE_FULL:
        return cost->forward;
    case YOKE_RECOMPUTE_SELECTIVE:
        return parts->attention + parts->scores +
               constants->selective_gemm * parts->gemm +
               constants->selective_elementwise * parts->elementwise;
    case YOKE_RECOMPUTE_NONE:
    case YOKE_RECOMPUTE_AUTO:
        break;
    }
    return 0;
}

static work_t set_out(const yoke_layer_t *layer, const yoke_rates_t *rates,
                      const yoke_constants_t *constants,
                      const yoke_layer_setting_t *setting)
{
    double cp = setting->cp > 1 ? (double)setting->cp : 1;
    return (work_t){.layer = layer,
                    .rates = rates,
                    .constants = constants,
                    .setting = setting,
                    .tp = setting->tp > 1 ? setting->tp : 1,
                    .cp = cp,
                    .ep = setting->ep > 1 ? (double)setting->ep : 1,
                    .batch = setting->micro_batch,
                    .sequence = setting->sequence,
                    .tokens = setting->micro_batch * setting->sequence / cp,
                    .size = (double)yoke_dtype_size(setting->dtype)};
}

void yoke_layer_time_in(const yoke_layer_t *layer, const yoke_rates_t *rates,
                        const yoke_constants_t *constants,
                        const yoke_layer_setting_t *setting, yoke_layer_cost_t *out_cost)
{
    work_t work = set_out(layer, rates, constants, setting);
    parts_t parts = {0};
    double exchange_forward, exchange_backward;
    for (size_t i = 0; i < layer->tensor_count; i++)
        add_tensor(&work, &layer->tensors[i], &parts);
    add_attention(&work, &parts);
    add_elementwise(&work, &parts);
    get_exchange(&work, &exchange_forward, &exchange_backward);
    double experts = dispatch(&work), keys = ring(&work, parts.attention);

    double floor = host_floor(&work);
    double forward = parts.gemm + parts.attention + parts.scores + parts.elementwise;
    double backward =
        constants->backward_gemm * parts.gemm +
        constants->backward_attention * parts.attention +
        constants->backward_elementwise * (parts.elementwise + parts.scores);
    /* Backward passes keys and values, and their gradients the other way. */
    exchange_forward += experts + keys;
    exchange_backward += experts + 2 * keys;
    out_cost->forward = beside_launches(&work, forward, exchange_forward, floor);
    out_cost->backward = beside_launches(&work, backward, exchange_backward,
                                         floor * constants->kernels_backward);
    if (layer->kind == YOKE_LAYER_HEAD && !rates->host)
        out_cost->forward += constants->head_latency;
    out_cost->backward += recomputed(&work, &parts, out_cost);
    out_cost->flops = parts.flops * (1 + constants->backward_gemm);
}

void yoke_layer_time(const yoke_layer_t *layer, const yoke_rates_t *rates,
                     const yoke_constants_t *constants, uint64_t tp, double micro_batch,
                     double sequence, yoke_dtype_t dtype, yoke_recompute_t recompute,
                     yoke_layer_cost_t *out_cost)
{
    yoke_layer_setting_t setting = {.tp = tp,
                                    .micro_batch = micro_batch,
                                    .sequence = sequence,
                                    .dtype = dtype,
                                    .recompute = recompute};
    yoke_layer_time_in(layer, rates, constants, &setting, out_cost);
}
