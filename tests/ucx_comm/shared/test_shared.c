/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of one arena: ranks as threads, and as processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/ucx_comm/ranks.h"
#include "tests/ucx_comm/shared/exercise.h"

#define MOST 8

/* --- ranks as threads --------------------------------------------------------------- */

typedef struct world world_t;
typedef int (*body_t)(yoke_shared_t *shared, int rank, world_t *world);

struct world {
    void *memory;
    int ranks;
    bool pull;
    body_t body;
    uint64_t seed;
    int calls;
    _Atomic uint32_t state; /* of the control plane */
    atomic_int step;
};

typedef struct member {
    world_t *world;
    int rank, failures;
    pthread_t thread;
} member_t;

static int with_shared(world_t *world, int rank, const int *pids)
{
    yoke_shared_t *shared = NULL;
    const yoke_shared_place_t place = {
        world->memory, world->ranks, rank, &world->state, world->pull ? pids : NULL,
        NULL};
    if (yoke_shared_create(&place, &shared) != YOKE_OK)
        return 1;
    const int failures = world->body(shared, rank, world);
    yoke_shared_destroy(shared);
    return failures;
}

static void *be_thread(void *argument)
{
    member_t *member = argument;
    int pids[MOST];
    for (int r = 0; r < MOST; r++)
        pids[r] = getpid();
    member->failures = with_shared(member->world, member->rank, pids);
    return NULL;
}

/* How many ranks found something wrong. */
static int run_threads(world_t *world)
{
    member_t members[MOST];
    const size_t size = yoke_shared_size(world->ranks);
    int failures = 0;
    world->memory = aligned_alloc(4096, size);
    assert_non_null(world->memory);
    memset(world->memory, 0, size);
    for (int r = 0; r < world->ranks; r++) {
        members[r] = (member_t){world, r, 0, 0};
        assert_int_equal(pthread_create(&members[r].thread, NULL, be_thread, &members[r]),
                         0);
    }
    for (int r = 0; r < world->ranks; r++) {
        pthread_join(members[r].thread, NULL);
        failures += members[r].failures;
    }
    free(world->memory);
    return failures;
}

static int be_process(int rank, int size, void *context)
{
    int pids[MOST];
    yoke_test_meet();
    for (int r = 0; r < size; r++)
        pids[r] = yoke_test_pid(r);
    return with_shared(context, rank, pids);
}

static int run_processes(world_t *world)
{
    world->memory = yoke_test_shared(yoke_shared_size(world->ranks));
    return yoke_test_ranks(world->ranks, be_process, world);
}

/* --- right results ------------------------------------------------------------------ */

static int many_calls(yoke_shared_t *shared, int rank, world_t *world)
{
    return exercise(shared, rank, world->ranks, world->seed, world->calls);
}

static void test_threads(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= MOST; ranks++) {
        world_t world = {.ranks = ranks,
                         .pull = ranks % 2 == 0,
                         .body = many_calls,
                         .seed = (uint64_t)ranks,
                         .calls = 150};
        assert_int_equal(run_threads(&world), 0);
    }
}

static void test_processes(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= MOST; ranks += 2) {
        world_t world = {.ranks = ranks,
                         .pull = true,
                         .body = many_calls,
                         .seed = 100 + (uint64_t)ranks,
                         .calls = 300};
        assert_int_equal(run_processes(&world), 0);
    }
}

/* --- calls that disagree ------------------------------------------------------------ */

static yoke_shared_call_t plain_call(yoke_collective_t collective, void *send, void *recv,
                                     uint64_t count)
{
    return (yoke_shared_call_t){.collective = collective,
                                .element = YOKE_ELEMENT_F32,
                                .reduction = YOKE_REDUCE_SUM,
                                .send = send,
                                .recv = recv,
                                .count = count};
}

/* What rank 1 does otherwise than rank 0. */
typedef enum difference {
    OTHER_COLLECTIVE,
    OTHER_COUNT,
    OTHER_ELEMENT,
    OTHER_REDUCTION,
    OTHER_ROOT,
    OTHER_COUNTS,
    DIFFERENCES
} difference_t;

static yoke_status_t differing_call(yoke_shared_t *shared, int rank, difference_t what,
                                    float *send, float *recv, uint64_t count)
{
    yoke_shared_call_t call = plain_call(YOKE_COLLECTIVE_ALL_REDUCE, send, recv, count);
    const uint64_t counts[2] = {count, count}, fewer[2] = {count / 2, count / 2};
    switch (what) {
    case OTHER_COLLECTIVE:
        call.collective = rank == 1 ? YOKE_COLLECTIVE_BROADCAST : YOKE_COLLECTIVE_REDUCE;
        break;
    case OTHER_COUNT:
        call.count = rank == 1 ? count / 2 : count;
        break;
    case OTHER_ELEMENT:
        call.element = rank == 1 ? YOKE_ELEMENT_I32 : YOKE_ELEMENT_F32;
        break;
    case OTHER_REDUCTION:
        call.reduction = rank == 1 ? YOKE_REDUCE_MAX : YOKE_REDUCE_SUM;
        break;
    case OTHER_ROOT: /* each waits for the other's data */
        call.collective = YOKE_COLLECTIVE_BROADCAST;
        call.root = 1 - rank;
        break;
    default:
        call.collective = YOKE_COLLECTIVE_ALL_TO_ALL;
        call.count = 0;
        call.send_counts = counts;
        call.recv_counts = rank == 1 ? fewer : counts;
        break;
    }
    return yoke_shared_run(shared, &call, 60000);
}

/* At least one finds out, and says what; the other ends once it is revoked. */
static int disagree(yoke_shared_t *shared, int rank, world_t *world)
{
    const uint64_t count = (uint64_t)world->calls;
    float *send = calloc(2 * count, sizeof *send),
          *recv = calloc(2 * count, sizeof *recv);
    const yoke_status_t status = differing_call(
        shared, rank, (difference_t)(world->seed % DIFFERENCES), send, recv, count);
    if (status == YOKE_ERR_MISMATCH) {
        if (strstr(yoke_last_error(), "rank") != NULL)
            atomic_fetch_add(&world->step, 1);
        atomic_store(&world->state, 1);
    }
    free(send);
    free(recv);
    return status != YOKE_OK && status != YOKE_ERR_MISMATCH && status != YOKE_ERR_REVOKED;
}

static void test_disagreement(void **state)
{
    (void)state;
    static const int counts[] = {4, 200000};
    for (int difference = 0; difference < DIFFERENCES; difference++)
        for (int i = 0; i < 2; i++) {
            world_t world = {.ranks = 2,
                             .pull = true,
                             .body = disagree,
                             .seed = (uint64_t)difference,
                             .calls = counts[i]};
            assert_int_equal(run_threads(&world), 0);
            if (atomic_load(&world.step) == 0)
                fail_msg("difference %d with count %d was not found", difference,
                         counts[i]);
        }
}

/* --- ranks that do not come --------------------------------------------------------- */

/* Rank 0 never calls; the control plane says so after a while. */
static int revoked(yoke_shared_t *shared, int rank, world_t *world)
{
    static const yoke_collective_t kinds[] = {
        YOKE_COLLECTIVE_BARRIER,    YOKE_COLLECTIVE_BROADCAST,
        YOKE_COLLECTIVE_ALL_REDUCE, YOKE_COLLECTIVE_REDUCE_SCATTER,
        YOKE_COLLECTIVE_ALL_GATHER, YOKE_COLLECTIVE_SCATTER,
        YOKE_COLLECTIVE_ALL_TO_ALL};
    if (rank == 0) {
        while (atomic_load(&world->step) < world->ranks - 1)
            usleep(1000);
        usleep(20000);
        atomic_store(&world->state, 1);
        return 0;
    }
    const uint64_t count = (uint64_t)world->calls;
    float *memory = calloc(2 * count * (size_t)world->ranks, sizeof *memory);
    const yoke_shared_call_t call = plain_call(
        kinds[world->seed % 7], memory, memory + count * (size_t)world->ranks, count);
    atomic_fetch_add(&world->step, 1);
    yoke_status_t status = yoke_shared_run(shared, &call, 60000);
    const bool right = status == YOKE_ERR_REVOKED &&
                       yoke_shared_start(shared, &call) == YOKE_ERR_REVOKED;
    free(memory);
    return !right;
}

static void test_revoked(void **state)
{
    (void)state;
    for (uint64_t kind = 0; kind < 7; kind++)
        for (int i = 0; i < 2; i++) {
            world_t world = {.ranks = 3,
                             .pull = true,
                             .body = revoked,
                             .seed = kind,
                             .calls = i == 0 ? 5 : 100000};
            assert_int_equal(run_threads(&world), 0);
        }
}

static int late(yoke_shared_t *shared, int rank, world_t *world)
{
    const yoke_shared_call_t call = plain_call(YOKE_COLLECTIVE_BARRIER, NULL, NULL, 0);
    if (rank == 0) {
        while (atomic_load(&world->step) == 0)
            usleep(1000);
        return 0;
    }
    const yoke_status_t status = yoke_shared_run(shared, &call, 50);
    atomic_store(&world->step, 1);
    return status != YOKE_ERR_TIMEOUT || strstr(yoke_last_error(), "rank 0") == NULL;
}

static void test_deadline(void **state)
{
    (void)state;
    world_t world = {.ranks = 2, .body = late};
    assert_int_equal(run_threads(&world), 0);
}

/* --- a rank that is killed, or reads what is gone ----------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rank 0 dies in the middle of a call; the others notice nothing but that it does not
 * come, until the control plane (here: a while) says so. */
static int killed(yoke_shared_t *shared, int rank, world_t *world)
{
    const size_t count = 300000;
    float *send = calloc(count, sizeof *send), *recv = calloc(count, sizeof *recv);
    yoke_status_t status = YOKE_OK;
    for (int i = 0; status == YOKE_OK; i++) {
        const yoke_shared_call_t call = plain_call(
            i % 2 == 0 ? YOKE_COLLECTIVE_ALL_REDUCE : YOKE_COLLECTIVE_ALL_GATHER, send,
            recv, i % 2 == 0 ? count : count / (size_t)world->ranks);
        status = yoke_shared_start(shared, &call);
        if (rank == 0 && i == (int)world->seed)
            _exit(0);
        const double began = seconds();
        while (status == YOKE_ERR_NOT_READY) {
            yoke_shared_pause(shared);
            status = yoke_shared_advance(shared);
            if (seconds() - began > 0.5 && yoke_shared_waits_for(shared) >= 0)
                atomic_store(&world->state, 1);
        }
    }
    free(send);
    free(recv);
    return status != YOKE_ERR_REVOKED && status != YOKE_ERR_PEER_FAILED;
}

static void test_killed(void **state)
{
    (void)state;
    for (uint64_t call = 4; call < 6; call++) {
        world_t world = {.ranks = 3, .pull = true, .body = killed, .seed = call};
        assert_int_equal(run_processes(&world), 0);
    }
}

/* --- bad input ---------------------------------------------------------------------- */

static void test_bad_place(void **state)
{
    (void)state;
    yoke_shared_t *shared = NULL;
    yoke_shared_place_t place = {.ranks = YOKE_SHARED_RANKS + 1};
    assert_int_equal(yoke_shared_size(0), 0);
    assert_int_equal(yoke_shared_size(YOKE_SHARED_RANKS + 1), 0);
    assert_int_equal(yoke_shared_create(&place, &shared), YOKE_ERR_OUT_OF_RANGE);
    assert_null(shared);
    yoke_shared_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_processes),
        cmocka_unit_test(test_disagreement), cmocka_unit_test(test_revoked),
        cmocka_unit_test(test_deadline),     cmocka_unit_test(test_killed),
        cmocka_unit_test(test_bad_place),
    };
    alarm(250);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
