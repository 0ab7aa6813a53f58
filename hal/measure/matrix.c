/* SPDX-License-Identifier: Apache-2.0 */
/* Exact test matrices and Freivalds' check. */
#include "hal/measure/matrix.h"

#include <stdlib.h>
#include <string.h>

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

bool yoke_matrix_check_rounded(const double *a, const double *b, const double *c,
                               size_t n, double epsilon)
{
    double *x = calloc(5 * n, sizeof *x);
    double *bx = x + n, *abx = x + 2 * n, *cx = x + 3 * n, *allowed = x + 4 * n;
    uint32_t state = 12345;
    bool right = x != NULL;
    for (size_t i = 0; right && i < n; i++)
        for (size_t j = 0; j < n; j++)
            allowed[i] += (c[i * n + j] < 0 ? -c[i * n + j] : c[i * n + j]) * epsilon;
    for (int round = 0; right && round < CHECKS; round++) {
        for (size_t i = 0; i < n; i++)
            x[i] = next(&state) & 1 ? 1.0 : 0.0;
        times_double(b, x, bx, n);
        times_double(a, bx, abx, n);
        times_double(c, x, cx, n);
        for (size_t i = 0; right && i < n; i++)
            right = abx[i] - cx[i] <= allowed[i] && cx[i] - abx[i] <= allowed[i];
    }
    free(x);
    return right;
}

/* --- half precision
 * --------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t yoke_matrix_to_f16(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) == 0)
        return (uint16_t)(bits >> 16);
    return (uint16_t)((bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112u) << 10) |
                      (bits >> 13 & 0x3ffu));
}

float yoke_matrix_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 0x1fu, fraction = half & 0x3ffu;
    if (exponent == 31)
        return of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return of_bits(sign | (exponent + 112u) << 23 | fraction << 13);
    float value = (float)fraction / 16777216.0f; /* 2^-24 */
    return sign != 0 ? -value : value;
}

uint16_t yoke_matrix_to_bf16(float value)
{
    return (uint16_t)(bits_of(value) >> 16);
}

float yoke_matrix_from_bf16(uint16_t half)
{
    return of_bits((uint32_t)half << 16);
}
