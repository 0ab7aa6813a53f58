/* SPDX-License-Identifier: Apache-2.0 */
/* The validation layer: each kind of bad input gives its status, with a message, and
 * nothing is enqueued. The tracing layer: calls appear in the log sink. */
#include "hal/cts/case.h"

enum { SIZE = 256 };

/* Objects of the validated device, and what the buffer must still hold at the end. */
typedef struct guard {
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_buffer_t *buffer;
    unsigned char content[SIZE], data[2 * SIZE];
} guard_t;

static guard_t make_guard(yoke_cts_t *t)
{
    guard_t guard = {.device = yoke_cts_validated(t)};
    guard.queue = yoke_cts_queue(t, guard.device);
    guard.buffer = yoke_cts_buffer(t, guard.device, SIZE);
    yoke_cts_noise(guard.content, SIZE, 101);
    yoke_cts_noise(guard.data, sizeof guard.data, 102);
    yoke_cts_put(t, guard.queue, guard.buffer, 0, guard.content, SIZE);
    return guard;
}

static void check_untouched(yoke_cts_t *t, guard_t *guard)
{
    EXPECT(t, guard->queue, guard->buffer, 0, guard->content, SIZE);
}

static void good_calls_pass(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *event = yoke_cts_event(t, guard.device, 0);
    yoke_buffer_t *other = yoke_cts_buffer(t, guard.device, SIZE);
    OK(t, yoke_queue_copy(guard.queue, yoke_span(other, 0), yoke_span(guard.buffer, 0),
                          SIZE));
    OK(t, yoke_queue_copy(guard.queue, yoke_span(other, 0), yoke_span(other, 128), 128));
    OK(t, yoke_queue_write(guard.queue, yoke_span(other, SIZE), guard.data, 0));
    OK(t, yoke_queue_fill(guard.queue, yoke_span(other, 240), guard.data, 16, 16));
    OK(t, yoke_event_record(event, guard.queue));
    OK(t, yoke_queue_wait(guard.queue, event));
    OK(t, yoke_event_sync(event));
    OK(t, yoke_event_query(event));
    check_untouched(t, &guard);
}

/* --- ranges ------------------------------------------------------------------------- */

/* Offset and size that pass the end, or wrap around. */
static const struct {
    uint64_t offset, size;
} bad_ranges[] = {
    {0, SIZE + 1},
    {1, SIZE},
    {SIZE, 1},
    {SIZE + 1, 0},
    {255, 2},
    {UINT64_MAX, 1},
    {1ull << 40, 1},
    {UINT64_MAX - 7, 16},
    {8, UINT64_MAX - 7},
};

static void range(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_buffer_t *big = yoke_cts_buffer(t, guard.device, 4096);
    uint64_t offset = bad_ranges[yoke_cts_parameter(t)].offset;
    uint64_t size = bad_ranges[yoke_cts_parameter(t)].size;
    yoke_span_t bad = yoke_span(guard.buffer, offset), good = yoke_span(big, 0);
    yoke_status_t expected = YOKE_ERR_OUT_OF_RANGE;
    GIVES(t, expected, yoke_queue_copy(guard.queue, bad, good, size));
    GIVES(t, expected, yoke_queue_copy(guard.queue, good, bad, size));
    GIVES(t, expected, yoke_queue_write(guard.queue, bad, guard.data, size));
    GIVES(t, expected, yoke_queue_read(guard.queue, guard.data, bad, size));
    GIVES(t, expected, yoke_queue_fill(guard.queue, bad, guard.data, 1, size));
    check_untouched(t, &guard);
}

static void overlap(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_copy(guard.queue, yoke_span(guard.buffer, 10),
                          yoke_span(guard.buffer, 0), 11));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_copy(guard.queue, yoke_span(guard.buffer, 0),
                          yoke_span(guard.buffer, 10), 11));
    OK(t, yoke_queue_copy(guard.queue, yoke_span(guard.buffer, 0),
                          yoke_span(guard.buffer, 10), 10));
    memcpy(guard.content, guard.content + 10, 10);
    check_untouched(t, &guard);
}

/* --- fill --------------------------------------------------------------------------- */

static void fill_pattern_size(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    static const size_t sizes[] = {0, 3, 5, 6, 7, 12, 15, 17, 32, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        GIVES(t, YOKE_ERR_USAGE,
              yoke_queue_fill(guard.queue, yoke_span(guard.buffer, 0), guard.data,
                              sizes[i], 60));
    check_untouched(t, &guard);
}

static void fill_not_a_multiple(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    for (size_t pattern = 2; pattern <= 16; pattern *= 2) {
        GIVES(t, YOKE_ERR_USAGE,
              yoke_queue_fill(guard.queue, yoke_span(guard.buffer, 0), guard.data,
                              pattern, pattern + 1));
        GIVES(t, YOKE_ERR_USAGE,
              yoke_queue_fill(guard.queue, yoke_span(guard.buffer, 1), guard.data,
                              pattern, pattern));
    }
    check_untouched(t, &guard);
}

static void null_host_memory(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_span_t span = yoke_span(guard.buffer, 0);
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_write(guard.queue, span, NULL, 8));
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_read(guard.queue, NULL, span, 8));
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_fill(guard.queue, span, NULL, 4, 8));
    check_untouched(t, &guard);
}

static void host_call_null(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_host_call(guard.queue, NULL, NULL));
    check_untouched(t, &guard);
}

/* --- freed and foreign handles ------------------------------------------------------ */

static void freed_buffer(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_buffer_t *gone = NULL;
    OK(t, yoke_buffer_create(guard.device, YOKE_MEMORY_DEVICE, SIZE, &gone));
    yoke_buffer_destroy(gone);
    GIVES(
        t, YOKE_ERR_USAGE,
        yoke_queue_copy(guard.queue, yoke_span(guard.buffer, 0), yoke_span(gone, 0), 8));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_write(guard.queue, yoke_span(gone, 0), guard.data, 8));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_read(guard.queue, guard.data, yoke_span(gone, 0), 8));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_fill(guard.queue, yoke_span(gone, 0), guard.data, 1, 8));
    check_untouched(t, &guard);
}

static void freed_queue(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *event = yoke_cts_event(t, guard.device, 0);
    yoke_queue_t *gone = NULL;
    OK(t, yoke_queue_create(guard.device, NULL, &gone));
    yoke_queue_destroy(gone);
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_sync(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_query(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_record(event, gone));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_write(gone, yoke_span(guard.buffer, 0), guard.data, 8));
    check_untouched(t, &guard);
}

static void freed_event(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *gone = NULL;
    OK(t, yoke_event_create(guard.device, 0, &gone));
    yoke_event_destroy(gone);
    GIVES(t, YOKE_ERR_USAGE, yoke_event_record(gone, guard.queue));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_query(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_sync(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_wait(guard.queue, gone));
    check_untouched(t, &guard);
}

static void freed_pool(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_pool_t *gone = NULL;
    yoke_span_t span = yoke_span(guard.buffer, 0);
    yoke_pool_stats_t stats = {.struct_size = sizeof stats};
    OK(t, yoke_pool_create(guard.device, NULL, &gone));
    OK(t, yoke_pool_allocate(gone, guard.queue, SIZE, &span));
    yoke_pool_destroy(gone);
    yoke_pool_destroy(gone);
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_allocate(gone, guard.queue, SIZE, &span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(gone, span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_record(gone, span, guard.queue));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_trim(gone, 0, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_stats(gone, &stats));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_forget_queue(gone, guard.queue));
    check_untouched(t, &guard);
}

static void freed_transfer(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *event = yoke_cts_event(t, guard.device, 0);
    yoke_buffer_t *other = yoke_cts_buffer(t, guard.device, SIZE);
    yoke_transfer_t *gone = NULL;
    OK(t, yoke_event_record(event, guard.queue));
    OK(t, yoke_transfer_create(guard.device, guard.device, NULL, &gone));
    yoke_transfer_destroy(gone);
    yoke_transfer_destroy(gone);
    GIVES(t, YOKE_ERR_USAGE,
          yoke_transfer_start(gone, guard.queue, yoke_span(guard.buffer, 0), guard.queue,
                              yoke_span(other, 0), SIZE));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_poll(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_wait(gone));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_wait_event(gone, guard.queue, event));
    CHECK(t, yoke_transfer_method(gone)[0] == '\0');
    check_untouched(t, &guard);
}

static void freed_operators(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_span_t span = yoke_span(guard.buffer, 0);
    yoke_operators_t *gone = NULL;
    OK(t, yoke_operators_create(guard.device, &gone));
    yoke_operators_destroy(gone);
    yoke_operators_destroy(gone);
    GIVES(t, YOKE_ERR_USAGE, yoke_operators_prepare(gone, "fill", YOKE_ELEMENT_F32));
    CHECK(t, strcmp(yoke_operators_path(gone, "fill", YOKE_ELEMENT_F32), "none") == 0);
    GIVES(t, YOKE_ERR_USAGE,
          yoke_op_fill(gone, guard.queue, YOKE_ELEMENT_F32, span, 1, 4));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_op_scale(gone, guard.queue, YOKE_ELEMENT_F32, 2, 1, span, 4));
    check_untouched(t, &guard);
}

/* A handle of one kind is none of another. */
static void wrong_kind(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_pool_t *pool = (yoke_pool_t *)(void *)guard.buffer;
    yoke_transfer_t *transfer = (yoke_transfer_t *)(void *)guard.queue;
    yoke_operators_t *operators = (yoke_operators_t *)(void *)guard.buffer;
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_trim(pool, 0, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_transfer_poll(transfer));
    GIVES(t, YOKE_ERR_USAGE, yoke_operators_prepare(operators, "fill", YOKE_ELEMENT_F32));
    yoke_pool_destroy(pool);
    yoke_transfer_destroy(transfer);
    yoke_operators_destroy(operators);
    check_untouched(t, &guard);
}

static void never_recorded(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *event = yoke_cts_event(t, guard.device, 0);
    GIVES(t, YOKE_ERR_USAGE, yoke_event_query(event));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_sync(event));
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_wait(guard.queue, event));
    OK(t, yoke_event_record(event, guard.queue));
    OK(t, yoke_event_sync(event));
    check_untouched(t, &guard);
}

static void elapsed_without_timing(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    yoke_event_t *plain = yoke_cts_event(t, guard.device, 0);
    yoke_event_t *timed = yoke_cts_event(t, guard.device, YOKE_EVENT_TIMING);
    double seconds = 5;
    OK(t, yoke_event_record(plain, guard.queue));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_elapsed(timed, timed, &seconds)); /* unrecorded */
    OK(t, yoke_event_record(timed, guard.queue));
    OK(t, yoke_queue_sync(guard.queue));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_elapsed(plain, timed, &seconds));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_elapsed(timed, plain, &seconds));
    GIVES(t, YOKE_ERR_USAGE, yoke_event_elapsed(timed, timed, NULL));
    CHECK(t, seconds == 5);
}

static void foreign_buffer(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    if (strcmp(yoke_cts_backend(t), "host") == 0)
        yoke_cts_unsupported(t, "the host is the device under test");
    yoke_buffer_t *foreign = yoke_cts_buffer(t, yoke_cts_host(t), SIZE);
    yoke_span_t ours = yoke_span(guard.buffer, 0), theirs = yoke_span(foreign, 0);
    yoke_status_t status = yoke_queue_copy(guard.queue, ours, theirs, 8);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
    status = yoke_queue_copy(guard.queue, theirs, ours, 8);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
    status = yoke_queue_write(guard.queue, theirs, guard.data, 8);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
    status = yoke_queue_fill(guard.queue, theirs, guard.data, 1, 8);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
    check_untouched(t, &guard);
}

static void foreign_event(yoke_cts_t *t)
{
    guard_t guard = make_guard(t);
    if (strcmp(yoke_cts_backend(t), "host") == 0)
        yoke_cts_unsupported(t, "the host is the device under test");
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_host(t), 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_host(t));
    yoke_status_t status = yoke_event_record(event, guard.queue);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
    OK(t, yoke_event_record(event, queue));
    status = yoke_queue_wait(guard.queue, event);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNREACHABLE);
}

/* --- launches ----------------------------------------------------------------------- */

static const char set_source[] = "YOKE_KERNEL void set(YOKE_GLOBAL u32 *x, u32 value)\n"
                                 "{\n"
                                 "    x[YOKE_GLOBAL_ID(0)] = value;\n"
                                 "}\n";

typedef struct launcher {
    guard_t guard;
    yoke_kernel_t *kernel;
    uint32_t value;
    yoke_argument_t arguments[YOKE_MAX_ARGUMENTS + 1];
    yoke_launch_t launch;
} launcher_t;

static launcher_t *make_launcher(yoke_cts_t *t)
{
    launcher_t *l = yoke_cts_memory(t, sizeof *l);
    l->guard = make_guard(t);
    yoke_program_t *program = yoke_cts_compile(t, l->guard.device, set_source, NULL);
    l->kernel = yoke_cts_kernel(t, program, "set");
    l->value = 5;
    l->arguments[0] = yoke_argument_span(l->guard.buffer, 0);
    l->arguments[1] = yoke_argument_value(&l->value, 4);
    l->launch = (yoke_launch_t){{1, 1, 1}, {1, 1, 1}};
    return l;
}

static void refuse_launch(yoke_cts_t *t, launcher_t *l, yoke_status_t expected,
                          size_t count)
{
    GIVES(t, expected,
          yoke_kernel_launch(l->guard.queue, l->kernel, &l->launch, l->arguments, count));
    check_untouched(t, &l->guard);
}

static void launch_offset_past_end(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    l->arguments[0].span.offset = 1 << 20;
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, 2);
}

static void launch_offset_unaligned(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    if (yoke_cts_info(t)->alignment < 2)
        yoke_cts_unsupported(t, "every offset is aligned here");
    l->arguments[0].span.offset = yoke_cts_info(t)->alignment / 2;
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, 2);
}

static void launch_group_too_large(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    l->launch.local[0] = yoke_cts_info(t)->max_group + 1;
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, 2);
    l->launch.local[0] = l->launch.local[1] = l->launch.local[2] = 1u << 16;
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, 2);
}

static void launch_no_groups(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    for (int i = 0; i < 6; i++) {
        l->launch = (yoke_launch_t){{1, 1, 1}, {1, 1, 1}};
        (i < 3 ? l->launch.groups : l->launch.local)[i % 3] = 0;
        yoke_status_t status =
            yoke_kernel_launch(l->guard.queue, l->kernel, &l->launch, l->arguments, 2);
        CHECK(t, status == YOKE_ERR_OUT_OF_RANGE || status == YOKE_ERR_USAGE);
    }
    check_untouched(t, &l->guard);
}

static void launch_too_many_arguments(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    for (size_t i = 2; i <= YOKE_MAX_ARGUMENTS; i++)
        l->arguments[i] = l->arguments[1];
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, YOKE_MAX_ARGUMENTS + 1);
}

static void launch_bad_arguments(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    l->arguments[1].value = NULL;
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
    l->arguments[1] = yoke_argument_value(&l->value, 4);
    l->arguments[1].kind = 99;
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
    GIVES(t, YOKE_ERR_USAGE,
          yoke_kernel_launch(l->guard.queue, l->kernel, NULL, l->arguments, 2));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_kernel_launch(l->guard.queue, l->kernel, &l->launch, NULL, 2));
    check_untouched(t, &l->guard);
}

static void launch_freed_buffer(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    yoke_buffer_t *gone = NULL;
    OK(t, yoke_buffer_create(l->guard.device, YOKE_MEMORY_DEVICE, SIZE, &gone));
    yoke_buffer_destroy(gone);
    l->arguments[0] = yoke_argument_span(gone, 0);
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
}

/* Nothing is behind it that the kernel could touch. */
static void launch_offset_at_end(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    if (SIZE % yoke_cts_info(t)->alignment != 0)
        yoke_cts_unsupported(t, "the buffer's end is not aligned here");
    l->arguments[0].span.offset = SIZE;
    refuse_launch(t, l, YOKE_ERR_OUT_OF_RANGE, 2);
}

static void launch_signature(yoke_cts_t *t)
{
    launcher_t *l = make_launcher(t);
    uint64_t wide = 5;
    l->arguments[2] = l->arguments[1];
    refuse_launch(t, l, YOKE_ERR_USAGE, 0);
    refuse_launch(t, l, YOKE_ERR_USAGE, 1);
    refuse_launch(t, l, YOKE_ERR_USAGE, 3);
    l->arguments[1] = yoke_argument_value(&wide, sizeof wide);
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
    l->arguments[1] = l->arguments[0];
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
    l->arguments[1] = yoke_argument_local(4);
    refuse_launch(t, l, YOKE_ERR_USAGE, 2);
    l->arguments[1] = l->arguments[2];
    OK(t, yoke_kernel_launch(l->guard.queue, l->kernel, &l->launch, l->arguments, 2));
    memcpy(l->guard.content, &l->value, sizeof l->value);
    check_untouched(t, &l->guard);
}

/* --- tracing ------------------------------------------------------------------------ */

static void quiet(void *object)
{
    (void)object;
    yoke_log_set_level(YOKE_LOG_WARNING);
}

static yoke_device_t *traced(yoke_cts_t *t)
{
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    options.layers = (uint32_t)yoke_cts_parameter(t);
    OK(t, yoke_device_open(yoke_cts_device_name(t), &options, &device));
    yoke_cts_keep_device(t, device);
    yoke_cts_keep(t, NULL, quiet);
    yoke_log_set_level(YOKE_LOG_DEBUG);
    return device;
}

static void trace_names_calls(yoke_cts_t *t)
{
    yoke_device_t *device = traced(t);
    unsigned char data[64] = {1};
    yoke_cts_log_start(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, sizeof data);
    yoke_event_t *event = yoke_cts_event(t, device, 0);
    OK(t, yoke_queue_fill(queue, yoke_span(buffer, 0), data, 1, sizeof data));
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    static const char *const names[] = {"queue_create", "buffer_create", "event_create",
                                        "fill",         "write",         "queue_sync",
                                        "event_record", "event_sync"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!yoke_cts_log_has(t, names[i]))
            FAIL(t, "no line of the trace names %s", names[i]);
    EXPECT(t, queue, buffer, 0, data, sizeof data);
}

static void trace_tells_failures(yoke_cts_t *t)
{
    yoke_device_t *device = traced(t);
    yoke_buffer_t *buffer = NULL;
    yoke_cts_log_start(t);
    yoke_status_t status =
        yoke_buffer_create(device, YOKE_MEMORY_DEVICE, UINT64_MAX / 2, &buffer);
    CHECK(t, status != YOKE_OK);
    if (!yoke_cts_log_has(t, "YOKE_ERR") &&
        !yoke_cts_log_has(t, yoke_status_name(status)))
        FAIL(t, "no line of the trace tells the status %s", yoke_status_name(status));
}

static void trace_is_silent_when_off(yoke_cts_t *t)
{
    yoke_device_t *device = traced(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, 64);
    unsigned char data[64] = {1};
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    yoke_cts_log_start(t);
    for (int i = 0; i < 10; i++)
        yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    EQUAL(t, 0, yoke_cts_log_lines(t));
}

#define RANGE(text, i)                                                                   \
    {                                                                                    \
        "validate/range-" text, 0, 0, range, i, 0                                        \
    }

static const yoke_cts_case_t cases[] = {
    {"validate/good-calls-pass", 0, 0, good_calls_pass, 0, 0},
    RANGE("one-too-many", 0),
    RANGE("offset-1", 1),
    RANGE("at-the-end", 2),
    RANGE("past-the-end-size-0", 3),
    RANGE("last-byte-and-1", 4),
    RANGE("offset-largest", 5),
    RANGE("offset-far", 6),
    RANGE("offset-wraps", 7),
    RANGE("size-wraps", 8),
    {"validate/overlap", 0, 0, overlap, 0, 0},
    {"validate/fill-pattern-size", 0, 0, fill_pattern_size, 0, 0},
    {"validate/fill-not-a-multiple", 0, 0, fill_not_a_multiple, 0, 0},
    {"validate/null-host-memory", 0, 0, null_host_memory, 0, 0},
    {"validate/host-call-null", YOKE_CAP_HOST_CALL, 0, host_call_null, 0, 0},
    {"validate/freed-buffer", 0, 0, freed_buffer, 0, 0},
    {"validate/freed-queue", 0, 0, freed_queue, 0, 0},
    {"validate/freed-event", 0, 0, freed_event, 0, 0},
    {"validate/freed-pool", 0, 0, freed_pool, 0, 0},
    {"validate/freed-transfer", 0, 0, freed_transfer, 0, 0},
    {"validate/freed-operators", 0, YOKE_CTS_OPERATORS, freed_operators, 0, 0},
    {"validate/wrong-kind", 0, 0, wrong_kind, 0, 0},
    {"validate/never-recorded", 0, 0, never_recorded, 0, 0},
    {"validate/elapsed-without-timing", YOKE_CAP_TIMING, 0, elapsed_without_timing, 0, 0},
    {"validate/foreign-buffer", 0, YOKE_CTS_HOST, foreign_buffer, 0, 0},
    {"validate/foreign-event", 0, YOKE_CTS_HOST, foreign_event, 0, 0},
    {"validate/launch-offset-past-end", YOKE_CAP_SOURCE, 0, launch_offset_past_end, 0, 0},
    {"validate/launch-offset-at-end", YOKE_CAP_SOURCE, 0, launch_offset_at_end, 0, 0},
    {"validate/launch-signature", YOKE_CAP_SOURCE, 0, launch_signature, 0, 0},
    {"validate/launch-offset-unaligned", YOKE_CAP_SOURCE, 0, launch_offset_unaligned, 0,
     0},
    {"validate/launch-group-too-large", YOKE_CAP_SOURCE, 0, launch_group_too_large, 0, 0},
    {"validate/launch-no-groups", YOKE_CAP_SOURCE, 0, launch_no_groups, 0, 0},
    {"validate/launch-too-many-arguments", YOKE_CAP_SOURCE, 0, launch_too_many_arguments,
     0, 0},
    {"validate/launch-bad-arguments", YOKE_CAP_SOURCE, 0, launch_bad_arguments, 0, 0},
    {"validate/launch-freed-buffer", YOKE_CAP_SOURCE, 0, launch_freed_buffer, 0, 0},
    {"trace/names-calls", 0, 0, trace_names_calls, YOKE_LAYER_TRACE, 0},
    {"trace/with-validation", 0, 0, trace_names_calls,
     YOKE_LAYER_TRACE | YOKE_LAYER_VALIDATE, 0},
    {"trace/tells-failures", 0, 0, trace_tells_failures, YOKE_LAYER_TRACE, 0},
    {"trace/silent-when-off", 0, 0, trace_is_silent_when_off, 0, 0},
};

YOKE_CTS_GROUP(validate, cases);
