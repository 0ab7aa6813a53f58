/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SELECT_H
#define YOKE_COMM_SELECT_H

/* Which entries of a vector are sent. */

#include <stdint.h>

/* Entries whose magnitude, as the bits of |x|, is above `bits`, and the first `ties` of
 * those that equal it. NaN counts as larger than infinity. */
typedef struct yoke_threshold {
    uint32_t bits;
    uint64_t ties;
} yoke_threshold_t;

#define YOKE_SELECT_SCRATCH 65536 /* counters */

/* The k largest magnitudes of n (k >= n: all); exact, in two passes. */
yoke_threshold_t yoke_select_largest(const float *values, uint64_t n, uint64_t k,
                                     uint32_t scratch[YOKE_SELECT_SCRATCH]);

/* c such that the sum over i of min(1, c |x_i|) is about k, from below; 0 where all are
 * 0; infinity where k >= n. Values that are not finite count as 1 each. */
double yoke_select_scale(const float *values, uint64_t n, double k);

/* A number in [0, 1) that depends on its arguments only. */
double yoke_select_draw(uint64_t seed, uint64_t call, uint64_t index);

#endif
