/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills. The specification lets a device touch only memory that it can reach.
 * Ordinary host memory is that on devices with shared system memory; elsewhere it is
 * staged through two pinned chunks of the queue: write() may then block while chunks are
 * in use, read() until the data is there.
 */
#include "backends/level_zero/live.h"

#include <string.h>

static inline __attribute__((always_inline)) yoke_status_t
append_now(yoke_impl_queue_t *queue, void *dst, const void *src, uint64_t size)
{
    uint32_t code = queue->ze->copy(queue->list, dst, src, size, NULL, 0, NULL);
    return __builtin_expect(code == YOKE_ZE_SUCCESS, 1)
               ? YOKE_OK
               : yoke_ze_fail("zeCommandListAppendMemoryCopy", code);
}

static __attribute__((noinline)) yoke_status_t
append_behind(yoke_impl_queue_t *queue, void *dst, const void *src, uint64_t size)
{
    yoke_status_t status = yoke_ze_begin(queue);
    return status == YOKE_OK ? append_now(queue, dst, src, size) : status;
}

/* Lists in order need no barrier, and the call then no saved registers: tests/tax counts
 * instructions. */
static inline __attribute__((always_inline)) yoke_status_t
append(yoke_impl_queue_t *queue, void *dst, const void *src, uint64_t size)
{
    if (!queue->in_order)
        return append_behind(queue, dst, src, size);
    queue->pending = true;
    queue->dirty = true;
    return append_now(queue, dst, src, size);
}

static yoke_status_t foreign(void)
{
    return yoke_backend_fail_text(
        YOKE_ERR_UNREACHABLE,
        "level_zero: the buffer belongs to another context than the queue; copy through "
        "the host (yoke/transfer.h), or open both with one context");
}

static inline bool of_queue(const yoke_impl_queue_t *queue,
                            const yoke_impl_buffer_t *buffer)
{
    return buffer->device->context == queue->device->context;
}

static __attribute__((noinline)) yoke_status_t copy_otherwise(yoke_impl_queue_t *queue,
                                                              yoke_impl_span_t dst,
                                                              yoke_impl_span_t src,
                                                              uint64_t size)
{
    unsigned char *to = dst.buffer->pointer + dst.offset;
    const unsigned char *from = src.buffer->pointer + src.offset;
    if (of_queue(queue, dst.buffer) && of_queue(queue, src.buffer))
        return append_behind(queue, to, from, size);
    /* Pinned memory of another context is ordinary memory here. */
    if (of_queue(queue, dst.buffer) && src.buffer->host)
        return yoke_ze_write(queue, dst, from, size);
    if (of_queue(queue, src.buffer) && dst.buffer->host)
        return yoke_ze_read(queue, to, src, size);
    return foreign();
}

yoke_status_t yoke_ze_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                           yoke_impl_span_t src, uint64_t size)
{
    const yoke_impl_device_t *device = queue->device;
    if (__builtin_expect(dst.buffer->device == device && src.buffer->device == device, 1))
        return append(queue, dst.buffer->pointer + dst.offset,
                      src.buffer->pointer + src.offset, size);
    return copy_otherwise(queue, dst, src, size);
}

/* --- staging ------------------------------------------------------------------------ */

static bool reachable(yoke_impl_queue_t *queue, const void *memory)
{
    const yoke_impl_device_t *device = queue->device;
    yoke_ze_allocation_t known = {.stype = YOKE_ZE_ALLOCATION_PROPERTIES};
    yoke_ze_device_t owner = NULL;
    if (device->slot->system)
        return true;
    return queue->ze->allocation(device->context, memory, &known, &owner) ==
               YOKE_ZE_SUCCESS &&
           known.type != YOKE_ZE_MEMORY_UNKNOWN;
}

/* The next chunk, when its last use has ended. */
static yoke_status_t next_chunk(yoke_impl_queue_t *queue, unsigned *out_index)
{
    yoke_ze_stage_t *stage = &queue->stage;
    unsigned index = stage->turn++ % 2;
    yoke_status_t status = YOKE_OK;
    void *memory = NULL;
    if (stage->memory[index] == NULL) {
        status = yoke_ze_host_memory(queue->device, YOKE_ZE_CHUNK, &memory);
        stage->memory[index] = memory;
    }
    if (status == YOKE_OK && stage->mark[index] == NULL)
        status = yoke_ze_mark_take(queue->device, false, &stage->mark[index]);
    if (status == YOKE_OK && stage->mark[index]->used) {
        status = yoke_ze_mark_sync(queue->ze, stage->mark[index]);
        if (status == YOKE_OK)
            status = yoke_ze_mark_reset(queue->ze, stage->mark[index]);
        if (status == YOKE_ERR_NOT_READY)
            status = yoke_backend_fail_text(
                YOKE_ERR_SYSTEM, "level_zero: an event was signalled and then was not");
    }
    if (status == YOKE_OK)
        *out_index = index;
    return status;
}

void yoke_ze_stage_free(yoke_impl_queue_t *queue)
{
    for (unsigned i = 0; i < 2; i++) {
        /* A caller's list may still be at it: nobody waited for that. */
        if (queue->wrapped && queue->stage.mark[i] != NULL && queue->stage.mark[i]->used)
            yoke_ze_mark_sync(queue->ze, queue->stage.mark[i]);
        yoke_ze_mark_give(queue->device, queue->stage.mark[i]);
        if (queue->stage.memory[i] != NULL)
            queue->ze->free(queue->device->context, queue->stage.memory[i]);
    }
}

yoke_status_t yoke_ze_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            const void *src, uint64_t size)
{
    yoke_status_t status = YOKE_OK;
    if (!of_queue(queue, dst.buffer))
        return foreign();
    if (reachable(queue, src))
        return append(queue, dst.buffer->pointer + dst.offset, src, size);
    for (uint64_t at = 0; at < size && status == YOKE_OK; at += YOKE_ZE_CHUNK) {
        size_t piece = size - at < YOKE_ZE_CHUNK ? (size_t)(size - at) : YOKE_ZE_CHUNK;
        unsigned index = 0;
        status = next_chunk(queue, &index);
        if (status != YOKE_OK)
            break;
        memcpy(queue->stage.memory[index], (const unsigned char *)src + at, piece);
        status = append(queue, dst.buffer->pointer + dst.offset + at,
                        queue->stage.memory[index], piece);
        if (status == YOKE_OK)
            status = yoke_ze_mark_record(queue->stage.mark[index], queue, false);
    }
    return status;
}

/* Two pieces are on their way while one is taken out. */
static yoke_status_t read_staged(yoke_impl_queue_t *queue, unsigned char *dst,
                                 const unsigned char *src, uint64_t size)
{
    yoke_status_t status = YOKE_OK;
    unsigned index[2] = {0, 0};
    uint64_t sent = 0, taken = 0;
    for (unsigned turn = 0; taken < size && status == YOKE_OK;) {
        while (sent < size && sent - taken < 2 * YOKE_ZE_CHUNK && status == YOKE_OK) {
            size_t piece =
                size - sent < YOKE_ZE_CHUNK ? (size_t)(size - sent) : YOKE_ZE_CHUNK;
            unsigned slot = (unsigned)(sent / YOKE_ZE_CHUNK) % 2;
            status = next_chunk(queue, &index[slot]);
            if (status == YOKE_OK)
                status =
                    append(queue, queue->stage.memory[index[slot]], src + sent, piece);
            if (status == YOKE_OK)
                status =
                    yoke_ze_mark_record(queue->stage.mark[index[slot]], queue, false);
            sent += piece;
        }
        if (status != YOKE_OK)
            break;
        unsigned chunk = index[turn++ % 2];
        size_t piece =
            size - taken < YOKE_ZE_CHUNK ? (size_t)(size - taken) : YOKE_ZE_CHUNK;
        status = yoke_ze_mark_sync(queue->ze, queue->stage.mark[chunk]);
        if (status == YOKE_OK)
            memcpy(dst + taken, queue->stage.memory[chunk], piece);
        taken += piece;
    }
    return status;
}

yoke_status_t yoke_ze_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                           uint64_t size)
{
    const unsigned char *from = src.buffer->pointer + src.offset;
    if (!of_queue(queue, src.buffer))
        return foreign();
    return reachable(queue, dst) ? append(queue, dst, from, size)
                                 : read_staged(queue, dst, from, size);
}

/* --- fill --------------------------------------------------------------------------- */

/* The pattern is too long for the device: a first piece through a chunk, then doubling
 * copies. */
static yoke_status_t fill_by_copies(yoke_impl_queue_t *queue, unsigned char *dst,
                                    const void *pattern, size_t pattern_size,
                                    uint64_t size)
{
    unsigned index = 0;
    yoke_status_t status = next_chunk(queue, &index);
    if (status != YOKE_OK)
        return status;
    uint64_t filled = size < 65536 ? size : 65536;
    for (size_t at = 0; at < filled; at += pattern_size)
        memcpy(queue->stage.memory[index] + at, pattern, pattern_size);
    status = append(queue, dst, queue->stage.memory[index], filled);
    if (status == YOKE_OK)
        status = yoke_ze_mark_record(queue->stage.mark[index], queue, false);
    while (status == YOKE_OK && filled < size) {
        uint64_t next = size - filled < filled ? size - filled : filled;
        status = append(queue, dst + filled, dst, next);
        filled += next;
    }
    return status;
}

yoke_status_t yoke_ze_fill_buffer(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *pattern, size_t pattern_size, uint64_t size)
{
    unsigned char *to = dst.buffer->pointer + dst.offset;
    if (!of_queue(queue, dst.buffer))
        return foreign();
    if (pattern_size > queue->device->slot->max_pattern)
        return fill_by_copies(queue, to, pattern, pattern_size, size);
    yoke_status_t status = yoke_ze_begin(queue);
    if (status != YOKE_OK)
        return status;
    uint32_t code =
        queue->ze->fill(queue->list, to, pattern, pattern_size, size, NULL, 0, NULL);
    return code == YOKE_ZE_SUCCESS ? YOKE_OK
                                   : yoke_ze_fail("zeCommandListAppendMemoryFill", code);
}
