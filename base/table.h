/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_TABLE_H
#define YOKE_BASE_TABLE_H

/* The one table printer: columns that fit a width, UTF-8 aware enough for "µ" and "×". */

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"

typedef struct yoke_table yoke_table_t;

/** `headers`: one string a column; a leading '>' aligns right, a leading '~' marks the
 *  column that may be shortened with ".." when the table is wider than the width. */
yoke_table_t *yoke_table_new(const char *const *headers, size_t columns);
/** Add one cell; rows fill from left to right. NULL prints "-". */
void yoke_table_cell(yoke_table_t *table, const char *text);
void yoke_table_cellf(yoke_table_t *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Append the table to `out`, at most `width` columns (0: 80), each line indented. */
void yoke_table_print(const yoke_table_t *table, size_t width, size_t indent,
                      yoke_text_t *out);
void yoke_table_free(yoke_table_t *table);
/** Columns of the terminal on stdout, or 80 when it is not one. */
size_t yoke_terminal_width(void);
/** Append `text` wrapped at `width`, following lines indented. */
void yoke_wrap(const char *text, size_t width, size_t indent, yoke_text_t *out);

#endif
