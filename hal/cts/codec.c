/* SPDX-License-Identifier: Apache-2.0 */
/* Small floats by search among all their values. */
#include "hal/cts/codec.h"

#include <math.h>
#include <string.h>

const yoke_cts_format_t *yoke_cts_format(yoke_element_t element)
{
    static const yoke_cts_format_t formats[] = {
        {5, 10, false}, {8, 7, false}, {4, 3, true}, {5, 2, false}};
    switch (element) {
    case YOKE_ELEMENT_F16:
        return &formats[0];
    case YOKE_ELEMENT_BF16:
        return &formats[1];
    case YOKE_ELEMENT_F8E4M3:
        return &formats[2];
    case YOKE_ELEMENT_F8E5M2:
        return &formats[3];
    default:
        return NULL;
    }
}

/* Value of a code, from the definition. */
double yoke_cts_decode(const yoke_cts_format_t *f, uint32_t code)
{
    uint32_t mantissa = code & ((1u << f->mantissa) - 1);
    uint32_t exponent = code >> f->mantissa & ((1u << f->exponent) - 1);
    uint32_t top = (1u << f->exponent) - 1;
    double sign = (code >> (f->mantissa + f->exponent) & 1) != 0 ? -1 : 1;
    int bias = (1 << (f->exponent - 1)) - 1;
    if (exponent == top && !f->finite)
        return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == top && mantissa == (1u << f->mantissa) - 1)
        return NAN;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - f->mantissa);
    return sign *
           ldexp((1u << f->mantissa) + mantissa, (int)exponent - bias - f->mantissa);
}

uint32_t yoke_cts_largest(const yoke_cts_format_t *f)
{
    uint32_t top = (1u << (f->exponent + f->mantissa)) - 1;
    return f->finite ? top - 1 : top - (1u << f->mantissa);
}

/* Nearest code, ties to even, by search. */
uint32_t yoke_cts_encode(const yoke_cts_format_t *f, double value)
{
    uint32_t sign = signbit(value) ? 1u << (f->exponent + f->mantissa) : 0;
    uint32_t low = 0, high = yoke_cts_largest(f);
    double a = fabs(value);
    double last_step = yoke_cts_decode(f, high) - yoke_cts_decode(f, high - 1);
    if (a >= yoke_cts_decode(f, high) + last_step / 2)
        return sign | (f->finite ? high : high + 1);
    if (a >= yoke_cts_decode(f, high))
        return sign | high;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(yoke_cts_decode(f, middle) <= a ? &low : &high) = middle;
    }
    double below = a - yoke_cts_decode(f, low), above = yoke_cts_decode(f, high) - a;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

double yoke_cts_load(yoke_element_t element, const void *array, size_t index)
{
    const yoke_cts_format_t *f = yoke_cts_format(element);
    if (f != NULL) {
        uint32_t code = 0;
        size_t size = f->exponent + f->mantissa == 15 ? 2 : 1;
        memcpy(&code, (const char *)array + index * size, size);
        return yoke_cts_decode(f, code);
    }
    return element == YOKE_ELEMENT_F64 ? ((const double *)array)[index]
                                       : (double)((const float *)array)[index];
}

void yoke_cts_store(yoke_element_t element, void *array, size_t index, double value)
{
    const yoke_cts_format_t *f = yoke_cts_format(element);
    if (f != NULL) {
        size_t size = f->exponent + f->mantissa == 15 ? 2 : 1;
        uint32_t code = isnan(value) ? (1u << (f->exponent + f->mantissa)) - 1
                                     : yoke_cts_encode(f, value);
        memcpy((char *)array + index * size, &code, size);
    } else if (element == YOKE_ELEMENT_F64) {
        ((double *)array)[index] = value;
    } else {
        ((float *)array)[index] = (float)value;
    }
}
