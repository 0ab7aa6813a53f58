/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by the vendor's library: loaded at first use, one handle a device. */
#include "backends/cudalike/internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool yoke_gemm_to_column(const yoke_impl_gemm_t *gemm, uint64_t a, uint64_t b, uint64_t c,
                         yoke_gemm_column_t *out)
{
    const uint64_t sizes[] = {gemm->m,   gemm->n,   gemm->k,    gemm->lda,
                              gemm->ldb, gemm->ldc, gemm->batch};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT_MAX)
            return false;
    if (gemm->stride_a > INT64_MAX || gemm->stride_b > INT64_MAX ||
        gemm->stride_c > INT64_MAX)
        return false;
    yoke_gemm_column_t column = {
        .transpose_first = gemm->transpose_b != 0,
        .transpose_second = gemm->transpose_a != 0,
        .m = (int)gemm->n,
        .n = (int)gemm->m,
        .k = (int)gemm->k,
        .ld_first = (int)gemm->ldb,
        .ld_second = (int)gemm->lda,
        .ld_out = (int)gemm->ldc,
        .batch = gemm->batch == 0 ? 1 : (int)gemm->batch,
        .stride_first = (int64_t)gemm->stride_b,
        .stride_second = (int64_t)gemm->stride_a,
        .stride_out = (int64_t)gemm->stride_c,
        .first = b,
        .second = a,
        .out = c,
    };
    *out = column;
    return true;
}

void yoke_blas_load(yoke_blas_loaded_t *loaded, const yoke_blas_t *blas)
{
    yoke_library_t library = {0};
    char *problem = NULL;
    bool found = false;
    if (loaded->tried)
        return;
    loaded->tried = true;
    loaded->blas = blas;
    if (!yoke_library_open(blas->library_key, blas->libraries, &library, &problem,
                           &found)) {
        yoke_info("%s: %s", blas->name, problem != NULL ? problem : "not loaded");
        free(problem);
        return;
    }
    loaded->usable = true;
    for (size_t i = 0; blas->symbols[i] != NULL && i < YOKE_BLAS_SYMBOLS; i++) {
        loaded->functions[i] = dlsym(library.handle, blas->symbols[i]);
        if (loaded->functions[i] == NULL) {
            yoke_info("%s: %s has no function %s", blas->name, library.path,
                      blas->symbols[i]);
            loaded->usable = false;
        }
    }
    snprintf(loaded->title, sizeof loaded->title, "%s", blas->name);
    yoke_library_forget(&library);
}

static yoke_status_t fail(const yoke_blas_t *blas, const char *call, int code)
{
    const char *name = blas->error_name(code);
    yoke_status_t status =
        code == blas->out_of_memory ? YOKE_ERR_DEVICE_MEMORY : YOKE_ERR_SYSTEM;
    return yoke_backend_fail_text(status, "%s: %s (%d)", call,
                                  name != NULL ? name : "unknown code", code);
}

/* The device is current and its lock held. */
static yoke_status_t need_handle(yoke_impl_device_t *device)
{
    yoke_blas_loaded_t *loaded = &device->runtime->blas;
    const yoke_blas_t *blas = loaded->blas;
    if (device->blas_handle != NULL)
        return YOKE_OK;
    int code = blas->create(loaded, &device->blas_handle);
    if (code != 0) {
        device->blas_handle = NULL;
        return fail(blas, blas->symbols[0], code);
    }
    pthread_mutex_lock(&device->runtime->lock);
    if (strcmp(loaded->title, blas->name) == 0) {
        char version[40] = "";
        blas->version(loaded, device->blas_handle, version, sizeof version);
        if (version[0] != '\0')
            snprintf(loaded->title, sizeof loaded->title, "%s %s", blas->name, version);
    }
    pthread_mutex_unlock(&device->runtime->lock);
    return YOKE_OK;
}

static bool library_there(yoke_impl_device_t *device)
{
    yoke_impl_runtime_t *runtime = device->runtime;
    if (device->flavour->blas == NULL)
        return false;
    pthread_mutex_lock(&runtime->lock);
    yoke_blas_load(&runtime->blas, device->flavour->blas);
    pthread_mutex_unlock(&runtime->lock);
    return runtime->blas.usable;
}

static yoke_status_t multiply(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm,
                              const yoke_gemm_column_t *column)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_blas_loaded_t *loaded = &device->runtime->blas;
    yoke_status_t status = need_handle(device);
    if (status != YOKE_OK)
        return status;
    size_t symbol = 0;
    int code = loaded->blas->multiply(loaded, device->blas_handle, queue->stream, gemm,
                                      column, &symbol);
    if (code < 0 || code == loaded->blas->unsupported)
        return YOKE_ERR_UNSUPPORTED;
    return code == 0 ? YOKE_OK : fail(loaded->blas, loaded->blas->symbols[symbol], code);
}

yoke_status_t yoke_cudalike_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm)
{
    yoke_impl_device_t *device = queue->device;
    yoke_gemm_column_t column;
    yoke_cudalike_scope_t scope;
    if (!yoke_gemm_to_column(gemm, gemm->a.buffer->address + gemm->a.offset,
                             gemm->b.buffer->address + gemm->b.offset,
                             gemm->c.buffer->address + gemm->c.offset, &column) ||
        !library_there(device))
        return YOKE_ERR_UNSUPPORTED;
    pthread_mutex_lock(&device->blas_lock); /* a handle has one stream at a time */
    int code = yoke_cudalike_enter(device, &scope);
    yoke_status_t status = code != 0
                               ? yoke_cudalike_fail(device->runtime, scope.slot, code)
                               : multiply(queue, gemm, &column);
    if (code == 0)
        yoke_cudalike_leave(&scope);
    pthread_mutex_unlock(&device->blas_lock);
    return status;
}

const char *yoke_cudalike_gemm_library(yoke_impl_device_t *device)
{
    yoke_cudalike_scope_t scope;
    if (!library_there(device))
        return NULL;
    /* The version comes with a handle. */
    pthread_mutex_lock(&device->blas_lock);
    if (yoke_cudalike_enter(device, &scope) == 0) {
        (void)need_handle(device);
        yoke_cudalike_leave(&scope);
    }
    pthread_mutex_unlock(&device->blas_lock);
    return device->runtime->blas.title;
}
