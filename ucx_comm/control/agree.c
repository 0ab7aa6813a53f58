/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement of the survivors on one set of failed ranks and the "and" of their flags.
 *
 * The lowest rank that is not known to have failed is the coordinator. Every rank sends
 * it a vote: its flags, and the ranks that it knows to have failed, which the coordinator
 * then takes for failed too. Once it has the votes of all others it decides, and tells
 * all.
 *
 * When the coordinator fails, every rank turns to the next one. A rank that has heard a
 * decision sends that along first, and the new coordinator, which decides only when it
 * has heard from every survivor, repeats it instead of making its own: so a decision that
 * one survivor has seen is the decision of all. What comes from a rank that has failed is
 * dropped (watch.c), so that a coordinator that was given up wrongly decides nothing.
 *
 * A survivor is at most one agreement ahead of another: the next one needs its vote. So
 * the last decision is all that is kept.
 */
#include "ucx_comm/control/plane.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define BITMAP_LIMIT (YOKE_RANKS_LIMIT / 8) /* bytes */

static size_t bitmap_size(const yoke_control_t *control)
{
    return ((size_t)control->size + 7) / 8;
}

static bool has_bit(const uint8_t *bits, int rank)
{
    return (bits[rank / 8] >> (rank % 8) & 1) != 0;
}

static void gone_bits(const yoke_control_t *control, uint8_t *bits)
{
    memset(bits, 0, bitmap_size(control));
    for (int rank = 0; rank < control->size; rank++)
        if (yoke_is_gone(control, rank))
            bits[rank / 8] |= (uint8_t)(1u << (rank % 8));
}

static void send_ballot(yoke_control_t *control, yoke_frame_type_t type, uint32_t target,
                        uint64_t number, uint32_t flags, const uint8_t *bits)
{
    uint8_t payload[4 + BITMAP_LIMIT];
    yoke_put_u32(payload, flags);
    memcpy(payload + 4, bits, bitmap_size(control));
    yoke_send(control, type, target, number, payload, 4 + bitmap_size(control));
}

static int coordinator_of(const yoke_control_t *control)
{
    int rank = 0;
    while (rank != control->rank && yoke_is_gone(control, rank))
        rank++;
    return rank;
}

/* Take the ranks of another's set for failed: one of them that lives is told so. */
static void adopt_failed(yoke_control_t *control, const uint8_t *bits, const char *by)
{
    char who[160], text[YOKE_WIRE_TEXT];
    for (int rank = 0; rank < control->size; rank++) {
        if (!has_bit(bits, rank))
            continue;
        if (rank == control->rank) {
            control->expelled = true;
            yoke_set_revoked(control, YOKE_ERR_PEER_FAILED,
                             "the other ranks have given this one up");
            continue;
        }
        yoke_snprintf(text, sizeof text, "%s has failed, as found by %s",
                      yoke_rank_text(control, rank, who), by);
        yoke_set_failed(control, rank, true, text);
    }
}

static void adopt_decision(yoke_control_t *control, uint64_t number, uint32_t flags,
                           const uint8_t *bits)
{
    yoke_agreement_t *agreement = &control->agreement;
    memcpy(agreement->decided, bits, bitmap_size(control));
    agreement->decided_number = number;
    agreement->decided_flags = flags;
    agreement->told_decision = coordinator_of(control);
    adopt_failed(control, bits, "the agreement");
    agreement->voting = false;
    for (int rank = 0; rank < control->size; rank++)
        control->standings[rank].shown = has_bit(bits, rank);
    pthread_cond_broadcast(&control->changed);
}

/* --- what comes ------------------------------------------------------------------- */

void yoke_take_vote(yoke_control_t *control, int origin, uint64_t number,
                    const uint8_t *payload, size_t size)
{
    char who[160];
    yoke_agreement_t *agreement = &control->agreement;
    yoke_standing_t *standing = &control->standings[origin];
    if (size != 4 + bitmap_size(control))
        return;
    if (agreement->decided_number >= number && number > 0) {
        /* It missed the decision, because the coordinator of then has failed since. */
        send_ballot(control, YOKE_FRAME_DECIDE, (uint32_t)origin,
                    agreement->decided_number, agreement->decided_flags,
                    agreement->decided);
        return;
    }
    standing->vote_number = number;
    standing->vote_flags = yoke_get_u32(payload);
    adopt_failed(control, payload + 4, yoke_rank_text(control, origin, who));
}

void yoke_take_decision(yoke_control_t *control, uint64_t number, const uint8_t *payload,
                        size_t size)
{
    yoke_agreement_t *agreement = &control->agreement;
    if (size != 4 + bitmap_size(control) || !agreement->voting ||
        number != agreement->number)
        return;
    adopt_decision(control, number, yoke_get_u32(payload), payload + 4);
    /* From the one before the coordinator that this rank is now: all need it. */
    if (coordinator_of(control) == control->rank)
        send_ballot(control, YOKE_FRAME_DECIDE, YOKE_ANY_RANK, number,
                    agreement->decided_flags, agreement->decided);
}

/* --- steps ------------------------------------------------------------------------ */

/* What this rank knows goes to a coordinator that is new: a decision before the vote. */
static void tell(yoke_control_t *control, int coordinator)
{
    uint8_t bits[BITMAP_LIMIT];
    yoke_agreement_t *agreement = &control->agreement;
    if (agreement->decided_number > 0 && agreement->told_decision != coordinator) {
        agreement->told_decision = coordinator;
        if (coordinator != control->rank)
            send_ballot(control, YOKE_FRAME_DECIDE, (uint32_t)coordinator,
                        agreement->decided_number, agreement->decided_flags,
                        agreement->decided);
    }
    if (agreement->voting && agreement->told != coordinator) {
        agreement->told = coordinator;
        gone_bits(control, bits);
        if (coordinator != control->rank)
            send_ballot(control, YOKE_FRAME_VOTE, (uint32_t)coordinator,
                        agreement->number, agreement->flags, bits);
    }
}

static bool all_voted(const yoke_control_t *control)
{
    for (int rank = 0; rank < control->size; rank++)
        if (rank != control->rank && !yoke_is_gone(control, rank) &&
            control->standings[rank].vote_number != control->agreement.number)
            return false;
    return true;
}

static void decide(yoke_control_t *control)
{
    uint8_t bits[BITMAP_LIMIT];
    yoke_agreement_t *agreement = &control->agreement;
    uint32_t flags = agreement->flags;
    for (int rank = 0; rank < control->size; rank++)
        if (rank != control->rank && !yoke_is_gone(control, rank))
            flags &= control->standings[rank].vote_flags;
    gone_bits(control, bits);
    send_ballot(control, YOKE_FRAME_DECIDE, YOKE_ANY_RANK, agreement->number, flags,
                bits);
    adopt_decision(control, agreement->number, flags, bits);
}

void yoke_agree_step(yoke_control_t *control)
{
    yoke_agreement_t *agreement = &control->agreement;
    if (control->expelled || (agreement->number == 0 && !agreement->voting))
        return;
    int coordinator = coordinator_of(control);
    tell(control, coordinator);
    if (agreement->voting && coordinator == control->rank && all_voted(control))
        decide(control);
}

/* --- the call --------------------------------------------------------------------- */

static yoke_status_t fail_late(yoke_control_t *control)
{
    char who[160];
    int coordinator = coordinator_of(control), late = coordinator;
    if (coordinator == control->rank)
        for (int rank = control->size - 1; rank >= 0; rank--)
            if (rank != control->rank && !yoke_is_gone(control, rank) &&
                control->standings[rank].vote_number != control->agreement.number)
                late = rank;
    return yoke_fail(YOKE_ERR_TIMEOUT,
                     "the survivors do not agree in time: %s %s; all of them must call "
                     "yoke_comm_agree()",
                     yoke_rank_text(control, late, who),
                     coordinator == control->rank ? "has not voted"
                                                  : "has not told what was decided");
}

/* A call after one that timed out goes on with that one. */
static void vote(yoke_control_t *control, uint32_t flags)
{
    yoke_agreement_t *agreement = &control->agreement;
    if (agreement->voting) {
        agreement->flags &= flags;
        return;
    }
    agreement->number++;
    agreement->flags = flags;
    agreement->told = -1;
    agreement->voting = true;
}

yoke_status_t yoke_control_agree(yoke_control_t *control, uint32_t *flags,
                                 uint32_t timeout_ms)
{
    yoke_agreement_t *agreement = &control->agreement;
    uint32_t allowed = timeout_ms != 0 ? timeout_ms : control->settings.timeout_ms;
    int64_t deadline = yoke_clock_ms() + allowed;
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&control->lock);
    vote(control, *flags);
    yoke_agree_step(control);
    while (agreement->voting && !control->expelled && status == YOKE_OK)
        if (!yoke_wait_changed(control, deadline))
            status = fail_late(control);
    if (control->expelled)
        status = yoke_fail(YOKE_ERR_PEER_FAILED,
                           "the other ranks have given this one up, because it did not "
                           "answer; start it anew");
    if (status == YOKE_OK)
        *flags = agreement->decided_flags;
    pthread_mutex_unlock(&control->lock);
    return status;
}
