/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_TABLE_H
#define YOKE_BASE_TABLE_H

/* The one table printer: columns that fit a width, UTF-8 aware enough for "µ" and "×". */

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"

typedef struct yoke_table yoke_table_t;

/** `headers`: one string a column; a leading '>' aligns right, a leading '~' marks a
 *  column that may be shortened with ".." when the table is wider than the width (both
 * may be given). NULL on out of memory; the functions below accept that NULL. */
yoke_table_t *yoke_table_new(const char *const *headers, size_t columns);
/** Add one cell; rows fill from left to right. NULL prints "-". */
void yoke_table_cell(yoke_table_t *table, const char *text);
void yoke_table_cellf(yoke_table_t *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Append the table to `out`, at most `width` columns (0: 80) with the indent, each line
 *  indented. Without a '~' column the table is as wide as it must be. Sets out->failed
 * when memory ran out, also in an earlier call on this table. */
void yoke_table_print(const yoke_table_t *table, size_t width, size_t indent,
                      yoke_text_t *out);
void yoke_table_free(yoke_table_t *table);
/** Columns of the terminal on stdout, or 80 when it is not one. */
size_t yoke_terminal_width(void);
/** Append `text` wrapped at `width` (0: 80), following lines indented; the first one is
 *  taken to begin at column `indent` already. "\n" in the text breaks the line; no
 * newline is added at the end. */
void yoke_wrap(const char *text, size_t width, size_t indent, yoke_text_t *out);

#endif
