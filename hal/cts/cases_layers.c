/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of layers and of training: softmax, norms, cross-entropy and Adam against
 * their definitions in double, gradients against central differences of those. */
#include "hal/cts/case.h"
#include "hal/cts/codec.h"

#include <math.h>

enum { ROWS = 6, COLUMNS = 37, COUNT = ROWS * COLUMNS };

/* What a case works on: values as the element holds them, on the host and there. */
typedef struct layer {
    yoke_cts_t *t;
    yoke_element_t element;
    yoke_queue_t *queue;
    double allowed; /* of results near 1 */
} layer_t;

typedef struct tensor {
    yoke_buffer_t *buffer;
    yoke_element_t element;
    size_t count;
    double value[COUNT];
} tensor_t;

static layer_t make_layer(yoke_cts_t *t, const char *name)
{
    layer_t layer = {t, (yoke_element_t)yoke_cts_parameter(t), NULL, 0};
    if (strcmp(yoke_operators_path(yoke_cts_operators(t), name, layer.element), "none") ==
        0)
        yoke_cts_unsupported(t, "the operator has no path for this element here");
    layer.queue = yoke_cts_queue(t, yoke_cts_device(t));
    /* An input and an output that are rounded once each. */
    layer.allowed = layer.element == YOKE_ELEMENT_F32   ? 2e-5
                    : layer.element == YOKE_ELEMENT_F16 ? 4e-3
                                                        : 3e-2;
    return layer;
}

static void upload(const layer_t *layer, tensor_t *tensor)
{
    unsigned char packed[COUNT * 8];
    for (size_t i = 0; i < tensor->count; i++) {
        yoke_cts_store(tensor->element, packed, i, tensor->value[i]);
        tensor->value[i] = yoke_cts_load(tensor->element, packed, i);
    }
    yoke_cts_put(layer->t, layer->queue, tensor->buffer, 0, packed,
                 tensor->count * yoke_element_size(tensor->element));
}

/* Values between -2 and 2. */
static tensor_t *make_tensor(const layer_t *layer, yoke_element_t element, size_t count,
                             uint64_t seed)
{
    tensor_t *tensor = yoke_cts_memory(layer->t, sizeof *tensor);
    tensor->element = element;
    tensor->count = count;
    tensor->buffer = yoke_cts_buffer(layer->t, yoke_cts_device(layer->t),
                                     count * yoke_element_size(element));
    for (size_t i = 0; i < count; i++)
        tensor->value[i] =
            (double)(yoke_cts_random(&seed) >> 11) / 9007199254740992.0 * 4 - 2;
    upload(layer, tensor);
    return tensor;
}

static yoke_span_t whole(const tensor_t *tensor)
{
    return yoke_span(tensor->buffer, 0);
}

static void expect(const layer_t *layer, const char *what, const tensor_t *tensor,
                   const double *expected, double allowed)
{
    unsigned char packed[COUNT * 8];
    yoke_cts_get(layer->t, layer->queue, tensor->buffer, 0, packed,
                 tensor->count * yoke_element_size(tensor->element));
    for (size_t i = 0; i < tensor->count; i++) {
        double actual = yoke_cts_load(tensor->element, packed, i);
        if (!(fabs(actual - expected[i]) <= allowed * (1 + fabs(expected[i]))))
            FAIL(layer->t, "%s[%zu] is %.9g and should be %.9g", what, i, actual,
                 expected[i]);
    }
}

/* d (sum of dy * y) / d x[i], y = forward(x), both of ROWS rows. */
static void differences(void (*forward)(const double *x, const void *context, double *y),
                        const void *context, double *x, size_t count, const double *dy,
                        double *out)
{
    double above[COUNT], below[COUNT];
    const double step = 1e-4;
    for (size_t i = 0; i < count; i++) {
        double middle = x[i], sum = 0;
        x[i] = middle + step;
        forward(x, context, above);
        x[i] = middle - step;
        forward(x, context, below);
        x[i] = middle;
        for (size_t j = 0; j < COUNT; j++)
            sum += dy[j] * (above[j] - below[j]);
        out[i] = sum / (2 * step);
    }
}

/* --- softmax ------------------------------------------------------------------------ */

static void softmax_row(const double *x, size_t reach, double scale, double *y)
{
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < reach; c++)
        most = fmax(most, x[c] * scale);
    for (size_t c = 0; c < reach; c++)
        sum += exp(x[c] * scale - most);
    for (size_t c = 0; c < COLUMNS; c++)
        y[c] = c < reach ? exp(x[c] * scale - most) / sum : 0;
}

static void softmax_forward(const double *x, const void *context, double *y)
{
    for (size_t r = 0; r < ROWS; r++)
        softmax_row(x + r * COLUMNS, COLUMNS, *(const double *)context, y + r * COLUMNS);
}

/* second: queries of a causal block; 0: not causal. */
static void softmax(yoke_cts_t *t)
{
    layer_t layer = make_layer(t, "softmax");
    uint64_t queries = (uint64_t)yoke_cts_second(t);
    tensor_t *x = make_tensor(&layer, layer.element, COUNT, 230);
    double expected[COUNT];
    for (size_t r = 0; r < ROWS; r++) {
        size_t reach = queries == 0 ? COLUMNS : r % queries + COLUMNS - queries + 1;
        softmax_row(x->value + r * COLUMNS, reach, 1.5, expected + r * COLUMNS);
    }
    OK(t, yoke_op_softmax(yoke_cts_operators(t), layer.queue, layer.element, whole(x),
                          whole(x), ROWS, COLUMNS, 1.5f, queries > 0, queries));
    expect(&layer, "y", x, expected, layer.allowed);
}

static void softmax_backward(yoke_cts_t *t)
{
    layer_t layer = make_layer(t, "softmax_backward");
    tensor_t *x = make_tensor(&layer, layer.element, COUNT, 231),
             *dy = make_tensor(&layer, layer.element, COUNT, 232),
             *y = make_tensor(&layer, layer.element, COUNT, 233);
    double expected[COUNT], scale = 0.75;
    differences(softmax_forward, &scale, x->value, COUNT, dy->value, expected);
    softmax_forward(x->value, &scale, y->value);
    upload(&layer, y);
    OK(t, yoke_op_softmax_backward(yoke_cts_operators(t), layer.queue, layer.element,
                                   whole(dy), whole(y), whole(dy), ROWS, COLUMNS, 0.75f));
    expect(&layer, "dx", dy, expected, layer.allowed);
}

/* --- norms -------------------------------------------------------------------------- */

static const double epsilon = 1e-3;

typedef struct norm {
    bool centred; /* layer_norm, else rms_norm */
    tensor_t *x, *weight, *bias, *y, *mean, *rstd;
} norm_t;

static norm_t make_norm(const layer_t *layer, bool centred)
{
    yoke_element_t element = layer->element;
    return (norm_t){centred,
                    make_tensor(layer, element, COUNT, 240),
                    make_tensor(layer, element, COLUMNS, 241),
                    make_tensor(layer, element, COLUMNS, 242),
                    make_tensor(layer, element, COUNT, 243),
                    make_tensor(layer, YOKE_ELEMENT_F32, ROWS, 244),
                    make_tensor(layer, YOKE_ELEMENT_F32, ROWS, 245)};
}

static void statistics(const norm_t *norm, const double *x, double *mean, double *rstd)
{
    double sum = 0, squares = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        sum += x[c];
    *mean = norm->centred ? sum / COLUMNS : 0;
    for (size_t c = 0; c < COLUMNS; c++)
        squares += (x[c] - *mean) * (x[c] - *mean);
    *rstd = 1 / sqrt(squares / COLUMNS + epsilon);
}

static void norm_apply(const norm_t *norm, const double *x, const double *weight,
                       double *y)
{
    for (size_t r = 0; r < ROWS; r++) {
        double mean, rstd;
        statistics(norm, x + r * COLUMNS, &mean, &rstd);
        for (size_t c = 0; c < COLUMNS; c++)
            y[r * COLUMNS + c] = (x[r * COLUMNS + c] - mean) * rstd * weight[c] +
                                 (norm->centred ? norm->bias->value[c] : 0);
    }
}

static void norm_of_x(const double *x, const void *context, double *y)
{
    const norm_t *norm = context;
    norm_apply(norm, x, norm->weight->value, y);
}

static void norm_of_weight(const double *weight, const void *context, double *y)
{
    const norm_t *norm = context;
    norm_apply(norm, norm->x->value, weight, y);
}

/* second: layer_norm, else rms_norm. */
static void norm_forward(yoke_cts_t *t)
{
    bool centred = yoke_cts_second(t) != 0;
    layer_t layer = make_layer(t, centred ? "layer_norm" : "rms_norm");
    norm_t norm = make_norm(&layer, centred);
    double expected[COUNT], mean[ROWS], rstd[ROWS];
    norm_of_x(norm.x->value, &norm, expected);
    for (size_t r = 0; r < ROWS; r++)
        statistics(&norm, norm.x->value + r * COLUMNS, &mean[r], &rstd[r]);
    if (centred)
        OK(t, yoke_op_layer_norm(yoke_cts_operators(t), layer.queue, layer.element,
                                 whole(norm.y), whole(norm.mean), whole(norm.rstd),
                                 whole(norm.x), whole(norm.weight), whole(norm.bias),
                                 ROWS, COLUMNS, (float)epsilon));
    else
        OK(t, yoke_op_rms_norm(yoke_cts_operators(t), layer.queue, layer.element,
                               whole(norm.y), whole(norm.rstd), whole(norm.x),
                               whole(norm.weight), ROWS, COLUMNS, (float)epsilon));
    expect(&layer, "y", norm.y, expected, layer.allowed);
    expect(&layer, "rstd", norm.rstd, rstd, 2e-5);
    if (centred)
        expect(&layer, "mean", norm.mean, mean, 2e-5);
}

static void norm_backward(yoke_cts_t *t)
{
    bool centred = yoke_cts_second(t) != 0;
    layer_t layer = make_layer(t, centred ? "layer_norm_backward" : "rms_norm_backward");
    norm_t norm = make_norm(&layer, centred);
    tensor_t *dy = make_tensor(&layer, layer.element, COUNT, 246),
             *dx = make_tensor(&layer, layer.element, COUNT, 247),
             *dweight = make_tensor(&layer, YOKE_ELEMENT_F32, COLUMNS, 248),
             *dbias = make_tensor(&layer, YOKE_ELEMENT_F32, COLUMNS, 249);
    double slope[COUNT], by_weight[COLUMNS], by_bias[COLUMNS];
    differences(norm_of_x, &norm, norm.x->value, COUNT, dy->value, slope);
    differences(norm_of_weight, &norm, norm.weight->value, COLUMNS, dy->value, by_weight);
    for (size_t c = 0; c < COLUMNS; c++) { /* they are added to */
        by_weight[c] += dweight->value[c];
        by_bias[c] = dbias->value[c];
        for (size_t r = 0; r < ROWS; r++)
            by_bias[c] += dy->value[r * COLUMNS + c];
    }
    for (size_t r = 0; r < ROWS; r++)
        statistics(&norm, norm.x->value + r * COLUMNS, &norm.mean->value[r],
                   &norm.rstd->value[r]);
    upload(&layer, norm.mean);
    upload(&layer, norm.rstd);
    if (centred)
        OK(t, yoke_op_layer_norm_backward(
                  yoke_cts_operators(t), layer.queue, layer.element, whole(dx),
                  whole(dweight), whole(dbias), whole(dy), whole(norm.x),
                  whole(norm.weight), whole(norm.mean), whole(norm.rstd), ROWS, COLUMNS));
    else
        OK(t, yoke_op_rms_norm_backward(yoke_cts_operators(t), layer.queue, layer.element,
                                        whole(dx), whole(dweight), whole(dy),
                                        whole(norm.x), whole(norm.weight),
                                        whole(norm.rstd), ROWS, COLUMNS));
    expect(&layer, "dx", dx, slope, layer.allowed);
    expect(&layer, "dweight", dweight, by_weight, 1e-4);
    if (centred)
        expect(&layer, "dbias", dbias, by_bias, 1e-4);
}

/* --- cross-entropy ------------------------------------------------------------------ */

static void cross_entropy(yoke_cts_t *t)
{
    layer_t layer = make_layer(t, "cross_entropy");
    tensor_t *logits = make_tensor(&layer, layer.element, COUNT, 250),
             *gradient = make_tensor(&layer, layer.element, COUNT, 251),
             *loss = make_tensor(&layer, YOKE_ELEMENT_F32, ROWS, 252);
    uint32_t targets[ROWS] = {0, 5, COLUMNS - 1, COLUMNS, 17, UINT32_MAX};
    yoke_buffer_t *target_buffer = yoke_cts_buffer(t, yoke_cts_device(t), sizeof targets);
    double losses[ROWS], slope[COUNT];
    yoke_cts_put(t, layer.queue, target_buffer, 0, targets, sizeof targets);
    for (size_t r = 0; r < ROWS; r++) {
        double *row = slope + r * COLUMNS;
        bool ignored = targets[r] >= COLUMNS;
        softmax_row(logits->value + r * COLUMNS, COLUMNS, 1, row);
        losses[r] = ignored ? 0 : -log(row[targets[r]]);
        for (size_t c = 0; c < COLUMNS; c++)
            row[c] = ignored ? 0 : (row[c] - (c == targets[r] ? 1 : 0)) * 0.5;
    }
    OK(t, yoke_op_cross_entropy(yoke_cts_operators(t), layer.queue, layer.element,
                                whole(loss), whole(gradient), whole(logits),
                                yoke_span(target_buffer, 0), ROWS, COLUMNS, 0.5f));
    expect(&layer, "loss", loss, losses, 2e-5);
    expect(&layer, "dlogits", gradient, slope, layer.allowed);
    /* Without a gradient the losses are the same. */
    memset(loss->value, 0, sizeof loss->value);
    upload(&layer, loss);
    OK(t, yoke_op_cross_entropy(yoke_cts_operators(t), layer.queue, layer.element,
                                whole(loss), yoke_span(NULL, 0), whole(logits),
                                yoke_span(target_buffer, 0), ROWS, COLUMNS, 0.5f));
    expect(&layer, "loss", loss, losses, 2e-5);
}

/* --- Adam --------------------------------------------------------------------------- */

/* Three steps, with weight decay, a scaled gradient and a copy in bf16. */
static void adam(yoke_cts_t *t)
{
    layer_t layer = make_layer(t, "adam");
    tensor_t *p = make_tensor(&layer, YOKE_ELEMENT_F32, COUNT, 260),
             *m = make_tensor(&layer, YOKE_ELEMENT_F32, COUNT, 261),
             *v = make_tensor(&layer, YOKE_ELEMENT_F32, COUNT, 262),
             *gradient = make_tensor(&layer, layer.element, COUNT, 263),
             *copy = make_tensor(&layer, YOKE_ELEMENT_BF16, COUNT, 264);
    yoke_adam_t how = {sizeof how, 0.01f, 0.9f, 0.99f, 1e-6f, 0.1f, 0.5f, 0};
    memset(m->value, 0, sizeof m->value);
    memset(v->value, 0, sizeof v->value);
    upload(&layer, m);
    upload(&layer, v);
    for (uint64_t step = 1; step <= 3; step++) {
        double beta1 = (double)how.beta1, beta2 = (double)how.beta2;
        double rate = (double)how.learning_rate, decay = (double)how.weight_decay;
        how.step = step;
        for (size_t i = 0; i < COUNT; i++) {
            double g = gradient->value[i] * 0.5;
            m->value[i] = beta1 * m->value[i] + (1 - beta1) * g;
            v->value[i] = beta2 * v->value[i] + (1 - beta2) * g * g;
            double first = m->value[i] / (1 - pow(beta1, (double)step));
            double second = v->value[i] / (1 - pow(beta2, (double)step));
            p->value[i] -= rate * (decay * p->value[i] +
                                   first / (sqrt(second) + (double)how.epsilon));
        }
        OK(t, yoke_op_adam(yoke_cts_operators(t), layer.queue, &how, whole(p), whole(m),
                           whole(v), layer.element, whole(gradient), YOKE_ELEMENT_BF16,
                           whole(copy), COUNT));
    }
    expect(&layer, "parameter", p, p->value, 1e-5);
    expect(&layer, "m", m, m->value, 1e-5);
    expect(&layer, "v", v, v->value, 1e-5);
    expect(&layer, "copy", copy, p->value, 4e-3);
}

#define ROW(name, function, element, second)                                             \
    {                                                                                    \
        "operators/" name, 0, YOKE_CTS_OPERATORS, function, element, second              \
    }
#define LAYERS(name, element)                                                            \
    ROW("softmax-" name, softmax, element, 0),                                           \
        ROW("softmax-causal-" name, softmax, element, 3),                                \
        ROW("softmax-backward-" name, softmax_backward, element, 0),                     \
        ROW("layer-norm-" name, norm_forward, element, 1),                               \
        ROW("layer-norm-backward-" name, norm_backward, element, 1),                     \
        ROW("rms-norm-" name, norm_forward, element, 0),                                 \
        ROW("rms-norm-backward-" name, norm_backward, element, 0),                       \
        ROW("cross-entropy-" name, cross_entropy, element, 0),                           \
        ROW("adam-" name, adam, element, 0)

static const yoke_cts_case_t cases[] = {
    LAYERS("f32", YOKE_ELEMENT_F32),
    LAYERS("f16", YOKE_ELEMENT_F16),
    LAYERS("bf16", YOKE_ELEMENT_BF16),
};

YOKE_CTS_GROUP(layers, cases);
