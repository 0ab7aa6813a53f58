/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_KERNEL_H
#define YOKE_KERNEL_H

/**
 * Programs, kernels and launches. Kernels are a capability: devices without a run-time
 * compiler take native binaries at most, and yoke/operators.h still works on them.
 *
 * The portable dialect (docs/kernel-dialect.md) is C with macros that every run-time
 * compiler understands after a prologue of ours: YOKE_KERNEL, YOKE_GLOBAL, YOKE_LOCAL,
 * YOKE_BARRIER() and so on. Speed of the dialect is never taken for speed of the device.
 *
 * Threads, ownership and errors: yoke/device.h.
 */

#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_program yoke_program_t;
typedef struct yoke_kernel yoke_kernel_t;
typedef struct yoke_prepared_launch yoke_prepared_launch_t;

typedef enum yoke_program_format {
    YOKE_PROGRAM_DIALECT = 0, /**< portable source; needs YOKE_CAP_SOURCE */
    YOKE_PROGRAM_NATIVE =
        1, /**< CUDA C++, HIP C++, OpenCL C, C; YOKE_CAP_NATIVE_SOURCE */
    YOKE_PROGRAM_BINARY =
        2 /**< cubin, PTX, code object, SPIR-V, cl binary; YOKE_CAP_BINARY */
} yoke_program_format_t;

typedef struct yoke_program_options {
    size_t struct_size;
    yoke_program_format_t format;
    uint32_t flags;   /**< YOKE_PROGRAM_NO_CACHE */
    const void *data; /**< source text (no NUL needed) or binary; read during the call */
    size_t size;      /**< bytes of it */
    const char *name; /**< for messages: "axpy.c"; NULL: "program" */
    const char *
        options; /**< for the compiler: "-DN=4 -DT=float"; only -D in the dialect; NULL */
} yoke_program_options_t;

#define YOKE_PROGRAM_NO_CACHE (1u << 0)

/**
 * Compile or load. Compiled code is kept in $YOKE_CACHE_DIR (default
 * $XDG_CACHE_HOME/yoke,
 * ~/.cache/yoke; "off": nowhere) under a key of source, options, device architecture,
 * backend and versions of driver, compiler and prologue. A damaged entry is made anew.
 *
 * May take seconds, and may start a process (the host's compiler; hipRTC, which aborts on
 * architectures it does not know).
 *
 * @retval YOKE_ERR_BAD_INPUT    it does not compile; the message ends with the compiler's
 * log, which yoke_program_log() gives whole
 * @retval YOKE_ERR_UNSUPPORTED  no such capability, or the compiler does not know the
 * device
 */
yoke_status_t yoke_program_create(yoke_device_t *device,
                                  const yoke_program_options_t *options,
                                  yoke_program_t **out_program);
void yoke_program_destroy(yoke_program_t *program);
/** What the compiler said in the last yoke_program_create() on this thread; "" for
 * nothing. Valid until the next. */
const char *yoke_program_log(void);
/** The compiled code, to be given back as YOKE_PROGRAM_BINARY on an equal device; it
 * lives as long as the program. */
yoke_status_t yoke_program_binary(yoke_program_t *program, const void **out_data,
                                  size_t *out_size);

/** Kernels, and the launches prepared of them, keep their program.
 * @retval YOKE_ERR_NOT_FOUND  no kernel of that name in the program */
yoke_status_t yoke_kernel_create(yoke_program_t *program, const char *name,
                                 yoke_kernel_t **out_kernel);
void yoke_kernel_destroy(yoke_kernel_t *kernel);

typedef enum yoke_argument_kind {
    YOKE_ARGUMENT_SPAN = 0,  /**< a pointer into a buffer; buffer NULL: a NULL pointer */
    YOKE_ARGUMENT_VALUE = 1, /**< bytes of a scalar or struct */
    YOKE_ARGUMENT_LOCAL = 2  /**< local memory of `size` bytes; at most one, the last */
} yoke_argument_kind_t;

typedef struct yoke_argument {
    uint32_t kind; /**< yoke_argument_kind_t */
    uint32_t size; /**< bytes of the value, or of local memory */
    yoke_span_t span;
    const void *value;
} yoke_argument_t;

static inline yoke_argument_t yoke_argument_span(yoke_buffer_t *buffer, uint64_t offset)
{
    yoke_argument_t argument = {YOKE_ARGUMENT_SPAN, 0, {NULL, 0}, NULL};
    argument.span.buffer = buffer;
    argument.span.offset = offset;
    return argument;
}

static inline yoke_argument_t yoke_argument_value(const void *value, uint32_t size)
{
    yoke_argument_t argument = {YOKE_ARGUMENT_VALUE, 0, {NULL, 0}, NULL};
    argument.size = size;
    argument.value = value;
    return argument;
}

static inline yoke_argument_t yoke_argument_local(uint32_t size)
{
    yoke_argument_t argument = {YOKE_ARGUMENT_LOCAL, 0, {NULL, 0}, NULL};
    argument.size = size;
    return argument;
}

#define YOKE_MAX_ARGUMENTS 32

typedef struct yoke_launch {
    uint32_t groups[3]; /**< groups in each dimension, at least 1 */
    uint32_t local[3];  /**< work-items of a group in each dimension, at least 1 */
} yoke_launch_t;

/**
 * Enqueue a launch.
 * @param arguments  read before the call returns; `count` at most YOKE_MAX_ARGUMENTS
 * @retval YOKE_ERR_USAGE         (validation) number, kinds or sizes of arguments that
 * are not the kernel's, where the text of a program in the dialect tells them
 * @retval YOKE_ERR_OUT_OF_RANGE  (validation) a group too large, an offset at or past the
 * buffer's end or not aligned, too many arguments
 */
yoke_status_t yoke_kernel_launch(yoke_queue_t *queue, yoke_kernel_t *kernel,
                                 const yoke_launch_t *launch,
                                 const yoke_argument_t *arguments, size_t count);

/* --- prepared launches ---------------------------------------------------------------
 */

/**
 * Bind a kernel, its groups and its arguments once, for launches that are repeated:
 * everything is checked and laid out here, and yoke_queue_launch_prepared() hands it to
 * the runtime.
 *
 * The values are copied. The launch keeps its kernel, and so program and device, alive;
 * their handles may be ended. Buffers it does not keep: once a bound one is destroyed,
 * the launch is refused (YOKE_ERR_USAGE) until yoke_prepared_launch_set_argument() gives
 * that argument another. A buffer that goes back to a pool is not destroyed: do not
 * launch with it.
 *
 * Threads: one prepared launch is used by one thread at a time, on any queues of its
 * device; several of one kernel, and the kernel itself, may be used at once.
 *
 * The checks of this and of the two setters are always made, with or without the
 * validation layer.
 *
 * @param arguments  as for yoke_kernel_launch()
 * @retval YOKE_ERR_USAGE         NULL; a dimension of 0; a value without bytes; a buffer
 *                                of another device; kinds, sizes or count that the kernel
 *                                does not take, where the runtime tells them
 * @retval YOKE_ERR_OUT_OF_RANGE  a group too large, an offset at or past the end or not
 *                                aligned, too many arguments
 */
yoke_status_t yoke_prepared_launch_create(yoke_kernel_t *kernel,
                                          const yoke_launch_t *launch,
                                          const yoke_argument_t *arguments, size_t count,
                                          yoke_prepared_launch_t **out_prepared);
/** What was enqueued with it must have passed. NULL is allowed. */
void yoke_prepared_launch_destroy(yoke_prepared_launch_t *prepared);

/**
 * Give one argument another value, span, or size of local memory. Its kind stays, and the
 * size of a value. What was enqueued before keeps what it had. After a failure the launch
 * is as it was. Allocates nothing; takes a lock where a span gets another buffer.
 *
 * @retval YOKE_ERR_USAGE         another kind or size; else as for create
 * @retval YOKE_ERR_OUT_OF_RANGE  no such argument; else as for create
 */
yoke_status_t yoke_prepared_launch_set_argument(yoke_prepared_launch_t *prepared,
                                                size_t index,
                                                const yoke_argument_t *argument);
/** Change groups and work-items; otherwise as set_argument. Takes no lock. */
yoke_status_t yoke_prepared_launch_set_geometry(yoke_prepared_launch_t *prepared,
                                                const yoke_launch_t *launch);

/**
 * Enqueue a prepared launch.
 *
 * Takes no lock, allocates nothing, and makes the one vendor call of the launch, where
 * the runtime needs no more for it (docs/performance-hal.md).
 *
 * @retval YOKE_ERR_USAGE  NULL; a buffer that it binds was destroyed; (validation) a
 * freed handle, a queue of another device
 */
yoke_status_t yoke_queue_launch_prepared(yoke_queue_t *queue,
                                         yoke_prepared_launch_t *prepared);

#ifdef __cplusplus
}
#endif
#endif
