/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread's current device. CNRT has one per thread and no way to have none.
 */
#include "backends/cambricon/cambricon.h"

#include <stddef.h>

_Thread_local int yoke_cambricon_seen;
_Thread_local const char *yoke_cambricon_entering;

int yoke_cambricon_enter(yoke_impl_device_t *device, yoke_cambricon_scope_t *scope)
{
    const yoke_cnrt_t *cnrt = &device->runtime->cnrt;
    int now = -1;
    yoke_cambricon_entering = NULL;
    int code = cnrt->get_device(&now);
    if (code != YOKE_CNRT_SUCCESS) { /* what is current could not be given back */
        yoke_cambricon_entering = "cnrtGetDevice";
        return code;
    }
    scope->before = now;
    scope->changed = now != device->ordinal;
    yoke_cambricon_seen = now + 1;
    if (!scope->changed)
        return YOKE_CNRT_SUCCESS;
    code = cnrt->set_device(device->ordinal);
    if (code == YOKE_CNRT_SUCCESS)
        yoke_cambricon_seen = device->ordinal + 1;
    else
        yoke_cambricon_entering = "cnrtSetDevice";
    return code;
}

void yoke_cambricon_leave(yoke_impl_device_t *device, yoke_cambricon_scope_t *scope)
{
    if (!scope->changed || scope->before < 0)
        return;
    bool back = device->runtime->cnrt.set_device(scope->before) == YOKE_CNRT_SUCCESS;
    yoke_cambricon_seen = back ? scope->before + 1 : 0;
}

static yoke_status_t status_of(int code)
{
    switch (code) {
    case YOKE_CNRT_ERROR_NO_MEM:
        return YOKE_ERR_DEVICE_MEMORY;
    case YOKE_CNRT_ERROR_SYS_NO_MEM:
        return YOKE_ERR_NO_MEMORY;
    case YOKE_CNRT_ERROR_ASSERT: /* a device-side fault ruins the context */
    case YOKE_CNRT_ERROR_KERNEL_TRAP:
    case YOKE_CNRT_ERROR_NO_DEVICE: /* of a device that was there: it is gone */
        return YOKE_ERR_DEVICE_LOST;
    default:
        return YOKE_ERR_SYSTEM;
    }
}

bool yoke_cambricon_lost(int code)
{
    return status_of(code) == YOKE_ERR_DEVICE_LOST;
}

yoke_status_t yoke_cambricon_check(const yoke_impl_runtime_t *runtime, const char *name,
                                   int code)
{
    if (code == YOKE_CNRT_SUCCESS)
        return YOKE_OK;
    if (yoke_cambricon_entering != NULL)
        name = yoke_cambricon_entering;
    yoke_cambricon_entering = NULL;
    const char *text = NULL;
    if (runtime->cnrt.error_text != NULL)
        text = runtime->cnrt.error_text(code);
    runtime->cnrt.last_error(); /* it would stick, and show in the caller's next check */
    return yoke_backend_fail(&yoke_cambricon_ops, status_of(code), name, code, text);
}

yoke_status_t yoke_cambricon_check_query(const yoke_impl_runtime_t *runtime,
                                         const char *name, int code)
{
    if (code != YOKE_CNRT_ERROR_NOT_READY && code != YOKE_CNRT_ERROR_BUSY)
        return yoke_cambricon_check(runtime, name, code);
    runtime->cnrt.last_error(); /* "not ready" sticks too */
    return YOKE_ERR_NOT_READY;
}
