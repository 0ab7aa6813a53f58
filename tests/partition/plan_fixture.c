/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/plan_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "partition/document.h"
#include "tests/costmodel/fixture.h"

yoke_model_t *fixture_plan_model(void)
{
    fixture_spec_t spec = {.layers = 8,
                           .hidden = 1024,
                           .ffn = 4096,
                           .heads = 16,
                           .kv_heads = 4,
                           .vocabulary = FIXTURE_VOCABULARY,
                           .gated = true};
    yoke_model_t *model = fixture_model(&spec);
    yoke_snprintf(model->digest, sizeof model->digest, "fnv1a64:%016x", 1u);
    return model;
}

char *fixture_plan_file(const char *name)
{
    const char *source = getenv("YOKE_SOURCE_DIR");
    char *path =
        yoke_format("%s/tests/partition/plans/%s", source != NULL ? source : ".", name);
    char *data = NULL;
    size_t size = 0;
    assert_non_null(path);
    assert_int_equal(yoke_file_read(path, 0, &data, &size), YOKE_OK);
    free(path);
    return data;
}

yoke_inventory_t *fixture_plan_cluster(void)
{
    yoke_inventory_t *cluster = NULL;
    char *text = fixture_plan_file("cluster.json");
    assert_int_equal(yoke_inventory_parse("cluster.json", text, strlen(text), &cluster),
                     YOKE_OK);
    free(text);
    return cluster;
}

yoke_plan_t *fixture_full_plan(const yoke_model_t *model, const yoke_inventory_t *cluster)
{
    char *text = fixture_plan_file("by-hand.json");
    yoke_plan_t *sketch = NULL, *plan = NULL;
    yoke_plan_options_t options;
    const char *exclude[1];
    yoke_problem_t *problem = NULL;
    yoke_layout_t layout;
    yoke_evaluation_t evaluation = {0};
    assert_int_equal(yoke_plan_parse("by-hand.json", text, strlen(text), &sketch),
                     YOKE_OK);
    assert_int_equal(yoke_plan_get_options(sketch, exclude, &options), YOKE_OK);
    options.command = "yoke plan --model m --cluster c";
    assert_int_equal(yoke_problem_new(model, cluster, &options, &problem), YOKE_OK);
    assert_int_equal(yoke_layout_from_plan(problem, sketch, &layout), YOKE_OK);
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    assert_int_equal(yoke_evaluate(problem, cache, &layout, NULL, NULL, &evaluation),
                     YOKE_OK);
    assert_int_equal(yoke_plan_from_layout(problem, cache, &layout, &evaluation, &plan),
                     YOKE_OK);
    plan->bound_time = plan->iteration_time / 1.25;
    plan->bound_gap = 0.25;
    plan->iteration_time_low = plan->iteration_time * 0.9;
    plan->iteration_time_high = plan->iteration_time * 1.1;
    assert_int_equal(yoke_plan_set_string(&plan->bound_binding, "work"), YOKE_OK);
    assert_int_equal(yoke_plan_add_alternative(plan, "even split", true, 2.5, "slower"),
                     YOKE_OK);
    assert_int_equal(yoke_plan_add_alternative(plan, "only Fast-80", false, 9, "no room"),
                     YOKE_OK);
    assert_int_equal(
        yoke_plan_add_sensitivity(plan, "type:Fast-80:bf16", 0.8, 1.25, 2, 1, "user"),
        YOKE_OK);
    assert_int_equal(yoke_plan_add_note(plan, "a note of %d words", 5), YOKE_OK);
    yoke_evaluation_free(&evaluation);
    yoke_cost_cache_free(cache);
    yoke_layout_free(&layout);
    yoke_problem_free(problem);
    yoke_plan_free(sketch);
    free(text);
    return plan;
}

static json_t *step_into(json_t *value, const char *key)
{
    if (json_is_array(value))
        return json_array_get(value, (size_t)strtoul(key, NULL, 10));
    return json_object_get(value, key);
}

/* The parent of what a pointer names; the last key goes to `last`. */
static json_t *walk(json_t *root, const char *pointer, char last[64])
{
    json_t *value = root;
    char *copy = yoke_strdup(pointer + 1), *rest = NULL;
    assert_non_null(copy);
    char *key = strtok_r(copy, "/", &rest);
    for (char *next; (next = strtok_r(NULL, "/", &rest)) != NULL; key = next) {
        value = step_into(value, key);
        if (value == NULL)
            fail_msg("%s leads nowhere at %s", pointer, key);
    }
    yoke_snprintf(last, 64, "%s", key);
    free(copy);
    return value;
}

json_t *fixture_at(json_t *root, const char *pointer)
{
    char last[64];
    json_t *value = step_into(walk(root, pointer, last), last);
    if (value == NULL)
        fail_msg("%s leads nowhere", pointer);
    return value;
}

void fixture_set(json_t *root, const char *pointer, const char *value)
{
    char last[64];
    json_t *parent = walk(root, pointer, last);
    json_t *parsed = json_loads(value, JSON_DECODE_ANY, NULL);
    assert_non_null(parsed);
    if (json_is_array(parent))
        assert_int_equal(
            json_array_set_new(parent, (size_t)strtoul(last, NULL, 10), parsed), 0);
    else
        assert_int_equal(json_object_set_new(parent, last, parsed), 0);
}

yoke_status_t fixture_parse(const json_t *root, yoke_plan_t **out_plan)
{
    char *text = json_dumps(root, JSON_REAL_PRECISION(17));
    assert_non_null(text);
    yoke_status_t status = yoke_plan_parse("plan.json", text, strlen(text), out_plan);
    free(text);
    return status;
}
