/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_HOST_H
#define YOKE_BACKENDS_HOST_H

/*
 * The CPU as a live device. Work runs in the thread that enqueues it, at once, except on
 * a queue that waits for a gate or an event: then it is held in the queue's ring and run
 * by whichever thread opens the gate or calls next.
 */

#include <stdatomic.h>
#include "backends/backend.h"

#pragma GCC visibility push(hidden)

#define YOKE_HOST_ALIGNMENT 256u
#define YOKE_HOST_MAX_GROUP 1024u
#define YOKE_HOST_LOCAL_MEMORY 65536u
#define YOKE_HOST_VALUES 4096u /* bytes of a launch's values */
#define YOKE_HOST_RING 1024u   /* operations that a queue can hold */

extern const yoke_backend_ops_t yoke_host_ops;

struct yoke_impl_device {
    yoke_impl_runtime_t *runtime;
};

struct yoke_impl_buffer {
    unsigned char *address;
    uint64_t size;
    bool wrapped;
};

/* How far a queue has come with what it held. Outlives the queue, for events. */
typedef struct yoke_host_timeline {
    _Atomic uint64_t done;
    uint64_t issued; /* under the lock of queue.c */
    _Atomic uint32_t references;
} yoke_host_timeline_t;

struct yoke_impl_event {
    yoke_host_timeline_t *timeline; /* NULL: reached, or never recorded */
    uint64_t ticket;                /* reached when timeline->done is here */
    _Atomic uint64_t stamp;         /* which recording is the last */
    _Atomic int64_t time;           /* nanoseconds of CLOCK_MONOTONIC */
    _Atomic uint32_t references;    /* the handle's, and held records */
};

struct yoke_impl_gate {
    _Atomic uint64_t generation, opened; /* open: equal */
};

typedef struct yoke_host_launch {
    yoke_impl_kernel_t *kernel;
    yoke_launch_t shape;
    uint32_t count;
    const void *arguments[YOKE_MAX_ARGUMENTS]; /* where each value or address lies */
} yoke_host_launch_t;

typedef enum yoke_host_kind {
    YOKE_HOST_COPY,
    YOKE_HOST_FILL,
    YOKE_HOST_CALL,
    YOKE_HOST_RECORD,
    YOKE_HOST_WAIT,
    YOKE_HOST_GATE,
    YOKE_HOST_LAUNCH,
    YOKE_HOST_GEMM
} yoke_host_kind_t;

/* One operation. Ready to run at once, but for waits. */
typedef struct yoke_host_operation {
    yoke_host_kind_t kind;
    union {
        struct {
            void *dst;
            const void *src;
            uint64_t size;
        } copy;
        struct {
            unsigned char *dst;
            unsigned char pattern[16];
            uint64_t pattern_size, size;
        } fill;
        struct {
            void (*function)(void *);
            void *context;
        } call;
        struct {
            yoke_impl_event_t *event;
            uint64_t stamp;
        } record;
        struct {
            yoke_host_timeline_t *timeline;
            uint64_t ticket;
        } wait;
        struct {
            yoke_impl_gate_t *gate;
            uint64_t generation;
        } gate;
        yoke_host_launch_t launch;
        yoke_impl_gemm_t gemm;
    } as;
    _Alignas(16) unsigned char values[YOKE_HOST_VALUES]; /* of launches */
} yoke_host_operation_t;

typedef struct yoke_host_fibers yoke_host_fibers_t;

struct yoke_impl_queue {
    _Atomic bool held;
    _Atomic bool failed; /* no memory for the stacks of a held launch */
    /* Under the lock of queue.c: */
    bool draining; /* some thread runs its first operation */
    uint32_t first, count;
    yoke_host_operation_t *ring;
    yoke_impl_queue_t *next; /* of those that are held */
    yoke_host_timeline_t *timeline;
    /* Of the thread that runs it: */
    yoke_host_fibers_t *fibers; /* stacks of items, made at the first barrier */
    unsigned char *local;       /* local memory given as an argument */
};

/* --- queue.c ------------------------------------------------------------------------ */

/* Where to put the next operation of a queue that is held, with the lock taken; NULL: run
 * it now. Waits while the ring is full. With `force` never NULL. */
yoke_host_operation_t *yoke_host_hold(yoke_impl_queue_t *queue, bool force);
/* The operation is there; gives the lock back. Returns its ticket. */
uint64_t yoke_host_held(yoke_impl_queue_t *queue);

yoke_status_t yoke_host_queue_create(yoke_impl_device_t *device, int32_t priority,
                                     yoke_impl_queue_t **out_queue);
void yoke_host_queue_destroy(yoke_impl_queue_t *queue);
yoke_status_t yoke_host_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_host_queue_query(yoke_impl_queue_t *queue);
yoke_status_t yoke_host_event_create(yoke_impl_device_t *device, uint32_t flags,
                                     yoke_impl_event_t **out_event);
void yoke_host_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_host_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue);
yoke_status_t yoke_host_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_host_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_host_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                      double *out_seconds);
yoke_status_t yoke_host_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event);
yoke_status_t yoke_host_gate_create(yoke_impl_device_t *device,
                                    yoke_impl_gate_t **out_gate);
void yoke_host_gate_destroy(yoke_impl_gate_t *gate);
yoke_status_t yoke_host_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate);
yoke_status_t yoke_host_gate_open(yoke_impl_gate_t *gate);
yoke_status_t yoke_host_gate_reset(yoke_impl_gate_t *gate);

/* --- operation.c -------------------------------------------------------------------- */

/* Run an operation that is not a wait. */
void yoke_host_operation_run(yoke_impl_queue_t *queue,
                             const yoke_host_operation_t *operation);
void yoke_host_record_now(yoke_impl_event_t *event, uint64_t stamp);

yoke_status_t yoke_host_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_host_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                              const void *src, uint64_t size);
yoke_status_t yoke_host_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                             uint64_t size);
yoke_status_t yoke_host_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             const void *pattern, size_t pattern_size, uint64_t size);
yoke_status_t yoke_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                             void *context);

/* --- blas.c ------------------------------------------------------------------------- */

yoke_status_t yoke_host_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm);
const char *yoke_host_gemm_library(yoke_impl_device_t *device);
void yoke_host_gemm_run(const yoke_impl_gemm_t *gemm);

/* --- programs: compile.c, program.c, launch.c, prepared.c, fibers.c ------------------
 *
 * A program is a shared object. One made from the portable dialect exports the table
 * below, whose layout the epilogue of compile.c repeats; in any other, a kernel NAME is
 * a function yoke_host_native_t of that name, called once a launch. */

/* Which item runs; the same as in hal/kernels/dialect_host.inc. */
typedef struct yoke_host_self {
    uint32_t group[3], groups[3], item[3], items[3];
    void (*barrier)(void *context);
    void *context;
} yoke_host_self_t;

/* With a barrier: one item; else all of the launch. arguments[i]: where the value or the
 * address lies. */
typedef void (*yoke_host_run_t)(const void *const *arguments,
                                const yoke_host_self_t *self);
typedef void (*yoke_host_native_t)(const uint32_t groups[3], const uint32_t items[3],
                                   const void *const *arguments);

#define YOKE_HOST_PROGRAM_SYMBOL "yoke_host_program"
#define YOKE_HOST_PROGRAM_VERSION 1u
#define YOKE_HOST_SIZE_SPAN 0u
#define YOKE_HOST_SIZE_LOCAL UINT32_MAX

typedef struct yoke_host_entry {
    const char *name;
    yoke_host_run_t run;
    const uint32_t *sizes; /* of each parameter, or YOKE_HOST_SIZE_* */
    uint32_t count, barrier;
} yoke_host_entry_t;

typedef struct yoke_host_table {
    uint32_t version, count;
    const yoke_host_entry_t *entries;
} yoke_host_table_t;

struct yoke_impl_kernel {
    yoke_host_entry_t entry;
    yoke_host_native_t native; /* or NULL */
};

/* The compiler that would be taken ($YOKE_HOST_CC, cc, gcc, clang); NULL: none. Caller
 * frees. */
char *yoke_host_compiler(void);
/* A shared object of the source; caller frees. */
yoke_status_t yoke_host_compile(const yoke_impl_program_source_t *source,
                                yoke_log_text_t log, void *log_context, char **out_data,
                                size_t *out_size);
/* New folder for files of one program; caller frees. */
char *yoke_host_scratch_make(void);
/* Remove it with all that is in it. */
void yoke_host_scratch_remove(const char *folder);

yoke_status_t yoke_host_program_create(yoke_impl_device_t *device,
                                       const yoke_impl_program_source_t *source,
                                       yoke_log_text_t log, void *log_context,
                                       yoke_impl_program_t **out_program);
void yoke_host_program_destroy(yoke_impl_program_t *program);
yoke_status_t yoke_host_program_binary(yoke_impl_program_t *program,
                                       const void **out_data, size_t *out_size);
const char *yoke_host_compiler_version(yoke_impl_device_t *device);
yoke_status_t yoke_host_kernel_create(yoke_impl_program_t *program, const char *name,
                                      yoke_impl_kernel_t **out_kernel);
void yoke_host_kernel_destroy(yoke_impl_kernel_t *kernel);

yoke_status_t yoke_host_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                               const yoke_launch_t *launch,
                               const yoke_argument_t *arguments, size_t count);
void yoke_host_launch_run(yoke_impl_queue_t *queue, const yoke_host_launch_t *launch);
/* The same, with the stacks that it needs made first. */
yoke_status_t yoke_host_launch_now(yoke_impl_queue_t *queue,
                                   const yoke_host_launch_t *launch);
/* Can this kernel be launched so? */
yoke_status_t yoke_host_launch_check(const yoke_impl_kernel_t *kernel,
                                     const yoke_launch_t *launch,
                                     const yoke_argument_t *arguments, size_t count);

/* prepared.c */
yoke_status_t yoke_host_prepared_create(yoke_impl_kernel_t *kernel,
                                        const yoke_launch_t *launch,
                                        const yoke_argument_t *arguments, size_t count,
                                        yoke_impl_prepared_t **out_prepared);
void yoke_host_prepared_destroy(yoke_impl_prepared_t *prepared);
yoke_status_t yoke_host_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                          const yoke_argument_t *argument);
yoke_status_t yoke_host_prepared_geometry(yoke_impl_prepared_t *prepared,
                                          const yoke_launch_t *launch);
yoke_status_t yoke_host_prepared_launch(yoke_impl_queue_t *queue,
                                        yoke_impl_prepared_t *prepared);

/* All groups of a launch whose items wait for each other. false: no memory for stacks. */
bool yoke_host_fibers_run(yoke_host_fibers_t **fibers, yoke_host_run_t run,
                          const void *const *arguments, const yoke_launch_t *shape);
/* Stacks for so many items beforehand. */
bool yoke_host_fibers_reserve(yoke_host_fibers_t **fibers, uint32_t count);
void yoke_host_fibers_destroy(yoke_host_fibers_t *fibers);

#pragma GCC visibility pop
#endif
