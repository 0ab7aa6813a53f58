/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --format slurm: lines for gres.conf, then the node lines for slurm.conf. Only devices
 * that can be scheduled are offered. Device files are not guessed: their numbers follow
 * the kernel driver's order, which no runtime tells; CountOnly is valid without them.
 */
#include "inventory/format.h"

#include <stdlib.h>

#include "base/error.h"
#include "inventory/document.h"

static void add_gres(const yoke_node_t *node, const yoke_type_count_t *counts,
                     size_t count, yoke_text_t *out)
{
    for (size_t i = 0; i < count; i++) {
        yoke_text_printf(out, "NodeName=%s Name=%s Type=", node->hosts,
                         yoke_device_kind_name(counts[i].first->kind));
        yoke_format_token(yoke_device_label(counts[i].first), true, 60, out);
        yoke_text_printf(out, " Count=%zu Flags=CountOnly\n", counts[i].count);
    }
}

static const yoke_inventory_device_t *host_of(const yoke_node_t *node)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (node->devices[i].kind == YOKE_DEVICE_CPU)
            return &node->devices[i];
    return NULL;
}

static void add_node(const yoke_node_t *node, const yoke_type_count_t *counts,
                     size_t count, yoke_text_t *out)
{
    const yoke_inventory_device_t *host = host_of(node);
    yoke_text_printf(out, "NodeName=%s", node->hosts);
    for (size_t i = 0; i < count; i++) {
        yoke_text_printf(out, "%s%s:", i == 0 ? " Gres=" : ",",
                         yoke_device_kind_name(counts[i].first->kind));
        yoke_format_token(yoke_device_label(counts[i].first), true, 60, out);
        yoke_text_printf(out, ":%zu", counts[i].count);
    }
    if (host != NULL && yoke_known(&host->memory.total))
        yoke_text_printf(out, " RealMemory=%llu",
                         (unsigned long long)(host->memory.total.value / 1048576));
    yoke_text_add(out, " State=UNKNOWN\n");
}

typedef void (*section_t)(const yoke_node_t *, const yoke_type_count_t *, size_t,
                          yoke_text_t *);

static yoke_status_t add_section(const yoke_inventory_t *inventory, section_t section,
                                 yoke_text_t *out)
{
    for (size_t i = 0; i < inventory->node_count; i++) {
        yoke_type_count_t *counts = NULL;
        size_t count = 0;
        yoke_status_t status = yoke_count_types(&inventory->nodes[i], &counts, &count);
        if (status != YOKE_OK)
            return status;
        section(&inventory->nodes[i], counts, count, out);
        free(counts);
    }
    return YOKE_OK;
}

static bool has_kind(const yoke_inventory_t *inventory, yoke_device_kind_t kind)
{
    for (size_t i = 0; i < inventory->node_count; i++)
        for (size_t j = 0; j < inventory->nodes[i].device_count; j++)
            if (inventory->nodes[i].devices[j].kind == kind &&
                inventory->nodes[i].devices[j].schedulable)
                return true;
    return false;
}

yoke_status_t yoke_format_slurm(const yoke_inventory_t *inventory, size_t width,
                                yoke_text_t *out)
{
    bool gpu = has_kind(inventory, YOKE_DEVICE_GPU);
    bool npu = has_kind(inventory, YOKE_DEVICE_NPU);
    (void)width;
    yoke_text_add(out, "# gres.conf\n");
    yoke_status_t status = add_section(inventory, add_gres, out);
    yoke_text_add(out, "# slurm.conf\n");
    if (gpu || npu)
        yoke_text_printf(out, "GresTypes=%s%s%s\n", gpu ? "gpu" : "",
                         gpu && npu ? "," : "", npu ? "npu" : "");
    if (status == YOKE_OK)
        status = add_section(inventory, add_node, out);
    return status;
}
