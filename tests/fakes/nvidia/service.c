/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake cuBLAS of the same folder. */
#include "tests/fakes/common/service.h"
#include "cuda.h"

static int push(void *stream, void (*run)(void *), const void *data, size_t size)
{
    cu_context_t *context = NULL, *of = NULL;
    fake_stream_t *queue;
    cu_result_t result = cu_current(&context);
    if (result == CU_SUCCESS)
        result = cu_queue(context, stream, &queue, &of);
    if (result != CU_SUCCESS)
        return result;
    if (of != context) /* a launch into another context's stream */
        return CU_INVALID_HANDLE;
    fake_stream_push(queue, run, data, size);
    return CU_SUCCESS;
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
