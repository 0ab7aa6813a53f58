/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products and elementwise reductions by the aclnn operators. Each is planned
 * (which tells its workspace) and then run; tensors are descriptions that end after the
 * run was enqueued. Views, strides and batches are in the descriptions, so that nothing
 * is moved.
 */
#include "backends/ascend/ascend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hal/loader.h"

static yoke_aclnn_t aclnn;
static bool aclnn_there;
static pthread_once_t aclnn_once = PTHREAD_ONCE_INIT;

static bool resolve(const char *key, const char *const *names,
                    const yoke_symbol_t *symbols, size_t count)
{
    yoke_library_t library;
    char *problem = NULL;
    bool found;
    if (!yoke_library_open(key, names, &library, &problem, &found)) {
        free(problem);
        return false;
    }
    bool whole = yoke_library_resolve(&library, symbols, count) == NULL;
    yoke_library_forget(&library);
    return whole;
}

static void load(void)
{
    static const char *const meta[] = {"libnnopbase.so", NULL};
    static const char *const operators[] = {"libopapi.so", NULL};
    const yoke_symbol_t meta_symbols[] = {
        {"aclCreateTensor", NULL, &aclnn.tensor, false},
        {"aclDestroyTensor", NULL, &aclnn.tensor_end, false},
        {"aclCreateScalar", NULL, &aclnn.scalar, false},
        {"aclDestroyScalar", NULL, &aclnn.scalar_end, false},
    };
    const yoke_symbol_t operator_symbols[] = {
        {"aclnnMatmulGetWorkspaceSize", NULL, &aclnn.matmul_plan, false},
        {"aclnnMatmul", NULL, &aclnn.matmul, false},
        {"aclnnAddGetWorkspaceSize", NULL, &aclnn.add_plan, false},
        {"aclnnAdd", NULL, &aclnn.add, false},
        {"aclnnMulGetWorkspaceSize", NULL, &aclnn.binary_plan[0], false},
        {"aclnnMul", NULL, &aclnn.binary[0], false},
        {"aclnnMaximumGetWorkspaceSize", NULL, &aclnn.binary_plan[1], false},
        {"aclnnMaximum", NULL, &aclnn.binary[1], false},
        {"aclnnMinimumGetWorkspaceSize", NULL, &aclnn.binary_plan[2], false},
        {"aclnnMinimum", NULL, &aclnn.binary[2], false},
        /* Of libnnopbase.so, which this one needs. */
        {"aclSetAclOpExecutorRepeatable", NULL, &aclnn.executor_keep, true},
        {"aclDestroyAclOpExecutor", NULL, &aclnn.executor_end, true},
    };
    aclnn_there = resolve("NNOPBASE", meta, meta_symbols,
                          sizeof meta_symbols / sizeof meta_symbols[0]) &&
                  resolve("OPAPI", operators, operator_symbols,
                          sizeof operator_symbols / sizeof operator_symbols[0]);
}

static bool there(void)
{
    pthread_once(&aclnn_once, load);
    return aclnn_there;
}

const char *yoke_ascend_gemm_library(yoke_impl_device_t *device)
{
    (void)device;
    return there() ? "aclnn (libopapi)" : NULL;
}

/* Types that the operators' documents list for matrix products; -1 for none. */
static int matrix_type(uint32_t element)
{
    switch (element) {
    case YOKE_ELEMENT_F32:
        return YOKE_ACL_FLOAT;
    case YOKE_ELEMENT_F16:
        return YOKE_ACL_FLOAT16;
    case YOKE_ELEMENT_BF16:
        return YOKE_ACL_BF16;
    default:
        return -1;
    }
}

/* Types that add, mul, maximum and minimum share. */
static int elementwise_type(uint32_t element)
{
    switch (element) {
    case YOKE_ELEMENT_F64:
        return YOKE_ACL_DOUBLE;
    case YOKE_ELEMENT_I8:
        return YOKE_ACL_INT8;
    case YOKE_ELEMENT_U8:
        return YOKE_ACL_UINT8;
    case YOKE_ELEMENT_I32:
        return YOKE_ACL_INT32;
    case YOKE_ELEMENT_I64:
        return YOKE_ACL_INT64;
    default:
        return matrix_type(element);
    }
}

/* The workspace of a queue's operators, one at a time in order, so one block serves. It
 * grows after what uses it has passed. */
static int workspace(yoke_impl_queue_t *queue, uint64_t size, const char **out_call)
{
    const yoke_acl_t *acl = &queue->device->runtime->acl;
    if (size <= queue->workspace_size)
        return YOKE_ACL_SUCCESS;
    *out_call = "aclrtSynchronizeStream";
    int code = acl->stream_sync(queue->stream);
    if (code == YOKE_ACL_SUCCESS && queue->workspace != NULL) {
        *out_call = "aclrtFree";
        code = acl->release(queue->workspace);
        queue->workspace = NULL;
        queue->workspace_size = 0;
    }
    if (code == YOKE_ACL_SUCCESS) {
        *out_call = "aclrtMalloc";
        code = acl->allocate(&queue->workspace, size, YOKE_ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (code == YOKE_ACL_SUCCESS && queue->workspace == NULL)
        code = YOKE_ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (code == YOKE_ACL_SUCCESS)
        queue->workspace_size = size;
    return code;
}

typedef int (*run_t)(void *workspace, uint64_t size, void *executor, void *stream);

/* The second half takes an executor with it. One that is not to run can be ended only
 * after it was made one that stays. */
static void end_executor(void *executor)
{
    if (aclnn.executor_keep != NULL && aclnn.executor_end != NULL &&
        aclnn.executor_keep(executor) == 0)
        aclnn.executor_end(executor);
}

/* The second half of an operator; *out_call is its name. */
static int run(yoke_impl_queue_t *queue, run_t function, uint64_t size, void *executor,
               const char *name, const char **out_call)
{
    int code = workspace(queue, size, out_call);
    if (code != YOKE_ACL_SUCCESS) {
        end_executor(executor);
        return code;
    }
    *out_call = name;
    return function(size > 0 ? queue->workspace : NULL, size, executor, queue->stream);
}

/* --- elementwise -----------------------------------------------------------------------
 */

static void *flat(yoke_impl_span_t span, int type, const int64_t *count)
{
    static const int64_t one = 1;
    return aclnn.tensor(count, 1, type, &one, 0, YOKE_ACL_FORMAT_ND, count, 1,
                        span.buffer->address + span.offset);
}

static int elementwise(yoke_impl_queue_t *queue, uint32_t op, int type,
                       void *const tensor[3], const char **out_call)
{
    static const char *const plans[] = {"aclnnMulGetWorkspaceSize",
                                        "aclnnMaximumGetWorkspaceSize",
                                        "aclnnMinimumGetWorkspaceSize"};
    static const char *const calls[] = {"aclnnMul", "aclnnMaximum", "aclnnMinimum"};
    uint64_t size = 0;
    void *executor = NULL;
    if (op != YOKE_REDUCE_SUM && op != YOKE_REDUCE_AVG) {
        unsigned which = op == YOKE_REDUCE_PROD ? 0 : op == YOKE_REDUCE_MAX ? 1 : 2;
        *out_call = plans[which];
        int code =
            aclnn.binary_plan[which](tensor[0], tensor[1], tensor[2], &size, &executor);
        return code != 0 ? code
                         : run(queue, aclnn.binary[which], size, executor, calls[which],
                               out_call);
    }
    int64_t one_integer = 1;
    float one_float = 1;
    bool integer = type == YOKE_ACL_INT8 || type == YOKE_ACL_UINT8 ||
                   type == YOKE_ACL_INT32 || type == YOKE_ACL_INT64;
    *out_call = "aclCreateScalar";
    void *alpha = integer ? aclnn.scalar(&one_integer, YOKE_ACL_INT64)
                          : aclnn.scalar(&one_float, YOKE_ACL_FLOAT);
    if (alpha == NULL)
        return YOKE_ACL_ERROR_BAD_ALLOC;
    *out_call = "aclnnAddGetWorkspaceSize";
    int code = aclnn.add_plan(tensor[0], tensor[1], alpha, tensor[2], &size, &executor);
    if (code == 0)
        code = run(queue, aclnn.add, size, executor, "aclnnAdd", out_call);
    aclnn.scalar_end(alpha);
    return code;
}

static void end_tensors(void *const tensor[3])
{
    for (int i = 0; i < 3; i++)
        if (tensor[i] != NULL)
            aclnn.tensor_end(tensor[i]);
}

yoke_status_t yoke_ascend_reduce(yoke_impl_queue_t *queue, uint32_t element, uint32_t op,
                                 yoke_impl_span_t dst, yoke_impl_span_t a,
                                 yoke_impl_span_t b, uint64_t count)
{
    int type = elementwise_type(element);
    if (type < 0 || dst.buffer->host || a.buffer->host || b.buffer->host || !there())
        return YOKE_ERR_UNSUPPORTED;
    yoke_ascend_scope_t scope;
    const char *call = "aclCreateTensor";
    int code = yoke_ascend_enter(queue->device, &scope);
    if (code == YOKE_ACL_SUCCESS) {
        int64_t length = (int64_t)count;
        void *tensor[3] = {flat(a, type, &length), flat(b, type, &length),
                           flat(dst, type, &length)};
        code = tensor[0] != NULL && tensor[1] != NULL && tensor[2] != NULL
                   ? elementwise(queue, op, type, tensor, &call)
                   : YOKE_ACL_ERROR_BAD_ALLOC;
        end_tensors(tensor);
        yoke_ascend_leave(queue->device, &scope);
    }
    return yoke_ascend_check(queue->device->runtime, call, code);
}

/* --- matrix product --------------------------------------------------------------------
 */

/* A batch of rows x columns matrices, or of their transposes, as they are stored. */
static void *matrix(yoke_impl_span_t span, int type, uint64_t batch, uint64_t stride,
                    uint64_t rows, uint64_t columns, uint64_t leading, bool transposed)
{
    int64_t view[3] = {(int64_t)batch, (int64_t)rows, (int64_t)columns};
    int64_t strides[3] = {(int64_t)stride, (int64_t)leading, 1};
    if (transposed) {
        strides[1] = 1;
        strides[2] = (int64_t)leading;
    }
    /* Elements that the view spans; its storage is one row of them. */
    int64_t storage = 1;
    for (int i = 0; i < 3; i++)
        storage += (view[i] - 1) * strides[i];
    unsigned skip = batch == 1 ? 1 : 0; /* two dimensions where there is no batch */
    return aclnn.tensor(view + skip, 3 - skip, type, strides + skip, 0,
                        YOKE_ACL_FORMAT_ND, &storage, 1,
                        span.buffer->address + span.offset);
}

yoke_status_t yoke_ascend_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm)
{
    int type = matrix_type(gemm->element);
    /* aclnnMatmul has neither alpha nor beta, and its output has the inputs' type. The
     * test is for these very values, written as they come. */
    if (type < 0 || gemm->output != gemm->element || !(gemm->alpha == 1.0) ||
        !(gemm->beta == 0.0) || gemm->m == 0 || gemm->n == 0 || gemm->k == 0 || !there())
        return YOKE_ERR_UNSUPPORTED;
    yoke_ascend_scope_t scope;
    const char *call = "aclCreateTensor";
    int code = yoke_ascend_enter(queue->device, &scope);
    if (code == YOKE_ACL_SUCCESS) {
        uint64_t size = 0;
        void *executor = NULL;
        void *tensor[3] = {matrix(gemm->a, type, gemm->batch, gemm->stride_a, gemm->m,
                                  gemm->k, gemm->lda, gemm->transpose_a != 0),
                           matrix(gemm->b, type, gemm->batch, gemm->stride_b, gemm->k,
                                  gemm->n, gemm->ldb, gemm->transpose_b != 0),
                           matrix(gemm->c, type, gemm->batch, gemm->stride_c, gemm->m,
                                  gemm->n, gemm->ldc, false)};
        code = tensor[0] != NULL && tensor[1] != NULL && tensor[2] != NULL
                   ? YOKE_ACL_SUCCESS
                   : YOKE_ACL_ERROR_BAD_ALLOC;
        if (code == YOKE_ACL_SUCCESS) { /* 0: keep the type, no lower precision inside */
            call = "aclnnMatmulGetWorkspaceSize";
            code =
                aclnn.matmul_plan(tensor[0], tensor[1], tensor[2], 0, &size, &executor);
        }
        if (code == YOKE_ACL_SUCCESS)
            code = run(queue, aclnn.matmul, size, executor, "aclnnMatmul", &call);
        end_tensors(tensor);
        yoke_ascend_leave(queue->device, &scope);
    }
    return yoke_ascend_check(queue->device->runtime, call, code);
}
