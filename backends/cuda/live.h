/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDA_LIVE_H
#define YOKE_BACKENDS_CUDA_LIVE_H

/* Numbers of the CUDA driver API (cuda.h 13.0), for CUDA and those who took them over;
 * tests/hal/header_check_cuda.c compares them. */

#include "backends/cudalike/cudalike.h"

/* CUdevice_attribute, in the order of yoke_cudalike_key_t. */
#define YOKE_CUDA_ATTRIBUTES                                                             \
    {                                                                                    \
        [YOKE_CUDALIKE_MAX_GROUP] = 1, [YOKE_CUDALIKE_GRID_X] = 5,                       \
        [YOKE_CUDALIKE_GRID_Y] = 6, [YOKE_CUDALIKE_GRID_Z] = 7,                          \
        [YOKE_CUDALIKE_LOCAL_MEMORY] = 8, [YOKE_CUDALIKE_SUBGROUP] = 10,                 \
        [YOKE_CUDALIKE_COMPUTE_UNITS] = 16, [YOKE_CUDALIKE_INTEGRATED] = 18,             \
        [YOKE_CUDALIKE_PCI_BUS] = 33, [YOKE_CUDALIKE_PCI_DEVICE] = 34,                   \
        [YOKE_CUDALIKE_PCI_DOMAIN] = 50, [YOKE_CUDALIKE_CC_MAJOR] = 75,                  \
        [YOKE_CUDALIKE_CC_MINOR] = 76, [YOKE_CUDALIKE_MANAGED] = 83,                     \
        [YOKE_CUDALIKE_WAIT_VALUE] = 122                                                 \
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
