/* SPDX-License-Identifier: Apache-2.0 */
/* The one table printer, and the wrapping of running text. */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80
#define GAP 2
#define SHORTEST 6 /* a shortened column keeps this much */

typedef struct column {
    char *header;
    bool right;
    bool shortens;
} column_t;

struct yoke_table {
    column_t *columns;
    size_t column_count;
    yoke_strings_t cells;
    bool failed;
};

/* One character of UTF-8; a byte that starts none counts as one "?". */
typedef struct glyph {
    size_t bytes;
    size_t width; /* in terminal cells */
    bool valid;
} glyph_t;

static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

static size_t code_width(uint32_t code)
{
    typedef struct span {
        uint32_t first, last;
        size_t width;
    } span_t;
    /* Combining marks, and the East Asian wide blocks: vendors' names hold both. Not
     * wcwidth(), which knows nothing in the C locale. */
    static const span_t spans[] = {
        {0x0300, 0x036F, 0},   {0x200B, 0x200F, 0}, {0xFE00, 0xFE0F, 0},
        {0xFEFF, 0xFEFF, 0},   {0x1100, 0x115F, 2}, {0x2E80, 0xA4CF, 2},
        {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2}, {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1FAFF, 2},
        {0x20000, 0x3FFFD, 2},
    };
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (code >= spans[i].first && code <= spans[i].last)
            return spans[i].width;
    return 1;
}

static glyph_t glyph_at(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t length = sequence_length(bytes[0]);
    /* Control characters too: a name must not steer the terminal. */
    if (length == 0 || bytes[0] < 0x20 || bytes[0] == 0x7F)
        return (glyph_t){1, 1, false};
    static const unsigned char lead_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = bytes[0] & lead_mask[length];
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return (glyph_t){1, 1, false};
        code = code << 6 | (bytes[i] & 0x3F);
    }
    bool control = code >= 0x80 && code < 0xA0;
    return (glyph_t){length, control ? 1 : code_width(code), !control};
}

static size_t width_of(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        glyph_t glyph = glyph_at(text);
        width += glyph.width;
        text += glyph.bytes;
    }
    return width;
}

/* Adds as many characters as fit in `room`; returns the cells used. */
static size_t add_clipped(yoke_text_t *out, const char *text, size_t room)
{
    size_t used = 0;
    while (*text != '\0') {
        glyph_t glyph = glyph_at(text);
        if (used + glyph.width > room)
            break;
        if (glyph.valid)
            yoke_text_add_bytes(out, text, glyph.bytes);
        else
            yoke_text_add(out, *text == '\n' || *text == '\t' ? " " : "?");
        used += glyph.width;
        text += glyph.bytes;
    }
    return used;
}

static void add_spaces(yoke_text_t *out, size_t count)
{
    while (count-- > 0)
        yoke_text_add(out, " ");
}

static bool fill_columns(yoke_table_t *table, const char *const *headers)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *header = headers[i];
        column_t *column = &table->columns[i];
        for (; *header == '>' || *header == '~'; header++) {
            column->right = column->right || *header == '>';
            column->shortens = column->shortens || *header == '~';
        }
        column->header = yoke_strdup(header);
        if (column->header == NULL)
            return false;
    }
    return true;
}

yoke_table_t *yoke_table_new(const char *const *headers, size_t columns)
{
    yoke_table_t *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->column_count = columns;
    table->columns = calloc(columns + 1, sizeof *table->columns);
    if (table->columns == NULL || !fill_columns(table, headers)) {
        yoke_table_free(table);
        return NULL;
    }
    return table;
}

void yoke_table_free(yoke_table_t *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; table->columns != NULL && i < table->column_count; i++)
        free(table->columns[i].header);
    free(table->columns);
    yoke_strings_free(&table->cells);
    free(table);
}

void yoke_table_cell(yoke_table_t *table, const char *text)
{
    if (table == NULL || table->failed)
        return;
    if (yoke_strings_add(&table->cells, text == NULL ? "-" : text) != YOKE_OK)
        table->failed = true;
}

void yoke_table_cellf(yoke_table_t *table, const char *format, ...)
{
    yoke_text_t text = {0};
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    if (!text.failed)
        yoke_table_cell(table, yoke_text_get(&text));
    else if (table != NULL)
        table->failed = true;
    yoke_text_free(&text);
}

/* Natural widths; returns the width of the whole line. */
static size_t measure(const yoke_table_t *table, size_t *widths)
{
    size_t columns = table->column_count;
    size_t total = columns > 0 ? (columns - 1) * GAP : 0;
    for (size_t i = 0; i < columns; i++)
        widths[i] = width_of(table->columns[i].header);
    for (size_t i = 0; columns > 0 && i < table->cells.count; i++) {
        size_t width = width_of(table->cells.items[i]);
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    for (size_t i = 0; i < columns; i++)
        total += widths[i];
    return total;
}

/* Takes `excess` from the columns that may be shortened, always from the widest. */
static void shorten(const yoke_table_t *table, size_t *widths, size_t excess)
{
    for (; excess > 0; excess--) {
        size_t widest = table->column_count;
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].shortens && widths[i] > SHORTEST &&
                (widest == table->column_count || widths[i] > widths[widest]))
                widest = i;
        if (widest == table->column_count)
            return;
        widths[widest]--;
    }
}

static void add_cell(yoke_text_t *out, const char *text, size_t width,
                     const column_t *column, bool is_last)
{
    size_t natural = width_of(text);
    size_t used = natural;
    if (column->right && natural < width)
        add_spaces(out, width - natural);
    if (natural <= width) {
        add_clipped(out, text, natural);
    } else {
        used = add_clipped(out, text, width - 2) + 2;
        yoke_text_add(out, "..");
    }
    if (is_last)
        return;
    add_spaces(out, (column->right || used > width ? 0 : width - used) + GAP);
}

static void trim_end(yoke_text_t *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
}

/* `cells` holds `present` texts; an unfinished row is empty at its end. */
static void add_row(yoke_text_t *out, const yoke_table_t *table, char *const *cells,
                    size_t present, const size_t *widths, size_t indent)
{
    add_spaces(out, indent);
    for (size_t i = 0; i < table->column_count; i++) {
        const column_t *column = &table->columns[i];
        const char *text = cells == NULL ? column->header : i < present ? cells[i] : "";
        add_cell(out, text, widths[i], column, i + 1 == table->column_count);
    }
    if (!out->failed)
        trim_end(out);
    yoke_text_add(out, "\n");
}

void yoke_table_print(const yoke_table_t *table, size_t width, size_t indent,
                      yoke_text_t *out)
{
    size_t *widths = NULL;
    if (table != NULL && !table->failed)
        widths = calloc(table->column_count + 1, sizeof *widths);
    if (widths == NULL) {
        out->failed = true;
        return;
    }
    size_t room = width == 0 ? DEFAULT_WIDTH : width;
    size_t total = measure(table, widths) + indent;
    if (total > room)
        shorten(table, widths, total - room);
    add_row(out, table, NULL, 0, widths, indent);
    for (size_t i = 0; table->column_count > 0 && i < table->cells.count;
         i += table->column_count)
        add_row(out, table, table->cells.items + i, table->cells.count - i, widths,
                indent);
    free(widths);
}

size_t yoke_terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col;
}

typedef struct wrap {
    yoke_text_t *out;
    size_t width, indent;
    size_t column; /* where the next word would begin; 0-based */
    bool fresh;    /* nothing on this line yet */
} wrap_t;

static void wrap_break(wrap_t *wrap, bool indented)
{
    yoke_text_add(wrap->out, "\n");
    if (indented)
        add_spaces(wrap->out, wrap->indent);
    wrap->column = wrap->indent;
    wrap->fresh = true;
}

static void wrap_word(wrap_t *wrap, const char *word, size_t length)
{
    char *copy = yoke_strndup(word, length);
    if (copy == NULL) {
        wrap->out->failed = true;
        return;
    }
    size_t cells = width_of(copy);
    if (!wrap->fresh && wrap->column + 1 + cells > wrap->width)
        wrap_break(wrap, true);
    if (!wrap->fresh)
        yoke_text_add(wrap->out, " ");
    yoke_text_add(wrap->out, copy);
    wrap->column += cells + (wrap->fresh ? 0 : 1);
    wrap->fresh = false;
    free(copy);
}

void yoke_wrap(const char *text, size_t width, size_t indent, yoke_text_t *out)
{
    wrap_t wrap = {out, width == 0 ? DEFAULT_WIDTH : width, indent, indent, true};
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        if (length > 0)
            wrap_word(&wrap, text, length);
        text += length;
        if (*text == '\n')
            wrap_break(&wrap, text[1] != '\0' && text[1] != '\n');
        if (*text != '\0')
            text++;
    }
}
