/* SPDX-License-Identifier: Apache-2.0 */
/* yoke explain: why a plan is as it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "partition/explain.h"
#include "partition/plan_print.h"
#include "partition/replay.h"
#include "tools/explain_search.h"
#include "tools/inputs.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     .help =
         "Compute times and memory anew, on this model and on the cluster of --cluster "
         "(where one is not given: that of the command that made the plan). Without "
         "both, what the document states is explained.",
     .heading = "Inputs"},
    YOKE_OPTION_CLUSTER,
    YOKE_OPTION_ASSUME,
    YOKE_OPTION_CATALOG,
    YOKE_OPTION_PROFILE,
    {.name = "why-not",
     .argument = "CHOICE",
     .help =
         "Search the best plan with another choice, tp=8, dp=4 or stages=2, and set it "
         "beside this one.",
     .heading = "Other plans"},
    {.name = "marginal",
     .help = "What each type of device adds: the best plan without it."},
    {.name = "width",
     .argument = "COLUMNS",
     .help = "Width of the text, from 40 to 400. Default: the terminal's, or 80.",
     .heading = "Output"},
    {.name = "json",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write the explanation as a JSON document to FILE; - is standard output."},
    {.name = NULL},
};

const yoke_command_t yoke_explain_command = {
    .name = "explain",
    .summary = "why a plan is as it is, and what limits it",
    .usage = "yoke explain PLAN [--model MODEL --cluster CLUSTER] [options]",
    .description =
        "Says in words where everything is, why each type of device got what it got "
        "(what it "
        "computes and holds against what it could), what limits the step, the memory of "
        "the "
        "fullest device of every stage term by term, the lower bound and the gap to it, "
        "the "
        "alternatives and why they lost, which unknown matters most, and every doubt "
        "about the "
        "figures used.\n\n"
        "The explanation starts from the plan document. With --model and --cluster its "
        "times and "
        "memory are computed anew, also for a plan written by hand that states none.",
    .examples = "yoke explain plan.json\n"
                "    what the document states\n"
                "yoke explain plan.json -m llama-3.1-8b -c a100-v100\n"
                "    with times and memory computed anew\n"
                "yoke explain plan.json --why-not tp=8 --marginal\n"
                "    what another choice, and a cluster without a type, would give\n",
    .options = options,
    .run = run,
};

/* --- output
 * ------------------------------------------------------------------------------ */

static json_t *limit_to_json(const yoke_plan_t *plan)
{
    yoke_limit_t limit;
    if (!yoke_plan_limit(plan, &limit))
        return json_null();
    json_t *object = json_object();
    yoke_json_set_u64(object, "pipeline", limit.pipeline);
    yoke_json_set_u64(object, "stage", limit.stage);
    yoke_json_set_number(object, "compute", limit.compute);
    yoke_json_set_number(object, "idle", limit.idle);
    yoke_json_set_number(object, "sync", limit.sync);
    yoke_json_set_number(object, "optimizer", limit.optimizer);
    yoke_json_set_number(object, "send", limit.send);
    return object;
}

static json_t *lines_to_json(const char *text)
{
    json_t *lines = json_array();
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        json_array_append_new(lines, json_stringn(text, size));
        text += size + (text[size] == '\n');
    }
    return lines;
}

static yoke_status_t write_json(const char *target, const char *path,
                                const yoke_plan_t *plan, bool anew, const char *text,
                                json_t *figures)
{
    json_t *root = json_object();
    yoke_json_set_string(root, "plan", path);
    json_object_set_new(root, "computed_anew", json_boolean(anew));
    yoke_json_set_number(root, "iteration_time", plan->iteration_time);
    yoke_json_set_string(root, "limited_by", plan->limited_by);
    json_object_set_new(root, "limit", limit_to_json(plan));
    json_object_set_new(root, "text", lines_to_json(text));
    json_object_update(root, figures);
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

/* Says so when the document's time is not the one computed. */
static void note_difference(const yoke_plan_t *stated, const yoke_plan_t *anew,
                            size_t width, yoke_text_t *text)
{
    char before[32], after[32];
    yoke_text_t line = {0};
    double difference = fabs(stated->iteration_time - anew->iteration_time);
    if (isnan(stated->iteration_time) || difference <= 1e-6 * anew->iteration_time)
        return;
    yoke_text_printf(
        &line,
        "Note: the document states a step of %s; with the model and the cluster "
        "given it is %s. yoke check --strict lists every difference.",
        yoke_show_seconds(stated->iteration_time, before),
        yoke_show_seconds(anew->iteration_time, after));
    yoke_print_paragraph(yoke_text_get(&line), width, 0, text);
    yoke_text_add(text, "\n");
    yoke_text_free(&line);
}

static yoke_status_t write_explanation(const yoke_args_t *args, const char *path,
                                       const yoke_plan_t *stated, const yoke_plan_t *anew,
                                       const yoke_model_t *model,
                                       const yoke_inventory_t *inventory, size_t width)
{
    const char *json = yoke_args_value(args, "json");
    const char *choice = yoke_args_value(args, "why-not");
    const yoke_plan_t *plan = anew != NULL ? anew : stated;
    yoke_text_t text = {0};
    if (anew != NULL)
        note_difference(stated, anew, width, &text);
    yoke_plan_explain(plan, model, width, &text);
    json_t *figures = json_object();
    yoke_status_t status = YOKE_OK;
    if (choice != NULL)
        status =
            yoke_explain_why_not(plan, model, inventory, choice, width, &text, figures);
    if (status == YOKE_OK && yoke_args_has(args, "marginal"))
        status = yoke_explain_marginal(plan, model, inventory, width, &text, figures);
    if (status == YOKE_OK && text.failed)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = json != NULL ? write_json(json, path, plan, anew != NULL,
                                           yoke_text_get(&text), figures)
                              : yoke_write_output("-", yoke_text_get(&text));
    json_decref(figures);
    yoke_text_free(&text);
    return status;
}

/* --- command
 * ----------------------------------------------------------------------------- */

static yoke_status_t explain(yoke_args_t *args, const char *path, size_t width)
{
    yoke_plan_t *stated = NULL, *anew = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t words = {0};
    bool compute = yoke_args_has(args, "model") || yoke_args_has(args, "cluster") ||
                   yoke_args_has(args, "why-not") || yoke_args_has(args, "marginal");
    yoke_status_t status = yoke_plan_read(path, &stated);
    if (status == YOKE_OK && compute) {
        status = yoke_input_from_plan(args, stated, &words);
        if (status == YOKE_OK)
            status = yoke_input_model(args, &model);
        if (status == YOKE_OK)
            status = yoke_input_cluster(args, &inventory);
        if (status == YOKE_OK)
            status = yoke_plan_reevaluate(stated, model, inventory, &anew);
    }
    if (status == YOKE_OK)
        status = write_explanation(args, path, stated, anew, model, inventory, width);
    yoke_plan_free(stated);
    yoke_plan_free(anew);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_strings_free(&words);
    return status;
}

static int read_width(const yoke_args_t *args, size_t *out_width)
{
    const char *text = yoke_args_value(args, "width");
    uint64_t width = yoke_terminal_width();
    if (text != NULL && !yoke_parse_u64(text, strlen(text), 40, 400, &width))
        return yoke_usage_error(&yoke_explain_command,
                                "--width %s: expected a whole number from 40 to 400",
                                text);
    *out_width = (size_t)width;
    return 0;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    size_t width = 0;
    int code = 0;
    if (!yoke_args_parse(&yoke_explain_command, argc, argv, &args, &code))
        return code;
    if (args.positional_count != 1)
        code = yoke_usage_error(&yoke_explain_command, "%s",
                                args.positional_count == 0 ? "no plan is given"
                                                           : "give one plan at a time");
    else
        code = read_width(&args, &width);
    if (code == 0)
        code = yoke_status_exit_code(explain(&args, args.positional[0], width));
    yoke_args_free(&args);
    return code;
}
