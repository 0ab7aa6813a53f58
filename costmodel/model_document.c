/* SPDX-License-Identifier: Apache-2.0 */
/* The yoke-model/1 document, written: equal consecutive layers once, with "repeat". */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "costmodel/model_parts.h"

static void set_bool(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

static json_t *tensor_to_json(const yoke_tensor_t *tensor)
{
    json_t *object = json_object(), *shape = json_array();
    yoke_json_set_string(object, "name", tensor->name);
    json_array_append_new(shape, json_integer((json_int_t)tensor->rows));
    json_array_append_new(shape, json_integer((json_int_t)tensor->columns));
    json_object_set_new(object, "shape", shape);
    yoke_json_set_u64(object, "copies", tensor->copies);
    yoke_json_set_u64(object, "active", tensor->active);
    yoke_json_set_string(object, "shard", yoke_shard_name(tensor->shard));
    set_bool(object, "matmul", tensor->matmul);
    set_bool(object, "tied", tensor->tied);
    yoke_json_set_u64(object, "kept", tensor->kept);
    yoke_json_set_u64(object, "kept_cut", tensor->kept_cut);
    yoke_json_set_u64(object, "kept_fp32", tensor->kept_fp32);
    return object;
}

static json_t *attention_to_json(const yoke_attention_t *attention)
{
    if (attention->heads == 0)
        return json_null();
    json_t *object = json_object();
    yoke_json_set_u64(object, "heads", attention->heads);
    yoke_json_set_u64(object, "kv_heads", attention->kv_heads);
    yoke_json_set_u64(object, "qk_dim", attention->qk_dim);
    yoke_json_set_u64(object, "v_dim", attention->v_dim);
    yoke_json_set_u64(object, "window", attention->window);
    set_bool(object, "chunked", attention->chunked);
    set_bool(object, "linear", attention->linear);
    yoke_json_set_u64(object, "state", attention->state);
    yoke_json_set_u64(object, "index_heads", attention->index_heads);
    yoke_json_set_u64(object, "index_dim", attention->index_dim);
    yoke_json_set_u64(object, "cache_per_token", attention->cache_per_token);
    return object;
}

static json_t *mlp_to_json(const yoke_layer_t *layer)
{
    if (layer->ffn == 0 && layer->experts == 0)
        return json_null();
    json_t *object = json_object();
    yoke_json_set_u64(object, "ffn", layer->ffn);
    set_bool(object, "gated", layer->gated);
    yoke_json_set_u64(object, "experts", layer->experts);
    yoke_json_set_u64(object, "experts_active", layer->experts_active);
    yoke_json_set_u64(object, "expert_ffn", layer->expert_ffn);
    yoke_json_set_u64(object, "shared_ffn", layer->shared_ffn);
    return object;
}

yoke_status_t yoke_layer_functions(const yoke_layer_t *layer, json_t **out_object)
{
    const yoke_attention_t *attention = &layer->attention;
    uint64_t matmul = 0, kept = 0, fp32 = 0, states = 0, sums = 4 * attention->heads;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        matmul += tensor->matmul ? tensor->rows * tensor->columns * tensor->active : 0;
        kept += tensor->kept + tensor->kept_cut;
        fp32 += tensor->kept_fp32;
    }
    uint64_t pair = 2 * attention->heads * (attention->qk_dim + attention->v_dim);
    if (attention->linear) {
        states = attention->heads * attention->state;
        pair = sums = 0;
    }
    json_t *object = json_object(), *flops = json_object(), *bytes = json_object();
    yoke_json_set_u64(flops, "per_token", 2 * matmul + 4 * states);
    yoke_json_set_u64(flops, "per_token_pair", pair);
    yoke_json_set_u64(flops, "per_index_pair",
                      2 * attention->index_heads * attention->index_dim);
    yoke_json_set_u64(bytes, "per_token_element", kept);
    yoke_json_set_u64(bytes, "per_token", 4 * fp32 + sums);
    json_object_set_new(object, "forward_flops", flops);
    if (json_object_set_new(object, "activation_bytes", bytes) != 0) {
        json_decref(object);
        return yoke_fail_memory();
    }
    *out_object = object;
    return YOKE_OK;
}

static json_t *layer_to_json(const yoke_layer_t *layer, size_t repeat)
{
    json_t *object = json_object(), *tensors = json_array();
    yoke_json_set_string(object, "name", layer->name);
    if (repeat > 1)
        yoke_json_set_u64(object, "repeat", repeat);
    yoke_json_set_string(object, "kind", yoke_layer_kind_name(layer->kind));
    yoke_json_set_u64(object, "parameters", layer->parameters);
    yoke_json_set_u64(object, "active", layer->active);
    yoke_json_set_u64(object, "hidden", layer->hidden);
    json_object_set_new(object, "attention", attention_to_json(&layer->attention));
    json_object_set_new(object, "mlp", mlp_to_json(layer));
    set_bool(object, "parallel", layer->parallel);
    json_t *functions = NULL;
    if (yoke_layer_functions(layer, &functions) == YOKE_OK)
        json_object_update(object, functions);
    json_decref(functions);
    for (size_t i = 0; i < layer->tensor_count; i++)
        json_array_append_new(tensors, tensor_to_json(&layer->tensors[i]));
    json_object_set_new(object, "tensors", tensors);
    if (layer->extra != NULL)
        json_object_update(object, layer->extra);
    return object;
}

/* "layers.7" -> 7 with the length of "layers."; false without a number at the end. */
static bool split_name(const char *name, size_t *out_stem, uint64_t *out_number)
{
    size_t size = strlen(name), stem = size;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    *out_stem = stem;
    return yoke_parse_u64(name + stem, size - stem, 0, UINT32_MAX, out_number) &&
           (name[stem] != '0' || size - stem == 1);
}

/* Is `next` the name after `name`: same stem, number one higher? */
static bool follows(const char *name, const char *next)
{
    size_t stem = 0, next_stem = 0;
    uint64_t number = 0, next_number = 0;
    return split_name(name, &stem, &number) &&
           split_name(next, &next_stem, &next_number) && stem == next_stem &&
           memcmp(name, next, stem) == 0 && next_number == number + 1;
}

size_t yoke_model_run(const yoke_model_t *model, size_t first)
{
    size_t last = first;
    while (last + 1 < model->layer_count &&
           follows(model->layers[last].name, model->layers[last + 1].name) &&
           yoke_layer_equal(&model->layers[first], &model->layers[last + 1]))
        last++;
    return last - first + 1;
}

static void add_header(const yoke_model_t *model, json_t *root)
{
    json_t *parameters = json_object();
    yoke_json_set_string(root, "schema", "yoke-model/1");
    yoke_json_set_string(root, "name", model->name);
    yoke_json_set_string(root, "architecture", model->architecture);
    yoke_json_set_u64(parameters, "total", model->parameters_total);
    yoke_json_set_u64(parameters, "active", model->parameters_active);
    yoke_json_set_u64(parameters, "prediction", model->parameters_prediction);
    yoke_json_set_u64(parameters, "other", model->parameters_other);
    json_object_set_new(root, "parameters", parameters);
    yoke_json_set_string(root, "dtype", model->dtype);
    yoke_json_set_u64(root, "hidden", model->hidden);
    yoke_json_set_u64(root, "vocabulary", model->vocabulary);
    yoke_json_set_u64(root, "heads", model->heads);
    yoke_json_set_u64(root, "kv_heads", model->kv_heads);
    yoke_json_set_u64(root, "head_dim", model->head_dim);
    yoke_json_set_u64(root, "positions", model->positions);
    yoke_json_set_u64(root, "experts", model->experts);
    set_bool(root, "tied", model->tied);
}

static void add_extras(const yoke_model_t *model, json_t *root)
{
    if (model->notice_count > 0) {
        json_t *notices = json_array();
        for (size_t i = 0; i < model->notice_count; i++)
            json_array_append_new(notices, json_string(model->notices[i]));
        json_object_set_new(root, "notices", notices);
    }
    if (model->extra != NULL)
        json_object_update(root, model->extra);
}

yoke_status_t yoke_model_to_json(const yoke_model_t *model, bool whole, json_t **out_root)
{
    json_t *root = json_object(), *layers = json_array();
    if (root == NULL || layers == NULL) {
        json_decref(root);
        json_decref(layers);
        return yoke_fail_memory();
    }
    add_header(model, root);
    for (size_t i = 0; i < model->layer_count;) {
        size_t repeat = yoke_model_run(model, i);
        json_array_append_new(layers, layer_to_json(&model->layers[i], repeat));
        i += repeat;
    }
    json_object_set_new(root, "layers", layers);
    if (whole)
        add_extras(model, root);
    *out_root = root;
    return YOKE_OK;
}

yoke_status_t yoke_model_text(const yoke_model_t *model, char **out_text)
{
    json_t *root = NULL;
    yoke_status_t status = yoke_model_to_json(model, true, &root);
    if (status != YOKE_OK)
        return status;
    char *text = yoke_json_text(root);
    json_decref(root);
    if (text == NULL)
        return yoke_fail_memory();
    *out_text = text;
    return YOKE_OK;
}
