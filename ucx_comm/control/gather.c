/* SPDX-License-Identifier: Apache-2.0 */
/* All-gathers of small data over the links. */
#include "ucx_comm/control/plane.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define KEPT 4 /* blocks of one rank: it is never more than one all-gather ahead */

void yoke_take_block(yoke_control_t *control, int origin, uint64_t key,
                     const uint8_t *payload, size_t size)
{
    yoke_block_t **last = &control->standings[origin].blocks;
    int count = 0;
    yoke_block_t *block = malloc(sizeof *block + size);
    if (block == NULL) {
        yoke_set_revoked(control, YOKE_ERR_NO_MEMORY, "out of host memory");
        return;
    }
    block->next = NULL;
    block->key = key;
    block->size = size;
    if (size > 0)
        memcpy(block->bytes, payload, size);
    for (; *last != NULL; last = &(*last)->next)
        count++;
    *last = block;
    if (count >= KEPT) { /* of groups that this rank is not in */
        yoke_block_t *first = control->standings[origin].blocks;
        control->standings[origin].blocks = first->next;
        free(first);
    }
}

void yoke_drop_blocks(yoke_control_t *control)
{
    for (int rank = 0; rank < control->size; rank++) {
        yoke_block_t *block = control->standings[rank].blocks;
        while (block != NULL) {
            yoke_block_t *next = block->next;
            free(block);
            block = next;
        }
        control->standings[rank].blocks = NULL;
    }
}

static yoke_block_t **find_block(yoke_control_t *control, int origin, uint64_t key)
{
    yoke_block_t **place = &control->standings[origin].blocks;
    while (*place != NULL && (*place)->key != key)
        place = &(*place)->next;
    return *place != NULL ? place : NULL;
}

/* Ranks of ranks[] whose block is not there; the first one in *out_first. */
static int missing(yoke_control_t *control, const int *ranks, int count, uint64_t key,
                   int *out_first)
{
    int absent = 0;
    for (int i = count - 1; i >= 0; i--)
        if (ranks[i] != control->rank && find_block(control, ranks[i], key) == NULL) {
            absent++;
            *out_first = ranks[i];
        }
    return absent;
}

static int missing_and_gone(yoke_control_t *control, const int *ranks, int count,
                            uint64_t key)
{
    for (int i = 0; i < count; i++)
        if (ranks[i] != control->rank && yoke_is_gone(control, ranks[i]) &&
            find_block(control, ranks[i], key) == NULL)
            return ranks[i];
    return -1;
}

static yoke_status_t take_blocks(yoke_control_t *control, const int *ranks, int count,
                                 uint64_t key, const void *mine, size_t size, void *all)
{
    char who[160];
    for (int i = 0; i < count; i++) {
        uint8_t *to = (uint8_t *)all + (size_t)i * size;
        if (ranks[i] == control->rank) {
            if (size > 0)
                memmove(to, mine, size);
            continue;
        }
        yoke_block_t **place = find_block(control, ranks[i], key);
        yoke_block_t *block = *place;
        *place = block->next;
        bool fits = block->size == size;
        size_t came = block->size;
        if (fits && size > 0)
            memcpy(to, block->bytes, size);
        free(block);
        if (!fits)
            return yoke_fail(YOKE_ERR_MISMATCH,
                             "%s gathers %zu bytes, this rank %zu: the ranks make "
                             "different calls",
                             yoke_rank_text(control, ranks[i], who), came, size);
    }
    return YOKE_OK;
}

static void send_blocks(yoke_control_t *control, const int *ranks, int count,
                        uint64_t key, const void *mine, size_t size)
{
    if (control->size > yoke_mesh_full_limit) {
        yoke_send(control, YOKE_FRAME_GATHER, YOKE_ANY_RANK, key, mine, size);
        return;
    }
    for (int i = 0; i < count; i++)
        if (ranks[i] != control->rank)
            yoke_send(control, YOKE_FRAME_GATHER, (uint32_t)ranks[i], key, mine, size);
}

static yoke_status_t fail_gone(yoke_control_t *control, int rank)
{
    char who[160];
    return yoke_fail(YOKE_ERR_PEER_FAILED, "%s has %s, and is needed",
                     yoke_rank_text(control, rank, who),
                     control->standings[rank].failed ? "failed"
                                                     : "destroyed its communicator");
}

static yoke_status_t fail_expelled(void)
{
    return yoke_fail(YOKE_ERR_PEER_FAILED,
                     "the other ranks have given this one up, because it did not answer; "
                     "start it anew");
}

yoke_status_t yoke_gather_among(yoke_control_t *control, const int *ranks, int count,
                                uint64_t key, const void *mine, size_t size, void *all,
                                int64_t deadline)
{
    char who[160];
    int first = -1, absent;
    send_blocks(control, ranks, count, key, mine, size);
    while ((absent = missing(control, ranks, count, key, &first)) > 0) {
        int gone = missing_and_gone(control, ranks, count, key);
        if (control->expelled)
            return fail_expelled();
        if (gone >= 0)
            return fail_gone(control, gone);
        if (!yoke_wait_changed(control, deadline))
            return yoke_fail(YOKE_ERR_TIMEOUT, "%s (and %d more) did not come in time",
                             yoke_rank_text(control, first, who), absent - 1);
    }
    return take_blocks(control, ranks, count, key, mine, size, all);
}

/* --- of all ranks of a plane that runs -------------------------------------------- */

static yoke_status_t gather_all(yoke_control_t *control, const int *ranks,
                                const void *mine, size_t size, void *all,
                                int64_t deadline, int *out_late)
{
    uint64_t key = ++control->gathers;
    send_blocks(control, ranks, control->size, key, mine, size);
    while (missing(control, ranks, control->size, key, out_late) > 0) {
        int gone = missing_and_gone(control, ranks, control->size, key);
        if (atomic_load(&control->state) != YOKE_CONTROL_RUNNING)
            return yoke_fail_reason(control);
        if (gone >= 0) {
            *out_late =
                gone; /* it took its leave: only now that it is needed it failed */
            return YOKE_ERR_TIMEOUT;
        }
        if (!yoke_wait_changed(control, deadline))
            return YOKE_ERR_TIMEOUT;
    }
    *out_late = -1;
    return take_blocks(control, ranks, control->size, key, mine, size, all);
}

yoke_status_t yoke_control_all_gather(yoke_control_t *control, const void *mine,
                                      size_t size, void *all, uint32_t timeout_ms)
{
    int late = -1;
    if (size > YOKE_FRAME_LIMIT)
        return yoke_fail(YOKE_ERR_USAGE,
                         "an all-gather of the control plane carries at most %u bytes of "
                         "each rank, not %zu",
                         YOKE_FRAME_LIMIT, size);
    int *ranks = malloc((size_t)control->size * sizeof *ranks);
    if (ranks == NULL)
        return yoke_fail_memory();
    for (int i = 0; i < control->size; i++)
        ranks[i] = i;
    uint32_t allowed = timeout_ms != 0 ? timeout_ms : control->settings.timeout_ms;
    pthread_mutex_lock(&control->lock);
    yoke_status_t status = yoke_fail_reason(control);
    if (status == YOKE_OK)
        status =
            gather_all(control, ranks, mine, size, all, yoke_clock_ms() + allowed, &late);
    pthread_mutex_unlock(&control->lock);
    free(ranks);
    if (status == YOKE_ERR_TIMEOUT && late >= 0) {
        if (atomic_load(&control->state) == YOKE_CONTROL_RUNNING)
            (void)yoke_control_suspect(control, late,
                                       "an all-gather of the control plane");
        return yoke_control_reason(control);
    }
    if (status == YOKE_ERR_MISMATCH)
        yoke_control_revoke(control, status, yoke_last_error());
    return status;
}
