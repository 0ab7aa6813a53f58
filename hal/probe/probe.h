/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_PROBE_H
#define YOKE_HAL_PROBE_H

/* What probe and measure share. */

#include "yoke/probe.h"

/* Options with environment and defaults filled in; borrowed strings. */
typedef struct yoke_probe_settings {
    const char *sysroot;  /* "" for the running machine */
    const char *backends; /* NULL: all */
    double timeout;
} yoke_probe_settings_t;

yoke_status_t yoke_probe_settings(const yoke_probe_options_t *options,
                                  yoke_probe_settings_t *out_settings);

#endif
