/* SPDX-License-Identifier: Apache-2.0 */
/* Start helper processes, collect what they say, end them at the deadline. */
#include "hal/probe/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define LINES_LIMIT ((size_t)4 << 20)
#define WORDS_LIMIT ((size_t)64 << 10)
#define MAX_GIVEN 2

extern char **environ;

/* The parent's side of one child. */
typedef struct running {
    yoke_child_t *child;
    pid_t pid;
    int lines_fd, words_fd; /* -1: closed */
    double deadline;
    yoke_text_t raw;   /* everything from the pipe of lines */
    yoke_text_t words; /* tail of what was printed */
    bool done;
} running_t;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- environment -------------------------------------------------------------------- */

static bool overridden(const char *entry, const char *const *changes)
{
    const char *equals = strchr(entry, '=');
    size_t length = equals != NULL ? (size_t)(equals - entry) : strlen(entry);
    for (size_t i = 0; changes != NULL && changes[i] != NULL; i++)
        if (strncmp(changes[i], entry, length) == 0 &&
            (changes[i][length] == '=' || changes[i][length] == '\0'))
            return true;
    return false;
}

/* A vector of borrowed strings; the caller frees the vector only. */
static const char **make_environment(const char *const *changes)
{
    size_t count = 0, extra = 0, n = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    while (changes != NULL && changes[extra] != NULL)
        extra++;
    const char **list = calloc(count + extra + 1, sizeof *list);
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!overridden(environ[i], changes))
            list[n++] = environ[i];
    for (size_t i = 0; i < extra; i++)
        if (strchr(changes[i], '=') != NULL)
            list[n++] = changes[i];
    return list;
}

/* --- start -------------------------------------------------------------------------- */

/* Above the numbers that the child's own descriptors get, so that no dup2() hits another.
 */
static bool make_pipe(int out_ends[2])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        out_ends[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 10);
        close(ends[i]);
    }
    if (out_ends[0] >= 0 && out_ends[1] >= 0) {
        fcntl(out_ends[0], F_SETFL, O_NONBLOCK);
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (out_ends[i] >= 0)
            close(out_ends[i]);
    return false;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                                         POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF);
    return error;
}

/* `given` are above the numbers that they become, like the pipes. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int lines, int words,
                           const int *given, size_t given_count)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, words, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, words, 2);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, lines, YOKE_HELPER_FD);
    for (size_t i = 0; i < given_count && error == 0; i++)
        error = posix_spawn_file_actions_adddup2(actions, given[i],
                                                 YOKE_HELPER_FD + 1 + (int)i);
    /* The caller's sockets and device files are none of the vendor library's business. */
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(actions, YOKE_HELPER_FD + 1 +
                                                                      (int)given_count);
    return error;
}

/* Copies of the caller's descriptors with high numbers; -1 where that fails. */
static bool lift_given(const yoke_child_t *child, int lifted[MAX_GIVEN])
{
    bool all = child->given_count <= MAX_GIVEN;
    for (size_t i = 0; i < MAX_GIVEN; i++) {
        lifted[i] = i < child->given_count
                        ? fcntl(child->given[i], F_DUPFD_CLOEXEC, 10 + MAX_GIVEN)
                        : -1;
        all = all && (i >= child->given_count || lifted[i] >= 0);
    }
    return all;
}

static int spawn_helper(const char *path, const yoke_child_t *child, int lines, int words,
                        pid_t *out_pid)
{
    int lifted[MAX_GIVEN];
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    size_t count = 0;
    while (child->arguments[count] != NULL)
        count++;
    const char **argv = calloc(count + 2, sizeof *argv);
    const char **envp = make_environment(child->environment);
    bool all = lift_given(child, lifted);
    int error = argv == NULL || envp == NULL ? ENOMEM
                : !all                       ? EMFILE
                                             : posix_spawnattr_init(&attributes);
    if (error != 0)
        goto out;
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        goto out_attributes;
    argv[0] = path;
    memcpy(argv + 1, child->arguments, count * sizeof *argv);
    error = set_attributes(&attributes);
    if (error == 0)
        error = set_descriptors(&actions, lines, words, lifted, child->given_count);
    if (error == 0)
        error = posix_spawn(out_pid, path, &actions, &attributes, (char *const *)argv,
                            (char *const *)envp);
    posix_spawn_file_actions_destroy(&actions);
out_attributes:
    posix_spawnattr_destroy(&attributes);
out:
    for (size_t i = 0; i < MAX_GIVEN; i++)
        if (lifted[i] >= 0)
            close(lifted[i]);
    free(argv);
    free(envp);
    return error;
}

static void start(running_t *run, const char *helper, const char *tried)
{
    int lines[2], words[2];
    run->lines_fd = run->words_fd = -1;
    run->done = true;
    run->child->end = YOKE_CHILD_NOT_STARTED;
    if (helper == NULL) {
        run->child->no_helper = true;
        run->child->problem =
            yoke_format("helper program yoke-probe not found (tried %s); "
                        "set YOKE_PROBE_HELPER to its path",
                        tried);
        return;
    }
    if (!make_pipe(lines)) {
        run->child->problem = yoke_format("no pipe for the helper: %s", strerror(errno));
        return;
    }
    if (!make_pipe(words)) {
        run->child->problem = yoke_format("no pipe for the helper: %s", strerror(errno));
        close(lines[0]);
        close(lines[1]);
        return;
    }
    int error = spawn_helper(helper, run->child, lines[1], words[1], &run->pid);
    close(lines[1]);
    close(words[1]);
    run->lines_fd = lines[0];
    run->words_fd = words[0];
    if (error != 0) {
        run->child->problem = yoke_format("cannot start %s: %s", helper, strerror(error));
        close(run->lines_fd);
        close(run->words_fd);
        return;
    }
    run->deadline = now() + run->child->timeout;
    run->done = false;
}

/* --- collect ------------------------------------------------------------------------ */

/*
 * The worker's end, said by the helper that watches it: "end FINISHED CODE SIGNAL".
 * FINISHED is 0 where a library ended the process by exit() or a signal.
 */
static bool find_end(const yoke_text_t *raw, int *out_finished, int *out_code,
                     int *out_signal)
{
    const char *text = yoke_text_get(raw);
    const char *at = raw->size > 0 ? strstr(text, "\nend ") : NULL;
    return at != NULL && strchr(at + 1, '\n') != NULL &&
           sscanf(at, "\nend %d %d %d", out_finished, out_code, out_signal) == 3;
}

/* Returns false at the end of the stream. */
static bool drain(int fd, yoke_text_t *text, size_t limit, bool *out_overflow)
{
    char buffer[16384];
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got > 0) {
            if (text->size + (size_t)got > limit) {
                *out_overflow = true;
                return false;
            }
            yoke_text_add_bytes(text, buffer, (size_t)got);
        } else if (got == 0) {
            return false;
        } else if (errno != EINTR) {
            return errno == EAGAIN;
        }
    }
}

/* Keep the tail only: the last line is what counts. */
static bool drain_words(int fd, yoke_text_t *words)
{
    char buffer[4096];
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got > 0) {
            if (words->size > WORDS_LIMIT)
                yoke_text_free(words);
            yoke_text_add_bytes(words, buffer, (size_t)got);
        } else if (got == 0) {
            return false;
        } else if (errno != EINTR) {
            return errno == EAGAIN;
        }
    }
}

static char *last_line(const yoke_text_t *words)
{
    const char *text = yoke_text_get(words);
    size_t end = words->size, begin;
    while (end > 0 && (unsigned char)text[end - 1] <= ' ')
        end--;
    for (begin = end; begin > 0 && text[begin - 1] != '\n';)
        begin--;
    if (end == begin)
        return NULL;
    char *line = yoke_strndup(text + begin, end - begin > 300 ? 300 : end - begin);
    for (char *c = line; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' '; /* escape codes would reach the user's terminal */
    return line;
}

/* Whole lines up to the helper's own "end"; a torn last one is dropped. */
static void keep_lines(running_t *run)
{
    const char *text = yoke_text_get(&run->raw);
    const char *end = run->raw.size > 0 ? strstr(text, "\nend ") : NULL;
    if (end == NULL) {
        end = text + run->raw.size;
        while (end > text && end[-1] != '\n')
            end--;
    } else if (end > text && end[-1] != '\n') {
        end++; /* the newline that begins "end" also ends a torn line */
    }
    yoke_text_add_bytes(&run->child->lines, text, (size_t)(end - text));
}

static void finish(running_t *run, yoke_child_end_t end)
{
    int status = 0;
    kill(-run->pid, SIGKILL);
    /* With SIGCHLD ignored by the caller this waits and then fails: both are fine. */
    while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool overflow = false;
    drain(run->lines_fd, &run->raw, LINES_LIMIT, &overflow);
    drain_words(run->words_fd, &run->words);
    close(run->lines_fd);
    close(run->words_fd);
    run->done = true;
    run->child->end = end;
    keep_lines(run);
    run->child->last_words = last_line(&run->words);
}

static void advance(running_t *run)
{
    yoke_child_t *child = run->child;
    int finished = 0;
    bool open_lines = drain(run->lines_fd, &run->raw, LINES_LIMIT, &child->overflowed);
    drain_words(run->words_fd, &run->words);
    if (find_end(&run->raw, &finished, &child->exit_code, &child->signal_number)) {
        finish(run, finished ? YOKE_CHILD_FINISHED : YOKE_CHILD_CRASHED);
    } else if (!open_lines) { /* the helper itself is gone, or spoke too much */
        child->signal_number = SIGKILL;
        finish(run, YOKE_CHILD_CRASHED);
    } else if (now() >= run->deadline) {
        finish(run, YOKE_CHILD_TIMED_OUT);
    }
}

/* Wait for anything to read or for the earliest deadline. */
static void wait_for_any(running_t *runs, size_t count, struct pollfd *fds)
{
    double earliest = -1;
    nfds_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (runs[i].done)
            continue;
        fds[n++] = (struct pollfd){.fd = runs[i].lines_fd, .events = POLLIN};
        if (earliest < 0 || runs[i].deadline < earliest)
            earliest = runs[i].deadline;
    }
    double left = earliest - now();
    int milliseconds = left <= 0 ? 0 : left > 60 ? 60000 : (int)(left * 1000) + 1;
    /* Words are read along: a library that prints without end must not block. */
    if (milliseconds > 50)
        milliseconds = 50;
    if (n > 0)
        poll(fds, n, milliseconds);
}

void yoke_children_run(yoke_child_t *children, size_t count)
{
    char *tried = NULL;
    char *helper = yoke_helper_path(&tried);
    running_t *runs = calloc(count > 0 ? count : 1, sizeof *runs);
    struct pollfd *fds = calloc(count > 0 ? count : 1, sizeof *fds);
    size_t left = count;

    if (runs == NULL || fds == NULL) {
        for (size_t i = 0; i < count; i++) {
            children[i].end = YOKE_CHILD_NOT_STARTED;
            children[i].problem = yoke_strdup("out of host memory");
        }
        left = 0;
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        runs[i].child = &children[i];
        start(&runs[i], helper, tried != NULL ? tried : "");
    }
    while (left > 0) {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            if (!runs[i].done)
                advance(&runs[i]);
            left += runs[i].done ? 0 : 1;
        }
        if (left > 0)
            wait_for_any(runs, count, fds);
    }
    for (size_t i = 0; i < count; i++) {
        yoke_text_free(&runs[i].raw);
        yoke_text_free(&runs[i].words);
    }
    free(runs);
    free(fds);
    free(helper);
    free(tried);
}

void yoke_child_clear(yoke_child_t *child)
{
    yoke_text_free(&child->lines);
    free(child->last_words);
    free(child->problem);
    child->last_words = child->problem = NULL;
}
