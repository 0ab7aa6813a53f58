/* SPDX-License-Identifier: Apache-2.0 */
/* A rank at a rendezvous: finds the host, and gathers through it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/handshake.h"
#include "ucx_comm/control/rendezvous.h"
#include "ucx_comm/control/sockets.h"

#define STAGGER_MS 10
#define RETRY_MS 50
#define CONNECT_MS 1500   /* of one round, while TCP has reached nothing */
#define IMPATIENT_MS 2000 /* how long one that must be there already is tried again */
#define GRACE_MS 2000     /* beyond the host's own time limit, so that its word arrives */

/* One round of tries: all addresses, each once. */
typedef struct search {
    const yoke_meeting_t *meeting;
    int rank;
    const yoke_address_t *addresses[YOKE_ID_ADDRESSES];
    unsigned count, next;
    int64_t begun, next_start, deadline;
    yoke_handshake_t handshakes[YOKE_ID_ADDRESSES]; /* fd -1: not under way */
    yoke_status_t worst; /* the most telling failure of the round */
    yoke_text_t tried;
    int found;
} search_t;

static void note(search_t *search, unsigned index, yoke_status_t status, const char *why)
{
    char text[64];
    if (search->worst != YOKE_ERR_REFUSED)
        search->worst = status;
    yoke_text_printf(
        &search->tried, "%s%s port %u: %s", search->tried.size > 0 ? "; " : "",
        yoke_address_text(search->addresses[index], text), search->meeting->port, why);
}

static yoke_status_t start_one(search_t *search)
{
    const yoke_meeting_t *meeting = search->meeting;
    unsigned index = search->next++;
    yoke_hello_t hello = {.protocol = YOKE_COMM_PROTOCOL,
                          .kind = YOKE_HELLO_RENDEZVOUS,
                          .epoch = meeting->sequence,
                          .size = meeting->size,
                          .from = (uint32_t)search->rank,
                          .to = YOKE_ANY_RANK};
    int fd = yoke_socket_connect(search->addresses[index], meeting->port, NULL);
    if (fd < 0) {
        note(search, index, YOKE_ERR_UNREACHABLE, strerror(errno));
        return YOKE_OK;
    }
    return yoke_handshake_join(&search->handshakes[index], fd, meeting->secret, &hello);
}

/* An address that swallows everything must not keep the others from being tried again. */
static bool is_stuck(const search_t *search)
{
    if (yoke_clock_ms() < search->begun + CONNECT_MS)
        return false;
    for (unsigned i = 0; i < search->next; i++)
        if (search->handshakes[i].fd >= 0 &&
            search->handshakes[i].stage != YOKE_HANDSHAKE_CONNECT)
            return false;
    return true;
}

static bool step_all(search_t *search)
{
    bool open = false;
    for (unsigned i = 0; i < search->next; i++) {
        yoke_handshake_t *handshake = &search->handshakes[i];
        if (handshake->fd < 0)
            continue;
        yoke_handshake_step(handshake, NULL);
        if (handshake->stage == YOKE_HANDSHAKE_DONE && search->found < 0) {
            search->found = handshake->fd;
            handshake->fd = -1;
        } else if (handshake->stage == YOKE_HANDSHAKE_FAILED) {
            note(search, i, handshake->status, handshake->text);
            yoke_handshake_end(handshake);
        }
        open = open || handshake->fd >= 0;
    }
    return open;
}

static void wait_all(search_t *search)
{
    struct pollfd polls[YOKE_ID_ADDRESSES];
    nfds_t used = 0;
    for (unsigned i = 0; i < search->next; i++)
        if (search->handshakes[i].fd >= 0)
            polls[used++] =
                (struct pollfd){.fd = search->handshakes[i].fd,
                                .events = yoke_handshake_events(&search->handshakes[i])};
    (void)poll(polls, used, 10);
}

static yoke_status_t try_round(search_t *search)
{
    yoke_status_t status = YOKE_OK;
    bool open = false;
    search->next = 0;
    search->next_start = 0;
    search->begun = yoke_clock_ms();
    search->worst = YOKE_ERR_UNREACHABLE;
    yoke_text_free(&search->tried);
    memset(&search->tried, 0, sizeof search->tried);
    for (unsigned i = 0; i < search->count; i++)
        search->handshakes[i].fd = -1;
    while (status == YOKE_OK && search->found < 0 &&
           (open || search->next < search->count) && !is_stuck(search) &&
           yoke_clock_ms() < search->deadline) {
        int64_t now = yoke_clock_ms();
        if (search->next < search->count && (now >= search->next_start || !open)) {
            search->next_start = now + STAGGER_MS;
            status = start_one(search);
        }
        wait_all(search);
        open = step_all(search);
    }
    for (unsigned i = 0; i < search->next; i++) {
        if (search->handshakes[i].fd >= 0 && search->found < 0)
            note(search, i, YOKE_ERR_TIMEOUT, "no answer");
        yoke_handshake_end(&search->handshakes[i]);
    }
    return status;
}

/* Loopback first where it is the host's own, and not at all elsewhere. */
static void choose_addresses(search_t *search)
{
    const yoke_meeting_t *meeting = search->meeting;
    bool here = meeting->machine == yoke_meeting_machine() || meeting->machine == 0;
    for (int local = 1; local >= 0; local--)
        for (unsigned i = 0; i < meeting->addresses; i++) {
            bool loopback = yoke_address_is_loopback(&meeting->address[i]);
            if (loopback == (local == 1) && (!loopback || here))
                search->addresses[search->count++] = &meeting->address[i];
        }
}

static yoke_status_t fail_search(const search_t *search)
{
    const char *tried = yoke_text_get(&search->tried);
    if (search->worst == YOKE_ERR_REFUSED)
        return yoke_fail(YOKE_ERR_REFUSED, "rank %d was refused at the rendezvous: %s",
                         search->rank, tried);
    if (search->worst == YOKE_ERR_NOT_READY)
        return yoke_fail(YOKE_ERR_TIMEOUT,
                         "rank %d waited in vain for the rendezvous: %s", search->rank,
                         tried);
    return yoke_fail(YOKE_ERR_UNREACHABLE,
                     "rank %d cannot reach the rendezvous; tried %s. It may have ended "
                     "(all ranks had come, or too late), or a firewall is between",
                     search->rank,
                     search->count > 0 ? tried : "no address: it told none");
}

static yoke_status_t find_host(search_t *search, bool patient)
{
    int64_t begun = yoke_clock_ms();
    struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
    for (;;) {
        yoke_status_t status = try_round(search);
        int64_t now = yoke_clock_ms();
        bool again = search->worst != YOKE_ERR_REFUSED &&
                     (patient || search->worst == YOKE_ERR_NOT_READY ||
                      now - begun < IMPATIENT_MS);
        if (status != YOKE_OK || search->found >= 0)
            return status;
        if (!again || now + RETRY_MS >= search->deadline)
            return fail_search(search);
        nanosleep(&pause, NULL);
    }
}

yoke_status_t yoke_meeting_join(const yoke_meeting_t *meeting, int rank, bool patient,
                                const yoke_control_settings_t *settings,
                                yoke_rendezvous_t **out_rendezvous)
{
    search_t search = {.meeting = meeting, .rank = rank, .found = -1};
    search.deadline = yoke_clock_ms() + settings->setup_timeout_ms;
    yoke_rendezvous_t *rendezvous = calloc(1, sizeof *rendezvous);
    if (rendezvous == NULL)
        return yoke_fail_memory();
    choose_addresses(&search);
    yoke_status_t status = find_host(&search, patient);
    yoke_text_free(&search.tried);
    if (status != YOKE_OK) {
        free(rendezvous);
        return status;
    }
    rendezvous->size = (int)meeting->size;
    rendezvous->rank = rank;
    rendezvous->fd = search.found;
    rendezvous->deadline = search.deadline + GRACE_MS;
    *out_rendezvous = rendezvous;
    return YOKE_OK;
}

/* --- gathering -------------------------------------------------------------------- */

static yoke_status_t wait_for(const yoke_rendezvous_t *rendezvous, short events)
{
    struct pollfd one = {.fd = rendezvous->fd, .events = events};
    int64_t left = rendezvous->deadline - yoke_clock_ms();
    if (left > 0 && poll(&one, 1, (int)left) != 0)
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_TIMEOUT,
                     "rank %d got no answer from the rendezvous in time",
                     rendezvous->rank);
}

static yoke_status_t host_gone(const yoke_rendezvous_t *rendezvous, const char *why)
{
    return yoke_fail(YOKE_ERR_PEER_FAILED,
                     "rank %d lost the rendezvous: %s; the process that hosts it has "
                     "ended, or its time was over",
                     rendezvous->rank, why);
}

static yoke_status_t send_whole(const yoke_rendezvous_t *rendezvous, const void *bytes,
                                size_t size)
{
    const uint8_t *next = bytes;
    while (size > 0) {
        ssize_t sent = send(rendezvous->fd, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            return YOKE_OK; /* the host's last word may wait to be read */
        if (sent < 0) {
            yoke_status_t status = wait_for(rendezvous, POLLOUT);
            if (status != YOKE_OK)
                return status;
            continue;
        }
        next += sent;
        size -= (size_t)sent;
    }
    return YOKE_OK;
}

static yoke_status_t receive_whole(const yoke_rendezvous_t *rendezvous, void *bytes,
                                   size_t size)
{
    uint8_t *next = bytes;
    while (size > 0) {
        ssize_t got = recv(rendezvous->fd, next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            yoke_status_t status = wait_for(rendezvous, POLLIN);
            if (status != YOKE_OK)
                return status;
            continue;
        }
        if (got <= 0)
            return host_gone(rendezvous,
                             got == 0 ? "the connection was closed" : strerror(errno));
        next += got;
        size -= (size_t)got;
    }
    return YOKE_OK;
}

static yoke_status_t take_refusal(const yoke_rendezvous_t *rendezvous, uint32_t value)
{
    uint8_t bytes[YOKE_NOTICE_SIZE];
    yoke_notice_t notice;
    yoke_put_u32(bytes, value);
    yoke_status_t status = receive_whole(rendezvous, bytes + 4, sizeof bytes - 4);
    if (status != YOKE_OK)
        return status;
    (void)yoke_notice_read(bytes, sizeof bytes, &notice);
    return yoke_fail(yoke_status_known(value) ? (yoke_status_t)value : YOKE_ERR_SYSTEM,
                     "rank %d at the rendezvous: %s", rendezvous->rank, notice.text);
}

static yoke_status_t gather_at_host(const yoke_rendezvous_t *rendezvous, const void *mine,
                                    size_t size, void *all)
{
    uint8_t head[4];
    if (size > YOKE_GUEST_LIMIT)
        return yoke_fail(YOKE_ERR_USAGE,
                         "a rendezvous gathers at most %u bytes of each rank, not %zu",
                         YOKE_GUEST_LIMIT, size);
    yoke_put_u32(head, (uint32_t)size);
    yoke_status_t status = send_whole(rendezvous, head, sizeof head);
    if (status == YOKE_OK)
        status = send_whole(rendezvous, mine, size);
    if (status == YOKE_OK)
        status = receive_whole(rendezvous, head, sizeof head);
    if (status != YOKE_OK)
        return status;
    if (yoke_get_u32(head) != YOKE_OK)
        return take_refusal(rendezvous, yoke_get_u32(head));
    return receive_whole(rendezvous, all, size * (size_t)rendezvous->size);
}

/* --- public ----------------------------------------------------------------------- */

yoke_status_t yoke_rendezvous_all_gather(void *context, const void *mine, size_t size,
                                         void *all)
{
    yoke_rendezvous_t *rendezvous = context;
    if (rendezvous->pmix != NULL)
        return yoke_pmix_all_gather(rendezvous->pmix, rendezvous->deadline, mine, size,
                                    all);
    return gather_at_host(rendezvous, mine, size, all);
}

void yoke_rendezvous_close(yoke_rendezvous_t *rendezvous)
{
    if (rendezvous == NULL)
        return;
    if (rendezvous->fd >= 0)
        close(rendezvous->fd);
    yoke_pmix_close(rendezvous->pmix);
    free(rendezvous);
}

yoke_status_t yoke_rendezvous_host(int size, const yoke_comm_options_t *options,
                                   yoke_comm_id_t *out_id)
{
    yoke_control_settings_t settings;
    yoke_meeting_t meeting = {.size = (uint32_t)size};
    if (size < 1 || size > YOKE_RANKS_LIMIT)
        return yoke_fail(YOKE_ERR_USAGE,
                         "a rendezvous of %d ranks; a communicator has 1 to %d", size,
                         YOKE_RANKS_LIMIT);
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status == YOKE_OK)
        status = yoke_random(meeting.secret, sizeof meeting.secret);
    if (status == YOKE_OK)
        status = yoke_meeting_place(&settings, &meeting);
    if (status == YOKE_OK)
        status = yoke_meeting_host(&meeting, &settings, NULL);
    if (status == YOKE_OK)
        yoke_meeting_write(&meeting, out_id);
    return status;
}

yoke_status_t yoke_rendezvous_join(const yoke_comm_id_t *id, int size, int rank,
                                   const yoke_comm_options_t *options,
                                   yoke_rendezvous_t **out_rendezvous)
{
    yoke_control_settings_t settings;
    yoke_meeting_t meeting;
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status == YOKE_OK)
        status = yoke_meeting_read(id, &meeting);
    if (status != YOKE_OK)
        return status;
    if (size < 1 || meeting.size != (uint32_t)size)
        return yoke_fail(YOKE_ERR_REFUSED,
                         "the id of the communicator was made for %u ranks, and rank %d "
                         "counts %d",
                         meeting.size, rank, size);
    if (rank < 0 || rank >= size)
        return yoke_fail(YOKE_ERR_USAGE, "there is no rank %d of %d", rank, size);
    return yoke_meeting_join(&meeting, rank, false, &settings, out_rendezvous);
}
