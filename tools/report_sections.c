/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a report that are lists and tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/plan_print.h"
#include "tools/report_parts.h"

/* --- cluster
 * -------------------------------------------------------------------------- */

enum { MOST_HOSTS = 64 };

/* A device of the plan and where it works. */
typedef struct placed {
    const char *device;
    size_t pipeline, stage;
} placed_t;

static int by_device(const void *left, const void *right)
{
    const placed_t *a = left, *b = right;
    return strcmp(a->device, b->device);
}

static placed_t *place_devices(const yoke_plan_t *plan, size_t *out_count)
{
    size_t count = 0;
    placed_t *placed = NULL;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (size_t p = 0; p < plan->pipeline_count; p++)
            for (size_t s = 0; s < plan->pipelines[p].stage_count; s++) {
                const yoke_plan_stage_t *stage = &plan->pipelines[p].stages[s];
                for (size_t r = 0; r < stage->replica_count; r++)
                    for (size_t d = 0; d < stage->replicas[r].device_count; d++, count++)
                        if (pass == 1)
                            placed[count] =
                                (placed_t){stage->replicas[r].devices[d].device, p, s};
            }
        if (pass == 0)
            placed = calloc(count + 1, sizeof *placed);
        if (placed == NULL)
            return NULL;
    }
    qsort(placed, count, sizeof *placed, by_device);
    *out_count = count;
    return placed;
}

static void add_device(const char *host, const yoke_inventory_device_t *device,
                       const placed_t *placed, size_t count, yoke_text_t *page)
{
    const char *type = device->type != NULL ? device->type : device->name;
    char *name = yoke_format("%s/%s", host, device->id);
    placed_t wanted = {name, 0, 0};
    const placed_t *found =
        name == NULL ? NULL : bsearch(&wanted, placed, count, sizeof *placed, by_device);
    if (name == NULL)
        page->failed = true;
    if (found != NULL)
        yoke_text_printf(page, "<li class=\"s%zu\">", found->stage % 8);
    else
        yoke_text_add(page, "<li class=\"idle\">");
    yoke_text_add(page, "<span class=\"unseen\">");
    yoke_html_printf(page, "%s, %s: ", device->id, type != NULL ? type : "unknown type");
    if (found != NULL)
        yoke_text_printf(page, "pipeline.stage </span>%zu.%zu</li>", found->pipeline,
                         found->stage);
    else
        yoke_text_add(page, "not used</span><span aria-hidden=\"true\">-</span></li>");
    free(name);
}

static void add_host(const char *host, const yoke_node_t *node, const placed_t *placed,
                     size_t count, yoke_text_t *page)
{
    const char *type = NULL;
    bool mixed = false;
    for (size_t d = 0; d < node->device_count; d++) {
        const yoke_inventory_device_t *device = &node->devices[d];
        const char *own = device->type != NULL ? device->type : device->name;
        if (device->kind == YOKE_DEVICE_CPU)
            continue;
        mixed = mixed || (type != NULL && own != NULL && strcmp(type, own) != 0);
        type = own != NULL ? own : type;
    }
    yoke_text_add(page, "<li><strong>");
    yoke_html_text(page, host);
    yoke_text_add(page, "</strong> ");
    yoke_html_text(page, mixed ? "several types" : type);
    yoke_text_add(page, "<ul class=\"devices\">");
    for (size_t d = 0; d < node->device_count; d++)
        if (node->devices[d].kind != YOKE_DEVICE_CPU)
            add_device(host, &node->devices[d], placed, count, page);
    yoke_text_add(page, "</ul></li>\n");
}

static void add_links(const yoke_inventory_t *inventory, yoke_text_t *page)
{
    static const char *const headers[] = {"Between", "And", "Kind", ">Rate, each way",
                                          ">Latency"};
    char buffer[32];
    if (inventory->link_count == 0)
        return;
    yoke_html_table(page, "links", "Links of the cluster", headers,
                    sizeof headers / sizeof *headers);
    for (size_t i = 0; i < inventory->link_count; i++) {
        const yoke_link_t *link = &inventory->links[i];
        yoke_html_row(page);
        yoke_html_head_cell(page, link->between[0]);
        yoke_html_cell(page, link->between[1]);
        yoke_html_cell(page, link->kind);
        yoke_html_number(page, "%s", yoke_show_rate(link->rate.value, "B", buffer));
        yoke_html_number(page, "%s", yoke_show_seconds(link->latency.value, buffer));
        yoke_html_row_end(page);
    }
    yoke_html_table_end(page);
}

void yoke_report_cluster(const yoke_report_t *report, yoke_text_t *page)
{
    size_t count = 0, hosts = 0, left = 0;
    placed_t *placed = place_devices(report->plan, &count);
    yoke_html_section(page, "cluster", "Cluster");
    yoke_text_add(page, "<p id=\"map\">Every host and its accelerators; the numbers are "
                        "the pipeline and the stage that a device works in, a dash is a "
                        "device that the plan does not use.</p>\n"
                        "<ul class=\"nodes\" aria-labelledby=\"map\">\n");
    page->failed = page->failed || placed == NULL;
    for (size_t n = 0; placed != NULL && n < report->inventory->node_count; n++) {
        const yoke_node_t *node = &report->inventory->nodes[n];
        yoke_strings_t names = {0};
        if (yoke_hostlist_expand(node->hosts, &names) != YOKE_OK)
            continue;
        for (size_t h = 0; h < names.count; h++)
            if (hosts++ < MOST_HOSTS)
                add_host(names.items[h], node, placed, count, page);
            else
                left++;
        yoke_strings_free(&names);
    }
    yoke_text_add(page, "</ul>\n");
    if (left > 0)
        yoke_text_printf(
            page, "<p>%zu more hosts are not drawn; the placement has all.</p>\n", left);
    add_links(report->inventory, page);
    free(placed);
    yoke_html_section_end(page);
}

/* --- placement
 * ------------------------------------------------------------------------ */

static void add_stage(const yoke_plan_t *plan, size_t pipeline, size_t stage,
                      size_t times, yoke_text_t *page)
{
    const yoke_plan_stage_t *item = &plan->pipelines[pipeline].stages[stage];
    yoke_strings_t names = {0};
    yoke_text_t layers = {0}, who = {0}, label = {0};
    size_t devices = 0;
    for (size_t r = 0; r < item->replica_count; r++)
        for (size_t d = 0; d < item->replicas[r].device_count; d++, devices++)
            if (yoke_strings_add(&names, item->replicas[r].devices[d].device) != YOKE_OK)
                page->failed = true;
    const yoke_plan_replica_t *first = item->replica_count > 0 ? item->replicas : NULL;
    yoke_print_layers(item, &layers);
    if (yoke_print_devices(&names, &who) != YOKE_OK)
        page->failed = true;
    yoke_text_printf(&label, "%zu.%zu", pipeline, stage);
    yoke_html_row(page);
    yoke_html_head_cell(page, yoke_text_get(&label));
    yoke_html_number(page, "%zu", times);
    yoke_html_cell(page, yoke_text_get(&layers));
    yoke_html_cell(page, yoke_stage_type(item));
    yoke_html_number(page, "%zu", devices);
    yoke_html_number(page, "%llu", (unsigned long long)(first != NULL ? first->tp : 0));
    yoke_html_number(page, "%zu", item->replica_count);
    yoke_html_number(page, "%llu",
                     (unsigned long long)(first != NULL ? first->micro_batch : 0));
    yoke_html_cell(page, yoke_recompute_name(item->recompute));
    yoke_html_cell(page, yoke_text_get(&who));
    yoke_html_row_end(page);
    yoke_text_free(&label);
    yoke_text_free(&layers);
    yoke_text_free(&who);
    yoke_strings_free(&names);
}

void yoke_report_placement(const yoke_report_t *report, yoke_text_t *page)
{
    static const char *const headers[] = {
        "Stage",         ">Pipelines",
        "Layers",        "Type",
        ">Devices",      ">tp",
        ">dp",           ">Samples",
        "Recomputation", "Devices of the first pipeline"};
    const yoke_plan_t *plan = report->plan;
    yoke_html_section(page, "placement", "Placement");
    yoke_html_table(page, "placement-table",
                    "Stages of every kind of pipeline. tp: devices that share a layer; "
                    "dp: replicas beside one another; samples: of a micro-batch on each",
                    headers, sizeof headers / sizeof *headers);
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        size_t times = 0;
        for (size_t q = p; q < plan->pipeline_count; q++)
            times += yoke_pipeline_kind(plan, q) == p;
        for (size_t s = 0; times > 0 && s < plan->pipelines[p].stage_count; s++)
            add_stage(plan, p, s, times, page);
    }
    yoke_html_table_end(page);
    if (report->model != NULL && report->model->layer_count > 0)
        yoke_html_printf(page, "Layer 0 is '%s', %zu '%s'.",
                         report->model->layers[0].name, report->model->layer_count - 1,
                         report->model->layers[report->model->layer_count - 1].name);
    yoke_html_section_end(page);
}

/* --- match
 * ---------------------------------------------------------------------------- */

static void match_bars(const yoke_plan_match_t *match, yoke_text_t *page)
{
    const char *const labels[] = {"FLOPs it does", "FLOPs it could", "bytes it holds",
                                  "bytes it could"};
    const char *const classes[] = {"a", "b", "c", "d"};
    const double values[] = {match->compute_share, match->compute_supply,
                             match->memory_share, match->memory_supply};
    for (size_t i = 0; i < 4; i++) {
        yoke_text_t label = {0};
        yoke_text_printf(&label, "%s, %s: %.1f%%", match->type, labels[i],
                         100 * values[i]);
        yoke_report_bar(page, yoke_text_get(&label));
        yoke_report_span(page, classes[i], 0, values[i] < 1 ? values[i] : 1);
        yoke_report_bar_end(page);
        yoke_text_free(&label);
    }
}

static void match_row(const yoke_plan_match_t *match, yoke_text_t *page)
{
    const double values[] = {match->compute_share, match->compute_supply,
                             match->memory_share,  match->memory_supply,
                             match->compute_used,  match->memory_used};
    yoke_html_row(page);
    yoke_html_head_cell(page, match->type);
    yoke_html_number(page, "%llu of %llu", (unsigned long long)match->used,
                     (unsigned long long)match->devices);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (isnan(values[i]))
            yoke_html_number(page, "unknown");
        else
            yoke_html_number(page, "%.1f%%", 100 * values[i]);
    yoke_html_row_end(page);
}

void yoke_report_match(const yoke_report_t *report, yoke_text_t *page)
{
    static const char *const headers[] = {"Type",         ">Used",         ">FLOPs done",
                                          ">FLOPs could", ">Bytes held",   ">Bytes could",
                                          ">Busy",        ">Memory filled"};
    static const char *const classes[] = {"a", "b", "c", "d"};
    static const char *const names[] = {
        "FLOPs: what the type does", "FLOPs: its share of the speed",
        "bytes: what the type holds", "bytes: its share of the memory"};
    const yoke_plan_t *plan = report->plan;
    yoke_html_section(page, "match", "Match of work and devices");
    yoke_report_figure(page, "match-figure",
                       "Two factors of every type of device, computing and memory: what "
                       "it does of the whole, beside what it could.");
    yoke_text_add(page, "<div class=\"bars\">\n");
    for (size_t i = 0; i < plan->match_count; i++)
        match_bars(&plan->matches[i], page);
    yoke_text_add(page, "</div>\n");
    yoke_report_legend(page, classes, names, 4);
    yoke_html_table(page, "match-table",
                    "Shares of the whole; busy: computing, of the step; memory filled: "
                    "of the limit",
                    headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->match_count; i++)
        match_row(&plan->matches[i], page);
    yoke_html_table_end(page);
    yoke_html_section_end(page);
}

/* --- what-ifs
 * ------------------------------------------------------------------------- */

static void add_sensitivities(const yoke_plan_t *plan, yoke_text_t *page)
{
    static const char *const headers[] = {"Input",   ">Factor", ">Step",
                                          ">Factor", ">Step",   "Source of the input"};
    char buffer[32];
    if (plan->sensitivity_count == 0)
        return;
    yoke_html_table(page, "sensitivities",
                    "The step if an input were off by a factor (with this placement)",
                    headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->sensitivity_count; i++) {
        const yoke_plan_sensitivity_t *item = &plan->sensitivities[i];
        yoke_html_row(page);
        yoke_html_head_cell(page, item->input);
        yoke_html_number(page, "%.3g", item->from);
        yoke_html_number(page, "%s", yoke_show_seconds(item->iteration_time[0], buffer));
        yoke_html_number(page, "%.3g", item->to);
        yoke_html_number(page, "%s", yoke_show_seconds(item->iteration_time[1], buffer));
        yoke_html_cell(page, item->source);
        yoke_html_row_end(page);
    }
    yoke_html_table_end(page);
}

void yoke_report_what_ifs(const yoke_report_t *report, yoke_text_t *page)
{
    static const char *const headers[] = {"What if", ">Step", ">Times as long"};
    char buffer[32];
    yoke_html_section(page, "what-ifs", "What if");
    yoke_html_table(page, "what-if-table",
                    "The step of the same placement, simulated with slower devices",
                    headers, sizeof headers / sizeof *headers);
    for (size_t i = 0; i < report->what_if_count; i++) {
        const yoke_what_if_t *item = &report->what_ifs[i];
        yoke_html_row(page);
        yoke_html_head_cell(page, item->what);
        yoke_html_number(page, "%s", yoke_show_seconds(item->step, buffer));
        yoke_html_number(page, "%.2f", item->step / report->plan->iteration_time);
        yoke_html_row_end(page);
    }
    yoke_html_table_end(page);
    add_sensitivities(report->plan, page);
    yoke_html_section_end(page);
}

/* --- certificate
 * ---------------------------------------------------------------------- */

static void add_list(const char *heading, char *const *items, size_t count,
                     yoke_text_t *page)
{
    if (count == 0)
        return;
    yoke_text_printf(page, "<h3>%s</h3>\n<ul>\n", heading);
    for (size_t i = 0; i < count; i++) {
        yoke_text_add(page, "<li>");
        yoke_html_text(page, items[i]);
        yoke_text_add(page, "</li>\n");
    }
    yoke_text_add(page, "</ul>\n");
}

static void add_alternatives(const yoke_plan_t *plan, yoke_text_t *page)
{
    static const char *const headers[] = {"Instead", ">Step", "Why not"};
    char buffer[32];
    if (plan->alternative_count == 0)
        return;
    yoke_html_table(page, "alternatives", "The best plan of every other kind", headers,
                    sizeof headers / sizeof *headers);
    for (size_t i = 0; i < plan->alternative_count; i++) {
        const yoke_plan_alternative_t *item = &plan->alternatives[i];
        yoke_html_row(page);
        yoke_html_head_cell(page, item->kind);
        yoke_html_number(page, "%s",
                         item->feasible ? yoke_show_seconds(item->iteration_time, buffer)
                                        : "none");
        yoke_html_cell(page, item->why);
        yoke_html_row_end(page);
    }
    yoke_html_table_end(page);
}

static void add_unused(const yoke_plan_t *plan, yoke_text_t *page)
{
    if (plan->unused_count == 0)
        return;
    yoke_text_add(page, "<h3>Left out</h3>\n<ul>\n");
    for (size_t i = 0; i < plan->unused_count && i < 64; i++) {
        yoke_text_add(page, "<li>");
        yoke_html_printf(page, "%s: %s", plan->unused[i].device,
                         plan->unused[i].reason != NULL ? plan->unused[i].reason
                                                        : "no reason stated");
        yoke_text_add(page, "</li>\n");
    }
    yoke_text_add(page, "</ul>\n");
    if (plan->unused_count > 64)
        yoke_text_printf(page, "<p>and %zu more</p>\n", plan->unused_count - 64);
}

void yoke_report_certificate(const yoke_report_t *report, yoke_text_t *page)
{
    const yoke_plan_t *plan = report->plan;
    char time[32];
    yoke_html_section(page, "certificate", "How good is it");
    yoke_text_add(page, "<p>");
    if (isnan(plan->bound_time))
        yoke_text_add(page, "No bound is stated.");
    else
        yoke_html_printf(page,
                         "No plan of this kind takes less than %s; this one takes %.1f%% "
                         "more.",
                         yoke_show_seconds(plan->bound_time, time),
                         100 * plan->bound_gap);
    if (!isnan(plan->bound_time) && plan->bound_binding != NULL)
        yoke_html_printf(page, " The bound is %s.", plan->bound_binding);
    yoke_text_add(page, "</p>\n");
    if (plan->limited_by != NULL) {
        yoke_text_add(page, "<p>");
        yoke_html_printf(page, "Limited by: %s.", plan->limited_by);
        yoke_text_add(page, "</p>\n");
    }
    add_alternatives(plan, page);
    add_unused(plan, page);
    add_list("Doubts and notes", plan->notes, plan->note_count, page);
    yoke_html_section_end(page);
}
