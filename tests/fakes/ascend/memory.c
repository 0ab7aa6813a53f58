/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the fake AscendCL. Which checks come in which order, and with which code:
 * hicann/runtime src/acl/aclrt_impl/memory.cpp and src/runtime/api/impl/api_error.cc.
 * Newer runtimes correct some wrong kinds silently (MemcpyKindReviseMap there); here each
 * is an error, as in older ones.
 */
#include "core.h"
#include <stdio.h>
#include <string.h>

/* --- allocation --------------------------------------------------------------------- */

static aclError allocate(void **out_address, size_t size, fake_memory_kind_t kind)
{
    context_t *context;
    if (out_address == NULL || size == 0)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "no output, or size 0");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    void *address = fake_memory_allocate(context->card, kind, size, NULL);
    if (address == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate %zu bytes",
                        size);
    *out_address = address;
    return ACL_SUCCESS;
}

static aclError release(void *address, fake_memory_kind_t kind)
{
    context_t *context;
    if (address == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "address is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS && code != ACL_ERROR_RT_LOST_HEARTBEAT)
        return code;
    if (!fake_memory_free(address, kind))
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not such memory", address);
    return code;
}

FAKE_API aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    FAKE_CALL(aclrtMalloc, aclError);
    (void)policy;
    return allocate(devPtr, size, FAKE_MEMORY_DEVICE);
}

FAKE_API aclError aclrtFree(void *devPtr)
{
    FAKE_CALL(aclrtFree, aclError);
    return release(devPtr, FAKE_MEMORY_DEVICE);
}

FAKE_API aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    FAKE_CALL(aclrtMallocHost, aclError);
    return allocate(hostPtr, size, FAKE_MEMORY_PINNED);
}

FAKE_API aclError aclrtFreeHost(void *hostPtr)
{
    FAKE_CALL(aclrtFreeHost, aclError);
    return release(hostPtr, FAKE_MEMORY_PINNED);
}

FAKE_API aclError aclrtHostRegister(void *ptr, uint64_t size, int type, void **devPtr)
{
    FAKE_CALL(aclrtHostRegister, aclError);
    context_t *context;
    if (ptr == NULL || size == 0 || devPtr == NULL || type != 0)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "an argument is invalid");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    if (!fake_memory_register(ptr, size, context->card, NULL))
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is registered already", ptr);
    *devPtr = ptr;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtHostUnregister(void *ptr)
{
    FAKE_CALL(aclrtHostUnregister, aclError);
    return release(ptr, FAKE_MEMORY_REGISTERED);
}

/* --- copies ------------------------------------------------------------------------- */

typedef struct copy {
    void *dst;
    const void *src;
    size_t size;
} copy_t;

static void run_copy(void *data)
{
    const copy_t *copy = data;
    memmove(fake_shadow(copy->dst), fake_shadow(copy->src), copy->size);
}

static aclError check_range(const void *dst, size_t dest_max, const void *src,
                            size_t count, int kind)
{
    if (dst == NULL || src == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "EH0002: an address is NULL");
    if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "EH0001: kind %d is invalid", kind);
    if (count > dest_max)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "EE1003: count %zu is greater than destMax %zu", count, dest_max);
    return ACL_SUCCESS;
}

/* The kind that the addresses ask for; -1: one of them is not live memory. */
static int kind_of(const void *dst, const void *src, size_t count)
{
    fake_place_t to = fake_memory_place(dst, count), from = fake_memory_place(src, count);
    if (to == FAKE_PLACE_BAD || from == FAKE_PLACE_BAD)
        return -1;
    bool to_device = to == FAKE_PLACE_DEVICE, from_device = from == FAKE_PLACE_DEVICE;
    return to_device
               ? (from_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE)
               : (from_device ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST);
}

static aclError check_peers(const void *dst, const void *src)
{
    fake_block_t to, from;
    if (!fake_memory_find(dst, 0, &to) || !fake_memory_find(src, 0, &from) ||
        acl_peer_enabled(to.card, from.card) || acl_peer_enabled(from.card, to.card))
        return ACL_SUCCESS;
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                    "copy between devices without aclrtDeviceEnablePeerAccess");
}

static aclError check_copy(const void *dst, size_t dest_max, const void *src,
                           size_t count, int kind, int *out_kind)
{
    aclError code = check_range(dst, dest_max, src, count, kind);
    if (code != ACL_SUCCESS)
        return code;
    *out_kind = kind_of(dst, src, count);
    if (*out_kind < 0)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "an address is not allocated");
    if (kind != ACL_MEMCPY_DEFAULT && kind != *out_kind)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "kind %d, but the addresses are of kind %d", kind, *out_kind);
    return *out_kind == ACL_MEMCPY_DEVICE_TO_DEVICE ? check_peers(dst, src) : ACL_SUCCESS;
}

/* Returns when done, and is in no order with any stream. */
FAKE_API aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                              aclrtMemcpyKind kind)
{
    FAKE_CALL(aclrtMemcpy, aclError);
    context_t *context;
    int actual;
    if (count == 0)
        return ACL_SUCCESS;
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = check_copy(dst, destMax, src, count, (int)kind, &actual);
    if (code != ACL_SUCCESS)
        return code;
    copy_t copy = {dst, src, count};
    run_copy(&copy);
    return ACL_SUCCESS;
}

/* acl_rt.h, restriction of aclrtMemcpyAsync: for on-chip copies both addresses must be
 * aligned to 64 bytes. */
static aclError check_alignment(const void *dst, const void *src)
{
    fake_block_t to, from;
    if (((uintptr_t)dst | (uintptr_t)src) % 64 == 0)
        return ACL_SUCCESS;
    if (fake_memory_find(dst, 0, &to) && fake_memory_find(src, 0, &from) &&
        to.card == from.card)
        return acl_fail(ACL_ERROR_RT_ADDR_UNALIGNED,
                        "device-to-device copy of addresses not aligned to 64 bytes");
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src,
                                   size_t count, aclrtMemcpyKind kind, aclrtStream stream)
{
    FAKE_CALL(aclrtMemcpyAsync, aclError);
    context_t *context;
    stream_t *queue;
    int actual = 0;
    if (count == 0)
        return ACL_SUCCESS;
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = check_copy(dst, destMax, src, count, (int)kind, &actual);
    if (code == ACL_SUCCESS)
        code = acl_stream(context, stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    if (actual == ACL_MEMCPY_HOST_TO_HOST)
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        "asynchronous host-to-host copies are not supported");
    if (actual == ACL_MEMCPY_DEVICE_TO_DEVICE &&
        (code = check_alignment(dst, src)) != ACL_SUCCESS)
        return code;
    copy_t copy = {dst, src, count};
    fake_stream_push(queue->queue, run_copy, &copy, sizeof copy);
    return ACL_SUCCESS;
}

/* --- fills -------------------------------------------------------------------------- */

typedef struct fill {
    void *at;
    size_t size;
    int32_t value;
} fill_t;

static void run_fill(void *data)
{
    const fill_t *fill = data;
    memset(fake_shadow(fill->at), fill->value, fill->size);
}

static aclError check_fill(void *at, size_t max, size_t count)
{
    if (at == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "EH0002: address is NULL");
    if (count > max)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "EE1003: count %zu is greater than the maximum %zu", count, max);
    fake_place_t place = fake_memory_place(at, count);
    if (place != FAKE_PLACE_DEVICE && place != FAKE_PLACE_PINNED)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not memory of ACL", at);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    FAKE_CALL(aclrtMemset, aclError);
    context_t *context;
    if (count == 0)
        return ACL_SUCCESS;
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = check_fill(devPtr, maxCount, count);
    if (code != ACL_SUCCESS)
        return code;
    fill_t fill = {devPtr, count, value};
    run_fill(&fill);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value,
                                   size_t count, aclrtStream stream)
{
    FAKE_CALL(aclrtMemsetAsync, aclError);
    context_t *context;
    stream_t *queue;
    if (count == 0)
        return ACL_SUCCESS;
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = check_fill(devPtr, maxCount, count);
    if (code == ACL_SUCCESS)
        code = acl_stream(context, stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    fill_t fill = {devPtr, count, value};
    fake_stream_push(queue->queue, run_fill, &fill, sizeof fill);
    return ACL_SUCCESS;
}
