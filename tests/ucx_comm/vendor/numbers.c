/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/vendor/numbers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sign, exponent and mantissa bits of halves / 2, which is exact. */
static uint64_t float_bits(int halves, int exponent_bits, int mantissa_bits)
{
    unsigned value = (unsigned)abs(halves);
    uint64_t sign = halves < 0 ? UINT64_C(1) << (exponent_bits + mantissa_bits) : 0;
    int top = 0;
    if (value == 0)
        return 0;
    while (value >> (top + 1) != 0)
        top++;
    uint64_t mantissa = value - (1u << top); /* of `top` bits */
    mantissa = top <= mantissa_bits ? mantissa << (mantissa_bits - top)
                                    : mantissa >> (top - mantissa_bits);
    int exponent = top - 1 + (1 << (exponent_bits - 1)) - 1;
    return sign | ((uint64_t)exponent << mantissa_bits) | mantissa;
}

void number_put(void *at, yoke_element_t element, int halves)
{
    uint64_t bits;
    switch (element) {
    case YOKE_ELEMENT_F64:
        bits = float_bits(halves, 11, 52);
        break;
    case YOKE_ELEMENT_F32:
        bits = float_bits(halves, 8, 23);
        break;
    case YOKE_ELEMENT_F16:
        bits = float_bits(halves, 5, 10);
        break;
    case YOKE_ELEMENT_BF16:
        bits = float_bits(halves, 8, 7);
        break;
    case YOKE_ELEMENT_F8E4M3:
        bits = float_bits(halves, 4, 3);
        break;
    case YOKE_ELEMENT_F8E5M2:
        bits = float_bits(halves, 5, 2);
        break;
    default:
        bits = (uint64_t)(int64_t)(halves / 2);
        break;
    }
    memcpy(at, &bits, yoke_element_size(element));
}

static bool has_sign(yoke_element_t element)
{
    return element != YOKE_ELEMENT_U8 && element != YOKE_ELEMENT_U32 &&
           element != YOKE_ELEMENT_U64;
}

int number_given(yoke_reduction_t reduction, yoke_element_t element, int rank, int i)
{
    switch (reduction) {
    case YOKE_REDUCE_PROD:
        return 1 + (rank + i) % 2;
    case YOKE_REDUCE_MAX:
    case YOKE_REDUCE_MIN:
        return (rank * 3 + i * 5) % 7 - (has_sign(element) ? 3 : 0);
    case YOKE_REDUCE_AVG: /* the sum over n ranks is 0 + 1 + ... + n - 1 */
        return rank;
    default:
        return (rank + i) % 3;
    }
}

int number_reduced(yoke_reduction_t reduction, yoke_element_t element, int ranks, int i)
{
    int all = number_given(reduction, element, 0, i);
    for (int r = 1; r < ranks; r++) {
        int next = number_given(reduction, element, r, i);
        if (reduction == YOKE_REDUCE_PROD)
            all *= next;
        else if (reduction == YOKE_REDUCE_MAX)
            all = next > all ? next : all;
        else if (reduction == YOKE_REDUCE_MIN)
            all = next < all ? next : all;
        else
            all += next;
    }
    return reduction == YOKE_REDUCE_AVG ? 2 * all / ranks : 2 * all;
}
