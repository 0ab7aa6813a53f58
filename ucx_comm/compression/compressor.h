/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_COMPRESSOR_H
#define YOKE_COMM_COMPRESSOR_H

#include "ucx_comm/compression/entries.h"
#include "yoke/compress.h"

/* Seconds of what a call consists of; the slowest rank's, so equal on all. */
typedef struct yoke_compress_costs {
    double dense_latency, dense_byte;   /* all-reduce: per call, per byte of the vector */
    double sparse_latency, sparse_byte; /* the exchanges: per call, per byte sent */
    double select_element;              /* choose, pack and clear */
    double add_entry;
} yoke_compress_costs_t;

struct yoke_compressor {
    yoke_comm_t *comm;   /* the caller's */
    yoke_comm_t *island; /* two levels; else NULL */
    yoke_comm_t *across; /* ranks that exchange entries: comm, or the islands' leaders;
                            NULL on a rank that leads none */
    yoke_compressor_options_t options;
    uint64_t count;
    uint64_t call; /* draws differ from call to call */

    float *sum;    /* gradient and what was kept of earlier ones; then what is kept now */
    float *result; /* before it goes to a device */
    yoke_queue_t *queue; /* of the device whose spans are given; NULL until one is */

    /* a rank that exchanges entries */
    yoke_owners_t owners;
    uint64_t own_length;
    float *own; /* sums of this owner's elements, with what was kept of earlier ones */
    uint64_t sender_entries, owner_entries; /* of the budget */
    uint32_t *scratch;                      /* YOKE_SELECT_SCRATCH */
    unsigned char *outgoing, *incoming;
    size_t outgoing_size, incoming_size;
    uint64_t *sizes; /* 4 arrays of one for each rank: see exchange.c */

    yoke_compress_costs_t costs;
    yoke_compressor_statistics_t statistics;
};

/* Two exchanges: `sum` of all ranks of `across` becomes, as far as the budget goes,
 * `vector` times `factor` on all of them; the rest stays in sum and own. */
yoke_status_t yoke_compressor_exchange(yoke_compressor_t *compressor, float *vector,
                                       float factor);
/* Measure the costs. Collective. */
yoke_status_t yoke_compressor_measure(yoke_compressor_t *compressor);
/* Set the predictions of the statistics; true: sparse is worth it. */
bool yoke_compressor_predict(yoke_compressor_t *compressor);

/* Seconds of dense and sparse by the costs, for `ranks` that exchange `count` elements.
 */
double yoke_compress_dense_time(const yoke_compress_costs_t *costs, uint64_t count);
double yoke_compress_sparse_time(const yoke_compress_costs_t *costs, uint64_t count,
                                 unsigned ranks, double budget, bool halves);

#endif
