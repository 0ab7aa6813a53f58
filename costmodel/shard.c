/* SPDX-License-Identifier: Apache-2.0 */
/* How a layer is cut for tensor parallelism: whole heads, whole columns, whole experts.
 */
#include "costmodel/cost.h"

bool yoke_shard_heads(uint64_t heads, uint64_t kv_heads, uint64_t tp, uint64_t *out_q,
                      uint64_t *out_kv, uint64_t *out_copies)
{
    if (tp == 0 || heads == 0 || kv_heads == 0 || heads % tp != 0)
        return false;
    bool split = kv_heads % tp == 0;
    if (!split && tp % kv_heads != 0)
        return false;
    *out_q = heads / tp;
    *out_kv = split ? kv_heads / tp : 1;
    *out_copies = split ? 1 : tp / kv_heads;
    return true;
}

/* The side of a column- or row-parallel weight that is cut is the one that is not the
 * model's width; where both are, they are equal. */
static uint64_t cut_width(const yoke_layer_t *layer, const yoke_tensor_t *tensor)
{
    return tensor->rows == layer->hidden && tensor->columns > 1 ? tensor->columns
                                                                : tensor->rows;
}

static bool can_shard_tensor(const yoke_layer_t *layer, const yoke_tensor_t *tensor,
                             uint64_t tp)
{
    switch (tensor->shard) {
    case YOKE_SHARD_COLUMNS:
        return cut_width(layer, tensor) % tp == 0;
    case YOKE_SHARD_EXPERTS:
        return tensor->copies % tp == 0 || cut_width(layer, tensor) % tp == 0;
    case YOKE_SHARD_NONE:
    case YOKE_SHARD_HEADS:
    case YOKE_SHARD_KV_HEADS:
    case YOKE_SHARD_VOCAB:
        break;
    }
    return true;
}

bool yoke_layer_can_shard(const yoke_layer_t *layer, uint64_t tp)
{
    uint64_t q, kv, copies;
    if (tp == 0)
        return false;
    if (tp == 1)
        return true;
    if (layer->attention.heads > 0 &&
        !yoke_shard_heads(layer->attention.heads, layer->attention.kv_heads, tp, &q, &kv,
                          &copies))
        return false;
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (!can_shard_tensor(layer, &layer->tensors[i], tp))
            return false;
    return true;
}

double yoke_tensor_share(const yoke_layer_t *layer, const yoke_tensor_t *tensor,
                         uint64_t tp)
{
    uint64_t kv = layer->attention.kv_heads;
    switch (tensor->shard) {
    case YOKE_SHARD_HEADS:
    case YOKE_SHARD_COLUMNS:
    case YOKE_SHARD_EXPERTS:
        return 1.0 / (double)tp;
    case YOKE_SHARD_KV_HEADS:
        return 1.0 / (double)(kv > 0 && kv < tp ? kv : tp);
    case YOKE_SHARD_VOCAB:
        if (tensor->rows == 0)
            return 1.0;
        return (double)(tensor->rows / tp + (tensor->rows % tp != 0)) /
               (double)tensor->rows;
    case YOKE_SHARD_NONE:
        break;
    }
    return 1.0;
}
