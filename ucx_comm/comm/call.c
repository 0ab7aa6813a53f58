/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a call: from the checked arguments to its end; requests, groups, and the
 * thread that advances. */

#include "ucx_comm/comm/route.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

#define CLOCK_EVERY 8      /* fruitless rounds between looks at the clock */
#define TRANSPORT_EVERY 32 /* rounds of a shared call between looks at the transport */
#define THREAD_YIELDS 200  /* rounds before the thread sleeps */
#define THREAD_NAP_NS 50000

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void yoke_comm_lock(yoke_comm_t *comm)
{
    if (comm->threaded)
        pthread_mutex_lock(&comm->lock);
}

void yoke_comm_unlock(yoke_comm_t *comm)
{
    if (comm->threaded)
        pthread_mutex_unlock(&comm->lock);
}

static bool is_revoked(const yoke_comm_t *comm)
{
    return atomic_load_explicit(yoke_control_state(comm->control),
                                memory_order_acquire) != YOKE_CONTROL_RUNNING;
}

yoke_status_t yoke_comm_usable(yoke_comm_t *comm)
{
    if (!is_revoked(comm))
        return YOKE_OK;
    yoke_control_reason(comm->control);
    char reason[512];
    snprintf(reason, sizeof reason, "%s", yoke_last_error());
    return yoke_fail(YOKE_ERR_REVOKED, "the communicator is revoked: %s", reason);
}

/* --- requests --------------------------------------------------------------------------
 */

static yoke_status_t take_request(yoke_comm_t *comm, bool arrays,
                                  yoke_comm_request_t **out_request)
{
    yoke_comm_request_t *request = comm->idle;
    if (request != NULL)
        comm->idle = request->next;
    else if ((request = calloc(1, sizeof *request)) == NULL)
        return yoke_fail_memory();
    if (arrays && request->arrays == NULL)
        request->arrays = malloc(4 * (size_t)comm->size * sizeof *request->arrays);
    if (arrays && request->arrays == NULL) {
        free(request);
        return yoke_fail_memory();
    }
    request->comm = comm;
    request->next = NULL;
    request->held = request->left = false;
    request->run = NULL;
    request->stage = NULL;
    request->direct = false;
    request->deadline = 0;
    request->status = YOKE_ERR_NOT_READY;
    *out_request = request;
    return YOKE_OK;
}

static void free_request(yoke_comm_request_t *request)
{
    free(request->arrays);
    free(request->checks);
    free(request);
}

static void recycle(yoke_comm_request_t *request)
{
    request->next = request->comm->idle;
    request->comm->idle = request;
}

/* One array of a v-form into the request's own room; what is not given is one block after
 * the other. */
static void keep_counts(yoke_comm_request_t *request, int place, const uint64_t **counts,
                        const uint64_t **displacements)
{
    int n = request->shape.size;
    uint64_t *own = request->arrays + (size_t)place * (size_t)n;
    uint64_t *at = own + n;
    uint64_t next = 0;
    if (*counts == NULL)
        return;
    for (int i = 0; i < n; i++) {
        own[i] = (*counts)[i];
        at[i] = *displacements != NULL ? (*displacements)[i] : next;
        next = at[i] + own[i];
    }
    *counts = own;
    *displacements = at;
}

static bool is_reducing(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static bool is_rooted(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_BROADCAST ||
           collective == YOKE_COLLECTIVE_REDUCE || collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER;
}

static void sign(yoke_comm_request_t *request)
{
    const yoke_shape_t *shape = &request->shape;
    yoke_collective_t collective = shape->collective;
    yoke_signature_t *signature = &request->signature;
    bool counted = shape->counts != NULL && shape->send_counts == NULL;
    memset(signature, 0, sizeof *signature);
    signature->collective = (uint8_t)collective;
    signature->count =
        counted ? yoke_check_hash(shape->counts, shape->size) : shape->count;
    signature->root = is_rooted(collective) ? shape->root : -1;
    signature->element =
        collective == YOKE_COLLECTIVE_BARRIER ? 0xff : (uint8_t)shape->element;
    signature->reduction = is_reducing(collective) ? (uint8_t)shape->reduction : 0xff;
    signature->algorithm = (uint8_t)shape->algorithm;
}

/* --- one step of a call
 * ----------------------------------------------------------------- */

static void end(yoke_comm_request_t *request, yoke_status_t status)
{
    bool drained = request->state == YOKE_CALL_DRAINING;
    request->state = YOKE_CALL_ENDED;
    request->status = status;
    if (request->stage == NULL)
        return;
    if (drained) {
        yoke_stage_end(request->stage);
        request->stage = NULL;
        return;
    }
    /* What failed is not waited for: its queue may never come to it. */
    yoke_status_t finished = yoke_stage_finish(request->stage, status);
    if (status == YOKE_OK && finished == YOKE_OK)
        request->state = YOKE_CALL_DRAINING;
    else {
        request->status = status != YOKE_OK ? status : finished;
        yoke_stage_end(request->stage);
        request->stage = NULL;
    }
}

/* A device's failure on the way out is this rank's alone: the others have their data. */
static void drain(yoke_comm_request_t *request)
{
    yoke_status_t status = yoke_stage_poll(request->stage);
    if (status == YOKE_ERR_NOT_READY)
        return;
    yoke_stage_end(request->stage);
    request->stage = NULL;
    request->state = YOKE_CALL_ENDED;
    request->status = status;
}

/* A failure of this call ends the communicator; the reason is what all ranks are told. */
static void end_failed(yoke_comm_request_t *request, yoke_status_t status)
{
    yoke_control_t *control = request->comm->control;
    if (status != YOKE_ERR_REVOKED && !is_revoked(request->comm))
        yoke_control_revoke(control, status, yoke_last_error());
    yoke_status_t reason = yoke_control_reason(control);
    end(request, reason != YOKE_OK ? reason : status);
}

static yoke_status_t start_run(yoke_comm_request_t *request, const yoke_shape_t *shape,
                               const yoke_run_options_t *options)
{
    return yoke_engine_start(request->comm->engine, shape, options, &request->run);
}

static bool is_checked(const yoke_comm_request_t *request)
{
    return (request->comm->flags & YOKE_COMM_CHECK) != 0 && request->comm->size > 1 &&
           request->shape.collective != YOKE_COLLECTIVE_SEND_RECV;
}

static void start_check(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    if (request->checks == NULL)
        request->checks = calloc((size_t)comm->size, sizeof *request->checks);
    if (request->checks == NULL) {
        end_failed(request, yoke_fail_memory());
        return;
    }
    request->checks[comm->rank] = yoke_check_of(request);
    yoke_shape_t shape = {.collective = YOKE_COLLECTIVE_ALL_GATHER,
                          .element = YOKE_ELEMENT_U8,
                          .algorithm = YOKE_ALGORITHM_BRUCK,
                          .size = comm->size,
                          .rank = comm->rank,
                          .in_place = true,
                          .count = sizeof(yoke_check_t),
                          .stride = sizeof(yoke_check_t)};
    yoke_run_options_t options = {.send = &request->checks[comm->rank],
                                  .recv = request->checks};
    options.signature.sequence = request->signature.sequence;
    options.signature.count = sizeof(yoke_check_t);
    options.signature.root = -1;
    options.tag = TAG_CHECK | TAG_SEQUENCE(request->signature.sequence);
    options.timeout_ms = request->timeout_ms;
    yoke_status_t status = start_run(request, &shape, &options);
    if (status != YOKE_OK)
        end_failed(request, status);
    else
        request->state = YOKE_CALL_CHECKING;
}

static yoke_shared_call_t shared_call_of(const yoke_comm_request_t *request, void *send,
                                         void *recv)
{
    const yoke_shape_t *shape = &request->shape;
    yoke_shared_call_t call = {.collective = shape->collective,
                               .element = shape->element,
                               .reduction = shape->reduction,
                               .root = shape->root,
                               .send = send,
                               .recv = recv,
                               .count = shape->count};
    call.recv_counts = shape->counts;
    call.recv_displacements = shape->displacements;
    call.send_counts = shape->send_counts;
    call.send_displacements = shape->send_displacements;
    if (shape->collective == YOKE_COLLECTIVE_SCATTER) {
        call.send_counts = shape->counts;
        call.send_displacements = shape->displacements;
        call.recv_counts = call.recv_displacements = NULL;
    }
    return call;
}

static void run_vendor(yoke_comm_request_t *request, yoke_status_t status)
{
    if (status == YOKE_OK)
        end(request, YOKE_OK);
    else if (status != YOKE_ERR_NOT_READY) {
        end_failed(request, status);
        yoke_route_abort(request->comm);
    }
}

/* Its ranks, and the deadline, are looked at here: the library tells of neither. */
static void advance_vendor(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    if (!is_revoked(comm) && now_ns() > request->deadline) {
        char what[128];
        snprintf(what, sizeof what, "%s number %llu waited %u ms for a vendor's library",
                 yoke_collective_name(request->shape.collective),
                 (unsigned long long)request->signature.sequence, request->timeout_ms);
        yoke_control_revoke(comm->control, YOKE_ERR_TIMEOUT, what);
    }
    run_vendor(request,
               is_revoked(comm) ? YOKE_ERR_REVOKED : yoke_route_advance(request));
}

static void run_shared(yoke_comm_request_t *request, yoke_status_t status)
{
    if (status == YOKE_OK)
        end(request, YOKE_OK);
    else if (status != YOKE_ERR_NOT_READY)
        end_failed(request, status);
}

static void start(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    void *send = NULL, *recv = NULL;
    yoke_status_t status = YOKE_OK;
    if (request->stage != NULL)
        yoke_stage_places(request, &send, &recv);
    else if (request->direct)
        status = YOKE_OK;
    else if ((status = yoke_buffer_place(&request->send, &send)) == YOKE_OK)
        status = yoke_buffer_place(&request->recv, &recv);
    if (status != YOKE_OK) {
        end_failed(request, status);
        return;
    }
    request->state = YOKE_CALL_RUNNING;
    if (request->route == YOKE_ROUTE_SHARED) {
        request->deadline = now_ns() + (uint64_t)request->timeout_ms * 1000000u;
        yoke_shared_call_t call = shared_call_of(request, send, recv);
        run_shared(request, yoke_shared_start(comm->shared, &call));
        return;
    }
    if (request->route == YOKE_ROUTE_VENDOR) {
        request->deadline = now_ns() + (uint64_t)request->timeout_ms * 1000000u;
        run_vendor(request, yoke_route_start(request, send, recv));
        return;
    }
    yoke_run_options_t options = {.send = send, .recv = recv};
    options.signature = request->signature;
    options.tag = request->tag;
    options.timeout_ms = request->timeout_ms;
    options.count_is_size = request->shape.send_counts != NULL;
    status = start_run(request, &request->shape, &options);
    if (status != YOKE_OK)
        end_failed(request, status);
}

/* The run of a state has ended, with what? */
static bool run_ended(yoke_comm_request_t *request, yoke_status_t *out_status)
{
    *out_status = yoke_run_status(request->run);
    if (*out_status == YOKE_ERR_NOT_READY)
        return false;
    yoke_run_end(request->run);
    request->run = NULL;
    return true;
}

/* As far as it goes; `turn`: no shared call stands before this one. */
static unsigned advance(yoke_comm_request_t *request, bool turn)
{
    yoke_comm_t *comm = request->comm;
    yoke_call_state_t before = request->state;
    yoke_status_t status;
    if (before < YOKE_CALL_CHECKING && is_revoked(comm))
        end_failed(request, YOKE_ERR_REVOKED);
    if (request->state == YOKE_CALL_QUEUED) {
        status = yoke_stage_arrived(request->stage, NULL);
        if (status == YOKE_OK)
            request->state = YOKE_CALL_UNCHECKED;
        else if (status != YOKE_ERR_NOT_READY)
            end_failed(request, status);
    }
    if (request->state == YOKE_CALL_UNCHECKED) {
        if (is_checked(request))
            start_check(request);
        else
            request->state = YOKE_CALL_READY;
    }
    if (request->state == YOKE_CALL_CHECKING && run_ended(request, &status)) {
        if (status == YOKE_OK)
            status =
                yoke_check_compare(comm, request->signature.sequence, request->checks);
        if (status == YOKE_OK)
            request->state = YOKE_CALL_READY;
        else
            end_failed(request, status);
    }
    if (request->state == YOKE_CALL_READY &&
        (turn || request->route == YOKE_ROUTE_ENGINE))
        start(request);
    if (request->state == YOKE_CALL_RUNNING) {
        if (request->route == YOKE_ROUTE_SHARED)
            run_shared(request, yoke_shared_advance(comm->shared));
        else if (request->route == YOKE_ROUTE_VENDOR)
            advance_vendor(request);
        else if (run_ended(request, &status))
            end(request, status);
    }
    if (request->state == YOKE_CALL_DRAINING)
        drain(request);
    return request->state != before;
}

static void check_shared_deadline(yoke_comm_t *comm)
{
    uint64_t now = now_ns();
    for (yoke_comm_request_t *request = comm->first; request != NULL;
         request = request->next) {
        if (request->state != YOKE_CALL_RUNNING || request->route != YOKE_ROUTE_SHARED ||
            now < request->deadline || is_revoked(comm))
            continue;
        int peer = yoke_shared_waits_for(comm->shared);
        char what[128];
        snprintf(what, sizeof what, "%s number %llu waited %u ms for rank %d",
                 yoke_collective_name(request->shape.collective),
                 (unsigned long long)request->signature.sequence, request->timeout_ms,
                 peer);
        if (peer >= 0)
            yoke_control_suspect(comm->control, peer, what);
        else
            yoke_control_revoke(comm->control, YOKE_ERR_TIMEOUT, what);
    }
}

/* Advances everything; returns how much happened. */
static unsigned progress(yoke_comm_t *comm, unsigned idle)
{
    unsigned happened = 0;
    bool turn = true, engine = false;
    for (yoke_comm_request_t *request = comm->first; request != NULL;
         request = request->next)
        engine = engine || request->run != NULL;
    /* The transport also carries what earlier calls left to be sent. */
    if (engine || ++comm->rounds % TRANSPORT_EVERY == 0)
        happened += yoke_engine_progress(comm->engine);
    for (yoke_comm_request_t **link = &comm->first; *link != NULL;) {
        yoke_comm_request_t *request = *link;
        happened += advance(request, turn);
        if (request->route != YOKE_ROUTE_ENGINE && request->state < YOKE_CALL_DRAINING)
            turn = false;
        if (request->state != YOKE_CALL_ENDED) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        if (comm->last == &request->next)
            comm->last = link;
        /* Nobody waits for it: its failure is the communicator's status. */
        if (request->left)
            recycle(request);
    }
    if (happened == 0 && idle % CLOCK_EVERY == CLOCK_EVERY - 1)
        check_shared_deadline(comm);
    return happened;
}

/* --- waiting
 * ----------------------------------------------------------------------------- */

static void pause_round(yoke_comm_t *comm, unsigned idle)
{
    bool engine = false, shared = false;
    if (comm->threaded) {
        yoke_comm_unlock(comm);
        if (idle < THREAD_YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, THREAD_NAP_NS}, NULL);
        yoke_comm_lock(comm);
        return;
    }
    for (yoke_comm_request_t *request = comm->first; request != NULL;
         request = request->next) {
        engine = engine || request->run != NULL;
        shared = shared || request->route == YOKE_ROUTE_SHARED;
    }
    if (shared && !engine)
        yoke_shared_pause(comm->shared);
    else
        yoke_transport_pause(comm->transport, idle);
}

static void wait_for(yoke_comm_t *comm, const yoke_comm_request_t *request)
{
    unsigned idle = 0;
    while (request->state != YOKE_CALL_ENDED) {
        if (progress(comm, idle) > 0)
            idle = 0;
        else if (request->state != YOKE_CALL_ENDED)
            pause_round(comm, idle++);
    }
}

/* The caller has it: the communicator knows where, for its own end. */
static void hold(yoke_comm_request_t *request)
{
    yoke_comm_t *comm = request->comm;
    request->held = true;
    request->held_next = comm->held;
    request->held_link = &comm->held;
    if (comm->held != NULL)
        comm->held->held_link = &request->held_next;
    comm->held = request;
}

static void release(yoke_comm_request_t *request)
{
    if (!request->held)
        return;
    request->held = false;
    *request->held_link = request->held_next;
    if (request->held_next != NULL)
        request->held_next->held_link = request->held_link;
}

/* The request's status, and its sentence on this thread; the request goes. */
static yoke_status_t finish(yoke_comm_request_t *request)
{
    yoke_status_t status = request->status;
    release(request);
    if (status != YOKE_OK)
        yoke_control_reason(request->comm->control);
    recycle(request);
    return status;
}

/* A shared call with nothing beside it, which the caller waits for. */
static yoke_status_t run_at_once(yoke_comm_t *comm, yoke_comm_request_t *request)
{
    unsigned idle = 0;
    start(request);
    while (request->state == YOKE_CALL_RUNNING) {
        run_shared(request, yoke_shared_advance(comm->shared));
        if (request->state != YOKE_CALL_RUNNING)
            break;
        yoke_shared_pause(comm->shared);
        idle++;
        if (idle % TRANSPORT_EVERY == 0)
            yoke_engine_progress(comm->engine);
        if (idle % CLOCK_EVERY == 0 && now_ns() > request->deadline) {
            request->next = NULL;
            comm->first = request;
            check_shared_deadline(comm);
            comm->first = NULL;
        }
    }
    return finish(request);
}

static yoke_status_t prepare(yoke_comm_t *comm, const yoke_call_t *call,
                             const yoke_comm_call_t *options,
                             yoke_comm_request_t **out_request)
{
    yoke_comm_request_t *request = NULL;
    yoke_status_t status = yoke_comm_usable(comm);
    if (status == YOKE_OK)
        status = take_request(comm, call->v_form, &request);
    if (status != YOKE_OK)
        return status;
    request->shape = call->shape;
    request->send = call->send;
    request->recv = call->recv;
    if (call->v_form) {
        keep_counts(request, 0, &request->shape.counts, &request->shape.displacements);
        keep_counts(request, 2, &request->shape.send_counts,
                    &request->shape.send_displacements);
    }
    request->timeout_ms = options != NULL && options->timeout_ms != 0
                              ? options->timeout_ms
                              : comm->timeout_ms;
    status = yoke_call_choose(comm, options != NULL ? options->algorithm : NULL,
                              call->v_form, &request->shape, &request->route);
    request->recv_size = call->recv_size;
    request->send_size = call->send_size;
    request->queue = options != NULL ? options->queue : NULL;
    if (status == YOKE_OK && request->route == YOKE_ROUTE_VENDOR)
        request->direct = yoke_route_is_direct(comm, call, options);
    if (status == YOKE_OK && !request->direct && yoke_stage_needed(call, options))
        status = yoke_stage_open(request, call, options);
    if (status != YOKE_OK) {
        recycle(request);
        return status;
    }
    sign(request);
    bool pair = call->shape.collective == YOKE_COLLECTIVE_SEND_RECV;
    if (!pair)
        request->signature.sequence = ++comm->sequence;
    request->tag =
        pair ? TAG_PAIR | call->tag : TAG_SEQUENCE(request->signature.sequence);
    request->state = is_checked(request) ? YOKE_CALL_UNCHECKED : YOKE_CALL_READY;
    if (request->stage != NULL)
        request->state = YOKE_CALL_QUEUED;
    *out_request = request;
    return YOKE_OK;
}

static yoke_status_t make_locked(yoke_comm_t *comm, const yoke_call_t *call,
                                 const yoke_comm_call_t *options)
{
    yoke_comm_request_t *request = NULL;
    yoke_comm_request_t **out = options != NULL ? options->out_request : NULL;
    yoke_status_t status = prepare(comm, call, options, &request);
    if (status != YOKE_OK)
        return status;
    if (comm->first == NULL && request->route == YOKE_ROUTE_SHARED &&
        request->state == YOKE_CALL_READY && out == NULL && !comm->in_group &&
        !comm->threaded)
        return run_at_once(comm, request);
    *comm->last = request;
    comm->last = &request->next;
    if (comm->threaded)
        pthread_cond_signal(&comm->work);
    progress(comm, 0);
    /* The library has it before the caller enqueues what comes after. */
    for (unsigned idle = 0; request->direct && request->state < YOKE_CALL_RUNNING; idle++)
        if (progress(comm, idle) == 0 && request->state < YOKE_CALL_RUNNING)
            pause_round(comm, idle);
    if (out != NULL || comm->in_group)
        hold(request);
    if (out != NULL) {
        *out = request;
        return YOKE_OK;
    }
    if (comm->in_group) {
        request->group_next = comm->group;
        comm->group = request;
        return YOKE_OK;
    }
    if (comm->threaded && options != NULL && options->queue != NULL &&
        request->state != YOKE_CALL_ENDED &&
        (request->direct || yoke_stage_gated(request->stage))) {
        request->left = true; /* to the thread; the queue waits */
        return YOKE_OK;
    }
    wait_for(comm, request);
    return finish(request);
}

yoke_status_t yoke_call_make(yoke_comm_t *comm, const yoke_call_t *call,
                             const yoke_comm_call_t *options)
{
    yoke_comm_lock(comm);
    yoke_status_t status = make_locked(comm, call, options);
    yoke_comm_unlock(comm);
    return status;
}

yoke_status_t yoke_call_exchange(yoke_comm_t *comm, const void *mine, size_t size,
                                 void *all)
{
    yoke_call_t call;
    memset(&call, 0, sizeof call);
    call.shape.collective = YOKE_COLLECTIVE_ALL_GATHER;
    call.shape.element = YOKE_ELEMENT_U8;
    call.shape.count = size;
    call.send = yoke_comm_host(mine);
    call.recv = yoke_comm_host(all);
    yoke_status_t status = yoke_call_check(comm, &call, NULL, "yoke_comm");
    return status == YOKE_OK ? yoke_call_make(comm, &call, NULL) : status;
}

/* --- requests of the caller
 * ------------------------------------------------------------- */

/* The communicator went before its request. */
static yoke_status_t end_detached(yoke_comm_request_t **request)
{
    yoke_status_t status = (*request)->status;
    free_request(*request);
    *request = NULL;
    return status == YOKE_OK
               ? status
               : yoke_fail(status, "the communicator was destroyed before this call had "
                                   "ended");
}

yoke_status_t yoke_comm_test(yoke_comm_request_t **request)
{
    if (request == NULL || *request == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_test: the request is NULL");
    yoke_comm_t *comm = (*request)->comm;
    if (comm == NULL)
        return end_detached(request);
    yoke_status_t status = YOKE_ERR_NOT_READY;
    yoke_comm_lock(comm);
    if ((*request)->state != YOKE_CALL_ENDED)
        progress(comm, comm->tests++);
    if ((*request)->state == YOKE_CALL_ENDED) {
        status = finish(*request);
        *request = NULL;
    }
    yoke_comm_unlock(comm);
    return status;
}

yoke_status_t yoke_comm_wait(yoke_comm_request_t **request)
{
    if (request == NULL || *request == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_wait: the request is NULL");
    yoke_comm_t *comm = (*request)->comm;
    if (comm == NULL)
        return end_detached(request);
    yoke_comm_lock(comm);
    wait_for(comm, *request);
    yoke_status_t status = finish(*request);
    *request = NULL;
    yoke_comm_unlock(comm);
    return status;
}

yoke_status_t yoke_comm_group_begin(yoke_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_comm_group_begin: the communicator is NULL");
    if (comm->in_group)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_group_begin: groups do not nest");
    comm->in_group = true;
    return YOKE_OK;
}

yoke_status_t yoke_comm_group_end(yoke_comm_t *comm)
{
    if (comm == NULL || !comm->in_group)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_comm_group_end: no group was begun on this communicator");
    yoke_status_t first = YOKE_OK;
    yoke_comm_lock(comm);
    comm->in_group = false;
    /* The list has the last call first. */
    yoke_comm_request_t *ordered = NULL;
    while (comm->group != NULL) {
        yoke_comm_request_t *request = comm->group;
        comm->group = request->group_next;
        request->group_next = ordered;
        ordered = request;
    }
    while (ordered != NULL) {
        yoke_comm_request_t *request = ordered;
        ordered = request->group_next;
        wait_for(comm, request);
        yoke_status_t status = finish(request);
        first = first == YOKE_OK ? status : first;
    }
    yoke_comm_unlock(comm);
    return first;
}

/* --- the thread
 * -------------------------------------------------------------------------- */

static void *advance_calls(void *context)
{
    yoke_comm_t *comm = context;
    unsigned idle = 0;
    yoke_comm_lock(comm);
    while (!comm->stopping) {
        if (comm->first == NULL) {
            pthread_cond_wait(&comm->work, &comm->lock);
            idle = 0;
        } else if (progress(comm, idle) > 0)
            idle = 0;
        else
            pause_round(comm, idle++);
    }
    yoke_comm_unlock(comm);
    return NULL;
}

yoke_status_t yoke_call_thread_start(yoke_comm_t *comm)
{
    if (pthread_mutex_init(&comm->lock, NULL) != 0)
        return yoke_fail_memory();
    if (pthread_cond_init(&comm->work, NULL) != 0) {
        pthread_mutex_destroy(&comm->lock);
        return yoke_fail_memory();
    }
    comm->threaded = true;
    int error = pthread_create(&comm->thread, NULL, advance_calls, comm);
    if (error == 0)
        return YOKE_OK;
    comm->threaded = false;
    pthread_cond_destroy(&comm->work);
    pthread_mutex_destroy(&comm->lock);
    return yoke_fail(YOKE_ERR_SYSTEM, "cannot make the communicator's thread: %s",
                     strerror(error));
}

void yoke_call_thread_stop(yoke_comm_t *comm)
{
    if (!comm->threaded)
        return;
    yoke_comm_lock(comm);
    comm->stopping = true;
    pthread_cond_signal(&comm->work);
    yoke_comm_unlock(comm);
    pthread_join(comm->thread, NULL);
    comm->threaded = false;
    pthread_cond_destroy(&comm->work);
    pthread_mutex_destroy(&comm->lock);
}

void yoke_call_end_all(yoke_comm_t *comm)
{
    for (yoke_comm_request_t *next, *request = comm->group; request != NULL;
         request = next) {
        next = request->group_next;
        release(request); /* nobody else has it */
        if (request->state == YOKE_CALL_ENDED)
            recycle(request);
    }
    for (yoke_comm_request_t *next, *request = comm->first; request != NULL;
         request = next) {
        next = request->next;
        end(request, YOKE_ERR_REVOKED);
        if (!request->held)
            recycle(request);
    }
    for (yoke_comm_request_t *request = comm->held; request != NULL;
         request = request->held_next)
        request->comm = NULL;
    while (comm->idle != NULL) {
        yoke_comm_request_t *request = comm->idle;
        comm->idle = request->next;
        free_request(request);
    }
}
