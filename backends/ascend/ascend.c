/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Huawei Ascend by AscendCL: library, devices, memory and the table.
 *
 * Devices share the default context that aclrtSetDevice() makes, as frameworks do, so
 * that their streams work here. It is never reset: that would end what others made in it.
 */
#include "backends/ascend/ascend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/loader.h"

/* --- library ---------------------------------------------------------------------------
 */

static const char *const libraries[] = {"libascendcl.so", NULL};

static yoke_status_t load(yoke_impl_runtime_t *runtime)
{
    yoke_acl_t *acl = &runtime->acl;
    const yoke_symbol_t symbols[] = {
        {"aclInit", NULL, &acl->init, false},
        {"aclrtGetDeviceCount", NULL, &acl->device_count, false},
        {"aclrtSetDevice", NULL, &acl->set_device, false},
        {"aclrtGetCurrentContext", NULL, &acl->get_context, false},
        {"aclrtSetCurrentContext", NULL, &acl->set_context, false},
        {"aclrtGetSocName", NULL, &acl->soc_name, false},
        {"aclrtGetMemInfo", NULL, &acl->memory_info, false},
        {"aclrtMalloc", NULL, &acl->allocate, false},
        {"aclrtFree", NULL, &acl->release, false},
        {"aclrtMallocHost", NULL, &acl->allocate_host, false},
        {"aclrtFreeHost", NULL, &acl->release_host, false},
        {"aclrtMemcpy", NULL, &acl->copy, false},
        {"aclrtMemcpyAsync", NULL, &acl->copy_async, false},
        {"aclrtMemsetAsync", NULL, &acl->fill_async, false},
        {"aclrtCreateStream", NULL, &acl->stream_create, false},
        {"aclrtDestroyStream", NULL, &acl->stream_destroy, false},
        {"aclrtSynchronizeStream", NULL, &acl->stream_sync, false},
        {"aclrtStreamQuery", NULL, &acl->stream_query, false},
        {"aclrtStreamWaitEvent", NULL, &acl->stream_wait, false},
        {"aclrtCreateEventWithFlag", NULL, &acl->event_create, false},
        {"aclrtDestroyEvent", NULL, &acl->event_destroy, false},
        {"aclrtRecordEvent", NULL, &acl->event_record, false},
        {"aclrtQueryEventStatus", NULL, &acl->event_query, false},
        {"aclrtSynchronizeEvent", NULL, &acl->event_sync, false},
        {"aclrtEventElapsedTime", NULL, &acl->event_elapsed, false},
        {"aclrtLaunchHostFunc", NULL, &acl->host_call, true},
        {"aclrtDeviceCanAccessPeer", NULL, &acl->can_access_peer, true},
        {"aclrtDeviceEnablePeerAccess", NULL, &acl->enable_peer, true},
        {"aclrtGetVersion", NULL, &acl->version, true},
        {"aclGetRecentErrMsg", NULL, &acl->recent_message, true},
    };
    yoke_library_t library;
    char *problem = NULL;
    bool found = false;
    if (!yoke_library_open("ASCENDCL", libraries, &library, &problem, &found)) {
        yoke_fail(found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND, "ascend: %s",
                  problem != NULL ? problem : "libascendcl.so cannot be loaded");
        free(problem);
        return found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND;
    }
    const char *missing =
        yoke_library_resolve(&library, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing != NULL) {
        yoke_status_t status =
            yoke_fail(YOKE_ERR_NOT_FOUND, "ascend: %s has no %s", library.path, missing);
        yoke_library_forget(&library);
        return status;
    }
    runtime->library = strdup(library.path != NULL ? library.path : "");
    yoke_library_forget(&library);
    return runtime->library != NULL ? YOKE_OK : yoke_fail_memory();
}

static void describe(yoke_impl_runtime_t *runtime)
{
    const char *soc = runtime->acl.soc_name();
    snprintf(runtime->soc, sizeof runtime->soc, "%s", soc != NULL ? soc : "");
    int32_t major = 0, minor = 0, patch = 0;
    if (runtime->acl.version != NULL &&
        runtime->acl.version(&major, &minor, &patch) == YOKE_ACL_SUCCESS)
        snprintf(runtime->version, sizeof runtime->version, "%d.%d.%d", (int)major,
                 (int)minor, (int)patch);
}

static yoke_status_t runtime_open(yoke_impl_runtime_t **out_runtime)
{
    yoke_impl_runtime_t *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL)
        return yoke_fail_memory();
    yoke_status_t status = load(runtime);
    if (status == YOKE_OK) {
        int code = runtime->acl.init(NULL);
        if (code != YOKE_ACL_ERROR_REPEAT_INITIALIZE) /* a framework did it already */
            status = yoke_ascend_check(runtime, "aclInit", code);
    }
    if (status != YOKE_OK) {
        free(runtime->library);
        free(runtime);
        return status;
    }
    describe(runtime);
    *out_runtime = runtime;
    return YOKE_OK;
}

/* --- devices ---------------------------------------------------------------------------
 */

static yoke_status_t device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    uint32_t count = 0;
    int code = runtime->acl.device_count(&count);
    if (code == YOKE_ACL_ERROR_RT_NO_DEVICE)
        count = 0;
    else if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(runtime, "aclrtGetDeviceCount", code);
    *out_count = count;
    return YOKE_OK;
}

/* AscendCL tells name and memory of the device whose context is current only, and neither
 * PCI address nor UUID: those come with the probe. */
static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    (void)ordinal;
    out_info->name = runtime->soc[0] != '\0' ? runtime->soc : "Ascend";
    out_info->vendor = "huawei";
    out_info->architecture = runtime->soc;
    out_info->library = runtime->library;
    out_info->version = runtime->version;
    out_info->kind = YOKE_DEVICE_NPU;
    out_info->capabilities = YOKE_CAP_PINNED | YOKE_CAP_ADDRESS | YOKE_CAP_TIMING |
                             YOKE_CAP_WRAP | YOKE_CAP_FREE_MEMORY | YOKE_CAP_EXHAUSTS |
                             YOKE_CAP_GEMM;
    if (runtime->acl.host_call != NULL)
        out_info->capabilities |= YOKE_CAP_HOST_CALL;
    if (runtime->acl.can_access_peer != NULL && runtime->acl.enable_peer != NULL)
        out_info->capabilities |= YOKE_CAP_PEER;
    out_info->alignment = YOKE_ACL_COPY_ALIGNMENT;
    out_info->dialect = YOKE_DIALECT_NONE;
    return YOKE_OK;
}

/* The default context of a device: setting the device makes it current. */
static int find_context(yoke_impl_device_t *device, const char **out_call)
{
    const yoke_acl_t *acl = &device->runtime->acl;
    yoke_acl_context_t before = NULL;
    *out_call = "aclrtGetCurrentContext";
    int code = acl->get_context(&before);
    if (code != YOKE_ACL_SUCCESS && code != YOKE_ACL_ERROR_RT_CONTEXT_NULL)
        return code;
    if (code != YOKE_ACL_SUCCESS)
        before = NULL;
    *out_call = "aclrtSetDevice";
    code = acl->set_device(device->ordinal);
    if (code == YOKE_ACL_SUCCESS) {
        *out_call = "aclrtGetCurrentContext";
        code = acl->get_context(&device->context);
    }
    if (before != NULL)
        acl->set_context(before);
    yoke_ascend_seen = before;
    return code;
}

static yoke_status_t device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native,
                                 yoke_impl_device_t **out_device)
{
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->runtime = runtime;
    device->ordinal = (int32_t)ordinal;
    if (native != NULL && native->context != NULL) {
        device->context = native->context;
    } else {
        const char *call = NULL;
        int code = find_context(device, &call);
        if (code == YOKE_ACL_SUCCESS && device->context == NULL)
            code = YOKE_ACL_ERROR_RT_CONTEXT_NULL;
        if (code != YOKE_ACL_SUCCESS) {
            free(device);
            return yoke_ascend_check(runtime, call, code);
        }
    }
    *out_device = device;
    return YOKE_OK;
}

static void device_close(yoke_impl_device_t *device)
{
    free(device);
}

static yoke_status_t memory_info(yoke_impl_device_t *device, uint64_t *out_free,
                                 uint64_t *out_total)
{
    size_t available = 0, total = 0;
    int code;
    YOKE_ASCEND_CALL(
        device, code,
        device->runtime->acl.memory_info(YOKE_ACL_HBM_MEM, &available, &total));
    if (code == YOKE_ACL_SUCCESS && total == 0) /* cards without HBM answer with zeros */
        YOKE_ASCEND_CALL(
            device, code,
            device->runtime->acl.memory_info(YOKE_ACL_DDR_MEM, &available, &total));
    if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(device->runtime, "aclrtGetMemInfo", code);
    *out_free = available;
    *out_total = total;
    return YOKE_OK;
}

static yoke_status_t device_find(yoke_impl_runtime_t *runtime,
                                 const yoke_native_t *native, uint32_t *out_ordinal)
{
    (void)runtime;
    *out_ordinal = (uint32_t)(uintptr_t)native->handle;
    return YOKE_OK;
}

static void device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    out->handle = (void *)(intptr_t)device->ordinal;
    out->context = device->context;
}

static yoke_status_t peer_query(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                bool *out_can)
{
    int32_t can = 0;
    int code = device->runtime->acl.can_access_peer(&can, device->ordinal, peer->ordinal);
    if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(device->runtime, "aclrtDeviceCanAccessPeer", code);
    *out_can = can == 1;
    return YOKE_OK;
}

static yoke_status_t peer_enable(yoke_impl_device_t *device, yoke_impl_device_t *peer)
{
    /* "Already enabled" is a success: acl_rt.h names no code of its own for it. */
    int code;
    YOKE_ASCEND_CALL(device, code, device->runtime->acl.enable_peer(peer->ordinal, 0));
    return yoke_ascend_check(device->runtime, "aclrtDeviceEnablePeerAccess", code);
}

/* --- buffers ---------------------------------------------------------------------------
 */

static yoke_status_t buffer_new(yoke_impl_device_t *device, void *address, bool host,
                                bool wrapped, uint64_t size,
                                yoke_impl_buffer_t **out_buffer)
{
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return yoke_fail_memory();
    buffer->device = device;
    buffer->address = address;
    buffer->host = host;
    buffer->wrapped = wrapped;
    buffer->size = size;
    *out_buffer = buffer;
    return YOKE_OK;
}

static int release(yoke_impl_device_t *device, void *address, bool host)
{
    const yoke_acl_t *acl = &device->runtime->acl;
    int code;
    if (host)
        YOKE_ASCEND_CALL(device, code, acl->release_host(address));
    else
        YOKE_ASCEND_CALL(device, code, acl->release(address));
    return code;
}

static yoke_status_t buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    const yoke_acl_t *acl = &device->runtime->acl;
    bool host = kind == YOKE_MEMORY_HOST;
    void *address = NULL;
    int code;
    if (kind == YOKE_MEMORY_SHARED)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "ascend: AscendCL has no shared memory");
    if (host)
        YOKE_ASCEND_CALL(device, code, acl->allocate_host(&address, size));
    else
        YOKE_ASCEND_CALL(device, code,
                         acl->allocate(&address, size, YOKE_ACL_MEM_MALLOC_HUGE_FIRST));
    if (code == YOKE_ACL_SUCCESS && address == NULL)
        code = YOKE_ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(device->runtime,
                                 host ? "aclrtMallocHost" : "aclrtMalloc", code);
    yoke_status_t status = buffer_new(device, address, host, false, size, out_buffer);
    if (status != YOKE_OK)
        release(device, address, host);
    return status;
}

static yoke_status_t buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    if (kind == YOKE_MEMORY_SHARED)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "ascend: AscendCL has no shared memory");
    return buffer_new(device, handle, kind == YOKE_MEMORY_HOST, true, size, out_buffer);
}

static void buffer_destroy(yoke_impl_buffer_t *buffer)
{
    if (!buffer->wrapped)
        release(buffer->device, buffer->address, buffer->host);
    free(buffer);
}

static void *buffer_address(yoke_impl_buffer_t *buffer)
{
    /* Pinned memory "cannot be used in the Device" (acl_rt.h, aclrtMallocHost). */
    return buffer->host ? NULL : buffer->address;
}

static void *buffer_host_address(yoke_impl_buffer_t *buffer)
{
    return buffer->host ? buffer->address : NULL;
}

static void *buffer_native(yoke_impl_buffer_t *buffer)
{
    return buffer->address;
}

static yoke_status_t with_current(yoke_impl_device_t *device, void (*function)(void *),
                                  void *context)
{
    yoke_ascend_scope_t scope;
    int code = yoke_ascend_enter(device, &scope);
    if (code != YOKE_ACL_SUCCESS)
        return yoke_ascend_check(device->runtime, "aclrtSetCurrentContext", code);
    function(context);
    yoke_ascend_leave(device, &scope);
    return YOKE_OK;
}

static void *queue_native(yoke_impl_queue_t *queue)
{
    return queue->stream;
}

static void *event_native(yoke_impl_event_t *event)
{
    return event->event;
}

const yoke_backend_ops_t yoke_ascend_ops = {
    .struct_size = sizeof(yoke_backend_ops_t),
    .abi_major = YOKE_BACKEND_ABI_MAJOR,
    .abi_minor = YOKE_BACKEND_ABI_MINOR,
    .name = "ascend",
    .runtime_open = runtime_open,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .memory_info = memory_info,
    .error_name = yoke_acl_error_name,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_address = buffer_address,
    .buffer_host_address = buffer_host_address,
    .queue_create = yoke_ascend_queue_create,
    .queue_destroy = yoke_ascend_queue_destroy,
    .queue_sync = yoke_ascend_queue_sync,
    .queue_query = yoke_ascend_queue_query,
    .copy = yoke_ascend_copy,
    .write = yoke_ascend_write,
    .read = yoke_ascend_read,
    .fill = yoke_ascend_fill,
    .host_call = yoke_ascend_host_call,
    .event_create = yoke_ascend_event_create,
    .event_destroy = yoke_ascend_event_destroy,
    .event_record = yoke_ascend_event_record,
    .event_query = yoke_ascend_event_query,
    .event_sync = yoke_ascend_event_sync,
    .queue_wait = yoke_ascend_queue_wait,
    .event_elapsed = yoke_ascend_event_elapsed,
    .peer_query = peer_query,
    .peer_enable = peer_enable,
    .device_find = device_find,
    .queue_wrap = yoke_ascend_queue_wrap,
    .event_wrap = yoke_ascend_event_wrap,
    .buffer_wrap = buffer_wrap,
    .device_native = device_native,
    .queue_native = queue_native,
    .event_native = event_native,
    .buffer_native = buffer_native,
    .gemm = yoke_ascend_gemm,
    .gemm_library = yoke_ascend_gemm_library,
    .reduce = yoke_ascend_reduce,
    .with_current = with_current,
};
