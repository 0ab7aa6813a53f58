/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is and can do, asked without making a context. */
#include "backends/cudalike/internal.h"

#include <stdio.h>
#include <string.h>

#include "inventory/document.h"
#include "inventory/vendor.h"

/* Limits of the first CUDA devices, which nothing since then goes below ("CUDA C++
 * Programming Guide", compute capabilities): half of their 512 threads a group, and 65535
 * groups. */
#define SURE_GROUP 256u
#define SURE_GROUPS 65535u

int yoke_cudalike_attribute(const yoke_cudalike_flavour_t *flavour,
                            const yoke_cudalike_api_t *api, yoke_cudalike_key_t key,
                            int device, int otherwise)
{
    int value = -1;
    if (api->attribute == NULL || flavour->attributes[key] == YOKE_CUDALIKE_UNSOURCED ||
        api->attribute(&value, flavour->attributes[key], device) != 0 || value < 0)
        return otherwise;
    return value;
}

static void read_pci(const yoke_cudalike_flavour_t *flavour,
                     const yoke_cudalike_api_t *api, int device, yoke_impl_info_t *info)
{
    char text[64] = "";
    if (api->pci_bus_id != NULL &&
        api->pci_bus_id(text, (int)sizeof text - 1, device) == 0 &&
        yoke_pci_parse(text, &info->pci)) {
        info->valid |= YOKE_INFO_PCI;
        return;
    }
    int domain =
        yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_PCI_DOMAIN, device, -1);
    int bus = yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_PCI_BUS, device, -1);
    int slot =
        yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_PCI_DEVICE, device, -1);
    if (domain < 0 || bus < 0 || bus > 255 || slot < 0 || slot > 31)
        return;
    info->pci.valid = true;
    info->pci.domain = (uint32_t)domain;
    info->pci.bus = (uint8_t)bus;
    info->pci.device = (uint8_t)slot;
    info->valid |= YOKE_INFO_PCI;
}

void yoke_cudalike_read_identity(const yoke_cudalike_flavour_t *flavour,
                                 const yoke_cudalike_api_t *api, int device,
                                 yoke_impl_info_t *info, char *name, size_t size)
{
    static const uint8_t zero[16];
    uint8_t uuid[16] = {0};
    size_t memory = 0;
    memset(name, 0, size);
    if (api->device_name(name, (int)size - 1, device) != 0)
        name[0] = '\0';
    if (api->device_uuid != NULL && api->device_uuid(uuid, device) == 0 &&
        memcmp(uuid, zero, sizeof uuid) != 0) {
        memcpy(info->uuid, uuid, sizeof uuid);
        info->valid |= YOKE_INFO_UUID;
    }
    if (api->total_memory != NULL && api->total_memory(&memory, device) == 0 &&
        memory != 0) {
        info->memory_total = memory;
        info->valid |= YOKE_INFO_MEMORY;
    }
    read_pci(flavour, api, device, info);
}

/*
 * The one field that no call tells: gcnArchName of hipDeviceProp_t, at 396 in the layout
 * up to HIP 5 and at 1160 in the one that HIP 6 gives under the name ...R0600
 * (llvm/llvm-project#167695; tests/hal/header_check_hip.c for the first). The struct has
 * 792 bytes in the first and 1472 in the second; both fit with room. What is not an
 * architecture is dropped, should a layout move again.
 */
static void read_gcn(const yoke_impl_runtime_t *runtime, yoke_cudalike_card_t *card)
{
    const yoke_cudalike_flavour_t *flavour = runtime->flavour;
    int (*ask)(void *, int) = runtime->api.properties_r0600;
    size_t offset = flavour->arch_offset_r0600, length = 0;
    _Alignas(16) char raw[8192] = {0};
    if (ask == NULL || offset == 0) {
        ask = runtime->api.properties;
        offset = flavour->arch_offset;
    }
    if (ask == NULL || offset == 0 || ask(raw, card->device) != 0)
        return;
    const char *text = raw + offset;
    if (strncmp(text, "gfx", 3) != 0)
        return;
    while (length + 1 < sizeof card->architecture && text[length] > ' ' &&
           text[length] < 127)
        length++;
    memcpy(card->architecture, text, length);
    card->architecture[length] = '\0';
}

static void read_limits(const yoke_impl_runtime_t *runtime, yoke_cudalike_card_t *card)
{
    const yoke_cudalike_flavour_t *flavour = runtime->flavour;
    const yoke_cudalike_api_t *api = &runtime->api;
    yoke_impl_info_t *info = &card->info;
    int device = card->device;
    int group = yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_MAX_GROUP, device, 0);
    int lanes = yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_SUBGROUP, device, 0);
    /* Numbers of a flavour may be of another version of its header: what cannot be is not
     * taken. In place of a limit that is not told stands what all such devices take. */
    info->max_group = group > 0 && group <= 65536 ? (uint32_t)group : SURE_GROUP;
    info->subgroup = lanes > 0 && lanes <= 128 ? (uint32_t)lanes : 0;
    info->compute_units = (uint32_t)yoke_cudalike_attribute(
        flavour, api, YOKE_CUDALIKE_COMPUTE_UNITS, device, 0);
    info->local_memory = (uint64_t)yoke_cudalike_attribute(
        flavour, api, YOKE_CUDALIKE_LOCAL_MEMORY, device, 0);
    for (int i = 0; i < 3; i++) {
        int groups = yoke_cudalike_attribute(
            flavour, api, (yoke_cudalike_key_t)(YOKE_CUDALIKE_GRID_X + i), device, 0);
        info->max_groups[i] = groups > 0 ? (uint32_t)groups : SURE_GROUPS;
    }
    info->alignment = 1;
    int major = yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_CC_MAJOR, device, 0);
    int minor = yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_CC_MINOR, device, 0);
    if (flavour->unit != NULL && major > 0)
        snprintf(card->architecture, sizeof card->architecture, "%s%d%d", flavour->unit,
                 major, minor);
    card->managed =
        yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_MANAGED, device, 0) > 0;
    card->wait_value =
        yoke_cudalike_attribute(flavour, api, YOKE_CUDALIKE_WAIT_VALUE, device, 0) > 0;
}

static bool can_wait_value(const yoke_impl_runtime_t *runtime,
                           const yoke_cudalike_card_t *card)
{
    const yoke_cudalike_api_t *api = &runtime->api;
    bool masked = api->wait_value_masked != NULL && api->signal_allocate != NULL &&
                  runtime->flavour->signal_flags != YOKE_CUDALIKE_UNSOURCED;
    bool plain = api->wait_value != NULL && api->host_allocate != NULL &&
                 runtime->flavour->host_flags != YOKE_CUDALIKE_UNSOURCED;
    return card->wait_value && (masked || plain);
}

static uint64_t capabilities(yoke_impl_runtime_t *runtime,
                             const yoke_cudalike_card_t *card)
{
    const yoke_cudalike_flavour_t *flavour = runtime->flavour;
    const yoke_cudalike_api_t *api = &runtime->api;
    uint64_t set = flavour->capabilities | YOKE_CAP_ADDRESS | YOKE_CAP_WRAP |
                   YOKE_CAP_FREE_MEMORY | YOKE_CAP_EXHAUSTS;
    bool modules = api->module_load != NULL && api->module_unload != NULL &&
                   api->module_function != NULL && api->launch != NULL;
    if ((api->host_allocate != NULL && flavour->host_flags != YOKE_CUDALIKE_UNSOURCED) ||
        api->host_allocate_plain != NULL)
        set |= YOKE_CAP_PINNED;
    if (api->managed_allocate != NULL &&
        flavour->managed_flags != YOKE_CUDALIKE_UNSOURCED && card->managed)
        set |= YOKE_CAP_SHARED;
    if (api->copy_peer_contexts != NULL || api->copy_peer_devices != NULL)
        set |= YOKE_CAP_PEER;
    if (api->event_elapsed != NULL)
        set |= YOKE_CAP_TIMING;
    if (api->host_call != NULL)
        set |= YOKE_CAP_HOST_CALL;
    if (card->wait_value)
        set |= YOKE_CAP_GATE;
    if (api->stream_create_priority != NULL && api->priority_range != NULL)
        set |= YOKE_CAP_PRIORITY;
    if (modules)
        set |= YOKE_CAP_BINARY;
    if (modules && flavour->rtc != NULL) {
        yoke_rtc_load(&runtime->rtc, flavour->rtc, &runtime->library);
        if (runtime->rtc.usable)
            set |= YOKE_CAP_SOURCE | YOKE_CAP_NATIVE_SOURCE;
    }
    if (flavour->blas != NULL)
        set |= YOKE_CAP_GEMM;
    return set;
}

static void read_card(yoke_impl_runtime_t *runtime, yoke_cudalike_card_t *card)
{
    const yoke_cudalike_flavour_t *flavour = runtime->flavour;
    yoke_impl_info_t *info = &card->info;
    yoke_cudalike_read_identity(flavour, &runtime->api, card->device, info, card->name,
                                sizeof card->name);
    card->vendor = flavour->vendor;
    if (card->vendor == NULL && strncmp(card->name, "AMD ", 4) == 0)
        card->vendor = "AMD";
    read_limits(runtime, card);
    if (flavour->arch_offset != 0 || flavour->arch_offset_r0600 != 0)
        read_gcn(runtime, card);
    card->wait_value = can_wait_value(runtime, card);
    info->struct_size = sizeof *info;
    info->name = card->name;
    info->vendor = card->vendor != NULL ? card->vendor : "";
    info->architecture = card->architecture;
    info->library = runtime->library.path != NULL ? runtime->library.path : "";
    info->version = runtime->version;
    info->kind = YOKE_DEVICE_GPU;
    info->dialect = flavour->rtc != NULL ? flavour->dialect : YOKE_DIALECT_NONE;
    info->capabilities = capabilities(runtime, card);
}

yoke_status_t yoke_cudalike_card(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_cudalike_card_t **out_card)
{
    int code = 0;
    if (ordinal >= runtime->count)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND, "%s: there is no device %u",
                                      runtime->flavour->ops->name, ordinal);
    yoke_cudalike_card_t *card = &runtime->cards[ordinal];
    pthread_mutex_lock(&runtime->lock);
    if (!card->known) {
        card->device = (int)ordinal; /* what merged runtimes use */
        if (runtime->api.device_get != NULL)
            code = runtime->api.device_get(&card->device, (int)ordinal);
        if (code == 0) {
            read_card(runtime, card);
            card->known = true;
        }
    }
    pthread_mutex_unlock(&runtime->lock);
    if (code != 0)
        return yoke_cudalike_fail(runtime, YOKE_CUDALIKE_SLOT(device_get), code);
    *out_card = card;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                        yoke_impl_info_t *out_info)
{
    const yoke_cudalike_card_t *card = NULL;
    yoke_status_t status = yoke_cudalike_card(runtime, ordinal, &card);
    if (status != YOKE_OK)
        return status;
    size_t size = out_info->struct_size;
    size_t count = size != 0 && size < sizeof *out_info ? size : sizeof *out_info;
    memcpy(out_info, &card->info, count);
    out_info->struct_size = size;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_device_find(yoke_impl_runtime_t *runtime,
                                        const yoke_native_t *native,
                                        uint32_t *out_ordinal)
{
    intptr_t wanted = (intptr_t)native->handle;
    for (uint32_t i = 0; i < runtime->count; i++) {
        int device = (int)i;
        if (runtime->api.device_get != NULL &&
            runtime->api.device_get(&device, (int)i) != 0)
            continue;
        if (device == wanted) {
            *out_ordinal = i;
            return YOKE_OK;
        }
    }
    return yoke_backend_fail_text(
        YOKE_ERR_NOT_FOUND, "%s: no device has the number %lld; there are %u",
        runtime->flavour->ops->name, (long long)wanted, runtime->count);
}
