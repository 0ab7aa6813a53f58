/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome trace events. A step has many, so the text is written event by event and not as
 * a tree; all names in it are ours but the types of devices, which go through the JSON
 * layer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/json.h"
#include "partition/plan_print.h"
#include "tools/simulate_record.h"

typedef struct trace {
    yoke_text_t text;
    bool any;
} trace_t;

static void separate(trace_t *trace)
{
    yoke_text_add(&trace->text, trace->any ? ",\n" : "\n");
    trace->any = true;
}

static void add_event(void *context, unsigned pipeline, unsigned stage,
                      yoke_event_kind_t kind, unsigned micro_batch, double start,
                      double end)
{
    static const char *const names[] = {"forward",           "backward",
                                        "send forward",      "send backward",
                                        "gradient exchange", "weight update"};
    trace_t *trace = context;
    bool send = kind == YOKE_EVENT_SEND_FORWARD || kind == YOKE_EVENT_SEND_BACKWARD;
    separate(trace);
    yoke_text_printf(&trace->text,
                     "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,"
                     "\"dur\":%.3f,\"args\":{\"micro_batch\":%u}}",
                     names[kind], pipeline, 2 * stage + (send ? 1u : 0u), start * 1e6,
                     (end - start) * 1e6, micro_batch);
}

/* Names of processes and threads. */
static void add_name(trace_t *trace, const char *what, size_t pipeline, size_t thread,
                     const char *name)
{
    json_t *string = json_string(name);
    char *quoted = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    separate(trace);
    yoke_text_printf(
        &trace->text,
        "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"name\":%s}}",
        what, pipeline, thread, quoted != NULL ? quoted : "\"\"");
    free(quoted);
    json_decref(string);
}

static void add_names(trace_t *trace, const yoke_plan_t *plan)
{
    yoke_text_t name = {0};
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        yoke_text_printf(&name, "pipeline %zu", p);
        add_name(trace, "process_name", p, 0, yoke_text_get(&name));
        yoke_text_free(&name);
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++) {
            const char *type = yoke_stage_type(&plan->pipelines[p].stages[s]);
            yoke_text_printf(&name, "stage %zu, layers ", s);
            yoke_print_layers(&plan->pipelines[p].stages[s], &name);
            yoke_text_printf(&name, "%s%s", type != NULL ? ", " : "",
                             type != NULL ? type : "");
            add_name(trace, "thread_name", p, 2 * s, yoke_text_get(&name));
            yoke_text_free(&name);
            yoke_text_printf(&name, "stage %zu, sending", s);
            add_name(trace, "thread_name", p, 2 * s + 1, yoke_text_get(&name));
            yoke_text_free(&name);
        }
    }
}

static yoke_status_t write_text(const char *path, const yoke_text_t *text)
{
    size_t length = strlen(path), size = 0;
    char *packed = NULL;
    if (length < 3 || strcmp(path + length - 3, ".gz") != 0)
        return yoke_file_write(path, text->data, text->size);
    yoke_status_t status = yoke_gzip_pack(text->data, text->size, &packed, &size);
    if (status == YOKE_OK)
        status = yoke_file_write(path, packed, size);
    free(packed);
    return status;
}

yoke_status_t yoke_trace_write(const char *path, const yoke_plan_t *plan,
                               yoke_replay_t *replay)
{
    trace_t trace = {0};
    yoke_text_add(&trace.text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    add_names(&trace, plan);
    yoke_status_t status = yoke_replay_run(replay, add_event, &trace);
    yoke_text_add(&trace.text, "\n]}\n");
    if (status == YOKE_OK && trace.text.failed)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = write_text(path, &trace.text);
    yoke_text_free(&trace.text);
    return status;
}
