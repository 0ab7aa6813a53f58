/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw program beside Yoke on OpenCL devices: the same work on the same buffers and
 * host memory, in a queue of its own, by the calls that one would write. Values and
 * prototypes: OpenCL 1.2 specification.
 */
#include "tools/bench_hal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "yoke/adopt.h"

struct yoke_bench_raw {
    const yoke_bench_objects_t *objects;
    void *library, *queue, *x, *y, *kernel, *program, *event;
    int32_t (*launch)(void *, void *, uint32_t, const size_t *, const size_t *,
                      const size_t *, uint32_t, void *const *, void **);
    int32_t (*write)(void *, void *, uint32_t, size_t, size_t, const void *, uint32_t,
                     void *const *, void **);
    int32_t (*read)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t,
                    void *const *, void **);
    int32_t (*copy)(void *, void *, void *, size_t, size_t, size_t, uint32_t,
                    void *const *, void **);
    int32_t (*mark)(void *, uint32_t, void *const *, void **);
    int32_t (*release_event)(void *);
    int32_t (*release_queue)(void *);
    int32_t (*release_kernel)(void *);
    int32_t (*release_program)(void *);
    int32_t (*flush)(void *);
    int32_t (*finish)(void *);
};

#define FIND(raw, symbol, slot)                                                          \
    ((*(void **)(void *)&(slot) = dlsym((raw)->library, symbol)) != NULL)

static bool find_calls(yoke_bench_raw_t *raw)
{
    return FIND(raw, "clEnqueueNDRangeKernel", raw->launch) &&
           FIND(raw, "clEnqueueWriteBuffer", raw->write) &&
           FIND(raw, "clEnqueueReadBuffer", raw->read) &&
           FIND(raw, "clEnqueueCopyBuffer", raw->copy) &&
           FIND(raw, "clEnqueueMarkerWithWaitList", raw->mark) &&
           FIND(raw, "clReleaseEvent", raw->release_event) &&
           FIND(raw, "clReleaseCommandQueue", raw->release_queue) &&
           FIND(raw, "clReleaseKernel", raw->release_kernel) &&
           FIND(raw, "clReleaseProgram", raw->release_program) &&
           FIND(raw, "clFlush", raw->flush) && FIND(raw, "clFinish", raw->finish);
}

static bool make_kernel(yoke_bench_raw_t *raw, const yoke_native_t *device)
{
    static const char *const source = "kernel void empty(void) { }";
    void *(*create)(void *, uint32_t, const char *const *, const size_t *, int32_t *);
    int32_t (*build)(void *, uint32_t, void *const *, const char *, void (*)(void *),
                     void *);
    void *(*kernel)(void *, const char *, int32_t *);
    if (!FIND(raw, "clCreateProgramWithSource", create) ||
        !FIND(raw, "clBuildProgram", build) || !FIND(raw, "clCreateKernel", kernel))
        return false;
    raw->program = create(device->context, 1, &source, NULL, NULL);
    if (raw->program == NULL ||
        build(raw->program, 1, &device->handle, "", NULL, NULL) != 0)
        return false;
    raw->kernel = kernel(raw->program, "empty", NULL);
    return raw->kernel != NULL;
}

static bool make(yoke_bench_raw_t *raw)
{
    void *(*create)(void *, void *, uint64_t, int32_t *);
    yoke_native_t device = {.struct_size = sizeof device}, x = device, y = device;
    if (yoke_device_native(raw->objects->device, &device) != YOKE_OK ||
        yoke_buffer_native(raw->objects->x, &x) != YOKE_OK ||
        yoke_buffer_native(raw->objects->y, &y) != YOKE_OK || !find_calls(raw) ||
        !FIND(raw, "clCreateCommandQueue", create))
        return false;
    raw->x = x.handle;
    raw->y = y.handle;
    raw->queue = create(device.context, device.handle, 0, NULL);
    return raw->queue != NULL &&
           (raw->objects->program == NULL || make_kernel(raw, &device));
}

yoke_bench_raw_t *yoke_bench_raw_open(const yoke_bench_objects_t *objects)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    /* Where buffers have addresses they are no cl_mem, and a raw program is another. */
    if (yoke_device_info(objects->device, &info) != YOKE_OK ||
        strcmp(info.backend, "opencl") != 0 ||
        (info.capabilities & YOKE_CAP_ADDRESS) != 0)
        return NULL;
    yoke_bench_raw_t *raw = calloc(1, sizeof *raw);
    if (raw == NULL)
        return NULL;
    raw->objects = objects;
    raw->library = dlopen(info.library, RTLD_NOW | RTLD_NOLOAD);
    if (raw->library != NULL && make(raw))
        return raw;
    yoke_bench_raw_close(raw);
    return NULL;
}

void yoke_bench_raw_close(yoke_bench_raw_t *raw)
{
    if (raw == NULL)
        return;
    if (raw->event != NULL)
        raw->release_event(raw->event);
    if (raw->kernel != NULL)
        raw->release_kernel(raw->kernel);
    if (raw->program != NULL)
        raw->release_program(raw->program);
    if (raw->queue != NULL)
        raw->release_queue(raw->queue);
    if (raw->library != NULL)
        dlclose(raw->library);
    free(raw);
}

/* An event that somebody may poll: the queue is flushed behind it. */
static int32_t record(yoke_bench_raw_t *raw)
{
    void *event = NULL;
    int32_t code = raw->mark(raw->queue, 0, NULL, &event);
    if (code != 0)
        return code;
    if (raw->event != NULL)
        raw->release_event(raw->event);
    raw->event = event;
    return raw->flush(raw->queue);
}

bool yoke_bench_raw_run(yoke_bench_raw_t *raw, yoke_bench_kind_t kind, uint64_t bytes,
                        unsigned count)
{
    static const size_t one[3] = {1, 1, 1};
    const yoke_bench_objects_t *o = raw->objects;
    int32_t code = 0;
    for (unsigned i = 0; i < count && code == 0; i++)
        switch (kind) {
        case YOKE_BENCH_WRITE:
            code = raw->write(raw->queue, raw->x, 0, 0, bytes, o->host_x, 0, NULL, NULL);
            break;
        case YOKE_BENCH_READ:
            code = raw->read(raw->queue, raw->y, 0, 0, bytes, o->host_y, 0, NULL, NULL);
            break;
        case YOKE_BENCH_COPY:
            code = raw->copy(raw->queue, raw->x, raw->y, 0, 0, bytes, 0, NULL, NULL);
            break;
        case YOKE_BENCH_RECORD:
            code = record(raw);
            break;
        default:
            code = raw->launch(raw->queue, raw->kernel, 3, NULL, one, one, 0, NULL, NULL);
            if (kind == YOKE_BENCH_LAUNCH_SYNC && code == 0)
                code = raw->finish(raw->queue);
            break;
        }
    return raw->finish(raw->queue) == 0 && code == 0;
}
