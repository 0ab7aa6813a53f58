/* SPDX-License-Identifier: Apache-2.0 */
/* Native objects of a framework as ours, and ours as native ones. */
#include "yoke/adopt.h"

#include <string.h>

#include "base/error.h"
#include "hal/live/device.h"
#include "hal/live/layers.h"

static yoke_status_t cannot(const yoke_device_t *device, const char *call)
{
    return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: %s has no such native objects", call,
                     device->label);
}

static yoke_status_t check_wrap(yoke_device_t *device, const void *out, const char *call)
{
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    return status;
}

static yoke_wrapped_t wrapped(void *handle, yoke_release_t release, void *context)
{
    return (yoke_wrapped_t){true, handle, release, context};
}

/* --- in ------------------------------------------------------------------------------
 */

yoke_status_t yoke_device_from_native(const char *backend, const yoke_native_t *native,
                                      const yoke_device_options_t *options,
                                      yoke_device_t **out_device)
{
    static const char call[] = "yoke_device_from_native";
    if (backend == NULL || native == NULL || out_device == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s is NULL", call,
                         backend == NULL  ? "the backend"
                         : native == NULL ? "the native device"
                                          : "the output");
    yoke_native_t given = {.struct_size = sizeof given};
    yoke_runtime_t *runtime = NULL;
    uint32_t ordinal = 0;
    yoke_status_t status = yoke_options_take(&given, sizeof given, native, call);
    if (status == YOKE_OK)
        status = yoke_registry_open(backend, strlen(backend), &runtime);
    if (status != YOKE_OK)
        return status;
    if (runtime->ops.device_find == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: backend '%s' adopts no devices", call,
                         runtime->name);
    status = runtime->ops.device_find(runtime->impl, &given, &ordinal);
    if (status == YOKE_OK)
        status = yoke_device_open_ordinal(runtime, ordinal, &given, options, out_device);
    return status;
}

yoke_status_t yoke_queue_wrap(yoke_device_t *device, void *handle, yoke_release_t release,
                              void *context, yoke_queue_t **out_queue)
{
    static const char call[] = "yoke_queue_wrap";
    yoke_status_t status = check_wrap(device, out_queue, call);
    if (status == YOKE_OK && device->object.ops->queue_wrap == NULL)
        status = cannot(device, call);
    if (status != YOKE_OK)
        return status;
    yoke_queue_t *queue = yoke_object_new(sizeof *queue, YOKE_OBJECT_QUEUE, device);
    if (queue == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    queue->wrapped = wrapped(handle, release, context);
    status = yoke_device_answer(
        device, device->object.ops->queue_wrap(device->object.impl.device, handle,
                                               &queue->object.impl.queue));
    yoke_trace_end(begin, device, call, status, "handle=%p", handle);
    if (status != YOKE_OK) {
        yoke_object_discard(&queue->object);
        return status;
    }
    yoke_object_attach(&queue->object);
    *out_queue = queue;
    return YOKE_OK;
}

yoke_status_t yoke_event_wrap(yoke_device_t *device, void *handle, yoke_release_t release,
                              void *context, yoke_event_t **out_event)
{
    static const char call[] = "yoke_event_wrap";
    yoke_status_t status = check_wrap(device, out_event, call);
    if (status == YOKE_OK && handle == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the native event is NULL", call);
    if (status == YOKE_OK && device->object.ops->event_wrap == NULL)
        status = cannot(device, call);
    if (status != YOKE_OK)
        return status;
    yoke_event_t *event = yoke_object_new(sizeof *event, YOKE_OBJECT_EVENT, device);
    if (event == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    event->wrapped = wrapped(handle, release, context);
    event->recorded = true; /* who knows */
    status = yoke_device_answer(
        device, device->object.ops->event_wrap(device->object.impl.device, handle,
                                               &event->object.impl.event));
    yoke_trace_end(begin, device, call, status, "handle=%p", handle);
    if (status != YOKE_OK) {
        yoke_object_discard(&event->object);
        return status;
    }
    yoke_object_attach(&event->object);
    *out_event = event;
    return YOKE_OK;
}

static yoke_status_t check_memory(const yoke_device_t *device, yoke_memory_kind_t kind,
                                  const void *handle, uint64_t size, const char *call)
{
    if (handle == NULL || size == 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s", call,
                         handle == NULL ? "the native buffer is NULL"
                                        : "a buffer has at least 1 byte");
    if ((unsigned)kind > YOKE_MEMORY_SHARED)
        return yoke_fail(YOKE_ERR_USAGE, "%s: no kind of memory %d", call, (int)kind);
    return device->object.ops->buffer_wrap == NULL ? cannot(device, call) : YOKE_OK;
}

yoke_status_t yoke_buffer_wrap(yoke_device_t *device, yoke_memory_kind_t kind,
                               void *handle, uint64_t size, yoke_release_t release,
                               void *context, yoke_buffer_t **out_buffer)
{
    static const char call[] = "yoke_buffer_wrap";
    yoke_status_t status = check_wrap(device, out_buffer, call);
    if (status == YOKE_OK)
        status = check_memory(device, kind, handle, size, call);
    if (status != YOKE_OK)
        return status;
    yoke_buffer_t *buffer = yoke_object_new(sizeof *buffer, YOKE_OBJECT_BUFFER, device);
    if (buffer == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    buffer->size = size;
    buffer->kind = kind;
    buffer->wrapped = wrapped(handle, release, context);
    status = yoke_device_answer(device, device->object.ops->buffer_wrap(
                                            device->object.impl.device, (uint32_t)kind,
                                            handle, size, &buffer->object.impl.buffer));
    yoke_trace_end(begin, device, call, status, "kind=%d, handle=%p, size=%llu",
                   (int)kind, handle, (unsigned long long)size);
    if (status != YOKE_OK) {
        yoke_object_discard(&buffer->object);
        return status;
    }
    yoke_object_attach(&buffer->object);
    *out_buffer = buffer;
    return YOKE_OK;
}

/* --- out -----------------------------------------------------------------------------
 */

static yoke_status_t check_out(const yoke_object_t *object, yoke_object_kind_t kind,
                               const yoke_native_t *out, const char *call)
{
    yoke_status_t status = yoke_object_check_alive(object, kind, call);
    if (status != YOKE_OK)
        return status;
    if (out == NULL || out->struct_size < offsetof(yoke_native_t, context))
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: set out->struct_size to sizeof(yoke_native_t)", call);
    return YOKE_OK;
}

static void give(const yoke_native_t *native, yoke_native_t *out)
{
    size_t size = out->struct_size;
    memcpy(out, native, size < sizeof *out ? size : sizeof *out);
    out->struct_size = size;
}

yoke_status_t yoke_device_native(const yoke_device_t *device, yoke_native_t *out)
{
    static const char call[] = "yoke_device_native";
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_status_t status = check_out(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, out, call);
    if (status == YOKE_OK && device->object.ops->device_native == NULL)
        status = cannot(device, call);
    if (status != YOKE_OK)
        return status;
    device->object.ops->device_native(device->object.impl.device, &native);
    give(&native, out);
    return YOKE_OK;
}

/* The native context of the object's device, and the object's own handle. */
static void give_handle(const yoke_device_t *device, void *handle, yoke_native_t *out)
{
    yoke_native_t native = {.struct_size = sizeof native};
    if (device->object.ops->device_native != NULL)
        device->object.ops->device_native(device->object.impl.device, &native);
    native.handle = handle;
    give(&native, out);
}

yoke_status_t yoke_queue_native(const yoke_queue_t *queue, yoke_native_t *out)
{
    static const char call[] = "yoke_queue_native";
    yoke_status_t status = check_out(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, out, call);
    if (status == YOKE_OK && queue->object.ops->queue_native == NULL)
        status = cannot(queue->object.device, call);
    if (status == YOKE_OK)
        give_handle(queue->object.device,
                    queue->object.ops->queue_native(queue->object.impl.queue), out);
    return status;
}

yoke_status_t yoke_event_native(const yoke_event_t *event, yoke_native_t *out)
{
    static const char call[] = "yoke_event_native";
    yoke_status_t status = check_out(YOKE_OBJECT(event), YOKE_OBJECT_EVENT, out, call);
    if (status == YOKE_OK && event->object.ops->event_native == NULL)
        status = cannot(event->object.device, call);
    if (status == YOKE_OK)
        give_handle(event->object.device,
                    event->object.ops->event_native(event->object.impl.event), out);
    return status;
}

yoke_status_t yoke_buffer_native(const yoke_buffer_t *buffer, yoke_native_t *out)
{
    static const char call[] = "yoke_buffer_native";
    yoke_status_t status = check_out(YOKE_OBJECT(buffer), YOKE_OBJECT_BUFFER, out, call);
    if (status == YOKE_OK &&
        (buffer->object.ops->buffer_native == NULL || buffer->object.impl.buffer == NULL))
        status = cannot(buffer->object.device, call);
    if (status == YOKE_OK)
        give_handle(buffer->object.device,
                    buffer->object.ops->buffer_native(buffer->object.impl.buffer), out);
    return status;
}
