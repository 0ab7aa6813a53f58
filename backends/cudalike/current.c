/* SPDX-License-Identifier: Apache-2.0 */
/* Which context or device is current, and what a vendor's code means. */
#include "backends/cudalike/internal.h"

_Thread_local uintptr_t yoke_cudalike_noted[YOKE_CUDALIKE_NOTES];

static int look(const yoke_impl_device_t *device, uintptr_t *out_current)
{
    const yoke_cudalike_api_t *api = device->api;
    int code;
    if (device->flavour->contexts) {
        void *context = NULL;
        code = api->context_get(&context);
        *out_current = (uintptr_t)context;
    } else {
        int ordinal = -1;
        code = api->device_current(&ordinal);
        *out_current = ordinal < 0 ? 0 : (uintptr_t)ordinal + 1;
    }
    return code;
}

static int set(const yoke_impl_device_t *device, uintptr_t current)
{
    if (device->flavour->contexts)
        return device->api->context_set((void *)current);
    return current == 0 ? 0 : device->api->device_set((int)(current - 1));
}

int yoke_cudalike_enter(yoke_impl_device_t *device, yoke_cudalike_scope_t *out_scope)
{
    bool contexts = device->flavour->contexts;
    out_scope->device = device;
    out_scope->changed = false;
    out_scope->previous = 0;
    out_scope->slot =
        contexts ? YOKE_CUDALIKE_SLOT(context_get) : YOKE_CUDALIKE_SLOT(device_current);
    int code = look(device, &out_scope->previous);
    if (code != 0)
        return code;
    yoke_cudalike_noted[device->index] = out_scope->previous;
    if (out_scope->previous == device->current)
        return 0;
    out_scope->slot =
        contexts ? YOKE_CUDALIKE_SLOT(context_set) : YOKE_CUDALIKE_SLOT(device_set);
    code = set(device, device->current);
    out_scope->changed = code == 0;
    return code;
}

void yoke_cudalike_leave(yoke_cudalike_scope_t *scope)
{
    /* Where it cannot be set back there is nothing to be done: the caller's own context
     * is gone. The note is right either way, since it is only a hint. */
    if (scope->changed)
        (void)set(scope->device, scope->previous);
}

yoke_status_t yoke_cudalike_status(int code)
{
    switch (code) {
    case YOKE_CUDALIKE_SUCCESS:
        return YOKE_OK;
    case YOKE_CUDALIKE_OUT_OF_MEMORY:
        return YOKE_ERR_DEVICE_MEMORY;
    case YOKE_CUDALIKE_NOT_READY:
        return YOKE_ERR_NOT_READY;
    case YOKE_CUDALIKE_PEER_UNSUPPORTED:
    case YOKE_CUDALIKE_PEER_NOT_ENABLED:
        return YOKE_ERR_UNREACHABLE;
    /* From here on the vendor refuses all further work on the context. CUDA driver API,
     * "CUresult": "leaves the process in an inconsistent state and any further CUDA work
     * will return the same error". */
    case YOKE_CUDALIKE_DEINITIALIZED:
    case YOKE_CUDALIKE_ECC:
    case YOKE_CUDALIKE_LINK_UNCORRECTABLE:
    case YOKE_CUDALIKE_ILLEGAL_ADDRESS:
    case YOKE_CUDALIKE_LAUNCH_TIMEOUT:
    case YOKE_CUDALIKE_CONTEXT_DESTROYED:
    case YOKE_CUDALIKE_ASSERT:
    case YOKE_CUDALIKE_HARDWARE_STACK:
    case YOKE_CUDALIKE_ILLEGAL_INSTRUCTION:
    case YOKE_CUDALIKE_MISALIGNED:
    case YOKE_CUDALIKE_ADDRESS_SPACE:
    case YOKE_CUDALIKE_INVALID_PC:
    case YOKE_CUDALIKE_LAUNCH_FAILED:
        return YOKE_ERR_DEVICE_LOST;
    default:
        return YOKE_ERR_SYSTEM;
    }
}

const char *yoke_cudalike_symbol_name(const yoke_cudalike_flavour_t *flavour,
                                      uint16_t slot)
{
    for (size_t i = 0; i < flavour->symbol_count; i++)
        if (flavour->symbols[i].slot == slot)
            return flavour->symbols[i].other != NULL ? flavour->symbols[i].other
                                                     : flavour->symbols[i].name;
    return flavour->ops->name;
}

yoke_status_t yoke_cudalike_fail(const yoke_impl_runtime_t *runtime, uint16_t slot,
                                 int code)
{
    yoke_status_t status = yoke_cudalike_status(code);
    if (status == YOKE_OK || status == YOKE_ERR_NOT_READY)
        return status;
    return yoke_backend_fail(runtime->flavour->ops, status,
                             yoke_cudalike_symbol_name(runtime->flavour, slot), code,
                             NULL);
}
