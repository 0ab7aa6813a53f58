/* SPDX-License-Identifier: Apache-2.0 */
/* libcublasLt and libcublas. What they take is by the tables of the cuBLAS manual 13.0
 * ("cublasLtMatmul()", "cublasGemmEx()"), of which real, column-major and host alpha and
 * beta are here. */
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/gemm.h"
#include <stdlib.h>
#include <string.h>

typedef struct cublaslt_algorithm {
    uint64_t data[8];
} cublaslt_algorithm_t;
typedef struct cublaslt_heuristic {
    cublaslt_algorithm_t algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} cublaslt_heuristic_t;
#include "cublas.h"

enum {
    CUBLAS_OK = 0,
    CUBLAS_NOT_INITIALIZED = 1,
    CUBLAS_INVALID_VALUE = 7,
    CUBLAS_EXECUTION_FAILED = 13,
    CUBLAS_NOT_SUPPORTED = 15
};
enum { KIND_LT = 1, KIND_LAYOUT, KIND_DESCRIPTION, KIND_PREFERENCE, KIND_HANDLE };

typedef struct object {
    fake_handle_t handle;
    void *stream; /* of KIND_HANDLE */
    /* KIND_LAYOUT */
    int type, order, batch;
    uint64_t rows, columns;
    int64_t ld, stride;
    /* KIND_DESCRIPTION */
    int compute, scale, pointer_mode, transpose_a, transpose_b;
} object_t;

static int create(void **out, uint32_t kind, object_t **out_object)
{
    object_t *object = out != NULL ? calloc(1, sizeof *object) : NULL;
    if (object == NULL)
        return CUBLAS_INVALID_VALUE;
    fake_handle_add(&object->handle, kind);
    *out = object;
    if (out_object != NULL)
        *out_object = object;
    return CUBLAS_OK;
}

static int destroy(void *handle, uint32_t kind)
{
    object_t *object = fake_handle_check(handle, kind);
    if (object == NULL)
        return kind == KIND_LT || kind == KIND_HANDLE ? CUBLAS_NOT_INITIALIZED
                                                      : CUBLAS_INVALID_VALUE;
    fake_handle_remove(&object->handle);
    free(object);
    return CUBLAS_OK;
}

static const fake_service_t *service(void)
{
    static const fake_service_t *_Atomic found;
    if (found == NULL)
        found = fake_service_find("libcuda.so.1");
    return found;
}

/* cudaDataType (library_types.h). */
static fake_element_t element_of(int type)
{
    static const struct {
        int type;
        fake_element_t element;
    } rows[] = {{0, FAKE_F32}, {1, FAKE_F64},  {2, FAKE_F16},   {14, FAKE_BF16},
                {3, FAKE_I8},  {10, FAKE_I32}, {28, FAKE_E4M3}, {29, FAKE_E5M2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return rows[i].element;
    return FAKE_NO_ELEMENT;
}

static bool fp8(fake_element_t element)
{
    return element == FAKE_E4M3 || element == FAKE_E5M2;
}

/* cublasComputeType_t: 16F 64, 32F 68 with its kin to 77, 64F 70, 32I 72. */
static bool supported(int compute, int scale, const fake_gemm_t *g)
{
    fake_element_t a = g->a.element, b = g->b.element, d = g->d.element;
    switch (compute) {
    case 64:
    case 65:
        return scale == 2 && a == FAKE_F16 && b == a && d == a;
    case 70:
    case 71:
        return scale == 1 && a == FAKE_F64 && b == a && d == a;
    case 72:
    case 73:
        return a == FAKE_I8 && b == a && scale == 10 && d == FAKE_I32;
    case 68:
    case 69:
    case 74:
    case 75:
    case 77:
        if (scale != 0)
            return false;
        if (fp8(a) || fp8(b)) /* only "TN", and not both e5m2 */
            return fp8(a) && fp8(b) && !(a == FAKE_E5M2 && b == FAKE_E5M2) &&
                   g->transpose_a && !g->transpose_b && g->m % 16 == 0 &&
                   g->k % 16 == 0 && (d == FAKE_F32 || d == FAKE_F16 || d == FAKE_BF16);
        if (a != b)
            return false;
        if (a == FAKE_F32)
            return d == FAKE_F32;
        return (a == FAKE_F16 && (d == FAKE_F16 || d == FAKE_F32)) ||
               (a == FAKE_BF16 && (d == FAKE_BF16 || d == FAKE_F32)) ||
               (a == FAKE_I8 && d == FAKE_F32);
    default:
        return false;
    }
}

static int run(const fake_gemm_t *gemm, void *stream)
{
    switch (fake_gemm_enqueue(gemm, stream)) {
    case FAKE_GEMM_OK:
        return CUBLAS_OK;
    case FAKE_GEMM_SHAPE:
        return CUBLAS_INVALID_VALUE;
    default:
        return CUBLAS_EXECUTION_FAILED;
    }
}

/* ---- cuBLASLt ---------------------------------------------------------------------- */

FAKE_API int cublasLtCreate(void **out_handle)
{
    FAKE_CALL(cublasLtCreate, int);
    return service() == NULL ? CUBLAS_NOT_INITIALIZED : create(out_handle, KIND_LT, NULL);
}

FAKE_API int cublasLtDestroy(void *handle)
{
    FAKE_CALL(cublasLtDestroy, int);
    return destroy(handle, KIND_LT);
}

FAKE_API size_t cublasLtGetVersion(void)
{
    FAKE_CALL_OTHER(cublasLtGetVersion, 0);
    return 130002;
}

FAKE_API const char *cublasLtGetStatusName(int status)
{
    FAKE_CALL_OTHER(cublasLtGetStatusName, "");
    return status == CUBLAS_OK                ? "CUBLAS_STATUS_SUCCESS"
           : status == CUBLAS_NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED"
           : status == CUBLAS_INVALID_VALUE   ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == CUBLAS_NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                              : "CUBLAS_STATUS_EXECUTION_FAILED";
}

FAKE_API int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows,
                                        uint64_t columns, int64_t ld)
{
    FAKE_CALL(cublasLtMatrixLayoutCreate, int);
    object_t *layout;
    int status = create(out, KIND_LAYOUT, &layout);
    if (status != CUBLAS_OK)
        return status;
    layout->type = type;
    layout->rows = rows;
    layout->columns = columns;
    layout->ld = ld;
    layout->batch = 1;
    return CUBLAS_OK;
}

FAKE_API int cublasLtMatrixLayoutDestroy(void *layout)
{
    FAKE_CALL(cublasLtMatrixLayoutDestroy, int);
    return destroy(layout, KIND_LAYOUT);
}

static int set(void *place, size_t place_size, const void *value, size_t size)
{
    if (value == NULL || size != place_size)
        return CUBLAS_INVALID_VALUE;
    memcpy(place, value, size);
    return CUBLAS_OK;
}

/* CUBLASLT_MATRIX_LAYOUT_*; order 0 is column-major here, CUBLASLT_ORDER_COL. */
FAKE_API int cublasLtMatrixLayoutSetAttribute(void *handle, int which, const void *value,
                                              size_t size)
{
    FAKE_CALL(cublasLtMatrixLayoutSetAttribute, int);
    object_t *l = fake_handle_check(handle, KIND_LAYOUT);
    if (l == NULL)
        return CUBLAS_INVALID_VALUE;
    switch (which) {
    case 0:
        return set(&l->type, sizeof l->type, value, size);
    case 1:
        return set(&l->order, sizeof l->order, value, size);
    case 2:
        return set(&l->rows, sizeof l->rows, value, size);
    case 3:
        return set(&l->columns, sizeof l->columns, value, size);
    case 4:
        return set(&l->ld, sizeof l->ld, value, size);
    case 5:
        return set(&l->batch, sizeof l->batch, value, size);
    case 6:
        return set(&l->stride, sizeof l->stride, value, size);
    default:
        return CUBLAS_INVALID_VALUE;
    }
}

FAKE_API int cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
    FAKE_CALL(cublasLtMatmulDescCreate, int);
    object_t *description;
    int status = create(out, KIND_DESCRIPTION, &description);
    if (status != CUBLAS_OK)
        return status;
    description->compute = compute;
    description->scale = scale;
    return CUBLAS_OK;
}

FAKE_API int cublasLtMatmulDescDestroy(void *description)
{
    FAKE_CALL(cublasLtMatmulDescDestroy, int);
    return destroy(description, KIND_DESCRIPTION);
}

/* CUBLASLT_MATMUL_DESC_*; others than these are taken and do nothing. */
FAKE_API int cublasLtMatmulDescSetAttribute(void *handle, int which, const void *value,
                                            size_t size)
{
    FAKE_CALL(cublasLtMatmulDescSetAttribute, int);
    object_t *d = fake_handle_check(handle, KIND_DESCRIPTION);
    if (d == NULL || which < 0 || which > 38)
        return CUBLAS_INVALID_VALUE;
    switch (which) {
    case 0:
        return set(&d->compute, sizeof d->compute, value, size);
    case 1:
        return set(&d->scale, sizeof d->scale, value, size);
    case 2:
        return set(&d->pointer_mode, sizeof d->pointer_mode, value, size);
    case 3:
        return set(&d->transpose_a, sizeof d->transpose_a, value, size);
    case 4:
        return set(&d->transpose_b, sizeof d->transpose_b, value, size);
    default:
        return value != NULL ? CUBLAS_OK : CUBLAS_INVALID_VALUE;
    }
}

FAKE_API int cublasLtMatmulPreferenceCreate(void **out)
{
    FAKE_CALL(cublasLtMatmulPreferenceCreate, int);
    return create(out, KIND_PREFERENCE, NULL);
}

FAKE_API int cublasLtMatmulPreferenceDestroy(void *preference)
{
    FAKE_CALL(cublasLtMatmulPreferenceDestroy, int);
    return destroy(preference, KIND_PREFERENCE);
}

FAKE_API int cublasLtMatmulPreferenceSetAttribute(void *preference, int which,
                                                  const void *value, size_t size)
{
    FAKE_CALL(cublasLtMatmulPreferenceSetAttribute, int);
    (void)size;
    return fake_handle_check(preference, KIND_PREFERENCE) != NULL && which >= 0 &&
                   which <= 12 && value != NULL
               ? CUBLAS_OK
               : CUBLAS_INVALID_VALUE;
}

static fake_matrix_t matrix_of(const object_t *layout, const void *address)
{
    return (fake_matrix_t){address, element_of(layout->type), layout->ld, layout->stride};
}

/* The product that the descriptors mean, without addresses. */
static int describe(const object_t *what, const object_t *a, const object_t *b,
                    const object_t *c, const object_t *d, fake_gemm_t *out)
{
    if (what == NULL || a == NULL || b == NULL || c == NULL || d == NULL)
        return CUBLAS_INVALID_VALUE;
    if (a->order != 0 || b->order != 0 || c->order != 0 || d->order != 0 ||
        what->pointer_mode != 0)
        return CUBLAS_NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    out->transpose_a = what->transpose_a != 0;
    out->transpose_b = what->transpose_b != 0;
    out->a = matrix_of(a, NULL);
    out->b = matrix_of(b, NULL);
    out->c = matrix_of(c, NULL);
    out->d = matrix_of(d, NULL);
    out->m = (int64_t)d->rows;
    out->n = (int64_t)d->columns;
    out->k = (int64_t)(out->transpose_a ? a->rows : a->columns);
    out->batch = d->batch;
    uint64_t a_rows = out->transpose_a ? a->columns : a->rows;
    uint64_t b_rows = out->transpose_b ? b->columns : b->rows;
    uint64_t b_columns = out->transpose_b ? b->rows : b->columns;
    if (a_rows != d->rows || b_rows != (uint64_t)out->k || b_columns != d->columns ||
        c->rows != d->rows || c->columns != d->columns || a->batch != d->batch ||
        b->batch != d->batch)
        return CUBLAS_INVALID_VALUE;
    return supported(what->compute, what->scale, out) ? CUBLAS_OK : CUBLAS_NOT_SUPPORTED;
}

#define LAYOUT(handle) fake_handle_check(handle, KIND_LAYOUT)

FAKE_API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *description, void *a,
                                            void *b, void *c, void *d, void *preference,
                                            int room, cublaslt_heuristic_t *results,
                                            int *out_count)
{
    FAKE_CALL(cublasLtMatmulAlgoGetHeuristic, int);
    fake_gemm_t gemm;
    if (fake_handle_check(handle, KIND_LT) == NULL)
        return CUBLAS_NOT_INITIALIZED;
    if (fake_handle_check(preference, KIND_PREFERENCE) == NULL || room < 1 ||
        results == NULL || out_count == NULL)
        return CUBLAS_INVALID_VALUE;
    int status = describe(fake_handle_check(description, KIND_DESCRIPTION), LAYOUT(a),
                          LAYOUT(b), LAYOUT(c), LAYOUT(d), &gemm);
    if (status != CUBLAS_OK)
        return status;
    memset(results, 0, sizeof *results);
    results->algorithm.data[0] = 0x59; /* asked for again in cublasLtMatmul() */
    results->waves = 1;
    FAKE_OUT(*out_count, 1);
    return CUBLAS_OK;
}

FAKE_API int cublasLtMatmul(void *handle, void *description, const void *alpha,
                            const void *a, void *a_layout, const void *b, void *b_layout,
                            const void *beta, const void *c, void *c_layout, void *d,
                            void *d_layout, const cublaslt_algorithm_t *algorithm,
                            void *workspace, size_t workspace_size, void *stream)
{
    FAKE_CALL(cublasLtMatmul, int);
    fake_gemm_t gemm;
    const object_t *what = fake_handle_check(description, KIND_DESCRIPTION);
    (void)workspace;
    (void)workspace_size;
    if (fake_handle_check(handle, KIND_LT) == NULL)
        return CUBLAS_NOT_INITIALIZED;
    int status = describe(what, LAYOUT(a_layout), LAYOUT(b_layout), LAYOUT(c_layout),
                          LAYOUT(d_layout), &gemm);
    if (status != CUBLAS_OK)
        return status;
    if (alpha == NULL || beta == NULL ||
        (algorithm != NULL && algorithm->data[0] != 0x59))
        return CUBLAS_INVALID_VALUE;
    gemm.a.address = a;
    gemm.b.address = b;
    gemm.c.address = c;
    gemm.d.address = d;
    gemm.alpha = fake_element_read(alpha, element_of(what->scale));
    gemm.beta = fake_element_read(beta, element_of(what->scale));
    gemm.service = service();
    return run(&gemm, stream);
}

/* ---- cuBLAS ------------------------------------------------------------------------ */

FAKE_API int cublasCreate_v2(void **out_handle)
{
    FAKE_CALL(cublasCreate_v2, int);
    return service() == NULL ? CUBLAS_NOT_INITIALIZED
                             : create(out_handle, KIND_HANDLE, NULL);
}

FAKE_API int cublasDestroy_v2(void *handle)
{
    FAKE_CALL(cublasDestroy_v2, int);
    return destroy(handle, KIND_HANDLE);
}

FAKE_API int cublasGetVersion_v2(void *handle, int *version)
{
    FAKE_CALL(cublasGetVersion_v2, int);
    (void)handle;
    FAKE_OUT(*version, 130002);
    return CUBLAS_OK;
}

FAKE_API int cublasSetStream_v2(void *handle, void *stream)
{
    FAKE_CALL(cublasSetStream_v2, int);
    object_t *object = fake_handle_check(handle, KIND_HANDLE);
    if (object == NULL)
        return CUBLAS_NOT_INITIALIZED;
    object->stream = stream;
    return CUBLAS_OK;
}

/* The scale type that goes with a compute type. */
static int scale_of(int compute)
{
    return compute == 64 || compute == 65   ? 2
           : compute == 70 || compute == 71 ? 1
           : compute == 72 || compute == 73 ? 10
                                            : 0;
}

static int gemm_ex(void *handle, fake_gemm_t *gemm, const void *alpha, const void *beta,
                   int compute)
{
    const object_t *object = fake_handle_check(handle, KIND_HANDLE);
    if (object == NULL)
        return CUBLAS_NOT_INITIALIZED;
    if (alpha == NULL || beta == NULL)
        return CUBLAS_INVALID_VALUE;
    if (fp8(gemm->a.element) || !supported(compute, scale_of(compute), gemm))
        return CUBLAS_NOT_SUPPORTED;
    gemm->d = gemm->c;
    gemm->alpha = fake_element_read(alpha, element_of(scale_of(compute)));
    gemm->beta = fake_element_read(beta, element_of(scale_of(compute)));
    gemm->service = service();
    return run(gemm, object->stream);
}

FAKE_API int cublasGemmEx(void *handle, int transpose_a, int transpose_b, int m, int n,
                          int k, const void *alpha, const void *a, int a_type, int lda,
                          const void *b, int b_type, int ldb, const void *beta, void *c,
                          int c_type, int ldc, int compute, int algorithm)
{
    FAKE_CALL(cublasGemmEx, int);
    (void)algorithm;
    fake_matrix_t result = {c, element_of(c_type), ldc, 0};
    fake_gemm_t gemm = {.a = {a, element_of(a_type), lda, 0},
                        .b = {b, element_of(b_type), ldb, 0},
                        .c = result,
                        .d = result,
                        .m = m,
                        .n = n,
                        .k = k,
                        .batch = 1,
                        .transpose_a = transpose_a != 0,
                        .transpose_b = transpose_b != 0};
    return gemm_ex(handle, &gemm, alpha, beta, compute);
}

FAKE_API int cublasGemmStridedBatchedEx(void *handle, int transpose_a, int transpose_b,
                                        int m, int n, int k, const void *alpha,
                                        const void *a, int a_type, int lda,
                                        long long stride_a, const void *b, int b_type,
                                        int ldb, long long stride_b, const void *beta,
                                        void *c, int c_type, int ldc, long long stride_c,
                                        int batch, int compute, int algorithm)
{
    FAKE_CALL(cublasGemmStridedBatchedEx, int);
    (void)algorithm;
    fake_matrix_t result = {c, element_of(c_type), ldc, stride_c};
    fake_gemm_t gemm = {.a = {a, element_of(a_type), lda, stride_a},
                        .b = {b, element_of(b_type), ldb, stride_b},
                        .c = result,
                        .d = result,
                        .m = m,
                        .n = n,
                        .k = k,
                        .batch = batch,
                        .transpose_a = transpose_a != 0,
                        .transpose_b = transpose_b != 0};
    return gemm_ex(handle, &gemm, alpha, beta, compute);
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
