/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_COLLECTIVE_H
#define YOKE_COSTMODEL_COLLECTIVE_H

/*
 * Collective costs: a leaf that knows ranks, bytes, bandwidth and latency only, so that
 * the planner and the transport share one set of formulas. `bytes` is the full buffer of
 * one rank, `bandwidth` what one rank's slowest link carries per direction. 1 rank costs
 * 0.
 */

/* ceil(log2(n)) without libm; 0 for n <= 1 */
unsigned yoke_ceil_log2(unsigned n);
double yoke_cost_p2p(double bytes, double bandwidth, double latency);
/* ring: 2 (n-1)/n bytes / bandwidth + 2 ceil(log2 n) latency */
double yoke_cost_all_reduce(unsigned ranks, double bytes, double bandwidth,
                            double latency);
/* (n-1)/n bytes / bandwidth + ceil(log2 n) latency */
double yoke_cost_reduce_scatter(unsigned ranks, double bytes, double bandwidth,
                                double latency);
double yoke_cost_all_gather(unsigned ranks, double bytes, double bandwidth,
                            double latency);
double yoke_cost_all_to_all(unsigned ranks, double bytes, double bandwidth,
                            double latency);

/* What a collective takes longer than latency and bandwidth say, because its pipeline
 * fills: `ramp` seconds in the end, half of it at `half` bytes. */
double yoke_cost_ramp(double bytes, double ramp, double half);

/*
 * Terms of one algorithm, for the rank that has most to do: what it costs is
 *   rounds x latency + messages x overhead + sent / bandwidth + reduced / reduction.
 * bytes: the vector (all-reduce, reduce, broadcast), or all blocks of one rank's larger
 * buffer. The counts are the classical ones: Chan, Heimlich, Purkayastha and van de
 * Geijn, "Collective communication: theory, practice, and experience", 2007; Patarasuk
 * and Yuan, JPDC 69, 2009 (rings); Bruck et al., IEEE TPDS 8, 1997 (all-to-all by
 * doubling).
 */
typedef struct yoke_collective_terms {
    double rounds, messages, sent, reduced;
} yoke_collective_terms_t;

typedef struct yoke_link_cost {
    double latency, overhead;    /* seconds */
    double bandwidth, reduction; /* bytes/s */
} yoke_link_cost_t;

double yoke_terms_seconds(const yoke_collective_terms_t *terms,
                          const yoke_link_cost_t *link);
/* every rank to every other one: (n-1)/n of the bytes, in one round */
yoke_collective_terms_t yoke_terms_direct(unsigned ranks, double bytes);
/* neighbour to neighbour, n - 1 rounds of one block */
yoke_collective_terms_t yoke_terms_ring(unsigned ranks, double bytes);
/* blocks that double, or halve: ceil(log2 n) rounds; n that is no power of two folds */
yoke_collective_terms_t yoke_terms_halving(unsigned ranks, double bytes);
/* the whole of `bytes` in each of ceil(log2 n) rounds */
yoke_collective_terms_t yoke_terms_tree(unsigned ranks, double bytes);
/* a chain of n ranks, `segments` segments one after the other */
yoke_collective_terms_t yoke_terms_chain(unsigned ranks, double bytes, double segments);
/* both, one after the other */
yoke_collective_terms_t yoke_terms_sum(yoke_collective_terms_t a,
                                       yoke_collective_terms_t b);
/* what comes is added up */
yoke_collective_terms_t yoke_terms_reducing(yoke_collective_terms_t terms);

/*
 * Unequal links: n ranks (or islands) on a switch, each with its own rate in both
 * directions. An all-reduce of M bytes takes at least
 *   T* = max(M / min rate, 2 (n-1) M / sum of rates)   (n >= 2)
 * and reduce-scatter and all-gather reach it where rank i owns the share
 *   w_i = (T* rate_i / M - 1) / (n - 2)                (n >= 3; 0 where negative)
 * since it then sends, and receives, M (1 + (n - 2) w_i). Derived from cuts: the bound
 * counts what must leave and enter each rank, and all of them together.
 */
double yoke_cost_star_bound(unsigned n, const double *rates, double bytes);
/* The shares, which add up to 1; equal ones where rates are unknown (0 or less). */
void yoke_cost_weights(unsigned n, const double *rates, double *out_shares);

#endif
