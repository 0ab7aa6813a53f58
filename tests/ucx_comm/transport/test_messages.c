/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over each path: all sizes, many at once, in any order. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/ucx_comm/transport/fixture.h"

static const uint64_t sizes[] = {
    0,    1,    2,     7,     8,     9,     16,     17,     63,     64,      65,
    1000, 4093, 16384, 16385, 65536, 65537, 131071, 131072, 262147, 1048583, 3 << 20};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

/* Every rank sends every size to every other one, itself too, and receives the same. */
static int exchange(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    for (int which = 0; which < SIZES; which++) {
        uint64_t bytes = sizes[which];
        yoke_message_t messages[32];
        int count = 0;
        char *memory = malloc((size_t)size * 2 * (bytes + 3) + 1);
        RANK_CHECK(memory != NULL);
        for (int peer = 0; peer < size; peer++) {
            char *out = memory + (uint64_t)(2 * peer) * (bytes + 3) + 1;
            char *in = out + bytes + 3;
            fixture_fill(out, bytes, (uint32_t)(rank * 16 + peer));
            in[bytes] = 'g';
            messages[count] = fixture_message(peer, 5, in, bytes);
            yoke_transport_receive(fixture.transport, &messages[count++]);
            messages[count] = fixture_message(peer, 5, out, bytes);
            yoke_transport_send(fixture.transport, &messages[count++]);
        }
        RANK_CHECK(fixture_wait(&fixture, messages, count) == YOKE_OK);
        for (int peer = 0; peer < size; peer++) {
            char *in = memory + (uint64_t)(2 * peer + 1) * (bytes + 3) + 1;
            RANK_CHECK(fixture_is(in, bytes, (uint32_t)(peer * 16 + rank)));
            RANK_CHECK(in[bytes] == 'g');
        }
        free(memory);
    }
    fixture_close(&fixture);
    return 0;
}

/* --- many at once
 * ------------------------------------------------------------------------- */

#define MANY 400

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Both sides know the size of message `i` from `from` to `to`. */
static uint64_t size_of(int from, int to, int i)
{
    uint32_t state = (uint32_t)(from * 7919 + to * 104729 + i);
    next_random(&state);
    switch (next_random(&state) % 8) {
    case 0:
        return next_random(&state) % 300000;
    case 1:
    case 2:
        return next_random(&state) % 30000;
    default:
        return next_random(&state) % 200;
    }
}

static void shuffle(int *order, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next_random(&seed) % (uint32_t)(i + 1)), old = order[i];
        order[i] = order[j];
        order[j] = old;
    }
}

/* Sends and receives in different random orders, tags all different but for those of
 * three, which are matched in order. */
static int flood(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    int peer = (rank + 1) % size, from = (rank + size - 1) % size;
    static _Thread_local yoke_message_t messages[2 * MANY];
    static _Thread_local char *data[2 * MANY];
    int order[2][MANY];
    shuffle(order[0], MANY, (uint32_t)rank + 1);
    shuffle(order[1], MANY, (uint32_t)rank + 77);
    for (int i = 0; i < MANY; i++) {
        data[i] = malloc(size_of(rank, peer, i) + 1);
        data[MANY + i] = malloc(size_of(from, rank, i) + 1);
        fixture_fill(data[i], size_of(rank, peer, i), (uint32_t)(rank * 1000 + i));
    }
    for (int i = 0; i < MANY; i++) {
        int out = order[0][i], in = order[1][i];
        messages[out] =
            fixture_message(peer, (uint64_t)out, data[out], size_of(rank, peer, out));
        yoke_transport_send(fixture.transport, &messages[out]);
        if (i % 3 == 0)
            yoke_transport_progress(fixture.transport);
        messages[MANY + in] =
            fixture_message(from, (uint64_t)in, data[MANY + in], size_of(from, rank, in));
        yoke_transport_receive(fixture.transport, &messages[MANY + in]);
    }
    RANK_CHECK(fixture_wait(&fixture, messages, 2 * MANY) == YOKE_OK);
    for (int i = 0; i < MANY; i++) {
        RANK_CHECK(fixture_is(data[MANY + i], size_of(from, rank, i),
                              (uint32_t)(from * 1000 + i)));
        free(data[i]);
        free(data[MANY + i]);
    }
    fixture_close(&fixture);
    return 0;
}

/* More than the window of early messages before any receive is there; then the receives,
 * last first. Nothing is lost, and equal tags keep their order. */
#define EARLY 6000

static int come_early(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    static _Thread_local yoke_message_t messages[EARLY];
    static _Thread_local uint32_t values[EARLY];
    if (rank == 0) {
        for (uint32_t i = 0; i < EARLY; i++) {
            values[i] = i;
            messages[i] = fixture_message(1, i % 2 + 1, &values[i], sizeof values[i]);
            yoke_transport_send(fixture.transport, &messages[i]);
        }
        uint32_t done = 0;
        for (uint32_t i = 0; i < EARLY; i++)
            done += messages[i].status == YOKE_OK;
        RANK_CHECK(done < EARLY); /* the receiver's memory has a bound */
        RANK_CHECK(done > 100);
    } else {
        for (int i = 0; i < 2000; i++)
            yoke_transport_progress(fixture.transport);
        for (uint32_t i = 0; i < EARLY; i++) {
            uint64_t tag = i < EARLY / 2 ? 2 : 1;
            messages[i] = fixture_message(0, tag, &values[i], sizeof values[i]);
            yoke_transport_receive(fixture.transport, &messages[i]);
        }
    }
    RANK_CHECK(fixture_wait(&fixture, messages, EARLY) == YOKE_OK);
    for (uint32_t i = 0; rank == 1 && i < EARLY / 2; i++) {
        RANK_CHECK(values[i] == 2 * i + 1);
        RANK_CHECK(values[EARLY / 2 + i] == 2 * i);
    }
    fixture_close(&fixture);
    return 0;
}

/* --- pieces
 * ---------------------------------------------------------------------------------
 */

typedef struct taker {
    const char *expected;
    uint64_t size, next;
    bool good;
} taker_t;

static void take_piece(void *context, uint64_t offset, const void *piece, uint64_t size)
{
    taker_t *taker = context;
    bool last = offset + size == taker->size;
    taker->good = taker->good && offset == taker->next && (last || size % 64 == 0) &&
                  memcmp(piece, taker->expected + offset, size) == 0;
    taker->next = offset + size;
}

static int consume(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    for (int which = 0; which < SIZES; which++) {
        uint64_t bytes = sizes[which];
        char *data = malloc(bytes + 1);
        fixture_fill(data, bytes, 9);
        taker_t taker = {.expected = data, .size = bytes, .good = true};
        yoke_message_t messages[2] = {
            fixture_message(1 - rank, 3, NULL, bytes),
            fixture_message(1 - rank, 3, data, bytes),
        };
        messages[0].consume = take_piece;
        messages[0].context = &taker;
        yoke_transport_receive(fixture.transport, &messages[0]);
        yoke_transport_send(fixture.transport, &messages[1]);
        RANK_CHECK(fixture_wait(&fixture, messages, 2) == YOKE_OK);
        RANK_CHECK(taker.good && taker.next == bytes);
        free(data);
    }
    fixture_close(&fixture);
    return 0;
}

static int large(int rank, int size, void *context)
{
    (void)context;
    fixture_t fixture;
    if (fixture_open(&fixture, rank, size) != 0)
        return 1;
    uint64_t bytes = (1ull << 31) + 12345;
    char *data = malloc(bytes);
    RANK_CHECK(data != NULL);
    yoke_message_t message = fixture_message(1 - rank, 1, data, bytes);
    if (rank == 0) {
        fixture_fill(data, bytes, 5);
        yoke_transport_send(fixture.transport, &message);
    } else
        yoke_transport_receive(fixture.transport, &message);
    RANK_CHECK(fixture_wait(&fixture, &message, 1) == YOKE_OK);
    RANK_CHECK(fixture_is(data, bytes, 5));
    RANK_CHECK(rank == 1 ||
               yoke_transport_path(fixture.transport, 1) != YOKE_PATH_SHARED ||
               yoke_transport_sent(fixture.transport, 1) > 0);
    free(data);
    fixture_close(&fixture);
    return 0;
}

/* --- every kind of ranks and path
 * ------------------------------------------------------------
 */

static void run_all(int (*run)(int, yoke_test_rank_t, void *))
{
    assert_int_equal(run(2, exchange, NULL), 0);
    assert_int_equal(run(3, exchange, NULL), 0);
    assert_int_equal(run(2, flood, NULL), 0);
    assert_int_equal(run(3, flood, NULL), 0);
    assert_int_equal(run(2, come_early, NULL), 0);
    assert_int_equal(run(2, consume, NULL), 0);
}

static void on_shared_memory(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(1, exchange, NULL), 0);
    run_all(yoke_test_ranks);
}

static void on_shared_memory_without_single_copy(void **unused)
{
    (void)unused;
    fixture_offer_from(UINT64_MAX);
    run_all(yoke_test_ranks);
}

static void on_shared_memory_all_single_copy(void **unused)
{
    (void)unused;
    fixture_offer_from(0);
    run_all(yoke_test_ranks);
}

static void between_threads(void **unused)
{
    (void)unused;
    run_all(fixture_threads);
}

static void on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    run_all(yoke_test_ranks);
}

static void between_threads_on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    assert_int_equal(fixture_threads(3, flood, NULL), 0);
}

static void more_ranks_than_cores(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(8, exchange, NULL), 0);
    assert_int_equal(yoke_test_ranks(8, flood, NULL), 0);
}

/* Two hosts of two ranks: both paths in one communicator. */
static void on_both_paths(void **unused)
{
    (void)unused;
    yoke_arena_pretended_hosts = 2;
    assert_int_equal(yoke_test_ranks(4, exchange, NULL), 0);
    assert_int_equal(yoke_test_ranks(4, flood, NULL), 0);
}

/* More bytes than 32 bits count: 4 GiB of memory, so only where it is asked for. */
static void more_than_31_bits(void **unused)
{
    (void)unused;
    if (getenv("YOKE_TEST_LARGE") == NULL)
        skip();
    assert_int_equal(yoke_test_ranks(2, large, NULL), 0);
    fixture_offer_from(UINT64_MAX);
    assert_int_equal(yoke_test_ranks(2, large, NULL), 0);
    fixture_force(YOKE_PATH_UCP);
    assert_int_equal(yoke_test_ranks(2, large, NULL), 0);
}

/* What a test has forced. */
static int as_it_comes(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_NONE);
    fixture_offer_from(FIXTURE_MEASURED);
    yoke_arena_pretended_hosts = 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(on_shared_memory, as_it_comes),
        cmocka_unit_test_teardown(on_shared_memory_without_single_copy, as_it_comes),
        cmocka_unit_test_teardown(on_shared_memory_all_single_copy, as_it_comes),
        cmocka_unit_test_teardown(between_threads, as_it_comes),
        cmocka_unit_test_teardown(on_ucp, as_it_comes),
        cmocka_unit_test_teardown(between_threads_on_ucp, as_it_comes),
        cmocka_unit_test_teardown(more_ranks_than_cores, as_it_comes),
        cmocka_unit_test_teardown(on_both_paths, as_it_comes),
        cmocka_unit_test_teardown(more_than_31_bits, as_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
