/* SPDX-License-Identifier: Apache-2.0 */
/* yoke check: is this plan, also one written by hand, right for this model and cluster?
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "tools/inputs.h"
#include "yoke/plan.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     .help =
         "Hugging Face config.json (or its folder), a model document, or the name of a "
         "bundled model such as llama-3.1-8b.",
     .heading = "Inputs"},
    YOKE_OPTION_CLUSTER,
    YOKE_OPTION_ASSUME,
    YOKE_OPTION_CATALOG,
    {.name = NULL},
};

const yoke_command_t yoke_check_command = {
    .name = "check",
    .summary = "validate a plan, also one written by hand",
    .usage = "yoke check PLAN --model MODEL --cluster CLUSTER [options]",
    .description =
        "Checks that every layer is in exactly one stage of each pipeline and in order; "
        "that "
        "the devices exist, can be planned on and are used once; that tensor groups are "
        "of "
        "equal devices on one host and suit the model's heads; that shards cover every "
        "dimension; that the batch adds up; that memory fits, recomputed and not "
        "believed; and "
        "that every time, size, share and group that the plan states is the "
        "simulator's.\n\n"
        "All faults are listed, each with the JSON pointer to its place. What a plan "
        "does not "
        "state is not checked, so that one written by hand can be short. Exit code 0: "
        "valid; 1: "
        "faults found; 3: the document cannot be read.",
    .examples = "yoke check plan.json -m llama-3.1-8b -c a100-v100\n"
                "    against a bundled model and cluster\n"
                "yoke check plan.json -m config.json -c cluster.json --json -\n"
                "    faults as a JSON document\n",
    .options = options,
    .run = run,
};

/* --- output
 * ------------------------------------------------------------------------------ */

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; text != NULL && *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

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

static yoke_status_t write_text(const char *path, const yoke_plan_t *plan,
                                const char *faults)
{
    yoke_text_t text = {0};
    yoke_text_printf(&text, "%s: ", path);
    if (faults == NULL) {
        yoke_text_add(&text, "valid (");
        describe(plan, &text);
        yoke_text_add(&text, ")\n");
        yoke_wrap("checked: layers, devices, tensor groups, shards, batch, memory, and "
                  "all that "
                  "it states of times, sizes, groups and digests",
                  yoke_terminal_width(), 0, &text);
        yoke_text_add(&text, "\n");
    } else {
        size_t lines = count_lines(faults);
        yoke_text_printf(&text, "%zu fault%s\n", lines, lines == 1 ? "" : "s");
        for (const char *at = faults; *at != '\0';) {
            size_t size = strcspn(at, "\n");
            yoke_text_printf(&text, "%s: %.*s\n", path, (int)size, at);
            at += size + (at[size] == '\n');
        }
    }
    yoke_status_t status =
        text.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&text));
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

static yoke_status_t write_json(const char *target, const char *path, const char *faults)
{
    json_t *root = json_object();
    yoke_json_set_string(root, "plan", path);
    json_object_set_new(root, "valid", json_boolean(faults == NULL));
    json_object_set_new(root, "faults", faults_to_json(faults));
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

/* --- command
 * ----------------------------------------------------------------------------- */

static yoke_status_t check(const yoke_args_t *args, const char *path)
{
    yoke_plan_t *plan = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    char *faults = NULL;
    const char *json = yoke_args_value(args, "json");
    yoke_status_t status = yoke_plan_read(path, &plan);
    if (status == YOKE_OK)
        status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    if (status == YOKE_OK)
        status = yoke_plan_check(plan, model, inventory, &faults);
    if (status == YOKE_OK || (status == YOKE_ERR_NO && faults != NULL)) {
        yoke_status_t written = json != NULL ? write_json(json, path, faults)
                                             : write_text(path, plan, faults);
        status = written != YOKE_OK ? written : status;
    }
    free(faults);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_plan_free(plan);
    return status;
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
    else if (yoke_args_value(&args, "model") == NULL)
        code = yoke_usage_error(&yoke_check_command, "--model is missing");
    else if (yoke_args_value(&args, "cluster") == NULL)
        code = yoke_usage_error(&yoke_check_command, "--cluster is missing");
    else
        code = yoke_status_exit_code(check(&args, args.positional[0]));
    yoke_args_free(&args);
    return code;
}
