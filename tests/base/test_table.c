/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/table.h"

static void check_print(const yoke_table_t *table, size_t width, size_t indent,
                        const char *wanted)
{
    yoke_text_t out = {0};
    yoke_table_print(table, width, indent, &out);
    assert_false(out.failed);
    assert_string_equal(yoke_text_get(&out), wanted);
    yoke_text_free(&out);
}

static void aligns_columns(void **state)
{
    (void)state;
    static const char *const headers[] = {"device", ">memory", "note"};
    yoke_table_t *table = yoke_table_new(headers, 3);
    yoke_table_cell(table, "0000:c1:00.0");
    yoke_table_cellf(table, "%.1f GiB", 80.0);
    yoke_table_cell(table, NULL);
    yoke_table_cell(table, "host");
    yoke_table_cell(table, "512 GiB");
    yoke_table_cell(table, "");
    yoke_table_cell(table, "unfinished");
    check_print(table, 80, 2,
                "  device          memory  note\n"
                "  0000:c1:00.0  80.0 GiB  -\n"
                "  host           512 GiB\n"
                "  unfinished\n");
    yoke_table_free(table);
}

static void prints_headers_alone(void **state)
{
    (void)state;
    static const char *const headers[] = {">a", "b"};
    yoke_table_t *table = yoke_table_new(headers, 2);
    check_print(table, 0, 0, "a  b\n");
    yoke_table_free(table);
    table = yoke_table_new(headers, 0);
    yoke_table_cell(table, "nowhere to go");
    check_print(table, 0, 0, "\n");
    yoke_table_free(table);
}

static void shortens_the_marked_columns(void **state)
{
    (void)state;
    static const char *const headers[] = {"~>name", "x", "~detail"};
    yoke_table_t *table = yoke_table_new(headers, 3);
    yoke_table_cell(table, "abcdefghijklmnopqrst");
    yoke_table_cell(table, "1");
    yoke_table_cell(table, "0123456789");
    check_print(table, 35, 0,
                "                name  x  detail\n"
                "abcdefghijklmnopqrst  1  0123456789\n");
    check_print(table, 30, 0,
                "           name  x  detail\n"
                "abcdefghijklm..  1  0123456789\n");
    check_print(table, 20, 1, "    name  x  detail\n abcde..  1  01234..\n");
    /* Below the least width nothing more is given up. */
    check_print(table, 5, 0, "  name  x  detail\nabcd..  1  0123..\n");
    yoke_table_free(table);
}

static void keeps_what_is_not_marked(void **state)
{
    (void)state;
    static const char *const headers[] = {"a", "b"};
    yoke_table_t *table = yoke_table_new(headers, 2);
    yoke_table_cell(table, "0123456789");
    yoke_table_cell(table, "0123456789");
    check_print(table, 10, 0, "a           b\n0123456789  0123456789\n");
    yoke_table_free(table);
}

static void counts_characters_not_bytes(void **state)
{
    (void)state;
    static const char *const headers[] = {">t", "~n", "|"};
    yoke_table_t *table = yoke_table_new(headers, 3);
    static const char *const cells[] = {
        "5 \xC2\xB5s",
        "2\xC3\x97"
        "8",
        "|", /* micro, times */
        "100 ms",
        "\xE6\x98\x87\xE8\x85\xBE"
        "910",
        "|", /* two wide ones */
        "e\xCC\x81",
        "\xF0\x9F\x98\x80",
        "|", /* combining, wide */
        "bad\xFF\xC2",
        "a\tb\nc\x1B",
        "|",
        "\xC2\x85\xE2\x82",
        "\xF8",
        "|",
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        yoke_table_cell(table, cells[i]);
    check_print(table, 80, 0,
                "     t  n        |\n"
                "  5 \xC2\xB5s  2\xC3\x97"
                "8      |\n"
                "100 ms  \xE6\x98\x87\xE8\x85\xBE"
                "910  |\n"
                "     e\xCC\x81  \xF0\x9F\x98\x80       |\n"
                " bad??  a b c?   |\n"
                "   ???  ?        |\n");
    /* A wide character that does not fit leaves a gap, not a shift. */
    check_print(table, 17, 0,
                "     t  n       |\n"
                "  5 \xC2\xB5s  2\xC3\x97"
                "8     |\n"
                "100 ms  \xE6\x98\x87\xE8\x85\xBE..  |\n"
                "     e\xCC\x81  \xF0\x9F\x98\x80      |\n"
                " bad??  a b c?  |\n"
                "   ???  ?       |\n");
    yoke_table_free(table);
}

static void takes_a_missing_table(void **state)
{
    (void)state;
    yoke_text_t out = {0};
    yoke_table_cell(NULL, "x");
    yoke_table_cellf(NULL, "%d", 1);
    yoke_table_print(NULL, 80, 0, &out);
    assert_true(out.failed);
    yoke_text_free(&out);
    yoke_table_free(NULL);
}

static void check_wrap(const char *text, size_t width, size_t indent, const char *wanted)
{
    yoke_text_t out = {0};
    yoke_wrap(text, width, indent, &out);
    assert_string_equal(yoke_text_get(&out), wanted);
    yoke_text_free(&out);
}

static void wraps(void **state)
{
    (void)state;
    check_wrap("", 80, 4, "");
    check_wrap("one two three", 80, 4, "one two three");
    check_wrap("one two three", 13, 0, "one two three");
    check_wrap("one two three", 12, 0, "one two\nthree");
    check_wrap("one two three", 12, 4, "one two\n    three");
    check_wrap("one  two ", 80, 0, "one two");
    check_wrap("an-endless-word is kept whole", 10, 2,
               "an-endless-word\n  is kept\n  whole");
    check_wrap("one\ntwo\n\nthree\n", 80, 2, "one\n  two\n\n  three\n");
    check_wrap("5 \xC2\xB5s now", 8, 0, "5 \xC2\xB5s now");
    check_wrap("a b", 0, 0, "a b");
}

/* Runs yoke_terminal_width() with stdout on `fd`. */
static size_t width_on(int fd)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
    size_t width = yoke_terminal_width();
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return width;
}

static void knows_the_terminal(void **state)
{
    (void)state;
    int null = open("/dev/null", O_WRONLY);
    assert_int_equal(width_on(null), 80);
    close(null);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip();
    struct winsize size = {.ws_row = 24, .ws_col = 132};
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    assert_int_equal(width_on(master), 132);
    size.ws_col = 0;
    ioctl(master, TIOCSWINSZ, &size);
    assert_int_equal(width_on(master), 80);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns_columns),
        cmocka_unit_test(prints_headers_alone),
        cmocka_unit_test(shortens_the_marked_columns),
        cmocka_unit_test(keeps_what_is_not_marked),
        cmocka_unit_test(counts_characters_not_bytes),
        cmocka_unit_test(takes_a_missing_table),
        cmocka_unit_test(wraps),
        cmocka_unit_test(knows_the_terminal),
    };
    return cmocka_run_group_tests(tests, quiet, NULL);
}
