/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is compression worth it here? Most often it is not (Agarwal et al., MLSys 2022: faster
 * than dense in 6 of more than 200 set-ups), so the costs are measured where it runs, and
 * what is predicted slower is not done.
 */

#include "base/error.h"
#include "ucx_comm/compression/compressor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SMALL 256                 /* elements: latency */
#define LARGE ((uint64_t)1 << 20) /* elements: bytes a second */
#define ROUNDS 5

double yoke_compress_dense_time(const yoke_compress_costs_t *costs, uint64_t count)
{
    return costs->dense_latency + costs->dense_byte * (double)count * sizeof(float);
}

double yoke_compress_sparse_time(const yoke_compress_costs_t *costs, uint64_t count,
                                 unsigned ranks, double budget, bool halves)
{
    double share = (double)(ranks - 1) / ranks;
    double bytes = budget * 2 * share * (double)count * sizeof(float);
    double entries = budget * (double)count * sizeof(float) / yoke_entry_size(halves);
    /* an owner adds what all send to it, and every rank puts what all owners send; the
     * owners choose among count / ranks */
    return costs->sparse_latency + costs->sparse_byte * bytes +
           costs->select_element * (double)count * (1 + 1.0 / ranks) +
           costs->add_entry * 2 * entries;
}

bool yoke_compressor_predict(yoke_compressor_t *c)
{
    unsigned ranks = c->across != NULL ? c->owners.ranks : 1;
    double times[2] = {yoke_compress_dense_time(&c->costs, c->count),
                       yoke_compress_sparse_time(&c->costs, c->count, ranks,
                                                 c->options.budget, c->owners.halves)};
    c->statistics.predicted_dense = times[0];
    c->statistics.predicted_sparse = times[1];
    return times[1] < times[0];
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Median time of a call, over ROUNDS and one before. */
typedef yoke_status_t (*measured_t)(yoke_compressor_t *c, float *values, uint64_t count);

static yoke_status_t time_of(yoke_compressor_t *c, measured_t call, float *values,
                             uint64_t count, double *out_seconds)
{
    double times[ROUNDS];
    yoke_status_t status = call(c, values, count);
    for (int i = 0; status == YOKE_OK && i < ROUNDS; i++) {
        double begin = now();
        status = call(c, values, count);
        times[i] = now() - begin;
    }
    if (status != YOKE_OK)
        return status;
    qsort(times, ROUNDS, sizeof *times, ascending);
    *out_seconds = times[ROUNDS / 2];
    return YOKE_OK;
}

static yoke_status_t all_reduce(yoke_compressor_t *c, float *values, uint64_t count)
{
    return yoke_comm_all_reduce(c->comm, yoke_comm_host(values), yoke_comm_host(values),
                                count, YOKE_ELEMENT_F32, YOKE_REDUCE_MAX, NULL);
}

/* What an exchange sends, in the same calls: `count` floats a rank in each direction. */
static yoke_status_t exchange(yoke_compressor_t *c, float *values, uint64_t count)
{
    uint64_t ranks = (uint64_t)yoke_comm_size(c->across);
    uint64_t block = count / ranks > 0 ? count / ranks : 1;
    float *room = values + count + ranks;
    yoke_status_t status = YOKE_OK;
    for (int which = 0; status == YOKE_OK && which < 2; which++) {
        uint64_t n = which == 0 ? 2 : block; /* sizes, then entries */
        status = yoke_comm_all_to_all(c->across, yoke_comm_host(values),
                                      yoke_comm_host(room), n, YOKE_ELEMENT_F32, NULL);
        if (status == YOKE_OK)
            status =
                yoke_comm_all_gather(c->across, yoke_comm_host(values),
                                     yoke_comm_host(room), n, YOKE_ELEMENT_F32, NULL);
    }
    return status;
}

/* Seconds an element to choose and pack, and an entry to add. */
static void time_own_work(yoke_compressor_t *c, float *values, uint64_t count,
                          unsigned char *message)
{
    yoke_owners_t alone = {.count = count, .ranks = 1, .stripe = (uint32_t)count};
    uint64_t wanted = count / 8, entries = 0;
    double begin = now();
    yoke_picker_t picker = {.threshold =
                                yoke_select_largest(values, count, wanted, c->scratch)};
    yoke_entries_pack(&alone, 0, &picker, values, false, wanted, message, &entries);
    double middle = now();
    yoke_entries_add(message, count, false, values);
    double end = now();
    c->costs.select_element = (middle - begin) / (double)count;
    c->costs.add_entry = entries > 0 ? (end - middle) / (double)entries : 0;
}

static yoke_status_t measure_on(yoke_compressor_t *c, float *values, uint64_t count,
                                unsigned char *message)
{
    double small = 0, large = 0, few = 0, many = 0;
    yoke_status_t status = time_of(c, all_reduce, values, SMALL, &small);
    if (status == YOKE_OK)
        status = time_of(c, all_reduce, values, count, &large);
    double span = (double)(count - SMALL) * sizeof(float);
    c->costs.dense_latency = small;
    c->costs.dense_byte = large > small ? (large - small) / span : 0;
    if (status != YOKE_OK || c->across == NULL)
        return status;
    double ranks = yoke_comm_size(c->across);
    if (ranks > 1) {
        status = time_of(c, exchange, values, SMALL, &few);
        if (status == YOKE_OK)
            status = time_of(c, exchange, values, count, &many);
    }
    c->costs.sparse_latency = few;
    /* `count` floats in blocks, of which one stays, both times */
    c->costs.sparse_byte =
        many > few ? (many - few) / (span * 2 * (ranks - 1) / ranks) : 0;
    if (status == YOKE_OK)
        time_own_work(c, values, count, message);
    return status;
}

/* The slowest rank's costs are everybody's, so that all choose alike. */
static yoke_status_t agree_on_costs(yoke_compressor_t *c)
{
    double costs[6];
    memcpy(costs, &c->costs, sizeof costs);
    _Static_assert(sizeof costs == sizeof c->costs, "six numbers");
    double agreed[6];
    yoke_status_t status =
        yoke_comm_all_reduce(c->comm, yoke_comm_host(costs), yoke_comm_host(agreed), 6,
                             YOKE_ELEMENT_F64, YOKE_REDUCE_MAX, NULL);
    if (status == YOKE_OK)
        memcpy(&c->costs, agreed, sizeof agreed);
    return status;
}

yoke_status_t yoke_compressor_measure(yoke_compressor_t *c)
{
    if (yoke_comm_size(c->comm) == 1)
        return YOKE_OK;
    uint64_t count = c->count < LARGE ? c->count : LARGE;
    if (count < 4 * SMALL)
        count = 4 * SMALL;
    /* values, and what exchange() receives: at most count, or one for each rank */
    uint64_t ranks = (uint64_t)yoke_comm_size(c->comm);
    float *values = malloc((2 * count + 4 * ranks) * sizeof *values);
    unsigned char *message = malloc(yoke_entries_size(count, count, false));
    yoke_status_t status = YOKE_OK;
    if (values == NULL || message == NULL)
        status = yoke_fail(YOKE_ERR_NO_MEMORY, "compression: no memory to measure");
    if (status == YOKE_OK) {
        for (uint64_t i = 0; i < 2 * count + 4 * ranks; i++)
            values[i] = (float)(yoke_select_draw(1, 0, i) - 0.5);
        status = measure_on(c, values, count, message);
    }
    free(values);
    free(message);
    return status == YOKE_OK ? agree_on_costs(c) : status;
}
