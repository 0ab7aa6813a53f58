/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/comm/one_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ucx_comm/collectives/reference.h"
#include "ucx_comm/collectives/algorithms.h"

#define MOST 16
#define GUARD 128

struct one_call_buffers {
    uint64_t counts[MOST], displacements[MOST];
    uint64_t matrix[MOST][MOST]; /* all-to-all-v: from, to */
    uint64_t sent[MOST], sent_at[MOST], came[MOST], came_at[MOST];
    uint64_t send_bytes, recv_bytes, whole;
    char *memory, *memory_recv; /* as allocated; NULL: in place */
    char *send, *recv;
};

static uint64_t last_hash;

uint64_t one_call_hash(void)
{
    return last_hash;
}

bool one_call_reduces(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

bool one_call_has_root(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_BROADCAST ||
           collective == YOKE_COLLECTIVE_REDUCE || collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER;
}

bool one_call_has_v_form(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_GATHER ||
           collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_TO_ALL;
}

static uint64_t draw(uint64_t *random, uint64_t count)
{
    uint64_t value = reference_random(random);
    return value % 4 == 0 ? 0 : (value >> 8) % (count + 1);
}

/* The same on every rank. */
static void draw_counts(const one_call_t *call, int n, one_call_buffers_t *b)
{
    uint64_t random = call->seed, at = 0;
    bool gaps = call->collective != YOKE_COLLECTIVE_REDUCE_SCATTER;
    for (int i = 0; i < n; i++) {
        b->counts[i] = call->v_form ? draw(&random, call->count) : call->count;
        b->displacements[i] = at;
        at += b->counts[i];
        if (call->v_form && gaps)
            at += reference_random(&random) % 3;
        for (int j = 0; j < n; j++)
            b->matrix[i][j] = call->v_form ? draw(&random, call->count) : call->count;
    }
}

static uint64_t lay_out(const uint64_t *counts, int n, uint64_t gap, uint64_t *at)
{
    uint64_t next = 0, end = 0;
    for (int i = 0; i < n; i++) {
        at[i] = next;
        end = next + counts[i];
        next = end + gap;
    }
    return end;
}

static void measure(const one_call_t *call, int rank, int n, one_call_buffers_t *b)
{
    uint64_t unit = yoke_element_size(call->element), blocks = 0;
    for (int i = 0; i < n; i++)
        if (b->displacements[i] + b->counts[i] > blocks)
            blocks = b->displacements[i] + b->counts[i];
    for (int i = 0; i < n; i++) {
        b->sent[i] = b->matrix[rank][i];
        b->came[i] = b->matrix[i][rank];
    }
    uint64_t gap = call->v_form ? 2 : 0, own = b->counts[rank];
    uint64_t sent = lay_out(b->sent, n, gap, b->sent_at);
    uint64_t came = lay_out(b->came, n, gap, b->came_at);
    bool root = rank == call->root;
    uint64_t send = call->count, recv = call->count;
    switch (call->collective) {
    case YOKE_COLLECTIVE_BARRIER:
        send = recv = 0;
        break;
    case YOKE_COLLECTIVE_BROADCAST:
        send = 0;
        break;
    case YOKE_COLLECTIVE_REDUCE:
        recv = root ? call->count : 0;
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        send = blocks;
        recv = own;
        break;
    case YOKE_COLLECTIVE_SCATTER:
        send = root ? blocks : 0;
        recv = own;
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
        send = own;
        recv = blocks;
        break;
    case YOKE_COLLECTIVE_GATHER:
        send = own;
        recv = root ? blocks : 0;
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        send = sent;
        recv = came;
        break;
    default:
        break;
    }
    b->send_bytes = send * unit;
    b->recv_bytes = recv * unit;
}

static char *allocate(uint64_t size, uint64_t shift, char **out_memory)
{
    uint64_t whole = (size + shift + 2 * GUARD + 63) / 64 * 64;
    *out_memory = aligned_alloc(64, whole);
    if (*out_memory == NULL)
        abort();
    memset(*out_memory, 0xa5, whole);
    return *out_memory + GUARD + shift;
}

static bool guards_stand(const char *data, uint64_t size)
{
    for (int i = 1; i <= 64; i++)
        if ((unsigned char)data[-i] != 0xa5 ||
            (unsigned char)data[size + (uint64_t)i - 1] != 0xa5)
            return false;
    return true;
}

/* What a rank gives: the same function of the rank on all ranks. */
static void fill(const one_call_t *call, void *data, uint64_t bytes, int rank)
{
    reference_fill(data, bytes / yoke_element_size(call->element), call->element,
                   call->reduction, rank, call->seed, call->random);
}

static void make_buffers(const one_call_t *call, int rank, one_call_buffers_t *b)
{
    uint64_t unit = yoke_element_size(call->element);
    bool in_place = call->in_place && b->send_bytes > 0 && b->recv_bytes > 0 &&
                    call->collective != YOKE_COLLECTIVE_BROADCAST;
    if (!in_place) {
        b->send = allocate(b->send_bytes, call->shift, &b->memory);
        b->recv = allocate(b->recv_bytes, call->shift, &b->memory_recv);
    } else {
        b->whole = b->send_bytes > b->recv_bytes ? b->send_bytes : b->recv_bytes;
        b->send = b->recv = allocate(b->whole, call->shift, &b->memory);
        uint64_t at = b->displacements[rank] * unit;
        if (call->collective == YOKE_COLLECTIVE_ALL_GATHER ||
            call->collective == YOKE_COLLECTIVE_GATHER)
            b->send += at;
        if (call->collective == YOKE_COLLECTIVE_REDUCE_SCATTER ||
            call->collective == YOKE_COLLECTIVE_SCATTER)
            b->recv += at;
    }
    if (call->collective == YOKE_COLLECTIVE_BROADCAST && rank == call->root)
        fill(call, b->recv, b->recv_bytes, rank);
    fill(call, b->send, b->send_bytes, rank);
}

static yoke_status_t make_v(yoke_comm_t *comm, const one_call_t *call,
                            one_call_buffers_t *b, const yoke_comm_call_t *options)
{
    yoke_comm_buffer_t send = yoke_comm_host(b->send), recv = yoke_comm_host(b->recv);
    switch (call->collective) {
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return yoke_comm_reduce_scatter_v(comm, send, recv, b->counts, call->element,
                                          call->reduction, options);
    case YOKE_COLLECTIVE_ALL_GATHER:
        return yoke_comm_all_gather_v(comm, send, recv, b->counts, b->displacements,
                                      call->element, options);
    case YOKE_COLLECTIVE_GATHER:
        return yoke_comm_gather_v(comm, send, recv, b->counts, b->displacements,
                                  call->element, call->root, options);
    case YOKE_COLLECTIVE_SCATTER:
        return yoke_comm_scatter_v(comm, send, recv, b->counts, b->displacements,
                                   call->element, call->root, options);
    default:
        return yoke_comm_all_to_all_v(comm, send, b->sent, b->sent_at, recv, b->came,
                                      b->came_at, call->element, options);
    }
}

static yoke_status_t make(yoke_comm_t *comm, const one_call_t *call,
                          one_call_buffers_t *b, const yoke_comm_call_t *options)
{
    yoke_comm_buffer_t send = yoke_comm_host(b->send), recv = yoke_comm_host(b->recv);
    yoke_element_t element = call->element;
    uint64_t count = call->count;
    switch (call->collective) {
    case YOKE_COLLECTIVE_BARRIER:
        return yoke_comm_barrier(comm, options);
    case YOKE_COLLECTIVE_BROADCAST:
        return yoke_comm_broadcast(comm, recv, count, element, call->root, options);
    case YOKE_COLLECTIVE_REDUCE:
        return yoke_comm_reduce(comm, send, recv, count, element, call->reduction,
                                call->root, options);
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return yoke_comm_all_reduce(comm, send, recv, count, element, call->reduction,
                                    options);
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return yoke_comm_reduce_scatter(comm, send, recv, count, element, call->reduction,
                                        options);
    case YOKE_COLLECTIVE_ALL_GATHER:
        return yoke_comm_all_gather(comm, send, recv, count, element, options);
    case YOKE_COLLECTIVE_GATHER:
        return yoke_comm_gather(comm, send, recv, count, element, call->root, options);
    case YOKE_COLLECTIVE_SCATTER:
        return yoke_comm_scatter(comm, send, recv, count, element, call->root, options);
    default:
        return yoke_comm_all_to_all(comm, send, recv, count, element, options);
    }
}

yoke_status_t one_call_start(yoke_comm_t *comm, const one_call_t *call,
                             one_call_buffers_t **out_buffers)
{
    int rank = yoke_comm_rank(comm), n = yoke_comm_size(comm);
    one_call_buffers_t *b = calloc(1, sizeof *b);
    if (b == NULL)
        abort();
    draw_counts(call, n, b);
    measure(call, rank, n, b);
    make_buffers(call, rank, b);
    yoke_comm_call_t options = {.struct_size = sizeof options,
                                .out_request = call->out_request,
                                .algorithm = call->algorithm};
    *out_buffers = b;
    return call->v_form ? make_v(comm, call, b, &options) : make(comm, call, b, &options);
}

/* --- what must be there
 * ------------------------------------------------------------------ */

static char wrong[400];

static const char *complain(const one_call_t *call, int rank, int n, const char *what)
{
    snprintf(wrong, sizeof wrong,
             "%s%s %s %s, %d ranks, count %llu, root %d, %s, shift %llu, algorithm %s, "
             "rank %d: %s",
             yoke_collective_name(call->collective), call->v_form ? "-v" : "",
             yoke_element_name(call->element), yoke_reduction_name(call->reduction), n,
             (unsigned long long)call->count, call->root,
             call->in_place ? "in place" : "not in place",
             (unsigned long long)call->shift,
             call->algorithm != NULL ? call->algorithm : "chosen", rank, what);
    return wrong;
}

/* What rank `from` gave, `bytes` of it. */
static char *given(const one_call_t *call, int from, uint64_t bytes)
{
    char *data = malloc(bytes + 1);
    if (data == NULL)
        abort();
    fill(call, data, bytes, from);
    return data;
}

static const char *check_reduced(const one_call_t *call, int rank, int n,
                                 const one_call_buffers_t *b)
{
    uint64_t unit = yoke_element_size(call->element), first = 0, total = call->count;
    if (call->collective == YOKE_COLLECTIVE_REDUCE_SCATTER) {
        first = b->displacements[rank];
        total = b->displacements[n - 1] + b->counts[n - 1];
    }
    char *inputs[MOST];
    const char *answer = NULL;
    for (int i = 0; i < n; i++)
        inputs[i] = given(call, i, total * unit);
    for (uint64_t i = 0; i < b->recv_bytes / unit && answer == NULL; i++) {
        reference_t right = reference_reduce((const void *const *)inputs, n, first + i,
                                             call->element, call->reduction);
        if (!call->random && call->reduction != YOKE_REDUCE_AVG)
            right.exact_bits = true;
        if (!reference_right(b->recv, i, call->element, &right)) {
            char what[120];
            snprintf(what, sizeof what, "element %llu is %Lg, not %Lg (+-%Lg)",
                     (unsigned long long)i, reference_get(b->recv, i, call->element),
                     right.value, right.slack);
            answer = complain(call, rank, n, what);
        }
    }
    for (int i = 0; i < n; i++)
        free(inputs[i]);
    return answer;
}

/* `count` elements at element `at` of recv are those at `from_at` of what `from` gave. */
static bool block_is(const one_call_t *call, const one_call_buffers_t *b, uint64_t at,
                     int from, uint64_t from_at, uint64_t count)
{
    uint64_t unit = yoke_element_size(call->element);
    char *data = given(call, from, (from_at + count) * unit);
    bool same = count == 0 ||
                memcmp(b->recv + at * unit, data + from_at * unit, count * unit) == 0;
    free(data);
    return same;
}

static const char *check_moved(const one_call_t *call, int rank, int n,
                               const one_call_buffers_t *b)
{
    bool right = true;
    switch (call->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        right = block_is(call, b, 0, call->root, 0, call->count);
        break;
    case YOKE_COLLECTIVE_SCATTER:
        right = block_is(call, b, 0, call->root, b->displacements[rank], b->counts[rank]);
        break;
    case YOKE_COLLECTIVE_GATHER:
    case YOKE_COLLECTIVE_ALL_GATHER:
        if (call->collective == YOKE_COLLECTIVE_GATHER && rank != call->root)
            break;
        for (int i = 0; i < n; i++)
            right = right && block_is(call, b, b->displacements[i], i, 0, b->counts[i]);
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        for (int i = 0; i < n; i++) {
            uint64_t at[MOST];
            lay_out(b->matrix[i], n, call->v_form ? 2 : 0, at);
            right = right && block_is(call, b, b->came_at[i], i, at[rank], b->came[i]);
        }
        break;
    default:
        break;
    }
    return right ? NULL : complain(call, rank, n, "wrong bytes");
}

static uint64_t hash_of(const char *data, uint64_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
    return hash;
}

const char *one_call_check(yoke_comm_t *comm, const one_call_t *call,
                           one_call_buffers_t *b)
{
    int rank = yoke_comm_rank(comm), n = yoke_comm_size(comm);
    const char *answer = NULL;
    bool receives = b->recv_bytes > 0;
    if (receives && one_call_reduces(call->collective))
        answer = check_reduced(call, rank, n, b);
    else if (receives)
        answer = check_moved(call, rank, n, b);
    bool in_place = b->memory_recv == NULL;
    char *lowest = b->send < b->recv || !in_place ? b->send : b->recv;
    if (answer == NULL && !guards_stand(lowest, in_place ? b->whole : b->send_bytes))
        answer = complain(call, rank, n, "bytes beside the buffer were written");
    if (answer == NULL && !in_place) {
        if (!guards_stand(b->recv, b->recv_bytes))
            answer = complain(call, rank, n, "bytes beside recv were written");
        char *before = given(call, rank, b->send_bytes);
        if (memcmp(before, b->send, b->send_bytes) != 0)
            answer = complain(call, rank, n, "send was written");
        free(before);
    }
    last_hash = hash_of(b->recv, b->recv_bytes);
    free(b->memory);
    free(b->memory_recv);
    free(b);
    return answer;
}

const char *one_call(yoke_comm_t *comm, const one_call_t *call)
{
    one_call_buffers_t *buffers;
    yoke_status_t status = one_call_start(comm, call, &buffers);
    const char *answer = one_call_check(comm, call, buffers);
    if (status == YOKE_OK)
        return answer;
    char what[200];
    snprintf(what, sizeof what, "%s: %.150s", yoke_status_name(status),
             yoke_last_error());
    return complain(call, yoke_comm_rank(comm), yoke_comm_size(comm), what);
}
