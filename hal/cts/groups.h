/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_GROUPS_H
#define YOKE_HAL_CTS_GROUPS_H

#include "hal/cts/case.h"

/* All files of cases, in the order of a run; ends with NULL (groups.c). */
extern const yoke_cts_group_t *const yoke_cts_groups[];

#endif
