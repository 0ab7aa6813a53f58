/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every builder of every table, on 1 to 17 ranks inside this process, against the serial
 * reference: counts of 0, 1, primes and fewer than ranks, in place and not, regular and
 * v-forms, all types and reductions in turn. YOKE_TEST_EXHAUSTIVE=1 takes the whole
 * product of types and reductions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ucx_comm/collectives/calls.h"
#include "tests/ucx_comm/collectives/reference.h"
#include "tests/ucx_comm/collectives/simulate.h"
#include "ucx_comm/collectives/algorithms.h"

static unsigned long runs;

static bool has_root(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_BROADCAST ||
           collective == YOKE_COLLECTIVE_REDUCE || collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER;
}

static bool has_v_form(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_GATHER ||
           collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_TO_ALL;
}

static bool exhaustive(void)
{
    return getenv("YOKE_TEST_EXHAUSTIVE") != NULL;
}

/* Types and reductions in turn: `turn` counts all calls of this test. */
static void run_types(call_t *call, uint64_t *turn)
{
    unsigned all = YOKE_ELEMENT_COUNT * YOKE_REDUCTION_COUNT;
    unsigned first = exhaustive() && call_reduces(call->shape.collective) ? 0 : all - 1;
    for (unsigned i = first; i < all; i++) {
        unsigned pick = (unsigned)((*turn)++ * 7 % all);
        call->shape.element = (yoke_element_t)(pick % YOKE_ELEMENT_COUNT);
        call->shape.reduction = (yoke_reduction_t)(pick / YOKE_ELEMENT_COUNT);
        call->random = *turn % 2 == 0;
        call->seed = *turn;
        memset(call->send, 0, sizeof call->send);
        memset(call->recv, 0, sizeof call->recv);
        runs += call_run(call);
    }
}

static void run_counts(call_t *call, uint64_t *turn)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 13, 17, 64, 101, 1031};
    static const uint64_t chunks[] = {0, 64, 192};
    int n = call->shape.size;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int variant = 0; variant < (exhaustive() ? 12 : 4); variant++) {
            /* half of the combinations, other ones for every builder and size */
            if (!exhaustive() && *turn * 0x9e3779b97f4a7c15ull >> 63 == 1) {
                (*turn)++;
                continue;
            }
            uint64_t random = *turn;
            call->shape.count = counts[c];
            call->shape.stride = counts[c] + (uint64_t)variant / 4 % 2 * 3;
            call->shape.chunk = chunks[(*turn / 2) % 3];
            call->shape.radix = 2 + (uint32_t)(*turn % 4);
            call->shape.in_place =
                variant % 2 == 1 && call->shape.collective != YOKE_COLLECTIVE_BROADCAST;
            call->shape.root = has_root(call->shape.collective)
                                   ? (int)(reference_random(&random) % (uint64_t)n)
                                   : 0;
            call->irregular = variant / 2 % 2 == 1 && has_v_form(call->shape.collective);
            if (call->irregular && call->shape.in_place &&
                call->shape.collective == YOKE_COLLECTIVE_ALL_TO_ALL)
                continue; /* not a thing: counts differ by direction */
            call_draw_counts(call, &random);
            run_types(call, turn);
        }
}

static void test_builder(const yoke_builder_t *builder)
{
    static call_t call;
    uint64_t turn = 0;
    unsigned long before = runs;
    for (int n = 1; n <= MOST; n++) {
        memset(&call, 0, sizeof call);
        call.shape.algorithm = builder->algorithm;
        call.shape.collective = builder->collective;
        call.shape.size = n;
        run_counts(&call, &turn);
    }
    print_message("%s %s: %lu calls\n", yoke_algorithm_name(builder->algorithm),
                  yoke_collective_name(builder->collective), runs - before);
    assert_true(runs - before >= 100);
}

static void every_builder_is_right(void **state)
{
    (void)state;
    for (int table = 0; yoke_builders[table] != NULL; table++)
        for (const yoke_builder_t *b = yoke_builders[table]; b->build != NULL; b++)
            if (b->collective != YOKE_COLLECTIVE_SEND_RECV)
                test_builder(b);
}

/* A barrier holds every rank until all have come: no rank ends without a path from every
 * other rank's start. Followed by running it with one rank that never starts. */
static void barriers_wait_for_all(void **state)
{
    (void)state;
    for (int n = 2; n <= MOST; n++)
        for (int late = 0; late < n; late++)
            for (int a = 0; a < 2; a++) {
                yoke_shape_t shape = {.collective = YOKE_COLLECTIVE_BARRIER, .size = n};
                shape.element = YOKE_ELEMENT_U8;
                shape.algorithm = a ? YOKE_ALGORITHM_LINEAR : YOKE_ALGORITHM_KNOMIAL;
                shape.radix = 2 + (uint32_t)late % 3;
                simulated_rank_t ranks[MOST] = {0};
                for (int r = 0; r < n; r++) {
                    shape.rank = r;
                    assert_int_equal(yoke_schedule_build(&shape, &ranks[r].schedule),
                                     YOKE_OK);
                }
                yoke_schedule_t *kept = ranks[late].schedule;
                ranks[late].schedule =
                    yoke_schedule_create(YOKE_ELEMENT_U8, YOKE_REDUCE_SUM, 1);
                assert_int_equal(yoke_schedule_seal(ranks[late].schedule), YOKE_OK);
                assert_int_equal(simulate_ended(ranks, n, 1), 1);
                yoke_schedule_free(ranks[late].schedule);
                ranks[late].schedule = kept;
                assert_null(simulate(ranks, n, 1));
                for (int r = 0; r < n; r++)
                    yoke_schedule_free(ranks[r].schedule);
            }
}

static void a_step_waits_for_earlier_ones_only(void **state)
{
    (void)state;
    yoke_schedule_t *schedule =
        yoke_schedule_create(YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, 2);
    yoke_step_t a = yoke_schedule_copy(schedule, yoke_range(YOKE_REGION_RECV, 0),
                                       yoke_range(YOKE_REGION_SEND, 0), 4);
    yoke_schedule_after(schedule, a, a);
    assert_int_equal(yoke_schedule_status(schedule), YOKE_ERR_USAGE);
    assert_int_equal(yoke_schedule_seal(schedule), YOKE_ERR_USAGE);
    yoke_schedule_free(schedule);
}

static void two_messages_do_not_share_a_channel(void **state)
{
    (void)state;
    yoke_schedule_t *schedule =
        yoke_schedule_create(YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, 2);
    yoke_schedule_send(schedule, 1, 5, yoke_range(YOKE_REGION_SEND, 0), 4);
    yoke_schedule_send(schedule, 1, 5, yoke_range(YOKE_REGION_SEND, 4), 4);
    assert_int_equal(yoke_schedule_seal(schedule), YOKE_ERR_USAGE);
    yoke_schedule_free(schedule);
}

static void unknown_algorithms_are_named(void **state)
{
    (void)state;
    yoke_shape_t shape = {.collective = YOKE_COLLECTIVE_GATHER, .size = 2};
    shape.algorithm = YOKE_ALGORITHM_PAIRWISE;
    yoke_schedule_t *schedule = NULL;
    assert_int_equal(yoke_schedule_build(&shape, &schedule), YOKE_ERR_UNSUPPORTED);
    assert_non_null(strstr(yoke_last_error(), "pairwise"));
    assert_non_null(strstr(yoke_last_error(), "gather"));
    assert_null(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_builder_is_right),
        cmocka_unit_test(barriers_wait_for_all),
        cmocka_unit_test(a_step_waits_for_earlier_ones_only),
        cmocka_unit_test(two_messages_do_not_share_a_channel),
        cmocka_unit_test(unknown_algorithms_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
