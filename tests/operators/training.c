/* SPDX-License-Identifier: Apache-2.0 */
/* Losses and the optimizer, and what all operators refuse. */

#include "tests/operators/support.h"
#include "tests/operators/tests.h"

/* -log softmax(x)[target], 0 for a target that is ignored. */
static long double loss_of(const long double *x, uint64_t columns, uint64_t target)
{
    long double most = -INFINITY;
    long double sum = 0;
    if (target >= columns)
        return 0;
    for (uint64_t c = 0; c < columns; c++)
        most = fmaxl(most, x[c]);
    for (uint64_t c = 0; c < columns; c++)
        sum += expl(x[c] - most);
    return logl(sum) + most - x[target];
}

static void check_cross_entropy(yoke_element_t e, uint64_t rows, uint64_t columns,
                                double range, bool gradient)
{
    tensor_t x = tensor_new(e, rows * columns, range);
    tensor_t loss = tensor_new(YOKE_ELEMENT_F32, rows, 1);
    tensor_t target = tensor_new(YOKE_ELEMENT_U32, rows, (double)columns + 2);
    long double *losses = copy_values(&loss);
    long double *slopes = copy_values(&x);
    for (uint64_t r = 0; r < rows; r++) {
        long double *row = x.value + r * columns;
        uint64_t t = (uint64_t)target.value[r];
        losses[r] = loss_of(row, columns, t);
        for (uint64_t c = 0; gradient && c < columns; c++) {
            long double middle = row[c];
            row[c] = middle + 1e-4L;
            long double above = loss_of(row, columns, t);
            row[c] = middle - 1e-4L;
            slopes[r * columns + c] = 0.25L * (above - loss_of(row, columns, t)) / 2e-4L;
            row[c] = middle;
        }
    }
    OK(yoke_op_cross_entropy(bench.operators, bench.queue, e, loss.span,
                             gradient ? x.span : yoke_span(NULL, 0), x.span, target.span,
                             rows, columns, 0.25f));
    tensor_read(&loss);
    tensor_read(&x);
    check_near("loss", &loss, losses, 1e-5);
    if (gradient)
        check_near("dlogits", &x, slopes, e == YOKE_ELEMENT_F32 ? 1e-5 : step_of(e) / 4);
    else
        check_exact("logits", &x, slopes);
    free(losses);
    free(slopes);
    tensor_free(&x);
    tensor_free(&loss);
    tensor_free(&target);
}

void test_cross_entropy(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        if (!tested(layer_elements[i]))
            continue;
        check_cross_entropy(layer_elements[i], 9, 33, 3, true);
        check_cross_entropy(layer_elements[i], 5, 7, 20000, true);
        check_cross_entropy(layer_elements[i], 2, 1999, 8, false);
        check_cross_entropy(layer_elements[i], 1, 1, 8, true);
        check_cross_entropy(layer_elements[i], 0, 5, 8, true);
    }
}

/* arXiv:1412.6980, algorithm 1, with the decay of arXiv:1711.05101, algorithm 2. */
static void adam_step(const yoke_adam_t *a, long double g, long double *p, long double *m,
                      long double *v)
{
    g *= a->gradient_scale;
    *m = a->beta1 * *m + (1 - (long double)a->beta1) * g;
    *v = a->beta2 * *v + (1 - (long double)a->beta2) * g * g;
    long double first = *m / (1 - powl(a->beta1, a->step));
    long double second = *v / (1 - powl(a->beta2, a->step));
    *p -= a->learning_rate *
          (first / (sqrtl(second) + a->epsilon) + (long double)a->weight_decay * *p);
}

static void check_adam(yoke_element_t e, yoke_element_t copy_element, uint64_t count)
{
    yoke_adam_t adam = {sizeof adam, 0.01f, 0.9f, 0.999f, 1e-8f, 0.1f, 0.5f, 1};
    tensor_t p = tensor_new(YOKE_ELEMENT_F32, count, 1);
    tensor_t m = tensor_new(YOKE_ELEMENT_F32, count, 0.1);
    tensor_t v = tensor_new(YOKE_ELEMENT_F32, count, 0.1);
    tensor_t g = tensor_new(e, count, 2);
    tensor_t copy = tensor_new(copy_element, count, 2);
    for (uint64_t i = 0; i < count; i++)
        v.value[i] = fabsl(v.value[i]);
    tensor_write(&v);
    long double *ps = copy_values(&p);
    long double *ms = copy_values(&m);
    long double *vs = copy_values(&v);
    for (adam.step = 1; adam.step <= 3; adam.step++) {
        for (uint64_t i = 0; i < count; i++)
            adam_step(&adam, g.value[i], &ps[i], &ms[i], &vs[i]);
        OK(yoke_op_adam(bench.operators, bench.queue, &adam, p.span, m.span, v.span, e,
                        g.span, copy_element,
                        copy_element == YOKE_ELEMENT_F32 ? yoke_span(NULL, 0) : copy.span,
                        count));
    }
    tensor_read(&p);
    tensor_read(&m);
    tensor_read(&v);
    check_near("adam parameters", &p, ps, 2e-6);
    check_near("adam m", &m, ms, 2e-6);
    check_near("adam v", &v, vs, 2e-6);
    if (copy_element != YOKE_ELEMENT_F32) {
        tensor_read(&copy);
        for (uint64_t i = 0; i < count; i++)
            ps[i] = rounded(copy_element, p.value[i]);
        check_exact("adam copy", &copy, ps);
    }
    free(ps);
    free(ms);
    free(vs);
    tensor_free(&p);
    tensor_free(&m);
    tensor_free(&v);
    tensor_free(&g);
    tensor_free(&copy);
}

void test_adam(void **state)
{
    (void)state;
    check_adam(YOKE_ELEMENT_F32, YOKE_ELEMENT_F32, 1009);
    check_adam(YOKE_ELEMENT_F32, YOKE_ELEMENT_BF16, 1009);
    if (tested(YOKE_ELEMENT_F16))
        check_adam(YOKE_ELEMENT_F16, YOKE_ELEMENT_F16, 1009);
    if (!tested(YOKE_ELEMENT_BF16))
        return;
    check_adam(YOKE_ELEMENT_BF16, YOKE_ELEMENT_BF16, 1);
    check_adam(YOKE_ELEMENT_BF16, YOKE_ELEMENT_BF16, 0);
}

/* --- refusals ----------------------------------------------------------------------- */

static void refused(yoke_status_t got, yoke_status_t expected, const char *name,
                    const char *word)
{
    if (got != expected || strstr(yoke_last_error(), name) == NULL ||
        strstr(yoke_last_error(), word) == NULL)
        fail_msg("%s: %s, should be %s naming %s and %s: %s", bench.name,
                 yoke_status_name(got), yoke_status_name(expected), name, word,
                 yoke_last_error());
}

static void refused_elements(void)
{
    yoke_operators_t *o = bench.operators;
    yoke_queue_t *q = bench.queue;
    yoke_span_t s = yoke_span(bench.scratch, 0);
    refused(yoke_op_bias(o, q, YOKE_ELEMENT_I32, s, s, 1, 1), YOKE_ERR_UNSUPPORTED,
            "bias", "i32");
    refused(yoke_op_fill(o, q, YOKE_ELEMENT_COUNT, s, 1, 1), YOKE_ERR_UNSUPPORTED, "fill",
            "element");
    refused(yoke_op_convert(o, q, YOKE_ELEMENT_F32, s, (yoke_element_t)99, s, 1),
            YOKE_ERR_UNSUPPORTED, "convert", "99");
    refused(yoke_op_unpack(o, q, YOKE_ELEMENT_I8, s, s, s, 1, true), YOKE_ERR_UNSUPPORTED,
            "unpack", "i8");
    refused(yoke_op_square_sum(o, q, YOKE_ELEMENT_U32, s, s, 1, s), YOKE_ERR_UNSUPPORTED,
            "norm", "u32");
    refused(yoke_operators_prepare(o, "tea", YOKE_ELEMENT_F32), YOKE_ERR_USAGE, "tea",
            "no operator");
    refused(yoke_operators_prepare(o, "adam", YOKE_ELEMENT_U8), YOKE_ERR_UNSUPPORTED,
            "adam", "u8");
    assert_string_equal(yoke_operators_path(o, "adam", YOKE_ELEMENT_U8), "none");
    assert_string_equal(yoke_operators_path(o, "tea", YOKE_ELEMENT_F32), "none");
}

static void refused_values(void)
{
    yoke_operators_t *o = bench.operators;
    yoke_queue_t *q = bench.queue;
    yoke_span_t s = yoke_span(bench.scratch, 0);
    yoke_element_t f = YOKE_ELEMENT_F32;
    yoke_adam_t adam = {sizeof adam, 0.01f, 0.9f, 0.999f, 1e-8f, 0, 1, 0};
    yoke_gemm_t gemm = {.struct_size = sizeof gemm,
                        .element = f,
                        .output = f,
                        .m = 4,
                        .n = 4,
                        .k = 4,
                        .lda = 3,
                        .alpha = 1,
                        .a = s,
                        .b = s,
                        .c = s};
    refused(yoke_op_axpy(NULL, q, f, 1, s, s, 1), YOKE_ERR_USAGE, "axpy", "operators");
    refused(yoke_op_axpy(o, NULL, f, 1, s, s, 1), YOKE_ERR_USAGE, "axpy", "queue");
    refused(yoke_op_axpy(o, q, f, 1, yoke_span(NULL, 0), s, 1), YOKE_ERR_USAGE, "axpy",
            "x has no buffer");
    refused(yoke_op_axpy(o, q, f, 1, s, yoke_span(bench.scratch, 2), 1), YOKE_ERR_USAGE,
            "axpy", "of y");
    refused(yoke_op_axpy(o, q, f, 1, s, s, UINT64_C(1) << 62), YOKE_ERR_OUT_OF_RANGE,
            "axpy", "x needs");
    refused(yoke_op_bias(o, q, f, s, s, UINT64_C(1) << 40, UINT64_C(1) << 40),
            YOKE_ERR_OUT_OF_RANGE, "bias", "times");
    refused(yoke_op_reduce(o, q, f, YOKE_REDUCTION_COUNT, s, s, s, 1), YOKE_ERR_USAGE,
            "reduce", "reduction");
    refused(yoke_op_fold(o, q, f, YOKE_REDUCE_MAX, s, s, 0, s), YOKE_ERR_USAGE, "fold",
            "max");
    refused(yoke_op_fold(o, q, f, YOKE_REDUCE_SUM, s, s, 1,
                         yoke_span(bench.scratch, yoke_buffer_size(bench.scratch) - 64)),
            YOKE_ERR_OUT_OF_RANGE, "fold", "scratch");
    refused(yoke_op_select(o, q, s, UINT64_C(1) << 32, 1, s, s, s, 1, s), YOKE_ERR_USAGE,
            "select", "count");
    refused(yoke_op_softmax(o, q, f, s, s, 3, 2, 1, true, 0), YOKE_ERR_USAGE, "softmax",
            "queries");
    refused(yoke_op_rotary(o, q, f, s, s, s, 1, 1, 3, 10000, false), YOKE_ERR_USAGE,
            "rotary", "odd");
    refused(yoke_op_activation(o, q, f, (yoke_activation_t)7, s, s, 1), YOKE_ERR_USAGE,
            "activation", "7");
    refused(yoke_op_adam(o, q, &adam, s, s, s, f, s, f, yoke_span(NULL, 0), 1),
            YOKE_ERR_USAGE, "adam", "steps");
    refused(yoke_op_gemm(o, q, NULL), YOKE_ERR_USAGE, "gemm", "NULL");
    refused(yoke_op_gemm(o, q, &gemm), YOKE_ERR_USAGE, "gemm", "rows of a");
    gemm.lda = 4;
    gemm.output = YOKE_ELEMENT_BF16;
    refused(yoke_op_gemm(o, q, &gemm), YOKE_ERR_UNSUPPORTED, "gemm",
            "output of f32 is f32, not bf16");
    gemm.element = YOKE_ELEMENT_F16;
    refused(yoke_op_gemm(o, q, &gemm), YOKE_ERR_UNSUPPORTED, "gemm",
            "output of f16 is f16 or f32, not bf16");
    gemm.output = (yoke_element_t)99;
    refused(yoke_op_gemm(o, q, &gemm), YOKE_ERR_UNSUPPORTED, "gemm",
            "not an element type that is none");
    gemm.struct_size = 8;
    refused(yoke_op_gemm(o, q, &gemm), YOKE_ERR_USAGE, "gemm", "struct_size");
}

void test_refusals(void **state)
{
    (void)state;
    refused_elements();
    refused_values();
}
