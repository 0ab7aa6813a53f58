/* SPDX-License-Identifier: Apache-2.0 */
/* The way from one device to another: by their runtime, or through the host. */
#include <stdlib.h>
#include <string.h>

#include "hal/measure/measure_live.h"
#include "yoke/transfer.h"

#define BUDGET 0.4
#define LARGE ((uint64_t)64 << 20)
#define SMALL 256u

typedef struct pair {
    yoke_live_t from, to;
    yoke_transfer_t *transfer;
    yoke_buffer_t *source, *target;
} pair_t;

static bool copy(pair_t *pair, uint64_t size)
{
    yoke_status_t status =
        yoke_transfer_start(pair->transfer, pair->to.queue, yoke_span(pair->target, 0),
                            pair->from.queue, yoke_span(pair->source, 0), size);
    if (status == YOKE_OK)
        status = yoke_transfer_wait(pair->transfer);
    if (status == YOKE_OK)
        status = yoke_queue_sync(pair->to.queue);
    return !yoke_live_failed(pair->to.fd, "copy between devices",
                             yoke_transfer_method(pair->transfer), status);
}

static bool time_copies(pair_t *pair, uint64_t size, yoke_timing_t *timing)
{
    if (!copy(pair, size))
        return false;
    while (yoke_timing_more(timing, BUDGET)) {
        double begin = yoke_measure_now();
        if (!copy(pair, size))
            return false;
        yoke_timing_add(timing, yoke_measure_now() - begin);
    }
    return true;
}

static bool right(pair_t *pair, const unsigned char *data, uint64_t size)
{
    unsigned char *back = calloc(1, size);
    bool same = back != NULL &&
                yoke_queue_read(pair->to.queue, back, yoke_span(pair->target, 0), size) ==
                    YOKE_OK &&
                yoke_queue_sync(pair->to.queue) == YOKE_OK &&
                memcmp(back, data, size) == 0;
    free(back);
    return same;
}

static bool open_pair(int fd, const char *from, const char *to, pair_t *pair,
                      uint64_t *out_size)
{
    const char *what = "copy between devices";
    if (!yoke_live_open(fd, from, &pair->from) || !yoke_live_open(fd, to, &pair->to))
        return false;
    *out_size = yoke_live_bounded(&pair->from, yoke_live_bounded(&pair->to, LARGE));
    return !yoke_live_failed(fd, what, from,
                             yoke_buffer_create(pair->from.device, YOKE_MEMORY_DEVICE,
                                                *out_size, &pair->source)) &&
           !yoke_live_failed(fd, what, to,
                             yoke_buffer_create(pair->to.device, YOKE_MEMORY_DEVICE,
                                                *out_size, &pair->target)) &&
           !yoke_live_failed(fd, what, to,
                             yoke_transfer_create(pair->from.device, pair->to.device,
                                                  NULL, &pair->transfer));
}

void yoke_measure_pair(const char *from, const char *to, int fd)
{
    pair_t pair = {.transfer = NULL};
    uint64_t size = 0;
    if (!open_pair(fd, from, to, &pair, &size))
        return;
    unsigned char *data = malloc(size);
    yoke_timing_t large = {0}, small = {0};
    if (data == NULL)
        return;
    for (uint64_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i * 29 + (i >> 13));
    const char *method = yoke_transfer_method(pair.transfer);
    if (yoke_live_failed(
            fd, "copy between devices", from,
            yoke_queue_write(pair.from.queue, yoke_span(pair.source, 0), data, size)) ||
        !time_copies(&pair, size, &large) || !time_copies(&pair, SMALL, &small))
        return;
    if (!right(&pair, data, size)) {
        yoke_measure_problem(fd, "copy between devices", method,
                             "the bytes that arrived are wrong");
        return;
    }
    yoke_measure_put(fd, "copy between devices", method, NULL, (double)size, &large,
                     false);
    yoke_measure_put(fd, "small copies between devices", method, NULL, 1, &small, false);
}
