/* SPDX-License-Identifier: Apache-2.0 */
/* Events and gates, made of marks (live_mark.c). */
#include "backends/level_zero/live.h"

#include <stdlib.h>

#include "base/error.h"

static yoke_status_t never_recorded(void)
{
    return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                  "level_zero: the event was never recorded");
}

yoke_status_t yoke_ze_event_create(yoke_impl_device_t *device, uint32_t flags,
                                   yoke_impl_event_t **out_event)
{
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_fail_memory();
    event->device = device;
    event->timing = (flags & YOKE_EVENT_TIMING) != 0;
    yoke_status_t status = yoke_ze_mark_take(device, event->timing, &event->marks[0]);
    if (status == YOKE_OK)
        *out_event = event;
    else
        free(event);
    return status;
}

yoke_status_t yoke_ze_event_wrap(yoke_impl_device_t *device, void *handle,
                                 yoke_impl_event_t **out_event)
{
    if (handle == NULL)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "level_zero: NULL is no ze_event_handle_t");
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_fail_memory();
    event->device = device;
    event->wrapped = (yoke_ze_event_t)handle;
    *out_event = event;
    return YOKE_OK;
}

void yoke_ze_event_destroy(yoke_impl_event_t *event)
{
    for (size_t i = 0; i < YOKE_ZE_EVENT_MARKS; i++)
        yoke_ze_mark_give(event->device, event->marks[i]);
    free(event);
}

/* --- recording ---------------------------------------------------------------------- */

/* One of the event's own marks if nothing needs it, else another of the device's. */
static yoke_status_t choose(yoke_impl_event_t *event, yoke_ze_mark_t **out_mark)
{
    size_t place = 0;
    for (size_t i = 0; i < YOKE_ZE_EVENT_MARKS; i++) {
        yoke_ze_mark_t *mark = event->marks[i];
        if (mark == NULL) {
            place = i;
            break;
        }
        if (yoke_ze_mark_renew(event->device->ze, mark)) {
            *out_mark = mark;
            return YOKE_OK;
        }
        if (mark != event->current)
            place = i;
    }
    yoke_ze_mark_t *mark = NULL;
    yoke_status_t status = yoke_ze_mark_take(event->device, event->timing, &mark);
    if (status != YOKE_OK)
        return status;
    yoke_ze_mark_give(event->device, event->marks[place]);
    event->marks[place] = mark;
    *out_mark = mark;
    return YOKE_OK;
}

/* The caller's event: a flag that is up would say "reached" at once. */
static yoke_status_t record_wrapped(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    uint32_t code = queue->ze->event_query(event->wrapped);
    if (code == YOKE_ZE_SUCCESS)
        code = queue->ze->event_reset(event->wrapped);
    if (code != YOKE_ZE_SUCCESS && code != YOKE_ZE_NOT_READY)
        return yoke_ze_fail("zeEventHostReset", code);
    code = queue->ze->barrier(queue->list, event->wrapped, 0, NULL);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeCommandListAppendBarrier", code);
    queue->pending = queue->wrapped;
    return YOKE_OK;
}

yoke_status_t yoke_ze_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    yoke_ze_mark_t *mark = NULL;
    if (event->device->context != queue->device->context)
        return yoke_backend_fail_text(YOKE_ERR_UNREACHABLE,
                                      "level_zero: event and queue are of two contexts");
    if (event->wrapped != NULL)
        return record_wrapped(event, queue);
    yoke_status_t status = choose(event, &mark);
    if (status == YOKE_OK)
        status = yoke_ze_mark_record(mark, queue, event->timing);
    if (status == YOKE_OK) {
        queue->dirty = true;
        event->current = mark;
    }
    return status;
}

/* --- waiting ------------------------------------------------------------------------ */

static yoke_status_t plain(const char *call, uint32_t code)
{
    return code == YOKE_ZE_SUCCESS     ? YOKE_OK
           : code == YOKE_ZE_NOT_READY ? YOKE_ERR_NOT_READY
                                       : yoke_ze_fail(call, code);
}

yoke_status_t yoke_ze_event_query(yoke_impl_event_t *event)
{
    if (event->wrapped != NULL)
        return plain("zeEventQueryStatus",
                     event->device->ze->event_query(event->wrapped));
    return event->current != NULL ? yoke_ze_mark_query(event->device->ze, event->current)
                                  : never_recorded();
}

yoke_status_t yoke_ze_event_sync(yoke_impl_event_t *event)
{
    if (event->wrapped != NULL)
        return plain("zeEventHostSynchronize",
                     event->device->ze->event_sync(event->wrapped, UINT64_MAX));
    return event->current != NULL ? yoke_ze_mark_sync(event->device->ze, event->current)
                                  : never_recorded();
}

yoke_status_t yoke_ze_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    if (event->wrapped == NULL && event->current == NULL)
        return never_recorded();
    /* Events do not cross contexts: two drivers, or an adopted context. */
    if (event->device->context != queue->device->context)
        return yoke_ze_event_sync(event);
    if (event->wrapped == NULL)
        return yoke_ze_mark_wait(event->current, queue);
    uint32_t code = queue->ze->barrier(queue->list, NULL, 1, &event->wrapped);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeCommandListAppendBarrier", code);
    queue->dirty = true;
    return YOKE_OK;
}

static yoke_status_t stamp_of(yoke_impl_event_t *event, uint64_t *out_stamp)
{
    if (event->wrapped != NULL || !event->timing)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "level_zero: the event has no time: it was made "
                                      "elsewhere, or without YOKE_EVENT_TIMING");
    yoke_status_t status = yoke_ze_event_query(event);
    if (status == YOKE_OK)
        *out_stamp = *(volatile uint64_t *)event->current->stamp;
    return status;
}

/* The counter has few bits on some devices and wraps; the nearer way round is taken. */
yoke_status_t yoke_ze_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                    double *out_seconds)
{
    const yoke_ze_slot_t *slot = start->device->slot;
    uint64_t first = 0, last = 0;
    yoke_status_t status = stamp_of(start, &first);
    if (status == YOKE_OK)
        status = stamp_of(end, &last);
    if (status != YOKE_OK)
        return status;
    uint64_t forward = (last - first) & slot->ticks;
    uint64_t backward = (first - last) & slot->ticks;
    *out_seconds = forward <= backward ? (double)forward * slot->tick
                                       : -(double)backward * slot->tick;
    return YOKE_OK;
}

void *yoke_ze_event_native(yoke_impl_event_t *event)
{
    return event->wrapped != NULL   ? (void *)event->wrapped
           : event->current != NULL ? (void *)event->current->event
                                    : NULL;
}

/* --- gates -------------------------------------------------------------------------- */

yoke_status_t yoke_ze_gate_create(yoke_impl_device_t *device, yoke_impl_gate_t **out_gate)
{
    yoke_impl_gate_t *gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return yoke_fail_memory();
    gate->device = device;
    yoke_status_t status = yoke_ze_mark_take(device, false, &gate->mark);
    if (status == YOKE_OK)
        *out_gate = gate;
    else
        free(gate);
    return status;
}

/* A queue that still waits would wait for ever: it is let through. */
void yoke_ze_gate_destroy(yoke_impl_gate_t *gate)
{
    gate->device->ze->event_signal(gate->mark->event);
    gate->mark->used = true;
    yoke_ze_mark_give(gate->device, gate->mark);
    free(gate);
}

yoke_status_t yoke_ze_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate)
{
    return yoke_ze_mark_wait(gate->mark, queue);
}

yoke_status_t yoke_ze_gate_open(yoke_impl_gate_t *gate)
{
    uint32_t code = gate->device->ze->event_signal(gate->mark->event);
    return code == YOKE_ZE_SUCCESS ? YOKE_OK : yoke_ze_fail("zeEventHostSignal", code);
}

yoke_status_t yoke_ze_gate_reset(yoke_impl_gate_t *gate)
{
    uint32_t code = gate->device->ze->event_reset(gate->mark->event);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeEventHostReset", code);
    gate->mark->wait_count = 0; /* nothing waits now, says the contract */
    gate->mark->crowded = false;
    return YOKE_OK;
}
