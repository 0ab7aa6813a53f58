/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_LEVEL_ZERO_ZE_H
#define YOKE_BACKENDS_LEVEL_ZERO_ZE_H

/*
 * Our own declarations of what we use of Level Zero (specification 1.4).
 * tests/hal/header_check_level_zero.c compares them with ze_api.h where that is
 * installed.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct yoke_ze_driver *yoke_ze_driver_t;
typedef struct yoke_ze_device *yoke_ze_device_t;

enum {
    YOKE_ZE_SUCCESS = 0,
    YOKE_ZE_ERROR_DEVICE_LOST = 0x70000001,
    YOKE_ZE_ERROR_INSUFFICIENT_PERMISSIONS = 0x70010000,
    YOKE_ZE_ERROR_UNINITIALIZED = 0x78000001,
    YOKE_ZE_DRIVER_PROPERTIES = 0x1,
    YOKE_ZE_DEVICE_PROPERTIES = 0x3,
    YOKE_ZE_MEMORY_PROPERTIES = 0x7,
    YOKE_ZE_PCI_PROPERTIES = 0x10008,
    YOKE_ZE_TYPE_GPU = 1,
    YOKE_ZE_TYPE_CPU = 2,
    YOKE_ZE_TYPE_FPGA = 3,
    YOKE_ZE_TYPE_VPU = 5,
    YOKE_ZE_FLAG_INTEGRATED = 1 << 0,
    YOKE_ZE_FLAG_SUBDEVICE = 1 << 1,
    YOKE_ZE_NAME_SIZE = 256
};

typedef struct yoke_ze_driver_properties {
    uint32_t stype;
    void *next;
    uint8_t uuid[16];
    uint32_t version;
} yoke_ze_driver_properties_t;

typedef struct yoke_ze_device_properties {
    uint32_t stype;
    void *next;
    uint32_t type, vendor_id, device_id, flags, subdevice_id, core_clock_rate;
    uint64_t max_mem_alloc_size;
    uint32_t max_hardware_contexts, max_command_queue_priority, threads_per_eu,
        simd_width, eus_per_subslice, subslices_per_slice, slices;
    uint64_t timer_resolution;
    uint32_t timestamp_valid_bits, kernel_timestamp_valid_bits;
    uint8_t uuid[16];
    char name[YOKE_ZE_NAME_SIZE];
} yoke_ze_device_properties_t;

typedef struct yoke_ze_memory_properties {
    uint32_t stype;
    void *next;
    uint32_t flags, max_clock_rate, max_bus_width;
    uint64_t total_size;
    char name[YOKE_ZE_NAME_SIZE];
} yoke_ze_memory_properties_t;

typedef struct yoke_ze_pci_properties {
    uint32_t stype;
    void *next;
    uint32_t domain, bus, device, function;
    int32_t generation, width;
    int64_t max_bandwidth;
} yoke_ze_pci_properties_t;

typedef struct yoke_ze {
    uint32_t (*init)(uint32_t);
    uint32_t (*driver_get)(uint32_t *, yoke_ze_driver_t *);
    uint32_t (*driver_properties)(yoke_ze_driver_t, yoke_ze_driver_properties_t *);
    uint32_t (*driver_api_version)(yoke_ze_driver_t, uint32_t *);
    uint32_t (*device_get)(yoke_ze_driver_t, uint32_t *, yoke_ze_device_t *);
    uint32_t (*device_properties)(yoke_ze_device_t, yoke_ze_device_properties_t *);
    uint32_t (*memory_properties)(yoke_ze_device_t, uint32_t *,
                                  yoke_ze_memory_properties_t *);
    uint32_t (*pci_properties)(yoke_ze_device_t, yoke_ze_pci_properties_t *);
} yoke_ze_t;

const char *yoke_ze_error_name(int64_t code);

#endif
