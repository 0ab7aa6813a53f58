/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong: calls that disagree, ranks that die, stop, or give up. */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/ucx_comm/transport/fixture.h"
#include "ucx_comm/transport/ucp.h"

#define BIG (24u << 20)

static int *flags; /* shared by the ranks of one test: who has come how far */

static void set_flag(int number)
{
    __atomic_store_n(&flags[number], 1, __ATOMIC_SEQ_CST);
}

static void wait_for_flag(int number)
{
    while (__atomic_load_n(&flags[number], __ATOMIC_SEQ_CST) == 0)
        usleep(1000);
}

static void clear_flags(void)
{
    memset(flags, 0, 4096);
}

/* --- calls that disagree
 * ------------------------------------------------------------------- */

typedef struct difference {
    const char *words; /* in the message */
    uint64_t size[2];
    yoke_signature_t signature[2];
} difference_t;

static const yoke_signature_t usual = {
    .sequence = 4,
    .count = 1000,
    .root = -1,
    .collective = YOKE_COLLECTIVE_ALL_REDUCE,
    .element = YOKE_ELEMENT_F32,
    .reduction = YOKE_REDUCE_SUM,
};

static int disagree(int rank, int size, void *context)
{
    const difference_t *difference = context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    static char data[1 << 20];
    yoke_message_t messages[2];
    for (int i = 0; i < 2; i++) {
        messages[i] = fixture_message(1 - rank, 7, data, difference->size[rank]);
        messages[i].signature = difference->signature[rank];
    }
    yoke_transport_send(fixture.transport, &messages[0]);
    yoke_transport_receive(fixture.transport, &messages[1]);
    yoke_status_t status = fixture_wait(&fixture, &messages[1], 1);
    RANK_CHECK(status == YOKE_ERR_MISMATCH || status == YOKE_ERR_REVOKED);
    /* Each rank is told, whoever found it. */
    RANK_CHECK(yoke_control_reason(fixture.control) == YOKE_ERR_MISMATCH);
    RANK_CHECK(strstr(yoke_last_error(), difference->words) != NULL);
    RANK_CHECK(strstr(yoke_last_error(), "rank 0") != NULL);
    RANK_CHECK(strstr(yoke_last_error(), "rank 1") != NULL);
    yoke_test_meet();
    fixture_close(&fixture);
    return 0;
}

static void run_disagree(void)
{
    for (int kind = 0; kind < 6; kind++) {
        difference_t one = {"", {4000, 4000}, {usual, usual}};
        switch (kind) {
        case 0:
            one.words = "in collective";
            one.signature[1].collective = YOKE_COLLECTIVE_ALL_GATHER;
            break;
        case 1: /* 1000 f32 and 2000 f16 are both 4000 bytes */
            one.words = "in type, count";
            one.signature[1].element = YOKE_ELEMENT_F16;
            one.signature[1].count = 2000;
            break;
        case 2:
            one.words = "in operation";
            one.signature[1].reduction = YOKE_REDUCE_MAX;
            break;
        case 3:
            one.words = "in root";
            one.signature[1].root = 1;
            break;
        case 4:
            one.words = "in count, size of the message";
            one.signature[1].count = 200000;
            one.size[1] = 800000;
            break;
        default:
            one.words = "in size of the message";
            one.size[1] = 4004;
            break;
        }
        assert_int_equal(yoke_test_ranks(2, disagree, &one), 0);
    }
}

static void differences_are_named(void **unused)
{
    (void)unused;
    run_disagree();
}

static void differences_are_named_on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    run_disagree();
}

/* --- a rank dies in the middle of a message
 * -------------------------------------------------- */

typedef struct killer {
    uint64_t after; /* bytes */
} killer_t;

static void die_in_the_middle(void *context, uint64_t offset, const void *piece,
                              uint64_t size)
{
    const killer_t *killer = context;
    (void)piece;
    if (offset + size >= killer->after)
        kill(getpid(), SIGKILL);
}

/* Rank 0 sends and receives; rank 1 dies while it takes what comes (`context`: true), or
 * while it sends. */
static int lose_a_rank(int rank, int size, void *context)
{
    bool while_taking = context != NULL;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    char *data = calloc(2, BIG);
    yoke_message_t messages[2] = {fixture_message(1 - rank, 1, data, BIG),
                                  fixture_message(1 - rank, 1, data + BIG, BIG)};
    killer_t killer = {while_taking ? BIG / 3 : 1};
    if (rank == 1) {
        messages[0].consume = die_in_the_middle;
        messages[0].context = &killer;
        messages[1].size = while_taking ? 0 : BIG;
        messages[1].signature.count = messages[1].size;
    } else {
        messages[0].size = while_taking ? 0 : BIG;
        messages[0].signature.count = messages[0].size;
    }
    yoke_transport_receive(fixture.transport, &messages[0]);
    yoke_transport_send(fixture.transport, &messages[1]);
    /* The message that cannot end; the empty one may. */
    yoke_status_t status =
        fixture_wait(&fixture, &messages[while_taking ? rank == 0 : rank == 1], 1);
    RANK_CHECK(rank == 0);
    RANK_CHECK(status != YOKE_OK);
    RANK_CHECK(yoke_control_reason(fixture.control) == YOKE_ERR_PEER_FAILED);
    int failed[2];
    RANK_CHECK(yoke_control_failed(fixture.control, failed, 2) == 1 && failed[0] == 1);
    fixture_close(&fixture);
    RANK_CHECK(yoke_ucp_retired() == 0); /* the dead one's packets do not stay */
    free(data);
    return 0;
}

static void survive(void *context)
{
    int statuses[2];
    assert_int_equal(yoke_test_ranks_status(2, lose_a_rank, context, statuses), 0);
    assert_int_equal(statuses[0], 0);
    assert_true(WIFSIGNALED(statuses[1]) && WTERMSIG(statuses[1]) == SIGKILL);
}

static void death_ends_messages(void **unused)
{
    (void)unused;
    survive(NULL);
    survive("while taking");
    fixture_offer_from(UINT64_MAX); /* while it holds a slot */
    survive(NULL);
    survive("while taking");
}

static void death_ends_messages_on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    survive(NULL);
    survive("while taking");
}

/* --- a rank stops, and wakes when it is too late
 * ---------------------------------------------
 */

static void stop_in_the_middle(void *context, uint64_t offset, const void *piece,
                               uint64_t size)
{
    (void)piece;
    bool *stopped = context;
    if (*stopped || offset + size < BIG / 4)
        return;
    *stopped = true;
    set_flag(0);
    raise(SIGSTOP);
}

/* Rank 1 stops in the middle of sending and taking. Rank 0 gives up, uses its memory for
 * something else, and lets it go on: nothing of rank 0's may change. */
static int stop_a_rank(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    char *data = malloc(2 * (size_t)BIG);
    fixture_fill(data, 2 * (size_t)BIG, 1);
    bool stopped = false;
    yoke_message_t messages[2] = {fixture_message(1 - rank, 1, data, BIG),
                                  fixture_message(1 - rank, 1, data + BIG, BIG)};
    if (rank == 1) {
        messages[0].consume = stop_in_the_middle;
        messages[0].context = &stopped;
    }
    yoke_transport_receive(fixture.transport, &messages[0]);
    yoke_transport_send(fixture.transport, &messages[1]);
    if (rank == 1) {
        RANK_CHECK(fixture_wait(&fixture, messages, 2) != YOKE_OK);
        RANK_CHECK(stopped);
        set_flag(1);
        fixture_close(&fixture);
        free(data);
        return 0;
    }
    while (__atomic_load_n(&flags[0], __ATOMIC_SEQ_CST) == 0)
        yoke_transport_progress(fixture.transport);
    for (int i = 0; i < 100; i++)
        if (yoke_transport_progress(fixture.transport) == 0)
            usleep(1000);
    yoke_control_revoke(fixture.control, YOKE_ERR_TIMEOUT, "a test gave up");
    RANK_CHECK(fixture_wait(&fixture, messages, 2) == YOKE_ERR_REVOKED);
    yoke_transport_destroy(fixture.transport);
    fixture_fill(data, 2 * (size_t)BIG, 2);
    kill(yoke_test_pid(1), SIGCONT);
    wait_for_flag(1);
    usleep(20000);
    RANK_CHECK(fixture_is(data, 2 * (size_t)BIG, 2));
    yoke_control_destroy(fixture.control);
    free(data);
    return 0;
}

static void late_ranks_write_nowhere(void **unused)
{
    (void)unused;
    clear_flags();
    assert_int_equal(yoke_test_ranks(2, stop_a_rank, NULL), 0);
    fixture_offer_from(UINT64_MAX);
    clear_flags();
    assert_int_equal(yoke_test_ranks(2, stop_a_rank, NULL), 0);
}

static void late_ranks_write_nowhere_on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    clear_flags();
    assert_int_equal(yoke_test_ranks(2, stop_a_rank, NULL), 0);
}

/* --- a sender gives up what the receiver is about to read
 * ------------------------------------
 */

static int give_up(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    char *data = calloc(1, BIG);
    yoke_message_t message = fixture_message(1 - rank, 1, data, BIG);
    if (rank == 0) {
        yoke_transport_send(fixture.transport, &message);
        yoke_transport_cancel(fixture.transport, YOKE_ERR_TIMEOUT);
        RANK_CHECK(message.status == YOKE_ERR_TIMEOUT);
        memset(data, 1, BIG); /* it is the caller's again */
        yoke_test_meet();
    } else {
        yoke_test_meet();
        yoke_transport_receive(fixture.transport, &message);
        RANK_CHECK(fixture_wait(&fixture, &message, 1) == YOKE_ERR_REVOKED);
        RANK_CHECK(strstr(yoke_last_error(), "gave up") != NULL);
    }
    yoke_test_meet();
    fixture_close(&fixture);
    free(data);
    return 0;
}

static void what_was_given_up_is_not_received(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(2, give_up, NULL), 0);
}

/* --- bad arguments
 * ------------------------------------------------------------------------- */

static int bad_rank(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    yoke_message_t message = fixture_message(size, 1, NULL, 0);
    RANK_CHECK(yoke_transport_send(fixture.transport, &message) == YOKE_ERR_OUT_OF_RANGE);
    message.peer = -1;
    RANK_CHECK(yoke_transport_receive(fixture.transport, &message) ==
               YOKE_ERR_OUT_OF_RANGE);
    /* Memory that is none: the receiver finds out, and says so. */
    message = fixture_message(1 - rank, 1, (void *)4096, BIG);
    if (rank == 0) {
        yoke_transport_send(fixture.transport, &message);
        RANK_CHECK(fixture_wait(&fixture, &message, 1) != YOKE_OK);
    } else {
        message.data = malloc(BIG);
        yoke_transport_receive(fixture.transport, &message);
        RANK_CHECK(fixture_wait(&fixture, &message, 1) == YOKE_ERR_SYSTEM);
        free(message.data);
    }
    RANK_CHECK(yoke_control_reason(fixture.control) == YOKE_ERR_SYSTEM);
    RANK_CHECK(strstr(yoke_last_error(), "cannot be read from its memory") != NULL);
    yoke_test_meet();
    fixture_close(&fixture);
    return 0;
}

static void bad_arguments_are_named(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(2, bad_rank, NULL), 0);
}

/* What a test has forced. */
static int as_it_comes(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_NONE);
    fixture_offer_from(FIXTURE_MEASURED);
    return 0;
}

int main(void)
{
    flags = yoke_test_shared(4096);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(differences_are_named, as_it_comes),
        cmocka_unit_test_teardown(differences_are_named_on_ucp, as_it_comes),
        cmocka_unit_test_teardown(death_ends_messages, as_it_comes),
        cmocka_unit_test_teardown(death_ends_messages_on_ucp, as_it_comes),
        cmocka_unit_test_teardown(late_ranks_write_nowhere, as_it_comes),
        cmocka_unit_test_teardown(late_ranks_write_nowhere_on_ucp, as_it_comes),
        cmocka_unit_test_teardown(what_was_given_up_is_not_received, as_it_comes),
        cmocka_unit_test_teardown(bad_arguments_are_named, as_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
