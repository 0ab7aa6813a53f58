/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of aclnn, in two phases: the first checks and makes an executor, the second
 * enqueues it, once. Types by hicann/ops-math math/<operator>/docs/aclnn*.md and
 * hicann/ops-nn matmul/mat_mul_v3/docs/aclnnMatmul_en.md; of two inputs both must have
 * one type (CANN also promotes).
 */
#include "hooks.h"
#include "nnopbase.h"
#include <stdlib.h>
#include <string.h>

#define MATMUL_WORKSPACE (1 << 20)

typedef enum operation { ELEMENTWISE, PRODUCT, CAST } operation_t;

struct aclOpExecutor {
    fake_handle_t handle;
    bool repeatable;
    uint64_t workspace;
    struct task {
        operation_t operation;
        fake_operator_t op;
        fake_tensor_t a, b, out;
        double factor; /* of b */
    } task;
};

enum { KIND_EXECUTOR = 0xaa10 };

const fake_defaults_t fake_defaults = {.vendor = "ascend", .name = "", .arch = ""};

/* --- running ------------------------------------------------------------------------ */

static void run_task(void *data)
{
    struct task *task = data;
    fake_tensor_t *tensors[] = {&task->a, &task->b, &task->out};
    for (int i = 0; i < 3; i++)
        tensors[i]->data = yoke_fake_acl_shadow(tensors[i]->data);
    switch (task->operation) {
    case ELEMENTWISE:
        fake_tensor_binary(task->op, &task->a, 1, &task->b, task->factor, &task->out, 0);
        break;
    case PRODUCT:
        fake_tensor_matmul(&task->a, &task->b, &task->out, 1, 0);
        break;
    case CAST:
        fake_tensor_cast(&task->a, &task->out);
        break;
    }
}

/* Bytes from element 0 to the end of the last. */
static size_t extent(const fake_tensor_t *tensor)
{
    int64_t last = 0;
    for (int d = 0; d < tensor->rank; d++) {
        if (tensor->shape[d] == 0)
            return 0;
        last += (tensor->shape[d] - 1) * tensor->stride[d];
    }
    return ((size_t)last + 1) * fake_element_size(tensor->element);
}

static bool is_there(const fake_tensor_t *tensor)
{
    return tensor->element == FAKE_ELEMENT_NONE || extent(tensor) == 0 ||
           yoke_fake_acl_is_device(tensor->data, extent(tensor));
}

static aclnnStatus execute(void *workspace, uint64_t size, aclOpExecutor *handle,
                           aclrtStream stream)
{
    aclOpExecutor *executor = fake_handle_check(handle, KIND_EXECUTOR);
    if (executor == NULL)
        return ACLNN_ERR_INNER_NULLPTR; /* none, or used already */
    bool good = is_there(&executor->task.a) && is_there(&executor->task.b) &&
                is_there(&executor->task.out);
    if (executor->workspace > 0)
        good = good && size >= executor->workspace &&
               yoke_fake_acl_is_device(workspace, executor->workspace);
    if (good)
        good = yoke_fake_acl_push(stream, run_task, &executor->task,
                                  sizeof executor->task) == ACL_SUCCESS;
    if (!executor->repeatable) {
        fake_handle_remove(&executor->handle);
        free(executor);
    }
    return good ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

/* --- preparing ---------------------------------------------------------------------- */

static bool takes(fake_element_t element)
{
    return element != FAKE_U16 && element != FAKE_U32 && element != FAKE_U64;
}

static aclnnStatus make_executor(const struct task *task, uint64_t workspace,
                                 uint64_t *out_size, aclOpExecutor **out_executor)
{
    if (out_size == NULL || out_executor == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    aclOpExecutor *executor = calloc(1, sizeof *executor);
    if (executor == NULL)
        return ACLNN_ERR_RUNTIME_ERROR;
    executor->task = *task;
    executor->workspace = workspace;
    fake_handle_add(&executor->handle, KIND_EXECUTOR);
    *out_size = workspace;
    *out_executor = executor;
    return ACLNN_SUCCESS;
}

static aclnnStatus prepare_binary(fake_operator_t op, const aclTensor *self,
                                  const aclTensor *other, double factor,
                                  const aclTensor *out, uint64_t *size,
                                  aclOpExecutor **executor)
{
    const struct aclTensor *a = yoke_fake_acl_tensor(self),
                           *b = yoke_fake_acl_tensor(other),
                           *c = yoke_fake_acl_tensor(out);
    if (a == NULL || b == NULL || c == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    if (!takes(a->shape.element) || a->shape.element != b->shape.element ||
        !takes(c->shape.element) ||
        !fake_tensor_broadcasts(&a->shape, &b->shape, &c->shape))
        return ACLNN_ERR_PARAM_INVALID;
    if (a->shape.element != c->shape.element)
        return ACLNN_ERR_PARAM_INVALID;
    struct task task = {ELEMENTWISE, op, a->shape, b->shape, c->shape, factor};
    return make_executor(&task, 0, size, executor);
}

#define SECOND_PHASE(name)                                                               \
    FAKE_API aclnnStatus name(void *workspace, uint64_t workspaceSize,                   \
                              aclOpExecutor *executor, aclrtStream stream)               \
    {                                                                                    \
        FAKE_CALL(name, aclnnStatus);                                                    \
        return execute(workspace, workspaceSize, executor, stream);                      \
    }

FAKE_API aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *self,
                                              const aclTensor *other,
                                              const aclScalar *alpha, aclTensor *out,
                                              uint64_t *workspaceSize,
                                              aclOpExecutor **executor)
{
    FAKE_CALL(aclnnAddGetWorkspaceSize, aclnnStatus);
    const struct aclScalar *factor = yoke_fake_acl_scalar(alpha);
    if (factor == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    return prepare_binary(FAKE_ADD, self, other, factor->value, out, workspaceSize,
                          executor);
}
SECOND_PHASE(aclnnAdd)

FAKE_API aclnnStatus aclnnInplaceAddGetWorkspaceSize(const aclTensor *selfRef,
                                                     const aclTensor *other,
                                                     const aclScalar *alpha,
                                                     uint64_t *workspaceSize,
                                                     aclOpExecutor **executor)
{
    FAKE_CALL(aclnnInplaceAddGetWorkspaceSize, aclnnStatus);
    const struct aclScalar *factor = yoke_fake_acl_scalar(alpha);
    if (factor == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    return prepare_binary(FAKE_ADD, selfRef, other, factor->value, selfRef, workspaceSize,
                          executor);
}
SECOND_PHASE(aclnnInplaceAdd)

#define BINARY(name, op)                                                                 \
    FAKE_API aclnnStatus name##GetWorkspaceSize(                                         \
        const aclTensor *self, const aclTensor *other, aclTensor *out,                   \
        uint64_t *workspaceSize, aclOpExecutor **executor)                               \
    {                                                                                    \
        FAKE_CALL(name##GetWorkspaceSize, aclnnStatus);                                  \
        return prepare_binary(op, self, other, 1, out, workspaceSize, executor);         \
    }                                                                                    \
    SECOND_PHASE(name)
BINARY(aclnnMul, FAKE_MUL)
BINARY(aclnnMaximum, FAKE_MAX)
BINARY(aclnnMinimum, FAKE_MIN)

FAKE_API aclnnStatus aclnnInplaceMulGetWorkspaceSize(aclTensor *selfRef,
                                                     const aclTensor *other,
                                                     uint64_t *workspaceSize,
                                                     aclOpExecutor **executor)
{
    FAKE_CALL(aclnnInplaceMulGetWorkspaceSize, aclnnStatus);
    return prepare_binary(FAKE_MUL, selfRef, other, 1, selfRef, workspaceSize, executor);
}
SECOND_PHASE(aclnnInplaceMul)

/* A vector is a row on the left and a column on the right; its dimension is then missing
 * from the output. */
static void insert_dimension(fake_tensor_t *tensor, int at)
{
    for (int d = tensor->rank; d > at; d--) {
        tensor->shape[d] = tensor->shape[d - 1];
        tensor->stride[d] = tensor->stride[d - 1];
    }
    tensor->shape[at] = 1;
    tensor->stride[at] = 0;
    tensor->rank++;
}

static bool fits(struct task *task)
{
    fake_tensor_t *a = &task->a, *b = &task->b, *out = &task->out;
    if (a->rank < 1 || b->rank < 1 || a->rank > 6 || b->rank > 6 || out->rank > 6)
        return false;
    bool row = a->rank == 1, column = b->rank == 1;
    if (row)
        insert_dimension(a, 0);
    if (column)
        insert_dimension(b, 1);
    if (column)
        insert_dimension(out, out->rank);
    if (row)
        insert_dimension(out, out->rank - 1);
    int n = out->rank;
    if (n < 2 || a->shape[a->rank - 1] != b->shape[b->rank - 2] ||
        out->shape[n - 2] != a->shape[a->rank - 2] ||
        out->shape[n - 1] != b->shape[b->rank - 1])
        return false;
    fake_tensor_t left = *a, right = *b, whole = *out;
    left.rank -= 2;
    right.rank -= 2;
    whole.rank -= 2;
    return fake_tensor_broadcasts(&left, &right, &whole);
}

static aclnnStatus prepare_matmul(const aclTensor *self, const aclTensor *mat2,
                                  const aclTensor *out, int8_t cubeMathType,
                                  uint64_t *size, aclOpExecutor **executor)
{
    const struct aclTensor *a = yoke_fake_acl_tensor(self),
                           *b = yoke_fake_acl_tensor(mat2),
                           *c = yoke_fake_acl_tensor(out);
    if (a == NULL || b == NULL || c == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    fake_element_t type = a->shape.element;
    bool real = type == FAKE_F32 || type == FAKE_F16 || type == FAKE_BF16;
    if (!real || type != b->shape.element ||
        (c->shape.element != type && c->shape.element != FAKE_F32))
        return ACLNN_ERR_PARAM_INVALID;
    if (cubeMathType < 0 || cubeMathType > 4 ||
        (cubeMathType == 2 && type == FAKE_BF16) ||
        (cubeMathType == 3 && type != FAKE_F32))
        return ACLNN_ERR_PARAM_INVALID;
    struct task task = {PRODUCT, FAKE_MUL, a->shape, b->shape, c->shape, 1};
    if (!fits(&task))
        return ACLNN_ERR_PARAM_INVALID;
    return make_executor(&task, MATMUL_WORKSPACE, size, executor);
}

FAKE_API aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor *self,
                                                 const aclTensor *mat2, aclTensor *out,
                                                 int8_t cubeMathType,
                                                 uint64_t *workspaceSize,
                                                 aclOpExecutor **executor)
{
    FAKE_CALL(aclnnMatmulGetWorkspaceSize, aclnnStatus);
    return prepare_matmul(self, mat2, out, cubeMathType, workspaceSize, executor);
}
SECOND_PHASE(aclnnMatmul)

FAKE_API aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2,
                                             aclTensor *out, int8_t cubeMathType,
                                             uint64_t *workspaceSize,
                                             aclOpExecutor **executor)
{
    FAKE_CALL(aclnnMmGetWorkspaceSize, aclnnStatus);
    return prepare_matmul(self, mat2, out, cubeMathType, workspaceSize, executor);
}
SECOND_PHASE(aclnnMm)

FAKE_API aclnnStatus aclnnCastGetWorkspaceSize(const aclTensor *self,
                                               const aclDataType dtype, aclTensor *out,
                                               uint64_t *workspaceSize,
                                               aclOpExecutor **executor)
{
    FAKE_CALL(aclnnCastGetWorkspaceSize, aclnnStatus);
    const struct aclTensor *a = yoke_fake_acl_tensor(self),
                           *c = yoke_fake_acl_tensor(out);
    (void)dtype;
    if (a == NULL || c == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    if (!fake_tensor_broadcasts(&a->shape, NULL, &c->shape) ||
        fake_tensor_count(&a->shape) != fake_tensor_count(&c->shape))
        return ACLNN_ERR_PARAM_INVALID;
    struct task task = {CAST, FAKE_ADD, a->shape, {0}, c->shape, 1};
    return make_executor(&task, 0, workspaceSize, executor);
}
SECOND_PHASE(aclnnCast)

FAKE_API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    FAKE_CALL(aclSetAclOpExecutorRepeatable, aclnnStatus);
    aclOpExecutor *one = fake_handle_check(executor, KIND_EXECUTOR);
    if (one == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    one->repeatable = true;
    return ACLNN_SUCCESS;
}

FAKE_API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    FAKE_CALL(aclDestroyAclOpExecutor, aclnnStatus);
    aclOpExecutor *old = fake_handle_check(executor, KIND_EXECUTOR);
    if (old == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    if (!old->repeatable)
        return ACLNN_ERR_PARAM_INVALID; /* its second phase ends it */
    fake_handle_remove(&old->handle);
    free(old);
    return ACLNN_SUCCESS;
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0; /* libascendcl.so has it */
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
