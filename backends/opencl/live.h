/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_OPENCL_LIVE_H
#define YOKE_BACKENDS_OPENCL_LIVE_H

/*
 * Live OpenCL devices: entry points, and the objects behind the handles of
 * yoke/backend.h. Constants: OpenCL 3.0 specification and its extension documents;
 * tests/hal/header_check_opencl.c compares them with the installed headers.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "backends/opencl/cl.h"
#include "hal/loader.h"
#include "yoke/backend.h"

enum {
    YOKE_CL_DEVICE_NOT_AVAILABLE = -2,
    YOKE_CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    YOKE_CL_OUT_OF_RESOURCES = -5,
    YOKE_CL_OUT_OF_HOST_MEMORY = -6,
    YOKE_CL_BUILD_PROGRAM_FAILURE = -11,
    YOKE_CL_MISALIGNED_SUB_BUFFER_OFFSET = -13,
    YOKE_CL_COMPILE_PROGRAM_FAILURE = -15,
    YOKE_CL_LINK_PROGRAM_FAILURE = -17,
    YOKE_CL_INVALID_VALUE = -30,
    YOKE_CL_INVALID_CONTEXT = -34,
    YOKE_CL_INVALID_COMMAND_QUEUE = -36,
    YOKE_CL_INVALID_BINARY = -42,
    YOKE_CL_INVALID_BUILD_OPTIONS = -43,
    YOKE_CL_INVALID_KERNEL_NAME = -46,
    YOKE_CL_INVALID_ARG_INDEX = -49,
    YOKE_CL_INVALID_ARG_VALUE = -50,
    YOKE_CL_INVALID_ARG_SIZE = -51,
    YOKE_CL_INVALID_KERNEL_ARGS = -52,
    YOKE_CL_INVALID_WORK_GROUP_SIZE = -54,
    YOKE_CL_INVALID_WORK_ITEM_SIZE = -55,
    YOKE_CL_INVALID_BUFFER_SIZE = -61,
    YOKE_CL_INVALID_GLOBAL_WORK_SIZE = -63,

    YOKE_CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    YOKE_CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    YOKE_CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* bits */
    YOKE_CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    YOKE_CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    YOKE_CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    YOKE_CL_DEVICE_SVM_CAPABILITIES = 0x1053,
    YOKE_CL_DEVICE_IL_VERSION = 0x105B,
    YOKE_CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL = 0x4191,
    YOKE_CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL = 0x4190,
    YOKE_CL_DEVICE_SHARED_MEM_CAPABILITIES_INTEL = 0x4192, /* SINGLE_DEVICE_ */
    YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
    YOKE_CL_DEVICE_WARP_SIZE_NV = 0x4003,
    YOKE_CL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,
    YOKE_CL_SVM_FINE_GRAIN_BUFFER = 1 << 1,

    YOKE_CL_CONTEXT_DEVICES = 0x1081,
    YOKE_CL_CONTEXT_PLATFORM = 0x1084,
    YOKE_CL_QUEUE_CONTEXT = 0x1090,
    YOKE_CL_QUEUE_DEVICE = 0x1091,
    YOKE_CL_QUEUE_PROPERTIES = 0x1093,
    YOKE_CL_QUEUE_PRIORITY_KHR = 0x1096,
    YOKE_CL_QUEUE_PRIORITY_HIGH = 1 << 0,
    YOKE_CL_QUEUE_PRIORITY_LOW = 1 << 2,
    YOKE_CL_QUEUE_OUT_OF_ORDER = 1 << 0,
    YOKE_CL_QUEUE_PROFILING = 1 << 1,

    YOKE_CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    YOKE_CL_MEM_SVM_FINE_GRAIN_BUFFER = 1 << 10,
    YOKE_CL_MEM_SIZE = 0x1102,
    YOKE_CL_MEM_CONTEXT = 0x1106,
    YOKE_CL_MEM_ASSOCIATED = 0x1107,
    YOKE_CL_MEM_OFFSET = 0x1108,
    YOKE_CL_MEM_ALLOC_TYPE_INTEL = 0x419A,
    YOKE_CL_MEM_TYPE_UNKNOWN_INTEL = 0x4196,
    YOKE_CL_MEM_TYPE_DEVICE_INTEL = 0x4198,
    YOKE_CL_MAP_READ_WRITE = (1 << 0) | (1 << 1),
    YOKE_CL_BUFFER_CREATE_REGION = 0x1220,

    YOKE_CL_PROGRAM_NUM_DEVICES = 0x1162,
    YOKE_CL_PROGRAM_DEVICES = 0x1163,
    YOKE_CL_PROGRAM_BINARY_SIZES = 0x1165,
    YOKE_CL_PROGRAM_BINARIES = 0x1166,
    YOKE_CL_KERNEL_NUM_ARGS = 0x1191,

    YOKE_CL_EVENT_CONTEXT = 0x11D4,
    YOKE_CL_EVENT_STATUS = 0x11D3,
    YOKE_CL_COMPLETE = 0,
    YOKE_CL_PROFILING_END = 0x1283,
};

/* OpenCL 1.2 as 0x102, 3.0 as 0x300. */
#define YOKE_CL_VERSION(major, minor) ((uint32_t)(major) << 8 | (uint32_t)(minor))

typedef struct yoke_ocl_region {
    size_t origin, size;
} yoke_ocl_region_t;

typedef void (*yoke_ocl_notify_t)(yoke_cl_event_t, int32_t, void *);
typedef const yoke_cl_event_t *yoke_ocl_events_t;

/* Entry points that live devices use. Those after `svm_alloc` are of OpenCL 2.0 and
 * later: on a platform of an older version they must not even be called (Oclgrind's never
 * return), see slot->version. */
typedef struct yoke_ocl_live {
    yoke_cl_t query;
    yoke_cl_work_t work;
    int32_t (*retain_context)(yoke_cl_context_t);
    int32_t (*release_context)(yoke_cl_context_t);
    int32_t (*context_info)(yoke_cl_context_t, uint32_t, size_t, void *, size_t *);
    int32_t (*release_queue)(yoke_cl_queue_t);
    int32_t (*queue_info)(yoke_cl_queue_t, uint32_t, size_t, void *, size_t *);
    int32_t (*flush)(yoke_cl_queue_t);
    int32_t (*release_memory)(yoke_cl_memory_t);
    int32_t (*memory_info)(yoke_cl_memory_t, uint32_t, size_t, void *, size_t *);
    yoke_cl_memory_t (*sub_buffer)(yoke_cl_memory_t, uint64_t, uint32_t, const void *,
                                   int32_t *);
    void *(*map)(yoke_cl_queue_t, yoke_cl_memory_t, uint32_t, uint64_t, size_t, size_t,
                 uint32_t, yoke_ocl_events_t, yoke_cl_event_t *, int32_t *);
    int32_t (*unmap)(yoke_cl_queue_t, yoke_cl_memory_t, void *, uint32_t,
                     yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*copy)(yoke_cl_queue_t, yoke_cl_memory_t, yoke_cl_memory_t, size_t, size_t,
                    size_t, uint32_t, yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*event_info)(yoke_cl_event_t, uint32_t, size_t, void *, size_t *);
    int32_t (*wait)(uint32_t, yoke_ocl_events_t);
    int32_t (*release_event)(yoke_cl_event_t);
    int32_t (*retain_event)(yoke_cl_event_t);
    yoke_cl_event_t (*user_event)(yoke_cl_context_t, int32_t *);
    int32_t (*set_user_event)(yoke_cl_event_t, int32_t);
    int32_t (*on_event)(yoke_cl_event_t, int32_t, yoke_ocl_notify_t, void *);
    int32_t (*profiling)(yoke_cl_event_t, uint32_t, size_t, void *, size_t *);
    yoke_cl_program_t (*create_binary)(yoke_cl_context_t, uint32_t,
                                       const yoke_cl_device_t *, const size_t *,
                                       const unsigned char **, int32_t *, int32_t *);
    int32_t (*program_info)(yoke_cl_program_t, uint32_t, size_t, void *, size_t *);
    int32_t (*release_program)(yoke_cl_program_t);
    int32_t (*kernel_info)(yoke_cl_kernel_t, uint32_t, size_t, void *, size_t *);
    int32_t (*release_kernel)(yoke_cl_kernel_t);
    /* 1.1, deprecated by 1.2 */
    int32_t (*marker_1_1)(yoke_cl_queue_t, yoke_cl_event_t *);
    int32_t (*wait_1_1)(yoke_cl_queue_t, uint32_t, yoke_ocl_events_t);
    /* 1.2 */
    int32_t (*marker)(yoke_cl_queue_t, uint32_t, yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*barrier)(yoke_cl_queue_t, uint32_t, yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*fill)(yoke_cl_queue_t, yoke_cl_memory_t, const void *, size_t, size_t,
                    size_t, uint32_t, yoke_ocl_events_t, yoke_cl_event_t *);
    void *(*extension)(yoke_cl_platform_t, const char *);
    /* 2.0 and later */
    void *(*svm_alloc)(yoke_cl_context_t, uint64_t, size_t, uint32_t);
    void (*svm_free)(yoke_cl_context_t, void *);
    int32_t (*svm_copy)(yoke_cl_queue_t, uint32_t, void *, const void *, size_t, uint32_t,
                        yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*svm_fill)(yoke_cl_queue_t, void *, const void *, size_t, size_t, uint32_t,
                        yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*svm_argument)(yoke_cl_kernel_t, uint32_t, const void *);
    yoke_cl_queue_t (*queue_2_0)(yoke_cl_context_t, yoke_cl_device_t, const uint64_t *,
                                 int32_t *);
    yoke_cl_program_t (*create_il)(yoke_cl_context_t, const void *, size_t, int32_t *);
} yoke_ocl_live_t;

/* cl_intel_unified_shared_memory, per platform. */
typedef struct yoke_ocl_usm {
    void *(*host)(yoke_cl_context_t, const uint64_t *, size_t, uint32_t, int32_t *);
    void *(*device)(yoke_cl_context_t, yoke_cl_device_t, const uint64_t *, size_t,
                    uint32_t, int32_t *);
    void *(*shared)(yoke_cl_context_t, yoke_cl_device_t, const uint64_t *, size_t,
                    uint32_t, int32_t *);
    int32_t (*free)(yoke_cl_context_t, void *);
    int32_t (*info)(yoke_cl_context_t, const void *, uint32_t, size_t, void *, size_t *);
    int32_t (*argument)(yoke_cl_kernel_t, uint32_t, const void *);
    int32_t (*fill)(yoke_cl_queue_t, void *, const void *, size_t, size_t, uint32_t,
                    yoke_ocl_events_t, yoke_cl_event_t *);
    int32_t (*copy)(yoke_cl_queue_t, uint32_t, void *, const void *, size_t, uint32_t,
                    yoke_ocl_events_t, yoke_cl_event_t *);
} yoke_ocl_usm_t;

/* One device of one platform, as found when the library was opened. */
typedef struct yoke_ocl_slot {
    yoke_cl_platform_t platform;
    yoke_cl_device_t device;
    uint32_t version; /* the smaller of platform's and device's */
    bool usm, usm_shared;
    bool svm;      /* fine-grain buffers */
    bool gates;    /* user events hold commands without holding the caller */
    bool priority; /* cl_khr_priority_hints */
    bool il;       /* SPIR-V */
    yoke_ocl_usm_t usm_calls;
    yoke_impl_info_t info;
    char *compiler; /* compiler_version() */
    char *texts[5]; /* owned, for info */
    /* The context of all own devices of this slot, so that what is opened twice meets. */
    yoke_cl_context_t context;
    size_t context_users;
} yoke_ocl_slot_t;

struct yoke_impl_runtime {
    yoke_library_t library;
    yoke_ocl_live_t cl;
    yoke_ocl_slot_t *slots;
    size_t slot_count;
    pthread_mutex_t lock; /* context, context_users */
};

struct yoke_impl_device {
    yoke_impl_runtime_t *runtime;
    const yoke_ocl_live_t *cl;
    yoke_ocl_slot_t *slot;
    yoke_cl_context_t context;
    bool adopted;         /* the context is the caller's */
    yoke_cl_queue_t maps; /* for mapping HOST buffers; NULL where memory has addresses */
    pthread_mutex_t lock; /* of `maps` */
};

#define YOKE_CL_SUB_BUFFERS 64 /* a power of two */

/* Start of a cl_mem at an offset; made at first use, kept until the buffer ends. */
typedef struct yoke_ocl_sub {
    uint64_t offset;
    yoke_cl_memory_t memory;
} yoke_ocl_sub_t;

struct yoke_impl_buffer {
    yoke_impl_device_t *device;
    yoke_cl_context_t context;
    uint64_t id; /* never used again: what kernels remember their arguments by */
    uint64_t size;
    yoke_cl_memory_t memory; /* NULL: `pointer` is what device and host know */
    unsigned char *pointer;  /* SVM, USM, or where a HOST cl_mem is mapped; NULL: none */
    bool host;               /* the host may use `pointer` */
    bool usm;                /* else SVM, when there is no cl_mem */
    bool wrapped;
    yoke_cl_memory_t whole; /* of a wrapped sub-buffer: what it is part of */
    uint64_t origin;        /* and where */
    _Atomic(yoke_ocl_sub_t *) subs[YOKE_CL_SUB_BUFFERS];
};

struct yoke_impl_queue {
    yoke_impl_device_t *device;
    const yoke_ocl_live_t *cl;
    yoke_cl_queue_t queue;
    yoke_cl_context_t context;
    yoke_cl_event_t probe; /* of queue_query(): a marker behind the last work seen */
    bool dirty;            /* work came after `probe` */
    bool wrapped;
    bool timed; /* takes times */
    int32_t priority;
    yoke_cl_queue_t first; /* before it took times; NULL: there was no other */
};

struct yoke_impl_event {
    yoke_impl_device_t *device;
    bool timing;
    yoke_cl_event_t event; /* NULL: never recorded */
    bool wrapped;          /* `event` is not ours */
};

struct yoke_impl_gate {
    yoke_impl_device_t *device;
    yoke_cl_event_t event;
};

struct yoke_impl_program {
    yoke_impl_device_t *device;
    yoke_cl_program_t program;
    pthread_mutex_t lock; /* binary */
    unsigned char *binary;
    size_t binary_size;
};

/* What an argument was set to by the last launch, so that it is set again only when it
 * differs. id 0: unknown. */
typedef struct yoke_ocl_argument {
    uint32_t kind, size;
    uint64_t id, offset;
    unsigned char value[16];
} yoke_ocl_argument_t;

struct yoke_impl_kernel {
    yoke_impl_device_t *device;
    yoke_impl_program_t *program;
    char *name;
    yoke_cl_kernel_t kernel;
    uint32_t argument_count;
    /* The last launch; groups[0] 0: none, or one that is not to be repeated as it is. */
    yoke_launch_t last;
    size_t global[3], local[3];
    yoke_ocl_argument_t arguments[YOKE_MAX_ARGUMENTS];
};

extern const yoke_backend_ops_t yoke_opencl_ops;

/* Failures (live_errors.c). */
yoke_status_t yoke_ocl_fail(const char *call, int32_t code);
/* The same for calls that only make memory. */
yoke_status_t yoke_ocl_fail_memory(const char *call, int32_t code);
/* A call that waited for work failed: OUT_OF_RESOURCES is then asked again, since it may
 * be a lost context. `queue` may be NULL. */
yoke_status_t yoke_ocl_fail_wait(const yoke_ocl_live_t *cl, yoke_cl_queue_t queue,
                                 const char *call, int32_t code);

/* Slots of the table, by file. */
/* live_runtime.c */
yoke_status_t yoke_ocl_runtime_open(yoke_impl_runtime_t **out_runtime);
yoke_status_t yoke_ocl_device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count);
yoke_status_t yoke_ocl_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                   yoke_impl_info_t *out_info);
yoke_status_t yoke_ocl_device_find(yoke_impl_runtime_t *runtime,
                                   const yoke_native_t *native, uint32_t *out_ordinal);
yoke_status_t yoke_ocl_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                   const yoke_native_t *native,
                                   yoke_impl_device_t **out_device);
void yoke_ocl_device_close(yoke_impl_device_t *device);
void yoke_ocl_device_native(yoke_impl_device_t *device, yoke_native_t *out);
yoke_status_t yoke_ocl_memory_info(yoke_impl_device_t *device, uint64_t *out_free,
                                   uint64_t *out_total);
/* live_slots.c: fill runtime->slots; live_info.c: one slot from its device */
yoke_status_t yoke_ocl_slots_find(yoke_impl_runtime_t *runtime);
void yoke_ocl_slot_fill(yoke_impl_runtime_t *runtime, yoke_ocl_slot_t *slot,
                        const char *platform_name, const char *platform_version);
bool yoke_ocl_has_word(const char *words, const char *word);
/* live_buffer.c */
yoke_status_t yoke_ocl_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                     uint64_t size, yoke_impl_buffer_t **out_buffer);
yoke_status_t yoke_ocl_buffer_wrap(yoke_impl_device_t *device, uint32_t kind,
                                   void *handle, uint64_t size,
                                   yoke_impl_buffer_t **out_buffer);
void yoke_ocl_buffer_destroy(yoke_impl_buffer_t *buffer);
void *yoke_ocl_buffer_address(yoke_impl_buffer_t *buffer);
void *yoke_ocl_buffer_host_address(yoke_impl_buffer_t *buffer);
void *yoke_ocl_buffer_native(yoke_impl_buffer_t *buffer);
/* The cl_mem that starts at `offset`. *out_loose: not kept, to be released after use. */
yoke_status_t yoke_ocl_buffer_part(yoke_impl_buffer_t *buffer, uint64_t offset,
                                   yoke_cl_memory_t *out_memory, bool *out_loose);
/*
 * A HOST cl_mem is mapped for its life, and while it is no command may touch it: it is
 * unmapped on the queue before the command and mapped again behind it. `lend` also takes
 * the device's lock, `take_back` gives it up: a launch of another thread must not find
 * the buffer unmapped. Only for buffers of which yoke_ocl_is_mapped() is true.
 */
static inline bool yoke_ocl_is_mapped(const yoke_impl_buffer_t *buffer)
{
    return buffer->memory != NULL && buffer->pointer != NULL;
}
yoke_status_t yoke_ocl_lend(yoke_impl_queue_t *queue, yoke_impl_buffer_t *const *buffers,
                            size_t count);
/* Returns `status`, or what went wrong when that is YOKE_OK. */
yoke_status_t yoke_ocl_take_back(yoke_impl_queue_t *queue,
                                 yoke_impl_buffer_t *const *buffers, size_t count,
                                 yoke_status_t status);
/* live_copy.c */
yoke_status_t yoke_ocl_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_ocl_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             const void *src, uint64_t size);
yoke_status_t yoke_ocl_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                            uint64_t size);
yoke_status_t yoke_ocl_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            const void *pattern, size_t pattern_size, uint64_t size);
/* live_queue.c */
yoke_status_t yoke_ocl_queue_create(yoke_impl_device_t *device, int32_t priority,
                                    yoke_impl_queue_t **out_queue);
yoke_status_t yoke_ocl_queue_wrap(yoke_impl_device_t *device, void *handle,
                                  yoke_impl_queue_t **out_queue);
void yoke_ocl_queue_destroy(yoke_impl_queue_t *queue);
/* From now on it takes times. */
yoke_status_t yoke_ocl_queue_time(yoke_impl_queue_t *queue);
yoke_status_t yoke_ocl_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_ocl_queue_query(yoke_impl_queue_t *queue);
void *yoke_ocl_queue_native(yoke_impl_queue_t *queue);
/* live_event.c */
yoke_status_t yoke_ocl_event_create(yoke_impl_device_t *device, uint32_t flags,
                                    yoke_impl_event_t **out_event);
yoke_status_t yoke_ocl_event_wrap(yoke_impl_device_t *device, void *handle,
                                  yoke_impl_event_t **out_event);
void yoke_ocl_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_ocl_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue);
yoke_status_t yoke_ocl_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_ocl_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_ocl_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                     double *out_seconds);
void *yoke_ocl_event_native(yoke_impl_event_t *event);
yoke_status_t yoke_ocl_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event);
yoke_status_t yoke_ocl_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                 void *context);
yoke_status_t yoke_ocl_gate_create(yoke_impl_device_t *device,
                                   yoke_impl_gate_t **out_gate);
void yoke_ocl_gate_destroy(yoke_impl_gate_t *gate);
yoke_status_t yoke_ocl_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate);
yoke_status_t yoke_ocl_gate_open(yoke_impl_gate_t *gate);
yoke_status_t yoke_ocl_gate_reset(yoke_impl_gate_t *gate);
/* Later work waits for an event of the queue's context. */
int32_t yoke_ocl_hold(yoke_impl_queue_t *queue, yoke_cl_event_t event);
/* A marker behind all that is enqueued. */
int32_t yoke_ocl_mark(yoke_impl_queue_t *queue, yoke_cl_event_t *out_event);
/* Status of a native event, as event_query() says it. */
yoke_status_t yoke_ocl_event_status(const yoke_ocl_live_t *cl, yoke_cl_event_t event);
/* live_program.c */
yoke_status_t yoke_ocl_program_create(yoke_impl_device_t *device,
                                      const yoke_impl_program_source_t *source,
                                      yoke_log_text_t log, void *log_context,
                                      yoke_impl_program_t **out_program);
void yoke_ocl_program_destroy(yoke_impl_program_t *program);
yoke_status_t yoke_ocl_program_binary(yoke_impl_program_t *program, const void **out_data,
                                      size_t *out_size);
const char *yoke_ocl_compiler_version(yoke_impl_device_t *device);
/* live_kernel.c */
yoke_status_t yoke_ocl_kernel_create(yoke_impl_program_t *program, const char *name,
                                     yoke_impl_kernel_t **out_kernel);
void yoke_ocl_kernel_destroy(yoke_impl_kernel_t *kernel);
yoke_status_t yoke_ocl_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                              const yoke_launch_t *launch,
                              const yoke_argument_t *arguments, size_t count);
/* Set one argument of a cl_kernel. *out_loose: a sub-buffer to be released once no launch
 * needs it; NULL: none. */
yoke_status_t yoke_ocl_set_span(const yoke_impl_device_t *device, yoke_cl_kernel_t kernel,
                                uint32_t index, yoke_impl_buffer_t *buffer,
                                uint64_t offset, yoke_cl_memory_t *out_loose);
yoke_status_t yoke_ocl_set_value(const yoke_impl_device_t *device,
                                 yoke_cl_kernel_t kernel, uint32_t index,
                                 const yoke_argument_t *argument);
/* live_prepared.c */
yoke_status_t yoke_ocl_prepared_create(yoke_impl_kernel_t *kernel,
                                       const yoke_launch_t *launch,
                                       const yoke_argument_t *arguments, size_t count,
                                       yoke_impl_prepared_t **out_prepared);
void yoke_ocl_prepared_destroy(yoke_impl_prepared_t *prepared);
yoke_status_t yoke_ocl_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                         const yoke_argument_t *argument);
yoke_status_t yoke_ocl_prepared_geometry(yoke_impl_prepared_t *prepared,
                                         const yoke_launch_t *launch);
yoke_status_t yoke_ocl_prepared_launch(yoke_impl_queue_t *queue,
                                       yoke_impl_prepared_t *prepared);

#endif
