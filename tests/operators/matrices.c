/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/operators/support.h"
#include "tests/operators/tests.h"

typedef struct shape {
    uint64_t m, n, k, batch;
    uint32_t ta, tb;
    uint64_t pad; /* added to every row */
    double alpha, beta;
} shape_t;

static const shape_t shapes[] = {
    {1, 1, 1, 0, 0, 0, 0, 1, 0},     {5, 7, 3, 1, 0, 0, 0, 1, 0},
    {33, 65, 70, 1, 0, 1, 3, 2, 0},  {65, 33, 17, 1, 1, 0, 1, -1, 0.5},
    {40, 37, 129, 2, 1, 1, 5, 1, 1}, {3, 70, 2, 5, 0, 0, 0, 0.5, -2},
    {17, 5, 0, 1, 0, 0, 0, 1, 2},    {0, 5, 4, 1, 0, 0, 0, 1, 0},
    {64, 64, 64, 1, 0, 0, 0, 1, 0},
};

static long double product_at(const yoke_gemm_t *g, const tensor_t *a, const tensor_t *b,
                              uint64_t z, uint64_t i, uint64_t j)
{
    long double sum = 0;
    for (uint64_t k = 0; k < g->k; k++)
        sum += a->value[z * g->stride_a +
                        (g->transpose_a ? k * g->lda + i : i * g->lda + k)] *
               b->value[z * g->stride_b +
                        (g->transpose_b ? j * g->ldb + k : k * g->ldb + j)];
    return sum;
}

static void check_gemm(const shape_t *s, yoke_element_t e, yoke_element_t out)
{
    uint64_t batch = s->batch == 0 ? 1 : s->batch;
    yoke_gemm_t g = {.struct_size = sizeof g,
                     .element = e,
                     .output = out,
                     .transpose_a = s->ta,
                     .transpose_b = s->tb,
                     .m = s->m,
                     .n = s->n,
                     .k = s->k,
                     .batch = s->batch,
                     .alpha = s->alpha,
                     .beta = s->beta,
                     .lda = (s->ta ? s->m : s->k) + s->pad,
                     .ldb = (s->tb ? s->k : s->n) + s->pad,
                     .ldc = s->n + s->pad};
    g.stride_a = g.lda * (s->ta ? s->k : s->m) + s->pad;
    g.stride_b = g.ldb * (s->tb ? s->n : s->k);
    g.stride_c = g.ldc * s->m + 2 * s->pad;
    tensor_t a = tensor_new(e, g.stride_a * batch, 1);
    tensor_t b = tensor_new(e, g.stride_b * batch, 1);
    tensor_t c = tensor_new(out, g.stride_c * batch, 1);
    if (s->beta == 0)
        for (uint64_t i = 0; i < s->m; i++)
            for (uint64_t j = 0; j < s->n; j++)
                c.value[i * g.ldc + j] = (long double)NAN; /* must not be read */
    tensor_write(&c);
    g.a = a.span;
    g.b = b.span;
    g.c = c.span;
    long double *expected = copy_values(&c);
    for (uint64_t z = 0; z < batch; z++)
        for (uint64_t i = 0; i < s->m; i++)
            for (uint64_t j = 0; j < s->n; j++) {
                long double *at = &expected[z * g.stride_c + i * g.ldc + j];
                *at = s->alpha * product_at(&g, &a, &b, z, i, j) +
                      (s->beta == 0 ? 0 : s->beta * *at);
            }
    if (s->pad == 0)
        g.lda = g.ldb = g.ldc = 0; /* dense */
    OK(yoke_op_gemm(bench.operators, bench.queue, &g));
    tensor_read(&c);
    check_near("gemm", &c, expected, e == YOKE_ELEMENT_F64 ? 1e-14 : 2e-5);
    free(expected);
    tensor_free(&a);
    tensor_free(&b);
    tensor_free(&c);
}

void test_gemm(void **state)
{
    static const yoke_element_t pairs[][2] = {
        {YOKE_ELEMENT_F64, YOKE_ELEMENT_F64}, {YOKE_ELEMENT_F64, YOKE_ELEMENT_F32},
        {YOKE_ELEMENT_F32, YOKE_ELEMENT_F32}, {YOKE_ELEMENT_F16, YOKE_ELEMENT_F16},
        {YOKE_ELEMENT_F16, YOKE_ELEMENT_F32}, {YOKE_ELEMENT_BF16, YOKE_ELEMENT_BF16},
        {YOKE_ELEMENT_BF16, YOKE_ELEMENT_F32}};
    (void)state;
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            if (tested(pairs[p][0]))
                check_gemm(&shapes[s], pairs[p][0], pairs[p][1]);
}

static void check_columns(yoke_element_t e, uint64_t rows, uint64_t columns, bool add)
{
    tensor_t x = tensor_new(e, rows * columns, 1);
    tensor_t bias = tensor_new(e, columns, 1);
    tensor_t sum = tensor_new(YOKE_ELEMENT_F32, columns, 1);
    long double *sums = copy_values(&sum);
    long double *shifted = copy_values(&x);
    for (uint64_t c = 0; c < columns; c++) {
        sums[c] = add ? sums[c] : 0;
        for (uint64_t r = 0; r < rows; r++) {
            sums[c] += x.value[r * columns + c];
            shifted[r * columns + c] =
                rounded(e, (float)(x.value[r * columns + c] + bias.value[c]));
        }
    }
    OK(yoke_op_column_sum(bench.operators, bench.queue, e, sum.span, x.span, rows,
                          columns, add));
    OK(yoke_op_bias(bench.operators, bench.queue, e, x.span, bias.span, rows, columns));
    tensor_read(&sum);
    tensor_read(&x);
    check_near("column_sum", &sum, sums, 2e-5);
    check_exact("bias", &x, shifted);
    free(sums);
    free(shifted);
    tensor_free(&x);
    tensor_free(&bias);
    tensor_free(&sum);
}

void test_columns(void **state)
{
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        if (!tested(layer_elements[e]))
            continue;
        check_columns(layer_elements[e], 0, 5, false);
        check_columns(layer_elements[e], 1, 1, false);
        check_columns(layer_elements[e], 7, 33, true);
        check_columns(layer_elements[e], 601, 100, false);
        check_columns(layer_elements[e], 13, 0, true);
    }
}
