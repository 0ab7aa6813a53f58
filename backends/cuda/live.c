/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA as a flavour: the driver API of libcuda, NVRTC, cuBLAS. Numbers are those of
 * cuda.h (13.0); tests/hal/header_check_cuda.c compares them. */
#include "backends/cuda/live.h"

#include <string.h>

#include "backends/cuda/cu.h"

static const yoke_cudalike_flavour_t flavour;
YOKE_CUDALIKE_OPS(cuda, flavour, yoke_cu_error_name);

static const yoke_cudalike_symbol_t symbols[] = {YOKE_CUDALIKE_DRIVER_SYMBOLS("cu")};
static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};

/* Iluvatar's CoreX has a libcuda.so.1 of its own. */
static bool accepts(const char *library, const char *first_name)
{
    return (library == NULL || strstr(library, "/corex") == NULL) &&
           strncmp(first_name, "Iluvatar", 8) != 0;
}

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_cuda_ops,
    .index = 0,
    .library_key = "CUDA",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .vendor = "NVIDIA",
    .unit = "sm_",
    .contexts = true,
    .attributes = YOKE_CUDA_ATTRIBUTES,
    .stream_flags = YOKE_CUDA_STREAM_NON_BLOCKING,
    .event_untimed_flags = YOKE_CUDA_EVENT_DISABLE_TIMING,
    .host_flags = YOKE_CUDA_HOST_PORTABLE | YOKE_CUDA_HOST_MAPPED,
    .managed_flags = YOKE_CUDA_MANAGED_GLOBAL,
    .signal_flags = YOKE_CUDALIKE_UNSOURCED,
    .jit_log = true,
    .packing = YOKE_CUDALIKE_PACK_CUDA,
    /* double and 64-bit atomics: every compute capability that a driver with
     * cuDevicePrimaryCtxRetain (CUDA 7) drives, 2.0 and on. */
    .capabilities = YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64,
    .dialect = YOKE_DIALECT_CUDA,
    .rtc = &yoke_rtc_nvrtc,
    .blas = &yoke_blas_cublas,
    .accepts = accepts,
};
