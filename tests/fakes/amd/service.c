/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake rocBLAS of the same folder. */
#include "tests/fakes/common/service.h"
#include "hip.h"

static int push(void *stream, void (*run)(void *), const void *data, size_t size)
{
    hip_device_t *device = NULL, *mine = NULL;
    fake_stream_t *queue;
    hip_result_t result = hip_queue(stream, &queue, &device);
    if (result == HIP_SUCCESS)
        result = hip_current(&mine);
    if (result != HIP_SUCCESS)
        return result;
    if (mine != device)
        return HIP_INVALID_HANDLE;
    fake_stream_push(queue, run, data, size);
    return HIP_SUCCESS;
}

static bool usable(const void *address, size_t size)
{
    fake_place_t place = fake_memory_place(address, size);
    return place != FAKE_PLACE_HOST && place != FAKE_PLACE_BAD;
}

FAKE_API const fake_service_t *yoke_fake_service(void)
{
    static const fake_service_t service = {push, fake_shadow, usable};
    return &service;
}
