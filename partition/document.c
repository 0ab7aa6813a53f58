/* SPDX-License-Identifier: Apache-2.0 */
/* The plan in memory: names of its enumerations, growth of its parts, reading and
 * freeing. */
#include "partition/document.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* --- names ----------------------------------------------------------------------------
 */

static const char *const recompute_names[] = {"none", "selective", "full", "auto"};
static const char *const optimizer_names[] = {"adam", "sgd", "none"};

static bool find_name(const char *const *names, size_t count, const char *name,
                      size_t *out_at)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *out_at = i;
            return true;
        }
    }
    return false;
}

const char *yoke_recompute_name(yoke_recompute_t recompute)
{
    size_t count = sizeof recompute_names / sizeof *recompute_names;
    return (size_t)recompute < count ? recompute_names[recompute] : "unknown";
}

bool yoke_recompute_parse(const char *name, yoke_recompute_t *out_recompute)
{
    size_t at;
    if (!find_name(recompute_names, sizeof recompute_names / sizeof *recompute_names,
                   name, &at))
        return false;
    *out_recompute = (yoke_recompute_t)at;
    return true;
}

const char *yoke_optimizer_name(yoke_optimizer_t optimizer)
{
    size_t count = sizeof optimizer_names / sizeof *optimizer_names;
    return (size_t)optimizer < count ? optimizer_names[optimizer] : "unknown";
}

bool yoke_optimizer_parse(const char *name, yoke_optimizer_t *out_optimizer)
{
    size_t at;
    if (!find_name(optimizer_names, sizeof optimizer_names / sizeof *optimizer_names,
                   name, &at))
        return false;
    *out_optimizer = (yoke_optimizer_t)at;
    return true;
}

/* "0.92" or "1": digits with one point at most, exact to the last bit in any locale. */
static bool parse_fraction(const char *text, double *out_value)
{
    uint64_t digits = 0, divisor = 1;
    bool point = false;
    size_t length = strlen(text);
    if (length == 0 || length > 12 || text[0] == '.' || text[length - 1] == '.')
        return false;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9')
            return false;
        digits = digits * 10 + (uint64_t)(*at - '0');
        divisor *= point ? 10 : 1;
    }
    *out_value = (double)digits / (double)divisor;
    return true;
}

bool yoke_memory_policy_parse(const char *text, yoke_memory_policy_t *out_policy,
                              double *out_fraction)
{
    double fraction;
    if (strcmp(text, "usable") == 0 || strcmp(text, "free") == 0) {
        *out_policy = text[0] == 'u' ? YOKE_MEMORY_USABLE : YOKE_MEMORY_FREE;
        *out_fraction = 0;
        return true;
    }
    if (!parse_fraction(text, &fraction) || fraction <= 0 || fraction > 1)
        return false;
    *out_policy = YOKE_MEMORY_FRACTION;
    *out_fraction = fraction;
    return true;
}

char *yoke_memory_policy_text(yoke_memory_policy_t policy, double fraction)
{
    if (policy == YOKE_MEMORY_FRACTION)
        return yoke_format("%.6g", fraction);
    return yoke_strdup(policy == YOKE_MEMORY_FREE ? "free" : "usable");
}

/* --- growth ---------------------------------------------------------------------------
 */

/* Room for one more item behind `count`: capacity is the next power of two, so that a
 * long list of small items in a document costs no more than it holds. */
static void *grow(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return array;
    size_t capacity = count == 0 ? 1 : count * 2;
    if (capacity > SIZE_MAX / size)
        return NULL;
    return realloc(array, capacity * size);
}

/* The new item, zeroed, of `ARRAY` with `COUNT`; NULL: out of memory. */
#define ADD(array, count) add_item(&(array), &(count), sizeof *(array))

static void *add_item(void *array_address, size_t *count, size_t size)
{
    void *array; /* moved by bytes: the caller's pointer is of another type */
    memcpy(&array, array_address, sizeof array);
    void *grown = grow(array, *count, size);
    if (grown == NULL)
        return NULL;
    memcpy(array_address, &grown, sizeof grown);
    char *item = (char *)grown + *count * size;
    memset(item, 0, size);
    (*count)++;
    return item;
}

static yoke_status_t add_string(char ***array, size_t *count, const char *string)
{
    char *copy = yoke_strdup(string);
    char **item = copy != NULL ? add_item(array, count, sizeof *item) : NULL;
    if (item == NULL) {
        free(copy);
        return yoke_fail_memory();
    }
    *item = copy;
    return YOKE_OK;
}

yoke_status_t yoke_plan_set_string(char **member, const char *value)
{
    char *copy = value != NULL ? yoke_strdup(value) : NULL;
    if (value != NULL && copy == NULL)
        return yoke_fail_memory();
    free(*member);
    *member = copy;
    return YOKE_OK;
}

yoke_plan_t *yoke_plan_new(void)
{
    yoke_plan_t *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    plan->dtype = YOKE_BF16;
    plan->iteration_time = plan->iteration_time_low = plan->iteration_time_high = NAN;
    plan->samples_per_second = plan->tokens_per_second = plan->utilisation = NAN;
    plan->bound_time = plan->bound_gap = NAN;
    return plan;
}

yoke_plan_pipeline_t *yoke_plan_add_pipeline(yoke_plan_t *plan)
{
    return ADD(plan->pipelines, plan->pipeline_count);
}

yoke_plan_stage_t *yoke_pipeline_add_stage(yoke_plan_pipeline_t *pipeline)
{
    yoke_plan_stage_t *stage = ADD(pipeline->stages, pipeline->stage_count);
    if (stage != NULL)
        stage->forward_time = stage->backward_time = stage->send_time = stage->sync_time =
            stage->optimizer_time = stage->busy = NAN;
    return stage;
}

yoke_plan_chunk_t *yoke_stage_add_chunk(yoke_plan_stage_t *stage, uint64_t first,
                                        uint64_t last)
{
    yoke_plan_chunk_t *chunk = ADD(stage->chunks, stage->chunk_count);
    if (chunk != NULL)
        *chunk = (yoke_plan_chunk_t){first, last};
    return chunk;
}

yoke_plan_replica_t *yoke_stage_add_replica(yoke_plan_stage_t *stage)
{
    yoke_plan_replica_t *replica = ADD(stage->replicas, stage->replica_count);
    if (replica != NULL) {
        replica->share = NAN;
        replica->tp = replica->cp = replica->ep = 1;
    }
    return replica;
}

static yoke_memory_terms_t unknown_memory(void)
{
    return (yoke_memory_terms_t){NAN, NAN, NAN, NAN, NAN, NAN,
                                 NAN, NAN, NAN, NAN, NAN, NULL};
}

yoke_plan_device_t *yoke_replica_add_device(yoke_plan_replica_t *replica,
                                            const char *name)
{
    char *copy = yoke_strdup(name);
    yoke_plan_device_t *device =
        copy != NULL ? ADD(replica->devices, replica->device_count) : NULL;
    if (device == NULL) {
        free(copy);
        return NULL;
    }
    device->device = copy;
    device->memory = unknown_memory();
    return device;
}

yoke_plan_shard_t *yoke_device_add_shard(yoke_plan_device_t *device,
                                         const char *dimension, uint64_t begin,
                                         uint64_t end)
{
    char *copy = yoke_strdup(dimension);
    yoke_plan_shard_t *shard =
        copy != NULL ? ADD(device->shards, device->shard_count) : NULL;
    if (shard == NULL) {
        free(copy);
        return NULL;
    }
    *shard = (yoke_plan_shard_t){copy, begin, end};
    return shard;
}

yoke_plan_group_t *yoke_plan_add_group(yoke_plan_t *plan, const char *kind,
                                       const char *transport)
{
    yoke_plan_group_t *group = ADD(plan->groups, plan->group_count);
    if (group == NULL || yoke_plan_set_string(&group->kind, kind) != YOKE_OK ||
        yoke_plan_set_string(&group->transport, transport) != YOKE_OK)
        return NULL;
    return group;
}

yoke_status_t yoke_group_add_rank(yoke_plan_group_t *group, const char *device)
{
    return add_string(&group->ranks, &group->rank_count, device);
}

yoke_plan_match_t *yoke_plan_add_match(yoke_plan_t *plan, const char *type)
{
    yoke_plan_match_t *match = ADD(plan->matches, plan->match_count);
    if (match == NULL || yoke_plan_set_string(&match->type, type) != YOKE_OK)
        return NULL;
    match->compute_share = match->compute_supply = match->memory_share =
        match->memory_supply = match->compute_used = match->memory_used = NAN;
    return match;
}

yoke_status_t yoke_plan_add_runnable(yoke_plan_t *plan, const char *runtime)
{
    return add_string(&plan->runnable_in, &plan->runnable_in_count, runtime);
}

yoke_status_t yoke_plan_add_exclude(yoke_plan_t *plan, const char *selector)
{
    return add_string(&plan->exclude, &plan->exclude_count, selector);
}

yoke_status_t yoke_plan_add_alternative(yoke_plan_t *plan, const char *kind,
                                        bool feasible, double iteration_time,
                                        const char *why)
{
    yoke_plan_alternative_t *alternative =
        ADD(plan->alternatives, plan->alternative_count);
    if (alternative == NULL)
        return yoke_fail_memory();
    alternative->feasible = feasible;
    alternative->iteration_time = feasible ? iteration_time : 0;
    yoke_status_t status = yoke_plan_set_string(&alternative->kind, kind);
    return status == YOKE_OK ? yoke_plan_set_string(&alternative->why, why) : status;
}

yoke_status_t yoke_plan_add_sensitivity(yoke_plan_t *plan, const char *input, double from,
                                        double to, double time_from, double time_to,
                                        const char *source)
{
    yoke_plan_sensitivity_t *item = ADD(plan->sensitivities, plan->sensitivity_count);
    if (item == NULL)
        return yoke_fail_memory();
    item->from = from;
    item->to = to;
    item->iteration_time[0] = time_from;
    item->iteration_time[1] = time_to;
    yoke_status_t status = yoke_plan_set_string(&item->input, input);
    return status == YOKE_OK ? yoke_plan_set_string(&item->source, source) : status;
}

yoke_status_t yoke_plan_add_unused(yoke_plan_t *plan, const char *device,
                                   const char *reason)
{
    yoke_plan_unused_t *unused = ADD(plan->unused, plan->unused_count);
    if (unused == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_plan_set_string(&unused->device, device);
    return status == YOKE_OK ? yoke_plan_set_string(&unused->reason, reason) : status;
}

yoke_status_t yoke_plan_add_note(yoke_plan_t *plan, const char *format, ...)
{
    yoke_text_t text = {0};
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    yoke_status_t status =
        text.failed ? yoke_fail_memory()
                    : add_string(&plan->notes, &plan->note_count, yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* --- freeing --------------------------------------------------------------------------
 */

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

static void clear_device(yoke_plan_device_t *device)
{
    free(device->device);
    free(device->type);
    free(device->peak_at);
    for (size_t i = 0; i < device->shard_count; i++)
        free(device->shards[i].dimension);
    free(device->shards);
}

static void clear_stage(yoke_plan_stage_t *stage)
{
    free(stage->chunks);
    for (size_t r = 0; r < stage->replica_count; r++) {
        for (size_t d = 0; d < stage->replicas[r].device_count; d++)
            clear_device(&stage->replicas[r].devices[d]);
        free(stage->replicas[r].devices);
    }
    free(stage->replicas);
}

static void free_pipelines(yoke_plan_t *plan)
{
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            clear_stage(&plan->pipelines[p].stages[s]);
        free(plan->pipelines[p].stages);
    }
    free(plan->pipelines);
}

static void free_reasons(yoke_plan_t *plan)
{
    for (size_t i = 0; i < plan->match_count; i++)
        free(plan->matches[i].type);
    free(plan->matches);
    for (size_t i = 0; i < plan->sensitivity_count; i++) {
        free(plan->sensitivities[i].input);
        free(plan->sensitivities[i].source);
    }
    free(plan->sensitivities);
    for (size_t i = 0; i < plan->alternative_count; i++) {
        free(plan->alternatives[i].kind);
        free(plan->alternatives[i].why);
    }
    free(plan->alternatives);
    for (size_t i = 0; i < plan->unused_count; i++) {
        free(plan->unused[i].device);
        free(plan->unused[i].reason);
    }
    free(plan->unused);
    free_strings(plan->notes, plan->note_count);
}

void yoke_plan_free(yoke_plan_t *plan)
{
    if (plan == NULL)
        return;
    char *const strings[] = {plan->name,
                             plan->made_by_command,
                             plan->made_by_version,
                             plan->model_name,
                             plan->model_digest,
                             plan->inventory_name,
                             plan->inventory_digest,
                             plan->memory_policy,
                             plan->nodes,
                             plan->bound_binding,
                             plan->schedule,
                             plan->limited_by};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        free(strings[i]);
    free_strings(plan->runnable_in, plan->runnable_in_count);
    free_strings(plan->exclude, plan->exclude_count);
    free_pipelines(plan);
    for (size_t i = 0; i < plan->group_count; i++) {
        free(plan->groups[i].kind);
        free(plan->groups[i].transport);
        free_strings(plan->groups[i].ranks, plan->groups[i].rank_count);
    }
    free(plan->groups);
    free_reasons(plan);
    json_decref(plan->extra);
    free(plan);
}

/* --- whole documents ------------------------------------------------------------------
 */

static yoke_status_t plan_from_parsed(yoke_json_t *json, yoke_plan_t **out_plan)
{
    yoke_status_t status = yoke_plan_from_json(json, out_plan);
    yoke_json_free(json);
    return status;
}

yoke_status_t yoke_plan_read(const char *path, yoke_plan_t **out_plan)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_read(path, 0, &json);
    return status == YOKE_OK ? plan_from_parsed(&json, out_plan) : status;
}

yoke_status_t yoke_plan_parse(const char *name, const char *data, size_t size,
                              yoke_plan_t **out_plan)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    return status == YOKE_OK ? plan_from_parsed(&json, out_plan) : status;
}

yoke_status_t yoke_plan_text(const yoke_plan_t *plan, char **out_text)
{
    json_t *root = yoke_plan_to_json(plan);
    char *text = root != NULL ? yoke_json_text(root) : NULL;
    json_decref(root);
    if (text == NULL)
        return yoke_fail_memory();
    *out_text = text;
    return YOKE_OK;
}
