/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocBLAS (rocblas_gemm_strided_batched_ex). Prototypes and numbers from ROCm/rocBLAS
 * library/include/internal/rocblas-types.h and rocblas-functions.h (as in release 5.2;
 * unchanged in 6): operation none 111, transpose 112; types f16_r 150, f32_r 151, f64_r
 * 152, bf16_r 168; algorithm standard 0. No header is installed here to compare with.
 */
#include "backends/cudalike/gemm.h"

#include <stdio.h>
#include <string.h>

enum { CREATE, DESTROY, SET_STREAM, GEMM, VERSION };
enum {
    OPERATION_NONE = 111,
    OPERATION_TRANSPOSE = 112,
    F16_R = 150,
    F32_R = 151,
    F64_R = 152,
    BF16_R = 168,
    ALGORITHM_STANDARD = 0
};

static const char *const symbols[] = {
    "rocblas_create_handle",           "rocblas_destroy_handle",     "rocblas_set_stream",
    "rocblas_gemm_strided_batched_ex", "rocblas_get_version_string", NULL};
static const char *const libraries[] = {"librocblas.so.5", "librocblas.so.4",
                                        "librocblas.so.0", "librocblas.so", NULL};

typedef int (*create_t)(void **);
typedef int (*destroy_t)(void *);
typedef int (*set_stream_t)(void *, void *);
typedef int (*version_t)(char *, size_t);
typedef int (*gemm_t)(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                      const void *alpha, const void *a, int a_type, int lda,
                      int64_t stride_a, const void *b, int b_type, int ldb,
                      int64_t stride_b, const void *beta, const void *c, int c_type,
                      int ldc, int64_t stride_c, void *d, int d_type, int ldd,
                      int64_t stride_d, int batch, int compute_type, int algorithm,
                      int32_t solution, uint32_t flags);

static int create(const yoke_blas_loaded_t *blas, void **out_handle)
{
    create_t call;
    memcpy(&call, &blas->functions[CREATE], sizeof call);
    return call(out_handle);
}

static int destroy(const yoke_blas_loaded_t *blas, void *handle)
{
    destroy_t call;
    memcpy(&call, &blas->functions[DESTROY], sizeof call);
    return call(handle);
}

static void version(const yoke_blas_loaded_t *blas, void *handle, char *text, size_t size)
{
    version_t call;
    (void)handle;
    memcpy(&call, &blas->functions[VERSION], sizeof call);
    if (call(text, size) != 0)
        text[0] = '\0';
    text[size - 1] = '\0';
}

static int data_type(uint32_t element)
{
    switch (element) {
    case YOKE_ELEMENT_F64:
        return F64_R;
    case YOKE_ELEMENT_F32:
        return F32_R;
    case YOKE_ELEMENT_F16:
        return F16_R;
    case YOKE_ELEMENT_BF16:
        return BF16_R;
    default:
        return -1;
    }
}

static int multiply(const yoke_blas_loaded_t *blas, void *handle, void *stream,
                    const yoke_impl_gemm_t *gemm, const yoke_gemm_column_t *c,
                    size_t *out_symbol)
{
    set_stream_t set_stream;
    gemm_t call;
    int in = data_type(gemm->element), out = data_type(gemm->output);
    bool wide = gemm->element == YOKE_ELEMENT_F64;
    float alpha = (float)gemm->alpha, beta = (float)gemm->beta;
    const void *alpha_at = wide ? (const void *)&gemm->alpha : (const void *)&alpha;
    const void *beta_at = wide ? (const void *)&gemm->beta : (const void *)&beta;
    if (in < 0 || (out != in && (wide || out != F32_R)))
        return -1;
    memcpy(&set_stream, &blas->functions[SET_STREAM], sizeof set_stream);
    memcpy(&call, &blas->functions[GEMM], sizeof call);
    *out_symbol = SET_STREAM;
    int code = set_stream(handle, stream);
    if (code != 0)
        return code;
    *out_symbol = GEMM;
    return call(handle, c->transpose_first ? OPERATION_TRANSPOSE : OPERATION_NONE,
                c->transpose_second ? OPERATION_TRANSPOSE : OPERATION_NONE, c->m, c->n,
                c->k, alpha_at, (const void *)c->first, in, c->ld_first, c->stride_first,
                (const void *)c->second, in, c->ld_second, c->stride_second, beta_at,
                (const void *)c->out, out, c->ld_out, c->stride_out, (void *)c->out, out,
                c->ld_out, c->stride_out, c->batch, wide ? F64_R : F32_R,
                ALGORITHM_STANDARD, 0, 0);
}

/* rocblas_status, rocblas-types.h */
#define CODE(name, value)                                                                \
    case value:                                                                          \
        return "rocblas_status_" #name;

static const char *error_name(int code)
{
    switch (code) {
        CODE(success, 0)
        CODE(invalid_handle, 1)
        CODE(not_implemented, 2)
        CODE(invalid_pointer, 3)
        CODE(invalid_size, 4)
        CODE(memory_error, 5)
        CODE(internal_error, 6)
        CODE(perf_degraded, 7)
        CODE(size_query_mismatch, 8)
        CODE(size_increased, 9)
        CODE(size_unchanged, 10)
        CODE(invalid_value, 11)
        CODE(continue, 12)
        CODE(check_numerics_fail, 13)
    default:
        return NULL;
    }
}

const yoke_blas_t yoke_blas_rocblas = {
    .name = "rocBLAS",
    .library_key = "ROCBLAS",
    .libraries = libraries,
    .symbols = symbols,
    .create = create,
    .destroy = destroy,
    .version = version,
    .multiply = multiply,
    .error_name = error_name,
    .out_of_memory = 5,
    .unsupported = 2,
};
