/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_IDENTITY_H
#define YOKE_INVENTORY_IDENTITY_H

/*
 * What follows from merged devices: memory of a node counted once, distance of a pair.
 * The merging itself (yoke_identity_merge) is in record.h.
 */

#include "yoke/inventory.h"

/**
 * Bytes of device memory and host memory together; a pool that both share is counted
 * once. Partitioned cards count as themselves, their slices do not count again; emulators
 * and devices of unknown memory add nothing. `out_unknown`: devices left out for want of
 * a value.
 */
double yoke_node_memory_sum(const yoke_node_t *node, size_t *out_unknown);

typedef enum yoke_distance {
    YOKE_DISTANCE_UNKNOWN = 0,
    YOKE_DISTANCE_SAME_CARD, /**< two parts of one card, or the device itself */
    YOKE_DISTANCE_SAME_NODE, /**< one NUMA node */
    YOKE_DISTANCE_OTHER_NODE
} yoke_distance_t;

/** "unknown" "same card" "same node" "other node" */
const char *yoke_distance_name(yoke_distance_t distance);
/** Distance class of two devices of one host. */
yoke_distance_t yoke_device_distance(const yoke_inventory_device_t *a,
                                     const yoke_inventory_device_t *b);

/** NUMA node out of what sysfs and the driver say: -1 is "unknown", never node 0; the
 *  kernel's answer wins where both know. */
int yoke_numa_resolve(int from_sysfs, int from_driver);

#endif
