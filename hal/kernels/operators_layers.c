/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of neural networks that are not matrix products. */

#include <math.h>
#include "base/error.h"
#include "hal/kernels/operator.h"

#define READ YOKE_OP_READ
#define WRITE YOKE_OP_WRITE
#define BOTH (YOKE_OP_READ | YOKE_OP_WRITE)

static uint32_t size_of(yoke_element_t element)
{
    return (uint32_t)yoke_element_size(element);
}

/* Begin, and the number of elements of a matrix of the call; 0 when it was refused. */
static yoke_call_t begin(yoke_operators_t *operators, yoke_queue_t *queue,
                         const char *name, yoke_element_t element, uint64_t rows,
                         uint64_t columns, uint64_t *out_count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, name, element);
    *out_count = call.status == YOKE_OK ? yoke_call_product(&call, rows, columns) : 0;
    return call;
}

static void need_columns(yoke_call_t *call, uint64_t rows, uint64_t columns)
{
    if (rows > 0 && columns == 0)
        yoke_call_refuse(call, YOKE_ERR_USAGE, "rows of no columns");
}

static yoke_status_t run_rows(yoke_call_t *call, yoke_op_kernel_t kernel, uint64_t rows,
                              uint64_t columns)
{
    if (rows == 0 || columns == 0)
        return call->status;
    return yoke_call_run(call, kernel, YOKE_SHAPE_ROWS, rows);
}

static yoke_status_t run_elements(yoke_call_t *call, yoke_op_kernel_t kernel,
                                  uint64_t count)
{
    if (count == 0)
        return call->status;
    return yoke_call_run(call, kernel, YOKE_SHAPE_PIECES, count);
}

/* --- sums of columns, biases ---------------------------------------------------------
 */

static yoke_status_t column_sum(yoke_call_t *call, const char *to, yoke_span_t dst,
                                const char *from, yoke_span_t src, uint64_t rows,
                                uint64_t columns, bool add)
{
    uint64_t count = yoke_call_product(call, rows, columns);
    yoke_call_operand(call, to, dst, columns, 4, add ? BOTH : WRITE);
    yoke_call_operand(call, from, src, count, size_of(call->element), READ);
    yoke_call_u64(call, rows);
    yoke_call_u64(call, columns);
    yoke_call_u32(call, add ? 1 : 0);
    if (columns == 0 || (rows == 0 && add))
        return call->status;
    return yoke_call_run(call, YOKE_OP_COLUMN_SUM, YOKE_SHAPE_ROWS, columns / 16 + 1);
}

yoke_status_t yoke_op_column_sum(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                                 uint64_t rows, uint64_t columns, bool add)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "column_sum", element);
    if (call.status != YOKE_OK)
        return call.status;
    return column_sum(&call, "dst", dst, "src", src, rows, columns, add);
}

yoke_status_t yoke_op_bias(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t x, yoke_span_t bias,
                           uint64_t rows, uint64_t columns)
{
    uint64_t count;
    yoke_call_t call = begin(operators, queue, "bias", element, rows, columns, &count);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "x", x, count, size_of(element), BOTH);
    yoke_call_operand(&call, "bias", bias, columns, size_of(element), READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    return run_rows(&call, YOKE_OP_BIAS, rows, columns);
}

/* --- softmax and losses --------------------------------------------------------------
 */

yoke_status_t yoke_op_softmax(yoke_operators_t *operators, yoke_queue_t *queue,
                              yoke_element_t element, yoke_span_t y, yoke_span_t x,
                              uint64_t rows, uint64_t columns, float scale, bool causal,
                              uint64_t queries)
{
    uint64_t count;
    yoke_call_t call = begin(operators, queue, "softmax", element, rows, columns, &count);
    if (causal && (queries == 0 || rows % queries != 0))
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "%llu rows are no blocks of %llu queries",
                         (unsigned long long)rows, (unsigned long long)queries);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "y", y, count, size_of(element), WRITE);
    yoke_call_operand(&call, "x", x, count, size_of(element), READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    yoke_call_f32(&call, scale);
    yoke_call_u64(&call, causal ? queries : 0);
    return run_rows(&call, YOKE_OP_SOFTMAX, rows, columns);
}

yoke_status_t yoke_op_softmax_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                       yoke_element_t element, yoke_span_t dx,
                                       yoke_span_t y, yoke_span_t dy, uint64_t rows,
                                       uint64_t columns, float scale)
{
    uint64_t count;
    yoke_call_t call =
        begin(operators, queue, "softmax_backward", element, rows, columns, &count);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "dx", dx, count, size_of(element), WRITE);
    yoke_call_operand(&call, "y", y, count, size_of(element), READ);
    yoke_call_operand(&call, "dy", dy, count, size_of(element), READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    yoke_call_f32(&call, scale);
    return run_rows(&call, YOKE_OP_SOFTMAX_BACKWARD, rows, columns);
}

yoke_status_t yoke_op_cross_entropy(yoke_operators_t *operators, yoke_queue_t *queue,
                                    yoke_element_t element, yoke_span_t loss,
                                    yoke_span_t dlogits, yoke_span_t logits,
                                    yoke_span_t targets, uint64_t rows, uint64_t columns,
                                    float scale)
{
    uint64_t count;
    yoke_call_t call =
        begin(operators, queue, "cross_entropy", element, rows, columns, &count);
    need_columns(&call, rows, columns);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "loss", loss, rows, 4, WRITE);
    if (dlogits.buffer == NULL)
        yoke_call_absent(&call);
    else
        yoke_call_operand(&call, "dlogits", dlogits, count, size_of(element), WRITE);
    yoke_call_operand(&call, "logits", logits, count, size_of(element), READ);
    yoke_call_operand(&call, "targets", targets, rows, 4, READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    yoke_call_f32(&call, scale);
    yoke_call_u32(&call, dlogits.buffer != NULL);
    return run_rows(&call, YOKE_OP_CROSS_ENTROPY, rows, columns);
}

/* --- norms ---------------------------------------------------------------------------
 */

yoke_status_t yoke_op_layer_norm(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t y, yoke_span_t mean,
                                 yoke_span_t rstd, yoke_span_t x, yoke_span_t weight,
                                 yoke_span_t bias, uint64_t rows, uint64_t columns,
                                 float epsilon)
{
    uint64_t count;
    uint32_t size = size_of(element);
    yoke_call_t call =
        begin(operators, queue, "layer_norm", element, rows, columns, &count);
    need_columns(&call, rows, columns);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "y", y, count, size, WRITE);
    yoke_call_operand(&call, "mean", mean, rows, 4, WRITE);
    yoke_call_operand(&call, "rstd", rstd, rows, 4, WRITE);
    yoke_call_operand(&call, "x", x, count, size, READ);
    yoke_call_operand(&call, "weight", weight, columns, size, READ);
    yoke_call_operand(&call, "bias", bias, columns, size, READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    yoke_call_f32(&call, epsilon);
    return run_rows(&call, YOKE_OP_LAYER_NORM, rows, columns);
}

yoke_status_t yoke_op_rms_norm(yoke_operators_t *operators, yoke_queue_t *queue,
                               yoke_element_t element, yoke_span_t y, yoke_span_t rstd,
                               yoke_span_t x, yoke_span_t weight, uint64_t rows,
                               uint64_t columns, float epsilon)
{
    uint64_t count;
    uint32_t size = size_of(element);
    yoke_call_t call =
        begin(operators, queue, "rms_norm", element, rows, columns, &count);
    need_columns(&call, rows, columns);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "y", y, count, size, WRITE);
    yoke_call_operand(&call, "rstd", rstd, rows, 4, WRITE);
    yoke_call_operand(&call, "x", x, count, size, READ);
    yoke_call_operand(&call, "weight", weight, columns, size, READ);
    yoke_call_u64(&call, rows);
    yoke_call_u64(&call, columns);
    yoke_call_f32(&call, epsilon);
    return run_rows(&call, YOKE_OP_RMS_NORM, rows, columns);
}

/* What the gradients of both norms read; mean has no buffer in the root form. */
typedef struct norm_inputs {
    yoke_span_t dy, x, weight, mean, rstd;
    uint64_t rows, columns;
} norm_inputs_t;

static void add_statistics(yoke_call_t *call, const norm_inputs_t *in)
{
    if (in->mean.buffer == NULL)
        yoke_call_absent(call);
    else
        yoke_call_operand(call, "mean", in->mean, in->rows, 4, READ);
    yoke_call_operand(call, "rstd", in->rstd, in->rows, 4, READ);
    yoke_call_u64(call, in->rows);
    yoke_call_u64(call, in->columns);
    yoke_call_u32(call, in->mean.buffer != NULL);
}

static void gather_dx(yoke_call_t *call, yoke_span_t dx, const norm_inputs_t *in)
{
    uint32_t size = size_of(call->element);
    uint64_t count = yoke_call_product(call, in->rows, in->columns);
    yoke_call_again(call);
    yoke_call_operand(call, "dx", dx, count, size, WRITE);
    yoke_call_operand(call, "dy", in->dy, count, size, READ);
    yoke_call_operand(call, "x", in->x, count, size, READ);
    yoke_call_operand(call, "weight", in->weight, in->columns, size, READ);
    add_statistics(call, in);
}

static void gather_dweight(yoke_call_t *call, yoke_span_t dweight,
                           const norm_inputs_t *in)
{
    uint32_t size = size_of(call->element);
    uint64_t count = yoke_call_product(call, in->rows, in->columns);
    yoke_call_again(call);
    yoke_call_operand(call, "dweight", dweight, in->columns, 4, BOTH);
    yoke_call_operand(call, "dy", in->dy, count, size, READ);
    yoke_call_operand(call, "x", in->x, count, size, READ);
    add_statistics(call, in);
}

/* All arguments are checked before the first part is enqueued. */
static yoke_status_t norm_backward(yoke_call_t *call, yoke_span_t dx, yoke_span_t dweight,
                                   const norm_inputs_t *in)
{
    need_columns(call, in->rows, in->columns);
    if (call->status != YOKE_OK)
        return call->status;
    gather_dweight(call, dweight, in);
    gather_dx(call, dx, in);
    yoke_status_t status = run_rows(call, YOKE_OP_NORM_DX, in->rows, in->columns);
    if (status != YOKE_OK || in->rows == 0)
        return status;
    gather_dweight(call, dweight, in);
    return yoke_call_run(call, YOKE_OP_NORM_DWEIGHT, YOKE_SHAPE_ROWS,
                         in->columns / 16 + 1);
}

yoke_status_t yoke_op_layer_norm_backward(yoke_operators_t *operators,
                                          yoke_queue_t *queue, yoke_element_t element,
                                          yoke_span_t dx, yoke_span_t dweight,
                                          yoke_span_t dbias, yoke_span_t dy,
                                          yoke_span_t x, yoke_span_t weight,
                                          yoke_span_t mean, yoke_span_t rstd,
                                          uint64_t rows, uint64_t columns)
{
    norm_inputs_t in = {dy, x, weight, mean, rstd, rows, columns};
    yoke_call_t call = yoke_call_begin(operators, queue, "layer_norm_backward", element);
    if (call.status == YOKE_OK && mean.buffer == NULL)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "mean has no buffer");
    if (call.status == YOKE_OK)
        yoke_call_operand(&call, "dbias", dbias, columns, 4, BOTH);
    yoke_status_t status = norm_backward(&call, dx, dweight, &in);
    if (status != YOKE_OK)
        return status;
    yoke_call_again(&call);
    return column_sum(&call, "dbias", dbias, "dy", dy, rows, columns, true);
}

yoke_status_t yoke_op_rms_norm_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                        yoke_element_t element, yoke_span_t dx,
                                        yoke_span_t dweight, yoke_span_t dy,
                                        yoke_span_t x, yoke_span_t weight,
                                        yoke_span_t rstd, uint64_t rows, uint64_t columns)
{
    norm_inputs_t in = {dy, x, weight, {NULL, 0}, rstd, rows, columns};
    yoke_call_t call = yoke_call_begin(operators, queue, "rms_norm_backward", element);
    return norm_backward(&call, dx, dweight, &in);
}

/* --- activations, products ------------------------------------------------------------
 */

static void check_activation(yoke_call_t *call, yoke_activation_t activation)
{
    if ((unsigned)activation > YOKE_SILU)
        yoke_call_refuse(call, YOKE_ERR_USAGE, "activation %d is none", (int)activation);
}

yoke_status_t yoke_op_activation(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_activation_t activation,
                                 yoke_span_t y, yoke_span_t x, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "activation", element);
    check_activation(&call, activation);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "y", y, count, size_of(element), WRITE);
    yoke_call_operand(&call, "x", x, count, size_of(element), READ);
    yoke_call_u64(&call, count);
    yoke_call_u32(&call, (uint32_t)activation);
    return run_elements(&call, YOKE_OP_ACTIVATION, count);
}

yoke_status_t yoke_op_activation_backward(yoke_operators_t *operators,
                                          yoke_queue_t *queue, yoke_element_t element,
                                          yoke_activation_t activation, yoke_span_t dx,
                                          yoke_span_t dy, yoke_span_t x, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "activation_backward", element);
    check_activation(&call, activation);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "dx", dx, count, size_of(element), WRITE);
    yoke_call_operand(&call, "dy", dy, count, size_of(element), READ);
    yoke_call_operand(&call, "x", x, count, size_of(element), READ);
    yoke_call_u64(&call, count);
    yoke_call_u32(&call, (uint32_t)activation);
    return run_elements(&call, YOKE_OP_ACTIVATION_BACKWARD, count);
}

yoke_status_t yoke_op_multiply(yoke_operators_t *operators, yoke_queue_t *queue,
                               yoke_element_t element, yoke_span_t y, yoke_span_t a,
                               yoke_span_t b, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "multiply", element);
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "y", y, count, size_of(element), WRITE);
    yoke_call_operand(&call, "a", a, count, size_of(element), READ);
    yoke_call_operand(&call, "b", b, count, size_of(element), READ);
    yoke_call_u64(&call, count);
    return run_elements(&call, YOKE_OP_MULTIPLY, count);
}

/* --- embeddings -----------------------------------------------------------------------
 */

/* Parts of the table that are added to side by side. */
#define EMBEDDING_PARTS 64

static void add_sizes(yoke_call_t *call, uint64_t a, uint64_t b, uint64_t c)
{
    yoke_call_u64(call, a);
    yoke_call_u64(call, b);
    yoke_call_u64(call, c);
}

yoke_status_t yoke_op_embedding(yoke_operators_t *operators, yoke_queue_t *queue,
                                yoke_element_t element, yoke_span_t y, yoke_span_t table,
                                yoke_span_t index, uint64_t rows, uint64_t columns,
                                uint64_t rows_of_table)
{
    uint64_t count;
    yoke_call_t call =
        begin(operators, queue, "embedding", element, rows, columns, &count);
    if (call.status != YOKE_OK)
        return call.status;
    uint64_t whole = yoke_call_product(&call, rows_of_table, columns);
    yoke_call_operand(&call, "y", y, count, size_of(element), WRITE);
    yoke_call_operand(&call, "table", table, whole, size_of(element), READ);
    yoke_call_operand(&call, "index", index, rows, 4, READ);
    add_sizes(&call, rows, columns, rows_of_table);
    return run_rows(&call, YOKE_OP_EMBEDDING, rows, columns);
}

yoke_status_t yoke_op_embedding_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                         yoke_element_t element, yoke_span_t dtable,
                                         yoke_span_t dy, yoke_span_t index, uint64_t rows,
                                         uint64_t columns, uint64_t rows_of_table)
{
    uint64_t count;
    yoke_call_t call =
        begin(operators, queue, "embedding_backward", element, rows, columns, &count);
    if (call.status != YOKE_OK)
        return call.status;
    uint64_t whole = yoke_call_product(&call, rows_of_table, columns);
    uint32_t parts =
        operators->group == 0 ? operators->info.compute_units : EMBEDDING_PARTS;
    if (parts == 0 || call.route != YOKE_ROUTE_KERNEL)
        parts = 1;
    yoke_call_operand(&call, "dtable", dtable, whole, 4, BOTH);
    yoke_call_operand(&call, "dy", dy, count, size_of(element), READ);
    yoke_call_operand(&call, "index", index, rows, 4, READ);
    add_sizes(&call, rows, columns, rows_of_table);
    yoke_call_u32(&call, parts);
    if (rows == 0 || columns == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_EMBEDDING_BACKWARD, YOKE_SHAPE_ROWS, parts);
}

/* --- rotary positions ------------------------------------------------------------------
 */

yoke_status_t yoke_op_rotary(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_span_t y, yoke_span_t x,
                             yoke_span_t positions, uint64_t tokens, uint64_t heads,
                             uint64_t width, float base, bool inverse)
{
    uint64_t count;
    yoke_call_t call = begin(operators, queue, "rotary", element, tokens, heads, &count);
    if (width % 2 != 0)
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "width %llu is odd",
                         (unsigned long long)width);
    if (!(base > 0.0f))
        yoke_call_refuse(&call, YOKE_ERR_USAGE, "base %g is not above 0", (double)base);
    if (call.status != YOKE_OK)
        return call.status;
    count = yoke_call_product(&call, count, width);
    yoke_call_operand(&call, "y", y, count, size_of(element), WRITE);
    yoke_call_operand(&call, "x", x, count, size_of(element), READ);
    yoke_call_operand(&call, "positions", positions, tokens, 4, READ);
    add_sizes(&call, tokens, heads, width);
    yoke_call_f32(&call,
                  width == 0 ? 0.0f : (float)(-2.0 * log((double)base) / (double)width));
    yoke_call_f32(&call, inverse ? -1.0f : 1.0f);
    if (count == 0)
        return call.status;
    return yoke_call_run(&call, YOKE_OP_ROTARY, YOKE_SHAPE_ELEMENTS,
                         tokens * (width / 2));
}

/* --- adam ------------------------------------------------------------------------------
 */

/* What the kernel takes: corrections for the step, made in double. */
static void add_adam(yoke_call_t *call, const yoke_adam_t *adam)
{
    double beta1 = (double)adam->beta1;
    double beta2 = (double)adam->beta2;
    double step = (double)adam->step;
    double rate = (double)adam->learning_rate;
    yoke_call_f32(call, adam->beta1);
    yoke_call_f32(call, (float)(1.0 - beta1));
    yoke_call_f32(call, adam->beta2);
    yoke_call_f32(call, (float)(1.0 - beta2));
    yoke_call_f32(call, (float)(rate / (1.0 - pow(beta1, step))));
    yoke_call_f32(call, (float)(1.0 / sqrt(1.0 - pow(beta2, step))));
    yoke_call_f32(call, adam->epsilon);
    yoke_call_f32(call, (float)(1.0 - rate * (double)adam->weight_decay));
    yoke_call_f32(call, adam->gradient_scale);
}

static void check_adam(yoke_call_t *call, const yoke_adam_t *adam)
{
    if (adam == NULL || adam->struct_size < sizeof *adam)
        yoke_call_refuse(call, YOKE_ERR_USAGE, "%s",
                         adam == NULL ? "adam is NULL"
                                      : "struct_size is below sizeof(yoke_adam_t)");
    else if (adam->step == 0)
        yoke_call_refuse(call, YOKE_ERR_USAGE, "steps count from 1, not 0");
    else if (!(adam->beta1 >= 0 && adam->beta1 < 1 && adam->beta2 >= 0 &&
               adam->beta2 < 1))
        yoke_call_refuse(call, YOKE_ERR_USAGE,
                         "beta1 %g and beta2 %g are not both from 0 to below 1",
                         (double)adam->beta1, (double)adam->beta2);
}

yoke_status_t yoke_op_adam(yoke_operators_t *operators, yoke_queue_t *queue,
                           const yoke_adam_t *adam, yoke_span_t parameters, yoke_span_t m,
                           yoke_span_t v, yoke_element_t element, yoke_span_t gradient,
                           yoke_element_t copy_element, yoke_span_t copy, uint64_t count)
{
    yoke_call_t call = yoke_call_begin(operators, queue, "adam", element);
    check_adam(&call, adam);
    if (copy.buffer != NULL && copy_element != YOKE_ELEMENT_F16 &&
        copy_element != YOKE_ELEMENT_BF16)
        yoke_call_refuse(&call, YOKE_ERR_UNSUPPORTED, "copy is f16 or bf16");
    if (call.status != YOKE_OK)
        return call.status;
    yoke_call_operand(&call, "parameters", parameters, count, 4, BOTH);
    yoke_call_operand(&call, "m", m, count, 4, BOTH);
    yoke_call_operand(&call, "v", v, count, 4, BOTH);
    yoke_call_operand(&call, "gradient", gradient, count, size_of(element), READ);
    if (copy.buffer == NULL)
        yoke_call_absent(&call);
    else
        yoke_call_operand(&call, "copy", copy, count, 2, WRITE);
    yoke_call_u64(&call, count);
    add_adam(&call, adam);
    yoke_call_u32(&call, copy.buffer == NULL ? 0 : (uint32_t)copy_element);
    return run_elements(&call, YOKE_OP_ADAM, count);
}
