/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/shared/exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ucx_comm/collectives/reference.h"
#include "ucx_comm/collectives/shared/parts.h"
#include "yoke/status.h"

#define PERIOD 120 /* the exact inputs of the reference repeat after so many elements */
#define GUARD 64
#define MOST 8

/* One call as all ranks know it. */
typedef struct plan {
    yoke_shared_call_t call;
    int ranks;
    bool v_form, in_place;
    size_t size;                 /* of an element */
    uint64_t counts[MOST];       /* blocks; v-forms */
    uint64_t places[MOST];       /* displacements; v-forms */
    uint64_t matrix[MOST][MOST]; /* all-to-all: from, to */
    uint64_t shift_send[MOST], shift_recv[MOST];
} plan_t;

static bool reduces(yoke_collective_t c)
{
    return c == YOKE_COLLECTIVE_REDUCE || c == YOKE_COLLECTIVE_ALL_REDUCE ||
           c == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static bool has_blocks(yoke_collective_t c)
{
    return c == YOKE_COLLECTIVE_REDUCE_SCATTER || c == YOKE_COLLECTIVE_ALL_GATHER ||
           c == YOKE_COLLECTIVE_GATHER || c == YOKE_COLLECTIVE_SCATTER ||
           c == YOKE_COLLECTIVE_ALL_TO_ALL;
}

/* --- choosing ----------------------------------------------------------------------- */

static uint64_t draw_count(uint64_t *random, const plan_t *plan, bool large)
{
    static const uint64_t few[] = {0, 1, 2, 3, 7, 16, 17, 31, 64, 127, 509, 1031};
    const uint64_t chunk = yoke_shared_layout(plan->ranks).chunk / plan->size;
    const uint64_t draw = reference_random(random);
    if (!large)
        return few[draw % (sizeof few / sizeof few[0])];
    /* about a whole number of chunks */
    return chunk * (1 + draw % 5) + (draw >> 8) % 3 - 1 + (draw >> 16 & 1) * 1237;
}

static void draw_v_form(uint64_t *random, plan_t *plan, bool large)
{
    uint64_t place = 0;
    for (int r = 0; r < plan->ranks; r++) {
        plan->counts[r] =
            plan->v_form ? draw_count(random, plan, large && r == 1) : plan->call.count;
        plan->places[r] = place;
        place += plan->counts[r];
        if (plan->v_form && plan->call.collective != YOKE_COLLECTIVE_REDUCE_SCATTER)
            place += reference_random(random) % 5;
        for (int to = 0; to < plan->ranks; to++)
            plan->matrix[r][to] = plan->v_form
                                      ? draw_count(random, plan, large && to == r + 1)
                                      : plan->call.count;
    }
}

static void draw_plan(uint64_t *random, int ranks, plan_t *plan)
{
    const uint64_t draw = reference_random(random);
    const bool large = draw % 10 == 0;
    memset(plan, 0, sizeof *plan);
    yoke_shared_call_t *c = &plan->call;
    c->collective = (yoke_collective_t)(YOKE_COLLECTIVE_BARRIER + (draw >> 8) % 9);
    c->element = (yoke_element_t)((draw >> 16) % YOKE_ELEMENT_COUNT);
    c->reduction = (yoke_reduction_t)((draw >> 24) % YOKE_REDUCTION_COUNT);
    c->root = (int)((draw >> 32) % (unsigned)ranks);
    plan->ranks = ranks;
    plan->size = yoke_element_size(c->element);
    plan->v_form = has_blocks(c->collective) && (draw >> 40) % 3 == 0;
    plan->in_place = (draw >> 44) % 2 == 0;
    if (c->collective == YOKE_COLLECTIVE_ALL_TO_ALL && plan->v_form)
        plan->in_place = false;
    c->count = draw_count(random, plan, large);
    draw_v_form(random, plan, large);
    for (int r = 0; r < ranks; r++) {
        plan->shift_send[r] = reference_random(random) % 16;
        plan->shift_recv[r] = reference_random(random) % 16;
    }
}

/* --- buffers ------------------------------------------------------------------------ */

typedef struct buffer {
    unsigned char *memory, *data;
    size_t size;
} buffer_t;

static buffer_t make_buffer(size_t size, size_t shift)
{
    buffer_t b = {malloc(size + shift + 2 * GUARD), NULL, size};
    if (b.memory == NULL)
        abort();
    memset(b.memory, 0xa5, size + shift + 2 * GUARD);
    b.data = b.memory + GUARD + shift;
    return b;
}

static bool guards_stand(const buffer_t *b)
{
    for (int i = 1; i <= GUARD; i++)
        if (b->data[-i] != 0xa5 || b->data[b->size + (size_t)i - 1] != 0xa5)
            return false;
    return true;
}

/* What `rank` holds for `other` (moved data), at element i: bytes. */
static void pattern(const plan_t *p, int rank, int other, uint64_t i, unsigned char *out)
{
    const uint64_t bits =
        (i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank * 77 + (uint64_t)other * 1009;
    memcpy(out, (const unsigned char *)&bits + 8 - p->size, p->size);
}

static void fill_moved(const plan_t *p, int rank, int other, uint64_t count,
                       unsigned char *to)
{
    for (uint64_t i = 0; i < count; i++)
        pattern(p, rank, other, i, to + i * p->size);
}

static void fill_reduced(const plan_t *p, int rank, uint64_t count, unsigned char *to)
{
    unsigned char period[PERIOD * 8];
    reference_fill(period, PERIOD, p->call.element, p->call.reduction, rank, 0, false);
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * p->size, period + i % PERIOD * p->size, p->size);
}

/* --- checks ------------------------------------------------------------------------- */

static bool moved_right(const plan_t *p, int rank, int other, uint64_t count,
                        const unsigned char *data)
{
    unsigned char expected[8];
    for (uint64_t i = 0; i < count; i++) {
        pattern(p, rank, other, i, expected);
        if (memcmp(expected, data + i * p->size, p->size) != 0)
            return false;
    }
    return true;
}

/* Elements [start, start + count) of the reduction of all. */
static bool reduced_right(const plan_t *p, uint64_t start, uint64_t count,
                          const unsigned char *data)
{
    static const bool whole = false;
    unsigned char inputs[MOST][PERIOD * 8], first[PERIOD][8];
    bool seen[PERIOD] = {whole};
    const void *sources[MOST];
    for (int r = 0; r < p->ranks; r++) {
        fill_reduced(p, r, PERIOD, inputs[r]);
        sources[r] = inputs[r];
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = (start + i) % PERIOD;
        const unsigned char *found = data + i * p->size;
        if (seen[at] && memcmp(first[at], found, p->size) != 0)
            return false;
        if (seen[at])
            continue;
        const reference_t right =
            reference_reduce(sources, p->ranks, at, p->call.element, p->call.reduction);
        if (!reference_right(found, 0, p->call.element, &right))
            return false;
        memcpy(first[at], found, p->size);
        seen[at] = true;
    }
    return true;
}

/* --- one call ----------------------------------------------------------------------- */

typedef struct sides {
    buffer_t send, recv;
    unsigned char *in, *out; /* what the call is given */
} sides_t;

static uint64_t total(const plan_t *p)
{
    return p->places[p->ranks - 1] + p->counts[p->ranks - 1];
}

static uint64_t row_total(const plan_t *p, int rank, bool sends)
{
    uint64_t sum = 0;
    for (int r = 0; r < p->ranks; r++)
        sum += sends ? p->matrix[rank][r] : p->matrix[r][rank];
    return sum;
}

/* Elements of send and recv. */
static void extents(const plan_t *p, int me, uint64_t *send, uint64_t *recv)
{
    const bool root = p->call.root == me;
    *send = *recv = p->call.count;
    switch (p->call.collective) {
    case YOKE_COLLECTIVE_REDUCE:
        *recv = root ? *recv : 0;
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        *send = total(p);
        *recv = p->counts[me];
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        *send = p->counts[me];
        *recv = total(p);
        break;
    case YOKE_COLLECTIVE_GATHER:
        *send = p->counts[me];
        *recv = root ? total(p) : 0;
        break;
    case YOKE_COLLECTIVE_SCATTER:
        *send = root ? total(p) : 0;
        *recv = p->counts[me];
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *send = row_total(p, me, true);
        *recv = row_total(p, me, false);
        break;
    default:
        break;
    }
}

static void place(const plan_t *p, int me, sides_t *s)
{
    const yoke_collective_t c = p->call.collective;
    const bool root = p->call.root == me;
    const uint64_t own = p->places[me] * p->size;
    s->in = s->send.data;
    s->out = s->recv.data;
    if (!p->in_place)
        return;
    if (c == YOKE_COLLECTIVE_ALL_REDUCE || c == YOKE_COLLECTIVE_ALL_TO_ALL ||
        (c == YOKE_COLLECTIVE_REDUCE && root))
        s->in = s->out;
    else if (c == YOKE_COLLECTIVE_ALL_GATHER || (c == YOKE_COLLECTIVE_GATHER && root))
        s->in = s->out + own;
    else if (c == YOKE_COLLECTIVE_REDUCE_SCATTER ||
             (c == YOKE_COLLECTIVE_SCATTER && root))
        s->out = s->in + own;
}

static void fill(const plan_t *p, int me, const sides_t *s)
{
    uint64_t send = 0, recv = 0, at = 0;
    extents(p, me, &send, &recv);
    if (reduces(p->call.collective)) {
        fill_reduced(p, me, send, s->in);
        return;
    }
    switch (p->call.collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        if (p->call.root == me)
            fill_moved(p, me, 0, send, s->out);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        for (int r = 0; r < p->ranks && p->call.root == me; r++)
            fill_moved(p, me, r, p->counts[r], s->in + p->places[r] * p->size);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        for (int r = 0; r < p->ranks; r++) {
            fill_moved(p, me, r, p->matrix[me][r], s->in + at * p->size);
            at += p->matrix[me][r];
        }
        break;
    default:
        fill_moved(p, me, 0, send, s->in);
        break;
    }
}

static bool right(const plan_t *p, int me, const sides_t *s)
{
    const bool root = p->call.root == me;
    bool all = true;
    uint64_t at = 0;
    switch (p->call.collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        return moved_right(p, p->call.root, 0, p->call.count, s->out);
    case YOKE_COLLECTIVE_REDUCE:
        return !root || reduced_right(p, 0, p->call.count, s->out);
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return reduced_right(p, 0, p->call.count, s->out);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return reduced_right(p, p->places[me], p->counts[me], s->out);
    case YOKE_COLLECTIVE_SCATTER:
        return moved_right(p, p->call.root, me, p->counts[me], s->out);
    case YOKE_COLLECTIVE_GATHER:
        if (!root)
            return true;
        /* fall through */
    case YOKE_COLLECTIVE_ALL_GATHER:
        for (int r = 0; r < p->ranks; r++)
            all = all &&
                  moved_right(p, r, 0, p->counts[r], s->out + p->places[r] * p->size);
        return all;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        for (int r = 0; r < p->ranks; r++) {
            all = all && moved_right(p, r, me, p->matrix[r][me], s->out + at * p->size);
            at += p->matrix[r][me];
        }
        return all;
    default:
        return true;
    }
}

static int complain(const plan_t *p, int me, int number, const char *what)
{
    fprintf(
        stderr,
        "rank %d of %d, call %d: %s: collective %d, %s, %s, count %llu, root %d%s%s\n",
        me, p->ranks, number, what, (int)p->call.collective,
        yoke_element_name(p->call.element), yoke_reduction_name(p->call.reduction),
        (unsigned long long)p->call.count, p->call.root, p->v_form ? ", v" : "",
        p->in_place ? ", in place" : "");
    return 1;
}

/* Arrays of the v-forms; displacements of an all-to-all are left out. */
static void give_counts(const plan_t *p, int me, yoke_shared_call_t *c,
                        uint64_t counts[2][MOST])
{
    if (!p->v_form)
        return;
    if (c->collective == YOKE_COLLECTIVE_ALL_TO_ALL) {
        for (int r = 0; r < p->ranks; r++) {
            counts[0][r] = p->matrix[me][r];
            counts[1][r] = p->matrix[r][me];
        }
        c->send_counts = counts[0];
        c->recv_counts = counts[1];
    } else if (c->collective == YOKE_COLLECTIVE_SCATTER) {
        c->send_counts = p->counts;
        c->send_displacements = p->places;
    } else {
        c->recv_counts = p->counts;
        c->recv_displacements =
            c->collective == YOKE_COLLECTIVE_REDUCE_SCATTER ? NULL : p->places;
    }
}

static int one_call(yoke_shared_t *shared, const plan_t *p, int me, int number)
{
    uint64_t send = 0, recv = 0, counts[2][MOST];
    extents(p, me, &send, &recv);
    sides_t s = {make_buffer(send * p->size, p->shift_send[me]),
                 make_buffer(recv * p->size, p->shift_recv[me]), NULL, NULL};
    place(p, me, &s);
    fill(p, me, &s);
    yoke_shared_call_t call = p->call;
    call.send = send > 0 ? s.in : NULL;
    call.recv = recv > 0 ? s.out : NULL;
    give_counts(p, me, &call, counts);
    const yoke_status_t status = yoke_shared_run(shared, &call, 60000);
    int bad = 0;
    if (status != YOKE_OK)
        bad = complain(p, me, number, yoke_last_error());
    else if (!right(p, me, &s))
        bad = complain(p, me, number, "wrong result");
    else if (!guards_stand(&s.send) || !guards_stand(&s.recv))
        bad = complain(p, me, number, "wrote beyond an end");
    free(s.send.memory);
    free(s.recv.memory);
    return bad;
}

int exercise(yoke_shared_t *shared, int rank, int ranks, uint64_t seed, int calls)
{
    uint64_t random = seed;
    plan_t plan;
    for (int i = 0; i < calls; i++) {
        draw_plan(&random, ranks, &plan);
        if (one_call(shared, &plan, rank, i) != 0)
            return 1;
    }
    return 0;
}
