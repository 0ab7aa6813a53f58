/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of Level Zero against the installed ze_api.h; compiling is the test.
 */
#include <level_zero/ze_api.h>
#include "backends/level_zero/ze.h"
#include "backends/level_zero/live.h"

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

/* Live devices. */
SAME(YOKE_ZE_NOT_READY, ZE_RESULT_NOT_READY);
SAME(YOKE_ZE_ERROR_OUT_OF_HOST_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
SAME(YOKE_ZE_ERROR_OUT_OF_DEVICE_MEMORY, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
SAME(YOKE_ZE_ERROR_MODULE_BUILD_FAILURE, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
SAME(YOKE_ZE_ERROR_MODULE_LINK_FAILURE, ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
SAME(YOKE_ZE_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
SAME(YOKE_ZE_ERROR_UNSUPPORTED_SIZE, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
SAME(YOKE_ZE_ERROR_INVALID_NATIVE_BINARY, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
SAME(YOKE_ZE_ERROR_INVALID_KERNEL_NAME, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
SAME(YOKE_ZE_ERROR_INVALID_GROUP_SIZE_DIMENSION,
     ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
SAME(YOKE_ZE_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
     ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
SAME(YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
     ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
SAME(YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
     ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
SAME(YOKE_ZE_ERROR_OVERLAPPING_REGIONS, ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
SAME(YOKE_ZE_COMPUTE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
SAME(YOKE_ZE_MODULE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
SAME(YOKE_ZE_QUEUE_GROUP_PROPERTIES, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
SAME(YOKE_ZE_MEMORY_ACCESS_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
SAME(YOKE_ZE_CONTEXT_DESC, ZE_STRUCTURE_TYPE_CONTEXT_DESC);
SAME(YOKE_ZE_QUEUE_DESC, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
SAME(YOKE_ZE_EVENT_POOL_DESC, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
SAME(YOKE_ZE_EVENT_DESC, ZE_STRUCTURE_TYPE_EVENT_DESC);
SAME(YOKE_ZE_DEVICE_MEMORY_DESC, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
SAME(YOKE_ZE_HOST_MEMORY_DESC, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
SAME(YOKE_ZE_ALLOCATION_PROPERTIES, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
SAME(YOKE_ZE_MODULE_DESC, ZE_STRUCTURE_TYPE_MODULE_DESC);
SAME(YOKE_ZE_KERNEL_DESC, ZE_STRUCTURE_TYPE_KERNEL_DESC);
SAME(YOKE_ZE_KERNEL_PROPERTIES, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
SAME(YOKE_ZE_RELAXED_LIMITS_DESC, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
SAME(YOKE_ZE_DEVICE_PROPERTIES_1_2, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
SAME(YOKE_ZE_MODULE_FP64, ZE_DEVICE_MODULE_FLAG_FP64);
SAME(YOKE_ZE_MODULE_ATOMICS64, ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
SAME(YOKE_ZE_GROUP_COMPUTE, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
SAME(YOKE_ZE_GROUP_COPY, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
SAME(YOKE_ZE_ACCESS_RW, ZE_MEMORY_ACCESS_CAP_FLAG_RW);
SAME(YOKE_ZE_MODE_ASYNCHRONOUS, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
SAME(YOKE_ZE_PRIORITY_NORMAL, ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
SAME(YOKE_ZE_PRIORITY_LOW, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW);
SAME(YOKE_ZE_PRIORITY_HIGH, ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
SAME(YOKE_ZE_POOL_HOST_VISIBLE, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
SAME(YOKE_ZE_SCOPE_HOST, ZE_EVENT_SCOPE_FLAG_HOST);
SAME(YOKE_ZE_RELAXED_MAX_SIZE, ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE);
SAME(YOKE_ZE_MEMORY_UNKNOWN, ZE_MEMORY_TYPE_UNKNOWN);
SAME(YOKE_ZE_MEMORY_DEVICE, ZE_MEMORY_TYPE_DEVICE);
SAME(YOKE_ZE_FORMAT_SPIRV, ZE_MODULE_FORMAT_IL_SPIRV);
SAME(YOKE_ZE_FORMAT_NATIVE, ZE_MODULE_FORMAT_NATIVE);
SAME(YOKE_ZE_SUBGROUP_SIZES, ZE_SUBGROUPSIZE_COUNT);
SAME(sizeof(yoke_ze_compute_properties_t), sizeof(ze_device_compute_properties_t));
LAYOUT(yoke_ze_compute_properties_t, ze_device_compute_properties_t, max_total_group,
       maxTotalGroupSize);
LAYOUT(yoke_ze_compute_properties_t, ze_device_compute_properties_t, max_local,
       maxSharedLocalMemory);
LAYOUT(yoke_ze_compute_properties_t, ze_device_compute_properties_t, subgroup_count,
       numSubGroupSizes);
LAYOUT(yoke_ze_compute_properties_t, ze_device_compute_properties_t, subgroups,
       subGroupSizes);
SAME(sizeof(yoke_ze_module_properties_t), sizeof(ze_device_module_properties_t));
LAYOUT(yoke_ze_module_properties_t, ze_device_module_properties_t, flags, flags);
LAYOUT(yoke_ze_module_properties_t, ze_device_module_properties_t, native,
       nativeKernelSupported);
SAME(sizeof(yoke_ze_group_properties_t), sizeof(ze_command_queue_group_properties_t));
LAYOUT(yoke_ze_group_properties_t, ze_command_queue_group_properties_t, flags, flags);
LAYOUT(yoke_ze_group_properties_t, ze_command_queue_group_properties_t, max_pattern,
       maxMemoryFillPatternSize);
LAYOUT(yoke_ze_group_properties_t, ze_command_queue_group_properties_t, queues,
       numQueues);
SAME(sizeof(yoke_ze_access_properties_t), sizeof(ze_device_memory_access_properties_t));
LAYOUT(yoke_ze_access_properties_t, ze_device_memory_access_properties_t, host,
       hostAllocCapabilities);
LAYOUT(yoke_ze_access_properties_t, ze_device_memory_access_properties_t, device,
       deviceAllocCapabilities);
LAYOUT(yoke_ze_access_properties_t, ze_device_memory_access_properties_t, shared_single,
       sharedSingleDeviceAllocCapabilities);
LAYOUT(yoke_ze_access_properties_t, ze_device_memory_access_properties_t, shared_system,
       sharedSystemAllocCapabilities);
SAME(sizeof(yoke_ze_context_desc_t), sizeof(ze_context_desc_t));
LAYOUT(yoke_ze_context_desc_t, ze_context_desc_t, flags, flags);
SAME(sizeof(yoke_ze_queue_desc_t), sizeof(ze_command_queue_desc_t));
LAYOUT(yoke_ze_queue_desc_t, ze_command_queue_desc_t, ordinal, ordinal);
LAYOUT(yoke_ze_queue_desc_t, ze_command_queue_desc_t, index, index);
LAYOUT(yoke_ze_queue_desc_t, ze_command_queue_desc_t, flags, flags);
LAYOUT(yoke_ze_queue_desc_t, ze_command_queue_desc_t, mode, mode);
LAYOUT(yoke_ze_queue_desc_t, ze_command_queue_desc_t, priority, priority);
SAME(sizeof(yoke_ze_pool_desc_t), sizeof(ze_event_pool_desc_t));
LAYOUT(yoke_ze_pool_desc_t, ze_event_pool_desc_t, flags, flags);
LAYOUT(yoke_ze_pool_desc_t, ze_event_pool_desc_t, count, count);
SAME(sizeof(yoke_ze_event_desc_t), sizeof(ze_event_desc_t));
LAYOUT(yoke_ze_event_desc_t, ze_event_desc_t, index, index);
LAYOUT(yoke_ze_event_desc_t, ze_event_desc_t, signal, signal);
LAYOUT(yoke_ze_event_desc_t, ze_event_desc_t, wait, wait);
SAME(sizeof(yoke_ze_device_memory_desc_t), sizeof(ze_device_mem_alloc_desc_t));
LAYOUT(yoke_ze_device_memory_desc_t, ze_device_mem_alloc_desc_t, flags, flags);
LAYOUT(yoke_ze_device_memory_desc_t, ze_device_mem_alloc_desc_t, ordinal, ordinal);
SAME(sizeof(yoke_ze_host_memory_desc_t), sizeof(ze_host_mem_alloc_desc_t));
LAYOUT(yoke_ze_host_memory_desc_t, ze_host_mem_alloc_desc_t, flags, flags);
SAME(sizeof(yoke_ze_relaxed_desc_t), sizeof(ze_relaxed_allocation_limits_exp_desc_t));
LAYOUT(yoke_ze_relaxed_desc_t, ze_relaxed_allocation_limits_exp_desc_t, flags, flags);
SAME(sizeof(yoke_ze_allocation_t), sizeof(ze_memory_allocation_properties_t));
LAYOUT(yoke_ze_allocation_t, ze_memory_allocation_properties_t, type, type);
LAYOUT(yoke_ze_allocation_t, ze_memory_allocation_properties_t, id, id);
LAYOUT(yoke_ze_allocation_t, ze_memory_allocation_properties_t, page_size, pageSize);
SAME(sizeof(yoke_ze_module_desc_t), sizeof(ze_module_desc_t));
LAYOUT(yoke_ze_module_desc_t, ze_module_desc_t, format, format);
LAYOUT(yoke_ze_module_desc_t, ze_module_desc_t, size, inputSize);
LAYOUT(yoke_ze_module_desc_t, ze_module_desc_t, data, pInputModule);
LAYOUT(yoke_ze_module_desc_t, ze_module_desc_t, flags, pBuildFlags);
LAYOUT(yoke_ze_module_desc_t, ze_module_desc_t, constants, pConstants);
SAME(sizeof(yoke_ze_kernel_desc_t), sizeof(ze_kernel_desc_t));
LAYOUT(yoke_ze_kernel_desc_t, ze_kernel_desc_t, flags, flags);
LAYOUT(yoke_ze_kernel_desc_t, ze_kernel_desc_t, name, pKernelName);
SAME(sizeof(yoke_ze_kernel_properties_t), sizeof(ze_kernel_properties_t));
LAYOUT(yoke_ze_kernel_properties_t, ze_kernel_properties_t, arguments, numKernelArgs);
LAYOUT(yoke_ze_kernel_properties_t, ze_kernel_properties_t, spill, spillMemSize);
LAYOUT(yoke_ze_kernel_properties_t, ze_kernel_properties_t, uuid, uuid);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, max_mem_alloc_size,
       maxMemAllocSize);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, timer_resolution,
       timerResolution);
LAYOUT(yoke_ze_device_properties_t, ze_device_properties_t, timestamp_valid_bits,
       timestampValidBits);
SAME(sizeof(yoke_ze_group_count_t), sizeof(ze_group_count_t));
SAME(sizeof(uint8_t), sizeof(ze_bool_t));

/* Prototypes of live devices: theirs, with our types beside the handles. */
static int live_prototypes(void)
{
    ze_result_t (*p1)(ze_device_handle_t, ze_device_handle_t, uint8_t *) =
        zeDeviceCanAccessPeer;
    ze_result_t (*p2)(ze_driver_handle_t, const ze_context_desc_t *,
                      ze_context_handle_t *) = zeContextCreate;
    ze_result_t (*p3)(ze_context_handle_t, ze_device_handle_t,
                      const ze_command_queue_desc_t *, ze_command_list_handle_t *) =
        zeCommandListCreateImmediate;
    ze_result_t (*p4)(ze_command_list_handle_t, uint64_t *, ze_event_handle_t, uint32_t,
                      ze_event_handle_t *) = zeCommandListAppendWriteGlobalTimestamp;
    ze_result_t (*p5)(ze_command_list_handle_t, ze_event_handle_t, uint32_t,
                      ze_event_handle_t *) = zeCommandListAppendBarrier;
    ze_result_t (*p6)(ze_command_list_handle_t, void *, const void *, size_t,
                      ze_event_handle_t, uint32_t, ze_event_handle_t *) =
        zeCommandListAppendMemoryCopy;
    ze_result_t (*p7)(ze_command_list_handle_t, void *, const void *, size_t, size_t,
                      ze_event_handle_t, uint32_t, ze_event_handle_t *) =
        zeCommandListAppendMemoryFill;
    ze_result_t (*p8)(ze_command_list_handle_t, ze_kernel_handle_t,
                      const ze_group_count_t *, ze_event_handle_t, uint32_t,
                      ze_event_handle_t *) = zeCommandListAppendLaunchKernel;
    ze_result_t (*p9)(ze_context_handle_t, const ze_event_pool_desc_t *, uint32_t,
                      ze_device_handle_t *, ze_event_pool_handle_t *) = zeEventPoolCreate;
    ze_result_t (*p10)(ze_event_pool_handle_t, const ze_event_desc_t *,
                       ze_event_handle_t *) = zeEventCreate;
    ze_result_t (*p11)(ze_event_handle_t, uint64_t) = zeEventHostSynchronize;
    ze_result_t (*p12)(ze_context_handle_t, const ze_device_mem_alloc_desc_t *, size_t,
                       size_t, ze_device_handle_t, void **) = zeMemAllocDevice;
    ze_result_t (*p13)(ze_context_handle_t, const ze_host_mem_alloc_desc_t *, size_t,
                       size_t, void **) = zeMemAllocHost;
    ze_result_t (*p14)(ze_context_handle_t, const ze_device_mem_alloc_desc_t *,
                       const ze_host_mem_alloc_desc_t *, size_t, size_t,
                       ze_device_handle_t, void **) = zeMemAllocShared;
    ze_result_t (*p15)(ze_context_handle_t, const void *,
                       ze_memory_allocation_properties_t *, ze_device_handle_t *) =
        zeMemGetAllocProperties;
    ze_result_t (*p16)(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t *,
                       ze_module_handle_t *, ze_module_build_log_handle_t *) =
        zeModuleCreate;
    ze_result_t (*p17)(ze_module_handle_t, size_t *, uint8_t *) = zeModuleGetNativeBinary;
    ze_result_t (*p18)(ze_module_build_log_handle_t, size_t *, char *) =
        zeModuleBuildLogGetString;
    ze_result_t (*p19)(ze_module_handle_t, const ze_kernel_desc_t *,
                       ze_kernel_handle_t *) = zeKernelCreate;
    ze_result_t (*p20)(ze_kernel_handle_t, ze_kernel_properties_t *) =
        zeKernelGetProperties;
    ze_result_t (*p21)(ze_kernel_handle_t, uint32_t, uint32_t, uint32_t) =
        zeKernelSetGroupSize;
    ze_result_t (*p22)(ze_kernel_handle_t, uint32_t, size_t, const void *) =
        zeKernelSetArgumentValue;
    ze_result_t (*p23)(ze_device_handle_t, uint32_t *,
                       ze_command_queue_group_properties_t *) =
        zeDeviceGetCommandQueueGroupProperties;
    ze_result_t (*p24)(ze_context_handle_t, void *) = zeMemFree;
    return p1 && p2 && p3 && p4 && p5 && p6 && p7 && p8 && p9 && p10 && p11 && p12 &&
           p13 && p14 && p15 && p16 && p17 && p18 && p19 && p20 && p21 && p22 && p23 &&
           p24;
}

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
           (int)devices(driver, &count, &device) + (memories != NULL && pci != NULL) +
           live_prototypes();
}
