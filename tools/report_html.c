/* SPDX-License-Identifier: Apache-2.0 */
/* Safe text, tables and the frame of a report. */
#include "tools/report_html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Only makes the timeline wider; without it the page lacks nothing else. Its digest
 * stands in the policy below (tests/tools/report.py compares them). */
static const char script[] =
    "document.querySelectorAll('[data-zoom]').forEach(function(figure){"
    "var label=document.createElement('label'),range=document.createElement('input');"
    "range.type='range';range.min='1';range.max='20';range.value='1';"
    "label.append('Zoom of the timeline ',range);"
    "range.oninput=function(){figure.querySelectorAll('.wide').forEach(function(wide){"
    "wide.style.width=100*range.value+'%'})};"
    "figure.insertBefore(label,figure.firstChild)})";
#define SCRIPT_DIGEST "taELDvC9et1he/LIFO6CIK+WHiefmF9X628w1Itoq7E="

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#4c5560;"
    "--line:#6b7480;--panel:#f2f4f7;--link:#0b57a4;"
    "--a:#9fc5ee;--b:#f2c078;--c:#b8dfb0;--d:#d9b8e8;--e:#f4b6b6;--f:#a9dcd9;"
    "--g:#e4dca0;--h:#c9ccd3;--mark:#1b1f24}"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e9ecef;"
    "--soft:#b3bcc6;--line:#8b95a1;--panel:#20252b;--link:#8cc4ff;"
    "--a:#1f4f82;--b:#7a4d0c;--c:#2b5f2a;--d:#5b3570;--e:#7c2f2f;--f:#1d5f5b;"
    "--g:#5e5715;--h:#4a505a;--mark:#e9ecef}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}"
    "header,main,footer,nav{max-width:72rem;margin:0 auto;padding:0 1rem}"
    "h1{font-size:1.6rem;line-height:1.25;margin:1.2rem 0 .4rem}"
    "h2{font-size:1.25rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1.05rem;margin:1.2rem 0 .3rem}"
    "p,li,dd{max-width:60rem;overflow-wrap:anywhere}"
    "a{color:var(--link)}"
    ":focus-visible{outline:3px solid var(--link);outline-offset:2px}"
    ".skip{position:absolute;left:-100vw}"
    ".skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem}"
    ".unseen{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap}"
    "nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;list-style:none}"
    ".scroll{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;color:var(--soft);padding:.2rem 0}"
    "th,td{padding:.25rem .7rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line)}"
    "thead th{border-bottom:2px solid var(--line);white-space:nowrap}"
    "th.n,td.n{text-align:right;white-space:nowrap}"
    "td{min-width:6rem}td.n{min-width:3rem}td:not(.n):last-child{min-width:15rem}tbody "
    "th{font-weight:600;white-space:nowrap}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}"
    "dt{color:var(--soft)}dd{margin:0}"
    "@media(max-width:36rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}"
    "figure{margin:.8rem 0}figcaption{color:var(--soft);margin:.3rem 0}"
    ".nodes,.devices,.legend{list-style:none;padding:0;margin:.3rem 0;display:flex;"
    "flex-wrap:wrap;gap:.5rem}"
    ".nodes>li{background:var(--panel);border:1px solid var(--line);border-radius:6px;"
    "padding:.4rem .6rem}"
    ".devices{gap:.25rem}"
    ".devices li{min-width:2.2rem;text-align:center;border:1px solid var(--line);"
    "border-radius:3px;padding:0 .3rem;color:var(--mark)}"
    ".devices li.idle{border-style:dashed}"
    ".bars{display:grid;gap:.35rem}"
    ".bar{display:grid;grid-template-columns:23rem 1fr;gap:.6rem;align-items:center}"
    ".bar>span:first-child{overflow-wrap:anywhere}"
    "@media(max-width:36rem){.bar{grid-template-columns:1fr;gap:.1rem}}"
    ".track{position:relative;height:1.5rem;background:var(--panel);"
    "border:1px solid var(--line);overflow:hidden;display:block}"
    ".track i{position:absolute;top:0;bottom:0;border-left:1px solid var(--paper)}"
    ".legend i{display:inline-block;width:1.6rem;height:1rem;margin-right:.3rem;"
    "vertical-align:-.15rem;border:1px solid var(--line)}"
    ".limit{border-left:3px dashed var(--mark)!important}"
    ".a{background:var(--a)}"
    ".b{background:repeating-linear-gradient(45deg,var(--b) 0 4px,var(--paper) 4px 6px)}"
    ".c{background:repeating-linear-gradient(90deg,var(--c) 0 3px,var(--paper) 3px 5px)}"
    ".d{background:repeating-linear-gradient(0deg,var(--d) 0 3px,var(--paper) 3px 5px)}"
    ".e{background:var(--e)}"
    ".f{background:repeating-linear-gradient(-45deg,var(--f) 0 4px,var(--paper) 4px 6px)}"
    ".g{background:var(--g)}"
    ".h{background:repeating-linear-gradient(45deg,var(--h) 0 2px,var(--paper) 2px 4px)}"
    ".j{background:var(--line)}"
    ".s0{background:var(--a)}.s1{background:var(--b)}.s2{background:var(--c)}"
    ".s3{background:var(--d)}.s4{background:var(--e)}.s5{background:var(--f)}"
    ".s6{background:var(--g)}.s7{background:var(--h)}"
    "@media(forced-colors:active){.track i,.legend i,.devices li{"
    "forced-color-adjust:none}}"
    "@media print{.skip,nav{display:none}.scroll{overflow:visible}}"
    "label{display:block;margin:.4rem 0}";

/* --- text
 * ----------------------------------------------------------------------------- */

/* Control characters have no place in HTML; what would not be seen, or would turn the
 * order of the text around, is shown as U+FFFD. */
static size_t hidden_length(const char *at)
{
    static const char *const hidden[] = {"\xE2\x80\xAA", "\xE2\x80\xAB", "\xE2\x80\xAC",
                                         "\xE2\x80\xAD", "\xE2\x80\xAE", "\xE2\x81\xA6",
                                         "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9",
                                         "\xEF\xBF\xBE", "\xEF\xBF\xBF"};
    unsigned char c = (unsigned char)*at;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
        return 1;
    if (c == 0xC2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xA0)
        return 2;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strncmp(at, hidden[i], 3) == 0)
            return 3;
    return 0;
}

void yoke_html_text(yoke_text_t *page, const char *text)
{
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        size_t hidden = hidden_length(at);
        size_t plain = hidden > 0 ? hidden : 1;
        if (hidden > 0)
            yoke_text_add(page, "\xEF\xBF\xBD");
        else if (*at == '&')
            yoke_text_add(page, "&amp;");
        else if (*at == '<')
            yoke_text_add(page, "&lt;");
        else if (*at == '>')
            yoke_text_add(page, "&gt;");
        else if (*at == '"')
            yoke_text_add(page, "&quot;");
        else if (*at == '\'')
            yoke_text_add(page, "&#39;");
        else
            yoke_text_add_bytes(page, at, 1);
        at += plain;
    }
}

static void html_vprintf(yoke_text_t *page, const char *format, va_list args)
{
    yoke_text_t text = {0};
    yoke_text_vprintf(&text, format, args);
    if (text.failed)
        page->failed = true;
    yoke_html_text(page, yoke_text_get(&text));
    yoke_text_free(&text);
}

void yoke_html_printf(yoke_text_t *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    html_vprintf(page, format, args);
    va_end(args);
}

/* --- frame
 * ---------------------------------------------------------------------------- */

void yoke_html_begin(yoke_text_t *page, const char *title)
{
    yoke_text_add(
        page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, "
              "initial-scale=1\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
              "'none'; style-src 'unsafe-inline'; script-src 'sha256-" SCRIPT_DIGEST
              "'\">\n<title>");
    yoke_html_text(page, title);
    yoke_text_add(page, "</title>\n<style>");
    yoke_text_add(page, style);
    yoke_text_add(page, "</style>\n</head>\n<body>\n"
                        "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
}

void yoke_html_end(yoke_text_t *page)
{
    yoke_text_add(page, "<script>");
    yoke_text_add(page, script);
    yoke_text_add(page, "</script>\n</body>\n</html>\n");
}

void yoke_html_section(yoke_text_t *page, const char *id, const char *heading)
{
    yoke_text_printf(page, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
    yoke_html_text(page, heading);
    yoke_text_add(page, "</h2>\n");
}

void yoke_html_section_end(yoke_text_t *page)
{
    yoke_text_add(page, "</section>\n");
}

/* --- tables
 * --------------------------------------------------------------------------- */

void yoke_html_table(yoke_text_t *page, const char *id, const char *caption,
                     const char *const *headers, size_t count)
{
    yoke_text_printf(page,
                     "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                     "aria-labelledby=\"%s\">\n<table>\n<caption id=\"%s\">",
                     id, id);
    yoke_html_text(page, caption);
    yoke_text_add(page, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        bool number = headers[i][0] == '>';
        yoke_text_add(page,
                      number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        yoke_html_text(page, headers[i] + (number ? 1 : 0));
        yoke_text_add(page, "</th>");
    }
    yoke_text_add(page, "</tr></thead>\n<tbody>\n");
}

void yoke_html_row(yoke_text_t *page)
{
    yoke_text_add(page, "<tr>");
}

void yoke_html_head_cell(yoke_text_t *page, const char *text)
{
    yoke_text_add(page, "<th scope=\"row\">");
    yoke_html_text(page, text);
    yoke_text_add(page, "</th>");
}

void yoke_html_cell(yoke_text_t *page, const char *text)
{
    yoke_text_add(page, "<td>");
    yoke_html_text(page, text);
    yoke_text_add(page, "</td>");
}

void yoke_html_number(yoke_text_t *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_text_add(page, "<td class=\"n\">");
    html_vprintf(page, format, args);
    yoke_text_add(page, "</td>");
    va_end(args);
}

void yoke_html_row_end(yoke_text_t *page)
{
    yoke_text_add(page, "</tr>\n");
}

void yoke_html_table_end(yoke_text_t *page)
{
    yoke_text_add(page, "</tbody>\n</table>\n</div>\n");
}
