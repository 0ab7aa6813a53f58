/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer times and bytes, summed up once per (class, tp, micro-batch, recomputation): a
 * stage's cost is then a difference of two prefix sums.
 */
#include "partition/cache.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/model_parts.h"
#include "partition/layer_times.h"

typedef struct entry {
    uint64_t key[2]; /* class and tp, micro-batch and recomputation */
    yoke_cost_table_t table;
    double *numbers; /* the arrays of the table, one block */
} entry_t;

struct yoke_cost_cache {
    const yoke_problem_t *problem;
    size_t *like;      /* of layer i: the first layer that is equal in all that costs */
    unsigned *run_end; /* of layer i: the last of the equal layers that follow it */
    entry_t **slots;   /* open addressing; a power of two */
    size_t capacity, count;
    yoke_scratch_t scratch;
};

static void find_equal_layers(const yoke_model_t *model, size_t *like)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        like[i] = i;
        for (size_t j = 0; j < i; j++)
            if (like[j] == j && yoke_layer_equal(&model->layers[i], &model->layers[j])) {
                like[i] = j;
                break;
            }
    }
}

static void find_runs(const yoke_layer_times_t *measured, const size_t *like,
                      size_t layers, unsigned *run_end)
{
    for (size_t i = layers; i-- > 0;) {
        bool equal = i + 1 < layers && like[i + 1] == like[i] &&
                     (measured == NULL || yoke_layer_times_equal(measured, i, i + 1));
        run_end[i] = equal ? run_end[i + 1] : (unsigned)i;
    }
}

yoke_cost_cache_t *yoke_cost_cache_new(const yoke_problem_t *problem)
{
    size_t layers = problem->model->layer_count;
    yoke_cost_cache_t *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->problem = problem;
    cache->capacity = 64;
    cache->slots = calloc(cache->capacity, sizeof(entry_t *));
    cache->like = calloc(layers + 1, sizeof *cache->like);
    cache->run_end = calloc(layers + 1, sizeof *cache->run_end);
    if (cache->slots == NULL || cache->like == NULL || cache->run_end == NULL) {
        yoke_cost_cache_free(cache);
        return NULL;
    }
    find_equal_layers(problem->model, cache->like);
    find_runs(problem->measured, cache->like, layers, cache->run_end);
    return cache;
}

static void entry_free(entry_t *entry)
{
    if (entry != NULL)
        free(entry->numbers);
    free(entry);
}

void yoke_cost_cache_free(yoke_cost_cache_t *cache)
{
    if (cache == NULL)
        return;
    if (cache->slots != NULL)
        for (size_t i = 0; i < cache->capacity; i++)
            entry_free(cache->slots[i]);
    free(cache->slots);
    free(cache->like);
    free(cache->run_end);
    free(cache->scratch.doubles);
    free(cache->scratch.words);
    free(cache);
}

static size_t slot_of(const uint64_t key[2], size_t capacity)
{
    uint64_t hash = (key[0] * 0x9E3779B97F4A7C15u) ^ (key[1] * 0xC2B2AE3D27D4EB4Fu);
    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9u;
    return (size_t)(hash >> 32) & (capacity - 1);
}

/* The entry's place, or the free one where it belongs. */
static size_t find(entry_t *const *slots, size_t capacity, const uint64_t key[2])
{
    size_t at = slot_of(key, capacity);
    while (slots[at] != NULL &&
           (slots[at]->key[0] != key[0] || slots[at]->key[1] != key[1]))
        at = (at + 1) & (capacity - 1);
    return at;
}

static bool grow(yoke_cost_cache_t *cache)
{
    size_t capacity = cache->capacity * 2;
    entry_t **slots = calloc(capacity, sizeof(entry_t *));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < cache->capacity; i++)
        if (cache->slots[i] != NULL)
            slots[find(slots, capacity, cache->slots[i]->key)] = cache->slots[i];
    free(cache->slots);
    cache->slots = slots;
    cache->capacity = capacity;
    return true;
}

static bool all_can_shard(const yoke_cost_cache_t *cache, unsigned tp)
{
    const yoke_model_t *model = cache->problem->model;
    for (size_t i = 0; i < model->layer_count; i++)
        if (cache->like[i] == i && !yoke_layer_can_shard(&model->layers[i], tp))
            return false;
    return true;
}

typedef struct single {
    yoke_layer_cost_t cost;
    yoke_layer_bytes_t bytes;
    double update; /* measured; 0 otherwise */
} single_t;

/* Costs of every layer, equal ones computed once. NULL: no memory. */
static single_t *cost_layers(const yoke_cost_cache_t *cache, unsigned class_index,
                             unsigned tp, unsigned micro_batch,
                             yoke_recompute_t recompute)
{
    const yoke_problem_t *problem = cache->problem;
    const yoke_model_t *model = problem->model;
    double sequence = (double)problem->options.sequence;
    yoke_dtype_t dtype = problem->options.dtype;
    single_t *singles = calloc(model->layer_count + 1, sizeof *singles);
    for (size_t i = 0; singles != NULL && i < model->layer_count; i++) {
        if (cache->like[i] != i) {
            singles[i] = singles[cache->like[i]];
            continue;
        }
        yoke_layer_time(&model->layers[i], &problem->classes[class_index].rates,
                        problem->constants, tp, micro_batch, sequence, dtype, recompute,
                        &singles[i].cost);
        yoke_layer_get_bytes(&model->layers[i], tp, micro_batch, sequence, dtype,
                             recompute, &singles[i].bytes);
    }
    return singles;
}

/* --- measured layer times in the place of the cost model's
 * ------------------------------------------------------------------------------------ */

typedef struct measured {
    const yoke_cost_cache_t *cache;
    unsigned class_index, tp, micro_batch;
    yoke_recompute_t recompute;
    yoke_layer_lookup_t lookup;
    const yoke_layer_point_t *low, *high;
    double part;
} measured_t;

/* What is measured for an entry. False: nothing is, and nothing may stand for it. */
static bool find_measured(const yoke_cost_cache_t *cache, unsigned class_index,
                          unsigned tp, unsigned micro_batch, yoke_recompute_t recompute,
                          measured_t *out)
{
    const yoke_layer_times_t *times = cache->problem->measured;
    const int type = cache->problem->classes[class_index].measured;
    *out =
        (measured_t){cache, class_index, tp, micro_batch, recompute, YOKE_LAYER_UNKNOWN,
                     NULL,  NULL,        0};
    if (times == NULL)
        return true;
    if (type >= 0)
        out->lookup = yoke_layer_times_find(times, type, tp, micro_batch, &out->low,
                                            &out->high, &out->part);
    if (!yoke_layer_times_only_measured(times))
        return true;
    return out->lookup == YOKE_LAYER_MEASURED &&
           recompute == yoke_layer_times_recompute(times);
}

/* The cost model's time of the layer at the measured point. */
static void model_time(const measured_t *at, size_t layer, unsigned tp,
                       unsigned micro_batch, yoke_layer_cost_t *out)
{
    const yoke_problem_t *problem = at->cache->problem;
    yoke_layer_time(
        &problem->model->layers[layer], &problem->classes[at->class_index].rates,
        problem->constants, tp, micro_batch, (double)problem->options.sequence,
        problem->options.dtype, yoke_layer_times_recompute(problem->measured), out);
}

/* `value`, measured where the model says `there`, for where it says `here`. */
static double scale(double value, double here, double there)
{
    return there > 0 ? value * here / there : value;
}

static double between(const double *low, const double *high, double part, size_t layer)
{
    return low[layer] + part * (high[layer] - low[layer]);
}

/*
 * One layer's measured time. Another recomputation than the measured one, and a point
 * that is the nearest only, are scaled by what the cost model makes of the difference.
 */
static void take_measured(const measured_t *at, size_t layer, single_t *single)
{
    const yoke_layer_point_t *low = at->low;
    const yoke_layer_point_t *high = at->high != NULL ? at->high : at->low;
    double forward = between(low->forward, high->forward, at->part, layer);
    double backward = between(low->backward, high->backward, at->part, layer);
    const bool nearest = at->lookup == YOKE_LAYER_NEAREST;
    if (nearest ||
        at->recompute != yoke_layer_times_recompute(at->cache->problem->measured)) {
        yoke_layer_cost_t there;
        model_time(at, layer, nearest ? low->tp : at->tp,
                   nearest ? low->micro_batch : at->micro_batch, &there);
        forward = scale(forward, single->cost.forward, there.forward);
        backward = scale(backward, single->cost.backward, there.backward);
    }
    single->cost.forward = forward;
    single->cost.backward = backward;
    if (low->update != NULL && high->update != NULL)
        single->update = between(low->update, high->update, at->part, layer);
}

static void take_bytes(const measured_t *at, size_t layer, yoke_layer_bytes_t *bytes)
{
    const yoke_layer_memory_t *memory =
        yoke_layer_times_memory(at->cache->problem->measured, at->tp);
    if (memory == NULL)
        return;
    double kept = bytes->activations;
    bytes->parameters = memory->parameters[layer];
    if (at->recompute == yoke_layer_times_recompute(at->cache->problem->measured)) {
        bytes->activations = memory->activations[layer] * at->micro_batch;
    } else {
        /* What recomputation saves of the measured bytes is the model's figure. */
        yoke_layer_bytes_t all;
        const yoke_problem_t *problem = at->cache->problem;
        yoke_layer_get_bytes(&problem->model->layers[layer], at->tp, at->micro_batch,
                             (double)problem->options.sequence, problem->options.dtype,
                             yoke_layer_times_recompute(problem->measured), &all);
        bytes->activations =
            scale(memory->activations[layer] * at->micro_batch, kept, all.activations);
    }
    bytes->logits = 0;      /* among the measured activations */
    bytes->working_set = 0; /* the same */
}

static void replace_measured(const measured_t *at, single_t *singles)
{
    if (at->cache->problem->measured == NULL)
        return;
    for (size_t i = 0; i < at->cache->problem->model->layer_count; i++) {
        if (at->low != NULL)
            take_measured(at, i, &singles[i]);
        take_bytes(at, i, &singles[i].bytes);
    }
}

enum { ARRAYS = 8 };

static void fill(entry_t *entry, const single_t *singles, size_t layers)
{
    double *array[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++)
        array[i] = entry->numbers + i * (layers + 1);
    for (size_t i = 0; i < layers; i++) {
        const yoke_layer_bytes_t *bytes = &singles[i].bytes;
        array[0][i + 1] = array[0][i] + singles[i].cost.forward;
        array[1][i + 1] = array[1][i] + singles[i].cost.backward;
        array[2][i + 1] = array[2][i] + bytes->parameters;
        array[3][i + 1] = array[3][i] + bytes->activations;
        array[4][i] = bytes->boundary;
        array[5][i] = bytes->logits;
        array[6][i] = bytes->working_set;
        array[7][i + 1] = array[7][i] + singles[i].update;
        entry->table.tied += bytes->tied;
    }
    entry->table.forward = array[0];
    entry->table.backward = array[1];
    entry->table.parameters = array[2];
    entry->table.activations = array[3];
    entry->table.boundary = array[4];
    entry->table.logits = array[5];
    entry->table.working_set = array[6];
}

static void set_update(const measured_t *at, size_t layers, entry_t *entry)
{
    const yoke_layer_point_t *low = at->low, *high = at->high;
    entry->table.stage_update = -1;
    if (low != NULL && low->update != NULL && (high == NULL || high->update != NULL))
        entry->table.update = entry->numbers + 7 * (layers + 1);
    else if (low != NULL && low->stage_update >= 0)
        entry->table.stage_update =
            high != NULL && high->stage_update >= 0
                ? low->stage_update + at->part * (high->stage_update - low->stage_update)
                : low->stage_update;
}

static entry_t *make_entry(const yoke_cost_cache_t *cache, unsigned class_index,
                           unsigned tp, unsigned micro_batch, yoke_recompute_t recompute)
{
    size_t layers = cache->problem->model->layer_count;
    entry_t *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    measured_t measured;
    entry->table.possible =
        find_measured(cache, class_index, tp, micro_batch, recompute, &measured) &&
        all_can_shard(cache, tp);
    entry->table.run_end = cache->run_end;
    if (!entry->table.possible)
        return entry;
    single_t *singles = cost_layers(cache, class_index, tp, micro_batch, recompute);
    entry->numbers = calloc(ARRAYS * (layers + 1), sizeof(double));
    if (singles == NULL || entry->numbers == NULL) {
        free(singles);
        entry_free(entry);
        return NULL;
    }
    replace_measured(&measured, singles);
    fill(entry, singles, layers);
    set_update(&measured, layers, entry);
    free(singles);
    return entry;
}

const yoke_cost_table_t *yoke_cost_cache_get(yoke_cost_cache_t *cache,
                                             unsigned class_index, unsigned tp,
                                             unsigned micro_batch,
                                             yoke_recompute_t recompute)
{
    const uint64_t key[2] = {(uint64_t)class_index << 32 | tp,
                             (uint64_t)micro_batch << 8 | (uint64_t)recompute};
    size_t at = find(cache->slots, cache->capacity, key);
    if (cache->slots[at] != NULL)
        return &cache->slots[at]->table;
    if (2 * (cache->count + 1) > cache->capacity) {
        if (!grow(cache))
            return NULL;
        at = find(cache->slots, cache->capacity, key);
    }
    entry_t *entry = make_entry(cache, class_index, tp, micro_batch, recompute);
    if (entry == NULL)
        return NULL;
    memcpy(entry->key, key, sizeof key);
    cache->slots[at] = entry;
    cache->count++;
    return &entry->table;
}

static bool reserve(void **block, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    if (count > SIZE_MAX / 2 / size)
        return false;
    void *more = realloc(*block, 2 * count * size);
    if (more == NULL)
        return false;
    *block = more;
    *capacity = 2 * count;
    return true;
}

double *yoke_cost_cache_doubles(yoke_cost_cache_t *cache, size_t count)
{
    yoke_scratch_t *scratch = &cache->scratch;
    void *block = scratch->doubles;
    bool ok = reserve(&block, &scratch->double_capacity, count, sizeof(double));
    scratch->doubles = block;
    return ok ? scratch->doubles : NULL;
}

unsigned *yoke_cost_cache_words(yoke_cost_cache_t *cache, size_t count)
{
    yoke_scratch_t *scratch = &cache->scratch;
    void *block = scratch->words;
    bool ok = reserve(&block, &scratch->word_capacity, count, sizeof(unsigned));
    scratch->words = block;
    return ok ? scratch->words : NULL;
}
