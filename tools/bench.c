/* SPDX-License-Identifier: Apache-2.0 */
/* yoke bench: does every live device here do what the library promises, and how fast? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "hal/cts/cts.h"
#include "tools/cli.h"
#include "yoke/device.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "conformance",
     .help = "Run the conformance suite: every promise of the library's headers, as "
             "several hundred small cases.",
     .heading = "What is run"},
    {.name = "filter",
     .argument = "PATTERNS",
     .help = "Only cases whose names match one of these patterns or begin like one, with "
             "commas between; those after a '!' are left out: --filter 'queue/,!*-64m'."},
    {.name = "verbose",
     .help = "Name each case on standard error before it runs: the last name is where a "
             "runtime crashed."},
    {.name = NULL},
};

const yoke_command_t yoke_bench_command = {
    .name = "bench",
    .summary = "check the devices of this machine against what the library promises",
    .usage = "yoke bench hal --conformance [DEVICE...] [options]",
    .description =
        "Opens the named devices (cuda:0, opencl, hip:0000:41:00.0), or all that the "
        "runtimes of this machine offer, and runs the conformance suite on each: copies, "
        "fills, order of queues, events, programs, pools, transfers, bad input. Cases "
        "that "
        "a device lacks the means for are unsupported, with the reason; cases that are "
        "known to fail on a runtime are expected failures, with the reason. An expected "
        "failure that passes is reported too, since the list is then wrong.\n\n"
        "Vendors' libraries are loaded into this process. Where one crashes, --verbose "
        "shows in which case; `yoke inventory` finds libraries that crash at once.\n\n"
        "Exit code 0: all is as promised; 1: a case failed; 4: a device could not be "
        "opened.",
    .examples = "yoke bench hal --conformance\n"
                "    all devices here\n"
                "yoke bench hal --conformance opencl:0 --filter queue/,event/\n"
                "    two groups of cases on one device\n"
                "yoke bench hal --conformance --json report.json\n"
                "    all results as a document, to be sent along with a report\n",
    .options = options,
    .run = run,
};

/* What one run of the command has so far. */
typedef struct bench {
    const yoke_args_t *args;
    const char *device;
    bool progress; /* a line on the terminal that is written over */
    json_t *devices, *cases;
    yoke_table_t *table;
    yoke_text_t findings; /* lines under the table */
    size_t failed, unopened;
} bench_t;

/* --- one device --------------------------------------------------------------------- */

static void clear_progress(const bench_t *bench)
{
    if (bench->progress)
        fputs("\r\033[K", stderr);
}

static const char *outcome_word(yoke_cts_outcome_t outcome)
{
    static const char *const words[] = {"passed", "failed", "unsupported",
                                        "expected failure", "unexpected pass"};
    return words[outcome];
}

static void on_result(void *context, const yoke_cts_result_t *result)
{
    bench_t *bench = context;
    json_t *entry = json_object();
    yoke_json_set_string(entry, "case", result->name);
    yoke_json_set_string(entry, "outcome", outcome_word(result->outcome));
    yoke_json_set_string(entry, "reason",
                         result->reason[0] != '\0' ? result->reason : NULL);
    json_array_append_new(bench->cases, entry);
    if (result->outcome == YOKE_CTS_FAIL || result->outcome == YOKE_CTS_UNEXPECTED_PASS) {
        yoke_text_printf(&bench->findings, "%s: ", bench->device);
        yoke_text_t line = {0};
        yoke_text_printf(&line, "%s: %s: %s", outcome_word(result->outcome), result->name,
                         result->reason);
        yoke_wrap(yoke_text_get(&line), yoke_terminal_width(), 4, &bench->findings);
        yoke_text_add(&bench->findings, "\n");
        yoke_text_free(&line);
    }
    if (bench->progress)
        fprintf(stderr, "\r\033[K%s: %zu of %zu cases", bench->device, result->index + 1,
                result->count);
}

static void add_row(bench_t *bench, const yoke_cts_summary_t *summary)
{
    yoke_table_cell(bench->table, bench->device);
    yoke_table_cell(bench->table, summary->device);
    yoke_table_cellf(bench->table, "%zu", summary->count);
    yoke_table_cellf(bench->table, "%zu", summary->passed);
    yoke_table_cellf(bench->table, "%zu", summary->unsupported);
    yoke_table_cellf(bench->table, "%zu", summary->expected_failures);
    yoke_table_cellf(bench->table, "%zu", summary->failed + summary->unexpected_passes);
}

static void add_counts(json_t *entry, const yoke_cts_summary_t *summary)
{
    yoke_json_set_string(entry, "name", summary->device);
    yoke_json_set_string(entry, "version", summary->version);
    yoke_json_set_u64(entry, "count", summary->count);
    yoke_json_set_u64(entry, "passed", summary->passed);
    yoke_json_set_u64(entry, "failed", summary->failed);
    yoke_json_set_u64(entry, "unsupported", summary->unsupported);
    yoke_json_set_u64(entry, "expected_failures", summary->expected_failures);
    yoke_json_set_u64(entry, "unexpected_passes", summary->unexpected_passes);
}

/* Only a filter that matches nothing ends the whole run. */
static yoke_status_t check_device(bench_t *bench, const char *device)
{
    yoke_cts_summary_t summary = {0};
    yoke_cts_options_t o = {.device = device,
                            .filter = yoke_args_value(bench->args, "filter"),
                            .verbose = yoke_args_has(bench->args, "verbose"),
                            .on_result = on_result,
                            .context = bench};
    json_t *entry = json_object();
    bench->device = device;
    bench->cases = json_array();
    yoke_json_set_string(entry, "device", device);
    yoke_status_t status = yoke_cts_run(&o, &summary);
    clear_progress(bench);
    if (status == YOKE_OK) {
        add_row(bench, &summary);
        add_counts(entry, &summary);
        bench->failed += summary.failed + summary.unexpected_passes;
    } else {
        bench->unopened++;
        yoke_json_set_string(entry, "error", yoke_last_error());
    }
    json_object_set_new(entry, "cases", bench->cases);
    json_array_append_new(bench->devices, entry);
    return YOKE_OK;
}

/* --- all devices -------------------------------------------------------------------- */

static void drop_line(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

/* The null backend is there to be cloned: it is checked only when it is named. */
static yoke_status_t list_devices(yoke_strings_t *out_names)
{
    const char *const *backends = NULL;
    size_t count = 0;
    yoke_status_t status = yoke_backends_list(&backends, &count);
    yoke_log_set_sink(drop_line, NULL); /* a library that is not there is no failure */
    for (size_t i = 0; i < count && status == YOKE_OK; i++) {
        uint32_t devices = 0;
        if (strcmp(backends[i], "null") == 0 ||
            yoke_device_count(backends[i], &devices) != YOKE_OK)
            continue;
        for (uint32_t d = 0; d < devices && status == YOKE_OK; d++) {
            char *name = yoke_format("%s:%u", backends[i], (unsigned)d);
            status =
                name != NULL ? yoke_strings_add(out_names, name) : yoke_fail_memory();
            free(name);
        }
    }
    yoke_log_set_sink(NULL, NULL);
    return status;
}

static yoke_status_t write_text(bench_t *bench)
{
    yoke_text_t text = {0};
    yoke_table_print(bench->table, yoke_terminal_width(), 0, &text);
    yoke_text_add(&text, yoke_text_get(&bench->findings));
    yoke_status_t status = text.failed || bench->findings.failed
                               ? yoke_fail_memory()
                               : yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

static yoke_status_t write_results(bench_t *bench)
{
    const char *path = yoke_args_value(bench->args, "json");
    if (path == NULL)
        return write_text(bench);
    json_t *root = json_object();
    yoke_json_set_string(root, "yoke", yoke_version());
    json_object_set(root, "devices", bench->devices);
    yoke_status_t status = yoke_json_write(path, root);
    json_decref(root);
    return status;
}

static yoke_status_t conformance(const yoke_args_t *args)
{
    static const char *const headers[] = {
        "DEVICE", "~NAME", ">CASES", ">PASSED", ">UNSUPPORTED", ">EXPECTED", ">FAILED"};
    yoke_strings_t names = {0};
    bench_t bench = {.args = args, .devices = json_array()};
    bench.table = yoke_table_new(headers, sizeof headers / sizeof headers[0]);
    bench.progress = isatty(STDERR_FILENO) != 0 && !yoke_args_has(args, "verbose");
    yoke_status_t status = YOKE_OK;
    for (size_t i = 1; i < args->positional_count && status == YOKE_OK; i++)
        status = yoke_strings_add(&names, args->positional[i]);
    if (status == YOKE_OK && names.count == 0)
        status = list_devices(&names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++)
        status = check_device(&bench, names.items[i]);
    if (status == YOKE_OK)
        status = write_results(&bench);
    if (status == YOKE_OK && (bench.failed > 0 || bench.unopened > 0))
        status = bench.failed > 0 ? YOKE_ERR_NO : YOKE_ERR_SYSTEM;
    yoke_strings_free(&names);
    yoke_table_free(bench.table);
    yoke_text_free(&bench.findings);
    json_decref(bench.devices);
    return status;
}

/* --- command ------------------------------------------------------------------------ */

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_bench_command, argc, argv, &args, &code))
        return code;
    if (args.positional_count == 0)
        code = yoke_usage_error(&yoke_bench_command, "say what: yoke bench hal");
    else if (strcmp(args.positional[0], "hal") != 0)
        code = yoke_usage_error(&yoke_bench_command, "'%s' is nothing to bench; try hal",
                                args.positional[0]);
    else if (!yoke_args_has(&args, "conformance"))
        /* Measuring the layer itself comes here. */
        code = yoke_usage_error(&yoke_bench_command,
                                "measuring is not there yet; give --conformance");
    else
        code = yoke_status_exit_code(conformance(&args));
    yoke_args_free(&args);
    return code;
}
