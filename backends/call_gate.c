/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/call_gate.h"

#include <pthread.h>
#include <stdlib.h>

struct yoke_impl_gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
};

yoke_status_t yoke_call_gate_create(yoke_impl_device_t *device,
                                    yoke_impl_gate_t **out_gate)
{
    (void)device;
    yoke_impl_gate_t *gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return yoke_backend_fail_text(YOKE_ERR_NO_MEMORY, "out of host memory");
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->opened, NULL);
    *out_gate = gate;
    return YOKE_OK;
}

void yoke_call_gate_destroy(yoke_impl_gate_t *gate)
{
    pthread_cond_destroy(&gate->opened);
    pthread_mutex_destroy(&gate->mutex);
    free(gate);
}

void yoke_call_gate_hold(void *context)
{
    yoke_impl_gate_t *gate = context;
    pthread_mutex_lock(&gate->mutex);
    while (!gate->open)
        pthread_cond_wait(&gate->opened, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

yoke_status_t yoke_call_gate_open(yoke_impl_gate_t *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->mutex);
    return YOKE_OK;
}

yoke_status_t yoke_call_gate_reset(yoke_impl_gate_t *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->open = false;
    pthread_mutex_unlock(&gate->mutex);
    return YOKE_OK;
}
