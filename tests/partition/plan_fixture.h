/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_PLAN_FIXTURE_H
#define YOKE_TESTS_PARTITION_PLAN_FIXTURE_H

/*
 * The model, the cluster and the plan written by hand that the tests of the plan document
 * share: tests/partition/plans/. The model has 10 layers (embedding, 8 blocks, head), 16
 * heads, 4 key/value heads and an odd vocabulary.
 */

#include <jansson.h>

#include "partition/layout.h"
#include "yoke/plan.h"

#define FIXTURE_VOCABULARY 32001

yoke_model_t *fixture_plan_model(void);
yoke_inventory_t *fixture_plan_cluster(void);
/* A file of tests/partition/plans; freed with free(). */
char *fixture_plan_file(const char *name);
/* The plan of by-hand.json with everything filled in: valid, every figure stated. */
yoke_plan_t *fixture_full_plan(const yoke_model_t *model,
                               const yoke_inventory_t *cluster);

/* Value at a JSON pointer (no escapes); fails the test where it leads nowhere. */
json_t *fixture_at(json_t *root, const char *pointer);
/* Replace the value at a pointer by the JSON text `value`; an absent member is added. */
void fixture_set(json_t *root, const char *pointer, const char *value);
/* yoke_plan_parse() of a tree. */
yoke_status_t fixture_parse(const json_t *root, yoke_plan_t **out_plan);

#endif
