/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of cuBLAS and cuBLASLt, by cublas_api.h and cublasLt.h of the CUDA
 * Toolkit 13.0; handles and descriptors are void *. No include guard:
 * ../header_check_cuda.cpp reads it into a namespace. */
FAKE_API int cublasLtCreate(void **out_handle);
FAKE_API int cublasLtDestroy(void *handle);
FAKE_API size_t cublasLtGetVersion(void);
FAKE_API const char *cublasLtGetStatusName(int status);
FAKE_API int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows,
                                        uint64_t columns, int64_t ld);
FAKE_API int cublasLtMatrixLayoutDestroy(void *layout);
FAKE_API int cublasLtMatrixLayoutSetAttribute(void *layout, int which, const void *value,
                                              size_t size);
FAKE_API int cublasLtMatmulDescCreate(void **out, int compute, int scale);
FAKE_API int cublasLtMatmulDescDestroy(void *description);
FAKE_API int cublasLtMatmulDescSetAttribute(void *description, int which,
                                            const void *value, size_t size);
FAKE_API int cublasLtMatmulPreferenceCreate(void **out);
FAKE_API int cublasLtMatmulPreferenceDestroy(void *preference);
FAKE_API int cublasLtMatmulPreferenceSetAttribute(void *preference, int which,
                                                  const void *value, size_t size);
FAKE_API int cublasLtMatmulAlgoGetHeuristic(void *handle, void *description, void *a,
                                            void *b, void *c, void *d, void *preference,
                                            int room, cublaslt_heuristic_t *results,
                                            int *out_count);
FAKE_API int cublasLtMatmul(void *handle, void *description, const void *alpha,
                            const void *a, void *a_layout, const void *b, void *b_layout,
                            const void *beta, const void *c, void *c_layout, void *d,
                            void *d_layout, const cublaslt_algorithm_t *algorithm,
                            void *workspace, size_t workspace_size, void *stream);
FAKE_API int cublasCreate_v2(void **out_handle);
FAKE_API int cublasDestroy_v2(void *handle);
FAKE_API int cublasGetVersion_v2(void *handle, int *version);
FAKE_API int cublasSetStream_v2(void *handle, void *stream);
FAKE_API int cublasGemmEx(void *handle, int transpose_a, int transpose_b, int m, int n,
                          int k, const void *alpha, const void *a, int a_type, int lda,
                          const void *b, int b_type, int ldb, const void *beta, void *c,
                          int c_type, int ldc, int compute, int algorithm);
FAKE_API int cublasGemmStridedBatchedEx(void *handle, int transpose_a, int transpose_b,
                                        int m, int n, int k, const void *alpha,
                                        const void *a, int a_type, int lda,
                                        long long stride_a, const void *b, int b_type,
                                        int ldb, long long stride_b, const void *beta,
                                        void *c, int c_type, int ldc, long long stride_c,
                                        int batch, int compute, int algorithm);
