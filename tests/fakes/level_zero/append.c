/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills, barriers and events in command lists. */
#include "queue.h"
#include <string.h>

/* --- copies ------------------------------------------------------------------------- */

typedef struct copy {
    void *dst;
    const void *src;
    size_t size;
} copy_t;

static void run_copy(void *data)
{
    const copy_t *copy = data;
    memmove(fake_shadow(copy->dst), fake_shadow(copy->src), copy->size);
}

static bool is_bad(const void *address, size_t size)
{
    return fake_memory_place(address, size) == FAKE_PLACE_BAD;
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList,
                                          void *dstptr, const void *srcptr, size_t size,
                                          ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents)
{
    FAKE_CALL(zeCommandListAppendMemoryCopy, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (dstptr == NULL || srcptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (is_bad(dstptr, size) || is_bad(srcptr, size))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    copy_t copy = {dstptr, srcptr, size};
    return list_append(list, command_new(run_copy, &copy, sizeof copy), hSignalEvent,
                       numWaitEvents, phWaitEvents);
}

/* --- fills -------------------------------------------------------------------------- */

typedef struct fill {
    void *at;
    size_t size, pattern_size;
    unsigned char pattern[16];
} fill_t;

static void run_fill(void *data)
{
    const fill_t *fill = data;
    char *at = fake_shadow(fill->at);
    for (size_t i = 0; i < fill->size; i += fill->pattern_size)
        memcpy(at + i, fill->pattern, fill->pattern_size);
}

static ze_result_t check_fill(const list_t *list, const void *at, const void *pattern,
                              size_t pattern_size, size_t size)
{
    size_t limit =
        list->ordinal == 0 ? 16 : 1; /* maxMemoryFillPatternSize of the group */
    if (at == NULL || pattern == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pattern_size == 0 || (pattern_size & (pattern_size - 1)) != 0 ||
        pattern_size > limit || size % pattern_size != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if ((uintptr_t)at % pattern_size != 0)
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    return is_bad(at, size) ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                          void *ptr, const void *pattern,
                                          size_t pattern_size, size_t size,
                                          ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents)
{
    FAKE_CALL(zeCommandListAppendMemoryFill, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result == ZE_RESULT_SUCCESS)
        result = check_fill(list, ptr, pattern, pattern_size, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    fill_t fill = {ptr, size, pattern_size, {0}};
    memcpy(fill.pattern, pattern, pattern_size);
    return list_append(list, command_new(run_fill, &fill, sizeof fill), hSignalEvent,
                       numWaitEvents, phWaitEvents);
}

/* --- order -------------------------------------------------------------------------- */

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                       ze_event_handle_t hSignalEvent,
                                       uint32_t numWaitEvents,
                                       ze_event_handle_t *phWaitEvents)
{
    FAKE_CALL(zeCommandListAppendBarrier, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command_t *command = command_new(NULL, NULL, 0);
    /* with events it waits for them, else for all that came before */
    command->after_earlier = numWaitEvents == 0;
    command->before_later = true;
    return list_append(list, command, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                            uint32_t numEvents,
                                            ze_event_handle_t *phEvents)
{
    FAKE_CALL(zeCommandListAppendWaitOnEvents, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (phEvents == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    command_t *command = command_new(NULL, NULL, 0);
    command->before_later = true;
    return list_append(list, command, NULL, numEvents, phEvents);
}

static ze_result_t append_event(ze_command_list_handle_t handle, ze_event_handle_t event,
                                bool resets)
{
    list_t *list;
    ze_result_t result = list_enter(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (event == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    command_t *command = command_new(NULL, NULL, 0);
    command->after_earlier = true;
    command->resets = resets;
    return list_append(list, command, event, 0, NULL);
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                           ze_event_handle_t hEvent)
{
    FAKE_CALL(zeCommandListAppendSignalEvent, ze_result_t);
    return append_event(hCommandList, hEvent, false);
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                          ze_event_handle_t hEvent)
{
    FAKE_CALL(zeCommandListAppendEventReset, ze_result_t);
    return append_event(hCommandList, hEvent, true);
}

/* --- time --------------------------------------------------------------------------- */

static void run_timestamp(void *data)
{
    uint64_t ticks = device_ticks(fake_now());
    memcpy(fake_shadow(*(void **)data), &ticks, sizeof ticks);
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList,
                                                    uint64_t *dstptr,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t *phWaitEvents)
{
    FAKE_CALL(zeCommandListAppendWriteGlobalTimestamp, ze_result_t);
    list_t *list;
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (dstptr == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (fake_memory_place(dstptr, 8) == FAKE_PLACE_HOST || is_bad(dstptr, 8))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    command_t *command = command_new(run_timestamp, &dstptr, sizeof dstptr);
    command->after_earlier = true;
    return list_append(list, command, hSignalEvent, numWaitEvents, phWaitEvents);
}
