/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the fullest device of a run, by the terms of docs/cost-model.md. */
#include "partition/run.h"

#include "yoke/inventory.h"

typedef struct held {
    double parameters, activations, logits, working, scores, largest;
} held_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Everything that a block keeps is cut when the sequence is. */
static void add_layer(const yoke_run_t *run, const yoke_constants_t *constants,
                      const yoke_layer_t *layer, unsigned tp, double count, held_t *out)
{
    yoke_layer_bytes_t bytes, whole;
    double samples = run->micro_batch / run->cp;
    yoke_layer_get_bytes(layer, tp, samples, run->sequence, run->dtype, run->recompute,
                         &bytes);
    if (run->sequence_parallel && tp > 1 && layer->kind == YOKE_LAYER_DECODER) {
        yoke_layer_get_bytes(layer, 1, samples, run->sequence, run->dtype, run->recompute,
                             &whole);
        bytes.activations = whole.activations / tp;
    }
    double parameters = bytes.parameters;
    for (size_t i = 0; run->ep > 1 && i < layer->tensor_count; i++)
        if (layer->tensors[i].shard == YOKE_SHARD_EXPERTS)
            parameters -= (double)layer->tensors[i].rows *
                          (double)layer->tensors[i].columns *
                          (double)layer->tensors[i].copies / tp * (1 - 1.0 / run->ep);
    parameters -= run->pp == 1 ? bytes.tied : 0;
    out->parameters += count * parameters;
    if (run->recompute == YOKE_RECOMPUTE_SELECTIVE)
        /* What GEMMs wrote that are done again is not kept. */
        bytes.activations *= 1 - constants->selective_gemm;
    out->activations += count * bytes.activations;
    out->logits += count * bytes.logits;
    out->working = larger(out->working, bytes.working_set);
    out->largest = larger(out->largest, parameters);
    if (layer->attention.heads > 0 && !layer->attention.linear)
        out->scores = larger(out->scores, samples * (double)layer->attention.heads / tp *
                                              run->sequence * run->sequence);
}

static double stage_memory(const yoke_run_t *run, const yoke_constants_t *constants,
                           const yoke_run_stage_t *stage, unsigned index, unsigned first)
{
    held_t held = {0};
    unsigned block = 0;
    for (size_t i = 0; i < run->model->layer_count; i++) {
        const yoke_layer_t *layer = &run->model->layers[i];
        bool mine = (layer->kind == YOKE_LAYER_EMBEDDING && index == 0) ||
                    (layer->kind == YOKE_LAYER_HEAD && index + 1 == run->pp);
        if (layer->kind == YOKE_LAYER_DECODER) {
            mine = block >= first && block < first + stage->layers;
            block++;
        }
        if (mine)
            add_layer(run, constants, layer, stage->tp, 1, &held);
    }
    double steps = run->global_batch / (run->dp * run->micro_batch);
    double flying = run->pp - index;
    if (run->chunks > 1) /* Narayanan et al. 2021 */
        flying = run->pp * (1 + (run->pp - 1.0) / (run->pp * run->chunks));
    flying = flying < steps ? flying : larger(steps, 1);

    double ranks = (double)run->dp * run->cp, size = (double)yoke_dtype_size(run->dtype);
    double optimizer = constants->adam_bytes / (run->zero >= 1 ? ranks : 1);
    /* In a pipeline what ZeRO-2 and 3 shard stays whole from one micro-batch to the next.
     */
    bool piped = run->pp > 1;
    double gradients = constants->gradient_bytes / (run->zero >= 2 && !piped ? ranks : 1);
    double bytes = held.parameters * (optimizer + gradients);
    if (run->zero >= 3 && !piped) /* its part, and two layers gathered */
        bytes += held.parameters * size / ranks + 2 * held.largest * size;
    else
        bytes += held.parameters * size;
    bytes += held.activations * flying + held.logits + held.working;
    if (constants->score_traffic > 0) { /* 5 bytes a score: Korthikanti et al. 2022 */
        bool all = run->recompute == YOKE_RECOMPUTE_NONE;
        bytes += 5 * held.scores * (all ? stage->layers * flying : 1);
    }
    if (run->devices > 1)
        bytes += constants->communication_bytes;
    if (ranks > 1) {
        double flat = held.parameters * constants->gradient_exchange_bytes;
        bytes += flat < constants->bucket_bytes ? flat : constants->bucket_bytes;
    }
    return bytes * (1 + constants->slack_fraction) + constants->context_bytes;
}

double yoke_run_predict_memory(const yoke_run_t *run, const yoke_constants_t *constants)
{
    double most = 0;
    unsigned first = 0, index = 0;
    for (unsigned s = 0; s < run->stage_count; s++) {
        most = larger(most, stage_memory(run, constants, &run->stages[s], index, first));
        if (run->stages[s].more)
            continue;
        first += run->stages[s].layers;
        index++;
    }
    return most;
}
