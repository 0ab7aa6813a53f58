/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_CSV_H
#define YOKE_BASE_CSV_H

/* Tables of comma-separated values with a first row of column names (RFC 4180: quotes
 * double inside quotes, a quoted cell may hold commas and line ends). */

#include <stddef.h>
#include "yoke/status.h"

typedef struct yoke_csv {
    char *name;           /* file name, for messages */
    char *text;           /* the cells point into it */
    char **cells;         /* row after row, the names first */
    size_t *lines;        /* of each row, where it begins in the file */
    size_t columns, rows; /* rows: without the names */
} yoke_csv_t;

/**
 * @retval YOKE_ERR_BAD_INPUT  a row with more or fewer cells than the first, a quote that
 *                             does not end, a NUL, no column or one without a name or two
 *                             of one name; the message has file and line
 */
yoke_status_t yoke_csv_read(const char *path, yoke_csv_t *out_csv);
yoke_status_t yoke_csv_parse(const char *name, const char *data, size_t size,
                             yoke_csv_t *out_csv);
void yoke_csv_free(yoke_csv_t *csv);
/** Index of a column, or -1. */
long yoke_csv_column(const yoke_csv_t *csv, const char *name);
/** Cell of a row (0: the first after the names); NULL when there is no such column. */
const char *yoke_csv_get(const yoke_csv_t *csv, size_t row, const char *column);

#endif
