/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order queues. Taking times costs some drivers a few per cent of a short command
 * (PoCL: 0.2 to 0.8 us of 30), and a queue has to be made for it. So a queue starts
 * without; when the first event that wants times is recorded on it, or its native handle
 * is asked for and must not change any more, a second queue goes on where it stops.
 */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"

static yoke_cl_queue_t make_queue(yoke_impl_device_t *device, int32_t priority,
                                  bool timed, const char **out_call, int32_t *out_code)
{
    const uint64_t profiling = timed ? YOKE_CL_QUEUE_PROFILING : 0;
    const uint64_t hint =
        priority < 0 ? YOKE_CL_QUEUE_PRIORITY_HIGH : YOKE_CL_QUEUE_PRIORITY_LOW;
    const uint64_t properties[] = {YOKE_CL_QUEUE_PROPERTIES, profiling,
                                   YOKE_CL_QUEUE_PRIORITY_KHR, hint, 0};
    if (priority != 0 && device->slot->priority) {
        *out_call = "clCreateCommandQueueWithProperties";
        return device->cl->queue_2_0(device->context, device->slot->device, properties,
                                     out_code);
    }
    *out_call = "clCreateCommandQueue";
    return device->cl->work.create_queue(device->context, device->slot->device, profiling,
                                         out_code);
}

static yoke_impl_queue_t *new_queue(yoke_impl_device_t *device)
{
    yoke_impl_queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->device = device;
    queue->cl = device->cl;
    queue->context = device->context;
    queue->dirty = true;
    return queue;
}

yoke_status_t yoke_ocl_queue_create(yoke_impl_device_t *device, int32_t priority,
                                    yoke_impl_queue_t **out_queue)
{
    int32_t code = YOKE_CL_SUCCESS;
    const char *call = NULL;
    yoke_impl_queue_t *queue = new_queue(device);
    if (queue == NULL)
        return yoke_fail_memory();
    queue->queue = make_queue(device, priority, false, &call, &code);
    queue->priority = priority;
    if (queue->queue == NULL) {
        free(queue);
        return yoke_ocl_fail(call, code);
    }
    *out_queue = queue;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_queue_wrap(yoke_impl_device_t *device, void *handle,
                                  yoke_impl_queue_t **out_queue)
{
    yoke_cl_context_t context = NULL;
    yoke_cl_device_t native = NULL;
    uint64_t properties = 0;
    yoke_cl_queue_t theirs = (yoke_cl_queue_t)handle;
    if (handle == NULL)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "opencl: there is no default queue; give a "
                                      "cl_command_queue");
    int32_t code = device->cl->queue_info(theirs, YOKE_CL_QUEUE_CONTEXT, sizeof context,
                                          &context, NULL);
    if (code == YOKE_CL_SUCCESS)
        code = device->cl->queue_info(theirs, YOKE_CL_QUEUE_DEVICE, sizeof native,
                                      &native, NULL);
    if (code == YOKE_CL_SUCCESS)
        code = device->cl->queue_info(theirs, YOKE_CL_QUEUE_PROPERTIES, sizeof properties,
                                      &properties, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetCommandQueueInfo", code);
    if (context != device->context || native != device->slot->device)
        return yoke_backend_fail_text(
            YOKE_ERR_UNREACHABLE,
            "opencl: the queue belongs to another %s than the device; open the device "
            "with yoke_native_t.context set to the context of the queue",
            native != device->slot->device ? "device" : "context");
    if ((properties & YOKE_CL_QUEUE_OUT_OF_ORDER) != 0)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "opencl: the queue is out of order; queues here "
                                      "are in order");
    yoke_impl_queue_t *queue = new_queue(device);
    if (queue == NULL)
        return yoke_fail_memory();
    queue->queue = theirs;
    queue->wrapped = true;
    queue->timed = true; /* or never: it is the caller's */
    *out_queue = queue;
    return YOKE_OK;
}

void yoke_ocl_queue_destroy(yoke_impl_queue_t *queue)
{
    if (queue->probe != NULL)
        queue->cl->release_event(queue->probe);
    if (!queue->wrapped)
        queue->cl->release_queue(queue->queue);
    if (queue->first != NULL)
        queue->cl->release_queue(queue->first);
    free(queue);
}

static yoke_status_t hand_over(yoke_impl_queue_t *queue, yoke_cl_queue_t next)
{
    yoke_cl_event_t last = NULL;
    yoke_cl_queue_t first = queue->queue;
    int32_t code = yoke_ocl_mark(queue, &last);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clEnqueueMarkerWithWaitList", code);
    code = queue->cl->flush(first);
    queue->queue = next;
    if (code == YOKE_CL_SUCCESS)
        code = yoke_ocl_hold(queue, last);
    queue->cl->release_event(last);
    if (code == YOKE_CL_SUCCESS)
        return YOKE_OK;
    queue->queue = first;
    return yoke_ocl_fail("clEnqueueBarrierWithWaitList", code);
}

yoke_status_t yoke_ocl_queue_time(yoke_impl_queue_t *queue)
{
    int32_t code = YOKE_CL_SUCCESS;
    const char *call = NULL;
    yoke_cl_queue_t first = queue->queue;
    yoke_cl_queue_t next = make_queue(queue->device, queue->priority, true, &call, &code);
    if (next == NULL)
        return yoke_ocl_fail(call, code);
    yoke_status_t status = hand_over(queue, next);
    if (status != YOKE_OK) {
        queue->cl->release_queue(next);
        return status;
    }
    queue->first = first; /* it may still have work: it ends with the queue */
    queue->timed = true;
    queue->dirty = true;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_queue_sync(yoke_impl_queue_t *queue)
{
    int32_t code = queue->cl->work.finish(queue->queue);
    return code == YOKE_CL_SUCCESS
               ? YOKE_OK
               : yoke_ocl_fail_wait(queue->cl, queue->queue, "clFinish", code);
}

static yoke_status_t set_probe(yoke_impl_queue_t *queue)
{
    yoke_cl_event_t marker = NULL;
    int32_t code = yoke_ocl_mark(queue, &marker);
    if (code == YOKE_CL_SUCCESS)
        code = queue->cl->flush(queue->queue);
    if (code != YOKE_CL_SUCCESS) {
        if (marker != NULL)
            queue->cl->release_event(marker);
        return yoke_ocl_fail("clEnqueueMarkerWithWaitList", code);
    }
    if (queue->probe != NULL)
        queue->cl->release_event(queue->probe);
    queue->probe = marker;
    queue->dirty = false;
    return YOKE_OK;
}

/* A caller's queue may hold work that we have not seen, so the marker is always a new
 * one; it needs a moment even when the queue is empty. */
static yoke_status_t query_wrapped(yoke_impl_queue_t *queue)
{
    struct timespec start, now;
    yoke_status_t status = set_probe(queue);
    if (status != YOKE_OK)
        return status;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        status = yoke_ocl_event_status(queue->cl, queue->probe);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (status == YOKE_ERR_NOT_READY &&
             (now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec <
                 200000L);
    return status;
}

yoke_status_t yoke_ocl_queue_query(yoke_impl_queue_t *queue)
{
    if (queue->wrapped)
        return query_wrapped(queue);
    if (queue->dirty) {
        yoke_status_t status = set_probe(queue);
        if (status != YOKE_OK)
            return status;
    }
    return yoke_ocl_event_status(queue->cl, queue->probe);
}

void *yoke_ocl_queue_native(yoke_impl_queue_t *queue)
{
    if (!queue->timed && yoke_ocl_queue_time(queue) != YOKE_OK)
        queue->timed = true; /* it stays as it is: no times on this one */
    return queue->queue;
}
