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
