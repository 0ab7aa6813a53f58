/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_LAYOUT_H
#define YOKE_PARTITION_LAYOUT_H

/*
 * Between the document (names, for people and other tools) and the layout (indexes, for
 * the evaluator). A layout's pipelines, stages and replicas stand in the order of the
 * document's.
 */

#include <limits.h>

#include "partition/evaluate.h"
#include "partition/faults.h"

/* A slot that could not be resolved; passed over by yoke_layout_faults(). */
#define YOKE_SLOT_UNKNOWN UINT_MAX

/*
 * Layout of a plan, device names resolved. The plan must use one chunk a stage and cp =
 * ep = 1: others are not simulated yet.
 * @retval YOKE_ERR_BAD_INPUT  what cannot be resolved; the message has the JSON pointer
 */
yoke_status_t yoke_layout_from_plan(const yoke_problem_t *problem,
                                    const yoke_plan_t *plan, yoke_layout_t *out_layout);

/*
 * The same for `check`: every fault is collected, unresolved devices are
 * YOKE_SLOT_UNKNOWN. The status is about memory only. A layout is made in any case.
 */
yoke_status_t yoke_layout_resolve(const yoke_problem_t *problem, const yoke_plan_t *plan,
                                  yoke_faults_t *faults, yoke_layout_t *out_layout);

/*
 * Is a layout well formed: every layer once and in order in each pipeline, no device
 * twice, tensor groups of equal devices on one host, degrees that the layers allow, the
 * batch adds up?
 * @retval YOKE_ERR_BAD_INPUT  the message is the first fault
 */
yoke_status_t yoke_layout_check(const yoke_problem_t *problem,
                                const yoke_layout_t *layout);
/* All faults; `layers` false leaves out the order of the layers. */
void yoke_layout_faults(const yoke_problem_t *problem, const yoke_layout_t *layout,
                        bool layers, yoke_faults_t *faults);

/* Operations that the simulator runs through; beyond YOKE_MOST_OPERATIONS a document is
 * refused rather than simulated for minutes. */
double yoke_layout_operations(const yoke_layout_t *layout);
#define YOKE_MOST_OPERATIONS 50000000.0

/* Frees what yoke_layout_from_plan() or yoke_layout_resolve() made. */
void yoke_layout_free(yoke_layout_t *layout);

/*
 * The plan of an evaluated layout: everything that follows from problem, layout and
 * evaluation. Left for the search: bound, the range of the time, alternatives,
 * sensitivities, notes, devices that were usable and not used (those of problem->unused
 * are there).
 */
yoke_status_t yoke_plan_from_layout(const yoke_problem_t *problem,
                                    yoke_cost_cache_t *cache, const yoke_layout_t *layout,
                                    const yoke_evaluation_t *evaluation,
                                    yoke_plan_t **out_plan);

/* Options under which a plan was made, for evaluating it again. Points into the plan;
 * `exclude` must have room for plan->exclude_count + 1 pointers and live as long. */
yoke_status_t yoke_plan_get_options(const yoke_plan_t *plan, const char **exclude,
                                    yoke_plan_options_t *out_options);

/*
 * What one dimension of a stage's layers is cut into. A dimension whose size differs
 * among the layers stands once for each size, in the order of the first layer that has
 * it.
 */
typedef struct yoke_extent {
    const char *dimension;
    uint64_t size;   /* before padding */
    uint64_t padded; /* vocabulary: rounded up to a multiple of tp; else size */
    uint64_t
        copies; /* ranks that hold the same range (kv heads fewer than ranks); 1 else */
} yoke_extent_t;
enum { YOKE_EXTENT_MAX = 32 };
/* Extents of layers first..last for a degree; at most YOKE_EXTENT_MAX, the rest is
 * dropped. */
size_t yoke_layer_extents(const yoke_model_t *model, unsigned first, unsigned last,
                          unsigned tp, yoke_extent_t out[YOKE_EXTENT_MAX]);
/* Half-open range that one of tp ranks holds. */
void yoke_extent_range(const yoke_extent_t *extent, uint64_t rank, uint64_t tp,
                       uint64_t *out_begin, uint64_t *out_end);

#endif
