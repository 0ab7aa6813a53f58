/* SPDX-License-Identifier: Apache-2.0 */
/* From the document's names to the evaluator's indexes. */
#include "partition/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/document.h"

typedef struct resolver {
    const yoke_problem_t *problem;
    yoke_faults_t *faults;
    long pipeline, stage, replica; /* where we are, for messages */
} resolver_t;

/* --- devices --------------------------------------------------------------------------
 */

static bool inventory_has(const yoke_inventory_t *inventory, const char *host,
                          const char *id)
{
    bool found = false;
    for (size_t n = 0; n < inventory->node_count && !found; n++) {
        yoke_strings_t hosts = {0};
        if (yoke_hostlist_expand(inventory->nodes[n].hosts, &hosts) != YOKE_OK)
            continue;
        bool here = false;
        for (size_t h = 0; h < hosts.count && !here; h++)
            here = strcmp(hosts.items[h], host) == 0;
        for (size_t d = 0; here && d < inventory->nodes[n].device_count && !found; d++)
            found = strcmp(inventory->nodes[n].devices[d].id, id) == 0;
        yoke_strings_free(&hosts);
    }
    return found;
}

/* Why a name is no slot: left out of the problem, outside of its hosts, or not there. */
static void fault_device(const resolver_t *at, size_t index, const char *name)
{
    const yoke_problem_t *problem = at->problem;
    char place[96], pointer[128];
    yoke_snprintf(pointer, sizeof pointer, "%s/devices/%zu/device",
                  yoke_fault_place(place, at->pipeline, at->stage, at->replica), index);
    for (size_t i = 0; i < problem->unused_count; i++) {
        if (strcmp(problem->unused[i].device, name) == 0) {
            yoke_faults_add(at->faults, pointer,
                            "%s cannot be planned on: %s; take another", name,
                            problem->unused[i].reason);
            return;
        }
    }
    const char *slash = strchr(name, '/');
    char *host = slash != NULL ? yoke_strndup(name, (size_t)(slash - name)) : NULL;
    if (host != NULL && inventory_has(problem->inventory, host, slash + 1))
        yoke_faults_add(at->faults, pointer,
                        "%s is outside of the hosts that the job names (/job/nodes)",
                        name);
    else if (slash == NULL)
        yoke_faults_add(at->faults, pointer,
                        "'%s' is no device name; write host/device-id, for example %s",
                        name, "\"node1/0000:c1:00.0\"");
    else
        yoke_faults_add(at->faults, pointer, "the cluster has no device %s", name);
    free(host);
}

static unsigned resolve_device(const resolver_t *at, size_t index, const char *name)
{
    long slot = yoke_problem_find(at->problem, name);
    if (slot >= 0)
        return (unsigned)slot;
    fault_device(at, index, name);
    return YOKE_SLOT_UNKNOWN;
}

/* --- replicas, stages, pipelines ------------------------------------------------------
 */

static void fault_degrees(const resolver_t *at, const yoke_plan_replica_t *from)
{
    char place[96], pointer[128];
    yoke_fault_place(place, at->pipeline, at->stage, at->replica);
    if (from->tp != from->device_count) {
        yoke_snprintf(pointer, sizeof pointer, "%s/tp", place);
        yoke_faults_add(at->faults, pointer,
                        "tp is %llu and %zu device%s listed; both must be the same",
                        (unsigned long long)from->tp, from->device_count,
                        from->device_count == 1 ? " is" : "s are");
    }
    if (from->cp != 1 || from->ep != 1) {
        yoke_snprintf(pointer, sizeof pointer, "%s/%s", place,
                      from->cp != 1 ? "cp" : "ep");
        yoke_faults_add(
            at->faults, pointer,
            "%s is %llu: context and expert parallelism are not simulated yet, so "
            "its times cannot be checked; it must be 1",
            from->cp != 1 ? "cp" : "ep",
            (unsigned long long)(from->cp != 1 ? from->cp : from->ep));
    }
}

static yoke_status_t resolve_replica(const resolver_t *at,
                                     const yoke_plan_replica_t *from, yoke_replica_t *to)
{
    unsigned *slots = calloc(from->device_count + 1, sizeof *slots);
    if (slots == NULL)
        return yoke_fail_memory();
    to->slots = slots;
    to->tp = (unsigned)from->device_count;
    to->micro_batch = (unsigned)from->micro_batch;
    fault_degrees(at, from);
    bool first = true;
    for (size_t d = 0; d < from->device_count; d++) {
        slots[d] = resolve_device(at, d, from->devices[d].device);
        if (first && slots[d] != YOKE_SLOT_UNKNOWN) {
            to->class_index = at->problem->slots[slots[d]].class_index;
            first = false;
        }
    }
    return YOKE_OK;
}

/* Layers of the stage: the first chunk; an empty stage has first > last. */
static void resolve_chunks(const resolver_t *at, const yoke_plan_stage_t *from,
                           yoke_stage_t *to)
{
    char place[96], pointer[128];
    yoke_snprintf(pointer, sizeof pointer, "%s/chunks",
                  yoke_fault_place(place, at->pipeline, at->stage, -1));
    to->first = 1;
    to->last = 0;
    if (from->chunk_count > 1)
        yoke_faults_add(
            at->faults, pointer,
            "%zu chunks: several chunks a stage (interleaved schedules) are not "
            "simulated yet, so its times cannot be checked; give one [first, last]",
            from->chunk_count);
    if (from->chunk_count == 0)
        return;
    to->first = (unsigned)from->chunks[0].first;
    to->last = (unsigned)from->chunks[from->chunk_count - 1].last;
}

static yoke_status_t resolve_stage(resolver_t *at, const yoke_plan_stage_t *from,
                                   yoke_stage_t *to)
{
    to->recompute = from->recompute;
    to->replicas = calloc(from->replica_count + 1, sizeof *to->replicas);
    if (to->replicas == NULL)
        return yoke_fail_memory();
    at->replica = -1;
    resolve_chunks(at, from, to);
    yoke_status_t status = YOKE_OK;
    for (size_t r = 0; r < from->replica_count && status == YOKE_OK; r++) {
        at->replica = (long)r;
        to->replica_count++;
        status = resolve_replica(at, &from->replicas[r], &to->replicas[r]);
    }
    return status;
}

static yoke_status_t resolve_pipeline(resolver_t *at, const yoke_plan_pipeline_t *from,
                                      yoke_pipeline_t *to)
{
    to->micro_batches = (unsigned)from->micro_batches;
    to->stages = calloc(from->stage_count + 1, sizeof *to->stages);
    if (to->stages == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (size_t s = 0; s < from->stage_count && status == YOKE_OK; s++) {
        at->stage = (long)s;
        to->stage_count++;
        status = resolve_stage(at, &from->stages[s], &to->stages[s]);
    }
    return status;
}

yoke_status_t yoke_layout_resolve(const yoke_problem_t *problem, const yoke_plan_t *plan,
                                  yoke_faults_t *faults, yoke_layout_t *out_layout)
{
    resolver_t at = {problem, faults, 0, 0, 0};
    yoke_layout_t layout = {.sharded_optimizer = plan->sharded_optimizer};
    layout.pipelines = calloc(plan->pipeline_count + 1, sizeof *layout.pipelines);
    if (layout.pipelines == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (size_t p = 0; p < plan->pipeline_count && status == YOKE_OK; p++) {
        at.pipeline = (long)p;
        layout.pipeline_count++;
        status = resolve_pipeline(&at, &plan->pipelines[p], &layout.pipelines[p]);
    }
    if (status != YOKE_OK) {
        yoke_layout_free(&layout);
        return status;
    }
    *out_layout = layout;
    return YOKE_OK;
}

static yoke_status_t first_fault(const char *what, const yoke_faults_t *faults)
{
    const char *lines = yoke_text_get(&faults->lines);
    return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: %.*s", what, (int)strcspn(lines, "\n"),
                     lines);
}

yoke_status_t yoke_layout_from_plan(const yoke_problem_t *problem,
                                    const yoke_plan_t *plan, yoke_layout_t *out_layout)
{
    yoke_faults_t faults = {0};
    yoke_layout_t layout;
    yoke_status_t status = yoke_layout_resolve(problem, plan, &faults, &layout);
    if (status != YOKE_OK)
        goto out;
    if (faults.count == 0)
        yoke_layout_faults(problem, &layout, true, &faults);
    if (faults.count > 0) {
        status = first_fault(plan->name != NULL ? plan->name : "plan", &faults);
        yoke_layout_free(&layout);
        goto out;
    }
    *out_layout = layout;
out:
    yoke_faults_free(&faults);
    return status;
}

yoke_status_t yoke_layout_check(const yoke_problem_t *problem,
                                const yoke_layout_t *layout)
{
    yoke_faults_t faults = {0};
    yoke_layout_faults(problem, layout, true, &faults);
    yoke_status_t status = faults.count > 0 ? first_fault("layout", &faults) : YOKE_OK;
    yoke_faults_free(&faults);
    return status;
}

double yoke_layout_operations(const yoke_layout_t *layout)
{
    double operations = 0;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        operations += 2.0 * (double)layout->pipelines[p].micro_batches *
                      (double)layout->pipelines[p].stage_count;
    return operations;
}

void yoke_layout_free(yoke_layout_t *layout)
{
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        yoke_pipeline_t *pipeline = &layout->pipelines[p];
        for (unsigned s = 0; s < pipeline->stage_count; s++) {
            for (unsigned r = 0; r < pipeline->stages[s].replica_count; r++)
                free((void *)(uintptr_t)pipeline->stages[s].replicas[r].slots);
            free(pipeline->stages[s].replicas);
        }
        free(pipeline->stages);
    }
    free(layout->pipelines);
    *layout = (yoke_layout_t){0};
}

yoke_status_t yoke_plan_get_options(const yoke_plan_t *plan, const char **exclude,
                                    yoke_plan_options_t *out_options)
{
    yoke_plan_options_t options = {.struct_size = sizeof options,
                                   .global_batch = plan->global_batch,
                                   .sequence = plan->sequence,
                                   .dtype = plan->dtype,
                                   .optimizer = plan->optimizer,
                                   .nodes = plan->nodes};
    options.sharded_optimizer = plan->sharded_optimizer ? YOKE_ON : YOKE_OFF;
    if (plan->memory_policy != NULL &&
        !yoke_memory_policy_parse(plan->memory_policy, &options.memory,
                                  &options.memory_fraction))
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "%s: /job/memory: must be \"usable\", \"free\" or a fraction of the "
            "total, found \"%s\"",
            plan->name != NULL ? plan->name : "plan", plan->memory_policy);
    for (size_t i = 0; i < plan->exclude_count; i++)
        exclude[i] = plan->exclude[i];
    exclude[plan->exclude_count] = NULL;
    options.exclude = plan->exclude_count > 0 ? exclude : NULL;
    *out_options = options;
    return YOKE_OK;
}
