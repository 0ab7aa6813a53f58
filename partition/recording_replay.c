/* SPDX-License-Identifier: Apache-2.0 */
/* Running recorded steps again: an event starts when everything that it waits for has
 * ended on each of its ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/recording_parts.h"

/* Clocks of ranks are off by so much at most. */
#define MOST_APART 500e-6

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* --- the steps
 * ------------------------------------------------------------------------ */

/* One step again: its length, and from its first forward to its last backward. */
static yoke_recorded_span_t replay_step(yoke_recorded_run_t *run, size_t first,
                                        size_t end, bool delays, bool speeds)
{
    double last = 0, from = INFINITY, to = -INFINITY;
    for (size_t e = run->event_of[first]; e <= run->event_of[end - 1]; e++) {
        yoke_recorded_event_t *event = &run->events[e];
        double start = 0;
        size_t past = event->first + event->count;
        for (size_t i = event->first; i < past; i++)
            for (size_t w = run->wait_at[i]; w < run->wait_at[i + 1]; w++)
                start = larger(start, run->ends[run->waits[w]] -
                                          yoke_recorded_overlap(run, run->waits[w], i));
        if (event->also != 0)
            start = larger(start, run->ends[event->also - 1]);
        if (delays)
            start += event->delay;
        for (size_t i = event->first; i < past; i++) {
            const yoke_operation_t *operation = yoke_recorded_at(run, i);
            /* What a member waited for the others is not its work. */
            double work = larger(operation->end - event->start, 0);
            run->ends[i] = start + (speeds ? work / run->speeds[i] : work);
            last = larger(last, run->ends[i]);
            if (operation->kind == YOKE_OPERATION_PIPELINE) {
                from = start < from ? start : from;
                to = larger(to, run->ends[i]);
            }
        }
    }
    return (yoke_recorded_span_t){last, to > from ? to - from : 0};
}

static yoke_status_t replay_steps(yoke_recorded_run_t *run,
                                  yoke_recording_result_t *result)
{
    size_t count = run->recording->operation_count;
    for (size_t first = 0; first < count; first = yoke_recorded_step_end(run, first))
        result->step_count++;
    result->steps = calloc(result->step_count, sizeof *result->steps);
    if (result->steps == NULL)
        return yoke_fail_memory();
    yoke_recording_step_t *step = result->steps;
    for (size_t first = 0; first < count; step++) {
        size_t end = yoke_recorded_step_end(run, first);
        yoke_recorded_span_t recorded = yoke_recorded_span(run, first, end);
        yoke_recorded_span_t alone = replay_step(run, first, end, false, false);
        step->number = yoke_recorded_at(run, first)->step;
        step->recorded = recorded.step;
        step->pipeline_recorded = recorded.pipeline;
        step->operations = alone.step;
        step->pipeline_replayed = alone.pipeline;
        step->replayed = replay_step(run, first, end, true, false).step;
        step->changed = replay_step(run, first, end, true, true).step;
        first = end;
    }
    return YOKE_OK;
}

/* Exchanges that count as one event although a member had ended when another began. */
static size_t count_apart(const yoke_recorded_run_t *run)
{
    size_t apart = 0;
    for (size_t e = 0; e < run->event_count; e++) {
        const yoke_recorded_event_t *event = &run->events[e];
        bool overlaps = true;
        for (size_t i = event->first; i < event->first + event->count; i++)
            overlaps =
                overlaps && yoke_recorded_at(run, i)->end + MOST_APART >= event->start;
        apart += !overlaps;
    }
    return apart;
}

static int by_rank(const void *left, const void *right)
{
    const yoke_recording_rank_t *a = left, *b = right;
    if (a->dp != b->dp)
        return a->dp < b->dp ? -1 : 1;
    if (a->pp != b->pp)
        return a->pp < b->pp ? -1 : 1;
    return a->tp < b->tp ? -1 : a->tp > b->tp;
}

static yoke_status_t sum_ranks(const yoke_recorded_run_t *run,
                               yoke_recording_result_t *result)
{
    const yoke_recording_t *recording = run->recording;
    double total = 0;
    result->ranks = calloc(recording->rank_count, sizeof *result->ranks);
    if (result->ranks == NULL)
        return yoke_fail_memory();
    result->rank_count = recording->rank_count;
    for (size_t i = 0; i < result->step_count; i++)
        total += result->steps[i].recorded;
    for (size_t r = 0; r < recording->rank_count; r++)
        result->ranks[r] = (yoke_recording_rank_t){
            recording->ranks[r].dp, recording->ranks[r].pp, recording->ranks[r].tp, 0, 0};
    for (size_t i = 0; i < recording->operation_count && total > 0; i++) {
        const yoke_operation_t *operation = yoke_recorded_at(run, i);
        yoke_recording_rank_t *rank = &result->ranks[operation->rank];
        double begin = run->events[run->event_of[i]].start;
        double share = larger(operation->end - begin, 0) / total;
        if (!yoke_is_exchange(operation))
            rank->compute += share;
        else if (operation->kind == YOKE_OPERATION_EXCHANGE)
            rank->exchange += share;
    }
    qsort(result->ranks, result->rank_count, sizeof *result->ranks, by_rank);
    return YOKE_OK;
}

yoke_status_t yoke_recording_replay(const yoke_recording_t *recording,
                                    const yoke_recording_slow_t *slow, size_t slow_count,
                                    yoke_recording_result_t *out_result)
{
    yoke_recorded_run_t run = {.recording = recording};
    yoke_recording_result_t result = {.operations = recording->operation_count,
                                      .unknown = recording->unknown};
    run.ends = calloc(recording->operation_count, sizeof *run.ends);
    run.speeds = calloc(recording->operation_count, sizeof *run.speeds);
    yoke_status_t status =
        run.ends == NULL || run.speeds == NULL ? yoke_fail_memory() : YOKE_OK;
    if (status == YOKE_OK)
        status = yoke_recorded_events(&run);
    if (status == YOKE_OK)
        status = yoke_recorded_waits(&run);
    if (status == YOKE_OK)
        status = yoke_recorded_hidden_waits(&run);
    if (status == YOKE_OK)
        status = yoke_recorded_delays(&run);
    if (status == YOKE_OK)
        status = yoke_recorded_speeds(&run, slow, slow_count);
    if (status == YOKE_OK)
        status = replay_steps(&run, &result);
    if (status == YOKE_OK)
        status = sum_ranks(&run, &result);
    result.apart = status == YOKE_OK ? count_apart(&run) : 0;
    free(run.order);
    free(run.event_of);
    free(run.waits);
    free(run.wait_at);
    free(run.events);
    free(run.ends);
    free(run.speeds);
    if (status != YOKE_OK) {
        yoke_recording_result_free(&result);
        return status;
    }
    *out_result = result;
    return YOKE_OK;
}

void yoke_recording_result_free(yoke_recording_result_t *result)
{
    free(result->steps);
    free(result->ranks);
    *result = (yoke_recording_result_t){0};
}
