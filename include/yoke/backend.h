/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKEND_H
#define YOKE_BACKEND_H

/**
 * The table that a live backend fills, and the ABI of plug-ins. docs/add-a-backend.md
 * leads through it; backends/null/ is the one to clone.
 *
 * A plug-in is a shared object that exports
 *
 *     const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major);
 *
 * and returns NULL when it does not know `abi_major`. It links libyoke for the few
 * functions at the end of this file.
 *
 * ABI: the order and types of slots never change within a major; a minor adds at the end.
 * `struct_size` says how many there are; a slot past it counts as NULL. Slots marked
 * REQUIRED are never NULL. A NULL slot of another kind switches off its capability.
 *
 * What the callers of a table see to, so that a backend need not:
 *   - handles and outputs are not NULL; sizes are not 0; enqueues are not made on lost
 * devices
 *   - one queue is used by one thread at a time; everything else may be called at once
 *   - objects are ended before their device, the device before the runtime
 *   - reference counts, layers, limits of memory
 * What a backend sees to:
 *   - the thread's current device and context are the same after each call as before
 *     (yoke/device.h), and no vendor call is made for it where they are right already
 *   - copy, write, read, fill, launch, prepared_launch, record, wait: no lock, no
 * allocation, no vendor call beyond the one that does it
 *   - outputs are set only on success, and given to vendors zeroed
 *   - failures go through yoke_backend_fail(), with the right status:
 * YOKE_ERR_DEVICE_LOST when the vendor's code means that the device or its context is
 * gone, YOKE_ERR_DEVICE_MEMORY when memory is out, YOKE_ERR_UNREACHABLE, else
 * YOKE_ERR_SYSTEM
 *   - it never aborts, prints, exits, changes signal handlers, or makes threads
 *
 * The implementation's objects are its own; the incomplete types below keep them apart.
 */

#include "yoke/adopt.h"
#include "yoke/device.h"
#include "yoke/element.h"
#include "yoke/kernel.h"
#include "yoke/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

#define YOKE_BACKEND_ABI_MAJOR 1u
/** Minors: 1 added prepared launches (prepared_create and what follows it). */
#define YOKE_BACKEND_ABI_MINOR 1u

typedef struct yoke_impl_runtime yoke_impl_runtime_t; /* one loaded library */
typedef struct yoke_impl_device yoke_impl_device_t;
typedef struct yoke_impl_queue yoke_impl_queue_t;
typedef struct yoke_impl_event yoke_impl_event_t;
typedef struct yoke_impl_buffer yoke_impl_buffer_t;
typedef struct yoke_impl_program yoke_impl_program_t;
typedef struct yoke_impl_kernel yoke_impl_kernel_t;
typedef struct yoke_impl_gate yoke_impl_gate_t;
typedef struct yoke_impl_prepared yoke_impl_prepared_t;

/** A place in a buffer, as a backend sees it. */
typedef struct yoke_impl_span {
    yoke_impl_buffer_t *buffer;
    uint64_t offset;
} yoke_impl_span_t;

/** A matrix product for the vendor's library; leading dimensions and strides are filled
 * in. */
typedef struct yoke_impl_gemm {
    uint32_t element, output; /* yoke_element_t */
    uint32_t transpose_a, transpose_b;
    uint64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
    double alpha, beta;
    yoke_impl_span_t a, b, c;
} yoke_impl_gemm_t;

/** What a backend tells of one device: text in its own storage, living as long as the
 *  runtime. Zeroed before the call. */
typedef struct yoke_impl_info {
    size_t struct_size;
    const char *name, *vendor, *architecture, *library, *version;
    uint32_t valid; /* YOKE_INFO_* */
    uint32_t kind;  /* yoke_device_kind_t */
    yoke_pci_t pci;
    uint8_t uuid[16];
    uint64_t memory_total;
    uint64_t capabilities; /* YOKE_CAP_*; bits whose slots are NULL are cleared by the
                              caller */
    uint32_t compute_units, subgroup, max_group, max_groups[3];
    uint64_t local_memory;
    uint32_t alignment;
    uint32_t dialect; /* yoke_dialect_t: the prologue for YOKE_PROGRAM_DIALECT */
} yoke_impl_info_t;

/** Which prologue makes the portable dialect the runtime's language. */
typedef enum yoke_dialect {
    YOKE_DIALECT_NONE = 0,
    YOKE_DIALECT_HOST = 1,  /**< C, run by hal's group runner */
    YOKE_DIALECT_CUDA = 2,  /**< CUDA C++ and its namesakes */
    YOKE_DIALECT_HIP = 3,   /**< HIP C++ */
    YOKE_DIALECT_OPENCL = 4 /**< OpenCL C 1.2 */
} yoke_dialect_t;

/** A program to make. */
typedef struct yoke_impl_program_source {
    const void *data; /* source: NUL-terminated, prologue included; or a binary */
    size_t size;      /* without the NUL */
    const char *name;
    const char *options; /* "" for none */
    bool binary;
} yoke_impl_program_source_t;

/** Receives the compiler's log; may be called several times. */
typedef void (*yoke_log_text_t)(void *context, const char *text, size_t size);

typedef struct yoke_backend_ops {
    size_t struct_size;
    uint16_t abi_major, abi_minor;
    uint32_t reserved;
    const char *name; /**< "cuda": lower case, digits, '_' */

    /* --- runtime and devices --- */
    /** REQUIRED. Load the library and initialise it; called once, kept for the process.
     *  YOKE_ERR_NOT_FOUND when the library is not there. */
    yoke_status_t (*runtime_open)(yoke_impl_runtime_t **out_runtime);
    /** REQUIRED. 0 devices is a success. */
    yoke_status_t (*device_count)(yoke_impl_runtime_t *runtime, uint32_t *out_count);
    /** REQUIRED. Must not make a context where the runtime lets it. */
    yoke_status_t (*device_info)(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info);
    /** REQUIRED. `native` is NULL, or what yoke_device_from_native() was given (then the
     *  ordinal was found by device_find). */
    yoke_status_t (*device_open)(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native,
                                 yoke_impl_device_t **out_device);
    /** REQUIRED */
    void (*device_close)(yoke_impl_device_t *device);
    /** Optional (YOKE_CAP_FREE_MEMORY). Bytes. */
    yoke_status_t (*memory_info)(yoke_impl_device_t *device, uint64_t *out_free,
                                 uint64_t *out_total);
    /** REQUIRED. Name of a vendor's code ("CUDA_ERROR_OUT_OF_MEMORY"), NULL for unknown.
     */
    const char *(*error_name)(int64_t code);

    /* --- buffers --- */
    /** REQUIRED. YOKE_ERR_UNSUPPORTED for a kind that the device has not. */
    yoke_status_t (*buffer_create)(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out_buffer);
    /** REQUIRED */
    void (*buffer_destroy)(yoke_impl_buffer_t *buffer);
    /** Optional. Addresses; NULL where there is none. They never change. */
    void *(*buffer_address)(yoke_impl_buffer_t *buffer);
    void *(*buffer_host_address)(yoke_impl_buffer_t *buffer);

    /* --- queues --- */
    /** REQUIRED. priority: -1 high, 0, 1 low. */
    yoke_status_t (*queue_create)(yoke_impl_device_t *device, int32_t priority,
                                  yoke_impl_queue_t **out_queue);
    /** REQUIRED. The queue is empty or its device lost. */
    void (*queue_destroy)(yoke_impl_queue_t *queue);
    /** REQUIRED */
    yoke_status_t (*queue_sync)(yoke_impl_queue_t *queue);
    /** REQUIRED. YOKE_OK or YOKE_ERR_NOT_READY (without yoke_backend_fail()). */
    yoke_status_t (*queue_query)(yoke_impl_queue_t *queue);
    /** REQUIRED. Buffers of this device, or host memory of this runtime; of another
     * device of this runtime only with YOKE_CAP_PEER. */
    yoke_status_t (*copy)(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          yoke_impl_span_t src, uint64_t size);
    /** REQUIRED */
    yoke_status_t (*write)(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                           const void *src, uint64_t size);
    /** REQUIRED */
    yoke_status_t (*read)(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                          uint64_t size);
    /** REQUIRED. pattern_size is 1, 2, 4, 8 or 16. What a runtime cannot fill natively,
     * it does by doubling copies or a staged pattern. */
    yoke_status_t (*fill)(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          const void *pattern, size_t pattern_size, uint64_t size);
    /** Optional (YOKE_CAP_HOST_CALL) */
    yoke_status_t (*host_call)(yoke_impl_queue_t *queue, void (*function)(void *),
                               void *context);

    /* --- events --- */
    /** REQUIRED */
    yoke_status_t (*event_create)(yoke_impl_device_t *device, uint32_t flags,
                                  yoke_impl_event_t **out_event);
    /** REQUIRED */
    void (*event_destroy)(yoke_impl_event_t *event);
    /** REQUIRED */
    yoke_status_t (*event_record)(yoke_impl_event_t *event, yoke_impl_queue_t *queue);
    /** REQUIRED. YOKE_OK or YOKE_ERR_NOT_READY (without yoke_backend_fail()). */
    yoke_status_t (*event_query)(yoke_impl_event_t *event);
    /** REQUIRED */
    yoke_status_t (*event_sync)(yoke_impl_event_t *event);
    /** REQUIRED */
    yoke_status_t (*queue_wait)(yoke_impl_queue_t *queue, yoke_impl_event_t *event);
    /** Optional (YOKE_CAP_TIMING) */
    yoke_status_t (*event_elapsed)(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                   double *out_seconds);

    /* --- gates (YOKE_CAP_GATE): a queue waits for the host. Not to be made of a host
     * call that sleeps: runtimes may run the host functions of all queues on one thread,
     * and a gate held there holds up what is to open it. --- */
    /** Optional. Closed. */
    yoke_status_t (*gate_create)(yoke_impl_device_t *device, yoke_impl_gate_t **out_gate);
    void (*gate_destroy)(yoke_impl_gate_t *gate);
    /** Enqueue: later work waits until the gate is opened after its last gate_reset(). */
    yoke_status_t (*gate_wait)(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate);
    /** Any thread; at most once between resets; no vendor lock may be held for long. */
    yoke_status_t (*gate_open)(yoke_impl_gate_t *gate);
    /** Close it again; nothing waits for it now. May allocate. */
    yoke_status_t (*gate_reset)(yoke_impl_gate_t *gate);

    /* --- peers (YOKE_CAP_PEER) --- */
    /** Optional. Two devices of this runtime. */
    yoke_status_t (*peer_query)(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                bool *out_can);
    /** Optional. Enable it, once, before the first copy; "already enabled" is a success.
     */
    yoke_status_t (*peer_enable)(yoke_impl_device_t *device, yoke_impl_device_t *peer);

    /* --- programs (YOKE_CAP_SOURCE, _NATIVE_SOURCE, _BINARY) --- */
    /** Optional. YOKE_ERR_BAD_INPUT: does not compile (without a message: the caller
     * makes it, of the log). */
    yoke_status_t (*program_create)(yoke_impl_device_t *device,
                                    const yoke_impl_program_source_t *source,
                                    yoke_log_text_t log, void *log_context,
                                    yoke_impl_program_t **out_program);
    void (*program_destroy)(yoke_impl_program_t *program);
    /** Optional. Lives as long as the program. */
    yoke_status_t (*program_binary)(yoke_impl_program_t *program, const void **out_data,
                                    size_t *out_size);
    /** Version of the compiler and whatever else changes its output, for the cache's key.
     */
    const char *(*compiler_version)(yoke_impl_device_t *device);
    yoke_status_t (*kernel_create)(yoke_impl_program_t *program, const char *name,
                                   yoke_impl_kernel_t **out_kernel);
    void (*kernel_destroy)(yoke_impl_kernel_t *kernel);
    yoke_status_t (*launch)(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                            const yoke_launch_t *launch, const yoke_argument_t *arguments,
                            size_t count);

    /* --- adoption (YOKE_CAP_WRAP); wrapped objects are ended by the same destroy slots,
     *     which then leave the native handle alone --- */
    /** Optional. Ordinal of the device that a native handle means. */
    yoke_status_t (*device_find)(yoke_impl_runtime_t *runtime,
                                 const yoke_native_t *native, uint32_t *out_ordinal);
    yoke_status_t (*queue_wrap)(yoke_impl_device_t *device, void *handle,
                                yoke_impl_queue_t **out_queue);
    yoke_status_t (*event_wrap)(yoke_impl_device_t *device, void *handle,
                                yoke_impl_event_t **out_event);
    yoke_status_t (*buffer_wrap)(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out_buffer);
    void (*device_native)(yoke_impl_device_t *device, yoke_native_t *out);
    void *(*queue_native)(yoke_impl_queue_t *queue);
    void *(*event_native)(yoke_impl_event_t *event);
    void *(*buffer_native)(yoke_impl_buffer_t *buffer);

    /* --- the vendor's libraries --- */
    /** Optional (YOKE_CAP_GEMM). YOKE_ERR_UNSUPPORTED (without a message) for types that
     * the library does not take. May load it at first use. */
    yoke_status_t (*gemm)(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm);
    /** Optional. "cuBLASLt 13.0.2", NULL when it cannot be loaded. Static or per runtime.
     */
    const char *(*gemm_library)(yoke_impl_device_t *device);
    /** Optional: operators of the vendor for devices without a compiler: elementwise
     *  reduction dst = a op b. YOKE_ERR_UNSUPPORTED (without a message): not this one. */
    yoke_status_t (*reduce)(yoke_impl_queue_t *queue, uint32_t element, uint32_t op,
                            yoke_impl_span_t dst, yoke_impl_span_t a, yoke_impl_span_t b,
                            uint64_t count);

    /** Optional. Call `function` on this thread with the device (its context) current, as
     * a framework's allocator expects; restore what was current before. NULL: the runtime
     * has no such thing. */
    yoke_status_t (*with_current)(yoke_impl_device_t *device, void (*function)(void *),
                                  void *context);

    /* --- since minor 1: prepared launches. All five or none; without them the callers
     *     keep the arguments and repeat launch(). --- */
    /** Optional. Lay a launch out so that repeating it is one vendor call that is told
     * nothing new. `launch`, `arguments` and the values behind them (aligned to 16) stay
     * where they are until prepared_destroy(), as they are now or as the setters say;
     * after this call spans may name buffers that have ended, except in prepared_launch()
     * and of the argument that is set. The caller has checked what
     * yoke_kernel_launch() checks with validation; kinds, sizes and count against the
     * kernel's parameters are left to do. Several of one kernel are used by several
     * threads at once, and the kernel by another: they share nothing that a launch
     * changes. */
    yoke_status_t (*prepared_create)(yoke_impl_kernel_t *kernel,
                                     const yoke_launch_t *launch,
                                     const yoke_argument_t *arguments, size_t count,
                                     yoke_impl_prepared_t **out_prepared);
    /** Before its kernel is destroyed. */
    void (*prepared_destroy)(yoke_impl_prepared_t *prepared);
    /** Of the same kind as before, a value of the same size. On success the caller puts
     * it in the place of arguments[index]: until then that holds the old one, and `value`
     * stays where it is. After a failure all is as it was. What was enqueued before must
     * not see it. */
    yoke_status_t (*prepared_argument)(yoke_impl_prepared_t *prepared, size_t index,
                                       const yoke_argument_t *argument);
    /** The same for groups and work-items. */
    yoke_status_t (*prepared_geometry)(yoke_impl_prepared_t *prepared,
                                       const yoke_launch_t *launch);
    /** Enqueue it. No buffer that it binds was destroyed. */
    yoke_status_t (*prepared_launch)(yoke_impl_queue_t *queue,
                                     yoke_impl_prepared_t *prepared);
} yoke_backend_ops_t;

typedef const yoke_backend_ops_t *(*yoke_backend_entry_t)(uint32_t abi_major);

/* --- services for backends ------------------------------------------------------------
 */

/** Record a failure: "<call>: <name of code> (<code>)[: <text>]"; returns `status`.
 * `text` may be NULL. No allocation. */
yoke_status_t yoke_backend_fail(const yoke_backend_ops_t *ops, yoke_status_t status,
                                const char *call, int64_t code, const char *text);
/** A failure that is not a vendor's. */
yoke_status_t yoke_backend_fail_text(yoke_status_t status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/** The implementation's buffer behind a public one, for the spans of launch(); NULL for
 * NULL. The first field of a yoke_buffer_t is this pointer, which is part of the ABI. */
static inline yoke_impl_buffer_t *yoke_backend_buffer(const yoke_buffer_t *buffer)
{
    return buffer == NULL ? NULL : *(yoke_impl_buffer_t *const *)(const void *)buffer;
}

#ifdef __cplusplus
}
#endif
#endif
