/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_CLI_H
#define YOKE_TOOLS_CLI_H

/*
 * Subcommands and their options. One table of options drives the parser, --help, the
 * manual pages and the shell completion.
 */

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

typedef struct yoke_option {
    const char *name;     /* long name without dashes */
    char letter;          /* short form, 0: none */
    const char *argument; /* metavariable ("FILE"), NULL: a flag */
    const char *help;     /* one or two sentences; wrapped by --help */
    const char *heading;  /* starts a new group in --help when not NULL */
} yoke_option_t;

typedef struct yoke_command {
    const char *name;
    const char *summary;     /* one line, without a full stop */
    const char *usage;       /* "yoke plan --model MODEL --cluster CLUSTER [options]" */
    const char *description; /* paragraphs separated by \n\n */
    const char *examples;    /* lines "command\n    what it does\n" */
    const yoke_option_t
        *options; /* ends with name NULL; --help, --json come by themselves */
    int (*run)(int argc, char **argv); /* returns the exit code */
} yoke_command_t;

/* Result of parsing: options in the order given. */
typedef struct yoke_args {
    const yoke_command_t *command;
    struct {
        const yoke_option_t *option;
        const char *value; /* NULL for a flag */
    } * given;
    size_t given_count;
    const char **positional;
    size_t positional_count;
} yoke_args_t;

/**
 * Parse; prints --help itself. Returns true to go on; false: *out_exit is the exit code
 * (0 after --help, 2 after a usage error that was already reported with the nearest
 * option and the hint "yoke NAME --help").
 */
bool yoke_args_parse(const yoke_command_t *command, int argc, char **argv,
                     yoke_args_t *out_args, int *out_exit);
void yoke_args_free(yoke_args_t *args);
bool yoke_args_has(const yoke_args_t *args, const char *name);
/* Last value given, or NULL. */
const char *yoke_args_value(const yoke_args_t *args, const char *name);
/* i-th value of a repeatable option, or NULL past the end. */
const char *yoke_args_nth(const yoke_args_t *args, const char *name, size_t i);
/* Report a usage error ("yoke plan: ...; see yoke plan --help") and return 2. */
int yoke_usage_error(const yoke_command_t *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* All commands, NULL-terminated; tools/commands.c. */
extern const yoke_command_t *const yoke_commands[];

extern const yoke_command_t yoke_inventory_command, yoke_catalog_command,
    yoke_model_command, yoke_plan_command, yoke_explain_command, yoke_check_command,
    yoke_simulate_command, yoke_report_command, yoke_export_command,
    yoke_calibrate_command, yoke_bench_command;

/* Text to stdout or, with --json FILE|- given, the document instead. */
yoke_status_t yoke_write_output(const char *path, const char *text);

#endif
