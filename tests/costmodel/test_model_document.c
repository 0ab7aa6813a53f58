/* SPDX-License-Identifier: Apache-2.0 */
/* The yoke-model/1 document: round trips lose nothing, hand-written ones are checked. */
#include "model_support.h"

static char *text_of(const yoke_model_t *model)
{
    char *text = NULL;
    assert_int_equal(yoke_model_text(model, &text), YOKE_OK);
    return text;
}

static void check_round_trip(const yoke_model_t *model)
{
    char *first = text_of(model);
    yoke_model_t *again = support_parse(first);
    char *second = text_of(again);
    assert_string_equal(first, second);
    assert_string_equal(model->digest, again->digest);
    assert_int_equal(model->layer_count, again->layer_count);
    assert_int_equal(model->parameters_total, again->parameters_total);
    assert_int_equal(model->parameters_active, again->parameters_active);
    for (size_t i = 0; i < model->layer_count; i++) {
        assert_string_equal(model->layers[i].name, again->layers[i].name);
        assert_true(yoke_layer_equal(&model->layers[i], &again->layers[i]));
    }
    assert_int_equal(first[strlen(first) - 1], '\n');
    free(first);
    free(second);
    yoke_model_free(again);
}

/* Every small configuration, prediction layers included: all fields of all families. */
static void test_round_trip(void **state)
{
    (void)state;
    json_t *root = support_json(support_path("tests/costmodel/data/small-counts.json"));
    const char *file;
    json_t *entry;
    json_object_foreach(json_object_get(root, "models"), file, entry)
    {
        char path[256];
        yoke_model_options_t options = {.struct_size = sizeof options,
                                        .prediction_layers = true};
        snprintf(path, sizeof path, "tests/costmodel/data/small/%s", file);
        yoke_model_t *model = support_read(support_path(path), &options);
        check_round_trip(model);
        yoke_model_free(model);
    }
    json_decref(root);
}

/* 126 equal layers are written once; the reader has all of them. */
static void test_repeat(void **state)
{
    (void)state;
    yoke_model_t *model = support_read("llama-3.1-405b", NULL);
    char *text = text_of(model);
    json_t *root = json_loads(text, 0, NULL);
    json_t *layers = json_object_get(root, "layers");
    assert_int_equal(json_array_size(layers), 3);
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(layers, 1), "repeat")), 126);
    assert_true(strlen(text) < 20000);
    check_round_trip(model);
    json_decref(root);
    free(text);
    yoke_model_free(model);
}

#define DOCUMENT(HEADER, LAYERS)                                                         \
    "{\"schema\": \"yoke-model/1\"" HEADER ", \"layers\": [" LAYERS "]}"
#define LAYER(MORE)                                                                      \
    "{\"name\": \"block.7\", \"kind\": \"decoder\", \"hidden\": 8" MORE                  \
    ", \"tensors\": [{\"name\": \"w\", \"shape\": [16, 8]}, {\"name\": \"n\", "          \
    "\"shape\": [8]}]}"

static void test_by_hand(void **state)
{
    (void)state;
    yoke_model_t *model = support_parse(DOCUMENT("", LAYER(", \"repeat\": 3")));
    assert_int_equal(model->layer_count, 3);
    assert_string_equal(model->layers[0].name, "block.7");
    assert_string_equal(model->layers[2].name, "block.9");
    assert_int_equal(model->layers[2].parameters, 16 * 8 + 8);
    assert_int_equal(model->parameters_total, 3 * 136);
    assert_true(model->layers[1].tensors[0].matmul);
    assert_false(model->layers[1].tensors[1].matmul);
    /* Nothing is said of what is kept: input and output of every matmul, to be safe. */
    yoke_layer_work_t work;
    yoke_layer_get_work(&model->layers[0], 1, 10, 2, &work);
    assert_true(work.activation_bytes == 10 * 2 * (8 + 16));
    check_round_trip(model);
    yoke_model_free(model);
    /* What is stated and right is taken. */
    yoke_model_free(
        support_parse(DOCUMENT(", \"parameters\": {\"total\": 141, \"other\": 5}",
                               LAYER(", \"parameters\": 136"))));
}

static void test_stated_numbers(void **state)
{
    (void)state;
#define REFUSE(TEXT, A, B) support_refuse(TEXT, YOKE_ERR_BAD_INPUT, A, B, NULL)
    REFUSE(DOCUMENT("", LAYER(", \"parameters\": 137")), "/layers/0/parameters",
           "states 137, but its tensors make 136");
    REFUSE(DOCUMENT("", LAYER(", \"active\": 1")), "/layers/0/active", "136");
    REFUSE(DOCUMENT(", \"parameters\": {\"total\": 1}", LAYER("")), "/parameters/total",
           "136");
    REFUSE(DOCUMENT("", LAYER(", \"forward_flops\": {\"per_token\": 5}")),
           "/layers/0/forward_flops", "leave it out");
}

static void test_refusals(void **state)
{
    (void)state;
    REFUSE("{\"schema\": \"yoke-model/2\", \"layers\": []}", "/schema", "yoke-model/2");
    REFUSE(DOCUMENT("", ""), "/layers", "at least one");
    REFUSE("{\"schema\": \"yoke-model/1\"}", "layers", "missing");
    REFUSE(DOCUMENT(", \"layer\": 1", LAYER("")), "\"layer\"", "did you mean");
    REFUSE(DOCUMENT("", LAYER(", \"kin\": 1")), "/layers/0", "\"kin\"");
    REFUSE(DOCUMENT("", LAYER("") "," LAYER("")), "two layers have the name", "block.7");
    REFUSE(DOCUMENT("", LAYER(", \"repeat\": 0")), "/layers/0/repeat", "1");
    REFUSE(DOCUMENT("", LAYER(", \"repeat\": 300000")), "/layers/0/repeat", "200000");
    REFUSE(
        DOCUMENT("",
                 "{\"name\": \"x\", \"kind\": \"decoder\", \"hidden\": 8, \"repeat\": 2, "
                 "\"tensors\": []}"),
        "/layers/0/name", "number");
    REFUSE(
        DOCUMENT("",
                 "{\"name\": \"x\", \"kind\": \"mlp\", \"hidden\": 8, \"tensors\": []}"),
        "/layers/0/kind", "prediction");
#define TENSOR(T)                                                                        \
    DOCUMENT("",                                                                         \
             "{\"name\": \"x\", \"kind\": \"decoder\", \"hidden\": 8, \"tensors\": [" T  \
             "]}")
    REFUSE(TENSOR("{\"name\": \"w\"}"), "/layers/0/tensors/0", "shape");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": []}"), "/shape", "1 or 2");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [1,2,3]}"), "/shape", "1 or 2");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [0]}"), "/shape/0", "1 to");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [-1]}"), "/shape/0", "1 to");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [1073741824, 1073741825]}"), "2^60",
           NULL);
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [1152921504606846976], \"copies\": 9}"),
           "2^60", NULL);
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [4], \"copies\": 2, \"active\": 3}"),
           "/active", "0 to 2");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [4], \"shard\": \"rows\"}"), "/shard",
           "kv_heads");
    REFUSE(TENSOR("{\"name\": \"w\", \"shape\": [4], \"x-mine\": 1}"), "x-mine",
           "in layers");
    REFUSE(DOCUMENT("", LAYER(", \"attention\": {\"heads\": 1152921504606846976, "
                              "\"qk_dim\": 2}")),
           "/layers/0/attention", "2^60");
    REFUSE(DOCUMENT("", LAYER(", \"attention\": {\"heads\": 2, \"kv_heads\": 3}")),
           "/layers/0/attention/kv_heads", "2 heads");
}

/* A model of many tensors, repeated: no small file may take all the memory. */
static void test_bomb(void **state)
{
    (void)state;
    char *text = malloc(1 << 16);
    size_t size = 0;
    assert_non_null(text);
    size += (size_t)sprintf(
        text, "{\"schema\": \"yoke-model/1\", \"layers\": [{\"name\": \"b.0\", "
              "\"kind\": \"decoder\", \"hidden\": 1, \"repeat\": 200000, "
              "\"tensors\": [");
    for (int i = 0; i < 1000; i++)
        size += (size_t)sprintf(text + size, "%s{\"name\": \"t\", \"shape\": [1]}",
                                i == 0 ? "" : ",");
    sprintf(text + size, "]}]}");
    support_refuse(text, YOKE_ERR_BAD_INPUT, "tensors", NULL, NULL);
    free(text);
}

/* "x-*" members are kept at the top level and in layers. */
static void test_extra(void **state)
{
    (void)state;
    yoke_model_t *model = support_parse(
        DOCUMENT(", \"x-team\": {\"a\": [1, 2]}", LAYER(", \"x-note\": \"hot\"")));
    char *text = text_of(model);
    assert_non_null(strstr(text, "\"x-team\""));
    assert_non_null(strstr(text, "\"x-note\": \"hot\""));
    check_round_trip(model);
    free(text);
    yoke_model_free(model);
}

/* The digest is of the model: it ignores notices, and sees every number. */
static void test_digest(void **state)
{
    (void)state;
    yoke_model_t *plain = support_parse(DOCUMENT("", LAYER("")));
    yoke_model_t *noted = support_parse(DOCUMENT(", \"notices\": [\"n\"]", LAYER("")));
    yoke_model_t *other = support_parse(DOCUMENT("", LAYER(", \"parallel\": true")));
    assert_string_equal(plain->digest, noted->digest);
    assert_string_not_equal(plain->digest, other->digest);
    assert_int_equal(noted->notice_count, 1);
    yoke_model_free(plain);
    yoke_model_free(noted);
    yoke_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_stated_numbers),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_extra),      cmocka_unit_test(test_digest)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
