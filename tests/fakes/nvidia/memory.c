/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, copies, fills. Pageable memory in asynchronous copies is read and written when
 * the copy runs: the manual says that such a call "may be synchronous", so that nobody
 * may rely on it. */
#include "cuda.h"
#include <string.h>

/* ---- allocating -------------------------------------------------------------------- */

static cu_result_t allocate(cu_context_t *context, fake_memory_kind_t kind, size_t size,
                            void **out)
{
    if (out == NULL || size == 0)
        return CU_INVALID_VALUE;
    void *address = fake_memory_allocate(context->card, kind, size, context);
    if (address == NULL)
        return CU_OUT_OF_MEMORY;
    *out = address;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuMemGetInfo_v2(size_t *free, size_t *total)
{
    CU_CALL_CONTEXT(cuMemGetInfo_v2);
    uint64_t left, all;
    if (free == NULL || total == NULL)
        return CU_INVALID_VALUE;
    fake_memory_info(context->card, &left, &all);
    FAKE_OUT(*free, left);
    FAKE_OUT(*total, all);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuMemAlloc_v2(cu_address_t *out, size_t size)
{
    CU_CALL_CONTEXT(cuMemAlloc_v2);
    void *address;
    cu_result_t result = allocate(context, FAKE_MEMORY_DEVICE, size, &address);
    if (result == CU_SUCCESS)
        *out = (uintptr_t)address;
    return result;
}

/* Waits for all work of the context, as the real one does. */
FAKE_API cu_result_t cuMemFree_v2(cu_address_t address)
{
    CU_CALL_CONTEXT(cuMemFree_v2);
    void *at = (void *)(uintptr_t)address;
    fake_block_t block;
    if (address == 0)
        return CU_SUCCESS;
    if (!fake_memory_find(at, 0, &block) || block.address != address)
        return CU_INVALID_VALUE;
    fake_group_wait(block.owner);
    bool freed = fake_memory_free(at, FAKE_MEMORY_DEVICE) ||
                 fake_memory_free(at, FAKE_MEMORY_MANAGED);
    return freed ? cu_usable(context) : CU_INVALID_VALUE;
}

FAKE_API cu_result_t cuMemAllocManaged(cu_address_t *out, size_t size, unsigned flags)
{
    CU_CALL_CONTEXT(cuMemAllocManaged);
    void *address;
    if (flags != 1 && flags != 2) /* CU_MEM_ATTACH_GLOBAL, _HOST */
        return CU_INVALID_VALUE;
    cu_result_t result = allocate(context, FAKE_MEMORY_MANAGED, size, &address);
    if (result == CU_SUCCESS)
        *out = (uintptr_t)address;
    return result;
}

FAKE_API cu_result_t cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    CU_CALL_CONTEXT(cuMemHostAlloc);
    if ((flags & ~7u) != 0)
        return CU_INVALID_VALUE;
    return allocate(context, FAKE_MEMORY_PINNED, size, out);
}

FAKE_API cu_result_t cuMemAllocHost_v2(void **out, size_t size)
{
    CU_CALL_CONTEXT(cuMemAllocHost_v2);
    return allocate(context, FAKE_MEMORY_PINNED, size, out);
}

FAKE_API cu_result_t cuMemFreeHost(void *address)
{
    CU_CALL_CONTEXT(cuMemFreeHost);
    fake_block_t block;
    if (!fake_memory_find(address, 0, &block))
        return CU_INVALID_VALUE;
    fake_group_wait(block.owner);
    (void)context;
    return fake_memory_free(address, FAKE_MEMORY_PINNED) ? CU_SUCCESS : CU_INVALID_VALUE;
}

FAKE_API cu_result_t cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    CU_CALL_CONTEXT(cuMemHostRegister_v2);
    if (address == NULL || size == 0 || (flags & ~15u) != 0)
        return CU_INVALID_VALUE;
    return fake_memory_register(address, size, context->card, context)
               ? CU_SUCCESS
               : CU_HOST_MEMORY_ALREADY_REGISTERED;
}

FAKE_API cu_result_t cuMemHostUnregister(void *address)
{
    CU_CALL_CONTEXT(cuMemHostUnregister);
    (void)context;
    return fake_memory_free(address, FAKE_MEMORY_REGISTERED)
               ? CU_SUCCESS
               : CU_HOST_MEMORY_NOT_REGISTERED;
}

FAKE_API cu_result_t cuMemHostGetDevicePointer_v2(cu_address_t *out, void *address,
                                                  unsigned flags)
{
    CU_CALL_CONTEXT(cuMemHostGetDevicePointer_v2);
    (void)context;
    if (out == NULL || flags != 0 || fake_memory_place(address, 1) != FAKE_PLACE_PINNED)
        return CU_INVALID_VALUE;
    *out = (uintptr_t)address;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuMemGetAddressRange_v2(cu_address_t *base, size_t *size,
                                             cu_address_t address)
{
    CU_CALL_CONTEXT(cuMemGetAddressRange_v2);
    fake_block_t block;
    (void)context;
    if (!fake_memory_find((void *)(uintptr_t)address, 0, &block))
        return CU_NOT_FOUND;
    if (base != NULL)
        *base = block.address;
    if (size != NULL)
        *size = block.size;
    return CU_SUCCESS;
}

/* CUpointer_attribute (cuda.h): CONTEXT 1, MEMORY_TYPE 2, DEVICE_POINTER 3, HOST_POINTER
 * 4, IS_MANAGED 8, DEVICE_ORDINAL 9, RANGE_START_ADDR 11, RANGE_SIZE 12. Memory that the
 * driver does not know gives CUDA_ERROR_INVALID_VALUE. */
FAKE_API cu_result_t cuPointerGetAttribute(void *data, int which, cu_address_t address)
{
    CU_CALL(cuPointerGetAttribute);
    fake_block_t block;
    if (data == NULL || !fake_memory_find((void *)(uintptr_t)address, 0, &block))
        return CU_INVALID_VALUE;
    cu_context_t *owner = block.owner;
    bool host = block.kind == FAKE_MEMORY_PINNED || block.kind == FAKE_MEMORY_REGISTERED;
    switch (which) {
    case 1:
        memcpy(data, &block.owner, sizeof block.owner);
        break;
    case 2:
        *(unsigned *)data = host ? 1 : 2; /* CU_MEMORYTYPE_HOST, _DEVICE */
        break;
    case 4:
        if (block.kind == FAKE_MEMORY_DEVICE)
            return CU_INVALID_VALUE;
        /* fall through */
    case 3:
        *(cu_address_t *)data = address;
        break;
    case 8:
        *(unsigned *)data = block.kind == FAKE_MEMORY_MANAGED;
        break;
    case 9:
        *(int *)data = owner->device;
        break;
    case 11:
        *(cu_address_t *)data = block.address;
        break;
    case 12:
        *(size_t *)data = block.size;
        break;
    default:
        return CU_INVALID_VALUE;
    }
    return CU_SUCCESS;
}

/* ---- copying ----------------------------------------------------------------------- */

typedef struct copy {
    void *to;
    const void *from;
    size_t size;
    cu_context_t *context;
} copy_t;

static bool bad(const void *address, size_t size)
{
    return address == NULL || fake_memory_place(address, size) == FAKE_PLACE_BAD;
}

static void run_copy(void *data)
{
    const copy_t *copy = data;
    /* Freed since it was enqueued. */
    if (bad(copy->to, copy->size) || bad(copy->from, copy->size)) {
        cu_fail(copy->context, CU_ILLEGAL_ADDRESS);
        return;
    }
    memmove(fake_shadow(copy->to), fake_shadow(copy->from), copy->size);
}

typedef enum end {
    ON_DEVICE, /* must be an address that the driver gave out */
    ON_HOST,   /* must not be a device address */
    ANYWHERE
} end_t;

static bool fits(const void *address, size_t size, end_t end)
{
    fake_place_t place = fake_memory_place(address, size);
    if (place == FAKE_PLACE_BAD || address == NULL)
        return false;
    if (end == ON_DEVICE)
        return place != FAKE_PLACE_HOST;
    return end == ANYWHERE || place != FAKE_PLACE_DEVICE;
}

static bool on_device(const void *address)
{
    fake_place_t place = fake_memory_place(address, 1);
    return place == FAKE_PLACE_DEVICE || place == FAKE_PLACE_MANAGED;
}

static cu_result_t enqueue_copy(cu_context_t *context, copy_t copy, end_t to, end_t from,
                                void *stream, bool wait)
{
    fake_stream_t *queue;
    cu_context_t *of;
    cu_result_t result = cu_queue(context, stream, &queue, &of);
    if (result != CU_SUCCESS || copy.size == 0)
        return result;
    if (!fits(copy.to, copy.size, to) || !fits(copy.from, copy.size, from))
        return CU_INVALID_VALUE;
    copy.context = of;
    bool both = on_device(copy.to) && on_device(copy.from);
    fake_stream_push(queue, run_copy, &copy, sizeof copy);
    /* Between device memories even the synchronous call does not wait. */
    if (wait && !both) {
        fake_stream_wait(queue);
        return cu_usable(of);
    }
    return CU_SUCCESS;
}

#define AT(address) ((void *)(uintptr_t)(address))
#define COPY(to, from, size) ((copy_t){AT(to), AT(from), size, NULL})

FAKE_API cu_result_t cuMemcpy(cu_address_t to, cu_address_t from, size_t size)
{
    CU_CALL_CONTEXT(cuMemcpy);
    return enqueue_copy(context, COPY(to, from, size), ANYWHERE, ANYWHERE, NULL, true);
}

FAKE_API cu_result_t cuMemcpyAsync(cu_address_t to, cu_address_t from, size_t size,
                                   void *stream)
{
    CU_CALL_CONTEXT(cuMemcpyAsync);
    return enqueue_copy(context, COPY(to, from, size), ANYWHERE, ANYWHERE, stream, false);
}

FAKE_API cu_result_t cuMemcpyHtoD_v2(cu_address_t to, const void *from, size_t size)
{
    CU_CALL_CONTEXT(cuMemcpyHtoD_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_DEVICE, ON_HOST, NULL, true);
}

FAKE_API cu_result_t cuMemcpyDtoH_v2(void *to, cu_address_t from, size_t size)
{
    CU_CALL_CONTEXT(cuMemcpyDtoH_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_HOST, ON_DEVICE, NULL, true);
}

FAKE_API cu_result_t cuMemcpyDtoD_v2(cu_address_t to, cu_address_t from, size_t size)
{
    CU_CALL_CONTEXT(cuMemcpyDtoD_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_DEVICE, ON_DEVICE, NULL, true);
}

FAKE_API cu_result_t cuMemcpyHtoDAsync_v2(cu_address_t to, const void *from, size_t size,
                                          void *stream)
{
    CU_CALL_CONTEXT(cuMemcpyHtoDAsync_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_DEVICE, ON_HOST, stream, false);
}

FAKE_API cu_result_t cuMemcpyDtoHAsync_v2(void *to, cu_address_t from, size_t size,
                                          void *stream)
{
    CU_CALL_CONTEXT(cuMemcpyDtoHAsync_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_HOST, ON_DEVICE, stream, false);
}

FAKE_API cu_result_t cuMemcpyDtoDAsync_v2(cu_address_t to, cu_address_t from, size_t size,
                                          void *stream)
{
    CU_CALL_CONTEXT(cuMemcpyDtoDAsync_v2);
    return enqueue_copy(context, COPY(to, from, size), ON_DEVICE, ON_DEVICE, stream,
                        false);
}

FAKE_API cu_result_t cuMemcpyPeerAsync(cu_address_t to, void *to_context,
                                       cu_address_t from, void *from_context, size_t size,
                                       void *stream)
{
    CU_CALL_CONTEXT(cuMemcpyPeerAsync);
    if (fake_handle_check(to_context, KIND_CONTEXT) == NULL ||
        fake_handle_check(from_context, KIND_CONTEXT) == NULL)
        return CU_INVALID_CONTEXT;
    return enqueue_copy(context, COPY(to, from, size), ON_DEVICE, ON_DEVICE, stream,
                        false);
}

/* ---- filling ----------------------------------------------------------------------- */

typedef struct fill {
    char *to;
    size_t pitch, width, height; /* bytes, bytes, rows */
    unsigned value, element;     /* bytes of the pattern */
    cu_context_t *context;
} fill_t;

static size_t extent(const fill_t *fill)
{
    return fill->height == 0 ? 0 : (fill->height - 1) * fill->pitch + fill->width;
}

static void run_fill(void *data)
{
    const fill_t *fill = data;
    if (bad(fill->to, extent(fill))) {
        cu_fail(fill->context, CU_ILLEGAL_ADDRESS);
        return;
    }
    char *row = fake_shadow(fill->to);
    for (size_t y = 0; y < fill->height; y++, row += fill->pitch)
        for (size_t x = 0; x < fill->width; x += fill->element)
            memcpy(row + x, &fill->value, fill->element);
}

static cu_result_t enqueue_fill(cu_context_t *context, fill_t fill, void *stream)
{
    fake_stream_t *queue;
    cu_result_t result = cu_queue(context, stream, &queue, &fill.context);
    if (result != CU_SUCCESS || fill.width == 0 || fill.height == 0)
        return result;
    if ((uintptr_t)fill.to % fill.element != 0 || fill.pitch % fill.element != 0 ||
        (fill.height > 1 && fill.pitch < fill.width) ||
        !fits(fill.to, extent(&fill), ON_DEVICE))
        return CU_INVALID_VALUE;
    fake_stream_push(queue, run_fill, &fill, sizeof fill);
    return CU_SUCCESS;
}

/* One row, N elements; and rows of a pitch. The calls without a stream do not wait
 * either, but for pinned memory. */
#define FILLS(bits, type)                                                                \
    FAKE_API cu_result_t cuMemsetD##bits##_v2(cu_address_t to, type value, size_t count) \
    {                                                                                    \
        CU_CALL_CONTEXT(cuMemsetD##bits##_v2);                                           \
        fill_t fill = {AT(to), 0, count * sizeof value, 1, value, sizeof value, NULL};   \
        return enqueue_fill(context, fill, NULL);                                        \
    }                                                                                    \
    FAKE_API cu_result_t cuMemsetD##bits##Async(cu_address_t to, type value,             \
                                                size_t count, void *stream)              \
    {                                                                                    \
        CU_CALL_CONTEXT(cuMemsetD##bits##Async);                                         \
        fill_t fill = {AT(to), 0, count * sizeof value, 1, value, sizeof value, NULL};   \
        return enqueue_fill(context, fill, stream);                                      \
    }                                                                                    \
    FAKE_API cu_result_t cuMemsetD2D##bits##_v2(cu_address_t to, size_t pitch,           \
                                                type value, size_t width, size_t height) \
    {                                                                                    \
        CU_CALL_CONTEXT(cuMemsetD2D##bits##_v2);                                         \
        fill_t fill = {AT(to),       pitch, width * sizeof value, height, value,         \
                       sizeof value, NULL};                                              \
        return enqueue_fill(context, fill, NULL);                                        \
    }                                                                                    \
    FAKE_API cu_result_t cuMemsetD2D##bits##Async(cu_address_t to, size_t pitch,         \
                                                  type value, size_t width,              \
                                                  size_t height, void *stream)           \
    {                                                                                    \
        CU_CALL_CONTEXT(cuMemsetD2D##bits##Async);                                       \
        fill_t fill = {AT(to),       pitch, width * sizeof value, height, value,         \
                       sizeof value, NULL};                                              \
        return enqueue_fill(context, fill, stream);                                      \
    }

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
