/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CHILD_H
#define YOKE_HAL_CHILD_H

/*
 * Helper processes: started with posix_spawn() in a process group each, all at once, with
 * a deadline. What a helper says comes as lines through a pipe of its own; what vendor
 * libraries print is caught apart. Nothing here depends on the caller's SIGCHLD
 * disposition: the helper watches over its own worker and says how that ended.
 */

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "yoke/status.h"

typedef enum yoke_child_end {
    YOKE_CHILD_FINISHED = 0, /* the worker returned */
    YOKE_CHILD_CRASHED, /* by a signal, or exit() with the code, before it was done */
    YOKE_CHILD_TIMED_OUT,
    YOKE_CHILD_NOT_STARTED
} yoke_child_end_t;

typedef struct yoke_child {
    /* in */
    const char *const *arguments; /* without argv[0]; NULL-terminated */
    const char *const
        *environment; /* "NAME=value" to set, "NAME" to remove; NULL: none */
    double timeout;   /* seconds */
    /* Descriptors that the helper gets as YOKE_HELPER_FD + 1 and on; NULL: none. */
    const int *given;
    size_t given_count;
    /* out */
    yoke_child_end_t end;
    int signal_number, exit_code; /* of a crashed worker */
    yoke_text_t lines;            /* complete lines that it wrote, at most 4 MiB */
    char *last_words;             /* last line printed by a library, NULL: none */
    char *problem;                /* why it was not started */
    bool overflowed;
    bool no_helper; /* not started: the helper program is not there */
} yoke_child_t;

/* Run all at once; returns when the last has ended or was killed. Fills the out half. */
void yoke_children_run(yoke_child_t *children, size_t count);
void yoke_child_clear(yoke_child_t *child);

/* Path of the helper program; NULL when there is none, *out_tried lists the places
 * (caller frees both). */
char *yoke_helper_path(char **out_tried);

/* Descriptor on which the helper writes its lines. */
#define YOKE_HELPER_FD 3

#endif
