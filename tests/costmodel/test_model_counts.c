/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter counts of real configurations against tests/oracle/expected_counts.json,
 * whose numbers were not made by this program. "test_model_counts shared" compares those
 * that lie outside of the project, without an argument the test cases within it.
 */
#include "model_support.h"

static const char *folder; /* where the models of this run are */
static bool shared_run;

static uint64_t number(const json_t *entry, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(entry, key));
}

static void check_number(const char *file, const char *what, uint64_t got, uint64_t right)
{
    if (got != right)
        fail_msg("%s: %s is %llu, expected %llu", file, what, (unsigned long long)got,
                 (unsigned long long)right);
}

/* Runs of [times, parameters]: no layer lost, none double. */
static void check_layers(const char *file, const yoke_model_t *model, const json_t *runs)
{
    size_t layer = 0, i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        json_int_t times = json_integer_value(json_array_get(run, 0));
        for (json_int_t k = 0; k < times; k++) {
            layer++;
            assert_true(layer < model->layer_count);
            if (model->layers[layer].kind != YOKE_LAYER_DECODER)
                fail_msg("%s: layer %zu is no decoder", file, layer);
            check_number(file, model->layers[layer].name, model->layers[layer].parameters,
                         (uint64_t)json_integer_value(json_array_get(run, 1)));
        }
    }
    check_number(file, "the number of layers", model->layer_count, layer + 2);
}

static uint64_t extra_embeddings(const json_t *entry)
{
    return number(json_object_get(entry, "other"), "transformer.wpe.weight");
}

/* A file without a vision part is counted without it; the oracle made one of defaults. */
static bool text_only(const json_t *entry)
{
    return json_is_true(json_object_get(entry, "vision_from_defaults"));
}

static void check_model(const char *file, const yoke_model_t *model, const json_t *entry)
{
    const yoke_layer_t *head = &model->layers[model->layer_count - 1];
    const yoke_layer_t *embedding = &model->layers[0];
    bool text = text_only(entry);
    assert_string_equal(model->architecture,
                        json_string_value(json_object_get(entry, "architecture")));
    check_number(file, "total", model->parameters_total,
                 number(entry, text ? "text" : "total"));
    check_number(file, "active", model->parameters_active,
                 number(entry, text ? "text_active" : "active"));
    check_number(file, "embedding", embedding->parameters,
                 number(entry, "embedding") + extra_embeddings(entry));
    check_number(file, "head", head->parameters,
                 number(entry, "head") + number(entry, "final_norm"));
    assert_int_equal(model->tied, json_is_true(json_object_get(entry, "tied")));
    if (json_object_get(entry, "text") != NULL)
        check_number(file, "text", model->parameters_total - model->parameters_other,
                     number(entry, "text"));
    check_layers(file, model, json_object_get(entry, "layers"));
}

/* A case file is named by its folder, a model of the shared data by itself. */
static bool in_this_run(const char *file)
{
    return (strchr(file, '/') == NULL) == shared_run;
}

static void test_counts(void **state)
{
    (void)state;
    json_t *root = support_json(support_path("tests/oracle/expected_counts.json"));
    const char *file;
    json_t *entry;
    unsigned compared = 0;
    json_object_foreach(json_object_get(root, "models"), file, entry)
    {
        char path[4096];
        if (!in_this_run(file))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, file);
        yoke_model_t *model = support_read(path, NULL);
        check_model(file, model, entry);
        yoke_model_free(model);
        compared++;
    }
    json_decref(root);
    assert_true(compared >= (shared_run ? 43 : 7));
    printf("compared %u configurations\n", compared);
}

static void test_refused(void **state)
{
    (void)state;
    if (!shared_run)
        return;
    json_t *root = support_json(support_path("tests/oracle/expected_counts.json"));
    const char *file;
    json_t *entry;
    json_object_foreach(json_object_get(root, "refused"), file, entry)
    {
        char path[4096];
        yoke_model_t *model = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, file);
        assert_int_equal(yoke_model_read(path, NULL, &model), YOKE_ERR_UNSUPPORTED);
        assert_non_null(strstr(yoke_last_error(), "DeepSeek's own inference code"));
    }
    json_decref(root);
}

/* Published totals, apart from any file of the project. */
static void test_published(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t total, active;
    } known[] = {{"gpt2", 124439808, 124439808},
                 {"llama-2-7b", 6738415616, 6738415616},
                 {"llama-2-13b", 13015864320, 13015864320},
                 {"llama-3.1-8b", 8030261248, 8030261248},
                 {"llama-3.1-70b", 70553706496, 70553706496},
                 {"llama-3.1-405b", 405853388800, 405853388800},
                 {"mixtral-8x7b", 46702792704, 12879925248},
                 {"qwen3-8b", 8190735360, 8190735360},
                 {"deepseek-v3", 671026419200, 37552297472}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        yoke_model_t *model = support_read(known[i].name, NULL);
        check_number(known[i].name, "total", model->parameters_total, known[i].total);
        check_number(known[i].name, "active", model->parameters_active, known[i].active);
        assert_string_equal(model->name, known[i].name);
        assert_int_equal(model->notice_count, 0);
        yoke_model_free(model);
    }
}

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

int main(int argc, char **argv)
{
    static char models[4096], cases[4096];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_published)};
    shared_run = argc > 1 && strcmp(argv[1], "shared") == 0;
    const char *shared = getenv("YOKE_SHARED_DIR");
    snprintf(models, sizeof models, "%s/models", shared == NULL ? "../shared" : shared);
    snprintf(cases, sizeof cases, "%s", support_path("tests/cases"));
    folder = shared_run ? models : cases;
    if (shared_run && !exists(models)) {
        printf("skipped: no reference models at %s (set YOKE_SHARED_DIR)\n", models);
        return 77;
    }
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
