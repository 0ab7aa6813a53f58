/* SPDX-License-Identifier: Apache-2.0 */
/* Reading safetensors headers and indexes. */
#include "costmodel/model_safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

static const struct {
    const char *name;
    unsigned bits;
} dtypes[] = {{"BOOL", 8},    {"U8", 8},   {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8},
              {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16},
              {"U16", 16},    {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},
              {"F32", 32},    {"I64", 64}, {"U64", 64},    {"F64", 64},    {"C64", 64}};

void yoke_safetensors_free(yoke_safetensors_t *tensors)
{
    for (size_t i = 0; i < tensors->count; i++) {
        free(tensors->entries[i].name);
        free(tensors->entries[i].file);
    }
    free(tensors->entries);
    *tensors = (yoke_safetensors_t){0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const yoke_safetensors_entry_t *)a)->name,
                  ((const yoke_safetensors_entry_t *)b)->name);
}

static int by_begin(const void *a, const void *b)
{
    const yoke_safetensors_entry_t *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return by_name(a, b);
}

static yoke_status_t read_shape(const yoke_cursor_t *at, yoke_safetensors_entry_t *entry)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(at, "shape", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    if (yoke_cursor_count(&list) > YOKE_SAFETENSORS_RANK)
        return yoke_cursor_fail(&list, NULL, "has %zu dimensions; at most %d are read",
                                yoke_cursor_count(&list), YOKE_SAFETENSORS_RANK);
    entry->rank = yoke_cursor_count(&list);
    entry->elements = 1;
    for (size_t i = 0; i < entry->rank; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_integer(item.value) || json_integer_value(item.value) < 0)
            return yoke_cursor_fail(&item, NULL, "must be a whole number of at least 0");
        entry->shape[i] = (uint64_t)json_integer_value(item.value);
        if (__builtin_mul_overflow(entry->elements, entry->shape[i], &entry->elements) ||
            entry->elements > (uint64_t)1 << 56)
            return yoke_cursor_fail(&list, NULL, "the elements pass 2^56");
    }
    return YOKE_OK;
}

static yoke_status_t read_dtype(const yoke_cursor_t *at, yoke_safetensors_entry_t *entry)
{
    const char *text = NULL;
    yoke_status_t status = yoke_need_string(at, "dtype", &text);
    for (size_t i = 0; status == YOKE_OK && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, text) == 0) {
            entry->dtype = dtypes[i].name;
            entry->bits = dtypes[i].bits;
            return YOKE_OK;
        }
    return status == YOKE_OK
               ? yoke_cursor_fail(at, "dtype", "\"%.40s\" is no known data type", text)
               : status;
}

static yoke_status_t read_offsets(const yoke_cursor_t *at, uint64_t data_size,
                                  yoke_safetensors_entry_t *entry)
{
    yoke_cursor_t list;
    uint64_t *const places[] = {&entry->begin, &entry->end};
    yoke_status_t status = yoke_cursor_need(at, "data_offsets", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    if (yoke_cursor_count(&list) != 2)
        return yoke_cursor_fail(&list, NULL, "must have 2 numbers, has %zu",
                                yoke_cursor_count(&list));
    for (size_t i = 0; i < 2; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_integer(item.value) || json_integer_value(item.value) < 0)
            return yoke_cursor_fail(&item, NULL, "must be a whole number of at least 0");
        *places[i] = (uint64_t)json_integer_value(item.value);
    }
    if (entry->begin > entry->end || entry->end > data_size)
        return yoke_cursor_fail(
            &list, NULL, "%llu to %llu is not within the %llu bytes of data",
            (unsigned long long)entry->begin, (unsigned long long)entry->end,
            (unsigned long long)data_size);
    uint64_t bytes = (entry->elements * entry->bits + 7) / 8;
    if (entry->end - entry->begin != bytes)
        return yoke_cursor_fail(&list, NULL, "has %llu bytes, shape and dtype make %llu",
                                (unsigned long long)(entry->end - entry->begin),
                                (unsigned long long)bytes);
    return YOKE_OK;
}

static yoke_status_t check_overlap(const char *name, yoke_safetensors_t *header)
{
    qsort(header->entries, header->count, sizeof *header->entries, by_begin);
    for (size_t i = 1; i < header->count; i++)
        if (header->entries[i].begin < header->entries[i - 1].end)
            return yoke_fail(YOKE_ERR_BAD_INPUT,
                             "%s: tensors \"%.80s\" and \"%.80s\" overlap at byte %llu",
                             name, header->entries[i - 1].name, header->entries[i].name,
                             (unsigned long long)header->entries[i].begin);
    return YOKE_OK;
}

static yoke_status_t make_room(const yoke_cursor_t *object, yoke_safetensors_t *tensors)
{
    yoke_status_t status = yoke_cursor_object(object);
    if (status != YOKE_OK)
        return status;
    size_t most = json_object_size(object->value);
    tensors->entries = calloc(most + 1, sizeof *tensors->entries);
    return tensors->entries == NULL ? yoke_fail_memory() : YOKE_OK;
}

static yoke_status_t read_entries(const yoke_cursor_t *top, uint64_t data_size,
                                  yoke_safetensors_t *header)
{
    const char *key;
    json_t *value;
    yoke_status_t status = make_room(top, header);
    if (status != YOKE_OK)
        return status;
    json_object_foreach((json_t *)top->value, key, value)
    {
        yoke_cursor_t at = {.file = top->file, .value = value, .parent = top, .key = key};
        if (strcmp(key, "__metadata__") == 0)
            continue;
        yoke_safetensors_entry_t *entry = &header->entries[header->count++];
        entry->name = yoke_strdup(key);
        if (entry->name == NULL)
            return yoke_fail_memory();
        status = read_dtype(&at, entry);
        if (status == YOKE_OK)
            status = read_shape(&at, entry);
        if (status == YOKE_OK)
            status = read_offsets(&at, data_size, entry);
        if (status != YOKE_OK)
            return status;
        header->total += entry->end - entry->begin;
    }
    return check_overlap(top->file, header);
}

static uint64_t little_endian(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

/* Length of the JSON after the first 8 bytes. */
static yoke_status_t header_length(const char *name, const void *data, size_t size,
                                   uint64_t file_size, uint64_t *out_length)
{
    if (size < 8 || file_size < 8)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: not a safetensors file: shorter than 8 bytes", name);
    uint64_t length = little_endian(data);
    if (length > YOKE_SAFETENSORS_HEADER_LIMIT)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: not a safetensors file: a header of %llu bytes passes the "
                         "limit of 100 MB",
                         name, (unsigned long long)length);
    if (length < 2 || length > file_size - 8)
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "%s: a header of %llu bytes is not within the file of %llu bytes; "
            "is it cut short?",
            name, (unsigned long long)length, (unsigned long long)file_size);
    *out_length = length;
    return YOKE_OK;
}

yoke_status_t yoke_safetensors_parse_header(const char *name, const void *data,
                                            size_t size, uint64_t file_size,
                                            yoke_safetensors_t *out_header)
{
    uint64_t length = 0;
    yoke_json_t json = {0};
    yoke_safetensors_t header = {0};
    yoke_status_t status = header_length(name, data, size, file_size, &length);
    if (status != YOKE_OK)
        return status;
    if (length > size - 8)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: the header of %llu bytes was not read whole", name,
                         (unsigned long long)length);
    status = yoke_json_parse(name, (const char *)data + 8, (size_t)length, &json);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t top = yoke_json_cursor(&json);
    status = read_entries(&top, file_size - 8 - length, &header);
    if (status == YOKE_OK && header.count > 0)
        qsort(header.entries, header.count, sizeof *header.entries, by_name);
    if (status == YOKE_OK)
        *out_header = header;
    else
        yoke_safetensors_free(&header);
    yoke_json_free(&json);
    return status;
}

/* Reads exactly `size` bytes; false on a short file or an error. */
static bool read_all(int file, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(file, (char *)data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static yoke_status_t read_open(const char *path, int file, yoke_safetensors_t *out_header)
{
    struct stat info;
    unsigned char first[8];
    uint64_t length = 0;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: not a regular file", path);
    uint64_t file_size = (uint64_t)info.st_size;
    if (file_size < 8 || !read_all(file, first, sizeof first))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: not a safetensors file: shorter than 8 bytes", path);
    yoke_status_t status = header_length(path, first, sizeof first, file_size, &length);
    if (status != YOKE_OK)
        return status;
    char *data = malloc((size_t)length + 8);
    if (data == NULL)
        return yoke_fail_memory();
    memcpy(data, first, sizeof first);
    if (read_all(file, data + 8, (size_t)length))
        status = yoke_safetensors_parse_header(path, data, (size_t)length + 8, file_size,
                                               out_header);
    else
        status =
            yoke_fail(YOKE_ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
    free(data);
    return status;
}

yoke_status_t yoke_safetensors_read_header(const char *path,
                                           yoke_safetensors_t *out_header)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return yoke_fail(errno == ENOENT ? YOKE_ERR_NOT_FOUND : YOKE_ERR_SYSTEM,
                         "%s: cannot be opened: %s", path, strerror(errno));
    yoke_status_t status = read_open(path, file, out_header);
    close(file);
    return status;
}

/* Only names that stay in the index's folder, or below it. */
static bool stays_inside(const char *file)
{
    if (*file == '/' || *file == '\0' || strchr(file, '\\') != NULL)
        return false;
    while (true) {
        size_t size = strcspn(file, "/");
        if (size == 2 && file[0] == '.' && file[1] == '.')
            return false;
        if (file[size] == '\0')
            return true;
        file += size + 1;
    }
}

static yoke_status_t read_map(const yoke_cursor_t *map, yoke_safetensors_t *index)
{
    const char *key;
    json_t *value;
    yoke_status_t status = make_room(map, index);
    if (status != YOKE_OK)
        return status;
    json_object_foreach((json_t *)map->value, key, value)
    {
        const char *file = json_string_value(value);
        if (file == NULL)
            return yoke_cursor_fail(map, key, "must be the name of a file");
        if (!stays_inside(file))
            return yoke_cursor_fail(
                map, key,
                "the path \"%.100s\" leaves the directory of the index; "
                "refused",
                file);
        yoke_safetensors_entry_t *entry = &index->entries[index->count++];
        entry->name = yoke_strdup(key);
        entry->file = yoke_strdup(file);
        if (entry->name == NULL || entry->file == NULL)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

static yoke_status_t read_index(const yoke_cursor_t *top, yoke_safetensors_t *index)
{
    yoke_cursor_t metadata, map;
    uint64_t total = UINT64_MAX;
    yoke_status_t status = yoke_cursor_object(top);
    if (status == YOKE_OK && yoke_cursor_member(top, "metadata", &metadata))
        status = yoke_opt_u64(&metadata, "total_size", 0, UINT64_MAX - 1, &total);
    if (status == YOKE_OK)
        status = yoke_cursor_need(top, "weight_map", &map);
    if (status != YOKE_OK)
        return status;
    index->has_total = total != UINT64_MAX;
    index->total = index->has_total ? total : 0;
    return read_map(&map, index);
}

static yoke_status_t index_from_json(const yoke_json_t *json,
                                     yoke_safetensors_t *out_index)
{
    yoke_safetensors_t index = {0};
    yoke_cursor_t top = yoke_json_cursor(json);
    yoke_status_t status = read_index(&top, &index);
    if (status != YOKE_OK) {
        yoke_safetensors_free(&index);
        return status;
    }
    if (index.count > 0)
        qsort(index.entries, index.count, sizeof *index.entries, by_name);
    *out_index = index;
    return YOKE_OK;
}

yoke_status_t yoke_safetensors_parse_index(const char *name, const char *data,
                                           size_t size, yoke_safetensors_t *out_index)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    if (status != YOKE_OK)
        return status;
    status = index_from_json(&json, out_index);
    yoke_json_free(&json);
    return status;
}

yoke_status_t yoke_safetensors_read_index(const char *path, yoke_safetensors_t *out_index)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_read(path, 0, &json);
    if (status != YOKE_OK)
        return status;
    status = index_from_json(&json, out_index);
    yoke_json_free(&json);
    return status;
}
