/* SPDX-License-Identifier: Apache-2.0 */
/* Event pools, events and their time stamps. */
#include "driver.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct pool {
    fake_handle_t handle;
    uint32_t flags, count;
} pool_t;

/* Of all events: their state, which a stream asks for under its own lock, and their
 * marks, whose functions take that. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;

void event_set(event_t *event, bool signaled, int64_t start, int64_t end)
{
    pthread_mutex_lock(&lock);
    event->signaled = signaled;
    event->start = start;
    event->end = end;
    pthread_mutex_unlock(&lock);
}

bool event_is_set(event_t *event)
{
    pthread_mutex_lock(&lock);
    bool set = event->signaled;
    pthread_mutex_unlock(&lock);
    return set;
}

void event_will_be_set(event_t *event, fake_mark_t *mark)
{
    pthread_mutex_lock(&mark_lock);
    fake_mark_t *old = event->signal;
    event->signal = mark;
    pthread_mutex_unlock(&mark_lock);
    if (old != NULL)
        fake_mark_release(old);
}

static fake_mark_t *mark_of(event_t *event)
{
    pthread_mutex_lock(&mark_lock);
    fake_mark_t *mark = event->signal != NULL ? fake_mark_retain(event->signal) : NULL;
    pthread_mutex_unlock(&mark_lock);
    return mark;
}

/* --- pools -------------------------------------------------------------------------- */

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext,
                              const ze_event_pool_desc_t *desc, uint32_t numDevices,
                              ze_device_handle_t *phDevices,
                              ze_event_pool_handle_t *phEventPool)
{
    FAKE_CALL(zeEventPoolCreate, ze_result_t);
    context_t *context;
    ze_result_t result = context_enter(hContext, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL || phEventPool == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->count == 0 || (numDevices > 0 && phDevices == NULL))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (desc->flags > 7)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    pool_t *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    pool->flags = desc->flags;
    pool->count = desc->count;
    fake_handle_add(&pool->handle, KIND_POOL);
    *phEventPool = (ze_event_pool_handle_t)(void *)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    FAKE_CALL(zeEventPoolDestroy, ze_result_t);
    pool_t *pool = fake_handle_check(hEventPool, KIND_POOL);
    if (pool == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    fake_handle_remove(&pool->handle);
    free(pool);
    return ZE_RESULT_SUCCESS;
}

/* --- events ------------------------------------------------------------------------- */

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc,
                          ze_event_handle_t *phEvent)
{
    FAKE_CALL(zeEventCreate, ze_result_t);
    pool_t *pool = fake_handle_check(hEventPool, KIND_POOL);
    if (pool == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (desc == NULL || phEvent == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->index >= pool->count)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    event_t *event = calloc(1, sizeof *event);
    if (event == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    event->flags = pool->flags;
    fake_handle_add(&event->handle, KIND_EVENT);
    *phEvent = (ze_event_handle_t)(void *)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent)
{
    FAKE_CALL(zeEventDestroy, ze_result_t);
    event_t *event = fake_handle_check(hEvent, KIND_EVENT);
    if (event == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    event_will_be_set(event, NULL);
    fake_handle_remove(&event->handle);
    free(event);
    return ZE_RESULT_SUCCESS;
}

/* Only events of host-visible pools may be touched by the host. */
static ze_result_t host_event(ze_event_handle_t handle, event_t **out_event)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_event = fake_handle_check(handle, KIND_EVENT);
    if (*out_event == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return ((*out_event)->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) != 0
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

ze_result_t zeEventHostSignal(ze_event_handle_t hEvent)
{
    FAKE_CALL(zeEventHostSignal, ze_result_t);
    event_t *event;
    ze_result_t result = host_event(hEvent, &event);
    if (result == ZE_RESULT_SUCCESS)
        event_set(event, true, fake_now(), fake_now());
    return result;
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent)
{
    FAKE_CALL(zeEventHostReset, ze_result_t);
    event_t *event;
    ze_result_t result = host_event(hEvent, &event);
    if (result == ZE_RESULT_SUCCESS) {
        event_set(event, false, 0, 0);
        event_will_be_set(event, NULL);
    }
    return result;
}

/* The device that was to signal is gone when its stream came to the point without it. */
static ze_result_t state_of(event_t *event, fake_mark_t *mark)
{
    bool passed = mark != NULL && fake_mark_done(mark);
    if (event_is_set(event))
        return ZE_RESULT_SUCCESS;
    return passed ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
}

ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent)
{
    FAKE_CALL(zeEventQueryStatus, ze_result_t);
    event_t *event;
    ze_result_t result = host_event(hEvent, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    fake_mark_t *mark = mark_of(event);
    result = state_of(event, mark);
    if (mark != NULL)
        fake_mark_release(mark);
    return result;
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    FAKE_CALL(zeEventHostSynchronize, ze_result_t);
    event_t *event;
    ze_result_t result = host_event(hEvent, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    int64_t until = timeout > INT64_MAX / 2 ? INT64_MAX : fake_now() + (int64_t)timeout;
    for (;;) {
        fake_mark_t *mark = mark_of(event);
        result = state_of(event, mark);
        bool more = result == ZE_RESULT_NOT_READY && fake_now() < until;
        if (more && mark != NULL)
            fake_mark_wait_for(mark, 1000000);
        else if (more)
            usleep(50);
        if (mark != NULL)
            fake_mark_release(mark);
        if (!more)
            return result;
    }
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                        ze_kernel_timestamp_result_t *dstptr)
{
    FAKE_CALL(zeEventQueryKernelTimestamp, ze_result_t);
    event_t *event = fake_handle_check(hEvent, KIND_EVENT);
    if (event == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (dstptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if ((event->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) == 0)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (!event_is_set(event))
        return ZE_RESULT_NOT_READY;
    pthread_mutex_lock(&lock);
    dstptr->global.kernelStart = device_ticks(event->start);
    dstptr->global.kernelEnd = device_ticks(event->end);
    pthread_mutex_unlock(&lock);
    dstptr->context = dstptr->global;
    return ZE_RESULT_SUCCESS;
}
