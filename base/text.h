/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_TEXT_H
#define YOKE_BASE_TEXT_H

/* Growable text, string lists, quantities with units, and host lists. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/status.h"

/** Growable text. Zero-initialise; after a failed allocation `failed` is set and
 *  further appends do nothing, so that only the end needs a check. */
typedef struct yoke_text {
    char *data; /* NUL-terminated once anything was appended; NULL when empty */
    size_t size;
    size_t capacity;
    bool failed;
} yoke_text_t;

void yoke_text_add(yoke_text_t *text, const char *string);
void yoke_text_add_bytes(yoke_text_t *text, const char *bytes, size_t size);
void yoke_text_printf(yoke_text_t *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void yoke_text_vprintf(yoke_text_t *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void yoke_text_free(yoke_text_t *text);
/** Text as a C string ("" when empty). */
const char *yoke_text_get(const yoke_text_t *text);

/** snprintf() with the C locale's decimal point whatever setlocale() said. All printing
 *  functions of this header go through these. */
int yoke_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int yoke_snprintf(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** strdup/strndup/asprintf; NULL on out of memory. */
char *yoke_strdup(const char *string);
char *yoke_strndup(const char *string, size_t size);
char *yoke_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct yoke_strings {
    char **items;
    size_t count;
    size_t capacity;
} yoke_strings_t;
yoke_status_t yoke_strings_add(yoke_strings_t *list, const char *string);
void yoke_strings_free(yoke_strings_t *list);

/**
 * Compare so that numbers inside compare by value ("n2" < "n10"); a total order:
 * 0 only for equal strings. Independent of the locale.
 */
int yoke_natural_compare(const char *a, const char *b);

/**
 * Parse a decimal number with an optional SI (k K M G T P) or binary (Ki Mi Gi Ti Pi)
 * prefix and one of the units B, byte(s), b, bit(s), FLOP(s), FLOPS, OPS, bare or per
 * second
 * ("/s", "Bps", "bps"), with at most one space before them. The unit only says bits or
 * not: "300T" = 3e14, "80GiB" = 80*2^30, "100Gb" = 1.25e10, "1.6TB" = 1.6e12, "312
 * TFLOP/s". Locale-independent. Refuses empty text, trailing garbage, negative, NaN,
 * infinity, and a "b" without prefix ("7b" is as likely a billion).
 *
 * @retval YOKE_ERR_BAD_INPUT with a message that quotes the text
 */
yoke_status_t yoke_parse_quantity(const char *text, double *out_value);
/** Whole decimal number only ("27"; not "27.0", "+27", " 27"), within [min, max]. No
 * message. */
bool yoke_parse_u64(const char *text, size_t size, uint64_t min, uint64_t max,
                    uint64_t *out);

/** "80.0 GiB", "312 TFLOP/s", "1.56 TB/s", "12.5 ms" (s, ms, us, ns; min, h, d) into
 *  `buffer`; returns `buffer`. Three significant digits; "unknown" for NaN and infinity.
 */
char *yoke_show_bytes(double bytes, char buffer[32]);
char *yoke_show_rate(double per_second, const char *unit, char buffer[32]);
char *yoke_show_seconds(double seconds, char buffer[32]);
/** 124439808 -> "124,439,808" */
char *yoke_show_count(uint64_t count, char buffer[32]);

/**
 * Expand "a,n[01-03,7]-ib,r[1-2]n[1-2]" into names in the order written, repeated names
 * included; at most 1,000,000 names of at most 255 characters. Blanks around commas and
 * at both ends are ignored. An empty list is refused.
 *
 * @retval YOKE_ERR_BAD_INPUT with a message that names the place
 */
yoke_status_t yoke_hostlist_expand(const char *hostlist, yoke_strings_t *out_hosts);
/** Short bracket form of the sorted, distinct names: one bracket a name, at the last or
 *  the first number, whichever gives the shorter text. Caller frees; NULL: no memory. */
char *yoke_hostlist_compress(const yoke_strings_t *hosts);
/** Number of names without expanding, capped at UINT64_MAX. 0 for malformed text (no
 *  message). */
uint64_t yoke_hostlist_count(const char *hostlist);

/** Nearest (letter case aside) of `candidates` (NULL-terminated) for a "did you mean"
 * hint, or NULL. */
const char *yoke_nearest(const char *word, const char *const *candidates);

#endif
