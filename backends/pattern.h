/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_PATTERN_H
#define YOKE_BACKENDS_PATTERN_H

/* Patterns of yoke_queue_fill() for runtimes that fill with bytes only. */

#include <stdbool.h>
#include <stddef.h>

/* Is every byte of the pattern the same? */
static inline bool yoke_pattern_is_one_byte(const unsigned char *pattern, size_t size)
{
    for (size_t i = 1; i < size; i++)
        if (pattern[i] != pattern[0])
            return false;
    return true;
}

#endif
