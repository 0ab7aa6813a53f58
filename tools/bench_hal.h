/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_BENCH_HAL_H
#define YOKE_TOOLS_BENCH_HAL_H

/* What `yoke bench hal` measures on one device, and the raw program beside it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/kernel.h"

typedef enum yoke_bench_kind {
    YOKE_BENCH_LAUNCH,      /* an empty kernel, many before one sync */
    YOKE_BENCH_LAUNCH_SYNC, /* one, and a sync */
    YOKE_BENCH_WRITE,       /* from ordinary host memory */
    YOKE_BENCH_READ,
    YOKE_BENCH_COPY, /* within the device's memory */
    YOKE_BENCH_RECORD,
    YOKE_BENCH_KINDS
} yoke_bench_kind_t;

/* "empty launch" */
const char *yoke_bench_kind_name(yoke_bench_kind_t kind);

#define YOKE_BENCH_LARGEST (64u << 20)

/* The objects of one device; the raw program uses the same memory. */
typedef struct yoke_bench_objects {
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_event_t *event;
    yoke_buffer_t *x, *y;
    yoke_program_t *program; /* NULL: the device takes none */
    yoke_kernel_t *empty;
    unsigned char *host_x, *host_y;
} yoke_bench_objects_t;

/* Medians of one operation. */
typedef struct yoke_bench_result {
    yoke_bench_kind_t kind;
    uint64_t bytes; /* 0: none are moved */
    double seconds, low, high;
    /* beside it, sample by sample in turn */
    bool has_raw;
    double raw_seconds, ratio, ratio_low, ratio_high;
} yoke_bench_result_t;

typedef struct yoke_bench_raw yoke_bench_raw_t;

typedef struct yoke_bench_sink {
    void (*on_open)(void *context, const yoke_device_info_t *info);
    void (*on_begin)(void *context, yoke_bench_kind_t kind, uint64_t bytes);
    void (*on_result)(void *context, const yoke_bench_result_t *result);
    void *context;
} yoke_bench_sink_t;

/*
 * Measure a device by name. Results are verified first: bytes written come back after a
 * copy within the device.
 * @retval YOKE_ERR_SYSTEM  also when what was moved came back changed
 */
yoke_status_t yoke_bench_device(const char *name, const yoke_bench_sink_t *sink);

/* --- the raw program (bench_opencl.c) -------------------------------------------------
 */

/* NULL: the device is no OpenCL device, or its library lacks something. */
yoke_bench_raw_t *yoke_bench_raw_open(const yoke_bench_objects_t *objects);
void yoke_bench_raw_close(yoke_bench_raw_t *raw);
/* `count` enqueues, then a wait for them. false: a call failed. */
bool yoke_bench_raw_run(yoke_bench_raw_t *raw, yoke_bench_kind_t kind, uint64_t bytes,
                        unsigned count);

#endif
