/* SPDX-License-Identifier: Apache-2.0 */
/* NULL handles and outputs in every function; and, with the validation layer, everything
 * else that is wrong with arguments: an error with a message, and nothing enqueued. */
#include "tests/live/mock.h"

/* --- NULL ----------------------------------------------------------------------------
 */

#define REFUSED(call) assert_fails(call, YOKE_ERR_USAGE, "NULL")

static void null_devices(void **state)
{
    (void)state;
    yoke_device_t *device = NULL;
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_buffer_t *buffer = NULL;
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_program_t *program = NULL;
    yoke_program_options_t options = {.struct_size = sizeof options};
    uint64_t bytes = 0;
    uint32_t count = 0;
    bool can = false;
    REFUSED(yoke_device_open(NULL, NULL, &device));
    REFUSED(yoke_device_open("mock", NULL, NULL));
    REFUSED(yoke_device_count(NULL, &count));
    REFUSED(yoke_device_count("mock", NULL));
    REFUSED(yoke_device_info(NULL, &info));
    REFUSED(yoke_device_memory(NULL, &bytes, NULL));
    REFUSED(yoke_device_limit_memory(NULL, 0));
    REFUSED(yoke_device_status(NULL));
    REFUSED(yoke_device_can_reach(NULL, NULL, &can));
    REFUSED(yoke_device_from_native(NULL, &native, NULL, &device));
    REFUSED(yoke_device_from_native("mock", NULL, NULL, &device));
    REFUSED(yoke_device_from_native("mock", &native, NULL, NULL));
    REFUSED(yoke_device_native(NULL, &native));
    REFUSED(yoke_buffer_create(NULL, YOKE_MEMORY_DEVICE, 4, &buffer));
    REFUSED(yoke_buffer_wrap(NULL, YOKE_MEMORY_DEVICE, &count, 4, NULL, NULL, &buffer));
    REFUSED(yoke_queue_create(NULL, NULL, &queue));
    REFUSED(yoke_queue_wrap(NULL, NULL, NULL, NULL, &queue));
    REFUSED(yoke_event_create(NULL, 0, &event));
    REFUSED(yoke_event_wrap(NULL, &count, NULL, NULL, &event));
    REFUSED(yoke_program_create(NULL, &options, &program));
    assert_fails(yoke_backend_load(NULL), YOKE_ERR_USAGE, "no path");
    yoke_device_close(NULL);
}

static void null_objects(void **state)
{
    (void)state;
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_kernel_t *kernel = NULL;
    yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    yoke_span_t nowhere = yoke_span(NULL, 0);
    void *address = NULL;
    const void *data = NULL;
    size_t size = 0;
    double seconds = 0;
    uint32_t word = 0;
    REFUSED(yoke_buffer_address(NULL, &address));
    REFUSED(yoke_buffer_host_address(NULL, &address));
    REFUSED(yoke_buffer_native(NULL, &native));
    REFUSED(yoke_queue_native(NULL, &native));
    REFUSED(yoke_event_native(NULL, &native));
    REFUSED(yoke_queue_sync(NULL));
    REFUSED(yoke_queue_query(NULL));
    REFUSED(yoke_queue_copy(NULL, nowhere, nowhere, 4));
    REFUSED(yoke_queue_write(NULL, nowhere, &word, 4));
    REFUSED(yoke_queue_read(NULL, &word, nowhere, 4));
    REFUSED(yoke_queue_fill(NULL, nowhere, &word, 4, 4));
    REFUSED(yoke_queue_host_call(NULL, NULL, NULL));
    REFUSED(yoke_queue_wait(NULL, NULL));
    REFUSED(yoke_event_record(NULL, NULL));
    REFUSED(yoke_event_query(NULL));
    REFUSED(yoke_event_sync(NULL));
    REFUSED(yoke_event_elapsed(NULL, NULL, &seconds));
    REFUSED(yoke_program_binary(NULL, &data, &size));
    REFUSED(yoke_kernel_create(NULL, "k", &kernel));
    REFUSED(yoke_kernel_launch(NULL, NULL, &launch, NULL, 0));
    assert_int_equal(yoke_buffer_size(NULL), 0);
    assert_int_equal(yoke_buffer_kind(NULL), YOKE_MEMORY_DEVICE);
    assert_null(yoke_buffer_device(NULL));
    assert_null(yoke_queue_device(NULL));
    yoke_buffer_destroy(NULL);
    yoke_queue_destroy(NULL);
    yoke_event_destroy(NULL);
    yoke_program_destroy(NULL);
    yoke_kernel_destroy(NULL);
}

/* --- a device with objects -----------------------------------------------------------
 */

typedef struct bench {
    yoke_device_t *device, *other;
    yoke_queue_t *queue;
    yoke_buffer_t *a, *b, *others;
    yoke_event_t *event, *timed;
    yoke_program_t *program;
    yoke_kernel_t *kernel;
} bench_t;

static void set_up(bench_t *bench, uint32_t layers)
{
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_NATIVE,
                                      .data = "k",
                                      .size = 1};
    bench->device = mock_device(0, layers);
    bench->other = mock_device(1, layers);
    assert_ok(yoke_queue_create(bench->device, NULL, &bench->queue));
    assert_ok(yoke_buffer_create(bench->device, YOKE_MEMORY_DEVICE, 64, &bench->a));
    assert_ok(yoke_buffer_create(bench->device, YOKE_MEMORY_DEVICE, 64, &bench->b));
    assert_ok(yoke_buffer_create(bench->other, YOKE_MEMORY_DEVICE, 64, &bench->others));
    assert_ok(yoke_event_create(bench->device, 0, &bench->event));
    assert_ok(yoke_event_create(bench->device, YOKE_EVENT_TIMING, &bench->timed));
    assert_ok(yoke_program_create(bench->device, &options, &bench->program));
    assert_ok(yoke_kernel_create(bench->program, "k", &bench->kernel));
}

static void tear_down(bench_t *bench)
{
    yoke_program_destroy(bench->program); /* its kernel keeps it */
    yoke_kernel_destroy(bench->kernel);
    yoke_event_destroy(bench->event);
    yoke_event_destroy(bench->timed);
    yoke_buffer_destroy(bench->a);
    yoke_buffer_destroy(bench->b);
    yoke_buffer_destroy(bench->others);
    yoke_queue_destroy(bench->queue);
    yoke_device_close(bench->device);
    yoke_device_close(bench->other);
    assert_int_equal(mock.alive, 0);
}

/* Without validation too: NULL handles inside of calls, NULL outputs, size 0. */
static void plain_checks(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, 0);
    yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    uint32_t word = 0;
    yoke_buffer_t *buffer = NULL;
    int calls = mock.calls;
    REFUSED(yoke_queue_copy(bench.queue, yoke_span(NULL, 0), yoke_span(bench.a, 0), 4));
    REFUSED(yoke_queue_copy(bench.queue, yoke_span(bench.a, 0), yoke_span(NULL, 0), 4));
    REFUSED(yoke_queue_write(bench.queue, yoke_span(NULL, 0), &word, 4));
    REFUSED(yoke_queue_read(bench.queue, &word, yoke_span(NULL, 0), 4));
    REFUSED(yoke_queue_fill(bench.queue, yoke_span(NULL, 0), &word, 4, 4));
    REFUSED(yoke_queue_host_call(bench.queue, NULL, NULL));
    REFUSED(yoke_queue_wait(bench.queue, NULL));
    REFUSED(yoke_event_record(bench.event, NULL));
    REFUSED(yoke_event_record(NULL, bench.queue));
    REFUSED(yoke_kernel_launch(bench.queue, NULL, &launch, NULL, 0));
    REFUSED(yoke_buffer_create(bench.device, YOKE_MEMORY_DEVICE, 4, NULL));
    REFUSED(yoke_queue_create(bench.device, NULL, NULL));
    REFUSED(yoke_event_create(bench.device, 0, NULL));
    REFUSED(yoke_buffer_address(bench.a, NULL));
    REFUSED(yoke_event_elapsed(bench.timed, bench.timed, NULL));
    REFUSED(yoke_kernel_create(bench.program, "k", NULL));
    REFUSED(yoke_event_wrap(bench.device, NULL, NULL, NULL, &bench.event));
    REFUSED(yoke_buffer_wrap(bench.device, 0, NULL, 4, NULL, NULL, &buffer));
    assert_fails(yoke_buffer_wrap(bench.device, 0, &word, 0, NULL, NULL, &buffer),
                 YOKE_ERR_USAGE, "at least 1 byte");
    assert_fails(yoke_buffer_create(bench.device, YOKE_MEMORY_DEVICE, 0, &buffer),
                 YOKE_ERR_USAGE, "at least 1 byte");
    assert_fails(yoke_buffer_create(bench.device, (yoke_memory_kind_t)7, 4, &buffer),
                 YOKE_ERR_USAGE, "no kind of memory 7");
    assert_fails(yoke_event_create(bench.device, 64, &bench.event), YOKE_ERR_USAGE,
                 "unknown flags 0x40");
    assert_ok(
        yoke_queue_copy(bench.queue, yoke_span(bench.a, 0), yoke_span(bench.b, 0), 0));
    assert_ok(yoke_queue_write(bench.queue, yoke_span(bench.a, 0), NULL, 0));
    assert_int_equal(mock.calls, calls);
    yoke_launch_t groups = {{2, 1, 1}, {4, 1, 1}};
    assert_ok(yoke_kernel_launch(bench.queue, bench.kernel, &groups, NULL, 0));
    assert_int_equal(mock.calls, calls + 1);
    tear_down(&bench);
}

/* --- validation ----------------------------------------------------------------------
 */

#define OUTSIDE(call) assert_fails(call, YOKE_ERR_OUT_OF_RANGE, ": ")
#define WRONG(call, text) assert_fails(call, YOKE_ERR_USAGE, text)

static void validation_of_copies(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, YOKE_LAYER_VALIDATE);
    yoke_queue_t *queue = bench.queue;
    yoke_span_t a = yoke_span(bench.a, 0), b = yoke_span(bench.b, 0);
    unsigned char bytes[64] = {0};
    int calls = mock.calls;
    OUTSIDE(yoke_queue_copy(queue, a, b, 65));
    OUTSIDE(yoke_queue_copy(queue, yoke_span(bench.a, 1), b, 64));
    OUTSIDE(yoke_queue_copy(queue, a, yoke_span(bench.b, 65), 0));
    OUTSIDE(yoke_queue_copy(queue, a, yoke_span(bench.b, UINT64_MAX), 2));
    OUTSIDE(yoke_queue_copy(queue, yoke_span(bench.a, 2), b, UINT64_MAX));
    OUTSIDE(yoke_queue_write(queue, yoke_span(bench.a, 61), bytes, 4));
    OUTSIDE(yoke_queue_write(queue, yoke_span(bench.a, 2), bytes, UINT64_MAX));
    OUTSIDE(yoke_queue_read(queue, bytes, yoke_span(bench.a, 61), 4));
    OUTSIDE(yoke_queue_fill(queue, yoke_span(bench.a, 64), bytes, 4, 4));
    WRONG(yoke_queue_copy(queue, a, a, 8), "overlap");
    WRONG(yoke_queue_copy(queue, yoke_span(bench.a, 7), a, 8), "overlap");
    WRONG(yoke_queue_copy(queue, a, yoke_span(bench.a, 7), 8), "overlap");
    WRONG(yoke_queue_write(queue, a, NULL, 4), "NULL");
    WRONG(yoke_queue_read(queue, NULL, a, 4), "NULL");
    WRONG(yoke_queue_fill(queue, a, NULL, 4, 4), "NULL");
    WRONG(yoke_queue_fill(queue, a, bytes, 3, 6), "16 bytes, not 3");
    WRONG(yoke_queue_fill(queue, a, bytes, 32, 32), "16 bytes, not 32");
    WRONG(yoke_queue_fill(queue, a, bytes, 4, 6), "multiples");
    WRONG(yoke_queue_fill(queue, yoke_span(bench.a, 2), bytes, 4, 8), "multiples");
    WRONG(yoke_queue_write(queue, yoke_span(bench.others, 0), bytes, 4),
          "the buffer is of mock:1");
    assert_fails(yoke_queue_copy(queue, a, yoke_span(bench.others, 0), 4),
                 YOKE_ERR_UNREACHABLE, "mock:1");
    assert_int_equal(mock.calls, calls);
    assert_ok(yoke_queue_copy(queue, a, yoke_span(bench.a, 8), 8));
    assert_ok(yoke_queue_copy(queue, a, b, 64));
    assert_ok(yoke_queue_fill(queue, yoke_span(bench.a, 48), bytes, 16, 16));
    assert_int_equal(mock.calls, calls + 3);
    /* Two handles of one memory. */
    yoke_buffer_t *twin = NULL;
    void *address = NULL;
    assert_ok(yoke_buffer_address(bench.a, &address));
    assert_ok(yoke_buffer_wrap(bench.device, YOKE_MEMORY_DEVICE, address, 64, NULL, NULL,
                               &twin));
    WRONG(yoke_queue_copy(queue, a, yoke_span(twin, 4), 8), "overlap");
    yoke_buffer_destroy(twin);
    tear_down(&bench);
}

static void validation_of_events(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, YOKE_LAYER_VALIDATE);
    yoke_event_t *others = NULL;
    double seconds = 0;
    assert_ok(yoke_event_create(bench.other, YOKE_EVENT_TIMING, &others));
    int calls = mock.calls;
    WRONG(yoke_event_query(bench.event), "never recorded");
    WRONG(yoke_event_sync(bench.event), "never recorded");
    WRONG(yoke_queue_wait(bench.queue, bench.event), "never recorded");
    WRONG(yoke_event_elapsed(bench.timed, bench.timed, &seconds), "never recorded");
    WRONG(yoke_event_record(others, bench.queue), "the event is of mock:1");
    assert_int_equal(mock.calls, calls);
    mock.answer = YOKE_ERR_SYSTEM; /* not recorded, says the vendor */
    assert_fails(yoke_event_record(bench.event, bench.queue), YOKE_ERR_SYSTEM,
                 "mockRecord");
    WRONG(yoke_event_query(bench.event), "never recorded");
    assert_ok(yoke_event_record(bench.event, bench.queue));
    assert_ok(yoke_event_record(bench.timed, bench.queue));
    assert_ok(yoke_event_query(bench.event));
    assert_ok(yoke_queue_wait(bench.queue, bench.event));
    WRONG(yoke_event_elapsed(bench.event, bench.timed, &seconds), "YOKE_EVENT_TIMING");
    assert_ok(yoke_event_elapsed(bench.timed, bench.timed, &seconds));
    assert_true(seconds == 0.5);
    mock.not_ready = true;
    assert_int_equal(yoke_event_query(bench.event), YOKE_ERR_NOT_READY);
    yoke_event_destroy(others);
    tear_down(&bench);
}

static void validation_of_launches(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, YOKE_LAYER_VALIDATE);
    yoke_queue_t *queue = bench.queue;
    yoke_kernel_t *kernel = bench.kernel;
    uint32_t word = 0;
    yoke_argument_t list[YOKE_MAX_ARGUMENTS + 1];
    for (int i = 0; i <= YOKE_MAX_ARGUMENTS; i++)
        list[i] = yoke_argument_value(&word, 4);
    yoke_launch_t good = {{2, 1, 1}, {4, 1, 1}};
    int calls = mock.calls;
#define LAUNCH(...)                                                                      \
    yoke_kernel_launch(queue, kernel, &(yoke_launch_t)__VA_ARGS__, NULL, 0)
    WRONG(LAUNCH({{0, 1, 1}, {1, 1, 1}}), "at least 1");
    WRONG(LAUNCH({{1, 1, 1}, {1, 1, 0}}), "at least 1");
    OUTSIDE(LAUNCH({{1001, 1, 1}, {1, 1, 1}}));
    OUTSIDE(LAUNCH({{1, 1, 1}, {16, 17, 1}}));
    OUTSIDE(LAUNCH({{1, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}}));
    OUTSIDE(LAUNCH({{1, 1, 1}, {1u << 31, 1u << 31, 4}}));
    WRONG(yoke_kernel_launch(queue, kernel, NULL, NULL, 0), "NULL");
    WRONG(yoke_kernel_launch(queue, kernel, &good, NULL, 1), "NULL");
    OUTSIDE(yoke_kernel_launch(queue, kernel, &good, list, YOKE_MAX_ARGUMENTS + 1));
#define ONE(argument)                                                                    \
    (list[0] = (argument), yoke_kernel_launch(queue, kernel, &good, list, 2))
    OUTSIDE(ONE(yoke_argument_span(bench.a, 80)));
    OUTSIDE(ONE(yoke_argument_span(bench.a, 4))); /* 16 is the device's alignment */
    WRONG(ONE(yoke_argument_span(bench.others, 0)),
          "argument 0: the buffer is of mock:1");
    WRONG(ONE(yoke_argument_span(NULL, 16)), "no buffer");
    WRONG(ONE(yoke_argument_value(NULL, 4)), "without bytes");
    WRONG(ONE(yoke_argument_value(&word, 0)), "without bytes");
    WRONG(ONE(yoke_argument_local(64)), "comes last");
    WRONG(ONE(((yoke_argument_t){.kind = 9})), "no kind 9");
    list[0] = yoke_argument_local(2048);
    OUTSIDE(yoke_kernel_launch(queue, kernel, &good, list, 1));
    list[0] = yoke_argument_local(0);
    WRONG(yoke_kernel_launch(queue, kernel, &good, list, 1), "no bytes");
    yoke_queue_t *others = NULL;
    assert_ok(yoke_queue_create(bench.other, NULL, &others));
    WRONG(yoke_kernel_launch(others, kernel, &good, NULL, 0), "the kernel is of mock:0");
    yoke_queue_destroy(others);
    assert_int_equal(mock.calls, calls + 2); /* the other queue and its sync */
    assert_ok(ONE(yoke_argument_span(bench.a, 16)));
    assert_ok(ONE(yoke_argument_span(NULL, 0)));
    list[1] = yoke_argument_local(1024);
    assert_ok(ONE(yoke_argument_value(&word, 4)));
    tear_down(&bench);
}

static void freed_handles_are_recognised(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, YOKE_LAYER_VALIDATE);
    bench_t gone = bench;
    yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    yoke_buffer_t *live = NULL;
    yoke_queue_t *queue = NULL;
    yoke_device_t *device = mock_device(0, YOKE_LAYER_VALIDATE);
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &live));
    assert_ok(yoke_queue_create(device, NULL, &queue));
    yoke_span_t span = yoke_span(live, 0), freed = yoke_span(gone.a, 0);
    yoke_device_t *third = bench.device;
    bench.device = NULL;
    yoke_device_close(third);
    /* Its kernel keeps the program, whose handle is done: not a second hold to take. */
    yoke_kernel_t *other = NULL;
    yoke_program_destroy(bench.program);
    yoke_program_destroy(gone.program);
    WRONG(yoke_kernel_create(gone.program, "k", &other), "freed before");
    assert_ok(yoke_kernel_launch(bench.queue, bench.kernel, &launch, NULL, 0));
    yoke_kernel_destroy(bench.kernel);
    yoke_event_destroy(bench.event);
    yoke_buffer_destroy(bench.a);
    yoke_queue_destroy(bench.queue);
    int calls = mock.calls;
    void *address = NULL;
    uint32_t word = 0;
#define FREED(call) WRONG(call, "freed before")
    FREED(yoke_queue_sync(gone.queue));
    FREED(yoke_queue_query(gone.queue));
    FREED(yoke_queue_copy(gone.queue, span, span, 4));
    FREED(yoke_queue_copy(queue, freed, span, 4));
    FREED(yoke_queue_copy(queue, span, freed, 4));
    FREED(yoke_queue_write(queue, freed, &word, 4));
    FREED(yoke_queue_read(queue, &word, freed, 4));
    FREED(yoke_queue_fill(queue, freed, &word, 4, 4));
    FREED(yoke_buffer_address(gone.a, &address));
    FREED(yoke_event_query(gone.event));
    FREED(yoke_event_record(gone.event, queue));
    FREED(yoke_queue_wait(queue, gone.event));
    FREED(yoke_kernel_launch(queue, gone.kernel, &launch, NULL, 0));
    assert_int_equal(yoke_buffer_size(gone.a), 0);
    assert_null(yoke_queue_device(gone.queue));
    /* Ending them again changes nothing. */
    int alive = mock.alive;
    yoke_buffer_destroy(gone.a);
    yoke_queue_destroy(gone.queue);
    yoke_event_destroy(gone.event);
    yoke_kernel_destroy(gone.kernel);
    yoke_program_destroy(gone.program);
    assert_int_equal(mock.alive, alive);
    assert_int_equal(mock.calls, calls);
    /* A handle of another kind. */
    WRONG(yoke_queue_sync((yoke_queue_t *)live), "a handle of a buffer was given");
    yoke_event_destroy(bench.timed);
    yoke_buffer_destroy(bench.b);
    yoke_buffer_destroy(bench.others);
    yoke_buffer_destroy(live);
    yoke_queue_destroy(queue);
    yoke_device_close(bench.other);
    yoke_device_close(device);
    FREED(yoke_device_status(device));
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

/* --- tracing -------------------------------------------------------------------------
 */

static char traced[8192];

static void keep_line(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    if (level == YOKE_LOG_DEBUG)
        strncat(strncat(traced, line, sizeof traced - strlen(traced) - 2), "\n", 2);
}

static void calls_are_traced(void **state)
{
    (void)state;
    bench_t bench;
    yoke_log_set_sink(keep_line, NULL);
    yoke_log_set_level(YOKE_LOG_DEBUG);
    set_up(&bench, YOKE_LAYER_TRACE);
    yoke_launch_t launch = {{2, 3, 1}, {4, 1, 1}};
    assert_ok(
        yoke_queue_copy(bench.queue, yoke_span(bench.a, 4), yoke_span(bench.b, 0), 8));
    assert_ok(yoke_kernel_launch(bench.queue, bench.kernel, &launch, NULL, 0));
    mock.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_queue_sync(bench.queue), YOKE_ERR_SYSTEM, "mock:0: ");
    assert_null(strstr(strstr(yoke_last_error(), "mock:0") + 1, "mock:0"));
    tear_down(&bench);
    yoke_log_set_level(YOKE_LOG_WARNING);
    static const char *const wanted[] = {
        "mock:0: yoke_buffer_create(kind=0, size=64) = YOKE_OK, ",
        "mock:0: yoke_queue_copy(queue=0x",
        "+4, src=0x",
        "size=8) = YOKE_OK, ",
        "kernel=k, groups=2x3x1, local=4x1x1, arguments=0) = YOKE_OK, ",
        "= YOKE_ERR_SYSTEM, ",
        "mock:0: yoke_kernel_create(program=0x",
        "name=k) = YOKE_OK, ",
        "mock:0: yoke_program_destroy(program=0x",
        "mock:0: yoke_kernel_destroy(kernel=0x",
        "mock:0: yoke_queue_destroy(queue=0x"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (strstr(traced, wanted[i]) == NULL)
            fail_msg("no '%s' in:\n%s", wanted[i], traced);
    /* Off: nothing. */
    traced[0] = '\0';
    yoke_log_set_level(YOKE_LOG_DEBUG);
    set_up(&bench, 0);
    tear_down(&bench);
    assert_string_equal(traced, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(null_devices, mock_reset),
        cmocka_unit_test_setup(null_objects, mock_reset),
        cmocka_unit_test_setup(plain_checks, mock_reset),
        cmocka_unit_test_setup(validation_of_copies, mock_reset),
        cmocka_unit_test_setup(validation_of_events, mock_reset),
        cmocka_unit_test_setup(validation_of_launches, mock_reset),
        cmocka_unit_test_setup(freed_handles_are_recognised, mock_reset),
        cmocka_unit_test_setup(calls_are_traced, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
