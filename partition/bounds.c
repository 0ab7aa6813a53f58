/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds: reference weights by duality, and what 1F1B's in-flight limit forces. */
#include "partition/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/layer_times.h"

#define BISECTIONS 40

struct yoke_memory_cap {
    unsigned class_index, in_flight, data_ranks;
    bool sharded, alone;
    unsigned next; /* in its bucket, 1-based; 0: the last */
    int *last;
};

static double layer_total(const yoke_cost_table_t *table, size_t layer)
{
    return (table->forward[layer + 1] - table->forward[layer]) +
           (table->backward[layer + 1] - table->backward[layer]);
}

/* Speed of each class on the decoder layers together, relative to the first usable class.
 */
static void set_speeds(yoke_sheet_t *sheet)
{
    const yoke_model_t *model = sheet->problem->model;
    double reference = 0;
    for (size_t c = 0; c < sheet->problem->class_count; c++) {
        if (sheet->table[c] == NULL)
            continue;
        double sum = 0;
        for (size_t l = 0; l < model->layer_count; l++)
            if (model->layers[l].kind == YOKE_LAYER_DECODER)
                sum += layer_total(sheet->table[c], l);
        if (!(sum > 0))
            for (size_t l = 0; l < model->layer_count; l++)
                sum += layer_total(sheet->table[c], l);
        if (!(reference > 0))
            reference = sum;
        sheet->speed[c] = reference / sum;
        if (sheet->speed[c] > sheet->max_speed)
            sheet->max_speed = sheet->speed[c];
    }
}

/* Weight of a layer: the least (time x speed) over the classes, so that time >=
 * weight/speed. */
static bool set_weights(yoke_sheet_t *sheet)
{
    const yoke_problem_t *problem = sheet->problem;
    sheet->prefix = calloc(problem->model->layer_count + 1, sizeof *sheet->prefix);
    if (sheet->prefix == NULL)
        return false;
    for (size_t l = 0; l < problem->model->layer_count; l++) {
        double least = -1;
        for (size_t c = 0; c < problem->class_count; c++) {
            if (sheet->table[c] == NULL)
                continue;
            double weight = layer_total(sheet->table[c], l) * sheet->speed[c];
            if (least < 0 || weight < least)
                least = weight;
        }
        sheet->weight += least;
        sheet->prefix[l + 1] = sheet->weight;
    }
    return true;
}

static void set_phi(yoke_sheet_t *sheet)
{
    const yoke_problem_t *problem = sheet->problem;
    for (size_t c = 0; c < problem->class_count; c++)
        for (size_t l = 0; sheet->table[c] != NULL && l < problem->model->layer_count;
             l++) {
            double total = layer_total(sheet->table[c], l);
            double forward =
                sheet->table[c]->forward[l + 1] - sheet->table[c]->forward[l];
            if (problem->model->layers[l].kind == YOKE_LAYER_DECODER && total > 0 &&
                forward / total > sheet->phi)
                sheet->phi = forward / total;
        }
    for (size_t c = 0; c < problem->class_count; c++) {
        double excess = 0;
        for (size_t l = 0; sheet->table[c] != NULL && l < problem->model->layer_count;
             l++) {
            double beyond = sheet->table[c]->forward[l + 1] -
                            sheet->table[c]->forward[l] -
                            sheet->phi * layer_total(sheet->table[c], l);
            if (beyond > 0)
                excess += beyond;
        }
        if (excess > sheet->excess)
            sheet->excess = excess;
    }
}

bool yoke_sheet_init(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                     unsigned micro_batch, yoke_recompute_t recompute, const unsigned *tp,
                     yoke_sheet_t *out)
{
    memset(out, 0, sizeof *out);
    out->problem = problem;
    out->cache = cache;
    out->micro_batch = micro_batch;
    out->recompute = recompute;
    bool any = false;
    for (size_t c = 0; c < problem->class_count; c++) {
        if (tp[c] == 0)
            continue;
        const yoke_cost_table_t *table =
            yoke_cost_cache_get(cache, (unsigned)c, tp[c], micro_batch, recompute);
        if (table == NULL || !table->possible)
            continue;
        out->tp[c] = tp[c];
        out->table[c] = table;
        out->units[c] = yoke_class_units(&problem->classes[c], tp[c]);
        any = any || out->units[c] > 0;
    }
    if (!any)
        return false;
    set_speeds(out);
    if (!set_weights(out))
        return false;
    set_phi(out);
    return true;
}

void yoke_sheet_free(yoke_sheet_t *sheet)
{
    for (size_t i = 0; i < sheet->cap_count; i++)
        free(sheet->caps[i].last);
    free(sheet->caps);
    free(sheet->prefix);
    memset(sheet, 0, sizeof *sheet);
}

static bool stage_fits(yoke_sheet_t *sheet, const yoke_memory_cap_t *cap, unsigned first,
                       unsigned last)
{
    yoke_replica_t replica = {sheet->micro_batch, sheet->tp[cap->class_index],
                              cap->class_index, NULL};
    yoke_stage_t stage = {first, last, sheet->recompute, &replica, 1};
    yoke_memory_terms_t terms;
    yoke_stage_memory(sheet->problem, sheet->cache, &stage, &replica, cap->in_flight,
                      cap->data_ranks, cap->sharded, cap->alone, &terms);
    return terms.predicted <= terms.limit;
}

/* Two pointers: what fits from layer i on fits from i + 1 on. */
static bool fill_cap(yoke_sheet_t *sheet, yoke_memory_cap_t *cap)
{
    const int layers = (int)sheet->problem->model->layer_count;
    cap->last = calloc((size_t)layers + 1, sizeof *cap->last);
    if (cap->last == NULL)
        return false;
    const unsigned *run_end = sheet->table[cap->class_index]->run_end;
    int last = -1;
    for (int first = 0; first < layers; first++) {
        /* Equal layers leave at the front and come at the back: the same stage again, and
         * what did not fit behind it does not now. */
        if (first > 0 && last >= first && (int)run_end[first - 1] >= first &&
            (int)run_end[last] >= last + 2) {
            cap->last[first] = ++last;
            continue;
        }
        if (last < first - 1)
            last = first - 1;
        while (last + 1 < layers &&
               stage_fits(sheet, cap, (unsigned)first, (unsigned)last + 1))
            last++;
        cap->last[first] = last;
    }
    return true;
}

const int *yoke_sheet_memory_cap(yoke_sheet_t *sheet, unsigned class_index,
                                 unsigned in_flight, unsigned data_ranks, bool sharded,
                                 bool alone)
{
    if (!sharded)
        data_ranks = data_ranks > 1 ? 2 : 1;
    unsigned *bucket =
        &sheet->cap_buckets[(class_index * 31u + in_flight * 7u + data_ranks) %
                            YOKE_CAP_BUCKETS];
    for (unsigned i = *bucket; i != 0; i = sheet->caps[i - 1].next) {
        const yoke_memory_cap_t *cap = &sheet->caps[i - 1];
        if (cap->class_index == class_index && cap->in_flight == in_flight &&
            cap->data_ranks == data_ranks && cap->sharded == sharded &&
            cap->alone == alone)
            return cap->last;
    }
    if (sheet->cap_count == sheet->cap_capacity) {
        size_t capacity = sheet->cap_capacity ? 2 * sheet->cap_capacity : 16;
        yoke_memory_cap_t *grown = realloc(sheet->caps, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        sheet->caps = grown;
        sheet->cap_capacity = capacity;
    }
    yoke_memory_cap_t *cap = &sheet->caps[sheet->cap_count];
    *cap = (yoke_memory_cap_t){class_index, in_flight, data_ranks, sharded,
                               alone,       *bucket,   NULL};
    if (!fill_cap(sheet, cap))
        return NULL;
    *bucket = (unsigned)++sheet->cap_count;
    return cap->last;
}

unsigned yoke_sheet_max_replicas(const yoke_sheet_t *sheet, bool sharded)
{
    const yoke_problem_t *problem = sheet->problem;
    const yoke_constants_t *constants = problem->constants;
    const size_t layers = problem->model->layer_count;
    double capacity = 0, activations = -1;
    unsigned units = 0;
    for (size_t c = 0; c < problem->class_count; c++) {
        if (sheet->table[c] == NULL)
            continue;
        double context = sheet->problem->classes[c].rates.host
                             ? constants->host_context_bytes
                             : constants->context_bytes;
        double room = problem->classes[c].memory_limit - context;
        if (room > 0)
            capacity += room * sheet->units[c] * sheet->tp[c];
        units += sheet->units[c];
        double kept = sheet->table[c]->activations[layers] * sheet->tp[c];
        if (activations < 0 || kept < activations)
            activations = kept;
    }
    if (problem->measured != NULL && yoke_layer_times_has_memory(problem->measured))
        return units;
    double parameters = (double)problem->model->parameters_total -
                        (double)problem->model->parameters_other;
    yoke_optimizer_t optimizer = problem->options.optimizer;
    double state = optimizer == YOKE_OPTIMIZER_ADAM  ? constants->adam_bytes
                   : optimizer == YOKE_OPTIMIZER_SGD ? constants->sgd_bytes
                                                     : 0;
    /* fp32 weights are their own master copy. */
    if (yoke_dtype_size(problem->options.dtype) >= 4 && state >= 4)
        state -= 4;
    double scale = 1.0 + constants->slack_fraction;
    double each = parameters * (yoke_dtype_size(problem->options.dtype) +
                                constants->gradient_bytes + (sharded ? 0 : state)) +
                  (activations > 0 ? activations : 0);
    double shared = sharded ? parameters * state : 0;
    double left = capacity / scale - shared;
    if (!(left > 0) || !(each > 0))
        return 0;
    double replicas = left / each;
    return replicas >= units ? units : (unsigned)replicas;
}

unsigned yoke_sheet_max_replicas_by_layers(yoke_sheet_t *sheet, unsigned most,
                                           bool sharded)
{
    const yoke_problem_t *problem = sheet->problem;
    const yoke_model_t *model = problem->model;
    double decoders = 0, held = 0;
    for (size_t l = 0; l < model->layer_count; l++)
        decoders += model->layers[l].kind == YOKE_LAYER_DECODER;
    if (!(decoders > 0) || most < 2)
        return most;
    for (unsigned c = 0; c < problem->class_count; c++) {
        if (sheet->table[c] == NULL)
            continue;
        const int *last = yoke_sheet_memory_cap(sheet, c, 1, most, sharded, false);
        if (last == NULL)
            return most;
        /* Two pointers: the run from `first` on ends no earlier than that before it. */
        double best = 0, run = 0;
        for (int first = 0, end = 0; first < (int)model->layer_count; first++) {
            for (; end <= last[first]; end++)
                run += model->layers[end].kind == YOKE_LAYER_DECODER;
            best = run > best ? run : best;
            if (first < end)
                run -= model->layers[first].kind == YOKE_LAYER_DECODER;
            else
                end = first + 1;
        }
        held += sheet->units[c] * best;
    }
    /* One replica alone keeps no gradients under way and may need no buffers at all: what
     * was asked of the caps above holds for two and more. */
    double replicas = held / decoders;
    if (replicas < 1)
        return 1;
    return replicas >= most ? most : (unsigned)replicas;
}

/*
 * Steps that all groups can do when a model's work takes lambda x weight seconds. A slow
 * group that is used lengthens its pipeline and adds phi even where it does no step of
 * its own.
 */
static double steps_in(const yoke_sheet_t *sheet, double lambda, double stages)
{
    double steps = sheet->phi * stages;
    for (size_t c = 0; c < sheet->problem->class_count; c++) {
        double each = lambda * sheet->speed[c] - 1.0;
        if (each > 0)
            steps += sheet->units[c] * each;
    }
    return steps;
}

double yoke_bound_replicas(const yoke_sheet_t *sheet, unsigned replicas)
{
    const yoke_problem_t *problem = sheet->problem;
    double rate = 0, units = 0;
    for (size_t c = 0; c < problem->class_count; c++) {
        rate += sheet->units[c] * sheet->speed[c];
        units += sheet->units[c];
    }
    const double layers = (double)problem->model->layer_count;
    const double deepest = units - replicas + 1 < layers ? units - replicas + 1 : layers;
    const double steps = (double)(problem->options.global_batch / sheet->micro_batch);
    const double needed = steps - replicas * (1.0 - sheet->phi);
    /* No pipeline has more micro-batches under way than it has in all. */
    double stages = units < replicas * layers ? units : replicas * layers;
    stages = steps < stages ? steps : stages;
    double low = 1.0 / sheet->max_speed; /* one micro-batch through the fastest class */
    if (steps_in(sheet, low, stages) < needed) {
        double high = (needed + units) / rate;
        while (steps_in(sheet, high, stages) < needed)
            high *= 2.0;
        for (int i = 0; i < BISECTIONS; i++) {
            double middle = 0.5 * (low + high);
            if (steps_in(sheet, middle, stages) <= needed)
                low = middle;
            else
                high = middle;
        }
    }
    double bound = low * sheet->weight - (deepest - 1.0) * sheet->excess;
    double plain =
        steps * sheet->weight / rate; /* no device works faster than its speed */
    if (plain > bound)
        bound = plain;
    return bound + problem->constants->step_overhead;
}

/* Sum over stages of max(0, (lambda speed - 1) / coefficient): 1 at the dual optimum. */
static double dual_load(const yoke_sheet_t *sheet, const uint8_t *classes,
                        unsigned stages, unsigned micro_batches, double lambda)
{
    double load = 0;
    for (unsigned s = 0; s < stages; s++) {
        unsigned in_flight = micro_batches < stages - s ? micro_batches : stages - s;
        double coefficient = (micro_batches - 1.0) - sheet->phi * (in_flight - 1.0);
        double need = lambda * sheet->speed[classes[s]] - 1.0;
        if (need <= 0)
            continue;
        if (!(coefficient > 0))
            return 2.0;
        load += need / coefficient;
    }
    return load;
}

typedef struct sequence_sums {
    double fastest, rate; /* speeds: largest, sum */
    double extra;         /* what the bound adds to lambda x weight */
} sequence_sums_t;

static sequence_sums_t sum_sequence(const yoke_sheet_t *sheet, const uint8_t *classes,
                                    unsigned stages, const double *send)
{
    sequence_sums_t sums = {0};
    for (unsigned s = 0; s < stages; s++) {
        double speed = sheet->speed[classes[s]];
        sums.fastest = speed > sums.fastest ? speed : sums.fastest;
        sums.rate += speed;
        if (send != NULL && s + 1 < stages)
            sums.extra += 2.0 * send[s];
    }
    sums.extra -= (stages - 1.0) * sheet->excess;
    return sums;
}

double yoke_bound_sequence(const yoke_sheet_t *sheet, const uint8_t *classes,
                           unsigned stages, unsigned micro_batches, const double *send)
{
    sequence_sums_t sums = sum_sequence(sheet, classes, stages, send);
    double low = 1.0 / sums.fastest; /* load 0 */
    double high = (micro_batches + 1.0) / sums.rate + 1.0 / sums.fastest;
    while (dual_load(sheet, classes, stages, micro_batches, high) < 1.0)
        high *= 2.0;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (dual_load(sheet, classes, stages, micro_batches, middle) <= 1.0)
            low = middle;
        else
            high = middle;
    }
    double bound = low * sheet->weight + sums.extra;
    double plain = micro_batches * sheet->weight / sums.rate;
    return (plain > bound ? plain : bound) + sheet->problem->constants->step_overhead;
}

/* The load grows with lambda: the optimum is past the lambda that gives `time` exactly
 * when the load there is at most 1. */
bool yoke_bound_sequence_reaches(const yoke_sheet_t *sheet, const uint8_t *classes,
                                 unsigned stages, unsigned micro_batches,
                                 const double *send, double time)
{
    sequence_sums_t sums = sum_sequence(sheet, classes, stages, send);
    double left = time - sheet->problem->constants->step_overhead;
    if (micro_batches * sheet->weight / sums.rate >= left)
        return true;
    double lambda = (left - sums.extra) / sheet->weight;
    return lambda * sums.fastest <= 1.0 ||
           dual_load(sheet, classes, stages, micro_batches, lambda) <= 1.0;
}

double yoke_bound_stages(unsigned stages, unsigned micro_batches, const double *forward,
                         const double *backward, const double *send)
{
    double through = 0;
    for (unsigned s = 0; s < stages; s++)
        through += forward[s] + backward[s] + (s + 1 < stages ? 2.0 * send[s] : 0.0);
    double bound = through, before = 0;
    for (unsigned s = 0; s < stages; s++) {
        double total = forward[s] + backward[s];
        unsigned in_flight = micro_batches < stages - s ? micro_batches : stages - s;
        double alone = before + micro_batches * total;
        double limited =
            through + (micro_batches - 1.0) * total - (in_flight - 1.0) * forward[s];
        bound = alone > bound ? alone : bound;
        bound = limited > bound ? limited : bound;
        before += total;
        if (s + 1 < stages) {
            double link = through + (micro_batches - 1.0) * send[s];
            bound = link > bound ? link : bound;
            before += 2.0 * send[s];
        }
    }
    return bound;
}
