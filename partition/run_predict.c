/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of one iteration of a run: stages by costmodel/, the pipeline by the simulator,
 * then what data parallelism adds. docs/cost-model.md has the formulas and their sources.
 */
#include "partition/run.h"

#include <stdlib.h>

#include "base/error.h"
#include "costmodel/collective.h"
#include "costmodel/data_parallel.h"
#include "partition/evaluate.h"
#include "yoke/inventory.h"

typedef struct predictor {
    const yoke_run_t *run;
    const yoke_constants_t *constants;
    yoke_layer_setting_t setting;
    double embed_forward, embed_backward, head_forward, head_backward;
    double block_forward, block_backward, flops; /* of all blocks together, a layer */
} predictor_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Bandwidth and latency of a group whose members are `stride` devices apart. */
static void get_group(const yoke_run_t *run, const yoke_constants_t *constants,
                      const yoke_rates_t *rates, unsigned ranks, unsigned stride,
                      yoke_path_t *out)
{
    unsigned span = run->per_node / (stride > 0 ? stride : 1);
    unsigned together = span < 1 ? 1 : span < ranks ? span : ranks;
    out->ranks = ranks;
    out->together = together;
    out->link = yoke_rates_spread_bandwidth(rates, together);
    out->link_latency = rates->link_latency;
    out->network = run->network * constants->nic_fraction * together / run->per_node;
    out->network_latency = constants->nic_latency;
}

static bool get_rates(const predictor_t *p, const yoke_run_stage_t *stage,
                      yoke_rates_t *out_rates, double *out_gemm)
{
    const yoke_run_t *run = p->run;
    bool supported;
    const char *missing;
    yoke_dtype_t dtype = run->dtype;
    /* Devices without bf16 run the same in fp16. */
    if (dtype == YOKE_BF16 && !yoke_known(&stage->device.compute[YOKE_BF16]))
        dtype = YOKE_FP16;
    if (!yoke_rates_from_device(&stage->device, dtype, p->constants, out_rates,
                                &supported, &missing) ||
        !supported)
        return false;
    out_rates->link_peers = run->per_node;
    const yoke_quantity_t *peak = &stage->device.compute[dtype],
                          *narrow = &stage->device.compute[YOKE_FP8];
    *out_gemm = 0;
    if (run->fp8 && yoke_known(narrow) && narrow->value > peak->value)
        *out_gemm =
            out_rates->compute * narrow->value / peak->value * p->constants->fp8_fraction;
    return true;
}

static double parameters(const yoke_run_t *run, const yoke_layer_t *layer, unsigned tp)
{
    double sum = 0;
    for (size_t i = 0; i < layer->tensor_count; i++) {
        const yoke_tensor_t *tensor = &layer->tensors[i];
        double count = (double)tensor->rows * (double)tensor->columns *
                       (double)tensor->copies * yoke_tensor_share(layer, tensor, tp);
        if (tensor->shard == YOKE_SHARD_EXPERTS)
            count /= run->ep;
        if (!tensor->tied)
            sum += count;
    }
    return sum;
}

/* Times of one micro-batch of a stage on one of its device types; `parameters` of one of
 * its ranks. ZeRO-3 gathers and scatters each layer beside its computing. */
typedef struct stage_time {
    double forward, backward, parameters, bandwidth;
    yoke_rates_t rates;
} stage_time_t;

static void add_layer(const predictor_t *p, const yoke_run_stage_t *stage,
                      const yoke_layer_t *layer, const yoke_layer_setting_t *setting,
                      const yoke_path_t *data, double count, stage_time_t *out)
{
    yoke_layer_cost_t cost;
    yoke_layer_time_in(layer, &out->rates, p->constants, setting, &cost);
    double held = parameters(p->run, layer, stage->tp);
    if (p->run->zero >= 3 && data->ranks > 1) {
        double gather = yoke_gather_time(data, p->constants, held);
        double scatter = yoke_scatter_time(data, p->constants, held);
        double exposed = p->constants->gather_exposed;
        cost.forward = yoke_beside(cost.forward, gather, exposed);
        cost.backward = yoke_beside(cost.backward, gather + scatter, exposed);
    } else if (p->run->zero == 2 && data->ranks > 1) {
        double scatter = yoke_scatter_time(data, p->constants, held);
        cost.backward = yoke_beside(cost.backward, scatter, p->constants->gather_exposed);
    }
    out->forward += count * cost.forward;
    out->backward += count * cost.backward;
    out->parameters += count * held;
}

static yoke_layer_setting_t make_setting(const predictor_t *p,
                                         const yoke_run_stage_t *stage,
                                         const yoke_rates_t *rates, double gemm_rate)
{
    const yoke_run_t *run = p->run;
    yoke_layer_setting_t setting = {.tp = stage->tp,
                                    .cp = run->cp,
                                    .ep = run->ep,
                                    .sequence_parallel = run->sequence_parallel,
                                    .gemm_rate = gemm_rate,
                                    .micro_batch = run->micro_batch,
                                    .sequence = run->sequence,
                                    .dtype = run->dtype,
                                    .recompute = run->recompute};
    yoke_path_t path;
    get_group(run, p->constants, rates, run->cp, stage->tp, &path);
    yoke_path_narrowest(&path, &setting.ring, &setting.ring_latency);
    get_group(run, p->constants, rates, run->ep, stage->tp * run->cp, &path);
    yoke_path_narrowest(&path, &setting.expert, &setting.expert_latency);
    return setting;
}

/* Layers of stage `index` are the first..last blocks in order, the embedding with the
 * first stage, the head with the last. */
static bool time_stage(const predictor_t *p, unsigned first_block, bool first, bool last,
                       const yoke_run_stage_t *stage, stage_time_t *out)
{
    const yoke_model_t *model = p->run->model;
    double gemm_rate;
    *out = (stage_time_t){0};
    if (!get_rates(p, stage, &out->rates, &gemm_rate))
        return false;
    yoke_layer_setting_t setting = make_setting(p, stage, &out->rates, gemm_rate);
    yoke_path_t data;
    get_group(p->run, p->constants, &out->rates, p->run->dp * p->run->cp, stage->tp,
              &data);
    unsigned block = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const yoke_layer_t *layer = &model->layers[i];
        if (layer->kind == YOKE_LAYER_EMBEDDING && first)
            add_layer(p, stage, layer, &setting, &data, 1, out);
        if (layer->kind == YOKE_LAYER_HEAD && last) {
            yoke_layer_setting_t wide = setting;
            wide.gemm_rate = 0; /* the head stays in 16 bits */
            add_layer(p, stage, layer, &wide, &data, 1, out);
        }
        if (layer->kind != YOKE_LAYER_DECODER)
            continue;
        /* Equal blocks are counted, not timed again: equal are those of one MLP kind. */
        unsigned run = 1;
        while (i + 1 < model->layer_count &&
               model->layers[i + 1].kind == YOKE_LAYER_DECODER &&
               model->layers[i + 1].experts == layer->experts &&
               model->layers[i + 1].attention.window == layer->attention.window) {
            i++;
            run++;
        }
        unsigned from = block > first_block ? block : first_block;
        unsigned end = block + run, stop = first_block + stage->layers;
        end = end < stop ? end : stop;
        if (end > from)
            add_layer(p, stage, layer, &setting, &data, end - from, out);
        block += run;
    }
    out->bandwidth = out->rates.bandwidth;
    return true;
}

/* Send of one micro-batch's activations to the next stage. Stages are devices/pp apart.
 */
static double send_time(const predictor_t *p, const stage_time_t *stage, unsigned tp)
{
    const yoke_run_t *run = p->run;
    double bytes = run->micro_batch * run->sequence / run->cp *
                   (double)run->model->hidden * (double)yoke_dtype_size(run->dtype);
    unsigned apart = run->devices / run->pp;
    double rate = yoke_rates_pair_bandwidth(&stage->rates);
    double latency = stage->rates.link_latency;
    if (apart >= run->per_node || run->devices > run->per_node) {
        double node = run->network * p->constants->nic_fraction;
        rate = smaller(rate, larger(node * tp / run->per_node, node / run->per_node));
        latency = p->constants->nic_latency;
    }
    return yoke_cost_p2p(bytes, rate, latency);
}

/* Exposed gradient exchange and update of one stage. */
static void finish_stage(const predictor_t *p, const stage_time_t *stage, unsigned tp,
                         double *out_sync, double *out_update)
{
    const yoke_run_t *run = p->run;
    yoke_path_t data;
    get_group(run, p->constants, &stage->rates, run->dp * run->cp, tp, &data);
    double shards = run->zero >= 1 ? (double)data.ranks : 1;
    double whole = 0;
    if (data.ranks > 1 && run->zero < 2)
        whole = yoke_gradient_time(&data, p->constants, stage->parameters);
    else if (data.ranks > 1 && run->zero == 2)
        whole = yoke_gather_time(&data, p->constants, stage->parameters);
    double hidden = p->constants->data_overlap * smaller(whole, stage->backward);
    *out_sync = whole - hidden;
    *out_update = stage->parameters * p->constants->optimizer_traffic_adam / shards /
                  stage->bandwidth;
}

/* Interleaved 1F1B with equal chunks: the bubble is that of 1F1B divided by the chunks
 * (Narayanan et al. 2021); the simulator counts the rest. */
static double interleave(double end, double bottleneck, double micro_batches,
                         unsigned chunks)
{
    double busy = bottleneck * micro_batches;
    return chunks > 1 && end > busy ? busy + (end - busy) / chunks : end;
}

static double naive_time(const yoke_run_t *run, double micro_batches)
{
    double flops = 0, peak = 0;
    for (size_t i = 0; i < run->model->layer_count; i++) {
        yoke_layer_work_t work;
        yoke_layer_get_work(&run->model->layers[i], run->global_batch, run->sequence, 2,
                            &work);
        flops += 3 * (work.matmul_flops + work.attention_flops);
    }
    for (unsigned s = 0; s < run->stage_count; s++) {
        const yoke_run_stage_t *stage = &run->stages[s];
        double rate = stage->device.compute[run->fp8 ? YOKE_FP8 : run->dtype].value;
        if (!(rate > 0))
            rate = stage->device.compute[YOKE_FP16].value;
        peak += rate * stage->tp * stage->replicas * run->cp;
    }
    double bubble = (run->pp - 1) / run->chunks / micro_batches;
    return flops / (0.45 * peak) * (1 + bubble);
}

typedef struct totals {
    double bottleneck, sync, update;
} totals_t;

static bool time_stages(const predictor_t *p, double *forward, double *backward,
                        double *send, totals_t *out)
{
    const yoke_run_t *run = p->run;
    unsigned block = 0, index = 0;
    for (unsigned s = 0; s < run->stage_count; s++) {
        stage_time_t time;
        bool first = index == 0, last = index + 1 == run->pp;
        double sync, update;
        if (!time_stage(p, block, first, last, &run->stages[s], &time))
            return false;
        finish_stage(p, &time, run->stages[s].tp, &sync, &update);
        double sent = last ? 0 : send_time(p, &time, run->stages[s].tp);
        /* What holds up the stage: it sends forward and backward. */
        double held = p->constants->send_exposed * sent;
        double held_back =
            first ? 0
                  : p->constants->send_exposed * send_time(p, &time, run->stages[s].tp);
        forward[index] = larger(forward[index], time.forward + held);
        backward[index] = larger(backward[index], time.backward + held_back);
        send[index] = larger(send[index], sent - held);
        out->sync = larger(out->sync, sync);
        out->update = larger(out->update, update);
        if (run->stages[s].more)
            continue;
        out->bottleneck = larger(out->bottleneck, forward[index] + backward[index]);
        block += run->stages[s].layers;
        index++;
    }
    return true;
}

yoke_status_t yoke_run_predict(const yoke_run_t *run, const yoke_constants_t *constants,
                               yoke_run_result_t *out_result)
{
    predictor_t p = {.run = run, .constants = constants};
    double *numbers = calloc(3 * (size_t)run->pp, sizeof *numbers);
    if (numbers == NULL)
        return yoke_fail_memory();
    double *forward = numbers, *backward = numbers + run->pp,
           *send = numbers + 2 * (size_t)run->pp;
    double steps = run->global_batch / (run->dp * run->micro_batch);
    unsigned whole = steps < 1 ? 1 : (unsigned)(steps + 0.5);
    totals_t totals = {0};
    if (!time_stages(&p, forward, backward, send, &totals)) {
        free(numbers);
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "line %zu: its device cannot compute in its "
                         "precision, or its rate is not known",
                         run->line);
    }
    double end = yoke_simulate_1f1b(run->pp, whole, forward, backward, send, NULL, NULL,
                                    NULL, NULL, 0);
    free(numbers);
    end = interleave(end, totals.bottleneck, whole, run->chunks);
    yoke_run_result_t result = {.compute = end,
                                .sync = totals.sync,
                                .update = totals.update,
                                .memory = yoke_run_predict_memory(run, constants),
                                .naive = naive_time(run, whole)};
    result.time = end + totals.sync + totals.update + constants->step_overhead;
    double limit = run->stages[0].device.memory.total.value;
    for (unsigned s = 1; s < run->stage_count; s++)
        limit = smaller(limit, run->stages[s].device.memory.total.value);
    result.fits = result.memory * (1 + constants->slack_fraction) <= limit;
    *out_result = result;
    return YOKE_OK;
}
