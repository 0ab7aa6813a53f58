/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_SHARED_EXERCISE_H
#define YOKE_TEST_SHARED_EXERCISE_H

/* Many random calls on one piece of memory, compared with the serial reference. */

#include "ucx_comm/collectives/shared/shared.h"

/* The same calls on all ranks that give the same seed. `calls` of them; every tenth is
 * large. Returns 0, or 1 after the first that is wrong (told on stderr). */
int exercise(yoke_shared_t *shared, int rank, int ranks, uint64_t seed, int calls);

#endif
