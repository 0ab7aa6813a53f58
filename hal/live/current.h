/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_CURRENT_H
#define YOKE_HAL_LIVE_CURRENT_H

#include "yoke/device.h"

/** Call `function` on this thread with the device current, where its runtime has such a
 *  thing; what was current before is so again. For libraries of the vendor that look at
 *  the current device. Threads: any. */
yoke_status_t yoke_device_call(yoke_device_t *device, void (*function)(void *context),
                               void *context);

#endif
