/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of the fake libcnnl.so. Prototypes: cnnl_core.h (handles, tensors) and
 * callers: mlu-ops kernels/ and docs/MLU-OPS-How-To-Use-CNNL-API.md, DeepLink DIOPI
 * impl/camb (cnnlAddN_v2, cnnlMulN, cnnlMaximum, cnnlMinimum), PaddlePaddle backends/mlu
 * (cnnlMatMul, cnnlAssignAdd). cnnlOpTensor() and cnnlMatMul_v2() are not here: the
 * numbers of their enumerations are in no public copy of cnnl.h.
 */
#include "cnrt.h"
#include "hooks.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/tensor/tensor.h"
#include <stdlib.h>
#include <string.h>

enum { KIND_HANDLE = 0xcca1, KIND_TENSOR };
#define MAXIMUM_WORKSPACE 4096

typedef struct handle {
    fake_handle_t handle;
    cnrtQueue_t queue;
} handle_t;

typedef struct tensor {
    fake_handle_t handle;
    fake_tensor_t shape;
    bool set;
} tensor_t;

typedef struct task {
    bool product;
    fake_operator_t op;
    fake_tensor_t a, b, out;
    double alpha, beta;
} task_t;

const fake_defaults_t fake_defaults = {.vendor = "cambricon", .name = "", .arch = ""};

/* --- handles ------------------------------------------------------------------------ */

FAKE_API cnnlStatus_t cnnlCreate(cnnlHandle_t *handle)
{
    FAKE_CALL(cnnlCreate, cnnlStatus_t);
    if (handle == NULL)
        return CNNL_STATUS_BAD_PARAM;
    handle_t *made = calloc(1, sizeof *made);
    if (made == NULL)
        return CNNL_STATUS_ALLOC_FAILED;
    fake_handle_add(&made->handle, KIND_HANDLE);
    *handle = (cnnlHandle_t)(void *)made;
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlDestroy(cnnlHandle_t handle)
{
    FAKE_CALL(cnnlDestroy, cnnlStatus_t);
    handle_t *old = fake_handle_check(handle, KIND_HANDLE);
    if (old == NULL)
        return CNNL_STATUS_BAD_PARAM;
    fake_handle_remove(&old->handle);
    free(old);
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlSetQueue(cnnlHandle_t handle, cnrtQueue_t queue)
{
    FAKE_CALL(cnnlSetQueue, cnnlStatus_t);
    handle_t *target = fake_handle_check(handle, KIND_HANDLE);
    if (target == NULL)
        return CNNL_STATUS_BAD_PARAM;
    target->queue = queue;
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlGetQueue(cnnlHandle_t handle, cnrtQueue_t *queue)
{
    FAKE_CALL(cnnlGetQueue, cnnlStatus_t);
    const handle_t *source = fake_handle_check(handle, KIND_HANDLE);
    if (source == NULL || queue == NULL)
        return CNNL_STATUS_BAD_PARAM;
    *queue = source->queue;
    return CNNL_STATUS_SUCCESS;
}

FAKE_API const char *cnnlGetErrorString(cnnlStatus_t status)
{
    FAKE_CALL_OTHER(cnnlGetErrorString, NULL);
    static const char *const names[] = {
        "CNNL_STATUS_SUCCESS",           "CNNL_STATUS_NOT_INITIALIZED",
        "CNNL_STATUS_ALLOC_FAILED",      "CNNL_STATUS_BAD_PARAM",
        "CNNL_STATUS_INTERNAL_ERROR",    "CNNL_STATUS_ARCH_MISMATCH",
        "CNNL_STATUS_EXECUTION_FAILED",  "CNNL_STATUS_NOT_SUPPORTED",
        "CNNL_STATUS_NUMERICAL_OVERFLOW"};
    return (unsigned)status < 9 ? names[status] : "CNNL_STATUS_BAD_PARAM";
}

/* --- tensors ------------------------------------------------------------------------ */

static fake_element_t element_of(cnnlDataType_t type)
{
    static const fake_element_t elements[] = {
        [CNNL_DTYPE_HALF] = FAKE_F16,     [CNNL_DTYPE_FLOAT] = FAKE_F32,
        [CNNL_DTYPE_INT8] = FAKE_I8,      [CNNL_DTYPE_INT16] = FAKE_I16,
        [CNNL_DTYPE_INT32] = FAKE_I32,    [CNNL_DTYPE_UINT8] = FAKE_U8,
        [CNNL_DTYPE_BOOL] = FAKE_BOOL,    [CNNL_DTYPE_INT64] = FAKE_I64,
        [CNNL_DTYPE_UINT32] = FAKE_U32,   [CNNL_DTYPE_UINT64] = FAKE_U64,
        [CNNL_DTYPE_UINT16] = FAKE_U16,   [CNNL_DTYPE_DOUBLE] = FAKE_F64,
        [CNNL_DTYPE_BFLOAT16] = FAKE_BF16};
    return (unsigned)type < sizeof elements / sizeof elements[0] ? elements[type]
                                                                 : FAKE_ELEMENT_NONE;
}

FAKE_API cnnlStatus_t cnnlCreateTensorDescriptor(cnnlTensorDescriptor_t *desc)
{
    FAKE_CALL(cnnlCreateTensorDescriptor, cnnlStatus_t);
    if (desc == NULL)
        return CNNL_STATUS_BAD_PARAM;
    tensor_t *tensor = calloc(1, sizeof *tensor);
    if (tensor == NULL)
        return CNNL_STATUS_ALLOC_FAILED;
    fake_handle_add(&tensor->handle, KIND_TENSOR);
    *desc = (cnnlTensorDescriptor_t)(void *)tensor;
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlDestroyTensorDescriptor(cnnlTensorDescriptor_t desc)
{
    FAKE_CALL(cnnlDestroyTensorDescriptor, cnnlStatus_t);
    tensor_t *old = fake_handle_check(desc, KIND_TENSOR);
    if (old == NULL)
        return CNNL_STATUS_BAD_PARAM;
    fake_handle_remove(&old->handle);
    free(old);
    return CNNL_STATUS_SUCCESS;
}

static cnnlStatus_t set_tensor(cnnlTensorDescriptor_t desc, cnnlTensorLayout_t layout,
                               cnnlDataType_t dtype, int rank)
{
    tensor_t *tensor = fake_handle_check(desc, KIND_TENSOR);
    if (tensor == NULL || rank < 1 || rank > CNNL_DIM_MAX || (unsigned)layout > 9 ||
        element_of(dtype) == FAKE_ELEMENT_NONE)
        return CNNL_STATUS_BAD_PARAM;
    tensor->shape.element = element_of(dtype);
    tensor->shape.rank = rank;
    tensor->set = true;
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlSetTensorDescriptor(cnnlTensorDescriptor_t desc,
                                              cnnlTensorLayout_t layout,
                                              cnnlDataType_t dtype, int dimNb,
                                              const int dimSize[])
{
    FAKE_CALL(cnnlSetTensorDescriptor, cnnlStatus_t);
    cnnlStatus_t status = set_tensor(desc, layout, dtype, dimNb);
    if (status != CNNL_STATUS_SUCCESS)
        return status;
    tensor_t *tensor = fake_handle_check(desc, KIND_TENSOR);
    for (int d = 0; d < dimNb; d++)
        tensor->shape.shape[d] = dimSize[d];
    fake_tensor_dense(&tensor->shape);
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlSetTensorDescriptor_v2(cnnlTensorDescriptor_t desc,
                                                 cnnlTensorLayout_t layout,
                                                 cnnlDataType_t dtype, int dimNb,
                                                 const int64_t dimSize[])
{
    FAKE_CALL(cnnlSetTensorDescriptor_v2, cnnlStatus_t);
    cnnlStatus_t status = set_tensor(desc, layout, dtype, dimNb);
    if (status != CNNL_STATUS_SUCCESS)
        return status;
    tensor_t *tensor = fake_handle_check(desc, KIND_TENSOR);
    for (int d = 0; d < dimNb; d++)
        tensor->shape.shape[d] = dimSize[d];
    fake_tensor_dense(&tensor->shape);
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlGetSizeOfDataType(cnnlDataType_t data_type, size_t *size)
{
    FAKE_CALL(cnnlGetSizeOfDataType, cnnlStatus_t);
    if (size == NULL || element_of(data_type) == FAKE_ELEMENT_NONE)
        return CNNL_STATUS_BAD_PARAM;
    *size = fake_element_size(element_of(data_type));
    return CNNL_STATUS_SUCCESS;
}

/* --- running ------------------------------------------------------------------------ */

static void run_task(void *data)
{
    task_t *task = data;
    task->a.data = yoke_fake_cnrt_shadow(task->a.data);
    task->b.data = yoke_fake_cnrt_shadow(task->b.data);
    task->out.data = yoke_fake_cnrt_shadow(task->out.data);
    if (task->product)
        fake_tensor_matmul(&task->a, &task->b, &task->out, task->alpha, task->beta);
    else
        fake_tensor_binary(task->op, &task->a, task->alpha, &task->b, task->beta,
                           &task->out, 0);
}

/* The tensor of a descriptor at an address; false: it is not in device memory. */
static bool bind(cnnlTensorDescriptor_t desc, const void *address, fake_tensor_t *out)
{
    const tensor_t *tensor = fake_handle_check(desc, KIND_TENSOR);
    if (tensor == NULL || !tensor->set)
        return false;
    *out = tensor->shape;
    out->data = (char *)(uintptr_t)address;
    return yoke_fake_cnrt_is_device(address, fake_tensor_count(out) *
                                                 fake_element_size(out->element));
}

static cnnlStatus_t push(cnnlHandle_t handle, const task_t *task)
{
    const handle_t *source = fake_handle_check(handle, KIND_HANDLE);
    if (source == NULL)
        return CNNL_STATUS_NOT_INITIALIZED;
    return yoke_fake_cnrt_push(source->queue, run_task, task, sizeof *task) == cnrtSuccess
               ? CNNL_STATUS_SUCCESS
               : CNNL_STATUS_EXECUTION_FAILED;
}

static cnnlStatus_t elementwise(cnnlHandle_t handle, task_t *task)
{
    if (task->a.element != task->b.element || task->a.element != task->out.element)
        return CNNL_STATUS_BAD_PARAM;
    if (!fake_tensor_broadcasts(&task->a, &task->b, &task->out))
        return CNNL_STATUS_BAD_PARAM;
    return push(handle, task);
}

/* --- operators ---------------------------------------------------------------------- */

/* The first two, and then each of the rest with the result. */
static cnnlStatus_t fold(cnnlHandle_t handle, fake_operator_t op,
                         const cnnlTensorDescriptor_t descs[], const void *const inputs[],
                         uint32_t count, cnnlTensorDescriptor_t out_desc, void *output)
{
    task_t task = {.op = op, .alpha = 1, .beta = 1};
    if (descs == NULL || inputs == NULL || count < 2 ||
        !bind(out_desc, output, &task.out))
        return CNNL_STATUS_BAD_PARAM;
    for (uint32_t i = 1; i < count; i++) {
        if (!bind(i == 1 ? descs[0] : out_desc, i == 1 ? inputs[0] : output, &task.a) ||
            !bind(descs[i], inputs[i], &task.b))
            return CNNL_STATUS_BAD_PARAM;
        cnnlStatus_t status = elementwise(handle, &task);
        if (status != CNNL_STATUS_SUCCESS)
            return status;
    }
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlAddN(cnnlHandle_t handle,
                               const cnnlTensorDescriptor_t input_descs[],
                               const void *const inputs[], uint32_t input_num,
                               const cnnlTensorDescriptor_t output_desc, void *output)
{
    FAKE_CALL(cnnlAddN, cnnlStatus_t);
    return fold(handle, FAKE_ADD, input_descs, inputs, input_num, output_desc, output);
}

FAKE_API cnnlStatus_t cnnlGetAddNWorkspaceSize(cnnlHandle_t handle,
                                               const cnnlTensorDescriptor_t input_descs[],
                                               uint32_t input_num,
                                               const cnnlTensorDescriptor_t output_desc,
                                               size_t *workspace_size)
{
    FAKE_CALL(cnnlGetAddNWorkspaceSize, cnnlStatus_t);
    (void)input_descs;
    (void)input_num;
    (void)output_desc;
    if (fake_handle_check(handle, KIND_HANDLE) == NULL || workspace_size == NULL)
        return CNNL_STATUS_BAD_PARAM;
    FAKE_OUT(*workspace_size, 0);
    return CNNL_STATUS_SUCCESS;
}

FAKE_API cnnlStatus_t cnnlAddN_v2(cnnlHandle_t handle,
                                  const cnnlTensorDescriptor_t input_descs[],
                                  const void *const inputs[], uint32_t input_num,
                                  const cnnlTensorDescriptor_t output_desc, void *output,
                                  void *workspace, size_t workspace_size)
{
    FAKE_CALL(cnnlAddN_v2, cnnlStatus_t);
    (void)workspace;
    (void)workspace_size;
    return fold(handle, FAKE_ADD, input_descs, inputs, input_num, output_desc, output);
}

FAKE_API cnnlStatus_t cnnlMulN(cnnlHandle_t handle,
                               const cnnlTensorDescriptor_t input_descs[],
                               const void *const inputs[], uint32_t input_num,
                               const cnnlTensorDescriptor_t output_desc, void *output)
{
    FAKE_CALL(cnnlMulN, cnnlStatus_t);
    return fold(handle, FAKE_MUL, input_descs, inputs, input_num, output_desc, output);
}

static cnnlStatus_t select_larger(cnnlHandle_t handle, fake_operator_t op,
                                  const task_t *types, const void *workspace,
                                  size_t workspace_size)
{
    task_t task = *types;
    task.op = op;
    task.alpha = task.beta = 1;
    if (workspace_size < MAXIMUM_WORKSPACE ||
        !yoke_fake_cnrt_is_device(workspace, MAXIMUM_WORKSPACE))
        return CNNL_STATUS_BAD_PARAM;
    return elementwise(handle, &task);
}

#define SELECT(name, op)                                                                 \
    FAKE_API cnnlStatus_t cnnlGet##name##WorkspaceSize(                                  \
        cnnlHandle_t handle, const cnnlTensorDescriptor_t output_desc,                   \
        size_t *workspace_size)                                                          \
    {                                                                                    \
        FAKE_CALL(cnnlGet##name##WorkspaceSize, cnnlStatus_t);                           \
        (void)output_desc;                                                               \
        if (fake_handle_check(handle, KIND_HANDLE) == NULL || workspace_size == NULL)    \
            return CNNL_STATUS_BAD_PARAM;                                                \
        FAKE_OUT(*workspace_size, MAXIMUM_WORKSPACE);                                    \
        return CNNL_STATUS_SUCCESS;                                                      \
    }                                                                                    \
    FAKE_API cnnlStatus_t cnnl##name(cnnlHandle_t handle,                                \
                                     const cnnlTensorDescriptor_t a_desc, const void *a, \
                                     const cnnlTensorDescriptor_t b_desc, const void *b, \
                                     const cnnlTensorDescriptor_t c_desc, void *c,       \
                                     void *workspace, size_t workspace_size)             \
    {                                                                                    \
        FAKE_CALL(cnnl##name, cnnlStatus_t);                                             \
        task_t task = {0};                                                               \
        if (!bind(a_desc, a, &task.a) || !bind(b_desc, b, &task.b) ||                    \
            !bind(c_desc, c, &task.out))                                                 \
            return CNNL_STATUS_BAD_PARAM;                                                \
        return select_larger(handle, op, &task, workspace, workspace_size);              \
    }
SELECT(Maximum, FAKE_MAX)
SELECT(Minimum, FAKE_MIN)

static void transpose(fake_tensor_t *tensor)
{
    int64_t size = tensor->shape[0], stride = tensor->stride[0];
    tensor->shape[0] = tensor->shape[1];
    tensor->stride[0] = tensor->stride[1];
    tensor->shape[1] = size;
    tensor->stride[1] = stride;
}

/* c = alpha a b + beta c; alpha and beta are floats of the host. */
FAKE_API cnnlStatus_t cnnlMatMul(cnnlHandle_t handle, bool is_trans_a, bool is_trans_b,
                                 const void *alpha, const cnnlTensorDescriptor_t a_desc,
                                 const void *a, const cnnlTensorDescriptor_t b_desc,
                                 const void *b, const void *beta,
                                 const cnnlTensorDescriptor_t c_desc, void *c)
{
    FAKE_CALL(cnnlMatMul, cnnlStatus_t);
    task_t task = {.product = true};
    float factors[2];
    if (alpha == NULL || beta == NULL || !bind(a_desc, a, &task.a) ||
        !bind(b_desc, b, &task.b) || !bind(c_desc, c, &task.out))
        return CNNL_STATUS_BAD_PARAM;
    fake_element_t type = task.a.element;
    bool real = type == FAKE_F16 || type == FAKE_F32 || type == FAKE_BF16;
    if (!real || task.b.element != type ||
        (task.out.element != type && task.out.element != FAKE_F32))
        return CNNL_STATUS_NOT_SUPPORTED;
    if (task.a.rank != 2 || task.b.rank != 2 || task.out.rank != 2)
        return CNNL_STATUS_BAD_PARAM;
    if (is_trans_a)
        transpose(&task.a);
    if (is_trans_b)
        transpose(&task.b);
    if (task.a.shape[1] != task.b.shape[0] || task.out.shape[0] != task.a.shape[0] ||
        task.out.shape[1] != task.b.shape[1])
        return CNNL_STATUS_BAD_PARAM;
    memcpy(&factors[0], alpha, sizeof factors[0]);
    memcpy(&factors[1], beta, sizeof factors[1]);
    task.alpha = (double)factors[0];
    task.beta = (double)factors[1];
    return push(handle, &task);
}

/* c = alpha a + beta c. */
FAKE_API cnnlStatus_t cnnlAssignAdd(cnnlHandle_t handle, const void *alpha,
                                    const cnnlTensorDescriptor_t a_desc, const void *a,
                                    void *workspace, size_t workspace_size,
                                    const void *beta, const cnnlTensorDescriptor_t c_desc,
                                    void *c)
{
    FAKE_CALL(cnnlAssignAdd, cnnlStatus_t);
    task_t task = {.op = FAKE_ADD};
    float factors[2];
    (void)workspace;
    (void)workspace_size;
    if (alpha == NULL || beta == NULL || !bind(a_desc, a, &task.a) ||
        !bind(c_desc, c, &task.b) || !bind(c_desc, c, &task.out))
        return CNNL_STATUS_BAD_PARAM;
    memcpy(&factors[0], alpha, sizeof factors[0]);
    memcpy(&factors[1], beta, sizeof factors[1]);
    task.alpha = (double)factors[0];
    task.beta = (double)factors[1];
    return elementwise(handle, &task);
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0; /* libcnrt.so has it */
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
