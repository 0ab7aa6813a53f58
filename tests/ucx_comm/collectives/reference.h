/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_REFERENCE_H
#define YOKE_TEST_REFERENCE_H

/*
 * The serial reference of reductions, by the rules of yoke/element.h, in long double and
 * 64-bit integers. It shares no code with ucx_comm/collectives/reduce.c.
 */

#include <stdbool.h>
#include <stdint.h>
#include "yoke/element.h"

/* Value of element `index`; integers of 64 bits are exact in a long double. */
long double reference_get(const void *data, uint64_t index, yoke_element_t element);
/* Store `value`, rounded to nearest even. */
void reference_put(void *data, uint64_t index, yoke_element_t element, long double value);

/* What element `index` of the reduction of inputs[0..n) is, and by how much a result may
 * miss it: 0 for integers, max and min. */
typedef struct reference {
    long double value, slack;
    bool exact_bits; /* compare integers, or values, without slack */
} reference_t;
reference_t reference_reduce(const void *const *inputs, int n, uint64_t index,
                             yoke_element_t element, yoke_reduction_t reduction);
/* Is element `index` of `data` what the reference says? */
bool reference_right(const void *data, uint64_t index, yoke_element_t element,
                     const reference_t *reference);

/*
 * Inputs. Exact ones: sums, products and averages of up to 17 ranks have no rounding on
 * the way, in any order and any type, so that the result is known to the bit. Random
 * ones: integers of all sizes, and real numbers of both signs whose sums and products
 * stay in range.
 */
void reference_fill(void *data, uint64_t count, yoke_element_t element,
                    yoke_reduction_t reduction, int rank, uint64_t seed, bool random);

uint64_t reference_random(uint64_t *state);

#endif
