/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_GROUPING_H
#define YOKE_INVENTORY_GROUPING_H

/* Which records are of one device. Used by identity.c alone. */

#include "inventory/record.h"

typedef enum yoke_group_kind {
    YOKE_GROUP_CARD,
    YOKE_GROUP_PART, /* slice or virtual function */
    YOKE_GROUP_HOST,
    YOKE_GROUP_EMULATOR,
    YOKE_GROUP_UNRESOLVED
} yoke_group_kind_t;

typedef struct yoke_group {
    yoke_group_kind_t kind;
    const yoke_record_t **members; /* best-ranked first */
    size_t count;
    yoke_pci_t pci;        /* of the device; a slice has its card's */
    bool own_address;      /* pci is of this device alone (a virtual function has one) */
    const char *partition; /* of a part */
    size_t parent;         /* index of the card's group; SIZE_MAX: not listed */
    size_t candidates;     /* unresolved: cards that it may be */
} yoke_group_t;

typedef struct yoke_grouping {
    yoke_group_t *groups;
    size_t count;
    const yoke_record_t **storage;
} yoke_grouping_t;

/* The same groups in the same order, whatever the order of the records. */
yoke_status_t yoke_grouping_make(const yoke_records_t *records,
                                 yoke_grouping_t *out_grouping);
void yoke_grouping_free(yoke_grouping_t *grouping);

/* 0 for a vendor's own runtime, then its management library, Level Zero, OpenCL; sysfs
 * last. */
int yoke_runtime_rank(const char *runtime);

#endif
