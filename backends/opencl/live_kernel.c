/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and launches. A cl_kernel keeps its arguments, so an argument is set only when
 * it differs from the last launch. Buffers are told apart by a number that is never used
 * again: a new cl_mem may get the address of one that has ended.
 */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

yoke_status_t yoke_ocl_kernel_create(yoke_impl_program_t *program, const char *name,
                                     yoke_impl_kernel_t **out_kernel)
{
    const yoke_ocl_live_t *cl = program->device->cl;
    int32_t code = YOKE_CL_SUCCESS;
    yoke_impl_kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return yoke_fail_memory();
    kernel->device = program->device;
    kernel->program = program;
    kernel->name = yoke_strdup(name);
    if (kernel->name == NULL) {
        free(kernel);
        return yoke_fail_memory();
    }
    kernel->kernel = cl->work.create_kernel(program->program, name, &code);
    if (kernel->kernel == NULL) {
        free(kernel->name);
        free(kernel);
        return code == YOKE_CL_INVALID_KERNEL_NAME
                   ? yoke_backend_fail(&yoke_opencl_ops, YOKE_ERR_NOT_FOUND,
                                       "clCreateKernel", code, name)
                   : yoke_ocl_fail("clCreateKernel", code);
    }
    code = cl->kernel_info(kernel->kernel, YOKE_CL_KERNEL_NUM_ARGS,
                           sizeof kernel->argument_count, &kernel->argument_count, NULL);
    if (code != YOKE_CL_SUCCESS || kernel->argument_count > YOKE_MAX_ARGUMENTS) {
        yoke_status_t status =
            code != YOKE_CL_SUCCESS
                ? yoke_ocl_fail("clGetKernelInfo", code)
                : yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                         "opencl: kernel %s takes %u arguments, %d is "
                                         "the most",
                                         name, kernel->argument_count,
                                         YOKE_MAX_ARGUMENTS);
        yoke_ocl_kernel_destroy(kernel);
        return status;
    }
    *out_kernel = kernel;
    return YOKE_OK;
}

void yoke_ocl_kernel_destroy(yoke_impl_kernel_t *kernel)
{
    kernel->device->cl->release_kernel(kernel->kernel);
    free(kernel->name);
    free(kernel);
}

/* --- arguments ---------------------------------------------------------------------- */

static yoke_status_t set_address(const yoke_impl_device_t *device,
                                 yoke_cl_kernel_t kernel, uint32_t index,
                                 const yoke_impl_buffer_t *buffer, uint64_t offset)
{
    const void *address = buffer->pointer + offset;
    int32_t code;
    if (buffer->usm) {
        code = device->slot->usm_calls.argument(kernel, index, address);
        return code == YOKE_CL_SUCCESS
                   ? YOKE_OK
                   : yoke_ocl_fail("clSetKernelArgMemPointerINTEL", code);
    }
    code = device->cl->svm_argument(kernel, index, address);
    return code == YOKE_CL_SUCCESS ? YOKE_OK
                                   : yoke_ocl_fail("clSetKernelArgSVMPointer", code);
}

static yoke_status_t set_memory(const yoke_impl_device_t *device, yoke_cl_kernel_t kernel,
                                uint32_t index, yoke_cl_memory_t memory)
{
    int32_t code = device->cl->work.set_argument(kernel, index, sizeof memory, &memory);
    return code == YOKE_CL_SUCCESS ? YOKE_OK : yoke_ocl_fail("clSetKernelArg", code);
}

yoke_status_t yoke_ocl_set_span(const yoke_impl_device_t *device, yoke_cl_kernel_t kernel,
                                uint32_t index, yoke_impl_buffer_t *buffer,
                                uint64_t offset, yoke_cl_memory_t *out_loose)
{
    yoke_cl_memory_t memory = NULL;
    bool loose = false;
    *out_loose = NULL;
    if (buffer == NULL)
        return set_memory(device, kernel, index, NULL);
    if (buffer->context != device->context)
        return yoke_backend_fail_text(YOKE_ERR_UNREACHABLE,
                                      "opencl: argument %u is a buffer of another "
                                      "context than the kernel",
                                      index);
    if (buffer->memory == NULL)
        return set_address(device, kernel, index, buffer, offset);
    if (offset == 0)
        return set_memory(device, kernel, index, buffer->memory);
    yoke_status_t status = yoke_ocl_buffer_part(buffer, offset, &memory, &loose);
    if (status == YOKE_OK)
        status = set_memory(device, kernel, index, memory);
    if (loose && status == YOKE_OK)
        *out_loose = memory;
    else if (loose)
        device->cl->release_memory(memory);
    return status;
}

static yoke_status_t set_span(yoke_impl_kernel_t *kernel, uint32_t index,
                              yoke_impl_buffer_t *buffer, uint64_t offset,
                              yoke_cl_memory_t *out_loose)
{
    yoke_status_t status = yoke_ocl_set_span(kernel->device, kernel->kernel, index,
                                             buffer, offset, out_loose);
    if (status == YOKE_OK && buffer != NULL && *out_loose == NULL)
        kernel->arguments[index] = (yoke_ocl_argument_t){
            .kind = YOKE_ARGUMENT_SPAN, .id = buffer->id, .offset = offset};
    return status;
}

yoke_status_t yoke_ocl_set_value(const yoke_impl_device_t *device,
                                 yoke_cl_kernel_t kernel, uint32_t index,
                                 const yoke_argument_t *argument)
{
    int32_t code = device->cl->work.set_argument(
        kernel, index, argument->size,
        argument->kind == YOKE_ARGUMENT_LOCAL ? NULL : argument->value);
    return code == YOKE_CL_SUCCESS ? YOKE_OK : yoke_ocl_fail("clSetKernelArg", code);
}

static yoke_status_t set_value(yoke_impl_kernel_t *kernel, uint32_t index,
                               const yoke_argument_t *argument)
{
    yoke_ocl_argument_t *last = &kernel->arguments[index];
    bool local = argument->kind == YOKE_ARGUMENT_LOCAL;
    yoke_status_t status =
        yoke_ocl_set_value(kernel->device, kernel->kernel, index, argument);
    if (status != YOKE_OK)
        return status;
    last->kind = argument->kind;
    last->size = argument->size;
    last->id = local || argument->size <= sizeof last->value;
    if (!local && argument->size <= sizeof last->value)
        memcpy(last->value, argument->value, argument->size);
    return YOKE_OK;
}

/* Without a call, for which a launch would have to save registers. */
static inline bool same_value(const unsigned char *a, const unsigned char *b,
                              uint32_t size)
{
    if (size == 4)
        return memcmp(a, b, 4) == 0;
    if (size == 8)
        return memcmp(a, b, 8) == 0;
    while (size > 0 && *a == *b)
        a++, b++, size--;
    return size == 0;
}

static inline bool is_set(const yoke_ocl_argument_t *last,
                          const yoke_argument_t *argument,
                          const yoke_impl_buffer_t *buffer)
{
    if (last->id == 0 || last->kind != argument->kind)
        return false;
    if (argument->kind == YOKE_ARGUMENT_SPAN)
        return buffer != NULL && last->id == buffer->id &&
               last->offset == argument->span.offset;
    return last->size == argument->size &&
           (argument->kind == YOKE_ARGUMENT_LOCAL ||
            same_value(last->value, argument->value, argument->size));
}

/* --- launch ------------------------------------------------------------------------- */

static inline yoke_status_t enqueue_again(yoke_impl_queue_t *queue,
                                          const yoke_impl_kernel_t *kernel)
{
    int32_t code = queue->cl->work.launch(queue->queue, kernel->kernel, 3, NULL,
                                          kernel->global, kernel->local, 0, NULL, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clEnqueueNDRangeKernel", code);
    queue->dirty = true;
    return YOKE_OK;
}

static yoke_status_t enqueue(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                             const yoke_launch_t *launch)
{
    for (int i = 0; i < 3; i++) {
        kernel->local[i] = launch->local[i];
        kernel->global[i] = kernel->local[i] * launch->groups[i];
    }
    kernel->last = *launch;
    return enqueue_again(queue, kernel);
}

/* With the mapped HOST buffers among the arguments, each once, lent to the kernel. */
static yoke_status_t enqueue_lent(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                                  const yoke_launch_t *launch,
                                  const yoke_argument_t *arguments, size_t count)
{
    yoke_impl_buffer_t *lent[YOKE_MAX_ARGUMENTS];
    size_t lent_count = 0;
    if (queue->device->maps == NULL)
        return enqueue(queue, kernel, launch);
    for (size_t i = 0; i < count; i++) {
        yoke_impl_buffer_t *buffer = arguments[i].kind == YOKE_ARGUMENT_SPAN
                                         ? yoke_backend_buffer(arguments[i].span.buffer)
                                         : NULL;
        size_t j = 0;
        while (j < lent_count && lent[j] != buffer)
            j++;
        if (buffer != NULL && yoke_ocl_is_mapped(buffer) && j == lent_count)
            lent[lent_count++] = buffer;
    }
    if (lent_count == 0)
        return enqueue(queue, kernel, launch);
    yoke_status_t status = yoke_ocl_lend(queue, lent, lent_count);
    if (status != YOKE_OK)
        return status;
    status = enqueue(queue, kernel, launch);
    kernel->last.groups[0] = 0; /* the next must lend again */
    return yoke_ocl_take_back(queue, lent, lent_count, status);
}

/* Sub-buffers that live for this launch alone: the runtime keeps them until it has
 * passed. */
static void release(const yoke_ocl_live_t *cl, yoke_cl_memory_t *loose, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (loose[i] != NULL)
            cl->release_memory(loose[i]);
}

static yoke_status_t launch_changed(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                                    const yoke_launch_t *launch,
                                    const yoke_argument_t *arguments, size_t count)
{
    yoke_cl_memory_t loose[YOKE_MAX_ARGUMENTS] = {0};
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < count && status == YOKE_OK; i++) {
        const yoke_argument_t *argument = &arguments[i];
        bool span = argument->kind == YOKE_ARGUMENT_SPAN;
        yoke_impl_buffer_t *buffer =
            span ? yoke_backend_buffer(argument->span.buffer) : NULL;
        if (is_set(&kernel->arguments[i], argument, buffer))
            continue;
        kernel->arguments[i].id = 0;
        status =
            span ? set_span(kernel, (uint32_t)i, buffer, argument->span.offset, &loose[i])
                 : set_value(kernel, (uint32_t)i, argument);
    }
    if (status == YOKE_OK)
        status = enqueue_lent(queue, kernel, launch, arguments, count);
    release(queue->cl, loose, count);
    return status;
}

static inline bool all_set(const yoke_impl_kernel_t *kernel,
                           const yoke_argument_t *arguments, size_t count)
{
    const yoke_ocl_argument_t *last = kernel->arguments;
    if (count != kernel->argument_count)
        return false;
    for (; count > 0; count--, arguments++, last++)
        if (!is_set(last, arguments,
                    arguments->kind == YOKE_ARGUMENT_SPAN
                        ? yoke_backend_buffer(arguments->span.buffer)
                        : NULL))
            return false;
    return true;
}

static inline bool same_launch(const yoke_launch_t *a, const yoke_launch_t *b)
{
    _Static_assert(sizeof *a == 24, "three comparisons");
    return memcmp(a, b, 8) == 0 &&
           memcmp((const char *)a + 8, (const char *)b + 8, 8) == 0 &&
           memcmp((const char *)a + 16, (const char *)b + 16, 8) == 0;
}

static __attribute__((noinline)) yoke_status_t
launch_otherwise(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                 const yoke_launch_t *launch, const yoke_argument_t *arguments,
                 size_t count)
{
    if (count != kernel->argument_count)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "opencl: %zu arguments given to a kernel that "
                                      "takes %u",
                                      count, kernel->argument_count);
    return launch_changed(queue, kernel, launch, arguments, count);
}

/* A repeated launch sets nothing again: tests/tax counts its instructions. */
yoke_status_t yoke_ocl_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                              const yoke_launch_t *launch,
                              const yoke_argument_t *arguments, size_t count)
{
    if (__builtin_expect(
            same_launch(&kernel->last, launch) && all_set(kernel, arguments, count), 1))
        return enqueue_again(queue, kernel);
    return launch_otherwise(queue, kernel, launch, arguments, count);
}
