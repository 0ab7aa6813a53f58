/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory file that the lowest rank of a group makes and the others map. The file is
 * opened through /proc where the ranks see each other's processes, else it is sent over a
 * datagram socket (which needs one network namespace). Ranks that can do neither are not
 * in one group. Nobody waits for anybody but in the control plane's all-gathers.
 */
#include "ucx_comm/transport/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#define GATHER_MS 60000
#define PAGE 4096u

typedef struct yoke_token {
    uint64_t words[2];
} yoke_token_t;

/* What each rank says of itself. */
typedef struct yoke_card {
    yoke_token_t token;     /* begins this rank's file */
    uint64_t token_address; /* of the same token in this rank's own memory */
    int32_t file;           /* descriptor in this rank's process */
    uint32_t name_size;     /* of its socket's abstract name; 0: it has none */
    char name[32];
} yoke_card_t;

struct yoke_arena {
    char *memory; /* the mapping: the group's tokens, then what the users see */
    uint64_t head, size;
    int ranks, index;
    int *members;
    bool whole, single_copy;
    yoke_token_t *token; /* that others read along with what they want */
    struct yoke_member { /* of each member */
        int32_t pid;
        uint64_t token_address;
        yoke_token_t token;
    } * mates;
};

/* What making one needs. */
typedef struct yoke_making {
    yoke_control_t *control;
    int size, rank;
    uint64_t bytes; /* of a file */
    int file, socket;
    yoke_card_t *cards;
    char *reach;       /* [opener * size + owner]: can open the owner's file */
    int *leaders;      /* of each rank */
    int *files;        /* of the others, as far as opened or received; else -1 */
    const char *trial; /* why the last one was not opened */
} yoke_making_t;

/* --- one's own file and socket --------------------------------------------------------
 */

static int make_file(uint64_t bytes)
{
    int file = memfd_create("yoke", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    /* Nobody may shrink it under the others. */
    if (ftruncate(file, (off_t)bytes) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        close(file);
        return -1;
    }
    return file;
}

/* A datagram socket with a name that the kernel makes. Without one: /proc alone. */
static int make_socket(yoke_card_t *card)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof name;
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&name, sizeof name.sun_family) != 0 ||
        getsockname(fd, (struct sockaddr *)&name, &size) != 0 ||
        size - offsetof(struct sockaddr_un, sun_path) > sizeof card->name) {
        close(fd);
        return -1;
    }
    card->name_size = (uint32_t)(size - offsetof(struct sockaddr_un, sun_path));
    memcpy(card->name, name.sun_path, card->name_size);
    return fd;
}

static yoke_status_t make_card(yoke_making_t *making, yoke_token_t *token,
                               yoke_card_t *out_card)
{
    memset(out_card, 0, sizeof *out_card);
    if (getrandom(token, sizeof *token, 0) != (ssize_t)sizeof *token)
        return yoke_fail(YOKE_ERR_SYSTEM, "shared memory: getrandom: %s",
                         strerror(errno));
    making->file = make_file(making->bytes);
    if (making->file < 0 ||
        pwrite(making->file, token, sizeof *token, 0) != (ssize_t)sizeof *token)
        return yoke_fail(YOKE_ERR_SYSTEM, "shared memory of %llu bytes: %s",
                         (unsigned long long)making->bytes, strerror(errno));
    out_card->token = *token;
    out_card->token_address = (uint64_t)(uintptr_t)token;
    out_card->file = making->file;
    if (making->size > 1)
        making->socket = make_socket(out_card);
    return YOKE_OK;
}

/* --- who can open whose file -----------------------------------------------------------
 */

int yoke_arena_pretended_hosts;

static bool same_machine(const yoke_making_t *making, int a, int b)
{
    if (yoke_arena_pretended_hosts > 0 &&
        a % yoke_arena_pretended_hosts != b % yoke_arena_pretended_hosts)
        return false;
    const yoke_peer_t *one = yoke_control_peer(making->control, a);
    const yoke_peer_t *other = yoke_control_peer(making->control, b);
    return memcmp(one->machine, other->machine, sizeof one->machine) == 0;
}

/* The file that a card speaks of, and not another one: numbers of processes and
 * descriptors are used again. */
static bool is_file_of(const yoke_making_t *making, int file, const yoke_card_t *card)
{
    yoke_token_t token;
    struct stat about;
    return fstat(file, &about) == 0 && (uint64_t)about.st_size == making->bytes &&
           pread(file, &token, sizeof token, 0) == (ssize_t)sizeof token &&
           memcmp(&token, &card->token, sizeof token) == 0;
}

static int open_file_of(yoke_making_t *making, int rank)
{
    const yoke_peer_t *mine = yoke_control_peer(making->control, making->rank);
    const yoke_peer_t *peer = yoke_control_peer(making->control, rank);
    if (!same_machine(making, making->rank, rank))
        return -1;
    if (mine->pid_space != peer->pid_space) {
        making->trial = "they are in different PID namespaces";
        return -1;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", peer->pid, making->cards[rank].file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && is_file_of(making, file, &making->cards[rank]))
        return file;
    making->trial = file < 0 ? strerror(errno) : "its file is not the one that was named";
    if (file >= 0)
        close(file);
    return -1;
}

/* Leaders are lower than their members: only lower ranks' files are ever mapped. */
static yoke_status_t gather_reach(yoke_making_t *making)
{
    size_t size = (size_t)making->size;
    char *row = malloc(size);
    if (row == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < making->size; rank++)
        row[rank] = rank == making->rank || making->files[rank] >= 0;
    yoke_status_t status =
        yoke_control_all_gather(making->control, row, size, making->reach, GATHER_MS);
    free(row);
    return status;
}

static void find_leaders(yoke_making_t *making)
{
    int n = making->size;
    for (int i = 0; i < n; i++)
        making->leaders[i] = -1;
    for (int leader = 0; leader < n; leader++) {
        if (making->leaders[leader] >= 0)
            continue;
        for (int rank = leader; rank < n; rank++)
            if (making->leaders[rank] < 0 && making->reach[rank * n + leader])
                making->leaders[rank] = leader;
    }
}

/* --- the second way: sockets
 * ------------------------------------------------------------
 */

/* Should `leader` send its file to `rank`? All ranks answer alike. */
static bool socket_may_help(const yoke_making_t *making, int leader, int rank)
{
    const yoke_peer_t *a = yoke_control_peer(making->control, leader);
    const yoke_peer_t *b = yoke_control_peer(making->control, rank);
    return leader < rank && making->leaders[leader] == leader &&
           making->leaders[rank] > leader && same_machine(making, leader, rank) &&
           a->net_space == b->net_space && making->cards[leader].name_size > 0 &&
           making->cards[rank].name_size > 0;
}

static void send_file(const yoke_making_t *making, const yoke_card_t *card)
{
    char byte = 'f';
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, card->name, card->name_size);
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_name = &to,
        .msg_namelen =
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + card->name_size),
        .msg_iov = &data,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &making->file, sizeof(int));
    /* Where it does not arrive the two do not share memory; no reason to fail. */
    if (sendmsg(making->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        yoke_debug("shared memory: sending a file: %s", strerror(errno));
}

static int receive_file(int socket)
{
    char byte;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int file = -1;
    for (;;) { /* what carries no file is not ours */
        message.msg_controllen = sizeof control;
        if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
            return -1;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header != NULL && header->cmsg_level == SOL_SOCKET &&
            header->cmsg_type == SCM_RIGHTS &&
            header->cmsg_len == CMSG_LEN(sizeof(int))) {
            memcpy(&file, CMSG_DATA(header), sizeof file);
            return file;
        }
    }
}

/* Anybody may send to an abstract name; only files with a token of ours are taken. */
static void take_files(yoke_making_t *making)
{
    for (int file; (file = receive_file(making->socket)) >= 0;) {
        int owner = 0;
        while (owner < making->size && !(making->files[owner] < 0 &&
                                         is_file_of(making, file, &making->cards[owner])))
            owner++;
        if (owner < making->size)
            making->files[owner] = file;
        else
            close(file);
    }
}

static yoke_status_t try_sockets(yoke_making_t *making)
{
    bool helps = false;
    for (int leader = 0; leader < making->size; leader++)
        for (int rank = leader + 1; rank < making->size; rank++) {
            bool here = socket_may_help(making, leader, rank);
            helps |= here;
            if (here && leader == making->rank)
                send_file(making, &making->cards[rank]);
        }
    if (!helps)
        return YOKE_OK;
    char sent = 1;
    yoke_status_t status =
        yoke_control_all_gather(making->control, &sent, 1, making->reach, GATHER_MS);
    if (status != YOKE_OK)
        return status;
    if (making->socket >= 0)
        take_files(making);
    status = gather_reach(making);
    if (status == YOKE_OK)
        find_leaders(making);
    return status;
}

static yoke_status_t find_groups(yoke_making_t *making)
{
    for (int rank = 0; rank < making->rank; rank++)
        making->files[rank] = open_file_of(making, rank);
    yoke_status_t status = gather_reach(making);
    if (status != YOKE_OK)
        return status;
    find_leaders(making);
    return try_sockets(making);
}

/* --- the mapping
 * -------------------------------------------------------------------------
 */

static _Atomic uint64_t *token_of(const yoke_arena_t *arena, int rank)
{
    return (_Atomic uint64_t *)(void *)(arena->memory + sizeof(yoke_token_t)) + rank;
}

static void map_file(yoke_making_t *making, yoke_arena_t *arena)
{
    int leader = making->leaders[making->rank];
    int file = leader == making->rank ? making->file : making->files[leader];
    /* Pages are not filled in now: the first to write one has it on its NUMA node. */
    void *memory = mmap(NULL, making->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return;
    arena->memory = memory;
    atomic_store(token_of(arena, making->rank), arena->token->words[0]);
}

/* Does what each member wrote into the file show here? */
static bool tokens_show(const yoke_making_t *making, const yoke_arena_t *arena)
{
    for (int rank = 0; rank < making->size; rank++)
        if (making->leaders[rank] == making->leaders[making->rank] &&
            atomic_load(token_of(arena, rank)) != making->cards[rank].token.words[0])
            return false;
    return true;
}

/* The token is read with the data: a process that got the number of one that ended does
 * not have it. */
static bool read_from(const struct yoke_member *source, void *to, uint64_t address,
                      uint64_t size)
{
    yoke_token_t token = {{0}};
    struct iovec here[2] = {{&token, sizeof token}, {to, size}};
    struct iovec there[2] = {{(void *)(uintptr_t)source->token_address, sizeof token},
                             {(void *)(uintptr_t)address, size}};
    unsigned long pieces = size > 0 ? 2 : 1;
    ssize_t got = process_vm_readv(source->pid, here, pieces, there, pieces, 0);
    if (got < 0)
        return false;
    if (memcmp(&token, &source->token, sizeof token) != 0)
        errno = ESRCH;
    else if (got < (ssize_t)(sizeof token + size))
        errno = EFAULT;
    else
        return true;
    return false;
}

static bool can_read_memory_of(const yoke_making_t *making, int rank)
{
    const yoke_peer_t *peer = yoke_control_peer(making->control, rank);
    const yoke_peer_t *mine = yoke_control_peer(making->control, making->rank);
    const yoke_card_t *card = &making->cards[rank];
    struct yoke_member source = {peer->pid, card->token_address, card->token};
    return peer->pid_space == mine->pid_space && read_from(&source, NULL, 0, 0);
}

static bool can_read_group(const yoke_making_t *making)
{
    for (int rank = 0; rank < making->size; rank++)
        if (making->leaders[rank] == making->leaders[making->rank] &&
            !can_read_memory_of(making, rank))
            return false;
    return true;
}

#define MAPPED 1
#define READS 2

/* Those that could not map are left out of their group. */
static yoke_status_t settle(yoke_making_t *making, yoke_arena_t *arena)
{
    char mine = arena->memory != NULL;
    yoke_status_t status =
        yoke_control_all_gather(making->control, &mine, 1, making->reach, GATHER_MS);
    if (status != YOKE_OK)
        return status;
    for (int rank = 0; rank < making->size; rank++)
        if (making->reach[rank] == 0)
            making->leaders[rank] = making->size + rank;
    if (mine != 0)
        mine = (char)((tokens_show(making, arena) ? MAPPED : 0) |
                      (can_read_group(making) ? READS : 0));
    status = yoke_control_all_gather(making->control, &mine, 1, making->reach, GATHER_MS);
    if (status != YOKE_OK)
        return status;
    arena->single_copy = true;
    for (int rank = 0; rank < making->size; rank++) {
        if ((making->reach[rank] & MAPPED) == 0)
            making->leaders[rank] = making->size + rank;
        else if (making->leaders[rank] == making->leaders[making->rank])
            arena->single_copy &= (making->reach[rank] & READS) != 0;
    }
    return YOKE_OK;
}

static yoke_status_t count_members(const yoke_making_t *making, yoke_arena_t *arena)
{
    arena->members = malloc((size_t)making->size * sizeof *arena->members);
    arena->mates = malloc((size_t)making->size * sizeof *arena->mates);
    if (arena->members == NULL || arena->mates == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < making->size; rank++) {
        if (making->leaders[rank] != making->leaders[making->rank])
            continue;
        if (rank == making->rank)
            arena->index = arena->ranks;
        arena->mates[arena->ranks] = (struct yoke_member){
            yoke_control_peer(making->control, rank)->pid,
            making->cards[rank].token_address, making->cards[rank].token};
        arena->members[arena->ranks++] = rank;
    }
    arena->whole = arena->ranks == making->size;
    return YOKE_OK;
}

/* Alone, or without luck: memory of this process. */
static yoke_status_t map_alone(const yoke_making_t *making, yoke_arena_t *arena)
{
    if (making->leaders[making->rank] < making->size)
        return YOKE_OK;
    if (arena->memory != NULL)
        munmap(arena->memory, making->bytes);
    void *memory = mmap(NULL, making->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    arena->memory = memory == MAP_FAILED ? NULL : memory;
    if (memory == MAP_FAILED)
        return yoke_fail(YOKE_ERR_NO_MEMORY, "shared memory: mmap of %llu bytes: %s",
                         (unsigned long long)making->bytes, strerror(errno));
    return YOKE_OK;
}

/* Once a process: every communicator would say the same. */
static void warn_apart(const yoke_making_t *making)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    const yoke_peer_t *mine = yoke_control_peer(making->control, making->rank);
    for (int rank = 0; rank < making->rank; rank++) {
        if (making->leaders[rank] == making->leaders[making->rank] ||
            !same_machine(making, rank, making->rank) ||
            atomic_flag_test_and_set(&warned))
            continue;
        yoke_warn("ranks %d and %d run on one machine (%s) and cannot share memory: %s; "
                  "they talk over the network stack. Containers can share: start them "
                  "with one PID or network namespace and one user",
                  rank, making->rank, mine->host,
                  making->trial != NULL ? making->trial : "mapping it failed");
        return;
    }
}

/* --- the public functions
 * ----------------------------------------------------------------
 */

static void free_arena(yoke_arena_t *arena)
{
    if (arena->memory != NULL)
        munmap(arena->memory, (arena->head + arena->size + PAGE - 1) / PAGE * PAGE);
    free(arena->members);
    free(arena->mates);
    free(arena->token);
    free(arena);
}

static void end_making(yoke_making_t *making)
{
    if (making->file >= 0)
        close(making->file);
    if (making->socket >= 0)
        close(making->socket);
    for (int i = 0; making->files != NULL && i < making->size; i++)
        if (making->files[i] >= 0)
            close(making->files[i]);
    free(making->cards);
    free(making->reach);
    free(making->leaders);
    free(making->files);
}

static yoke_status_t start_making(yoke_making_t *making)
{
    size_t n = (size_t)making->size;
    making->cards = calloc(n, sizeof *making->cards);
    making->reach = calloc(n, n);
    making->leaders = calloc(n, sizeof *making->leaders);
    making->files = malloc(n * sizeof *making->files);
    for (size_t i = 0; making->files != NULL && i < n; i++)
        making->files[i] = -1;
    if (making->cards == NULL || making->reach == NULL || making->leaders == NULL ||
        making->files == NULL)
        return yoke_fail_memory();
    return YOKE_OK;
}

/* Every rank takes part in every all-gather, so that a failure on one (which revokes or
 * hangs up) is the only thing that ends it early. */
static yoke_status_t make_arena(yoke_making_t *making, yoke_arena_t *arena)
{
    yoke_card_t card;
    yoke_status_t status = start_making(making);
    if (status == YOKE_OK)
        status = make_card(making, arena->token, &card);
    if (status == YOKE_OK)
        status = yoke_control_all_gather(making->control, &card, sizeof card,
                                         making->cards, GATHER_MS);
    if (status == YOKE_OK)
        status = find_groups(making);
    if (status != YOKE_OK)
        return status;
    map_file(making, arena);
    status = settle(making, arena);
    if (status == YOKE_OK)
        status = count_members(making, arena);
    if (status == YOKE_OK)
        status = map_alone(making, arena);
    if (status == YOKE_OK)
        warn_apart(making);
    return status;
}

yoke_status_t yoke_arena_create(yoke_control_t *control, uint64_t size,
                                yoke_arena_t **out_arena)
{
    yoke_making_t making = {.control = control,
                            .size = yoke_control_size(control),
                            .rank = yoke_control_rank(control),
                            .file = -1,
                            .socket = -1};
    yoke_arena_t *arena = calloc(1, sizeof *arena);
    yoke_token_t *token = calloc(1, sizeof *token);
    if (arena == NULL || token == NULL) {
        free(arena);
        free(token);
        return yoke_fail_memory();
    }
    arena->token = token;
    arena->size = size;
    arena->head = sizeof(yoke_token_t) + (uint64_t)making.size * sizeof(uint64_t);
    arena->head = (arena->head + PAGE - 1) / PAGE * PAGE;
    making.bytes = (arena->head + size + PAGE - 1) / PAGE * PAGE;
    yoke_status_t status = make_arena(&making, arena);
    if (status == YOKE_OK)
        *out_arena = arena;
    else
        free_arena(arena);
    end_making(&making);
    return status;
}

void yoke_arena_destroy(yoke_arena_t *arena)
{
    if (arena != NULL)
        free_arena(arena);
}

void *yoke_arena_base(const yoke_arena_t *arena)
{
    return arena->memory + arena->head;
}

uint64_t yoke_arena_size(const yoke_arena_t *arena)
{
    return arena->size;
}

int yoke_arena_ranks(const yoke_arena_t *arena)
{
    return arena->ranks;
}

int yoke_arena_index(const yoke_arena_t *arena)
{
    return arena->index;
}

int yoke_arena_rank(const yoke_arena_t *arena, int index)
{
    return arena->members[index];
}

bool yoke_arena_is_whole(const yoke_arena_t *arena)
{
    return arena->whole;
}

bool yoke_arena_single_copy(const yoke_arena_t *arena)
{
    return arena->single_copy;
}

bool yoke_arena_read(const yoke_arena_t *arena, int index, void *to, uint64_t address,
                     uint64_t size)
{
    return read_from(&arena->mates[index], to, address, size);
}
