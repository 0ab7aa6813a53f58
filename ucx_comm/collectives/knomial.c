/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K-nomial trees, and the dissemination barrier (Hensgen, Finkel, Manber 1988; radix k as
 * in MPICH). Places are ranks counted from the root. The parent of place v is v with its
 * lowest digit that is not 0 (base k) cleared; a place of digit value w stands over the
 * next w - 1 places.
 *
 * Times: broadcast, gather, scatter ceil(log_k n) levels of k-1 messages each; reductions
 * round partial sums to the element's own type at every level.
 */

#include "ucx_comm/collectives/builders.h"

#define SEGMENT ((uint64_t)64 << 10)

typedef struct place {
    int v, parent;  /* places; parent -1: root */
    uint64_t value; /* of v's lowest digit that is not 0; root: a power >= size */
    uint64_t radix;
} place_t;

static place_t place_of(const yoke_shape_t *shape, int v)
{
    place_t place = {v, -1, 1, shape->radix >= 2 ? shape->radix : 2};
    uint64_t digit = 0;
    while (place.value < (uint64_t)shape->size &&
           (digit = (uint64_t)v / place.value % place.radix) == 0)
        place.value *= place.radix;
    if (v != 0)
        place.parent = v - (int)(digit * place.value);
    return place;
}

static int rank_of(const yoke_shape_t *shape, int v)
{
    return (v + shape->root) % shape->size;
}

static int own_place(const yoke_shape_t *shape)
{
    return (shape->rank - shape->root + shape->size) % shape->size;
}

/* places that a child of digit value `value` stands over, itself too */
static int span(const yoke_shape_t *shape, int v, uint64_t value)
{
    uint64_t rest = (uint64_t)(shape->size - v);
    return (int)(value < rest ? value : rest);
}

static void barrier(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t radix = shape->radix >= 2 ? shape->radix : 2;
    uint64_t n = (uint64_t)shape->size, rank = (uint64_t)shape->rank;
    yoke_step_t last = -1;
    uint32_t round = 0;
    for (uint64_t distance = 1; distance < n; distance *= radix, round++) {
        yoke_step_t joined = last;
        for (uint64_t d = 1; d < radix && d * distance < n; d++) {
            int to = (int)((rank + d * distance) % n);
            int from = (int)((rank + n - d * distance) % n);
            uint32_t channel = round * (uint32_t)radix + (uint32_t)d;
            yoke_step_t here =
                yoke_schedule_receive(schedule, from, channel, IN_SCRATCH(0), 0);
            yoke_step_t sent =
                yoke_schedule_send(schedule, to, channel, IN_SCRATCH(0), 0);
            yoke_schedule_after(schedule, sent, last);
            yoke_step_t all =
                yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
            yoke_schedule_after(schedule, all, here);
            yoke_schedule_after(schedule, all, joined);
            joined = all;
        }
        last = joined;
    }
}

static void broadcast(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    uint32_t segments = yoke_segments(shape, size, SEGMENT);
    place_t me = place_of(shape, own_place(shape));
    for (uint32_t s = 0; s < segments; s++) {
        uint64_t at = yoke_segment_offset(shape, size, segments, s);
        uint64_t part = yoke_segment_offset(shape, size, segments, s + 1) - at;
        yoke_step_t here = -1;
        if (me.parent >= 0)
            here = yoke_schedule_receive(schedule, rank_of(shape, me.parent), s,
                                         IN_RECV(at), part);
        for (uint64_t value = me.value / me.radix; value > 0; value /= me.radix)
            for (uint64_t d = 1; d < me.radix; d++) {
                uint64_t child = (uint64_t)me.v + d * value;
                if (child >= (uint64_t)shape->size)
                    break;
                yoke_schedule_after(schedule,
                                    yoke_schedule_send(schedule,
                                                       rank_of(shape, (int)child), s,
                                                       IN_RECV(at), part),
                                    here);
            }
    }
}

/* The sum of this place and those below it comes to be in `to`; returns when. */
static yoke_step_t reduce_into(const yoke_shape_t *shape, const place_t *me,
                               yoke_range_t to, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    yoke_range_t from = IN_SEND(0);
    yoke_step_t last = -1;
    for (uint64_t value = 1; value < me->value; value *= me->radix)
        for (uint64_t d = 1; d < me->radix; d++) {
            uint64_t child = (uint64_t)me->v + d * value;
            if (child >= (uint64_t)shape->size)
                break;
            yoke_step_t step = yoke_schedule_receive_reduce(
                schedule, rank_of(shape, (int)child), PHASE(0), to, from, size);
            yoke_schedule_after(schedule, step, last);
            last = step;
            from = to;
        }
    if (me->parent >= 0)
        yoke_schedule_after(schedule,
                            yoke_schedule_send(schedule, rank_of(shape, me->parent),
                                               PHASE(0), from, size),
                            last);
    else if (last < 0 && !shape->in_place)
        last = yoke_schedule_copy(schedule, to, IN_SEND(0), size);
    return last;
}

static void reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    place_t me = place_of(shape, own_place(shape));
    bool root = shape->rank == shape->root;
    if (!root)
        yoke_schedule_scratch(schedule, yoke_shape_bytes(shape));
    yoke_step_t last =
        reduce_into(shape, &me, root ? IN_RECV(0) : IN_SCRATCH(0), schedule);
    if (root)
        yoke_schedule_after(
            schedule, yoke_schedule_scale(schedule, IN_RECV(0), yoke_shape_bytes(shape)),
            last);
}

/* Reduce to rank 0, and broadcast what it has. */
static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    yoke_shape_t rooted = *shape;
    rooted.root = 0;
    uint64_t size = yoke_shape_bytes(shape);
    place_t me = place_of(&rooted, shape->rank);
    bool root = shape->rank == 0;
    if (!root)
        yoke_schedule_scratch(schedule, size);
    yoke_step_t last =
        reduce_into(&rooted, &me, root ? IN_RECV(0) : IN_SCRATCH(0), schedule);
    if (root) {
        yoke_step_t scaled = yoke_schedule_scale(schedule, IN_RECV(0), size);
        yoke_schedule_after(schedule, scaled, last);
        last = scaled >= 0 ? scaled : last;
    } else {
        /* A leaf in place has sent from where the result comes to. */
        yoke_step_t sent = (yoke_step_t)schedule->count - 1;
        last = yoke_schedule_receive(schedule, me.parent, PHASE(1), IN_RECV(0), size);
        yoke_schedule_after(schedule, last, sent);
    }
    for (uint64_t value = me.value / me.radix; value > 0; value /= me.radix)
        for (uint64_t d = 1; d < me.radix; d++) {
            uint64_t child = (uint64_t)me.v + d * value;
            if (child >= (uint64_t)shape->size)
                break;
            yoke_schedule_after(
                schedule,
                yoke_schedule_send(schedule, (int)child, PHASE(1), IN_RECV(0), size),
                last);
        }
}

/* Bytes of the blocks of places [v, v + count). */
static uint64_t blocks_size(const yoke_shape_t *shape, int v, int count)
{
    uint64_t size = 0;
    for (int i = v; i < v + count; i++)
        size += yoke_block_size(shape, rank_of(shape, i));
    return size;
}

/* Inner places keep the blocks below them in scratch, by place; a leaf needs none. */
static void gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    place_t me = place_of(shape, own_place(shape));
    int below = span(shape, me.v, me.value);
    uint64_t own = yoke_block_size(shape, shape->rank);
    if (below == 1 && me.parent >= 0) {
        yoke_schedule_send(schedule, rank_of(shape, me.parent), 0, IN_SEND(0), own);
        return;
    }
    yoke_schedule_scratch(schedule, blocks_size(shape, me.v, below));
    yoke_step_t last = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SEND(0), own);
    for (uint64_t value = 1; value < me.value; value *= me.radix)
        for (uint64_t d = 1; d < me.radix; d++) {
            uint64_t child = (uint64_t)me.v + d * value;
            if (child >= (uint64_t)shape->size)
                break;
            int n = span(shape, (int)child, value);
            yoke_step_t came = yoke_schedule_receive(
                schedule, rank_of(shape, (int)child), 0,
                IN_SCRATCH(blocks_size(shape, me.v, (int)child - me.v)),
                blocks_size(shape, (int)child, n));
            yoke_step_t all =
                yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
            yoke_schedule_after(schedule, all, came);
            yoke_schedule_after(schedule, all, last);
            last = all;
        }
    if (me.parent >= 0) {
        yoke_schedule_after(schedule,
                            yoke_schedule_send(schedule, rank_of(shape, me.parent), 0,
                                               IN_SCRATCH(0),
                                               blocks_size(shape, me.v, below)),
                            last);
        return;
    }
    for (int v = shape->in_place ? 1 : 0; v < shape->size; v++) {
        int rank = rank_of(shape, v);
        yoke_step_t step = yoke_schedule_copy(
            schedule, IN_RECV(yoke_block_offset(shape, rank)),
            IN_SCRATCH(blocks_size(shape, 0, v)), yoke_block_size(shape, rank));
        yoke_schedule_after(schedule, step, last);
    }
}

static void scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    place_t me = place_of(shape, own_place(shape));
    int below = span(shape, me.v, me.value);
    uint64_t own = yoke_block_size(shape, shape->rank);
    if (below == 1 && me.parent >= 0) {
        yoke_schedule_receive(schedule, rank_of(shape, me.parent), 0, IN_RECV(0), own);
        return;
    }
    yoke_schedule_scratch(schedule, blocks_size(shape, me.v, below));
    yoke_step_t here = -1;
    if (me.parent >= 0)
        here = yoke_schedule_receive(schedule, rank_of(shape, me.parent), 0,
                                     IN_SCRATCH(0), blocks_size(shape, me.v, below));
    /* The root's own block stays where it is; the others are brought into place order. */
    for (int v = 1; me.parent < 0 && v < shape->size; v++) {
        int rank = rank_of(shape, v);
        yoke_step_t step = yoke_schedule_copy(
            schedule, IN_SCRATCH(blocks_size(shape, 0, v)),
            IN_SEND(yoke_block_offset(shape, rank)), yoke_block_size(shape, rank));
        yoke_schedule_after(schedule, step, here);
        here = step;
    }
    for (uint64_t value = me.value / me.radix; value > 0; value /= me.radix)
        for (uint64_t d = 1; d < me.radix; d++) {
            uint64_t child = (uint64_t)me.v + d * value;
            if (child >= (uint64_t)shape->size)
                break;
            int n = span(shape, (int)child, value);
            yoke_step_t step = yoke_schedule_send(
                schedule, rank_of(shape, (int)child), 0,
                IN_SCRATCH(blocks_size(shape, me.v, (int)child - me.v)),
                blocks_size(shape, (int)child, n));
            yoke_schedule_after(schedule, step, here);
        }
    if (me.parent >= 0)
        yoke_schedule_after(
            schedule, yoke_schedule_copy(schedule, IN_RECV(0), IN_SCRATCH(0), own), here);
    else if (!shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(0),
                           IN_SEND(yoke_block_offset(shape, shape->rank)), own);
}

int yoke_tree_below(const yoke_shape_t *shape, int v)
{
    return span(shape, v, place_of(shape, v).value);
}

yoke_step_t yoke_tree_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule,
                              uint32_t phase,
                              uint64_t (*offset)(const yoke_shape_t *shape, int place))
{
    place_t me = place_of(shape, own_place(shape));
    int below = span(shape, me.v, me.value);
    yoke_step_t here = -1;
    uint64_t at = offset(shape, me.v);
    if (me.parent >= 0)
        here = yoke_schedule_receive(schedule, rank_of(shape, me.parent), phase,
                                     IN_RECV(at), offset(shape, me.v + below) - at);
    for (uint64_t value = me.value / me.radix; value > 0; value /= me.radix)
        for (uint64_t d = 1; d < me.radix; d++) {
            uint64_t child = (uint64_t)me.v + d * value;
            if (child >= (uint64_t)shape->size)
                break;
            int last = (int)child + span(shape, (int)child, value);
            at = offset(shape, (int)child);
            yoke_schedule_after(schedule,
                                yoke_schedule_send(schedule, rank_of(shape, (int)child),
                                                   phase, IN_RECV(at),
                                                   offset(shape, last) - at),
                                here);
        }
    return here;
}

const yoke_builder_t yoke_knomial_builders[] = {
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_BARRIER, NULL, barrier},
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_BROADCAST, NULL, broadcast},
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_REDUCE, NULL, reduce},
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_GATHER, NULL, gather},
    {YOKE_ALGORITHM_KNOMIAL, YOKE_COLLECTIVE_SCATTER, NULL, scatter},
    {0},
};
