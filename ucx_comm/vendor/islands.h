/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_VENDOR_ISLANDS_H
#define YOKE_COMM_VENDOR_ISLANDS_H

/* Which ranks one vendor's library can carry together. Pure: the same on every rank. */

#include <stdint.h>

typedef struct yoke_vendor_member {
    const char *vendor;  /* of the device: "nvidia" */
    const char *library; /* yoke_vendor_name(), "" or NULL: none */
    const char *version; /* yoke_vendor_version() */
    uint32_t reach;      /* ranks with unlike numbers do not reach each other's devices */
} yoke_vendor_member_t;

/*
 * Ranks are of one group when vendor, library, version and reach are equal: libraries of
 * two versions truncate each other's messages or hang (ROCm/rccl#1220, NVIDIA/nccl#354).
 * A rank without a library, or without a like, is a group of its own. Groups are numbered
 * by their lowest rank, which is the leader.
 * @param out_group   for each rank the number of its group
 * @param out_leader  for each group its leader; `count` entries; may be NULL
 * @return how many groups there are
 */
int yoke_vendor_islands(const yoke_vendor_member_t *members, int count, int *out_group,
                        int *out_leader);

#endif
