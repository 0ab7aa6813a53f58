/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_FIXTURE_H
#define YOKE_TESTS_PARTITION_FIXTURE_H

/* Problems and layouts made by hand, so that the evaluator is tested without the search.
 */

#include "partition/evaluate.h"
#include "tests/costmodel/fixture.h"

/* `kinds` classes on each of `hosts` hosts, `per_host` devices of each class: class k of
 * every host is class_index k, and slots are ordered by host, class, device. */
yoke_problem_t *fixture_problem(const yoke_model_t *model,
                                const yoke_constants_t *constants, unsigned hosts,
                                unsigned kinds, unsigned per_host);
void fixture_problem_free(yoke_problem_t *problem);

/* Slot of device `index` of class `kind` on `host`. */
unsigned fixture_slot(const yoke_problem_t *problem, unsigned host, unsigned kind,
                      unsigned index);

/* A pipeline with one replica of tp 1 a stage: layers cut at `cuts` (first layer of each
 * stage but the first), devices `slots`. */
enum { FIXTURE_STAGES = 16 };
typedef struct fixture_pipeline {
    yoke_pipeline_t pipeline;
    yoke_stage_t stages[FIXTURE_STAGES];
    yoke_replica_t replicas[FIXTURE_STAGES];
    unsigned slots[FIXTURE_STAGES];
} fixture_pipeline_t;
void fixture_pipeline_set(fixture_pipeline_t *out, const yoke_problem_t *problem,
                          unsigned stages, const unsigned *cuts, const unsigned *slots,
                          unsigned micro_batches, unsigned micro_batch);

#endif
