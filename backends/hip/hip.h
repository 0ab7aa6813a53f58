/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_HIP_HIP_H
#define YOKE_BACKENDS_HIP_HIP_H

/*
 * Our own declarations of what we use of HIP (5.2 and later). hipDeviceProp_t is not
 * among them: its layout changed in 6.0 under the same name. tests/hal/header_check_hip.c
 * compares them with hip_runtime_api.h where that is installed.
 */

#include <stddef.h>
#include <stdint.h>

enum {
    YOKE_HIP_SUCCESS = 0,
    YOKE_HIP_ERROR_INSUFFICIENT_DRIVER = 35,
    YOKE_HIP_ERROR_NO_DEVICE = 100,
    YOKE_HIP_ERROR_INVALID_DEVICE = 101
};

typedef struct yoke_hip_uuid {
    char bytes[16];
} yoke_hip_uuid_t;

typedef struct yoke_hip {
    int (*device_count)(int *);
    int (*runtime_version)(int *);
    int (*device_name)(char *, int, int);
    int (*device_uuid)(yoke_hip_uuid_t *, int);
    int (*total_memory)(size_t *, int);
    int (*pci_bus_id)(char *, int, int);
} yoke_hip_t;

const char *yoke_hip_error_name(int64_t code);

#endif
