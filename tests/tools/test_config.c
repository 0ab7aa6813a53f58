/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files: what is read, and that every fault names its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/config.h"

typedef struct seen {
    char pairs[256];
    size_t last_line;
} seen_t;

static yoke_status_t collect(void *context, const char *key, const char *value,
                             size_t line)
{
    seen_t *seen = context;
    size_t used = strlen(seen->pairs);
    snprintf(seen->pairs + used, sizeof seen->pairs - used, "%s=%s;", key, value);
    seen->last_line = line;
    return YOKE_OK;
}

static void expect_pairs(const char *text, const char *pairs)
{
    seen_t seen = {0};
    assert_int_equal(yoke_config_parse("f", text, strlen(text), collect, &seen), YOKE_OK);
    assert_string_equal(seen.pairs, pairs);
}

static void expect_fault(const char *text, const char *needle)
{
    seen_t seen = {0};
    assert_int_equal(yoke_config_parse("the/file", text, strlen(text), collect, &seen),
                     YOKE_ERR_BAD_INPUT);
    if (strstr(yoke_last_error(), needle) == NULL)
        fail_msg("no '%s' in: %s", needle, yoke_last_error());
}

static void test_good_files(void **state)
{
    (void)state;
    expect_pairs("", "");
    expect_pairs("\n# only a comment\n   # and one more\n", "");
    expect_pairs("log = debug", "log=debug;");
    expect_pairs("\xef\xbb\xbflog=info\r\nprobe-timeout\t=\t0.5\r\n",
                 "log=info;probe-timeout=0.5;");
    expect_pairs("catalog = /a b/c.json:/d=e.json\n", "catalog=/a b/c.json:/d=e.json;");
    expect_pairs("lib-cuda = /x\nlib-level_zero = /y # z\n",
                 "lib-cuda=/x;lib-level_zero=/y # z;");
}

static void test_faults_name_their_line(void **state)
{
    (void)state;
    expect_fault("\nlog\n", "the/file:2: expected 'key = value', found 'log'");
    expect_fault("log = loud\n",
                 "the/file:1: log: expected one of error|warning|info|debug");
    expect_fault("#\n\nlgo = info\n",
                 "the/file:3: unknown key 'lgo' (did you mean 'log'?)");
    expect_fault("qqqqqqqqqq = 1\n", "the/file:1: unknown key 'qqqqqqqqqq'");
    expect_fault("log = info\nlog = info\n", "the/file:2: log is given twice");
    expect_fault("data-dir =\n", "the/file:1: data-dir: expected a value");
    expect_fault("= x\n", "the/file:1: unknown key ''");
    expect_fault("lib- = /x\n", "the/file:1: unknown key 'lib-'");
    expect_fault("lib-CUDA = /x\n", "the/file:1: unknown key 'lib-CUDA'");
    expect_fault("lib-* = /x\n", "the/file:1: unknown key 'lib-*'");
    static const char *const bad_seconds[] = {"0",  "-1",    "1e3", "nan", "5s",  ".5",
                                              "5.", "90000", "inf", "1,5", "0x5", "0.0"};
    for (size_t i = 0; i < sizeof bad_seconds / sizeof *bad_seconds; i++) {
        char line[64];
        snprintf(line, sizeof line, "probe-timeout = %s", bad_seconds[i]);
        expect_fault(line, "the/file:1: probe-timeout: expected seconds");
    }
}

static void test_zero_byte_is_refused(void **state)
{
    (void)state;
    seen_t seen = {0};
    static const char text[] = "log = info\0\n";
    assert_int_equal(yoke_config_parse("f", text, sizeof text - 1, collect, &seen),
                     YOKE_ERR_BAD_INPUT);
    assert_string_equal(seen.pairs, "");
}

static void test_names(void **state)
{
    (void)state;
    char variable[64];
    assert_string_equal(yoke_setting_variable("probe-timeout", variable),
                        "YOKE_PROBE_TIMEOUT");
    assert_string_equal(yoke_setting_variable("lib-level_zero", variable),
                        "YOKE_LIB_LEVEL_ZERO");
    assert_string_equal(yoke_setting_find("lib-cuda")->key, "lib-*");
    assert_null(yoke_setting_find("lib"));
    char lengthy[200];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_int_equal(strlen(yoke_setting_variable(lengthy, variable)), 63);
}

/* A key of two rows would be told twice by --help, manual pages and reference. */
static void test_keys_are_unique(void **state)
{
    (void)state;
    for (const yoke_setting_t *a = yoke_settings; a->key != NULL; a++) {
        for (const yoke_setting_t *b = yoke_settings; b != a; b++)
            if (strcmp(a->key, b->key) == 0)
                fail_msg("%s stands twice", a->key);
        char sample[64];
        size_t fixed = strcspn(a->key, "*");
        snprintf(sample, sizeof sample, "%.*s%s", (int)fixed, a->key,
                 a->key[fixed] == '*' ? "x" : "");
        assert_ptr_equal(yoke_setting_find(sample), a);
    }
}

static void be_silent(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_faults_name_their_line),
        cmocka_unit_test(test_zero_byte_is_refused),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_keys_are_unique),
    };
    yoke_log_set_sink(be_silent, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
