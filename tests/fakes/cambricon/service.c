/* SPDX-License-Identifier: Apache-2.0 */
/* For the fake CNCL of the same folder. */
#include "tests/fakes/common/service.h"
#include "core.h"

static int push(void *stream, void (*run)(void *), const void *data, size_t size)
{
    queue_t *queue;
    cnrtRet_t code = cnrt_enter_queue((cnrtQueue_t)stream, &queue);
    if (code == cnrtSuccess)
        fake_stream_push(queue->stream, run, data, size);
    return (int)code;
}

static int poll(void *stream, bool (*ready)(void *), const void *data, size_t size)
{
    queue_t *queue;
    cnrtRet_t code = cnrt_enter_queue((cnrtQueue_t)stream, &queue);
    if (code == cnrtSuccess)
        fake_stream_push_poll(queue->stream, ready, data, size);
    return (int)code;
}

static bool usable(const void *address, size_t size)
{
    return fake_memory_place(address, size) == FAKE_PLACE_DEVICE;
}

static int current(void)
{
    fake_card_t *card = NULL;
    return cnrt_enter(&card) == cnrtSuccess ? fake_ordinal_of(card) : -1;
}

FAKE_API const fake_service_t *yoke_fake_service(void)
{
    static const fake_service_t service = {push, fake_shadow, usable, poll, current};
    return &service;
}
