/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "hip.h"
#include <stdlib.h>

/* ---- streams ----------------------------------------------------------------------- */

static hip_result_t create(hip_device_t *device, unsigned flags, int priority, void **out)
{
    if (out == NULL || (flags & ~1u) != 0)
        return hip_done(HIP_INVALID_VALUE);
    hip_stream_t *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return hip_done(HIP_OUT_OF_MEMORY);
    stream->device = device;
    stream->flags = flags;
    stream->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
    stream->queue = fake_stream_create(
        device->card, device,
        (flags & HIP_NON_BLOCKING) != 0 ? FAKE_STREAM_FREE : FAKE_STREAM_JOINING);
    fake_handle_add(&stream->handle, KIND_STREAM);
    *out = stream;
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipStreamCreate(void **out_stream)
{
    HIP_CALL_DEVICE(hipStreamCreate);
    return create(device, 0, 0, out_stream);
}

FAKE_API hip_result_t hipStreamCreateWithFlags(void **out_stream, unsigned flags)
{
    HIP_CALL_DEVICE(hipStreamCreateWithFlags);
    return create(device, flags, 0, out_stream);
}

FAKE_API hip_result_t hipStreamCreateWithPriority(void **out_stream, unsigned flags,
                                                  int priority)
{
    HIP_CALL_DEVICE(hipStreamCreateWithPriority);
    return create(device, flags, priority, out_stream);
}

FAKE_API hip_result_t hipStreamDestroy(void *handle)
{
    HIP_CALL(hipStreamDestroy);
    hip_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    if (stream == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    fake_stream_destroy(stream->queue);
    fake_handle_remove(&stream->handle);
    free(stream);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipStreamSynchronize(void *handle)
{
    HIP_CALL(hipStreamSynchronize);
    fake_stream_t *queue;
    hip_device_t *device;
    hip_result_t result = hip_queue(handle, &queue, &device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    fake_stream_wait(queue);
    return hip_done(hip_usable(device));
}

FAKE_API hip_result_t hipStreamQuery(void *handle)
{
    HIP_CALL(hipStreamQuery);
    fake_stream_t *queue;
    hip_device_t *device;
    hip_result_t result = hip_queue(handle, &queue, &device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    return fake_stream_idle(queue) ? hip_done(hip_usable(device)) : HIP_NOT_READY;
}

FAKE_API hip_result_t hipStreamGetFlags(void *handle, unsigned *flags)
{
    HIP_CALL(hipStreamGetFlags);
    hip_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    if (stream == NULL && handle != NULL)
        return hip_done(HIP_INVALID_HANDLE);
    *flags = stream != NULL ? stream->flags : 0;
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipStreamGetPriority(void *handle, int *priority)
{
    HIP_CALL(hipStreamGetPriority);
    hip_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    if (stream == NULL && handle != NULL)
        return hip_done(HIP_INVALID_HANDLE);
    *priority = stream != NULL ? stream->priority : 0;
    return HIP_SUCCESS;
}

#if HIP_FAKE_MAJOR >= 6
FAKE_API hip_result_t hipStreamGetDevice(void *handle, int *ordinal)
{
    HIP_CALL(hipStreamGetDevice);
    fake_stream_t *queue;
    hip_device_t *device;
    hip_result_t result = hip_queue(handle, &queue, &device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    FAKE_OUT(*ordinal, device->ordinal);
    return HIP_SUCCESS;
}
#endif

/* ---- host functions ---------------------------------------------------------------- */

typedef struct host_call {
    void (*function)(void *);
    void (*callback)(void *, hip_result_t, void *);
    void *stream, *data;
} host_call_t;

static void run_host_call(void *data)
{
    const host_call_t *call = data;
    if (call->function != NULL)
        call->function(call->data);
    else
        call->callback(call->stream, HIP_SUCCESS, call->data);
}

static hip_result_t enqueue_host_call(const host_call_t *call)
{
    fake_stream_t *queue;
    hip_result_t result = hip_queue(call->stream, &queue, NULL);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    if (call->function == NULL && call->callback == NULL)
        return hip_done(HIP_INVALID_VALUE);
    fake_stream_push_host(queue, run_host_call, call, sizeof *call);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipLaunchHostFunc(void *stream, void (*function)(void *),
                                        void *data)
{
    HIP_CALL(hipLaunchHostFunc);
    return enqueue_host_call(&(host_call_t){function, NULL, stream, data});
}

FAKE_API hip_result_t hipStreamAddCallback(void *stream,
                                           void (*callback)(void *, hip_result_t, void *),
                                           void *data, unsigned flags)
{
    HIP_CALL(hipStreamAddCallback);
    if (flags != 0)
        return hip_done(HIP_INVALID_VALUE);
    return enqueue_host_call(&(host_call_t){NULL, callback, stream, data});
}

/* ---- waiting for and writing memory ------------------------------------------------ */

typedef struct value_work {
    uint32_t *address;
    uint32_t value, mask;
    unsigned flags;
    hip_device_t *device;
} value_work_t;

/* hipStreamWaitValueGte 0, Eq 1, And 2, Nor 3; the memory is masked first. */
static bool value_reached(void *data)
{
    const value_work_t *work = data;
    if (fake_memory_place(work->address, 4) == FAKE_PLACE_BAD) {
        hip_fail(work->device, HIP_ILLEGAL_ADDRESS);
        return true;
    }
    uint32_t now = work->mask & __atomic_load_n((uint32_t *)fake_shadow(work->address),
                                                __ATOMIC_ACQUIRE);
    switch (work->flags) {
    case 0:
        return (int32_t)(now - work->value) >= 0;
    case 1:
        return now == work->value;
    case 2:
        return (now & work->value) != 0;
    default:
        return ~(now | work->value) != 0;
    }
}

static void write_value(void *data)
{
    const value_work_t *work = data;
    __atomic_store_n((uint32_t *)fake_shadow(work->address), work->value,
                     __ATOMIC_RELEASE);
}

static hip_result_t enqueue_value(void *stream, value_work_t work, bool wait)
{
    fake_stream_t *queue;
    hip_result_t result = hip_queue(stream, &queue, &work.device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    fake_place_t place = fake_memory_place(work.address, 4);
    if (place == FAKE_PLACE_HOST || place == FAKE_PLACE_BAD || work.flags > 3)
        return hip_done(HIP_INVALID_VALUE);
    if (fake_config_number(work.device->card->index, "stream_wait", 1) == 0)
        return hip_done(HIP_NOT_SUPPORTED);
    if (wait)
        fake_stream_push_poll(queue, value_reached, &work, sizeof work);
    else
        fake_stream_push(queue, write_value, &work, sizeof work);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipStreamWaitValue32(void *stream, void *address, uint32_t value,
                                           unsigned flags, uint32_t mask)
{
    HIP_CALL(hipStreamWaitValue32);
    return enqueue_value(stream, (value_work_t){address, value, mask, flags, NULL}, true);
}

FAKE_API hip_result_t hipStreamWriteValue32(void *stream, void *address, uint32_t value,
                                            unsigned flags)
{
    HIP_CALL(hipStreamWriteValue32);
    (void)flags;
    return enqueue_value(stream, (value_work_t){address, value, 0, 0, NULL}, false);
}

/* ---- events ------------------------------------------------------------------------ */

static hip_result_t create_event(hip_device_t *device, unsigned flags, void **out)
{
    /* BlockingSync 1, DisableTiming 2, Interprocess 4, ReleaseToDevice, ReleaseToSystem
     */
    if (out == NULL || (flags & ~0xc0000007u) != 0 ||
        ((flags & 4u) != 0 && (flags & HIP_DISABLE_TIMING) == 0))
        return hip_done(HIP_INVALID_VALUE);
    hip_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return hip_done(HIP_OUT_OF_MEMORY);
    event->device = device;
    event->flags = flags;
    fake_handle_add(&event->handle, KIND_EVENT);
    *out = event;
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipEventCreate(void **out_event)
{
    HIP_CALL_DEVICE(hipEventCreate);
    return create_event(device, 0, out_event);
}

FAKE_API hip_result_t hipEventCreateWithFlags(void **out_event, unsigned flags)
{
    HIP_CALL_DEVICE(hipEventCreateWithFlags);
    return create_event(device, flags, out_event);
}

FAKE_API hip_result_t hipEventDestroy(void *handle)
{
    HIP_CALL(hipEventDestroy);
    hip_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    fake_mark_release(atomic_load(&event->mark));
    fake_handle_remove(&event->handle);
    free(event);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipEventRecord(void *handle, void *stream)
{
    HIP_CALL(hipEventRecord);
    hip_event_t *event = fake_handle_check(handle, KIND_EVENT);
    fake_stream_t *queue;
    hip_device_t *device;
    if (event == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    hip_result_t result = hip_queue(stream, &queue, &device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    if (event->device != device)
        return hip_done(HIP_INVALID_HANDLE);
    fake_mark_release(atomic_exchange(&event->mark, fake_stream_push_mark(queue)));
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipEventQuery(void *handle)
{
    HIP_CALL(hipEventQuery);
    hip_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    fake_mark_t *mark = atomic_load(&event->mark);
    hip_result_t state = hip_usable(event->device);
    if (state == HIP_SUCCESS && mark != NULL && !fake_mark_done(mark))
        return HIP_NOT_READY;
    return hip_done(state);
}

FAKE_API hip_result_t hipEventSynchronize(void *handle)
{
    HIP_CALL(hipEventSynchronize);
    hip_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    fake_mark_t *mark = atomic_load(&event->mark);
    if (mark != NULL)
        fake_mark_wait(mark);
    return hip_done(hip_usable(event->device));
}

FAKE_API hip_result_t hipStreamWaitEvent(void *stream, void *handle, unsigned flags)
{
    HIP_CALL(hipStreamWaitEvent);
    hip_event_t *event = fake_handle_check(handle, KIND_EVENT);
    fake_stream_t *queue;
    if (event == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    hip_result_t result = hip_queue(stream, &queue, NULL);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    if (flags != 0)
        return hip_done(HIP_INVALID_VALUE);
    fake_mark_t *mark = atomic_load(&event->mark);
    if (mark != NULL)
        fake_stream_push_wait(queue, mark);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipEventElapsedTime(float *milliseconds, void *from, void *to)
{
    HIP_CALL(hipEventElapsedTime);
    hip_event_t *start = fake_handle_check(from, KIND_EVENT);
    hip_event_t *end = fake_handle_check(to, KIND_EVENT);
    if (milliseconds == NULL)
        return hip_done(HIP_INVALID_VALUE);
    if (start == NULL || end == NULL ||
        ((start->flags | end->flags) & HIP_DISABLE_TIMING))
        return hip_done(HIP_INVALID_HANDLE);
    fake_mark_t *first = atomic_load(&start->mark), *last = atomic_load(&end->mark);
    if (start->device != end->device || first == NULL || last == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    if (!fake_mark_done(first) || !fake_mark_done(last))
        return HIP_NOT_READY;
    *milliseconds =
        (float)((double)(fake_mark_time(last) - fake_mark_time(first)) * 1e-6);
    return HIP_SUCCESS;
}
