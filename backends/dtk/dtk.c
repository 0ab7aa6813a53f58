/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hygon's DTK: HIP with the numbers of HIP 4. Sources: hashcat/hashcat#4758 ("Hygon DTK
 * exposes a legacy HIP ABI through libgalaxyhip.so": older hipDeviceAttribute_t and the
 * 792-byte hipDeviceProp_t; exit handlers that crash after dlclose, so it stays loaded),
 * hashcat include/ext_hip.h at 091260b for the legacy values. Where DTK has only
 * libamdhip64.so.5 the hip backend takes the cards.
 */
#include "backends/hip/hip.h"
#include "backends/hip/live.h"

static const yoke_cudalike_flavour_t flavour;
YOKE_CUDALIKE_OPS(dtk, flavour, yoke_hip_error_name);

static const yoke_cudalike_symbol_t symbols[] = {YOKE_CUDALIKE_HIP_SYMBOLS};
static const char *const libraries[] = {"libgalaxyhip.so.5", "libgalaxyhip.so", NULL};

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_dtk_ops,
    .index = 2,
    .library_key = "DTK",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .vendor = "Hygon",
    .contexts = false,
    .attributes = {[YOKE_CUDALIKE_MAX_GROUP] = 0,
                   [YOKE_CUDALIKE_GRID_X] = 4,
                   [YOKE_CUDALIKE_GRID_Y] = 5,
                   [YOKE_CUDALIKE_GRID_Z] = 6,
                   [YOKE_CUDALIKE_LOCAL_MEMORY] = 7,
                   [YOKE_CUDALIKE_SUBGROUP] = 9,
                   [YOKE_CUDALIKE_COMPUTE_UNITS] = 14,
                   [YOKE_CUDALIKE_INTEGRATED] = 25,
                   [YOKE_CUDALIKE_PCI_BUS] = 21,
                   [YOKE_CUDALIKE_PCI_DEVICE] = 22,
                   [YOKE_CUDALIKE_PCI_DOMAIN] = YOKE_CUDALIKE_UNSOURCED,
                   [YOKE_CUDALIKE_CC_MAJOR] = 18,
                   [YOKE_CUDALIKE_CC_MINOR] = 19,
                   [YOKE_CUDALIKE_MANAGED] = 47,
                   [YOKE_CUDALIKE_WAIT_VALUE] = 52},
    .stream_flags = YOKE_HIP_STREAM_NON_BLOCKING,
    .event_untimed_flags = YOKE_HIP_EVENT_DISABLE_TIMING,
    .host_flags = YOKE_HIP_HOST_PORTABLE | YOKE_HIP_HOST_MAPPED,
    .managed_flags = YOKE_HIP_MANAGED_GLOBAL,
    .signal_flags = YOKE_HIP_SIGNAL_MEMORY,
    .arch_offset = YOKE_HIP_ARCH_OFFSET,
    .packing = YOKE_CUDALIKE_PACK_HIP,
    .capabilities = YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64,
    .dialect = YOKE_DIALECT_HIP,
    .rtc = &yoke_rtc_hiprtc,
    .blas = NULL, /* no public source for the numbers of its rocBLAS */
};

static void probe(yoke_probe_run_t *run)
{
    yoke_cudalike_probe(run, &flavour);
}

extern const yoke_backend_t yoke_backend_dtk;
const yoke_backend_t yoke_backend_dtk = {
    .name = "dtk",
    .library_key = "DTK",
    .libraries = libraries,
    .hidden_as = "dtk",
    .probe = probe,
    .error_name = yoke_hip_error_name,
    .missing = "Hygon's DTK is not installed",
    .live = &yoke_dtk_ops,
};
