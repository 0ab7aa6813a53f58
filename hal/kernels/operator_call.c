/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of an operator: its arguments are checked as they are gathered, then it is
 * launched. Nothing is allocated here once the kernel is compiled.
 */

#include <stdarg.h>
#include <stdio.h>
#include "base/error.h"
#include "base/text.h"
#include "hal/kernels/operator_host.h"

void yoke_call_refuse(yoke_call_t *call, yoke_status_t status, const char *format, ...)
{
    char text[256];
    va_list args;
    if (call->status != YOKE_OK)
        return;
    va_start(args, format);
    yoke_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    call->status = yoke_fail(status, "yoke_op_%s: %s", call->name, text);
}

static bool is_plain(const yoke_object_t *object)
{
    return object != NULL && yoke_object_flags(object) == 0;
}

/* A lost device's queue refuses by itself. */
static yoke_status_t check_handles(const yoke_operators_t *operators,
                                   const yoke_queue_t *queue, const char *name)
{
    char call[64];
    yoke_snprintf(call, sizeof call, "yoke_op_%s", name);
    yoke_status_t status =
        yoke_object_check_alive(YOKE_OBJECT(operators), YOKE_OBJECT_OPERATORS, call);
    if (status == YOKE_OK)
        status = yoke_object_check_alive(YOKE_OBJECT(queue), YOKE_OBJECT_QUEUE, call);
    return status;
}

yoke_call_t yoke_call_begin(yoke_operators_t *operators, yoke_queue_t *queue,
                            const char *name, yoke_element_t element)
{
    yoke_call_t call = {
        .operators = operators, .queue = queue, .name = name, .element = element};
    if (YOKE_UNLIKELY(!is_plain(YOKE_OBJECT(operators)) ||
                      !is_plain(YOKE_OBJECT(queue)))) {
        call.status = check_handles(operators, queue, name);
        if (call.status != YOKE_OK)
            return call;
    }
    if (yoke_queue_device(queue) != operators->device)
        yoke_call_refuse(&call, YOKE_ERR_USAGE,
                         "the queue is of another device than the operators");
    if ((unsigned)element >= YOKE_ELEMENT_COUNT) {
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED, "element type %d is none",
                         (int)element);
        return call;
    }
    call.route = yoke_operators_route(operators, name, element);
    if (call.route == YOKE_ROUTE_NONE)
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED, "does not take %s",
                         yoke_element_name(element));
    return call;
}

void yoke_call_again(yoke_call_t *call)
{
    call->operand_count = 0;
    call->scalar_count = 0;
}

uint64_t yoke_call_product(yoke_call_t *call, uint64_t a, uint64_t b)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        yoke_call_refuse(call, YOKE_ERR_OUT_OF_RANGE,
                         "%llu times %llu elements pass every buffer's end",
                         (unsigned long long)a, (unsigned long long)b);
        return 0;
    }
    return product;
}

uint64_t yoke_call_room(const yoke_span_t *span, uint32_t size)
{
    uint64_t end = yoke_buffer_size(span->buffer);
    return span->offset > end ? 0 : (end - span->offset) / size;
}

void yoke_call_operand(yoke_call_t *call, const char *argument, yoke_span_t span,
                       uint64_t count, uint32_t size, uint32_t access)
{
    if (call->status != YOKE_OK)
        return;
    if (span.buffer == NULL) {
        yoke_call_refuse(call, YOKE_ERR_USAGE, "%s has no buffer", argument);
        return;
    }
    if (span.offset % size != 0) {
        yoke_call_refuse(call, YOKE_ERR_USAGE,
                         "offset %llu of %s is not a multiple of its element, %u bytes",
                         (unsigned long long)span.offset, argument, (unsigned)size);
        return;
    }
    if (count > yoke_call_room(&span, size)) {
        yoke_call_refuse(call, YOKE_ERR_OUT_OF_RANGE,
                         "%s needs %llu elements of %u bytes from offset %llu, and its "
                         "buffer has %llu bytes",
                         argument, (unsigned long long)count, (unsigned)size,
                         (unsigned long long)span.offset,
                         (unsigned long long)yoke_buffer_size(span.buffer));
        return;
    }
    call->operand[call->operand_count++] =
        (yoke_operand_t){span, count * size, size, access};
}

void yoke_call_absent(yoke_call_t *call)
{
    if (call->status == YOKE_OK)
        call->operand[call->operand_count++] = (yoke_operand_t){{NULL, 0}, 0, 1, 0};
}

static void add_scalar(yoke_call_t *call, yoke_scalar_value_t value, uint32_t size)
{
    if (call->status == YOKE_OK)
        call->scalar[call->scalar_count++] = (yoke_scalar_t){value, size};
}

void yoke_call_u32(yoke_call_t *call, uint32_t value)
{
    add_scalar(call, (yoke_scalar_value_t){.u32 = value}, sizeof value);
}

void yoke_call_u64(yoke_call_t *call, uint64_t value)
{
    add_scalar(call, (yoke_scalar_value_t){.u64 = value}, sizeof value);
}

void yoke_call_f32(yoke_call_t *call, float value)
{
    add_scalar(call, (yoke_scalar_value_t){.f32 = value}, sizeof value);
}

void yoke_call_number(yoke_call_t *call, double value)
{
    yoke_scalar_value_t number = {.f64 = value};
    if (call->element == YOKE_ELEMENT_F64) {
        add_scalar(call, number, sizeof value);
        return;
    }
    if (call->element <= YOKE_ELEMENT_F8E5M2) {
        yoke_call_f32(call, (float)value);
        return;
    }
    /* Low bits decide, since integers wrap. */
    yoke_host_element(value < 0 ? YOKE_ELEMENT_I64 : YOKE_ELEMENT_U64, value,
                      &number.u64);
    if (call->element >= YOKE_ELEMENT_I64)
        yoke_call_u64(call, number.u64);
    else
        yoke_call_u32(call, (uint32_t)number.u64);
}

/* --- launch ---------------------------------------------------------------------------
 */

/* Elements for one item of a CPU, and for one of a group. */
#define GRAIN_ALONE 4096
#define GRAIN_SHARED 4

static yoke_launch_t shape_launch(const yoke_operators_t *operators,
                                  yoke_op_shape_t shape, uint64_t work)
{
    uint64_t units =
        operators->info.compute_units == 0 ? 1 : operators->info.compute_units;
    bool alone = operators->group == 0;
    uint64_t grain = alone ? GRAIN_ALONE : (uint64_t)GRAIN_SHARED * operators->group;
    uint64_t most = units * (alone ? 4 : 16);
    uint64_t groups = shape == YOKE_SHAPE_ONE    ? 1
                      : shape == YOKE_SHAPE_ROWS ? work
                                                 : work / grain + (work % grain != 0);
    if (groups > most)
        groups = most;
    if (operators->info.max_groups[0] > 0 && groups > operators->info.max_groups[0])
        groups = operators->info.max_groups[0];
    return (yoke_launch_t){{groups == 0 ? 1 : (uint32_t)groups, 1, 1},
                           {alone ? 1 : operators->group, 1, 1}};
}

static yoke_status_t launch(yoke_call_t *call, yoke_kernel_t *kernel,
                            const yoke_launch_t *shape)
{
    yoke_argument_t arguments[2 * YOKE_OP_MAX_OPERANDS + YOKE_OP_MAX_SCALARS];
    uint64_t starts[YOKE_OP_MAX_OPERANDS];
    size_t count = 0;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const yoke_operand_t *operand = &call->operand[i];
        bool absent = operand->span.buffer == NULL;
        starts[i] = operand->span.offset / operand->size;
        arguments[count++] = yoke_argument_span(
            absent ? call->operand[0].span.buffer : operand->span.buffer, 0);
        arguments[count++] = yoke_argument_value(&starts[i], sizeof starts[i]);
    }
    for (uint32_t i = 0; i < call->scalar_count; i++)
        arguments[count++] =
            yoke_argument_value(&call->scalar[i].value, call->scalar[i].size);
    return yoke_kernel_launch(call->queue, kernel, shape, arguments, count);
}

_Static_assert(2 * YOKE_OP_MAX_OPERANDS + YOKE_OP_MAX_SCALARS <= YOKE_MAX_ARGUMENTS,
               "arguments of a launch");

yoke_status_t yoke_call_run(yoke_call_t *call, yoke_op_kernel_t kernel,
                            yoke_op_shape_t shape, uint64_t work)
{
    yoke_operators_t *operators = call->operators;
    if (call->status != YOKE_OK)
        return call->status;
    if (call->route == YOKE_ROUTE_KERNEL) {
        yoke_kernel_t *compiled;
        yoke_status_t status =
            yoke_operators_kernel(operators, kernel, call->element, &compiled);
        if (status == YOKE_OK) {
            yoke_launch_t launched = shape_launch(operators, shape, work);
            return launch(call, compiled, &launched);
        }
        if (!operators->no_compiler)
            return status;
        call->route = YOKE_ROUTE_HOST;
    }
    return shape == YOKE_SHAPE_PIECES ? yoke_call_in_pieces(call, kernel)
                                      : yoke_call_on_host(call, kernel);
}
