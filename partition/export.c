/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a plan, the check before anything is written, and the choice of the writer. */
#include "partition/export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/runtime.h"

const char *const yoke_export_targets[] = {"megatron", "flagscale", "deepspeed", "torch",
                                           "slurm",    "rankfile",  NULL};

/* --- small tools ---------------------------------------------------------------------
 */

yoke_status_t yoke_export_add(yoke_exporter_t *export, const char *name,
                              yoke_text_t *text, bool executable)
{
    yoke_export_t *out = &export->out;
    yoke_export_file_t *grown =
        text->failed ? NULL : realloc(out->files, (out->count + 1) * sizeof *grown);
    if (grown == NULL) {
        yoke_text_free(text);
        return yoke_fail_memory();
    }
    out->files = grown;
    yoke_export_file_t *file = &grown[out->count];
    file->name = yoke_strdup(name);
    file->data = yoke_strdup(yoke_text_get(text));
    file->executable = executable;
    out->count++;
    yoke_text_free(text);
    return file->name != NULL && file->data != NULL ? YOKE_OK : yoke_fail_memory();
}

void yoke_export_quote(const char *word, bool expand, yoke_text_t *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    bool keeps = expand && strchr(word, '$') != NULL;
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        yoke_text_add(out, word);
        return;
    }
    yoke_text_add(out, keeps ? "\"" : "'");
    for (; *word != '\0'; word++)
        if (keeps && (*word == '"' || *word == '`' || *word == '\\' ||
                      (*word == '$' && word[1] == '(')))
            yoke_text_printf(out, "\\%c", *word);
        else if (!keeps && *word == '\'')
            yoke_text_add(out, "'\\''");
        else
            yoke_text_add_bytes(out, word, 1);
    yoke_text_add(out, keeps ? "\"" : "'");
}

const char *yoke_export_variable(const char *vendor)
{
    static const struct {
        const char *vendor, *variable;
    } known[] = {
        {"AMD", "HIP_VISIBLE_DEVICES"},
        {"Hygon", "HIP_VISIBLE_DEVICES"},
        {"Huawei", "ASCEND_RT_VISIBLE_DEVICES"},
        {"Cambricon", "MLU_VISIBLE_DEVICES"},
        {"Moore Threads", "MUSA_VISIBLE_DEVICES"},
        {"Intel", "ZE_AFFINITY_MASK"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].vendor, vendor) == 0)
            return known[i].variable;
    return "CUDA_VISIBLE_DEVICES";
}

unsigned yoke_export_count(const yoke_exporter_t *export, unsigned stage,
                           yoke_layer_kind_t kind)
{
    const yoke_stage_t *at = &export->replay.layout.pipelines[0].stages[stage];
    unsigned count = 0;
    for (unsigned l = at->first; l <= at->last; l++)
        count += export->model->layers[l].kind == kind;
    return count;
}

/* --- ranks ---------------------------------------------------------------------------
 */

/* As the runtime counts it, else the place among the node's devices of that vendor. */
static unsigned ordinal_of(const yoke_problem_t *problem,
                           const yoke_inventory_device_t *device)
{
    for (size_t v = 0; v < device->view_count; v++)
        if (device->views[v].native >= 0 &&
            strcmp(device->views[v].runtime, "opencl") != 0)
            return (unsigned)device->views[v].native;
    const yoke_inventory_t *inventory = problem->inventory;
    for (size_t n = 0; n < inventory->node_count; n++) {
        const yoke_node_t *node = &inventory->nodes[n];
        unsigned place = 0;
        for (size_t d = 0; d < node->device_count; d++) {
            const char *vendor = node->devices[d].vendor;
            if (&node->devices[d] == device)
                return place;
            place += vendor != NULL && device->vendor != NULL &&
                     strcmp(vendor, device->vendor) == 0;
        }
    }
    return 0;
}

/* Names go into scripts and tables. */
static yoke_status_t check_names(const yoke_exporter_t *export)
{
    for (unsigned i = 0; i < export->rank_count; i++) {
        const yoke_rank_t *rank = &export->ranks[i];
        for (const char *at = rank->host; *at != '\0'; at++)
            if (strchr(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
                    *at) == NULL)
                return yoke_fail(YOKE_ERR_BAD_INPUT,
                                 "host '%s' is no host name: a launcher cannot use it",
                                 rank->host);
        for (const char *at = rank->type; *at != '\0'; at++)
            if ((unsigned char)*at < ' ')
                return yoke_fail(YOKE_ERR_BAD_INPUT,
                                 "the device type of %s holds a control character; name "
                                 "it with yoke inventory --as",
                                 rank->host);
    }
    return YOKE_OK;
}

static void add_rank(yoke_exporter_t *export, const yoke_replica_t *replica,
                     unsigned stage, unsigned number, unsigned part)
{
    const yoke_problem_t *problem = export->replay.problem;
    const yoke_slot_t *slot = &problem->slots[replica->slots[part]];
    const char *vendor = slot->device->vendor;
    export->ranks[export->rank_count++] =
        (yoke_rank_t){.host = problem->hosts[slot->host],
                      .host_index = slot->host,
                      .type = problem->classes[slot->class_index].type,
                      .vendor = vendor != NULL ? vendor : "unknown",
                      .stage = stage,
                      .replica = number,
                      .part = part,
                      .ordinal = ordinal_of(problem, slot->device)};
}

static yoke_status_t list_ranks(yoke_exporter_t *export)
{
    const yoke_layout_t *layout = &export->replay.layout;
    size_t slots = export->replay.problem->slot_count;
    export->ranks = calloc(slots + 1, sizeof *export->ranks);
    export->agents = calloc(slots + 1, sizeof *export->agents);
    if (export->ranks == NULL || export->agents == NULL)
        return yoke_fail_memory();
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        if (layout->pipelines[p].stage_count > export->stages)
            export->stages = layout->pipelines[p].stage_count;
    for (unsigned s = 0; s < export->stages; s++) {
        unsigned number = 0;
        for (unsigned p = 0; p < layout->pipeline_count; p++) {
            const yoke_pipeline_t *pipeline = &layout->pipelines[p];
            for (unsigned r = 0;
                 s < pipeline->stage_count && r < pipeline->stages[s].replica_count;
                 r++) {
                const yoke_replica_t *replica = &pipeline->stages[s].replicas[r];
                for (unsigned t = 0; t < replica->tp; t++)
                    add_rank(export, replica, s, number, t);
                number++;
            }
        }
        export->replicas = s == 0 ? number : export->replicas;
    }
    for (unsigned i = 0; i < export->rank_count; i++) {
        const yoke_rank_t *rank = &export->ranks[i];
        if (i == 0 || rank->host_index != rank[-1].host_index ||
            strcmp(rank->type, rank[-1].type) != 0)
            export->agents[export->agent_count++] = (yoke_agent_t){i, 0};
        export->agents[export->agent_count - 1].count++;
    }
    return YOKE_OK;
}

/* --- may it be written? --------------------------------------------------------------
 */

static yoke_status_t check_plan(const yoke_exporter_t *export,
                                const yoke_inventory_t *inventory)
{
    char *faults = NULL;
    yoke_status_t status =
        yoke_plan_check(export->plan, export->model, inventory, &faults);
    if (status == YOKE_ERR_NO && faults != NULL)
        status = yoke_fail(YOKE_ERR_NO,
                           "%s is not exported, since it has faults; the first: %.*s",
                           export->plan->name != NULL ? export->plan->name : "the plan",
                           (int)strcspn(faults, "\n"), faults);
    free(faults);
    return status;
}

static yoke_status_t check_rules(const yoke_exporter_t *export)
{
    const yoke_runtime_t *runtime = NULL;
    yoke_runtime_rule_t rule = YOKE_RULE_COUNT;
    const char *to = export->options->to;
    char why[256];
    if (strcmp(to, "slurm") == 0 || strcmp(to, "rankfile") == 0)
        return YOKE_OK;
    yoke_status_t status = yoke_runtime_find(to, &runtime);
    if (status != YOKE_OK ||
        yoke_runtime_allows(runtime, export->replay.problem, &export->replay.layout, why,
                            sizeof why, &rule))
        return status;
    yoke_text_t text = {0};
    yoke_text_printf(&text, "%s cannot run this plan: %s", runtime->title, why);
    if (rule < YOKE_RULE_COUNT)
        yoke_text_printf(&text, " (rule %s: %s)", yoke_runtime_rule_name(rule),
                         runtime->because[rule]);
    yoke_text_printf(&text, "; the best plan within its rules: yoke plan --for %s", to);
    if (export->plan->runnable_in_count > 1) {
        yoke_text_add(&text, "; this plan runs in");
        for (size_t i = 1; i < export->plan->runnable_in_count; i++)
            yoke_text_printf(&text, "%s %s", i > 1 ? "," : "",
                             export->plan->runnable_in[i]);
    }
    status = text.failed ? yoke_fail_memory()
                         : yoke_fail(YOKE_ERR_NO, "%s", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* --- public --------------------------------------------------------------------------
 */

static yoke_status_t write_target(yoke_exporter_t *export)
{
    static yoke_status_t (*const writers[])(yoke_exporter_t *) = {
        yoke_export_megatron, yoke_export_flagscale, yoke_export_deepspeed,
        yoke_export_torch,    yoke_export_slurm,     yoke_export_rankfile};
    for (size_t i = 0; yoke_export_targets[i] != NULL; i++)
        if (strcmp(yoke_export_targets[i], export->options->to) == 0)
            return writers[i](export);
    return yoke_fail(YOKE_ERR_USAGE,
                     "--to %s: expected megatron, flagscale, deepspeed, torch, slurm or "
                     "rankfile",
                     export->options->to);
}

void yoke_export_free(yoke_export_t *export)
{
    for (size_t i = 0; i < export->count; i++) {
        free(export->files[i].name);
        free(export->files[i].data);
    }
    free(export->files);
    free(export->start);
    memset(export, 0, sizeof *export);
}

yoke_status_t yoke_plan_export(const yoke_plan_t *plan, const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_export_options_t *options,
                               yoke_export_t *out_export)
{
    yoke_exporter_t export = {.plan = plan, .model = model, .options = options};
    yoke_status_t status = check_plan(&export, inventory);
    if (status != YOKE_OK)
        return status;
    status = yoke_replay_new(plan, model, inventory, NULL, 0, &export.replay);
    if (status != YOKE_OK)
        return status;
    status = check_rules(&export);
    if (status == YOKE_OK)
        status = list_ranks(&export);
    if (status == YOKE_OK)
        status = check_names(&export);
    if (status == YOKE_OK)
        status = write_target(&export);
    free(export.ranks);
    free(export.agents);
    yoke_replay_free(&export.replay);
    if (status == YOKE_OK)
        *out_export = export.out;
    else
        yoke_export_free(&export.out);
    return status;
}
