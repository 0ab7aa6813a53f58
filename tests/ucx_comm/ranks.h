/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TEST_RANKS_H
#define YOKE_TEST_RANKS_H

/* Ranks for tests: processes that are forked, or threads; with an all-gather among them,
 * and a limit after which all of them are killed and the test has failed. */

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

typedef struct yoke_test_world yoke_test_world_t;

typedef struct yoke_test_rank {
    yoke_test_world_t *world;
    int rank, size;
    void *shared; /* YOKE_TEST_SHARED zeroed bytes that all ranks see */
    void *context;
} yoke_test_rank_t;

#define YOKE_TEST_SHARED 65536

/* 0: good. Anything else, a signal too, fails the test, unless it is expected. */
typedef int (*yoke_test_body_t)(yoke_test_rank_t *rank);

/* Forked processes, which leave by _exit() after their leaks were looked for. Returns how
 * many ended with another code than 0. */
int yoke_test_ranks(int size, yoke_test_body_t body, void *context);
/* The same; out_codes[rank]: exit code, or minus the signal. */
void yoke_test_ranks_codes(int size, yoke_test_body_t body, void *context,
                           int *out_codes);
/* Threads of this process. */
int yoke_test_threads(int size, yoke_test_body_t body, void *context);

/* A yoke_comm_all_gather_t: context is the yoke_test_rank_t. */
yoke_status_t yoke_test_all_gather(void *rank, const void *mine, size_t size, void *all);
/* All ranks must come. */
void yoke_test_barrier(yoke_test_rank_t *rank);

/* In a body: says where and what, and makes the rank fail. */
#define YOKE_TEST_CHECK(rank, condition)                                                 \
    do {                                                                                 \
        if (!(condition))                                                                \
            yoke_test_fail((rank), __FILE__, __LINE__, #condition);                      \
    } while (0)
_Noreturn void yoke_test_fail(const yoke_test_rank_t *rank, const char *file, int line,
                              const char *what);

/* Seconds until all are killed. */
#define YOKE_TEST_LIMIT_S 120

#endif
