/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_HOST_LIVE_SUPPORT_H
#define YOKE_TESTS_HOST_LIVE_SUPPORT_H

/* The host's table, used as the core uses it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/host/host.h"
#include "hal/kernels/dialect.h"

static const yoke_backend_ops_t *const ops = &yoke_host_ops;
static yoke_impl_device_t *device;

static inline int open_device(void **state)
{
    yoke_impl_runtime_t *runtime;
    (void)state;
    return ops->runtime_open(&runtime) != YOKE_OK ||
           ops->device_open(runtime, 0, NULL, &device) != YOKE_OK;
}

static inline int close_device(void **state)
{
    (void)state;
    ops->device_close(device);
    return 0;
}

static inline yoke_impl_buffer_t *make_buffer(uint64_t size)
{
    yoke_impl_buffer_t *buffer;
    assert_int_equal(ops->buffer_create(device, YOKE_MEMORY_DEVICE, size, &buffer),
                     YOKE_OK);
    return buffer;
}

static inline yoke_impl_queue_t *make_queue(void)
{
    yoke_impl_queue_t *queue;
    assert_int_equal(ops->queue_create(device, 0, &queue), YOKE_OK);
    return queue;
}

static inline yoke_impl_span_t span(yoke_impl_buffer_t *buffer, uint64_t offset)
{
    return (yoke_impl_span_t){buffer, offset};
}

/* A buffer as the public interface wraps it: its first field is ours. */
typedef struct fake_public {
    yoke_impl_buffer_t *impl;
} fake_public_t;

static inline yoke_argument_t argument(fake_public_t *buffer, uint64_t offset)
{
    return yoke_argument_span((yoke_buffer_t *)(void *)buffer, offset);
}

/* The compiler's words, for messages of failing tests. */
static char last_log[65536];
static inline void keep_log(void *context, const char *text, size_t size)
{
    (void)context;
    size_t used = strlen(last_log), room = sizeof last_log - 1 - used;
    strncat(last_log, text, size < room ? size : room);
}

static inline yoke_status_t compile_source(const char *text, size_t size, bool binary,
                                           const char *options, yoke_impl_program_t **out)
{
    yoke_impl_program_source_t source = {text, size, "test", options, binary};
    last_log[0] = '\0';
    yoke_status_t status = ops->program_create(device, &source, keep_log, NULL, out);
    if (status != YOKE_OK)
        print_message("%s%s\n", last_log, last_log[0] == '\0' ? yoke_last_error() : "");
    return status;
}

static inline yoke_status_t compile_dialect(const char *text, const char *options,
                                            yoke_impl_program_t **out)
{
    char *source;
    size_t size;
    assert_int_equal(yoke_dialect_source(YOKE_DIALECT_HOST, YOKE_CAP_FP64, NULL, text,
                                         strlen(text), &source, &size),
                     YOKE_OK);
    yoke_status_t status = compile_source(source, size, false, options, out);
    free(source);
    return status;
}

#endif
