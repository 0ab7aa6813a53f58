/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_GEMM_H
#define YOKE_TESTS_FAKES_COMMON_GEMM_H

/* Matrix products of the fake BLAS libraries, really computed: D = alpha op(A) op(B) +
 * beta C, column-major, on the shadow, when the stream comes to it. */

#include "service.h"
#include <stdint.h>

typedef enum fake_element {
    FAKE_F32,
    FAKE_F64,
    FAKE_F16,
    FAKE_BF16,
    FAKE_I8,
    FAKE_U8,
    FAKE_I32,
    FAKE_E4M3,
    FAKE_E5M2,
    FAKE_NO_ELEMENT
} fake_element_t;

typedef struct fake_matrix {
    const void *address;
    fake_element_t element;
    int64_t ld, stride; /* elements */
} fake_matrix_t;

typedef struct fake_gemm {
    fake_matrix_t a, b, c, d;
    int64_t m, n, k, batch;
    bool transpose_a, transpose_b;
    double alpha, beta;
    const fake_service_t *service;
} fake_gemm_t;

typedef enum fake_gemm_result {
    FAKE_GEMM_OK,
    FAKE_GEMM_SHAPE,   /* sizes or leading dimensions are wrong */
    FAKE_GEMM_ADDRESS, /* the device cannot use a matrix */
    FAKE_GEMM_STREAM   /* the runtime refused */
} fake_gemm_result_t;

fake_gemm_result_t fake_gemm_enqueue(const fake_gemm_t *gemm, void *stream);
/* One number in host memory. */
double fake_element_read(const void *at, fake_element_t element);

#endif
