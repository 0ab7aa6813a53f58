/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_ASCEND_ASCEND_H
#define YOKE_BACKENDS_ASCEND_ASCEND_H

/* What the files of this folder share. */

#include <stdbool.h>
#include "backends/ascend/acl.h"
#include "yoke/backend.h"

#define YOKE_ASCEND_PATTERN_SIZE (64 * 1024) /* bytes of a queue's block for fill */

struct yoke_impl_runtime {
    yoke_acl_t acl;
    char *library;
    char soc[64];
    char version[32];
};

struct yoke_impl_device {
    yoke_impl_runtime_t *runtime;
    yoke_acl_context_t
        context; /* the default context of the device, or the framework's */
    int32_t ordinal;
};

struct yoke_impl_buffer {
    yoke_impl_device_t *device;
    char *address;
    uint64_t size;
    bool host, wrapped;
};

struct yoke_impl_queue {
    yoke_impl_device_t *device;
    void *stream;
    bool wrapped;
    bool pattern_used; /* pattern_event was recorded */
    void *pattern;     /* pinned: the source of fills that are no single byte */
    void *pattern_event;
    void *workspace; /* of aclnn operators; grows */
    uint64_t workspace_size;
};

struct yoke_impl_event {
    yoke_impl_device_t *device;
    void *event;
    bool wrapped;
};

extern const yoke_backend_ops_t yoke_ascend_ops;

/* --- the calling thread's context (context.c) -----------------------------------------
 */

typedef struct yoke_ascend_scope {
    yoke_acl_context_t before;
    bool changed;
} yoke_ascend_scope_t;

/* The context that was current when this thread last asked or set. */
extern _Thread_local yoke_acl_context_t yoke_ascend_seen;
/* The call that yoke_ascend_enter() failed in, for yoke_ascend_check(); else NULL. */
extern _Thread_local const char *yoke_ascend_entering;

/* Make the device's context current; returns AscendCL's code. */
int yoke_ascend_enter(yoke_impl_device_t *device, yoke_ascend_scope_t *scope);
void yoke_ascend_leave(yoke_impl_device_t *device, yoke_ascend_scope_t *scope);

/* `code` = `call` in the device's context. Where this thread last saw that context, the
 * call is made at once: AscendCL refuses it when another one is current after all. */
#define YOKE_ASCEND_ENQUEUE(device, code, call)                                          \
    do {                                                                                 \
        yoke_ascend_scope_t scope_;                                                      \
        if (yoke_ascend_seen == (device)->context) {                                     \
            (code) = (call);                                                             \
            if ((code) == YOKE_ACL_SUCCESS)                                              \
                break;                                                                   \
            yoke_ascend_entering = NULL;                                                 \
            if ((code) != YOKE_ACL_ERROR_RT_STREAM_CONTEXT &&                            \
                (code) != YOKE_ACL_ERROR_RT_CONTEXT_NULL)                                \
                break;                                                                   \
        }                                                                                \
        (code) = yoke_ascend_enter((device), &scope_);                                   \
        if ((code) == YOKE_ACL_SUCCESS) {                                                \
            (code) = (call);                                                             \
            yoke_ascend_leave((device), &scope_);                                        \
        }                                                                                \
    } while (0)

/* The same for calls that are no enqueue: asks always. */
#define YOKE_ASCEND_CALL(device, code, call)                                             \
    do {                                                                                 \
        yoke_ascend_scope_t scope_;                                                      \
        (code) = yoke_ascend_enter((device), &scope_);                                   \
        if ((code) == YOKE_ACL_SUCCESS) {                                                \
            (code) = (call);                                                             \
            yoke_ascend_leave((device), &scope_);                                        \
        }                                                                                \
    } while (0)

/* YOKE_OK, or the failure of `name` with the status that its code means. */
yoke_status_t yoke_ascend_check(const yoke_impl_runtime_t *runtime, const char *name,
                                int code);

/* --- operators (aclnn.c) ---------------------------------------------------------------
 */

yoke_status_t yoke_ascend_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm);
const char *yoke_ascend_gemm_library(yoke_impl_device_t *device);
yoke_status_t yoke_ascend_reduce(yoke_impl_queue_t *queue, uint32_t element, uint32_t op,
                                 yoke_impl_span_t dst, yoke_impl_span_t a,
                                 yoke_impl_span_t b, uint64_t count);

/* --- queues and events (queue.c) ---------------------------------------------------
 */

yoke_status_t yoke_ascend_queue_create(yoke_impl_device_t *device, int32_t priority,
                                       yoke_impl_queue_t **out_queue);
yoke_status_t yoke_ascend_queue_wrap(yoke_impl_device_t *device, void *handle,
                                     yoke_impl_queue_t **out_queue);
void yoke_ascend_queue_destroy(yoke_impl_queue_t *queue);
yoke_status_t yoke_ascend_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_ascend_queue_query(yoke_impl_queue_t *queue);
yoke_status_t yoke_ascend_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                               yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_ascend_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                const void *src, uint64_t size);
yoke_status_t yoke_ascend_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                               uint64_t size);
yoke_status_t yoke_ascend_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                               const void *pattern, size_t pattern_size, uint64_t size);
yoke_status_t yoke_ascend_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                    void *context);
yoke_status_t yoke_ascend_event_create(yoke_impl_device_t *device, uint32_t flags,
                                       yoke_impl_event_t **out_event);
yoke_status_t yoke_ascend_event_wrap(yoke_impl_device_t *device, void *handle,
                                     yoke_impl_event_t **out_event);
void yoke_ascend_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_ascend_event_record(yoke_impl_event_t *event,
                                       yoke_impl_queue_t *queue);
yoke_status_t yoke_ascend_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_ascend_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_ascend_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                        double *out_seconds);
yoke_status_t yoke_ascend_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event);

#endif
