/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_SIMULATE_H
#define YOKE_TEST_SIMULATE_H

/*
 * The schedules of all ranks of one call, run step by step inside one process, in an
 * order drawn at random among all that are possible. A send may leave its data in place
 * until its receive takes it, a receive may spoil its target from its start: what a
 * schedule does not order is found as a wrong result.
 */

#include "ucx_comm/collectives/schedule.h"

typedef struct simulated_rank {
    yoke_schedule_t *schedule;
    char *base[YOKE_REGION_COUNT]; /* SCRATCH: made by simulate() */
} simulated_rank_t;

/* NULL, or what went wrong (static): deadlock, messages that do not fit, leftovers. */
const char *simulate(simulated_rank_t *ranks, int size, uint64_t seed);
/* The same, for schedules of which some cannot end: how many ranks have ended. */
int simulate_ended(simulated_rank_t *ranks, int size, uint64_t seed);

#endif
