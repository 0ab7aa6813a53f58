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
        yoke_message_t messages[16];
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

static void on_shared_memory(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(1, exchange, NULL), 0);
    assert_int_equal(yoke_test_ranks(2, exchange, NULL), 0);
    assert_int_equal(yoke_test_ranks(4, exchange, NULL), 0);
}

static void on_ucp(void **unused)
{
    (void)unused;
    fixture_force(YOKE_PATH_UCP);
    assert_int_equal(yoke_test_ranks(2, exchange, NULL), 0);
    assert_int_equal(yoke_test_ranks(3, exchange, NULL), 0);
    fixture_force(YOKE_PATH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_shared_memory),
        cmocka_unit_test(on_ucp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
