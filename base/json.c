/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text in and out: the pass before the parser, its messages, and the one dump. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

/*
 * The pass before the parser walks the text piece by piece: a string, a run of word
 * characters, or one other byte. A piece is kept or dropped, and something may follow it.
 */
typedef struct piece {
    size_t length;
    bool keep;
    const char *addition;
} piece_t;

static size_t string_length(const char *at, const char *end)
{
    const char *p = at + 1;
    while (p < end && *p != '"')
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return (size_t)(p - at) + (p < end ? 1 : 0);
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '+' || c == '-' || c == '.';
}

/* Python writes integers of any size ("model_max_length":
 * 1000000000000000019884624838656); jansson refuses what 64 bits do not hold, so they go
 * on as reals. */
static bool is_big_integer(const char *word, size_t length)
{
    static const char largest[] = "9223372036854775807";
    if (length > 0 && *word == '-') {
        word++;
        length--;
    }
    for (size_t i = 0; i < length; i++)
        if (word[i] < '0' || word[i] > '9')
            return false;
    size_t digits = sizeof largest - 1;
    return length > digits || (length == digits && memcmp(word, largest, digits) > 0);
}

static bool is_not_finite(const char *word, size_t length)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(word, names[i], length) == 0)
            return true;
    return false;
}

static piece_t next_piece(const char *at, const char *end)
{
    if (*at == '"')
        return (piece_t){string_length(at, end), true, ""};
    size_t length = 0;
    while (at + length < end && is_word(at[length]))
        length++;
    if (length == 0)
        return (piece_t){1, true, ""};
    if (is_not_finite(at, length))
        return (piece_t){length, false, "null"};
    return (piece_t){length, true, is_big_integer(at, length) ? "e0" : ""};
}

static void rewrite(const char *data, size_t size, yoke_text_t *out)
{
    const char *end = data + size;
    const char *kept = data; /* what lies from here to `at` goes through unchanged */
    const char *at = data;
    while (at < end) {
        piece_t piece = next_piece(at, end);
        if (!piece.keep || *piece.addition != '\0') {
            yoke_text_add_bytes(out, kept, (size_t)(at - kept));
            if (piece.keep)
                yoke_text_add_bytes(out, at, piece.length);
            yoke_text_add(out, piece.addition);
            kept = at + piece.length;
        }
        at += piece.length;
    }
    yoke_text_add_bytes(out, kept, (size_t)(at - kept));
}

/* Offset in the user's text of an offset in the rewritten one. */
static size_t original_offset(const char *data, size_t size, size_t rewritten)
{
    size_t in = 0;
    size_t out = 0;
    while (in < size) {
        piece_t piece = next_piece(data + in, data + size);
        size_t grown = (piece.keep ? piece.length : 0) + strlen(piece.addition);
        if (out + grown >= rewritten) {
            size_t into = rewritten - out;
            return in + (into < piece.length ? into : piece.length);
        }
        in += piece.length;
        out += grown;
    }
    return size;
}

typedef struct place {
    size_t line, column;
} place_t;

/* Line and column (in characters) of the last character before `offset`. */
static place_t place_of(const char *data, size_t offset)
{
    place_t place = {1, 0};
    for (size_t i = 0; i < offset; i++) {
        if (data[i] == '\n') {
            place.line++;
            place.column = 0;
        } else if (((unsigned char)data[i] & 0xC0) != 0x80) {
            place.column++;
        }
    }
    if (place.column == 0)
        place.column = 1;
    return place;
}

static yoke_status_t fail_at(const char *name, const char *data, size_t offset,
                             const char *message)
{
    place_t place = place_of(data, offset);
    return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%zu:%zu: %s", name, place.line, place.column,
                     message);
}

static bool begins_with(const char *data, size_t size, const char *mark, size_t length)
{
    return size >= length && memcmp(data, mark, length) == 0;
}

/* What no JSON parser can name well: other encodings, and no text at all. */
static yoke_status_t check_text(const char *name, const char *data, size_t size)
{
    if (begins_with(data, size, "\xFF\xFE", 2) || begins_with(data, size, "\xFE\xFF", 2))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:1:1: the text is UTF-16 or UTF-32 (by its byte order mark); "
                         "save it as UTF-8",
                         name);
    if (begins_with(data, size, "\x1F\x8B", 2))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:1:1: compressed by gzip; unpack it first", name);
    const char *nul = size == 0 ? NULL : memchr(data, '\0', size);
    if (nul != NULL)
        return fail_at(name, data, (size_t)(nul - data) + 1,
                       "a NUL byte; is this UTF-16 or a binary file? JSON is UTF-8 text");
    size_t blank = 0;
    while (blank < size && strchr(" \t\r\n", data[blank]) != NULL)
        blank++;
    if (blank == size)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:1:1: empty; a JSON document was expected", name);
    return YOKE_OK;
}

static yoke_status_t fail_syntax(const char *name, const char *data, size_t size,
                                 const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);
    size_t position = error->position < 0 ? 0 : (size_t)error->position;
    size_t offset = original_offset(data, size, position);
    char message[256];
    if (code == json_error_out_of_memory || error->text[0] == '\0')
        return yoke_fail_memory();
    if (code == json_error_stack_overflow)
        snprintf(message, sizeof message, "nested deeper than %d levels",
                 JSON_PARSER_MAX_DEPTH);
    else if (code == json_error_invalid_utf8)
        snprintf(message, sizeof message, "%s; the text must be UTF-8", error->text);
    else
        snprintf(message, sizeof message, "%s", error->text);
    /* jansson quotes the text as it is; a document must not steer the terminal. */
    for (char *at = message; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = '?';
    return fail_at(name, data, offset, message);
}

static yoke_status_t load(const char *name, const char *data, size_t size,
                          json_t **out_root)
{
    yoke_text_t text = {0};
    json_error_t error = {0};
    rewrite(data, size, &text);
    if (text.failed) {
        yoke_text_free(&text);
        return yoke_fail_memory();
    }
    json_t *root = json_loadb(text.data, text.size,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    yoke_text_free(&text);
    if (root == NULL)
        return fail_syntax(name, data, size, &error);
    *out_root = root;
    return YOKE_OK;
}

yoke_status_t yoke_json_parse(const char *name, const char *data, size_t size,
                              yoke_json_t *out_json)
{
    yoke_json_t json = {0};
    if (begins_with(data, size, "\xEF\xBB\xBF", 3)) {
        data += 3;
        size -= 3;
    }
    yoke_status_t status = check_text(name, data, size);
    if (status != YOKE_OK)
        return status;
    status = load(name, data, size, &json.root);
    if (status != YOKE_OK)
        return status;
    json.name = yoke_strdup(name);
    if (json.name == NULL) {
        yoke_json_free(&json);
        return yoke_fail_memory();
    }
    *out_json = json;
    return YOKE_OK;
}

yoke_status_t yoke_json_read(const char *path, size_t limit, yoke_json_t *out_json)
{
    char *data = NULL;
    size_t size = 0;
    yoke_status_t status = yoke_file_read(path, limit, &data, &size);
    if (status != YOKE_OK)
        return status;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    status = yoke_json_parse(name, data, size, out_json);
    free(data);
    return status;
}

void yoke_json_free(yoke_json_t *json)
{
    free(json->name);
    json_decref(json->root);
    *json = (yoke_json_t){0};
}

char *yoke_json_text(const json_t *root)
{
    yoke_text_t text = {0};
    char *dump =
        json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
    if (dump == NULL)
        return NULL;
    yoke_text_add(&text, dump);
    yoke_text_add(&text, "\n");
    free(dump);
    if (text.failed)
        yoke_text_free(&text);
    return text.data;
}

yoke_status_t yoke_json_write(const char *path, const json_t *root)
{
    char *text = yoke_json_text(root);
    if (text == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_file_write(path, text, strlen(text));
    free(text);
    return status;
}

/* Length of the UTF-8 character at `at` by the bytes that are there; 0 if it is none. */
static size_t character_length(const unsigned char *at)
{
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xC2 ? 0
                    : at[0] < 0xE0 ? 2
                    : at[0] < 0xF0 ? 3
                    : at[0] < 0xF5 ? 4
                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    bool outside = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

/* Vendor libraries hand out names in any encoding; a name must not lose its member. */
static json_t *string_with_repairs(const char *value)
{
    yoke_text_t text = {0};
    for (const char *at = value; *at != '\0';) {
        size_t length = character_length((const unsigned char *)at);
        if (length == 0)
            yoke_text_add(&text, "\xEF\xBF\xBD");
        else
            yoke_text_add_bytes(&text, at, length);
        at += length == 0 ? 1 : length;
    }
    json_t *string = text.failed ? NULL : json_string(yoke_text_get(&text));
    yoke_text_free(&text);
    return string;
}

void yoke_json_set_string(json_t *object, const char *key, const char *value)
{
    json_t *string = value == NULL ? json_null() : json_string(value);
    if (string == NULL)
        string = string_with_repairs(value);
    json_object_set_new(object, key, string);
}

void yoke_json_set_number(json_t *object, const char *key, double value)
{
    json_t *number = NULL;
    char text[32];
    /* What the 12 digits of the text make of it: 80 reads better than 80.0, and what was
     * read again is written the same. */
    yoke_snprintf(text, sizeof text, "%.12g", value);
    if (!isfinite(value))
        number = json_null();
    else if (strpbrk(text, ".e") == NULL)
        number = json_integer(strtoll(text, NULL, 10));
    else
        number = json_real(value);
    json_object_set_new(object, key, number);
}

static bool is_whole(double value)
{
    return value >= 0 && value < 0x1p53 && trunc(value) == value;
}

void yoke_json_set_exact(json_t *object, const char *key, double value)
{
    char text[32];
    yoke_snprintf(text, sizeof text, "%.12g", value);
    json_t *shortened = is_whole(value) ? NULL : json_loads(text, JSON_DECODE_ANY, NULL);
    if (shortened != NULL)
        value = json_number_value(shortened);
    json_decref(shortened);
    if (is_whole(value))
        yoke_json_set_u64(object, key, (uint64_t)value);
    else
        yoke_json_set_number(object, key, value);
}

void yoke_json_set_u64(json_t *object, const char *key, uint64_t value)
{
    json_t *number =
        value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
    json_object_set_new(object, key, number);
}

void yoke_digest(const char *text, char out[32])
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    snprintf(out, 32, "fnv1a64:%016llx", (unsigned long long)hash);
}
