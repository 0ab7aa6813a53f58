/* SPDX-License-Identifier: Apache-2.0 */
/* Collective costs: latency and bandwidth terms only, shared by planner and transport. */
#include "costmodel/collective.h"

#include <stdbool.h>

/* A link that carries nothing makes the exchange hopeless without making sums NaN. */
#define UNREACHABLE_SECONDS 1e12

unsigned yoke_ceil_log2(unsigned n)
{
    unsigned bits = 0;
    while (bits < 32 && ((unsigned long long)1 << bits) < n)
        bits++;
    return bits;
}

static double transfer(double bytes, double bandwidth)
{
    if (bytes <= 0)
        return 0;
    return bandwidth > 0 ? bytes / bandwidth : UNREACHABLE_SECONDS;
}

double yoke_cost_p2p(double bytes, double bandwidth, double latency)
{
    return latency + transfer(bytes, bandwidth);
}

double yoke_cost_reduce_scatter(unsigned ranks, double bytes, double bandwidth,
                                double latency)
{
    if (ranks <= 1)
        return 0;
    double share = ((double)ranks - 1) / (double)ranks;
    return transfer(share * bytes, bandwidth) + (double)yoke_ceil_log2(ranks) * latency;
}

double yoke_cost_all_gather(unsigned ranks, double bytes, double bandwidth,
                            double latency)
{
    return yoke_cost_reduce_scatter(ranks, bytes, bandwidth, latency);
}

double yoke_cost_all_to_all(unsigned ranks, double bytes, double bandwidth,
                            double latency)
{
    return yoke_cost_reduce_scatter(ranks, bytes, bandwidth, latency);
}

double yoke_cost_all_reduce(unsigned ranks, double bytes, double bandwidth,
                            double latency)
{
    /* a ring all-reduce is a reduce-scatter and an all-gather */
    return 2 * yoke_cost_reduce_scatter(ranks, bytes, bandwidth, latency);
}

double yoke_cost_ramp(double bytes, double ramp, double half)
{
    if (bytes <= 0 || ramp <= 0)
        return 0;
    return ramp * bytes / (bytes + half);
}

double yoke_cost_star_bound(unsigned n, const double *rates, double bytes)
{
    double least = rates[0], sum = 0;
    if (n <= 1)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        least = rates[i] < least ? rates[i] : least;
        sum += rates[i];
    }
    double slowest = transfer(bytes, least);
    double together = transfer(2 * ((double)n - 1) * bytes, sum);
    return slowest > together ? slowest : together;
}

void yoke_cost_weights(unsigned n, const double *rates, double *out_shares)
{
    bool known = n >= 3;
    for (unsigned i = 0; i < n; i++)
        known = known && rates[i] > 0;
    double sum = 0;
    double bound = known ? yoke_cost_star_bound(n, rates, 1) : 0;
    for (unsigned i = 0; i < n; i++) {
        double share = known ? (bound * rates[i] - 1) / ((double)n - 2) : 1;
        out_shares[i] = share > 0 ? share : 0;
        sum += out_shares[i];
    }
    /* Where the slowest link decides, the others have more room than there is work. */
    for (unsigned i = 0; i < n; i++)
        out_shares[i] = sum > 0 ? out_shares[i] / sum : 1 / (double)n;
}

double yoke_terms_seconds(const yoke_collective_terms_t *terms,
                          const yoke_link_cost_t *link)
{
    double adding = link->reduction > 0 ? terms->reduced / link->reduction : 0;
    return terms->rounds * link->latency + terms->messages * link->overhead +
           transfer(terms->sent, link->bandwidth) + adding;
}

yoke_collective_terms_t yoke_terms_direct(unsigned ranks, double bytes)
{
    double others = ranks > 1 ? (double)ranks - 1 : 0;
    yoke_collective_terms_t terms = {others > 0 ? 1 : 0, others, 0, 0};
    terms.sent = others / (ranks > 0 ? (double)ranks : 1) * bytes;
    return terms;
}

yoke_collective_terms_t yoke_terms_ring(unsigned ranks, double bytes)
{
    yoke_collective_terms_t terms = yoke_terms_direct(ranks, bytes);
    terms.rounds = terms.messages;
    return terms;
}

yoke_collective_terms_t yoke_terms_halving(unsigned ranks, double bytes)
{
    yoke_collective_terms_t terms = yoke_terms_direct(ranks, bytes);
    terms.rounds = terms.messages = yoke_ceil_log2(ranks);
    if ((ranks & (ranks - 1)) != 0) { /* a pair's odd rank gives all of its own first */
        terms.rounds += 1;
        terms.messages += 1;
        terms.sent += bytes;
    }
    return terms;
}

yoke_collective_terms_t yoke_terms_tree(unsigned ranks, double bytes)
{
    double rounds = yoke_ceil_log2(ranks);
    yoke_collective_terms_t terms = {rounds, rounds, rounds * bytes, 0};
    return terms;
}

yoke_collective_terms_t yoke_terms_chain(unsigned ranks, double bytes, double segments)
{
    yoke_collective_terms_t terms = {0, 0, 0, 0};
    if (ranks <= 1)
        return terms;
    terms.rounds = (double)ranks - 2 + segments;
    terms.messages = terms.rounds;
    terms.sent = terms.rounds * bytes / segments;
    return terms;
}

yoke_collective_terms_t yoke_terms_sum(yoke_collective_terms_t a,
                                       yoke_collective_terms_t b)
{
    a.rounds += b.rounds;
    a.messages += b.messages;
    a.sent += b.sent;
    a.reduced += b.reduced;
    return a;
}

yoke_collective_terms_t yoke_terms_reducing(yoke_collective_terms_t terms)
{
    terms.reduced = terms.sent;
    return terms;
}
