/* SPDX-License-Identifier: Apache-2.0 */
/* Events. */
#include "backends/cudalike/internal.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/queue.h"

static yoke_status_t add_event(yoke_impl_device_t *device, void *handle, bool owned,
                               yoke_impl_event_t **out_event)
{
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return yoke_fail_memory();
    event->device = device;
    event->event = handle;
    event->owned = owned;
    *out_event = event;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_event_create(yoke_impl_device_t *device, uint32_t flags,
                                         yoke_impl_event_t **out_event)
{
    const yoke_cudalike_api_t *api = device->api;
    int untimed = device->flavour->event_untimed_flags;
    bool timed = (flags & YOKE_EVENT_TIMING) != 0 || untimed == YOKE_CUDALIKE_UNSOURCED;
    void *handle = NULL;
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(device, false, event_create,
                       api->event_create(&handle, timed ? 0u : (unsigned)untimed),
                       status);
    if (status == YOKE_OK && handle == NULL)
        status = yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s:%u made no event",
                                        device->flavour->ops->name, device->ordinal);
    if (status != YOKE_OK)
        return status;
    status = add_event(device, handle, true, out_event);
    yoke_cudalike_scope_t scope;
    if (status != YOKE_OK && yoke_cudalike_enter(device, &scope) == 0) {
        (void)api->event_destroy(handle);
        yoke_cudalike_leave(&scope);
    }
    return status;
}

yoke_status_t yoke_cudalike_event_wrap(yoke_impl_device_t *device, void *handle,
                                       yoke_impl_event_t **out_event)
{
    return add_event(device, handle, false, out_event);
}

void yoke_cudalike_event_destroy(yoke_impl_event_t *event)
{
    yoke_cudalike_scope_t scope;
    if (event->owned && yoke_cudalike_enter(event->device, &scope) == 0) {
        (void)event->device->api->event_destroy(event->event);
        yoke_cudalike_leave(&scope);
    }
    free(event);
}

void *yoke_cudalike_event_native(yoke_impl_event_t *event)
{
    return event->event;
}

yoke_status_t yoke_cudalike_event_record(yoke_impl_event_t *event,
                                         yoke_impl_queue_t *queue)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(queue->device, queue->pinned, event_record,
                       queue->device->api->event_record(event->event, queue->stream),
                       status);
    return status;
}

yoke_status_t yoke_cudalike_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(queue->device, queue->pinned, stream_wait,
                       queue->device->api->stream_wait(queue->stream, event->event, 0),
                       status);
    return status;
}

yoke_status_t yoke_cudalike_event_query(yoke_impl_event_t *event)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(event->device, true, event_query,
                       event->device->api->event_query(event->event), status);
    return status;
}

yoke_status_t yoke_cudalike_event_sync(yoke_impl_event_t *event)
{
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(event->device, true, event_sync,
                       event->device->api->event_sync(event->event), status);
    return status;
}

yoke_status_t yoke_cudalike_event_elapsed(yoke_impl_event_t *start,
                                          yoke_impl_event_t *end, double *out_seconds)
{
    yoke_impl_device_t *device = start->device;
    float milliseconds = 0;
    yoke_status_t status;
    if (device->api->event_elapsed == NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "%s has no event times",
                                      device->flavour->ops->name);
    YOKE_CUDALIKE_CALL(
        device, false, event_elapsed,
        device->api->event_elapsed(&milliseconds, start->event, end->event), status);
    if (status == YOKE_OK)
        *out_seconds = (double)milliseconds * 1e-3;
    return status;
}
