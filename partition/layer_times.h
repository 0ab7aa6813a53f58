/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_LAYER_TIMES_H
#define YOKE_PARTITION_LAYER_TIMES_H

/*
 * Measured layer times (yoke-layer-times/1, docs/layer-times.md): seconds of every layer
 * by device type, tensor degree and micro-batch, in the place of the cost model's. With
 * them, where somebody measured that too: bytes of every layer, and seconds of sends
 * between two types.
 */

#include "costmodel/cost.h"

typedef struct yoke_layer_times yoke_layer_times_t;

/* "-": standard input. */
yoke_status_t yoke_layer_times_read(const char *path, yoke_layer_times_t **out_times);
/* `size` bytes, not kept; `name` is for messages. */
yoke_status_t yoke_layer_times_parse(const char *name, const char *data, size_t size,
                                     yoke_layer_times_t **out_times);
void yoke_layer_times_free(yoke_layer_times_t *times);

/* The times that yoke_plan_use_layer_times() took; NULL: none. Not locked. */
const yoke_layer_times_t *yoke_layer_times_current(void);

/* Do they belong to this job? The message says what differs. */
yoke_status_t yoke_layer_times_match(const yoke_layer_times_t *times,
                                     const yoke_model_t *model, uint64_t sequence,
                                     yoke_dtype_t dtype);

/* "SOURCE (fnv1a64:...)" of the document, for a plan's notes. */
const char *yoke_layer_times_title(const yoke_layer_times_t *times);
/* Index of a device type, -1: nothing was measured on it. */
int yoke_layer_times_type(const yoke_layer_times_t *times, const char *name);
/* Are two layers equal in everything measured? */
bool yoke_layer_times_equal(const yoke_layer_times_t *times, size_t a, size_t b);

/* What a stage does while it sends: nothing else, or its next work. */
bool yoke_layer_times_blocking(const yoke_layer_times_t *times);
/* Does the exchange of gradients begin when all stages are done, and not each its own? */
bool yoke_layer_times_exchange_last(const yoke_layer_times_t *times);
/* Fraction of a gradient exchange that hides behind work; `otherwise` where not stated.
 */
double yoke_layer_times_overlap(const yoke_layer_times_t *times, double otherwise);

/* One measured point of a type. */
typedef struct yoke_layer_point {
    unsigned tp, micro_batch;
    const double *forward, *backward; /* one number a layer, seconds */
    const double *update;             /* the same; NULL: `stage_update` or not measured */
    double stage_update;              /* of a whole stage; below 0: not measured */
} yoke_layer_point_t;

typedef enum yoke_layer_lookup {
    YOKE_LAYER_MEASURED = 0, /* the point itself */
    YOKE_LAYER_BETWEEN,      /* between two micro-batches of the same degree */
    YOKE_LAYER_NEAREST,      /* the nearest point, to be scaled by the cost model */
    YOKE_LAYER_UNKNOWN       /* nothing measured, or the document wants no estimate */
} yoke_layer_lookup_t;

/*
 * What to take for (type, tp, micro-batch): out_low alone, or both with `*out_part` of
 * the way from low to high. Nearest: the same degree first, then the nearest degree by
 * ratio.
 */
yoke_layer_lookup_t yoke_layer_times_find(const yoke_layer_times_t *times, int type,
                                          unsigned tp, unsigned micro_batch,
                                          const yoke_layer_point_t **out_low,
                                          const yoke_layer_point_t **out_high,
                                          double *out_part);
/* Recomputation that was on when they were measured. */
yoke_recompute_t yoke_layer_times_recompute(const yoke_layer_times_t *times);
/* Is only what was measured planned? */
bool yoke_layer_times_only_measured(const yoke_layer_times_t *times);

/* Measured bytes of layers at a tensor degree. */
typedef struct yoke_layer_memory {
    unsigned tp;
    const double *parameters;  /* of one rank, a number a layer */
    const double *activations; /* bytes of one sample on one rank */
    double fixed;              /* bytes of a device, whatever it holds */
} yoke_layer_memory_t;
/* NULL: not measured at that degree. */
const yoke_layer_memory_t *yoke_layer_times_memory(const yoke_layer_times_t *times,
                                                   unsigned tp);
bool yoke_layer_times_has_memory(const yoke_layer_times_t *times);
/* Bytes that one parameter takes with gradient and optimizer state. */
double yoke_layer_times_state_bytes(const yoke_layer_times_t *times);

/*
 * Seconds to send `bytes` from a group of one type in one node to one of another in
 * another node. Between two measured sizes the time is linear in the size; beyond the
 * ends the rate of the end holds. False: not measured.
 */
bool yoke_layer_times_send(const yoke_layer_times_t *times, int from, unsigned from_tp,
                           int to, unsigned to_tp, double bytes, double *out_seconds);

#endif
