/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_ONE_CALL_H
#define YOKE_TEST_ONE_CALL_H

/* One collective call on a real communicator, compared with the serial reference. */

#include "ucx_comm/transport/transport.h"
#include "yoke/comm.h"

typedef struct one_call {
    yoke_collective_t collective;
    yoke_element_t element;
    yoke_reduction_t reduction;
    bool v_form, in_place, random;
    int root;
    uint64_t count;
    uint64_t seed;         /* of inputs and of a v-form's counts; equal on all ranks */
    uint64_t shift;        /* bytes that buffers begin after a 64-byte boundary */
    const char *algorithm; /* NULL: chosen */
    yoke_comm_request_t **out_request; /* not yet ended: check with one_call_check() */
} one_call_t;

typedef struct one_call_buffers one_call_buffers_t;

/* Makes the call; *out_buffers is given back to one_call_check(). */
yoke_status_t one_call_start(yoke_comm_t *comm, const one_call_t *call,
                             one_call_buffers_t **out_buffers);
/* NULL where all is right, else what is not (static). Frees the buffers. */
const char *one_call_check(yoke_comm_t *comm, const one_call_t *call,
                           one_call_buffers_t *buffers);
/* Both, with the answer of the call in words too. */
const char *one_call(yoke_comm_t *comm, const one_call_t *call);
/* A hash of the result of the last one_call_check(): equal on all ranks of an all-reduce
 * or all-gather. */
uint64_t one_call_hash(void);

bool one_call_reduces(yoke_collective_t collective);
bool one_call_has_root(yoke_collective_t collective);
bool one_call_has_v_form(yoke_collective_t collective);

#endif
