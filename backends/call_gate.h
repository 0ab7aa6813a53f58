/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CALL_GATE_H
#define YOKE_BACKENDS_CALL_GATE_H

/*
 * Gates of runtimes that can do nothing but call a host function in a queue: the function
 * sleeps until the gate opens. The slots of the table fit as they are; gate_wait is a
 * host call of yoke_call_gate_hold() with the gate.
 */

#include "yoke/backend.h"

yoke_status_t yoke_call_gate_create(yoke_impl_device_t *device,
                                    yoke_impl_gate_t **out_gate);
void yoke_call_gate_destroy(yoke_impl_gate_t *gate);
yoke_status_t yoke_call_gate_open(yoke_impl_gate_t *gate);
yoke_status_t yoke_call_gate_reset(yoke_impl_gate_t *gate);
/* The host function; `gate` is a yoke_impl_gate_t. */
void yoke_call_gate_hold(void *gate);

#endif
