/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_OPERATORS_H
#define YOKE_OPERATORS_H

/**
 * A small library of operators that runs on every device: what communication, compression
 * and the example trainer need. Where the device compiles the portable dialect it runs
 * there; where it does not, by the vendor's operators, else by staging through the host,
 * and yoke_operators_path() says which.
 *
 * Tensors are dense and row-major. Sizes are in elements unless they say bytes. Spans are
 * aligned to their element. Inputs and outputs do not overlap, except where a function
 * says that they may be equal. Every call enqueues on `queue` and returns; paths through
 * the host wait for the queue instead.
 *
 * Neural-network operators take f32, and f16 and bf16 where said; sums inside are f32.
 * f64 is taken by fill, convert, axpy, scale, reduce, fold, norm, pack, unpack and gemm
 * on every device: by a kernel where it has YOKE_CAP_FP64, else by the host.
 *
 * Threads, ownership and errors: yoke/device.h; one operators object is used by one
 * thread at a time. The first use of an operator compiles it, later ones do not:
 * yoke_operators_prepare() does that beforehand. All return YOKE_ERR_UNSUPPORTED for
 * element types they do not take and YOKE_ERR_USAGE for values out of range (with or
 * without validation).
 */

#include "yoke/element.h"
#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_operators yoke_operators_t;

yoke_status_t yoke_operators_create(yoke_device_t *device,
                                    yoke_operators_t **out_operators);
void yoke_operators_destroy(yoke_operators_t *operators);

/** Names of all operators ("fill", "convert", ...), static, `*out_count` of them. */
const char *const *yoke_operators_names(size_t *out_count);
/** How `name` runs here for `element`: "kernel" (portable), "vendor", "host" (staged),
 * "none". Static storage. */
const char *yoke_operators_path(yoke_operators_t *operators, const char *name,
                                yoke_element_t element);
/** Compile `name` for `element` now. */
yoke_status_t yoke_operators_prepare(yoke_operators_t *operators, const char *name,
                                     yoke_element_t element);

/* --- elementwise -------------------------------------------------------------------- */

/** dst[i] = value, given as a double and rounded. "fill" */
yoke_status_t yoke_op_fill(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t dst, double value,
                           uint64_t count);
/** dst[i] = to(src[i]); rounding as element.h says; to integers: toward zero, saturating,
 * NaN gives 0. "convert" */
yoke_status_t yoke_op_convert(yoke_operators_t *operators, yoke_queue_t *queue,
                              yoke_element_t to, yoke_span_t dst, yoke_element_t from,
                              yoke_span_t src, uint64_t count);
/** y[i] += alpha * x[i]. "axpy" */
yoke_status_t yoke_op_axpy(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, double alpha, yoke_span_t x,
                           yoke_span_t y, uint64_t count);
/** x[i] *= alpha (avg: 1 / ranks; integers divide by `divisor` when it is above 0, and
 * alpha is ignored). "scale" */
yoke_status_t yoke_op_scale(yoke_operators_t *operators, yoke_queue_t *queue,
                            yoke_element_t element, double alpha, uint64_t divisor,
                            yoke_span_t x, uint64_t count);
/** dst[i] = a[i] op b[i]; dst may equal a or b. avg adds here: scale afterwards. All 12
 *  element types. "reduce" */
yoke_status_t yoke_op_reduce(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_reduction_t op, yoke_span_t dst,
                             yoke_span_t a, yoke_span_t b, uint64_t count);

/* --- whole vectors ------------------------------------------------------------------ */

/** dst[0] = op over src[0..count). sum of f16, bf16, fp8, f32 gives f32, integers u64 or
 * i64 (wrapping), f64 f64; max and min give the element type itself. scratch: device
 * memory of at least 64 KiB. count 0: 0 for sum, else YOKE_ERR_USAGE. "fold" */
yoke_status_t yoke_op_fold(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_reduction_t op, yoke_span_t dst,
                           yoke_span_t src, uint64_t count, yoke_span_t scratch);
/** dst[0] = sum of squares, f32. "norm" */
yoke_status_t yoke_op_square_sum(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                                 uint64_t count, yoke_span_t scratch);

/* --- compression -------------------------------------------------------------------- */

/** Of |x[i]| >= threshold keep at most `capacity`, those of lowest i: their index (u32)
 * and value, in order of index; *found (u32) is how many were at or above the threshold.
 * f32; count below 2^32; scratch 4 * (count / 256 + 2) bytes. "select" */
yoke_status_t yoke_op_select(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_span_t x, uint64_t count, float threshold,
                             yoke_span_t indices, yoke_span_t values, yoke_span_t found,
                             uint32_t capacity, yoke_span_t scratch);
/** dst[i] = src[indices[i]]. "pack" (all element types) */
yoke_status_t yoke_op_pack(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                           yoke_span_t indices, uint64_t count);
/** dst[indices[i]] = src[i], or += with `add`; indices differ. "unpack" (all, += not i8
 * u8) */
yoke_status_t yoke_op_unpack(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                             yoke_span_t indices, uint64_t count, bool add);

/* --- matrices ----------------------------------------------------------------------- */

typedef struct yoke_gemm {
    size_t struct_size;
    yoke_element_t element; /**< of A and B: f64 f32 f16 bf16 */
    yoke_element_t output;  /**< of C: the same, or f32 */
    uint32_t transpose_a;   /**< A is stored k x m */
    uint32_t transpose_b;   /**< B is stored n x k */
    uint64_t m, n, k;       /**< C is m x n */
    uint64_t lda, ldb, ldc; /**< elements from row to row as stored; 0: dense */
    uint64_t batch;         /**< 0 and 1: one */
    uint64_t stride_a, stride_b,
        stride_c;       /**< elements from one of the batch to the next */
    double alpha, beta; /**< C = alpha A B + beta C; C is not read when beta is 0 */
    yoke_span_t a, b, c;
} yoke_gemm_t;

/** Matrix product; by the vendor's library where YOKE_CAP_GEMM and it takes the types.
 * "gemm" */
yoke_status_t yoke_op_gemm(yoke_operators_t *operators, yoke_queue_t *queue,
                           const yoke_gemm_t *gemm);
/** dst[c] (+)= sum over rows of src[r][c]: gradient of a bias. f32 f16 bf16; dst f32.
 *  "column_sum" */
yoke_status_t yoke_op_column_sum(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t dst, yoke_span_t src,
                                 uint64_t rows, uint64_t columns, bool add);
/** x[r][c] += bias[c]. f32 f16 bf16. "bias" */
yoke_status_t yoke_op_bias(yoke_operators_t *operators, yoke_queue_t *queue,
                           yoke_element_t element, yoke_span_t x, yoke_span_t bias,
                           uint64_t rows, uint64_t columns);

/* --- layers: f32, f16, bf16; statistics (mean, rstd) and losses are f32 ----------------
 */

/** y = softmax of each row of x, scaled by `scale` first. With `causal`, rows are queries
 * of blocks of `queries` rows and column c takes part for query q when c <= q + columns -
 *  queries. y may equal x. "softmax" */
yoke_status_t yoke_op_softmax(yoke_operators_t *operators, yoke_queue_t *queue,
                              yoke_element_t element, yoke_span_t y, yoke_span_t x,
                              uint64_t rows, uint64_t columns, float scale, bool causal,
                              uint64_t queries);
/** dx = scale * y * (dy - sum(y * dy)); dx may equal dy. "softmax_backward" */
yoke_status_t yoke_op_softmax_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                       yoke_element_t element, yoke_span_t dx,
                                       yoke_span_t y, yoke_span_t dy, uint64_t rows,
                                       uint64_t columns, float scale);
/** y = (x - mean) * rstd * weight + bias; mean and rstd (one a row) are outputs.
 * "layer_norm" */
yoke_status_t yoke_op_layer_norm(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_span_t y, yoke_span_t mean,
                                 yoke_span_t rstd, yoke_span_t x, yoke_span_t weight,
                                 yoke_span_t bias, uint64_t rows, uint64_t columns,
                                 float epsilon);
/** dx is written, dweight and dbias (f32) are added to. "layer_norm_backward" */
yoke_status_t yoke_op_layer_norm_backward(yoke_operators_t *operators,
                                          yoke_queue_t *queue, yoke_element_t element,
                                          yoke_span_t dx, yoke_span_t dweight,
                                          yoke_span_t dbias, yoke_span_t dy,
                                          yoke_span_t x, yoke_span_t weight,
                                          yoke_span_t mean, yoke_span_t rstd,
                                          uint64_t rows, uint64_t columns);
/** y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + epsilon) is an output. "rms_norm"
 */
yoke_status_t yoke_op_rms_norm(yoke_operators_t *operators, yoke_queue_t *queue,
                               yoke_element_t element, yoke_span_t y, yoke_span_t rstd,
                               yoke_span_t x, yoke_span_t weight, uint64_t rows,
                               uint64_t columns, float epsilon);
/** dx is written, dweight (f32) is added to. "rms_norm_backward" */
yoke_status_t yoke_op_rms_norm_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                        yoke_element_t element, yoke_span_t dx,
                                        yoke_span_t dweight, yoke_span_t dy,
                                        yoke_span_t x, yoke_span_t weight,
                                        yoke_span_t rstd, uint64_t rows,
                                        uint64_t columns);

typedef enum yoke_activation {
    YOKE_GELU = 0,      /**< x * Phi(x), by erf (arXiv:1606.08415) */
    YOKE_GELU_TANH = 1, /**< its tanh form */
    YOKE_SILU = 2       /**< x * sigmoid(x) */
} yoke_activation_t;

/** "activation"; y may equal x */
yoke_status_t yoke_op_activation(yoke_operators_t *operators, yoke_queue_t *queue,
                                 yoke_element_t element, yoke_activation_t activation,
                                 yoke_span_t y, yoke_span_t x, uint64_t count);
/** dx = dy * f'(x); dx may equal dy. "activation_backward" */
yoke_status_t yoke_op_activation_backward(yoke_operators_t *operators,
                                          yoke_queue_t *queue, yoke_element_t element,
                                          yoke_activation_t activation, yoke_span_t dx,
                                          yoke_span_t dy, yoke_span_t x, uint64_t count);
/** y = a * b, elementwise (gated units). "multiply" */
yoke_status_t yoke_op_multiply(yoke_operators_t *operators, yoke_queue_t *queue,
                               yoke_element_t element, yoke_span_t y, yoke_span_t a,
                               yoke_span_t b, uint64_t count);
/** y[r] = table[index[r]], index u32; an index of `rows_of_table` or above gives 0.
 * "embedding" */
yoke_status_t yoke_op_embedding(yoke_operators_t *operators, yoke_queue_t *queue,
                                yoke_element_t element, yoke_span_t y, yoke_span_t table,
                                yoke_span_t index, uint64_t rows, uint64_t columns,
                                uint64_t rows_of_table);
/** dtable[index[r]] += dy[r]; dtable f32; the order of the sum is that of r, on every
 * device. "embedding_backward" */
yoke_status_t yoke_op_embedding_backward(yoke_operators_t *operators, yoke_queue_t *queue,
                                         yoke_element_t element, yoke_span_t dtable,
                                         yoke_span_t dy, yoke_span_t index, uint64_t rows,
                                         uint64_t columns, uint64_t rows_of_table);
/** Rotary position embedding of x[tokens][heads][width], pairs (i, i + width / 2),
 * positions u32; `inverse` turns back (its gradient). y may equal x. arXiv:2104.09864.
 * "rotary" */
yoke_status_t yoke_op_rotary(yoke_operators_t *operators, yoke_queue_t *queue,
                             yoke_element_t element, yoke_span_t y, yoke_span_t x,
                             yoke_span_t positions, uint64_t tokens, uint64_t heads,
                             uint64_t width, float base, bool inverse);
/** loss[r] = -log softmax(logits[r])[target[r]] and dlogits = (softmax - onehot) * scale;
 * a target (u32) of `columns` or above is ignored: loss and gradient 0. dlogits may equal
 *  logits, or have a NULL buffer. "cross_entropy" */
yoke_status_t yoke_op_cross_entropy(yoke_operators_t *operators, yoke_queue_t *queue,
                                    yoke_element_t element, yoke_span_t loss,
                                    yoke_span_t dlogits, yoke_span_t logits,
                                    yoke_span_t targets, uint64_t rows, uint64_t columns,
                                    float scale);

typedef struct yoke_adam {
    size_t struct_size;
    float learning_rate, beta1, beta2, epsilon;
    float weight_decay;   /**< decoupled: AdamW, arXiv:1711.05101 */
    float gradient_scale; /**< the gradient is multiplied by it first; 1: as it is */
    uint64_t step;        /**< from 1 */
} yoke_adam_t;

/** parameters, m and v are f32 and changed in place; gradient is `element`; `copy` (f16,
 * bf16 or a NULL buffer) receives the parameters rounded. arXiv:1412.6980. "adam" */
yoke_status_t yoke_op_adam(yoke_operators_t *operators, yoke_queue_t *queue,
                           const yoke_adam_t *adam, yoke_span_t parameters, yoke_span_t m,
                           yoke_span_t v, yoke_element_t element, yoke_span_t gradient,
                           yoke_element_t copy_element, yoke_span_t copy, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
