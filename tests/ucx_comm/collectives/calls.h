/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_CALLS_H
#define YOKE_TEST_CALLS_H

/* One call of a builder on all its ranks inside this process, against the reference. */

#include "ucx_comm/collectives/algorithms.h"

#define MOST 17 /* ranks */

/* One call on all ranks: shapes, buffers, and the inputs as they were. */
typedef struct call {
    yoke_shape_t shape; /* of rank 0; rank is set for each */
    uint64_t counts[MOST], displacements[MOST];
    uint64_t send_counts[MOST][MOST], send_displacements[MOST][MOST];
    uint64_t recv_counts[MOST][MOST], recv_displacements[MOST][MOST];
    bool irregular;
    uint64_t send_size, recv_size; /* bytes of the buffers, the largest of all ranks */
    char *input[MOST];             /* before */
    char *send[MOST], *recv[MOST];
    bool random;
    uint64_t seed;
} call_t;

bool call_reduces(yoke_collective_t collective);
/* Random counts, zeros among them; gaps between blocks but where blocks are reduced. */
void call_draw_counts(call_t *call, uint64_t *random);
/* Build, simulate, compare; fails the test (cmocka) where something is wrong. Returns
 * whether the builder does this shape. */
bool call_run(call_t *call);

#endif
