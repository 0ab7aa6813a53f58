/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a control plane: sleeps in poll() until a frame comes, a connection or a
 * process ends, or a heartbeat is due. And sending, which either thread does. */
#include "ucx_comm/control/plane.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

#define OUT_LIMIT ((size_t)256 << 20) /* what may wait for one rank */

/* --- sending ---------------------------------------------------------------------- */

static bool room_for(yoke_mesh_link_t *link, size_t size)
{
    if (link->out_done > 0 && link->out_done == link->out_used)
        link->out_done = link->out_used = 0;
    if (link->out_used + size <= link->out_capacity)
        return true;
    size_t wanted = link->out_used + size;
    if (wanted > OUT_LIMIT)
        return false;
    size_t capacity = wanted * 2;
    uint8_t *bigger = realloc(link->out, capacity);
    if (bigger == NULL)
        return false;
    link->out = bigger;
    link->out_capacity = capacity;
    return true;
}

/* Errors are left to the watcher, which hears of them by poll(). */
static void flush(yoke_mesh_link_t *link)
{
    while (link->fd >= 0 && !link->shut && link->out_done < link->out_used) {
        ssize_t sent = send(link->fd, link->out + link->out_done,
                            link->out_used - link->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return;
        link->out_done += (size_t)sent;
    }
}

static void wake(yoke_control_t *control)
{
    uint64_t one = 1;
    while (write(control->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void yoke_link_put(yoke_control_t *control, yoke_mesh_link_t *link,
                   const yoke_frame_t *frame, const void *payload)
{
    if (link->fd < 0 || link->closing || link->muted ||
        !room_for(link, YOKE_FRAME_HEADER + frame->size))
        return;
    yoke_frame_write(frame, link->out + link->out_used);
    if (frame->size > 0)
        memcpy(link->out + link->out_used + YOKE_FRAME_HEADER, payload, frame->size);
    link->out_used += YOKE_FRAME_HEADER + frame->size;
    flush(link);
    if (link->out_done < link->out_used)
        wake(control);
}

void yoke_send_direct(yoke_control_t *control, int rank, yoke_frame_type_t type)
{
    yoke_frame_t frame = {
        .type = type, .origin = (uint32_t)control->rank, .target = (uint32_t)rank};
    yoke_link_put(control, &control->links[rank], &frame, NULL);
}

void yoke_send(yoke_control_t *control, yoke_frame_type_t type, uint32_t target,
               uint64_t key, const void *payload, size_t size)
{
    yoke_frame_t frame = {.type = type,
                          .size = (uint32_t)size,
                          .origin = (uint32_t)control->rank,
                          .target = target,
                          .sequence = ++control->sequence,
                          .key = key};
    if (target != YOKE_ANY_RANK &&
        yoke_mesh_linked(control->size, control->rank, (int)target)) {
        yoke_link_put(control, &control->links[target], &frame, payload);
        return;
    }
    for (int rank = 0; rank < control->size; rank++)
        yoke_link_put(control, &control->links[rank], &frame, payload);
}

/* --- what comes ------------------------------------------------------------------- */

/* True the first time that a frame of this number is seen. Numbers of one origin may come
 * out of order by different ways, but not by 64 of them. */
static bool first_time(yoke_standing_t *origin, uint32_t sequence)
{
    if (sequence > origin->seen_top) {
        uint32_t ahead = sequence - origin->seen_top;
        origin->seen = ahead >= 64 ? 0 : origin->seen << ahead;
        origin->seen |= 1;
        origin->seen_top = sequence;
        return true;
    }
    uint32_t behind = origin->seen_top - sequence;
    if (behind >= 64 || (origin->seen >> behind & 1) != 0)
        return false;
    origin->seen |= (uint64_t)1 << behind;
    return true;
}

static void pass_on(yoke_control_t *control, int from, const yoke_frame_t *frame,
                    const uint8_t *payload)
{
    for (int rank = 0; rank < control->size; rank++)
        if (rank != from && rank != (int)frame->origin)
            yoke_link_put(control, &control->links[rank], frame, payload);
}

/* Returns whether others may need it. */
static bool dispatch(yoke_control_t *control, const yoke_frame_t *frame,
                     const uint8_t *payload)
{
    int origin = (int)frame->origin;
    bool flooded = control->size > yoke_mesh_full_limit;
    switch ((yoke_frame_type_t)frame->type) {
    case YOKE_FRAME_PING:
        if (flooded && frame->sequence != 0)
            yoke_send(control, YOKE_FRAME_PONG, frame->origin, 0, NULL, 0);
        else
            yoke_send_direct(control, origin, YOKE_FRAME_PONG);
        break;
    case YOKE_FRAME_GATHER:
        yoke_take_block(control, origin, frame->key, payload, frame->size);
        break;
    case YOKE_FRAME_REVOKE:
        if (atomic_load(&control->state) != YOKE_CONTROL_RUNNING)
            return flooded;
        yoke_take_revoke(control, payload, frame->size);
        return true;
    case YOKE_FRAME_FAILED:
        return yoke_take_failed(control, payload, frame->size) || flooded;
    case YOKE_FRAME_GOODBYE:
        yoke_set_departed(control, origin);
        break;
    case YOKE_FRAME_VOTE:
        yoke_take_vote(control, origin, frame->key, payload, frame->size);
        break;
    case YOKE_FRAME_DECIDE:
        yoke_take_decision(control, frame->key, payload, frame->size);
        break;
    case YOKE_FRAME_BEAT:
    case YOKE_FRAME_PONG:
    case YOKE_FRAME_TYPES:
        break;
    }
    return flooded;
}

static void take_frame(yoke_control_t *control, int from, const yoke_frame_t *frame,
                       const uint8_t *payload)
{
    yoke_standing_t *origin = &control->standings[frame->origin];
    if ((int)frame->origin == control->rank)
        return; /* our own, come round */
    if (frame->sequence != 0 && !first_time(origin, frame->sequence))
        return;
    origin->heard = yoke_clock_ms();
    if (origin->failed)
        return;
    bool ours = frame->target == YOKE_ANY_RANK || (int)frame->target == control->rank;
    bool onward = ours ? dispatch(control, frame, payload) : true;
    if (onward && frame->sequence != 0 && (int)frame->target != control->rank)
        pass_on(control, from, frame, payload);
}

static void link_failed(yoke_control_t *control, int rank, const char *what)
{
    char who[160], text[YOKE_WIRE_TEXT];
    yoke_snprintf(text, sizeof text, "%s has ended: %s",
                  yoke_rank_text(control, rank, who), what);
    yoke_set_failed(control, rank, true, text);
}

/* Takes apart what has been read; false: what came makes no sense. */
static bool take_frames(yoke_control_t *control, int rank)
{
    yoke_mesh_link_t *link = &control->links[rank];
    size_t used = 0;
    while (link->in_used - used >= YOKE_FRAME_HEADER) {
        yoke_frame_t frame;
        if (!yoke_frame_read(link->in + used, (uint32_t)control->size, &frame))
            return false;
        if (link->in_used - used < YOKE_FRAME_HEADER + frame.size)
            break;
        /* A rank that was given up is heard no more: all it gets is the notice. */
        if (!link->closing)
            take_frame(control, rank, &frame, link->in + used + YOKE_FRAME_HEADER);
        used += YOKE_FRAME_HEADER + frame.size;
    }
    memmove(link->in, link->in + used, link->in_used - used);
    link->in_used -= used;
    return true;
}

static void close_link(yoke_mesh_link_t *link)
{
    if (link->fd >= 0)
        close(link->fd);
    if (link->process >= 0)
        close(link->process);
    link->fd = link->process = -1;
}

static void hung_up(yoke_control_t *control, int rank, const char *what)
{
    if (!yoke_is_gone(control, rank))
        link_failed(control, rank, what);
    close_link(&control->links[rank]);
}

static void read_link(yoke_control_t *control, int rank)
{
    yoke_mesh_link_t *link = &control->links[rank];
    size_t capacity = YOKE_FRAME_HEADER + YOKE_FRAME_LIMIT;
    while (link->fd >= 0) {
        ssize_t got =
            recv(link->fd, link->in + link->in_used, capacity - link->in_used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            hung_up(control, rank,
                    got == 0 ? "its connection was closed" : strerror(errno));
            return;
        }
        link->in_used += (size_t)got;
        link->heard = control->standings[rank].heard = yoke_clock_ms();
        if (!take_frames(control, rank)) {
            hung_up(control, rank, "it sent what is no frame of the protocol");
            return;
        }
    }
}

/* What it said before it ended is heard first: it may have taken its leave. */
static void process_ended(yoke_control_t *control, int rank)
{
    yoke_mesh_link_t *link = &control->links[rank];
    read_link(control, rank);
    if (link->process >= 0) {
        close(link->process);
        link->process = -1;
    }
    if (!yoke_is_gone(control, rank))
        link_failed(control, rank, "its process is gone");
}

/* --- the loop --------------------------------------------------------------------- */

/* pidfds tell of a death that the connection does not: a child that the rank forked
 * without exec() holds its sockets open. */
static void open_processes(yoke_control_t *control)
{
    const yoke_peer_t *mine = &control->peers[control->rank];
    for (int rank = 0; rank < control->size; rank++) {
        const yoke_peer_t *peer = &control->peers[rank];
        yoke_mesh_link_t *link = &control->links[rank];
        bool visible = memcmp(peer->machine, mine->machine, sizeof mine->machine) == 0 &&
                       peer->pid_space == mine->pid_space && mine->pid_space != 0;
        if (link->fd < 0 || !visible || peer->pid == mine->pid)
            continue;
#ifdef SYS_pidfd_open
        link->process = (int)syscall(SYS_pidfd_open, peer->pid, 0);
        if (link->process < 0 && errno == ESRCH)
            process_ended(control, rank); /* it was quick */
        else if (link->process < 0)
            yoke_debug("no pidfd for rank %d: %s; its connection and heartbeats tell",
                       rank, strerror(errno));
#endif
    }
}

static size_t fill_polls(yoke_control_t *control, struct pollfd *polls, int *ranks)
{
    size_t used = 0;
    polls[used] = (struct pollfd){.fd = control->wake, .events = POLLIN};
    ranks[used++] = -1;
    for (int rank = 0; rank < control->size; rank++) {
        yoke_mesh_link_t *link = &control->links[rank];
        if (link->fd < 0)
            continue;
        bool waits = link->out_done < link->out_used && !link->shut;
        polls[used] = (struct pollfd){.fd = link->fd,
                                      .events = (short)(POLLIN | (waits ? POLLOUT : 0))};
        ranks[used++] = rank;
        if (link->process < 0)
            continue;
        polls[used] = (struct pollfd){.fd = link->process, .events = POLLIN};
        ranks[used++] = rank;
    }
    return used;
}

static void take_event(yoke_control_t *control, const struct pollfd *one, int rank)
{
    uint64_t count;
    if (one->revents == 0)
        return;
    if (rank < 0) {
        while (read(control->wake, &count, sizeof count) < 0 && errno == EINTR)
            continue;
        return;
    }
    yoke_mesh_link_t *link = &control->links[rank];
    if (one->fd == link->process) {
        process_ended(control, rank);
        return;
    }
    if ((one->revents & POLLOUT) != 0)
        flush(link);
    if ((one->revents & ~POLLOUT) != 0)
        read_link(control, rank);
}

/* A rank that was given up gets what waits for it, the notice last, and then the end. */
static void shut_closing(yoke_control_t *control)
{
    for (int rank = 0; rank < control->size; rank++) {
        yoke_mesh_link_t *link = &control->links[rank];
        if (link->fd < 0 || !link->closing || link->shut)
            continue;
        flush(link);
        if (link->out_done == link->out_used) {
            (void)shutdown(link->fd, SHUT_WR);
            link->shut = true;
        }
    }
}

static void beat(yoke_control_t *control)
{
    for (int rank = 0; rank < control->size; rank++) {
        yoke_mesh_link_t *link = &control->links[rank];
        if (link->fd >= 0 && link->out_done == link->out_used)
            yoke_send_direct(control, rank, YOKE_FRAME_BEAT);
    }
}

static void find_silent(yoke_control_t *control, int64_t now)
{
    char who[160], text[YOKE_WIRE_TEXT];
    for (int rank = 0; rank < control->size; rank++) {
        if (control->links[rank].fd < 0 || yoke_is_gone(control, rank) ||
            now - control->links[rank].heard < control->settings.silence_ms)
            continue;
        yoke_snprintf(text, sizeof text, "%s gave no sign of life for %u ms",
                      yoke_rank_text(control, rank, who), control->settings.silence_ms);
        yoke_set_failed(control, rank, true, text);
    }
}

/* After a pause of this process itself (a debugger, a stopped container), silence of the
 * others proves nothing. */
static void forgive(yoke_control_t *control, int64_t now)
{
    for (int rank = 0; rank < control->size; rank++)
        control->links[rank].heard = now;
}

static void *watch(void *argument)
{
    yoke_control_t *control = argument;
    size_t capacity = 1 + 2 * (size_t)control->size;
    struct pollfd *polls = calloc(capacity, sizeof *polls);
    int *ranks = calloc(capacity, sizeof *ranks);
    int64_t next_beat = yoke_clock_ms(), last = next_beat;

    pthread_mutex_lock(&control->lock);
    while (polls != NULL && ranks != NULL && !control->stop) {
        size_t count = fill_polls(control, polls, ranks);
        int64_t pause = next_beat - yoke_clock_ms();
        pthread_mutex_unlock(&control->lock);
        int ready = poll(polls, (nfds_t)count, pause > 0 ? (int)pause : 0);
        pthread_mutex_lock(&control->lock);
        if (control->stop) /* the others hang up on one that took its leave */
            break;
        int64_t now = yoke_clock_ms();
        if (now - last > 4 * control->beat_ms)
            forgive(control, now);
        last = now;
        for (size_t i = 0; ready > 0 && i < count; i++)
            take_event(control, &polls[i], ranks[i]);
        if (now >= next_beat) {
            beat(control);
            find_silent(control, now);
            next_beat = now + control->beat_ms;
        }
        yoke_agree_step(control);
        shut_closing(control);
        pthread_cond_broadcast(&control->changed);
    }
    pthread_mutex_unlock(&control->lock);
    free(polls);
    free(ranks);
    return NULL;
}

yoke_status_t yoke_watch_start(yoke_control_t *control)
{
    sigset_t all, before;
    open_processes(control);
    int64_t now = yoke_clock_ms();
    for (int rank = 0; rank < control->size; rank++)
        control->links[rank].heard = control->standings[rank].heard = now;
    /* Signals belong to the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&control->watcher, NULL, watch, control);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return yoke_fail(YOKE_ERR_SYSTEM, "cannot start a thread: %s", strerror(error));
    control->watching = true;
    return YOKE_OK;
}

/* Says goodbye, so that nobody takes this for a crash, and waits for no answer. */
void yoke_watch_stop(yoke_control_t *control)
{
    uint8_t rest[4096];
    if (control->watching) {
        pthread_mutex_lock(&control->lock);
        yoke_send(control, YOKE_FRAME_GOODBYE, YOKE_ANY_RANK, 0, NULL, 0);
        control->stop = true;
        wake(control);
        pthread_mutex_unlock(&control->lock);
        pthread_join(control->watcher, NULL);
    }
    for (int rank = 0; rank < control->size; rank++) {
        yoke_mesh_link_t *link = &control->links[rank];
        /* Closing with bytes unread resets the connection and may lose the goodbye. */
        if (link->fd >= 0 && control->watching) {
            (void)shutdown(link->fd, SHUT_WR);
            for (int i = 0; i < 64; i++)
                if (recv(link->fd, rest, sizeof rest, MSG_DONTWAIT) <= 0)
                    break;
        }
        close_link(link);
        free(link->in);
        free(link->out);
    }
}
