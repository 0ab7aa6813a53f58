/* SPDX-License-Identifier: Apache-2.0 */
/* --format hostfile: "HOST slots=N type=T", one line for every type of a host. */
#include "inventory/format.h"

#include <stdlib.h>

#include "base/error.h"

static yoke_status_t add_node(const yoke_node_t *node, yoke_text_t *out)
{
    yoke_type_count_t *counts = NULL;
    size_t count = 0;
    yoke_strings_t hosts = {0};
    yoke_status_t status = yoke_count_types(node, &counts, &count);
    if (status == YOKE_OK)
        status = yoke_hostlist_expand(node->hosts, &hosts);
    for (size_t i = 0; i < hosts.count && status == YOKE_OK; i++) {
        for (size_t j = 0; j < count; j++) {
            yoke_text_printf(out, "%s slots=%zu type=", hosts.items[i], counts[j].count);
            yoke_format_token(yoke_device_label(counts[j].first), false, 60, out);
            yoke_text_add(out, "\n");
        }
    }
    yoke_strings_free(&hosts);
    free(counts);
    return status;
}

yoke_status_t yoke_format_hostfile(const yoke_inventory_t *inventory, size_t width,
                                   yoke_text_t *out)
{
    yoke_status_t status = YOKE_OK;
    (void)width;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++)
        status = add_node(&inventory->nodes[i], out);
    return status;
}
