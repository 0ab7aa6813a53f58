/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_LEVEL_ZERO_QUEUE_H
#define YOKE_TESTS_FAKES_LEVEL_ZERO_QUEUE_H

/* Command lists, and how commands get into them. */

#include "driver.h"

typedef struct list {
    fake_handle_t handle;
    device_t *device;
    uint32_t ordinal;
    bool closed, immediate, synchronous;
    command_t *first, **last; /* not of an immediate list */
    engine_t engine;          /* of an immediate list */
} list_t;

/* A list that takes commands. */
ze_result_t list_enter(ze_command_list_handle_t handle, list_t **out_list);
/* Takes the command. */
ze_result_t list_append(list_t *list, command_t *command, ze_event_handle_t signal,
                        uint32_t count, const ze_event_handle_t *waits);

#endif
