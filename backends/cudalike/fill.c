/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills. Vendors fill with 8, 16 or 32 bits. A longer pattern whose halves are equal is a
 * shorter one; else it is 2 or 4 strided fills, one for each 32-bit word; else the first
 * element is written word by word and doubled by copies behind it, which the stream keeps
 * in order. No memory is staged, so nothing has to live until the stream comes to it.
 */
#include "backends/cudalike/internal.h"

#include <string.h>

/* Shortest pattern that repeats to the same bytes. */
static size_t shorten(const unsigned char *pattern, size_t size)
{
    while (size > 1 && memcmp(pattern, pattern + size / 2, size / 2) == 0)
        size /= 2;
    return size;
}

static yoke_status_t fill_unit(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
                               const unsigned char *unit, size_t unit_size, size_t count)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    uint16_t half = 0;
    uint32_t word = 0;
    yoke_status_t status;
    memcpy(&half, unit, unit_size < sizeof half ? unit_size : sizeof half);
    memcpy(&word, unit, unit_size < sizeof word ? unit_size : sizeof word);
    if (unit_size == 1)
        YOKE_CUDALIKE_CALL(device, queue->pinned, fill8,
                           api->fill8(to, *unit, count, queue->stream), status);
    else if (unit_size == 2)
        YOKE_CUDALIKE_CALL(device, queue->pinned, fill16,
                           api->fill16(to, half, count, queue->stream), status);
    else
        YOKE_CUDALIKE_CALL(device, queue->pinned, fill32,
                           api->fill32(to, word, count, queue->stream), status);
    return status;
}

/* The longest unit of `size` bytes or less that the runtime fills with. */
static size_t native_unit(const yoke_cudalike_api_t *api, size_t size)
{
    if (size >= 4 && api->fill32 != NULL)
        return 4;
    return size >= 2 && api->fill16 != NULL ? 2 : 1;
}

static yoke_status_t fill_strided(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
                                  const unsigned char *pattern, size_t pattern_size,
                                  size_t count)
{
    yoke_impl_device_t *device = queue->device;
    yoke_status_t status = YOKE_OK;
    for (size_t at = 0; at < pattern_size && status == YOKE_OK; at += 4) {
        uint32_t word;
        memcpy(&word, pattern + at, sizeof word);
        YOKE_CUDALIKE_CALL(device, queue->pinned, fill32_strided,
                           device->api->fill32_strided(to + at, pattern_size, word, 1,
                                                       count, queue->stream),
                           status);
    }
    return status;
}

static yoke_status_t copy_within(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
                                 yoke_cudalike_address_t from, size_t size)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_status_t status;
    if (api->copy != NULL)
        YOKE_CUDALIKE_CALL(device, queue->pinned, copy,
                           api->copy(to, from, size, queue->stream), status);
    else
        YOKE_CUDALIKE_CALL(
            device, queue->pinned, copy_kind,
            api->copy_kind(to, from, size, 4 /* by address */, queue->stream), status);
    return status;
}

static yoke_status_t fill_doubling(yoke_impl_queue_t *queue, yoke_cudalike_address_t to,
                                   const unsigned char *pattern, size_t pattern_size,
                                   size_t size)
{
    size_t unit = native_unit(queue->device->api, pattern_size);
    yoke_status_t status = YOKE_OK;
    for (size_t at = 0; at < pattern_size && status == YOKE_OK; at += unit)
        status = fill_unit(queue, to + at, pattern + at, unit, 1);
    for (size_t done = pattern_size; done < size && status == YOKE_OK;) {
        size_t next = size - done < done ? size - done : done;
        status = copy_within(queue, to + done, to, next);
        done += next;
    }
    return status;
}

yoke_status_t yoke_cudalike_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 const void *pattern, size_t pattern_size, uint64_t size)
{
    const yoke_cudalike_api_t *api = queue->device->api;
    yoke_cudalike_address_t to = dst.buffer->address + dst.offset;
    size_t length = shorten(pattern, pattern_size);
    if (native_unit(api, length) == length)
        return fill_unit(queue, to, pattern, length, size / length);
    if (length > 4 && api->fill32_strided != NULL)
        return fill_strided(queue, to, pattern, length, size / length);
    return fill_doubling(queue, to, pattern, length, size);
}
