/* SPDX-License-Identifier: Apache-2.0 */
/* Cambricon MLU by CNRT 6: library, devices, memory and the table. */
#include "backends/cambricon/cambricon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/loader.h"

_Static_assert(sizeof(yoke_cnrt_properties_t) == 256 + 46 * 4 + 16 + 8 + 30 * 4 &&
                   offsetof(yoke_cnrt_properties_t, total_memory) == 456,
               "layout of cnrtDeviceProp_V3");

/* --- library
 * ----------------------------------------------------------------------------- */

static const char *const libraries[] = {"libcnrt.so", NULL};

static const char *resolve(yoke_cnrt_t *cnrt, const yoke_library_t *library)
{
    const yoke_symbol_t symbols[] = {
        {"cnrtGetDeviceCount", NULL, &cnrt->device_count, false},
        {"cnrtSetDevice", NULL, &cnrt->set_device, false},
        {"cnrtGetDevice", NULL, &cnrt->get_device, false},
        {"cnrtGetDeviceProperties_V3", NULL, &cnrt->properties, true},
        {"cnrtDeviceGetAttribute", NULL, &cnrt->attribute, false},
        {"cnrtMemGetInfo", NULL, &cnrt->memory_info, false},
        {"cnrtMalloc", NULL, &cnrt->allocate, false},
        {"cnrtFree", NULL, &cnrt->release, false},
        {"cnrtHostMalloc", NULL, &cnrt->allocate_host, false},
        {"cnrtFreeHost", NULL, &cnrt->release_host, false},
        {"cnrtMemcpyAsync_V3", "cnrtMemcpyAsync_V2", &cnrt->copy_async, false},
        {"cnrtMemsetAsync", NULL, &cnrt->fill_async, false},
        {"cnrtQueueCreate", NULL, &cnrt->queue_create, false},
        {"cnrtQueueDestroy", NULL, &cnrt->queue_destroy, false},
        {"cnrtQueueSync", NULL, &cnrt->queue_sync, false},
        {"cnrtQueueQuery", NULL, &cnrt->queue_query, false},
        {"cnrtQueueWaitNotifier", NULL, &cnrt->queue_wait, false},
        {"cnrtNotifierCreateWithFlags", NULL, &cnrt->notifier_create, false},
        {"cnrtNotifierDestroy", NULL, &cnrt->notifier_destroy, false},
        {"cnrtPlaceNotifier", NULL, &cnrt->notifier_place, false},
        {"cnrtQueryNotifier", NULL, &cnrt->notifier_query, false},
        {"cnrtWaitNotifier", NULL, &cnrt->notifier_wait, false},
        {"cnrtNotifierElapsedTime", NULL, &cnrt->notifier_elapsed, false},
        {"cnrtGetLastError", NULL, &cnrt->last_error, false},
        {"cnrtInvokeHostFunc", NULL, &cnrt->host_call, true},
        {"cnrtGetPeerAccessibility", NULL, &cnrt->peer_query, true},
        {"cnrtMemcpyPeerAsync", NULL, &cnrt->copy_peer_async, true},
        {"cnrtQueueCreateWithPriority", NULL, &cnrt->queue_create_priority, true},
        {"cnrtDeviceGetQueuePriorityRange", NULL, &cnrt->priority_range, true},
        {"cnrtGetLibVersion", NULL, &cnrt->version, true},
        {"cnrtGetErrorStr", NULL, &cnrt->error_text, true},
    };
    return yoke_library_resolve(library, symbols, sizeof symbols / sizeof symbols[0]);
}

static yoke_status_t load(yoke_impl_runtime_t *runtime)
{
    yoke_library_t library;
    char *problem = NULL;
    bool found = false;
    if (!yoke_library_open("CNRT", libraries, &library, &problem, &found)) {
        yoke_status_t status =
            yoke_fail(found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND, "cambricon: %s",
                      problem != NULL ? problem : "libcnrt.so cannot be loaded");
        free(problem);
        return status;
    }
    const char *missing = resolve(&runtime->cnrt, &library);
    yoke_status_t status = YOKE_OK;
    if (missing != NULL)
        status = yoke_fail(YOKE_ERR_NOT_FOUND,
                           "cambricon: %s has no %s; CNRT 6 or later is needed",
                           library.path, missing);
    else
        runtime->library = strdup(library.path != NULL ? library.path : "");
    if (status == YOKE_OK && runtime->library == NULL)
        status = yoke_fail_memory();
    yoke_library_forget(&library);
    return status;
}

static yoke_status_t runtime_open(yoke_impl_runtime_t **out_runtime)
{
    yoke_impl_runtime_t *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL)
        return yoke_fail_memory();
    yoke_status_t status = load(runtime);
    if (status != YOKE_OK) {
        free(runtime);
        return status;
    }
    int major = 0, minor = 0, patch = 0;
    if (runtime->cnrt.version != NULL &&
        runtime->cnrt.version(&major, &minor, &patch) == YOKE_CNRT_SUCCESS)
        snprintf(runtime->version, sizeof runtime->version, "%d.%d.%d", major, minor,
                 patch);
    *out_runtime = runtime;
    return YOKE_OK;
}

/* --- devices
 * ----------------------------------------------------------------------------- */

static yoke_status_t device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    unsigned count = 0;
    int code = runtime->cnrt.device_count(&count);
    if (code == YOKE_CNRT_ERROR_NO_DEVICE) {
        runtime->cnrt.last_error();
        count = 0;
    } else if (code != YOKE_CNRT_SUCCESS) {
        return yoke_cambricon_check(runtime, "cnrtGetDeviceCount", code);
    }
    *out_count = count < YOKE_CAMBRICON_MAX_DEVICES ? count : YOKE_CAMBRICON_MAX_DEVICES;
    return YOKE_OK;
}

static bool attribute(yoke_impl_runtime_t *runtime, int which, int device, int *out_value)
{
    int value = 0;
    if (runtime->cnrt.attribute(&value, which, device) != YOKE_CNRT_SUCCESS) {
        runtime->cnrt.last_error();
        return false;
    }
    *out_value = value;
    return true;
}

static void fill_address(yoke_impl_runtime_t *runtime, int device, yoke_impl_info_t *info)
{
    int domain, bus, slot;
    if (!attribute(runtime, YOKE_CNRT_ATTRIBUTE_PCI_DOMAIN, device, &domain) ||
        !attribute(runtime, YOKE_CNRT_ATTRIBUTE_PCI_BUS, device, &bus) ||
        !attribute(runtime, YOKE_CNRT_ATTRIBUTE_PCI_DEVICE, device, &slot))
        return;
    info->pci.valid = true;
    info->pci.domain = (uint32_t)domain;
    info->pci.bus = (uint8_t)bus;
    info->pci.device = (uint8_t)slot;
    info->valid |= YOKE_INFO_PCI;
}

static void fill_properties(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                            yoke_impl_info_t *info)
{
    yoke_cnrt_properties_t properties;
    memset(&properties, 0, sizeof properties);
    if (runtime->cnrt.properties == NULL)
        return;
    if (runtime->cnrt.properties(&properties, (int)ordinal) != YOKE_CNRT_SUCCESS) {
        runtime->cnrt.last_error();
        return;
    }
    snprintf(runtime->names[ordinal], sizeof runtime->names[ordinal], "%.*s",
             (int)sizeof runtime->names[ordinal] - 1, properties.name);
    info->memory_total = properties.total_memory;
    if (properties.total_memory != 0)
        info->valid |= YOKE_INFO_MEMORY;
    static const char nothing[16];
    if (memcmp(properties.uuid, nothing, sizeof nothing) != 0) {
        memcpy(info->uuid, properties.uuid, sizeof info->uuid);
        info->valid |= YOKE_INFO_UUID;
    }
}

static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    int clusters = 0, cores = 0;
    if (ordinal >= YOKE_CAMBRICON_MAX_DEVICES)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND, "cambricon: no device %u",
                                      ordinal);
    fill_properties(runtime, ordinal, out_info);
    fill_address(runtime, (int)ordinal, out_info);
    if (runtime->names[ordinal][0] == '\0')
        snprintf(runtime->names[ordinal], sizeof runtime->names[ordinal], "MLU");
    out_info->name = runtime->names[ordinal];
    out_info->vendor = "cambricon";
    out_info->architecture = "";
    out_info->library = runtime->library;
    out_info->version = runtime->version;
    out_info->kind = YOKE_DEVICE_NPU;
    out_info->capabilities = YOKE_CAP_PINNED | YOKE_CAP_ADDRESS | YOKE_CAP_TIMING |
                             YOKE_CAP_WRAP | YOKE_CAP_FREE_MEMORY | YOKE_CAP_EXHAUSTS;
    if (runtime->cnrt.host_call != NULL)
        out_info->capabilities |= YOKE_CAP_HOST_CALL;
    if (runtime->cnrt.peer_query != NULL && runtime->cnrt.copy_peer_async != NULL)
        out_info->capabilities |= YOKE_CAP_PEER;
    if (runtime->cnrt.queue_create_priority != NULL &&
        runtime->cnrt.priority_range != NULL)
        out_info->capabilities |= YOKE_CAP_PRIORITY;
    if (attribute(runtime, YOKE_CNRT_ATTRIBUTE_CLUSTERS, (int)ordinal, &clusters) &&
        attribute(runtime, YOKE_CNRT_ATTRIBUTE_CORES_PER_CLUSTER, (int)ordinal, &cores) &&
        clusters > 0 && cores > 0)
        out_info->compute_units = (uint32_t)clusters * (uint32_t)cores;
    out_info->alignment = 1;
    out_info->dialect = YOKE_DIALECT_NONE;
    return YOKE_OK;
}

static yoke_status_t device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native,
                                 yoke_impl_device_t **out_device)
{
    (void)native; /* CNRT has one context a device */
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->runtime = runtime;
    device->ordinal = (int)ordinal;
    int code;
    YOKE_CAMBRICON_CALL(device, code, YOKE_CNRT_SUCCESS); /* does the device answer? */
    if (code != YOKE_CNRT_SUCCESS) {
        free(device);
        return yoke_cambricon_check(runtime, "cnrtSetDevice", code);
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
    YOKE_CAMBRICON_CALL(device, code,
                        device->runtime->cnrt.memory_info(&available, &total));
    if (code != YOKE_CNRT_SUCCESS)
        return yoke_cambricon_check(device->runtime, "cnrtMemGetInfo", code);
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
    out->context = NULL;
}

static yoke_status_t peer_query(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                bool *out_can)
{
    unsigned can = 0;
    int code = device->runtime->cnrt.peer_query(&can, device->ordinal, peer->ordinal);
    if (code != YOKE_CNRT_SUCCESS)
        return yoke_cambricon_check(device->runtime, "cnrtGetPeerAccessibility", code);
    *out_can = can == 1;
    return YOKE_OK;
}

/* --- buffers
 * ----------------------------------------------------------------------------- */

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

/* Also when the device cannot be made current any more. */
static void release(yoke_impl_device_t *device, void *address, bool host)
{
    const yoke_cnrt_t *cnrt = &device->runtime->cnrt;
    yoke_cambricon_scope_t scope;
    yoke_cambricon_enter(device, &scope);
    if (host)
        cnrt->release_host(address);
    else
        cnrt->release(address);
    cnrt->last_error(); /* a failure would stick */
    yoke_cambricon_leave(device, &scope);
}

static yoke_status_t no_shared_memory(void)
{
    /* cnrt.h knows the attribute cnrtAttrSupportManagedMem; no call to allocate any was
     * found. */
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                  "cambricon: no shared memory by CNRT");
}

static yoke_status_t buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    const yoke_cnrt_t *cnrt = &device->runtime->cnrt;
    bool host = kind == YOKE_MEMORY_HOST;
    void *address = NULL;
    int code;
    if (kind == YOKE_MEMORY_SHARED)
        return no_shared_memory();
    if (host)
        YOKE_CAMBRICON_CALL(device, code, cnrt->allocate_host(&address, size));
    else
        YOKE_CAMBRICON_CALL(device, code, cnrt->allocate(&address, size));
    if (code == YOKE_CNRT_SUCCESS && address == NULL)
        code = YOKE_CNRT_ERROR_NO_MEM;
    if (code != YOKE_CNRT_SUCCESS)
        return yoke_cambricon_check(device->runtime,
                                    host ? "cnrtHostMalloc" : "cnrtMalloc", code);
    yoke_status_t status = buffer_new(device, address, host, false, size, out_buffer);
    if (status != YOKE_OK)
        release(device, address, host);
    return status;
}

static yoke_status_t buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    if (kind == YOKE_MEMORY_SHARED)
        return no_shared_memory();
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
    return buffer->host ? NULL : buffer->address; /* cnrtHostMalloc: not mapped */
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
    yoke_cambricon_scope_t scope;
    int code = yoke_cambricon_enter(device, &scope);
    if (code != YOKE_CNRT_SUCCESS)
        return yoke_cambricon_check(device->runtime, "cnrtSetDevice", code);
    function(context);
    yoke_cambricon_leave(device, &scope);
    return YOKE_OK;
}

static void *queue_native(yoke_impl_queue_t *queue)
{
    return queue->queue;
}

static void *event_native(yoke_impl_event_t *event)
{
    return event->notifier;
}

const yoke_backend_ops_t yoke_cambricon_ops = {
    .struct_size = sizeof(yoke_backend_ops_t),
    .abi_major = YOKE_BACKEND_ABI_MAJOR,
    .abi_minor = YOKE_BACKEND_ABI_MINOR,
    .name = "cambricon",
    .runtime_open = runtime_open,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .memory_info = memory_info,
    .error_name = yoke_cnrt_error_name,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_address = buffer_address,
    .buffer_host_address = buffer_host_address,
    .queue_create = yoke_cambricon_queue_create,
    .queue_destroy = yoke_cambricon_queue_destroy,
    .queue_sync = yoke_cambricon_queue_sync,
    .queue_query = yoke_cambricon_queue_query,
    .copy = yoke_cambricon_copy,
    .write = yoke_cambricon_write,
    .read = yoke_cambricon_read,
    .fill = yoke_cambricon_fill,
    .host_call = yoke_cambricon_host_call,
    .event_create = yoke_cambricon_event_create,
    .event_destroy = yoke_cambricon_event_destroy,
    .event_record = yoke_cambricon_event_record,
    .event_query = yoke_cambricon_event_query,
    .event_sync = yoke_cambricon_event_sync,
    .queue_wait = yoke_cambricon_queue_wait,
    .event_elapsed = yoke_cambricon_event_elapsed,
    .peer_query = peer_query,
    .device_find = device_find,
    .queue_wrap = yoke_cambricon_queue_wrap,
    .event_wrap = yoke_cambricon_event_wrap,
    .buffer_wrap = buffer_wrap,
    .device_native = device_native,
    .queue_native = queue_native,
    .event_native = event_native,
    .buffer_native = buffer_native,
    .with_current = with_current,
};
