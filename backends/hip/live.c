/* SPDX-License-Identifier: Apache-2.0 */
/* HIP as a flavour: driver and runtime merged, a current device in place of contexts. */
#include "backends/hip/live.h"

#include "backends/hip/hip.h"

static const yoke_cudalike_flavour_t flavour;
YOKE_CUDALIKE_OPS(hip, flavour, yoke_hip_error_name);

static const yoke_cudalike_symbol_t symbols[] = {YOKE_CUDALIKE_HIP_SYMBOLS};
static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "libamdhip64.so", NULL};

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_hip_ops,
    .index = 1,
    .library_key = "HIP",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .contexts = false,
    .attributes = YOKE_HIP_ATTRIBUTES,
    .stream_flags = YOKE_HIP_STREAM_NON_BLOCKING,
    .event_untimed_flags = YOKE_HIP_EVENT_DISABLE_TIMING,
    .host_flags = YOKE_HIP_HOST_PORTABLE | YOKE_HIP_HOST_MAPPED,
    .managed_flags = YOKE_HIP_MANAGED_GLOBAL,
    .signal_flags = YOKE_HIP_SIGNAL_MEMORY,
    .arch_offset = YOKE_HIP_ARCH_OFFSET,
    .arch_offset_r0600 = YOKE_HIP_ARCH_OFFSET_R0600,
    .packing = YOKE_CUDALIKE_PACK_HIP,
    .capabilities = YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64,
    .dialect = YOKE_DIALECT_HIP,
    .rtc = &yoke_rtc_hiprtc,
    .blas = &yoke_blas_rocblas,
};
