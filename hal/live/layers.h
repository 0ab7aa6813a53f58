/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_LAYERS_H
#define YOKE_HAL_LIVE_LAYERS_H

/*
 * What is done besides calling the backend: checks of all arguments (validate.c) and one
 * log line a call (trace.c). Switched on per device when it is opened; then its objects
 * have a flag, which the short paths see together with the loss of the device.
 */

#include "hal/live/object.h"

#pragma GCC visibility push(hidden)

/** Flags of objects for yoke_device_options_t.layers. */
uint32_t yoke_layers_flags(uint32_t layers);

/* --- calls that are not plain: layers on, a lost device, NULL, other devices ---------
 */

yoke_status_t yoke_layers_copy(yoke_queue_t *queue, yoke_span_t dst, yoke_span_t src,
                               uint64_t size);
yoke_status_t yoke_layers_write(yoke_queue_t *queue, yoke_span_t dst, const void *src,
                                uint64_t size);
yoke_status_t yoke_layers_read(yoke_queue_t *queue, void *dst, yoke_span_t src,
                               uint64_t size);
yoke_status_t yoke_layers_fill(yoke_queue_t *queue, yoke_span_t dst, const void *pattern,
                               size_t pattern_size, uint64_t size);
yoke_status_t yoke_layers_host_call(yoke_queue_t *queue, void (*function)(void *),
                                    void *context);
yoke_status_t yoke_layers_record(yoke_event_t *event, yoke_queue_t *queue);
yoke_status_t yoke_layers_wait(yoke_queue_t *queue, yoke_event_t *event);
yoke_status_t yoke_layers_launch(yoke_queue_t *queue, yoke_kernel_t *kernel,
                                 const yoke_launch_t *launch,
                                 const yoke_argument_t *arguments, size_t count);
yoke_status_t yoke_layers_launch_prepared(yoke_queue_t *queue,
                                          yoke_prepared_launch_t *prepared);

/* --- validate.c: YOKE_OK, or a message that begins with `call` -----------------------
 */

/** A place of `size` bytes. */
yoke_status_t yoke_validate_span(yoke_span_t span, uint64_t size, const char *call,
                                 const char *what);
yoke_status_t yoke_validate_copy(yoke_span_t dst, yoke_span_t src, uint64_t size);
yoke_status_t yoke_validate_pattern(yoke_span_t dst, const void *pattern,
                                    size_t pattern_size, uint64_t size);
yoke_status_t yoke_validate_launch(const yoke_device_t *device,
                                   const yoke_launch_t *launch,
                                   const yoke_argument_t *arguments, size_t count,
                                   const char *call);
yoke_status_t yoke_validate_geometry(const yoke_device_t *device,
                                     const yoke_launch_t *launch, const char *call);
/** `last`: local memory may stand here. */
yoke_status_t yoke_validate_argument(const yoke_device_t *device, size_t index,
                                     const yoke_argument_t *argument, bool last,
                                     const char *call);
/* validate_kernel.c: parameters of kernels, where the program's text tells them. */
struct yoke_signatures *yoke_validate_signatures(const char *text, size_t size);
void yoke_validate_signatures_free(struct yoke_signatures *signatures);
/** NULL: not known. */
const struct yoke_signature *
yoke_validate_signature(const struct yoke_signatures *signatures, const char *name);
yoke_status_t yoke_validate_arguments(const yoke_kernel_t *kernel,
                                      const yoke_argument_t *arguments, size_t count,
                                      const char *call);
/** With validation on: was it ever recorded? */
yoke_status_t yoke_validate_recorded(const yoke_event_t *event, const char *call);

/* --- trace.c -------------------------------------------------------------------------
 */

uint64_t yoke_trace_now(void);
void yoke_trace_line(const yoke_device_t *device, uint64_t begin, const char *call,
                     yoke_status_t status, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Time of the beginning, 0 when the layer is off. */
static inline uint64_t yoke_trace_begin(const yoke_object_t *object)
{
    return YOKE_UNLIKELY((yoke_object_flags(object) & YOKE_FLAG_TRACE) != 0)
               ? yoke_trace_now()
               : 0;
}
#define yoke_trace_end(begin, device, call, status, ...)                                 \
    do {                                                                                 \
        if (YOKE_UNLIKELY((begin) != 0))                                                 \
            yoke_trace_line(device, begin, call, status, __VA_ARGS__);                   \
    } while (0)

#pragma GCC visibility pop
#endif
