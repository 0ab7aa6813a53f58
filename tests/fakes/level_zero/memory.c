/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and unified shared memory. */
#include "driver.h"
#include <stdlib.h>

/* --- contexts ----------------------------------------------------------------------- */

ze_result_t context_enter(ze_context_handle_t handle, context_t **out_context)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_context = fake_handle_check(handle, KIND_CONTEXT);
    return *out_context != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

static ze_result_t create_context(ze_driver_handle_t driver,
                                  const ze_context_desc_t *desc,
                                  ze_context_handle_t *out_context)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (fake_handle_check(driver, KIND_DRIVER) == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (desc == NULL || out_context == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    context_t *context = calloc(1, sizeof *context);
    if (context == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    fake_handle_add(&context->handle, KIND_CONTEXT);
    *out_context = (ze_context_handle_t)(void *)context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                            ze_context_handle_t *phContext)
{
    FAKE_CALL(zeContextCreate, ze_result_t);
    return create_context(hDriver, desc, phContext);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                              uint32_t numDevices, ze_device_handle_t *phDevices,
                              ze_context_handle_t *phContext)
{
    FAKE_CALL(zeContextCreateEx, ze_result_t);
    if (numDevices > 0 && phDevices == NULL)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    return create_context(hDriver, desc, phContext);
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext)
{
    FAKE_CALL(zeContextDestroy, ze_result_t);
    context_t *context;
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    fake_handle_remove(&context->handle);
    free(context);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext)
{
    FAKE_CALL(zeContextGetStatus, ze_result_t);
    context_t *context;
    return context_enter(hContext, &context);
}

static ze_result_t check_residence(ze_context_handle_t context, ze_device_handle_t device,
                                   void *ptr, size_t size)
{
    context_t *c;
    device_t *d;
    ze_result_t result = context_enter(context, &c);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(device, &d);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (ptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return size > 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SIZE;
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                        ze_device_handle_t hDevice, void *ptr,
                                        size_t size)
{
    FAKE_CALL(zeContextMakeMemoryResident, ze_result_t);
    return check_residence(hContext, hDevice, ptr, size);
}

ze_result_t zeContextEvictMemory(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 void *ptr, size_t size)
{
    FAKE_CALL(zeContextEvictMemory, ze_result_t);
    return check_residence(hContext, hDevice, ptr, size);
}

/* --- allocations -------------------------------------------------------------------- */

/* Blocks are aligned to a page at least. */
static ze_result_t allocate(const device_t *device, fake_memory_kind_t kind, size_t size,
                            size_t alignment, void *owner, void **out_address)
{
    if (out_address == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (size == 0 || size > device_memory(device))
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if ((alignment & (alignment - 1)) != 0)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    void *address = fake_memory_allocate(device->card, kind, size, owner);
    if (address == NULL)
        return kind == FAKE_MEMORY_PINNED ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                          : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    if (alignment > 0 && (uintptr_t)address % alignment != 0) {
        fake_memory_free(address, kind);
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    *out_address = address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    FAKE_CALL(zeMemAllocDevice, ze_result_t);
    context_t *context;
    device_t *device;
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return allocate(device, FAKE_MEMORY_DEVICE, size, alignment, context, pptr);
}

/* Of no device; the fake keeps it with the first. */
ze_result_t zeMemAllocHost(ze_context_handle_t hContext,
                           const ze_host_mem_alloc_desc_t *desc, size_t size,
                           size_t alignment, void **pptr)
{
    FAKE_CALL(zeMemAllocHost, ze_result_t);
    context_t *context;
    device_t any = {.card = fake_card(0), .tile = -1};
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return allocate(&any, FAKE_MEMORY_PINNED, size, alignment, context, pptr);
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *device_desc,
                             const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    FAKE_CALL(zeMemAllocShared, ze_result_t);
    context_t *context;
    device_t *device = NULL, any = {.card = fake_card(0), .tile = -1};
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS && hDevice != NULL)
        result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (device_desc == NULL || host_desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return allocate(device != NULL ? device : &any, FAKE_MEMORY_MANAGED, size, alignment,
                    context, pptr);
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    FAKE_CALL(zeMemFree, ze_result_t);
    context_t *context;
    fake_block_t block;
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (ptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!fake_memory_find(ptr, 0, &block) || block.owner != context ||
        !fake_memory_free(ptr, block.kind))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return ZE_RESULT_SUCCESS;
}

/* --- questions ---------------------------------------------------------------------- */

/* Memory that nobody allocated is of unknown type, which is no error. */
ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext, const void *ptr,
                                    ze_memory_allocation_properties_t *p,
                                    ze_device_handle_t *phDevice)
{
    FAKE_CALL(zeMemGetAllocProperties, ze_result_t);
    context_t *context;
    fake_block_t block;
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (ptr == NULL || p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->type = ZE_MEMORY_TYPE_UNKNOWN;
    p->id = 0;
    p->pageSize = 4096;
    if (phDevice != NULL)
        *phDevice = NULL;
    if (!fake_memory_find(ptr, 0, &block))
        return ZE_RESULT_SUCCESS;
    p->type = block.kind == FAKE_MEMORY_DEVICE   ? ZE_MEMORY_TYPE_DEVICE
              : block.kind == FAKE_MEMORY_PINNED ? ZE_MEMORY_TYPE_HOST
                                                 : ZE_MEMORY_TYPE_SHARED;
    p->id = block.address;
    if (phDevice != NULL && block.kind != FAKE_MEMORY_PINNED)
        *phDevice = device_of_card(block.card);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr,
                                 void **pBase, size_t *pSize)
{
    FAKE_CALL(zeMemGetAddressRange, ze_result_t);
    context_t *context;
    fake_block_t block;
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (ptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!fake_memory_find(ptr, 0, &block))
        return ZE_RESULT_ERROR_UNKNOWN;
    if (pBase != NULL)
        *pBase = (void *)block.address;
    if (pSize != NULL)
        *pSize = block.size;
    return ZE_RESULT_SUCCESS;
}
