/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/operators/support.h"

bench_t bench;
const yoke_element_t layer_elements[3] = {YOKE_ELEMENT_F32, YOKE_ELEMENT_F16,
                                          YOKE_ELEMENT_BF16};

/* Formats of arXiv:2209.05433, IEEE 754 binary16 and bfloat16: exponent bits, mantissa
 * bits, and whether the largest exponent is infinity. */
typedef struct format {
    int exponent, mantissa;
    bool infinity;
} format_t;

static format_t format_of(yoke_element_t element)
{
    switch ((int)element) {
    case YOKE_ELEMENT_F16:
        return (format_t){5, 10, true};
    case YOKE_ELEMENT_BF16:
        return (format_t){8, 7, true};
    case YOKE_ELEMENT_F8E4M3:
        return (format_t){4, 3, false};
    default:
        return (format_t){5, 2, true};
    }
}

bool is_float(yoke_element_t element)
{
    return element <= YOKE_ELEMENT_F8E5M2;
}

bool is_signed(yoke_element_t element)
{
    return is_float(element) || element == YOKE_ELEMENT_I8 ||
           element == YOKE_ELEMENT_I32 || element == YOKE_ELEMENT_I64;
}

static long double decode_small(format_t f, uint32_t bits)
{
    uint32_t top = (1u << f.exponent) - 1;
    uint32_t field = bits >> f.mantissa & top;
    uint32_t rest = bits & ((1u << f.mantissa) - 1);
    int bias = (1 << (f.exponent - 1)) - 1;
    long double value;
    if (field == top && (f.infinity || rest == (1u << f.mantissa) - 1))
        value = f.infinity && rest == 0 ? INFINITY : (long double)NAN;
    else if (field == 0)
        value = ldexpl(rest, 1 - bias - f.mantissa);
    else
        value = ldexpl(rest + (1u << f.mantissa), (int)field - bias - f.mantissa);
    return bits >> (f.exponent + f.mantissa) & 1 ? -value : value;
}

/* By search among all values: nearest, and of two the one with an even pattern. */
static uint32_t encode_small(format_t f, long double value)
{
    uint32_t sign = signbit(value) ? 1u << (f.exponent + f.mantissa) : 0;
    uint32_t low = 0;
    uint32_t infinity = ((1u << f.exponent) - 1) << f.mantissa;
    uint32_t most = f.infinity ? infinity - 1 : infinity + (1u << f.mantissa) - 2;
    uint32_t high = most;
    long double magnitude = fabsl(value);
    if (isnan(value))
        return sign | (f.infinity ? infinity + 1 : most + 1);
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (decode_small(f, middle) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    long double below = decode_small(f, low);
    long double above = low < most ? decode_small(f, low + 1)
                                   : below + (below - decode_small(f, low - 1));
    if (magnitude - below > above - magnitude ||
        (magnitude - below == above - magnitude && low % 2 != 0))
        low++;
    if (low > most)
        low = f.infinity ? infinity : most;
    return sign | low;
}

long double decode(yoke_element_t element, const void *memory, uint64_t i)
{
    switch ((int)element) {
    case YOKE_ELEMENT_F64:
        return ((const double *)memory)[i];
    case YOKE_ELEMENT_F32:
        return ((const float *)memory)[i];
    case YOKE_ELEMENT_F16:
    case YOKE_ELEMENT_BF16:
        return decode_small(format_of(element), ((const uint16_t *)memory)[i]);
    case YOKE_ELEMENT_I8:
        return ((const int8_t *)memory)[i];
    case YOKE_ELEMENT_U8:
        return ((const uint8_t *)memory)[i];
    case YOKE_ELEMENT_I32:
        return ((const int32_t *)memory)[i];
    case YOKE_ELEMENT_U32:
        return ((const uint32_t *)memory)[i];
    case YOKE_ELEMENT_I64:
        return (long double)((const int64_t *)memory)[i];
    case YOKE_ELEMENT_U64:
        return (long double)((const uint64_t *)memory)[i];
    default:
        return decode_small(format_of(element), ((const uint8_t *)memory)[i]);
    }
}

static void encode_integer(yoke_element_t element, long double value, void *memory,
                           uint64_t i)
{
    size_t size = yoke_element_size(element);
    int bits = (int)size * 8;
    long double most = ldexpl(1, is_signed(element) ? bits - 1 : bits) - 1;
    long double least = is_signed(element) ? -most - 1 : 0;
    value = isnan(value) ? 0 : truncl(value);
    value = value > most ? most : value < least ? least : value;
    uint64_t pattern = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    memcpy((char *)memory + i * size, &pattern, size);
}

void encode(yoke_element_t element, long double value, void *memory, uint64_t i)
{
    switch ((int)element) {
    case YOKE_ELEMENT_F64:
        ((double *)memory)[i] = (double)value;
        break;
    case YOKE_ELEMENT_F32:
        ((float *)memory)[i] = (float)value;
        break;
    case YOKE_ELEMENT_F16:
    case YOKE_ELEMENT_BF16:
        ((uint16_t *)memory)[i] = (uint16_t)encode_small(format_of(element), value);
        break;
    case YOKE_ELEMENT_F8E4M3:
    case YOKE_ELEMENT_F8E5M2:
        ((uint8_t *)memory)[i] = (uint8_t)encode_small(format_of(element), value);
        break;
    default:
        encode_integer(element, value, memory, i);
    }
}

long double rounded(yoke_element_t element, long double value)
{
    uint64_t memory = 0;
    encode(element, value, &memory, 0);
    return decode(element, &memory, 0);
}

double noise(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13; /* xorshift */
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

#define GUARD 3u
#define GUARD_BYTE 0x5a

tensor_t tensor_new(yoke_element_t element, uint64_t count, double range)
{
    tensor_t tensor = {.element = element, .count = count};
    uint64_t size = yoke_element_size(element);
    OK(yoke_buffer_create(bench.device, YOKE_MEMORY_DEVICE, (count + 2 * GUARD) * size,
                          &tensor.buffer));
    tensor.span = yoke_span(tensor.buffer, GUARD * size);
    tensor.value = calloc(count + 1, sizeof *tensor.value);
    assert_non_null(tensor.value);
    for (uint64_t i = 0; i < count; i++) {
        long double x = noise();
        if (range == 0)
            x = x * 0x1p31L * (size == 8 ? 0x1p32L + noise() : size == 4 ? 1 : 0x1p-24L);
        else
            x *= range;
        tensor.value[i] = rounded(element, is_signed(element) ? x : fabsl(x));
    }
    tensor_write(&tensor);
    return tensor;
}

void tensor_write(tensor_t *tensor)
{
    uint64_t size = yoke_element_size(tensor->element);
    unsigned char *memory = malloc((tensor->count + 2 * GUARD) * size);
    assert_non_null(memory);
    memset(memory, GUARD_BYTE, (tensor->count + 2 * GUARD) * size);
    for (uint64_t i = 0; i < tensor->count; i++)
        encode(tensor->element, tensor->value[i], memory + GUARD * size, i);
    OK(yoke_queue_write(bench.queue, yoke_span(tensor->buffer, 0), memory,
                        (tensor->count + 2 * GUARD) * size));
    OK(yoke_queue_sync(bench.queue));
    free(memory);
}

void tensor_read(tensor_t *tensor)
{
    uint64_t size = yoke_element_size(tensor->element);
    uint64_t bytes = (tensor->count + 2 * GUARD) * size;
    unsigned char *memory = malloc(bytes);
    assert_non_null(memory);
    OK(yoke_queue_read(bench.queue, memory, yoke_span(tensor->buffer, 0), bytes));
    OK(yoke_queue_sync(bench.queue));
    for (uint64_t i = 0; i < GUARD * size; i++)
        if (memory[i] != GUARD_BYTE || memory[bytes - 1 - i] != GUARD_BYTE)
            fail_msg("%s: written outside a tensor", bench.name);
    for (uint64_t i = 0; i < tensor->count; i++)
        tensor->value[i] = decode(tensor->element, memory + GUARD * size, i);
    free(memory);
}

void tensor_free(tensor_t *tensor)
{
    yoke_buffer_destroy(tensor->buffer);
    free(tensor->value);
}

long double *copy_values(const tensor_t *tensor)
{
    long double *copy = malloc((tensor->count + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, tensor->value, tensor->count * sizeof *copy);
    return copy;
}

void check_exact(const char *what, const tensor_t *tensor, const long double *expected)
{
    for (uint64_t i = 0; i < tensor->count; i++)
        if (tensor->value[i] != expected[i] &&
            !(isnan(tensor->value[i]) && isnan(expected[i])))
            fail_msg("%s: %s of %s, %llu of %llu: %.20Lg, should be %.20Lg", bench.name,
                     what, yoke_element_name(tensor->element), (unsigned long long)i,
                     (unsigned long long)tensor->count, tensor->value[i], expected[i]);
}

double step_of(yoke_element_t element)
{
    return element == YOKE_ELEMENT_F64    ? 0x1p-52
           : element == YOKE_ELEMENT_F32  ? 0x1p-23
           : element == YOKE_ELEMENT_F16  ? 0x1p-10
           : element == YOKE_ELEMENT_BF16 ? 0x1p-7
                                          : 0x1p-2;
}

void check_near(const char *what, const tensor_t *tensor, const long double *expected,
                double tolerance)
{
    for (uint64_t i = 0; i < tensor->count; i++) {
        long double off = fabsl(tensor->value[i] - expected[i]);
        long double allowed = tolerance * (1 + fabsl(expected[i])) +
                              step_of(tensor->element) * fabsl(expected[i]);
        if (tensor->value[i] != expected[i] && !(off <= allowed))
            fail_msg("%s: %s of %s, %llu of %llu: %.9Lg, should be %.9Lg (off by %.3Lg, "
                     "allowed %.3Lg)",
                     bench.name, what, yoke_element_name(tensor->element),
                     (unsigned long long)i, (unsigned long long)tensor->count,
                     tensor->value[i], expected[i], off, allowed);
    }
}

bool tested(yoke_element_t element)
{
    return (bench.elements >> element & 1) != 0;
}
