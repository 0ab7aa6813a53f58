/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_CONTEXT_H
#define YOKE_HAL_CTS_CONTEXT_H

/* What the runner and the helpers share; cases do not see it. */

#include <setjmp.h>

#include "base/text.h"
#include "hal/cts/case.h"

typedef struct yoke_cts_kept {
    void *object;
    void (*end)(void *object);
    yoke_queue_t *queue; /* the same, when it is a queue: waited for before all ends */
    bool opens; /* queues may be waiting for it: ends before they are waited for */
} yoke_cts_kept_t;

typedef struct yoke_cts_shared_program {
    const char *key; /* NULL: unused */
    yoke_program_t *program;
    char *error; /* why there is none */
} yoke_cts_shared_program_t;

enum { YOKE_CTS_PROGRAMS = 24 };

struct yoke_cts {
    /* of the run */
    const yoke_cts_options_t *options;
    char backend[32];
    yoke_device_t *device, *validated, *peer, *host;
    yoke_device_info_t info;
    yoke_operators_t *operators;
    yoke_cts_shared_program_t programs[YOKE_CTS_PROGRAMS];
    /* of the case */
    const yoke_cts_case_t *row;
    yoke_cts_outcome_t outcome;
    char reason[512];
    yoke_cts_kept_t *kept;
    size_t kept_count, kept_capacity;
    jmp_buf leave;
};

/* Objects that the case left, and failures of their end, which count for the case. */
void yoke_cts_context_clear(yoke_cts_t *t);
/* End what the run shares. */
void yoke_cts_context_end(yoke_cts_t *t);
/* Say what is missing for a case of these needs; NULL: nothing. `buffer` may be used. */
const char *yoke_cts_context_missing(yoke_cts_t *t, const yoke_cts_case_t *row,
                                     char buffer[128]);
void yoke_cts_context_sink(yoke_cts_t *t);

#endif
