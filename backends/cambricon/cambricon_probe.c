/* SPDX-License-Identifier: Apache-2.0 */
/* Cambricon devices by CNRT. */
#include "backends/backend.h"

#include <stdio.h>
#include <string.h>

#include "backends/cambricon/cambricon.h"
#include "base/text.h"

#define MAX_DEVICES 64

static void fill_address(const yoke_cnrt_t *cnrt, int index, yoke_record_t *record)
{
    int domain = 0, bus = 0, slot = 0;
    if (cnrt->attribute(&domain, YOKE_CNRT_ATTRIBUTE_PCI_DOMAIN, index) !=
            YOKE_CNRT_SUCCESS ||
        cnrt->attribute(&bus, YOKE_CNRT_ATTRIBUTE_PCI_BUS, index) != YOKE_CNRT_SUCCESS ||
        cnrt->attribute(&slot, YOKE_CNRT_ATTRIBUTE_PCI_DEVICE, index) !=
            YOKE_CNRT_SUCCESS)
        return;
    record->pci.valid = true;
    record->pci.domain = (uint32_t)domain;
    record->pci.bus = (uint8_t)bus;
    record->pci.device = (uint8_t)slot;
}

static void probe_device(yoke_probe_run_t *run, const yoke_cnrt_t *cnrt,
                         const char *library, const char *version, int index)
{
    yoke_record_t record;
    yoke_cnrt_properties_t properties;
    static const char no_uuid[16];
    memset(&properties, 0, sizeof properties);
    yoke_run_record_init(run, library, &record);
    record.ordinal = index;
    record.vendor = yoke_strdup("Cambricon");
    record.kind = YOKE_DEVICE_NPU;
    record.kind_known = true;
    if (version[0] != '\0')
        record.version = yoke_strdup(version);
    int code = cnrt->properties(&properties, index);
    if (code == YOKE_CNRT_SUCCESS) {
        record.name = yoke_run_text(properties.name, sizeof properties.name);
        yoke_run_memory(&record, properties.total_memory, "cnrtGetDeviceProperties");
        if (memcmp(properties.uuid, no_uuid, sizeof no_uuid) != 0) {
            record.has_uuid = true;
            memcpy(record.uuid, properties.uuid, sizeof record.uuid);
        }
    } else {
        record.memory_refused = true;
    }
    fill_address(cnrt, index, &record);
    if (code != YOKE_CNRT_SUCCESS)
        yoke_run_unhealthy(run, &record, library, "cnrtGetDeviceProperties", code,
                           yoke_cambricon_lost(code));
    yoke_run_put(run, &record);
}

static void probe(yoke_probe_run_t *run)
{
    yoke_cnrt_t cnrt = {0};
    yoke_library_t library;
    unsigned count = 0;
    int major = 0, minor = 0, patch = 0;
    char version[48] = "";
    const yoke_symbol_t symbols[] = {
        {"cnrtGetDeviceCount", NULL, &cnrt.device_count, false},
        {"cnrtGetDeviceProperties_V3", NULL, &cnrt.properties, false},
        {"cnrtDeviceGetAttribute", NULL, &cnrt.attribute, false},
        {"cnrtGetLibVersion", NULL, &cnrt.version, true},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    int code = cnrt.device_count(&count);
    if (code != YOKE_CNRT_SUCCESS || count == 0) {
        code = code != YOKE_CNRT_SUCCESS ? code : YOKE_CNRT_ERROR_NO_DEVICE;
        yoke_run_code(run, "no device", library.path, "cnrtGetDeviceCount", code,
                      code != YOKE_CNRT_ERROR_NO_DEVICE, NULL);
        return;
    }
    if (!yoke_run_believable(run, library.path, "cnrtGetDeviceCount", count, MAX_DEVICES))
        return;
    if (cnrt.version != NULL && cnrt.version(&major, &minor, &patch) == YOKE_CNRT_SUCCESS)
        snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    for (unsigned i = 0; i < count; i++)
        probe_device(run, &cnrt, library.path, version, (int)i);
    if (!run->has_finding)
        yoke_run_say(run, "ok", library.path, "cnrtGetDeviceCount", false, "%u device%s",
                     count, count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libcnrt.so", NULL};

extern const yoke_backend_t yoke_backend_cambricon;
const yoke_backend_t yoke_backend_cambricon = {
    .name = "cambricon",
    .library_key = "CNRT",
    .libraries = libraries,
    .hidden_as = "cambricon",
    .probe = probe,
    .error_name = yoke_cnrt_error_name,
    .missing = "Cambricon's CNRT is not installed",
    .live = &yoke_cambricon_ops,
};
