/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices are nearest to a NIC: the same switch before the same root complex before
 * the same NUMA node. What is not known is not guessed. */
#include "hal/probe/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/probe/sysfs.h"
#include "inventory/document.h"

#define MAX_BRIDGES 16

/* The way from a device up to its root complex. */
typedef struct way {
    char *bridges[MAX_BRIDGES]; /* nearest first; the last is the root complex */
    size_t count;
    int numa;
} way_t;

static void clear(way_t *way)
{
    for (size_t i = 0; i < way->count; i++)
        free(way->bridges[i]);
    way->count = 0;
}

static const json_t *entry_of(const json_t *topology, const char *address)
{
    const json_t *list = json_object_get(topology, "pci");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *text = json_string_value(json_object_get(item, "address"));
        if (text != NULL && strcmp(text, address) == 0)
            return item;
    }
    return NULL;
}

/* "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0" holds the bridges in its path. */
static void way_from_path(const char *path, way_t *way)
{
    char *copy = yoke_strdup(path);
    char *slash = copy != NULL ? strrchr(copy, '/') : NULL;
    while (slash != NULL && way->count < MAX_BRIDGES) {
        *slash = '\0';
        slash = strrchr(copy, '/');
        const char *part = slash != NULL ? slash + 1 : copy;
        yoke_pci_t pci;
        bool root = strncmp(part, "pci", 3) == 0;
        if (!root && !yoke_pci_parse(part, &pci))
            break;
        way->bridges[way->count] = yoke_strdup(part);
        if (way->bridges[way->count] != NULL)
            way->count++;
        if (root)
            break;
    }
    free(copy);
}

static void find_way(const char *root, const json_t *topology, const yoke_pci_t *pci,
                     int numa, way_t *out_way)
{
    char address[24];
    memset(out_way, 0, sizeof *out_way);
    out_way->numa = numa;
    if (!pci->valid)
        return;
    yoke_pci_text(pci, address);
    const json_t *entry = entry_of(topology, address);
    const json_t *bridges = json_object_get(entry, "bridges");
    const json_t *place = json_object_get(entry, "numa");
    if (out_way->numa < 0 && json_is_integer(place))
        out_way->numa = (int)json_integer_value(place);
    for (size_t i = 0; i < json_array_size(bridges) && out_way->count < MAX_BRIDGES;
         i++) {
        const char *text = json_string_value(json_array_get(bridges, i));
        if (text != NULL &&
            (out_way->bridges[out_way->count] = yoke_strdup(text)) != NULL)
            out_way->count++;
    }
    if (out_way->count > 0)
        return;
    char *real = yoke_sysfs_real(root, "/sys/bus/pci/devices/%s", address);
    if (real != NULL)
        way_from_path(real, out_way);
    free(real);
}

/* 0: nothing known or nothing shared; greater is nearer. */
static unsigned closeness(const way_t *a, const way_t *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (strcmp(a->bridges[i], b->bridges[j]) == 0) {
                bool complex_only = i + 1 == a->count && j + 1 == b->count;
                return complex_only ? 2 : 2 + (unsigned)(a->count - i);
            }
    return a->numa >= 0 && a->numa == b->numa ? 1 : 0;
}

static yoke_status_t set_near(yoke_nic_t *nic, const way_t *nic_way,
                              const yoke_node_t *node, const way_t *ways)
{
    unsigned best = 0;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < node->device_count; i++) {
        unsigned close = closeness(nic_way, &ways[i]);
        best = close > best ? close : best;
    }
    for (size_t i = 0; i < node->device_count && best > 0 && status == YOKE_OK; i++)
        if (closeness(nic_way, &ways[i]) == best)
            status = yoke_nic_add_near(nic, node->devices[i].id);
    return status;
}

yoke_status_t yoke_topology_apply(const char *root, const json_t *topology,
                                  yoke_node_t *node)
{
    way_t *ways = calloc(node->device_count + 1, sizeof *ways);
    yoke_status_t status = YOKE_OK;
    if (ways == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < node->device_count; i++) {
        yoke_inventory_device_t *device = &node->devices[i];
        find_way(root, topology, &device->pci, device->numa, &ways[i]);
        device->numa = ways[i].numa;
    }
    for (size_t i = 0; i < node->nic_count && status == YOKE_OK; i++) {
        way_t way;
        find_way(root, topology, &node->nics[i].pci, node->nics[i].numa, &way);
        node->nics[i].numa = way.numa;
        status = set_near(&node->nics[i], &way, node, ways);
        clear(&way);
    }
    for (size_t i = 0; i < node->device_count; i++)
        clear(&ways[i]);
    free(ways);
    return status;
}
