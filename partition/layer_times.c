/* SPDX-License-Identifier: Apache-2.0 */
/* What measured layer times say of a point that is asked for. */
#include "partition/layer_times.h"

#include <string.h>

#include "base/error.h"
#include "partition/layer_times_parts.h"
#include "yoke/inventory.h"
#include "yoke/plan.h"

static yoke_layer_times_t *current;

const yoke_layer_times_t *yoke_layer_times_current(void)
{
    return current;
}

yoke_status_t yoke_plan_use_layer_times(const char *path)
{
    yoke_layer_times_t *times = NULL;
    yoke_status_t status = path != NULL ? yoke_layer_times_read(path, &times) : YOKE_OK;
    if (status != YOKE_OK)
        return status;
    yoke_layer_times_free(current);
    current = times;
    return YOKE_OK;
}

yoke_status_t yoke_layer_times_match(const yoke_layer_times_t *times,
                                     const yoke_model_t *model, uint64_t sequence,
                                     yoke_dtype_t dtype)
{
    if (times->layers != model->layer_count)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: measured on a model of %zu layers, and this one has %zu "
                         "(embedding and head count); give the profile of this model",
                         times->name, times->layers, model->layer_count);
    if (times->sequence != sequence)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: measured with %llu tokens a sample, and %llu are planned; "
                         "give --seq %llu or another profile",
                         times->name, (unsigned long long)times->sequence,
                         (unsigned long long)sequence,
                         (unsigned long long)times->sequence);
    if (times->dtype != dtype)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: measured in %s, and %s is planned; give --dtype %s or "
                         "another profile",
                         times->name, yoke_dtype_name(times->dtype),
                         yoke_dtype_name(dtype), yoke_dtype_name(times->dtype));
    return YOKE_OK;
}

const char *yoke_layer_times_title(const yoke_layer_times_t *times)
{
    return times->title;
}

int yoke_layer_times_type(const yoke_layer_times_t *times, const char *name)
{
    for (size_t i = 0; times != NULL && i < times->type_count; i++)
        if (strcmp(times->types[i], name) == 0)
            return (int)i;
    return -1;
}

bool yoke_layer_times_equal(const yoke_layer_times_t *times, size_t a, size_t b)
{
    for (size_t i = 0; i < times->memory_count; i++) {
        const yoke_layer_memory_t *memory = &times->memory[i];
        if (memory->parameters[a] != memory->parameters[b] ||
            memory->activations[a] != memory->activations[b])
            return false;
    }
    return true;
}

bool yoke_layer_times_blocking(const yoke_layer_times_t *times)
{
    return times != NULL && times->blocking;
}

bool yoke_layer_times_exchange_last(const yoke_layer_times_t *times)
{
    return times != NULL && times->exchange_last;
}

double yoke_layer_times_overlap(const yoke_layer_times_t *times, double otherwise)
{
    return times != NULL && times->overlap >= 0 ? times->overlap : otherwise;
}

yoke_recompute_t yoke_layer_times_recompute(const yoke_layer_times_t *times)
{
    return times->recompute;
}

bool yoke_layer_times_only_measured(const yoke_layer_times_t *times)
{
    return times->only_measured;
}

/* How far apart two numbers are, as a ratio of at least 1. */
static double ratio(unsigned a, unsigned b)
{
    return a > b ? (double)a / b : (double)b / a;
}

/* Is `point` nearer to what is asked for than `best`? Ties go to the smaller point. */
static bool nearer(const yoke_layer_point_t *point, const yoke_layer_point_t *best,
                   unsigned tp, unsigned micro_batch)
{
    if (best == NULL)
        return true;
    double a = ratio(point->tp, tp), b = ratio(best->tp, tp);
    if (a != b)
        return a < b;
    a = ratio(point->micro_batch, micro_batch);
    b = ratio(best->micro_batch, micro_batch);
    if (a != b)
        return a < b;
    return point->tp != best->tp ? point->tp < best->tp
                                 : point->micro_batch < best->micro_batch;
}

yoke_layer_lookup_t yoke_layer_times_find(const yoke_layer_times_t *times, int type,
                                          unsigned tp, unsigned micro_batch,
                                          const yoke_layer_point_t **out_low,
                                          const yoke_layer_point_t **out_high,
                                          double *out_part)
{
    const yoke_layer_point_t *low = NULL, *high = NULL, *near = NULL;
    for (size_t i = 0; i < times->point_count; i++) {
        const yoke_layer_point_t *point = &times->points[i].point;
        if (times->points[i].type != type)
            continue;
        if (nearer(point, near, tp, micro_batch))
            near = point;
        if (point->tp != tp)
            continue;
        if (point->micro_batch <= micro_batch &&
            (low == NULL || point->micro_batch > low->micro_batch))
            low = point;
        if (point->micro_batch >= micro_batch &&
            (high == NULL || point->micro_batch < high->micro_batch))
            high = point;
    }
    *out_low = near;
    *out_high = NULL;
    *out_part = 0;
    if (near == NULL)
        return YOKE_LAYER_UNKNOWN;
    if (near->tp == tp && near->micro_batch == micro_batch)
        return YOKE_LAYER_MEASURED;
    if (times->only_measured)
        return YOKE_LAYER_UNKNOWN;
    if (low == NULL || high == NULL)
        return YOKE_LAYER_NEAREST;
    *out_low = low;
    *out_high = high;
    *out_part = (double)(micro_batch - low->micro_batch) /
                (double)(high->micro_batch - low->micro_batch);
    return YOKE_LAYER_BETWEEN;
}

const yoke_layer_memory_t *yoke_layer_times_memory(const yoke_layer_times_t *times,
                                                   unsigned tp)
{
    for (size_t i = 0; times != NULL && i < times->memory_count; i++)
        if (times->memory[i].tp == tp)
            return &times->memory[i];
    return NULL;
}

bool yoke_layer_times_has_memory(const yoke_layer_times_t *times)
{
    return times->memory_count > 0;
}

double yoke_layer_times_state_bytes(const yoke_layer_times_t *times)
{
    return times->state_bytes;
}

static double send_time(const yoke_measured_send_t *send, double bytes)
{
    const double(*points)[2] = send->points;
    size_t last = send->point_count - 1;
    if (bytes <= points[0][0])
        return points[0][1] * (bytes / points[0][0]);
    if (bytes >= points[last][0])
        return points[last][1] * (bytes / points[last][0]);
    size_t at = 1;
    while (points[at][0] < bytes)
        at++;
    double part = (bytes - points[at - 1][0]) / (points[at][0] - points[at - 1][0]);
    return points[at - 1][1] + part * (points[at][1] - points[at - 1][1]);
}

bool yoke_layer_times_send(const yoke_layer_times_t *times, int from, unsigned from_tp,
                           int to, unsigned to_tp, double bytes, double *out_seconds)
{
    for (size_t i = 0; times != NULL && i < times->send_count; i++) {
        const yoke_measured_send_t *send = &times->sends[i];
        if (send->from != from || send->to != to || send->from_tp != from_tp ||
            send->to_tp != to_tp)
            continue;
        *out_seconds = send_time(send, bytes);
        return true;
    }
    return false;
}
