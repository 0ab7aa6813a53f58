/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that most cases take: objects, data to and from the device, threads, programs. */
#include "hal/cts/context.h"

#include <pthread.h>
#include <stdlib.h>

/* --- objects ------------------------------------------------------------------------ */

yoke_queue_t *yoke_cts_queue(yoke_cts_t *t, yoke_device_t *device)
{
    yoke_queue_t *queue = NULL;
    OK(t, yoke_queue_create(device, NULL, &queue));
    CHECK(t, queue != NULL);
    yoke_cts_keep_queue(t, queue);
    return queue;
}

yoke_event_t *yoke_cts_event(yoke_cts_t *t, yoke_device_t *device, uint32_t flags)
{
    yoke_event_t *event = NULL;
    OK(t, yoke_event_create(device, flags, &event));
    CHECK(t, event != NULL);
    yoke_cts_keep_event(t, event);
    return event;
}

yoke_buffer_t *yoke_cts_buffer_of(yoke_cts_t *t, yoke_device_t *device,
                                  yoke_memory_kind_t kind, uint64_t size)
{
    yoke_buffer_t *buffer = NULL;
    OK(t, yoke_buffer_create(device, kind, size, &buffer));
    CHECK(t, buffer != NULL);
    yoke_cts_keep_buffer(t, buffer);
    return buffer;
}

yoke_buffer_t *yoke_cts_buffer(yoke_cts_t *t, yoke_device_t *device, uint64_t size)
{
    return yoke_cts_buffer_of(t, device, YOKE_MEMORY_DEVICE, size);
}

void *yoke_cts_memory(yoke_cts_t *t, size_t size)
{
    void *memory = calloc(size == 0 ? 1 : size, 1);
    if (memory == NULL)
        FAIL(t, "no host memory: %zu bytes", size);
    yoke_cts_keep(t, memory, free);
    return memory;
}

/* --- programs ----------------------------------------------------------------------- */

yoke_program_t *yoke_cts_compile(yoke_cts_t *t, yoke_device_t *device, const char *source,
                                 const char *options)
{
    yoke_program_options_t o = {
        sizeof o, YOKE_PROGRAM_DIALECT, 0, source, strlen(source), "case", options};
    yoke_program_t *program = NULL;
    OK(t, yoke_program_create(device, &o, &program));
    CHECK(t, program != NULL);
    yoke_cts_keep_program(t, program);
    return program;
}

static yoke_cts_shared_program_t *find_program(yoke_cts_t *t, const char *key)
{
    for (size_t i = 0; i < YOKE_CTS_PROGRAMS; i++)
        if (t->programs[i].key == NULL || strcmp(t->programs[i].key, key) == 0)
            return &t->programs[i];
    FAIL(t, "more shared programs than YOKE_CTS_PROGRAMS");
}

yoke_program_t *yoke_cts_program(yoke_cts_t *t, const char *key, const char *source)
{
    yoke_cts_shared_program_t *shared = find_program(t, key);
    if (shared->key == NULL) {
        yoke_program_options_t o = {
            sizeof o, YOKE_PROGRAM_DIALECT, 0, source, strlen(source), key, NULL};
        yoke_program_t *program = NULL;
        yoke_status_t status = yoke_program_create(t->device, &o, &program);
        shared->key = key;
        if (status == YOKE_OK)
            shared->program = program;
        else
            shared->error =
                yoke_format("%s: %s", yoke_status_name(status), yoke_last_error());
    }
    if (shared->program == NULL)
        FAIL(t, "program %s: %.300s", key, shared->error != NULL ? shared->error : "?");
    return shared->program;
}

yoke_kernel_t *yoke_cts_kernel(yoke_cts_t *t, yoke_program_t *program, const char *name)
{
    yoke_kernel_t *kernel = NULL;
    OK(t, yoke_kernel_create(program, name, &kernel));
    CHECK(t, kernel != NULL);
    yoke_cts_keep_kernel(t, kernel);
    return kernel;
}

void yoke_cts_launch(yoke_cts_t *t, yoke_queue_t *queue, yoke_kernel_t *kernel,
                     uint32_t groups, uint32_t local, const yoke_argument_t *arguments,
                     size_t count)
{
    yoke_launch_t launch = {{groups, 1, 1}, {local, 1, 1}};
    OK(t, yoke_kernel_launch(queue, kernel, &launch, arguments, count));
}

/* --- data --------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195). */
uint64_t yoke_cts_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

void yoke_cts_noise(void *bytes, size_t size, uint64_t seed)
{
    unsigned char *at = bytes;
    uint64_t state = seed;
    while (size > 0) {
        uint64_t value = yoke_cts_random(&state);
        size_t part = size < sizeof value ? size : sizeof value;
        memcpy(at, &value, part);
        at += part;
        size -= part;
    }
}

void yoke_cts_put(yoke_cts_t *t, yoke_queue_t *queue, yoke_buffer_t *buffer,
                  uint64_t offset, const void *bytes, size_t size)
{
    OK(t, yoke_queue_write(queue, yoke_span(buffer, offset), bytes, size));
    OK(t, yoke_queue_sync(queue));
}

void yoke_cts_get(yoke_cts_t *t, yoke_queue_t *queue, yoke_buffer_t *buffer,
                  uint64_t offset, void *bytes, size_t size)
{
    OK(t, yoke_queue_read(queue, bytes, yoke_span(buffer, offset), size));
    OK(t, yoke_queue_sync(queue));
}

void yoke_cts_expect_at(yoke_cts_t *t, const char *file, int line, yoke_queue_t *queue,
                        yoke_buffer_t *buffer, uint64_t offset, const void *expected,
                        size_t size)
{
    unsigned char *actual = yoke_cts_memory(t, size);
    /* What was read must differ from what lay there before. */
    for (size_t i = 0; i < size; i++)
        actual[i] = (unsigned char)~((const unsigned char *)expected)[i];
    yoke_cts_ok_at(t, file, line, "yoke_queue_read",
                   yoke_queue_read(queue, actual, yoke_span(buffer, offset), size));
    yoke_cts_ok_at(t, file, line, "yoke_queue_sync", yoke_queue_sync(queue));
    yoke_cts_bytes_at(t, file, line, "content", expected, actual, size);
}

/* --- threads ------------------------------------------------------------------------ */

typedef struct worker {
    pthread_t thread;
    const char *(*body)(void *context, size_t i);
    void *context;
    size_t i;
    const char *message;
} worker_t;

static void *work(void *argument)
{
    worker_t *worker = argument;
    worker->message = worker->body(worker->context, worker->i);
    return NULL;
}

void yoke_cts_threads(yoke_cts_t *t, size_t count,
                      const char *(*body)(void *context, size_t i), void *context)
{
    worker_t workers[8];
    size_t started = 0;
    const char *message = NULL;
    for (; started < count && started < 8; started++) {
        workers[started] = (worker_t){.body = body, .context = context, .i = started};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
            break;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (message == NULL)
            message = workers[i].message;
    }
    if (message != NULL)
        FAIL(t, "on a thread: %s", message);
    EQUAL(t, count, started);
}
