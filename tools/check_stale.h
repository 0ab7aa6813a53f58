/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_CHECK_STALE_H
#define YOKE_TOOLS_CHECK_STALE_H

#include "base/text.h"

/* Lines of a list of faults or figures. */
size_t yoke_count_lines(const char *lines);
/*
 * What the stale figures of yoke_plan_check_figures() are of, in one phrase: "predicted
 * times, times and memory of stages 0 and 1, match". `pipelines` is the plan's number of
 * them; with several, stages are counted and not listed.
 */
void yoke_stale_summary(const char *lines, size_t pipelines, yoke_text_t *out);

#endif
