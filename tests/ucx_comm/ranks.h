/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_RANKS_H
#define YOKE_TEST_RANKS_H

/*
 * Ranks for tests: forked processes of the test, with an all-gather over shared memory to
 * make a communicator of. No rank outlives the call, nothing is left behind, and there is
 * a wall limit after which all are killed and the test fails.
 */

#include <stddef.h>
#include "yoke/comm.h"

/* What a rank does. 0: well. Anything else is a failure; say why on stderr. */
typedef int (*yoke_test_rank_t)(int rank, int size, void *context);

/* Run `function` on n ranks. Returns how many did not exit with 0; prints which. The
 * ranks' memory is a copy of the test's: results come back by yoke_test_shared(). */
int yoke_test_ranks(int n, yoke_test_rank_t function, void *context);
/* The same where some are expected to die: statuses[rank] as of waitpid(). The return
 * value counts those that were killed at the wall limit. */
int yoke_test_ranks_status(int n, yoke_test_rank_t function, void *context,
                           int *statuses);

/* In a rank: the all-gather for yoke_comm_create(); its context is NULL. */
yoke_status_t yoke_test_all_gather(void *context, const void *mine, size_t size,
                                   void *all);
/* In a rank: process of a rank (0: not started yet). */
int yoke_test_pid(int rank);
/* In a rank: all have come, without a communicator. */
void yoke_test_meet(void);
/* Zeroed memory that the ranks forked later share; never freed. */
void *yoke_test_shared(size_t size);

/* In a rank: leave with a message where it is not so. */
#define RANK_CHECK(condition)                                                            \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            yoke_test_complain(__FILE__, __LINE__, #condition);                          \
            return 1;                                                                    \
        }                                                                                \
    } while (0)
void yoke_test_complain(const char *file, int line, const char *what);

#endif
