/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear: the root, or each owner, talks to every other rank itself.
 *
 * All inputs of an element meet at one rank, which adds them up in rank order: f16, bf16
 * and fp8 are rounded once. Times, n ranks, a latency, b per byte, M bytes: rooted ones
 * (n-1) a + (n-1) M b; direct reduce-scatter and all-gather 1 a + (n-1)/n M b each where
 * the network lets all pairs talk at once, so all-reduce is 2 a + 2 (n-1)/n M b.
 */

#include "ucx_comm/collectives/builders.h"
#include "base/error.h"

#define SEGMENT ((uint64_t)256 << 10)

static void barrier(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    if (shape->rank != 0) {
        yoke_step_t here = yoke_schedule_send(schedule, 0, PHASE(0), IN_SCRATCH(0), 0);
        yoke_step_t go = yoke_schedule_receive(schedule, 0, PHASE(1), IN_SCRATCH(0), 0);
        yoke_schedule_after(schedule, go, here);
        return;
    }
    yoke_step_t last = -1;
    for (int i = 1; i < shape->size; i++) {
        yoke_step_t here = yoke_schedule_receive(schedule, i, PHASE(0), IN_SCRATCH(0), 0);
        /* Each is posted at once; the copy of nothing joins them in a chain. */
        yoke_step_t all = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
        yoke_schedule_after(schedule, all, here);
        yoke_schedule_after(schedule, all, last);
        last = all;
    }
    for (int i = 1; i < shape->size; i++)
        yoke_schedule_after(
            schedule, yoke_schedule_send(schedule, i, PHASE(1), IN_SCRATCH(0), 0), last);
}

static void broadcast(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    if (shape->rank != shape->root)
        yoke_schedule_receive(schedule, shape->root, 0, IN_RECV(0), size);
    else
        for (int i = 1; i < shape->size; i++)
            yoke_schedule_send(schedule, (shape->root + i) % shape->size, 0, IN_RECV(0),
                               size);
}

static void gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t own = yoke_block_size(shape, shape->rank);
    if (shape->rank != shape->root) {
        yoke_schedule_send(schedule, shape->root, 0, IN_SEND(0), own);
        return;
    }
    for (int i = 0; i < shape->size; i++)
        if (i != shape->root)
            yoke_schedule_receive(schedule, i, 0, IN_RECV(yoke_block_offset(shape, i)),
                                  yoke_block_size(shape, i));
    if (!shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, shape->rank)),
                           IN_SEND(0), own);
}

static void scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t own = yoke_block_size(shape, shape->rank);
    if (shape->rank != shape->root) {
        yoke_schedule_receive(schedule, shape->root, 0, IN_RECV(0), own);
        return;
    }
    for (int i = 1; i < shape->size; i++) {
        int peer = (shape->root + i) % shape->size;
        yoke_schedule_send(schedule, peer, 0, IN_SEND(yoke_block_offset(shape, peer)),
                           yoke_block_size(shape, peer));
    }
    if (!shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(0),
                           IN_SEND(yoke_block_offset(shape, shape->rank)), own);
}

static void all_gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t own = yoke_block_size(shape, shape->rank);
    for (int i = 1; i < shape->size; i++) {
        int peer = (shape->rank + shape->size - i) % shape->size;
        yoke_schedule_receive(schedule, peer, 0, IN_RECV(yoke_block_offset(shape, peer)),
                              yoke_block_size(shape, peer));
    }
    for (int i = 1; i < shape->size; i++)
        yoke_schedule_send(schedule, (shape->rank + i) % shape->size, 0, IN_SEND(0), own);
    if (!shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, shape->rank)),
                           IN_SEND(0), own);
}

static void all_to_all(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    yoke_region_t from = YOKE_REGION_SEND;
    yoke_step_t moved = -1;
    if (shape->in_place) {
        uint64_t end = 0;
        for (int i = 0; i < shape->size; i++) {
            uint64_t last = yoke_send_offset(shape, i) + yoke_send_size(shape, i);
            end = last > end ? last : end;
        }
        yoke_schedule_scratch(schedule, end);
        moved = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SEND(0), end);
        from = YOKE_REGION_SCRATCH;
    }
    for (int i = 1; i < shape->size; i++) {
        int peer = (shape->rank + shape->size - i) % shape->size;
        yoke_step_t step = yoke_schedule_receive(schedule, peer, 0,
                                                 IN_RECV(yoke_block_offset(shape, peer)),
                                                 yoke_block_size(shape, peer));
        yoke_schedule_after(schedule, step, moved);
    }
    for (int i = 1; i < shape->size; i++) {
        int peer = (shape->rank + i) % shape->size;
        yoke_step_t step = yoke_schedule_send(
            schedule, peer, 0, yoke_range(from, yoke_send_offset(shape, peer)),
            yoke_send_size(shape, peer));
        yoke_schedule_after(schedule, step, moved);
    }
    yoke_step_t own =
        yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, shape->rank)),
                           yoke_range(from, yoke_send_offset(shape, shape->rank)),
                           yoke_block_size(shape, shape->rank));
    yoke_schedule_after(schedule, own, moved);
}

/* --- reductions: every contribution comes to the owner of its element --------------- */

/* What one owner collects: `size` bytes that lie at `mine` here and come from all others
 * in `segments` segments, added up into `to`. */
typedef struct collected {
    yoke_range_t mine, to;
    uint64_t size;
    uint32_t segments;
} collected_t;

/* Two slots for each rank, so that one segment is added up while the next one comes.
 * sums[s]: the step after which segment s is in place. */
static void collect(const yoke_shape_t *shape, const collected_t *what,
                    yoke_schedule_t *schedule, yoke_step_t *sums)
{
    uint64_t slot = 0;
    for (uint32_t s = 0; s < what->segments; s++) {
        uint64_t begin = yoke_segment_offset(shape, what->size, what->segments, s);
        uint64_t end = yoke_segment_offset(shape, what->size, what->segments, s + 1);
        slot = end - begin > slot ? end - begin : slot;
    }
    slot = yoke_round_line(slot);
    unsigned n = (unsigned)shape->size;
    yoke_schedule_scratch(schedule, slot * 2 * n);
    yoke_range_t *from = calloc(n, sizeof *from);
    yoke_step_t *came = yoke_steps_new(schedule, n);
    for (uint32_t s = 0; from != NULL && came != NULL && s < what->segments; s++) {
        uint64_t begin = yoke_segment_offset(shape, what->size, what->segments, s);
        uint64_t size =
            yoke_segment_offset(shape, what->size, what->segments, s + 1) - begin;
        for (int i = 0; i < shape->size; i++) {
            if (i == shape->rank) {
                from[i] = yoke_range(what->mine.region, what->mine.offset + begin);
                continue;
            }
            from[i] = IN_SCRATCH(slot * (2 * (uint64_t)i + s % 2));
            came[i] = yoke_schedule_receive(schedule, i, PHASE(0) + s, from[i], size);
            yoke_schedule_after(schedule, came[i], s >= 2 ? sums[s - 2] : -1);
        }
        sums[s] = yoke_schedule_reduce_many(
            schedule, yoke_range(what->to.region, what->to.offset + begin), from, n,
            size);
        for (int i = 0; i < shape->size; i++)
            if (i != shape->rank)
                yoke_schedule_after(schedule, sums[s], came[i]);
    }
    if (from == NULL)
        schedule->status = yoke_fail_memory();
    free(came);
    free(from);
}

/* Give `size` bytes at `from` to their owner; sent[s]: the step that ends it. */
static void give(const yoke_shape_t *shape, int owner, yoke_range_t from, uint64_t size,
                 yoke_schedule_t *schedule, yoke_step_t *sent)
{
    uint32_t segments = yoke_segments(shape, size, SEGMENT);
    for (uint32_t s = 0; s < segments; s++) {
        uint64_t begin = yoke_segment_offset(shape, size, segments, s);
        uint64_t end = yoke_segment_offset(shape, size, segments, s + 1);
        sent[s] =
            yoke_schedule_send(schedule, owner, PHASE(0) + s,
                               yoke_range(from.region, from.offset + begin), end - begin);
        yoke_schedule_after(schedule, sent[s], s >= WINDOW ? sent[s - WINDOW] : -1);
    }
}

static void reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    collected_t what = {IN_SEND(0), IN_RECV(0), size,
                        yoke_segments(shape, size, SEGMENT)};
    yoke_step_t *steps = yoke_steps_new(schedule, what.segments);
    if (steps == NULL)
        return;
    if (shape->rank == shape->root)
        collect(shape, &what, schedule, steps);
    else
        give(shape, shape->root, IN_SEND(0), size, schedule, steps);
    free(steps);
}

static void reduce_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_block_size(shape, shape->rank);
    collected_t what = {IN_SEND(yoke_block_offset(shape, shape->rank)), IN_RECV(0), size,
                        yoke_segments(shape, size, SEGMENT)};
    yoke_step_t *steps = yoke_steps_new(schedule, what.segments);
    if (steps == NULL)
        return;
    collect(shape, &what, schedule, steps);
    free(steps);
    for (int i = 1; i < shape->size; i++) {
        int owner = (shape->rank + i) % shape->size;
        uint64_t part = yoke_block_size(shape, owner);
        yoke_step_t *sent = yoke_steps_new(schedule, yoke_segments(shape, part, SEGMENT));
        if (sent == NULL)
            return;
        give(shape, owner, IN_SEND(yoke_block_offset(shape, owner)), part, schedule,
             sent);
        free(sent);
    }
}

/* Reduce-scatter of shares, and all-gather of the sums as they come to be. */
static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t bytes = yoke_shape_bytes(shape);
    int n = shape->size;
    uint64_t begin = yoke_share_offset(shape, bytes, n, shape->rank);
    collected_t what = {IN_SEND(begin), IN_RECV(begin), 0, 1};
    what.size = yoke_share_offset(shape, bytes, n, shape->rank + 1) - begin;
    what.segments = yoke_segments(shape, what.size, SEGMENT);
    yoke_step_t *sums = yoke_steps_new(schedule, what.segments);
    if (sums == NULL)
        return;
    collect(shape, &what, schedule, sums);
    for (int i = 1; i < n; i++) {
        int owner = (shape->rank + i) % n;
        uint64_t at = yoke_share_offset(shape, bytes, n, owner);
        uint64_t size = yoke_share_offset(shape, bytes, n, owner + 1) - at;
        uint32_t segments = yoke_segments(shape, size, SEGMENT);
        yoke_step_t *sent = yoke_steps_new(schedule, segments);
        if (sent == NULL)
            break;
        give(shape, owner, IN_SEND(at), size, schedule, sent);
        for (uint32_t s = 0; s < segments; s++) {
            uint64_t first = yoke_segment_offset(shape, size, segments, s);
            uint64_t end = yoke_segment_offset(shape, size, segments, s + 1);
            yoke_step_t step = yoke_schedule_receive(schedule, owner, PHASE(1) + s,
                                                     IN_RECV(at + first), end - first);
            yoke_schedule_after(schedule, step, shape->in_place ? sent[s] : -1);
        }
        free(sent);
        for (uint32_t s = 0; s < what.segments; s++) {
            uint64_t first = yoke_segment_offset(shape, what.size, what.segments, s);
            uint64_t end = yoke_segment_offset(shape, what.size, what.segments, s + 1);
            yoke_step_t step = yoke_schedule_send(schedule, owner, PHASE(1) + s,
                                                  IN_RECV(begin + first), end - first);
            yoke_schedule_after(schedule, step, sums[s]);
        }
    }
    free(sums);
}

/* Point to point: the peer is the shape's root; radix 0 sends, 1 receives. */
static void send_or_receive(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    if (shape->radix == 0)
        yoke_schedule_send(schedule, shape->root, 0, IN_SEND(0), size);
    else
        yoke_schedule_receive(schedule, shape->root, 0, IN_RECV(0), size);
}

const yoke_builder_t yoke_linear_builders[] = {
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_BARRIER, NULL, barrier},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_BROADCAST, NULL, broadcast},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_REDUCE, NULL, reduce},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_REDUCE_SCATTER, NULL, reduce_scatter},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_ALL_GATHER, NULL, all_gather},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_GATHER, NULL, gather},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_SCATTER, NULL, scatter},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_ALL_TO_ALL, NULL, all_to_all},
    {YOKE_ALGORITHM_LINEAR, YOKE_COLLECTIVE_SEND_RECV, NULL, send_or_receive},
    {0},
};
