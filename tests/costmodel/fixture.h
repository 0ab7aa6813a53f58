/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_COSTMODEL_FIXTURE_H
#define YOKE_TESTS_COSTMODEL_FIXTURE_H

/* Models made by hand, so that the cost model is tested without the importer. */

#include "costmodel/cost.h"

typedef struct fixture_spec {
    unsigned layers; /* decoder blocks */
    uint64_t hidden, ffn, heads, kv_heads, vocabulary;
    uint64_t experts, experts_active, expert_ffn;
    bool gated, tied, parallel;
} fixture_spec_t;

/* Embedding, blocks, head. Ends the test on out of memory. */
yoke_model_t *fixture_model(const fixture_spec_t *spec);
void fixture_model_free(yoke_model_t *model);

/* The constants of the data folder. */
yoke_constants_t fixture_constants(void);
/* No latencies, every fraction 1, nothing extra in memory: closed forms hold exactly. */
yoke_constants_t fixture_ideal(void);

/* Deterministic random numbers. */
uint64_t fixture_random(uint64_t *state);
double fixture_uniform(uint64_t *state, double low, double high);

void fixture_assert_near(double got, double want, double relative, const char *what);

#endif
