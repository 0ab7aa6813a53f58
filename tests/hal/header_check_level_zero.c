/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of Level Zero against the installed ze_api.h; compiling is the test.
 */
#include <level_zero/ze_api.h>
#include "backends/level_zero/ze.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define LAYOUT(ours, theirs, a, b)                                                       \
    _Static_assert(offsetof(ours, a) == offsetof(theirs, b) &&                           \
                       sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b),               \
                   #theirs "." #b)

SAME(YOKE_ZE_SUCCESS, ZE_RESULT_SUCCESS);
SAME(YOKE_ZE_ERROR_DEVICE_LOST, ZE_RESULT_ERROR_DEVICE_LOST);
SAME(YOKE_ZE_ERROR_INSUFFICIENT_PERMISSIONS, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
SAME(YOKE_ZE_ERROR_UNINITIALIZED, ZE_RESULT_ERROR_UNINITIALIZED);
SAME(YOKE_ZE_DRIVER_PROPERTIES, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
SAME(YOKE_ZE_DEVICE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
SAME(YOKE_ZE_MEMORY_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
SAME(YOKE_ZE_PCI_PROPERTIES, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
SAME(YOKE_ZE_TYPE_GPU, ZE_DEVICE_TYPE_GPU);
SAME(YOKE_ZE_TYPE_CPU, ZE_DEVICE_TYPE_CPU);
SAME(YOKE_ZE_TYPE_FPGA, ZE_DEVICE_TYPE_FPGA);
SAME(YOKE_ZE_TYPE_VPU, ZE_DEVICE_TYPE_VPU);
SAME(YOKE_ZE_FLAG_INTEGRATED, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
SAME(YOKE_ZE_FLAG_SUBDEVICE, ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
SAME(sizeof(uint32_t), sizeof(ze_result_t));
SAME(sizeof(uint32_t), sizeof(ze_api_version_t));

SAME(sizeof(yoke_ze_driver_properties_t), sizeof(ze_driver_properties_t));
LAYOUT(yoke_ze_driver_properties_t, ze_driver_properties_t, version, driverVersion);
SAME(sizeof(yoke_ze_device_properties_t), sizeof(ze_device_properties_t));
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, type, type);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, vendor_id, vendorId);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, device_id, deviceId);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, flags, flags);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, subdevice_id, subdeviceId);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, uuid, uuid);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, name, name);
SAME(sizeof(yoke_ze_memory_properties_t), sizeof(ze_device_memory_properties_t));
LAYOUT(yoke_ze_memory_properties_t, ze_device_memory_properties_t, total_size, totalSize);
SAME(sizeof(yoke_ze_pci_properties_t), sizeof(ze_pci_ext_properties_t));
LAYOUT(yoke_ze_pci_properties_t, ze_pci_ext_properties_t, domain, address.domain);
LAYOUT(yoke_ze_pci_properties_t, ze_pci_ext_properties_t, function, address.function);
LAYOUT(yoke_ze_pci_properties_t, ze_pci_ext_properties_t, generation,
       maxSpeed.genVersion);
LAYOUT(yoke_ze_pci_properties_t, ze_pci_ext_properties_t, width, maxSpeed.width);

int header_check_level_zero(ze_driver_handle_t driver, ze_device_handle_t device);
int header_check_level_zero(ze_driver_handle_t driver, ze_device_handle_t device)
{
    uint32_t count = 0;
    ze_result_t (*init)(uint32_t) = zeInit;
    ze_result_t (*drivers)(uint32_t *, ze_driver_handle_t *) = zeDriverGet;
    ze_result_t (*devices)(ze_driver_handle_t, uint32_t *, ze_device_handle_t *) =
        zeDeviceGet;
    ze_result_t (*memories)(ze_device_handle_t, uint32_t *,
                            ze_device_memory_properties_t *) =
        zeDeviceGetMemoryProperties;
    ze_result_t (*pci)(ze_device_handle_t, ze_pci_ext_properties_t *) =
        zeDevicePciGetPropertiesExt;
    return (int)init(0) + (int)drivers(&count, &driver) +
           (int)devices(driver, &count, &device) + (memories != NULL && pci != NULL);
}
