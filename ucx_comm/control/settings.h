/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SETTINGS_H
#define YOKE_COMM_SETTINGS_H

/* What the options and the environment say of the control plane, checked. */

#include "ucx_comm/control/control.h"

typedef struct yoke_control_settings {
    uint32_t timeout_ms;       /* of a call */
    uint32_t setup_timeout_ms; /* of making a communicator */
    uint32_t silence_ms;       /* a rank that is not heard for so long has failed */
    char interface[64];        /* "": any */
} yoke_control_settings_t;

/* @retval YOKE_ERR_BAD_INPUT  a variable with its value, and what would be right */
yoke_status_t yoke_control_settings_read(const yoke_comm_options_t *options,
                                         yoke_control_settings_t *out_settings);

/* Milliseconds of CLOCK_MONOTONIC; deadlines are such numbers. */
int64_t yoke_clock_ms(void);

#endif
