/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan from a JSON tree. Reading checks the shape of the document; whether it is true
 * is the matter of `check`. Members without which a plan means nothing are needed, so
 * that one written by hand can be short.
 */
#include "partition/document.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

/* Ends the function on failure: a reader is a list of such steps. */
#define TRY(step)                                                                        \
    do {                                                                                 \
        yoke_status_t try_status = (step);                                               \
        if (try_status != YOKE_OK)                                                       \
            return try_status;                                                           \
    } while (0)

/* Far beyond any cluster, and small enough that no product of two of them overflows. */
enum { MOST = 1000000000, MOST_LAYERS = 1000000, MOST_RANKS = 1000000 };

static const char *const dimensions[] = {"heads",      "kv_heads", "columns",
                                         "vocabulary", "experts",  NULL};

/* --- small steps ----------------------------------------------------------------------
 */

typedef struct number_member {
    const char *key;
    double *out;
    double max;
} number_member_t;

/* Members that are absent or null stay as they are (unknown). */
static yoke_status_t read_numbers(const yoke_cursor_t *at, const number_member_t *members)
{
    for (; members->key != NULL; members++)
        TRY(yoke_opt_double(at, members->key, 0, members->max, members->out));
    return YOKE_OK;
}

static yoke_status_t read_string(const yoke_cursor_t *at, const char *key, char **out)
{
    const char *value = NULL;
    TRY(yoke_opt_string(at, key, &value));
    return value != NULL ? yoke_plan_set_string(out, value) : YOKE_OK;
}

/* A member that is one of the words of `names`. */
static yoke_status_t fail_word(const yoke_cursor_t *at, const char *key,
                               const char *found, const char *right)
{
    if (strlen(found) > 60)
        return yoke_cursor_fail(at, key, "must be %s", right);
    return yoke_cursor_fail(at, key, "must be %s, found \"%s\"", right, found);
}

typedef yoke_status_t (*item_reader_t)(void *context, const yoke_cursor_t *item);

/* Every item of an optional list. */
static yoke_status_t read_list(const yoke_cursor_t *at, const char *key,
                               item_reader_t read, void *context)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, key, &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        TRY(read(context, &item));
    }
    return YOKE_OK;
}

/* Every item of a list that must be there. */
static yoke_status_t need_list(const yoke_cursor_t *at, const char *key,
                               item_reader_t read, void *context)
{
    yoke_cursor_t list;
    TRY(yoke_cursor_need(at, key, &list));
    return read_list(at, key, read, context);
}

static yoke_status_t item_string(const yoke_cursor_t *item, const char **out)
{
    if (!json_is_string(item->value))
        return yoke_cursor_fail(item, NULL, "must be a string");
    *out = json_string_value(item->value);
    return YOKE_OK;
}

static yoke_status_t read_runnable(void *context, const yoke_cursor_t *item)
{
    const char *text = NULL;
    TRY(item_string(item, &text));
    return yoke_plan_add_runnable(context, text);
}

static yoke_status_t read_exclude(void *context, const yoke_cursor_t *item)
{
    const char *text = NULL;
    TRY(item_string(item, &text));
    return yoke_plan_add_exclude(context, text);
}

static yoke_status_t read_note(void *context, const yoke_cursor_t *item)
{
    const char *text = NULL;
    TRY(item_string(item, &text));
    return yoke_plan_add_note(context, "%s", text);
}

static yoke_status_t read_rank(void *context, const yoke_cursor_t *item)
{
    const char *text = NULL;
    TRY(item_string(item, &text));
    return yoke_group_add_rank(context, text);
}

/* {"name", "digest"} and its like. */
static yoke_status_t read_pair(const yoke_cursor_t *at, const char *key,
                               const char *first, char **out_first, const char *second,
                               char **out_second)
{
    const char *const allowed[] = {first, second, NULL};
    yoke_cursor_t object;
    if (!yoke_cursor_member(at, key, &object))
        return YOKE_OK;
    TRY(yoke_cursor_only(&object, allowed));
    TRY(read_string(&object, first, out_first));
    return read_string(&object, second, out_second);
}

/* [a, b]; null inside is unknown. */
static yoke_status_t read_two(const yoke_cursor_t *at, const char *key, double *out_first,
                              double *out_second)
{
    yoke_cursor_t list;
    double *const out[] = {out_first, out_second};
    if (!yoke_cursor_member(at, key, &list))
        return YOKE_OK;
    if (!json_is_array(list.value) || yoke_cursor_count(&list) != 2)
        return yoke_cursor_fail(&list, NULL, "must be a list of two numbers");
    for (size_t i = 0; i < 2; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (json_is_null(item.value))
            continue;
        if (!json_is_number(item.value) || json_number_value(item.value) < 0)
            return yoke_cursor_fail(&item, NULL, "must be a number of at least 0");
        *out[i] = json_number_value(item.value);
    }
    return YOKE_OK;
}

/* --- head of the document -------------------------------------------------------------
 */

static yoke_status_t read_schema(const yoke_cursor_t *root)
{
    const char *schema = NULL;
    TRY(yoke_need_string(root, "schema", &schema));
    if (strcmp(schema, "yoke-plan/1") != 0)
        return fail_word(root, "schema", schema, "\"yoke-plan/1\"");
    return YOKE_OK;
}

static yoke_status_t read_job_words(const yoke_cursor_t *job, yoke_plan_t *plan)
{
    const char *dtype = "bf16", *optimizer = "adam", *memory = "usable";
    yoke_memory_policy_t policy;
    double fraction;
    TRY(yoke_opt_string(job, "dtype", &dtype));
    if (!yoke_dtype_parse(dtype, &plan->dtype))
        return fail_word(job, "dtype", dtype,
                         "one of fp64, fp32, tf32, fp16, bf16, fp8, int8");
    TRY(yoke_opt_string(job, "optimizer", &optimizer));
    if (!yoke_optimizer_parse(optimizer, &plan->optimizer))
        return fail_word(job, "optimizer", optimizer, "one of adam, sgd, none");
    TRY(yoke_opt_string(job, "memory", &memory));
    if (!yoke_memory_policy_parse(memory, &policy, &fraction))
        return fail_word(job, "memory", memory,
                         "\"usable\", \"free\" or a fraction of the total like \"0.92\"");
    return yoke_plan_set_string(&plan->memory_policy, memory);
}

static yoke_status_t read_job(const yoke_cursor_t *root, yoke_plan_t *plan)
{
    static const char *const allowed[] = {"global_batch", "sequence",          "dtype",
                                          "optimizer",    "sharded_optimizer", "memory",
                                          "nodes",        "exclude",           NULL};
    yoke_cursor_t job;
    TRY(yoke_cursor_need(root, "job", &job));
    TRY(yoke_cursor_only(&job, allowed));
    TRY(yoke_need_u64(&job, "global_batch", 1, MOST, &plan->global_batch));
    TRY(yoke_need_u64(&job, "sequence", 1, MOST, &plan->sequence));
    TRY(read_job_words(&job, plan));
    TRY(yoke_opt_bool(&job, "sharded_optimizer", &plan->sharded_optimizer));
    TRY(read_string(&job, "nodes", &plan->nodes));
    return read_list(&job, "exclude", read_exclude, plan);
}

static yoke_status_t read_predicted(const yoke_cursor_t *root, yoke_plan_t *plan)
{
    static const char *const allowed[] = {"iteration_time",     "iteration_time_range",
                                          "samples_per_second", "tokens_per_second",
                                          "utilisation",        NULL};
    const number_member_t numbers[] = {
        {"iteration_time", &plan->iteration_time, DBL_MAX},
        {"samples_per_second", &plan->samples_per_second, DBL_MAX},
        {"tokens_per_second", &plan->tokens_per_second, DBL_MAX},
        {"utilisation", &plan->utilisation, DBL_MAX},
        {NULL, NULL, 0}};
    yoke_cursor_t predicted;
    if (!yoke_cursor_member(root, "predicted", &predicted))
        return YOKE_OK;
    TRY(yoke_cursor_only(&predicted, allowed));
    TRY(read_numbers(&predicted, numbers));
    return read_two(&predicted, "iteration_time_range", &plan->iteration_time_low,
                    &plan->iteration_time_high);
}

static yoke_status_t read_bound(const yoke_cursor_t *root, yoke_plan_t *plan)
{
    static const char *const allowed[] = {"iteration_time", "gap", "binding", NULL};
    yoke_cursor_t bound;
    if (!yoke_cursor_member(root, "bound", &bound))
        return YOKE_OK;
    TRY(yoke_cursor_only(&bound, allowed));
    TRY(yoke_opt_double(&bound, "iteration_time", 0, DBL_MAX, &plan->bound_time));
    TRY(yoke_opt_double(&bound, "gap", -1, DBL_MAX, &plan->bound_gap));
    return read_string(&bound, "binding", &plan->bound_binding);
}

static yoke_status_t read_schedule(const yoke_cursor_t *root, yoke_plan_t *plan)
{
    static const char *const allowed[] = {"name", "micro_batches", "chunks", NULL};
    yoke_cursor_t schedule;
    if (!yoke_cursor_member(root, "schedule", &schedule))
        return YOKE_OK;
    TRY(yoke_cursor_only(&schedule, allowed));
    TRY(read_string(&schedule, "name", &plan->schedule));
    TRY(yoke_opt_u64(&schedule, "micro_batches", 1, MOST, &plan->schedule_micro_batches));
    return yoke_opt_u64(&schedule, "chunks", 1, MOST_LAYERS, &plan->schedule_chunks);
}

/* --- reasons --------------------------------------------------------------------------
 */

static yoke_status_t read_match(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"type",           "devices",
                                          "used",           "compute_share",
                                          "compute_supply", "memory_share",
                                          "memory_supply",  "compute_used",
                                          "memory_used",    NULL};
    const char *type = NULL;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "type", &type));
    yoke_plan_match_t *match = yoke_plan_add_match(context, type);
    if (match == NULL)
        return yoke_fail_memory();
    const number_member_t numbers[] = {
        {"compute_share", &match->compute_share, DBL_MAX},
        {"compute_supply", &match->compute_supply, DBL_MAX},
        {"memory_share", &match->memory_share, DBL_MAX},
        {"memory_supply", &match->memory_supply, DBL_MAX},
        {"compute_used", &match->compute_used, DBL_MAX},
        {"memory_used", &match->memory_used, DBL_MAX},
        {NULL, NULL, 0}};
    TRY(yoke_opt_u64(item, "devices", 0, MOST_RANKS, &match->devices));
    TRY(yoke_opt_u64(item, "used", 0, MOST_RANKS, &match->used));
    return read_numbers(item, numbers);
}

static yoke_status_t read_sensitivity(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"input", "factor", "iteration_time", "source",
                                          NULL};
    const char *input = NULL, *source = NULL;
    double factor[2] = {NAN, NAN}, time[2] = {NAN, NAN};
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "input", &input));
    TRY(yoke_opt_string(item, "source", &source));
    TRY(read_two(item, "factor", &factor[0], &factor[1]));
    TRY(read_two(item, "iteration_time", &time[0], &time[1]));
    return yoke_plan_add_sensitivity(context, input, factor[0], factor[1], time[0],
                                     time[1], source);
}

static yoke_status_t read_alternative(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"kind", "feasible", "iteration_time", "why",
                                          NULL};
    const char *kind = NULL, *why = NULL;
    bool feasible = false;
    double time = NAN;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "kind", &kind));
    TRY(yoke_need_bool(item, "feasible", &feasible));
    TRY(yoke_opt_double(item, "iteration_time", 0, DBL_MAX, &time));
    TRY(yoke_opt_string(item, "why", &why));
    return yoke_plan_add_alternative(context, kind, feasible, time, why);
}

static yoke_status_t read_unused(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"device", "reason", NULL};
    const char *device = NULL, *reason = NULL;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "device", &device));
    TRY(yoke_opt_string(item, "reason", &reason));
    return yoke_plan_add_unused(context, device, reason);
}

static yoke_status_t read_group(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"kind", "ranks", "transport", NULL};
    const char *kind = NULL, *transport = NULL;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "kind", &kind));
    TRY(yoke_opt_string(item, "transport", &transport));
    yoke_plan_group_t *group = yoke_plan_add_group(context, kind, transport);
    if (group == NULL)
        return yoke_fail_memory();
    return need_list(item, "ranks", read_rank, group);
}

/* --- placement ------------------------------------------------------------------------
 */

static yoke_status_t read_shard(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"dimension", "begin", "end", NULL};
    const char *dimension = NULL;
    uint64_t begin = 0, end = 0;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "dimension", &dimension));
    size_t known = 0;
    while (dimensions[known] != NULL && strcmp(dimensions[known], dimension) != 0)
        known++;
    if (dimensions[known] == NULL)
        return fail_word(item, "dimension", dimension,
                         "one of heads, kv_heads, columns, vocabulary, experts");
    TRY(yoke_need_u64(item, "begin", 0, (uint64_t)MOST * 1000, &begin));
    TRY(yoke_need_u64(item, "end", 0, (uint64_t)MOST * 1000, &end));
    return yoke_device_add_shard(context, dimension, begin, end) != NULL
               ? YOKE_OK
               : yoke_fail_memory();
}

static yoke_status_t read_terms(const yoke_cursor_t *memory, yoke_memory_terms_t *terms)
{
    static const char *const allowed[] = {
        "weights",     "gradients",     "optimizer", "activations", "logits",
        "working_set", "communication", "context",   "slack",       NULL};
    const number_member_t numbers[] = {{"weights", &terms->weights, DBL_MAX},
                                       {"gradients", &terms->gradients, DBL_MAX},
                                       {"optimizer", &terms->optimizer, DBL_MAX},
                                       {"activations", &terms->activations, DBL_MAX},
                                       {"logits", &terms->logits, DBL_MAX},
                                       {"working_set", &terms->working_set, DBL_MAX},
                                       {"communication", &terms->communication, DBL_MAX},
                                       {"context", &terms->context, DBL_MAX},
                                       {"slack", &terms->slack, DBL_MAX},
                                       {NULL, NULL, 0}};
    yoke_cursor_t object;
    if (!yoke_cursor_member(memory, "terms", &object))
        return YOKE_OK;
    TRY(yoke_cursor_only(&object, allowed));
    return read_numbers(&object, numbers);
}

static yoke_status_t read_memory(const yoke_cursor_t *at, yoke_plan_device_t *device)
{
    static const char *const allowed[] = {"predicted", "limit", "peak_at", "terms", NULL};
    const number_member_t numbers[] = {{"predicted", &device->memory.predicted, DBL_MAX},
                                       {"limit", &device->memory.limit, DBL_MAX},
                                       {NULL, NULL, 0}};
    yoke_cursor_t memory;
    if (!yoke_cursor_member(at, "memory", &memory))
        return YOKE_OK;
    TRY(yoke_cursor_only(&memory, allowed));
    TRY(read_numbers(&memory, numbers));
    TRY(read_string(&memory, "peak_at", &device->peak_at));
    device->memory.peak_at = device->peak_at;
    return read_terms(&memory, &device->memory);
}

static yoke_status_t read_device(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"device", "type", "shards", "memory", NULL};
    const char *name = NULL;
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_string(item, "device", &name));
    yoke_plan_device_t *device = yoke_replica_add_device(context, name);
    if (device == NULL)
        return yoke_fail_memory();
    TRY(read_string(item, "type", &device->type));
    TRY(read_list(item, "shards", read_shard, device));
    return read_memory(item, device);
}

static yoke_status_t read_replica(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"share", "micro_batch", "tp", "cp",
                                          "ep",    "devices",     NULL};
    yoke_plan_replica_t *replica = yoke_stage_add_replica(context);
    if (replica == NULL)
        return yoke_fail_memory();
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_opt_double(item, "share", 0, 1, &replica->share));
    TRY(yoke_need_u64(item, "micro_batch", 1, MOST, &replica->micro_batch));
    TRY(yoke_opt_u64(item, "cp", 1, MOST_RANKS, &replica->cp));
    TRY(yoke_opt_u64(item, "ep", 1, MOST_RANKS, &replica->ep));
    TRY(need_list(item, "devices", read_device, replica));
    /* By default all devices of a replica are one tensor group. */
    replica->tp = replica->device_count > 0 ? replica->device_count : 1;
    return yoke_opt_u64(item, "tp", 1, MOST_RANKS, &replica->tp);
}

static yoke_status_t read_chunk(void *context, const yoke_cursor_t *item)
{
    uint64_t ends[2];
    if (!json_is_array(item->value) || yoke_cursor_count(item) != 2)
        return yoke_cursor_fail(item, NULL,
                                "must be a list of two layer indexes, [first, last]");
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_array_get(item->value, i);
        yoke_cursor_t end = yoke_cursor_item(item, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > MOST_LAYERS)
            return yoke_cursor_fail(&end, NULL, "must be a layer index from 0 to %d",
                                    MOST_LAYERS);
        ends[i] = (uint64_t)json_integer_value(value);
    }
    return yoke_stage_add_chunk(context, ends[0], ends[1]) != NULL ? YOKE_OK
                                                                   : yoke_fail_memory();
}

static yoke_status_t read_stage_times(const yoke_cursor_t *item, yoke_plan_stage_t *stage)
{
    static const char *const allowed[] = {"forward",   "backward", "send", "sync",
                                          "optimizer", "busy",     NULL};
    const number_member_t numbers[] = {{"forward", &stage->forward_time, DBL_MAX},
                                       {"backward", &stage->backward_time, DBL_MAX},
                                       {"send", &stage->send_time, DBL_MAX},
                                       {"sync", &stage->sync_time, DBL_MAX},
                                       {"optimizer", &stage->optimizer_time, DBL_MAX},
                                       {"busy", &stage->busy, DBL_MAX},
                                       {NULL, NULL, 0}};
    yoke_cursor_t predicted;
    if (!yoke_cursor_member(item, "predicted", &predicted))
        return YOKE_OK;
    TRY(yoke_cursor_only(&predicted, allowed));
    return read_numbers(&predicted, numbers);
}

static yoke_status_t read_stage(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"chunks", "recompute", "predicted", "replicas",
                                          NULL};
    const char *recompute = "none";
    yoke_plan_stage_t *stage = yoke_pipeline_add_stage(context);
    if (stage == NULL)
        return yoke_fail_memory();
    TRY(yoke_cursor_only(item, allowed));
    TRY(need_list(item, "chunks", read_chunk, stage));
    TRY(yoke_opt_string(item, "recompute", &recompute));
    if (!yoke_recompute_parse(recompute, &stage->recompute) ||
        stage->recompute == YOKE_RECOMPUTE_AUTO)
        return fail_word(item, "recompute", recompute, "one of none, selective, full");
    TRY(read_stage_times(item, stage));
    return need_list(item, "replicas", read_replica, stage);
}

static yoke_status_t read_pipeline(void *context, const yoke_cursor_t *item)
{
    static const char *const allowed[] = {"micro_batches", "stages", NULL};
    yoke_plan_pipeline_t *pipeline = yoke_plan_add_pipeline(context);
    if (pipeline == NULL)
        return yoke_fail_memory();
    TRY(yoke_cursor_only(item, allowed));
    TRY(yoke_need_u64(item, "micro_batches", 1, MOST, &pipeline->micro_batches));
    return need_list(item, "stages", read_stage, pipeline);
}

/* --- the whole ------------------------------------------------------------------------
 */

static yoke_status_t read_plan(const yoke_cursor_t *root, yoke_plan_t *plan)
{
    static const char *const allowed[] = {
        "schema",      "made_by",      "model",  "inventory", "feasible",  "runnable_in",
        "job",         "predicted",    "bound",  "schedule",  "match",     "limited_by",
        "sensitivity", "alternatives", "unused", "notes",     "pipelines", "groups",
        NULL};
    TRY(yoke_cursor_object(root));
    TRY(read_schema(root));
    TRY(yoke_cursor_only(root, allowed));
    TRY(read_pair(root, "made_by", "command", &plan->made_by_command, "version",
                  &plan->made_by_version));
    TRY(read_pair(root, "model", "name", &plan->model_name, "digest",
                  &plan->model_digest));
    TRY(read_pair(root, "inventory", "name", &plan->inventory_name, "digest",
                  &plan->inventory_digest));
    plan->feasible = true;
    TRY(yoke_opt_bool(root, "feasible", &plan->feasible));
    TRY(read_list(root, "runnable_in", read_runnable, plan));
    TRY(read_job(root, plan));
    TRY(read_predicted(root, plan));
    TRY(read_bound(root, plan));
    TRY(read_schedule(root, plan));
    TRY(read_list(root, "match", read_match, plan));
    TRY(read_string(root, "limited_by", &plan->limited_by));
    TRY(read_list(root, "sensitivity", read_sensitivity, plan));
    TRY(read_list(root, "alternatives", read_alternative, plan));
    TRY(read_list(root, "unused", read_unused, plan));
    TRY(read_list(root, "notes", read_note, plan));
    TRY(need_list(root, "pipelines", read_pipeline, plan));
    TRY(read_list(root, "groups", read_group, plan));
    json_t *extras = NULL;
    TRY(yoke_extras_collect(root->value, &extras));
    plan->extra = extras;
    return YOKE_OK;
}

yoke_status_t yoke_plan_from_json(const yoke_json_t *json, yoke_plan_t **out_plan)
{
    yoke_cursor_t root = yoke_json_cursor(json);
    yoke_plan_t *plan = yoke_plan_new();
    if (plan == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_plan_set_string(&plan->name, json->name);
    if (status == YOKE_OK)
        status = read_plan(&root, plan);
    if (status != YOKE_OK) {
        yoke_plan_free(plan);
        return status;
    }
    *out_plan = plan;
    return YOKE_OK;
}
