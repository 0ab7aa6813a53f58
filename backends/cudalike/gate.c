/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates: a stream waits for the host.
 *
 *   wait value   where the device says that it can (CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_
 *                STREAM_MEM_OPS, hipDeviceAttributeCanUseStreamWaitValue): the stream
 *                itself waits until a word of pinned memory is at least 1; no thread is
 *                held up. HIP wants the word in signal memory of 8 bytes, which the host
 *                can write (hip_runtime_api.h 5.2, hipStreamWaitValue32; ROCm/clr
 *                hip_memory.cpp; HIP's own test hipStreamValue.cc). Some devices say that
 *                they can wait and have no such memory: they have no gates then.
 *
 * Not by a host function that sleeps: "host functions ... may be serialized" (CUDA driver
 * API, cuLaunchHostFunc), so that one held at a gate may hold up what is to open it.
 */
#include "backends/cudalike/internal.h"

#include <stdlib.h>

#include "base/error.h"

/* CU_STREAM_WAIT_VALUE_GEQ (cuda.h), hipStreamWaitValueGte (hip_runtime_api.h) */
#define WAIT_AT_LEAST 0u

struct yoke_impl_gate {
    yoke_impl_device_t *device;
    atomic_uint *word; /* of the gate itself, or the vendor's memory */
    yoke_cudalike_address_t address;
    void *memory;
    bool signal_memory;
};

static yoke_status_t make_signal(yoke_impl_gate_t *gate)
{
    yoke_impl_device_t *device = gate->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_cudalike_scope_t scope;
    int code = yoke_cudalike_enter(device, &scope);
    if (code != 0)
        return yoke_cudalike_fail(device->runtime, scope.slot, code);
    code =
        api->signal_allocate(&gate->memory, 8, (unsigned)device->flavour->signal_flags);
    yoke_cudalike_leave(&scope);
    if (code == 0 && gate->memory != NULL)
        return YOKE_OK;
    gate->memory = NULL;
    if (yoke_cudalike_status(code) == YOKE_ERR_DEVICE_LOST)
        return yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(signal_allocate),
                                  code);
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "%s:%u has no memory for gates",
                                  device->flavour->ops->name, device->ordinal);
}

static yoke_status_t make_pinned(yoke_impl_gate_t *gate)
{
    yoke_impl_device_t *device = gate->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_cudalike_address_t address = 0;
    yoke_cudalike_scope_t scope;
    yoke_status_t status;
    YOKE_CUDALIKE_CALL(
        device, false, host_allocate,
        api->host_allocate(&gate->memory, 64, (unsigned)device->flavour->host_flags),
        status);
    if (status != YOKE_OK)
        return status;
    if (gate->memory == NULL)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s:%u gave no memory for a gate",
                                      device->flavour->ops->name, device->ordinal);
    gate->address = (yoke_cudalike_address_t)gate->memory;
    if (api->host_device_address != NULL && yoke_cudalike_enter(device, &scope) == 0) {
        if (api->host_device_address(&address, gate->memory, 0) == 0 && address != 0)
            gate->address = address;
        yoke_cudalike_leave(&scope);
    }
    return YOKE_OK;
}

static yoke_status_t make_word(yoke_impl_gate_t *gate)
{
    gate->signal_memory = gate->device->api->wait_value == NULL;
    yoke_status_t status = gate->signal_memory ? make_signal(gate) : make_pinned(gate);
    if (status != YOKE_OK)
        return status;
    gate->word = gate->memory;
    if (gate->signal_memory)
        gate->address = (yoke_cudalike_address_t)gate->memory;
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_gate_create(yoke_impl_device_t *device,
                                        yoke_impl_gate_t **out_gate)
{
    if (!device->wait_value)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "%s: a queue cannot wait for the host here",
                                      device->flavour->ops->name);
    yoke_impl_gate_t *gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return yoke_fail_memory();
    gate->device = device;
    yoke_status_t status = make_word(gate);
    if (status != YOKE_OK) {
        free(gate);
        return status;
    }
    atomic_store(gate->word, 0);
    *out_gate = gate;
    return YOKE_OK;
}

void yoke_cudalike_gate_destroy(yoke_impl_gate_t *gate)
{
    yoke_cudalike_scope_t scope;
    if (gate->memory != NULL && yoke_cudalike_enter(gate->device, &scope) == 0) {
        const yoke_cudalike_api_t *api = gate->device->api;
        if (gate->signal_memory)
            (void)api->release((yoke_cudalike_address_t)gate->memory);
        else
            (void)api->host_release(gate->memory);
        yoke_cudalike_leave(&scope);
    }
    free(gate);
}

yoke_status_t yoke_cudalike_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate)
{
    yoke_impl_device_t *device = queue->device;
    const yoke_cudalike_api_t *api = device->api;
    yoke_status_t status;
    if (gate->signal_memory)
        YOKE_CUDALIKE_CALL(device, queue->pinned, wait_value_masked,
                           api->wait_value_masked(queue->stream, gate->address, 1,
                                                  WAIT_AT_LEAST, UINT32_MAX),
                           status);
    else
        YOKE_CUDALIKE_CALL(
            device, queue->pinned, wait_value,
            api->wait_value(queue->stream, gate->address, 1, WAIT_AT_LEAST), status);
    return status;
}

yoke_status_t yoke_cudalike_gate_open(yoke_impl_gate_t *gate)
{
    atomic_store_explicit(gate->word, 1, memory_order_release);
    return YOKE_OK;
}

yoke_status_t yoke_cudalike_gate_reset(yoke_impl_gate_t *gate)
{
    atomic_store_explicit(gate->word, 0, memory_order_release);
    return YOKE_OK;
}
