/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --format k8s: a file for node-feature-discovery's features.d folder: counts by type,
 * and a set of labels for every device, so that a node of unlike cards is told as it is.
 * One section a node entry; a comment names its hosts.
 */
#include "inventory/format.h"

#include <stdlib.h>

#include "base/error.h"
#include "inventory/document.h"

#define LABEL_LIMIT 63

static void add_label(yoke_text_t *out, const char *device, const char *key)
{
    yoke_text_printf(out, "yoke.%s.%s=", device, key);
}

static void add_value(yoke_text_t *out, const char *value)
{
    yoke_format_token(value, false, LABEL_LIMIT, out);
    yoke_text_add(out, "\n");
}

static void add_bytes(yoke_text_t *out, const char *device, const char *key,
                      const yoke_quantity_t *quantity)
{
    if (!yoke_known(quantity))
        return;
    add_label(out, device, key);
    yoke_text_printf(out, "%llu\n", (unsigned long long)(quantity->value / 1048576));
}

static void add_device(const yoke_inventory_device_t *device, size_t index,
                       yoke_text_t *out)
{
    char name[32];
    yoke_snprintf(name, sizeof name, "%s-%zu", yoke_device_kind_name(device->kind),
                  index);
    add_label(out, name, "type");
    add_value(out, yoke_device_label(device));
    if (device->vendor != NULL) {
        add_label(out, name, "vendor");
        add_value(out, device->vendor);
    }
    if (device->pci.valid) {
        char pci[24];
        add_label(out, name, "pci");
        add_value(out, yoke_pci_text(&device->pci, pci));
    }
    add_bytes(out, name, "memory-mib", &device->memory.total);
    add_label(out, name, "schedulable");
    yoke_text_printf(out, "%s\n", device->schedulable ? "true" : "false");
    if (device->numa >= 0) {
        add_label(out, name, "numa");
        yoke_text_printf(out, "%d\n", device->numa);
    }
}

static yoke_status_t add_counts(const yoke_node_t *node, yoke_text_t *out)
{
    yoke_type_count_t *counts = NULL;
    size_t count = 0;
    yoke_status_t status = yoke_count_types(node, &counts, &count);
    if (status != YOKE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        yoke_text_printf(out, "yoke.count.%s.",
                         yoke_device_kind_name(counts[i].first->kind));
        yoke_format_token(yoke_device_label(counts[i].first), false, 40, out);
        yoke_text_printf(out, "=%zu\n", counts[i].count);
    }
    free(counts);
    return YOKE_OK;
}

/* A features.d file is that of one node: with several hosts, say whose each block is. */
static void add_heading(const yoke_inventory_t *inventory, const yoke_node_t *node,
                        yoke_text_t *out)
{
    yoke_text_printf(out, "# hosts: %s\n", node->hosts);
    if (inventory->node_count > 1)
        yoke_text_printf(
            out,
            "# Only the lines down to the next \"# hosts\" belong to %s: put them "
            "into features.d there.\n",
            node->hosts);
}

static yoke_status_t add_node(const yoke_inventory_t *inventory, const yoke_node_t *node,
                              yoke_text_t *out)
{
    size_t indexes[2] = {0, 0};
    add_heading(inventory, node, out);
    yoke_status_t status = add_counts(node, out);
    for (size_t i = 0; i < node->device_count && status == YOKE_OK; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        if (yoke_device_is_accelerator(device))
            add_device(device, indexes[device->kind == YOKE_DEVICE_NPU]++, out);
    }
    return status;
}

yoke_status_t yoke_format_k8s(const yoke_inventory_t *inventory, size_t width,
                              yoke_text_t *out)
{
    yoke_status_t status = YOKE_OK;
    (void)width;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++)
        status = add_node(inventory, &inventory->nodes[i], out);
    return status;
}
