/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared launches: what is bound once, changed, refused, and who may go first. */
#include "hal/cts/case.h"

enum { N = 64, GROUP = 16 };

static const char prepared_source[] =
    "YOKE_KERNEL void axpy(u32 a, YOKE_GLOBAL const u32 *x, YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    y[YOKE_GLOBAL_ID(0)] += a * x[YOKE_GLOBAL_ID(0)];\n"
    "}\n"
    "YOKE_KERNEL void place(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    u64 sx = (u64)YOKE_GROUPS(0) * YOKE_ITEMS(0);\n"
    "    u64 at = YOKE_GLOBAL_ID(1) * sx + YOKE_GLOBAL_ID(0);\n"
    "    y[at] += 1000u * YOKE_GROUP(0) + YOKE_ITEM(0) + 1u;\n"
    "}\n"
    "YOKE_KERNEL void empty(void)\n"
    "{\n"
    "}\n"
    "YOKE_KERNEL void absent(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const u32 *x)\n"
    "{\n"
    "    y[0] = x == 0 ? 1u : 2u;\n"
    "}\n";

static const char turn_source[] =
    "YOKE_KERNEL void turn(YOKE_GLOBAL u32 *y, u32 by, YOKE_LOCAL u32 *kept)\n"
    "{\n"
    "    u32 i = YOKE_ITEM(0), n = YOKE_ITEMS(0);\n"
    "    kept[i] = y[YOKE_GLOBAL_ID(0)];\n"
    "    YOKE_BARRIER();\n"
    "    y[YOKE_GLOBAL_ID(0)] = kept[(i + by) % n];\n"
    "}\n";

static const yoke_launch_t line = {{N / GROUP, 1, 1}, {GROUP, 1, 1}};

static void end_prepared(void *object)
{
    yoke_prepared_launch_destroy(object);
}

static yoke_kernel_t *kernel_of(yoke_cts_t *t, const char *name)
{
    return yoke_cts_kernel(t, yoke_cts_program(t, "prepared", prepared_source), name);
}

static yoke_prepared_launch_t *prepare(yoke_cts_t *t, yoke_kernel_t *kernel,
                                       const yoke_launch_t *launch,
                                       const yoke_argument_t *arguments, size_t count)
{
    yoke_prepared_launch_t *prepared = NULL;
    OK(t, yoke_prepared_launch_create(kernel, launch, arguments, count, &prepared));
    CHECK(t, prepared != NULL);
    yoke_cts_keep(t, prepared, end_prepared);
    return prepared;
}

/* y += a * x on a queue, with what it starts from and what is expected. */
typedef struct axpy {
    yoke_queue_t *queue;
    yoke_buffer_t *x, *y;
    uint32_t a, from[N], expected[N];
    yoke_argument_t arguments[3];
    yoke_kernel_t *kernel;
    yoke_prepared_launch_t *prepared;
} axpy_t;

static axpy_t *make_axpy(yoke_cts_t *t)
{
    axpy_t *axpy = yoke_cts_memory(t, sizeof *axpy);
    yoke_device_t *device = yoke_cts_device(t);
    axpy->queue = yoke_cts_queue(t, device);
    axpy->x = yoke_cts_buffer(t, device, sizeof axpy->from);
    axpy->y = yoke_cts_buffer(t, device, sizeof axpy->from);
    axpy->a = 3;
    yoke_cts_noise(axpy->from, sizeof axpy->from, 190);
    yoke_cts_put(t, axpy->queue, axpy->x, 0, axpy->from, sizeof axpy->from);
    yoke_cts_put(t, axpy->queue, axpy->y, 0, axpy->expected, sizeof axpy->expected);
    axpy->arguments[0] = yoke_argument_value(&axpy->a, 4);
    axpy->arguments[1] = yoke_argument_span(axpy->x, 0);
    axpy->arguments[2] = yoke_argument_span(axpy->y, 0);
    axpy->kernel = kernel_of(t, "axpy");
    axpy->prepared = prepare(t, axpy->kernel, &line, axpy->arguments, 3);
    return axpy;
}

static void launch(yoke_cts_t *t, axpy_t *axpy, uint32_t a)
{
    OK(t, yoke_queue_launch_prepared(axpy->queue, axpy->prepared));
    for (size_t i = 0; i < N; i++)
        axpy->expected[i] += a * axpy->from[i];
}

static void check(yoke_cts_t *t, axpy_t *axpy)
{
    EXPECT(t, axpy->queue, axpy->y, 0, axpy->expected, sizeof axpy->expected);
}

/* --- repeating ---------------------------------------------------------------------- */

static void repeated(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    uint32_t zero = 0;
    for (int i = 0; i < 100; i++) {
        launch(t, axpy, 3);
        if (i == 50) { /* in the order of the queue */
            OK(t, yoke_queue_fill(axpy->queue, yoke_span(axpy->y, 0), &zero, 4, N * 4));
            memset(axpy->expected, 0, sizeof axpy->expected);
        }
    }
    check(t, axpy);
}

/* Values and lists are the caller's again. */
static void values_are_copied(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    axpy->a = 77;
    memset(axpy->arguments, 0xff, sizeof axpy->arguments);
    launch(t, axpy, 3);
    check(t, axpy);
}

static void no_arguments(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_prepared_launch_t *prepared = prepare(t, kernel_of(t, "empty"), &line, NULL, 0);
    yoke_argument_t none = yoke_argument_local(4);
    for (int i = 0; i < 20; i++)
        OK(t, yoke_queue_launch_prepared(queue, prepared));
    GIVES(t, YOKE_ERR_OUT_OF_RANGE,
          yoke_prepared_launch_set_argument(prepared, 0, &none));
    OK(t, yoke_queue_sync(queue));
}

/* A kernel's other launches, prepared or not, do not disturb. */
static void several_of_one_kernel(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    uint32_t b = 10, c = 100;
    axpy->arguments[0] = yoke_argument_value(&b, 4);
    yoke_prepared_launch_t *other = prepare(t, axpy->kernel, &line, axpy->arguments, 3);
    axpy->arguments[0] = yoke_argument_value(&c, 4);
    for (int i = 0; i < 10; i++) {
        launch(t, axpy, 3 + 10 + 100);
        OK(t, yoke_queue_launch_prepared(axpy->queue, other));
        yoke_cts_launch(t, axpy->queue, axpy->kernel, N / GROUP, GROUP, axpy->arguments,
                        3);
    }
    check(t, axpy);
}

static void on_two_queues(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    yoke_queue_t *queues[2] = {axpy->queue, yoke_cts_queue(t, yoke_cts_device(t))};
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    for (size_t i = 0; i < 20; i++) {
        axpy->queue = queues[i % 2];
        launch(t, axpy, 3);
        OK(t, yoke_event_record(event, queues[i % 2]));
        OK(t, yoke_queue_wait(queues[1 - i % 2], event));
    }
    check(t, axpy);
}

static void outlives_its_kernel(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t);
    yoke_program_t *program = NULL;
    yoke_kernel_t *kernel = NULL;
    axpy_t *axpy = make_axpy(t);
    const yoke_program_options_t options = {.struct_size = sizeof options,
                                            .data = prepared_source,
                                            .size = sizeof prepared_source - 1};
    OK(t, yoke_program_create(device, &options, &program));
    yoke_cts_keep_program(t, program);
    OK(t, yoke_kernel_create(program, "axpy", &kernel));
    yoke_cts_keep_kernel(t, kernel);
    axpy->prepared = prepare(t, kernel, &line, axpy->arguments, 3);
    yoke_cts_forget(t, kernel);
    yoke_kernel_destroy(kernel);
    yoke_cts_forget(t, program);
    yoke_program_destroy(program);
    launch(t, axpy, 3);
    check(t, axpy);
}

/* --- changing ----------------------------------------------------------------------- */

/* Each launch keeps the value that it was enqueued with. */
static void set_value(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    for (uint32_t a = 1; a <= 100; a++) {
        yoke_argument_t argument = yoke_argument_value(&a, 4);
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 0, &argument));
        launch(t, axpy, a);
    }
    check(t, axpy);
}

static void set_span(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    uint64_t step = yoke_cts_info(t)->alignment < 4 ? 4 : yoke_cts_info(t)->alignment;
    uint64_t size = 3 * step + sizeof axpy->from;
    yoke_buffer_t *other = yoke_cts_buffer(t, yoke_cts_device(t), size);
    for (uint32_t i = 0; i < 40; i++) { /* there and back, at changing offsets */
        uint64_t offset = i % 4 * step;
        yoke_argument_t away = yoke_argument_span(other, offset);
        yoke_argument_t back = yoke_argument_span(axpy->x, 0);
        uint32_t from[N];
        yoke_cts_noise(from, sizeof from, 191 + i);
        yoke_cts_put(t, axpy->queue, other, offset, from, sizeof from);
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 1, &away));
        OK(t, yoke_queue_launch_prepared(axpy->queue, axpy->prepared));
        for (size_t k = 0; k < N; k++)
            axpy->expected[k] += 3 * from[k];
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 1, &back));
        launch(t, axpy, 3);
        OK(t, yoke_queue_sync(axpy->queue));
    }
    check(t, axpy);
}

static void set_geometry(yoke_cts_t *t)
{
    static const yoke_launch_t shapes[] = {
        {{4, 1, 1}, {16, 1, 1}}, {{16, 1, 1}, {4, 1, 1}}, {{2, 2, 1}, {8, 2, 1}},
        {{1, 1, 1}, {64, 1, 1}}, {{64, 1, 1}, {1, 1, 1}}, {{1, 8, 1}, {4, 2, 1}},
    };
    uint32_t expected[N] = {0};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof expected);
    yoke_argument_t argument = yoke_argument_span(y, 0);
    if (yoke_cts_info(t)->max_group < N)
        yoke_cts_unsupported(t, "groups of at most %" PRIu32 " work-items",
                             yoke_cts_info(t)->max_group);
    yoke_cts_put(t, queue, y, 0, expected, sizeof expected);
    yoke_prepared_launch_t *prepared =
        prepare(t, kernel_of(t, "place"), &shapes[0], &argument, 1);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        uint32_t sx = shapes[k].groups[0] * shapes[k].local[0];
        OK(t, yoke_prepared_launch_set_geometry(prepared, &shapes[k]));
        OK(t, yoke_queue_launch_prepared(queue, prepared));
        for (uint32_t i = 0; i < N; i++)
            expected[i] +=
                1000 * (i % sx / shapes[k].local[0]) + i % sx % shapes[k].local[0] + 1;
    }
    EXPECT(t, queue, y, 0, expected, sizeof expected);
}

static void local_argument(yoke_cts_t *t)
{
    uint32_t x[N], by = 3;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof x);
    yoke_program_t *program = yoke_cts_program(t, "prepared-local", turn_source);
    yoke_argument_t arguments[3] = {yoke_argument_span(y, 0), yoke_argument_value(&by, 4),
                                    yoke_argument_local(4 * 4)};
    yoke_launch_t shape = {{N / 4, 1, 1}, {4, 1, 1}};
    yoke_cts_noise(x, sizeof x, 194);
    yoke_cts_put(t, queue, y, 0, x, sizeof x);
    yoke_prepared_launch_t *prepared =
        prepare(t, yoke_cts_kernel(t, program, "turn"), &shape, arguments, 3);
    for (uint32_t n = 4; n <= 16; n *= 2) { /* larger groups need more local memory */
        uint32_t before[N];
        memcpy(before, x, sizeof x);
        shape = (yoke_launch_t){{N / n, 1, 1}, {n, 1, 1}};
        arguments[2] = yoke_argument_local(n * 4);
        OK(t, yoke_prepared_launch_set_argument(prepared, 2, &arguments[2]));
        OK(t, yoke_prepared_launch_set_geometry(prepared, &shape));
        OK(t, yoke_queue_launch_prepared(queue, prepared));
        for (uint32_t i = 0; i < N; i++)
            x[i] = before[i / n * n + (i % n + by) % n];
    }
    EXPECT(t, queue, y, 0, x, sizeof x);
}

static void null_span(yoke_cts_t *t)
{
    uint32_t one = 1, two = 2;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), 64);
    yoke_argument_t arguments[2] = {yoke_argument_span(y, 0),
                                    yoke_argument_span(NULL, 0)};
    yoke_launch_t single = {{1, 1, 1}, {1, 1, 1}};
    yoke_prepared_launch_t *prepared =
        prepare(t, kernel_of(t, "absent"), &single, arguments, 2);
    OK(t, yoke_queue_launch_prepared(queue, prepared));
    EXPECT(t, queue, y, 0, &one, 4);
    OK(t, yoke_prepared_launch_set_argument(prepared, 1, &arguments[0]));
    OK(t, yoke_queue_launch_prepared(queue, prepared));
    EXPECT(t, queue, y, 0, &two, 4);
    OK(t, yoke_prepared_launch_set_argument(prepared, 1, &arguments[1]));
    OK(t, yoke_queue_launch_prepared(queue, prepared));
    EXPECT(t, queue, y, 0, &one, 4);
}

static void memory_kinds(yoke_cts_t *t)
{
    yoke_memory_kind_t kind = (yoke_memory_kind_t)yoke_cts_parameter(t);
    axpy_t *axpy = make_axpy(t);
    yoke_buffer_t *in =
        yoke_cts_buffer_of(t, yoke_cts_device(t), kind, sizeof axpy->from);
    yoke_argument_t argument = yoke_argument_span(in, 0);
    void *host = NULL;
    OK(t, yoke_buffer_host_address(in, &host));
    OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 1, &argument));
    for (uint64_t i = 0; i < 3; i++) { /* the host changes it between launches */
        yoke_cts_noise(axpy->from, sizeof axpy->from, 195 + i);
        memcpy(host, axpy->from, sizeof axpy->from);
        launch(t, axpy, 3);
        OK(t, yoke_queue_sync(axpy->queue));
    }
    check(t, axpy);
}

/* What is enqueued behind a closed gate keeps what it had. */
static void held(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    yoke_device_t *device = yoke_cts_device(t), *host = yoke_cts_host(t);
    yoke_transfer_t *transfer = NULL;
    yoke_event_t *event = yoke_cts_event(t, host, 0);
    yoke_queue_t *from = yoke_cts_queue(t, host);
    OK(t, yoke_transfer_create(host, device, NULL, &transfer));
    yoke_cts_keep_transfer(t, transfer, (void (*)(void *))yoke_transfer_destroy);
    OK(t, yoke_event_record(event, from));
    OK(t, yoke_transfer_wait_event(transfer, axpy->queue, event));
    launch(t, axpy, 3);
    for (uint32_t a = 5; a <= 8; a++) {
        yoke_argument_t argument = yoke_argument_value(&a, 4);
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 0, &argument));
        launch(t, axpy, a);
    }
    OK(t, yoke_transfer_wait(transfer));
    check(t, axpy);
}

/* --- wrong use, without the validation layer ---------------------------------------- */

static void buffer_destroyed(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    yoke_buffer_t *gone[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        OK(t,
           yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, N * 4, &gone[i]));
        yoke_cts_keep_buffer(t, gone[i]);
        yoke_argument_t argument = yoke_argument_span(gone[i], 0);
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 1 + i, &argument));
    }
    for (size_t i = 0; i < 2; i++) {
        yoke_cts_forget(t, gone[i]);
        yoke_buffer_destroy(gone[i]);
        GIVES(t, YOKE_ERR_USAGE, yoke_queue_launch_prepared(axpy->queue, axpy->prepared));
    }
    for (size_t i = 0; i < 2; i++) { /* both have to be given anew */
        yoke_argument_t argument = yoke_argument_span(i == 0 ? axpy->y : axpy->x, 0);
        GIVES(t, YOKE_ERR_USAGE, yoke_queue_launch_prepared(axpy->queue, axpy->prepared));
        OK(t, yoke_prepared_launch_set_argument(axpy->prepared, 2 - i, &argument));
    }
    launch(t, axpy, 3);
    check(t, axpy);
}

static void refused_changes(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    yoke_prepared_launch_t *p = axpy->prepared;
    uint64_t wide = 9;
    yoke_argument_t value = yoke_argument_value(&wide, 8);
    yoke_argument_t empty = yoke_argument_value(NULL, 4);
    yoke_argument_t past = yoke_argument_span(axpy->x, 1 << 20);
    yoke_argument_t nowhere = yoke_argument_span(NULL, 64);
    yoke_launch_t none = {{0, 1, 1}, {1, 1, 1}}, large = line;
    large.local[0] = yoke_cts_info(t)->max_group + 1;
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 0, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 0, &value));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 0, &empty));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 0, &past));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 1, &value));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_argument(p, 1, &nowhere));
    GIVES(t, YOKE_ERR_OUT_OF_RANGE, yoke_prepared_launch_set_argument(p, 1, &past));
    GIVES(t, YOKE_ERR_OUT_OF_RANGE, yoke_prepared_launch_set_argument(p, 3, &past));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_geometry(p, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_geometry(p, &none));
    GIVES(t, YOKE_ERR_OUT_OF_RANGE, yoke_prepared_launch_set_geometry(p, &large));
    launch(t, axpy, 3); /* it is as it was */
    check(t, axpy);
}

static void refused_creation(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    yoke_prepared_launch_t *prepared = NULL;
    yoke_argument_t list[YOKE_MAX_ARGUMENTS + 1];
    yoke_launch_t none = {{1, 1, 1}, {1, 0, 1}};
    for (size_t i = 0; i <= YOKE_MAX_ARGUMENTS; i++)
        list[i] = axpy->arguments[0];
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_create(axpy->kernel, NULL, list, 3, &prepared));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_create(axpy->kernel, &none, list, 3, &prepared));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_create(axpy->kernel, &line, NULL, 3, &prepared));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_create(axpy->kernel, &line, axpy->arguments, 3, NULL));
    GIVES(t, YOKE_ERR_OUT_OF_RANGE,
          yoke_prepared_launch_create(axpy->kernel, &line, list, YOKE_MAX_ARGUMENTS + 1,
                                      &prepared));
    memcpy(list, axpy->arguments, sizeof axpy->arguments);
    list[1].span.offset = 1 << 20;
    GIVES(t, YOKE_ERR_OUT_OF_RANGE,
          yoke_prepared_launch_create(axpy->kernel, &line, list, 3, &prepared));
    list[1].kind = 99;
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_create(axpy->kernel, &line, list, 3, &prepared));
    CHECK(t, prepared == NULL);
}

static void buffer_of_the_host(yoke_cts_t *t)
{
    axpy_t *axpy = make_axpy(t);
    if (strcmp(yoke_cts_backend(t), "host") == 0)
        yoke_cts_unsupported(t, "the device under test is the host itself");
    yoke_argument_t foreign =
        yoke_argument_span(yoke_cts_buffer(t, yoke_cts_host(t), N * 4), 0);
    GIVES(t, YOKE_ERR_USAGE,
          yoke_prepared_launch_set_argument(axpy->prepared, 1, &foreign));
    launch(t, axpy, 3);
    check(t, axpy);
}

static void freed_handles(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_validated(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_program_t *program = yoke_cts_compile(t, device, prepared_source, NULL);
    yoke_kernel_t *kernel = yoke_cts_kernel(t, program, "empty");
    yoke_prepared_launch_t *prepared = NULL, *other = prepare(t, kernel, &line, NULL, 0);
    OK(t, yoke_prepared_launch_create(kernel, &line, NULL, 0, &prepared));
    OK(t, yoke_queue_launch_prepared(queue, prepared));
    OK(t, yoke_queue_sync(queue));
    yoke_prepared_launch_destroy(prepared);
    GIVES(t, YOKE_ERR_USAGE, yoke_queue_launch_prepared(queue, prepared));
    GIVES(t, YOKE_ERR_USAGE, yoke_prepared_launch_set_geometry(prepared, &line));
    yoke_prepared_launch_destroy(prepared); /* told, and nothing else */
    GIVES(t, YOKE_ERR_USAGE,
          yoke_queue_launch_prepared(queue, (yoke_prepared_launch_t *)(void *)kernel));
    OK(t, yoke_queue_launch_prepared(queue, other));
    OK(t, yoke_queue_sync(queue));
}

/* --- threads ------------------------------------------------------------------------ */

typedef struct shared {
    axpy_t *axpy;
    yoke_device_t *device;
} shared_t;

/* Its own prepared launch of the kernel that all share. */
static const char *on_a_thread(void *context, size_t i)
{
    shared_t *shared = context;
    const char *message = "a call failed";
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *y = NULL;
    yoke_prepared_launch_t *prepared = NULL;
    yoke_argument_t arguments[3];
    uint32_t a = (uint32_t)i + 1, zero = 0, result[N], sum = 0;
    memcpy(arguments, shared->axpy->arguments, sizeof arguments);
    if (yoke_queue_create(shared->device, NULL, &queue) != YOKE_OK ||
        yoke_buffer_create(shared->device, YOKE_MEMORY_DEVICE, N * 4, &y) != YOKE_OK ||
        yoke_queue_fill(queue, yoke_span(y, 0), &zero, 4, N * 4) != YOKE_OK)
        goto out;
    arguments[0] = yoke_argument_value(&a, 4);
    arguments[2] = yoke_argument_span(y, 0);
    if (yoke_prepared_launch_create(shared->axpy->kernel, &line, arguments, 3,
                                    &prepared) != YOKE_OK)
        goto out;
    for (int n = 0; n < 25; n++, sum += a, a++)
        if (yoke_prepared_launch_set_argument(prepared, 0, &arguments[0]) != YOKE_OK ||
            yoke_queue_launch_prepared(queue, prepared) != YOKE_OK)
            goto out;
    if (yoke_queue_read(queue, result, yoke_span(y, 0), sizeof result) != YOKE_OK ||
        yoke_queue_sync(queue) != YOKE_OK)
        goto out;
    message = NULL;
    for (size_t k = 0; k < N; k++)
        if (result[k] != sum * shared->axpy->from[k])
            message = "wrong result";
out:
    if (queue != NULL)
        (void)yoke_queue_sync(queue);
    yoke_buffer_destroy(y); /* before what binds it, while others bind theirs */
    yoke_prepared_launch_destroy(prepared);
    yoke_queue_destroy(queue);
    return message;
}

static void threads(yoke_cts_t *t)
{
    shared_t shared = {make_axpy(t), yoke_cts_device(t)};
    yoke_cts_threads(t, 4, on_a_thread, &shared);
}

#define P(name, function)                                                                \
    {                                                                                    \
        "prepared/" name, YOKE_CAP_SOURCE, 0, function, 0, 0                             \
    }

static const yoke_cts_case_t cases[] = {
    P("repeated", repeated),
    P("values-are-copied", values_are_copied),
    P("no-arguments", no_arguments),
    P("several-of-one-kernel", several_of_one_kernel),
    P("on-two-queues", on_two_queues),
    P("outlives-its-kernel", outlives_its_kernel),
    P("set-value", set_value),
    P("set-span", set_span),
    P("set-geometry", set_geometry),
    P("local-argument", local_argument),
    P("null-span", null_span),
    {"prepared/pinned", YOKE_CAP_SOURCE | YOKE_CAP_PINNED, 0, memory_kinds,
     YOKE_MEMORY_HOST, 0},
    {"prepared/shared", YOKE_CAP_SOURCE | YOKE_CAP_SHARED, 0, memory_kinds,
     YOKE_MEMORY_SHARED, 0},
    {"prepared/held", YOKE_CAP_SOURCE | YOKE_CAP_GATE, YOKE_CTS_HOST, held, 0, 0},
    P("buffer-destroyed", buffer_destroyed),
    P("refused-changes", refused_changes),
    P("refused-creation", refused_creation),
    {"prepared/buffer-of-the-host", YOKE_CAP_SOURCE, YOKE_CTS_HOST, buffer_of_the_host, 0,
     0},
    P("freed-handles", freed_handles),
    P("threads", threads),
};

YOKE_CTS_GROUP(prepared, cases);
