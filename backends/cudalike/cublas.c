/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuBLAS (cublasGemmStridedBatchedEx; not cuBLASLt, whose matrix layouts and heuristics
 * would add nothing here: cuBLAS calls it itself). Numbers from cublas_api.h and
 * library_types.h of CUDA 13.0; the soname of cuBLAS is its major version. Before 11 the
 * compute type was a cudaDataType, so older libraries are not taken.
 */
#include "backends/cudalike/cublas.h"

#include <stdio.h>
#include <string.h>

enum { CREATE, DESTROY, VERSION, SET_STREAM, GEMM };

static const char *const symbols[] = {
    "cublasCreate_v2",    "cublasDestroy_v2",           "cublasGetVersion_v2",
    "cublasSetStream_v2", "cublasGemmStridedBatchedEx", NULL};
static const char *const libraries[] = {"libcublas.so.13", "libcublas.so.12",
                                        "libcublas.so.11", NULL};

static int create(const yoke_blas_loaded_t *blas, void **out_handle)
{
    yoke_cublas_create_t call;
    memcpy(&call, &blas->functions[CREATE], sizeof call);
    return call(out_handle);
}

static int destroy(const yoke_blas_loaded_t *blas, void *handle)
{
    yoke_cublas_destroy_t call;
    memcpy(&call, &blas->functions[DESTROY], sizeof call);
    return call(handle);
}

static void version(const yoke_blas_loaded_t *blas, void *handle, char *text, size_t size)
{
    yoke_cublas_version_t call;
    int number = 0;
    memcpy(&call, &blas->functions[VERSION], sizeof call);
    /* CUBLAS_VERSION = major * 10000 + minor * 100 + patch */
    if (call(handle, &number) == 0 && number > 0)
        snprintf(text, size, "%d.%d.%d", number / 10000, number / 100 % 100,
                 number % 100);
}

static int data_type(uint32_t element)
{
    switch (element) {
    case YOKE_ELEMENT_F64:
        return YOKE_CUBLAS_R_64F;
    case YOKE_ELEMENT_F32:
        return YOKE_CUBLAS_R_32F;
    case YOKE_ELEMENT_F16:
        return YOKE_CUBLAS_R_16F;
    case YOKE_ELEMENT_BF16:
        return YOKE_CUBLAS_R_16BF;
    default:
        return -1;
    }
}

static int multiply(const yoke_blas_loaded_t *blas, void *handle, void *stream,
                    const yoke_impl_gemm_t *gemm, const yoke_gemm_column_t *c,
                    size_t *out_symbol)
{
    yoke_cublas_set_stream_t set_stream;
    yoke_cublas_gemm_t call;
    int in = data_type(gemm->element), out = data_type(gemm->output);
    bool wide = gemm->element == YOKE_ELEMENT_F64;
    float alpha = (float)gemm->alpha, beta = (float)gemm->beta;
    const void *alpha_at = wide ? (const void *)&gemm->alpha : (const void *)&alpha;
    const void *beta_at = wide ? (const void *)&gemm->beta : (const void *)&beta;
    if (in < 0 || (out != in && (wide || out != YOKE_CUBLAS_R_32F)))
        return -1;
    memcpy(&set_stream, &blas->functions[SET_STREAM], sizeof set_stream);
    memcpy(&call, &blas->functions[GEMM], sizeof call);
    *out_symbol = SET_STREAM;
    int code = set_stream(handle, stream);
    if (code != 0)
        return code;
    *out_symbol = GEMM;
    return call(handle, c->transpose_first ? YOKE_CUBLAS_OP_T : YOKE_CUBLAS_OP_N,
                c->transpose_second ? YOKE_CUBLAS_OP_T : YOKE_CUBLAS_OP_N, c->m, c->n,
                c->k, alpha_at, (const void *)c->first, in, c->ld_first, c->stride_first,
                (const void *)c->second, in, c->ld_second, c->stride_second, beta_at,
                (void *)c->out, out, c->ld_out, c->stride_out, c->batch,
                wide ? YOKE_CUBLAS_COMPUTE_64F : YOKE_CUBLAS_COMPUTE_32F,
                YOKE_CUBLAS_GEMM_DEFAULT);
}

#define CODE(name, value)                                                                \
    case value:                                                                          \
        return "CUBLAS_STATUS_" #name;

static const char *error_name(int code)
{
    switch (code) {
        CODE(SUCCESS, 0)
        CODE(NOT_INITIALIZED, 1)
        CODE(ALLOC_FAILED, 3)
        CODE(INVALID_VALUE, 7)
        CODE(ARCH_MISMATCH, 8)
        CODE(MAPPING_ERROR, 11)
        CODE(EXECUTION_FAILED, 13)
        CODE(INTERNAL_ERROR, 14)
        CODE(NOT_SUPPORTED, 15)
        CODE(LICENSE_ERROR, 16)
    default:
        return NULL;
    }
}

const yoke_blas_t yoke_blas_cublas = {
    .name = "cuBLAS",
    .library_key = "CUBLAS",
    .libraries = libraries,
    .symbols = symbols,
    .create = create,
    .destroy = destroy,
    .version = version,
    .multiply = multiply,
    .error_name = error_name,
    .out_of_memory = 3,
    .unsupported = 15,
};
