/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the algorithms, as docs/comm.md has them. */

#include "ucx_comm/topology/topology.h"
#include <string.h>

static const char *const names[YOKE_ALGORITHM_COUNT] = {
    [YOKE_ALGORITHM_AUTO] = "auto",
    [YOKE_ALGORITHM_SHARED] = "shared",
    [YOKE_ALGORITHM_LINEAR] = "linear",
    [YOKE_ALGORITHM_KNOMIAL] = "knomial",
    [YOKE_ALGORITHM_RING] = "ring",
    [YOKE_ALGORITHM_RECURSIVE_DOUBLING] = "recursive-doubling",
    [YOKE_ALGORITHM_RABENSEIFNER] = "rabenseifner",
    [YOKE_ALGORITHM_BRUCK] = "bruck",
    [YOKE_ALGORITHM_PAIRWISE] = "pairwise",
    [YOKE_ALGORITHM_WEIGHTED] = "weighted",
    [YOKE_ALGORITHM_HIERARCHICAL] = "hierarchical",
    [YOKE_ALGORITHM_VENDOR] = "vendor",
};

const char *yoke_algorithm_name(yoke_algorithm_t algorithm)
{
    return (unsigned)algorithm < YOKE_ALGORITHM_COUNT ? names[algorithm] : NULL;
}

bool yoke_algorithm_parse(const char *name, yoke_algorithm_t *out_algorithm)
{
    for (int i = 0; i < YOKE_ALGORITHM_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *out_algorithm = (yoke_algorithm_t)i;
            return true;
        }
    return false;
}
