/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_REFERENCE_H
#define YOKE_TOOLS_REFERENCE_H

/* Texts that are generated from the option and settings tables at build time. */

#include "base/text.h"
#include "tools/cli.h"

/** Manual page of the program itself, yoke(1). */
void yoke_reference_man_overview(const char *date, yoke_text_t *out);
/** Manual page of one command, e.g. yoke-plan(1). */
void yoke_reference_man_command(const yoke_command_t *command, const char *date,
                                yoke_text_t *out);
/** Completion for bash. */
void yoke_reference_completion(yoke_text_t *out);
/** docs/configuration.md */
void yoke_reference_configuration(yoke_text_t *out);

#endif
