/* SPDX-License-Identifier: Apache-2.0 */
/* What `yoke plan` says comes next: commands that work as they stand. */
#include "tools/plan_next.h"

#include <string.h>

#include "partition/plan_print.h"
#include "tools/inputs.h"

static bool is_stdin(const yoke_args_t *args, const char *name)
{
    const char *value = yoke_args_value(args, name);
    return value != NULL && strcmp(value, "-") == 0;
}

/* An input that the plan alone cannot give again: from standard input or from outside. */
static void add_input(const yoke_args_t *args, const char *name, char letter,
                      const char *placeholder, yoke_text_t *line)
{
    const char *value = yoke_args_value(args, name);
    if (value == NULL || (!is_stdin(args, name) && !yoke_input_leads_outside(value)))
        return;
    yoke_text_printf(line, " -%c ", letter);
    yoke_quote_word(is_stdin(args, name) ? placeholder : value, line);
}

/* Behind the command where there is room, below it where there is none. */
static void add_command(const char *command, size_t column, const char *does,
                        size_t width, yoke_text_t *text)
{
    if (2 + column + strlen(does) <= width)
        yoke_text_printf(text, "  %-*s%s\n", (int)column, command, does);
    else
        yoke_text_printf(text, "  %s\n      %s\n", command, does);
}

void yoke_print_next(const yoke_args_t *args, size_t width, yoke_text_t *text)
{
    static const char *const commands[][2] = {
        {"explain", "why, in words"},
        {"simulate", "the step as a timeline"},
        {"check", "after editing it by hand"},
    };
    const char *output = yoke_args_value(args, "output");
    yoke_text_t file = {0};
    yoke_quote_word(output != NULL ? output : "plan.json", &file);
    yoke_print_heading(
        output != NULL ? "Next" : "Next (with the plan written by -o plan.json)", text);
    enum { COUNT = sizeof commands / sizeof *commands };
    yoke_text_t lines[COUNT] = {0};
    size_t column = 0;
    for (size_t i = 0; i < COUNT; i++) {
        yoke_text_printf(&lines[i], "yoke %s %s", commands[i][0], yoke_text_get(&file));
        if (i > 0) {
            add_input(args, "model", 'm', "MODEL", &lines[i]);
            add_input(args, "cluster", 'c', "CLUSTER", &lines[i]);
        }
        column = lines[i].size + 3 > column ? lines[i].size + 3 : column;
    }
    for (size_t i = 0; i < COUNT; i++) {
        add_command(yoke_text_get(&lines[i]), column, commands[i][1], width, text);
        yoke_text_free(&lines[i]);
    }
    yoke_text_free(&file);
}
