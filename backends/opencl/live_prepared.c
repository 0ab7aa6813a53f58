/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared launches: a cl_kernel of their own, whose arguments stay set, so that a repeat
 * is one clEnqueueNDRangeKernel, and so that nobody else's launch changes them.
 */
#include "backends/opencl/live.h"

#include <stdlib.h>

#include "base/error.h"

struct yoke_impl_prepared {
    const yoke_impl_device_t *device;
    yoke_cl_kernel_t kernel;
    size_t global[3], local[3];
    bool lends; /* some of `mapped` are not NULL */
    /* By argument: a sub-buffer of its own, and a mapped HOST buffer. */
    yoke_cl_memory_t loose[YOKE_MAX_ARGUMENTS];
    yoke_impl_buffer_t *mapped[YOKE_MAX_ARGUMENTS];
};

static yoke_status_t set(yoke_impl_prepared_t *prepared, uint32_t index,
                         const yoke_argument_t *argument)
{
    const yoke_impl_device_t *device = prepared->device;
    yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    yoke_cl_memory_t loose = NULL;
    if (argument->kind != YOKE_ARGUMENT_SPAN)
        return yoke_ocl_set_value(device, prepared->kernel, index, argument);
    yoke_status_t status = yoke_ocl_set_span(device, prepared->kernel, index, buffer,
                                             argument->span.offset, &loose);
    if (status != YOKE_OK)
        return status;
    if (prepared->loose[index] != NULL) /* launches under way keep it */
        device->cl->release_memory(prepared->loose[index]);
    prepared->loose[index] = loose;
    bool mapped = buffer != NULL && device->maps != NULL && yoke_ocl_is_mapped(buffer);
    prepared->mapped[index] = mapped ? buffer : NULL;
    prepared->lends = false;
    for (size_t i = 0; i < YOKE_MAX_ARGUMENTS; i++)
        prepared->lends = prepared->lends || prepared->mapped[i] != NULL;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_prepared_geometry(yoke_impl_prepared_t *prepared,
                                         const yoke_launch_t *launch)
{
    for (int i = 0; i < 3; i++) {
        prepared->local[i] = launch->local[i];
        prepared->global[i] = prepared->local[i] * launch->groups[i];
    }
    return YOKE_OK;
}

yoke_status_t yoke_ocl_prepared_create(yoke_impl_kernel_t *kernel,
                                       const yoke_launch_t *launch,
                                       const yoke_argument_t *arguments, size_t count,
                                       yoke_impl_prepared_t **out_prepared)
{
    const yoke_ocl_live_t *cl = kernel->device->cl;
    int32_t code = YOKE_CL_SUCCESS;
    if (count != kernel->argument_count)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "opencl: %zu arguments given to a kernel that "
                                      "takes %u",
                                      count, kernel->argument_count);
    yoke_impl_prepared_t *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return yoke_fail_memory();
    prepared->device = kernel->device;
    prepared->kernel =
        cl->work.create_kernel(kernel->program->program, kernel->name, &code);
    if (prepared->kernel == NULL) {
        free(prepared);
        return yoke_ocl_fail("clCreateKernel", code);
    }
    yoke_status_t status = yoke_ocl_prepared_geometry(prepared, launch);
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        status = set(prepared, (uint32_t)i, &arguments[i]);
    if (status == YOKE_OK)
        *out_prepared = prepared;
    else
        yoke_ocl_prepared_destroy(prepared);
    return status;
}

void yoke_ocl_prepared_destroy(yoke_impl_prepared_t *prepared)
{
    const yoke_ocl_live_t *cl = prepared->device->cl;
    cl->release_kernel(prepared->kernel);
    for (size_t i = 0; i < YOKE_MAX_ARGUMENTS; i++)
        if (prepared->loose[i] != NULL)
            cl->release_memory(prepared->loose[i]);
    free(prepared);
}

yoke_status_t yoke_ocl_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                         const yoke_argument_t *argument)
{
    return set(prepared, (uint32_t)index, argument);
}

/* --- launch ------------------------------------------------------------------------- */

static inline yoke_status_t enqueue(yoke_impl_queue_t *queue,
                                    const yoke_impl_prepared_t *prepared)
{
    int32_t code =
        queue->cl->work.launch(queue->queue, prepared->kernel, 3, NULL, prepared->global,
                               prepared->local, 0, NULL, NULL);
    if (__builtin_expect(code != YOKE_CL_SUCCESS, 0))
        return yoke_ocl_fail("clEnqueueNDRangeKernel", code);
    queue->dirty = true;
    return YOKE_OK;
}

/* With the mapped HOST buffers, each once, lent to the kernel. */
static __attribute__((noinline)) yoke_status_t
enqueue_lent(yoke_impl_queue_t *queue, const yoke_impl_prepared_t *prepared)
{
    yoke_impl_buffer_t *lent[YOKE_MAX_ARGUMENTS];
    size_t count = 0;
    for (size_t i = 0; i < YOKE_MAX_ARGUMENTS; i++) {
        yoke_impl_buffer_t *buffer = prepared->mapped[i];
        size_t j = 0;
        while (j < count && lent[j] != buffer)
            j++;
        if (buffer != NULL && j == count)
            lent[count++] = buffer;
    }
    yoke_status_t status = yoke_ocl_lend(queue, lent, count);
    if (status != YOKE_OK)
        return status;
    return yoke_ocl_take_back(queue, lent, count, enqueue(queue, prepared));
}

yoke_status_t yoke_ocl_prepared_launch(yoke_impl_queue_t *queue,
                                       yoke_impl_prepared_t *prepared)
{
    if (__builtin_expect(prepared->lends, 0))
        return enqueue_lent(queue, prepared);
    return enqueue(queue, prepared);
}
