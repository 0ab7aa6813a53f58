/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of host memory against the reference, with every instruction set here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ucx_comm/collectives/reference.h"
#include "ucx_comm/collectives/reduce.h"
#include "ucx_comm/collectives/reduce_loops.h"

#define LOOPS 2
static const yoke_reduce_loops_t *loops[LOOPS];

static void find_loops(void)
{
    loops[0] = &yoke_reduce_loops_base;
#ifdef YOKE_REDUCE_HAS_AVX2
    if (__builtin_cpu_supports("avx2"))
        loops[1] = &yoke_reduce_loops_avx2;
#endif
}

static bool is_small(yoke_element_t element)
{
    return element == YOKE_ELEMENT_F16 || element == YOKE_ELEMENT_BF16 ||
           element == YOKE_ELEMENT_F8E4M3 || element == YOKE_ELEMENT_F8E5M2;
}

/* What an operation on two values of a small type must give, by the reference. */
static long double expected_of(long double a, long double b, yoke_reduction_t op)
{
    if (op == YOKE_REDUCE_SUM)
        return (float)(a + b);
    if (op == YOKE_REDUCE_PROD)
        return (float)(a * b);
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b) /* +0 is above -0 */
        return (op == YOKE_REDUCE_MAX) == !signbit(a) ? a : b;
    return (op == YOKE_REDUCE_MAX) == (a > b) ? a : b;
}

/* Equal in bits; a NaN is the one that all operations give. */
static bool same(yoke_element_t element, const unsigned char *found, long double value)
{
    unsigned char right[8] = {0};
    const size_t size = yoke_element_size(element);
    if (isnan(value)) {
        const uint16_t nan = element == YOKE_ELEMENT_F16      ? 0x7e00
                             : element == YOKE_ELEMENT_BF16   ? 0x7fc0
                             : element == YOKE_ELEMENT_F8E4M3 ? 0x7f
                                                              : 0x7e;
        memcpy(right, &nan, size);
    } else {
        reference_put(right, 0, element, value);
    }
    return memcmp(found, right, size) == 0;
}

/* --- pairs -------------------------------------------------------------------------- */

static void check_pairs(yoke_element_t element, const unsigned char *a,
                        const unsigned char *b, size_t count)
{
    const size_t size = yoke_element_size(element);
    unsigned char *result = malloc(count * size);
    for (int l = 0; l < LOOPS && loops[l] != NULL; l++)
        for (int op = 0; op < YOKE_REDUCE_LOOPS; op++) {
            loops[l]->two[element][op](result, a, b, count);
            for (size_t i = 0; i < count; i++) {
                const long double x = reference_get(a, i, element);
                const long double y = reference_get(b, i, element);
                const long double right = expected_of(x, y, (yoke_reduction_t)op);
                if (!same(element, result + i * size, right))
                    fail_msg("loops %d, %s %s of %Lg and %Lg: not %Lg but %Lg", l,
                             yoke_element_name(element),
                             yoke_reduction_name((yoke_reduction_t)op), x, y, right,
                             reference_get(result, i, element));
            }
        }
    free(result);
}

static void test_fp8_all_pairs(void **state)
{
    (void)state;
    const size_t count = 65536;
    unsigned char *a = malloc(count), *b = malloc(count);
    for (size_t i = 0; i < count; i++) {
        a[i] = (unsigned char)(i >> 8);
        b[i] = (unsigned char)i;
    }
    check_pairs(YOKE_ELEMENT_F8E4M3, a, b, count);
    check_pairs(YOKE_ELEMENT_F8E5M2, a, b, count);
    free(a);
    free(b);
}

/* Every value of the 16-bit types with a few others, one of them random. */
static void test_16_bits_all_values(void **state)
{
    (void)state;
    static const uint16_t others[] = {0x0000, 0x8000, 0x3c00, 0x0001, 0x7bff, 0x7f7f,
                                      0xffff, 0x3f80, 0xfc00, 0x7f80, 0x2f00, 0};
    const size_t count = 65536;
    uint16_t *a = malloc(count * 2), *b = malloc(count * 2);
    uint64_t random = 5;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        for (size_t i = 0; i < count; i++) {
            a[i] = (uint16_t)i;
            b[i] = k == 11 ? (uint16_t)reference_random(&random) : others[k];
        }
        check_pairs(YOKE_ELEMENT_F16, (unsigned char *)a, (unsigned char *)b, count);
        check_pairs(YOKE_ELEMENT_BF16, (unsigned char *)a, (unsigned char *)b, count);
    }
    free(a);
    free(b);
}

/* Rounding of f32: around every value of the type and every middle between two. */
static void test_narrow(void **state)
{
    (void)state;
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++) {
        const yoke_element_t element = (yoke_element_t)e;
        if (!is_small(element))
            continue;
        const size_t size = yoke_element_size(element), codes = size == 1 ? 256 : 65536;
        float *from = malloc(codes * 6 * sizeof *from);
        unsigned char *to = malloc(codes * 6 * size);
        size_t n = 0;
        for (size_t code = 0; code < codes; code++) {
            const uint16_t bits[2] = {(uint16_t)code, (uint16_t)(code + 1)};
            const float x = (float)reference_get(&bits[0], 0, element);
            const float next = (float)reference_get(&bits[1], 0, element);
            const float middle = x + (next - x) / 2;
            const float around[6] = {
                x,      nextafterf(x, INFINITY),      nextafterf(x, -INFINITY),
                middle, nextafterf(middle, INFINITY), nextafterf(middle, -INFINITY)};
            memcpy(from + n, around, sizeof around);
            n += 6;
        }
        for (int l = 0; l < LOOPS && loops[l] != NULL; l++) {
            loops[l]->narrow[element](to, from, n);
            for (size_t i = 0; i < n; i++)
                if (!same(element, to + i * size, (long double)from[i]))
                    fail_msg("loops %d, %s of %a", l, yoke_element_name(element),
                             (double)from[i]);
        }
        free(from);
        free(to);
    }
}

/* --- all types ---------------------------------------------------------------------- */

#define MOST 9
#define COUNT 4103 /* over a block, and no whole number of vectors */

static void check_many(yoke_element_t element, yoke_reduction_t op, unsigned n,
                       size_t shift, int in_place, bool random)
{
    const size_t size = yoke_element_size(element);
    static unsigned char memory[MOST + 1][COUNT * 8 + 64],
        originals[MOST][COUNT * 8 + 64];
    const void *sources[MOST], *kept[MOST];
    const uint64_t count = 1 + (shift * 379 + n * 1021) % COUNT;
    for (unsigned i = 0; i < n; i++) {
        reference_fill(memory[i] + shift, count, element, op, (int)i, n, random);
        memcpy(originals[i], memory[i], sizeof memory[i]);
        sources[i] = memory[i] + shift;
        kept[i] = originals[i] + shift;
    }
    unsigned char *dst = memory[in_place >= 0 ? in_place : MOST] + (in_place < 0) + shift;
    dst -= in_place < 0 && shift == 0; /* other alignments too */
    memset(in_place < 0 ? dst + count * size : memory[MOST], 0x5a, 8);
    yoke_reduce_many(dst, sources, n, count, element, op, n);
    for (uint64_t i = 0; i < count; i++) {
        const reference_t right = reference_reduce(kept, (int)n, i, element, op);
        if (!reference_right(dst, i, element, &right))
            fail_msg("%s %s of %u, element %llu of %llu: %Lg, not %Lg",
                     yoke_element_name(element), yoke_reduction_name(op), n,
                     (unsigned long long)i, (unsigned long long)count,
                     reference_get(dst, i, element), right.value);
    }
    for (int i = 0; i < 8 && in_place < 0; i++)
        assert_int_equal(dst[count * size + (size_t)i], 0x5a);
}

static void test_many(void **state)
{
    (void)state;
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
        for (int op = 0; op < YOKE_REDUCTION_COUNT; op++)
            for (unsigned n = 1; n <= MOST; n += n < 4 ? 1 : 5)
                for (int in_place = -1; in_place < (int)n; in_place += 2)
                    check_many((yoke_element_t)e, (yoke_reduction_t)op, n,
                               (size_t)(e * 5 + op + (int)n) % 16, in_place,
                               (n + (unsigned)op) % 2 == 0);
}

/* One rounding: 256 + 1 + 1 + 1 + 1 in bf16 is 260, not 256. */
static void test_one_rounding(void **state)
{
    (void)state;
    const uint16_t parts[5] = {0x4380, 0x3f80, 0x3f80, 0x3f80, 0x3f80};
    const void *sources[5];
    uint16_t result = 0;
    for (int first = 0; first < 5; first++) {
        for (int i = 0; i < 5; i++)
            sources[i] = &parts[(first + i) % 5];
        yoke_reduce_many(&result, sources, 5, 1, YOKE_ELEMENT_BF16, YOKE_REDUCE_SUM, 0);
        assert_int_equal(result, 0x4382);
    }
}

static void test_scale(void **state)
{
    (void)state;
    int8_t bytes[4] = {-7, 7, -128, 127};
    int32_t ints[4] = {-7, 7, INT32_MIN, INT32_MAX};
    uint32_t words[2] = {UINT32_MAX, 10};
    int64_t longs[2] = {INT64_MIN, -5};
    uint64_t largest = UINT64_MAX;
    uint16_t half = 0x4200; /* 3 */
    yoke_reduce_scale(bytes, 4, YOKE_ELEMENT_I8, 2);
    yoke_reduce_scale(ints, 4, YOKE_ELEMENT_I32, 2);
    yoke_reduce_scale(words, 2, YOKE_ELEMENT_U32, 3);
    yoke_reduce_scale(longs, 2, YOKE_ELEMENT_I64, 3);
    yoke_reduce_scale(&largest, 1, YOKE_ELEMENT_U64, 5);
    yoke_reduce_scale(&half, 1, YOKE_ELEMENT_F16, 2);
    assert_true(bytes[0] == -3 && bytes[1] == 3 && bytes[2] == -64 && bytes[3] == 63);
    assert_true(ints[0] == -3 && ints[1] == 3 && ints[2] == INT32_MIN / 2 &&
                ints[3] == INT32_MAX / 2);
    assert_true(words[0] == UINT32_MAX / 3 && words[1] == 3);
    assert_true(longs[0] == INT64_MIN / 3 && longs[1] == -1);
    assert_true(largest == UINT64_MAX / 5);
    assert_int_equal(half, 0x3e00);
    yoke_reduce_scale(NULL, 0, YOKE_ELEMENT_F16, 2);
}

/* f32 and f64: NaN, infinities, signed zeros; the order of the two does not matter. */
static void test_specials(void **state)
{
    (void)state;
    const uint32_t values[] = {0x00000000, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000,
                               0x7fc12345, 0xffc00001, 0x7f800001, 0x00000001};
    const size_t n = sizeof values / sizeof values[0];
    for (size_t i = 0; i < n * n; i++)
        for (int op = 0; op < YOKE_REDUCE_LOOPS; op++) {
            uint32_t ab = 0, ba = 0;
            const uint32_t a = values[i / n], b = values[i % n];
            yoke_reduce_pair(&ab, &a, &b, 1, YOKE_ELEMENT_F32, (yoke_reduction_t)op);
            yoke_reduce_pair(&ba, &b, &a, 1, YOKE_ELEMENT_F32, (yoke_reduction_t)op);
            assert_int_equal(ab, ba);
            if ((a & 0x7fffffff) > 0x7f800000 || (b & 0x7fffffff) > 0x7f800000)
                assert_int_equal(ab, 0x7fc00000);
        }
    const double zeros[2] = {-0.0, 0.0};
    double most = 1, least = 1;
    yoke_reduce_pair(&most, &zeros[0], &zeros[1], 1, YOKE_ELEMENT_F64, YOKE_REDUCE_MAX);
    yoke_reduce_pair(&least, &zeros[1], &zeros[0], 1, YOKE_ELEMENT_F64, YOKE_REDUCE_MIN);
    assert_true(!signbit(most) && signbit(least));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp8_all_pairs), cmocka_unit_test(test_16_bits_all_values),
        cmocka_unit_test(test_narrow),        cmocka_unit_test(test_many),
        cmocka_unit_test(test_one_rounding),  cmocka_unit_test(test_scale),
        cmocka_unit_test(test_specials),
    };
    find_loops();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
