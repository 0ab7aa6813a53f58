/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include <math.h>
#include <wchar.h>

#include "base/error.h"
#include "base/text.h"

static void text_grows(void **state)
{
    (void)state;
    yoke_text_t text = {0};
    assert_string_equal(yoke_text_get(&text), "");
    yoke_text_add_bytes(&text, "", 0);
    assert_non_null(text.data);
    for (int i = 0; i < 1000; i++)
        yoke_text_printf(&text, "%d,", i % 10);
    yoke_text_add(&text, "end");
    yoke_text_add_bytes(&text, "x\0y", 3);
    assert_int_equal(text.size, 2006);
    assert_false(text.failed);
    assert_memory_equal(text.data + 1998, "9,endx\0y", 9);
    yoke_text_free(&text);
    assert_null(text.data);
}

static void text_refuses_what_memory_cannot_hold(void **state)
{
    (void)state;
    yoke_text_t text = {0};
    yoke_text_add(&text, "kept");
    yoke_text_add_bytes(&text, "", SIZE_MAX - 16);
    assert_true(text.failed);
    yoke_text_add(&text, "dropped");
    assert_string_equal(yoke_text_get(&text), "kept");
    yoke_text_free(&text);
}

static void text_tells_what_cannot_be_printed(void **state)
{
    (void)state;
    yoke_text_t text = {0};
    yoke_text_printf(&text, "%ls", L"\x20AC"); /* no such character in the C locale */
    assert_true(text.failed);
    yoke_text_free(&text);
    assert_null(yoke_format("%ls", L"\x20AC"));
}

static void strings_copy_and_format(void **state)
{
    (void)state;
    char *copy = yoke_strdup("abc");
    char *part = yoke_strndup("abc", 2);
    char *short_one = yoke_strndup("ab", 10);
    char *formatted = yoke_format("%s-%d", "n", 7);
    char *empty = yoke_format("%s", "");
    assert_string_equal(copy, "abc");
    assert_string_equal(part, "ab");
    assert_string_equal(short_one, "ab");
    assert_string_equal(formatted, "n-7");
    assert_string_equal(empty, "");
    free(copy);
    free(part);
    free(short_one);
    free(formatted);
    free(empty);
}

static void list_grows(void **state)
{
    (void)state;
    yoke_strings_t list = {0};
    for (int i = 0; i < 100; i++)
        assert_int_equal(yoke_strings_add(&list, i % 2 == 0 ? "even" : "odd"), YOKE_OK);
    assert_int_equal(list.count, 100);
    assert_string_equal(list.items[99], "odd");
    yoke_strings_free(&list);
    assert_int_equal(list.count, 0);
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void natural_order_is_total(void **state)
{
    (void)state;
    /* In ascending order; every pair is compared both ways. */
    static const char *const order[] = {"",
                                        "a",
                                        "a-1",
                                        "n01",
                                        "n1",
                                        "n1a",
                                        "n2",
                                        "n10",
                                        "n10-2",
                                        "n10-10",
                                        "n99999999999999999999998",
                                        "n99999999999999999999999",
                                        "na",
                                        "n\xC3\xA9"};
    size_t count = sizeof order / sizeof *order;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int wanted = (i > j) - (i < j);
            if (sign(yoke_natural_compare(order[i], order[j])) != wanted)
                fail_msg("\"%s\" and \"%s\"", order[i], order[j]);
        }
}

static void nearest_finds_slips_only(void **state)
{
    (void)state;
    static const char *const words[] = {"memory", "bandwidth", "name", "id", NULL};
    static const char *const none[] = {NULL};
    static const char *const endless[] = {
        "a-candidate-that-is-far-too-long-to-be-compared-with-anything-at-all", NULL};
    assert_string_equal(yoke_nearest("memroy", words), "memory");
    assert_string_equal(yoke_nearest("bandwith", words), "bandwidth");
    assert_string_equal(yoke_nearest("Name", words), "name");
    assert_string_equal(yoke_nearest("nam", words), "name");
    assert_string_equal(yoke_nearest("memory", words), "memory");
    assert_null(yoke_nearest("colour", words));
    assert_null(yoke_nearest("x", words));
    assert_null(yoke_nearest("", words));
    assert_null(yoke_nearest("word", none));
    assert_null(yoke_nearest("a-candidate-that-is-far-too-long", endless));
    assert_null(yoke_nearest(endless[0], words));
}

static void check_quantity(const char *text, double wanted)
{
    double value = -1;
    if (yoke_parse_quantity(text, &value) != YOKE_OK || value != wanted)
        fail_msg("\"%s\" gave %.17g, not %.17g", text, value, wanted);
}

static void quantities_with_units(void **state)
{
    (void)state;
    check_quantity("0", 0);
    check_quantity("300T", 3e14);
    check_quantity("80GiB", 80.0 * 1073741824.0);
    check_quantity("80Gi", 80.0 * 1073741824.0);
    check_quantity("1.5KiB", 1536);
    check_quantity("2Pi", 2.0 * 1125899906842624.0);
    check_quantity("100Gb", 1.25e10);
    check_quantity("100Gbps", 1.25e10);
    check_quantity("100 Gbit/s", 1.25e10);
    check_quantity("8Gibit", 1073741824.0);
    check_quantity("100kbit", 12500);
    check_quantity("8bit", 1);
    check_quantity("1.6TB", 1.6e12);
    check_quantity("1.6TB/s", 1.6e12);
    check_quantity("312 TFLOP/s", 312e12);
    check_quantity("312TFLOPS", 312e12);
    check_quantity("64k", 64e3);
    check_quantity("64K", 64e3);
    check_quantity("7M", 7e6);
    check_quantity("1P", 1e15);
    check_quantity("512B", 512);
    check_quantity("1e9", 1e9);
    check_quantity("1.5e+3k", 1.5e6);
    check_quantity("25e-1", 2.5);
    check_quantity("5E3", 5e3);
    check_quantity(".5G", 5e8);
    check_quantity("5.G", 5e9);
}

static void quantities_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    " 5",    "-5",   "+5",    "nan",    "inf",      "x",     ".",
        "G",   "5 ",    "5  G", "80GB ", "5gb",    "5g",       "5m",    "7b",
        "1,5", "1,000", "0x10", "5e",    "5E",     "5eG",      "1.2.3", "80 iB",
        "5GG", "5Gi/",  "5bps", "1e999", "9e307P", "5\xC2\xB5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 42;
        if (yoke_parse_quantity(bad[i], &value) != YOKE_ERR_BAD_INPUT || value != 42)
            fail_msg("\"%s\" was taken as %g", bad[i], value);
        assert_message("quantity \"");
        assert_message(bad[i]);
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    uint64_t value = 0;
    assert_true(yoke_parse_u64("27", 2, 0, 100, &value));
    assert_int_equal(value, 27);
    assert_true(yoke_parse_u64("279", 2, 27, 27, &value));
    assert_true(yoke_parse_u64("18446744073709551615", 20, 0, UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_false(yoke_parse_u64("18446744073709551616", 20, 0, UINT64_MAX, &value));
    static const char *const bad[] = {"",    "27.0", "+27", " 27",
                                      "27 ", "-1",   "0x1", "1e1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(yoke_parse_u64(bad[i], strlen(bad[i]), 0, UINT64_MAX, &value));
    assert_false(yoke_parse_u64("5", 1, 6, 9, &value));
    assert_false(yoke_parse_u64("10", 2, 6, 9, &value));
    assert_true(value == UINT64_MAX);
}

static void check_shown(const char *shown, const char *wanted)
{
    assert_string_equal(shown, wanted);
}

static void shown_bytes_and_rates(void **state)
{
    (void)state;
    char buffer[32];
    check_shown(yoke_show_bytes(0, buffer), "0 B");
    check_shown(yoke_show_bytes(512, buffer), "512 B");
    check_shown(yoke_show_bytes(1024, buffer), "1.00 KiB");
    check_shown(yoke_show_bytes(80.0 * 1073741824.0, buffer), "80.0 GiB");
    check_shown(yoke_show_bytes(1023.0 * 1073741824.0, buffer), "1023 GiB");
    check_shown(yoke_show_bytes(1023.9 * 1073741824.0, buffer), "1.00 TiB");
    check_shown(yoke_show_bytes(-2048, buffer), "-2.00 KiB");
    check_shown(yoke_show_bytes(1e300, buffer), "9e+281 EiB");
    check_shown(yoke_show_bytes(NAN, buffer), "unknown");
    check_shown(yoke_show_rate(312e12, "FLOP/s", buffer), "312 TFLOP/s");
    check_shown(yoke_show_rate(1.555e12, "B/s", buffer), "1.55 TB/s");
    check_shown(yoke_show_rate(999.6e9, "B/s", buffer), "1.00 TB/s");
    check_shown(yoke_show_rate(9.996e9, "B/s", buffer), "10.0 GB/s");
    check_shown(yoke_show_rate(0, "B/s", buffer), "0 B/s");
    check_shown(yoke_show_rate(0.5, "B/s", buffer), "0.50 B/s");
    check_shown(yoke_show_rate(INFINITY, "B/s", buffer), "unknown");
    check_shown(yoke_show_rate(1, "a-unit-far-too-long-for-the-buffer", buffer),
                "1.00 a-unit-far-too-long-for-th");
}

static void shown_times_and_counts(void **state)
{
    (void)state;
    char buffer[32];
    check_shown(yoke_show_seconds(0, buffer), "0 s");
    check_shown(yoke_show_seconds(12.5e-3, buffer), "12.5 ms");
    check_shown(yoke_show_seconds(0.9996, buffer), "1.00 s");
    check_shown(yoke_show_seconds(0.9996e-3, buffer), "1.00 ms");
    check_shown(yoke_show_seconds(3e-6, buffer), "3.00 us");
    check_shown(yoke_show_seconds(250e-9, buffer), "250 ns");
    check_shown(yoke_show_seconds(100, buffer), "100 s");
    check_shown(yoke_show_seconds(150, buffer), "2.50 min");
    check_shown(yoke_show_seconds(9000, buffer), "2.50 h");
    check_shown(yoke_show_seconds(864000, buffer), "10.0 d");
    check_shown(yoke_show_seconds(-0.25, buffer), "-250 ms");
    check_shown(yoke_show_seconds(NAN, buffer), "unknown");
    check_shown(yoke_show_count(0, buffer), "0");
    check_shown(yoke_show_count(999, buffer), "999");
    check_shown(yoke_show_count(1000, buffer), "1,000");
    check_shown(yoke_show_count(124439808, buffer), "124,439,808");
    check_shown(yoke_show_count(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    char buffer[32];
    use_comma_locale();
    char *text = yoke_format("%.1f", 2.5);
    check_quantity("1.5k", 1500);
    check_shown(yoke_show_bytes(1536, buffer), "1.50 KiB");
    check_shown(yoke_show_seconds(1.5, buffer), "1.50 s");
    assert_string_equal(text, "2.5");
    free(text);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_refuses_what_memory_cannot_hold),
        cmocka_unit_test(text_tells_what_cannot_be_printed),
        cmocka_unit_test(strings_copy_and_format),
        cmocka_unit_test(list_grows),
        cmocka_unit_test(natural_order_is_total),
        cmocka_unit_test(nearest_finds_slips_only),
        cmocka_unit_test(quantities_with_units),
        cmocka_unit_test(quantities_refused),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(shown_bytes_and_rates),
        cmocka_unit_test(shown_times_and_counts),
        cmocka_unit_test(locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, quiet, NULL);
}
