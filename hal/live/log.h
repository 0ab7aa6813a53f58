/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_LOG_H
#define YOKE_HAL_LIVE_LOG_H

/* What compilers say, one text per thread: yoke_program_log(). */

#include <stddef.h>

#pragma GCC visibility push(hidden)

void yoke_program_log_clear(void);
/** A yoke_log_text_t; what passes 1 MiB is dropped. */
void yoke_program_log_add(void *context, const char *text, size_t size);

#pragma GCC visibility pop
#endif
