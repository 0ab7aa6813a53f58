/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include "base/text.h"

static void check_expand(const char *list, const char *wanted)
{
    yoke_strings_t hosts = {0};
    yoke_text_t joined = {0};
    if (yoke_hostlist_expand(list, &hosts) != YOKE_OK)
        fail_msg("\"%s\": %s", list, yoke_last_error());
    for (size_t i = 0; i < hosts.count; i++)
        yoke_text_printf(&joined, "%s%s", i == 0 ? "" : " ", hosts.items[i]);
    assert_string_equal(joined.data, wanted);
    assert_int_equal(yoke_hostlist_count(list), hosts.count);
    yoke_text_free(&joined);
    yoke_strings_free(&hosts);
}

static void expands(void **state)
{
    (void)state;
    check_expand("a", "a");
    check_expand("a,n[01-03,7],b[1-2]", "a n01 n02 n03 n7 b1 b2");
    check_expand("n[8-11]", "n8 n9 n10 n11");
    check_expand("n[098-101]", "n098 n099 n100 n101");
    check_expand("n[001-3]", "n001 n002 n003");
    check_expand("n[9-10]-ib,x", "n9-ib n10-ib x");
    check_expand("r[1-2]n[1,3].c", "r1n1.c r1n3.c r2n1.c r2n3.c");
    check_expand("[1-2]", "1 2");
    check_expand("n0[1-2]", "n01 n02");
    check_expand("n[5]", "n5");
    check_expand("b,a,b", "b a b");
    check_expand(" a , n[1-2] ,b\n", "a n1 n2 b");
}

static void check_refused(const char *list, const char *place, const char *why)
{
    yoke_strings_t hosts = {.count = 99};
    if (yoke_hostlist_expand(list, &hosts) != YOKE_ERR_BAD_INPUT)
        fail_msg("\"%s\" was taken", list);
    assert_int_equal(hosts.count, 99);
    assert_message(place);
    assert_message(why);
    assert_int_equal(yoke_hostlist_count(list), 0);
}

static void refuses_and_names_the_place(void **state)
{
    (void)state;
    check_refused("", "character 1 ", "a name is missing");
    check_refused("  ", "character 3 ", "a name is missing");
    check_refused("a,,b", "character 3 (\",b\")", "a name is missing");
    check_refused("a,", "character 3 ", "a name is missing");
    check_refused("n[1-3", "character 2 (\"[1-3\")", "is not closed");
    check_refused("n[", "character 3 ", "a number is missing");
    check_refused("n[]", "character 3 ", "a number is missing");
    check_refused("n[1-]", "character 5 ", "a number is missing");
    check_refused("n[1,]", "character 5 ", "a number is missing");
    check_refused("n[a]", "character 3 ", "a number is missing");
    check_refused("n[1:2]", "character 4 ", "expected");
    check_refused("n[1[2]]", "character 4 ", "expected");
    check_refused("n[3-1]", "character 3 ", "backwards");
    check_refused("n[1-03]", "character 3 ", "padded differently");
    check_refused("n1]", "character 3 ", "without");
    check_refused("a b", "character 3 ", "separated by commas");
    check_refused("n[1234567890123456789]", "character 3 ", "18 digits");
    check_refused("n[1-1234567890123456789]", "character 5 ", "18 digits");
    check_refused("n[99999999999999999999999]", "character 3 ", "18 digits");
    check_refused("a[1][1][1][1][1]", "character 14 ", "more than 4 brackets");
}

static void refuses_too_many_and_too_long(void **state)
{
    (void)state;
    yoke_strings_t hosts = {0};
    char name[400];
    assert_int_equal(yoke_hostlist_expand("n[0-1000000]", &hosts), YOKE_ERR_BAD_INPUT);
    assert_message("more than 1000000 names");
    assert_int_equal(yoke_hostlist_count("n[0-1000000]"), 1000001);
    assert_true(yoke_hostlist_count("[0-999999999999999999][0-999999999999999999]") ==
                UINT64_MAX);
    assert_true(yoke_hostlist_count("[0-999999999999999999][0-99],"
                                    "[0-999999999999999999][0-99]") == UINT64_MAX);
    memset(name, 'n', sizeof name);
    strcpy(name + 256, "");
    assert_int_equal(yoke_hostlist_expand(name, &hosts), YOKE_ERR_BAD_INPUT);
    assert_message("more than 255 characters");
    strcpy(name + 254, "[8-10]");
    assert_int_equal(yoke_hostlist_expand(name, &hosts), YOKE_ERR_BAD_INPUT);
    assert_message("more than 255 characters");
    strcpy(name + 254, "[8-9]");
    assert_int_equal(yoke_hostlist_expand(name, &hosts), YOKE_OK);
    assert_int_equal(hosts.count, 2);
    yoke_strings_free(&hosts);
}

static void takes_large_lists(void **state)
{
    (void)state;
    yoke_strings_t hosts = {0};
    assert_int_equal(yoke_hostlist_expand("n[000000-999999]", &hosts), YOKE_OK);
    assert_int_equal(hosts.count, 1000000);
    yoke_strings_free(&hosts);
    assert_int_equal(yoke_hostlist_expand("n[00000-99999]", &hosts), YOKE_OK);
    char *text = yoke_hostlist_compress(&hosts);
    assert_string_equal(text, "n[00000-99999]");
    free(text);
    yoke_strings_free(&hosts);
}

static char *compressed(const char *list)
{
    yoke_strings_t hosts = {0};
    assert_int_equal(yoke_hostlist_expand(list, &hosts), YOKE_OK);
    char *text = yoke_hostlist_compress(&hosts);
    assert_non_null(text);
    yoke_strings_free(&hosts);
    return text;
}

static void check_compress(const char *list, const char *wanted)
{
    char *text = compressed(list);
    char *again = compressed(text);
    assert_string_equal(text, wanted);
    assert_string_equal(again, wanted);
    free(again);
    free(text);
}

static void compresses(void **state)
{
    (void)state;
    yoke_strings_t none = {0};
    char *empty = yoke_hostlist_compress(&none);
    assert_string_equal(empty, "");
    free(empty);
    check_compress("a", "a");
    check_compress("b,a,b", "a,b");
    check_compress("n7", "n7");
    check_compress("n2,n1,n3,n2", "n[1-3]");
    check_compress("n1,n3,n4,n9", "n[1,3-4,9]");
    check_compress("n8,n9,n10,n11", "n[8-11]");
    check_compress("n08,n09,n10,n11", "n[08-11]");
    check_compress("n98,n99,n100", "n[98-100]");
    check_compress("n098,n099,n100", "n[098-100]");
    check_compress("n[01-120]", "n[01-120]");
    check_compress("n[1-2],n[01-02]", "n[01-02,1-2]");
    check_compress("n099,n0100", "n[099,0100]");
    check_compress("n0099,n100", "n[0099,100]");
    check_compress("n0,n1", "n[0-1]");
    check_compress("n1-ib,n2-ib,n1-eth", "n1-eth,n[1-2]-ib");
    check_compress("r1n1,r1n2,r2n1", "r1n[1-2],r2n1");
    check_compress("n1.c2.org,n2.c2.org,n3.c2.org", "n[1-3].c2.org");
    check_compress("login,n1,n2,n,mgmt", "login,mgmt,n,n[1-2]");
    check_compress("s12345678901234567890,s12345678901234567891",
                   "s12345678901234567890,s12345678901234567891");
    check_compress("n10,n9,a2,a1", "a[1-2],n[9-10]");
}

/* Any list survives: the same set of names comes back. */
static void round_trips(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "n[1-3,007-012,99-101,0100-0102],n,n-1",
        "a1b2,a1b3,a2b2,a02b3,a2b03",
        "n[000-011],n[0-11],n[00-11]",
        "1,01,001,10,010,11,x1x,x01x,x2x",
        "n099,n100,n0100,n101,n0099",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char *once = compressed(lists[i]);
        char *twice = compressed(once);
        yoke_strings_t wanted = {0};
        assert_int_equal(yoke_hostlist_expand(lists[i], &wanted), YOKE_OK);
        yoke_strings_t got = {0};
        assert_int_equal(yoke_hostlist_expand(once, &got), YOKE_OK);
        for (size_t a = 0; a < wanted.count; a++) {
            size_t b = 0;
            while (b < got.count && strcmp(got.items[b], wanted.items[a]) != 0)
                b++;
            if (b == got.count)
                fail_msg("%s is not in %s", wanted.items[a], once);
        }
        assert_true(got.count <= wanted.count);
        assert_string_equal(once, twice);
        yoke_strings_free(&wanted);
        yoke_strings_free(&got);
        free(twice);
        free(once);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands),
        cmocka_unit_test(refuses_and_names_the_place),
        cmocka_unit_test(refuses_too_many_and_too_long),
        cmocka_unit_test(takes_large_lists),
        cmocka_unit_test(compresses),
        cmocka_unit_test(round_trips),
    };
    return cmocka_run_group_tests(tests, quiet, NULL);
}
