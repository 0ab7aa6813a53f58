/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, contexts, and which is current. */
#include "cuda.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 64

static atomic_bool initialized;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cu_context_t *primaries[FAKE_MAX_CARDS]; /* by ordinal */
static cu_context_t *foreign[FAKE_MAX_CARDS];   /* of yoke_fake_set_current() */
static cu_context_t *graveyard;
static _Thread_local cu_context_t *stack[DEPTH];
static _Thread_local int depth;

bool cu_initialized(void)
{
    return atomic_load(&initialized);
}

cu_result_t cu_card(cu_device_t device, fake_card_t **out_card)
{
    fake_card_t *card = fake_visible(device);
    if (card == NULL)
        return CU_INVALID_DEVICE;
    if (card->broken != 0)
        return (cu_result_t)card->broken;
    *out_card = card;
    return CU_SUCCESS;
}

/* What a vanished card answers is not documented; a failed launch is what its users see,
 * and cuda.h says of it that the process must be ended. */
static cu_result_t lost_code(const fake_card_t *card)
{
    return (cu_result_t)fake_config_number(card->index, "lost_code", CU_LAUNCH_FAILED);
}

cu_result_t cu_usable(const cu_context_t *context)
{
    if (atomic_load(&context->card->lost))
        return lost_code(context->card);
    if (context->card->broken != 0)
        return (cu_result_t)context->card->broken;
    return atomic_load(&context->error);
}

cu_result_t cu_current(cu_context_t **out_context)
{
    cu_context_t *context = depth > 0 ? stack[depth - 1] : NULL;
    if (fake_handle_check(context, KIND_CONTEXT) == NULL)
        return CU_INVALID_CONTEXT;
    *out_context = context;
    return cu_usable(context);
}

void cu_fail(void *data, cu_result_t error)
{
    cu_context_t *context = data;
    int none = 0;
    atomic_compare_exchange_strong(&context->error, &none, error);
}

fake_stream_t *cu_thread_stream(cu_context_t *context)
{
    pthread_mutex_lock(&lock);
    if (context->thread == NULL)
        context->thread = fake_stream_create(context->card, context, FAKE_STREAM_JOINING);
    pthread_mutex_unlock(&lock);
    return context->thread;
}

cu_result_t cu_queue(cu_context_t *context, void *handle, fake_stream_t **out_queue,
                     cu_context_t **out_of)
{
    cu_context_t *of = context;
    if (handle == NULL || (uintptr_t)handle == CU_LEGACY_STREAM) {
        *out_queue = context->null;
    } else if ((uintptr_t)handle == CU_THREAD_STREAM) {
        *out_queue = cu_thread_stream(context);
    } else {
        cu_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
        if (stream == NULL)
            return CU_INVALID_HANDLE;
        cu_result_t state = cu_usable(stream->context);
        if (state != CU_SUCCESS)
            return state;
        of = stream->context;
        *out_queue = stream->queue;
    }
    if (out_of != NULL)
        *out_of = of;
    return CU_SUCCESS;
}

/* ---- making and ending ------------------------------------------------------------- */

static cu_context_t *make(cu_device_t device, unsigned flags, bool primary, bool quiet)
{
    cu_context_t *context = calloc(1, sizeof *context);
    if (context == NULL)
        return NULL;
    context->card = fake_visible(device);
    context->device = device;
    context->flags = flags;
    context->primary = primary;
    context->null = fake_stream_create(context->card, context, FAKE_STREAM_NULL);
    if (quiet)
        fake_handle_add_quiet(&context->handle, KIND_CONTEXT);
    else
        fake_handle_add(&context->handle, KIND_CONTEXT);
    return context;
}

/* The memory of a context goes with it. The object stays for those that still point to it
 * (streams, a thread's stack). */
static void destroy(cu_context_t *context)
{
    if (!atomic_load(&context->card->lost))
        fake_group_wait(context);
    fake_memory_free_owner(context);
    fake_handle_remove(&context->handle);
    fake_stream_destroy(context->null);
    if (context->thread != NULL)
        fake_stream_destroy(context->thread);
    context->null = context->thread = NULL;
    pthread_mutex_lock(&lock);
    context->next = graveyard;
    graveyard = context;
    pthread_mutex_unlock(&lock);
}

FAKE_API cu_result_t cuInit(unsigned flags)
{
    FAKE_CALL(cuInit, cu_result_t);
    if (flags != 0)
        return CU_INVALID_VALUE;
    if (fake_visible_count() == 0)
        return CU_NO_DEVICE;
    atomic_store(&initialized, true);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDriverGetVersion(int *version)
{
    FAKE_CALL(cuDriverGetVersion, cu_result_t);
    if (version == NULL)
        return CU_INVALID_VALUE;
    FAKE_OUT(*version, fake_config_number(-1, "driver", 13000));
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuDevicePrimaryCtxRetain(void **out_context, cu_device_t device)
{
    CU_CALL(cuDevicePrimaryCtxRetain);
    fake_card_t *card = NULL;
    cu_result_t result = cu_card(device, &card);
    if (result != CU_SUCCESS)
        return result;
    if (atomic_load(&card->lost))
        return lost_code(card);
    if (out_context == NULL)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    cu_context_t *context = primaries[device];
    if (context == NULL)
        context = primaries[device] = make(device, 0, true, true);
    if (context != NULL)
        context->references++;
    pthread_mutex_unlock(&lock);
    *out_context = context;
    return context != NULL ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

FAKE_API cu_result_t cuDevicePrimaryCtxRelease_v2(cu_device_t device)
{
    CU_CALL(cuDevicePrimaryCtxRelease_v2);
    if (fake_visible(device) == NULL)
        return CU_INVALID_DEVICE;
    cu_result_t result = CU_SUCCESS;
    cu_context_t *last = NULL;
    pthread_mutex_lock(&lock);
    cu_context_t *context = primaries[device];
    if (context == NULL)
        result = CU_INVALID_CONTEXT;
    else if (--context->references == 0)
        last = context;
    if (last != NULL)
        primaries[device] = NULL;
    pthread_mutex_unlock(&lock);
    if (last != NULL)
        destroy(last);
    return result;
}

FAKE_API cu_result_t cuDevicePrimaryCtxGetState(cu_device_t device, unsigned *flags,
                                                int *active)
{
    CU_CALL(cuDevicePrimaryCtxGetState);
    fake_card_t *card = NULL;
    cu_result_t result = cu_card(device, &card);
    if (result != CU_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    *flags = primaries[device] != NULL ? primaries[device]->flags : 0;
    *active = primaries[device] != NULL;
    pthread_mutex_unlock(&lock);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxCreate_v2(void **out_context, unsigned flags,
                                    cu_device_t device)
{
    CU_CALL(cuCtxCreate_v2);
    fake_card_t *card = NULL;
    cu_result_t result = cu_card(device, &card);
    if (result != CU_SUCCESS)
        return result;
    if (out_context == NULL || depth == DEPTH)
        return CU_INVALID_VALUE;
    *out_context = stack[depth++] = make(device, flags, false, false);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxCreate_v4(void **out_context, void *parameters, unsigned flags,
                                    cu_device_t device)
{
    CU_CALL(cuCtxCreate_v4);
    fake_card_t *card = NULL;
    cu_result_t result = cu_card(device, &card);
    if (result != CU_SUCCESS)
        return result;
    if (out_context == NULL || depth == DEPTH || parameters != NULL)
        return CU_INVALID_VALUE;
    *out_context = stack[depth++] = make(device, flags, false, false);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxDestroy_v2(void *handle)
{
    CU_CALL(cuCtxDestroy_v2);
    cu_context_t *context = fake_handle_check(handle, KIND_CONTEXT);
    if (context == NULL || context->primary)
        return CU_INVALID_CONTEXT;
    if (depth > 0 && stack[depth - 1] == context)
        depth--;
    destroy(context);
    return CU_SUCCESS;
}

/* ---- the calling thread's ---------------------------------------------------------- */

FAKE_API cu_result_t cuCtxPushCurrent_v2(void *handle)
{
    CU_CALL(cuCtxPushCurrent_v2);
    cu_context_t *context = fake_handle_check(handle, KIND_CONTEXT);
    if (context == NULL)
        return CU_INVALID_CONTEXT;
    if (depth == DEPTH)
        return CU_INVALID_VALUE;
    stack[depth++] = context;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxPopCurrent_v2(void **out_context)
{
    CU_CALL(cuCtxPopCurrent_v2);
    if (depth == 0)
        return CU_INVALID_CONTEXT;
    depth--;
    if (out_context != NULL)
        *out_context = stack[depth];
    return CU_SUCCESS;
}

/* "If there exists a CUDA context stack on the calling CPU thread, this will replace the
 * top of that stack"; NULL pops it (cuda.h). */
FAKE_API cu_result_t cuCtxSetCurrent(void *handle)
{
    CU_CALL(cuCtxSetCurrent);
    if (handle == NULL) {
        if (depth > 0)
            depth--;
        return CU_SUCCESS;
    }
    cu_context_t *context = fake_handle_check(handle, KIND_CONTEXT);
    if (context == NULL)
        return CU_INVALID_CONTEXT;
    if (depth == 0)
        depth = 1;
    stack[depth - 1] = context;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxGetCurrent(void **out_context)
{
    CU_CALL(cuCtxGetCurrent);
    if (out_context == NULL)
        return CU_INVALID_VALUE;
    *out_context = depth > 0 ? stack[depth - 1] : NULL;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxGetDevice(cu_device_t *out_device)
{
    CU_CALL_CONTEXT(cuCtxGetDevice);
    if (out_device == NULL)
        return CU_INVALID_VALUE;
    FAKE_OUT(*out_device, context->device);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxGetFlags(unsigned *flags)
{
    CU_CALL_CONTEXT(cuCtxGetFlags);
    *flags = context->flags;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxGetApiVersion(void *handle, unsigned *version)
{
    CU_CALL(cuCtxGetApiVersion);
    if (handle != NULL && fake_handle_check(handle, KIND_CONTEXT) == NULL)
        return CU_INVALID_CONTEXT;
    *version = 3020;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxSynchronize(void)
{
    CU_CALL_CONTEXT(cuCtxSynchronize);
    fake_group_wait(context);
    return cu_usable(context);
}

FAKE_API cu_result_t cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CU_CALL_CONTEXT(cuCtxGetStreamPriorityRange);
    (void)context;
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return CU_SUCCESS;
}

/* ---- peers ------------------------------------------------------------------------- */

FAKE_API cu_result_t cuCtxEnablePeerAccess(void *handle, unsigned flags)
{
    CU_CALL_CONTEXT(cuCtxEnablePeerAccess);
    cu_context_t *peer = fake_handle_check(handle, KIND_CONTEXT);
    if (peer == NULL)
        return CU_INVALID_CONTEXT;
    if (flags != 0)
        return CU_INVALID_VALUE;
    if (peer->card == context->card)
        return CU_INVALID_DEVICE;
    if (!peer->card->peer || !context->card->peer)
        return CU_PEER_ACCESS_UNSUPPORTED;
    if (atomic_exchange(&context->peers[peer->device], true))
        return CU_PEER_ACCESS_ALREADY_ENABLED;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuCtxDisablePeerAccess(void *handle)
{
    CU_CALL_CONTEXT(cuCtxDisablePeerAccess);
    cu_context_t *peer = fake_handle_check(handle, KIND_CONTEXT);
    if (peer == NULL)
        return CU_INVALID_CONTEXT;
    return atomic_exchange(&context->peers[peer->device], false)
               ? CU_SUCCESS
               : CU_PEER_ACCESS_NOT_ENABLED;
}

/* ---- ../fake.h --------------------------------------------------------------------- */

FAKE_API uint64_t yoke_fake_current(void)
{
    uint64_t sum = (uint64_t)depth;
    for (int i = 0; i < depth; i++)
        sum = sum * 0x9e3779b97f4a7c15u + (uintptr_t)stack[i];
    return sum;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    depth = 0;
    if (fake_visible(ordinal) == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (foreign[ordinal] == NULL)
        foreign[ordinal] = make(ordinal, 0, false, true);
    stack[depth++] = foreign[ordinal];
    pthread_mutex_unlock(&lock);
}
