/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors indexes (case model-10) and headers, honest and hostile, beside a config.
 */
#include <sys/stat.h>

#include "costmodel/model_safetensors.h"
#include "model_support.h"

#define CASE "tests/cases/model-10-shard-index"

static yoke_model_t *with_index(const char *index)
{
    yoke_model_options_t options = {.struct_size = sizeof options, .index = index};
    return support_read(support_path(CASE "/config.json"), &options);
}

static void check_case(const char *index, const char *notice)
{
    yoke_model_t *model = with_index(support_path(index));
    assert_int_equal(model->parameters_total, 106816);
    assert_int_equal(model->notice_count, notice == NULL ? 0 : 1);
    if (notice != NULL && !support_noticed(model, notice))
        fail_msg("%s: \"%s\" does not say \"%s\"", index, model->notices[0], notice);
    yoke_model_free(model);
}

static void test_case_10(void **state)
{
    (void)state;
    check_case(CASE "/index-good.json", NULL);
    check_case(CASE "/index-nometa.json", NULL);
    check_case(CASE "/index-stale.json", "the index says 999999 bytes, expected 213632");
    check_case(CASE "/index-empty.json", "no tensors");
    check_case(CASE "/index-extra.json", "layer 2 is not in a 2-layer model");
    yoke_model_t *model = NULL;
    yoke_model_options_t options = {.struct_size = sizeof options,
                                    .index = support_path(CASE "/index-outside.json")};
    assert_int_equal(yoke_model_read(support_path(CASE "/config.json"), &options, &model),
                     YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "leaves the directory"));
    assert_non_null(strstr(yoke_last_error(), "/weight_map/lm_head.weight"));
}

static void refuse_index(const char *text, const char *part)
{
    yoke_safetensors_t index = {0};
    assert_int_equal(yoke_safetensors_parse_index("i", text, strlen(text), &index),
                     YOKE_ERR_BAD_INPUT);
    if (strstr(yoke_last_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", yoke_last_error(), part);
}

static void test_index_refusals(void **state)
{
    (void)state;
    refuse_index("[]", "object");
    refuse_index("{}", "weight_map");
    refuse_index("{\"weight_map\": []}", "object");
    refuse_index("{\"weight_map\": {\"a\": 3}}", "/weight_map/a");
    refuse_index("{\"weight_map\": {\"a\": \"/etc/passwd\"}}", "leaves the directory");
    refuse_index("{\"weight_map\": {\"a\": \"..\"}}", "leaves the directory");
    refuse_index("{\"weight_map\": {\"a\": \"x/../../y\"}}", "leaves the directory");
    refuse_index("{\"weight_map\": {\"a\": \"..\\\\y\"}}", "leaves the directory");
    refuse_index("{\"weight_map\": {\"a\": \"\"}}", "leaves the directory");
    refuse_index("{\"metadata\": {\"total_size\": -1}, \"weight_map\": {}}",
                 "total_size");
    refuse_index("{\"metadata\": {\"total_size\": \"9\"}, \"weight_map\": {}}",
                 "total_size");
    yoke_safetensors_t index = {0};
    const char *good = "{\"metadata\": {\"total_size\": 9.0}, \"weight_map\": {\"b\": "
                       "\"sub/..x\", \"a\": \"a..b\"}}";
    assert_int_equal(yoke_safetensors_parse_index("i", good, strlen(good), &index),
                     YOKE_OK);
    assert_int_equal(index.count, 2);
    assert_int_equal(index.total, 9);
    assert_string_equal(index.entries[0].name, "a");
    yoke_safetensors_free(&index);
}

/* A header of `json` in front of `data` bytes; `length` < 0: the true length. */
static yoke_status_t parse_header(const char *json, uint64_t data, int64_t length,
                                  yoke_safetensors_t *out)
{
    size_t size = strlen(json);
    unsigned char *bytes = malloc(size + 8);
    assert_non_null(bytes);
    uint64_t stated = length < 0 ? size : (uint64_t)length;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(stated >> (8 * i));
    memcpy(bytes + 8, json, size);
    yoke_status_t status =
        yoke_safetensors_parse_header("h", bytes, size + 8, size + 8 + data, out);
    free(bytes);
    return status;
}

static void refuse_header(const char *json, uint64_t data, int64_t length,
                          const char *part)
{
    yoke_safetensors_t header = {0};
    assert_int_equal(parse_header(json, data, length, &header), YOKE_ERR_BAD_INPUT);
    if (strstr(yoke_last_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", yoke_last_error(), part);
}

#define ENTRY(NAME, DTYPE, SHAPE, BEGIN, END)                                            \
    "\"" NAME "\": {\"dtype\": \"" DTYPE "\", \"shape\": " SHAPE                         \
    ", \"data_offsets\": [" BEGIN ", " END "]}"

static void test_headers(void **state)
{
    (void)state;
    yoke_safetensors_t header = {0};
    const char *good = "{\"__metadata__\": {\"format\": \"pt\"}, " ENTRY(
        "b", "BF16", "[2, 3]", "8", "20") ", " ENTRY("a", "F32", "[2]", "0", "8") "}";
    assert_int_equal(parse_header(good, 20, -1, &header), YOKE_OK);
    assert_int_equal(header.count, 2);
    assert_string_equal(header.entries[0].name, "a");
    assert_int_equal(header.entries[1].elements, 6);
    assert_string_equal(header.entries[1].dtype, "BF16");
    assert_int_equal(header.total, 20);
    yoke_safetensors_free(&header);
    assert_int_equal(parse_header("{}", 0, -1, &header), YOKE_OK);
    yoke_safetensors_free(&header);
    assert_int_equal(
        parse_header("{" ENTRY("s", "F32", "[]", "0", "4") "}", 4, -1, &header), YOKE_OK);
    yoke_safetensors_free(&header);
}

static void test_header_refusals(void **state)
{
    (void)state;
    refuse_header("{}", 0, 3, "not within the file");
    refuse_header("{}", 1 << 20, 1 << 10, "not read whole");
    refuse_header("{}", 0, 100000001, "100 MB");
    refuse_header("{}", 0, INT64_MAX, "100 MB");
    refuse_header("{}", 0, 0, "not within");
    refuse_header("[]", 0, -1, "object");
    refuse_header("{]", 0, -1, "h:1:");
    refuse_header("{\"a\": 1}", 0, -1, "/a");
    refuse_header("{\"a\": {}}", 0, -1, "dtype");
    refuse_header("{" ENTRY("a", "F33", "[1]", "0", "4") "}", 4, -1, "F33");
    refuse_header("{" ENTRY("a", "F32", "[-1]", "0", "4") "}", 4, -1, "/a/shape/0");
    refuse_header("{" ENTRY("a", "F32", "[1.5]", "0", "4") "}", 4, -1, "/a/shape/0");
    refuse_header("{" ENTRY("a", "F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, -1,
                  "9 dimensions");
    refuse_header("{" ENTRY("a", "F32", "[4294967296, 4294967296]", "0", "4") "}", 4, -1,
                  "2^56");
    refuse_header("{" ENTRY("a", "F32", "[1]", "0", "8") "}", 4, -1, "not within");
    refuse_header("{" ENTRY("a", "F32", "[1]", "4", "0") "}", 4, -1, "not within");
    refuse_header("{" ENTRY("a", "F32", "[1]", "0", "3") "}", 4, -1, "make 4");
    refuse_header("{" ENTRY("a", "F32", "[1]", "0", "18446744073709551615") "}", 4, -1,
                  "/a");
    refuse_header("{" ENTRY("a", "F32", "[2]", "0", "8") ", " ENTRY("b", "F32", "[2]",
                                                                    "4", "12") "}",
                  12, -1, "overlap");
    yoke_safetensors_t header = {0};
    assert_int_equal(yoke_safetensors_parse_header("h", "1234567", 7, 7, &header),
                     YOKE_ERR_BAD_INPUT);
    assert_int_equal(yoke_safetensors_parse_header("h", "", 0, 0, &header),
                     YOKE_ERR_BAD_INPUT);
}

/* A folder with a config and a weight file of the given header; `data` zero bytes follow.
 */
static char folder[64];

static void write_file(const char *name, const void *data, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_weights(const char *name, const char *json, size_t data)
{
    size_t size = strlen(json);
    char *bytes = calloc(1, size + 8 + data);
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(size >> (8 * i));
    memcpy(bytes + 8, json, size);
    write_file(name, bytes, size + 8 + data);
    free(bytes);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/yoke-weights-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"config.json", "model.safetensors",
                                        "a.safetensors", "model.safetensors.index.json"};
    for (size_t i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* GPT-2 of width 2, 1 head, 1 layer of MLP 2, 3 words, 2 positions: its weights as
 * published, without "transformer." and with matrices transposed. */
static const char tiny_config[] =
    "{\"model_type\": \"gpt2\", \"n_embd\": 2, \"n_head\": 1, \"n_layer\": 1, "
    "\"n_inner\": 3, "
    "\"n_positions\": 2, \"vocab_size\": 5, \"torch_dtype\": \"float32\"}";

#define TINY(WTE_SHAPE, WTE_END, REST)                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
    "{" ENTRY(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       \
        "wte.weight", "F32", WTE_SHAPE, "0",                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
        WTE_END) ", "                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                \
                 "\"h.0.attn.bias\": {\"dtype\": \"U8\", \"shape\": [1,1,2,2], "                                                                                                                                                                                                                                                                                                                                                                                                                                     \
                 "\"data_offsets\": [40, 44]}, " ENTRY("wpe.weight", "F32", "[2,2]", "44", "60") ", " ENTRY(                                                                                                                                                                                                                                                                                                                                                                                                         \
                     "h.0.ln_1.weight", "F32", "[2]",                                                                                                                                                                                                                                                                                                                                                                                                                                                                \
                     "60", "68") ", " ENTRY("h.0.ln_1.bias", "F32", "[2]", "68",                                                                                                                                                                                                                                                                                                                                                                                                                                     \
                                            "76") ", " ENTRY("h.0.ln_2.weight",                                                                                                                                                                                                                                                                                                                                                                                                                                      \
                                                             "F32", "[2]", "76", "84") ", " ENTRY("h.0.ln_2.bias",                                                                                                                                                                                                                                                                                                                                                                                                   \
                                                                                                  "F32", "[2]", "84", "92") ", " ENTRY("h.0.attn.c_attn.weight", "F32", "[2,6]", "92", "140") ", " ENTRY("h.0.attn.c_attn.bias", "F32", "[6]", "140", "164") ", " ENTRY("h.0.attn.c_proj.weight", "F32", "[2,2]", "164", "180") ", " ENTRY("h.0.attn.c_proj.bias",                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                           "F32",                                                                                                                                                                    \
                                                                                                                                                                                                                                                                                                                                           "[2]", "180",                                                                                                                                                             \
                                                                                                                                                                                                                                                                                                                                           "188") ", " ENTRY("h.0.mlp.c_fc.weight",                                                                                                                                  \
                                                                                                                                                                                                                                                                                                                                                             "F32",                                                                                                                                                  \
                                                                                                                                                                                                                                                                                                                                                             "[2,3]", "188", "212") ", " ENTRY("h.0.mlp.c_fc.bias",                                                                                                  \
                                                                                                                                                                                                                                                                                                                                                                                               "F32",                                                                                                                \
                                                                                                                                                                                                                                                                                                                                                                                               "[3]",                                                                                                                \
                                                                                                                                                                                                                                                                                                                                                                                               "212", "224") ", " ENTRY("h.0.mlp.c_proj.weight",                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                        "F32",                                                                                       \
                                                                                                                                                                                                                                                                                                                                                                                                                        "[3,2]",                                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                        "224", "248") ", " ENTRY("h.0.mlp.c_proj.bias",                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                 "F32",                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                 "[2]", "248", "256") ", " ENTRY("ln_f.weight", "F32", "[2]", "256", \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "264") ", " REST                    \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "}"
#define LAST ENTRY("ln_f.bias", "F32", "[2]", "264", "272")

static yoke_model_t *tiny(const char *header, size_t data)
{
    write_file("config.json", tiny_config, strlen(tiny_config));
    write_weights("model.safetensors", header, data);
    return support_read(folder, NULL);
}

static void test_weight_file(void **state)
{
    (void)state;
    yoke_model_t *model = tiny(TINY("[5,2]", "40", LAST), 272);
    for (size_t i = 0; i < model->notice_count; i++)
        fail_msg("%s", model->notices[i]);
    assert_int_equal(model->parameters_total, (272 - 4) / 4);
    yoke_model_free(model);

    model = tiny(TINY("[10]", "40", LAST), 272);
    assert_int_equal(model->notice_count, 1);
    assert_true(
        support_noticed(model, "wte.weight is [10] in the weights, expected [5, 2]"));
    yoke_model_free(model);

    model =
        tiny(TINY("[5,2]", "40", ENTRY("ln_f.gamma", "F32", "[2]", "264", "272")), 272);
    assert_true(
        support_noticed(model, "ln_f.gamma, which GPT2LMHeadModel does not have"));
    assert_true(support_noticed(model, "1 tensor of the model is missing"));
    assert_true(support_noticed(model, "first transformer.ln_f.bias"));
    yoke_model_free(model);
}

static void test_weight_file_given(void **state)
{
    (void)state;
    char path[256];
    yoke_model_free(tiny(TINY("[5,2]", "40", LAST), 272));
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    yoke_model_t *model = support_read(path, NULL);
    assert_int_equal(model->notice_count, 0);
    yoke_model_free(model);
    /* Cut short: the header points past the end. */
    write_weights("model.safetensors", TINY("[5,2]", "40", LAST), 200);
    assert_int_equal(yoke_model_read(path, NULL, &model), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "not within"));
    snprintf(path, sizeof path, "%s/nothing.safetensors", "/tmp");
    assert_int_equal(yoke_model_read(path, NULL, &model), YOKE_ERR_NOT_FOUND);
}

/* An index beside the config is found; files that it names are read where they are there.
 */
static void test_index_beside(void **state)
{
    (void)state;
    static const char index[] =
        "{\"weight_map\": {\"wte.weight\": \"a.safetensors\", \"x\": \"b.safetensors\"}}";
    static const char other[] = "{" ENTRY("wte.weight", "BF16", "[5,2]", "0", "20") "}";
    write_file("config.json", tiny_config, strlen(tiny_config));
    write_file("model.safetensors.index.json", index, strlen(index));
    write_weights("a.safetensors", other, 20);
    yoke_model_t *model = support_read(folder, NULL);
    assert_true(support_noticed(model, "stored as BF16, the config says fp32"));
    assert_true(support_noticed(model, "15 tensors of the model are missing"));
    assert_true(support_noticed(model, "have x, which"));
    yoke_model_free(model);
}

/* Names of experts, fused parts, prediction layers and quantised companions. */
static void test_names(void **state)
{
    (void)state;
    static const char config[] =
        "{\"model_type\": \"mixtral\", \"hidden_size\": 4, \"intermediate_size\": 2, "
        "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"num_key_value_heads\": "
        "1, "
        "\"num_local_experts\": 2, \"num_experts_per_tok\": 1, \"vocab_size\": 3}";
    char index[8192];
    size_t size = (size_t)sprintf(index, "{\"weight_map\": {");
    static const char *const names[] = {"input_layernorm.weight",
                                        "post_attention_layernorm.weight",
                                        "self_attn.q_proj.weight",
                                        "self_attn.k_proj.weight",
                                        "self_attn.v_proj.weight",
                                        "self_attn.o_proj.weight",
                                        "block_sparse_moe.gate.weight",
                                        "block_sparse_moe.experts.0.w1.weight",
                                        "block_sparse_moe.experts.0.w2.weight",
                                        "block_sparse_moe.experts.0.w3.weight",
                                        "block_sparse_moe.experts.1.w1.weight",
                                        "block_sparse_moe.experts.1.w2.weight",
                                        "block_sparse_moe.experts.1.w3.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        size += (size_t)sprintf(index + size, "\"model.layers.0.%s\": \"f\", ", names[i]);
    sprintf(index + size,
            "\"model.embed_tokens.weight\": \"f\", \"model.norm.weight\": \"f\", "
            "\"lm_head.weight\": \"f\"%s}}",
            "");
    write_file("config.json", config, strlen(config));
    write_file("model.safetensors.index.json", index, strlen(index));
    yoke_model_t *model = support_read(folder, NULL);
    for (size_t i = 0; i < model->notice_count; i++)
        assert_null(strstr(model->notices[i], "weights have"));
    assert_false(support_noticed(model, "missing"));
    yoke_model_free(model);
    /* A third expert of two is none. */
    char *third = strstr(index, "experts.1.w3");
    third[8] = '2';
    write_file("model.safetensors.index.json", index, strlen(index));
    model = support_read(folder, NULL);
    assert_true(support_noticed(model, "experts.2.w3.weight, which"));
    assert_true(
        support_noticed(model, "first model.layers.0.block_sparse_moe.experts.*.w3"));
    yoke_model_free(model);
}

/* One file's header: offsets in the order of the list. */
static char *header_of(const json_t *tensors, size_t *out_data)
{
    json_t *root = json_object(), *tensor;
    const char *name;
    json_int_t at = 0;
    json_object_foreach((json_t *)tensors, name, tensor)
    {
        json_int_t elements = 1;
        size_t i;
        json_t *size;
        json_array_foreach(json_array_get(tensor, 1), i, size) elements *=
            json_integer_value(size);
        json_object_set_new(
            root, name,
            json_pack("{s:O, s:O, s:[I,I]}", "dtype", json_array_get(tensor, 0), "shape",
                      json_array_get(tensor, 1), "data_offsets", at, at + 4 * elements));
        at += 4 * elements;
    }
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    *out_data = (size_t)at;
    return text;
}

static void copy_config(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/costmodel/data/small/%s.json", name);
    json_t *config = support_json(support_path(path));
    char *text = json_dumps(config, 0);
    write_file("config.json", text, strlen(text));
    free(text);
    json_decref(config);
}

/* Names and shapes as the library saves them: every architecture's file fits, and the
 * file of another model does not. */
static void test_saved_files(void **state)
{
    (void)state;
    json_t *root = support_json(support_path("tests/costmodel/data/small-weights.json"));
    const char *name, *last = "qwen3-vl";
    json_t *tensors;
    unsigned compared = 0;
    json_object_foreach(json_object_get(root, "models"), name, tensors)
    {
        size_t data = 0;
        char *header = header_of(tensors, &data);
        copy_config(name);
        write_weights("model.safetensors", header, data);
        yoke_model_t *model = support_read(folder, NULL);
        for (size_t i = 0; i < model->notice_count; i++)
            if (strstr(model->notices[i], "the default of") == NULL &&
                strstr(model->notices[i], "is read as") == NULL)
                fail_msg("%s: %s", name, model->notices[i]);
        yoke_model_free(model);
        copy_config(last);
        model = support_read(folder, NULL);
        if (!support_noticed(model, "weights"))
            fail_msg("the weights of %s pass for those of %s", name, last);
        yoke_model_free(model);
        free(header);
        last = name;
        compared++;
    }
    json_decref(root);
    assert_int_equal(compared, 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_10),
        cmocka_unit_test(test_index_refusals),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_header_refusals),
        cmocka_unit_test_setup_teardown(test_weight_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_weight_file_given, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_index_beside, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_saved_files, make_folder, remove_folder)};
    return cmocka_run_group_tests(tests, support_setup, NULL);
}
