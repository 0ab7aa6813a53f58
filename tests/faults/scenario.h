/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAULTS_SCENARIO_H
#define YOKE_TESTS_FAULTS_SCENARIO_H

/* Everything that a device can do, once, whatever fails on the way. */

#include <stdbool.h>
#include <stdint.h>

typedef struct outcome {
    unsigned steps, failures;
    bool outputs; /* one was set by a call that failed, or not by one that succeeded */
    bool bytes;   /* read back others than were written, all calls having succeeded */
    /* The first failure: */
    char step[128], status[32], message[768];
    bool vendor; /* yoke_last_vendor_error() had parts */
    char call[96], name[96];
    int64_t code;
} outcome_t;

/* With `backend` as "cuda": its devices 0 and 1, and the host. */
void scenario_run(const char *backend, outcome_t *out_outcome);

#endif
