/* SPDX-License-Identifier: Apache-2.0 */
/* What `yoke plan` prints. */
#include "partition/plan_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"

void yoke_print_heading(const char *heading, yoke_text_t *text)
{
    yoke_text_printf(text, "\n%s\n", heading);
}

void yoke_print_paragraph(const char *paragraph, size_t width, size_t indent,
                          yoke_text_t *text)
{
    for (size_t i = 0; i < indent; i++)
        yoke_text_add(text, " ");
    yoke_wrap(paragraph, width, indent, text);
    yoke_text_add(text, "\n");
}

/* --- the answer -----------------------------------------------------------------------
 */

static size_t count_devices(const yoke_plan_t *plan)
{
    size_t count = 0;
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            for (size_t r = 0; r < plan->pipelines[p].stages[s].replica_count; r++)
                count += plan->pipelines[p].stages[s].replicas[r].device_count;
    return count;
}

static void add_times(const yoke_plan_t *plan, yoke_text_t *line)
{
    char time[32], low[32], high[32], rate[32];
    if (isnan(plan->iteration_time)) {
        yoke_text_add(line, "Step time not stated");
        return;
    }
    yoke_text_printf(line, "Step %s", yoke_show_seconds(plan->iteration_time, time));
    if (!isnan(plan->iteration_time_low) && !isnan(plan->iteration_time_high))
        yoke_text_printf(line, " (%s to %s)",
                         yoke_show_seconds(plan->iteration_time_low, low),
                         yoke_show_seconds(plan->iteration_time_high, high));
    if (!isnan(plan->tokens_per_second))
        yoke_text_printf(line, ", %s tokens/s",
                         yoke_show_count((uint64_t)plan->tokens_per_second, rate));
    if (!isnan(plan->utilisation))
        yoke_text_printf(line, ", %.0f%% of the speed of the devices used",
                         100 * plan->utilisation);
}

void yoke_print_answer(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    yoke_text_t line = {0};
    size_t devices = count_devices(plan);
    if (!plan->feasible)
        yoke_text_add(&line, "DOES NOT FIT in memory. ");
    add_times(plan, &line);
    yoke_print_paragraph(yoke_text_get(&line), width, 0, text);
    yoke_text_free(&line);
    yoke_text_printf(
        &line, "%s on %s: %zu device%s, batch %llu x %llu tokens, %s, %s%s, memory %s",
        plan->model_name != NULL ? plan->model_name : "unnamed model",
        plan->inventory_name != NULL ? plan->inventory_name : "unnamed cluster", devices,
        devices == 1 ? "" : "s", (unsigned long long)plan->global_batch,
        (unsigned long long)plan->sequence, yoke_dtype_name(plan->dtype),
        yoke_optimizer_name(plan->optimizer),
        plan->sharded_optimizer ? " with sharded state" : "",
        plan->memory_policy != NULL ? plan->memory_policy : "usable");
    yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
    yoke_text_free(&line);
}

/* --- match ----------------------------------------------------------------------------
 */

static void cell_percent(yoke_table_t *table, double fraction)
{
    if (isnan(fraction))
        yoke_table_cell(table, NULL);
    else
        yoke_table_cellf(table, "%.1f%%", 100 * fraction);
}

void yoke_print_match(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    static const char *const headers[] = {"~Type",  ">Used",  ">FLOPs", ">could",
                                          ">Bytes", ">could", ">Busy",  ">Full"};
    if (plan->match_count == 0)
        return;
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->match_count; i++) {
        const yoke_plan_match_t *match = &plan->matches[i];
        yoke_table_cell(table, match->type);
        yoke_table_cellf(table, "%llu/%llu", (unsigned long long)match->used,
                         (unsigned long long)match->devices);
        cell_percent(table, match->compute_share);
        cell_percent(table, match->compute_supply);
        cell_percent(table, match->memory_share);
        cell_percent(table, match->memory_supply);
        cell_percent(table, match->used > 0 ? match->compute_used : (double)NAN);
        cell_percent(table, match->used > 0 ? match->memory_used : (double)NAN);
    }
    yoke_print_heading("Match of work and devices", text);
    yoke_table_print(table, width, 2, text);
    yoke_print_paragraph(
        "FLOPs and Bytes: what the type does and holds, as shares of the whole, "
        "beside what it could (its share of the speed and of the memory); Busy: "
        "computing, of the step; Full: of the memory limit",
        width, 2, text);
    yoke_table_free(table);
}

/* --- bound, alternatives, the rest ----------------------------------------------------
 */

void yoke_print_bound(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    char time[32];
    yoke_text_t line = {0};
    yoke_print_heading("How good is it", text);
    if (isnan(plan->bound_time)) {
        yoke_print_paragraph("No bound is stated.", width, 2, text);
    } else {
        yoke_text_printf(&line,
                         "No plan of this kind takes less than %s; this one takes %.1f%% "
                         "more.",
                         yoke_show_seconds(plan->bound_time, time),
                         100 * plan->bound_gap);
        if (plan->bound_binding != NULL)
            yoke_text_printf(&line, " The bound is %s.", plan->bound_binding);
        yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
        yoke_text_free(&line);
    }
}

void yoke_print_alternatives(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    static const char *const headers[] = {"Instead", ">Step", "~Why not"};
    char time[32];
    if (plan->alternative_count == 0)
        return;
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->alternative_count; i++) {
        const yoke_plan_alternative_t *item = &plan->alternatives[i];
        yoke_table_cell(table, item->kind);
        yoke_table_cell(table, item->feasible
                                   ? yoke_show_seconds(item->iteration_time, time)
                                   : "none");
        yoke_table_cell(table, item->why);
    }
    yoke_print_heading("Alternatives", text);
    yoke_table_print(table, width, 2, text);
    yoke_table_free(table);
}

/* Do two entries differ in the device's id only? */
static bool same_but_id(const yoke_plan_unused_t *a, const yoke_plan_unused_t *b)
{
    const char *slash = strchr(a->device, '/');
    size_t size = slash != NULL ? (size_t)(slash - a->device) + 1 : 0;
    const char *reason_a = a->reason != NULL ? a->reason : "";
    const char *reason_b = b->reason != NULL ? b->reason : "";
    return size > 0 && strncmp(a->device, b->device, size) == 0 &&
           strcmp(reason_a, reason_b) == 0;
}

/* "host/gpu0", "host/gpu1" ... with one reason as "host/gpu[0-1]"; returns the entries
 * taken. */
static size_t print_unused_run(const yoke_plan_t *plan, size_t first, size_t width,
                               yoke_text_t *text)
{
    const yoke_plan_unused_t *entry = &plan->unused[first];
    yoke_strings_t ids = {0};
    yoke_text_t line = {0};
    size_t end = first;
    while (end < plan->unused_count && same_but_id(entry, &plan->unused[end]) &&
           yoke_strings_add(&ids, strchr(plan->unused[end].device, '/') + 1) == YOKE_OK)
        end++;
    char *folded = ids.count > 1 ? yoke_hostlist_compress(&ids) : NULL;
    if (folded != NULL)
        yoke_text_printf(&line, "%.*s/%s",
                         (int)(strchr(entry->device, '/') - entry->device), entry->device,
                         folded);
    else
        yoke_text_add(&line, entry->device);
    yoke_text_printf(&line, ": %s",
                     entry->reason != NULL ? entry->reason : "no reason stated");
    yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
    yoke_text_free(&line);
    yoke_strings_free(&ids);
    size_t taken = folded != NULL ? end - first : 1;
    free(folded);
    return taken;
}

void yoke_print_unused(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    if (plan->unused_count == 0)
        return;
    yoke_print_heading("Left out", text);
    for (size_t i = 0; i < plan->unused_count;)
        i += print_unused_run(plan, i, width, text);
}

void yoke_print_notes(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    if (plan->note_count == 0)
        return;
    yoke_print_heading("Doubts and notes", text);
    for (size_t i = 0; i < plan->note_count; i++) {
        yoke_text_add(text, "  - ");
        yoke_wrap(plan->notes[i], width, 4, text);
        yoke_text_add(text, "\n");
    }
}

static void print_limit(const yoke_plan_t *plan, size_t width, yoke_text_t *text)
{
    yoke_text_t line = {0};
    if (plan->limited_by == NULL)
        return;
    yoke_text_printf(&line, "Limited by: %s.", plan->limited_by);
    yoke_print_paragraph(yoke_text_get(&line), width, 2, text);
    yoke_text_free(&line);
}

yoke_status_t yoke_plan_print(const yoke_plan_t *plan, const yoke_model_t *model,
                              size_t width, yoke_text_t *text)
{
    yoke_print_answer(plan, width, text);
    yoke_print_placement(plan, model, width, text);
    yoke_print_match(plan, width, text);
    yoke_print_bound(plan, width, text);
    print_limit(plan, width, text);
    yoke_print_alternatives(plan, width, text);
    yoke_print_unused(plan, width, text);
    yoke_print_notes(plan, width, text);
    return text->failed ? yoke_fail_memory() : YOKE_OK;
}
