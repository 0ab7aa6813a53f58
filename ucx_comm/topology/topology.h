/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_TOPOLOGY_H
#define YOKE_COMM_TOPOLOGY_H

/*
 * What the links between the ranks can do, and which algorithm that speaks for. The same
 * data on every rank, so that every rank chooses alike.
 */

#include "ucx_comm/transport/transport.h"

typedef struct yoke_rank_device { /* what a rank says of its device; zero: host memory */
    char runtime[16];             /* "cuda", "hip", "" */
    char vendor[24];
    char name[64];
    char library[24]; /* vendor collectives: "nccl", ...; "": none */
    char library_version[24];
} yoke_rank_device_t;

typedef struct yoke_topology yoke_topology_t;

/* Collective. Measures (a few ms a level; see topology/probe.c), unless
 * YOKE_COMM_TOPOLOGY names an inventory whose links say it. */
yoke_status_t yoke_topology_create(yoke_control_t *control, yoke_transport_t *transport,
                                   const yoke_rank_device_t *mine,
                                   yoke_topology_t **out_topology);
void yoke_topology_free(yoke_topology_t *topology);

int yoke_topology_size(const yoke_topology_t *topology);
double yoke_topology_latency(const yoke_topology_t *topology, int from, int to);
double yoke_topology_bandwidth(const yoke_topology_t *topology, int from, int to);
const yoke_rank_device_t *yoke_topology_device(const yoke_topology_t *topology, int rank);

/* Islands: ranks that reach each other much better than the rest, or that one vendor
 * library serves. Every rank is in one; islands are numbered by their lowest rank. */
int yoke_topology_islands(const yoke_topology_t *topology);
int yoke_topology_island_of(const yoke_topology_t *topology, int rank);
/* bytes/s that an island sends to and receives from the rest, all its ranks together */
double yoke_topology_uplink(const yoke_topology_t *topology, int island);

/*
 * Levels of groups, finest first: level 0 holds the islands; a higher level joins groups
 * of the one below that reach each other better than the rest. 0 levels: all links are
 * alike, and all ranks are one island. Groups of a level are numbered by their lowest
 * rank.
 */
#define YOKE_TOPOLOGY_LEVELS 3 /* most */
int yoke_topology_levels(const yoke_topology_t *topology);
int yoke_topology_groups(const yoke_topology_t *topology, int level);
int yoke_topology_group_of(const yoke_topology_t *topology, int level, int rank);
double yoke_topology_group_uplink(const yoke_topology_t *topology, int level, int group);
/* bytes/s that a rank sends, and receives, to and from all others together */
double yoke_topology_rate(const yoke_topology_t *topology, int rank);
/* All ranks in an order in which neighbours are as close as they can be: the ranks of
 * every group stand together. */
const int *yoke_topology_ring(const yoke_topology_t *topology);
/* How many steps of a ring in this order lead from one island to another. */
int yoke_topology_crossings(const yoke_topology_t *topology, const int *order);

typedef enum yoke_algorithm {
    YOKE_ALGORITHM_AUTO = 0,
    YOKE_ALGORITHM_SHARED, /* one arena: collectives/shared */
    YOKE_ALGORITHM_LINEAR, /* root or owner talks to each */
    YOKE_ALGORITHM_KNOMIAL,
    YOKE_ALGORITHM_RING,
    YOKE_ALGORITHM_RECURSIVE_DOUBLING,
    YOKE_ALGORITHM_RABENSEIFNER,
    YOKE_ALGORITHM_BRUCK,
    YOKE_ALGORITHM_PAIRWISE,
    YOKE_ALGORITHM_WEIGHTED,     /* owners' shares by the speed of their links */
    YOKE_ALGORITHM_HIERARCHICAL, /* inside islands, then across, pipelined */
    YOKE_ALGORITHM_VENDOR,       /* one vendor library over all ranks */
    YOKE_ALGORITHM_COUNT
} yoke_algorithm_t;

const char *yoke_algorithm_name(yoke_algorithm_t algorithm); /* "ring"; NULL: none */
bool yoke_algorithm_parse(const char *name, yoke_algorithm_t *out_algorithm);

typedef struct yoke_choice {
    yoke_algorithm_t algorithm;
    uint32_t radix;   /* knomial */
    uint64_t chunk;   /* bytes; pipelined algorithms */
    double predicted; /* seconds */
} yoke_choice_t;

/* `size`: bytes as nccl-tests counts them (all-reduce: the vector; the others: n blocks;
 * broadcast: the buffer). Pure: equal arguments give equal choices on every rank. */
void yoke_topology_choose(const yoke_topology_t *topology, yoke_collective_t collective,
                          uint64_t size, yoke_choice_t *out_choice);
/* seconds of one algorithm; INFINITY where it cannot do this */
double yoke_topology_predict(const yoke_topology_t *topology,
                             yoke_collective_t collective, uint64_t size,
                             yoke_algorithm_t algorithm, uint64_t chunk);
/* "measured", or the document that said what the links can do */
const char *yoke_topology_source(const yoke_topology_t *topology);
/* What was measured, as the links of an inventory document (yoke-inventory/1) whose
 * devices are the ranks; freed by the caller with free(). */
yoke_status_t yoke_topology_links(const yoke_topology_t *topology, char **out_text);

#endif
