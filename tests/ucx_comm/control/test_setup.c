/* SPDX-License-Identifier: Apache-2.0 */
/* Making a control plane where something is wrong: every rank hears of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/control/launch.h"
#include "ucx_comm/control/plane.h"
#include "ucx_comm/control/sockets.h"

/* What an all-gather does to the block of rank 0 on its way. */
typedef enum wrong {
    RIGHT,
    OTHER_VERSION,
    OTHER_SIZE,
    OTHER_RANK,
    NO_CARD,
    DAMAGED_PLACE,
    WRONG_ADDRESS,   /* another program listens there, and says nothing */
    CLOSED_ADDRESS,  /* nothing listens there */
    STRANGE_ADDRESS, /* a web server, or the like, listens there */
    OTHER_KEY,       /* of what rank 1 gets */
} wrong_t;

static wrong_t wrong;
static uint16_t other_port;

static void spoil_card(uint8_t *bytes)
{
    yoke_card_t card;
    (void)yoke_card_read(bytes, &card);
    card.protocol += wrong == OTHER_VERSION ? 40 : 0;
    card.size += wrong == OTHER_SIZE;
    card.rank += wrong == OTHER_RANK;
    yoke_card_write(&card, bytes);
    if (wrong == NO_CARD)
        memset(bytes, 'x', YOKE_CARD_SIZE);
}

static void spoil_place(uint8_t *bytes, int reader)
{
    yoke_place_t place;
    (void)yoke_place_read(bytes, &place);
    if (wrong >= WRONG_ADDRESS && wrong <= STRANGE_ADDRESS) {
        place.port = other_port;
        place.addresses = 1;
        (void)yoke_address_parse("127.0.0.1", &place.address[0]);
    }
    if (wrong == OTHER_KEY && reader == 1)
        place.random[0] ^= 1;
    yoke_place_write(&place, bytes);
    if (wrong == DAMAGED_PLACE)
        memset(bytes + 340, 0xff, 16);
}

static yoke_status_t spoiled_all_gather(void *context, const void *mine, size_t size,
                                        void *all)
{
    yoke_test_rank_t *rank = context;
    yoke_status_t status = yoke_test_all_gather(context, mine, size, all);
    if (status == YOKE_OK && size == YOKE_CARD_SIZE)
        spoil_card(all);
    if (status == YOKE_OK && size == YOKE_PLACE_SIZE)
        spoil_place(all, rank->rank);
    return status;
}

/* The status that all get, and words of the message. */
typedef struct expected {
    yoke_status_t status;
    const char *words[3];
} expected_t;

static int fail_together(yoke_test_rank_t *rank)
{
    const expected_t *expected = rank->context;
    yoke_comm_options_t options = {.struct_size = sizeof options,
                                   .setup_timeout_ms = 1500};
    yoke_control_t *control = NULL;
    YOKE_CHECK(yoke_control_create(rank->size, rank->rank, spoiled_all_gather, rank,
                                   &options, &control) == expected->status);
    YOKE_CHECK(control == NULL);
    for (int i = 0; i < 3; i++)
        if (expected->words[i] != NULL)
            YOKE_CHECK(strstr(yoke_last_error(), expected->words[i]) != NULL);
    return 0;
}

static void all_fail(wrong_t how, yoke_status_t status, const char *first,
                     const char *second, const char *third)
{
    expected_t expected = {status, {first, second, third}};
    wrong = how;
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_THREADS, 3, fail_together, &expected, 60, NULL), 0);
    wrong = RIGHT;
}

static void unlike_ranks_are_named(void **unused)
{
    (void)unused;
    all_fail(OTHER_VERSION, YOKE_ERR_REFUSED, "rank 0", "version 41", "version 1");
    all_fail(OTHER_SIZE, YOKE_ERR_REFUSED, "rank 0", "4 ranks", "this one with 3");
    all_fail(OTHER_RANK, YOKE_ERR_REFUSED, "as rank 0", "rank 1", NULL);
    all_fail(NO_CARD, YOKE_ERR_BAD_INPUT, "rank 0", NULL, NULL);
    all_fail(DAMAGED_PLACE, YOKE_ERR_BAD_INPUT, "rank 0", NULL, NULL);
}

/* Accepts, and answers nothing or something else. */
static _Atomic bool serving;
static int server_socket;

static void *serve(void *says)
{
    int fds[64], used = 0;
    while (serving) {
        int fd = yoke_socket_accept(server_socket);
        if (fd < 0)
            usleep(1000);
        else if (used < 64) {
            fds[used++] = fd;
            if (says != NULL)
                (void)send(fd, says, strlen(says), MSG_NOSIGNAL);
        }
    }
    while (used > 0)
        close(fds[--used]);
    return NULL;
}

static void pairs_without_a_way_are_named(void **unused)
{
    (void)unused;
    char address[64];
    pthread_t thread;
    assert_int_equal(yoke_socket_listen(NULL, 0, &server_socket, &other_port), YOKE_OK);
    snprintf(address, sizeof address, "127.0.0.1 port %u", other_port);
    for (int talks = 0; talks < 2; talks++) {
        serving = true;
        assert_int_equal(
            pthread_create(&thread, NULL, serve,
                           talks ? (void *)(uintptr_t) "SSH-2.0-OpenSSH_9.2p1\r\n"
                                 : NULL),
            0);
        all_fail(talks ? STRANGE_ADDRESS : WRONG_ADDRESS, YOKE_ERR_UNREACHABLE, address,
                 "cannot reach rank 0 (host",
                 talks ? "another program answers" : "no greeting came back");
        serving = false;
        pthread_join(thread, NULL);
    }
    close(server_socket);
    all_fail(CLOSED_ADDRESS, YOKE_ERR_UNREACHABLE, address, "cannot reach rank 0 (host",
             "refused");
    all_fail(OTHER_KEY, YOKE_ERR_REFUSED, "another communicator", "rank 1 (host", NULL);
}

/* --- one rank cannot take part ---------------------------------------------------- */

static int use_interface(yoke_test_rank_t *rank)
{
    yoke_comm_options_t options = {.struct_size = sizeof options,
                                   .interface = rank->rank == 1 ? "nosuch7" : NULL};
    yoke_control_t *control = NULL;
    YOKE_CHECK(yoke_control_create(rank->size, rank->rank, yoke_test_all_gather, rank,
                                   &options, &control) == YOKE_ERR_NOT_FOUND);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 1 (host ") != NULL);
    YOKE_CHECK(strstr(yoke_last_error(), "'nosuch7'") != NULL);
    return 0;
}

static void all_hear_of_a_wrong_interface(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 3, use_interface, NULL, 60, NULL),
                     0);
}

static yoke_status_t no_all_gather(void *context, const void *mine, size_t size,
                                   void *all)
{
    (void)context;
    (void)mine;
    (void)size;
    (void)all;
    return YOKE_ERR_SYSTEM;
}

static void what_the_caller_gives_may_fail(void **unused)
{
    (void)unused;
    yoke_control_t *control = NULL;
    assert_int_equal(yoke_control_create(2, 0, no_all_gather, NULL, NULL, &control),
                     YOKE_ERR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(), "all-gather"));
    assert_int_equal(yoke_control_create(2, 2, no_all_gather, NULL, NULL, &control),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_control_create(0, 0, no_all_gather, NULL, NULL, &control),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_control_create(2, 0, NULL, NULL, NULL, &control),
                     YOKE_ERR_USAGE);
    assert_null(control);
    yoke_control_destroy(NULL);
}

/* --- how long it takes; reported, not asserted ------------------------------------ */

static int set_up(yoke_test_rank_t *rank)
{
    yoke_control_t *control = NULL;
    struct timespec before, after;
    double *times = rank->context, all[YOKE_TEST_RANKS];
    clock_gettime(CLOCK_MONOTONIC, &before);
    YOKE_CHECK(yoke_control_create(rank->size, rank->rank, yoke_test_all_gather, rank,
                                   NULL, &control) == YOKE_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double took = (double)(after.tv_sec - before.tv_sec) * 1e3 +
                  (double)(after.tv_nsec - before.tv_nsec) * 1e-6;
    YOKE_CHECK(yoke_control_all_gather(control, &took, sizeof took, all, 0) == YOKE_OK);
    for (int i = 0; rank->rank == 0 && i < rank->size; i++)
        *times = all[i] > *times ? all[i] : *times;
    yoke_control_destroy(control);
    return 0;
}

static void set_up_is_timed(void **unused)
{
    (void)unused;
    double *worst = yoke_test_share(sizeof *worst);
    for (int round = 0; round < 5; round++) {
        *worst = 0;
        assert_int_equal(yoke_test_ranks(YOKE_TEST_PROCESSES, 8, set_up, worst, 60, NULL),
                         0);
        print_message("8 processes: slowest rank's set-up %.1f ms\n", *worst);
    }
    yoke_test_unshare(worst, sizeof *worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlike_ranks_are_named),
        cmocka_unit_test(pairs_without_a_way_are_named),
        cmocka_unit_test(all_hear_of_a_wrong_interface),
        cmocka_unit_test(what_the_caller_gives_may_fail),
        cmocka_unit_test(set_up_is_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
