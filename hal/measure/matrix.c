/* SPDX-License-Identifier: Apache-2.0 */
/* Exact test matrices and Freivalds' check. */
#include "hal/measure/matrix.h"

#include <stdlib.h>

#define CHECKS 8

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
    return *state >> 16;
}

/* -1 .. 1 in steps of 1/4: 2048 products of them sum exactly in 24 bits. */
static double small(uint32_t *state)
{
    return ((double)(next(state) % 9) - 4.0) / 4.0;
}

void yoke_matrix_fill_single(float *matrix, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = (float)small(&seed);
}

void yoke_matrix_fill_double(double *matrix, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = small(&seed);
}

#define DEFINE_CHECK(name, type)                                                         \
    static void times_##name(const type *matrix, const double *x, double *y, size_t n)   \
    {                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                 \
            double sum = 0;                                                              \
            for (size_t j = 0; j < n; j++)                                               \
                sum += (double)matrix[i * n + j] * x[j];                                 \
            y[i] = sum;                                                                  \
        }                                                                                \
    }                                                                                    \
    bool yoke_matrix_check_##name(const type *a, const type *b, const type *c, size_t n) \
    {                                                                                    \
        double *x = calloc(4 * n, sizeof *x);                                            \
        double *bx = x + n, *abx = x + 2 * n, *cx = x + 3 * n;                           \
        uint32_t state = 12345;                                                          \
        bool right = x != NULL;                                                          \
        for (int round = 0; right && round < CHECKS; round++) {                          \
            for (size_t i = 0; i < n; i++)                                               \
                x[i] = next(&state) & 1 ? 1.0 : 0.0;                                     \
            times_##name(b, x, bx, n);                                                   \
            times_##name(a, bx, abx, n);                                                 \
            times_##name(c, x, cx, n);                                                   \
            for (size_t i = 0; right && i < n; i++)                                      \
                right = abx[i] == cx[i]; /* exact by construction */                     \
        }                                                                                \
        free(x);                                                                         \
        return right;                                                                    \
    }

DEFINE_CHECK(single, float)
DEFINE_CHECK(double, double)
