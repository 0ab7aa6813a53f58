/* SPDX-License-Identifier: Apache-2.0 */
/* The compile cache: what comes back, what is refused, damage, the bound, processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hal/kernels/cache.h"
#include "yoke/status.h"

static char folder[] = "/tmp/yoke-cache-test-XXXXXX", dir[128];

static yoke_cache_key_t key_of(const char *source)
{
    return (yoke_cache_key_t){"cuda",  "sm_90", "13.0",        "13.1",
                              "-DN=4", source,  strlen(source)};
}

static yoke_status_t get(const char *source, char *out, size_t room)
{
    yoke_cache_key_t key = key_of(source);
    void *data = NULL;
    size_t size = 0;
    yoke_status_t status = yoke_cache_get(&key, &data, &size);
    if (status == YOKE_OK) {
        assert_true(size < room);
        memcpy(out, data, size);
        out[size] = '\0';
    } else {
        assert_true(data == NULL && size == 0);
    }
    free(data);
    return status;
}

static yoke_status_t put(const char *source, const char *data)
{
    yoke_cache_key_t key = key_of(source);
    return yoke_cache_put(&key, data, strlen(data));
}

/* Calls `visit` with the path of every file there; returns how many. */
static size_t each(void (*visit)(const char *path))
{
    size_t count = 0;
    DIR *stream = opendir(dir);
    for (struct dirent *item; stream != NULL && (item = readdir(stream)) != NULL;) {
        char path[512];
        if (item->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, item->d_name);
        count++;
        if (visit != NULL)
            visit(path);
    }
    if (stream != NULL)
        closedir(stream);
    return count;
}

static void remove_file(const char *path)
{
    unlink(path);
}

static int fresh(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "%s/a/b", folder);
    each(remove_file);
    (void)chmod(dir, 0700);
    unsetenv("YOKE_CACHE_SIZE");
    return setenv("YOKE_CACHE_DIR", dir, 1);
}

static void test_round_trip(void **state)
{
    (void)state;
    char out[64];
    struct stat about;
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
    assert_int_equal(put("one", "first"), YOKE_OK);
    assert_int_equal(put("two", "second"), YOKE_OK);
    assert_int_equal(get("one", out, sizeof out), YOKE_OK);
    assert_string_equal(out, "first");
    assert_int_equal(put("one", "again"), YOKE_OK);
    assert_int_equal(get("one", out, sizeof out), YOKE_OK);
    assert_string_equal(out, "again");
    assert_int_equal(get("two", out, sizeof out), YOKE_OK);
    assert_string_equal(out, "second");
    assert_int_equal(stat(dir, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(each(NULL), 2);
}

/* Every part of the key counts, and where one ends. */
static void test_key(void **state)
{
    (void)state;
    const yoke_cache_key_t base = key_of("source");
    yoke_cache_key_t keys[7] = {base, base, base, base, base, base, base};
    void *data = NULL;
    size_t size;
    keys[0].backend = "hip";
    keys[1].architecture = "sm_80";
    keys[2].driver = "13.";
    keys[3].compiler = "";
    keys[4].options = "-DN=5";
    keys[5].source_size = 5;
    keys[6].driver = "13.013.1"; /* the same letters, cut elsewhere */
    keys[6].compiler = "";
    assert_int_equal(yoke_cache_put(&base, "x", 1), YOKE_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(yoke_cache_get(&keys[i], &data, &size), YOKE_ERR_NOT_FOUND);
    assert_null(data);
}

/* An entry of another key under this one's name is not taken. */
static void test_collision(void **state)
{
    (void)state;
    size_t a_size, b_size, entry_size, out_size;
    yoke_cache_key_t a_key = key_of("aa"), b_key = key_of("bb");
    void *a = yoke_cache_key_bytes(&a_key, &a_size);
    void *b = yoke_cache_key_bytes(&b_key, &b_size);
    void *entry = yoke_cache_entry_make(a, a_size, "data", 4, &entry_size);
    const void *out = NULL;
    assert_int_equal(a_size, b_size);
    assert_true(yoke_cache_entry_read(entry, entry_size, a, a_size, &out, &out_size));
    assert_int_equal(out_size, 4);
    assert_memory_equal(out, "data", 4);
    assert_false(yoke_cache_entry_read(entry, entry_size, b, b_size, &out, &out_size));
    /* No byte can change, and none be missing or added, without notice. */
    for (size_t i = 0; i < entry_size; i++) {
        ((unsigned char *)entry)[i] ^= 4;
        assert_false(
            yoke_cache_entry_read(entry, entry_size, a, a_size, &out, &out_size));
        ((unsigned char *)entry)[i] ^= 4;
        assert_false(yoke_cache_entry_read(entry, i, a, a_size, &out, &out_size));
    }
    free(a);
    free(b);
    free(entry);
}

static void damage(const char *path)
{
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "\xff", 1, 50), 1);
    close(file);
}

static void cut(const char *path)
{
    assert_int_equal(truncate(path, 20), 0);
}

static void test_damage(void **state)
{
    (void)state;
    char out[64];
    void (*const ways[])(const char *) = {damage, cut};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(put("one", "first"), YOKE_OK);
        assert_int_equal(each(ways[i]), 1);
        assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
        assert_int_equal(put("one", "made anew"), YOKE_OK);
        assert_int_equal(get("one", out, sizeof out), YOKE_OK);
        assert_string_equal(out, "made anew");
    }
}

static void test_refused(void **state)
{
    (void)state;
    char out[64];
    assert_int_equal(put("one", "first"), YOKE_OK);
    assert_int_equal(chmod(dir, 0720), 0);
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
    assert_int_equal(put("one", "other"), YOKE_ERR_NOT_FOUND);
    assert_int_equal(chmod(dir, 0702), 0);
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(get("one", out, sizeof out), YOKE_OK);
    assert_string_equal(out, "first");
    setenv("YOKE_CACHE_DIR", "off", 1);
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
    assert_int_equal(put("one", "other"), YOKE_ERR_NOT_FOUND);
    /* The default places. */
    unsetenv("YOKE_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    assert_int_equal(put("home", "x"), YOKE_OK);
    char path[256];
    snprintf(path, sizeof path, "%s/.cache/yoke", folder);
    assert_int_equal(access(path, W_OK), 0);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_int_equal(put("xdg", "x"), YOKE_OK);
    snprintf(path, sizeof path, "%s/yoke", folder);
    assert_int_equal(access(path, W_OK), 0);
    assert_int_equal(access("relative", F_OK), -1);
}

static unsigned warnings;
static char warning[256];

static void keep_warning(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    if (level == YOKE_LOG_WARNING) {
        warnings++;
        snprintf(warning, sizeof warning, "%s", line);
    }
}

static void test_bound(void **state)
{
    (void)state;
    yoke_log_set_sink(keep_warning, NULL);
    char out[64], name[16];
    struct timespec pause = {0,
                             12000000}; /* file times are as fine as the kernel's tick */
    setenv("YOKE_CACHE_SIZE", "600B", 1);
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "entry %d", i);
        assert_int_equal(put(name, "data"), YOKE_OK);
        nanosleep(&pause, NULL);
        assert_int_equal(get("entry 0", out, sizeof out), YOKE_OK); /* always in use */
        nanosleep(&pause, NULL);
    }
    assert_int_equal(get("entry 11", out, sizeof out), YOKE_OK);
    assert_int_equal(get("entry 1", out, sizeof out), YOKE_ERR_NOT_FOUND);
    size_t left = each(NULL);
    assert_true(left >= 5 && left < 12);
    setenv("YOKE_CACHE_SIZE", "no size", 1);
    assert_int_equal(put("one more", "data"), YOKE_OK);
    assert_int_equal(each(NULL), left + 1);
    assert_int_equal(put("yet one more", "data"), YOKE_OK);
    assert_int_equal(warnings, 1); /* once */
    assert_non_null(strstr(warning, "YOKE_CACHE_SIZE: 'no size'"));
}

/* Without room nothing is kept, and nothing from before is taken. */
static void test_no_room(void **state)
{
    (void)state;
    char out[64];
    assert_int_equal(put("one", "data"), YOKE_OK);
    setenv("YOKE_CACHE_SIZE", "0", 1);
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
    assert_int_equal(put("two", "data"), YOKE_ERR_NOT_FOUND);
    assert_int_equal(each(NULL), 0);
    unsetenv("YOKE_CACHE_SIZE");
    assert_int_equal(get("one", out, sizeof out), YOKE_ERR_NOT_FOUND);
}

/* Writers and readers at once: a reader gets nothing or one of the two, whole. */
static void work(int which)
{
    static char big[2][20000];
    yoke_cache_key_t key = key_of("shared");
    memset(big[0], 'a', sizeof big[0]);
    memset(big[1], 'b', sizeof big[1]);
    for (int i = 0; i < 100; i++) {
        void *data;
        size_t size;
        if (yoke_cache_put(&key, big[which], sizeof big[0]) != YOKE_OK ||
            yoke_cache_get(&key, &data, &size) != YOKE_OK || size != sizeof big[0] ||
            (memcmp(data, big[0], size) != 0 && memcmp(data, big[1], size) != 0))
            _exit(1);
        free(data);
    }
    _exit(0);
}

static void test_processes(void **state)
{
    (void)state;
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0)
            work(i % 2);
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(each(NULL), 1);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, fresh),
        cmocka_unit_test_setup(test_key, fresh),
        cmocka_unit_test_setup(test_collision, fresh),
        cmocka_unit_test_setup(test_damage, fresh),
        cmocka_unit_test_setup(test_bound, fresh),
        cmocka_unit_test_setup(test_no_room, fresh),
        cmocka_unit_test_setup(test_processes, fresh),
        cmocka_unit_test_setup(test_refused, fresh),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0 ? 1 : failed;
}
