/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hierarchical: within islands, between them (and between groups of islands), and within
 * them again, in chunks that overlap (ownership.c). Times, C islands of uplinks u_c,
 * pipelined: an all-reduce takes the longest of 2 (n_c - 1)/n_c M / b_c within an island
 * of n_c ranks of rate b_c, and max(M / min u, 2 (C-1) M / sum u) between islands; one
 * chunk through all levels comes on top.
 *
 * All-to-all: what island c has for a rank of another island is gathered at one rank of c
 * and goes there as one message: n - n_c messages across become about (n - n_c) / n_c.
 */

#include "base/error.h"
#include "ucx_comm/collectives/tree.h"

static void build(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    yoke_tree_build(shape, false, schedule);
}

/* --- all-to-all
 * -------------------------------------------------------------------------- */

static int island_of(const yoke_shape_t *shape, int rank)
{
    return shape->topology != NULL ? yoke_topology_island_of(shape->topology, rank) : 0;
}

/* How many ranks of the island of `rank` come before it. */
static int place_in_island(const yoke_shape_t *shape, int rank)
{
    int place = 0;
    for (int r = 0; r < rank; r++)
        place += island_of(shape, r) == island_of(shape, rank);
    return place;
}

static int island_size(const yoke_shape_t *shape, int island)
{
    int size = 0;
    for (int r = 0; r < shape->size; r++)
        size += island_of(shape, r) == island;
    return size;
}

/* Rank number `place` of an island. */
static int member(const yoke_shape_t *shape, int island, int place)
{
    int rank = 0;
    for (; rank < shape->size; rank++)
        if (island_of(shape, rank) == island && place-- == 0)
            break;
    return rank;
}

/* The rank of `island` that sends what all of it has for `to`. */
static int sender_for(const yoke_shape_t *shape, int island, int to)
{
    return member(shape, island, place_in_island(shape, to) % island_size(shape, island));
}

/* Blocks of one island's ranks for `to`, in rank order, gathered at the sender. */
static void gather_and_send(const yoke_shape_t *shape, yoke_schedule_t *schedule, int to,
                            yoke_region_t from, yoke_step_t moved, uint64_t at)
{
    int mine = island_of(shape, shape->rank);
    uint64_t block = yoke_shape_bytes(shape);
    int count = island_size(shape, mine);
    yoke_step_t *came = yoke_steps_new(schedule, (uint64_t)count);
    if (came == NULL)
        return;
    for (int k = 0; k < count; k++) {
        int rank = member(shape, mine, k);
        yoke_range_t slot = IN_SCRATCH(at + (uint64_t)k * block);
        if (rank == shape->rank) {
            came[k] = yoke_schedule_copy(
                schedule, slot, yoke_range(from, yoke_send_offset(shape, to)), block);
            yoke_schedule_after(schedule, came[k], moved);
        } else
            came[k] = yoke_schedule_receive(schedule, rank, PHASE(1) + (uint32_t)to, slot,
                                            block);
    }
    yoke_step_t sent = yoke_schedule_send(schedule, to, PHASE(2), IN_SCRATCH(at),
                                          (uint64_t)count * block);
    for (int k = 0; k < count; k++)
        yoke_schedule_after(schedule, sent, came[k]);
    free(came);
}

/* Its blocks of one other island, which come together. */
static void receive_and_place(const yoke_shape_t *shape, yoke_schedule_t *schedule,
                              int island, yoke_step_t moved, uint64_t at)
{
    uint64_t block = yoke_shape_bytes(shape);
    int count = island_size(shape, island);
    yoke_step_t here =
        yoke_schedule_receive(schedule, sender_for(shape, island, shape->rank), PHASE(2),
                              IN_SCRATCH(at), (uint64_t)count * block);
    for (int k = 0; k < count; k++) {
        yoke_step_t placed = yoke_schedule_copy(
            schedule, IN_RECV(yoke_block_offset(shape, member(shape, island, k))),
            IN_SCRATCH(at + (uint64_t)k * block), block);
        yoke_schedule_after(schedule, placed, here);
        yoke_schedule_after(schedule, placed, moved);
    }
}

/* Between ranks of one island: directly. */
static void exchange_inside(const yoke_shape_t *shape, yoke_schedule_t *schedule,
                            yoke_region_t from, yoke_step_t moved)
{
    uint64_t block = yoke_shape_bytes(shape);
    for (int i = 0; i < shape->size; i++) {
        int peer = (shape->rank + i) % shape->size;
        if (island_of(shape, peer) != island_of(shape, shape->rank))
            continue;
        yoke_range_t there = yoke_range(from, yoke_send_offset(shape, peer));
        yoke_range_t here = IN_RECV(yoke_block_offset(shape, peer));
        if (peer == shape->rank) {
            yoke_schedule_after(schedule,
                                yoke_schedule_copy(schedule, here, there, block), moved);
            continue;
        }
        yoke_schedule_after(schedule,
                            yoke_schedule_receive(schedule, peer, PHASE(0), here, block),
                            moved);
        yoke_schedule_after(
            schedule, yoke_schedule_send(schedule, peer, PHASE(0), there, block), moved);
    }
}

static void all_to_all(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t block = yoke_shape_bytes(shape), used = 0;
    int mine = island_of(shape, shape->rank);
    yoke_region_t from = YOKE_REGION_SEND;
    yoke_step_t moved = -1;
    if (shape->in_place) {
        for (int i = 0; i < shape->size; i++) {
            uint64_t end = yoke_send_offset(shape, i) + block;
            used = end > used ? end : used;
        }
        moved = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SEND(0), used);
        from = YOKE_REGION_SCRATCH;
    }
    exchange_inside(shape, schedule, from, moved);
    for (int i = 1; i < shape->size; i++) {
        int to = (shape->rank + i) % shape->size;
        if (island_of(shape, to) == mine)
            continue;
        int sender = sender_for(shape, mine, to);
        if (sender == shape->rank) {
            gather_and_send(shape, schedule, to, from, moved, used);
            used += block * (uint64_t)island_size(shape, mine);
            continue;
        }
        yoke_schedule_after(
            schedule,
            yoke_schedule_send(schedule, sender, PHASE(1) + (uint32_t)to,
                               yoke_range(from, yoke_send_offset(shape, to)), block),
            moved);
    }
    int islands = shape->topology != NULL ? yoke_topology_islands(shape->topology) : 1;
    for (int island = 0; island < islands; island++)
        if (island != mine) {
            receive_and_place(shape, schedule, island, moved, used);
            used += block * (uint64_t)island_size(shape, island);
        }
    yoke_schedule_scratch(schedule, used);
}

/* Of a v-form, a rank does not know what others send each other. */
static bool is_regular(const yoke_shape_t *shape)
{
    return shape->counts == NULL;
}

const yoke_builder_t yoke_hierarchical_builders[] = {
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_BROADCAST, NULL, build},
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_REDUCE, NULL, build},
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_ALL_REDUCE, NULL, build},
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_REDUCE_SCATTER, NULL, build},
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_ALL_GATHER, NULL, build},
    {YOKE_ALGORITHM_HIERARCHICAL, YOKE_COLLECTIVE_ALL_TO_ALL, is_regular, all_to_all},
    {0},
};
