/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime: its library, its symbols, how many devices it has. */
#include "backends/cudalike/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAX_DEVICES 1024

const char *yoke_cudalike_resolve(const yoke_cudalike_flavour_t *flavour,
                                  const yoke_library_t *library,
                                  yoke_cudalike_api_t *out_api)
{
    const char *missing = NULL;
    memset(out_api, 0, sizeof *out_api);
    for (size_t i = 0; i < flavour->symbol_count && missing == NULL; i++) {
        const yoke_cudalike_symbol_t *row = &flavour->symbols[i];
        yoke_symbol_t symbol = {row->name, row->other, (char *)out_api + row->slot,
                                row->optional};
        missing = yoke_library_resolve(library, &symbol, 1);
    }
    return missing;
}

void yoke_cudalike_show_version(const yoke_cudalike_flavour_t *flavour, int version,
                                char *text, size_t size)
{
    int patch;
    if (version <= 0) {
        text[0] = '\0';
        return;
    }
    switch (flavour->packing) {
    case YOKE_CUDALIKE_PACK_CUDA:
        snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
        break;
    case YOKE_CUDALIKE_PACK_HIP:
        patch = version % 100000;
        snprintf(text, size, "%d.%d.%d", version / 10000000, version / 100000 % 100,
                 patch);
        break;
    case YOKE_CUDALIKE_PACK_MUSA:
        snprintf(text, size, "%d.%d.%d", version / 10000, version / 100 % 100,
                 version % 100);
        break;
    }
}

static yoke_status_t load(const yoke_cudalike_flavour_t *flavour,
                          yoke_impl_runtime_t *runtime)
{
    char *problem = NULL;
    bool found = false;
    yoke_status_t status = YOKE_OK;
    if (!yoke_library_open(flavour->library_key, flavour->libraries, &runtime->library,
                           &problem, &found)) {
        status = yoke_backend_fail_text(found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND,
                                        "%s: no library: %s", flavour->ops->name,
                                        problem != NULL ? problem : "not loaded");
        free(problem);
        return status;
    }
    const char *missing =
        yoke_cudalike_resolve(flavour, &runtime->library, &runtime->api);
    if (missing != NULL)
        status = yoke_backend_fail_text(
            YOKE_ERR_SYSTEM,
            "%s: %s has no function %s: it is too old, or another library of that name",
            flavour->ops->name, runtime->library.path, missing);
    return status;
}

/* 0 devices is no failure, however the runtime says it. */
static yoke_status_t start(yoke_impl_runtime_t *runtime)
{
    const yoke_cudalike_api_t *api = &runtime->api;
    int count = 0, version = 0;
    uint16_t slot = YOKE_CUDALIKE_SLOT(init);
    int code = api->init != NULL ? api->init(0) : 0;
    if (code == 0) {
        slot = YOKE_CUDALIKE_SLOT(device_count);
        code = api->device_count(&count);
    }
    if (code == YOKE_CUDALIKE_NO_DEVICE) {
        code = 0;
        count = 0;
    }
    if (code != 0)
        return yoke_cudalike_fail(runtime, slot, code);
    runtime->count =
        count < 0 ? 0 : (uint32_t)(count > MAX_DEVICES ? MAX_DEVICES : count);
    if (api->version != NULL && api->version(&version) == 0)
        yoke_cudalike_show_version(runtime->flavour, version, runtime->version,
                                   sizeof runtime->version);
    runtime->cards = calloc(runtime->count + 1u, sizeof *runtime->cards);
    return runtime->cards != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t check_ours(yoke_impl_runtime_t *runtime)
{
    const yoke_cudalike_flavour_t *flavour = runtime->flavour;
    char name[256] = "";
    int device = 0;
    if (flavour->accepts == NULL)
        return YOKE_OK;
    if (runtime->count > 0 &&
        (runtime->api.device_get == NULL || runtime->api.device_get(&device, 0) == 0) &&
        runtime->api.device_name(name, (int)sizeof name - 1, device) != 0)
        name[0] = '\0';
    if (flavour->accepts(runtime->library.path, name))
        return YOKE_OK;
    return yoke_backend_fail_text(
        YOKE_ERR_NOT_FOUND, "%s: %s belongs to another vendor%s%s", flavour->ops->name,
        runtime->library.path, name[0] != '\0' ? "; its first device is " : "", name);
}

yoke_status_t yoke_cudalike_open(const yoke_cudalike_flavour_t *flavour,
                                 yoke_impl_runtime_t **out_runtime)
{
    yoke_impl_runtime_t *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL)
        return yoke_fail_memory();
    runtime->flavour = flavour;
    pthread_mutex_init(&runtime->lock, NULL);
    yoke_status_t status = load(flavour, runtime);
    if (status == YOKE_OK)
        status = start(runtime);
    if (status == YOKE_OK)
        status = check_ours(runtime);
    if (status == YOKE_OK) {
        *out_runtime = runtime;
        return YOKE_OK;
    }
    yoke_library_forget(&runtime->library); /* the file stays mapped */
    pthread_mutex_destroy(&runtime->lock);
    free(runtime->cards);
    free(runtime);
    return status;
}

yoke_status_t yoke_cudalike_device_count(yoke_impl_runtime_t *runtime,
                                         uint32_t *out_count)
{
    *out_count = runtime->count;
    return YOKE_OK;
}
