/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors over a JSON document: members by type, and failures that name the place. */
#include "base/json.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

yoke_cursor_t yoke_json_cursor(const yoke_json_t *json)
{
    return (yoke_cursor_t){.file = json->name, .value = json->root};
}

static void add_key(yoke_text_t *out, const char *key)
{
    yoke_text_add(out, "/");
    for (; *key != '\0'; key++)
        if (*key == '~')
            yoke_text_add(out, "~0");
        else if (*key == '/')
            yoke_text_add(out, "~1");
        else
            yoke_text_add_bytes(out, key, 1);
}

/* JSON pointer (RFC 6901); nothing at the root. */
static void add_pointer(yoke_text_t *out, const yoke_cursor_t *at)
{
    if (at->parent == NULL)
        return;
    add_pointer(out, at->parent);
    if (at->key != NULL)
        add_key(out, at->key);
    else
        yoke_text_printf(out, "/%zu", at->index);
}

yoke_status_t yoke_cursor_fail(const yoke_cursor_t *at, const char *key,
                               const char *format, ...)
{
    yoke_text_t text = {0};
    yoke_text_add(&text, at->file == NULL ? "document" : at->file);
    yoke_text_add(&text, ": ");
    size_t before = text.size;
    add_pointer(&text, at);
    if (key != NULL)
        add_key(&text, key);
    if (text.size > before)
        yoke_text_add(&text, ": ");
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    yoke_status_t status =
        text.failed ? yoke_fail_memory() : yoke_fail(YOKE_ERR_BAD_INPUT, "%s", text.data);
    yoke_text_free(&text);
    return status;
}

static bool is_absent(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

/* What was found instead, short enough for a message. */
static const char *describe(const json_t *value, char buffer[64])
{
    if (is_absent(value))
        return "null";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        if (json_string_length(value) > 40)
            yoke_snprintf(buffer, 64, "a string");
        else
            yoke_snprintf(buffer, 64, "\"%s\"", json_string_value(value));
        return buffer;
    case JSON_INTEGER:
        yoke_snprintf(buffer, 64, "%lld", (long long)json_integer_value(value));
        return buffer;
    case JSON_REAL:
        yoke_snprintf(buffer, 64, "%.12g", json_real_value(value));
        return buffer;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

yoke_status_t yoke_cursor_object(const yoke_cursor_t *at)
{
    char buffer[64];
    if (json_is_object(at->value))
        return YOKE_OK;
    return yoke_cursor_fail(at, NULL, "must be an object, found %s",
                            describe(at->value, buffer));
}

yoke_status_t yoke_cursor_array(const yoke_cursor_t *at)
{
    char buffer[64];
    if (json_is_array(at->value))
        return YOKE_OK;
    return yoke_cursor_fail(at, NULL, "must be a list, found %s",
                            describe(at->value, buffer));
}

size_t yoke_cursor_count(const yoke_cursor_t *at)
{
    return json_array_size(at->value);
}

yoke_cursor_t yoke_cursor_item(const yoke_cursor_t *at, size_t index)
{
    return (yoke_cursor_t){.file = at->file,
                           .value = json_array_get(at->value, index),
                           .parent = at,
                           .index = index};
}

static yoke_cursor_t child_of(const yoke_cursor_t *at, const char *key)
{
    return (yoke_cursor_t){.file = at->file,
                           .value = json_object_get(at->value, key),
                           .parent = at,
                           .key = key};
}

bool yoke_cursor_member(const yoke_cursor_t *at, const char *key,
                        yoke_cursor_t *out_child)
{
    yoke_cursor_t child = child_of(at, key);
    if (is_absent(child.value))
        return false;
    *out_child = child;
    return true;
}

/* *out_child.value is NULL where an optional member is not there. */
static yoke_status_t find(const yoke_cursor_t *at, const char *key, bool needed,
                          yoke_cursor_t *out_child)
{
    yoke_status_t status = yoke_cursor_object(at);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t child = child_of(at, key);
    if (needed && child.value == NULL)
        return yoke_cursor_fail(at, NULL, "member \"%s\" is missing", key);
    if (needed && json_is_null(child.value))
        return yoke_cursor_fail(at, key, "must not be null");
    if (is_absent(child.value))
        child.value = NULL;
    *out_child = child;
    return YOKE_OK;
}

yoke_status_t yoke_cursor_need(const yoke_cursor_t *at, const char *key,
                               yoke_cursor_t *out_child)
{
    return find(at, key, true, out_child);
}

static bool is_allowed(const char *key, const char *const *allowed)
{
    if (strncmp(key, "x-", 2) == 0)
        return true;
    for (; *allowed != NULL; allowed++)
        if (strcmp(key, *allowed) == 0)
            return true;
    return false;
}

static yoke_status_t fail_unknown(const yoke_cursor_t *at, const char *key,
                                  const char *const *allowed)
{
    const char *nearest = yoke_nearest(key, allowed);
    if (nearest != NULL)
        return yoke_cursor_fail(at, NULL, "unknown member \"%s\"; did you mean \"%s\"?",
                                key, nearest);
    yoke_text_t known = {0};
    for (; *allowed != NULL; allowed++)
        yoke_text_printf(&known, "%s%s", known.size == 0 ? "" : ", ", *allowed);
    yoke_status_t status = yoke_cursor_fail(
        at, NULL, "unknown member \"%s\"; known are: %s", key, yoke_text_get(&known));
    yoke_text_free(&known);
    return status;
}

yoke_status_t yoke_cursor_only(const yoke_cursor_t *at, const char *const *allowed)
{
    yoke_status_t status = yoke_cursor_object(at);
    if (status != YOKE_OK)
        return status;
    const char *key;
    json_t *value;
    /* jansson iterates without a const form; nothing is changed. */
    json_object_foreach((json_t *)at->value, key, value)
    {
        if (!is_allowed(key, allowed))
            return fail_unknown(at, key, allowed);
    }
    return YOKE_OK;
}

static yoke_status_t get_string(const yoke_cursor_t *at, const char *key, bool needed,
                                const char **out)
{
    yoke_cursor_t child = {0};
    char buffer[64];
    yoke_status_t status = find(at, key, needed, &child);
    if (status != YOKE_OK || child.value == NULL)
        return status;
    if (!json_is_string(child.value))
        return yoke_cursor_fail(at, key, "must be a string, found %s",
                                describe(child.value, buffer));
    *out = json_string_value(child.value);
    return YOKE_OK;
}

yoke_status_t yoke_need_string(const yoke_cursor_t *at, const char *key, const char **out)
{
    return get_string(at, key, true, out);
}

yoke_status_t yoke_opt_string(const yoke_cursor_t *at, const char *key, const char **out)
{
    return get_string(at, key, false, out);
}

static bool whole_number(const json_t *value, uint64_t *out)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return true;
    }
    double real = json_real_value(value);
    if (!json_is_real(value) || real < 0 || real >= 0x1p64 || trunc(real) != real)
        return false;
    *out = (uint64_t)real;
    return true;
}

static yoke_status_t fail_u64(const yoke_cursor_t *at, const char *key,
                              const json_t *value, uint64_t min, uint64_t max)
{
    char buffer[64];
    const char *found = describe(value, buffer);
    if (max == UINT64_MAX)
        return yoke_cursor_fail(at, key,
                                "must be a whole number of at least %llu, found %s",
                                (unsigned long long)min, found);
    return yoke_cursor_fail(at, key, "must be a whole number from %llu to %llu, found %s",
                            (unsigned long long)min, (unsigned long long)max, found);
}

static yoke_status_t get_u64(const yoke_cursor_t *at, const char *key, bool needed,
                             uint64_t min, uint64_t max, uint64_t *out)
{
    yoke_cursor_t child = {0};
    uint64_t number = 0;
    yoke_status_t status = find(at, key, needed, &child);
    if (status != YOKE_OK || child.value == NULL)
        return status;
    if (!whole_number(child.value, &number) || number < min || number > max)
        return fail_u64(at, key, child.value, min, max);
    *out = number;
    return YOKE_OK;
}

yoke_status_t yoke_need_u64(const yoke_cursor_t *at, const char *key, uint64_t min,
                            uint64_t max, uint64_t *out)
{
    return get_u64(at, key, true, min, max, out);
}

yoke_status_t yoke_opt_u64(const yoke_cursor_t *at, const char *key, uint64_t min,
                           uint64_t max, uint64_t *out)
{
    return get_u64(at, key, false, min, max, out);
}

static yoke_status_t fail_double(const yoke_cursor_t *at, const char *key,
                                 const json_t *value, double min, double max)
{
    char buffer[64];
    const char *found = describe(value, buffer);
    bool has_min = min > -DBL_MAX;
    bool has_max = max < DBL_MAX;
    if (has_min && has_max)
        return yoke_cursor_fail(at, key, "must be a number from %g to %g, found %s", min,
                                max, found);
    if (has_min)
        return yoke_cursor_fail(at, key, "must be a number of at least %g, found %s", min,
                                found);
    if (has_max)
        return yoke_cursor_fail(at, key, "must be a number of at most %g, found %s", max,
                                found);
    return yoke_cursor_fail(at, key, "must be a number, found %s", found);
}

static yoke_status_t get_double(const yoke_cursor_t *at, const char *key, bool needed,
                                double min, double max, double *out)
{
    yoke_cursor_t child = {0};
    yoke_status_t status = find(at, key, needed, &child);
    if (status != YOKE_OK || child.value == NULL)
        return status;
    double number = json_number_value(child.value);
    if (!json_is_number(child.value) || number < min || number > max)
        return fail_double(at, key, child.value, min, max);
    *out = number;
    return YOKE_OK;
}

yoke_status_t yoke_need_double(const yoke_cursor_t *at, const char *key, double min,
                               double max, double *out)
{
    return get_double(at, key, true, min, max, out);
}

yoke_status_t yoke_opt_double(const yoke_cursor_t *at, const char *key, double min,
                              double max, double *out)
{
    return get_double(at, key, false, min, max, out);
}

static yoke_status_t get_bool(const yoke_cursor_t *at, const char *key, bool needed,
                              bool *out)
{
    yoke_cursor_t child = {0};
    char buffer[64];
    yoke_status_t status = find(at, key, needed, &child);
    if (status != YOKE_OK || child.value == NULL)
        return status;
    if (!json_is_boolean(child.value))
        return yoke_cursor_fail(at, key, "must be true or false, found %s",
                                describe(child.value, buffer));
    *out = json_is_true(child.value);
    return YOKE_OK;
}

yoke_status_t yoke_need_bool(const yoke_cursor_t *at, const char *key, bool *out)
{
    return get_bool(at, key, true, out);
}

yoke_status_t yoke_opt_bool(const yoke_cursor_t *at, const char *key, bool *out)
{
    return get_bool(at, key, false, out);
}
