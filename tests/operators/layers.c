/* SPDX-License-Identifier: Apache-2.0 */
/* Layers against their definitions in long double; gradients against central differences
 * of those definitions. */

#include "tests/operators/support.h"
#include "tests/operators/tests.h"

/* A layer as a function of one array among its inputs: the sum of dy times y. */
typedef long double (*layer_t)(const void *context);

/* d layer / d x[i] for all i. */
static long double *differences(layer_t layer, const void *context, tensor_t *x)
{
    long double *slope = copy_values(x);
    const long double step = 1e-5L;
    for (uint64_t i = 0; i < x->count; i++) {
        long double middle = x->value[i];
        x->value[i] = middle + step;
        long double above = layer(context);
        x->value[i] = middle - step;
        slope[i] = (above - layer(context)) / (2 * step);
        x->value[i] = middle;
    }
    return slope;
}

static double tolerance_of(yoke_element_t e)
{
    return e == YOKE_ELEMENT_F32 ? 1e-5 : step_of(e) / 4 + 1e-5;
}

/* --- softmax ------------------------------------------------------------------------ */

static void softmax_row(const long double *x, uint64_t columns, uint64_t reach,
                        long double scale, long double *y)
{
    long double most = -INFINITY;
    long double sum = 0;
    for (uint64_t c = 0; c < reach; c++)
        most = fmaxl(most, x[c] * scale);
    for (uint64_t c = 0; c < reach; c++)
        sum += most == -(long double)INFINITY ? 0 : expl(x[c] * scale - most);
    for (uint64_t c = 0; c < columns; c++)
        y[c] = c < reach && sum > 0 ? expl(x[c] * scale - most) / sum : 0;
}

static void check_softmax(yoke_element_t e, uint64_t rows, uint64_t columns, float scale,
                          uint64_t queries, double range)
{
    tensor_t x = tensor_new(e, rows * columns, range);
    long double *expected = copy_values(&x);
    if (columns > 3 && rows > 1) {
        for (uint64_t c = 0; c < columns; c++)
            x.value[c] = -INFINITY;
        x.value[columns + 1] = -INFINITY;
    }
    tensor_write(&x);
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t reach = columns;
        if (queries > 0) {
            int64_t last = (int64_t)(r % queries + columns) - (int64_t)queries;
            reach = last < 0 ? 0 : (uint64_t)last + 1;
        }
        softmax_row(x.value + r * columns, columns, reach, scale, expected + r * columns);
    }
    OK(yoke_op_softmax(bench.operators, bench.queue, e, x.span, x.span, rows, columns,
                       scale, queries > 0, queries));
    tensor_read(&x);
    check_near("softmax", &x, expected, tolerance_of(e));
    free(expected);
    tensor_free(&x);
}

typedef struct softmax_context {
    const tensor_t *x, *dy;
    uint64_t rows, columns;
    float scale;
} softmax_context_t;

static long double softmax_layer(const void *context)
{
    const softmax_context_t *s = context;
    long double row[64];
    long double sum = 0;
    for (uint64_t r = 0; r < s->rows; r++) {
        softmax_row(s->x->value + r * s->columns, s->columns, s->columns, s->scale, row);
        for (uint64_t c = 0; c < s->columns; c++)
            sum += row[c] * s->dy->value[r * s->columns + c];
    }
    return sum;
}

static void check_softmax_backward(yoke_element_t e, uint64_t rows, uint64_t columns)
{
    tensor_t x = tensor_new(e, rows * columns, 2);
    tensor_t y = tensor_new(e, rows * columns, 2);
    tensor_t dy = tensor_new(e, rows * columns, 1);
    softmax_context_t s = {&x, &dy, rows, columns, 0.7f};
    long double *expected = differences(softmax_layer, &s, &x);
    for (uint64_t r = 0; r < rows; r++)
        softmax_row(x.value + r * columns, columns, columns, s.scale,
                    y.value + r * columns);
    tensor_write(&y);
    OK(yoke_op_softmax_backward(bench.operators, bench.queue, e, dy.span, y.span, dy.span,
                                rows, columns, s.scale));
    tensor_read(&dy);
    check_near("softmax_backward", &dy, expected, tolerance_of(e));
    free(expected);
    tensor_free(&x);
    tensor_free(&y);
    tensor_free(&dy);
}

void test_softmax(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        yoke_element_t e = layer_elements[i];
        if (!tested(e))
            continue;
        check_softmax(e, 0, 3, 1, 0, 1);
        check_softmax(e, 1, 1, 1, 0, 1);
        check_softmax(e, 5, 77, 0.125f, 0, 30000);
        check_softmax(e, 3, 2111, 1, 0, 3);
        check_softmax(e, 14, 9, 1, 7, 5);
        check_softmax(e, 14, 4, 1, 7, 5); /* some queries see nothing */
        check_softmax_backward(e, 3, 37);
    }
}

/* --- norms -------------------------------------------------------------------------- */

typedef struct norm_context {
    const tensor_t *x, *weight, *bias, *dy;
    uint64_t rows, columns;
    bool centred;
    float epsilon;
} norm_context_t;

static void norm_row(const norm_context_t *s, uint64_t r, long double *y,
                     long double *mean, long double *rstd)
{
    const long double *x = s->x->value + r * s->columns;
    long double middle = 0;
    long double spread = 0;
    for (uint64_t c = 0; s->centred && c < s->columns; c++)
        middle += x[c] / s->columns;
    for (uint64_t c = 0; c < s->columns; c++)
        spread += (x[c] - middle) * (x[c] - middle) / s->columns;
    *mean = middle;
    *rstd = 1 / sqrtl(spread + s->epsilon);
    for (uint64_t c = 0; c < s->columns; c++)
        y[c] = (x[c] - middle) * *rstd * s->weight->value[c] +
               (s->centred ? s->bias->value[c] : 0);
}

static long double norm_layer(const void *context)
{
    const norm_context_t *s = context;
    long double row[64];
    long double mean;
    long double rstd;
    long double sum = 0;
    for (uint64_t r = 0; r < s->rows; r++) {
        norm_row(s, r, row, &mean, &rstd);
        for (uint64_t c = 0; c < s->columns; c++)
            sum += row[c] * s->dy->value[r * s->columns + c];
    }
    return sum;
}

/* The forward layer, its statistics left in mean and rstd on the device. */
static void check_norm(const norm_context_t *s, tensor_t *mean, tensor_t *rstd)
{
    yoke_element_t e = s->x->element;
    tensor_t y = tensor_new(e, s->rows * s->columns, 1);
    long double *expected = copy_values(&y);
    long double *means = copy_values(mean);
    long double *rstds = copy_values(rstd);
    for (uint64_t r = 0; r < s->rows; r++)
        norm_row(s, r, expected + r * s->columns, &means[r], &rstds[r]);
    if (s->centred)
        OK(yoke_op_layer_norm(bench.operators, bench.queue, e, y.span, mean->span,
                              rstd->span, s->x->span, s->weight->span, s->bias->span,
                              s->rows, s->columns, s->epsilon));
    else
        OK(yoke_op_rms_norm(bench.operators, bench.queue, e, y.span, rstd->span,
                            s->x->span, s->weight->span, s->rows, s->columns,
                            s->epsilon));
    tensor_read(&y);
    tensor_read(mean);
    tensor_read(rstd);
    check_near("norm", &y, expected, tolerance_of(e));
    if (s->centred)
        check_near("mean", mean, means, 1e-5);
    check_near("rstd", rstd, rstds, 1e-5);
    free(expected);
    free(means);
    free(rstds);
    tensor_free(&y);
}

static void check_norm_backward(norm_context_t *s, tensor_t *tensors[4], tensor_t *mean,
                                tensor_t *rstd)
{
    yoke_element_t e = s->x->element;
    tensor_t dx = tensor_new(e, s->rows * s->columns, 1);
    tensor_t dweight = tensor_new(YOKE_ELEMENT_F32, s->columns, 1);
    tensor_t dbias = tensor_new(YOKE_ELEMENT_F32, s->columns, 1);
    long double *slopes = differences(norm_layer, s, tensors[0]);
    long double *weights = differences(norm_layer, s, tensors[1]);
    long double *biases = differences(norm_layer, s, tensors[2]);
    for (uint64_t c = 0; c < s->columns; c++) {
        weights[c] += dweight.value[c];
        biases[c] += dbias.value[c];
    }
    if (s->centred)
        OK(yoke_op_layer_norm_backward(bench.operators, bench.queue, e, dx.span,
                                       dweight.span, dbias.span, s->dy->span, s->x->span,
                                       s->weight->span, mean->span, rstd->span, s->rows,
                                       s->columns));
    else
        OK(yoke_op_rms_norm_backward(bench.operators, bench.queue, e, dx.span,
                                     dweight.span, s->dy->span, s->x->span,
                                     s->weight->span, rstd->span, s->rows, s->columns));
    tensor_read(&dx);
    tensor_read(&dweight);
    tensor_read(&dbias);
    check_near("norm dx", &dx, slopes, tolerance_of(e));
    check_near("norm dweight", &dweight, weights, 1e-5);
    check_near("norm dbias", &dbias, biases, 1e-5);
    free(slopes);
    free(weights);
    free(biases);
    tensor_free(&dx);
    tensor_free(&dweight);
    tensor_free(&dbias);
}

static void check_norms(yoke_element_t e, uint64_t rows, uint64_t columns, bool centred,
                        bool backward)
{
    tensor_t x = tensor_new(e, rows * columns, 2);
    tensor_t weight = tensor_new(e, columns, 1);
    tensor_t bias = tensor_new(e, columns, 1);
    tensor_t dy = tensor_new(e, rows * columns, 1);
    tensor_t mean = tensor_new(YOKE_ELEMENT_F32, rows, 1);
    tensor_t rstd = tensor_new(YOKE_ELEMENT_F32, rows, 1);
    tensor_t *tensors[4] = {&x, &weight, &bias, &dy};
    norm_context_t s = {&x, &weight, &bias, &dy, rows, columns, centred, 1e-3f};
    for (uint64_t i = 0; i < x.count; i++)
        x.value[i] = rounded(e, x.value[i] + 3); /* the mean is not near 0 */
    tensor_write(&x);
    check_norm(&s, &mean, &rstd);
    if (backward)
        check_norm_backward(&s, tensors, &mean, &rstd);
    for (int i = 0; i < 4; i++)
        tensor_free(tensors[i]);
    tensor_free(&mean);
    tensor_free(&rstd);
}

void test_norms(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int centred = 0; tested(layer_elements[i]) && centred < 2; centred++) {
            check_norms(layer_elements[i], 5, 37, centred != 0, true);
            check_norms(layer_elements[i], 1, 2, centred != 0, true);
            check_norms(layer_elements[i], 3, 2053, centred != 0, false);
            check_norms(layer_elements[i], 0, 4, centred != 0, false);
        }
}

/* --- activations -------------------------------------------------------------------- */

static long double activated(yoke_activation_t kind, long double x)
{
    const long double pi = acosl(-1);
    if (kind == YOKE_GELU)
        return x / 2 * erfcl(-x / sqrtl(2));
    if (kind == YOKE_GELU_TANH)
        return x / 2 * (1 + tanhl(sqrtl(2 / pi) * (x + 0.044715L * x * x * x)));
    return x / (1 + expl(-x));
}

void test_activations(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int kind = YOKE_GELU; tested(layer_elements[i]) && kind <= YOKE_SILU;
             kind++) {
            yoke_element_t e = layer_elements[i];
            tensor_t x = tensor_new(e, 1511, kind == 1 ? 20 : 6);
            tensor_t y = tensor_new(e, x.count, 1);
            tensor_t dy = tensor_new(e, x.count, 1);
            long double *out = copy_values(&x);
            long double *slope = copy_values(&x);
            long double *product = copy_values(&x);
            for (uint64_t j = 0; j < x.count; j++) {
                yoke_activation_t a = (yoke_activation_t)kind;
                out[j] = activated(a, x.value[j]);
                slope[j] = dy.value[j] *
                           (activated(a, x.value[j] + 1e-6L) -
                            activated(a, x.value[j] - 1e-6L)) /
                           2e-6L;
                product[j] = rounded(e, (float)(x.value[j] * dy.value[j]));
            }
            OK(yoke_op_activation(bench.operators, bench.queue, e,
                                  (yoke_activation_t)kind, y.span, x.span, x.count));
            tensor_read(&y);
            check_near("activation", &y, out, tolerance_of(e));
            OK(yoke_op_multiply(bench.operators, bench.queue, e, y.span, x.span, dy.span,
                                x.count));
            tensor_read(&y);
            check_exact("multiply", &y, product);
            OK(yoke_op_activation_backward(bench.operators, bench.queue, e,
                                           (yoke_activation_t)kind, dy.span, dy.span,
                                           x.span, x.count));
            tensor_read(&dy);
            check_near("activation_backward", &dy, slope, tolerance_of(e));
            free(out);
            free(slope);
            free(product);
            tensor_free(&x);
            tensor_free(&y);
            tensor_free(&dy);
        }
}

/* --- embeddings --------------------------------------------------------------------- */

void test_embedding(void **state)
{
    enum { ROWS = 97, COLUMNS = 19, TABLE = 11 };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        yoke_element_t e = layer_elements[i];
        if (!tested(e))
            continue;
        tensor_t table = tensor_new(e, TABLE * COLUMNS, 1);
        tensor_t dtable = tensor_new(YOKE_ELEMENT_F32, TABLE * COLUMNS, 1);
        tensor_t y = tensor_new(e, ROWS * COLUMNS, 1);
        tensor_t index = tensor_new(YOKE_ELEMENT_U32, ROWS, 13); /* some past the end */
        long double *looked = copy_values(&y);
        long double *sums = copy_values(&dtable);
        for (uint64_t r = 0; r < ROWS; r++)
            for (uint64_t c = 0; c < COLUMNS; c++) {
                uint64_t at = (uint64_t)index.value[r] * COLUMNS + c;
                bool in = index.value[r] < TABLE;
                looked[r * COLUMNS + c] = in ? table.value[at] : 0;
                if (in) /* in order, each sum in f32: the same bits everywhere */
                    sums[at] = (float)((float)sums[at] + (float)y.value[r * COLUMNS + c]);
            }
        OK(yoke_op_embedding_backward(bench.operators, bench.queue, e, dtable.span,
                                      y.span, index.span, ROWS, COLUMNS, TABLE));
        OK(yoke_op_embedding(bench.operators, bench.queue, e, y.span, table.span,
                             index.span, ROWS, COLUMNS, TABLE));
        tensor_read(&y);
        tensor_read(&dtable);
        check_exact("embedding", &y, looked);
        check_exact("embedding_backward", &dtable, sums);
        free(looked);
        free(sums);
        tensor_free(&table);
        tensor_free(&dtable);
        tensor_free(&y);
        tensor_free(&index);
    }
}

/* --- rotary ------------------------------------------------------------------------- */

void test_rotary(void **state)
{
    enum { TOKENS = 13, HEADS = 3, WIDTH = 10 };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        yoke_element_t e = layer_elements[i];
        if (!tested(e))
            continue;
        tensor_t x = tensor_new(e, TOKENS * HEADS * WIDTH, 1);
        tensor_t at = tensor_new(YOKE_ELEMENT_U32, TOKENS, 2000);
        long double *original = copy_values(&x);
        long double *turned = copy_values(&x);
        for (uint64_t h = 0; h < TOKENS * HEADS; h++)
            for (uint64_t j = 0; j < WIDTH / 2; j++) {
                long double angle = at.value[h / HEADS] * powl(10000, -2.0L * j / WIDTH);
                long double a = original[h * WIDTH + j];
                long double b = original[h * WIDTH + j + WIDTH / 2];
                turned[h * WIDTH + j] = a * cosl(angle) - b * sinl(angle);
                turned[h * WIDTH + j + WIDTH / 2] = a * sinl(angle) + b * cosl(angle);
            }
        OK(yoke_op_rotary(bench.operators, bench.queue, e, x.span, x.span, at.span,
                          TOKENS, HEADS, WIDTH, 10000, false));
        tensor_read(&x);
        check_near("rotary", &x, turned, 2000 * 0x1p-21 + step_of(e));
        OK(yoke_op_rotary(bench.operators, bench.queue, e, x.span, x.span, at.span,
                          TOKENS, HEADS, WIDTH, 10000, true));
        tensor_read(&x);
        check_near("rotary back", &x, original, 1e-5 + 2 * step_of(e));
        free(original);
        free(turned);
        tensor_free(&x);
        tensor_free(&at);
    }
}
