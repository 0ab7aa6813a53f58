/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_DLPACK_ABI_H
#define YOKE_HAL_LIVE_DLPACK_ABI_H

/*
 * Our own declaration of DLPack's structs and numbers.
 *
 * Source of all: github.com/dmlc/dlpack, include/dlpack/dlpack.h; of the unversioned
 * struct and numbers up to kDLCUDAManaged and kDLComplex at v0.6 (Debian's libdlpack-dev,
 * which tests/live/header_check_dlpack.c compares), of the rest at v1.1.
 */

#include <stdint.h>

#define DL_MAJOR 1u
#define DL_MINOR 1u

/* DLDeviceType */
enum {
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_CUDA_HOST = 3,
    DL_OPENCL = 4,
    DL_ROCM = 10,
    DL_ROCM_HOST = 11,
    DL_EXT_DEV = 12,
    DL_CUDA_MANAGED = 13,
    DL_ONEAPI = 14 /* v0.7 */
};

/* DLDataTypeCode */
enum {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_FLOAT8_E4M3FN = 10, /* v1.1 */
    DL_FLOAT8_E5M2 = 12    /* v1.1 */
};

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t device_type;
        int32_t device_id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code;
        uint8_t bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides; /* elements; NULL (before 1.2): dense, row-major */
    uint64_t byte_offset;
} dl_tensor_t;

/* "dltensor", before 1.0 */
struct DLManagedTensor {
    dl_tensor_t dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self); /* may be NULL */
};

#define DL_FLAG_READ_ONLY (UINT64_C(1) << 0)

/* "dltensor_versioned", since 1.0. All up to `flags` stays in later majors. */
struct DLManagedTensorVersioned {
    struct {
        uint32_t major;
        uint32_t minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self); /* may be NULL */
    uint64_t flags;
    dl_tensor_t dl_tensor;
};

#endif
