/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every collective, type, reduction, count and form on 1 to 8 real ranks against the
 * serial reference; equal bits on all ranks.
 *
 * usage: comm_matrix [algorithm...]: those by name too, besides what is chosen.
 * YOKE_TEST_EXHAUSTIVE=1: all types and reductions of every shape.
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
    unsigned times = getenv("YOKE_TEST_EXHAUSTIVE") != NULL ? all : 2;
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

static int run_all(int rank, int size, void *context)
{
    static const uint64_t counts[] = {0, 1, 3, 13, 1021, 20011};
    yoke_comm_t *comm = NULL;
    uint64_t turn = 0;
    (void)context;
    RANK_CHECK(yoke_comm_create(size, rank, yoke_test_all_gather, NULL, NULL, &comm) ==
               YOKE_OK);
    for (int a = -1; a < algorithm_count; a++)
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
    /* A rank that has ended takes nothing from the others. */
    RANK_CHECK(yoke_comm_status(comm) == YOKE_OK);
    yoke_comm_destroy(comm);
    return 0;
}

static void all_is_right(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(yoke_test_ranks(sizes[i], run_all, NULL), 0);
}

int main(int argc, char **argv)
{
    algorithms = (const char *const *)argv + 1;
    algorithm_count = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
