/* SPDX-License-Identifier: Apache-2.0 */
/* Selection and entries, against the plain way: sort, and dense vectors. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ucx_comm/compression/entries.h"

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static float random_value(int kind)
{
    if (kind == 0)
        return (float)(int)(next_random() % 7) - 3; /* many ties, zeros */
    if (kind == 1)
        return (float)((int)next_random() - (1 << 23)) * 0x1p-20F;
    return ldexpf((float)next_random(), (int)(next_random() % 80) - 60);
}

static int descending(const void *a, const void *b)
{
    float left = fabsf(*(const float *)a), right = fabsf(*(const float *)b);
    return (left < right) - (left > right);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    value = fabsf(value);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void threshold_is_the_kth_of_a_sort(void **unused)
{
    (void)unused;
    static uint32_t scratch[YOKE_SELECT_SCRATCH];
    for (int round = 0; round < 300; round++) {
        uint64_t n = 1 + next_random() % 2000;
        float *values = malloc(n * sizeof *values);
        float *sorted = malloc(n * sizeof *sorted);
        for (uint64_t i = 0; i < n; i++)
            sorted[i] = values[i] = random_value(round % 3);
        qsort(sorted, n, sizeof *sorted, descending);
        uint64_t k = next_random() % (n + 2);
        yoke_threshold_t threshold = yoke_select_largest(values, n, k, scratch);
        uint64_t above = 0, equal = 0;
        for (uint64_t i = 0; i < n; i++) {
            above += bits_of(values[i]) > threshold.bits;
            equal += bits_of(values[i]) == threshold.bits;
        }
        if (k > 0 && k < n) {
            assert_int_equal(threshold.bits, bits_of(sorted[k - 1]));
            assert_int_equal(above + threshold.ties, k);
            assert_true(threshold.ties <= equal);
        } else if (k == 0) {
            assert_int_equal(above + threshold.ties, 0);
        } else {
            assert_true(above + threshold.ties >= n);
        }
        free(values);
        free(sorted);
    }
}

static void not_numbers_are_the_largest(void **unused)
{
    (void)unused;
    static uint32_t scratch[YOKE_SELECT_SCRATCH];
    float values[] = {1, -INFINITY, 2, NAN, 3};
    yoke_threshold_t threshold = yoke_select_largest(values, 5, 2, scratch);
    assert_int_equal(threshold.bits, bits_of(INFINITY));
    assert_int_equal(threshold.ties, 1);
}

static void every_element_has_one_owner(void **unused)
{
    (void)unused;
    const uint64_t counts[] = {1, 2, 7, 64, 1000, 4097, 65536, 70001, 300007};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t ranks = 1; ranks <= 9; ranks++) {
            yoke_owners_t owners = yoke_owners_of(counts[i], ranks, false);
            unsigned char *seen = calloc(counts[i], 1);
            uint64_t longest = 0, shortest = UINT64_MAX;
            for (uint32_t owner = 0; owner < ranks; owner++) {
                uint64_t length = yoke_owner_length(&owners, owner);
                longest = length > longest ? length : longest;
                shortest = length < shortest ? length : shortest;
                for (uint64_t number = 0; number < length; number++) {
                    uint64_t index = yoke_owner_index(&owners, owner, number);
                    assert_true(index < counts[i] && seen[index] == 0);
                    seen[index] = 1;
                }
            }
            assert_null(memchr(seen, 0, counts[i]));
            assert_true(longest - shortest <= owners.stripe);
            free(seen);
        }
}

/* What is packed and what is kept make the vector; what is added is what was packed. */
static void entries_and_rest_make_the_vector(void **unused)
{
    (void)unused;
    static uint32_t scratch[YOKE_SELECT_SCRATCH];
    for (int round = 0; round < 60; round++) {
        uint64_t n = 1 + next_random() % 150000;
        uint32_t ranks = 1 + next_random() % 5;
        bool halves = next_random() % 2;
        float *values = malloc(n * sizeof *values);
        float *before = malloc(n * sizeof *before);
        float *put = calloc(n, sizeof *put);
        for (uint64_t i = 0; i < n; i++)
            before[i] = values[i] = random_value(round % 2);
        uint64_t k = next_random() % n, total = 0;
        yoke_owners_t owners = yoke_owners_of(n, ranks, halves);
        yoke_picker_t picker = {.threshold = yoke_select_largest(values, n, k, scratch)};
        for (uint32_t owner = 0; owner < ranks; owner++) {
            uint64_t length = yoke_owner_length(&owners, owner), entries;
            unsigned char *message =
                malloc(yoke_entries_size(length, length, halves) + 1);
            size_t size = yoke_entries_pack(&owners, owner, &picker, values, true, length,
                                            message, &entries);
            assert_int_equal(size, yoke_entries_size(length, entries, halves));
            assert_true(yoke_entries_check(message, size, length, halves));
            float *own = calloc(length + 1, sizeof *own);
            yoke_entries_add(message, length, halves, own);
            yoke_entries_put(message, &owners, owner, 1, put);
            for (uint64_t i = 0; i < length; i++)
                assert_true(own[i] == put[yoke_owner_index(&owners, owner, i)]);
            total += entries;
            free(own);
            free(message);
        }
        assert_int_equal(total, k);
        for (uint64_t i = 0; i < n; i++)
            assert_true(put[i] + values[i] == before[i] &&
                        (halves || put[i] == 0 || values[i] == 0));
        free(values);
        free(before);
        free(put);
    }
}

static void bad_messages_are_refused(void **unused)
{
    (void)unused;
    /* 70,000 elements are two blocks; entries 5 and 9 of the first, 1 of the second */
    unsigned char good[8 + 3 * 6];
    uint32_t counts[2] = {2, 1};
    float values[3] = {1, 2, 3};
    uint16_t numbers[3] = {5, 9, 1};
    memcpy(good, counts, 8);
    memcpy(good + 8, values, 12);
    memcpy(good + 20, numbers, 6);
    assert_true(yoke_entries_check(good, sizeof good, 70000, false));
    for (size_t size = 0; size < sizeof good; size++) /* cut short */
        assert_false(yoke_entries_check(good, size, 70000, false));
    assert_false(
        yoke_entries_check(good, sizeof good, 65536 + 1, false)); /* 1 is past the end */
    assert_false(yoke_entries_check(good, sizeof good, 65536, false)); /* one block */
    unsigned char bad[sizeof good];
    memcpy(bad, good, sizeof good);
    uint32_t many = UINT32_MAX;
    memcpy(bad, &many, 4);
    assert_false(yoke_entries_check(bad, sizeof bad, 70000, false));
    memcpy(bad, good, sizeof good);
    memcpy(bad + 20, &numbers[1], 2); /* twice the same */
    assert_false(yoke_entries_check(bad, sizeof bad, 70000, false));
}

/* Importance sampling: about k entries, and no bias. */
static void draws_are_unbiased(void **unused)
{
    (void)unused;
    enum { N = 500, CALLS = 4000 };
    float values[N];
    double mean[N] = {0};
    for (int i = 0; i < N; i++)
        values[i] = random_value(1) * (i % 50 == 0 ? 40.0F : 1.0F);
    double scale = yoke_select_scale(values, N, 60);
    double expected = 0, total = 0;
    for (int i = 0; i < N; i++)
        expected += fmin(1, scale * fabs((double)values[i]));
    assert_true(expected > 55 && expected < 60.01);
    yoke_owners_t owners = yoke_owners_of(N, 3, false);
    for (int call = 0; call < CALLS; call++) {
        yoke_picker_t picker = {
            .draws = true, .scale = scale, .seed = 7, .call = (uint64_t)call};
        for (uint32_t owner = 0; owner < 3; owner++) {
            uint64_t length = yoke_owner_length(&owners, owner), entries;
            unsigned char message[4 + N * 6];
            float put[N] = {0};
            yoke_entries_pack(&owners, owner, &picker, values, false, length, message,
                              &entries);
            yoke_entries_put(message, &owners, owner, 1, put);
            for (int i = 0; i < N; i++)
                mean[i] += (double)put[i] / CALLS;
            total += (double)entries / CALLS;
        }
    }
    assert_true(fabs(total - expected) < 4 * sqrt(expected / CALLS) + 0.1);
    for (int i = 0; i < N; i++) { /* 6 standard errors; the draws are fixed */
        double chance = fmin(1, scale * fabs((double)values[i]));
        double error = chance > 0
                           ? fabs((double)values[i]) * sqrt((1 - chance) / chance / CALLS)
                           : 0;
        assert_true(fabs(mean[i] - (double)values[i]) <=
                    6 * error + 1e-5 * fabs((double)values[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_is_the_kth_of_a_sort),
        cmocka_unit_test(not_numbers_are_the_largest),
        cmocka_unit_test(every_element_has_one_owner),
        cmocka_unit_test(entries_and_rest_make_the_vector),
        cmocka_unit_test(bad_messages_are_refused),
        cmocka_unit_test(draws_are_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
