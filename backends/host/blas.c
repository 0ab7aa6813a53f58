/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by OpenBLAS, loaded at the first one. Prototypes: cblas.h of the
 * reference CBLAS (netlib.org/blas), with 32-bit integers, as Debian builds OpenBLAS. */
#include "backends/host/host.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* enum values of cblas.h */
#define CBLAS_ROW_MAJOR 101
#define CBLAS_NO_TRANS 111
#define CBLAS_TRANS 112

static struct {
    pthread_once_t once;
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *,
                  int, float, float *, int);
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int,
                  const double *, int, double, double *, int);
    char *(*config)(void);
    char name[64];
    yoke_library_t library; /* stays open */
    bool ready;
} blas = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    static const char *const names[] = {"libopenblas.so.0", NULL};
    const yoke_symbol_t symbols[] = {
        {"cblas_sgemm", NULL, &blas.sgemm, false},
        {"cblas_dgemm", NULL, &blas.dgemm, false},
        {"openblas_get_config", NULL, &blas.config, true},
    };
    char *problem = NULL, version[32] = "";
    bool found;
    if (!yoke_library_open("OPENBLAS", names, &blas.library, &problem, &found)) {
        free(problem);
        return;
    }
    if (yoke_library_resolve(&blas.library, symbols, 3) != NULL)
        return;
    /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
    if (blas.config != NULL && sscanf(blas.config(), "%*s %31s", version) != 1)
        version[0] = '\0';
    snprintf(blas.name, sizeof blas.name, "OpenBLAS%s%s", version[0] != '\0' ? " " : "",
             version);
    blas.ready = true;
}

const char *yoke_host_gemm_library(yoke_impl_device_t *device)
{
    (void)device;
    pthread_once(&blas.once, load);
    return blas.ready ? blas.name : NULL;
}

static const void *at(yoke_impl_span_t span, uint64_t elements, size_t size)
{
    return span.buffer->address + span.offset + elements * size;
}

void yoke_host_gemm_run(const yoke_impl_gemm_t *g)
{
    int ta = g->transpose_a ? CBLAS_TRANS : CBLAS_NO_TRANS;
    int tb = g->transpose_b ? CBLAS_TRANS : CBLAS_NO_TRANS;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    size_t size = g->element == YOKE_ELEMENT_F64 ? 8 : 4;
    for (uint64_t i = 0; i < g->batch; i++) {
        const void *a = at(g->a, i * g->stride_a, size),
                   *b = at(g->b, i * g->stride_b, size);
        void *c = g->c.buffer->address + g->c.offset + i * g->stride_c * size;
        if (g->element == YOKE_ELEMENT_F64)
            blas.dgemm(CBLAS_ROW_MAJOR, ta, tb, m, n, k, g->alpha, a, lda, b, ldb,
                       g->beta, c, ldc);
        else
            blas.sgemm(CBLAS_ROW_MAJOR, ta, tb, m, n, k, (float)g->alpha, a, lda, b, ldb,
                       (float)g->beta, c, ldc);
    }
}

static bool fits(const yoke_impl_gemm_t *g)
{
    const uint64_t sizes[] = {g->m, g->n, g->k, g->lda, g->ldb, g->ldc};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] > INT_MAX)
            return false;
    return true;
}

yoke_status_t yoke_host_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm)
{
    if (gemm->element != gemm->output ||
        (gemm->element != YOKE_ELEMENT_F32 && gemm->element != YOKE_ELEMENT_F64) ||
        !fits(gemm) || yoke_host_gemm_library(NULL) == NULL)
        return YOKE_ERR_UNSUPPORTED;
    yoke_host_operation_t *operation = yoke_host_hold(queue, false);
    if (operation == NULL) {
        yoke_host_gemm_run(gemm);
        return YOKE_OK;
    }
    operation->kind = YOKE_HOST_GEMM;
    operation->as.gemm = *gemm;
    yoke_host_held(queue);
    return YOKE_OK;
}
