/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_DEVICE_H
#define YOKE_DEVICE_H

/**
 * Live devices of every runtime, several runtimes in one process.
 *
 * The inventory (yoke/inventory.h, yoke/probe.h) is data and never loads a vendor library
 * into the caller; opening a device here does. Where a library may crash, probe first.
 *
 * RULES FOR ALL LIVE OBJECTS (device, queue, event, buffer, program, kernel, prepared
 * launch, pool, transfer)
 *
 * Threads: different handles may be used on different threads at once. One handle must
 * not be used by two threads at once, except that yoke_device_* functions, creating
 * objects on one device, and yoke_buffer_* queries may. No thread is made unless a
 * function says so.
 *
 * The caller's state: the current device and context of the calling thread
 * (cuCtxGetCurrent, hipGetDevice, aclrtGetDevice, cnrtGetDevice and so on) are after
 * every call what they were before it. They are saved and restored only where they differ
 * from what the call needs.
 *
 * Ownership: *_create, *_open, *_wrap give an object that the caller ends with *_destroy
 * or
 * *_close; NULL is allowed there. An object keeps its device alive: closing a device
 * first is allowed, it ends with its last object. Ending an object that enqueued work
 * still uses is the caller's fault, except where a function says that it waits.
 *
 * Enqueueing takes no lock and allocates nothing.
 *
 * Errors: a status, and yoke_last_error() with the call, the vendor's code and its name;
 * yoke_last_vendor_error() gives the parts. A NULL handle is YOKE_ERR_USAGE everywhere.
 * What else is wrong with arguments (a freed handle, a buffer of another device, an
 * offset past the end, an event that was never recorded) is undefined unless the
 * validation layer is on (YOKE_VALIDATE=1, or YOKE_LAYER_VALIDATE): then it is
 * YOKE_ERR_USAGE or YOKE_ERR_OUT_OF_RANGE with a message, and nothing was enqueued.
 *
 * A device whose runtime says that it is gone, or that its context is ruined, is *lost*:
 * from then on every call on its objects that would use it gives YOKE_ERR_DEVICE_LOST;
 * ending objects still works and frees host memory. Others are not affected.
 *
 * fork(): a child must not use objects that its parent made.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/inventory.h"
#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_device yoke_device_t;

/** What a device can do besides the required: bits of yoke_device_info_t.capabilities. An
 *  operation whose bit is clear returns YOKE_ERR_UNSUPPORTED. */
#define YOKE_CAP_PINNED (1ull << 0)  /**< YOKE_MEMORY_HOST buffers */
#define YOKE_CAP_SHARED (1ull << 1)  /**< YOKE_MEMORY_SHARED buffers */
#define YOKE_CAP_ADDRESS (1ull << 2) /**< buffers have a device address */
#define YOKE_CAP_PEER (1ull << 3)    /**< copies between devices of this runtime */
#define YOKE_CAP_TIMING (1ull << 4)  /**< yoke_event_elapsed() */
#define YOKE_CAP_SOURCE (1ull << 5)  /**< programs in the portable dialect */
#define YOKE_CAP_NATIVE_SOURCE                                                           \
    (1ull << 6)                         /**< programs in the runtime's own language      \
                                         */
#define YOKE_CAP_BINARY (1ull << 7)     /**< native binaries */
#define YOKE_CAP_GATE (1ull << 8)       /**< a queue can wait for the host (transfers) */
#define YOKE_CAP_HOST_CALL (1ull << 9)  /**< yoke_queue_host_call() */
#define YOKE_CAP_WRAP (1ull << 10)      /**< native queues, events and buffers */
#define YOKE_CAP_FP64 (1ull << 11)      /**< f64 in programs */
#define YOKE_CAP_ATOMICS64 (1ull << 12) /**< 64-bit atomics in programs */
#define YOKE_CAP_GEMM (1ull << 13)      /**< matrix product by the vendor's library */
#define YOKE_CAP_PRIORITY (1ull << 14)  /**< queues of high and low priority */
#define YOKE_CAP_FREE_MEMORY                                                             \
    (1ull << 15) /**< the runtime says how much memory is free                           \
                  */
#define YOKE_CAP_EXHAUSTS                                                                \
    (1ull << 16) /**< the runtime itself refuses too much memory                         \
                  */

/** Name of one capability bit ("pinned"), NULL for none. Static storage. */
const char *yoke_capability_name(uint64_t bit);

/** Parts of yoke_device_info_t that the runtime told. */
#define YOKE_INFO_PCI (1u << 0)
#define YOKE_INFO_UUID (1u << 1)
#define YOKE_INFO_MEMORY (1u << 2)

typedef struct yoke_device_info {
    size_t struct_size;  /**< in: sizeof(yoke_device_info_t); no more is written */
    const char *backend; /**< "cuda"; strings live as long as the device */
    const char *name;    /**< by the runtime */
    const char
        *vendor; /**< "nvidia", "amd", "huawei" ...; the inventory's spelling; "" */
    const char *architecture; /**< "sm_90", "gfx90a", "Ascend910B3"; "" when not told */
    const char *library;      /**< file that was loaded; "" for none */
    const char *version;      /**< of the runtime or driver; "" when not told */
    uint32_t ordinal;         /**< the runtime's own index among visible devices */
    uint32_t valid;           /**< YOKE_INFO_* */
    yoke_device_kind_t kind;
    yoke_pci_t pci;
    uint8_t uuid[16];
    uint64_t memory_total; /**< bytes */
    uint64_t capabilities; /**< YOKE_CAP_* */
    uint32_t compute_units;
    uint32_t subgroup;      /**< work-items in lockstep: 32, 64; 1 on a CPU */
    uint32_t max_group;     /**< work-items of a group, at most */
    uint32_t max_groups[3]; /**< groups of a launch, at most */
    uint64_t local_memory;  /**< bytes of a group's local memory */
    uint32_t alignment; /**< offsets of spans given to kernels are multiples of this */
    uint32_t reserved;
} yoke_device_info_t;

/** Layers of a device's objects, set when it is opened. */
#define YOKE_LAYER_VALIDATE                                                              \
    (1u << 0)                      /**< check every argument before the runtime sees it */
#define YOKE_LAYER_TRACE (1u << 1) /**< log every call with its time (YOKE_LOG_DEBUG) */
#define YOKE_LAYER_DEFAULT (1u << 31) /**< as YOKE_VALIDATE and YOKE_TRACE_CALLS say */

/** A framework's allocator in place of the runtime's, for YOKE_MEMORY_DEVICE buffers. */
typedef struct yoke_allocator {
    size_t struct_size;
    /** Device memory of at least `size` bytes, aligned to 256, or NULL. The device is the
     *  thread's current one where the runtime has such a thing. */
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *address, size_t size);
    void *context;
} yoke_allocator_t;

typedef struct yoke_device_options {
    size_t struct_size; /**< sizeof; fields past it take their defaults */
    uint32_t layers;    /**< default YOKE_LAYER_DEFAULT */
    /** Copied. NULL: the runtime's. Only with YOKE_CAP_ADDRESS. */
    const yoke_allocator_t *allocator;
} yoke_device_options_t;

#define YOKE_DEVICE_OPTIONS_INIT                                                         \
    {                                                                                    \
        sizeof(yoke_device_options_t), YOKE_LAYER_DEFAULT, NULL                          \
    }

/**
 * Names of the backends that this library has, plug-ins included, in order of rank.
 * @param out_names  array of `*out_count`; static storage, the strings too
 */
yoke_status_t yoke_backends_list(const char *const **out_names, size_t *out_count);

/**
 * Load a backend from a shared object that exports `yoke_backend_entry` (yoke/backend.h).
 * The file and every folder above it must belong to root or the caller and be writable by
 * nobody else, the group included (a folder with the sticky bit, as /tmp, is accepted).
 * It stays loaded. $YOKE_PLUGIN_DIR names a folder whose files NAME.so are
 * loaded before the first use of the HAL, under the same rule.
 *
 * @retval YOKE_OK             also when this file was loaded before
 * @retval YOKE_ERR_USAGE      others may write the file or a folder above it; the name is
 *                             taken by another backend
 * @retval YOKE_ERR_NOT_FOUND  no such file
 * @retval YOKE_ERR_UNSUPPORTED  another major ABI, or no entry function
 */
yoke_status_t yoke_backend_load(const char *path);

/**
 * How many devices a backend sees in this process, after the variables that hide some.
 * Loads its library.
 * @retval YOKE_ERR_NOT_FOUND  no such backend, or its library is not there
 * @retval YOKE_ERR_SYSTEM     the library answered with an error
 */
yoke_status_t yoke_device_count(const char *backend, uint32_t *out_count);

/**
 * Open a device.
 *
 * @param name  "cuda:1" (the runtime's ordinal), "cuda" (ordinal 0), "cuda:0000:41:00.0"
 * (PCI address), "cuda:GPU-8f2c..." (UUID, 32 hexadecimal digits, dashes ignored)
 * @param options  NULL: defaults
 * @retval YOKE_ERR_USAGE      the name cannot be read
 * @retval YOKE_ERR_NOT_FOUND  no such backend, library or device; the message lists what
 * is there
 * @retval YOKE_ERR_SYSTEM     the runtime refused
 * @retval YOKE_ERR_DEVICE_LOST
 */
yoke_status_t yoke_device_open(const char *name, const yoke_device_options_t *options,
                               yoke_device_t **out_device);
/** Drop the caller's hold; NULL is allowed. */
void yoke_device_close(yoke_device_t *device);

/** Fill `info` up to its struct_size. No vendor call. */
yoke_status_t yoke_device_info(const yoke_device_t *device, yoke_device_info_t *info);

/**
 * Memory of the device now. Where the runtime does not tell what is free (no
 * YOKE_CAP_FREE_MEMORY), free is the total less what this process allocated through Yoke.
 * @param out_free, out_total  bytes; either may be NULL
 */
yoke_status_t yoke_device_memory(yoke_device_t *device, uint64_t *out_free,
                                 uint64_t *out_total);
/** Limit of what may be allocated on this device through Yoke, bytes; 0: no limit. Beyond
 * it allocation gives YOKE_ERR_DEVICE_MEMORY. Initially the device's total where the
 * runtime itself does not refuse (no YOKE_CAP_EXHAUSTS), else none. */
yoke_status_t yoke_device_limit_memory(yoke_device_t *device, uint64_t bytes);

/** YOKE_OK, or YOKE_ERR_DEVICE_LOST once it is lost. No vendor call. */
yoke_status_t yoke_device_status(const yoke_device_t *device);

/** Can `device` reach memory of `peer` without the host? Two devices of one runtime. */
yoke_status_t yoke_device_can_reach(yoke_device_t *device, yoke_device_t *peer,
                                    bool *out_can);

/** Parts of the last failure on this thread that came from a vendor's library; false and
 *  unchanged outputs when the last failure did not. Strings until the next failure. */
bool yoke_last_vendor_error(const char **out_call, int64_t *out_code,
                            const char **out_name);

#ifdef __cplusplus
}
#endif
#endif
