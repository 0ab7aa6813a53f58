/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every collective, type, reduction, count and form on 1 to 8 real ranks against the
 * serial reference; equal bits on all ranks.
 *
 * usage: comm_matrix [algorithm...]: those by name too, besides what is chosen.
 * YOKE_TEST_EXHAUSTIVE=1: all types and reductions of every shape; YOKE_TEST_RANKS=N:
 * only on N ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ucx_comm/comm/one_call.h"
#include "tests/ucx_comm/ranks.h"
#include "ucx_comm/collectives/algorithms.h"

static const char *const *algorithms;
static int algorithm_count;

/* May this algorithm be asked for? Not all do every shape: the answer is the same on all
 * ranks. */
static bool can(const one_call_t *call, int size)
{
    if (call->algorithm == NULL)
        return true;
    uint64_t counts[16] = {0};
    yoke_shape_t shape = {.collective = call->collective, .element = call->element};
    yoke_algorithm_parse(call->algorithm, &shape.algorithm);
    if (shape.algorithm == YOKE_ALGORITHM_SHARED)
        return true;
    shape.size = size;
    if (call->v_form) {
        shape.counts = shape.displacements = counts;
        shape.send_counts = shape.send_displacements = counts;
    }
    return yoke_builder_find(&shape) != NULL;
}

static int run_shape(yoke_comm_t *comm, one_call_t *call, uint64_t *turn)
{
    unsigned all = YOKE_ELEMENT_COUNT * YOKE_REDUCTION_COUNT;
    unsigned times = getenv("YOKE_TEST_EXHAUSTIVE") != NULL ? all : 1;
    for (unsigned i = 0; i < times; i++) {
        unsigned pick = (unsigned)((*turn)++ * 7 % all);
        call->element = (yoke_element_t)(pick % YOKE_ELEMENT_COUNT);
        call->reduction = (yoke_reduction_t)(pick / YOKE_ELEMENT_COUNT);
        call->random = *turn % 2 == 0;
        call->seed = *turn;
        call->shift = *turn % 5 == 0 ? *turn % 17 : 0;
        call->root = (int)(*turn % (uint64_t)yoke_comm_size(comm));
        const char *wrong = one_call(comm, call);
        if (wrong != NULL) {
            fprintf(stderr, "%s\n", wrong);
            return 1;
        }
        if (call->collective != YOKE_COLLECTIVE_ALL_REDUCE)
            continue;
        uint64_t mine = one_call_hash(), hashes[16];
        RANK_CHECK(yoke_test_all_gather(NULL, &mine, sizeof mine, hashes) == YOKE_OK);
        for (int r = 1; r < yoke_comm_size(comm); r++)
            RANK_CHECK(hashes[r] == hashes[0]);
    }
    return 0;
}

/* Beyond one segment of every pipeline: numbers that need no slow reference. */
static int run_large(yoke_comm_t *comm, const char *algorithm)
{
    enum { N = 300007 };
    int rank = yoke_comm_rank(comm), size = yoke_comm_size(comm);
    int32_t *data = malloc(N * sizeof *data);
    RANK_CHECK(data != NULL);
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = algorithm};
    yoke_comm_buffer_t buffer = yoke_comm_host(data);
    one_call_t shape = {.collective = YOKE_COLLECTIVE_ALL_REDUCE,
                        .element = YOKE_ELEMENT_I32,
                        .algorithm = algorithm};
    if (can(&shape, size)) {
        for (int i = 0; i < N; i++)
            data[i] = i * (rank + 1);
        RANK_CHECK(yoke_comm_all_reduce(comm, buffer, buffer, N, YOKE_ELEMENT_I32,
                                        YOKE_REDUCE_SUM, &call) == YOKE_OK);
        for (int i = 0; i < N; i++)
            RANK_CHECK(data[i] ==
                       (int32_t)((unsigned)i * (unsigned)(size * (size + 1)) / 2));
    }
    shape.collective = YOKE_COLLECTIVE_BROADCAST;
    if (can(&shape, size)) {
        for (int i = 0; i < N; i++)
            data[i] = rank == size - 1 ? i ^ 77 : 0;
        RANK_CHECK(yoke_comm_broadcast(comm, buffer, N, YOKE_ELEMENT_I32, size - 1,
                                       &call) == YOKE_OK);
        for (int i = 0; i < N; i++)
            RANK_CHECK(data[i] == (i ^ 77));
    }
    shape.collective = YOKE_COLLECTIVE_REDUCE;
    if (can(&shape, size)) {
        for (int i = 0; i < N; i++)
            data[i] = i - rank;
        RANK_CHECK(yoke_comm_reduce(comm, buffer, buffer, N, YOKE_ELEMENT_I32,
                                    YOKE_REDUCE_MAX, 0, &call) == YOKE_OK);
        for (int i = 0; rank == 0 && i < N; i++)
            RANK_CHECK(data[i] == i);
    }
    free(data);
    return 0;
}

static int run_all(int rank, int size, void *context)
{
    static const uint64_t counts[] = {0, 1, 3, 13, 257};
    yoke_comm_t *comm = NULL;
    uint64_t turn = 0;
    (void)context;
    RANK_CHECK(yoke_comm_create(size, rank, yoke_test_all_gather, NULL, NULL, &comm) ==
               YOKE_OK);
    for (int a = -1; a < algorithm_count; a++) {
        if (run_large(comm, a < 0 ? NULL : algorithms[a]) != 0)
            return 1;
        for (int c = YOKE_COLLECTIVE_BARRIER; c < YOKE_COLLECTIVE_SEND_RECV; c++)
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
                for (int form = 0; form < 4; form++) {
                    one_call_t call = {.collective = (yoke_collective_t)c};
                    call.algorithm = a < 0 ? NULL : algorithms[a];
                    call.count = counts[i];
                    call.in_place = form % 2 == 1;
                    call.v_form = form / 2 == 1;
                    bool a2a_v = c == YOKE_COLLECTIVE_ALL_TO_ALL && call.v_form;
                    if ((call.v_form && !one_call_has_v_form(call.collective)) ||
                        (a2a_v && call.in_place) || !can(&call, size))
                        continue;
                    if (run_shape(comm, &call, &turn) != 0)
                        return 1;
                }
    }
    /* A rank that has ended takes nothing from the others. */
    RANK_CHECK(yoke_comm_status(comm) == YOKE_OK);
    yoke_comm_destroy(comm);
    return 0;
}

static void all_is_right(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 8};
    const char *only = getenv("YOKE_TEST_RANKS");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (only == NULL || atoi(only) == sizes[i])
            assert_int_equal(yoke_test_ranks(sizes[i], run_all, NULL), 0);
}

int main(int argc, char **argv)
{
    algorithms = (const char *const *)argv + 1;
    algorithm_count = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
