/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_CACHE_H
#define YOKE_PARTITION_CACHE_H

/* Private to the evaluator: working memory that lives with the cache of layer costs. */

#include "partition/evaluate.h"

typedef struct yoke_scratch {
    double *doubles;
    size_t double_capacity;
    unsigned *words;
    size_t word_capacity;
} yoke_scratch_t;

/* At least `count` numbers, not cleared, valid until the next call of the same function;
 * NULL: out of memory. */
double *yoke_cost_cache_doubles(yoke_cost_cache_t *cache, size_t count);
unsigned *yoke_cost_cache_words(yoke_cost_cache_t *cache, size_t count);

/* yoke_simulate_1f1b() with working memory of YOKE_SIMULATE_WORK x stages numbers. */
enum { YOKE_SIMULATE_WORK = 6 };
double yoke_simulate_1f1b_in(double *work, unsigned stages, unsigned micro_batches,
                             const double *forward, const double *backward,
                             const double *send, double *out_first, double *out_end,
                             yoke_event_sink_t sink, void *context, unsigned pipeline);

/* Rate of the path between two replicas' groups, bytes per second, and its latency. */
void yoke_replica_path(const yoke_problem_t *problem, const yoke_replica_t *from,
                       const yoke_replica_t *to, double *out_rate, double *out_latency);

#endif
