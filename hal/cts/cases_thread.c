/* SPDX-License-Identifier: Apache-2.0 */
/* Different handles on four threads at once. */
#include "hal/cts/case.h"

#include <stdlib.h>

enum { THREADS = 4, SIZE = 30001 };

typedef struct shared {
    yoke_device_t *device;
    const char *name;
    yoke_program_t *program;
} shared_t;

/* Copy between buffers of its own until the end; one comparison at the end. */
static const char *work(yoke_device_t *device, size_t seed, int rounds)
{
    static const char failed[] = "a call failed", wrong[] = "wrong bytes";
    const char *message = failed;
    unsigned char *data = calloc(2, SIZE);
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_buffer_t *a = NULL, *b = NULL;
    if (data == NULL || yoke_queue_create(device, NULL, &queue) != YOKE_OK ||
        yoke_event_create(device, 0, &event) != YOKE_OK ||
        yoke_buffer_create(device, YOKE_MEMORY_DEVICE, SIZE, &a) != YOKE_OK ||
        yoke_buffer_create(device, YOKE_MEMORY_DEVICE, SIZE, &b) != YOKE_OK)
        goto out;
    for (int round = 0; round < rounds; round++) {
        yoke_cts_noise(data, SIZE, seed + (uint64_t)round);
        memset(data + SIZE, 0, SIZE);
        if (yoke_queue_write(queue, yoke_span(a, 0), data, SIZE) != YOKE_OK ||
            yoke_queue_copy(queue, yoke_span(b, 0), yoke_span(a, 0), SIZE) != YOKE_OK ||
            yoke_queue_read(queue, data + SIZE, yoke_span(b, 0), SIZE) != YOKE_OK ||
            yoke_event_record(event, queue) != YOKE_OK ||
            yoke_event_sync(event) != YOKE_OK)
            goto out;
        if (memcmp(data, data + SIZE, SIZE) != 0) {
            message = wrong;
            goto out;
        }
    }
    message = NULL;
out:
    if (queue != NULL)
        (void)yoke_queue_sync(queue);
    yoke_buffer_destroy(b);
    yoke_buffer_destroy(a);
    yoke_event_destroy(event);
    yoke_queue_destroy(queue);
    free(data);
    return message;
}

static const char *on_one_device(void *context, size_t i)
{
    return work(((shared_t *)context)->device, 1000 * i, 25);
}

static const char *on_own_device(void *context, size_t i)
{
    yoke_device_t *device = NULL;
    if (yoke_device_open(((shared_t *)context)->name, NULL, &device) != YOKE_OK)
        return "a device does not open";
    const char *message = work(device, 1000 * i, 10);
    yoke_device_close(device);
    return message;
}

static const char *on_host_or_device(void *context, size_t i)
{
    yoke_device_t *host = NULL;
    if (i % 2 == 0)
        return on_one_device(context, i);
    if (yoke_device_open("host", NULL, &host) != YOKE_OK)
        return "the host does not open";
    const char *message = work(host, 1000 * i, 25);
    yoke_device_close(host);
    return message;
}

static const char *launches(void *context, size_t i)
{
    static const char failed[] = "a launch failed", wrong[] = "wrong result";
    const char *message = failed;
    shared_t *shared = context;
    yoke_kernel_t *kernel = NULL;
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *y = NULL;
    uint32_t value = (uint32_t)i + 1, result = 0, zero = 0;
    yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    if (yoke_kernel_create(shared->program, "add", &kernel) != YOKE_OK ||
        yoke_queue_create(shared->device, NULL, &queue) != YOKE_OK ||
        yoke_buffer_create(shared->device, YOKE_MEMORY_DEVICE, 4, &y) != YOKE_OK ||
        yoke_queue_fill(queue, yoke_span(y, 0), &zero, 4, 4) != YOKE_OK)
        goto out;
    yoke_argument_t arguments[2] = {yoke_argument_span(y, 0),
                                    yoke_argument_value(&value, 4)};
    for (int n = 0; n < 50; n++)
        if (yoke_kernel_launch(queue, kernel, &launch, arguments, 2) != YOKE_OK)
            goto out;
    if (yoke_queue_read(queue, &result, yoke_span(y, 0), 4) != YOKE_OK ||
        yoke_queue_sync(queue) != YOKE_OK)
        goto out;
    message = result == 50 * value ? NULL : wrong;
out:
    if (queue != NULL)
        (void)yoke_queue_sync(queue);
    yoke_buffer_destroy(y);
    yoke_queue_destroy(queue);
    yoke_kernel_destroy(kernel);
    return message;
}

static void one_device(yoke_cts_t *t)
{
    shared_t shared = {.device = yoke_cts_device(t)};
    yoke_cts_threads(t, THREADS, on_one_device, &shared);
}

static void own_devices(yoke_cts_t *t)
{
    shared_t shared = {.name = yoke_cts_device_name(t)};
    yoke_cts_threads(t, THREADS, on_own_device, &shared);
}

static void with_host(yoke_cts_t *t)
{
    shared_t shared = {.device = yoke_cts_device(t)};
    yoke_cts_threads(t, THREADS, on_host_or_device, &shared);
}

static void validated(yoke_cts_t *t)
{
    shared_t shared = {.device = yoke_cts_validated(t)};
    yoke_cts_threads(t, THREADS, on_one_device, &shared);
}

static void launch(yoke_cts_t *t)
{
    static const char source[] = "YOKE_KERNEL void add(YOKE_GLOBAL u32 *y, u32 value)\n"
                                 "{\n"
                                 "    y[0] += value;\n"
                                 "}\n";
    shared_t shared = {.device = yoke_cts_device(t)};
    shared.program = yoke_cts_compile(t, shared.device, source, NULL);
    yoke_cts_threads(t, THREADS, launches, &shared);
}

static const yoke_cts_case_t cases[] = {
    {"thread/one-device", 0, 0, one_device, 0, 0},
    {"thread/own-devices", 0, 0, own_devices, 0, 0},
    {"thread/with-host", 0, YOKE_CTS_HOST, with_host, 0, 0},
    {"thread/validated", 0, 0, validated, 0, 0},
    {"thread/launch", YOKE_CAP_SOURCE, 0, launch, 0, 0},
};

YOKE_CTS_GROUP(thread, cases);
