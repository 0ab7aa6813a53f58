/* SPDX-License-Identifier: Apache-2.0 */
/* Good candidates quickly: classes in contiguous blocks, every order that could win. */
#include <string.h>

#include "partition/search_state.h"

#define MAX_ORDERED_CLASSES 6 /* all orders up to here, a few fixed ones beyond */
#define MAX_ORDERS 24
#define FAR_BEHIND 1.08 /* times the incumbent */
#define MAX_SIDES 48

/* Classes of one sequence, in the order of their blocks, with the stages of each. */
typedef struct blocks {
    unsigned count;
    uint8_t classes[YOKE_MAX_CLASSES];
    unsigned stages[YOKE_MAX_CLASSES];
} blocks_t;

static unsigned stage_total(const blocks_t *blocks)
{
    unsigned total = 0;
    for (unsigned i = 0; i < blocks->count; i++)
        total += blocks->stages[i];
    return total;
}

/* Fewer stages than wanted: take them from the slowest class first. */
static void shrink(const yoke_sheet_t *sheet, blocks_t *blocks, unsigned most)
{
    while (stage_total(blocks) > most) {
        unsigned slowest = 0;
        for (unsigned i = 1; i < blocks->count; i++)
            if (sheet->speed[blocks->classes[i]] < sheet->speed[blocks->classes[slowest]])
                slowest = i;
        unsigned excess = stage_total(blocks) - most;
        if (blocks->stages[slowest] > excess) {
            blocks->stages[slowest] -= excess;
            return;
        }
        for (unsigned i = slowest; i + 1 < blocks->count; i++) {
            blocks->classes[i] = blocks->classes[i + 1];
            blocks->stages[i] = blocks->stages[i + 1];
        }
        blocks->count--;
    }
}

static void write_sequence(const blocks_t *blocks, uint8_t *out)
{
    unsigned stage = 0;
    for (unsigned i = 0; i < blocks->count; i++)
        for (unsigned k = 0; k < blocks->stages[i]; k++)
            out[stage++] = blocks->classes[i];
}

/*
 * Steps of the replicas: equal where they divide, else the first shape's replicas do one
 * step more than those of the second, which has the same stages.
 */
static void set_steps(unsigned steps, unsigned replicas, yoke_candidate_t *candidate)
{
    unsigned longer = steps % replicas;
    candidate->shape_count = longer > 0 ? 2 : 1;
    candidate->shapes[0].dp = longer > 0 ? longer : replicas;
    candidate->shapes[0].micro_batches = steps / replicas + (longer > 0 ? 1 : 0);
}

static void copy_shape(unsigned replicas, yoke_candidate_t *candidate)
{
    if (candidate->shape_count < 2)
        return;
    candidate->shapes[1] = candidate->shapes[0];
    candidate->shapes[1].dp = replicas - candidate->shapes[0].dp;
    candidate->shapes[1].micro_batches--;
}

static void try_both(yoke_search_t *search, unsigned replicas,
                     yoke_candidate_t *candidate)
{
    copy_shape(replicas, candidate);
    yoke_search_try(search, candidate);
}

/* Evaluate, unless the closed form already says that it is no better. */
static void try_cut(yoke_search_t *search, const yoke_chain_t *chain, unsigned replicas,
                    yoke_candidate_t *candidate)
{
    if (search->result->found &&
        yoke_chain_bound(chain, candidate->shapes[0].last) >= search->result->time)
        search->fitting++;
    else
        try_both(search, replicas, candidate);
}

/* Cut one sequence and keep it when it is the best. */
static void try_sequence(yoke_search_t *search, yoke_sheet_t *sheet,
                         const blocks_t *blocks, unsigned replicas,
                         yoke_candidate_t *candidate)
{
    yoke_shape_t *shape = &candidate->shapes[0];
    unsigned stages = stage_total(blocks);
    if (stages == 0 || stages > YOKE_MAX_STAGES)
        return;
    set_steps(yoke_search_steps(search, sheet), replicas, candidate);
    shape->stages = stages;
    write_sequence(blocks, shape->classes);
    memset(shape->last, 0, stages * sizeof *shape->last);
    copy_shape(replicas, candidate);
    if (search->result->found &&
        yoke_bound_sequence_reaches(sheet, shape->classes, stages, shape->micro_batches,
                                    NULL, search->result->time * (1.0 + 1e-9)))
        return;
    yoke_chain_t chain;
    if (!yoke_chain_init(&chain, sheet, shape->classes, stages, shape->micro_batches,
                         replicas, candidate->sharded_optimizer) ||
        !yoke_search_sends(search, candidate, 0, chain.send))
        return;
    yoke_chain_block(&chain);
    if (search->split_count > 0) {
        if (search->split_count != stages)
            return;
        yoke_cut_from_split(search->problem->model, search->split, stages, shape->last);
    } else if (!yoke_chain_cut_bottleneck(&chain, shape->last)) {
        /* Does not fit: the even cut tells by how much. */
        if (!search->result->found &&
            yoke_cut_even(search->problem->model, stages, shape->last))
            try_both(search, replicas, candidate);
        return;
    }
    /* The closed form leaves out some waiting for transfers, and so may prefer the worse
     * of two cuts: the one of the least bottleneck is tried as well. */
    try_cut(search, &chain, replicas, candidate);
    /* Moving layers wins a few percent: no use where the cut is far behind. */
    if (search->result->found &&
        yoke_chain_bound(&chain, shape->last) > FAR_BEHIND * search->result->time)
        return;
    if (search->split_count == 0 && yoke_chain_improve(&chain, shape->last))
        try_cut(search, &chain, replicas, candidate);
}

static void swap_blocks(blocks_t *blocks, unsigned a, unsigned b)
{
    uint8_t class_index = blocks->classes[a];
    unsigned stages = blocks->stages[a];
    blocks->classes[a] = blocks->classes[b];
    blocks->stages[a] = blocks->stages[b];
    blocks->classes[b] = class_index;
    blocks->stages[b] = stages;
}

/* Next permutation of the blocks in lexicographic order of their classes. */
static bool next_order(blocks_t *blocks)
{
    if (blocks->count < 2)
        return false;
    unsigned i = blocks->count - 1;
    while (i > 0 && blocks->classes[i - 1] >= blocks->classes[i])
        i--;
    if (i == 0)
        return false;
    unsigned j = blocks->count - 1;
    while (blocks->classes[j] <= blocks->classes[i - 1])
        j--;
    swap_blocks(blocks, i - 1, j);
    for (unsigned a = i, b = blocks->count - 1; a < b; a++, b--)
        swap_blocks(blocks, a, b);
    return true;
}

/* Largest memory first: the first stages keep the most micro-batches. */
static void order_by_memory(const yoke_sheet_t *sheet, blocks_t *blocks)
{
    for (unsigned i = 1; i < blocks->count; i++)
        for (unsigned j = i; j > 0; j--) {
            double a = sheet->problem->classes[blocks->classes[j - 1]].memory_limit *
                       sheet->tp[blocks->classes[j - 1]];
            double b = sheet->problem->classes[blocks->classes[j]].memory_limit *
                       sheet->tp[blocks->classes[j]];
            if (a >= b)
                break;
            swap_blocks(blocks, j - 1, j);
        }
}

static void try_orders(yoke_search_t *search, yoke_sheet_t *sheet, blocks_t blocks,
                       unsigned replicas, yoke_candidate_t *candidate)
{
    order_by_memory(sheet, &blocks);
    try_sequence(search, sheet, &blocks, replicas, candidate);
    blocks_t reversed = blocks;
    for (unsigned a = 0, b = blocks.count; a + 1 < b; a++, b--)
        swap_blocks(&reversed, a, b - 1);
    if (blocks.count > 1)
        try_sequence(search, sheet, &reversed, replicas, candidate);
    if (blocks.count < 3 || blocks.count > MAX_ORDERED_CLASSES)
        return;
    for (unsigned i = 1; i < blocks.count; i++)
        for (unsigned j = i; j > 0 && blocks.classes[j - 1] > blocks.classes[j]; j--)
            swap_blocks(&blocks, j - 1, j);
    unsigned orders = 0;
    do
        try_sequence(search, sheet, &blocks, replicas, candidate);
    while (++orders < MAX_ORDERS && next_order(&blocks));
}

static void all_blocks(const yoke_search_t *search, const yoke_sheet_t *sheet,
                       unsigned replicas, uint64_t allowed, blocks_t *out)
{
    out->count = 0;
    for (unsigned c = 0; c < search->problem->class_count; c++) {
        unsigned stages = sheet->units[c] / replicas;
        if (stages == 0 || (allowed >> c & 1) == 0)
            continue;
        out->classes[out->count] = (uint8_t)c;
        out->stages[out->count++] = stages;
    }
}

/* Leave out the slowest class, so that its use has to earn its place. */
static bool drop_slowest(const yoke_sheet_t *sheet, blocks_t *blocks)
{
    if (blocks->count < 2)
        return false;
    unsigned slowest = 0;
    for (unsigned i = 1; i < blocks->count; i++)
        if (sheet->speed[blocks->classes[i]] / sheet->tp[blocks->classes[i]] <
            sheet->speed[blocks->classes[slowest]] / sheet->tp[blocks->classes[slowest]])
            slowest = i;
    for (unsigned i = slowest; i + 1 < blocks->count; i++)
        swap_blocks(blocks, i, i + 1);
    blocks->count--;
    return true;
}

double yoke_search_estimate(const yoke_search_t *search, const yoke_sheet_t *sheet,
                            unsigned replicas)
{
    const unsigned layers = (unsigned)search->problem->model->layer_count;
    const unsigned steps = yoke_search_steps(search, sheet);
    const unsigned most = layers < YOKE_MAX_STAGES ? layers : YOKE_MAX_STAGES;
    const double longest = steps / replicas + (steps % replicas != 0);
    double best = 1e300;
    blocks_t blocks;
    all_blocks(search, sheet, replicas, UINT64_MAX, &blocks);
    if (blocks.count == 0)
        return best;
    do {
        blocks_t used = blocks;
        shrink(sheet, &used, most);
        double rate = 0;
        for (unsigned i = 0; i < used.count; i++)
            rate += used.stages[i] * sheet->speed[used.classes[i]];
        double time = (longest - 1.0 + stage_total(&used)) * sheet->weight / rate;
        best = time < best ? time : best;
    } while (drop_slowest(sheet, &blocks));
    return best;
}

void yoke_search_one_shape(yoke_search_t *search, yoke_sheet_t *sheet, unsigned replicas)
{
    const unsigned layers = (unsigned)search->problem->model->layer_count;
    unsigned most = layers < YOKE_MAX_STAGES ? layers : YOKE_MAX_STAGES;
    unsigned wanted = (unsigned)search->problem->options.stages;
    if (search->split_count > 0)
        wanted = search->split_count;
    if (wanted > 0 && wanted < most)
        most = wanted;
    unsigned steps = yoke_search_steps(search, sheet);
    const bool may_differ =
        search->split_count == 0 && search->problem->options.max_shapes >= 2;
    if (steps < replicas || (steps % replicas != 0 && !may_differ))
        return;
    yoke_candidate_t candidate;
    yoke_search_start(sheet, &candidate);
    candidate.shape_count = 1;
    candidate.sharded_optimizer = yoke_search_sharded(search, replicas);
    blocks_t blocks;
    all_blocks(search, sheet, replicas, UINT64_MAX, &blocks);
    do {
        blocks_t used = blocks;
        shrink(sheet, &used, most);
        unsigned stages = stage_total(&used);
        if (wanted > 0 && stages != wanted)
            continue;
        try_orders(search, sheet, used, replicas, &candidate);
        /* Half the depth: fewer fills, where memory allows it. */
        for (unsigned depth = stages / 2; wanted == 0 && depth > 0; depth /= 2) {
            blocks_t shallow = blocks;
            shrink(sheet, &shallow, depth);
            try_orders(search, sheet, shallow, replicas, &candidate);
        }
    } while (search->status == YOKE_OK && drop_slowest(sheet, &blocks));
}

/* One half of a plan with two shapes: a set of classes, its replicas and its best cut. */
typedef struct side {
    yoke_shape_t shape;
    double fill, step; /* time of M micro-batches: about fill + M x step */
} side_t;

static size_t list_sides(yoke_search_t *search, yoke_sheet_t *sheet, uint64_t classes,
                         side_t *out, size_t capacity)
{
    const unsigned layers = (unsigned)search->problem->model->layer_count;
    size_t count = 0;
    unsigned steps = yoke_search_steps(search, sheet);
    unsigned previous = 0;
    for (unsigned replicas = 1; replicas <= steps && count < capacity; replicas++) {
        blocks_t blocks;
        all_blocks(search, sheet, replicas, classes, &blocks);
        if (blocks.count == 0)
            break;
        shrink(sheet, &blocks, layers < YOKE_MAX_STAGES ? layers : YOKE_MAX_STAGES);
        unsigned stages = stage_total(&blocks);
        /* The most replicas at each depth: more pipelines of equal length only help. */
        blocks_t more;
        all_blocks(search, sheet, replicas + 1, classes, &more);
        shrink(sheet, &more, layers < YOKE_MAX_STAGES ? layers : YOKE_MAX_STAGES);
        if (stage_total(&more) == stages || stages == previous)
            continue;
        previous = stages;
        order_by_memory(sheet, &blocks);
        side_t *side = &out[count];
        side->shape.dp = replicas;
        side->shape.stages = stages;
        write_sequence(&blocks, side->shape.classes);
        yoke_chain_t chain;
        unsigned guess = steps / replicas > stages ? steps / replicas : stages;
        if (!yoke_chain_init(&chain, sheet, side->shape.classes, stages, guess,
                             replicas + 1, yoke_search_sharded(search, replicas + 1)) ||
            !yoke_chain_cut_bottleneck(&chain, side->shape.last))
            continue;
        double at = yoke_chain_bound(&chain, side->shape.last);
        chain.micro_batches = 2 * guess;
        side->step = (yoke_chain_bound(&chain, side->shape.last) - at) / guess;
        side->fill = at - side->step * guess;
        count++;
    }
    return count;
}

/* Steps of each side that end together, near the balance, and add up exactly. */
static bool balance(const side_t *a, const side_t *b, unsigned steps, unsigned *out_a,
                    unsigned *out_b)
{
    double rate_a = a->shape.dp / a->step, rate_b = b->shape.dp / b->step;
    double time = (steps + rate_a * a->fill + rate_b * b->fill) / (rate_a + rate_b);
    double ideal = (time - b->fill) / b->step;
    if (!(ideal >= 1.0))
        return false;
    unsigned center = (unsigned)ideal;
    for (unsigned distance = 0; distance <= a->shape.dp + 1; distance++)
        for (int sign = -1; sign <= 1; sign += 2) {
            if (sign > 0 && distance == 0)
                continue;
            if (sign < 0 && distance >= center)
                continue;
            unsigned steps_b = sign < 0 ? center - distance : center + distance;
            uint64_t taken = (uint64_t)steps_b * b->shape.dp;
            if (taken >= steps || (steps - taken) % a->shape.dp != 0)
                continue;
            *out_b = steps_b;
            *out_a = (unsigned)((steps - taken) / a->shape.dp);
            return true;
        }
    return false;
}

static void try_pair(yoke_search_t *search, yoke_sheet_t *sheet, const side_t *a,
                     const side_t *b)
{
    unsigned steps = yoke_search_steps(search, sheet), steps_a = 0, steps_b = 0;
    uint64_t fixed = search->problem->options.dp;
    if (fixed != 0 && a->shape.dp + b->shape.dp != fixed)
        return;
    if (!balance(a, b, steps, &steps_a, &steps_b))
        return;
    double end_a = a->fill + a->step * steps_a, end_b = b->fill + b->step * steps_b;
    double end = end_a > end_b ? end_a : end_b;
    if (search->result->found && end >= search->result->time)
        return;
    yoke_candidate_t candidate;
    yoke_search_start(sheet, &candidate);
    candidate.sharded_optimizer = yoke_search_sharded(search, a->shape.dp + b->shape.dp);
    candidate.shape_count = 2;
    candidate.shapes[0] = a->shape;
    candidate.shapes[1] = b->shape;
    candidate.shapes[0].micro_batches = steps_a;
    candidate.shapes[1].micro_batches = steps_b;
    yoke_search_try(search, &candidate);
}

void yoke_search_two_shapes(yoke_search_t *search, yoke_sheet_t *sheet)
{
    const size_t classes = search->problem->class_count;
    if (classes < 2 || classes > MAX_ORDERED_CLASSES ||
        search->problem->options.stages != 0)
        return;
    static _Thread_local side_t left[MAX_SIDES], right[MAX_SIDES];
    const uint64_t all = (UINT64_C(1) << classes) - 1;
    for (uint64_t set = 1; set < all && search->status == YOKE_OK; set++) {
        if ((set & 1) == 0)
            continue;
        size_t a = list_sides(search, sheet, set, left, MAX_SIDES);
        size_t b = list_sides(search, sheet, all & ~set, right, MAX_SIDES);
        for (size_t i = 0; i < a; i++)
            for (size_t j = 0; j < b; j++)
                try_pair(search, sheet, &left[i], &right[j]);
    }
}

void yoke_search_refine(yoke_search_t *search, yoke_sheet_t *sheet)
{
    yoke_candidate_t candidate = search->result->best;
    unsigned replicas = 0;
    for (unsigned g = 0; g < candidate.shape_count; g++)
        replicas += candidate.shapes[g].dp;
    for (unsigned g = 0; g < candidate.shape_count; g++) {
        yoke_shape_t *shape = &candidate.shapes[g];
        yoke_chain_t chain;
        if (!yoke_chain_init(&chain, sheet, shape->classes, shape->stages,
                             shape->micro_batches, replicas,
                             candidate.sharded_optimizer) ||
            !yoke_search_sends(search, &candidate, g, chain.send))
            return;
        yoke_chain_block(&chain);
        if (!yoke_chain_cut(&chain, shape->last))
            return;
    }
    yoke_search_try(search, &candidate);
}
