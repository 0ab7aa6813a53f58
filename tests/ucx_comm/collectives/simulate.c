/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/collectives/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ucx_comm/collectives/reference.h"
#include "ucx_comm/collectives/reduce.h"

/* Something that can happen next: a step that is ready, or a pair of messages that meet.
 */
typedef struct event {
    int rank;
    uint32_t step;
    int sender; /* -1: a step */
    uint32_t sender_step;
} event_t;

typedef struct pending {
    int rank; /* of the one who waits; -1 - rank of the receiver once both have met */
    uint32_t step;
    char *eager; /* sends: data that was taken at once */
} pending_t;

typedef struct state {
    simulated_rank_t *ranks;
    int size;
    uint64_t random;
    uint32_t *waits[64];
    event_t *events;
    size_t event_count;
    pending_t *waiting; /* sends and receives that have not met */
    size_t waiting_count;
    char *eager_of_pair;      /* of the event that runs */
    size_t left, left_of[64]; /* steps; of each rank */
    char wrong[160];
} state_t;

static char *place(const simulated_rank_t *rank, yoke_range_t range)
{
    return (char *)((uintptr_t)rank->base[range.region] + range.offset);
}

static const yoke_step_data_t *step_of(const state_t *state, int rank, uint32_t step)
{
    return &state->ranks[rank].schedule->steps[step];
}

static void push(state_t *state, event_t event)
{
    state->events[state->event_count++] = event;
}

static void ended(state_t *state, int rank, uint32_t index)
{
    const yoke_schedule_t *schedule = state->ranks[rank].schedule;
    const yoke_step_data_t *step = &schedule->steps[index];
    state->left--;
    state->left_of[rank]--;
    for (uint32_t i = 0; i < step->next_count; i++) {
        uint32_t next = (uint32_t)schedule->successors[step->next + i];
        if (--state->waits[rank][next] == 0)
            push(state, (event_t){rank, next, -1, 0});
    }
}

static void do_local(const simulated_rank_t *rank, const yoke_step_data_t *step)
{
    const yoke_schedule_t *schedule = rank->schedule;
    uint64_t count = step->size / yoke_element_size(schedule->element);
    const void *sources[64];
    if (step->size == 0)
        return;
    switch (step->kind) {
    case YOKE_STEP_COPY:
        memmove(place(rank, step->to), place(rank, step->from), step->size);
        break;
    case YOKE_STEP_REDUCE:
        yoke_reduce_pair(place(rank, step->to), place(rank, step->to),
                         place(rank, step->from), count, schedule->element,
                         schedule->reduction);
        break;
    case YOKE_STEP_REDUCE_MANY:
        for (uint32_t i = 0; i < step->many_count; i++)
            sources[i] = place(rank, schedule->ranges[step->many + i]);
        yoke_reduce_many(place(rank, step->to), sources, step->many_count, count,
                         schedule->element, schedule->reduction,
                         step->partial ? 0 : schedule->ranks);
        break;
    case YOKE_STEP_SCALE:
        yoke_reduce_scale(place(rank, step->to), count, schedule->element,
                          schedule->ranks);
        break;
    default:
        break;
    }
}

/* A send or receive starts: it meets its other half, or waits for it. */
static void start_message(state_t *state, int rank, uint32_t index)
{
    const yoke_step_data_t *step = step_of(state, rank, index);
    bool sends = step->kind == YOKE_STEP_SEND;
    char *eager = NULL;
    if (sends && step->size > 0 && reference_random(&state->random) % 2 == 0) {
        eager = malloc(step->size);
        memcpy(eager, place(&state->ranks[rank], step->from), step->size);
        ended(state, rank, index);
    } else if (step->kind == YOKE_STEP_RECEIVE && step->size > 0 &&
               reference_random(&state->random) % 2 == 0)
        memset(place(&state->ranks[rank], step->to), 0x5a, step->size);
    for (size_t i = 0; i < state->waiting_count; i++) {
        pending_t other = state->waiting[i];
        if (other.rank < 0)
            continue; /* has met its other half */
        const yoke_step_data_t *theirs = step_of(state, other.rank, other.step);
        if (other.rank != step->peer || theirs->peer != rank ||
            theirs->channel != step->channel || (theirs->kind == YOKE_STEP_SEND) == sends)
            continue;
        if (theirs->size != step->size)
            snprintf(state->wrong, sizeof state->wrong,
                     "ranks %d and %d: %llu bytes meet %llu", rank, other.rank,
                     (unsigned long long)step->size, (unsigned long long)theirs->size);
        /* The pair's transfer happens at some later time. */
        state->waiting[i].eager = sends ? eager : other.eager;
        event_t event = {sends ? other.rank : rank, sends ? other.step : index,
                         sends ? rank : other.rank, sends ? index : other.step};
        push(state, event);
        /* The eager copy stays with the entry until the transfer. */
        state->waiting[i].rank = -1 - event.rank;
        state->waiting[i].step = event.step;
        return;
    }
    state->waiting[state->waiting_count++] = (pending_t){rank, index, eager};
}

static char *take_eager(state_t *state, const event_t *event)
{
    for (size_t i = 0; i < state->waiting_count; i++)
        if (state->waiting[i].rank == -1 - event->rank &&
            state->waiting[i].step == event->step) {
            char *eager = state->waiting[i].eager;
            state->waiting[i] = state->waiting[--state->waiting_count];
            return eager;
        }
    return NULL;
}

static void transfer(state_t *state, const event_t *event)
{
    const simulated_rank_t *to = &state->ranks[event->rank];
    const yoke_step_data_t *step = step_of(state, event->rank, event->step);
    const yoke_step_data_t *send = step_of(state, event->sender, event->sender_step);
    char *eager = take_eager(state, event);
    const char *data =
        eager != NULL ? eager : place(&state->ranks[event->sender], send->from);
    uint64_t count = step->size / yoke_element_size(to->schedule->element);
    if (step->size > 0 && step->kind == YOKE_STEP_RECEIVE)
        memcpy(place(to, step->to), data, step->size);
    else if (step->size > 0)
        yoke_reduce_pair(place(to, step->to),
                         step->flipped ? data : place(to, step->from),
                         step->flipped ? place(to, step->from) : data, count,
                         to->schedule->element, to->schedule->reduction);
    ended(state, event->rank, event->step);
    if (eager == NULL)
        ended(state, event->sender, event->sender_step);
    free(eager);
}

static void run(state_t *state)
{
    while (state->event_count > 0 && state->wrong[0] == '\0') {
        size_t pick = (size_t)(reference_random(&state->random) % state->event_count);
        event_t event = state->events[pick];
        state->events[pick] = state->events[--state->event_count];
        if (event.sender >= 0) {
            transfer(state, &event);
            continue;
        }
        const yoke_step_data_t *step = step_of(state, event.rank, event.step);
        if (step->kind <= YOKE_STEP_RECEIVE_REDUCE)
            start_message(state, event.rank, event.step);
        else {
            do_local(&state->ranks[event.rank], step);
            ended(state, event.rank, event.step);
        }
    }
}

static bool prepare(state_t *state)
{
    size_t steps = 0;
    for (int r = 0; r < state->size; r++) {
        yoke_schedule_t *schedule = state->ranks[r].schedule;
        steps += schedule->count;
        state->left_of[r] = schedule->count;
        state->waits[r] = calloc((size_t)schedule->count + 1, sizeof(uint32_t));
        state->ranks[r].base[YOKE_REGION_SCRATCH] = malloc(schedule->scratch + 1);
        memset(state->ranks[r].base[YOKE_REGION_SCRATCH], 0x7b, schedule->scratch + 1);
    }
    state->left = steps;
    state->events = calloc(2 * steps + 1, sizeof *state->events);
    state->waiting = calloc(steps + 1, sizeof *state->waiting);
    for (int r = 0; r < state->size; r++)
        for (uint32_t i = 0; i < state->ranks[r].schedule->count; i++) {
            state->waits[r][i] = step_of(state, r, i)->waits_for;
            if (state->waits[r][i] == 0)
                push(state, (event_t){r, i, -1, 0});
        }
    return state->events != NULL && state->waiting != NULL;
}

static void finish(state_t *state)
{
    for (size_t i = 0; i < state->waiting_count; i++)
        free(state->waiting[i].eager);
    for (int r = 0; r < state->size; r++) {
        free(state->waits[r]);
        free(state->ranks[r].base[YOKE_REGION_SCRATCH]);
    }
    free(state->events);
    free(state->waiting);
}

const char *simulate(simulated_rank_t *ranks, int size, uint64_t seed)
{
    static char wrong[160];
    state_t state = {.ranks = ranks, .size = size, .random = seed};
    if (prepare(&state))
        run(&state);
    if (state.wrong[0] == '\0' && (state.left > 0 || state.waiting_count > 0))
        snprintf(state.wrong, sizeof state.wrong,
                 "%zu steps did not end, %zu messages did not meet", state.left,
                 state.waiting_count);
    finish(&state);
    memcpy(wrong, state.wrong, sizeof wrong);
    return wrong[0] == '\0' ? NULL : wrong;
}

int simulate_ended(simulated_rank_t *ranks, int size, uint64_t seed)
{
    state_t state = {.ranks = ranks, .size = size, .random = seed};
    if (prepare(&state))
        run(&state);
    int ended = 0;
    for (int r = 0; r < size; r++)
        ended += state.left_of[r] == 0;
    finish(&state);
    return ended;
}
