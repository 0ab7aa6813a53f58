/* SPDX-License-Identifier: Apache-2.0 */
/* What a layer computes, reads and keeps for a batch: the formulas of
 * docs/model-document.md. */
#include "costmodel/model_parts.h"

/* Pairs of query and key that one causal sequence scores; exact for the continuous
 * triangle. */
static double causal_pairs(const yoke_attention_t *attention, double sequence)
{
    double window = (double)attention->window;
    if (attention->window == 0 || window >= sequence)
        return sequence * sequence / 2;
    if (!attention->chunked)
        return sequence * window - window * window / 2;
    double chunks = (double)(uint64_t)(sequence / window);
    double rest = sequence - chunks * window;
    return chunks * window * window / 2 + rest * rest / 2;
}

static double attention_flops(const yoke_attention_t *attention, double batch,
                              double sequence)
{
    double heads = (double)attention->heads;
    if (attention->linear) /* update the state with k v^T, read it with q */
        return 4 * heads * (double)attention->state * batch * sequence;
    double width = (double)(attention->qk_dim + attention->v_dim);
    double flops = 2 * heads * width * batch * causal_pairs(attention, sequence);
    double index = (double)attention->index_heads * (double)attention->index_dim;
    return flops + 2 * index * batch * sequence * sequence / 2;
}

/* Rows that a pass reads: a lookup reads one a token, experts come in as tokens choose
 * them. */
static double elements_read(const yoke_layer_t *layer, const yoke_tensor_t *tensor,
                            double tokens)
{
    double rows = (double)tensor->rows, copies = (double)tensor->copies;
    if (layer->kind == YOKE_LAYER_EMBEDDING && rows > tokens)
        rows = tokens;
    if (copies > (double)tensor->active * tokens)
        copies = (double)tensor->active * tokens;
    return rows * (double)tensor->columns * copies;
}

static double cache_elements(const yoke_attention_t *attention, double batch,
                             double sequence)
{
    if (attention->linear)
        return batch * (double)attention->heads * (double)attention->state;
    double window = (double)attention->window, held = sequence;
    /* An index chooses among all tokens, so all must stay. */
    if (attention->window != 0 && attention->index_heads == 0 && window < held)
        held = window;
    return batch * held * (double)attention->cache_per_token;
}

void yoke_layer_get_work(const yoke_layer_t *layer, double batch, double sequence,
                         unsigned element_size, yoke_layer_work_t *out_work)
{
    double tokens = batch * sequence, size = (double)element_size;
    double matmul = 0, read = 0, kept = 0, cut = 0, fp32 = 0, logits = 0;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        double used =
            (double)tensor->rows * (double)tensor->columns * (double)tensor->active;
        matmul += tensor->matmul ? used : 0;
        read += elements_read(layer, tensor, tokens);
        kept += (double)tensor->kept;
        cut += (double)tensor->kept_cut;
        fp32 += (double)tensor->kept_fp32;
        if (layer->kind != YOKE_LAYER_EMBEDDING && tensor->matmul &&
            tensor->shard == YOKE_SHARD_VOCAB)
            logits += (double)tensor->rows;
    }
    /* Flash attention keeps one log-sum-exp in 4 bytes per query and head. */
    double sums =
        layer->attention.linear ? 0 : 4 * (double)layer->attention.heads * tokens;
    *out_work = (yoke_layer_work_t){
        .matmul_flops = 2 * matmul * tokens,
        .attention_flops = attention_flops(&layer->attention, batch, sequence),
        .weight_bytes = read * size,
        .activation_bytes = (kept + cut) * tokens * size + 4 * fp32 * tokens + sums,
        .activation_bytes_selective = (kept + cut) * tokens * size + 4 * fp32 * tokens,
        .boundary_bytes =
            layer->kind == YOKE_LAYER_HEAD ? 0 : (double)layer->hidden * tokens * size,
        .cache_bytes = cache_elements(&layer->attention, batch, sequence) * size,
        .activation_cut_bytes = cut * tokens * size + sums,
        .logit_bytes = 4 * logits * tokens};
}
