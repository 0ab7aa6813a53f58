/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_SIMULATE_REPLAY_H
#define YOKE_TOOLS_SIMULATE_REPLAY_H

/* `simulate --replay`: a recorded trace run again. */

#include "partition/recording.h"

/* `json`: file for the figures as a document, or NULL for text of `width` columns. */
yoke_status_t yoke_simulate_replay(const char *path, const yoke_recording_slow_t *slow,
                                   size_t slow_count, const char *json, size_t width);

#endif
