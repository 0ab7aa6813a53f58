/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, groups, point to point, splitting, deadlines, revocation and abort; and the
 * arguments that are refused. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/comm/one_call.h"
#include "tests/ucx_comm/ranks.h"

static yoke_comm_t *make_with(int rank, int size, uint32_t flags, uint32_t timeout_ms)
{
    yoke_comm_options_t options = {.struct_size = sizeof options, .flags = flags};
    options.timeout_ms = timeout_ms;
    yoke_comm_t *comm = NULL;
    if (yoke_comm_create(size, rank, yoke_test_all_gather, NULL, &options, &comm) !=
        YOKE_OK)
        fprintf(stderr, "rank %d: %s\n", rank, yoke_last_error());
    return comm;
}

static yoke_comm_t *make(int rank, int size)
{
    return make_with(rank, size, 0, 0);
}

static bool says(const char *word)
{
    if (strstr(yoke_last_error(), word) != NULL)
        return true;
    fprintf(stderr, "'%s' is not in: %s\n", word, yoke_last_error());
    return false;
}

/* --- requests
 * ----------------------------------------------------------------------------- */

enum { MANY = 24 };

/* Many calls at once over both routes, ended in another order on every rank. */
static int wait_out_of_order(int rank, int size, void *context)
{
    uint32_t flags = *(const uint32_t *)context;
    yoke_comm_t *comm = make_with(rank, size, flags, 0);
    RANK_CHECK(comm != NULL);
    yoke_comm_request_t *requests[MANY];
    one_call_t calls[MANY];
    one_call_buffers_t *buffers[MANY];
    memset(calls, 0, sizeof calls);
    static const char *const names[] = {NULL, "linear", "knomial", "bruck", "ring"};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            calls[i].collective = YOKE_COLLECTIVE_ALL_REDUCE;
            calls[i].element = YOKE_ELEMENT_I32;
            calls[i].count = (uint64_t)(i * i * 37);
            calls[i].seed = (uint64_t)i + 1;
            calls[i].algorithm = names[i % 5];
            calls[i].in_place = i % 2 == 0;
            calls[i].out_request = &requests[i];
            RANK_CHECK(one_call_start(comm, &calls[i], &buffers[i]) == YOKE_OK);
        }
        for (int i = 0; i < MANY; i++) {
            int pick = (i * 7 + rank * 5) % MANY;
            yoke_status_t status = YOKE_ERR_NOT_READY;
            while (i % 3 == 0 && status == YOKE_ERR_NOT_READY)
                status = yoke_comm_test(&requests[pick]);
            if (i % 3 != 0)
                status = yoke_comm_wait(&requests[pick]);
            RANK_CHECK(status == YOKE_OK);
            RANK_CHECK(requests[pick] == NULL);
            const char *wrong = one_call_check(comm, &calls[pick], buffers[pick]);
            if (wrong != NULL)
                fprintf(stderr, "%s\n", wrong);
            RANK_CHECK(wrong == NULL);
        }
    }
    RANK_CHECK(yoke_comm_wait(&requests[0]) == YOKE_ERR_USAGE);
    yoke_comm_destroy(comm);
    return 0;
}

static void requests_end_in_any_order(void **state)
{
    (void)state;
    uint32_t none = 0, threaded = YOKE_COMM_THREAD, checked = YOKE_COMM_CHECK;
    assert_int_equal(yoke_test_ranks(3, wait_out_of_order, &none), 0);
    assert_int_equal(yoke_test_ranks(3, wait_out_of_order, &threaded), 0);
    assert_int_equal(yoke_test_ranks(3, wait_out_of_order, &checked), 0);
}

/* A call that others wait for goes on by the thread alone while its rank does nothing. */
static int leave_it_to_the_thread(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = make_with(rank, size, YOKE_COMM_THREAD, 0);
    yoke_comm_request_t *request = NULL;
    one_call_t call = {.collective = YOKE_COLLECTIVE_ALL_REDUCE,
                       .element = YOKE_ELEMENT_F32,
                       .algorithm = "ring",
                       .count = 300000,
                       .seed = 3};
    one_call_buffers_t *buffers;
    RANK_CHECK(comm != NULL);
    call.out_request = rank == 0 ? &request : NULL;
    RANK_CHECK(one_call_start(comm, &call, &buffers) == YOKE_OK);
    yoke_test_meet(); /* the others have ended theirs */
    if (rank == 0)
        RANK_CHECK(yoke_comm_wait(&request) == YOKE_OK);
    RANK_CHECK(one_call_check(comm, &call, buffers) == NULL);
    yoke_comm_destroy(comm);
    return 0;
}

static void the_thread_advances(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(3, leave_it_to_the_thread, NULL), 0);
}

static int destroy_first(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = make(rank, size);
    yoke_comm_request_t *request = NULL;
    yoke_comm_call_t call = {.struct_size = sizeof call, .out_request = &request};
    int value = 1, sum = 0;
    RANK_CHECK(comm != NULL);
    if (rank == 0)
        RANK_CHECK(yoke_comm_recv(comm, yoke_comm_host(&sum), 1, YOKE_ELEMENT_I32, 1, 9,
                                  &call) == YOKE_OK);
    (void)value;
    yoke_comm_destroy(comm);
    if (rank == 0) {
        RANK_CHECK(yoke_comm_test(&request) == YOKE_ERR_REVOKED);
        RANK_CHECK(request == NULL);
        RANK_CHECK(says("destroyed"));
    }
    yoke_test_meet();
    return 0;
}

static void a_request_outlives_its_communicator(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, destroy_first, NULL), 0);
}

/* --- point to point and groups
 * ---------------------------------------------------------------- */

/* Everybody with everybody, two tags, messages of one tag in order, and to itself. */
static int exchange_in_group(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = make(rank, size);
    RANK_CHECK(comm != NULL);
    enum { N = 1000 };
    static int32_t out[4][2][N], in[4][2][2][N];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            for (int p = 0; p < size; p++)
                out[p][k][i] = rank * 100000 + p * 10000 + k * 5000 + i;
    RANK_CHECK(yoke_comm_group_end(comm) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_group_begin(comm) == YOKE_OK);
    RANK_CHECK(yoke_comm_group_begin(comm) == YOKE_ERR_USAGE);
    for (uint32_t tag = 0; tag < 2; tag++)
        for (int p = 0; p < size; p++)
            for (int k = 0; k < 2; k++) {
                RANK_CHECK(yoke_comm_send(comm, yoke_comm_host(out[p][k]),
                                          tag == 0 ? N : 1, YOKE_ELEMENT_I32, p, tag,
                                          NULL) == YOKE_OK);
                RANK_CHECK(yoke_comm_recv(comm, yoke_comm_host(in[p][tag][k]),
                                          tag == 0 ? N : 1, YOKE_ELEMENT_I32, p, tag,
                                          NULL) == YOKE_OK);
            }
    yoke_comm_t *other = NULL;
    RANK_CHECK(yoke_comm_split(comm, 0, 0, &other) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_group_end(comm) == YOKE_OK);
    for (int p = 0; p < size; p++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < N; i++) {
                int32_t right = p * 100000 + rank * 10000 + k * 5000 + i;
                RANK_CHECK(in[p][0][k][i] == right);
                RANK_CHECK(in[p][1][k][i] == (i == 0 ? right : 0));
            }
    yoke_comm_destroy(comm);
    return 0;
}

static void groups_start_together(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, exchange_in_group, NULL), 0);
    assert_int_equal(yoke_test_ranks(4, exchange_in_group, NULL), 0);
}

/* --- split
 * --------------------------------------------------------------------------------- */

static int split_and_sum(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = make(rank, size), *part = NULL, *again = NULL;
    RANK_CHECK(comm != NULL);
    int color = rank == 2 ? -1 : rank % 2;
    RANK_CHECK(yoke_comm_split(comm, color, -rank, &part) == YOKE_OK);
    RANK_CHECK((part == NULL) == (rank == 2));
    if (part != NULL) {
        int32_t mine = rank, sum = 0, expected = 0;
        for (int r = 0; r < size; r++)
            expected += r % 2 == color && r != 2 ? r : 0;
        RANK_CHECK(yoke_comm_all_reduce(part, yoke_comm_host(&mine), yoke_comm_host(&sum),
                                        1, YOKE_ELEMENT_I32, YOKE_REDUCE_SUM,
                                        NULL) == YOKE_OK);
        RANK_CHECK(sum == expected);
        /* The key turned the order round. */
        int32_t last = -1;
        RANK_CHECK(yoke_comm_scatter(part, yoke_comm_host(NULL), yoke_comm_host(NULL), 0,
                                     YOKE_ELEMENT_I32, 0, NULL) == YOKE_OK);
        last = rank;
        RANK_CHECK(yoke_comm_broadcast(part, yoke_comm_host(&last), 1, YOKE_ELEMENT_I32,
                                       0, NULL) == YOKE_OK);
        RANK_CHECK(last == (color == 0 ? 4 : 5));
    }
    RANK_CHECK(yoke_comm_split(comm, 0, rank, &again) == YOKE_OK);
    RANK_CHECK(yoke_comm_rank(again) == rank && yoke_comm_size(again) == size);
    RANK_CHECK(yoke_comm_barrier(again, NULL) == YOKE_OK);
    yoke_comm_destroy(part);
    yoke_comm_destroy(comm); /* the second one stands on its own */
    RANK_CHECK(yoke_comm_barrier(again, NULL) == YOKE_OK);
    yoke_comm_destroy(again);
    return 0;
}

static void split_makes_parts(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(6, split_and_sum, NULL), 0);
}

/* --- what ends calls
 * ------------------------------------------------------------------------- */

static const char *const routes[] = {"shared", "ring"};

/* The last rank stays away; the others' deadline passes. */
static int wait_in_vain(int rank, int size, void *context)
{
    const char *algorithm = context;
    yoke_comm_t *comm = make(rank, size);
    RANK_CHECK(comm != NULL);
    int32_t value = 1, sum = 0;
    yoke_comm_call_t call = {.struct_size = sizeof call, .timeout_ms = 300};
    call.algorithm = algorithm;
    if (rank != size - 1) {
        yoke_status_t status =
            yoke_comm_all_reduce(comm, yoke_comm_host(&value), yoke_comm_host(&sum), 1,
                                 YOKE_ELEMENT_I32, YOKE_REDUCE_SUM, &call);
        RANK_CHECK(status == YOKE_ERR_TIMEOUT);
        RANK_CHECK(says("all-reduce"));
        RANK_CHECK(yoke_comm_status(comm) == YOKE_ERR_TIMEOUT);
    }
    yoke_test_meet();
    /* Now it is revoked for all. */
    struct timespec nap = {0, 1000000};
    for (int i = 0; i < 10000 && yoke_comm_status(comm) == YOKE_OK; i++)
        nanosleep(&nap, NULL);
    RANK_CHECK(yoke_comm_barrier(comm, NULL) == YOKE_ERR_REVOKED);
    RANK_CHECK(says("revoked"));
    RANK_CHECK(yoke_comm_failed(comm, NULL, 0) == 0);
    yoke_comm_t *fresh = NULL;
    RANK_CHECK(yoke_comm_shrink(comm, &fresh) == YOKE_OK);
    RANK_CHECK(yoke_comm_size(fresh) == size);
    RANK_CHECK(yoke_comm_all_reduce(fresh, yoke_comm_host(&value), yoke_comm_host(&sum),
                                    1, YOKE_ELEMENT_I32, YOKE_REDUCE_SUM,
                                    NULL) == YOKE_OK);
    RANK_CHECK(sum == size);
    yoke_comm_destroy(comm);
    yoke_comm_destroy(fresh);
    return 0;
}

static void deadlines_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(yoke_test_ranks(3, wait_in_vain, (void *)(uintptr_t)routes[i]),
                         0);
}

static void *abort_soon(void *comm)
{
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    yoke_comm_abort(comm);
    return NULL;
}

static int abort_from_thread(int rank, int size, void *context)
{
    yoke_comm_t *comm = make(rank, size);
    RANK_CHECK(comm != NULL);
    pthread_t thread;
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = context};
    if (rank == 0) {
        RANK_CHECK(pthread_create(&thread, NULL, abort_soon, comm) == 0);
        RANK_CHECK(yoke_comm_broadcast(comm, yoke_comm_host(&rank), 1, YOKE_ELEMENT_I32,
                                       1, &call) == YOKE_ERR_REVOKED);
        RANK_CHECK(says("yoke_comm_abort"));
        pthread_join(thread, NULL);
    }
    yoke_test_meet();
    struct timespec nap = {0, 1000000};
    for (int i = 0; i < 10000 && yoke_comm_status(comm) == YOKE_OK; i++)
        nanosleep(&nap, NULL);
    RANK_CHECK(yoke_comm_status(comm) == YOKE_ERR_REVOKED);
    RANK_CHECK(says("rank 0"));
    yoke_comm_destroy(comm);
    return 0;
}

static void abort_ends_calls(void **state)
{
    (void)state;
    static const char *const names[] = {"shared", "knomial"};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            yoke_test_ranks(2, abort_from_thread, (void *)(uintptr_t)names[i]), 0);
}

/* A rank dies in the middle of a large all-reduce; the others go on without it. */
static int die_in_the_middle(int rank, int size, void *context)
{
    enum { N = 4 << 20 };
    const char *algorithm = context;
    yoke_comm_t *comm = make(rank, size), *fresh = NULL;
    RANK_CHECK(comm != NULL);
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = algorithm};
    float *data = calloc(N, sizeof *data);
    RANK_CHECK(data != NULL);
    yoke_test_meet(); /* all have made theirs */
    if (rank == 1) {
        yoke_comm_request_t *request = NULL;
        call.out_request = &request;
        RANK_CHECK(yoke_comm_all_reduce(comm, yoke_comm_host(data), yoke_comm_host(data),
                                        N, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM,
                                        &call) == YOKE_OK);
        kill(getpid(), SIGKILL);
    }
    yoke_status_t status =
        yoke_comm_all_reduce(comm, yoke_comm_host(data), yoke_comm_host(data), N,
                             YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, &call);
    /* A rank that begins its call after the death was noticed is told that, too. */
    RANK_CHECK(status == YOKE_ERR_PEER_FAILED || status == YOKE_ERR_REVOKED);
    RANK_CHECK(says("rank 1"));
    RANK_CHECK(yoke_comm_status(comm) == YOKE_ERR_PEER_FAILED);
    int failed[4] = {-1, -1, -1, -1};
    uint32_t flags = rank == 0 ? 5 : 6;
    RANK_CHECK(yoke_comm_agree(comm, &flags) == YOKE_OK);
    RANK_CHECK(flags == (size > 2 ? 4u : 5u));
    RANK_CHECK(yoke_comm_failed(comm, failed, 4) == 1);
    RANK_CHECK(failed[0] == 1);
    RANK_CHECK(yoke_comm_shrink(comm, &fresh) == YOKE_OK);
    RANK_CHECK(yoke_comm_size(fresh) == size - 1);
    for (int i = 0; i < N; i++)
        data[i] = 1;
    RANK_CHECK(yoke_comm_all_reduce(fresh, yoke_comm_host(data), yoke_comm_host(data), N,
                                    YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, NULL) == YOKE_OK);
    for (int i = 0; i < N; i++)
        RANK_CHECK(data[i] == (float)(size - 1));
    free(data);
    yoke_comm_destroy(comm);
    yoke_comm_destroy(fresh);
    return 0;
}

static void survivors_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int statuses[4];
        assert_int_equal(yoke_test_ranks_status(4, die_in_the_middle,
                                                (void *)(uintptr_t)routes[i], statuses),
                         0);
        for (int r = 0; r < 4; r++)
            assert_int_equal(statuses[r], r == 1 ? SIGKILL : 0);
    }
}

/* --- arguments
 * -------------------------------------------------------------------------------- */

static int refuse_arguments(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = make(rank, size);
    RANK_CHECK(comm != NULL);
    float data[64] = {0};
    yoke_comm_buffer_t a = yoke_comm_host(data), b = yoke_comm_host(data + 32);
    yoke_comm_buffer_t none = yoke_comm_host(NULL), near = yoke_comm_host(data + 1);
    const yoke_element_t f32 = YOKE_ELEMENT_F32;
    const yoke_reduction_t sum = YOKE_REDUCE_SUM;
    yoke_comm_call_t call = {.struct_size = sizeof call};
    RANK_CHECK(yoke_comm_barrier(NULL, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("communicator is NULL"));
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, 8, (yoke_element_t)99, sum, NULL) ==
               YOKE_ERR_USAGE);
    RANK_CHECK(says("99 is no element type"));
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, 8, f32, (yoke_reduction_t)7, NULL) ==
               YOKE_ERR_USAGE);
    RANK_CHECK(says("7 is no reduction"));
    RANK_CHECK(yoke_comm_broadcast(comm, a, 8, f32, size, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("root"));
    RANK_CHECK(yoke_comm_send(comm, a, 8, f32, -1, 0, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("peer -1"));
    RANK_CHECK(yoke_comm_all_reduce(comm, none, b, 8, f32, sum, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("send is NULL"));
    RANK_CHECK(yoke_comm_all_reduce(comm, a, none, 8, f32, sum, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("recv is NULL"));
    RANK_CHECK(yoke_comm_all_reduce(comm, a, near, 8, f32, sum, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(says("overlap"));
    RANK_CHECK(yoke_comm_all_gather(comm, near, a, 8, f32, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, UINT64_MAX / 2, f32, sum, NULL) ==
               YOKE_ERR_OUT_OF_RANGE);
    uint64_t counts[8] = {UINT64_MAX, 1};
    RANK_CHECK(yoke_comm_all_gather_v(comm, a, b, counts, NULL, f32, NULL) ==
               YOKE_ERR_OUT_OF_RANGE);
    RANK_CHECK(yoke_comm_all_gather_v(comm, a, b, NULL, NULL, f32, NULL) ==
               YOKE_ERR_USAGE);
    RANK_CHECK(says("counts is NULL"));
    call.algorithm = "quantum";
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, 8, f32, sum, &call) == YOKE_ERR_USAGE);
    RANK_CHECK(says("quantum") && says("rabenseifner"));
    call.algorithm = "pairwise";
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, 8, f32, sum, &call) ==
               YOKE_ERR_UNSUPPORTED);
    RANK_CHECK(says("pairwise") && says("all-reduce"));
    call.struct_size = 3;
    RANK_CHECK(yoke_comm_all_reduce(comm, a, b, 8, f32, sum, &call) == YOKE_ERR_USAGE);
    RANK_CHECK(says("struct_size"));
    yoke_comm_request_t *no_request = NULL;
    RANK_CHECK(yoke_comm_test(&no_request) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_split(comm, 0, 0, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_agree(comm, NULL) == YOKE_ERR_USAGE);
    /* None of that harmed it. */
    RANK_CHECK(yoke_comm_barrier(comm, NULL) == YOKE_OK);
    yoke_comm_destroy(comm);
    yoke_comm_destroy(NULL);
    return 0;
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, refuse_arguments, NULL), 0);
    yoke_comm_t *comm = NULL;
    yoke_comm_options_t options = {.struct_size = sizeof options, .flags = 1u << 30};
    assert_int_equal(yoke_comm_create(2, 2, yoke_test_all_gather, NULL, NULL, &comm),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_comm_create(2, 0, NULL, NULL, NULL, &comm), YOKE_ERR_USAGE);
    assert_int_equal(yoke_comm_create(2, 0, yoke_test_all_gather, NULL, &options, &comm),
                     YOKE_ERR_USAGE);
    assert_true(says("unknown bits"));
    assert_int_equal(yoke_comm_id_create(0, NULL, NULL), YOKE_ERR_USAGE);
}

/* Settings that differ between ranks, or cannot be read, are named when it is made. */
static int unlike_settings(int rank, int size, void *context)
{
    int which = *(const int *)context;
    yoke_comm_options_t options = {.struct_size = sizeof options};
    yoke_comm_t *comm = NULL;
    if (which == 0)
        options.flags = rank == 0 ? YOKE_COMM_CHECK : 0;
    else
        setenv("YOKE_COMM_ALGORITHM", which == 1 && rank == 0 ? "ring" : "knomial", 1);
    if (which == 2)
        setenv("YOKE_COMM_ALGORITHM", "all-reduce=rnig", 1);
    yoke_status_t status =
        yoke_comm_create(size, rank, yoke_test_all_gather, NULL, &options, &comm);
    RANK_CHECK(comm == NULL);
    RANK_CHECK(status == (which == 2 ? YOKE_ERR_USAGE : YOKE_ERR_MISMATCH));
    RANK_CHECK(says(which == 0 ? "YOKE_COMM_CHECK" : "YOKE_COMM_ALGORITHM"));
    return 0;
}

static void unlike_settings_are_named(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++)
        assert_int_equal(yoke_test_ranks(2, unlike_settings, &which), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_end_in_any_order),
        cmocka_unit_test(the_thread_advances),
        cmocka_unit_test(a_request_outlives_its_communicator),
        cmocka_unit_test(groups_start_together),
        cmocka_unit_test(split_makes_parts),
        cmocka_unit_test(deadlines_are_kept),
        cmocka_unit_test(abort_ends_calls),
        cmocka_unit_test(survivors_go_on),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(unlike_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
