/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_SPLIT_H
#define YOKE_PARTITION_SPLIT_H

/* A partition that the user writes: "27,27,27". */

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

/**
 * Layers of each stage: `stages` whole numbers of at least 1, separated by commas, blanks
 * around them allowed, that sum to `layers`. `out` has `stages` entries and is set only
 * on success.
 * @retval YOKE_ERR_USAGE  the message names the item, the count or the sum that is wrong
 */
yoke_status_t yoke_split_parse(const char *text, uint64_t layers, size_t stages,
                               uint64_t *out);

#endif
