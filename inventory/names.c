/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the enumerations of the inventory. */
#include "inventory/document.h"

#include <stdio.h>
#include <string.h>

static const char *const dtype_names[YOKE_DTYPE_COUNT] = {"fp64", "fp32", "tf32", "fp16",
                                                          "bf16", "fp8",  "int8"};
static const unsigned dtype_sizes[YOKE_DTYPE_COUNT] = {8, 4, 4, 2, 2, 1, 1};
static const char *const source_names[] = {"unknown",  "measured", "runtime", "sysfs",
                                           "imported", "catalog",  "user"};
static const char *const kind_names[] = {"gpu", "npu", "cpu", "emulator", "other"};

/* Index of a name in a table, or `count`. */
static size_t find(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *yoke_dtype_name(yoke_dtype_t dtype)
{
    return (size_t)dtype < COUNT(dtype_names) ? dtype_names[dtype] : "unknown";
}

bool yoke_dtype_parse(const char *name, yoke_dtype_t *out_dtype)
{
    size_t i = find(name, dtype_names, COUNT(dtype_names));
    if (i == COUNT(dtype_names))
        return false;
    *out_dtype = (yoke_dtype_t)i;
    return true;
}

unsigned yoke_dtype_size(yoke_dtype_t dtype)
{
    return (size_t)dtype < COUNT(dtype_sizes) ? dtype_sizes[dtype] : 0;
}

const char *yoke_source_name(yoke_source_t source)
{
    return (size_t)source < COUNT(source_names) ? source_names[source] : "unknown";
}

bool yoke_source_parse(const char *name, yoke_source_t *out_source)
{
    size_t i = find(name, source_names, COUNT(source_names));
    if (i == COUNT(source_names))
        return false;
    *out_source = (yoke_source_t)i;
    return true;
}

const char *yoke_device_kind_name(yoke_device_kind_t kind)
{
    return (size_t)kind < COUNT(kind_names) ? kind_names[kind] : "other";
}

bool yoke_device_kind_parse(const char *name, yoke_device_kind_t *out_kind)
{
    size_t i = find(name, kind_names, COUNT(kind_names));
    if (i == COUNT(kind_names))
        return false;
    *out_kind = (yoke_device_kind_t)i;
    return true;
}

static const struct {
    unsigned bit;
    const char *name;
} marks_table[] = {
    {YOKE_MARK_NOT_REREAD, "not re-read"},
    {YOKE_MARK_DISPUTED, "disputed"},
    {YOKE_MARK_LOWER_BOUND, "lower bound"},
    {YOKE_MARK_DEFAULT, "default"},
};

json_t *yoke_marks_to_json(unsigned marks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT(marks_table); i++)
        if ((marks & marks_table[i].bit) != 0)
            json_array_append_new(list, json_string(marks_table[i].name));
    return list;
}

static yoke_status_t add_mark(const yoke_cursor_t *item, unsigned *marks)
{
    for (size_t i = 0; i < COUNT(marks_table); i++) {
        if (json_is_string(item->value) &&
            strcmp(json_string_value(item->value), marks_table[i].name) == 0) {
            *marks |= marks_table[i].bit;
            return YOKE_OK;
        }
    }
    return yoke_cursor_fail(item, NULL,
                            "must be one of \"not re-read\", \"disputed\", "
                            "\"lower bound\", \"default\"");
}

yoke_status_t yoke_marks_from_json(const yoke_cursor_t *at, const char *key,
                                   unsigned *out_marks)
{
    yoke_cursor_t list = {0};
    unsigned marks = 0;
    if (!yoke_cursor_member(at, key, &list)) {
        *out_marks = 0;
        return YOKE_OK;
    }
    yoke_status_t status = yoke_cursor_array(&list);
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        status = add_mark(&item, &marks);
    }
    if (status == YOKE_OK)
        *out_marks = marks;
    return status;
}

const char *yoke_marks_text(unsigned marks, char buffer[64])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < COUNT(marks_table); i++) {
        if ((marks & marks_table[i].bit) == 0)
            continue;
        int written = snprintf(buffer + used, 64 - used, "%s%s", used > 0 ? ", " : "",
                               marks_table[i].name);
        used += written > 0 ? (size_t)written : 0;
    }
    return buffer;
}
