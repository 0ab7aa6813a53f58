/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of the layer on one device. A sample is a batch of equal enqueues and a wait for
 * them. Where there is a raw program, its sample and Yoke's alternate, and so does which
 * comes first; the ratio is the median of the ratios of neighbours, which other work on
 * the machine disturbs less than it does two medians.
 */
#include "tools/bench_hal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

#define SAMPLES_MOST 201 /* odd, for a median that is one of them */
#define SAMPLES_LEAST 31 /* of what takes longer than a sample should */
#define WARM_UP 3
#define SAMPLE_SECONDS 0.002 /* a batch takes about this long */
#define BATCH_MOST 256u

static const char source[] = "YOKE_KERNEL void empty(void)\n{ }\n";

const char *yoke_bench_kind_name(yoke_bench_kind_t kind)
{
    static const char *const names[] = {
        "empty launch", "launch and sync", "write", "read", "copy", "event record"};
    return names[kind];
}

/* --- objects ------------------------------------------------------------------------ */

static void end_objects(yoke_bench_objects_t *o)
{
    yoke_kernel_destroy(o->empty);
    yoke_program_destroy(o->program);
    yoke_buffer_destroy(o->x);
    yoke_buffer_destroy(o->y);
    yoke_event_destroy(o->event);
    yoke_queue_destroy(o->queue);
    yoke_device_close(o->device);
    free(o->host_x);
    free(o->host_y);
}

static yoke_status_t make_program(yoke_bench_objects_t *o, const yoke_device_info_t *info)
{
    const yoke_program_options_t options = {.struct_size = sizeof options,
                                            .format = YOKE_PROGRAM_DIALECT,
                                            .data = source,
                                            .size = sizeof source - 1,
                                            .name = "empty kernel"};
    if ((info->capabilities & YOKE_CAP_SOURCE) == 0)
        return YOKE_OK;
    yoke_status_t status = yoke_program_create(o->device, &options, &o->program);
    return status == YOKE_OK ? yoke_kernel_create(o->program, "empty", &o->empty)
                             : status;
}

static yoke_status_t make_objects(const char *name, yoke_bench_objects_t *o,
                                  yoke_device_info_t *info)
{
    yoke_status_t status = yoke_device_open(name, NULL, &o->device);
    if (status != YOKE_OK)
        return status;
    o->host_x = malloc(YOKE_BENCH_LARGEST);
    o->host_y = calloc(1, YOKE_BENCH_LARGEST);
    if (o->host_x == NULL || o->host_y == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < YOKE_BENCH_LARGEST; i++)
        o->host_x[i] = (unsigned char)(i * 131 + (i >> 12));
    status = yoke_device_info(o->device, info);
    if (status == YOKE_OK)
        status = yoke_queue_create(o->device, NULL, &o->queue);
    if (status == YOKE_OK)
        status = yoke_event_create(o->device, 0, &o->event);
    if (status == YOKE_OK)
        status =
            yoke_buffer_create(o->device, YOKE_MEMORY_DEVICE, YOKE_BENCH_LARGEST, &o->x);
    if (status == YOKE_OK)
        status =
            yoke_buffer_create(o->device, YOKE_MEMORY_DEVICE, YOKE_BENCH_LARGEST, &o->y);
    return status == YOKE_OK ? make_program(o, info) : status;
}

/* --- one batch ---------------------------------------------------------------------- */

static yoke_status_t enqueue(yoke_bench_objects_t *o, yoke_bench_kind_t kind,
                             uint64_t bytes, unsigned count)
{
    static const yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    const yoke_span_t x = yoke_span(o->x, 0), y = yoke_span(o->y, 0);
    yoke_status_t status = YOKE_OK;
    for (unsigned i = 0; i < count && status == YOKE_OK; i++)
        switch (kind) {
        case YOKE_BENCH_WRITE:
            status = yoke_queue_write(o->queue, x, o->host_x, bytes);
            break;
        case YOKE_BENCH_READ:
            status = yoke_queue_read(o->queue, o->host_y, y, bytes);
            break;
        case YOKE_BENCH_COPY:
            status = yoke_queue_copy(o->queue, y, x, bytes);
            break;
        case YOKE_BENCH_RECORD:
            status = yoke_event_record(o->event, o->queue);
            break;
        default:
            status = yoke_kernel_launch(o->queue, o->empty, &launch, NULL, 0);
            if (kind == YOKE_BENCH_LAUNCH_SYNC && status == YOKE_OK)
                status = yoke_queue_sync(o->queue);
            break;
        }
    return status == YOKE_OK ? yoke_queue_sync(o->queue) : status;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static yoke_status_t sample(yoke_bench_objects_t *o, yoke_bench_kind_t kind,
                            uint64_t bytes, unsigned count, double *out_seconds)
{
    double begin = now();
    yoke_status_t status = enqueue(o, kind, bytes, count);
    if (status == YOKE_OK)
        *out_seconds = (now() - begin) / count;
    return status;
}

static yoke_status_t sample_raw(yoke_bench_raw_t *raw, yoke_bench_kind_t kind,
                                uint64_t bytes, unsigned count, double *out_seconds)
{
    double begin = now();
    if (!yoke_bench_raw_run(raw, kind, bytes, count))
        return yoke_fail(YOKE_ERR_SYSTEM, "bench: the raw OpenCL program failed at %s",
                         yoke_bench_kind_name(kind));
    *out_seconds = (now() - begin) / count;
    return YOKE_OK;
}

/* --- one operation ------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median and quartiles. */
static void summarise(double *values, int count, double *out_median, double *out_low,
                      double *out_high)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    *out_median = values[count / 2];
    *out_low = values[count / 4];
    *out_high = values[count - 1 - count / 4];
}

/* How many enqueues make a batch, and how many samples are taken. */
static yoke_status_t batch_of(yoke_bench_objects_t *o, yoke_bench_kind_t kind,
                              uint64_t bytes, unsigned *out_count, int *out_samples)
{
    double seconds = 0;
    yoke_status_t status = YOKE_OK;
    *out_count = 1;
    for (int i = 0; i < WARM_UP && status == YOKE_OK; i++)
        status = sample(o, kind, bytes, 1, &seconds);
    if (status != YOKE_OK)
        return status;
    *out_samples = seconds > SAMPLE_SECONDS ? SAMPLES_LEAST : SAMPLES_MOST;
    double count = seconds > 0 ? SAMPLE_SECONDS / seconds : BATCH_MOST;
    *out_count = count < 1 ? 1 : count > BATCH_MOST ? BATCH_MOST : (unsigned)count;
    return YOKE_OK;
}

static yoke_status_t measure(yoke_bench_objects_t *o, yoke_bench_raw_t *raw,
                             yoke_bench_kind_t kind, uint64_t bytes,
                             yoke_bench_result_t *out_result)
{
    double own[SAMPLES_MOST], beside[SAMPLES_MOST], ratios[SAMPLES_MOST], low, high;
    int samples = 0;
    yoke_bench_result_t result = {.kind = kind, .bytes = bytes, .has_raw = raw != NULL};
    unsigned count = 1;
    yoke_status_t status = batch_of(o, kind, bytes, &count, &samples);
    for (int i = -WARM_UP; i < samples && status == YOKE_OK; i++) {
        double a = 0, b = 0;
        bool raw_first = raw != NULL && i % 2 != 0;
        if (raw_first)
            status = sample_raw(raw, kind, bytes, count, &b);
        if (status == YOKE_OK)
            status = sample(o, kind, bytes, count, &a);
        if (status == YOKE_OK && raw != NULL && !raw_first)
            status = sample_raw(raw, kind, bytes, count, &b);
        if (i < 0)
            continue;
        own[i] = a;
        beside[i] = b;
        ratios[i] = b > 0 ? a / b : 0;
    }
    if (status != YOKE_OK)
        return status;
    summarise(own, samples, &result.seconds, &result.low, &result.high);
    if (raw != NULL) {
        summarise(beside, samples, &result.raw_seconds, &low, &high);
        summarise(ratios, samples, &result.ratio, &result.ratio_low, &result.ratio_high);
    }
    *out_result = result;
    return YOKE_OK;
}

/* Bytes that were written come back after a copy within the device. */
static yoke_status_t verify(yoke_bench_objects_t *o, const char *name, uint64_t bytes)
{
    memset(o->host_y, 0, bytes);
    yoke_status_t status =
        yoke_queue_fill(o->queue, yoke_span(o->y, 0), "\377", 1, bytes);
    if (status == YOKE_OK)
        status = enqueue(o, YOKE_BENCH_WRITE, bytes, 1);
    if (status == YOKE_OK)
        status = enqueue(o, YOKE_BENCH_COPY, bytes, 1);
    if (status == YOKE_OK)
        status = enqueue(o, YOKE_BENCH_READ, bytes, 1);
    if (status == YOKE_OK && memcmp(o->host_x, o->host_y, bytes) != 0)
        status = yoke_fail(YOKE_ERR_SYSTEM,
                           "%s: %llu bytes came back changed; its figures would mean "
                           "nothing",
                           name, (unsigned long long)bytes);
    return status;
}

static yoke_status_t measure_all(yoke_bench_objects_t *o, yoke_bench_raw_t *raw,
                                 const char *name, const yoke_bench_sink_t *sink)
{
    static const uint64_t sizes[] = {4096, 64u << 10, 1u << 20, YOKE_BENCH_LARGEST};
    yoke_status_t status = YOKE_OK;
    for (yoke_bench_kind_t kind = 0; kind < YOKE_BENCH_KINDS; kind++) {
        bool copies = kind >= YOKE_BENCH_WRITE && kind <= YOKE_BENCH_COPY;
        if (kind <= YOKE_BENCH_LAUNCH_SYNC && o->program == NULL)
            continue;
        for (size_t i = 0; i < (copies ? sizeof sizes / sizeof *sizes : 1); i++) {
            uint64_t bytes = copies ? sizes[i] : 0;
            yoke_bench_result_t result;
            sink->on_begin(sink->context, kind, bytes);
            if (copies)
                status = verify(o, name, bytes);
            if (status == YOKE_OK)
                status = measure(o, raw, kind, bytes, &result);
            if (status != YOKE_OK)
                return status;
            sink->on_result(sink->context, &result);
        }
    }
    return YOKE_OK;
}

yoke_status_t yoke_bench_device(const char *name, const yoke_bench_sink_t *sink)
{
    yoke_bench_objects_t objects = {0};
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_status_t status = make_objects(name, &objects, &info);
    if (status == YOKE_OK) {
        yoke_bench_raw_t *raw = yoke_bench_raw_open(&objects);
        sink->on_open(sink->context, &info);
        status = measure_all(&objects, raw, name, sink);
        yoke_bench_raw_close(raw);
    }
    end_objects(&objects);
    return status;
}
