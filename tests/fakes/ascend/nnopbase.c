/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and scalars of aclnn: hicann/opbase include/nnopbase/aclnn/acl_meta.h. */
#include "nnopbase.h"
#include <stdlib.h>
#include <string.h>

enum { KIND_TENSOR = 0xaa01, KIND_SCALAR };

const fake_defaults_t fake_defaults = {.vendor = "ascend", .name = "", .arch = ""};

static fake_element_t element_of(aclDataType type)
{
    switch (type) {
    case ACL_FLOAT:
        return FAKE_F32;
    case ACL_FLOAT16:
        return FAKE_F16;
    case ACL_INT8:
        return FAKE_I8;
    case ACL_INT32:
        return FAKE_I32;
    case ACL_UINT8:
        return FAKE_U8;
    case ACL_INT16:
        return FAKE_I16;
    case ACL_UINT16:
        return FAKE_U16;
    case ACL_UINT32:
        return FAKE_U32;
    case ACL_INT64:
        return FAKE_I64;
    case ACL_UINT64:
        return FAKE_U64;
    case ACL_DOUBLE:
        return FAKE_F64;
    case ACL_BOOL:
        return FAKE_BOOL;
    case ACL_BF16:
        return FAKE_BF16;
    case ACL_DT_UNDEFINED:
        break;
    }
    return FAKE_ELEMENT_NONE;
}

FAKE_API aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum,
                                    aclDataType dataType, const int64_t *stride,
                                    int64_t offset, aclFormat format,
                                    const int64_t *storageDims, uint64_t storageDimsNum,
                                    void *tensorData)
{
    FAKE_CALL_OTHER(aclCreateTensor, NULL);
    fake_element_t element = element_of(dataType);
    (void)storageDims;
    (void)storageDimsNum;
    if (element == FAKE_ELEMENT_NONE || viewDimsNum > FAKE_MAX_RANK ||
        (viewDimsNum > 0 && viewDims == NULL) || format != ACL_FORMAT_ND || offset < 0)
        return NULL;
    aclTensor *tensor = calloc(1, sizeof *tensor);
    if (tensor == NULL)
        return NULL;
    tensor->shape.element = element;
    tensor->shape.rank = (int)viewDimsNum;
    for (uint64_t d = 0; d < viewDimsNum; d++)
        tensor->shape.shape[d] = viewDims[d];
    fake_tensor_dense(&tensor->shape);
    for (uint64_t d = 0; stride != NULL && d < viewDimsNum; d++)
        tensor->shape.stride[d] = stride[d];
    tensor->shape.data =
        (char *)tensorData + (uint64_t)offset * fake_element_size(element);
    fake_handle_add(&tensor->handle, KIND_TENSOR);
    return tensor;
}

FAKE_API aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    FAKE_CALL(aclDestroyTensor, aclnnStatus);
    aclTensor *old = fake_handle_check(tensor, KIND_TENSOR);
    if (old == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    fake_handle_remove(&old->handle);
    free(old);
    return ACLNN_SUCCESS;
}

FAKE_API aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    FAKE_CALL_OTHER(aclCreateScalar, NULL);
    fake_element_t element = element_of(dataType);
    if (value == NULL || element == FAKE_ELEMENT_NONE)
        return NULL;
    aclScalar *scalar = calloc(1, sizeof *scalar);
    if (scalar == NULL)
        return NULL;
    /* the value is read now, from the host */
    fake_tensor_t from = {.element = element, .data = value};
    fake_tensor_t to = {.element = FAKE_F64, .data = (char *)&scalar->value};
    fake_tensor_cast(&from, &to);
    fake_handle_add(&scalar->handle, KIND_SCALAR);
    return scalar;
}

FAKE_API aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    FAKE_CALL(aclDestroyScalar, aclnnStatus);
    aclScalar *old = fake_handle_check(scalar, KIND_SCALAR);
    if (old == NULL)
        return ACLNN_ERR_PARAM_NULLPTR;
    fake_handle_remove(&old->handle);
    free(old);
    return ACLNN_SUCCESS;
}

/* --- for libopapi.so ------------------------------------------------------------------
 */

FAKE_API const struct aclTensor *yoke_fake_acl_tensor(const aclTensor *tensor)
{
    return fake_handle_check(tensor, KIND_TENSOR);
}

FAKE_API const struct aclScalar *yoke_fake_acl_scalar(const aclScalar *scalar)
{
    return fake_handle_check(scalar, KIND_SCALAR);
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0; /* libascendcl.so has it */
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
