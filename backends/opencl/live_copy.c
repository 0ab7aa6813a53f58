/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills. A buffer is a cl_mem, or an address (`pointer`), or, for HOST memory
 * of old platforms, both: a mapped cl_mem, of which the address is used, since that is
 * what the specification allows while it is mapped.
 */
#include "backends/opencl/live.h"

#include <string.h>

static yoke_status_t foreign(void)
{
    return yoke_backend_fail_text(
        YOKE_ERR_UNREACHABLE,
        "opencl: the buffer belongs to another context than the queue; copy through the "
        "host (yoke/transfer.h), or open both with one context");
}

static inline yoke_status_t done(const char *call, int32_t code)
{
    if (__builtin_expect(code != YOKE_CL_SUCCESS, 0))
        return yoke_ocl_fail(call, code);
    return YOKE_OK;
}

/* Between two addresses, by whatever the platform has for that.
 */
static yoke_status_t copy_addresses(yoke_impl_queue_t *queue, void *dst, const void *src,
                                    uint64_t size)
{
    const yoke_ocl_slot_t *slot = queue->device->slot;
    if (slot->usm)
        return done("clEnqueueMemcpyINTEL",
                    slot->usm_calls.copy(queue->queue, 0, dst, src, size, 0, NULL, NULL));
    return done("clEnqueueSVMMemcpy",
                queue->cl->svm_copy(queue->queue, 0, dst, src, size, 0, NULL, NULL));
}

static inline yoke_status_t copy_plain(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                       yoke_impl_span_t src, uint64_t size)
{
    return done("clEnqueueCopyBuffer",
                queue->cl->copy(queue->queue, src.buffer->memory, dst.buffer->memory,
                                src.offset, dst.offset, size, 0, NULL, NULL));
}

static inline yoke_status_t write_plain(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                        const void *src, uint64_t size)
{
    return done("clEnqueueWriteBuffer",
                queue->cl->work.write_buffer(queue->queue, dst.buffer->memory, 0,
                                             dst.offset, size, src, 0, NULL, NULL));
}

static yoke_status_t write_memory(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *src, uint64_t size)
{
    if (!yoke_ocl_is_mapped(dst.buffer))
        return write_plain(queue, dst, src, size);
    yoke_status_t status = yoke_ocl_lend(queue, &dst.buffer, 1);
    if (status != YOKE_OK)
        return status;
    return yoke_ocl_take_back(queue, &dst.buffer, 1, write_plain(queue, dst, src, size));
}

static inline yoke_status_t read_plain(yoke_impl_queue_t *queue, void *dst,
                                       yoke_impl_span_t src, uint64_t size)
{
    return done("clEnqueueReadBuffer",
                queue->cl->work.read_buffer(queue->queue, src.buffer->memory, 0,
                                            src.offset, size, dst, 0, NULL, NULL));
}

static yoke_status_t read_memory(yoke_impl_queue_t *queue, void *dst,
                                 yoke_impl_span_t src, uint64_t size)
{
    if (!yoke_ocl_is_mapped(src.buffer))
        return read_plain(queue, dst, src, size);
    yoke_status_t status = yoke_ocl_lend(queue, &src.buffer, 1);
    if (status != YOKE_OK)
        return status;
    return yoke_ocl_take_back(queue, &src.buffer, 1, read_plain(queue, dst, src, size));
}

static yoke_status_t copy_hosts(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                yoke_impl_span_t src, uint64_t size)
{
    unsigned char *to = dst.buffer->pointer + dst.offset;
    const unsigned char *from = src.buffer->pointer + src.offset;
    if (queue->device->slot->usm || queue->device->slot->svm)
        return copy_addresses(queue, to, from, size);
    if (dst.buffer->memory != NULL && dst.buffer->context == queue->context)
        return write_memory(queue, dst, from, size);
    if (src.buffer->memory != NULL && src.buffer->context == queue->context)
        return read_memory(queue, to, src, size);
    return foreign();
}

/* Host memory of another device of this runtime is ordinary memory here. */
static inline bool reachable(const yoke_impl_queue_t *queue,
                             const yoke_impl_buffer_t *buffer)
{
    return buffer->context == queue->context || buffer->host;
}

/* A cl_mem of the queue's context that nobody has mapped: the short paths below.
 * tests/tax counts their instructions. */
static inline bool is_plain(const yoke_impl_queue_t *queue,
                            const yoke_impl_buffer_t *buffer)
{
    return buffer->context == queue->context && buffer->pointer == NULL;
}

static __attribute__((noinline)) yoke_status_t copy_otherwise(yoke_impl_queue_t *queue,
                                                              yoke_impl_span_t dst,
                                                              yoke_impl_span_t src,
                                                              uint64_t size)
{
    if (!reachable(queue, dst.buffer) || !reachable(queue, src.buffer))
        return foreign();
    if (dst.buffer->pointer == NULL && src.buffer->pointer == NULL)
        return copy_plain(queue, dst, src, size);
    if (dst.buffer->pointer == NULL)
        return write_memory(queue, dst, src.buffer->pointer + src.offset, size);
    if (src.buffer->pointer == NULL)
        return read_memory(queue, dst.buffer->pointer + dst.offset, src, size);
    return copy_hosts(queue, dst, src, size);
}

/* `dirty` goes before the call: nothing has to be kept over it then. */
yoke_status_t yoke_ocl_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            yoke_impl_span_t src, uint64_t size)
{
    queue->dirty = true;
    if (__builtin_expect(is_plain(queue, dst.buffer) && is_plain(queue, src.buffer), 1))
        return copy_plain(queue, dst, src, size);
    return copy_otherwise(queue, dst, src, size);
}

static __attribute__((noinline)) yoke_status_t write_otherwise(yoke_impl_queue_t *queue,
                                                               yoke_impl_span_t dst,
                                                               const void *src,
                                                               uint64_t size)
{
    if (!reachable(queue, dst.buffer))
        return foreign();
    if (dst.buffer->memory != NULL && dst.buffer->context == queue->context)
        return write_memory(queue, dst, src, size);
    if (queue->device->slot->usm || queue->device->slot->svm)
        return copy_addresses(queue, dst.buffer->pointer + dst.offset, src, size);
    return foreign();
}

yoke_status_t yoke_ocl_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             const void *src, uint64_t size)
{
    queue->dirty = true;
    if (__builtin_expect(is_plain(queue, dst.buffer), 1))
        return write_plain(queue, dst, src, size);
    return write_otherwise(queue, dst, src, size);
}

static __attribute__((noinline)) yoke_status_t
read_otherwise(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src, uint64_t size)
{
    if (!reachable(queue, src.buffer))
        return foreign();
    if (src.buffer->memory != NULL && src.buffer->context == queue->context)
        return read_memory(queue, dst, src, size);
    if (queue->device->slot->usm || queue->device->slot->svm)
        return copy_addresses(queue, dst, src.buffer->pointer + src.offset, size);
    return foreign();
}

yoke_status_t yoke_ocl_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                            uint64_t size)
{
    queue->dirty = true;
    if (__builtin_expect(is_plain(queue, src.buffer), 1))
        return read_plain(queue, dst, src, size);
    return read_otherwise(queue, dst, src, size);
}

/* OpenCL 1.1 has no fill: a first piece is written, then doubled by copies. The write
 * blocks, since the pattern ends with the call. */
static yoke_status_t fill_1_1(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                              const void *pattern, size_t pattern_size, uint64_t size)
{
    unsigned char piece[4096] = {0};
    uint64_t filled = size < sizeof piece ? size : sizeof piece;
    for (size_t at = 0; at < filled; at += pattern_size)
        memcpy(piece + at, pattern, pattern_size);
    yoke_status_t status =
        done("clEnqueueWriteBuffer",
             queue->cl->work.write_buffer(queue->queue, dst.buffer->memory, 1, dst.offset,
                                          filled, piece, 0, NULL, NULL));
    while (status == YOKE_OK && filled < size) {
        uint64_t next = size - filled < filled ? size - filled : filled;
        status =
            done("clEnqueueCopyBuffer",
                 queue->cl->copy(queue->queue, dst.buffer->memory, dst.buffer->memory,
                                 dst.offset, dst.offset + filled, next, 0, NULL, NULL));
        filled += next;
    }
    return status;
}

static yoke_status_t fill_memory(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 const void *pattern, size_t pattern_size, uint64_t size)
{
    if (queue->device->slot->version < YOKE_CL_VERSION(1, 2) || queue->cl->fill == NULL)
        return fill_1_1(queue, dst, pattern, pattern_size, size);
    return done("clEnqueueFillBuffer",
                queue->cl->fill(queue->queue, dst.buffer->memory, pattern, pattern_size,
                                dst.offset, size, 0, NULL, NULL));
}

yoke_status_t yoke_ocl_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                            const void *pattern, size_t pattern_size, uint64_t size)
{
    const yoke_ocl_slot_t *slot = queue->device->slot;
    queue->dirty = true;
    if (dst.buffer->context != queue->context)
        return foreign();
    if (dst.buffer->usm)
        return done("clEnqueueMemFillINTEL",
                    slot->usm_calls.fill(queue->queue, dst.buffer->pointer + dst.offset,
                                         pattern, pattern_size, size, 0, NULL, NULL));
    if (dst.buffer->memory == NULL)
        return done("clEnqueueSVMMemFill",
                    queue->cl->svm_fill(queue->queue, dst.buffer->pointer + dst.offset,
                                        pattern, pattern_size, size, 0, NULL, NULL));
    if (!yoke_ocl_is_mapped(dst.buffer))
        return fill_memory(queue, dst, pattern, pattern_size, size);
    yoke_status_t status = yoke_ocl_lend(queue, &dst.buffer, 1);
    if (status != YOKE_OK)
        return status;
    return yoke_ocl_take_back(queue, &dst.buffer, 1,
                              fill_memory(queue, dst, pattern, pattern_size, size));
}
