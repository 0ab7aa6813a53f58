/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weighted ownership: every rank talks to every other one, and owns as much of the vector
 * as its link is fast. On a switch with ranks of rates b_i, an all-reduce takes
 * max(M / min b, 2 (n-1) M / sum b), which no algorithm beats (yoke_cost_star_bound());
 * with equal rates it is the direct algorithm of linear.c. Latency: 2 a, n - 1 messages
 * each way for every chunk.
 */

#include "ucx_comm/collectives/tree.h"

static void build(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    yoke_tree_build(shape, true, schedule);
}

const yoke_builder_t yoke_weighted_builders[] = {
    {YOKE_ALGORITHM_WEIGHTED, YOKE_COLLECTIVE_BROADCAST, NULL, build},
    {YOKE_ALGORITHM_WEIGHTED, YOKE_COLLECTIVE_REDUCE, NULL, build},
    {YOKE_ALGORITHM_WEIGHTED, YOKE_COLLECTIVE_ALL_REDUCE, NULL, build},
    {0},
};
