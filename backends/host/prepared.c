/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared launches: on a queue that runs at once, nothing is left to do but to run. */
#include "backends/host/host.h"

#include <stdlib.h>

#include "base/error.h"

struct yoke_impl_prepared {
    yoke_host_launch_t launch;
    /* The caller's, for queues that hold: those copy it. */
    const yoke_argument_t *arguments;
    void *addresses[YOKE_MAX_ARGUMENTS]; /* of spans */
    void *local;                         /* the queue's */
};

static void put(yoke_impl_prepared_t *prepared, size_t index,
                const yoke_argument_t *argument)
{
    const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    const void **place = &prepared->launch.arguments[index];
    switch (argument->kind) {
    case YOKE_ARGUMENT_SPAN:
        prepared->addresses[index] =
            buffer == NULL ? NULL : buffer->address + argument->span.offset;
        *place = &prepared->addresses[index];
        break;
    case YOKE_ARGUMENT_LOCAL:
        *place = &prepared->local;
        break;
    default:
        *place = argument->value;
        break;
    }
}

yoke_status_t yoke_host_prepared_create(yoke_impl_kernel_t *kernel,
                                        const yoke_launch_t *launch,
                                        const yoke_argument_t *arguments, size_t count,
                                        yoke_impl_prepared_t **out_prepared)
{
    yoke_status_t status = yoke_host_launch_check(kernel, launch, arguments, count);
    if (status != YOKE_OK)
        return status;
    yoke_impl_prepared_t *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return yoke_fail_memory();
    prepared->launch.kernel = kernel;
    prepared->launch.shape = *launch;
    prepared->launch.count = (uint32_t)count;
    prepared->arguments = arguments;
    for (size_t i = 0; i < count; i++)
        put(prepared, i, &arguments[i]);
    *out_prepared = prepared;
    return YOKE_OK;
}

void yoke_host_prepared_destroy(yoke_impl_prepared_t *prepared)
{
    free(prepared);
}

/* Kind and size are as before, and local memory is what the device tells. */
yoke_status_t yoke_host_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                          const yoke_argument_t *argument)
{
    put(prepared, index, argument);
    return YOKE_OK;
}

yoke_status_t yoke_host_prepared_geometry(yoke_impl_prepared_t *prepared,
                                          const yoke_launch_t *launch)
{
    prepared->launch.shape = *launch;
    return YOKE_OK;
}

yoke_status_t yoke_host_prepared_launch(yoke_impl_queue_t *queue,
                                        yoke_impl_prepared_t *prepared)
{
    if (atomic_load_explicit(&queue->held, memory_order_acquire))
        return yoke_host_launch(queue, prepared->launch.kernel, &prepared->launch.shape,
                                prepared->arguments, prepared->launch.count);
    prepared->local = queue->local;
    return yoke_host_launch_now(queue, &prepared->launch);
}
