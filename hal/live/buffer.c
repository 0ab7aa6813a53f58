/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: the runtime's memory, a framework's by its allocator, and wrapped memory. */
#include "yoke/buffer.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/live/current.h"
#include "hal/live/fail.h"
#include "hal/live/layers.h"

/* --- a framework's allocator ---------------------------------------------------------
 */

typedef struct allocator_call {
    const yoke_allocator_t *allocator;
    uint64_t size;
    void *address; /* result, or what to release */
} allocator_call_t;

static void call_allocate(void *context)
{
    allocator_call_t *call = context;
    call->address =
        call->allocator->allocate(call->allocator->context, (size_t)call->size);
}

static void call_release(void *context)
{
    allocator_call_t *call = context;
    call->allocator->release(call->allocator->context, call->address, (size_t)call->size);
}

static yoke_status_t from_allocator(yoke_device_t *device, yoke_buffer_t *buffer)
{
    allocator_call_t call = {&device->allocator, buffer->size, NULL};
    yoke_status_t status = yoke_device_call(device, call_allocate, &call);
    if (status == YOKE_OK && call.address == NULL)
        status = yoke_fail(YOKE_ERR_DEVICE_MEMORY,
                           "%s: the caller's allocator gave no memory for %llu bytes",
                           device->label, (unsigned long long)buffer->size);
    if (status != YOKE_OK)
        return status;
    status = device->object.ops->buffer_wrap(device->object.impl.device,
                                             (uint32_t)buffer->kind, call.address,
                                             buffer->size, &buffer->object.impl.buffer);
    if (status == YOKE_OK)
        buffer->allocated = call.address;
    else
        yoke_device_call(device, call_release, &call);
    return status;
}

/* --- making --------------------------------------------------------------------------
 */

static yoke_status_t check_kind(const yoke_device_t *device, yoke_memory_kind_t kind,
                                const char *call)
{
    uint64_t needed = 0;
    switch (kind) {
    case YOKE_MEMORY_DEVICE:
        return YOKE_OK;
    case YOKE_MEMORY_HOST:
        needed = YOKE_CAP_PINNED;
        break;
    case YOKE_MEMORY_SHARED:
        needed = YOKE_CAP_SHARED;
        break;
    default:
        return yoke_fail(YOKE_ERR_USAGE, "%s: no kind of memory %d", call, (int)kind);
    }
    if ((device->info.capabilities & needed) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: %s has no %s memory", call,
                         device->label, yoke_capability_name(needed));
    return YOKE_OK;
}

static yoke_status_t allocate(yoke_device_t *device, yoke_buffer_t *buffer)
{
    yoke_status_t status = YOKE_OK;
    if (buffer->kind != YOKE_MEMORY_HOST) {
        status = yoke_account_take(device, buffer->size);
        if (status != YOKE_OK)
            return status;
        buffer->counted = buffer->size;
    }
    if (device->has_allocator && buffer->kind == YOKE_MEMORY_DEVICE)
        status = from_allocator(device, buffer);
    else
        status = device->object.ops->buffer_create(device->object.impl.device,
                                                   (uint32_t)buffer->kind, buffer->size,
                                                   &buffer->object.impl.buffer);
    if (status != YOKE_OK && buffer->counted > 0)
        yoke_account_give(device, buffer->counted);
    return yoke_device_answer(device, status);
}

/* The vendor's words say that memory is out; how much there is makes them useful. */
static void tell_free(yoke_device_t *device, yoke_memory_kind_t kind, uint64_t size)
{
    const yoke_backend_ops_t *ops = device->object.ops;
    uint64_t available = 0, total = 0;
    char want[32], have[32], all[32];
    if (kind == YOKE_MEMORY_HOST) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        yoke_backend_append(
            "; %s of pinned memory asked for by %s, %s of %s free on the host",
            yoke_show_bytes((double)size, want), device->label,
            yoke_show_bytes((double)((uint64_t)sysconf(_SC_AVPHYS_PAGES) * page), have),
            yoke_show_bytes((double)((uint64_t)sysconf(_SC_PHYS_PAGES) * page), all));
    } else if ((device->info.capabilities & YOKE_CAP_FREE_MEMORY) != 0 &&
               ops->memory_info(device->object.impl.device, &available, &total) ==
                   YOKE_OK)
        yoke_backend_append("; %s asked for, %s of %s free on %s",
                            yoke_show_bytes((double)size, want),
                            yoke_show_bytes((double)available, have),
                            yoke_show_bytes((double)total, all), device->label);
}

yoke_status_t yoke_buffer_create(yoke_device_t *device, yoke_memory_kind_t kind,
                                 uint64_t size, yoke_buffer_t **out_buffer)
{
    static const char call[] = "yoke_buffer_create";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_buffer == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (status == YOKE_OK && size == 0)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: a buffer has at least 1 byte", call);
    if (status == YOKE_OK)
        status = check_kind(device, kind, call);
    if (status != YOKE_OK)
        return status;
    yoke_buffer_t *buffer = yoke_object_new(sizeof *buffer, YOKE_OBJECT_BUFFER, device);
    if (buffer == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    buffer->size = size;
    buffer->kind = kind;
    status = allocate(device, buffer);
    if (status == YOKE_OK) {
        yoke_object_attach(&buffer->object);
        *out_buffer = buffer;
    } else {
        yoke_object_discard(&buffer->object);
    }
    if (status == YOKE_ERR_DEVICE_MEMORY ||
        (status == YOKE_ERR_NO_MEMORY && kind == YOKE_MEMORY_HOST))
        tell_free(device, kind, size);
    yoke_trace_end(begin, device, call, status, "kind=%d, size=%llu", (int)kind,
                   (unsigned long long)size);
    return status;
}

void yoke_buffer_destroy(yoke_buffer_t *buffer)
{
    static const char call[] = "yoke_buffer_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(buffer), YOKE_OBJECT_BUFFER, call))
        return;
    yoke_device_t *device = buffer->object.device;
    uint64_t begin = yoke_trace_begin(&buffer->object);
    yoke_prepared_forget(buffer);
    if (buffer->object.impl.buffer != NULL) /* a tensor without elements has none */
        buffer->object.ops->buffer_destroy(buffer->object.impl.buffer);
    if (buffer->allocated != NULL) {
        allocator_call_t back = {&device->allocator, buffer->size, buffer->allocated};
        yoke_device_call(device, call_release, &back);
    }
    if (buffer->wrapped.release != NULL)
        buffer->wrapped.release(buffer->wrapped.context, buffer->wrapped.handle);
    if (buffer->counted > 0)
        yoke_account_give(device, buffer->counted);
    yoke_trace_end(begin, device, call, YOKE_OK, "buffer=%p", (void *)buffer);
    yoke_object_end(&buffer->object);
}

/* --- queries -------------------------------------------------------------------------
 */

static bool is_alive(const yoke_buffer_t *buffer, const char *call)
{
    return buffer != NULL && yoke_object_check_alive(YOKE_OBJECT(buffer),
                                                     YOKE_OBJECT_BUFFER, call) == YOKE_OK;
}

uint64_t yoke_buffer_size(const yoke_buffer_t *buffer)
{
    return is_alive(buffer, "yoke_buffer_size") ? buffer->size : 0;
}

yoke_memory_kind_t yoke_buffer_kind(const yoke_buffer_t *buffer)
{
    return is_alive(buffer, "yoke_buffer_kind") ? buffer->kind : YOKE_MEMORY_DEVICE;
}

yoke_device_t *yoke_buffer_device(const yoke_buffer_t *buffer)
{
    return is_alive(buffer, "yoke_buffer_device") ? buffer->object.device : NULL;
}

static yoke_status_t get_address(const yoke_buffer_t *buffer, bool host, const char *call,
                                 void **out_address)
{
    yoke_status_t status =
        yoke_object_check_alive(YOKE_OBJECT(buffer), YOKE_OBJECT_BUFFER, call);
    if (status != YOKE_OK)
        return status;
    if (out_address == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    const yoke_backend_ops_t *ops = buffer->object.ops;
    void *(*slot)(yoke_impl_buffer_t *) =
        host ? ops->buffer_host_address : ops->buffer_address;
    void *address = slot == NULL || buffer->object.impl.buffer == NULL
                        ? NULL
                        : slot(buffer->object.impl.buffer);
    if (address == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: this buffer of %s has no address%s",
                         call, buffer->object.device->label, host ? " for the host" : "");
    *out_address = address;
    return YOKE_OK;
}

yoke_status_t yoke_buffer_address(const yoke_buffer_t *buffer, void **out_address)
{
    return get_address(buffer, false, "yoke_buffer_address", out_address);
}

yoke_status_t yoke_buffer_host_address(const yoke_buffer_t *buffer, void **out_address)
{
    return get_address(buffer, true, "yoke_buffer_host_address", out_address);
}
