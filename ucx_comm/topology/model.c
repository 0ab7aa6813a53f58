/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a topology: making it from matrices, and what is asked of it. */

#include "ucx_comm/topology/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Until they are measured: a message by message cost and an adding rate of this class of
 * machine. */
#define USUAL_OVERHEAD 0.5e-6
#define USUAL_REDUCTION 4e9

void yoke_topology_drop_levels(yoke_topology_t *topology)
{
    for (int i = 0; i < topology->levels; i++) {
        free(topology->level[i].of);
        free(topology->level[i].uplink);
    }
    memset(topology->level, 0, sizeof topology->level);
    topology->levels = 0;
}

void yoke_topology_free(yoke_topology_t *topology)
{
    if (topology == NULL)
        return;
    yoke_topology_drop_levels(topology);
    free(topology->latency);
    free(topology->bandwidth);
    free(topology->rate);
    free(topology->devices);
    free(topology->places);
    free(topology->ring);
    free(topology);
}

yoke_status_t yoke_topology_add_level(yoke_topology_t *topology, const int *of)
{
    size_t n = (size_t)topology->size;
    if (topology->levels == YOKE_TOPOLOGY_LEVELS)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE, "more than %d levels of groups",
                         YOKE_TOPOLOGY_LEVELS);
    yoke_level_t level = {0, malloc(n * sizeof(int)), calloc(n, sizeof(double))};
    if (level.of == NULL || level.uplink == NULL) {
        free(level.of);
        free(level.uplink);
        return yoke_fail_memory();
    }
    for (int r = 0; r < topology->size; r++) {
        level.of[r] = -1;
        for (int before = 0; before < r; before++)
            if (of[before] == of[r])
                level.of[r] = level.of[before];
        if (level.of[r] < 0)
            level.of[r] = level.groups++;
    }
    topology->level[topology->levels++] = level;
    return YOKE_OK;
}

static double bandwidth(const yoke_topology_t *topology, int from, int to)
{
    return topology->bandwidth[from * topology->size + to];
}

/* A rank's own link carries what its fastest peer takes from it. */
static void expect_rates(yoke_topology_t *topology)
{
    for (int r = 0; r < topology->size; r++) {
        double most = 0;
        for (int peer = 0; peer < topology->size; peer++)
            if (peer != r)
                most = fmax(most, bandwidth(topology, r, peer));
        topology->rate[r] = most;
    }
}

/* The ranks of a group may share one way out: no more is expected of them together than
 * of the best of them. */
static void expect_uplinks(yoke_topology_t *topology)
{
    for (int l = 0; l < topology->levels; l++) {
        yoke_level_t *level = &topology->level[l];
        for (int g = 0; g < level->groups; g++)
            level->uplink[g] = 0;
        for (int from = 0; from < topology->size; from++)
            for (int to = 0; to < topology->size; to++)
                if (level->of[from] != level->of[to])
                    level->uplink[level->of[from]] = fmax(level->uplink[level->of[from]],
                                                          bandwidth(topology, from, to));
    }
}

static void expect_loads(yoke_topology_t *topology)
{
    int n = topology->size;
    yoke_load_t all = {0, INFINITY}, inside = {0, INFINITY};
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) {
            if (from == to)
                continue;
            double latency = topology->latency[from * n + to];
            all.latency = fmax(all.latency, latency);
            all.bandwidth = fmin(all.bandwidth, bandwidth(topology, from, to));
            if (topology->levels > 0 &&
                topology->level[0].of[from] != topology->level[0].of[to])
                continue;
            inside.latency = fmax(inside.latency, latency);
            inside.bandwidth = fmin(inside.bandwidth, bandwidth(topology, from, to));
        }
    topology->all = all;
    topology->across = all.latency;
    topology->inside = inside;
}

typedef struct place {
    int rank;
    int group[YOKE_TOPOLOGY_LEVELS]; /* coarsest first */
} place_t;

static int compare_places(const void *left, const void *right)
{
    const place_t *a = left, *b = right;
    for (int l = 0; l < YOKE_TOPOLOGY_LEVELS; l++)
        if (a->group[l] != b->group[l])
            return a->group[l] < b->group[l] ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static yoke_status_t order_ring(yoke_topology_t *topology)
{
    place_t *places = calloc((size_t)topology->size, sizeof *places);
    if (places == NULL)
        return yoke_fail_memory();
    for (int r = 0; r < topology->size; r++) {
        places[r].rank = r;
        for (int l = 0; l < topology->levels; l++)
            places[r].group[topology->levels - 1 - l] = topology->level[l].of[r];
    }
    qsort(places, (size_t)topology->size, sizeof *places, compare_places);
    for (int r = 0; r < topology->size; r++)
        topology->ring[r] = places[r].rank;
    free(places);
    return YOKE_OK;
}

yoke_status_t yoke_topology_settle(yoke_topology_t *topology)
{
    expect_rates(topology);
    expect_uplinks(topology);
    expect_loads(topology);
    return order_ring(topology);
}

static bool copy_matrix(double **out, const double *from, size_t n)
{
    *out = malloc(n * sizeof **out);
    if (*out != NULL)
        memcpy(*out, from, n * sizeof **out);
    return *out != NULL;
}

yoke_status_t yoke_topology_from_matrices(int size, const double *latency,
                                          const double *bandwidths,
                                          const yoke_rank_device_t *devices,
                                          yoke_topology_t **out_topology)
{
    size_t n = (size_t)size;
    yoke_topology_t *topology = calloc(1, sizeof *topology);
    if (topology == NULL)
        return yoke_fail_memory();
    topology->size = size;
    topology->overhead = USUAL_OVERHEAD;
    topology->reduction = USUAL_REDUCTION;
    snprintf(topology->source, sizeof topology->source, "measured");
    topology->rate = calloc(n, sizeof(double));
    topology->devices = calloc(n, sizeof *topology->devices);
    topology->places = calloc(n, sizeof *topology->places);
    topology->ring = calloc(n, sizeof(int));
    yoke_status_t status = YOKE_OK;
    if (!copy_matrix(&topology->latency, latency, n * n) ||
        !copy_matrix(&topology->bandwidth, bandwidths, n * n) || topology->rate == NULL ||
        topology->devices == NULL || topology->places == NULL || topology->ring == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK && devices != NULL)
        memcpy(topology->devices, devices, n * sizeof *devices);
    if (status == YOKE_OK)
        status = yoke_topology_find_levels(topology);
    if (status == YOKE_OK)
        status = yoke_topology_settle(topology);
    if (status != YOKE_OK) {
        yoke_topology_free(topology);
        return status;
    }
    *out_topology = topology;
    return YOKE_OK;
}

/* --- what is asked ------------------------------------------------------------------ */

int yoke_topology_size(const yoke_topology_t *topology)
{
    return topology->size;
}

double yoke_topology_latency(const yoke_topology_t *topology, int from, int to)
{
    return topology->latency[from * topology->size + to];
}

double yoke_topology_bandwidth(const yoke_topology_t *topology, int from, int to)
{
    return bandwidth(topology, from, to);
}

const yoke_rank_device_t *yoke_topology_device(const yoke_topology_t *topology, int rank)
{
    return &topology->devices[rank];
}

const char *yoke_topology_source(const yoke_topology_t *topology)
{
    return topology->source;
}

int yoke_topology_levels(const yoke_topology_t *topology)
{
    return topology->levels;
}

int yoke_topology_groups(const yoke_topology_t *topology, int level)
{
    return level < topology->levels ? topology->level[level].groups : 1;
}

int yoke_topology_group_of(const yoke_topology_t *topology, int level, int rank)
{
    return level < topology->levels ? topology->level[level].of[rank] : 0;
}

double yoke_topology_group_uplink(const yoke_topology_t *topology, int level, int group)
{
    return level < topology->levels ? topology->level[level].uplink[group] : INFINITY;
}

int yoke_topology_islands(const yoke_topology_t *topology)
{
    return yoke_topology_groups(topology, 0);
}

int yoke_topology_island_of(const yoke_topology_t *topology, int rank)
{
    return yoke_topology_group_of(topology, 0, rank);
}

double yoke_topology_uplink(const yoke_topology_t *topology, int island)
{
    return yoke_topology_group_uplink(topology, 0, island);
}

double yoke_topology_rate(const yoke_topology_t *topology, int rank)
{
    return topology->rate[rank];
}

const int *yoke_topology_ring(const yoke_topology_t *topology)
{
    return topology->ring;
}

int yoke_topology_crossings(const yoke_topology_t *topology, const int *order)
{
    int crossings = 0;
    for (int i = 0; i < topology->size; i++) {
        int next = order[(i + 1) % topology->size];
        crossings += yoke_topology_island_of(topology, order[i]) !=
                     yoke_topology_island_of(topology, next);
    }
    return crossings;
}
