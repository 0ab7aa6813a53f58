/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_PLAN_NEXT_H
#define YOKE_TOOLS_PLAN_NEXT_H

#include "base/text.h"
#include "tools/cli.h"

/* The last block of `yoke plan`: what to do with the plan, for the file that it went to.
 */
void yoke_print_next(const yoke_args_t *args, size_t width, yoke_text_t *text);

#endif
