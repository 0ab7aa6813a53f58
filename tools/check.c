/* SPDX-License-Identifier: Apache-2.0 */
/* yoke check: is this plan, also one written by hand, right for this model and cluster?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "tools/check_stale.h"
#include "tools/inputs.h"
#include "yoke/plan.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     .help = "Hugging Face config.json (or its folder), a model document, or the name of "
             "a bundled model such as llama-3.1-8b. Default: as in the command that made "
             "the plan; so for --cluster, with its --assume and --catalog.",
     .heading = "Inputs"},
    YOKE_OPTION_CLUSTER,
    YOKE_OPTION_ASSUME,
    YOKE_OPTION_CATALOG,
    YOKE_OPTION_PROFILE,
    {.name = "strict",
     .help = "Stated figures that no longer agree with the placement are faults too.",
     .heading = "What is a fault"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write the plan with every figure made new from its placement to FILE ('-': "
             "standard output, and the findings to standard error). Not with faults.",
     .heading = "Output"},
    {.name = "json",
     .argument = "FILE",
     .help = "Write the findings as a JSON document to FILE ('-': standard output) "
             "instead of the text."},
    {.name = NULL},
};

const yoke_command_t yoke_check_command = {
    .name = "check",
    .summary = "validate a plan, also one written or edited by hand",
    .usage = "yoke check PLAN [--model MODEL] [--cluster CLUSTER] [options]",
    .description =
        "Checks that the plan was made for this model and cluster; that every layer is "
        "in exactly one stage of each pipeline and in order; that the devices exist, can "
        "be planned on and are used once; that tensor groups are of equal devices on one "
        "host and suit the model's heads; that shards cover every dimension; that the "
        "batch adds up; and that memory fits, recomputed and not believed. All faults "
        "are listed, each with the JSON pointer to its place.\n\n"
        "Times, sizes, shares, groups and other figures that the plan states and that "
        "are not the simulator's, as after an edit by hand, are stale: they are summed "
        "up in a sentence and do not make the plan invalid, except with --strict. With "
        "-o the plan is written with all of them made new; bound and alternatives, which "
        "only a search knows, are then left out.\n\n"
        "What a plan does not state is not checked, so that one written by hand can be "
        "short. Exit code 0: valid; 1: faults found; 3: the document cannot be read.",
    .examples = "yoke check plan.json\n"
                "    a plan that yoke plan wrote, also after an edit\n"
                "yoke check edited.json -o plan.json\n"
                "    the edited plan with its figures made new\n"
                "yoke check plan.json -m llama-3.1-8b -c a100-v100 --strict --json -\n"
                "    every wrong figure is a fault; findings as a JSON document\n",
    .options = options,
    .run = run,
};

/* What was found: lines, or NULL. With --strict all of it is faults. */
typedef struct findings {
    char *faults, *stale;
} findings_t;

/* --- output
 * ------------------------------------------------------------------------------ */

static void describe(const yoke_plan_t *plan, yoke_text_t *out)
{
    size_t stages = 0, devices = 0;
    for (size_t p = 0; p < plan->pipeline_count; p++) {
        stages += plan->pipelines[p].stage_count;
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++)
            for (size_t r = 0; r < plan->pipelines[p].stages[s].replica_count; r++)
                devices += plan->pipelines[p].stages[s].replicas[r].device_count;
    }
    yoke_text_printf(out, "%zu pipeline%s, %zu stage%s, %zu device%s",
                     plan->pipeline_count, plan->pipeline_count == 1 ? "" : "s", stages,
                     stages == 1 ? "" : "s", devices, devices == 1 ? "" : "s");
}

/* "plan.json: /pointer: what is wrong", wrapped behind the pointer. */
static void add_fault(const char *path, const char *line, size_t size, yoke_text_t *out)
{
    yoke_text_t joined = {0};
    size_t before = out->size;
    /* No line ends between the file and the place: '\1' is a blank that does not break.
     */
    yoke_text_printf(&joined, "%s:\1%.*s", path, (int)size, line);
    yoke_wrap(yoke_text_get(&joined), yoke_terminal_width(), 4, out);
    for (size_t i = before; i < out->size; i++)
        if (out->data[i] == '\1')
            out->data[i] = ' ';
    yoke_text_add(out, "\n");
    yoke_text_free(&joined);
}

static void add_faults(const char *path, const char *faults, yoke_text_t *out)
{
    enum { MOST = 200 };
    size_t lines = yoke_count_lines(faults), shown = 0;
    yoke_text_printf(out, "%s: %zu fault%s\n", path, lines, lines == 1 ? "" : "s");
    for (const char *at = faults; *at != '\0' && shown < MOST; shown++) {
        size_t size = strcspn(at, "\n");
        add_fault(path, at, size, out);
        at += size + (at[size] == '\n');
    }
    if (lines > shown)
        yoke_text_printf(out, "%s: and %zu more; all of them with --json\n", path,
                         lines - shown);
}

static void add_stale(const char *path, const yoke_plan_t *plan,
                      const findings_t *findings, const char *output, yoke_text_t *out)
{
    size_t lines = yoke_count_lines(findings->stale);
    bool written = output != NULL && findings->faults == NULL;
    yoke_text_t line = {0};
    yoke_text_printf(&line, "%zu stated figure%s no longer agree%s with the placement (",
                     lines, lines == 1 ? "" : "s", lines == 1 ? "s" : "");
    yoke_stale_summary(findings->stale, plan->pipeline_count, &line);
    yoke_text_add(&line, ")");
    if (!written && findings->faults == NULL) {
        yoke_text_add(&line, "; --strict lists them, and ");
        yoke_text_add(&line, "`yoke check ");
        yoke_quote_word(path, &line);
        yoke_text_add(&line, " -o FILE` writes the plan with all figures made new");
    }
    yoke_wrap(yoke_text_get(&line), yoke_terminal_width(), 0, out);
    yoke_text_add(out, "\n");
    yoke_text_free(&line);
}

static void add_written(const char *output, bool good, yoke_text_t *out)
{
    yoke_text_t line = {0};
    if (good)
        yoke_text_printf(&line,
                         "%s: written with every figure made new; bound and "
                         "alternatives, which only a search knows, are left out",
                         output);
    else
        yoke_text_printf(&line, "%s: not written, since the plan has faults", output);
    yoke_wrap(yoke_text_get(&line), yoke_terminal_width(), 0, out);
    yoke_text_add(out, "\n");
    yoke_text_free(&line);
}

/* To standard error when the plan itself goes to standard output. */
static yoke_status_t write_text(const char *path, const yoke_plan_t *plan,
                                const findings_t *findings, const char *output)
{
    yoke_text_t text = {0};
    bool to_error = output != NULL && strcmp(output, "-") == 0;
    if (findings->faults == NULL) {
        yoke_text_printf(&text, "%s: valid (", path);
        describe(plan, &text);
        yoke_text_add(&text, ")\n");
        yoke_wrap(findings->stale != NULL
                      ? "checked: layers, devices, tensor groups, shards, batch, memory"
                      : "checked: layers, devices, tensor groups, shards, batch, memory, "
                        "and all that it states of times, sizes, groups and digests",
                  yoke_terminal_width(), 0, &text);
        yoke_text_add(&text, "\n");
    } else {
        add_faults(path, findings->faults, &text);
    }
    if (findings->stale != NULL)
        add_stale(path, plan, findings, output, &text);
    if (output != NULL && !to_error)
        add_written(output, findings->faults == NULL, &text);
    yoke_status_t status = text.failed ? yoke_fail_memory() : YOKE_OK;
    if (status == YOKE_OK && to_error)
        fputs(yoke_text_get(&text), stderr);
    else if (status == YOKE_OK)
        status = yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

static json_t *faults_to_json(const char *faults)
{
    json_t *array = json_array();
    for (const char *at = faults; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, "\n");
        const char *colon = strstr(at, ": ");
        size_t pointer =
            colon != NULL && (size_t)(colon - at) < size ? (size_t)(colon - at) : 0;
        json_t *fault = json_object();
        bool whole = pointer == 1; /* "/" stands for the whole document */
        json_object_set_new(fault, "pointer", json_stringn(at, whole ? 0 : pointer));
        json_object_set_new(fault, "message",
                            json_stringn(at + pointer + 2, size - pointer - 2));
        json_array_append_new(array, fault);
        at += size + (at[size] == '\n');
    }
    return array;
}

static yoke_status_t write_json(const char *target, const char *path,
                                const findings_t *findings)
{
    json_t *root = json_object();
    yoke_json_set_string(root, "plan", path);
    json_object_set_new(root, "valid", json_boolean(findings->faults == NULL));
    json_object_set_new(root, "faults", faults_to_json(findings->faults));
    json_object_set_new(root, "stale", faults_to_json(findings->stale));
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

/* --- the plan made new
 * ------------------------------------------------------------------- */

static void add_option(const yoke_args_t *args, const char *name, yoke_text_t *out)
{
    const char *value;
    bool once = strcmp(name, "model") == 0 || strcmp(name, "cluster") == 0;
    for (size_t i = 0; (value = once ? yoke_args_value(args, name)
                                     : yoke_args_nth(args, name, i)) != NULL;
         i++) {
        yoke_text_printf(out, " --%s ", name);
        yoke_quote_word(value, out);
        if (once)
            return;
    }
}

/* The command that makes the new plan, with the inputs taken from the old one. */
static char *command_text(const yoke_args_t *args, const char *path)
{
    yoke_text_t text = {0};
    yoke_text_add(&text, "yoke check ");
    yoke_quote_word(path, &text);
    add_option(args, "model", &text);
    add_option(args, "cluster", &text);
    add_option(args, "assume", &text);
    add_option(args, "catalog", &text);
    yoke_text_add(&text, " --output ");
    yoke_quote_word(yoke_args_value(args, "output"), &text);
    if (text.failed)
        yoke_text_free(&text);
    return text.data;
}

static yoke_status_t write_renewed(const yoke_args_t *args, const char *path,
                                   const yoke_plan_t *plan, const yoke_model_t *model,
                                   const yoke_inventory_t *inventory)
{
    yoke_plan_t *renewed = NULL;
    char *document = NULL, *command = command_text(args, path);
    yoke_status_t status = command != NULL ? YOKE_OK : yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_plan_renew(plan, model, inventory, command, &renewed);
    if (status == YOKE_OK)
        status = yoke_plan_text(renewed, &document);
    if (status == YOKE_OK)
        status = yoke_write_output(yoke_args_value(args, "output"), document);
    free(document);
    free(command);
    yoke_plan_free(renewed);
    return status;
}

/* --- command
 * ----------------------------------------------------------------------------- */

/* Stale figures behind the faults. */
static yoke_status_t be_strict(findings_t *findings)
{
    if (findings->stale == NULL)
        return YOKE_OK;
    char *all = findings->faults == NULL
                    ? yoke_strdup(findings->stale)
                    : yoke_format("%s%s", findings->faults, findings->stale);
    if (all == NULL)
        return yoke_fail_memory();
    free(findings->faults);
    free(findings->stale);
    *findings = (findings_t){.faults = all};
    return YOKE_OK;
}

static yoke_status_t write_findings(const yoke_args_t *args, const char *path,
                                    const yoke_plan_t *plan, const findings_t *findings)
{
    const char *json = yoke_args_value(args, "json");
    yoke_status_t status =
        json != NULL ? write_json(json, path, findings)
                     : write_text(path, plan, findings, yoke_args_value(args, "output"));
    if (status == YOKE_OK && findings->faults != NULL)
        status = YOKE_ERR_NO;
    return status;
}

static yoke_status_t check(yoke_args_t *args, const char *path)
{
    yoke_plan_t *plan = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t words = {0};
    findings_t findings = {NULL, NULL};
    yoke_status_t status = yoke_plan_read(path, &plan);
    if (status == YOKE_OK)
        status = yoke_input_from_plan(args, plan, &words);
    if (status == YOKE_OK)
        status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    if (status == YOKE_OK)
        status = yoke_plan_check_figures(plan, model, inventory, &findings.faults,
                                         &findings.stale);
    bool answered = status == YOKE_OK || (status == YOKE_ERR_NO && findings.faults);
    if (answered && yoke_args_has(args, "strict"))
        status = be_strict(&findings);
    if (answered && findings.faults == NULL && yoke_args_value(args, "output") != NULL)
        status = write_renewed(args, path, plan, model, inventory);
    if (answered && (status == YOKE_OK || status == YOKE_ERR_NO))
        status = write_findings(args, path, plan, &findings);
    free(findings.faults);
    free(findings.stale);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_plan_free(plan);
    yoke_strings_free(&words);
    return status;
}

static bool is_stdout(const yoke_args_t *args, const char *name)
{
    const char *value = yoke_args_value(args, name);
    return value != NULL && strcmp(value, "-") == 0;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_check_command, argc, argv, &args, &code))
        return code;
    if (args.positional_count != 1)
        code = yoke_usage_error(&yoke_check_command, "%s",
                                args.positional_count == 0 ? "no plan is given"
                                                           : "give one plan at a time");
    else if (yoke_args_has(&args, "strict") && yoke_args_has(&args, "output"))
        code = yoke_usage_error(&yoke_check_command,
                                "--strict refuses stale figures and --output makes them "
                                "new; give one of them");
    else if (is_stdout(&args, "json") && is_stdout(&args, "output"))
        code = yoke_usage_error(&yoke_check_command,
                                "--json - and --output -: only one of them can be "
                                "standard output; give a file for the other");
    else
        code = yoke_status_exit_code(check(&args, args.positional[0]));
    yoke_args_free(&args);
    return code;
}
