/* SPDX-License-Identifier: Apache-2.0 */
/* Splits that the user writes, and the split for serving. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/text.h"
#include "partition/kv_split.h"
#include "partition/split.h"
#include "tests/costmodel/fixture.h"

enum { MOST_STAGES = 32 };

static json_t *case_file(const char *folder, const char *name)
{
    const char *source = getenv("YOKE_SOURCE_DIR");
    char *path =
        yoke_format("%s/tests/cases/%s/%s", source != NULL ? source : ".", folder, name);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    free(path);
    return root;
}

static bool holds(const json_t *strings, const char *text)
{
    for (size_t i = 0; i < json_array_size(strings); i++)
        if (strcmp(json_string_value(json_array_get(strings, i)), text) == 0)
            return true;
    return false;
}

/* Case plan-11: 81 layers, 3 stages. */
static void case_plan_11(void **state)
{
    (void)state;
    json_t *strings = case_file("plan-11-user-partition", "strings.json");
    json_t *about = case_file("plan-11-user-partition", "case.json");
    const json_t *right = json_object_get(about, "right");
    size_t accepted = 0, refused = 0;
    for (size_t i = 0; i < json_array_size(strings); i++) {
        const char *text = json_string_value(json_array_get(strings, i));
        uint64_t split[3] = {7, 7, 7};
        yoke_status_t status = yoke_split_parse(text, 81, 3, split);
        if (holds(json_object_get(right, "accept"), text)) {
            assert_int_equal(status, YOKE_OK);
            assert_int_equal(split[0] + split[1] + split[2], 81);
            accepted++;
        } else {
            assert_true(holds(json_object_get(right, "refuse"), text));
            assert_int_equal(status, YOKE_ERR_USAGE);
            assert_true(split[0] == 7 && split[1] == 7 && split[2] == 7);
            assert_non_null(strstr(yoke_last_error(), text));
            refused++;
        }
    }
    assert_int_equal(accepted, 3);
    assert_int_equal(refused, 9);
    json_decref(strings);
    json_decref(about);
}

static void assert_refused(const char *text, uint64_t layers, size_t stages,
                           const char *message)
{
    uint64_t split[MOST_STAGES];
    assert_int_equal(yoke_split_parse(text, layers, stages, split), YOKE_ERR_USAGE);
    if (strstr(yoke_last_error(), message) == NULL)
        fail_msg("'%s' does not say '%s'", yoke_last_error(), message);
}

static void says_the_sum_the_count_or_the_item(void **state)
{
    (void)state;
    assert_refused("30,30,20", 81, 3, "sums to 80, and the model has 81");
    assert_refused("20,20,20,21", 81, 3, "has 4 items for 3 stages");
    assert_refused("40,,41", 81, 3, "item 2 is empty");
    assert_refused("27,27,27,", 81, 3, "item 4 is empty");
    assert_refused("", 81, 3, "item 1 is empty");
    assert_refused("0,40,41", 81, 3, "item 1 is 0");
    assert_refused("-1,41,41", 81, 3, "item 1, '-1', is no whole number");
    assert_refused("27;27;27", 81, 3, "item 1, '27;27;27', is no whole number");
    assert_refused("2147483647,1,1", 81, 3, "sums to 2147483649");
    assert_refused("99999999999999999999,1,1", 81, 3, "item 1, '99999999999999999999'");
    assert_refused("2 7,27,27", 81, 3, "item 1, '2 7'");
}

/* Case plan-01, row d: one stage, one layer of twenty. */
static void case_plan_01_d(void **state)
{
    (void)state;
    json_t *rows = case_file("plan-01-lost-layers", "rows.json");
    const json_t *row = json_object_get(rows, "d");
    char text[32];
    yoke_snprintf(
        text, sizeof text, "%d",
        (int)json_integer_value(json_object_get(row, "user_last_stage_layers")));
    assert_refused(text, (uint64_t)json_integer_value(json_object_get(row, "layers")),
                   (size_t)json_integer_value(json_object_get(row, "stages")),
                   "sums to 1, and the model has 20");
    json_decref(rows);
}

/* Case plan-07, row c: a split of zeros. */
static void case_plan_07_c(void **state)
{
    (void)state;
    json_t *rows = case_file("plan-07-too-many-devices", "rows.json");
    const json_t *row = json_object_get(rows, "c");
    const json_t *split = json_object_get(row, "user_split");
    yoke_text_t text = {0};
    for (size_t i = 0; i < json_array_size(split); i++)
        yoke_text_printf(&text, "%s%d", i > 0 ? "," : "",
                         (int)json_integer_value(json_array_get(split, i)));
    assert_refused(yoke_text_get(&text),
                   (uint64_t)json_integer_value(json_object_get(row, "layers")),
                   json_array_size(json_object_get(row, "devices")), "sum to 0");
    yoke_text_free(&text);
    json_decref(rows);
}

/* --- serving -------------------------------------------------------------------------
 */

static uint64_t least_tokens(const yoke_kv_problem_t *problem, const uint64_t *layers)
{
    uint64_t least = UINT64_MAX;
    for (size_t s = 0; s < problem->stages; s++) {
        uint64_t tokens = yoke_kv_tokens(problem, s, layers[s]);
        least = tokens < least ? tokens : least;
    }
    return least;
}

static uint64_t number(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Case plan-03: embedding and head weigh on the ends. */
static void case_plan_03(void **state)
{
    (void)state;
    json_t *model = case_file("plan-03-heavy-ends", "model.json");
    json_t *inventory = case_file("plan-03-heavy-ends", "inventory.json");
    json_t *about = case_file("plan-03-heavy-ends", "case.json");
    const json_t *right = json_object_get(about, "right");
    uint64_t usable[MOST_STAGES], split[MOST_STAGES], even[MOST_STAGES], tokens = 0,
                                                                         sum = 0;
    yoke_kv_problem_t problem = {
        .usable = usable,
        .stages = (size_t)number(inventory, "devices"),
        .layers = number(model, "layers"),
        .layer_bytes = number(model, "layer_bytes"),
        .first_extra = number(model, "embedding_bytes"),
        .last_extra = number(model, "head_bytes") + number(model, "final_norm_bytes"),
        .kv_bytes = number(model, "kv_bytes_per_token_per_layer")};
    assert_true(problem.stages <= MOST_STAGES);
    for (size_t s = 0; s < problem.stages; s++) {
        usable[s] = number(inventory, "usable_bytes");
        even[s] = problem.layers / problem.stages;
    }
    assert_int_equal(yoke_kv_split(&problem, split, &tokens), YOKE_OK);
    for (size_t s = 0; s < problem.stages; s++)
        sum += split[s];
    assert_int_equal(sum, problem.layers);
    assert_true(tokens >= number(right, "best_min_tokens"));
    assert_int_equal(least_tokens(&problem, split), tokens);
    assert_true(split[0] <= 9 && split[problem.stages - 1] <= 9);
    assert_int_equal(least_tokens(&problem, even),
                     number(right, "even_split_min_tokens"));
    json_decref(model);
    json_decref(inventory);
    json_decref(about);
}

/* Best of all splits, by trying each: most tokens, then least sum of squares. */
typedef struct best {
    uint64_t tokens, squares;
    bool found;
} best_t;

static void try_all(const yoke_kv_problem_t *problem, uint64_t *layers, size_t stage,
                    uint64_t left, best_t *best)
{
    if (stage + 1 == problem->stages) {
        uint64_t squares = 0;
        layers[stage] = left;
        for (size_t s = 0; s < problem->stages; s++) {
            uint64_t extra = (s == 0 ? problem->first_extra : 0) +
                             (s + 1 == problem->stages ? problem->last_extra : 0);
            if (extra + layers[s] * problem->layer_bytes > problem->usable[s])
                return;
            squares += layers[s] * layers[s];
        }
        uint64_t tokens = least_tokens(problem, layers);
        if (!best->found || tokens > best->tokens ||
            (tokens == best->tokens && squares < best->squares))
            *best = (best_t){tokens, squares, true};
        return;
    }
    for (uint64_t n = 1; n + (problem->stages - stage - 1) <= left; n++) {
        layers[stage] = n;
        try_all(problem, layers, stage + 1, left - n, best);
    }
}

static void equals_brute_force(void **state)
{
    (void)state;
    uint64_t random = 20240607, feasible = 0;
    for (int round = 0; round < 2000; round++) {
        uint64_t usable[5], split[5], tried[5], tokens = 0, squares = 0, sum = 0;
        yoke_kv_problem_t problem = {.usable = usable};
        problem.stages = 1 + (size_t)(fixture_random(&random) % 5);
        problem.layers = problem.stages + fixture_random(&random) % 10;
        problem.layer_bytes = fixture_random(&random) % 100;
        problem.kv_bytes = 1 + fixture_random(&random) % 8;
        problem.first_extra = fixture_random(&random) % 200;
        problem.last_extra = fixture_random(&random) % 200;
        for (size_t s = 0; s < problem.stages; s++)
            usable[s] = fixture_random(&random) % 1000;
        best_t best = {0};
        try_all(&problem, tried, 0, problem.layers, &best);
        yoke_status_t status = yoke_kv_split(&problem, split, &tokens);
        assert_int_equal(status, best.found ? YOKE_OK : YOKE_ERR_NO);
        if (status != YOKE_OK)
            continue;
        feasible++;
        for (size_t s = 0; s < problem.stages; s++) {
            sum += split[s];
            squares += split[s] * split[s];
            assert_true(split[s] >= 1);
        }
        assert_int_equal(sum, problem.layers);
        assert_int_equal(tokens, best.tokens);
        assert_int_equal(least_tokens(&problem, split), best.tokens);
        assert_int_equal(squares, best.squares);
    }
    assert_true(feasible > 200);
}

static void refuses_what_cannot_be_split(void **state)
{
    (void)state;
    uint64_t usable[2] = {10, UINT64_MAX}, split[2], tokens;
    yoke_kv_problem_t problem = {
        .usable = usable, .stages = 2, .layers = 1, .layer_bytes = 5, .kv_bytes = 1};
    assert_int_equal(yoke_kv_split(&problem, split, &tokens), YOKE_ERR_USAGE);
    problem.layers = 4;
    problem.kv_bytes = 0;
    assert_int_equal(yoke_kv_split(&problem, split, &tokens), YOKE_ERR_USAGE);
    problem.kv_bytes = UINT64_MAX;
    assert_int_equal(yoke_kv_split(&problem, split, &tokens), YOKE_OK);
    assert_int_equal(tokens, 0);
    problem.first_extra = 6;
    assert_int_equal(yoke_kv_split(&problem, split, &tokens), YOKE_ERR_NO);
    assert_non_null(strstr(yoke_last_error(), "stage 0 has no room for any layer"));
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
        cmocka_unit_test(case_plan_11),
        cmocka_unit_test(says_the_sum_the_count_or_the_item),
        cmocka_unit_test(case_plan_01_d),
        cmocka_unit_test(case_plan_07_c),
        cmocka_unit_test(case_plan_03),
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(refuses_what_cannot_be_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
