/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of steps: growing them, and linking them for the engine. */

#include "ucx_comm/collectives/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

yoke_schedule_t *yoke_schedule_create(yoke_element_t element, yoke_reduction_t reduction,
                                      unsigned ranks)
{
    yoke_schedule_t *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL) {
        yoke_fail_memory();
        return NULL;
    }
    schedule->element = element;
    schedule->reduction = reduction;
    schedule->ranks = ranks;
    return schedule;
}

void yoke_schedule_free(yoke_schedule_t *schedule)
{
    if (schedule == NULL)
        return;
    free(schedule->steps);
    free(schedule->edges);
    free(schedule->successors);
    free(schedule->ranges);
    free(schedule);
}

yoke_status_t yoke_schedule_status(const yoke_schedule_t *schedule)
{
    return schedule->status;
}

/* Room for `more` items of `size` bytes after the `count` that *array has. */
static bool grow(yoke_schedule_t *schedule, void **array, uint32_t count,
                 uint32_t *capacity, uint32_t more, size_t size)
{
    if (schedule->status != YOKE_OK)
        return false;
    if (more <= *capacity - count)
        return true;
    uint64_t wanted = 2 * ((uint64_t)count + more) + 16;
    void *grown = wanted < INT32_MAX ? realloc(*array, (size_t)wanted * size) : NULL;
    if (grown == NULL) {
        schedule->status = yoke_fail_memory();
        return false;
    }
    *array = grown;
    *capacity = (uint32_t)wanted;
    return true;
}

static yoke_step_t add(yoke_schedule_t *schedule, const yoke_step_data_t *step)
{
    if (!grow(schedule, (void **)&schedule->steps, schedule->count, &schedule->capacity,
              1, sizeof *step))
        return -1;
    schedule->steps[schedule->count] = *step;
    return (yoke_step_t)schedule->count++;
}

yoke_step_t yoke_schedule_send(yoke_schedule_t *schedule, int peer, uint32_t channel,
                               yoke_range_t from, uint64_t size)
{
    yoke_step_data_t step = {
        .kind = YOKE_STEP_SEND, .peer = peer, .channel = channel, .from = from};
    step.size = size;
    schedule->messages++;
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_receive(yoke_schedule_t *schedule, int peer, uint32_t channel,
                                  yoke_range_t to, uint64_t size)
{
    yoke_step_data_t step = {
        .kind = YOKE_STEP_RECEIVE, .peer = peer, .channel = channel, .to = to};
    step.size = size;
    schedule->messages++;
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_receive_reduce(yoke_schedule_t *schedule, int peer,
                                         uint32_t channel, yoke_range_t to,
                                         yoke_range_t from, uint64_t size)
{
    yoke_step_data_t step = {
        .kind = YOKE_STEP_RECEIVE_REDUCE, .peer = peer, .channel = channel, .to = to};
    step.from = from;
    step.size = size;
    schedule->messages++;
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_copy(yoke_schedule_t *schedule, yoke_range_t to,
                               yoke_range_t from, uint64_t size)
{
    yoke_step_data_t step = {
        .kind = YOKE_STEP_COPY, .peer = -1, .to = to, .from = from, .size = size};
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_reduce(yoke_schedule_t *schedule, yoke_range_t to,
                                 yoke_range_t from, uint64_t size)
{
    yoke_step_data_t step = {
        .kind = YOKE_STEP_REDUCE, .peer = -1, .to = to, .from = from, .size = size};
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_reduce_many(yoke_schedule_t *schedule, yoke_range_t to,
                                      const yoke_range_t *from, unsigned n, uint64_t size)
{
    if (!grow(schedule, (void **)&schedule->ranges, schedule->range_count,
              &schedule->range_capacity, n, sizeof *from))
        return -1;
    yoke_step_data_t step = {
        .kind = YOKE_STEP_REDUCE_MANY, .peer = -1, .to = to, .size = size};
    step.many = schedule->range_count;
    step.many_count = n;
    memcpy(schedule->ranges + schedule->range_count, from, n * sizeof *from);
    schedule->range_count += n;
    return add(schedule, &step);
}

yoke_step_t yoke_schedule_reduce_some(yoke_schedule_t *schedule, yoke_range_t to,
                                      const yoke_range_t *from, unsigned n, uint64_t size)
{
    yoke_step_t step = yoke_schedule_reduce_many(schedule, to, from, n, size);
    if (step >= 0)
        schedule->steps[step].partial = true;
    return step;
}

yoke_step_t yoke_schedule_scale(yoke_schedule_t *schedule, yoke_range_t to, uint64_t size)
{
    if (schedule->reduction != YOKE_REDUCE_AVG)
        return -1;
    yoke_step_data_t step = {.kind = YOKE_STEP_SCALE, .peer = -1, .to = to, .size = size};
    return add(schedule, &step);
}

void yoke_schedule_flip(yoke_schedule_t *schedule, yoke_step_t step)
{
    if (step >= 0)
        schedule->steps[step].flipped = !schedule->steps[step].flipped;
}

void yoke_schedule_after(yoke_schedule_t *schedule, yoke_step_t step, yoke_step_t before)
{
    if (step < 0 || before < 0)
        return;
    if (before >= step) {
        schedule->status =
            yoke_fail(YOKE_ERR_USAGE, "a step of a schedule waits for itself");
        return;
    }
    if (!grow(schedule, (void **)&schedule->edges, schedule->edge_count,
              &schedule->edge_capacity, 1, sizeof *schedule->edges))
        return;
    schedule->edges[schedule->edge_count].before = before;
    schedule->edges[schedule->edge_count++].step = step;
}

void yoke_schedule_scratch(yoke_schedule_t *schedule, uint64_t size)
{
    if (size > schedule->scratch)
        schedule->scratch = size;
}

static yoke_status_t link_successors(yoke_schedule_t *schedule)
{
    schedule->successors = malloc((schedule->edge_count + 1) * sizeof(int));
    if (schedule->successors == NULL)
        return yoke_fail_memory();
    for (uint32_t i = 0; i < schedule->edge_count; i++) {
        schedule->steps[schedule->edges[i].before].next_count++;
        schedule->steps[schedule->edges[i].step].waits_for++;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        schedule->steps[i].next = used;
        used += schedule->steps[i].next_count;
        schedule->steps[i].next_count = 0;
    }
    for (uint32_t i = 0; i < schedule->edge_count; i++) {
        yoke_step_data_t *before = &schedule->steps[schedule->edges[i].before];
        schedule->successors[before->next + before->next_count++] =
            schedule->edges[i].step;
    }
    free(schedule->edges);
    schedule->edges = NULL;
    return YOKE_OK;
}

/* One message of the schedule, to be sorted by direction, peer and channel. */
typedef struct line {
    bool sends;
    int peer;
    uint32_t channel;
    uint32_t step;
} line_t;

static int compare_lines(const void *left, const void *right)
{
    const line_t *a = left, *b = right;
    if (a->sends != b->sends)
        return a->sends ? 1 : -1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    return 0;
}

static bool is_message(const yoke_step_data_t *step)
{
    return step->kind <= YOKE_STEP_RECEIVE_REDUCE;
}

static yoke_status_t number_channels(yoke_schedule_t *schedule)
{
    line_t *lines = malloc((schedule->messages + 1) * sizeof *lines);
    if (lines == NULL)
        return yoke_fail_memory();
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const yoke_step_data_t *step = &schedule->steps[i];
        if (!is_message(step))
            continue;
        lines[n] = (line_t){step->kind == YOKE_STEP_SEND, step->peer, step->channel, i};
        schedule->steps[i].message = n++;
    }
    qsort(lines, n, sizeof *lines, compare_lines);
    yoke_status_t status = YOKE_OK;
    uint32_t number = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i > 0 && lines[i].sends == lines[i - 1].sends &&
                    lines[i].peer == lines[i - 1].peer;
        if (same && lines[i].channel == lines[i - 1].channel)
            status = yoke_fail(YOKE_ERR_USAGE,
                               "two messages of a schedule share channel %u to rank %d",
                               lines[i].channel, lines[i].peer);
        number = same ? number + 1 : 0;
        schedule->steps[lines[i].step].channel = number;
    }
    free(lines);
    return status;
}

yoke_status_t yoke_schedule_seal(yoke_schedule_t *schedule)
{
    if (schedule->status == YOKE_OK)
        schedule->status = link_successors(schedule);
    if (schedule->status == YOKE_OK)
        schedule->status = number_channels(schedule);
    return schedule->status;
}
