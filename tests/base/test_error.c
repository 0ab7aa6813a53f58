/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include <pthread.h>
#include <unistd.h>

#include "base/error.h"

typedef struct heard {
    int count;
    yoke_log_level_t level;
    char line[64];
} heard_t;

static void hear(void *context, yoke_log_level_t level, const char *line)
{
    heard_t *heard = context;
    heard->count++;
    heard->level = level;
    snprintf(heard->line, sizeof heard->line, "%s", line);
}

static void names_and_exit_codes(void **state)
{
    (void)state;
    static const struct {
        yoke_status_t status;
        const char *name;
        int code;
    } all[] = {
        {YOKE_OK, "YOKE_OK", 0},
        {YOKE_ERR_NO, "YOKE_ERR_NO", 1},
        {YOKE_ERR_USAGE, "YOKE_ERR_USAGE", 2},
        {YOKE_ERR_BAD_INPUT, "YOKE_ERR_BAD_INPUT", 3},
        {YOKE_ERR_SYSTEM, "YOKE_ERR_SYSTEM", 4},
        {YOKE_ERR_PARTIAL, "YOKE_ERR_PARTIAL", 5},
        {YOKE_ERR_NO_MEMORY, "YOKE_ERR_NO_MEMORY", 4},
        {YOKE_ERR_NOT_FOUND, "YOKE_ERR_NOT_FOUND", 3},
        {YOKE_ERR_UNSUPPORTED, "YOKE_ERR_UNSUPPORTED", 3},
        {YOKE_ERR_UNKNOWN_RATE, "YOKE_ERR_UNKNOWN_RATE", 1},
        {YOKE_ERR_OUT_OF_RANGE, "YOKE_ERR_OUT_OF_RANGE", 3},
        {YOKE_ERR_UNREACHABLE, "YOKE_ERR_UNREACHABLE", 4},
        {YOKE_ERR_DEVICE_LOST, "YOKE_ERR_DEVICE_LOST", 4},
        {YOKE_ERR_DEVICE_MEMORY, "YOKE_ERR_DEVICE_MEMORY", 4},
        {YOKE_ERR_NOT_READY, "YOKE_ERR_NOT_READY", 4},
        {YOKE_ERR_TIMEOUT, "YOKE_ERR_TIMEOUT", 4},
        {YOKE_ERR_REVOKED, "YOKE_ERR_REVOKED", 4},
        {YOKE_ERR_PEER_FAILED, "YOKE_ERR_PEER_FAILED", 4},
        {YOKE_ERR_MISMATCH, "YOKE_ERR_MISMATCH", 4},
        {YOKE_ERR_REFUSED, "YOKE_ERR_REFUSED", 4},
        {(yoke_status_t)20, "YOKE_ERR_(unknown)", 4},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_string_equal(yoke_status_name(all[i].status), all[i].name);
        assert_int_equal(yoke_status_exit_code(all[i].status), all[i].code);
    }
    assert_true(strlen(yoke_version()) > 0);
}

static void failures_are_kept_and_logged(void **state)
{
    (void)state;
    heard_t heard = {0};
    yoke_log_set_sink(hear, &heard);
    assert_int_equal(yoke_fail(YOKE_ERR_NO, "no %d", 7), YOKE_ERR_NO);
    assert_string_equal(yoke_last_error(), "no 7");
    assert_string_equal(heard.line, "no 7");
    assert_int_equal(heard.level, YOKE_LOG_ERROR);
    assert_int_equal(yoke_fail_memory(), YOKE_ERR_NO_MEMORY);
    assert_message("out of host memory");
    yoke_log_set_sink(NULL, NULL);
}

static void levels_drop_lines(void **state)
{
    (void)state;
    heard_t heard = {0};
    yoke_log_set_sink(hear, &heard);
    yoke_log_set_level(YOKE_LOG_WARNING);
    yoke_info("dropped");
    yoke_debug("dropped");
    assert_int_equal(heard.count, 0);
    yoke_warn("taken %s", "up");
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.line, "taken up");
    yoke_log_set_level(YOKE_LOG_DEBUG);
    yoke_debug("now");
    assert_int_equal(heard.level, YOKE_LOG_DEBUG);
    yoke_log_set_level(YOKE_LOG_WARNING);
    yoke_log_set_sink(NULL, NULL);
}

static void lines_go_to_stderr(void **state)
{
    (void)state;
    char text[128];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    yoke_warn("one");
    yoke_fail(YOKE_ERR_NO, "two");
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(got > 0);
    text[got] = '\0';
    assert_string_equal(text, "yoke: warning: one\nyoke: error: two\n");
}

static void *fail_here(void *context)
{
    (void)context;
    assert_string_equal(yoke_last_error(), "");
    yoke_fail(YOKE_ERR_NO, "of the other thread");
    return NULL;
}

static void messages_are_per_thread(void **state)
{
    (void)state;
    pthread_t thread;
    yoke_log_set_sink(drop_line, NULL);
    yoke_fail(YOKE_ERR_NO, "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_here, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(yoke_last_error(), "of this thread");
    yoke_log_set_sink(NULL, NULL);
}

/* The level of the environment is read once, so each is asked of a fresh process. */
static void check_environment(const char *value, const char *wanted)
{
    char line[256];
    char said[64] = "";
    snprintf(line, sizeof line, "YOKE_LOG=%s /proc/%ld/exe --log 2>&1", value,
             (long)getpid());
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t got = fread(said, 1, sizeof said - 1, pipe);
    said[got] = '\0';
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(said, wanted);
}

static void the_environment_sets_the_level(void **state)
{
    (void)state;
    check_environment("error", "");
    check_environment("Warning", "yoke: warning: w\n");
    check_environment("info", "yoke: warning: w\nyoke: i\n");
    check_environment("debug", "yoke: warning: w\nyoke: i\nyoke: debug: d\n");
    check_environment("nonsense", "yoke: warning: w\n");
    check_environment("", "yoke: warning: w\n");
}

static int log_each(void)
{
    yoke_warn("w");
    yoke_info("i");
    yoke_debug("d");
    return 0;
}

static void places_are_put_in_front(void **state)
{
    (void)state;
    heard_t heard = {0};
    yoke_log_set_sink(hear, &heard);
    yoke_fail(YOKE_ERR_SYSTEM, "call failed");
    uint64_t count = yoke_fail_count();
    yoke_fail_at("cuda:1");
    assert_string_equal(yoke_last_error(), "cuda:1: call failed");
    yoke_fail_at("cuda:1");
    assert_string_equal(yoke_last_error(), "cuda:1: call failed");
    assert_int_equal(yoke_fail_count(), count);
    assert_int_equal(heard.count, 1);
    yoke_fail(YOKE_ERR_SYSTEM, "nothing on cuda:10");
    yoke_fail_at("cuda:1");
    assert_string_equal(yoke_last_error(), "cuda:1: nothing on cuda:10");
    char text[5000]; /* cut, and not written past */
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    yoke_fail(YOKE_ERR_SYSTEM, "%s", text);
    yoke_fail_at("cuda:1");
    assert_memory_equal(yoke_last_error(), "cuda:1: xxx", 11);
    yoke_log_set_sink(NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--log") == 0)
        return log_each();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_exit_codes),
        cmocka_unit_test(failures_are_kept_and_logged),
        cmocka_unit_test(places_are_put_in_front),
        cmocka_unit_test(levels_drop_lines),
        cmocka_unit_test(lines_go_to_stderr),
        cmocka_unit_test(messages_are_per_thread),
        cmocka_unit_test(the_environment_sets_the_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
