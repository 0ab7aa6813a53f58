/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of the fake collective libraries. */
#include "ccl.h"
#include <math.h>
#include <string.h>

size_t ccl_size(ccl_type_t type)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 0};
    return sizes[type];
}

/* ---- floats of few bits: e exponent and m mantissa bits; `finite`: no infinity ------
 */

typedef struct format {
    int e, m;
    bool finite;
} format_t;

static const format_t *format_of(ccl_type_t type)
{
    static const format_t f16 = {5, 10, false}, bf16 = {8, 7, false};
    static const format_t e4m3 = {4, 3, true}, e5m2 = {5, 2, false};
    return type == CCL_F16    ? &f16
           : type == CCL_BF16 ? &bf16
           : type == CCL_E4M3 ? &e4m3
           : type == CCL_E5M2 ? &e5m2
                              : NULL;
}

static double decode(unsigned bits, const format_t *f)
{
    int bias = (1 << (f->e - 1)) - 1, top = (1 << f->e) - 1;
    int exponent = (int)(bits >> f->m) & top;
    unsigned mantissa = bits & ((1u << f->m) - 1);
    double sign = bits >> (f->e + f->m) != 0 ? -1 : 1;
    if (exponent == top && (!f->finite || mantissa == (1u << f->m) - 1))
        return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - f->m);
    return sign * ldexp(mantissa + (1u << f->m), exponent - bias - f->m);
}

static unsigned encode(double value, const format_t *f)
{
    int bias = (1 << (f->e - 1)) - 1, exponent = 0;
    unsigned sign = signbit(value) ? 1u << (f->e + f->m) : 0;
    unsigned infinity = ((1u << f->e) - 1) << f->m;
    unsigned highest = f->finite ? (1u << (f->e + f->m)) - 2 : infinity;
    if (isnan(value))
        return sign | ((1u << (f->e + f->m)) - 1);
    if (value == 0)
        return sign;
    if (isinf(value))
        return sign | highest;
    frexp(value, &exponent);
    exponent--;
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    if (exponent > bias + 1)
        return sign | highest;
    double steps = nearbyint(ldexp(fabs(value), f->m - exponent));
    unsigned bits =
        ((unsigned)(exponent + bias) << f->m) + (unsigned)steps - (1u << f->m);
    return sign | (bits > highest ? highest : bits);
}

/* ---- one element ------------------------------------------------------------------- */

typedef union number {
    double real;
    uint64_t whole; /* two's complement, widened */
} number_t;

static bool is_real(ccl_type_t type)
{
    return type >= CCL_F16;
}

static bool is_signed(ccl_type_t type)
{
    return type == CCL_I8 || type == CCL_I16 || type == CCL_I32 || type == CCL_I64;
}

static number_t read_number(const void *at, ccl_type_t type)
{
    number_t n = {.whole = 0};
    float f32;
    size_t size = ccl_size(type);
    if (type == CCL_F64) {
        memcpy(&n.real, at, 8);
    } else if (type == CCL_F32) {
        memcpy(&f32, at, 4);
        n.real = (double)f32;
    } else if (is_real(type)) {
        uint64_t bits = 0;
        memcpy(&bits, at, size);
        n.real = decode((unsigned)bits, format_of(type));
    } else {
        memcpy(&n.whole, at, size);
        unsigned spare = 64 - 8 * (unsigned)size;
        if (is_signed(type) && spare > 0)
            n.whole = (uint64_t)((int64_t)(n.whole << spare) >> spare);
    }
    return n;
}

static void write_number(void *at, ccl_type_t type, number_t n)
{
    if (type == CCL_F64) {
        memcpy(at, &n.real, 8);
    } else if (type == CCL_F32) {
        float f32 = (float)n.real;
        memcpy(at, &f32, 4);
    } else if (is_real(type)) {
        uint64_t bits = encode(n.real, format_of(type));
        memcpy(at, &bits, ccl_size(type));
    } else {
        memcpy(at, &n.whole, ccl_size(type));
    }
}

static double real_of(double a, double b, ccl_op_t op)
{
    switch (op) {
    case CCL_PROD:
        return a * b;
    case CCL_MAX:
        return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    case CCL_MIN:
        return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    default:
        return a + b;
    }
}

static uint64_t whole_of(uint64_t a, uint64_t b, ccl_op_t op, bool with_sign)
{
    bool less = with_sign ? (int64_t)a < (int64_t)b : a < b;
    switch (op) {
    case CCL_PROD:
        return a * b;
    case CCL_MAX:
        return less ? b : a;
    case CCL_MIN:
        return less ? a : b;
    default:
        return a + b;
    }
}

static number_t average(number_t sum, ccl_type_t type, int ranks)
{
    if (is_real(type))
        sum.real /= ranks;
    else if (is_signed(type))
        sum.whole = (uint64_t)((int64_t)sum.whole / ranks);
    else
        sum.whole /= (uint64_t)ranks;
    return sum;
}

void ccl_reduce(void *out, const void *const *parts, int ranks, uint64_t count,
                ccl_type_t type, ccl_op_t op)
{
    size_t size = ccl_size(type);
    char last[8];
    for (uint64_t i = 0; i < count; i++) {
        number_t all = read_number((const char *)parts[0] + i * size, type);
        for (int r = 1; r < ranks; r++) {
            number_t next = read_number((const char *)parts[r] + i * size, type);
            if (is_real(type))
                all.real = real_of(all.real, next.real, op);
            else
                all.whole = whole_of(all.whole, next.whole, op, is_signed(type));
            if (!is_real(type) || type == CCL_F32) { /* in its own width */
                write_number(last, type, all);
                all = read_number(last, type);
            }
        }
        if (op == CCL_AVG)
            all = average(all, type, ranks);
        write_number((char *)out + i * size, type, all);
    }
}
