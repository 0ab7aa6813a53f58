/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser that every subcommand shares: GNU style, driven by its table. */
#include "tools/cli.h"
#include "tools/help.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

/* Options that every command has, unless its own table defines the same name. */
static const yoke_option_t common_options[] = {
    {"json", 'o', "FILE",
     "Write the result as a JSON document to FILE instead of the text; - is standard "
     "output. In yoke inventory and yoke plan, -o is --output and the text comes as "
     "well.",
     "Output"},
    {"help", 'h', NULL, "Show this help.", NULL},
    {0}};

const yoke_command_t *yoke_command_find(const char *name)
{
    for (size_t i = 0; yoke_commands[i] != NULL; i++)
        if (strcmp(yoke_commands[i]->name, name) == 0)
            return yoke_commands[i];
    return NULL;
}

static bool table_has(const yoke_option_t *options, const char *name)
{
    for (size_t i = 0; options != NULL && options[i].name != NULL; i++)
        if (strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

const yoke_option_t *yoke_command_option(const yoke_command_t *command, size_t index)
{
    size_t own = 0;
    while (command->options != NULL && command->options[own].name != NULL)
        own++;
    if (index < own)
        return &command->options[index];
    for (size_t i = 0, at = own; common_options[i].name != NULL; i++) {
        if (table_has(command->options, common_options[i].name))
            continue;
        if (at++ == index)
            return &common_options[i];
    }
    return NULL;
}

static const yoke_option_t *find_long(const yoke_command_t *command, const char *name,
                                      size_t size)
{
    const yoke_option_t *option;
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++)
        if (strlen(option->name) == size && memcmp(option->name, name, size) == 0)
            return option;
    return NULL;
}

static const yoke_option_t *find_letter(const yoke_command_t *command, char letter)
{
    const yoke_option_t *option;
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++)
        if (option->letter == letter)
            return option;
    return NULL;
}

int yoke_usage_error(const yoke_command_t *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *message = NULL;
    if (vasprintf(&message, format, args) < 0)
        message = NULL;
    va_end(args);
    fprintf(stderr, "yoke %s: %s; see yoke %s --help\n", command->name,
            message != NULL ? message : "out of memory", command->name);
    free(message);
    return 2;
}

static int unknown_option(const yoke_command_t *command, const char *word, size_t size)
{
    const char *names[128] = {NULL};
    const yoke_option_t *option;
    for (size_t i = 0; i < 127 && (option = yoke_command_option(command, i)) != NULL; i++)
        names[i] = option->name;
    char *name = yoke_strndup(word, size);
    const char *nearest = name != NULL ? yoke_nearest(name, names) : NULL;
    int code =
        nearest != NULL
            ? yoke_usage_error(command, "unknown option --%.*s (did you mean --%s?)",
                               (int)size, word, nearest)
            : yoke_usage_error(command, "unknown option --%.*s", (int)size, word);
    free(name);
    return code;
}

/* State of one parse; `next` is the argument that a "--name VALUE" would take. */
typedef struct parser {
    const yoke_command_t *command;
    int argc;
    char **argv;
    int next;
    yoke_args_t *args;
    int exit_code;
} parser_t;

static void give(parser_t *parser, const yoke_option_t *option, const char *value)
{
    /* Room for one entry per character was made up front: see yoke_args_parse(). */
    parser->args->given[parser->args->given_count].option = option;
    parser->args->given[parser->args->given_count].value = value;
    parser->args->given_count++;
}

/* `--plan --model x`: taking "--model" for the value would hide the real mistake. */
static bool looks_like_option(const yoke_command_t *command, const char *word)
{
    if (strncmp(word, "--", 2) != 0 || word[2] == '\0')
        return false;
    return find_long(command, word + 2, strcspn(word + 2, "=")) != NULL;
}

static bool take_value(parser_t *parser, const yoke_option_t *option,
                       const char **out_value)
{
    if (parser->next < parser->argc &&
        !looks_like_option(parser->command, parser->argv[parser->next])) {
        *out_value = parser->argv[parser->next++];
        return true;
    }
    parser->exit_code = yoke_usage_error(parser->command, "--%s needs a value (%s)",
                                         option->name, option->argument);
    return false;
}

static bool parse_long(parser_t *parser, const char *word)
{
    size_t size = strcspn(word, "=");
    const yoke_option_t *option = find_long(parser->command, word, size);
    const char *value = word[size] == '=' ? word + size + 1 : NULL;
    if (option == NULL) {
        parser->exit_code = unknown_option(parser->command, word, size);
        return false;
    }
    if (option->argument == NULL && value != NULL) {
        parser->exit_code =
            yoke_usage_error(parser->command, "--%s takes no value", option->name);
        return false;
    }
    if (option->argument != NULL && value == NULL && !take_value(parser, option, &value))
        return false;
    give(parser, option, value);
    return true;
}

/* "-oFILE", "-o FILE", and flags in a bunch. */
static bool parse_letters(parser_t *parser, const char *word)
{
    for (; *word != '\0'; word++) {
        const yoke_option_t *option = find_letter(parser->command, *word);
        if (option == NULL) {
            parser->exit_code =
                yoke_usage_error(parser->command, "unknown option -%c", *word);
            return false;
        }
        if (option->argument == NULL) {
            give(parser, option, NULL);
            continue;
        }
        const char *value = word[1] != '\0' ? word + 1 : NULL;
        if (value == NULL && !take_value(parser, option, &value))
            return false;
        give(parser, option, value);
        return true;
    }
    return true;
}

static bool parse_all(parser_t *parser)
{
    bool options_end = false;
    while (parser->next < parser->argc) {
        const char *word = parser->argv[parser->next++];
        bool good = true;
        if (options_end || word[0] != '-' || word[1] == '\0')
            parser->args->positional[parser->args->positional_count++] = word;
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else if (word[1] == '-')
            good = parse_long(parser, word + 2);
        else
            good = parse_letters(parser, word + 1);
        if (!good)
            return false;
    }
    return true;
}

/* Upper bound of options on the line: "-abc" counts as three. */
static size_t most_options(int argc, char **argv)
{
    size_t count = 1;
    for (int i = 1; i < argc; i++)
        count += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 1;
    return count;
}

bool yoke_args_parse(const yoke_command_t *command, int argc, char **argv,
                     yoke_args_t *out_args, int *out_exit)
{
    yoke_args_t args = {.command = command};
    args.given = calloc(most_options(argc, argv), sizeof *args.given);
    args.positional = calloc((size_t)argc + 1, sizeof *args.positional);
    parser_t parser = {command, argc, argv, 1, &args, 0};
    if (args.given == NULL || args.positional == NULL) {
        *out_exit = yoke_status_exit_code(yoke_fail_memory());
        goto stop;
    }
    bool good = parse_all(&parser);
    /* Help that was asked for before a mistake is given all the same. */
    if (yoke_args_has(&args, "help")) {
        *out_exit = yoke_status_exit_code(yoke_help_print_command(command));
        goto stop;
    }
    if (!good) {
        *out_exit = parser.exit_code;
        goto stop;
    }
    *out_args = args;
    return true;

stop:
    yoke_args_free(&args);
    return false;
}

void yoke_args_free(yoke_args_t *args)
{
    free(args->given);
    free(args->positional);
    *args = (yoke_args_t){0};
}

bool yoke_args_has(const yoke_args_t *args, const char *name)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, name) == 0)
            return true;
    return false;
}

const char *yoke_args_value(const yoke_args_t *args, const char *name)
{
    for (size_t i = args->given_count; i > 0; i--)
        if (strcmp(args->given[i - 1].option->name, name) == 0)
            return args->given[i - 1].value;
    return NULL;
}

const char *yoke_args_nth(const yoke_args_t *args, const char *name, size_t i)
{
    for (size_t at = 0; at < args->given_count; at++)
        if (strcmp(args->given[at].option->name, name) == 0 && i-- == 0)
            return args->given[at].value;
    return NULL;
}

yoke_status_t yoke_write_output(const char *path, const char *text)
{
    if (path != NULL && strcmp(path, "-") != 0)
        return yoke_file_write(path, text, strlen(text));
    if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
        return yoke_fail(YOKE_ERR_SYSTEM, "standard output: cannot write: %s",
                         strerror(errno));
    return YOKE_OK;
}
