/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_REDUCE_H
#define YOKE_COMM_REDUCE_H

/*
 * Reductions of host memory, by the rules of yoke/element.h. Pointers need no alignment
 * beyond a byte. All of `count` elements; sources may be `dst` itself.
 */

#include "yoke/element.h"
#include <stdint.h>

/* dst = a op b. AVG adds like SUM: divide with yoke_reduce_scale() at the end. */
void yoke_reduce_pair(void *dst, const void *a, const void *b, uint64_t count,
                      yoke_element_t element, yoke_reduction_t reduction);
/* dst = op over sources[0..n), in this order; f16, bf16 and fp8 accumulate in f32 and
 * round once. AVG divides by `ranks` before it rounds (ranks 0: does not divide). */
void yoke_reduce_many(void *dst, const void *const *sources, unsigned n, uint64_t count,
                      yoke_element_t element, yoke_reduction_t reduction, unsigned ranks);
/* data = data / ranks, for AVG after SUM: integers toward zero */
void yoke_reduce_scale(void *data, uint64_t count, yoke_element_t element,
                       unsigned ranks);

#endif
