/* SPDX-License-Identifier: Apache-2.0 */
/* rocBLAS's functions, by rocblas-functions.h of ROCm/rocBLAS; handles are void *. */
FAKE_API int rocblas_create_handle(void **out_handle);
FAKE_API int rocblas_destroy_handle(void *at);
FAKE_API int rocblas_set_stream(void *at, void *stream);
FAKE_API int rocblas_get_version_string_size(size_t *size);
FAKE_API int rocblas_get_version_string(char *text, size_t size);
FAKE_API int rocblas_gemm_ex(void *handle, int transpose_a, int transpose_b, int m, int n,
                             int k, const void *alpha, const void *a, int a_type, int lda,
                             const void *b, int b_type, int ldb, const void *beta,
                             const void *c, int c_type, int ldc, void *d, int d_type,
                             int ldd, int compute, int algorithm, int32_t solution,
                             uint32_t flags);
FAKE_API int rocblas_gemm_strided_batched_ex(
    void *handle, int transpose_a, int transpose_b, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, int64_t stride_a,
    const void *b, int b_type, int ldb, int64_t stride_b, const void *beta, const void *c,
    int c_type, int ldc, int64_t stride_c, void *d, int d_type, int ldd, int64_t stride_d,
    int batch, int compute, int algorithm, int32_t solution, uint32_t flags);
