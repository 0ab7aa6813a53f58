/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to a control plane: ids, the rendezvous and who is turned away, the environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/control/launch.h"
#include "ucx_comm/control/handshake.h"
#include "ucx_comm/control/plane.h"
#include "ucx_comm/control/rendezvous.h"
#include "ucx_comm/control/sockets.h"

static const yoke_comm_options_t quick = {.struct_size = sizeof quick,
                                          .setup_timeout_ms = 20000};

/* Through the rendezvous to a plane that gathers. */
static int meet(const yoke_comm_id_t *id, int size, int rank)
{
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_control_t *control = NULL;
    int all[YOKE_TEST_RANKS];
    YOKE_CHECK(yoke_rendezvous_join(id, size, rank, &quick, &rendezvous) == YOKE_OK);
    YOKE_CHECK(yoke_control_create(size, rank, yoke_rendezvous_all_gather, rendezvous,
                                   &quick, &control) == YOKE_OK);
    yoke_rendezvous_close(rendezvous);
    YOKE_CHECK(yoke_control_all_gather(control, &rank, sizeof rank, all, 0) == YOKE_OK);
    for (int i = 0; i < size; i++)
        YOKE_CHECK(all[i] == i);
    yoke_control_destroy(control);
    return 0;
}

static int meet_by_id(yoke_test_rank_t *rank)
{
    return meet(rank->context, rank->size, rank->rank);
}

/* Rank 0 makes the id, and the others get it. */
typedef struct passed_id {
    _Atomic int made;
    yoke_comm_id_t id;
} passed_id_t;

static int meet_by_passed_id(yoke_test_rank_t *rank)
{
    passed_id_t *passed = rank->context;
    if (rank->rank == 0) {
        YOKE_CHECK(yoke_rendezvous_host(rank->size, &quick, &passed->id) == YOKE_OK);
        atomic_store(&passed->made, 1);
    }
    for (int i = 0; i < 20000 && atomic_load(&passed->made) == 0; i++)
        usleep(500);
    return meet(&passed->id, rank->size, rank->rank);
}

static void ranks_meet_by_id(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    assert_int_equal(yoke_rendezvous_host(3, &quick, &id), YOKE_OK);
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 3, meet_by_id, &id, 60, NULL), 0);
    passed_id_t *passed = yoke_test_share(sizeof *passed);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 4, meet_by_passed_id, passed, 60, NULL), 0);
    yoke_test_unshare(passed, sizeof *passed);
}

/* --- several at once -------------------------------------------------------------- */

static int meet_twice(yoke_test_rank_t *rank)
{
    const yoke_comm_id_t *ids = rank->context;
    int turn = rank->rank % 2; /* the two are made in both orders by other ranks */
    int result = meet(&ids[turn], rank->size / 2, rank->rank / 2);
    return result;
}

static void two_meet_at_once(void **unused)
{
    (void)unused;
    yoke_comm_id_t ids[2];
    assert_int_equal(yoke_rendezvous_host(3, &quick, &ids[0]), YOKE_OK);
    assert_int_equal(yoke_rendezvous_host(3, &quick, &ids[1]), YOKE_OK);
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 6, meet_twice, ids, 60, NULL), 0);
}

/* --- ids -------------------------------------------------------------------------- */

static void damaged_ids_are_refused(void **unused)
{
    (void)unused;
    yoke_comm_id_t id, bad;
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_meeting_t meeting = {.size = 2, .port = 5, .addresses = 1};
    assert_true(yoke_address_parse("127.0.0.1", &meeting.address[0]));
    yoke_meeting_write(&meeting, &id);
    assert_int_equal(yoke_meeting_read(&id, &meeting), YOKE_OK);
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        bad = id;
        bad.bytes[i] ^= 0x10;
        assert_int_equal(yoke_rendezvous_join(&bad, 2, 0, &quick, &rendezvous),
                         YOKE_ERR_BAD_INPUT);
        assert_non_null(strstr(yoke_last_error(), "yoke_comm_id_create()"));
    }
    memset(&bad, 0, sizeof bad);
    assert_int_equal(yoke_rendezvous_join(&bad, 2, 0, &quick, &rendezvous),
                     YOKE_ERR_BAD_INPUT);
    assert_int_equal(yoke_rendezvous_join(&id, 3, 0, &quick, &rendezvous),
                     YOKE_ERR_REFUSED);
    assert_non_null(strstr(yoke_last_error(), "made for 2 ranks"));
    assert_int_equal(yoke_rendezvous_join(&id, 2, 2, &quick, &rendezvous),
                     YOKE_ERR_USAGE);
    assert_int_equal(yoke_rendezvous_join(&id, 2, -1, &quick, &rendezvous),
                     YOKE_ERR_USAGE);
    assert_null(rendezvous);
    assert_int_equal(yoke_rendezvous_host(0, &quick, &id), YOKE_ERR_USAGE);
}

static void an_id_of_another_version_names_both(void **unused)
{
    (void)unused;
    uint8_t hash[YOKE_KEY_SIZE];
    yoke_comm_id_t id;
    yoke_meeting_t meeting = {.size = 2, .port = 5, .addresses = 1}, out;
    assert_true(yoke_address_parse("127.0.0.1", &meeting.address[0]));
    yoke_meeting_write(&meeting, &id);
    yoke_put_u32(id.bytes + 8, 77);
    yoke_hash(id.bytes, 248, hash);
    memcpy(id.bytes + 248, hash, 8);
    assert_int_equal(yoke_meeting_read(&id, &out), YOKE_ERR_REFUSED);
    assert_non_null(strstr(yoke_last_error(), "version 77"));
    assert_non_null(strstr(yoke_last_error(), "version 1"));
}

/* --- who is turned away ----------------------------------------------------------- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[65536];

static void keep_log(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", line);
    pthread_mutex_unlock(&log_lock);
}

static bool logged(const char *what)
{
    pthread_mutex_lock(&log_lock);
    bool found = strstr(log_text, what) != NULL;
    pthread_mutex_unlock(&log_lock);
    return found;
}

static bool comes_to_log(const char *what)
{
    for (int i = 0; i < 5000 && !logged(what); i++)
        usleep(1000);
    return logged(what);
}

static void the_wrong_secret_disturbs_nobody(void **unused)
{
    (void)unused;
    yoke_comm_id_t id, forged;
    yoke_meeting_t meeting;
    yoke_rendezvous_t *rendezvous = NULL;
    log_text[0] = '\0';
    assert_int_equal(yoke_rendezvous_host(2, &quick, &id), YOKE_OK);
    assert_int_equal(yoke_meeting_read(&id, &meeting), YOKE_OK);
    meeting.secret[3] ^= 1;
    yoke_meeting_write(&meeting, &forged);
    assert_int_equal(yoke_rendezvous_join(&forged, 2, 0, &quick, &rendezvous),
                     YOKE_ERR_REFUSED);
    assert_non_null(strstr(yoke_last_error(), "secret is wrong"));
    assert_true(comes_to_log("was turned away: the secret is wrong"));
    assert_true(logged("127.0.0.1"));
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 2, meet_by_id, &id, 60, NULL), 0);
}

static int connect_to(const yoke_comm_id_t *id)
{
    yoke_meeting_t meeting;
    yoke_address_t loopback;
    assert_int_equal(yoke_meeting_read(id, &meeting), YOKE_OK);
    assert_true(yoke_address_parse("127.0.0.1", &loopback));
    int fd = yoke_socket_connect(&loopback, meeting.port, NULL);
    assert_true(fd >= 0);
    return fd;
}

/* Silence, rubbish, half a greeting, and one that never finishes: more of them than there
 * are places. */
static void strangers_do_not_block_it(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    static int fds[300];
    uint8_t hello[YOKE_HELLO_SIZE];
    yoke_hello_t greeting = {
        .protocol = YOKE_COMM_PROTOCOL, .kind = YOKE_HELLO_RENDEZVOUS, .size = 2};
    yoke_hello_write(&greeting, hello);
    assert_int_equal(yoke_rendezvous_host(2, &quick, &id), YOKE_OK);
    for (int i = 0; i < 300; i++) {
        fds[i] = connect_to(&id);
        usleep(200);
        if (i % 4 == 1)
            (void)send(fds[i], "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL);
        if (i % 4 == 2)
            (void)send(fds[i], hello, 20, MSG_NOSIGNAL);
        if (i % 4 == 3)
            (void)send(fds[i], hello, sizeof hello, MSG_NOSIGNAL);
    }
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 2, meet_by_id, &id, 60, NULL), 0);
    for (int i = 0; i < 300; i++)
        close(fds[i]);
}

static void another_version_is_named(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    uint8_t hello[YOKE_HELLO_SIZE], bytes[YOKE_REPLY_SIZE];
    size_t got = 0;
    yoke_reply_t reply;
    yoke_hello_t greeting = {.protocol = 9, .kind = YOKE_HELLO_RENDEZVOUS, .size = 1};
    yoke_hello_write(&greeting, hello);
    log_text[0] = '\0';
    assert_int_equal(yoke_rendezvous_host(1, &quick, &id), YOKE_OK);
    int fd = connect_to(&id);
    usleep(20000);
    assert_int_equal(send(fd, hello, sizeof hello, MSG_NOSIGNAL), sizeof hello);
    for (int i = 0; i < 5000 && got < sizeof bytes; i++) {
        ssize_t more = recv(fd, bytes + got, sizeof bytes - got, 0);
        if (more > 0)
            got += (size_t)more;
        else
            usleep(1000);
    }
    assert_int_equal(got, sizeof bytes);
    assert_true(yoke_reply_read(bytes, &reply));
    assert_int_equal(reply.status, YOKE_ERR_REFUSED);
    assert_non_null(strstr(reply.text, "version 9"));
    assert_non_null(strstr(reply.text, "version 1"));
    assert_true(comes_to_log("version 9"));
    close(fd);
    assert_int_equal(meet(&id, 1, 0), 0);
}

/* The other way round: this rank meets a host of another version. */
static void a_host_of_another_version_is_named(void **unused)
{
    (void)unused;
    int listener, fd;
    uint16_t port;
    yoke_handshake_t handshake;
    uint8_t key[YOKE_KEY_SIZE] = {0}, bytes[YOKE_REPLY_SIZE];
    yoke_hello_t hello = {.protocol = YOKE_COMM_PROTOCOL, .kind = YOKE_HELLO_MESH};
    yoke_reply_t reply = {.protocol = 12};
    yoke_address_t loopback;
    assert_true(yoke_address_parse("127.0.0.1", &loopback));
    assert_int_equal(yoke_socket_listen(&loopback, 0, &listener, &port), YOKE_OK);
    fd = yoke_socket_connect(&loopback, port, NULL);
    assert_int_equal(yoke_handshake_join(&handshake, fd, key, &hello), YOKE_OK);
    int other = -1;
    yoke_reply_write(&reply, bytes);
    for (int i = 0; i < 5000 && handshake.stage < YOKE_HANDSHAKE_DONE; i++) {
        yoke_handshake_step(&handshake, NULL);
        if (other < 0 && (other = yoke_socket_accept(listener)) >= 0)
            assert_int_equal(send(other, bytes, sizeof bytes, 0), sizeof bytes);
        usleep(1000);
    }
    assert_int_equal(handshake.stage, YOKE_HANDSHAKE_FAILED);
    assert_int_equal(handshake.status, YOKE_ERR_REFUSED);
    assert_non_null(strstr(handshake.text, "version 12"));
    assert_non_null(strstr(handshake.text, "version 1"));
    yoke_handshake_end(&handshake);
    close(other);
    close(listener);
}

static int come_twice(yoke_test_rank_t *rank)
{
    yoke_rendezvous_t *first = NULL, *second = NULL;
    YOKE_CHECK(yoke_rendezvous_join(rank->context, 2, 1, &quick, &first) == YOKE_OK);
    YOKE_CHECK(yoke_rendezvous_join(rank->context, 2, 1, &quick, &second) ==
               YOKE_ERR_REFUSED);
    YOKE_CHECK(strstr(yoke_last_error(), "rank 1 has come already") != NULL);
    yoke_rendezvous_close(first);
    return 0;
}

static void a_rank_comes_once(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    assert_int_equal(yoke_rendezvous_host(2, &quick, &id), YOKE_OK);
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 1, come_twice, &id, 60, NULL), 0);
    /* It left: the one that comes now is told so, and does not wait for it. */
    yoke_rendezvous_t *late = NULL;
    yoke_status_t status = yoke_rendezvous_join(&id, 2, 0, &quick, &late);
    if (status == YOKE_OK) {
        uint32_t mine = 0, all[2];
        assert_int_equal(yoke_rendezvous_all_gather(late, &mine, sizeof mine, all),
                         YOKE_ERR_PEER_FAILED);
        yoke_rendezvous_close(late);
    } else {
        assert_int_equal(status, YOKE_ERR_UNREACHABLE);
    }
}

static void missing_ranks_are_named(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_comm_options_t hasty = {.struct_size = sizeof hasty, .setup_timeout_ms = 300};
    uint32_t mine = 0, all[4];
    assert_int_equal(yoke_rendezvous_host(4, &hasty, &id), YOKE_OK);
    assert_int_equal(yoke_rendezvous_join(&id, 4, 1, &quick, &rendezvous), YOKE_OK);
    assert_int_equal(yoke_rendezvous_all_gather(rendezvous, &mine, sizeof mine, all),
                     YOKE_ERR_TIMEOUT);
    assert_non_null(strstr(yoke_last_error(), "missing: ranks 0, 2, 3"));
    yoke_rendezvous_close(rendezvous);
    /* It is over: nothing listens there any more. */
    rendezvous = NULL;
    yoke_comm_options_t brief = {.struct_size = sizeof brief, .setup_timeout_ms = 500};
    assert_int_equal(yoke_rendezvous_join(&id, 4, 2, &brief, &rendezvous),
                     YOKE_ERR_UNREACHABLE);
    assert_non_null(strstr(yoke_last_error(), "127.0.0.1 port"));
    assert_null(rendezvous);
}

static int gather_unequal(yoke_test_rank_t *rank)
{
    yoke_rendezvous_t *rendezvous = NULL;
    uint8_t mine[16] = {0}, all[64];
    YOKE_CHECK(yoke_rendezvous_join(rank->context, rank->size, rank->rank, &quick,
                                    &rendezvous) == YOKE_OK);
    YOKE_CHECK(yoke_rendezvous_all_gather(rendezvous, mine, rank->rank == 1 ? 8 : 16,
                                          all) == YOKE_ERR_MISMATCH);
    yoke_rendezvous_close(rendezvous);
    return 0;
}

static void unequal_blocks_are_refused(void **unused)
{
    (void)unused;
    yoke_comm_id_t id;
    assert_int_equal(yoke_rendezvous_host(3, &quick, &id), YOKE_OK);
    assert_int_equal(yoke_test_ranks(YOKE_TEST_THREADS, 3, gather_unequal, &id, 60, NULL),
                     0);
}

/* --- ports ------------------------------------------------------------------------ */

static void a_port_in_use_is_named(void **unused)
{
    (void)unused;
    int first, second;
    uint16_t port, again;
    char number[32];
    assert_int_equal(yoke_socket_listen(NULL, 0, &first, &port), YOKE_OK);
    assert_int_equal(yoke_socket_listen(NULL, port, &second, &again), YOKE_ERR_SYSTEM);
    snprintf(number, sizeof number, "port %u is in use", port);
    assert_non_null(strstr(yoke_last_error(), number));
    close(first);
    /* A port that was just used is free: connections in TIME_WAIT do not hold it. */
    for (int round = 0; round < 3; round++) {
        yoke_address_t loopback;
        assert_true(yoke_address_parse("127.0.0.1", &loopback));
        assert_int_equal(yoke_socket_listen(NULL, port, &first, &again), YOKE_OK);
        int joiner = yoke_socket_connect(&loopback, port, NULL), guest = -1;
        for (int i = 0; i < 5000 && guest < 0; i++) {
            guest = yoke_socket_accept(first);
            usleep(guest < 0 ? 1000 : 0);
        }
        assert_true(guest >= 0);
        close(guest); /* this end closes first, so that it is the one in TIME_WAIT */
        usleep(1000);
        close(joiner);
        close(first);
    }
}

/* --- the environment -------------------------------------------------------------- */

static uint16_t free_port(void)
{
    int fd;
    uint16_t port = 0;
    assert_int_equal(yoke_socket_listen(NULL, 0, &fd, &port), YOKE_OK);
    close(fd);
    return port;
}

static int meet_by_variables(yoke_test_rank_t *rank)
{
    char number[16];
    snprintf(number, sizeof number, "%d", rank->rank);
    setenv("RANK", number, 1);
    /* Several after one another on one port, some ranks far ahead of others. */
    for (int round = 0; round < 3; round++) {
        int size = 0, own = -1, all[YOKE_TEST_RANKS];
        yoke_rendezvous_t *rendezvous = NULL;
        yoke_control_t *control = NULL;
        YOKE_CHECK(yoke_rendezvous_from_env(&quick, &size, &own, &rendezvous) == YOKE_OK);
        YOKE_CHECK(size == rank->size && own == rank->rank);
        YOKE_CHECK(yoke_control_create(size, own, yoke_rendezvous_all_gather, rendezvous,
                                       &quick, &control) == YOKE_OK);
        yoke_rendezvous_close(rendezvous);
        YOKE_CHECK(yoke_control_all_gather(control, &own, sizeof own, all, 0) == YOKE_OK);
        yoke_control_destroy(control);
    }
    return 0;
}

static void ranks_meet_by_variables(void **unused)
{
    (void)unused;
    char number[16];
    snprintf(number, sizeof number, "%u", free_port() - 1u);
    setenv("WORLD_SIZE", "3", 1);
    setenv("MASTER_ADDR", "localhost", 1);
    setenv("MASTER_PORT", number, 1);
    setenv("YOKE_COMM_SECRET", "a secret of this test", 1);
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 3, meet_by_variables, NULL, 60, NULL), 0);
    /* The same port again, at once. */
    assert_int_equal(
        yoke_test_ranks(YOKE_TEST_PROCESSES, 3, meet_by_variables, NULL, 60, NULL), 0);
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
    unsetenv("YOKE_COMM_SECRET");
}

static const char *const *variables; /* name, value, ..., NULL */

static const char *get_variable(const char *name)
{
    for (const char *const *one = variables; *one != NULL; one += 2)
        if (strcmp(one[0], name) == 0)
            return one[1];
    return NULL;
}

static yoke_status_t read_variables(const char *const *list, yoke_environment_t *out)
{
    variables = list;
    return yoke_environment_read(get_variable, out);
}

#define FULL(rank, size, port)                                                           \
    "RANK", rank, "WORLD_SIZE", size, "MASTER_ADDR", "n1", "MASTER_PORT", port

static void variables_are_read(void **unused)
{
    (void)unused;
    yoke_environment_t out;
    const char *none[] = {NULL};
    assert_int_equal(read_variables(none, &out), YOKE_OK);
    assert_false(out.found);
    const char *plain[] = {FULL("1", "4", "29500"), NULL};
    assert_int_equal(read_variables(plain, &out), YOKE_OK);
    assert_true(out.found && !out.has_secret);
    assert_int_equal(out.port, 29501); /* torch's store has 29500 */
    assert_int_equal(out.rank, 1);
    assert_int_equal(out.size, 4);
    const char *port[] = {FULL("0", "1", "65535"), "YOKE_COMM_PORT",   "777",
                          "YOKE_COMM_SECRET",      "0123456789abcdef", NULL};
    assert_int_equal(read_variables(port, &out), YOKE_OK);
    assert_int_equal(out.port, 777);
    assert_true(out.has_secret);
}

static void bad_variables_are_named(void **unused)
{
    (void)unused;
    yoke_environment_t out = {.rank = 42};
    static const struct {
        const char *list[16], *named;
    } bad[] = {
        {{"RANK", "0", "WORLD_SIZE", "2", "MASTER_PORT", "1", NULL}, "MASTER_ADDR"},
        {{FULL("2", "2", "1"), NULL}, "RANK: expected a number from 0 to 1, found '2'"},
        {{FULL("-1", "2", "1"), NULL}, "RANK: expected"},
        {{FULL("0", "zwei", "1"), NULL}, "WORLD_SIZE: expected"},
        {{FULL("0", "0", "1"), NULL}, "WORLD_SIZE: expected"},
        {{FULL("0", "99999999999999999999", "1"), NULL}, "WORLD_SIZE: expected"},
        {{FULL("0", "2", "70000"), NULL}, "MASTER_PORT: expected"},
        {{FULL("0", "2", "65535"), NULL}, "YOKE_COMM_PORT"},
        {{FULL("0", "2", "1"), "YOKE_COMM_PORT", "x", NULL}, "YOKE_COMM_PORT: expected"},
        {{FULL("0", "2", "1"), "LOCAL_RANK", "9", NULL}, "LOCAL_RANK: expected"},
        {{FULL("0", "2", "1"), "YOKE_COMM_SECRET", "short", NULL}, "YOKE_COMM_SECRET: 5"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(read_variables(bad[i].list, &out), YOKE_ERR_BAD_INPUT);
        if (strstr(yoke_last_error(), bad[i].named) == NULL)
            fail_msg("'%s' is not in '%s'", bad[i].named, yoke_last_error());
        assert_int_equal(out.rank, 42);
    }
}

static void a_launcher_is_looked_for(void **unused)
{
    (void)unused;
    int size = 0, rank = 0;
    yoke_rendezvous_t *rendezvous = NULL;
    assert_int_equal(yoke_rendezvous_from_env(&quick, &size, &rank, &rendezvous),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "WORLD_SIZE"));
    setenv("PMI_RANK", "0", 1);
    assert_int_equal(yoke_rendezvous_from_env(&quick, &size, &rank, &rendezvous),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "hydra"));
    unsetenv("PMI_RANK");
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    setenv("MASTER_ADDR", "localhost", 1);
    setenv("MASTER_PORT", "29500", 1);
    assert_int_equal(yoke_rendezvous_from_env(&quick, &size, &rank, &rendezvous),
                     YOKE_ERR_REFUSED);
    assert_non_null(strstr(yoke_last_error(), "export YOKE_COMM_SECRET="));
    setenv("YOKE_COMM_SECRET", "0123456789abcdef", 1);
    setenv("MASTER_ADDR", "no such host.invalid", 1);
    assert_int_equal(yoke_rendezvous_from_env(&quick, &size, &rank, &rendezvous),
                     YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "MASTER_ADDR"));
    setenv("MASTER_ADDR", "localhost", 1);
    int held;
    uint16_t port;
    char number[16];
    assert_int_equal(yoke_socket_listen(NULL, 0, &held, &port), YOKE_OK);
    snprintf(number, sizeof number, "%u", port);
    setenv("YOKE_COMM_PORT", number, 1);
    assert_int_equal(yoke_rendezvous_from_env(&quick, &size, &rank, &rendezvous),
                     YOKE_ERR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(), number));
    close(held);
    static const char *const names[] = {
        "RANK",        "WORLD_SIZE",       "MASTER_ADDR",
        "MASTER_PORT", "YOKE_COMM_SECRET", "YOKE_COMM_PORT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    assert_null(rendezvous);
}

static void bad_settings_are_named(void **unused)
{
    (void)unused;
    yoke_control_settings_t settings;
    setenv("YOKE_COMM_TIMEOUT", "soon", 1);
    assert_int_equal(yoke_control_settings_read(NULL, &settings), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "YOKE_COMM_TIMEOUT"));
    setenv("YOKE_COMM_TIMEOUT", "0.25", 1);
    assert_int_equal(yoke_control_settings_read(NULL, &settings), YOKE_OK);
    assert_int_equal(settings.timeout_ms, 250);
    yoke_comm_options_t options = {.struct_size = sizeof options, .timeout_ms = 70};
    assert_int_equal(yoke_control_settings_read(&options, &settings), YOKE_OK);
    assert_int_equal(settings.timeout_ms, 70);
    assert_int_equal(settings.setup_timeout_ms, 60000);
    options.struct_size = 0;
    assert_int_equal(yoke_control_settings_read(&options, &settings), YOKE_ERR_USAGE);
    unsetenv("YOKE_COMM_TIMEOUT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_meet_by_id),
        cmocka_unit_test(two_meet_at_once),
        cmocka_unit_test(damaged_ids_are_refused),
        cmocka_unit_test(an_id_of_another_version_names_both),
        cmocka_unit_test(the_wrong_secret_disturbs_nobody),
        cmocka_unit_test(strangers_do_not_block_it),
        cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(a_host_of_another_version_is_named),
        cmocka_unit_test(a_rank_comes_once),
        cmocka_unit_test(missing_ranks_are_named),
        cmocka_unit_test(unequal_blocks_are_refused),
        cmocka_unit_test(a_port_in_use_is_named),
        cmocka_unit_test(ranks_meet_by_variables),
        cmocka_unit_test(variables_are_read),
        cmocka_unit_test(bad_variables_are_named),
        cmocka_unit_test(a_launcher_is_looked_for),
        cmocka_unit_test(bad_settings_are_named),
    };
    /* The launcher of whoever runs the tests is not ours. */
    static const char *const others[] = {"PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK",
                                         "PMI_FD",    "SLURM_PROCID",   "RANK"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unsetenv(others[i]);
    alarm(200);
    yoke_log_set_sink(keep_log, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
