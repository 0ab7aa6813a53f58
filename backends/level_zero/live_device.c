/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, one context a driver for all that are opened by us, and memory. */
#include "backends/level_zero/live.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/buffer.h"

#define ALIGNMENT 256

static yoke_status_t own_context(yoke_impl_device_t *device)
{
    const yoke_ze_context_desc_t desc = {.stype = YOKE_ZE_CONTEXT_DESC};
    yoke_ze_driver_slot_t *driver = device->slot->driver;
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&device->runtime->lock);
    if (driver->context == NULL) {
        uint32_t code =
            device->ze->context_create(driver->driver, &desc, &driver->context);
        if (code != YOKE_ZE_SUCCESS) {
            driver->context = NULL;
            status = yoke_ze_fail("zeContextCreate", code);
        }
    }
    if (status == YOKE_OK)
        driver->context_users++;
    device->context = driver->context;
    pthread_mutex_unlock(&device->runtime->lock);
    return status;
}

yoke_status_t yoke_ze_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                  const yoke_native_t *native,
                                  yoke_impl_device_t **out_device)
{
    yoke_status_t status = YOKE_OK;
    if (ordinal >= runtime->slot_count)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                      "level_zero: no device %u; there are %zu", ordinal,
                                      runtime->slot_count);
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->runtime = runtime;
    device->ze = &runtime->ze;
    device->slot = &runtime->slots[ordinal];
    device->adopted = native != NULL && native->context != NULL;
    if (device->adopted)
        device->context = (yoke_ze_context_t)native->context;
    else
        status = own_context(device);
    if (status != YOKE_OK) {
        free(device);
        return status;
    }
    pthread_mutex_init(&device->lock, NULL);
    *out_device = device;
    return YOKE_OK;
}

void yoke_ze_device_close(yoke_impl_device_t *device)
{
    yoke_ze_driver_slot_t *driver = device->slot->driver;
    yoke_ze_marks_free(device);
    pthread_mutex_lock(&device->runtime->lock);
    if (!device->adopted && --driver->context_users == 0) {
        device->ze->context_destroy(driver->context);
        driver->context = NULL;
    }
    pthread_mutex_unlock(&device->runtime->lock);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

void yoke_ze_device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    out->handle = device->slot->device;
    out->context = device->context;
}

yoke_status_t yoke_ze_peer_query(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                 bool *out_can)
{
    uint8_t can = 0;
    if (device->context != peer->context) {
        *out_can = false;
        return YOKE_OK;
    }
    if (device->slot == peer->slot) {
        *out_can = true;
        return YOKE_OK;
    }
    uint32_t code =
        device->ze->can_access_peer(device->slot->device, peer->slot->device, &can);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeDeviceCanAccessPeer", code);
    *out_can = can != 0;
    return YOKE_OK;
}

/* Nothing has to be switched on within a context. */
yoke_status_t yoke_ze_peer_enable(yoke_impl_device_t *device, yoke_impl_device_t *peer)
{
    (void)device;
    (void)peer;
    return YOKE_OK;
}

/* --- memory ------------------------------------------------------------------------- */

static _Atomic uint64_t last_id;

static uint64_t next_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

yoke_status_t yoke_ze_host_memory(yoke_impl_device_t *device, size_t size,
                                  void **out_memory)
{
    const yoke_ze_host_memory_desc_t desc = {.stype = YOKE_ZE_HOST_MEMORY_DESC};
    void *memory = NULL;
    uint32_t code =
        device->ze->alloc_host(device->context, &desc, size, ALIGNMENT, &memory);
    if (code != YOKE_ZE_SUCCESS || memory == NULL)
        return yoke_ze_fail("zeMemAllocHost", code != YOKE_ZE_SUCCESS
                                                  ? code
                                                  : YOKE_ZE_ERROR_OUT_OF_HOST_MEMORY);
    *out_memory = memory;
    return YOKE_OK;
}

/* Blocks above the usual limit (4 GB on many cards) have to be asked for. */
static yoke_status_t allocate(yoke_impl_device_t *device, uint32_t kind, uint64_t size,
                              void **out_memory)
{
    const yoke_ze_relaxed_desc_t relaxed = {.stype = YOKE_ZE_RELAXED_LIMITS_DESC,
                                            .flags = YOKE_ZE_RELAXED_MAX_SIZE};
    uint64_t usual = device->slot->properties.max_mem_alloc_size;
    const yoke_ze_device_memory_desc_t desc = {
        .stype = YOKE_ZE_DEVICE_MEMORY_DESC,
        .next = usual != 0 && size > usual ? &relaxed : NULL};
    const yoke_ze_host_memory_desc_t host = {.stype = YOKE_ZE_HOST_MEMORY_DESC};
    bool shared = kind == YOKE_MEMORY_SHARED;
    void *memory = NULL;
    uint32_t code =
        shared ? device->ze->alloc_shared(device->context, &desc, &host, size, ALIGNMENT,
                                          device->slot->device, &memory)
               : device->ze->alloc_device(device->context, &desc, size, ALIGNMENT,
                                          device->slot->device, &memory);
    if (code == YOKE_ZE_SUCCESS && memory == NULL)
        code = YOKE_ZE_ERROR_OUT_OF_DEVICE_MEMORY;
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail(shared ? "zeMemAllocShared" : "zeMemAllocDevice", code);
    *out_memory = memory;
    return YOKE_OK;
}

yoke_status_t yoke_ze_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                    uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    const uint64_t needed[] = {0, YOKE_CAP_PINNED, YOKE_CAP_SHARED};
    void *memory = NULL;
    if (kind > YOKE_MEMORY_SHARED ||
        (device->slot->info.capabilities & needed[kind]) != needed[kind])
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "level_zero: %s has no memory of kind %u",
                                      device->slot->name, kind);
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return yoke_fail_memory();
    yoke_status_t status = kind == YOKE_MEMORY_HOST
                               ? yoke_ze_host_memory(device, size, &memory)
                               : allocate(device, kind, size, &memory);
    if (status != YOKE_OK) {
        free(buffer);
        return status;
    }
    *buffer = (yoke_impl_buffer_t){.device = device,
                                   .id = next_id(),
                                   .pointer = memory,
                                   .size = size,
                                   .host = kind != YOKE_MEMORY_DEVICE};
    *out_buffer = buffer;
    return YOKE_OK;
}

yoke_status_t yoke_ze_buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                  uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    yoke_ze_allocation_t known = {.stype = YOKE_ZE_ALLOCATION_PROPERTIES};
    yoke_ze_device_t owner = NULL;
    (void)kind;
    uint32_t code = device->ze->allocation(device->context, handle, &known, &owner);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeMemGetAllocProperties", code);
    if (known.type == YOKE_ZE_MEMORY_UNKNOWN)
        return yoke_backend_fail_text(
            YOKE_ERR_UNREACHABLE,
            "level_zero: %p is no memory of the device's context; open the device with "
            "yoke_native_t.context set to the context that it was allocated in",
            handle);
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return yoke_fail_memory();
    *buffer = (yoke_impl_buffer_t){.device = device,
                                   .id = next_id(),
                                   .pointer = handle,
                                   .size = size,
                                   .host = known.type != YOKE_ZE_MEMORY_DEVICE,
                                   .wrapped = true};
    *out_buffer = buffer;
    return YOKE_OK;
}

void yoke_ze_buffer_destroy(yoke_impl_buffer_t *buffer)
{
    if (!buffer->wrapped)
        buffer->device->ze->free(buffer->device->context, buffer->pointer);
    free(buffer);
}

void *yoke_ze_buffer_address(yoke_impl_buffer_t *buffer)
{
    return buffer->pointer;
}

void *yoke_ze_buffer_host_address(yoke_impl_buffer_t *buffer)
{
    return buffer->host ? buffer->pointer : NULL;
}
