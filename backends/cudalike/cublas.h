/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_CUBLAS_H
#define YOKE_BACKENDS_CUDALIKE_CUBLAS_H

/* Our declarations of cuBLAS; tests/hal/header_check_cuda.c compares them with
 * cublas_api.h where that is installed. */

#include "backends/cudalike/gemm.h"

enum {
    YOKE_CUBLAS_OP_N = 0,
    YOKE_CUBLAS_OP_T = 1,
    YOKE_CUBLAS_R_32F = 0,
    YOKE_CUBLAS_R_64F = 1,
    YOKE_CUBLAS_R_16F = 2,
    YOKE_CUBLAS_R_16BF = 14,
    YOKE_CUBLAS_COMPUTE_32F = 68,
    YOKE_CUBLAS_COMPUTE_64F = 70,
    YOKE_CUBLAS_GEMM_DEFAULT = -1
};

typedef int (*yoke_cublas_create_t)(void **);
typedef int (*yoke_cublas_destroy_t)(void *);
typedef int (*yoke_cublas_version_t)(void *, int *);
typedef int (*yoke_cublas_set_stream_t)(void *, void *);
typedef int (*yoke_cublas_gemm_t)(void *handle, int transpose_a, int transpose_b, int m,
                                  int n, int k, const void *alpha, const void *a,
                                  int a_type, int lda, long long stride_a, const void *b,
                                  int b_type, int ldb, long long stride_b,
                                  const void *beta, void *c, int c_type, int ldc,
                                  long long stride_c, int batch, int compute_type,
                                  int algorithm);

#endif
