/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MetaX' MACA: one prefix "mc" for driver and runtime. Sources:
 *   names, shapes  FlagOpen/FlagCX flagcx/adaptor/device/maca_adaptor.cc (copies,
 * streams, events, host functions, PCI id), MetaX-MACA/mcTVM
 *                  src/runtime/maca/maca_device_api.cc and maca_module.cc (name, peer
 *                  copies, modules, launch), MetaX-MACA/maca-samples (mcModuleLoadData,
 *                  mcModuleLaunchKernel; mcMallocHost with flags as third argument)
 *   errors         Cython binding of mcr/maca.h in MetaX's port of CuPy (_mcError_t)
 *   flags          mcStreamNonBlocking 1, mcEventDisableTiming 2: a caller that declares
 *                  them as those of MACA 3.5.3; mcMallocHost: 0, no flag set
 *   refused        attributes: the binding's order gives 21 for the compute capability,
 *                  an observation of 3.5.3 says 75, so they changed between releases;
 *                  managed memory: the value of mcMemAttachGlobal has no public source
 */
#include "backends/cudalike/cudalike.h"

static const yoke_cudalike_flavour_t flavour;

#define CODE(name, value)                                                                \
    case value:                                                                          \
        return "mc" #name;

static const char *error_name(int64_t code)
{
    switch (code) {
        CODE(Success, 0)
        CODE(ErrorInvalidValue, 1)
        CODE(ErrorMemoryAllocation, 2)
        CODE(ErrorInitializationError, 3)
        CODE(ErrorDeinitialized, 4)
        CODE(ErrorInvalidConfiguration, 9)
        CODE(ErrorInvalidDevicePointer, 17)
        CODE(ErrorInvalidMemcpyDirection, 21)
        CODE(ErrorNotYetImplemented, 31)
        CODE(ErrorMemoryValueTooLarge, 32)
        CODE(ErrorStubLibrary, 34)
        CODE(ErrorInsufficientDriver, 35)
        CODE(ErrorDevicesUnavailable, 46)
        CODE(ErrorInvalidDeviceFunction, 98)
        CODE(ErrorNoDevice, 100)
        CODE(ErrorInvalidDevice, 101)
        CODE(ErrorInvalidKernelImage, 200)
        CODE(ErrorDeviceUninitialized, 201)
        CODE(ErrorNoKernelImageForDevice, 209)
        CODE(ErrorECCUncorrectable, 214)
        CODE(ErrorPeerAccessUnsupported, 217)
        CODE(ErrorInvalidKernelFile, 218)
        CODE(ErrorMxlinkUncorrectable, 220)
        CODE(ErrorInvalidSource, 300)
        CODE(ErrorFileNotFound, 301)
        CODE(ErrorOperatingSystem, 304)
        CODE(ErrorInvalidResourceHandle, 400)
        CODE(ErrorIllegalState, 401)
        CODE(ErrorSymbolNotFound, 500)
        CODE(ErrorNotReady, 600)
        CODE(ErrorIllegalAddress, 700)
        CODE(ErrorLaunchOutOfResources, 701)
        CODE(ErrorLaunchTimeout, 702)
        CODE(ErrorPeerAccessAlreadyEnabled, 704)
        CODE(ErrorPeerAccessNotEnabled, 705)
        CODE(ErrorContextIsDestroyed, 709)
        CODE(ErrorAssert, 710)
        CODE(ErrorHardwareStackError, 714)
        CODE(ErrorIllegalInstruction, 715)
        CODE(ErrorMisalignedAddress, 716)
        CODE(ErrorInvalidAddressSpace, 717)
        CODE(ErrorInvalidPc, 718)
        CODE(ErrorLaunchFailure, 719)
        CODE(ErrorNotPermitted, 800)
        CODE(ErrorNotSupported, 801)
        CODE(ErrorSystemDriverMismatch, 803)
        CODE(ErrorUnknown, 999)
        CODE(ErrorDriverMismatch, 10003)
        CODE(ErrorKernelExecTimeout, 10032)
    default:
        return NULL;
    }
}

YOKE_CUDALIKE_OPS(maca, flavour, error_name);

static const yoke_cudalike_symbol_t symbols[] = {
    YOKE_CUDALIKE_MERGED_SYMBOLS("mc"),
    YOKE_CUDALIKE_NEED(host_allocate, "mcMallocHost", NULL),
    YOKE_CUDALIKE_NEED(host_release, "mcFreeHost", NULL),
    YOKE_CUDALIKE_NEED(fill8, "mcMemsetD8Async",
                       "mcMemsetAsync"), /* (address, byte, size, s) */
    YOKE_CUDALIKE_MAY(fill32, "mcMemsetD32Async", NULL),
};
static const char *const libraries[] = {"libmcruntime.so",
                                        "/opt/maca/lib/libmcruntime.so", NULL};

#define NONE YOKE_CUDALIKE_UNSOURCED

static const yoke_cudalike_flavour_t flavour = {
    .ops = &yoke_maca_ops,
    .index = 4,
    .library_key = "MACA",
    .libraries = libraries,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .vendor = "MetaX",
    .contexts = false,
    .attributes = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
                   NONE, NONE, NONE},
    .stream_flags = 1,
    .event_untimed_flags = 2,
    .host_flags = 0,
    .managed_flags = YOKE_CUDALIKE_UNSOURCED,
    .signal_flags = YOKE_CUDALIKE_UNSOURCED,
    .packing = YOKE_CUDALIKE_PACK_HIP,
    .dialect = YOKE_DIALECT_HIP, /* CUDA C++ by Clang, with Clang's options */
    .rtc = &yoke_rtc_mcrtc,
    .blas = NULL, /* no public source for the numbers of mcBLAS */
};

static void probe(yoke_probe_run_t *run)
{
    yoke_cudalike_probe(run, &flavour);
}

extern const yoke_backend_t yoke_backend_maca;
const yoke_backend_t yoke_backend_maca = {
    .name = "maca",
    .library_key = "MACA",
    .libraries = libraries,
    .hidden_as = "maca",
    .probe = probe,
    .error_name = error_name,
    .missing = "MetaX' MACA is not installed",
    .live = &yoke_maca_ops,
};
