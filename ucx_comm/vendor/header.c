/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a library whose header nobody publishes, from the copy that is installed
 * beside it: macros and enumerators with plain values. What it does not have is not
 * there; nothing is guessed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "ucx_comm/vendor/library.h"

/* ---- a little C -------------------------------------------------------------------- */

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* Comments become spaces. */
static void strip(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        char *end = NULL;
        if (c[0] == '/' && c[1] == '*')
            end = strstr(c + 2, "*/") != NULL ? strstr(c + 2, "*/") + 2 : NULL;
        else if (c[0] == '/' && c[1] == '/')
            end = c + strcspn(c, "\n");
        else
            continue;
        if (end == NULL) /* a comment without an end */
            end = c + strlen(c);
        for (; c < end; c++)
            *c = *c == '\n' ? '\n' : ' ';
        c--;
    }
}

static const char *skip_spaces(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* A number, maybe in parentheses, that ends at a comma, a brace or a line. */
static bool plain_number(const char *at, int64_t *out_value)
{
    int depth = 0;
    char *end;
    for (at = skip_spaces(at); *at == '('; at = skip_spaces(at + 1))
        depth++;
    long long value = strtoll(at, &end, 0);
    if (end == at)
        return false;
    while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
        end++;
    for (; depth > 0 && *skip_spaces(end) == ')'; depth--)
        end = (char *)(uintptr_t)skip_spaces(end) + 1;
    while (*end == ' ' || *end == '\t' || *end == '\r')
        end++;
    if (depth > 0 || (*end != '\0' && *end != '\n' && *end != ',' && *end != '}'))
        return false;
    *out_value = value;
    return true;
}

/* The place of a whole word, or NULL. */
static const char *find_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += size)
        if ((at == text || !is_word(at[-1])) && !is_word(at[size]))
            return at;
    return NULL;
}

static bool from_macro(const char *text, const char *name, int64_t *out_value)
{
    const char *at = text;
    while ((at = find_word(at, name)) != NULL) {
        const char *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        line = skip_spaces(line);
        if (*line == '#') {
            const char *word = skip_spaces(line + 1);
            if (strncmp(word, "define", 6) == 0 && skip_spaces(word + 6) == at)
                return plain_number(at + strlen(name), out_value);
        }
        at += strlen(name);
    }
    return false;
}

/* Walks one list of enumerators: "{ A = 1, B, C }". */
static bool from_list(const char *list, const char *name, int64_t *out_value)
{
    int64_t next = 0;
    bool known = true;
    for (const char *at = skip_spaces(list); *at != '\0' && *at != '}';) {
        const char *word = at;
        while (is_word(*at))
            at++;
        size_t size = (size_t)(at - word);
        at = skip_spaces(at);
        if (*at == '=')
            known = plain_number(at + 1, &next);
        if (size > 0 && size == strlen(name) && strncmp(word, name, size) == 0) {
            *out_value = next;
            return known;
        }
        next++;
        at += strcspn(at, ",}");
        at = skip_spaces(*at == ',' ? at + 1 : at);
    }
    return false;
}

static bool from_enumeration(const char *text, const char *name, int64_t *out_value)
{
    for (const char *at = text; (at = find_word(at, "enum")) != NULL; at += 4) {
        const char *brace = at + 4;
        while (isspace((unsigned char)*brace) || is_word(*brace) || *brace == ':')
            brace++;
        if (*brace == '{' && from_list(brace + 1, name, out_value))
            return true;
    }
    return false;
}

bool yoke_vendor_header_number(const char *text, const char *name, int64_t *out_value)
{
    char *copy = yoke_strdup(text);
    if (copy == NULL)
        return false;
    strip(copy);
    bool found =
        from_macro(copy, name, out_value) || from_enumeration(copy, name, out_value);
    free(copy);
    return found;
}

/* ---- BKCL -------------------------------------------------------------------------- */

static const struct element {
    yoke_element_t element;
    const char *name;
} elements[] = {
    {YOKE_ELEMENT_F64, "BKCL_FLOAT64"}, {YOKE_ELEMENT_F32, "BKCL_FLOAT"},
    {YOKE_ELEMENT_F16, "BKCL_FLOAT16"}, {YOKE_ELEMENT_BF16, "BKCL_BFLOAT16"},
    {YOKE_ELEMENT_U8, "BKCL_UINT8"},    {YOKE_ELEMENT_I32, "BKCL_INT32"},
    {YOKE_ELEMENT_I64, "BKCL_INT64"},
};
static const struct reduction {
    yoke_reduction_t reduction;
    const char *name;
} reductions[] = {
    {YOKE_REDUCE_SUM, "BKCL_ADD"},
    {YOKE_REDUCE_PROD, "BKCL_PRODUCT"},
    {YOKE_REDUCE_MAX, "BKCL_MAX"},
    {YOKE_REDUCE_MIN, "BKCL_MIN"},
};
static const struct result {
    const char *name;
    yoke_status_t status;
} results[] = {
    {"BKCL_SUCCESS", YOKE_OK},
    {"BKCL_INVALID_ARGUMENT", YOKE_ERR_SYSTEM},
    {"BKCL_RUNTIME_ERROR", YOKE_ERR_SYSTEM},
    {"BKCL_SYSTEM_ERROR", YOKE_ERR_SYSTEM},
    {"BKCL_INTERNAL_ERROR", YOKE_ERR_SYSTEM},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* $YOKE_LIB_BKCL_HEADER, else beside the library. */
static char *read_header(const yoke_vendor_t *vendor, char path[4352])
{
    static const char *const places[] = {"include/bkcl.h", "../include/bkcl.h",
                                         "../include/xpu/bkcl.h", "xccl/include/bkcl.h",
                                         "bkcl.h"};
    const char *given = getenv("YOKE_LIB_BKCL_HEADER");
    char *text = NULL;
    size_t size;
    if (given != NULL && given[0] != '\0') {
        snprintf(path, 4352, "%s", given);
        return yoke_file_try_read(path, 1u << 20, &text, &size) ? text : NULL;
    }
    const char *library = vendor->library.path != NULL ? vendor->library.path : "";
    const char *slash = strrchr(library, '/');
    int folder = slash != NULL ? (int)(slash - library) : 0;
    for (size_t i = 0; i < COUNT(places) && text == NULL; i++) {
        snprintf(path, 4352, "%.*s/%s", folder, library, places[i]);
        if (!yoke_file_try_read(path, 1u << 20, &text, &size))
            text = NULL;
    }
    return text;
}

bool yoke_vendor_read_header(yoke_vendor_t *vendor, char why[256])
{
    char path[4352] = "";
    int64_t number;
    char *text = read_header(vendor, path);
    if (text == NULL) {
        snprintf(why, 256,
                 "no bkcl.h beside it, which has its numbers: set "
                 "YOKE_LIB_BKCL_HEADER to the file");
        return false;
    }
    bool right = yoke_vendor_header_number(text, "BKCL_UNIQUE_ID_BYTES", &number) &&
                 number > 0 && number <= 65536;
    vendor->id_size = right ? (size_t)number : 0;
    for (size_t i = 0; i < COUNT(elements); i++)
        if (yoke_vendor_header_number(text, elements[i].name, &number))
            vendor->elements[elements[i].element] = (int)number;
    vendor->bytes = vendor->elements[YOKE_ELEMENT_U8];
    for (size_t i = 0; i < COUNT(reductions); i++)
        if (yoke_vendor_header_number(text, reductions[i].name, &number))
            vendor->reductions[reductions[i].reduction] = (int)number;
    for (size_t i = 0; i < COUNT(results); i++)
        if (yoke_vendor_header_number(text, results[i].name, &number))
            vendor->codes[vendor->code_count++] =
                (yoke_vendor_code_t){number, results[i].name, results[i].status};
    free(text);
    right = right && vendor->bytes >= 0 && vendor->code_count > 0 &&
            vendor->codes[0].status == YOKE_OK;
    if (!right)
        snprintf(why, 256,
                 "%.150s lacks BKCL_UNIQUE_ID_BYTES, BKCL_UINT8 or BKCL_SUCCESS", path);
    else
        yoke_info("bkcl: numbers from %s", path);
    return right;
}
