/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_MATRIX_H
#define YOKE_HAL_MATRIX_H

/*
 * Matrices whose product is exact in single precision (small multiples of 1/8), and a
 * check of a product that covers every element in O(n^2): C x = A (B x) for a vector of
 * zeros and ones (Freivalds 1977). A wrong element is missed by one check with
 * probability 1/2 at most; eight are made.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void yoke_matrix_fill_single(float *matrix, size_t n, uint32_t seed);
void yoke_matrix_fill_double(double *matrix, size_t n, uint32_t seed);
/* Row-major, n x n. */
bool yoke_matrix_check_single(const float *a, const float *b, const float *c, size_t n);
bool yoke_matrix_check_double(const double *a, const double *b, const double *c,
                              size_t n);

/* The same where each element of C was rounded once with that relative error. */
bool yoke_matrix_check_rounded(const double *a, const double *b, const double *c,
                               size_t n, double epsilon);

/* Half precision of the small numbers above, exactly; and back. */
uint16_t yoke_matrix_to_f16(float value);
float yoke_matrix_from_f16(uint16_t bits);
uint16_t yoke_matrix_to_bf16(float value);
float yoke_matrix_from_bf16(uint16_t bits);

#endif
