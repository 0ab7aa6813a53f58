/* SPDX-License-Identifier: Apache-2.0 */
/* Exact enumeration of one node: every sequence, every cut, every division of the steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/search_state.h"

/* One sequence of classes with the most steps that it could do within the incumbent's
 * time. */
typedef struct sequence {
    unsigned stages;
    unsigned most_steps;
    uint8_t classes[32];
    uint8_t count[YOKE_MAX_CLASSES]; /* stages of each class */
} sequence_t;

typedef struct sequences {
    sequence_t *items;
    size_t count, capacity;
} sequences_t;

typedef struct exact {
    yoke_search_t *search;
    yoke_sheet_t *sheet;
    unsigned replicas, steps;
    yoke_candidate_t candidate;
    double threshold;
    unsigned max_stages, only_stages;
} exact_t;

static void update_threshold(exact_t *exact)
{
    const yoke_search_result_t *result = exact->search->result;
    exact->threshold = result->found ? result->time : 1e300;
}

static bool spend(yoke_search_t *search)
{
    if (search->effort == 0)
        return false;
    search->effort--;
    return true;
}

static bool add_sequence(exact_t *exact, sequences_t *list, const sequence_t *sequence,
                         unsigned most_steps)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        sequence_t *grown = realloc(list->items, capacity * sizeof *grown);
        if (grown == NULL) {
            exact->search->status = yoke_fail_memory();
            return false;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count] = *sequence;
    list->items[list->count++].most_steps = most_steps;
    return true;
}

static bool in_time(const exact_t *exact, const sequence_t *sequence, unsigned steps)
{
    return !yoke_bound_sequence_reaches(exact->sheet, sequence->classes, sequence->stages,
                                        steps, NULL, exact->threshold * (1.0 + 1e-9));
}

/* The most steps (at most `limit`) whose bound is below the threshold; 0: none. */
static unsigned most_steps(const exact_t *exact, const sequence_t *sequence,
                           unsigned limit)
{
    if (limit == 0 || !in_time(exact, sequence, 1))
        return 0;
    unsigned low = 1, high = limit;
    while (low < high) {
        unsigned middle = low + (high - low + 1) / 2;
        if (in_time(exact, sequence, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* All sequences that `dp` side-by-side pipelines have room for. False: out of effort. */
static bool list_sequences(exact_t *exact, unsigned dp, unsigned limit, sequence_t *now,
                           sequences_t *list)
{
    const size_t classes = exact->search->problem->class_count;
    if (now->stages > 0 &&
        (exact->only_stages == 0 || now->stages == exact->only_stages)) {
        if (!spend(exact->search))
            return false;
        unsigned most = most_steps(exact, now, limit);
        if (most > 0 && !add_sequence(exact, list, now, most))
            return false;
    }
    if (now->stages == exact->max_stages)
        return true;
    for (unsigned c = 0; c < classes; c++) {
        if ((now->count[c] + 1u) * dp > exact->sheet->units[c])
            continue;
        now->classes[now->stages++] = (uint8_t)c;
        now->count[c]++;
        bool go_on = list_sequences(exact, dp, limit, now, list);
        now->stages--;
        now->count[c]--;
        if (!go_on)
            return false;
    }
    return true;
}

static void set_shape(yoke_shape_t *shape, const sequence_t *sequence, unsigned dp,
                      unsigned steps)
{
    shape->dp = dp;
    shape->micro_batches = steps;
    shape->stages = sequence->stages;
    memcpy(shape->classes, sequence->classes, sequence->stages);
    for (unsigned s = 0; s < sequence->stages; s++)
        shape->last[s] = (uint16_t)s;
}

static bool open_chain(exact_t *exact, unsigned index, yoke_chain_t *chain)
{
    const yoke_shape_t *shape = &exact->candidate.shapes[index];
    if (!yoke_chain_init(chain, exact->sheet, shape->classes, shape->stages,
                         shape->micro_batches, exact->replicas,
                         exact->candidate.sharded_optimizer)) {
        exact->search->status = yoke_fail_memory();
        return false;
    }
    if (!yoke_search_sends(exact->search, &exact->candidate, index, chain->send))
        return false;
    yoke_chain_block(chain);
    return true;
}

static void visit_last_shape(void *context, const uint16_t *last)
{
    exact_t *exact = context;
    yoke_shape_t *shape = &exact->candidate.shapes[exact->candidate.shape_count - 1];
    memcpy(shape->last, last, shape->stages * sizeof *last);
    yoke_search_try(exact->search, &exact->candidate);
    update_threshold(exact);
}

typedef struct pair_walk {
    exact_t *exact;
    yoke_chain_t *second;
    bool out_of_effort;
} pair_walk_t;

static void visit_first_shape(void *context, const uint16_t *last)
{
    pair_walk_t *walk = context;
    exact_t *exact = walk->exact;
    yoke_shape_t *shape = &exact->candidate.shapes[0];
    memcpy(shape->last, last, shape->stages * sizeof *last);
    if (!walk->out_of_effort)
        walk->out_of_effort =
            !yoke_chain_enumerate(walk->second, &exact->threshold, &exact->search->effort,
                                  visit_last_shape, exact);
}

static bool exact_one_shape(exact_t *exact)
{
    if (exact->steps % exact->replicas != 0)
        return true;
    sequences_t list = {0};
    sequence_t now = {0};
    unsigned steps = exact->steps / exact->replicas;
    bool done = list_sequences(exact, exact->replicas, steps, &now, &list);
    exact->candidate.shape_count = 1;
    for (size_t i = 0; done && i < list.count; i++) {
        if (list.items[i].most_steps < steps || !in_time(exact, &list.items[i], steps))
            continue;
        set_shape(&exact->candidate.shapes[0], &list.items[i], exact->replicas, steps);
        yoke_chain_t chain;
        if (!open_chain(exact, 0, &chain))
            continue;
        if (exact->search->split_count > 0) {
            uint16_t last[YOKE_MAX_STAGES];
            yoke_cut_from_split(exact->search->problem->model, exact->search->split,
                                exact->search->split_count, last);
            visit_last_shape(exact, last);
        } else {
            done = yoke_chain_enumerate(&chain, &exact->threshold, &exact->search->effort,
                                        visit_last_shape, exact);
        }
        done = done && exact->search->status == YOKE_OK;
    }
    free(list.items);
    return done;
}

static bool room_for_both(const exact_t *exact, const sequence_t *a, unsigned dp_a,
                          const sequence_t *b, unsigned dp_b)
{
    for (size_t c = 0; c < exact->search->problem->class_count; c++)
        if (a->count[c] * dp_a + b->count[c] * dp_b > exact->sheet->units[c])
            return false;
    return true;
}

/* One pair of sequences with one division of the steps. */
static bool exact_pair_steps(exact_t *exact, const sequence_t *a, unsigned dp_a,
                             unsigned steps_a, const sequence_t *b, unsigned dp_b,
                             unsigned steps_b)
{
    exact->candidate.shape_count = 2;
    set_shape(&exact->candidate.shapes[0], a, dp_a, steps_a);
    set_shape(&exact->candidate.shapes[1], b, dp_b, steps_b);
    yoke_chain_t first, second;
    if (!open_chain(exact, 0, &first) || !open_chain(exact, 1, &second))
        return exact->search->status == YOKE_OK;
    pair_walk_t walk = {exact, &second, false};
    bool done = yoke_chain_enumerate(&first, &exact->threshold, &exact->search->effort,
                                     visit_first_shape, &walk);
    return done && !walk.out_of_effort && exact->search->status == YOKE_OK;
}

static bool exact_pair(exact_t *exact, const sequence_t *a, unsigned dp_a,
                       const sequence_t *b, unsigned dp_b)
{
    for (unsigned steps_a = 1; steps_a <= a->most_steps; steps_a++) {
        uint64_t taken = (uint64_t)steps_a * dp_a;
        if (taken >= exact->steps)
            break;
        unsigned rest = (unsigned)(exact->steps - taken);
        if (rest % dp_b != 0 || rest / dp_b > b->most_steps)
            continue;
        if (!spend(exact->search))
            return false;
        if (!in_time(exact, a, steps_a) || !in_time(exact, b, rest / dp_b))
            continue;
        if (!exact_pair_steps(exact, a, dp_a, steps_a, b, dp_b, rest / dp_b))
            return false;
    }
    return true;
}

static int compare_sequences(const void *a, const void *b)
{
    const sequence_t *x = a, *y = b;
    if (x->most_steps != y->most_steps)
        return x->most_steps > y->most_steps ? -1 : 1;
    if (x->stages != y->stages)
        return x->stages < y->stages ? -1 : 1;
    return memcmp(x->classes, y->classes, x->stages);
}

static bool exact_division(exact_t *exact, unsigned dp_a, unsigned dp_b)
{
    sequences_t first = {0}, second = {0};
    sequence_t now = {0};
    unsigned limit = exact->steps;
    bool done = list_sequences(exact, dp_a, limit / dp_a, &now, &first);
    done = done && list_sequences(exact, dp_b, limit / dp_b, &now, &second);
    if (done && first.count > 0 && second.count > 0) {
        qsort(first.items, first.count, sizeof *first.items, compare_sequences);
        qsort(second.items, second.count, sizeof *second.items, compare_sequences);
    }
    for (size_t i = 0; done && i < first.count; i++) {
        uint64_t by_first = (uint64_t)first.items[i].most_steps * dp_a;
        for (size_t j = 0; done && j < second.count; j++) {
            if (by_first + (uint64_t)second.items[j].most_steps * dp_b < exact->steps)
                break; /* sorted: the rest does even less */
            if (!spend(exact->search)) {
                done = false;
                break;
            }
            if (room_for_both(exact, &first.items[i], dp_a, &second.items[j], dp_b))
                done = exact_pair(exact, &first.items[i], dp_a, &second.items[j], dp_b);
        }
    }
    free(first.items);
    free(second.items);
    return done;
}

bool yoke_search_exact_node(yoke_search_t *search, yoke_sheet_t *sheet, unsigned replicas)
{
    const yoke_problem_t *problem = search->problem;
    exact_t exact = {.search = search, .sheet = sheet, .replicas = replicas};
    exact.steps = yoke_search_steps(search, sheet);
    exact.max_stages =
        problem->model->layer_count < 32 ? (unsigned)problem->model->layer_count : 32;
    exact.only_stages =
        search->split_count > 0 ? search->split_count : (unsigned)problem->options.stages;
    yoke_search_start(sheet, &exact.candidate);
    exact.candidate.sharded_optimizer = yoke_search_sharded(search, replicas);
    update_threshold(&exact);
    if (!exact_one_shape(&exact))
        return false;
    if (problem->options.max_shapes < 2 || search->split_count > 0)
        return true;
    for (unsigned dp = 1; dp < replicas; dp++)
        if (!exact_division(&exact, dp, replicas - dp))
            return false;
    return true;
}
