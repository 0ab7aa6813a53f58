/* SPDX-License-Identifier: Apache-2.0 */
/* The file of constants: complete, and refused with its place when it is not. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "costmodel/constants.h"

static void quiet(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

static json_t *good(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/costmodel/constants.json", yoke_data_dir());
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

/* Reads `text`; the message must hold both words. */
static void expect_refusal(const char *text, const char *place, const char *word)
{
    char path[] = "/tmp/yoke-constants-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    yoke_constants_t constants;
    memset(&constants, 0x5A, sizeof constants);
    yoke_constants_t before = constants;
    assert_int_equal(yoke_constants_read(path, &constants), YOKE_ERR_BAD_INPUT);
    assert_memory_equal(&constants, &before, sizeof before);
    if (strstr(yoke_last_error(), path) == NULL ||
        strstr(yoke_last_error(), place) == NULL ||
        strstr(yoke_last_error(), word) == NULL)
        fail_msg("message \"%s\" lacks \"%s\" or \"%s\"", yoke_last_error(), place, word);
    unlink(path);
}

static void expect_refused(json_t *root, const char *place, const char *word)
{
    char *text = json_dumps(root, 0);
    assert_non_null(text);
    expect_refusal(text, place, word);
    free(text);
    json_decref(root);
}

static json_t *constant(json_t *root, const char *name)
{
    return json_object_get(json_object_get(root, "constants"), name);
}

static void test_good(void **state)
{
    (void)state;
    const yoke_constants_t *a, *b;
    assert_int_equal(yoke_constants_get(&a), YOKE_OK);
    assert_int_equal(yoke_constants_get(&b), YOKE_OK);
    assert_ptr_equal(a, b);
    assert_true(a->backward_gemm == 2 && a->adam_bytes == 12);

    /* each has a unit and says where it is from */
    json_t *root = good();
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(root, "constants"), name, value)
    {
        assert_true(json_string_length(json_object_get(value, "unit")) > 0);
        assert_true(json_string_length(json_object_get(value, "source")) > 3);
    }
    json_decref(root);
}

static void test_bad(void **state)
{
    (void)state;
    expect_refusal("{\n  \"schema\": \n}", ":3:", "");
    expect_refusal("[]", "", "object");
    json_t *root = good();
    json_object_set_new(root, "schema", json_string("yoke-plan/1"));
    expect_refused(root, "/schema", "yoke-constants/1");
    root = good();
    json_object_del(json_object_get(root, "constants"), "adam_bytes");
    expect_refused(root, "/constants", "adam_bytes");
    root = good();
    json_object_set_new(json_object_get(root, "constants"), "adam_bites", json_object());
    expect_refused(root, "/constants", "adam_bites");
    root = good();
    json_object_set_new(constant(root, "link_fraction"), "value", json_string("fast"));
    expect_refused(root, "/constants/link_fraction/value", "");
    root = good();
    json_object_set_new(constant(root, "link_fraction"), "value", json_real(1.5));
    expect_refused(root, "/constants/link_fraction/value", "");
    root = good();
    json_object_set_new(constant(root, "gemm_latency"), "value", json_real(-1e-6));
    expect_refused(root, "/constants/gemm_latency/value", "");
    root = good();
    json_object_set_new(constant(root, "gemm_latency"), "value", json_null());
    expect_refused(root, "/constants/gemm_latency", "value");
    root = good();
    json_object_del(constant(root, "gemm_latency"), "source");
    expect_refused(root, "/constants/gemm_latency", "source");
}

static void test_missing_file(void **state)
{
    (void)state;
    yoke_constants_t constants;
    assert_int_equal(yoke_constants_read("/nowhere/constants.json", &constants),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "/nowhere/constants.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_missing_file),
    };
    yoke_log_set_sink(quiet, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
