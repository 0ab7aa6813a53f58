/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bruck's algorithms (Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", IEEE TPDS 8, 1997),
 * radix 2, for any number of ranks: ceil(log2 n) messages. All-gather moves (n-1)/n M b,
 * all-to-all about log2(n)/2 M b. All-reduce gathers the vectors of all ranks, (n-1) M b,
 * and every rank adds them up in rank order: f16, bf16 and fp8 are rounded once.
 */

#include "ucx_comm/collectives/builders.h"
#include "base/error.h"

/* An all-gather into scratch: number j there is the block of rank + j, beginning at
 * at[j]; at[n] is the end. Returns the step after which all is there. */
static yoke_step_t gather_rotated(const yoke_shape_t *shape, const uint64_t *at,
                                  yoke_schedule_t *schedule)
{
    int n = shape->size;
    yoke_schedule_scratch(schedule, at[n]);
    yoke_step_t last = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SEND(0), at[1]);
    uint32_t round = 0;
    for (int have = 1; have < n; have *= 2, round++) {
        int more = have < n - have ? have : n - have;
        yoke_step_t sent = yoke_schedule_send(schedule, (shape->rank - have + n) % n,
                                              round, IN_SCRATCH(0), at[more]);
        yoke_schedule_after(schedule, sent, last);
        yoke_step_t came =
            yoke_schedule_receive(schedule, (shape->rank + have) % n, round,
                                  IN_SCRATCH(at[have]), at[have + more] - at[have]);
        yoke_step_t both = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
        yoke_schedule_after(schedule, both, came);
        yoke_schedule_after(schedule, both, last);
        last = both;
    }
    return last;
}

/* at[j] for blocks of `size(shape, rank)` bytes; NULL: out of memory. */
static uint64_t *rotated_offsets(const yoke_shape_t *shape, yoke_schedule_t *schedule,
                                 uint64_t (*size)(const yoke_shape_t *shape, int rank))
{
    int n = shape->size;
    uint64_t *at = calloc((size_t)n + 1, sizeof *at);
    if (at == NULL) {
        schedule->status = yoke_fail_memory();
        return NULL;
    }
    for (int j = 0; j < n; j++)
        at[j + 1] = at[j] + size(shape, (shape->rank + j) % n);
    return at;
}

static void all_gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t *at = rotated_offsets(shape, schedule, yoke_block_size);
    if (at == NULL)
        return;
    yoke_step_t last = gather_rotated(shape, at, schedule);
    for (int j = shape->in_place ? 1 : 0; j < shape->size; j++) {
        int rank = (shape->rank + j) % shape->size;
        yoke_step_t step =
            yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, rank)),
                               IN_SCRATCH(at[j]), at[j + 1] - at[j]);
        yoke_schedule_after(schedule, step, last);
    }
    free(at);
}

static uint64_t whole(const yoke_shape_t *shape, int rank)
{
    (void)rank;
    return yoke_shape_bytes(shape);
}

static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    unsigned n = (unsigned)shape->size;
    uint64_t *at = rotated_offsets(shape, schedule, whole);
    yoke_range_t *from = calloc(n, sizeof *from);
    if (at != NULL && from != NULL) {
        yoke_step_t last = gather_rotated(shape, at, schedule);
        for (int j = 0; j < shape->size; j++)
            from[(shape->rank + j) % shape->size] = IN_SCRATCH(at[j]);
        yoke_step_t sum = yoke_schedule_reduce_many(schedule, IN_RECV(0), from, n,
                                                    yoke_shape_bytes(shape));
        yoke_schedule_after(schedule, sum, last);
    } else
        schedule->status = yoke_fail_memory();
    free(from);
    free(at);
}

static bool is_regular(const yoke_shape_t *shape)
{
    return shape->counts == NULL && shape->send_counts == NULL;
}

/* The blocks of one round, packed: those whose number has the round's bit. */
static yoke_step_t pack(const yoke_shape_t *shape, int bit, uint64_t packed, bool unpacks,
                        yoke_step_t after, yoke_schedule_t *schedule, uint64_t *out_size)
{
    uint64_t block = yoke_block_size(shape, 0), used = 0;
    for (int j = 0; j < shape->size; j++) {
        if ((j & bit) == 0)
            continue;
        yoke_range_t in_place = IN_SCRATCH(block * (uint64_t)j);
        yoke_range_t in_message = IN_SCRATCH(packed + used);
        yoke_step_t step = yoke_schedule_copy(schedule, unpacks ? in_place : in_message,
                                              unpacks ? in_message : in_place, block);
        yoke_schedule_after(schedule, step, after);
        after = step;
        used += block;
    }
    *out_size = used;
    return after;
}

/* Scratch: n blocks (number j is what has to go j ranks on), then the packed message that
 * leaves, then the one that comes. */
static void all_to_all(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    int n = shape->size;
    uint64_t block = yoke_block_size(shape, 0), all = block * (uint64_t)n;
    yoke_schedule_scratch(schedule, 3 * all);
    yoke_step_t last = -1;
    for (int j = 0; j < n; j++) {
        yoke_step_t step = yoke_schedule_copy(
            schedule, IN_SCRATCH(block * (uint64_t)j),
            IN_SEND(yoke_send_offset(shape, (shape->rank + j) % n)), block);
        yoke_schedule_after(schedule, step, last);
        last = step;
    }
    yoke_step_t sent = -1;
    uint32_t round = 0;
    for (int bit = 1; bit < n; bit *= 2, round++) {
        uint64_t size = 0;
        /* The packed message of the last round may not have left yet. */
        yoke_step_t free_now =
            yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
        yoke_schedule_after(schedule, free_now, last);
        yoke_schedule_after(schedule, free_now, sent);
        last = pack(shape, bit, all, false, free_now, schedule, &size);
        sent = yoke_schedule_send(schedule, (shape->rank + bit) % n, round,
                                  IN_SCRATCH(all), size);
        yoke_schedule_after(schedule, sent, last);
        yoke_step_t came = yoke_schedule_receive(schedule, (shape->rank - bit + n) % n,
                                                 round, IN_SCRATCH(2 * all), size);
        /* What came in the last round has been unpacked. */
        yoke_schedule_after(schedule, came, last);
        last = pack(shape, bit, 2 * all, true, came, schedule, &size);
    }
    for (int j = 0; j < n; j++) {
        int from = (shape->rank - j + n) % n;
        yoke_step_t step =
            yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, from)),
                               IN_SCRATCH(block * (uint64_t)j), block);
        yoke_schedule_after(schedule, step, last);
    }
}

const yoke_builder_t yoke_bruck_builders[] = {
    {YOKE_ALGORITHM_BRUCK, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_BRUCK, YOKE_COLLECTIVE_ALL_GATHER, NULL, all_gather},
    {YOKE_ALGORITHM_BRUCK, YOKE_COLLECTIVE_ALL_TO_ALL, is_regular, all_to_all},
    {0},
};
