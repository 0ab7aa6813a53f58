/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events are markers; waiting is a barrier on one. Gates are user events. What has to
 * cross from one context to another goes through a user event that a callback completes.
 *
 * A queue is flushed behind every marker and gate: somebody else may poll the event, and
 * without a flush the work before it might never be sent to the device.
 */
#include "backends/opencl/live.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/queue.h"

int32_t yoke_ocl_mark(yoke_impl_queue_t *queue, yoke_cl_event_t *out_event)
{
    if (queue->device->slot->version < YOKE_CL_VERSION(1, 2))
        return queue->cl->marker_1_1(queue->queue, out_event);
    return queue->cl->marker(queue->queue, 0, NULL, out_event);
}

int32_t yoke_ocl_hold(yoke_impl_queue_t *queue, yoke_cl_event_t event)
{
    if (queue->device->slot->version < YOKE_CL_VERSION(1, 2))
        return queue->cl->wait_1_1(queue->queue, 1, &event);
    return queue->cl->barrier(queue->queue, 1, &event, NULL);
}

yoke_status_t yoke_ocl_event_status(const yoke_ocl_live_t *cl, yoke_cl_event_t event)
{
    int32_t state = YOKE_CL_COMPLETE;
    int32_t code =
        cl->event_info(event, YOKE_CL_EVENT_STATUS, sizeof state, &state, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetEventInfo", code);
    if (state < 0)
        return yoke_ocl_fail("a command of the queue", state);
    return state == YOKE_CL_COMPLETE ? YOKE_OK : YOKE_ERR_NOT_READY;
}

static yoke_status_t never_recorded(void)
{
    return yoke_backend_fail_text(YOKE_ERR_USAGE, "opencl: the event was never recorded");
}

/* --- events ------------------------------------------------------------------------- */

static yoke_impl_event_t *new_event(yoke_impl_device_t *device)
{
    yoke_impl_event_t *event = calloc(1, sizeof *event);
    if (event != NULL)
        event->device = device;
    return event;
}

yoke_status_t yoke_ocl_event_create(yoke_impl_device_t *device, uint32_t flags,
                                    yoke_impl_event_t **out_event)
{
    yoke_impl_event_t *event = new_event(device);
    if (event == NULL)
        return yoke_fail_memory();
    event->timing = (flags & YOKE_EVENT_TIMING) != 0;
    *out_event = event;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_event_wrap(yoke_impl_device_t *device, void *handle,
                                  yoke_impl_event_t **out_event)
{
    yoke_cl_context_t context = NULL;
    if (handle == NULL)
        return yoke_backend_fail_text(YOKE_ERR_USAGE, "opencl: NULL is no cl_event");
    int32_t code = device->cl->event_info((yoke_cl_event_t)handle, YOKE_CL_EVENT_CONTEXT,
                                          sizeof context, &context, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetEventInfo", code);
    if (context != device->context)
        return yoke_backend_fail_text(
            YOKE_ERR_UNREACHABLE,
            "opencl: the event belongs to another context than the device; open the "
            "device with yoke_native_t.context set to the context of the event");
    yoke_impl_event_t *event = new_event(device);
    if (event == NULL)
        return yoke_fail_memory();
    event->event = (yoke_cl_event_t)handle;
    event->wrapped = true;
    *out_event = event;
    return YOKE_OK;
}

static void drop(yoke_impl_event_t *event)
{
    if (event->event != NULL && !event->wrapped)
        event->device->cl->release_event(event->event);
    event->event = NULL;
    event->wrapped = false;
}

void yoke_ocl_event_destroy(yoke_impl_event_t *event)
{
    drop(event);
    free(event);
}

yoke_status_t yoke_ocl_event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    yoke_cl_event_t marker = NULL;
    if (queue->context != event->device->context)
        return yoke_backend_fail_text(YOKE_ERR_UNREACHABLE,
                                      "opencl: event and queue are of two contexts");
    if (event->timing && !queue->timed) {
        yoke_status_t status = yoke_ocl_queue_time(queue);
        if (status != YOKE_OK)
            return status;
    }
    int32_t code = yoke_ocl_mark(queue, &marker);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clEnqueueMarkerWithWaitList", code);
    drop(event);
    event->event = marker;
    queue->dirty = true;
    code = queue->cl->flush(queue->queue);
    return code == YOKE_CL_SUCCESS ? YOKE_OK : yoke_ocl_fail("clFlush", code);
}

yoke_status_t yoke_ocl_event_query(yoke_impl_event_t *event)
{
    if (event->event == NULL)
        return never_recorded();
    return yoke_ocl_event_status(event->device->cl, event->event);
}

yoke_status_t yoke_ocl_event_sync(yoke_impl_event_t *event)
{
    if (event->event == NULL)
        return never_recorded();
    int32_t code = event->device->cl->wait(1, &event->event);
    return code == YOKE_CL_SUCCESS
               ? YOKE_OK
               : yoke_ocl_fail_wait(event->device->cl, NULL, "clWaitForEvents", code);
}

static yoke_status_t end_time(yoke_impl_event_t *event, uint64_t *out_time)
{
    if (event->event == NULL)
        return never_recorded();
    yoke_status_t status = yoke_ocl_event_status(event->device->cl, event->event);
    if (status != YOKE_OK)
        return status;
    int32_t code = event->device->cl->profiling(event->event, YOKE_CL_PROFILING_END,
                                                sizeof *out_time, out_time, NULL);
    return code == YOKE_CL_SUCCESS ? YOKE_OK
                                   : yoke_ocl_fail("clGetEventProfilingInfo", code);
}

yoke_status_t yoke_ocl_event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *end,
                                     double *out_seconds)
{
    uint64_t first = 0, last = 0;
    yoke_status_t status = end_time(start, &first);
    if (status == YOKE_OK)
        status = end_time(end, &last);
    if (status == YOKE_OK)
        *out_seconds = 1e-9 * (double)(int64_t)(last - first);
    return status;
}

void *yoke_ocl_event_native(yoke_impl_event_t *event)
{
    return event->event;
}

/* --- from one event to a user event --------------------------------------------------
 */

/* Made when it is armed, freed by the callback. */
typedef struct bridge {
    const yoke_ocl_live_t *cl;
    yoke_cl_event_t gate;
    void (*function)(void *); /* to be called before the gate opens, or NULL */
    void *context;
} bridge_t;

static void on_reached(yoke_cl_event_t event, int32_t state, void *data)
{
    bridge_t *bridge = data;
    (void)event;
    if (bridge->function != NULL)
        bridge->function(bridge->context);
    bridge->cl->set_user_event(bridge->gate, state < 0 ? state : YOKE_CL_COMPLETE);
    bridge->cl->release_event(bridge->gate);
    free(bridge);
}

/* The queue waits for a user event that opens when `event`, of any context, is reached
 * and `function` has run. */
static yoke_status_t cross(yoke_impl_queue_t *queue, yoke_cl_event_t event,
                           void (*function)(void *), void *context)
{
    const yoke_ocl_live_t *cl = queue->cl;
    int32_t code = YOKE_CL_SUCCESS;
    yoke_status_t status = YOKE_OK;
    bridge_t *bridge = malloc(sizeof *bridge);
    if (bridge == NULL)
        return yoke_fail_memory();
    yoke_cl_event_t gate = cl->user_event(queue->context, &code);
    if (gate == NULL) {
        free(bridge);
        return yoke_ocl_fail("clCreateUserEvent", code);
    }
    *bridge = (bridge_t){cl, gate, function, context};
    code = yoke_ocl_hold(queue, gate);
    if (code != YOKE_CL_SUCCESS) {
        status = yoke_ocl_fail("clEnqueueBarrierWithWaitList", code);
        free(bridge);
        cl->set_user_event(gate, YOKE_CL_COMPLETE);
        cl->release_event(gate);
        return status;
    }
    queue->dirty = true;
    code = cl->on_event(event, YOKE_CL_COMPLETE, on_reached, bridge);
    if (code != YOKE_CL_SUCCESS) { /* the queue must not stay stuck */
        status = yoke_ocl_fail("clSetEventCallback", code);
        cl->set_user_event(gate, YOKE_CL_COMPLETE);
        cl->release_event(gate);
        free(bridge);
        return status;
    }
    code = cl->flush(queue->queue);
    return code == YOKE_CL_SUCCESS ? YOKE_OK : yoke_ocl_fail("clFlush", code);
}

yoke_status_t yoke_ocl_queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    if (event->event == NULL)
        return never_recorded();
    if (event->device->context == queue->context) {
        int32_t code = yoke_ocl_hold(queue, event->event);
        if (code != YOKE_CL_SUCCESS)
            return yoke_ocl_fail("clEnqueueBarrierWithWaitList", code);
        queue->dirty = true;
        return YOKE_OK;
    }
    if (queue->device->slot->gates && event->device->slot->gates)
        return cross(queue, event->event, NULL, NULL);
    /* Oclgrind: work has ended when a flush returns, so this waits for nothing there. */
    return yoke_ocl_event_sync(event);
}

yoke_status_t yoke_ocl_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                 void *context)
{
    yoke_cl_event_t marker = NULL;
    if (!queue->device->slot->gates) { /* Oclgrind: any flush runs the queue to its end */
        yoke_status_t ended = yoke_ocl_queue_sync(queue);
        if (ended == YOKE_OK)
            function(context);
        return ended;
    }
    int32_t code = yoke_ocl_mark(queue, &marker);
    if (code == YOKE_CL_SUCCESS)
        code = queue->cl->flush(queue->queue);
    if (code != YOKE_CL_SUCCESS) {
        if (marker != NULL)
            queue->cl->release_event(marker);
        return yoke_ocl_fail("clEnqueueMarkerWithWaitList", code);
    }
    yoke_status_t status = cross(queue, marker, function, context);
    queue->cl->release_event(marker);
    return status;
}

/* --- gates -------------------------------------------------------------------------- */

yoke_status_t yoke_ocl_gate_create(yoke_impl_device_t *device,
                                   yoke_impl_gate_t **out_gate)
{
    if (!device->slot->gates)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "opencl: queues of %s cannot wait for the host",
                                      device->slot->info.name);
    yoke_impl_gate_t *gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return yoke_fail_memory();
    gate->device = device;
    yoke_status_t status = yoke_ocl_gate_reset(gate);
    if (status == YOKE_OK)
        *out_gate = gate;
    else
        free(gate);
    return status;
}

/* A queue that still waits would wait for ever: it is let through. */
void yoke_ocl_gate_destroy(yoke_impl_gate_t *gate)
{
    if (gate->event != NULL) {
        gate->device->cl->set_user_event(gate->event, YOKE_CL_COMPLETE);
        gate->device->cl->release_event(gate->event);
    }
    free(gate);
}

yoke_status_t yoke_ocl_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate)
{
    int32_t code = yoke_ocl_hold(queue, gate->event);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clEnqueueBarrierWithWaitList", code);
    queue->dirty = true;
    code = queue->cl->flush(queue->queue);
    return code == YOKE_CL_SUCCESS ? YOKE_OK : yoke_ocl_fail("clFlush", code);
}

yoke_status_t yoke_ocl_gate_open(yoke_impl_gate_t *gate)
{
    int32_t code = gate->device->cl->set_user_event(gate->event, YOKE_CL_COMPLETE);
    return code == YOKE_CL_SUCCESS ? YOKE_OK
                                   : yoke_ocl_fail("clSetUserEventStatus", code);
}

yoke_status_t yoke_ocl_gate_reset(yoke_impl_gate_t *gate)
{
    int32_t code = YOKE_CL_SUCCESS;
    yoke_cl_event_t event = gate->device->cl->user_event(gate->device->context, &code);
    if (event == NULL)
        return yoke_ocl_fail("clCreateUserEvent", code);
    if (gate->event != NULL)
        gate->device->cl->release_event(gate->event);
    gate->event = event;
    return YOKE_OK;
}
