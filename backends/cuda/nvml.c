/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML: free memory, the PCIe link and MIG slices of NVIDIA cards. It sees every card,
 * whatever CUDA_VISIBLE_DEVICES says, in PCI order.
 */
#include "backends/backend.h"
#include "backends/cuda/cu.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/document.h"

#define MAX_DEVICES 256
#define MAX_SLICES 16
#define TEXT_SIZE 128

typedef struct nvml_probe {
    yoke_probe_run_t *run;
    yoke_nvml_t nvml;
    const char *library;
    char driver[TEXT_SIZE], version[TEXT_SIZE];
} nvml_probe_t;

static void fill_memory(const nvml_probe_t *probe, yoke_nvml_device_t device,
                        yoke_record_t *record)
{
    yoke_nvml_memory_t memory = {0};
    int code = probe->nvml.memory(device, &memory);
    if (code !=
        YOKE_NVML_SUCCESS) { /* "not supported" on unified parts and in some slices */
        record->memory_refused = true;
        return;
    }
    yoke_run_bytes(&record->memory_total, memory.total, "nvmlDeviceGetMemoryInfo");
    if (memory.total > 0 && memory.free <= memory.total)
        yoke_quantity_set(&record->memory_free, (double)memory.free, YOKE_SOURCE_RUNTIME,
                          0, "nvmlDeviceGetMemoryInfo");
}

static void fill_names(const nvml_probe_t *probe, yoke_nvml_device_t device,
                       yoke_record_t *record)
{
    char text[TEXT_SIZE] = "";
    record->vendor = yoke_strdup("NVIDIA");
    record->kind = YOKE_DEVICE_GPU;
    record->kind_known = true;
    record->driver = yoke_run_text(probe->driver, TEXT_SIZE);
    record->version = yoke_run_text(probe->version, TEXT_SIZE);
    if (probe->nvml.name(device, text, TEXT_SIZE - 1) == YOKE_NVML_SUCCESS)
        record->name = yoke_run_text(text, TEXT_SIZE);
    memset(text, 0, sizeof text);
    if (probe->nvml.uuid(device, text, TEXT_SIZE - 1) == YOKE_NVML_SUCCESS) {
        record->uuid_text = yoke_run_text(text, TEXT_SIZE);
        record->has_uuid =
            record->uuid_text != NULL && yoke_uuid_parse(record->uuid_text, record->uuid);
    }
}

static void fill_link(const yoke_nvml_t *nvml, yoke_nvml_device_t device,
                      yoke_record_t *record)
{
    if (nvml->link_generation != NULL)
        nvml->link_generation(device, &record->pcie_generation);
    if (nvml->link_width != NULL)
        nvml->link_width(device, &record->pcie_lanes);
    if (nvml->max_link_generation != NULL)
        nvml->max_link_generation(device, &record->pcie_generation_max);
    if (nvml->max_link_width != NULL)
        nvml->max_link_width(device, &record->pcie_lanes_max);
}

/* With MIG on, the card itself cannot be used: its slices are the devices. */
static void probe_slices(nvml_probe_t *probe, yoke_nvml_device_t device,
                         yoke_record_t *card)
{
    unsigned current = 0, pending = 0, count = 0;
    const yoke_nvml_t *nvml = &probe->nvml;
    if (nvml->mig_mode == NULL || nvml->max_migs == NULL || nvml->mig_by_index == NULL ||
        nvml->mig_mode(device, &current, &pending) != YOKE_NVML_SUCCESS || current != 1)
        return;
    card->partitioned = true;
    if (nvml->max_migs(device, &count) != YOKE_NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < MAX_SLICES; i++) {
        yoke_nvml_device_t slice = NULL;
        yoke_record_t record;
        if (nvml->mig_by_index(device, i, &slice) != YOKE_NVML_SUCCESS || slice == NULL)
            continue;
        yoke_run_record_init(probe->run, probe->library, &record);
        fill_names(probe, slice, &record);
        fill_memory(probe, slice, &record);
        record.pci = card->pci;
        record.partition = yoke_format("mig%u", i);
        record.parent_uuid =
            card->uuid_text != NULL ? yoke_strdup(card->uuid_text) : NULL;
        yoke_run_put(probe->run, &record);
    }
}

static void probe_device(nvml_probe_t *probe, unsigned index)
{
    yoke_nvml_device_t device = NULL;
    yoke_nvml_pci_t pci;
    yoke_record_t record;
    memset(&pci, 0, sizeof pci);
    yoke_run_record_init(probe->run, probe->library, &record);
    record.ordinal = record.native = index;
    int code = probe->nvml.by_index(index, &device);
    if (code == YOKE_NVML_SUCCESS) {
        fill_names(probe, device, &record);
        fill_memory(probe, device, &record);
        fill_link(&probe->nvml, device, &record);
        if (probe->nvml.pci(device, &pci) == YOKE_NVML_SUCCESS) {
            pci.bus_id[sizeof pci.bus_id - 1] = '\0';
            yoke_pci_parse(pci.bus_id, &record.pci);
            record.pci.vendor_id = (uint16_t)(pci.pci_device_id & 0xffff);
            record.pci.device_id = (uint16_t)(pci.pci_device_id >> 16);
        }
        probe_slices(probe, device, &record);
    } else { /* a faulty card costs one device, never the vendor */
        record.vendor = yoke_strdup("NVIDIA");
        record.health = yoke_strdup(code == YOKE_NVML_GPU_IS_LOST ? "lost" : "faulty");
        yoke_run_code(probe->run, "no device", probe->library,
                      "nvmlDeviceGetHandleByIndex_v2", code, true, NULL);
    }
    yoke_run_put(probe->run, &record);
}

static void refuse(yoke_probe_run_t *run, const char *library, const char *call, int code)
{
    const char *verdict = code == YOKE_NVML_VERSION_MISMATCH ? "driver mismatch"
                          : code == YOKE_NVML_NO_PERMISSION  ? "denied"
                                                             : "no device";
    yoke_run_code(run, verdict, library, call, code, code != YOKE_NVML_DRIVER_NOT_LOADED,
                  code == YOKE_NVML_VERSION_MISMATCH
                      ? "libnvidia-ml and the kernel driver are of different versions"
                      : NULL);
}

static void probe(yoke_probe_run_t *run)
{
    nvml_probe_t probe = {.run = run};
    yoke_nvml_t *nvml = &probe.nvml;
    yoke_library_t library;
    unsigned count = 0;
    const yoke_symbol_t symbols[] = {
        {"nvmlInit_v2", "nvmlInit", &nvml->init, false},
        {"nvmlSystemGetDriverVersion", NULL, &nvml->driver_version, false},
        {"nvmlSystemGetNVMLVersion", NULL, &nvml->nvml_version, false},
        {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", &nvml->count, false},
        {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", &nvml->by_index,
         false},
        {"nvmlDeviceGetName", NULL, &nvml->name, false},
        {"nvmlDeviceGetUUID", NULL, &nvml->uuid, false},
        {"nvmlDeviceGetPciInfo_v3", NULL, &nvml->pci, false},
        {"nvmlDeviceGetMemoryInfo", NULL, &nvml->memory, false},
        {"nvmlDeviceGetCurrPcieLinkGeneration", NULL, &nvml->link_generation, true},
        {"nvmlDeviceGetCurrPcieLinkWidth", NULL, &nvml->link_width, true},
        {"nvmlDeviceGetMaxPcieLinkGeneration", NULL, &nvml->max_link_generation, true},
        {"nvmlDeviceGetMaxPcieLinkWidth", NULL, &nvml->max_link_width, true},
        {"nvmlDeviceGetMigMode", NULL, &nvml->mig_mode, true},
        {"nvmlDeviceGetMaxMigDeviceCount", NULL, &nvml->max_migs, true},
        {"nvmlDeviceGetMigDeviceHandleByIndex", NULL, &nvml->mig_by_index, true},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    probe.library = library.path;
    int code = nvml->init();
    if (code != YOKE_NVML_SUCCESS) {
        refuse(run, library.path, "nvmlInit_v2", code);
        return;
    }
    nvml->driver_version(probe.driver, TEXT_SIZE - 1);
    nvml->nvml_version(probe.version, TEXT_SIZE - 1);
    code = nvml->count(&count);
    if (code != YOKE_NVML_SUCCESS)
        refuse(run, library.path, "nvmlDeviceGetCount_v2", code);
    for (unsigned i = 0; code == YOKE_NVML_SUCCESS && i < count && i < MAX_DEVICES; i++)
        probe_device(&probe, i);
    if (!run->has_finding)
        yoke_run_say(run, count > 0 ? "ok" : "no device", library.path,
                     "nvmlDeviceGetCount_v2", false, "%u device%s", count,
                     count == 1 ? "" : "s");
}

#define CODE(name, value)                                                                \
    case value:                                                                          \
        return "NVML_" #name;

const char *yoke_nvml_error_name(int64_t code)
{
    switch (code) {
        CODE(SUCCESS, 0)
        CODE(ERROR_UNINITIALIZED, 1)
        CODE(ERROR_INVALID_ARGUMENT, 2)
        CODE(ERROR_NOT_SUPPORTED, 3)
        CODE(ERROR_NO_PERMISSION, 4)
        CODE(ERROR_ALREADY_INITIALIZED, 5)
        CODE(ERROR_NOT_FOUND, 6)
        CODE(ERROR_INSUFFICIENT_SIZE, 7)
        CODE(ERROR_INSUFFICIENT_POWER, 8)
        CODE(ERROR_DRIVER_NOT_LOADED, 9)
        CODE(ERROR_TIMEOUT, 10)
        CODE(ERROR_IRQ_ISSUE, 11)
        CODE(ERROR_LIBRARY_NOT_FOUND, 12)
        CODE(ERROR_FUNCTION_NOT_FOUND, 13)
        CODE(ERROR_CORRUPTED_INFOROM, 14)
        CODE(ERROR_GPU_IS_LOST, 15)
        CODE(ERROR_RESET_REQUIRED, 16)
        CODE(ERROR_OPERATING_SYSTEM, 17)
        CODE(ERROR_LIB_RM_VERSION_MISMATCH, 18)
        CODE(ERROR_IN_USE, 19)
        CODE(ERROR_MEMORY, 20)
        CODE(ERROR_NO_DATA, 21)
        CODE(ERROR_VGPU_ECC_NOT_SUPPORTED, 22)
        CODE(ERROR_INSUFFICIENT_RESOURCES, 23)
        CODE(ERROR_UNKNOWN, 999)
    default:
        return NULL;
    }
}

static const char *const libraries[] = {"libnvidia-ml.so.1", NULL};

extern const yoke_backend_t yoke_backend_nvml;
const yoke_backend_t yoke_backend_nvml = {
    .name = "nvml",
    .library_key = "NVML",
    .libraries = libraries,
    .probe = probe,
    .error_name = yoke_nvml_error_name,
    .missing = "the NVIDIA driver is not installed",
};
