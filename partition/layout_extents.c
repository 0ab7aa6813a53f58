/* SPDX-License-Identifier: Apache-2.0 */
/* What a stage's layers are cut along, and how far. */
#include "partition/layout.h"

#include <string.h>

typedef struct extents {
    yoke_extent_t *items;
    size_t count;
} extents_t;

/* Sizes that some layer before had already are left out. */
static void add(extents_t *extents, const char *dimension, uint64_t size, uint64_t padded,
                uint64_t copies)
{
    if (size == 0 || extents->count == YOKE_EXTENT_MAX)
        return;
    for (size_t i = 0; i < extents->count; i++)
        if (strcmp(extents->items[i].dimension, dimension) == 0 &&
            extents->items[i].size == size)
            return;
    extents->items[extents->count++] = (yoke_extent_t){dimension, size, padded, copies};
}

static bool has_shard(const yoke_layer_t *layer, yoke_shard_t shard)
{
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (layer->tensors[i].shard == shard)
            return true;
    return false;
}

static void add_attention(extents_t *extents, const yoke_layer_t *layer, uint64_t tp)
{
    uint64_t heads = layer->attention.heads;
    uint64_t kv_heads = layer->attention.kv_heads;
    if (heads == 0)
        return;
    add(extents, yoke_shard_name(YOKE_SHARD_HEADS), heads, heads, 1);
    if (has_shard(layer, YOKE_SHARD_KV_HEADS) && kv_heads > 0)
        add(extents, yoke_shard_name(YOKE_SHARD_KV_HEADS), kv_heads, kv_heads,
            kv_heads < tp ? tp / kv_heads : 1);
}

/* Whole experts where they divide, else the columns of each. */
static void add_mlp(extents_t *extents, const yoke_layer_t *layer, uint64_t tp)
{
    const char *columns = yoke_shard_name(YOKE_SHARD_COLUMNS);
    add(extents, columns, layer->ffn, layer->ffn, 1);
    add(extents, columns, layer->shared_ffn, layer->shared_ffn, 1);
    if (layer->experts > 0 && layer->experts % tp == 0)
        add(extents, yoke_shard_name(YOKE_SHARD_EXPERTS), layer->experts, layer->experts,
            1);
    else if (layer->experts > 0)
        add(extents, columns, layer->expert_ffn, layer->expert_ffn, 1);
}

static void add_vocabulary(extents_t *extents, const yoke_layer_t *layer, uint64_t tp)
{
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        if (tensor->shard == YOKE_SHARD_VOCAB)
            add(extents, yoke_shard_name(YOKE_SHARD_VOCAB), tensor->rows,
                (tensor->rows / tp + (tensor->rows % tp != 0)) * tp, 1);
    }
}

size_t yoke_layer_extents(const yoke_model_t *model, unsigned first, unsigned last,
                          unsigned tp, yoke_extent_t out[YOKE_EXTENT_MAX])
{
    extents_t extents = {out, 0};
    if (tp == 0)
        return 0;
    for (unsigned i = first; i <= last && i < model->layer_count; i++) {
        add_attention(&extents, &model->layers[i], tp);
        add_mlp(&extents, &model->layers[i], tp);
        add_vocabulary(&extents, &model->layers[i], tp);
    }
    return extents.count;
}

void yoke_extent_range(const yoke_extent_t *extent, uint64_t rank, uint64_t tp,
                       uint64_t *out_begin, uint64_t *out_end)
{
    uint64_t part = rank / extent->copies;
    uint64_t parts = tp / extent->copies;
    *out_begin = extent->padded * part / parts;
    *out_end = extent->padded * (part + 1) / parts;
}
