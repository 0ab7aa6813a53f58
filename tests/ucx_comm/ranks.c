/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/ranks.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
#define SLOT ((size_t)64 << 10)
#define LIMIT_S 120 /* of one call of yoke_test_ranks() */

typedef struct world {
    int size;
    atomic_int arrived, generation, over;
    _Atomic pid_t pids[MOST];
    char slots[][SLOT];
} world_t;

static world_t *world;
static int own_rank = -1;

void *yoke_test_shared(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    return memory;
}

void yoke_test_complain(const char *file, int line, const char *what)
{
    fprintf(stderr, "rank %d: %s:%d: not so: %s (last error: %s)\n", own_rank, file, line,
            what, yoke_last_error());
}

int yoke_test_pid(int rank)
{
    return atomic_load(&world->pids[rank]);
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

void yoke_test_meet(void)
{
    int generation = atomic_load(&world->generation);
    if (atomic_fetch_add(&world->arrived, 1) + 1 == world->size) {
        atomic_store(&world->arrived, 0);
        atomic_fetch_add(&world->generation, 1);
    }
    while (atomic_load(&world->generation) == generation && !atomic_load(&world->over))
        nap(20000);
}

yoke_status_t yoke_test_all_gather(void *context, const void *mine, size_t size,
                                   void *all)
{
    (void)context;
    if (size > SLOT)
        return YOKE_ERR_OUT_OF_RANGE;
    memcpy(world->slots[own_rank], mine, size);
    yoke_test_meet();
    for (int i = 0; i < world->size; i++)
        memcpy((char *)all + (size_t)i * size, world->slots[i], size);
    yoke_test_meet();
    return atomic_load(&world->over) ? YOKE_ERR_PEER_FAILED : YOKE_OK;
}

static void be_rank(int rank, int n, yoke_test_rank_t function, void *context)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    own_rank = rank;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        signal(faults[i], SIG_DFL); /* cmocka's handlers go on with the next test */
    atomic_store(&world->pids[rank], getpid());
    alarm(LIMIT_S + 10); /* should the test itself be killed */
    int result = function(rank, n, context);
    fflush(NULL);
    exit(result);
}

int yoke_test_ranks_status(int n, yoke_test_rank_t function, void *context, int *statuses)
{
    pid_t pids[MOST];
    int left = n, overdue = 0;
    size_t size = sizeof *world + (size_t)n * SLOT;
    world = yoke_test_shared(size);
    world->size = n;
    fflush(NULL);
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            be_rank(i, n, function, context);
        statuses[i] = -1;
    }
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (left > 0) {
        for (int i = 0; i < n; i++)
            if (pids[i] > 0 && waitpid(pids[i], &statuses[i], WNOHANG) == pids[i]) {
                /* Those who would meet it need not wait for it. */
                if (statuses[i] != 0)
                    atomic_store(&world->over, 1);
                pids[i] = 0;
                left--;
            }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec > LIMIT_S && overdue == 0)
            for (int i = 0; i < n; i++)
                if (pids[i] > 0) {
                    fprintf(stderr, "rank %d did not end in %d s: killed\n", i, LIMIT_S);
                    kill(pids[i], SIGKILL);
                    overdue++;
                }
        nap(1000000);
    }
    munmap(world, size);
    world = NULL;
    return overdue;
}

int yoke_test_ranks(int n, yoke_test_rank_t function, void *context)
{
    int statuses[MOST], failed = 0;
    yoke_test_ranks_status(n, function, context, statuses);
    for (int i = 0; i < n; i++) {
        if (statuses[i] == 0)
            continue;
        failed++;
        if (WIFSIGNALED(statuses[i]))
            fprintf(stderr, "rank %d was ended by signal %d\n", i, WTERMSIG(statuses[i]));
        else
            fprintf(stderr, "rank %d ended with %d\n", i, WEXITSTATUS(statuses[i]));
    }
    return failed;
}
