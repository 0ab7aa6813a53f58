/* SPDX-License-Identifier: Apache-2.0 */
/* The portable dialect: functions, integer types, conversions of small floats. Every
 * oracle here is made on the host by other means than the dialect's own. */
#include "hal/cts/case.h"
#include "hal/cts/codec.h"

#include <math.h>

enum { COUNT = 1000 };

/* --- functions of f32 --------------------------------------------------------------- */

/* name, text in the dialect, the same in double, range of a, units in the last place that
 * the OpenCL 1.2 specification, section 7.4, allows (the widest of the runtimes'). */
#define FLOATS(X)                                                                        \
    X(exp, "YOKE_EXP(a)", exp(a), -10, 10, 4)                                            \
    X(log, "YOKE_LOG(a)", log(a), 0.01, 100, 4)                                          \
    X(sqrt, "YOKE_SQRT(a)", sqrt(a), 0, 1000, 4)                                         \
    X(rsqrt, "YOKE_RSQRT(a)", 1 / sqrt(a), 0.001, 1000, 4)                               \
    X(tanh, "YOKE_TANH(a)", tanh(a), -5, 5, 6)                                           \
    X(erf, "YOKE_ERF(a)", erf(a), -4, 4, 16)                                             \
    X(fabs, "YOKE_FABS(a)", fabs(a), -10, 10, 0)                                         \
    X(floor, "YOKE_FLOOR(a)", floor(a), -100, 100, 0)                                    \
    X(sin, "YOKE_SIN(a)", sin(a), -10, 10, 4)                                            \
    X(cos, "YOKE_COS(a)", cos(a), -10, 10, 4)                                            \
    X(pow, "YOKE_POW(a, b)", pow(a, b), 0.1, 8, 16)                                      \
    X(fma, "YOKE_FMA(a, b, 3.0f)", (double)fmaf((float)a, (float)b, 3.0f), -9, 9, 0)     \
    X(fmax, "YOKE_FMAX(a, b)", fmax(a, b), -10, 10, 0)                                   \
    X(fmin, "YOKE_FMIN(a, b)", fmin(a, b), -10, 10, 0)                                   \
    X(divide, "a / (b + 20.0f)", a / (double)((float)b + 20.0f), -10, 10, 3)             \
    X(no_contraction, "a * b + 1.0f", (double)((float)((float)a * (float)b) + 1.0f), -9, \
      9, 0)                                                                              \
    X(to_int, "(f32)(i32)a", trunc(a), -1000, 1000, 0)                                   \
    X(branch, "a > b ? a - b : b - a", fabs((double)(float)(a - b)), -10, 10, 0)

#define FLOAT_TEXT(name, text, value, low, high, ulps)                                   \
    "YOKE_KERNEL void f_" #name                                                          \
    "(YOKE_GLOBAL f32 *y, YOKE_GLOBAL const f32 *x, u32 n)\n"                            \
    "{\n"                                                                                \
    "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"                                              \
    "    if (i < n) {\n"                                                                 \
    "        f32 a = x[i];\n"                                                            \
    "        f32 b = x[n - 1 - i];\n"                                                    \
    "        y[i] = " text ";\n"                                                         \
    "        (void)b;\n"                                                                 \
    "    }\n"                                                                            \
    "}\n"
static const char float_source[] = FLOATS(FLOAT_TEXT);

#define FLOAT_ENUM(name, ...) F_##name,
enum { FLOATS(FLOAT_ENUM) FLOAT_COUNT };

#define FLOAT_NAME(name, ...) "f_" #name,
#define FLOAT_RANGE(name, text, value, low, high, ulps) {low, high, ulps},
static const char *const float_names[] = {FLOATS(FLOAT_NAME)};
static const struct {
    double low, high, ulps;
} float_ranges[] = {FLOATS(FLOAT_RANGE)};

#define FLOAT_VALUE(name, text, value, low, high, ulps)                                  \
    case F_##name:                                                                       \
        return value;
static double float_oracle(int64_t which, double a, double b)
{
    switch (which) {
        FLOATS(FLOAT_VALUE)
    default:
        return 0;
    }
}

static void run_xy(yoke_cts_t *t, yoke_program_t *program, const char *name, void *y,
                   size_t y_size, const void *x, size_t x_size, uint32_t n)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_kernel_t *kernel = yoke_cts_kernel(t, program, name);
    yoke_buffer_t *in = yoke_cts_buffer(t, yoke_cts_device(t), x_size);
    yoke_buffer_t *out = yoke_cts_buffer(t, yoke_cts_device(t), y_size);
    uint32_t local = yoke_cts_info(t)->max_group < 32 ? 1 : 32;
    yoke_argument_t arguments[3] = {yoke_argument_span(out, 0), yoke_argument_span(in, 0),
                                    yoke_argument_value(&n, 4)};
    yoke_cts_put(t, queue, in, 0, x, x_size);
    yoke_cts_launch(t, queue, kernel, (n + local - 1) / local, local, arguments, 3);
    yoke_cts_get(t, queue, out, 0, y, y_size);
}

static void float_function(yoke_cts_t *t)
{
    int64_t which = yoke_cts_parameter(t);
    float x[COUNT], y[COUNT];
    uint64_t state = 5 + (uint64_t)which;
    double low = float_ranges[which].low, high = float_ranges[which].high;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (float)(low + (high - low) * (double)(yoke_cts_random(&state) >> 11) /
                                 9007199254740992.0);
    run_xy(t, yoke_cts_program(t, "floats", float_source), float_names[which], y,
           sizeof y, x, sizeof x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double expected = float_oracle(which, x[i], x[COUNT - 1 - i]);
        float rounded = fabsf((float)expected);
        double ulp = (double)(nextafterf(rounded, INFINITY) - rounded);
        double allowed = (0.5 + float_ranges[which].ulps) * ulp;
        if (!(fabs((double)y[i] - expected) <= allowed))
            FAIL(t, "%s of a = %.9g, b = %.9g gives %.9g and should give %.9g",
                 float_names[which], (double)x[i], (double)x[COUNT - 1 - i], (double)y[i],
                 expected);
    }
}

/* --- integers ----------------------------------------------------------------------- */

/* y = x * 3 + 1, wrapping, in every type, with neighbours of x so that sizes count. */
#define INTEGER(type, wide)                                                              \
    "YOKE_KERNEL void t_" type "(YOKE_GLOBAL " type " *y, YOKE_GLOBAL const " type       \
    " *x, u32 n)\n"                                                                      \
    "{\n"                                                                                \
    "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"                                              \
    "    if (i < n)\n"                                                                   \
    "        y[i] = (" type ")((" wide ")x[i] * (" wide ")3 + (" wide ")1);\n"           \
    "}\n"
static const char integer_source[] =
    INTEGER("i8", "u32") INTEGER("u8", "u32") INTEGER("i16", "u32") INTEGER("u16", "u32")
        INTEGER("i32", "u32") INTEGER("u32", "u32") INTEGER("i64", "u64") INTEGER(
            "u64", "u64") "YOKE_CONSTANT u32 table[4] = {3u, 1u, 4u, 1u};\n"
                          "YOKE_FUNCTION u32 twice(u32 x)\n"
                          "{\n"
                          "    return x + x;\n"
                          "}\n"
                          "YOKE_KERNEL void sizes(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const "
                          "u32 *x, u32 n)\n"
                          "{\n"
                          "    if (YOKE_GLOBAL_ID(0) == 0 && n >= 9u) {\n"
                          "        y[0] = (u32)sizeof(i8); y[1] = (u32)sizeof(u8); y[2] "
                          "= (u32)sizeof(i16);\n"
                          "        y[3] = (u32)sizeof(u16); y[4] = (u32)sizeof(i32); "
                          "y[5] = (u32)sizeof(u32);\n"
                          "        y[6] = (u32)sizeof(i64); y[7] = (u32)sizeof(u64); "
                          "y[8] = (u32)sizeof(f32);\n"
                          "        y[9] = x[0];\n"
                          "    }\n"
                          "}\n"
                          "YOKE_KERNEL void constants(YOKE_GLOBAL u32 *y, YOKE_GLOBAL "
                          "const u32 *x, u32 n)\n"
                          "{\n"
                          "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
                          "    if (i < n)\n"
                          "        y[i] = twice(table[i & 3u]) + x[i];\n"
                          "}\n"
                          "YOKE_KERNEL void bits(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const "
                          "u32 *x, u32 n)\n"
                          "{\n"
                          "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
                          "    if (i < n)\n"
                          "        y[i] = YOKE_AS_U32(YOKE_AS_F32((x[i] & 0x9fffffffu) | "
                          "0x20000000u));\n"
                          "}\n"
                          "YOKE_KERNEL void signs(YOKE_GLOBAL i32 *y, YOKE_GLOBAL const "
                          "i8 *x, u32 n)\n"
                          "{\n"
                          "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
                          "    if (i < n)\n"
                          "        y[i] = (i32)x[i] / 3 + ((i32)x[i] >> 1) + (x[i] < 0 ? "
                          "1000 : 0);\n"
                          "}\n"
                          "YOKE_KERNEL void wide(YOKE_GLOBAL u64 *y, YOKE_GLOBAL const "
                          "u64 *x, u32 n)\n"
                          "{\n"
                          "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
                          "    if (i < n)\n"
                          "        y[i] = (x[i] >> 33) * (x[i] & 0xffffffffu) ^ (x[i] % "
                          "1000003u) ^\n"
                          "               (x[i] / 977u);\n"
                          "}\n"
                          "YOKE_KERNEL void loop(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const "
                          "u32 *x, u32 n)\n"
                          "{\n"
                          "    u32 i = (u32)YOKE_GLOBAL_ID(0), sum = 0u;\n"
                          "    if (i >= n)\n"
                          "        return;\n"
                          "    for (u32 j = 0u; j <= i; j++) {\n"
                          "        if (x[j] % 3u == 0u)\n"
                          "            continue;\n"
                          "        sum += x[j];\n"
                          "    }\n"
                          "    y[i] = sum;\n"
                          "}\n";

static yoke_program_t *integer_program(yoke_cts_t *t)
{
    return yoke_cts_program(t, "integers", integer_source);
}

static void integer_type(yoke_cts_t *t)
{
    static const char *const names[] = {"t_i8",  "t_u8",  "t_i16", "t_u16",
                                        "t_i32", "t_u32", "t_i64", "t_u64"};
    size_t size = (size_t)yoke_cts_second(t);
    unsigned char x[COUNT * 8], y[COUNT * 8], expected[COUNT * 8];
    yoke_cts_noise(x, sizeof x, 6);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t value = 0; /* little-endian, as all that the suite runs on */
        memcpy(&value, x + i * size, size);
        value = value * 3 + 1;
        memcpy(expected + i * size, &value, size);
    }
    run_xy(t, integer_program(t), names[yoke_cts_parameter(t)], y, COUNT * size, x,
           COUNT * size, COUNT);
    BYTES(t, "3 x + 1", expected, y, COUNT * size);
}

static void type_sizes(yoke_cts_t *t)
{
    static const uint32_t expected[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 99};
    uint32_t x[10] = {99}, y[10] = {0};
    run_xy(t, integer_program(t), "sizes", y, sizeof y, x, sizeof x, 10);
    BYTES(t, "sizes of types", expected, y, sizeof expected);
}

static void constants(yoke_cts_t *t)
{
    static const uint32_t table[] = {6, 2, 8, 2};
    uint32_t x[COUNT], y[COUNT], expected[COUNT];
    yoke_cts_noise(x, sizeof x, 7);
    for (size_t i = 0; i < COUNT; i++)
        expected[i] = table[i & 3] + x[i];
    run_xy(t, integer_program(t), "constants", y, sizeof y, x, sizeof x, COUNT);
    BYTES(t, "twice(table[i & 3]) + x", expected, y, sizeof y);
}

static void as_bits(yoke_cts_t *t)
{
    uint32_t x[COUNT], y[COUNT], expected[COUNT];
    yoke_cts_noise(x, sizeof x, 8);
    for (size_t i = 0; i < COUNT; i++) /* no subnormal: a device may flush it; no NaN */
        expected[i] = (x[i] & 0x9fffffffu) | 0x20000000u;
    run_xy(t, integer_program(t), "bits", y, sizeof y, x, sizeof x, COUNT);
    BYTES(t, "bits of f32", expected, y, sizeof y);
}

static void signs(yoke_cts_t *t)
{
    int8_t x[COUNT];
    int32_t y[COUNT], expected[COUNT];
    yoke_cts_noise(x, sizeof x, 9);
    for (size_t i = 0; i < COUNT; i++)
        expected[i] = x[i] / 3 + (int32_t)floor(x[i] / 2.0) + (x[i] < 0 ? 1000 : 0);
    run_xy(t, integer_program(t), "signs", y, sizeof y, x, sizeof x, COUNT);
    BYTES(t, "division and shift of negative numbers", expected, y, sizeof y);
}

static void wide(yoke_cts_t *t)
{
    uint64_t x[COUNT], y[COUNT], expected[COUNT];
    yoke_cts_noise(x, sizeof x, 10);
    for (size_t i = 0; i < COUNT; i++)
        expected[i] =
            (x[i] >> 33) * (x[i] & 0xffffffffu) ^ (x[i] % 1000003u) ^ (x[i] / 977u);
    run_xy(t, integer_program(t), "wide", y, sizeof y, x, sizeof x, COUNT);
    BYTES(t, "64-bit arithmetic", expected, y, sizeof y);
}

static void loops(yoke_cts_t *t)
{
    uint32_t x[COUNT], y[COUNT], expected[COUNT], sum = 0;
    yoke_cts_noise(x, sizeof x, 11);
    for (size_t i = 0; i < COUNT; i++)
        expected[i] = sum += x[i] % 3 == 0 ? 0 : x[i];
    run_xy(t, integer_program(t), "loop", y, sizeof y, x, sizeof x, COUNT);
    BYTES(t, "sums in a loop", expected, y, sizeof y);
}

/* --- f64 ---------------------------------------------------------------------------- */

static const char f64_source[] =
    "#ifdef YOKE_HAS_F64\n"
    "YOKE_KERNEL void square(YOKE_GLOBAL f64 *y, YOKE_GLOBAL const f64 *x, u32 n)\n"
    "{\n"
    "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
    "    if (i < n)\n"
    "        y[i] = x[i] * x[i] + (f64)1;\n"
    "}\n"
    "#endif\n";

static void f64_arithmetic(yoke_cts_t *t)
{
    double x[COUNT], y[COUNT];
    uint64_t state = 12;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (double)(yoke_cts_random(&state) >> 11) / 4503599627370496.0 - 1;
    run_xy(t, yoke_cts_program(t, "f64", f64_source), "square", y, sizeof y, x, sizeof x,
           COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        volatile double product = x[i] * x[i]; /* no contraction here either */
        if (y[i] != product + 1)
            FAIL(t, "%.17g squared and 1 gives %.17g", x[i], y[i]);
    }
}

/* --- small floats ------------------------------------------------------------------- */

#define FROM(name, bits)                                                                 \
    "YOKE_KERNEL void from_" name "(YOKE_GLOBAL u32 *y, YOKE_GLOBAL const " bits         \
    " *x, u32 n)\n"                                                                      \
    "{\n"                                                                                \
    "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"                                              \
    "    if (i < n)\n"                                                                   \
    "        y[i] = YOKE_AS_U32(" name "_to_f32(x[i]));\n"                               \
    "}\n"
#define TO(name, bits)                                                                   \
    "YOKE_KERNEL void to_" name "(YOKE_GLOBAL " bits                                     \
    " *y, YOKE_GLOBAL const u32 *x, u32 n)\n"                                            \
    "{\n"                                                                                \
    "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"                                              \
    "    if (i < n)\n"                                                                   \
    "        y[i] = f32_to_" name "(YOKE_AS_F32(x[i]));\n"                               \
    "}\n"
static const char small_source[] =
    FROM("f16", "u16") TO("f16", "u16") FROM("bf16", "u16") TO("bf16", "u16")
        FROM("f8e4m3", "u8") TO("f8e4m3", "u8") FROM("f8e5m2", "u8") TO("f8e5m2", "u8");

typedef struct format {
    const char *from, *to;
    yoke_element_t element;
} format_t;

static const format_t formats[] = {{"from_f16", "to_f16", YOKE_ELEMENT_F16},
                                   {"from_bf16", "to_bf16", YOKE_ELEMENT_BF16},
                                   {"from_f8e4m3", "to_f8e4m3", YOKE_ELEMENT_F8E4M3},
                                   {"from_f8e5m2", "to_f8e5m2", YOKE_ELEMENT_F8E5M2}};

static double decode(const format_t *f, uint32_t code)
{
    return yoke_cts_decode(yoke_cts_format(f->element), code);
}

static uint32_t largest(const format_t *f)
{
    return yoke_cts_largest(yoke_cts_format(f->element));
}

static size_t width(const format_t *f)
{
    return yoke_element_size(f->element);
}

static void small_decode(yoke_cts_t *t)
{
    const format_t *f = &formats[yoke_cts_parameter(t)];
    uint32_t n = width(f) == 2 ? 65536 : 256;
    uint8_t *x = yoke_cts_memory(t, n * 2u);
    uint32_t *y = yoke_cts_memory(t, n * 4u);
    for (uint32_t i = 0; i < n; i++)
        memcpy(x + i * width(f), &i, width(f));
    run_xy(t, yoke_cts_program(t, "small-floats", small_source), f->from, y, n * 4u, x,
           n * width(f), n);
    for (uint32_t i = 0; i < n; i++) {
        float expected = (float)decode(f, i), actual;
        memcpy(&actual, &y[i], 4);
        if (isnan(expected) ? !isnan(actual) : memcmp(&expected, &actual, 4) != 0)
            FAIL(t, "%s of 0x%x gives %.9g and should give %.9g", f->from, i,
                 (double)actual, (double)expected);
    }
}

/* Every value, the middle between each two, and what lies beside it; then noise. */
static uint32_t collect(const format_t *f, float *x, uint32_t most)
{
    uint32_t n = 0, step = width(f) == 2 ? 7 : 1;
    uint64_t state = 13;
    for (uint32_t code = 0; code < largest(f) && n + 8 < most / 2; code += step) {
        float value = (float)decode(f, code);
        float middle = (float)((decode(f, code) + decode(f, code + 1)) / 2);
        x[n++] = value;
        x[n++] = -middle;
        x[n++] = nextafterf(middle, 0);
        x[n++] = nextafterf(middle, INFINITY);
    }
    x[n++] = (float)decode(f, largest(f));
    x[n++] = -(float)decode(f, largest(f));
    while (n < most) {
        uint32_t bits = (uint32_t)yoke_cts_random(&state);
        memcpy(&x[n], &bits, 4);
        if (!isnan(x[n]) && !isinf(x[n]))
            n++;
    }
    return n;
}

static void small_encode(yoke_cts_t *t)
{
    enum { MOST = 40000 };
    const format_t *f = &formats[yoke_cts_parameter(t)];
    float *x = yoke_cts_memory(t, MOST * sizeof *x);
    uint8_t *y = yoke_cts_memory(t, MOST * 2);
    uint32_t n = collect(f, x, yoke_cts_is_slow(t) ? 4000 : MOST);
    run_xy(t, yoke_cts_program(t, "small-floats", small_source), f->to, y, n * width(f),
           x, n * 4u, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t actual = 0,
                 expected = yoke_cts_encode(yoke_cts_format(f->element), x[i]);
        memcpy(&actual, y + i * width(f), width(f));
        if (actual != expected)
            FAIL(t, "%s of %.9g gives 0x%x and should give 0x%x", f->to, (double)x[i],
                 actual, expected);
    }
}

static void small_specials(yoke_cts_t *t)
{
    const format_t *f = &formats[yoke_cts_parameter(t)];
    float x[4] = {NAN, INFINITY, -INFINITY, -0.0f};
    uint8_t y[8] = {0};
    uint32_t codes[4] = {0, 0, 0, 0};
    run_xy(t, yoke_cts_program(t, "small-floats", small_source), f->to, y, 4 * width(f),
           x, sizeof x, 4);
    for (size_t i = 0; i < 4; i++)
        memcpy(&codes[i], y + i * width(f), width(f));
    CHECK(t, isnan(decode(f, codes[0])));
    if (!yoke_cts_format(f->element)->finite) {
        CHECK(t, decode(f, codes[1]) == INFINITY);
        CHECK(t, decode(f, codes[2]) == -INFINITY);
    }
    CHECK(t, decode(f, codes[3]) == 0 && signbit(decode(f, codes[3])));
}

#define FLOAT_ROW(name, ...)                                                             \
    {"dialect/f32-" #name, YOKE_CAP_SOURCE, 0, float_function, F_##name, 0},
#define INTEGER_ROW(type, i, size)                                                       \
    {                                                                                    \
        "dialect/type-" type, YOKE_CAP_SOURCE, 0, integer_type, i, size                  \
    }
#define SMALL_ROWS(name, i)                                                              \
    {"dialect/from-" name, YOKE_CAP_SOURCE, 0, small_decode, i, 0},                      \
        {"dialect/to-" name, YOKE_CAP_SOURCE, 0, small_encode, i, 0},                    \
    {                                                                                    \
        "dialect/specials-" name, YOKE_CAP_SOURCE, 0, small_specials, i, 0               \
    }

static const yoke_cts_case_t cases[] = {
    FLOATS(FLOAT_ROW) INTEGER_ROW("i8", 0, 1),
    INTEGER_ROW("u8", 1, 1),
    INTEGER_ROW("i16", 2, 2),
    INTEGER_ROW("u16", 3, 2),
    INTEGER_ROW("i32", 4, 4),
    INTEGER_ROW("u32", 5, 4),
    INTEGER_ROW("i64", 6, 8),
    INTEGER_ROW("u64", 7, 8),
    {"dialect/type-sizes", YOKE_CAP_SOURCE, 0, type_sizes, 0, 0},
    {"dialect/constants-and-functions", YOKE_CAP_SOURCE, 0, constants, 0, 0},
    {"dialect/bits-of-f32", YOKE_CAP_SOURCE, 0, as_bits, 0, 0},
    {"dialect/signs", YOKE_CAP_SOURCE, 0, signs, 0, 0},
    {"dialect/wide", YOKE_CAP_SOURCE, 0, wide, 0, 0},
    {"dialect/loops", YOKE_CAP_SOURCE, 0, loops, 0, 0},
    {"dialect/f64", YOKE_CAP_SOURCE | YOKE_CAP_FP64, 0, f64_arithmetic, 0, 0},
    SMALL_ROWS("f16", 0),
    SMALL_ROWS("bf16", 1),
    SMALL_ROWS("f8e4m3", 2),
    SMALL_ROWS("f8e5m2", 3),
};

YOKE_CTS_GROUP(dialect, cases);
