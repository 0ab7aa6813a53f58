/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_INSTANCES_H
#define YOKE_TESTS_PARTITION_INSTANCES_H

/*
 * Small planning problems from a seed: one seed, one instance, on any machine. Clusters
 * of up to 8 devices of up to 3 types (whole or mixed nodes, 1 to 8 devices a node, fast
 * and slow links, bridges), models of up to 12 decoder layers (equal, alternating or
 * growing; light and heavy heads; tied or not; grouped-query heads), generous and tight
 * memory.
 */

#include "partition/problem.h"

/* splitmix64: the same numbers everywhere. */
typedef struct random_source {
    uint64_t state;
} random_source_t;
uint64_t random_next(random_source_t *source);
/* Uniform in [0, count). */
unsigned random_below(random_source_t *source, unsigned count);
/* Uniform in [low, high). */
double random_between(random_source_t *source, double low, double high);

typedef struct instance {
    uint64_t seed;
    unsigned devices, types; /* types that have a device */
    unsigned decoders;
    bool tight, mixed, slow, uneven;
    yoke_model_t *model;
    yoke_inventory_t *inventory;
    yoke_plan_options_t options;
    random_source_t random; /* for what the test draws further */
} instance_t;

/* Ends the test when memory runs out. */
void instance_make(uint64_t seed, instance_t *out_instance);
void instance_free(instance_t *instance);

/* Take the last decoder layer out (there must be two); the last device (likewise). */
void instance_drop_layer(instance_t *instance);
void instance_drop_device(instance_t *instance);

/*
 * Make the instance's space smaller, by fixing options first, until brute force has at
 * most `budget` candidates to look at.
 */
void instance_shrink(instance_t *instance, uint64_t budget);

/* The same cluster with its nodes, and the devices and NICs of each, in another order. */
void inventory_shuffle(yoke_inventory_t *inventory, random_source_t *random);

/* The problem of the instance; NULL: none (its network is not known, say). */
yoke_problem_t *instance_problem(const instance_t *instance);

#endif
