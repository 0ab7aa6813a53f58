/* SPDX-License-Identifier: Apache-2.0 */
/* What the planner asks for before it plans: names that are near, and all that is
 * missing. */
#include "tests/base/support.h"

#include "base/error.h"
#include "base/text.h"
#include "partition/problem.h"
#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

static const yoke_plan_options_t options = {.struct_size = sizeof options,
                                            .dtype = YOKE_BF16};

/* The answer to a cluster file of one known card and one of the given type or name. */
static char *answer(const char *member, const char *type, yoke_status_t expected)
{
    char *text = yoke_format(
        "{\"schema\": \"yoke-inventory/1\", \"nodes\": [{\"hosts\": \"n1\", \"devices\": "
        "["
        "{\"id\": \"g0\", \"kind\": \"gpu\", \"name\": \"A\", \"compute\": {\"bf16\": "
        "{\"rate\": 1e14}}, \"bandwidth\": {\"rate\": 1e12}, \"memory\": {\"total\": "
        "80000000000}}, {\"id\": \"g1\", \"kind\": \"gpu\", \"%s\": \"%s\"}]}]}",
        member, type);
    yoke_inventory_t *inventory = NULL;
    yoke_model_t *model = fixture_plan_model();
    yoke_problem_t *problem = NULL;
    assert_non_null(text);
    assert_int_equal(yoke_inventory_parse("c.json", text, strlen(text), &inventory),
                     YOKE_OK);
    assert_int_equal(yoke_problem_new(model, inventory, &options, &problem), expected);
    free(text);
    text = yoke_strdup(yoke_last_error());
    assert_non_null(text);
    yoke_inventory_free(inventory);
    fixture_model_free(model);
    return text;
}

static void assert_says(const char *text, const char *part, bool says)
{
    if ((strstr(text, part) != NULL) != says)
        fail_msg("%s '%s' in: %s", says ? "no" : "there is", part, text);
}

static void names_what_is_near(void **state)
{
    (void)state;
    static const struct {
        const char *member, *name, *part;
        bool says;
    } rows[] = {
        {"type", "H100-PCI", "type 'H100-PCI' is not in the catalog; near are H100-PCIE",
         true},
        {"name", "H100-PCI", "'H100-PCI' is not in the catalog; near are", true},
        {"type", "qwxyz", "type 'qwxyz' is not in the catalog", true},
        {"type", "DCU BW1000", "catalog", false}, /* there, its rates are not */
        {"name", "qwxyz", "catalog", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = answer(rows[i].member, rows[i].name, YOKE_ERR_UNKNOWN_RATE);
        assert_says(text, "give --assume", true);
        assert_says(text, rows[i].part, rows[i].says);
        free(text);
    }
}

/* The answer to a card of which only some figures are given by --assume. */
static yoke_status_t assume(const char *figures, yoke_problem_t **out)
{
    static const char *const text =
        "{\"schema\": \"yoke-inventory/1\", \"nodes\": [{\"hosts\": \"n1\", \"devices\": "
        "["
        "{\"id\": \"g0\", \"kind\": \"gpu\", \"name\": \"A\", \"compute\": {\"bf16\": "
        "{\"rate\": 1e14}}, \"bandwidth\": {\"rate\": 1e12}, \"memory\": {\"total\": "
        "80000000000}}, {\"id\": \"g1\", \"kind\": \"gpu\", \"name\": \"New\", "
        "\"compute\": "
        "{\"bf16\": {\"rate\": 1e14}}, \"bandwidth\": {\"rate\": 1e12}}]}]}";
    static yoke_inventory_t *inventory; /* the problem points into both */
    static yoke_model_t *model;
    if (model != NULL)
        fixture_model_free(model);
    yoke_inventory_free(inventory);
    model = NULL;
    inventory = NULL;
    *out = NULL;
    if (figures == NULL)
        return YOKE_OK;
    model = fixture_plan_model();
    assert_int_equal(yoke_inventory_parse("c.json", text, strlen(text), &inventory),
                     YOKE_OK);
    if (*figures != '\0' && yoke_inventory_assume(inventory, figures) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return yoke_problem_new(model, inventory, &options, out);
}

static void assumed_types_are_not_left_out(void **state)
{
    (void)state;
    static const char *const partly[] = {"type:New:bf16=300T", "type:New:hbm=1.6T",
                                         "n1/g1:bf16=300T,hbm=1.6T", "kind:gpu:link=50G"};
    yoke_problem_t *problem = NULL;
    for (size_t i = 0; i < sizeof partly / sizeof *partly; i++) {
        assert_int_equal(assume(partly[i], &problem), YOKE_ERR_UNKNOWN_RATE);
        assert_says(yoke_last_error(), "the memory size of type New is unknown", true);
        assert_says(yoke_last_error(), "--assume 'type:New:memory=SIZE'", true);
        assert_says(yoke_last_error(), "bf16", false);
    }
    assert_int_equal(assume("type:New:bf16=300T,hbm=1.6T,memory=64GiB", &problem),
                     YOKE_OK);
    assert_int_equal(problem->slot_count, 2);
    yoke_problem_free(problem);

    /* Nobody asked for it: left out and named, as before. */
    assert_int_equal(assume("", &problem), YOKE_OK);
    assert_int_equal(problem->slot_count, 1);
    assert_int_equal(problem->unused_count, 1);
    assert_says(problem->unused[0].reason, "memory is unknown", true);
    yoke_problem_free(problem);
    assert_int_equal(assume(NULL, &problem), YOKE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_is_near),
        cmocka_unit_test(assumed_types_are_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
