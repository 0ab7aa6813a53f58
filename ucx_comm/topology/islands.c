/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Islands from what the links can do.
 *
 * Two ranks are as close as the slower direction of their link is fast for a message of
 * CLOSENESS bytes, latency included. Groups are those of a single-linkage clustering
 * (Kruskal's algorithm on falling closeness; Gower and Ross, Applied Statistics 18, 1969,
 * show that the spanning tree holds all of it), cut where the closeness that joins groups
 * drops by more than YOKE_ISLAND_GAP. Ranks of one island whose devices different vendor
 * libraries serve are islands of their own within it.
 */

#include "ucx_comm/topology/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define CLOSENESS 65536.0

typedef struct edge {
    int a, b;
    double closeness;
} edge_t;

static double one_way(const yoke_topology_t *topology, int from, int to)
{
    double rate = topology->bandwidth[from * topology->size + to];
    double time = topology->latency[from * topology->size + to];
    return rate > 0 ? CLOSENESS / (time + CLOSENESS / rate) : 0;
}

static double closeness(const yoke_topology_t *topology, int a, int b)
{
    double there = one_way(topology, a, b), back = one_way(topology, b, a);
    return there < back ? there : back;
}

/* Falling; equal ones in the order of their ranks, so that all ranks agree. */
static int compare_edges(const void *left, const void *right)
{
    const edge_t *x = left, *y = right;
    if (x->closeness != y->closeness)
        return x->closeness > y->closeness ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static int find(int *parent, int rank)
{
    while (parent[rank] != rank)
        rank = parent[rank] = parent[parent[rank]];
    return rank;
}

/* The n - 1 edges of the tree, falling. */
static yoke_status_t span(const yoke_topology_t *topology, edge_t *tree)
{
    int n = topology->size;
    size_t count = (size_t)n * (size_t)(n - 1) / 2, used = 0;
    edge_t *edges = malloc((count + 1) * sizeof *edges);
    int *parent = malloc((size_t)n * sizeof *parent);
    yoke_status_t status = YOKE_OK;
    if (edges == NULL || parent == NULL) {
        status = yoke_fail_memory();
        goto out;
    }
    count = 0;
    for (int a = 0; a < n; a++) {
        parent[a] = a;
        for (int b = a + 1; b < n; b++)
            edges[count++] = (edge_t){a, b, closeness(topology, a, b)};
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count; i++) {
        int a = find(parent, edges[i].a), b = find(parent, edges[i].b);
        if (a == b)
            continue;
        parent[a > b ? a : b] = a > b ? b : a;
        tree[used++] = edges[i];
    }
out:
    free(edges);
    free(parent);
    return status;
}

/* The groups that the first `joined` edges of the tree make. */
static void groups_of(const edge_t *tree, int joined, int size, int *of)
{
    for (int r = 0; r < size; r++)
        of[r] = r;
    for (int i = 0; i < joined; i++) {
        int a = of[tree[i].a], b = of[tree[i].b];
        for (int r = 0; r < size; r++)
            if (of[r] == b)
                of[r] = a;
    }
}

/* Where the drops are: cuts[i] edges are within groups. The largest drops where there are
 * more than levels; rising. */
static int find_cuts(const edge_t *tree, int edges, int most, int *cuts)
{
    double drops[YOKE_TOPOLOGY_LEVELS];
    int count = 0;
    for (int i = 1; i < edges; i++) {
        double next = tree[i].closeness;
        if (tree[i - 1].closeness <= YOKE_ISLAND_GAP * next)
            continue;
        double drop = next > 0 ? tree[i - 1].closeness / next : 1e30;
        int at = count;
        if (count == most) { /* the smallest of them goes */
            at = 0;
            for (int k = 1; k < count; k++)
                at = drops[k] < drops[at] ? k : at;
            if (drops[at] >= drop)
                continue;
            for (; at + 1 < count; at++) {
                drops[at] = drops[at + 1];
                cuts[at] = cuts[at + 1];
            }
        } else
            count++;
        drops[at] = drop;
        cuts[at] = i;
    }
    return count;
}

static bool same_library(const yoke_rank_device_t *a, const yoke_rank_device_t *b)
{
    return strcmp(a->library, b->library) == 0 &&
           (a->library[0] == '\0' || strcmp(a->vendor, b->vendor) == 0);
}

/* Islands whose ranks one library does not serve fall apart; true where one did. */
static bool split_by_library(const yoke_topology_t *topology, const int *of, int *out)
{
    bool split = false;
    for (int r = 0; r < topology->size; r++) {
        out[r] = r;
        for (int before = 0; before < r && out[r] == r; before++) {
            if (of[before] != of[r])
                continue;
            if (same_library(&topology->devices[before], &topology->devices[r]))
                out[r] = out[before];
            else
                split = true;
        }
    }
    return split;
}

static yoke_status_t add_levels(yoke_topology_t *topology, const edge_t *tree, int *of,
                                int *split)
{
    int cuts[YOKE_TOPOLOGY_LEVELS];
    int count = find_cuts(tree, topology->size - 1, YOKE_TOPOLOGY_LEVELS - 1, cuts);
    groups_of(tree, count > 0 ? cuts[0] : topology->size - 1, topology->size, of);
    yoke_status_t status = YOKE_OK;
    if (split_by_library(topology, of, split))
        status = yoke_topology_add_level(topology, split);
    for (int i = 0; i < count && status == YOKE_OK; i++) {
        groups_of(tree, cuts[i], topology->size, of);
        status = yoke_topology_add_level(topology, of);
    }
    return status;
}

yoke_status_t yoke_topology_find_levels(yoke_topology_t *topology)
{
    size_t n = (size_t)topology->size;
    edge_t *tree = calloc(n, sizeof *tree);
    int *of = calloc(n, sizeof *of), *split = calloc(n, sizeof *split);
    yoke_topology_drop_levels(topology);
    yoke_status_t status = YOKE_OK;
    if (tree == NULL || of == NULL || split == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK && n > 1)
        status = span(topology, tree);
    if (status == YOKE_OK && n > 1)
        status = add_levels(topology, tree, of, split);
    free(tree);
    free(of);
    free(split);
    return status;
}
