/* SPDX-License-Identifier: Apache-2.0 */
/* The Level Zero loader opened in this process, its drivers and their root devices. */
#include "backends/level_zero/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAX_DRIVERS 16
#define MAX_DEVICES 128

static const char *resolve(const yoke_library_t *library, yoke_ze_live_t *ze)
{
    const yoke_symbol_t symbols[] = {
        {"zeInit", NULL, &ze->query.init, false},
        {"zeDriverGet", NULL, &ze->query.driver_get, false},
        {"zeDriverGetProperties", NULL, &ze->query.driver_properties, false},
        {"zeDriverGetApiVersion", NULL, &ze->query.driver_api_version, false},
        {"zeDeviceGet", NULL, &ze->query.device_get, false},
        {"zeDeviceGetProperties", NULL, &ze->query.device_properties, false},
        {"zeDeviceGetMemoryProperties", NULL, &ze->query.memory_properties, false},
        {"zeDevicePciGetPropertiesExt", NULL, &ze->query.pci_properties, true},
        {"zeDeviceGetComputeProperties", NULL, &ze->compute_properties, false},
        {"zeDeviceGetModuleProperties", NULL, &ze->module_properties, false},
        {"zeDeviceGetCommandQueueGroupProperties", NULL, &ze->group_properties, false},
        {"zeDeviceGetMemoryAccessProperties", NULL, &ze->access_properties, false},
        {"zeDeviceCanAccessPeer", NULL, &ze->can_access_peer, false},
        {"zeContextCreate", NULL, &ze->context_create, false},
        {"zeContextDestroy", NULL, &ze->context_destroy, false},
        {"zeCommandListCreateImmediate", NULL, &ze->list_immediate, false},
        {"zeCommandListDestroy", NULL, &ze->list_destroy, false},
        {"zeCommandListHostSynchronize", NULL, &ze->list_sync, true},
        {"zeCommandListAppendWriteGlobalTimestamp", NULL, &ze->stamp, false},
        {"zeCommandListAppendBarrier", NULL, &ze->barrier, false},
        {"zeCommandListAppendMemoryCopy", NULL, &ze->copy, false},
        {"zeCommandListAppendMemoryFill", NULL, &ze->fill, false},
        {"zeCommandListAppendLaunchKernel", NULL, &ze->launch, false},
        {"zeEventPoolCreate", NULL, &ze->pool_create, false},
        {"zeEventPoolDestroy", NULL, &ze->pool_destroy, false},
        {"zeEventCreate", NULL, &ze->event_create, false},
        {"zeEventDestroy", NULL, &ze->event_destroy, false},
        {"zeEventHostSignal", NULL, &ze->event_signal, false},
        {"zeEventHostSynchronize", NULL, &ze->event_sync, false},
        {"zeEventQueryStatus", NULL, &ze->event_query, false},
        {"zeEventHostReset", NULL, &ze->event_reset, false},
        {"zeMemAllocDevice", NULL, &ze->alloc_device, false},
        {"zeMemAllocHost", NULL, &ze->alloc_host, false},
        {"zeMemAllocShared", NULL, &ze->alloc_shared, false},
        {"zeMemFree", NULL, &ze->free, false},
        {"zeMemGetAllocProperties", NULL, &ze->allocation, false},
        {"zeModuleCreate", NULL, &ze->module_create, false},
        {"zeModuleDestroy", NULL, &ze->module_destroy, false},
        {"zeModuleGetNativeBinary", NULL, &ze->module_binary, false},
        {"zeModuleBuildLogGetString", NULL, &ze->log_text, false},
        {"zeModuleBuildLogDestroy", NULL, &ze->log_destroy, false},
        {"zeKernelCreate", NULL, &ze->kernel_create, false},
        {"zeKernelDestroy", NULL, &ze->kernel_destroy, false},
        {"zeKernelGetProperties", NULL, &ze->kernel_properties, false},
        {"zeKernelSetGroupSize", NULL, &ze->kernel_group, false},
        {"zeKernelSetArgumentValue", NULL, &ze->kernel_argument, false},
    };
    return yoke_library_resolve(library, symbols, sizeof symbols / sizeof *symbols);
}

static yoke_status_t open_library(yoke_impl_runtime_t *runtime)
{
    static const char *const names[] = {"libze_loader.so.1", NULL};
    char *problem = NULL;
    bool found = false;
    if (!yoke_library_open("LEVEL_ZERO", names, &runtime->library, &problem, &found)) {
        yoke_status_t status = yoke_backend_fail_text(
            found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND, "level_zero: %s; %s",
            problem != NULL ? problem : "libze_loader.so.1 cannot be loaded",
            found ? "mend or replace the library, or name another in YOKE_LIB_LEVEL_ZERO"
                  : "install the Level Zero loader (Debian: libze1) or name it in "
                    "YOKE_LIB_LEVEL_ZERO");
        free(problem);
        return status;
    }
    const char *missing = resolve(&runtime->library, &runtime->ze);
    if (missing == NULL)
        return YOKE_OK;
    yoke_status_t status = yoke_backend_fail_text(
        YOKE_ERR_SYSTEM,
        "level_zero: %s lacks %s; a loader of specification 1.4 or later "
        "is needed",
        runtime->library.path, missing);
    yoke_library_forget(&runtime->library);
    return status;
}

/* --- drivers and devices ------------------------------------------------------------ */

static yoke_status_t find_drivers(yoke_impl_runtime_t *runtime)
{
    yoke_ze_driver_t drivers[MAX_DRIVERS] = {0};
    uint32_t count = MAX_DRIVERS;
    uint32_t code = runtime->ze.query.init(0);
    if (code == (uint32_t)YOKE_ZE_ERROR_UNINITIALIZED)
        return yoke_backend_fail(&yoke_level_zero_ops, YOKE_ERR_NOT_FOUND, "zeInit", code,
                                 "the loader found no Level Zero driver; install the "
                                 "device's driver (Intel GPUs: libze_intel_gpu.so.1)");
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeInit", code);
    code = runtime->ze.query.driver_get(&count, drivers);
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeDriverGet", code);
    count = count < MAX_DRIVERS ? count : MAX_DRIVERS;
    runtime->drivers = calloc(count + 1, sizeof *runtime->drivers);
    if (runtime->drivers == NULL)
        return yoke_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        yoke_ze_driver_slot_t *slot = &runtime->drivers[runtime->driver_count];
        if (drivers[i] == NULL)
            continue;
        slot->driver = drivers[i];
        if (runtime->ze.query.driver_api_version(drivers[i], &slot->version) !=
            YOKE_ZE_SUCCESS)
            slot->version = YOKE_ZE_VERSION(1, 0);
        runtime->driver_count++;
    }
    return YOKE_OK;
}

/* A driver that fails costs its own devices only; *out_code is then its answer. */
static yoke_status_t find_devices(yoke_impl_runtime_t *runtime,
                                  yoke_ze_driver_slot_t *driver, uint32_t *out_code)
{
    yoke_ze_device_t devices[MAX_DEVICES] = {0};
    uint32_t count = MAX_DEVICES;
    uint32_t code = runtime->ze.query.device_get(driver->driver, &count, devices);
    if (code != YOKE_ZE_SUCCESS) {
        yoke_info("level_zero: zeDeviceGet says 0x%x", code);
        *out_code = code;
        return YOKE_OK;
    }
    count = count < MAX_DEVICES ? count : MAX_DEVICES;
    yoke_ze_slot_t *slots =
        realloc(runtime->slots, (runtime->slot_count + count + 1) * sizeof *slots);
    if (slots == NULL)
        return yoke_fail_memory();
    runtime->slots = slots;
    for (uint32_t i = 0; i < count; i++) {
        if (devices[i] == NULL)
            continue;
        yoke_ze_slot_t *slot = &slots[runtime->slot_count++];
        memset(slot, 0, sizeof *slot);
        slot->driver = driver;
        slot->device = devices[i];
    }
    return YOKE_OK;
}

static void free_runtime(yoke_impl_runtime_t *runtime)
{
    yoke_library_forget(&runtime->library);
    free(runtime->drivers);
    free(runtime->slots);
    free(runtime->compiler);
    free(runtime);
}

yoke_status_t yoke_ze_runtime_open(yoke_impl_runtime_t **out_runtime)
{
    yoke_impl_runtime_t *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL)
        return yoke_fail_memory();
    uint32_t code = YOKE_ZE_SUCCESS;
    yoke_status_t status = open_library(runtime);
    if (status == YOKE_OK)
        status = find_drivers(runtime);
    for (size_t i = 0; status == YOKE_OK && i < runtime->driver_count; i++)
        status = find_devices(runtime, &runtime->drivers[i], &code);
    if (status == YOKE_OK && runtime->slot_count == 0 && code != YOKE_ZE_SUCCESS)
        status = yoke_ze_fail("zeDeviceGet", code);
    if (status != YOKE_OK) {
        free_runtime(runtime);
        return status;
    }
    pthread_mutex_init(&runtime->lock, NULL);
    runtime->compiler = yoke_ze_spirv_tools();
    /* Only now: names point into the slots, which no longer move. */
    for (size_t i = 0; i < runtime->slot_count; i++)
        yoke_ze_slot_fill(runtime, &runtime->slots[i]);
    for (size_t i = 0; i < runtime->slot_count; i++)
        yoke_ze_slot_peers(runtime, &runtime->slots[i]);
    *out_runtime = runtime;
    return YOKE_OK;
}

yoke_status_t yoke_ze_device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    *out_count = (uint32_t)runtime->slot_count;
    return YOKE_OK;
}

yoke_status_t yoke_ze_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                  yoke_impl_info_t *out_info)
{
    if (ordinal >= runtime->slot_count)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                      "level_zero: no device %u; there are %zu", ordinal,
                                      runtime->slot_count);
    size_t size = out_info->struct_size != 0 ? out_info->struct_size : sizeof *out_info;
    yoke_impl_info_t info = runtime->slots[ordinal].info;
    info.struct_size = size < sizeof info ? size : sizeof info;
    memcpy(out_info, &info, info.struct_size);
    return YOKE_OK;
}

yoke_status_t yoke_ze_device_find(yoke_impl_runtime_t *runtime,
                                  const yoke_native_t *native, uint32_t *out_ordinal)
{
    for (size_t i = 0; i < runtime->slot_count; i++)
        if ((void *)runtime->slots[i].device == native->handle) {
            *out_ordinal = (uint32_t)i;
            return YOKE_OK;
        }
    return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                  "level_zero: %p is none of the %zu root devices that "
                                  "zeDeviceGet lists; sub-devices cannot be adopted (use "
                                  "ZE_FLAT_DEVICE_HIERARCHY=FLAT)",
                                  native->handle, runtime->slot_count);
}
