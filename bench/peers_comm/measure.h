/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PEERS_COMM_MEASURE_H
#define BENCH_PEERS_COMM_MEASURE_H

/*
 * What the programs of this folder share, so that all libraries are measured alike:
 *
 *   peer COLLECTIVE ITERATIONS BYTES...
 *
 * f32, sum, out of place. Each call comes after a barrier of the same library; its time
 * is the slowest rank's, and the median over the calls is printed, a line a size:
 *
 *   BYTES SECONDS WRONG
 *
 * Bytes are as nccl-tests counts them. WRONG counts elements of the first call that are
 * not what they must be. The run of a size stops early after about SECONDS_PER_SIZE.
 */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_PER_SIZE 0.25
#define LEAST_ITERATIONS 5
#define WARM_UP 3

enum collective {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    BROADCAST,
    ALL_TO_ALL,
    COLLECTIVES
};
static const char *const collective_names[COLLECTIVES] = {
    "all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"};

/* What a library gives. `count`: floats of a block (all-reduce, broadcast: of all). */
struct library {
    void *context;
    int rank, ranks;
    void (*barrier)(struct library *library);
    void (*call)(struct library *library, enum collective collective, float *send,
                 float *recv, size_t count);
    /* largest over the ranks, on all */
    void (*largest)(struct library *library, double *values, int count);
};

static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static inline float input_of(int rank, size_t index)
{
    return (float)((index * 7 + (size_t)rank * 13) % 101);
}

/* What element `index` of rank's result must be. */
static inline float expected_of(enum collective collective, int rank, int ranks,
                                size_t count, size_t index)
{
    float sum = 0;
    switch (collective) {
    case ALL_GATHER:
        return input_of((int)(index / count), index % count);
    case BROADCAST:
        return input_of(0, index);
    case ALL_TO_ALL:
        return input_of((int)(index / count), (size_t)rank * count + index % count);
    case REDUCE_SCATTER:
        index += (size_t)rank * count;
        break;
    default:
        break;
    }
    for (int r = 0; r < ranks; r++)
        sum += input_of(r, index);
    return sum;
}

static inline size_t elements_out(enum collective collective, int ranks, size_t count)
{
    const int blocks = collective == ALL_GATHER || collective == ALL_TO_ALL;
    return blocks ? count * (size_t)ranks : count;
}

static inline double measure_size(struct library *l, enum collective collective,
                                  size_t bytes, int iterations, double *out_wrong)
{
    const int whole = collective == ALL_REDUCE || collective == BROADCAST;
    const size_t all = bytes / sizeof(float);
    const size_t count = whole ? all : all / (size_t)l->ranks;
    float *send = (float *)malloc(bytes + 64), *recv = (float *)malloc(bytes + 64);
    double *times = (double *)calloc((size_t)iterations, sizeof *times);
    for (size_t i = 0; i < all; i++)
        send[i] = input_of(l->rank, i);
    memset(recv, 0xff, bytes);
    double wrong = 0, began = 0;
    int done = 0;
    for (int i = -WARM_UP; i < iterations; i++) {
        l->barrier(l);
        const double start = seconds_now();
        l->call(l, collective, send, recv, count);
        const double end = seconds_now();
        if (i == -WARM_UP) {
            const float *result = collective == BROADCAST && l->rank == 0 ? send : recv;
            for (size_t k = 0; k < elements_out(collective, l->ranks, count); k++)
                wrong +=
                    result[k] != expected_of(collective, l->rank, l->ranks, count, k);
        }
        if (i < 0)
            continue;
        times[i] = end - start;
        done = i + 1;
        /* all stop after the same number: the ranks ask each other now and then */
        began = i == 0 ? end : began;
        const int ask = iterations <= 64 || (i & 63) == 63;
        double late = end - began > SECONDS_PER_SIZE && done >= LEAST_ITERATIONS;
        if (ask) {
            l->largest(l, &late, 1);
            if (late > 0)
                break;
        }
    }
    l->largest(l, times, done);
    l->largest(l, &wrong, 1);
    qsort(times, (size_t)done, sizeof *times, compare_doubles);
    const double median = times[done / 2];
    free(send);
    free(recv);
    free(times);
    *out_wrong = wrong;
    return median;
}

/* 0, or 2 for wrong arguments */
static inline int measure(struct library *l, int argc, char **argv)
{
    int collective = 0;
    while (argc >= 4 && collective < COLLECTIVES &&
           strcmp(argv[1], collective_names[collective]) != 0)
        collective++;
    if (argc < 4 || collective == COLLECTIVES || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: %s COLLECTIVE ITERATIONS BYTES...\n", argv[0]);
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        double wrong = 0;
        const size_t bytes = strtoull(argv[i], NULL, 10);
        const double seconds =
            measure_size(l, (enum collective)collective, bytes, atoi(argv[2]), &wrong);
        if (l->rank == 0)
            printf("%zu %.9g %.0f\n", bytes, seconds, wrong);
        fflush(stdout);
    }
    return 0;
}

#endif
