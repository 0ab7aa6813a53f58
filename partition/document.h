/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_DOCUMENT_H
#define YOKE_PARTITION_DOCUMENT_H

/*
 * Building the parts of a plan, and its JSON form. The public half (read, parse, text,
 * free) is in yoke/plan.h; the keys are described in docs/plan-document.md.
 */

#include <jansson.h>

#include "base/json.h"
#include "yoke/plan.h"

/* An empty plan: every number NaN, counts 0. NULL: out of memory. */
yoke_plan_t *yoke_plan_new(void);

/*
 * Growth. Each returns a new part (numbers NaN, counts 0), or NULL: out of memory. The
 * pointer is valid until the next growth of the same array.
 */
yoke_plan_pipeline_t *yoke_plan_add_pipeline(yoke_plan_t *plan);
yoke_plan_stage_t *yoke_pipeline_add_stage(yoke_plan_pipeline_t *pipeline);
yoke_plan_chunk_t *yoke_stage_add_chunk(yoke_plan_stage_t *stage, uint64_t first,
                                        uint64_t last);
yoke_plan_replica_t *yoke_stage_add_replica(yoke_plan_stage_t *stage);
yoke_plan_device_t *yoke_replica_add_device(yoke_plan_replica_t *replica,
                                            const char *name);
yoke_plan_shard_t *yoke_device_add_shard(yoke_plan_device_t *device,
                                         const char *dimension, uint64_t begin,
                                         uint64_t end);
yoke_plan_group_t *yoke_plan_add_group(yoke_plan_t *plan, const char *kind,
                                       const char *transport);
yoke_status_t yoke_group_add_rank(yoke_plan_group_t *group, const char *device);
yoke_plan_match_t *yoke_plan_add_match(yoke_plan_t *plan, const char *type);

/* What the search adds when a layout is chosen. Strings are copied. */
yoke_status_t yoke_plan_add_runnable(yoke_plan_t *plan, const char *runtime);
yoke_status_t yoke_plan_add_exclude(yoke_plan_t *plan, const char *selector);
/* iteration_time is ignored when not feasible. */
yoke_status_t yoke_plan_add_alternative(yoke_plan_t *plan, const char *kind,
                                        bool feasible, double iteration_time,
                                        const char *why);
yoke_status_t yoke_plan_add_sensitivity(yoke_plan_t *plan, const char *input, double from,
                                        double to, double time_from, double time_to,
                                        const char *source);
yoke_status_t yoke_plan_add_unused(yoke_plan_t *plan, const char *device,
                                   const char *reason);
yoke_status_t yoke_plan_add_note(yoke_plan_t *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Replace a string of a plan; NULL is allowed. */
yoke_status_t yoke_plan_set_string(char **member, const char *value);

/* Names of the enumerations, backwards. */
bool yoke_recompute_parse(const char *name, yoke_recompute_t *out_recompute);
bool yoke_optimizer_parse(const char *name, yoke_optimizer_t *out_optimizer);
/* "usable" "free" "0.92"; false for anything else. */
bool yoke_memory_policy_parse(const char *text, yoke_memory_policy_t *out_policy,
                              double *out_fraction);
/* The other way; caller frees. NULL: out of memory. */
char *yoke_memory_policy_text(yoke_memory_policy_t policy, double fraction);

/* The document as a JSON tree (a new reference), and back. NULL: out of memory. */
json_t *yoke_plan_to_json(const yoke_plan_t *plan);
yoke_status_t yoke_plan_from_json(const yoke_json_t *json, yoke_plan_t **out_plan);

/*
 * "x-*" members anywhere in a document: collected as {JSON pointer: {member: value}} (a
 * new reference, NULL when there are none), and put back where their pointers still lead.
 */
yoke_status_t yoke_extras_collect(const json_t *root, json_t **out_extras);
yoke_status_t yoke_extras_restore(json_t *root, const json_t *extras);

#endif
