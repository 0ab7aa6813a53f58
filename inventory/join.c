/* SPDX-License-Identifier: Apache-2.0 */
/* Catalog figures into the unknown places of a device. What the device or its runtime
 * says always stands. */
#include "inventory/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

#define TRY(expression)                                                                  \
    do {                                                                                 \
        yoke_status_t status_ = (expression);                                            \
        if (status_ != YOKE_OK)                                                          \
            return status_;                                                              \
    } while (0)

/* A name without a digit ("DCU", "Device") says what it is, not which. */
static bool is_specific(const char *name)
{
    return name != NULL && strpbrk(name, "0123456789") != NULL;
}

static bool names_something(const yoke_inventory_device_t *device)
{
    bool specific = is_specific(device->name);
    for (size_t i = 0; i < device->view_count; i++)
        specific = specific || is_specific(device->views[i].name);
    return specific;
}

static const yoke_catalog_device_t *match_by_name(const yoke_catalog_t *catalog,
                                                  const yoke_inventory_device_t *device)
{
    const yoke_catalog_device_t *row = NULL;
    if (device->type != NULL)
        return yoke_catalog_find(catalog, device->vendor, device->type);
    row = yoke_catalog_find(catalog, device->vendor, device->name);
    for (size_t i = 0; i < device->view_count && row == NULL; i++)
        row = yoke_catalog_find(catalog, device->vendor, device->views[i].name);
    return row;
}

static yoke_status_t add_reason(yoke_inventory_device_t *device, const char *text)
{
    if (device->reason == NULL)
        return yoke_set_string(&device->reason, text);
    if (strstr(device->reason, text) != NULL)
        return YOKE_OK;
    char *both = yoke_format("%s; %s", device->reason, text);
    yoke_status_t status =
        both == NULL ? yoke_fail_memory() : yoke_set_string(&device->reason, both);
    free(both);
    return status;
}

static yoke_status_t note_ambiguity(yoke_inventory_device_t *device,
                                    const yoke_catalog_device_t *const *rows,
                                    size_t count, const char *other)
{
    yoke_text_t text = {0};
    yoke_text_printf(&text, "PCI id %04x:%04x may be ", device->pci.vendor_id,
                     device->pci.device_id);
    for (size_t i = 0; i < count; i++)
        yoke_text_printf(&text, "%s%s", i > 0 ? ", " : "", rows[i]->name);
    if (other != NULL)
        yoke_text_printf(&text, ", %s", other);
    yoke_text_add(&text, "; name it with --as");
    yoke_status_t status =
        text.failed ? yoke_fail_memory() : add_reason(device, yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* Only where no runtime names the device: a name that the catalog does not know is a
 * product that it does not have, whatever its PCI id. */
static yoke_status_t match_by_pci(const yoke_catalog_t *catalog,
                                  yoke_inventory_device_t *device,
                                  const yoke_catalog_device_t **out_row)
{
    const yoke_catalog_device_t *rows[8];
    double memory = yoke_known(&device->memory.total) ? device->memory.total.value : 0;
    if (device->type != NULL || names_something(device))
        return YOKE_OK;
    size_t count = yoke_catalog_find_pci(catalog, device->pci.vendor_id,
                                         device->pci.device_id, memory, rows, 8);
    if (count == 0)
        return YOKE_OK;
    const char *other = yoke_catalog_sharing(rows[0], device->pci.device_id);
    if (count > 1 || other != NULL)
        return note_ambiguity(device, rows, count < 8 ? count : 8, other);
    *out_row = rows[0];
    return YOKE_OK;
}

/* The first of its sources: `yoke catalog TYPE` tells all of them, and a document of
 * thousands of devices need not. */
static char *short_source(const char *source)
{
    size_t size = 0;
    int depth = 0;
    for (; source[size] != '\0' && (source[size] != ';' || depth > 0); size++)
        depth += (source[size] == '(') - (source[size] == ')');
    return size > 80 ? yoke_format("%.78s..", source) : yoke_strndup(source, size);
}

static yoke_status_t fill(const yoke_quantity_t *figure, double divisor,
                          yoke_quantity_t *out)
{
    if (yoke_known(out) || !yoke_known(figure))
        return YOKE_OK;
    char *source = figure->detail == NULL ? NULL : short_source(figure->detail);
    yoke_status_t status = yoke_quantity_set(out, figure->value / divisor, figure->source,
                                             figure->marks, source);
    free(source);
    return status;
}

/* Devices per package as this runtime shows them: 1 where it shows the whole package. */
static unsigned shown_parts(const yoke_catalog_device_t *row,
                            const yoke_inventory_device_t *device)
{
    if (row->parts <= 1 || !yoke_known(&row->memory) ||
        !yoke_known(&device->memory.total))
        return row->parts;
    return device->memory.total.value > 0.75 * row->memory.value ? 1 : row->parts;
}

static yoke_status_t join_memory(const yoke_catalog_device_t *row, unsigned parts,
                                 yoke_inventory_device_t *device)
{
    char shown[32];
    char nominal[32];
    if (!yoke_known(&row->memory))
        return YOKE_OK;
    double catalog = row->memory.value / parts;
    if (!yoke_known(&device->memory.total)) {
        /* What cannot be scheduled was asked and did not answer: that stays unknown. */
        if (device->schedulable)
            TRY(fill(&row->memory, parts, &device->memory.total));
        return YOKE_OK;
    }
    double ratio = device->memory.total.value / catalog;
    if (ratio >= 0.9 && ratio <= 1.1)
        return YOKE_OK;
    char *text = yoke_format("has %s of memory; the catalog says %s for %s",
                             yoke_show_bytes(device->memory.total.value, shown),
                             yoke_show_bytes(catalog, nominal), row->name);
    yoke_status_t status = text == NULL ? yoke_fail_memory() : add_reason(device, text);
    free(text);
    return status;
}

/* A bridge joins two cards. How many an island joins must be said; until then a pair is
 * all that is sure. */
static unsigned link_group(const yoke_catalog_device_t *row)
{
    const char *topology = row->link_topology == NULL ? "" : row->link_topology;
    if (strcmp(topology, "pair") == 0)
        return 2;
    if (strcmp(topology, "islands") == 0)
        return row->link_group > 0 ? row->link_group : 2;
    return 0;
}

static yoke_status_t join_link(const yoke_catalog_device_t *row, unsigned parts,
                               yoke_inventory_device_t *device)
{
    if (device->link_name == NULL && !yoke_known(&device->link_rate)) {
        TRY(yoke_set_string(&device->link_name, row->link_name));
        device->link_mesh = row->link_mesh;
        device->link_group = link_group(row);
    }
    return fill(&row->link_rate, parts, &device->link_rate);
}

static yoke_status_t join_row(const yoke_catalog_device_t *row,
                              yoke_inventory_device_t *device)
{
    unsigned parts = shown_parts(row, device);
    TRY(yoke_set_string(&device->type, row->name));
    if (device->vendor == NULL)
        TRY(yoke_set_string(&device->vendor, row->vendor));
    if (device->name == NULL)
        TRY(yoke_set_string(&device->name, row->name));
    TRY(join_memory(row, parts, device));
    TRY(fill(&row->bandwidth, parts, &device->bandwidth));
    /* A measured rate is what was achieved: no fraction goes on top of it. */
    if (device->bandwidth.source != YOKE_SOURCE_MEASURED)
        TRY(fill(&row->bandwidth_achieved, 1, &device->bandwidth_achieved));
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++) {
        TRY(fill(&row->compute[i], parts, &device->compute[i]));
        if (device->compute[i].source != YOKE_SOURCE_MEASURED)
            TRY(fill(&row->achieved[i], 1, &device->achieved[i]));
    }
    TRY(join_link(row, parts, device));
    if (device->pcie_generation_max == 0)
        device->pcie_generation_max = row->pcie_generation;
    if (device->pcie_lanes_max == 0)
        device->pcie_lanes_max = row->pcie_lanes;
    return YOKE_OK;
}

yoke_status_t yoke_catalog_join(const yoke_catalog_t *catalog,
                                yoke_inventory_device_t *device)
{
    bool accelerator = device->kind == YOKE_DEVICE_GPU ||
                       device->kind == YOKE_DEVICE_NPU ||
                       device->kind == YOKE_DEVICE_OTHER;
    /* The figures are of the whole card; how much of them a part gets is not published.
     */
    bool part = device->partition != NULL || device->parent != NULL;
    if (!accelerator || part)
        return YOKE_OK;
    const yoke_catalog_device_t *row = match_by_name(catalog, device);
    if (row == NULL)
        TRY(match_by_pci(catalog, device, &row));
    return row == NULL ? YOKE_OK : join_row(row, device);
}

yoke_status_t yoke_catalog_join_inventory(const yoke_catalog_t *catalog,
                                          yoke_inventory_t *inventory)
{
    for (size_t i = 0; i < inventory->node_count; i++)
        for (size_t j = 0; j < inventory->nodes[i].device_count; j++)
            TRY(yoke_catalog_join(catalog, &inventory->nodes[i].devices[j]));
    return YOKE_OK;
}
