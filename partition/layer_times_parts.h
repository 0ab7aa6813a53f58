/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_LAYER_TIMES_PARTS_H
#define YOKE_PARTITION_LAYER_TIMES_PARTS_H

/* Private to layer_times*.c. */

#include "partition/layer_times.h"

typedef struct yoke_measured_point {
    int type;
    yoke_layer_point_t point; /* its arrays are parts of `numbers` */
    double *numbers;
} yoke_measured_point_t;

typedef struct yoke_measured_send {
    int from, to;
    unsigned from_tp, to_tp;
    double (*points)[2]; /* bytes, seconds; rising */
    size_t point_count;
} yoke_measured_send_t;

struct yoke_layer_times {
    char *name;  /* of the file */
    char *title; /* source and digest */
    size_t layers;
    uint64_t sequence;
    yoke_dtype_t dtype;
    yoke_recompute_t recompute;
    bool only_measured, blocking, exchange_last;
    double overlap; /* below 0: not stated */
    char **types;
    size_t type_count;
    yoke_measured_point_t *points;
    size_t point_count;
    double state_bytes;
    yoke_layer_memory_t *memory;
    double **memory_numbers; /* what the arrays of `memory` are parts of */
    size_t memory_count;
    yoke_measured_send_t *sends;
    size_t send_count;
};

#endif
