/* SPDX-License-Identifier: Apache-2.0 */
/* yoke bench: does every live device here do what the library promises, and how fast?
 * And collectives: tools/bench_comm.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "hal/cts/cts.h"
#include "tools/bench_comm.h"
#include "tools/bench_hal.h"
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
     .help = "With --conformance: only cases whose names match one of these patterns or "
             "begin like one, with "
             "commas between; those after a '!' are left out: --filter 'queue/,!*-64m'."},
    {.name = "verbose",
     .help = "With --conformance: name each case on standard error before it runs: the "
             "last name is where a "
             "runtime crashed."},
    {.name = "ranks",
     .argument = "N",
     .help = "Start N processes here. Without it: the ranks of the launcher (mpirun, "
             "srun, or RANK and its kin), else 2 processes here.",
     .heading = "bench comm"},
    {.name = "min", .argument = "SIZE", .help = "Smallest size in bytes; default 8."},
    {.name = "max",
     .argument = "SIZE",
     .help = "Largest size; default 64M. K, M and G are powers of 1024."},
    {.name = "factor", .argument = "N", .help = "From size to size; default 2."},
    {.name = "iterations", .argument = "N", .help = "Calls that are timed; default 20."},
    {.name = "warm-up", .argument = "N", .help = "Calls before them; default 5."},
    {.name = "types",
     .argument = "TYPES",
     .help = "Element types, with commas between: f64, f32, f16, bf16, fp8-e4m3, "
             "fp8-e5m2, i8, u8, i32, u32, i64, u64; default f32."},
    {.name = "ops",
     .argument = "OPS",
     .help = "Reductions: sum, prod, max, min, avg; default sum."},
    {.name = "root", .argument = "RANK", .help = "Of those that have one; default 0."},
    {.name = "algorithm",
     .argument = "NAME",
     .help = "Force an algorithm of docs/comm.md; default: chosen by measurement."},
    {.name = "check",
     .help = "Compare each call on all ranks before data move, and time that too."},
    {.name = "timeout",
     .argument = "MS",
     .help = "Milliseconds that a call may take; default YOKE_COMM_TIMEOUT."},
    {.name = NULL},
};

const yoke_command_t yoke_bench_command = {
    .name = "bench",
    .summary = "measure devices or collectives through the library, or check devices",
    .usage = "yoke bench hal [--conformance] [DEVICE...] [options]\n"
             "yoke bench comm [COLLECTIVE...] [options]",
    .description =
        "Opens the named devices (cuda:0, opencl, hip:0000:41:00.0), or all that the "
        "runtimes of this machine offer, and measures what an enqueue costs on each: "
        "empty kernels, copies of 4 KiB to 64 MiB from and to ordinary host memory and "
        "within the device, recorded events. Figures are medians of 31 to 201 samples, "
        "the "
        "spread is half the distance of the quartiles. Copies are verified first. On "
        "OpenCL devices a raw OpenCL program runs beside it, sample by sample in turn; "
        "RATIO is Yoke's time over that program's, the median of neighbours' ratios, "
        "with its quartiles. Other work on the machine disturbs times much and ratios "
        "little.\n\n"
        "With --conformance the suite of the library's promises runs instead: copies, "
        "fills, order of queues, events, programs, pools, transfers, bad input. Cases "
        "that "
        "a device lacks the means for are unsupported; cases that are known to fail on "
        "a runtime are expected failures. Below the table stands how many of them have "
        "which reason; --json has it for each case. An expected "
        "failure that passes is reported too, since the list is then wrong.\n\n"
        "Vendors' libraries are loaded into this process. Where one crashes, --verbose "
        "shows in which case; `yoke inventory` finds libraries that crash at once.\n\n"
        "yoke bench comm times collectives among the ranks of a communicator, in the "
        "columns of nccl-tests: each size out of place and in place, the time of the "
        "slowest rank (the median over the calls), algorithm bandwidth (size over time), "
        "bus bandwidth (times 2(n-1)/n for all-reduce, (n-1)/n for all-gather, "
        "reduce-scatter, gather, scatter and all-to-all, 1 for broadcast and reduce), "
        "and "
        "how many elements of the result were wrong. COLLECTIVE: all-reduce (default), "
        "all-gather, reduce-scatter, broadcast, reduce, gather, scatter, all-to-all, "
        "barrier.\n\n"
        "Exit code 0: all is as promised; 1: a case failed; 4: a device could not be "
        "opened, or gave back other bytes than were written.",
    .examples = "yoke bench hal\n"
                "    times of all devices here\n"
                "yoke bench hal opencl:0 --json times.json\n"
                "    one device, as a document\n"
                "yoke bench hal --conformance\n"
                "    all devices here\n"
                "yoke bench hal --conformance opencl:0 --filter queue/,event/\n"
                "    two groups of cases on one device\n"
                "yoke bench hal --conformance --json report.json\n"
                "    all results as a document, to be sent along with a report\n"
                "yoke bench comm all-reduce all-to-all --ranks 4 --max 16M\n"
                "    4 processes of this host\n"
                "mpirun -n 8 yoke bench comm --types f32,bf16\n"
                "    the ranks of a launcher\n",
    .options = options,
    .run = run,
};

/* Cases of a device that did not run, or failed as expected, for one reason. */
typedef struct reason {
    char *text;
    yoke_cts_outcome_t outcome;
    size_t count;
} reason_t;

/* What one run of the command has so far. */
typedef struct bench {
    const yoke_args_t *args;
    const char *device;
    bool progress; /* a line on the terminal that is written over */
    json_t *devices, *cases;
    json_t *entry; /* of the device that is timed, in `devices` later */
    yoke_table_t *table;
    yoke_text_t notes;    /* lines under the table: why cases did not run */
    yoke_text_t findings; /* and then, what failed */
    reason_t *reasons;    /* of the device that is checked */
    size_t reason_count;
    size_t failed, unopened, rows;
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

static void count_reason(bench_t *bench, const yoke_cts_result_t *result)
{
    reason_t *reason = bench->reasons;
    for (size_t i = 0; i < bench->reason_count; i++, reason++)
        if (reason->outcome == result->outcome &&
            strcmp(reason->text, result->reason) == 0) {
            reason->count++;
            return;
        }
    char *text = yoke_strdup(result->reason);
    reason = realloc(bench->reasons, (bench->reason_count + 1) * sizeof *reason);
    if (reason != NULL)
        bench->reasons = reason;
    if (reason == NULL || text == NULL) {
        free(text);
        bench->notes.failed = true;
        return;
    }
    bench->reasons[bench->reason_count++] = (reason_t){text, result->outcome, 1};
}

/* Unsupported first, then by count; the rest keeps its order by the text. */
static int compare_reasons(const void *a, const void *b)
{
    const reason_t *x = a, *y = b;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void add_reasons(bench_t *bench)
{
    if (bench->reason_count > 0)
        qsort(bench->reasons, bench->reason_count, sizeof *bench->reasons,
              compare_reasons);
    for (size_t i = 0; i < bench->reason_count; i++) {
        const reason_t *reason = &bench->reasons[i];
        if (i == 0 || reason->outcome != reason[-1].outcome)
            yoke_text_printf(&bench->notes, "%s, %s:\n", bench->device,
                             outcome_word(reason->outcome));
        yoke_text_printf(&bench->notes, "%6zu  ", reason->count);
        yoke_wrap(reason->text, yoke_terminal_width(), 8, &bench->notes);
        yoke_text_add(&bench->notes, "\n");
    }
}

static void forget_reasons(bench_t *bench)
{
    for (size_t i = 0; i < bench->reason_count; i++)
        free(bench->reasons[i].text);
    free(bench->reasons);
    bench->reasons = NULL;
    bench->reason_count = 0;
}

/* Where no line is written over: that something goes on, in a log. */
static void say_begin(const bench_t *bench, const char *what)
{
    if (!bench->progress)
        fprintf(stderr, "%s: %s ...\n", bench->device, what);
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
    } else if (result->outcome != YOKE_CTS_PASS) {
        count_reason(bench, result);
    }
    if (bench->progress)
        fprintf(stderr, "\r\033[K%s: %zu of %zu cases", bench->device, result->index + 1,
                result->count);
}

static void add_row(bench_t *bench, const yoke_cts_summary_t *summary)
{
    bench->rows++;
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
    say_begin(bench, "conformance");
    yoke_status_t status = yoke_cts_run(&o, &summary);
    clear_progress(bench);
    if (status == YOKE_OK) {
        add_row(bench, &summary);
        add_counts(entry, &summary);
        add_reasons(bench);
        bench->failed += summary.failed + summary.unexpected_passes;
    } else {
        bench->unopened++;
        yoke_json_set_string(entry, "error", yoke_last_error());
    }
    forget_reasons(bench);
    json_object_set_new(entry, "cases", bench->cases);
    json_array_append_new(bench->devices, entry);
    return YOKE_OK;
}

/* --- times of one device -------------------------------------------------------------
 */

/* "12.3 us" */
static void show_time(double seconds, char text[16])
{
    if (seconds < 1e-3)
        yoke_snprintf(text, 16, "%.3g us", seconds * 1e6);
    else
        yoke_snprintf(text, 16, "%.3g ms", seconds * 1e3);
}

static void show_bytes(uint64_t bytes, char text[16])
{
    if (bytes >= 1u << 20)
        yoke_snprintf(text, 16, "%u MiB", (unsigned)(bytes >> 20));
    else
        yoke_snprintf(text, 16, "%u KiB", (unsigned)(bytes >> 10));
}

static void on_open(void *context, const yoke_device_info_t *info)
{
    bench_t *bench = context;
    yoke_json_set_string(bench->entry, "name", info->name);
    yoke_json_set_string(bench->entry, "version", info->version);
}

static void on_begin(void *context, yoke_bench_kind_t kind, uint64_t bytes)
{
    const bench_t *bench = context;
    char size[16] = "";
    if (!bench->progress)
        return;
    if (bytes > 0)
        show_bytes(bytes, size);
    fprintf(stderr, "\r\033[K%s: %s %s", bench->device, yoke_bench_kind_name(kind), size);
}

static void add_time_row(bench_t *bench, const yoke_bench_result_t *result)
{
    char text[16] = "";
    bench->rows++;
    yoke_table_cell(bench->table, bench->device);
    if (result->bytes > 0)
        show_bytes(result->bytes, text);
    yoke_table_cellf(bench->table, "%s%s%s", yoke_bench_kind_name(result->kind),
                     result->bytes > 0 ? " " : "", text);
    show_time(result->seconds, text);
    yoke_table_cell(bench->table, text);
    yoke_table_cellf(bench->table, "%.0f %%",
                     50 * (result->high - result->low) / result->seconds);
    if (!result->has_raw) {
        for (int i = 0; i < 3; i++)
            yoke_table_cell(bench->table, "");
        return;
    }
    show_time(result->raw_seconds, text);
    yoke_table_cell(bench->table, text);
    yoke_table_cellf(bench->table, "%.3f", result->ratio);
    yoke_table_cellf(bench->table, "%.3f-%.3f", result->ratio_low, result->ratio_high);
}

static void on_time(void *context, const yoke_bench_result_t *result)
{
    bench_t *bench = context;
    json_t *entry = json_object();
    yoke_json_set_string(entry, "enqueue", yoke_bench_kind_name(result->kind));
    if (result->bytes > 0)
        yoke_json_set_u64(entry, "bytes", result->bytes);
    yoke_json_set_number(entry, "seconds", result->seconds);
    yoke_json_set_number(entry, "seconds_low", result->low);
    yoke_json_set_number(entry, "seconds_high", result->high);
    if (result->has_raw) {
        yoke_json_set_number(entry, "opencl_seconds", result->raw_seconds);
        yoke_json_set_number(entry, "ratio", result->ratio);
        yoke_json_set_number(entry, "ratio_low", result->ratio_low);
        yoke_json_set_number(entry, "ratio_high", result->ratio_high);
    }
    json_array_append_new(bench->cases, entry);
    add_time_row(bench, result);
}

static yoke_status_t time_device(bench_t *bench, const char *device)
{
    const yoke_bench_sink_t sink = {on_open, on_begin, on_time, bench};
    bench->device = device;
    bench->cases = json_array();
    bench->entry = json_object();
    yoke_json_set_string(bench->entry, "device", device);
    say_begin(bench, "times");
    yoke_status_t status = yoke_bench_device(device, &sink);
    clear_progress(bench);
    if (status != YOKE_OK) {
        bench->unopened++;
        yoke_json_set_string(bench->entry, "error", yoke_last_error());
    }
    json_object_set_new(bench->entry, "times", bench->cases);
    json_array_append_new(bench->devices, bench->entry);
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
    if (bench->rows == 0 && bench->unopened > 0) /* its error was told */
        return YOKE_OK;
    yoke_table_print(bench->table, yoke_terminal_width(), 0, &text);
    yoke_text_add(&text, yoke_text_get(&bench->notes));
    yoke_text_add(&text, yoke_text_get(&bench->findings));
    yoke_status_t status = text.failed || bench->notes.failed || bench->findings.failed
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

static yoke_status_t choose_devices(const yoke_args_t *args, yoke_strings_t *out_names)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 1; i < args->positional_count && status == YOKE_OK; i++)
        status = yoke_strings_add(out_names, args->positional[i]);
    if (status == YOKE_OK && out_names->count == 0)
        status = list_devices(out_names);
    return status;
}

static yoke_status_t run_devices(const yoke_args_t *args, const char *const *headers,
                                 size_t columns,
                                 yoke_status_t (*run_device)(bench_t *, const char *))
{
    yoke_strings_t names = {0};
    bench_t bench = {.args = args, .devices = json_array()};
    bench.table = yoke_table_new(headers, columns);
    bench.progress = isatty(STDERR_FILENO) != 0 && !yoke_args_has(args, "verbose");
    yoke_status_t status = choose_devices(args, &names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++)
        status = run_device(&bench, names.items[i]);
    if (status == YOKE_OK)
        status = write_results(&bench);
    if (status == YOKE_OK && (bench.failed > 0 || bench.unopened > 0))
        status = bench.failed > 0 ? YOKE_ERR_NO : YOKE_ERR_SYSTEM;
    yoke_strings_free(&names);
    yoke_table_free(bench.table);
    yoke_text_free(&bench.notes);
    yoke_text_free(&bench.findings);
    json_decref(bench.devices);
    return status;
}

static yoke_status_t conformance(const yoke_args_t *args)
{
    static const char *const headers[] = {
        "DEVICE", "~NAME", ">CASES", ">PASSED", ">UNSUPPORTED", ">EXPECTED", ">FAILED"};
    return run_devices(args, headers, sizeof headers / sizeof headers[0], check_device);
}

static yoke_status_t times(const yoke_args_t *args)
{
    static const char *const headers[] = {"DEVICE",  "ENQUEUE", ">TIME",     ">SPREAD",
                                          ">OPENCL", ">RATIO",  ">QUARTILES"};
    return run_devices(args, headers, sizeof headers / sizeof headers[0], time_device);
}

/* --- command ------------------------------------------------------------------------ */

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_bench_command, argc, argv, &args, &code))
        return code;
    if (args.positional_count == 0)
        code = yoke_usage_error(&yoke_bench_command,
                                "say what: yoke bench hal, yoke bench comm");
    else if (strcmp(args.positional[0], "comm") == 0)
        code = yoke_bench_comm_run(&yoke_bench_command, &args);
    else if (strcmp(args.positional[0], "hal") != 0)
        code = yoke_usage_error(&yoke_bench_command,
                                "'%s' is nothing to bench; try hal or comm",
                                args.positional[0]);
    else if (yoke_args_has(&args, "conformance"))
        code = yoke_status_exit_code(conformance(&args));
    else if (yoke_args_has(&args, "filter") || yoke_args_has(&args, "verbose"))
        code = yoke_usage_error(&yoke_bench_command,
                                "--filter and --verbose are for --conformance");
    else
        code = yoke_status_exit_code(times(&args));
    yoke_args_free(&args);
    return code;
}
