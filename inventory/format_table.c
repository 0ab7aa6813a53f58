/* SPDX-License-Identifier: Apache-2.0 */
/* --format table: for people, at the width of the terminal. */
#include "inventory/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "inventory/document.h"

/* Names come from drivers: a control character must not reach the terminal. */
static void add_clean(yoke_text_t *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        yoke_text_add_bytes(out, control ? "?" : text, 1);
    }
}

static void cell_clean(yoke_table_t *table, const char *text)
{
    yoke_text_t clean = {0};
    add_clean(&clean, text);
    yoke_table_cell(table, text == NULL ? NULL : yoke_text_get(&clean));
    yoke_text_free(&clean);
}

/* "~" measured, "?" doubtful, ">" at least. */
static const char *doubt(const yoke_quantity_t *quantity)
{
    if ((quantity->marks & YOKE_MARK_LOWER_BOUND) != 0)
        return ">";
    if ((quantity->marks & (YOKE_MARK_DISPUTED | YOKE_MARK_NOT_REREAD)) != 0)
        return "?";
    return quantity->source == YOKE_SOURCE_MEASURED ? "~" : "";
}

static void cell_bytes(yoke_table_t *table, const yoke_quantity_t *quantity)
{
    char shown[32];
    yoke_table_cell(table, yoke_known(quantity) ? yoke_show_bytes(quantity->value, shown)
                                                : NULL);
}

static void cell_rate(yoke_table_t *table, const yoke_quantity_t *quantity,
                      const char *unit)
{
    char shown[32];
    if (!yoke_known(quantity))
        yoke_table_cell(table, NULL);
    else
        yoke_table_cellf(table, "%s%s", doubt(quantity),
                         yoke_show_rate(quantity->value, unit, shown));
}

/* The rate that a plan would use first: bf16, else fp16, else fp32. */
static const yoke_quantity_t *matrix_rate(const yoke_inventory_device_t *device)
{
    static const yoke_dtype_t order[] = {YOKE_BF16, YOKE_FP16, YOKE_FP32};
    for (size_t i = 0; i < 3; i++)
        if (yoke_known(&device->compute[order[i]]))
            return &device->compute[order[i]];
    return &device->compute[YOKE_BF16];
}

static const char *state_of(const yoke_inventory_device_t *device)
{
    if (device->hidden_by != NULL)
        return "hidden";
    if (device->health != NULL && strcmp(device->health, "ok") != 0)
        return device->health;
    return device->schedulable ? "ok" : "unused";
}

static void add_devices(const yoke_node_t *node, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"~DEVICE", "KIND",    "~NAME", ">TOTAL",
                                          ">FREE",   ">USABLE", "STATE"};
    if (node->device_count == 0) {
        yoke_text_add(out, "  no devices\n");
        return;
    }
    yoke_table_t *table = yoke_table_new(headers, 7);
    for (size_t i = 0; i < node->device_count; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        cell_clean(table, device->id);
        yoke_table_cell(table, yoke_device_kind_name(device->kind));
        cell_clean(table, yoke_device_label(device));
        cell_bytes(table, &device->memory.total);
        cell_bytes(table, &device->memory.free);
        cell_bytes(table, &device->memory.usable);
        yoke_table_cell(table, state_of(device));
    }
    yoke_table_print(table, width, 2, out);
    yoke_table_free(table);
}

/* "catalog", or "measured, catalog" where rate and bandwidth have different sources. */
static void cell_sources(yoke_table_t *table, const yoke_quantity_t *rate,
                         const yoke_quantity_t *bandwidth)
{
    bool both = yoke_known(rate) && yoke_known(bandwidth);
    if (both && rate->source != bandwidth->source)
        yoke_table_cellf(table, "%s, %s", yoke_source_name(rate->source),
                         yoke_source_name(bandwidth->source));
    else if (yoke_known(rate) || yoke_known(bandwidth))
        yoke_table_cell(
            table, yoke_source_name(yoke_known(rate) ? rate->source : bandwidth->source));
    else
        yoke_table_cell(table, NULL);
}

/* "cuda 0, nvml 1": every runtime with its own index; a hidden one has none. */
static void cell_views(yoke_table_t *table, const yoke_inventory_device_t *device)
{
    yoke_text_t views = {0};
    for (size_t i = 0; i < device->view_count; i++) {
        const yoke_view_t *view = &device->views[i];
        if (view->runtime == NULL || strcmp(view->runtime, "sysfs") == 0)
            continue;
        yoke_text_add(&views, views.size > 0 ? ", " : "");
        add_clean(&views, view->runtime);
        if (view->ordinal < 0 && view->native >= 0)
            yoke_text_printf(&views, " (%lld)", (long long)view->native);
        else if (view->ordinal >= 0 && strcmp(view->runtime, "host") != 0)
            yoke_text_printf(&views, " %lld", (long long)view->ordinal);
    }
    yoke_table_cell(table, views.size > 0 ? yoke_text_get(&views) : NULL);
    yoke_text_free(&views);
}

static bool has_rate_or_view(const yoke_inventory_device_t *device)
{
    return device->view_count > 0 || yoke_known(matrix_rate(device)) ||
           yoke_known(&device->bandwidth);
}

static void add_rates(const yoke_node_t *node, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"~DEVICE",    ">RATE", "TYPE",
                                          ">BANDWIDTH", "FROM",  "~SEEN BY"};
    yoke_table_t *table = yoke_table_new(headers, 6);
    bool any = false;
    for (size_t i = 0; i < node->device_count; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        const yoke_quantity_t *rate = matrix_rate(device);
        if (!has_rate_or_view(device))
            continue;
        any = true;
        cell_clean(table, device->id);
        cell_rate(table, rate, "FLOP/s");
        yoke_table_cell(table,
                        yoke_known(rate)
                            ? yoke_dtype_name((yoke_dtype_t)(rate - device->compute))
                            : NULL);
        cell_rate(table, &device->bandwidth, "B/s");
        cell_sources(table, rate, &device->bandwidth);
        cell_views(table, device);
    }
    if (any) {
        yoke_text_add(out, "\n");
        yoke_table_print(table, width, 2, out);
        yoke_text_add(out, "\n");
    }
    yoke_table_free(table);
}

static void add_wrapped(const char *label, const char *text, size_t width,
                        yoke_text_t *out)
{
    yoke_text_t line = {0};
    yoke_text_printf(&line, "%s: ", label);
    add_clean(&line, text);
    yoke_text_add(out, "  ");
    /* Runs the text itself at column 2; what follows is indented under it. */
    yoke_wrap(yoke_text_get(&line), width, 4, out);
    yoke_text_add(out, "\n");
    yoke_text_free(&line);
}

static void add_nics(const yoke_node_t *node, size_t width, yoke_text_t *out)
{
    for (size_t i = 0; i < node->nic_count; i++) {
        const yoke_nic_t *nic = &node->nics[i];
        char shown[32];
        yoke_text_t line = {0};
        yoke_text_printf(&line, "%s, %s", nic->kind == NULL ? "kind unknown" : nic->kind,
                         yoke_known(&nic->rate)
                             ? yoke_show_rate(nic->rate.value * 8, "b/s", shown)
                             : "rate unknown");
        if (nic->owner != NULL)
            yoke_text_printf(&line, ", of %s alone", nic->owner);
        for (size_t j = 0; j < nic->near_count; j++)
            yoke_text_printf(&line, "%s%s", j == 0 ? ", near " : ", ", nic->near[j]);
        yoke_text_t label = {0};
        yoke_text_printf(&label, "nic %s", nic->id);
        add_wrapped(yoke_text_get(&label), yoke_text_get(&line), width, out);
        yoke_text_free(&label);
        yoke_text_free(&line);
    }
}

static void add_notes(const yoke_node_t *node, size_t width, yoke_text_t *out)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (node->devices[i].reason != NULL)
            add_wrapped(node->devices[i].id, node->devices[i].reason, width, out);
    for (size_t i = 0; i < node->warning_count; i++)
        add_wrapped("warning", node->warnings[i], width, out);
    for (size_t i = 0; i < node->finding_count; i++) {
        const yoke_finding_t *finding = &node->findings[i];
        char *label = finding->fault ? yoke_format("fault %s", finding->probe == NULL
                                                                   ? "unknown probe"
                                                                   : finding->probe)
                                     : NULL;
        if (label != NULL)
            add_wrapped(label, finding->text != NULL ? finding->text : finding->verdict,
                        width, out);
        free(label);
    }
}

static void add_heading(const yoke_node_t *node, size_t width, yoke_text_t *out)
{
    unsigned long long hosts = (unsigned long long)yoke_hostlist_count(node->hosts);
    size_t usable = 0;
    yoke_text_t line = {0};
    for (size_t i = 0; i < node->device_count; i++)
        if (node->devices[i].schedulable && yoke_device_is_accelerator(&node->devices[i]))
            usable++;
    add_clean(&line, node->hosts);
    if (hosts > 1)
        yoke_text_printf(&line, " (%llu hosts)", hosts);
    yoke_text_printf(&line, ": %zu accelerator%s to use%s", usable,
                     usable == 1 ? "" : "s", hosts > 1 ? " in each" : "");
    if (node->os != NULL) {
        yoke_text_add(&line, "; ");
        add_clean(&line, node->os);
    }
    yoke_wrap(yoke_text_get(&line), width, 0, out);
    yoke_text_add(out, "\n");
    out->failed = out->failed || line.failed;
    yoke_text_free(&line);
}

static void add_links(const yoke_inventory_t *inventory, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"~LINK", "~AND", "~KIND", ">RATE", ">LATENCY"};
    if (inventory->link_count == 0)
        return;
    yoke_table_t *table = yoke_table_new(headers, 5);
    for (size_t i = 0; i < inventory->link_count; i++) {
        const yoke_link_t *link = &inventory->links[i];
        char shown[32];
        cell_clean(table, link->between[0]);
        cell_clean(table, link->between[1]);
        cell_clean(table, link->kind);
        cell_rate(table, &link->rate, "B/s");
        yoke_table_cell(table, yoke_known(&link->latency)
                                   ? yoke_show_seconds(link->latency.value, shown)
                                   : NULL);
    }
    yoke_text_add(out, "\n");
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
}

static bool has_mark(const yoke_inventory_t *inventory, const char *sign)
{
    for (size_t i = 0; i < inventory->node_count; i++)
        for (size_t j = 0; j < inventory->nodes[i].device_count; j++) {
            const yoke_inventory_device_t *device = &inventory->nodes[i].devices[j];
            if ((yoke_known(&device->bandwidth) &&
                 strcmp(doubt(&device->bandwidth), sign) == 0) ||
                (yoke_known(matrix_rate(device)) &&
                 strcmp(doubt(matrix_rate(device)), sign) == 0))
                return true;
        }
    return false;
}

static void add_legend(const yoke_inventory_t *inventory, yoke_text_t *out)
{
    static const char *const signs[][2] = {
        {"~", "measured here"},
        {">", "at least: measured with a portable kernel"},
        {"?", "published, but disputed or not re-read; see yoke catalog"}};
    bool first = true;
    for (size_t i = 0; i < 3; i++) {
        if (!has_mark(inventory, signs[i][0]))
            continue;
        yoke_text_printf(out, "%s%s %s\n", first ? "\n" : "", signs[i][0], signs[i][1]);
        first = false;
    }
}

yoke_status_t yoke_format_table(const yoke_inventory_t *inventory, size_t width,
                                yoke_text_t *out)
{
    for (size_t i = 0; i < inventory->node_count; i++) {
        const yoke_node_t *node = &inventory->nodes[i];
        if (i > 0)
            yoke_text_add(out, "\n");
        add_heading(node, width, out);
        add_devices(node, width, out);
        add_rates(node, width, out);
        add_nics(node, width, out);
        add_notes(node, width, out);
    }
    add_links(inventory, width, out);
    add_legend(inventory, out);
    return YOKE_OK;
}
