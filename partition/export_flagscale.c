/* SPDX-License-Identifier: Apache-2.0 */
/* FlagScale: meshes of five numbers, a host file with types, Hydra configurations. */
#include "partition/export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

static const yoke_rank_t *stage_rank(const yoke_exporter_t *export, unsigned stage)
{
    unsigned i = 0;
    while (export->ranks[i].stage != stage)
        i++;
    return &export->ranks[i];
}

static unsigned stage_degree(const yoke_exporter_t *export, unsigned stage)
{
    return export->replay.layout.pipelines[0].stages[stage].replicas[0].tp;
}

/* A host file's type is one word. */
static void add_type(const char *type, yoke_text_t *out)
{
    for (; *type != '\0'; type++)
        yoke_text_add_bytes(out, strchr(" \"'\\$`#", *type) != NULL ? "_" : type, 1);
}

/* First stage of the next mesh: another type or degree. */
static unsigned mesh_end(const yoke_exporter_t *export, unsigned begin)
{
    unsigned end = begin + 1;
    while (end < export->stages &&
           strcmp(stage_rank(export, end)->type, stage_rank(export, begin)->type) == 0 &&
           stage_degree(export, end) == stage_degree(export, begin))
        end++;
    return end;
}

static void add_meshes(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, "    hetero_process_meshes: [");
    for (unsigned s = 0; s < export->stages; s = mesh_end(export, s))
        yoke_text_printf(out, "%s%u, 1, 1, %u, %u", s > 0 ? ", " : "",
                         stage_degree(export, s), export->replicas,
                         mesh_end(export, s) - s);
    yoke_text_add(out, "]  # tp, cp, ep, dp, pp of each mesh\n"
                       "    hetero_device_types: [");
    for (unsigned s = 0; s < export->stages; s = mesh_end(export, s)) {
        yoke_text_add(out, s > 0 ? ", \"" : "\"");
        add_type(stage_rank(export, s)->type, out);
        yoke_text_add(out, "\"");
    }
    yoke_text_add(out, "]\n    hetero_current_device_type: \"");
    add_type(stage_rank(export, 0)->type, out);
    yoke_text_add(out, "\"  # that of a host comes from ./hosts\n");
    yoke_text_add(out, "    hetero_pipeline_layer_split: [");
    for (unsigned s = 0; s < export->stages; s++)
        yoke_text_printf(out, "%s%u", s > 0 ? ", " : "",
                         yoke_export_count(export, s, YOKE_LAYER_DECODER));
    yoke_text_add(out, "]\n    standalone_embedding_stage: False\n");
}

static bool mixed_vendors(const yoke_exporter_t *export)
{
    for (unsigned i = 1; i < export->rank_count; i++)
        if (strcmp(export->ranks[i].vendor, export->ranks[0].vendor) != 0)
            return true;
    return false;
}

static void add_recompute(yoke_recompute_t level, yoke_text_t *out)
{
    if (level == YOKE_RECOMPUTE_SELECTIVE)
        yoke_text_add(out, "  recompute:\n    recompute_granularity: selective\n");
    if (level == YOKE_RECOMPUTE_FULL)
        yoke_text_add(out, "  recompute:\n    recompute_granularity: full\n"
                           "    recompute_method: uniform\n"
                           "    recompute_num_layers: 1\n");
}

static void add_system(const yoke_exporter_t *export, yoke_text_t *out)
{
    const yoke_plan_t *plan = export->plan;
    yoke_text_printf(out,
                     "system:\n"
                     "  tensor_model_parallel_size: %u\n"
                     "  pipeline_model_parallel_size: %u\n"
                     "  context_parallel_size: 1\n"
                     "  expert_model_parallel_size: 1\n"
                     "  use_distributed_optimizer: %s\n",
                     stage_degree(export, 0), export->stages,
                     plan->sharded_optimizer ? "True" : "False");
    if (mixed_vendors(export))
        yoke_text_add(out, "  distributed_backend: flagcx\n");
    yoke_text_add(out, "  hetero:\n    enable_hetero: True\n");
    add_meshes(export, out);
    add_recompute(export->replay.layout.pipelines[0].stages[0].recompute, out);
    yoke_text_printf(out, "  precision:\n    bf16: %s\n    fp16: %s\n",
                     plan->dtype == YOKE_BF16 || plan->dtype == YOKE_FP8 ? "True"
                                                                         : "False",
                     plan->dtype == YOKE_FP16 ? "True" : "False");
    if (plan->dtype == YOKE_FP8)
        yoke_text_add(out, "    fp8_format: hybrid\n");
}

/* "--num-layers" "32" -> "  num_layers: 32" */
static void add_yaml(const yoke_strings_t *words, yoke_text_t *out)
{
    for (size_t i = 0; i < words->count; i++) {
        bool flag = i + 1 == words->count || strncmp(words->items[i + 1], "--", 2) == 0;
        yoke_text_add(out, "  ");
        for (const char *at = words->items[i] + 2; *at != '\0'; at++)
            yoke_text_add_bytes(out, *at == '-' ? "_" : at, 1);
        yoke_text_printf(out, ": %s\n", flag ? "True" : words->items[i + 1]);
        i += !flag;
    }
}

static yoke_status_t add_model(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_strings_t words = {0};
    yoke_status_t status = yoke_export_model_options(export, &words);
    yoke_text_add(out, "model:\n");
    add_yaml(&words, out);
    yoke_strings_free(&words);
    yoke_text_printf(
        out, "  seq_length: %llu\n  micro_batch_size: %u\n  global_batch_size: %llu\n",
        (unsigned long long)export->plan->sequence,
        export->replay.layout.pipelines[0].stages[0].replicas[0].micro_batch,
        (unsigned long long)export->plan->global_batch);
    if (export->options->base != NULL)
        return status;
    yoke_text_printf(out,
                     "  train_iters: 20\n"
                     "  optimizer:\n    lr: 1.0e-4\n"
                     "data:\n  mock_data: True\n  tokenizer:\n"
                     "    tokenizer_type: NullTokenizer\n    vocab_size: %llu\n",
                     (unsigned long long)export->model->vocabulary);
    return status;
}

static yoke_status_t write_train(yoke_exporter_t *export)
{
    yoke_text_t train = {0}, copy = {0};
    yoke_status_t status = YOKE_OK;
    if (export->options->base != NULL) {
        char *data = NULL;
        size_t size = 0;
        status = yoke_file_read(export->options->base, 1u << 20, &data, &size);
        if (status == YOKE_OK)
            yoke_text_add_bytes(&copy, data, size);
        free(data);
        if (status == YOKE_OK)
            status = yoke_export_add(export, "train/base.yaml", &copy, false);
    }
    if (status != YOKE_OK)
        return status;
    if (export->options->base != NULL)
        yoke_text_add(&train, "defaults:\n  - base\n  - _self_\n");
    add_system(export, &train);
    status = add_model(export, &train);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "train/plan.yaml", &train, false);
    yoke_text_free(&train);
    return status;
}

/* --- host file and experiment --------------------------------------------------------
 */

static void add_hosts(const yoke_exporter_t *export, yoke_text_t *out)
{
    for (unsigned a = 0; a < export->agent_count; a++) {
        const yoke_rank_t *rank = &export->ranks[export->agents[a].first];
        yoke_text_printf(out, "%s slots=%u type=", rank->host, export->agents[a].count);
        add_type(rank->type, out);
        yoke_text_add(out, "\n");
    }
}

static void add_devices(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, "    node_specific:\n");
    for (unsigned a = 0; a < export->agent_count; a++) {
        const yoke_agent_t *agent = &export->agents[a];
        const yoke_rank_t *rank = &export->ranks[agent->first];
        yoke_text_printf(out, "      %s:\n        %s: \"", rank->host,
                         yoke_export_variable(rank->vendor));
        for (unsigned i = 0; i < agent->count; i++)
            yoke_text_printf(out, "%s%u", i > 0 ? "," : "", rank[i].ordinal);
        yoke_text_add(out, "\"\n");
    }
}

static void add_experiment(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, "defaults:\n  - train: plan\n  - _self_\n\n"
                       "experiment:\n  exp_name: yoke\n  exp_dir: ./outputs\n"
                       "  task:\n    type: train\n    backend: megatron\n"
                       "    entrypoint: ./flagscale/train/train_gpt.py\n"
                       "  runner:\n    backend: torchrun\n    rdzv_backend: static\n"
                       "    hostfile: ${oc.env:YOKE_EXPORT_DIR}/hosts\n"
                       "  envs:\n    CUDA_DEVICE_MAX_CONNECTIONS: 1\n");
    add_devices(export, out);
    yoke_text_add(out, "\naction: run\n\nhydra:\n  run:\n"
                       "    dir: ${experiment.exp_dir}/hydra\n");
}

yoke_status_t yoke_export_flagscale(yoke_exporter_t *export)
{
    yoke_text_t hosts = {0}, experiment = {0}, run = {0};
    add_hosts(export, &hosts);
    add_experiment(export, &experiment);
    yoke_text_add(&run, "#!/usr/bin/env bash\n"
                        "# On the first host; FlagScale reaches the others by ssh.\n"
                        "set -euo pipefail\n"
                        "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
                        "export YOKE_EXPORT_DIR=$here\n"
                        "cd \"${FLAGSCALE_DIR:?set it to a checkout of FlagScale}\"\n"
                        "exec python run.py --config-path \"$here\" --config-name config "
                        "\"$@\"\n");
    yoke_status_t status = write_train(export);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "hosts", &hosts, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "config.yaml", &experiment, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "run.sh", &run, true);
    yoke_text_free(&hosts);
    yoke_text_free(&experiment);
    yoke_text_free(&run);
    if (status == YOKE_OK)
        export->out.start = yoke_strdup("FLAGSCALE_DIR=... ./run.sh on the first host");
    return status;
}
