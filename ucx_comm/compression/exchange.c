/* SPDX-License-Identifier: Apache-2.0 */
/* Entries to their owners, sums, entries of the sums to all. */

#include "base/error.h"
#include "ucx_comm/compression/compressor.h"
#include <stdlib.h>
#include <string.h>

/* sizes[]: bytes to each rank and where they begin; bytes from each and where they begin
 */
static uint64_t *array(const yoke_compressor_t *c, int which)
{
    return c->sizes + (uint64_t)which * c->owners.ranks;
}

static yoke_picker_t picker_of(const yoke_compressor_t *c, const float *values,
                               uint64_t count, uint64_t entries, uint64_t stream)
{
    yoke_picker_t picker = {
        .draws = c->options.method == YOKE_COMPRESS_SAMPLE,
        .seed = c->options.seed ^ (stream * 0x9e3779b97f4a7c15ull),
        .call = c->call,
    };
    if (picker.draws)
        picker.scale = yoke_select_scale(values, count, (double)entries);
    else
        picker.threshold = yoke_select_largest(values, count, entries, c->scratch);
    return picker;
}

static yoke_status_t grow(unsigned char **bytes, size_t *size, uint64_t wanted)
{
    wanted += 1; /* never NULL */
    if (wanted <= *size)
        return YOKE_OK;
    unsigned char *grown = realloc(*bytes, wanted);
    if (grown == NULL)
        return yoke_fail(YOKE_ERR_NO_MEMORY, "compression: no memory for %llu bytes",
                         (unsigned long long)wanted);
    *bytes = grown;
    *size = wanted;
    return YOKE_OK;
}

static bool keeps(const yoke_compressor_t *c)
{
    return (c->options.flags & YOKE_COMPRESS_NO_FEEDBACK) == 0;
}

/* What this rank's own elements need no wire for, so the entries that go to others are
 * what the budget limits. They are spread evenly by the stripes; where they are not,
 * what does not fit is not sent now. */
static yoke_status_t pack_for_owners(yoke_compressor_t *c, uint64_t *out_foreign)
{
    uint32_t ranks = c->owners.ranks;
    uint32_t me = (uint32_t)yoke_comm_rank(c->across);
    uint64_t room = c->sender_entries * (ranks - 1) / ranks + 1;
    yoke_picker_t picker =
        picker_of(c, c->sum, c->count, c->sender_entries, 2 * (uint64_t)me + 1);
    uint64_t *to = array(c, 0);
    uint64_t *begin = array(c, 1);
    uint64_t at = 0;
    *out_foreign = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t owner = (me + i) % ranks;
        uint64_t length = yoke_owner_length(&c->owners, owner);
        uint64_t most = owner == me || length < room ? length : room;
        yoke_status_t status =
            grow(&c->outgoing, &c->outgoing_size,
                 at + yoke_entries_size(length, most, c->owners.halves));
        if (status != YOKE_OK)
            return status;
        uint64_t entries;
        begin[owner] = at;
        to[owner] = yoke_entries_pack(&c->owners, owner, &picker, c->sum, keeps(c), most,
                                      c->outgoing + at, &entries);
        at += to[owner];
        if (owner != me) {
            room -= entries;
            *out_foreign += to[owner];
        }
    }
    return YOKE_OK;
}

static yoke_status_t refuse(int rank)
{
    return yoke_fail(YOKE_ERR_MISMATCH,
                     "compression: what rank %d sent is not a message of this vector: "
                     "compressors of unlike counts or options",
                     rank);
}

static yoke_status_t to_owners(yoke_compressor_t *c)
{
    uint32_t ranks = c->owners.ranks;
    uint64_t *to = array(c, 0), *begin = array(c, 1), *from = array(c, 2),
             *at = array(c, 3);
    yoke_status_t status = yoke_comm_all_to_all(
        c->across, yoke_comm_host(to), yoke_comm_host(from), 1, YOKE_ELEMENT_U64, NULL);
    if (status != YOKE_OK)
        return status;
    uint64_t most = yoke_entries_size(c->own_length, c->own_length, c->owners.halves);
    uint64_t total = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        if (from[i] > most)
            return refuse((int)i);
        at[i] = total;
        total += from[i];
    }
    status = grow(&c->incoming, &c->incoming_size, total);
    if (status == YOKE_OK)
        status = yoke_comm_all_to_all_v(c->across, yoke_comm_host(c->outgoing), to, begin,
                                        yoke_comm_host(c->incoming), from, at,
                                        YOKE_ELEMENT_U8, NULL);
    if (status != YOKE_OK)
        return status;
    for (uint32_t i = 0; i < ranks; i++) { /* in rank order: the same bits every time */
        if (!yoke_entries_check(c->incoming + at[i], from[i], c->own_length,
                                c->owners.halves))
            return refuse((int)i);
        yoke_entries_add(c->incoming + at[i], c->own_length, c->owners.halves, c->own);
    }
    return YOKE_OK;
}

static yoke_status_t from_owners(yoke_compressor_t *c, float *vector, float factor,
                                 uint64_t *out_foreign)
{
    uint32_t ranks = c->owners.ranks;
    uint32_t me = (uint32_t)yoke_comm_rank(c->across);
    yoke_owners_t alone = {.count = c->own_length,
                           .ranks = 1,
                           .halves = c->owners.halves,
                           .stripe = c->own_length > 0 ? (uint32_t)c->own_length : 1};
    yoke_picker_t picker =
        picker_of(c, c->own, c->own_length, c->owner_entries, 2 * (uint64_t)me + 2);
    uint64_t entries;
    uint64_t most = c->owner_entries < c->own_length ? c->owner_entries : c->own_length;
    yoke_status_t status = grow(&c->outgoing, &c->outgoing_size,
                                yoke_entries_size(c->own_length, most, c->owners.halves));
    if (status != YOKE_OK)
        return status;
    uint64_t mine = yoke_entries_pack(&alone, 0, &picker, c->own, keeps(c), most,
                                      c->outgoing, &entries);
    if (!keeps(c))
        memset(c->own, 0, c->own_length * sizeof *c->own);
    uint64_t *from = array(c, 2), *at = array(c, 3);
    status = yoke_comm_all_gather(c->across, yoke_comm_host(&mine), yoke_comm_host(from),
                                  1, YOKE_ELEMENT_U64, NULL);
    uint64_t total = 0;
    for (uint32_t i = 0; status == YOKE_OK && i < ranks; i++) {
        uint64_t length = yoke_owner_length(&c->owners, i);
        if (from[i] > yoke_entries_size(length, length, c->owners.halves))
            return refuse((int)i);
        at[i] = total;
        total += from[i];
    }
    if (status == YOKE_OK)
        status = grow(&c->incoming, &c->incoming_size, total);
    if (status == YOKE_OK)
        status = yoke_comm_all_gather_v(c->across, yoke_comm_host(c->outgoing),
                                        yoke_comm_host(c->incoming), from, at,
                                        YOKE_ELEMENT_U8, NULL);
    if (status != YOKE_OK)
        return status;
    memset(vector, 0, c->count * sizeof *vector);
    for (uint32_t i = 0; i < ranks; i++) {
        if (!yoke_entries_check(c->incoming + at[i], from[i],
                                yoke_owner_length(&c->owners, i), c->owners.halves))
            return refuse((int)i);
        yoke_entries_put(c->incoming + at[i], &c->owners, i, factor, vector);
    }
    *out_foreign = mine * (ranks - 1);
    return YOKE_OK;
}

yoke_status_t yoke_compressor_exchange(yoke_compressor_t *c, float *vector, float factor)
{
    uint64_t to = 0, from = 0;
    yoke_status_t status = pack_for_owners(c, &to);
    if (status == YOKE_OK)
        status = to_owners(c);
    if (status == YOKE_OK)
        status = from_owners(c, vector, factor, &from);
    if (status != YOKE_OK)
        return status;
    if (!keeps(c))
        memset(c->sum, 0, c->count * sizeof *c->sum);
    /* the sizes that were told, and the entries */
    c->statistics.sent_bytes += to + from + 2 * sizeof(uint64_t) * (c->owners.ranks - 1);
    return YOKE_OK;
}
