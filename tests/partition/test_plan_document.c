/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing the plan document. */
#include <stdarg.h>
#include <setjmp.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "partition/document.h"
#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

static yoke_status_t parse(const char *text, yoke_plan_t **out_plan)
{
    return yoke_plan_parse("plan.json", text, strlen(text), out_plan);
}

static void reads_a_plan_written_by_hand(void **state)
{
    (void)state;
    yoke_plan_t *plan = NULL;
    char *text = fixture_plan_file("by-hand.json");
    assert_int_equal(parse(text, &plan), YOKE_OK);
    assert_int_equal(plan->global_batch, 16);
    assert_int_equal(plan->sequence, 2048);
    assert_int_equal(plan->dtype, YOKE_BF16);
    assert_int_equal(plan->optimizer, YOKE_OPTIMIZER_ADAM);
    assert_true(plan->feasible);
    assert_string_equal(plan->memory_policy, "usable");
    assert_true(isnan(plan->iteration_time));
    assert_int_equal(plan->pipeline_count, 1);
    const yoke_plan_stage_t *stage = &plan->pipelines[0].stages[0];
    assert_int_equal(stage->chunks[0].last, 4);
    assert_int_equal(stage->recompute, YOKE_RECOMPUTE_NONE);
    assert_int_equal(stage->replicas[0].tp, 2); /* as many as there are devices */
    assert_int_equal(stage->replicas[0].cp, 1);
    assert_true(isnan(stage->replicas[0].share));
    assert_string_equal(stage->replicas[0].devices[1].device, "a1/gpu1");
    assert_true(isnan(stage->replicas[0].devices[1].memory.limit));
    assert_int_equal(plan->pipelines[0].stages[1].recompute, YOKE_RECOMPUTE_FULL);
    yoke_plan_free(plan);
    free(text);
}

/* text -> plan -> text -> plan -> text: the second text must be the first to the byte. */
static void assert_round_trip(const char *text)
{
    yoke_plan_t *first = NULL, *second = NULL;
    char *once = NULL, *twice = NULL;
    assert_int_equal(parse(text, &first), YOKE_OK);
    assert_int_equal(yoke_plan_text(first, &once), YOKE_OK);
    assert_int_equal(parse(once, &second), YOKE_OK);
    assert_int_equal(yoke_plan_text(second, &twice), YOKE_OK);
    assert_string_equal(once, twice);
    yoke_plan_free(first);
    yoke_plan_free(second);
    free(once);
    free(twice);
}

static void writes_what_it_read(void **state)
{
    (void)state;
    yoke_model_t *model = fixture_plan_model();
    yoke_inventory_t *cluster = fixture_plan_cluster();
    yoke_plan_t *plan = fixture_full_plan(model, cluster);
    char *text = NULL, *hand = fixture_plan_file("by-hand.json");
    assert_int_equal(yoke_plan_text(plan, &text), YOKE_OK);
    yoke_plan_t *read = NULL;
    char *again = NULL;
    assert_int_equal(parse(text, &read), YOKE_OK);
    assert_int_equal(yoke_plan_text(read, &again), YOKE_OK);
    assert_string_equal(text, again);
    assert_round_trip(hand);
    yoke_plan_free(read);
    yoke_plan_free(plan);
    fixture_model_free(model);
    yoke_inventory_free(cluster);
    free(text);
    free(again);
    free(hand);
}

static void keeps_the_users_own_members(void **state)
{
    (void)state;
    yoke_plan_t *plan = NULL;
    char *hand = fixture_plan_file("by-hand.json"), *text = NULL;
    assert_int_equal(parse(hand, &plan), YOKE_OK);
    assert_int_equal(yoke_plan_text(plan, &text), YOKE_OK);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(fixture_at(root, "/x-author")),
                        "written by hand");
    assert_string_equal(
        json_string_value(fixture_at(root, "/pipelines/0/stages/0/x-why/note")),
        "the fast cards take the embedding");
    json_decref(root);
    yoke_plan_free(plan);
    free(text);
    free(hand);
}

static void unknown_is_null(void **state)
{
    (void)state;
    yoke_plan_t *plan = NULL;
    char *hand = fixture_plan_file("by-hand.json"), *text = NULL;
    assert_int_equal(parse(hand, &plan), YOKE_OK);
    assert_int_equal(yoke_plan_text(plan, &text), YOKE_OK);
    json_t *root = json_loads(text, 0, NULL);
    static const char *const pointers[] = {
        "/predicted/iteration_time",
        "/predicted/iteration_time_range",
        "/bound/gap",
        "/made_by/command",
        "/schedule/micro_batches",
        "/pipelines/0/stages/0/predicted/forward",
        "/pipelines/0/stages/0/replicas/0/share",
        "/pipelines/0/stages/0/replicas/0/devices/0/memory/predicted",
        "/pipelines/0/stages/0/replicas/0/devices/0/memory/terms/weights",
        "/pipelines/0/stages/0/replicas/0/devices/0/type"};
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (!json_is_null(fixture_at(root, pointers[i])))
            fail_msg("%s is not null", pointers[i]);
    json_decref(root);
    yoke_plan_free(plan);
    free(text);
    free(hand);
}

typedef struct bad {
    const char *pointer, *value; /* set this in the plan written by hand */
    const char *message;         /* and this stands in the error */
} bad_t;

static void refuses_with_the_place(void **state)
{
    (void)state;
    static const bad_t cases[] = {
        {"/schema", "\"yoke-plan/2\"", "plan.json: /schema: must be \"yoke-plan/1\""},
        {"/schema", "7", "plan.json: /schema: must be a string"},
        {"/pipeline", "[]",
         "plan.json: unknown member \"pipeline\"; did you mean \"pipelines\"?"},
        {"/job", "null", "plan.json: /job: must not be null"},
        {"/job/global_batch", "0", "/job/global_batch: must be a whole number from 1"},
        {"/job/global_batch", "1.5", "/job/global_batch: must be a whole number from 1"},
        {"/job/dtype", "\"bf17\"", "/job/dtype: must be one of fp64"},
        {"/job/optimizer", "\"lion\"", "/job/optimizer: must be one of adam, sgd, none"},
        {"/job/memory", "\"1.5\"",
         "/job/memory: must be \"usable\", \"free\" or a fraction"},
        {"/job/memory", "\"0\"", "/job/memory: must be \"usable\""},
        {"/pipelines", "{}", "/pipelines: must be a list, found an object"},
        {"/pipelines/0/stages/1/chunks/0", "[5]",
         "/pipelines/0/stages/1/chunks/0: must be a list "
         "of two layer indexes"},
        {"/pipelines/0/stages/1/chunks/0/1", "-1",
         "/pipelines/0/stages/1/chunks/0/1: must be a "
         "layer index"},
        {"/pipelines/0/stages/1/recompute", "\"auto\"",
         "/pipelines/0/stages/1/recompute: must be "
         "one of none"},
        {"/pipelines/0/stages/0/replicas/0/micro_batch", "null",
         "/micro_batch: must not be null"},
        {"/pipelines/0/stages/0/replicas/0/share", "1.5",
         "/share: must be a number from 0 to 1"},
        {"/pipelines/0/stages/0/replicas/0/devices/1/device", "3",
         "/pipelines/0/stages/0/replicas/0/devices/1/device: must be a string, found 3"},
        {"/pipelines/0/stages/0/replicas/0/devices/1/memory", "{\"term\": {}}",
         "/devices/1/memory: unknown member \"term\"; did you mean \"terms\"?"},
        {"/pipelines/0/stages/0/replicas/0/devices/1/shards",
         "[{\"dimension\": \"rows\", \"begin\": 0, \"end\": 1}]",
         "/devices/1/shards/0/dimension: must be one of heads"},
        {"/groups", "[{\"kind\": \"data\"}]", "/groups/0: member \"ranks\" is missing"},
        {"/alternatives", "[{\"kind\": \"x\"}]",
         "/alternatives/0: member \"feasible\" is missing"},
        {"/notes", "[1]", "/notes/0: must be a string"},
        {"/predicted", "{\"iteration_time_range\": [1]}",
         "/predicted/iteration_time_range: must be a list of two numbers"},
    };
    char *hand = fixture_plan_file("by-hand.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *root = json_loads(hand, 0, NULL);
        yoke_plan_t *plan = NULL;
        fixture_set(root, cases[i].pointer, cases[i].value);
        assert_int_equal(fixture_parse(root, &plan), YOKE_ERR_BAD_INPUT);
        assert_null(plan);
        if (strstr(yoke_last_error(), cases[i].message) == NULL)
            fail_msg("'%s' does not say '%s'", yoke_last_error(), cases[i].message);
        json_decref(root);
    }
    free(hand);
}

/* A text cut short anywhere is refused, and nothing leaks (under the sanitizers). */
static void refuses_every_prefix(void **state)
{
    (void)state;
    char *hand = fixture_plan_file("by-hand.json");
    size_t size = strlen(hand);
    while (size > 0 && strchr(" \n", hand[size - 1]) != NULL)
        size--;
    yoke_log_set_level(YOKE_LOG_ERROR);
    for (size_t cut = 0; cut < size; cut++) {
        yoke_plan_t *plan = NULL;
        assert_int_equal(yoke_plan_parse("plan.json", hand, cut, &plan),
                         YOKE_ERR_BAD_INPUT);
        assert_null(plan);
    }
    free(hand);
}

static void knows_its_names(void **state)
{
    (void)state;
    yoke_memory_policy_t policy;
    double fraction;
    static const char *const bad[] = {"",    ".9",   "1.",    "0",    "0.0", "1.01",
                                      "92%", "1e-1", "0.9.2", "+0.9", "most"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(yoke_memory_policy_parse(bad[i], &policy, &fraction));
    assert_true(yoke_memory_policy_parse("0.92", &policy, &fraction));
    assert_int_equal(policy, YOKE_MEMORY_FRACTION);
    assert_true(fraction == 0.92);
    char *text = yoke_memory_policy_text(policy, fraction);
    assert_string_equal(text, "0.92");
    free(text);
    assert_string_equal(yoke_recompute_name(YOKE_RECOMPUTE_SELECTIVE), "selective");
    assert_string_equal(yoke_optimizer_name(YOKE_OPTIMIZER_SGD), "sgd");
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
        cmocka_unit_test(reads_a_plan_written_by_hand),
        cmocka_unit_test(writes_what_it_read),
        cmocka_unit_test(keeps_the_users_own_members),
        cmocka_unit_test(unknown_is_null),
        cmocka_unit_test(refuses_with_the_place),
        cmocka_unit_test(refuses_every_prefix),
        cmocka_unit_test(knows_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
