/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_CUT_H
#define YOKE_PARTITION_CUT_H

/* Cutting the layers over one given sequence of stages. */

#include "partition/bounds.h"

typedef struct yoke_chain {
    yoke_sheet_t *sheet;
    unsigned stages, micro_batches;
    uint8_t classes[YOKE_MAX_STAGES];
    double send[YOKE_MAX_STAGES];
    /* What sends add to the work of a stage that waits for them; see yoke_chain_block().
     */
    double more_forward[YOKE_MAX_STAGES], more_backward[YOKE_MAX_STAGES];
    const int *cap[YOKE_MAX_STAGES]; /* memory caps, see yoke_sheet_memory_cap() */
    double overhead;                 /* added to every step */
} yoke_chain_t;

/* data_ranks: replicas of the model in the whole plan. False: out of memory. */
bool yoke_chain_init(yoke_chain_t *chain, yoke_sheet_t *sheet, const uint8_t *classes,
                     unsigned stages, unsigned micro_batches, unsigned data_ranks,
                     bool sharded);

/* Where a stage waits for what it sends: the sends become part of the stages' work. */
void yoke_chain_block(yoke_chain_t *chain);

/* Closed-form step time of a cut: at most the simulated one. */
double yoke_chain_bound(const yoke_chain_t *chain, const uint16_t *last);

/*
 * A good cut: least bottleneck by parametric search, then moves of single layers between
 * any two stages while the closed form improves. False: no cut fits the memory.
 */
bool yoke_chain_cut(const yoke_chain_t *chain, uint16_t *out_last);
/* The first half of it alone: the least bottleneck. */
bool yoke_chain_cut_bottleneck(const yoke_chain_t *chain, uint16_t *out_last);
/* The second half alone; false: nothing moved. */
bool yoke_chain_improve(const yoke_chain_t *chain, uint16_t *last);

/* One layer fewer in stage `from` and one more in `to`: the stages between pass one on.
 * False: it does not fit the memory, or a stage would be empty. */
bool yoke_chain_move(const yoke_chain_t *chain, const uint16_t *last, unsigned from,
                     unsigned to, uint16_t *out);

/*
 * Every cut whose closed form is below *threshold, which `visit` may lower. Each node
 * takes one of *effort; returns false when it ran out.
 */
typedef void (*yoke_cut_visit_t)(void *context, const uint16_t *last);
bool yoke_chain_enumerate(const yoke_chain_t *chain, const double *threshold,
                          uint64_t *effort, yoke_cut_visit_t visit, void *context);

/* Equal numbers of decoder layers, the remainder to the first stages; ends hold embedding
 * and head. False when there are fewer decoder layers than stages. */
bool yoke_cut_even(const yoke_model_t *model, unsigned stages, uint16_t *out_last);

/* The cut that gives each stage the stated number of decoder layers. */
void yoke_cut_from_split(const yoke_model_t *model, const uint64_t *split,
                         unsigned stages, uint16_t *out_last);

#endif
