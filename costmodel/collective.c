/* SPDX-License-Identifier: Apache-2.0 */
/* Collective costs: latency and bandwidth terms only, shared by planner and transport. */
#include "costmodel/collective.h"

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
