/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --format hostfile: "HOST slots=N type=T" as FlagScale reads it; DeepSpeed reads the
 * same and ignores the type. Both refuse a host that is named twice, so a host of several
 * types stands in one line, "type=T1:4,T2:4".
 * --format mpi: "HOST slots=N", all that Open MPI's mpirun --hostfile takes; the types
 * stand behind in a comment.
 */
#include "inventory/format.h"

#include <stdlib.h>

#include "base/error.h"

/* "A100-SXM4-80GB", or "A100-SXM4-80GB:4,910B2:4" for several types. */
static void add_types(const yoke_type_count_t *counts, size_t count, yoke_text_t *out)
{
    for (size_t i = 0; i < count; i++) {
        yoke_text_add(out, i == 0 ? "" : ",");
        yoke_format_token(yoke_device_label(counts[i].first), false, 60, out);
        if (count > 1)
            yoke_text_printf(out, ":%zu", counts[i].count);
    }
}

static yoke_status_t add_node(const yoke_node_t *node, const char *before_types,
                              yoke_text_t *out)
{
    yoke_type_count_t *counts = NULL;
    size_t count = 0, slots = 0;
    yoke_strings_t hosts = {0};
    yoke_status_t status = yoke_count_types(node, &counts, &count);
    if (status == YOKE_OK)
        status = yoke_hostlist_expand(node->hosts, &hosts);
    for (size_t i = 0; i < count; i++)
        slots += counts[i].count;
    for (size_t i = 0; i < hosts.count && slots > 0 && status == YOKE_OK; i++) {
        yoke_text_printf(out, "%s slots=%zu%s", hosts.items[i], slots, before_types);
        add_types(counts, count, out);
        yoke_text_add(out, "\n");
    }
    yoke_strings_free(&hosts);
    free(counts);
    return status;
}

static yoke_status_t add_nodes(const yoke_inventory_t *inventory,
                               const char *before_types, yoke_text_t *out)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++)
        status = add_node(&inventory->nodes[i], before_types, out);
    return status;
}

yoke_status_t yoke_format_hostfile(const yoke_inventory_t *inventory, size_t width,
                                   yoke_text_t *out)
{
    (void)width;
    return add_nodes(inventory, " type=", out);
}

yoke_status_t yoke_format_mpi(const yoke_inventory_t *inventory, size_t width,
                              yoke_text_t *out)
{
    (void)width;
    return add_nodes(inventory, " # ", out);
}
