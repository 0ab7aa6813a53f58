/* SPDX-License-Identifier: Apache-2.0 */
/* explain --why-not and --marginal: other searches, compared with the plan at hand. */
#include "tools/explain_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "partition/layout.h"
#include "partition/plan_print.h"

/* The best plan under `options`, or NULL with the reason. */
typedef struct found {
    yoke_plan_t *plan;
    char *why;
} found_t;

static void free_found(found_t *found)
{
    yoke_plan_free(found->plan);
    free(found->why);
}

/* That there is no plan is an answer here, not a failure. */
static yoke_status_t search(const yoke_model_t *model, const yoke_inventory_t *inventory,
                            const yoke_plan_options_t *options, found_t *out)
{
    found_t found = {0};
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_plan_search(model, inventory, options, &found.plan);
    yoke_fail_quiet(false);
    if (status == YOKE_ERR_NO_MEMORY)
        return yoke_fail_memory();
    if (status != YOKE_OK) {
        found.plan = NULL;
        found.why = yoke_strdup(yoke_last_error());
        if (found.why == NULL)
            return yoke_fail_memory();
    }
    *out = found;
    return YOKE_OK;
}

static json_t *found_to_json(const char *key, const char *value, const found_t *found)
{
    json_t *object = json_object();
    yoke_json_set_string(object, key, value);
    json_object_set_new(object, "feasible", json_boolean(found->plan != NULL));
    yoke_json_set_number(object, "iteration_time",
                         found->plan != NULL ? found->plan->iteration_time : (double)NAN);
    yoke_json_set_string(object, "why",
                         found->plan != NULL ? found->plan->limited_by : found->why);
    return object;
}

/* --- why not
 * -------------------------------------------------------------------------- */

static yoke_status_t read_choice(const char *text, yoke_plan_options_t *options)
{
    for (const char *part = text; true;) {
        size_t length = strcspn(part, ",");
        const char *equals = memchr(part, '=', length);
        size_t name = equals != NULL ? (size_t)(equals - part) : 0;
        uint64_t *value = name == 2 && strncmp(part, "tp", 2) == 0   ? &options->tp
                          : name == 2 && strncmp(part, "dp", 2) == 0 ? &options->dp
                          : name == 2 && strncmp(part, "pp", 2) == 0 ? &options->stages
                          : name == 6 && strncmp(part, "stages", 6) == 0
                              ? &options->stages
                              : NULL;
        if (value == NULL ||
            !yoke_parse_u64(equals + 1, length - name - 1, 1, 1u << 20, value))
            return yoke_fail(YOKE_ERR_USAGE,
                             "--why-not %s: expected tp=N, dp=N or stages=N, or several "
                             "separated by commas",
                             text);
        part += length;
        if (*part == '\0')
            return YOKE_OK;
        part++;
    }
}

static void say_why_not(const yoke_plan_t *plan, const char *choice, const found_t *found,
                        size_t width, yoke_text_t *out)
{
    yoke_text_t line = {0};
    char other[32], own[32];
    yoke_text_printf(&line, "Why not %s", choice);
    yoke_print_heading(yoke_text_get(&line), out);
    yoke_text_free(&line);
    if (found->plan == NULL) {
        yoke_text_printf(&line, "There is no such plan: %s", found->why);
    } else {
        double ratio = found->plan->iteration_time / plan->iteration_time;
        yoke_text_printf(&line,
                         "The best plan with it takes %s, %.2f times the %s of this one.",
                         yoke_show_seconds(found->plan->iteration_time, other), ratio,
                         yoke_show_seconds(plan->iteration_time, own));
        if (found->plan->limited_by != NULL)
            yoke_text_printf(&line, " It is limited by %s.", found->plan->limited_by);
        if (ratio < 1 - 1e-9)
            yoke_text_add(&line, " It is better: this plan is not the best of the "
                                 "search with these inputs.");
    }
    yoke_print_paragraph(yoke_text_get(&line), width, 2, out);
    yoke_text_free(&line);
}

yoke_status_t yoke_explain_why_not(const yoke_plan_t *plan, const yoke_model_t *model,
                                   const yoke_inventory_t *inventory, const char *choice,
                                   size_t width, yoke_text_t *out, json_t *figures)
{
    yoke_plan_options_t options;
    found_t found = {0};
    const char **exclude = calloc(plan->exclude_count + 1, sizeof *exclude);
    if (exclude == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_plan_get_options(plan, exclude, &options);
    options.recompute = YOKE_RECOMPUTE_AUTO;
    if (status == YOKE_OK)
        status = read_choice(choice, &options);
    if (status == YOKE_OK)
        status = search(model, inventory, &options, &found);
    if (status == YOKE_OK) {
        say_why_not(plan, choice, &found, width, out);
        json_object_set_new(figures, "why_not", found_to_json("choice", choice, &found));
    }
    free_found(&found);
    free(exclude);
    return status;
}

/* --- marginal
 * ------------------------------------------------------------------------- */

static void add_row(const yoke_plan_t *plan, const char *type, const found_t *found,
                    yoke_table_t *table)
{
    char time[32];
    yoke_table_cell(table, type);
    if (found->plan == NULL) {
        yoke_table_cell(table, "none");
        yoke_table_cell(table, "");
        yoke_table_cell(table, found->why);
        return;
    }
    double ratio = found->plan->iteration_time / plan->iteration_time;
    yoke_table_cell(table, yoke_show_seconds(found->plan->iteration_time, time));
    yoke_table_cellf(table, "%.2f", ratio);
    if (ratio >= 1)
        yoke_table_cellf(table, "it adds %.0f%% of speed", 100 * (ratio - 1));
    else
        yoke_table_cell(table, "better without it");
}

yoke_status_t yoke_explain_marginal(const yoke_plan_t *plan, const yoke_model_t *model,
                                    const yoke_inventory_t *inventory, size_t width,
                                    yoke_text_t *out, json_t *figures)
{
    static const char *const headers[] = {"Without", ">Step", ">Times", "~So"};
    yoke_plan_options_t options;
    json_t *items = json_array();
    const char **exclude = calloc(plan->exclude_count + 2, sizeof *exclude);
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    yoke_status_t status = exclude != NULL
                               ? yoke_plan_get_options(plan, exclude, &options)
                               : yoke_fail_memory();
    options.exclude = exclude;
    options.recompute = YOKE_RECOMPUTE_AUTO;
    for (size_t i = 0; i < plan->match_count && status == YOKE_OK; i++) {
        found_t found = {0};
        char *selector = yoke_format("type:%s", plan->matches[i].type);
        exclude[plan->exclude_count] = selector;
        status = selector != NULL ? search(model, inventory, &options, &found)
                                  : yoke_fail_memory();
        if (status == YOKE_OK) {
            add_row(plan, plan->matches[i].type, &found, table);
            json_array_append_new(
                items, found_to_json("without", plan->matches[i].type, &found));
        }
        free_found(&found);
        free(selector);
    }
    if (status == YOKE_OK) {
        yoke_print_heading("What each type adds", out);
        yoke_table_print(table, width, 2, out);
    }
    json_object_set_new(figures, "marginal", items);
    yoke_table_free(table);
    free(exclude);
    return status;
}
