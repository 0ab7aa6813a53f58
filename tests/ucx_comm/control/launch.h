/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_LAUNCH_H
#define YOKE_TESTS_LAUNCH_H

/*
 * Ranks as processes or as threads (tests/ucx_comm/ranks.h has processes only), with an
 * all-gather through shared memory,
 * and an end that comes for sure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include "yoke/comm.h"

#define YOKE_TEST_RANKS 128
#define YOKE_TEST_GATHER_LIMIT 65536 /* bytes of each rank */

typedef struct yoke_test_shared yoke_test_shared_t;

/* What a rank is given; also the context of yoke_test_all_gather(). */
typedef struct yoke_test_rank {
    int size, rank;
    void *context; /* the test's; processes see a copy, but what it points to in shared
                      memory (yoke_test_share()) is one */
    yoke_test_shared_t *shared;
    uint64_t gathers;
} yoke_test_rank_t;

/* 0: well. Ends of processes by a signal count as minus its number. */
typedef int (*yoke_test_function_t)(yoke_test_rank_t *rank);

typedef enum yoke_test_kind {
    YOKE_TEST_PROCESSES,
    YOKE_TEST_THREADS,
} yoke_test_kind_t;

/*
 * Run `function` as `size` ranks. After `seconds` all that still run are killed, and the
 * test program ends where they are threads.
 * results: of each rank; NULL: not wanted
 * returns how many ranks did not return 0
 */
int yoke_test_ranks(yoke_test_kind_t kind, int size, yoke_test_function_t function,
                    void *context, int seconds, int *results);

/* a yoke_comm_all_gather_t; context is the yoke_test_rank_t */
yoke_status_t yoke_test_all_gather(void *rank, const void *mine, size_t size, void *all);
/* Process of a rank (processes only). */
pid_t yoke_test_process(const yoke_test_rank_t *rank, int of);
/* Zeroed memory that ranks forked later share; never freed but by yoke_test_unshare(). */
void *yoke_test_share(size_t size);
void yoke_test_unshare(void *memory, size_t size);

/* In a rank: says where, and makes the rank fail. cmocka's own would jump into the
 * parent's test. */
#define YOKE_CHECK(condition)                                                            \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "rank %d: %s:%d: not so: %s (last error: %s)\n",             \
                    yoke_test_current_rank(), __FILE__, __LINE__, #condition,            \
                    yoke_last_error());                                                  \
            return 1;                                                                    \
        }                                                                                \
    } while (0)
int yoke_test_current_rank(void);

#endif
