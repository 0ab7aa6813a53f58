/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on vectors: elementwise, folds, and those of compression. */

#include <stddef.h>
#include "base/error.h"
#include "hal/kernels/operator_host.h"
#include "hal/live/object.h"

static uint32_t size_of(yoke_element_t element)
{
    return (uint32_t)yoke_element_size(element);
}

yoke_status_t yoke_op_fill(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t dst, double value,
                           uint64_t count)
{
    unsigned char pattern[8];
    yoke_call_t call = yoke_call_begin(operators, queue, "fill", element);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "dst", dst, count, size_of(element), YOKE_OP_WRITE);
    if (call.status != YOKE_OK || count == 0)
        return call.status;
    yoke_host_element(element, value, pattern);
    return yoke_queue_fill(queue, dst, pattern, size_of(element),
                           count * size_of(element));
}

yoke_status_t yoke_op_convert(yoke_operators_t *operators, yoke_queue_t *queue,
                              yoke_element_t to, yoke_span_t dst, yoke_element_t from,
                              yoke_span_t src, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "convert", to);
    if (call.status == YOKE_OK && (unsigned)from >= YOKE_ELEMENT_COUNT)
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED, "element type %d is none",
                         (int)from);
    if (call.status != YOKE_OK)
        return call.status;
    if (from == YOKE_ELEMENT_F64 && (operators->info.capabilities & YOKE_CAP_FP64) == 0)
        call.route = YOKE_ROUTE_HOST;
    yoke_call_operand(&call, "dst", dst, count, size_of(to), YOKE_OP_WRITE);
    yoke_call_operand(&call, "src", src, count, size_of(from), YOKE_OP_READ);
    yoke_call_u64(&call, count);
    yoke_call_u32(&call, (uint32_t)from);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_CONVERT, YOKE_SHAPE_PIECES, count);
}

yoke_status_t yoke_op_axpy(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, double alpha, yoke_span_t x,
                           yoke_span_t y, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "axpy", element);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "x", x, count, size_of(element), YOKE_OP_READ);
    yoke_call_operand(&call, "y", y, count, size_of(element),
                      YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_u64(&call, count);
    yoke_call_number(&call, alpha);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_AXPY, YOKE_SHAPE_PIECES, count);
}

yoke_status_t yoke_op_scale(yoke_operators_t *operators, yoke_queue_t *queue,
                            yoke_element_t element, double alpha, uint64_t divisor,
                            yoke_span_t x, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "scale", element);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "x", x, count, size_of(element),
                      YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_u64(&call, count);
    yoke_call_number(&call, alpha);
    yoke_call_u64(&call, divisor);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_SCALE, YOKE_SHAPE_PIECES, count);
}

/* YOKE_ERR_UNSUPPORTED, untold: the vendor has no such reduction, and is not asked again.
 */
static yoke_status_t reduce_by_vendor(yoke_call_t *call, yoke_reduction_t op,
                                      uint64_t count)
{
    yoke_operators_t *operators = call->operators;
    const yoke_object_t *queue = &call->queue->object;
    uint64_t bit = UINT64_C(1) << ((unsigned)call->element * YOKE_REDUCTION_COUNT + op);
    yoke_impl_span_t spans[3];
    if ((operators->no_reduce & bit) != 0)
        return YOKE_ERR_UNSUPPORTED;
    yoke_status_t status = yoke_object_check(queue, YOKE_OBJECT_QUEUE, "yoke_op_reduce");
    if (status != YOKE_OK)
        return status;
    for (int i = 0; i < 3; i++)
        spans[i] = (yoke_impl_span_t){yoke_backend_buffer(call->operand[i].span.buffer),
                                      call->operand[i].span.offset};
    status = queue->ops->reduce(queue->impl.queue, call->element, op, spans[0], spans[1],
                                spans[2], count);
    if (status == YOKE_ERR_UNSUPPORTED) {
        operators->no_reduce |= bit;
        return status;
    }
    return yoke_device_answer(queue->device, status);
}

_Static_assert(YOKE_ELEMENT_COUNT *YOKE_REDUCTION_COUNT <= 64, "bits of no_reduce");

yoke_status_t yoke_op_reduce(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_reduction_t op, yoke_span_t dst,
                             yoke_span_t a, yoke_span_t b, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "reduce", element);
    if ((unsigned)op >= YOKE_REDUCTION_COUNT)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "reduction %d is none", (int)op);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "dst", dst, count, size_of(element), YOKE_OP_WRITE);
    yoke_call_operand(&call, "a", a, count, size_of(element), YOKE_OP_READ);
    yoke_call_operand(&call, "b", b, count, size_of(element), YOKE_OP_READ);
    yoke_call_u64(&call, count);
    yoke_call_u32(&call, (uint32_t)op);
    if (call.status != YOKE_OK || count == 0)
        return call.status;
    if (call.route == YOKE_ROUTE_VENDOR) {
        yoke_status_t status = reduce_by_vendor(&call, op, count);
        if (status != YOKE_ERR_UNSUPPORTED)
            return status;
        call.route = YOKE_ROUTE_HOST;
    }
    return yoke_call_run(&call, YOKE_OP_REDUCE, YOKE_SHAPE_PIECES, count);
}

/* --- folds
 * ------------------------------------------------------------------------------ */

#define FOLD_SCRATCH (64 * 1024)
#define FOLD_PARTS 1024
#define FOLD_CHUNK 8192
#define FOLD_SQUARES 5 /* beside yoke_reduction_t */

/* What a fold's result is, for the last kernel. */
typedef enum fold_kind { FOLD_WIDE = 0, FOLD_ELEMENT = 1, FOLD_F32 = 2 } fold_kind_t;

static uint32_t wide_size(yoke_element_t element)
{
    return element >= YOKE_ELEMENT_F32 && element <= YOKE_ELEMENT_F8E5M2 ? 4 : 8;
}

/* Parts depend on the count alone, so that the order of a sum does too. */
static yoke_status_t fold(yoke_call_t *call, uint32_t op, fold_kind_t kind,
                          yoke_span_t dst, yoke_span_t src, uint64_t count,
                          yoke_span_t scratch)
{
    uint32_t size = kind == FOLD_F32       ? 4
                    : kind == FOLD_ELEMENT ? size_of(call->element)
                                           : wide_size(call->element);
    uint32_t part_size = wide_size(call->element);
    uint64_t chunk = count / FOLD_PARTS + 1;
    chunk = chunk < FOLD_CHUNK ? FOLD_CHUNK : (chunk + 15) / 16 * 16;
    uint64_t parts = count / chunk + (count % chunk != 0);
    if (call->status != YOKE_OK)
        return call->status;
    yoke_call_operand(call, "dst", dst, 1, size, YOKE_OP_WRITE);
    yoke_call_operand(call, "scratch", scratch, FOLD_SCRATCH / 8, 8, YOKE_OP_WRITE);
    if (call->status == YOKE_OK && count == 0) {
        const uint64_t zero = 0;
        return yoke_queue_fill(call->queue, dst, &zero, size, size);
    }
    yoke_call_again(call);
    yoke_call_operand(call, "src", src, count, size_of(call->element), YOKE_OP_READ);
    yoke_call_operand(call, "scratch", scratch, parts, part_size, YOKE_OP_WRITE);
    yoke_call_u64(call, count);
    yoke_call_u64(call, chunk);
    yoke_call_u32(call, op);
    yoke_status_t status = yoke_call_run(call, YOKE_OP_FOLD_PART, YOKE_SHAPE_ROWS, parts);
    if (status != YOKE_OK)
        return status;
    yoke_call_again(call);
    yoke_call_operand(call, "scratch", scratch, parts, part_size, YOKE_OP_READ);
    yoke_call_operand(call, "dst", dst, 1, size, YOKE_OP_WRITE);
    yoke_call_u64(call, parts);
    yoke_call_u32(call, op);
    yoke_call_u32(call, kind);
    return yoke_call_run(call, YOKE_OP_FOLD_END, YOKE_SHAPE_ONE, parts);
}

yoke_status_t yoke_op_fold(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_reduction_t op, yoke_span_t dst,
                           yoke_span_t src, uint64_t count, yoke_span_t scratch)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "fold", element);
    if ((unsigned)op >= YOKE_REDUCTION_COUNT)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "reduction %d is none", (int)op);
    else if (op == YOKE_REDUCE_PROD || op == YOKE_REDUCE_AVG)
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED,
                         "takes sum, max and min, not %s; scale a sum for an average",
                         yoke_reduction_name(op));
    else if (count == 0 && op != YOKE_REDUCE_SUM)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "the %s of no elements is nothing",
                         yoke_reduction_name(op));
    return fold(&call, (uint32_t)op, op == YOKE_REDUCE_SUM ? FOLD_WIDE : FOLD_ELEMENT,
                dst, src, count, scratch);
}

yoke_status_t yoke_op_square_sum(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                                 uint64_t count, yoke_span_t scratch)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "norm", element);
    return fold(&call, FOLD_SQUARES, FOLD_F32, dst, src, count, scratch);
}

/* --- compression
 * ------------------------------------------------------------------------ */

#define SELECT_BLOCK 256

static yoke_status_t select_write(yoke_call_t *call, yoke_span_t x, uint64_t count,
                                  float threshold, yoke_span_t indices,
                                  yoke_span_t values, uint32_t capacity,
                                  yoke_span_t scratch)
{
    uint64_t blocks = (count + SELECT_BLOCK - 1) / SELECT_BLOCK;
    uint64_t kept = capacity < count ? capacity : count;
    yoke_call_again(call);
    yoke_call_operand(call, "x", x, count, 4, YOKE_OP_READ);
    yoke_call_operand(call, "scratch", scratch, blocks, 4, YOKE_OP_READ);
    yoke_call_operand(call, "indices", indices, kept, 4, YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_operand(call, "values", values, kept, 4, YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_u64(call, count);
    yoke_call_f32(call, threshold);
    yoke_call_u32(call, capacity);
    return yoke_call_run(call, YOKE_OP_SELECT_WRITE, YOKE_SHAPE_ROWS, blocks);
}

yoke_status_t yoke_op_select(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_span_t x, uint64_t count, float threshold,
                             yoke_span_t indices, yoke_span_t values, yoke_span_t found,
                             uint32_t capacity, yoke_span_t scratch)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "select", YOKE_ELEMENT_F32);
    uint64_t blocks = count / SELECT_BLOCK + (count % SELECT_BLOCK != 0);
    if (count > UINT32_MAX)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "count %llu is not below 2^32",
                         (unsigned long long)count);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "indices", indices, capacity < count ? capacity : count, 4,
                      YOKE_OP_WRITE);
    yoke_call_operand(&call, "values", values, capacity < count ? capacity : count, 4,
                      YOKE_OP_WRITE);
    yoke_call_operand(&call, "found", found, 1, 4, YOKE_OP_WRITE);
    yoke_call_operand(&call, "scratch", scratch, count / SELECT_BLOCK + 2, 4,
                      YOKE_OP_WRITE);
    if (call.status == YOKE_OK && count == 0) {
        const uint32_t zero = 0;
        return yoke_queue_fill(queue, found, &zero, 4, 4);
    }
    yoke_call_again(&call);
    yoke_call_operand(&call, "x", x, count, 4, YOKE_OP_READ);
    yoke_call_operand(&call, "scratch", scratch, blocks, 4, YOKE_OP_WRITE);
    yoke_call_u64(&call, count);
    yoke_call_f32(&call, threshold);
    yoke_status_t status =
        yoke_call_run(&call, YOKE_OP_SELECT_COUNT, YOKE_SHAPE_ROWS, blocks);
    if (status != YOKE_OK)
        return status;
    yoke_call_again(&call);
    yoke_call_operand(&call, "scratch", scratch, blocks, 4, YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_operand(&call, "found", found, 1, 4, YOKE_OP_WRITE);
    yoke_call_u64(&call, blocks);
    status = yoke_call_run(&call, YOKE_OP_SELECT_PLACE, YOKE_SHAPE_ONE, blocks);
    if (status != YOKE_OK)
        return status;
    return select_write(&call, x, count, threshold, indices, values, capacity, scratch);
}

/* How many elements of the indexed operand a call may touch: on the device all to the
 * buffer's end; where it is staged, those up to the largest index. */
static uint64_t indexed_extent(yoke_call_t *call, yoke_span_t indexed,
                               yoke_span_t indices, uint64_t count)
{
    uint64_t extent = yoke_call_room(&indexed, size_of(call->element));
    if (call->status == YOKE_OK && call->route == YOKE_ROUTE_HOST && count > 0)
        call->status = yoke_host_largest(call, indices, count, extent, &extent);
    return extent;
}

yoke_status_t yoke_op_pack(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                           yoke_span_t indices, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "pack", element);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "indices", indices, count, 4, YOKE_OP_READ);
    uint64_t extent = indexed_extent(&call, src, indices, count);
    yoke_call_again(&call);
    yoke_call_operand(&call, "dst", dst, count, size_of(element), YOKE_OP_WRITE);
    yoke_call_operand(&call, "src", src, extent, size_of(element), YOKE_OP_READ);
    yoke_call_operand(&call, "indices", indices, count, 4, YOKE_OP_READ);
    yoke_call_u64(&call, count);
    yoke_call_u64(&call, extent);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_PACK, YOKE_SHAPE_ELEMENTS, count);
}

yoke_status_t yoke_op_unpack(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                             yoke_span_t indices, uint64_t count, bool add)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "unpack", element);
    if (add && (element == YOKE_ELEMENT_I8 || element == YOKE_ELEMENT_U8))
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED, "does not add to %s",
                         yoke_element_name(element));
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "indices", indices, count, 4, YOKE_OP_READ);
    uint64_t extent = indexed_extent(&call, dst, indices, count);
    yoke_call_again(&call);
    yoke_call_operand(&call, "dst", dst, extent, size_of(element),
                      YOKE_OP_READ | YOKE_OP_WRITE);
    yoke_call_operand(&call, "src", src, count, size_of(element), YOKE_OP_READ);
    yoke_call_operand(&call, "indices", indices, count, 4, YOKE_OP_READ);
    yoke_call_u64(&call, count);
    yoke_call_u64(&call, extent);
    yoke_call_u32(&call, add ? 1 : 0);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_UNPACK, YOKE_SHAPE_ELEMENTS, count);
}
