/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_OPERATORS_TESTS_H
#define YOKE_TESTS_OPERATORS_TESTS_H

/* One function an operator or family; cmocka's signature. */
void test_fill(void **state);
void test_convert(void **state);
void test_axpy_scale(void **state);
void test_reduce(void **state);
void test_fold(void **state);
void test_select(void **state);
void test_pack_unpack(void **state);
void test_gemm(void **state);
void test_columns(void **state);
void test_softmax(void **state);
void test_norms(void **state);
void test_activations(void **state);
void test_embedding(void **state);
void test_rotary(void **state);
void test_cross_entropy(void **state);
void test_adam(void **state);
void test_refusals(void **state);

#endif
