/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages. All that a stage needs (pinned memory, events, a gate) is kept for the next
 * one, and none of it is freed before the staging object ends: freeing memory waits for
 * the whole device with some runtimes, so for queues that are held by the gates of other
 * stages, which would never be opened then.
 */
#include "ucx_comm/transport/staging.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "hal/live/gate.h"

#define PIECES 16              /* of an input, each with an event */
#define PIECE_LEAST (1u << 20) /* bytes; the last one may be shorter */
#define ALIGNED 256u           /* pieces begin at multiples of it */

/* Host memory that devices copy from and to. */
typedef struct yoke_pinned {
    struct yoke_pinned *next;
    yoke_buffer_t *buffer; /* NULL: ordinary memory, the device has no pinned one */
    char *memory;
    uint64_t size;
} yoke_pinned_t;

/* One of the two buffers of a call. */
typedef struct yoke_stage_side {
    yoke_span_t span; /* buffer NULL: nothing to copy */
    uint64_t size;
    char *host;            /* where the collective finds it */
    yoke_pinned_t *pinned; /* NULL: the host reaches it, or it shares the other's */
} yoke_stage_side_t;

struct yoke_stage {
    yoke_stage_t *next;
    yoke_staging_t *staging;
    yoke_stage_side_t send, recv;
    yoke_stage_range_t *ranges; /* of recv, to be copied back */
    size_t range_count, range_capacity;
    yoke_queue_t *queue;
    yoke_event_t *arrivals[PIECES], *passed;
    unsigned pieces, arrived; /* events recorded; reached */
    uint64_t piece_size;
    yoke_gate_t *gate;
    bool gated;   /* the queue waits at the gate */
    bool closing; /* `passed` is recorded */
    bool finished;
};

struct yoke_staging {
    yoke_device_t *device;
    yoke_queue_t *queue; /* for calls without one; keeps the device alive */
    bool has_pinned, has_gates;
    yoke_pinned_t *spare;
    yoke_stage_t *live, *ending, *idle; /* ending: the queue has not passed them yet */
    yoke_staging_t *next;               /* of those that wait for that */
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static yoke_staging_t *kept;

/* --- host memory
 * ------------------------------------------------------------------------ */

static yoke_status_t make_pinned(yoke_staging_t *staging, uint64_t size,
                                 yoke_pinned_t **out_pinned)
{
    yoke_pinned_t *pinned = calloc(1, sizeof *pinned);
    if (pinned == NULL)
        return yoke_fail_memory();
    /* To powers of two, so that calls of unlike sizes find what others left. */
    pinned->size = 64u << 10;
    while (pinned->size < size)
        pinned->size *= 2;
    void *memory = NULL;
    yoke_status_t status = YOKE_OK;
    if (staging->has_pinned) {
        status = yoke_buffer_create(staging->device, YOKE_MEMORY_HOST, pinned->size,
                                    &pinned->buffer);
        if (status == YOKE_OK)
            status = yoke_buffer_host_address(pinned->buffer, &memory);
    } else if ((memory = aligned_alloc(4096, pinned->size)) == NULL)
        status = yoke_fail_memory();
    pinned->memory = memory;
    if (status == YOKE_OK)
        *out_pinned = pinned;
    else {
        yoke_buffer_destroy(pinned->buffer);
        free(pinned);
    }
    return status;
}

/* The smallest that will do and is not four times too large. */
static yoke_status_t take_pinned(yoke_staging_t *staging, uint64_t size,
                                 yoke_pinned_t **out_pinned)
{
    yoke_pinned_t **best = NULL;
    for (yoke_pinned_t **place = &staging->spare; *place != NULL; place = &(*place)->next)
        if ((*place)->size >= size && (*place)->size / 4 <= (size | 65536) &&
            (best == NULL || (*place)->size < (*best)->size))
            best = place;
    if (best == NULL)
        return make_pinned(staging, size, out_pinned);
    *out_pinned = *best;
    *best = (*best)->next;
    return YOKE_OK;
}

static void return_pinned(yoke_staging_t *staging, yoke_stage_side_t *side)
{
    if (side->pinned != NULL) {
        side->pinned->next = staging->spare;
        staging->spare = side->pinned;
    }
    *side = (yoke_stage_side_t){0};
}

/* --- where the two buffers are
 * -------------------------------------------------------------
 */

/* false: the host reaches it, and side->host is set. */
static bool must_copy(yoke_stage_side_t *side, const yoke_comm_buffer_t *buffer,
                      uint64_t size)
{
    *side = (yoke_stage_side_t){.size = size, .host = buffer->host};
    if (size == 0 || buffer->host != NULL)
        return false;
    void *address = NULL;
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_buffer_host_address(buffer->span.buffer, &address);
    yoke_fail_quiet(false);
    if (status == YOKE_OK) {
        side->host = (char *)address + buffer->span.offset;
        return false;
    }
    side->span = buffer->span;
    return true;
}

static bool overlap(const yoke_stage_side_t *a, const yoke_stage_side_t *b)
{
    return a->span.buffer != NULL && a->span.buffer == b->span.buffer &&
           a->span.offset < b->span.offset + b->size &&
           b->span.offset < a->span.offset + a->size;
}

static yoke_status_t place_apart(yoke_staging_t *staging, yoke_stage_side_t *side)
{
    if (side->span.buffer == NULL)
        return YOKE_OK;
    yoke_status_t status = take_pinned(staging, side->size, &side->pinned);
    if (status == YOKE_OK)
        side->host = side->pinned->memory;
    return status;
}

/* In place: one piece of host memory for both. */
static yoke_status_t place_together(yoke_staging_t *staging, yoke_stage_side_t *a,
                                    yoke_stage_side_t *b)
{
    uint64_t first = a->span.offset < b->span.offset ? a->span.offset : b->span.offset;
    uint64_t a_end = a->span.offset + a->size, b_end = b->span.offset + b->size;
    uint64_t end = a_end > b_end ? a_end : b_end;
    yoke_status_t status = take_pinned(staging, end - first, &a->pinned);
    if (status == YOKE_OK) {
        a->host = a->pinned->memory + (a->span.offset - first);
        b->host = a->pinned->memory + (b->span.offset - first);
    }
    return status;
}

static yoke_status_t place(yoke_staging_t *staging, yoke_stage_t *stage,
                           const yoke_stage_call_t *call)
{
    must_copy(&stage->send, &call->send, call->send_size);
    must_copy(&stage->recv, &call->recv, call->recv_size);
    if (overlap(&stage->send, &stage->recv))
        return place_together(staging, &stage->send, &stage->recv);
    yoke_status_t status = place_apart(staging, &stage->send);
    return status == YOKE_OK ? place_apart(staging, &stage->recv) : status;
}

static yoke_status_t copy_ranges(yoke_stage_t *stage, const yoke_stage_call_t *call)
{
    const yoke_stage_range_t whole = {0, call->recv_size};
    size_t count = call->ranges == NULL ? 1 : call->range_count;
    if (count > stage->range_capacity) {
        yoke_stage_range_t *ranges = realloc(stage->ranges, count * sizeof *ranges);
        if (ranges == NULL)
            return yoke_fail_memory();
        stage->ranges = ranges;
        stage->range_capacity = count;
    }
    if (count > 0)
        memcpy(stage->ranges, call->ranges == NULL ? &whole : call->ranges,
               count * sizeof *stage->ranges);
    stage->range_count = count;
    return YOKE_OK;
}

/* --- enqueueing
 * ------------------------------------------------------------------------------
 */

/* The place in the pinned buffer that is `host` for the collective. */
static yoke_span_t pinned_at(const yoke_stage_t *stage, const yoke_stage_side_t *side,
                             uint64_t offset)
{
    const yoke_pinned_t *pinned =
        side->pinned != NULL ? side->pinned : stage->send.pinned;
    return yoke_span(pinned->buffer, (uint64_t)(side->host - pinned->memory) + offset);
}

static yoke_span_t span_at(const yoke_stage_side_t *side, uint64_t offset)
{
    return yoke_span(side->span.buffer, side->span.offset + offset);
}

static yoke_status_t record(yoke_stage_t *stage, yoke_event_t **event)
{
    yoke_status_t status =
        *event == NULL ? yoke_event_create(stage->staging->device, 0, event) : YOKE_OK;
    return status == YOKE_OK ? yoke_event_record(*event, stage->queue) : status;
}

static yoke_status_t enqueue_input(yoke_stage_t *stage)
{
    const yoke_stage_side_t *side = &stage->send;
    yoke_status_t status = YOKE_OK;
    uint64_t size = side->span.buffer == NULL ? 0 : side->size;
    stage->piece_size = (size / PIECES + ALIGNED) / ALIGNED * ALIGNED;
    if (stage->piece_size < PIECE_LEAST)
        stage->piece_size = PIECE_LEAST;
    for (uint64_t at = 0; status == YOKE_OK && at < size; at += stage->piece_size) {
        uint64_t part = size - at < stage->piece_size ? size - at : stage->piece_size;
        status =
            stage->staging->has_pinned
                ? yoke_queue_copy(stage->queue, pinned_at(stage, side, at),
                                  span_at(side, at), part)
                : yoke_queue_read(stage->queue, side->host + at, span_at(side, at), part);
        if (status == YOKE_OK)
            status = record(stage, &stage->arrivals[stage->pieces++]);
    }
    /* Without input the queue's turn is what is waited for. */
    if (status == YOKE_OK && size == 0)
        status = record(stage, &stage->arrivals[stage->pieces++]);
    return status;
}

static yoke_status_t enqueue_output(yoke_stage_t *stage)
{
    const yoke_stage_side_t *side = &stage->recv;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0;
         status == YOKE_OK && side->span.buffer != NULL && i < stage->range_count; i++) {
        yoke_stage_range_t range = stage->ranges[i];
        if (range.size == 0)
            continue;
        status = stage->staging->has_pinned
                     ? yoke_queue_copy(stage->queue, span_at(side, range.offset),
                                       pinned_at(stage, side, range.offset), range.size)
                     : yoke_queue_write(stage->queue, span_at(side, range.offset),
                                        side->host + range.offset, range.size);
    }
    if (status == YOKE_OK)
        status = record(stage, &stage->passed);
    stage->closing = status == YOKE_OK;
    return status;
}

/* A gate holds the caller's queue, where there are any. What a queue writes from ordinary
 * memory is read when it is enqueued, so that cannot be behind one. */
static bool wants_gate(const yoke_stage_t *stage, const yoke_stage_call_t *call)
{
    return call->queue != NULL && stage->staging->has_gates &&
           (stage->staging->has_pinned || stage->recv.span.buffer == NULL);
}

static yoke_status_t close_gate(yoke_stage_t *stage)
{
    yoke_staging_t *staging = stage->staging;
    yoke_status_t status = YOKE_OK;
    if (stage->gate == NULL) {
        yoke_fail_quiet(true); /* some devices have no gates though they said so */
        status = yoke_gate_create(staging->device, &stage->gate);
        yoke_fail_quiet(false);
        if (status == YOKE_ERR_UNSUPPORTED) {
            staging->has_gates = false;
            return YOKE_OK;
        }
    }
    if (status == YOKE_OK)
        status = yoke_gate_wait(stage->queue, stage->gate);
    stage->gated = status == YOKE_OK;
    return status;
}

/* --- life of a stage
 * --------------------------------------------------------------------------
 */

static void unlink_stage(yoke_stage_t **list, yoke_stage_t *stage)
{
    while (*list != stage)
        list = &(*list)->next;
    *list = stage->next;
}

static void link_stage(yoke_stage_t **list, yoke_stage_t *stage)
{
    stage->next = *list;
    *list = stage;
}

/* The queue has passed all of it. */
static void make_idle(yoke_stage_t *stage)
{
    yoke_staging_t *staging = stage->staging;
    if (stage->gated && yoke_gate_reset(stage->gate) != YOKE_OK) {
        yoke_gate_destroy(stage->gate);
        stage->gate = NULL;
    }
    return_pinned(staging, &stage->send);
    return_pinned(staging, &stage->recv);
    stage->pieces = stage->arrived = 0;
    stage->gated = stage->closing = stage->finished = false;
    stage->queue = NULL;
    link_stage(&staging->idle, stage);
}

/* A failed query is an end too: of a device that is lost nothing more is to come. */
static bool has_passed(yoke_stage_t *stage)
{
    if (stage->gated && !stage->closing)
        return false; /* nothing tells: enqueueing failed behind the gate */
    yoke_event_t *last = stage->closing       ? stage->passed
                         : stage->pieces == 0 ? NULL
                                              : stage->arrivals[stage->pieces - 1];
    return last == NULL || yoke_event_query(last) != YOKE_ERR_NOT_READY;
}

static void sweep(yoke_staging_t *staging)
{
    yoke_stage_t *next;
    for (yoke_stage_t *stage = staging->ending; stage != NULL; stage = next) {
        next = stage->next;
        if (!has_passed(stage))
            continue;
        unlink_stage(&staging->ending, stage);
        make_idle(stage);
    }
}

static yoke_status_t take_stage(yoke_staging_t *staging, yoke_stage_t **out_stage)
{
    sweep(staging);
    yoke_stage_t *stage = staging->idle;
    if (stage != NULL)
        staging->idle = stage->next;
    else if ((stage = calloc(1, sizeof *stage)) == NULL)
        return yoke_fail_memory();
    stage->staging = staging;
    link_stage(&staging->live, stage);
    *out_stage = stage;
    return YOKE_OK;
}

static void free_stage(yoke_stage_t *stage)
{
    for (int i = 0; i < PIECES; i++)
        yoke_event_destroy(stage->arrivals[i]);
    yoke_event_destroy(stage->passed);
    yoke_gate_destroy(stage->gate);
    free(stage->ranges);
    free(stage);
}

/* --- the public functions
 * ---------------------------------------------------------------------
 */

static yoke_status_t check(const yoke_staging_t *staging, const yoke_stage_call_t *call)
{
    const yoke_comm_buffer_t *buffers[2] = {&call->send, &call->recv};
    uint64_t sizes[2] = {call->send_size, call->recv_size};
    if (call->queue != NULL && yoke_queue_device(call->queue) != staging->device)
        return yoke_fail(YOKE_ERR_USAGE,
                         "the queue of a call is not of the device of its buffers");
    for (int i = 0; i < 2; i++) {
        const yoke_comm_buffer_t *buffer = buffers[i];
        if (sizes[i] == 0 || buffer->host != NULL)
            continue;
        if (buffer->span.buffer == NULL)
            return yoke_fail(YOKE_ERR_USAGE, "a call without a buffer for %llu bytes",
                             (unsigned long long)sizes[i]);
        uint64_t all = yoke_buffer_size(buffer->span.buffer);
        if (buffer->span.offset > all || sizes[i] > all - buffer->span.offset)
            return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                             "a call uses bytes %llu to %llu of a buffer of %llu",
                             (unsigned long long)buffer->span.offset,
                             (unsigned long long)(buffer->span.offset + sizes[i]),
                             (unsigned long long)all);
    }
    return YOKE_OK;
}

static yoke_status_t begin(yoke_stage_t *stage, const yoke_stage_call_t *call)
{
    yoke_status_t status = place(stage->staging, stage, call);
    if (status == YOKE_OK)
        status = copy_ranges(stage, call);
    if (status != YOKE_OK)
        return status;
    stage->queue = call->queue != NULL ? call->queue : stage->staging->queue;
    status = enqueue_input(stage);
    if (status == YOKE_OK && wants_gate(stage, call))
        status = close_gate(stage);
    if (status == YOKE_OK && stage->gated)
        status = enqueue_output(stage);
    return status;
}

yoke_status_t yoke_stage_begin(yoke_staging_t *staging, const yoke_stage_call_t *call,
                               yoke_stage_t **out_stage)
{
    yoke_stage_t *stage = NULL;
    yoke_status_t status = check(staging, call);
    if (status == YOKE_OK)
        status = take_stage(staging, &stage);
    if (status != YOKE_OK)
        return status;
    status = begin(stage, call);
    if (status == YOKE_OK)
        *out_stage = stage;
    else {
        yoke_stage_finish(stage, status);
        yoke_stage_end(stage);
    }
    return status;
}

void *yoke_stage_send(const yoke_stage_t *stage)
{
    return stage->send.host;
}

void *yoke_stage_recv(const yoke_stage_t *stage)
{
    return stage->recv.host;
}

bool yoke_stage_gated(const yoke_stage_t *stage)
{
    return stage->gated;
}

yoke_status_t yoke_stage_arrived(yoke_stage_t *stage, uint64_t *out_bytes)
{
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK && stage->arrived < stage->pieces) {
        status = yoke_event_query(stage->arrivals[stage->arrived]);
        stage->arrived += status == YOKE_OK;
    }
    uint64_t bytes = stage->arrived == stage->pieces ? stage->send.size
                                                     : stage->arrived * stage->piece_size;
    if (out_bytes != NULL)
        *out_bytes = bytes;
    return status;
}

yoke_status_t yoke_stage_finish(yoke_stage_t *stage, yoke_status_t result)
{
    if (stage->finished)
        return YOKE_OK;
    stage->finished = true;
    if (stage->gated)
        return yoke_gate_open(stage->gate);
    return result == YOKE_OK ? enqueue_output(stage) : YOKE_OK;
}

yoke_status_t yoke_stage_poll(yoke_stage_t *stage)
{
    return stage->closing ? yoke_event_query(stage->passed) : YOKE_OK;
}

void yoke_stage_end(yoke_stage_t *stage)
{
    if (stage == NULL)
        return;
    yoke_staging_t *staging = stage->staging;
    unlink_stage(&staging->live, stage);
    link_stage(&staging->ending, stage);
    sweep(staging);
}

yoke_status_t yoke_staging_create(yoke_device_t *device, yoke_staging_t **out_staging)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_status_t status = yoke_device_info(device, &info);
    if (status != YOKE_OK)
        return status;
    yoke_staging_t *staging = calloc(1, sizeof *staging);
    if (staging == NULL)
        return yoke_fail_memory();
    staging->device = device;
    staging->has_pinned = (info.capabilities & YOKE_CAP_PINNED) != 0;
    staging->has_gates = (info.capabilities & YOKE_CAP_GATE) != 0;
    status = yoke_queue_create(device, NULL, &staging->queue);
    if (status == YOKE_OK)
        *out_staging = staging;
    else
        free(staging);
    return status;
}

/* false: a queue has not passed all of it yet */
static bool try_free(yoke_staging_t *staging)
{
    sweep(staging);
    if (staging->ending != NULL)
        return false;
    for (yoke_stage_t *stage = staging->idle, *next; stage != NULL; stage = next) {
        next = stage->next;
        free_stage(stage);
    }
    for (yoke_pinned_t *pinned = staging->spare, *next; pinned != NULL; pinned = next) {
        next = pinned->next;
        if (pinned->buffer != NULL)
            yoke_buffer_destroy(pinned->buffer);
        else
            free(pinned->memory);
        free(pinned);
    }
    yoke_queue_destroy(staging->queue);
    free(staging);
    return true;
}

/* Long enough for copies that were under way; what still holds the queue then is the
 * caller's own work. */
#define PATIENCE_MS 100

void yoke_staging_destroy(yoke_staging_t *staging)
{
    if (staging == NULL)
        return;
    while (staging->live != NULL) {
        yoke_stage_t *stage = staging->live;
        yoke_stage_finish(stage, YOKE_ERR_REVOKED);
        yoke_stage_end(stage);
    }
    for (int ms = 0; staging->ending != NULL && ms < PATIENCE_MS; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        sweep(staging);
    }
    pthread_mutex_lock(&kept_lock);
    staging->next = kept;
    kept = staging;
    for (yoke_staging_t **place = &kept; *place != NULL;) {
        yoke_staging_t *one = *place, *next = one->next;
        if (try_free(one))
            *place = next;
        else
            place = &one->next;
    }
    pthread_mutex_unlock(&kept_lock);
}
