/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/vendor/islands.h"

#include <stdbool.h>
#include <string.h>

static bool equal(const char *a, const char *b)
{
    return a != NULL && b != NULL && a[0] != '\0' && strcmp(a, b) == 0;
}

static bool together(const yoke_vendor_member_t *a, const yoke_vendor_member_t *b)
{
    return equal(a->library, b->library) && equal(a->version, b->version) &&
           equal(a->vendor, b->vendor) && a->reach == b->reach;
}

int yoke_vendor_islands(const yoke_vendor_member_t *members, int count, int *out_group,
                        int *out_leader)
{
    int groups = 0;
    for (int r = 0; r < count; r++) {
        int like = 0;
        while (like < r && !together(&members[like], &members[r]))
            like++;
        out_group[r] = like < r ? out_group[like] : groups;
        if (like < r)
            continue;
        if (out_leader != NULL)
            out_leader[groups] = r;
        groups++;
    }
    return groups;
}
