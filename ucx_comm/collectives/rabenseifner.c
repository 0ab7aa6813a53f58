/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive halving and doubling, for any number of ranks (Rabenseifner, "Optimization of
 * collective reduction operations", 2004): all-reduce 2 log2(n) a + 2 (n-1)/n M b; and
 * the broadcast made of a scatter and an all-gather (van de Geijn): (log2(n) + n - 1) a +
 * 2 (n-1)/n M b. Sums of f16, bf16 and fp8 are rounded at every halving.
 */

#include "ucx_comm/collectives/fold.h"

/* Where the part of places begins: offset(context, place), place up to power. */
typedef uint64_t (*part_offset_t)(const yoke_shape_t *shape, const yoke_fold_t *fold,
                                  int place);

typedef struct halving {
    const yoke_shape_t *shape;
    yoke_fold_t fold;
    part_offset_t offset;
    yoke_region_t to;  /* partial sums, at the same offsets as in SEND */
    yoke_region_t now; /* where this rank's partial sums are */
    yoke_step_t here;  /* after which they are there */
    yoke_step_t *sent; /* by place: the send that read that part of `to`; -1 */
} halving_t;

/* Pairs join; then at every bit a place keeps the half that it stands in. */
static void halve(halving_t *half, yoke_schedule_t *schedule, uint64_t bytes)
{
    const yoke_fold_t *fold = &half->fold;
    half->now = YOKE_REGION_SEND;
    half->here = -1;
    if (fold->place < 0) {
        half->here =
            yoke_schedule_send(schedule, fold->partner, PHASE(0), IN_SEND(0), bytes);
        return;
    }
    if (fold->partner >= 0) {
        half->here =
            yoke_schedule_receive_reduce(schedule, fold->partner, PHASE(0),
                                         yoke_range(half->to, 0), IN_SEND(0), bytes);
        half->now = half->to;
    }
    int first = 0;
    uint32_t round = 0;
    for (int width = fold->power / 2; width > 0; width /= 2, round++) {
        int other = fold->place ^ width;
        int keep = first + (fold->place & width), give = first + (other & width);
        int peer = yoke_fold_rank(fold, other);
        uint64_t at = half->offset(half->shape, fold, give);
        yoke_step_t sent = yoke_schedule_send(
            schedule, peer, PHASE(1) + round, yoke_range(half->now, at),
            half->offset(half->shape, fold, give + width) - at);
        yoke_schedule_after(schedule, sent, half->here);
        for (int i = give; i < give + width; i++)
            half->sent[i] = sent;
        at = half->offset(half->shape, fold, keep);
        yoke_step_t came = yoke_schedule_receive_reduce(
            schedule, peer, PHASE(1) + round, yoke_range(half->to, at),
            yoke_range(half->now, at),
            half->offset(half->shape, fold, keep + width) - at);
        yoke_schedule_after(schedule, came, half->here);
        half->here = came;
        half->now = half->to;
        first = keep;
    }
}

static uint64_t share(const yoke_shape_t *shape, const yoke_fold_t *fold, int place)
{
    return yoke_share_offset(shape, yoke_shape_bytes(shape), fold->power, place);
}

static bool halving_init(halving_t *half, const yoke_shape_t *shape,
                         yoke_schedule_t *schedule, part_offset_t offset,
                         yoke_region_t to)
{
    *half = (halving_t){.shape = shape, .offset = offset, .to = to};
    half->fold = yoke_fold_of(shape->size, shape->rank);
    half->sent = yoke_steps_new(schedule, (uint64_t)half->fold.power);
    return half->sent != NULL;
}

/* One rank: the result is what it has. */
static bool alone(const yoke_shape_t *shape, yoke_schedule_t *schedule, uint64_t from,
                  uint64_t size)
{
    if (shape->size > 1)
        return false;
    if (!shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(0), IN_SEND(from), size);
    return true;
}

static yoke_step_t scale_own(halving_t *half, yoke_schedule_t *schedule, yoke_range_t own,
                             uint64_t size)
{
    yoke_step_t scaled = yoke_schedule_scale(schedule, own, size);
    yoke_schedule_after(schedule, scaled, half->here);
    return scaled >= 0 ? scaled : half->here;
}

static void all_reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t bytes = yoke_shape_bytes(shape);
    halving_t half;
    if (alone(shape, schedule, 0, bytes) ||
        !halving_init(&half, shape, schedule, share, YOKE_REGION_RECV))
        return;
    const yoke_fold_t *fold = &half.fold;
    halve(&half, schedule, bytes);
    if (fold->place < 0) {
        yoke_step_t came =
            yoke_schedule_receive(schedule, fold->partner, PHASE(3), IN_RECV(0), bytes);
        yoke_schedule_after(schedule, came, half.here);
        free(half.sent);
        return;
    }
    uint64_t at = share(shape, fold, fold->place);
    half.here =
        scale_own(&half, schedule, IN_RECV(at), share(shape, fold, fold->place + 1) - at);
    yoke_step_t last = half.here;
    uint32_t round = 0;
    for (int width = 1; width < fold->power; width *= 2, round++) {
        int mine = fold->place / width * width, theirs = mine ^ width;
        int peer = yoke_fold_rank(fold, fold->place ^ width);
        at = share(shape, fold, mine);
        yoke_step_t sent =
            yoke_schedule_send(schedule, peer, PHASE(2) + round, IN_RECV(at),
                               share(shape, fold, mine + width) - at);
        yoke_schedule_after(schedule, sent, last);
        at = share(shape, fold, theirs);
        yoke_step_t came =
            yoke_schedule_receive(schedule, peer, PHASE(2) + round, IN_RECV(at),
                                  share(shape, fold, theirs + width) - at);
        yoke_schedule_after(schedule, came, half.sent[theirs]);
        /* The next exchange sends what came and what was there. */
        yoke_step_t both = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
        yoke_schedule_after(schedule, both, came);
        yoke_schedule_after(schedule, both, last);
        last = both;
    }
    if (fold->partner >= 0)
        yoke_schedule_after(
            schedule,
            yoke_schedule_send(schedule, fold->partner, PHASE(3), IN_RECV(0), bytes),
            last);
    free(half.sent);
}

/* Every place sends its part of the sum to the root itself. */
static void reduce(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t bytes = yoke_shape_bytes(shape);
    bool root = shape->rank == shape->root;
    halving_t half;
    if (alone(shape, schedule, 0, bytes) ||
        !halving_init(&half, shape, schedule, share,
                      root ? YOKE_REGION_RECV : YOKE_REGION_SCRATCH))
        return;
    const yoke_fold_t *fold = &half.fold;
    if (!root)
        yoke_schedule_scratch(schedule, bytes);
    halve(&half, schedule, bytes);
    if (fold->place >= 0) {
        uint64_t at = share(shape, fold, fold->place);
        uint64_t size = share(shape, fold, fold->place + 1) - at;
        yoke_step_t last = scale_own(&half, schedule, yoke_range(half.to, at), size);
        if (!root)
            yoke_schedule_after(schedule,
                                yoke_schedule_send(schedule, shape->root, PHASE(2),
                                                   yoke_range(half.to, at), size),
                                last);
    }
    for (int i = 0; root && i < fold->power; i++) {
        if (i == fold->place)
            continue;
        uint64_t at = share(shape, fold, i);
        yoke_step_t came =
            yoke_schedule_receive(schedule, yoke_fold_rank(fold, i), PHASE(2),
                                  IN_RECV(at), share(shape, fold, i + 1) - at);
        yoke_schedule_after(schedule, came, half.sent[i]);
        /* A root without a place gave the whole vector away. */
        yoke_schedule_after(schedule, came, fold->place < 0 ? half.here : -1);
    }
    free(half.sent);
}

/* The blocks of a place: those of its pair, or its own. */
static uint64_t blocks(const yoke_shape_t *shape, const yoke_fold_t *fold, int place)
{
    if (place == fold->power)
        return yoke_block_offset(shape, shape->size - 1) +
               yoke_block_size(shape, shape->size - 1);
    return yoke_block_offset(shape,
                             place < fold->extra ? 2 * place : place + fold->extra);
}

static void reduce_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    uint64_t own = yoke_block_size(shape, shape->rank);
    halving_t half;
    if (alone(shape, schedule, yoke_block_offset(shape, 0), own) ||
        !halving_init(&half, shape, schedule, blocks, YOKE_REGION_SCRATCH))
        return;
    const yoke_fold_t *fold = &half.fold;
    uint64_t end = blocks(shape, fold, fold->power);
    yoke_schedule_scratch(schedule, end);
    halve(&half, schedule, end);
    if (fold->place < 0) {
        yoke_step_t came =
            yoke_schedule_receive(schedule, fold->partner, PHASE(2), IN_RECV(0), own);
        yoke_schedule_after(schedule, came, half.here);
        free(half.sent);
        return;
    }
    uint64_t at = blocks(shape, fold, fold->place);
    yoke_step_t last = scale_own(&half, schedule, IN_SCRATCH(at),
                                 blocks(shape, fold, fold->place + 1) - at);
    if (fold->partner >= 0)
        yoke_schedule_after(
            schedule,
            yoke_schedule_send(schedule, fold->partner, PHASE(2),
                               IN_SCRATCH(yoke_block_offset(shape, fold->partner)),
                               yoke_block_size(shape, fold->partner)),
            last);
    yoke_schedule_after(
        schedule,
        yoke_schedule_copy(schedule, IN_RECV(0),
                           IN_SCRATCH(yoke_block_offset(shape, shape->rank)), own),
        last);
    free(half.sent);
}

/* --- broadcast ---------------------------------------------------------------------- */

static uint64_t place_offset(const yoke_shape_t *shape, int place)
{
    return yoke_share_offset(shape, yoke_shape_bytes(shape), shape->size, place);
}

/* Places are counted from the root. The scatter leaves a place with the parts of those
 * below it in the tree too; the ring does not send it those again. */
static bool has_part(const yoke_shape_t *shape, int place, int part)
{
    return part >= place && part < place + yoke_tree_below(shape, place);
}

static void broadcast(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    int n = shape->size, place = (shape->rank - shape->root + n) % n;
    int previous = (shape->rank - 1 + n) % n, next = (shape->rank + 1) % n;
    yoke_step_t *ready = yoke_steps_new(schedule, (uint64_t)n);
    if (ready == NULL)
        return;
    yoke_step_t here = yoke_tree_scatter(shape, schedule, PHASE(0), place_offset);
    for (int i = 0; i < n; i++)
        ready[i] = has_part(shape, place, i) ? here : -1;
    for (int t = 0; t + 1 < n; t++) {
        int out = (place - t + n) % n, in = (out - 1 + n) % n;
        uint64_t at = place_offset(shape, in);
        if (!has_part(shape, place, in))
            ready[in] =
                yoke_schedule_receive(schedule, previous, PHASE(1) + (uint32_t)t,
                                      IN_RECV(at), place_offset(shape, in + 1) - at);
        at = place_offset(shape, out);
        if (!has_part(shape, (place + 1) % n, out))
            yoke_schedule_after(schedule,
                                yoke_schedule_send(schedule, next, PHASE(1) + (uint32_t)t,
                                                   IN_RECV(at),
                                                   place_offset(shape, out + 1) - at),
                                ready[out]);
    }
    free(ready);
}

const yoke_builder_t yoke_rabenseifner_builders[] = {
    {YOKE_ALGORITHM_RABENSEIFNER, YOKE_COLLECTIVE_BROADCAST, NULL, broadcast},
    {YOKE_ALGORITHM_RABENSEIFNER, YOKE_COLLECTIVE_REDUCE, NULL, reduce},
    {YOKE_ALGORITHM_RABENSEIFNER, YOKE_COLLECTIVE_ALL_REDUCE, NULL, all_reduce},
    {YOKE_ALGORITHM_RABENSEIFNER, YOKE_COLLECTIVE_REDUCE_SCATTER, yoke_blocks_touch,
     reduce_scatter},
    {0},
};
