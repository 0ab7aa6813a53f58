/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending transfers: everything that is allocated. */
#include "hal/memory/transfer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define DEFAULT_SLOTS 4
#define DEFAULT_SLOT_SIZE (4u << 20)

static bool has(const yoke_device_t *device, uint64_t capability)
{
    return (device->info.capabilities & capability) == capability;
}

/* --- parts
 * -------------------------------------------------------------------------------------
 */

static yoke_status_t make_end(yoke_transfer_t *transfer, yoke_transfer_end_t *end,
                              yoke_device_t *device)
{
    yoke_device_retain(device);
    end->device = device;
    end->gated = has(device, YOKE_CAP_GATE);
    if (transfer->peer)
        return YOKE_OK;
    if (!has(device, YOKE_CAP_PINNED))
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_transfer_create: %s has no pinned memory for the slots",
                         device->label);
    yoke_status_t status = yoke_buffer_create(
        device, YOKE_MEMORY_HOST, transfer->slots * transfer->slot_size, &end->slots);
    void *memory = NULL;
    if (status == YOKE_OK)
        status = yoke_buffer_host_address(end->slots, &memory);
    if (status == YOKE_OK)
        end->memory = memory;
    return status;
}

static yoke_status_t make_gate(yoke_device_t *device, yoke_impl_gate_t **out_gate)
{
    return yoke_device_answer(
        device, device->object.ops->gate_create(device->object.impl.device, out_gate));
}

/* Some devices turn out to have no gates only when one is made. It is kept: freeing
 * memory waits for the whole device with some runtimes (hipFree), so for queues that are
 * behind gates of other transfers. */
static yoke_status_t try_gate(yoke_transfer_end_t *end, yoke_impl_gate_t **out_gate)
{
    if (!end->gated)
        return YOKE_OK;
    yoke_fail_quiet(true);
    yoke_status_t status = make_gate(end->device, out_gate);
    yoke_fail_quiet(false);
    end->gated = status == YOKE_OK;
    return status == YOKE_ERR_UNSUPPORTED ? YOKE_OK : status;
}

static yoke_status_t make_chunk(yoke_transfer_t *transfer, yoke_chunk_t *chunk)
{
    yoke_status_t status = yoke_event_create(transfer->from.device, 0, &chunk->filled);
    if (status == YOKE_OK)
        status = yoke_event_create(transfer->to.device, 0, &chunk->drained);
    if (status == YOKE_OK && !transfer->peer && transfer->from.gated &&
        chunk->from_gate == NULL)
        status = make_gate(transfer->from.device, &chunk->from_gate);
    if (status == YOKE_OK && !transfer->peer && transfer->to.gated)
        status = make_gate(transfer->to.device, &chunk->to_gate);
    return status;
}

static yoke_status_t make_waiter(yoke_transfer_t *transfer, yoke_waiter_t *waiter)
{
    yoke_status_t status = yoke_event_create(transfer->to.device, 0, &waiter->passed);
    if (status == YOKE_OK && waiter->gate == NULL)
        status = make_gate(transfer->to.device, &waiter->gate);
    return status;
}

static yoke_status_t make_parts(yoke_transfer_t *transfer, yoke_device_t *from,
                                yoke_device_t *to)
{
    yoke_status_t status = make_end(transfer, &transfer->from, from);
    if (status == YOKE_OK)
        status = make_end(transfer, &transfer->to, to);
    if (status == YOKE_OK)
        status = try_gate(&transfer->from, &transfer->ring[0].from_gate);
    if (status == YOKE_OK)
        status = try_gate(&transfer->to, &transfer->waiters[0].gate);
    for (size_t i = 0; status == YOKE_OK && i < YOKE_TRANSFER_RING; i++)
        status = make_chunk(transfer, &transfer->ring[i]);
    for (size_t i = 0;
         status == YOKE_OK && transfer->to.gated && i < YOKE_TRANSFER_WAITERS; i++)
        status = make_waiter(transfer, &transfer->waiters[i]);
    return status;
}

/* --- ending
 * -------------------------------------------------------------------------------------
 */

static void end_gate(yoke_device_t *device, yoke_impl_gate_t *gate)
{
    if (gate != NULL)
        device->object.ops->gate_destroy(gate);
}

static void end_parts(yoke_transfer_t *transfer)
{
    for (size_t i = 0; i < YOKE_TRANSFER_RING; i++) {
        yoke_chunk_t *chunk = &transfer->ring[i];
        yoke_event_destroy(chunk->filled);
        yoke_event_destroy(chunk->drained);
        end_gate(transfer->from.device, chunk->from_gate);
        end_gate(transfer->to.device, chunk->to_gate);
    }
    for (size_t i = 0; i < YOKE_TRANSFER_WAITERS; i++) {
        yoke_event_destroy(transfer->waiters[i].passed);
        end_gate(transfer->to.device, transfer->waiters[i].gate);
    }
    yoke_buffer_destroy(transfer->from.slots);
    yoke_buffer_destroy(transfer->to.slots);
    if (transfer->from.device != NULL)
        yoke_device_release(transfer->from.device);
    if (transfer->to.device != NULL)
        yoke_device_release(transfer->to.device);
    pthread_cond_destroy(&transfer->work);
    pthread_mutex_destroy(&transfer->lock);
}

/* A queue may be in a gate that was opened when the transfer failed. */
static void let_queues_pass(yoke_transfer_t *transfer)
{
    yoke_fail_quiet(true);
    for (uint64_t number = transfer->drained; number < transfer->issued; number++) {
        yoke_chunk_t *chunk = &transfer->ring[number % YOKE_TRANSFER_RING];
        yoke_event_sync(chunk->filled);
        if (chunk->written)
            yoke_event_sync(chunk->drained);
    }
    for (size_t i = 0; i < YOKE_TRANSFER_WAITERS; i++)
        if (transfer->waiters[i].state != YOKE_WAITER_FREE)
            yoke_event_sync(transfer->waiters[i].passed);
    yoke_fail_quiet(false);
}

void yoke_transfer_destroy(yoke_transfer_t *transfer)
{
    if (!yoke_object_endable(YOKE_OBJECT(transfer), YOKE_OBJECT_TRANSFER,
                             "yoke_transfer_destroy"))
        return;
    if (transfer->failed == YOKE_OK)
        yoke_transfer_wait(transfer);
    if (transfer->failed != YOKE_OK)
        let_queues_pass(transfer);
    if (transfer->has_thread) {
        pthread_mutex_lock(&transfer->lock);
        transfer->stop = true;
        pthread_cond_signal(&transfer->work);
        pthread_mutex_unlock(&transfer->lock);
        pthread_join(transfer->thread, NULL);
    }
    end_parts(transfer);
    yoke_object_end(&transfer->object);
}

/* --- making
 * -------------------------------------------------------------------------------------
 */

static yoke_status_t take_options(const yoke_transfer_options_t *options,
                                  yoke_transfer_options_t *out)
{
    static const char call[] = "yoke_transfer_create";
    *out = (yoke_transfer_options_t){.struct_size = sizeof *out};
    yoke_status_t status = yoke_options_take(out, sizeof *out, options, call);
    if (status != YOKE_OK)
        return status;
    if (out->slots == 0)
        out->slots = DEFAULT_SLOTS;
    if (out->slot_size == 0)
        out->slot_size = DEFAULT_SLOT_SIZE;
    if ((out->flags & ~YOKE_TRANSFER_THREAD) != 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: unknown flags 0x%x", call, out->flags);
    if (out->slots > YOKE_TRANSFER_RING)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %u slots; at most %d", call, out->slots,
                         YOKE_TRANSFER_RING);
    /* Chunks begin at multiples of it: runtimes want aligned addresses. */
    if (out->slot_size % 256 != 0 || out->slot_size > (uint64_t)1 << 40)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: slot_size %llu is no multiple of 256, or above 1 TiB", call,
                         (unsigned long long)out->slot_size);
    return YOKE_OK;
}

/* Devices of one runtime that reach each other need no slots. */
static yoke_status_t is_peer(yoke_device_t *from, yoke_device_t *to, bool *out_peer)
{
    *out_peer = yoke_device_same(from, to);
    if (*out_peer || from->runtime != to->runtime || !has(to, YOKE_CAP_PEER))
        return YOKE_OK;
    return yoke_device_can_reach(to, from, out_peer);
}

yoke_status_t yoke_transfer_create(yoke_device_t *from, yoke_device_t *to,
                                   const yoke_transfer_options_t *options,
                                   yoke_transfer_t **out_transfer)
{
    static const char call[] = "yoke_transfer_create";
    yoke_transfer_options_t taken;
    bool peer = false;
    yoke_status_t status = yoke_object_check(YOKE_OBJECT(from), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(to), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_transfer == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: out_transfer is NULL", call);
    if (status == YOKE_OK)
        status = take_options(options, &taken);
    if (status == YOKE_OK)
        status = is_peer(from, to, &peer);
    if (status != YOKE_OK)
        return status;

    yoke_transfer_t *transfer =
        yoke_object_new(sizeof *transfer, YOKE_OBJECT_TRANSFER, to);
    if (transfer == NULL)
        return YOKE_ERR_NO_MEMORY;
    pthread_mutex_init(&transfer->lock, NULL);
    pthread_cond_init(&transfer->work, NULL);
    transfer->peer = peer;
    transfer->slots = taken.slots;
    transfer->slot_size = taken.slot_size;
    snprintf(transfer->label, sizeof transfer->label, "%s -> %s", from->label, to->label);
    status = make_parts(transfer, from, to);
    if (status == YOKE_OK && (taken.flags & YOKE_TRANSFER_THREAD) != 0)
        status = yoke_transfer_run_thread(transfer);
    if (status != YOKE_OK) {
        end_parts(transfer);
        yoke_object_discard(&transfer->object);
        return status;
    }
    yoke_object_attach(&transfer->object);
    *out_transfer = transfer;
    return YOKE_OK;
}

const char *yoke_transfer_method(const yoke_transfer_t *transfer)
{
    if (yoke_transfer_check(transfer, "yoke_transfer_method") != YOKE_OK)
        return "";
    return transfer->peer ? "peer" : transfer->to.gated ? "gated" : "driven";
}
