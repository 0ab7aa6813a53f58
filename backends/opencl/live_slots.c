/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of all platforms, in the order in which the loader lists them. */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MAX_PLATFORMS 64
#define MAX_DEVICES 256

static char *platform_text(const yoke_impl_runtime_t *runtime,
                           yoke_cl_platform_t platform, uint32_t what)
{
    size_t size = 0;
    if (runtime->cl.query.platform_info(platform, what, 0, NULL, &size) !=
            YOKE_CL_SUCCESS ||
        size == 0 || size > 65536)
        return yoke_strdup("");
    char *text = calloc(1, size + 1);
    if (text != NULL && runtime->cl.query.platform_info(platform, what, size, text,
                                                        NULL) != YOKE_CL_SUCCESS)
        text[0] = '\0';
    return text;
}

/* One platform that fails costs its own devices only. */
static yoke_status_t add_platform(yoke_impl_runtime_t *runtime,
                                  yoke_cl_platform_t platform)
{
    yoke_cl_device_t devices[MAX_DEVICES] = {0};
    uint32_t count = 0;
    yoke_status_t status = YOKE_OK;
    char *name = platform_text(runtime, platform, YOKE_CL_PLATFORM_NAME);
    char *version = platform_text(runtime, platform, YOKE_CL_PLATFORM_VERSION);
    if (name == NULL || version == NULL) {
        status = yoke_fail_memory();
        goto out;
    }
    int32_t code = runtime->cl.query.get_devices(platform, YOKE_CL_TYPE_ALL, MAX_DEVICES,
                                                 devices, &count);
    if (code != YOKE_CL_SUCCESS || count == 0) {
        if (code != YOKE_CL_DEVICE_NOT_FOUND)
            yoke_info("opencl: platform %s: clGetDeviceIDs says %d", name, (int)code);
        goto out;
    }
    count = count < MAX_DEVICES ? count : MAX_DEVICES;
    yoke_ocl_slot_t *slots =
        realloc(runtime->slots, (runtime->slot_count + count) * sizeof *slots);
    if (slots == NULL) {
        status = yoke_fail_memory();
        goto out;
    }
    runtime->slots = slots;
    for (uint32_t i = 0; i < count; i++) {
        if (devices[i] == NULL)
            continue;
        yoke_ocl_slot_t *slot = &slots[runtime->slot_count++];
        memset(slot, 0, sizeof *slot);
        slot->platform = platform;
        slot->device = devices[i];
        yoke_ocl_slot_fill(runtime, slot, name, version);
    }
out:
    free(name);
    free(version);
    return status;
}

yoke_status_t yoke_ocl_slots_find(yoke_impl_runtime_t *runtime)
{
    yoke_cl_platform_t platforms[MAX_PLATFORMS] = {0};
    uint32_t count = 0;
    int32_t code = runtime->cl.query.get_platforms(MAX_PLATFORMS, platforms, &count);
    if (code == YOKE_CL_PLATFORM_NOT_FOUND)
        return YOKE_OK;
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetPlatformIDs", code);
    for (uint32_t i = 0; i < count && i < MAX_PLATFORMS; i++) {
        if (platforms[i] == NULL)
            continue;
        yoke_status_t status = add_platform(runtime, platforms[i]);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}
