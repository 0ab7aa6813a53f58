/* SPDX-License-Identifier: Apache-2.0 */
/* yoke inventory: what accelerators there are, what they can do, what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "inventory/catalog.h"
#include "inventory/operations.h"
#include "tools/inputs.h"
#include "tools/inventory_parts.h"

static const yoke_option_t options[] = {
    {.name = "measure",
     .help = "Time memory, copies and matrix products of the host and of every OpenCL "
             "device, "
             "about 10 s each. Results are checked against a reference.",
     .heading = "Where it comes from"},
    {.name = "sysroot",
     .argument = "DIR",
     .help =
         "Read a saved tree (sys, proc, etc below DIR) instead of this machine. Vendor "
         "libraries are listed then, not asked."},
    {.name = "backend",
     .argument = "NAME,...",
     .help = "Ask only these runtimes: cuda nvml hip level_zero opencl null, or none."},
    {.name = "timeout",
     .argument = "SECONDS",
     .help = "How long one vendor library may take to answer; 5 unless "
             "YOKE_PROBE_TIMEOUT says "
             "otherwise."},
    {.name = "gather",
     .help = "Run by every rank of srun, mpirun or torchrun: one inventory of all their "
             "nodes, "
             "written by rank 0."},
    {.name = "rendezvous",
     .argument = "DIR|HOST:PORT",
     .help =
         "Where the ranks of --gather meet: a folder that all nodes share, or an address "
         "of rank 0. Without it: MASTER_ADDR, Slurm's node list, or the temporary folder "
         "when all ranks run on one host."},
    {.name = "merge",
     .help = "Merge the inventory documents given as arguments; a folder stands for its "
             "*.json files. One document is fine: to change or to reformat it."},
    {.name = "expect",
     .argument = "HOSTLIST",
     .help = "With --merge and --gather: hosts that must be there, e.g. npu-[01-16]."},
    {.name = "as",
     .argument = "SELECTOR=NAME",
     .help = "Say what a device is, by its name in the catalog, e.g. "
             "'0000:c1:00.0=Ascend 910B3'. Can be repeated.",
     .heading = "What is changed in it"},
    {.name = "link",
     .argument = "SEL,SEL:KEY=VALUE,...",
     .help = "Say how two places are linked: kind=NAME, rate=RATE, latency=TIME. Can be "
             "repeated."},
    YOKE_OPTION_ASSUME,
    YOKE_OPTION_CATALOG,
    {.name = "redact",
     .help = "Replace host names, UUIDs and serial numbers by counters, to show it to "
             "others."},
    {.name = "require",
     .argument = "WHAT:COUNT",
     .help =
         "Exit with 1 unless there are so many devices that can be used: gpu:8, npu:2, "
         "any:1 (gpu or npu), cpu:1, or a selector, type:NAME:4. Can be repeated.",
     .heading = "What is asked of it"},
    {.name = "diff",
     .help = "Compare two documents given as arguments; exit with 1 when they differ."},
    {.name = "why",
     .help =
         "Explain what was not found: library, call, code. An argument names one probe, "
         "e.g. --why hip; without it, or with all, every probe is explained."},
    {.name = "format",
     .argument = "table|json|yaml|slurm|k8s|hostfile|mpi|prometheus",
     .help =
         "For whom: slurm is gres.conf and the node lines of slurm.conf; k8s a "
         "features.d file of node-feature-discovery, one block a node; hostfile the file "
         "of FlagScale (DeepSpeed reads it and ignores type=); mpi that of Open MPI's "
         "mpirun --hostfile; prometheus a textfile of node_exporter.",
     .heading = "Output"},
    {.name = "json",
     .argument = "FILE",
     .help = "Write the document to FILE and no table; - is standard output."},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help =
         "Write what --format says to FILE; with the table, the document goes there as "
         "well as the table to standard output."},
    {0}};

/* --- changes ------------------------------------------------------------------------ */

static yoke_status_t apply_each(const yoke_args_t *args, const char *option,
                                yoke_inventory_t *inventory,
                                yoke_status_t (*apply)(yoke_inventory_t *, const char *))
{
    yoke_status_t status = YOKE_OK;
    const char *value;
    for (size_t i = 0;
         status == YOKE_OK && (value = yoke_args_nth(args, option, i)) != NULL; i++)
        status = apply(inventory, value);
    return status;
}

/* Names first, since figures of the catalog follow from them; what the user says last. */
static yoke_status_t change(const yoke_args_t *args, yoke_inventory_t *inventory)
{
    const yoke_catalog_t *catalog = NULL;
    yoke_status_t status = apply_each(args, "as", inventory, yoke_inventory_rename);
    if (status == YOKE_OK)
        status = yoke_catalog_default(&catalog);
    if (status == YOKE_OK)
        status = yoke_catalog_join_inventory(catalog, inventory);
    if (status == YOKE_OK)
        status = apply_each(args, "link", inventory, yoke_inventory_link);
    if (status == YOKE_OK)
        status = apply_each(args, "assume", inventory, yoke_inventory_assume);
    if (status == YOKE_OK && yoke_args_has(args, "redact"))
        status = yoke_inventory_redact(inventory);
    return status;
}

/* --- output ------------------------------------------------------------------------- */

static yoke_status_t write_format(const yoke_inventory_t *inventory, const char *format,
                                  const char *path)
{
    char *text = NULL;
    yoke_status_t status =
        yoke_inventory_format(inventory, format, yoke_terminal_width(), &text);
    if (status == YOKE_OK)
        status = yoke_write_output(path, text);
    free(text);
    return status;
}

static yoke_status_t write_table(const yoke_args_t *args,
                                 const inventory_result_t *result)
{
    size_t width = yoke_terminal_width();
    yoke_text_t out = {0};
    char *table = NULL;
    const char *probe = args->positional_count > 0 && !yoke_args_has(args, "merge")
                            ? args->positional[0]
                            : NULL;
    yoke_status_t status =
        yoke_inventory_format(result->inventory, "table", width, &table);
    if (status != YOKE_OK)
        return status;
    yoke_text_add(&out, table);
    free(table);
    yoke_inventory_print_measurements(&result->measurements, width, &out);
    if (yoke_args_has(args, "why"))
        status = yoke_inventory_print_why(result->inventory, probe, width, &out);
    else if (!yoke_args_has(args, "merge"))
        yoke_inventory_print_hint(result->inventory, &out);
    else if (yoke_inventory_has_fault(result->inventory))
        yoke_text_add(&out, "\nSomething failed on these nodes: --why says more.\n");
    if (status == YOKE_OK)
        status =
            out.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&out));
    yoke_text_free(&out);
    return status;
}

static yoke_status_t write_result(const yoke_args_t *args,
                                  const inventory_result_t *result)
{
    const char *format = yoke_args_value(args, "format");
    const char *json = yoke_args_value(args, "json");
    const char *output = yoke_args_value(args, "output");
    bool table = format == NULL || strcmp(format, "table") == 0;
    yoke_status_t status = YOKE_OK;
    if (json != NULL)
        status = write_format(result->inventory, "json", json);
    if (status == YOKE_OK && output != NULL)
        status = write_format(result->inventory, table ? "json" : format, output);
    if (status != YOKE_OK || json != NULL || (output != NULL && strcmp(output, "-") == 0))
        return status;
    if (table)
        return write_table(args, result);
    return output != NULL ? YOKE_OK : write_format(result->inventory, format, "-");
}

/* --- the command -------------------------------------------------------------------- */

static bool is_format(const char *name)
{
    for (size_t i = 0; yoke_inventory_formats[i] != NULL; i++)
        if (strcmp(yoke_inventory_formats[i], name) == 0)
            return true;
    return false;
}

/* 0, or the exit code of a usage error that was told. */
static int check_options(const yoke_args_t *args)
{
    static const char *const sources[] = {"merge", "gather", "diff", "sysroot"};
    const char *format = yoke_args_value(args, "format"), *first = NULL;
    bool takes_files = yoke_args_has(args, "merge") || yoke_args_has(args, "diff");
    for (size_t i = 0; i < 4; i++) {
        if (!yoke_args_has(args, sources[i]))
            continue;
        if (first != NULL)
            return yoke_usage_error(args->command, "--%s and --%s exclude each other",
                                    first, sources[i]);
        first = sources[i];
    }
    if (format != NULL && !is_format(format)) {
        const char *nearest = yoke_nearest(format, yoke_inventory_formats);
        return yoke_usage_error(args->command, "no format is called '%s'%s%s%s", format,
                                nearest != NULL ? " (did you mean '" : "",
                                nearest != NULL ? nearest : "",
                                nearest != NULL ? "'?)" : "");
    }
    if (yoke_args_has(args, "measure") && first != NULL && strcmp(first, "gather") != 0)
        return yoke_usage_error(args->command,
                                "--measure needs the running machine, not --%s", first);
    if (yoke_args_has(args, "expect") && !yoke_args_has(args, "merge") &&
        !yoke_args_has(args, "gather"))
        return yoke_usage_error(args->command, "--expect goes with --merge or --gather");
    if (yoke_args_has(args, "rendezvous") && !yoke_args_has(args, "gather"))
        return yoke_usage_error(args->command, "--rendezvous goes with --gather");
    if (!takes_files && args->positional_count > (yoke_args_has(args, "why") ? 1 : 0))
        return yoke_usage_error(args->command,
                                "what is '%s'? Files go with --merge or --diff",
                                args->positional[yoke_args_has(args, "why") ? 1 : 0]);
    return 0;
}

static yoke_status_t find_source(const yoke_args_t *args, inventory_result_t *result)
{
    if (yoke_args_has(args, "merge"))
        return yoke_inventory_from_files(args, result);
    if (yoke_args_has(args, "gather"))
        return yoke_inventory_from_ranks(args, result);
    return yoke_inventory_from_machine(args, result);
}

/* NO when a requirement is not met; USAGE for a malformed one. */
static yoke_status_t check_requirements(const yoke_args_t *args,
                                        const yoke_inventory_t *inventory)
{
    yoke_status_t answer = YOKE_OK;
    const char *requirement;
    for (size_t i = 0; (requirement = yoke_args_nth(args, "require", i)) != NULL; i++) {
        yoke_status_t status = yoke_inventory_require(inventory, requirement);
        if (status != YOKE_OK && status != YOKE_ERR_NO)
            return status;
        answer = status == YOKE_ERR_NO ? YOKE_ERR_NO : answer;
    }
    return answer;
}

/* The answer "no" still shows what there is. */
static yoke_status_t finish(const yoke_args_t *args, const inventory_result_t *result)
{
    yoke_status_t answer, status = change(args, result->inventory);
    if (status != YOKE_OK)
        return status;
    answer = check_requirements(args, result->inventory);
    if (answer == YOKE_OK || answer == YOKE_ERR_NO)
        status = write_result(args, result);
    if (status != YOKE_OK)
        return status;
    return answer == YOKE_OK && result->partial ? YOKE_ERR_PARTIAL : answer;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    inventory_result_t result = {0};
    int code = 0;
    if (!yoke_args_parse(&yoke_inventory_command, argc, argv, &args, &code))
        return code;
    code = check_options(&args);
    if (code == 0 && yoke_args_has(&args, "diff")) {
        code = yoke_inventory_run_diff(&args);
    } else if (code == 0) {
        yoke_status_t status = yoke_input_catalog(&args);
        if (status == YOKE_OK)
            status = find_source(&args, &result);
        if (status == YOKE_OK && result.inventory != NULL)
            status = finish(&args, &result);
        code = yoke_status_exit_code(status);
    }
    yoke_measurements_free(&result.measurements);
    yoke_inventory_free(result.inventory);
    yoke_args_free(&args);
    return code;
}

const yoke_command_t yoke_inventory_command = {
    .name = "inventory",
    .summary = "What accelerators there are, what they can do, and what is wrong",
    .usage = "yoke inventory [--measure] [options]\n"
             "yoke inventory --merge FILE|DIR... [--expect HOSTLIST] [options]\n"
             "yoke inventory --diff BEFORE AFTER",
    .description =
        "Lists the accelerators of this machine, whichever runtime sees them: every "
        "physical "
        "device once, with its memory (total, free, usable), its rates and where each "
        "figure "
        "comes from, the runtimes that see it, what an environment variable hides, and "
        "the "
        "network interfaces near to it.\n\n"
        "The kernel is asked first; then every vendor library and every OpenCL vendor "
        "file is "
        "asked by a process of its own with a deadline, so that none of them can crash "
        "or "
        "hang the rest. What failed is named; --why tells library, call and code.",
    .examples =
        "yoke inventory --measure\n    this machine, with measured rates\n"
        "yoke inventory --json this.json\n    the document that yoke plan reads\n"
        "srun yoke inventory --gather -o cluster.json\n    all nodes of a Slurm job\n"
        "yoke inventory --merge nodes/ --expect 'npu-[01-16]'\n    documents of many "
        "nodes\n"
        "yoke inventory --require gpu:8 --why\n    is this node complete, and if not, "
        "why?\n",
    .options = options,
    .run = run};
