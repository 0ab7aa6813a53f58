/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_SIMULATE_FAIL_H
#define YOKE_TOOLS_SIMULATE_FAIL_H

/* `simulate --fail`: devices that fail in the middle of a step. */

#include "partition/replay.h"

/**
 * What is lost `at` seconds after the start of the step, and the step of what is left.
 * `json`: file for the figures, or NULL for text. `replay` is changed.
 * @retval YOKE_ERR_NO  nothing goes on without these devices
 */
yoke_status_t yoke_simulate_fail(const char *path, const char *selector, double at,
                                 const char *json, size_t width, yoke_replay_t *replay);

#endif
