/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_DEVICE_H
#define YOKE_HAL_LIVE_DEVICE_H

#include "hal/live/object.h"
#include "hal/live/registry.h"

#pragma GCC visibility push(hidden)

/* What stands behind the colon of a device's name. */
typedef struct yoke_device_name {
    enum { YOKE_NAME_ORDINAL, YOKE_NAME_PCI, YOKE_NAME_UUID } by;
    uint32_t ordinal;
    yoke_pci_t pci;
    uint8_t uuid[16];
} yoke_device_name_t;

/** @retval YOKE_ERR_USAGE  none of the forms of yoke_device_open() */
yoke_status_t yoke_device_name_parse(const char *name, yoke_device_name_t *out_name);
/** @retval YOKE_ERR_NOT_FOUND  with what is there */
yoke_status_t yoke_device_name_find(yoke_runtime_t *runtime,
                                    const yoke_device_name_t *name, const char *text,
                                    uint32_t *out_ordinal);

yoke_status_t yoke_runtime_device_info(yoke_runtime_t *runtime, uint32_t ordinal,
                                       yoke_impl_info_t *out_info);
yoke_status_t yoke_device_open_ordinal(yoke_runtime_t *runtime, uint32_t ordinal,
                                       const yoke_native_t *native,
                                       const yoke_device_options_t *options,
                                       yoke_device_t **out_device);
/** See to it that `device` reaches memory of `peer`, enabling that where it is the first
 *  time. @retval YOKE_ERR_UNREACHABLE */
yoke_status_t yoke_device_reach(yoke_device_t *device, yoke_device_t *peer);

#pragma GCC visibility pop
#endif
