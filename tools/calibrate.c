/* SPDX-License-Identifier: Apache-2.0 */
/* yoke calibrate: predictions against measured runs, and constants fitted to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "partition/run_errors.h"
#include "tools/inputs.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "evaluate",
     .argument = "FILE",
     .help = "Predict every run of a table (CSV) and print the error per source.",
     .heading = "What to do"},
    {.name = "fit",
     .argument = "FILE",
     .help =
         "Fit constants to the runs of a table; one half is fitted, split by model and "
         "device count, the error of both halves is printed."},
    {.name = "constants",
     .argument = "NAME,...",
     .help =
         "Constants to fit. Default: gemm_fraction,elementwise_hidden,kernel_latency."},
    {.name = "all", .help = "Fit to all runs; nothing is held back."},
    {.name = "source",
     .argument = "NAME",
     .help = "Only runs of this source.",
     .heading = "Which runs"},
    {.name = "framework",
     .argument = "TEXT",
     .help = "Only runs whose framework has TEXT."},
    {.name = "device", .argument = "TEXT", .help = "Only runs whose device has TEXT."},
    {.name = "profile",
     .argument = "FILE",
     .help = "Profiles (yoke-profiles/1) or constants (yoke-constants/1) in place of the "
             "bundled ones.",
     .heading = "Inputs"},
    YOKE_OPTION_CATALOG,
    {.name = "out",
     .argument = "FILE",
     .help = "Write the constants that were fitted, with all others: a file that "
             "YOKE_CONSTANTS and --profile take.",
     .heading = "Output"},
    {.name = "json",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write errors and every prediction as JSON to FILE; - is standard output."},
    {.name = NULL},
};

const yoke_command_t yoke_calibrate_command = {
    .name = "calibrate",
    .summary = "predictions against measured runs, and constants fitted to them",
    .usage = "yoke calibrate --evaluate FILE | --fit FILE [options]",
    .description =
        "Predicts the time and the memory of training runs that somebody measured, and "
        "prints the error for each source: mean, median, 90th percentile and bias of the "
        "time; how many pairs of runs that do the same work are put in the right order; "
        "and the regret, how much slower the run predicted to be best is than the best "
        "one. The naive baseline stands beside it: 45 % of the peak and the pipeline's "
        "bubble.\n\n"
        "A run that lacks a parameter is counted and named, not guessed. "
        "docs/accuracy.md names the columns of the table.\n\n"
        "With --fit a few constants are changed so that the error becomes least, for the "
        "runs that --source, --framework and --device leave.",
    .examples = "yoke calibrate --evaluate runs.csv\n"
                "    the error per source with the bundled constants\n"
                "yoke calibrate --fit runs.csv --device A100 --out a100.json\n"
                "    constants for one device type\n"
                "YOKE_CONSTANTS=a100.json yoke plan -m llama-3.1-8b -c a100-v100\n"
                "    a plan with those constants\n",
    .options = options,
    .run = run,
};

enum { MOST_NAMES = 16 };

typedef struct job {
    const yoke_args_t *args;
    yoke_profiles_t profiles;
    yoke_run_set_t set;
    yoke_run_result_t *results;
    bool *chosen, *fitted; /* by --source and so on; used in the fit */
    unsigned *groups;
    char *words; /* of --constants */
    const char *names[MOST_NAMES + 1];
    yoke_constants_t constants; /* after the fit */
} job_t;

static bool passes(const char *part, const char *text)
{
    return part == NULL || strstr(text, part) != NULL;
}

static yoke_status_t open_job(job_t *job, const char *file)
{
    yoke_csv_t csv = {0};
    yoke_status_t status = yoke_input_catalog(job->args);
    if (status == YOKE_OK)
        status =
            yoke_profiles_read(yoke_args_value(job->args, "profile"), &job->profiles);
    if (status == YOKE_OK)
        status = yoke_csv_read(file, &csv);
    if (status == YOKE_OK)
        status = yoke_run_set_read(&csv, &job->profiles, &job->set);
    if (status != YOKE_OK)
        return status;
    size_t count = job->set.run_count + 1;
    job->results = calloc(count, sizeof *job->results);
    job->chosen = calloc(count, sizeof *job->chosen);
    job->fitted = calloc(count, sizeof *job->fitted);
    job->groups = calloc(count, sizeof *job->groups);
    if (job->results == NULL || job->chosen == NULL || job->fitted == NULL ||
        job->groups == NULL)
        return yoke_fail_memory();
    const char *source = yoke_args_value(job->args, "source");
    for (size_t i = 0; i < job->set.run_count; i++) {
        const yoke_run_t *r = &job->set.runs[i];
        job->chosen[i] = (source == NULL || strcmp(source, r->source) == 0) &&
                         passes(yoke_args_value(job->args, "framework"), r->framework) &&
                         passes(yoke_args_value(job->args, "device"), r->device_name);
    }
    yoke_run_groups(&job->set, job->groups);
    return YOKE_OK;
}

static void close_job(job_t *job)
{
    free(job->results);
    free(job->chosen);
    free(job->fitted);
    free(job->groups);
    free(job->words);
    yoke_run_set_free(&job->set);
    yoke_profiles_free(&job->profiles);
}

static yoke_status_t predict_all(job_t *job)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; status == YOKE_OK && i < job->set.run_count; i++)
        if (job->chosen[i])
            status = yoke_run_predict(&job->set.runs[i], &job->set.runs[i].constants,
                                      &job->results[i]);
    return status;
}

/* --- the table
 * --------------------------------------------------------------------------- */

typedef enum kind { KIND_TIME, KIND_NAIVE, KIND_MEMORY } kind_t;

/* -1: all runs; 0: held back; 1: in the fit. */
static yoke_errors_t errors_of(const job_t *job, const char *source, kind_t kind,
                               int part)
{
    yoke_error_row_t *rows = calloc(job->set.run_count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; rows != NULL && i < job->set.run_count; i++) {
        const yoke_run_t *r = &job->set.runs[i];
        const yoke_run_result_t *result = &job->results[i];
        double measured = kind == KIND_MEMORY ? r->memory : r->time;
        if (!job->chosen[i] || measured <= 0 || strcmp(r->source, source) != 0 ||
            (part >= 0 && job->fitted[i] != (part == 1)))
            continue;
        rows[count++] = (yoke_error_row_t){kind == KIND_TIME    ? result->time
                                           : kind == KIND_NAIVE ? result->naive
                                                                : result->memory,
                                           measured, job->groups[i]};
    }
    yoke_errors_t errors =
        rows != NULL ? yoke_errors_of(rows, count) : (yoke_errors_t){0};
    free(rows);
    return errors;
}

static void add_row(yoke_table_t *table, const char *source, const char *what,
                    const yoke_errors_t *errors)
{
    if (errors->count == 0)
        return;
    yoke_table_cell(table, source);
    yoke_table_cell(table, what);
    yoke_table_cellf(table, "%zu", errors->count);
    yoke_table_cellf(table, "%.1f", 100 * errors->mean);
    yoke_table_cellf(table, "%.1f", 100 * errors->median);
    yoke_table_cellf(table, "%.1f", 100 * errors->p90);
    yoke_table_cellf(table, "%+.1f", 100 * errors->bias);
    if (errors->pairs == 0) {
        yoke_table_cell(table, NULL);
        yoke_table_cell(table, NULL);
        yoke_table_cell(table, NULL);
        return;
    }
    yoke_table_cellf(table, "%.1f", 100 * errors->order);
    yoke_table_cellf(table, "%.1f", 100 * errors->regret);
    yoke_table_cellf(table, "%.1f", 100 * errors->regret_most);
}

static bool seen_before(const yoke_run_set_t *set, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(set->runs[j].source, set->runs[i].source) == 0)
            return true;
    return false;
}

static void print_sources(const job_t *job, bool fit, yoke_text_t *out)
{
    static const char *const headers[] = {"source",  "what", ">runs", ">mean",
                                          ">median", ">p90", ">bias", ">order",
                                          ">regret", ">most"};
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    if (table == NULL)
        return;
    for (size_t i = 0; i < job->set.run_count; i++) {
        const char *source = job->set.runs[i].source;
        if (seen_before(&job->set, i))
            continue;
        yoke_errors_t time = errors_of(job, source, KIND_TIME, -1);
        yoke_errors_t naive = errors_of(job, source, KIND_NAIVE, -1);
        yoke_errors_t memory = errors_of(job, source, KIND_MEMORY, -1);
        yoke_errors_t in = errors_of(job, source, KIND_TIME, 1);
        yoke_errors_t held = errors_of(job, source, KIND_TIME, 0);
        add_row(table, source, "time", &time);
        if (fit) {
            add_row(table, source, "time, in the fit", &in);
            add_row(table, source, "time, held back", &held);
        }
        add_row(table, source, "time, naive", &naive);
        add_row(table, source, "memory", &memory);
    }
    yoke_text_add(out, "Error in percent of the measured value, per source:\n");
    yoke_table_print(table, 100, 2, out);
    yoke_table_free(table);
}

/* Rows without a prediction, by source and reason. */
static void print_misses(const job_t *job, yoke_text_t *out)
{
    const yoke_run_set_t *set = &job->set;
    if (set->miss_count > 0)
        yoke_text_printf(out, "\n%zu rows have no prediction:\n", set->miss_count);
    for (size_t i = 0; i < set->miss_count; i++) {
        const yoke_run_miss_t *miss = &set->misses[i];
        size_t alike = 0;
        bool told = false;
        for (size_t j = 0; j < set->miss_count; j++)
            if (strcmp(set->misses[j].source, miss->source) == 0 &&
                strcmp(set->misses[j].reason, miss->reason) == 0) {
                told = told || j < i;
                alike++;
            }
        if (!told)
            yoke_text_printf(out, "  %s: %zu, first in line %zu: %s\n", miss->source,
                             alike, miss->line, miss->reason);
    }
}

/* --- the document
 * ------------------------------------------------------------------------ */

static json_t *constants_to_json(const yoke_constants_t *constants)
{
    json_t *object = json_object();
    const char *const *names = yoke_constants_names();
    for (size_t i = 0; names[i] != NULL; i++) {
        double value = 0;
        (void)yoke_constants_value(constants, names[i], &value);
        yoke_json_set_number(object, names[i], value);
    }
    return object;
}

static json_t *errors_to_json(const yoke_errors_t *errors)
{
    json_t *object = json_object();
    yoke_json_set_u64(object, "runs", errors->count);
    yoke_json_set_number(object, "mape", errors->mean);
    yoke_json_set_number(object, "median", errors->median);
    yoke_json_set_number(object, "p90", errors->p90);
    yoke_json_set_number(object, "bias", errors->bias);
    yoke_json_set_u64(object, "pairs", errors->pairs);
    yoke_json_set_number(object, "pair_order", errors->order);
    yoke_json_set_u64(object, "groups", errors->groups);
    yoke_json_set_number(object, "regret", errors->regret);
    yoke_json_set_number(object, "regret_most", errors->regret_most);
    return object;
}

static void set_known(json_t *object, const char *key, double value)
{
    if (value > 0)
        yoke_json_set_number(object, key, value);
    else
        json_object_set_new(object, key, json_null());
}

static json_t *run_to_json(const job_t *job, size_t i)
{
    const yoke_run_t *r = &job->set.runs[i];
    const yoke_run_result_t *result = &job->results[i];
    json_t *object = json_object();
    yoke_json_set_u64(object, "row", r->row);
    yoke_json_set_u64(object, "line", r->line);
    yoke_json_set_string(object, "source", r->source);
    yoke_json_set_number(object, "iteration_time", result->time);
    set_known(object, "measured_time", r->time);
    yoke_json_set_number(object, "memory", result->memory);
    set_known(object, "measured_memory", r->memory);
    json_object_set_new(object, "fits", json_boolean(result->fits));
    yoke_json_set_number(object, "naive_time", result->naive);
    yoke_json_set_number(object, "pipeline", result->compute);
    yoke_json_set_number(object, "sync", result->sync);
    yoke_json_set_number(object, "update", result->update);
    yoke_json_set_string(object, "profiles", r->profiles != NULL ? r->profiles : "");
    json_object_set_new(object, "constants", constants_to_json(&r->constants));
    return object;
}

static json_t *job_to_json(const job_t *job)
{
    json_t *root = json_object(), *sources = json_object(), *rows = json_array(),
           *misses = json_array();
    for (size_t i = 0; i < job->set.run_count; i++) {
        const char *source = job->set.runs[i].source;
        if (!job->chosen[i])
            continue;
        json_array_append_new(rows, run_to_json(job, i));
        if (seen_before(&job->set, i))
            continue;
        json_t *entry = json_object();
        yoke_errors_t time = errors_of(job, source, KIND_TIME, -1);
        yoke_errors_t naive = errors_of(job, source, KIND_NAIVE, -1);
        yoke_errors_t memory = errors_of(job, source, KIND_MEMORY, -1);
        json_object_set_new(entry, "time", errors_to_json(&time));
        json_object_set_new(entry, "naive", errors_to_json(&naive));
        json_object_set_new(entry, "memory", errors_to_json(&memory));
        json_object_set_new(sources, source, entry);
    }
    for (size_t i = 0; i < job->set.miss_count; i++) {
        json_t *miss = json_object();
        yoke_json_set_u64(miss, "row", job->set.misses[i].row);
        yoke_json_set_u64(miss, "line", job->set.misses[i].line);
        yoke_json_set_string(miss, "source", job->set.misses[i].source);
        yoke_json_set_string(miss, "reason", job->set.misses[i].reason);
        json_array_append_new(misses, miss);
    }
    json_object_set_new(root, "sources", sources);
    json_object_set_new(root, "rows", rows);
    json_object_set_new(root, "without_prediction", misses);
    return root;
}

/* --- the fit
 * ----------------------------------------------------------------------------- */

static yoke_status_t read_names(job_t *job)
{
    const char *given = yoke_args_value(job->args, "constants");
    size_t count = 0;
    job->words = yoke_strdup(
        given != NULL ? given : "gemm_fraction,elementwise_hidden,kernel_latency");
    if (job->words == NULL)
        return yoke_fail_memory();
    char *rest = NULL;
    for (char *word = strtok_r(job->words, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        if (count == MOST_NAMES)
            return yoke_fail(YOKE_ERR_USAGE, "--constants: at most %d names", MOST_NAMES);
        job->names[count++] = word;
    }
    return YOKE_OK;
}

/* Half of the models and device counts, the same half on every machine. */
static bool in_first_half(const yoke_run_t *r)
{
    uint64_t hash = 1469598103934665603u;
    char key[256];
    yoke_snprintf(key, sizeof key, "%s|%u|%g", r->model_name, r->devices, r->sequence);
    for (const char *at = key; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return (hash >> 32) % 2 == 0;
}

static yoke_status_t fit(job_t *job)
{
    double loss = 0;
    yoke_status_t status = read_names(job);
    bool all = yoke_args_has(job->args, "all"), any = false;
    for (size_t i = 0; status == YOKE_OK && i < job->set.run_count; i++) {
        job->fitted[i] = job->chosen[i] && (all || in_first_half(&job->set.runs[i]));
        if (job->fitted[i] && !any) {
            job->constants = job->set.runs[i].constants;
            any = true;
        }
    }
    if (status == YOKE_OK)
        status = yoke_run_fit(&job->set, job->fitted, job->names, &job->constants, &loss);
    for (size_t i = 0; status == YOKE_OK && i < job->set.run_count; i++)
        for (size_t k = 0; job->chosen[i] && job->names[k] != NULL; k++) {
            double value = 0;
            (void)yoke_constants_value(&job->constants, job->names[k], &value);
            (void)yoke_constants_set(&job->set.runs[i].constants, job->names[k], value);
        }
    return status;
}

static void print_fit(const job_t *job, yoke_text_t *out)
{
    for (size_t k = 0; job->names[k] != NULL; k++) {
        double value = 0;
        (void)yoke_constants_value(&job->constants, job->names[k], &value);
        yoke_text_printf(out, "%s = %.6g\n", job->names[k], value);
    }
    yoke_text_add(out, "\n");
}

/* All constants, with where they are from: a file of the form of the bundled one. */
static yoke_status_t write_constants(const job_t *job, const char *path, const char *file)
{
    json_t *root = json_object(), *all = json_object();
    const char *const *names = yoke_constants_names();
    for (size_t i = 0; names[i] != NULL; i++) {
        double value = 0;
        bool fitted = false;
        for (size_t k = 0; job->names[k] != NULL; k++)
            fitted = fitted || strcmp(job->names[k], names[i]) == 0;
        char *source =
            fitted ? yoke_format("fitted to %s", file) : yoke_strdup("as before the fit");
        json_t *entry = json_object();
        (void)yoke_constants_value(&job->constants, names[i], &value);
        json_object_set_new(entry, "value", json_real(value));
        yoke_json_set_string(entry, "unit", "as in data/costmodel/constants.json");
        yoke_json_set_string(entry, "source", source != NULL ? source : "fitted");
        json_object_set_new(all, names[i], entry);
        free(source);
    }
    yoke_json_set_string(root, "schema", "yoke-constants/1");
    json_object_set_new(root, "constants", all);
    yoke_status_t status = yoke_json_write(path, root);
    json_decref(root);
    return status;
}

static yoke_status_t answer(const job_t *job, const char *file, bool fitted)
{
    yoke_text_t text = {0};
    const char *json = yoke_args_value(job->args, "json"),
               *path = yoke_args_value(job->args, "out");
    if (fitted)
        print_fit(job, &text);
    print_sources(job, fitted, &text);
    print_misses(job, &text);
    yoke_status_t status = YOKE_OK;
    if (path != NULL && fitted)
        status = write_constants(job, path, file);
    if (status == YOKE_OK && json != NULL) {
        json_t *root = job_to_json(job);
        status = yoke_json_write(json, root);
        json_decref(root);
    }
    if (status == YOKE_OK && (json == NULL || strcmp(json, "-") != 0))
        fputs(yoke_text_get(&text), stdout);
    yoke_text_free(&text);
    return status;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code;
    if (!yoke_args_parse(&yoke_calibrate_command, argc, argv, &args, &code))
        return code;
    const char *evaluate = yoke_args_value(&args, "evaluate"),
               *fitted = yoke_args_value(&args, "fit");
    if ((evaluate == NULL) == (fitted == NULL) || args.positional_count > 0) {
        code = yoke_usage_error(&yoke_calibrate_command,
                                "give one of --evaluate FILE and --fit FILE");
        yoke_args_free(&args);
        return code;
    }
    job_t job = {.args = &args};
    const char *file = evaluate != NULL ? evaluate : fitted;
    yoke_status_t status = open_job(&job, file);
    if (status == YOKE_OK && fitted != NULL)
        status = fit(&job);
    if (status == YOKE_OK)
        status = predict_all(&job);
    if (status == YOKE_OK)
        status = answer(&job, file, fitted != NULL);
    close_job(&job);
    yoke_args_free(&args);
    return yoke_status_exit_code(status);
}
