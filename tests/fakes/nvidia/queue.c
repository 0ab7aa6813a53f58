/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "cuda.h"
#include <stdlib.h>

/* ---- streams ----------------------------------------------------------------------- */

static cu_result_t create(cu_context_t *context, unsigned flags, int priority, void **out)
{
    if (out == NULL || (flags & ~1u) != 0)
        return CU_INVALID_VALUE;
    cu_stream_t *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return CU_OUT_OF_MEMORY;
    stream->context = context;
    stream->flags = flags;
    /* "A value outside is clamped" (cuStreamCreateWithPriority). */
    stream->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
    stream->queue = fake_stream_create(
        context->card, context,
        (flags & CU_NON_BLOCKING) != 0 ? FAKE_STREAM_FREE : FAKE_STREAM_JOINING);
    fake_handle_add(&stream->handle, KIND_STREAM);
    *out = stream;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuStreamCreate(void **out_stream, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamCreate);
    return create(context, flags, 0, out_stream);
}

FAKE_API cu_result_t cuStreamCreateWithPriority(void **out_stream, unsigned flags,
                                                int priority)
{
    CU_CALL_CONTEXT(cuStreamCreateWithPriority);
    return create(context, flags, priority, out_stream);
}

/* "the function will return immediately and the resources associated with hStream will be
 * released automatically once the device has completed all work" (cuda.h). */
FAKE_API cu_result_t cuStreamDestroy_v2(void *handle)
{
    CU_CALL(cuStreamDestroy_v2);
    cu_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    if (stream == NULL)
        return CU_INVALID_HANDLE;
    cu_result_t state = cu_usable(stream->context);
    fake_stream_destroy(stream->queue);
    fake_handle_remove(&stream->handle);
    free(stream);
    return state;
}

FAKE_API cu_result_t cuStreamSynchronize(void *handle)
{
    CU_CALL_CONTEXT(cuStreamSynchronize);
    fake_stream_t *queue;
    cu_context_t *of;
    cu_result_t result = cu_queue(context, handle, &queue, &of);
    if (result != CU_SUCCESS)
        return result;
    fake_stream_wait(queue);
    return cu_usable(of);
}

FAKE_API cu_result_t cuStreamQuery(void *handle)
{
    CU_CALL_CONTEXT(cuStreamQuery);
    fake_stream_t *queue;
    cu_context_t *of;
    cu_result_t result = cu_queue(context, handle, &queue, &of);
    if (result != CU_SUCCESS)
        return result;
    if (!fake_stream_idle(queue))
        return CU_NOT_READY;
    return cu_usable(of);
}

FAKE_API cu_result_t cuStreamGetCtx(void *handle, void **out_context)
{
    CU_CALL_CONTEXT(cuStreamGetCtx);
    fake_stream_t *queue;
    cu_context_t *of;
    cu_result_t result = cu_queue(context, handle, &queue, &of);
    if (result == CU_SUCCESS)
        *out_context = of;
    return result;
}

FAKE_API cu_result_t cuStreamGetFlags(void *handle, unsigned *flags)
{
    CU_CALL_CONTEXT(cuStreamGetFlags);
    cu_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    (void)context;
    if (stream == NULL && (uintptr_t)handle > CU_THREAD_STREAM)
        return CU_INVALID_HANDLE;
    *flags = stream != NULL ? stream->flags : 0;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuStreamGetPriority(void *handle, int *priority)
{
    CU_CALL_CONTEXT(cuStreamGetPriority);
    cu_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
    (void)context;
    if (stream == NULL && (uintptr_t)handle > CU_THREAD_STREAM)
        return CU_INVALID_HANDLE;
    *priority = stream != NULL ? stream->priority : 0;
    return CU_SUCCESS;
}

/* CUstreamCaptureStatus: nothing is ever captured here. */
FAKE_API cu_result_t cuStreamIsCapturing(void *handle, int *status)
{
    CU_CALL_CONTEXT(cuStreamIsCapturing);
    fake_stream_t *queue;
    cu_result_t result = cu_queue(context, handle, &queue, NULL);
    if (result == CU_SUCCESS)
        *status = 0;
    return result;
}

/* ---- host functions ---------------------------------------------------------------- */

typedef struct host_call {
    void (*function)(void *);
    void *data;
} host_call_t;

static void run_host_call(void *data)
{
    const host_call_t *call = data;
    call->function(call->data);
}

FAKE_API cu_result_t cuLaunchHostFunc(void *handle, void (*function)(void *), void *data)
{
    CU_CALL_CONTEXT(cuLaunchHostFunc);
    fake_stream_t *queue;
    host_call_t call = {function, data};
    cu_result_t result = cu_queue(context, handle, &queue, NULL);
    if (result != CU_SUCCESS)
        return result;
    if (function == NULL)
        return CU_INVALID_VALUE;
    fake_stream_push_host(queue, run_host_call, &call, sizeof call);
    return CU_SUCCESS;
}

/* ---- waiting for and writing memory ------------------------------------------------ */

typedef struct value_work {
    void *address;
    uint64_t value;
    unsigned flags;
    bool wide;
    cu_context_t *context;
} value_work_t;

/* CU_STREAM_WAIT_VALUE_GEQ 0 (cyclic), EQ 1, AND 2, NOR 3 (cuda.h). */
static bool value_reached(void *data)
{
    const value_work_t *work = data;
    if (fake_memory_place(work->address, work->wide ? 8 : 4) == FAKE_PLACE_BAD) {
        cu_fail(work->context, CU_ILLEGAL_ADDRESS);
        return true;
    }
    void *at = fake_shadow(work->address);
    uint64_t now = work->wide ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE)
                              : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
    switch (work->flags & 3u) {
    case 0:
        return work->wide ? (int64_t)(now - work->value) >= 0
                          : (int32_t)((uint32_t)now - (uint32_t)work->value) >= 0;
    case 1:
        return now == work->value;
    case 2:
        return (now & work->value) != 0;
    default:
        return work->wide ? ~(now | work->value) != 0
                          : ~((uint32_t)now | (uint32_t)work->value) != 0;
    }
}

static void write_value(void *data)
{
    const value_work_t *work = data;
    void *at = fake_shadow(work->address);
    if (work->wide)
        __atomic_store_n((uint64_t *)at, work->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, (uint32_t)work->value, __ATOMIC_RELEASE);
}

static cu_result_t enqueue_value(cu_context_t *context, void *handle, value_work_t work,
                                 bool wait)
{
    fake_stream_t *queue;
    cu_result_t result = cu_queue(context, handle, &queue, &work.context);
    size_t size = work.wide ? 8 : 4;
    if (result != CU_SUCCESS)
        return result;
    if (fake_config_number(context->card->index, "stream_wait", 1) == 0)
        return CU_NOT_SUPPORTED;
    fake_place_t place = fake_memory_place(work.address, size);
    if ((uintptr_t)work.address % size != 0 || place == FAKE_PLACE_BAD ||
        place == FAKE_PLACE_HOST)
        return CU_INVALID_VALUE;
    if (wait)
        fake_stream_push_poll(queue, value_reached, &work, sizeof work);
    else
        fake_stream_push(queue, write_value, &work, sizeof work);
    return CU_SUCCESS;
}

#define VALUE(address, value, flags, wide)                                               \
    ((value_work_t){(void *)(uintptr_t)(address), value, flags, wide, NULL})

FAKE_API cu_result_t cuStreamWaitValue32_v2(void *stream, cu_address_t address,
                                            uint32_t value, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamWaitValue32_v2);
    return enqueue_value(context, stream, VALUE(address, value, flags, false), true);
}

FAKE_API cu_result_t cuStreamWaitValue64_v2(void *stream, cu_address_t address,
                                            uint64_t value, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamWaitValue64_v2);
    return enqueue_value(context, stream, VALUE(address, value, flags, true), true);
}

FAKE_API cu_result_t cuStreamWriteValue32_v2(void *stream, cu_address_t address,
                                             uint32_t value, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamWriteValue32_v2);
    return enqueue_value(context, stream, VALUE(address, value, flags, false), false);
}

FAKE_API cu_result_t cuStreamWriteValue64_v2(void *stream, cu_address_t address,
                                             uint64_t value, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamWriteValue64_v2);
    return enqueue_value(context, stream, VALUE(address, value, flags, true), false);
}

/* ---- events ------------------------------------------------------------------------ */

FAKE_API cu_result_t cuEventCreate(void **out_event, unsigned flags)
{
    CU_CALL_CONTEXT(cuEventCreate);
    /* INTERPROCESS (4) needs DISABLE_TIMING (cuda.h). */
    if (out_event == NULL || (flags & ~7u) != 0 ||
        ((flags & 4u) != 0 && (flags & CU_DISABLE_TIMING) == 0))
        return CU_INVALID_VALUE;
    cu_event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return CU_OUT_OF_MEMORY;
    event->context = context;
    event->flags = flags;
    fake_handle_add(&event->handle, KIND_EVENT);
    *out_event = event;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuEventDestroy_v2(void *handle)
{
    CU_CALL(cuEventDestroy_v2);
    cu_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return CU_INVALID_HANDLE;
    cu_result_t state = cu_usable(event->context);
    fake_mark_release(atomic_load(&event->mark));
    fake_handle_remove(&event->handle);
    free(event);
    return state;
}

static cu_result_t record(cu_context_t *context, void *handle, void *stream)
{
    cu_event_t *event = fake_handle_check(handle, KIND_EVENT);
    fake_stream_t *queue;
    cu_context_t *of;
    cu_result_t result = cu_queue(context, stream, &queue, &of);
    if (event == NULL)
        return CU_INVALID_HANDLE;
    if (result != CU_SUCCESS)
        return result;
    if (event->context != of) /* "must be from the same context" (cuda.h) */
        return CU_INVALID_HANDLE;
    fake_mark_release(atomic_exchange(&event->mark, fake_stream_push_mark(queue)));
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuEventRecord(void *event, void *stream)
{
    CU_CALL_CONTEXT(cuEventRecord);
    return record(context, event, stream);
}

FAKE_API cu_result_t cuEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    CU_CALL_CONTEXT(cuEventRecordWithFlags);
    return flags > 1 ? CU_INVALID_VALUE : record(context, event, stream);
}

/* "if cuEventRecord() has not been called on hEvent, CUDA_SUCCESS" (cuda.h). */
FAKE_API cu_result_t cuEventQuery(void *handle)
{
    CU_CALL(cuEventQuery);
    cu_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return CU_INVALID_HANDLE;
    fake_mark_t *mark = atomic_load(&event->mark);
    cu_result_t state = cu_usable(event->context);
    if (state == CU_SUCCESS && mark != NULL && !fake_mark_done(mark))
        return CU_NOT_READY;
    return state;
}

FAKE_API cu_result_t cuEventSynchronize(void *handle)
{
    CU_CALL(cuEventSynchronize);
    cu_event_t *event = fake_handle_check(handle, KIND_EVENT);
    if (event == NULL)
        return CU_INVALID_HANDLE;
    fake_mark_t *mark = atomic_load(&event->mark);
    if (mark != NULL)
        fake_mark_wait(mark);
    return cu_usable(event->context);
}

FAKE_API cu_result_t cuStreamWaitEvent(void *stream, void *handle, unsigned flags)
{
    CU_CALL_CONTEXT(cuStreamWaitEvent);
    cu_event_t *event = fake_handle_check(handle, KIND_EVENT);
    fake_stream_t *queue;
    cu_result_t result = cu_queue(context, stream, &queue, NULL);
    if (event == NULL)
        return CU_INVALID_HANDLE;
    if (result != CU_SUCCESS)
        return result;
    if (flags > 1)
        return CU_INVALID_VALUE;
    fake_mark_t *mark = atomic_load(&event->mark);
    if (mark != NULL)
        fake_stream_push_wait(queue, mark);
    return CU_SUCCESS;
}

static cu_result_t elapsed(float *milliseconds, void *from, void *to)
{
    cu_event_t *start = fake_handle_check(from, KIND_EVENT);
    cu_event_t *end = fake_handle_check(to, KIND_EVENT);
    if (start == NULL || end == NULL || ((start->flags | end->flags) & CU_DISABLE_TIMING))
        return CU_INVALID_HANDLE;
    fake_mark_t *first = atomic_load(&start->mark), *last = atomic_load(&end->mark);
    if (start->context->card != end->context->card || first == NULL || last == NULL)
        return CU_INVALID_HANDLE;
    if (milliseconds == NULL)
        return CU_INVALID_VALUE;
    if (!fake_mark_done(first) || !fake_mark_done(last))
        return CU_NOT_READY;
    *milliseconds =
        (float)((double)(fake_mark_time(last) - fake_mark_time(first)) * 1e-6);
    return cu_usable(start->context);
}

FAKE_API cu_result_t cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    CU_CALL(cuEventElapsedTime);
    return elapsed(milliseconds, start, end);
}

FAKE_API cu_result_t cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
    CU_CALL(cuEventElapsedTime_v2);
    return elapsed(milliseconds, start, end);
}
