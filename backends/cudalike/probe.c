/* SPDX-License-Identifier: Apache-2.0 */
/* Probing through a flavour's table. No context is made: a runtime that tells the total
 * memory only of the current device tells none here. */
#include "backends/cudalike/internal.h"

#include <string.h>

#include "base/text.h"
#include "inventory/document.h"

#define MAX_DEVICES 256
#define MAX_SYMBOLS 96

bool yoke_cudalike_lost(int code)
{
    return yoke_cudalike_status(code) == YOKE_ERR_DEVICE_LOST;
}

/* What a device does not answer is asked again, for the code: 0 when it is well. Not
 * every call need be there for a device; its name always is. */
static int code_of(const yoke_cudalike_api_t *api, int device,
                   const yoke_impl_info_t *info, const char *name, uint16_t *out_slot)
{
    char text[256];
    size_t memory = 0;
    int code = 0;
    *out_slot = YOKE_CUDALIKE_SLOT(device_name);
    if (name[0] == '\0')
        code = api->device_name(text, (int)sizeof text - 1, device);
    if (code == 0 && (info->valid & YOKE_INFO_MEMORY) == 0 && api->total_memory != NULL) {
        *out_slot = YOKE_CUDALIKE_SLOT(total_memory);
        code = api->total_memory(&memory, device);
        code = yoke_cudalike_lost(code) ? code : 0;
    }
    return code;
}

static void probe_device(yoke_probe_run_t *run, const yoke_cudalike_flavour_t *flavour,
                         const yoke_cudalike_api_t *api, const char *library,
                         const char *version, int index)
{
    yoke_record_t record;
    yoke_impl_info_t info = {0};
    char name[256] = "";
    int device = index, code = 0;
    uint16_t slot = YOKE_CUDALIKE_SLOT(device_get);
    yoke_run_record_init(run, library, &record);
    record.ordinal = index;
    record.version = yoke_strdup(version);
    record.vendor = flavour->vendor != NULL ? yoke_strdup(flavour->vendor) : NULL;
    record.kind = YOKE_DEVICE_GPU;
    record.kind_known = true;
    if (api->device_get != NULL)
        code = api->device_get(&device, index);
    if (code == 0) {
        yoke_cudalike_read_identity(flavour, api, device, &info, name, sizeof name);
        record.name = yoke_run_text(name, sizeof name);
        record.pci = info.pci;
        record.has_uuid = (info.valid & YOKE_INFO_UUID) != 0;
        memcpy(record.uuid, info.uuid, sizeof record.uuid);
        if ((info.valid & YOKE_INFO_MEMORY) != 0)
            yoke_run_memory(
                &record, info.memory_total,
                yoke_cudalike_symbol_name(flavour, YOKE_CUDALIKE_SLOT(total_memory)));
        else
            record.memory_refused = api->total_memory != NULL;
        record.integrated = yoke_cudalike_attribute(
                                flavour, api, YOKE_CUDALIKE_INTEGRATED, device, 0) > 0;
        code = code_of(api, device, &info, name, &slot);
    }
    if (code != 0)
        yoke_run_unhealthy(run, &record, library,
                           yoke_cudalike_symbol_name(flavour, slot), code,
                           yoke_cudalike_lost(code));
    yoke_run_put(run, &record);
}

/* Which call answered with which code, and how many devices there are. */
static int count_devices(const yoke_cudalike_api_t *api, uint16_t *out_slot,
                         int *out_count)
{
    *out_slot = YOKE_CUDALIKE_SLOT(init);
    int code = api->init != NULL ? api->init(0) : 0;
    if (code != 0)
        return code;
    *out_slot = YOKE_CUDALIKE_SLOT(device_count);
    code = api->device_count(out_count);
    return code == 0 && *out_count == 0 ? YOKE_CUDALIKE_NO_DEVICE : code;
}

static bool is_ours(yoke_probe_run_t *run, const yoke_cudalike_flavour_t *flavour,
                    const yoke_cudalike_api_t *api, const char *library)
{
    char name[256] = "";
    int device = 0;
    if (flavour->accepts == NULL)
        return true;
    if ((api->device_get == NULL || api->device_get(&device, 0) == 0) &&
        api->device_name(name, (int)sizeof name - 1, device) != 0)
        name[0] = '\0';
    if (flavour->accepts(library, name))
        return true;
    yoke_run_say(run, "absent", library, NULL, false, "%s belongs to another vendor",
                 library);
    return false;
}

void yoke_cudalike_probe(yoke_probe_run_t *run, const yoke_cudalike_flavour_t *flavour)
{
    yoke_cudalike_api_t api = {0};
    yoke_symbol_t symbols[MAX_SYMBOLS];
    yoke_library_t library;
    char version[32] = "";
    uint16_t slot = 0;
    int count = 0, number = 0;
    for (size_t i = 0; i < flavour->symbol_count && i < MAX_SYMBOLS; i++) {
        const yoke_cudalike_symbol_t *row = &flavour->symbols[i];
        symbols[i] = (yoke_symbol_t){row->name, row->other, (char *)&api + row->slot,
                                     row->optional};
    }
    if (!yoke_run_open(run, symbols, flavour->symbol_count, &library))
        return;
    int code = count_devices(&api, &slot, &count);
    if (code != 0) {
        yoke_run_code(
            run, "no device", library.path, yoke_cudalike_symbol_name(flavour, slot),
            code, code != YOKE_CUDALIKE_NO_DEVICE && code != YOKE_CUDALIKE_INVALID_DEVICE,
            NULL);
        return;
    }
    if (!yoke_run_believable(run, library.path, yoke_cudalike_symbol_name(flavour, slot),
                             count, MAX_DEVICES) ||
        !is_ours(run, flavour, &api, library.path))
        return;
    if (api.version != NULL && api.version(&number) == 0)
        yoke_cudalike_show_version(flavour, number, version, sizeof version);
    for (int i = 0; i < count; i++)
        probe_device(run, flavour, &api, library.path, version, i);
    if (!run->has_finding)
        yoke_run_say(run, "ok", library.path, yoke_cudalike_symbol_name(flavour, slot),
                     false, "%d device%s", count, count == 1 ? "" : "s");
}
