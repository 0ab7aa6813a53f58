/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_BENCH_COMM_H
#define YOKE_TOOLS_BENCH_COMM_H

/* yoke-bench-comm: what its files share. It uses the public interface only. */

#include "yoke/comm.h"

typedef enum bench_collective {
    BENCH_ALL_REDUCE,
    BENCH_ALL_GATHER,
    BENCH_REDUCE_SCATTER,
    BENCH_BROADCAST,
    BENCH_REDUCE,
    BENCH_GATHER,
    BENCH_SCATTER,
    BENCH_ALL_TO_ALL,
    BENCH_BARRIER,
    BENCH_COLLECTIVES
} bench_collective_t;

const char *bench_collective_name(bench_collective_t collective);
bool bench_reduces(bench_collective_t collective);
bool bench_has_root(bench_collective_t collective);
bool bench_has_blocks(bench_collective_t collective);

/* One line of the table. */
typedef struct bench_case {
    bench_collective_t collective;
    yoke_element_t element;
    yoke_reduction_t reduction;
    int root;
    uint64_t count; /* elements of a block, or of the whole where there are no blocks */
} bench_case_t;

/* Bytes as nccl-tests counts them. */
uint64_t bench_size(const bench_case_t *c, int ranks);
/* Bus bandwidth over algorithm bandwidth. */
double bench_bus_factor(bench_collective_t collective, int ranks);

/* --- data with known results (data.c) ----------------------------------------------- */

/* This rank's send buffer, and what it must have received: elements [0, count) of it.
 * Values are small whole numbers that every type holds, and so are all partial results,
 * in any order. */
void bench_fill(const bench_case_t *c, int rank, int ranks, void *send, uint64_t count);
uint64_t bench_send_count(const bench_case_t *c, int rank, int ranks);
uint64_t bench_recv_count(const bench_case_t *c, int rank, int ranks);
/* How many elements of recv are not what they must be. */
uint64_t bench_wrong(const bench_case_t *c, int rank, int ranks, const void *recv);

/* --- measuring (measure.c) ---------------------------------------------------------- */

typedef struct bench_settings {
    int iterations, warm_up;
    yoke_comm_call_t call; /* algorithm, time-out */
} bench_settings_t;

typedef struct bench_time {
    double seconds; /* median over the calls of the slowest rank's time */
    uint64_t wrong; /* all ranks */
} bench_time_t;

/* Collective. */
yoke_status_t bench_measure(yoke_comm_t *comm, const bench_settings_t *settings,
                            const bench_case_t *c, bool in_place, bench_time_t *out_time);

/* --- ranks of this program (ranks.c) ------------------------------------------------ */

typedef int (*bench_rank_t)(yoke_comm_t *comm, void *context);

/* Run `function` in n processes that this one starts, each with a communicator. The exit
 * code is that of the first that failed; the others are ended then. */
int bench_run_ranks(int n, const yoke_comm_options_t *options, bench_rank_t function,
                    void *context);

#endif
