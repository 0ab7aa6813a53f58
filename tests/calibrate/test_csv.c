/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"

static void test_cells(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "a,b,c\r\n1,\"x, \"\"y\"\"\",\n,\"two\nlines\",z";
    yoke_csv_t csv;
    assert_int_equal(yoke_csv_parse("t.csv", text, sizeof text - 1, &csv), YOKE_OK);
    assert_int_equal(csv.rows, 2);
    assert_int_equal(csv.columns, 3);
    assert_string_equal(yoke_csv_get(&csv, 0, "b"), "x, \"y\"");
    assert_string_equal(yoke_csv_get(&csv, 0, "c"), "");
    assert_string_equal(yoke_csv_get(&csv, 1, "a"), "");
    assert_string_equal(yoke_csv_get(&csv, 1, "b"), "two\nlines");
    assert_string_equal(yoke_csv_get(&csv, 1, "c"), "z");
    assert_int_equal(csv.lines[1], 2);
    assert_int_equal(csv.lines[2], 3);
    assert_null(yoke_csv_get(&csv, 0, "d"));
    assert_null(yoke_csv_get(&csv, 2, "a"));
    yoke_csv_free(&csv);
}

static void refuse(const char *text, size_t size, const char *needle)
{
    yoke_csv_t csv = {0};
    assert_int_equal(yoke_csv_parse("t.csv", text, size, &csv), YOKE_ERR_BAD_INPUT);
    if (strstr(yoke_last_error(), needle) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", needle, yoke_last_error());
    assert_null(csv.cells);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("", sizeof "" - 1, "empty");
    refuse("a,b\n1\n", sizeof "a,b\n1\n" - 1, "t.csv:2: 1 cells, expected 2");
    refuse("a,b\n1,2\n1,2,3\n", sizeof "a,b\n1,2\n1,2,3\n" - 1, "t.csv:3");
    refuse("a,b\n1,\"2\n3\n", sizeof "a,b\n1,\"2\n3\n" - 1,
           "t.csv:2: the quote does not end");
    refuse("a,a\n", sizeof "a,a\n" - 1, "two columns");
    refuse("a,\n", sizeof "a,\n" - 1, "column 2 has no name");
    refuse("a\n\0\n", sizeof "a\n\0\n" - 1, "NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
