/* SPDX-License-Identifier: Apache-2.0 */
/* The step as rows of letters. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "partition/plan_print.h"
#include "tools/simulate_record.h"

#define LABEL 9    /* "  12.34 |" */
#define NARROW 3.0 /* columns below which micro-batches are drawn together */

/* --- record
 * ------------------------------------------------------------------------------ */

yoke_status_t yoke_record_init(const yoke_layout_t *layout, double step, size_t columns,
                               yoke_record_t *out)
{
    yoke_record_t record = {.step = step, .columns = columns};
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        record.stage_count += layout->pipelines[p].stage_count;
    record.first = calloc(layout->pipeline_count + 1, sizeof *record.first);
    record.stages = calloc(record.stage_count + 1, sizeof *record.stages);
    bool good = record.first != NULL && record.stages != NULL;
    for (size_t s = 0; s < record.stage_count && good; s++) {
        record.stages[s].first_start = step;
        record.stages[s].columns = calloc(columns * YOKE_ROW_KINDS, sizeof(double));
        good = record.stages[s].columns != NULL;
    }
    for (unsigned p = 0; p < layout->pipeline_count && good; p++)
        record.first[p + 1] = record.first[p] + layout->pipelines[p].stage_count;
    if (!good) {
        yoke_record_free(&record);
        return yoke_fail_memory();
    }
    *out = record;
    return YOKE_OK;
}

void yoke_record_free(yoke_record_t *record)
{
    for (size_t s = 0; record->stages != NULL && s < record->stage_count; s++)
        free(record->stages[s].columns);
    free(record->stages);
    free(record->first);
    *record = (yoke_record_t){0};
}

/* Share of [start, end] in every column that it touches. */
static void fill_columns(const yoke_record_t *record, yoke_stage_record_t *stage,
                         size_t kind, double start, double end)
{
    double width = record->step / (double)record->columns;
    size_t column = (size_t)(start / width);
    for (; column < record->columns && (double)column * width < end; column++) {
        double left = (double)column * width, right = left + width;
        double from = start > left ? start : left, to = end < right ? end : right;
        if (to > from)
            stage->columns[column * YOKE_ROW_KINDS + kind] += to - from;
    }
}

void yoke_record_event(void *context, unsigned pipeline, unsigned stage,
                       yoke_event_kind_t kind, unsigned micro_batch, double start,
                       double end)
{
    yoke_record_t *record = context;
    yoke_stage_record_t *row = &record->stages[record->first[pipeline] + stage];
    (void)micro_batch;
    switch (kind) {
    case YOKE_EVENT_FORWARD:
    case YOKE_EVENT_BACKWARD:
        row->compute += end - start;
        row->first_start = start < row->first_start ? start : row->first_start;
        row->end = end > row->end ? end : row->end;
        fill_columns(record, row, kind == YOKE_EVENT_FORWARD ? 0 : 1, start, end);
        break;
    case YOKE_EVENT_SYNC:
        row->sync += end - start;
        fill_columns(record, row, 2, start, end);
        break;
    case YOKE_EVENT_OPTIMIZER:
        row->optimizer += end - start;
        fill_columns(record, row, 3, start, end);
        break;
    case YOKE_EVENT_SEND_FORWARD:
    case YOKE_EVENT_SEND_BACKWARD:
        break; /* transfers do not occupy the devices */
    }
}

/* --- text
 * -------------------------------------------------------------------------------- */

size_t yoke_timeline_columns(size_t width)
{
    return width > LABEL + 21 ? width - LABEL - 1 : 20;
}

/* The kind with most of the column's time; idle when nothing fills half of it. */
static char column_letter(const yoke_record_t *record, const double *times)
{
    double total = 0, most = 0;
    char letter = '.';
    for (size_t k = 0; k < YOKE_ROW_KINDS; k++) {
        total += times[k];
        if (times[k] > most) {
            most = times[k];
            letter = "FB=#"[k];
        }
    }
    return total * 2 < record->step / (double)record->columns ? '.' : letter;
}

/* Time that letters of a row still owe to each kind, in columns. */
typedef struct debt {
    double kinds[YOKE_ROW_KINDS], idle;
} debt_t;

/*
 * Where a column holds more than one thing happening, what is owed most is drawn, of what
 * there is in the column. What is owed to idle stays within half a column, so that its
 * letters in any part of the row are as many as its time, to one column.
 */
static char owed_letter(const yoke_record_t *record, const double *times, debt_t *debt)
{
    const double width = record->step / (double)record->columns;
    double total = 0;
    size_t most = YOKE_ROW_KINDS;
    for (size_t k = 0; k < YOKE_ROW_KINDS; k++) {
        total += times[k];
        debt->kinds[k] += times[k] / width;
        if (times[k] > 0 &&
            (most == YOKE_ROW_KINDS || debt->kinds[k] > debt->kinds[most]))
            most = k;
    }
    debt->idle += total < width ? 1 - total / width : 0;
    if (debt->idle >= 0.5 || most == YOKE_ROW_KINDS) {
        debt->idle -= 1;
        return '.';
    }
    debt->kinds[most] -= 1;
    return "FB=#"[most];
}

/* Is one micro-batch of the row too narrow to be drawn by itself? */
static bool is_narrow(const yoke_plan_t *plan, const yoke_record_t *record,
                      size_t pipeline, const yoke_stage_record_t *row)
{
    double columns = row->compute / record->step * (double)record->columns;
    return columns < NARROW * (double)plan->pipelines[pipeline].micro_batches;
}

static void print_row(const yoke_plan_t *plan, const yoke_record_t *record,
                      size_t pipeline, size_t stage, bool *narrow, yoke_text_t *out)
{
    char label[32];
    debt_t debt = {{0}, 0};
    yoke_snprintf(label, sizeof label, "%zu.%zu", pipeline, stage);
    yoke_text_printf(out, "%7s |", label);
    const yoke_stage_record_t *row = &record->stages[record->first[pipeline] + stage];
    bool together = is_narrow(plan, record, pipeline, row);
    for (size_t c = 0; c < record->columns; c++) {
        const double *times = &row->columns[c * YOKE_ROW_KINDS];
        char letter[2] = {together ? owed_letter(record, times, &debt)
                                   : column_letter(record, times),
                          '\0'};
        yoke_text_add(out, letter);
    }
    yoke_text_add(out, "|\n");
    *narrow = *narrow || together;
}

static void print_scale(const yoke_record_t *record, yoke_text_t *out)
{
    char end[32];
    yoke_show_seconds(record->step, end);
    yoke_text_printf(out, "%*s0", LABEL, "");
    yoke_text_printf(out, "%*s\n", (int)record->columns - 1, end);
}

static bool shown(const yoke_plan_t *plan, size_t pipeline, bool all)
{
    return all || yoke_pipeline_kind(plan, pipeline) == pipeline;
}

static void print_table(const yoke_plan_t *plan, const yoke_record_t *record, bool all,
                        size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {">Stage", "~Type",     "Layers",
                                          ">Busy",  ">Exchange", ">Update",
                                          ">Idle",  ">Start",    ">End"};
    char start[32], end[32];
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; shown(plan, p, all) && s < plan->pipelines[p].stage_count;
             s++) {
            const yoke_stage_record_t *row = &record->stages[record->first[p] + s];
            yoke_text_t layers = {0};
            yoke_print_layers(&plan->pipelines[p].stages[s], &layers);
            yoke_table_cellf(table, "%zu.%zu", p, s);
            yoke_table_cell(table, yoke_stage_type(&plan->pipelines[p].stages[s]));
            yoke_table_cell(table, yoke_text_get(&layers));
            yoke_table_cellf(table, "%.1f%%", 100 * row->compute / record->step);
            yoke_table_cellf(table, "%.1f%%", 100 * row->sync / record->step);
            yoke_table_cellf(table, "%.1f%%", 100 * row->optimizer / record->step);
            yoke_table_cellf(
                table, "%.1f%%",
                100 * (1 - (row->compute + row->sync + row->optimizer) / record->step));
            yoke_table_cell(table, yoke_show_seconds(row->first_start, start));
            yoke_table_cell(table, yoke_show_seconds(row->end, end));
            yoke_text_free(&layers);
        }
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
}

void yoke_timeline_print(const yoke_plan_t *plan, const yoke_record_t *record, bool all,
                         size_t width, yoke_text_t *out)
{
    bool narrow = false;
    print_table(plan, record, all, width, out);
    yoke_text_add(out, "\n");
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        if (!shown(plan, p, all))
            continue;
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            print_row(plan, record, p, s, &narrow, out);
    }
    print_scale(record, out);
    yoke_text_add(
        out, "  F forward, B backward, = gradient exchange, # weight update, . idle\n"
             "  rows: pipeline.stage");
    if (!all)
        yoke_text_add(out, "; of equal pipelines the first");
    yoke_text_add(out, "\n");
    if (narrow)
        yoke_print_paragraph(
            "where a micro-batch is narrower than 3 columns, micro-batches "
            "are drawn together: a row has as many of each letter as its "
            "time, in about the right place; --trace has every one",
            width, 2, out);
}
