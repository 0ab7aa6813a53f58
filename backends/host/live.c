/* SPDX-License-Identifier: Apache-2.0 */
/* The device and its buffers; the table of the host's functions. */
#include "backends/host/host.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "hal/probe/sysfs.h"
#include "inventory/document.h"

/* What it tells of itself lives as long as the process. */
struct yoke_impl_runtime {
    char *name, *vendor, version[sizeof((struct utsname *)0)->release];
    char architecture[sizeof((struct utsname *)0)->machine];
    uint64_t memory;
    uint32_t cores;
};

static yoke_impl_runtime_t the_runtime;

/* --- runtime and device ------------------------------------------------------------- */

static void read_machine(yoke_impl_runtime_t *runtime)
{
    yoke_node_t node = {0};
    yoke_records_t records = {0};
    yoke_host_memory_t memory;
    struct utsname uts;
    if (yoke_sysfs_host("", &node, &records, &memory) == YOKE_OK && records.count > 0) {
        yoke_record_t *record = &records.items[0];
        runtime->name = record->name;
        runtime->vendor = record->vendor;
        record->name = record->vendor = NULL;
        if (yoke_known(&record->memory_usable))
            runtime->memory = (uint64_t)record->memory_usable.value;
    }
    yoke_records_free(&records);
    yoke_node_clear(&node);
    if (uname(&uts) == 0) {
        memcpy(runtime->version, uts.release, sizeof runtime->version);
        memcpy(runtime->architecture, uts.machine, sizeof runtime->architecture);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    runtime->cores = cores > 0 ? (uint32_t)cores : 1;
}

static yoke_status_t runtime_open(yoke_impl_runtime_t **out_runtime)
{
    read_machine(&the_runtime);
    *out_runtime = &the_runtime;
    return YOKE_OK;
}

static yoke_status_t device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    (void)runtime;
    *out_count = 1;
    return YOKE_OK;
}

static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    (void)ordinal;
    out_info->name = runtime->name != NULL ? runtime->name : "host processor";
    out_info->vendor = runtime->vendor != NULL ? runtime->vendor : "";
    out_info->architecture = runtime->architecture;
    out_info->library = "";
    out_info->version = runtime->version;
    out_info->kind = YOKE_DEVICE_CPU;
    if (runtime->memory != 0) {
        out_info->valid = YOKE_INFO_MEMORY;
        out_info->memory_total = runtime->memory;
    }
    out_info->capabilities = YOKE_CAP_PINNED | YOKE_CAP_SHARED | YOKE_CAP_ADDRESS |
                             YOKE_CAP_TIMING | YOKE_CAP_GATE | YOKE_CAP_HOST_CALL |
                             YOKE_CAP_WRAP | YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64 |
                             YOKE_CAP_GEMM | YOKE_CAP_BINARY;
    char *compiler = yoke_host_compiler();
    if (compiler != NULL)
        out_info->capabilities |= YOKE_CAP_SOURCE | YOKE_CAP_NATIVE_SOURCE;
    else
        yoke_info("host: no C compiler (cc, gcc or clang) in $PATH: programs cannot be "
                  "compiled; install one or set YOKE_HOST_CC");
    free(compiler);
    out_info->compute_units = runtime->cores;
    out_info->subgroup = 1;
    out_info->max_group = YOKE_HOST_MAX_GROUP;
    for (int d = 0; d < 3; d++)
        out_info->max_groups[d] = INT_MAX;
    out_info->local_memory = YOKE_HOST_LOCAL_MEMORY;
    out_info->alignment = 1;
    out_info->dialect = YOKE_DIALECT_HOST;
    return YOKE_OK;
}

static yoke_status_t device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native,
                                 yoke_impl_device_t **out_device)
{
    (void)ordinal;
    (void)native;
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "no memory for a device");
    device->runtime = runtime;
    *out_device = device;
    return YOKE_OK;
}

static void device_close(yoke_impl_device_t *device)
{
    free(device);
}

static yoke_status_t device_find(yoke_impl_runtime_t *runtime,
                                 const yoke_native_t *native, uint32_t *out_ordinal)
{
    (void)runtime;
    if (native->handle != NULL)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                      "the host is device 0 and has no other");
    *out_ordinal = 0;
    return YOKE_OK;
}

static void device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    (void)device;
    out->handle = NULL;
    out->context = NULL;
}

/* There is no vendor here, so no codes. */
static const char *error_name(int64_t code)
{
    (void)code;
    return NULL;
}

/* --- buffers ------------------------------------------------------------------------ */

static yoke_status_t buffer_make(void *address, uint64_t size, bool wrapped,
                                 yoke_impl_buffer_t **out_buffer)
{
    yoke_impl_buffer_t *buffer = malloc(sizeof *buffer);
    if (buffer == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "no memory for a buffer");
    buffer->address = address;
    buffer->size = size;
    buffer->wrapped = wrapped;
    *out_buffer = buffer;
    return YOKE_OK;
}

static yoke_status_t buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    (void)device;
    (void)kind; /* all memory is the host's */
    uint64_t whole = size + (YOKE_HOST_ALIGNMENT - size % YOKE_HOST_ALIGNMENT);
    void *address = whole < size || whole > PTRDIFF_MAX
                        ? NULL
                        : aligned_alloc(YOKE_HOST_ALIGNMENT, whole);
    if (address == NULL)
        return yoke_backend_fail_text(YOKE_ERR_DEVICE_MEMORY,
                                      "the host has no %llu bytes of memory",
                                      (unsigned long long)size);
    yoke_status_t status = buffer_make(address, size, false, out_buffer);
    if (status != YOKE_OK)
        free(address);
    return status;
}

static yoke_status_t buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    (void)device;
    (void)kind;
    return buffer_make(handle, size, true, out_buffer);
}

static void buffer_destroy(yoke_impl_buffer_t *buffer)
{
    if (!buffer->wrapped)
        free(buffer->address);
    free(buffer);
}

static void *buffer_address(yoke_impl_buffer_t *buffer)
{
    return buffer->address;
}

/* --- what has no handle ------------------------------------------------------------- */

static yoke_status_t queue_wrap(yoke_impl_device_t *device, void *handle,
                                yoke_impl_queue_t **out_queue)
{
    (void)device;
    (void)handle;
    (void)out_queue;
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                  "the host has no native queues; make one with "
                                  "yoke_queue_create()");
}

static yoke_status_t event_wrap(yoke_impl_device_t *device, void *handle,
                                yoke_impl_event_t **out_event)
{
    (void)device;
    (void)handle;
    (void)out_event;
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                  "the host has no native events; make one with "
                                  "yoke_event_create()");
}

const yoke_backend_ops_t yoke_host_ops = {
    .struct_size = sizeof(yoke_backend_ops_t),
    .abi_major = YOKE_BACKEND_ABI_MAJOR,
    .abi_minor = YOKE_BACKEND_ABI_MINOR,
    .name = "host",
    .runtime_open = runtime_open,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .error_name = error_name,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_address = buffer_address,
    .buffer_host_address = buffer_address,
    .queue_create = yoke_host_queue_create,
    .queue_destroy = yoke_host_queue_destroy,
    .queue_sync = yoke_host_queue_sync,
    .queue_query = yoke_host_queue_query,
    .copy = yoke_host_copy,
    .write = yoke_host_write,
    .read = yoke_host_read,
    .fill = yoke_host_fill,
    .host_call = yoke_host_call,
    .event_create = yoke_host_event_create,
    .event_destroy = yoke_host_event_destroy,
    .event_record = yoke_host_event_record,
    .event_query = yoke_host_event_query,
    .event_sync = yoke_host_event_sync,
    .queue_wait = yoke_host_queue_wait,
    .event_elapsed = yoke_host_event_elapsed,
    .gate_create = yoke_host_gate_create,
    .gate_destroy = yoke_host_gate_destroy,
    .gate_wait = yoke_host_gate_wait,
    .gate_open = yoke_host_gate_open,
    .gate_reset = yoke_host_gate_reset,
    .program_create = yoke_host_program_create,
    .program_destroy = yoke_host_program_destroy,
    .program_binary = yoke_host_program_binary,
    .compiler_version = yoke_host_compiler_version,
    .kernel_create = yoke_host_kernel_create,
    .kernel_destroy = yoke_host_kernel_destroy,
    .launch = yoke_host_launch,
    .device_find = device_find,
    .queue_wrap = queue_wrap,
    .event_wrap = event_wrap,
    .buffer_wrap = buffer_wrap,
    .device_native = device_native,
    .buffer_native = buffer_address,
    .gemm = yoke_host_gemm,
    .gemm_library = yoke_host_gemm_library,
    .prepared_create = yoke_host_prepared_create,
    .prepared_destroy = yoke_host_prepared_destroy,
    .prepared_argument = yoke_host_prepared_argument,
    .prepared_geometry = yoke_host_prepared_geometry,
    .prepared_launch = yoke_host_prepared_launch,
};
