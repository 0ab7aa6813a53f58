/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions of the dialect as devices run them, against a reference in double
 * arithmetic: every value of the small types, every value and midpoint and its
 * neighbours, and a million others of f32. usage: test_conversions DEVICE
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "yoke/kernel.h"

typedef struct type {
    const char *name;
    int bits, mantissa, bias;
    bool finite_only; /* e4m3: no infinity, the largest code is NaN */
} type_t;

static const type_t types[4] = {{"f16", 16, 10, 15, false},
                                {"bf16", 16, 7, 127, false},
                                {"f8e4m3", 8, 3, 7, true},
                                {"f8e5m2", 8, 2, 15, false}};

/* --- the reference ------------------------------------------------------------------ */

static double value_of(const type_t *type, uint32_t code)
{
    uint32_t magnitude = code & ((1u << (type->bits - 1)) - 1);
    uint32_t exponent = magnitude >> type->mantissa;
    uint32_t top = (1u << (type->bits - 1 - type->mantissa)) - 1;
    uint32_t fraction = magnitude & ((1u << type->mantissa) - 1);
    double value;
    if (type->finite_only ? magnitude == (1u << (type->bits - 1)) - 1 : exponent == top)
        value = fraction != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - type->bias - type->mantissa);
    else
        value = ldexp(fraction + (double)(1u << type->mantissa),
                      (int)exponent - type->bias - type->mantissa);
    return (code >> (type->bits - 1)) != 0 ? -value : value;
}

static uint32_t largest(const type_t *type)
{
    uint32_t all = (1u << (type->bits - 1)) - 1;
    return type->finite_only ? all - 1 : (all >> type->mantissa << type->mantissa) - 1;
}

/* NaN is left to the caller. */
static uint32_t code_of(const type_t *type, double x)
{
    uint32_t sign = signbit(x) ? 1u << (type->bits - 1) : 0, most = largest(type);
    double a = fabs(x);
    if (a == 0)
        return sign;
    if (isinf(a))
        return sign | (type->finite_only ? most : most + 1);
    int exponent = ilogb(a) < 1 - type->bias ? 1 - type->bias : ilogb(a);
    double unit = ldexp(1, exponent - type->mantissa);
    double rounded = nearbyint(a / unit) * unit; /* ties to even */
    if (rounded > value_of(type, most))
        return sign | (type->finite_only ? most : most + 1);
    if (rounded < ldexp(1, 1 - type->bias))
        return sign | (uint32_t)(rounded / ldexp(1, 1 - type->bias - type->mantissa));
    exponent = ilogb(rounded);
    uint32_t fraction = (uint32_t)(rounded / ldexp(1, exponent - type->mantissa));
    return sign | (((uint32_t)(exponent + type->bias) << type->mantissa) +
                   (fraction - (1u << type->mantissa)));
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

/* --- running ------------------------------------------------------------------------ */

#define MAX_COUNT (65536u * 6 + 1000000)

static yoke_device_t *device;
static yoke_queue_t *queue;
static yoke_kernel_t *widen, *narrow;
static yoke_buffer_t *in, *out;
static uint32_t given[MAX_COUNT], got[MAX_COUNT];

static bool run(yoke_kernel_t *kernel, uint32_t what, uint32_t count)
{
    yoke_argument_t arguments[] = {yoke_argument_span(out, 0), yoke_argument_span(in, 0),
                                   yoke_argument_value(&what, 4),
                                   yoke_argument_value(&count, 4)};
    yoke_launch_t launch = {{(count + 63) / 64, 1, 1}, {64, 1, 1}};
    return yoke_queue_write(queue, yoke_span(in, 0), given, 4ull * count) == YOKE_OK &&
           yoke_kernel_launch(queue, kernel, &launch, arguments, 4) == YOKE_OK &&
           yoke_queue_read(queue, got, yoke_span(out, 0), 4ull * count) == YOKE_OK &&
           yoke_queue_sync(queue) == YOKE_OK;
}

static int check_widen(uint32_t what)
{
    const type_t *type = &types[what];
    uint32_t count = 1u << type->bits;
    for (uint32_t i = 0; i < count; i++)
        given[i] = i;
    if (!run(widen, what, count))
        return 1;
    for (uint32_t i = 0; i < count; i++) {
        double expected = value_of(type, i);
        float x = float_of(got[i]);
        bool right = isnan(expected)
                         ? isnan(x)
                         : (double)x == expected && !signbit(x) == !signbit(expected);
        if (!right) {
            printf("%s %#x: %a, not %a\n", type->name, i, (double)x, expected);
            return 1;
        }
    }
    return 0;
}

/* Values, midpoints and both neighbours; then anything. */
static uint32_t choose(const type_t *type)
{
    uint32_t count = 0, state = 12345;
    for (uint32_t code = 0; code < 1u << type->bits; code++) {
        double a = value_of(type, code), b = value_of(type, code + 1);
        uint32_t value = bits_of((float)a), middle = bits_of((float)((a + b) / 2));
        const uint32_t near[] = {value,      middle,     value + 1,
                                 value - 1u, middle + 1, middle - 1u};
        for (size_t i = 0; i < 6; i++)
            given[count++] = near[i];
    }
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001,
                                     0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
                                     0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000,
                                     0xffffffff, 0x7fffffff, 0xff800001, 0x33000000};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        given[count++] = edges[i];
    while (count < MAX_COUNT && count < 65536 * 6 + 16 + 999000) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes, 7.1 */
        given[count++] = state ^ state >> 15;
    }
    return count;
}

static int check_narrow(uint32_t what)
{
    const type_t *type = &types[what];
    uint32_t count = choose(type);
    if (!run(narrow, what, count))
        return 1;
    for (uint32_t i = 0; i < count; i++) {
        float x = float_of(given[i]);
        bool right = isnan(x)
                         ? isnan(value_of(type, got[i])) && got[i] >> type->bits == 0 &&
                               (given[i] >> 31) == got[i] >> (type->bits - 1)
                         : got[i] == code_of(type, x);
        if (!right) {
            printf("%a to %s: %#x, not %#x\n", (double)x, type->name, got[i],
                   code_of(type, x));
            return 1;
        }
    }
    return 0;
}

static int prepare(const char *name)
{
    char path[4096], *text = NULL;
    yoke_program_t *program = NULL;
    yoke_device_info_t info = {.struct_size = sizeof info};
    if (yoke_device_open(name, NULL, &device) != YOKE_OK) {
        printf("skipped: %s\n", yoke_last_error());
        return 77;
    }
    if (yoke_device_info(device, &info) != YOKE_OK ||
        (info.capabilities & YOKE_CAP_SOURCE) == 0) {
        printf("skipped: %s compiles no source here\n", name);
        return 77;
    }
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .flags = YOKE_PROGRAM_NO_CACHE};
    snprintf(path, sizeof path, "%s/tests/kernels/conversions.c",
             getenv("YOKE_SOURCE_DIR"));
    if (yoke_file_read(path, 0, &text, &options.size) != YOKE_OK)
        return 1;
    options.data = text;
    yoke_status_t status = yoke_program_create(device, &options, &program);
    free(text);
    bool good =
        status == YOKE_OK && yoke_kernel_create(program, "widen", &widen) == YOKE_OK &&
        yoke_kernel_create(program, "narrow", &narrow) == YOKE_OK &&
        yoke_queue_create(device, NULL, &queue) == YOKE_OK &&
        yoke_buffer_create(device, YOKE_MEMORY_DEVICE, sizeof given, &in) == YOKE_OK &&
        yoke_buffer_create(device, YOKE_MEMORY_DEVICE, sizeof got, &out) == YOKE_OK;
    yoke_program_destroy(program);
    if (!good)
        printf("%s\n", yoke_last_error());
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    int failed = prepare(argc > 1 ? argv[1] : "host");
    for (uint32_t what = 0; what < 4 && failed == 0; what++)
        failed = check_widen(what) + check_narrow(what);
    yoke_kernel_destroy(widen);
    yoke_kernel_destroy(narrow);
    yoke_buffer_destroy(in);
    yoke_buffer_destroy(out);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    return failed;
}
