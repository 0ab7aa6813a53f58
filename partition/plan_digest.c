/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory's digest, the same for every order of its nodes and devices. */
#include "partition/plan_digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

static int compare_nodes(const void *a, const void *b)
{
    return yoke_natural_compare(((const yoke_node_t *)a)->hosts,
                                ((const yoke_node_t *)b)->hosts);
}

static int compare_devices(const void *a, const void *b)
{
    return yoke_natural_compare(((const yoke_inventory_device_t *)a)->id,
                                ((const yoke_inventory_device_t *)b)->id);
}

static int compare_nics(const void *a, const void *b)
{
    return yoke_natural_compare(((const yoke_nic_t *)a)->id, ((const yoke_nic_t *)b)->id);
}

/* A sorted copy of the array itself; what hangs below stays shared. NULL: no memory. */
static void *sorted(const void *array, size_t count, size_t size,
                    int (*compare)(const void *, const void *))
{
    void *copy = malloc(count > 0 ? count * size : 1);
    if (copy == NULL || count == 0)
        return copy;
    memcpy(copy, array, count * size);
    qsort(copy, count, size, compare);
    return copy;
}

static bool sort_node(yoke_node_t *node)
{
    node->devices =
        sorted(node->devices, node->device_count, sizeof *node->devices, compare_devices);
    node->nics = sorted(node->nics, node->nic_count, sizeof *node->nics, compare_nics);
    return node->devices != NULL && node->nics != NULL;
}

yoke_status_t yoke_plan_inventory_digest(const yoke_inventory_t *inventory, char out[32])
{
    yoke_inventory_t view = *inventory;
    char *text = NULL;
    yoke_status_t status = YOKE_OK;
    view.extra = NULL;
    view.nodes = sorted(inventory->nodes, inventory->node_count, sizeof *view.nodes,
                        compare_nodes);
    if (view.nodes == NULL)
        return yoke_fail_memory();
    size_t copied = 0;
    while (status == YOKE_OK && copied < view.node_count)
        if (!sort_node(&view.nodes[copied++]))
            status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_inventory_text(&view, &text);
    if (status == YOKE_OK)
        yoke_digest(text, out);
    free(text);
    while (copied-- > 0) {
        free(view.nodes[copied].devices);
        free(view.nodes[copied].nics);
    }
    free(view.nodes);
    return status;
}
