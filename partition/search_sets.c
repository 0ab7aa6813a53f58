/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sets of classes that a runtime lets stand in one plan: those of one vendor; one
 * type from each kind of node. Without a runtime that asks for it, all classes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/runtime.h"
#include "partition/search.h"

#define MOST_SETS 64

typedef struct sets {
    uint64_t items[MOST_SETS];
    size_t count;
} sets_t;

static const char *vendor_of(const yoke_problem_t *problem, size_t class_index)
{
    const char *vendor = problem->classes[class_index].device->vendor;
    return vendor != NULL ? vendor : "unknown";
}

static void split_vendors(const yoke_problem_t *problem, sets_t *sets)
{
    sets->count = 0;
    for (size_t c = 0; c < problem->class_count && sets->count < MOST_SETS; c++) {
        uint64_t set = 0;
        bool seen = false;
        for (size_t o = 0; o < problem->class_count; o++)
            if (strcmp(vendor_of(problem, o), vendor_of(problem, c)) == 0) {
                seen = seen || o < c;
                set |= UINT64_C(1) << o;
            }
        if (!seen)
            sets->items[sets->count++] = set;
    }
}

/* Classes of the set in one node shape and not of the type. */
static uint64_t others(const yoke_problem_t *problem, uint64_t set, unsigned shape,
                       const char *type)
{
    uint64_t found = 0;
    for (size_t c = 0; c < problem->class_count; c++)
        if ((set >> c & 1) && problem->classes[c].shape == shape &&
            strcmp(problem->classes[c].type, type) != 0)
            found |= UINT64_C(1) << c;
    return found;
}

/* Replace a set with two types in one kind of node by one set for each type. */
static bool split_one(const yoke_problem_t *problem, sets_t *sets, size_t index)
{
    const uint64_t set = sets->items[index];
    for (size_t c = 0; c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        uint64_t rest =
            (set >> c & 1) ? others(problem, set, class->shape, class->type) : 0;
        if (rest == 0 || sets->count == MOST_SETS)
            continue;
        uint64_t same = 0; /* this type in this kind of node */
        for (size_t o = 0; o < problem->class_count; o++)
            if ((set >> o & 1) && problem->classes[o].shape == class->shape &&
                strcmp(problem->classes[o].type, class->type) == 0)
                same |= UINT64_C(1) << o;
        sets->items[index] = set & ~rest;
        sets->items[sets->count++] = set & ~same;
        return true;
    }
    return false;
}

static void merge(const yoke_search_result_t *one, yoke_search_result_t *all, bool first)
{
    if (first) {
        *all = *one;
        return;
    }
    uint64_t evaluated = all->evaluated + one->evaluated;
    bool complete = all->complete && one->complete;
    double bound = all->bound > 0 && (one->bound <= 0 || all->bound < one->bound)
                       ? all->bound
                       : one->bound;
    if (one->found ? !all->found || one->time < all->time
                   : !all->found && one->have_miss && !all->have_miss)
        *all = *one;
    all->evaluated = evaluated;
    all->complete = complete;
    all->bound = bound;
}

yoke_status_t yoke_search_all(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                              yoke_search_result_t *out_result)
{
    sets_t sets = {{YOKE_ALL_CLASSES}, 1};
    if (problem->class_count > YOKE_MAX_CLASSES)
        return yoke_search(problem, cache, YOKE_ALL_CLASSES, out_result);
    if (yoke_runtime_has(problem->runtime, YOKE_RULE_ONE_VENDOR))
        split_vendors(problem, &sets);
    if (yoke_runtime_has(problem->runtime, YOKE_RULE_ONE_TYPE_A_HOST))
        for (size_t i = 0; i < sets.count; i++)
            while (split_one(problem, &sets, i))
                ;
    yoke_search_result_t *one = calloc(1, sizeof *one);
    yoke_status_t status = one != NULL ? YOKE_OK : yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < sets.count; i++) {
        status = yoke_search(problem, cache, sets.items[i], one);
        if (status == YOKE_OK)
            merge(one, out_result, i == 0);
    }
    free(one);
    return status;
}
