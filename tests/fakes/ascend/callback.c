/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions in streams: aclrtLaunchHostFunc(), which a thread of the runtime calls,
 * and the older aclrtLaunchCallback(), which runs in the thread that subscribed to the
 * stream, inside aclrtProcessReport(). hicann/runtime
 * src/acl/aclrt_impl/callback_api.cpp.
 */
#include "core.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define ACL_ERROR_RT_REPORT_TIMEOUT 507012 /* rt_error_codes.h */

typedef struct call {
    struct call *next;
    aclrtCallback function;
    void *data;
    uint64_t thread;
    atomic_bool *done; /* the stream waits for it; NULL: it does not */
} call_t;

typedef struct subscription {
    struct subscription *next;
    uint64_t thread;
    stream_t *stream;
} subscription_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static subscription_t *subscriptions;
static call_t *calls;

static void run_host(void *data)
{
    const call_t *call = data;
    call->function(call->data);
}

FAKE_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    FAKE_CALL(aclrtLaunchHostFunc, aclError);
    context_t *context;
    stream_t *queue;
    if (fn == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "fn is NULL");
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = acl_stream(context, stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    call_t call = {.function = fn, .data = args};
    fake_stream_push(queue->queue, run_host, &call, sizeof call);
    return ACL_SUCCESS;
}

/* --- subscriptions ------------------------------------------------------------------ */

static subscription_t **find(const stream_t *stream)
{
    subscription_t **place = &subscriptions;
    while (*place != NULL && (*place)->stream != stream)
        place = &(*place)->next;
    return place;
}

static aclError enter_stream(aclrtStream handle, stream_t **out_stream)
{
    context_t *context;
    aclError code = acl_enter(&context);
    return code != ACL_SUCCESS ? code : acl_stream(context, handle, out_stream);
}

FAKE_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    FAKE_CALL(aclrtSubscribeReport, aclError);
    stream_t *queue;
    aclError code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    subscription_t **place = find(queue);
    bool taken = *place != NULL;
    if (!taken && (*place = calloc(1, sizeof **place)) != NULL) {
        (*place)->thread = threadId;
        (*place)->stream = queue;
    }
    pthread_mutex_unlock(&lock);
    return taken ? acl_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "subscribed already")
                 : ACL_SUCCESS;
}

FAKE_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    FAKE_CALL(aclrtUnSubscribeReport, aclError);
    stream_t *queue;
    aclError code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    subscription_t **place = find(queue), *old = *place;
    if (old != NULL && old->thread == threadId)
        *place = old->next;
    else
        old = NULL;
    pthread_mutex_unlock(&lock);
    free(old);
    return old != NULL ? ACL_SUCCESS
                       : acl_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "not subscribed");
}

/* --- calls -------------------------------------------------------------------------- */

/* In the stream: hand the call to the thread that subscribed. */
static void deliver(void *data)
{
    call_t *call = *(call_t **)data;
    pthread_mutex_lock(&lock);
    call_t **place = &calls;
    while (*place != NULL)
        place = &(*place)->next;
    *place = call;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&lock);
}

static bool is_done(void *data)
{
    atomic_bool *done = *(atomic_bool **)data;
    if (!atomic_load(done))
        return false;
    free(done);
    return true;
}

FAKE_API aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
                                      aclrtCallbackBlockType blockType,
                                      aclrtStream stream)
{
    FAKE_CALL(aclrtLaunchCallback, aclError);
    stream_t *queue;
    if (fn == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "fn is NULL");
    aclError code = enter_stream(stream, &queue);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    const subscription_t *subscription = *find(queue);
    uint64_t thread = subscription != NULL ? subscription->thread : 0;
    pthread_mutex_unlock(&lock);
    if (subscription == NULL)
        return acl_fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                        "no thread subscribed to the stream");
    call_t *call = calloc(1, sizeof *call);
    if (call == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    *call = (call_t){.function = fn, .data = userData, .thread = thread};
    if (blockType == ACL_CALLBACK_BLOCK)
        call->done = calloc(1, sizeof *call->done);
    atomic_bool *done = call->done;
    fake_stream_push(queue->queue, deliver, &call, sizeof call);
    if (done != NULL)
        fake_stream_push_poll(queue->queue, is_done, &done, sizeof done);
    return ACL_SUCCESS;
}

static call_t *take(uint64_t thread)
{
    call_t **place = &calls;
    while (*place != NULL && (*place)->thread != thread)
        place = &(*place)->next;
    call_t *call = *place;
    if (call != NULL)
        *place = call->next;
    return call;
}

FAKE_API aclError aclrtProcessReport(int32_t timeout)
{
    FAKE_CALL(aclrtProcessReport, aclError);
    uint64_t self = (uint64_t)pthread_self();
    struct timespec until;
    int ended = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout / 1000;
    until.tv_nsec += timeout % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    call_t *call = take(self);
    while (call == NULL && ended != ETIMEDOUT) {
        if (timeout < 0)
            pthread_cond_wait(&arrived, &lock);
        else
            ended = pthread_cond_timedwait(&arrived, &lock, &until);
        call = take(self);
    }
    pthread_mutex_unlock(&lock);
    if (call == NULL)
        return acl_fail(ACL_ERROR_RT_REPORT_TIMEOUT, "nothing to report");
    call->function(call->data);
    if (call->done != NULL)
        atomic_store(call->done, true);
    free(call);
    return ACL_SUCCESS;
}
