/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_ASCEND_NNOPBASE_H
#define YOKE_TESTS_FAKES_ASCEND_NNOPBASE_H

/* Tensors and scalars of the fake libnnopbase.so, as the fake libopapi.so sees them. */

#include "acl.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/tensor/tensor.h"

struct aclTensor {
    fake_handle_t handle;
    fake_tensor_t shape; /* data: where the device has element 0 of the view */
};

struct aclScalar {
    fake_handle_t handle;
    double value;
};

/* The object behind a handle, NULL when there is none. */
const struct aclTensor *yoke_fake_acl_tensor(const aclTensor *tensor);
const struct aclScalar *yoke_fake_acl_scalar(const aclScalar *scalar);

#endif
