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

#endif
