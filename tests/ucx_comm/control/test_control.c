/* SPDX-License-Identifier: Apache-2.0 */
/* The control plane: made, gathered over, revoked, ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/control/launch.h"
#include "ucx_comm/control/plane.h"

static yoke_status_t make(yoke_test_rank_t *rank, yoke_control_t **out_control)
{
    return yoke_control_create(rank->size, rank->rank, yoke_test_all_gather, rank, NULL,
                               out_control);
}

static bool wait_revoked(yoke_control_t *control)
{
    for (int i = 0; i < 20000; i++) {
        if (atomic_load(yoke_control_state(control)) == YOKE_CONTROL_REVOKED)
            return true;
        usleep(1000);
    }
    return false;
}

/* --- made and used ---------------------------------------------------------------- */

static int gather_often(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    static _Thread_local uint32_t all[YOKE_TEST_RANKS];
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    YOKE_CHECK(yoke_control_rank(control) == rank->rank);
    YOKE_CHECK(yoke_control_size(control) == rank->size);
    YOKE_CHECK(yoke_control_reason(control) == YOKE_OK);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t mine = round * 1000 + (uint32_t)rank->rank;
        YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 0) ==
                   YOKE_OK);
        for (int i = 0; i < rank->size; i++)
            YOKE_CHECK(all[i] == round * 1000 + (uint32_t)i);
    }
    uint64_t identity = yoke_control_identity(control), both[YOKE_TEST_RANKS];
    YOKE_CHECK(yoke_control_all_gather(control, &identity, sizeof identity, both, 0) ==
               YOKE_OK);
    for (int i = 0; i < rank->size; i++) {
        YOKE_CHECK(both[i] == identity);
        YOKE_CHECK(yoke_control_peer(control, i)->host[0] != '\0');
        YOKE_CHECK(strcmp(yoke_control_peer(control, i)->address, "127.0.0.1") == 0);
    }
    yoke_control_destroy(control);
    return 0;
}

static void ranks_gather(void **unused)
{
    (void)unused;
    static const int sizes[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(
            yoke_test_ranks(YOKE_TEST_THREADS, sizes[i], gather_often, NULL, 60, NULL),
            0);
        assert_int_equal(
            yoke_test_ranks(YOKE_TEST_PROCESSES, sizes[i], gather_often, NULL, 60, NULL),
            0);
    }
}

static int revoke_one(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    uint32_t mine = 0, all[YOKE_TEST_RANKS];
    YOKE_CHECK(make(rank, &control) == YOKE_OK);
    if (rank->rank == 1)
        yoke_control_revoke(control, YOKE_ERR_MISMATCH, "two counts differ");
    YOKE_CHECK(wait_revoked(control));
    YOKE_CHECK(yoke_control_reason(control) == YOKE_ERR_MISMATCH);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 1 ") != NULL);
    YOKE_CHECK(strstr(yoke_last_error(), "two counts differ") != NULL);
    YOKE_CHECK(yoke_control_all_gather(control, &mine, sizeof mine, all, 0) ==
               YOKE_ERR_MISMATCH);
    YOKE_CHECK(yoke_control_failed(control, NULL, 0) == 0);
    yoke_control_destroy(control);
    return 0;
}

static void a_revocation_reaches_all(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 4, revoke_one, NULL, 60, NULL),
                     0);
    assert_int_equal(yoke_test_ranks(YOKE_TEST_PROCESSES, 4, revoke_one, NULL, 60, NULL),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_gather),
        cmocka_unit_test(a_revocation_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
