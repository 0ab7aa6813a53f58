/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared launches: what the vendor's launch takes, laid out once. */
#include "backends/cudalike/internal.h"

#include <stdlib.h>

#include "base/error.h"
#include "yoke/kernel.h"

struct yoke_impl_prepared {
    void *function;
    yoke_launch_t launch;
    unsigned shared; /* bytes of dynamic local memory, which is no parameter */
    /* Where each value lies, which is with the caller, or each address. */
    void *parameters[YOKE_MAX_ARGUMENTS];
    yoke_cudalike_address_t addresses[YOKE_MAX_ARGUMENTS];
};

static void put(yoke_impl_prepared_t *prepared, size_t index,
                const yoke_argument_t *argument)
{
    const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    switch (argument->kind) {
    case YOKE_ARGUMENT_SPAN:
        prepared->addresses[index] =
            buffer == NULL ? 0 : buffer->address + argument->span.offset;
        prepared->parameters[index] = &prepared->addresses[index];
        break;
    case YOKE_ARGUMENT_LOCAL:
        prepared->shared = argument->size;
        break;
    default:
        prepared->parameters[index] = (void *)(uintptr_t)argument->value; /* only read */
        break;
    }
}

yoke_status_t yoke_cudalike_prepared_create(yoke_impl_kernel_t *kernel,
                                            const yoke_launch_t *launch,
                                            const yoke_argument_t *arguments,
                                            size_t count,
                                            yoke_impl_prepared_t **out_prepared)
{
    yoke_impl_prepared_t *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return yoke_fail_memory();
    prepared->function = kernel->function;
    prepared->launch = *launch;
    for (size_t i = 0; i < count; i++)
        put(prepared, i, &arguments[i]);
    *out_prepared = prepared;
    return YOKE_OK;
}

void yoke_cudalike_prepared_destroy(yoke_impl_prepared_t *prepared)
{
    free(prepared);
}

yoke_status_t yoke_cudalike_prepared_argument(yoke_impl_prepared_t *prepared,
                                              size_t index,
                                              const yoke_argument_t *argument)
{
    put(prepared, index, argument);
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_prepared_geometry(yoke_impl_prepared_t *prepared,
                                              const yoke_launch_t *launch)
{
    prepared->launch = *launch;
    return YOKE_OK;
}

static inline int launch_now(const yoke_impl_queue_t *queue,
                             yoke_impl_prepared_t *prepared)
{
    const uint32_t *groups = prepared->launch.groups, *local = prepared->launch.local;
    return queue->api->launch(prepared->function, groups[0], groups[1], groups[2],
                              local[0], local[1], local[2], prepared->shared,
                              queue->stream, prepared->parameters, NULL);
}

/* As launch_carefully() of program.c, and out of line for the same reason: tests/tax
 * counts instructions. */
static __attribute__((noinline)) yoke_status_t
launch_carefully(yoke_impl_queue_t *queue, yoke_impl_prepared_t *prepared, bool tried,
                 int code)
{
    yoke_impl_device_t *device = queue->device;
    yoke_cudalike_scope_t scope;
    if (!tried || yoke_cudalike_suspect(code)) {
        int entered = yoke_cudalike_enter(device, &scope);
        if (entered != 0)
            return yoke_cudalike_fail(device->runtime, scope.slot, entered);
        if (!tried || scope.changed)
            code = launch_now(queue, prepared);
        yoke_cudalike_leave(&scope);
    }
    return code == 0
               ? YOKE_OK
               : yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(launch), code);
}

yoke_status_t yoke_cudalike_prepared_launch(yoke_impl_queue_t *queue,
                                            yoke_impl_prepared_t *prepared)
{
    if (__builtin_expect(yoke_cudalike_noted[queue->index] != queue->enough, 0))
        return launch_carefully(queue, prepared, false, 0);
    int code = launch_now(queue, prepared);
    return __builtin_expect(code == 0, 1) ? YOKE_OK
                                          : launch_carefully(queue, prepared, true, code);
}
