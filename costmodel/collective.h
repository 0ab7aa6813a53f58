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
