/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iluvatar's CoreX: a libcuda.so.1 of its own with CUDA's names and numbers, so the
 * driver API. Sources: flagos-ai/FlagTree, profiler of its Tianshu backend (loads
 * /usr/local/corex/lib/libcuda.so.1, calls cuInit, cuDeviceGet, cuDeviceGetName and
 * cuDeviceGetAttribute with CUDA's attribute numbers), FlagOpen/FlagCX
 * flagcx/adaptor/device/ixcuda_adaptor.cc (CUDA's names throughout), LMCache/LMCache#4559
 * (told from NVIDIA by "Iluvatar" in the device's name).
 *
 * Refused: waiting for a value (its attribute is newer than the CUDA that CoreX follows),
 * source (no public source for its run-time compiler), matrix products (its libcublas
 * follows CUDA 10, where the compute type is another enum).
 */
#include "backends/cuda/cu.h"
#include "backends/cuda/live.h"

#include <string.h>

static const yoke_cudalike_flavour_t flavour;
YOKE_CUDALIKE_OPS(corex, flavour, yoke_cu_error_name);

static const yoke_cudalike_symbol_t symbols[] = {YOKE_CUDALIKE_DRIVER_SYMBOLS("cu")};
static const char *const libraries[] = {"/usr/local/corex/lib64/libcuda.so.1",
                                        "/usr/local/corex/lib/libcuda.so.1",
                                        "libcuda.so.1", NULL};

static bool accepts(const char *library, const char *first_name)
{
    return (library != NULL && strstr(library, "/corex") != NULL) ||
           strncmp(first_name, "Iluvatar", 8) == 0;
}

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_corex_ops,
    .index = 5,
    .library_key = "COREX",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .vendor = "Iluvatar CoreX",
    .contexts = true,
    .attributes = {[YOKE_CUDALIKE_MAX_GROUP] = 1,
                   [YOKE_CUDALIKE_GRID_X] = 5,
                   [YOKE_CUDALIKE_GRID_Y] = 6,
                   [YOKE_CUDALIKE_GRID_Z] = 7,
                   [YOKE_CUDALIKE_LOCAL_MEMORY] = 8,
                   [YOKE_CUDALIKE_SUBGROUP] = 10,
                   [YOKE_CUDALIKE_COMPUTE_UNITS] = 16,
                   [YOKE_CUDALIKE_INTEGRATED] = 18,
                   [YOKE_CUDALIKE_PCI_BUS] = 33,
                   [YOKE_CUDALIKE_PCI_DEVICE] = 34,
                   [YOKE_CUDALIKE_PCI_DOMAIN] = 50,
                   [YOKE_CUDALIKE_CC_MAJOR] = 75,
                   [YOKE_CUDALIKE_CC_MINOR] = 76,
                   [YOKE_CUDALIKE_MANAGED] = 83,
                   [YOKE_CUDALIKE_WAIT_VALUE] = YOKE_CUDALIKE_UNSOURCED},
    .stream_flags = YOKE_CUDA_STREAM_NON_BLOCKING,
    .event_untimed_flags = YOKE_CUDA_EVENT_DISABLE_TIMING,
    .host_flags = YOKE_CUDA_HOST_PORTABLE | YOKE_CUDA_HOST_MAPPED,
    .managed_flags = YOKE_CUDA_MANAGED_GLOBAL,
    .signal_flags = YOKE_CUDALIKE_UNSOURCED,
    .packing = YOKE_CUDALIKE_PACK_CUDA,
    .accepts = accepts,
};

static void probe(yoke_probe_run_t *run)
{
    yoke_cudalike_probe(run, &flavour);
}

extern const yoke_backend_t yoke_backend_corex;
const yoke_backend_t yoke_backend_corex = {
    .name = "corex",
    .library_key = "COREX",
    .libraries = libraries,
    .hidden_as = "corex",
    .probe = probe,
    .error_name = yoke_cu_error_name,
    .missing = "Iluvatar's CoreX is not installed",
    .live = &yoke_corex_ops,
};
