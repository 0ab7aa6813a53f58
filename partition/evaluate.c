/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time and memory of one layout. Steps: cost of every stage, 1F1B of every pipeline, then
 * per stage the exchange of gradients and the update of the weights; the last stage to
 * finish is the iteration.
 */
#include "partition/cache.h"

#include <stdlib.h>

#include "base/error.h"
#include "costmodel/collective.h"
#include "partition/layer_times.h"
#include "yoke/inventory.h"

typedef struct evaluator {
    const yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    const yoke_layout_t *layout;
    yoke_event_sink_t sink;
    void *context;
    yoke_evaluation_t *out;
} evaluator_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static yoke_status_t reserve_stages(const yoke_layout_t *layout, yoke_evaluation_t *out)
{
    size_t count = 0;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        count += layout->pipelines[p].stage_count;
    if (count > out->stage_capacity) {
        yoke_stage_result_t *stages = realloc(out->stages, count * sizeof *stages);
        if (stages == NULL)
            return yoke_fail_memory();
        out->stages = stages;
        out->stage_capacity = count;
    }
    out->stage_count = count;
    for (size_t i = 0; i < count; i++)
        out->stages[i] = (yoke_stage_result_t){0};
    return YOKE_OK;
}

static bool same_cost(const yoke_replica_t *a, const yoke_replica_t *b)
{
    return a->class_index == b->class_index && a->tp == b->tp &&
           a->micro_batch == b->micro_batch;
}

static yoke_status_t get_table(const evaluator_t *run, const yoke_stage_t *stage,
                               const yoke_replica_t *replica,
                               const yoke_cost_table_t **out_table)
{
    const yoke_cost_table_t *table =
        yoke_cost_cache_get(run->cache, replica->class_index, replica->tp,
                            replica->micro_batch, stage->recompute);
    if (table == NULL)
        return yoke_fail_memory();
    if (!table->possible)
        return yoke_fail(YOKE_ERR_USAGE,
                         "model: tensor-parallel degree %u does not divide the heads, "
                         "columns or experts of every layer; choose another",
                         replica->tp);
    *out_table = table;
    return YOKE_OK;
}

/* Forward, backward and send of one step of a stage: its slowest replica. */
static yoke_status_t time_stage(const evaluator_t *run, const yoke_pipeline_t *pipeline,
                                unsigned index, yoke_stage_result_t *result)
{
    const yoke_stage_t *stage = &pipeline->stages[index];
    const yoke_cost_table_t *table = NULL;
    for (unsigned r = 0; r < stage->replica_count; r++) {
        const yoke_replica_t *replica = &stage->replicas[r];
        if (r > 0 && same_cost(replica, replica - 1))
            continue;
        yoke_status_t status = get_table(run, stage, replica, &table);
        if (status != YOKE_OK)
            return status;
        result->forward = larger(result->forward, table->forward[stage->last + 1] -
                                                      table->forward[stage->first]);
        result->backward = larger(result->backward, table->backward[stage->last + 1] -
                                                        table->backward[stage->first]);
    }
    if (index + 1 < pipeline->stage_count && table != NULL) {
        unsigned samples = stage->replicas[stage->replica_count - 1].micro_batch;
        double sample_bytes = table->boundary[stage->last] / (double)samples;
        result->send = yoke_stage_boundary_time(
            run->problem, stage, &pipeline->stages[index + 1], sample_bytes);
    }
    return YOKE_OK;
}

static yoke_status_t simulate(const evaluator_t *run, unsigned index,
                              yoke_stage_result_t *results)
{
    const yoke_pipeline_t *pipeline = &run->layout->pipelines[index];
    size_t stages = pipeline->stage_count;
    double *numbers =
        yoke_cost_cache_doubles(run->cache, (5 + YOKE_SIMULATE_WORK) * stages);
    if (numbers == NULL)
        return yoke_fail_memory();
    double *forward = numbers, *backward = numbers + stages, *send = numbers + 2 * stages,
           *first = numbers + 3 * stages, *end = numbers + 4 * stages;
    for (size_t s = 0; s < stages; s++) {
        forward[s] = results[s].forward;
        backward[s] = results[s].backward;
        send[s] = results[s].send;
    }
    if (yoke_layer_times_blocking(run->problem->measured))
        for (size_t s = 0; s + 1 < stages; s++) {
            /* The sender waits: its work takes as much longer, and arrives at its end. */
            forward[s] += send[s];
            backward[s + 1] += send[s];
            send[s] = 0;
        }
    double last = yoke_simulate_1f1b_in(numbers + 5 * stages, pipeline->stage_count,
                                        pipeline->micro_batches, forward, backward, send,
                                        first, end, run->sink, run->context, index);
    for (size_t s = 0; s < stages; s++) {
        results[s].first_start = first[s];
        results[s].end = end[s];
    }
    run->out->compute_end = larger(run->out->compute_end, last);
    return YOKE_OK;
}

/* Most parameters that a rank of the stage updates, and the slowest pass over them. */
static yoke_status_t measure_update(const evaluator_t *run, const yoke_stage_t *stage,
                                    double *out_parameters, double *out_seconds)
{
    const yoke_constants_t *constants = run->problem->constants;
    double traffic = 0;
    if (run->problem->options.optimizer == YOKE_OPTIMIZER_ADAM)
        traffic = constants->optimizer_traffic_adam;
    else if (run->problem->options.optimizer == YOKE_OPTIMIZER_SGD)
        traffic = constants->optimizer_traffic_sgd;
    *out_parameters = *out_seconds = 0;
    for (unsigned r = 0; r < stage->replica_count; r++) {
        const yoke_replica_t *replica = &stage->replicas[r];
        const yoke_cost_table_t *table = NULL;
        if (r > 0 && same_cost(replica, replica - 1))
            continue;
        yoke_status_t status = get_table(run, stage, replica, &table);
        if (status != YOKE_OK)
            return status;
        double parameters = yoke_stage_parameters(run->problem, table, stage);
        double bandwidth = run->problem->classes[replica->class_index].rates.bandwidth;
        double seconds = parameters * traffic / bandwidth;
        if (table->update != NULL)
            seconds = table->update[stage->last + 1] - table->update[stage->first];
        else if (table->stage_update >= 0)
            seconds = table->stage_update;
        *out_parameters = larger(*out_parameters, parameters);
        *out_seconds = larger(*out_seconds, seconds);
    }
    return YOKE_OK;
}

static void measure_memory(const evaluator_t *run, const yoke_pipeline_t *pipeline,
                           unsigned index, unsigned data_ranks, yoke_memory_terms_t *out)
{
    const yoke_stage_t *stage = &pipeline->stages[index];
    unsigned behind = pipeline->stage_count - index;
    unsigned in_flight =
        behind < pipeline->micro_batches ? behind : pipeline->micro_batches;
    for (unsigned r = 0; r < stage->replica_count; r++) {
        yoke_memory_terms_t terms;
        if (r > 0 && same_cost(&stage->replicas[r], &stage->replicas[r - 1]))
            continue;
        yoke_stage_memory(run->problem, run->cache, stage, &stage->replicas[r], in_flight,
                          data_ranks, run->layout->sharded_optimizer,
                          pipeline->stage_count == 1, &terms);
        if (r == 0 || terms.limit - terms.predicted < out->limit - out->predicted)
            *out = terms;
    }
}

/* What a stage does after its last backward, and what it holds. The exchange is still
 * whole: how much of it hides is known when all pipelines are. */
static yoke_status_t finish_stage(const evaluator_t *run, const yoke_pipeline_t *pipeline,
                                  unsigned index, yoke_stage_result_t *result)
{
    const yoke_stage_t *stage = &pipeline->stages[index];
    double parameters, update, sync;
    unsigned ranks_min, ranks_max;
    yoke_status_t status = measure_update(run, stage, &parameters, &update);
    if (status == YOKE_OK)
        status = yoke_stage_sync_time(
            run->problem, run->cache, run->layout, stage,
            parameters * run->problem->constants->gradient_exchange_bytes, &ranks_min,
            &ranks_max, &sync);
    if (status != YOKE_OK)
        return status;
    result->sync = sync;
    result->optimizer = update;
    if (run->layout->sharded_optimizer && ranks_min > 1)
        result->optimizer /= (double)ranks_min;
    measure_memory(run, pipeline, index, ranks_min, &result->memory);
    return YOKE_OK;
}

static long find_stage(const yoke_model_t *model, const yoke_pipeline_t *pipeline,
                       yoke_layer_kind_t kind)
{
    for (unsigned s = 0; s < pipeline->stage_count; s++)
        for (unsigned i = pipeline->stages[s].first; i <= pipeline->stages[s].last; i++)
            if (model->layers[i].kind == kind)
                return (long)s;
    return -1;
}

/* A matrix that embedding and head share, on two stages: both add up its gradients.
 * Seconds for one stage; 0 where it is not one of the two. */
static double tied_sync(const evaluator_t *run, const yoke_pipeline_t *pipeline,
                        unsigned index)
{
    const yoke_model_t *model = run->problem->model;
    if (!model->tied || pipeline->stage_count < 2)
        return 0;
    long first = find_stage(model, pipeline, YOKE_LAYER_EMBEDDING);
    long last = find_stage(model, pipeline, YOKE_LAYER_HEAD);
    if (first < 0 || last < 0 || first == last || (index != first && index != last))
        return 0;
    const yoke_stage_t *a = &pipeline->stages[first], *b = &pipeline->stages[last];
    double bytes = (double)model->vocabulary * (double)model->hidden *
                   run->problem->constants->gradient_exchange_bytes;
    unsigned pairs =
        a->replica_count > b->replica_count ? a->replica_count : b->replica_count;
    double slowest = 0;
    for (unsigned r = 0; r < pairs; r++) {
        double rate, latency;
        yoke_replica_path(run->problem, &a->replicas[r % a->replica_count],
                          &b->replicas[r % b->replica_count], &rate, &latency);
        slowest = larger(slowest, yoke_cost_all_reduce(2, bytes, rate, latency));
    }
    return slowest;
}

static bool share_layers(const yoke_stage_t *a, const yoke_stage_t *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/*
 * When the exchange of a stage's gradients can be exposed, and when it begins in effect.
 * All that hold one of its layers take part; each has a part of the exchange behind its
 * own last backward, and the one that is ready last counts.
 */
static void get_sync_start(const evaluator_t *run, const yoke_stage_t *stage, double sync,
                           double *out_ready, double *out_begin)
{
    const yoke_stage_result_t *result = run->out->stages;
    *out_ready = *out_begin = 0;
    if (yoke_layer_times_exchange_last(run->problem->measured)) {
        *out_ready = *out_begin = run->out->compute_end;
        return;
    }
    for (unsigned p = 0; p < run->layout->pipeline_count; p++)
        for (unsigned s = 0; s < run->layout->pipelines[p].stage_count; s++, result++) {
            if (!share_layers(&run->layout->pipelines[p].stages[s], stage))
                continue;
            double hidden = sync < result->backward ? sync : result->backward;
            hidden *= yoke_layer_times_overlap(run->problem->measured,
                                               run->problem->constants->data_overlap);
            *out_ready = larger(*out_ready, result->end);
            *out_begin = larger(*out_begin, result->end - hidden);
        }
}

/* Leave of a stage's exchange what is exposed; returns when that begins. */
static double expose_sync(const evaluator_t *run, const yoke_stage_t *stage,
                          yoke_stage_result_t *result)
{
    double ready, begin;
    get_sync_start(run, stage, result->sync, &ready, &begin);
    result->sync = larger(begin + result->sync - ready, 0);
    return ready;
}

static void finish_step(const evaluator_t *run)
{
    yoke_stage_result_t *result = run->out->stages;
    double end = 0;
    for (unsigned p = 0; p < run->layout->pipeline_count; p++)
        for (unsigned s = 0; s < run->layout->pipelines[p].stage_count; s++, result++) {
            double start = expose_sync(run, &run->layout->pipelines[p].stages[s], result);
            result->sync += tied_sync(run, &run->layout->pipelines[p], s);
            double synced = start + result->sync;
            double updated = synced + result->optimizer;
            end = larger(end, updated);
            if (run->sink == NULL)
                continue;
            if (result->sync > 0)
                run->sink(run->context, p, s, YOKE_EVENT_SYNC, 0, start, synced);
            if (result->optimizer > 0)
                run->sink(run->context, p, s, YOKE_EVENT_OPTIMIZER, 0, synced, updated);
        }
    run->out->iteration_time = end + run->problem->constants->step_overhead;
}

static void find_tightest(yoke_evaluation_t *out)
{
    double least = 0;
    out->fits = true;
    out->tightest_stage = 0;
    for (size_t i = 0; i < out->stage_count; i++) {
        double room = out->stages[i].memory.limit - out->stages[i].memory.predicted;
        if (room < 0)
            out->fits = false;
        if (i == 0 || room < least) {
            least = room;
            out->tightest_stage = i;
        }
    }
}

yoke_status_t yoke_evaluate(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                            const yoke_layout_t *layout, yoke_event_sink_t sink,
                            void *context, yoke_evaluation_t *out)
{
    evaluator_t run = {problem, cache, layout, sink, context, out};
    out->compute_end = 0;
    yoke_status_t status = reserve_stages(layout, out);
    yoke_stage_result_t *results = out->stages;
    for (unsigned p = 0; status == YOKE_OK && p < layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &layout->pipelines[p];
        for (unsigned s = 0; status == YOKE_OK && s < pipeline->stage_count; s++)
            status = time_stage(&run, pipeline, s, &results[s]);
        if (status == YOKE_OK)
            status = simulate(&run, p, results);
        for (unsigned s = 0; status == YOKE_OK && s < pipeline->stage_count; s++)
            status = finish_stage(&run, pipeline, s, &results[s]);
        results += pipeline->stage_count;
    }
    if (status != YOKE_OK)
        return status;
    finish_step(&run);
    find_tightest(out);
    return YOKE_OK;
}

void yoke_evaluation_free(yoke_evaluation_t *evaluation)
{
    free(evaluation->stages);
    *evaluation = (yoke_evaluation_t){0};
}
