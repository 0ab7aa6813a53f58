/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared launches in the core: on a backend that prepares nothing (the mock), and on
 * tables with the slots for it, some of them, or none that count. */
#include "tests/live/mock.h"

#include <stdlib.h>

#include "hal/live/registry.h"

#define WRONG(call, text) assert_fails(call, YOKE_ERR_USAGE, text)
#define OUTSIDE(call, text) assert_fails(call, YOKE_ERR_OUT_OF_RANGE, text)

typedef struct bench {
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_buffer_t *a, *b;
    yoke_program_t *program;
    yoke_kernel_t *kernel;
    uint32_t value;
    yoke_argument_t arguments[3];
    yoke_prepared_launch_t *prepared;
} bench_t;

static const yoke_launch_t geometry = {{2, 3, 1}, {4, 1, 1}};

static void set_up_on(bench_t *bench, yoke_device_t *device)
{
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_NATIVE,
                                      .data = "k",
                                      .size = 1};
    *bench = (bench_t){.device = device, .value = 7};
    assert_ok(yoke_queue_create(device, NULL, &bench->queue));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &bench->a));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &bench->b));
    assert_ok(yoke_program_create(device, &options, &bench->program));
    assert_ok(yoke_kernel_create(bench->program, "k", &bench->kernel));
    bench->arguments[0] = yoke_argument_value(&bench->value, 4);
    bench->arguments[1] = yoke_argument_span(bench->a, 0);
    bench->arguments[2] = yoke_argument_span(bench->b, 16);
    assert_ok(yoke_prepared_launch_create(bench->kernel, &geometry, bench->arguments, 3,
                                          &bench->prepared));
}

static void set_up(bench_t *bench, uint32_t layers)
{
    set_up_on(bench, mock_device(0, layers));
}

static void tear_down(bench_t *bench)
{
    yoke_program_destroy(bench->program);
    yoke_kernel_destroy(bench->kernel); /* the prepared launch keeps both */
    yoke_prepared_launch_destroy(bench->prepared);
    yoke_buffer_destroy(bench->a);
    yoke_buffer_destroy(bench->b);
    yoke_queue_destroy(bench->queue);
    yoke_device_close(bench->device);
    assert_int_equal(mock.alive, 0);
}

/* --- a backend without ---------------------------------------------------------------
 */

static void arguments_are_kept(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, 0);
    bench.value = 99; /* was copied */
    assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
    assert_memory_equal(&mock.launched, &geometry, sizeof geometry);
    assert_int_equal(mock.launched_count, 3);
    assert_int_equal(mock.launched_value, 7);
    for (uint32_t i = 0; i < 5; i++) {
        yoke_argument_t argument = yoke_argument_value(&i, 4);
        assert_ok(yoke_prepared_launch_set_argument(bench.prepared, 0, &argument));
        assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
        assert_int_equal(mock.launched_value, i);
    }
    yoke_launch_t other = {{1, 1, 5}, {2, 2, 2}};
    assert_ok(yoke_prepared_launch_set_geometry(bench.prepared, &other));
    assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
    assert_memory_equal(&mock.launched, &other, sizeof other);
    tear_down(&bench);
}

static void the_kernel_lives_as_long(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, YOKE_LAYER_VALIDATE);
    bench_t gone = bench;
    yoke_prepared_launch_t *none = NULL;
    yoke_program_destroy(bench.program);
    yoke_kernel_destroy(bench.kernel);
    bench.program = NULL;
    bench.kernel = NULL;
    yoke_kernel_destroy(gone.kernel); /* a second time: no hold to take */
    assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
    WRONG(yoke_prepared_launch_create(gone.kernel, &geometry, NULL, 0, &none),
          "freed before");
    WRONG(yoke_kernel_launch(bench.queue, gone.kernel, &geometry, NULL, 0),
          "freed before");
    int alive = mock.alive;
    yoke_prepared_launch_destroy(bench.prepared);
    bench.prepared = NULL;
    assert_int_equal(mock.alive, alive - 2); /* kernel and program ended with it */
    WRONG(yoke_queue_launch_prepared(bench.queue, gone.prepared), "freed before");
    WRONG(yoke_prepared_launch_set_geometry(gone.prepared, &geometry), "freed before");
    yoke_prepared_launch_destroy(gone.prepared);
    WRONG(yoke_queue_launch_prepared(bench.queue, (yoke_prepared_launch_t *)bench.a),
          "a handle of a buffer was given as a prepared launch");
    tear_down(&bench);
}

static void without_its_buffers(void **state)
{
    (void)state;
    for (uint32_t layers = 0; layers <= YOKE_LAYER_VALIDATE; layers++) {
        bench_t bench;
        set_up(&bench, layers);
        yoke_prepared_launch_t *second = NULL;
        yoke_buffer_t *a = bench.a;
        bench.arguments[2] = bench.arguments[1]; /* one buffer twice */
        assert_ok(yoke_prepared_launch_create(bench.kernel, &geometry, bench.arguments, 3,
                                              &second));
        yoke_buffer_destroy(a);
        bench.a = NULL;
        int calls = mock.calls;
        WRONG(yoke_queue_launch_prepared(bench.queue, bench.prepared),
              "the buffer of argument 1 of kernel k was destroyed");
        WRONG(yoke_queue_launch_prepared(bench.queue, second), "argument 1");
        assert_int_equal(mock.calls, calls);
        yoke_argument_t argument = yoke_argument_span(bench.b, 0);
        assert_ok(yoke_prepared_launch_set_argument(bench.prepared, 1, &argument));
        assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
        assert_ok(yoke_prepared_launch_set_argument(second, 1, &argument));
        WRONG(yoke_queue_launch_prepared(bench.queue, second), "argument 2");
        argument = yoke_argument_span(NULL, 0);
        assert_ok(yoke_prepared_launch_set_argument(second, 2, &argument));
        assert_ok(yoke_queue_launch_prepared(bench.queue, second));
        /* What binds a buffer may go before it, in any order. */
        yoke_prepared_launch_destroy(second);
        yoke_buffer_destroy(bench.b);
        bench.b = NULL;
        WRONG(yoke_queue_launch_prepared(bench.queue, bench.prepared), "argument 1");
        tear_down(&bench);
    }
}

static void what_is_refused(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, 0);
    yoke_prepared_launch_t *p = bench.prepared, *none = NULL;
    yoke_device_t *other = mock_device(1, 0);
    yoke_buffer_t *others = NULL;
    yoke_queue_t *their_queue = NULL;
    assert_ok(yoke_buffer_create(other, YOKE_MEMORY_DEVICE, 64, &others));
    assert_ok(yoke_queue_create(other, NULL, &their_queue));
    yoke_argument_t list[YOKE_MAX_ARGUMENTS + 1] = {{0}};
    int calls = mock.calls;
#define CREATE(...)                                                                      \
    yoke_prepared_launch_create(bench.kernel, &(yoke_launch_t)__VA_ARGS__, NULL, 0, &none)
#define SET(index, ...)                                                                  \
    (list[0] = (__VA_ARGS__), yoke_prepared_launch_set_argument(p, index, list))
    WRONG(yoke_prepared_launch_create(NULL, &geometry, NULL, 0, &none), "NULL");
    WRONG(yoke_prepared_launch_create(bench.kernel, NULL, NULL, 0, &none), "NULL");
    WRONG(yoke_prepared_launch_create(bench.kernel, &geometry, NULL, 1, &none), "NULL");
    WRONG(yoke_prepared_launch_create(bench.kernel, &geometry, NULL, 0, NULL), "NULL");
    WRONG(CREATE({{0, 1, 1}, {1, 1, 1}}), "dimension 0 has 0 groups");
    OUTSIDE(CREATE({{1001, 1, 1}, {1, 1, 1}}), "mock:0 takes 1000");
    OUTSIDE(CREATE({{1, 1, 1}, {257, 1, 1}}), "mock:0 takes 256");
    OUTSIDE(yoke_prepared_launch_create(bench.kernel, &geometry, list,
                                        YOKE_MAX_ARGUMENTS + 1, &none),
            "33 arguments");
    list[0] = yoke_argument_span(others, 0);
    WRONG(yoke_prepared_launch_create(bench.kernel, &geometry, list, 1, &none),
          "the buffer is of mock:1, the launch of mock:0");
    WRONG(yoke_prepared_launch_set_argument(NULL, 0, list), "NULL");
    WRONG(yoke_prepared_launch_set_argument(p, 0, NULL), "the argument is NULL");
    OUTSIDE(SET(3, yoke_argument_local(4)), "no argument 3: kernel k was given 3");
    WRONG(SET(0, yoke_argument_value(&mock, 8)), "has 4 bytes, not 8");
    WRONG(SET(0, yoke_argument_span(bench.a, 0)), "is of kind 1, not 0");
    WRONG(SET(1, yoke_argument_span(others, 0)), "the buffer is of mock:1");
    WRONG(SET(1, yoke_argument_span(NULL, 16)), "an offset into no buffer");
    OUTSIDE(SET(1, yoke_argument_span(bench.a, 80)), "passes the end");
    OUTSIDE(SET(1, yoke_argument_span(bench.a, 64)), "is at or passes");
    OUTSIDE(SET(1, yoke_argument_span(bench.a, 8)), "no multiple of 16");
    WRONG(yoke_prepared_launch_set_geometry(p, NULL), "NULL");
    WRONG(yoke_prepared_launch_set_geometry(NULL, &geometry), "NULL");
    WRONG(yoke_queue_launch_prepared(NULL, p), "the queue is NULL");
    WRONG(yoke_queue_launch_prepared(bench.queue, NULL), "the prepared launch is NULL");
    WRONG(yoke_queue_launch_prepared(their_queue, p),
          "the prepared launch is of mock:0, the queue of mock:1");
    assert_null(none);
    assert_int_equal(mock.calls, calls);
    assert_ok(yoke_queue_launch_prepared(bench.queue, p));
    assert_int_equal(mock.launched_value, 7);
    yoke_queue_destroy(their_queue);
    yoke_buffer_destroy(others);
    yoke_device_close(other);
    tear_down(&bench);
}

static void on_a_lost_device(void **state)
{
    (void)state;
    bench_t bench;
    set_up(&bench, 0);
    yoke_prepared_launch_t *none = NULL;
    mock.answer = YOKE_ERR_DEVICE_LOST;
    assert_int_equal(yoke_queue_launch_prepared(bench.queue, bench.prepared),
                     YOKE_ERR_DEVICE_LOST);
    int calls = mock.calls;
    assert_fails(yoke_queue_launch_prepared(bench.queue, bench.prepared),
                 YOKE_ERR_DEVICE_LOST, "lost before");
    assert_fails(yoke_prepared_launch_set_argument(bench.prepared, 0, bench.arguments),
                 YOKE_ERR_DEVICE_LOST, "lost before");
    assert_fails(yoke_prepared_launch_set_geometry(bench.prepared, &geometry),
                 YOKE_ERR_DEVICE_LOST, "lost before");
    assert_fails(yoke_prepared_launch_create(bench.kernel, &geometry, NULL, 0, &none),
                 YOKE_ERR_DEVICE_LOST, "lost before");
    assert_int_equal(mock.calls, calls);
    tear_down(&bench); /* ends all the same */
}

static char traced[16384];

static void keep_line(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    if (strlen(traced) + strlen(line) + 2 < sizeof traced)
        strcat(strcat(traced, line), "\n");
}

static void is_traced(void **state)
{
    (void)state;
    bench_t bench;
    yoke_log_set_sink(keep_line, NULL);
    yoke_log_set_level(YOKE_LOG_DEBUG);
    set_up(&bench, YOKE_LAYER_TRACE);
    assert_ok(yoke_prepared_launch_set_argument(bench.prepared, 0, bench.arguments));
    assert_ok(yoke_prepared_launch_set_geometry(bench.prepared, &geometry));
    assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
    tear_down(&bench);
    yoke_log_set_level(YOKE_LOG_WARNING);
    static const char *const wanted[] = {
        "mock:0: yoke_prepared_launch_destroy(prepared=0x",
        "mock:0: yoke_prepared_launch_create(kernel=k, arguments=3) = YOKE_OK, ",
        "yoke_prepared_launch_set_argument(kernel=k, argument=0) = YOKE_OK, ",
        "yoke_prepared_launch_set_geometry(kernel=k, groups=2x3x1, local=4x1x1) = ",
        "yoke_queue_launch_prepared(queue=0x",
        "kernel=k, groups=2x3x1, local=4x1x1, arguments=3) = YOKE_OK, "};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(traced, wanted[i]) == NULL)
            fail_msg("no '%s' in:\n%s", wanted[i], traced);
}

/* With the layer: against the kernel's parameters, as an ordinary launch. */
static void parameters_are_checked(void **state)
{
    (void)state;
    static const char text[] = "YOKE_KERNEL void k(u32 n, YOKE_GLOBAL f32 *x) {}";
    const yoke_program_options_t options = {.struct_size = sizeof options,
                                            .format = YOKE_PROGRAM_DIALECT,
                                            .data = text,
                                            .size = sizeof text - 1};
    for (int layer = 0; layer < 2; layer++) {
        bench_t bench;
        yoke_program_t *program = NULL;
        yoke_kernel_t *kernel = NULL;
        yoke_prepared_launch_t *made = NULL;
        uint64_t wide = 1;
        set_up(&bench, layer == 1 ? YOKE_LAYER_VALIDATE : 0);
        assert_ok(yoke_program_create(bench.device, &options, &program));
        assert_ok(yoke_kernel_create(program, "k", &kernel));
        yoke_argument_t right[2] = {bench.arguments[0], bench.arguments[1]};
        yoke_argument_t turned[2] = {right[1], right[0]};
        yoke_argument_t sized[2] = {yoke_argument_value(&wide, 8), right[1]};
        const struct {
            const yoke_argument_t *arguments;
            size_t count;
            const char *message;
        } cases[] = {{right, 1, "1 arguments; kernel 'k' (line 1 of the program) has 2"},
                     {bench.arguments, 3, "3 arguments; kernel 'k'"},
                     {turned, 2, "argument 0 is a span; 'u32 n' of kernel 'k' takes a"},
                     {sized, 2, "argument 0 has 8 bytes; 'u32 n' of kernel 'k' takes 4"}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            made = NULL;
            yoke_status_t status = yoke_prepared_launch_create(
                kernel, &geometry, cases[i].arguments, cases[i].count, &made);
            assert_int_equal(status, layer == 1 ? YOKE_ERR_USAGE : YOKE_OK);
            if (layer == 1) {
                assert_null(made);
                assert_non_null(
                    strstr(yoke_last_error(), "yoke_prepared_launch_create: "));
                assert_non_null(strstr(yoke_last_error(), cases[i].message));
            }
            yoke_prepared_launch_destroy(made);
        }
        assert_ok(yoke_prepared_launch_create(kernel, &geometry, right, 2, &made));
        yoke_prepared_launch_destroy(made);
        yoke_kernel_destroy(kernel);
        yoke_program_destroy(program);
        tear_down(&bench);
    }
}

/* --- backends with slots of their own ------------------------------------------------
 */

static struct {
    int made, launched, changed;
    yoke_status_t answer; /* of the next call */
    const yoke_argument_t *arguments;
    const void *value;
} slots;

static yoke_status_t slot_answer(void)
{
    yoke_status_t status = slots.answer;
    slots.answer = YOKE_OK;
    return status == YOKE_OK
               ? status
               : yoke_backend_fail(&mock_ops, status, "mockPrepare", MOCK_CODE, NULL);
}

static yoke_status_t prepared_create(yoke_impl_kernel_t *kernel,
                                     const yoke_launch_t *launch,
                                     const yoke_argument_t *arguments, size_t count,
                                     yoke_impl_prepared_t **out_prepared)
{
    (void)kernel;
    assert_memory_equal(launch, &geometry, sizeof geometry);
    assert_int_equal(count, 3);
    yoke_status_t status = slot_answer();
    if (status != YOKE_OK)
        return status;
    slots.made++;
    slots.arguments = arguments;
    slots.value = arguments[0].value;
    assert_int_equal((uintptr_t)slots.value % 16, 0);
    *out_prepared = (yoke_impl_prepared_t *)(void *)&slots;
    return YOKE_OK;
}

static void prepared_destroy(yoke_impl_prepared_t *prepared)
{
    assert_ptr_equal(prepared, &slots);
    slots.made--;
}

/* The one in use is whole until this succeeds. */
static yoke_status_t prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                       const yoke_argument_t *argument)
{
    (void)prepared;
    assert_int_equal(index, 0);
    assert_ptr_equal(slots.arguments[0].value, slots.value);
    assert_ptr_not_equal(argument->value, slots.value);
    yoke_status_t status = slot_answer();
    if (status != YOKE_OK)
        return status;
    slots.value = argument->value;
    slots.changed++;
    return YOKE_OK;
}

static yoke_status_t prepared_geometry(yoke_impl_prepared_t *prepared,
                                       const yoke_launch_t *launch)
{
    (void)prepared;
    (void)launch;
    yoke_status_t status = slot_answer();
    slots.changed += status == YOKE_OK;
    return status;
}

static yoke_status_t prepared_launch(yoke_impl_queue_t *queue,
                                     yoke_impl_prepared_t *prepared)
{
    (void)queue;
    assert_ptr_equal(prepared, &slots);
    memcpy(&mock.launched_value, slots.value, 4);
    slots.launched++;
    return slot_answer();
}

static yoke_backend_ops_t table_with(const char *name)
{
    yoke_backend_ops_t table = mock_ops;
    table.name = name;
    table.prepared_create = prepared_create;
    table.prepared_destroy = prepared_destroy;
    table.prepared_argument = prepared_argument;
    table.prepared_geometry = prepared_geometry;
    table.prepared_launch = prepared_launch;
    return table;
}

static yoke_device_t *device_of(const yoke_backend_ops_t *table)
{
    yoke_device_options_t options = {sizeof options, 0, NULL};
    yoke_device_t *device = NULL;
    memset(&slots, 0, sizeof slots);
    assert_ok(yoke_registry_add(table, NULL, NULL));
    assert_ok(yoke_device_open(table->name, &options, &device));
    return device;
}

static void slots_are_called(void **state)
{
    (void)state;
    bench_t bench;
    yoke_backend_ops_t table = table_with("prepares");
    set_up_on(&bench, device_of(&table));
    assert_int_equal(slots.made, 1);
    assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
    assert_int_equal(slots.launched, 1);
    assert_int_equal(mock.launched_value, 7);
    for (uint32_t i = 20; i < 25; i++) {
        uint32_t bad = 1000;
        yoke_argument_t argument = yoke_argument_value(&bad, 4);
        slots.answer = YOKE_ERR_SYSTEM;
        assert_fails(yoke_prepared_launch_set_argument(bench.prepared, 0, &argument),
                     YOKE_ERR_SYSTEM, "mockPrepare: MOCK_BROKEN");
        assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
        assert_int_equal(mock.launched_value, i == 20 ? 7 : i - 1); /* as it was */
        argument = yoke_argument_value(&i, 4);
        assert_ok(yoke_prepared_launch_set_argument(bench.prepared, 0, &argument));
        assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
        assert_int_equal(mock.launched_value, i);
    }
    slots.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_prepared_launch_set_geometry(bench.prepared, &geometry),
                 YOKE_ERR_SYSTEM, "MOCK_BROKEN");
    slots.answer = YOKE_ERR_SYSTEM;
    yoke_prepared_launch_t *none = NULL;
    assert_fails(
        yoke_prepared_launch_create(bench.kernel, &geometry, bench.arguments, 3, &none),
        YOKE_ERR_SYSTEM, "MOCK_BROKEN");
    assert_null(none);
    slots.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_queue_launch_prepared(bench.queue, bench.prepared), YOKE_ERR_SYSTEM,
                 "MOCK_BROKEN");
    tear_down(&bench);
    assert_int_equal(slots.made, 0);
}

/* A table of minor 0 ends before the slots; one that has some of them has none. */
static void slots_that_do_not_count(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench_t bench;
        yoke_backend_ops_t table = table_with(i == 0 ? "older" : "half");
        if (i == 0)
            table.struct_size = offsetof(yoke_backend_ops_t, prepared_create);
        else
            table.prepared_geometry = NULL;
        set_up_on(&bench, device_of(&table));
        assert_ok(yoke_prepared_launch_set_geometry(bench.prepared, &geometry));
        assert_ok(yoke_queue_launch_prepared(bench.queue, bench.prepared));
        assert_int_equal(mock.launched_count, 3);
        assert_int_equal(slots.made + slots.launched, 0);
        tear_down(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(arguments_are_kept, mock_reset),
        cmocka_unit_test_setup(the_kernel_lives_as_long, mock_reset),
        cmocka_unit_test_setup(without_its_buffers, mock_reset),
        cmocka_unit_test_setup(what_is_refused, mock_reset),
        cmocka_unit_test_setup(on_a_lost_device, mock_reset),
        cmocka_unit_test_setup(is_traced, mock_reset),
        cmocka_unit_test_setup(parameters_are_checked, mock_reset),
        cmocka_unit_test_setup(slots_are_called, mock_reset),
        cmocka_unit_test_setup(slots_that_do_not_count, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
