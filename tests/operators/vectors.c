/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/operators/support.h"
#include "tests/operators/tests.h"

static const uint64_t sizes[] = {0, 1, 7, 257, 5003};
#define EACH_SIZE(n)                                                                     \
    for (size_t n##_i = 0; n##_i < sizeof sizes / sizeof sizes[0]; n##_i++)
#define EACH_ELEMENT(e)                                                                  \
    for (yoke_element_t e = YOKE_ELEMENT_F64; e < YOKE_ELEMENT_COUNT;                    \
         e = (yoke_element_t)(e + 1))                                                    \
        if (tested(e))

void test_fill(void **state)
{
    static const double values[] = {1.5, -3, 300.7, 1e9, 65519.9, 1e300, NAN};
    (void)state;
    EACH_ELEMENT(e)
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        tensor_t x = tensor_new(e, sizes[v % 5], 1);
        for (uint64_t i = 0; i < x.count; i++)
            x.value[i] = rounded(e, values[v]);
        long double *expected = copy_values(&x);
        OK(yoke_op_fill(bench.operators, bench.queue, e, x.span, values[v], x.count));
        tensor_read(&x);
        check_exact("fill", &x, expected);
        free(expected);
        tensor_free(&x);
    }
}

/* Values at which rounding or saturation of some type turns. */
static long double special(uint64_t i)
{
    static const long double at[] = {0,
                                     -0.0L,
                                     1,
                                     -1,
                                     0.5L,
                                     2.5L,
                                     127.5L,
                                     -128.9L,
                                     255.9L,
                                     448,
                                     464,
                                     464.1L,
                                     480,
                                     57344,
                                     61440,
                                     61439.9L,
                                     65504,
                                     65519.9L,
                                     65520,
                                     2147483647,
                                     2147483648.0L,
                                     -0x1p31L,
                                     0x1p32L,
                                     0x1p63L,
                                     -0x1p63L,
                                     0x1p64L,
                                     1e30L,
                                     3.4e38L,
                                     3.5e38L,
                                     1e300L,
                                     0x1p-24L,
                                     0x1p-25L,
                                     0x1.8p-25L,
                                     0x1p-126L,
                                     0x1p-149L,
                                     0x1p-150L,
                                     1e-300L,
                                     0x1.00200000001p0L,
                                     0x1.006p0L,
                                     0x1.01p0L,
                                     0x1.0100001p0L,
                                     0x1.08p0L,
                                     0x1.0800001p0L,
                                     0x1.2p0L,
                                     0x1.2000001p0L,
                                     16777217,
                                     0x1000001001p0L,
                                     0x1002000000000001p0L,
                                     2049,
                                     2051};
    size_t count = sizeof at / sizeof at[0];
    if (i % 11 == 10)
        return i % 22 == 10 ? (long double)NAN : i % 3 == 0 ? INFINITY : -INFINITY;
    if (i % 3 == 0)
        return noise() * ldexp(1, (int)(noise() * 70));
    return (i % 2 != 0 ? -1 : 1) * at[i / 3 % count];
}

void test_convert(void **state)
{
    (void)state;
    EACH_ELEMENT(to)
    for (yoke_element_t from = YOKE_ELEMENT_F64; from < YOKE_ELEMENT_COUNT;
         from = (yoke_element_t)(from + 1)) {
        tensor_t x = tensor_new(from, 397, 1);
        tensor_t y = tensor_new(to, x.count, 1);
        for (uint64_t i = 0; i < x.count; i++)
            x.value[i] = rounded(from, special(i));
        tensor_write(&x);
        tensor_read(&x);
        OK(yoke_op_convert(bench.operators, bench.queue, to, y.span, from, x.span,
                           x.count));
        tensor_read(&y);
        for (uint64_t i = 0; i < x.count; i++)
            x.value[i] = rounded(to, x.value[i]);
        check_exact(yoke_element_name(from), &y, x.value);
        tensor_free(&x);
        tensor_free(&y);
    }
}

/* The low bits of a whole number, as the type has them. */
static long double wrapped(yoke_element_t element, __int128 value)
{
    uint64_t low = (uint64_t)value;
    return decode(element, &low, 0);
}

/* One operation's result: in f32 (f64 for f64), rounded once. */
static long double once(yoke_element_t element, long double exact)
{
    return element == YOKE_ELEMENT_F64 ? (long double)(double)exact
                                       : rounded(element, (float)exact);
}

static long double axpy_of(yoke_element_t e, double alpha, long double x, long double y)
{
    if (!is_float(e))
        return wrapped(e, (__int128)truncl(alpha) * (__int128)x + (__int128)y);
    if (e == YOKE_ELEMENT_F64) {
        volatile double product = alpha * (double)x;
        return product + (double)y;
    }
    volatile float product = (float)alpha * (float)x;
    return rounded(e, (float)(product + (float)y));
}

static long double scale_of(yoke_element_t e, double alpha, uint64_t divisor,
                            long double x)
{
    if (is_float(e))
        return e == YOKE_ELEMENT_F64 ? (long double)(double)((double)x * alpha)
                                     : once(e, x * (float)alpha);
    if (divisor != 0)
        return wrapped(e, (__int128)x / (__int128)divisor);
    return wrapped(e, (__int128)x * (__int128)truncl(alpha));
}

void test_axpy_scale(void **state)
{
    (void)state;
    EACH_ELEMENT(e) EACH_SIZE(n)
    {
        double alpha = n_i % 2 == 0 ? -2.75 : 3.3;
        uint64_t divisor = n_i == 0 ? 0 : n_i == 1 ? 3 : n_i == 2 ? UINT64_MAX : n_i;
        tensor_t x = tensor_new(e, sizes[n_i], is_float(e) ? 4 : 0);
        tensor_t y = tensor_new(e, sizes[n_i], is_float(e) ? 4 : 0);
        long double *expected = copy_values(&y);
        for (uint64_t i = 0; i < x.count; i++)
            expected[i] = axpy_of(e, alpha, x.value[i], y.value[i]);
        OK(yoke_op_axpy(bench.operators, bench.queue, e, alpha, x.span, y.span, x.count));
        tensor_read(&y);
        check_exact("axpy", &y, expected);
        for (uint64_t i = 0; i < x.count; i++)
            expected[i] = scale_of(e, alpha, divisor, x.value[i]);
        OK(yoke_op_scale(bench.operators, bench.queue, e, alpha, divisor, x.span,
                         x.count));
        tensor_read(&x);
        check_exact("scale", &x, expected);
        free(expected);
        tensor_free(&x);
        tensor_free(&y);
    }
}

static long double reduce_of(yoke_element_t e, yoke_reduction_t op, long double a,
                             long double b)
{
    if (op == YOKE_REDUCE_MAX || op == YOKE_REDUCE_MIN) {
        if (isnan(a) || isnan(b))
            return (long double)NAN;
        return (op == YOKE_REDUCE_MAX) == (a > b) ? a : b;
    }
    if (!is_float(e))
        return wrapped(e, op == YOKE_REDUCE_PROD
                              ? (__int128)((unsigned __int128)(__int128)a *
                                           (unsigned __int128)(__int128)b)
                              : (__int128)a + (__int128)b);
    if (e == YOKE_ELEMENT_F64)
        return op == YOKE_REDUCE_PROD ? (double)a * (double)b : (double)a + (double)b;
    return once(e,
                op == YOKE_REDUCE_PROD ? (double)a * (double)b : (double)a + (double)b);
}

void test_reduce(void **state)
{
    (void)state;
    EACH_ELEMENT(e)
    for (int op = 0; op < YOKE_REDUCTION_COUNT; op++) {
        uint64_t count = sizes[(unsigned)(op + (int)e) % 5];
        tensor_t a = tensor_new(e, count, is_float(e) ? 30 : 0);
        tensor_t b = tensor_new(e, count, is_float(e) ? 30 : 0);
        for (uint64_t i = 0; is_float(e) && i < count; i += 13) {
            a.value[i] = rounded(e, special(i));
            b.value[i] = rounded(e, special(i / 13 + 5));
        }
        tensor_write(&a);
        tensor_write(&b);
        tensor_read(&a);
        tensor_read(&b);
        long double *expected = copy_values(&a);
        for (uint64_t i = 0; i < count; i++)
            expected[i] = reduce_of(e, (yoke_reduction_t)op, a.value[i], b.value[i]);
        OK(yoke_op_reduce(bench.operators, bench.queue, e, (yoke_reduction_t)op, a.span,
                          a.span, b.span, count));
        tensor_read(&a);
        check_exact(yoke_reduction_name((yoke_reduction_t)op), &a, expected);
        free(expected);
        tensor_free(&a);
        tensor_free(&b);
    }
}

static yoke_element_t sum_type(yoke_element_t e)
{
    return e == YOKE_ELEMENT_F64 ? e
           : is_float(e)         ? YOKE_ELEMENT_F32
           : is_signed(e)        ? YOKE_ELEMENT_I64
                                 : YOKE_ELEMENT_U64;
}

static void check_sums(yoke_element_t e, tensor_t *x, yoke_span_t scratch)
{
    tensor_t sum = tensor_new(sum_type(e), 1, 1);
    tensor_t again = tensor_new(sum_type(e), 1, 1);
    long double total = 0;
    long double size = 0;
    __int128 whole = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        total += x->value[i];
        size += fabsl(x->value[i]);
        if (!is_float(e))
            whole += (__int128)x->value[i];
    }
    OK(yoke_op_fold(bench.operators, bench.queue, e, YOKE_REDUCE_SUM, sum.span, x->span,
                    x->count, scratch));
    OK(yoke_op_fold(bench.operators, bench.queue, e, YOKE_REDUCE_SUM, again.span, x->span,
                    x->count, scratch));
    tensor_read(&sum);
    tensor_read(&again);
    assert_true(sum.value[0] == again.value[0]);
    if (!is_float(e))
        total = wrapped(sum.element, whole);
    if (!(fabsl(sum.value[0] - total) <= (is_float(e) ? 2e-6L * size : 0)))
        fail_msg("%s: sum of %llu %s: %.12Lg, should be %.12Lg", bench.name,
                 (unsigned long long)x->count, yoke_element_name(e), sum.value[0], total);
    tensor_free(&sum);
    tensor_free(&again);
}

static void check_squares(yoke_element_t e, tensor_t *x, yoke_span_t scratch)
{
    tensor_t sum = tensor_new(YOKE_ELEMENT_F32, 1, 1);
    long double total = 0;
    for (uint64_t i = 0; i < x->count; i++)
        total += x->value[i] * x->value[i];
    OK(yoke_op_square_sum(bench.operators, bench.queue, e, sum.span, x->span, x->count,
                          scratch));
    tensor_read(&sum);
    if (!(fabsl(sum.value[0] - total) <= 2e-6L * total))
        fail_msg("%s: squares of %s: %.12Lg, should be %.12Lg", bench.name,
                 yoke_element_name(e), sum.value[0], total);
    tensor_free(&sum);
}

static void check_extremes(yoke_element_t e, tensor_t *x, yoke_span_t scratch)
{
    for (int op = YOKE_REDUCE_MAX; op <= YOKE_REDUCE_MIN; op++) {
        tensor_t most = tensor_new(e, 1, 1);
        long double expected = x->value[0];
        for (uint64_t i = 0; i < x->count; i++)
            expected = reduce_of(e, (yoke_reduction_t)op, expected, x->value[i]);
        OK(yoke_op_fold(bench.operators, bench.queue, e, (yoke_reduction_t)op, most.span,
                        x->span, x->count, scratch));
        tensor_read(&most);
        check_exact("extreme", &most, &expected);
        tensor_free(&most);
    }
}

void test_fold(void **state)
{
    static const uint64_t counts[] = {0, 1, 77, 8193, 50021};
    yoke_span_t scratch = yoke_span(bench.scratch, 256);
    (void)state;
    EACH_ELEMENT(e)
    for (size_t n = 0; n < 5; n++) {
        tensor_t x = tensor_new(e, counts[n], is_float(e) ? 2 : 0);
        check_sums(e, &x, scratch);
        if (counts[n] > 0)
            check_extremes(e, &x, scratch);
        if (is_float(e))
            check_squares(e, &x, scratch);
        if (n == 2 && is_float(e)) {
            x.value[50] = (long double)NAN;
            tensor_write(&x);
            check_extremes(e, &x, scratch);
        }
        tensor_free(&x);
    }
}

static void check_select(uint64_t count, float threshold, uint32_t capacity)
{
    tensor_t x = tensor_new(YOKE_ELEMENT_F32, count, 1);
    tensor_t at = tensor_new(YOKE_ELEMENT_U32, capacity, 99);
    tensor_t value = tensor_new(YOKE_ELEMENT_F32, capacity, 99);
    tensor_t found = tensor_new(YOKE_ELEMENT_U32, 1, 99);
    long double *where = copy_values(&at);
    long double *what = copy_values(&value);
    long double hits = 0;
    for (uint64_t i = 0; i < count; i++)
        if (fabsl(x.value[i]) >= threshold) {
            if (hits < capacity) {
                where[(uint64_t)hits] = i;
                what[(uint64_t)hits] = x.value[i];
            }
            hits++;
        }
    OK(yoke_op_select(bench.operators, bench.queue, x.span, count, threshold, at.span,
                      value.span, found.span, capacity, yoke_span(bench.scratch, 4)));
    tensor_read(&at);
    tensor_read(&value);
    tensor_read(&found);
    check_exact("select found", &found, &hits);
    check_exact("select index", &at, where);
    check_exact("select value", &value, what);
    free(where);
    free(what);
    tensor_free(&x);
    tensor_free(&at);
    tensor_free(&value);
    tensor_free(&found);
}

void test_select(void **state)
{
    (void)state;
    check_select(0, 0.5f, 10);
    check_select(1, 0.0f, 10);
    check_select(256, 0.9f, 300);
    check_select(10007, 0.9f, 5000);
    check_select(10007, 0.9f, 100);
    check_select(70001, 0.99f, 70001);
    check_select(5000, 2.0f, 10);
}

static void check_indexed(yoke_element_t e, uint64_t count)
{
    uint64_t room = 2 * count + 5;
    tensor_t index = tensor_new(YOKE_ELEMENT_U32, count, 1);
    tensor_t large = tensor_new(e, room, is_float(e) ? 5 : 0);
    tensor_t small = tensor_new(e, count, is_float(e) ? 5 : 0);
    for (uint64_t i = 0; i < count; i++)
        index.value[i] = (i * 2 + 3) % room; /* differ: room is odd */
    tensor_write(&index);
    for (int add = 0; add < (yoke_element_size(e) == 1 && !is_float(e) ? 1 : 2); add++) {
        long double *expected = copy_values(&large);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = (uint64_t)index.value[i];
            expected[at] =
                add ? reduce_of(e, YOKE_REDUCE_SUM, large.value[at], small.value[i])
                    : small.value[i];
        }
        OK(yoke_op_unpack(bench.operators, bench.queue, e, large.span, small.span,
                          index.span, count, add != 0));
        tensor_read(&large);
        check_exact(add ? "unpack +=" : "unpack", &large, expected);
        free(expected);
    }
    OK(yoke_op_pack(bench.operators, bench.queue, e, small.span, large.span, index.span,
                    count));
    tensor_read(&small);
    for (uint64_t i = 0; i < count; i++)
        index.value[i] = large.value[(uint64_t)index.value[i]];
    check_exact("pack", &small, index.value);
    tensor_free(&index);
    tensor_free(&large);
    tensor_free(&small);
}

void test_pack_unpack(void **state)
{
    (void)state;
    EACH_ELEMENT(e)
    {
        check_indexed(e, 0);
        check_indexed(e, 1);
        check_indexed(e, 1009);
    }
}
