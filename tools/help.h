/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_HELP_H
#define YOKE_TOOLS_HELP_H

/* What the command says of itself: help texts and the table as JSON. */

#include <stdio.h>
#include "base/text.h"
#include "tools/cli.h"

/** i-th option of a command, the common ones included; NULL past the end. */
const yoke_option_t *yoke_command_option(const yoke_command_t *command, size_t index);
/** Command by name, or NULL. */
const yoke_command_t *yoke_command_find(const char *name);

/** Exit codes and their meaning, as in the manual; ends with text NULL. */
typedef struct yoke_exit_meaning {
    int code;
    const char *text;
} yoke_exit_meaning_t;
extern const yoke_exit_meaning_t yoke_exit_meanings[];

/** Append "-o, --json FILE". */
void yoke_help_option_name(const yoke_option_t *option, yoke_text_t *out);
yoke_status_t yoke_help_print_command(const yoke_command_t *command);
/** The overview of `yoke --help`. */
yoke_status_t yoke_help_print_overview(FILE *stream);
/** What the program is for, in a sentence or two. */
extern const char yoke_help_introduction[];
/** Where the configuration files are and which value wins, in sentences. */
extern const char yoke_help_configuration_files[];
/** `yoke help configuration`. */
yoke_status_t yoke_help_print_configuration(void);
/** `yoke --dump-commands`: all commands and options, as JSON. */
yoke_status_t yoke_help_dump(void);

#endif
