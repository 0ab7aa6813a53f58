/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, laid out for 80 columns from the option tables. */
#include "tools/help.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"

#define WIDTH 80
#define OPTION_INDENT 26

const yoke_exit_meaning_t yoke_exit_meanings[] = {
    {0, "done"},
    {1,
     "the answer is \"no\": no feasible plan, a difference found, a requirement not met"},
    {2, "usage error: an option or argument that is not understood"},
    {3, "bad input: a file or document that cannot be read as what it should be"},
    {4, "a device, the network or the operating system failed"},
    {5, "partial result: something asked for could not be probed or reached"},
    {0, NULL}};

const char yoke_help_introduction[] =
    "Yoke finds what the accelerators of a machine or a cluster can do, and plans how to "
    "place one model on them although they are unlike.";

static void add_spaces(yoke_text_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        yoke_text_add(out, " ");
}

/* Text wrapped with every line at the same indent, then a newline. */
static void add_block(yoke_text_t *out, const char *text, size_t indent)
{
    add_spaces(out, indent);
    yoke_wrap(text, WIDTH, indent, out);
    yoke_text_add(out, "\n");
}

/* Paragraphs are separated by an empty line. */
static void add_paragraphs(yoke_text_t *out, const char *text)
{
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        char *paragraph =
            yoke_strndup(text, end != NULL ? (size_t)(end - text) : strlen(text));
        if (paragraph == NULL) {
            out->failed = true;
            return;
        }
        yoke_text_add(out, "\n");
        add_block(out, paragraph, 0);
        free(paragraph);
        text = end != NULL ? end + 2 : NULL;
    }
}

/* Lines as they are, each with a further indent. */
static void add_lines(yoke_text_t *out, const char *text, size_t indent)
{
    while (text != NULL && *text != '\0') {
        size_t size = strcspn(text, "\n");
        if (size > 0)
            add_spaces(out, indent);
        yoke_text_add_bytes(out, text, size);
        yoke_text_add(out, "\n");
        text += size + (text[size] == '\n');
    }
}

void yoke_help_option_name(const yoke_option_t *option, yoke_text_t *out)
{
    if (option->letter != 0)
        yoke_text_printf(out, "-%c, ", option->letter);
    else
        yoke_text_add(out, "    ");
    yoke_text_printf(out, "--%s", option->name);
    if (option->argument != NULL)
        yoke_text_printf(out, " %s", option->argument);
}

static void add_option(yoke_text_t *out, const yoke_option_t *option)
{
    size_t start = out->size;
    yoke_text_add(out, "  ");
    yoke_help_option_name(option, out);
    size_t used = out->size - start;
    if (used + 2 > OPTION_INDENT) {
        yoke_text_add(out, "\n");
        used = 0;
    }
    add_spaces(out, OPTION_INDENT - used);
    yoke_wrap(option->help, WIDTH, OPTION_INDENT, out);
    yoke_text_add(out, "\n");
}

static void add_options(yoke_text_t *out, const yoke_command_t *command)
{
    const yoke_option_t *option;
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++) {
        if (option->heading != NULL || i == 0)
            yoke_text_printf(out, "\n%s:\n",
                             option->heading != NULL ? option->heading : "Options");
        add_option(out, option);
    }
}

static yoke_status_t print(yoke_text_t *text)
{
    yoke_status_t status =
        text->failed ? yoke_fail_memory() : yoke_write_output(NULL, yoke_text_get(text));
    yoke_text_free(text);
    return status;
}

static void add_usage(yoke_text_t *out, const char *usage)
{
    yoke_text_add(out, "Usage: ");
    yoke_wrap(usage, WIDTH, 7, out);
    yoke_text_add(out, "\n");
}

yoke_status_t yoke_help_print_command(const yoke_command_t *command)
{
    yoke_text_t out = {0};
    add_usage(&out, command->usage);
    add_paragraphs(&out, command->description);
    add_options(&out, command);
    if (command->examples != NULL && command->examples[0] != '\0') {
        yoke_text_add(&out, "\nExamples:\n");
        add_lines(&out, command->examples, 2);
    }
    yoke_text_printf(&out,
                     "\nExit status and environment: see yoke --help and yoke-%s(1).\n",
                     command->name);
    return print(&out);
}

yoke_status_t yoke_help_print_overview(FILE *stream)
{
    yoke_text_t out = {0};
    yoke_text_add(&out, "Usage: yoke COMMAND [options]\n");
    add_paragraphs(
        &out, "Yoke finds what the accelerators of a machine or a cluster can do, and "
              "plans how to place one model on them although they are unlike.");
    yoke_text_add(&out, "\nCommands:\n");
    for (size_t i = 0; yoke_commands[i] != NULL; i++) {
        yoke_text_printf(&out, "  %-14s", yoke_commands[i]->name);
        yoke_wrap(yoke_commands[i]->summary, WIDTH, 16, &out);
        yoke_text_add(&out, "\n");
    }
    yoke_text_add(&out,
                  "\nHelp:\n"
                  "  yoke COMMAND --help       options of one command, with examples\n"
                  "  yoke help configuration   environment variables and the "
                  "configuration file\n"
                  "  yoke --version            version of this program\n"
                  "\nExit status:\n");
    for (size_t i = 0; yoke_exit_meanings[i].text != NULL; i++) {
        yoke_text_printf(&out, "  %d  ", yoke_exit_meanings[i].code);
        yoke_wrap(yoke_exit_meanings[i].text, WIDTH, 5, &out);
        yoke_text_add(&out, "\n");
    }
    yoke_status_t status = YOKE_OK;
    if (out.failed)
        status = yoke_fail_memory();
    else if (fputs(yoke_text_get(&out), stream) == EOF)
        status = YOKE_ERR_SYSTEM; /* told when the stream is closed: tools/main.c */
    yoke_text_free(&out);
    return status;
}

static json_t *string_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

static json_t *dump_option(const yoke_option_t *option)
{
    char letter[2] = {option->letter, '\0'};
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(option->name));
    json_object_set_new(object, "letter",
                        string_or_null(letter[0] != '\0' ? letter : NULL));
    json_object_set_new(object, "argument", string_or_null(option->argument));
    json_object_set_new(object, "help", json_string(option->help));
    json_object_set_new(object, "heading", string_or_null(option->heading));
    return object;
}

yoke_status_t yoke_help_dump(void)
{
    json_t *root = json_array();
    for (size_t i = 0; yoke_commands[i] != NULL; i++) {
        const yoke_command_t *command = yoke_commands[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(command->name));
        json_object_set_new(object, "summary", json_string(command->summary));
        json_object_set_new(object, "usage", json_string(command->usage));
        json_object_set_new(object, "description", string_or_null(command->description));
        json_object_set_new(object, "examples", string_or_null(command->examples));
        json_t *options = json_array();
        const yoke_option_t *option;
        for (size_t k = 0; (option = yoke_command_option(command, k)) != NULL; k++)
            json_array_append_new(options, dump_option(option));
        json_object_set_new(object, "options", options);
        json_array_append_new(root, object);
    }
    char *text = yoke_json_text(root);
    json_decref(root);
    if (text == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_write_output(NULL, text);
    free(text);
    return status;
}
