/* SPDX-License-Identifier: Apache-2.0 */
/* yoke_plan_search(): search, compare with the obvious rivals, certify, write down. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "partition/certificate.h"
#include "partition/infeasible.h"
#include "partition/runtime.h"

typedef struct rival {
    char *kind;
    yoke_search_result_t result;
} rival_t;

enum {
    YOKE_MAX_BATCH = 1 << 24,
    YOKE_MAX_MICRO_BATCH = 1 << 20,
    YOKE_MAX_DEGREE = 1 << 20
};

typedef struct session {
    const yoke_model_t *model;
    const yoke_inventory_t *inventory;
    yoke_problem_t *problem;
    yoke_cost_cache_t *cache;
    yoke_search_result_t *best;
    rival_t *rivals;
    size_t rival_count;
    yoke_search_result_t *open; /* without the runtime's rules; NULL: none were asked */
    char open_why[256];         /* which rule it breaks */
    unsigned asked_shapes;      /* options.max_shapes before the runtime's rules */
} session_t;

static bool first_of_type(const yoke_problem_t *problem, size_t index)
{
    for (size_t c = 0; c < index; c++)
        if (strcmp(problem->classes[c].type, problem->classes[index].type) == 0)
            return false;
    return true;
}

static uint64_t classes_of_type(const yoke_problem_t *problem, const char *type)
{
    uint64_t set = 0;
    for (size_t c = 0; c < problem->class_count; c++)
        if (strcmp(problem->classes[c].type, type) == 0)
            set |= UINT64_C(1) << c;
    return set;
}

/* One "type:NAME:tp=N" of --fix: a type of the cluster, and a degree that it can run. */
static yoke_status_t check_fix(const yoke_problem_t *problem, const char *fix)
{
    const char *mark = strncmp(fix, "type:", 5) == 0 ? strstr(fix, ":tp=") : NULL;
    uint64_t degree = 0;
    bool known = false, runs = false;
    unsigned first = 0;
    if (mark != NULL && !yoke_parse_u64(mark + 4, strlen(mark + 4), 1, 4096, &degree))
        return yoke_fail(YOKE_ERR_USAGE,
                         "--fix '%s': the degree must be a whole number from 1 to 4096",
                         fix);
    for (unsigned c = 0; mark != NULL && c < problem->class_count; c++) {
        const char *type = problem->classes[c].type;
        size_t size = (size_t)(mark - (fix + 5));
        unsigned degrees[1];
        if (strlen(type) != size || strncmp(type, fix + 5, size) != 0)
            continue;
        first = known ? first : c;
        known = true;
        runs = runs || yoke_class_degrees(problem, c, degrees, 1) > 0;
    }
    if (known)
        return runs ? YOKE_OK : yoke_infeasible_degree(problem, first, degree);
    yoke_text_t types = {0};
    for (unsigned c = 0; c < problem->class_count; c++)
        if (first_of_type(problem, c))
            yoke_text_printf(&types, "%s%s", types.size > 0 ? ", " : "",
                             problem->classes[c].type);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_USAGE,
        "--fix '%s': expected tp=N, dp=N, stages=N, micro-batch=N, or type:NAME:tp=N "
        "where NAME is a type to plan on: %s",
        fix, yoke_text_get(&types));
    yoke_text_free(&types);
    return status;
}

static yoke_status_t check_fixes(const yoke_problem_t *problem)
{
    yoke_status_t status = YOKE_OK;
    for (const char *const *fix = problem->options.fix;
         status == YOKE_OK && fix != NULL && *fix != NULL; fix++)
        status = check_fix(problem, *fix);
    return status;
}

/* A fixed degree that no device of the cluster can run is a question about the heads. */
static yoke_status_t check_degrees(const yoke_problem_t *problem)
{
    for (unsigned c = 0; c < problem->class_count; c++) {
        unsigned degrees[1];
        if (yoke_class_degrees(problem, c, degrees, 1) > 0)
            return YOKE_OK;
    }
    return yoke_infeasible_degree(problem, 0, problem->options.tp);
}

static rival_t *add_rival(session_t *session, char *kind)
{
    rival_t *grown =
        kind ? realloc(session->rivals, (session->rival_count + 1) * sizeof *grown)
             : NULL;
    if (grown == NULL) {
        free(kind);
        return NULL;
    }
    session->rivals = grown;
    memset(&grown[session->rival_count], 0, sizeof *grown);
    grown[session->rival_count].kind = kind;
    return &grown[session->rival_count++];
}

static yoke_status_t run_rivals(session_t *session)
{
    const yoke_problem_t *problem = session->problem;
    yoke_status_t status = YOKE_OK;
    bool constrained = problem->options.split != NULL || problem->options.stages != 0;
    if (!constrained) {
        rival_t *even = add_rival(session, yoke_strdup("even split over all devices"));
        if (even == NULL)
            return yoke_fail_memory();
        status = yoke_search_even(problem, session->cache, &even->result);
    }
    for (size_t c = 0; status == YOKE_OK && c < problem->class_count; c++) {
        uint64_t set = classes_of_type(problem, problem->classes[c].type);
        if (!first_of_type(problem, c) ||
            set == (problem->class_count >= 64
                        ? UINT64_MAX
                        : (UINT64_C(1) << problem->class_count) - 1))
            continue;
        rival_t *rival =
            add_rival(session, yoke_format("only %s", problem->classes[c].type));
        if (rival == NULL)
            return yoke_fail_memory();
        status = yoke_search(problem, session->cache, set, &rival->result);
    }
    for (size_t i = 0; status == YOKE_OK && i < session->rival_count; i++) {
        const yoke_search_result_t *result = &session->rivals[i].result;
        if (result->found &&
            (!session->best->found || result->time < session->best->time)) {
            session->best->found = true;
            session->best->time = result->time;
            session->best->best = result->best;
        }
    }
    return status;
}

/* Where the best plan without the rules keeps them, it is the plan. */
static yoke_status_t weigh_open(session_t *session, bool *out_kept)
{
    const yoke_problem_t *problem = session->problem;
    yoke_placement_t placement;
    yoke_runtime_rule_t rule = YOKE_RULE_COUNT;
    yoke_status_t status = yoke_placement_init(problem, &placement);
    if (status != YOKE_OK)
        return status;
    char why[160] = "cannot be placed";
    *out_kept = yoke_place(problem, &session->open->best, &placement) &&
                yoke_runtime_allows(problem->runtime, problem, &placement.layout, why,
                                    sizeof why, &rule);
    if (rule < YOKE_RULE_COUNT)
        yoke_snprintf(session->open_why, sizeof session->open_why, "breaks %s: %s",
                      yoke_runtime_rule_name(rule), why);
    else
        yoke_snprintf(session->open_why, sizeof session->open_why, "%s", why);
    yoke_placement_free(&placement);
    return YOKE_OK;
}

/* What do the rules of the runtime cost? The same search without them. */
static yoke_status_t run_open(session_t *session)
{
    session_t open = {.model = session->model, .inventory = session->inventory};
    yoke_plan_options_t options = session->problem->options;
    bool kept = false;
    options.runtime = NULL;
    options.max_shapes = session->asked_shapes;
    session->open = open.best = calloc(1, sizeof *open.best);
    yoke_status_t status =
        open.best != NULL
            ? yoke_problem_new(open.model, open.inventory, &options, &open.problem)
            : yoke_fail_memory();
    if (status == YOKE_OK && (open.cache = yoke_cost_cache_new(open.problem)) == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_search_all(open.problem, open.cache, open.best);
    if (status == YOKE_OK)
        status = run_rivals(&open);
    if (status == YOKE_OK && open.best->found)
        status = weigh_open(session, &kept);
    if (status == YOKE_OK && open.best->found && kept &&
        open.best->time < session->best->time) {
        session->best->best = open.best->best;
        session->best->time = open.best->time;
    }
    for (size_t i = 0; i < open.rival_count; i++)
        free(open.rivals[i].kind);
    free(open.rivals);
    yoke_cost_cache_free(open.cache);
    yoke_problem_free(open.problem);
    return status;
}

static yoke_status_t add_open(const session_t *session, yoke_plan_t *plan)
{
    const yoke_search_result_t *open = session->open;
    if (open == NULL || !open->found)
        return YOKE_OK;
    char *kind = yoke_format("without the rules of %s", session->problem->runtime->title);
    double gain = session->best->time / open->time - 1.0;
    char *why = gain > 1e-9 ? yoke_format("%s; the rules cost %.1f %%", session->open_why,
                                          gain * 100)
                            : yoke_strdup("is no faster: the rules cost nothing");
    yoke_status_t status = kind != NULL && why != NULL ? YOKE_OK : yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_plan_add_alternative(plan, kind, true, open->time, why);
    free(kind);
    free(why);
    return status;
}

static yoke_status_t add_alternatives(const session_t *session, yoke_plan_t *plan)
{
    yoke_status_t added = add_open(session, plan);
    if (added != YOKE_OK)
        return added;
    for (size_t i = 0; i < session->rival_count; i++) {
        const rival_t *rival = &session->rivals[i];
        char why[128];
        if (!rival->result.found)
            snprintf(why, sizeof why, "%s",
                     rival->result.have_miss
                         ? "does not fit the memory"
                         : "cannot use every device, or does not fit");
        else if (rival->result.time <= session->best->time)
            snprintf(why, sizeof why, "is this plan");
        else
            snprintf(why, sizeof why, "takes %.2f times as long",
                     rival->result.time / session->best->time);
        yoke_status_t status = yoke_plan_add_alternative(
            plan, rival->kind, rival->result.found, rival->result.time, why);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static yoke_status_t certify(const session_t *session, const yoke_layout_t *layout,
                             const yoke_evaluation_t *evaluation, yoke_plan_t *plan)
{
    const yoke_problem_t *problem = session->problem;
    yoke_status_t status = yoke_certificate_range(
        problem, layout, &plan->iteration_time_low, &plan->iteration_time_high);
    if (status == YOKE_OK)
        status = yoke_certificate_sensitivity(problem, layout, plan);
    if (status == YOKE_OK)
        status = yoke_certificate_unused(problem, layout, plan);
    if (status == YOKE_OK)
        status = add_alternatives(session, plan);
    for (size_t i = 0; status == YOKE_OK && i < problem->note_count; i++)
        status = yoke_plan_add_note(plan, "%s", problem->notes[i]);
    if (status == YOKE_OK && session->best->complete)
        status = yoke_plan_add_note(
            plan,
            "the search was complete: no faster plan in its space (see docs/planner.md)");
    if (status != YOKE_OK)
        return status;
    plan->bound_time = session->best->bound < evaluation->iteration_time
                           ? session->best->bound
                           : evaluation->iteration_time;
    plan->bound_gap = evaluation->iteration_time / plan->bound_time - 1.0;
    status = yoke_plan_set_string(&plan->bound_binding, session->best->binding);
    if (status != YOKE_OK)
        return status;
    free(plan->limited_by);
    plan->limited_by = yoke_certificate_limit(problem, layout, evaluation);
    return plan->limited_by != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t write_down(const session_t *session, yoke_plan_t **out_plan)
{
    const yoke_problem_t *problem = session->problem;
    yoke_placement_t placement;
    yoke_evaluation_t evaluation = {0};
    yoke_plan_t *plan = NULL;
    bool placed = false;
    yoke_status_t status = yoke_placement_init(problem, &placement);
    if (status != YOKE_OK)
        return status;
    status = yoke_candidate_evaluate(problem, session->cache, &session->best->best,
                                     &placement, &evaluation, &placed);
    if (status == YOKE_OK)
        status = yoke_plan_from_layout(problem, session->cache, &placement.layout,
                                       &evaluation, &plan);
    if (status == YOKE_OK)
        status = certify(session, &placement.layout, &evaluation, plan);
    if (status == YOKE_OK)
        *out_plan = plan;
    else
        yoke_plan_free(plan);
    yoke_evaluation_free(&evaluation);
    yoke_placement_free(&placement);
    return status;
}

static yoke_status_t run(session_t *session, yoke_plan_t **out_plan)
{
    yoke_status_t status = check_fixes(session->problem);
    if (status == YOKE_OK)
        status = check_degrees(session->problem);
    if (status == YOKE_OK)
        status = yoke_search_all(session->problem, session->cache, session->best);
    if (status == YOKE_OK)
        status = run_rivals(session);
    if (status == YOKE_OK && session->best->found && session->problem->runtime != NULL)
        status = run_open(session);
    if (status == YOKE_OK && !session->best->found)
        status = yoke_infeasible_explain(session->problem, session->best);
    if (status == YOKE_OK)
        status = write_down(session, out_plan);
    return status;
}

/* What does not fit the search's own numbers, or is no value of its type. */
static yoke_status_t check_options(const yoke_plan_options_t *options)
{
    const struct {
        const char *name;
        uint64_t value, most;
    } numbers[] = {
        {"global_batch", options->global_batch, YOKE_MAX_BATCH},
        {"sequence", options->sequence, YOKE_MAX_BATCH},
        {"micro_batch", options->micro_batch, YOKE_MAX_MICRO_BATCH},
        {"tp", options->tp, YOKE_MAX_DEGREE},
        {"dp", options->dp, YOKE_MAX_DEGREE},
        {"stages", options->stages, YOKE_MAX_DEGREE},
        {"dtype", (uint64_t)options->dtype, YOKE_DTYPE_COUNT - 1},
        {"optimizer", (uint64_t)options->optimizer, YOKE_OPTIMIZER_NONE},
        {"sharded_optimizer", (uint64_t)options->sharded_optimizer, YOKE_ON},
        {"recompute", (uint64_t)options->recompute, YOKE_RECOMPUTE_AUTO},
        {"memory", (uint64_t)options->memory, YOKE_MEMORY_FRACTION},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value > numbers[i].most)
            return yoke_fail(YOKE_ERR_USAGE,
                             "yoke_plan_options_t.%s is %llu: it must be at most %llu",
                             numbers[i].name, (unsigned long long)numbers[i].value,
                             (unsigned long long)numbers[i].most);
    return YOKE_OK;
}

yoke_status_t yoke_plan_search(const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options, yoke_plan_t **out_plan)
{
    yoke_plan_options_t defaults;
    yoke_plan_options_init(&defaults);
    if (options == NULL)
        options = &defaults;
    if (options->struct_size != sizeof *options)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "yoke_plan_options_t.struct_size is %zu, this library expects %zu",
            options->struct_size, sizeof *options);
    yoke_status_t in_range = check_options(options);
    if (in_range != YOKE_OK)
        return in_range;
    if (options->memory == YOKE_MEMORY_FRACTION &&
        !(options->memory_fraction > 0 && options->memory_fraction <= 1))
        return yoke_fail(
            YOKE_ERR_USAGE,
            "yoke_plan_options_t.memory_fraction is %g: it must be above 0 and "
            "at most 1",
            options->memory_fraction);
    session_t session = {
        .model = model, .inventory = inventory, .asked_shapes = options->max_shapes};
    yoke_status_t status = yoke_problem_new(model, inventory, options, &session.problem);
    if (status != YOKE_OK)
        return status;
    session.cache = yoke_cost_cache_new(session.problem);
    session.best = calloc(1, sizeof *session.best);
    if (session.cache == NULL || session.best == NULL)
        status = yoke_fail_memory();
    else
        status = run(&session, out_plan);
    for (size_t i = 0; i < session.rival_count; i++)
        free(session.rivals[i].kind);
    free(session.rivals);
    free(session.best);
    free(session.open);
    yoke_cost_cache_free(session.cache);
    yoke_problem_free(session.problem);
    return status;
}
