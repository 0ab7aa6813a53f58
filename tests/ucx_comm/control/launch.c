/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/control/launch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct yoke_test_shared {
    pid_t processes[YOKE_TEST_RANKS];
    /* Two turns of blocks: a rank may be one all-gather ahead of another. */
    _Atomic uint64_t written[YOKE_TEST_RANKS], read[YOKE_TEST_RANKS];
    uint8_t blocks[2][YOKE_TEST_RANKS][YOKE_TEST_GATHER_LIMIT];
};

static _Thread_local int current_rank = -1;

int yoke_test_current_rank(void)
{
    return current_rank;
}

void *yoke_test_share(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

void yoke_test_unshare(void *memory, size_t size)
{
    munmap(memory, size);
}

pid_t yoke_test_process(const yoke_test_rank_t *rank, int of)
{
    return rank->shared->processes[of];
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A rank that is gone never comes: the limit of the whole run ends this. */
static bool wait_all(_Atomic uint64_t *counts, int size, uint64_t least)
{
    double end = seconds_now() + 30;
    struct timespec nap = {.tv_nsec = 200000};
    for (int rank = 0; rank < size; rank++)
        for (int round = 0; atomic_load(&counts[rank]) < least; round++) {
            if (seconds_now() > end)
                return false;
            if (round < 50)
                sched_yield();
            else
                nanosleep(&nap, NULL);
        }
    return true;
}

yoke_status_t yoke_test_all_gather(void *context, const void *mine, size_t size,
                                   void *all)
{
    yoke_test_rank_t *rank = context;
    yoke_test_shared_t *shared = rank->shared;
    if (size > YOKE_TEST_GATHER_LIMIT)
        return YOKE_ERR_USAGE;
    uint64_t turn = rank->gathers++;
    uint8_t(*blocks)[YOKE_TEST_GATHER_LIMIT] = shared->blocks[turn % 2];
    if (turn >= 2 && !wait_all(shared->read, rank->size, turn - 1))
        return YOKE_ERR_TIMEOUT;
    memcpy(blocks[rank->rank], mine, size);
    atomic_store(&shared->written[rank->rank], turn + 1);
    if (!wait_all(shared->written, rank->size, turn + 1))
        return YOKE_ERR_TIMEOUT;
    for (int i = 0; i < rank->size; i++)
        memcpy((uint8_t *)all + (size_t)i * size, blocks[i], size);
    atomic_store(&shared->read[rank->rank], turn + 1);
    return YOKE_OK;
}

/* --- processes -------------------------------------------------------------------- */

static void run_child(yoke_test_rank_t *rank, yoke_test_function_t function, int seconds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm((unsigned)seconds + 5);
    current_rank = rank->rank;
    exit(function(rank)); /* not _exit: leaks are looked for at the end */
}

static int result_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void reap(yoke_test_shared_t *shared, int size, int seconds, int *results)
{
    double end = seconds_now() + seconds;
    struct timespec nap = {.tv_nsec = 1000000};
    bool running[YOKE_TEST_RANKS];
    for (int i = 0; i < size; i++)
        running[i] = true;
    for (int left = size; left > 0;) {
        bool over = seconds_now() > end;
        for (int i = 0; i < size; i++) {
            int status;
            if (!running[i])
                continue;
            if (over) {
                fprintf(stderr, "rank %d still runs after %d s: killed\n", i, seconds);
                kill(shared->processes[i], SIGKILL);
            }
            if (waitpid(shared->processes[i], &status, over ? 0 : WNOHANG) <= 0)
                continue;
            results[i] = over ? -SIGALRM : result_of(status);
            running[i] = false;
            left--;
        }
        if (left > 0)
            nanosleep(&nap, NULL);
    }
}

static void run_processes(yoke_test_shared_t *shared, int size,
                          yoke_test_function_t function, void *context, int seconds,
                          int *results)
{
    fflush(NULL);
    for (int i = 0; i < size; i++) {
        yoke_test_rank_t rank = {size, i, context, shared, 0};
        pid_t child = fork();
        if (child == 0)
            run_child(&rank, function, seconds);
        if (child < 0) {
            perror("fork");
            exit(1);
        }
        shared->processes[i] = child;
    }
    reap(shared, size, seconds, results);
}

/* --- threads ---------------------------------------------------------------------- */

typedef struct runner {
    yoke_test_rank_t rank;
    yoke_test_function_t function;
    int result;
} runner_t;

static void *run_thread(void *argument)
{
    runner_t *runner = argument;
    current_rank = runner->rank.rank;
    runner->result = runner->function(&runner->rank);
    return NULL;
}

static void run_threads(yoke_test_shared_t *shared, int size,
                        yoke_test_function_t function, void *context, int seconds,
                        int *results)
{
    static runner_t runners[YOKE_TEST_RANKS];
    pthread_t threads[YOKE_TEST_RANKS];
    alarm((unsigned)seconds); /* a thread cannot be killed alone */
    for (int i = 0; i < size; i++) {
        runners[i] = (runner_t){{size, i, context, shared, 0}, function, 1};
        if (pthread_create(&threads[i], NULL, run_thread, &runners[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < size; i++)
        pthread_join(threads[i], NULL);
    alarm(0);
    for (int i = 0; i < size; i++)
        results[i] = runners[i].result;
}

int yoke_test_ranks(yoke_test_kind_t kind, int size, yoke_test_function_t function,
                    void *context, int seconds, int *results)
{
    int own[YOKE_TEST_RANKS], failed = 0;
    if (size < 1 || size > YOKE_TEST_RANKS)
        return size;
    yoke_test_shared_t *shared = yoke_test_share(sizeof *shared);
    if (results == NULL)
        results = own;
    if (kind == YOKE_TEST_PROCESSES)
        run_processes(shared, size, function, context, seconds, results);
    else
        run_threads(shared, size, function, context, seconds, results);
    for (int i = 0; i < size; i++)
        failed += results[i] != 0;
    yoke_test_unshare(shared, sizeof *shared);
    return failed;
}
