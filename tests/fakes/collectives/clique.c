/* SPDX-License-Identifier: Apache-2.0 */
/* Who made an id waits on a socket that the id names, and gives everybody who comes the
 * memory of the clique. It must live until all have come, as with the real ones. */
#include "clique.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct host { /* who waits */
    int socket, memory;
} host_t;

static host_t hosts[1024];
static atomic_int host_count;

static uint64_t sum_of(const void *id, size_t size)
{
    const unsigned char *bytes = id;
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i + 8 < size; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    return sum;
}

static socklen_t address_of(const void *id, struct sockaddr_un *out)
{
    const unsigned char *bytes = id;
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    int length = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "yoke-fake-ccl-");
    for (int i = 0; i < 16; i++)
        length += snprintf(out->sun_path + 1 + length,
                           sizeof out->sun_path - 1 - (size_t)length, "%02x", bytes[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static void give(int to, int memory)
{
    char byte = 'c', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &memory, sizeof memory);
    sendmsg(to, &message, MSG_NOSIGNAL);
    close(to);
}

static int take(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    int memory = -1;
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof memory);
    return memory;
}

static void *serve(void *context)
{
    const host_t *host = context;
    for (;;) {
        int to = accept4(host->socket, NULL, NULL, SOCK_CLOEXEC);
        if (to >= 0)
            give(to, host->memory);
        else if (errno != EINTR && errno != ECONNABORTED)
            return NULL;
    }
}

ccl_result_t ccl_id_make(void *id, size_t size)
{
    int index = atomic_fetch_add(&host_count, 1);
    if (index >= (int)(sizeof hosts / sizeof *hosts))
        return CCL_SYSTEM;
    host_t *host = &hosts[index];
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((char *)id + done, size - done, 0);
        if (got <= 0)
            return CCL_SYSTEM;
        done += (size_t)got;
    }
    uint64_t sum = sum_of(id, size);
    memcpy((char *)id + size - 8, &sum, 8);

    struct sockaddr_un address;
    socklen_t length = address_of(id, &address);
    pthread_t thread;
    host->memory = memfd_create("yoke-fake-ccl", MFD_CLOEXEC);
    host->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (host->memory < 0 || ftruncate(host->memory, sizeof(ccl_clique_t)) != 0 ||
        bind(host->socket, (struct sockaddr *)&address, length) != 0 ||
        listen(host->socket, 64) != 0 || pthread_create(&thread, NULL, serve, host) != 0)
        return CCL_SYSTEM;
    pthread_detach(thread);
    return CCL_OK;
}

ccl_result_t ccl_clique_open(const void *id, size_t size, ccl_clique_t **out_clique)
{
    uint64_t sum;
    struct sockaddr_un address;
    memcpy(&sum, (const char *)id + size - 8, 8);
    if (sum != sum_of(id, size))
        return CCL_ARGUMENT;
    socklen_t length = address_of(id, &address);
    int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int memory = -1;
    if (line >= 0 && connect(line, (struct sockaddr *)&address, length) == 0)
        memory = take(line);
    if (line >= 0)
        close(line);
    if (memory < 0)
        return CCL_SYSTEM;
    void *at =
        mmap(NULL, sizeof(ccl_clique_t), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    close(memory);
    if (at == MAP_FAILED)
        return CCL_SYSTEM;
    *out_clique = at;
    return CCL_OK;
}

void ccl_clique_close(ccl_clique_t *clique)
{
    munmap(clique, sizeof *clique);
}

size_t ccl_pipe_write(ccl_pipe_t *pipe, const void *data, size_t size)
{
    unsigned long at = atomic_load_explicit(&pipe->written, memory_order_relaxed);
    unsigned long read = atomic_load_explicit(&pipe->read, memory_order_acquire);
    size_t room = CCL_PIPE - (size_t)(at - read);
    size_t moved = size < room ? size : room;
    size_t first = CCL_PIPE - at % CCL_PIPE;
    if (first > moved)
        first = moved;
    memcpy(pipe->data + at % CCL_PIPE, data, first);
    memcpy(pipe->data, (const char *)data + first, moved - first);
    atomic_store_explicit(&pipe->written, at + moved, memory_order_release);
    return moved;
}

size_t ccl_pipe_read(ccl_pipe_t *pipe, void *data, size_t size)
{
    unsigned long at = atomic_load_explicit(&pipe->read, memory_order_relaxed);
    unsigned long written = atomic_load_explicit(&pipe->written, memory_order_acquire);
    size_t there = (size_t)(written - at);
    size_t moved = size < there ? size : there;
    size_t first = CCL_PIPE - at % CCL_PIPE;
    if (first > moved)
        first = moved;
    memcpy(data, pipe->data + at % CCL_PIPE, first);
    memcpy((char *)data + first, pipe->data, moved - first);
    atomic_store_explicit(&pipe->read, at + moved, memory_order_release);
    return moved;
}
