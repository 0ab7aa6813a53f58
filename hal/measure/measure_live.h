/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_MEASURE_LIVE_H
#define YOKE_HAL_MEASURE_LIVE_H

/* What the timings through live backends share. */

#include "hal/measure/measure.h"
#include "yoke/queue.h"

typedef struct yoke_live {
    int fd;
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_device_info_t info;
    uint64_t limit; /* bytes of one buffer at most */
    char with[96];  /* "cuda" */
} yoke_live_t;

/* Sends the last failure as the reason why there is no figure of `what`. */
bool yoke_live_failed(int fd, const char *what, const char *with, yoke_status_t status);
bool yoke_live_open(int fd, const char *name, yoke_live_t *live);
/* At most so many bytes, and at most what one buffer may take of the device. */
uint64_t yoke_live_bounded(const yoke_live_t *live, uint64_t bytes);
/* Copies by the device's queue, each waited for. */
bool yoke_live_time_copy(yoke_live_t *live, const char *what, yoke_buffer_t *to,
                         yoke_buffer_t *from, uint64_t size, yoke_timing_t *timing);

#endif
