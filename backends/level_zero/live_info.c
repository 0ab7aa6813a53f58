/* SPDX-License-Identifier: Apache-2.0 */
/* What one Level Zero device is and can do, asked once, without a context. */
#include "backends/level_zero/live.h"

#include <stdio.h>
#include <string.h>

#include "inventory/vendor.h"

#define MAX_GROUPS 16
#define MAX_MEMORIES 16

static uint64_t memory_total(const yoke_impl_runtime_t *runtime, yoke_ze_device_t device)
{
    yoke_ze_memory_properties_t memories[MAX_MEMORIES];
    uint32_t count = MAX_MEMORIES;
    uint64_t total = 0;
    memset(memories, 0, sizeof memories);
    for (size_t i = 0; i < MAX_MEMORIES; i++)
        memories[i].stype = YOKE_ZE_MEMORY_PROPERTIES;
    if (runtime->ze.query.memory_properties(device, &count, memories) != YOKE_ZE_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < count && i < MAX_MEMORIES; i++)
        total += memories[i].total_size;
    return total;
}

static void identify(const yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    static const uint8_t zero[16];
    yoke_impl_info_t *info = &slot->info;
    yoke_ze_pci_properties_t pci = {.stype = YOKE_ZE_PCI_PROPERTIES};
    if (runtime->ze.query.pci_properties != NULL &&
        runtime->ze.query.pci_properties(slot->device, &pci) == YOKE_ZE_SUCCESS &&
        pci.bus <= 255 && pci.device <= 31 && pci.function <= 7) {
        info->pci = (yoke_pci_t){.valid = true,
                                 .domain = pci.domain,
                                 .bus = (uint8_t)pci.bus,
                                 .device = (uint8_t)pci.device,
                                 .function = (uint8_t)pci.function,
                                 .vendor_id = (uint16_t)slot->properties.vendor_id,
                                 .device_id = (uint16_t)slot->properties.device_id};
        info->valid |= YOKE_INFO_PCI;
    }
    if (memcmp(slot->properties.uuid, zero, sizeof zero) != 0) {
        memcpy(info->uuid, slot->properties.uuid, sizeof info->uuid);
        info->valid |= YOKE_INFO_UUID;
    }
}

/* Cycles per second where the driver knows that form (specification 1.2), else
 * nanoseconds per cycle. */
static void clock_of(const yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    yoke_ze_device_properties_t newer = {.stype = YOKE_ZE_DEVICE_PROPERTIES_1_2};
    if (slot->driver->version >= YOKE_ZE_VERSION(1, 2) &&
        runtime->ze.query.device_properties(slot->device, &newer) == YOKE_ZE_SUCCESS &&
        newer.timer_resolution != 0)
        slot->tick = 1.0 / (double)newer.timer_resolution;
    else
        slot->tick = 1e-9 * (double)slot->properties.timer_resolution;
    uint32_t bits = slot->properties.timestamp_valid_bits;
    slot->ticks = bits == 0 || bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* The first group that computes and copies. */
static bool find_group(const yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    yoke_ze_group_properties_t groups[MAX_GROUPS];
    uint32_t count = MAX_GROUPS;
    memset(groups, 0, sizeof groups);
    for (size_t i = 0; i < MAX_GROUPS; i++)
        groups[i].stype = YOKE_ZE_QUEUE_GROUP_PROPERTIES;
    if (runtime->ze.group_properties(slot->device, &count, groups) != YOKE_ZE_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count && i < MAX_GROUPS; i++) {
        const uint32_t both = YOKE_ZE_GROUP_COMPUTE | YOKE_ZE_GROUP_COPY;
        if ((groups[i].flags & both) != both || groups[i].queues == 0)
            continue;
        slot->group = i;
        slot->max_pattern = groups[i].max_pattern;
        return true;
    }
    return false;
}

static uint64_t capabilities(const yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    yoke_ze_access_properties_t access = {.stype = YOKE_ZE_MEMORY_ACCESS_PROPERTIES};
    yoke_ze_module_properties_t module = {.stype = YOKE_ZE_MODULE_PROPERTIES};
    uint64_t caps = YOKE_CAP_ADDRESS | YOKE_CAP_BINARY | YOKE_CAP_GATE | YOKE_CAP_WRAP |
                    YOKE_CAP_PRIORITY;
    if (slot->tick > 0)
        caps |= YOKE_CAP_TIMING;
    if (runtime->compiler != NULL)
        caps |= YOKE_CAP_SOURCE | YOKE_CAP_NATIVE_SOURCE;
    if (runtime->ze.access_properties(slot->device, &access) == YOKE_ZE_SUCCESS) {
        if ((access.host & YOKE_ZE_ACCESS_RW) != 0)
            caps |= YOKE_CAP_PINNED;
        if ((access.shared_single & YOKE_ZE_ACCESS_RW) != 0)
            caps |= YOKE_CAP_SHARED;
        slot->system = (access.shared_system & YOKE_ZE_ACCESS_RW) != 0;
    }
    if (runtime->ze.module_properties(slot->device, &module) == YOKE_ZE_SUCCESS) {
        if ((module.flags & YOKE_ZE_MODULE_FP64) != 0)
            caps |= YOKE_CAP_FP64;
        if ((module.flags & YOKE_ZE_MODULE_ATOMICS64) != 0)
            caps |= YOKE_CAP_ATOMICS64;
    }
    return caps;
}

static void compute(const yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    yoke_ze_compute_properties_t properties = {.stype = YOKE_ZE_COMPUTE_PROPERTIES};
    yoke_impl_info_t *info = &slot->info;
    info->compute_units = slot->properties.slices * slot->properties.subslices_per_slice;
    info->subgroup = slot->properties.simd_width;
    if (runtime->ze.compute_properties(slot->device, &properties) != YOKE_ZE_SUCCESS)
        return;
    for (uint32_t i = 0; i < properties.subgroup_count && i < YOKE_ZE_SUBGROUP_SIZES; i++)
        if (properties.subgroups[i] > info->subgroup)
            info->subgroup = properties.subgroups[i];
    info->max_group = properties.max_total_group;
    memcpy(info->max_groups, properties.max_groups, sizeof info->max_groups);
    info->local_memory = properties.max_local;
}

static uint32_t kind_of(uint32_t type)
{
    return type == YOKE_ZE_TYPE_GPU   ? YOKE_DEVICE_GPU
           : type == YOKE_ZE_TYPE_CPU ? YOKE_DEVICE_CPU
           : type == YOKE_ZE_TYPE_VPU ? YOKE_DEVICE_NPU
                                      : YOKE_DEVICE_OTHER;
}

void yoke_ze_slot_fill(yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    yoke_impl_info_t *info = &slot->info;
    yoke_ze_driver_properties_t driver = {.stype = YOKE_ZE_DRIVER_PROPERTIES};
    slot->properties.stype = YOKE_ZE_DEVICE_PROPERTIES;
    if (runtime->ze.query.device_properties(slot->device, &slot->properties) !=
        YOKE_ZE_SUCCESS)
        snprintf(slot->name, sizeof slot->name, "a device that does not answer");
    else
        memcpy(slot->name, slot->properties.name, YOKE_ZE_NAME_SIZE);
    uint32_t api = slot->driver->version;
    runtime->ze.query.driver_properties(slot->driver->driver, &driver);
    snprintf(slot->version, sizeof slot->version, "Level Zero %u.%u, driver %u",
             api >> 16, api & 0xffff, driver.version);
    snprintf(slot->architecture, sizeof slot->architecture, "0x%04x",
             slot->properties.device_id);
    const char *vendor = yoke_vendor_by_pci((uint16_t)slot->properties.vendor_id);
    info->name = slot->name;
    info->vendor = vendor != NULL ? vendor : "";
    info->architecture = slot->architecture;
    info->library = runtime->library.path;
    info->version = slot->version;
    info->kind = kind_of(slot->properties.type);
    info->alignment = 1; /* pointers */
    info->dialect = YOKE_DIALECT_OPENCL;
    info->memory_total = memory_total(runtime, slot->device);
    if (info->memory_total != 0)
        info->valid |= YOKE_INFO_MEMORY;
    slot->in_order = slot->driver->version >= YOKE_ZE_VERSION(1, 7);
    identify(runtime, slot);
    clock_of(runtime, slot);
    if (!find_group(runtime, slot))
        slot->max_pattern = 1;
    compute(runtime, slot);
    info->capabilities = capabilities(runtime, slot);
}

void yoke_ze_slot_peers(yoke_impl_runtime_t *runtime, yoke_ze_slot_t *slot)
{
    for (size_t i = 0; i < runtime->slot_count; i++) {
        const yoke_ze_slot_t *peer = &runtime->slots[i];
        uint8_t can = 0;
        if (peer != slot && peer->driver == slot->driver &&
            runtime->ze.can_access_peer(slot->device, peer->device, &can) ==
                YOKE_ZE_SUCCESS &&
            can != 0)
            slot->info.capabilities |= YOKE_CAP_PEER;
    }
}
