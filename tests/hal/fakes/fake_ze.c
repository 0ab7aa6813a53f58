/* SPDX-License-Identifier: Apache-2.0 */
/* A fake Level Zero loader with one driver. Built against the real header where that is.
 */
#include <level_zero/ze_api.h>
#include "fake.h"

#define MASK "ZE_AFFINITY_MASK"
#define API __attribute__((visibility("default")))

API ze_result_t zeInit(ze_init_flags_t flags)
{
    (void)flags;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
    if (drivers != NULL && *count > 0)
        drivers[0] = (ze_driver_handle_t)(size_t)4096;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDriverGetProperties(ze_driver_handle_t driver,
                                      ze_driver_properties_t *properties)
{
    (void)driver;
    properties->driverVersion = 17003850;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDriverGetApiVersion(ze_driver_handle_t driver,
                                      ze_api_version_t *version)
{
    (void)driver;
    *version = ZE_API_VERSION_1_4;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count,
                            ze_device_handle_t *devices)
{
    (void)driver;
    uint32_t there = (uint32_t)fake_count(MASK);
    for (uint32_t i = 0; devices != NULL && i < there && i < *count; i++)
        devices[i] = (ze_device_handle_t)(size_t)(fake_visible(MASK, (int)i) + 1);
    *count = there;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDeviceGetProperties(ze_device_handle_t device,
                                      ze_device_properties_t *properties)
{
    int card = (int)((size_t)device - 1);
    if (fake_broken(card))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    properties->type = ZE_DEVICE_TYPE_GPU;
    properties->vendorId = 0x8086;
    properties->deviceId = 0x0bd5;
    properties->uuid.id[0] = 0x86;
    properties->uuid.id[15] = (uint8_t)card;
    snprintf(properties->name, sizeof properties->name,
             "Intel(R) Data Center GPU Max 1550");
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
                                            ze_device_memory_properties_t *memories)
{
    (void)device;
    if (memories != NULL && *count > 0)
        memories[0].totalSize = (uint64_t)137438953472;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

API ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t device,
                                            ze_pci_ext_properties_t *pci)
{
    int card = (int)((size_t)device - 1);
    pci->address.domain = (uint32_t)card % 4;
    pci->address.bus = 2 + (uint32_t)card / 4;
    pci->maxSpeed.genVersion = 5;
    pci->maxSpeed.width = -1;
    return ZE_RESULT_SUCCESS;
}
