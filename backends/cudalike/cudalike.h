/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_CUDALIKE_H
#define YOKE_BACKENDS_CUDALIKE_CUDALIKE_H

/*
 * One live backend for all CUDA-shaped runtimes. A vendor is a *flavour*: a table of
 * symbol names and a descriptor of what a pure rename would get wrong (numbers of
 * attributes and flags, context model, shapes of a few calls, run-time compiler, BLAS).
 *
 * Property structs are never read, except for one name that is nowhere else
 * (gcnArchName): attributes, names and totals come from calls of their own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/cudalike/gemm.h"
#include "backends/cudalike/rtc.h"

/* --- the calls --------------------------------------------------------------------- */

typedef uint64_t yoke_cudalike_address_t;
_Static_assert(sizeof(void *) == sizeof(yoke_cudalike_address_t),
               "device addresses are 64-bit integers in the driver APIs and pointers in "
               "the merged ones; one prototype serves both where they are equal");

typedef void (*yoke_cudalike_host_function_t)(void *);

/*
 * Prototypes as in cuda.h (13.0), with CUresult and enums as int and handles as void *.
 * tests/hal/header_check_cuda.c and header_check_hip.c compare them with the vendors'.
 */
typedef struct yoke_cudalike_api {
    /* devices */
    int (*init)(unsigned flags);
    int (*version)(int *out_version);
    int (*device_count)(int *out_count);
    int (*device_get)(int *out_device, int ordinal);
    int (*device_name)(char *name, int size, int device);
    int (*device_uuid)(void *out_16_bytes, int device);
    int (*total_memory)(size_t *out_bytes, int device);
    int (*attribute)(int *out_value, int attribute, int device);
    int (*pci_bus_id)(char *text, int size, int device);
    int (*memory_info)(size_t *out_free, size_t *out_total);
    int (*properties)(void *out_struct, int device);       /* only for gcnArchName */
    int (*properties_r0600)(void *out_struct, int device); /* the layout of HIP 6 */
    /* currentness: contexts (driver APIs) or devices (merged ones) */
    int (*primary_retain)(void **out_context, int device);
    int (*primary_release)(int device);
    int (*context_get)(void **out_context);
    int (*context_set)(void *context);
    int (*device_current)(int *out_device);
    int (*device_set)(int device);
    /* memory */
    int (*allocate)(yoke_cudalike_address_t *out_address, size_t size);
    int (*release)(yoke_cudalike_address_t address);
    int (*host_allocate)(void **out_address, size_t size, unsigned flags);
    int (*host_allocate_plain)(void **out_address, size_t size);
    int (*host_release)(void *address);
    int (*host_device_address)(yoke_cudalike_address_t *out_address, void *host,
                               unsigned flags);
    int (*managed_allocate)(yoke_cudalike_address_t *out_address, size_t size,
                            unsigned flags);
    int (*signal_allocate)(void **out_address, size_t size, unsigned flags);
    /* copies: driver shape */
    int (*copy)(yoke_cudalike_address_t dst, yoke_cudalike_address_t src, size_t size,
                void *stream);
    int (*copy_in)(yoke_cudalike_address_t dst, const void *src, size_t size,
                   void *stream);
    int (*copy_out)(void *dst, yoke_cudalike_address_t src, size_t size, void *stream);
    int (*copy_peer_contexts)(yoke_cudalike_address_t dst, void *dst_context,
                              yoke_cudalike_address_t src, void *src_context, size_t size,
                              void *stream);
    /* copies: merged shape */
    int (*copy_kind)(yoke_cudalike_address_t dst, yoke_cudalike_address_t src,
                     size_t size, int kind, void *stream);
    int (*copy_peer_devices)(yoke_cudalike_address_t dst, int dst_device,
                             yoke_cudalike_address_t src, int src_device, size_t size,
                             void *stream);
    /* fills */
    int (*fill8)(yoke_cudalike_address_t dst, unsigned char value, size_t count,
                 void *stream);
    int (*fill16)(yoke_cudalike_address_t dst, unsigned short value, size_t count,
                  void *stream);
    int (*fill32)(yoke_cudalike_address_t dst, unsigned value, size_t count,
                  void *stream);
    int (*fill32_strided)(yoke_cudalike_address_t dst, size_t pitch, unsigned value,
                          size_t width, size_t height, void *stream);
    /* streams */
    int (*stream_create)(void **out_stream, unsigned flags);
    int (*stream_create_priority)(void **out_stream, unsigned flags, int priority);
    int (*priority_range)(int *out_least, int *out_greatest);
    int (*stream_destroy)(void *stream);
    int (*stream_sync)(void *stream);
    int (*stream_query)(void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
    int (*host_call)(void *stream, yoke_cudalike_host_function_t function, void *context);
    int (*wait_value)(void *stream, yoke_cudalike_address_t address, uint32_t value,
                      unsigned flags);
    int (*wait_value_masked)(void *stream, yoke_cudalike_address_t address,
                             uint32_t value, unsigned flags, uint32_t mask);
    /* events */
    int (*event_create)(void **out_event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_sync)(void *event);
    int (*event_elapsed)(float *out_milliseconds, void *start, void *end);
    /* peers */
    int (*peer_query)(int *out_can, int device, int peer);
    int (*peer_enable_context)(void *peer_context, unsigned flags);
    int (*peer_enable_device)(int peer, unsigned flags);
    /* modules */
    int (*module_load)(void **out_module, const void *image);
    int (*module_load_log)(void **out_module, const void *image, unsigned count,
                           int *options, void **values);
    int (*module_unload)(void *module);
    int (*module_function)(void **out_function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                  void *stream, void **parameters, void **extra);
} yoke_cudalike_api_t;

/* A row of a flavour's symbol table. */
typedef struct yoke_cudalike_symbol {
    const char *name;
    const char *other; /* second name to try, or NULL */
    uint16_t slot;     /* offset in yoke_cudalike_api_t */
    bool optional;
} yoke_cudalike_symbol_t;

#define YOKE_CUDALIKE_SLOT(member) ((uint16_t)offsetof(yoke_cudalike_api_t, member))
#define YOKE_CUDALIKE_NEED(member, name, other)                                          \
    {                                                                                    \
        name, other, YOKE_CUDALIKE_SLOT(member), false                                   \
    }
#define YOKE_CUDALIKE_MAY(member, name, other)                                           \
    {                                                                                    \
        name, other, YOKE_CUDALIKE_SLOT(member), true                                    \
    }

/*
 * The driver API under a prefix ("cu", "mu"). Headers map plain names to versioned ones,
 * so the versioned name is tried first and the plain one after it: "cuMemAlloc" of a
 * driver is the 32-bit call of CUDA 3.1, and a runtime that never had that has only it.
 * cuStreamWaitValue32 has no second name on purpose: the first version works only where
 * the driver was told to allow it.
 */
#define YOKE_CUDALIKE_DRIVER_SYMBOLS(p)                                                  \
    YOKE_CUDALIKE_NEED(init, p "Init", NULL),                                            \
        YOKE_CUDALIKE_MAY(version, p "DriverGetVersion", NULL),                          \
        YOKE_CUDALIKE_NEED(device_count, p "DeviceGetCount", NULL),                      \
        YOKE_CUDALIKE_NEED(device_get, p "DeviceGet", NULL),                             \
        YOKE_CUDALIKE_NEED(device_name, p "DeviceGetName", NULL),                        \
        YOKE_CUDALIKE_MAY(device_uuid, p "DeviceGetUuid_v2", p "DeviceGetUuid"),         \
        YOKE_CUDALIKE_NEED(total_memory, p "DeviceTotalMem_v2", p "DeviceTotalMem"),     \
        YOKE_CUDALIKE_NEED(attribute, p "DeviceGetAttribute", NULL),                     \
        YOKE_CUDALIKE_MAY(pci_bus_id, p "DeviceGetPCIBusId", NULL),                      \
        YOKE_CUDALIKE_NEED(memory_info, p "MemGetInfo_v2", p "MemGetInfo"),              \
        YOKE_CUDALIKE_NEED(primary_retain, p "DevicePrimaryCtxRetain", NULL),            \
        YOKE_CUDALIKE_NEED(primary_release, p "DevicePrimaryCtxRelease_v2",              \
                           p "DevicePrimaryCtxRelease"),                                 \
        YOKE_CUDALIKE_NEED(context_get, p "CtxGetCurrent", NULL),                        \
        YOKE_CUDALIKE_NEED(context_set, p "CtxSetCurrent", NULL),                        \
        YOKE_CUDALIKE_NEED(allocate, p "MemAlloc_v2", p "MemAlloc"),                     \
        YOKE_CUDALIKE_NEED(release, p "MemFree_v2", p "MemFree"),                        \
        YOKE_CUDALIKE_MAY(host_allocate, p "MemHostAlloc", NULL),                        \
        YOKE_CUDALIKE_MAY(host_allocate_plain, p "MemAllocHost_v2", p "MemAllocHost"),   \
        YOKE_CUDALIKE_NEED(host_release, p "MemFreeHost", NULL),                         \
        YOKE_CUDALIKE_MAY(host_device_address, p "MemHostGetDevicePointer_v2",           \
                          p "MemHostGetDevicePointer"),                                  \
        YOKE_CUDALIKE_MAY(managed_allocate, p "MemAllocManaged", NULL),                  \
        YOKE_CUDALIKE_NEED(copy, p "MemcpyAsync", NULL),                                 \
        YOKE_CUDALIKE_NEED(copy_in, p "MemcpyHtoDAsync_v2", p "MemcpyHtoDAsync"),        \
        YOKE_CUDALIKE_NEED(copy_out, p "MemcpyDtoHAsync_v2", p "MemcpyDtoHAsync"),       \
        YOKE_CUDALIKE_MAY(copy_peer_contexts, p "MemcpyPeerAsync", NULL),                \
        YOKE_CUDALIKE_NEED(fill8, p "MemsetD8Async", NULL),                              \
        YOKE_CUDALIKE_MAY(fill16, p "MemsetD16Async", NULL),                             \
        YOKE_CUDALIKE_MAY(fill32, p "MemsetD32Async", NULL),                             \
        YOKE_CUDALIKE_MAY(fill32_strided, p "MemsetD2D32Async", NULL),                   \
        YOKE_CUDALIKE_NEED(stream_create, p "StreamCreate", NULL),                       \
        YOKE_CUDALIKE_MAY(stream_create_priority, p "StreamCreateWithPriority", NULL),   \
        YOKE_CUDALIKE_MAY(priority_range, p "CtxGetStreamPriorityRange", NULL),          \
        YOKE_CUDALIKE_NEED(stream_destroy, p "StreamDestroy_v2", p "StreamDestroy"),     \
        YOKE_CUDALIKE_NEED(stream_sync, p "StreamSynchronize", NULL),                    \
        YOKE_CUDALIKE_NEED(stream_query, p "StreamQuery", NULL),                         \
        YOKE_CUDALIKE_NEED(stream_wait, p "StreamWaitEvent", NULL),                      \
        YOKE_CUDALIKE_MAY(host_call, p "LaunchHostFunc", NULL),                          \
        YOKE_CUDALIKE_MAY(wait_value, p "StreamWaitValue32_v2", NULL),                   \
        YOKE_CUDALIKE_NEED(event_create, p "EventCreate", NULL),                         \
        YOKE_CUDALIKE_NEED(event_destroy, p "EventDestroy_v2", p "EventDestroy"),        \
        YOKE_CUDALIKE_NEED(event_record, p "EventRecord", NULL),                         \
        YOKE_CUDALIKE_NEED(event_query, p "EventQuery", NULL),                           \
        YOKE_CUDALIKE_NEED(event_sync, p "EventSynchronize", NULL),                      \
        YOKE_CUDALIKE_MAY(event_elapsed, p "EventElapsedTime_v2", p "EventElapsedTime"), \
        YOKE_CUDALIKE_MAY(peer_query, p "DeviceCanAccessPeer", NULL),                    \
        YOKE_CUDALIKE_MAY(peer_enable_context, p "CtxEnablePeerAccess", NULL),           \
        YOKE_CUDALIKE_MAY(module_load, p "ModuleLoadData", NULL),                        \
        YOKE_CUDALIKE_MAY(module_load_log, p "ModuleLoadDataEx", NULL),                  \
        YOKE_CUDALIKE_MAY(module_unload, p "ModuleUnload", NULL),                        \
        YOKE_CUDALIKE_MAY(module_function, p "ModuleGetFunction", NULL),                 \
        YOKE_CUDALIKE_MAY(launch, p "LaunchKernel", NULL)

/* What the merged runtimes ("hip", "mc") name alike. */
#define YOKE_CUDALIKE_MERGED_SYMBOLS(p)                                                  \
    YOKE_CUDALIKE_NEED(device_count, p "GetDeviceCount", NULL),                          \
        YOKE_CUDALIKE_MAY(version, p "RuntimeGetVersion", NULL),                         \
        YOKE_CUDALIKE_NEED(device_name, p "DeviceGetName", NULL),                        \
        YOKE_CUDALIKE_MAY(device_uuid, p "DeviceGetUuid", NULL),                         \
        YOKE_CUDALIKE_MAY(total_memory, p "DeviceTotalMem", NULL),                       \
        YOKE_CUDALIKE_MAY(attribute, p "DeviceGetAttribute", NULL),                      \
        YOKE_CUDALIKE_NEED(pci_bus_id, p "DeviceGetPCIBusId", NULL),                     \
        YOKE_CUDALIKE_NEED(memory_info, p "MemGetInfo", NULL),                           \
        YOKE_CUDALIKE_NEED(device_current, p "GetDevice", NULL),                         \
        YOKE_CUDALIKE_NEED(device_set, p "SetDevice", NULL),                             \
        YOKE_CUDALIKE_NEED(allocate, p "Malloc", NULL),                                  \
        YOKE_CUDALIKE_NEED(release, p "Free", NULL),                                     \
        YOKE_CUDALIKE_MAY(managed_allocate, p "MallocManaged", NULL),                    \
        YOKE_CUDALIKE_NEED(copy_kind, p "MemcpyAsync", NULL),                            \
        YOKE_CUDALIKE_MAY(copy_peer_devices, p "MemcpyPeerAsync", NULL),                 \
        YOKE_CUDALIKE_NEED(stream_create, p "StreamCreateWithFlags", NULL),              \
        YOKE_CUDALIKE_MAY(stream_create_priority, p "StreamCreateWithPriority", NULL),   \
        YOKE_CUDALIKE_MAY(priority_range, p "DeviceGetStreamPriorityRange", NULL),       \
        YOKE_CUDALIKE_NEED(stream_destroy, p "StreamDestroy", NULL),                     \
        YOKE_CUDALIKE_NEED(stream_sync, p "StreamSynchronize", NULL),                    \
        YOKE_CUDALIKE_NEED(stream_query, p "StreamQuery", NULL),                         \
        YOKE_CUDALIKE_NEED(stream_wait, p "StreamWaitEvent", NULL),                      \
        YOKE_CUDALIKE_MAY(host_call, p "LaunchHostFunc", NULL),                          \
        YOKE_CUDALIKE_NEED(event_create, p "EventCreateWithFlags", NULL),                \
        YOKE_CUDALIKE_NEED(event_destroy, p "EventDestroy", NULL),                       \
        YOKE_CUDALIKE_NEED(event_record, p "EventRecord", NULL),                         \
        YOKE_CUDALIKE_NEED(event_query, p "EventQuery", NULL),                           \
        YOKE_CUDALIKE_NEED(event_sync, p "EventSynchronize", NULL),                      \
        YOKE_CUDALIKE_MAY(event_elapsed, p "EventElapsedTime", NULL),                    \
        YOKE_CUDALIKE_MAY(peer_query, p "DeviceCanAccessPeer", NULL),                    \
        YOKE_CUDALIKE_MAY(peer_enable_device, p "DeviceEnablePeerAccess", NULL),         \
        YOKE_CUDALIKE_MAY(module_load, p "ModuleLoadData", NULL),                        \
        YOKE_CUDALIKE_MAY(module_unload, p "ModuleUnload", NULL),                        \
        YOKE_CUDALIKE_MAY(module_function, p "ModuleGetFunction", NULL),                 \
        YOKE_CUDALIKE_MAY(launch, p "ModuleLaunchKernel", NULL)

/* What HIP has besides, and those who forked it. */
#define YOKE_CUDALIKE_HIP_SYMBOLS                                                        \
    YOKE_CUDALIKE_MERGED_SYMBOLS("hip"),                                                 \
        YOKE_CUDALIKE_MAY(properties_r0600, "hipGetDevicePropertiesR0600", NULL),        \
        YOKE_CUDALIKE_MAY(properties, "hipGetDeviceProperties", NULL),                   \
        YOKE_CUDALIKE_MAY(host_allocate, "hipHostMalloc", NULL),                         \
        YOKE_CUDALIKE_NEED(host_release, "hipHostFree", NULL),                           \
        YOKE_CUDALIKE_MAY(host_device_address, "hipHostGetDevicePointer", NULL),         \
        YOKE_CUDALIKE_MAY(signal_allocate, "hipExtMallocWithFlags", NULL),               \
        YOKE_CUDALIKE_MAY(wait_value_masked, "hipStreamWaitValue32", NULL),              \
        YOKE_CUDALIKE_NEED(fill8, "hipMemsetD8Async", NULL),                             \
        YOKE_CUDALIKE_MAY(fill16, "hipMemsetD16Async", NULL),                            \
        YOKE_CUDALIKE_MAY(fill32, "hipMemsetD32Async", NULL)

/* --- the descriptor ---------------------------------------------------------------- */

/* Attributes that we ask for. */
typedef enum yoke_cudalike_key {
    YOKE_CUDALIKE_MAX_GROUP,
    YOKE_CUDALIKE_GRID_X,
    YOKE_CUDALIKE_GRID_Y,
    YOKE_CUDALIKE_GRID_Z,
    YOKE_CUDALIKE_LOCAL_MEMORY,
    YOKE_CUDALIKE_SUBGROUP,
    YOKE_CUDALIKE_COMPUTE_UNITS,
    YOKE_CUDALIKE_INTEGRATED,
    YOKE_CUDALIKE_PCI_BUS,
    YOKE_CUDALIKE_PCI_DEVICE,
    YOKE_CUDALIKE_PCI_DOMAIN,
    YOKE_CUDALIKE_CC_MAJOR,
    YOKE_CUDALIKE_CC_MINOR,
    YOKE_CUDALIKE_MANAGED,
    YOKE_CUDALIKE_WAIT_VALUE,
    YOKE_CUDALIKE_KEYS
} yoke_cudalike_key_t;

#define YOKE_CUDALIKE_UNSOURCED                                                          \
    (-1) /* a number that no public source tells: not used                               \
          */

/* How a version is packed into a number. */
typedef enum yoke_cudalike_packing {
    YOKE_CUDALIKE_PACK_CUDA, /* major * 1000 + minor * 10: cuDriverGetVersion */
    YOKE_CUDALIKE_PACK_HIP, /* major * 10000000 + minor * 100000 + patch: hip_version.h */
    YOKE_CUDALIKE_PACK_MUSA /* major * 10000 + minor * 100 + patch */
} yoke_cudalike_packing_t;

typedef struct yoke_cudalike_flavour {
    const yoke_backend_ops_t *ops; /* whose errors these are */
    uint32_t index;                /* which note of the calling thread; below 8 */
    const char *library_key;
    const char *const *libraries;
    const yoke_cudalike_symbol_t *symbols;
    size_t symbol_count;
    const char *vendor; /* as the inventory spells it; NULL: by the device's name */
    const char *unit;   /* architecture "sm_%d%d" of the compute capability, or NULL */
    bool contexts;      /* driver API: a current context; else a current device */
    int attributes[YOKE_CUDALIKE_KEYS];
    int stream_flags, event_untimed_flags, host_flags, managed_flags; /* or UNSOURCED */
    int signal_flags; /* of signal_allocate(), for wait_value_masked(); or UNSOURCED */
    size_t arch_offset, arch_offset_r0600; /* of gcnArchName; 0: not read */
    bool jit_log;                          /* module_load_log() has CUDA's options */
    yoke_cudalike_packing_t packing;       /* of the version's number */
    uint64_t capabilities; /* YOKE_CAP_* that no symbol or attribute tells */
    yoke_dialect_t dialect;
    const yoke_rtc_t *rtc;   /* run-time compiler, or NULL */
    const yoke_blas_t *blas; /* or NULL */
    /* Is this library, or its first device, ours? NULL: yes. Tells CoreX from NVIDIA. */
    bool (*accepts)(const char *library, const char *first_name);
} yoke_cudalike_flavour_t;

/* Codes that are the same in every CUDA-shaped runtime; each flavour's error table names
 * them with its source. */
enum {
    YOKE_CUDALIKE_SUCCESS = 0,
    YOKE_CUDALIKE_INVALID_VALUE = 1,
    YOKE_CUDALIKE_OUT_OF_MEMORY = 2,
    YOKE_CUDALIKE_DEINITIALIZED = 4,
    YOKE_CUDALIKE_NO_DEVICE = 100,
    YOKE_CUDALIKE_INVALID_DEVICE = 101,
    YOKE_CUDALIKE_INVALID_IMAGE = 200,
    YOKE_CUDALIKE_INVALID_CONTEXT = 201,
    YOKE_CUDALIKE_NO_BINARY = 209,
    YOKE_CUDALIKE_ECC = 214,
    YOKE_CUDALIKE_PEER_UNSUPPORTED = 217,
    YOKE_CUDALIKE_INVALID_PTX = 218,
    YOKE_CUDALIKE_LINK_UNCORRECTABLE = 220,
    YOKE_CUDALIKE_PTX_VERSION = 222,
    YOKE_CUDALIKE_INVALID_SOURCE = 300,
    YOKE_CUDALIKE_INVALID_HANDLE = 400,
    YOKE_CUDALIKE_NOT_FOUND = 500,
    YOKE_CUDALIKE_NOT_READY = 600,
    YOKE_CUDALIKE_ILLEGAL_ADDRESS = 700,
    YOKE_CUDALIKE_LAUNCH_TIMEOUT = 702,
    YOKE_CUDALIKE_PEER_ALREADY = 704,
    YOKE_CUDALIKE_PEER_NOT_ENABLED = 705,
    YOKE_CUDALIKE_CONTEXT_DESTROYED = 709,
    YOKE_CUDALIKE_ASSERT = 710,
    YOKE_CUDALIKE_HARDWARE_STACK = 714,
    YOKE_CUDALIKE_ILLEGAL_INSTRUCTION = 715,
    YOKE_CUDALIKE_MISALIGNED = 716,
    YOKE_CUDALIKE_ADDRESS_SPACE = 717,
    YOKE_CUDALIKE_INVALID_PC = 718,
    YOKE_CUDALIKE_LAUNCH_FAILED = 719,
    YOKE_CUDALIKE_NOT_SUPPORTED = 801
};

/* --- what a flavour's file ends with -------------------------------------------------
 */

yoke_status_t yoke_cudalike_open(const yoke_cudalike_flavour_t *flavour,
                                 yoke_impl_runtime_t **out_runtime);

/* The slots that are the same for all; NAME is a token, its table `FLAVOUR`, and
 * `ERROR_NAME` names its codes. Defines `yoke_NAME_ops` with the two slots of its own. */
#define YOKE_CUDALIKE_OPS(NAME, FLAVOUR, ERROR_NAME)                                     \
    static yoke_status_t NAME##_open(yoke_impl_runtime_t **out_runtime)                  \
    {                                                                                    \
        return yoke_cudalike_open(&(FLAVOUR), out_runtime);                              \
    }                                                                                    \
    extern const yoke_backend_ops_t yoke_##NAME##_ops;                                   \
    const yoke_backend_ops_t yoke_##NAME##_ops = {YOKE_CUDALIKE_SLOTS, .name = #NAME,    \
                                                  .runtime_open = NAME##_open,           \
                                                  .error_name = ERROR_NAME}

/* --- probing (dtk, musa, maca, corex): the same table, in the helper process ---------
 */

void yoke_cudalike_probe(yoke_probe_run_t *run, const yoke_cudalike_flavour_t *flavour);

/* Whether the code says that a device is gone, or needs a reset before it can be used. */
bool yoke_cudalike_lost(int code);

#include "backends/cudalike/slots.h"

#endif
