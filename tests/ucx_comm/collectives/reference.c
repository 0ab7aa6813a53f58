/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/collectives/reference.h"

#include <math.h>
#include <string.h>

/* Binary formats: bits of exponent and fraction; `finite`: no infinity (fp8-e4m3). */
typedef struct format {
    int exponent, fraction;
    bool finite;
} format_t;

static const format_t formats[YOKE_ELEMENT_COUNT] = {
    [YOKE_ELEMENT_F64] = {11, 52, false}, [YOKE_ELEMENT_F32] = {8, 23, false},
    [YOKE_ELEMENT_F16] = {5, 10, false},  [YOKE_ELEMENT_BF16] = {8, 7, false},
    [YOKE_ELEMENT_F8E4M3] = {4, 3, true}, [YOKE_ELEMENT_F8E5M2] = {5, 2, false},
};

static bool is_real(yoke_element_t element)
{
    return formats[element].exponent != 0;
}

static uint64_t bits_of(const void *data, uint64_t index, yoke_element_t element)
{
    size_t size = yoke_element_size(element);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + index * size, size);
    return bits;
}

static long double decode(uint64_t bits, format_t format)
{
    int width = format.exponent + format.fraction;
    bool negative = (bits >> width) & 1;
    uint64_t fraction = bits & ((UINT64_C(1) << format.fraction) - 1);
    int exponent = (int)((bits >> format.fraction) & ((1u << format.exponent) - 1));
    int top = (1 << format.exponent) - 1, bias = top / 2;
    long double value;
    if (exponent == top && !format.finite)
        value = fraction == 0 ? INFINITY : NAN;
    else if (exponent == top && fraction == (UINT64_C(1) << format.fraction) - 1)
        value = NAN;
    else if (exponent == 0)
        value = ldexpl((long double)fraction, 1 - bias - format.fraction);
    else
        value = ldexpl((long double)(fraction | (UINT64_C(1) << format.fraction)),
                       exponent - bias - format.fraction);
    return negative ? -value : value;
}

/* Nearest value of the format, ties to even; too large: infinity, or the largest. */
static long double rounded(long double value, format_t format)
{
    if (value == 0 || isnan(value) || isinf(value))
        return value;
    int bias = ((1 << format.exponent) - 1) / 2, exponent;
    frexpl(value, &exponent);
    int unit = exponent - 1 - format.fraction;
    if (unit < 1 - bias - format.fraction)
        unit = 1 - bias - format.fraction;
    long double result = ldexpl(rintl(ldexpl(value, -unit)), unit);
    long double largest = format.finite ? ldexpl((1 << (format.fraction + 1)) - 2,
                                                 bias + 1 - format.fraction)
                                        : ldexpl(2 - ldexpl(1, -format.fraction), bias);
    if (fabsl(result) > largest)
        result = format.finite ? copysignl(largest, value) : copysignl(INFINITY, value);
    return result;
}

static uint64_t encode(long double value, format_t format)
{
    int bias = ((1 << format.exponent) - 1) / 2, exponent = 0;
    uint64_t sign =
        signbit(value) ? UINT64_C(1) << (format.exponent + format.fraction) : 0;
    value = fabsl(rounded(value, format));
    if (value == 0)
        return sign;
    if (isinf(value))
        return sign | (uint64_t)((1 << format.exponent) - 1) << format.fraction;
    frexpl(value, &exponent);
    exponent -= 1;
    if (exponent < 1 - bias)
        return sign | (uint64_t)ldexpl(value, bias - 1 + format.fraction);
    uint64_t fraction = (uint64_t)ldexpl(value, format.fraction - exponent) -
                        (UINT64_C(1) << format.fraction);
    return sign | (uint64_t)(exponent + bias) << format.fraction | fraction;
}

static bool is_signed(yoke_element_t element)
{
    return element == YOKE_ELEMENT_I8 || element == YOKE_ELEMENT_I32 ||
           element == YOKE_ELEMENT_I64;
}

static int64_t as_signed(uint64_t bits, yoke_element_t element)
{
    int unused = 64 - 8 * (int)yoke_element_size(element);
    return (int64_t)(bits << unused) >> unused;
}

long double reference_get(const void *data, uint64_t index, yoke_element_t element)
{
    uint64_t bits = bits_of(data, index, element);
    if (is_real(element))
        return decode(bits, formats[element]);
    return is_signed(element) ? (long double)as_signed(bits, element) : (long double)bits;
}

void reference_put(void *data, uint64_t index, yoke_element_t element, long double value)
{
    size_t size = yoke_element_size(element);
    uint64_t bits = is_real(element) ? encode(value, formats[element])
                    : value < 0      ? (uint64_t)(int64_t)value
                                     : (uint64_t)value;
    memcpy((char *)data + index * size, &bits, size);
}

/* --- integers: in 64 bits without a sign, cut to the element's size at the end -------
 */

static uint64_t integer(const void *const *inputs, int n, uint64_t index,
                        yoke_element_t element, yoke_reduction_t reduction)
{
    uint64_t result = bits_of(inputs[0], index, element);
    for (int i = 1; i < n; i++) {
        uint64_t next = bits_of(inputs[i], index, element);
        bool below = is_signed(element)
                         ? as_signed(next, element) < as_signed(result, element)
                         : next < result;
        if (reduction == YOKE_REDUCE_SUM || reduction == YOKE_REDUCE_AVG)
            result += next;
        else if (reduction == YOKE_REDUCE_PROD)
            result *= next;
        else if ((reduction == YOKE_REDUCE_MIN) == below)
            result = next;
    }
    int unused = 64 - 8 * (int)yoke_element_size(element);
    result = result << unused >> unused;
    if (reduction == YOKE_REDUCE_AVG)
        result = is_signed(element) ? (uint64_t)(as_signed(result, element) / n)
                                    : result / (uint64_t)n;
    return result << unused >> unused;
}

static long double of_integer(uint64_t bits, yoke_element_t element)
{
    return is_signed(element) ? (long double)as_signed(bits, element) : (long double)bits;
}

/* --- real numbers --------------------------------------------------------------------
 */

static reference_t real(const void *const *inputs, int n, uint64_t index,
                        yoke_element_t element, yoke_reduction_t reduction)
{
    long double sum = 0, magnitudes = 0, product = 1, most = 0;
    for (int i = 0; i < n; i++) {
        long double next = reference_get(inputs[i], index, element);
        sum += next;
        magnitudes += fabsl(next);
        product *= next;
        bool better = reduction == YOKE_REDUCE_MIN ? next < most : next > most;
        most = i == 0 || better ? next : most;
    }
    /* Half a unit in the last place at each of n - 1 operations and at one more, of the
     * largest that a partial sum can be; and the smallest number that is not 0, where
     * products run out of range below. */
    format_t format = formats[element];
    long double half = ldexpl(1, -format.fraction - 1), steps = n;
    long double tiny =
        ldexpl(1, 1 - ((1 << format.exponent) - 1) / 2 - format.fraction) * steps;
    reference_t result = {most, 0,
                          reduction == YOKE_REDUCE_MAX || reduction == YOKE_REDUCE_MIN};
    if (reduction == YOKE_REDUCE_PROD)
        result =
            (reference_t){product, 1.1L * steps * half * fabsl(product) + tiny, false};
    else if (!result.exact_bits)
        result = (reference_t){sum, 1.1L * steps * half * magnitudes, false};
    if (reduction == YOKE_REDUCE_AVG) {
        result.value /= n;
        result.slack = result.slack / n + half * fabsl(result.value) + tiny / steps;
    }
    return result;
}

reference_t reference_reduce(const void *const *inputs, int n, uint64_t index,
                             yoke_element_t element, yoke_reduction_t reduction)
{
    if (is_real(element))
        return real(inputs, n, index, element, reduction);
    uint64_t bits = integer(inputs, n, index, element, reduction);
    return (reference_t){of_integer(bits, element), 0, true};
}

bool reference_right(const void *data, uint64_t index, yoke_element_t element,
                     const reference_t *reference)
{
    long double found = reference_get(data, index, element);
    if (reference->exact_bits)
        return found == reference->value;
    return fabsl(found - reference->value) <= reference->slack;
}

/* --- inputs ---------------------------------------------------------------------------
 */

uint64_t reference_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* At most 6 of 17 ranks have a 1 (e5m2 counts to 8), at most 4 a 2 under products. */
static long double exact_value(uint64_t i, yoke_reduction_t reduction, int rank)
{
    uint64_t r = (uint64_t)rank;
    switch (reduction) {
    case YOKE_REDUCE_PROD:
        return (r + i) % 5 == 0 ? 2 : 1;
    case YOKE_REDUCE_MAX:
    case YOKE_REDUCE_MIN:
        return (long double)((r * 5 + i * 3) % 8);
    default:
        return (r * 7 + i) % 3 == 0 ? 1 : 0;
    }
}

void reference_fill(void *data, uint64_t count, yoke_element_t element,
                    yoke_reduction_t reduction, int rank, uint64_t seed, bool random)
{
    uint64_t state = seed * 1000003 + (uint64_t)rank;
    for (uint64_t i = 0; i < count; i++) {
        if (!random) {
            reference_put(data, i, element, exact_value(i, reduction, rank));
            continue;
        }
        uint64_t bits = reference_random(&state);
        if (!is_real(element)) {
            memcpy((char *)data + i * yoke_element_size(element), &bits,
                   yoke_element_size(element));
            continue;
        }
        long double value = ldexpl((long double)(bits >> 12), -52) + 0.5L;
        if (reduction ==
            YOKE_REDUCE_PROD) /* 0.75 .. 1.25: 17 of them keep e4m3 in range */
            value = value / 2 + 0.5L;
        reference_put(data, i, element, bits & 1 ? -value : value);
    }
}
