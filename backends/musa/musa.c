/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moore Threads' MUSA: the driver API under "mu". Sources:
 *   names      MooreThreads/tensorflow_musa_extension, torch_musa and the driver's
 *              tutorials (versioned names as CUDA's: muMemAlloc_v2, muDeviceGetUuid_v2)
 *   numbers    MooreThreads/ollama-musa discover/gpu_info_mtmusa.h (MUresult 0, 100, 803,
 *              999; attributes 75, 76; version packing in gpu_info_mtmusa.c) and the MUSA
 *              port of ollama with the runtime's whole musaError and musaDeviceAttr enums
 *              (gpu_info_musa.h): both repeat CUDA's
 *   flags      only 0 is sourced (muStreamCreate(&s, 0), muEventCreate(&e, 0)): streams
 *              synchronise with the NULL stream, all events take times, managed memory
 *              is refused; pinned memory comes from muMemAllocHost, which has no flags
 */
#include "backends/cudalike/cudalike.h"

static const yoke_cudalike_flavour_t flavour;

#define CODE(name, value)                                                                \
    case value:                                                                          \
        return "MUSA_ERROR_" #name;

static const char *error_name(int64_t code)
{
    switch (code) {
    case 0:
        return "MUSA_SUCCESS";
        CODE(INVALID_VALUE, 1)
        CODE(OUT_OF_MEMORY, 2)
        CODE(NOT_INITIALIZED, 3)
        CODE(DEINITIALIZED, 4)
        CODE(STUB_LIBRARY, 34)
        CODE(INSUFFICIENT_DRIVER, 35)
        CODE(NO_DEVICE, 100)
        CODE(INVALID_DEVICE, 101)
        CODE(INVALID_IMAGE, 200)
        CODE(INVALID_CONTEXT, 201)
        CODE(NO_BINARY_FOR_GPU, 209)
        CODE(ECC_UNCORRECTABLE, 214)
        CODE(PEER_ACCESS_UNSUPPORTED, 217)
        CODE(INVALID_SOURCE, 300)
        CODE(FILE_NOT_FOUND, 301)
        CODE(OPERATING_SYSTEM, 304)
        CODE(INVALID_HANDLE, 400)
        CODE(ILLEGAL_STATE, 401)
        CODE(NOT_FOUND, 500)
        CODE(NOT_READY, 600)
        CODE(ILLEGAL_ADDRESS, 700)
        CODE(LAUNCH_OUT_OF_RESOURCES, 701)
        CODE(LAUNCH_TIMEOUT, 702)
        CODE(PEER_ACCESS_ALREADY_ENABLED, 704)
        CODE(PEER_ACCESS_NOT_ENABLED, 705)
        CODE(CONTEXT_IS_DESTROYED, 709)
        CODE(ASSERT, 710)
        CODE(TOO_MANY_PEERS, 711)
        CODE(HARDWARE_STACK_ERROR, 714)
        CODE(ILLEGAL_INSTRUCTION, 715)
        CODE(MISALIGNED_ADDRESS, 716)
        CODE(INVALID_ADDRESS_SPACE, 717)
        CODE(INVALID_PC, 718)
        CODE(LAUNCH_FAILED, 719)
        CODE(NOT_PERMITTED, 800)
        CODE(NOT_SUPPORTED, 801)
        CODE(SYSTEM_DRIVER_MISMATCH, 803)
        CODE(UNKNOWN, 999)
    default:
        return NULL;
    }
}

YOKE_CUDALIKE_OPS(musa, flavour, error_name);

static const yoke_cudalike_symbol_t symbols[] = {YOKE_CUDALIKE_DRIVER_SYMBOLS("mu")};
static const char *const libraries[] = {"libmusa.so.1", "libmusa.so.4", "libmusa.so",
                                        NULL};

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_musa_ops,
    .index = 3,
    .library_key = "MUSA",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .vendor = "Moore Threads",
    .unit = "mp_", /* "mp_31": the SDK's names of architectures */
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
    .stream_flags = 0,
    .event_untimed_flags = YOKE_CUDALIKE_UNSOURCED,
    .host_flags = YOKE_CUDALIKE_UNSOURCED,
    .managed_flags = YOKE_CUDALIKE_UNSOURCED,
    .signal_flags = YOKE_CUDALIKE_UNSOURCED,
    .packing = YOKE_CUDALIKE_PACK_MUSA,
    .dialect = YOKE_DIALECT_HIP, /* CUDA C++ by Clang, with Clang's options */
    .rtc = &yoke_rtc_mtrtc,
    .blas = NULL, /* no public source for the numbers of muBLAS */
};

static void probe(yoke_probe_run_t *run)
{
    yoke_cudalike_probe(run, &flavour);
}

extern const yoke_backend_t yoke_backend_musa;
const yoke_backend_t yoke_backend_musa = {
    .name = "musa",
    .library_key = "MUSA",
    .libraries = libraries,
    .hidden_as = "musa",
    .probe = probe,
    .error_name = error_name,
    .missing = "the Moore Threads driver is not installed",
    .live = &yoke_musa_ops,
};
