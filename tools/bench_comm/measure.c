/* SPDX-License-Identifier: Apache-2.0 */
/* The time of one collective. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/bench_comm/bench_comm.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static yoke_status_t run_call(yoke_comm_t *comm, const bench_case_t *c,
                              const yoke_comm_call_t *call, void *send, void *recv)
{
    const yoke_comm_buffer_t from = yoke_comm_host(send), to = yoke_comm_host(recv);
    switch (c->collective) {
    case BENCH_ALL_REDUCE:
        return yoke_comm_all_reduce(comm, from, to, c->count, c->element, c->reduction,
                                    call);
    case BENCH_ALL_GATHER:
        return yoke_comm_all_gather(comm, from, to, c->count, c->element, call);
    case BENCH_REDUCE_SCATTER:
        return yoke_comm_reduce_scatter(comm, from, to, c->count, c->element,
                                        c->reduction, call);
    case BENCH_BROADCAST:
        return yoke_comm_broadcast(comm, to, c->count, c->element, c->root, call);
    case BENCH_REDUCE:
        return yoke_comm_reduce(comm, from, to, c->count, c->element, c->reduction,
                                c->root, call);
    case BENCH_GATHER:
        return yoke_comm_gather(comm, from, to, c->count, c->element, c->root, call);
    case BENCH_SCATTER:
        return yoke_comm_scatter(comm, from, to, c->count, c->element, c->root, call);
    case BENCH_ALL_TO_ALL:
        return yoke_comm_all_to_all(comm, from, to, c->count, c->element, call);
    default:
        return yoke_comm_barrier(comm, call);
    }
}

/* Buffers of one measurement. In place one of them lies in the other. */
typedef struct buffers {
    void *memory[2];
    char *send, *recv;
    size_t send_size, recv_size;
} buffers_t;

static yoke_status_t make_buffers(const bench_case_t *c, int rank, int ranks,
                                  bool in_place, buffers_t *b)
{
    const size_t size = yoke_element_size(c->element);
    const bool root = rank == c->root || !bench_has_root(c->collective);
    const size_t own = (size_t)rank * c->count * size;
    b->send_size = bench_send_count(c, rank, ranks) * size;
    b->recv_size = bench_recv_count(c, rank, ranks) * size;
    b->memory[0] = malloc(b->send_size + 1);
    b->memory[1] = malloc(b->recv_size + 1);
    if (b->memory[0] == NULL || b->memory[1] == NULL)
        return YOKE_ERR_NO_MEMORY;
    b->send = b->memory[0];
    b->recv = b->memory[1];
    memset(b->recv, 0xff, b->recv_size);
    if (!in_place || !root)
        return YOKE_OK;
    if (c->collective == BENCH_ALL_GATHER || c->collective == BENCH_GATHER)
        b->send = b->recv + own;
    else if (c->collective == BENCH_REDUCE_SCATTER || c->collective == BENCH_SCATTER)
        b->recv = b->send + own;
    else if (c->collective != BENCH_BROADCAST)
        b->send = b->recv;
    return YOKE_OK;
}

static void free_buffers(buffers_t *b)
{
    free(b->memory[0]);
    free(b->memory[1]);
}

static void fill(const bench_case_t *c, int rank, int ranks, buffers_t *b)
{
    const uint64_t count = bench_send_count(c, rank, ranks);
    if (c->collective == BENCH_BARRIER)
        return;
    bench_fill(c, rank, ranks, c->collective == BENCH_BROADCAST ? b->recv : b->send,
               count);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static yoke_status_t timed_calls(yoke_comm_t *comm, const bench_settings_t *settings,
                                 const bench_case_t *c, buffers_t *b, double *times)
{
    for (int i = -settings->warm_up; i < settings->iterations; i++) {
        yoke_status_t status = yoke_comm_barrier(comm, &settings->call);
        const double start = now();
        if (status == YOKE_OK)
            status = run_call(comm, c, &settings->call, b->send, b->recv);
        if (status != YOKE_OK)
            return status;
        if (i >= 0)
            times[i] = now() - start;
    }
    return YOKE_OK;
}

/* The first call of fresh data is the one that is checked. */
static yoke_status_t checked_call(yoke_comm_t *comm, const bench_settings_t *settings,
                                  const bench_case_t *c, buffers_t *b, uint64_t *wrong)
{
    const int rank = yoke_comm_rank(comm), ranks = yoke_comm_size(comm);
    fill(c, rank, ranks, b);
    const yoke_status_t status = run_call(comm, c, &settings->call, b->send, b->recv);
    if (status != YOKE_OK)
        return status;
    *wrong = c->collective == BENCH_BARRIER ? 0 : bench_wrong(c, rank, ranks, b->recv);
    const yoke_comm_buffer_t count = yoke_comm_host(wrong);
    return yoke_comm_all_reduce(comm, count, count, 1, YOKE_ELEMENT_U64, YOKE_REDUCE_SUM,
                                NULL);
}

yoke_status_t bench_measure(yoke_comm_t *comm, const bench_settings_t *settings,
                            const bench_case_t *c, bool in_place, bench_time_t *out_time)
{
    const int n = settings->iterations;
    buffers_t b = {0};
    double *times = calloc((size_t)n, sizeof *times);
    uint64_t wrong = 0;
    yoke_status_t status = times == NULL ? YOKE_ERR_NO_MEMORY : YOKE_OK;
    if (status == YOKE_OK)
        status =
            make_buffers(c, yoke_comm_rank(comm), yoke_comm_size(comm), in_place, &b);
    if (status == YOKE_OK)
        status = checked_call(comm, settings, c, &b, &wrong);
    if (status == YOKE_OK)
        status = timed_calls(comm, settings, c, &b, times);
    if (status == YOKE_OK)
        status =
            yoke_comm_all_reduce(comm, yoke_comm_host(times), yoke_comm_host(times),
                                 (uint64_t)n, YOKE_ELEMENT_F64, YOKE_REDUCE_MAX, NULL);
    if (status == YOKE_OK) {
        qsort(times, (size_t)n, sizeof *times, compare);
        *out_time = (bench_time_t){times[n / 2], wrong};
    }
    free_buffers(&b);
    free(times);
    return status;
}
