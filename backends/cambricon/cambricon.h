/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CAMBRICON_CAMBRICON_H
#define YOKE_BACKENDS_CAMBRICON_CAMBRICON_H

/* What the files of this folder share. */

#include <stdbool.h>
#include "backends/cambricon/cnrt.h"
#include "yoke/backend.h"

#define YOKE_CAMBRICON_PATTERN_SIZE (64 * 1024) /* bytes of a queue's block for fill */
#define YOKE_CAMBRICON_MAX_DEVICES 64

struct yoke_impl_runtime {
    yoke_cnrt_t cnrt;
    char *library;
    char version[32];
    char names[YOKE_CAMBRICON_MAX_DEVICES][64];
};

struct yoke_impl_device {
    yoke_impl_runtime_t *runtime;
    int ordinal;
};

struct yoke_impl_buffer {
    yoke_impl_device_t *device;
    char *address;
    uint64_t size;
    bool host, wrapped;
};

struct yoke_impl_queue {
    yoke_impl_device_t *device;
    void *queue;
    bool wrapped;
    bool pattern_used; /* pattern_notifier was placed */
    void *pattern;     /* pinned: the source of fills that are no single byte */
    void *pattern_notifier;
};

struct yoke_impl_event {
    yoke_impl_device_t *device;
    void *notifier;
    bool wrapped;
};

extern const yoke_backend_ops_t yoke_cambricon_ops;

/* --- the calling thread's device (current.c) ------------------------------------------
 */

typedef struct yoke_cambricon_scope {
    int before;
    bool changed;
} yoke_cambricon_scope_t;

/* The device that was current when this thread last asked or set, plus 1; 0: not known.
 */
extern _Thread_local int yoke_cambricon_seen;
/* The call that yoke_cambricon_enter() failed in, for yoke_cambricon_check(); else NULL.
 */
extern _Thread_local const char *yoke_cambricon_entering;

int yoke_cambricon_enter(yoke_impl_device_t *device, yoke_cambricon_scope_t *scope);
void yoke_cambricon_leave(yoke_impl_device_t *device, yoke_cambricon_scope_t *scope);

/* `code` = `call` with the device current. Where this thread last saw it current, the
 * call is made at once: CNRT refuses a queue of another device. */
#define YOKE_CAMBRICON_ENQUEUE(device, code, call)                                       \
    do {                                                                                 \
        yoke_cambricon_scope_t scope_;                                                   \
        if (yoke_cambricon_seen == (device)->ordinal + 1) {                              \
            (code) = (call);                                                             \
            if ((code) == YOKE_CNRT_SUCCESS)                                             \
                break;                                                                   \
            yoke_cambricon_entering = NULL;                                              \
            if ((code) != YOKE_CNRT_ERROR_DEVICE &&                                      \
                (code) != YOKE_CNRT_ERROR_NO_CONTEXT)                                    \
                break;                                                                   \
        }                                                                                \
        (code) = yoke_cambricon_enter((device), &scope_);                                \
        if ((code) == YOKE_CNRT_SUCCESS) {                                               \
            (code) = (call);                                                             \
            yoke_cambricon_leave((device), &scope_);                                     \
        }                                                                                \
    } while (0)

/* The same for calls that are no enqueue: asks always. */
#define YOKE_CAMBRICON_CALL(device, code, call)                                          \
    do {                                                                                 \
        yoke_cambricon_scope_t scope_;                                                   \
        (code) = yoke_cambricon_enter((device), &scope_);                                \
        if ((code) == YOKE_CNRT_SUCCESS) {                                               \
            (code) = (call);                                                             \
            yoke_cambricon_leave((device), &scope_);                                     \
        }                                                                                \
    } while (0)

/* Whether the code says that the device is gone, or that nothing works on it any more. */
bool yoke_cambricon_lost(int code);
/* YOKE_OK, or the failure of `name` with the status that its code means. */
yoke_status_t yoke_cambricon_check(const yoke_impl_runtime_t *runtime, const char *name,
                                   int code);
/* YOKE_OK, YOKE_ERR_NOT_READY, or a failure: for queries. */
yoke_status_t yoke_cambricon_check_query(const yoke_impl_runtime_t *runtime,
                                         const char *name, int code);

/* --- queues and notifiers (queue.c) ------------------------------------------------
 */

yoke_status_t yoke_cambricon_queue_create(yoke_impl_device_t *device, int32_t priority,
                                          yoke_impl_queue_t **out_queue);
yoke_status_t yoke_cambricon_queue_wrap(yoke_impl_device_t *device, void *handle,
                                        yoke_impl_queue_t **out_queue);
void yoke_cambricon_queue_destroy(yoke_impl_queue_t *queue);
yoke_status_t yoke_cambricon_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_cambricon_queue_query(yoke_impl_queue_t *queue);
yoke_status_t yoke_cambricon_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_cambricon_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                   const void *src, uint64_t size);
yoke_status_t yoke_cambricon_read(yoke_impl_queue_t *queue, void *dst,
                                  yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_cambricon_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *pattern, size_t pattern_size,
                                  uint64_t size);
yoke_status_t yoke_cambricon_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                       void *context);
yoke_status_t yoke_cambricon_event_create(yoke_impl_device_t *device, uint32_t flags,
                                          yoke_impl_event_t **out_event);
yoke_status_t yoke_cambricon_event_wrap(yoke_impl_device_t *device, void *handle,
                                        yoke_impl_event_t **out_event);
void yoke_cambricon_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_cambricon_event_record(yoke_impl_event_t *event,
                                          yoke_impl_queue_t *queue);
yoke_status_t yoke_cambricon_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_cambricon_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_cambricon_event_elapsed(yoke_impl_event_t *start,
                                           yoke_impl_event_t *end, double *out_seconds);
yoke_status_t yoke_cambricon_queue_wait(yoke_impl_queue_t *queue,
                                        yoke_impl_event_t *event);

#endif
