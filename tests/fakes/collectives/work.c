/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators, and calls as sets of transfers that are advanced without blocking. A
 * send has ended when the other side has taken its last byte: who forgets a group around
 * a send and a receive stands still, as on the real ones. */
#include "clique.h"
#include "tests/fakes/common/service.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KIND_COMM = 0xcc1 };

typedef struct head { /* goes before the bytes of a transfer, and is compared */
    uint32_t kind, type, op, root;
    uint64_t size;
} head_t;

typedef struct transfer {
    int peer;
    bool out, ended;
    char *at; /* as the fake reads and writes it */
    uint64_t size, done;
    size_t head_done;
    head_t head, got;
} transfer_t;

typedef struct work {
    struct work *next; /* of the communicator */
    ccl_comm_t *comm;
    void *stream;
    uint64_t ticket; /* a communicator's work is done in order, whatever the streams */
    transfer_t *transfers;
    int count, room;
    struct copy {
        char *to;
        const char *from;
        uint64_t size;
    } * copies; /* before all */
    int copy_count;
    /* after all: a reduction into `result` */
    char *parts, *result;
    const char *mine;
    uint64_t reduced;
    ccl_type_t type;
    ccl_op_t op;
    bool started, loose; /* loose: sends and receives, which a group joins */
} work_t;

struct ccl_comm {
    fake_handle_t handle;
    int references; /* the handle and its works; under `lock`, as the next */
    work_t *works;
    uint64_t tickets, turn;
    ccl_clique_t *clique;
    int rank, ranks, device;
    atomic_bool aborted, mismatch;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_llong async_code;
static atomic_bool stalled;

static _Thread_local struct {
    int depth;
    ccl_result_t error;
    work_t *first, *last;
} group;

FAKE_API void yoke_fake_ccl_async(int64_t code)
{
    atomic_store(&async_code, code);
}

FAKE_API void yoke_fake_ccl_stall(bool stall)
{
    atomic_store(&stalled, stall);
}

static const fake_service_t *service(void)
{
    static const fake_service_t *_Atomic found;
    char path[4200];
    if (found == NULL && ccl_library.runtime != NULL) {
        snprintf(path, sizeof path, "%s/%s", fake_library_folder(), ccl_library.runtime);
        void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        fake_service_entry_t entry = NULL;
        if (library != NULL)
            *(void **)(void *)&entry = dlsym(library, "yoke_fake_service");
        found = entry != NULL ? entry() : NULL;
    }
    return found;
}

static void *shadow(const void *address)
{
    return ccl_library.runtime != NULL ? service()->shadow(address)
                                       : (void *)(uintptr_t)address;
}

static bool usable(const void *address, uint64_t size, ccl_type_t type)
{
    if (size == 0)
        return true;
    if (address == NULL || (uintptr_t)address % ccl_size(type) != 0)
        return false;
    return ccl_library.runtime == NULL || service()->usable(address, (size_t)size);
}

/* ---- communicators ----------------------------------------------------------------- */

static bool come(ccl_clique_t *clique, int ranks, int rank)
{
    int none = 0;
    unsigned nobody = 0;
    bool right =
        (atomic_compare_exchange_strong(&clique->ranks, &none, ranks) || none == ranks) &&
        (atomic_compare_exchange_strong(&clique->version, &nobody, ccl_library.version) ||
         nobody == ccl_library.version);
    unsigned bit = 1u << rank;
    right = right && (atomic_fetch_or(&clique->joined, bit) & bit) == 0;
    if (!right)
        atomic_store(&clique->failed, true);
    return right;
}

static ccl_result_t wait_all(ccl_clique_t *clique, int ranks)
{
    for (int i = 0; i < 300000; i++) {
        if (atomic_load(&clique->failed))
            return CCL_USAGE;
        if (atomic_load(&clique->joined) == (1u << ranks) - 1)
            return CCL_OK;
        usleep(100);
    }
    return CCL_TIMEOUT;
}

ccl_result_t ccl_join(const void *id, size_t size, int ranks, int rank, int device,
                      ccl_comm_t **out_comm)
{
    ccl_clique_t *clique = NULL;
    if (ranks < 1 || ranks > CCL_MAX_RANKS || rank < 0 || rank >= ranks)
        return CCL_ARGUMENT;
    if (group.depth > 0)
        return CCL_USAGE; /* allowed there; not needed here */
    if (ccl_library.runtime != NULL && service() == NULL)
        return CCL_DEVICE;
    if (device < 0 && ccl_library.runtime != NULL)
        device = service()->current();
    if (ccl_library.runtime != NULL && (device < 0 || fake_visible(device) == NULL))
        return CCL_DEVICE;
    ccl_result_t result = ccl_clique_open(id, size, &clique);
    if (result != CCL_OK)
        return result;
    result = come(clique, ranks, rank) ? wait_all(clique, ranks) : CCL_USAGE;
    ccl_comm_t *comm = result == CCL_OK ? calloc(1, sizeof *comm) : NULL;
    if (comm == NULL) {
        ccl_clique_close(clique);
        return result != CCL_OK ? result : CCL_SYSTEM;
    }
    comm->clique = clique;
    comm->references = 1;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->device = device;
    fake_handle_add(&comm->handle, KIND_COMM);
    *out_comm = comm;
    return CCL_OK;
}

static void drop(ccl_comm_t *comm) /* under the lock */
{
    if (--comm->references > 0)
        return;
    ccl_clique_close(comm->clique);
    free(comm);
}

ccl_comm_t *ccl_comm(const void *handle)
{
    return fake_handle_check(handle, KIND_COMM);
}

int ccl_rank(const ccl_comm_t *comm)
{
    return comm->rank;
}

int ccl_ranks(const ccl_comm_t *comm)
{
    return comm->ranks;
}

int ccl_device(const ccl_comm_t *comm)
{
    return comm->device;
}

bool ccl_lost(const ccl_comm_t *comm)
{
    fake_card_t *card = comm->device >= 0 ? fake_visible(comm->device) : NULL;
    return card != NULL && atomic_load(&card->lost);
}

int64_t ccl_async(const ccl_comm_t *comm, int64_t mismatch, int64_t lost)
{
    int64_t code = atomic_load(&async_code);
    if (code != 0)
        return code;
    return ccl_lost(comm) ? lost : atomic_load(&comm->mismatch) ? mismatch : 0;
}

static bool is_idle(ccl_comm_t *comm)
{
    pthread_mutex_lock(&lock);
    bool idle = comm->works == NULL;
    pthread_mutex_unlock(&lock);
    return idle;
}

static void release(ccl_comm_t *comm)
{
    fake_handle_remove(&comm->handle);
    pthread_mutex_lock(&lock);
    drop(comm);
    pthread_mutex_unlock(&lock);
}

ccl_result_t ccl_leave(ccl_comm_t *comm)
{
    for (int i = 0; i < 50000 && !is_idle(comm) && !ccl_lost(comm); i++)
        usleep(100);
    bool idle = is_idle(comm);
    atomic_store(&comm->aborted, true);
    release(comm);
    return idle ? CCL_OK : CCL_TIMEOUT;
}

ccl_result_t ccl_abort(ccl_comm_t *comm)
{
    atomic_store(&comm->aborted, true);
    release(comm);
    return CCL_OK;
}

/* ---- works ------------------------------------------------------------------------- */

static work_t *make_work(ccl_comm_t *comm, void *stream, int room)
{
    work_t *work = calloc(1, sizeof *work);
    if (work == NULL)
        abort();
    work->comm = comm;
    work->stream = stream;
    work->room = room;
    work->transfers = calloc((size_t)room, sizeof *work->transfers);
    work->copies = calloc((size_t)room, sizeof *work->copies);
    if (work->transfers == NULL || work->copies == NULL)
        abort();
    return work;
}

static void free_work(work_t *work)
{
    free(work->transfers);
    free(work->copies);
    free(work->parts);
    free(work);
}

static bool move(ccl_pipe_t *pipe, transfer_t *t)
{
    const head_t *head = &t->head;
    if (t->head_done < sizeof *head) {
        t->head_done += t->out ? ccl_pipe_write(pipe, (const char *)head + t->head_done,
                                                sizeof *head - t->head_done)
                               : ccl_pipe_read(pipe, (char *)&t->got + t->head_done,
                                               sizeof *head - t->head_done);
        if (t->head_done < sizeof *head)
            return true;
        if (!t->out && memcmp(head, &t->got, sizeof *head) != 0)
            return false;
    }
    if (t->done < t->size)
        t->done += t->out ? ccl_pipe_write(pipe, t->at + t->done, t->size - t->done)
                          : ccl_pipe_read(pipe, t->at + t->done, t->size - t->done);
    t->ended = t->done == t->size &&
               (!t->out || atomic_load(&pipe->written) == atomic_load(&pipe->read));
    return true;
}

/* Is a transfer the first of those that use its pipe? */
static bool is_first(const work_t *work, const transfer_t *t)
{
    for (const transfer_t *o = work->transfers; o < t; o++)
        if (!o->ended && o->peer == t->peer && o->out == t->out)
            return false;
    return true;
}

/* False: not yet. */
static bool advance(work_t *work)
{
    ccl_comm_t *comm = work->comm;
    bool ended = true;
    for (int i = 0; !work->started && i < work->copy_count; i++)
        memmove(work->copies[i].to, work->copies[i].from, work->copies[i].size);
    work->started = true;
    for (int i = 0; i < work->count; i++) {
        transfer_t *t = &work->transfers[i];
        ccl_pipe_t *pipe = t->out ? &comm->clique->pipes[comm->rank][t->peer]
                                  : &comm->clique->pipes[t->peer][comm->rank];
        if (!t->ended && is_first(work, t) && !move(pipe, t)) {
            atomic_store(&comm->mismatch, true);
            return true;
        }
        ended &= t->ended;
    }
    if (!ended)
        return false;
    if (work->result != NULL) {
        const void *parts[CCL_MAX_RANKS];
        for (int r = 0; r < comm->ranks; r++)
            parts[r] = r == comm->rank ? (const void *)work->mine
                                       : work->parts + (uint64_t)r * work->reduced *
                                                           ccl_size(work->type);
        ccl_reduce(work->result, parts, comm->ranks, work->reduced, work->type, work->op);
    }
    return true;
}

/* What the stream asks: is this done? The work is gone when it is. */
static bool ask(void *data)
{
    work_t *work;
    memcpy(&work, data, sizeof work);
    ccl_comm_t *comm = work->comm;
    pthread_mutex_lock(&lock);
    bool mine = comm->turn == work->ticket;
    pthread_mutex_unlock(&lock);
    bool over = atomic_load(&comm->aborted) || atomic_load(&comm->mismatch);
    if (!over && (!mine || atomic_load(&stalled) || !advance(work)))
        return false;
    pthread_mutex_lock(&lock);
    for (work_t **w = &comm->works; *w != NULL; w = &(*w)->next)
        if (*w == work) {
            *w = work->next;
            break;
        }
    comm->turn++;
    free_work(work);
    drop(comm);
    pthread_mutex_unlock(&lock);
    return true;
}

static ccl_result_t submit(work_t *work)
{
    ccl_comm_t *comm = work->comm;
    pthread_mutex_lock(&lock);
    work->ticket = comm->tickets++;
    work->next = comm->works;
    comm->works = work;
    comm->references++;
    pthread_mutex_unlock(&lock);
    if (ccl_library.runtime == NULL) { /* host memory: the call itself waits */
        while (!ask(&work))
            usleep(20);
        return CCL_OK;
    }
    if (service()->poll(work->stream, ask, &work, sizeof work) == 0)
        return CCL_OK;
    pthread_mutex_lock(&lock);
    comm->works = work->next;
    comm->tickets--;
    drop(comm);
    pthread_mutex_unlock(&lock);
    free_work(work);
    return CCL_DEVICE;
}

/* ---- calls as works ---------------------------------------------------------------- */

static void add(work_t *work, const ccl_call_t *call, int peer, bool out, const void *at,
                uint64_t count, uint32_t kind)
{
    transfer_t *t = &work->transfers[work->count++];
    uint64_t size = count * ccl_size(call->type);
    memset(&t->head, 0, sizeof t->head);
    t->peer = peer;
    t->out = out;
    t->size = size;
    t->at = size > 0 ? (char *)(uintptr_t)at : NULL;
    t->head.kind = kind;
    t->head.type = (uint32_t)call->type;
    t->head.op = (uint32_t)call->op;
    t->head.root = kind == CCL_SEND ? 0 : (uint32_t)call->root;
    t->head.size = size;
}

static void copy(work_t *work, void *to, const void *from, uint64_t size)
{
    if (to != from && size > 0)
        work->copies[work->copy_count++] = (struct copy){to, from, size};
}

static char *block(const void *base, uint64_t index, uint64_t bytes)
{
    return base != NULL ? (char *)(uintptr_t)base + index * bytes : NULL;
}

static void reduce_parts(work_t *work, const ccl_call_t *call, uint64_t count,
                         const char *mine, char *result)
{
    uint64_t bytes = count * ccl_size(call->type);
    work->parts = malloc((size_t)work->comm->ranks * bytes + 1);
    if (work->parts == NULL)
        abort();
    for (int r = 0; r < work->comm->ranks; r++)
        if (r != work->comm->rank)
            add(work, call, r, false, block(work->parts, (uint64_t)r, bytes), count,
                (uint32_t)call->kind);
    work->mine = mine;
    work->result = result;
    work->reduced = count;
    work->type = call->type;
    work->op = call->op;
}

/* Elements and place of a rank's block in an all-to-all. */
static uint64_t count_of(const uint64_t *counts, const ccl_call_t *call, int rank)
{
    return counts != NULL ? counts[rank] : call->count;
}

static uint64_t place_of(const uint64_t *places, const ccl_call_t *call, int rank)
{
    return places != NULL ? places[rank] : (uint64_t)rank * call->count;
}

static void build(work_t *work, const ccl_call_t *call, char *send, char *recv)
{
    const ccl_comm_t *comm = work->comm;
    int me = comm->rank, n = comm->ranks;
    uint64_t size = ccl_size(call->type), bytes = call->count * size;
    uint32_t kind = (uint32_t)call->kind;
    for (int r = 0; r < n; r++) {
        uint64_t out = 0, in = 0;
        const char *from = send;
        char *to = recv;
        switch (call->kind) {
        case CCL_ALL_REDUCE:
        case CCL_ALL_GATHER:
        case CCL_BARRIER:
            out = in = call->count;
            to = block(recv, (uint64_t)r, bytes);
            break;
        case CCL_REDUCE:
        case CCL_GATHER:
            out = r == call->root ? call->count : 0;
            in = me == call->root ? call->count : 0;
            to = block(recv, (uint64_t)r, bytes);
            break;
        case CCL_REDUCE_SCATTER:
            out = in = call->count;
            from = block(send, (uint64_t)r, bytes);
            break;
        case CCL_BROADCAST:
        case CCL_SCATTER:
            out = me == call->root ? call->count : 0;
            in = r == call->root ? call->count : 0;
            from = call->kind == CCL_SCATTER ? block(send, (uint64_t)r, bytes) : send;
            break;
        case CCL_ALL_TO_ALL:
            out = count_of(call->send_counts, call, r);
            in = count_of(call->recv_counts, call, r);
            from = block(send, place_of(call->send_places, call, r), size);
            to = block(recv, place_of(call->recv_places, call, r), size);
            break;
        default:
            break;
        }
        bool reduces = call->kind <= CCL_REDUCE_SCATTER;
        if (r == me && !reduces && in > 0 && out > 0)
            copy(work, to, from, in * size);
        if (r != me && out > 0)
            add(work, call, r, true, from, out, kind);
        if (r != me && in > 0 && !reduces)
            add(work, call, r, false, to, in, kind);
    }
    if (call->kind == CCL_ALL_REDUCE || (call->kind == CCL_REDUCE && me == call->root))
        reduce_parts(work, call, call->count, send, recv);
    else if (call->kind == CCL_REDUCE_SCATTER)
        reduce_parts(work, call, call->count, block(send, (uint64_t)me, bytes), recv);
}

/* Bytes that a call reads and writes. */
static void extents(const ccl_comm_t *comm, const ccl_call_t *call, uint64_t *out_send,
                    uint64_t *out_recv)
{
    uint64_t one = call->count * ccl_size(call->type);
    uint64_t all = one * (uint64_t)comm->ranks;
    bool root = comm->rank == call->root;
    uint64_t send = one, recv = one;
    switch (call->kind) {
    case CCL_REDUCE:
        recv = root ? one : 0;
        break;
    case CCL_REDUCE_SCATTER:
        send = all;
        break;
    case CCL_ALL_GATHER:
        recv = all;
        break;
    case CCL_BROADCAST:
        send = root ? one : 0;
        break;
    case CCL_GATHER:
        recv = root ? all : 0;
        break;
    case CCL_SCATTER:
        send = root ? all : 0;
        break;
    case CCL_ALL_TO_ALL:
        send = call->send_counts != NULL ? 0 : all;
        recv = call->recv_counts != NULL ? 0 : all;
        for (int r = 0; call->send_counts != NULL && r < comm->ranks; r++) {
            uint64_t out = call->send_counts[r] > 0
                               ? call->send_places[r] + call->send_counts[r]
                               : 0;
            uint64_t in = call->recv_counts[r] > 0
                              ? call->recv_places[r] + call->recv_counts[r]
                              : 0;
            send = out * ccl_size(call->type) > send ? out * ccl_size(call->type) : send;
            recv = in * ccl_size(call->type) > recv ? in * ccl_size(call->type) : recv;
        }
        break;
    case CCL_SEND:
        recv = 0;
        break;
    case CCL_RECV:
        send = 0;
        break;
    case CCL_BARRIER:
        send = recv = 0;
        break;
    default:
        break;
    }
    *out_send = send;
    *out_recv = recv;
}

static ccl_result_t check(const ccl_comm_t *comm, const ccl_call_t *call)
{
    uint64_t send, recv;
    bool reduces = call->kind <= CCL_REDUCE_SCATTER;
    if (call->type >= CCL_NO_TYPE || (reduces && call->op >= CCL_NO_OP) ||
        call->root < 0 || call->root >= comm->ranks || call->count > (uint64_t)1 << 40)
        return CCL_ARGUMENT;
    if ((call->kind == CCL_SEND || call->kind == CCL_RECV) && call->root == comm->rank &&
        !ccl_library.self)
        return CCL_ARGUMENT;
    if (ccl_lost(comm))
        return CCL_DEVICE;
    extents(comm, call, &send, &recv);
    return usable(call->send, send, call->type) && usable(call->recv, recv, call->type)
               ? CCL_OK
               : CCL_ARGUMENT;
}

/* A send to itself meets the receive of the same group; false: one has none. */
static bool pair_self(work_t *work)
{
    int me = work->comm->rank, kept = 0;
    for (int i = 0; i < work->count; i++) {
        transfer_t *t = &work->transfers[i];
        if (t->peer != me || t->ended || !t->out)
            continue;
        for (int j = 0; j < work->count; j++) {
            transfer_t *in = &work->transfers[j];
            if (in->peer != me || in->ended || in->out)
                continue;
            copy(work, in->at, t->at, t->size < in->size ? t->size : in->size);
            in->ended = t->ended = true;
            break;
        }
    }
    bool paired = true;
    for (int i = 0; i < work->count; i++)
        if (!work->transfers[i].ended) {
            paired &= work->transfers[i].peer != me;
            work->transfers[kept++] = work->transfers[i];
        }
    work->count = kept;
    return paired;
}

static void grow(work_t *work)
{
    if (work->count < work->room)
        return;
    work->room *= 2;
    work->transfers = realloc(work->transfers, (size_t)work->room * sizeof(transfer_t));
    work->copies = realloc(work->copies, (size_t)work->room * sizeof *work->copies);
    if (work->transfers == NULL || work->copies == NULL)
        abort();
    memset(work->transfers + work->room / 2, 0,
           (size_t)(work->room / 2) * sizeof(transfer_t));
}

/* The work of this group that gathers sends and receives of a communicator. */
static work_t *loose_work(ccl_comm_t *comm, void *stream)
{
    for (work_t *w = group.first; w != NULL; w = w->next)
        if (w->loose && w->comm == comm && w->stream == stream)
            return w;
    return NULL;
}

static void keep(work_t *work)
{
    work->next = NULL;
    if (group.last != NULL)
        group.last->next = work;
    else
        group.first = work;
    group.last = work;
}

static ccl_result_t begin(ccl_comm_t *comm, const ccl_call_t *call, void *stream)
{
    ccl_result_t result = check(comm, call);
    if (result != CCL_OK)
        return result;
    uint64_t send_size, recv_size;
    extents(comm, call, &send_size, &recv_size);
    char *send = send_size > 0 ? shadow(call->send) : NULL;
    char *recv = recv_size > 0 ? shadow(call->recv) : NULL;
    if (call->kind != CCL_SEND && call->kind != CCL_RECV) {
        work_t *work = make_work(comm, stream, 2 * comm->ranks + 2);
        build(work, call, send, recv);
        if (group.depth == 0)
            return submit(work);
        keep(work);
        return CCL_OK;
    }
    work_t *work = loose_work(comm, stream);
    if (work == NULL) {
        work = make_work(comm, stream, 8);
        work->loose = true;
        keep(work);
    }
    grow(work);
    add(work, call, call->root, call->kind == CCL_SEND,
        call->kind == CCL_SEND ? send : recv, call->count, CCL_SEND);
    return CCL_OK;
}

static ccl_result_t flush(void)
{
    ccl_result_t result = group.error;
    work_t *next;
    for (work_t *w = group.first; w != NULL; w = next) {
        next = w->next;
        if (w->loose && !pair_self(w) && result == CCL_OK)
            result = CCL_USAGE; /* it would wait for itself */
        if (result == CCL_OK)
            result = submit(w);
        else
            free_work(w);
    }
    group.first = group.last = NULL;
    group.error = CCL_OK;
    return result;
}

ccl_result_t ccl_start(ccl_comm_t *comm, const ccl_call_t *call, void *stream)
{
    ccl_result_t result = begin(comm, call, stream);
    if (group.depth == 0 && group.first != NULL)
        return flush();
    if (result != CCL_OK && group.depth > 0 && group.error == CCL_OK)
        group.error = result;
    return result;
}

void ccl_group_begin(void)
{
    group.depth++;
}

ccl_result_t ccl_group_end(void)
{
    if (group.depth == 0)
        return CCL_USAGE;
    return --group.depth > 0 ? CCL_OK : flush();
}

void ccl_group_drop(void)
{
    work_t *next;
    for (work_t *w = group.first; w != NULL; w = next) {
        next = w->next;
        free_work(w);
    }
    group.first = group.last = NULL;
    group.error = CCL_OK;
    group.depth = 0;
}
