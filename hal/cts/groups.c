/* SPDX-License-Identifier: Apache-2.0 */
/* All files of cases, in the order of a run. */
#include "hal/cts/groups.h"

extern const yoke_cts_group_t yoke_cts_group_device, yoke_cts_group_buffer,
    yoke_cts_group_queue, yoke_cts_group_order, yoke_cts_group_event,
    yoke_cts_group_dialect, yoke_cts_group_launch, yoke_cts_group_prepared,
    yoke_cts_group_program, yoke_cts_group_adopt, yoke_cts_group_dlpack,
    yoke_cts_group_operators, yoke_cts_group_pool, yoke_cts_group_transfer,
    yoke_cts_group_validate, yoke_cts_group_error, yoke_cts_group_thread,
    yoke_cts_group_lost, yoke_cts_group_layers;

const yoke_cts_group_t *const yoke_cts_groups[] = {
    &yoke_cts_group_device,    &yoke_cts_group_buffer,
    &yoke_cts_group_queue,     &yoke_cts_group_order,
    &yoke_cts_group_event,     &yoke_cts_group_dialect,
    &yoke_cts_group_launch,    &yoke_cts_group_prepared,
    &yoke_cts_group_program,   &yoke_cts_group_adopt,
    &yoke_cts_group_dlpack,    &yoke_cts_group_thread,
    &yoke_cts_group_operators, &yoke_cts_group_layers,
    &yoke_cts_group_pool,      &yoke_cts_group_transfer,
    &yoke_cts_group_validate,  &yoke_cts_group_error,
    &yoke_cts_group_lost,      NULL,
};
