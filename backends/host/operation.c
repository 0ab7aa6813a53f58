/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills, calls and marks: at once, or when a held queue comes to them. */
#include "backends/host/host.h"

#include <string.h>
#include <time.h>

void yoke_host_record_now(yoke_impl_event_t *event, uint64_t stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* An event that was recorded again meanwhile has its time from there. */
    if (atomic_load_explicit(&event->stamp, memory_order_relaxed) == stamp)
        atomic_store_explicit(&event->time,
                              (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec,
                              memory_order_relaxed);
}

static void fill_now(unsigned char *dst, const unsigned char *pattern,
                     uint64_t pattern_size, uint64_t size)
{
    bool flat = true;
    for (uint64_t i = 1; i < pattern_size; i++)
        flat = flat && pattern[i] == pattern[0];
    if (flat) {
        memset(dst, pattern[0], size);
        return;
    }
    uint64_t done = pattern_size < size ? pattern_size : size;
    memcpy(dst, pattern, done);
    while (done < size) { /* what is done is a whole number of patterns */
        uint64_t more = done < size - done ? done : size - done;
        memcpy(dst + done, dst, more);
        done += more;
    }
}

void yoke_host_operation_run(yoke_impl_queue_t *queue,
                             const yoke_host_operation_t *operation)
{
    switch (operation->kind) {
    case YOKE_HOST_COPY:
        memmove(operation->as.copy.dst, operation->as.copy.src, operation->as.copy.size);
        break;
    case YOKE_HOST_FILL:
        fill_now(operation->as.fill.dst, operation->as.fill.pattern,
                 operation->as.fill.pattern_size, operation->as.fill.size);
        break;
    case YOKE_HOST_CALL:
        operation->as.call.function(operation->as.call.context);
        break;
    case YOKE_HOST_RECORD:
        yoke_host_record_now(operation->as.record.event, operation->as.record.stamp);
        break;
    case YOKE_HOST_LAUNCH:
        yoke_host_launch_run(queue, &operation->as.launch);
        break;
    case YOKE_HOST_GEMM:
        yoke_host_gemm_run(&operation->as.gemm);
        break;
    case YOKE_HOST_WAIT:
    case YOKE_HOST_GATE:
        break;
    }
}

static yoke_status_t copy(yoke_impl_queue_t *queue, void *dst, const void *src,
                          uint64_t size)
{
    yoke_host_operation_t *operation = yoke_host_hold(queue, false);
    if (operation == NULL) {
        memmove(dst, src, size);
        return YOKE_OK;
    }
    operation->kind = YOKE_HOST_COPY;
    operation->as.copy.dst = dst;
    operation->as.copy.src = src;
    operation->as.copy.size = size;
    yoke_host_held(queue);
    return YOKE_OK;
}

yoke_status_t yoke_host_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             yoke_impl_span_t src, uint64_t size)
{
    return copy(queue, dst.buffer->address + dst.offset, src.buffer->address + src.offset,
                size);
}

yoke_status_t yoke_host_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                              const void *src, uint64_t size)
{
    return copy(queue, dst.buffer->address + dst.offset, src, size);
}

yoke_status_t yoke_host_read(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                             uint64_t size)
{
    return copy(queue, dst, src.buffer->address + src.offset, size);
}

yoke_status_t yoke_host_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                             const void *pattern, size_t pattern_size, uint64_t size)
{
    unsigned char *to = dst.buffer->address + dst.offset;
    yoke_host_operation_t *operation = yoke_host_hold(queue, false);
    if (operation == NULL) {
        fill_now(to, pattern, pattern_size, size);
        return YOKE_OK;
    }
    operation->kind = YOKE_HOST_FILL;
    operation->as.fill.dst = to;
    memcpy(operation->as.fill.pattern, pattern, pattern_size);
    operation->as.fill.pattern_size = pattern_size;
    operation->as.fill.size = size;
    yoke_host_held(queue);
    return YOKE_OK;
}

yoke_status_t yoke_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                             void *context)
{
    yoke_host_operation_t *operation = yoke_host_hold(queue, false);
    if (operation == NULL) {
        function(context);
        return YOKE_OK;
    }
    operation->kind = YOKE_HOST_CALL;
    operation->as.call.function = function;
    operation->as.call.context = context;
    yoke_host_held(queue);
    return YOKE_OK;
}
