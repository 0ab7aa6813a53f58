/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_NETWORKS_H
#define YOKE_TEST_NETWORKS_H

/* Matrices of made-up networks. */

#include <stdlib.h>
#include "ucx_comm/topology/model.h"

#define NETWORK_MOST 64

/* Groups by level, finest first; links within a group of level 0 do rate[0], those that
 * leave it but stay within one of level 1 rate[1], ..., the rest rate[levels]. */
typedef struct network {
    int size, levels;
    const int *of[3];
    double rate[4];    /* bytes/s */
    double latency[4]; /* s */
    double noise;      /* links differ by up to so much of their rate */
} network_t;

static inline yoke_topology_t *network_topology(const network_t *net, unsigned seed,
                                                const yoke_rank_device_t *devices)
{
    int n = net->size;
    double *latency = calloc((size_t)(n * n), sizeof(double));
    double *bandwidth = calloc((size_t)(n * n), sizeof(double));
    yoke_topology_t *topology = NULL;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int level = 0;
            while (level < net->levels && net->of[level][a] != net->of[level][b])
                level++;
            seed = seed * 1103515245u + 12345u;
            double wobble = 1 - net->noise * ((seed >> 8) % 1000) / 1000.0;
            latency[a * n + b] = net->latency[level];
            bandwidth[a * n + b] = net->rate[level] * wobble;
        }
    if (yoke_topology_from_matrices(n, latency, bandwidth, devices, &topology) != YOKE_OK)
        topology = NULL;
    free(latency);
    free(bandwidth);
    return topology;
}

/* The next partition of a set, as a restricted growth string; false: that was the last.
 */
static inline bool next_partition(int *of, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int most = 0;
        for (int k = 0; k < i; k++)
            most = of[k] > most ? of[k] : most;
        if (of[i] > most)
            continue;
        of[i]++;
        for (int k = i + 1; k < n; k++)
            of[k] = 0;
        return true;
    }
    return false;
}

static inline int count_groups(const int *of, int n)
{
    int groups = 0;
    for (int i = 0; i < n; i++)
        groups = of[i] + 1 > groups ? of[i] + 1 : groups;
    return groups;
}

#endif
