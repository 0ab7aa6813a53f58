/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as processes that this program starts itself. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/bench_comm/bench_comm.h"

#define SLOT ((size_t)64 << 10)

/* Memory of all ranks, for the one all-gather that making a communicator needs. */
typedef struct meeting {
    int size, rank;
    struct shared {
        atomic_int arrived, round;
        char slots[][SLOT];
    } * shared;
} meeting_t;

static void meet(meeting_t *m)
{
    const struct timespec nap = {0, 50000};
    const int round = atomic_load(&m->shared->round);
    if (atomic_fetch_add(&m->shared->arrived, 1) + 1 == m->size) {
        atomic_store(&m->shared->arrived, 0);
        atomic_fetch_add(&m->shared->round, 1);
    }
    while (atomic_load(&m->shared->round) == round)
        nanosleep(&nap, NULL);
}

static yoke_status_t all_gather(void *context, const void *mine, size_t size, void *all)
{
    meeting_t *m = context;
    if (size > SLOT)
        return YOKE_ERR_OUT_OF_RANGE;
    memcpy(m->shared->slots[m->rank], mine, size);
    meet(m);
    for (int r = 0; r < m->size; r++)
        memcpy((char *)all + (size_t)r * size, m->shared->slots[r], size);
    meet(m);
    return YOKE_OK;
}

static int be_rank(meeting_t *m, const yoke_comm_options_t *options,
                   bench_rank_t function, void *context)
{
    yoke_comm_t *comm = NULL;
    yoke_status_t status =
        yoke_comm_create(m->size, m->rank, all_gather, m, options, &comm);
    if (status != YOKE_OK)
        return yoke_status_exit_code(status);
    const int code = function(comm, context);
    yoke_comm_destroy(comm);
    return code;
}

static void end_all(const pid_t *pids, int n)
{
    for (int r = 0; r < n; r++)
        if (pids[r] > 0)
            kill(pids[r], SIGKILL);
}

/* The reader of the output has gone: end as any filter does. */
static void follow_reader(const pid_t *pids, int n)
{
    end_all(pids, n);
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* The first failure ends the rest: after it they would wait for one that is gone. */
static int wait_for_all(pid_t *pids, int n)
{
    int code = 0, status = 0;
    for (int left = n; left > 0; left--) {
        const pid_t pid = wait(&status);
        if (pid < 0)
            return code != 0 ? code : 4;
        for (int r = 0; r < n; r++)
            if (pids[r] == pid)
                pids[r] = 0;
        const int one = WIFEXITED(status) ? WEXITSTATUS(status) : 4;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE && code == 0)
            follow_reader(pids, n);
        if (WIFSIGNALED(status) && code == 0)
            fprintf(stderr, "yoke-bench-comm: a rank was ended by signal %d\n",
                    WTERMSIG(status));
        if (one != 0 && code == 0) {
            code = one;
            end_all(pids, n);
        }
    }
    return code;
}

int bench_run_ranks(int n, const yoke_comm_options_t *options, bench_rank_t function,
                    void *context)
{
    pid_t pids[n];
    meeting_t m = {.size = n};
    const size_t size = sizeof *m.shared + (size_t)n * SLOT;
    m.shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m.shared == MAP_FAILED) {
        fprintf(stderr, "yoke-bench-comm: no shared memory: %s\n", strerror(errno));
        return 4;
    }
    fflush(NULL);
    for (int r = 0; r < n; r++) {
        pids[r] = fork();
        if (pids[r] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            m.rank = r;
            exit(be_rank(&m, options, function, context));
        }
        if (pids[r] < 0) {
            fprintf(stderr, "yoke-bench-comm: cannot start rank %d: %s\n", r,
                    strerror(errno));
            end_all(pids, r);
            return 4;
        }
    }
    return wait_for_all(pids, n);
}
