/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define BACKLOG 1024

static void prepare(int fd)
{
    int one = 1;
    /* Small messages that someone waits for; a failure here costs time, nothing else. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int open_listener(const struct sockaddr_storage *where, socklen_t size,
                         bool both_families)
{
    int one = 1, zero = 0;
    int fd = socket(where->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (where->ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? &zero : &one,
                         sizeof one);
    if (bind(fd, (const struct sockaddr *)where, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static yoke_status_t listen_failed(const yoke_address_t *address, uint16_t port)
{
    int error = errno;
    char text[64] = "any address";
    if (address != NULL)
        yoke_address_text(address, text);
    if (error == EADDRINUSE && port != 0)
        return yoke_fail(YOKE_ERR_SYSTEM,
                         "port %u is in use by another program; choose another one "
                         "(YOKE_COMM_PORT)",
                         port);
    return yoke_fail(YOKE_ERR_SYSTEM, "cannot listen on port %u of %s: %s", port, text,
                     strerror(error));
}

yoke_status_t yoke_socket_listen(const yoke_address_t *address, uint16_t port,
                                 int *out_fd, uint16_t *out_port)
{
    static const yoke_address_t any_six = {.family = 6}, any_four = {.family = 4};
    struct sockaddr_storage where;
    yoke_address_t bound;
    socklen_t size =
        yoke_address_socket(address != NULL ? address : &any_six, port, &where);
    int fd = open_listener(&where, size, address == NULL);
    if (fd < 0 && address == NULL && errno != EADDRINUSE) { /* a kernel without IPv6 */
        size = yoke_address_socket(&any_four, port, &where);
        fd = open_listener(&where, size, false);
    }
    if (fd < 0)
        return listen_failed(address, port);
    if (!yoke_socket_local(fd, &bound, out_port)) {
        close(fd);
        return yoke_fail(YOKE_ERR_SYSTEM, "a listening socket does not tell its port");
    }
    *out_fd = fd;
    return YOKE_OK;
}

int yoke_socket_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        prepare(fd);
    return fd;
}

int yoke_socket_connect(const yoke_address_t *address, uint16_t port,
                        const yoke_address_t *source)
{
    struct sockaddr_storage to, from;
    socklen_t size = yoke_address_socket(address, port, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    prepare(fd);
    if (source != NULL && source->family == address->family) {
        socklen_t from_size = yoke_address_socket(source, 0, &from);
        (void)bind(fd, (const struct sockaddr *)&from, from_size);
    }
    if (connect(fd, (const struct sockaddr *)&to, size) == 0 || errno == EINPROGRESS)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int yoke_socket_error(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return errno;
    return error;
}

bool yoke_socket_is_closed(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};
    return poll(&one, 1, 0) > 0 && one.revents != 0;
}

bool yoke_socket_local(int fd, yoke_address_t *out_address, uint16_t *out_port)
{
    struct sockaddr_storage storage;
    socklen_t size = sizeof storage;
    return getsockname(fd, (struct sockaddr *)&storage, &size) == 0 &&
           yoke_address_of_socket(&storage, out_address, out_port);
}

bool yoke_socket_remote(int fd, yoke_address_t *out_address, uint16_t *out_port)
{
    struct sockaddr_storage storage;
    socklen_t size = sizeof storage;
    return getpeername(fd, (struct sockaddr *)&storage, &size) == 0 &&
           yoke_address_of_socket(&storage, out_address, out_port);
}
