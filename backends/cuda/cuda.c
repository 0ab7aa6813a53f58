/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver API. No context is made: that costs hundreds of megabytes on every
 * card; free memory is NVML's answer.
 */
#include "backends/backend.h"
#include "backends/cuda/cu.h"
#include "backends/cuda/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/document.h"

#define MAX_DEVICES 256

/* cuDeviceGetPCIBusId() gives domain:bus:device.function; the three attributes, for
 * drivers without it, have no function. */
static void fill_pci(const yoke_cu_t *cu, yoke_cu_device_t device, yoke_record_t *record)
{
    char text[32] = "";
    int domain = -1, bus = -1, slot = -1;
    yoke_pci_t pci = {0};
    if (cu->pci_bus_id != NULL &&
        cu->pci_bus_id(text, (int)sizeof text - 1, device) == YOKE_CU_SUCCESS &&
        yoke_pci_parse(text, &pci)) {
        record->pci = pci;
    } else if (cu->attribute(&domain, YOKE_CU_ATTRIBUTE_PCI_DOMAIN, device) == 0 &&
               cu->attribute(&bus, YOKE_CU_ATTRIBUTE_PCI_BUS, device) == 0 &&
               cu->attribute(&slot, YOKE_CU_ATTRIBUTE_PCI_DEVICE, device) == 0 &&
               domain >= 0 && bus >= 0 && bus < 256 && slot >= 0 && slot < 32) {
        record->pci.valid = true;
        record->pci.domain = (uint32_t)domain;
        record->pci.bus = (uint8_t)bus;
        record->pci.device = (uint8_t)slot;
    }
    record->pci.vendor_id = 0x10de;
}

static void probe_device(yoke_probe_run_t *run, const yoke_cu_t *cu, const char *library,
                         const char *version, int index)
{
    static const yoke_cu_uuid_t zero;
    yoke_record_t record;
    yoke_cu_uuid_t uuid = {{0}};
    yoke_cu_device_t device = -1;
    char name[256] = "";
    size_t memory = 0;
    int integrated = 0;
    const char *call = "cuDeviceGet";

    yoke_run_record_init(run, library, &record);
    record.ordinal = index;
    record.version = yoke_strdup(version);
    record.vendor = yoke_strdup("NVIDIA");
    record.kind = YOKE_DEVICE_GPU;
    record.kind_known = true;
    int code = cu->device_get(&device, index);
    if (code == YOKE_CU_SUCCESS) {
        call = "cuDeviceGetName";
        code = cu->device_name(name, (int)sizeof name - 1, device);
        if (code == YOKE_CU_SUCCESS)
            record.name = yoke_run_text(name, sizeof name);
        if (cu->device_uuid != NULL &&
            cu->device_uuid(&uuid, device) == YOKE_CU_SUCCESS &&
            memcmp(&uuid, &zero, sizeof uuid) != 0) {
            record.has_uuid = true;
            memcpy(record.uuid, uuid.bytes, sizeof record.uuid);
        }
        int memory_code = cu->total_memory(&memory, device);
        if (memory_code == YOKE_CU_SUCCESS)
            yoke_run_memory(&record, memory, "cuDeviceTotalMem");
        else
            record.memory_refused = true;
        if (code == YOKE_CU_SUCCESS && yoke_cudalike_lost(memory_code)) {
            call = "cuDeviceTotalMem";
            code = memory_code;
        }
        if (cu->attribute(&integrated, YOKE_CU_ATTRIBUTE_INTEGRATED, device) == 0)
            record.integrated = integrated != 0;
        fill_pci(cu, device, &record);
    }
    if (code != YOKE_CU_SUCCESS)
        yoke_run_unhealthy(run, &record, library, call, code, yoke_cudalike_lost(code));
    yoke_run_put(run, &record);
}

static void refuse(yoke_probe_run_t *run, const char *library, const char *call, int code)
{
    if (code == YOKE_CU_ERROR_NO_DEVICE)
        yoke_run_code(run, "no device", library, call, code, false, "no NVIDIA GPU");
    else if (code == YOKE_CU_ERROR_STUB_LIBRARY)
        yoke_run_code(run, "driver mismatch", library, call, code, true,
                      "this is the stub for linking, not the driver");
    else if (code == YOKE_CU_ERROR_SYSTEM_DRIVER_MISMATCH ||
             code == YOKE_CU_ERROR_COMPAT_NOT_SUPPORTED)
        yoke_run_code(run, "driver mismatch", library, call, code, true,
                      "libcuda and the kernel driver are of different versions");
    else
        yoke_run_code(run, code == YOKE_CU_ERROR_NOT_PERMITTED ? "denied" : "no device",
                      library, call, code, true, NULL);
}

static void probe(yoke_probe_run_t *run)
{
    yoke_cu_t cu = {0};
    yoke_library_t library;
    int count = 0, version = 0;
    const yoke_symbol_t symbols[] = {
        {"cuInit", NULL, &cu.init, false},
        {"cuDriverGetVersion", NULL, &cu.driver_version, false},
        {"cuDeviceGetCount", NULL, &cu.device_count, false},
        {"cuDeviceGet", NULL, &cu.device_get, false},
        {"cuDeviceGetName", NULL, &cu.device_name, false},
        {"cuDeviceGetUuid_v2", "cuDeviceGetUuid", &cu.device_uuid, true},
        {"cuDeviceTotalMem_v2", NULL, &cu.total_memory, false},
        {"cuDeviceGetAttribute", NULL, &cu.attribute, false},
        {"cuDeviceGetPCIBusId", NULL, &cu.pci_bus_id, true},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    if (library.path != NULL && strstr(library.path, "/corex") != NULL) {
        yoke_run_say(run, "absent", library.path, NULL, false,
                     "%s is Iluvatar's, not NVIDIA's: see corex", library.path);
        return;
    }
    int code = cu.init(0);
    if (code != YOKE_CU_SUCCESS) {
        refuse(run, library.path, "cuInit", code);
        return;
    }
    cu.driver_version(&version);
    code = cu.device_count(&count);
    if (code == YOKE_CU_SUCCESS &&
        !yoke_run_believable(run, library.path, "cuDeviceGetCount", count, MAX_DEVICES))
        return;
    if (code != YOKE_CU_SUCCESS || count == 0) {
        refuse(run, library.path, "cuDeviceGetCount",
               code != YOKE_CU_SUCCESS ? code : YOKE_CU_ERROR_NO_DEVICE);
        return;
    }
    char text[32];
    char *shown = yoke_format("%d.%d", version / 1000, version % 1000 / 10);
    strncpy(text, shown != NULL ? shown : "", sizeof text - 1);
    text[sizeof text - 1] = '\0';
    free(shown);
    for (int i = 0; i < count; i++)
        probe_device(run, &cu, library.path, text, i);
    if (!run->has_finding)
        yoke_run_say(run, "ok", library.path, "cuDeviceGetCount", false, "%d device%s",
                     count, count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};

extern const yoke_backend_t yoke_backend_cuda;
const yoke_backend_t yoke_backend_cuda = {
    .name = "cuda",
    .library_key = "CUDA",
    .libraries = libraries,
    .hidden_as = "cuda",
    .probe = probe,
    .error_name = yoke_cu_error_name,
    .missing = "the NVIDIA driver is not installed",
    .live = &yoke_cuda_ops,
};
