/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_REDUCE_LOOPS_H
#define YOKE_COMM_REDUCE_LOOPS_H

/* The loops under reduce.h, once for each instruction set; all give the same bits. */

#include <stddef.h>
#include "yoke/element.h"

#define YOKE_REDUCE_LOOPS YOKE_REDUCE_AVG /* operations with a loop: all but avg */

typedef struct yoke_reduce_loops {
    /* dst = a op b; dst may be a or b */
    void (*two[YOKE_ELEMENT_COUNT][YOKE_REDUCE_LOOPS])(void *dst, const void *a,
                                                       const void *b, size_t count);
    /* data = data / ranks; NULL for the types below */
    void (*divide[YOKE_ELEMENT_COUNT])(void *data, size_t count, unsigned ranks);
    /* f16, bf16, fp8 only: through f32 */
    void (*widen[YOKE_ELEMENT_COUNT])(float *to, const void *from, size_t count);
    void (*narrow[YOKE_ELEMENT_COUNT])(void *to, const float *from, size_t count);
    void (*add[YOKE_ELEMENT_COUNT])(float *sum, const void *more, size_t count);
    void (*multiply[YOKE_ELEMENT_COUNT])(float *product, const void *more, size_t count);
} yoke_reduce_loops_t;

extern const yoke_reduce_loops_t yoke_reduce_loops_base;
#ifdef YOKE_REDUCE_HAS_AVX2
extern const yoke_reduce_loops_t yoke_reduce_loops_avx2; /* needs AVX2 and F16C */
#endif

#endif
