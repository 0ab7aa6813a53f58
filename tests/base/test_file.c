/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/base/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", folder, name);
    return here;
}

static int make_folder(void **state)
{
    quiet(state);
    strcpy(folder, "/tmp/yoke-file-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void check_content(const char *path, const char *wanted)
{
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(yoke_file_read(path, 0, &data, &size), YOKE_OK);
    assert_int_equal(size, strlen(wanted));
    assert_string_equal(data, wanted);
    free(data);
}

static size_t count_entries(void)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

static void reads_and_writes(void **state)
{
    (void)state;
    yoke_text_t big = {0};
    const char *path = in_folder("plain");
    assert_int_equal(yoke_file_write(path, "", 0), YOKE_OK);
    check_content(path, "");
    assert_int_equal(yoke_file_write(path, "one", 3), YOKE_OK);
    check_content(path, "one");
    for (int i = 0; i < 20000; i++)
        yoke_text_add(&big, "0123456789");
    assert_int_equal(yoke_file_write(path, big.data, big.size), YOKE_OK);
    check_content(path, big.data);
    assert_int_equal(count_entries(), 1);
    yoke_text_free(&big);
    unlink(path);
}

static void limits_what_it_reads(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    const char *path = in_folder("limit");
    yoke_file_write(path, "12345", 5);
    assert_int_equal(yoke_file_read(path, 5, &data, &size), YOKE_OK);
    free(data);
    data = NULL;
    assert_int_equal(yoke_file_read(path, 4, &data, &size), YOKE_ERR_BAD_INPUT);
    assert_message("limit: too large: more than 4 bytes");
    assert_false(yoke_file_try_read(path, 4, &data, &size));
    assert_null(data);
    unlink(path);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 7;
    assert_int_equal(yoke_file_read(in_folder("none"), 0, &data, &size),
                     YOKE_ERR_NOT_FOUND);
    assert_message("none: cannot read: No such file");
    assert_int_equal(yoke_file_read(folder, 0, &data, &size), YOKE_ERR_BAD_INPUT);
    assert_message("is a folder");
    assert_int_equal(yoke_file_read("/dev/zero", 0, &data, &size), YOKE_ERR_BAD_INPUT);
    assert_message("/dev/zero: is a device");
    assert_int_equal(yoke_file_read("", 0, &data, &size), YOKE_ERR_NOT_FOUND);
    /* Not readable at offset 0, whoever asks. */
    assert_int_equal(yoke_file_read("/proc/self/mem", 0, &data, &size), YOKE_ERR_SYSTEM);
    assert_message("/proc/self/mem: cannot read: ");
    const char *before = yoke_last_error();
    char *kept = strdup(before);
    assert_false(yoke_file_try_read(in_folder("none"), 0, &data, &size));
    assert_string_equal(yoke_last_error(), kept);
    free(kept);
    assert_null(data);
    assert_int_equal(size, 7);
}

static void refuses_what_may_not_be_read(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    const char *path = in_folder("secret");
    uid_t user = geteuid();
    yoke_file_write(path, "x", 1);
    chmod(path, 0);
    chmod(folder, 0755);
    /* Nothing is closed to root. */
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    yoke_status_t read_status = yoke_file_read(path, 0, &data, &size);
    bool read_why = strstr(yoke_last_error(), "cannot read: Permission denied") != NULL;
    chmod(folder, 0555);
    yoke_status_t write_status = yoke_file_write(in_folder("new"), "x", 1);
    if (user == 0)
        assert_int_equal(seteuid(0), 0);
    chmod(folder, 0755);
    unlink(path);
    assert_int_equal(read_status, YOKE_ERR_SYSTEM);
    assert_true(read_why);
    assert_int_equal(write_status, YOKE_ERR_SYSTEM);
    assert_message("new: cannot write: Permission denied");
}

static void reads_without_a_size(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    assert_true(yoke_file_try_read("/proc/self/status", 0, &data, &size));
    assert_non_null(strstr(data, "Umask:"));
    free(data);
    const char *path = in_folder("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_WRONLY);
        _exit(write(fd, "piped", 5) == 5 ? 0 : 1);
    }
    check_content(path, "piped");
    waitpid(child, NULL, 0);
    unlink(path);
}

static void reads_standard_input(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    int ends[2];
    int saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "typed", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    check_content("-", "typed");
    close(STDIN_FILENO);
    assert_int_equal(yoke_file_read("-", 0, &data, &size), YOKE_ERR_SYSTEM);
    assert_message("standard input: cannot read: ");
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void exists(void **state)
{
    (void)state;
    assert_true(yoke_file_exists("/dev/null"));
    assert_false(yoke_file_exists(folder));
    assert_false(yoke_file_exists(in_folder("none")));
    assert_true(yoke_directory_exists(folder));
    assert_false(yoke_directory_exists("/dev/null"));
    assert_false(yoke_directory_exists(in_folder("none")));
}

static void honours_modes(void **state)
{
    (void)state;
    const char *path = in_folder("mode");
    mode_t old = umask(027);
    assert_int_equal(yoke_file_write(path, "1", 1), YOKE_OK);
    assert_int_equal(mode_of(path), 0640);
    chmod(path, 0600);
    umask(0);
    assert_int_equal(yoke_file_write(path, "2", 1), YOKE_OK);
    assert_int_equal(mode_of(path), 0600);
    umask(old);
    unlink(path);
}

static void follows_links(void **state)
{
    (void)state;
    const char *target = in_folder("target");
    const char *link = in_folder("link");
    struct stat about;
    yoke_file_write(target, "old", 3);
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(yoke_file_write(link, "new", 3), YOKE_OK);
    check_content(target, "new");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    unlink(target);
    /* A link to nothing becomes the file. */
    assert_int_equal(yoke_file_write(link, "file", 4), YOKE_OK);
    check_content(link, "file");
    unlink(link);
}

static void writes_relative_names(void **state)
{
    (void)state;
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(yoke_file_write("bare", "x", 1), YOKE_OK);
    check_content("bare", "x");
    unlink("bare");
    assert_int_equal(chdir(here), 0);
    free(here);
}

static void steps_over_leftovers(void **state)
{
    (void)state;
    char name[64];
    /* The names that the next writes would take, as a crash would leave them. */
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, ".yoke-%ld-%d.tmp", (long)getpid(), i);
        fclose(fopen(in_folder(name), "w"));
    }
    assert_int_equal(yoke_file_write(in_folder("new"), "x", 1), YOKE_OK);
    check_content(in_folder("new"), "x");
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, ".yoke-%ld-%d.tmp", (long)getpid(), i);
        unlink(in_folder(name));
    }
    unlink(in_folder("new"));
}

static void gives_up_on_endless_leftovers(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, ".yoke-%ld-%d.tmp", (long)getpid(), i);
        fclose(fopen(in_folder(name), "w"));
    }
    assert_int_equal(yoke_file_write(in_folder("new"), "x", 1), YOKE_ERR_SYSTEM);
    assert_message("new: cannot write: File exists");
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, ".yoke-%ld-%d.tmp", (long)getpid(), i);
        unlink(in_folder(name));
    }
}

static void failures_leave_what_was_there(void **state)
{
    (void)state;
    char data[8192] = {0};
    struct rlimit old;
    const char *path = in_folder("kept");
    yoke_file_write(path, "kept", 4);
    getrlimit(RLIMIT_FSIZE, &old);
    struct rlimit small = {.rlim_cur = 4096, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    yoke_status_t status = yoke_file_write(path, data, sizeof data);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, YOKE_ERR_SYSTEM);
    assert_message("kept: cannot write: File too large");
    check_content(path, "kept");
    assert_int_equal(count_entries(), 1);
    unlink(path);
}

static void failures_to_write_say_why(void **state)
{
    (void)state;
    assert_int_equal(yoke_file_write(in_folder("no/where"), "x", 1), YOKE_ERR_SYSTEM);
    assert_message("no/where: cannot write: No such file or directory");
    assert_int_equal(yoke_file_write(folder, "x", 1), YOKE_ERR_SYSTEM);
    assert_message("is a folder");
    assert_int_equal(yoke_file_write("", "x", 1), YOKE_ERR_SYSTEM);
    assert_int_equal(yoke_file_write("/dev/full", "x", 1), YOKE_ERR_SYSTEM);
    assert_message("/dev/full: cannot write: No space left");
    assert_int_equal(yoke_file_write("/dev/null", "x", 1), YOKE_OK);
    assert_int_equal(yoke_file_write("/dev/tty/x", "x", 1), YOKE_ERR_SYSTEM);
}

/* A socket's name can be seen but not opened. */
static void failures_to_open_say_why(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    const char *path = in_folder("socket");
    assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
    assert_int_equal(yoke_file_write(path, "x", 1), YOKE_ERR_SYSTEM);
    assert_message("socket: cannot write: ");
    assert_int_equal(yoke_file_read(path, 0, &data, &size), YOKE_ERR_SYSTEM);
    assert_message("socket: cannot read: ");
    unlink(path);
}

/* Writes to standard output with it open on `path`; returns the status. */
static yoke_status_t write_stdout_to(const char *path)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    bool is_file = strcmp(path, "/dev/full") != 0;
    if (is_file)
        printf("before ");
    yoke_status_t status = yoke_file_write("-", "after", 5);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    clearerr(stdout);
    return status;
}

static void writes_standard_output(void **state)
{
    (void)state;
    const char *path = in_folder("out");
    assert_int_equal(write_stdout_to(path), YOKE_OK);
    check_content(path, "before after");
    unlink(path);
    assert_int_equal(write_stdout_to("/dev/full"), YOKE_ERR_SYSTEM);
    assert_message("standard output: cannot write: No space left");
}

/* What a copy of this program in `place` says its data folder is. */
static void check_data_dir(const char *place, const char *command, const char *wanted)
{
    char line[4096];
    char said[512] = "";
    snprintf(line, sizeof line,
             "unset YOKE_DATA_DIR; mkdir -p %s && cp /proc/%ld/exe %s/prog && %s prog "
             "--data-dir",
             place, (long)getpid(), place, command);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    if (fgets(said, sizeof said, pipe) == NULL)
        said[0] = '\0';
    assert_int_equal(pclose(pipe), 0);
    said[strcspn(said, "\n")] = '\0';
    assert_string_equal(said, wanted);
}

static void finds_the_data(void **state)
{
    (void)state;
    char place[256];
    char command[1200];
    char wanted[256];
    char *had = getenv("YOKE_DATA_DIR") == NULL ? NULL : strdup(getenv("YOKE_DATA_DIR"));
    setenv("YOKE_DATA_DIR", "/mine", 1);
    assert_string_equal(yoke_data_dir(), "/mine");
    setenv("YOKE_DATA_DIR", "", 1);
    assert_string_equal(yoke_data_dir(), YOKE_BUILD_DATA_DIR);
    unsetenv("YOKE_DATA_DIR");
    assert_string_equal(yoke_data_dir(), YOKE_BUILD_DATA_DIR);
    if (had != NULL)
        setenv("YOKE_DATA_DIR", had, 1);
    free(had);
    /* Installed without its data, found by PATH from another folder. */
    snprintf(place, sizeof place, "%s/usr/bin", folder);
    snprintf(command, sizeof command, "cd / && PATH=%s", place);
    check_data_dir(place, command, YOKE_INSTALL_DATA_DIR);
    snprintf(wanted, sizeof wanted, "%s/usr/share/yoke", folder);
    snprintf(command, sizeof command, "mkdir -p %s && cd / && PATH=%s", wanted, place);
    check_data_dir(place, command, wanted);
    snprintf(place, sizeof place, "%s/usr/lib/x86_64-linux-gnu", folder);
    snprintf(command, sizeof command, "cd %s && PATH=.", place);
    check_data_dir(place, command, wanted);
}

/* "cmake --install --prefix build/stage" makes an installed tree below the build folder.
 */
static void finds_the_data_of_a_staged_install(void **state)
{
    (void)state;
    char stage[] = YOKE_BUILD_DIR "/yoke-stage-XXXXXX";
    char place[512];
    char wanted[512];
    char command[1200];
    assert_non_null(mkdtemp(stage));
    snprintf(place, sizeof place, "%s/bin", stage);
    snprintf(wanted, sizeof wanted, "%s/share/yoke", stage);
    snprintf(command, sizeof command, "cd / && PATH=%s", place);
    check_data_dir(place, command, YOKE_BUILD_DATA_DIR);
    snprintf(command, sizeof command, "mkdir -p %s && cd / && PATH=%s", wanted, place);
    check_data_dir(place, command, wanted);
    snprintf(command, sizeof command, "rm -rf %s", stage);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--data-dir") == 0)
        return puts(yoke_data_dir()) < 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(limits_what_it_reads),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(refuses_what_may_not_be_read),
        cmocka_unit_test(reads_without_a_size),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(exists),
        cmocka_unit_test(honours_modes),
        cmocka_unit_test(follows_links),
        cmocka_unit_test(writes_relative_names),
        cmocka_unit_test(steps_over_leftovers),
        cmocka_unit_test(gives_up_on_endless_leftovers),
        cmocka_unit_test(failures_leave_what_was_there),
        cmocka_unit_test(failures_to_write_say_why),
        cmocka_unit_test(failures_to_open_say_why),
        cmocka_unit_test(writes_standard_output),
        cmocka_unit_test(finds_the_data),
        cmocka_unit_test(finds_the_data_of_a_staged_install),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
