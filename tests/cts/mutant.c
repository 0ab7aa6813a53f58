/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plug-in backend "mutant": the host backend with one fault, chosen by
 * $YOKE_CTS_MUTATION (0: none). mutants.py sees that the suite finds each.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"

enum {
    SOUND = 0,
    COPY_DROPS_LAST_BYTE,
    COPY_IGNORES_SOURCE_OFFSET,
    WRITE_AT_WRONG_OFFSET,
    READ_IGNORES_OFFSET,
    FILL_TAKES_FIRST_BYTE,
    FILL_IGNORES_OFFSET,
    READ_LATER,
    EVENT_ALWAYS_REACHED,
    WAIT_DOES_NOTHING,
    QUERY_ALWAYS_DONE,
    CURRENT_LEAKS,
    HANDLES_LEAK,
    HOST_CALL_TWICE,
    LAUNCH_IGNORES_OFFSET,
    LAUNCH_SWAPS_DIMENSIONS,
    OPTIONS_DROPPED,
    ELAPSED_CONSTANT,
    BINARY_TRUNCATED,
    COPY_OUT_OF_ORDER,
    PREPARED_KEEPS_ARGUMENT,
    PREPARED_KEEPS_GEOMETRY,
    PREPARED_LAUNCHES_TWICE,
};

static const yoke_backend_ops_t *host;
static yoke_backend_ops_t mutant;

/* --- what a fake vendor library exports --------------------------------------------- */

static _Thread_local uint64_t current = 1;
static uint64_t alive;

uint64_t yoke_fake_current(void);
void yoke_fake_set_current(int ordinal);
uint64_t yoke_fake_alive(void);

uint64_t yoke_fake_current(void)
{
    return current;
}

void yoke_fake_set_current(int ordinal)
{
    current = (uint64_t)(ordinal + 2);
}

uint64_t yoke_fake_alive(void)
{
    return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}

/* --- faults ------------------------------------------------------------------------- */

static yoke_status_t prepared_keeps_argument(yoke_impl_prepared_t *prepared, size_t index,
                                             const yoke_argument_t *argument)
{
    (void)prepared;
    (void)index;
    (void)argument;
    return YOKE_OK;
}

static yoke_status_t prepared_keeps_geometry(yoke_impl_prepared_t *prepared,
                                             const yoke_launch_t *launch)
{
    (void)prepared;
    (void)launch;
    return YOKE_OK;
}

static yoke_status_t prepared_launches_twice(yoke_impl_queue_t *queue,
                                             yoke_impl_prepared_t *prepared)
{
    yoke_status_t status = host->prepared_launch(queue, prepared);
    return status == YOKE_OK ? host->prepared_launch(queue, prepared) : status;
}

static yoke_status_t copy_drops_last_byte(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                          yoke_impl_span_t src, uint64_t size)
{
    return size < 2 ? host->copy(queue, dst, src, size)
                    : host->copy(queue, dst, src, size - 1);
}

static yoke_status_t copy_ignores_source_offset(yoke_impl_queue_t *queue,
                                                yoke_impl_span_t dst,
                                                yoke_impl_span_t src, uint64_t size)
{
    src.offset = 0;
    return host->copy(queue, dst, src, size);
}

static yoke_status_t write_at_wrong_offset(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                           const void *src, uint64_t size)
{
    if (dst.offset > 0)
        dst.offset--;
    return host->write(queue, dst, src, size);
}

static yoke_status_t read_ignores_offset(yoke_impl_queue_t *queue, void *dst,
                                         yoke_impl_span_t src, uint64_t size)
{
    src.offset = 0;
    return host->read(queue, dst, src, size);
}

static yoke_status_t fill_takes_first_byte(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                           const void *pattern, size_t pattern_size,
                                           uint64_t size)
{
    (void)pattern_size;
    return host->fill(queue, dst, pattern, 1, size);
}

static yoke_status_t fill_ignores_offset(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                         const void *pattern, size_t pattern_size,
                                         uint64_t size)
{
    dst.offset = 0;
    return host->fill(queue, dst, pattern, pattern_size, size);
}

/* One read is kept back until somebody waits for the queue. */
static struct {
    yoke_impl_queue_t *queue;
    void *dst;
    yoke_impl_span_t src;
    uint64_t size;
} later;

static yoke_status_t flush(yoke_impl_queue_t *queue)
{
    if (later.queue != queue)
        return YOKE_OK;
    later.queue = NULL;
    return host->read(queue, later.dst, later.src, later.size);
}

static yoke_status_t read_later(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                                uint64_t size)
{
    if (later.queue != NULL)
        (void)flush(later.queue);
    later.queue = queue;
    later.dst = dst;
    later.src = src;
    later.size = size;
    return YOKE_OK;
}

static yoke_status_t sync_flushes(yoke_impl_queue_t *queue)
{
    (void)flush(queue);
    return host->queue_sync(queue);
}

static yoke_status_t event_always_reached(yoke_impl_event_t *event)
{
    (void)event;
    return YOKE_OK;
}

static yoke_status_t wait_does_nothing(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    (void)queue;
    (void)event;
    return YOKE_OK;
}

static yoke_status_t query_always_done(yoke_impl_queue_t *queue)
{
    (void)queue;
    return YOKE_OK;
}

static yoke_status_t current_leaks(yoke_impl_device_t *device, int32_t priority,
                                   yoke_impl_queue_t **out_queue)
{
    current = 99;
    return host->queue_create(device, priority, out_queue);
}

static yoke_status_t handles_leak(yoke_impl_device_t *device, uint32_t flags,
                                  yoke_impl_event_t **out_event)
{
    __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
    return host->event_create(device, flags, out_event);
}

static yoke_status_t host_call_twice(yoke_impl_queue_t *queue, void (*function)(void *),
                                     void *context)
{
    yoke_status_t status = host->host_call(queue, function, context);
    return status != YOKE_OK ? status : host->host_call(queue, function, context);
}

static yoke_status_t launch_ignores_offset(yoke_impl_queue_t *queue,
                                           yoke_impl_kernel_t *kernel,
                                           const yoke_launch_t *launch,
                                           const yoke_argument_t *arguments, size_t count)
{
    yoke_argument_t changed[YOKE_MAX_ARGUMENTS];
    for (size_t i = 0; i < count; i++) {
        changed[i] = arguments[i];
        changed[i].span.offset = 0;
    }
    return host->launch(queue, kernel, launch, changed, count);
}

static yoke_status_t launch_swaps_dimensions(yoke_impl_queue_t *queue,
                                             yoke_impl_kernel_t *kernel,
                                             const yoke_launch_t *launch,
                                             const yoke_argument_t *arguments,
                                             size_t count)
{
    yoke_launch_t swapped = *launch;
    swapped.groups[0] = launch->groups[1];
    swapped.groups[1] = launch->groups[0];
    return host->launch(queue, kernel, &swapped, arguments, count);
}

static yoke_status_t options_dropped(yoke_impl_device_t *device,
                                     const yoke_impl_program_source_t *source,
                                     yoke_log_text_t log, void *log_context,
                                     yoke_impl_program_t **out_program)
{
    yoke_impl_program_source_t changed = *source;
    changed.options = "";
    return host->program_create(device, &changed, log, log_context, out_program);
}

static yoke_status_t elapsed_constant(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                      double *out_seconds)
{
    (void)start;
    (void)end;
    *out_seconds = 1;
    return YOKE_OK;
}

static yoke_status_t binary_truncated(yoke_impl_program_t *program, const void **out_data,
                                      size_t *out_size)
{
    yoke_status_t status = host->program_binary(program, out_data, out_size);
    if (status == YOKE_OK)
        *out_size /= 2;
    return status;
}

/* At once, past all that is enqueued. */
static yoke_status_t copy_out_of_order(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                       yoke_impl_span_t src, uint64_t size)
{
    (void)queue;
    memmove((char *)host->buffer_address(dst.buffer) + dst.offset,
            (char *)host->buffer_address(src.buffer) + src.offset, (size_t)size);
    return YOKE_OK;
}

/* The library of the device is this plug-in: the suite finds the symbols above in it. */
static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    yoke_status_t status = host->device_info(runtime, ordinal, out_info);
    out_info->library = getenv("YOKE_CTS_MUTANT");
    return status;
}

static void mutate(int mutation)
{
    switch (mutation) {
    case COPY_DROPS_LAST_BYTE:
        mutant.copy = copy_drops_last_byte;
        break;
    case COPY_IGNORES_SOURCE_OFFSET:
        mutant.copy = copy_ignores_source_offset;
        break;
    case WRITE_AT_WRONG_OFFSET:
        mutant.write = write_at_wrong_offset;
        break;
    case READ_IGNORES_OFFSET:
        mutant.read = read_ignores_offset;
        break;
    case FILL_TAKES_FIRST_BYTE:
        mutant.fill = fill_takes_first_byte;
        break;
    case FILL_IGNORES_OFFSET:
        mutant.fill = fill_ignores_offset;
        break;
    case READ_LATER:
        mutant.read = read_later;
        mutant.queue_sync = sync_flushes;
        break;
    case EVENT_ALWAYS_REACHED:
        mutant.event_query = event_always_reached;
        break;
    case WAIT_DOES_NOTHING:
        mutant.queue_wait = wait_does_nothing;
        break;
    case QUERY_ALWAYS_DONE:
        mutant.queue_query = query_always_done;
        break;
    case CURRENT_LEAKS:
        mutant.queue_create = current_leaks;
        break;
    case HANDLES_LEAK:
        mutant.event_create = handles_leak;
        break;
    case HOST_CALL_TWICE:
        mutant.host_call = host_call_twice;
        break;
    case LAUNCH_IGNORES_OFFSET:
        mutant.launch = launch_ignores_offset;
        break;
    case LAUNCH_SWAPS_DIMENSIONS:
        mutant.launch = launch_swaps_dimensions;
        break;
    case OPTIONS_DROPPED:
        mutant.program_create = options_dropped;
        break;
    case ELAPSED_CONSTANT:
        mutant.event_elapsed = elapsed_constant;
        break;
    case BINARY_TRUNCATED:
        mutant.program_binary = binary_truncated;
        break;
    case COPY_OUT_OF_ORDER:
        mutant.copy = copy_out_of_order;
        break;
    case PREPARED_KEEPS_ARGUMENT:
        mutant.prepared_argument = prepared_keeps_argument;
        break;
    case PREPARED_KEEPS_GEOMETRY:
        mutant.prepared_geometry = prepared_keeps_geometry;
        break;
    case PREPARED_LAUNCHES_TWICE:
        mutant.prepared_launch = prepared_launches_twice;
        break;
    default:
        break;
    }
}

const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major);

const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major)
{
    const char *mutation = getenv("YOKE_CTS_MUTATION");
    const yoke_backend_t *backend = yoke_backend_find("host");
    if (abi_major != YOKE_BACKEND_ABI_MAJOR || backend == NULL)
        return NULL;
    host = backend->live;
    mutant = *host;
    mutant.name = "mutant";
    mutant.device_info = device_info;
    mutate(mutation != NULL ? atoi(mutation) : SOUND);
    return &mutant;
}
