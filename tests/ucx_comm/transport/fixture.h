/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_TRANSPORT_FIXTURE_H
#define YOKE_TEST_TRANSPORT_FIXTURE_H

/* A control plane and a transport for each rank of a test. */

#include "tests/ucx_comm/ranks.h"
#include "ucx_comm/transport/core.h"

typedef struct fixture {
    int rank, size;
    yoke_control_t *control;
    yoke_transport_t *transport;
} fixture_t;

/* In a rank. Not 0: it failed, and was said. */
int fixture_open(fixture_t *fixture, int rank, int size);
void fixture_close(fixture_t *fixture);

/* Where a path is forced, for all ranks that are made later; "as it comes" again: NONE.
 */
void fixture_force(yoke_path_t path);
/* From how many bytes on receivers copy themselves. */
#define FIXTURE_MEASURED (UINT64_MAX - 1)
void fixture_offer_from(uint64_t size);

/* A message of the call number `sequence`. */
yoke_message_t fixture_message(int peer, uint64_t tag, void *data, uint64_t size);
/* Drive the transport until all have ended; the first status that is not OK. */
yoke_status_t fixture_wait(fixture_t *fixture, yoke_message_t *messages, int count);
/* Contents that tell where they come from, and a check of them. */
void fixture_fill(void *data, uint64_t size, uint32_t seed);
bool fixture_is(const void *data, uint64_t size, uint32_t seed);

/* Threads as ranks, with the same functions. Returns how many did not return 0. */
int fixture_threads(int size, yoke_test_rank_t function, void *context);

#endif
