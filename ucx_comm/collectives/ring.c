/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings and chains, in segments (Patarasuk and Yuan, "Bandwidth optimal all-reduce
 * algorithms for clusters of workstations", JPDC 69, 2009). Places are ranks in the order
 * that crosses the fewest slow links (yoke_topology_ring()); place i sends to i + 1 only.
 *
 * Times, n ranks, a latency, b per byte, M bytes of the vector or of all blocks:
 * all-gather and reduce-scatter (n-1) (a + M/n b), all-reduce twice that, the chain of a
 * broadcast or reduce of S segments (n - 2 + S) (a + M/S b). Sums of f16, bf16 and fp8
 * are rounded at every rank that they pass.
 */

#include "ucx_comm/collectives/builders.h"
#include "base/error.h"

#define SEGMENT ((uint64_t)512 << 10)

yoke_step_t *yoke_steps_new(yoke_schedule_t *schedule, uint64_t n)
{
    yoke_step_t *steps = malloc((n + 1) * sizeof *steps);
    if (steps == NULL) {
        schedule->status = yoke_fail_memory();
        return NULL;
    }
    for (uint64_t i = 0; i <= n; i++)
        steps[i] = -1;
    return steps;
}

void yoke_ring_all_gather(const yoke_ring_t *ring, yoke_schedule_t *schedule)
{
    uint32_t segments = ring->segments;
    for (int t = 0; t + 1 < ring->size; t++) {
        int out = (ring->place - t + ring->size) % ring->size;
        int in = (out - 1 + ring->size) % ring->size;
        for (uint32_t s = 0; s < segments; s++) {
            uint32_t channel = ring->phase + (uint32_t)t * segments + s;
            uint64_t at = ring->offset(ring->context, in, s);
            yoke_step_t *ready = &ring->ready[(uint64_t)in * segments + s];
            yoke_step_t came =
                yoke_schedule_receive(schedule, ring->previous, channel, IN_RECV(at),
                                      ring->offset(ring->context, in, s + 1) - at);
            yoke_schedule_after(schedule, came, *ready);
            *ready = came;
            at = ring->offset(ring->context, out, s);
            yoke_step_t sent =
                yoke_schedule_send(schedule, ring->next, channel, IN_RECV(at),
                                   ring->offset(ring->context, out, s + 1) - at);
            yoke_schedule_after(schedule, sent,
                                ring->ready[(uint64_t)out * segments + s]);
        }
    }
}

/* Ranks by their places in the ring, and back. */
static int rank_at(const yoke_shape_t *shape, int place)
{
    return shape->topology != NULL ? yoke_topology_ring(shape->topology)[place] : place;
}

static int place_of(const yoke_shape_t *shape, int rank)
{
    int place = 0;
    while (rank_at(shape, place) != rank)
        place++;
    return place;
}

/* Neighbours of this rank. */
static int next_rank(const yoke_shape_t *shape, int place)
{
    return rank_at(shape, (place + 1) % shape->size);
}

static int previous_rank(const yoke_shape_t *shape, int place)
{
    return rank_at(shape, (place - 1 + shape->size) % shape->size);
}

/* A ring over all ranks whose blocks are cut into equally many segments each. */
typedef struct blocks {
    const yoke_shape_t *shape;
    uint32_t segments;
    bool vector; /* shares of one vector; else the blocks of the call */
} blocks_t;

/* That of place i. */
static void block(const blocks_t *blocks, int i, uint64_t *out_at, uint64_t *out_size)
{
    const yoke_shape_t *shape = blocks->shape;
    if (!blocks->vector) {
        *out_at = yoke_block_offset(shape, rank_at(shape, i));
        *out_size = yoke_block_size(shape, rank_at(shape, i));
        return;
    }
    uint64_t bytes = yoke_shape_bytes(shape);
    *out_at = yoke_share_offset(shape, bytes, shape->size, i);
    *out_size = yoke_share_offset(shape, bytes, shape->size, i + 1) - *out_at;
}

static uint64_t offset_of(const void *context, int i, uint32_t segment)
{
    const blocks_t *blocks = context;
    uint64_t at, size;
    block(blocks, i, &at, &size);
    return at + yoke_segment_offset(blocks->shape, size, blocks->segments, segment);
}

static blocks_t blocks_of(const yoke_shape_t *shape, bool vector)
{
    blocks_t blocks = {shape, 1, vector};
    uint64_t largest = 0;
    for (int i = 0; i < shape->size; i++) {
        uint64_t at, size;
        block(&blocks, i, &at, &size);
        largest = size > largest ? size : largest;
    }
    blocks.segments = yoke_segments(shape, largest, SEGMENT);
    return blocks;
}

static yoke_ring_t ring_of(const blocks_t *blocks, uint32_t phase, int place,
                           yoke_step_t *ready)
{
    const yoke_shape_t *shape = blocks->shape;
    yoke_ring_t ring = {.size = shape->size, .place = place, .phase = phase};
    ring.previous = previous_rank(shape, place);
    ring.next = next_rank(shape, place);
    ring.segments = blocks->segments;
    ring.ready = ready;
    ring.offset = offset_of;
    ring.context = blocks;
    return ring;
}

static void all_gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    blocks_t blocks = blocks_of(shape, false);
    yoke_step_t *ready =
        yoke_steps_new(schedule, (uint64_t)shape->size * blocks.segments);
    if (ready == NULL)
        return;
    int place = place_of(shape, shape->rank);
    uint64_t first = (uint64_t)place * blocks.segments;
    uint64_t start = yoke_block_offset(shape, shape->rank);
    for (uint32_t s = 0; s < blocks.segments && !shape->in_place; s++) {
        uint64_t at = offset_of(&blocks, place, s);
        uint64_t size = offset_of(&blocks, place, s + 1) - at;
        ready[first + s] =
            yoke_schedule_copy(schedule, IN_RECV(at), IN_SEND(at - start), size);
    }
    yoke_ring_t ring = ring_of(&blocks, PHASE(0), place, ready);
    yoke_ring_all_gather(&ring, schedule);
    free(ready);
}

/*
 * Block b travels from place b + 1 around to place b, which ends up with its sum. `to`
 * says where the partial sums go (the same offsets as in SEND) but the last, which goes
 * to `last`, offsets from the block's own begin. ready[]: per segment of the own block,
 * the step after which its sum is there.
 */
typedef struct reducing {
    const blocks_t *blocks;
    yoke_region_t to;
    yoke_range_t last;
    yoke_step_t *ready; /* segments of the own block */
    yoke_step_t
        *sent; /* of all blocks: the step that sent its partial sum; may be NULL */
} reducing_t;

static void reduce_scatter_ring(const reducing_t *what, yoke_schedule_t *schedule)
{
    const yoke_shape_t *shape = what->blocks->shape;
    uint32_t segments = what->blocks->segments;
    int n = shape->size, place = place_of(shape, shape->rank);
    int next = next_rank(shape, place), previous = previous_rank(shape, place);
    for (uint32_t s = 0; s < segments; s++) {
        yoke_step_t partial = -1;
        for (int t = 0; t + 1 < n; t++) {
            int out = (place - 1 - t + 2 * n) % n, in = (out - 1 + n) % n;
            uint32_t channel = PHASE(0) + (uint32_t)t * segments + s;
            uint64_t at = offset_of(what->blocks, out, s);
            yoke_step_t sent =
                yoke_schedule_send(schedule, next, channel,
                                   yoke_range(t == 0 ? YOKE_REGION_SEND : what->to, at),
                                   offset_of(what->blocks, out, s + 1) - at);
            yoke_schedule_after(schedule, sent, partial);
            if (what->sent != NULL)
                what->sent[(uint64_t)out * segments + s] = sent;
            at = offset_of(what->blocks, in, s);
            uint64_t size = offset_of(what->blocks, in, s + 1) - at;
            yoke_range_t to = yoke_range(what->to, at);
            if (t + 2 == n)
                to = yoke_range(what->last.region,
                                what->last.offset + at - offset_of(what->blocks, in, 0));
            partial = yoke_schedule_receive_reduce(schedule, previous, channel, to,
                                                   IN_SEND(at), size);
            /* A bounded number of segments is under way. */
            if (t == 0 && s >= WINDOW)
                yoke_schedule_after(schedule, partial, what->ready[s - WINDOW]);
            if (t + 2 == n) {
                yoke_step_t scaled = yoke_schedule_scale(schedule, to, size);
                yoke_schedule_after(schedule, scaled, partial);
                what->ready[s] = scaled >= 0 ? scaled : partial;
            }
        }
    }
}

static void reduce_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    if (shape->size == 1) {
        if (!shape->in_place)
            yoke_schedule_copy(schedule, IN_RECV(0), IN_SEND(yoke_block_offset(shape, 0)),
                               yoke_block_size(shape, 0));
        return;
    }
    blocks_t blocks = blocks_of(shape, false);
    yoke_step_t *ready = yoke_steps_new(schedule, blocks.segments);
    if (ready == NULL)
        return;
    uint64_t end = 0;
    for (int i = 0; i < shape->size; i++) {
        uint64_t last = yoke_block_offset(shape, i) + yoke_block_size(shape, i);
        end = last > end ? last : end;
    }
    yoke_schedule_scratch(schedule, end);
    reducing_t what = {&blocks, YOKE_REGION_SCRATCH, IN_RECV(0), ready, NULL};
    reduce_scatter_ring(&what, schedule);
    free(ready);
}

static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    if (shape->size == 1) {
        if (!shape->in_place)
            yoke_schedule_copy(schedule, IN_RECV(0), IN_SEND(0), yoke_shape_bytes(shape));
        return;
    }
    blocks_t blocks = blocks_of(shape, true);
    /* First the steps that must end before a place of RECV is overwritten: partial sums
     * are sent from there. */
    yoke_step_t *ready =
        yoke_steps_new(schedule, (uint64_t)shape->size * blocks.segments);
    if (ready == NULL)
        return;
    int place = place_of(shape, shape->rank);
    yoke_step_t *own = ready + (uint64_t)place * blocks.segments;
    reducing_t what = {&blocks, YOKE_REGION_RECV, IN_RECV(offset_of(&blocks, place, 0)),
                       own, ready};
    reduce_scatter_ring(&what, schedule);
    yoke_ring_t ring = ring_of(&blocks, PHASE(1), place, ready);
    yoke_ring_all_gather(&ring, schedule);
    free(ready);
}

/* The chain root, root + 1, ..., segment after segment. */
static void broadcast(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    uint32_t segments = yoke_segments(shape, size, SEGMENT);
    int n = shape->size, at_ring = place_of(shape, shape->rank);
    int place = (at_ring - place_of(shape, shape->root) + n) % n;
    yoke_step_t *sent = yoke_steps_new(schedule, segments);
    for (uint32_t s = 0; sent != NULL && s < segments; s++) {
        uint64_t at = yoke_segment_offset(shape, size, segments, s);
        uint64_t part = yoke_segment_offset(shape, size, segments, s + 1) - at;
        yoke_step_t here = -1;
        if (place > 0)
            here = yoke_schedule_receive(schedule, previous_rank(shape, at_ring), s,
                                         IN_RECV(at), part);
        if (place + 1 == n)
            continue;
        sent[s] =
            yoke_schedule_send(schedule, next_rank(shape, at_ring), s, IN_RECV(at), part);
        yoke_schedule_after(schedule, sent[s], here);
        yoke_schedule_after(schedule, sent[s], s >= WINDOW ? sent[s - WINDOW] : -1);
    }
    free(sent);
}

/* The chain the other way: the place after the root's last neighbour begins. */
static void reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    uint32_t segments = yoke_segments(shape, size, SEGMENT);
    int n = shape->size, at_ring = place_of(shape, shape->rank);
    int place = (at_ring - place_of(shape, shape->root) + n) % n;
    bool root = place == 0, first = place + 1 == n;
    if (!root && !first)
        yoke_schedule_scratch(schedule, size);
    yoke_step_t *sent = yoke_steps_new(schedule, segments);
    for (uint32_t s = 0; sent != NULL && s < segments; s++) {
        uint64_t at = yoke_segment_offset(shape, size, segments, s);
        uint64_t part = yoke_segment_offset(shape, size, segments, s + 1) - at;
        yoke_range_t to = root ? IN_RECV(at) : IN_SCRATCH(at);
        yoke_step_t here = -1;
        if (!first)
            here = yoke_schedule_receive_reduce(schedule, next_rank(shape, at_ring), s,
                                                to, IN_SEND(at), part);
        if (root && first && !shape->in_place)
            yoke_schedule_copy(schedule, to, IN_SEND(at), part);
        if (root) {
            yoke_schedule_after(schedule, yoke_schedule_scale(schedule, to, part), here);
            continue;
        }
        sent[s] = yoke_schedule_send(schedule, previous_rank(shape, at_ring), s,
                                     first ? IN_SEND(at) : to, part);
        yoke_schedule_after(schedule, sent[s], here);
        yoke_schedule_after(schedule, sent[s], s >= WINDOW ? sent[s - WINDOW] : -1);
    }
    free(sent);
}

const yoke_builder_t yoke_ring_builders[] = {
    {YOKE_ALGORITHM_RING, YOKE_COLLECTIVE_BROADCAST, NULL, broadcast},
    {YOKE_ALGORITHM_RING, YOKE_COLLECTIVE_REDUCE, NULL, reduce},
    {YOKE_ALGORITHM_RING, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_RING, YOKE_COLLECTIVE_REDUCE_SCATTER, NULL, reduce_scatter},
    {YOKE_ALGORITHM_RING, YOKE_COLLECTIVE_ALL_GATHER, NULL, all_gather},
    {0},
};
