/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a report: bars of memory and of time. Every figure has a summary in
 * words, patterns beside colours, and its numbers in a table below. */
#include <math.h>
#include <stdlib.h>

#include "partition/plan_print.h"
#include "tools/report_parts.h"

#define GIB 1073741824.0

/* --- bars
 * ----------------------------------------------------------------------------- */

void yoke_report_figure(yoke_text_t *page, const char *id, const char *summary)
{
    yoke_text_printf(page, "<figure aria-labelledby=\"%s\">\n<figcaption id=\"%s\">", id,
                     id);
    yoke_html_text(page, summary);
    yoke_text_add(page, "</figcaption>\n");
}

void yoke_report_bar(yoke_text_t *page, const char *label)
{
    yoke_text_add(page, "<div class=\"bar\"><span>");
    yoke_html_text(page, label);
    yoke_text_add(page, "</span><span class=\"track\" aria-hidden=\"true\">");
}

void yoke_report_span(yoke_text_t *page, const char *class, double from, double to)
{
    if (!(to > from) || !(from >= 0))
        return;
    yoke_text_printf(page, "<i class=\"%s\" style=\"left:%.3f%%;width:%.3f%%\"></i>",
                     class, 100 * from, 100 * (to - from));
}

void yoke_report_bar_end(yoke_text_t *page)
{
    yoke_text_add(page, "</span></div>\n");
}

void yoke_report_legend(yoke_text_t *page, const char *const *classes,
                        const char *const *names, size_t count)
{
    yoke_text_add(page, "<ul class=\"legend\" aria-label=\"Legend\">");
    for (size_t i = 0; i < count; i++) {
        yoke_text_printf(page, "<li><i class=\"%s\" aria-hidden=\"true\"></i>",
                         classes[i]);
        yoke_html_text(page, names[i]);
        yoke_text_add(page, "</li>");
    }
    yoke_text_add(page, "</ul>\n</figure>\n");
}

static bool shown(const yoke_plan_t *plan, size_t pipeline)
{
    return yoke_pipeline_kind(plan, pipeline) == pipeline;
}

static void stage_label(const yoke_plan_t *plan, size_t pipeline, size_t stage,
                        yoke_text_t *out)
{
    const yoke_plan_stage_t *item = &plan->pipelines[pipeline].stages[stage];
    const char *type = yoke_stage_type(item);
    yoke_text_printf(out, "%zu.%zu", pipeline, stage);
    if (type != NULL)
        yoke_text_printf(out, " %s", type);
}

/* --- memory
 * --------------------------------------------------------------------------- */

enum { TERMS = 9 };
static const char *const term_names[TERMS] = {"weights",       "gradients", "optimizer",
                                              "activations",   "logits",    "working set",
                                              "communication", "context",   "slack"};
static const char *const term_classes[TERMS] = {"a", "b", "c", "d", "e",
                                                "f", "g", "h", "j"};

static void get_terms(const yoke_memory_terms_t *memory, double out[TERMS])
{
    const double terms[TERMS] = {
        memory->weights,       memory->gradients, memory->optimizer,
        memory->activations,   memory->logits,    memory->working_set,
        memory->communication, memory->context,   memory->slack};
    for (size_t t = 0; t < TERMS; t++)
        out[t] = isfinite(terms[t]) ? terms[t] : 0;
}

static const yoke_plan_device_t *fullest(const yoke_plan_stage_t *stage)
{
    const yoke_plan_device_t *most = NULL;
    for (size_t r = 0; r < stage->replica_count; r++)
        for (size_t d = 0; d < stage->replicas[r].device_count; d++) {
            const yoke_plan_device_t *device = &stage->replicas[r].devices[d];
            if (most == NULL || device->memory.predicted - device->memory.limit >
                                    most->memory.predicted - most->memory.limit)
                most = device;
        }
    return most;
}

typedef void (*stage_visit_t)(const yoke_report_t *, size_t, size_t, double,
                              yoke_text_t *);

static void each_stage(const yoke_report_t *report, stage_visit_t visit, double scale,
                       yoke_text_t *page)
{
    for (size_t p = 0; p < report->plan->pipeline_count; p++)
        for (size_t s = 0;
             shown(report->plan, p) && s < report->plan->pipelines[p].stage_count; s++)
            visit(report, p, s, scale, page);
}

static void memory_bar(const yoke_report_t *report, size_t pipeline, size_t stage,
                       double scale, yoke_text_t *page)
{
    const yoke_plan_device_t *device =
        fullest(&report->plan->pipelines[pipeline].stages[stage]);
    yoke_text_t label = {0};
    double terms[TERMS], from = 0;
    if (device == NULL)
        return;
    stage_label(report->plan, pipeline, stage, &label);
    yoke_text_printf(&label, ": %.1f of %.1f GiB", device->memory.predicted / GIB,
                     device->memory.limit / GIB);
    yoke_report_bar(page, yoke_text_get(&label));
    get_terms(&device->memory, terms);
    for (size_t t = 0; t < TERMS; t++) {
        yoke_report_span(page, term_classes[t], from / scale, (from + terms[t]) / scale);
        from += terms[t];
    }
    yoke_report_span(page, "limit", device->memory.limit / scale,
                     device->memory.limit / scale + 0.004);
    yoke_report_bar_end(page);
    yoke_text_free(&label);
}

static void memory_row(const yoke_report_t *report, size_t pipeline, size_t stage,
                       double scale, yoke_text_t *page)
{
    const yoke_plan_device_t *device =
        fullest(&report->plan->pipelines[pipeline].stages[stage]);
    yoke_text_t label = {0};
    double terms[TERMS];
    (void)scale;
    if (device == NULL)
        return;
    stage_label(report->plan, pipeline, stage, &label);
    get_terms(&device->memory, terms);
    yoke_html_row(page);
    yoke_html_head_cell(page, yoke_text_get(&label));
    yoke_html_cell(page, device->device);
    for (size_t t = 0; t < TERMS; t++)
        yoke_html_number(page, "%.2f", terms[t] / GIB);
    yoke_html_number(page, "%.2f", device->memory.predicted / GIB);
    yoke_html_number(page, "%.2f", device->memory.limit / GIB);
    yoke_html_cell(page, device->memory.predicted <= device->memory.limit ? "fits"
                                                                          : "too much");
    yoke_html_cell(page, device->memory.peak_at);
    yoke_html_row_end(page);
    yoke_text_free(&label);
}

static double largest_memory(const yoke_plan_t *plan)
{
    double most = 1;
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++) {
            const yoke_plan_device_t *device = fullest(&plan->pipelines[p].stages[s]);
            if (device != NULL && device->memory.limit > most)
                most = device->memory.limit;
            if (device != NULL && device->memory.predicted > most)
                most = device->memory.predicted;
        }
    return most * 1.01;
}

void yoke_report_memory(const yoke_report_t *report, yoke_text_t *page)
{
    static const char *const headers[] = {
        "Stage",        "Device",  ">Weights",     ">Gradients",     ">Optimizer",
        ">Activations", ">Logits", ">Working set", ">Communication", ">Context",
        ">Slack",       ">Sum",    ">Limit",       "Verdict",        "Peak at"};
    double scale = largest_memory(report->plan);
    yoke_html_section(page, "memory", "Memory");
    yoke_report_figure(page, "memory-figure",
                       "Memory of the fullest device of every stage, term by term from "
                       "left to right, against its limit (dashed line). The table below "
                       "has the same numbers.");
    yoke_text_add(page, "<div class=\"bars\">\n");
    each_stage(report, memory_bar, scale, page);
    yoke_text_add(page, "</div>\n");
    yoke_report_legend(page, term_classes, term_names, TERMS);
    yoke_html_table(page, "memory-table",
                    "Memory of the fullest device of every stage, in GiB", headers,
                    sizeof headers / sizeof *headers);
    each_stage(report, memory_row, scale, page);
    yoke_html_table_end(page);
    yoke_html_section_end(page);
}

/* --- timeline
 * ------------------------------------------------------------------------- */

static const char *const kind_classes[] = {"a", "b", "c", "d"};
static const char *const kind_names[] = {"forward", "backward", "gradient exchange",
                                         "weight update"};

static size_t row_kind(yoke_event_kind_t kind)
{
    switch (kind) {
    case YOKE_EVENT_FORWARD:
        return 0;
    case YOKE_EVENT_BACKWARD:
        return 1;
    case YOKE_EVENT_SYNC:
        return 2;
    case YOKE_EVENT_OPTIMIZER:
        return 3;
    case YOKE_EVENT_SEND_FORWARD:
    case YOKE_EVENT_SEND_BACKWARD:
        break;
    }
    return YOKE_ROW_KINDS;
}

static void event_spans(const yoke_report_t *report, size_t pipeline, size_t stage,
                        yoke_text_t *page)
{
    for (size_t i = 0; i < report->event_count; i++) {
        const yoke_report_event_t *event = &report->events[i];
        size_t kind = row_kind(event->kind);
        if (event->pipeline == pipeline && event->stage == stage && kind < YOKE_ROW_KINDS)
            yoke_report_span(page, kind_classes[kind], event->start / report->record.step,
                             event->end / report->record.step);
    }
}

/* Columns of equal time; in each its kinds one after another, and then what is idle. */
static void column_spans(const yoke_record_t *record, const yoke_stage_record_t *row,
                         yoke_text_t *page)
{
    size_t kind = YOKE_ROW_KINDS; /* of the span that is not yet written */
    double from = 0, to = 0;
    for (size_t c = 0; c < record->columns; c++) {
        double at = (double)c / (double)record->columns;
        for (size_t k = 0; k < YOKE_ROW_KINDS; k++) {
            double share = row->columns[c * YOKE_ROW_KINDS + k] / record->step;
            if (!(share > 0))
                continue;
            if (k != kind || at > to + 1e-9) {
                if (kind < YOKE_ROW_KINDS)
                    yoke_report_span(page, kind_classes[kind], from, to);
                kind = k;
                from = at;
            }
            to = at += share;
        }
    }
    if (kind < YOKE_ROW_KINDS)
        yoke_report_span(page, kind_classes[kind], from, to);
}

static void timeline_bar(const yoke_report_t *report, size_t pipeline, size_t stage,
                         double scale, yoke_text_t *page)
{
    const yoke_record_t *record = &report->record;
    yoke_text_t label = {0};
    (void)scale;
    stage_label(report->plan, pipeline, stage, &label);
    yoke_report_bar(page, yoke_text_get(&label));
    if (report->events != NULL)
        event_spans(report, pipeline, stage, page);
    else
        column_spans(record, &record->stages[record->first[pipeline] + stage], page);
    yoke_report_bar_end(page);
    yoke_text_free(&label);
}

static void timeline_row(const yoke_report_t *report, size_t pipeline, size_t stage,
                         double scale, yoke_text_t *page)
{
    const yoke_record_t *record = &report->record;
    const yoke_stage_record_t *row = &record->stages[record->first[pipeline] + stage];
    const yoke_plan_stage_t *item = &report->plan->pipelines[pipeline].stages[stage];
    char buffer[32];
    yoke_text_t label = {0};
    (void)scale;
    stage_label(report->plan, pipeline, stage, &label);
    yoke_html_row(page);
    yoke_html_head_cell(page, yoke_text_get(&label));
    yoke_html_number(page, "%s", yoke_show_seconds(item->forward_time, buffer));
    yoke_html_number(page, "%s", yoke_show_seconds(item->backward_time, buffer));
    yoke_html_number(page, "%.1f%%", 100 * row->compute / record->step);
    yoke_html_number(page, "%.1f%%", 100 * row->sync / record->step);
    yoke_html_number(page, "%.1f%%", 100 * row->optimizer / record->step);
    yoke_html_number(
        page, "%.1f%%",
        100 * (1 - (row->compute + row->sync + row->optimizer) / record->step));
    yoke_html_number(page, "%s", yoke_show_seconds(row->first_start, buffer));
    yoke_html_number(page, "%s", yoke_show_seconds(row->end, buffer));
    yoke_html_row_end(page);
    yoke_text_free(&label);
}

void yoke_report_timeline(const yoke_report_t *report, yoke_text_t *page)
{
    static const char *const headers[] = {"Stage", ">Forward",  ">Backward",
                                          ">Busy", ">Exchange", ">Update",
                                          ">Idle", ">Starts",   ">Ends"};
    char time[32];
    yoke_text_t summary = {0};
    yoke_html_section(page, "timeline", "Timeline");
    yoke_text_printf(&summary,
                     "One step of %s from left to right, a row for every stage (of equal "
                     "pipelines the first); what is not covered is idle. The table below "
                     "sums it up.",
                     yoke_show_seconds(report->record.step, time));
    yoke_report_figure(page, "timeline-figure", yoke_text_get(&summary));
    yoke_text_free(&summary);
    yoke_text_add(page, "<div data-zoom><div class=\"scroll\" role=\"region\" "
                        "tabindex=\"0\" aria-labelledby=\"timeline-figure\">"
                        "<div class=\"bars wide\">\n");
    each_stage(report, timeline_bar, 1, page);
    yoke_text_add(page, "</div></div></div>\n");
    yoke_report_legend(page, kind_classes, kind_names, YOKE_ROW_KINDS);
    yoke_html_table(page, "timeline-table",
                    "What every stage does: times of one micro-batch, shares of the step",
                    headers, sizeof headers / sizeof *headers);
    each_stage(report, timeline_row, 1, page);
    yoke_html_table_end(page);
    yoke_html_section_end(page);
}
