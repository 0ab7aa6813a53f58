/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what is for this rank from the memory of the rank that has it. Only reading: a
 * rank that comes late can spoil nothing but what it reads itself.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"
#include "ucx_comm/collectives/shared/parts.h"

void yoke_shared_offer(const yoke_shared_t *s, slot_t *slot)
{
    for (int r = 0; r < s->ranks; r++) {
        const offer_t offer = {(uint64_t)(uintptr_t)s->out[r].from, s->out[r].size};
        memcpy(slot->data + (size_t)r * sizeof offer, &offer, sizeof offer);
    }
}

static offer_t offer_of(const yoke_shared_t *s, int rank)
{
    offer_t offer;
    memcpy(&offer, slot_of(s, rank, s->sequence)->data + (size_t)s->me * sizeof offer,
           sizeof offer);
    return offer;
}

bool yoke_shared_offer_fits(const yoke_shared_t *s, int rank)
{
    return offer_of(s, rank).size == s->in[rank].size;
}

yoke_status_t yoke_shared_pull(yoke_shared_t *s, int from)
{
    lane_t *lane = &s->in[from];
    const yoke_status_t status = yoke_shared_meet(s, from);
    if (status != YOKE_OK)
        return status;
    const uint64_t left = lane->size - lane->done;
    const uint64_t n = left < PULL_PIECE ? left : PULL_PIECE;
    const struct iovec to = {lane->to + lane->done, n};
    const struct iovec at = {(void *)(uintptr_t)(offer_of(s, from).address + lane->done),
                             n};
    const ssize_t got = process_vm_readv(s->pids[from], &to, 1, &at, 1, 0);
    if (got <= 0)
        return yoke_fail(YOKE_ERR_PEER_FAILED,
                         "cannot read the memory of rank %d (process %d): %s",
                         s->numbers[from], s->pids[from],
                         got < 0 ? strerror(errno) : "nothing is there");
    lane->done += (uint64_t)got;
    if (lane->done < lane->size)
        return YOKE_OK;
    lane->chunks = 0;
    s->open--;
    return YOKE_OK;
}

yoke_status_t yoke_shared_pulled(yoke_shared_t *s)
{
    counter_t *mine = pulled_of(s, s->me);
    if (atomic_load_explicit(&mine->value, memory_order_relaxed) != s->sequence) {
        atomic_store_explicit(&mine->value, s->sequence, memory_order_release);
        wake(s, -1);
    }
    while (s->pullers != 0) {
        const counter_t *theirs = pulled_of(s, __builtin_ctzll(s->pullers));
        if (atomic_load_explicit(&theirs->value, memory_order_acquire) < s->sequence)
            return YOKE_ERR_NOT_READY;
        s->pullers &= s->pullers - 1;
    }
    return YOKE_OK;
}
