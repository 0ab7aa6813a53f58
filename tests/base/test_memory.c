/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of memory, everywhere: each scenario runs with its first allocation failing, then
 * with its second, and so on until it needs no more. Nothing may crash or leak, and a
 * failure must be told. Linked with --wrap for malloc, calloc and realloc.
 */
#include "tests/base/support.h"

#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"

static long allowed = -1; /* allocations until one fails; -1: all succeed */

static bool fails_now(void)
{
    if (allowed < 0)
        return false;
    if (allowed == 0)
        return true;
    allowed--;
    return false;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

typedef bool (*scenario_t)(void); /* true when it told of no failure */

static void run(scenario_t scenario)
{
    for (long count = 0; count < 10000; count++) {
        allowed = count;
        bool done = scenario();
        bool ran_out = allowed == 0;
        allowed = -1;
        if (!done)
            assert_true(ran_out);
        if (done && !ran_out)
            return;
    }
    fail_msg("never enough memory");
}

static bool format_scenario(void)
{
    char *text = yoke_format("%0200d", 7);
    bool done = text != NULL;
    free(text);
    return done;
}

static bool hostlist_scenario(void)
{
    yoke_strings_t hosts = {0};
    if (yoke_hostlist_expand("a,n[1-40]", &hosts) != YOKE_OK)
        return false;
    char *text = yoke_hostlist_compress(&hosts);
    bool done = text != NULL;
    if (done)
        assert_string_equal(text, "a,n[1-40]");
    free(text);
    yoke_strings_free(&hosts);
    return done;
}

static bool table_scenario(void)
{
    static const char *const headers[] = {"a", "~b"};
    yoke_text_t out = {0};
    yoke_table_t *table = yoke_table_new(headers, 2);
    for (int i = 0; i < 20; i++)
        yoke_table_cellf(table, "cell %d", i);
    yoke_table_print(table, 10, 0, &out);
    yoke_wrap("words that go on after the table", 10, 0, &out);
    yoke_table_free(table);
    bool done = !out.failed;
    yoke_text_free(&out);
    return done;
}

static bool json_scenario(void)
{
    static const char text[] = "{\"a\":[NaN,{\"b\":\"text\"}],\"c\":1.5}";
    yoke_json_t json = {0};
    if (yoke_json_parse("t.json", text, sizeof text - 1, &json) != YOKE_OK)
        return false;
    char *printed = yoke_json_text(json.root);
    bool done = printed != NULL;
    free(printed);
    yoke_json_free(&json);
    return done;
}

static bool json_set_scenario(void)
{
    json_t *root = json_object();
    yoke_json_set_string(root, "s", "caf\xE9");
    yoke_json_set_number(root, "n", 1.5);
    yoke_json_set_u64(root, "u", 1);
    bool done = json_object_size(root) == 3;
    json_decref(root);
    return done;
}

static bool cursor_scenario(void)
{
    static const char *const members[] = {"known", NULL};
    json_t *root = json_object();
    bool done = root != NULL && json_object_set_new(root, "elsewhere", json_null()) == 0;
    yoke_cursor_t at = {.file = "t.json", .value = root};
    if (done)
        done = yoke_cursor_only(&at, members) == YOKE_ERR_BAD_INPUT;
    json_decref(root);
    return done;
}

static bool file_scenario(void)
{
    char *data = NULL;
    size_t size = 0;
    const char *path = "/tmp/yoke-memory-test.tmp";
    bool done = yoke_file_write(path, "text", 4) == YOKE_OK &&
                yoke_file_read(path, 0, &data, &size) == YOKE_OK;
    free(data);
    return done;
}

static void nothing_leaks_without_memory(void **state)
{
    (void)state;
    run(format_scenario);
    run(hostlist_scenario);
    run(table_scenario);
    run(file_scenario);
    unlink("/tmp/yoke-memory-test.tmp");
}

/* jansson's own allocations fail as well. */
static void json_survives_without_memory(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, free);
    run(json_scenario);
    run(json_set_scenario);
    run(cursor_scenario);
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_leaks_without_memory),
        cmocka_unit_test(json_survives_without_memory),
    };
    return cmocka_run_group_tests(tests, quiet, NULL);
}
