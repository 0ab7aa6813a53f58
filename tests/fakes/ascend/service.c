/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake HCCL of the same folder. */
#include "tests/fakes/common/service.h"
#include "core.h"

static aclError find_stream(void *handle, stream_t **out_stream)
{
    context_t *context = NULL;
    aclError code = acl_enter(&context);
    return code == ACL_SUCCESS ? acl_stream(context, handle, out_stream) : code;
}

static int push(void *handle, void (*run)(void *), const void *data, size_t size)
{
    stream_t *stream;
    aclError code = find_stream(handle, &stream);
    if (code == ACL_SUCCESS)
        fake_stream_push(stream->queue, run, data, size);
    return code;
}

static int poll(void *handle, bool (*ready)(void *), const void *data, size_t size)
{
    stream_t *stream;
    aclError code = find_stream(handle, &stream);
    if (code == ACL_SUCCESS)
        fake_stream_push_poll(stream->queue, ready, data, size);
    return code;
}

static bool usable(const void *address, size_t size)
{
    return fake_memory_place(address, size) == FAKE_PLACE_DEVICE;
}

static int current(void)
{
    context_t *context = NULL;
    return acl_enter(&context) == ACL_SUCCESS ? fake_ordinal_of(context->card) : -1;
}

FAKE_API const fake_service_t *yoke_fake_service(void)
{
    static const fake_service_t service = {push, fake_shadow, usable, poll, current};
    return &service;
}
