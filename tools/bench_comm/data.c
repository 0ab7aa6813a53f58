/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs, and the results that they must have. */
#include <math.h>
#include <string.h>

#include "tools/bench_comm/bench_comm.h"

const char *bench_collective_name(bench_collective_t collective)
{
    static const char *const names[BENCH_COLLECTIVES] = {
        "all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce",
        "gather",     "scatter",    "all-to-all",     "barrier"};
    return collective < BENCH_COLLECTIVES ? names[collective] : NULL;
}

bool bench_reduces(bench_collective_t collective)
{
    return collective == BENCH_ALL_REDUCE || collective == BENCH_REDUCE_SCATTER ||
           collective == BENCH_REDUCE;
}

bool bench_has_root(bench_collective_t collective)
{
    return collective == BENCH_BROADCAST || collective == BENCH_REDUCE ||
           collective == BENCH_GATHER || collective == BENCH_SCATTER;
}

bool bench_has_blocks(bench_collective_t collective)
{
    return collective == BENCH_ALL_GATHER || collective == BENCH_REDUCE_SCATTER ||
           collective == BENCH_GATHER || collective == BENCH_SCATTER ||
           collective == BENCH_ALL_TO_ALL;
}

uint64_t bench_size(const bench_case_t *c, int ranks)
{
    const uint64_t blocks = bench_has_blocks(c->collective) ? (uint64_t)ranks : 1;
    return c->count * blocks * yoke_element_size(c->element);
}

double bench_bus_factor(bench_collective_t collective, int ranks)
{
    const double share = (double)(ranks - 1) / ranks;
    if (collective == BENCH_ALL_REDUCE)
        return 2 * share;
    return bench_has_blocks(collective) ? share : 1;
}

/* --- small whole numbers in every type ---------------------------------------------- */

#define LARGEST 16 /* product of four twos */

/* Bits of a number that the type holds exactly. */
static uint64_t encode(unsigned value, yoke_element_t element)
{
    static const struct {
        int exponent, mantissa;
    } formats[YOKE_ELEMENT_COUNT] = {
        [YOKE_ELEMENT_F64] = {11, 52},  [YOKE_ELEMENT_F32] = {8, 23},
        [YOKE_ELEMENT_F16] = {5, 10},   [YOKE_ELEMENT_BF16] = {8, 7},
        [YOKE_ELEMENT_F8E4M3] = {4, 3}, [YOKE_ELEMENT_F8E5M2] = {5, 2}};
    const int mantissa = formats[element].mantissa;
    if (mantissa == 0 || value == 0)
        return value;
    int power = 0;
    while (value >> (power + 1) != 0)
        power++;
    const uint64_t bias = ((uint64_t)1 << (formats[element].exponent - 1)) - 1;
    const uint64_t fraction = value - ((uint64_t)1 << power);
    return (bias + (uint64_t)power) << mantissa |
           (mantissa >= power ? fraction << (mantissa - power)
                              : fraction >> (power - mantissa));
}

/* At most four ranks have a number that is not the neutral one. */
static unsigned input_of(const bench_case_t *c, int rank, int ranks, uint64_t i)
{
    const uint64_t step = ((uint64_t)ranks + 3) / 4, r = (uint64_t)rank;
    const bool takes_part = (i + r) % step == 0;
    if (!bench_reduces(c->collective))
        return (unsigned)((i * 5 + r * 3 + (i >> 10)) % 8);
    if (c->reduction == YOKE_REDUCE_MAX || c->reduction == YOKE_REDUCE_MIN)
        return (unsigned)((i * 3 + r * 5) % 8);
    if (c->reduction == YOKE_REDUCE_PROD)
        return takes_part && (i / 3 + r) % 2 == 0 ? 2 : 1;
    return takes_part ? (unsigned)((i / 2 + r) % 3) : 0;
}

static unsigned reduced_of(const bench_case_t *c, int ranks, uint64_t i)
{
    unsigned result = input_of(c, 0, ranks, i);
    for (int r = 1; r < ranks; r++) {
        const unsigned next = input_of(c, r, ranks, i);
        if (c->reduction == YOKE_REDUCE_PROD)
            result *= next;
        else if (c->reduction == YOKE_REDUCE_MAX)
            result = next > result ? next : result;
        else if (c->reduction == YOKE_REDUCE_MIN)
            result = next < result ? next : result;
        else
            result += next;
    }
    return result;
}

void bench_fill(const bench_case_t *c, int rank, int ranks, void *send, uint64_t count)
{
    const size_t size = yoke_element_size(c->element);
    uint64_t codes[LARGEST + 1];
    for (unsigned v = 0; v <= LARGEST; v++)
        codes[v] = encode(v, c->element);
    for (uint64_t i = 0; i < count; i++)
        memcpy((char *)send + i * size, &codes[input_of(c, rank, ranks, i)], size);
}

uint64_t bench_send_count(const bench_case_t *c, int rank, int ranks)
{
    switch (c->collective) {
    case BENCH_REDUCE_SCATTER:
    case BENCH_ALL_TO_ALL:
        return c->count * (uint64_t)ranks;
    case BENCH_SCATTER:
        return rank == c->root ? c->count * (uint64_t)ranks : 0;
    case BENCH_BROADCAST:
        return rank == c->root ? c->count : 0;
    default:
        return c->count;
    }
}

uint64_t bench_recv_count(const bench_case_t *c, int rank, int ranks)
{
    switch (c->collective) {
    case BENCH_ALL_GATHER:
    case BENCH_ALL_TO_ALL:
        return c->count * (uint64_t)ranks;
    case BENCH_GATHER:
        return rank == c->root ? c->count * (uint64_t)ranks : 0;
    case BENCH_REDUCE:
        return rank == c->root ? c->count : 0;
    default:
        return c->count;
    }
}

/* --- checking ----------------------------------------------------------------------- */

/* An average is no whole number. */
static double decode(const void *at, yoke_element_t element)
{
    uint64_t bits = 0;
    memcpy(&bits, at, yoke_element_size(element));
    double value = 0;
    float single = 0;
    int exponent, mantissa, bias;
    switch (element) {
    case YOKE_ELEMENT_F64:
        memcpy(&value, at, sizeof value);
        return value;
    case YOKE_ELEMENT_F32:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case YOKE_ELEMENT_F16:
        exponent = 5, mantissa = 10;
        break;
    case YOKE_ELEMENT_BF16:
        exponent = 8, mantissa = 7;
        break;
    case YOKE_ELEMENT_F8E4M3:
        exponent = 4, mantissa = 3;
        break;
    case YOKE_ELEMENT_F8E5M2:
        exponent = 5, mantissa = 2;
        break;
    default:
        return (double)bits;
    }
    bias = (1 << (exponent - 1)) - 1;
    const int power = (int)(bits >> mantissa);
    const double fraction =
        (double)(bits & (((uint64_t)1 << mantissa) - 1)) / (double)(1u << mantissa);
    return power == 0 ? ldexp(fraction, 1 - bias) : ldexp(1 + fraction, power - bias);
}

static bool average_right(const void *at, yoke_element_t element, unsigned sum, int ranks)
{
    static const double slack[YOKE_ELEMENT_COUNT] = {
        [YOKE_ELEMENT_F64] = 0x1p-52,   [YOKE_ELEMENT_F32] = 0x1p-23,
        [YOKE_ELEMENT_F16] = 0x1p-10,   [YOKE_ELEMENT_BF16] = 0x1p-7,
        [YOKE_ELEMENT_F8E4M3] = 0x1p-3, [YOKE_ELEMENT_F8E5M2] = 0x1p-2};
    const double found = decode(at, element);
    if (slack[element] == 0)
        return found == (double)(sum / (unsigned)ranks);
    const double right = (double)sum / ranks;
    return fabs(found - right) <= right * slack[element];
}

/* The number that element i of recv must be. */
static unsigned expected_of(const bench_case_t *c, int rank, int ranks, uint64_t i)
{
    switch (c->collective) {
    case BENCH_ALL_GATHER:
    case BENCH_GATHER:
        return input_of(c, (int)(i / c->count), ranks, i % c->count);
    case BENCH_ALL_TO_ALL:
        return input_of(c, (int)(i / c->count), ranks,
                        (uint64_t)rank * c->count + i % c->count);
    case BENCH_SCATTER:
        return input_of(c, c->root, ranks, (uint64_t)rank * c->count + i);
    case BENCH_BROADCAST:
        return input_of(c, c->root, ranks, i);
    case BENCH_REDUCE_SCATTER:
        return reduced_of(c, ranks, (uint64_t)rank * c->count + i);
    default:
        return reduced_of(c, ranks, i);
    }
}

uint64_t bench_wrong(const bench_case_t *c, int rank, int ranks, const void *recv)
{
    const size_t size = yoke_element_size(c->element);
    const bool average = bench_reduces(c->collective) && c->reduction == YOKE_REDUCE_AVG;
    const uint64_t count = bench_recv_count(c, rank, ranks);
    uint64_t codes[LARGEST + 1], wrong = 0;
    for (unsigned v = 0; v <= LARGEST; v++)
        codes[v] = encode(v, c->element);
    for (uint64_t i = 0; i < count; i++) {
        const unsigned right = expected_of(c, rank, ranks, i);
        const void *at = (const char *)recv + i * size;
        if (average)
            wrong += !average_right(at, c->element, right, ranks);
        else
            wrong += right > LARGEST || memcmp(at, &codes[right], size) != 0;
    }
    return wrong;
}
