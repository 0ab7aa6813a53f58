/* SPDX-License-Identifier: Apache-2.0 */
/* `yoke`: picks the subcommand, and makes sure that what it printed has arrived. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/text.h"
#include "tools/cli.h"
#include "tools/help.h"

static int unknown_command(const char *name)
{
    const char *names[64] = {"help"};
    for (size_t i = 0; i < 62 && yoke_commands[i] != NULL; i++)
        names[i + 1] = yoke_commands[i]->name;
    const char *nearest = yoke_nearest(name, names);
    if (nearest != NULL)
        fprintf(stderr,
                "yoke: unknown command '%s' (did you mean '%s'?); see yoke --help\n",
                name, nearest);
    else
        fprintf(stderr, "yoke: unknown command '%s'; see yoke --help\n", name);
    return 2;
}

static int help(int argc, char **argv)
{
    if (argc == 1)
        return yoke_status_exit_code(yoke_help_print_overview(stdout));
    if (argc > 2) {
        fprintf(stderr, "yoke: help takes one command; see yoke --help\n");
        return 2;
    }
    if (strcmp(argv[1], "configuration") == 0)
        return yoke_status_exit_code(yoke_help_print_configuration());
    const yoke_command_t *command = yoke_command_find(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    return yoke_status_exit_code(yoke_help_print_command(command));
}

static int show_version(void)
{
    return printf("yoke %s\n", yoke_version()) < 0 ? 4 : 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        yoke_status_t status = yoke_help_print_overview(stderr);
        return status == YOKE_OK ? 2 : yoke_status_exit_code(status);
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(1, argv + 1);
    if (strcmp(word, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return show_version();
    if (strcmp(word, "--dump-commands") == 0)
        return yoke_status_exit_code(yoke_help_dump());
    if (word[0] == '-') {
        fprintf(stderr, "yoke: unknown option %s before the command; see yoke --help\n",
                word);
        return 2;
    }
    const yoke_command_t *command = yoke_command_find(word);
    yoke_status_t status = command != NULL ? yoke_config_load() : YOKE_OK;
    if (status != YOKE_OK)
        return yoke_status_exit_code(status);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(word);
}

/*
 * A closed descriptor 0, 1 or 2 would be taken by the next file opened, which then
 * receives what we print. Fill the gap with one on which reading and writing fail.
 */
static void guard_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) == -1)
            _exit(4);
}

static int finish(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == EOF || failed || fclose(stdout) == EOF) {
        if (code != 4)
            fprintf(stderr, "yoke: error: standard output: cannot write%s%s\n",
                    errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        return 4;
    }
    return code;
}

int main(int argc, char **argv)
{
    guard_standard_files();
    /* `yoke catalog | head` ends quietly, by SIGPIPE as other tools do. Where the parent
     * ignores that signal, the failed write is reported and the exit code is 4. Sockets
     * are written with MSG_NOSIGNAL. */
    return finish(dispatch(argc, argv));
}
