/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded traces: from Chrome trace events to operations of ranks. First the names of
 * the threads, which say what rank they are and may stand anywhere, then the operations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/json.h"
#include "partition/recording_parts.h"

enum { MOST_UNPACKED = 512 << 20, MOST_NUMBER = 1000000000 };

typedef enum form { FORM_RANKS, FORM_STAGES } form_t;

typedef struct thread {
    uint64_t process, number;
    form_t form;
    unsigned rank;
} thread_t;

typedef struct reader {
    yoke_recording_t *recording;
    thread_t *threads;
    size_t thread_count, thread_capacity;
    size_t recent; /* thread of the last operation: the next is often on it too */
} reader_t;

/* Who takes part in an exchange: all ranks that differ only in these. */
enum { OVER_DATA = 1, OVER_STAGES = 2, OVER_TENSOR = 4 };

/* Names of the operations: those of the traces of StragglerAnalysis
 * (analyzer/metatypes.py and dependency_model.py there), and our own. */
typedef struct known {
    const char *name;
    yoke_operation_kind_t kind;
    unsigned over;
    char peer;      /* of point to point: 'f' or 'b' */
    int stage_step; /* with it added, the stage is the boundary's lower side */
} known_t;
static const known_t known_names[] = {
    {"forward-compute", YOKE_OPERATION_PIPELINE, 0, 0, 0},
    {"backward-compute", YOKE_OPERATION_PIPELINE, 0, 0, 0},
    {"backward-wgrad-compute", YOKE_OPERATION_PIPELINE, 0, 0, 0},
    {"optimizer", YOKE_OPERATION_LOCAL, 0, 0, 0},
    {"gc", YOKE_OPERATION_LOCAL, 0, 0, 0},
    {"data-load", YOKE_OPERATION_LOCAL, 0, 0, 0},
    {"data-sync", YOKE_OPERATION_LOCAL, 0, 0, 0},
    {"forward-send", YOKE_OPERATION_EXCHANGE, 0, 'f', 0},
    {"forward-recv", YOKE_OPERATION_EXCHANGE, 0, 'f', -1},
    {"backward-send", YOKE_OPERATION_EXCHANGE, 0, 'b', -1},
    {"backward-recv", YOKE_OPERATION_EXCHANGE, 0, 'b', 0},
    {"params-all-gather", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
    {"params-all-gather-nonoverlapping", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
    {"grads-reduce-scatter", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
    {"grads-reduce-scatter-nonoverlapping", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
    {"separate-grads-all-reduce", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
    {"embedding-grads-all-reduce", YOKE_OPERATION_EXCHANGE, OVER_STAGES, 0, 0},
    {"layernorm-grads-all-reduce", YOKE_OPERATION_EXCHANGE, OVER_TENSOR, 0, 0},
    {"tp-allreduce", YOKE_OPERATION_EXCHANGE, OVER_TENSOR, 0, 0},
    {"tp-allgather", YOKE_OPERATION_EXCHANGE, OVER_TENSOR, 0, 0},
    {"tp-reducescatter", YOKE_OPERATION_EXCHANGE, OVER_TENSOR, 0, 0},
    {"optimizer-clip-main-grad", YOKE_OPERATION_EXCHANGE,
     OVER_DATA | OVER_STAGES | OVER_TENSOR, 0, 0},
    {"forward", YOKE_OPERATION_PIPELINE, 0, 0, 0},
    {"backward", YOKE_OPERATION_PIPELINE, 0, 0, 0},
    {"weight update", YOKE_OPERATION_LOCAL, 0, 0, 0},
    {"send forward", YOKE_OPERATION_EXCHANGE, 0, 'f', 0},
    {"send backward", YOKE_OPERATION_EXCHANGE, 0, 'b', -1},
    {"gradient exchange", YOKE_OPERATION_EXCHANGE, OVER_DATA, 0, 0},
};

static const known_t *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++)
        if (strcmp(known_names[i].name, name) == 0)
            return &known_names[i];
    return NULL;
}

/* Room for one more item in a growing array. */
static yoke_status_t reserve(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return YOKE_OK;
    size_t larger = *capacity == 0 ? 256 : *capacity * 2;
    void *grown = realloc(*items, larger * size);
    if (grown == NULL)
        return yoke_fail_memory();
    *items = grown;
    *capacity = larger;
    return YOKE_OK;
}

/* --- ranks and threads ----------------------------------------------------------------
 */

static yoke_status_t get_rank(yoke_recording_t *recording, yoke_recorded_rank_t wanted,
                              unsigned *out_rank)
{
    for (size_t i = recording->rank_count; i-- > 0;) {
        const yoke_recorded_rank_t *rank = &recording->ranks[i];
        if (rank->dp == wanted.dp && rank->pp == wanted.pp && rank->tp == wanted.tp) {
            *out_rank = (unsigned)i;
            return YOKE_OK;
        }
    }
    if (recording->rank_count == YOKE_MOST_RECORDED_RANKS)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "trace: more than %d ranks",
                         YOKE_MOST_RECORDED_RANKS);
    yoke_status_t status = reserve((void **)&recording->ranks, recording->rank_count,
                                   &recording->rank_capacity, sizeof *recording->ranks);
    if (status != YOKE_OK)
        return status;
    *out_rank = (unsigned)recording->rank_count;
    recording->ranks[recording->rank_count++] = wanted;
    return YOKE_OK;
}

/* "PP rank 3" -> 3 and what follows; false where the text is another. */
static bool take_number(const char **text, const char *before, unsigned *out)
{
    size_t length = strlen(before);
    if (strncmp(*text, before, length) != 0)
        return false;
    const char *digits = *text + length;
    size_t size = strspn(digits, "0123456789");
    uint64_t value;
    if (!yoke_parse_u64(digits, size, 0, YOKE_MOST_RECORDED_RANKS - 1, &value))
        return false;
    *text = digits + size;
    *out = (unsigned)value;
    return true;
}

static thread_t *find_thread(reader_t *reader, uint64_t process, uint64_t number)
{
    for (size_t i = 0; i < reader->thread_count; i++) {
        size_t at = (reader->recent + i) % reader->thread_count;
        if (reader->threads[at].number == number &&
            reader->threads[at].process == process) {
            reader->recent = at;
            return &reader->threads[at];
        }
    }
    return NULL;
}

/* Threads of other names carry no operations of a rank; those on them are refused. */
static yoke_status_t add_thread(reader_t *reader, const yoke_cursor_t *event,
                                uint64_t process)
{
    yoke_cursor_t args;
    const char *name = NULL;
    thread_t thread = {.process = process};
    yoke_recorded_rank_t rank = {.dp = (unsigned)process};
    yoke_status_t status = yoke_need_u64(event, "tid", 0, MOST_NUMBER, &thread.number);
    if (status == YOKE_OK)
        status = yoke_cursor_need(event, "args", &args);
    if (status == YOKE_OK)
        status = yoke_need_string(&args, "name", &name);
    if (status != YOKE_OK)
        return status;
    const char *rest = name;
    if (take_number(&rest, "PP rank ", &rank.pp) &&
        take_number(&rest, ", TP rank ", &rank.tp))
        thread.form = FORM_RANKS;
    else if (rest = name, take_number(&rest, "stage ", &rank.pp))
        thread.form = FORM_STAGES;
    else
        return YOKE_OK;
    status = get_rank(reader->recording, rank, &thread.rank);
    if (status == YOKE_OK)
        status = reserve((void **)&reader->threads, reader->thread_count,
                         &reader->thread_capacity, sizeof thread);
    if (status == YOKE_OK)
        reader->threads[reader->thread_count++] = thread;
    return status;
}

/* --- operations
 * ------------------------------------------------------------------------- */

static yoke_status_t get_name(reader_t *reader, const yoke_cursor_t *event,
                              const char *name, unsigned *out_name)
{
    yoke_strings_t *names = &reader->recording->names;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) {
            *out_name = (unsigned)i;
            return YOKE_OK;
        }
    if (names->count == YOKE_MOST_RECORDED_NAMES)
        return yoke_cursor_fail(event, "name",
                                "more than %d kinds of operations; is this a trace of "
                                "training steps by operation?",
                                YOKE_MOST_RECORDED_NAMES);
    *out_name = (unsigned)names->count;
    return yoke_strings_add(names, name);
}

static yoke_status_t append(reader_t *reader, const yoke_operation_t *operation)
{
    yoke_recording_t *recording = reader->recording;
    yoke_status_t status =
        reserve((void **)&recording->operations, recording->operation_count,
                &recording->operation_capacity, sizeof *operation);
    if (status == YOKE_OK)
        recording->operations[recording->operation_count++] = *operation;
    return status;
}

/* Our traces have a send on one side only; the other side gets its arrival. */
static yoke_status_t append_arrival(reader_t *reader, const yoke_operation_t *send,
                                    const known_t *known)
{
    yoke_operation_t arrival = *send;
    yoke_recorded_rank_t rank = reader->recording->ranks[send->rank];
    if (known->peer == 'f')
        rank.pp++;
    else if (rank.pp > 0)
        rank.pp--;
    arrival.kind = YOKE_OPERATION_ARRIVAL;
    yoke_status_t status = get_rank(reader->recording, rank, &arrival.rank);
    return status == YOKE_OK ? append(reader, &arrival) : status;
}

static void set_key(const reader_t *reader, const known_t *known, uint64_t number,
                    form_t form, yoke_operation_t *operation)
{
    const yoke_recorded_rank_t *rank = &reader->recording->ranks[operation->rank];
    uint32_t *key = operation->key;
    unsigned over = known != NULL ? known->over : 0;
    key[0] = known != NULL && known->peer != 0 ? YOKE_ANY_RANK - (uint32_t)known->peer
                                               : operation->name;
    key[1] = over & OVER_DATA ? YOKE_ANY_RANK : rank->dp;
    key[2] = over & OVER_STAGES ? YOKE_ANY_RANK : rank->pp;
    key[3] = over & OVER_TENSOR ? YOKE_ANY_RANK : rank->tp;
    key[4] = (uint32_t)number;
    if (known != NULL && known->peer != 0)
        key[2] += (uint32_t)known->stage_step;
    /* Which pipelines exchange gradients is not in our traces; those that do begin
     * together. */
    if (form == FORM_STAGES && over != 0)
        key[4] = (uint32_t)(int64_t)(operation->start * 1e9 + 0.5);
}

/* "step" and "seq_id" of the ranks' form, "micro_batch" of ours; all may be left out. */
static yoke_status_t read_args(const yoke_cursor_t *event, form_t form, uint64_t *step,
                               uint64_t *number)
{
    yoke_cursor_t args;
    *step = *number = 0;
    if (!yoke_cursor_member(event, "args", &args))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_object(&args);
    if (status == YOKE_OK)
        status = yoke_opt_u64(&args, "step", 0, MOST_NUMBER, step);
    if (status == YOKE_OK)
        status = yoke_opt_u64(&args, form == FORM_RANKS ? "seq_id" : "micro_batch", 0,
                              MOST_NUMBER, number);
    return status;
}

static yoke_status_t add_operation(reader_t *reader, const yoke_cursor_t *event,
                                   uint64_t process)
{
    uint64_t tid, step, number;
    double start, duration;
    const char *name;
    yoke_operation_t operation = {0};
    yoke_status_t status = yoke_need_u64(event, "tid", 0, MOST_NUMBER, &tid);
    if (status == YOKE_OK)
        status = yoke_need_string(event, "name", &name);
    if (status == YOKE_OK)
        status = yoke_need_double(event, "ts", -1e15, 1e15, &start);
    if (status == YOKE_OK)
        status = yoke_need_double(event, "dur", 0, 1e15, &duration);
    if (status != YOKE_OK)
        return status;
    const thread_t *thread = find_thread(reader, process, tid);
    if (thread == NULL)
        return yoke_cursor_fail(
            event, NULL,
            "an operation on thread %llu of process %llu, which is not named as a rank "
            "(\"PP rank 0, TP rank 0, compute\") or a stage (\"stage 0, ...\") by a "
            "thread_name event",
            (unsigned long long)tid, (unsigned long long)process);
    status = read_args(event, thread->form, &step, &number);
    if (status == YOKE_OK)
        status = get_name(reader, event, name, &operation.name);
    if (status != YOKE_OK)
        return status;
    const known_t *known = find_known(name);
    operation.start = start * 1e-6;
    operation.end = (start + duration) * 1e-6;
    operation.step = (long)step;
    operation.rank = thread->rank;
    operation.kind = known != NULL ? known->kind : YOKE_OPERATION_LOCAL;
    reader->recording->unknown += known == NULL;
    set_key(reader, known, number, thread->form, &operation);
    status = append(reader, &operation);
    if (status == YOKE_OK && thread->form == FORM_STAGES && known != NULL &&
        known->peer != 0)
        status = append_arrival(reader, &operation, known);
    return status;
}

/* --- the events
 * --------------------------------------------------------------------- */

typedef enum pass { PASS_THREADS, PASS_OPERATIONS } pass_t;

static yoke_status_t read_event(reader_t *reader, const yoke_cursor_t *event, pass_t pass)
{
    const char *phase, *name = NULL;
    uint64_t process = 0;
    yoke_status_t status = yoke_cursor_object(event);
    if (status == YOKE_OK)
        status = yoke_need_string(event, "ph", &phase);
    if (status != YOKE_OK)
        return status;
    if (strcmp(phase, "B") == 0 || strcmp(phase, "E") == 0)
        return yoke_cursor_fail(event, "ph",
                                "begin and end events are not read; write complete ones "
                                "(\"ph\": \"X\" with \"dur\")");
    if (strcmp(phase, pass == PASS_THREADS ? "M" : "X") != 0)
        return YOKE_OK;
    status = yoke_opt_string(event, "name", &name);
    if (pass == PASS_THREADS && (name == NULL || strcmp(name, "thread_name") != 0))
        return status;
    if (status == YOKE_OK)
        status = yoke_need_u64(event, "pid", 0, YOKE_MOST_RECORDED_RANKS - 1, &process);
    if (status != YOKE_OK)
        return status;
    return pass == PASS_THREADS ? add_thread(reader, event, process)
                                : add_operation(reader, event, process);
}

static yoke_status_t read_events(reader_t *reader, const yoke_cursor_t *events)
{
    yoke_status_t status = yoke_cursor_array(events);
    for (pass_t pass = PASS_THREADS; pass <= PASS_OPERATIONS; pass++)
        for (size_t i = 0; i < yoke_cursor_count(events) && status == YOKE_OK; i++) {
            yoke_cursor_t event = yoke_cursor_item(events, i);
            status = read_event(reader, &event, pass);
        }
    if (status == YOKE_OK && reader->recording->operation_count == 0)
        status =
            yoke_cursor_fail(events, NULL, "no operations (events with \"ph\": \"X\")");
    return status;
}

static yoke_status_t read_json(const char *name, const char *data, size_t size,
                               yoke_recording_t *recording)
{
    yoke_json_t json = {0};
    yoke_cursor_t events;
    reader_t reader = {.recording = recording};
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t root = yoke_json_cursor(&json);
    if (json_is_array(root.value))
        events = root;
    else if (yoke_cursor_object(&root) != YOKE_OK)
        status = YOKE_ERR_BAD_INPUT;
    else
        status = yoke_cursor_need(&root, "traceEvents", &events);
    if (status == YOKE_OK)
        status = read_events(&reader, &events);
    free(reader.threads);
    yoke_json_free(&json);
    return status;
}

yoke_status_t yoke_recording_parse(const char *name, const char *data, size_t size,
                                   yoke_recording_t **out_recording)
{
    char *unpacked = NULL;
    yoke_status_t status = YOKE_OK;
    yoke_recording_t *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return yoke_fail_memory();
    if (yoke_gzip_is(data, size)) {
        status = yoke_gzip_unpack(name, data, size, MOST_UNPACKED, &unpacked, &size);
        data = unpacked;
    }
    if (status == YOKE_OK)
        status = read_json(name, data, size, recording);
    free(unpacked);
    if (status != YOKE_OK) {
        yoke_recording_free(recording);
        return status;
    }
    *out_recording = recording;
    return YOKE_OK;
}

yoke_status_t yoke_recording_read(const char *path, yoke_recording_t **out_recording)
{
    char *data = NULL;
    size_t size = 0;
    yoke_status_t status = yoke_file_read(path, MOST_UNPACKED, &data, &size);
    if (status == YOKE_OK)
        status = yoke_recording_parse(strcmp(path, "-") == 0 ? "standard input" : path,
                                      data, size, out_recording);
    free(data);
    return status;
}

void yoke_recording_free(yoke_recording_t *recording)
{
    if (recording == NULL)
        return;
    free(recording->operations);
    free(recording->ranks);
    yoke_strings_free(&recording->names);
    free(recording);
}
