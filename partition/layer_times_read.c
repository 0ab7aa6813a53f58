/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a document of measured layer times (yoke-layer-times/1). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "partition/layer_times_parts.h"
#include "yoke/inventory.h"

#define SCHEMA "yoke-layer-times/1"
#define FILE_LIMIT ((size_t)64 << 20)
#define MOST_SECONDS 1e6
#define MOST_BYTES 1e16
#define MOST_LAYERS 65534
#define MOST_DEGREE 4096
#define MOST_MICRO_BATCH (1u << 20)

static yoke_status_t read_unsigned(const yoke_cursor_t *at, const char *key,
                                   uint64_t most, unsigned *out)
{
    uint64_t value = 0;
    yoke_status_t status = yoke_need_u64(at, key, 1, most, &value);
    *out = (unsigned)value;
    return status;
}

/* Index of the type, added where it is new. */
static yoke_status_t take_type(yoke_layer_times_t *times, const char *name, int *out)
{
    *out = yoke_layer_times_type(times, name);
    if (*out >= 0)
        return YOKE_OK;
    char **types = realloc(times->types, (times->type_count + 1) * sizeof *types);
    if (types == NULL)
        return yoke_fail_memory();
    times->types = types;
    types[times->type_count] = yoke_strdup(name);
    if (types[times->type_count] == NULL)
        return yoke_fail_memory();
    *out = (int)times->type_count++;
    return YOKE_OK;
}

/* An array of one number a layer. */
static yoke_status_t read_numbers(const yoke_cursor_t *at, const char *key, size_t layers,
                                  double most, double *out)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(at, key, &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    if (yoke_cursor_count(&list) != layers)
        return yoke_cursor_fail(at, key,
                                "must have one number for each of the %zu layers, "
                                "not %zu",
                                layers, yoke_cursor_count(&list));
    for (size_t i = 0; i < layers; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        double value = json_is_number(item.value) ? json_number_value(item.value) : -1;
        if (!(value >= 0 && value <= most))
            return yoke_cursor_fail(&item, NULL, "must be a number from 0 to %g", most);
        out[i] = value;
    }
    return YOKE_OK;
}

static yoke_status_t read_update(const yoke_cursor_t *at, size_t layers, double *numbers,
                                 yoke_layer_point_t *point)
{
    yoke_cursor_t update;
    point->stage_update = -1;
    if (!yoke_cursor_member(at, "update", &update))
        return YOKE_OK;
    if (!json_is_array(update.value))
        return yoke_need_double(at, "update", 0, MOST_SECONDS, &point->stage_update);
    point->update = numbers;
    return read_numbers(at, "update", layers, MOST_SECONDS, numbers);
}

static yoke_status_t refuse_twice(const yoke_cursor_t *at,
                                  const yoke_layer_times_t *times,
                                  const yoke_measured_point_t *last)
{
    for (const yoke_measured_point_t *p = times->points; p != last; p++)
        if (p->type == last->type && p->point.tp == last->point.tp &&
            p->point.micro_batch == last->point.micro_batch)
            return yoke_cursor_fail(at, NULL,
                                    "is a second entry of %s at tp %u and micro-batch "
                                    "%u; keep one",
                                    times->types[p->type], p->point.tp,
                                    p->point.micro_batch);
    return YOKE_OK;
}

static yoke_status_t read_point(const yoke_cursor_t *at, yoke_layer_times_t *times)
{
    static const char *const allowed[] = {"type",     "tp",     "micro_batch", "forward",
                                          "backward", "update", NULL};
    yoke_measured_point_t *out = &times->points[times->point_count];
    const char *type = NULL;
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "type", &type);
    if (status == YOKE_OK)
        status = take_type(times, type, &out->type);
    if (status == YOKE_OK)
        status = read_unsigned(at, "tp", MOST_DEGREE, &out->point.tp);
    if (status == YOKE_OK)
        status =
            read_unsigned(at, "micro_batch", MOST_MICRO_BATCH, &out->point.micro_batch);
    if (status == YOKE_OK)
        status = refuse_twice(at, times, out);
    if (status != YOKE_OK)
        return status;
    out->numbers = calloc(3 * times->layers, sizeof *out->numbers);
    if (out->numbers == NULL)
        return yoke_fail_memory();
    times->point_count++; /* it is freed with the others from here on */
    out->point.forward = out->numbers;
    out->point.backward = out->numbers + times->layers;
    status = read_numbers(at, "forward", times->layers, MOST_SECONDS, out->numbers);
    if (status == YOKE_OK)
        status = read_numbers(at, "backward", times->layers, MOST_SECONDS,
                              out->numbers + times->layers);
    if (status == YOKE_OK)
        status =
            read_update(at, times->layers, out->numbers + 2 * times->layers, &out->point);
    return status;
}

static yoke_status_t read_points(const yoke_cursor_t *root, yoke_layer_times_t *times)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(root, "times", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    if (status == YOKE_OK && count == 0)
        return yoke_cursor_fail(root, "times", "must have an entry at least");
    times->points = calloc(count + 1, sizeof *times->points);
    if (times->points == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < count; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_point(&item, times);
    }
    return status;
}

static yoke_status_t read_degree(const yoke_cursor_t *at, yoke_layer_times_t *times)
{
    static const char *const allowed[] = {"tp", "parameters", "activations", "fixed",
                                          NULL};
    yoke_layer_memory_t *out = &times->memory[times->memory_count];
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = read_unsigned(at, "tp", MOST_DEGREE, &out->tp);
    if (status == YOKE_OK && yoke_layer_times_memory(times, out->tp) != NULL)
        status = yoke_cursor_fail(at, "tp", "is a second entry of degree %u; keep one",
                                  out->tp);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "fixed", 0, MOST_BYTES, &out->fixed);
    if (status != YOKE_OK)
        return status;
    double *numbers = calloc(2 * times->layers, sizeof *numbers);
    if (numbers == NULL)
        return yoke_fail_memory();
    times->memory_numbers[times->memory_count++] = numbers;
    out->parameters = numbers;
    out->activations = numbers + times->layers;
    status = read_numbers(at, "parameters", times->layers, MOST_BYTES, numbers);
    if (status == YOKE_OK)
        status = read_numbers(at, "activations", times->layers, MOST_BYTES,
                              numbers + times->layers);
    return status;
}

static yoke_status_t read_memory(const yoke_cursor_t *root, yoke_layer_times_t *times)
{
    static const char *const allowed[] = {"bytes_per_parameter", "degrees", NULL};
    yoke_cursor_t memory, list;
    if (!yoke_cursor_member(root, "memory", &memory))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_object(&memory);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&memory, allowed);
    if (status == YOKE_OK)
        status = yoke_need_double(&memory, "bytes_per_parameter", 1, 1024,
                                  &times->state_bytes);
    if (status == YOKE_OK)
        status = yoke_cursor_need(&memory, "degrees", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    times->memory = calloc(count + 1, sizeof *times->memory);
    times->memory_numbers = calloc(count + 1, sizeof *times->memory_numbers);
    if (times->memory == NULL || times->memory_numbers == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < count; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_degree(&item, times);
    }
    return status;
}

/* One [bytes, seconds] of a send; sizes rise, and times do not fall. */
static yoke_status_t read_size(const yoke_cursor_t *at, yoke_measured_send_t *send)
{
    double pair[2] = {-1, -1};
    for (size_t i = 0; i < 2 && yoke_cursor_count(at) == 2; i++) {
        const json_t *value = yoke_cursor_item(at, i).value;
        pair[i] = json_is_number(value) ? json_number_value(value) : -1;
    }
    if (!(pair[0] > 0 && pair[0] <= MOST_BYTES && pair[1] > 0 && pair[1] <= MOST_SECONDS))
        return yoke_cursor_fail(at, NULL, "must be [bytes, seconds], both above 0");
    if (send->point_count > 0 && !(pair[0] > send->points[send->point_count - 1][0] &&
                                   pair[1] >= send->points[send->point_count - 1][1]))
        return yoke_cursor_fail(at, NULL,
                                "must have more bytes than the point before it, and no "
                                "less time");
    send->points[send->point_count][0] = pair[0];
    send->points[send->point_count++][1] = pair[1];
    return YOKE_OK;
}

static yoke_status_t read_send(const yoke_cursor_t *at, yoke_layer_times_t *times)
{
    static const char *const allowed[] = {"from",  "to",     "from_tp",
                                          "to_tp", "points", NULL};
    yoke_measured_send_t *out = &times->sends[times->send_count++];
    const char *from = NULL, *to = NULL;
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "from", &from);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "to", &to);
    if (status == YOKE_OK)
        status = take_type(times, from, &out->from);
    if (status == YOKE_OK)
        status = take_type(times, to, &out->to);
    if (status == YOKE_OK)
        status = read_unsigned(at, "from_tp", MOST_DEGREE, &out->from_tp);
    if (status == YOKE_OK)
        status = read_unsigned(at, "to_tp", MOST_DEGREE, &out->to_tp);
    if (status == YOKE_OK)
        status = yoke_cursor_need(at, "points", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    if (status == YOKE_OK && count == 0)
        status = yoke_cursor_fail(at, "points", "must have a point at least");
    if (status != YOKE_OK)
        return status;
    out->points = calloc(count, sizeof *out->points);
    if (out->points == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < count; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_size(&item, out);
    }
    return status;
}

static yoke_status_t read_sends(const yoke_cursor_t *root, yoke_layer_times_t *times)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(root, "sends", &list))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    times->sends = calloc(count + 1, sizeof *times->sends);
    if (times->sends == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < count; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = read_send(&item, times);
    }
    return status;
}

/* A member that is one of some words: its index. */
static yoke_status_t read_word(const yoke_cursor_t *at, const char *key,
                               const char *const *words, int *out)
{
    const char *text = NULL;
    yoke_status_t status = yoke_opt_string(at, key, &text);
    if (status != YOKE_OK || text == NULL)
        return status;
    yoke_text_t list = {0};
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            yoke_text_free(&list);
            return YOKE_OK;
        }
        yoke_text_printf(&list, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
    }
    status = yoke_cursor_fail(at, key, "must be one of %s, not \"%s\"",
                              yoke_text_get(&list), text);
    yoke_text_free(&list);
    return status;
}

static yoke_status_t read_words(const yoke_cursor_t *root, yoke_layer_times_t *times)
{
    static const char *const recompute[] = {"none", "selective", "full", NULL};
    static const char *const missing[] = {"estimate", "refuse", NULL};
    static const char *const transfers[] = {"overlap", "block", NULL};
    static const char *const exchange[] = {"stage", "step", NULL};
    int values[4] = {0};
    yoke_status_t status = read_word(root, "recompute", recompute, &values[0]);
    if (status == YOKE_OK)
        status = read_word(root, "missing", missing, &values[1]);
    if (status == YOKE_OK)
        status = read_word(root, "transfers", transfers, &values[2]);
    if (status == YOKE_OK)
        status = read_word(root, "exchange_after", exchange, &values[3]);
    times->recompute = (yoke_recompute_t)values[0];
    times->only_measured = values[1] == 1;
    times->blocking = values[2] == 1;
    times->exchange_last = values[3] == 1;
    return status;
}

/* What stands at the top; *out_source points into the document. */
static yoke_status_t read_head(const yoke_cursor_t *root, yoke_layer_times_t *times,
                               const char **out_source)
{
    static const char *const allowed[] = {
        "schema",         "source",    "layers",
        "sequence",       "dtype",     "recompute",
        "missing",        "transfers", "gradient_overlap",
        "times",          "memory",    "sends",
        "exchange_after", NULL};
    const char *schema = NULL, *dtype = NULL;
    uint64_t layers = 0;
    times->overlap = -1;
    yoke_status_t status = yoke_cursor_object(root);
    if (status == YOKE_OK)
        status = yoke_cursor_only(root, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(root, "schema", &schema);
    if (status == YOKE_OK && strcmp(schema, SCHEMA) != 0)
        status = yoke_cursor_fail(root, "schema", "must be \"" SCHEMA "\", not \"%s\"",
                                  schema);
    if (status == YOKE_OK)
        status = yoke_need_string(root, "source", out_source);
    if (status == YOKE_OK)
        status = yoke_need_u64(root, "layers", 1, MOST_LAYERS, &layers);
    if (status == YOKE_OK)
        status = yoke_need_u64(root, "sequence", 1, 1u << 24, &times->sequence);
    if (status == YOKE_OK)
        status = yoke_need_string(root, "dtype", &dtype);
    if (status == YOKE_OK && !yoke_dtype_parse(dtype, &times->dtype))
        status = yoke_cursor_fail(root, "dtype",
                                  "\"%s\" is no data type; bf16, fp16, "
                                  "fp8, fp32, tf32 and fp64 are",
                                  dtype);
    if (status == YOKE_OK)
        status = yoke_opt_double(root, "gradient_overlap", 0, 1, &times->overlap);
    times->layers = (size_t)layers;
    return status == YOKE_OK ? read_words(root, times) : status;
}

static yoke_status_t set_title(const yoke_json_t *json, const char *source,
                               yoke_layer_times_t *times)
{
    char digest[32];
    char *text = yoke_json_text(json->root);
    if (text == NULL)
        return yoke_fail_memory();
    yoke_digest(text, digest);
    free(text);
    times->name = yoke_strdup(json->name);
    times->title = yoke_format("%s (%s)", source, digest);
    return times->name == NULL || times->title == NULL ? yoke_fail_memory() : YOKE_OK;
}

static yoke_status_t read_document(const yoke_json_t *json, yoke_layer_times_t **out)
{
    const char *source = NULL;
    yoke_cursor_t root = yoke_json_cursor(json);
    yoke_layer_times_t *times = calloc(1, sizeof *times);
    if (times == NULL)
        return yoke_fail_memory();
    yoke_status_t status = read_head(&root, times, &source);
    if (status == YOKE_OK)
        status = read_points(&root, times);
    if (status == YOKE_OK)
        status = read_memory(&root, times);
    if (status == YOKE_OK)
        status = read_sends(&root, times);
    if (status == YOKE_OK)
        status = set_title(json, source, times);
    if (status != YOKE_OK) {
        yoke_layer_times_free(times);
        return status;
    }
    *out = times;
    return YOKE_OK;
}

yoke_status_t yoke_layer_times_read(const char *path, yoke_layer_times_t **out_times)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_read(path, FILE_LIMIT, &json);
    if (status == YOKE_OK) {
        status = read_document(&json, out_times);
        yoke_json_free(&json);
    }
    return status;
}

yoke_status_t yoke_layer_times_parse(const char *name, const char *data, size_t size,
                                     yoke_layer_times_t **out_times)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    if (status == YOKE_OK) {
        status = read_document(&json, out_times);
        yoke_json_free(&json);
    }
    return status;
}

void yoke_layer_times_free(yoke_layer_times_t *times)
{
    if (times == NULL)
        return;
    for (size_t i = 0; i < times->type_count; i++)
        free(times->types[i]);
    for (size_t i = 0; i < times->point_count; i++)
        free(times->points[i].numbers);
    for (size_t i = 0; i < times->memory_count; i++)
        free(times->memory_numbers[i]);
    for (size_t i = 0; i < times->send_count; i++)
        free(times->sends[i].points);
    free(times->types);
    free(times->points);
    free(times->memory);
    free(times->memory_numbers);
    free(times->sends);
    free(times->title);
    free(times->name);
    free(times);
}
