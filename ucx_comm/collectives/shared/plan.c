/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams a call consists of. */
#include "ucx_comm/collectives/shared/parts.h"

/* Reading another process's memory costs a system call and work for each page, and saves
 * a copy; but the kernel's copies do not go past the caches. With more ranks an
 * all-gather copies once for many readers. */
#define PULL_LEAST (16u << 10)
#define PULL_RANKS 3

static void set_lane(yoke_shared_t *s, lane_t *lane, const unsigned char *from,
                     unsigned char *to, uint64_t size)
{
    *lane = (lane_t){from, to, size, 0, (size + s->chunk - 1) / s->chunk, false};
    s->open += lane->chunks > 0;
}

/* Both sides of a lane come to the same answer. */
static bool pulls(const yoke_shared_t *s, uint64_t size)
{
    return s->can_pull && !s->in_place_exchange && size >= PULL_LEAST &&
           size < s->stream_from / (uint64_t)s->ranks;
}

static void set_pull(yoke_shared_t *s, lane_t *lane, unsigned char *to, uint64_t size)
{
    *lane = (lane_t){NULL, to, size, 0, (size + PULL_PIECE - 1) / PULL_PIECE, true};
    s->open += lane->chunks > 0;
}

static void set_offer(yoke_shared_t *s, int rank, const unsigned char *from,
                      uint64_t size)
{
    s->out[rank] = (lane_t){from, NULL, size, size, 0, true};
    s->pullers |= (uint64_t)1 << rank;
}

static void set_own(yoke_shared_t *s, const unsigned char *from, unsigned char *to,
                    uint64_t size)
{
    if (from == to || size == 0)
        return;
    s->own = (lane_t){from, to, size, 0, (size + s->chunk - 1) / s->chunk, false};
    s->open++;
}

static void set_fold(yoke_shared_t *s, const unsigned char *own, unsigned char *to,
                     uint64_t size, bool share)
{
    s->fold = (fold_t){own, to, size, 0, (size + s->chunk - 1) / s->chunk, share};
    s->open += s->fold.chunks > 0;
}

/* memory + offset, where there is memory */
static unsigned char *at(const void *memory, uint64_t offset)
{
    return memory != NULL ? (unsigned char *)(uintptr_t)memory + offset : NULL;
}

/* A block of send or recv. */
typedef struct block {
    unsigned char *place;
    uint64_t size;
} block_t;

static block_t send_block(const yoke_shared_t *s, int rank)
{
    const yoke_shared_call_t *c = &s->call;
    const uint64_t *counts =
        c->collective == YOKE_COLLECTIVE_REDUCE_SCATTER ? c->recv_counts : c->send_counts;
    return (block_t){
        at(c->send,
           s->size * yoke_shared_start_of(counts, c->send_displacements, c->count, rank)),
        s->size * yoke_shared_count_of(counts, c->count, rank)};
}

static block_t recv_block(const yoke_shared_t *s, int rank)
{
    const yoke_shared_call_t *c = &s->call;
    return (block_t){
        at(c->recv, s->size * yoke_shared_start_of(c->recv_counts, c->recv_displacements,
                                                   c->count, rank)),
        s->size * yoke_shared_count_of(c->recv_counts, c->count, rank)};
}

/* Rank's share of a vector that all reduce: whole cache lines. */
static uint64_t share_start(const yoke_shared_t *s, int rank)
{
    const uint64_t size = s->call.count * s->size, ranks = (uint64_t)s->ranks;
    const uint64_t lines = (size + LINE - 1) / LINE;
    const uint64_t start = (lines + ranks - 1) / ranks * LINE * (uint64_t)rank;
    return start < size ? start : size;
}

static void plan_all_reduce(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    for (int r = 0; r < s->ranks; r++) {
        const uint64_t start = share_start(s, r);
        const uint64_t size = share_start(s, r + 1) - start;
        if (r == s->me) {
            set_fold(s, at(c->send, start), at(c->recv, start), size, s->ranks > 1);
            continue;
        }
        set_lane(s, &s->out[r], at(c->send, start), NULL, size);
        set_lane(s, &s->cast_in[r], NULL, at(c->recv, start), size);
    }
}

static void plan_reduce_scatter(yoke_shared_t *s)
{
    for (int r = 0; r < s->ranks; r++) {
        const block_t block = send_block(s, r);
        if (r == s->me)
            set_fold(s, block.place, s->call.recv, block.size, false);
        else
            set_lane(s, &s->out[r], block.place, NULL, block.size);
    }
}

static bool all_gather_pulls(const yoke_shared_t *s)
{
    const uint64_t *counts = s->call.recv_counts;
    uint64_t least = s->call.count;
    for (int r = 0; counts != NULL && r < s->ranks; r++)
        least = r == 0 || counts[r] < least ? counts[r] : least;
    return s->ranks <= PULL_RANKS && pulls(s, least * s->size);
}

static void plan_all_gather(yoke_shared_t *s)
{
    const bool pull = all_gather_pulls(s);
    const block_t mine = recv_block(s, s->me);
    s->offers = pull;
    set_own(s, s->call.send, mine.place, mine.size);
    if (!pull && s->ranks > 1)
        set_lane(s, &s->cast_out, s->call.send, NULL, mine.size);
    for (int r = 0; r < s->ranks; r++) {
        const block_t block = recv_block(s, r);
        if (r == s->me)
            continue;
        if (!pull) {
            set_lane(s, &s->cast_in[r], NULL, block.place, block.size);
            continue;
        }
        set_offer(s, r, s->call.send, mine.size);
        set_pull(s, &s->in[r], block.place, block.size);
    }
}

static void plan_gather(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    if (c->root != s->me) {
        const uint64_t count = yoke_shared_count_of(c->recv_counts, c->count, s->me);
        set_lane(s, &s->out[c->root], c->send, NULL, count * s->size);
        return;
    }
    for (int r = 0; r < s->ranks; r++) {
        const block_t block = recv_block(s, r);
        if (r == s->me)
            set_own(s, c->send, block.place, block.size);
        else
            set_lane(s, &s->in[r], NULL, block.place, block.size);
    }
}

static void plan_scatter(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    if (c->root != s->me) {
        const uint64_t count = yoke_shared_count_of(c->send_counts, c->count, s->me);
        set_lane(s, &s->in[c->root], NULL, c->recv, count * s->size);
        return;
    }
    for (int r = 0; r < s->ranks; r++) {
        const block_t block = send_block(s, r);
        if (r == s->me)
            set_own(s, block.place, c->recv, block.size);
        else
            set_lane(s, &s->out[r], block.place, NULL, block.size);
    }
}

static void plan_all_to_all(yoke_shared_t *s)
{
    s->in_place_exchange = s->call.send == s->call.recv;
    s->offers = true;
    for (int r = 0; r < s->ranks; r++) {
        const block_t send = send_block(s, r), recv = recv_block(s, r);
        if (r == s->me) {
            set_own(s, send.place, recv.place,
                    send.size < recv.size ? send.size : recv.size);
            continue;
        }
        if (pulls(s, send.size))
            set_offer(s, r, send.place, send.size);
        else
            set_lane(s, &s->out[r], send.place, NULL, send.size);
        if (pulls(s, recv.size))
            set_pull(s, &s->in[r], recv.place, recv.size);
        else
            set_lane(s, &s->in[r], NULL, recv.place, recv.size);
    }
}

/* Bytes of the whole that both sides of every stream know. */
static uint64_t known_size(const yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    const uint64_t *counts =
        c->collective == YOKE_COLLECTIVE_SCATTER ? c->send_counts : c->recv_counts;
    switch (c->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
    case YOKE_COLLECTIVE_REDUCE:
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return s->size * c->count;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        if (counts != NULL)
            return UINT64_MAX;
        break;
    default:
        break;
    }
    return s->size * yoke_shared_start_of(counts, NULL, c->count, s->ranks);
}

/* Where one side only writes and the other only reads, the first chunk should be on its
 * way soon. */
static uint64_t chunk_for(const yoke_shared_t *s, uint64_t size)
{
    const uint64_t least = 4096;
    uint64_t chunk = s->layout.chunk;
    if (s->call.collective == YOKE_COLLECTIVE_BROADCAST ||
        s->call.collective == YOKE_COLLECTIVE_REDUCE)
        chunk = size / 8 / LINE * LINE;
    chunk = chunk > least ? chunk : least;
    return chunk < s->layout.chunk ? chunk : s->layout.chunk;
}

void yoke_shared_plan(yoke_shared_t *s)
{
    const uint64_t size = known_size(s);
    s->chunk = chunk_for(s, size);
    s->past_caches = size != UINT64_MAX && size >= s->stream_from;
    s->open = 0;
    s->in_place_exchange = s->offers = false;
    s->pullers = 0;
    s->cast_out = s->own = (lane_t){0};
    s->fold = (fold_t){0};
    for (int r = 0; r < s->ranks; r++)
        s->out[r] = s->in[r] = s->cast_in[r] = (lane_t){0};
    switch (s->call.collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        if (s->call.root != s->me)
            set_lane(s, &s->cast_in[s->call.root], NULL, s->call.recv, size);
        else if (s->ranks > 1)
            set_lane(s, &s->cast_out, s->call.recv, NULL, size);
        break;
    case YOKE_COLLECTIVE_REDUCE:
        if (s->call.root == s->me)
            set_fold(s, s->call.send, s->call.recv, size, false);
        else
            set_lane(s, &s->out[s->call.root], s->call.send, NULL, size);
        break;
    case YOKE_COLLECTIVE_ALL_REDUCE:
        plan_all_reduce(s);
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        plan_reduce_scatter(s);
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        plan_all_gather(s);
        break;
    case YOKE_COLLECTIVE_GATHER:
        plan_gather(s);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        plan_scatter(s);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        plan_all_to_all(s);
        break;
    default:
        break;
    }
}
