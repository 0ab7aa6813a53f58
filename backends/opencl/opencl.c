/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One OpenCL vendor file: its library is first opened by itself, which says precisely
 * what is wrong with it; then the ICD loader enumerates with this library alone.
 */
#include "backends/backend.h"
#include "backends/opencl/cl.h"
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/vendor.h"

#define MAX_PLATFORMS 64
#define MAX_DEVICES 256

typedef struct cl_probe {
    yoke_probe_run_t *run;
    yoke_cl_t cl;
    const char *library; /* the vendor's */
    char *platform, *version;
    int64_t ordinal;
} cl_probe_t;

/* --- queries ------------------------------------------------------------------------ */

static char *platform_text(const cl_probe_t *probe, yoke_cl_platform_t platform,
                           uint32_t what)
{
    size_t size = 0;
    if (probe->cl.platform_info(platform, what, 0, NULL, &size) != YOKE_CL_SUCCESS ||
        size == 0 || size > 65536)
        return NULL;
    char *raw = calloc(1, size + 1);
    char *text = NULL;
    if (raw != NULL &&
        probe->cl.platform_info(platform, what, size, raw, NULL) == YOKE_CL_SUCCESS)
        text = yoke_run_text(raw, size);
    free(raw);
    return text;
}

/* The size is asked first: PoCL's version string is longer than any fixed buffer. */
static char *device_text(const cl_probe_t *probe, yoke_cl_device_t device, uint32_t what)
{
    size_t size = 0;
    if (probe->cl.device_info(device, what, 0, NULL, &size) != YOKE_CL_SUCCESS ||
        size == 0 || size > 1 << 20)
        return NULL;
    char *raw = calloc(1, size + 1);
    char *text = NULL;
    if (raw != NULL &&
        probe->cl.device_info(device, what, size, raw, NULL) == YOKE_CL_SUCCESS)
        text = yoke_run_text(raw, size);
    free(raw);
    return text;
}

static bool device_value(const cl_probe_t *probe, yoke_cl_device_t device, uint32_t what,
                         void *out_value, size_t size)
{
    memset(out_value, 0, size);
    return probe->cl.device_info(device, what, size, out_value, NULL) == YOKE_CL_SUCCESS;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at != NULL && (at = strstr(at, word)) != NULL;
         at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* --- one device --------------------------------------------------------------------- */

/* Nothing physical is processor and accelerator at once: only emulators say so. */
yoke_device_kind_t yoke_cl_kind(uint64_t type, const char *platform, const char *name)
{
    uint64_t kinds =
        type & (YOKE_CL_TYPE_CPU | YOKE_CL_TYPE_GPU | YOKE_CL_TYPE_ACCELERATOR);
    bool several = (kinds & (kinds - 1)) != 0;
    if (several || (platform != NULL && strcmp(platform, "Oclgrind") == 0) ||
        (name != NULL && strstr(name, "FPGA Emulation") != NULL))
        return YOKE_DEVICE_EMULATOR;
    if (kinds == YOKE_CL_TYPE_CPU)
        return YOKE_DEVICE_CPU;
    if (kinds == YOKE_CL_TYPE_GPU)
        return YOKE_DEVICE_GPU;
    return kinds == YOKE_CL_TYPE_ACCELERATOR ? YOKE_DEVICE_NPU : YOKE_DEVICE_OTHER;
}

static void classify(uint64_t type, yoke_record_t *record, const char *platform)
{
    record->kind_known = true;
    record->kind = yoke_cl_kind(type, platform, record->name);
    record->emulator = record->kind == YOKE_DEVICE_EMULATOR;
}

/* The address only from the extension that knows PCI domains: AMD's older query does not,
 * and four MI300 at 02:00.0 would become one card. */
static void identify(const cl_probe_t *probe, yoke_cl_device_t device,
                     yoke_record_t *record)
{
    char *extensions = device_text(probe, device, YOKE_CL_DEVICE_EXTENSIONS);
    yoke_cl_pci_t pci;
    if (has_word(extensions, "cl_khr_pci_bus_info") &&
        device_value(probe, device, YOKE_CL_DEVICE_PCI_BUS_INFO_KHR, &pci, sizeof pci) &&
        pci.bus < 256 && pci.device < 32 && pci.function < 8)
        record->pci = (yoke_pci_t){.valid = true,
                                   .domain = pci.domain,
                                   .bus = (uint8_t)pci.bus,
                                   .device = (uint8_t)pci.device,
                                   .function = (uint8_t)pci.function};
    if (has_word(extensions, "cl_khr_device_uuid"))
        record->has_uuid = device_value(probe, device, YOKE_CL_DEVICE_UUID_KHR,
                                        record->uuid, sizeof record->uuid);
    uint64_t kilobytes[2];
    if (has_word(extensions, "cl_amd_device_attribute_query") &&
        device_value(probe, device, YOKE_CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, kilobytes,
                     sizeof kilobytes))
        yoke_run_bytes(&record->memory_free, kilobytes[0] * 1024,
                       "CL_DEVICE_GLOBAL_FREE_MEMORY_AMD");
    free(extensions);
}

static void probe_device(cl_probe_t *probe, yoke_cl_device_t device)
{
    yoke_record_t record;
    uint64_t type, memory;
    uint32_t unified;
    yoke_run_record_init(probe->run, probe->library, &record);
    record.ordinal = probe->ordinal++;
    record.platform = probe->platform != NULL ? yoke_strdup(probe->platform) : NULL;
    record.name = device_text(probe, device, YOKE_CL_DEVICE_NAME);
    record.driver = device_text(probe, device, YOKE_CL_DRIVER_VERSION);
    record.version = probe->version != NULL ? yoke_strdup(probe->version) : NULL;
    char *vendor = device_text(probe, device, YOKE_CL_DEVICE_VENDOR);
    /* By name, not by vendor id: PoCL says 0x8086 on any processor. */
    record.vendor = vendor != NULL ? yoke_strdup(yoke_vendor_canonical(vendor)) : NULL;
    free(vendor);
    if (device_value(probe, device, YOKE_CL_DEVICE_TYPE, &type, sizeof type))
        classify(type, &record, probe->platform);
    if (device_value(probe, device, YOKE_CL_DEVICE_GLOBAL_MEM_SIZE, &memory,
                     sizeof memory)) {
        yoke_run_bytes(&record.memory_total, memory, "CL_DEVICE_GLOBAL_MEM_SIZE");
        if (!record.emulator)
            yoke_run_memory(&record, memory, "CL_DEVICE_GLOBAL_MEM_SIZE");
    }
    if (device_value(probe, device, YOKE_CL_DEVICE_HOST_UNIFIED_MEMORY, &unified,
                     sizeof unified))
        record.integrated = unified != 0;
    identify(probe, device, &record);
    yoke_run_put(probe->run, &record);
}

/* --- platforms ---------------------------------------------------------------------- */

static void probe_platform(cl_probe_t *probe, yoke_cl_platform_t platform)
{
    yoke_cl_device_t devices[MAX_DEVICES] = {0};
    uint32_t count = 0;
    probe->platform = platform_text(probe, platform, YOKE_CL_PLATFORM_NAME);
    probe->version = platform_text(probe, platform, YOKE_CL_PLATFORM_VERSION);
    probe->ordinal = 0;
    int32_t code =
        probe->cl.get_devices(platform, YOKE_CL_TYPE_ALL, MAX_DEVICES, devices, &count);
    if (code == YOKE_CL_DEVICE_NOT_FOUND || (code == YOKE_CL_SUCCESS && count == 0))
        yoke_run_code(probe->run, "no device", probe->library, "clGetDeviceIDs",
                      YOKE_CL_DEVICE_NOT_FOUND, false, probe->platform);
    else if (code != YOKE_CL_SUCCESS)
        yoke_run_code(probe->run, "no device", probe->library, "clGetDeviceIDs", code,
                      true, probe->platform);
    if (code != YOKE_CL_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++)
        if (devices[i] != NULL)
            probe_device(probe, devices[i]);
    free(probe->platform);
    free(probe->version);
    probe->platform = probe->version = NULL;
}

/* Open the vendor's library alone; the finding is made here when that fails. */
static bool open_vendor(yoke_probe_run_t *run, yoke_library_t *out_vendor)
{
    const char *const names[] = {run->library, NULL};
    void *(*extension)(const char *) = NULL;
    void (*platforms)(void) = NULL;
    const yoke_symbol_t symbols[] = {
        {"clGetExtensionFunctionAddress", NULL, &extension, false},
        {"clIcdGetPlatformIDsKHR", NULL, &platforms, true},
    };
    char *problem = NULL;
    bool found;
    if (!yoke_library_open(NULL, names, out_vendor, &problem, &found)) {
        yoke_run_say(run, "library not found", run->library, "dlopen", true, "%s",
                     problem != NULL ? problem : run->library);
        free(problem);
        return false;
    }
    const char *missing = yoke_library_resolve(out_vendor, symbols, 2);
    if (missing == NULL && platforms == NULL &&
        extension("clIcdGetPlatformIDsKHR") == NULL)
        missing = "clIcdGetPlatformIDsKHR";
    if (missing == NULL)
        return true;
    yoke_run_say(run, "symbol missing", out_vendor->path, missing, true,
                 "%s has no %s: it is no OpenCL vendor library", out_vendor->path,
                 missing);
    return false;
}

static void probe(yoke_probe_run_t *run)
{
    cl_probe_t probe = {.run = run};
    yoke_library_t vendor, loader;
    yoke_cl_platform_t platforms[MAX_PLATFORMS] = {0};
    uint32_t count = 0;
    const yoke_symbol_t symbols[] = {
        {"clGetPlatformIDs", NULL, &probe.cl.get_platforms, false},
        {"clGetPlatformInfo", NULL, &probe.cl.platform_info, false},
        {"clGetDeviceIDs", NULL, &probe.cl.get_devices, false},
        {"clGetDeviceInfo", NULL, &probe.cl.device_info, false},
    };
    if (!open_vendor(run, &vendor))
        return;
    /* ocl-icd takes a library from the first, the Khronos loader from the second. */
    setenv("OCL_ICD_VENDORS", vendor.path, 1);
    setenv("OCL_ICD_FILENAMES", vendor.path, 1);
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &loader))
        return;
    probe.library = vendor.path;
    int32_t code = probe.cl.get_platforms(MAX_PLATFORMS, platforms, &count);
    if (code != YOKE_CL_SUCCESS) {
        yoke_run_code(run, "no device", vendor.path, "clGetPlatformIDs", code,
                      code != YOKE_CL_PLATFORM_NOT_FOUND,
                      "the library offers no platform");
        return;
    }
    for (uint32_t i = 0; i < count && i < MAX_PLATFORMS; i++)
        if (platforms[i] != NULL)
            probe_platform(&probe, platforms[i]);
    if (!run->has_finding)
        yoke_run_say(run, "ok", vendor.path, "clGetDeviceIDs", false, "%zu device%s",
                     run->record_count, run->record_count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libOpenCL.so.1", NULL};
/* PoCL's own, and those that the GPU vendors' OpenCL shares with their native runtimes.
 */
static const char *const masks[] = {"POCL_DEVICES",         "CUDA_VISIBLE_DEVICES",
                                    "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                    "ZE_AFFINITY_MASK",     NULL};

extern const yoke_backend_t yoke_backend_opencl;
const yoke_backend_t yoke_backend_opencl = {
    .name = "opencl",
    .library_key = "OPENCL",
    .libraries = libraries,
    .masks = masks,
    .vendor_files = true,
    .probe = probe,
    .error_name = yoke_cl_error_name,
    .live = &yoke_opencl_ops,
    .missing = "the OpenCL ICD loader is not installed (Debian: ocl-icd-libopencl1)",
};
