/* SPDX-License-Identifier: Apache-2.0 */
/* librocblas: values and prototypes by rocblas-types.h and rocblas-functions.h of
 * ROCm/rocBLAS (library/include/internal). */
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/gemm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rocblas.h"

enum {
    ROCBLAS_OK = 0,
    ROCBLAS_INVALID_HANDLE = 1,
    ROCBLAS_NOT_IMPLEMENTED = 2,
    ROCBLAS_INVALID_POINTER = 3,
    ROCBLAS_INVALID_SIZE = 4,
    ROCBLAS_INTERNAL_ERROR = 6
};
#define TRANSPOSE 112 /* rocblas_operation_none 111, _conjugate_transpose 113 */
enum { KIND_HANDLE = 1 };

typedef struct handle {
    fake_handle_t handle;
    void *stream;
} handle_t;

static const fake_service_t *service(void)
{
    static const fake_service_t *_Atomic found;
    if (found == NULL)
        found = fake_service_find("libamdhip64.so.6");
    if (found == NULL)
        found = fake_service_find("libamdhip64.so.5");
    return found;
}

FAKE_API int rocblas_create_handle(void **out_handle)
{
    FAKE_CALL(rocblas_create_handle, int);
    handle_t *handle = service() != NULL ? calloc(1, sizeof *handle) : NULL;
    if (out_handle == NULL || handle == NULL) {
        free(handle);
        return ROCBLAS_INTERNAL_ERROR;
    }
    fake_handle_add(&handle->handle, KIND_HANDLE);
    *out_handle = handle;
    return ROCBLAS_OK;
}

FAKE_API int rocblas_destroy_handle(void *at)
{
    FAKE_CALL(rocblas_destroy_handle, int);
    handle_t *handle = fake_handle_check(at, KIND_HANDLE);
    if (handle == NULL)
        return ROCBLAS_INVALID_HANDLE;
    fake_handle_remove(&handle->handle);
    free(handle);
    return ROCBLAS_OK;
}

FAKE_API int rocblas_set_stream(void *at, void *stream)
{
    FAKE_CALL(rocblas_set_stream, int);
    handle_t *handle = fake_handle_check(at, KIND_HANDLE);
    if (handle == NULL)
        return ROCBLAS_INVALID_HANDLE;
    handle->stream = stream;
    return ROCBLAS_OK;
}

FAKE_API int rocblas_get_version_string_size(size_t *size)
{
    FAKE_CALL(rocblas_get_version_string_size, int);
    FAKE_OUT(*size, sizeof "4.2.0.fake");
    return ROCBLAS_OK;
}

FAKE_API int rocblas_get_version_string(char *text, size_t size)
{
    FAKE_CALL(rocblas_get_version_string, int);
    if (text == NULL)
        return ROCBLAS_INVALID_POINTER;
    if (size < sizeof "4.2.0.fake")
        return ROCBLAS_INVALID_SIZE;
    strcpy(text, "4.2.0.fake");
    return ROCBLAS_OK;
}

/* rocblas_datatype: f16_r 150, f32_r 151, f64_r 152, i8_r 160, i32_r 162, bf16_r 168. */
static fake_element_t element_of(int type)
{
    switch (type) {
    case 150:
        return FAKE_F16;
    case 151:
        return FAKE_F32;
    case 152:
        return FAKE_F64;
    case 160:
        return FAKE_I8;
    case 162:
        return FAKE_I32;
    case 168:
        return FAKE_BF16;
    default:
        return FAKE_NO_ELEMENT;
    }
}

/* The table of rocblas_gemm_ex's documentation. */
static bool supported(const fake_gemm_t *g, fake_element_t compute)
{
    fake_element_t a = g->a.element, d = g->d.element;
    if (a != g->b.element || d != g->c.element)
        return false;
    switch (compute) {
    case FAKE_F64:
    case FAKE_F16:
        return a == compute && d == compute;
    case FAKE_F32:
        return (a == FAKE_F32 && d == FAKE_F32) ||
               ((a == FAKE_F16 || a == FAKE_BF16) && (d == a || d == FAKE_F32));
    case FAKE_I32:
        return a == FAKE_I8 && d == FAKE_I32;
    default:
        return false;
    }
}

static int run(void *at, fake_gemm_t *gemm, const void *alpha, const void *beta,
               int compute)
{
    const handle_t *handle = fake_handle_check(at, KIND_HANDLE);
    fake_element_t scale = element_of(compute);
    if (handle == NULL)
        return ROCBLAS_INVALID_HANDLE;
    if (alpha == NULL || beta == NULL)
        return ROCBLAS_INVALID_POINTER;
    if (!supported(gemm, scale))
        return ROCBLAS_NOT_IMPLEMENTED;
    gemm->alpha = fake_element_read(alpha, scale);
    gemm->beta = fake_element_read(beta, scale);
    gemm->service = service();
    switch (fake_gemm_enqueue(gemm, handle->stream)) {
    case FAKE_GEMM_OK:
        return ROCBLAS_OK;
    case FAKE_GEMM_SHAPE:
        return ROCBLAS_INVALID_SIZE;
    case FAKE_GEMM_ADDRESS:
        return ROCBLAS_INVALID_POINTER;
    default:
        return ROCBLAS_INTERNAL_ERROR;
    }
}

FAKE_API int rocblas_gemm_ex(void *handle, int transpose_a, int transpose_b, int m, int n,
                             int k, const void *alpha, const void *a, int a_type, int lda,
                             const void *b, int b_type, int ldb, const void *beta,
                             const void *c, int c_type, int ldc, void *d, int d_type,
                             int ldd, int compute, int algorithm, int32_t solution,
                             uint32_t flags)
{
    FAKE_CALL(rocblas_gemm_ex, int);
    (void)algorithm;
    (void)solution;
    (void)flags;
    fake_gemm_t gemm = {.a = {a, element_of(a_type), lda, 0},
                        .b = {b, element_of(b_type), ldb, 0},
                        .c = {c, element_of(c_type), ldc, 0},
                        .d = {d, element_of(d_type), ldd, 0},
                        .m = m,
                        .n = n,
                        .k = k,
                        .batch = 1,
                        .transpose_a = transpose_a >= TRANSPOSE,
                        .transpose_b = transpose_b >= TRANSPOSE};
    return run(handle, &gemm, alpha, beta, compute);
}

FAKE_API int rocblas_gemm_strided_batched_ex(
    void *handle, int transpose_a, int transpose_b, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, int64_t stride_a,
    const void *b, int b_type, int ldb, int64_t stride_b, const void *beta, const void *c,
    int c_type, int ldc, int64_t stride_c, void *d, int d_type, int ldd, int64_t stride_d,
    int batch, int compute, int algorithm, int32_t solution, uint32_t flags)
{
    FAKE_CALL(rocblas_gemm_strided_batched_ex, int);
    (void)algorithm;
    (void)solution;
    (void)flags;
    fake_gemm_t gemm = {.a = {a, element_of(a_type), lda, stride_a},
                        .b = {b, element_of(b_type), ldb, stride_b},
                        .c = {c, element_of(c_type), ldc, stride_c},
                        .d = {d, element_of(d_type), ldd, stride_d},
                        .m = m,
                        .n = n,
                        .k = k,
                        .batch = batch,
                        .transpose_a = transpose_a >= TRANSPOSE,
                        .transpose_b = transpose_b >= TRANSPOSE};
    return run(handle, &gemm, alpha, beta, compute);
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
