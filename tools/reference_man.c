/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages in man(7) macros. */
#include "tools/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/table.h"
#include "tools/help.h"

#define LINE_WIDTH 72

/* One line of running text or of a macro's argument. */
static void add_escaped(const char *text, size_t size, yoke_text_t *out)
{
    if (size > 0 && (text[0] == '.' || text[0] == '\''))
        yoke_text_add(out, "\\&");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\')
            yoke_text_add(out, "\\e");
        else if (text[i] == '-')
            yoke_text_add(out, "\\-");
        else if (text[i] == '"')
            yoke_text_add(out, "\\(dq");
        else
            yoke_text_add_bytes(out, &text[i], 1);
    }
}

static void add_word(const char *text, yoke_text_t *out)
{
    add_escaped(text, strlen(text), out);
}

/* Lines one by one, leading and trailing blanks dropped, empty ones left out. */
static void add_text_lines(const char *text, yoke_text_t *out)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        size_t skip = strspn(text, " ");
        if (skip < size) {
            add_escaped(text + skip, size - skip, out);
            yoke_text_add(out, "\n");
        }
        text += size + (text[size] == '\n');
    }
}

static void add_prose(const char *text, yoke_text_t *out)
{
    yoke_text_t wrapped = {0};
    yoke_wrap(text, LINE_WIDTH, 0, &wrapped);
    add_text_lines(yoke_text_get(&wrapped), out);
    out->failed |= wrapped.failed;
    yoke_text_free(&wrapped);
}

static void add_paragraphs(const char *text, yoke_text_t *out)
{
    bool first = true;
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        char *paragraph =
            yoke_strndup(text, end != NULL ? (size_t)(end - text) : strlen(text));
        if (!first)
            yoke_text_add(out, ".PP\n");
        add_prose(paragraph != NULL ? paragraph : "", out);
        out->failed |= paragraph == NULL;
        free(paragraph);
        first = false;
        text = end != NULL ? end + 2 : NULL;
    }
}

/* Title and NAME section. */
static void add_title(const char *name, const char *summary, const char *date,
                      yoke_text_t *out)
{
    yoke_text_add(out, ".\\\" SPDX-License-Identifier: Apache-2.0\n"
                       ".\\\" Generated from the option tables; do not edit.\n.TH ");
    for (const char *at = name; *at != '\0'; at++) {
        char letter = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        add_escaped(&letter, 1, out);
    }
    yoke_text_printf(out, " 1 %s \"yoke %s\" \"User Commands\"\n.SH NAME\n", date,
                     yoke_version());
    char *line = yoke_format("%s - %s", name, summary);
    add_prose(line != NULL ? line : "", out);
    out->failed |= line == NULL;
    free(line);
}

static void add_option(const yoke_option_t *option, yoke_text_t *out)
{
    yoke_text_add(out, ".TP\n");
    if (option->letter != 0)
        yoke_text_printf(out, "\\fB\\-%c\\fR, ", option->letter);
    yoke_text_add(out, "\\fB\\-\\-");
    add_word(option->name, out);
    yoke_text_add(out, "\\fR");
    if (option->argument != NULL) {
        yoke_text_add(out, " \\fI");
        add_word(option->argument, out);
        yoke_text_add(out, "\\fR");
    }
    yoke_text_add(out, "\n");
    add_prose(option->help, out);
}

static void add_options(const yoke_command_t *command, yoke_text_t *out)
{
    const yoke_option_t *option;
    yoke_text_add(out, ".SH OPTIONS\n");
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++) {
        if (option->heading != NULL) {
            yoke_text_add(out, ".SS ");
            add_word(option->heading, out);
            yoke_text_add(out, "\n");
        }
        add_option(option, out);
    }
}

static void add_exit_status(yoke_text_t *out)
{
    yoke_text_add(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; yoke_exit_meanings[i].text != NULL; i++) {
        yoke_text_printf(out, ".TP\n%d\n", yoke_exit_meanings[i].code);
        add_prose(yoke_exit_meanings[i].text, out);
    }
}

static void add_environment(yoke_text_t *out)
{
    char variable[64];
    yoke_text_add(out, ".SH ENVIRONMENT\n");
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++) {
        yoke_text_printf(out, ".TP\n\\fB%s\\fR\n",
                         yoke_setting_variable(setting->key, variable));
        add_prose(setting->help, out);
        yoke_text_add(out, "Default: ");
        add_word(setting->initial, out);
        yoke_text_add(out, ".\n");
    }
    yoke_text_add(out, ".TP\n\\fBYOKE_CONFIG\\fR\nThe configuration file to read.\n");
}

static void add_files(yoke_text_t *out)
{
    yoke_text_add(out, ".SH FILES\n");
    add_prose(yoke_help_configuration_files, out);
    yoke_text_add(out, "The keys are:\n");
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++) {
        yoke_text_add(out, ".TP\n\\fB");
        add_word(setting->key, out);
        yoke_text_add(out, "\\fR = \\fI");
        add_word(setting->argument, out);
        char variable[64];
        yoke_text_printf(out, "\\fR\nThe same as %s.\n",
                         yoke_setting_variable(setting->key, variable));
    }
}

typedef enum example_part { PART_NONE, PART_COMMAND, PART_NOTE } example_part_t;

static void close_part(example_part_t part, yoke_text_t *out)
{
    static const char *const close[] = {"", ".fi\n", ".RE\n"};
    yoke_text_add(out, close[part]);
}

/* The heading brings its own space; the later examples need .PP before them. */
static void open_part(example_part_t part, bool first, yoke_text_t *out)
{
    if (part == PART_COMMAND)
        yoke_text_add(out, first ? ".nf\n" : ".PP\n.nf\n");
    else if (part == PART_NOTE)
        yoke_text_add(out, ".RS 4\n");
}

/* Commands start in the first column, what they do stands indented below, as in --help;
 * a line that ends with a backslash goes on in the next. */
static void add_examples(const char *examples, yoke_text_t *out)
{
    if (examples == NULL || examples[0] == '\0')
        return;
    yoke_text_add(out, ".SH EXAMPLES\n");
    example_part_t part = PART_NONE;
    bool goes_on = false, first = true;
    while (*examples != '\0') {
        size_t size = strcspn(examples, "\n");
        size_t skip = goes_on ? 0 : strspn(examples, " ");
        example_part_t next = goes_on || skip == 0 ? PART_COMMAND : PART_NOTE;
        if (skip >= size)
            next = PART_NONE;
        if (next != part) {
            close_part(part, out);
            open_part(next, first, out);
            first = first && next == PART_NONE;
            part = next;
        }
        if (part != PART_NONE) {
            add_escaped(examples + skip, size - skip, out);
            yoke_text_add(out, "\n");
        }
        goes_on = size > 0 && examples[size - 1] == '\\';
        examples += size + (examples[size] == '\n');
    }
    close_part(part, out);
}

static void add_see_also(const yoke_command_t *self, yoke_text_t *out)
{
    yoke_text_add(out, ".SH SEE ALSO\n");
    if (self != NULL)
        yoke_text_add(out, ".BR yoke (1)");
    bool first = self == NULL;
    for (size_t i = 0; yoke_commands[i] != NULL; i++) {
        if (yoke_commands[i] == self)
            continue;
        yoke_text_printf(out, "%s.BR yoke\\-%s (1)", first ? "" : ",\n",
                         yoke_commands[i]->name);
        first = false;
    }
    yoke_text_add(out, "\n");
}

void yoke_reference_man_overview(const char *date, yoke_text_t *out)
{
    add_title("yoke",
              "finds what unlike accelerators can do, and plans one model over them",
              date, out);
    yoke_text_add(out, ".SH SYNOPSIS\n"
                       "\\fByoke\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.br\n"
                       "\\fByoke help\\fR [\\fICOMMAND\\fR|\\fBconfiguration\\fR]\n.br\n"
                       "\\fByoke \\-\\-version\\fR\n"
                       ".SH DESCRIPTION\n");
    add_paragraphs(yoke_help_introduction, out);
    for (size_t i = 0; yoke_commands[i] != NULL; i++) {
        yoke_text_printf(out, ".TP\n\\fByoke\\-%s\\fR(1)\n", yoke_commands[i]->name);
        add_prose(yoke_commands[i]->summary, out);
    }
    yoke_text_add(out, ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
                       "Show the commands; after a command, its options.\n"
                       ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nShow the version.\n");
    add_exit_status(out);
    add_environment(out);
    add_files(out);
    yoke_text_add(out, ".SH EXAMPLES\n.nf\nyoke inventory\n.fi\n.RS 4\n"
                       "Show what accelerators this machine has.\n.RE\n");
    add_see_also(NULL, out);
}

void yoke_reference_man_command(const yoke_command_t *command, const char *date,
                                yoke_text_t *out)
{
    char *name = yoke_format("yoke-%s", command->name);
    add_title(name != NULL ? name : "", command->summary, date, out);
    out->failed |= name == NULL;
    free(name);
    yoke_text_add(out, ".SH SYNOPSIS\n.nf\n");
    add_text_lines(command->usage, out);
    yoke_text_add(out, ".fi\n.SH DESCRIPTION\n");
    add_paragraphs(command->description, out);
    add_options(command, out);
    add_exit_status(out);
    add_environment(out);
    add_files(out);
    add_examples(command->examples, out);
    add_see_also(command, out);
}
