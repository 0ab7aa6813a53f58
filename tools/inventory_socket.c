/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks meet: rank 0 listens, the others connect and send one message
 *   "yoke-gather 1 TOKEN RANK HOST SIZE\n" DOCUMENT
 * and get "ok\n" back. The token is random where ranks meet by a file (which only this
 * user can read), else the job's name. What comes is data: it is parsed as a document,
 * with a limit on its size.
 */
#include "tools/inventory_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define TOKEN_SIZE 40
#define DOCUMENT_LIMIT ((size_t)64 << 20)
#define ONE_RANK_SECONDS 10.0

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool wait_for(int fd, short events, double deadline)
{
    for (;;) {
        double left = deadline - now();
        struct pollfd item = {.fd = fd, .events = events};
        int got = poll(&item, 1,
                       left <= 0     ? 0
                       : left > 1000 ? 1000000
                                     : (int)(left * 1000) + 1);
        if (got > 0)
            return true;
        if (got == 0 && now() >= deadline)
            return false;
        if (got < 0 && errno != EINTR)
            return false;
    }
}

static bool send_all(int fd, const char *data, size_t size, double deadline)
{
    while (size > 0) {
        ssize_t done =
            wait_for(fd, POLLOUT, deadline) ? send(fd, data, size, MSG_NOSIGNAL) : -1;
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool receive_all(int fd, char *data, size_t size, double deadline)
{
    while (size > 0) {
        ssize_t done = wait_for(fd, POLLIN, deadline) ? recv(fd, data, size, 0) : -1;
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

/* Up to the newline, which is dropped. */
static bool receive_line(int fd, char *line, size_t capacity, double deadline)
{
    for (size_t used = 0; used + 1 < capacity; used++) {
        if (!receive_all(fd, line + used, 1, deadline))
            return false;
        if (line[used] == '\n') {
            line[used] = '\0';
            return true;
        }
    }
    return false;
}

/* --- the file in the shared folder ----------------------------------------------------
 */

static char *meeting_file(const gather_rank_t *rank)
{
    return yoke_format("%s/.yoke-gather-%u-%s", rank->folder, (unsigned)geteuid(),
                       rank->job[0] != '\0' ? rank->job : "job");
}

static bool make_token(char token[TOKEN_SIZE])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Written under another name and renamed, so that nobody reads half of it. */
static yoke_status_t publish(const char *path, unsigned port, const char *token)
{
    char host[256] = "";
    char *temporary = yoke_format("%s.%ld", path, (long)getpid());
    if (temporary == NULL || gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    unlink(temporary != NULL ? temporary : "");
    int fd =
        temporary != NULL
            ? open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
            : -1;
    bool fine = fd >= 0 && dprintf(fd, "%s %u %s\n", host, port, token) > 0;
    if (fd >= 0)
        fine = close(fd) == 0 && fine;
    fine = fine && rename(temporary, path) == 0;
    yoke_status_t status = fine ? YOKE_OK
                                : yoke_fail(YOKE_ERR_SYSTEM, "%s: cannot be written: %s",
                                            path, strerror(errno));
    free(temporary);
    return status;
}

/* Only a file of ours counts: others may write to a temporary folder, too. */
static bool read_meeting(const char *path, char host[256], unsigned *out_port,
                         char token[TOKEN_SIZE])
{
    struct stat info;
    char text[512] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool fine = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                info.st_uid == geteuid() && read(fd, text, sizeof text - 1) > 0 &&
                sscanf(text, "%255s %5u %39s", host, out_port, token) == 3;
    close(fd);
    return fine;
}

/* --- rank 0
 * ----------------------------------------------------------------------------- */

static int listen_on(unsigned port, unsigned *out_port)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in old = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int yes = 1, no = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool six = fd >= 0;
    if (six)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    else
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    int bound = six ? bind(fd, (struct sockaddr *)&address, sizeof address)
                    : bind(fd, (struct sockaddr *)&old, sizeof old);
    if (bound != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        close(fd);
        return -1;
    }
    *out_port =
        ntohs(address.sin6_port); /* the port is at the same place in both forms */
    return fd;
}

/* One connection; what does not speak our language is dropped. */
static bool take_part(int fd, const char *token, const gather_rank_t *rank,
                      gather_part_t *parts)
{
    char line[512], given[TOKEN_SIZE] = "", host[256] = "";
    unsigned from = 0;
    size_t size = 0;
    double deadline = now() + ONE_RANK_SECONDS;
    if (!receive_line(fd, line, sizeof line, deadline) ||
        sscanf(line, "yoke-gather 1 %39s %7u %255s %9zu", given, &from, host, &size) !=
            4 ||
        strcmp(given, token) != 0 || from == 0 || from >= rank->size ||
        parts[from].came || size > DOCUMENT_LIMIT)
        return false;
    char *document = calloc(1, size + 1);
    if (document == NULL || !receive_all(fd, document, size, deadline)) {
        free(document);
        return false;
    }
    parts[from].came = true;
    parts[from].host = yoke_strdup(host);
    parts[from].document = document;
    send_all(fd, "ok\n", 3, deadline);
    return true;
}

static void job_token(const gather_rank_t *rank, char token[TOKEN_SIZE])
{
    snprintf(token, TOKEN_SIZE, "%.38s", rank->job[0] != '\0' ? rank->job : "job");
}

static unsigned port_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    uint64_t port = 0;
    if (colon == NULL || !yoke_parse_u64(colon + 1, strlen(colon + 1), 1, 65535, &port))
        return 0;
    return (unsigned)port;
}

yoke_status_t gather_receive(const gather_rank_t *rank, double timeout,
                             gather_part_t *parts)
{
    char token[TOKEN_SIZE] = "";
    char *path = rank->folder != NULL ? meeting_file(rank) : NULL;
    unsigned port = rank->address != NULL ? port_of(rank->address) : 0,
             left = rank->size - 1;
    double deadline = now() + timeout;
    int listener = listen_on(port, &port);
    yoke_status_t status = YOKE_OK;
    if (listener < 0) {
        status =
            yoke_fail(YOKE_ERR_SYSTEM, "cannot listen on port %u for the other ranks: %s",
                      port, strerror(errno));
        goto out;
    }
    if (path == NULL)
        job_token(rank, token);
    else if (!make_token(token))
        status = yoke_fail(YOKE_ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    else
        status = publish(path, port, token);
    while (status == YOKE_OK && left > 0 && wait_for(listener, POLLIN, deadline)) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        left -= take_part(fd, token, rank, parts) ? 1 : 0;
        close(fd);
    }
    close(listener);
    if (path != NULL)
        unlink(path);
out:
    free(path);
    return status;
}

/* --- the other ranks
 * -------------------------------------------------------------------- */

static int connect_to(const char *host, unsigned port, double deadline)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    char service[8];
    char own[256] = "";
    int fd = -1;
    snprintf(service, sizeof service, "%u", port);
    /* A host need not know its own name: small containers have no /etc/hosts. */
    if (gethostname(own, sizeof own - 1) == 0 && strcmp(own, host) == 0)
        host = "127.0.0.1";
    if (getaddrinfo(host, service, &hints, &list) != 0)
        return -1;
    for (struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next) {
        int error = 0;
        socklen_t size = sizeof error;
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            continue;
        bool fine =
            connect(fd, at->ai_addr, at->ai_addrlen) == 0 ||
            (errno == EINPROGRESS && wait_for(fd, POLLOUT, deadline) &&
             getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
        if (!fine) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* One attempt; false: rank 0 is not there yet. */
static bool try_send(const gather_rank_t *rank, const char *path,
                     const gather_part_t *part, double deadline)
{
    char host[256] = "", token[TOKEN_SIZE] = "", answer[8] = "";
    unsigned port = 0;
    if (path != NULL) {
        if (!read_meeting(path, host, &port, token))
            return false;
    } else {
        job_token(rank, token);
        port = port_of(rank->address);
        snprintf(host, sizeof host, "%.*s",
                 (int)(strrchr(rank->address, ':') - rank->address), rank->address);
    }
    int fd = connect_to(host, port, deadline);
    /* On one host its own name may not be resolvable. */
    if (fd < 0 && path != NULL && strcmp(host, part->host) == 0)
        fd = connect_to("localhost", port, deadline);
    if (fd < 0)
        return false;
    const char *document = part->document != NULL ? part->document : "";
    char *line = yoke_format("yoke-gather 1 %s %u %s %zu\n", token, rank->rank,
                             part->host, strlen(document));
    bool sent = line != NULL && send_all(fd, line, strlen(line), deadline) &&
                send_all(fd, document, strlen(document), deadline) &&
                receive_line(fd, answer, sizeof answer, deadline) &&
                strcmp(answer, "ok") == 0;
    free(line);
    close(fd);
    return sent;
}

yoke_status_t gather_send(const gather_rank_t *rank, double timeout,
                          const gather_part_t *part)
{
    char *path = rank->folder != NULL ? meeting_file(rank) : NULL;
    double deadline = now() + timeout;
    bool sent = false;
    while (!(sent = try_send(rank, path, part, deadline)) && now() < deadline) {
        const struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
    }
    yoke_status_t status =
        sent ? YOKE_OK
             : yoke_fail(YOKE_ERR_SYSTEM,
                         "rank %u: rank 0 not reached at %s within %g s; see "
                         "--rendezvous",
                         rank->rank, path != NULL ? path : rank->address, timeout);
    free(path);
    return status;
}
