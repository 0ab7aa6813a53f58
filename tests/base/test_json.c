/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include <float.h>
#include <math.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"

static yoke_json_t parsed(const char *text)
{
    yoke_json_t json = {0};
    if (yoke_json_parse("t.json", text, strlen(text), &json) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return json;
}

static void check_text(const char *text, const char *wanted)
{
    yoke_json_t json = parsed(text);
    char *printed = json_dumps(json.root, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(printed, wanted);
    free(printed);
    yoke_json_free(&json);
    assert_null(json.root);
}

static void reads_the_dialect(void **state)
{
    (void)state;
    check_text("\xEF\xBB\xBF{\"a\": 1}", "{\"a\":1}");
    check_text("[NaN, Infinity, -Infinity,NaN]", "[null,null,null,null]");
    check_text("NaN", "null");
    check_text("{\"NaN\":\"acme/NaNo-Infinity-1B\",\"x\":\"\\\"NaN, \\\\\",\"y\":NaN}",
               "{\"NaN\":\"acme/NaNo-Infinity-1B\",\"x\":\"\\\"NaN, \\\\\",\"y\":null}");
    check_text("\"text\"", "\"text\"");
    check_text(" 5\r\n", "5");
    check_text("[9223372036854775807,-9223372036854775807]",
               "[9223372036854775807,-9223372036854775807]");
    check_text("[1000000000000000019884624838656]", "[1e30]");
    check_text("[-9223372036854775809]", "[-9.2233720368547758e18]");
    check_text("[1.5e3,\"\\u00b5 \xC2\xB5\"]", "[1500.0,\"\xC2\xB5 \xC2\xB5\"]");
    check_text("{\"b\":1,\"a\":2}", "{\"b\":1,\"a\":2}");
}

static void check_refused(const char *text, size_t size, const char *place,
                          const char *why)
{
    yoke_json_t json = {.name = NULL};
    if (yoke_json_parse("t.json", text, size, &json) != YOKE_ERR_BAD_INPUT)
        fail_msg("\"%s\" was taken", text);
    assert_null(json.root);
    assert_null(json.name);
    size_t length = strlen(place);
    if (strncmp(yoke_last_error(), place, length) != 0)
        fail_msg("\"%s\" does not begin with %s", yoke_last_error(), place);
    assert_message(why);
}

static void check_bad(const char *text, const char *place, const char *why)
{
    check_refused(text, strlen(text), place, why);
}

static void refuses_broken_syntax(void **state)
{
    (void)state;
    check_bad("", "t.json:1:1: ", "empty");
    check_bad(" \n\t", "t.json:1:1: ", "empty");
    check_bad("\xEF\xBB\xBF", "t.json:1:1: ", "empty");
    check_bad("{\"a\":1,\n \"a\":2}", "t.json:2:4: ", "duplicate object key");
    check_bad("[1,]", "t.json:1:4: ", "']'");
    check_bad("{\"a\" 1}", "t.json:1:6: ", "':' expected");
    check_bad("[1", "t.json:1:2: ", "end of file");
    check_bad("[\"abc", "t.json:1:", "premature end of input");
    check_bad("[\"abc\\", "t.json:1:6: ", "invalid escape");
    check_bad("[1] x", "t.json:1:5: ", "end of file expected");
    check_bad("[1e999]", "t.json:1:6: ", "overflow");
    check_bad("[\"a\nb\"]", "t.json:1:3: ", "unexpected newline");
    check_bad("[\"\\u0000\"]", "t.json:1:", "\\u0000 is not allowed");
    check_bad("[nan]", "t.json:1:", "invalid token");
    check_bad("[-NaN]", "t.json:1:", "invalid token");
    check_bad("[NaNo]", "t.json:1:", "invalid token");
    check_bad("[+Infinity]", "t.json:1:", "invalid token");
    check_bad("[01]", "t.json:1:", "invalid token");
    check_bad("[\"\xFF\"]", "t.json:1:", "must be UTF-8");
}

/* The column is that of the user's text, although what jansson saw was longer. */
static void counts_columns_in_the_original(void **state)
{
    (void)state;
    check_bad("[NaN,NaN,NaN,x]", "t.json:1:14: ", "invalid token");
    check_bad("[NaN x]", "t.json:1:6: ", "']' expected");
    check_bad("[-Infinity,Infinity,x]", "t.json:1:21: ", "invalid token");
    check_bad("[NaN,\n NaN,\n x]", "t.json:3:2: ", "invalid token");
    check_bad("\xEF\xBB\xBF[x]", "t.json:1:2: ", "invalid token");
    check_bad("[\"\xC2\xB5\xC2\xB5\",x]", "t.json:1:7: ", "invalid token");
    check_bad("[10000000000000000000000,x]", "t.json:1:26: ", "invalid token");
}

static void refuses_other_encodings(void **state)
{
    (void)state;
    check_refused("\xFF\xFE{\0}\0", 6, "t.json:1:1: ", "UTF-16");
    check_refused("\xFE\xFF\0{\0}", 6, "t.json:1:1: ", "UTF-16");
    check_refused("{\0\"\0", 4, "t.json:1:2: ", "NUL byte");
    check_refused("{}\n\0", 4, "t.json:2:1: ", "NUL byte");
    check_refused("\x1F\x8B\x08\0", 4, "t.json:1:1: ", "gzip");
    check_bad("[\x1B]", "t.json:1:2: ", "invalid token near '?'");
}

static void refuses_deep_nesting(void **state)
{
    (void)state;
    yoke_text_t text = {0};
    for (int i = 0; i < 100000; i++)
        yoke_text_add(&text, "[");
    check_bad(text.data, "t.json:1:2049: ", "nested deeper than 2048 levels");
    yoke_text_free(&text);
}

static void reads_files(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-json-XXXXXX";
    int fd = mkstemp(path);
    yoke_json_t json = {0};
    assert_int_equal(write(fd, "{\"a\":\n x}", 9), 9);
    assert_int_equal(yoke_json_read(path, 0, &json), YOKE_ERR_BAD_INPUT);
    assert_message(path);
    assert_message(":2:2: invalid token");
    assert_int_equal(yoke_json_read(path, 8, &json), YOKE_ERR_BAD_INPUT);
    assert_message("more than 8 bytes");
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(yoke_json_read(path, 0, &json), YOKE_ERR_BAD_INPUT);
    assert_message(":1:1: empty");
    close(fd);
    unlink(path);
    assert_int_equal(yoke_json_read(path, 0, &json), YOKE_ERR_NOT_FOUND);
    assert_message(path);
    assert_null(json.root);
}

static void writes_files(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-json-XXXXXX";
    close(mkstemp(path));
    yoke_json_t json = parsed("{\"z\":1.0,\"a\":[1,{}]}");
    yoke_json_t again = {0};
    assert_int_equal(yoke_json_write(path, json.root), YOKE_OK);
    assert_int_equal(yoke_json_read(path, 0, &again), YOKE_OK);
    assert_true(json_equal(json.root, again.root));
    assert_string_equal(again.name, path);
    assert_int_equal(yoke_json_write("/nowhere/at/all.json", json.root), YOKE_ERR_SYSTEM);
    yoke_json_free(&again);
    yoke_json_free(&json);
    unlink(path);
}

/* Exact: what is read from the text is written as the same text. */
static void exact_numbers(void **state)
{
    (void)state;
    static const double values[] = {
        0,    80,      85899345920.0,         313000000000000.1,
        0.1,  3.13e14, 9007199254740991,      1.0 / 3.0,
        -2.5, 1e300,   1.2345678901234568e16, 65536000000000.25};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *once = json_object(), *twice = json_object();
        yoke_json_set_exact(once, "v", values[i]);
        char *text = yoke_json_text(once);
        json_t *read = json_loads(text, 0, NULL);
        yoke_json_set_exact(twice, "v", json_number_value(json_object_get(read, "v")));
        char *again = yoke_json_text(twice);
        assert_string_equal(text, again);
        free(text);
        free(again);
        json_decref(once);
        json_decref(twice);
        json_decref(read);
    }
    json_t *bytes = json_object();
    yoke_json_set_exact(bytes, "v", 85899345920123.0);
    assert_int_equal(json_integer_value(json_object_get(bytes, "v")), 85899345920123);
    json_decref(bytes);
}

static json_t *sample(void)
{
    json_t *root = json_object();
    yoke_json_set_number(root, "z", 80);
    yoke_json_set_number(root, "tenth", 0.1);
    yoke_json_set_number(root, "third", 1.0 / 3.0);
    yoke_json_set_number(root, "bytes", 85899345920.0);
    yoke_json_set_number(root, "flops", 312e12);
    yoke_json_set_number(root, "minus", -2);
    yoke_json_set_number(root, "zero", -0.0);
    yoke_json_set_number(root, "nan", NAN);
    yoke_json_set_number(root, "inf", -INFINITY);
    yoke_json_set_u64(root, "u", 124439808);
    yoke_json_set_u64(root, "big", INT64_MAX);
    yoke_json_set_u64(root, "over", UINT64_MAX);
    yoke_json_set_string(root, "s", "\xC2\xB5\"x\"");
    yoke_json_set_string(root, "none", NULL);
    json_object_set_new(root, "whole", json_real(27));
    return root;
}

static const char sample_text[] = "{\n"
                                  "  \"z\": 80,\n"
                                  "  \"tenth\": 0.1,\n"
                                  "  \"third\": 0.333333333333,\n"
                                  "  \"bytes\": 85899345920,\n"
                                  "  \"flops\": 3.12e14,\n"
                                  "  \"minus\": -2,\n"
                                  "  \"zero\": 0,\n"
                                  "  \"nan\": null,\n"
                                  "  \"inf\": null,\n"
                                  "  \"u\": 124439808,\n"
                                  "  \"big\": 9223372036854775807,\n"
                                  "  \"over\": 1.84467440737e19,\n"
                                  "  \"s\": \"\xC2\xB5\\\"x\\\"\",\n"
                                  "  \"none\": null,\n"
                                  "  \"whole\": 27.0\n"
                                  "}\n";

static void check_sample(void)
{
    json_t *root = sample();
    char *text = yoke_json_text(root);
    assert_string_equal(text, sample_text);
    free(text);
    json_decref(root);
}

static void prints_in_order_and_readably(void **state)
{
    (void)state;
    check_sample();
    json_t *number = json_integer(5);
    char *text = yoke_json_text(number);
    assert_string_equal(text, "5\n");
    free(text);
    json_decref(number);
    assert_null(yoke_json_text(NULL));
    assert_int_equal(yoke_json_write("-", NULL), YOKE_ERR_NO_MEMORY);
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    double value = 0;
    use_comma_locale();
    check_sample();
    yoke_json_t json = parsed("{\"a\":1.5}");
    yoke_cursor_t at = yoke_json_cursor(&json);
    assert_int_equal(yoke_need_double(&at, "a", 0, 9, &value), YOKE_OK);
    assert_true(value == 1.5);
    assert_int_equal(yoke_need_double(&at, "a", 0, 1.25, &value), YOKE_ERR_BAD_INPUT);
    assert_message("from 0 to 1.25, found 1.5");
    yoke_json_free(&json);
    setlocale(LC_ALL, "C");
}

static void repairs_strings(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"caf\xE9", "caf\xEF\xBF\xBD"},
        {"\xE6\x98\x87 ok", "\xE6\x98\x87 ok"},
        {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE0\x80\x80x", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx"},
        {"\xF5x\xFF", "\xEF\xBF\xBDx\xEF\xBF\xBD"},
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xF0\x9F\x98\x80\xF0\x9F", "\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *root = json_object();
        yoke_json_set_string(root, "s", cases[i][0]);
        assert_string_equal(json_string_value(json_object_get(root, "s")), cases[i][1]);
        json_decref(root);
    }
}

static void digests(void **state)
{
    (void)state;
    char out[32];
    yoke_digest("", out);
    assert_string_equal(out, "fnv1a64:cbf29ce484222325");
    yoke_digest("a", out);
    assert_string_equal(out, "fnv1a64:af63dc4c8601ec8c");
    yoke_digest("foobar", out);
    assert_string_equal(out, "fnv1a64:85944171f73967e8");
}

static const char document[] =
    "{\"name\":\"A100\",\"count\":8,\"whole\":5.0,\"part\":5.5,\"minus\":-1,\"yes\":true,"
    "\"no\":false,\"nil\":null,\"rate\":1.5,\"list\":[{\"a/b~\":\"x\"},7],\"huge\":1e30,"
    "\"largest\":18446744073709551615,"
    "\"long\":\"0123456789012345678901234567890123456789-and-more\"}";

static void cursors_walk(void **state)
{
    (void)state;
    yoke_json_t json = parsed(document);
    yoke_cursor_t root = yoke_json_cursor(&json);
    yoke_cursor_t list;
    assert_int_equal(yoke_cursor_object(&root), YOKE_OK);
    assert_int_equal(yoke_cursor_count(&root), 0);
    assert_true(yoke_cursor_member(&root, "list", &list));
    assert_int_equal(yoke_cursor_array(&list), YOKE_OK);
    assert_int_equal(yoke_cursor_count(&list), 2);
    yoke_cursor_t item = yoke_cursor_item(&list, 0);
    yoke_cursor_t leaf;
    assert_int_equal(yoke_cursor_need(&item, "a/b~", &leaf), YOKE_OK);
    assert_int_equal(yoke_cursor_fail(&leaf, NULL, "bad %d", 7), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: /list/0/a~1b~0: bad 7");
    yoke_cursor_fail(&item, "k", "bad");
    assert_string_equal(yoke_last_error(), "t.json: /list/0/k: bad");
    yoke_cursor_fail(&root, NULL, "bad");
    assert_string_equal(yoke_last_error(), "t.json: bad");
    yoke_cursor_fail(&root, "k", "bad");
    assert_string_equal(yoke_last_error(), "t.json: /k: bad");
    yoke_cursor_t nameless = {.value = json.root};
    yoke_cursor_fail(&nameless, NULL, "bad");
    assert_string_equal(yoke_last_error(), "document: bad");
    assert_false(yoke_cursor_member(&root, "absent", &leaf));
    assert_false(yoke_cursor_member(&root, "nil", &leaf));
    assert_false(yoke_cursor_member(&list, "name", &leaf));
    yoke_json_free(&json);
}

static void cursors_name_the_wrong_kind(void **state)
{
    (void)state;
    yoke_json_t json = parsed(document);
    yoke_cursor_t root = yoke_json_cursor(&json);
    yoke_cursor_t child;
    assert_int_equal(yoke_cursor_array(&root), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: must be a list, found an object");
    assert_int_equal(yoke_cursor_need(&root, "absent", &child), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: member \"absent\" is missing");
    assert_int_equal(yoke_cursor_need(&root, "nil", &child), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: /nil: must not be null");
    assert_true(yoke_cursor_member(&root, "list", &child));
    yoke_cursor_t item = yoke_cursor_item(&child, 1);
    assert_int_equal(yoke_cursor_object(&item), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: /list/1: must be an object, found 7");
    assert_int_equal(yoke_cursor_need(&item, "x", &child), YOKE_ERR_BAD_INPUT);
    yoke_cursor_member(&root, "list", &child);
    item = yoke_cursor_item(&child, 99);
    assert_int_equal(yoke_cursor_object(&item), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: /list/99: must be an object, found null");
    yoke_json_free(&json);
}

static void unknown_members_are_refused(void **state)
{
    (void)state;
    static const char *const allowed[] = {"memory", "name", NULL};
    yoke_json_t json = parsed("{\"name\":1,\"x-mine\":2,\"memroy\":3}");
    yoke_cursor_t at = yoke_json_cursor(&json);
    assert_int_equal(yoke_cursor_only(&at, allowed), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: unknown member \"memroy\"; did you mean \"memory\"?");
    yoke_json_free(&json);
    json = parsed("{\"colour\":1}");
    at = yoke_json_cursor(&json);
    assert_int_equal(yoke_cursor_only(&at, allowed), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: unknown member \"colour\"; known are: memory, name");
    yoke_json_free(&json);
    json = parsed("{\"name\":1,\"x-mine\":2}");
    at = yoke_json_cursor(&json);
    assert_int_equal(yoke_cursor_only(&at, allowed), YOKE_OK);
    yoke_json_free(&json);
    json = parsed("[]");
    at = yoke_json_cursor(&json);
    assert_int_equal(yoke_cursor_only(&at, allowed), YOKE_ERR_BAD_INPUT);
    yoke_json_free(&json);
}

static void typed_members(void **state)
{
    (void)state;
    yoke_json_t json = parsed(document);
    yoke_cursor_t at = yoke_json_cursor(&json);
    const char *string = NULL;
    uint64_t number = 0;
    double real = 0;
    bool flag = false;
    assert_int_equal(yoke_need_string(&at, "name", &string), YOKE_OK);
    assert_string_equal(string, "A100");
    assert_int_equal(yoke_need_u64(&at, "count", 8, 8, &number), YOKE_OK);
    assert_int_equal(number, 8);
    assert_int_equal(yoke_need_u64(&at, "whole", 0, UINT64_MAX, &number), YOKE_OK);
    assert_int_equal(number, 5);
    assert_int_equal(yoke_need_double(&at, "count", 0, 10, &real), YOKE_OK);
    assert_true(real == 8);
    assert_int_equal(yoke_need_double(&at, "minus", -INFINITY, INFINITY, &real), YOKE_OK);
    assert_true(real == -1);
    assert_int_equal(yoke_need_bool(&at, "yes", &flag), YOKE_OK);
    assert_true(flag);
    assert_int_equal(yoke_opt_bool(&at, "no", &flag), YOKE_OK);
    assert_false(flag);
    assert_int_equal(yoke_opt_string(&at, "name", &string), YOKE_OK);
    assert_int_equal(yoke_opt_u64(&at, "count", 0, 9, &number), YOKE_OK);
    assert_int_equal(yoke_opt_double(&at, "rate", 0, 9, &real), YOKE_OK);
    assert_true(real == 1.5);
    yoke_json_free(&json);
}

static void absent_members(void **state)
{
    (void)state;
    static const char *const keys[] = {"absent", "nil"};
    yoke_json_t json = parsed(document);
    yoke_cursor_t at = yoke_json_cursor(&json);
    const char *string = "kept";
    uint64_t number = 42;
    double real = 42;
    bool flag = true;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(yoke_opt_string(&at, keys[i], &string), YOKE_OK);
        assert_int_equal(yoke_opt_u64(&at, keys[i], 0, 1, &number), YOKE_OK);
        assert_int_equal(yoke_opt_double(&at, keys[i], 0, 1, &real), YOKE_OK);
        assert_int_equal(yoke_opt_bool(&at, keys[i], &flag), YOKE_OK);
        assert_int_equal(yoke_need_string(&at, keys[i], &string), YOKE_ERR_BAD_INPUT);
        assert_int_equal(yoke_need_u64(&at, keys[i], 0, 1, &number), YOKE_ERR_BAD_INPUT);
        assert_int_equal(yoke_need_double(&at, keys[i], 0, 1, &real), YOKE_ERR_BAD_INPUT);
        assert_int_equal(yoke_need_bool(&at, keys[i], &flag), YOKE_ERR_BAD_INPUT);
        assert_message(keys[i]);
    }
    assert_string_equal(string, "kept");
    assert_true(number == 42 && real == 42 && flag);
    yoke_json_free(&json);
}

static void check_u64(const yoke_cursor_t *at, const char *key, uint64_t max,
                      const char *wanted)
{
    uint64_t number = 42;
    assert_int_equal(yoke_opt_u64(at, key, 2, max, &number), YOKE_ERR_BAD_INPUT);
    assert_int_equal(number, 42);
    assert_string_equal(yoke_last_error(), wanted);
}

static void check_double(const yoke_cursor_t *at, const char *key, double min, double max,
                         const char *wanted)
{
    double number = 42;
    assert_int_equal(yoke_opt_double(at, key, min, max, &number), YOKE_ERR_BAD_INPUT);
    assert_true(number == 42);
    assert_string_equal(yoke_last_error(), wanted);
}

static void wrong_types_and_ranges(void **state)
{
    (void)state;
    yoke_json_t json = parsed(document);
    yoke_cursor_t at = yoke_json_cursor(&json);
    const char *string = NULL;
    bool flag = false;
    check_u64(&at, "part", 9,
              "t.json: /part: must be a whole number from 2 to 9, found 5.5");
    check_u64(&at, "minus", 9,
              "t.json: /minus: must be a whole number from 2 to 9, found -1");
    check_u64(&at, "count", 7,
              "t.json: /count: must be a whole number from 2 to 7, found 8");
    check_u64(&at, "name", UINT64_MAX,
              "t.json: /name: must be a whole number of at least 2, found \"A100\"");
    check_u64(&at, "huge", UINT64_MAX,
              "t.json: /huge: must be a whole number of at least 2, found 1e+30");
    check_u64(&at, "largest", UINT64_MAX,
              "t.json: /largest: must be a whole number of at least 2, found "
              "1.84467440737e+19");
    check_double(&at, "rate", 2, 3,
                 "t.json: /rate: must be a number from 2 to 3, found 1.5");
    check_double(&at, "minus", 0, INFINITY,
                 "t.json: /minus: must be a number of at least 0, found -1");
    check_double(&at, "rate", -DBL_MAX, 1,
                 "t.json: /rate: must be a number of at most 1, found 1.5");
    check_double(&at, "yes", -INFINITY, INFINITY,
                 "t.json: /yes: must be a number, found true");
    assert_int_equal(yoke_need_string(&at, "no", &string), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(), "t.json: /no: must be a string, found false");
    assert_int_equal(yoke_need_bool(&at, "list", &flag), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: /list: must be true or false, found a list");
    assert_int_equal(yoke_need_bool(&at, "long", &flag), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: /long: must be true or false, found a string");
    yoke_cursor_t list;
    assert_true(yoke_cursor_member(&at, "list", &list));
    assert_int_equal(yoke_opt_string(&list, "k", &string), YOKE_ERR_BAD_INPUT);
    assert_string_equal(yoke_last_error(),
                        "t.json: /list: must be an object, found a list");
    yoke_json_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_dialect),
        cmocka_unit_test(refuses_broken_syntax),
        cmocka_unit_test(counts_columns_in_the_original),
        cmocka_unit_test(refuses_other_encodings),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(writes_files),
        cmocka_unit_test(prints_in_order_and_readably),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(repairs_strings),
        cmocka_unit_test(digests),
        cmocka_unit_test(cursors_walk),
        cmocka_unit_test(cursors_name_the_wrong_kind),
        cmocka_unit_test(unknown_members_are_refused),
        cmocka_unit_test(exact_numbers),
        cmocka_unit_test(typed_members),
        cmocka_unit_test(absent_members),
        cmocka_unit_test(wrong_types_and_ranges),
    };
    return cmocka_run_group_tests(tests, quiet, NULL);
}
