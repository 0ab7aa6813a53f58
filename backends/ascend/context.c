/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling thread's context. AscendCL has one per thread; a stream works only in its
 * own.
 *
 * A thread that has none cannot be given none back: aclrtSetCurrentContext() refuses
 * NULL. On such a thread the device's context stays current after the first call, which
 * docs/backends-ascend-cambricon.md says.
 */
#include "backends/ascend/ascend.h"

_Thread_local yoke_acl_context_t yoke_ascend_seen;
_Thread_local const char *yoke_ascend_entering;

int yoke_ascend_enter(yoke_impl_device_t *device, yoke_ascend_scope_t *scope)
{
    const yoke_acl_t *acl = &device->runtime->acl;
    yoke_acl_context_t now = NULL;
    yoke_ascend_entering = NULL;
    int code = acl->get_context(&now);
    if (code == YOKE_ACL_ERROR_RT_CONTEXT_NULL)
        now = NULL; /* there is none */
    else if (code != YOKE_ACL_SUCCESS) {
        /* What is current could not be given back. */
        yoke_ascend_entering = "aclrtGetCurrentContext";
        return code;
    }
    scope->before = now;
    scope->changed = now != device->context;
    yoke_ascend_seen = now;
    if (!scope->changed)
        return YOKE_ACL_SUCCESS;
    code = acl->set_context(device->context);
    if (code == YOKE_ACL_SUCCESS)
        yoke_ascend_seen = device->context;
    else
        yoke_ascend_entering = "aclrtSetCurrentContext";
    return code;
}

void yoke_ascend_leave(yoke_impl_device_t *device, yoke_ascend_scope_t *scope)
{
    if (!scope->changed || scope->before == NULL)
        return;
    if (device->runtime->acl.set_context(scope->before) == YOKE_ACL_SUCCESS)
        yoke_ascend_seen = scope->before;
    else
        yoke_ascend_seen = NULL; /* the caller's context is gone: ask next time */
}

static yoke_status_t status_of(int code)
{
    switch (code) {
    case YOKE_ACL_ERROR_RT_MEMORY_ALLOCATION:
        return YOKE_ERR_DEVICE_MEMORY;
    case YOKE_ACL_ERROR_BAD_ALLOC:
        return YOKE_ERR_NO_MEMORY;
    case YOKE_ACL_ERROR_RT_DEVICE_TASK_ABORT:
    case YOKE_ACL_ERROR_RT_DEVICE_MEM_ERROR:
    case YOKE_ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR:
    case YOKE_ACL_ERROR_RT_LINK_ERROR:
    case YOKE_ACL_ERROR_RT_LOST_HEARTBEAT:
    case YOKE_ACL_ERROR_RT_SOCKET_CLOSE:
        return YOKE_ERR_DEVICE_LOST;
    default:
        return YOKE_ERR_SYSTEM;
    }
}

yoke_status_t yoke_ascend_check(const yoke_impl_runtime_t *runtime, const char *name,
                                int code)
{
    if (code == YOKE_ACL_SUCCESS)
        return YOKE_OK;
    if (yoke_ascend_entering != NULL)
        name = yoke_ascend_entering;
    yoke_ascend_entering = NULL;
    /* A message, not a text for the code: it belongs to this thread's last failure. */
    const char *text =
        runtime->acl.recent_message != NULL ? runtime->acl.recent_message() : NULL;
    return yoke_backend_fail(&yoke_ascend_ops, status_of(code), name, code, text);
}
