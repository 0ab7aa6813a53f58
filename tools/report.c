/* SPDX-License-Identifier: Apache-2.0 */
/* yoke report: a plan as one page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "partition/plan_print.h"
#include "tools/inputs.h"
#include "tools/report_parts.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     .help = "Hugging Face config.json (or its folder), a model document, or the name of "
             "a bundled model. Default: as in the command that made the plan; so for "
             "--cluster, with its --assume and --catalog.",
     .heading = "Inputs"},
    YOKE_OPTION_CLUSTER,
    YOKE_OPTION_ASSUME,
    YOKE_OPTION_CATALOG,
    YOKE_OPTION_PROFILE,
    {.name = "out",
     .argument = "FILE",
     .help = "Write the page to FILE, for example plan.html. Default: standard output.",
     .heading = "Output"},
    {.name = "json",
     .letter = 'o',
     .argument = "FILE",
     .help = "Write the figures of the page as a JSON document to FILE; - is standard "
             "output. Without --out no page is written then."},
    {.name = NULL},
};

const yoke_command_t yoke_report_command = {
    .name = "report",
    .summary = "a plan as one HTML page: cluster, placement, memory, timeline, what-ifs",
    .usage = "yoke report PLAN [--out FILE.html] [--model MODEL] [--cluster CLUSTER]",
    .description =
        "Writes one page that needs nothing else: which device works where, what every "
        "type computes and holds against what it could, memory against its limit, the "
        "simulated step, what slower devices would cost, the bound, and the best plan of "
        "every other kind.\n\n"
        "The page loads nothing and works without JavaScript. Every figure has its "
        "numbers in a table; it can be read by keyboard and by a screen reader, in "
        "light, dark and on a narrow screen.",
    .examples = "yoke report plan.json --out plan.html\n"
                "    a page to open in a browser or to send\n",
    .options = options,
    .run = run,
};

/* --- figures
 * -------------------------------------------------------------------------- */

static void collect_event(void *context, unsigned pipeline, unsigned stage,
                          yoke_event_kind_t kind, unsigned micro_batch, double start,
                          double end)
{
    yoke_report_t *report = context;
    yoke_record_event(&report->record, pipeline, stage, kind, micro_batch, start, end);
    if (report->events != NULL && report->event_count < YOKE_REPORT_MOST_EVENTS)
        report->events[report->event_count] =
            (yoke_report_event_t){pipeline, stage, micro_batch, kind, start, end};
    report->event_count++;
}

static yoke_status_t record_step(yoke_replay_t *replay, yoke_report_t *report)
{
    yoke_status_t status = yoke_replay_run(replay, NULL, NULL);
    if (status == YOKE_OK)
        status = yoke_record_init(&replay->layout, replay->evaluation.iteration_time,
                                  YOKE_REPORT_COLUMNS, &report->record);
    if (status != YOKE_OK)
        return status;
    report->events = calloc(YOKE_REPORT_MOST_EVENTS, sizeof *report->events);
    if (report->events == NULL)
        return yoke_fail_memory();
    status = yoke_replay_run(replay, collect_event, report);
    if (report->event_count > YOKE_REPORT_MOST_EVENTS) {
        free(report->events);
        report->events = NULL;
    }
    return status;
}

/* The step with every device of a type slower. */
static yoke_status_t add_what_if(yoke_report_t *report, const yoke_plan_t *plan,
                                 const char *type, double factor)
{
    yoke_replay_t replay = {0};
    char *selector = yoke_format("type:%s", type);
    yoke_what_if_t *item = &report->what_ifs[report->what_if_count];
    item->what = yoke_format("every %s at %.0f%% of its speed", type, 100 * factor);
    yoke_slowdown_t slow = {selector, factor};
    yoke_status_t status =
        selector == NULL || item->what == NULL
            ? yoke_fail_memory()
            : yoke_replay_new(plan, report->model, report->inventory, &slow, 1, &replay);
    if (status == YOKE_OK)
        status = yoke_replay_run(&replay, NULL, NULL);
    item->step = replay.evaluation.iteration_time;
    if (status == YOKE_OK)
        report->what_if_count++;
    else
        free(item->what);
    yoke_replay_free(&replay);
    free(selector);
    return status;
}

static yoke_status_t add_what_ifs(yoke_report_t *report, const yoke_plan_t *plan)
{
    static const double factors[] = {0.9, 0.5};
    size_t types = report->plan->match_count;
    report->what_ifs = calloc(2 * types + 1, sizeof *report->what_ifs);
    if (report->what_ifs == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < types; i++)
        for (size_t f = 0; f < 2 && status == YOKE_OK; f++)
            if (report->plan->matches[i].used > 0)
                status =
                    add_what_if(report, plan, report->plan->matches[i].type, factors[f]);
    return status;
}

/* --- the page
 * ------------------------------------------------------------------------- */

static void add_fact(yoke_text_t *page, const char *name, const char *text)
{
    yoke_text_add(page, "<dt>");
    yoke_html_text(page, name);
    yoke_text_add(page, "</dt><dd>");
    yoke_html_text(page, text);
    yoke_text_add(page, "</dd>\n");
}

static void add_facts(const yoke_plan_t *plan, yoke_text_t *page)
{
    char a[32], b[32], c[32];
    yoke_text_t text = {0};
    yoke_text_add(page, "<dl>\n");
    yoke_text_add(&text, yoke_show_seconds(plan->iteration_time, a));
    if (isfinite(plan->iteration_time_low) && isfinite(plan->iteration_time_high))
        yoke_text_printf(&text, " (%s to %s)",
                         yoke_show_seconds(plan->iteration_time_low, b),
                         yoke_show_seconds(plan->iteration_time_high, c));
    add_fact(page, "Step", yoke_text_get(&text));
    yoke_text_free(&text);
    if (isfinite(plan->tokens_per_second)) {
        yoke_text_printf(&text, "%s tokens/s",
                         yoke_show_count((uint64_t)plan->tokens_per_second, a));
        add_fact(page, "Throughput", yoke_text_get(&text));
        yoke_text_free(&text);
    }
    yoke_text_printf(&text, "%llu samples of %llu tokens, %s",
                     (unsigned long long)plan->global_batch,
                     (unsigned long long)plan->sequence, yoke_dtype_name(plan->dtype));
    add_fact(page, "Batch", yoke_text_get(&text));
    yoke_text_free(&text);
    yoke_text_printf(&text, "%s%s", yoke_optimizer_name(plan->optimizer),
                     plan->sharded_optimizer ? " with sharded state" : "");
    add_fact(page, "Optimizer", yoke_text_get(&text));
    yoke_text_free(&text);
    add_fact(page, "Fits in memory", plan->feasible ? "yes" : "NO");
    yoke_text_add(page, "</dl>\n");
}

static void add_contents(yoke_text_t *page)
{
    static const char *const links[][2] = {{"cluster", "Cluster"},
                                           {"placement", "Placement"},
                                           {"match", "Match"},
                                           {"memory", "Memory"},
                                           {"timeline", "Timeline"},
                                           {"what-ifs", "What if"},
                                           {"certificate", "How good is it"}};
    yoke_text_add(page, "<nav aria-label=\"Contents\"><ul>\n");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        yoke_text_printf(page, "<li><a href=\"#%s\">%s</a></li>\n", links[i][0],
                         links[i][1]);
    yoke_text_add(page, "</ul></nav>\n");
}

static void add_footer(const yoke_plan_t *plan, yoke_text_t *page)
{
    yoke_text_add(page, "<footer><p>Made by ");
    yoke_html_printf(page, "yoke %s from a plan of ", YOKE_VERSION_STRING);
    yoke_text_add(page, "<code>");
    yoke_html_text(page, plan->made_by_command != NULL ? plan->made_by_command
                                                       : "a command that is not stated");
    yoke_text_add(page, "</code>; model ");
    yoke_html_printf(page, "%s, cluster %s.",
                     plan->model_digest != NULL ? plan->model_digest : "unknown",
                     plan->inventory_digest != NULL ? plan->inventory_digest : "unknown");
    yoke_text_add(page, "</p></footer>\n");
}

static void add_page(const yoke_report_t *report, yoke_text_t *page)
{
    const yoke_plan_t *plan = report->plan;
    const char *model = plan->model_name != NULL ? plan->model_name : "a model";
    const char *cluster =
        plan->inventory_name != NULL ? plan->inventory_name : "a cluster";
    yoke_text_t title = {0};
    yoke_text_printf(&title, "%s on %s", model, cluster);
    yoke_html_begin(page, yoke_text_get(&title));
    yoke_text_add(page, "<header>\n<h1>");
    yoke_html_text(page, yoke_text_get(&title));
    yoke_text_add(page, "</h1>\n");
    add_facts(plan, page);
    yoke_text_add(page, "</header>\n");
    add_contents(page);
    yoke_text_add(page, "<main id=\"main\" tabindex=\"-1\">\n");
    yoke_report_cluster(report, page);
    yoke_report_placement(report, page);
    yoke_report_match(report, page);
    yoke_report_memory(report, page);
    yoke_report_timeline(report, page);
    yoke_report_what_ifs(report, page);
    yoke_report_certificate(report, page);
    yoke_text_add(page, "</main>\n");
    add_footer(plan, page);
    yoke_html_end(page);
    yoke_text_free(&title);
}

/* --- JSON
 * ----------------------------------------------------------------------------- */

static yoke_status_t write_json(const char *target, const char *path,
                                const yoke_report_t *report)
{
    json_t *root = json_object(), *items = json_array();
    yoke_json_set_string(root, "plan", path);
    yoke_json_set_number(root, "iteration_time", report->plan->iteration_time);
    for (size_t i = 0; i < report->what_if_count; i++) {
        json_t *item = json_object();
        yoke_json_set_string(item, "what", report->what_ifs[i].what);
        yoke_json_set_number(item, "iteration_time", report->what_ifs[i].step);
        json_array_append_new(items, item);
    }
    json_object_set_new(root, "what_ifs", items);
    yoke_status_t status = yoke_json_write(target, root);
    json_decref(root);
    return status;
}

static yoke_status_t write_report(const yoke_args_t *args, const char *path,
                                  const yoke_report_t *report)
{
    const char *json = yoke_args_value(args, "json");
    const char *out = yoke_args_value(args, "out");
    yoke_status_t status = YOKE_OK;
    if (json != NULL)
        status = write_json(json, path, report);
    if (status != YOKE_OK || (json != NULL && out == NULL))
        return status;
    yoke_text_t page = {0};
    add_page(report, &page);
    if (page.failed)
        status = yoke_fail_memory();
    else
        status = out != NULL ? yoke_file_write(out, page.data, page.size)
                             : yoke_write_output("-", yoke_text_get(&page));
    yoke_text_free(&page);
    return status;
}

/* --- command
 * -------------------------------------------------------------------------- */

static void free_report(yoke_report_t *report)
{
    for (size_t i = 0; i < report->what_if_count; i++)
        free(report->what_ifs[i].what);
    free(report->what_ifs);
    free(report->events);
    yoke_record_free(&report->record);
}

static yoke_status_t make_report(yoke_args_t *args, const char *path)
{
    yoke_plan_t *plan = NULL, *anew = NULL;
    yoke_model_t *model = NULL;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t words = {0};
    yoke_replay_t replay = {0};
    yoke_report_t report = {0};
    yoke_status_t status = yoke_plan_read(path, &plan);
    if (status == YOKE_OK)
        status = yoke_input_from_plan(args, plan, &words);
    if (status == YOKE_OK)
        status = yoke_input_model(args, &model);
    if (status == YOKE_OK)
        status = yoke_input_cluster(args, &inventory);
    if (status == YOKE_OK)
        status = yoke_plan_reevaluate(plan, model, inventory, &anew);
    if (status == YOKE_OK)
        status = yoke_replay_new(plan, model, inventory, NULL, 0, &replay);
    report.plan = anew;
    report.model = model;
    report.inventory = inventory;
    if (status == YOKE_OK)
        status = record_step(&replay, &report);
    if (status == YOKE_OK)
        status = add_what_ifs(&report, plan);
    if (status == YOKE_OK)
        status = write_report(args, path, &report);
    free_report(&report);
    yoke_replay_free(&replay);
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    yoke_plan_free(anew);
    yoke_plan_free(plan);
    yoke_strings_free(&words);
    return status;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_report_command, argc, argv, &args, &code))
        return code;
    if (args.positional_count != 1)
        code = yoke_usage_error(&yoke_report_command, "%s",
                                args.positional_count == 0 ? "no plan is given"
                                                           : "give one plan at a time");
    else
        code = yoke_status_exit_code(make_report(&args, args.positional[0]));
    yoke_args_free(&args);
    return code;
}
