/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live backend to clone: one device whose memory is the host's, and on which all work
 * is done before the call that enqueues it returns. docs/add-a-backend.md leads through
 * it; yoke/backend.h says what callers see to and what is left to a backend.
 *
 * This file uses yoke/backend.h and nothing else, so that it also builds as a plug-in:
 * there the function at the end is the one that a plug-in exports.
 *
 * Where a real runtime comes in, a comment begins with "Vendor:".
 */
#include "yoke/backend.h"

#include <stdlib.h>
#include <string.h>

/* A plug-in that was cloned from this file says its own name here. */
#ifndef YOKE_NULL_NAME
#define YOKE_NULL_NAME "null"
#endif

/* Hidden: in a plug-in it must not meet a name of libyoke's. */
extern const yoke_backend_ops_t yoke_null_ops __attribute__((visibility("hidden")));

/* The backend's own objects. Callers see only pointers to them. */
struct yoke_impl_runtime {
    uint32_t devices; /* Vendor: the loaded library, its functions, the device table */
};
struct yoke_impl_device {
    uint32_t ordinal; /* Vendor: the context */
};
struct yoke_impl_buffer {
    unsigned char *data; /* Vendor: the device's address, or the runtime's handle */
    bool wrapped;        /* not ours to free */
};
struct yoke_impl_queue {
    yoke_impl_device_t *device; /* Vendor: the stream */
};
struct yoke_impl_event {
    yoke_impl_device_t *device; /* Vendor: the event */
};

/* --- runtime and devices -------------------------------------------------------------
 */

/* Called once. Vendor: open the library (hal/loader.h), resolve its symbols, initialise
 * it; YOKE_ERR_NOT_FOUND by yoke_backend_fail_text() when the library is not there. */
static yoke_status_t runtime_open(yoke_impl_runtime_t **out_runtime)
{
    static yoke_impl_runtime_t runtime = {1};
    *out_runtime = &runtime;
    return YOKE_OK;
}

static yoke_status_t device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    *out_count = runtime->devices;
    return YOKE_OK;
}

/* No context is made here: an inventory asks for this too. Texts live as long as the
 * runtime. What is not known stays zero; `valid` says what is known. */
static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    (void)runtime;
    (void)ordinal;
    out_info->name = "Null device";
    out_info->vendor = "yoke";
    out_info->valid = YOKE_INFO_MEMORY;
    out_info->kind = YOKE_DEVICE_OTHER;
    out_info->memory_total = (uint64_t)1 << 30;
    out_info->capabilities = YOKE_CAP_PINNED | YOKE_CAP_ADDRESS | YOKE_CAP_WRAP;
    out_info->alignment = 1;
    return YOKE_OK;
}

/* Vendor: make or retain the context. The thread's current device is afterwards what it
 * was before; so it is after every function here. */
static yoke_status_t device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native,
                                 yoke_impl_device_t **out_device)
{
    (void)runtime;
    (void)native; /* Vendor: a context that the caller has made, to be used instead */
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    device->ordinal = ordinal;
    *out_device = device;
    return YOKE_OK;
}

static void device_close(yoke_impl_device_t *device)
{
    free(device);
}

/* Vendor: a table of the codes with their source in a comment; NULL for the others. */
static const char *error_name(int64_t code)
{
    return code == 0 ? "NULL_SUCCESS" : NULL;
}

/* --- buffers -------------------------------------------------------------------------
 */

/* Vendor: a code that means "out of memory" becomes YOKE_ERR_DEVICE_MEMORY:
 *     return yoke_backend_fail(&yoke_null_ops, YOKE_ERR_DEVICE_MEMORY, "xxMalloc", code,
 * NULL); This runtime never says so; its device has no YOKE_CAP_EXHAUSTS, and the callers
 * keep the account. */
static yoke_status_t buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    (void)device;
    if (kind == YOKE_MEMORY_SHARED)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "the null device has no shared memory");
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer != NULL)
        buffer->data = aligned_alloc(256, ((size_t)size + 255) / 256 * 256);
    if (buffer == NULL || buffer->data == NULL) {
        free(buffer);
        return yoke_backend_fail_text(YOKE_ERR_DEVICE_MEMORY, "out of host memory");
    }
    *out_buffer = buffer;
    return YOKE_OK;
}

static yoke_status_t buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    (void)device;
    (void)kind;
    (void)size;
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    buffer->data = handle;
    buffer->wrapped = true;
    *out_buffer = buffer;
    return YOKE_OK;
}

static void buffer_destroy(yoke_impl_buffer_t *buffer)
{
    if (!buffer->wrapped)
        free(buffer->data);
    free(buffer);
}

/* One memory: the same address for both. Vendor: NULL where the host cannot reach it. */
static void *buffer_address(yoke_impl_buffer_t *buffer)
{
    return buffer->data;
}

/* --- queues --------------------------------------------------------------------------
 */

static yoke_status_t queue_create(yoke_impl_device_t *device, int32_t priority,
                                  yoke_impl_queue_t **out_queue)
{
    (void)priority;
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    queue->device = device;
    *out_queue = queue;
    return YOKE_OK;
}

static void queue_destroy(yoke_impl_queue_t *queue)
{
    free(queue);
}

/* Vendor: a code that means "the device is gone" or "the context is ruined" becomes
 * YOKE_ERR_DEVICE_LOST, here and in every function below. */
static yoke_status_t queue_sync(yoke_impl_queue_t *queue)
{
    (void)queue;
    return YOKE_OK;
}

/* Vendor: "not ready" becomes YOKE_ERR_NOT_READY, without yoke_backend_fail(). */
static yoke_status_t queue_query(yoke_impl_queue_t *queue)
{
    (void)queue;
    return YOKE_OK;
}

/* No lock, no allocation, and one vendor call in what is enqueued. */
static yoke_status_t copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          yoke_impl_span_t src, uint64_t size)
{
    (void)queue;
    memmove(dst.buffer->data + dst.offset, src.buffer->data + src.offset, (size_t)size);
    return YOKE_OK;
}

static yoke_status_t write_host(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                const void *src, uint64_t size)
{
    (void)queue;
    memcpy(dst.buffer->data + dst.offset, src, (size_t)size);
    return YOKE_OK;
}

static yoke_status_t read_host(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                               uint64_t size)
{
    (void)queue;
    memcpy(dst, src.buffer->data + src.offset, (size_t)size);
    return YOKE_OK;
}

static yoke_status_t fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          const void *pattern, size_t pattern_size, uint64_t size)
{
    (void)queue;
    for (uint64_t i = 0; i < size; i += pattern_size)
        memcpy(dst.buffer->data + dst.offset + i, pattern, pattern_size);
    return YOKE_OK;
}

/* --- events --------------------------------------------------------------------------
 * Everything enqueued has ended already: an event is reached as soon as it is recorded.
 */

static yoke_status_t event_create(yoke_impl_device_t *device, uint32_t flags,
                                  yoke_impl_event_t **out_event)
{
    (void)flags; /* Vendor: YOKE_EVENT_TIMING */
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    event->device = device;
    *out_event = event;
    return YOKE_OK;
}

static void event_destroy(yoke_impl_event_t *event)
{
    free(event);
}

static yoke_status_t event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    (void)event;
    (void)queue;
    return YOKE_OK;
}

static yoke_status_t event_query(yoke_impl_event_t *event)
{
    (void)event;
    return YOKE_OK;
}

static yoke_status_t event_sync(yoke_impl_event_t *event)
{
    (void)event;
    return YOKE_OK;
}

static yoke_status_t queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    (void)queue;
    (void)event;
    return YOKE_OK;
}

/* --- the table -----------------------------------------------------------------------
 * The required slots, and of the optional ones those whose capabilities device_info()
 * names. A slot that is not set switches its capability off. */

const yoke_backend_ops_t yoke_null_ops = {
    .struct_size = sizeof(yoke_backend_ops_t),
    .abi_major = YOKE_BACKEND_ABI_MAJOR,
    .abi_minor = YOKE_BACKEND_ABI_MINOR,
    .name = YOKE_NULL_NAME,
    .runtime_open = runtime_open,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .error_name = error_name,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_address = buffer_address,
    .buffer_host_address = buffer_address,
    .buffer_wrap = buffer_wrap,
    .buffer_native = buffer_address,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_sync = queue_sync,
    .queue_query = queue_query,
    .copy = copy,
    .write = write_host,
    .read = read_host,
    .fill = fill,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_sync = event_sync,
    .queue_wait = queue_wait,
};

#ifdef YOKE_NULL_PLUGIN
/* The one function that a plug-in exports. A backend of the library gives its table to
 * yoke_backend_t.live instead (null.c). */
const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major);
const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major)
{
    return abi_major == YOKE_BACKEND_ABI_MAJOR ? &yoke_null_ops : NULL;
}
#endif
