/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_VENDOR_NUMBERS_H
#define YOKE_TESTS_VENDOR_NUMBERS_H

/* Small numbers in every element, exact in all of them: what ranks give, and what must
 * come back, worked out on integers. Shares nothing with the library or the fakes. */

#include "yoke/element.h"

/* `halves` / 2; integers truncate. */
void number_put(void *at, yoke_element_t element, int halves);
/* What `rank` gives at place i. */
int number_given(yoke_reduction_t reduction, yoke_element_t element, int rank, int i);
/* What a reduction over `ranks` ranks is there, in halves. */
int number_reduced(yoke_reduction_t reduction, yoke_element_t element, int ranks, int i);

#endif
