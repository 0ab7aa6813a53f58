/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that end, stop, leave in good order, or are given up; and what the others make of
 * it: revocation, agreement, new planes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/control/launch.h"
#include "ucx_comm/control/plane.h"

#define SECONDS 60

/* What the ranks of one run tell the test; in shared memory. */
typedef struct report {
    unsigned seed;
    int victim, victims;
    _Atomic int arrived;
    _Atomic int64_t killed_us;
    _Atomic int64_t noticed_us[YOKE_TEST_RANKS];
    uint64_t failed[YOKE_TEST_RANKS]; /* as bits */
    uint32_t flags[YOKE_TEST_RANKS];
    bool agreed[YOKE_TEST_RANKS];
    _Atomic int step;
} report_t;

static report_t *report;

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static yoke_status_t make(yoke_test_rank_t *rank, yoke_control_t **out_control)
{
    return yoke_control_create(rank->size, rank->rank, yoke_test_all_gather, rank, NULL,
                               out_control);
}

static bool wait_revoked(yoke_control_t *control)
{
    for (int i = 0; i < 60000; i++) {
        if (atomic_load(yoke_control_state(control)) == YOKE_CONTROL_REVOKED)
            return true;
        usleep(500);
    }
    return false;
}

static bool wait_step(int step)
{
    for (int i = 0; i < 60000 && atomic_load(&report->step) < step; i++)
        usleep(500);
    return atomic_load(&report->step) >= step;
}

static uint64_t failed_bits(yoke_control_t *control)
{
    int ranks[64];
    uint64_t bits = 0;
    int count = yoke_control_failed(control, ranks, 64);
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)1 << ranks[i];
    return bits;
}

static int survivors_of(const yoke_control_t *control, uint64_t failed, int *ranks)
{
    int count = 0;
    for (int i = 0; i < control->size; i++)
        if ((failed >> i & 1) == 0)
            ranks[count++] = i;
    return count;
}

/* A new plane of those who live, and an all-gather on it. */
static int shrink_and_gather(yoke_control_t *control, uint64_t failed)
{
    int ranks[64], all[64];
    yoke_control_t *next = NULL;
    int count = survivors_of(control, failed, ranks);
    YOKE_CHECK(yoke_control_create_from(control, ranks, count, 1, &next) == YOKE_OK);
    YOKE_CHECK(yoke_control_size(next) == count);
    YOKE_CHECK(yoke_control_identity(next) != yoke_control_identity(control));
    int mine = yoke_control_rank(control);
    YOKE_CHECK(yoke_control_all_gather(next, &mine, sizeof mine, all, 0) == YOKE_OK);
    for (int i = 0; i < count; i++)
        YOKE_CHECK(all[i] == ranks[i]);
    YOKE_CHECK(yoke_control_reason(next) == YOKE_OK);
    yoke_control_destroy(next);
    return 0;
}

static void new_report(unsigned seed, int victim, int victims)
{
    memset(report, 0, sizeof *report);
    report->seed = seed;
    report->victim = victim;
    report->victims = victims;
}

/* --- killed ----------------------------------------------------------------------- */

static void die(int number)
{
    (void)number;
    atomic_store(&report->killed_us, now_us());
    kill(getpid(), SIGKILL);
}

static void die_after(int64_t us)
{
    struct itimerval timer = {.it_value = {.tv_sec = 0, .tv_usec = us + 1}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int be_killed_or_survive(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t mine = 0, all[YOKE_TEST_RANKS], flags = 0xff00u | (1u << rank->rank);
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    srand(report->seed);
    int64_t delay = rand() % 3000;
    bool victim = rank->rank == report->victim;
    if (victim)
        die_after(delay);
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK)
        status = yoke_control_all_gather(control, &mine, sizeof mine, all, 20000);
    if (victim) /* it is on its way */
        pause();
    atomic_store(&report->noticed_us[rank->rank], now_us());
    YOKE_CHECK(status == YOKE_ERR_PEER_FAILED);
    char name[32];
    snprintf(name, sizeof name, "rank %d (host ", report->victim);
    YOKE_CHECK(strstr(yoke_last_error(), name) != NULL);
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    report->flags[rank->rank] = flags;
    report->failed[rank->rank] = failed_bits(control);
    report->agreed[rank->rank] = true;
    if (shrink_and_gather(control, report->failed[rank->rank]) != 0)
        return 1;
    yoke_control_destroy(control);
    return 0;
}

static int all_but_victims(const int *results, int size, int first, int count)
{
    int wrong = 0;
    for (int i = 0; i < size; i++) {
        bool victim = i >= first && i < first + count;
        wrong += victim ? results[i] != -SIGKILL : results[i] != 0;
    }
    return wrong;
}

static void survivors_of_a_kill_agree(void **unused)
{
    (void)unused;
    enum { SIZE = 4, ROUNDS = 60 };
    int64_t worst = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int results[SIZE], victim = (int)(round % SIZE);
        new_report(round * 977, victim, 1);
        yoke_test_ranks(YOKE_TEST_PROCESSES, SIZE, be_killed_or_survive, NULL, SECONDS,
                        results);
        assert_int_equal(all_but_victims(results, SIZE, victim, 1), 0);
        uint32_t flags = 0xff00;
        for (int i = 0; i < SIZE; i++) {
            if (i == victim)
                continue;
            assert_true(report->agreed[i]);
            assert_int_equal(report->failed[i], (uint64_t)1 << victim);
            assert_int_equal(report->flags[i], flags);
            int64_t took = report->noticed_us[i] - report->killed_us;
            worst = took > worst ? took : worst;
        }
    }
    print_message("%d kills: noticed by all survivors within %.1f ms\n", ROUNDS,
                  (double)worst / 1000);
}

/* The coordinator, or the first two, die somewhere around the agreement. */
static int agree_and_die(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t flags = ~(1u << rank->rank);
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    srand(report->seed + (unsigned)rank->rank);
    bool victim = rank->rank < report->victims;
    if (victim)
        die_after(rand() % 1500);
    else
        usleep((useconds_t)(rand() % 1000));
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    if (victim)
        pause();
    report->flags[rank->rank] = flags;
    report->failed[rank->rank] = failed_bits(control);
    report->agreed[rank->rank] = true;
    /* Once more: now surely without them. */
    YOKE_CHECK(wait_revoked(control));
    flags = 7;
    do
        YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    while (failed_bits(control) != ((uint64_t)1 << report->victims) - 1);
    YOKE_CHECK(flags == 7);
    if (shrink_and_gather(control, failed_bits(control)) != 0)
        return 1;
    yoke_control_destroy(control);
    return 0;
}

static void coordinators_may_die(void **unused)
{
    (void)unused;
    enum { SIZE = 5, ROUNDS = 50 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        int results[SIZE], victims = 1 + (int)(round % 2);
        new_report(round * 31, 0, victims);
        yoke_test_ranks(YOKE_TEST_PROCESSES, SIZE, agree_and_die, NULL, SECONDS, results);
        assert_int_equal(all_but_victims(results, SIZE, 0, victims), 0);
        for (int i = victims; i < SIZE; i++) {
            assert_int_equal(report->failed[i], report->failed[victims]);
            assert_int_equal(report->flags[i], report->flags[victims]);
        }
    }
}

/* The coordinator decides, tells one rank alone, and dies: that decision is the one of
 * all. report->victim is the one that is told. */
static int tell_one_and_die(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t flags = 0xf0f0u | (1u << rank->rank);
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 0) {
        pthread_mutex_lock(&control->lock);
        for (int i = 1; i < rank->size; i++)
            if (i != report->victim)
                control->links[i].muted = true;
        pthread_mutex_unlock(&control->lock);
        YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
        kill(getpid(), SIGKILL);
    }
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    report->flags[rank->rank] = flags;
    report->failed[rank->rank] = failed_bits(control);
    report->agreed[rank->rank] = true;
    YOKE_CHECK(wait_revoked(control));
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    YOKE_CHECK(failed_bits(control) == 1);
    yoke_control_destroy(control);
    return 0;
}

static void a_decision_outlives_its_coordinator(void **unused)
{
    (void)unused;
    enum { SIZE = 4 };
    for (int told = 1; told < SIZE; told++) {
        int results[SIZE];
        new_report(0, told, 1);
        yoke_test_ranks(YOKE_TEST_PROCESSES, SIZE, tell_one_and_die, NULL, SECONDS,
                        results);
        assert_int_equal(all_but_victims(results, SIZE, 0, 1), 0);
        for (int i = 1; i < SIZE; i++) {
            assert_int_equal(report->flags[i], 0xf0f0);
            /* It was decided while rank 0 lived. Who had not heard of its death before
             * still gets that decision. */
            assert_int_equal(report->failed[i], 0);
        }
    }
}

/* A child without exec() holds the sockets of its dead parent: only the pidfd tells. */
static int leave_a_child(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 0) {
        if (fork() == 0) {
            while (atomic_load(&report->step) == 0)
                usleep(1000);
            _exit(0);
        }
        kill(getpid(), SIGKILL);
    }
    bool revoked = wait_revoked(control);
    YOKE_CHECK(revoked);
    YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_PEER_FAILED);
    YOKE_CHECK(strstr(yoke_last_error(), "its process is gone") != NULL);
    yoke_control_destroy(control);
    return 0;
}

static void a_childs_sockets_do_not_hide_a_death(void **unused)
{
    (void)unused;
    int results[3];
    new_report(0, 0, 1);
    yoke_test_ranks(YOKE_TEST_PROCESSES, 3, leave_a_child, NULL, SECONDS, results);
    atomic_store(&report->step, 1);
    assert_int_equal(all_but_victims(results, 3, 0, 1), 0);
}

/* --- stopped ---------------------------------------------------------------------- */

/* Rank 1 stops; the others shrink without it and go on when it wakes. */
static int stop_and_wake(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL, *next = NULL;
    uint32_t flags = 1;
    int ranks[2] = {0, 2}, all[2], mine = rank->rank;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 1) {
        raise(SIGSTOP);
        YOKE_CHECK(wait_revoked(control));
        YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_PEER_FAILED);
        for (int i = 0; i < 20000 && !control->expelled; i++)
            usleep(500);
        YOKE_CHECK(yoke_control_agree(control, &flags, 10000) == YOKE_ERR_PEER_FAILED);
        YOKE_CHECK(strstr(yoke_last_error(), "given this one up") != NULL);
        int everyone[3] = {0, 1, 2};
        YOKE_CHECK(yoke_control_create_from(control, everyone, 3, 1, &next) ==
                   YOKE_ERR_PEER_FAILED);
        atomic_fetch_add(&report->step, 1);
        yoke_control_destroy(control);
        return 0;
    }
    if (report->victims == 1) { /* found by a deadline, not by silence */
        while (atomic_load(&report->arrived) == 0)
            usleep(500);
        if (rank->rank == 0) {
            int64_t before = now_us();
            YOKE_CHECK(yoke_control_suspect(control, 1, "the test"));
            report->noticed_us[0] = now_us() - before;
        }
    }
    YOKE_CHECK(wait_revoked(control));
    YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_PEER_FAILED);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 1 (host ") != NULL);
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    YOKE_CHECK(failed_bits(control) == 2);
    YOKE_CHECK(yoke_control_create_from(control, ranks, 2, 1, &next) == YOKE_OK);
    YOKE_CHECK(yoke_control_all_gather(next, &mine, sizeof mine, all, 0) == YOKE_OK);
    if (rank->rank == 0)
        kill(yoke_test_process(rank, 1), SIGCONT);
    YOKE_CHECK(wait_step(1)); /* rank 1 has seen what became of it */
    for (int i = 0; i < 20; i++)
        YOKE_CHECK(yoke_control_all_gather(next, &mine, sizeof mine, all, 0) == YOKE_OK);
    YOKE_CHECK(all[0] == 0 && all[1] == 2);
    YOKE_CHECK(yoke_control_reason(next) == YOKE_OK);
    yoke_control_destroy(next);
    yoke_control_destroy(control);
    return 0;
}

/* Tells the others once rank 1 has really stopped, as its parent sees it. */
static void *watch_for_stop(void *unused)
{
    (void)unused;
    usleep(300000);
    atomic_store(&report->arrived, 1);
    return NULL;
}

static void a_stopped_rank_is_found_by_silence(void **unused)
{
    (void)unused;
    new_report(0, 1, 0);
    setenv("YOKE_COMM_SILENCE", "1", 1);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 3, stop_and_wake, NULL, SECONDS, NULL), 0);
    unsetenv("YOKE_COMM_SILENCE");
}

static void a_stopped_rank_is_found_by_suspicion(void **unused)
{
    (void)unused;
    new_report(0, 1, 1);
    pid_t child = fork();
    if (child == 0) {
        (void)watch_for_stop(NULL);
        _exit(0);
    }
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 3, stop_and_wake, NULL, SECONDS, NULL), 0);
    print_message("suspicion took %.1f ms\n", (double)report->noticed_us[0] / 1000);
}

static int suspect_the_living(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 2)
        YOKE_CHECK(!yoke_control_suspect(control, 1, "a message of the test"));
    YOKE_CHECK(wait_revoked(control));
    YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_TIMEOUT);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 2 (host ") != NULL);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 1 (host ") != NULL);
    YOKE_CHECK(strstr(yoke_last_error(), "which lives") != NULL);
    uint32_t flags = 3;
    YOKE_CHECK(yoke_control_agree(control, &flags, 0) == YOKE_OK);
    YOKE_CHECK(failed_bits(control) == 0 && flags == 3);
    if (shrink_and_gather(control, 0) != 0)
        return 1;
    yoke_control_destroy(control);
    return 0;
}

static void the_living_are_not_given_up(void **unused)
{
    (void)unused;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 4, suspect_the_living, NULL, SECONDS, NULL),
        0);
}

/* --- leaving in good order -------------------------------------------------------- */

static int leave_in_order(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t mine = 0, all[YOKE_TEST_RANKS], flags = 1;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 0) {
        yoke_control_destroy(control);
        return 0;
    }
    for (int i = 0; i < 20000 && !yoke_control_departed(control, 0); i++)
        usleep(500);
    YOKE_CHECK(yoke_control_departed(control, 0));
    usleep(50000);
    YOKE_CHECK(yoke_control_reason(control) == YOKE_OK); /* nobody needs it */
    YOKE_CHECK(yoke_control_failed(control, NULL, 0) == 0);
    atomic_fetch_add(&report->arrived, 1);
    for (int i = 0; i < 60000 && atomic_load(&report->arrived) < rank->size - 1; i++)
        usleep(500);
    YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 20000) ==
               YOKE_ERR_PEER_FAILED);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 0 (host ") != NULL);
    YOKE_CHECK(strstr(yoke_last_error(), "destroyed its communicator") != NULL);
    YOKE_CHECK(yoke_control_agree(control, &flags, 20000) == YOKE_OK);
    YOKE_CHECK(failed_bits(control) == 1);
    if (shrink_and_gather(control, 1) != 0)
        return 1;
    yoke_control_destroy(control);
    return 0;
}

static void leaving_is_no_failure_until_needed(void **unused)
{
    (void)unused;
    new_report(0, 0, 0);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 3, leave_in_order, NULL, SECONDS, NULL), 0);
    new_report(0, 0, 0);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 3, leave_in_order, NULL, SECONDS, NULL), 0);
}

/* --- deadlines and other threads -------------------------------------------------- */

static int do_not_come(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t mine = 0, all[YOKE_TEST_RANKS];
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 1) {
        YOKE_CHECK(wait_revoked(control));
    } else {
        YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 100) ==
                   YOKE_ERR_TIMEOUT);
        YOKE_CHECK(strstr(yoke_last_error(), "rank 1 (host ") != NULL);
    }
    YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_TIMEOUT);
    yoke_control_destroy(control);
    return 0;
}

static void a_gather_has_a_deadline(void **unused)
{
    (void)unused;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 2, do_not_come, NULL, SECONDS, NULL), 0);
}

static void *revoke_later(void *argument)
{
    usleep(20000);
    yoke_control_revoke(argument, YOKE_OK, "by another thread");
    return NULL;
}

static int revoke_by_thread(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t mine = 0, all[YOKE_TEST_RANKS];
    pthread_t thread;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 0)
        YOKE_CHECK(pthread_create(&thread, NULL, revoke_later, control) == 0);
    else
        YOKE_CHECK(wait_revoked(control));
    YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 30000) ==
               YOKE_ERR_REVOKED);
    YOKE_CHECK(strstr(yoke_last_error(), "by another thread") != NULL);
    if (rank->rank == 0)
        pthread_join(thread, NULL);
    yoke_control_destroy(control);
    return 0;
}

static void another_thread_may_revoke(void **unused)
{
    (void)unused;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 3, revoke_by_thread, NULL, SECONDS, NULL), 0);
}

static int agree_alone(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t flags = 6;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 1) {
        YOKE_CHECK(yoke_control_agree(control, &flags, 100) == YOKE_ERR_TIMEOUT);
        YOKE_CHECK(strstr(yoke_last_error(), "yoke_comm_agree()") != NULL);
        atomic_store(&report->step, 1);
    }
    YOKE_CHECK(wait_step(1));
    /* A second call goes on with the first. */
    YOKE_CHECK(yoke_control_agree(control, &flags, 30000) == YOKE_OK);
    YOKE_CHECK(flags == 6);
    YOKE_CHECK(yoke_control_agree(control, &flags, 30000) == YOKE_OK);
    yoke_control_destroy(control);
    return 0;
}

static void an_agreement_has_a_deadline(void **unused)
{
    (void)unused;
    new_report(0, 0, 0);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 3, agree_alone, NULL, SECONDS, NULL), 0);
}

/* --- planes from planes ----------------------------------------------------------- */

static int split_in_two(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL, *half = NULL, *again = NULL;
    int mine = rank->rank, all[YOKE_TEST_RANKS], ranks[YOKE_TEST_RANKS], count = 0;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    for (int i = rank->size - 1; i >= 0; i--) /* in reverse order */
        if (i % 2 == rank->rank % 2)
            ranks[count++] = i;
    for (uint32_t epoch = 1; epoch < 4; epoch++) {
        YOKE_CHECK(yoke_control_create_from(control, ranks, count, epoch, &half) ==
                   YOKE_OK);
        YOKE_CHECK(ranks[yoke_control_rank(half)] == rank->rank);
        YOKE_CHECK(yoke_control_all_gather(half, &mine, sizeof mine, all, 0) == YOKE_OK);
        for (int i = 0; i < count; i++)
            YOKE_CHECK(all[i] == ranks[i]);
        /* The same group and epoch once more, beside it. */
        YOKE_CHECK(yoke_control_create_from(control, ranks, count, epoch, &again) ==
                   YOKE_OK);
        YOKE_CHECK(yoke_control_identity(half) != yoke_control_identity(again));
        YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 0) ==
                   YOKE_OK);
        yoke_control_destroy(half);
        yoke_control_destroy(again);
    }
    YOKE_CHECK(yoke_control_reason(control) == YOKE_OK);
    int wrong[2] = {rank->rank, rank->rank}, without = (rank->rank + 1) % rank->size;
    YOKE_CHECK(yoke_control_create_from(control, wrong, 2, 9, &half) == YOKE_ERR_USAGE);
    YOKE_CHECK(yoke_control_create_from(control, &without, 1, 9, &half) ==
               YOKE_ERR_USAGE);
    yoke_control_destroy(control);
    return 0;
}

static void planes_split(void **unused)
{
    (void)unused;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 5, split_in_two, NULL, SECONDS, NULL), 0);
}

/* --- more ranks than are linked directly ------------------------------------------ */

static void sparse_graphs_are_connected(void **unused)
{
    (void)unused;
    for (int size = 65; size < 300; size += 13)
        for (int a = 0; a < size; a++) {
            assert_true(yoke_mesh_linked(size, a, (a + 1) % size));
            assert_false(yoke_mesh_linked(size, a, a));
            int links = 0;
            for (int b = 0; b < size; b++) {
                assert_int_equal(yoke_mesh_linked(size, a, b),
                                 yoke_mesh_linked(size, b, a));
                links += yoke_mesh_linked(size, a, b);
            }
            assert_true(links <= 18);
        }
    assert_false(yoke_mesh_linked(65, 0, 3));
    assert_true(yoke_mesh_linked(64, 0, 3));
}

static int die_among_many(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    int mine = rank->rank, all[YOKE_TEST_RANKS];
    uint32_t flags = 5;
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    for (int round = 0; round < 3; round++) {
        YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 0) ==
                   YOKE_OK);
        for (int i = 0; i < rank->size; i++)
            YOKE_CHECK(all[i] == i);
    }
    if (rank->rank == 0 || rank->rank == 6)
        kill(getpid(), SIGKILL);
    YOKE_CHECK(wait_revoked(control));
    do
        YOKE_CHECK(yoke_control_agree(control, &flags, 30000) == YOKE_OK);
    while (failed_bits(control) != (1 | 1 << 6));
    YOKE_CHECK(flags == 5);
    if (shrink_and_gather(control, failed_bits(control)) != 0)
        return 1;
    yoke_control_destroy(control);
    return 0;
}

static void sparse_planes_work(void **unused)
{
    (void)unused;
    int results[12], wrong = 0;
    yoke_mesh_full_limit = 4;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 9, split_in_two, NULL, SECONDS, NULL), 0);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 9, suspect_the_living, NULL, SECONDS, NULL),
        0);
    new_report(0, 0, 0);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 9, leave_in_order, NULL, SECONDS, NULL), 0);
    yoke_test_ranks(YOKE_TEST_PROCESSES, 12, die_among_many, NULL, SECONDS, results);
    for (int i = 0; i < 12; i++)
        wrong += results[i] != (i == 0 || i == 6 ? -SIGKILL : 0);
    assert_int_equal(wrong, 0);
    yoke_mesh_full_limit = 64;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest processes[] = {
        cmocka_unit_test(survivors_of_a_kill_agree),
        cmocka_unit_test(coordinators_may_die),
        cmocka_unit_test(a_decision_outlives_its_coordinator),
        cmocka_unit_test(a_childs_sockets_do_not_hide_a_death),
        cmocka_unit_test(a_stopped_rank_is_found_by_silence),
        cmocka_unit_test(a_stopped_rank_is_found_by_suspicion),
        cmocka_unit_test(the_living_are_not_given_up),
        cmocka_unit_test(leaving_is_no_failure_until_needed),
        cmocka_unit_test(a_gather_has_a_deadline),
        cmocka_unit_test(another_thread_may_revoke),
        cmocka_unit_test(an_agreement_has_a_deadline),
        cmocka_unit_test(planes_split),
        cmocka_unit_test(sparse_graphs_are_connected),
        cmocka_unit_test(sparse_planes_work),
    };
    report = yoke_test_share(sizeof *report);
    yoke_log_set_level(argc > 1 ? YOKE_LOG_DEBUG : YOKE_LOG_ERROR);
    (void)argv;
    int failed = cmocka_run_group_tests(processes, NULL, NULL);
    yoke_test_unshare(report, sizeof *report);
    return failed;
}
