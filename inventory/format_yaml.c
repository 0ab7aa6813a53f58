/* SPDX-License-Identifier: Apache-2.0 */
/* --format yaml: the JSON document in block style. Strings are always quoted and reals
 * always have a point, so that readers of YAML 1.1 and 1.2 get the values that JSON has.
 */
#include "inventory/format.h"

#include <string.h>

#include "base/error.h"
#include "inventory/document.h"

/* One UTF-8 character; jansson holds valid UTF-8 only. */
static uint32_t next_character(const unsigned char **at)
{
    unsigned char first = *(*at)++;
    if (first < 0x80)
        return first;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    uint32_t code = first & (0x3fu >> more);
    while (more-- > 0)
        code = code << 6 | (*(*at)++ & 0x3fu);
    return code;
}

static void add_string(yoke_text_t *out, const char *string)
{
    yoke_text_add(out, "\"");
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0';) {
        uint32_t code = next_character(&at);
        if (code == '"' || code == '\\')
            yoke_text_printf(out, "\\%c", (char)code);
        else if (code >= ' ' && code < 0x7f)
            yoke_text_printf(out, "%c", (char)code);
        else if (code <= 0xffff)
            yoke_text_printf(out, "\\u%04x", (unsigned)code);
        else
            yoke_text_printf(out, "\\U%08x", (unsigned)code);
    }
    yoke_text_add(out, "\"");
}

static void add_key(yoke_text_t *out, const char *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    static const char *const words[] = {"y",  "n",   "yes",  "no",    "true",
                                        "on", "off", "null", "false", NULL};
    bool plain = *key >= 'a' && *key <= 'z' && strspn(key, letters) == strlen(key);
    for (size_t i = 0; words[i] != NULL; i++)
        plain = plain && strcmp(words[i], key) != 0;
    if (plain)
        yoke_text_add(out, key);
    else
        add_string(out, key);
    yoke_text_add(out, ":");
}

/* "1e-06" is a string for a YAML 1.1 reader; "1.0e-06" is a number for all. */
static void add_real(yoke_text_t *out, double value)
{
    char text[40];
    yoke_snprintf(text, sizeof text, "%.12g", value);
    size_t mantissa = strcspn(text, "e");
    yoke_text_add_bytes(out, text, mantissa);
    if (memchr(text, '.', mantissa) == NULL)
        yoke_text_add(out, ".0");
    yoke_text_add(out, text + mantissa);
}

static void add_scalar(yoke_text_t *out, const json_t *value)
{
    if (json_is_string(value))
        add_string(out, json_string_value(value));
    else if (json_is_integer(value))
        yoke_text_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        add_real(out, json_real_value(value));
    else if (json_is_boolean(value))
        yoke_text_add(out, json_is_true(value) ? "true" : "false");
    else
        yoke_text_add(out, "null");
}

static void add_value(yoke_text_t *out, const json_t *value, int indent, bool in_list);

static void add_object(yoke_text_t *out, const json_t *object, int indent, bool in_list)
{
    const char *key;
    json_t *member;
    bool first = in_list;
    json_object_foreach((json_t *)(size_t)object, key, member)
    {
        if (!first)
            yoke_text_printf(out, "%*s", indent, "");
        first = false;
        add_key(out, key);
        add_value(out, member, indent + 2, false);
    }
}

static void add_array(yoke_text_t *out, const json_t *array, int indent)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        yoke_text_printf(out, "%*s-", indent, "");
        add_value(out, json_array_get(array, i), indent + 2, true);
    }
}

/* After "key:" or "-": on the same line what fits there, else on the next lines. */
static void add_value(yoke_text_t *out, const json_t *value, int indent, bool in_list)
{
    bool object = json_is_object(value) && json_object_size(value) > 0;
    bool array = json_is_array(value) && json_array_size(value) > 0;
    if (object && in_list) {
        yoke_text_add(out, " ");
        add_object(out, value, indent, true);
    } else if (object || array) {
        yoke_text_add(out, "\n");
        if (object)
            add_object(out, value, indent, false);
        else
            add_array(out, value, indent);
    } else {
        yoke_text_add(out, " ");
        if (json_is_object(value))
            yoke_text_add(out, "{}");
        else if (json_is_array(value))
            yoke_text_add(out, "[]");
        else
            add_scalar(out, value);
        yoke_text_add(out, "\n");
    }
}

yoke_status_t yoke_format_yaml(const yoke_inventory_t *inventory, size_t width,
                               yoke_text_t *out)
{
    (void)width;
    json_t *root = yoke_inventory_to_json(inventory);
    if (root == NULL)
        return YOKE_ERR_NO_MEMORY;
    add_object(out, root, 0, false);
    json_decref(root);
    return YOKE_OK;
}
