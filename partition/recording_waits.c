/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for what in a recorded step. Operations with the same key are one event of
 * all their ranks. Events are put in the order of their recorded start, and one waits
 * only for earlier ones, so that no trace, however odd, makes a circle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/recording_parts.h"

/*
 * Streams of a device and clocks of ranks, synchronised by software, are recorded with
 * errors: an operation may seem to begin a little before the end of what it waits for.
 * At most so much, and at most half of the shorter one.
 */
#define MOST_SLACK 500e-6
#define LEAST_SLACK 5e-6
#define MUCH_DELAY 0.01 /* of the step */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

size_t yoke_recorded_step_end(const yoke_recorded_run_t *run, size_t first)
{
    size_t end = first;
    while (end < run->recording->operation_count &&
           yoke_recorded_at(run, end)->step == yoke_recorded_at(run, first)->step)
        end++;
    return end;
}

yoke_recorded_span_t yoke_recorded_span(const yoke_recorded_run_t *run, size_t first,
                                        size_t end)
{
    double start = INFINITY, last = -INFINITY, from = INFINITY, to = -INFINITY;
    for (size_t i = first; i < end; i++) {
        const yoke_operation_t *operation = yoke_recorded_at(run, i);
        start = operation->start < start ? operation->start : start;
        last = larger(last, operation->end);
        if (operation->kind == YOKE_OPERATION_PIPELINE) {
            from = operation->start < from ? operation->start : from;
            to = larger(to, operation->end);
        }
    }
    return (yoke_recorded_span_t){last - start, to > from ? to - from : 0};
}

double yoke_recorded_overlap(const yoke_recorded_run_t *run, size_t other,
                             size_t position)
{
    return larger(yoke_recorded_at(run, other)->end -
                      run->events[run->event_of[position]].start,
                  0);
}

/* --- events: what belongs together ----------------------------------------------------
 */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* By step and key; of what is of one rank each is alone, in the order of time. */
static int by_key(const void *left, const void *right, void *context)
{
    const yoke_operation_t *all = context;
    const yoke_operation_t *a = &all[*(const size_t *)left];
    const yoke_operation_t *b = &all[*(const size_t *)right];
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (yoke_is_exchange(a) != yoke_is_exchange(b))
        return yoke_is_exchange(a) ? 1 : -1;
    for (size_t i = 0; i < YOKE_OPERATION_KEY; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int order = compare(a->start, b->start);
    if (order == 0)
        order = compare(a->end, b->end);
    if (order == 0)
        order = *(const size_t *)left < *(const size_t *)right ? -1 : 1;
    return order;
}

static bool same_event(const yoke_operation_t *a, const yoke_operation_t *b)
{
    return yoke_is_exchange(a) && yoke_is_exchange(b) && a->step == b->step &&
           memcmp(a->key, b->key, sizeof a->key) == 0;
}

typedef struct placed {
    yoke_recorded_event_t event;
    long step;
} placed_t;

static int by_start(const void *left, const void *right)
{
    const placed_t *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    int order = compare(a->event.start, b->event.start);
    return order != 0 ? order : (a->event.first < b->event.first ? -1 : 1);
}

/* Events of all steps, by step and recorded start; `order` follows them. */
yoke_status_t yoke_recorded_events(yoke_recorded_run_t *run)
{
    size_t count = run->recording->operation_count, events = 0;
    placed_t *placed = calloc(count, sizeof *placed);
    size_t *order = calloc(count, sizeof *order);
    run->order = calloc(count, sizeof *run->order);
    run->event_of = calloc(count, sizeof *run->event_of);
    run->events = calloc(count, sizeof *run->events);
    yoke_status_t status = YOKE_OK;
    if (placed == NULL || order == NULL || run->order == NULL || run->event_of == NULL ||
        run->events == NULL) {
        status = yoke_fail_memory();
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        run->order[i] = i;
    qsort_r(run->order, count, sizeof *run->order, by_key, run->recording->operations);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same_event(yoke_recorded_at(run, i - 1), yoke_recorded_at(run, i)))
            placed[events++] =
                (placed_t){{.first = i, .start = yoke_recorded_at(run, i)->start},
                           yoke_recorded_at(run, i)->step};
        yoke_recorded_event_t *event = &placed[events - 1].event;
        event->count++;
        event->start = larger(event->start, yoke_recorded_at(run, i)->start);
    }
    qsort(placed, events, sizeof *placed, by_start);
    run->event_count = events;
    size_t next = 0;
    for (size_t e = 0; e < events; e++) {
        run->events[e] = placed[e].event;
        run->events[e].first = next;
        for (size_t i = 0; i < placed[e].event.count; i++, next++) {
            order[next] = run->order[placed[e].event.first + i];
            run->event_of[next] = e;
        }
    }
    memcpy(run->order, order, count * sizeof *order);
out:
    free(placed);
    free(order);
    return status;
}

/* --- what waits for what
 * ---------------------------------------------------------------- */

/* Positions of one rank and step, by their recorded end, and how far they were met. */
typedef struct line {
    size_t *positions;
    size_t count, met;
    size_t last[YOKE_MOST_RECORDED_NAMES]; /* of each name, the last met + 1 */
} line_t;

static int by_end(const void *left, const void *right, void *context)
{
    const yoke_recorded_run_t *run = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = compare(yoke_recorded_at(run, a)->end, yoke_recorded_at(run, b)->end);
    return order != 0 ? order : (a < b ? -1 : a > b);
}

static yoke_status_t add_wait(yoke_recorded_run_t *run, size_t position)
{
    if (run->wait_count == run->wait_capacity) {
        size_t larger_capacity = run->wait_capacity == 0 ? 1024 : 2 * run->wait_capacity;
        size_t *grown = realloc(run->waits, larger_capacity * sizeof *grown);
        if (grown == NULL)
            return yoke_fail_memory();
        run->waits = grown;
        run->wait_capacity = larger_capacity;
    }
    run->waits[run->wait_count++] = position;
    return YOKE_OK;
}

/* Had `other` ended when the operation began, but for what clocks are off? */
static bool is_before(const yoke_recorded_run_t *run, size_t other, size_t position)
{
    double shorter =
        yoke_recorded_at(run, other)->end - yoke_recorded_at(run, other)->start;
    double own =
        yoke_recorded_at(run, position)->end - yoke_recorded_at(run, position)->start;
    if (own < shorter)
        shorter = own;
    double slack = larger(shorter / 2, LEAST_SLACK);
    return run->event_of[other] < run->event_of[position] &&
           yoke_recorded_overlap(run, other, position) <= slack;
}

/*
 * An operation waits, of each name, for the last of its rank that had ended: earlier ones
 * had ended before. An arrival waits only for the arrival before it.
 */
static yoke_status_t add_waits(yoke_recorded_run_t *run, size_t position, line_t *line)
{
    const yoke_operation_t *operation = yoke_recorded_at(run, position);
    size_t last[YOKE_MOST_RECORDED_NAMES];
    size_t next = line->met;
    double start = run->events[run->event_of[position]].start;
    yoke_status_t status = YOKE_OK;
    for (;
         next < line->count && yoke_recorded_at(run, line->positions[next])->end <= start;
         next++) {
        if (!is_before(run, line->positions[next], position))
            break;
        line->last[yoke_recorded_at(run, line->positions[next])->name] =
            line->positions[next] + 1;
    }
    line->met = next;
    memcpy(last, line->last, sizeof last);
    for (; next < line->count; next++) {
        size_t other = line->positions[next];
        if (yoke_recorded_at(run, other)->end > start + MOST_SLACK)
            break;
        if (is_before(run, other, position))
            last[yoke_recorded_at(run, other)->name] = other + 1;
    }
    for (size_t name = 0; name < run->recording->names.count && status == YOKE_OK;
         name++) {
        bool of_interest =
            operation->kind != YOKE_OPERATION_ARRIVAL || name == operation->name;
        if (last[name] != 0 && of_interest)
            status = add_wait(run, last[name] - 1);
    }
    return status;
}

/* Fills the lines of the ranks with the positions of one step. */
static void fill_lines(yoke_recorded_run_t *run, size_t first, size_t end, line_t *lines,
                       size_t *room)
{
    size_t ranks = run->recording->rank_count, next = 0;
    for (size_t r = 0; r < ranks; r++)
        lines[r] = (line_t){0};
    for (size_t i = first; i < end; i++)
        lines[yoke_recorded_at(run, i)->rank].count++;
    for (size_t r = 0; r < ranks; r++) {
        lines[r].positions = room + next;
        next += lines[r].count;
        lines[r].count = 0;
    }
    for (size_t i = first; i < end; i++) {
        line_t *line = &lines[yoke_recorded_at(run, i)->rank];
        line->positions[line->count++] = i;
    }
    for (size_t r = 0; r < ranks; r++)
        qsort_r(lines[r].positions, lines[r].count, sizeof *room, by_end, run);
}

yoke_status_t yoke_recorded_waits(yoke_recorded_run_t *run)
{
    size_t count = run->recording->operation_count;
    line_t *lines = calloc(run->recording->rank_count, sizeof *lines);
    size_t *room = calloc(count, sizeof *room);
    run->wait_at = calloc(count + 1, sizeof *run->wait_at);
    yoke_status_t status = lines == NULL || room == NULL || run->wait_at == NULL
                               ? yoke_fail_memory()
                               : YOKE_OK;
    for (size_t first = 0; first < count && status == YOKE_OK;) {
        size_t end = yoke_recorded_step_end(run, first);
        fill_lines(run, first, end, lines, room);
        for (size_t i = first; i < end && status == YOKE_OK; i++) {
            run->wait_at[i] = run->wait_count;
            status = add_waits(run, i, &lines[yoke_recorded_at(run, i)->rank]);
        }
        first = end;
    }
    if (run->wait_at != NULL)
        run->wait_at[count] = run->wait_count;
    free(lines);
    free(room);
    return status;
}

/* --- waits that are not recorded ------------------------------------------------------
 */

/* Recorded: when all that the event waits for had ended. */
static double find_ready(const yoke_recorded_run_t *run,
                         const yoke_recorded_event_t *event)
{
    double ended = -INFINITY;
    for (size_t i = event->first; i < event->first + event->count; i++)
        for (size_t w = run->wait_at[i]; w < run->wait_at[i + 1]; w++)
            ended = larger(ended, yoke_recorded_at(run, run->waits[w])->end);
    if (event->also != 0)
        ended = larger(ended, yoke_recorded_at(run, event->also - 1)->end);
    return ended;
}

/* Of a step: the last forward or backward of each rank, position + 1. */
static void find_finals(const yoke_recorded_run_t *run, size_t first, size_t end,
                        size_t *finals)
{
    for (size_t r = 0; r < run->recording->rank_count; r++)
        finals[r] = 0;
    for (size_t i = first; i < end; i++) {
        size_t *final = &finals[yoke_recorded_at(run, i)->rank];
        if (yoke_recorded_at(run, i)->kind == YOKE_OPERATION_PIPELINE &&
            (*final == 0 ||
             yoke_recorded_at(run, i)->end > yoke_recorded_at(run, *final - 1)->end))
            *final = i + 1;
    }
}

/*
 * Traces leave synchronisations out, and the ranks that are not in them. An event that
 * begins much later than all that it waits for on its ranks is taken to wait for the rank
 * that was the last to end its pipeline before, if one ended in between.
 */
static void find_hidden_wait(const yoke_recorded_run_t *run, const size_t *finals,
                             double much, yoke_recorded_event_t *event)
{
    double ready = find_ready(run, event);
    if (!isfinite(ready) || event->start - ready < much)
        return;
    for (size_t r = 0; r < run->recording->rank_count; r++) {
        if (finals[r] == 0)
            continue;
        double end = yoke_recorded_at(run, finals[r] - 1)->end;
        if (end <= event->start && end > ready) {
            ready = end;
            event->also = finals[r];
        }
    }
}

yoke_status_t yoke_recorded_hidden_waits(yoke_recorded_run_t *run)
{
    size_t count = run->recording->operation_count;
    size_t *finals = calloc(run->recording->rank_count, sizeof *finals);
    if (finals == NULL)
        return yoke_fail_memory();
    for (size_t first = 0; first < count;) {
        size_t end = yoke_recorded_step_end(run, first);
        double much = yoke_recorded_span(run, first, end).step * MUCH_DELAY;
        find_finals(run, first, end, finals);
        for (size_t e = run->event_of[first]; e <= run->event_of[end - 1]; e++)
            find_hidden_wait(run, finals, much, &run->events[e]);
        first = end;
    }
    free(finals);
    return YOKE_OK;
}

/* --- delays that no operation explains ------------------------------------------------
 */

typedef struct delay {
    const uint32_t *key;
    unsigned rank;
    size_t event;
    double seconds;
} delay_t;

static int by_place(const void *left, const void *right)
{
    const delay_t *a = left, *b = right;
    for (size_t i = 0; i < YOKE_OPERATION_KEY; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int order = compare(a->seconds, b->seconds);
    return order != 0 ? order : (a->event < b->event ? -1 : 1);
}

static bool same_place(const delay_t *a, const delay_t *b)
{
    return a->rank == b->rank &&
           memcmp(a->key, b->key, YOKE_OPERATION_KEY * sizeof *a->key) == 0;
}

static void measure_delays(yoke_recorded_run_t *run, delay_t *delays)
{
    for (size_t e = 0; e < run->event_count; e++) {
        yoke_recorded_event_t *event = &run->events[e];
        size_t first = event->first;
        double step = yoke_recorded_at(run, first)->start;
        if (e > 0 && yoke_recorded_at(run, run->events[e - 1].first)->step ==
                         yoke_recorded_at(run, first)->step)
            step = run->events[e - 1].step;
        event->step = step;
        double ready = find_ready(run, event);
        event->delay = larger(event->start - (isfinite(ready) ? ready : step), 0);
        delays[e] = (delay_t){yoke_recorded_at(run, first)->key,
                              yoke_recorded_at(run, first)->rank, e, event->delay};
    }
}

/* Of every step the median of the same place in all steps. */
yoke_status_t yoke_recorded_delays(yoke_recorded_run_t *run)
{
    delay_t *delays = calloc(run->event_count, sizeof *delays);
    if (delays == NULL)
        return yoke_fail_memory();
    measure_delays(run, delays);
    qsort(delays, run->event_count, sizeof *delays, by_place);
    for (size_t i = 0; i < run->event_count;) {
        size_t end = i + 1;
        while (end < run->event_count && same_place(&delays[i], &delays[end]))
            end++;
        double middle =
            (delays[i + (end - i - 1) / 2].seconds + delays[i + (end - i) / 2].seconds) /
            2;
        for (; i < end; i++)
            run->events[delays[i].event].delay = middle;
    }
    free(delays);
    return YOKE_OK;
}
