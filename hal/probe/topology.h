/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_TOPOLOGY_H
#define YOKE_HAL_TOPOLOGY_H

/*
 * NUMA nodes and distances on the PCI tree, by hwloc. hwloc runs in the helper process:
 * its plug-ins load vendor libraries, and it is steered by environment variables.
 */

#include <jansson.h>
#include "yoke/inventory.h"

/*
 * Helper's side. {"interface": version, "machine_bytes", "nodes": [{"index", "bytes"}],
 * "cores", "threads", "pci": [{"address", "numa" or null, "bridges": [...]}]}; an object
 * with "problem" when hwloc fails.
 */
json_t *yoke_topology_read(const char *sysroot);

/*
 * Parent's side: fills the NUMA node where the kernel did not say it, and for every NIC
 * the devices nearest to it. `topology` may be NULL (then the paths below sysfs decide).
 */
yoke_status_t yoke_topology_apply(const char *root, const json_t *topology,
                                  yoke_node_t *node);

#endif
