/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_REPORT_HTML_H
#define YOKE_TOOLS_REPORT_HTML_H

/*
 * The page that `report` writes: text that is safe in HTML, tables, headings, and the
 * frame around them. Everything that comes from a document goes through
 * yoke_html_text(); the page loads nothing and its one script is a constant.
 */

#include "base/text.h"

/** Text of an element or of a quoted attribute: nothing in it is markup. NULL: "". */
void yoke_html_text(yoke_text_t *page, const char *text);
/** Format, then yoke_html_text(). */
void yoke_html_printf(yoke_text_t *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** From the doctype to the start of the main part. */
void yoke_html_begin(yoke_text_t *page, const char *title);
void yoke_html_end(yoke_text_t *page);
/** A section with its heading, which the list of contents links to by `id`. */
void yoke_html_section(yoke_text_t *page, const char *id, const char *heading);
void yoke_html_section_end(yoke_text_t *page);

/** A table that scrolls by itself where it is too wide. Headers that begin with '>' are
 *  right-aligned numbers. `id` is unique in the page. */
void yoke_html_table(yoke_text_t *page, const char *id, const char *caption,
                     const char *const *headers, size_t count);
void yoke_html_row(yoke_text_t *page);
/** The cell that names its row. */
void yoke_html_head_cell(yoke_text_t *page, const char *text);
void yoke_html_cell(yoke_text_t *page, const char *text);
void yoke_html_number(yoke_text_t *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void yoke_html_row_end(yoke_text_t *page);
void yoke_html_table_end(yoke_text_t *page);

#endif
