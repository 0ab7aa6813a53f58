/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program, run to its end or a deadline. Its output is read through a pipe, whose end
 * says that it is done, so that nothing depends on the caller's SIGCHLD disposition.
 */
#include "backends/level_zero/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int spawn(const char *path, const char *const *arguments, int output, pid_t *out)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_init(&attributes);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        goto out_attributes;
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (error == 0)
        error = posix_spawn(out, path, &actions, &attributes, (char *const *)arguments,
                            environ);
    posix_spawn_file_actions_destroy(&actions);
out_attributes:
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* false: the deadline came first. */
static bool listen_to(int fd, double deadline, yoke_log_text_t log, void *log_context)
{
    char text[4096];
    for (;;) {
        double left = deadline - now();
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (left <= 0)
            return false;
        int ready = poll(&poll_fd, 1, left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (ready <= 0)
            continue;
        ssize_t got = read(fd, text, sizeof text);
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got > 0 && log != NULL)
            log(log_context, text, (size_t)got);
    }
}

yoke_status_t yoke_ze_run(const char *path, const char *const *arguments, double seconds,
                          yoke_log_text_t log, void *log_context)
{
    int ends[2], state = 0;
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "level_zero: no pipe for %s: %s",
                                      path, strerror(errno));
    int error = spawn(path, arguments, ends[1], &pid);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "level_zero: cannot start %s: %s",
                                      path, strerror(error));
    }
    bool ended = listen_to(ends[0], now() + seconds, log, log_context);
    close(ends[0]);
    if (!ended)
        kill(-pid, SIGKILL);
    pid_t waited;
    while ((waited = waitpid(pid, &state, 0)) < 0 && errno == EINTR)
        ;
    if (!ended)
        return yoke_backend_fail_text(
            YOKE_ERR_TIMEOUT, "level_zero: %s did not end within %.0f s", path, seconds);
    /* With SIGCHLD ignored by the caller the code is lost: what it wrote will tell. */
    if (waited < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
        return YOKE_OK;
    return YOKE_ERR_NO;
}
