/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, copies, fills. */
#include "hip.h"
#include <string.h>

/* ---- allocating -------------------------------------------------------------------- */

static hip_result_t allocate(hip_device_t *device, fake_memory_kind_t kind, size_t size,
                             void **out)
{
    if (out == NULL)
        return hip_done(HIP_INVALID_VALUE);
    if (size == 0) { /* "no memory is allocated, *ptr returns nullptr, hipSuccess" */
        *out = NULL;
        return HIP_SUCCESS;
    }
    void *address = fake_memory_allocate(device->card, kind, size, device);
    if (address == NULL)
        return hip_done(HIP_OUT_OF_MEMORY);
    *out = address;
    return HIP_SUCCESS;
}

/* Waits for the device, as hipFree's documentation says. */
static hip_result_t release(void *address, const fake_memory_kind_t *kinds, int count)
{
    fake_block_t block;
    if (address == NULL)
        return HIP_SUCCESS;
    if (!fake_memory_find(address, 0, &block) || block.address != (uintptr_t)address)
        return hip_done(HIP_INVALID_VALUE);
    fake_group_wait(block.owner);
    for (int i = 0; i < count; i++)
        if (fake_memory_free(address, kinds[i]))
            return HIP_SUCCESS;
    return hip_done(HIP_INVALID_VALUE);
}

FAKE_API hip_result_t hipMemGetInfo(size_t *free, size_t *total)
{
    HIP_CALL_DEVICE(hipMemGetInfo);
    uint64_t left, all;
    fake_memory_info(device->card, &left, &all);
    FAKE_OUT(*free, left);
    FAKE_OUT(*total, all);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipMalloc(void **out, size_t size)
{
    HIP_CALL_DEVICE(hipMalloc);
    return allocate(device, FAKE_MEMORY_DEVICE, size, out);
}

/* hipDeviceMallocDefault 0, FinegrainedMemory 1, hipMallocSignalMemory 2: of 8 bytes, for
 * hipStreamWaitValue; the host may use it. */
FAKE_API hip_result_t hipExtMallocWithFlags(void **out, size_t size, unsigned flags)
{
    HIP_CALL_DEVICE(hipExtMallocWithFlags);
    if (flags > 2 || (flags == 2 && size != 8))
        return hip_done(HIP_INVALID_VALUE);
    return allocate(device, flags == 2 ? FAKE_MEMORY_MANAGED : FAKE_MEMORY_DEVICE, size,
                    out);
}

FAKE_API hip_result_t hipFree(void *address)
{
    HIP_CALL(hipFree);
    static const fake_memory_kind_t kinds[] = {FAKE_MEMORY_DEVICE, FAKE_MEMORY_MANAGED};
    return release(address, kinds, 2);
}

FAKE_API hip_result_t hipMallocManaged(void **out, size_t size, unsigned flags)
{
    HIP_CALL_DEVICE(hipMallocManaged);
    if (flags != 1 && flags != 2) /* hipMemAttachGlobal, _Host */
        return hip_done(HIP_INVALID_VALUE);
    return allocate(device, FAKE_MEMORY_MANAGED, size, out);
}

FAKE_API hip_result_t hipHostMalloc(void **out, size_t size, unsigned flags)
{
    HIP_CALL_DEVICE(hipHostMalloc);
    (void)flags;
    return allocate(device, FAKE_MEMORY_PINNED, size, out);
}

FAKE_API hip_result_t hipHostFree(void *address)
{
    HIP_CALL(hipHostFree);
    static const fake_memory_kind_t kinds[] = {FAKE_MEMORY_PINNED};
    return release(address, kinds, 1);
}

FAKE_API hip_result_t hipHostRegister(void *address, size_t size, unsigned flags)
{
    HIP_CALL_DEVICE(hipHostRegister);
    (void)flags;
    if (address == NULL || size == 0)
        return hip_done(HIP_INVALID_VALUE);
    return fake_memory_register(address, size, device->card, device)
               ? HIP_SUCCESS
               : hip_done(HIP_HOST_MEMORY_ALREADY_REGISTERED);
}

FAKE_API hip_result_t hipHostUnregister(void *address)
{
    HIP_CALL(hipHostUnregister);
    return fake_memory_free(address, FAKE_MEMORY_REGISTERED)
               ? HIP_SUCCESS
               : hip_done(HIP_HOST_MEMORY_NOT_REGISTERED);
}

FAKE_API hip_result_t hipHostGetDevicePointer(void **out, void *address, unsigned flags)
{
    HIP_CALL(hipHostGetDevicePointer);
    if (out == NULL || flags != 0 || fake_memory_place(address, 1) != FAKE_PLACE_PINNED)
        return hip_done(HIP_INVALID_VALUE);
    *out = address;
    return HIP_SUCCESS;
}

#ifndef FAKE_MACA
/* hipPointerAttribute_t of HIP 5.2.3: memoryType (host 0, device 1), device,
 * devicePointer, hostPointer, isManaged, allocationFlags. */
typedef struct pointer_attributes {
    int type, device;
    void *on_device, *on_host;
    int managed;
    unsigned flags;
} pointer_attributes_t;

FAKE_API hip_result_t hipPointerGetAttributes(void *out, const void *address)
{
    HIP_CALL(hipPointerGetAttributes);
    fake_block_t block;
    if (!fake_memory_find(address, 0, &block))
        return hip_done(HIP_INVALID_VALUE);
    hip_device_t *owner = block.owner;
    bool device = block.kind == FAKE_MEMORY_DEVICE;
    pointer_attributes_t answer = {0};
#if HIP_FAKE_MAJOR >= 6
    /* hipMemoryType took CUDA's values in 6.0: host 1, device 2, managed 3. */
    answer.type = device ? 2 : block.kind == FAKE_MEMORY_MANAGED ? 3 : 1;
#else
    answer.type = device || block.kind == FAKE_MEMORY_MANAGED;
#endif
    answer.device = owner->ordinal;
    answer.on_device = (void *)(uintptr_t)address;
    answer.on_host = device ? NULL : answer.on_device;
    answer.managed = block.kind == FAKE_MEMORY_MANAGED;
    memcpy(out, &answer, sizeof answer);
    return HIP_SUCCESS;
}

#endif

/* ---- copying ----------------------------------------------------------------------- */

typedef struct copy {
    void *to;
    const void *from;
    size_t size;
    hip_device_t *device;
} copy_t;

static bool bad(const void *address, size_t size)
{
    return address == NULL || fake_memory_place(address, size) == FAKE_PLACE_BAD;
}

static void run_copy(void *data)
{
    const copy_t *copy = data;
    if (bad(copy->to, copy->size) || bad(copy->from, copy->size)) {
        hip_fail(copy->device, HIP_ILLEGAL_ADDRESS);
        return;
    }
    memmove(fake_shadow(copy->to), fake_shadow(copy->from), copy->size);
}

static bool on_device(const void *address)
{
    return fake_memory_place(address, 1) == FAKE_PLACE_DEVICE;
}

/* hipMemcpyKind: host to host 0, to device 1, to host 2, device to device 3, default 4. A
 * kind that contradicts the addresses is an error here, for who says the wrong one. */
static bool agrees(const copy_t *copy, int kind)
{
    bool to = kind == 1 || kind == 3, from = kind == 2 || kind == 3;
    if (kind == 4)
        return true;
    if ((!to && on_device(copy->to)) || (!from && on_device(copy->from)))
        return false;
    return (!to || fake_memory_place(copy->to, 1) != FAKE_PLACE_HOST) &&
           (!from || fake_memory_place(copy->from, 1) != FAKE_PLACE_HOST);
}

static hip_result_t enqueue_copy(copy_t copy, int kind, void *stream, bool wait)
{
    fake_stream_t *queue;
    hip_result_t result = hip_queue(stream, &queue, &copy.device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    if (kind < 0 || kind > 4)
        return hip_done(HIP_INVALID_MEMCPY_DIRECTION);
    if (copy.size == 0)
        return HIP_SUCCESS;
    if (bad(copy.to, copy.size) || bad(copy.from, copy.size) || !agrees(&copy, kind))
        return hip_done(HIP_INVALID_VALUE);
    bool both = on_device(copy.to) && on_device(copy.from);
    fake_stream_push(queue, run_copy, &copy, sizeof copy);
    if (!wait || both)
        return HIP_SUCCESS;
    fake_stream_wait(queue);
    return hip_done(hip_usable(copy.device));
}

FAKE_API hip_result_t hipMemcpy(void *to, const void *from, size_t size, int kind)
{
    HIP_CALL(hipMemcpy);
    return enqueue_copy((copy_t){to, from, size, NULL}, kind, NULL, true);
}

FAKE_API hip_result_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind,
                                     void *stream)
{
    HIP_CALL(hipMemcpyAsync);
    return enqueue_copy((copy_t){to, from, size, NULL}, kind, stream, false);
}

FAKE_API hip_result_t hipMemcpyHtoDAsync(void *to, void *from, size_t size, void *stream)
{
    HIP_CALL(hipMemcpyHtoDAsync);
    return enqueue_copy((copy_t){to, from, size, NULL}, 1, stream, false);
}

FAKE_API hip_result_t hipMemcpyDtoHAsync(void *to, void *from, size_t size, void *stream)
{
    HIP_CALL(hipMemcpyDtoHAsync);
    return enqueue_copy((copy_t){to, from, size, NULL}, 2, stream, false);
}

FAKE_API hip_result_t hipMemcpyDtoDAsync(void *to, void *from, size_t size, void *stream)
{
    HIP_CALL(hipMemcpyDtoDAsync);
    return enqueue_copy((copy_t){to, from, size, NULL}, 3, stream, false);
}

FAKE_API hip_result_t hipMemcpyPeerAsync(void *to, int to_device, const void *from,
                                         int from_device, size_t size, void *stream)
{
    HIP_CALL(hipMemcpyPeerAsync);
    if (fake_visible(to_device) == NULL || fake_visible(from_device) == NULL)
        return hip_done(HIP_INVALID_DEVICE);
    return enqueue_copy((copy_t){to, from, size, NULL}, 3, stream, false);
}

/* ---- filling ----------------------------------------------------------------------- */

typedef struct fill {
    char *to;
    size_t pitch, width, height;
    unsigned value, element;
    hip_device_t *device;
} fill_t;

static size_t extent(const fill_t *fill)
{
    return fill->height == 0 ? 0 : (fill->height - 1) * fill->pitch + fill->width;
}

static void run_fill(void *data)
{
    const fill_t *fill = data;
    if (bad(fill->to, extent(fill))) {
        hip_fail(fill->device, HIP_ILLEGAL_ADDRESS);
        return;
    }
    char *row = fake_shadow(fill->to);
    for (size_t y = 0; y < fill->height; y++, row += fill->pitch)
        for (size_t x = 0; x < fill->width; x += fill->element)
            memcpy(row + x, &fill->value, fill->element);
}

static hip_result_t enqueue_fill(fill_t fill, void *stream)
{
    fake_stream_t *queue;
    hip_result_t result = hip_queue(stream, &queue, &fill.device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    if (fill.width == 0 || fill.height == 0)
        return HIP_SUCCESS;
    if ((uintptr_t)fill.to % fill.element != 0 || bad(fill.to, extent(&fill)) ||
        fake_memory_place(fill.to, 1) == FAKE_PLACE_HOST ||
        (fill.height > 1 && fill.pitch < fill.width))
        return hip_done(HIP_INVALID_VALUE);
    fake_stream_push(queue, run_fill, &fill, sizeof fill);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipMemset(void *to, int value, size_t size)
{
    HIP_CALL(hipMemset);
    return enqueue_fill((fill_t){to, 0, size, 1, (unsigned)value & 255u, 1, NULL}, NULL);
}

FAKE_API hip_result_t hipMemsetAsync(void *to, int value, size_t size, void *stream)
{
    HIP_CALL(hipMemsetAsync);
    return enqueue_fill((fill_t){to, 0, size, 1, (unsigned)value & 255u, 1, NULL},
                        stream);
}

FAKE_API hip_result_t hipMemsetD8Async(void *to, unsigned char value, size_t count,
                                       void *stream)
{
    HIP_CALL(hipMemsetD8Async);
    return enqueue_fill((fill_t){to, 0, count, 1, value, 1, NULL}, stream);
}

FAKE_API hip_result_t hipMemsetD16Async(void *to, unsigned short value, size_t count,
                                        void *stream)
{
    HIP_CALL(hipMemsetD16Async);
    return enqueue_fill((fill_t){to, 0, 2 * count, 1, value, 2, NULL}, stream);
}

FAKE_API hip_result_t hipMemsetD32Async(void *to, int value, size_t count, void *stream)
{
    HIP_CALL(hipMemsetD32Async);
    return enqueue_fill((fill_t){to, 0, 4 * count, 1, (unsigned)value, 4, NULL}, stream);
}

FAKE_API hip_result_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                       size_t height, void *stream)
{
    HIP_CALL(hipMemset2DAsync);
    return enqueue_fill(
        (fill_t){to, pitch, width, height, (unsigned)value & 255u, 1, NULL}, stream);
}
