/* SPDX-License-Identifier: Apache-2.0 */
/* Measured links into the inventory document, and back. */

#include "ucx_comm/topology/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "ucx_comm/topology/model.h"
#include "yoke/inventory.h"

/* --- writing
 * ------------------------------------------------------------------------------ */

static const char *host_of(const yoke_topology_t *topology, int rank)
{
    const char *host = topology->places[rank].host;
    return host[0] != '\0' ? host : "host";
}

static yoke_status_t add_rank(const yoke_topology_t *topology, int rank,
                              yoke_node_t *node)
{
    const yoke_rank_device_t *device = &topology->devices[rank];
    yoke_inventory_device_t *entry = yoke_node_add_device(node);
    char id[24];
    if (entry == NULL)
        return yoke_fail_memory();
    snprintf(id, sizeof id, "rank-%d", rank);
    entry->kind = device->runtime[0] != '\0' ? YOKE_DEVICE_OTHER : YOKE_DEVICE_CPU;
    yoke_status_t status = yoke_set_string(&entry->id, id);
    if (status == YOKE_OK && device->vendor[0] != '\0')
        status = yoke_set_string(&entry->vendor, device->vendor);
    if (status == YOKE_OK && device->name[0] != '\0')
        status = yoke_set_string(&entry->name, device->name);
    return status;
}

static yoke_status_t add_nodes(const yoke_topology_t *topology,
                               yoke_inventory_t *inventory)
{
    yoke_status_t status = YOKE_OK;
    for (int r = 0; r < topology->size && status == YOKE_OK; r++) {
        yoke_node_t *node = NULL;
        for (size_t i = 0; i < inventory->node_count; i++)
            if (strcmp(inventory->nodes[i].hosts, host_of(topology, r)) == 0)
                node = &inventory->nodes[i];
        if (node == NULL)
            node = yoke_inventory_add_node(inventory, host_of(topology, r));
        status = node != NULL ? add_rank(topology, r, node) : yoke_fail_memory();
    }
    return status;
}

static yoke_status_t add_link(const yoke_topology_t *topology, int a, int b,
                              yoke_inventory_t *inventory)
{
    yoke_link_t *link = yoke_inventory_add_link(inventory);
    if (link == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (int end = 0; end < 2 && status == YOKE_OK; end++) {
        char selector[96];
        int rank = end == 0 ? a : b;
        snprintf(selector, sizeof selector, "%s/rank-%d", host_of(topology, rank), rank);
        status = yoke_set_string(&link->between[end], selector);
    }
    bool shared = topology->places[a].arena == topology->places[b].arena;
    if (status == YOKE_OK)
        status = yoke_set_string(&link->kind, shared ? "shared memory" : "UCX");
    double there = yoke_topology_bandwidth(topology, a, b);
    double back = yoke_topology_bandwidth(topology, b, a);
    if (status == YOKE_OK)
        status = yoke_quantity_set(&link->rate, there < back ? there : back,
                                   YOKE_SOURCE_MEASURED, 0, NULL);
    if (status == YOKE_OK)
        status = yoke_quantity_set(&link->latency, yoke_topology_latency(topology, a, b),
                                   YOKE_SOURCE_MEASURED, 0, NULL);
    return status;
}

yoke_status_t yoke_topology_links(const yoke_topology_t *topology, char **out_text)
{
    yoke_inventory_t *inventory = yoke_inventory_new();
    if (inventory == NULL)
        return yoke_fail_memory();
    yoke_status_t status = add_nodes(topology, inventory);
    for (int a = 0; a < topology->size && status == YOKE_OK; a++)
        for (int b = a + 1; b < topology->size && status == YOKE_OK; b++)
            status = add_link(topology, a, b, inventory);
    if (status == YOKE_OK)
        status = yoke_inventory_text(inventory, out_text);
    yoke_inventory_free(inventory);
    return status;
}

/* --- reading
 * ------------------------------------------------------------------------------- */

/* Does a selector mean this rank? It may name the rank, or the host and any device. */
static yoke_status_t selects(const char *selector, const char *host, int rank,
                             bool *out_match)
{
    char id[24];
    yoke_inventory_device_t device;
    memset(&device, 0, sizeof device);
    snprintf(id, sizeof id, "rank-%d", rank);
    device.id = id;
    device.kind = YOKE_DEVICE_CPU;
    device.numa = -1;
    return yoke_selector_match(selector, host, &device, out_match);
}

static yoke_status_t apply(const yoke_link_t *link, yoke_control_t *control,
                           double *latency, double *bandwidth)
{
    int n = yoke_control_size(control);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            bool first = false, second = false;
            if (a == b)
                continue;
            yoke_status_t status =
                selects(link->between[0], yoke_control_peer(control, a)->host, a, &first);
            if (status == YOKE_OK)
                status = selects(link->between[1], yoke_control_peer(control, b)->host, b,
                                 &second);
            if (status != YOKE_OK)
                return status;
            if (!first || !second || link->rate.source == YOKE_SOURCE_UNKNOWN)
                continue;
            bandwidth[a * n + b] = bandwidth[b * n + a] = link->rate.value;
            if (link->latency.source != YOKE_SOURCE_UNKNOWN)
                latency[a * n + b] = latency[b * n + a] = link->latency.value;
        }
    return YOKE_OK;
}

yoke_status_t yoke_links_read(const char *path, yoke_control_t *control, double *latency,
                              double *bandwidth)
{
    yoke_inventory_t *inventory = NULL;
    int n = yoke_control_size(control);
    yoke_status_t status = yoke_inventory_read(path, &inventory);
    if (status != YOKE_OK)
        return status;
    for (size_t i = 0; i < inventory->link_count && status == YOKE_OK; i++)
        status = apply(&inventory->links[i], control, latency, bandwidth);
    for (int i = 0; i < n * n && status == YOKE_OK; i++)
        if (i / n != i % n && bandwidth[i] <= 0)
            status = yoke_fail(YOKE_ERR_BAD_INPUT,
                               "YOKE_COMM_TOPOLOGY: %s: no link of known rate joins rank "
                               "%d (host %s) and rank %d (host %s); selectors are "
                               "HOST/rank-N or host:PATTERN",
                               path, i / n, yoke_control_peer(control, i / n)->host,
                               i % n, yoke_control_peer(control, i % n)->host);
    yoke_inventory_free(inventory);
    return status;
}
