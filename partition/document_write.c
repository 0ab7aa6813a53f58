/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a JSON tree. Answers stand before the long lists. */
#include "partition/document.h"

#include <math.h>

#include "base/error.h"

static json_t *strings_to_json(char *const *strings, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(strings[i]));
    return array;
}

static json_t *pair_to_json(const char *first_key, const char *first,
                            const char *second_key, const char *second)
{
    json_t *object = json_object();
    yoke_json_set_string(object, first_key, first);
    yoke_json_set_string(object, second_key, second);
    return object;
}

static json_t *job_to_json(const yoke_plan_t *plan)
{
    json_t *object = json_object();
    yoke_json_set_u64(object, "global_batch", plan->global_batch);
    yoke_json_set_u64(object, "sequence", plan->sequence);
    yoke_json_set_string(object, "dtype", yoke_dtype_name(plan->dtype));
    yoke_json_set_string(object, "optimizer", yoke_optimizer_name(plan->optimizer));
    json_object_set_new(object, "sharded_optimizer",
                        json_boolean(plan->sharded_optimizer));
    yoke_json_set_string(object, "memory", plan->memory_policy);
    yoke_json_set_string(object, "nodes", plan->nodes);
    json_object_set_new(object, "exclude",
                        strings_to_json(plan->exclude, plan->exclude_count));
    return object;
}

static json_t *number(double value)
{
    json_t *holder = json_object();
    yoke_json_set_number(holder, "n", value);
    json_t *result = json_incref(json_object_get(holder, "n"));
    json_decref(holder);
    return result;
}

static json_t *numbers(double first, double second)
{
    json_t *array = json_array();
    json_array_append_new(array, number(first));
    json_array_append_new(array, number(second));
    return array;
}

static json_t *predicted_to_json(const yoke_plan_t *plan)
{
    json_t *object = json_object();
    bool has_range =
        !isnan(plan->iteration_time_low) && !isnan(plan->iteration_time_high);
    yoke_json_set_number(object, "iteration_time", plan->iteration_time);
    json_object_set_new(object, "iteration_time_range",
                        has_range
                            ? numbers(plan->iteration_time_low, plan->iteration_time_high)
                            : json_null());
    yoke_json_set_number(object, "samples_per_second", plan->samples_per_second);
    yoke_json_set_number(object, "tokens_per_second", plan->tokens_per_second);
    yoke_json_set_number(object, "utilisation", plan->utilisation);
    return object;
}

static json_t *bound_to_json(const yoke_plan_t *plan)
{
    json_t *object = json_object();
    yoke_json_set_number(object, "iteration_time", plan->bound_time);
    yoke_json_set_number(object, "gap", plan->bound_gap);
    yoke_json_set_string(object, "binding", plan->bound_binding);
    return object;
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    if (count == 0)
        json_object_set_new(object, key, json_null());
    else
        yoke_json_set_u64(object, key, count);
}

static json_t *schedule_to_json(const yoke_plan_t *plan)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "name", plan->schedule);
    set_count(object, "micro_batches", plan->schedule_micro_batches);
    set_count(object, "chunks", plan->schedule_chunks);
    return object;
}

/* --- reasons --------------------------------------------------------------------------
 */

static json_t *matches_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->match_count; i++) {
        const yoke_plan_match_t *match = &plan->matches[i];
        json_t *object = json_object();
        yoke_json_set_string(object, "type", match->type);
        yoke_json_set_u64(object, "devices", match->devices);
        yoke_json_set_u64(object, "used", match->used);
        yoke_json_set_number(object, "compute_share", match->compute_share);
        yoke_json_set_number(object, "compute_supply", match->compute_supply);
        yoke_json_set_number(object, "memory_share", match->memory_share);
        yoke_json_set_number(object, "memory_supply", match->memory_supply);
        yoke_json_set_number(object, "compute_used", match->compute_used);
        yoke_json_set_number(object, "memory_used", match->memory_used);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *sensitivities_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->sensitivity_count; i++) {
        const yoke_plan_sensitivity_t *item = &plan->sensitivities[i];
        json_t *object = json_object();
        yoke_json_set_string(object, "input", item->input);
        json_object_set_new(object, "factor", numbers(item->from, item->to));
        json_object_set_new(object, "iteration_time",
                            numbers(item->iteration_time[0], item->iteration_time[1]));
        yoke_json_set_string(object, "source", item->source);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *alternatives_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->alternative_count; i++) {
        const yoke_plan_alternative_t *item = &plan->alternatives[i];
        json_t *object = json_object();
        yoke_json_set_string(object, "kind", item->kind);
        json_object_set_new(object, "feasible", json_boolean(item->feasible));
        yoke_json_set_number(object, "iteration_time",
                             item->feasible ? item->iteration_time : (double)NAN);
        yoke_json_set_string(object, "why", item->why);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *unused_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->unused_count; i++)
        json_array_append_new(array, pair_to_json("device", plan->unused[i].device,
                                                  "reason", plan->unused[i].reason));
    return array;
}

/* --- placement ------------------------------------------------------------------------
 */

static json_t *memory_to_json(const yoke_memory_terms_t *memory)
{
    json_t *terms = json_object();
    yoke_json_set_number(terms, "weights", memory->weights);
    yoke_json_set_number(terms, "gradients", memory->gradients);
    yoke_json_set_number(terms, "optimizer", memory->optimizer);
    yoke_json_set_number(terms, "activations", memory->activations);
    yoke_json_set_number(terms, "logits", memory->logits);
    yoke_json_set_number(terms, "working_set", memory->working_set);
    yoke_json_set_number(terms, "communication", memory->communication);
    yoke_json_set_number(terms, "context", memory->context);
    yoke_json_set_number(terms, "slack", memory->slack);
    json_t *object = json_object();
    yoke_json_set_number(object, "predicted", memory->predicted);
    yoke_json_set_number(object, "limit", memory->limit);
    yoke_json_set_string(object, "peak_at", memory->peak_at);
    json_object_set_new(object, "terms", terms);
    return object;
}

static json_t *device_to_json(const yoke_plan_device_t *device)
{
    json_t *shards = json_array();
    for (size_t i = 0; i < device->shard_count; i++) {
        json_t *shard = json_object();
        yoke_json_set_string(shard, "dimension", device->shards[i].dimension);
        yoke_json_set_u64(shard, "begin", device->shards[i].begin);
        yoke_json_set_u64(shard, "end", device->shards[i].end);
        json_array_append_new(shards, shard);
    }
    json_t *object = json_object();
    yoke_json_set_string(object, "device", device->device);
    yoke_json_set_string(object, "type", device->type);
    json_object_set_new(object, "shards", shards);
    json_object_set_new(object, "memory", memory_to_json(&device->memory));
    return object;
}

static json_t *replica_to_json(const yoke_plan_replica_t *replica)
{
    json_t *devices = json_array();
    for (size_t i = 0; i < replica->device_count; i++)
        json_array_append_new(devices, device_to_json(&replica->devices[i]));
    json_t *object = json_object();
    yoke_json_set_number(object, "share", replica->share);
    yoke_json_set_u64(object, "micro_batch", replica->micro_batch);
    yoke_json_set_u64(object, "tp", replica->tp);
    yoke_json_set_u64(object, "cp", replica->cp);
    yoke_json_set_u64(object, "ep", replica->ep);
    json_object_set_new(object, "devices", devices);
    return object;
}

static json_t *stage_to_json(const yoke_plan_stage_t *stage)
{
    json_t *chunks = json_array();
    for (size_t i = 0; i < stage->chunk_count; i++) {
        json_t *chunk = json_array();
        json_array_append_new(chunk, json_integer((json_int_t)stage->chunks[i].first));
        json_array_append_new(chunk, json_integer((json_int_t)stage->chunks[i].last));
        json_array_append_new(chunks, chunk);
    }
    json_t *predicted = json_object();
    yoke_json_set_number(predicted, "forward", stage->forward_time);
    yoke_json_set_number(predicted, "backward", stage->backward_time);
    yoke_json_set_number(predicted, "send", stage->send_time);
    yoke_json_set_number(predicted, "sync", stage->sync_time);
    yoke_json_set_number(predicted, "optimizer", stage->optimizer_time);
    yoke_json_set_number(predicted, "busy", stage->busy);
    json_t *replicas = json_array();
    for (size_t i = 0; i < stage->replica_count; i++)
        json_array_append_new(replicas, replica_to_json(&stage->replicas[i]));
    json_t *object = json_object();
    json_object_set_new(object, "chunks", chunks);
    yoke_json_set_string(object, "recompute", yoke_recompute_name(stage->recompute));
    json_object_set_new(object, "predicted", predicted);
    json_object_set_new(object, "replicas", replicas);
    return object;
}

static json_t *pipelines_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        json_t *stages = json_array();
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            json_array_append_new(stages, stage_to_json(&plan->pipelines[p].stages[s]));
        json_t *pipeline = json_object();
        yoke_json_set_u64(pipeline, "micro_batches", plan->pipelines[p].micro_batches);
        json_object_set_new(pipeline, "stages", stages);
        json_array_append_new(array, pipeline);
    }
    return array;
}

static json_t *groups_to_json(const yoke_plan_t *plan)
{
    json_t *array = json_array();
    for (size_t i = 0; i < plan->group_count; i++) {
        const yoke_plan_group_t *group = &plan->groups[i];
        json_t *object = json_object();
        yoke_json_set_string(object, "kind", group->kind);
        yoke_json_set_string(object, "transport", group->transport);
        json_object_set_new(object, "ranks",
                            strings_to_json(group->ranks, group->rank_count));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *yoke_plan_to_json(const yoke_plan_t *plan)
{
    json_t *root = json_object();
    yoke_json_set_string(root, "schema", "yoke-plan/1");
    json_object_set_new(
        root, "made_by",
        pair_to_json("command", plan->made_by_command, "version", plan->made_by_version));
    json_object_set_new(
        root, "model",
        pair_to_json("name", plan->model_name, "digest", plan->model_digest));
    json_object_set_new(
        root, "inventory",
        pair_to_json("name", plan->inventory_name, "digest", plan->inventory_digest));
    json_object_set_new(root, "feasible", json_boolean(plan->feasible));
    json_object_set_new(root, "runnable_in",
                        strings_to_json(plan->runnable_in, plan->runnable_in_count));
    json_object_set_new(root, "job", job_to_json(plan));
    json_object_set_new(root, "predicted", predicted_to_json(plan));
    json_object_set_new(root, "bound", bound_to_json(plan));
    yoke_json_set_string(root, "limited_by", plan->limited_by);
    json_object_set_new(root, "match", matches_to_json(plan));
    json_object_set_new(root, "sensitivity", sensitivities_to_json(plan));
    json_object_set_new(root, "alternatives", alternatives_to_json(plan));
    json_object_set_new(root, "unused", unused_to_json(plan));
    json_object_set_new(root, "notes", strings_to_json(plan->notes, plan->note_count));
    json_object_set_new(root, "schedule", schedule_to_json(plan));
    json_object_set_new(root, "pipelines", pipelines_to_json(plan));
    if (json_object_set_new(root, "groups", groups_to_json(plan)) != 0 ||
        yoke_extras_restore(root, plan->extra) != YOKE_OK) {
        json_decref(root);
        return NULL;
    }
    return root;
}
