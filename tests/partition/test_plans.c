/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of generated and of bundled clusters: `check` refuses none, and neither the order
 * of nodes and devices nor the locale changes a byte. With the argument "print" the
 * program prints the plans, so that determinism.sh can compare other builds of the same
 * code.
 */
#include "tests/base/support.h"

#include "partition/check.h"
#include "tests/partition/instances.h"

enum { INSTANCES = 40, ORDERS = 3 };

static const char *const clusters[] = {"h100-a100", "a100-ascend910b"};

/* Text of the plan, or the error message; caller frees. */
static char *plan_text(const yoke_model_t *model, const yoke_inventory_t *inventory,
                       const yoke_plan_options_t *options, bool check)
{
    yoke_plan_t *plan = NULL;
    char *text = NULL, *faults = NULL;
    yoke_status_t status = yoke_plan_search(model, inventory, options, &plan);
    if (status != YOKE_OK) {
        assert_int_equal(status, YOKE_ERR_NO);
        text = strdup(yoke_last_error());
        assert_non_null(text);
        return text;
    }
    assert_int_equal(yoke_plan_text(plan, &text), YOKE_OK);
    char *stale = NULL;
    if (check &&
        (yoke_plan_check_figures(plan, model, inventory, &faults, &stale) != YOKE_OK ||
         stale != NULL))
        fail_msg("%s: refused: %s\n%s%s", model->name, yoke_last_error(),
                 faults ? faults : "", stale ? stale : "");
    yoke_plan_free(plan);
    return text;
}

/* Equal texts, or the first line that differs. */
static void assert_same(const char *what, const char *first, const char *text)
{
    size_t line = 0, i = 0;
    for (; first[i] != '\0' && first[i] == text[i]; i++)
        if (first[i] == '\n')
            line = i + 1;
    if (first[i] != text[i])
        fail_msg("%s: \"%.*s\" was \"%.*s\"", what, (int)strcspn(text + line, "\n"),
                 text + line, (int)strcspn(first + line, "\n"), first + line);
}

static void make(uint64_t seed, instance_t *instance)
{
    instance_make(500000 + seed, instance);
    instance->options.effort = 2000;
    instance->options.command = "yoke plan";
}

static yoke_inventory_t *load_cluster(const char *name)
{
    const char *folder = getenv("YOKE_DATA_DIR");
    char path[512];
    yoke_inventory_t *inventory = NULL;
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/clusters/%s.json", folder, name);
    if (yoke_cluster_load(path, &inventory) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return inventory;
}

static yoke_model_t *load_model(void)
{
    yoke_model_t *model = NULL;
    if (yoke_model_read("llama-2-13b", NULL, &model) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return model;
}

static const yoke_plan_options_t bundled_options = {.struct_size = sizeof bundled_options,
                                                    .global_batch = 128,
                                                    .sequence = 4096,
                                                    .dtype = YOKE_BF16,
                                                    .recompute = YOKE_RECOMPUTE_AUTO,
                                                    .effort = 2000,
                                                    .command = "yoke plan"};

static void check_accepts_every_plan(void **state)
{
    (void)state;
    unsigned plans = 0;
    for (uint64_t seed = 1; seed <= 6 * INSTANCES; seed++) {
        instance_t instance;
        make(seed, &instance);
        char *text =
            plan_text(instance.model, instance.inventory, &instance.options, true);
        plans += text[0] == '{';
        /* What was written can be read, and is accepted as well. */
        if (text[0] == '{') {
            yoke_plan_t *plan = NULL;
            char *faults = NULL, *stale = NULL, *again = NULL;
            assert_int_equal(yoke_plan_parse("plan", text, strlen(text), &plan), YOKE_OK);
            if (yoke_plan_check_figures(plan, instance.model, instance.inventory, &faults,
                                        &stale) != YOKE_OK ||
                stale != NULL)
                fail_msg("seed %u: refused when read again: %s%s", (unsigned)seed,
                         faults ? faults : yoke_last_error(), stale ? stale : "");
            assert_int_equal(yoke_plan_text(plan, &again), YOKE_OK);
            assert_same("read and written", text, again);
            free(again);
            yoke_plan_free(plan);
        }
        free(text);
        instance_free(&instance);
    }
    printf("%u plans, none refused\n", plans);
    assert_true(plans > 3 * INSTANCES);
}

static void order_changes_no_byte(void **state)
{
    (void)state;
    random_source_t random = {11};
    for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
        instance_t instance;
        make(seed, &instance);
        char *first =
            plan_text(instance.model, instance.inventory, &instance.options, false);
        for (unsigned i = 0; i < ORDERS; i++) {
            inventory_shuffle(instance.inventory, &random);
            char *text =
                plan_text(instance.model, instance.inventory, &instance.options, false);
            assert_same("another order", first, text);
            free(text);
        }
        free(first);
        instance_free(&instance);
    }
}

static void order_changes_no_byte_of_bundled_clusters(void **state)
{
    (void)state;
    random_source_t random = {12};
    yoke_model_t *model = load_model();
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        yoke_inventory_t *inventory = load_cluster(clusters[i]);
        char *first = plan_text(model, inventory, &bundled_options, true);
        assert_true(first[0] == '{');
        inventory_shuffle(inventory, &random);
        char *text = plan_text(model, inventory, &bundled_options, true);
        assert_same("another order", first, text);
        free(text);
        free(first);
        yoke_inventory_free(inventory);
    }
    yoke_model_free(model);
}

static void locale_changes_no_byte(void **state)
{
    (void)state;
    instance_t instance;
    make(3, &instance);
    char *first = plan_text(instance.model, instance.inventory, &instance.options, false);
    use_comma_locale();
    char *text = plan_text(instance.model, instance.inventory, &instance.options, false);
    setlocale(LC_ALL, "C");
    assert_same("a decimal comma", first, text);
    free(text);
    free(first);
    instance_free(&instance);
}

static int print_all(void)
{
    for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
        instance_t instance;
        make(seed, &instance);
        char *text =
            plan_text(instance.model, instance.inventory, &instance.options, false);
        printf("%s\n", text);
        free(text);
        instance_free(&instance);
    }
    yoke_model_t *model = load_model();
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        yoke_inventory_t *inventory = load_cluster(clusters[i]);
        char *text = plan_text(model, inventory, &bundled_options, false);
        printf("%s\n", text);
        free(text);
        yoke_inventory_free(inventory);
    }
    yoke_model_free(model);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_accepts_every_plan),
        cmocka_unit_test(order_changes_no_byte),
        cmocka_unit_test(order_changes_no_byte_of_bundled_clusters),
        cmocka_unit_test(locale_changes_no_byte),
    };
    yoke_log_set_sink(drop_line, NULL);
    if (argc > 1 && strcmp(argv[1], "print") == 0)
        return print_all();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
