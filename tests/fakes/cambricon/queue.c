/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, notifiers and host functions of the fake CNRT. */
#include "core.h"
#include "hooks.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct notifier {
    fake_handle_t handle;
    unsigned flags;
    fake_mark_t *mark; /* of the latest placing; NULL: never */
} notifier_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static queue_t *standard[FAKE_MAX_CARDS]; /* by card; under `lock`, as marks are */

/* --- queues ------------------------------------------------------------------------- */

static queue_t *queue_make(fake_card_t *card, bool quiet)
{
    queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->card = card;
    queue->stream = fake_stream_create(card, card, FAKE_STREAM_FREE);
    if (quiet)
        fake_handle_add_quiet(&queue->handle, KIND_QUEUE);
    else
        fake_handle_add(&queue->handle, KIND_QUEUE);
    return queue;
}

static bool is_implicit(cnrtQueue_t handle)
{
    return (uintptr_t)handle <= 2; /* NULL, cnrtQueuePerThread, cnrtQueueLegacy */
}

static queue_t *standard_of(fake_card_t *card)
{
    pthread_mutex_lock(&lock);
    queue_t **queue = &standard[card->index];
    if (*queue == NULL)
        *queue = queue_make(card, true);
    queue_t *found = *queue;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Of any device. */
static cnrtRet_t find_queue(cnrtQueue_t handle, queue_t **out_queue)
{
    fake_card_t *card;
    cnrtRet_t code = cnrt_enter(&card);
    if (is_implicit(handle)) {
        if (code == cnrtSuccess)
            *out_queue = standard_of(card);
        return code;
    }
    *out_queue = fake_handle_check(handle, KIND_QUEUE);
    return *out_queue != NULL ? cnrtSuccess : cnrtErrorInvalidResourceHandle;
}

cnrtRet_t cnrt_enter_queue(cnrtQueue_t handle, queue_t **out_queue)
{
    fake_card_t *card;
    cnrtRet_t code = find_queue(handle, out_queue);
    if (code == cnrtSuccess)
        code = cnrt_check_card((*out_queue)->card);
    if (code == cnrtSuccess)
        code = cnrt_enter(&card);
    if (code == cnrtSuccess && (*out_queue)->card != card)
        code = cnrtErrorDevice; /* not of the current device */
    return code;
}

static cnrtRet_t create_queue(cnrtQueue_t *out_queue)
{
    fake_card_t *card;
    if (out_queue == NULL)
        return cnrtErrorArgsInvalid;
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return code;
    queue_t *queue = queue_make(card, false);
    if (queue == NULL)
        return cnrtErrorSysNoMem;
    *out_queue = (cnrtQueue_t)(void *)queue;
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtQueueCreate(cnrtQueue_t *pQueue)
{
    FAKE_CALL(cnrtQueueCreate, cnrtRet_t);
    return cnrt_result(create_queue(pQueue));
}

FAKE_API cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *pQueue, unsigned int flags,
                                               int priority)
{
    FAKE_CALL(cnrtQueueCreateWithPriority, cnrtRet_t);
    (void)flags;
    (void)priority; /* out of range: brought into it, cnrt.h */
    return cnrt_result(create_queue(pQueue));
}

/* Returns at once; the work in it still runs. */
FAKE_API cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue)
{
    FAKE_CALL(cnrtQueueDestroy, cnrtRet_t);
    queue_t *old = is_implicit(queue) ? NULL : fake_handle_check(queue, KIND_QUEUE);
    if (old == NULL)
        return cnrt_result(cnrtErrorInvalidResourceHandle);
    fake_stream_destroy(old->stream);
    fake_handle_remove(&old->handle);
    free(old);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtQueueSync(cnrtQueue_t queue)
{
    FAKE_CALL(cnrtQueueSync, cnrtRet_t);
    queue_t *source;
    cnrtRet_t code = find_queue(queue, &source);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_stream_wait(source->stream);
    return cnrt_result(cnrt_check_card(source->card));
}

FAKE_API cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue)
{
    FAKE_CALL(cnrtQueueQuery, cnrtRet_t);
    queue_t *source;
    cnrtRet_t code = find_queue(queue, &source);
    if (code == cnrtSuccess)
        code = cnrt_check_card(source->card);
    if (code == cnrtSuccess && !fake_stream_idle(source->stream))
        code = cnrt_not_ready();
    return cnrt_result(code);
}

/* --- notifiers ---------------------------------------------------------------------- */

static cnrtRet_t create_notifier(cnrtNotifier_t *out_notifier, unsigned flags)
{
    fake_card_t *card;
    if (out_notifier == NULL || (flags & ~0xeu) != 0)
        return cnrtErrorArgsInvalid;
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return code;
    notifier_t *notifier = calloc(1, sizeof *notifier);
    if (notifier == NULL)
        return cnrtErrorSysNoMem;
    notifier->flags = flags;
    fake_handle_add(&notifier->handle, KIND_NOTIFIER);
    *out_notifier = (cnrtNotifier_t)(void *)notifier;
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *pNotifier)
{
    FAKE_CALL(cnrtNotifierCreate, cnrtRet_t);
    return cnrt_result(create_notifier(pNotifier, CNRT_NOTIFIER_DEFAULT));
}

FAKE_API cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *pNotifier,
                                               unsigned int flags)
{
    FAKE_CALL(cnrtNotifierCreateWithFlags, cnrtRet_t);
    return cnrt_result(create_notifier(pNotifier, flags));
}

static fake_mark_t *mark_of(notifier_t *notifier)
{
    pthread_mutex_lock(&lock);
    fake_mark_t *mark = notifier->mark != NULL ? fake_mark_retain(notifier->mark) : NULL;
    pthread_mutex_unlock(&lock);
    return mark;
}

static void replace_mark(notifier_t *notifier, fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    fake_mark_t *old = notifier->mark;
    notifier->mark = mark;
    pthread_mutex_unlock(&lock);
    if (old != NULL)
        fake_mark_release(old);
}

FAKE_API cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier)
{
    FAKE_CALL(cnrtNotifierDestroy, cnrtRet_t);
    notifier_t *old = fake_handle_check(notifier, KIND_NOTIFIER);
    if (old == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    replace_mark(old, NULL);
    fake_handle_remove(&old->handle);
    free(old);
    return cnrtSuccess;
}

static cnrtRet_t place(cnrtNotifier_t handle, cnrtQueue_t queue_handle)
{
    notifier_t *notifier = fake_handle_check(handle, KIND_NOTIFIER);
    queue_t *queue;
    if (notifier == NULL)
        return cnrtErrorArgsInvalid;
    cnrtRet_t code = cnrt_enter_queue(queue_handle, &queue);
    if (code == cnrtSuccess)
        replace_mark(notifier, fake_stream_push_mark(queue->stream));
    return code;
}

FAKE_API cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue)
{
    FAKE_CALL(cnrtPlaceNotifier, cnrtRet_t);
    return cnrt_result(place(notifier, queue));
}

FAKE_API cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier, cnrtQueue_t queue,
                                              unsigned int flags)
{
    FAKE_CALL(cnrtPlaceNotifierWithFlags, cnrtRet_t);
    return cnrt_result(flags > 1 ? cnrtErrorArgsInvalid : place(notifier, queue));
}

/* The notifier comes first. */
FAKE_API cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue,
                                         unsigned int flag)
{
    FAKE_CALL(cnrtQueueWaitNotifier, cnrtRet_t);
    notifier_t *source = fake_handle_check(notifier, KIND_NOTIFIER);
    queue_t *target;
    if (source == NULL || flag > 1)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_queue(queue, &target);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_mark_t *mark = mark_of(source);
    fake_stream_push_wait(target->stream, mark);
    if (mark != NULL)
        fake_mark_release(mark);
    return cnrtSuccess;
}

/* One that was never placed is done. */
FAKE_API cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier)
{
    FAKE_CALL(cnrtQueryNotifier, cnrtRet_t);
    notifier_t *source = fake_handle_check(notifier, KIND_NOTIFIER);
    fake_card_t *card;
    if (source == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_mark_t *mark = mark_of(source);
    bool done = mark == NULL || fake_mark_done(mark);
    if (mark != NULL)
        fake_mark_release(mark);
    return cnrt_result(done ? cnrtSuccess : cnrt_not_ready());
}

FAKE_API cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier)
{
    FAKE_CALL(cnrtWaitNotifier, cnrtRet_t);
    notifier_t *source = fake_handle_check(notifier, KIND_NOTIFIER);
    fake_card_t *card;
    if (source == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    fake_mark_t *mark = mark_of(source);
    if (mark != NULL) {
        fake_mark_wait(mark);
        fake_mark_release(mark);
    }
    return cnrt_result(cnrt_enter(&card));
}

/* Nanoseconds between two notifiers. */
static cnrtRet_t between(cnrtNotifier_t start, cnrtNotifier_t end, int64_t *out_time)
{
    cnrtNotifier_t handles[] = {start, end};
    int64_t times[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        notifier_t *notifier = fake_handle_check(handles[i], KIND_NOTIFIER);
        unsigned off = CNRT_NOTIFIER_DISABLE_TIMING_SW | CNRT_NOTIFIER_DISABLE_TIMING_ALL;
        if (notifier == NULL || (notifier->flags & off) != 0)
            return cnrtErrorArgsInvalid;
        fake_mark_t *mark = mark_of(notifier);
        if (mark == NULL)
            return cnrtErrorCndrvFuncCall; /* never placed */
        times[i] = fake_mark_time(mark);
        fake_mark_release(mark);
    }
    if (times[0] == 0 || times[1] == 0)
        return cnrt_not_ready();
    *out_time = times[1] - times[0];
    return cnrtSuccess;
}

/* In milliseconds. */
FAKE_API cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end,
                                           float *ms)
{
    FAKE_CALL(cnrtNotifierElapsedTime, cnrtRet_t);
    int64_t time;
    if (ms == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = between(start, end, &time);
    if (code == cnrtSuccess)
        *ms = (float)((double)time / 1e6);
    return cnrt_result(code);
}

/* In microseconds. */
FAKE_API cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end,
                                        float *us)
{
    FAKE_CALL(cnrtNotifierDuration, cnrtRet_t);
    int64_t time;
    if (us == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = between(start, end, &time);
    if (code == cnrtSuccess)
        *us = (float)((double)time / 1e3);
    return cnrt_result(code);
}

/* --- host functions ----------------------------------------------------------------- */

typedef struct call {
    cnrtHostFn_t function;
    void *data;
} call_t;

static void run_call(void *data)
{
    const call_t *call = data;
    call->function(call->data);
}

FAKE_API cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t fn, void *userData)
{
    FAKE_CALL(cnrtInvokeHostFunc, cnrtRet_t);
    queue_t *target;
    if (fn == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_queue(queue, &target);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    call_t call = {fn, userData};
    fake_stream_push(target->stream, run_call, &call, sizeof call);
    return cnrtSuccess;
}

/* --- for libcnnl.so -------------------------------------------------------------------
 */

FAKE_API cnrtRet_t yoke_fake_cnrt_push(cnrtQueue_t queue, void (*run)(void *data),
                                       const void *data, size_t size)
{
    queue_t *target;
    cnrtRet_t code = cnrt_enter_queue(queue, &target);
    if (code == cnrtSuccess)
        fake_stream_push(target->stream, run, data, size);
    return code;
}

FAKE_API bool yoke_fake_cnrt_is_device(const void *address, size_t size)
{
    return fake_memory_place(address, size) == FAKE_PLACE_DEVICE;
}

FAKE_API void *yoke_fake_cnrt_shadow(const void *address)
{
    return fake_shadow(address);
}
