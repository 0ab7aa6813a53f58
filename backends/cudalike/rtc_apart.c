/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling in the helper program, both ends. The source goes in through one memory file
 * and the answer comes back through another, so that neither size nor bytes matter. A
 * compiler that aborts ends the helper, and becomes an error that says so.
 */
#include "backends/cudalike/rtc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "hal/probe/child.h"

#define SOURCE_FD YOKE_HELPER_FD + 1
#define ANSWER_FD YOKE_HELPER_FD + 2
#define SECONDS 120.0
#define MAX_WORDS 80

/* The answer: this, then the log, then the code. */
typedef struct answer {
    char mark[8];
    int32_t code; /* the vendor's; -2: the library did not load */
    uint32_t reserved;
    uint64_t log_size, code_size;
    char call[40]; /* that gave the code */
} answer_t;
static const char mark[8] = "yokertc";

static bool put(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t done = write(fd, at, size);
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

/* A whole memory file, with a NUL after it; NULL when it cannot be read. */
static char *slurp(int fd, size_t *out_size)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_size < 0)
        return NULL;
    size_t size = (size_t)info.st_size, done = 0;
    char *text = malloc(size + 1);
    while (text != NULL && done < size) {
        ssize_t got = pread(fd, text + done, size - done, (off_t)done);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    if (text == NULL || done != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    *out_size = size;
    return text;
}

/* --- in the helper ---------------------------------------------------------------------
 */

static void answer(const yoke_rtc_result_t *result)
{
    answer_t head = {.code = result->code,
                     .log_size = result->log != NULL ? strlen(result->log) : 0,
                     .code_size = result->binary.data != NULL ? result->binary.size : 0};
    memcpy(head.mark, mark, sizeof mark);
    memcpy(head.call, result->call, sizeof head.call);
    if (put(ANSWER_FD, &head, sizeof head) && put(ANSWER_FD, result->log, head.log_size))
        (void)put(ANSWER_FD, result->binary.data, head.code_size);
}

bool yoke_rtc_helper(int argc, char **argv)
{
    const yoke_rtc_t *rtc = argc >= 3 ? yoke_rtc_by_prefix(argv[0]) : NULL;
    const char *names[] = {argc >= 3 ? argv[1] : "", NULL}, *missing = "";
    yoke_rtc_result_t result = {.code = -2};
    yoke_library_t library = {0};
    yoke_rtc_api_t api;
    char *problem = NULL;
    bool found = false;
    size_t size = 0;
    if (rtc == NULL || argc - 3 > MAX_WORDS)
        return false;
    char *source = slurp(SOURCE_FD, &size);
    if (source == NULL)
        return false;
    if (!yoke_library_open(NULL, names, &library, &problem, &found))
        result.log = problem;
    else if (yoke_rtc_resolve(rtc, &library, &api, &missing))
        yoke_rtc_run(&api, source, argv[2], (const char *const *)argv + 3,
                     (size_t)(argc - 3), false, &result);
    answer(&result);
    free(source);
    yoke_rtc_result_clear(&result);
    return true;
}

/* --- in the caller ---------------------------------------------------------------------
 */

static yoke_status_t read_answer(const yoke_rtc_loaded_t *loaded, int fd,
                                 yoke_log_text_t log, void *log_context,
                                 yoke_rtc_code_t *out_code)
{
    size_t size = 0;
    char *raw = slurp(fd, &size);
    answer_t head;
    if (raw == NULL || size < sizeof head)
        goto broken;
    memcpy(&head, raw, sizeof head);
    if (memcmp(head.mark, mark, sizeof mark) != 0 || head.log_size > size - sizeof head ||
        head.code_size != size - sizeof head - head.log_size)
        goto broken;
    if (head.log_size > 0)
        log(log_context, raw + sizeof head, head.log_size);
    if (head.code == 0 && head.code_size > 0) {
        memmove(raw, raw + sizeof head + head.log_size, head.code_size);
        raw[head.code_size] = '\0';
        out_code->data = (unsigned char *)raw;
        out_code->size = head.code_size;
        return YOKE_OK;
    }
    free(raw);
    if (head.code == YOKE_RTC_COMPILATION || head.code == YOKE_RTC_INVALID_OPTION)
        return YOKE_ERR_BAD_INPUT;
    head.call[sizeof head.call - 1] = '\0';
    const char *text =
        loaded->api.error_string != NULL ? loaded->api.error_string(head.code) : NULL;
    return yoke_backend_fail_text(
        YOKE_ERR_SYSTEM, "%s%s: %s (%d), in %s", loaded->rtc->prefix, head.call,
        text != NULL ? text : "failed", head.code, loaded->path);
broken:
    free(raw);
    return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s in the helper gave no answer",
                                  loaded->rtc->name);
}

static yoke_status_t refuse_end(const yoke_rtc_loaded_t *loaded, const char *architecture,
                                const yoke_child_t *child)
{
    const char *name =
        child->signal_number != 0 ? sigabbrev_np(child->signal_number) : NULL;
    const char *said = child->last_words != NULL ? child->last_words : "";
    if (child->end == YOKE_CHILD_NOT_STARTED)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s needs the helper program: %s",
                                      loaded->rtc->name,
                                      child->problem != NULL ? child->problem : "");
    if (child->end == YOKE_CHILD_TIMED_OUT)
        return yoke_backend_fail_text(YOKE_ERR_TIMEOUT, "%s took longer than %g s",
                                      loaded->rtc->name, SECONDS);
    return yoke_backend_fail_text(
        YOKE_ERR_UNSUPPORTED,
        "%s (%s) ended its process (%s%s) while it compiled for '%s': it probably does "
        "not know that architecture%s%s",
        loaded->rtc->name, loaded->path, name != NULL ? "SIG" : "exit",
        name != NULL ? name : "", architecture,
        said[0] != '\0' ? "; its last words: " : "", said);
}

yoke_status_t yoke_rtc_compile_apart(const yoke_rtc_loaded_t *loaded,
                                     const char *const *options, size_t option_count,
                                     const char *architecture,
                                     const yoke_impl_program_source_t *source,
                                     yoke_log_text_t log, void *log_context,
                                     yoke_rtc_code_t *out_code)
{
    const char *arguments[MAX_WORDS + 6] = {"compile", loaded->rtc->prefix, loaded->path,
                                            source->name};
    int files[2] = {memfd_create("yoke-source", MFD_CLOEXEC),
                    memfd_create("yoke-code", MFD_CLOEXEC)};
    yoke_child_t child = {
        .arguments = arguments, .timeout = SECONDS, .given = files, .given_count = 2};
    yoke_status_t status;
    if (option_count > MAX_WORDS) {
        status = yoke_backend_fail_text(YOKE_ERR_USAGE, "too many compiler options");
    } else if (files[0] < 0 || files[1] < 0 ||
               !put(files[0], source->data, source->size)) {
        status = yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                        "no memory file for the source of a program");
    } else {
        memcpy(arguments + 4, options, option_count * sizeof *options);
        yoke_children_run(&child, 1);
        status = child.end == YOKE_CHILD_FINISHED
                     ? read_answer(loaded, files[1], log, log_context, out_code)
                     : refuse_end(loaded, architecture, &child);
        yoke_child_clear(&child);
    }
    for (size_t i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    return status;
}
