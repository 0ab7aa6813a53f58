/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix product: by the vendor's library where there is one, else by our kernel. */

#include "base/error.h"
#include "hal/kernels/operator.h"
#include "hal/live/object.h"

/* The caller's description with every default filled in. */
static yoke_impl_gemm_t fill_in(const yoke_gemm_t *gemm)
{
    yoke_impl_gemm_t g = {.element = gemm->element,
                          .output = gemm->output,
                          .transpose_a = gemm->transpose_a != 0,
                          .transpose_b = gemm->transpose_b != 0,
                          .m = gemm->m,
                          .n = gemm->n,
                          .k = gemm->k,
                          .lda = gemm->lda,
                          .ldb = gemm->ldb,
                          .ldc = gemm->ldc,
                          .batch = gemm->batch == 0 ? 1 : gemm->batch,
                          .stride_a = gemm->stride_a,
                          .stride_b = gemm->stride_b,
                          .stride_c = gemm->stride_c,
                          .alpha = gemm->alpha,
                          .beta = gemm->beta,
                          .a = {yoke_backend_buffer(gemm->a.buffer), gemm->a.offset},
                          .b = {yoke_backend_buffer(gemm->b.buffer), gemm->b.offset},
                          .c = {yoke_backend_buffer(gemm->c.buffer), gemm->c.offset}};
    if (g.lda == 0)
        g.lda = g.transpose_a ? g.m : g.k;
    if (g.ldb == 0)
        g.ldb = g.transpose_b ? g.k : g.n;
    if (g.ldc == 0)
        g.ldc = g.n;
    return g;
}

/* A stored matrix of a batch as an operand: to the end of its last row. */
static void matrix(yoke_call_t *call, const char *argument, yoke_span_t span,
                   uint64_t rows, uint64_t columns, uint64_t pitch, uint64_t batch,
                   uint64_t stride, uint32_t size, uint32_t access)
{
    if (rows == 0 || columns == 0) {
        yoke_call_operand(call, argument, span, 0, size, access);
        return;
    }
    if (pitch < columns)
        yoke_call_refuse(call, YOKE_ERR_USAGE,
                         "rows of %s have %llu elements and begin every %llu", argument,
                         (unsigned long long)columns, (unsigned long long)pitch);
    uint64_t end = yoke_call_product(call, rows - 1, pitch);
    uint64_t last = yoke_call_product(call, batch - 1, stride);
    if (__builtin_add_overflow(end, last, &end) ||
        __builtin_add_overflow(end, columns, &end))
        yoke_call_refuse(call, YOKE_ERR_OUT_OF_RANGE, "%s passes its buffer's end",
                         argument);
    yoke_call_operand(call, argument, span, end, size, access);
}

/* YOKE_ERR_UNSUPPORTED, untold: the library does not take these types. */
static yoke_status_t by_vendor(yoke_call_t *call, const yoke_impl_gemm_t *g)
{
    const yoke_object_t *queue = &call->queue->object;
    uint32_t bit = 1u << (g->element + (g->output == g->element ? 0 : 16));
    if ((call->operators->no_gemm & bit) != 0)
        return YOKE_ERR_UNSUPPORTED;
    yoke_status_t status = yoke_object_check(queue, YOKE_OBJECT_QUEUE, "yoke_op_gemm");
    if (status != YOKE_OK)
        return status;
    status = queue->ops->gemm(queue->impl.queue, g);
    if (status == YOKE_ERR_UNSUPPORTED) {
        call->operators->no_gemm |= bit;
        return status;
    }
    return yoke_device_answer(queue->device, status);
}

static void gather(yoke_call_t *call, const yoke_gemm_t *gemm, const yoke_impl_gemm_t *g)
{
    uint32_t size = (uint32_t)yoke_element_size(gemm->element);
    matrix(call, "a", gemm->a, g->transpose_a ? g->k : g->m, g->transpose_a ? g->m : g->k,
           g->lda, g->batch, g->stride_a, size, YOKE_OP_READ);
    matrix(call, "b", gemm->b, g->transpose_b ? g->n : g->k, g->transpose_b ? g->k : g->n,
           g->ldb, g->batch, g->stride_b, size, YOKE_OP_READ);
    matrix(call, "c", gemm->c, g->m, g->n, g->ldc, g->batch, g->stride_c,
           (uint32_t)yoke_element_size(gemm->output), YOKE_OP_READ | YOKE_OP_WRITE);
    const uint64_t sizes[] = {g->m,   g->n,     g->k,        g->lda,      g->ldb,
                              g->ldc, g->batch, g->stride_a, g->stride_b, g->stride_c};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        yoke_call_u64(call, sizes[i]);
    yoke_call_u32(call, (g->transpose_a ? 1u : 0u) | (g->transpose_b ? 2u : 0u) |
                            (gemm->output == YOKE_ELEMENT_F32 ? 4u : 0u));
    yoke_call_number(call, g->alpha);
    yoke_call_number(call, g->beta);
}

yoke_status_t yoke_op_gemm(yoke_operators_t *operators, yoke_queue_t *queue,
                           const yoke_gemm_t *gemm)
{
    if (gemm == NULL || gemm->struct_size < sizeof *gemm)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_op_gemm: %s",
                         gemm == NULL ? "gemm is NULL"
                                      : "struct_size is below sizeof(yoke_gemm_t)");
    yoke_call_t call = yoke_call_begin(operators, queue, "gemm", gemm->element);
    if (call.status != YOKE_OK)
        return call.status;
    if (gemm->output != gemm->element && gemm->output != YOKE_ELEMENT_F32)
        yoke_call_refuse(
            &call, YOKE_ERR_UNSUPPORTED, "output of %s is %s%s, not %s",
            yoke_element_name(gemm->element), yoke_element_name(gemm->element),
            gemm->element == YOKE_ELEMENT_F32 ? "" : " or f32",
            yoke_element_name(gemm->output) == NULL ? "an element type that is none"
                                                    : yoke_element_name(gemm->output));
    if (call.status != YOKE_OK)
        return call.status;
    yoke_impl_gemm_t g = fill_in(gemm);
    gather(&call, gemm, &g);
    if (call.status != YOKE_OK || g.m == 0 || g.n == 0)
        return call.status;
    if (call.route == YOKE_ROUTE_VENDOR) {
        yoke_status_t status = g.k == 0 ? YOKE_ERR_UNSUPPORTED : by_vendor(&call, &g);
        if (status != YOKE_ERR_UNSUPPORTED)
            return status;
        call.route = yoke_operators_portable(operators, gemm->element);
    }
    uint64_t tiles = (g.m / 32 + 1) * (g.n / 32 + 1) * g.batch;
    return yoke_call_run(&call, YOKE_OP_GEMM, YOKE_SHAPE_ROWS, tiles);
}
