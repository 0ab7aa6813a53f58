/* SPDX-License-Identifier: Apache-2.0 */
/* Who lives, who failed, and why the communicator is revoked. */
#include "ucx_comm/control/plane.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"

#define SUSPECT_MS 70 /* how long a suspect may take to answer */

char *yoke_rank_text(const yoke_control_t *control, int rank, char buffer[160])
{
    const yoke_peer_t *peer = &control->peers[rank];
    yoke_snprintf(buffer, 160, "rank %d (host %s, process %d)", rank, peer->host,
                  peer->pid);
    return buffer;
}

bool yoke_wait_changed(yoke_control_t *control, int64_t deadline)
{
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000),
                             .tv_nsec = (long)(deadline % 1000) * 1000000};
    if (yoke_clock_ms() >= deadline)
        return false;
    (void)pthread_cond_timedwait(&control->changed, &control->lock, &until);
    return true;
}

/* --- state; with the lock held ---------------------------------------------------- */

void yoke_set_revoked(yoke_control_t *control, yoke_status_t status, const char *text)
{
    if (atomic_load(&control->state) != YOKE_CONTROL_RUNNING)
        return;
    control->reason = status;
    yoke_snprintf(control->reason_text, sizeof control->reason_text, "%s", text);
    atomic_store(&control->state, YOKE_CONTROL_REVOKED);
    pthread_cond_broadcast(&control->changed);
}

void yoke_set_failed(yoke_control_t *control, int rank, bool announce, const char *text)
{
    yoke_standing_t *standing = &control->standings[rank];
    yoke_notice_t notice = {.value = (uint32_t)rank};
    uint8_t bytes[YOKE_NOTICE_SIZE];
    if (standing->failed)
        return;
    standing->failed = true;
    /* From the first agreement on, what is shown is what was agreed. */
    standing->shown = standing->shown || control->agreement.number == 0;
    /* A rank that the others gave up sees them all go; that is not their failure. */
    if (announce && !control->expelled) {
        yoke_snprintf(notice.text, sizeof notice.text, "%s", text);
        yoke_notice_write(&notice, bytes);
        yoke_send(control, YOKE_FRAME_FAILED, YOKE_ANY_RANK, 0, bytes, sizeof bytes);
    }
    control->links[rank].closing = true;
    yoke_set_revoked(control, YOKE_ERR_PEER_FAILED, text);
    pthread_cond_broadcast(&control->changed);
}

void yoke_set_departed(yoke_control_t *control, int rank)
{
    control->standings[rank].departed = true;
    pthread_cond_broadcast(&control->changed);
}

void yoke_take_revoke(yoke_control_t *control, const uint8_t *payload, size_t size)
{
    yoke_notice_t notice;
    if (!yoke_notice_read(payload, size, &notice))
        return;
    bool known = yoke_status_known(notice.value) && notice.value != YOKE_OK;
    yoke_set_revoked(control, known ? (yoke_status_t)notice.value : YOKE_ERR_REVOKED,
                     notice.text);
}

bool yoke_take_failed(yoke_control_t *control, const uint8_t *payload, size_t size)
{
    yoke_notice_t notice;
    if (!yoke_notice_read(payload, size, &notice) ||
        notice.value >= (uint32_t)control->size)
        return false;
    int rank = (int)notice.value;
    if (rank == control->rank) {
        char text[YOKE_WIRE_TEXT + 64];
        control->expelled = true;
        yoke_snprintf(text, sizeof text, "the other ranks gave this one up: %s",
                      notice.text);
        yoke_set_revoked(control, YOKE_ERR_PEER_FAILED, text);
        return false;
    }
    bool news = !control->standings[rank].failed;
    yoke_set_failed(control, rank, false, notice.text);
    return news;
}

yoke_status_t yoke_fail_reason(yoke_control_t *control)
{
    yoke_status_t status = control->reason;
    if (atomic_load(&control->state) == YOKE_CONTROL_RUNNING)
        return YOKE_OK;
    bool quiet = control->reason_told; /* logged once */
    control->reason_told = true;
    if (quiet)
        yoke_fail_quiet(true);
    (void)yoke_fail(status, "%s", control->reason_text);
    if (quiet)
        yoke_fail_quiet(false);
    return status;
}

/* --- public ----------------------------------------------------------------------- */

const _Atomic uint32_t *yoke_control_state(const yoke_control_t *control)
{
    return &control->state;
}

yoke_status_t yoke_control_reason(yoke_control_t *control)
{
    pthread_mutex_lock(&control->lock);
    yoke_status_t status = yoke_fail_reason(control);
    pthread_mutex_unlock(&control->lock);
    return status;
}

static void revoke(yoke_control_t *control, yoke_status_t status, const char *text)
{
    yoke_notice_t notice = {.value = (uint32_t)status};
    uint8_t bytes[YOKE_NOTICE_SIZE];
    if (atomic_load(&control->state) != YOKE_CONTROL_RUNNING)
        return;
    yoke_set_revoked(control, status, text);
    memcpy(notice.text, control->reason_text, sizeof notice.text);
    yoke_notice_write(&notice, bytes);
    yoke_send(control, YOKE_FRAME_REVOKE, YOKE_ANY_RANK, 0, bytes, sizeof bytes);
}

void yoke_control_revoke(yoke_control_t *control, yoke_status_t status, const char *text)
{
    char who[160], whole[YOKE_WIRE_TEXT];
    pthread_mutex_lock(&control->lock);
    yoke_snprintf(whole, sizeof whole, "%s: %s",
                  yoke_rank_text(control, control->rank, who),
                  text != NULL && text[0] != '\0' ? text : "revoked");
    revoke(control, status == YOKE_OK ? YOKE_ERR_REVOKED : status, whole);
    pthread_mutex_unlock(&control->lock);
}

int yoke_control_failed(yoke_control_t *control, int *ranks, int capacity)
{
    int count = 0;
    pthread_mutex_lock(&control->lock);
    for (int rank = 0; rank < control->size; rank++) {
        if (!control->standings[rank].shown)
            continue;
        if (count < capacity)
            ranks[count] = rank;
        count++;
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

bool yoke_control_departed(yoke_control_t *control, int rank)
{
    pthread_mutex_lock(&control->lock);
    bool gone = yoke_is_gone(control, rank);
    pthread_mutex_unlock(&control->lock);
    return gone;
}

/* --- suspicion -------------------------------------------------------------------- */

/* All are asked, not only the one that was waited for: it may itself be waiting for the
 * one that is stuck. */
static void ask_all(yoke_control_t *control)
{
    for (int rank = 0; rank < control->size; rank++) {
        if (rank == control->rank || yoke_is_gone(control, rank))
            continue;
        if (control->links[rank].fd >= 0)
            yoke_send_direct(control, rank, YOKE_FRAME_PING);
        else
            yoke_send(control, YOKE_FRAME_PING, (uint32_t)rank, 0, NULL, 0);
    }
}

static bool all_answered(const yoke_control_t *control, int64_t since)
{
    for (int rank = 0; rank < control->size; rank++)
        if (rank != control->rank && !yoke_is_gone(control, rank) &&
            control->standings[rank].heard < since)
            return false;
    return true;
}

/* The rank that was waited for is given up when it does not answer; others only where
 * they have been silent for some beats as well. */
static bool give_up_silent(yoke_control_t *control, int waited_for, int64_t since,
                           const char *what)
{
    char who[160], text[YOKE_WIRE_TEXT];
    bool any = false;
    for (int rank = 0; rank < control->size; rank++) {
        const yoke_standing_t *standing = &control->standings[rank];
        int64_t allowed = rank == waited_for ? 0 : 3 * control->beat_ms;
        if (rank == control->rank || yoke_is_gone(control, rank) ||
            standing->heard >= since - allowed)
            continue;
        if (control->links[rank].fd < 0 && rank != waited_for)
            continue; /* no beats come from there */
        yoke_snprintf(text, sizeof text, "%s does not answer (%s)",
                      yoke_rank_text(control, rank, who), what);
        yoke_set_failed(control, rank, true, text);
        any = true;
    }
    return any;
}

bool yoke_control_suspect(yoke_control_t *control, int rank, const char *what)
{
    char who[160], mine[160], text[YOKE_WIRE_TEXT];
    pthread_mutex_lock(&control->lock);
    bool failed = yoke_is_gone(control, rank);
    if (control->standings[rank].departed && !control->standings[rank].failed) {
        yoke_snprintf(text, sizeof text,
                      "%s has destroyed its communicator, and is waited for (%s)",
                      yoke_rank_text(control, rank, who), what);
        yoke_set_failed(control, rank, true, text);
    }
    if (!failed && rank != control->rank) {
        int64_t since = yoke_clock_ms(), deadline = since + SUSPECT_MS;
        ask_all(control);
        while (!all_answered(control, since) && !yoke_is_gone(control, rank) &&
               yoke_wait_changed(control, deadline))
            continue;
        failed =
            give_up_silent(control, rank, since, what) || yoke_is_gone(control, rank);
    }
    if (!failed) {
        yoke_snprintf(text, sizeof text, "%s waited too long for %s, which lives (%s)",
                      yoke_rank_text(control, control->rank, mine),
                      yoke_rank_text(control, rank, who), what);
        revoke(control, YOKE_ERR_TIMEOUT, text);
    }
    pthread_mutex_unlock(&control->lock);
    return failed;
}
