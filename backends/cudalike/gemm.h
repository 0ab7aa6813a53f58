/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_GEMM_H
#define YOKE_BACKENDS_CUDALIKE_GEMM_H

/*
 * Matrix products by cuBLAS and rocBLAS. Both are column-major; ours are row-major. The
 * same memory read column-major is the transpose, and C^T = B^T A^T: so B goes first, m
 * and n change places, and the transposition flags stay as they are.
 */

#include "backends/backend.h"

/* A product as a column-major library sees it. */
typedef struct yoke_gemm_column {
    bool transpose_first, transpose_second;
    int m, n, k, ld_first, ld_second, ld_out, batch;
    int64_t stride_first, stride_second, stride_out;
    uint64_t first, second, out; /* addresses */
} yoke_gemm_column_t;

/* Addresses already hold the offsets. false: a size does not fit an int. */
bool yoke_gemm_to_column(const yoke_impl_gemm_t *gemm, uint64_t a, uint64_t b, uint64_t c,
                         yoke_gemm_column_t *out);

typedef struct yoke_blas_loaded yoke_blas_loaded_t;

/* A vendor's library. Functions return its status code. */
typedef struct yoke_blas {
    const char *name, *library_key;
    const char *const *libraries;
    const char *const *symbols; /* NULL-terminated, in the order of their use below */
    int (*create)(const yoke_blas_loaded_t *blas, void **out_handle);
    int (*destroy)(const yoke_blas_loaded_t *blas, void *handle);
    void (*version)(const yoke_blas_loaded_t *blas, void *handle, char *text,
                    size_t size);
    /* A code, or -1: it does not take these types. *out_symbol: the call that gave it. */
    int (*multiply)(const yoke_blas_loaded_t *blas, void *handle, void *stream,
                    const yoke_impl_gemm_t *gemm, const yoke_gemm_column_t *column,
                    size_t *out_symbol);
    const char *(*error_name)(int code);
    int out_of_memory, unsupported; /* codes */
} yoke_blas_t;

#define YOKE_BLAS_SYMBOLS 8
struct yoke_blas_loaded {
    const yoke_blas_t *blas;
    bool tried, usable;
    void *functions[YOKE_BLAS_SYMBOLS];
    char title[64]; /* "cuBLAS 13.1.0" */
};

/* The caller holds a lock. */
void yoke_blas_load(yoke_blas_loaded_t *loaded, const yoke_blas_t *blas);

extern const yoke_blas_t yoke_blas_cublas, yoke_blas_rocblas;

#endif
