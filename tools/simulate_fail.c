/* SPDX-License-Identifier: Apache-2.0 */
/* simulate --fail: what a failure costs, and what goes on. */
#include "tools/simulate_fail.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "partition/failure.h"
#include "partition/plan_print.h"
#include "tools/cli.h"

/* What the devices had computed when some of them failed. */
typedef struct progress {
    double until, done, whole;
} progress_t;

typedef struct outcome {
    const char *selector;
    double at, done;     /* seconds; share of the step's computing */
    double before, step; /* seconds of a step, before and with what is left */
    bool fits;
    yoke_failure_t failure;
} outcome_t;

static void meet_event(void *context, unsigned pipeline, unsigned stage,
                       yoke_event_kind_t kind, unsigned micro_batch, double start,
                       double end)
{
    progress_t *progress = context;
    (void)pipeline;
    (void)stage;
    (void)micro_batch;
    if (kind != YOKE_EVENT_FORWARD && kind != YOKE_EVENT_BACKWARD)
        return;
    progress->whole += end - start;
    if (end <= progress->until)
        progress->done += end - start;
    else if (start < progress->until)
        progress->done += progress->until - start;
}

/* Until the failure all is as planned; `replay` then has what is left. */
static yoke_status_t run_both(yoke_replay_t *replay, outcome_t *outcome)
{
    progress_t progress = {outcome->at, 0, 0};
    char at[32], step[32];
    yoke_status_t status = yoke_replay_run(replay, meet_event, &progress);
    if (status != YOKE_OK)
        return status;
    outcome->before = replay->evaluation.iteration_time;
    outcome->done = progress.whole > 0 ? progress.done / progress.whole : 0;
    if (outcome->at > outcome->before)
        return yoke_fail(YOKE_ERR_USAGE, "--fail: the step ends after %s, before %s",
                         yoke_show_seconds(outcome->before, step),
                         yoke_show_seconds(outcome->at, at));
    status = yoke_replay_fail(replay, outcome->selector, &outcome->failure);
    if (status != YOKE_OK)
        return status;
    if (!outcome->failure.goes_on)
        return yoke_fail(YOKE_ERR_NO,
                         "without '%s' nothing goes on: no other device holds the layers "
                         "of stage %u.%u; plan anew with --exclude '%s'",
                         outcome->selector, outcome->failure.lost_pipeline,
                         outcome->failure.lost_stage, outcome->selector);
    status = yoke_replay_run(replay, NULL, NULL);
    outcome->step = replay->evaluation.iteration_time;
    outcome->fits = replay->evaluation.fits;
    return status;
}

static yoke_status_t write_json(const char *target, const char *path,
                                const outcome_t *outcome)
{
    const yoke_failure_t *failure = &outcome->failure;
    json_t *root = json_object();
    yoke_json_set_string(root, "plan", path);
    yoke_json_set_string(root, "failed", outcome->selector);
    yoke_json_set_u64(root, "devices_failed", failure->devices);
    yoke_json_set_number(root, "at", outcome->at);
    yoke_json_set_number(root, "computing_done", outcome->done);
    yoke_json_set_number(root, "iteration_time_before", outcome->before);
    yoke_json_set_number(root, "iteration_time", outcome->step);
    json_object_set_new(root, "fits", json_boolean(outcome->fits));
    yoke_json_set_u64(root, "tensor_groups_before", failure->replicas_before);
    yoke_json_set_u64(root, "tensor_groups", failure->replicas);
    yoke_json_set_u64(root, "pipelines_before", failure->pipelines_before);
    yoke_json_set_u64(root, "pipelines", failure->pipelines);
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

static yoke_status_t write_text(const outcome_t *outcome, size_t width)
{
    const yoke_failure_t *failure = &outcome->failure;
    char at[32], before[32], step[32];
    yoke_text_t line = {0}, text = {0};
    yoke_text_printf(
        &line, "Step %s without a new plan; %s before, so %.2f times as long",
        yoke_show_seconds(outcome->step, step),
        yoke_show_seconds(outcome->before, before), outcome->step / outcome->before);
    yoke_print_paragraph(yoke_text_get(&line), width, 0, &text);
    yoke_text_free(&line);
    if (!outcome->fits)
        yoke_text_add(&text, "What is left does NOT fit in memory.\n");
    yoke_text_add(&text, "\n");
    yoke_text_printf(&line,
                     "%zu device%s (%s) after %s, when %.0f%% of the step's computing is "
                     "done. A step without their gradients cannot end: that time is lost "
                     "on all devices.",
                     failure->devices, failure->devices == 1 ? " fails" : "s fail",
                     outcome->selector, yoke_show_seconds(outcome->at, at),
                     100 * outcome->done);
    yoke_print_paragraph(yoke_text_get(&line), width, 0, &text);
    yoke_text_free(&line);
    yoke_text_printf(&line,
                     "%u of %u tensor groups and %u of %u pipelines go on and take over "
                     "the samples, with smaller micro-batches and more of them. A plan "
                     "for what is left: yoke plan ... --exclude '%s'.",
                     failure->replicas, failure->replicas_before, failure->pipelines,
                     failure->pipelines_before, outcome->selector);
    yoke_print_paragraph(yoke_text_get(&line), width, 0, &text);
    yoke_status_t status = text.failed || line.failed
                               ? yoke_fail_memory()
                               : yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&line);
    yoke_text_free(&text);
    return status;
}

yoke_status_t yoke_simulate_fail(const char *path, const char *selector, double at,
                                 const char *json, size_t width, yoke_replay_t *replay)
{
    outcome_t outcome = {.selector = selector, .at = at};
    yoke_status_t status = run_both(replay, &outcome);
    if (status != YOKE_OK)
        return status;
    return json != NULL ? write_json(json, path, &outcome) : write_text(&outcome, width);
}
