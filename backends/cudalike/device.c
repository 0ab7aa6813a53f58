/* SPDX-License-Identifier: Apache-2.0 */
/* Open devices, and their memory. */
#include "backends/cudalike/internal.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/buffer.h"

/* The primary context, which the runtime API and frameworks use too; or the caller's. */
static yoke_status_t take_context(yoke_impl_device_t *device, const yoke_native_t *native)
{
    if (!device->flavour->contexts) {
        device->current = (uintptr_t)device->ordinal + 1;
        return YOKE_OK;
    }
    if (native != NULL && native->context != NULL) {
        device->context = native->context;
    } else {
        int code = device->api->primary_retain(&device->context, device->device);
        if (code != 0)
            return yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(primary_retain),
                                      code);
        if (device->context == NULL)
            return yoke_backend_fail_text(
                YOKE_ERR_SYSTEM, "%s gave no context",
                yoke_cudalike_symbol_name(device->flavour,
                                          YOKE_CUDALIKE_SLOT(primary_retain)));
        device->retained = true;
    }
    device->current = (uintptr_t)device->context;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                        const yoke_native_t *native,
                                        yoke_impl_device_t **out_device)
{
    const yoke_cudalike_card_t *card = NULL;
    yoke_status_t status = yoke_cudalike_card(runtime, ordinal, &card);
    if (status != YOKE_OK)
        return status;
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->api = &runtime->api;
    device->flavour = runtime->flavour;
    device->runtime = runtime;
    device->index = runtime->flavour->index;
    device->ordinal = ordinal;
    device->device = card->device;
    device->managed = card->managed;
    device->wait_value = card->wait_value;
    status = take_context(device, native);
    if (status != YOKE_OK) {
        free(device);
        return status;
    }
    pthread_mutex_init(&device->blas_lock, NULL);
    *out_device = device;
    return YOKE_OK;
}

void yoke_cudalike_device_close(yoke_impl_device_t *device)
{
    yoke_cudalike_scope_t scope;
    if (device->blas_handle != NULL && yoke_cudalike_enter(device, &scope) == 0) {
        const yoke_blas_loaded_t *blas = &device->runtime->blas;
        blas->blas->destroy(blas, device->blas_handle);
        yoke_cudalike_leave(&scope);
    }
    /* A new context may get the old one's address: no note may outlive it here. Other
     * threads' notes are stale hints at worst, which the vendor's refusal corrects. */
    if (yoke_cudalike_noted[device->index] == device->current)
        yoke_cudalike_noted[device->index] = 0;
    if (device->retained)
        (void)device->api->primary_release(device->device);
    pthread_mutex_destroy(&device->blas_lock);
    free(device);
}

void yoke_cudalike_device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    out->handle = (void *)(intptr_t)device->device;
    out->context = device->context;
}

yoke_status_t yoke_cudalike_memory_info(yoke_impl_device_t *device, uint64_t *out_free,
                                        uint64_t *out_total)
{
    size_t free_bytes = 0, total = 0;
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(device, false, memory_info,
                       device->api->memory_info(&free_bytes, &total), status);
    if (status == YOKE_OK) {
        *out_free = free_bytes;
        *out_total = total;
    }
    return status;
}

/* --- buffers ------------------------------------------------------------------------ */

static yoke_status_t no_such_kind(const yoke_impl_device_t *device, const char *kind)
{
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "%s:%u has no %s memory",
                                  device->flavour->ops->name, device->ordinal, kind);
}

static yoke_status_t make_device(yoke_impl_buffer_t *buffer, size_t size)
{
    yoke_impl_device_t *device = buffer->device;
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(device, false, allocate,
                       device->api->allocate(&buffer->address, size), status);
    return status;
}

static yoke_status_t make_host(yoke_impl_buffer_t *buffer, size_t size)
{
    yoke_impl_device_t *device = buffer->device;
    const yoke_cudalike_api_t *api = device->api;
    int flags = device->flavour->host_flags;
    yoke_status_t status;
    if (api->host_allocate != NULL && flags != YOKE_CUDALIKE_UNSOURCED)
        YOKE_CUDALIKE_CALL(device, false, host_allocate,
                           api->host_allocate(&buffer->host, size, (unsigned)flags),
                           status);
    else if (api->host_allocate_plain != NULL)
        YOKE_CUDALIKE_CALL(device, false, host_allocate_plain,
                           api->host_allocate_plain(&buffer->host, size), status);
    else
        return no_such_kind(device, "pinned host");
    if (status != YOKE_OK)
        return status;
    /* With unified addressing both addresses are one; where a runtime tells another, it
     * is the device's. */
    buffer->address = (yoke_cudalike_address_t)buffer->host;
    if (api->host_device_address != NULL) {
        yoke_cudalike_address_t address = 0;
        yoke_cudalike_scope_t scope;
        if (yoke_cudalike_enter(device, &scope) == 0) {
            if (api->host_device_address(&address, buffer->host, 0) == 0 && address != 0)
                buffer->address = address;
            yoke_cudalike_leave(&scope);
        }
    }
    return YOKE_OK;
}

static yoke_status_t make_shared(yoke_impl_buffer_t *buffer, size_t size)
{
    yoke_impl_device_t *device = buffer->device;
    int flags = device->flavour->managed_flags;
    yoke_status_t status;
    if (device->api->managed_allocate == NULL || flags == YOKE_CUDALIKE_UNSOURCED ||
        !device->managed)
        return no_such_kind(device, "shared");
    YOKE_CUDALIKE_CALL(
        device, false, managed_allocate,
        device->api->managed_allocate(&buffer->address, size, (unsigned)flags), status);
    buffer->host = (void *)buffer->address;
    return status;
}

yoke_status_t yoke_cudalike_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                          uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    yoke_status_t status;
    if (buffer == NULL)
        return yoke_fail_memory();
    buffer->device = device;
    buffer->kind = kind;
    buffer->owned = true;
    if (kind == YOKE_MEMORY_HOST)
        status = make_host(buffer, size);
    else if (kind == YOKE_MEMORY_SHARED)
        status = make_shared(buffer, size);
    else
        status = make_device(buffer, size);
    if (status == YOKE_OK && buffer->address == 0) /* says success, gives nothing */
        status = yoke_backend_fail_text(YOKE_ERR_DEVICE_MEMORY,
                                        "%s:%u allocated nothing and said success",
                                        device->flavour->ops->name, device->ordinal);
    if (status != YOKE_OK) {
        free(buffer);
        return status;
    }
    *out_buffer = buffer;
    return YOKE_OK;
}

void yoke_cudalike_buffer_destroy(yoke_impl_buffer_t *buffer)
{
    yoke_cudalike_scope_t scope;
    if (buffer->owned && yoke_cudalike_enter(buffer->device, &scope) == 0) {
        const yoke_cudalike_api_t *api = buffer->device->api;
        if (buffer->kind == YOKE_MEMORY_HOST)
            (void)api->host_release(buffer->host);
        else
            (void)api->release(buffer->address);
        yoke_cudalike_leave(&scope);
    }
    free(buffer);
}

void *yoke_cudalike_buffer_address(yoke_impl_buffer_t *buffer)
{
    return (void *)buffer->address;
}

void *yoke_cudalike_buffer_host_address(yoke_impl_buffer_t *buffer)
{
    return buffer->host;
}

yoke_status_t yoke_cudalike_buffer_wrap(yoke_impl_device_t *device, uint32_t kind,
                                        void *handle, uint64_t size,
                                        yoke_impl_buffer_t **out_buffer)
{
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    (void)size;
    if (buffer == NULL)
        return yoke_fail_memory();
    buffer->device = device;
    buffer->kind = kind;
    buffer->address = (yoke_cudalike_address_t)handle;
    buffer->host = kind == YOKE_MEMORY_DEVICE ? NULL : handle;
    *out_buffer = buffer;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_with_current(yoke_impl_device_t *device,
                                         void (*function)(void *), void *context)
{
    yoke_cudalike_scope_t scope;
    int code = yoke_cudalike_enter(device, &scope);
    if (code != 0)
        return yoke_cudalike_fail(device->runtime, scope.slot, code);
    function(context);
    yoke_cudalike_leave(&scope);
    return YOKE_OK;
}

void *yoke_cudalike_buffer_native(yoke_impl_buffer_t *buffer)
{
    return buffer->kind == YOKE_MEMORY_HOST ? buffer->host : (void *)buffer->address;
}
