/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best plan so far, made better by small steps that the simulator judges: one layer
 * from a stage to another; one stage to another place, so that a class need not be one
 * block. The heuristics before it know compute and sends only, and stand at a plan whose
 * gradient exchange, for one, may be long.
 */
#include <string.h>

#include "partition/search_state.h"

#define MAX_STAGES 16 /* beyond, the steps are too many */
#define MAX_CLASSES 4 /* the same */
#define MAX_TRIES 600 /* simulations in all */
#define MAX_ROUNDS 4  /* of orders */
#define NEAR 1.10     /* an order is worth steps when it is so near to the best */

typedef struct polish {
    yoke_search_t *search;
    yoke_sheet_t *sheet;
    unsigned replicas;
    unsigned tries; /* left */
} polish_t;

/* All shapes have the stages of the first one; they differ in their steps alone. */
static void set_stages(yoke_candidate_t *candidate)
{
    const yoke_shape_t *first = &candidate->shapes[0];
    for (unsigned g = 1; g < candidate->shape_count; g++) {
        yoke_shape_t *shape = &candidate->shapes[g];
        memcpy(shape->classes, first->classes, first->stages);
        memcpy(shape->last, first->last, first->stages * sizeof *first->last);
    }
}

static bool same_stages(const yoke_candidate_t *candidate)
{
    const yoke_shape_t *first = &candidate->shapes[0];
    for (unsigned g = 1; g < candidate->shape_count; g++) {
        const yoke_shape_t *shape = &candidate->shapes[g];
        if (shape->stages != first->stages ||
            memcmp(shape->classes, first->classes, first->stages) != 0 ||
            memcmp(shape->last, first->last, first->stages * sizeof *first->last) != 0)
            return false;
    }
    return true;
}

/* Simulate, and keep it when it is the best. 1e300: it does not run. */
static double try_one(polish_t *polish, yoke_candidate_t *candidate)
{
    yoke_search_t *search = polish->search;
    const uint64_t before = search->result->evaluated;
    set_stages(candidate);
    polish->tries--;
    yoke_search_try(search, candidate);
    if (search->status != YOKE_OK || search->result->evaluated == before ||
        !search->evaluation.fits)
        return 1e300;
    return search->evaluation.iteration_time;
}

static bool open_chain(polish_t *polish, yoke_candidate_t *candidate, yoke_chain_t *chain)
{
    const yoke_shape_t *shape = &candidate->shapes[0];
    if (!yoke_chain_init(chain, polish->sheet, shape->classes, shape->stages,
                         shape->micro_batches, polish->replicas,
                         candidate->sharded_optimizer) ||
        !yoke_search_sends(polish->search, candidate, 0, chain->send))
        return false;
    yoke_chain_block(chain);
    return true;
}

/* The first move of a layer that makes the candidate better. False: none does. */
static bool move_one(polish_t *polish, const yoke_chain_t *chain,
                     yoke_candidate_t *candidate, double *time)
{
    yoke_shape_t *shape = &candidate->shapes[0];
    uint16_t base[YOKE_MAX_STAGES], trial[YOKE_MAX_STAGES];
    memcpy(base, shape->last, shape->stages * sizeof *base);
    for (unsigned from = 0; from < shape->stages; from++)
        for (unsigned to = 0; to < shape->stages && polish->tries > 0; to++) {
            if (to == from || !yoke_chain_move(chain, base, from, to, trial) ||
                yoke_chain_bound(chain, trial) >= *time)
                continue;
            memcpy(shape->last, trial, shape->stages * sizeof *trial);
            double changed = try_one(polish, candidate);
            if (changed < *time) {
                *time = changed;
                return true;
            }
        }
    memcpy(shape->last, base, shape->stages * sizeof *base);
    return false;
}

static void move_layers(polish_t *polish, yoke_candidate_t *candidate, double time)
{
    yoke_chain_t chain;
    if (!open_chain(polish, candidate, &chain))
        return;
    while (polish->tries > 0 && polish->search->status == YOKE_OK &&
           move_one(polish, &chain, candidate, &time))
        continue;
}

/* The stage at `from` goes to `to`. False: that is the same order. */
static bool move_stage(const yoke_shape_t *shape, unsigned from, unsigned to,
                       uint8_t *out)
{
    const uint8_t moved = shape->classes[from];
    for (unsigned s = 0, at = 0; s < shape->stages; s++) {
        if (s == to) {
            out[s] = moved;
            continue;
        }
        at += at == from;
        out[s] = shape->classes[at++];
    }
    return memcmp(out, shape->classes, shape->stages) != 0;
}

static bool starts_its_run(const yoke_shape_t *shape, unsigned stage)
{
    return stage == 0 || shape->classes[stage - 1] != shape->classes[stage];
}

/* One other order of the stages: cut, and polished when it is near. */
static void try_order(polish_t *polish, const yoke_candidate_t *base,
                      const uint8_t *classes)
{
    yoke_candidate_t candidate = *base;
    yoke_shape_t *shape = &candidate.shapes[0];
    yoke_chain_t chain;
    memcpy(shape->classes, classes, shape->stages);
    set_stages(&candidate);
    if (!open_chain(polish, &candidate, &chain) ||
        !yoke_chain_cut_bottleneck(&chain, shape->last) ||
        yoke_chain_bound(&chain, shape->last) >= NEAR * polish->search->result->time)
        return;
    double time = try_one(polish, &candidate);
    if (time < NEAR * polish->search->result->time)
        move_layers(polish, &candidate, time);
}

static void try_orders(polish_t *polish)
{
    const yoke_candidate_t base = polish->search->result->best;
    const yoke_shape_t *shape = &base.shapes[0];
    uint8_t classes[YOKE_MAX_STAGES];
    for (unsigned from = 0; from < shape->stages; from++)
        for (unsigned to = 0; to < shape->stages; to++)
            /* Of equal neighbours it does not matter which one goes. */
            if (starts_its_run(shape, from) && move_stage(shape, from, to, classes) &&
                polish->tries > 0 && polish->search->status == YOKE_OK)
                try_order(polish, &base, classes);
}

static unsigned count_classes(const yoke_candidate_t *candidate)
{
    uint64_t seen = 0;
    unsigned count = 0;
    for (unsigned s = 0; s < candidate->shapes[0].stages; s++) {
        uint64_t bit = UINT64_C(1) << candidate->shapes[0].classes[s];
        count += (seen & bit) == 0;
        seen |= bit;
    }
    return count;
}

/* The sheet that the best plan is of. */
static yoke_sheet_t *find_sheet(yoke_search_t *search)
{
    const yoke_candidate_t *best = &search->result->best;
    for (size_t i = 0; i < search->sheet_count; i++) {
        yoke_sheet_t *sheet = &search->sheets[i];
        if (sheet->micro_batch == best->micro_batch &&
            sheet->recompute == best->recompute &&
            memcmp(sheet->tp, best->tp, sizeof sheet->tp) == 0)
            return sheet;
    }
    return NULL;
}

void yoke_search_polish(yoke_search_t *search)
{
    const yoke_candidate_t *best = &search->result->best;
    if (!search->result->found || search->split_count > 0 || !same_stages(best) ||
        best->shapes[0].stages < 2 || best->shapes[0].stages > MAX_STAGES)
        return;
    polish_t polish = {search, find_sheet(search), 0, MAX_TRIES};
    for (unsigned g = 0; g < best->shape_count; g++)
        polish.replicas += best->shapes[g].dp;
    if (polish.sheet == NULL)
        return;
    yoke_candidate_t candidate = *best;
    move_layers(&polish, &candidate, search->result->time);
    const unsigned classes = count_classes(best);
    double before = 1e300;
    for (unsigned round = 0; round < MAX_ROUNDS && classes > 1 &&
                             classes <= MAX_CLASSES && search->result->time < before;
         round++) {
        before = search->result->time;
        try_orders(&polish);
    }
}
