/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_MODEL_H
#define YOKE_COMM_MODEL_H

/* What a topology holds. For topology/ and its tests. */

#include "costmodel/collective.h"
#include "ucx_comm/topology/topology.h"

typedef struct yoke_level {
    int groups;
    int *of;        /* group of each rank */
    double *uplink; /* bytes/s of each group to the rest of all */
} yoke_level_t;

/* What a group's ranks take when all of them talk at once, as they do in a collective. */
typedef struct yoke_load {
    double latency;   /* seconds of a small message, when all ranks send one */
    double bandwidth; /* bytes/s that each rank sends and receives meanwhile */
} yoke_load_t;

/* Where a rank runs; "": not known. */
typedef struct yoke_place {
    char host[64];
    int arena; /* lowest rank that it shares memory with */
} yoke_place_t;

struct yoke_topology {
    int size;
    double *latency, *bandwidth; /* [from * size + to]; seconds, bytes/s */
    double *rate;                /* of each rank: bytes/s to all others together */
    yoke_rank_device_t *devices;
    yoke_place_t *places;
    int levels;
    yoke_level_t level[YOKE_TOPOLOGY_LEVELS];
    int *ring;
    double overhead;    /* seconds that a rank spends on each message */
    double reduction;   /* bytes/s that one rank adds up */
    yoke_load_t all;    /* all ranks at once, in ring order */
    double across;      /* seconds of a round in which all send to another island */
    yoke_load_t inside; /* all islands at once, each within itself */
    bool shared;        /* one arena holds all ranks */
    char source[256];   /* "measured", or the inventory that said it */
};

/*
 * From matrices (copied): latency in seconds, bandwidth in bytes/s, [from * size + to].
 * devices: of all ranks; NULL: host memory. Finds levels and ring; uplinks, rates and
 * loads are what the matrices let expect, until they are measured.
 */
yoke_status_t yoke_topology_from_matrices(int size, const double *latency,
                                          const double *bandwidth,
                                          const yoke_rank_device_t *devices,
                                          yoke_topology_t **out_topology);

/* How much better the links within a group are than those that leave it, at least. */
#define YOKE_ISLAND_GAP 2.5

/* islands.c: fills levels from the matrices and devices. */
yoke_status_t yoke_topology_find_levels(yoke_topology_t *topology);
/* A level of one group a rank set: of[] is copied and renumbered. */
yoke_status_t yoke_topology_add_level(yoke_topology_t *topology, const int *of);
void yoke_topology_drop_levels(yoke_topology_t *topology);
/* After levels have changed: uplinks, rates, loads and ring from the matrices. */
yoke_status_t yoke_topology_settle(yoke_topology_t *topology);

#endif
