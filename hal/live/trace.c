/* SPDX-License-Identifier: Apache-2.0 */
/* The tracing layer: one line a call. */
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/live/layers.h"

uint64_t yoke_trace_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1;
}

void yoke_trace_line(const yoke_device_t *device, uint64_t begin, const char *call,
                     yoke_status_t status, const char *format, ...)
{
    char arguments[512];
    uint64_t nanoseconds = yoke_trace_now() - begin;
    va_list args;
    va_start(args, format);
    yoke_vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    yoke_debug("%s: %s(%s) = %s, %llu ns", device->label, call, arguments,
               yoke_status_name(status), (unsigned long long)nanoseconds);
}
