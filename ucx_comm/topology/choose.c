/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each algorithm takes on these links, and which one is best.
 *
 * An algorithm's terms (costmodel/collective.h) are priced with what ranks do when all of
 * them talk at once. Where there are islands, what crosses the border of each is priced
 * with its uplink, and the longer of the two counts.
 */

#include "ucx_comm/topology/model.h"

#include <math.h>

#define LEAST_CHUNK 32768.0
#define MOST_CHUNK (4.0 * 1048576)

typedef yoke_collective_terms_t terms_t;

static unsigned ranks_of(const yoke_topology_t *topology)
{
    return (unsigned)topology->size;
}

static terms_t nothing(void)
{
    terms_t none = {0, 0, 0, 0};
    return none;
}

/* --- terms of the flat algorithms -----------------------------------------------------
 */

static bool all_reduce(unsigned n, double bytes, yoke_algorithm_t algorithm, terms_t *out)
{
    switch (algorithm) {
    case YOKE_ALGORITHM_SHARED:
    case YOKE_ALGORITHM_LINEAR:
    case YOKE_ALGORITHM_WEIGHTED:
        *out = yoke_terms_sum(yoke_terms_reducing(yoke_terms_direct(n, bytes)),
                              yoke_terms_direct(n, bytes));
        return true;
    case YOKE_ALGORITHM_KNOMIAL:
        *out = yoke_terms_sum(yoke_terms_reducing(yoke_terms_tree(n, bytes)),
                              yoke_terms_tree(n, bytes));
        return true;
    case YOKE_ALGORITHM_RING:
        *out = yoke_terms_sum(yoke_terms_reducing(yoke_terms_ring(n, bytes)),
                              yoke_terms_ring(n, bytes));
        return true;
    case YOKE_ALGORITHM_RECURSIVE_DOUBLING:
        *out = yoke_terms_reducing(yoke_terms_tree(n, bytes));
        return true;
    case YOKE_ALGORITHM_RABENSEIFNER:
        *out = yoke_terms_sum(yoke_terms_reducing(yoke_terms_halving(n, bytes)),
                              yoke_terms_halving(n, bytes));
        return true;
    case YOKE_ALGORITHM_BRUCK:
        *out = nothing();
        out->rounds = out->messages = yoke_ceil_log2(n);
        out->sent = out->reduced = ((double)n - 1) * bytes;
        return true;
    default:
        return false;
    }
}

/* broadcast, and reduce, which is the same backwards */
static bool rooted(unsigned n, double bytes, yoke_algorithm_t algorithm, bool reduces,
                   terms_t *out)
{
    switch (algorithm) {
    case YOKE_ALGORITHM_SHARED:
    case YOKE_ALGORITHM_LINEAR:
        *out = yoke_terms_direct(n, bytes * (double)n);
        break;
    case YOKE_ALGORITHM_KNOMIAL:
        *out = yoke_terms_tree(n, bytes);
        break;
    case YOKE_ALGORITHM_RING:
        *out = yoke_terms_chain(n, bytes, fmax(1, ceil(bytes / 524288)));
        break;
    case YOKE_ALGORITHM_RABENSEIFNER:
    case YOKE_ALGORITHM_WEIGHTED:
        *out =
            algorithm == YOKE_ALGORITHM_WEIGHTED
                ? yoke_terms_sum(yoke_terms_direct(n, bytes), yoke_terms_direct(n, bytes))
                : yoke_terms_sum(yoke_terms_halving(n, bytes), yoke_terms_ring(n, bytes));
        break;
    default:
        return false;
    }
    if (reduces)
        *out = yoke_terms_reducing(*out);
    return true;
}

static bool blocks(unsigned n, double bytes, yoke_collective_t collective,
                   yoke_algorithm_t algorithm, terms_t *out)
{
    bool gathers = collective == YOKE_COLLECTIVE_ALL_GATHER;
    switch (algorithm) {
    case YOKE_ALGORITHM_SHARED:
    case YOKE_ALGORITHM_LINEAR:
        *out = yoke_terms_direct(n, bytes);
        break;
    case YOKE_ALGORITHM_RING:
        *out = yoke_terms_ring(n, bytes);
        break;
    case YOKE_ALGORITHM_PAIRWISE:
        if (gathers)
            return false;
        *out = yoke_terms_ring(n, bytes);
        break;
    case YOKE_ALGORITHM_BRUCK:
        if (!gathers)
            return false;
        *out = yoke_terms_direct(n, bytes);
        out->rounds = out->messages = yoke_ceil_log2(n);
        break;
    case YOKE_ALGORITHM_RECURSIVE_DOUBLING:
    case YOKE_ALGORITHM_RABENSEIFNER:
        if (gathers != (algorithm == YOKE_ALGORITHM_RECURSIVE_DOUBLING))
            return false;
        *out = yoke_terms_halving(n, bytes);
        break;
    default:
        return false;
    }
    if (!gathers)
        *out = yoke_terms_reducing(*out);
    return true;
}

static bool others(unsigned n, double bytes, yoke_collective_t collective,
                   yoke_algorithm_t algorithm, terms_t *out)
{
    bool exchange = collective == YOKE_COLLECTIVE_ALL_TO_ALL;
    *out = yoke_terms_direct(n, bytes);
    switch (algorithm) {
    case YOKE_ALGORITHM_SHARED:
    case YOKE_ALGORITHM_LINEAR:
        break;
    case YOKE_ALGORITHM_KNOMIAL:
        if (exchange)
            return false;
        out->rounds = out->messages = yoke_ceil_log2(n);
        break;
    case YOKE_ALGORITHM_PAIRWISE:
        *out = yoke_terms_ring(n, bytes);
        return exchange;
    case YOKE_ALGORITHM_BRUCK:
        *out = yoke_terms_tree(n, bytes / 2);
        return exchange;
    default:
        return false;
    }
    if (collective == YOKE_COLLECTIVE_BARRIER) {
        *out = yoke_terms_sum(*out, *out);
        out->sent = 0;
    }
    return true;
}

static bool terms_of(unsigned n, double bytes, yoke_collective_t collective,
                     yoke_algorithm_t algorithm, terms_t *out)
{
    switch (collective) {
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return all_reduce(n, bytes, algorithm, out);
    case YOKE_COLLECTIVE_BROADCAST:
    case YOKE_COLLECTIVE_REDUCE:
        return rooted(n, bytes, algorithm, collective == YOKE_COLLECTIVE_REDUCE, out);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
    case YOKE_COLLECTIVE_ALL_GATHER:
        return blocks(n, bytes, collective, algorithm, out);
    case YOKE_COLLECTIVE_BARRIER:
    case YOKE_COLLECTIVE_GATHER:
    case YOKE_COLLECTIVE_SCATTER:
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return others(n, bytes, collective, algorithm, out);
    default:
        return false;
    }
}

/* --- prices
 * ----------------------------------------------------------------------------- */

static yoke_link_cost_t price(const yoke_topology_t *topology, const yoke_load_t *load)
{
    yoke_link_cost_t cost = {load->latency, topology->overhead, load->bandwidth,
                             topology->reduction};
    return cost;
}

static int members_of(const yoke_level_t *level, int size, int group)
{
    int members = 0;
    for (int r = 0; r < size; r++)
        members += level->of[r] == group;
    return members;
}

/* Seconds that the busiest border of a level is busy with what a flat algorithm sends:
 * partners are anywhere, but in a ring, where they stand in the ring's order. */
static double border_time(const yoke_topology_t *topology, const yoke_level_t *level,
                          const terms_t *terms, yoke_algorithm_t algorithm)
{
    double most = 0, n = topology->size;
    for (int g = 0; g < level->groups; g++) {
        double members = members_of(level, topology->size, g);
        double crossing = members * (n - members) / (n - 1) * terms->sent;
        if (algorithm == YOKE_ALGORITHM_RING)
            crossing = terms->sent;
        double time = level->uplink[g] > 0 ? crossing / level->uplink[g] : INFINITY;
        most = fmax(most, time);
    }
    return most;
}

static double flat(const yoke_topology_t *topology, yoke_collective_t collective,
                   double bytes, yoke_algorithm_t algorithm)
{
    terms_t terms = nothing();
    if (!terms_of(ranks_of(topology), bytes, collective, algorithm, &terms))
        return INFINITY;
    yoke_link_cost_t cost =
        price(topology, topology->levels > 0 ? &topology->inside : &topology->all);
    /* What goes everywhere at once crosses at once. */
    cost.latency = terms.rounds <= 2 ? fmax(topology->all.latency, topology->across)
                                     : topology->all.latency;
    double border = 0, inside = terms.sent / cost.bandwidth;
    for (int l = 0; l < topology->levels; l++)
        border =
            fmax(border, border_time(topology, &topology->level[l], &terms, algorithm));
    if (algorithm == YOKE_ALGORITHM_SHARED) { /* no messages: all look at one memory */
        terms.rounds = fmin(terms.rounds, 1);
        terms.messages = 0;
    }
    double time = yoke_terms_seconds(&terms, &cost);
    /* On a switch whose ports differ, equal shares wait for the slowest port. */
    if (topology->levels == 0 && algorithm == YOKE_ALGORITHM_WEIGHTED &&
        collective == YOKE_COLLECTIVE_ALL_REDUCE)
        border = yoke_cost_star_bound(ranks_of(topology), topology->rate, bytes);
    return border > inside ? time - inside + border : time;
}

/* Bytes across the border of one group, per byte of the call. */
static double across(const yoke_topology_t *topology, const yoke_level_t *level,
                     yoke_collective_t collective, double bytes, double *out_least)
{
    double most = 0, n = topology->size;
    *out_least = INFINITY;
    for (int g = 0; g < level->groups; g++) {
        double members = members_of(level, topology->size, g);
        double crossing = bytes;
        if (collective == YOKE_COLLECTIVE_REDUCE_SCATTER)
            crossing = (n - members) / n * bytes;
        else if (collective == YOKE_COLLECTIVE_ALL_GATHER)
            crossing = fmax((n - members), members * (level->groups - 1)) / n * bytes;
        else if (collective == YOKE_COLLECTIVE_ALL_TO_ALL)
            crossing = members * (n - members) / n * bytes;
        most = fmax(most, level->uplink[g] > 0 ? crossing / level->uplink[g] : INFINITY);
        *out_least = fmin(*out_least, level->uplink[g]);
    }
    if (collective == YOKE_COLLECTIVE_ALL_REDUCE)
        most = yoke_cost_star_bound((unsigned)level->groups, level->uplink, bytes);
    return most;
}

/* Levels overlap: the longest counts, and one chunk through all of them. */
static double hierarchical(const yoke_topology_t *topology, yoke_collective_t collective,
                           double bytes, double chunk)
{
    bool reduces = collective == YOKE_COLLECTIVE_ALL_REDUCE ||
                   collective == YOKE_COLLECTIVE_REDUCE ||
                   collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
    double phases = collective == YOKE_COLLECTIVE_ALL_REDUCE ||
                            collective == YOKE_COLLECTIVE_BROADCAST ||
                            collective == YOKE_COLLECTIVE_REDUCE
                        ? 2
                        : 1;
    if (topology->levels == 0 || collective == YOKE_COLLECTIVE_BARRIER ||
        collective == YOKE_COLLECTIVE_GATHER || collective == YOKE_COLLECTIVE_SCATTER)
        return INFINITY;
    double largest = 0, n = topology->size;
    const yoke_level_t *islands = &topology->level[0];
    for (int g = 0; g < islands->groups; g++)
        largest = fmax(largest, members_of(islands, topology->size, g));
    double share = largest > 1 ? phases * (largest - 1) / largest : 0;
    double longest = share * bytes / topology->inside.bandwidth, fill = 0, least;
    double piece = fmin(chunk, bytes);
    fill = share * piece / topology->inside.bandwidth +
           phases * (share > 0 ? topology->inside.latency : 0);
    for (int l = 0; l < topology->levels; l++) {
        longest = fmax(longest,
                       across(topology, &topology->level[l], collective, bytes, &least));
        /* The last chunk's sums go, and then its results. */
        fill += phases * (topology->across + piece / 2 / least);
    }
    double chunks = fmax(1, ceil(bytes / chunk));
    double messages = chunks * phases * (largest - 1 + islands->groups - 1);
    if (collective == YOKE_COLLECTIVE_ALL_TO_ALL)
        messages = largest + (n - largest) / largest * 2;
    double time = chunks > 1 ? longest + fill : fmax(longest, fill);
    return time + messages * topology->overhead +
           (reduces ? bytes / topology->reduction : 0);
}

static double best_chunk(const yoke_topology_t *topology, yoke_collective_t collective,
                         double bytes)
{
    double best = LEAST_CHUNK, least = INFINITY;
    for (double chunk = LEAST_CHUNK; chunk <= MOST_CHUNK; chunk *= 2) {
        double time = hierarchical(topology, collective, bytes, chunk);
        if (time < least) {
            least = time;
            best = chunk;
        }
    }
    return best;
}

double yoke_topology_predict(const yoke_topology_t *topology,
                             yoke_collective_t collective, uint64_t size,
                             yoke_algorithm_t algorithm, uint64_t chunk)
{
    double bytes = (double)size;
    if (topology->size == 1)
        return 0;
    if (algorithm == YOKE_ALGORITHM_SHARED && !topology->shared)
        return INFINITY;
    if (algorithm != YOKE_ALGORITHM_HIERARCHICAL)
        return flat(topology, collective, bytes, algorithm);
    return hierarchical(topology, collective, bytes,
                        chunk > 0 ? (double)chunk
                                  : best_chunk(topology, collective, bytes));
}

void yoke_topology_choose(const yoke_topology_t *topology, yoke_collective_t collective,
                          uint64_t size, yoke_choice_t *out_choice)
{
    yoke_choice_t best = {YOKE_ALGORITHM_LINEAR, 0, 0, INFINITY};
    if (topology->shared) /* made for it: beats messages at every size */
        best.algorithm = YOKE_ALGORITHM_SHARED;
    for (int i = YOKE_ALGORITHM_LINEAR; i < YOKE_ALGORITHM_VENDOR && !topology->shared;
         i++) {
        double time =
            yoke_topology_predict(topology, collective, size, (yoke_algorithm_t)i, 0);
        if (time < best.predicted) {
            best.predicted = time;
            best.algorithm = (yoke_algorithm_t)i;
        }
    }
    if (best.algorithm == YOKE_ALGORITHM_HIERARCHICAL)
        best.chunk = (uint64_t)best_chunk(topology, collective, (double)size);
    best.predicted =
        yoke_topology_predict(topology, collective, size, best.algorithm, best.chunk);
    *out_choice = best;
}
