/* SPDX-License-Identifier: Apache-2.0 */
/* No feasible plan: the words. A change is only named after a search with it found a
 * plan.
 */
#include "partition/infeasible.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "partition/runtime.h"
#include "partition/layer_times.h"

#define LEAST_SEQUENCE 128

/* --- trials --------------------------------------------------------------------------
 */

/* What the options of a trial change, as it will be told to the user. */
typedef struct change {
    yoke_plan_options_t options;
    yoke_text_t with, without;
} change_t;

static void change_free(change_t *change)
{
    yoke_text_free(&change->with);
    yoke_text_free(&change->without);
}

/* "a", "a and b" */
static void add_words(yoke_text_t *list, const char *words)
{
    if (list->size > 0)
        yoke_text_add(list, " and ");
    yoke_text_add(list, words);
}

static bool search_finds(const yoke_problem_t *problem)
{
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    yoke_search_result_t *result = calloc(1, sizeof *result);
    bool found = cache != NULL && result != NULL &&
                 yoke_search_all(problem, cache, result) == YOKE_OK && result->found;
    free(result);
    yoke_cost_cache_free(cache);
    return found;
}

/* Would there be a plan with these options? Heuristics only: what they find, the whole
 * search finds too. */
static bool feasible_with(const yoke_problem_t *problem,
                          const yoke_plan_options_t *options)
{
    yoke_problem_t trial = *problem;
    trial.options = *options;
    trial.options.effort = 1;
    if (options->runtime == NULL)
        trial.runtime = NULL;
    if (options->memory == problem->options.memory)
        return search_finds(&trial);
    yoke_problem_t *other = NULL; /* the limits of the classes change */
    if (yoke_problem_new(problem->model, problem->inventory, &trial.options, &other) !=
        YOKE_OK)
        return false;
    bool found = search_finds(other);
    yoke_problem_free(other);
    return found;
}

/* --- restrictions and how each is loosened -------------------------------------------
 */

static unsigned split_stages(const char *split)
{
    unsigned stages = 1;
    for (; *split != '\0'; split++)
        stages += *split == ',';
    return stages;
}

/* Tensor groups that the cluster makes at the least degree that each class may run. */
static unsigned most_groups(const yoke_problem_t *problem)
{
    unsigned groups = 0;
    for (unsigned c = 0; c < problem->class_count; c++) {
        unsigned degree = 0;
        if (yoke_class_degrees(problem, c, &degree, 1) > 0)
            groups += yoke_class_units(&problem->classes[c], degree);
    }
    return groups;
}

/* The largest of `first`, `first` / 2, ... with which there is a plan; 0: none. */
static uint64_t largest(const yoke_problem_t *problem, change_t *change, uint64_t *value,
                        uint64_t first)
{
    for (uint64_t try = first; try > 0; try /= 2) {
        *value = try;
        if (feasible_with(problem, &change->options))
            return try;
    }
    *value = 0;
    return 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The restrictions, in the order in which giving them up costs least. */
enum restriction {
    RECOMPUTE,
    MICRO_BATCH,
    SHARD_OPTIMIZER,
    SHAPES,
    MEMORY,
    STAGES,
    REPLICAS,
    SPLIT,
    DEGREE,
    TYPE_DEGREES,
    RUNTIME,
    RESTRICTIONS
};

/* Loosen one; false: it is not there. */
static bool loosen(enum restriction which, change_t *change)
{
    yoke_plan_options_t *options = &change->options;
    switch (which) {
    case RECOMPUTE:
        if (options->recompute == YOKE_RECOMPUTE_AUTO ||
            options->recompute == YOKE_RECOMPUTE_FULL)
            return false;
        options->recompute = YOKE_RECOMPUTE_FULL;
        add_words(&change->with, "--recompute full");
        return true;
    case MICRO_BATCH:
        if (options->micro_batch <= 1)
            return false;
        options->micro_batch = 1;
        add_words(&change->with, "--micro-batch 1");
        return true;
    case SHARD_OPTIMIZER:
        if (options->sharded_optimizer != YOKE_OFF)
            return false;
        options->sharded_optimizer = YOKE_AUTO;
        add_words(&change->with, "--shard-optimizer auto");
        return true;
    case SHAPES:
        if (options->max_shapes >= 2 || options->runtime != NULL)
            return false;
        options->max_shapes = 2;
        add_words(&change->with, "--shapes 2");
        return true;
    case MEMORY:
        if (options->memory == YOKE_MEMORY_USABLE)
            return false;
        options->memory = YOKE_MEMORY_USABLE;
        add_words(&change->with, "--memory usable");
        return true;
    case STAGES:
        if (options->stages == 0)
            return false;
        options->stages = 0;
        add_words(&change->without, "a fixed number of stages");
        return true;
    case REPLICAS:
        if (options->dp == 0)
            return false;
        options->dp = 0;
        add_words(&change->without, "--fix dp");
        return true;
    case SPLIT:
        if (options->split == NULL)
            return false;
        options->split = NULL;
        add_words(&change->without, "--split");
        return true;
    case DEGREE:
        if (options->tp == 0)
            return false;
        options->tp = 0;
        add_words(&change->without, "--fix tp");
        return true;
    case TYPE_DEGREES:
        if (options->fix == NULL)
            return false;
        options->fix = NULL;
        add_words(&change->without, "--fix type:...:tp");
        return true;
    case RUNTIME:
        if (options->runtime == NULL)
            return false;
        add_words(&change->without, "--for");
        options->runtime = NULL;
        options->max_shapes = 2;
        return true;
    case RESTRICTIONS:
        break;
    }
    return false;
}

/* Another number of stages or replicas instead of none. */
static bool try_numbers(const yoke_problem_t *problem, enum restriction which,
                        change_t *change)
{
    const yoke_plan_options_t *asked = &problem->options;
    char words[64];
    change->options = *asked;
    if (which == STAGES && asked->stages > 1) {
        uint64_t room = most_groups(problem) / (asked->dp ? asked->dp : 1);
        uint64_t stages = largest(problem, change, &change->options.stages,
                                  smaller(asked->stages - 1, room));
        yoke_snprintf(words, sizeof words, "--stages %llu", (unsigned long long)stages);
        if (stages > 0)
            add_words(&change->with, words);
        return stages > 0;
    }
    if (which == REPLICAS && asked->dp > 1) {
        uint64_t stages = asked->split    ? split_stages(asked->split)
                          : asked->stages ? asked->stages
                                          : 1;
        uint64_t dp = largest(problem, change, &change->options.dp,
                              smaller(asked->dp - 1, most_groups(problem) / stages));
        yoke_snprintf(words, sizeof words, "--fix dp=%llu", (unsigned long long)dp);
        if (dp > 0)
            add_words(&change->with, words);
        return dp > 0;
    }
    return false;
}

static bool try_one(const yoke_problem_t *problem, enum restriction which,
                    change_t *change)
{
    if (try_numbers(problem, which, change))
        return true;
    change->options = problem->options;
    if (loosen(which, change) && feasible_with(problem, &change->options))
        return true;
    change_free(change);
    return false;
}

static bool try_shorter(const yoke_problem_t *problem, change_t *change)
{
    char words[64];
    for (uint64_t length = change->options.sequence / 2; length >= LEAST_SEQUENCE;
         length /= 2) {
        change->options.sequence = length;
        if (!feasible_with(problem, &change->options))
            continue;
        yoke_snprintf(words, sizeof words, "--seq %llu", (unsigned long long)length);
        add_words(&change->with, words);
        return true;
    }
    return false;
}

static bool try_optimizer(const yoke_problem_t *problem, change_t *change)
{
    if (change->options.optimizer != YOKE_OPTIMIZER_ADAM)
        return false;
    change->options.optimizer = YOKE_OPTIMIZER_SGD;
    if (feasible_with(problem, &change->options)) {
        add_words(&change->with, "--optimizer sgd");
        return true;
    }
    change->options.optimizer = YOKE_OPTIMIZER_ADAM;
    return false;
}

/* One restriction, all of them, a shorter sequence, another optimizer; the job itself is
 * changed last. */
static bool nearest_change(const yoke_problem_t *problem, change_t *change)
{
    for (int which = 0; which < RESTRICTIONS; which++)
        if (try_one(problem, (enum restriction)which, change))
            return true;
    change->options = problem->options;
    unsigned loosened = 0;
    for (int which = 0; which < RESTRICTIONS; which++)
        loosened += loosen((enum restriction)which, change);
    if (loosened > 1 && feasible_with(problem, &change->options))
        return true;
    if (loosened > 0) { /* a change of the job alone is nearer than of everything */
        change_t job = {.options = problem->options};
        if (try_shorter(problem, &job) ||
            (job.options = problem->options, try_optimizer(problem, &job))) {
            change_free(change);
            *change = job;
            return true;
        }
        change_free(&job);
    }
    const uint64_t sequence = change->options.sequence;
    if (try_shorter(problem, change))
        return true;
    change->options.sequence = sequence;
    return try_optimizer(problem, change);
}

static void add_change(const change_t *change, yoke_text_t *text)
{
    yoke_text_add(text, "; it fits");
    if (change->with.size > 0)
        yoke_text_printf(text, " with %s", yoke_text_get(&change->with));
    if (change->without.size > 0)
        yoke_text_printf(text, "%s without %s", change->with.size > 0 ? "," : "",
                         yoke_text_get(&change->without));
}

/* --- which constraint ----------------------------------------------------------------
 */

static double state_bytes(const yoke_problem_t *problem)
{
    const yoke_constants_t *constants = problem->constants;
    double each = yoke_dtype_size(problem->options.dtype) + constants->gradient_bytes;
    double state =
        problem->options.optimizer == YOKE_OPTIMIZER_ADAM  ? constants->adam_bytes
        : problem->options.optimizer == YOKE_OPTIMIZER_SGD ? constants->sgd_bytes
                                                           : 0;
    if (yoke_dtype_size(problem->options.dtype) >= 4 && state >= 4)
        state -= 4;
    return (double)problem->model->parameters_total * (each + state);
}

static double offered_bytes(const yoke_problem_t *problem)
{
    double offered = 0;
    for (size_t c = 0; c < problem->class_count; c++)
        offered += problem->classes[c].memory_limit * problem->classes[c].count;
    return offered;
}

static void add_memory(const yoke_problem_t *problem, const yoke_search_result_t *result,
                       yoke_text_t *text)
{
    char need[32], have[32], miss[32], limit[32];
    yoke_text_printf(text,
                     "memory; weights, gradients and optimizer state of %s take %s, the "
                     "%zu device%s offer%s %s",
                     problem->model->name ? problem->model->name : "the model",
                     yoke_show_bytes(state_bytes(problem), need), problem->slot_count,
                     problem->slot_count == 1 ? "" : "s",
                     problem->slot_count == 1 ? "s" : "",
                     yoke_show_bytes(offered_bytes(problem), have));
    yoke_text_printf(text,
                     "; the nearest try needs %s on each %s of stage %u, which offers "
                     "%s: %s are missing",
                     yoke_show_bytes(result->miss_needed, need),
                     problem->classes[result->miss_class].type, result->miss_stage,
                     yoke_show_bytes(result->miss_limit, limit),
                     yoke_show_bytes(result->miss_needed - result->miss_limit, miss));
}

/* Nothing could even be tried: the restrictions do not go with the devices or the batch.
 */
static void add_restriction(const yoke_problem_t *problem, yoke_text_t *text)
{
    const yoke_plan_options_t *options = &problem->options;
    uint64_t stages = options->split    ? split_stages(options->split)
                      : options->stages ? options->stages
                                        : 1;
    uint64_t dp = options->dp ? options->dp : 1;
    uint64_t groups = most_groups(problem);
    uint64_t steps =
        options->global_batch / (options->micro_batch ? options->micro_batch : 1);
    if (stages * dp > groups)
        yoke_text_printf(text,
                         "devices; stages x replicas of the model is %llu x %llu = %llu "
                         "tensor groups, the %zu devices make at most %llu: %llu missing",
                         (unsigned long long)stages, (unsigned long long)dp,
                         (unsigned long long)(stages * dp), problem->slot_count,
                         (unsigned long long)groups,
                         (unsigned long long)(stages * dp - groups));
    else if (dp > steps)
        yoke_text_printf(text,
                         "batch; %llu replicas of the model need as many micro-batches, "
                         "a global batch of %llu makes %llu",
                         (unsigned long long)dp,
                         (unsigned long long)options->global_batch,
                         (unsigned long long)steps);
    else if (steps % dp != 0)
        yoke_text_printf(text,
                         "batch; the %llu micro-batches do not divide evenly over %llu "
                         "replicas of the model",
                         (unsigned long long)steps, (unsigned long long)dp);
    else
        yoke_text_printf(text,
                         "devices; no arrangement of the %zu devices meets all that is "
                         "fixed%s",
                         problem->slot_count,
                         problem->measured != NULL &&
                                 yoke_layer_times_only_measured(problem->measured)
                             ? ", with the micro-batches, tensor degrees and "
                               "recomputation of the measured layer times alone "
                               "(\"missing\": \"estimate\" in them allows others)"
                             : "");
}

/* No options help: how many devices would at least be needed. */
static void add_more_devices(const yoke_problem_t *problem, yoke_text_t *text)
{
    const yoke_class_t *large = &problem->classes[0];
    for (size_t c = 1; c < problem->class_count; c++)
        if (problem->classes[c].memory_limit > large->memory_limit)
            large = &problem->classes[c];
    double missing = state_bytes(problem) - offered_bytes(problem);
    if (missing > 0)
        yoke_text_printf(text,
                         "; no option makes it fit: add devices (at least %.0f more like "
                         "%s) or take a smaller model",
                         missing / large->memory_limit + 0.5, large->type);
    else
        yoke_text_add(text, "; no option makes it fit: add devices with more memory or "
                            "take a smaller model");
}

/* The one rule of the runtime without which there is a plan. */
static void add_rule(const yoke_problem_t *problem, yoke_text_t *text)
{
    for (size_t i = 0; problem->runtime != NULL && i < YOKE_RULE_COUNT; i++) {
        yoke_runtime_t fewer = *problem->runtime;
        yoke_problem_t trial = *problem;
        if (fewer.because[i] == NULL)
            continue;
        fewer.because[i] = NULL;
        trial.runtime = &fewer;
        trial.options.effort = 1;
        if (i == YOKE_RULE_EQUAL_PIPELINES)
            trial.options.max_shapes = 2;
        if (!search_finds(&trial))
            continue;
        yoke_text_printf(
            text, "; the rule of %s that binds is %s: %s", problem->runtime->title,
            yoke_runtime_rule_name((yoke_runtime_rule_t)i), problem->runtime->because[i]);
        return;
    }
}

yoke_status_t yoke_infeasible_explain(const yoke_problem_t *problem,
                                      const yoke_search_result_t *result)
{
    yoke_text_t text = {0};
    change_t change = {.options = problem->options};
    yoke_text_add(&text, "no feasible plan: ");
    if (result->have_miss)
        add_memory(problem, result, &text);
    else
        add_restriction(problem, &text);
    add_rule(problem, &text);
    if (nearest_change(problem, &change))
        add_change(&change, &text);
    else
        add_more_devices(problem, &text);
    yoke_status_t status = text.failed
                               ? yoke_fail_memory()
                               : yoke_fail(YOKE_ERR_NO, "%s", yoke_text_get(&text));
    change_free(&change);
    yoke_text_free(&text);
    return status;
}

yoke_status_t yoke_infeasible_degree(const yoke_problem_t *problem, unsigned class_index,
                                     uint64_t degree)
{
    const yoke_class_t *class = &problem->classes[class_index];
    yoke_problem_t open = *problem;
    open.options.tp = 0;
    open.options.fix = NULL;
    unsigned degrees[16];
    size_t count = yoke_class_degrees(&open, class_index, degrees, 16);
    yoke_text_t list = {0};
    for (size_t i = 0; i < count; i++)
        yoke_text_printf(&list, "%s%u", i > 0 ? ", " : "", degrees[i]);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_NO,
        "no feasible plan: tp=%llu does not go on %s: the model has %llu query heads and "
        "%llu key/value heads, of which a device holds whole ones, and a node holds %u "
        "such devices; possible are %s",
        (unsigned long long)degree, class->type,
        (unsigned long long)problem->model->heads,
        (unsigned long long)problem->model->kv_heads, class->per_host,
        count > 0 ? yoke_text_get(&list) : "none");
    yoke_text_free(&list);
    return status;
}
