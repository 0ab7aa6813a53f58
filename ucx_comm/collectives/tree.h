/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_TREE_H
#define YOKE_COMM_TREE_H

/*
 * Ranks as the leaves of a tree: islands, groups of islands, all. Collectives by
 * ownership on it (tree.c) are what hierarchical.c and weighted.c consist of.
 */

#include "ucx_comm/collectives/builders.h"

#define YOKE_TREE_LEVELS (YOKE_TOPOLOGY_LEVELS + 1)

typedef struct yoke_tree_node {
    int first, children; /* children are nodes first ... first + children - 1 */
    int rank;            /* leaves; else -1 */
    int lowest;          /* rank below it */
    double weight;       /* what it owns of its parent's vector */
} yoke_tree_node_t;

typedef struct yoke_tree {
    yoke_tree_node_t *nodes; /* [0]: all */
    int count;
    bool *holds; /* [node * ranks + rank] */
    int ranks;
} yoke_tree_t;

/* With the topology's groups (flat: without), or all ranks alike where there is none. */
yoke_status_t yoke_tree_create(const yoke_shape_t *shape, bool flat,
                               yoke_tree_t **out_tree);
void yoke_tree_free(yoke_tree_t *tree);

/* Builders by ownership: reduce, all-reduce, reduce-scatter, all-gather, broadcast. */
void yoke_tree_build(const yoke_shape_t *shape, bool flat, yoke_schedule_t *schedule);

#endif
