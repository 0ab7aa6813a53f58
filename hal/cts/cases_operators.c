/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on vectors: reductions of every element type, fill, convert, axpy, scale,
 * fold, select, pack and unpack. */
#include "hal/cts/case.h"
#include "hal/cts/codec.h"

#include <math.h>

enum { COUNT = 3001 };

static bool is_float(yoke_element_t element)
{
    return element <= YOKE_ELEMENT_F8E5M2;
}

static void need(yoke_cts_t *t, const char *name, yoke_element_t element)
{
    if (element == YOKE_ELEMENT_F64 &&
        (yoke_cts_info(t)->capabilities & YOKE_CAP_FP64) == 0)
        yoke_cts_unsupported(t, "missing capability: fp64");
    if (strcmp(yoke_operators_path(yoke_cts_operators(t), name, element), "none") == 0)
        yoke_cts_unsupported(t, "the operator has no path for this element here");
}

static void random_values(yoke_element_t element, void *values, size_t count,
                          uint64_t seed)
{
    uint64_t state = seed;
    if (!is_float(element))
        yoke_cts_noise(values, count * yoke_element_size(element), seed);
    else
        for (size_t i = 0; i < count; i++)
            yoke_cts_store(element, values, i,
                           (double)(int64_t)(yoke_cts_random(&state) >> 11) / 1.1259e15 -
                               4);
}

/* --- reduce ------------------------------------------------------------------------- */

static double reduce_floats(yoke_element_t element, yoke_reduction_t op, double a,
                            double b)
{
    if (op == YOKE_REDUCE_MAX || op == YOKE_REDUCE_MIN) {
        if (isnan(a) || isnan(b))
            return NAN;
        return (op == YOKE_REDUCE_MAX) == (a > b) ? a : b;
    }
    if (element == YOKE_ELEMENT_F64)
        return op == YOKE_REDUCE_PROD ? a * b : a + b;
    return op == YOKE_REDUCE_PROD ? (double)((float)a * (float)b)
                                  : (double)((float)a + (float)b);
}

static int64_t signed_value(uint64_t value, size_t size)
{
    unsigned shift = (unsigned)(64 - 8 * size);
    return (int64_t)(value << shift) >> shift;
}

static uint64_t reduce_integers(yoke_element_t element, yoke_reduction_t op, uint64_t a,
                                uint64_t b)
{
    size_t size = yoke_element_size(element);
    bool is_signed = element == YOKE_ELEMENT_I8 || element == YOKE_ELEMENT_I32 ||
                     element == YOKE_ELEMENT_I64;
    bool greater = is_signed ? signed_value(a, size) > signed_value(b, size) : a > b;
    switch (op) {
    case YOKE_REDUCE_PROD:
        return a * b;
    case YOKE_REDUCE_MAX:
        return greater ? a : b;
    case YOKE_REDUCE_MIN:
        return greater ? b : a;
    default:
        return a + b;
    }
}

static void reduce_one(yoke_element_t element, yoke_reduction_t op, const void *a,
                       const void *b, void *out, size_t i)
{
    size_t size = yoke_element_size(element);
    if (is_float(element)) {
        double value = reduce_floats(element, op, yoke_cts_load(element, a, i),
                                     yoke_cts_load(element, b, i));
        yoke_cts_store(element, out, i, value);
        return;
    }
    uint64_t x = 0, y = 0;
    memcpy(&x, (const char *)a + i * size, size);
    memcpy(&y, (const char *)b + i * size, size);
    x = reduce_integers(element, op, x, y);
    memcpy((char *)out + i * size, &x, size);
}

/* Bytes are equal; any NaN equals any other; +0 equals -0. */
static void check_elements(yoke_cts_t *t, yoke_element_t element, const void *expected,
                           const void *actual, size_t count)
{
    size_t size = yoke_element_size(element);
    for (size_t i = 0; i < count; i++) {
        if (memcmp((const char *)expected + i * size, (const char *)actual + i * size,
                   size) == 0)
            continue;
        if (!is_float(element))
            BYTES(t, "an element", (const char *)expected + i * size,
                  (const char *)actual + i * size, size);
        double e = yoke_cts_load(element, expected, i);
        double a = yoke_cts_load(element, actual, i);
        if (!(isnan(e) && isnan(a)) && e != a)
            FAIL(t, "element %zu is %.9g and should be %.9g", i, a, e);
    }
}

static void reduce(yoke_cts_t *t)
{
    yoke_element_t element = (yoke_element_t)yoke_cts_parameter(t);
    yoke_reduction_t op = (yoke_reduction_t)yoke_cts_second(t);
    size_t size = yoke_element_size(element) * COUNT;
    need(t, "reduce", element);
    void *a = yoke_cts_memory(t, size), *b = yoke_cts_memory(t, size);
    void *expected = yoke_cts_memory(t, size), *actual = yoke_cts_memory(t, size);
    random_values(element, a, COUNT, 200);
    random_values(element, b, COUNT, 201);
    if (is_float(element) && (op == YOKE_REDUCE_MAX || op == YOKE_REDUCE_MIN)) {
        yoke_cts_store(element, a, 3, NAN);
        yoke_cts_store(element, b, 4, NAN);
    }
    for (size_t i = 0; i < COUNT; i++)
        reduce_one(element, op, a, b, expected, i);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *x = yoke_cts_buffer(t, yoke_cts_device(t), size);
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), size);
    yoke_cts_put(t, queue, x, 0, a, size);
    yoke_cts_put(t, queue, y, 0, b, size);
    OK(t, yoke_op_reduce(yoke_cts_operators(t), queue, element, op, yoke_span(x, 0),
                         yoke_span(x, 0), yoke_span(y, 0), COUNT));
    yoke_cts_get(t, queue, x, 0, actual, size);
    check_elements(t, element, expected, actual, COUNT);
    EXPECT(t, queue, y, 0, b, size);
}

/* --- fill and convert --------------------------------------------------------------- */

static void fill(yoke_cts_t *t)
{
    yoke_element_t element = (yoke_element_t)yoke_cts_parameter(t);
    size_t one = yoke_element_size(element), size = one * COUNT;
    need(t, "fill", element);
    unsigned char *expected = yoke_cts_memory(t, size + 64);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *x = yoke_cts_buffer(t, yoke_cts_device(t), size + 64);
    yoke_cts_noise(expected, size + 64, 202);
    yoke_cts_put(t, queue, x, 0, expected, size + 64);
    uint64_t five = 5;
    for (size_t i = 0; i < COUNT; i++)
        if (is_float(element))
            yoke_cts_store(element, expected, i, 1.37);
        else
            memcpy(expected + i * one, &five, one);
    OK(t, yoke_op_fill(yoke_cts_operators(t), queue, element, yoke_span(x, 0),
                       is_float(element) ? 1.37 : 5, COUNT));
    EXPECT(t, queue, x, 0, expected, size + 64);
}

/* parameter: to; second: from. Floats only; values that every format holds or rounds. */
static void convert(yoke_cts_t *t)
{
    yoke_element_t to = (yoke_element_t)yoke_cts_parameter(t);
    yoke_element_t from = (yoke_element_t)yoke_cts_second(t);
    size_t to_size = yoke_element_size(to) * COUNT;
    size_t from_size = yoke_element_size(from) * COUNT;
    need(t, "convert", to);
    need(t, "convert", from);
    void *a = yoke_cts_memory(t, from_size);
    void *expected = yoke_cts_memory(t, to_size), *actual = yoke_cts_memory(t, to_size);
    random_values(from, a, COUNT, 203);
    for (size_t i = 0; i < COUNT; i++)
        yoke_cts_store(to, expected, i, yoke_cts_load(from, a, i));
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *x = yoke_cts_buffer(t, yoke_cts_device(t), from_size);
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), to_size);
    yoke_cts_put(t, queue, x, 0, a, from_size);
    OK(t, yoke_op_convert(yoke_cts_operators(t), queue, to, yoke_span(y, 0), from,
                          yoke_span(x, 0), COUNT));
    yoke_cts_get(t, queue, y, 0, actual, to_size);
    check_elements(t, to, expected, actual, COUNT);
}

static void convert_saturates(yoke_cts_t *t)
{
    static const float x[] = {1.9f, -1.9f, 300, -300, 127.5f, 1e20f, -1e20f, NAN};
    static const int8_t expected[] = {1, -1, 127, -128, 127, 127, -128, 0};
    need(t, "convert", YOKE_ELEMENT_I8);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *in = yoke_cts_buffer(t, yoke_cts_device(t), sizeof x);
    yoke_buffer_t *out = yoke_cts_buffer(t, yoke_cts_device(t), sizeof expected);
    yoke_cts_put(t, queue, in, 0, x, sizeof x);
    OK(t, yoke_op_convert(yoke_cts_operators(t), queue, YOKE_ELEMENT_I8,
                          yoke_span(out, 0), YOKE_ELEMENT_F32, yoke_span(in, 0), 8));
    EXPECT(t, queue, out, 0, expected, sizeof expected);
}

/* --- axpy, scale, folds ------------------------------------------------------------- */

static yoke_buffer_t *floats(yoke_cts_t *t, yoke_queue_t *queue, float *x, size_t count,
                             uint64_t seed)
{
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), count * 4);
    random_values(YOKE_ELEMENT_F32, x, count, seed);
    yoke_cts_put(t, queue, buffer, 0, x, count * 4);
    return buffer;
}

static void near(yoke_cts_t *t, const char *what, double expected, double actual,
                 double allowed)
{
    if (!(fabs(actual - expected) <= allowed))
        FAIL(t, "%s is %.9g and should be %.9g", what, actual, expected);
}

static void axpy(yoke_cts_t *t)
{
    float x[COUNT], y[COUNT], actual[COUNT];
    need(t, "axpy", YOKE_ELEMENT_F32);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *a = floats(t, queue, x, COUNT, 204),
                  *b = floats(t, queue, y, COUNT, 205);
    OK(t, yoke_op_axpy(yoke_cts_operators(t), queue, YOKE_ELEMENT_F32, -0.5,
                       yoke_span(a, 0), yoke_span(b, 0), COUNT));
    yoke_cts_get(t, queue, b, 0, actual, sizeof actual);
    for (size_t i = 0; i < COUNT; i++)
        near(t, "y - x / 2", (double)y[i] - 0.5 * (double)x[i], (double)actual[i], 1e-6);
}

static void scale_divides(yoke_cts_t *t)
{
    int32_t x[] = {7, -7, 9, -9, 0, INT32_MIN, INT32_MAX};
    int32_t expected[7];
    need(t, "scale", YOKE_ELEMENT_I32);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof x);
    for (size_t i = 0; i < 7; i++)
        expected[i] = x[i] / 4; /* toward zero, as C divides */
    yoke_cts_put(t, queue, buffer, 0, x, sizeof x);
    OK(t, yoke_op_scale(yoke_cts_operators(t), queue, YOKE_ELEMENT_I32, 0, 4,
                        yoke_span(buffer, 0), 7));
    EXPECT(t, queue, buffer, 0, expected, sizeof expected);
}

static void fold(yoke_cts_t *t)
{
    enum { MANY = 50001 };
    yoke_reduction_t op = (yoke_reduction_t)yoke_cts_parameter(t);
    float *x = yoke_cts_memory(t, MANY * 4), actual = 0;
    double expected = op == YOKE_REDUCE_SUM ? 0 : (op == YOKE_REDUCE_MAX ? -1e9 : 1e9);
    need(t, "fold", YOKE_ELEMENT_F32);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *a = floats(t, queue, x, MANY, 206);
    yoke_buffer_t *scratch = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 16);
    yoke_buffer_t *out = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    for (size_t i = 0; i < MANY; i++)
        expected = op == YOKE_REDUCE_SUM   ? expected + (double)x[i]
                   : op == YOKE_REDUCE_MAX ? fmax(expected, (double)x[i])
                                           : fmin(expected, (double)x[i]);
    OK(t, yoke_op_fold(yoke_cts_operators(t), queue, YOKE_ELEMENT_F32, op,
                       yoke_span(out, 0), yoke_span(a, 0), MANY, yoke_span(scratch, 0)));
    yoke_cts_get(t, queue, out, 0, &actual, 4);
    near(t, "the fold", expected, (double)actual, op == YOKE_REDUCE_SUM ? 0.5 : 0);
}

static void square_sum(yoke_cts_t *t)
{
    float x[COUNT], actual = 0;
    double expected = 0;
    need(t, "norm", YOKE_ELEMENT_F32);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *a = floats(t, queue, x, COUNT, 207);
    yoke_buffer_t *scratch = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 16);
    yoke_buffer_t *out = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    for (size_t i = 0; i < COUNT; i++)
        expected += (double)x[i] * (double)x[i];
    OK(t, yoke_op_square_sum(yoke_cts_operators(t), queue, YOKE_ELEMENT_F32,
                             yoke_span(out, 0), yoke_span(a, 0), COUNT,
                             yoke_span(scratch, 0)));
    yoke_cts_get(t, queue, out, 0, &actual, 4);
    near(t, "the sum of squares", expected, (double)actual, 1e-4 * expected);
}

/* --- compression -------------------------------------------------------------------- */

static void select_threshold(yoke_cts_t *t)
{
    uint32_t capacity = (uint32_t)yoke_cts_parameter(t), found = 0, kept = 0, total = 0;
    float x[COUNT], values[COUNT], expected_values[COUNT];
    uint32_t indices[COUNT], expected_indices[COUNT];
    need(t, "select", YOKE_ELEMENT_F32);
    yoke_device_t *device = yoke_cts_device(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *a = floats(t, queue, x, COUNT, 208);
    yoke_buffer_t *index_buffer = yoke_cts_buffer(t, device, sizeof indices);
    yoke_buffer_t *value_buffer = yoke_cts_buffer(t, device, sizeof values);
    yoke_buffer_t *count_buffer = yoke_cts_buffer(t, device, 4);
    yoke_buffer_t *scratch = yoke_cts_buffer(t, device, 4 * (COUNT / 256 + 2));
    for (uint32_t i = 0; i < COUNT; i++)
        if (fabsf(x[i]) >= 3.5f) {
            total++;
            if (kept < capacity) {
                expected_indices[kept] = i;
                expected_values[kept++] = x[i];
            }
        }
    OK(t, yoke_op_select(yoke_cts_operators(t), queue, yoke_span(a, 0), COUNT, 3.5f,
                         yoke_span(index_buffer, 0), yoke_span(value_buffer, 0),
                         yoke_span(count_buffer, 0), capacity, yoke_span(scratch, 0)));
    yoke_cts_get(t, queue, count_buffer, 0, &found, 4);
    EQUAL(t, total, found);
    yoke_cts_get(t, queue, index_buffer, 0, indices, kept * 4);
    yoke_cts_get(t, queue, value_buffer, 0, values, kept * 4);
    BYTES(t, "indices", expected_indices, indices, kept * 4);
    BYTES(t, "values", expected_values, values, kept * 4);
}

static void pack_and_unpack(yoke_cts_t *t)
{
    enum { KEPT = 500 };
    yoke_element_t element = (yoke_element_t)yoke_cts_parameter(t);
    size_t one = yoke_element_size(element);
    unsigned char *x = yoke_cts_memory(t, COUNT * one),
                  *packed = yoke_cts_memory(t, KEPT * one);
    unsigned char *spread = yoke_cts_memory(t, COUNT * one);
    uint32_t indices[KEPT];
    need(t, "pack", element);
    need(t, "unpack", element);
    yoke_device_t *device = yoke_cts_device(t);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *a = yoke_cts_buffer(t, device, COUNT * one);
    yoke_buffer_t *b = yoke_cts_buffer(t, device, KEPT * one);
    yoke_buffer_t *i_buffer = yoke_cts_buffer(t, device, sizeof indices);
    random_values(element, x, COUNT, 209);
    for (uint32_t i = 0; i < KEPT; i++) {
        indices[i] = i * 2749 % COUNT; /* COUNT is a prime: they differ */
        memcpy(packed + i * one, x + indices[i] * one, one);
        memcpy(spread + indices[i] * one, packed + i * one, one);
    }
    yoke_cts_put(t, queue, a, 0, x, COUNT * one);
    yoke_cts_put(t, queue, i_buffer, 0, indices, sizeof indices);
    OK(t, yoke_op_pack(yoke_cts_operators(t), queue, element, yoke_span(b, 0),
                       yoke_span(a, 0), yoke_span(i_buffer, 0), KEPT));
    EXPECT(t, queue, b, 0, packed, KEPT * one);
    memset(x, 0, COUNT * one);
    yoke_cts_put(t, queue, a, 0, x, COUNT * one);
    OK(t, yoke_op_unpack(yoke_cts_operators(t), queue, element, yoke_span(a, 0),
                         yoke_span(b, 0), yoke_span(i_buffer, 0), KEPT, false));
    EXPECT(t, queue, a, 0, spread, COUNT * one);
}

/* --- matrices ----------------------------------------------------------------------- */

/* parameter: bit 0 transposes A, bit 1 B, bit 2: beta and a batch of 2; second: element.
 */
static void gemm(yoke_cts_t *t)
{
    enum { M = 17, N = 23, K = 31, MOST = 2 * 31 * 23 };
    int64_t how = yoke_cts_parameter(t);
    yoke_element_t element = (yoke_element_t)yoke_cts_second(t);
    uint64_t batch = (how & 4) != 0 ? 2 : 1;
    float a[MOST], b[MOST], c[MOST], actual[MOST];
    uint8_t packed[MOST * 8];
    need(t, "gemm", element);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffers[3];
    float *values[3] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        yoke_element_t kind = i < 2 ? element : YOKE_ELEMENT_F32;
        random_values(YOKE_ELEMENT_F32, values[i], MOST, 210 + i);
        for (size_t j = 0; j < MOST; j++) {
            yoke_cts_store(kind, packed, j, (double)values[i][j]);
            values[i][j] = (float)yoke_cts_load(kind, packed, j);
        }
        buffers[i] = yoke_cts_buffer(t, yoke_cts_device(t), sizeof packed);
        yoke_cts_put(t, queue, buffers[i], 0, packed, sizeof packed);
    }
    yoke_gemm_t g = {.struct_size = sizeof g,
                     .element = element,
                     .output = YOKE_ELEMENT_F32,
                     .transpose_a = (how & 1) != 0,
                     .transpose_b = (how & 2) != 0,
                     .m = M,
                     .n = N,
                     .k = K,
                     .batch = batch,
                     .stride_a = M * K,
                     .stride_b = K * N,
                     .stride_c = M * N,
                     .alpha = 1.5,
                     .beta = (how & 4) != 0 ? 0.5 : 0,
                     .a = {buffers[0], 0},
                     .b = {buffers[1], 0},
                     .c = {buffers[2], 0}};
    OK(t, yoke_op_gemm(yoke_cts_operators(t), queue, &g));
    yoke_cts_get(t, queue, buffers[2], 0, actual, sizeof actual);
    for (size_t z = 0; z < batch; z++)
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++)
                    sum +=
                        (double)a[z * M * K + ((how & 1) != 0 ? k * M + i : i * K + k)] *
                        (double)b[z * K * N + ((how & 2) != 0 ? j * K + k : k * N + j)];
                size_t at = z * M * N + i * N + j;
                near(t, "C", 1.5 * sum + g.beta * (double)c[at], (double)actual[at],
                     1e-3);
            }
}

static void names_and_paths(yoke_cts_t *t)
{
    size_t count = 0;
    const char *const *names = yoke_operators_names(&count);
    CHECK(t, names != NULL && count >= 20);
    for (size_t i = 0; i < count; i++) {
        const char *path =
            yoke_operators_path(yoke_cts_operators(t), names[i], YOKE_ELEMENT_F32);
        CHECK(t, path != NULL);
        CHECK(t, strcmp(path, "kernel") == 0 || strcmp(path, "vendor") == 0 ||
                     strcmp(path, "host") == 0 || strcmp(path, "none") == 0);
    }
    CHECK(t, strcmp(yoke_operators_path(yoke_cts_operators(t), "nosuchoperator",
                                        YOKE_ELEMENT_F32),
                    "none") == 0);
}

static void bad_requests(yoke_cts_t *t)
{
    yoke_operators_t *operators = NULL;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *x = yoke_cts_buffer(t, yoke_cts_device(t), 64);
    yoke_span_t span = yoke_span(x, 0);
    GIVES(t, YOKE_ERR_USAGE, yoke_operators_create(NULL, &operators));
    GIVES(t, YOKE_ERR_USAGE, yoke_op_fill(NULL, queue, YOKE_ELEMENT_F32, span, 1, 4));
    GIVES(t, YOKE_ERR_USAGE,
          yoke_op_fill(yoke_cts_operators(t), NULL, YOKE_ELEMENT_F32, span, 1, 4));
    GIVES(t, YOKE_ERR_USAGE, yoke_op_gemm(yoke_cts_operators(t), queue, NULL));
    GIVES(t, YOKE_ERR_UNSUPPORTED,
          yoke_op_bias(yoke_cts_operators(t), queue, YOKE_ELEMENT_I32, span, span, 1, 4));
    yoke_operators_destroy(NULL);
}

#define ROW(name, function, a, b)                                                        \
    {                                                                                    \
        "operators/" name, 0, YOKE_CTS_OPERATORS, function, a, b                         \
    }
#define REDUCE(name, element)                                                            \
    ROW("reduce-" name "-sum", reduce, element, YOKE_REDUCE_SUM),                        \
        ROW("reduce-" name "-prod", reduce, element, YOKE_REDUCE_PROD),                  \
        ROW("reduce-" name "-max", reduce, element, YOKE_REDUCE_MAX),                    \
        ROW("reduce-" name "-min", reduce, element, YOKE_REDUCE_MIN),                    \
        ROW("reduce-" name "-avg", reduce, element, YOKE_REDUCE_AVG),                    \
        ROW("fill-" name, fill, element, 0)

static const yoke_cts_case_t cases[] = {
    REDUCE("f64", YOKE_ELEMENT_F64),
    REDUCE("f32", YOKE_ELEMENT_F32),
    REDUCE("f16", YOKE_ELEMENT_F16),
    REDUCE("bf16", YOKE_ELEMENT_BF16),
    REDUCE("fp8-e4m3", YOKE_ELEMENT_F8E4M3),
    REDUCE("fp8-e5m2", YOKE_ELEMENT_F8E5M2),
    REDUCE("i8", YOKE_ELEMENT_I8),
    REDUCE("u8", YOKE_ELEMENT_U8),
    REDUCE("i32", YOKE_ELEMENT_I32),
    REDUCE("u32", YOKE_ELEMENT_U32),
    REDUCE("i64", YOKE_ELEMENT_I64),
    REDUCE("u64", YOKE_ELEMENT_U64),
    ROW("convert-f32-to-f16", convert, YOKE_ELEMENT_F16, YOKE_ELEMENT_F32),
    ROW("convert-f32-to-bf16", convert, YOKE_ELEMENT_BF16, YOKE_ELEMENT_F32),
    ROW("convert-f32-to-fp8-e4m3", convert, YOKE_ELEMENT_F8E4M3, YOKE_ELEMENT_F32),
    ROW("convert-f32-to-fp8-e5m2", convert, YOKE_ELEMENT_F8E5M2, YOKE_ELEMENT_F32),
    ROW("convert-f16-to-f32", convert, YOKE_ELEMENT_F32, YOKE_ELEMENT_F16),
    ROW("convert-bf16-to-f16", convert, YOKE_ELEMENT_F16, YOKE_ELEMENT_BF16),
    ROW("convert-fp8-e4m3-to-bf16", convert, YOKE_ELEMENT_BF16, YOKE_ELEMENT_F8E4M3),
    ROW("convert-fp8-e5m2-to-f32", convert, YOKE_ELEMENT_F32, YOKE_ELEMENT_F8E5M2),
    ROW("convert-f64-to-f32", convert, YOKE_ELEMENT_F32, YOKE_ELEMENT_F64),
    ROW("convert-saturates", convert_saturates, 0, 0),
    ROW("axpy", axpy, 0, 0),
    ROW("scale-divides", scale_divides, 0, 0),
    ROW("fold-sum", fold, YOKE_REDUCE_SUM, 0),
    ROW("fold-max", fold, YOKE_REDUCE_MAX, 0),
    ROW("fold-min", fold, YOKE_REDUCE_MIN, 0),
    ROW("square-sum", square_sum, 0, 0),
    ROW("select-all", select_threshold, COUNT, 0),
    ROW("select-10", select_threshold, 10, 0),
    ROW("pack-unpack-u8", pack_and_unpack, YOKE_ELEMENT_U8, 0),
    ROW("pack-unpack-f16", pack_and_unpack, YOKE_ELEMENT_F16, 0),
    ROW("pack-unpack-f32", pack_and_unpack, YOKE_ELEMENT_F32, 0),
    ROW("pack-unpack-i64", pack_and_unpack, YOKE_ELEMENT_I64, 0),
    ROW("gemm-f32", gemm, 0, YOKE_ELEMENT_F32),
    ROW("gemm-f32-ta", gemm, 1, YOKE_ELEMENT_F32),
    ROW("gemm-f32-tb", gemm, 2, YOKE_ELEMENT_F32),
    ROW("gemm-f32-batch", gemm, 7, YOKE_ELEMENT_F32),
    ROW("gemm-f16", gemm, 2, YOKE_ELEMENT_F16),
    ROW("gemm-bf16", gemm, 5, YOKE_ELEMENT_BF16),
    ROW("names-and-paths", names_and_paths, 0, 0),
    ROW("bad-requests", bad_requests, 0, 0),
};

YOKE_CTS_GROUP(operators, cases);
