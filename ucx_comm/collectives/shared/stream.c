/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a call's chunks. Each step moves at most one, if it can. */
#include "base/error.h"
#include "ucx_comm/collectives/shared/parts.h"

typedef enum step {
    STEP_IDLE,  /* nothing to do, or not yet */
    STEP_MOVED, /* a chunk */
    STEP_WRONG  /* what came is not of this call */
} step_t;

static uint64_t next_bytes(const yoke_shared_t *s, uint64_t size, uint64_t done)
{
    return size - done < s->chunk ? size - done : s->chunk;
}

static void chunk_done(yoke_shared_t *s, uint64_t *chunks)
{
    if (--*chunks == 0)
        s->open--;
}

/* --- counters ----------------------------------------------------------------------- */

static uint64_t look(const counter_t *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static void publish(counter_t *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_release);
}

static bool channel_has_room(yoke_shared_t *s, int to)
{
    if (s->sent[to] - s->room[to] < CHUNKS)
        return true;
    s->room[to] = look(channel_of(s, s->me, to) + 1);
    return s->sent[to] - s->room[to] < CHUNKS;
}

static bool ring_has_room(yoke_shared_t *s)
{
    if (s->cast_sent - s->cast_room < CHUNKS)
        return true;
    const counter_t *tails = ring_of(s, s->me) + 1;
    uint64_t least = s->cast_sent;
    for (int r = 0; r < s->ranks; r++) {
        const uint64_t tail = r != s->me ? look(&tails[r]) : s->cast_sent;
        least = tail < least ? tail : least;
    }
    s->cast_room = least;
    return s->cast_sent - least < CHUNKS;
}

/* --- out ---------------------------------------------------------------------------- */

static void send_chunk(yoke_shared_t *s, int to)
{
    lane_t *lane = &s->out[to];
    counter_t *channel = channel_of(s, s->me, to);
    chunk_info_t *info = chunk_of(s, channel, 2, s->sent[to]);
    const uint64_t n = next_bytes(s, lane->size, lane->done);
    info->sequence = s->sequence;
    info->size = lane->size;
    if (n > 0)
        yoke_shared_copy(chunk_data(info), lane->from + lane->done, n, false);
    publish(channel, ++s->sent[to]);
    wake(s, to);
    lane->done += n;
    chunk_done(s, &lane->chunks);
}

static step_t send_chunks(yoke_shared_t *s)
{
    step_t step = STEP_IDLE;
    for (int i = 1; i < s->ranks; i++) {
        const int to = (s->me + i) % s->ranks; /* not all to the same rank first */
        if (s->out[to].chunks > 0 && channel_has_room(s, to)) {
            send_chunk(s, to);
            step = STEP_MOVED;
        }
    }
    return step;
}

static chunk_info_t *ring_chunk(yoke_shared_t *s, int from, uint64_t number)
{
    return chunk_of(s, ring_of(s, from), 1 + s->ranks, number);
}

static void publish_ring(yoke_shared_t *s, chunk_info_t *info, uint64_t size)
{
    info->sequence = s->sequence;
    info->size = size;
    publish(ring_of(s, s->me), ++s->cast_sent);
    wake(s, -1);
}

static step_t cast_chunk(yoke_shared_t *s)
{
    lane_t *lane = &s->cast_out;
    if (lane->chunks == 0 || !ring_has_room(s))
        return STEP_IDLE;
    chunk_info_t *info = ring_chunk(s, s->me, s->cast_sent);
    const uint64_t n = next_bytes(s, lane->size, lane->done);
    yoke_shared_copy(chunk_data(info), lane->from + lane->done, n, false);
    publish_ring(s, info, lane->size);
    lane->done += n;
    chunk_done(s, &lane->chunks);
    return STEP_MOVED;
}

/* This rank's own block: each chunk right after it was sent, while it is in the cache. */
static step_t own_chunk(yoke_shared_t *s)
{
    lane_t *lane = &s->own;
    if (lane->chunks == 0 || (s->cast_out.chunks > 0 && s->cast_out.done <= lane->done))
        return STEP_IDLE;
    const uint64_t n = next_bytes(s, lane->size, lane->done);
    yoke_shared_copy(lane->to + lane->done, lane->from + lane->done, n, s->past_caches);
    lane->done += n;
    chunk_done(s, &lane->chunks);
    return STEP_MOVED;
}

/* --- in ----------------------------------------------------------------------------- */

/* Has a chunk come, of this call? */
static step_t arrived(yoke_shared_t *s, int from, const counter_t *head, uint64_t taken)
{
    if (look(head) == taken)
        return STEP_IDLE;
    return yoke_shared_meet(s, from) == YOKE_OK ? STEP_MOVED : STEP_WRONG;
}

static bool fits(const yoke_shared_t *s, const chunk_info_t *info, uint64_t size)
{
    return info->sequence == s->sequence && info->size == size;
}

static void take_into(yoke_shared_t *s, lane_t *lane, chunk_info_t *info)
{
    const uint64_t n = next_bytes(s, lane->size, lane->done);
    if (n > 0)
        yoke_shared_copy(lane->to + lane->done, chunk_data(info), n, s->past_caches);
    lane->done += n;
    chunk_done(s, &lane->chunks);
}

static step_t take_chunk(yoke_shared_t *s, int from)
{
    lane_t *lane = &s->in[from];
    counter_t *channel = channel_of(s, from, s->me);
    /* in place: what comes would go over what is still to be sent */
    if (lane->chunks == 0 || (s->in_place_exchange && s->out[from].chunks > 0 &&
                              s->out[from].done <= lane->done))
        return STEP_IDLE;
    const step_t step = arrived(s, from, channel, s->taken[from]);
    if (step != STEP_MOVED)
        return step;
    chunk_info_t *info = chunk_of(s, channel, 2, s->taken[from]);
    if (!fits(s, info, lane->size))
        return STEP_WRONG;
    take_into(s, lane, info);
    publish(channel + 1, ++s->taken[from]);
    wake(s, from);
    return STEP_MOVED;
}

static step_t take_cast(yoke_shared_t *s, int from)
{
    lane_t *lane = &s->cast_in[from];
    counter_t *ring = ring_of(s, from);
    if (lane->chunks == 0)
        return STEP_IDLE;
    const step_t step = arrived(s, from, ring, s->cast_taken[from]);
    if (step != STEP_MOVED)
        return step;
    chunk_info_t *info = ring_chunk(s, from, s->cast_taken[from]);
    if (!fits(s, info, lane->size))
        return STEP_WRONG;
    take_into(s, lane, info);
    publish(ring + 1 + s->me, ++s->cast_taken[from]);
    wake(s, from);
    return STEP_MOVED;
}

/* What it returns when it cannot is found again by waiting() or wrong(). */
static step_t pull_piece(yoke_shared_t *s, int from)
{
    if (s->in[from].chunks == 0)
        return STEP_IDLE;
    s->pull_status = yoke_shared_pull(s, from);
    return s->pull_status == YOKE_OK              ? STEP_MOVED
           : s->pull_status == YOKE_ERR_NOT_READY ? STEP_IDLE
                                                  : STEP_WRONG;
}

static step_t take_chunks(yoke_shared_t *s)
{
    step_t all = STEP_IDLE;
    for (int i = 1; i < s->ranks; i++) {
        const int from = (s->me + i) % s->ranks;
        const step_t a = s->in[from].pull ? pull_piece(s, from) : take_chunk(s, from);
        const step_t b = a != STEP_WRONG ? take_cast(s, from) : a;
        if (b == STEP_WRONG)
            return STEP_WRONG;
        if (a == STEP_MOVED || b == STEP_MOVED)
            all = STEP_MOVED;
    }
    return all;
}

/* --- reduction ---------------------------------------------------------------------- */

/* The next chunk of each other rank, and the own. STEP_MOVED: all are there. */
static step_t fold_sources(yoke_shared_t *s, const void *sources[YOKE_SHARED_RANKS])
{
    for (int r = 0; r < s->ranks; r++) {
        counter_t *channel = channel_of(s, r, s->me);
        if (r == s->me) {
            sources[r] = s->fold.own + s->fold.done;
            continue;
        }
        const step_t step = arrived(s, r, channel, s->taken[r]);
        if (step != STEP_MOVED)
            return step;
        chunk_info_t *info = chunk_of(s, channel, 2, s->taken[r]);
        if (!fits(s, info, s->fold.size))
            return STEP_WRONG;
        sources[r] = chunk_data(info);
    }
    return STEP_MOVED;
}

static void fold_release(yoke_shared_t *s)
{
    for (int r = 0; r < s->ranks; r++)
        if (r != s->me)
            publish(channel_of(s, r, s->me) + 1, ++s->taken[r]);
    wake(s, -1);
}

static step_t fold_chunk(yoke_shared_t *s)
{
    fold_t *fold = &s->fold;
    const void *sources[YOKE_SHARED_RANKS];
    if (fold->chunks == 0 || (fold->share && !ring_has_room(s)))
        return STEP_IDLE;
    const step_t step = fold_sources(s, sources);
    if (step != STEP_MOVED)
        return step;
    const uint64_t n = next_bytes(s, fold->size, fold->done);
    unsigned char *to = fold->to + fold->done;
    chunk_info_t *info = fold->share ? ring_chunk(s, s->me, s->cast_sent) : NULL;
    unsigned char *result = info != NULL     ? chunk_data(info)
                            : s->past_caches ? s->bounce
                                             : to;
    yoke_reduce_many(result, sources, (unsigned)s->ranks, n / s->size, s->call.element,
                     s->call.reduction, (unsigned)s->ranks);
    if (info != NULL)
        publish_ring(s, info, fold->size);
    fold_release(s);
    yoke_shared_copy(to, result, n, s->past_caches);
    fold->done += n;
    chunk_done(s, &fold->chunks);
    return STEP_MOVED;
}

/* --- all ---------------------------------------------------------------------------- */

static yoke_status_t wrong(yoke_shared_t *s)
{
    if (s->pull_status == YOKE_ERR_PEER_FAILED || s->pull_status == YOKE_ERR_MISMATCH)
        return s->pull_status;
    for (int r = 0; r < s->ranks; r++)
        if (r != s->me && yoke_shared_meet(s, r) == YOKE_ERR_MISMATCH)
            return YOKE_ERR_MISMATCH;
    return yoke_fail(YOKE_ERR_MISMATCH,
                     "call %llu of rank %d: another rank sends it another number of "
                     "bytes than it expects; give both the same counts",
                     (unsigned long long)s->sequence, s->numbers[s->me]);
}

/* Nothing moves: is it because others do something else? */
static yoke_status_t waiting(yoke_shared_t *s)
{
    for (int r = 0; r < s->ranks; r++)
        if (r != s->me && yoke_shared_meet(s, r) == YOKE_ERR_MISMATCH)
            return YOKE_ERR_MISMATCH;
    return YOKE_ERR_NOT_READY;
}

/* All lanes of this rank are at their end. Where slots tell what each rank has for each,
 * all are looked at, even those that nothing is expected of. */
static yoke_status_t last_steps(yoke_shared_t *s)
{
    if (!s->offers)
        return YOKE_OK;
    const yoke_status_t status = yoke_shared_pulled(s);
    for (int r = 0; r < s->ranks; r++) {
        const yoke_status_t met = r != s->me ? yoke_shared_meet(s, r) : YOKE_OK;
        if (met != YOKE_OK)
            return met;
    }
    return status;
}

yoke_status_t yoke_shared_stream(yoke_shared_t *s)
{
    s->pull_status = YOKE_OK;
    while (s->open > 0) {
        const step_t a = fold_chunk(s);
        const step_t b = a != STEP_WRONG ? take_chunks(s) : a;
        if (b == STEP_WRONG)
            return wrong(s);
        const step_t c = send_chunks(s), d = cast_chunk(s), e = own_chunk(s);
        if (a != STEP_MOVED && b != STEP_MOVED && c != STEP_MOVED && d != STEP_MOVED &&
            e != STEP_MOVED)
            return waiting(s);
        yoke_shared_moved(s);
        if (s->state != NULL && atomic_load_explicit(s->state, memory_order_relaxed) != 0)
            return YOKE_ERR_REVOKED;
    }
    return last_steps(s);
}
