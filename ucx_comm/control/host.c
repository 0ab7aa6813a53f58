/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a rendezvous. One loop carries on everything, and nothing in it waits for
 * one connection: who connects and says nothing, or says it slowly, or something else,
 * takes one of some places for strangers for a few seconds.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/handshake.h"
#include "ucx_comm/control/rendezvous.h"
#include "ucx_comm/control/sockets.h"

#define STRANGERS 256
#define STRANGER_MS 5000
#define WARNINGS 20     /* of refused connections; a flood of them must not fill a disk */
#define LINGER_MS 10000 /* after the last word to the guests */

typedef struct stranger {
    yoke_handshake_t handshake;
    int64_t deadline;
} stranger_t;

/* A rank that has proved itself. */
typedef struct guest {
    int fd; /* -1: not come yet, or gone */
    bool came, left;
    char address[64];
    uint8_t head[4];
    size_t got;    /* of head and block */
    uint32_t size; /* of the block; valid once the head is there */
    uint8_t *block;
    size_t sent; /* of the answer */
    bool answering;
} guest_t;

typedef struct host {
    yoke_meeting_t meeting;
    int listener;
    int64_t deadline;
    stranger_t strangers[STRANGERS];
    size_t stranger_count;
    unsigned warnings;
    guest_t *guests;
    uint32_t came;
    uint8_t *answer; /* to all guests: status, then blocks or text */
    size_t answer_size;
    bool failed; /* the answer is a failure, and the last word */
    struct pollfd *polls;
} host_t;

/* --- answers ---------------------------------------------------------------------- */

static void close_guest(guest_t *guest)
{
    uint8_t rest[1024];
    /* Closing with bytes unread resets the connection and may lose the answer. */
    for (int i = 0; i < 80 && recv(guest->fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        continue;
    close(guest->fd);
    guest->fd = -1;
    guest->left = true;
    guest->answering = false;
}

static void begin_answer(host_t *host)
{
    for (uint32_t i = 0; i < host->meeting.size; i++) {
        guest_t *guest = &host->guests[i];
        guest->answering = guest->fd >= 0;
        guest->sent = 0;
        guest->got = 0;
    }
}

/* Tell all who are there, and end. */
static void fail_all(host_t *host, yoke_status_t status, const char *text)
{
    if (host->failed)
        return;
    host->failed = true;
    yoke_warn("rendezvous on port %u: %s", host->meeting.port, text);
    /* Half of another answer cannot be taken back; the end of the connection tells. */
    for (uint32_t i = 0; i < host->meeting.size; i++)
        if (host->guests[i].answering && host->guests[i].sent > 0)
            close_guest(&host->guests[i]);
    free(host->answer);
    host->answer_size = YOKE_NOTICE_SIZE;
    host->answer = malloc(YOKE_NOTICE_SIZE);
    if (host->answer != NULL) {
        yoke_notice_t notice = {.value = (uint32_t)status};
        yoke_snprintf(notice.text, sizeof notice.text, "%s", text);
        yoke_notice_write(&notice, host->answer);
    } else {
        host->answer_size = 0;
    }
    begin_answer(host);
    host->deadline = yoke_clock_ms() + LINGER_MS;
}

static void fail_late(host_t *host)
{
    yoke_text_t text = {0};
    uint32_t named = 0, missing = host->meeting.size - host->came;
    yoke_text_printf(&text, "not all of %u ranks have come in time; missing: ranks",
                     host->meeting.size);
    for (uint32_t i = 0; i < host->meeting.size && named < 12; i++)
        if (!host->guests[i].came)
            yoke_text_printf(&text, "%s %u", named++ > 0 ? "," : "", i);
    if (missing > named)
        yoke_text_printf(&text, " and %u more", missing - named);
    fail_all(host, YOKE_ERR_TIMEOUT,
             missing > 0 ? yoke_text_get(&text)
                         : "not all ranks have finished making the communicator in time");
    yoke_text_free(&text);
}

static bool all_blocks_came(const host_t *host)
{
    for (uint32_t i = 0; i < host->meeting.size; i++) {
        const guest_t *guest = &host->guests[i];
        if (guest->fd < 0 || guest->got < sizeof guest->head ||
            guest->got < sizeof guest->head + guest->size)
            return false;
    }
    return true;
}

/* Once all blocks are there, the answer is all of them. */
static void answer_round(host_t *host)
{
    uint32_t size = host->guests[0].size;
    if (!all_blocks_came(host))
        return;
    for (uint32_t i = 1; i < host->meeting.size; i++)
        if (host->guests[i].size != size) {
            fail_all(host, YOKE_ERR_MISMATCH,
                     "the ranks gather blocks of different sizes: they make different "
                     "calls");
            return;
        }
    size_t total = 4 + (size_t)size * host->meeting.size;
    uint8_t *answer = realloc(host->answer, total);
    if (answer == NULL) {
        fail_all(host, YOKE_ERR_NO_MEMORY, "the host is out of memory");
        return;
    }
    host->answer = answer;
    host->answer_size = total;
    yoke_put_u32(answer, YOKE_OK);
    for (uint32_t i = 0; i < host->meeting.size; i++)
        if (size > 0)
            memcpy(answer + 4 + (size_t)i * size, host->guests[i].block, size);
    begin_answer(host);
}

/* --- guests ----------------------------------------------------------------------- */

static void send_answer(const host_t *host, guest_t *guest)
{
    while (guest->answering && guest->sent < host->answer_size) {
        ssize_t sent = send(guest->fd, host->answer + guest->sent,
                            host->answer_size - guest->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) {
            close_guest(guest);
            return;
        }
        guest->sent += (size_t)sent;
    }
    guest->answering = false;
    if (host->failed) /* the last word */
        close_guest(guest);
}

/* More of its head or block; false at the end of the connection. */
static bool read_guest(guest_t *guest)
{
    for (;;) {
        bool head = guest->got < sizeof guest->head;
        size_t whole = sizeof guest->head + (head ? 0 : guest->size);
        if (!head && guest->got == whole)
            return true;
        uint8_t *to = head ? guest->head + guest->got
                           : guest->block + (guest->got - sizeof guest->head);
        ssize_t got = recv(guest->fd, to, whole - guest->got, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (got <= 0)
            return false;
        guest->got += (size_t)got;
        if (!head || guest->got < sizeof guest->head)
            continue;
        guest->size = yoke_get_u32(guest->head);
        if (guest->size > YOKE_GUEST_LIMIT)
            return false;
        uint8_t *block = realloc(guest->block, guest->size + 1u);
        if (block == NULL)
            return false;
        guest->block = block;
    }
}

static void guest_gone(host_t *host, uint32_t rank)
{
    char text[YOKE_WIRE_TEXT];
    guest_t *guest = &host->guests[rank];
    bool idle = guest->got == 0 && !guest->answering;
    close_guest(guest);
    /* Between two all-gathers it may have what it came for; then the others have too, or
     * hear of it when they ask for more. */
    bool others_wait = false;
    for (uint32_t i = 0; i < host->meeting.size; i++)
        others_wait = others_wait || (host->guests[i].fd >= 0 && host->guests[i].got > 0);
    if (idle && !others_wait && host->came == host->meeting.size)
        return;
    yoke_snprintf(text, sizeof text,
                  "rank %u (%s) has left before the communicator was made; its own "
                  "message says why",
                  rank, guest->address);
    fail_all(host, YOKE_ERR_PEER_FAILED, text);
}

static void step_guest(host_t *host, uint32_t rank, short revents)
{
    char text[YOKE_WIRE_TEXT];
    guest_t *guest = &host->guests[rank];
    if (guest->fd < 0 || revents == 0)
        return;
    if (guest->answering)
        send_answer(host, guest);
    if (guest->fd < 0)
        return;
    if (!read_guest(guest)) {
        guest_gone(host, rank);
        return;
    }
    for (uint32_t i = 0; guest->got > 0 && i < host->meeting.size; i++)
        if (host->guests[i].left) {
            yoke_snprintf(text, sizeof text,
                          "rank %u (%s) has left before the communicator was made; its "
                          "own message says why",
                          i, host->guests[i].address);
            fail_all(host, YOKE_ERR_PEER_FAILED, text);
            return;
        }
}

/* --- strangers -------------------------------------------------------------------- */

static void drop_stranger(host_t *host, size_t index)
{
    yoke_handshake_end(&host->strangers[index].handshake);
    host->strangers[index] = host->strangers[--host->stranger_count];
}

static void accept_all(host_t *host, int64_t now)
{
    int fd;
    while (host->listener >= 0 && (fd = yoke_socket_accept(host->listener)) >= 0) {
        if (host->stranger_count == STRANGERS) { /* the oldest makes room */
            size_t oldest = 0;
            for (size_t i = 1; i < STRANGERS; i++)
                if (host->strangers[i].deadline < host->strangers[oldest].deadline)
                    oldest = i;
            drop_stranger(host, oldest);
        }
        stranger_t *stranger = &host->strangers[host->stranger_count];
        if (yoke_handshake_host(&stranger->handshake, fd, host->meeting.secret) !=
            YOKE_OK) {
            close(fd);
            return;
        }
        stranger->deadline = now + STRANGER_MS;
        host->stranger_count++;
    }
}

static void answer_stranger(host_t *host, yoke_handshake_t *handshake)
{
    char text[YOKE_WIRE_TEXT] = "";
    const yoke_hello_t *hello = &handshake->hello;
    yoke_status_t status = YOKE_ERR_REFUSED;
    if (hello->size != host->meeting.size)
        yoke_snprintf(text, sizeof text,
                      "the rendezvous is for %u ranks, and rank %u counts %u",
                      host->meeting.size, hello->from, hello->size);
    else if (hello->from >= host->meeting.size)
        yoke_snprintf(text, sizeof text, "there is no rank %u of %u", hello->from,
                      host->meeting.size);
    else if (host->guests[hello->from].came)
        yoke_snprintf(text, sizeof text,
                      "rank %u has come already, from %s: two ranks have one number",
                      hello->from, host->guests[hello->from].address);
    else
        status = YOKE_OK;
    yoke_handshake_answer(handshake, status, text);
}

static void welcome(host_t *host, yoke_handshake_t *handshake)
{
    yoke_address_t address;
    uint16_t port;
    guest_t *guest = &host->guests[handshake->hello.from];
    if (guest->came)
        return;
    guest->fd = handshake->fd;
    guest->came = true;
    if (yoke_socket_remote(guest->fd, &address, &port))
        yoke_address_text(&address, guest->address);
    handshake->fd = -1;
    host->came++;
    if (host->came < host->meeting.size)
        return;
    /* Nobody else has business here, and the port is free for the next communicator. */
    close(host->listener);
    host->listener = -1;
}

static void warn_refused(host_t *host, const yoke_handshake_t *handshake)
{
    char from[64] = "unknown";
    yoke_address_t address;
    uint16_t port;
    if (handshake->status == YOKE_ERR_NOT_READY || host->warnings >= WARNINGS)
        return;
    if (yoke_socket_remote(handshake->fd, &address, &port))
        yoke_address_text(&address, from);
    yoke_warn("rendezvous on port %u: a connection from %s was turned away: %s",
              host->meeting.port, from, handshake->text);
    if (++host->warnings == WARNINGS)
        yoke_warn("rendezvous on port %u: no more of this is reported",
                  host->meeting.port);
}

static void step_strangers(host_t *host, int64_t now)
{
    yoke_hello_t expected = {.kind = YOKE_HELLO_RENDEZVOUS,
                             .epoch = host->meeting.sequence};
    for (size_t i = 0; i < host->stranger_count;) {
        stranger_t *stranger = &host->strangers[i];
        yoke_handshake_t *handshake = &stranger->handshake;
        yoke_handshake_step(handshake, &expected);
        if (handshake->stage == YOKE_HANDSHAKE_ASK)
            answer_stranger(host, handshake);
        if (handshake->stage == YOKE_HANDSHAKE_DONE)
            welcome(host, handshake);
        else if (handshake->stage == YOKE_HANDSHAKE_FAILED)
            warn_refused(host, handshake);
        if (handshake->stage >= YOKE_HANDSHAKE_DONE || now >= stranger->deadline)
            drop_stranger(host, i);
        else
            i++;
    }
}

/* --- the loop --------------------------------------------------------------------- */

static bool guests_remain(const host_t *host)
{
    for (uint32_t i = 0; i < host->meeting.size; i++)
        if (host->guests[i].fd >= 0)
            return true;
    return false;
}

static size_t fill_polls(host_t *host)
{
    size_t used = 0;
    for (uint32_t i = 0; i < host->meeting.size; i++) {
        const guest_t *guest = &host->guests[i];
        host->polls[used++] =
            (struct pollfd){.fd = guest->fd,
                            .events = (short)(POLLIN | (guest->answering ? POLLOUT : 0))};
        /* A guest whose block is there says nothing more until it is answered. */
        if (guest->got >= 4 && guest->got == 4 + (size_t)guest->size)
            host->polls[used - 1].events = POLLRDHUP;
    }
    for (size_t i = 0; i < host->stranger_count; i++)
        host->polls[used++] = (struct pollfd){
            .fd = host->strangers[i].handshake.fd,
            .events = yoke_handshake_events(&host->strangers[i].handshake)};
    host->polls[used++] = (struct pollfd){.fd = host->listener, .events = POLLIN};
    return used;
}

static void step(host_t *host)
{
    size_t count = fill_polls(host);
    (void)poll(host->polls, (nfds_t)count, 50);
    int64_t now = yoke_clock_ms();
    for (uint32_t i = 0; i < host->meeting.size; i++) {
        guest_t *guest = &host->guests[i];
        bool whole = guest->got >= 4 && guest->got == 4 + (size_t)guest->size;
        if (whole && !guest->answering && guest->fd >= 0 && host->polls[i].revents != 0)
            guest_gone(host, i); /* gone while it waited */
        else
            step_guest(host, i, host->polls[i].revents);
    }
    step_strangers(host, now);
    accept_all(host, now);
    if (!host->failed)
        answer_round(host);
    if (!host->failed && now >= host->deadline)
        fail_late(host);
}

static void free_host(host_t *host)
{
    while (host->stranger_count > 0)
        drop_stranger(host, 0);
    for (uint32_t i = 0; host->guests != NULL && i < host->meeting.size; i++) {
        if (host->guests[i].fd >= 0)
            close(host->guests[i].fd);
        free(host->guests[i].block);
    }
    if (host->listener >= 0)
        close(host->listener);
    free(host->guests);
    free(host->answer);
    free(host->polls);
    free(host);
}

static void *serve(void *argument)
{
    host_t *host = argument;
    for (;;) {
        step(host);
        bool all_came = host->came == host->meeting.size;
        if ((host->failed || all_came) && !guests_remain(host))
            break;
        if (host->failed && yoke_clock_ms() >= host->deadline)
            break;
    }
    free_host(host);
    return NULL;
}

static yoke_status_t start(host_t *host)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, serve, host);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return yoke_fail(YOKE_ERR_SYSTEM, "cannot start a thread: %s", strerror(error));
    pthread_detach(thread); /* it ends by itself: all have gone, or the time is over */
    return YOKE_OK;
}

yoke_status_t yoke_meeting_host(yoke_meeting_t *meeting,
                                const yoke_control_settings_t *settings,
                                const yoke_address_t *only)
{
    host_t *host = calloc(1, sizeof *host);
    if (host == NULL)
        return yoke_fail_memory();
    host->listener = -1;
    host->meeting.size = meeting->size;
    host->deadline = yoke_clock_ms() + settings->setup_timeout_ms;
    host->guests = calloc(meeting->size, sizeof *host->guests);
    host->polls = calloc(meeting->size + STRANGERS + 1, sizeof *host->polls);
    yoke_status_t status =
        host->guests != NULL && host->polls != NULL ? YOKE_OK : yoke_fail_memory();
    for (uint32_t i = 0; status == YOKE_OK && i < meeting->size; i++)
        host->guests[i].fd = -1;
    if (status == YOKE_OK)
        status = yoke_socket_listen(only, meeting->port, &host->listener, &meeting->port);
    host->meeting = *meeting;
    if (status == YOKE_OK)
        status = start(host);
    if (status != YOKE_OK)
        free_host(host);
    return status;
}
