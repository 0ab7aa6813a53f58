/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose data fit into a slot: every rank writes its part, and reads the others'. */
#include <string.h>

#include "ucx_comm/collectives/shared/parts.h"

uint64_t yoke_shared_count_of(const uint64_t *counts, uint64_t count, int rank)
{
    return counts != NULL ? counts[rank] : count;
}

uint64_t yoke_shared_start_of(const uint64_t *counts, const uint64_t *displacements,
                              uint64_t count, int rank)
{
    if (displacements != NULL)
        return displacements[rank];
    if (counts == NULL)
        return count * (uint64_t)rank;
    uint64_t start = 0;
    for (int r = 0; r < rank; r++)
        start += counts[r];
    return start;
}

static uint64_t total_of(const yoke_shared_t *s, const uint64_t *counts)
{
    return yoke_shared_start_of(counts, NULL, s->call.count, s->ranks);
}

static uint64_t largest_of(const yoke_shared_t *s, const uint64_t *counts)
{
    uint64_t most = s->call.count;
    for (int r = 0; counts != NULL && r < s->ranks; r++)
        most = r == 0 || counts[r] > most ? counts[r] : most;
    return most;
}

bool yoke_shared_fits_inline(const yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    uint64_t count = c->count;
    switch (c->collective) {
    case YOKE_COLLECTIVE_BARRIER:
        return true;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        count = total_of(s, c->recv_counts);
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
    case YOKE_COLLECTIVE_GATHER:
        count = largest_of(s, c->recv_counts);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        count = total_of(s, c->send_counts);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        if (c->send_counts != NULL) /* a rank knows its own counts only */
            return false;
        count = total_of(s, NULL);
        break;
    default:
        break;
    }
    return count <= SLOT_DATA / s->size;
}

uint64_t yoke_shared_inline_needs(const yoke_shared_t *s)
{
    const uint64_t all =
        ((s->ranks < 64 ? (uint64_t)1 << s->ranks : 0) - 1) & ~((uint64_t)1 << s->me);
    const bool is_root = s->call.root == s->me;
    switch (s->call.collective) {
    case YOKE_COLLECTIVE_BROADCAST:
    case YOKE_COLLECTIVE_SCATTER:
        return is_root ? 0 : (uint64_t)1 << s->call.root;
    case YOKE_COLLECTIVE_REDUCE:
    case YOKE_COLLECTIVE_GATHER:
        return is_root ? all : 0;
    default:
        return all;
    }
}

/* --- writing ------------------------------------------------------------------------ */

void yoke_shared_inline_write(yoke_shared_t *s, slot_t *slot)
{
    const yoke_shared_call_t *c = &s->call;
    const bool is_root = c->root == s->me;
    const unsigned char *from = c->send;
    uint64_t count = c->count;
    switch (c->collective) {
    case YOKE_COLLECTIVE_BARRIER:
        return;
    case YOKE_COLLECTIVE_BROADCAST:
        from = c->recv;
        count = is_root ? count : 0;
        break;
    case YOKE_COLLECTIVE_REDUCE:
        count = is_root ? 0 : count;
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        count = total_of(s, c->recv_counts);
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        count = yoke_shared_count_of(c->recv_counts, count, s->me);
        break;
    case YOKE_COLLECTIVE_GATHER:
        count = is_root ? 0 : yoke_shared_count_of(c->recv_counts, count, s->me);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        count = total_of(s, NULL);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        if (!is_root)
            return;
        /* in the order of ranks, whatever the displacements */
        for (int r = 0; r < s->ranks; r++) {
            const uint64_t at = yoke_shared_start_of(c->send_counts, NULL, c->count, r);
            const uint64_t n = yoke_shared_count_of(c->send_counts, c->count, r);
            const uint64_t place =
                yoke_shared_start_of(c->send_counts, c->send_displacements, c->count, r);
            if (n > 0)
                memcpy(slot->data + at * s->size, from + place * s->size, n * s->size);
        }
        return;
    default:
        break;
    }
    if (count > 0)
        memcpy(slot->data, from, count * s->size);
}

/* --- reading ------------------------------------------------------------------------ */

static void read_reduced(yoke_shared_t *s, uint64_t at, uint64_t count)
{
    const void *sources[YOKE_SHARED_RANKS];
    if (count == 0)
        return;
    for (int r = 0; r < s->ranks; r++)
        sources[r] = slot_of(s, r, s->sequence)->data + at * s->size;
    sources[s->me] = (const unsigned char *)s->call.send + at * s->size;
    yoke_reduce_many(s->call.recv, sources, (unsigned)s->ranks, count, s->call.element,
                     s->call.reduction, (unsigned)s->ranks);
}

/* Blocks of all ranks to their places in recv; block of rank r at `offset` of its slot.
 */
static void read_blocks(yoke_shared_t *s, uint64_t offset)
{
    const yoke_shared_call_t *c = &s->call;
    for (int r = 0; r < s->ranks; r++) {
        const uint64_t n = yoke_shared_count_of(c->recv_counts, c->count, r);
        const uint64_t place =
            yoke_shared_start_of(c->recv_counts, c->recv_displacements, c->count, r);
        const unsigned char *from = r == s->me ? (const unsigned char *)c->send
                                               : slot_of(s, r, s->sequence)->data;
        if (n > 0)
            yoke_shared_copy((unsigned char *)c->recv + place * s->size,
                             from + offset * s->size, n * s->size, false);
    }
}

static void read_scattered(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    const bool is_root = c->root == s->me;
    const uint64_t n = yoke_shared_count_of(c->send_counts, c->count, s->me);
    const uint64_t at = yoke_shared_start_of(
        c->send_counts, is_root ? c->send_displacements : NULL, c->count, s->me);
    const unsigned char *from =
        is_root ? (const unsigned char *)c->send : slot_of(s, c->root, s->sequence)->data;
    if (n > 0)
        yoke_shared_copy(c->recv, from + at * s->size, n * s->size, false);
}

void yoke_shared_inline_read(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    const bool is_root = c->root == s->me;
    switch (c->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        if (!is_root && c->count > 0)
            memcpy(c->recv, slot_of(s, c->root, s->sequence)->data, c->count * s->size);
        break;
    case YOKE_COLLECTIVE_REDUCE:
        if (is_root)
            read_reduced(s, 0, c->count);
        break;
    case YOKE_COLLECTIVE_ALL_REDUCE:
        read_reduced(s, 0, c->count);
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        read_reduced(s, yoke_shared_start_of(c->recv_counts, NULL, c->count, s->me),
                     yoke_shared_count_of(c->recv_counts, c->count, s->me));
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        read_blocks(s, 0);
        break;
    case YOKE_COLLECTIVE_GATHER:
        if (is_root)
            read_blocks(s, 0);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        read_scattered(s);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        read_blocks(s, c->count * (uint64_t)s->me);
        break;
    default:
        break;
    }
}
