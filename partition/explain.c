/* SPDX-License-Identifier: Apache-2.0 */
/* `explain`: the plan in plain words. Nothing is computed here but shares and sums. */
#include "partition/explain.h"

#include <math.h>
#include <string.h>

#include "base/table.h"
#include "partition/plan_print.h"

#define GIB 1073741824.0

/* --- why each type got what it got ----------------------------------------------------
 */

/* More than its share, less, or about it. */
static const char *against(double share, double supply)
{
    if (share > supply * 1.05)
        return "more than";
    return share < supply * 0.95 ? "less than" : "about";
}

static void explain_type(const yoke_plan_match_t *match, size_t width, yoke_text_t *text)
{
    yoke_text_t line = {0};
    if (match->used == 0) {
        yoke_text_printf(
            &line,
            "%s: none of its %llu device%s is used; see 'Left out' for the reason.",
            match->type, (unsigned long long)match->devices,
            match->devices == 1 ? "" : "s");
    } else if (!isnan(match->compute_share) && !isnan(match->memory_share)) {
        yoke_text_printf(&line,
                         "%s: does %.0f%% of the work, %s its %.0f%% of the cluster's "
                         "speed, and holds %.0f%% "
                         "of the bytes, %s its %.0f%% of the memory. ",
                         match->type, 100 * match->compute_share,
                         against(match->compute_share, match->compute_supply),
                         100 * match->compute_supply, 100 * match->memory_share,
                         against(match->memory_share, match->memory_supply),
                         100 * match->memory_supply);
        if (match->memory_used > 0.9)
            yoke_text_printf(
                &line,
                "Its memory is %.0f%% full: memory, not speed, keeps more layers "
                "from it.",
                100 * match->memory_used);
        else if (match->compute_used > 0.8)
            yoke_text_printf(
                &line,
                "It computes %.0f%% of the step with memory to spare: speed decided "
                "its part.",
                100 * match->compute_used);
        else
            yoke_text_printf(&line,
                             "It computes %.0f%% of the step and waits the rest of it: "
                             "for the busiest stage, for "
                             "the pipeline to fill and drain, or for the exchange.",
                             100 * match->compute_used);
    }
    if (line.size > 0)
        yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
    yoke_text_free(&line);
}

static void explain_match(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    yoke_print_match(plan, width, text);
    for (size_t i = 0; i < plan->match_count; i++)
        explain_type(&plan->matches[i], width, text);
}

/* --- what limits the step -------------------------------------------------------------
 */

static void add_row(yoke_table_t *table, const char *what, double fraction, double time,
                    const char *remark)
{
    char buffer[32];
    yoke_table_cell(table, what);
    yoke_table_cellf(table, "%.1f%%", 100 * fraction);
    yoke_table_cell(table, yoke_show_seconds(fraction * time, buffer));
    yoke_table_cell(table, remark);
}

static void stage_name(const yoke_plan_t *plan, size_t pipeline, size_t stage,
                       yoke_text_t *out)
{
    if (plan->pipeline_count > 1)
        yoke_text_printf(out, "pipeline %zu ", pipeline);
    yoke_text_printf(out, "stage %zu, ", stage);
    yoke_stage_layers(&plan->pipelines[pipeline].stages[stage], out);
}

static void explain_limit(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    static const char *const headers[] = {"Of the step", ">Share", ">Time", "~Where"};
    yoke_limit_t limit;
    yoke_print_heading("What limits the step", text);
    if (plan->limited_by != NULL) {
        yoke_text_t line = {0};
        yoke_text_printf(&line, "%s.", plan->limited_by);
        yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
        yoke_text_free(&line);
    }
    if (!yoke_plan_limit(plan, &limit)) {
        yoke_print_paragraph(
            "The document states no times; give --model and --cluster to have "
            "them computed.",
            width, 2, text);
        return;
    }
    double time = plan->iteration_time;
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    yoke_text_t busiest = {0}, sync = {0}, send = {0};
    stage_name(plan, limit.pipeline, limit.stage, &busiest);
    stage_name(plan, limit.sync_pipeline, limit.sync_stage, &sync);
    yoke_text_add(&send, "behind ");
    stage_name(plan, limit.send_pipeline, limit.send_stage, &send);
    add_row(table, "computing", limit.compute, time, yoke_text_get(&busiest));
    add_row(table, "waiting (bubble)", limit.idle, time, "the same stage");
    add_row(table, "gradient exchange", limit.sync, time,
            limit.sync > 0 ? yoke_text_get(&sync) : "none");
    add_row(table, "weight update", limit.optimizer, time, "the slowest stage");
    if (limit.send > 0)
        add_row(table, "sending, overlapped", limit.send, time, yoke_text_get(&send));
    yoke_table_print(table, width, 2, text);
    yoke_table_free(table);
    yoke_text_free(&busiest);
    yoke_text_free(&sync);
    yoke_text_free(&send);
}

/* --- memory ----------------------------------------------------------------------------
 */

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

static void memory_row(yoke_table_t *table, const yoke_plan_t *plan, size_t p, size_t s)
{
    const yoke_plan_device_t *device = fullest(&plan->pipelines[p].stages[s]);
    if (plan->pipeline_count > 1)
        yoke_table_cellf(table, "%zu.%zu", p, s);
    else
        yoke_table_cellf(table, "%zu", s);
    const yoke_memory_terms_t *memory = &device->memory;
    const double terms[] = {memory->weights,       memory->gradients, memory->optimizer,
                            memory->activations,   memory->logits,    memory->working_set,
                            memory->communication, memory->context,   memory->slack,
                            memory->predicted,     memory->limit};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (isnan(terms[i]))
            yoke_table_cell(table, NULL);
        else
            yoke_table_cellf(table, "%.1f", terms[i] / GIB);
}

static void explain_memory(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    static const char *const headers[] = {">Stage", ">Wts",   ">Grad",  ">Opt",
                                          ">Act",   ">Logit", ">Work",  ">Comm",
                                          ">Ctx",   ">Slack", ">Total", ">Limit"};
    const yoke_plan_device_t *tightest = NULL;
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        if (yoke_pipeline_kind(plan, p) != p)
            continue;
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++) {
            const yoke_plan_device_t *device = fullest(&plan->pipelines[p].stages[s]);
            if (device == NULL || isnan(device->memory.predicted))
                continue;
            memory_row(table, plan, p, s);
            if (tightest == NULL ||
                device->memory.limit - device->memory.predicted <
                    tightest->memory.limit - tightest->memory.predicted)
                tightest = device;
        }
    }
    if (tightest != NULL) {
        char room[32];
        yoke_text_t line = {0};
        yoke_print_heading("Memory of the fullest device of every stage, GiB", text);
        yoke_table_print(table, width, 2, text);
        yoke_print_paragraph(
            "weights, gradients, optimizer state, activations, logits, working "
            "set, communication buffers, context, allocator slack",
            width, 2, text);
        yoke_text_printf(
            &line, "Least room: %s on %s, at the %s.",
            yoke_show_bytes(tightest->memory.limit - tightest->memory.predicted, room),
            tightest->device,
            tightest->memory.peak_at != NULL ? tightest->memory.peak_at : "peak");
        yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
        yoke_text_free(&line);
    }
    yoke_table_free(table);
}

/* --- sensitivity -----------------------------------------------------------------------
 */

static void cell_change(yoke_table_t *table, double time, double base)
{
    if (isnan(time) || isnan(base) || base <= 0)
        yoke_table_cell(table, NULL);
    else
        yoke_table_cellf(table, "%+.1f%%", 100 * (time / base - 1));
}

static void explain_sensitivity(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    static const char *const headers[] = {"~If",    ">times",    ">the step",
                                          ">times", ">the step", "~Its source"};
    if (plan->sensitivity_count == 0)
        return;
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->sensitivity_count; i++) {
        const yoke_plan_sensitivity_t *item = &plan->sensitivities[i];
        yoke_table_cell(table, item->input);
        yoke_table_cellf(table, "x%.2f", item->from);
        cell_change(table, item->iteration_time[0], plan->iteration_time);
        yoke_table_cellf(table, "x%.2f", item->to);
        cell_change(table, item->iteration_time[1], plan->iteration_time);
        yoke_table_cell(table, item->source);
    }
    yoke_print_heading("How sure is it (the inputs that matter most)", text);
    yoke_table_print(table, width, 2, text);
    yoke_table_free(table);
}

void yoke_plan_explain(const yoke_plan_t *plan, const yoke_model_t *model, size_t width,
                       yoke_text_t *out)
{
    yoke_print_answer(plan, width, out);
    yoke_print_placement(plan, model, width, out);
    explain_match(plan, width, out);
    explain_limit(plan, width, out);
    explain_memory(plan, width, out);
    yoke_print_bound(plan, width, out);
    yoke_print_alternatives(plan, width, out);
    explain_sensitivity(plan, width, out);
    yoke_print_unused(plan, width, out);
    yoke_print_notes(plan, width, out);
}
