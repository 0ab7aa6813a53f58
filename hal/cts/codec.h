/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_CODEC_H
#define YOKE_HAL_CTS_CODEC_H

/* Values of small floats, from the definition of their formats: an oracle that shares
 * nothing with the library's own conversions. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/element.h"

typedef struct yoke_cts_format {
    int exponent, mantissa; /* bits */
    bool finite;            /* fp8-e4m3: no infinity, one NaN a sign */
} yoke_cts_format_t;

/* Of f16, bf16, fp8-e4m3, fp8-e5m2; NULL for other elements. */
const yoke_cts_format_t *yoke_cts_format(yoke_element_t element);
double yoke_cts_decode(const yoke_cts_format_t *f, uint32_t code);
/* Nearest code, ties to even; too large: as element.h says. Not for NaN. */
uint32_t yoke_cts_encode(const yoke_cts_format_t *f, double value);
/* Largest code of a finite value, sign aside. */
uint32_t yoke_cts_largest(const yoke_cts_format_t *f);

/* Any float element, f64 and f32 too, NaN too. */
double yoke_cts_load(yoke_element_t element, const void *array, size_t index);
void yoke_cts_store(yoke_element_t element, void *array, size_t index, double value);

#endif
