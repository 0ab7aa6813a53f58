/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive doubling, for any number of ranks: with q the largest power of two of at most
 * n, the first 2 (n - q) ranks join in pairs (fold), q of them exchange, and the pairs
 * part again (Rabenseifner, "Optimization of collective reduction operations", 2004).
 *
 * All-reduce takes log2(q) (a + M b) and two steps more where n is no power of two. Both
 * ends of an exchange reduce the same two values, the lower rank's first, so that all
 * ranks get the same bits; f16, bf16 and fp8 are rounded at every exchange.
 */

#include "ucx_comm/collectives/fold.h"

yoke_fold_t yoke_fold_of(int size, int rank)
{
    yoke_fold_t fold = {.power = 1};
    while (fold.power * 2 <= size)
        fold.power *= 2;
    fold.extra = size - fold.power;
    fold.place = rank - fold.extra;
    fold.partner = -1;
    if (rank < 2 * fold.extra) {
        fold.place = rank % 2 == 0 ? -1 : rank / 2;
        fold.partner = rank ^ 1;
    }
    return fold;
}

int yoke_fold_rank(const yoke_fold_t *fold, int place)
{
    return place < fold->extra ? 2 * place + 1 : place + fold->extra;
}

static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t size = yoke_shape_bytes(shape);
    yoke_fold_t fold = yoke_fold_of(shape->size, shape->rank);
    if (fold.place < 0) {
        yoke_step_t sent =
            yoke_schedule_send(schedule, fold.partner, PHASE(0), IN_SEND(0), size);
        yoke_step_t came =
            yoke_schedule_receive(schedule, fold.partner, PHASE(2), IN_RECV(0), size);
        yoke_schedule_after(schedule, came, sent);
        return;
    }
    uint64_t slot = yoke_round_line(size);
    yoke_schedule_scratch(schedule, 3 * slot);
    yoke_range_t now = IN_SEND(0);
    yoke_step_t here = -1, sent = -1;
    if (fold.partner >= 0) {
        here = yoke_schedule_receive_reduce(schedule, fold.partner, PHASE(0),
                                            IN_SCRATCH(2 * slot), now, size);
        yoke_schedule_flip(schedule, here);
        now = IN_SCRATCH(2 * slot);
    }
    uint32_t round = 0;
    for (int bit = 1; bit < fold.power; bit *= 2, round++) {
        int other = fold.place ^ bit, peer = yoke_fold_rank(&fold, other);
        yoke_range_t to = IN_SCRATCH((round % 2) * slot);
        /* What is written now was read by the last round's send. */
        yoke_step_t before = sent;
        sent = yoke_schedule_send(schedule, peer, PHASE(1) + round, now, size);
        yoke_schedule_after(schedule, sent, here);
        yoke_step_t came =
            yoke_schedule_receive_reduce(schedule, peer, PHASE(1) + round, to, now, size);
        yoke_schedule_after(schedule, came, here);
        yoke_schedule_after(schedule, came, before);
        if (other < fold.place)
            yoke_schedule_flip(schedule, came);
        here = came;
        now = to;
    }
    if (now.region == YOKE_REGION_SEND && shape->in_place)
        return;
    yoke_step_t done = yoke_schedule_copy(schedule, IN_RECV(0), now, size);
    yoke_schedule_after(schedule, done, here);
    yoke_schedule_after(schedule, done, sent);
    yoke_step_t scaled = yoke_schedule_scale(schedule, IN_RECV(0), size);
    yoke_schedule_after(schedule, scaled, done);
    if (fold.partner >= 0)
        yoke_schedule_after(
            schedule,
            yoke_schedule_send(schedule, fold.partner, PHASE(2), IN_RECV(0), size),
            scaled >= 0 ? scaled : done);
}

/* Blocks of the places [first, first + n): each those of one or two ranks. */
typedef struct part {
    int first, end; /* ranks */
} part_t;

static part_t part_of(const yoke_fold_t *fold, int first, int n)
{
    part_t part;
    int last = first + n;
    part.first = first < fold->extra ? 2 * first : first + fold->extra;
    part.end = last <= fold->extra ? 2 * last : last + fold->extra;
    return part;
}

/* One message a block: the blocks of a v-form need not touch. */
static void exchange(const yoke_shape_t *shape, yoke_schedule_t *schedule, int peer,
                     uint32_t phase, part_t in, part_t out, yoke_step_t *ready)
{
    uint32_t n = (uint32_t)shape->size;
    for (int i = in.first; i < in.end; i++)
        ready[i] = yoke_schedule_receive(schedule, peer, phase * n + (uint32_t)i,
                                         IN_RECV(yoke_block_offset(shape, i)),
                                         yoke_block_size(shape, i));
    for (int i = out.first; i < out.end; i++) {
        yoke_step_t step = yoke_schedule_send(schedule, peer, phase * n + (uint32_t)i,
                                              IN_RECV(yoke_block_offset(shape, i)),
                                              yoke_block_size(shape, i));
        yoke_schedule_after(schedule, step, ready[i]);
    }
}

static void all_gather(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    yoke_fold_t fold = yoke_fold_of(shape->size, shape->rank);
    yoke_step_t *ready = yoke_steps_new(schedule, (uint64_t)shape->size);
    if (ready == NULL)
        return;
    int rank = shape->rank, n = shape->size;
    if (!shape->in_place)
        ready[rank] =
            yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, rank)),
                               IN_SEND(0), yoke_block_size(shape, rank));
    part_t none = {0, 0}, own = {rank, rank + 1};
    if (fold.place < 0) {
        exchange(shape, schedule, fold.partner, 0, none, own, ready);
        part_t below = {0, rank}, above = {rank + 1, n};
        exchange(shape, schedule, fold.partner, 1, below, none, ready);
        exchange(shape, schedule, fold.partner, 1, above, none, ready);
        free(ready);
        return;
    }
    if (fold.partner >= 0) {
        part_t theirs = {rank - 1, rank};
        exchange(shape, schedule, fold.partner, 0, theirs, none, ready);
    }
    uint32_t phase = 2;
    for (int bit = 1; bit < fold.power; bit *= 2, phase++) {
        int mine = fold.place / bit * bit, theirs = mine ^ bit;
        exchange(shape, schedule, yoke_fold_rank(&fold, fold.place ^ bit), phase,
                 part_of(&fold, theirs, bit), part_of(&fold, mine, bit), ready);
    }
    if (fold.partner >= 0) {
        part_t below = {0, rank - 1}, above = {rank, n};
        exchange(shape, schedule, fold.partner, 1, none, below, ready);
        exchange(shape, schedule, fold.partner, 1, none, above, ready);
    }
    free(ready);
}

const yoke_builder_t yoke_recursive_doubling_builders[] = {
    {YOKE_ALGORITHM_RECURSIVE_DOUBLING, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_RECURSIVE_DOUBLING, YOKE_COLLECTIVE_ALL_GATHER, NULL, all_gather},
    {0},
};
