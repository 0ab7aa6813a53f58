/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/ranks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_RANKS 64
#define SLOT (64u << 10)

#if defined(__SANITIZE_ADDRESS__)
#define LEAKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS 1
#endif
#endif
#ifdef LEAKS
int __lsan_do_recoverable_leak_check(void);
#endif

struct yoke_test_world {
    int size;
    _Atomic uint32_t arrived, round;
    _Alignas(64) char shared[YOKE_TEST_SHARED];
    char slots[][SLOT];
};

static yoke_test_world_t *make_world(int size)
{
    size_t bytes = sizeof(yoke_test_world_t) + (size_t)size * SLOT;
    yoke_test_world_t *world =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED || size > MOST_RANKS) {
        perror("ranks");
        exit(1);
    }
    world->size = size;
    return world;
}

static void end_world(yoke_test_world_t *world)
{
    munmap(world, sizeof *world + (size_t)world->size * SLOT);
}

static yoke_test_rank_t make_rank(yoke_test_world_t *world, int rank, void *context)
{
    return (yoke_test_rank_t){world, rank, world->size, world->shared, context};
}

_Noreturn void yoke_test_fail(const yoke_test_rank_t *rank, const char *file, int line,
                              const char *what)
{
    fprintf(stderr, "rank %d: %s:%d: %s is not so (last error: %s)\n", rank->rank, file,
            line, what, yoke_last_error());
    fflush(stderr);
    _exit(1);
}

void yoke_test_barrier(yoke_test_rank_t *rank)
{
    yoke_test_world_t *world = rank->world;
    uint32_t round = atomic_load(&world->round);
    if (atomic_fetch_add(&world->arrived, 1) + 1 == (uint32_t)world->size) {
        atomic_store(&world->arrived, 0);
        atomic_fetch_add(&world->round, 1);
        return;
    }
    while (atomic_load(&world->round) == round)
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

yoke_status_t yoke_test_all_gather(void *context, const void *mine, size_t size,
                                   void *all)
{
    yoke_test_rank_t *rank = context;
    for (size_t done = 0; done < size || done == 0; done += SLOT) {
        size_t piece = size - done < SLOT ? size - done : SLOT;
        memcpy(rank->world->slots[rank->rank], (const char *)mine + done, piece);
        yoke_test_barrier(rank);
        for (int i = 0; i < rank->size; i++)
            memcpy((char *)all + (size_t)i * size + done, rank->world->slots[i], piece);
        yoke_test_barrier(rank);
    }
    return YOKE_OK;
}

/* --- processes
 * --------------------------------------------------------------------------- */

static _Noreturn void run_child(yoke_test_world_t *world, int number,
                                yoke_test_body_t body, void *context)
{
    alarm(YOKE_TEST_LIMIT_S + 10); /* should the parent be gone */
    yoke_test_rank_t rank = make_rank(world, number, context);
    int code = body(&rank);
#ifdef LEAKS
    if (code == 0 && __lsan_do_recoverable_leak_check() != 0)
        code = 23;
#endif
    fflush(NULL);
    _exit(code);
}

static void kill_all(const pid_t *pids, int size)
{
    for (int i = 0; i < size; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
}

static void reap(pid_t *pids, int size, int *out_codes)
{
    time_t end = time(NULL) + YOKE_TEST_LIMIT_S;
    for (int left = size; left > 0;) {
        int status;
        bool some = false;
        for (int i = 0; i < size; i++) {
            if (pids[i] <= 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
                continue;
            out_codes[i] = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
            pids[i] = 0;
            left--;
            some = true;
        }
        if (!some && time(NULL) > end) {
            fprintf(stderr, "ranks: still running after %d s; killed\n",
                    YOKE_TEST_LIMIT_S);
            kill_all(pids, size);
            end += 3600; /* once */
        }
        if (!some)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void yoke_test_ranks_codes(int size, yoke_test_body_t body, void *context, int *out_codes)
{
    pid_t pids[MOST_RANKS] = {0};
    yoke_test_world_t *world = make_world(size);
    fflush(NULL);
    for (int i = 0; i < size; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            run_child(world, i, body, context);
        if (pids[i] < 0) {
            perror("fork");
            kill_all(pids, i);
            exit(1);
        }
    }
    reap(pids, size, out_codes);
    end_world(world);
}

static int count_bad(const int *codes, int size)
{
    int bad = 0;
    for (int i = 0; i < size; i++)
        if (codes[i] != 0) {
            fprintf(stderr, "rank %d ended with %d\n", i, codes[i]);
            bad++;
        }
    return bad;
}

int yoke_test_ranks(int size, yoke_test_body_t body, void *context)
{
    int codes[MOST_RANKS];
    yoke_test_ranks_codes(size, body, context, codes);
    return count_bad(codes, size);
}

/* --- threads
 * ------------------------------------------------------------------------------ */

typedef struct yoke_test_thread {
    pthread_t thread;
    yoke_test_rank_t rank;
    yoke_test_body_t body;
    int code;
} yoke_test_thread_t;

static void *run_thread(void *argument)
{
    yoke_test_thread_t *thread = argument;
    thread->code = thread->body(&thread->rank);
    return NULL;
}

int yoke_test_threads(int size, yoke_test_body_t body, void *context)
{
    yoke_test_thread_t threads[MOST_RANKS];
    int codes[MOST_RANKS];
    yoke_test_world_t *world = make_world(size);
    alarm(YOKE_TEST_LIMIT_S); /* a thread cannot be killed alone */
    for (int i = 0; i < size; i++) {
        threads[i].rank = make_rank(world, i, context);
        threads[i].body = body;
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (int i = 0; i < size; i++) {
        pthread_join(threads[i].thread, NULL);
        codes[i] = threads[i].code;
    }
    alarm(0);
    end_world(world);
    return count_bad(codes, size);
}
