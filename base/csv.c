/* SPDX-License-Identifier: Apache-2.0 */
/* Reads comma-separated values in place: cells lose their quotes where they stand. */
#include "base/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#define FILE_LIMIT ((size_t)256 << 20)

typedef struct reader {
    yoke_csv_t csv;
    char *at, *end;
    size_t line, count, capacity, row_capacity;
} reader_t;

static yoke_status_t add_cell(reader_t *reader, char *cell)
{
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity == 0 ? 256 : 2 * reader->capacity;
        char **cells = realloc(reader->csv.cells, capacity * sizeof *cells);
        if (cells == NULL)
            return yoke_fail_memory();
        reader->csv.cells = cells;
        reader->capacity = capacity;
    }
    reader->csv.cells[reader->count++] = cell;
    return YOKE_OK;
}

static yoke_status_t add_line(reader_t *reader, size_t rows)
{
    if (rows == reader->row_capacity) {
        size_t capacity = rows == 0 ? 64 : 2 * rows;
        size_t *lines = realloc(reader->csv.lines, capacity * sizeof *lines);
        if (lines == NULL)
            return yoke_fail_memory();
        reader->csv.lines = lines;
        reader->row_capacity = capacity;
    }
    reader->csv.lines[rows] = reader->line;
    return YOKE_OK;
}

/* One cell; `*out_last` when the row ends behind it. */
static yoke_status_t take_cell(reader_t *reader, bool *out_last)
{
    char *read = reader->at, *write = read, *cell = read;
    size_t began = reader->line;
    bool quoted = read < reader->end && *read == '"';
    read += quoted ? 1 : 0;
    while (read < reader->end) {
        if (quoted && *read == '"') {
            if (read + 1 < reader->end && read[1] == '"') {
                read++;
            } else {
                quoted = false;
                read++;
                continue;
            }
        } else if (!quoted && (*read == ',' || *read == '\n')) {
            break;
        }
        reader->line += *read == '\n' ? 1 : 0;
        *write++ = *read++;
    }
    if (quoted)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%zu: the quote does not end",
                         reader->csv.name, began);
    *out_last = read >= reader->end || *read == '\n';
    if (read < reader->end && *read == '\n')
        reader->line++;
    reader->at = read < reader->end ? read + 1 : read;
    if (*out_last && write > cell && write[-1] == '\r')
        write--;
    *write = '\0'; /* the text has one byte more than `end` says */
    return add_cell(reader, cell);
}

static yoke_status_t take_row(reader_t *reader, size_t rows)
{
    size_t first = reader->count, line = reader->line;
    yoke_status_t status = add_line(reader, rows);
    for (bool last = false; status == YOKE_OK && !last;)
        status = take_cell(reader, &last);
    if (status != YOKE_OK)
        return status;
    size_t cells = reader->count - first;
    if (rows == 0)
        reader->csv.columns = cells;
    else if (cells != reader->csv.columns)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%zu: %zu cells, expected %zu",
                         reader->csv.name, line, cells, reader->csv.columns);
    return YOKE_OK;
}

static yoke_status_t check_names(const yoke_csv_t *csv)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (csv->cells[i][0] == '\0')
            return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:1: column %zu has no name",
                             csv->name, i + 1);
        if (yoke_csv_column(csv, csv->cells[i]) != (long)i)
            return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:1: two columns are named \"%s\"",
                             csv->name, csv->cells[i]);
    }
    return YOKE_OK;
}

static yoke_status_t take_all(reader_t *reader, size_t size)
{
    if (memchr(reader->csv.text, '\0', size) != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: it holds a NUL byte, so it is no text",
                         reader->csv.name);
    if (size >= 3 && memcmp(reader->at, "\xef\xbb\xbf", 3) == 0)
        reader->at += 3;
    size_t rows = 0;
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK && reader->at < reader->end) {
        status = take_row(reader, rows);
        rows++;
    }
    if (status == YOKE_OK && rows == 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: it is empty; the first row names the "
                         "columns",
                         reader->csv.name);
    reader->csv.rows = rows > 0 ? rows - 1 : 0;
    return status == YOKE_OK ? check_names(&reader->csv) : status;
}

yoke_status_t yoke_csv_parse(const char *name, const char *data, size_t size,
                             yoke_csv_t *out_csv)
{
    reader_t reader = {.line = 1};
    reader.csv.name = yoke_strdup(name);
    reader.csv.text = malloc(size + 1);
    if (reader.csv.name == NULL || reader.csv.text == NULL) {
        yoke_csv_free(&reader.csv);
        return yoke_fail_memory();
    }
    if (size > 0)
        memcpy(reader.csv.text, data, size);
    reader.csv.text[size] = '\0';
    reader.at = reader.csv.text;
    reader.end = reader.csv.text + size;
    yoke_status_t status = take_all(&reader, size);
    if (status != YOKE_OK) {
        yoke_csv_free(&reader.csv);
        return status;
    }
    *out_csv = reader.csv;
    return YOKE_OK;
}

yoke_status_t yoke_csv_read(const char *path, yoke_csv_t *out_csv)
{
    char *data = NULL;
    size_t size = 0;
    yoke_status_t status = yoke_file_read(path, FILE_LIMIT, &data, &size);
    if (status == YOKE_OK)
        status = yoke_csv_parse(path, data, size, out_csv);
    free(data);
    return status;
}

void yoke_csv_free(yoke_csv_t *csv)
{
    free(csv->name);
    free(csv->text);
    free(csv->cells);
    free(csv->lines);
    *csv = (yoke_csv_t){0};
}

long yoke_csv_column(const yoke_csv_t *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->cells[i], name) == 0)
            return (long)i;
    return -1;
}

const char *yoke_csv_get(const yoke_csv_t *csv, size_t row, const char *column)
{
    long index = yoke_csv_column(csv, column);
    if (index < 0 || row >= csv->rows)
        return NULL;
    return csv->cells[(row + 1) * csv->columns + (size_t)index];
}
