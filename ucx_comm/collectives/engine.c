/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules over a transport: cache of schedules by shape, runs, deadlines. */

#include "ucx_comm/collectives/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ucx_comm/collectives/reduce.h"

#define PAGE 4096
#define SCRATCH_LIMIT ((uint64_t)512 << 20) /* bytes of scratch that idle runs keep */
#define CLOCK_EVERY 64 /* fruitless rounds between looks at the clock */

typedef struct entry entry_t;

/* A message of a run, and where it belongs. */
typedef struct slot {
    yoke_message_t message;
    yoke_run_t *run;
    const yoke_step_data_t *step;
} slot_t;

struct yoke_run {
    yoke_engine_t *engine;
    entry_t *entry;
    yoke_run_t *next; /* among those under way, or idle ones of the entry */
    slot_t *slots;    /* one a message of the schedule */
    uint32_t *waits;  /* predecessors that have not ended, by step */
    uint32_t *ready;  /* steps in the order in which they became ready; each once */
    uint32_t ready_begin, ready_end;
    uint32_t *active;     /* steps whose message is under way */
    const void **sources; /* of one REDUCE_MANY step */
    uint32_t active_count;
    uint32_t left; /* steps that have not ended */
    char *base[YOKE_REGION_COUNT];
    yoke_run_options_t options;
    uint64_t started, deadline; /* ns */
    bool suspected;
    yoke_status_t failure, status;
};

/* A schedule of one shape of call. */
struct entry {
    entry_t *newer, *older;
    uint64_t hash;
    yoke_shape_t shape; /* its arrays are the entry's own */
    uint64_t *arrays;
    yoke_schedule_t *schedule;
    uint32_t *first; /* steps without predecessors, receives first */
    uint32_t first_count;
    yoke_run_t *idle;
    unsigned busy;
};

struct yoke_engine {
    yoke_control_t *control;
    yoke_transport_t *transport;
    entry_t *newest, *oldest;
    unsigned entries;
    yoke_run_t *runs; /* under way */
    uint64_t scratch; /* bytes that all runs hold */
    uint64_t built;
    unsigned fruitless;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- the cache ---------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t mix_array(uint64_t hash, const uint64_t *array, int n)
{
    hash = mix(hash, array != NULL);
    for (int i = 0; array != NULL && i < n; i++)
        hash = mix(hash, array[i]);
    return hash;
}

static uint64_t hash_of(const yoke_shape_t *shape)
{
    uint64_t hash =
        mix((uint64_t)shape->collective << 32 | (uint64_t)shape->element << 24 |
                (uint64_t)shape->reduction << 16 | (uint64_t)shape->algorithm << 8 |
                shape->in_place,
            (uint64_t)(uint32_t)shape->root << 32 | shape->radix);
    hash = mix(mix(mix(hash, shape->chunk), shape->count), shape->stride);
    hash = mix_array(hash, shape->counts, shape->size);
    hash = mix_array(hash, shape->displacements, shape->size);
    hash = mix_array(hash, shape->send_counts, shape->size);
    return mix_array(hash, shape->send_displacements, shape->size);
}

static bool same_array(const uint64_t *a, const uint64_t *b, int n)
{
    if (a == NULL || b == NULL)
        return a == b;
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_shape(const yoke_shape_t *a, const yoke_shape_t *b)
{
    return a->collective == b->collective && a->element == b->element &&
           a->reduction == b->reduction && a->algorithm == b->algorithm &&
           a->root == b->root && a->in_place == b->in_place && a->radix == b->radix &&
           a->chunk == b->chunk && a->count == b->count && a->stride == b->stride &&
           same_array(a->counts, b->counts, a->size) &&
           same_array(a->displacements, b->displacements, a->size) &&
           same_array(a->send_counts, b->send_counts, a->size) &&
           same_array(a->send_displacements, b->send_displacements, a->size);
}

static void unlink_entry(yoke_engine_t *engine, entry_t *entry)
{
    *(entry->newer != NULL ? &entry->newer->older : &engine->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &engine->oldest) = entry->newer;
    engine->entries--;
}

static void link_newest(yoke_engine_t *engine, entry_t *entry)
{
    entry->newer = NULL;
    entry->older = engine->newest;
    *(engine->newest != NULL ? &engine->newest->newer : &engine->oldest) = entry;
    engine->newest = entry;
    engine->entries++;
}

static void free_run(yoke_run_t *run)
{
    free(run->base[YOKE_REGION_SCRATCH]);
    free(run->slots);
    free(run->waits);
    free(run->ready);
    free(run->active);
    free(run->sources);
    free(run);
}

static void free_entry(yoke_engine_t *engine, entry_t *entry)
{
    while (entry->idle != NULL) {
        yoke_run_t *run = entry->idle;
        entry->idle = run->next;
        engine->scratch -= entry->schedule->scratch;
        free_run(run);
    }
    yoke_schedule_free(entry->schedule);
    free(entry->arrays);
    free(entry->first);
    free(entry);
}

/* Until the cache is within its bounds, the least recently used entries that nothing runs
 * on go. */
static void trim(yoke_engine_t *engine)
{
    entry_t *entry = engine->oldest;
    while (entry != NULL && entry != engine->newest &&
           (engine->entries > YOKE_ENGINE_CACHE || engine->scratch > SCRATCH_LIMIT)) {
        entry_t *newer = entry->newer;
        if (entry->busy == 0) {
            unlink_entry(engine, entry);
            free_entry(engine, entry);
        }
        entry = newer;
    }
}

static void keep_array(const uint64_t **array, uint64_t **room, int n)
{
    if (*array == NULL)
        return;
    memcpy(*room, *array, (size_t)n * sizeof **array);
    *array = *room;
    *room += n;
}

static yoke_status_t list_first(entry_t *entry)
{
    const yoke_schedule_t *schedule = entry->schedule;
    entry->first = malloc((schedule->count + 1) * sizeof *entry->first);
    if (entry->first == NULL)
        return yoke_fail_memory();
    for (int sends = 0; sends < 2; sends++)
        for (uint32_t i = 0; i < schedule->count; i++) {
            const yoke_step_data_t *step = &schedule->steps[i];
            bool receives =
                step->kind == YOKE_STEP_RECEIVE || step->kind == YOKE_STEP_RECEIVE_REDUCE;
            if (step->waits_for == 0 && receives == (sends == 0))
                entry->first[entry->first_count++] = i;
        }
    return YOKE_OK;
}

static yoke_status_t new_entry(yoke_engine_t *engine, const yoke_shape_t *shape,
                               uint64_t hash, entry_t **out_entry)
{
    entry_t *entry = calloc(1, sizeof *entry);
    uint64_t *arrays = malloc(4 * (size_t)shape->size * sizeof *arrays);
    if (entry == NULL || arrays == NULL) {
        free(entry);
        free(arrays);
        return yoke_fail_memory();
    }
    entry->hash = hash;
    entry->shape = *shape;
    entry->arrays = arrays;
    keep_array(&entry->shape.counts, &arrays, shape->size);
    keep_array(&entry->shape.displacements, &arrays, shape->size);
    keep_array(&entry->shape.send_counts, &arrays, shape->size);
    keep_array(&entry->shape.send_displacements, &arrays, shape->size);
    yoke_status_t status = yoke_schedule_build(&entry->shape, &entry->schedule);
    if (status == YOKE_OK)
        status = list_first(entry);
    if (status != YOKE_OK) {
        free_entry(engine, entry);
        return status;
    }
    engine->built++;
    link_newest(engine, entry);
    *out_entry = entry;
    return YOKE_OK;
}

static yoke_status_t find_entry(yoke_engine_t *engine, const yoke_shape_t *shape,
                                entry_t **out_entry)
{
    uint64_t hash = hash_of(shape);
    for (entry_t *entry = engine->newest; entry != NULL; entry = entry->older)
        if (entry->hash == hash && same_shape(&entry->shape, shape)) {
            if (entry != engine->newest) {
                unlink_entry(engine, entry);
                link_newest(engine, entry);
            }
            *out_entry = entry;
            return YOKE_OK;
        }
    return new_entry(engine, shape, hash, out_entry);
}

/* --- runs ----------------------------------------------------------------------------
 */

static yoke_status_t new_run(yoke_engine_t *engine, entry_t *entry, yoke_run_t **out_run)
{
    const yoke_schedule_t *schedule = entry->schedule;
    yoke_run_t *run = calloc(1, sizeof *run);
    if (run == NULL)
        return yoke_fail_memory();
    size_t steps = (size_t)schedule->count + 1;
    uint64_t scratch = (schedule->scratch + PAGE - 1) / PAGE * PAGE;
    run->engine = engine;
    run->entry = entry;
    run->slots = calloc((size_t)schedule->messages + 1, sizeof *run->slots);
    run->waits = malloc(steps * sizeof *run->waits);
    run->ready = malloc(steps * sizeof *run->ready);
    run->active = malloc(steps * sizeof *run->active);
    run->sources = malloc(((size_t)schedule->range_count + 1) * sizeof *run->sources);
    if (scratch > 0)
        run->base[YOKE_REGION_SCRATCH] = aligned_alloc(PAGE, (size_t)scratch);
    if (run->slots == NULL || run->waits == NULL || run->ready == NULL ||
        run->active == NULL || run->sources == NULL ||
        (scratch > 0 && run->base[YOKE_REGION_SCRATCH] == NULL)) {
        free_run(run);
        return yoke_fail_memory();
    }
    engine->scratch += schedule->scratch;
    *out_run = run;
    return YOKE_OK;
}

/* A region that does not exist is only named by ranges of no bytes. */
static char *place(const yoke_run_t *run, yoke_range_t range)
{
    return (char *)((uintptr_t)run->base[range.region] + (uintptr_t)range.offset);
}

static void on_piece(void *context, uint64_t offset, const void *piece, uint64_t size)
{
    const slot_t *slot = context;
    const yoke_step_data_t *step = slot->step;
    const yoke_schedule_t *schedule = slot->run->entry->schedule;
    char *to = place(slot->run, step->to) + offset;
    const char *from = place(slot->run, step->from) + offset;
    uint64_t count = size / yoke_element_size(schedule->element);
    if (step->flipped)
        yoke_reduce_pair(to, piece, from, count, schedule->element, schedule->reduction);
    else
        yoke_reduce_pair(to, from, piece, count, schedule->element, schedule->reduction);
}

static void reduce_many(const yoke_run_t *run, const yoke_step_data_t *step)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    for (uint32_t i = 0; i < step->many_count; i++)
        run->sources[i] = place(run, schedule->ranges[step->many + i]);
    yoke_reduce_many(
        place(run, step->to), run->sources, step->many_count,
        step->size / yoke_element_size(schedule->element), schedule->element,
        schedule->reduction,
        schedule->reduction == YOKE_REDUCE_AVG && !step->partial ? schedule->ranks : 0);
}

static void do_local(const yoke_run_t *run, const yoke_step_data_t *step)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    if (step->size == 0)
        return;
    char *to = place(run, step->to), *from = place(run, step->from);
    uint64_t count = step->size / yoke_element_size(schedule->element);
    switch (step->kind) {
    case YOKE_STEP_COPY:
        memcpy(to, from, (size_t)step->size);
        break;
    case YOKE_STEP_REDUCE:
        yoke_reduce_pair(to, step->flipped ? from : to, step->flipped ? to : from, count,
                         schedule->element, schedule->reduction);
        break;
    case YOKE_STEP_REDUCE_MANY:
        reduce_many(run, step);
        break;
    case YOKE_STEP_SCALE:
        yoke_reduce_scale(to, count, schedule->element, schedule->ranks);
        break;
    case YOKE_STEP_SEND:
    case YOKE_STEP_RECEIVE:
    case YOKE_STEP_RECEIVE_REDUCE:
        break;
    }
}

/* The first failure of a run ends the communicator for all. */
static void fail_run(yoke_run_t *run, yoke_status_t status)
{
    if (run->failure != YOKE_OK)
        return;
    run->failure = status;
    yoke_control_t *control = run->engine->control;
    if (atomic_load(yoke_control_state(control)) == YOKE_CONTROL_RUNNING)
        yoke_control_revoke(control, status, yoke_last_error());
}

/* Start one message; true where it has ended already. */
static bool start_message(yoke_run_t *run, uint32_t index)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    const yoke_step_data_t *step = &schedule->steps[index];
    slot_t *slot = &run->slots[step->message];
    bool sends = step->kind == YOKE_STEP_SEND;
    memset(&slot->message, 0, sizeof slot->message);
    slot->run = run;
    slot->step = step;
    yoke_message_t *message = &slot->message;
    message->peer = step->peer;
    message->tag = run->options.tag | step->channel;
    message->data = place(run, sends ? step->from : step->to);
    message->size = step->size;
    message->signature = run->options.signature;
    if (run->options.count_is_size)
        message->signature.count = step->size / yoke_element_size(schedule->element);
    if (step->kind == YOKE_STEP_RECEIVE_REDUCE) {
        message->consume = on_piece;
        message->context = slot;
    }
    message->status = YOKE_ERR_NOT_READY;
    yoke_status_t status = sends
                               ? yoke_transport_send(run->engine->transport, message)
                               : yoke_transport_receive(run->engine->transport, message);
    if (status != YOKE_OK && status != YOKE_ERR_NOT_READY) {
        fail_run(run, status);
        return false;
    }
    if (message->status == YOKE_OK)
        return true;
    run->active[run->active_count++] = index;
    return false;
}

static void step_ended(yoke_run_t *run, uint32_t index)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    const yoke_step_data_t *step = &schedule->steps[index];
    run->left--;
    for (uint32_t i = 0; i < step->next_count; i++) {
        uint32_t next = (uint32_t)schedule->successors[step->next + i];
        if (--run->waits[next] == 0)
            run->ready[run->ready_end++] = next;
    }
}

static void start_ready(yoke_run_t *run)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    while (run->ready_begin < run->ready_end && run->failure == YOKE_OK) {
        uint32_t index = run->ready[run->ready_begin++];
        const yoke_step_data_t *step = &schedule->steps[index];
        if (step->kind <= YOKE_STEP_RECEIVE_REDUCE) {
            if (!start_message(run, index))
                continue;
        } else
            do_local(run, step);
        step_ended(run, index);
    }
}

/* Messages that have ended let others start. */
static unsigned advance(yoke_run_t *run)
{
    const yoke_schedule_t *schedule = run->entry->schedule;
    unsigned happened = 0;
    for (uint32_t i = 0; i < run->active_count;) {
        uint32_t index = run->active[i];
        const yoke_message_t *message =
            &run->slots[schedule->steps[index].message].message;
        if (message->status == YOKE_ERR_NOT_READY) {
            i++;
            continue;
        }
        run->active[i] = run->active[--run->active_count];
        happened++;
        if (message->status == YOKE_OK)
            step_ended(run, index);
        else
            fail_run(run, message->status);
    }
    if (happened > 0)
        start_ready(run);
    if (run->active_count > 0)
        return happened;
    if (run->failure != YOKE_OK) {
        /* The reason that all ranks give, rather than how it showed here. */
        run->status = yoke_control_reason(run->engine->control);
        if (run->status == YOKE_OK)
            run->status = run->failure;
    } else if (run->left == 0)
        run->status = YOKE_OK;
    return happened;
}

static void check_deadline(yoke_run_t *run, uint64_t now)
{
    if (now < run->deadline || run->suspected || run->active_count == 0 ||
        run->failure != YOKE_OK)
        return;
    run->suspected = true;
    const yoke_schedule_t *schedule = run->entry->schedule;
    /* A rank that a receive waits for rather than one that a send stands in front of. */
    const yoke_step_data_t *step = &schedule->steps[run->active[0]];
    for (uint32_t i = 0; i < run->active_count; i++)
        if (schedule->steps[run->active[i]].kind != YOKE_STEP_SEND)
            step = &schedule->steps[run->active[i]];
    char what[160];
    snprintf(what, sizeof what, "%s number %llu waited %llu ms to %s rank %d",
             yoke_collective_name((yoke_collective_t)run->options.signature.collective),
             (unsigned long long)run->options.signature.sequence,
             (unsigned long long)((now - run->started) / 1000000),
             step->kind == YOKE_STEP_SEND ? "send to" : "receive from", step->peer);
    yoke_control_suspect(run->engine->control, step->peer, what);
}

unsigned yoke_engine_progress(yoke_engine_t *engine)
{
    unsigned happened = yoke_transport_progress(engine->transport);
    for (yoke_run_t **link = &engine->runs; *link != NULL;) {
        yoke_run_t *run = *link;
        happened += advance(run);
        if (run->status != YOKE_ERR_NOT_READY)
            *link = run->next;
        else
            link = &run->next;
    }
    engine->fruitless = happened > 0 ? 0 : engine->fruitless + 1;
    if (engine->fruitless % CLOCK_EVERY == CLOCK_EVERY - 1 && engine->runs != NULL) {
        uint64_t now = now_ns();
        for (yoke_run_t *run = engine->runs; run != NULL; run = run->next)
            check_deadline(run, now);
    }
    return happened;
}

yoke_status_t yoke_engine_start(yoke_engine_t *engine, const yoke_shape_t *shape,
                                const yoke_run_options_t *options, yoke_run_t **out_run)
{
    entry_t *entry = NULL;
    yoke_status_t status = find_entry(engine, shape, &entry);
    if (status != YOKE_OK)
        return status;
    yoke_run_t *run = entry->idle;
    if (run != NULL)
        entry->idle = run->next;
    else if ((status = new_run(engine, entry, &run)) != YOKE_OK)
        return status;
    entry->busy++;
    const yoke_schedule_t *schedule = entry->schedule;
    run->options = *options;
    run->base[YOKE_REGION_SEND] = options->send;
    run->base[YOKE_REGION_RECV] = options->recv;
    for (uint32_t i = 0; i < schedule->count; i++)
        run->waits[i] = schedule->steps[i].waits_for;
    memcpy(run->ready, entry->first, entry->first_count * sizeof *run->ready);
    run->ready_begin = 0;
    run->ready_end = entry->first_count;
    run->active_count = 0;
    run->left = schedule->count;
    run->started = now_ns();
    run->deadline = run->started + (uint64_t)options->timeout_ms * 1000000u;
    run->suspected = false;
    run->failure = YOKE_OK;
    run->status = YOKE_ERR_NOT_READY;
    start_ready(run);
    advance(run);
    if (run->status == YOKE_ERR_NOT_READY) {
        run->next = engine->runs;
        engine->runs = run;
    }
    trim(engine);
    *out_run = run;
    return YOKE_OK;
}

yoke_status_t yoke_run_status(const yoke_run_t *run)
{
    return run->status;
}

void yoke_run_end(yoke_run_t *run)
{
    entry_t *entry = run->entry;
    entry->busy--;
    run->next = entry->idle;
    entry->idle = run;
}

uint64_t yoke_engine_built(const yoke_engine_t *engine)
{
    return engine->built;
}

yoke_status_t yoke_engine_create(yoke_control_t *control, yoke_transport_t *transport,
                                 yoke_engine_t **out_engine)
{
    yoke_engine_t *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return yoke_fail_memory();
    engine->control = control;
    engine->transport = transport;
    *out_engine = engine;
    return YOKE_OK;
}

void yoke_engine_destroy(yoke_engine_t *engine)
{
    if (engine == NULL)
        return;
    while (engine->runs != NULL) {
        yoke_run_t *run = engine->runs;
        engine->runs = run->next;
        yoke_run_end(run);
    }
    while (engine->newest != NULL) {
        entry_t *entry = engine->newest;
        unlink_entry(engine, entry);
        free_entry(engine, entry);
    }
    free(engine);
}
