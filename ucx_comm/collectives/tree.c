/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of ranks and groups that a topology describes, and who owns how much. */

#include "ucx_comm/collectives/tree.h"

#include "base/error.h"
#include "costmodel/collective.h"

void yoke_tree_free(yoke_tree_t *tree)
{
    if (tree == NULL)
        return;
    free(tree->nodes);
    free(tree->holds);
    free(tree);
}

/* What the tree is made from: `levels` levels of groups, level 0 the finest. */
typedef struct plan {
    const yoke_shape_t *shape;
    const yoke_topology_t *topology; /* NULL: no groups */
    int levels;
    bool by_rate; /* leaves own by the rates of their links */
    double *rates, *weights;
} plan_t;

static int group_of(const plan_t *plan, int level, int rank)
{
    if (level < 0)
        return rank;
    return level == plan->levels ? 0
                                 : yoke_topology_group_of(plan->topology, level, rank);
}

/* Bytes/s of the child whose lowest rank is given, out of its group of `level`. */
static double rate_of(const plan_t *plan, int level, int rank)
{
    if (level > 0)
        return yoke_topology_group_uplink(
            plan->topology, level - 1,
            yoke_topology_group_of(plan->topology, level - 1, rank));
    /* Ranks of one island have equal shares: what they reach is near. */
    return plan->by_rate ? yoke_topology_rate(plan->topology, rank) : 1;
}

static void weigh_children(const plan_t *plan, yoke_tree_t *tree, int node, int level)
{
    yoke_tree_node_t *parent = &tree->nodes[node];
    for (int c = 0; c < parent->children; c++)
        plan->rates[c] = rate_of(plan, level, tree->nodes[parent->first + c].lowest);
    yoke_cost_weights((unsigned)parent->children, plan->rates, plan->weights);
    for (int c = 0; c < parent->children; c++)
        tree->nodes[parent->first + c].weight = plan->weights[c];
}

/* Children of `node`, which is a group of `level`: the groups of the next finer level
 * that lie in it. A group of one member is passed over. */
static void grow(const plan_t *plan, yoke_tree_t *tree, int node, int level)
{
    int n = plan->shape->size;
    const bool *held = &tree->holds[node * n];
    int first = tree->count, below = level - 1;
    for (; below >= 0; below--) { /* a level that does not divide this group */
        int group = group_of(plan, below, tree->nodes[node].lowest);
        bool divides = false;
        for (int r = 0; r < n; r++)
            divides = divides || (held[r] && group_of(plan, below, r) != group);
        if (divides)
            break;
    }
    for (int r = 0; r < n; r++) {
        if (!held[r])
            continue;
        int group = group_of(plan, below, r), child = first;
        while (child < tree->count &&
               group_of(plan, below, tree->nodes[child].lowest) != group)
            child++;
        if (child == tree->count)
            tree->nodes[tree->count++] = (yoke_tree_node_t){.rank = -1, .lowest = r};
        tree->holds[child * n + r] = true;
    }
    tree->nodes[node].first = first;
    tree->nodes[node].children = tree->count - first;
    int end = tree->count;
    weigh_children(plan, tree, node, below + 1);
    for (int child = first; child < end; child++) {
        int ranks = 0;
        for (int r = 0; r < n; r++)
            ranks += tree->holds[child * n + r];
        if (ranks == 1)
            tree->nodes[child].rank = tree->nodes[child].lowest;
        else
            grow(plan, tree, child, below);
    }
}

yoke_status_t yoke_tree_create(const yoke_shape_t *shape, bool flat,
                               yoke_tree_t **out_tree)
{
    size_t n = (size_t)shape->size, most = n * 2 + 1;
    plan_t plan = {.shape = shape, .topology = shape->topology};
    if (plan.topology != NULL && !flat)
        plan.levels = yoke_topology_levels(plan.topology);
    plan.by_rate = plan.topology != NULL && plan.levels == 0;
    plan.rates = calloc(n, sizeof(double));
    plan.weights = calloc(n, sizeof(double));
    yoke_tree_t *tree = calloc(1, sizeof *tree);
    yoke_status_t status = YOKE_OK;
    if (tree != NULL) {
        tree->nodes = calloc(most, sizeof *tree->nodes);
        tree->holds = calloc(most * n, sizeof *tree->holds);
        tree->ranks = shape->size;
    }
    if (tree == NULL || tree->nodes == NULL || tree->holds == NULL ||
        plan.rates == NULL || plan.weights == NULL) {
        yoke_tree_free(tree);
        status = yoke_fail_memory();
        goto out;
    }
    for (size_t r = 0; r < n; r++)
        tree->holds[r] = true;
    tree->nodes[0] = (yoke_tree_node_t){.rank = n == 1 ? 0 : -1, .weight = 1};
    tree->count = 1;
    if (n > 1)
        grow(&plan, tree, 0, plan.levels);
    *out_tree = tree;
out:
    free(plan.rates);
    free(plan.weights);
    return status;
}
