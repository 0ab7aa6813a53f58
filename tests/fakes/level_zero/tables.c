/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader asks a driver for: one function that fills a table, for each table
 * (oneapi-src/level-zero, ze_ddi.h, zes_ddi.h, zet_ddi.h). An entry left NULL is answered
 * by the loader itself with ZE_RESULT_ERROR_UNINITIALIZED.
 */
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>
#include "tests/fakes/common/entry.h"

#define TABLE(name, type, ...)                                                           \
    FAKE_API ze_result_t zeGet##name##ProcAddrTable(ze_api_version_t version,            \
                                                    type *pDdiTable)                     \
    {                                                                                    \
        if (pDdiTable == NULL)                                                           \
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                                 \
        if (ZE_MAJOR_VERSION(version) != 1)                                              \
            return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;                                  \
        type table = {__VA_ARGS__};                                                      \
        *pDdiTable = table;                                                              \
        return ZE_RESULT_SUCCESS;                                                        \
    }

TABLE(Global, ze_global_dditable_t, .pfnInit = zeInit)
TABLE(Driver, ze_driver_dditable_t, .pfnGet = zeDriverGet,
      .pfnGetApiVersion = zeDriverGetApiVersion,
      .pfnGetProperties = zeDriverGetProperties,
      .pfnGetExtensionProperties = zeDriverGetExtensionProperties)
TABLE(Device, ze_device_dditable_t, .pfnGet = zeDeviceGet,
      .pfnGetSubDevices = zeDeviceGetSubDevices,
      .pfnGetProperties = zeDeviceGetProperties,
      .pfnGetComputeProperties = zeDeviceGetComputeProperties,
      .pfnGetModuleProperties = zeDeviceGetModuleProperties,
      .pfnGetCommandQueueGroupProperties = zeDeviceGetCommandQueueGroupProperties,
      .pfnGetMemoryProperties = zeDeviceGetMemoryProperties,
      .pfnGetMemoryAccessProperties = zeDeviceGetMemoryAccessProperties,
      .pfnGetCacheProperties = zeDeviceGetCacheProperties,
      .pfnGetP2PProperties = zeDeviceGetP2PProperties,
      .pfnCanAccessPeer = zeDeviceCanAccessPeer, .pfnGetStatus = zeDeviceGetStatus,
      .pfnGetGlobalTimestamps = zeDeviceGetGlobalTimestamps,
      .pfnPciGetPropertiesExt = zeDevicePciGetPropertiesExt)
TABLE(Context, ze_context_dditable_t, .pfnCreate = zeContextCreate,
      .pfnDestroy = zeContextDestroy, .pfnGetStatus = zeContextGetStatus,
      .pfnMakeMemoryResident = zeContextMakeMemoryResident,
      .pfnEvictMemory = zeContextEvictMemory, .pfnCreateEx = zeContextCreateEx)
TABLE(Mem, ze_mem_dditable_t, .pfnAllocShared = zeMemAllocShared,
      .pfnAllocDevice = zeMemAllocDevice, .pfnAllocHost = zeMemAllocHost,
      .pfnFree = zeMemFree, .pfnGetAllocProperties = zeMemGetAllocProperties,
      .pfnGetAddressRange = zeMemGetAddressRange)
TABLE(CommandQueue, ze_command_queue_dditable_t, .pfnCreate = zeCommandQueueCreate,
      .pfnDestroy = zeCommandQueueDestroy,
      .pfnExecuteCommandLists = zeCommandQueueExecuteCommandLists,
      .pfnSynchronize = zeCommandQueueSynchronize)
TABLE(CommandList, ze_command_list_dditable_t, .pfnCreate = zeCommandListCreate,
      .pfnCreateImmediate = zeCommandListCreateImmediate,
      .pfnDestroy = zeCommandListDestroy, .pfnClose = zeCommandListClose,
      .pfnReset = zeCommandListReset,
      .pfnAppendWriteGlobalTimestamp = zeCommandListAppendWriteGlobalTimestamp,
      .pfnAppendBarrier = zeCommandListAppendBarrier,
      .pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy,
      .pfnAppendMemoryFill = zeCommandListAppendMemoryFill,
      .pfnAppendSignalEvent = zeCommandListAppendSignalEvent,
      .pfnAppendWaitOnEvents = zeCommandListAppendWaitOnEvents,
      .pfnAppendEventReset = zeCommandListAppendEventReset,
      .pfnAppendLaunchKernel = zeCommandListAppendLaunchKernel)
TABLE(Fence, ze_fence_dditable_t, .pfnCreate = zeFenceCreate,
      .pfnDestroy = zeFenceDestroy, .pfnHostSynchronize = zeFenceHostSynchronize,
      .pfnQueryStatus = zeFenceQueryStatus, .pfnReset = zeFenceReset)
TABLE(EventPool, ze_event_pool_dditable_t, .pfnCreate = zeEventPoolCreate,
      .pfnDestroy = zeEventPoolDestroy)
TABLE(Event, ze_event_dditable_t, .pfnCreate = zeEventCreate,
      .pfnDestroy = zeEventDestroy, .pfnHostSignal = zeEventHostSignal,
      .pfnHostSynchronize = zeEventHostSynchronize, .pfnQueryStatus = zeEventQueryStatus,
      .pfnHostReset = zeEventHostReset,
      .pfnQueryKernelTimestamp = zeEventQueryKernelTimestamp)
TABLE(Module, ze_module_dditable_t, .pfnCreate = zeModuleCreate,
      .pfnDestroy = zeModuleDestroy, .pfnGetNativeBinary = zeModuleGetNativeBinary,
      .pfnGetKernelNames = zeModuleGetKernelNames,
      .pfnGetProperties = zeModuleGetProperties)
TABLE(ModuleBuildLog, ze_module_build_log_dditable_t,
      .pfnDestroy = zeModuleBuildLogDestroy, .pfnGetString = zeModuleBuildLogGetString)
TABLE(Kernel, ze_kernel_dditable_t, .pfnCreate = zeKernelCreate,
      .pfnDestroy = zeKernelDestroy, .pfnSetCacheConfig = zeKernelSetCacheConfig,
      .pfnSetGroupSize = zeKernelSetGroupSize,
      .pfnSuggestGroupSize = zeKernelSuggestGroupSize,
      .pfnSetArgumentValue = zeKernelSetArgumentValue,
      .pfnSetIndirectAccess = zeKernelSetIndirectAccess,
      .pfnGetProperties = zeKernelGetProperties, .pfnGetName = zeKernelGetName)

/* Tables that must be there, empty. */
#define EMPTY(prefix, name, type)                                                        \
    FAKE_API ze_result_t prefix##Get##name##ProcAddrTable(ze_api_version_t version,      \
                                                          type *pDdiTable)               \
    {                                                                                    \
        (void)version;                                                                   \
        (void)pDdiTable;                                                                 \
        return ZE_RESULT_SUCCESS;                                                        \
    }

EMPTY(ze, Image, ze_image_dditable_t)
EMPTY(ze, Sampler, ze_sampler_dditable_t)
EMPTY(ze, PhysicalMem, ze_physical_mem_dditable_t)
EMPTY(ze, VirtualMem, ze_virtual_mem_dditable_t)
EMPTY(zes, Device, zes_device_dditable_t)
EMPTY(zes, Diagnostics, zes_diagnostics_dditable_t)
EMPTY(zes, Driver, zes_driver_dditable_t)
EMPTY(zes, Engine, zes_engine_dditable_t)
EMPTY(zes, FabricPort, zes_fabric_port_dditable_t)
EMPTY(zes, Fan, zes_fan_dditable_t)
EMPTY(zes, Firmware, zes_firmware_dditable_t)
EMPTY(zes, Frequency, zes_frequency_dditable_t)
EMPTY(zes, Led, zes_led_dditable_t)
EMPTY(zes, Memory, zes_memory_dditable_t)
EMPTY(zes, PerformanceFactor, zes_performance_factor_dditable_t)
EMPTY(zes, Power, zes_power_dditable_t)
EMPTY(zes, Psu, zes_psu_dditable_t)
EMPTY(zes, Ras, zes_ras_dditable_t)
EMPTY(zes, Scheduler, zes_scheduler_dditable_t)
EMPTY(zes, Standby, zes_standby_dditable_t)
EMPTY(zes, Temperature, zes_temperature_dditable_t)
EMPTY(zet, CommandList, zet_command_list_dditable_t)
EMPTY(zet, Context, zet_context_dditable_t)
EMPTY(zet, Debug, zet_debug_dditable_t)
EMPTY(zet, Device, zet_device_dditable_t)
EMPTY(zet, Kernel, zet_kernel_dditable_t)
EMPTY(zet, MetricGroup, zet_metric_group_dditable_t)
EMPTY(zet, Metric, zet_metric_dditable_t)
EMPTY(zet, MetricQueryPool, zet_metric_query_pool_dditable_t)
EMPTY(zet, MetricQuery, zet_metric_query_dditable_t)
EMPTY(zet, MetricStreamer, zet_metric_streamer_dditable_t)
EMPTY(zet, Module, zet_module_dditable_t)
EMPTY(zet, TracerExp, zet_tracer_exp_dditable_t)
