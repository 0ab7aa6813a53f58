/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDA_LIVE_H
#define YOKE_BACKENDS_CUDA_LIVE_H

/* Numbers of the CUDA driver API (cuda.h 13.0), for CUDA and those who took them over;
 * tests/hal/header_check_cuda.c compares them. */

#include "backends/cudalike/cudalike.h"

/* CUdevice_attribute, in the order of yoke_cudalike_key_t. */
#define YOKE_CUDA_ATTRIBUTES_LIST(X)                                                     \
    X(MAX_GROUP, 1, MAX_THREADS_PER_BLOCK)                                               \
    X(GRID_X, 5, MAX_GRID_DIM_X)                                                         \
    X(GRID_Y, 6, MAX_GRID_DIM_Y)                                                         \
    X(GRID_Z, 7, MAX_GRID_DIM_Z)                                                         \
    X(LOCAL_MEMORY, 8, MAX_SHARED_MEMORY_PER_BLOCK)                                      \
    X(SUBGROUP, 10, WARP_SIZE)                                                           \
    X(COMPUTE_UNITS, 16, MULTIPROCESSOR_COUNT)                                           \
    X(INTEGRATED, 18, INTEGRATED)                                                        \
    X(PCI_BUS, 33, PCI_BUS_ID)                                                           \
    X(PCI_DEVICE, 34, PCI_DEVICE_ID)                                                     \
    X(PCI_DOMAIN, 50, PCI_DOMAIN_ID)                                                     \
    X(CC_MAJOR, 75, COMPUTE_CAPABILITY_MAJOR)                                            \
    X(CC_MINOR, 76, COMPUTE_CAPABILITY_MINOR)                                            \
    X(MANAGED, 83, MANAGED_MEMORY)                                                       \
    X(WAIT_VALUE, 122, CAN_USE_64_BIT_STREAM_MEM_OPS)
#define YOKE_CUDA_ATTRIBUTES_ROW(key, number, theirs) [YOKE_CUDALIKE_##key] = number,
#define YOKE_CUDA_ATTRIBUTES                                                             \
    {                                                                                    \
        YOKE_CUDA_ATTRIBUTES_LIST(YOKE_CUDA_ATTRIBUTES_ROW)                              \
    }

enum {
    YOKE_CUDA_STREAM_NON_BLOCKING = 1,
    YOKE_CUDA_EVENT_DISABLE_TIMING = 2,
    YOKE_CUDA_HOST_PORTABLE = 1,
    YOKE_CUDA_HOST_MAPPED = 2,
    YOKE_CUDA_MANAGED_GLOBAL = 1
};

extern const yoke_backend_ops_t yoke_cuda_ops;

#endif
