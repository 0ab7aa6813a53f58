/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_OPENCL_CL_H
#define YOKE_BACKENDS_OPENCL_CL_H

/*
 * Our own declarations of the OpenCL entry points that we use, from the OpenCL 3.0
 * specification. tests/hal/header_check_opencl.c compares them with CL/cl.h where that is
 * installed. Probing and measuring use nothing from OpenCL 2.0 or later: Oclgrind's stubs
 * of those functions never return.
 */

#include <stddef.h>
#include <stdint.h>
#include "yoke/inventory.h"

typedef struct yoke_cl_platform *yoke_cl_platform_t;
typedef struct yoke_cl_device *yoke_cl_device_t;
typedef struct yoke_cl_context *yoke_cl_context_t;
typedef struct yoke_cl_queue *yoke_cl_queue_t;
typedef struct yoke_cl_memory *yoke_cl_memory_t;
typedef struct yoke_cl_program *yoke_cl_program_t;
typedef struct yoke_cl_kernel *yoke_cl_kernel_t;
typedef struct yoke_cl_event *yoke_cl_event_t;

enum {
    YOKE_CL_SUCCESS = 0,
    YOKE_CL_DEVICE_NOT_FOUND = -1,
    YOKE_CL_PLATFORM_NOT_FOUND = -1001,
    YOKE_CL_PLATFORM_VERSION = 0x0901,
    YOKE_CL_PLATFORM_NAME = 0x0902,
    YOKE_CL_PLATFORM_VENDOR = 0x0903,
    YOKE_CL_DEVICE_TYPE = 0x1000,
    YOKE_CL_DEVICE_VENDOR_ID = 0x1001,
    YOKE_CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    YOKE_CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    YOKE_CL_DEVICE_NAME = 0x102B,
    YOKE_CL_DEVICE_VENDOR = 0x102C,
    YOKE_CL_DRIVER_VERSION = 0x102D,
    YOKE_CL_DEVICE_VERSION = 0x102F,
    YOKE_CL_DEVICE_EXTENSIONS = 0x1030,
    YOKE_CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    YOKE_CL_DEVICE_UUID_KHR = 0x106A,
    YOKE_CL_DEVICE_PCI_BUS_INFO_KHR = 0x410F,
    YOKE_CL_DEVICE_GLOBAL_FREE_MEMORY_AMD = 0x4039,
    YOKE_CL_TYPE_CPU = 1 << 1,
    YOKE_CL_TYPE_GPU = 1 << 2,
    YOKE_CL_TYPE_ACCELERATOR = 1 << 3,
    YOKE_CL_TYPE_CUSTOM = 1 << 4,
    YOKE_CL_MEM_READ_WRITE = 1 << 0,
    YOKE_CL_PROGRAM_BUILD_LOG = 0x1183,
};
#define YOKE_CL_TYPE_ALL 0xFFFFFFFFu

/* Value of CL_DEVICE_PCI_BUS_INFO_KHR. */
typedef struct yoke_cl_pci {
    uint32_t domain, bus, device, function;
} yoke_cl_pci_t;

/* Entry points, in a table so that a library can be chosen at run time. */
typedef struct yoke_cl {
    int32_t (*get_platforms)(uint32_t, yoke_cl_platform_t *, uint32_t *);
    int32_t (*platform_info)(yoke_cl_platform_t, uint32_t, size_t, void *, size_t *);
    int32_t (*get_devices)(yoke_cl_platform_t, uint64_t, uint32_t, yoke_cl_device_t *,
                           uint32_t *);
    int32_t (*device_info)(yoke_cl_device_t, uint32_t, size_t, void *, size_t *);
} yoke_cl_t;

/* What measuring needs beyond enumeration. */
typedef struct yoke_cl_work {
    yoke_cl_context_t (*create_context)(
        const intptr_t *, uint32_t, const yoke_cl_device_t *,
        void (*)(const char *, const void *, size_t, void *), void *, int32_t *);
    yoke_cl_queue_t (*create_queue)(yoke_cl_context_t, yoke_cl_device_t, uint64_t,
                                    int32_t *);
    yoke_cl_memory_t (*create_buffer)(yoke_cl_context_t, uint64_t, size_t, void *,
                                      int32_t *);
    yoke_cl_program_t (*create_program)(yoke_cl_context_t, uint32_t, const char **,
                                        const size_t *, int32_t *);
    int32_t (*build_program)(yoke_cl_program_t, uint32_t, const yoke_cl_device_t *,
                             const char *, void (*)(yoke_cl_program_t, void *), void *);
    int32_t (*build_info)(yoke_cl_program_t, yoke_cl_device_t, uint32_t, size_t, void *,
                          size_t *);
    yoke_cl_kernel_t (*create_kernel)(yoke_cl_program_t, const char *, int32_t *);
    int32_t (*set_argument)(yoke_cl_kernel_t, uint32_t, size_t, const void *);
    int32_t (*launch)(yoke_cl_queue_t, yoke_cl_kernel_t, uint32_t, const size_t *,
                      const size_t *, const size_t *, uint32_t, const yoke_cl_event_t *,
                      yoke_cl_event_t *);
    int32_t (*write_buffer)(yoke_cl_queue_t, yoke_cl_memory_t, uint32_t, size_t, size_t,
                            const void *, uint32_t, const yoke_cl_event_t *,
                            yoke_cl_event_t *);
    int32_t (*read_buffer)(yoke_cl_queue_t, yoke_cl_memory_t, uint32_t, size_t, size_t,
                           void *, uint32_t, const yoke_cl_event_t *, yoke_cl_event_t *);
    int32_t (*finish)(yoke_cl_queue_t);
} yoke_cl_work_t;

/* Name of a code ("CL_INVALID_VALUE"), NULL for an unknown one. */
const char *yoke_cl_error_name(int64_t code);

/* What a device of this CL_DEVICE_TYPE is; `platform`, `name` may be NULL. */
yoke_device_kind_t yoke_cl_kind(uint64_t type, const char *platform, const char *name);

#endif
