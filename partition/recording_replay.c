/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a recorded step again. Operations with the same key are one event of all their
 * ranks: it starts when everything that it waits for has ended on each of them. Events
 * are put in the order of their recorded start, and one waits only for earlier ones, so
 * that no trace, however odd, makes a circle.
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

typedef struct event {
    size_t first, count; /* in the order of operations */
    double start;        /* recorded: when its last member came */
    double step;         /* recorded: when its step began */
    double delay;        /* from ready to start; then the typical one */
    size_t also;         /* position + 1 of what it waits for on another rank, or 0 */
    double replayed;
} event_t;

typedef struct replayer {
    const yoke_recording_t *recording;
    size_t *order;           /* operations: by step, then event, then rank */
    size_t *event_of;        /* of each operation, in the order of `order` */
    size_t *waits, *wait_at; /* waits[wait_at[i] .. wait_at[i + 1]]: positions */
    size_t wait_count, wait_capacity;
    event_t *events;
    size_t event_count;
    double *ends;   /* replayed end of each, by position */
    double *speeds; /* of each operation, by position */
} replayer_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static const yoke_operation_t *at(const replayer_t *run, size_t position)
{
    return &run->recording->operations[run->order[position]];
}

static bool is_exchange(const yoke_operation_t *operation)
{
    return operation->kind >= YOKE_OPERATION_EXCHANGE;
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
    if (is_exchange(a) != is_exchange(b))
        return is_exchange(a) ? 1 : -1;
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
    return is_exchange(a) && is_exchange(b) && a->step == b->step &&
           memcmp(a->key, b->key, sizeof a->key) == 0;
}

typedef struct placed {
    event_t event;
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
static yoke_status_t find_events(replayer_t *run)
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
        if (i == 0 || !same_event(at(run, i - 1), at(run, i)))
            placed[events++] =
                (placed_t){{.first = i, .start = at(run, i)->start}, at(run, i)->step};
        event_t *event = &placed[events - 1].event;
        event->count++;
        event->start = larger(event->start, at(run, i)->start);
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
    const replayer_t *run = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = compare(at(run, a)->end, at(run, b)->end);
    return order != 0 ? order : (a < b ? -1 : a > b);
}

static yoke_status_t add_wait(replayer_t *run, size_t position)
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

/* How much the recorded end of `other` lies past the recorded start of what waits for it.
 */
static double overlap(const replayer_t *run, size_t other, size_t position)
{
    return larger(at(run, other)->end - run->events[run->event_of[position]].start, 0);
}

/* Had `other` ended when the operation began, but for what clocks are off? */
static bool is_before(const replayer_t *run, size_t other, size_t position)
{
    double shorter = at(run, other)->end - at(run, other)->start;
    double own = at(run, position)->end - at(run, position)->start;
    if (own < shorter)
        shorter = own;
    double slack = larger(shorter / 2, LEAST_SLACK);
    return run->event_of[other] < run->event_of[position] &&
           overlap(run, other, position) <= slack;
}

/*
 * An operation waits, of each name, for the last of its rank that had ended: earlier ones
 * had ended before. An arrival waits only for the arrival before it.
 */
static yoke_status_t add_waits(replayer_t *run, size_t position, line_t *line)
{
    const yoke_operation_t *operation = at(run, position);
    size_t last[YOKE_MOST_RECORDED_NAMES];
    size_t next = line->met;
    double start = run->events[run->event_of[position]].start;
    yoke_status_t status = YOKE_OK;
    for (; next < line->count && at(run, line->positions[next])->end <= start; next++) {
        if (!is_before(run, line->positions[next], position))
            break;
        line->last[at(run, line->positions[next])->name] = line->positions[next] + 1;
    }
    line->met = next;
    memcpy(last, line->last, sizeof last);
    for (; next < line->count; next++) {
        size_t other = line->positions[next];
        if (at(run, other)->end > start + MOST_SLACK)
            break;
        if (is_before(run, other, position))
            last[at(run, other)->name] = other + 1;
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
static void fill_lines(replayer_t *run, size_t first, size_t end, line_t *lines,
                       size_t *room)
{
    size_t ranks = run->recording->rank_count, next = 0;
    for (size_t r = 0; r < ranks; r++)
        lines[r] = (line_t){0};
    for (size_t i = first; i < end; i++)
        lines[at(run, i)->rank].count++;
    for (size_t r = 0; r < ranks; r++) {
        lines[r].positions = room + next;
        next += lines[r].count;
        lines[r].count = 0;
    }
    for (size_t i = first; i < end; i++) {
        line_t *line = &lines[at(run, i)->rank];
        line->positions[line->count++] = i;
    }
    for (size_t r = 0; r < ranks; r++)
        qsort_r(lines[r].positions, lines[r].count, sizeof *room, by_end, run);
}

static size_t step_end(const replayer_t *run, size_t first)
{
    size_t end = first;
    while (end < run->recording->operation_count &&
           at(run, end)->step == at(run, first)->step)
        end++;
    return end;
}

static yoke_status_t find_waits(replayer_t *run)
{
    size_t count = run->recording->operation_count;
    line_t *lines = calloc(run->recording->rank_count, sizeof *lines);
    size_t *room = calloc(count, sizeof *room);
    run->wait_at = calloc(count + 1, sizeof *run->wait_at);
    yoke_status_t status = lines == NULL || room == NULL || run->wait_at == NULL
                               ? yoke_fail_memory()
                               : YOKE_OK;
    for (size_t first = 0; first < count && status == YOKE_OK;) {
        size_t end = step_end(run, first);
        fill_lines(run, first, end, lines, room);
        for (size_t i = first; i < end && status == YOKE_OK; i++) {
            run->wait_at[i] = run->wait_count;
            status = add_waits(run, i, &lines[at(run, i)->rank]);
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

typedef struct span {
    double step, pipeline;
} span_t;

static span_t recorded_span(const replayer_t *run, size_t first, size_t end)
{
    double start = INFINITY, last = -INFINITY, from = INFINITY, to = -INFINITY;
    for (size_t i = first; i < end; i++) {
        const yoke_operation_t *operation = at(run, i);
        start = operation->start < start ? operation->start : start;
        last = larger(last, operation->end);
        if (operation->kind == YOKE_OPERATION_PIPELINE) {
            from = operation->start < from ? operation->start : from;
            to = larger(to, operation->end);
        }
    }
    return (span_t){last - start, to > from ? to - from : 0};
}

/* Recorded: when all that the event waits for had ended. */
static double find_ready(const replayer_t *run, const event_t *event)
{
    double ended = -INFINITY;
    for (size_t i = event->first; i < event->first + event->count; i++)
        for (size_t w = run->wait_at[i]; w < run->wait_at[i + 1]; w++)
            ended = larger(ended, at(run, run->waits[w])->end);
    if (event->also != 0)
        ended = larger(ended, at(run, event->also - 1)->end);
    return ended;
}

/* Of a step: the last forward or backward of each rank, position + 1. */
static void find_finals(const replayer_t *run, size_t first, size_t end, size_t *finals)
{
    for (size_t r = 0; r < run->recording->rank_count; r++)
        finals[r] = 0;
    for (size_t i = first; i < end; i++) {
        size_t *final = &finals[at(run, i)->rank];
        if (at(run, i)->kind == YOKE_OPERATION_PIPELINE &&
            (*final == 0 || at(run, i)->end > at(run, *final - 1)->end))
            *final = i + 1;
    }
}

/*
 * Traces leave synchronisations out, and the ranks that are not in them. An event that
 * begins much later than all that it waits for on its ranks is taken to wait for the rank
 * that was the last to end its pipeline before, if one ended in between.
 */
static void find_hidden_wait(const replayer_t *run, const size_t *finals, double much,
                             event_t *event)
{
    double ready = find_ready(run, event);
    if (!isfinite(ready) || event->start - ready < much)
        return;
    for (size_t r = 0; r < run->recording->rank_count; r++) {
        if (finals[r] == 0)
            continue;
        double end = at(run, finals[r] - 1)->end;
        if (end <= event->start && end > ready) {
            ready = end;
            event->also = finals[r];
        }
    }
}

static yoke_status_t find_hidden_waits(replayer_t *run)
{
    size_t count = run->recording->operation_count;
    size_t *finals = calloc(run->recording->rank_count, sizeof *finals);
    if (finals == NULL)
        return yoke_fail_memory();
    for (size_t first = 0; first < count;) {
        size_t end = step_end(run, first);
        double much = recorded_span(run, first, end).step * MUCH_DELAY;
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

static void measure_delays(replayer_t *run, delay_t *delays)
{
    for (size_t e = 0; e < run->event_count; e++) {
        event_t *event = &run->events[e];
        size_t first = event->first;
        double step = at(run, first)->start;
        if (e > 0 && at(run, run->events[e - 1].first)->step == at(run, first)->step)
            step = run->events[e - 1].step;
        event->step = step;
        double ready = find_ready(run, event);
        event->delay = larger(event->start - (isfinite(ready) ? ready : step), 0);
        delays[e] = (delay_t){at(run, first)->key, at(run, first)->rank, e, event->delay};
    }
}

/* Of every step the median of the same place in all steps. */
static yoke_status_t find_delays(replayer_t *run)
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

/* --- slow ranks
 * ----------------------------------------------------------------------- */

typedef struct selector {
    unsigned dp, pp, tp; /* YOKE_ANY_RANK: any */
    const char *name;    /* of an operation; its length, 0: any */
    size_t name_length;
} selector_t;

static yoke_status_t fail_selector(const char *text)
{
    return yoke_fail(
        YOKE_ERR_USAGE,
        "--slow %s: expected ranks of the trace, for example 'dp=0,pp=3', "
        "'pp=3' or 'dp=1,op=forward-send' (dp, pp, tp: ranks from 0; op: the "
        "name of an operation)",
        text);
}

static yoke_status_t read_selector(const char *text, selector_t *out)
{
    selector_t selector = {YOKE_ANY_RANK, YOKE_ANY_RANK, YOKE_ANY_RANK, NULL, 0};
    for (const char *part = text; *part != '\0';) {
        size_t length = strcspn(part, ",");
        uint64_t value = 0;
        const char *content = part + 3;
        unsigned *number = strncmp(part, "dp=", 3) == 0   ? &selector.dp
                           : strncmp(part, "pp=", 3) == 0 ? &selector.pp
                           : strncmp(part, "tp=", 3) == 0 ? &selector.tp
                                                          : NULL;
        bool is_name = strncmp(part, "op=", 3) == 0 && length > 3;
        if (is_name) {
            selector.name = content;
            selector.name_length = length - 3;
        } else if (number == NULL || !yoke_parse_u64(content, length - 3, 0,
                                                     YOKE_MOST_RECORDED_RANKS, &value)) {
            return fail_selector(text);
        } else {
            *number = (unsigned)value;
        }
        part += length;
        if (*part == ',' && *++part == '\0')
            return fail_selector(text);
    }
    *out = selector;
    return YOKE_OK;
}

static bool selects(const selector_t *selector, const yoke_recording_t *recording,
                    const yoke_operation_t *operation)
{
    const yoke_recorded_rank_t *rank = &recording->ranks[operation->rank];
    const char *name = recording->names.items[operation->name];
    if ((selector->dp != YOKE_ANY_RANK && selector->dp != rank->dp) ||
        (selector->pp != YOKE_ANY_RANK && selector->pp != rank->pp) ||
        (selector->tp != YOKE_ANY_RANK && selector->tp != rank->tp))
        return false;
    if (selector->name == NULL)
        return !is_exchange(operation);
    return strlen(name) == selector->name_length &&
           strncmp(name, selector->name, selector->name_length) == 0;
}

static yoke_status_t set_speeds(replayer_t *run, const yoke_recording_slow_t *slow,
                                size_t slow_count)
{
    size_t count = run->recording->operation_count;
    for (size_t i = 0; i < count; i++)
        run->speeds[i] = 1;
    for (size_t s = 0; s < slow_count; s++) {
        selector_t selector = {0};
        size_t matches = 0;
        yoke_status_t status = read_selector(slow[s].selector, &selector);
        if (status != YOKE_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            if (selects(&selector, run->recording, at(run, i))) {
                run->speeds[i] *= slow[s].factor;
                matches++;
            }
        if (matches == 0)
            return yoke_fail(YOKE_ERR_USAGE,
                             "--slow: '%s' matches no operation of the trace",
                             slow[s].selector);
    }
    return YOKE_OK;
}

/* --- the steps
 * ------------------------------------------------------------------------ */

/* One step again: its length, and from its first forward to its last backward. */
static span_t replay_step(replayer_t *run, size_t first, size_t end, bool delays,
                          bool speeds)
{
    double last = 0, from = INFINITY, to = -INFINITY;
    for (size_t e = run->event_of[first]; e <= run->event_of[end - 1]; e++) {
        event_t *event = &run->events[e];
        double start = 0;
        size_t past = event->first + event->count;
        for (size_t i = event->first; i < past; i++)
            for (size_t w = run->wait_at[i]; w < run->wait_at[i + 1]; w++)
                start = larger(start,
                               run->ends[run->waits[w]] - overlap(run, run->waits[w], i));
        if (event->also != 0)
            start = larger(start, run->ends[event->also - 1]);
        if (delays)
            start += event->delay;
        for (size_t i = event->first; i < past; i++) {
            const yoke_operation_t *operation = at(run, i);
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
    return (span_t){last, to > from ? to - from : 0};
}

static yoke_status_t replay_steps(replayer_t *run, yoke_recording_result_t *result)
{
    size_t count = run->recording->operation_count;
    for (size_t first = 0; first < count; first = step_end(run, first))
        result->step_count++;
    result->steps = calloc(result->step_count, sizeof *result->steps);
    if (result->steps == NULL)
        return yoke_fail_memory();
    yoke_recording_step_t *step = result->steps;
    for (size_t first = 0; first < count; step++) {
        size_t end = step_end(run, first);
        span_t recorded = recorded_span(run, first, end);
        span_t alone = replay_step(run, first, end, false, false);
        step->number = at(run, first)->step;
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
static size_t count_apart(const replayer_t *run)
{
    size_t apart = 0;
    for (size_t e = 0; e < run->event_count; e++) {
        const event_t *event = &run->events[e];
        bool overlaps = true;
        for (size_t i = event->first; i < event->first + event->count; i++)
            overlaps = overlaps && at(run, i)->end + MOST_SLACK >= event->start;
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

static yoke_status_t sum_ranks(const replayer_t *run, yoke_recording_result_t *result)
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
        const yoke_operation_t *operation = at(run, i);
        yoke_recording_rank_t *rank = &result->ranks[operation->rank];
        double begin = run->events[run->event_of[i]].start;
        double share = larger(operation->end - begin, 0) / total;
        if (!is_exchange(operation))
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
    replayer_t run = {.recording = recording};
    yoke_recording_result_t result = {.operations = recording->operation_count,
                                      .unknown = recording->unknown};
    run.ends = calloc(recording->operation_count, sizeof *run.ends);
    run.speeds = calloc(recording->operation_count, sizeof *run.speeds);
    yoke_status_t status =
        run.ends == NULL || run.speeds == NULL ? yoke_fail_memory() : YOKE_OK;
    if (status == YOKE_OK)
        status = find_events(&run);
    if (status == YOKE_OK)
        status = find_waits(&run);
    if (status == YOKE_OK)
        status = find_hidden_waits(&run);
    if (status == YOKE_OK)
        status = find_delays(&run);
    if (status == YOKE_OK)
        status = set_speeds(&run, slow, slow_count);
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
