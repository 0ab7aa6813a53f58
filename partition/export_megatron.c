/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM: arguments of the plan, of the model, on the user's launch script. */
#include "partition/export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/launch_script.h"

/* --- the layout string ---------------------------------------------------------------
 */

static void add_run(char letter, unsigned count, yoke_text_t *out)
{
    if (count > 1)
        yoke_text_printf(out, "%c*%u", letter, count);
    else if (count == 1)
        yoke_text_printf(out, "%c", letter);
}

static void add_chunk(const yoke_model_t *model, const yoke_plan_chunk_t *chunk,
                      yoke_text_t *out)
{
    static const char letters[] = {'E', 't', 'L', 'm'};
    char letter = '\0';
    unsigned count = 0;
    for (uint64_t l = chunk->first; l <= chunk->last && l < model->layer_count; l++) {
        char next = letters[model->layers[l].kind];
        if (next != letter) {
            add_run(letter, count, out);
            count = 0;
        }
        letter = next;
        count++;
    }
    add_run(letter, count, out);
}

void yoke_export_layout_string(const yoke_exporter_t *export, yoke_text_t *out)
{
    const yoke_plan_pipeline_t *pipeline = &export->plan->pipelines[0];
    size_t chunks = pipeline->stages[0].chunk_count;
    for (size_t c = 0; c < chunks; c++)
        for (size_t s = 0; s < pipeline->stage_count; s++) {
            if (c + s > 0)
                yoke_text_add(out, "|");
            if (c < pipeline->stages[s].chunk_count)
                add_chunk(export->model, &pipeline->stages[s].chunks[c], out);
        }
}

/* --- arguments -----------------------------------------------------------------------
 */

static yoke_status_t add_word(yoke_strings_t *words, const char *option,
                              const char *value)
{
    yoke_status_t status = yoke_strings_add(words, option);
    if (status == YOKE_OK && value != NULL)
        status = yoke_strings_add(words, value);
    return status;
}

static yoke_status_t add_number(yoke_strings_t *words, const char *option, uint64_t value)
{
    char text[32];
    yoke_snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return add_word(words, option, text);
}

#define TRY(step)                                                                        \
    do {                                                                                 \
        yoke_status_t try_status = (step);                                               \
        if (try_status != YOKE_OK)                                                       \
            return try_status;                                                           \
    } while (0)

static yoke_status_t add_precision(const yoke_plan_t *plan, yoke_strings_t *out)
{
    switch (plan->dtype) {
    case YOKE_BF16:
        return add_word(out, "--bf16", NULL);
    case YOKE_FP16:
        return add_word(out, "--fp16", NULL);
    case YOKE_FP8:
        TRY(add_word(out, "--bf16", NULL));
        return add_word(out, "--fp8-format", "hybrid");
    default:
        return YOKE_OK;
    }
}

static yoke_status_t add_recompute(yoke_recompute_t level, yoke_strings_t *out)
{
    if (level == YOKE_RECOMPUTE_SELECTIVE)
        return add_word(out, "--recompute-granularity", "selective");
    if (level != YOKE_RECOMPUTE_FULL)
        return YOKE_OK;
    TRY(add_word(out, "--recompute-granularity", "full"));
    TRY(add_word(out, "--recompute-method", "uniform"));
    return add_number(out, "--recompute-num-layers", 1);
}

yoke_status_t yoke_export_megatron_options(const yoke_exporter_t *export,
                                           yoke_strings_t *out)
{
    const yoke_plan_t *plan = export->plan;
    const yoke_stage_t *stage = &export->replay.layout.pipelines[0].stages[0];
    TRY(add_number(out, "--tensor-model-parallel-size", stage->replicas[0].tp));
    TRY(add_number(out, "--pipeline-model-parallel-size", export->stages));
    TRY(add_number(out, "--context-parallel-size", 1));
    if (export->stages > 1) {
        yoke_text_t layout = {0};
        yoke_export_layout_string(export, &layout);
        yoke_status_t status = layout.failed
                                   ? yoke_fail_memory()
                                   : add_word(out, "--pipeline-model-parallel-layout",
                                              yoke_text_get(&layout));
        yoke_text_free(&layout);
        TRY(status);
    }
    TRY(add_number(out, "--micro-batch-size", stage->replicas[0].micro_batch));
    TRY(add_number(out, "--global-batch-size", plan->global_batch));
    TRY(add_number(out, "--seq-length", plan->sequence));
    TRY(add_word(out, "--optimizer",
                 plan->optimizer == YOKE_OPTIMIZER_SGD ? "sgd" : "adam"));
    if (plan->sharded_optimizer)
        TRY(add_word(out, "--use-distributed-optimizer", NULL));
    TRY(add_precision(plan, out));
    return add_recompute(stage->recompute, out);
}

static const yoke_layer_t *decoder_of(const yoke_model_t *model, uint64_t *out_count)
{
    const yoke_layer_t *found = NULL;
    *out_count = 0;
    for (size_t l = 0; l < model->layer_count; l++)
        if (model->layers[l].kind == YOKE_LAYER_DECODER) {
            found = found != NULL ? found : &model->layers[l];
            ++*out_count;
        }
    return found;
}

static yoke_status_t add_experts(const yoke_model_t *model, const yoke_layer_t *layer,
                                 yoke_strings_t *out)
{
    if (model->experts == 0)
        return YOKE_OK;
    for (size_t l = 0; l < model->layer_count; l++)
        if (model->layers[l].experts > 0)
            layer = &model->layers[l];
    TRY(add_number(out, "--num-experts", layer->experts));
    TRY(add_number(out, "--moe-router-topk", layer->experts_active));
    return add_number(out, "--moe-ffn-hidden-size", layer->expert_ffn);
}

yoke_status_t yoke_export_model_options(const yoke_exporter_t *export,
                                        yoke_strings_t *out)
{
    const yoke_model_t *model = export->model;
    uint64_t decoders = 0;
    const yoke_layer_t *layer = decoder_of(model, &decoders);
    if (layer == NULL)
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "the model has no decoder layers: Megatron-LM cannot be told it");
    TRY(add_number(out, "--num-layers", decoders));
    TRY(add_number(out, "--hidden-size", model->hidden));
    if (layer->ffn > 0 || layer->expert_ffn > 0)
        TRY(add_number(out, "--ffn-hidden-size",
                       layer->ffn > 0 ? layer->ffn : layer->expert_ffn));
    TRY(add_number(out, "--num-attention-heads", model->heads));
    if (model->head_dim > 0)
        TRY(add_number(out, "--kv-channels", model->head_dim));
    if (model->kv_heads > 0 && model->kv_heads < model->heads) {
        TRY(add_word(out, "--group-query-attention", NULL));
        TRY(add_number(out, "--num-query-groups", model->kv_heads));
    }
    if (layer->gated) {
        TRY(add_word(out, "--swiglu", NULL));
        TRY(add_word(out, "--disable-bias-linear", NULL));
        TRY(add_word(out, "--normalization", "RMSNorm"));
        TRY(add_word(out, "--position-embedding-type", "rope"));
    }
    if (!model->tied)
        TRY(add_word(out, "--untie-embeddings-and-output-weights", NULL));
    TRY(add_experts(model, layer, out));
    return add_number(out, "--max-position-embeddings",
                      model->positions > export->plan->sequence ? model->positions
                                                                : export->plan->sequence);
}

/* Without the user's script: data and tokenizer of Megatron-LM's own, so that it starts.
 */
static yoke_status_t add_trial(const yoke_exporter_t *export, yoke_strings_t *out)
{
    TRY(add_word(out, "--mock-data", NULL));
    TRY(add_word(out, "--tokenizer-type", "NullTokenizer"));
    TRY(add_number(out, "--vocab-size",
                   export->model->vocabulary > 1 ? export->model->vocabulary - 1 : 1));
    TRY(add_number(out, "--train-iters", 20));
    TRY(add_word(out, "--lr", "1e-4"));
    TRY(add_number(out, "--log-interval", 1));
    return add_word(out, "--log-throughput", NULL);
}

/* --- the script ----------------------------------------------------------------------
 */

/* One option and its values a line. */
static void add_arguments(const yoke_strings_t *words, bool expand, yoke_text_t *out)
{
    for (size_t i = 0; i < words->count; i++) {
        bool option = strncmp(words->items[i], "--", 2) == 0;
        yoke_text_add(out, option || i == 0 ? " \\\n    " : " ");
        yoke_export_quote(words->items[i], expand, out);
    }
}

static void add_head(yoke_text_t *out)
{
    yoke_text_add(out, "#!/usr/bin/env bash\n"
                       "# Megatron-LM by the plan; arguments of this command come last.\n"
                       "set -euo pipefail\n"
                       "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n");
}

static yoke_status_t merge_base(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_launch_t base;
    yoke_strings_t kept = {0}, ours = {0};
    yoke_status_t status = yoke_launch_read(export->options->base, &base);
    if (status != YOKE_OK)
        return status;
    status = yoke_launch_matches(&base, export->options->base, export->model);
    if (status == YOKE_OK)
        status = yoke_launch_without_plan(&base, &kept);
    if (status == YOKE_OK)
        status = yoke_export_megatron_options(export, &ours);
    if (status == YOKE_OK) {
        yoke_text_add(out, "exec \"$here/launch.sh\" ");
        yoke_export_quote(base.program, true, out);
        add_arguments(&kept, true, out);
        add_arguments(&ours, false, out);
        yoke_text_add(out, " \\\n    \"$@\"\n");
    }
    yoke_strings_free(&kept);
    yoke_strings_free(&ours);
    yoke_launch_free(&base);
    return status;
}

static yoke_status_t write_whole(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_strings_t words = {0};
    yoke_status_t status = yoke_export_model_options(export, &words);
    if (status == YOKE_OK)
        status = yoke_export_megatron_options(export, &words);
    if (status == YOKE_OK)
        status = add_trial(export, &words);
    yoke_text_add(out, "exec \"$here/launch.sh\" "
                       "\"${MEGATRON_DIR:-.}/pretrain_gpt.py\"");
    add_arguments(&words, false, out);
    yoke_text_add(out, " \\\n    \"$@\"\n");
    yoke_strings_free(&words);
    return status;
}

yoke_status_t yoke_export_megatron(yoke_exporter_t *export)
{
    yoke_text_t run = {0};
    add_head(&run);
    yoke_status_t status = export->options->base != NULL ? merge_base(export, &run)
                                                         : write_whole(export, &run);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "run.sh", &run, true);
    if (status == YOKE_OK)
        status = yoke_export_launchers(export);
    yoke_text_free(&run);
    if (status == YOKE_OK)
        export->out.start = yoke_strdup("sbatch job.sbatch, or ./run.sh on every host");
    return status;
}
