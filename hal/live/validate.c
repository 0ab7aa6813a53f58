/* SPDX-License-Identifier: Apache-2.0 */
/* The validation layer: arguments that would be undefined without it. */
#include <inttypes.h>

#include "base/error.h"
#include "hal/live/layers.h"

static bool may_use(const yoke_device_t *device, const yoke_buffer_t *buffer)
{
    const yoke_device_t *other = buffer->object.device;
    return yoke_device_same(device, other) ||
           (device->runtime == other->runtime && buffer->kind != YOKE_MEMORY_DEVICE);
}

yoke_status_t yoke_validate_span(yoke_span_t span, uint64_t size, const char *call,
                                 const char *what)
{
    uint64_t whole = span.buffer->size;
    if (span.offset > whole || size > whole - span.offset)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: %s: offset %" PRIu64 " and size %" PRIu64
                         " pass the end of a buffer of %" PRIu64 " bytes",
                         call, what, span.offset, size, whole);
    return YOKE_OK;
}

/* Two handles may wrap one memory: their addresses tell, where there are any. */
static const char *address_of(const yoke_buffer_t *buffer)
{
    return buffer->object.ops->buffer_address == NULL ||
                   buffer->object.impl.buffer == NULL
               ? NULL
               : buffer->object.ops->buffer_address(buffer->object.impl.buffer);
}

static bool overlap(uint64_t a, uint64_t b, uint64_t size)
{
    return a < b ? b - a < size : a - b < size;
}

yoke_status_t yoke_validate_copy(yoke_span_t dst, yoke_span_t src, uint64_t size)
{
    bool wrong = false;
    if (dst.buffer == src.buffer) {
        wrong = overlap(dst.offset, src.offset, size);
    } else if (dst.buffer->object.device == src.buffer->object.device) {
        const char *to = address_of(dst.buffer), *from = address_of(src.buffer);
        wrong = to != NULL && from != NULL &&
                overlap((uintptr_t)to + dst.offset, (uintptr_t)from + src.offset, size);
    }
    if (wrong && size > 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_queue_copy: the ranges at offsets %" PRIu64 " and %" PRIu64
                         " of %" PRIu64 " bytes overlap",
                         dst.offset, src.offset, size);
    return YOKE_OK;
}

yoke_status_t yoke_validate_pattern(yoke_span_t dst, const void *pattern,
                                    size_t pattern_size, uint64_t size)
{
    static const char call[] = "yoke_queue_fill";
    if (pattern == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the pattern is NULL", call);
    if (pattern_size == 0 || pattern_size > 16 ||
        (pattern_size & (pattern_size - 1)) != 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: a pattern has 1, 2, 4, 8 or 16 bytes, not %zu", call,
                         pattern_size);
    if (size % pattern_size != 0 || dst.offset % pattern_size != 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: size %" PRIu64 " and offset %" PRIu64
                         " must be multiples of the pattern's %zu bytes",
                         call, size, dst.offset, pattern_size);
    return YOKE_OK;
}

yoke_status_t yoke_validate_recorded(const yoke_event_t *event, const char *call)
{
    if ((yoke_object_flags(&event->object) & YOKE_FLAG_VALIDATE) == 0 || event->recorded)
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_USAGE, "%s: the event was never recorded", call);
}

/* --- launches ------------------------------------------------------------------------
 */

yoke_status_t yoke_validate_geometry(const yoke_device_t *device,
                                     const yoke_launch_t *launch, const char *call)
{
    const yoke_device_info_t *info = &device->info;
    uint64_t items = 1;
    if (launch == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the launch is NULL", call);
    for (int i = 0; i < 3; i++) {
        if (launch->groups[i] == 0 || launch->local[i] == 0)
            return yoke_fail(YOKE_ERR_USAGE,
                             "%s: dimension %d has %u groups of %u items; both are at "
                             "least 1",
                             call, i, launch->groups[i], launch->local[i]);
        if (info->max_groups[i] > 0 && launch->groups[i] > info->max_groups[i])
            return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                             "%s: %u groups in dimension %d; %s takes %u", call,
                             launch->groups[i], i, device->label, info->max_groups[i]);
        /* Three factors of 32 bits can pass 64; two cannot. */
        items = items > UINT32_MAX ? items : items * launch->local[i];
    }
    if (info->max_group > 0 && items > info->max_group)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: groups of %u x %u x %u items; %s takes %u", call,
                         launch->local[0], launch->local[1], launch->local[2],
                         device->label, info->max_group);
    return YOKE_OK;
}

static yoke_status_t check_span_argument(const yoke_device_t *device, size_t index,
                                         yoke_span_t span, const char *call)
{
    if (span.buffer == NULL && span.offset == 0) /* a null pointer for the kernel */
        return YOKE_OK;
    if (span.buffer == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: argument %zu: an offset into no buffer",
                         call, index);
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(span.buffer), YOKE_OBJECT_BUFFER, call);
    if (status != YOKE_OK)
        return status;
    if (!may_use(device, span.buffer))
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: argument %zu: the buffer is of %s, the launch of %s", call,
                         index, span.buffer->object.device->label, device->label);
    if (span.offset >= span.buffer->size)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: argument %zu: offset %" PRIu64
                         " is at or passes the end of a buffer of %" PRIu64 " bytes",
                         call, index, span.offset, span.buffer->size);
    if (span.offset % device->info.alignment != 0)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: argument %zu: offset %" PRIu64
                         " is no multiple of %u, as %s needs",
                         call, index, span.offset, device->info.alignment, device->label);
    return YOKE_OK;
}

yoke_status_t yoke_validate_argument(const yoke_device_t *device, size_t index,
                                     const yoke_argument_t *argument, bool last,
                                     const char *call)
{
    switch (argument->kind) {
    case YOKE_ARGUMENT_SPAN:
        return check_span_argument(device, index, argument->span, call);
    case YOKE_ARGUMENT_VALUE:
        if (argument->value == NULL || argument->size == 0)
            return yoke_fail(YOKE_ERR_USAGE, "%s: argument %zu: a value without bytes",
                             call, index);
        return YOKE_OK;
    case YOKE_ARGUMENT_LOCAL:
        if (!last)
            return yoke_fail(YOKE_ERR_USAGE,
                             "%s: argument %zu: local memory comes last, and once", call,
                             index);
        if (argument->size == 0)
            return yoke_fail(YOKE_ERR_USAGE, "%s: argument %zu: local memory of no bytes",
                             call, index);
        if (device->info.local_memory > 0 && argument->size > device->info.local_memory)
            return yoke_fail(
                YOKE_ERR_OUT_OF_RANGE,
                "%s: argument %zu: %u bytes of local memory; %s has %" PRIu64, call,
                index, argument->size, device->label, device->info.local_memory);
        return YOKE_OK;
    default:
        return yoke_fail(YOKE_ERR_USAGE, "%s: argument %zu: no kind %u", call, index,
                         argument->kind);
    }
}

yoke_status_t yoke_validate_launch(const yoke_device_t *device,
                                   const yoke_launch_t *launch,
                                   const yoke_argument_t *arguments, size_t count,
                                   const char *call)
{
    if (launch == NULL || (arguments == NULL && count > 0))
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s is NULL", call,
                         launch == NULL ? "the launch" : "the list of arguments");
    if (count > YOKE_MAX_ARGUMENTS)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE, "%s: %zu arguments; %d are the most",
                         call, count, YOKE_MAX_ARGUMENTS);
    yoke_status_t status = yoke_validate_geometry(device, launch, call);
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        status = yoke_validate_argument(device, i, &arguments[i], i + 1 == count, call);
    return status;
}
