/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_HIP_LIVE_H
#define YOKE_BACKENDS_HIP_LIVE_H

/* Numbers of HIP (hip_runtime_api.h 5.2.3; the same in 6 and 7);
 * tests/hal/header_check_hip.c compares them. */

#include "backends/cudalike/cudalike.h"

#define YOKE_HIP_ATTRIBUTES                                                              \
    {                                                                                    \
        [YOKE_CUDALIKE_MAX_GROUP] = 56, [YOKE_CUDALIKE_GRID_X] = 29,                     \
        [YOKE_CUDALIKE_GRID_Y] = 30, [YOKE_CUDALIKE_GRID_Z] = 31,                        \
        [YOKE_CUDALIKE_LOCAL_MEMORY] = 74, [YOKE_CUDALIKE_SUBGROUP] = 87,                \
        [YOKE_CUDALIKE_COMPUTE_UNITS] = 63, [YOKE_CUDALIKE_INTEGRATED] = 16,             \
        [YOKE_CUDALIKE_PCI_BUS] = 67, [YOKE_CUDALIKE_PCI_DEVICE] = 68,                   \
        [YOKE_CUDALIKE_PCI_DOMAIN] = 69, [YOKE_CUDALIKE_CC_MAJOR] = 23,                  \
        [YOKE_CUDALIKE_CC_MINOR] = 61, [YOKE_CUDALIKE_MANAGED] = 24,                     \
        [YOKE_CUDALIKE_WAIT_VALUE] = 10013                                               \
    }

enum {
    YOKE_HIP_STREAM_NON_BLOCKING = 1,
    YOKE_HIP_EVENT_DISABLE_TIMING = 2,
    YOKE_HIP_HOST_PORTABLE = 1,
    YOKE_HIP_HOST_MAPPED = 2,
    YOKE_HIP_MANAGED_GLOBAL = 1,
    YOKE_HIP_SIGNAL_MEMORY = 2,
    /* of gcnArchName in hipDeviceProp_t: HIP 5, and R0600 of HIP 6 */
    YOKE_HIP_ARCH_OFFSET = 396,
    YOKE_HIP_ARCH_OFFSET_R0600 = 1160
};

extern const yoke_backend_ops_t yoke_hip_ops;

#endif
