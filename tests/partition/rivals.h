/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_RIVALS_H
#define YOKE_TESTS_PARTITION_RIVALS_H

/*
 * What a user would run without a planner for unlike devices. Written apart from the
 * search; shared by a test and a benchmark.
 */

#include "partition/problem.h"

/*
 * The best even split over all devices, 0: none fits. One tensor-parallel degree, equal
 * pipelines, decoder layers cut evenly, equal micro-batches, sharded optimizer; the ranks
 * in the usual two orders (stages of neighbouring ranks, or pipelines of neighbouring
 * ranks) with the types of devices in every order, so that a stage or a pipeline may mix
 * them.
 */
double rival_even_split(const yoke_problem_t *problem);

/*
 * The best plan on the devices of one type alone, of all types; 0: none fits. `out_type`:
 * its type (lives as long as the inventory).
 */
double rival_single_type(const yoke_model_t *model, const yoke_inventory_t *inventory,
                         const yoke_plan_options_t *options, const char **out_type);

#endif
