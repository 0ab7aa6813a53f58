/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_ERROR_H
#define YOKE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include "yoke/status.h"

/** Record and log one failure message; returns `status`, for the caller to return. */
yoke_status_t yoke_fail(yoke_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
yoke_status_t yoke_vfail(yoke_status_t status, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/** Number of failures recorded on this thread so far: tells whether a message is still
 *  the last. */
uint64_t yoke_fail_count(void);
/** Put `where` and ": " in front of this thread's last message, unless it names it. Not
 * logged, and no failure of its own. */
void yoke_fail_at(const char *where);
/** While this thread is quiet (calls nest), failures are recorded and not logged: for
 * those who try one way and then another. */
void yoke_fail_quiet(bool quiet);
/** yoke_fail() for a failed allocation. */
yoke_status_t yoke_fail_memory(void);

void yoke_log(yoke_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define yoke_warn(...) yoke_log(YOKE_LOG_WARNING, __VA_ARGS__)
#define yoke_info(...) yoke_log(YOKE_LOG_INFO, __VA_ARGS__)
#define yoke_debug(...) yoke_log(YOKE_LOG_DEBUG, __VA_ARGS__)

#endif
