/* SPDX-License-Identifier: Apache-2.0 */
/* HIP. The library answers for AMD cards and for those of makers that forked ROCm, so the
 * vendor is left to the card's name and PCI id. */
#include "backends/backend.h"
#include "backends/hip/hip.h"
#include "backends/hip/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "inventory/document.h"

#define MAX_DEVICES 256

static void probe_device(yoke_probe_run_t *run, const yoke_hip_t *hip,
                         const char *library, const char *version, int index)
{
    static const yoke_hip_uuid_t zero;
    yoke_record_t record;
    yoke_hip_uuid_t uuid = {{0}};
    char name[256] = "", pci[64] = "";
    size_t memory = 0;

    yoke_run_record_init(run, library, &record);
    record.ordinal = index;
    record.version = yoke_strdup(version);
    record.kind = YOKE_DEVICE_GPU;
    record.kind_known = true;
    int code = hip->pci_bus_id(pci, (int)sizeof pci - 1, index);
    if (code == YOKE_HIP_SUCCESS)
        yoke_pci_parse(pci, &record.pci);
    int name_code = hip->device_name(name, (int)sizeof name - 1, index);
    if (name_code == YOKE_HIP_SUCCESS)
        record.name = yoke_run_text(name, sizeof name);
    if (strncmp(name, "AMD ", 4) == 0)
        record.vendor = yoke_strdup("AMD");
    if (hip->device_uuid != NULL && hip->device_uuid(&uuid, index) == YOKE_HIP_SUCCESS &&
        memcmp(&uuid, &zero, sizeof uuid) != 0) {
        record.has_uuid = true;
        memcpy(record.uuid, uuid.bytes, sizeof record.uuid);
    }
    int memory_code = hip->total_memory(&memory, index);
    if (memory_code == YOKE_HIP_SUCCESS)
        yoke_run_memory(&record, memory, "hipDeviceTotalMem");
    else
        record.memory_refused = true;
    if (name_code != YOKE_HIP_SUCCESS)
        yoke_run_unhealthy(run, &record, library, "hipDeviceGetName", name_code,
                           yoke_cudalike_lost(name_code));
    else if (yoke_cudalike_lost(memory_code))
        yoke_run_unhealthy(run, &record, library, "hipDeviceTotalMem", memory_code, true);
    else if (code != YOKE_HIP_SUCCESS && memory_code != YOKE_HIP_SUCCESS)
        yoke_run_unhealthy(run, &record, library, "hipDeviceGetPCIBusId", code, false);
    yoke_run_put(run, &record);
}

/* "No device" has a cause that the library does not tell: no driver, or no right to it.
 */
static void refuse(yoke_probe_run_t *run, const char *library, int code)
{
    bool there = access("/dev/kfd", F_OK) == 0;
    bool denied = there && access("/dev/kfd", R_OK | W_OK) != 0 && errno == EACCES;
    if (denied)
        yoke_run_code(run, "denied", library, "hipGetDeviceCount", code, true,
                      "this user may not open /dev/kfd (group render)");
    else
        yoke_run_code(run, "no device", library, "hipGetDeviceCount", code,
                      code != YOKE_HIP_ERROR_NO_DEVICE &&
                          code != YOKE_HIP_ERROR_INVALID_DEVICE,
                      there ? "no card that this runtime drives"
                            : "there is no /dev/kfd: the amdgpu driver is not loaded");
}

static void probe(yoke_probe_run_t *run)
{
    yoke_hip_t hip = {0};
    yoke_library_t library;
    int count = 0, version = 0;
    char text[48];
    const yoke_symbol_t symbols[] = {
        {"hipGetDeviceCount", NULL, &hip.device_count, false},
        {"hipRuntimeGetVersion", NULL, &hip.runtime_version, true},
        {"hipDeviceGetName", NULL, &hip.device_name, false},
        {"hipDeviceGetUuid", NULL, &hip.device_uuid, true},
        {"hipDeviceTotalMem", NULL, &hip.total_memory, false},
        {"hipDeviceGetPCIBusId", NULL, &hip.pci_bus_id, false},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    if (hip.runtime_version != NULL)
        hip.runtime_version(&version);
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000000, version / 100000 % 100,
             version % 100000);
    int code = hip.device_count(&count);
    if (code == YOKE_HIP_SUCCESS &&
        !yoke_run_believable(run, library.path, "hipGetDeviceCount", count, MAX_DEVICES))
        return;
    if (code != YOKE_HIP_SUCCESS || count == 0) {
        refuse(run, library.path,
               code != YOKE_HIP_SUCCESS ? code : YOKE_HIP_ERROR_NO_DEVICE);
        return;
    }
    for (int i = 0; i < count; i++)
        probe_device(run, &hip, library.path, text, i);
    if (!run->has_finding)
        yoke_run_say(run, "ok", library.path, "hipGetDeviceCount", false, "%d device%s",
                     count, count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "libamdhip64.so", NULL};

extern const yoke_backend_t yoke_backend_hip;
const yoke_backend_t yoke_backend_hip = {
    .name = "hip",
    .library_key = "HIP",
    .libraries = libraries,
    .hidden_as = "hip",
    .probe = probe,
    .error_name = yoke_hip_error_name,
    .missing = "the HIP runtime is not installed (Debian: libamdhip64-5)",
    .live = &yoke_hip_ops,
};
