/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PLAN_DIGEST_H
#define YOKE_PARTITION_PLAN_DIGEST_H

#include "yoke/inventory.h"

/*
 * Digest of what a plan takes from an inventory: nodes, devices and NICs in a fixed
 * order, whatever order the document has, and without "x-*" members.
 */
yoke_status_t yoke_plan_inventory_digest(const yoke_inventory_t *inventory, char out[32]);

#endif
