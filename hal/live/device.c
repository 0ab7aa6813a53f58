/* SPDX-License-Identifier: Apache-2.0 */
/* Opening devices, and what they say of themselves. */
#include "hal/live/device.h"
#include "hal/live/current.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/live/layers.h"

/* --- capabilities --------------------------------------------------------------------
 */

/* A bit stands only where the slots behind it do. */
static uint64_t honest_capabilities(const yoke_backend_ops_t *ops,
                                    const yoke_impl_info_t *info)
{
    uint64_t bits = info->capabilities;
    bool program = ops->program_create != NULL && ops->program_destroy != NULL &&
                   ops->kernel_create != NULL && ops->kernel_destroy != NULL &&
                   ops->launch != NULL;
    if (!program)
        bits &= ~(YOKE_CAP_SOURCE | YOKE_CAP_NATIVE_SOURCE | YOKE_CAP_BINARY |
                  YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64);
    if (info->dialect == YOKE_DIALECT_NONE)
        bits &= ~YOKE_CAP_SOURCE;
    if (ops->buffer_host_address == NULL)
        bits &= ~(YOKE_CAP_PINNED | YOKE_CAP_SHARED);
    if (ops->buffer_address == NULL)
        bits &= ~YOKE_CAP_ADDRESS;
    if (ops->peer_query == NULL || ops->peer_enable == NULL)
        bits &= ~YOKE_CAP_PEER;
    if (ops->event_elapsed == NULL)
        bits &= ~YOKE_CAP_TIMING;
    if (ops->gate_create == NULL || ops->gate_destroy == NULL || ops->gate_wait == NULL ||
        ops->gate_open == NULL || ops->gate_reset == NULL)
        bits &= ~YOKE_CAP_GATE;
    if (ops->host_call == NULL)
        bits &= ~YOKE_CAP_HOST_CALL;
    if (ops->queue_wrap == NULL && ops->event_wrap == NULL && ops->buffer_wrap == NULL)
        bits &= ~YOKE_CAP_WRAP;
    if (ops->gemm == NULL)
        bits &= ~YOKE_CAP_GEMM;
    if (ops->memory_info == NULL)
        bits &= ~YOKE_CAP_FREE_MEMORY;
    return bits;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static void take_info(yoke_device_t *device, uint32_t ordinal,
                      const yoke_impl_info_t *from)
{
    yoke_device_info_t *info = &device->info;
    *info = (yoke_device_info_t){
        .struct_size = sizeof *info,
        .backend = device->runtime->name,
        .name = or_empty(from->name),
        .vendor = or_empty(from->vendor),
        .architecture = or_empty(from->architecture),
        .library = or_empty(from->library),
        .version = or_empty(from->version),
        .ordinal = ordinal,
        .valid = from->valid,
        .kind = (yoke_device_kind_t)from->kind,
        .pci = from->pci,
        .memory_total = from->memory_total,
        .capabilities = honest_capabilities(device->object.ops, from),
        .compute_units = from->compute_units,
        .subgroup = from->subgroup > 0 ? from->subgroup : 1,
        .max_group = from->max_group,
        .max_groups = {from->max_groups[0], from->max_groups[1], from->max_groups[2]},
        .local_memory = from->local_memory,
        .alignment = from->alignment > 0 ? from->alignment : 1,
    };
    memcpy(info->uuid, from->uuid, sizeof info->uuid);
    device->dialect = (yoke_dialect_t)from->dialect;
    snprintf(device->label, sizeof device->label, "%s:%u", info->backend, ordinal);
}

yoke_status_t yoke_runtime_device_info(yoke_runtime_t *runtime, uint32_t ordinal,
                                       yoke_impl_info_t *out_info)
{
    memset(out_info, 0, sizeof *out_info);
    out_info->struct_size = sizeof *out_info;
    return runtime->ops.device_info(runtime->impl, ordinal, out_info);
}

/* --- opening -------------------------------------------------------------------------
 */

static yoke_status_t take_allocator(yoke_device_t *device,
                                    const yoke_allocator_t *allocator)
{
    if (allocator == NULL)
        return YOKE_OK;
    yoke_status_t status = yoke_options_take(&device->allocator, sizeof device->allocator,
                                             allocator, "yoke_device_open");
    if (status != YOKE_OK)
        return status;
    if (device->allocator.allocate == NULL || device->allocator.release == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_device_open: the allocator lacks a function");
    if ((device->info.capabilities & YOKE_CAP_ADDRESS) == 0 ||
        device->object.ops->buffer_wrap == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: buffers have no address here, so that an allocator cannot "
                         "serve them",
                         device->label);
    device->has_allocator = true;
    return YOKE_OK;
}

static yoke_status_t describe(yoke_device_t *device, uint32_t ordinal,
                              const yoke_device_options_t *options)
{
    yoke_impl_info_t info;
    yoke_status_t status = yoke_runtime_device_info(device->runtime, ordinal, &info);
    if (status != YOKE_OK)
        return status;
    take_info(device, ordinal, &info);
    device->account = yoke_runtime_account(device->runtime, ordinal);
    if (device->account == NULL)
        return YOKE_ERR_NO_MEMORY;
    if ((device->info.capabilities & YOKE_CAP_EXHAUSTS) == 0)
        atomic_init(&device->limit, device->info.memory_total);
    return take_allocator(device, options->allocator);
}

yoke_status_t yoke_device_open_ordinal(yoke_runtime_t *runtime, uint32_t ordinal,
                                       const yoke_native_t *native,
                                       const yoke_device_options_t *options,
                                       yoke_device_t **out_device)
{
    yoke_device_options_t chosen = YOKE_DEVICE_OPTIONS_INIT;
    yoke_status_t status =
        yoke_options_take(&chosen, sizeof chosen, options, "yoke_device_open");
    if (status != YOKE_OK)
        return status;
    yoke_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->runtime = runtime;
    device->object.ops = &runtime->ops;
    device->object.kind = YOKE_OBJECT_DEVICE;
    device->object.device = device;
    atomic_init(&device->holds, 1);
    atomic_init(&device->object.flags, yoke_layers_flags(chosen.layers));
    status = describe(device, ordinal, &chosen);
    if (status == YOKE_OK)
        status = runtime->ops.device_open(runtime->impl, ordinal, native,
                                          &device->object.impl.device);
    if (status != YOKE_OK) {
        if (device->label[0] != '\0')
            yoke_fail_at(device->label);
        free(device);
        return status;
    }
    pthread_mutex_init(&device->lock, NULL);
    *out_device = device;
    return YOKE_OK;
}

yoke_status_t yoke_device_open(const char *name, const yoke_device_options_t *options,
                               yoke_device_t **out_device)
{
    if (name == NULL || out_device == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_device_open: %s is NULL",
                         name == NULL ? "the name" : "the output");
    size_t size = strcspn(name, ":");
    yoke_runtime_t *runtime = NULL;
    uint32_t ordinal = 0;
    yoke_device_name_t parsed;
    yoke_status_t status = yoke_device_name_parse(name, &parsed);
    if (status == YOKE_OK)
        status = yoke_registry_open(name, size, &runtime);
    if (status == YOKE_OK)
        status = yoke_device_name_find(runtime, &parsed, name, &ordinal);
    if (status == YOKE_OK)
        status = yoke_device_open_ordinal(runtime, ordinal, NULL, options, out_device);
    return status;
}

void yoke_device_close(yoke_device_t *device)
{
    static const char call[] = "yoke_device_close";
    if (!yoke_object_endable(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call))
        return;
    if (atomic_exchange(&device->closed, true))
        yoke_fail(YOKE_ERR_USAGE, "%s: %s was closed before by this handle", call,
                  device->label);
    else
        yoke_device_release(device);
}

yoke_status_t yoke_device_count(const char *backend, uint32_t *out_count)
{
    if (backend == NULL || out_count == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_device_count: %s is NULL",
                         backend == NULL ? "the backend" : "the output");
    yoke_runtime_t *runtime = NULL;
    uint32_t count = 0;
    yoke_status_t status = yoke_registry_open(backend, strlen(backend), &runtime);
    if (status == YOKE_OK)
        status = runtime->ops.device_count(runtime->impl, &count);
    if (status == YOKE_OK)
        *out_count = count;
    return status;
}

/* --- queries -------------------------------------------------------------------------
 */

yoke_status_t yoke_device_info(const yoke_device_t *device, yoke_device_info_t *info)
{
    yoke_status_t status = yoke_object_check_alive(
        YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, "yoke_device_info");
    if (status != YOKE_OK)
        return status;
    if (info == NULL || info->struct_size < sizeof(size_t))
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_device_info: set info->struct_size to its sizeof");
    size_t size = info->struct_size;
    memcpy(info, &device->info, size < sizeof *info ? size : sizeof *info);
    info->struct_size = size;
    return YOKE_OK;
}

yoke_status_t yoke_device_memory(yoke_device_t *device, uint64_t *out_free,
                                 uint64_t *out_total)
{
    uint64_t total = 0, available = 0;
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, "yoke_device_memory");
    if (status != YOKE_OK)
        return status;
    if ((device->info.capabilities & YOKE_CAP_FREE_MEMORY) != 0) {
        status = yoke_device_answer(
            device, device->object.ops->memory_info(device->object.impl.device,
                                                    &available, &total));
    } else {
        uint64_t used = yoke_account_used(device);
        total = device->info.memory_total;
        available = total > used ? total - used : 0;
    }
    if (status == YOKE_OK && out_free != NULL)
        *out_free = available;
    if (status == YOKE_OK && out_total != NULL)
        *out_total = total;
    return status;
}

yoke_status_t yoke_device_limit_memory(yoke_device_t *device, uint64_t bytes)
{
    yoke_status_t status = yoke_object_check_alive(
        YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, "yoke_device_limit_memory");
    if (status == YOKE_OK)
        atomic_store(&device->limit, bytes);
    return status;
}

yoke_status_t yoke_device_status(const yoke_device_t *device)
{
    return yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE,
                             "yoke_device_status");
}

/* --- peers ---------------------------------------------------------------------------
 */

yoke_status_t yoke_device_can_reach(yoke_device_t *device, yoke_device_t *peer,
                                    bool *out_can)
{
    static const char call[] = "yoke_device_can_reach";
    bool can = false;
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK)
        status = yoke_object_check(YOKE_OBJECT(peer), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_can == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    if (status != YOKE_OK)
        return status;
    if (yoke_device_same(device, peer))
        can = true;
    else if (device->runtime == peer->runtime &&
             (device->info.capabilities & YOKE_CAP_PEER) != 0)
        status = yoke_device_answer(
            device, device->object.ops->peer_query(device->object.impl.device,
                                                   peer->object.impl.device, &can));
    if (status == YOKE_OK)
        *out_can = can;
    return status;
}

static yoke_status_t enable_peer(yoke_device_t *device, yoke_device_t *peer)
{
    bool can = false;
    yoke_status_t status = device->object.ops->peer_query(device->object.impl.device,
                                                          peer->object.impl.device, &can);
    if (status == YOKE_OK && !can)
        return yoke_fail(YOKE_ERR_UNREACHABLE,
                         "%s does not reach the memory of %s: use a transfer",
                         device->label, peer->label);
    if (status == YOKE_OK)
        status = device->object.ops->peer_enable(device->object.impl.device,
                                                 peer->object.impl.device);
    return status;
}

yoke_status_t yoke_device_reach(yoke_device_t *device, yoke_device_t *peer)
{
    uint64_t bit = peer->info.ordinal < 64 ? 1ull << peer->info.ordinal : 0;
    if (device->runtime != peer->runtime)
        return yoke_fail(YOKE_ERR_UNREACHABLE,
                         "%s does not reach the memory of %s: use a transfer",
                         device->label, peer->label);
    if (yoke_device_same(device, peer) ||
        (atomic_load_explicit(&device->peers_enabled, memory_order_acquire) & bit) != 0)
        return YOKE_OK;
    if ((device->info.capabilities & YOKE_CAP_PEER) == 0)
        return yoke_fail(YOKE_ERR_UNREACHABLE,
                         "%s: copies between devices of this runtime are not possible "
                         "here (to %s): use a transfer",
                         device->label, peer->label);
    pthread_mutex_lock(&device->lock);
    yoke_status_t status = enable_peer(device, peer);
    if (status == YOKE_OK)
        atomic_fetch_or_explicit(&device->peers_enabled, bit, memory_order_release);
    pthread_mutex_unlock(&device->lock);
    return yoke_device_answer(device, status);
}

yoke_status_t yoke_device_call(yoke_device_t *device, void (*function)(void *context),
                               void *context)
{
    if (device->object.ops->with_current != NULL)
        return device->object.ops->with_current(device->object.impl.device, function,
                                                context);
    function(context);
    return YOKE_OK;
}
