/* SPDX-License-Identifier: Apache-2.0 */
/* Fills of every pattern size by what a runtime has, against the pattern written by hand.
 */
#include "toy.h"

#include "yoke/status.h"

static int fill8(yoke_cudalike_address_t dst, unsigned char value, size_t count, void *s)
{
    (void)s;
    memset((void *)dst, value, count);
    return 0;
}

static int fill16(yoke_cudalike_address_t dst, unsigned short value, size_t count,
                  void *s)
{
    (void)s;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)dst + 2 * i, &value, 2);
    return 0;
}

static int fill32(yoke_cudalike_address_t dst, unsigned value, size_t count, void *s)
{
    (void)s;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)dst + 4 * i, &value, 4);
    return 0;
}

static int strided_calls;

static int strided(yoke_cudalike_address_t dst, size_t pitch, unsigned value,
                   size_t width, size_t height, void *s)
{
    (void)s;
    strided_calls++;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy((char *)dst + y * pitch + 4 * x, &value, 4);
    return 0;
}

static int copy_calls;

static int copy(yoke_cudalike_address_t dst, yoke_cudalike_address_t src, size_t size,
                void *s)
{
    (void)s;
    copy_calls++;
    /* A vendor's copy may go in any order: the halves must not overlap. */
    assert_true(dst >= src + size || src >= dst + size);
    memcpy((void *)dst, (void *)src, size);
    return 0;
}

static void check(size_t pattern_size, size_t count, const unsigned char *pattern)
{
    size_t size = pattern_size * count;
    unsigned char *area = malloc(size + 64);
    memset(area, 0xee, size + 64);
    yoke_impl_buffer_t buffer = {.device = &toy_device,
                                 .address = (yoke_cudalike_address_t)area};
    yoke_impl_span_t span = {&buffer, 32};
    assert_int_equal(yoke_cudalike_fill(&toy_queue, span, pattern, pattern_size, size),
                     YOKE_OK);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(area[32 + i], pattern[i % pattern_size]);
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(area[i], 0xee);
        assert_int_equal(area[32 + size + i], 0xee);
    }
    free(area);
}

/* Bits of `have`: 16-bit, 32-bit, strided fills. */
static void every_pattern(void **state)
{
    (void)state;
    static const unsigned char mixed[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                            9, 10, 11, 12, 13, 14, 15, 16};
    static const unsigned char halves[16] = {1, 2, 3, 4, 5, 6, 7, 8,
                                             1, 2, 3, 4, 5, 6, 7, 8};
    static const unsigned char same[16] = {7, 7, 7, 7, 7, 7, 7, 7,
                                           7, 7, 7, 7, 7, 7, 7, 7};
    static const unsigned char *const patterns[] = {mixed, halves, same};
    static const size_t counts[] = {1, 2, 3, 7, 64, 1001};
    for (unsigned have = 0; have < 8; have++) {
        toy_reset();
        yoke_cudalike_noted[toy_flavour.index] = toy_device.current;
        toy_runtime.api.fill8 = fill8;
        toy_runtime.api.fill16 = (have & 1) != 0 ? fill16 : NULL;
        toy_runtime.api.fill32 = (have & 2) != 0 ? fill32 : NULL;
        toy_runtime.api.fill32_strided = (have & 4) != 0 ? strided : NULL;
        toy_runtime.api.copy = copy;
        for (size_t size = 1; size <= 16; size *= 2)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                for (size_t p = 0; p < 3; p++)
                    check(size, counts[i], patterns[p]);
        assert_string_equal(toy_calls, ""); /* no look at what is current */
    }
}

/* The native fill is one call; the strided one a call for each 32-bit word. */
static void few_calls(void **state)
{
    (void)state;
    static const unsigned char mixed[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                            9, 10, 11, 12, 13, 14, 15, 16};
    toy_reset();
    yoke_cudalike_noted[toy_flavour.index] = toy_device.current;
    toy_runtime.api.fill8 = fill8;
    toy_runtime.api.fill16 = fill16;
    toy_runtime.api.fill32 = fill32;
    toy_runtime.api.fill32_strided = strided;
    toy_runtime.api.copy = copy;
    strided_calls = copy_calls = 0;
    check(4, 1000, mixed);
    assert_int_equal(strided_calls + copy_calls, 0);
    check(8, 1000, mixed);
    assert_int_equal(strided_calls, 2);
    check(16, 1000, mixed);
    assert_int_equal(strided_calls, 6);
    assert_int_equal(copy_calls, 0);
    toy_runtime.api.fill32_strided = NULL;
    check(16, 1024, mixed);
    assert_int_equal(copy_calls, 10); /* 2^10 elements by doubling */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pattern),
                                       cmocka_unit_test(few_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
