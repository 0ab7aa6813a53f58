/* SPDX-License-Identifier: Apache-2.0 */
/* yoke simulate: one step of a plan as a timeline. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "partition/plan_print.h"
#include "tools/inputs.h"
#include "tools/simulate_fail.h"
#include "tools/simulate_record.h"
#include "tools/simulate_replay.h"

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
    {.name = "slow",
     .argument = "SELECTOR=FACTOR",
     .help =
         "Let devices run at this part of their speed, e.g. 'type:V100-SXM2-32GB=0.5' or "
         "'n3/gpu0=0.8'; a tensor group runs at the pace of its slowest. Can be "
         "repeated.",
     .heading = "What if"},
    {.name = "fail",
     .argument = "SELECTOR@SECONDS",
     .help = "Let devices fail so long after the start of a step, e.g. 'n3/gpu0@1.5': "
             "what is lost, and the step of what is left without a new plan."},
    {.name = "replay",
     .argument = "TRACE",
     .help = "Instead of a plan, run a recorded trace again (Chrome trace events, also "
             "compressed): how well its own operation times explain the step, and with "
             "--slow what slow ranks cost, e.g. 'dp=0,pp=3=0.5'.",
     .heading = "Recorded steps"},
    {.name = "trace",
     .argument = "FILE",
     .help = "Also write the step as Chrome trace events (JSON), for Perfetto or "
             "chrome://tracing; compressed where the name ends in .gz.",
     .heading = "Output"},
    {.name = "width",
     .argument = "COLUMNS",
     .help = "Width of the timeline, from 40 to 400. Default: the terminal's, or 80."},
    {.name = "json",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write the figures as a JSON document to FILE; - is standard output."},
    {.name = NULL},
};

const yoke_command_t yoke_simulate_command = {
    .name = "simulate",
    .summary = "one step of a plan as a timeline, with what every stage waits for",
    .usage = "yoke simulate PLAN|--replay TRACE [options]",
    .description =
        "Runs the event simulator on the plan and prints the time of the step, how long "
        "every "
        "stage computes, exchanges gradients and idles, and a timeline. The times are "
        "computed "
        "from model and cluster; those that the document states are not used.\n\n"
        "With --slow it answers what a slow device costs while the plan stays as it "
        "is.\n\n"
        "With --replay it runs a recorded trace again instead: every operation takes "
        "the time that it took, and waits for what it waited for. Ranks are picked by "
        "dp=, pp= and tp=; op= names an operation, without it the ranks' own work is "
        "meant and not their exchanges.",
    .examples = "yoke simulate plan.json\n"
                "    timeline of the step of a plan that yoke plan wrote\n"
                "yoke simulate plan.json -m llama-3.1-8b -c a100-v100 \\\n"
                "    --slow host:v100-01=0.8 --trace step.json\n"
                "    one host a fifth slower, and a trace for Perfetto\n"
                "yoke simulate --replay timeline.json.gz --slow pp=3=2\n"
                "    a recorded run, and what if its last stage were twice as fast\n",
    .options = options,
    .run = run,
};

enum { MOST_SLOW = 64 };

/* What the options say. */
typedef struct wish {
    yoke_slowdown_t slow[MOST_SLOW];
    char *selectors[MOST_SLOW]; /* own the text of slow[].selector */
    size_t slow_count, width;
    const char *trace, *json, *replay;
    char *fail; /* selector; NULL: nothing fails */
    double fail_at;
} wish_t;

/* --- output
 * ------------------------------------------------------------------------------ */

static json_t *stage_to_json(const yoke_stage_record_t *row,
                             const yoke_stage_result_t *result, double step)
{
    json_t *object = json_object();
    yoke_json_set_number(object, "forward", result->forward);
    yoke_json_set_number(object, "backward", result->backward);
    yoke_json_set_number(object, "send", result->send);
    yoke_json_set_number(object, "sync", row->sync);
    yoke_json_set_number(object, "optimizer", row->optimizer);
    yoke_json_set_number(object, "busy", row->compute / step);
    yoke_json_set_number(object, "idle",
                         1 - (row->compute + row->sync + row->optimizer) / step);
    yoke_json_set_number(object, "first_start", row->first_start);
    yoke_json_set_number(object, "end", row->end);
    return object;
}

static json_t *record_to_json(const char *path, const yoke_replay_t *replay,
                              const yoke_record_t *record)
{
    json_t *root = json_object(), *pipelines = json_array();
    yoke_json_set_string(root, "plan", path);
    yoke_json_set_number(root, "iteration_time", record->step);
    yoke_json_set_number(root, "compute_end", replay->evaluation.compute_end);
    json_object_set_new(root, "fits", json_boolean(replay->evaluation.fits));
    for (unsigned p = 0; p < replay->layout.pipeline_count; p++) {
        json_t *pipeline = json_object(), *stages = json_array();
        for (size_t i = record->first[p]; i < record->first[p + 1]; i++)
            json_array_append_new(stages, stage_to_json(&record->stages[i],
                                                        &replay->evaluation.stages[i],
                                                        record->step));
        json_object_set_new(pipeline, "stages", stages);
        json_array_append_new(pipelines, pipeline);
    }
    json_object_set_new(root, "pipelines", pipelines);
    return root;
}

static void print_answer(const yoke_plan_t *plan, const yoke_replay_t *replay,
                         bool slowed, yoke_text_t *out)
{
    char time[32], before[32], rate[32];
    double step = replay->evaluation.iteration_time;
    double tokens = (double)plan->global_batch * (double)plan->sequence;
    yoke_text_printf(out, "Step %s, %s tokens/s", yoke_show_seconds(step, time),
                     yoke_show_count((uint64_t)(tokens / step), rate));
    if (slowed)
        yoke_text_printf(out, "; %s without --slow, so %.2f times as long",
                         yoke_show_seconds(plan->iteration_time, before),
                         step / plan->iteration_time);
    yoke_text_add(out, "\n");
    if (!replay->evaluation.fits)
        yoke_text_add(out, "The plan does NOT fit in memory: see yoke check.\n");
    yoke_text_add(out, "\n");
}

static yoke_status_t write_record(const wish_t *wish, const char *path,
                                  const yoke_plan_t *plan, const yoke_replay_t *replay,
                                  const yoke_record_t *record)
{
    if (wish->json != NULL) {
        json_t *root = record_to_json(path, replay, record);
        yoke_status_t status = yoke_json_write(wish->json, root);
        json_decref(root);
        return status;
    }
    yoke_text_t text = {0};
    print_answer(plan, replay, wish->slow_count > 0, &text);
    yoke_timeline_print(plan, record, wish->slow_count > 0, wish->width, &text);
    yoke_status_t status =
        text.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* --- the runs
 * ---------------------------------------------------------------------------- */

/* Once for the length of the step, once more into the columns of the timeline. */
static yoke_status_t run_and_write(const wish_t *wish, const char *path,
                                   const yoke_plan_t *plan, yoke_replay_t *replay)
{
    yoke_record_t record = {0};
    yoke_status_t status = yoke_replay_run(replay, NULL, NULL);
    if (status == YOKE_OK)
        status = yoke_record_init(&replay->layout, replay->evaluation.iteration_time,
                                  yoke_timeline_columns(wish->width), &record);
    if (status == YOKE_OK)
        status = yoke_replay_run(replay, yoke_record_event, &record);
    if (status == YOKE_OK && wish->trace != NULL)
        status = yoke_trace_write(wish->trace, plan, replay);
    if (status == YOKE_OK)
        status = write_record(wish, path, plan, replay, &record);
    yoke_record_free(&record);
    return status;
}

static yoke_status_t simulate(yoke_args_t *args, const wish_t *wish, const char *path)
{
    yoke_plan_t *plan = NULL, *anew = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t words = {0};
    yoke_replay_t replay = {0};
    yoke_status_t status = yoke_plan_read(path, &plan);
    if (status == YOKE_OK)
        status = yoke_input_from_plan(args, plan, &words);
    if (status == YOKE_OK)
        status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    /* Also for its types, which a plan written by hand may leave out. */
    if (status == YOKE_OK)
        status = yoke_plan_reevaluate(plan, model, inventory, &anew);
    if (status == YOKE_OK)
        status = yoke_replay_new(plan, model, inventory, wish->slow, wish->slow_count,
                                 &replay);
    if (status == YOKE_OK)
        status = wish->fail != NULL ? yoke_simulate_fail(path, wish->fail, wish->fail_at,
                                                         wish->json, wish->width, &replay)
                                    : run_and_write(wish, path, anew, &replay);
    yoke_replay_free(&replay);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_plan_free(anew);
    yoke_plan_free(plan);
    yoke_strings_free(&words);
    return status;
}

/* --- options
 * ----------------------------------------------------------------------------- */

/* "SELECTOR=0.5"; selectors hold no '='. */
static int read_slow(const char *text, wish_t *wish)
{
    const char *equals = strrchr(text, '=');
    double factor = 0;
    const char *digits = equals != NULL ? equals + 1 : "";
    bool good = equals != NULL && equals != text && digits[0] != '\0' &&
                strspn(digits, "0123456789.") == strlen(digits) &&
                yoke_parse_quantity(digits, &factor) == YOKE_OK;
    if (!good || !(factor > 0) || factor > 1000)
        return yoke_usage_error(
            &yoke_simulate_command,
            "--slow %s: expected SELECTOR=FACTOR with a factor above 0, for "
            "example 'n1/gpu0=0.5'",
            text);
    if (wish->slow_count == MOST_SLOW)
        return yoke_usage_error(&yoke_simulate_command,
                                "--slow can be given %d times at most", MOST_SLOW);
    char *selector = yoke_strndup(text, (size_t)(equals - text));
    if (selector == NULL)
        return yoke_status_exit_code(yoke_fail_memory());
    wish->selectors[wish->slow_count] = selector;
    wish->slow[wish->slow_count++] = (yoke_slowdown_t){selector, factor};
    return 0;
}

/* "SELECTOR@1.5"; the part behind the last '@' is the time. */
static int read_fail(const yoke_args_t *args, wish_t *wish)
{
    const char *text = yoke_args_value(args, "fail");
    if (text == NULL)
        return 0;
    const char *at = strrchr(text, '@');
    const char *digits = at != NULL ? at + 1 : "";
    if (at == NULL || at == text || digits[0] == '\0' ||
        strspn(digits, "0123456789.") != strlen(digits) ||
        yoke_parse_quantity(digits, &wish->fail_at) != YOKE_OK)
        return yoke_usage_error(&yoke_simulate_command,
                                "--fail %s: expected SELECTOR@SECONDS, for example "
                                "'n1/gpu0@1.5'",
                                text);
    if (yoke_args_nth(args, "fail", 1) != NULL || yoke_args_has(args, "trace"))
        return yoke_usage_error(&yoke_simulate_command,
                                "--fail can be given once, and not with --trace");
    wish->fail = yoke_strndup(text, (size_t)(at - text));
    return wish->fail != NULL ? 0 : yoke_status_exit_code(yoke_fail_memory());
}

static int read_wish(const yoke_args_t *args, wish_t *wish)
{
    const char *slow, *width = yoke_args_value(args, "width");
    uint64_t columns = yoke_terminal_width();
    wish->trace = yoke_args_value(args, "trace");
    wish->json = yoke_args_value(args, "json");
    wish->replay = yoke_args_value(args, "replay");
    if (width != NULL && !yoke_parse_u64(width, strlen(width), 40, 400, &columns))
        return yoke_usage_error(&yoke_simulate_command,
                                "--width %s: expected a whole number from 40 to 400",
                                width);
    wish->width = (size_t)(columns < 40 ? 40 : columns);
    for (size_t i = 0; (slow = yoke_args_nth(args, "slow", i)) != NULL; i++) {
        int code = read_slow(slow, wish);
        if (code != 0)
            return code;
    }
    return read_fail(args, wish);
}

/* A trace says itself what ran where. */
static int check_replay(const yoke_args_t *args)
{
    static const char *const others[] = {"model",   "cluster", "assume",
                                         "catalog", "fail",    "trace"};
    if (args->positional_count > 0)
        return yoke_usage_error(&yoke_simulate_command,
                                "--replay takes the place of a plan: leave out '%s'",
                                args->positional[0]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (yoke_args_has(args, others[i]))
            return yoke_usage_error(&yoke_simulate_command,
                                    "--%s has no use with --replay", others[i]);
    return 0;
}

static yoke_status_t replay_trace(const wish_t *wish)
{
    yoke_recording_slow_t slow[MOST_SLOW];
    for (size_t i = 0; i < wish->slow_count; i++)
        slow[i] = (yoke_recording_slow_t){wish->slow[i].selector, wish->slow[i].factor};
    return yoke_simulate_replay(wish->replay, slow, wish->slow_count, wish->json,
                                wish->width);
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    wish_t wish = {0};
    int code = 0;
    if (!yoke_args_parse(&yoke_simulate_command, argc, argv, &args, &code))
        return code;
    if (yoke_args_has(&args, "replay"))
        code = check_replay(&args);
    else if (args.positional_count != 1)
        code = yoke_usage_error(&yoke_simulate_command, "%s",
                                args.positional_count == 0 ? "no plan is given"
                                                           : "give one plan at a time");
    if (code == 0)
        code = read_wish(&args, &wish);
    if (code == 0)
        code = yoke_status_exit_code(wish.replay != NULL
                                         ? replay_trace(&wish)
                                         : simulate(&args, &wish, args.positional[0]));
    free(wish.fail);
    for (size_t i = 0; i < wish.slow_count; i++)
        free(wish.selectors[i]);
    yoke_args_free(&args);
    return code;
}
