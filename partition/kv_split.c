/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers are equal, so a split is a number of layers for each stage, and a stage's room
 * falls with its layers: for a wanted number of tokens every stage has a most of layers
 * that it may hold, and the split is possible when these reach the model's. The wanted
 * number is found by bisection; the most even split under those caps is made by
 * levelling.
 */
#include "partition/kv_split.h"

#include "base/error.h"
#include "base/text.h"

static uint64_t extra_bytes(const yoke_kv_problem_t *problem, size_t stage)
{
    uint64_t extra = 0;
    if (stage == 0)
        extra += problem->first_extra;
    if (stage + 1 == problem->stages)
        extra += problem->last_extra;
    return extra;
}

/* a x b, at most UINT64_MAX. */
static uint64_t product(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

uint64_t yoke_kv_tokens(const yoke_kv_problem_t *problem, size_t stage, uint64_t layers)
{
    uint64_t weights =
        sum(extra_bytes(problem, stage), product(layers, problem->layer_bytes));
    if (weights >= problem->usable[stage] || layers == 0)
        return 0;
    return (problem->usable[stage] - weights) / product(layers, problem->kv_bytes);
}

/* Most layers of a stage with room for `tokens` tokens. */
static uint64_t layer_cap(const yoke_kv_problem_t *problem, size_t stage, uint64_t tokens)
{
    uint64_t extra = extra_bytes(problem, stage);
    uint64_t each = sum(problem->layer_bytes, product(tokens, problem->kv_bytes));
    if (extra >= problem->usable[stage])
        return 0;
    uint64_t cap = each == 0 ? problem->layers : (problem->usable[stage] - extra) / each;
    return cap < problem->layers ? cap : problem->layers;
}

/* Layers that fit in all with room for `tokens` tokens; 0 when some stage can hold none.
 */
static uint64_t capacity(const yoke_kv_problem_t *problem, uint64_t tokens)
{
    uint64_t total = 0;
    for (size_t s = 0; s < problem->stages; s++) {
        uint64_t cap = layer_cap(problem, s, tokens);
        if (cap == 0)
            return 0;
        total = sum(total, cap);
    }
    return total;
}

static uint64_t most_tokens(const yoke_kv_problem_t *problem)
{
    uint64_t low = 0, high = UINT64_MAX / problem->kv_bytes;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2 + (high - low) % 2;
        if (capacity(problem, middle) >= problem->layers)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Layers when every stage is filled up to `level` or its cap. */
static uint64_t filled(const yoke_kv_problem_t *problem, uint64_t tokens, uint64_t level)
{
    uint64_t total = 0;
    for (size_t s = 0; s < problem->stages; s++) {
        uint64_t cap = layer_cap(problem, s, tokens);
        total = sum(total, cap < level ? cap : level);
    }
    return total;
}

/* Fill all stages to one level like water; what is left of the last level goes in order.
 */
static void level_out(const yoke_kv_problem_t *problem, uint64_t tokens,
                      uint64_t *out_layers)
{
    uint64_t low = 0, high = problem->layers;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2 + (high - low) % 2;
        if (filled(problem, tokens, middle) <= problem->layers)
            low = middle;
        else
            high = middle - 1;
    }
    uint64_t left = problem->layers - filled(problem, tokens, low);
    for (size_t s = 0; s < problem->stages; s++) {
        uint64_t cap = layer_cap(problem, s, tokens);
        out_layers[s] = cap < low ? cap : low;
        if (cap > low && left > 0) {
            out_layers[s]++;
            left--;
        }
    }
}

static yoke_status_t check(const yoke_kv_problem_t *problem)
{
    if (problem->stages == 0 || problem->kv_bytes == 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "serving split: needs at least one stage and KV bytes above 0");
    if (problem->layers < problem->stages)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "serving split: %llu layers cannot fill %zu stages; every stage needs "
            "at least one",
            (unsigned long long)problem->layers, problem->stages);
    uint64_t fits = capacity(problem, 0);
    if (fits >= problem->layers)
        return YOKE_OK;
    for (size_t s = 0; s < problem->stages; s++)
        if (layer_cap(problem, s, 0) == 0)
            return yoke_fail(YOKE_ERR_NO,
                             "serving split: stage %zu has no room for any layer", s);
    return yoke_fail(
        YOKE_ERR_NO,
        "serving split: the stages have room for %llu layers together and the model "
        "has %llu",
        (unsigned long long)fits, (unsigned long long)problem->layers);
}

yoke_status_t yoke_kv_split(const yoke_kv_problem_t *problem, uint64_t *out_layers,
                            uint64_t *out_tokens)
{
    yoke_status_t status = check(problem);
    if (status != YOKE_OK)
        return status;
    uint64_t tokens = most_tokens(problem);
    level_out(problem, tokens, out_layers);
    *out_tokens = tokens;
    return YOKE_OK;
}
