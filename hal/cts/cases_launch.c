/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: shapes of groups, barriers, local memory, atomics, arguments. */
#include "hal/cts/case.h"

/* --- shapes ------------------------------------------------------------------------- */

static const char shape_source[] = "YOKE_KERNEL void shape(YOKE_GLOBAL u32 *y)\n"
                                   "{\n"
                                   "    u64 sx = (u64)YOKE_GROUPS(0) * YOKE_ITEMS(0);\n"
                                   "    u64 sy = (u64)YOKE_GROUPS(1) * YOKE_ITEMS(1);\n"
                                   "    u64 at = (YOKE_GLOBAL_ID(2) * sy + "
                                   "YOKE_GLOBAL_ID(1)) * sx + YOKE_GLOBAL_ID(0);\n"
                                   "    y[at * 8u + 0u] += YOKE_GROUP(0);\n"
                                   "    y[at * 8u + 1u] += YOKE_GROUP(1);\n"
                                   "    y[at * 8u + 2u] += YOKE_GROUP(2);\n"
                                   "    y[at * 8u + 3u] += YOKE_ITEM(0);\n"
                                   "    y[at * 8u + 4u] += YOKE_ITEM(1);\n"
                                   "    y[at * 8u + 5u] += YOKE_ITEM(2);\n"
                                   "    y[at * 8u + 6u] += YOKE_GROUPS(2);\n"
                                   "    y[at * 8u + 7u] += YOKE_ITEMS(2) + 1u;\n"
                                   "}\n"
                                   "YOKE_KERNEL void add(YOKE_GLOBAL u32 *y, u32 value)\n"
                                   "{\n"
                                   "    y[YOKE_GLOBAL_ID(0)] += value;\n"
                                   "}\n";

static const yoke_launch_t shapes[] = {
    {{1, 1, 1}, {1, 1, 1}},  {{7, 1, 1}, {1, 1, 1}},    {{1, 1, 1}, {13, 1, 1}},
    {{5, 1, 1}, {16, 1, 1}}, {{3, 4, 1}, {1, 1, 1}},    {{2, 3, 1}, {4, 5, 1}},
    {{1, 6, 1}, {1, 7, 1}},  {{2, 3, 4}, {1, 1, 1}},    {{2, 2, 2}, {3, 2, 4}},
    {{1, 1, 5}, {1, 1, 3}},  {{100, 1, 1}, {64, 1, 1}}, {{1, 50, 3}, {8, 1, 2}},
};

static void expected_shape(const yoke_launch_t *l, uint64_t at, uint32_t out[8])
{
    uint64_t sx = (uint64_t)l->groups[0] * l->local[0];
    uint64_t sy = (uint64_t)l->groups[1] * l->local[1];
    uint64_t id[3] = {at % sx, at / sx % sy, at / sx / sy};
    for (int d = 0; d < 3; d++) {
        out[d] = (uint32_t)(id[d] / l->local[d]);
        out[3 + d] = (uint32_t)(id[d] % l->local[d]);
    }
    out[6] = l->groups[2];
    out[7] = l->local[2] + 1;
}

static void shape(yoke_cts_t *t)
{
    const yoke_launch_t *l = &shapes[yoke_cts_parameter(t)];
    uint32_t group = l->local[0] * l->local[1] * l->local[2], zero = 0;
    uint64_t items = (uint64_t)group * l->groups[0] * l->groups[1] * l->groups[2];
    if (group > yoke_cts_info(t)->max_group)
        yoke_cts_unsupported(t, "groups of at most %" PRIu32 " work-items",
                             yoke_cts_info(t)->max_group);
    uint32_t *expected = yoke_cts_memory(t, items * 32);
    for (uint64_t i = 0; i < items; i++)
        expected_shape(l, i, expected + 8 * i);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), items * 32);
    yoke_kernel_t *kernel =
        yoke_cts_kernel(t, yoke_cts_program(t, "shape", shape_source), "shape");
    yoke_argument_t argument = yoke_argument_span(y, 0);
    OK(t, yoke_queue_fill(queue, yoke_span(y, 0), &zero, 4, items * 32));
    OK(t, yoke_kernel_launch(queue, kernel, l, &argument, 1));
    EXPECT(t, queue, y, 0, expected, items * 32);
}

static void largest_group(yoke_cts_t *t)
{
    uint32_t size = yoke_cts_info(t)->max_group, one = 1, zero = 0;
    size = size > 1024 ? 1024 : size;
    uint32_t *expected = yoke_cts_memory(t, size * 4u);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), size * 4u);
    yoke_kernel_t *kernel =
        yoke_cts_kernel(t, yoke_cts_program(t, "shape", shape_source), "add");
    yoke_argument_t arguments[2] = {yoke_argument_span(y, 0),
                                    yoke_argument_value(&one, 4)};
    OK(t, yoke_queue_fill(queue, yoke_span(y, 0), &zero, 4, size * 4u));
    yoke_cts_launch(t, queue, kernel, 1, size, arguments, 2);
    for (uint32_t i = 0; i < size; i++)
        expected[i] = 1;
    EXPECT(t, queue, y, 0, expected, size * 4u);
}

/* 200 launches behind one another, among copies and fills. */
static void order(yoke_cts_t *t)
{
    enum { N = 256 };
    uint32_t expected[N], zero = 0;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof expected);
    yoke_kernel_t *kernel =
        yoke_cts_kernel(t, yoke_cts_program(t, "shape", shape_source), "add");
    OK(t, yoke_queue_fill(queue, yoke_span(y, 0), &zero, 4, sizeof expected));
    for (uint32_t i = 1; i <= 200; i++) {
        yoke_argument_t arguments[2] = {yoke_argument_span(y, 0),
                                        yoke_argument_value(&i, 4)};
        yoke_cts_launch(t, queue, kernel, N / 16, 16, arguments, 2);
        if (i == 100) /* the upper half begins again */
            OK(t, yoke_queue_fill(queue, yoke_span(y, N * 2), &zero, 4, N * 2));
    }
    for (size_t i = 0; i < N; i++)
        expected[i] = i < N / 2 ? 20100 : 20100 - 5050;
    EXPECT(t, queue, y, 0, expected, sizeof expected);
}

static void two_queues(yoke_cts_t *t)
{
    enum { N = 256 };
    uint32_t expected[N], zero = 0, one = 1;
    yoke_queue_t *queues[2] = {yoke_cts_queue(t, yoke_cts_device(t)),
                               yoke_cts_queue(t, yoke_cts_device(t))};
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof expected);
    yoke_kernel_t *kernel =
        yoke_cts_kernel(t, yoke_cts_program(t, "shape", shape_source), "add");
    yoke_argument_t arguments[2] = {yoke_argument_span(y, 0),
                                    yoke_argument_value(&one, 4)};
    OK(t, yoke_queue_fill(queues[0], yoke_span(y, 0), &zero, 4, sizeof expected));
    for (size_t i = 0; i < 40; i++) {
        yoke_cts_launch(t, queues[i % 2], kernel, N / 16, 16, arguments, 2);
        OK(t, yoke_event_record(event, queues[i % 2]));
        OK(t, yoke_queue_wait(queues[1 - i % 2], event));
    }
    for (size_t i = 0; i < N; i++)
        expected[i] = 40;
    EXPECT(t, queues[0], y, 0, expected, sizeof expected);
}

/* --- barriers and local memory ------------------------------------------------------ */

static const char local_source[] =
    "YOKE_KERNEL void reverse(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    YOKE_LOCAL_ARRAY(u32, kept, 64);\n"
    "    u32 i = YOKE_ITEM(0), n = YOKE_ITEMS(0);\n"
    "    kept[i] = y[YOKE_GLOBAL_ID(0)];\n"
    "    YOKE_BARRIER();\n"
    "    y[YOKE_GLOBAL_ID(0)] = kept[n - 1u - i];\n"
    "}\n"
    "YOKE_KERNEL void tree(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    YOKE_LOCAL_ARRAY(u32, sums, 64);\n"
    "    u32 i = YOKE_ITEM(0);\n"
    "    sums[i] = y[YOKE_GLOBAL_ID(0)];\n"
    "    for (u32 step = YOKE_ITEMS(0) / 2u; step > 0u; step /= 2u) {\n"
    "        YOKE_BARRIER();\n"
    "        if (i < step)\n"
    "            sums[i] += sums[i + step];\n"
    "    }\n"
    "    YOKE_BARRIER();\n"
    "    y[YOKE_GLOBAL_ID(0)] = sums[0];\n"
    "}\n"
    "YOKE_KERNEL void through_global(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    u32 i = YOKE_ITEM(0), n = YOKE_ITEMS(0);\n"
    "    u64 base = (u64)YOKE_GROUP(0) * n;\n"
    "    u32 value = y[base + i];\n"
    "    for (u32 round = 0u; round < 5u; round++) {\n"
    "        YOKE_BARRIER();\n"
    "        y[base + (i + 1u) % n] = value;\n"
    "        YOKE_BARRIER();\n"
    "        value = y[base + i];\n"
    "    }\n"
    "}\n"
    "YOKE_KERNEL void two_arrays(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    YOKE_LOCAL_ARRAY(u8, bytes, 64);\n"
    "    YOKE_LOCAL_ARRAY(u64, words, 64);\n"
    "    u32 i = YOKE_ITEM(0), n = YOKE_ITEMS(0);\n"
    "    bytes[i] = (u8)y[YOKE_GLOBAL_ID(0)];\n"
    "    words[i] = (u64)y[YOKE_GLOBAL_ID(0)] << 8;\n"
    "    YOKE_BARRIER();\n"
    "    y[YOKE_GLOBAL_ID(0)] = (u32)(words[(i + 1u) % n] >> 8) ^ (u32)bytes[(i + 2u) % "
    "n];\n"
    "}\n"
    "YOKE_KERNEL void square(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    YOKE_LOCAL_ARRAY(u32, tile, 64);\n"
    "    u32 w = YOKE_ITEMS(0), i = YOKE_ITEM(0), j = YOKE_ITEM(1);\n"
    "    tile[j * w + i] = y[j * w + i];\n"
    "    YOKE_BARRIER();\n"
    "    y[j * w + i] = tile[i * w + j];\n"
    "}\n";

static const char argument_local_source[] =
    "YOKE_KERNEL void turn(YOKE_GLOBAL u32 *y, u32 by, YOKE_LOCAL u32 *kept)\n"
    "{\n"
    "    u32 i = YOKE_ITEM(0), n = YOKE_ITEMS(0);\n"
    "    kept[i] = y[YOKE_GLOBAL_ID(0)];\n"
    "    YOKE_BARRIER();\n"
    "    y[YOKE_GLOBAL_ID(0)] = kept[(i + by) % n];\n"
    "}\n";

enum { GROUPS = 5, LOCAL = 64, ITEMS = GROUPS * LOCAL };

/* What each of the kernels makes of one group's values. */
static void local_oracle(int64_t which, const uint32_t *x, uint32_t *y, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    for (uint32_t i = 0; i < n; i++)
        y[i] = which == 0   ? x[n - 1 - i]
               : which == 1 ? sum
               : which == 2 ? x[(i + n - 5) % n]
               : which == 3 ? x[(i + 1) % n] ^ (x[(i + 2) % n] & 255)
                            : x[i % 8 * 8 + i / 8];
}

static void local_memory(yoke_cts_t *t)
{
    static const char *const names[] = {"reverse", "tree", "through_global", "two_arrays",
                                        "square"};
    int64_t which = yoke_cts_parameter(t);
    uint32_t x[ITEMS], expected[ITEMS], groups = which == 4 ? 1 : GROUPS;
    if (yoke_cts_info(t)->max_group < LOCAL)
        yoke_cts_unsupported(t, "groups of at most %" PRIu32 " work-items",
                             yoke_cts_info(t)->max_group);
    yoke_cts_noise(x, sizeof x, 130);
    for (uint32_t g = 0; g < groups; g++)
        local_oracle(which, x + g * LOCAL, expected + g * LOCAL, LOCAL);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof x);
    yoke_program_t *program = yoke_cts_program(t, "local", local_source);
    yoke_kernel_t *kernel = yoke_cts_kernel(t, program, names[which]);
    yoke_argument_t argument = yoke_argument_span(y, 0);
    yoke_launch_t launch = {{groups, 1, 1}, {LOCAL, 1, 1}};
    if (which == 4)
        launch.local[0] = launch.local[1] = 8;
    yoke_cts_put(t, queue, y, 0, x, sizeof x);
    OK(t, yoke_kernel_launch(queue, kernel, &launch, &argument, 1));
    EXPECT(t, queue, y, 0, expected, groups * LOCAL * 4);
}

static void local_argument(yoke_cts_t *t)
{
    uint32_t n = (uint32_t)yoke_cts_parameter(t), by = 3;
    uint32_t x[4 * LOCAL], expected[4 * LOCAL];
    if (yoke_cts_info(t)->max_group < n)
        yoke_cts_unsupported(t, "groups of at most %" PRIu32 " work-items",
                             yoke_cts_info(t)->max_group);
    yoke_cts_noise(x, sizeof x, 131);
    for (uint32_t i = 0; i < 4 * n; i++)
        expected[i] = x[i / n * n + (i % n + by) % n];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), sizeof x);
    yoke_program_t *program =
        yoke_cts_program(t, "local-argument", argument_local_source);
    yoke_argument_t arguments[3] = {yoke_argument_span(y, 0), yoke_argument_value(&by, 4),
                                    yoke_argument_local(n * 4)};
    yoke_cts_put(t, queue, y, 0, x, sizeof x);
    yoke_cts_launch(t, queue, yoke_cts_kernel(t, program, "turn"), 4, n, arguments, 3);
    EXPECT(t, queue, y, 0, expected, 4 * n * 4);
}

/* --- atomics ------------------------------------------------------------------------ */

static const char atomic_source[] =
    "YOKE_KERNEL void add(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    YOKE_ATOMIC_ADD_U32(&y[YOKE_GLOBAL_ID(0) % 7u], (u32)YOKE_GLOBAL_ID(0));\n"
    "}\n"
    "YOKE_KERNEL void bounds(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    u32 hash = (u32)YOKE_GLOBAL_ID(0) * 2654435761u;\n"
    "    YOKE_ATOMIC_MAX_U32(&y[0], hash);\n"
    "    YOKE_ATOMIC_MIN_U32(&y[1], hash);\n"
    "}\n"
    "YOKE_KERNEL void ticket(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    u32 mine = YOKE_ATOMIC_ADD_U32(&y[0], 1u);\n"
    "    y[1u + mine] = (u32)YOKE_GLOBAL_ID(0) + 1u;\n"
    "}\n"
    "YOKE_KERNEL void cas(YOKE_GLOBAL u32 *y)\n"
    "{\n"
    "    u32 seen = y[0], before;\n"
    "    for (;;) {\n"
    "        before = YOKE_ATOMIC_CAS_U32(&y[0], seen, seen + 3u);\n"
    "        if (before == seen)\n"
    "            break;\n"
    "        seen = before;\n"
    "    }\n"
    "}\n";

static yoke_buffer_t *run_atomic(yoke_cts_t *t, yoke_queue_t *queue, const char *name,
                                 const uint32_t *initial, size_t count)
{
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), count * 4);
    yoke_program_t *program = yoke_cts_program(t, "atomics", atomic_source);
    yoke_argument_t argument = yoke_argument_span(y, 0);
    yoke_cts_put(t, queue, y, 0, initial, count * 4);
    yoke_cts_launch(t, queue, yoke_cts_kernel(t, program, name), 40, 25, &argument, 1);
    return y;
}

static void atomic_add(yoke_cts_t *t)
{
    uint32_t initial[7] = {0}, expected[7] = {0};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (uint32_t i = 0; i < 1000; i++)
        expected[i % 7] += i;
    yoke_buffer_t *y = run_atomic(t, queue, "add", initial, 7);
    EXPECT(t, queue, y, 0, expected, sizeof expected);
}

static void atomic_bounds(yoke_cts_t *t)
{
    uint32_t initial[2] = {0, UINT32_MAX}, expected[2] = {0, UINT32_MAX};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t hash = i * 2654435761u;
        expected[0] = hash > expected[0] ? hash : expected[0];
        expected[1] = hash < expected[1] ? hash : expected[1];
    }
    yoke_buffer_t *y = run_atomic(t, queue, "bounds", initial, 2);
    EXPECT(t, queue, y, 0, expected, sizeof expected);
}

static void atomic_ticket(yoke_cts_t *t)
{
    uint32_t values[1001] = {0}, seen[1001] = {0};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = run_atomic(t, queue, "ticket", values, 1001);
    yoke_cts_get(t, queue, y, 0, values, sizeof values);
    EQUAL(t, 1000, values[0]);
    for (size_t i = 1; i <= 1000; i++) {
        CHECK(t, values[i] >= 1 && values[i] <= 1000);
        CHECK(t, seen[values[i]]++ == 0);
    }
}

static void atomic_cas(yoke_cts_t *t)
{
    uint32_t initial = 5, expected = 3005;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = run_atomic(t, queue, "cas", &initial, 1);
    EXPECT(t, queue, y, 0, &expected, 4);
}

/* --- arguments ---------------------------------------------------------------------- */

#define ARGUMENT(type)                                                                   \
    "YOKE_KERNEL void a_" type "(YOKE_GLOBAL " type " *y, u8 before, " type              \
    " value, u8 after)\n"                                                                \
    "{\n"                                                                                \
    "    y[0] = value;\n"                                                                \
    "    y[1] = (" type ")before;\n"                                                     \
    "    y[2] = (" type ")after;\n"                                                      \
    "}\n"
static const char argument_source[] =
    ARGUMENT("i8") ARGUMENT("u8") ARGUMENT("i16") ARGUMENT("u16") ARGUMENT("i32")
        ARGUMENT("u32") ARGUMENT("i64") ARGUMENT("u64") ARGUMENT(
            "f32") "YOKE_KERNEL void many(YOKE_GLOBAL u32 *y, u32 a1, u8 a2, u64 a3, u32 "
                   "a4, u16 a5,\n"
                   "    u32 a6, u32 a7, u8 a8, u32 a9, u64 a10, u32 a11, u32 a12, u32 "
                   "a13, u8 a14,\n"
                   "    u32 a15, u32 a16, u64 a17, u32 a18, u32 a19, u16 a20, u32 a21, "
                   "u32 a22, u32 a23,\n"
                   "    u32 a24, u8 a25, u32 a26, u32 a27, u64 a28, u32 a29, u32 a30,\n"
                   "    YOKE_GLOBAL const u32 *x)\n"
                   "{\n"
                   "    y[0] = (u32)(a1 + 2u * a2 + 3u * a3 + 4u * a4 + 5u * a5 + 6u * "
                   "a6 + 7u * a7 +\n"
                   "        8u * a8 + 9u * a9 + 10u * a10 + 11u * a11 + 12u * a12 + 13u "
                   "* a13 +\n"
                   "        14u * a14 + 15u * a15 + 16u * a16 + 17u * a17 + 18u * a18 + "
                   "19u * a19 +\n"
                   "        20u * a20 + 21u * a21 + 22u * a22 + 23u * a23 + 24u * a24 + "
                   "25u * a25 +\n"
                   "        26u * a26 + 27u * a27 + 28u * a28 + 29u * a29 + 30u * a30) + "
                   "x[0];\n"
                   "}\n"
                   "YOKE_KERNEL void move(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const u32 *x)\n"
                   "{\n"
                   "    y[YOKE_GLOBAL_ID(0)] = x[YOKE_GLOBAL_ID(0)] + 1u;\n"
                   "}\n"
                   "YOKE_KERNEL void nothing(YOKE_GLOBAL u32 *y)\n"
                   "{\n"
                   "    (void)y;\n"
                   "}\n";

static yoke_kernel_t *argument_kernel(yoke_cts_t *t, const char *name)
{
    return yoke_cts_kernel(t, yoke_cts_program(t, "arguments", argument_source), name);
}

static void argument_type(yoke_cts_t *t)
{
    static const char *const names[] = {"a_i8",  "a_u8",  "a_i16", "a_u16", "a_i32",
                                        "a_u32", "a_i64", "a_u64", "a_f32"};
    size_t size = (size_t)yoke_cts_second(t);
    uint8_t value[8], expected[24] = {0}, before = 17, after = 99;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), 24);
    yoke_argument_t arguments[4] = {
        yoke_argument_span(y, 0), yoke_argument_value(&before, 1),
        yoke_argument_value(value, (uint32_t)size), yoke_argument_value(&after, 1)};
    yoke_cts_noise(value, sizeof value, 132);
    memcpy(expected, value, size);
    expected[size] = before;
    expected[2 * size] = after;
    if (yoke_cts_parameter(t) == 8) {
        float f[3] = {-1.25f, 17, 99};
        memcpy(value, f, 4);
        memcpy(expected, f, sizeof f);
    }
    yoke_cts_launch(t, queue, argument_kernel(t, names[yoke_cts_parameter(t)]), 1, 1,
                    arguments, 4);
    memset(value, 0, sizeof value); /* they were read before the call returned */
    before = after = 0;
    EXPECT(t, queue, y, 0, expected, 3 * size);
}

static uint32_t size_of_argument(size_t i)
{
    return i == 3 || i == 10 || i == 17 || i == 28  ? 8
           : i == 2 || i == 8 || i == 14 || i == 25 ? 1
           : i == 5 || i == 20                      ? 2
                                                    : 4;
}

static void many_arguments(yoke_cts_t *t)
{
    yoke_argument_t arguments[YOKE_MAX_ARGUMENTS];
    uint64_t values[YOKE_MAX_ARGUMENTS];
    uint32_t x = 5000, sum = x;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    yoke_buffer_t *in = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    arguments[0] = yoke_argument_span(y, 0);
    for (size_t i = 1; i <= 30; i++) {
        values[i] = i * 7;
        arguments[i] = yoke_argument_value(&values[i], size_of_argument(i));
        sum += (uint32_t)(i * values[i]);
    }
    arguments[31] = yoke_argument_span(in, 0);
    yoke_cts_put(t, queue, in, 0, &x, 4);
    yoke_cts_launch(t, queue, argument_kernel(t, "many"), 1, 1, arguments, 32);
    EXPECT(t, queue, y, 0, &sum, 4);
}

/* Offsets into one buffer: multiples of the device's alignment, at least 4. */
static void span_offsets(yoke_cts_t *t)
{
    enum { N = 64 };
    uint64_t step = yoke_cts_info(t)->alignment < 4 ? 4 : yoke_cts_info(t)->alignment;
    uint64_t to = (uint64_t)yoke_cts_parameter(t) * step, from = to + 4 * N + step;
    from = from / step * step;
    size_t size = (size_t)(from + 4 * N);
    uint32_t *model = yoke_cts_memory(t, size);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), size);
    yoke_argument_t arguments[2] = {yoke_argument_span(buffer, to),
                                    yoke_argument_span(buffer, from)};
    yoke_cts_noise(model, size, 133);
    yoke_cts_put(t, queue, buffer, 0, model, size);
    yoke_cts_launch(t, queue, argument_kernel(t, "move"), N / 16, 16, arguments, 2);
    for (size_t i = 0; i < N; i++)
        model[to / 4 + i] = model[from / 4 + i] + 1;
    EXPECT(t, queue, buffer, 0, model, size);
}

static void memory_kinds(yoke_cts_t *t)
{
    enum { N = 64 };
    uint32_t x[N], expected[N];
    yoke_memory_kind_t kind = (yoke_memory_kind_t)yoke_cts_parameter(t);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *in = yoke_cts_buffer_of(t, yoke_cts_device(t), kind, sizeof x);
    yoke_buffer_t *out = yoke_cts_buffer_of(t, yoke_cts_device(t), kind, sizeof x);
    void *host = NULL;
    yoke_cts_noise(x, sizeof x, 134);
    for (size_t i = 0; i < N; i++)
        expected[i] = x[i] + 1;
    OK(t, yoke_buffer_host_address(in, &host));
    memcpy(host, x, sizeof x);
    yoke_argument_t arguments[2] = {yoke_argument_span(out, 0),
                                    yoke_argument_span(in, 0)};
    yoke_cts_launch(t, queue, argument_kernel(t, "move"), N / 16, 16, arguments, 2);
    OK(t, yoke_queue_sync(queue));
    OK(t, yoke_buffer_host_address(out, &host));
    BYTES(t, "what the host sees", expected, host, sizeof expected);
}

static void nothing(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    yoke_kernel_t *kernel = argument_kernel(t, "nothing");
    yoke_argument_t argument = yoke_argument_span(y, 0);
    for (int i = 0; i < 500; i++)
        yoke_cts_launch(t, queue, kernel, 1, 1, &argument, 1);
    OK(t, yoke_queue_sync(queue));
}

#define K(name, function, a, b)                                                          \
    {                                                                                    \
        "launch/" name, YOKE_CAP_SOURCE, 0, function, a, b                               \
    }

static const yoke_cts_case_t cases[] = {
    K("shape-1", shape, 0, 0),
    K("shape-groups", shape, 1, 0),
    K("shape-one-group", shape, 2, 0),
    K("shape-line", shape, 3, 0),
    K("shape-2d-groups", shape, 4, 0),
    K("shape-2d", shape, 5, 0),
    K("shape-2d-column", shape, 6, 0),
    K("shape-3d-groups", shape, 7, 0),
    K("shape-3d", shape, 8, 0),
    K("shape-3d-deep", shape, 9, 0),
    K("shape-6400", shape, 10, 0),
    K("shape-3d-thin", shape, 11, 0),
    K("largest-group", largest_group, 0, 0),
    K("order", order, 0, 0),
    K("two-queues", two_queues, 0, 0),
    K("barrier-reverse", local_memory, 0, 0),
    K("barrier-tree", local_memory, 1, 0),
    K("barrier-global", local_memory, 2, 0),
    K("local-two-arrays", local_memory, 3, 0),
    K("local-2d", local_memory, 4, 0),
    K("local-argument-4", local_argument, 4, 0),
    K("local-argument-64", local_argument, 64, 0),
    K("atomic-add", atomic_add, 0, 0),
    K("atomic-max-min", atomic_bounds, 0, 0),
    K("atomic-ticket", atomic_ticket, 0, 0),
    K("atomic-cas", atomic_cas, 0, 0),
    K("argument-i8", argument_type, 0, 1),
    K("argument-u8", argument_type, 1, 1),
    K("argument-i16", argument_type, 2, 2),
    K("argument-u16", argument_type, 3, 2),
    K("argument-i32", argument_type, 4, 4),
    K("argument-u32", argument_type, 5, 4),
    K("argument-i64", argument_type, 6, 8),
    K("argument-u64", argument_type, 7, 8),
    K("argument-f32", argument_type, 8, 4),
    K("argument-many", many_arguments, 0, 0),
    K("span-offset-0", span_offsets, 0, 0),
    K("span-offset-1", span_offsets, 1, 0),
    K("span-offset-9", span_offsets, 9, 0),
    {"launch/pinned", YOKE_CAP_SOURCE | YOKE_CAP_PINNED, 0, memory_kinds,
     YOKE_MEMORY_HOST, 0},
    {"launch/shared", YOKE_CAP_SOURCE | YOKE_CAP_SHARED, 0, memory_kinds,
     YOKE_MEMORY_SHARED, 0},
    K("nothing-500", nothing, 0, 0),
};

YOKE_CTS_GROUP(launch, cases);
