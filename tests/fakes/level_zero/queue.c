/* SPDX-License-Identifier: Apache-2.0 */
/* Command queues, fences and command lists. */
#include "queue.h"
#include <stdlib.h>
#include <string.h>

typedef struct queue {
    fake_handle_t handle;
    device_t *device;
    uint32_t ordinal;
    bool synchronous;
    engine_t engine;
} queue_t;

typedef struct fence {
    fake_handle_t handle;
    queue_t *queue;
    fake_mark_t *mark; /* NULL: not submitted since it was made or reset */
    bool signaled;
} fence_t;

/* --- queues ------------------------------------------------------------------------- */

static ze_result_t check_queue_desc(const ze_command_queue_desc_t *desc)
{
    if (desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->ordinal >= QUEUE_GROUPS || desc->index >= (desc->ordinal == 0 ? 4u : 1u))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    /* bit 1, in-order lists, came with a later specification */
    uint32_t known = driver_api() >= ZE_MAKE_VERSION(1, 9) ? 3 : 1;
    if ((desc->flags & ~known) != 0 || desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t *desc,
                                 ze_command_queue_handle_t *phCommandQueue)
{
    FAKE_CALL(zeCommandQueueCreate, ze_result_t);
    context_t *context;
    device_t *device;
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hDevice, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = check_queue_desc(desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (phCommandQueue == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    queue_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    queue->device = device;
    queue->ordinal = desc->ordinal;
    queue->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    engine_open(&queue->engine, device->card, false);
    fake_handle_add(&queue->handle, KIND_QUEUE);
    *phCommandQueue = (ze_command_queue_handle_t)(void *)queue;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t enter_queue(ze_command_queue_handle_t handle, queue_t **out_queue)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_queue = fake_handle_check(handle, KIND_QUEUE);
    if (*out_queue == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return card_check((*out_queue)->device->card);
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    FAKE_CALL(zeCommandQueueDestroy, ze_result_t);
    queue_t *queue = fake_handle_check(hCommandQueue, KIND_QUEUE);
    if (queue == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    engine_close(&queue->engine);
    fake_handle_remove(&queue->handle);
    free(queue);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wait_engine(const engine_t *engine, const fake_card_t *card,
                               uint64_t timeout)
{
    bool ended = true;
    if (timeout > INT64_MAX / 2)
        fake_stream_wait(engine->stream);
    else
        ended = fake_stream_wait_for(engine->stream, (int64_t)timeout);
    return ended ? card_check(card) : ZE_RESULT_NOT_READY;
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue,
                                      uint64_t timeout)
{
    FAKE_CALL(zeCommandQueueSynchronize, ze_result_t);
    queue_t *queue;
    ze_result_t result = enter_queue(hCommandQueue, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return wait_engine(&queue->engine, queue->device->card, timeout);
}

static void submit(queue_t *queue, const list_t *list)
{
    for (const command_t *c = list->first; c != NULL; c = c->next)
        engine_push(&queue->engine, command_copy(c));
    /* the caches are flushed between lists, which orders them */
    command_t *end = command_new(NULL, NULL, 0);
    end->after_earlier = end->before_later = true;
    engine_push(&queue->engine, end);
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t numCommandLists,
                                              ze_command_list_handle_t *phCommandLists,
                                              ze_fence_handle_t hFence)
{
    FAKE_CALL(zeCommandQueueExecuteCommandLists, ze_result_t);
    queue_t *queue;
    fence_t *fence = NULL;
    ze_result_t result = enter_queue(hCommandQueue, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (phCommandLists == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (numCommandLists == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (hFence != NULL && ((fence = fake_handle_check(hFence, KIND_FENCE)) == NULL ||
                           fence->queue != queue))
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    for (uint32_t i = 0; i < numCommandLists; i++) {
        const list_t *list = fake_handle_check(phCommandLists[i], KIND_LIST);
        if (list == NULL)
            return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        if (list->immediate || list->ordinal != queue->ordinal)
            return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
        if (!list->closed)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < numCommandLists; i++)
        submit(queue, fake_handle_check(phCommandLists[i], KIND_LIST));
    if (fence != NULL) {
        if (fence->mark != NULL)
            fake_mark_release(fence->mark);
        fence->mark = fake_stream_push_mark(queue->engine.stream);
    }
    return queue->synchronous
               ? wait_engine(&queue->engine, queue->device->card, UINT64_MAX)
               : ZE_RESULT_SUCCESS;
}

/* --- fences ------------------------------------------------------------------------- */

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                          const ze_fence_desc_t *desc, ze_fence_handle_t *phFence)
{
    FAKE_CALL(zeFenceCreate, ze_result_t);
    queue_t *queue;
    ze_result_t result = enter_queue(hCommandQueue, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL || phFence == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_FENCE_FLAG_SIGNALED)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    fence_t *fence = calloc(1, sizeof *fence);
    if (fence == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    fence->queue = queue;
    fence->signaled = desc->flags == ZE_FENCE_FLAG_SIGNALED;
    fake_handle_add(&fence->handle, KIND_FENCE);
    *phFence = (ze_fence_handle_t)(void *)fence;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeFenceReset(ze_fence_handle_t hFence)
{
    FAKE_CALL(zeFenceReset, ze_result_t);
    fence_t *fence = fake_handle_check(hFence, KIND_FENCE);
    if (fence == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (fence->mark != NULL)
        fake_mark_release(fence->mark);
    fence->mark = NULL;
    fence->signaled = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeFenceDestroy(ze_fence_handle_t hFence)
{
    FAKE_CALL(zeFenceDestroy, ze_result_t);
    fence_t *fence = fake_handle_check(hFence, KIND_FENCE);
    if (fence == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (fence->mark != NULL)
        fake_mark_release(fence->mark);
    fake_handle_remove(&fence->handle);
    free(fence);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wait_fence(ze_fence_handle_t handle, uint64_t timeout)
{
    fence_t *fence = fake_handle_check(handle, KIND_FENCE);
    if (fence == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (fence->mark == NULL)
        return fence->signaled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    if (timeout > INT64_MAX / 2)
        fake_mark_wait(fence->mark);
    else if (!fake_mark_wait_for(fence->mark, (int64_t)timeout))
        return ZE_RESULT_NOT_READY;
    return card_check(fence->queue->device->card);
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout)
{
    FAKE_CALL(zeFenceHostSynchronize, ze_result_t);
    return wait_fence(hFence, timeout);
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    FAKE_CALL(zeFenceQueryStatus, ze_result_t);
    return wait_fence(hFence, 0);
}

/* --- lists -------------------------------------------------------------------------- */

static list_t *make_list(device_t *device, uint32_t ordinal)
{
    list_t *list = calloc(1, sizeof *list);
    if (list == NULL)
        return NULL;
    list->device = device;
    list->ordinal = ordinal;
    list->last = &list->first;
    fake_handle_add(&list->handle, KIND_LIST);
    return list;
}

ze_result_t zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                const ze_command_list_desc_t *desc,
                                ze_command_list_handle_t *phCommandList)
{
    FAKE_CALL(zeCommandListCreate, ze_result_t);
    context_t *context;
    device_t *device;
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL || phCommandList == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->commandQueueGroupOrdinal >= QUEUE_GROUPS)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (desc->flags > 7)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    list_t *list = make_list(device, desc->commandQueueGroupOrdinal);
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *phCommandList = (ze_command_list_handle_t)(void *)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                         ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t *altdesc,
                                         ze_command_list_handle_t *phCommandList)
{
    FAKE_CALL(zeCommandListCreateImmediate, ze_result_t);
    context_t *context;
    device_t *device;
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hDevice, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = check_queue_desc(altdesc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (phCommandList == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    list_t *list = make_list(device, altdesc->ordinal);
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->immediate = true;
    list->synchronous = altdesc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    engine_open(&list->engine, device->card, (altdesc->flags & 2) != 0);
    *phCommandList = (ze_command_list_handle_t)(void *)list;
    return ZE_RESULT_SUCCESS;
}

static void clear(list_t *list)
{
    while (list->first != NULL) {
        command_t *command = list->first;
        list->first = command->next;
        command_free(command);
    }
    list->last = &list->first;
    list->closed = false;
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    FAKE_CALL(zeCommandListDestroy, ze_result_t);
    list_t *list = fake_handle_check(hCommandList, KIND_LIST);
    if (list == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (list->immediate)
        engine_close(&list->engine);
    clear(list);
    fake_handle_remove(&list->handle);
    free(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    FAKE_CALL(zeCommandListClose, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    list->closed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    FAKE_CALL(zeCommandListReset, ze_result_t);
    list_t *list = fake_handle_check(hCommandList, KIND_LIST);
    if (list == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (list->immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    clear(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t list_enter(ze_command_list_handle_t handle, list_t **out_list)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_list = fake_handle_check(handle, KIND_LIST);
    if (*out_list == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if ((*out_list)->closed)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return card_check((*out_list)->device->card);
}

ze_result_t list_append(list_t *list, command_t *command, ze_event_handle_t signal,
                        uint32_t count, const ze_event_handle_t *waits)
{
    ze_result_t result = command_events(command, signal, count, waits);
    if (result != ZE_RESULT_SUCCESS) {
        command_free(command);
        return result;
    }
    if (!list->immediate) {
        *list->last = command;
        list->last = &command->next;
        return ZE_RESULT_SUCCESS;
    }
    engine_push(&list->engine, command);
    return list->synchronous ? wait_engine(&list->engine, list->device->card, UINT64_MAX)
                             : ZE_RESULT_SUCCESS;
}
