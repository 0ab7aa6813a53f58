/* SPDX-License-Identifier: Apache-2.0 */
/* What one OpenCL device is and can do, asked once when the library is opened. */
#include "backends/opencl/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/vendor.h"

typedef struct ask {
    const yoke_ocl_live_t *cl;
    yoke_ocl_slot_t *slot;
    const char *extensions;
    size_t texts;
} ask_t;

bool yoke_ocl_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at != NULL && (at = strstr(at, word)) != NULL;
         at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static bool value(const ask_t *ask, uint32_t what, void *out_value, size_t size)
{
    memset(out_value, 0, size);
    return ask->cl->query.device_info(ask->slot->device, what, size, out_value, NULL) ==
           YOKE_CL_SUCCESS;
}

static uint64_t number(const ask_t *ask, uint32_t what, size_t size)
{
    union {
        uint32_t small;
        uint64_t large;
    } answer;
    memset(&answer, 0, sizeof answer);
    if (ask->cl->query.device_info(ask->slot->device, what, size, &answer, NULL) !=
        YOKE_CL_SUCCESS)
        return 0;
    return size == sizeof answer.small ? answer.small : answer.large;
}

/* The size is asked first: PoCL's version string is longer than any fixed buffer. */
static char *text(const ask_t *ask, uint32_t what)
{
    size_t size = 0;
    if (ask->cl->query.device_info(ask->slot->device, what, 0, NULL, &size) !=
            YOKE_CL_SUCCESS ||
        size == 0 || size > 1 << 20)
        return NULL;
    char *raw = calloc(1, size + 1);
    if (raw != NULL && ask->cl->query.device_info(ask->slot->device, what, size, raw,
                                                  NULL) != YOKE_CL_SUCCESS) {
        free(raw);
        raw = NULL;
    }
    return raw;
}

/* The slot owns the text. */
static const char *keep(ask_t *ask, char *owned)
{
    if (owned == NULL)
        return "";
    ask->slot->texts[ask->texts++] = owned;
    return owned;
}

/* "OpenCL 3.0 PoCL ..." */
static uint32_t version_of(const char *words)
{
    unsigned major = 0, minor = 0;
    if (words == NULL || sscanf(words, "OpenCL %u.%u", &major, &minor) != 2)
        return YOKE_CL_VERSION(1, 1);
    return YOKE_CL_VERSION(major & 255, minor & 255);
}

static const char *architecture(ask_t *ask, const char *name)
{
    uint32_t major = 0, minor = 0;
    if (yoke_ocl_has_word(ask->extensions, "cl_nv_device_attribute_query") &&
        value(ask, YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, &major, sizeof major) &&
        value(ask, YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, &minor, sizeof minor))
        return keep(ask, yoke_format("sm_%u%u", major, minor));
    return strncmp(name, "gfx", 3) == 0 ? name : "";
}

static uint32_t subgroup(const ask_t *ask, uint32_t kind)
{
    if (kind == YOKE_DEVICE_GPU &&
        yoke_ocl_has_word(ask->extensions, "cl_nv_device_attribute_query"))
        return (uint32_t)number(ask, YOKE_CL_DEVICE_WARP_SIZE_NV, sizeof(uint32_t));
    if (kind == YOKE_DEVICE_GPU &&
        yoke_ocl_has_word(ask->extensions, "cl_amd_device_attribute_query"))
        return (uint32_t)number(ask, YOKE_CL_DEVICE_WAVEFRONT_WIDTH_AMD,
                                sizeof(uint32_t));
    return 1;
}

/* The address only from the extension that knows PCI domains. */
static void identify(const ask_t *ask, yoke_impl_info_t *info)
{
    yoke_cl_pci_t pci;
    if (yoke_ocl_has_word(ask->extensions, "cl_khr_pci_bus_info") &&
        value(ask, YOKE_CL_DEVICE_PCI_BUS_INFO_KHR, &pci, sizeof pci) && pci.bus < 256 &&
        pci.device < 32 && pci.function < 8) {
        info->pci = (yoke_pci_t){.valid = true,
                                 .domain = pci.domain,
                                 .bus = (uint8_t)pci.bus,
                                 .device = (uint8_t)pci.device,
                                 .function = (uint8_t)pci.function};
        info->valid |= YOKE_INFO_PCI;
    }
    if (yoke_ocl_has_word(ask->extensions, "cl_khr_device_uuid") &&
        value(ask, YOKE_CL_DEVICE_UUID_KHR, info->uuid, sizeof info->uuid))
        info->valid |= YOKE_INFO_UUID;
}

/* Unified shared memory needs all its functions; fine-grain SVM those of 2.0. */
static void memory_model(ask_t *ask)
{
    yoke_ocl_slot_t *slot = ask->slot;
    const yoke_ocl_live_t *cl = ask->cl;
    yoke_ocl_usm_t *usm = &slot->usm_calls;
    if (slot->version >= YOKE_CL_VERSION(1, 2) && cl->extension != NULL &&
        yoke_ocl_has_word(ask->extensions, "cl_intel_unified_shared_memory") &&
        number(ask, YOKE_CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, 8) != 0 &&
        number(ask, YOKE_CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, 8) != 0) {
        const struct {
            const char *name;
            void *slot;
        } calls[] = {
            {"clHostMemAllocINTEL", &usm->host},
            {"clDeviceMemAllocINTEL", &usm->device},
            {"clSharedMemAllocINTEL", &usm->shared},
            {"clMemFreeINTEL", &usm->free},
            {"clGetMemAllocInfoINTEL", &usm->info},
            {"clSetKernelArgMemPointerINTEL", &usm->argument},
            {"clEnqueueMemFillINTEL", &usm->fill},
            {"clEnqueueMemcpyINTEL", &usm->copy},
        };
        slot->usm = true;
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            void *address = cl->extension(slot->platform, calls[i].name);
            memcpy(calls[i].slot, &address, sizeof address);
            slot->usm = slot->usm && address != NULL;
        }
        slot->usm_shared =
            number(ask, YOKE_CL_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, 8) != 0;
    }
    slot->svm = !slot->usm && slot->version >= YOKE_CL_VERSION(2, 0) &&
                cl->svm_alloc != NULL && cl->svm_free != NULL && cl->svm_copy != NULL &&
                cl->svm_fill != NULL && cl->svm_argument != NULL &&
                (number(ask, YOKE_CL_DEVICE_SVM_CAPABILITIES, 8) &
                 YOKE_CL_SVM_FINE_GRAIN_BUFFER) != 0;
}

static uint64_t capabilities(const ask_t *ask)
{
    const yoke_ocl_slot_t *slot = ask->slot;
    uint64_t caps = YOKE_CAP_PINNED | YOKE_CAP_HOST_CALL | YOKE_CAP_TIMING |
                    YOKE_CAP_BINARY | YOKE_CAP_WRAP;
    if (number(ask, YOKE_CL_DEVICE_COMPILER_AVAILABLE, 4) != 0)
        caps |= YOKE_CAP_SOURCE | YOKE_CAP_NATIVE_SOURCE;
    if (slot->usm)
        caps |= YOKE_CAP_ADDRESS;
    if (slot->svm || slot->usm_shared)
        caps |= YOKE_CAP_SHARED;
    if (slot->gates)
        caps |= YOKE_CAP_GATE;
    if (slot->priority)
        caps |= YOKE_CAP_PRIORITY;
    if (number(ask, YOKE_CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0)
        caps |= YOKE_CAP_FP64;
    if (yoke_ocl_has_word(ask->extensions, "cl_khr_int64_base_atomics"))
        caps |= YOKE_CAP_ATOMICS64;
    uint64_t kibibytes[2];
    if (yoke_ocl_has_word(ask->extensions, "cl_amd_device_attribute_query") &&
        value(ask, YOKE_CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, kibibytes, sizeof kibibytes))
        caps |= YOKE_CAP_FREE_MEMORY;
    return caps;
}

static void name_it(ask_t *ask, const char *platform, const char *platform_version,
                    const char *device_version)
{
    yoke_impl_info_t *info = &ask->slot->info;
    char *driver = text(ask, YOKE_CL_DRIVER_VERSION);
    char *vendor = text(ask, YOKE_CL_DEVICE_VENDOR);
    info->name = keep(ask, text(ask, YOKE_CL_DEVICE_NAME));
    /* By name, not by vendor id: PoCL says 0x8086 on any processor. */
    info->vendor =
        keep(ask, yoke_strdup(vendor != NULL ? yoke_vendor_canonical(vendor) : ""));
    info->version = keep(ask, yoke_format("%s, %s, driver %s", platform, device_version,
                                          driver != NULL ? driver : "?"));
    ask->slot->compiler = yoke_format("%s; %s; %s; %s", platform, platform_version,
                                      info->name, driver != NULL ? driver : "?");
    free(driver);
    free(vendor);
}

void yoke_ocl_slot_fill(yoke_impl_runtime_t *runtime, yoke_ocl_slot_t *slot,
                        const char *platform_name, const char *platform_version)
{
    ask_t ask = {.cl = &runtime->cl, .slot = slot};
    yoke_impl_info_t *info = &slot->info;
    char *extensions = text(&ask, YOKE_CL_DEVICE_EXTENSIONS);
    char *device_version = text(&ask, YOKE_CL_DEVICE_VERSION);
    ask.extensions = extensions;
    uint32_t of_platform = version_of(platform_version);
    slot->version = version_of(device_version);
    if (of_platform < slot->version)
        slot->version = of_platform;
    name_it(&ask, platform_name, platform_version,
            device_version != NULL ? device_version : "OpenCL");
    info->library = runtime->library.path;
    info->kind =
        yoke_cl_kind(number(&ask, YOKE_CL_DEVICE_TYPE, 8), platform_name, info->name);
    info->architecture = architecture(&ask, info->name);
    identify(&ask, info);
    memory_model(&ask);
    /* Oclgrind runs its commands inside clFlush() and clFinish(), and there it waits
     * for a user event without end. */
    slot->gates = strcmp(platform_name, "Oclgrind") != 0;
    slot->priority = slot->version >= YOKE_CL_VERSION(2, 0) &&
                     runtime->cl.queue_2_0 != NULL &&
                     yoke_ocl_has_word(extensions, "cl_khr_priority_hints");
    char *il = NULL;
    if (slot->version >= YOKE_CL_VERSION(2, 1) && runtime->cl.create_il != NULL)
        il = text(&ask, YOKE_CL_DEVICE_IL_VERSION);
    slot->il = il != NULL && strstr(il, "SPIR-V") != NULL;
    free(il);
    info->memory_total = number(&ask, YOKE_CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    if (info->memory_total != 0)
        info->valid |= YOKE_INFO_MEMORY;
    info->capabilities = capabilities(&ask);
    info->compute_units = (uint32_t)number(&ask, YOKE_CL_DEVICE_MAX_COMPUTE_UNITS, 4);
    info->subgroup = subgroup(&ask, info->kind);
    info->max_group =
        (uint32_t)number(&ask, YOKE_CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    info->max_groups[0] = info->max_groups[1] = info->max_groups[2] = UINT32_MAX;
    info->local_memory = number(&ask, YOKE_CL_DEVICE_LOCAL_MEM_SIZE, 8);
    uint32_t alignment =
        (uint32_t)number(&ask, YOKE_CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4) / 8;
    info->alignment = slot->usm || alignment == 0 ? 1 : alignment;
    info->dialect = YOKE_DIALECT_OPENCL;
    free(extensions);
    free(device_version);
}
