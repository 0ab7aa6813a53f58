/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and host functions of the fake AscendCL. */
#include "core.h"
#include "hooks.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct event {
    fake_handle_t handle;
    uint32_t flags;
    fake_mark_t *mark; /* of the latest record; NULL: never */
} event_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream_t *streams; /* all, under `lock`; marks of events too */

/* --- streams ------------------------------------------------------------------------ */

static stream_t *stream_make(context_t *context, bool quiet)
{
    stream_t *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->context = context;
    stream->queue = fake_stream_create(context->card, context, FAKE_STREAM_FREE);
    stream->next = streams;
    streams = stream;
    if (quiet)
        fake_handle_add_quiet(&stream->handle, KIND_STREAM);
    else
        fake_handle_add(&stream->handle, KIND_STREAM);
    return stream;
}

/* Unlinked by the caller. */
static void stream_end(stream_t *stream)
{
    fake_stream_wait(stream->queue);
    fake_stream_destroy(stream->queue);
    fake_handle_remove(&stream->handle);
    free(stream);
}

aclError acl_stream(context_t *context, aclrtStream handle, stream_t **out_stream)
{
    stream_t *stream;
    if (handle == NULL) {
        pthread_mutex_lock(&lock);
        if (context->standard == NULL)
            context->standard = stream_make(context, true);
        stream = context->standard;
        pthread_mutex_unlock(&lock);
    } else {
        stream = fake_handle_check(handle, KIND_STREAM);
    }
    if (stream == NULL)
        return acl_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is not a stream", handle);
    if (stream->context != context)
        return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                        "the stream is not of this thread's context");
    *out_stream = stream;
    return ACL_SUCCESS;
}

void acl_streams_destroy(context_t *context)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        stream_t **place = &streams;
        while (*place != NULL && (*place)->context != context)
            place = &(*place)->next;
        stream_t *stream = *place;
        if (stream != NULL)
            *place = stream->next;
        pthread_mutex_unlock(&lock);
        if (stream == NULL)
            return;
        stream_end(stream);
    }
}

static aclError enter_stream(aclrtStream handle, stream_t **out_stream)
{
    context_t *context;
    aclError code = acl_enter(&context);
    return code != ACL_SUCCESS ? code : acl_stream(context, handle, out_stream);
}

static aclError create_stream(aclrtStream *stream)
{
    context_t *context;
    if (stream == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "stream is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    stream_t *made = stream_make(context, false);
    pthread_mutex_unlock(&lock);
    if (made == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    *stream = made;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtCreateStream(aclrtStream *stream)
{
    FAKE_CALL(aclrtCreateStream, aclError);
    return create_stream(stream);
}

FAKE_API aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                              uint32_t flag)
{
    FAKE_CALL(aclrtCreateStreamWithConfig, aclError);
    if (priority > 7) /* [0, 7]: acl_rt.h */
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "priority %u is invalid", priority);
    (void)flag;
    return create_stream(stream);
}

FAKE_API aclError aclrtDestroyStream(aclrtStream stream)
{
    FAKE_CALL(aclrtDestroyStream, aclError);
    context_t *context;
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS && code != ACL_ERROR_RT_LOST_HEARTBEAT)
        return code;
    stream_t *old = fake_handle_check(stream, KIND_STREAM);
    if (old == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "%p is not a stream", stream);
    pthread_mutex_lock(&lock);
    stream_t **place = &streams;
    while (*place != old)
        place = &(*place)->next;
    *place = old->next;
    pthread_mutex_unlock(&lock);
    stream_end(old);
    return code;
}

static aclError synchronize(aclrtStream stream, int32_t timeout)
{
    stream_t *queue;
    aclError code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    if (timeout < 0)
        fake_stream_wait(queue->queue);
    else if (!fake_stream_wait_for(queue->queue, timeout * 1000000ll))
        return acl_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "EE1002: no end after %d ms",
                        timeout);
    return acl_check_card(queue->context->card);
}

FAKE_API aclError aclrtSynchronizeStream(aclrtStream stream)
{
    FAKE_CALL(aclrtSynchronizeStream, aclError);
    return synchronize(stream, -1);
}

FAKE_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    FAKE_CALL(aclrtSynchronizeStreamWithTimeout, aclError);
    if (timeout < -1)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "timeout %d is invalid", timeout);
    return synchronize(stream, timeout);
}

FAKE_API aclError aclrtSynchronizeDevice(void)
{
    FAKE_CALL(aclrtSynchronizeDevice, aclError);
    context_t *context;
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    fake_card_wait(context->card);
    return acl_check_card(context->card);
}

FAKE_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    FAKE_CALL(aclrtStreamQuery, aclError);
    stream_t *queue;
    if (status == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "status is NULL");
    aclError code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    *status = fake_stream_idle(queue->queue) ? ACL_STREAM_STATUS_COMPLETE
                                             : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

/* --- events ------------------------------------------------------------------------- */

static aclError create_event(aclrtEvent *event, uint32_t flags)
{
    context_t *context;
    if (event == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "event is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    if ((flags & ACL_EVENT_ALL) == 0 || flags > ACL_EVENT_ALL)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003: flag 0x%x is invalid",
                        flags);
    event_t *made = calloc(1, sizeof *made);
    if (made == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    made->flags = flags;
    fake_handle_add(&made->handle, KIND_EVENT);
    *event = made;
    return ACL_SUCCESS;
}

/* For timing and for streams: 07_event_management.md. */
FAKE_API aclError aclrtCreateEvent(aclrtEvent *event)
{
    FAKE_CALL(aclrtCreateEvent, aclError);
    return create_event(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
}

FAKE_API aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    FAKE_CALL(aclrtCreateEventWithFlag, aclError);
    return create_event(event, flag);
}

FAKE_API aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    FAKE_CALL(aclrtCreateEventExWithFlag, aclError);
    return create_event(event, flag);
}

static aclError enter_event(aclrtEvent handle, event_t **out_event)
{
    context_t *context;
    if (handle == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "event is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS && code != ACL_ERROR_RT_LOST_HEARTBEAT)
        return code;
    *out_event = fake_handle_check(handle, KIND_EVENT);
    if (*out_event == NULL)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not an event", handle);
    return code;
}

/* A reference to the latest record, or NULL. */
static fake_mark_t *mark_of(event_t *event)
{
    pthread_mutex_lock(&lock);
    fake_mark_t *mark = event->mark != NULL ? fake_mark_retain(event->mark) : NULL;
    pthread_mutex_unlock(&lock);
    return mark;
}

static void replace_mark(event_t *event, fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    fake_mark_t *old = event->mark;
    event->mark = mark;
    pthread_mutex_unlock(&lock);
    if (old != NULL)
        fake_mark_release(old);
}

FAKE_API aclError aclrtDestroyEvent(aclrtEvent event)
{
    FAKE_CALL(aclrtDestroyEvent, aclError);
    event_t *old = NULL;
    aclError code = enter_event(event, &old);
    if (old == NULL)
        return code;
    replace_mark(old, NULL);
    fake_handle_remove(&old->handle);
    free(old);
    return code;
}

FAKE_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    FAKE_CALL(aclrtRecordEvent, aclError);
    event_t *target = NULL;
    stream_t *queue;
    aclError code = enter_event(event, &target);
    if (code == ACL_SUCCESS)
        code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    replace_mark(target, fake_stream_push_mark(queue->queue));
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    FAKE_CALL(aclrtResetEvent, aclError);
    event_t *target = NULL;
    stream_t *queue;
    aclError code = enter_event(event, &target);
    if (code == ACL_SUCCESS)
        code = enter_stream(stream, &queue);
    if (code == ACL_SUCCESS)
        replace_mark(target, NULL);
    return code;
}

/* No flags; the stream comes first. An event never recorded is not waited for. */
FAKE_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    FAKE_CALL(aclrtStreamWaitEvent, aclError);
    event_t *source = NULL;
    stream_t *queue;
    aclError code = enter_event(event, &source);
    if (code == ACL_SUCCESS)
        code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    fake_mark_t *mark = mark_of(source);
    fake_stream_push_wait(queue->queue, mark);
    if (mark != NULL)
        fake_mark_release(mark);
    return ACL_SUCCESS;
}

static bool is_done(event_t *event)
{
    fake_mark_t *mark = mark_of(event);
    bool done = mark != NULL && fake_mark_done(mark);
    if (mark != NULL)
        fake_mark_release(mark);
    return done;
}

FAKE_API aclError aclrtQueryEventStatus(aclrtEvent event,
                                        aclrtEventRecordedStatus *status)
{
    FAKE_CALL(aclrtQueryEventStatus, aclError);
    event_t *source = NULL;
    if (status == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "status is NULL");
    aclError code = enter_event(event, &source);
    if (code != ACL_SUCCESS)
        return code;
    *status = is_done(source) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                              : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    FAKE_CALL(aclrtQueryEvent, aclError);
    event_t *source = NULL;
    if (status == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "status is NULL");
    aclError code = enter_event(event, &source);
    if (code != ACL_SUCCESS)
        return code;
    *status = is_done(source) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

static aclError synchronize_event(aclrtEvent event, int32_t timeout)
{
    event_t *source = NULL;
    context_t *context;
    aclError code = enter_event(event, &source);
    if (code != ACL_SUCCESS)
        return code;
    fake_mark_t *mark = mark_of(source);
    bool done = true;
    if (mark != NULL && timeout < 0)
        fake_mark_wait(mark);
    else if (mark != NULL)
        done = fake_mark_wait_for(mark, timeout * 1000000ll);
    if (mark != NULL)
        fake_mark_release(mark);
    if (!done)
        return acl_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "no event after %d ms", timeout);
    return acl_enter(&context);
}

FAKE_API aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    FAKE_CALL(aclrtSynchronizeEvent, aclError);
    return synchronize_event(event, -1);
}

FAKE_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    FAKE_CALL(aclrtSynchronizeEventWithTimeout, aclError);
    return synchronize_event(event, timeout);
}

/* 0: no time stamp yet, or never one */
static int64_t time_of(event_t *event, bool *out_recorded)
{
    fake_mark_t *mark = mark_of(event);
    *out_recorded = mark != NULL;
    if (mark == NULL)
        return 0;
    int64_t time = (event->flags & ACL_EVENT_TIME_LINE) != 0 ? fake_mark_time(mark) : 0;
    fake_mark_release(mark);
    return time;
}

FAKE_API aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
                                        aclrtEvent endEvent)
{
    FAKE_CALL(aclrtEventElapsedTime, aclError);
    event_t *start = NULL, *end = NULL;
    bool started, ended;
    if (ms == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "ms is NULL");
    aclError code = enter_event(startEvent, &start);
    if (code == ACL_SUCCESS)
        code = enter_event(endEvent, &end);
    if (code != ACL_SUCCESS)
        return code;
    int64_t from = time_of(start, &started), to = time_of(end, &ended);
    if (!started || !ended)
        return acl_fail(ACL_ERROR_RT_INTERNAL_ERROR, "an event was never recorded");
    if (from == 0 || to == 0)
        return acl_fail(
            ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
            "an event has no time stamp (ACL_EVENT_TIME_LINE, and completed)");
    *ms = (float)((double)(to - from) / 1e6);
    return ACL_SUCCESS;
}

/* --- for libopapi.so ------------------------------------------------------------------
 */

FAKE_API aclError yoke_fake_acl_push(aclrtStream stream, void (*run)(void *data),
                                     const void *data, size_t size)
{
    stream_t *queue;
    aclError code = enter_stream(stream, &queue);
    if (code == ACL_SUCCESS)
        fake_stream_push(queue->queue, run, data, size);
    return code;
}

FAKE_API bool yoke_fake_acl_is_device(const void *address, size_t size)
{
    return fake_memory_place(address, size) == FAKE_PLACE_DEVICE;
}

FAKE_API void *yoke_fake_acl_shadow(const void *address)
{
    return fake_shadow(address);
}
