/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_REPORT_PARTS_H
#define YOKE_TOOLS_REPORT_PARTS_H

/* What a report is made of, and its sections in the order of the page. */

#include "tools/report_html.h"
#include "tools/simulate_record.h"
#include "yoke/inventory.h"
#include "yoke/model.h"
#include "yoke/plan.h"

typedef struct yoke_what_if {
    char *what;  /* "every A100-SXM4-80GB at 90% of its speed" */
    double step; /* seconds */
} yoke_what_if_t;

typedef struct yoke_report_event {
    unsigned pipeline, stage, micro_batch;
    yoke_event_kind_t kind;
    double start, end;
} yoke_report_event_t;

/* More events than this are drawn by columns of equal time. */
enum { YOKE_REPORT_MOST_EVENTS = 4000, YOKE_REPORT_COLUMNS = 400 };

typedef struct yoke_report {
    const yoke_plan_t *plan; /* its times and memory made anew */
    const yoke_model_t *model;
    const yoke_inventory_t *inventory;
    yoke_record_t record;
    yoke_report_event_t *events; /* NULL: too many */
    size_t event_count;
    yoke_what_if_t *what_ifs;
    size_t what_if_count;
} yoke_report_t;

void yoke_report_cluster(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_placement(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_match(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_memory(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_timeline(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_what_ifs(const yoke_report_t *report, yoke_text_t *page);
void yoke_report_certificate(const yoke_report_t *report, yoke_text_t *page);

/* One bar of a figure: its label, then spans of 0..1 in classes 'a'..'h' of the style. */
void yoke_report_bar(yoke_text_t *page, const char *label);
void yoke_report_span(yoke_text_t *page, const char *class, double from, double to);
void yoke_report_bar_end(yoke_text_t *page);
/* A figure that is read by its `summary` and drawn for the eye. */
void yoke_report_figure(yoke_text_t *page, const char *id, const char *summary);
/* Its legend: classes and names, `count` of each; then the end. */
void yoke_report_legend(yoke_text_t *page, const char *const *classes,
                        const char *const *names, size_t count);

#endif
