/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/live/gate.h"

#include <stdlib.h>

#include "base/error.h"
#include "hal/live/object.h"

struct yoke_gate {
    yoke_device_t *device;
    yoke_impl_gate_t *impl;
};

yoke_status_t yoke_gate_create(yoke_device_t *device, yoke_gate_t **out_gate)
{
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, "yoke_gate_create");
    if (status != YOKE_OK)
        return status;
    if ((device->info.capabilities & YOKE_CAP_GATE) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s has no gates", device->label);
    yoke_gate_t *gate = malloc(sizeof *gate);
    if (gate == NULL)
        return yoke_fail_memory();
    status = yoke_device_answer(
        device, device->object.ops->gate_create(device->object.impl.device, &gate->impl));
    if (status != YOKE_OK) {
        free(gate);
        return status;
    }
    yoke_device_retain(device);
    gate->device = device;
    *out_gate = gate;
    return YOKE_OK;
}

void yoke_gate_destroy(yoke_gate_t *gate)
{
    if (gate == NULL)
        return;
    gate->device->object.ops->gate_destroy(gate->impl);
    yoke_device_release(gate->device);
    free(gate);
}

yoke_status_t yoke_gate_wait(yoke_queue_t *queue, yoke_gate_t *gate)
{
    return yoke_device_answer(gate->device, gate->device->object.ops->gate_wait(
                                                queue->object.impl.queue, gate->impl));
}

yoke_status_t yoke_gate_open(yoke_gate_t *gate)
{
    return yoke_device_answer(gate->device,
                              gate->device->object.ops->gate_open(gate->impl));
}

yoke_status_t yoke_gate_reset(yoke_gate_t *gate)
{
    return yoke_device_answer(gate->device,
                              gate->device->object.ops->gate_reset(gate->impl));
}
