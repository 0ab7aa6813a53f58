/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yoke-model/1 document, read: ours or written by hand. What follows from the tensors
 * is computed, and a stated number that differs is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/model_parts.h"

#define LIMIT_NUMBER ((uint64_t)1 << 60)
enum { LIMIT_LAYERS = 200000, LIMIT_TENSORS = 4000000 };

/* "x-*" members are kept at the top level and in layers, and refused further down. */
static yoke_status_t keep_extra(const yoke_cursor_t *at, void **out_extra)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)at->value, key, value)
    {
        if (strncmp(key, "x-", 2) != 0)
            continue;
        if (*out_extra == NULL)
            *out_extra = json_object();
        if (json_object_set(*out_extra, key, value) != 0)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

static yoke_status_t only(const yoke_cursor_t *at, const char *const *keys)
{
    const char *key;
    json_t *value;
    yoke_status_t status = yoke_cursor_only(at, keys);
    if (status != YOKE_OK)
        return status;
    json_object_foreach((json_t *)at->value, key, value)
    {
        if (strncmp(key, "x-", 2) == 0)
            return yoke_cursor_fail(
                at, key,
                "members of one's own are kept at the top level and in "
                "layers only");
    }
    return YOKE_OK;
}

static yoke_status_t read_word(const yoke_cursor_t *at, const char *key,
                               const char *const *words, bool needed, size_t *out_index)
{
    const char *text = NULL;
    yoke_status_t status =
        needed ? yoke_need_string(at, key, &text) : yoke_opt_string(at, key, &text);
    if (status != YOKE_OK || text == NULL)
        return status;
    yoke_text_t known = {0};
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            yoke_text_free(&known);
            *out_index = i;
            return YOKE_OK;
        }
        yoke_text_printf(&known, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    status =
        yoke_cursor_fail(at, key, "\"%.60s\" is none of %s", text, yoke_text_get(&known));
    yoke_text_free(&known);
    return status;
}

static yoke_status_t copy_string(const yoke_cursor_t *at, const char *key, char **out)
{
    const char *text = NULL;
    yoke_status_t status = yoke_opt_string(at, key, &text);
    if (status != YOKE_OK || text == NULL)
        return status;
    *out = yoke_strdup(text);
    return *out == NULL ? yoke_fail_memory() : YOKE_OK;
}

/* A row of numbers of one object, all optional and 0 when absent. */
typedef struct number {
    const char *key;
    uint64_t *place;
} number_t;

static yoke_status_t read_numbers(const yoke_cursor_t *at, const number_t *numbers,
                                  size_t count)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; status == YOKE_OK && i < count; i++)
        status = yoke_opt_u64(at, numbers[i].key, 0, LIMIT_NUMBER, numbers[i].place);
    return status;
}

static yoke_status_t read_shape(const yoke_cursor_t *at, yoke_tensor_t *tensor)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(at, "shape", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    size_t count = yoke_cursor_count(&list);
    if (count != 1 && count != 2)
        return yoke_cursor_fail(&list, NULL, "must have 1 or 2 numbers, has %zu", count);
    uint64_t sizes[2] = {1, 1};
    for (size_t i = 0; i < count; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_integer(item.value) || json_integer_value(item.value) < 1 ||
            (uint64_t)json_integer_value(item.value) > LIMIT_NUMBER)
            return yoke_cursor_fail(&item, NULL, "must be a whole number from 1 to 2^60");
        sizes[i] = (uint64_t)json_integer_value(item.value);
    }
    tensor->rows = sizes[0];
    tensor->columns = sizes[1];
    return YOKE_OK;
}

/* Without any "kept" in a layer, every matmul keeps its input and output: an upper
 * estimate. */
static bool states_kept(const yoke_cursor_t *tensors)
{
    static const char *const keys[] = {"kept", "kept_cut", "kept_fp32"};
    for (size_t i = 0; i < yoke_cursor_count(tensors); i++)
        for (size_t k = 0; k < 3; k++)
            if (json_object_get(json_array_get(tensors->value, i), keys[k]) != NULL)
                return true;
    return false;
}

static yoke_status_t assume_kept(const yoke_cursor_t *at, yoke_tensor_t *tensor)
{
    if (__builtin_mul_overflow(tensor->columns, tensor->active, &tensor->kept) ||
        __builtin_mul_overflow(tensor->rows, tensor->active, &tensor->kept_cut) ||
        tensor->kept > LIMIT_NUMBER || tensor->kept_cut > LIMIT_NUMBER)
        return yoke_cursor_fail(at, "shape", "the elements pass 2^60");
    return YOKE_OK;
}

static yoke_status_t read_tensor(const yoke_cursor_t *at, bool kept_stated,
                                 yoke_layer_t *layer)
{
    static const char *const keys[] = {"name",     "shape",     "copies", "active",
                                       "shard",    "matmul",    "tied",   "kept",
                                       "kept_cut", "kept_fp32", NULL};
    static const char *const shards[] = {"none",       "heads",   "kv_heads", "columns",
                                         "vocabulary", "experts", NULL};
    const char *name = NULL;
    yoke_tensor_t *tensor = NULL;
    size_t shard = 0;
    yoke_status_t status = only(at, keys);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "name", &name);
    if (status == YOKE_OK)
        status = yoke_layer_add_tensor(layer, name, &tensor);
    if (status == YOKE_OK)
        status = read_shape(at, tensor);
    if (status == YOKE_OK)
        status = yoke_opt_u64(at, "copies", 1, LIMIT_NUMBER, &tensor->copies);
    if (status != YOKE_OK)
        return status;
    tensor->active = tensor->copies;
    tensor->matmul = tensor->columns > 1 && layer->kind != YOKE_LAYER_EMBEDDING;
    status = yoke_opt_u64(at, "active", 0, tensor->copies, &tensor->active);
    if (status == YOKE_OK)
        status = read_word(at, "shard", shards, false, &shard);
    tensor->shard = (yoke_shard_t)shard;
    if (status == YOKE_OK)
        status = yoke_opt_bool(at, "matmul", &tensor->matmul);
    if (status == YOKE_OK)
        status = yoke_opt_bool(at, "tied", &tensor->tied);
    if (status == YOKE_OK && !kept_stated && tensor->matmul)
        return assume_kept(at, tensor);
    const number_t numbers[] = {{"kept", &tensor->kept},
                                {"kept_cut", &tensor->kept_cut},
                                {"kept_fp32", &tensor->kept_fp32}};
    return status == YOKE_OK ? read_numbers(at, numbers, 3) : status;
}

static yoke_status_t read_tensors(const yoke_cursor_t *at, yoke_layer_t *layer)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(at, "tensors", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    bool kept_stated = states_kept(&list);
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_tensor(&item, kept_stated, layer);
    }
    return status;
}

/* heads x width, and heads x state, must stay exact further on. */
static yoke_status_t check_attention(const yoke_cursor_t *at,
                                     const yoke_attention_t *attention)
{
    uint64_t width = 0, states = 0, index = 0;
    if (__builtin_mul_overflow(attention->heads, attention->qk_dim + attention->v_dim,
                               &width) ||
        __builtin_mul_overflow(attention->heads, attention->state, &states) ||
        __builtin_mul_overflow(attention->index_heads, attention->index_dim, &index) ||
        width > LIMIT_NUMBER || states > LIMIT_NUMBER || index > LIMIT_NUMBER)
        return yoke_cursor_fail(at, NULL, "heads times widths pass 2^60");
    if (attention->kv_heads > attention->heads)
        return yoke_cursor_fail(at, "kv_heads", "%llu are more than the %llu heads",
                                (unsigned long long)attention->kv_heads,
                                (unsigned long long)attention->heads);
    return YOKE_OK;
}

static yoke_status_t read_attention(const yoke_cursor_t *layer_at, yoke_layer_t *layer)
{
    static const char *const keys[] = {
        "heads",   "kv_heads", "qk_dim",      "v_dim",     "window",          "linear",
        "chunked", "state",    "index_heads", "index_dim", "cache_per_token", NULL};
    yoke_cursor_t at;
    yoke_attention_t *attention = &layer->attention;
    if (!yoke_cursor_member(layer_at, "attention", &at))
        return YOKE_OK;
    const number_t numbers[] = {{"heads", &attention->heads},
                                {"kv_heads", &attention->kv_heads},
                                {"qk_dim", &attention->qk_dim},
                                {"v_dim", &attention->v_dim},
                                {"window", &attention->window},
                                {"state", &attention->state},
                                {"index_heads", &attention->index_heads},
                                {"index_dim", &attention->index_dim},
                                {"cache_per_token", &attention->cache_per_token}};
    yoke_status_t status = only(&at, keys);
    if (status == YOKE_OK)
        status = read_numbers(&at, numbers, sizeof numbers / sizeof *numbers);
    if (status == YOKE_OK)
        status = yoke_opt_bool(&at, "linear", &attention->linear);
    if (status == YOKE_OK)
        status = yoke_opt_bool(&at, "chunked", &attention->chunked);
    return status == YOKE_OK ? check_attention(&at, attention) : status;
}

static yoke_status_t read_mlp(const yoke_cursor_t *layer_at, yoke_layer_t *layer)
{
    static const char *const keys[] = {
        "ffn", "gated", "experts", "experts_active", "expert_ffn", "shared_ffn", NULL};
    yoke_cursor_t at;
    if (!yoke_cursor_member(layer_at, "mlp", &at))
        return YOKE_OK;
    const number_t numbers[] = {{"ffn", &layer->ffn},
                                {"experts", &layer->experts},
                                {"experts_active", &layer->experts_active},
                                {"expert_ffn", &layer->expert_ffn},
                                {"shared_ffn", &layer->shared_ffn}};
    yoke_status_t status = only(&at, keys);
    if (status == YOKE_OK)
        status = read_numbers(&at, numbers, sizeof numbers / sizeof *numbers);
    return status == YOKE_OK ? yoke_opt_bool(&at, "gated", &layer->gated) : status;
}

static yoke_status_t check_number(const yoke_cursor_t *at, const char *key,
                                  uint64_t right, const char *from)
{
    uint64_t stated = right;
    yoke_status_t status = yoke_opt_u64(at, key, 0, UINT64_MAX, &stated);
    if (status == YOKE_OK && stated != right)
        status =
            yoke_cursor_fail(at, key, "states %llu, but %s make %llu",
                             (unsigned long long)stated, from, (unsigned long long)right);
    return status;
}

/* Derived members: accepted when they say what the tensors say. */
static yoke_status_t check_derived(const yoke_cursor_t *at, yoke_layer_t *layer)
{
    if (!yoke_layer_count(layer, &layer->parameters, &layer->active))
        return yoke_cursor_fail(at, "tensors", "the elements pass 2^60");
    yoke_status_t status =
        check_number(at, "parameters", layer->parameters, "its tensors");
    if (status == YOKE_OK)
        status = check_number(at, "active", layer->active, "its tensors");
    return status;
}

static yoke_status_t check_functions(const yoke_cursor_t *at, const yoke_layer_t *layer)
{
    static const char *const members[] = {"forward_flops", "activation_bytes", NULL};
    json_t *right = NULL;
    yoke_status_t status = yoke_layer_functions(layer, &right);
    for (size_t i = 0; status == YOKE_OK && members[i] != NULL; i++) {
        yoke_cursor_t stated;
        if (!yoke_cursor_member(at, members[i], &stated))
            continue;
        if (!json_equal(stated.value, json_object_get(right, members[i])))
            status =
                yoke_cursor_fail(at, members[i],
                                 "differs from what the tensors and the attention make; "
                                 "leave it out to have it computed");
    }
    json_decref(right);
    return status;
}

static yoke_status_t read_layer_body(const yoke_cursor_t *at, yoke_layer_t *layer)
{
    yoke_status_t status = yoke_need_u64(at, "hidden", 1, LIMIT_NUMBER, &layer->hidden);
    if (status == YOKE_OK)
        status = yoke_opt_bool(at, "parallel", &layer->parallel);
    if (status == YOKE_OK)
        status = read_attention(at, layer);
    if (status == YOKE_OK)
        status = read_mlp(at, layer);
    if (status == YOKE_OK)
        status = read_tensors(at, layer);
    if (status == YOKE_OK)
        status = check_derived(at, layer);
    return status == YOKE_OK ? check_functions(at, layer) : status;
}

/* "layers.4" with repeat 3 is layers.4, layers.5, layers.6. */
static yoke_status_t repeat_layer(const yoke_cursor_t *at, const char *name,
                                  uint64_t repeat, yoke_model_t *model)
{
    size_t size = strlen(name), stem = size;
    uint64_t number = 0;
    if (model->layers[model->layer_count - 1].tensor_count > LIMIT_TENSORS / repeat)
        return yoke_cursor_fail(at, NULL, "the model passes %d tensors", LIMIT_TENSORS);
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    if (!yoke_parse_u64(name + stem, size - stem, 0, UINT32_MAX, &number))
        return yoke_cursor_fail(at, "name",
                                "\"%.60s\" is repeated and must end in a number", name);
    yoke_status_t status = YOKE_OK;
    for (uint64_t i = 1; status == YOKE_OK && i < repeat; i++) {
        char *next =
            yoke_format("%.*s%llu", (int)stem, name, (unsigned long long)(number + i));
        if (next == NULL)
            return yoke_fail_memory();
        status = yoke_model_repeat_layer(model, model->layer_count - 1, next);
        free(next);
    }
    return status;
}

static yoke_status_t read_layer(const yoke_cursor_t *at, yoke_model_t *model)
{
    static const char *const keys[] = {
        "name",      "repeat", "kind",     "parameters",    "active",           "hidden",
        "attention", "mlp",    "parallel", "forward_flops", "activation_bytes", "tensors",
        NULL};
    static const char *const kinds[] = {"embedding", "decoder", "head", "prediction",
                                        NULL};
    const char *name = NULL;
    uint64_t repeat = 1;
    size_t kind = 0;
    yoke_layer_t *layer = NULL;
    yoke_status_t status = yoke_cursor_only(at, keys);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "name", &name);
    if (status == YOKE_OK)
        status = yoke_opt_u64(at, "repeat", 1, LIMIT_LAYERS, &repeat);
    if (status == YOKE_OK)
        status = read_word(at, "kind", kinds, true, &kind);
    if (status != YOKE_OK)
        return status;
    if (repeat > LIMIT_LAYERS - model->layer_count)
        return yoke_cursor_fail(at, NULL, "the model passes %d layers", LIMIT_LAYERS);
    status = yoke_model_add_layer(model, name, (yoke_layer_kind_t)kind, &layer);
    if (status == YOKE_OK)
        status = keep_extra(at, &layer->extra);
    if (status == YOKE_OK)
        status = read_layer_body(at, layer);
    if (status == YOKE_OK && repeat > 1)
        status = repeat_layer(at, name, repeat, model);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static yoke_status_t check_names(const yoke_cursor_t *at, const yoke_model_t *model)
{
    const char **names = calloc(model->layer_count + 1, sizeof *names);
    yoke_status_t status = YOKE_OK;
    if (names == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < model->layer_count; i++)
        names[i] = model->layers[i].name;
    qsort(names, model->layer_count, sizeof *names, compare_names);
    for (size_t i = 1; status == YOKE_OK && i < model->layer_count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = yoke_cursor_fail(at, NULL, "two layers have the name \"%.60s\"",
                                      names[i]);
    free(names);
    return status;
}

static yoke_status_t read_layers(const yoke_cursor_t *at, yoke_model_t *model)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(at, "layers", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    if (yoke_cursor_count(&list) == 0)
        return yoke_cursor_fail(&list, NULL, "must have at least one layer");
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_layer(&item, model);
    }
    return status == YOKE_OK ? check_names(&list, model) : status;
}

static yoke_status_t read_parameters(const yoke_cursor_t *at, yoke_model_t *model)
{
    static const char *const keys[] = {"total", "active", "prediction", "other", NULL};
    yoke_cursor_t parameters;
    if (!yoke_cursor_member(at, "parameters", &parameters))
        return YOKE_OK;
    const number_t numbers[] = {{"prediction", &model->parameters_prediction},
                                {"other", &model->parameters_other}};
    yoke_status_t status = only(&parameters, keys);
    return status == YOKE_OK ? read_numbers(&parameters, numbers, 2) : status;
}

static yoke_status_t check_parameters(const yoke_cursor_t *at, yoke_model_t *model)
{
    yoke_cursor_t parameters;
    uint64_t prediction = 0;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].kind == YOKE_LAYER_PREDICTION)
            prediction += model->layers[i].parameters;
    if (model->parameters_prediction < prediction)
        model->parameters_prediction = prediction;
    if (!yoke_cursor_member(at, "parameters", &parameters))
        return YOKE_OK;
    status = check_number(&parameters, "total", model->parameters_total,
                          "the layers and \"other\"");
    if (status == YOKE_OK)
        status = check_number(&parameters, "active", model->parameters_active,
                              "the layers and \"other\"");
    return status;
}

static yoke_status_t read_notices(const yoke_cursor_t *at, yoke_model_t *model)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "notices", &list))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_string(item.value))
            return yoke_cursor_fail(&item, NULL, "must be a string");
        status = yoke_model_add_notice(model, json_string_value(item.value));
    }
    return status;
}

static yoke_status_t read_header(const yoke_cursor_t *at, yoke_model_t *model)
{
    const number_t numbers[] = {
        {"hidden", &model->hidden},     {"vocabulary", &model->vocabulary},
        {"heads", &model->heads},       {"kv_heads", &model->kv_heads},
        {"head_dim", &model->head_dim}, {"positions", &model->positions},
        {"experts", &model->experts}};
    yoke_status_t status = copy_string(at, "name", &model->name);
    if (status == YOKE_OK)
        status = copy_string(at, "architecture", &model->architecture);
    if (status == YOKE_OK)
        status = copy_string(at, "dtype", &model->dtype);
    if (status == YOKE_OK)
        status = read_numbers(at, numbers, sizeof numbers / sizeof *numbers);
    if (status == YOKE_OK)
        status = yoke_opt_bool(at, "tied", &model->tied);
    return status;
}

yoke_status_t yoke_model_from_json(const yoke_json_t *json, yoke_model_t *model)
{
    static const char *const keys[] = {
        "schema",     "name",   "architecture", "parameters", "dtype",     "hidden",
        "vocabulary", "heads",  "kv_heads",     "head_dim",   "positions", "experts",
        "tied",       "layers", "notices",      NULL};
    static const char *const schemas[] = {"yoke-model/1", NULL};
    yoke_cursor_t at = yoke_json_cursor(json);
    size_t schema = 0;
    yoke_status_t status = read_word(&at, "schema", schemas, true, &schema);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&at, keys);
    if (status == YOKE_OK)
        status = read_header(&at, model);
    if (status == YOKE_OK)
        status = read_parameters(&at, model);
    if (status == YOKE_OK)
        status = read_layers(&at, model);
    if (status == YOKE_OK)
        status = read_notices(&at, model);
    if (status == YOKE_OK)
        status = keep_extra(&at, &model->extra);
    if (status == YOKE_OK)
        status = yoke_model_finish(model, json->name);
    return status == YOKE_OK ? check_parameters(&at, model) : status;
}
