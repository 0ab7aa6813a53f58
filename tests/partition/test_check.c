/* SPDX-License-Identifier: Apache-2.0 */
/* `check`: a good plan passes; every kind of fault, and every single change, is found. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "partition/document.h"
#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

static yoke_model_t *model;
static yoke_inventory_t *cluster;

static int set_up(void **state)
{
    (void)state;
    model = fixture_plan_model();
    cluster = fixture_plan_cluster();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_model_free(model);
    yoke_inventory_free(cluster);
    return 0;
}

static json_t *hand_tree(void)
{
    char *text = fixture_plan_file("by-hand.json");
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static json_t *full_tree(void)
{
    char *text = NULL;
    yoke_plan_t *plan = fixture_full_plan(model, cluster);
    assert_int_equal(yoke_plan_text(plan, &text), YOKE_OK);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    yoke_plan_free(plan);
    free(text);
    return root;
}

/* Checks a tree, strictly: stale figures are faults. They are the caller's to free. */
static yoke_status_t check(const json_t *root, char **out_faults)
{
    yoke_plan_t *plan = NULL;
    *out_faults = NULL;
    yoke_status_t status = fixture_parse(root, &plan);
    if (status != YOKE_OK)
        return status;
    char *faults = NULL, *stale = NULL;
    status = yoke_plan_check_figures(plan, model, cluster, &faults, &stale);
    assert_true(status != YOKE_OK || faults == NULL);
    if (faults != NULL || stale != NULL) {
        *out_faults =
            yoke_format("%s%s", faults != NULL ? faults : "", stale != NULL ? stale : "");
        status = YOKE_ERR_NO;
    }
    free(faults);
    free(stale);
    yoke_plan_free(plan);
    return status;
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 0;
    for (; text != NULL && *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static void assert_valid(const json_t *root)
{
    char *faults = NULL;
    yoke_status_t status = check(root, &faults);
    if (status != YOKE_OK)
        fail_msg("status %d: %s%s", (int)status, faults != NULL ? faults : "",
                 yoke_last_error());
    assert_null(faults);
}

static void accepts_good_plans(void **state)
{
    (void)state;
    json_t *hand = hand_tree(), *full = full_tree();
    assert_valid(hand);
    assert_valid(full);
    json_decref(hand);
    json_decref(full);
}

/* --- one test a kind of fault ----------------------------------------------------------
 */

typedef struct fault {
    const char *pointer, *value;       /* the change */
    const char *second, *second_value; /* and another, or NULL */
    const char *expected;              /* stands in the faults */
} fault_t;

static void assert_fault(json_t *root, const fault_t *fault)
{
    char *faults = NULL;
    fixture_set(root, fault->pointer, fault->value);
    if (fault->second != NULL)
        fixture_set(root, fault->second, fault->second_value);
    yoke_status_t status = check(root, &faults);
    if (status != YOKE_ERR_NO || faults == NULL ||
        strstr(faults, fault->expected) == NULL)
        fail_msg("%s = %s: status %d, '%s' does not say '%s' (%s)", fault->pointer,
                 fault->value, (int)status, faults != NULL ? faults : "", fault->expected,
                 yoke_last_error());
    free(faults);
    json_decref(root);
}

#define STAGE0 "/pipelines/0/stages/0"
#define STAGE1 "/pipelines/0/stages/1"

static void finds_faults_of_layers(void **state)
{
    (void)state;
    static const fault_t faults[] = {
        {STAGE0 "/chunks/0/1", "3", NULL, NULL,
         STAGE1 "/chunks: layer 4 is in no stage before this one; it must begin at 4"},
        {STAGE0 "/chunks/0/1", "2", NULL, NULL,
         "layers 3 to 4 are in no stage before this one"},
        {STAGE0 "/chunks/0/1", "5", NULL, NULL,
         STAGE1 "/chunks: layer 5 is in an earlier stage already"},
        {STAGE1 "/chunks/0/1", "8", NULL, NULL,
         "/pipelines/0: layer 9 is in no stage; the model has 10 layers, 0 to 9"},
        {STAGE1 "/chunks/0/1", "10", NULL, NULL,
         STAGE1 "/chunks: [5, 10] passes the model's last layer, 9"},
        {STAGE0 "/chunks/0", "[5, 9]", STAGE1 "/chunks/0", "[0, 4]",
         STAGE1
         "/chunks: layers 0 to 4 are in an earlier stage already, or out of order"},
        {STAGE1 "/chunks", "[]", NULL, NULL, STAGE1 "/chunks: the stage holds no layer"},
        {STAGE1 "/chunks/0", "[9, 5]", NULL, NULL,
         STAGE1 "/chunks: the stage holds no layer"},
        {STAGE1 "/chunks", "[[5, 6], [7, 9]]", NULL, NULL,
         STAGE1
         "/chunks: 2 chunks: several chunks a stage (interleaved schedules) are not "
         "simulated yet"},
        {STAGE1 "/chunks", "[[5, 6], [6, 8]]", NULL, NULL,
         "/pipelines/0: layer 6 is in 2 chunks of the pipeline"},
        {"/pipelines/0/stages", "[]", NULL, NULL,
         "/pipelines/0: the pipeline has no stage"},
        {"/pipelines", "[]", NULL, NULL, "/pipelines: there is no pipeline"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_fault(hand_tree(), &faults[i]);
}

static void finds_faults_of_devices(void **state)
{
    (void)state;
#define DEVICE(n) STAGE0 "/replicas/0/devices/" n "/device"
    static const fault_t faults[] = {
        {DEVICE("1"), "\"a1/gpu9\"", NULL, NULL,
         DEVICE("1") ": the cluster has no device a1/gpu9"},
        {DEVICE("1"), "\"gpu1\"", NULL, NULL,
         "'gpu1' is no device name; write host/device-id"},
        {DEVICE("1"), "\"a1/gpu0\"", NULL, NULL,
         DEVICE("1") ": a1/gpu0 is used already by " STAGE0 "/replicas/0"},
        {DEVICE("1"), "\"a2/gpu1\"", NULL, NULL,
         "it is on host a2 and the first of its tensor group on a1"},
        {DEVICE("1"), "\"b1/npu1\"", NULL, NULL, "a tensor group must stay on one host"},
        {DEVICE("1"), "\"a1/old0\"", NULL, NULL,
         "a1/old0 cannot be planned on: it cannot compute in bf16"},
        {DEVICE("1"), "\"a1/old0\"", "/job/dtype", "\"fp16\"",
         "it is a Old-16 and the first of its tensor group a Fast-80; they must be "
         "equal"},
        {DEVICE("1"), "\"b1/npu9\"", NULL, NULL,
         "b1/npu9 cannot be planned on: taken out for repair"},
        {"/job/exclude", "[\"a1/gpu1\"]", NULL, NULL,
         "a1/gpu1 cannot be planned on: excluded by --exclude"},
        {"/job/nodes", "\"a1\"", NULL, NULL,
         "b1/npu0 is outside of the hosts that the job names (/job/nodes)"},
        {"/job/nodes", "\"c1\"", NULL, NULL, "the cluster has no host 'c1'"},
        {STAGE1 "/replicas", "[]", NULL, NULL, STAGE1 ": the stage has no replica"},
        {STAGE1 "/replicas/1/devices", "[]", NULL, NULL,
         STAGE1 "/replicas/1: the replica has no device"},
    };
#undef DEVICE
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_fault(hand_tree(), &faults[i]);
}

static void finds_faults_of_degrees_and_batch(void **state)
{
    (void)state;
    static const fault_t faults[] = {
        {STAGE0 "/replicas/0/tp", "3", NULL, NULL,
         STAGE0 "/replicas/0/tp: tp is 3 and 2 devices are listed"},
        {STAGE0 "/replicas/0/cp", "2", NULL, NULL,
         "cp is 2: context and expert parallelism"},
        {STAGE0 "/replicas/0/ep", "2", NULL, NULL,
         "ep is 2: context and expert parallelism"},
        {STAGE0 "/replicas/0/devices",
         "[{\"device\": \"a1/gpu0\"}, {\"device\": \"a1/gpu1\"}, {\"device\": "
         "\"a1/gpu2\"}]",
         NULL, NULL,
         STAGE0
         "/replicas/0/tp: layer 1 (unnamed) has 16 heads and 4 key/value heads, which 3 "
         "devices cannot share"},
        {STAGE1 "/replicas/1/micro_batch", "1", NULL, NULL,
         STAGE1 ": its replicas take 3 samples a step and those of stage 0 4"},
        {"/pipelines/0/micro_batches", "5", NULL, NULL,
         "/pipelines: the pipelines process 20 samples"},
        {"/job/global_batch", "32", NULL, NULL, "process 16 samples"},
        {STAGE0 "/replicas/0/share", "0.5", NULL, NULL,
         STAGE0 "/replicas/0/share: states 0.5, and 1 is right"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_fault(hand_tree(), &faults[i]);
}

/* By the evaluator, whatever the plan says of it. */
static void finds_memory_that_does_not_fit(void **state)
{
    (void)state;
    const fault_t tight = {"/job/memory", "\"0.01\"", NULL, NULL,
                           STAGE0
                           "/replicas/0/devices/0/memory: each device of this replica "
                           "needs "};
    assert_fault(hand_tree(), &tight);
    const fault_t lie = {"/job/memory", "\"0.01\"", STAGE0 "/replicas/0/devices/0/memory",
                         "{\"predicted\": 1, \"limit\": 2}", "too little"};
    assert_fault(hand_tree(), &lie);
}

static void finds_wrong_figures(void **state)
{
    (void)state;
#define SHARDS STAGE0 "/replicas/0/devices/0/shards"
    static const fault_t faults[] = {
        {"/predicted/iteration_time", "1", NULL, NULL,
         "/predicted/iteration_time: states 1, and "},
        {"/predicted/tokens_per_second", "1", NULL, NULL,
         "/predicted/tokens_per_second: states 1"},
        {"/predicted/iteration_time_range", "[0, 0.001]", NULL, NULL,
         "/predicted/iteration_time_range: 0 to 0.001 does not hold the time itself"},
        {"/bound/iteration_time", "1000", NULL, NULL,
         "a bound is at most any plan's time"},
        {"/bound/gap", "0.2", NULL, NULL, "/bound/gap: states 0.2, and 0.25"},
        {"/schedule/name", "\"gpipe\"", NULL, NULL,
         "/schedule/name: states \"gpipe\", and \"1f1b\""},
        {"/schedule/micro_batches", "5", NULL, NULL,
         "/schedule/micro_batches: states 5, and 4"},
        {STAGE1 "/predicted/backward", "1", NULL, NULL,
         STAGE1 "/predicted/backward: states 1"},
        {STAGE1 "/replicas/1/devices/0/memory/terms/weights", "1", NULL, NULL,
         STAGE1 "/replicas/1/devices/0/memory/terms/weights: states 1"},
        {STAGE1 "/replicas/1/devices/0/type", "\"Fast-80\"", NULL, NULL,
         "states \"Fast-80\", and \"Large-64\" is right"},
        {"/feasible", "false", NULL, NULL, "/feasible: states false, and the plan fits"},
        {"/limited_by", "\"the weather\"", NULL, NULL,
         "/limited_by: states \"the weather\", and \"compute of pipeline 0 stage "},
        {"/runnable_in", "[\"yoke\", \"megatron\"]", NULL, NULL,
         "/runnable_in: the placement can run in yoke"},
        {"/model/digest", "\"fnv1a64:0\"", NULL, NULL,
         "/model/digest: the plan was made for another model"},
        {"/inventory/digest", "\"fnv1a64:0\"", NULL, NULL,
         "/inventory/digest: the plan was made for another cluster"},
        {"/groups/0/ranks/0", "\"a1/gpu3\"", NULL, NULL,
         "/groups/0: its ranks are not the 2"},
        {"/groups/0/transport", "\"nic\"", NULL, NULL,
         "/groups/0/transport: states \"nic\""},
        {"/groups", "[{\"kind\": \"tensor\", \"ranks\": []}]", NULL, NULL,
         "/groups: lists 1 group, and the placement has 3"},
        {"/match/0/used", "1", NULL, NULL, "/match/0/used: states 1, and 2 is right"},
        {"/match/0/type", "\"X\"", NULL, NULL,
         "/match/0: the cluster has no device of type X"},
        {SHARDS "/0/end", "16000", NULL, NULL,
         "vocabulary 16000 to 16001 is on no device; the shards of a replica must cover "
         "0 to 32002"},
        {SHARDS "/0/end", "16002", NULL, NULL,
         "vocabulary 16001 to 16002 is on too many devices"},
        {SHARDS "/0/end", "40000", NULL, NULL,
         "vocabulary 0 to 40000 is no part of 0 to 32002"},
        {SHARDS "/1/dimension", "\"experts\"", NULL, NULL, "no shard of heads (0 to 16)"},
        {SHARDS "/1/end", "7", STAGE0 "/replicas/0/devices/1/shards/1/begin", "7",
         "heads 0 to 7: unequal shards are not simulated yet"},
        {SHARDS "/2", "{\"dimension\": \"kv_heads\", \"begin\": 2, \"end\": 4}",
         STAGE0 "/replicas/0/devices/1/shards/2",
         "{\"dimension\": \"kv_heads\", \"begin\": 0, \"end\": 2}",
         "heads 0 to 8 use kv_heads 0 to 2, and the device has 2 to 4"},
    };
#undef SHARDS
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_fault(full_tree(), &faults[i]);
}

/* The last part of a padded vocabulary may stop where the vocabulary does. */
static void accepts_an_unpadded_end(void **state)
{
    (void)state;
    char end[32];
    json_t *root = full_tree();
    yoke_snprintf(end, sizeof end, "%d", FIXTURE_VOCABULARY);
    fixture_set(root, STAGE0 "/replicas/0/devices/1/shards/0/end", end);
    assert_valid(root);
    json_decref(root);
}

static void collects_all_faults(void **state)
{
    (void)state;
    char *faults = NULL;
    json_t *root = hand_tree();
    fixture_set(root, STAGE0 "/chunks/0/1", "3");
    fixture_set(root, STAGE0 "/replicas/0/devices/1/device", "\"a1/gpu9\"");
    fixture_set(root, "/job/global_batch", "32");
    assert_int_equal(check(root, &faults), YOKE_ERR_NO);
    assert_int_equal(count_lines(faults), 3);
    free(faults);
    json_decref(root);
}

/* --- faults and stale figures apart
 * ------------------------------------------------------ */

/* Findings after a change: of which kind they must be. */
static void assert_kind(const char *pointer, const char *value, bool fault)
{
    yoke_plan_t *plan = NULL;
    char *faults = NULL, *stale = NULL, *only = NULL;
    json_t *root = full_tree();
    fixture_set(root, pointer, value);
    assert_int_equal(fixture_parse(root, &plan), YOKE_OK);
    yoke_status_t wanted = fault ? YOKE_ERR_NO : YOKE_OK;
    if (yoke_plan_check(plan, model, cluster, &only) != wanted ||
        yoke_plan_check_figures(plan, model, cluster, &faults, &stale) != wanted)
        fail_msg("%s = %s: %s", pointer, value, only != NULL ? only : "no fault");
    assert_true((only != NULL) == fault && (faults != NULL) == fault);
    assert_true(fault || stale != NULL);
    free(only);
    free(faults);
    free(stale);
    yoke_plan_free(plan);
    json_decref(root);
}

static void keeps_faults_and_stale_figures_apart(void **state)
{
    (void)state;
    static const char *const stale[][2] = {
        {"/predicted/iteration_time", "1"},
        {"/predicted/iteration_time_range", "[0, 0.001]"},
        {"/bound/gap", "0.2"},
        {"/schedule/micro_batches", "5"},
        {STAGE1 "/predicted/backward", "1"},
        {STAGE1 "/replicas/1/devices/0/memory/predicted", "1"},
        {STAGE1 "/replicas/1/devices/0/type", "\"Fast-80\""},
        {STAGE0 "/replicas/0/share", "0.5"},
        {"/groups/0/ranks/0", "\"a1/gpu3\""},
        {"/match/0/used", "1"},
        {"/feasible", "false"},
        {"/limited_by", "\"x\""},
        {"/runnable_in", "[\"torch\"]"},
    };
    static const char *const faults[][2] = {
        {"/job/global_batch", "32"},
        {"/job/exclude", "[\"a1/gpu1\"]"},
        {"/job/memory", "\"0.01\""},
        {STAGE0 "/chunks/0/1", "5"},
        {STAGE0 "/replicas/0/devices/1/device", "\"a1/gpu9\""},
        {STAGE0 "/replicas/0/devices/0/shards/0/end", "16000"},
        {"/schedule/name", "\"gpipe\""},
        {"/model/digest", "\"fnv1a64:0\""},
        {"/inventory/digest", "\"fnv1a64:0\""},
    };
    for (size_t i = 0; i < sizeof stale / sizeof *stale; i++)
        assert_kind(stale[i][0], stale[i][1], false);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_kind(faults[i][0], faults[i][1], true);
}

/* One layer moved in a plan with every figure stated. */
static yoke_plan_t *edited(const char *memory)
{
    yoke_plan_t *plan = NULL;
    json_t *root = full_tree();
    fixture_set(root, STAGE0 "/chunks/0/1", "3");
    fixture_set(root, STAGE1 "/chunks/0/0", "4");
    fixture_set(root, "/job/memory", memory);
    fixture_set(root, STAGE1 "/x-mine", "[1, 2]");
    assert_int_equal(fixture_parse(root, &plan), YOKE_OK);
    json_decref(root);
    return plan;
}

static void makes_an_edited_plan_whole(void **state)
{
    (void)state;
    char *faults = NULL, *stale = NULL, *text = NULL;
    yoke_plan_t *plan = edited("\"usable\""), *renewed = NULL, *again = NULL;
    assert_int_equal(yoke_plan_check_figures(plan, model, cluster, &faults, &stale),
                     YOKE_OK);
    assert_null(faults);
    assert_true(count_lines(stale) > 20);
    free(stale);
    stale = NULL;
    assert_int_equal(yoke_plan_renew(plan, model, cluster, "yoke check x", &renewed),
                     YOKE_OK);
    assert_int_equal(yoke_plan_text(renewed, &text), YOKE_OK);
    assert_int_equal(yoke_plan_parse("renewed", text, strlen(text), &again), YOKE_OK);
    assert_int_equal(yoke_plan_check_figures(again, model, cluster, &faults, &stale),
                     YOKE_OK);
    assert_null(faults);
    assert_null(stale);
    assert_int_equal(again->pipelines[0].stages[1].chunks[0].first, 4);
    assert_string_equal(again->made_by_command, "yoke check x");
    assert_true(again->iteration_time > 0 && isnan(again->bound_time));
    assert_true(again->iteration_time_low <= again->iteration_time &&
                again->iteration_time <= again->iteration_time_high);
    assert_int_equal(again->alternative_count, 0);
    assert_true(again->group_count == plan->group_count && again->match_count > 0);
    assert_non_null(strstr(text, "no bound and no alternatives"));
    assert_non_null(strstr(text, "\"x-mine\""));
    free(text);
    yoke_plan_free(again);
    yoke_plan_free(renewed);
    yoke_plan_free(plan);
}

/* The one thing that is wrong is not buried under figures that follow from it. */
static void says_first_that_it_does_not_fit(void **state)
{
    (void)state;
    char *faults = NULL, *stale = NULL;
    yoke_plan_t *plan = edited("\"0.01\"");
    assert_int_equal(yoke_plan_check_figures(plan, model, cluster, &faults, &stale),
                     YOKE_ERR_NO);
    for (const char *line = faults; *line != '\0'; line = strchr(line, '\n') + 1)
        if (strstr(line, "too little") == NULL ||
            strstr(line, "too little") > strchr(line, '\n'))
            fail_msg("%s", line);
    assert_non_null(strstr(stale, "/predicted/iteration_time: states "));
    free(faults);
    free(stale);
    yoke_plan_free(plan);
}

/* --- every single change ---------------------------------------------------------------
 */

/* A value of the same kind that says something else; NULL: nothing to change. */
static json_t *changed(const json_t *value)
{
    char *text;
    json_t *result;
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return json_integer(json_integer_value(value) + 1 +
                            json_integer_value(value) / 100);
    case JSON_REAL:
        return json_real(json_real_value(value) * 1.001);
    case JSON_STRING:
        text = yoke_format("%sz", json_string_value(value));
        result = json_string(text);
        free(text);
        return result;
    case JSON_TRUE:
        return json_false();
    case JSON_FALSE:
        return json_true();
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        break;
    }
    return NULL;
}

typedef struct mutation {
    json_t *root;
    unsigned tried;
} mutation_t;

static void assert_refused(mutation_t *run, const char *pointer, const char *what)
{
    char *faults = NULL;
    yoke_status_t status = check(run->root, &faults);
    if (status != YOKE_ERR_NO && status != YOKE_ERR_BAD_INPUT)
        fail_msg("%s %s: status %d, not refused", pointer, what, (int)status);
    free(faults);
    run->tried++;
}

static void mutate(mutation_t *run, json_t *value, const char *pointer);

static void mutate_member(mutation_t *run, json_t *object, const char *key,
                          json_t *member, const char *pointer)
{
    char *path = yoke_format("%s/%s", pointer, key);
    json_t *other = changed(member);
    json_incref(member);
    if (other != NULL) {
        json_object_set_new(object, key, other);
        assert_refused(run, path, "changed");
        json_object_set(object, key, member);
    } else {
        mutate(run, member, path);
    }
    json_decref(member);
    free(path);
}

static void mutate_item(mutation_t *run, json_t *array, size_t index, const char *pointer)
{
    char *path = yoke_format("%s/%zu", pointer, index);
    json_t *item = json_incref(json_array_get(array, index));
    json_t *other = changed(item);
    if (other != NULL) {
        json_array_set_new(array, index, other);
        assert_refused(run, path, "changed");
        json_array_set(array, index, item);
    } else {
        mutate(run, item, path);
    }
    json_array_remove(array, index);
    assert_refused(run, path, "removed");
    json_array_insert(array, index, item);
    json_array_insert(array, index, item);
    assert_refused(run, path, "doubled");
    json_array_remove(array, index);
    json_decref(item);
    free(path);
}

static void mutate(mutation_t *run, json_t *value, const char *pointer)
{
    const char *key;
    json_t *member;
    void *next;
    json_object_foreach_safe(value, next, key, member)
    {
        mutate_member(run, value, key, member, pointer);
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        mutate_item(run, value, i, pointer);
}

static void refuses_every_single_change(void **state)
{
    (void)state;
    static const char *const parts[] = {"pipelines", "job",       "groups",
                                        "schedule",  "predicted", "match"};
    mutation_t run = {full_tree(), 0};
    json_object_del(json_object_get(run.root, "predicted"), "iteration_time_range");
    /* The types may stand in part; what stands must be right. */
    json_array_remove(json_object_get(run.root, "match"), 0);
    assert_valid(run.root);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_t *part = json_object_get(run.root, parts[i]);
        char *pointer = yoke_format("/%s", parts[i]);
        if (strcmp(parts[i], "match") == 0)
            mutate(&run, json_array_get(part, 0), pointer);
        else
            mutate(&run, part, pointer);
        free(pointer);
    }
    assert_valid(run.root); /* all changes were undone */
    assert_true(run.tried > 250);
    json_decref(run.root);
}

/* --- degrees against heads (case plan-04)
 * ------------------------------------------------ */

static yoke_inventory_t *one_host(unsigned devices)
{
    yoke_text_t text = {0};
    yoke_inventory_t *inventory = NULL;
    yoke_text_add(
        &text,
        "{\"schema\":\"yoke-inventory/1\",\"nodes\":[{\"hosts\":\"h\",\"devices\":[");
    for (unsigned i = 0; i < devices; i++)
        yoke_text_printf(
            &text,
            "%s{\"id\":\"d%u\",\"kind\":\"gpu\",\"name\":\"T\",\"schedulable\":true,"
            "\"memory\":{\"total\":80000000000,\"usable\":80000000000,\"source\":"
            "\"user\"},\"compute\":{\"bf16\":{\"rate\":3e14,\"source\":\"user\"}},"
            "\"bandwidth\":{\"rate\":2e12,\"source\":\"user\"}}",
            i > 0 ? "," : "", i);
    yoke_text_add(&text, "]}]}");
    assert_int_equal(yoke_inventory_parse("cluster", text.data, text.size, &inventory),
                     YOKE_OK);
    yoke_text_free(&text);
    return inventory;
}

static json_t *one_stage(unsigned layers, unsigned devices)
{
    json_t *root =
        json_pack("{s:s,s:{s:i,s:i},s:[{s:i,s:[{s:[[i,i]],s:[{s:i,s:[]}]}]}]}", "schema",
                  "yoke-plan/1", "job", "global_batch", 4, "sequence", 128, "pipelines",
                  "micro_batches", 4, "stages", "chunks", 0, layers - 1, "replicas",
                  "micro_batch", 1, "devices");
    assert_non_null(root);
    json_t *list = fixture_at(root, STAGE0 "/replicas/0/devices");
    for (unsigned i = 0; i < devices; i++) {
        char name[16];
        yoke_snprintf(name, sizeof name, "h/d%u", i);
        json_array_append_new(list, json_pack("{s:s}", "device", name));
    }
    return root;
}

static void case_plan_04(void **state)
{
    (void)state;
    const char *source = getenv("YOKE_SOURCE_DIR");
    char *path = yoke_format("%s/tests/cases/plan-04-kv-heads/rows.json",
                             source != NULL ? source : ".");
    json_t *rows = json_load_file(path, 0, NULL), *row;
    const char *name;
    unsigned refused = 0;
    assert_non_null(rows);
    free(path);
    json_object_foreach(rows, name, row)
    {
        unsigned tp = (unsigned)json_integer_value(json_object_get(row, "tp"));
        fixture_spec_t spec = {.layers = 2, .ffn = 6720, .vocabulary = 1000};
        spec.heads = (uint64_t)json_integer_value(json_object_get(row, "heads"));
        spec.kv_heads = (uint64_t)json_integer_value(json_object_get(row, "kv"));
        spec.hidden = spec.heads * 64;
        yoke_model_t *rows_model = fixture_model(&spec);
        yoke_inventory_t *host = one_host(tp);
        json_t *root = one_stage(4, tp);
        yoke_plan_t *plan = NULL;
        char *faults = NULL;
        assert_int_equal(fixture_parse(root, &plan), YOKE_OK);
        yoke_status_t status = yoke_plan_check(plan, rows_model, host, &faults);
        if (strchr("abf", name[0]) != NULL) {
            assert_int_equal(status, YOKE_ERR_NO);
            assert_non_null(strstr(faults, "cannot share in whole heads"));
            refused++;
        } else {
            assert_int_equal(status, YOKE_OK);
        }
        free(faults);
        yoke_plan_free(plan);
        json_decref(root);
        yoke_inventory_free(host);
        fixture_model_free(rows_model);
    }
    assert_int_equal(refused, 3);
    json_decref(rows);
}

/* Row c: 32 heads and 4 key/value heads on 8 devices: each kv head on two. */
static void shards_copy_few_kv_heads(void **state)
{
    (void)state;
    fixture_spec_t spec = {.layers = 1,
                           .hidden = 4096,
                           .ffn = 8192,
                           .heads = 32,
                           .kv_heads = 4,
                           .vocabulary = 1001,
                           .experts = 16,
                           .experts_active = 2,
                           .expert_ffn = 512};
    yoke_model_t *sparse = fixture_model(&spec);
    yoke_extent_t extents[YOKE_EXTENT_MAX];
    size_t count = yoke_layer_extents(sparse, 0, 2, 8, extents);
    assert_int_equal(count, 4);
    uint64_t begin, end;
    for (size_t i = 0; i < count; i++) {
        yoke_extent_range(&extents[i], 5, 8, &begin, &end);
        if (strcmp(extents[i].dimension, "heads") == 0)
            assert_true(begin == 20 && end == 24);
        else if (strcmp(extents[i].dimension, "kv_heads") == 0)
            assert_true(begin == 2 && end == 3);
        else if (strcmp(extents[i].dimension, "experts") == 0)
            assert_true(begin == 10 && end == 12);
        else
            assert_true(begin == 630 && end == 756); /* 1001 padded to 8 x 126 */
    }
    /* 16 experts on 3 devices: every expert's columns instead */
    count = yoke_layer_extents(sparse, 1, 1, 3, extents);
    assert_int_equal(count, 3);
    assert_string_equal(extents[2].dimension, "columns");
    assert_int_equal(extents[2].size, 512);
    fixture_model_free(sparse);
}

static void quiet(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

int main(void)
{
    yoke_log_set_sink(quiet, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_good_plans),
        cmocka_unit_test(finds_faults_of_layers),
        cmocka_unit_test(finds_faults_of_devices),
        cmocka_unit_test(finds_faults_of_degrees_and_batch),
        cmocka_unit_test(finds_memory_that_does_not_fit),
        cmocka_unit_test(finds_wrong_figures),
        cmocka_unit_test(accepts_an_unpadded_end),
        cmocka_unit_test(collects_all_faults),
        cmocka_unit_test(keeps_faults_and_stale_figures_apart),
        cmocka_unit_test(makes_an_edited_plan_whole),
        cmocka_unit_test(says_first_that_it_does_not_fit),
        cmocka_unit_test(refuses_every_single_change),
        cmocka_unit_test(case_plan_04),
        cmocka_unit_test(shards_copy_few_kv_heads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
