/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, and why something was not found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "tools/inventory_parts.h"

static void add_measurement(yoke_table_t *table, const yoke_measurement_t *item)
{
    char median[32];
    const char *unit = item->unit != NULL ? item->unit : "";
    double spread = item->median > 0 ? (item->high - item->low) / item->median * 50 : 0;
    yoke_table_cell(table, item->device);
    yoke_table_cell(table, item->what);
    yoke_table_cellf(table, "%s%s", item->marks & YOKE_MARK_LOWER_BOUND ? ">= " : "",
                     yoke_show_rate(item->median, unit, median));
    yoke_table_cellf(table, "±%.0f %%", spread);
    if (item->nominal > 0)
        yoke_table_cellf(table, "%.0f %%", 100 * item->median / item->nominal);
    else
        yoke_table_cell(table, "-");
    yoke_table_cell(table, item->with);
}

void yoke_inventory_print_measurements(const yoke_measurements_t *measurements,
                                       size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"device",  "measured", ">median",
                                          ">spread", ">of peak", "~with"};
    bool bounds = false;
    if (measurements->count == 0)
        return;
    yoke_table_t *table = yoke_table_new(headers, 6);
    for (size_t i = 0; i < measurements->count; i++) {
        /* Pairs stand in the table of links. */
        if (measurements->items[i].problem != NULL || measurements->items[i].of_pair)
            continue;
        bounds = bounds || (measurements->items[i].marks & YOKE_MARK_LOWER_BOUND) != 0;
        add_measurement(table, &measurements->items[i]);
    }
    yoke_text_add(out, "\nMeasured, results verified\n");
    yoke_table_print(table, width, 2, out);
    if (bounds)
        yoke_text_add(out, "  >= portable kernel: the device can do at least this\n");
    yoke_table_free(table);
}

/* --- why ---------------------------------------------------------------------------- */

static bool wanted(const yoke_finding_t *finding, const char *probe)
{
    size_t length = probe != NULL ? strlen(probe) : 0;
    return probe == NULL || strcmp(probe, "all") == 0 ||
           (strncmp(finding->probe, probe, length) == 0 &&
            (finding->probe[length] == '\0' || finding->probe[length] == ':'));
}

static void add_finding(const yoke_finding_t *finding, size_t width, yoke_text_t *out)
{
    yoke_text_t line = {0};
    yoke_text_printf(out, "  %s: %s%s\n", finding->probe, finding->verdict,
                     finding->fault ? " (fault)" : "");
    if (finding->text != NULL) {
        yoke_text_add(out, "      ");
        yoke_wrap(finding->text, width, 6, out);
        yoke_text_add(out, "\n");
    }
    if (finding->library != NULL)
        yoke_text_printf(&line, "library %s", finding->library);
    if (finding->call != NULL)
        yoke_text_printf(&line, "%scall %s", line.size > 0 ? ", " : "", finding->call);
    if (finding->has_code)
        yoke_text_printf(&line, "%scode %lld", line.size > 0 ? ", " : "",
                         (long long)finding->code);
    if (finding->code_name != NULL)
        yoke_text_printf(&line, " = %s", finding->code_name);
    if (line.size > 0) {
        yoke_text_add(out, "      ");
        yoke_wrap(yoke_text_get(&line), width, 6, out);
        yoke_text_add(out, "\n");
    }
    yoke_text_free(&line);
}

static yoke_status_t no_such_probe(const yoke_inventory_t *inventory, const char *probe)
{
    yoke_text_t names = {0};
    for (size_t i = 0; i < inventory->node_count; i++)
        for (size_t j = 0; j < inventory->nodes[i].finding_count; j++)
            yoke_text_printf(&names, "%s%s", names.size > 0 ? ", " : "",
                             inventory->nodes[i].findings[j].probe);
    yoke_status_t status =
        yoke_fail(YOKE_ERR_USAGE, "no probe is called '%s'; there are %s", probe,
                  yoke_text_get(&names));
    yoke_text_free(&names);
    return status;
}

yoke_status_t yoke_inventory_print_why(const yoke_inventory_t *inventory,
                                       const char *probe, size_t width, yoke_text_t *out)
{
    size_t shown = 0;
    bool any = false;
    for (size_t i = 0; i < inventory->node_count; i++)
        any = any || inventory->nodes[i].finding_count > 0;
    yoke_text_add(out, any ? "\nWhy\n"
                           : "\nNothing is recorded of what was asked and not found.\n");
    for (size_t i = 0; i < inventory->node_count; i++) {
        const yoke_node_t *node = &inventory->nodes[i];
        if (inventory->node_count > 1 && node->finding_count > 0)
            yoke_text_printf(out, " %s\n", node->hosts);
        for (size_t j = 0; j < node->finding_count; j++)
            if (wanted(&node->findings[j], probe)) {
                add_finding(&node->findings[j], width, out);
                shown++;
            }
    }
    return shown == 0 && probe != NULL && strcmp(probe, "all") != 0
               ? no_such_probe(inventory, probe)
               : YOKE_OK;
}

void yoke_inventory_print_hint(const yoke_inventory_t *inventory, yoke_text_t *out)
{
    yoke_text_add(out, yoke_inventory_has_fault(inventory)
                           ? "\nSomething failed: yoke inventory --why says more.\n"
                           : "\nWhat was not found, and why: yoke inventory --why\n");
}
