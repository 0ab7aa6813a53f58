/* SPDX-License-Identifier: Apache-2.0 */
/* A model in memory: making it, counting it, taking it apart. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "costmodel/model_parts.h"

#define LIMIT_TOTAL ((uint64_t)1 << 60)

const char *yoke_layer_kind_name(yoke_layer_kind_t kind)
{
    static const char *const names[] = {"embedding", "decoder", "head", "prediction"};
    return names[kind];
}

const char *yoke_shard_name(yoke_shard_t shard)
{
    static const char *const names[] = {"none",    "heads",      "kv_heads",
                                        "columns", "vocabulary", "experts"};
    return names[shard];
}

yoke_model_t *yoke_model_new(void)
{
    yoke_model_t *model = calloc(1, sizeof *model);
    if (model == NULL)
        yoke_fail_memory();
    return model;
}

/* Room for one more; capacities are the powers of two. */
static bool grow(void **items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return true;
    void *more = realloc(*items, (count == 0 ? 1 : 2 * count) * size);
    if (more == NULL)
        return false;
    *items = more;
    return true;
}

yoke_status_t yoke_model_add_notice(yoke_model_t *model, const char *text)
{
    void *items = model->notices;
    char *copy = yoke_strdup(text);
    if (copy == NULL || !grow(&items, model->notice_count, sizeof *model->notices)) {
        free(copy);
        return yoke_fail_memory();
    }
    model->notices = items;
    model->notices[model->notice_count++] = copy;
    return YOKE_OK;
}

yoke_status_t yoke_model_add_layer(yoke_model_t *model, const char *name,
                                   yoke_layer_kind_t kind, yoke_layer_t **out_layer)
{
    void *items = model->layers;
    char *copy = yoke_strdup(name);
    if (copy == NULL || !grow(&items, model->layer_count, sizeof *model->layers)) {
        free(copy);
        return yoke_fail_memory();
    }
    model->layers = items;
    yoke_layer_t *layer = &model->layers[model->layer_count++];
    *layer = (yoke_layer_t){.name = copy, .kind = kind};
    *out_layer = layer;
    return YOKE_OK;
}

yoke_status_t yoke_layer_add_tensor(yoke_layer_t *layer, const char *name,
                                    yoke_tensor_t **out_tensor)
{
    void *items = layer->tensors;
    char *copy = yoke_strdup(name);
    if (copy == NULL || !grow(&items, layer->tensor_count, sizeof *layer->tensors)) {
        free(copy);
        return yoke_fail_memory();
    }
    layer->tensors = items;
    yoke_tensor_t *tensor = &layer->tensors[layer->tensor_count++];
    *tensor = (yoke_tensor_t){.name = copy, .copies = 1, .active = 1};
    *out_tensor = tensor;
    return YOKE_OK;
}

yoke_status_t yoke_model_repeat_layer(yoke_model_t *model, size_t index, const char *name)
{
    yoke_layer_t *layer = NULL;
    yoke_status_t status =
        yoke_model_add_layer(model, name, model->layers[index].kind, &layer);
    if (status != YOKE_OK)
        return status;
    const yoke_layer_t *source = &model->layers[index];
    char *own_name = layer->name;
    *layer = *source;
    layer->name = own_name;
    layer->tensor_count = 0;
    json_incref(layer->extra);
    size_t room = 1; /* as grow() would have left it */
    while (room < source->tensor_count)
        room *= 2;
    layer->tensors = calloc(room, sizeof *layer->tensors);
    if (layer->tensors == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < source->tensor_count; i++) {
        yoke_tensor_t *tensor = &layer->tensors[i];
        *tensor = source->tensors[i];
        tensor->name = yoke_strdup(source->tensors[i].name);
        if (tensor->name == NULL)
            return yoke_fail_memory();
        layer->tensor_count++;
    }
    return YOKE_OK;
}

void yoke_layer_clear(yoke_layer_t *layer)
{
    for (size_t i = 0; i < layer->tensor_count; i++)
        free(layer->tensors[i].name);
    free(layer->tensors);
    free(layer->name);
    json_decref(layer->extra);
    *layer = (yoke_layer_t){0};
}

void yoke_model_free(yoke_model_t *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->layer_count; i++)
        yoke_layer_clear(&model->layers[i]);
    for (size_t i = 0; i < model->notice_count; i++)
        free(model->notices[i]);
    free(model->layers);
    free(model->notices);
    free(model->name);
    free(model->architecture);
    free(model->dtype);
    json_decref(model->extra);
    free(model);
}

uint64_t yoke_tensor_elements(const yoke_tensor_t *tensor)
{
    return tensor->rows * tensor->columns * tensor->copies;
}

/* Adds rows x columns x copies; false past the limit. */
static bool add_elements(const yoke_tensor_t *tensor, uint64_t copies, uint64_t *total)
{
    uint64_t product = 0;
    return !__builtin_mul_overflow(tensor->rows, tensor->columns, &product) &&
           !__builtin_mul_overflow(product, copies, &product) &&
           !__builtin_add_overflow(*total, product, total) && *total <= LIMIT_TOTAL;
}

static bool add_kept(const yoke_tensor_t *tensor, uint64_t *total)
{
    return !__builtin_add_overflow(*total, tensor->kept, total) &&
           !__builtin_add_overflow(*total, tensor->kept_cut, total) &&
           !__builtin_add_overflow(*total, tensor->kept_fp32, total) &&
           *total <= LIMIT_TOTAL;
}

bool yoke_layer_count(const yoke_layer_t *layer, uint64_t *out_parameters,
                      uint64_t *out_active)
{
    uint64_t parameters = 0, active = 0, kept = 0;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        if (!add_kept(tensor, &kept))
            return false;
        if (!tensor->tied && !add_elements(tensor, tensor->copies, &parameters))
            return false;
        /* A tied head is used, though not stored again; a tied embedding is only a name.
         */
        if ((!tensor->tied || tensor->matmul) &&
            !add_elements(tensor, tensor->active, &active))
            return false;
    }
    *out_parameters = parameters;
    *out_active = active;
    return true;
}

static bool tensor_equal(const yoke_tensor_t *a, const yoke_tensor_t *b)
{
    return strcmp(a->name, b->name) == 0 && a->rows == b->rows &&
           a->columns == b->columns && a->copies == b->copies && a->active == b->active &&
           a->shard == b->shard && a->matmul == b->matmul && a->tied == b->tied &&
           a->kept == b->kept && a->kept_cut == b->kept_cut &&
           a->kept_fp32 == b->kept_fp32;
}

static bool attention_equal(const yoke_attention_t *a, const yoke_attention_t *b)
{
    return a->heads == b->heads && a->kv_heads == b->kv_heads && a->qk_dim == b->qk_dim &&
           a->v_dim == b->v_dim && a->window == b->window && a->linear == b->linear &&
           a->state == b->state && a->cache_per_token == b->cache_per_token &&
           a->chunked == b->chunked && a->index_heads == b->index_heads &&
           a->index_dim == b->index_dim;
}

static bool extra_equal(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

bool yoke_layer_equal(const yoke_layer_t *a, const yoke_layer_t *b)
{
    if (a->kind != b->kind || a->tensor_count != b->tensor_count ||
        !attention_equal(&a->attention, &b->attention) || a->hidden != b->hidden ||
        a->ffn != b->ffn || a->gated != b->gated || a->experts != b->experts ||
        a->experts_active != b->experts_active || a->expert_ffn != b->expert_ffn ||
        a->shared_ffn != b->shared_ffn || a->parallel != b->parallel ||
        a->parameters != b->parameters || a->active != b->active ||
        !extra_equal(a->extra, b->extra))
        return false;
    for (size_t i = 0; i < a->tensor_count; i++)
        if (!tensor_equal(&a->tensors[i], &b->tensors[i]))
            return false;
    return true;
}

/* Active parameters of the model count a tied matrix once, with the embedding. */
static uint64_t tied_elements(const yoke_layer_t *layer)
{
    uint64_t total = 0;
    for (size_t i = 0; i < layer->tensor_count; i++)
        if (layer->tensors[i].tied && layer->tensors[i].matmul)
            total += layer->tensors[i].rows * layer->tensors[i].columns *
                     layer->tensors[i].active;
    return total;
}

static bool add_totals(yoke_model_t *model)
{
    uint64_t total = model->parameters_other, active = model->parameters_other;
    for (size_t i = 0; i < model->layer_count; i++) {
        yoke_layer_t *layer = &model->layers[i];
        if (!yoke_layer_count(layer, &layer->parameters, &layer->active))
            return false;
        if (layer->kind == YOKE_LAYER_PREDICTION)
            continue;
        total += layer->parameters;
        active += layer->active - tied_elements(layer);
        if (total > LIMIT_TOTAL || active > LIMIT_TOTAL)
            return false;
    }
    model->parameters_total = total;
    model->parameters_active = active;
    return true;
}

yoke_status_t yoke_model_finish(yoke_model_t *model, const char *name)
{
    if (!add_totals(model))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: the parameters pass 2^60; the sizes cannot be right", name);
    json_t *root = NULL;
    yoke_status_t status = yoke_model_to_json(model, false, &root);
    if (status != YOKE_OK)
        return status;
    char *text = yoke_json_text(root);
    json_decref(root);
    if (text == NULL)
        return yoke_fail_memory();
    yoke_digest(text, model->digest);
    free(text);
    return YOKE_OK;
}
