/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser, on a table of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/cli.h"
#include "tools/help.h"

static const yoke_option_t options[] = {{"model", 'm', "MODEL", "The model.", "Input"},
                                        {"assume", 0, "TEXT", "May be repeated.", NULL},
                                        {"why", 'w', NULL, "Say why.", "Output"},
                                        {"verbose", 'v', NULL, "Say more.", NULL},
                                        {0}};

static const yoke_command_t command = {.name = "probe",
                                       .summary = "for the test",
                                       .usage = "yoke probe [options] FILE...",
                                       .description = "One.\n\nTwo.",
                                       .examples = "",
                                       .options = options};
const yoke_command_t *const yoke_commands[] = {&command, NULL};

/* Parse a line of words separated by one space; counts and fills argv. */
typedef struct line {
    char text[256];
    char *argv[32];
    int argc;
    yoke_args_t args;
    int exit_code;
    bool go_on;
    char errors[1024];
} line_t;

static void parse(line_t *line, const char *text)
{
    memset(line, 0, sizeof *line);
    snprintf(line->text, sizeof line->text, "probe %s", text);
    for (char *word = strtok(line->text, " "); word != NULL; word = strtok(NULL, " "))
        line->argv[line->argc++] = word;
    /* What is told on stderr is part of the answer. */
    fflush(stderr);
    FILE *capture = tmpfile();
    int saved = dup(2);
    assert_non_null(capture);
    dup2(fileno(capture), 2);
    line->exit_code = -1;
    line->go_on =
        yoke_args_parse(&command, line->argc, line->argv, &line->args, &line->exit_code);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(capture);
    size_t size = fread(line->errors, 1, sizeof line->errors - 1, capture);
    line->errors[size] = '\0';
    fclose(capture);
}

static void expect_usage_error(const char *text, const char *needle)
{
    line_t line;
    parse(&line, text);
    assert_false(line.go_on);
    assert_int_equal(line.exit_code, 2);
    if (strstr(line.errors, needle) == NULL)
        fail_msg("'%s': no '%s' in: %s", text, needle, line.errors);
    assert_non_null(strstr(line.errors, "yoke probe --help"));
}

static void test_every_spelling(void **state)
{
    (void)state;
    static const char *const lines[] = {"--model=x a", "--model x a", "-m x a",
                                        "-mx a",       "a --model x", "a -wmx -w"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        line_t line;
        parse(&line, lines[i]);
        assert_true(line.go_on);
        assert_string_equal(yoke_args_value(&line.args, "model"), "x");
        assert_int_equal(line.args.positional_count, 1);
        assert_string_equal(line.args.positional[0], "a");
        yoke_args_free(&line.args);
    }
}

static void test_order_and_repetition(void **state)
{
    (void)state;
    line_t line;
    parse(&line, "--assume 1 --model a --assume=2 --model b --assume 3");
    assert_true(line.go_on);
    assert_string_equal(yoke_args_nth(&line.args, "assume", 0), "1");
    assert_string_equal(yoke_args_nth(&line.args, "assume", 1), "2");
    assert_string_equal(yoke_args_nth(&line.args, "assume", 2), "3");
    assert_null(yoke_args_nth(&line.args, "assume", 3));
    assert_string_equal(yoke_args_value(&line.args, "model"), "b");
    assert_int_equal(line.args.given_count, 5);
    assert_string_equal(line.args.given[1].option->name, "model");
    assert_false(yoke_args_has(&line.args, "why"));
    assert_null(yoke_args_value(&line.args, "why"));
    yoke_args_free(&line.args);
}

static void test_ends_and_dashes(void **state)
{
    (void)state;
    line_t line;
    parse(&line, "--json - -- --model -");
    assert_true(line.go_on);
    assert_string_equal(yoke_args_value(&line.args, "json"), "-");
    assert_int_equal(line.args.positional_count, 2);
    assert_string_equal(line.args.positional[0], "--model");
    assert_string_equal(line.args.positional[1], "-");
    yoke_args_free(&line.args);

    parse(&line, "-o out.json --model=--why --model=");
    assert_true(line.go_on);
    assert_string_equal(yoke_args_value(&line.args, "json"), "out.json");
    assert_string_equal(yoke_args_nth(&line.args, "model", 0), "--why");
    assert_string_equal(yoke_args_nth(&line.args, "model", 1), "");
    yoke_args_free(&line.args);
}

static void test_many_letters_fit(void **state)
{
    (void)state;
    line_t line;
    parse(&line, "-wvwvwvwvwvwvwvwvwv -vvvvvvvvvvvv x y z");
    assert_true(line.go_on);
    assert_int_equal(line.args.given_count, 30);
    assert_int_equal(line.args.positional_count, 3);
    yoke_args_free(&line.args);
}

static void test_usage_errors(void **state)
{
    (void)state;
    expect_usage_error("--modle x", "did you mean --model?");
    expect_usage_error("--wy", "did you mean --why?");
    expect_usage_error("--zzzzzzzz=3", "unknown option --zzzzzzzz");
    expect_usage_error("-z", "unknown option -z");
    expect_usage_error("-wz", "unknown option -z");
    expect_usage_error("--model", "--model needs a value (MODEL)");
    expect_usage_error("-m", "--model needs a value (MODEL)");
    expect_usage_error("--model --why", "--model needs a value (MODEL)");
    expect_usage_error("--why=yes", "--why takes no value");
}

static void test_common_options_come_once(void **state)
{
    (void)state;
    size_t json = 0, help = 0;
    const yoke_option_t *option;
    for (size_t i = 0; (option = yoke_command_option(&command, i)) != NULL; i++) {
        json += strcmp(option->name, "json") == 0;
        help += strcmp(option->name, "help") == 0;
    }
    assert_int_equal(json, 1);
    assert_int_equal(help, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spelling),
        cmocka_unit_test(test_order_and_repetition),
        cmocka_unit_test(test_ends_and_dashes),
        cmocka_unit_test(test_many_letters_fit),
        cmocka_unit_test(test_usage_errors),
        cmocka_unit_test(test_common_options_come_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
