/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_TENSOR_H
#define YOKE_TESTS_FAKES_TENSOR_H

/*
 * Strided tensors and the few operators that the vendors' operator libraries have in
 * common: elementwise with broadcasting, matrix product, conversion. Sums of
 * floating-point numbers are taken in f32 (f64 for f64) and rounded once, to nearest
 * even.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum fake_element {
    FAKE_ELEMENT_NONE = 0,
    FAKE_F64,
    FAKE_F32,
    FAKE_F16,
    FAKE_BF16,
    FAKE_I8,
    FAKE_U8,
    FAKE_I16,
    FAKE_U16,
    FAKE_I32,
    FAKE_U32,
    FAKE_I64,
    FAKE_U64,
    FAKE_BOOL
} fake_element_t;

size_t fake_element_size(fake_element_t element);

#define FAKE_MAX_RANK 8

typedef struct fake_tensor {
    fake_element_t element;
    int rank;
    int64_t shape[FAKE_MAX_RANK];
    int64_t stride[FAKE_MAX_RANK]; /* elements */
    char *data;                    /* of element [0, 0, ...] */
} fake_tensor_t;

typedef enum fake_operator {
    FAKE_ADD, /* alpha * a + beta * b */
    FAKE_SUB, /* alpha * a - beta * b */
    FAKE_MUL, /* alpha * a * beta * b */
    FAKE_MAX,
    FAKE_MIN
} fake_operator_t;

/* Row-major strides for the shape. */
void fake_tensor_dense(fake_tensor_t *tensor);
uint64_t fake_tensor_count(const fake_tensor_t *tensor);
/* Do `a` and `b` broadcast to the shape of `out`? b may be NULL. */
bool fake_tensor_broadcasts(const fake_tensor_t *a, const fake_tensor_t *b,
                            const fake_tensor_t *out);

/* out = a (op) b + gamma * out. Integers wrap; factors are then taken as integers. */
void fake_tensor_binary(fake_operator_t op, const fake_tensor_t *a, double alpha,
                        const fake_tensor_t *b, double beta, const fake_tensor_t *out,
                        double gamma);
/* Shapes [..., m, k] x [..., k, n] -> [..., m, n], the leading ones broadcast.
 * out = alpha * a b + beta * c; `out` is not read when beta is 0, else c = out. */
void fake_tensor_matmul(const fake_tensor_t *a, const fake_tensor_t *b,
                        const fake_tensor_t *out, double alpha, double beta);
/* Floating-point to integer: toward zero, saturating. */
void fake_tensor_cast(const fake_tensor_t *from, const fake_tensor_t *to);

#endif
