/* SPDX-License-Identifier: Apache-2.0 */
/* simulate --replay: how well a recorded trace is explained, and its what-ifs. */
#include "tools/simulate_replay.h"

#include <math.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "partition/plan_print.h"
#include "tools/cli.h"

/* Means over the steps, and how far single steps are off. */
typedef struct summary {
    double recorded, replayed, operations, changed;
    double pipeline_recorded, pipeline_replayed;
    double error, worst; /* of the step: mean and largest, absolute */
    double pipeline_error, pipeline_worst;
} summary_t;

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

static void meet_error(double replayed, double recorded, double count, double *mean,
                       double *worst)
{
    double error = fabs(ratio(replayed, recorded) - 1);
    *mean += error / count;
    *worst = error > *worst ? error : *worst;
}

static summary_t summarise(const yoke_recording_result_t *result)
{
    summary_t sum = {0};
    double count = (double)result->step_count;
    for (size_t i = 0; i < result->step_count; i++) {
        const yoke_recording_step_t *step = &result->steps[i];
        sum.recorded += step->recorded / count;
        sum.replayed += step->replayed / count;
        sum.operations += step->operations / count;
        sum.changed += step->changed / count;
        sum.pipeline_recorded += step->pipeline_recorded / count;
        sum.pipeline_replayed += step->pipeline_replayed / count;
        meet_error(step->replayed, step->recorded, count, &sum.error, &sum.worst);
        meet_error(step->pipeline_replayed, step->pipeline_recorded, count,
                   &sum.pipeline_error, &sum.pipeline_worst);
    }
    return sum;
}

/* --- text
 * ----------------------------------------------------------------------------- */

static void print_line(yoke_table_t *table, const char *what, double recorded,
                       double replayed)
{
    char a[32], b[32];
    yoke_table_cell(table, what);
    yoke_table_cell(table, yoke_show_seconds(recorded, a));
    yoke_table_cell(table, yoke_show_seconds(replayed, b));
    yoke_table_cellf(table, "%+.3f%%", 100 * (ratio(replayed, recorded) - 1));
}

static void print_errors(yoke_table_t *table, double mean, double worst)
{
    yoke_table_cellf(table, "%.3f%%", 100 * mean);
    yoke_table_cellf(table, "%.3f%%", 100 * worst);
}

static void print_times(const summary_t *sum, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {
        "From operation times", ">Recorded",      ">Replayed",
        ">Difference",          ">Mean of steps", ">Largest"};
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    print_line(table, "step", sum->recorded, sum->replayed);
    print_errors(table, sum->error, sum->worst);
    if (sum->pipeline_recorded > 0) {
        print_line(table, "pipeline alone", sum->pipeline_recorded,
                   sum->pipeline_replayed);
        print_errors(table, sum->pipeline_error, sum->pipeline_worst);
    }
    print_line(table, "step, no delays", sum->recorded, sum->operations);
    yoke_table_cell(table, "");
    yoke_table_cell(table, "");
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
    yoke_print_paragraph("step: with the typical delay (median over the steps) between "
                         "operations; pipeline alone: first forward to last backward, "
                         "from operation times alone; no delays: operation times alone; "
                         "last two columns: error of single steps",
                         width, 2, out);
}

static void print_ranks(const yoke_recording_result_t *result, size_t width,
                        yoke_text_t *out)
{
    static const char *const headers[] = {">dp",   ">pp",       ">tp",
                                          ">Busy", ">Exchange", ">Idle"};
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t r = 0; r < result->rank_count; r++) {
        const yoke_recording_rank_t *rank = &result->ranks[r];
        double idle = 1 - rank->compute - rank->exchange;
        yoke_table_cellf(table, "%u", rank->dp);
        yoke_table_cellf(table, "%u", rank->pp);
        yoke_table_cellf(table, "%u", rank->tp);
        yoke_table_cellf(table, "%.1f%%", 100 * rank->compute);
        yoke_table_cellf(table, "%.1f%%", 100 * rank->exchange);
        yoke_table_cellf(table, "%.1f%%", 100 * (idle > 0 ? idle : 0));
    }
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
}

static void print_doubts(const yoke_recording_result_t *result, size_t width,
                         yoke_text_t *out)
{
    yoke_text_t line = {0};
    if (result->unknown > 0)
        yoke_text_printf(&line,
                         "%zu operations have names that are not known; they are taken "
                         "as work of their rank. ",
                         result->unknown);
    if (result->apart > 0)
        yoke_text_printf(&line,
                         "%zu exchanges did not overlap on the ranks that should take "
                         "part; what-ifs may be wrong (an interleaved schedule?). ",
                         result->apart);
    if (line.size > 0) {
        yoke_text_add(out, "\n");
        yoke_print_paragraph(yoke_text_get(&line), width, 0, out);
    }
    yoke_text_free(&line);
}

static yoke_status_t write_text(const yoke_recording_result_t *result, bool slowed,
                                size_t width)
{
    summary_t sum = summarise(result);
    char step[32], before[32];
    yoke_text_t text = {0};
    if (slowed)
        yoke_text_printf(&text, "Step %s; %s without --slow, so %.2f times as long\n",
                         yoke_show_seconds(sum.changed, step),
                         yoke_show_seconds(sum.replayed, before),
                         ratio(sum.changed, sum.replayed));
    else
        yoke_text_printf(&text, "Step %s replayed, %s recorded\n",
                         yoke_show_seconds(sum.replayed, step),
                         yoke_show_seconds(sum.recorded, before));
    yoke_text_printf(&text, "  %zu step%s of %zu rank%s, %zu operations\n\n",
                     result->step_count, result->step_count == 1 ? "" : "s",
                     result->rank_count, result->rank_count == 1 ? "" : "s",
                     result->operations);
    print_times(&sum, width, &text);
    yoke_text_add(&text, "\n");
    print_ranks(result, width, &text);
    print_doubts(result, width, &text);
    yoke_status_t status =
        text.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* --- JSON
 * ----------------------------------------------------------------------------- */

static json_t *steps_to_json(const yoke_recording_result_t *result, bool slowed)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < result->step_count; i++) {
        const yoke_recording_step_t *step = &result->steps[i];
        json_t *object = json_object();
        yoke_json_set_u64(object, "step", (uint64_t)step->number);
        yoke_json_set_number(object, "recorded", step->recorded);
        yoke_json_set_number(object, "replayed", step->replayed);
        yoke_json_set_number(object, "operations_only", step->operations);
        yoke_json_set_number(object, "pipeline_recorded", step->pipeline_recorded);
        yoke_json_set_number(object, "pipeline_replayed", step->pipeline_replayed);
        if (slowed)
            yoke_json_set_number(object, "slowed", step->changed);
        json_array_append_new(steps, object);
    }
    return steps;
}

static json_t *ranks_to_json(const yoke_recording_result_t *result)
{
    json_t *ranks = json_array();
    for (size_t i = 0; i < result->rank_count; i++) {
        const yoke_recording_rank_t *rank = &result->ranks[i];
        json_t *object = json_object();
        yoke_json_set_u64(object, "dp", rank->dp);
        yoke_json_set_u64(object, "pp", rank->pp);
        yoke_json_set_u64(object, "tp", rank->tp);
        yoke_json_set_number(object, "busy", rank->compute);
        yoke_json_set_number(object, "exchange", rank->exchange);
        json_array_append_new(ranks, object);
    }
    return ranks;
}

static yoke_status_t write_json(const char *target, const char *path,
                                const yoke_recording_result_t *result, bool slowed)
{
    summary_t sum = summarise(result);
    json_t *root = json_object();
    yoke_json_set_string(root, "trace", path);
    yoke_json_set_number(root, "recorded", sum.recorded);
    yoke_json_set_number(root, "replayed", sum.replayed);
    yoke_json_set_number(root, "operations_only", sum.operations);
    if (slowed)
        yoke_json_set_number(root, "slowed", sum.changed);
    yoke_json_set_number(root, "pipeline_recorded", sum.pipeline_recorded);
    yoke_json_set_number(root, "pipeline_replayed", sum.pipeline_replayed);
    yoke_json_set_number(root, "error_mean", sum.error);
    yoke_json_set_number(root, "error_largest", sum.worst);
    yoke_json_set_number(root, "pipeline_error_mean", sum.pipeline_error);
    yoke_json_set_number(root, "pipeline_error_largest", sum.pipeline_worst);
    yoke_json_set_u64(root, "operations", result->operations);
    yoke_json_set_u64(root, "operations_unknown", result->unknown);
    yoke_json_set_u64(root, "exchanges_apart", result->apart);
    json_object_set_new(root, "steps", steps_to_json(result, slowed));
    json_object_set_new(root, "ranks", ranks_to_json(result));
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

yoke_status_t yoke_simulate_replay(const char *path, const yoke_recording_slow_t *slow,
                                   size_t slow_count, const char *json, size_t width)
{
    yoke_recording_t *recording = NULL;
    yoke_recording_result_t result = {0};
    yoke_status_t status = yoke_recording_read(path, &recording);
    if (status != YOKE_OK)
        return status;
    status = yoke_recording_replay(recording, slow, slow_count, &result);
    if (status == YOKE_OK)
        status = json != NULL ? write_json(json, path, &result, slow_count > 0)
                              : write_text(&result, slow_count > 0, width);
    yoke_recording_result_free(&result);
    yoke_recording_free(recording);
    return status;
}
