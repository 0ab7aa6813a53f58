/* SPDX-License-Identifier: Apache-2.0 */
/* The one error path: status names, the last message per thread, the log sink. */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MESSAGE_SIZE 4096

static _Thread_local char last_error[MESSAGE_SIZE];
static _Thread_local int quiet_depth;
static _Thread_local uint64_t fail_count;
static yoke_log_sink_t current_sink;
static void *current_context;
static _Atomic int current_level = -1;

const char *yoke_status_name(yoke_status_t status)
{
    switch (status) {
    case YOKE_OK:
        return "YOKE_OK";
    case YOKE_ERR_NO:
        return "YOKE_ERR_NO";
    case YOKE_ERR_USAGE:
        return "YOKE_ERR_USAGE";
    case YOKE_ERR_BAD_INPUT:
        return "YOKE_ERR_BAD_INPUT";
    case YOKE_ERR_SYSTEM:
        return "YOKE_ERR_SYSTEM";
    case YOKE_ERR_PARTIAL:
        return "YOKE_ERR_PARTIAL";
    case YOKE_ERR_NO_MEMORY:
        return "YOKE_ERR_NO_MEMORY";
    case YOKE_ERR_NOT_FOUND:
        return "YOKE_ERR_NOT_FOUND";
    case YOKE_ERR_UNSUPPORTED:
        return "YOKE_ERR_UNSUPPORTED";
    case YOKE_ERR_UNKNOWN_RATE:
        return "YOKE_ERR_UNKNOWN_RATE";
    case YOKE_ERR_OUT_OF_RANGE:
        return "YOKE_ERR_OUT_OF_RANGE";
    case YOKE_ERR_UNREACHABLE:
        return "YOKE_ERR_UNREACHABLE";
    case YOKE_ERR_DEVICE_LOST:
        return "YOKE_ERR_DEVICE_LOST";
    case YOKE_ERR_DEVICE_MEMORY:
        return "YOKE_ERR_DEVICE_MEMORY";
    case YOKE_ERR_NOT_READY:
        return "YOKE_ERR_NOT_READY";
    case YOKE_ERR_TIMEOUT:
        return "YOKE_ERR_TIMEOUT";
    case YOKE_ERR_REVOKED:
        return "YOKE_ERR_REVOKED";
    case YOKE_ERR_PEER_FAILED:
        return "YOKE_ERR_PEER_FAILED";
    case YOKE_ERR_MISMATCH:
        return "YOKE_ERR_MISMATCH";
    case YOKE_ERR_REFUSED:
        return "YOKE_ERR_REFUSED";
    }
    return "YOKE_ERR_(unknown)";
}

int yoke_status_exit_code(yoke_status_t status)
{
    switch (status) {
    case YOKE_OK:
    case YOKE_ERR_NO:
    case YOKE_ERR_USAGE:
    case YOKE_ERR_BAD_INPUT:
    case YOKE_ERR_SYSTEM:
    case YOKE_ERR_PARTIAL:
        return (int)status;
    case YOKE_ERR_NOT_FOUND:
    case YOKE_ERR_OUT_OF_RANGE:
    case YOKE_ERR_UNSUPPORTED: /* of an input: a model or a cluster beyond this version */
        return 3;
    case YOKE_ERR_UNKNOWN_RATE:
        return 1;
    case YOKE_ERR_NO_MEMORY:
    case YOKE_ERR_UNREACHABLE:
    case YOKE_ERR_DEVICE_LOST:
    case YOKE_ERR_DEVICE_MEMORY:
    case YOKE_ERR_NOT_READY:
    case YOKE_ERR_TIMEOUT:
    case YOKE_ERR_REVOKED:
    case YOKE_ERR_PEER_FAILED:
    case YOKE_ERR_MISMATCH:
    case YOKE_ERR_REFUSED:
        return 4;
    }
    return 4;
}

const char *yoke_last_error(void)
{
    return last_error;
}

void yoke_log_set_sink(yoke_log_sink_t sink, void *context)
{
    current_sink = sink;
    current_context = context;
}

void yoke_log_set_level(yoke_log_level_t level)
{
    current_level = (int)level;
}

static int level_from_environment(void)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const char *text = getenv("YOKE_LOG");
    if (text != NULL)
        for (int i = 0; i < 4; i++)
            if (strcasecmp(text, names[i]) == 0)
                return i;
    return (int)YOKE_LOG_WARNING;
}

static void emit(yoke_log_level_t level, const char *line)
{
    static const char *const prefix[] = {"error: ", "warning: ", "", "debug: "};
    int limit = current_level;
    if (limit < 0)
        current_level = limit = level_from_environment();
    if ((int)level > limit)
        return;
    if (current_sink != NULL)
        current_sink(current_context, level, line);
    else
        fprintf(stderr, "yoke: %s%s\n", prefix[level], line);
}

yoke_status_t yoke_vfail(yoke_status_t status, const char *format, va_list args)
{
    vsnprintf(last_error, sizeof last_error, format, args);
    fail_count++;
    emit(quiet_depth > 0 ? YOKE_LOG_DEBUG : YOKE_LOG_ERROR, last_error);
    return status;
}

/* "cuda:1" is not named by "cuda:10". */
static bool names(const char *message, const char *where)
{
    size_t size = strlen(where);
    for (const char *at = message; (at = strstr(at, where)) != NULL; at += size)
        if (at[size] < '0' || at[size] > '9')
            return true;
    return false;
}

void yoke_fail_at(const char *where)
{
    char message[MESSAGE_SIZE];
    if (names(last_error, where))
        return;
    memcpy(message, last_error, sizeof message);
    snprintf(last_error, sizeof last_error, "%s: %.*s", where,
             (int)(MESSAGE_SIZE - strnlen(where, 64) - 3), message);
}

void yoke_fail_quiet(bool quiet)
{
    quiet_depth += quiet ? 1 : -1;
}

uint64_t yoke_fail_count(void)
{
    return fail_count;
}

yoke_status_t yoke_fail(yoke_status_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_vfail(status, format, args);
    va_end(args);
    return status;
}

yoke_status_t yoke_fail_memory(void)
{
    return yoke_fail(YOKE_ERR_NO_MEMORY, "out of host memory");
}

void yoke_log(yoke_log_level_t level, const char *format, ...)
{
    char line[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    emit(level, line);
}

const char *yoke_version(void)
{
    return YOKE_VERSION_STRING;
}
