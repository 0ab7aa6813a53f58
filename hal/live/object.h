/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_OBJECT_H
#define YOKE_HAL_LIVE_OBJECT_H

/*
 * What is behind the handles of yoke/device.h, buffer.h, queue.h, kernel.h, pool.h,
 * transfer.h and operators.h. For hal/ alone.
 *
 * Every object begins with the backend's own object (for buffers that is part of the
 * ABI: yoke_backend_buffer(); pools, transfers and operators have none), the backend's
 * table, and a word of flags that is 0 as long as nothing is to be done but to call the
 * backend: no layer is on and the device is not lost. Enqueueing reads that word once and
 * takes no lock; what is rare is out of line, in layers.c.
 */

#include <pthread.h>
#include <stdatomic.h>
#include "yoke/backend.h"

#pragma GCC visibility push(hidden)

/* Flags of objects. */
#define YOKE_FLAG_VALIDATE YOKE_LAYER_VALIDATE
#define YOKE_FLAG_TRACE YOKE_LAYER_TRACE
#define YOKE_FLAG_LOST (1u << 2)  /* the device is gone */
#define YOKE_FLAG_FREED (1u << 3) /* kept by the validation layer to be recognised */
#define YOKE_FLAG_STALE                                                                  \
    (1u << 4) /* a prepared launch: a buffer that it binds is gone                       \
               */

/* Values that memory which is no object is unlikely to hold. */
typedef enum yoke_object_kind {
    YOKE_OBJECT_DEVICE = 0x796f4445,
    YOKE_OBJECT_BUFFER = 0x796f4255,
    YOKE_OBJECT_QUEUE = 0x796f5155,
    YOKE_OBJECT_EVENT = 0x796f4556,
    YOKE_OBJECT_PROGRAM = 0x796f5052,
    YOKE_OBJECT_KERNEL = 0x796f4b45,
    YOKE_OBJECT_PREPARED = 0x796f504c,
    YOKE_OBJECT_POOL = 0x796f504f,
    YOKE_OBJECT_TRANSFER = 0x796f5452,
    YOKE_OBJECT_OPERATORS = 0x796f4f50
} yoke_object_kind_t;

typedef struct yoke_runtime yoke_runtime_t; /* registry.h */
typedef struct yoke_account yoke_account_t;

typedef struct yoke_object {
    union {
        yoke_impl_device_t *device;
        yoke_impl_buffer_t *buffer;
        yoke_impl_queue_t *queue;
        yoke_impl_event_t *event;
        yoke_impl_program_t *program;
        yoke_impl_kernel_t *kernel;
        yoke_impl_prepared_t *prepared;
    } impl;
    const yoke_backend_ops_t *ops; /* full size: slots that a plug-in lacks are NULL */
    _Atomic uint32_t flags;
    uint32_t kind;                       /* yoke_object_kind_t */
    yoke_device_t *device;               /* held; of a device: itself */
    struct yoke_object *previous, *next; /* in the device's list, under its lock */
} yoke_object_t;

struct yoke_device {
    yoke_object_t object;
    atomic_uint holds; /* the caller's and one per object */
    atomic_bool closed;
    yoke_runtime_t *runtime;
    yoke_device_info_t info;
    yoke_dialect_t dialect;
    char label[48]; /* "cuda:1", for messages */
    yoke_allocator_t allocator;
    bool has_allocator;
    yoke_account_t *account;
    _Atomic uint64_t limit;         /* bytes; 0: none */
    _Atomic uint64_t peers_enabled; /* bit per ordinal below 64 */
    pthread_mutex_t lock;           /* the list of objects, and enabling of peers */
    yoke_object_t *objects;
};

/* A native object that was wrapped, and whom to tell when it is let go. */
typedef struct yoke_wrapped {
    bool is; /* the native object is not ours */
    void *handle;
    yoke_release_t release;
    void *context;
} yoke_wrapped_t;

typedef struct yoke_bound yoke_bound_t;

struct yoke_buffer {
    yoke_object_t object;
    uint64_t size;
    yoke_memory_kind_t kind;
    uint64_t counted; /* bytes in the device's account */
    yoke_wrapped_t wrapped;
    void *allocated;               /* from the framework's allocator */
    _Atomic(yoke_bound_t *) bound; /* arguments of prepared launches; prepared.c */
};
_Static_assert(offsetof(struct yoke_buffer, object.impl.buffer) == 0,
               "yoke_backend_buffer() of yoke/backend.h reads it: part of the ABI");

struct yoke_queue {
    yoke_object_t object;
    yoke_wrapped_t wrapped;
};

struct yoke_event {
    yoke_object_t object;
    uint32_t options; /* YOKE_EVENT_* */
    bool recorded;    /* kept by the validation layer only */
    yoke_wrapped_t wrapped;
};

struct yoke_program {
    yoke_object_t object;
    atomic_uint holds;                  /* the caller's and one per kernel */
    struct yoke_signatures *signatures; /* with validation, of text that tells them */
};

struct yoke_kernel {
    yoke_object_t object;
    atomic_uint holds; /* the caller's and one per prepared launch */
    yoke_program_t *program;
    const struct yoke_signature *signature; /* NULL: not known */
    char *name;
};

/* What stands behind one argument of a prepared launch. */
struct yoke_bound {
    yoke_prepared_launch_t *owner;
    _Atomic(yoke_buffer_t *) buffer; /* of a span; NULL: none, or it is gone */
    bool gone;                       /* with the next two under the lock of prepared.c */
    yoke_bound_t *previous, *next;   /* of the same buffer */
    unsigned char *places[2];        /* of a value: the present one, and for the next */
};

struct yoke_prepared_launch {
    yoke_object_t object;
    /* The backend's slot, or one that repeats launch() for backends without. */
    yoke_status_t (*enqueue)(yoke_impl_queue_t *queue, yoke_impl_prepared_t *prepared);
    yoke_kernel_t *kernel; /* held */
    yoke_launch_t launch;
    size_t count;
    yoke_bound_t *bound;
    yoke_argument_t arguments[]; /* `count`; behind them `bound`, then the values */
};

/** The buffer ends: launches that bind it are refused from now on. */
void yoke_prepared_forget(yoke_buffer_t *buffer);
/** Why a stale launch is refused. @retval YOKE_ERR_USAGE */
yoke_status_t yoke_prepared_stale(const yoke_prepared_launch_t *prepared,
                                  const char *call);
/** One hold less; the last ends the kernel. */
void yoke_kernel_release(yoke_kernel_t *kernel);

/** A handle as an object; NULL stays NULL. */
#define YOKE_OBJECT(handle) ((const yoke_object_t *)(const void *)(handle))

#define YOKE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define YOKE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static inline uint32_t yoke_object_flags(const yoke_object_t *object)
{
    return atomic_load_explicit(&object->flags, memory_order_relaxed);
}

/**
 * Check a handle at the door of a public function: NULL or (recognised by the validation
 * layer) freed or of another kind is YOKE_ERR_USAGE, a lost device YOKE_ERR_DEVICE_LOST;
 * with a message that begins with `call`.
 */
yoke_status_t yoke_object_check_slow(const yoke_object_t *object, yoke_object_kind_t kind,
                                     const char *call);
static inline yoke_status_t yoke_object_check(const yoke_object_t *object,
                                              yoke_object_kind_t kind, const char *call)
{
    if (YOKE_LIKELY(object != NULL && yoke_object_flags(object) == 0))
        return YOKE_OK;
    return yoke_object_check_slow(object, kind, call);
}
/** The same, but a lost device is no failure: for queries that make no vendor call. */
yoke_status_t yoke_object_check_alive(const yoke_object_t *object,
                                      yoke_object_kind_t kind, const char *call);

static inline yoke_status_t yoke_object_check_handle(const yoke_object_t *object,
                                                     yoke_object_kind_t kind,
                                                     const char *call)
{
    if (YOKE_LIKELY(object != NULL && yoke_object_flags(object) == 0))
        return YOKE_OK;
    return yoke_object_check_alive(object, kind, call);
}

/** Pass a backend's answer on; YOKE_ERR_DEVICE_LOST marks the device and its objects. */
yoke_status_t yoke_device_answer_slow(yoke_device_t *device, yoke_status_t status);
static inline yoke_status_t yoke_device_answer(yoke_device_t *device,
                                               yoke_status_t status)
{
    if (YOKE_LIKELY(status == YOKE_OK))
        return status;
    return yoke_device_answer_slow(device, status);
}

void yoke_device_retain(yoke_device_t *device);
void yoke_device_release(yoke_device_t *device);
/** One physical device, perhaps by two handles. */
static inline bool yoke_device_same(const yoke_device_t *a, const yoke_device_t *b)
{
    return a == b || (a->runtime == b->runtime && a->info.ordinal == b->info.ordinal);
}

/**
 * A zeroed object of `size` bytes that is not yet in the device's list; ended with
 * yoke_object_discard() or, after yoke_object_attach(), yoke_object_end(). NULL: out of
 * memory, told.
 */
void *yoke_object_new(size_t size, yoke_object_kind_t kind, yoke_device_t *device);
void yoke_object_discard(yoke_object_t *object);
/** Into the device's list, with the device's flags of now; holds the device. */
void yoke_object_attach(yoke_object_t *object);
/**
 * Out of the list and freed, or kept aside where the validation layer is on; lets the
 * device go.
 */
void yoke_object_end(yoke_object_t *object);
/** May this handle be ended? false for NULL, and for one that was freed before (told). */
bool yoke_object_endable(const yoke_object_t *object, yoke_object_kind_t kind,
                         const char *call);

/**
 * Take the caller's options over defaults that are in `out` already: both begin with
 * struct_size. NULL options leave the defaults.
 * @retval YOKE_ERR_USAGE  a struct_size that cannot be
 */
yoke_status_t yoke_options_take(void *out, size_t size, const void *options,
                                const char *call);

/** Set bytes aside in the device's account. @retval YOKE_ERR_DEVICE_MEMORY */
yoke_status_t yoke_account_take(yoke_device_t *device, uint64_t size);
void yoke_account_give(yoke_device_t *device, uint64_t size);
uint64_t yoke_account_used(const yoke_device_t *device);

#pragma GCC visibility pop
#endif
