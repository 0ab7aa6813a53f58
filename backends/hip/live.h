/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_HIP_LIVE_H
#define YOKE_BACKENDS_HIP_LIVE_H

/* Numbers of HIP (hip_runtime_api.h 5.2.3; the same in 6 and 7);
 * tests/hal/header_check_hip.c compares them. */

#include "backends/cudalike/cudalike.h"

#define YOKE_HIP_ATTRIBUTES_LIST(X)                                                      \
    X(MAX_GROUP, 56, MaxThreadsPerBlock)                                                 \
    X(GRID_X, 29, MaxGridDimX)                                                           \
    X(GRID_Y, 30, MaxGridDimY)                                                           \
    X(GRID_Z, 31, MaxGridDimZ)                                                           \
    X(LOCAL_MEMORY, 74, MaxSharedMemoryPerBlock)                                         \
    X(SUBGROUP, 87, WarpSize)                                                            \
    X(COMPUTE_UNITS, 63, MultiprocessorCount)                                            \
    X(INTEGRATED, 16, Integrated)                                                        \
    X(PCI_BUS, 67, PciBusId)                                                             \
    X(PCI_DEVICE, 68, PciDeviceId)                                                       \
    X(PCI_DOMAIN, 69, PciDomainID)                                                       \
    X(CC_MAJOR, 23, ComputeCapabilityMajor)                                              \
    X(CC_MINOR, 61, ComputeCapabilityMinor)                                              \
    X(MANAGED, 24, ManagedMemory)                                                        \
    X(WAIT_VALUE, 10013, CanUseStreamWaitValue)
#define YOKE_HIP_ATTRIBUTES_ROW(key, number, theirs) [YOKE_CUDALIKE_##key] = number,
#define YOKE_HIP_ATTRIBUTES                                                              \
    {                                                                                    \
        YOKE_HIP_ATTRIBUTES_LIST(YOKE_HIP_ATTRIBUTES_ROW)                                \
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
