/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared launches: arguments are checked and kept here, the backend lays them out; for
 * backends that do not, launch() is repeated with what is kept.
 *
 * A buffer knows the arguments that it is bound to, and tells their launches when it
 * ends. One lock for all of them: neither enqueueing nor changing a value takes it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/live/layers.h"

/* --- bound buffers -------------------------------------------------------------------
 */

static pthread_mutex_t binding = PTHREAD_MUTEX_INITIALIZER;

static void unbind(yoke_bound_t *bound)
{
    yoke_buffer_t *buffer = atomic_load_explicit(&bound->buffer, memory_order_relaxed);
    if (buffer == NULL)
        return;
    if (bound->next != NULL)
        bound->next->previous = bound->previous;
    if (bound->previous != NULL)
        bound->previous->next = bound->next;
    else /* release: the last that is done with the buffer, which may end unlocked */
        atomic_store_explicit(&buffer->bound, bound->next, memory_order_release);
    atomic_store_explicit(&bound->buffer, NULL, memory_order_relaxed);
}

static void bind(yoke_bound_t *bound, yoke_buffer_t *buffer)
{
    if (buffer == NULL)
        return;
    yoke_bound_t *first = atomic_load_explicit(&buffer->bound, memory_order_relaxed);
    bound->previous = NULL;
    bound->next = first;
    if (first != NULL)
        first->previous = bound;
    atomic_store_explicit(&buffer->bound, bound, memory_order_release);
    atomic_store_explicit(&bound->buffer, buffer, memory_order_relaxed);
}

static void rebind(yoke_prepared_launch_t *prepared, size_t index, yoke_buffer_t *buffer)
{
    yoke_bound_t *bound = &prepared->bound[index];
    bool gone = false;
    if (buffer != NULL &&
        atomic_load_explicit(&bound->buffer, memory_order_relaxed) == buffer)
        return;
    pthread_mutex_lock(&binding);
    unbind(bound);
    bind(bound, buffer);
    bound->gone = false;
    for (size_t i = 0; i < prepared->count; i++)
        gone = gone || prepared->bound[i].gone;
    if (!gone)
        atomic_fetch_and(&prepared->object.flags, ~YOKE_FLAG_STALE);
    pthread_mutex_unlock(&binding);
}

void yoke_prepared_forget(yoke_buffer_t *buffer)
{
    yoke_bound_t *bound;
    if (atomic_load_explicit(&buffer->bound, memory_order_acquire) == NULL)
        return;
    pthread_mutex_lock(&binding);
    while ((bound = atomic_load_explicit(&buffer->bound, memory_order_relaxed)) != NULL) {
        unbind(bound);
        bound->gone = true;
        atomic_fetch_or(&bound->owner->object.flags, YOKE_FLAG_STALE);
    }
    pthread_mutex_unlock(&binding);
}

yoke_status_t yoke_prepared_stale(const yoke_prepared_launch_t *prepared,
                                  const char *call)
{
    size_t index = 0;
    pthread_mutex_lock(&binding);
    while (index + 1 < prepared->count && !prepared->bound[index].gone)
        index++;
    pthread_mutex_unlock(&binding);
    return yoke_fail(YOKE_ERR_USAGE,
                     "%s: the buffer of argument %zu of kernel %s was destroyed; give "
                     "another by yoke_prepared_launch_set_argument()",
                     call, index, prepared->kernel->name);
}

/* --- for backends that prepare nothing -----------------------------------------------
 */

/* What a launch is, where it is kept. */
struct yoke_impl_prepared {
    const yoke_prepared_launch_t *kept;
};

static yoke_status_t launch_kept(yoke_impl_queue_t *queue, yoke_impl_prepared_t *impl)
{
    const yoke_prepared_launch_t *kept = impl->kept;
    return kept->object.ops->launch(queue, kept->kernel->object.impl.kernel,
                                    &kept->launch, kept->arguments, kept->count);
}

static yoke_status_t prepare(yoke_prepared_launch_t *prepared)
{
    const yoke_backend_ops_t *ops = prepared->object.ops;
    if (ops->prepared_create != NULL) {
        prepared->enqueue = ops->prepared_launch;
        return ops->prepared_create(prepared->kernel->object.impl.kernel,
                                    &prepared->launch, prepared->arguments,
                                    prepared->count, &prepared->object.impl.prepared);
    }
    yoke_impl_prepared_t *impl = malloc(sizeof *impl);
    if (impl == NULL)
        return yoke_fail_memory();
    impl->kept = prepared;
    prepared->enqueue = launch_kept;
    prepared->object.impl.prepared = impl;
    return YOKE_OK;
}

static void unprepare(yoke_prepared_launch_t *prepared)
{
    if (prepared->object.ops->prepared_create != NULL)
        prepared->object.ops->prepared_destroy(prepared->object.impl.prepared);
    else
        free(prepared->object.impl.prepared);
}

/* --- making and ending ---------------------------------------------------------------
 */

static size_t place_size(const yoke_argument_t *argument)
{
    size_t size = argument->kind == YOKE_ARGUMENT_VALUE ? argument->size : 0;
    return (size + 15) / 16 * 16;
}

/* The object with room for arguments and two places for each value. */
static yoke_prepared_launch_t *make_room(yoke_device_t *device,
                                         const yoke_argument_t *arguments, size_t count)
{
    yoke_prepared_launch_t *prepared;
    size_t head = sizeof *prepared + count * sizeof(yoke_argument_t);
    size_t bound = (head + 15) / 16 * 16;
    size_t values = (bound + count * sizeof(yoke_bound_t) + 15) / 16 * 16, size = values;
    for (size_t i = 0; i < count; i++) /* 32 values of 32 bits do not pass it */
        size += 2 * place_size(&arguments[i]);
    prepared = yoke_object_new(size, YOKE_OBJECT_PREPARED, device);
    if (prepared == NULL)
        return NULL;
    prepared->count = count;
    prepared->bound = (yoke_bound_t *)(void *)((unsigned char *)prepared + bound);
    unsigned char *place = (unsigned char *)prepared + values;
    for (size_t i = 0; i < count; i++) {
        for (size_t half = 0; half < 2; half++, place += place_size(&arguments[i]))
            prepared->bound[i].places[half] = place;
        prepared->bound[i].owner = prepared;
    }
    return prepared;
}

static void take_arguments(yoke_prepared_launch_t *prepared,
                           const yoke_argument_t *arguments)
{
    for (size_t i = 0; i < prepared->count; i++) {
        yoke_argument_t *argument = &prepared->arguments[i];
        *argument = arguments[i];
        if (argument->kind != YOKE_ARGUMENT_VALUE)
            continue;
        memcpy(prepared->bound[i].places[0], argument->value, argument->size);
        argument->value = prepared->bound[i].places[0];
    }
}

static void bind_all(yoke_prepared_launch_t *prepared)
{
    for (size_t i = 0; i < prepared->count; i++)
        if (prepared->arguments[i].kind == YOKE_ARGUMENT_SPAN)
            rebind(prepared, i, prepared->arguments[i].span.buffer);
}

static yoke_status_t create(yoke_kernel_t *kernel, const yoke_launch_t *launch,
                            const yoke_argument_t *arguments, size_t count,
                            yoke_prepared_launch_t **out_prepared)
{
    yoke_device_t *device = kernel->object.device;
    yoke_prepared_launch_t *prepared = make_room(device, arguments, count);
    if (prepared == NULL)
        return YOKE_ERR_NO_MEMORY;
    prepared->kernel = kernel;
    prepared->launch = *launch;
    take_arguments(prepared, arguments);
    yoke_status_t status = yoke_device_answer(device, prepare(prepared));
    if (status != YOKE_OK) {
        yoke_object_discard(&prepared->object);
        return status;
    }
    atomic_fetch_add_explicit(&kernel->holds, 1, memory_order_relaxed);
    yoke_object_attach(&prepared->object);
    bind_all(prepared);
    *out_prepared = prepared;
    return YOKE_OK;
}

yoke_status_t yoke_prepared_launch_create(yoke_kernel_t *kernel,
                                          const yoke_launch_t *launch,
                                          const yoke_argument_t *arguments, size_t count,
                                          yoke_prepared_launch_t **out_prepared)
{
    static const char call[] = "yoke_prepared_launch_create";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(kernel), YOKE_OBJECT_KERNEL, call);
    if (status == YOKE_OK && out_prepared == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (status == YOKE_OK)
        status =
            yoke_validate_launch(kernel->object.device, launch, arguments, count, call);
    if (status == YOKE_OK) /* later arguments are of the same kind and size */
        status = yoke_validate_arguments(kernel, arguments, count, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&kernel->object);
    status = create(kernel, launch, arguments, count, out_prepared);
    yoke_trace_end(begin, kernel->object.device, call, status, "kernel=%s, arguments=%zu",
                   kernel->name, count);
    return status;
}

void yoke_prepared_launch_destroy(yoke_prepared_launch_t *prepared)
{
    static const char call[] = "yoke_prepared_launch_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(prepared), YOKE_OBJECT_PREPARED, call))
        return;
    yoke_kernel_t *kernel = prepared->kernel;
    uint64_t begin = yoke_trace_begin(&prepared->object);
    pthread_mutex_lock(&binding);
    for (size_t i = 0; i < prepared->count; i++)
        unbind(&prepared->bound[i]);
    pthread_mutex_unlock(&binding);
    unprepare(prepared);
    yoke_trace_end(begin, prepared->object.device, call, YOKE_OK,
                   "prepared=%p, kernel=%s", (void *)prepared, kernel->name);
    yoke_object_end(&prepared->object);
    yoke_kernel_release(kernel);
}

/* --- changing ------------------------------------------------------------------------
 */

static yoke_status_t check_change(const yoke_prepared_launch_t *prepared, size_t index,
                                  const yoke_argument_t *argument, const char *call)
{
    if (argument == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the argument is NULL", call);
    if (index >= prepared->count)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: no argument %zu: kernel %s was given %zu", call, index,
                         prepared->kernel->name, prepared->count);
    const yoke_argument_t *before = &prepared->arguments[index];
    if (argument->kind != before->kind)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: argument %zu of kernel %s is of kind %u, not %u", call,
                         index, prepared->kernel->name, before->kind, argument->kind);
    yoke_status_t status = yoke_validate_argument(
        prepared->object.device, index, argument, index + 1 == prepared->count, call);
    if (status == YOKE_OK && argument->kind == YOKE_ARGUMENT_VALUE &&
        argument->size != before->size)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: argument %zu of kernel %s has %u bytes, not %u", call,
                         index, prepared->kernel->name, before->size, argument->size);
    return status;
}

static yoke_status_t change(yoke_prepared_launch_t *prepared, size_t index,
                            const yoke_argument_t *given)
{
    const yoke_backend_ops_t *ops = prepared->object.ops;
    yoke_bound_t *bound = &prepared->bound[index];
    yoke_argument_t argument = *given;
    yoke_status_t status = YOKE_OK;
    /* The present value stays whole until the backend has taken the new one. */
    if (argument.kind == YOKE_ARGUMENT_VALUE)
        argument.value = memcpy(bound->places[1], given->value, given->size);
    if (ops->prepared_create != NULL)
        status = yoke_device_answer(
            prepared->object.device,
            ops->prepared_argument(prepared->object.impl.prepared, index, &argument));
    if (status != YOKE_OK)
        return status;
    if (argument.kind == YOKE_ARGUMENT_VALUE) {
        bound->places[1] = bound->places[0];
        bound->places[0] = (unsigned char *)(uintptr_t)argument.value;
    }
    if (argument.kind == YOKE_ARGUMENT_SPAN)
        rebind(prepared, index, argument.span.buffer);
    prepared->arguments[index] = argument;
    return YOKE_OK;
}

yoke_status_t yoke_prepared_launch_set_argument(yoke_prepared_launch_t *prepared,
                                                size_t index,
                                                const yoke_argument_t *argument)
{
    static const char call[] = "yoke_prepared_launch_set_argument";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(prepared), YOKE_OBJECT_PREPARED, call);
    if (status == YOKE_OK)
        status = check_change(prepared, index, argument, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&prepared->object);
    status = change(prepared, index, argument);
    yoke_trace_end(begin, prepared->object.device, call, status,
                   "kernel=%s, argument=%zu", prepared->kernel->name, index);
    return status;
}

yoke_status_t yoke_prepared_launch_set_geometry(yoke_prepared_launch_t *prepared,
                                                const yoke_launch_t *launch)
{
    static const char call[] = "yoke_prepared_launch_set_geometry";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(prepared), YOKE_OBJECT_PREPARED, call);
    if (status == YOKE_OK)
        status = yoke_validate_geometry(prepared->object.device, launch, call);
    if (status != YOKE_OK)
        return status;
    uint64_t begin = yoke_trace_begin(&prepared->object);
    const yoke_backend_ops_t *ops = prepared->object.ops;
    if (ops->prepared_create != NULL)
        status = yoke_device_answer(
            prepared->object.device,
            ops->prepared_geometry(prepared->object.impl.prepared, launch));
    if (status == YOKE_OK)
        prepared->launch = *launch;
    yoke_trace_end(begin, prepared->object.device, call, status,
                   "kernel=%s, groups=%ux%ux%u, local=%ux%ux%u", prepared->kernel->name,
                   launch->groups[0], launch->groups[1], launch->groups[2],
                   launch->local[0], launch->local[1], launch->local[2]);
    return status;
}
