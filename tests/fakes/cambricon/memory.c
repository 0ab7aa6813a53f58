/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the fake CNRT. */
#include "core.h"
#include <string.h>

/* --- allocation --------------------------------------------------------------------- */

static cnrtRet_t allocate(void **out_address, size_t size, fake_memory_kind_t kind)
{
    fake_card_t *card;
    if (out_address == NULL || size == 0)
        return cnrtErrorArgsInvalid;
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return code;
    void *address = fake_memory_allocate(card, kind, size, NULL);
    if (address == NULL)
        return kind == FAKE_MEMORY_DEVICE ? cnrtErrorNoMem : cnrtErrorSysNoMem;
    *out_address = address;
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtMalloc(void **pPtr, size_t bytes)
{
    FAKE_CALL(cnrtMalloc, cnrtRet_t);
    return cnrt_result(allocate(pPtr, bytes, FAKE_MEMORY_DEVICE));
}

FAKE_API cnrtRet_t cnrtHostMalloc(void **pPtr, size_t bytes)
{
    FAKE_CALL(cnrtHostMalloc, cnrtRet_t);
    return cnrt_result(allocate(pPtr, bytes, FAKE_MEMORY_PINNED));
}

/* NULL is no error; anything else that is no allocation is the driver's. */
static cnrtRet_t release(void *address, fake_memory_kind_t kind)
{
    if (address == NULL || fake_memory_free(address, kind))
        return cnrtSuccess;
    return cnrtErrorCndrvFuncCall;
}

FAKE_API cnrtRet_t cnrtFree(void *ptr)
{
    FAKE_CALL(cnrtFree, cnrtRet_t);
    return cnrt_result(release(ptr, FAKE_MEMORY_DEVICE));
}

FAKE_API cnrtRet_t cnrtFreeHost(void *ptr)
{
    FAKE_CALL(cnrtFreeHost, cnrtRet_t);
    return cnrt_result(release(ptr, FAKE_MEMORY_PINNED));
}

FAKE_API cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *attr,
                                            const void *ptr)
{
    FAKE_CALL(cnrtPointerGetAttributes, cnrtRet_t);
    fake_block_t block;
    if (attr == NULL || ptr == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    memset(attr, 0, sizeof *attr);
    attr->device = -1;
    if (!fake_memory_find(ptr, 0, &block))
        return cnrtSuccess; /* cnrtMemTypeUnregistered */
    attr->device = fake_ordinal_of(block.card);
    attr->size = block.size;
    if (block.kind == FAKE_MEMORY_DEVICE) {
        attr->type = cnrtMemTypeDevice;
        attr->devicePointer = (void *)(uintptr_t)ptr;
        attr->deviceBasePointer = (void *)block.address;
    } else {
        attr->type = cnrtMemTypeHost;
        attr->hostPointer = (void *)(uintptr_t)ptr;
    }
    return cnrtSuccess;
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

/* The direction that the addresses ask for; -1: one of them is not live memory. */
static int direction_of(const void *dst, const void *src, size_t size)
{
    fake_place_t to = fake_memory_place(dst, size), from = fake_memory_place(src, size);
    fake_block_t a, b;
    if (to == FAKE_PLACE_BAD || from == FAKE_PLACE_BAD)
        return -1;
    if (to != FAKE_PLACE_DEVICE)
        return from == FAKE_PLACE_DEVICE ? cnrtMemcpyDevToHost : cnrtMemcpyHostToHost;
    if (from != FAKE_PLACE_DEVICE)
        return cnrtMemcpyHostToDev;
    bool one =
        fake_memory_find(dst, 0, &a) && fake_memory_find(src, 0, &b) && a.card == b.card;
    return one ? cnrtMemcpyDevToDev : cnrtMemcpyPeerToPeer;
}

/* cnrt.h leaves a direction that the addresses do not have "unpredictable"; here it is an
 * error. */
static cnrtRet_t check_copy(const void *dst, const void *src, size_t size, int direction,
                            bool asynchronous)
{
    fake_block_t to, from;
    if (dst == NULL || src == NULL || size == 0)
        return cnrtErrorArgsInvalid;
    if (direction < cnrtMemcpyHostToDev || direction > cnrtMemcpyNoDirection ||
        (asynchronous && direction == cnrtMemcpyHostToHost))
        return cnrtErrorMemcpyDirectionInvalid;
    int actual = direction_of(dst, src, size);
    if (actual < 0)
        return cnrtErrorArgsInvalid;
    if (direction != cnrtMemcpyNoDirection && direction != actual)
        return cnrtErrorMemcpyDirectionInvalid;
    if (actual == cnrtMemcpyPeerToPeer && fake_memory_find(dst, 0, &to) &&
        fake_memory_find(src, 0, &from) && (!to.card->peer || !from.card->peer))
        return cnrtErrorArgsInvalid;
    return cnrtSuccess;
}

/* Returns when done, and is in no order with any queue. */
static cnrtRet_t copy_now(void *dst, const void *src, size_t size, int direction)
{
    fake_card_t *card;
    cnrtRet_t code = cnrt_enter(&card);
    if (code == cnrtSuccess)
        code = check_copy(dst, src, size, direction, false);
    if (code != cnrtSuccess)
        return code;
    copy_t copy = {dst, src, size};
    run_copy(&copy);
    return cnrtSuccess;
}

static cnrtRet_t copy_later(void *dst, const void *src, size_t size, int direction,
                            cnrtQueue_t handle)
{
    queue_t *queue;
    cnrtRet_t code = cnrt_enter_queue(handle, &queue);
    if (code == cnrtSuccess)
        code = check_copy(dst, src, size, direction, true);
    if (code != cnrtSuccess)
        return code;
    copy_t copy = {dst, src, size};
    fake_stream_push(queue->stream, run_copy, &copy, sizeof copy);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes, cnrtMemTransDir_t dir)
{
    FAKE_CALL(cnrtMemcpy, cnrtRet_t);
    return cnrt_result(copy_now(dst, src, bytes, (int)dir));
}

FAKE_API cnrtRet_t cnrtMemcpyPeer(void *dst, int dstDev, void *src, int srcDev,
                                  size_t bytes)
{
    FAKE_CALL(cnrtMemcpyPeer, cnrtRet_t);
    fake_card_t *to, *from;
    cnrtRet_t code = cnrt_enter_device(dstDev, &to);
    if (code == cnrtSuccess)
        code = cnrt_enter_device(srcDev, &from);
    if (code == cnrtSuccess)
        code = copy_now(dst, src, bytes, cnrtMemcpyPeerToPeer);
    return cnrt_result(code);
}

FAKE_API cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dstDev, void *src, int srcDev,
                                       size_t bytes, cnrtQueue_t queue)
{
    FAKE_CALL(cnrtMemcpyPeerAsync, cnrtRet_t);
    fake_card_t *to, *from;
    cnrtRet_t code = cnrt_enter_device(dstDev, &to);
    if (code == cnrtSuccess)
        code = cnrt_enter_device(srcDev, &from);
    if (code == cnrtSuccess)
        code = copy_later(dst, src, bytes, cnrtMemcpyPeerToPeer, queue);
    return cnrt_result(code);
}

/* The queue comes before the direction. */
#define ASYNC_COPY(name)                                                                 \
    FAKE_API cnrtRet_t name(void *dst, void *src, size_t bytes, cnrtQueue_t queue,       \
                            cnrtMemTransDir_t dir)                                       \
    {                                                                                    \
        FAKE_CALL(name, cnrtRet_t);                                                      \
        return cnrt_result(copy_later(dst, src, bytes, (int)dir, queue));                \
    }
ASYNC_COPY(cnrtMemcpyAsync)
ASYNC_COPY(cnrtMemcpyAsync_V2)
ASYNC_COPY(cnrtMemcpyAsync_V3)

/* --- fills -------------------------------------------------------------------------- */

typedef struct fill {
    void *at;
    size_t size;
    int value;
} fill_t;

static void run_fill(void *data)
{
    const fill_t *fill = data;
    memset(fake_shadow(fill->at), fill->value, fill->size);
}

static bool can_fill(const void *at, size_t size)
{
    return at != NULL && size > 0 && fake_memory_place(at, size) == FAKE_PLACE_DEVICE;
}

FAKE_API cnrtRet_t cnrtMemset(void *ptr, int value, size_t bytes)
{
    FAKE_CALL(cnrtMemset, cnrtRet_t);
    fake_card_t *card;
    cnrtRet_t code = cnrt_enter(&card);
    if (code == cnrtSuccess && !can_fill(ptr, bytes))
        code = cnrtErrorArgsInvalid;
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fill_t fill = {ptr, bytes, value};
    run_fill(&fill);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtMemsetAsync(void *ptr, int value, size_t bytes, cnrtQueue_t queue)
{
    FAKE_CALL(cnrtMemsetAsync, cnrtRet_t);
    queue_t *target;
    cnrtRet_t code = cnrt_enter_queue(queue, &target);
    if (code == cnrtSuccess && !can_fill(ptr, bytes))
        code = cnrtErrorArgsInvalid;
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fill_t fill = {ptr, bytes, value};
    fake_stream_push(target->stream, run_fill, &fill, sizeof fill);
    return cnrtSuccess;
}
