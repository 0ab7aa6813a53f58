/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yoke-probe: asks one vendor library, reads the topology, times one device, or compiles
 * with a compiler that may end its process. It forks
 * once, before any library is loaded: the worker does the work and may crash, the other
 * process waits and says how it ended, whatever the caller does with SIGCHLD.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/cudalike/rtc.h"
#include "hal/probe/child.h"
#include "hal/measure/measure.h"
#include "hal/probe/topology.h"
#include "hal/probe/wire.h"

/* Exit code of a worker that came to its end by itself. */
#define FINISHED 93

static const char usage[] =
    "yoke-probe is run by yoke inventory; it is not meant to be run by hand.\n"
    "  yoke-probe backend NAME PROBE [--library FILE] [--unmasked]\n"
    "  yoke-probe topology [--sysroot DIR]\n"
    "  yoke-probe measure host | opencl LIBRARY PLATFORM INDEX | live NAME | pair NAME "
    "NAME\n"
    "  yoke-probe compile COMPILER LIBRARY NAME [OPTION]...\n"
    "Answers go to descriptor 3, one JSON object a line.\n";

static void put_record(yoke_probe_run_t *run, const yoke_record_t *record)
{
    run->record_count++;
    yoke_wire_put_record(YOKE_HELPER_FD, record);
}

static void put_finding(yoke_probe_run_t *run, const yoke_finding_t *finding)
{
    run->has_finding = true;
    yoke_wire_put_finding(YOKE_HELPER_FD, finding);
}

static const char *option(int argc, char **argv, const char *name)
{
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

static bool run_backend(int argc, char **argv)
{
    const yoke_backend_t *backend = argc >= 4 ? yoke_backend_find(argv[2]) : NULL;
    if (backend == NULL)
        return false;
    yoke_probe_run_t run = {
        .backend = backend,
        .probe = argv[3],
        .library = option(argc, argv, "--library"),
        .unmasked = strcmp(argv[argc - 1], "--unmasked") == 0,
        .put_record = put_record,
        .put_finding = put_finding,
    };
    backend->probe(&run);
    if (!run.has_finding)
        yoke_run_say(&run, "ok", NULL, NULL, false, "%zu device%s", run.record_count,
                     run.record_count == 1 ? "" : "s");
    return true;
}

static bool work(int argc, char **argv)
{
    if (strcmp(argv[1], "backend") == 0)
        return run_backend(argc, argv);
    if (strcmp(argv[1], "topology") == 0) {
        yoke_wire_put(YOKE_HELPER_FD, "topology",
                      yoke_topology_read(option(argc, argv, "--sysroot")));
        return true;
    }
    if (strcmp(argv[1], "measure") == 0 && argc >= 3)
        return yoke_measure_run(argc - 2, argv + 2, YOKE_HELPER_FD);
    if (strcmp(argv[1], "compile") == 0)
        return yoke_rtc_helper(argc - 2, argv + 2);
    return false;
}

static void be_worker(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    /* A sanitizer's handlers would turn a library's signal into an exit code. */
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        signal(deaths[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    if (!work(argc, argv)) {
        fputs(usage, stderr);
        _exit(2);
    }
    /* Not exit(): a vendor's exit handler may crash, and all has been said. */
    _exit(FINISHED);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t worker = fork();
    if (worker == 0)
        be_worker(argc, argv);
    int status = 0;
    while (worker > 0 && waitpid(worker, &status, 0) < 0)
        ;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    dprintf(YOKE_HELPER_FD, "\nend %d %d %d\n", worker > 0 && code == FINISHED, code,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}
