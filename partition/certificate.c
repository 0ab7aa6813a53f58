/* SPDX-License-Identifier: Apache-2.0 */
/* Range, sensitivity, the limit in words, and the devices left out. */
#include "partition/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MAX_SENSITIVITIES 8

/* A copy of the problem whose classes can be changed. */
static yoke_status_t copy_problem(const yoke_problem_t *problem, yoke_problem_t *out)
{
    *out = *problem;
    out->classes = calloc(problem->class_count + 1, sizeof *out->classes);
    if (out->classes == NULL)
        return yoke_fail_memory();
    memcpy(out->classes, problem->classes, problem->class_count * sizeof *out->classes);
    return YOKE_OK;
}

static yoke_status_t time_of(const yoke_problem_t *problem, const yoke_layout_t *layout,
                             double *out_time)
{
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    if (cache == NULL)
        return yoke_fail_memory();
    yoke_evaluation_t evaluation = {0};
    yoke_status_t status = yoke_evaluate(problem, cache, layout, NULL, NULL, &evaluation);
    if (status == YOKE_OK)
        *out_time = evaluation.iteration_time;
    yoke_evaluation_free(&evaluation);
    yoke_cost_cache_free(cache);
    return status;
}

/* Every rate by its own uncertainty, all up or all down. */
static void shift_class(const yoke_constants_t *constants, bool up, yoke_class_t *class)
{
    const yoke_quantity_t unknown = {0};
    const double network = constants->uncertainty_catalog;
    const double path = yoke_quantity_uncertainty(
        class->intra_from != NULL ? class->intra_from : &unknown, constants);
    const struct {
        double *rate, uncertainty;
    } rates[] = {
        {&class->rates.compute, class->rates.uncertainty},
        {&class->rates.bandwidth, class->rates.uncertainty},
        {&class->rates.link, class->rates.link_uncertainty},
        {&class->rates.link_beyond, constants->uncertainty_default},
        {&class->nic, network},
        {&class->intra, path},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        *rates[i].rate *=
            up ? 1.0 + rates[i].uncertainty : 1.0 / (1.0 + rates[i].uncertainty);
}

yoke_status_t yoke_certificate_range(const yoke_problem_t *problem,
                                     const yoke_layout_t *layout, double *out_low,
                                     double *out_high)
{
    yoke_problem_t changed;
    double times[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        yoke_status_t status = copy_problem(problem, &changed);
        if (status != YOKE_OK)
            return status;
        for (size_t c = 0; c < changed.class_count; c++)
            shift_class(problem->constants, side == 0, &changed.classes[c]);
        status = time_of(&changed, layout, &times[side]);
        free(changed.classes);
        if (status != YOKE_OK)
            return status;
    }
    *out_low = times[0];
    *out_high = times[1];
    return YOKE_OK;
}

/* What one effect is about. */
typedef enum lever { LEVER_COMPUTE, LEVER_LINK, LEVER_NIC } lever_t;

typedef struct effect {
    char *input, *source;
    double from, to, times[2], size;
} effect_t;

static int compare_effects(const void *a, const void *b)
{
    const effect_t *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(x->input, y->input);
}

static bool first_of_type(const yoke_problem_t *problem, size_t index)
{
    for (size_t c = 0; c < index; c++)
        if (strcmp(problem->classes[c].type, problem->classes[index].type) == 0)
            return false;
    return true;
}

/* Scale one input of every class of a type (NICs: of all). */
static yoke_status_t measure(const yoke_problem_t *problem, const yoke_layout_t *layout,
                             lever_t lever, const char *type, double factor,
                             double *out_time)
{
    yoke_problem_t changed;
    yoke_status_t status = copy_problem(problem, &changed);
    if (status != YOKE_OK)
        return status;
    for (size_t c = 0; c < changed.class_count; c++) {
        yoke_class_t *class = &changed.classes[c];
        if (lever == LEVER_NIC)
            class->nic *= factor;
        else if (strcmp(class->type, type) != 0)
            continue;
        else if (lever == LEVER_COMPUTE)
            class->rates.compute *= factor;
        else {
            class->rates.link *= factor;
            class->rates.link_beyond *= factor;
        }
    }
    status = time_of(&changed, layout, out_time);
    free(changed.classes);
    return status;
}

static char *source_text(const yoke_quantity_t *quantity)
{
    return yoke_format("%s%s%s%s%s", yoke_source_name(quantity->source),
                       quantity->marks & YOKE_MARK_DISPUTED ? ", disputed" : "",
                       quantity->marks & YOKE_MARK_NOT_REREAD ? ", not re-read" : "",
                       quantity->marks & YOKE_MARK_LOWER_BOUND ? ", lower bound" : "",
                       quantity->marks & YOKE_MARK_DEFAULT ? ", generic constant" : "");
}

static yoke_status_t add_effect(const yoke_problem_t *problem,
                                const yoke_layout_t *layout, lever_t lever,
                                const char *type, double uncertainty, char *input,
                                char *source, effect_t *out)
{
    *out = (effect_t){.input = input, .source = source};
    out->from = 1.0 / (1.0 + uncertainty);
    out->to = 1.0 + uncertainty;
    if (input == NULL || source == NULL)
        return yoke_fail_memory();
    yoke_status_t status =
        measure(problem, layout, lever, type, out->from, &out->times[0]);
    if (status == YOKE_OK)
        status = measure(problem, layout, lever, type, out->to, &out->times[1]);
    out->size = out->times[0] - out->times[1];
    return status;
}

/* Is part of a node reached at a generic rate, beyond a bridge? */
static bool beyond_bridge(const yoke_class_t *class)
{
    return class->rates.link_group != 0 && class->per_host > class->rates.link_group;
}

/* The class of the type whose in-node link is in doubt, or NULL: links that nobody doubts
 * are rarely what a plan hangs on. */
static const yoke_class_t *doubtful_link(const yoke_problem_t *problem, const char *type)
{
    const unsigned doubts = YOKE_MARK_NOT_REREAD | YOKE_MARK_DISPUTED |
                            YOKE_MARK_LOWER_BOUND | YOKE_MARK_DEFAULT;
    for (size_t c = 0; c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        if (class->per_host > 1 && strcmp(class->type, type) == 0 &&
            (class->link_from == NULL || beyond_bridge(class) ||
             (class->link_from->marks & doubts) != 0))
            return class;
    }
    return NULL;
}

static double link_uncertainty(const yoke_problem_t *problem, const yoke_class_t *class)
{
    const double generic = problem->constants->uncertainty_default;
    return beyond_bridge(class) && generic > class->rates.link_uncertainty
               ? generic
               : class->rates.link_uncertainty;
}

static char *link_source(const yoke_class_t *class)
{
    if (class->link_from == NULL)
        return yoke_strdup("unknown, generic constant");
    char *source = source_text(class->link_from);
    if (source == NULL || !beyond_bridge(class))
        return source;
    char *both = yoke_format("%s; beyond the bridge a generic constant", source);
    free(source);
    return both;
}

yoke_status_t yoke_certificate_sensitivity(const yoke_problem_t *problem,
                                           const yoke_layout_t *layout, yoke_plan_t *plan)
{
    effect_t *effects = calloc(2 * problem->class_count + 1, sizeof *effects);
    if (effects == NULL)
        return yoke_fail_memory();
    size_t count = 0;
    yoke_status_t status = YOKE_OK;
    const yoke_dtype_t dtype = problem->options.dtype;
    for (size_t c = 0; status == YOKE_OK && c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        if (!first_of_type(problem, c))
            continue;
        status = add_effect(
            problem, layout, LEVER_COMPUTE, class->type, class->rates.uncertainty,
            yoke_format("type:%s:%s", class->type, yoke_dtype_name(dtype)),
            source_text(&class->device->compute[dtype]), &effects[count++]);
        const yoke_class_t *linked = doubtful_link(problem, class->type);
        if (status == YOKE_OK && linked != NULL)
            status = add_effect(problem, layout, LEVER_LINK, class->type,
                                link_uncertainty(problem, linked),
                                yoke_format("type:%s:link", class->type),
                                link_source(linked), &effects[count++]);
    }
    if (status == YOKE_OK && problem->host_count > 1)
        status = add_effect(problem, layout, LEVER_NIC, NULL,
                            problem->constants->uncertainty_catalog, yoke_strdup("nic"),
                            yoke_strdup("the inventory's NIC rates"), &effects[count++]);
    qsort(effects, count, sizeof *effects, compare_effects);
    for (size_t i = 0; i < count; i++) {
        if (status == YOKE_OK && i < MAX_SENSITIVITIES && effects[i].size > 0)
            status = yoke_plan_add_sensitivity(plan, effects[i].input, effects[i].from,
                                               effects[i].to, effects[i].times[0],
                                               effects[i].times[1], effects[i].source);
        free(effects[i].input);
        free(effects[i].source);
    }
    free(effects);
    return status;
}

char *yoke_certificate_limit(const yoke_problem_t *problem, const yoke_layout_t *layout,
                             const yoke_evaluation_t *evaluation)
{
    size_t index = 0, worst = 0;
    const yoke_stage_t *worst_stage = NULL;
    unsigned worst_pipeline = 0, worst_number = 0;
    double busy = -1;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++, index++) {
            const yoke_stage_result_t *stage = &evaluation->stages[index];
            double time =
                layout->pipelines[p].micro_batches * (stage->forward + stage->backward);
            if (time > busy) {
                busy = time;
                worst = index;
                worst_stage = &layout->pipelines[p].stages[s];
                worst_pipeline = p;
                worst_number = s;
            }
        }
    if (worst_stage == NULL)
        return NULL;
    const double whole = evaluation->iteration_time / 100.0;
    const yoke_stage_result_t *stage = &evaluation->stages[worst];
    double exchange = stage->sync, update = stage->optimizer;
    double waiting = evaluation->iteration_time - busy - exchange - update -
                     problem->constants->step_overhead;
    return yoke_format(
        "compute of pipeline %u stage %u on %s: %.1f %% of the step; waiting for "
        "other stages %.1f %%, gradient exchange %.1f %%, weight update %.1f %%",
        worst_pipeline, worst_number,
        problem->classes[worst_stage->replicas[0].class_index].type, busy / whole,
        (waiting > 0 ? waiting : 0) / whole, exchange / whole, update / whole);
}

static void mark_used(const yoke_layout_t *layout, bool *used)
{
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++) {
            const yoke_stage_t *stage = &layout->pipelines[p].stages[s];
            for (unsigned r = 0; r < stage->replica_count; r++)
                for (unsigned t = 0; t < stage->replicas[r].tp; t++)
                    used[stage->replicas[r].slots[t]] = true;
        }
}

static const char idle_reason[] =
    "idle: no way that the search tried makes the step shorter with it";

static const char unable_reason[] =
    "it cannot run the tensor-parallel degree asked for: too few equal devices in its "
    "node, or heads that do not divide";

/* Unused devices of one class: whole hosts together by one pattern, the others by name.
 */
static yoke_status_t unused_of_class(const yoke_problem_t *problem, unsigned class_index,
                                     const bool *used, yoke_plan_t *plan)
{
    yoke_strings_t whole = {0};
    yoke_status_t status = YOKE_OK;
    const yoke_class_t *class = &problem->classes[class_index];
    unsigned degrees[1];
    const char *reason = yoke_class_degrees(problem, class_index, degrees, 1) > 0
                             ? idle_reason
                             : unable_reason;
    for (size_t s = 0; status == YOKE_OK && s < problem->slot_count;) {
        size_t end = s;
        unsigned idle = 0;
        while (end < problem->slot_count &&
               problem->slots[end].host == problem->slots[s].host &&
               problem->slots[end].class_index == problem->slots[s].class_index)
            idle += !used[end++];
        if (problem->slots[s].class_index == class_index && idle > 0) {
            if (idle == class->host_devices)
                status = yoke_strings_add(&whole, problem->hosts[problem->slots[s].host]);
            else
                for (size_t i = s; status == YOKE_OK && i < end; i++) {
                    char *name =
                        used[i] ? NULL : yoke_problem_slot_name(problem, (unsigned)i);
                    if (!used[i])
                        status = yoke_plan_add_unused(plan, name, reason);
                    free(name);
                }
        }
        s = end;
    }
    if (status == YOKE_OK && whole.count > 0) {
        char *hosts = yoke_hostlist_compress(&whole);
        char *name = hosts ? yoke_format("%s/*", hosts) : NULL;
        status = name ? yoke_plan_add_unused(plan, name, reason) : yoke_fail_memory();
        free(name);
        free(hosts);
    }
    yoke_strings_free(&whole);
    return status;
}

yoke_status_t yoke_certificate_unused(const yoke_problem_t *problem,
                                      const yoke_layout_t *layout, yoke_plan_t *plan)
{
    bool *used = calloc(problem->slot_count + 1, sizeof *used);
    if (used == NULL)
        return yoke_fail_memory();
    mark_used(layout, used);
    yoke_status_t status = YOKE_OK;
    for (unsigned c = 0; status == YOKE_OK && c < problem->class_count; c++)
        status = unused_of_class(problem, c, used, plan);
    free(used);
    return status;
}
