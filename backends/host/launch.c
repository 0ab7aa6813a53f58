/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: arguments are checked against the kernel's parameters and laid out, then all
 * groups run, at once or when a held queue comes to it. */
#include "backends/host/host.h"

#include <string.h>

static void no_others(void *context)
{
    (void)context;
}

void yoke_host_launch_run(yoke_impl_queue_t *queue, const yoke_host_launch_t *launch)
{
    const yoke_impl_kernel_t *kernel = launch->kernel;
    const yoke_launch_t *shape = &launch->shape;
    if (kernel->native != NULL) {
        kernel->native(shape->groups, shape->local, launch->arguments);
        return;
    }
    if (kernel->entry.barrier) {
        if (!yoke_host_fibers_run(&queue->fibers, kernel->entry.run, launch->arguments,
                                  shape))
            atomic_store(&queue->failed, true);
        return;
    }
    yoke_host_self_t self = {.barrier = no_others};
    memcpy(self.groups, shape->groups, sizeof self.groups);
    memcpy(self.items, shape->local, sizeof self.items);
    kernel->entry.run(launch->arguments, &self);
}

static size_t packed_size(const yoke_argument_t *argument)
{
    size_t size = argument->kind == YOKE_ARGUMENT_VALUE ? argument->size : sizeof(void *);
    return (size + 15) & ~(size_t)15;
}

/* Values, and addresses of spans, each aligned for any type. They fit: check(). */
static void pack(yoke_impl_queue_t *queue, const yoke_argument_t *arguments, size_t count,
                 yoke_host_operation_t *operation)
{
    unsigned char *to = operation->values;
    for (size_t i = 0; i < count; i++) {
        const yoke_argument_t *argument = &arguments[i];
        void *address = NULL;
        yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
        if (argument->kind == YOKE_ARGUMENT_LOCAL)
            address = queue->local;
        else if (argument->kind == YOKE_ARGUMENT_SPAN && buffer != NULL)
            address = buffer->address + argument->span.offset;
        if (argument->kind == YOKE_ARGUMENT_VALUE)
            memcpy(to, argument->value, argument->size);
        else
            memcpy(to, &address, sizeof address);
        operation->as.launch.arguments[i] = to;
        to += packed_size(argument);
    }
}

static yoke_status_t check_arguments(const yoke_host_entry_t *entry,
                                     const yoke_argument_t *arguments, size_t count)
{
    if (count != entry->count)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "kernel %s takes %u arguments, not %zu",
                                      entry->name, entry->count, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t size = entry->sizes[i];
        uint32_t kind = size == YOKE_HOST_SIZE_SPAN    ? YOKE_ARGUMENT_SPAN
                        : size == YOKE_HOST_SIZE_LOCAL ? YOKE_ARGUMENT_LOCAL
                                                       : YOKE_ARGUMENT_VALUE;
        static const char *const names[] = {"a span", "a value", "local memory"};
        if (kind != arguments[i].kind)
            return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                          "argument %zu of kernel %s must be %s", i,
                                          entry->name, names[kind]);
        if (kind == YOKE_ARGUMENT_VALUE && arguments[i].size != size)
            return yoke_backend_fail_text(
                YOKE_ERR_USAGE, "argument %zu of kernel %s has %u bytes, its type %u", i,
                entry->name, arguments[i].size, size);
    }
    return YOKE_OK;
}

yoke_status_t yoke_host_launch_check(const yoke_impl_kernel_t *kernel,
                                     const yoke_launch_t *launch,
                                     const yoke_argument_t *arguments, size_t count)
{
    uint64_t items = 1;
    size_t used = 0;
    for (int d = 0; d < 3 && items <= YOKE_HOST_MAX_GROUP; d++)
        items *= launch->local[d];
    if (items > YOKE_HOST_MAX_GROUP || items == 0)
        return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE,
                                      "a group has 1 to %u items on the host",
                                      YOKE_HOST_MAX_GROUP);
    if (count > YOKE_MAX_ARGUMENTS)
        return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE,
                                      "a launch takes at most %d arguments",
                                      YOKE_MAX_ARGUMENTS);
    for (size_t i = 0; i < count; i++) {
        used += packed_size(&arguments[i]);
        if (arguments[i].kind == YOKE_ARGUMENT_LOCAL &&
            arguments[i].size > YOKE_HOST_LOCAL_MEMORY)
            return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE,
                                          "the host has %u bytes of local memory",
                                          YOKE_HOST_LOCAL_MEMORY);
    }
    if (used > YOKE_HOST_VALUES)
        return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE,
                                      "the arguments of a launch pass %u bytes",
                                      YOKE_HOST_VALUES);
    return kernel->native != NULL ? YOKE_OK
                                  : check_arguments(&kernel->entry, arguments, count);
}

static void fill_in(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                    const yoke_launch_t *launch, const yoke_argument_t *arguments,
                    size_t count, yoke_host_operation_t *operation)
{
    operation->kind = YOKE_HOST_LAUNCH;
    operation->as.launch.kernel = kernel;
    operation->as.launch.shape = *launch;
    operation->as.launch.count = (uint32_t)count;
    pack(queue, arguments, count, operation);
}

yoke_status_t yoke_host_launch_now(yoke_impl_queue_t *queue,
                                   const yoke_host_launch_t *launch)
{
    const uint32_t *local = launch->shape.local;
    if (launch->kernel->native == NULL && launch->kernel->entry.barrier &&
        !yoke_host_fibers_reserve(&queue->fibers, local[0] * local[1] * local[2]))
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY,
                                      "no memory for the stacks of a group's items");
    yoke_host_launch_run(queue, launch);
    return YOKE_OK;
}

yoke_status_t yoke_host_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                               const yoke_launch_t *launch,
                               const yoke_argument_t *arguments, size_t count)
{
    yoke_status_t status = yoke_host_launch_check(kernel, launch, arguments, count);
    if (status != YOKE_OK)
        return status;
    yoke_host_operation_t now, *held = yoke_host_hold(queue, false);
    fill_in(queue, kernel, launch, arguments, count, held != NULL ? held : &now);
    if (held == NULL)
        return yoke_host_launch_now(queue, &now.as.launch);
    yoke_host_held(queue);
    return YOKE_OK;
}
