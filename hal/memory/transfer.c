/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices of two runtimes.
 *
 * A copy is cut into chunks of a slot's size. Each end has its own pinned slots, because
 * a runtime reads or writes memory that another one pinned as if it were ordinary: at
 * once, in the call, when nothing is there yet. So a chunk goes device -> slot of the
 * source -> (here, by the processor) -> slot of the destination -> device:
 *
 *   from_queue: [source gate] copy into slot, mark `filled`
 *   advance():  filled? and the destination's slot free? move; open the destination gate;
 * the source's slot is free: open the source gate of the chunk that waits for it
 *   to_queue:   [destination gate] copy out of slot, mark `drained`
 *
 * All of it is enqueued in start(), in order, so that what the caller enqueues later on
 * either queue comes after. Chunk n uses slot n mod slots at both ends and entry n mod
 * RING of the ring of marks and gates. An end that has no gates is driven: start()
 * advances until it can enqueue without one.
 */
#include "hal/memory/transfer.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

/* --- one chunk
 * -------------------------------------------------------------------------------- */

static yoke_chunk_t *chunk_at(yoke_transfer_t *transfer, uint64_t number)
{
    return &transfer->ring[number % YOKE_TRANSFER_RING];
}

static yoke_span_t slot_of(const yoke_transfer_end_t *end,
                           const yoke_transfer_t *transfer, uint64_t number)
{
    return yoke_span(end->slots, number % transfer->slots * transfer->slot_size);
}

static yoke_status_t gate_wait(yoke_queue_t *queue, yoke_impl_gate_t *gate)
{
    return yoke_device_answer(queue->object.device, queue->object.ops->gate_wait(
                                                        queue->object.impl.queue, gate));
}

static yoke_status_t gate_open(yoke_device_t *device, yoke_impl_gate_t *gate)
{
    return yoke_device_answer(device, device->object.ops->gate_open(gate));
}

static yoke_status_t gate_reset(yoke_device_t *device, yoke_impl_gate_t *gate)
{
    return yoke_device_answer(device, device->object.ops->gate_reset(gate));
}

/* The source's slot of this chunk is free when the chunk before it in that slot was
 * moved. */
static bool source_slot_free(const yoke_transfer_t *transfer, uint64_t number)
{
    return number < transfer->slots + transfer->moved;
}

/* --- advancing
 * --------------------------------------------------------------------------------- */

static void move_between_slots(yoke_transfer_t *transfer, uint64_t number, uint64_t size)
{
    memcpy(transfer->to.memory + number % transfer->slots * transfer->slot_size,
           transfer->from.memory + number % transfer->slots * transfer->slot_size, size);
}

/* Chunk `moved`: into the destination's slot, and open what waits for that. */
static yoke_status_t move_next(yoke_transfer_t *transfer)
{
    uint64_t number = transfer->moved;
    yoke_chunk_t *chunk = chunk_at(transfer, number);
    yoke_status_t status = yoke_event_query(chunk->filled);
    if (status != YOKE_OK)
        return status;
    if (number >= transfer->drained + transfer->slots)
        return YOKE_ERR_NOT_READY; /* the destination's slot is still read */
    move_between_slots(transfer, number, chunk->size);
    transfer->moved++;
    if (chunk->to_gate_closed) {
        chunk->to_gate_closed = false;
        status = gate_open(transfer->to.device, chunk->to_gate);
    }
    uint64_t waiting = number + transfer->slots; /* it wants the source's slot */
    if (status == YOKE_OK && waiting < transfer->issued) {
        chunk = chunk_at(transfer, waiting);
        if (chunk->from_gate_closed) {
            chunk->from_gate_closed = false;
            status = gate_open(transfer->from.device, chunk->from_gate);
        }
    }
    return status;
}

/* Chunk `drained`: out of its slot; its gates are closed again for the next round. */
static yoke_status_t drain_next(yoke_transfer_t *transfer)
{
    yoke_chunk_t *chunk = chunk_at(transfer, transfer->drained);
    if (!chunk->written)
        return YOKE_ERR_NOT_READY; /* driven: start() has not come to it */
    yoke_status_t status = yoke_event_query(chunk->drained);
    if (status != YOKE_OK)
        return status;
    if (chunk->to_gate_used)
        status = gate_reset(transfer->to.device, chunk->to_gate);
    if (status == YOKE_OK && chunk->from_gate_used)
        status = gate_reset(transfer->from.device, chunk->from_gate);
    chunk->to_gate_used = chunk->from_gate_used = false;
    transfer->drained++;
    if (chunk->last)
        transfer->copies--;
    return status;
}

static yoke_status_t advance_waiters(yoke_transfer_t *transfer)
{
    for (size_t i = 0; i < YOKE_TRANSFER_WAITERS; i++) {
        yoke_waiter_t *waiter = &transfer->waiters[i];
        if (waiter->state == YOKE_WAITER_FREE)
            continue;
        yoke_event_t *event =
            waiter->state == YOKE_WAITER_CLOSED ? waiter->event : waiter->passed;
        yoke_status_t status = yoke_event_query(event);
        if (status == YOKE_ERR_NOT_READY)
            continue;
        if (status == YOKE_OK && waiter->state == YOKE_WAITER_CLOSED) {
            waiter->state = YOKE_WAITER_OPEN;
            status = gate_open(transfer->to.device, waiter->gate);
        } else if (status == YOKE_OK) {
            waiter->state = YOKE_WAITER_FREE;
            transfer->waiting--;
            status = gate_reset(transfer->to.device, waiter->gate);
        }
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

/* No queue may be left waiting for what will not come. */
static void open_everything(yoke_transfer_t *transfer)
{
    for (uint64_t number = transfer->drained; number < transfer->issued; number++) {
        yoke_chunk_t *chunk = chunk_at(transfer, number);
        if (chunk->to_gate_closed)
            gate_open(transfer->to.device, chunk->to_gate);
        if (chunk->from_gate_closed)
            gate_open(transfer->from.device, chunk->from_gate);
        chunk->to_gate_closed = chunk->from_gate_closed = false;
    }
    for (size_t i = 0; i < YOKE_TRANSFER_WAITERS; i++) {
        yoke_waiter_t *waiter = &transfer->waiters[i];
        if (waiter->state == YOKE_WAITER_CLOSED)
            gate_open(transfer->to.device, waiter->gate);
        if (waiter->state == YOKE_WAITER_CLOSED)
            waiter->state = YOKE_WAITER_OPEN;
    }
}

static yoke_status_t fail_transfer(yoke_transfer_t *transfer, yoke_status_t status)
{
    if (transfer->failed == YOKE_OK) {
        transfer->failed = status;
        open_everything(transfer);
    }
    return status;
}

static bool all_ended(const yoke_transfer_t *transfer)
{
    return transfer->drained == transfer->issued && transfer->waiting == 0;
}

/* As far as it goes without waiting. Under the lock. */
static yoke_status_t advance(yoke_transfer_t *transfer)
{
    yoke_status_t status = transfer->failed;
    if (status != YOKE_OK)
        return yoke_fail(status, "transfer %s: it failed before and takes no more",
                         transfer->label);
    for (;;) {
        uint64_t before = transfer->moved + transfer->drained;
        while (status == YOKE_OK && transfer->moved < transfer->issued)
            status = move_next(transfer);
        if (status == YOKE_ERR_NOT_READY)
            status = YOKE_OK;
        while (status == YOKE_OK && transfer->drained < transfer->moved)
            status = drain_next(transfer);
        if (status == YOKE_ERR_NOT_READY)
            status = YOKE_OK;
        if (status != YOKE_OK)
            return fail_transfer(transfer, status);
        if (before == transfer->moved + transfer->drained)
            break;
    }
    status = transfer->waiting > 0 ? advance_waiters(transfer) : YOKE_OK;
    if (status != YOKE_OK)
        return fail_transfer(transfer, status);
    return all_ended(transfer) ? YOKE_OK : YOKE_ERR_NOT_READY;
}

/* Give others the processor: longer the longer nothing happened. */
static void pause_for(unsigned *rounds)
{
    struct timespec time = {0, *rounds < 64 ? 0 : *rounds < 512 ? 20000 : 200000};
    if (*rounds < 16)
        sched_yield();
    else
        nanosleep(&time, NULL);
    ++*rounds;
}

/* --- starting
 * ----------------------------------------------------------------------------------- */

/* Advance until there is room: an entry of the ring, and the source's slot if it cannot
 * be waited for in the queue. */
static yoke_status_t make_room(yoke_transfer_t *transfer, bool slot)
{
    unsigned rounds = 0;
    for (;;) {
        bool entry = transfer->issued - transfer->drained < YOKE_TRANSFER_RING;
        if (entry && (!slot || source_slot_free(transfer, transfer->issued)))
            return YOKE_OK;
        yoke_status_t status = advance(transfer);
        if (status != YOKE_OK && status != YOKE_ERR_NOT_READY)
            return status;
        pause_for(&rounds);
    }
}

/* The source's half of chunk `number`. */
static yoke_status_t fill_slot(yoke_transfer_t *transfer, uint64_t number,
                               yoke_queue_t *queue, yoke_span_t from, uint64_t size)
{
    yoke_chunk_t *chunk = chunk_at(transfer, number);
    yoke_status_t status = YOKE_OK;
    chunk->size = size;
    chunk->written = false;
    if (!source_slot_free(transfer, number)) {
        chunk->from_gate_closed = chunk->from_gate_used = true;
        status = gate_wait(queue, chunk->from_gate);
    }
    if (status == YOKE_OK)
        status = yoke_queue_copy(queue, slot_of(&transfer->from, transfer, number), from,
                                 size);
    if (status == YOKE_OK)
        status = yoke_event_record(chunk->filled, queue);
    return status;
}

/* The destination's half; behind its gate where the data is not there yet. */
static yoke_status_t drain_slot(yoke_transfer_t *transfer, uint64_t number,
                                yoke_queue_t *queue, yoke_span_t to)
{
    yoke_chunk_t *chunk = chunk_at(transfer, number);
    yoke_status_t status = YOKE_OK;
    if (number >= transfer->moved) {
        chunk->to_gate_closed = chunk->to_gate_used = true;
        status = gate_wait(queue, chunk->to_gate);
    }
    if (status == YOKE_OK)
        status = yoke_queue_copy(queue, to, slot_of(&transfer->to, transfer, number),
                                 chunk->size);
    if (status == YOKE_OK)
        status = yoke_event_record(chunk->drained, queue);
    chunk->written = status == YOKE_OK;
    return status;
}

/* Without a gate at the destination the data must be in its slot first. */
static yoke_status_t wait_until_moved(yoke_transfer_t *transfer, uint64_t number)
{
    unsigned rounds = 0;
    while (transfer->moved <= number) {
        yoke_status_t status = advance(transfer);
        if (status != YOKE_OK && status != YOKE_ERR_NOT_READY)
            return status;
        if (transfer->moved <= number)
            pause_for(&rounds);
    }
    return YOKE_OK;
}

static yoke_status_t start_chunk(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                 yoke_span_t to, yoke_queue_t *from_queue,
                                 yoke_span_t from, uint64_t size, bool last)
{
    yoke_status_t status = make_room(transfer, !transfer->from.gated);
    if (status != YOKE_OK)
        return status;
    uint64_t number = transfer->issued;
    yoke_chunk_t *chunk = chunk_at(transfer, number);
    chunk->last = last;
    status = fill_slot(transfer, number, from_queue, from, size);
    transfer->issued++; /* also when it failed half way: its gates are to be opened */
    if (status == YOKE_OK && !transfer->to.gated)
        status = wait_until_moved(transfer, number);
    if (status == YOKE_OK)
        status = drain_slot(transfer, number, to_queue, to);
    return status;
}

static yoke_status_t start_staged(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                  yoke_span_t to, yoke_queue_t *from_queue,
                                  yoke_span_t from, uint64_t size)
{
    yoke_status_t status = YOKE_OK;
    transfer->copies++;
    for (uint64_t at = 0; status == YOKE_OK && at < size; at += transfer->slot_size) {
        uint64_t part = size - at < transfer->slot_size ? size - at : transfer->slot_size;
        status = start_chunk(transfer, to_queue, yoke_span(to.buffer, to.offset + at),
                             from_queue, yoke_span(from.buffer, from.offset + at), part,
                             at + part == size);
    }
    if (status == YOKE_OK)
        return YOKE_OK;
    fail_transfer(transfer, status);
    /* Both gates are open now: after this no queue is inside one. */
    yoke_fail_quiet(true);
    yoke_queue_sync(from_queue);
    yoke_queue_sync(to_queue);
    yoke_fail_quiet(false);
    return status;
}

/* Two devices of one runtime: a copy that both queues wait for. The ring counts it as a
 * chunk that was moved. */
static yoke_status_t start_peer(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                yoke_span_t to, yoke_queue_t *from_queue,
                                yoke_span_t from, uint64_t size)
{
    yoke_chunk_t *chunk = chunk_at(transfer, transfer->issued);
    yoke_status_t status = yoke_event_record(chunk->filled, from_queue);
    if (status == YOKE_OK)
        status = yoke_queue_wait(to_queue, chunk->filled);
    if (status == YOKE_OK)
        status = yoke_queue_copy(to_queue, to, from, size);
    if (status == YOKE_OK)
        status = yoke_event_record(chunk->drained, to_queue);
    if (status == YOKE_OK) /* the source must not change before it is read */
        status = yoke_queue_wait(from_queue, chunk->drained);
    if (status != YOKE_OK)
        return fail_transfer(transfer, status);
    chunk->written = chunk->last = true;
    transfer->copies++;
    transfer->issued++;
    transfer->moved++;
    return YOKE_OK;
}

static yoke_status_t check_end(const char *call, const char *what,
                               const yoke_device_t *device, const yoke_queue_t *queue,
                               yoke_span_t span, uint64_t size)
{
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(span.buffer), YOKE_OBJECT_BUFFER, call);
    if (status != YOKE_OK)
        return status;
    if (!yoke_device_same(queue->object.device, device))
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s_queue is of %s, the transfer's is %s",
                         call, what, queue->object.device->label, device->label);
    if (!yoke_device_same(span.buffer->object.device, device))
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: the buffer %s is of %s, the transfer's is %s", call, what,
                         span.buffer->object.device->label, device->label);
    if (span.offset > span.buffer->size || size > span.buffer->size - span.offset)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: %llu bytes at %llu pass the end of %s (%llu bytes)", call,
                         (unsigned long long)size, (unsigned long long)span.offset, what,
                         (unsigned long long)span.buffer->size);
    return YOKE_OK;
}

/* Refused here, a copy leaves the transfer as it was. */
static yoke_status_t check_apart(const char *call, yoke_span_t to, yoke_span_t from,
                                 uint64_t size)
{
    if (to.buffer != from.buffer || to.offset >= from.offset + size ||
        from.offset >= to.offset + size)
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_USAGE, "%s: source and destination overlap", call);
}

static yoke_status_t start(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                           yoke_span_t to, yoke_queue_t *from_queue, yoke_span_t from,
                           uint64_t size)
{
    yoke_status_t status = transfer->failed;
    if (status != YOKE_OK)
        return yoke_fail(status, "transfer %s: it failed before and takes no more",
                         transfer->label);
    if (transfer->copies >= YOKE_TRANSFER_COPIES) {
        status = advance(transfer);
        if (status != YOKE_OK && status != YOKE_ERR_NOT_READY)
            return status;
        if (transfer->copies >= YOKE_TRANSFER_COPIES)
            return YOKE_ERR_NOT_READY;
    }
    return transfer->peer ? start_peer(transfer, to_queue, to, from_queue, from, size)
                          : start_staged(transfer, to_queue, to, from_queue, from, size);
}

yoke_status_t yoke_transfer_start(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                  yoke_span_t to, yoke_queue_t *from_queue,
                                  yoke_span_t from, uint64_t size)
{
    static const char call[] = "yoke_transfer_start";
    yoke_status_t status = yoke_transfer_check(transfer, call);
    if (status == YOKE_OK)
        status = check_end(call, "to", transfer->to.device, to_queue, to, size);
    if (status == YOKE_OK)
        status = check_end(call, "from", transfer->from.device, from_queue, from, size);
    if (status == YOKE_OK)
        status = check_apart(call, to, from, size);
    if (status != YOKE_OK || size == 0)
        return status;
    pthread_mutex_lock(&transfer->lock);
    status = start(transfer, to_queue, to, from_queue, from, size);
    pthread_cond_signal(&transfer->work);
    pthread_mutex_unlock(&transfer->lock);
    return status;
}

/* --- polling, waiting, the thread
 * -------------------------------------------------------------- */

static yoke_status_t poll_once(yoke_transfer_t *transfer)
{
    pthread_mutex_lock(&transfer->lock);
    yoke_status_t status = advance(transfer);
    pthread_mutex_unlock(&transfer->lock);
    return status;
}

yoke_status_t yoke_transfer_poll(yoke_transfer_t *transfer)
{
    yoke_status_t status = yoke_transfer_check(transfer, "yoke_transfer_poll");
    return status == YOKE_OK ? poll_once(transfer) : status;
}

yoke_status_t yoke_transfer_wait(yoke_transfer_t *transfer)
{
    unsigned rounds = 0;
    yoke_status_t status = yoke_transfer_check(transfer, "yoke_transfer_wait");
    if (status != YOKE_OK)
        return status;
    while ((status = poll_once(transfer)) == YOKE_ERR_NOT_READY)
        pause_for(&rounds);
    return status;
}

static void *advance_for_ever(void *context)
{
    yoke_transfer_t *transfer = context;
    unsigned rounds = 0;
    pthread_mutex_lock(&transfer->lock);
    while (!transfer->stop) {
        if (transfer->failed != YOKE_OK || all_ended(transfer)) {
            rounds = 0;
            pthread_cond_wait(&transfer->work, &transfer->lock);
            continue;
        }
        advance(transfer);
        pthread_mutex_unlock(&transfer->lock);
        pause_for(&rounds);
        pthread_mutex_lock(&transfer->lock);
    }
    pthread_mutex_unlock(&transfer->lock);
    return NULL;
}

yoke_status_t yoke_transfer_run_thread(yoke_transfer_t *transfer)
{
    int code = pthread_create(&transfer->thread, NULL, advance_for_ever, transfer);
    if (code != 0)
        return yoke_fail(YOKE_ERR_SYSTEM, "yoke_transfer_create: no thread: %s",
                         strerror(code));
    transfer->has_thread = true;
    return YOKE_OK;
}

/* --- events of another runtime
 * ------------------------------------------------------------------ */

static yoke_status_t start_waiter(yoke_transfer_t *transfer, yoke_queue_t *queue,
                                  yoke_event_t *event)
{
    if (transfer->failed != YOKE_OK)
        return yoke_fail(transfer->failed,
                         "transfer %s: it failed before and takes no more",
                         transfer->label);
    size_t i = 0;
    while (i < YOKE_TRANSFER_WAITERS && transfer->waiters[i].state != YOKE_WAITER_FREE)
        i++;
    if (i == YOKE_TRANSFER_WAITERS)
        return YOKE_ERR_NOT_READY;
    yoke_waiter_t *waiter = &transfer->waiters[i];
    yoke_status_t status = gate_wait(queue, waiter->gate);
    if (status != YOKE_OK)
        return fail_transfer(transfer, status);
    waiter->state = YOKE_WAITER_CLOSED;
    waiter->event = event;
    transfer->waiting++;
    status = yoke_event_record(waiter->passed, queue);
    return status == YOKE_OK ? status : fail_transfer(transfer, status);
}

yoke_status_t yoke_transfer_wait_event(yoke_transfer_t *transfer, yoke_queue_t *to_queue,
                                       yoke_event_t *from_event)
{
    static const char call[] = "yoke_transfer_wait_event";
    yoke_status_t status = yoke_transfer_check(transfer, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(to_queue), YOKE_OBJECT_QUEUE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(from_event), YOKE_OBJECT_EVENT, call);
    if (status != YOKE_OK)
        return status;
    if (!yoke_device_same(to_queue->object.device, transfer->to.device) ||
        !yoke_device_same(from_event->object.device, transfer->from.device))
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: the transfer goes %s; queue of %s, event of %s", call,
                         transfer->label, to_queue->object.device->label,
                         from_event->object.device->label);
    if (!transfer->to.gated)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: %s has no gates", call,
                         transfer->to.device->label);
    pthread_mutex_lock(&transfer->lock);
    status = start_waiter(transfer, to_queue, from_event);
    pthread_cond_signal(&transfer->work);
    pthread_mutex_unlock(&transfer->lock);
    return status;
}
