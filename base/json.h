/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_JSON_H
#define YOKE_BASE_JSON_H

/*
 * JSON over jansson. One pass before the parser removes a byte order mark and turns
 * bare NaN, Infinity and -Infinity outside strings into null, and integers that 64 bits
 * do not hold into reals. Reading is by cursors that know their place, so that a semantic
 * error names the file and the JSON pointer.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "yoke/status.h"

typedef struct yoke_json {
    char *name; /* file name as the user gave it, for messages */
    json_t *root;
} yoke_json_t;

/** A value and the way to it. Lives on the stack; a child points to its parent. */
typedef struct yoke_cursor {
    const char *file;
    const json_t *value;
    const struct yoke_cursor *parent; /* NULL at the root */
    const char *key;                  /* member name, or NULL for an array item */
    size_t index;
} yoke_cursor_t;

/** Syntax errors name file:line:column of the user's text; "-" is standard input. At most
 *  `limit` bytes (0: 64 MiB). */
yoke_status_t yoke_json_read(const char *path, size_t limit, yoke_json_t *out_json);
yoke_status_t yoke_json_parse(const char *name, const char *data, size_t size,
                              yoke_json_t *out_json);
void yoke_json_free(yoke_json_t *json);

yoke_cursor_t yoke_json_cursor(const yoke_json_t *json);

/** Fail with "FILE: /pointer: message"; `key` may be NULL (the cursor itself). */
yoke_status_t yoke_cursor_fail(const yoke_cursor_t *at, const char *key,
                               const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Is it an object / array; fails with the place otherwise. */
yoke_status_t yoke_cursor_object(const yoke_cursor_t *at);
yoke_status_t yoke_cursor_array(const yoke_cursor_t *at);
size_t yoke_cursor_count(const yoke_cursor_t *at); /* array items; 0 for other kinds */
yoke_cursor_t yoke_cursor_item(const yoke_cursor_t *at, size_t index);
/** Member; false when absent or null. */
bool yoke_cursor_member(const yoke_cursor_t *at, const char *key,
                        yoke_cursor_t *out_child);
/** Member that must be there (and not null). */
yoke_status_t yoke_cursor_need(const yoke_cursor_t *at, const char *key,
                               yoke_cursor_t *out_child);
/** Refuse members that are not in `allowed` (NULL-terminated); "x-*" always passes. */
yoke_status_t yoke_cursor_only(const yoke_cursor_t *at, const char *const *allowed);

/*
 * Typed members. "need_" fails when the member is absent or null; "opt_" leaves *out
 * alone then. A wrong type or a number out of range fails in both. Strings point into the
 * document. Integers accept 5 and 5.0, never 5.5; doubles are finite.
 */
yoke_status_t yoke_need_string(const yoke_cursor_t *at, const char *key,
                               const char **out);
yoke_status_t yoke_opt_string(const yoke_cursor_t *at, const char *key, const char **out);
yoke_status_t yoke_need_u64(const yoke_cursor_t *at, const char *key, uint64_t min,
                            uint64_t max, uint64_t *out);
yoke_status_t yoke_opt_u64(const yoke_cursor_t *at, const char *key, uint64_t min,
                           uint64_t max, uint64_t *out);
yoke_status_t yoke_need_double(const yoke_cursor_t *at, const char *key, double min,
                               double max, double *out);
yoke_status_t yoke_opt_double(const yoke_cursor_t *at, const char *key, double min,
                              double max, double *out);
yoke_status_t yoke_need_bool(const yoke_cursor_t *at, const char *key, bool *out);
yoke_status_t yoke_opt_bool(const yoke_cursor_t *at, const char *key, bool *out);

/**
 * Text of a document with two-space indent and a final newline; numbers have at most 12
 * significant digits, so that the bytes are the same on every machine. Caller frees.
 */
char *yoke_json_text(const json_t *root);
/** yoke_json_text() to a file ("-": stdout), atomically. */
yoke_status_t yoke_json_write(const char *path, const json_t *root);
/**
 * Set a member. A NULL string or non-finite number becomes null; bytes of a string that
 * are not UTF-8 become U+FFFD; a whole number below 1e12 is written without a point
 * ("80"), other numbers with 12 digits. For exact large numbers use yoke_json_set_u64().
 */
void yoke_json_set_string(json_t *object, const char *key, const char *value);
void yoke_json_set_number(json_t *object, const char *key, double value);
/** Whole numbers below 2^53 digit by digit (bytes have more than 12 digits); others as 12
 *  digits, and whole when those are: what was read again is written the same. */
void yoke_json_set_exact(json_t *object, const char *key, double value);
void yoke_json_set_u64(json_t *object, const char *key, uint64_t value);

/** 64-bit FNV-1a digest of a document's canonical text, as "fnv1a64:16 hex digits". */
void yoke_digest(const char *text, char out[32]);

#endif
