/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer times and bytes, summed up once per (class, tp, micro-batch, recomputation): a
 * stage's cost is then a difference of two prefix sums.
 */
#include "partition/cache.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/model_parts.h"

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

static void find_runs(const size_t *like, size_t layers, unsigned *run_end)
{
    for (size_t i = layers; i-- > 0;)
        run_end[i] =
            i + 1 < layers && like[i + 1] == like[i] ? run_end[i + 1] : (unsigned)i;
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
    find_runs(cache->like, layers, cache->run_end);
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

enum { ARRAYS = 7 };

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

static entry_t *make_entry(const yoke_cost_cache_t *cache, unsigned class_index,
                           unsigned tp, unsigned micro_batch, yoke_recompute_t recompute)
{
    size_t layers = cache->problem->model->layer_count;
    entry_t *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->table.possible = all_can_shard(cache, tp);
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
    fill(entry, singles, layers);
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
