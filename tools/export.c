/* SPDX-License-Identifier: Apache-2.0 */
/* yoke export: a folder that starts a plan in its runtime. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/error.h"
#include "base/file.h"
#include "partition/export.h"
#include "tools/help.h"
#include "tools/inputs.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "to",
     .argument = "megatron|flagscale|deepspeed|torch|slurm|rankfile",
     .help = "What the folder starts: Megatron-LM, FlagScale, DeepSpeed, torchtitan, any "
             "program under Slurm, or any program under Open MPI by a rank file.",
     .heading = "What is written"},
    {.name = "out",
     .argument = "DIR",
     .help = "Folder to write to; it is made. Files of an earlier export are replaced."},
    {.name = "base",
     .argument = "FILE",
     .help = "Your own file, whose other settings are kept: a launch script "
             "(megatron), a train YAML (flagscale), a JSON configuration (deepspeed), a "
             "TOML (torch)."},
    {.name = "partition",
     .argument = "SELECTOR=NAME",
     .help = "Slurm partition of hosts, e.g. type:V100-SXM2-32GB=old. Where they differ, "
             "the job is a heterogeneous one. Can be repeated."},
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
    {.name = NULL},
};

const yoke_command_t yoke_export_command = {
    .name = "export",
    .summary = "write a plan as the files that start it in a runtime",
    .usage = "yoke export PLAN --to RUNTIME --out DIR [options]",
    .description =
        "Writes arguments or configuration for the runtime, a host file, the environment "
        "of each type of device, a launcher for every host and a Slurm script. With "
        "--base the user's own file goes first and only what the plan decides is "
        "replaced.\n\n"
        "The plan is checked before: one with faults, or one that breaks a rule of the "
        "runtime (data/runtimes), is not written; the message names the rule and what "
        "would make it possible. `yoke plan --for RUNTIME` searches within the rules.",
    .examples =
        "yoke plan -m llama-3.1-8b -c h100-a100 --for megatron -o plan.json && \\\n"
        "    yoke export plan.json --to megatron --base run.sh --out job\n"
        "    a Megatron-LM job with your data and tokenizer arguments\n"
        "yoke export plan.json --to slurm --out job \\\n"
        "    --partition type:H100-SXM5-80GB=new \\\n"
        "    --partition type:A100-SXM4-80GB=old\n"
        "    a heterogeneous Slurm job for a program of your own\n",
    .options = options,
    .run = run,
};

static yoke_status_t make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && yoke_directory_exists(path)))
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_SYSTEM, "cannot make the folder %s: %s", path,
                     strerror(errno));
}

static yoke_status_t write_file(const char *folder, const yoke_export_file_t *file)
{
    char *path = yoke_format("%s/%s", folder, file->name);
    yoke_status_t status = path != NULL ? YOKE_OK : yoke_fail_memory();
    const char *slash = strchr(file->name, '/');
    if (status == YOKE_OK && slash != NULL) {
        char *inner =
            yoke_format("%s/%.*s", folder, (int)(slash - file->name), file->name);
        status = inner != NULL ? make_folder(inner) : yoke_fail_memory();
        free(inner);
    }
    if (status == YOKE_OK)
        status = yoke_file_write(path, file->data, strlen(file->data));
    if (status == YOKE_OK && file->executable && chmod(path, 0755) != 0)
        status = yoke_fail(YOKE_ERR_SYSTEM, "cannot make %s executable: %s", path,
                           strerror(errno));
    free(path);
    return status;
}

/* {"folder", "files": [...], "start"} */
static yoke_status_t write_document(const char *path, const char *folder,
                                    const yoke_export_t *export)
{
    json_t *files = json_array();
    for (size_t i = 0; i < export->count; i++)
        json_array_append_new(files, json_string(export->files[i].name));
    json_t *document = json_pack("{s:s, s:o, s:s?}", "folder", folder, "files", files,
                                 "start", export->start);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (text == NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: the folder's name is no UTF-8", folder);
    char *whole = yoke_format("%s\n", text);
    yoke_status_t status =
        whole != NULL ? yoke_write_output(path, whole) : yoke_fail_memory();
    free(whole);
    free(text);
    return status;
}

static yoke_status_t write_folder(const char *folder, const char *json,
                                  const yoke_export_t *export)
{
    yoke_text_t text = {0};
    yoke_status_t status = make_folder(folder);
    yoke_text_printf(&text, "%s:", folder);
    for (size_t i = 0; status == YOKE_OK && i < export->count; i++) {
        status = write_file(folder, &export->files[i]);
        yoke_text_printf(&text, " %s", export->files[i].name);
    }
    if (export->start != NULL)
        yoke_text_printf(&text, "\nstart there with: %s", export->start);
    yoke_text_add(&text, "\n");
    if (status == YOKE_OK && json != NULL)
        status = write_document(json, folder, export);
    else if (status == YOKE_OK)
        status = yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

static const char **partitions(const yoke_args_t *args)
{
    const char **list = calloc(args->given_count + 1, sizeof *list);
    for (size_t i = 0; list != NULL; i++)
        if ((list[i] = yoke_args_nth(args, "partition", i)) == NULL)
            break;
    return list;
}

static yoke_status_t export_plan(yoke_args_t *args, const char *path)
{
    yoke_plan_t *plan = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t words = {0};
    yoke_export_t export = {0};
    const char **list = partitions(args);
    yoke_export_options_t wanted = {.to = yoke_args_value(args, "to"),
                                    .base = yoke_args_value(args, "base"),
                                    .partition = list};
    yoke_status_t status =
        list != NULL ? yoke_plan_read(path, &plan) : yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_input_from_plan(args, plan, &words);
    if (status == YOKE_OK)
        status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    if (status == YOKE_OK)
        status = yoke_plan_export(plan, model, inventory, &wanted, &export);
    if (status == YOKE_OK)
        status = write_folder(yoke_args_value(args, "out"), yoke_args_value(args, "json"),
                              &export);
    yoke_export_free(&export);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_plan_free(plan);
    yoke_strings_free(&words);
    free(list);
    return status;
}

static bool known_target(const char *name)
{
    for (size_t i = 0; yoke_export_targets[i] != NULL; i++)
        if (strcmp(yoke_export_targets[i], name) == 0)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_export_command, argc, argv, &args, &code))
        return code;
    const char *to = yoke_args_value(&args, "to");
    if (args.positional_count != 1)
        code = yoke_usage_error(&yoke_export_command, "%s",
                                args.positional_count == 0 ? "no plan is given"
                                                           : "give one plan at a time");
    else if (to == NULL)
        code = yoke_usage_error(&yoke_export_command, "--to is missing");
    else if (!known_target(to))
        code = yoke_usage_error(&yoke_export_command,
                                "--to %s: expected one of megatron, flagscale, "
                                "deepspeed, torch, slurm, rankfile",
                                to);
    else if (yoke_args_value(&args, "out") == NULL)
        code = yoke_usage_error(&yoke_export_command, "--out is missing");
    else
        code = yoke_status_exit_code(export_plan(&args, args.positional[0]));
    yoke_args_free(&args);
    return code;
}
