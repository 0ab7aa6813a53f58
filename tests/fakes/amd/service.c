/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake rocBLAS and RCCL of the same folder. */
#include "tests/fakes/common/service.h"
#include "hip.h"

static hip_result_t find_queue(void *stream, fake_stream_t **out_queue)
{
    hip_device_t *device = NULL, *mine = NULL;
    hip_result_t result = hip_queue(stream, out_queue, &device);
    if (result == HIP_SUCCESS)
        result = hip_current(&mine);
    if (result == HIP_SUCCESS && mine != device)
        result = HIP_INVALID_HANDLE;
    return result;
}

static int push(void *stream, void (*run)(void *), const void *data, size_t size)
{
    fake_stream_t *queue;
    hip_result_t result = find_queue(stream, &queue);
    if (result == HIP_SUCCESS)
        fake_stream_push(queue, run, data, size);
    return result;
}

static int poll(void *stream, bool (*ready)(void *), const void *data, size_t size)
{
    fake_stream_t *queue;
    hip_result_t result = find_queue(stream, &queue);
    if (result == HIP_SUCCESS)
        fake_stream_push_poll(queue, ready, data, size);
    return result;
}

static int current(void)
{
    hip_device_t *device = NULL;
    return hip_current(&device) == HIP_SUCCESS ? device->ordinal : -1;
}

static bool usable(const void *address, size_t size)
{
    fake_place_t place = fake_memory_place(address, size);
    return place != FAKE_PLACE_HOST && place != FAKE_PLACE_BAD;
}

FAKE_API const fake_service_t *yoke_fake_service(void)
{
    static const fake_service_t service = {push, fake_shadow, usable, poll, current};
    return &service;
}
