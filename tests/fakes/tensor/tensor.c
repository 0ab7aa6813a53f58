/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"
#include <math.h>
#include <string.h>

/* --- one element -------------------------------------------------------------------- */

typedef struct fake_value {
    double real;
    int64_t integer;
} fake_value_t;

size_t fake_element_size(fake_element_t element)
{
    static const size_t sizes[] = {0, 8, 4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1};
    return element < sizeof sizes / sizeof sizes[0] ? sizes[element] : 0;
}

static bool is_real(fake_element_t element)
{
    return element >= FAKE_F64 && element <= FAKE_BF16;
}

static float f16_to_f32(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    float mantissa = (float)(bits & 1023);
    float magnitude = exponent == 31  ? (bits & 1023 ? NAN : INFINITY)
                      : exponent == 0 ? ldexpf(mantissa, -24)
                                      : ldexpf(mantissa + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static uint16_t f32_to_f16(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    float magnitude = fabsf(value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 65520)
        return (uint16_t)(sign | 0x7c00);
    int exponent = magnitude < 0x1p-14f ? -14 : ilogbf(magnitude);
    /* in units of the last place; nearbyint rounds to even */
    float units = nearbyintf(ldexpf(magnitude, 10 - exponent));
    return (uint16_t)(sign | (uint16_t)((exponent + 14) * 1024 + (int)units));
}

static float bf16_to_f32(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t f32_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define LOAD(type)                                                                       \
    do {                                                                                 \
        type raw;                                                                        \
        memcpy(&raw, data, sizeof raw);                                                  \
        value.integer = (int64_t)raw;                                                    \
        value.real = (double)raw;                                                        \
    } while (0)

static fake_value_t load(fake_element_t element, const char *data)
{
    fake_value_t value = {0, 0};
    uint16_t half;
    switch (element) {
    case FAKE_F64:
        memcpy(&value.real, data, sizeof value.real);
        break;
    case FAKE_F32: {
        float raw;
        memcpy(&raw, data, sizeof raw);
        value.real = (double)raw;
        break;
    }
    case FAKE_F16:
    case FAKE_BF16:
        memcpy(&half, data, sizeof half);
        value.real = (double)(element == FAKE_F16 ? f16_to_f32(half) : bf16_to_f32(half));
        break;
    case FAKE_I8:
        LOAD(int8_t);
        break;
    case FAKE_U8:
    case FAKE_BOOL:
        LOAD(uint8_t);
        break;
    case FAKE_I16:
        LOAD(int16_t);
        break;
    case FAKE_U16:
        LOAD(uint16_t);
        break;
    case FAKE_I32:
        LOAD(int32_t);
        break;
    case FAKE_U32:
        LOAD(uint32_t);
        break;
    case FAKE_I64:
        LOAD(int64_t);
        break;
    case FAKE_U64:
        LOAD(uint64_t);
        break;
    case FAKE_ELEMENT_NONE:
        break;
    }
    return value;
}

static void store(fake_element_t element, char *data, fake_value_t value)
{
    float real = (float)value.real;
    uint64_t bits = (uint64_t)value.integer;
    uint16_t half;
    switch (element) {
    case FAKE_F64:
        memcpy(data, &value.real, sizeof value.real);
        break;
    case FAKE_F32:
        memcpy(data, &real, sizeof real);
        break;
    case FAKE_F16:
    case FAKE_BF16:
        half = element == FAKE_F16 ? f32_to_f16(real) : f32_to_bf16(real);
        memcpy(data, &half, sizeof half);
        break;
    case FAKE_BOOL:
        *data = value.integer != 0;
        break;
    default:
        memcpy(data, &bits, fake_element_size(element));
        break; /* little-endian */
    }
}

/* --- shapes ------------------------------------------------------------------------- */

void fake_tensor_dense(fake_tensor_t *tensor)
{
    int64_t stride = 1;
    for (int d = tensor->rank - 1; d >= 0; d--) {
        tensor->stride[d] = stride;
        stride *= tensor->shape[d];
    }
}

uint64_t fake_tensor_count(const fake_tensor_t *tensor)
{
    uint64_t count = 1;
    for (int d = 0; d < tensor->rank; d++)
        count *= (uint64_t)tensor->shape[d];
    return count;
}

static bool broadcasts_one(const fake_tensor_t *a, const fake_tensor_t *out)
{
    if (a->rank > out->rank)
        return false;
    for (int d = 0; d < a->rank; d++) {
        int64_t have = a->shape[a->rank - 1 - d], want = out->shape[out->rank - 1 - d];
        if (have != want && have != 1)
            return false;
    }
    return true;
}

bool fake_tensor_broadcasts(const fake_tensor_t *a, const fake_tensor_t *b,
                            const fake_tensor_t *out)
{
    if (!broadcasts_one(a, out) || (b != NULL && !broadcasts_one(b, out)))
        return false;
    for (int d = 0; d < out->rank; d++) {
        int64_t want = 1;
        if (d < a->rank && a->shape[a->rank - 1 - d] != 1)
            want = a->shape[a->rank - 1 - d];
        if (b != NULL && d < b->rank && b->shape[b->rank - 1 - d] != 1)
            want = b->shape[b->rank - 1 - d];
        if (out->shape[out->rank - 1 - d] != want)
            return false;
    }
    return true;
}

/* Address of the element of `tensor` that belongs to `index` of a tensor of `rank`. */
static char *at(const fake_tensor_t *tensor, const int64_t *index, int rank)
{
    int64_t offset = 0;
    for (int d = 0; d < tensor->rank; d++)
        if (tensor->shape[d] != 1)
            offset += index[rank - tensor->rank + d] * tensor->stride[d];
    return tensor->data + offset * (int64_t)fake_element_size(tensor->element);
}

static void unflatten(uint64_t flat, const int64_t *shape, int rank, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = (int64_t)(flat % (uint64_t)shape[d]);
        flat /= (uint64_t)shape[d];
    }
}

/* --- operators ---------------------------------------------------------------------- */

static double real_op(fake_operator_t op, double a, double b)
{
    switch (op) {
    case FAKE_ADD:
        return a + b;
    case FAKE_SUB:
        return a - b;
    case FAKE_MUL:
        return a * b;
    case FAKE_MAX:
        return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case FAKE_MIN:
        return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    }
    return NAN;
}

static int64_t integer_op(fake_operator_t op, int64_t a, int64_t b, bool is_unsigned)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    bool less = is_unsigned ? ua < ub : a < b;
    switch (op) {
    case FAKE_ADD:
        return (int64_t)(ua + ub);
    case FAKE_SUB:
        return (int64_t)(ua - ub);
    case FAKE_MUL:
        return (int64_t)(ua * ub);
    case FAKE_MAX:
        return less ? b : a;
    case FAKE_MIN:
        return less ? a : b;
    }
    return 0;
}

static fake_value_t rounded(double value, fake_element_t element)
{
    fake_value_t result = {element == FAKE_F64 ? value : (double)(float)value, 0};
    return result;
}

static int64_t wrapped_product(int64_t value, double factor)
{
    return (int64_t)((uint64_t)value * (uint64_t)(int64_t)factor);
}

void fake_tensor_binary(fake_operator_t op, const fake_tensor_t *a, double alpha,
                        const fake_tensor_t *b, double beta, const fake_tensor_t *out,
                        double gamma)
{
    uint64_t count = fake_tensor_count(out);
    for (uint64_t i = 0; i < count; i++) {
        int64_t index[FAKE_MAX_RANK];
        unflatten(i, out->shape, out->rank, index);
        fake_value_t x = load(a->element, at(a, index, out->rank));
        fake_value_t y = load(b->element, at(b, index, out->rank));
        char *target = at(out, index, out->rank);
        fake_value_t old = {0, 0};
        if (gamma != 0)
            old = load(out->element, target);
        if (is_real(a->element)) {
            /* each product and sum is rounded to f32, as a unit without a fused step does
             */
            x = rounded(x.real * alpha, a->element);
            y = rounded(y.real * beta, a->element);
            x = rounded(real_op(op, x.real, y.real), a->element);
            x.real += gamma * old.real;
        } else {
            x.integer = wrapped_product(x.integer, alpha);
            y.integer = wrapped_product(y.integer, beta);
            x.integer = integer_op(op, x.integer, y.integer, a->element == FAKE_U64);
            old.integer = wrapped_product(old.integer, gamma);
            x.integer = integer_op(FAKE_ADD, x.integer, old.integer, false);
        }
        store(out->element, target, x);
    }
}

static double dot(const fake_tensor_t *a, const fake_tensor_t *b, const char *row,
                  const char *column, int64_t k)
{
    int64_t a_step = a->stride[a->rank - 1] * (int64_t)fake_element_size(a->element);
    int64_t b_step = b->stride[b->rank - 2] * (int64_t)fake_element_size(b->element);
    double wide = 0;
    float sum = 0;
    for (int64_t i = 0; i < k; i++) {
        double x = load(a->element, row + i * a_step).real;
        double y = load(b->element, column + i * b_step).real;
        wide += x * y;
        sum += (float)x * (float)y;
    }
    return a->element == FAKE_F64 ? wide : (double)sum;
}

void fake_tensor_matmul(const fake_tensor_t *a, const fake_tensor_t *b,
                        const fake_tensor_t *out, double alpha, double beta)
{
    uint64_t count = fake_tensor_count(out);
    for (uint64_t i = 0; i < count; i++) {
        int64_t index[FAKE_MAX_RANK], left[FAKE_MAX_RANK], right[FAKE_MAX_RANK];
        unflatten(i, out->shape, out->rank, index);
        memcpy(left, index, sizeof left);
        memcpy(right, index, sizeof right);
        left[out->rank - 1] = 0;
        right[out->rank - 2] = 0;
        fake_value_t value = {dot(a, b, at(a, left, out->rank), at(b, right, out->rank),
                                  a->shape[a->rank - 1]),
                              0};
        char *target = at(out, index, out->rank);
        value.real *= alpha;
        if (beta != 0)
            value.real += beta * load(out->element, target).real;
        store(out->element, target, value);
    }
}

static int64_t saturated(double value, fake_element_t element)
{
    int bits = (int)fake_element_size(element) * 8;
    bool is_unsigned = element == FAKE_U8 || element == FAKE_U16 || element == FAKE_U32 ||
                       element == FAKE_U64;
    double low = is_unsigned ? 0 : -ldexp(1, bits - 1);
    double high = ldexp(1, is_unsigned ? bits : bits - 1);
    if (isnan(value))
        return 0;
    if (value <= low)
        return is_unsigned ? 0 : (int64_t)low;
    if (value >= high)
        return bits == 64 ? (is_unsigned ? -1 : INT64_MAX) : (int64_t)high - 1;
    return value < 0x1p63 ? (int64_t)value : (int64_t)(uint64_t)value;
}

void fake_tensor_cast(const fake_tensor_t *from, const fake_tensor_t *to)
{
    uint64_t count = fake_tensor_count(to);
    for (uint64_t i = 0; i < count; i++) {
        int64_t index[FAKE_MAX_RANK];
        unflatten(i, to->shape, to->rank, index);
        fake_value_t value = load(from->element, at(from, index, to->rank));
        if (is_real(from->element) && !is_real(to->element))
            value.integer = to->element == FAKE_BOOL ? value.real != 0
                                                     : saturated(value.real, to->element);
        store(to->element, at(to, index, to->rank), value);
    }
}
