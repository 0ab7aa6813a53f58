/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one device of a stage at its peak, term by term. */
#include "partition/evaluate.h"

#include "partition/layer_times.h"
#include "yoke/inventory.h"

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double optimizer_bytes(const yoke_problem_t *problem)
{
    const yoke_constants_t *constants = problem->constants;
    bool fp32 = yoke_dtype_size(problem->options.dtype) >= sizeof(float);
    switch (problem->options.optimizer) {
    case YOKE_OPTIMIZER_ADAM:
        return fp32 ? constants->adam_bytes_fp32 : constants->adam_bytes;
    case YOKE_OPTIMIZER_SGD:
        return fp32 ? constants->sgd_bytes_fp32 : constants->sgd_bytes;
    case YOKE_OPTIMIZER_NONE:
        break;
    }
    return 0;
}

static bool holds(const yoke_model_t *model, const yoke_stage_t *stage,
                  yoke_layer_kind_t kind)
{
    return model->layers[stage->first].kind == kind ||
           model->layers[stage->last].kind == kind;
}

/* Embedding and head are the ends of the model, so that a stage with both has all layers
 * between; extra prediction layers stand behind the head. */
static bool holds_tied_pair(const yoke_model_t *model, const yoke_stage_t *stage)
{
    if (!model->tied || !holds(model, stage, YOKE_LAYER_EMBEDDING))
        return false;
    for (unsigned i = stage->last + 1; i-- > stage->first;)
        if (model->layers[i].kind == YOKE_LAYER_HEAD)
            return true;
    return false;
}

double yoke_stage_parameters(const yoke_problem_t *problem,
                             const yoke_cost_table_t *table, const yoke_stage_t *stage)
{
    double parameters =
        table->parameters[stage->last + 1] - table->parameters[stage->first];
    if (holds_tied_pair(problem->model, stage))
        parameters -= table->tied;
    return parameters;
}

void yoke_stage_memory(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                       const yoke_stage_t *stage, const yoke_replica_t *replica,
                       unsigned in_flight, unsigned data_ranks, bool sharded_optimizer,
                       bool alone, yoke_memory_terms_t *out)
{
    const yoke_constants_t *constants = problem->constants;
    const yoke_class_t *class = &problem->classes[replica->class_index];
    const yoke_cost_table_t *table = yoke_cost_cache_get(
        cache, replica->class_index, replica->tp, replica->micro_batch, stage->recompute);
    yoke_memory_terms_t terms = {.limit = class->memory_limit};
    if (table == NULL || !table->possible) {
        terms.predicted = 1e300; /* never fits */
        terms.peak_at = "impossible: layers cannot be sharded this way";
        *out = terms;
        return;
    }
    const yoke_layer_memory_t *measured =
        yoke_layer_times_memory(problem->measured, replica->tp);
    double parameters = yoke_stage_parameters(problem, table, stage);
    double shards = sharded_optimizer && data_ranks > 1 ? (double)data_ranks : 1;
    terms.weights = parameters * (double)yoke_dtype_size(problem->options.dtype);
    terms.gradients = parameters * constants->gradient_bytes;
    double state = optimizer_bytes(problem);
    if (measured != NULL)
        state = larger(yoke_layer_times_state_bytes(problem->measured) -
                           (double)yoke_dtype_size(problem->options.dtype) -
                           constants->gradient_bytes,
                       0);
    terms.optimizer = parameters * state / shards;
    terms.activations =
        (table->activations[stage->last + 1] - table->activations[stage->first]) *
        (double)in_flight;
    for (unsigned i = stage->first, end; i <= stage->last; i = end + 1) {
        end = table->run_end[i] < stage->last ? table->run_end[i] : stage->last;
        terms.logits += table->logits[i] * (double)(end - i + 1);
        if (table->working_set[i] > terms.working_set)
            terms.working_set = table->working_set[i];
    }
    if (replica->tp > 1 || data_ranks > 1 || !alone)
        terms.communication = constants->communication_bytes;
    if (data_ranks > 1)
        terms.communication += smaller(constants->bucket_bytes,
                                       parameters * constants->gradient_exchange_bytes);
    double held = terms.weights + terms.gradients + terms.optimizer + terms.activations +
                  terms.logits + terms.working_set + terms.communication;
    terms.slack = constants->slack_fraction * held;
    terms.context =
        class->rates.host ? constants->host_context_bytes : constants->context_bytes;
    if (measured != NULL) { /* what was measured has both, and all buffers */
        held -= terms.communication;
        terms.communication = terms.slack = 0;
        terms.context = measured->fixed;
    }
    terms.predicted = held + terms.slack + terms.context;
    terms.peak_at = terms.logits > 0 ? "first backward, at the head's logits"
                                     : "first backward, all warm-up micro-batches held";
    *out = terms;
}
