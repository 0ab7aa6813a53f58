/* SPDX-License-Identifier: Apache-2.0 */
/* yoke plan: how to split this model over this cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"
#include "partition/document.h"
#include "partition/plan_print.h"
#include "tools/inputs.h"
#include "tools/plan_baseline.h"
#include "tools/plan_next.h"

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
    YOKE_OPTION_PROFILE,
    {.name = "nodes", .argument = "HOSTLIST", .help = "Plan on these hosts only."},
    {.name = "exclude",
     .argument = "SELECTOR",
     .help = "Leave devices out, e.g. type:V100-SXM2-32GB or 'host:n[01-02]'. Can be "
             "repeated."},
    {.name = "memory",
     .argument = "free|usable|FRACTION",
     .help = "Memory that a plan may take: what is free now, what a device can give when "
             "idle "
             "(the default), or a fraction of the total such as 0.92."},
    {.name = "global-batch",
     .argument = "SAMPLES",
     .help = "Samples of one step over all devices. Default: 512.",
     .heading = "Job"},
    {.name = "seq", .argument = "TOKENS", .help = "Tokens of a sample. Default: 4096."},
    {.name = "dtype",
     .argument = "bf16|fp16|fp8|fp32|tf32|fp64",
     .help = "Data type of weights and compute. Default: bf16. "
             "Devices that cannot compute in it are left out and named."},
    {.name = "optimizer",
     .argument = "adam|sgd|none",
     .help = "Optimizer whose state is kept. Default: adam."},
    {.name = "task",
     .argument = "train",
     .help = "What the plan is for. Only train is planned in this version."},
    {.name = "for",
     .argument = "yoke|megatron|flagscale|deepspeed|torch",
     .help = "Runtime whose rules the plan keeps: megatron, flagscale, deepspeed, torch, "
             "or yoke (no rules; the default). The plan says what they cost."},
    {.name = "baseline",
     .argument = "SCRIPT|PLAN",
     .help =
         "Your present run, to stand beside the plan with its predicted time: a plan "
         "document, or a launch script of Megatron-LM, which is read and never run. "
         "Batch, sequence, data type and optimizer are taken from it where not given."},
    {.name = "from",
     .argument = "megatron",
     .help = "Form of the script of --baseline. Default: by its content."},
    {.name = "baseline-log",
     .argument = "FILE",
     .help = "Its training log: the measured time of a step stands beside the predicted "
             "one."},
    {.name = "micro-batch",
     .argument = "SAMPLES",
     .help = "Samples of one micro-batch. Default: searched.",
     .heading = "Restrictions (searched where not given)"},
    {.name = "recompute",
     .argument = "none|selective|full|auto",
     .help = "Recomputation."},
    {.name = "shard-optimizer",
     .argument = "auto|on|off",
     .help = "Split the optimizer state over the data-parallel replicas."},
    {.name = "fix",
     .argument = "LIST",
     .help = "Fixed degrees, separated by commas: tp=4, dp=2, stages=4, micro-batch=1, "
             "or for "
             "one type type:NAME:tp=8. Can be repeated."},
    {.name = "stages", .argument = "N", .help = "Number of pipeline stages."},
    {.name = "split",
     .argument = "LIST",
     .help =
         "Decoder layers of each stage, e.g. 27,27,27. Embedding and head stay with the "
         "first and the last stage."},
    {.name = "shapes",
     .argument = "N",
     .help = "Most distinct pipeline shapes in one plan (1 or 2). Default: 2."},
    {.name = "effort",
     .argument = "N",
     .help =
         "Nodes of the exact search. A count, never a clock: the same plan everywhere."},
    {.name = "json",
     .argument = "FILE",
     .help =
         "Write the plan document to FILE ('-': standard output) instead of the table.",
     .heading = "Output"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write the plan document to FILE and print the table as well."},
    {.name = NULL},
};

const yoke_command_t yoke_plan_command = {
    .name = "plan",
    .summary = "how to split a model over a mixed cluster, how fast, and why",
    .usage = "yoke plan --model MODEL --cluster CLUSTER [options]",
    .description =
        "Searches pipeline cuts, tensor-parallel degrees for each type of device, "
        "data-parallel "
        "shares, micro-batch size, recomputation and optimizer sharding for the shortest "
        "training step that fits the memory of every device. Unlike devices get unlike "
        "work.\n\n"
        "Every time shown is the event simulator's. The plan states a lower bound on the "
        "step "
        "time of any plan of its kind and the gap to it. Rates that nobody knows are "
        "asked for, "
        "never guessed.",
    .examples = "yoke plan -m llama-3.1-8b -c a100-v100 --dtype fp16\n"
                "    a bundled model on a bundled cluster\n"
                "yoke plan -m ./config.json -o plan.json \\\n"
                "    -c \"2x8xH100-SXM5-80GB + 4x8xA100-SXM4-80GB; nic=400Gb\"\n"
                "    a cluster in one line; keep the plan document\n"
                "yoke inventory --json here.json && \\\n"
                "    yoke plan -m gpt2 -c here.json --dtype fp32\n"
                "    on this very machine\n",
    .options = options,
    .run = run,
};

/* Lists of --fix and --exclude, ended by NULL. */
typedef struct lists {
    yoke_strings_t fix, exclude;
    const char **fix_items, **exclude_items;
} lists_t;

static int whole(const yoke_args_t *args, const char *name, uint64_t max, uint64_t *out)
{
    const char *text = yoke_args_value(args, name);
    if (text == NULL || yoke_parse_u64(text, strlen(text), 1, max, out))
        return 0;
    return yoke_usage_error(&yoke_plan_command,
                            "--%s %s: expected a whole number from 1 to %llu", name, text,
                            (unsigned long long)max);
}

static int one_fix(yoke_plan_options_t *out, const char *item, size_t size,
                   lists_t *lists)
{
    static const char *const names[] = {"tp=", "dp=", "stages=", "micro-batch="};
    uint64_t *const targets[] = {&out->tp, &out->dp, &out->stages, &out->micro_batch};
    for (size_t i = 0; i < 4; i++) {
        size_t length = strlen(names[i]);
        if (size >= length && strncmp(item, names[i], length) == 0) {
            uint64_t value = 0, before = *targets[i];
            if (!yoke_parse_u64(item + length, size - length, 1, 1000000, &value))
                return yoke_usage_error(
                    &yoke_plan_command,
                    "--fix %.*s: expected a whole number from 1 to 1000000", (int)size,
                    item);
            if (before != 0 && before != value)
                return yoke_usage_error(
                    &yoke_plan_command,
                    "--fix %.*s: %llu is asked for as well; give one of them", (int)size,
                    item, (unsigned long long)before);
            *targets[i] = value;
            return 0;
        }
    }
    char *copy = yoke_strndup(item, size);
    yoke_status_t status =
        copy ? yoke_strings_add(&lists->fix, copy) : yoke_fail_memory();
    free(copy);
    return yoke_status_exit_code(status);
}

static int read_fixes(const yoke_args_t *args, yoke_plan_options_t *out, lists_t *lists)
{
    const char *text;
    for (size_t i = 0; (text = yoke_args_nth(args, "fix", i)) != NULL; i++)
        while (true) {
            size_t size = strcspn(text, ",");
            int code = one_fix(out, text, size, lists);
            if (code != 0)
                return code;
            if (text[size] == '\0')
                break;
            text += size + 1;
        }
    return 0;
}

static int read_lists(const yoke_args_t *args, yoke_plan_options_t *out, lists_t *lists)
{
    const char *text;
    for (size_t i = 0; (text = yoke_args_nth(args, "exclude", i)) != NULL; i++)
        if (yoke_strings_add(&lists->exclude, text) != YOKE_OK)
            return 4;
    int code = read_fixes(args, out, lists);
    if (code != 0)
        return code;
    lists->fix_items = calloc(lists->fix.count + 1, sizeof *lists->fix_items);
    lists->exclude_items = calloc(lists->exclude.count + 1, sizeof *lists->exclude_items);
    if (lists->fix_items == NULL || lists->exclude_items == NULL)
        return yoke_status_exit_code(yoke_fail_memory());
    for (size_t i = 0; i < lists->fix.count; i++)
        lists->fix_items[i] = lists->fix.items[i];
    for (size_t i = 0; i < lists->exclude.count; i++)
        lists->exclude_items[i] = lists->exclude.items[i];
    out->fix = lists->fix.count > 0 ? lists->fix_items : NULL;
    out->exclude = lists->exclude.count > 0 ? lists->exclude_items : NULL;
    return 0;
}

static void lists_free(lists_t *lists)
{
    yoke_strings_free(&lists->fix);
    yoke_strings_free(&lists->exclude);
    free(lists->fix_items);
    free(lists->exclude_items);
}

static int choice(const yoke_args_t *args, const char *name, const char *const *words,
                  int *out_index)
{
    const char *text = yoke_args_value(args, name);
    if (text == NULL)
        return 0;
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0) {
            *out_index = i;
            return 0;
        }
    yoke_text_t list = {0};
    for (int i = 0; words[i] != NULL; i++)
        yoke_text_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    int code = yoke_usage_error(&yoke_plan_command, "--%s %s: expected %s%s", name, text,
                                words[1] != NULL ? "one of " : "", yoke_text_get(&list));
    yoke_text_free(&list);
    return code;
}

static int read_words(const yoke_args_t *args, yoke_plan_options_t *out)
{
    static const char *const recompute[] = {"none", "selective", "full", "auto", NULL};
    static const char *const shard[] = {"auto", "off", "on", NULL};
    static const char *const optimizer[] = {"adam", "sgd", "none", NULL};
    static const char *const tasks[] = {"train", NULL};
    static const char *const forms[] = {"megatron", NULL};
    int values[] = {YOKE_RECOMPUTE_AUTO, YOKE_AUTO, YOKE_OPTIMIZER_ADAM, 0, 0};
    int code = choice(args, "recompute", recompute, &values[0]);
    code = code ? code : choice(args, "shard-optimizer", shard, &values[1]);
    code = code ? code : choice(args, "optimizer", optimizer, &values[2]);
    code = code ? code : choice(args, "task", tasks, &values[3]);
    code = code ? code : choice(args, "from", forms, &values[4]);
    out->recompute = (yoke_recompute_t)values[0];
    out->sharded_optimizer = (yoke_choice3_t)values[1];
    out->optimizer = (yoke_optimizer_t)values[2];
    return code;
}

static int read_options(const yoke_args_t *args, yoke_plan_options_t *out, lists_t *lists)
{
    uint64_t shapes = 0;
    int code = whole(args, "global-batch", 1u << 24, &out->global_batch);
    code = code ? code : whole(args, "seq", 1u << 24, &out->sequence);
    code = code ? code : whole(args, "micro-batch", 1u << 20, &out->micro_batch);
    code = code ? code : whole(args, "stages", 1u << 16, &out->stages);
    code = code ? code : whole(args, "shapes", 2, &shapes);
    code = code ? code : whole(args, "effort", UINT64_C(1) << 50, &out->effort);
    code = code ? code : read_words(args, out);
    code = code ? code : read_lists(args, out, lists);
    if (code != 0)
        return code;
    out->max_shapes = (unsigned)shapes;
    out->split = yoke_args_value(args, "split");
    out->nodes = yoke_args_value(args, "nodes");
    out->runtime = yoke_args_value(args, "for");
    const char *dtype = yoke_args_value(args, "dtype");
    if (dtype != NULL &&
        (!yoke_dtype_parse(dtype, &out->dtype) || out->dtype == YOKE_INT8))
        return yoke_usage_error(
            &yoke_plan_command,
            "--dtype %s: expected bf16, fp16, fp8, fp32, tf32 or fp64", dtype);
    const char *memory = yoke_args_value(args, "memory");
    if (memory != NULL &&
        !yoke_memory_policy_parse(memory, &out->memory, &out->memory_fraction))
        return yoke_usage_error(
            &yoke_plan_command,
            "--memory %s: expected free, usable or a fraction above 0 and at most 1",
            memory);
    return 0;
}

/* The command as typed, quoted as a shell needs it, for made_by. */
static char *command_text(int argc, char **argv)
{
    yoke_text_t text = {0};
    yoke_text_add(&text, "yoke plan");
    for (int i = 1; i < argc; i++) {
        yoke_text_add(&text, " ");
        yoke_quote_word(argv[i], &text);
    }
    char *copy = text.failed ? NULL : yoke_strdup(yoke_text_get(&text));
    yoke_text_free(&text);
    return copy;
}

/* What was asked to stand beside the plan, in full: the table has no room for it. */
static void print_compared(const yoke_plan_t *plan, yoke_text_t *text)
{
    bool first = true;
    for (size_t i = 0; i < plan->alternative_count; i++) {
        const yoke_plan_alternative_t *other = &plan->alternatives[i];
        char time[32];
        if (strncmp(other->kind, "without the rules", 17) != 0 &&
            strncmp(other->kind, "present run", 11) != 0)
            continue;
        if (first)
            yoke_print_heading("Compared", text);
        first = false;
        char *line = yoke_format(
            "%s: %s; %s", other->kind,
            other->feasible ? yoke_show_seconds(other->iteration_time, time) : "no",
            other->why);
        if (line != NULL)
            yoke_print_paragraph(line, yoke_terminal_width(), 2, text);
        text->failed = text->failed || line == NULL;
        free(line);
    }
}

static yoke_status_t write_plan(const yoke_args_t *args, const yoke_plan_t *plan,
                                const yoke_model_t *model)
{
    const char *json = yoke_args_value(args, "json");
    const char *output = yoke_args_value(args, "output");
    char *document = NULL;
    yoke_status_t status = YOKE_OK;
    if (json != NULL || output != NULL)
        status = yoke_plan_text(plan, &document);
    if (status == YOKE_OK && json != NULL)
        status = yoke_write_output(json, document);
    if (status == YOKE_OK && output != NULL)
        status = yoke_write_output(output, document);
    free(document);
    if (status != YOKE_OK || json != NULL || (output != NULL && strcmp(output, "-") == 0))
        return status;
    yoke_text_t text = {0};
    status = yoke_plan_print(plan, model, yoke_terminal_width(), &text);
    print_compared(plan, &text);
    yoke_print_next(args, yoke_terminal_width(), &text);
    if (status == YOKE_OK)
        status = yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

static yoke_status_t plan_and_write(const yoke_args_t *args,
                                    const yoke_plan_options_t *wanted)
{
    yoke_plan_options_t job = *wanted;
    yoke_baseline_t baseline = {0};
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_plan_t *plan = NULL;
    yoke_status_t status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    if (status == YOKE_OK)
        status = yoke_baseline_read(args, model, inventory, &job, &baseline);
    if (status == YOKE_OK)
        status = yoke_plan_search(model, inventory, &job, &plan);
    if (status == YOKE_OK)
        status = yoke_baseline_add(args, &baseline, plan);
    if (status == YOKE_OK)
        status = write_plan(args, plan, model);
    yoke_plan_free(plan);
    yoke_plan_free(baseline.plan);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    return status;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_plan_command, argc, argv, &args, &code))
        return code;
    yoke_plan_options_t wanted;
    yoke_plan_options_init(&wanted);
    lists_t lists = {0};
    char *command = command_text(argc, argv);
    wanted.command = command;
    if (args.positional_count > 0)
        code = yoke_usage_error(&yoke_plan_command, "unexpected argument '%s'",
                                args.positional[0]);
    else if (yoke_args_value(&args, "model") == NULL)
        code = yoke_usage_error(&yoke_plan_command, "--model is missing");
    else if (yoke_args_value(&args, "cluster") == NULL)
        code = yoke_usage_error(&yoke_plan_command, "--cluster is missing");
    else
        code = read_options(&args, &wanted, &lists);
    if (code == 0)
        code = yoke_status_exit_code(plan_and_write(&args, &wanted));
    lists_free(&lists);
    free(command);
    yoke_args_free(&args);
    return code;
}
