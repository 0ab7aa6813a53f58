/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_LEVEL_ZERO_LIVE_H
#define YOKE_BACKENDS_LEVEL_ZERO_LIVE_H

/*
 * Live Level Zero devices: entry points, and the objects behind the handles of
 * yoke/backend.h. Values and layouts: Level Zero specification 1.4 (ze_api.h), compared
 * with the installed header by tests/hal/header_check_level_zero.c, but for two that came
 * later: zeCommandListHostSynchronize (specification 1.6) and
 * ZE_COMMAND_QUEUE_FLAG_IN_ORDER (1.7), both from include/ze_api.h of
 * github.com/oneapi-src/level-zero at specification 1.17.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "backends/level_zero/ze.h"
#include "hal/loader.h"
#include "yoke/backend.h"

typedef struct yoke_ze_context *yoke_ze_context_t;
typedef struct yoke_ze_list *yoke_ze_list_t;
typedef struct yoke_ze_pool *yoke_ze_pool_t;
typedef struct yoke_ze_event *yoke_ze_event_t;
typedef struct yoke_ze_module *yoke_ze_module_t;
typedef struct yoke_ze_build_log *yoke_ze_build_log_t;
typedef struct yoke_ze_kernel *yoke_ze_kernel_t;

enum {
    YOKE_ZE_NOT_READY = 1,
    YOKE_ZE_ERROR_OUT_OF_HOST_MEMORY = 0x70000002,
    YOKE_ZE_ERROR_OUT_OF_DEVICE_MEMORY = 0x70000003,
    YOKE_ZE_ERROR_MODULE_BUILD_FAILURE = 0x70000004,
    YOKE_ZE_ERROR_MODULE_LINK_FAILURE = 0x70000005,
    YOKE_ZE_ERROR_DEVICE_REQUIRES_RESET = 0x70000006,
    YOKE_ZE_ERROR_UNSUPPORTED_FEATURE = 0x78000003,
    YOKE_ZE_ERROR_UNSUPPORTED_SIZE = 0x78000009,
    YOKE_ZE_ERROR_INVALID_NATIVE_BINARY = 0x7800000f,
    YOKE_ZE_ERROR_INVALID_KERNEL_NAME = 0x78000011,
    YOKE_ZE_ERROR_INVALID_GROUP_SIZE_DIMENSION = 0x78000013,
    YOKE_ZE_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION = 0x78000014,
    YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_INDEX = 0x78000015,
    YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_SIZE = 0x78000016,
    YOKE_ZE_ERROR_OVERLAPPING_REGIONS = 0x7800001a,

    YOKE_ZE_COMPUTE_PROPERTIES = 0x4,
    YOKE_ZE_MODULE_PROPERTIES = 0x5,
    YOKE_ZE_QUEUE_GROUP_PROPERTIES = 0x6,
    YOKE_ZE_MEMORY_ACCESS_PROPERTIES = 0x8,
    YOKE_ZE_CONTEXT_DESC = 0xd,
    YOKE_ZE_QUEUE_DESC = 0xe,
    YOKE_ZE_EVENT_POOL_DESC = 0x10,
    YOKE_ZE_EVENT_DESC = 0x11,
    YOKE_ZE_DEVICE_MEMORY_DESC = 0x15,
    YOKE_ZE_HOST_MEMORY_DESC = 0x16,
    YOKE_ZE_ALLOCATION_PROPERTIES = 0x17,
    YOKE_ZE_MODULE_DESC = 0x1b,
    YOKE_ZE_KERNEL_DESC = 0x1d,
    YOKE_ZE_KERNEL_PROPERTIES = 0x1e,
    YOKE_ZE_RELAXED_LIMITS_DESC = 0x20001,
    YOKE_ZE_DEVICE_PROPERTIES_1_2 = 0x20006,

    YOKE_ZE_MODULE_FP64 = 1 << 1,
    YOKE_ZE_MODULE_ATOMICS64 = 1 << 2,
    YOKE_ZE_GROUP_COMPUTE = 1 << 0,
    YOKE_ZE_GROUP_COPY = 1 << 1,
    YOKE_ZE_ACCESS_RW = 1 << 0,
    YOKE_ZE_QUEUE_IN_ORDER = 1 << 1, /* specification 1.7 */
    YOKE_ZE_MODE_ASYNCHRONOUS = 2,
    YOKE_ZE_PRIORITY_NORMAL = 0,
    YOKE_ZE_PRIORITY_LOW = 1,
    YOKE_ZE_PRIORITY_HIGH = 2,
    YOKE_ZE_POOL_HOST_VISIBLE = 1 << 0,
    YOKE_ZE_SCOPE_HOST = 1 << 2,
    YOKE_ZE_RELAXED_MAX_SIZE = 1 << 0,
    YOKE_ZE_MEMORY_UNKNOWN = 0,
    YOKE_ZE_MEMORY_DEVICE = 2,
    YOKE_ZE_FORMAT_SPIRV = 0,
    YOKE_ZE_FORMAT_NATIVE = 1,
    YOKE_ZE_SUBGROUP_SIZES = 8,
};
#define YOKE_ZE_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

typedef struct yoke_ze_compute_properties {
    uint32_t stype;
    void *next;
    uint32_t max_total_group, max_group[3], max_groups[3], max_local, subgroup_count,
        subgroups[YOKE_ZE_SUBGROUP_SIZES];
} yoke_ze_compute_properties_t;

typedef struct yoke_ze_module_properties {
    uint32_t stype;
    void *next;
    uint32_t spirv_version, flags, fp16, fp32, fp64, max_arguments, printf_size;
    uint8_t native[16];
} yoke_ze_module_properties_t;

typedef struct yoke_ze_group_properties {
    uint32_t stype;
    void *next;
    uint32_t flags;
    size_t max_pattern;
    uint32_t queues;
} yoke_ze_group_properties_t;

typedef struct yoke_ze_access_properties {
    uint32_t stype;
    void *next;
    uint32_t host, device, shared_single, shared_cross, shared_system;
} yoke_ze_access_properties_t;

typedef struct yoke_ze_context_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags;
} yoke_ze_context_desc_t;

typedef struct yoke_ze_queue_desc {
    uint32_t stype;
    const void *next;
    uint32_t ordinal, index, flags, mode, priority;
} yoke_ze_queue_desc_t;

typedef struct yoke_ze_pool_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags, count;
} yoke_ze_pool_desc_t;

typedef struct yoke_ze_event_desc {
    uint32_t stype;
    const void *next;
    uint32_t index, signal, wait;
} yoke_ze_event_desc_t;

typedef struct yoke_ze_device_memory_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags, ordinal;
} yoke_ze_device_memory_desc_t;

typedef struct yoke_ze_host_memory_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags;
} yoke_ze_host_memory_desc_t;

typedef struct yoke_ze_relaxed_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags;
} yoke_ze_relaxed_desc_t;

typedef struct yoke_ze_allocation {
    uint32_t stype;
    void *next;
    uint32_t type;
    uint64_t id, page_size;
} yoke_ze_allocation_t;

typedef struct yoke_ze_module_desc {
    uint32_t stype;
    const void *next;
    uint32_t format;
    size_t size;
    const uint8_t *data;
    const char *flags;
    const void *constants;
} yoke_ze_module_desc_t;

typedef struct yoke_ze_kernel_desc {
    uint32_t stype;
    const void *next;
    uint32_t flags;
    const char *name;
} yoke_ze_kernel_desc_t;

typedef struct yoke_ze_kernel_properties {
    uint32_t stype;
    void *next;
    uint32_t arguments, required_group[3], required_subgroups, required_subgroup,
        max_subgroup, max_subgroups, local, private_memory, spill;
    uint8_t uuid[32];
} yoke_ze_kernel_properties_t;

typedef struct yoke_ze_group_count {
    uint32_t x, y, z;
} yoke_ze_group_count_t;

typedef struct yoke_ze_live {
    yoke_ze_t query;
    uint32_t (*compute_properties)(yoke_ze_device_t, yoke_ze_compute_properties_t *);
    uint32_t (*module_properties)(yoke_ze_device_t, yoke_ze_module_properties_t *);
    uint32_t (*group_properties)(yoke_ze_device_t, uint32_t *,
                                 yoke_ze_group_properties_t *);
    uint32_t (*access_properties)(yoke_ze_device_t, yoke_ze_access_properties_t *);
    uint32_t (*can_access_peer)(yoke_ze_device_t, yoke_ze_device_t, uint8_t *);
    uint32_t (*context_create)(yoke_ze_driver_t, const yoke_ze_context_desc_t *,
                               yoke_ze_context_t *);
    uint32_t (*context_destroy)(yoke_ze_context_t);
    uint32_t (*list_immediate)(yoke_ze_context_t, yoke_ze_device_t,
                               const yoke_ze_queue_desc_t *, yoke_ze_list_t *);
    uint32_t (*list_destroy)(yoke_ze_list_t);
    uint32_t (*list_sync)(yoke_ze_list_t, uint64_t); /* specification 1.6, or NULL */
    uint32_t (*stamp)(yoke_ze_list_t, uint64_t *, yoke_ze_event_t, uint32_t,
                      yoke_ze_event_t *);
    uint32_t (*barrier)(yoke_ze_list_t, yoke_ze_event_t, uint32_t, yoke_ze_event_t *);
    uint32_t (*copy)(yoke_ze_list_t, void *, const void *, size_t, yoke_ze_event_t,
                     uint32_t, yoke_ze_event_t *);
    uint32_t (*fill)(yoke_ze_list_t, void *, const void *, size_t, size_t,
                     yoke_ze_event_t, uint32_t, yoke_ze_event_t *);
    uint32_t (*launch)(yoke_ze_list_t, yoke_ze_kernel_t, const yoke_ze_group_count_t *,
                       yoke_ze_event_t, uint32_t, yoke_ze_event_t *);
    uint32_t (*pool_create)(yoke_ze_context_t, const yoke_ze_pool_desc_t *, uint32_t,
                            yoke_ze_device_t *, yoke_ze_pool_t *);
    uint32_t (*pool_destroy)(yoke_ze_pool_t);
    uint32_t (*event_create)(yoke_ze_pool_t, const yoke_ze_event_desc_t *,
                             yoke_ze_event_t *);
    uint32_t (*event_destroy)(yoke_ze_event_t);
    uint32_t (*event_signal)(yoke_ze_event_t);
    uint32_t (*event_sync)(yoke_ze_event_t, uint64_t);
    uint32_t (*event_query)(yoke_ze_event_t);
    uint32_t (*event_reset)(yoke_ze_event_t);
    uint32_t (*alloc_device)(yoke_ze_context_t, const yoke_ze_device_memory_desc_t *,
                             size_t, size_t, yoke_ze_device_t, void **);
    uint32_t (*alloc_host)(yoke_ze_context_t, const yoke_ze_host_memory_desc_t *, size_t,
                           size_t, void **);
    uint32_t (*alloc_shared)(yoke_ze_context_t, const yoke_ze_device_memory_desc_t *,
                             const yoke_ze_host_memory_desc_t *, size_t, size_t,
                             yoke_ze_device_t, void **);
    uint32_t (*free)(yoke_ze_context_t, void *);
    uint32_t (*allocation)(yoke_ze_context_t, const void *, yoke_ze_allocation_t *,
                           yoke_ze_device_t *);
    uint32_t (*module_create)(yoke_ze_context_t, yoke_ze_device_t,
                              const yoke_ze_module_desc_t *, yoke_ze_module_t *,
                              yoke_ze_build_log_t *);
    uint32_t (*module_destroy)(yoke_ze_module_t);
    uint32_t (*module_binary)(yoke_ze_module_t, size_t *, uint8_t *);
    uint32_t (*log_text)(yoke_ze_build_log_t, size_t *, char *);
    uint32_t (*log_destroy)(yoke_ze_build_log_t);
    uint32_t (*kernel_create)(yoke_ze_module_t, const yoke_ze_kernel_desc_t *,
                              yoke_ze_kernel_t *);
    uint32_t (*kernel_destroy)(yoke_ze_kernel_t);
    uint32_t (*kernel_properties)(yoke_ze_kernel_t, yoke_ze_kernel_properties_t *);
    uint32_t (*kernel_group)(yoke_ze_kernel_t, uint32_t, uint32_t, uint32_t);
    uint32_t (*kernel_argument)(yoke_ze_kernel_t, uint32_t, size_t, const void *);
} yoke_ze_live_t;

/* How far a queue has come, as the host knows. Kept by the runtime after its queue has
 * ended, since events remember it; given to the next queue, which counts on. */
typedef struct yoke_ze_progress {
    struct yoke_ze_progress *next; /* all of them */
    bool in_use;
    uint64_t submitted; /* tickets given; by the queue's thread */
    _Atomic uint64_t passed;
} yoke_ze_progress_t;

#define YOKE_ZE_WAITS 4

/*
 * A native event, which is either signalled or not, with what must have happened before
 * it may be reset: its signal, and every wait that was enqueued for it.
 */
typedef struct yoke_ze_mark {
    struct yoke_ze_mark *next; /* of a list of spare ones */
    yoke_ze_event_t event;
    uint64_t *stamp; /* host memory of 8 bytes, for times; NULL: none */
    bool used;       /* signalled, or to be */
    bool crowded;    /* too many queues wait for it: kept until the device ends */
    yoke_ze_progress_t *recorder;
    uint64_t ticket;
    uint32_t wait_count;
    struct {
        yoke_ze_progress_t *queue;
        uint64_t ticket;
    } waits[YOKE_ZE_WAITS];
} yoke_ze_mark_t;

typedef struct yoke_ze_driver_slot {
    yoke_ze_driver_t driver;
    uint32_t version; /* of its interface */
    yoke_ze_context_t context;
    size_t context_users;
} yoke_ze_driver_slot_t;

typedef struct yoke_ze_slot {
    yoke_ze_driver_slot_t *driver;
    yoke_ze_device_t device;
    yoke_ze_device_properties_t properties;
    uint32_t group;     /* queue group that computes and copies */
    size_t max_pattern; /* of its fills */
    bool in_order;      /* immediate lists can be in order by themselves */
    bool system;        /* the device reaches ordinary host memory */
    double tick;        /* seconds */
    uint64_t ticks;     /* mask of the bits that count */
    yoke_impl_info_t info;
    char name[YOKE_ZE_NAME_SIZE + 1], architecture[16], version[64];
} yoke_ze_slot_t;

struct yoke_impl_runtime {
    yoke_library_t library;
    yoke_ze_live_t ze;
    yoke_ze_driver_slot_t *drivers;
    size_t driver_count;
    yoke_ze_slot_t *slots;
    size_t slot_count;
    char *compiler; /* how SPIR-V is made, for the cache's key; NULL: not at all */
    pthread_mutex_t lock;
    yoke_ze_progress_t *progress;
};

#define YOKE_ZE_POOL_EVENTS 64

typedef struct yoke_ze_event_pool {
    struct yoke_ze_event_pool *next;
    yoke_ze_pool_t pool;
    uint32_t used;
    yoke_ze_mark_t marks[YOKE_ZE_POOL_EVENTS];
} yoke_ze_event_pool_t;

struct yoke_impl_device {
    yoke_impl_runtime_t *runtime;
    const yoke_ze_live_t *ze;
    yoke_ze_slot_t *slot;
    yoke_ze_context_t context;
    bool adopted; /* the context is the caller's */
    pthread_mutex_t lock;
    yoke_ze_event_pool_t *pools;
    yoke_ze_mark_t *spare; /* some not yet to be reset */
};

struct yoke_impl_buffer {
    yoke_impl_device_t *device;
    uint64_t id; /* never used again: what kernels remember their arguments by */
    unsigned char *pointer;
    uint64_t size;
    bool host, wrapped;
};

#define YOKE_ZE_CHUNK ((size_t)1 << 20)

/* Pinned memory between ordinary memory and the device, made at first use. */
typedef struct yoke_ze_stage {
    unsigned char *memory[2];
    yoke_ze_mark_t *mark[2];
    unsigned turn;
} yoke_ze_stage_t;

struct yoke_impl_queue {
    yoke_impl_device_t *device;
    const yoke_ze_live_t *ze;
    yoke_ze_list_t list;
    yoke_ze_progress_t *progress;
    bool in_order; /* the list orders its commands itself */
    bool pending;  /* a command that may still run when the next starts */
    bool dirty;    /* work came after `probe` */
    bool wrapped;
    yoke_ze_mark_t *probe; /* for sync and query */
    yoke_ze_stage_t stage;
};

#define YOKE_ZE_EVENT_MARKS 4

struct yoke_impl_event {
    yoke_impl_device_t *device;
    bool timing;
    yoke_ze_event_t wrapped; /* the caller's event, or NULL */
    yoke_ze_mark_t *current; /* NULL: never recorded */
    yoke_ze_mark_t *marks[YOKE_ZE_EVENT_MARKS];
};

struct yoke_impl_gate {
    yoke_impl_device_t *device;
    yoke_ze_mark_t *mark;
};

struct yoke_impl_program {
    yoke_impl_device_t *device;
    yoke_ze_module_t module;
    pthread_mutex_t lock; /* binary */
    uint8_t *binary;
    size_t binary_size;
};

typedef struct yoke_ze_argument {
    uint32_t kind, size; /* size 0: unknown */
    /* bytes of the value; of a span: number of the buffer, and offset */
    unsigned char value[16];
} yoke_ze_argument_t;

struct yoke_impl_kernel {
    yoke_impl_device_t *device;
    yoke_impl_program_t *program;
    char *name;
    yoke_ze_kernel_t kernel;
    uint32_t argument_count;
    uint32_t group[3];
    yoke_ze_argument_t arguments[YOKE_MAX_ARGUMENTS];
};

extern const yoke_backend_ops_t yoke_level_zero_ops;

/* live_errors.c */
yoke_status_t yoke_ze_fail(const char *call, uint32_t code);

/* live_info.c */
void yoke_ze_slot_fill(yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot);
void yoke_ze_slot_peers(yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot);

/* live_runtime.c */
yoke_status_t yoke_ze_runtime_open(yoke_impl_runtime_t **out_runtime);
yoke_status_t yoke_ze_device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count);
yoke_status_t yoke_ze_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                  yoke_impl_info_t *out_info);
yoke_status_t yoke_ze_device_find(yoke_impl_runtime_t *runtime,
                                  const yoke_native_t *native, uint32_t *out_ordinal);
/* live_device.c */
yoke_status_t yoke_ze_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                  const yoke_native_t *native,
                                  yoke_impl_device_t **out_device);
void yoke_ze_device_close(yoke_impl_device_t *device);
void yoke_ze_device_native(yoke_impl_device_t *device, yoke_native_t *out);
yoke_status_t yoke_ze_peer_query(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                 bool *out_can);
yoke_status_t yoke_ze_peer_enable(yoke_impl_device_t *device, yoke_impl_device_t *peer);
yoke_status_t yoke_ze_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                    uint64_t size, yoke_impl_buffer_t **out_buffer);
yoke_status_t yoke_ze_buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                  uint64_t size, yoke_impl_buffer_t **out_buffer);
void yoke_ze_buffer_destroy(yoke_impl_buffer_t *buffer);
void *yoke_ze_buffer_address(yoke_impl_buffer_t *buffer);
void *yoke_ze_buffer_host_address(yoke_impl_buffer_t *buffer);
yoke_status_t yoke_ze_host_memory(yoke_impl_device_t *device, size_t size,
                                  void **out_memory);

/* live_queue.c */
/* Before a command that may overlap those before it. */
static inline yoke_status_t yoke_ze_begin(yoke_impl_queue_t *queue)
{
    if (queue->pending && !queue->in_order) {
        uint32_t code = queue->ze->barrier(queue->list, NULL, 0, NULL);
        if (code != YOKE_ZE_SUCCESS)
            return yoke_ze_fail("zeCommandListAppendBarrier", code);
    }
    queue->pending = true;
    queue->dirty = true;
    return YOKE_OK;
}
yoke_status_t yoke_ze_queue_create(yoke_impl_device_t *device, int32_t priority,
                                   yoke_impl_queue_t **out_queue);
yoke_status_t yoke_ze_queue_wrap(yoke_impl_device_t *device, void *handle,
                                 yoke_impl_queue_t **out_queue);
void yoke_ze_queue_destroy(yoke_impl_queue_t *queue);
yoke_status_t yoke_ze_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_ze_queue_query(yoke_impl_queue_t *queue);
void *yoke_ze_queue_native(yoke_impl_queue_t *queue);

/* live_copy.c */
yoke_status_t yoke_ze_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                           yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_ze_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            const void *src, uint64_t size);
yoke_status_t yoke_ze_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                           uint64_t size);
yoke_status_t yoke_ze_fill_buffer(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *pattern, size_t pattern_size,
                                  uint64_t size);
void yoke_ze_stage_free(yoke_impl_queue_t *queue);

/* live_mark.c */
/* One that is not signalled. */
yoke_status_t yoke_ze_mark_take(yoke_impl_device_t *device, bool timing,
                                yoke_ze_mark_t **out_mark);
/* Back to the device, whatever still waits for it. */
void yoke_ze_mark_give(yoke_impl_device_t *device, yoke_ze_mark_t *mark);
/* Make it unsignalled if nothing can still need it; false: it is needed. */
/* Of a mark that no queue was told to wait for; YOKE_ERR_NOT_READY: not signalled. */
yoke_status_t yoke_ze_mark_reset(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark);
bool yoke_ze_mark_renew(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark);
/* Enqueue its signal behind all work, and the time with it (only of a mark that was
 * taken for times). */
yoke_status_t yoke_ze_mark_record(yoke_ze_mark_t *mark, yoke_impl_queue_t *queue,
                                  bool timing);
yoke_status_t yoke_ze_mark_query(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark);
yoke_status_t yoke_ze_mark_sync(const yoke_ze_live_t *ze, yoke_ze_mark_t *mark);
/* Enqueue a wait for it. */
yoke_status_t yoke_ze_mark_wait(yoke_ze_mark_t *mark, yoke_impl_queue_t *queue);
void yoke_ze_passed(yoke_ze_progress_t *progress, uint64_t ticket);
void yoke_ze_marks_free(yoke_impl_device_t *device);

/* live_event.c */
yoke_status_t yoke_ze_event_create(yoke_impl_device_t *device, uint32_t flags,
                                   yoke_impl_event_t **out_event);
yoke_status_t yoke_ze_event_wrap(yoke_impl_device_t *device, void *handle,
                                 yoke_impl_event_t **out_event);
void yoke_ze_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_ze_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue);
yoke_status_t yoke_ze_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_ze_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_ze_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                    double *out_seconds);
void *yoke_ze_event_native(yoke_impl_event_t *event);
yoke_status_t yoke_ze_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event);
yoke_status_t yoke_ze_gate_create(yoke_impl_device_t *device,
                                  yoke_impl_gate_t **out_gate);
void yoke_ze_gate_destroy(yoke_impl_gate_t *gate);
yoke_status_t yoke_ze_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate);
yoke_status_t yoke_ze_gate_open(yoke_impl_gate_t *gate);
yoke_status_t yoke_ze_gate_reset(yoke_impl_gate_t *gate);

/* live_program.c */
yoke_status_t yoke_ze_program_create(yoke_impl_device_t *device,
                                     const yoke_impl_program_source_t *source,
                                     yoke_log_text_t log, void *log_context,
                                     yoke_impl_program_t **out_program);
void yoke_ze_program_destroy(yoke_impl_program_t *program);
yoke_status_t yoke_ze_program_binary(yoke_impl_program_t *program, const void **out_data,
                                     size_t *out_size);
const char *yoke_ze_compiler_version(yoke_impl_device_t *device);
yoke_status_t yoke_ze_kernel_create(yoke_impl_program_t *program, const char *name,
                                    yoke_impl_kernel_t **out_kernel);
void yoke_ze_kernel_destroy(yoke_impl_kernel_t *kernel);
yoke_status_t yoke_ze_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                             const yoke_launch_t *launch,
                             const yoke_argument_t *arguments, size_t count);

/* zeKernelSetArgumentValue of any kind. */
yoke_status_t yoke_ze_set_argument(const yoke_impl_device_t *device,
                                   yoke_ze_kernel_t kernel, uint32_t index,
                                   const yoke_argument_t *argument);
yoke_status_t yoke_ze_set_group(const yoke_impl_device_t *device, yoke_ze_kernel_t kernel,
                                const uint32_t local[3]);
/* live_prepared.c */
yoke_status_t yoke_ze_prepared_create(yoke_impl_kernel_t *kernel,
                                      const yoke_launch_t *launch,
                                      const yoke_argument_t *arguments, size_t count,
                                      yoke_impl_prepared_t **out_prepared);
void yoke_ze_prepared_destroy(yoke_impl_prepared_t *prepared);
yoke_status_t yoke_ze_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                        const yoke_argument_t *argument);
yoke_status_t yoke_ze_prepared_geometry(yoke_impl_prepared_t *prepared,
                                        const yoke_launch_t *launch);
yoke_status_t yoke_ze_prepared_launch(yoke_impl_queue_t *queue,
                                      yoke_impl_prepared_t *prepared);

/* spirv.c: OpenCL C to SPIR-V by clang and llvm-spirv, as processes. */
/* "clang-14 + llvm-spirv-14", NULL when they are not there; caller frees. */
char *yoke_ze_spirv_tools(void);
/* @retval YOKE_ERR_BAD_INPUT  does not compile; the log says why. Caller frees. */
yoke_status_t yoke_ze_spirv_compile(const yoke_impl_program_source_t *source,
                                    yoke_log_text_t log, void *log_context,
                                    void **out_data, size_t *out_size);
/* process.c */
/* Run a program to its end or the deadline; what it prints is added to the log.
 * @retval YOKE_ERR_NO  it ended with another code than 0 */
yoke_status_t yoke_ze_run(const char *path, const char *const *arguments, double seconds,
                          yoke_log_text_t log, void *log_context);

#endif
