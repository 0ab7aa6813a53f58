/* SPDX-License-Identifier: Apache-2.0 */
/* The present run: a plan document, or a launch script of Megatron-LM with its log. */
#include "tools/plan_baseline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "partition/document.h"
#include "partition/launch_script.h"

/* A document begins with a brace; a script does not. */
static yoke_status_t is_document(const char *path, bool *out)
{
    char *data = NULL;
    size_t size = 0, at = 0;
    yoke_status_t status = yoke_file_read(path, 0, &data, &size);
    if (status != YOKE_OK)
        return status;
    while (at < size && (isspace((unsigned char)data[at]) || (data[at] & 0x80) != 0))
        at++;
    *out = at < size && data[at] == '{';
    free(data);
    return YOKE_OK;
}

static yoke_status_t read_plan(const char *path, const yoke_model_t *model,
                               const yoke_inventory_t *inventory, yoke_plan_t **out_plan)
{
    yoke_plan_t *stated = NULL;
    yoke_status_t status = yoke_plan_read(path, &stated);
    if (status == YOKE_OK)
        status = yoke_plan_renew(stated, model, inventory, NULL, out_plan);
    yoke_plan_free(stated);
    return status;
}

static yoke_status_t read_script(const char *path, const yoke_model_t *model,
                                 const yoke_inventory_t *inventory,
                                 const yoke_plan_options_t *options,
                                 yoke_plan_t **out_plan)
{
    yoke_launch_t launch;
    yoke_status_t status = yoke_launch_read(path, &launch);
    if (status != YOKE_OK)
        return status;
    status = yoke_launch_plan(&launch, path, model, inventory, options, out_plan);
    yoke_launch_free(&launch);
    return status;
}

static void take_job(const yoke_args_t *args, const yoke_plan_t *plan,
                     yoke_plan_options_t *options)
{
    if (!yoke_args_has(args, "global-batch"))
        options->global_batch = plan->global_batch;
    if (!yoke_args_has(args, "seq"))
        options->sequence = plan->sequence;
    if (!yoke_args_has(args, "dtype"))
        options->dtype = plan->dtype;
    if (!yoke_args_has(args, "optimizer"))
        options->optimizer = plan->optimizer;
}

yoke_status_t yoke_baseline_read(const yoke_args_t *args, const yoke_model_t *model,
                                 const yoke_inventory_t *inventory,
                                 yoke_plan_options_t *options,
                                 yoke_baseline_t *out_baseline)
{
    const char *path = yoke_args_value(args, "baseline");
    const char *log = yoke_args_value(args, "baseline-log");
    yoke_baseline_t baseline = {0};
    bool document = false;
    memset(out_baseline, 0, sizeof *out_baseline);
    if (path == NULL)
        return log == NULL ? YOKE_OK
                           : yoke_fail(YOKE_ERR_USAGE, "--baseline-log is the log of a "
                                                       "--baseline: give that too");
    yoke_status_t status = YOKE_OK;
    if (!yoke_args_has(args, "from"))
        status = is_document(path, &document);
    if (status == YOKE_OK)
        status = document ? read_plan(path, model, inventory, &baseline.plan)
                          : read_script(path, model, inventory, options, &baseline.plan);
    if (status == YOKE_OK && log != NULL)
        status = yoke_launch_log_time(log, &baseline.measured, &baseline.iterations);
    if (status != YOKE_OK) {
        yoke_plan_free(baseline.plan);
        return status;
    }
    take_job(args, baseline.plan, options);
    *out_baseline = baseline;
    return YOKE_OK;
}

/* How much longer a sample takes in it than in the plan. */
static void add_comparison(const yoke_baseline_t *baseline, const yoke_plan_t *plan,
                           yoke_text_t *out)
{
    const yoke_plan_t *present = baseline->plan;
    double ratio = plan->samples_per_second / present->samples_per_second;
    char time[32];
    if (!present->feasible)
        yoke_text_printf(out, "does not fit the memory, by prediction (%s a step); ",
                         yoke_show_seconds(present->iteration_time, time));
    if (present->global_batch != plan->global_batch ||
        present->sequence != plan->sequence)
        yoke_text_printf(out, "its step has %llu x %llu tokens; ",
                         (unsigned long long)present->global_batch,
                         (unsigned long long)present->sequence);
    yoke_text_printf(out, "a sample takes %.2f times as long", ratio);
    if (baseline->measured > 0)
        yoke_text_printf(
            out, "; measured %s (median of %u iterations), predicted %+.1f %%",
            yoke_show_seconds(baseline->measured, time), baseline->iterations,
            (present->iteration_time / baseline->measured - 1) * 100);
}

yoke_status_t yoke_baseline_add(const yoke_args_t *args, const yoke_baseline_t *baseline,
                                yoke_plan_t *plan)
{
    if (baseline->plan == NULL)
        return YOKE_OK;
    yoke_text_t why = {0};
    add_comparison(baseline, plan, &why);
    char *kind = yoke_format("present run %s", yoke_args_value(args, "baseline"));
    yoke_status_t status = kind != NULL && !why.failed
                               ? yoke_plan_add_alternative(
                                     plan, kind, baseline->plan->feasible,
                                     baseline->plan->iteration_time, yoke_text_get(&why))
                               : yoke_fail_memory();
    free(kind);
    yoke_text_free(&why);
    return status;
}
