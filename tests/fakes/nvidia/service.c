/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake cuBLAS and NCCL of the same folder. */
#include "tests/fakes/common/service.h"
#include "cuda.h"

static cu_result_t find_queue(void *stream, fake_stream_t **out_queue)
{
    cu_context_t *context = NULL, *of = NULL;
    cu_result_t result = cu_current(&context);
    if (result == CU_SUCCESS)
        result = cu_queue(context, stream, out_queue, &of);
    if (result == CU_SUCCESS && of != context) /* into another context's stream */
        result = CU_INVALID_HANDLE;
    return result;
}

static int push(void *stream, void (*run)(void *), const void *data, size_t size)
{
    fake_stream_t *queue;
    cu_result_t result = find_queue(stream, &queue);
    if (result == CU_SUCCESS)
        fake_stream_push(queue, run, data, size);
    return result;
}

static int poll(void *stream, bool (*ready)(void *), const void *data, size_t size)
{
    fake_stream_t *queue;
    cu_result_t result = find_queue(stream, &queue);
    if (result == CU_SUCCESS)
        fake_stream_push_poll(queue, ready, data, size);
    return result;
}

static int current(void)
{
    cu_context_t *context = NULL;
    return cu_current(&context) == CU_SUCCESS ? context->device : -1;
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
