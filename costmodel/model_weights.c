/* SPDX-License-Identifier: Apache-2.0 */
/* Names, shapes and bytes of weight files against those that the architecture makes. */
#include "costmodel/model_weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "costmodel/model_parts.h"

typedef enum match {
    MATCH_TENSOR,
    MATCH_BUFFER,     /* positions, masks, scales: no weights of the model */
    MATCH_OTHER,      /* vision tower and its like */
    MATCH_PREDICTION, /* of an extra prediction layer that is counted apart */
    MATCH_BEYOND,     /* a layer that the model does not have */
    MATCH_UNKNOWN
} match_t;

typedef struct found {
    match_t match;
    size_t layer, tensor; /* MATCH_TENSOR */
    uint64_t number;      /* of the layer, MATCH_BEYOND */
    bool expert;          /* one of a tensor's copies, not all in one */
} found_t;

/* How often each tensor was seen, in one row for all layers. */
typedef struct tally {
    const yoke_model_t *model;
    const arch_t *arch;
    size_t *first; /* per layer, place of its tensors in `seen` */
    uint64_t *seen;
    size_t decoders;
    uint64_t beyond, unknown, shapes, dtypes, quantised;
    bool prediction, other;
    bool packed; /* quantised matrices go by other names: nothing can be missed */
    yoke_status_t status;
} tally_t;

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t size = strlen(text), tail = strlen(with);
    return size >= tail && strcmp(text + size - tail, with) == 0;
}

static bool is_buffer(const char *name)
{
    static const char *const tails[] = {".attn.bias",          ".attn.masked_bias",
                                        ".attention.bias",     ".attention.masked_bias",
                                        "rotary_emb.inv_freq", ".embed_positions"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (ends(name, tails[i]))
            return true;
    return false;
}

/* Companions of quantised matrices, whose own shapes are packed too. */
static bool is_scale(const char *name)
{
    static const char *const tails[] = {"_scale",   "_scale_inv", "_scales", "_blocks",
                                        ".qweight", ".qzeros",    ".scales", ".g_idx",
                                        "_scale_2", "_zero_point"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (ends(name, tails[i]))
            return true;
    return false;
}

static bool is_other(const tally_t *tally, const char *name)
{
    static const char *const heads[] = {"vision_tower.",
                                        "vision_model.",
                                        "visual.",
                                        "model.visual.",
                                        "model.vision_tower.",
                                        "multi_modal_projector.",
                                        "model.multi_modal_projector."};
    if (tally->arch->part == NULL)
        return false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (begins(name, heads[i]))
            return true;
    return false;
}

/* The name with its first known prefix replaced; in `buffer`. False when too long. */
static bool canonical(const tally_t *tally, const char *name, char *buffer, size_t size)
{
    const char *const *aliases = tally->arch->aliases;
    for (; aliases != NULL && aliases[0] != NULL; aliases += 2)
        if (begins(name, aliases[0]))
            return yoke_snprintf(buffer, size, "%s%s", aliases[1],
                                 name + strlen(aliases[0])) < (int)size;
    return yoke_snprintf(buffer, size, "%s", name) < (int)size;
}

/* Does a table's name fit: '*' takes a number below `copies`, "[q]" at the end is ours.
 */
static bool fits(const yoke_tensor_t *tensor, const char *name, bool *out_expert)
{
    const char *pattern = tensor->name;
    *out_expert = false;
    while (*pattern != '\0' && *pattern != '[') {
        if (*pattern == '*') {
            uint64_t number = 0;
            size_t digits = strspn(name, "0123456789");
            if (!yoke_parse_u64(name, digits, 0, tensor->copies - 1, &number) ||
                (digits > 1 && *name == '0'))
                return false;
            name += digits;
            pattern++;
            *out_expert = true;
        } else if (*pattern++ != *name++) {
            return false;
        }
    }
    return *name == '\0';
}

static bool find_in_layer(const tally_t *tally, size_t layer, const char *name,
                          found_t *found)
{
    const yoke_layer_t *at = &tally->model->layers[layer];
    for (size_t i = 0; i < at->tensor_count; i++)
        if (fits(&at->tensors[i], name, &found->expert)) {
            found->match = MATCH_TENSOR;
            found->layer = layer;
            found->tensor = i;
            return true;
        }
    return false;
}

/* Tensors of a numbered layer: prefix, number, dot, the rest. */
static bool find_numbered(const tally_t *tally, const char *name, found_t *found)
{
    const yoke_model_t *model = tally->model;
    size_t stem = strlen(tally->arch->prefix);
    if (!begins(name, tally->arch->prefix))
        return false;
    size_t digits = strspn(name + stem, "0123456789");
    uint64_t number = 0;
    if (!yoke_parse_u64(name + stem, digits, 0, UINT32_MAX, &number) ||
        name[stem + digits] != '.')
        return false;
    found->number = number;
    /* embed comes first; prediction layers, where they are layers, follow the decoders.
     */
    size_t layer = (size_t)number + 1;
    if (layer < model->layer_count &&
        (model->layers[layer].kind == YOKE_LAYER_DECODER ||
         model->layers[layer].kind == YOKE_LAYER_PREDICTION))
        return find_in_layer(tally, layer, name + stem + digits + 1, found);
    found->match = model->parameters_prediction != 0 ? MATCH_PREDICTION : MATCH_BEYOND;
    return true;
}

static found_t find(const tally_t *tally, const char *name)
{
    char buffer[512];
    found_t found = {.match = MATCH_UNKNOWN};
    if (is_other(tally, name)) {
        found.match = MATCH_OTHER;
    } else if (is_buffer(name) || is_scale(name)) {
        found.match = MATCH_BUFFER;
    } else if (begins(name, "mtp.")) {
        found.match = MATCH_PREDICTION;
    } else if (canonical(tally, name, buffer, sizeof buffer)) {
        if (!find_in_layer(tally, 0, buffer, &found) &&
            !find_in_layer(tally, tally->model->layer_count - 1, buffer, &found) &&
            !find_numbered(tally, buffer, &found))
            found.match = MATCH_UNKNOWN;
    }
    return found;
}

static void note(tally_t *tally, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(tally_t *tally, const char *format, ...)
{
    yoke_text_t text = {0};
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    if (tally->status == YOKE_OK)
        tally->status =
            yoke_model_add_notice((yoke_model_t *)tally->model, yoke_text_get(&text));
    yoke_text_free(&text);
}

static void count_name(tally_t *tally, const char *name, const found_t *found)
{
    switch (found->match) {
    case MATCH_TENSOR:
        tally->seen[tally->first[found->layer] + found->tensor]++;
        break;
    case MATCH_BUFFER:
        tally->quantised += is_scale(name);
        tally->packed |= ends(name, "_blocks") || ends(name, ".qweight");
        break;
    case MATCH_OTHER:
        tally->other = true;
        break;
    case MATCH_PREDICTION:
        tally->prediction = true;
        break;
    case MATCH_BEYOND:
        if (tally->beyond++ == 0)
            note(tally,
                 "the weights have %.200s, but layer %llu is not in a %zu-layer model",
                 name, (unsigned long long)found->number, tally->decoders);
        break;
    case MATCH_UNKNOWN:
        if (tally->unknown++ == 0)
            note(tally, "the weights have %.200s, which %s does not have", name,
                 tally->arch->name);
        break;
    }
}

/* Sum of a tensor's parts: "qkv.weight[q]" and "qkv.weight[kv]" are one in the file. */
static uint64_t rows_of(const yoke_layer_t *layer, size_t tensor)
{
    const char *name = layer->tensors[tensor].name;
    size_t size = strcspn(name, "[");
    uint64_t rows = 0;
    for (size_t i = tensor; i < layer->tensor_count; i++)
        if (strcspn(layer->tensors[i].name, "[") == size &&
            strncmp(layer->tensors[i].name, name, size) == 0)
            rows += layer->tensors[i].rows;
    return rows;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Equal but for order (GPT-2 stores matrices transposed) and for dimensions of 1. */
static bool same_shape(const yoke_safetensors_entry_t *entry, uint64_t rows,
                       uint64_t columns, uint64_t copies)
{
    uint64_t ours[3] = {rows, columns, copies}, theirs[YOKE_SAFETENSORS_RANK];
    size_t our_count = 0, their_count = 0;
    for (size_t i = 0; i < 3; i++)
        if (ours[i] != 1)
            ours[our_count++] = ours[i];
    for (size_t i = 0; i < entry->rank; i++)
        if (entry->shape[i] != 1)
            theirs[their_count++] = entry->shape[i];
    if (our_count != their_count)
        return false;
    qsort(ours, our_count, sizeof *ours, compare_u64);
    qsort(theirs, their_count, sizeof *theirs, compare_u64);
    return our_count == 0 || memcmp(ours, theirs, our_count * sizeof *ours) == 0;
}

static void check_shape(tally_t *tally, const yoke_safetensors_entry_t *entry,
                        const found_t *found)
{
    const yoke_layer_t *layer = &tally->model->layers[found->layer];
    const yoke_tensor_t *tensor = &layer->tensors[found->tensor];
    uint64_t rows = rows_of(layer, found->tensor);
    uint64_t copies = found->expert ? 1 : tensor->copies;
    if (same_shape(entry, rows, tensor->columns, copies) || tally->shapes++ > 0)
        return;
    yoke_text_t shape = {0};
    for (size_t i = 0; i < entry->rank; i++)
        yoke_text_printf(&shape, "%s%llu", i == 0 ? "" : ", ",
                         (unsigned long long)entry->shape[i]);
    note(tally, "%.200s is [%s] in the weights, expected [%llu, %llu]", entry->name,
         yoke_text_get(&shape), (unsigned long long)rows,
         (unsigned long long)(tensor->columns * copies));
    yoke_text_free(&shape);
}

static const char *file_dtype(const char *ours)
{
    static const char *const pairs[][2] = {{"bf16", "BF16"},   {"fp16", "F16"},
                                           {"fp32", "F32"},    {"fp64", "F64"},
                                           {"fp8", "F8_E4M3"}, {"int8", "I8"}};
    for (size_t i = 0; ours != NULL && i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(ours, pairs[i][0]) == 0)
            return pairs[i][1];
    return NULL;
}

static void check_header(tally_t *tally, const yoke_safetensors_t *header, bool count)
{
    const char *dtype = file_dtype(tally->model->dtype);
    for (size_t i = 0; i < header->count; i++) {
        const yoke_safetensors_entry_t *entry = &header->entries[i];
        found_t found = find(tally, entry->name);
        if (count)
            count_name(tally, entry->name, &found);
        if (found.match != MATCH_TENSOR || tally->quantised != 0)
            continue;
        check_shape(tally, entry, &found);
        const yoke_tensor_t *tensor =
            &tally->model->layers[found.layer].tensors[found.tensor];
        if (dtype != NULL && tensor->columns > 1 && strcmp(dtype, entry->dtype) != 0 &&
            tally->dtypes++ == 0)
            note(tally, "%.200s is stored as %s, the config says %s", entry->name,
                 entry->dtype, tally->model->dtype);
    }
}

/* A tensor whose parts are one in the file is seen by its first part. */
static bool later_part(const yoke_layer_t *layer, size_t tensor)
{
    const char *name = layer->tensors[tensor].name;
    size_t size = strcspn(name, "[");
    if (name[size] == '\0' || tensor == 0)
        return false;
    const char *before = layer->tensors[tensor - 1].name;
    return strcspn(before, "[") == size && strncmp(before, name, size) == 0;
}

static void check_missing(tally_t *tally)
{
    const yoke_model_t *model = tally->model;
    uint64_t missing = 0;
    yoke_text_t first = {0};
    size_t number = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const yoke_layer_t *layer = &model->layers[i];
        bool inner =
            layer->kind == YOKE_LAYER_DECODER || layer->kind == YOKE_LAYER_PREDICTION;
        for (size_t k = 0; k < layer->tensor_count; k++) {
            const yoke_tensor_t *tensor = &layer->tensors[k];
            uint64_t wanted = strchr(tensor->name, '*') != NULL ? tensor->copies : 1;
            uint64_t seen = tally->seen[tally->first[i] + k];
            if (tensor->tied || later_part(layer, k) || seen >= wanted)
                continue;
            if (missing == 0 && inner)
                yoke_text_printf(&first, "%s%zu.%s", tally->arch->prefix, number,
                                 tensor->name);
            else if (missing == 0)
                yoke_text_add(&first, tensor->name);
            missing += wanted - seen;
        }
        number += inner;
    }
    if (missing > 0 && !tally->packed)
        note(tally, "%llu tensor%s of the model %s missing from the weights, first %s",
             (unsigned long long)missing, missing == 1 ? "" : "s",
             missing == 1 ? "is" : "are", yoke_text_get(&first));
    yoke_text_free(&first);
}

static unsigned element_size(const char *dtype)
{
    static const struct {
        const char *name;
        unsigned size;
    } sizes[] = {{"bf16", 2}, {"fp16", 2}, {"fp32", 4}, {"fp64", 8}};
    for (size_t i = 0; dtype != NULL && i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(dtype, sizes[i].name) == 0)
            return sizes[i].size;
    return 0;
}

/* Tied matrices that the weights hold all the same are bytes too. */
static uint64_t expected_bytes(const tally_t *tally, unsigned size)
{
    const yoke_model_t *model = tally->model;
    uint64_t elements = model->parameters_total;
    for (size_t i = 0; i < model->layer_count; i++)
        for (size_t k = 0; k < model->layers[i].tensor_count; k++)
            if (model->layers[i].tensors[k].tied && tally->seen[tally->first[i] + k] > 0)
                elements += yoke_tensor_elements(&model->layers[i].tensors[k]);
    return elements * size;
}

static void check_bytes(tally_t *tally, const yoke_safetensors_t *index)
{
    unsigned size = element_size(tally->model->dtype);
    if (!index->has_total || size == 0 || tally->prediction || tally->quantised != 0 ||
        (tally->other && tally->model->parameters_other == 0))
        return;
    uint64_t expected = expected_bytes(tally, size);
    if (index->total != expected)
        note(tally, "the index says %llu bytes, expected %llu",
             (unsigned long long)index->total, (unsigned long long)expected);
}

static void check_index(tally_t *tally, const yoke_safetensors_t *index)
{
    if (index->count == 0) {
        note(tally, "the index lists no tensors: nothing to compare with");
        return;
    }
    for (size_t i = 0; i < index->count; i++) {
        found_t found = find(tally, index->entries[i].name);
        count_name(tally, index->entries[i].name, &found);
    }
    check_missing(tally);
    check_bytes(tally, index);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Headers of the files that the index names, as far as they are there. */
static yoke_status_t check_files(tally_t *tally, const yoke_safetensors_t *index,
                                 const char *folder)
{
    yoke_status_t status = YOKE_OK;
    const char **files = calloc(index->count + 1, sizeof *files);
    if (files == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < index->count; i++)
        files[i] = index->entries[i].file;
    if (index->count > 0)
        qsort(files, index->count, sizeof *files, compare_strings);
    for (size_t i = 0; status == YOKE_OK && i < index->count; i++) {
        if (i > 0 && strcmp(files[i], files[i - 1]) == 0)
            continue;
        char *path = yoke_format("%s/%s", folder, files[i]);
        yoke_safetensors_t header = {0};
        if (path == NULL)
            status = yoke_fail_memory();
        else if (yoke_file_exists(path))
            status = yoke_safetensors_read_header(path, &header);
        if (status == YOKE_OK)
            check_header(tally, &header, false);
        yoke_safetensors_free(&header);
        free(path);
    }
    free(files);
    return status;
}

static yoke_status_t start(tally_t *tally)
{
    const yoke_model_t *model = tally->model;
    size_t total = 0;
    tally->first = calloc(model->layer_count, sizeof *tally->first);
    if (tally->first == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < model->layer_count; i++) {
        tally->first[i] = total;
        total += model->layers[i].tensor_count;
        tally->decoders += model->layers[i].kind == YOKE_LAYER_DECODER;
    }
    tally->seen = calloc(total + 1, sizeof *tally->seen);
    return tally->seen == NULL ? yoke_fail_memory() : YOKE_OK;
}

static yoke_status_t compare_index(tally_t *tally, const char *path, const char *folder)
{
    yoke_safetensors_t index = {0};
    yoke_status_t status = yoke_safetensors_read_index(path, &index);
    if (status != YOKE_OK)
        return status;
    check_index(tally, &index);
    status = check_files(tally, &index, folder);
    yoke_safetensors_free(&index);
    return status;
}

static yoke_status_t compare_file(tally_t *tally, const char *path)
{
    yoke_safetensors_t header = {0};
    yoke_status_t status = yoke_safetensors_read_header(path, &header);
    if (status != YOKE_OK)
        return status;
    check_header(tally, &header, true);
    check_missing(tally);
    yoke_safetensors_free(&header);
    return YOKE_OK;
}

static yoke_status_t compare_one(tally_t *tally, const char *path, const char *folder)
{
    yoke_status_t status = start(tally);
    if (status == YOKE_OK)
        status = ends(path, ".safetensors") ? compare_file(tally, path)
                                            : compare_index(tally, path, folder);
    free(tally->first);
    free(tally->seen);
    return status == YOKE_OK ? tally->status : status;
}

yoke_status_t yoke_model_compare_weights(yoke_model_t *model, const arch_t *arch,
                                         const char *folder, const char *index)
{
    static const char *const names[] = {"model.safetensors.index.json",
                                        "model.safetensors"};
    tally_t tally = {.model = model, .arch = arch};
    if (index != NULL)
        return compare_one(&tally, index, folder);
    for (size_t i = 0; i < 2; i++) {
        char *path = yoke_format("%s/%s", folder, names[i]);
        if (path == NULL)
            return yoke_fail_memory();
        bool there = yoke_file_exists(path);
        yoke_status_t status = there ? compare_one(&tally, path, folder) : YOKE_OK;
        free(path);
        if (there)
            return status;
    }
    return YOKE_OK;
}
