/* SPDX-License-Identifier: Apache-2.0 */
/* Level Zero through its loader. */
#include "backends/backend.h"
#include "backends/level_zero/ze.h"
#include "backends/level_zero/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/vendor.h"

#define MAX_DRIVERS 16
#define MAX_DEVICES 128
#define MAX_MEMORIES 16

typedef struct ze_probe {
    yoke_probe_run_t *run;
    yoke_ze_t ze;
    const char *library;
    char *driver, *version;
    int64_t ordinal;
} ze_probe_t;

static void fill_memory(const ze_probe_t *probe, yoke_ze_device_t device,
                        yoke_record_t *record)
{
    yoke_ze_memory_properties_t memories[MAX_MEMORIES];
    uint32_t count = MAX_MEMORIES;
    uint64_t total = 0;
    memset(memories, 0, sizeof memories);
    for (size_t i = 0; i < MAX_MEMORIES; i++)
        memories[i].stype = YOKE_ZE_MEMORY_PROPERTIES;
    if (probe->ze.memory_properties(device, &count, memories) != YOKE_ZE_SUCCESS) {
        record->memory_refused = true;
        return;
    }
    for (uint32_t i = 0; i < count && i < MAX_MEMORIES; i++)
        total += memories[i].total_size;
    yoke_run_memory(record, total, "zeDeviceGetMemoryProperties");
}

static void fill_pci(const ze_probe_t *probe, yoke_ze_device_t device,
                     yoke_record_t *record)
{
    yoke_ze_pci_properties_t pci = {.stype = YOKE_ZE_PCI_PROPERTIES};
    if (probe->ze.pci_properties == NULL ||
        probe->ze.pci_properties(device, &pci) != YOKE_ZE_SUCCESS || pci.bus > 255 ||
        pci.device > 31 || pci.function > 7)
        return;
    record->pci.valid = true;
    record->pci.domain = pci.domain;
    record->pci.bus = (uint8_t)pci.bus;
    record->pci.device = (uint8_t)pci.device;
    record->pci.function = (uint8_t)pci.function;
    if (pci.generation > 0 && pci.generation < 16)
        record->pcie_generation_max = (unsigned)pci.generation;
    if (pci.width > 0 && pci.width <= 32)
        record->pcie_lanes_max = (unsigned)pci.width;
}

static void fill_kind(const yoke_ze_device_properties_t *properties,
                      yoke_record_t *record)
{
    record->kind_known = true;
    record->kind = properties->type == YOKE_ZE_TYPE_GPU   ? YOKE_DEVICE_GPU
                   : properties->type == YOKE_ZE_TYPE_CPU ? YOKE_DEVICE_CPU
                   : properties->type == YOKE_ZE_TYPE_VPU ? YOKE_DEVICE_NPU
                                                          : YOKE_DEVICE_OTHER;
}

static void probe_device(ze_probe_t *probe, yoke_ze_device_t device)
{
    yoke_ze_device_properties_t properties = {.stype = YOKE_ZE_DEVICE_PROPERTIES};
    yoke_record_t record;
    uint32_t code = probe->ze.device_properties(device, &properties);
    yoke_run_record_init(probe->run, probe->library, &record);
    record.ordinal = probe->ordinal++;
    record.platform = probe->driver != NULL ? yoke_strdup(probe->driver) : NULL;
    record.version = probe->version != NULL ? yoke_strdup(probe->version) : NULL;
    record.driver = probe->driver != NULL ? yoke_strdup(probe->driver) : NULL;
    if (code == YOKE_ZE_SUCCESS) {
        static const uint8_t zero[16];
        record.name = yoke_run_text(properties.name, sizeof properties.name);
        const char *vendor = yoke_vendor_by_pci((uint16_t)properties.vendor_id);
        record.vendor = vendor != NULL ? yoke_strdup(vendor) : NULL;
        fill_kind(&properties, &record);
        record.integrated = (properties.flags & YOKE_ZE_FLAG_INTEGRATED) != 0;
        record.has_uuid = memcmp(properties.uuid, zero, sizeof zero) != 0;
        memcpy(record.uuid, properties.uuid, sizeof record.uuid);
        if (properties.flags & YOKE_ZE_FLAG_SUBDEVICE)
            record.partition = yoke_format("tile%u", properties.subdevice_id);
        fill_memory(probe, device, &record);
        fill_pci(probe, device, &record);
        record.pci.vendor_id = (uint16_t)properties.vendor_id;
        record.pci.device_id = (uint16_t)properties.device_id;
    } else {
        yoke_run_unhealthy(probe->run, &record, probe->library, "zeDeviceGetProperties",
                           code, code == (uint32_t)YOKE_ZE_ERROR_DEVICE_LOST);
        fill_pci(probe, device, &record);
    }
    yoke_run_put(probe->run, &record);
}

static void probe_driver(ze_probe_t *probe, yoke_ze_driver_t driver)
{
    yoke_ze_driver_properties_t properties = {.stype = YOKE_ZE_DRIVER_PROPERTIES};
    yoke_ze_device_t devices[MAX_DEVICES] = {0};
    uint32_t api = 0, count = MAX_DEVICES;
    if (probe->ze.driver_api_version(driver, &api) == YOKE_ZE_SUCCESS)
        probe->version = yoke_format("%u.%u", api >> 16, api & 0xffff);
    if (probe->ze.driver_properties(driver, &properties) == YOKE_ZE_SUCCESS)
        probe->driver = yoke_format("driver %u", properties.version);
    uint32_t code = probe->ze.device_get(driver, &count, devices);
    if (code != YOKE_ZE_SUCCESS)
        yoke_run_code(probe->run, "no device", probe->library, "zeDeviceGet", code, true,
                      NULL);
    for (uint32_t i = 0; code == YOKE_ZE_SUCCESS && i < count && i < MAX_DEVICES; i++)
        if (devices[i] != NULL)
            probe_device(probe, devices[i]);
    free(probe->version);
    free(probe->driver);
    probe->version = probe->driver = NULL;
}

static void probe(yoke_probe_run_t *run)
{
    ze_probe_t probe = {.run = run};
    yoke_library_t library;
    yoke_ze_driver_t drivers[MAX_DRIVERS] = {0};
    uint32_t count = MAX_DRIVERS;
    const yoke_symbol_t symbols[] = {
        {"zeInit", NULL, &probe.ze.init, false},
        {"zeDriverGet", NULL, &probe.ze.driver_get, false},
        {"zeDriverGetProperties", NULL, &probe.ze.driver_properties, false},
        {"zeDriverGetApiVersion", NULL, &probe.ze.driver_api_version, false},
        {"zeDeviceGet", NULL, &probe.ze.device_get, false},
        {"zeDeviceGetProperties", NULL, &probe.ze.device_properties, false},
        {"zeDeviceGetMemoryProperties", NULL, &probe.ze.memory_properties, false},
        {"zeDevicePciGetPropertiesExt", NULL, &probe.ze.pci_properties, true},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    probe.library = library.path;
    uint32_t code = probe.ze.init(0);
    if (code != YOKE_ZE_SUCCESS) {
        bool denied = code == (uint32_t)YOKE_ZE_ERROR_INSUFFICIENT_PERMISSIONS;
        yoke_run_code(run, denied ? "denied" : "no device", library.path, "zeInit", code,
                      denied,
                      denied ? "this user may not open the device files"
                             : "the loader found no Level Zero driver");
        return;
    }
    code = probe.ze.driver_get(&count, drivers);
    if (code != YOKE_ZE_SUCCESS || count == 0) {
        yoke_run_code(run, "no device", library.path, "zeDriverGet", code,
                      code != YOKE_ZE_SUCCESS, "no driver");
        return;
    }
    for (uint32_t i = 0; i < count && i < MAX_DRIVERS; i++)
        if (drivers[i] != NULL)
            probe_driver(&probe, drivers[i]);
    if (!run->has_finding)
        yoke_run_say(run, run->record_count > 0 ? "ok" : "no device", library.path,
                     "zeDeviceGet", false, "%zu device%s", run->record_count,
                     run->record_count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libze_loader.so.1", NULL};

extern const yoke_backend_t yoke_backend_level_zero;
const yoke_backend_t yoke_backend_level_zero = {
    .name = "level_zero",
    .library_key = "LEVEL_ZERO",
    .libraries = libraries,
    .hidden_as = "level_zero",
    .probe = probe,
    .error_name = yoke_ze_error_name,
    .live = &yoke_level_zero_ops,
    .missing = "the Level Zero loader is not installed (Debian: libze1)",
};
