/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out, and where the data files lie. */
#include "base/file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

#define DEFAULT_LIMIT ((size_t)64 << 20)

#ifndef YOKE_INSTALL_DATA_DIR
#define YOKE_INSTALL_DATA_DIR "/usr/share/yoke"
#endif

/* Why a read failed; the text is for the message, so that a quiet read makes none. */
typedef struct trouble {
    yoke_status_t status;
    int error; /* errno, or 0 */
    const char *what;
    bool too_large;
} trouble_t;

static trouble_t trouble_errno(const char *what)
{
    int error = errno;
    bool absent = error == ENOENT || error == ENOTDIR;
    yoke_status_t status = absent ? YOKE_ERR_NOT_FOUND : YOKE_ERR_SYSTEM;
    return (trouble_t){.status = status, .error = error, .what = what};
}

static trouble_t trouble_kind(const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        return (trouble_t){.status = YOKE_ERR_BAD_INPUT,
                           .what = "is a folder, not a file"};
    if (S_ISCHR(about->st_mode) || S_ISBLK(about->st_mode))
        return (trouble_t){.status = YOKE_ERR_BAD_INPUT,
                           .what = "is a device, not a file"};
    return (trouble_t){.status = YOKE_OK};
}

static trouble_t open_for_read(const char *path, int *out_fd)
{
    struct stat about;
    /* Before open(): to open some device files already does something. */
    if (stat(path, &about) != 0)
        return trouble_errno("cannot read");
    trouble_t trouble = trouble_kind(&about);
    if (trouble.status != YOKE_OK)
        return trouble;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return trouble_errno("cannot read");
    *out_fd = fd;
    return trouble;
}

/* To the end of the file, never by its size: that is 0 in procfs and 4096 in sysfs. */
static trouble_t read_all(int fd, size_t limit, yoke_text_t *out)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return trouble_errno("cannot read");
        if ((size_t)got > limit - out->size)
            return (trouble_t){.status = YOKE_ERR_BAD_INPUT, .too_large = true};
        yoke_text_add_bytes(out, chunk, (size_t)got);
        if (out->failed)
            return (trouble_t){.status = YOKE_ERR_NO_MEMORY};
        if (got == 0)
            return (trouble_t){.status = YOKE_OK};
    }
}

static trouble_t read_path(const char *path, size_t limit, char **out_data,
                           size_t *out_size)
{
    yoke_text_t text = {0};
    int fd = STDIN_FILENO;
    trouble_t trouble = {.status = YOKE_OK};
    bool is_stdin = strcmp(path, "-") == 0;
    if (!is_stdin)
        trouble = open_for_read(path, &fd);
    if (trouble.status != YOKE_OK)
        return trouble;
    trouble = read_all(fd, limit, &text);
    if (!is_stdin)
        close(fd);
    if (trouble.status != YOKE_OK) {
        yoke_text_free(&text);
        return trouble;
    }
    *out_data = text.data;
    *out_size = text.size;
    return trouble;
}

bool yoke_file_try_read(const char *path, size_t limit, char **out_data, size_t *out_size)
{
    trouble_t trouble =
        read_path(path, limit == 0 ? DEFAULT_LIMIT : limit, out_data, out_size);
    return trouble.status == YOKE_OK;
}

yoke_status_t yoke_file_read(const char *path, size_t limit, char **out_data,
                             size_t *out_size)
{
    if (limit == 0)
        limit = DEFAULT_LIMIT;
    trouble_t trouble = read_path(path, limit, out_data, out_size);
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (trouble.status == YOKE_OK)
        return YOKE_OK;
    if (trouble.status == YOKE_ERR_NO_MEMORY)
        return yoke_fail_memory();
    if (trouble.error != 0)
        return yoke_fail(trouble.status, "%s: %s: %s", name, trouble.what,
                         strerror(trouble.error));
    if (trouble.too_large)
        return yoke_fail(trouble.status, "%s: too large: more than %zu bytes", name,
                         limit);
    return yoke_fail(trouble.status, "%s: %s", name, trouble.what);
}

bool yoke_file_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

bool yoke_directory_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static yoke_status_t write_failed(const char *path)
{
    return yoke_fail(YOKE_ERR_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

/* Through stdio, so that it stays in order with what was printed before. */
static yoke_status_t write_stdout(const void *data, size_t size)
{
    errno = 0;
    if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
        return write_failed("standard output");
    return YOKE_OK;
}

/* A pipe or device ("-o /dev/stdout", ">(gzip)") has no name to rename over. */
static yoke_status_t write_in_place(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return write_failed(path);
    bool done = write_all(fd, data, size);
    int error = errno;
    if (close(fd) != 0 && done) {
        done = false;
        error = errno;
    }
    errno = error;
    return done ? YOKE_OK : write_failed(path);
}

static bool sync_file(int fd)
{
    /* Some file systems cannot sync; that is no failure to write. */
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

/* open() and not mkstemp(): the kernel applies the umask and the folder's default ACL,
 * which a process with threads cannot do by itself. */
static int open_temporary(const char *target, char **out_name)
{
    static _Atomic unsigned counter;
    const char *slash = strrchr(target, '/');
    int folder = slash == NULL ? 0 : (int)(slash - target + 1);
    for (int attempt = 0; attempt < 100; attempt++) {
        char *name = yoke_format("%.*s.yoke-%ld-%u.tmp", folder, target, (long)getpid(),
                                 counter++);
        if (name == NULL) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        if (fd >= 0) {
            *out_name = name;
            return fd;
        }
        free(name);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static bool fill_and_close(int fd, const struct stat *old, const void *data, size_t size)
{
    /* A file that its owner closed to others stays closed. */
    bool done = old == NULL || fchmod(fd, old->st_mode & 0777) == 0;
    done = done && write_all(fd, data, size) && sync_file(fd);
    int error = errno;
    bool closed = close(fd) == 0;
    if (!done)
        errno = error;
    return done && closed;
}

static yoke_status_t write_and_rename(const char *target, const struct stat *old,
                                      const void *data, size_t size)
{
    char *temporary = NULL;
    int fd = open_temporary(target, &temporary);
    if (fd < 0)
        return write_failed(target);
    yoke_status_t status = YOKE_OK;
    if (!fill_and_close(fd, old, data, size) || rename(temporary, target) != 0) {
        status = write_failed(target);
        unlink(temporary);
    }
    free(temporary);
    return status;
}

yoke_status_t yoke_file_write(const char *path, const void *data, size_t size)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return write_stdout(data, size);
    if (stat(path, &about) != 0)
        return write_and_rename(path, NULL, data, size);
    if (S_ISDIR(about.st_mode))
        return yoke_fail(YOKE_ERR_SYSTEM, "%s: cannot write: is a folder", path);
    if (!S_ISREG(about.st_mode))
        return write_in_place(path, data, size);
    /* The file behind a symbolic link is replaced, not the link. */
    char *target = realpath(path, NULL);
    if (target == NULL)
        return write_failed(path);
    yoke_status_t status = write_and_rename(target, &about, data, size);
    free(target);
    return status;
}

/* Path of the library or executable that holds this code; NULL if it cannot be told. */
static char *own_path(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1((void *)(size_t)own_path, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return NULL;
    /* For the executable, dladdr() only repeats argv[0], which may be found by PATH. */
    bool is_executable = map == NULL || map->l_name == NULL || map->l_name[0] == '\0';
    return realpath(is_executable ? "/proc/self/exe" : map->l_name, NULL);
}

static bool is_in_build(const char *path)
{
#ifdef YOKE_BUILD_DIR
    char *build = realpath(YOKE_BUILD_DIR, NULL);
    size_t length = build == NULL ? 0 : strlen(build);
    bool inside = length > 0 && strncmp(path, build, length) == 0 && path[length] == '/';
    free(build);
    return inside;
#else
    (void)path;
    return false;
#endif
}

/* share/yoke beside bin/ or lib/, or one level up for lib/x86_64-linux-gnu/. */
static char *beside(const char *own, const char *way)
{
    const char *slash = strrchr(own, '/');
    char *guess = yoke_format("%.*s/%s", (int)(slash - own), own, way);
    char *found = guess == NULL ? NULL : realpath(guess, NULL);
    free(guess);
    bool usable = found != NULL && yoke_directory_exists(found);
    /* What runs from the build folder must not meet the data of an installed version. */
    if (usable && is_in_build(own) && !is_in_build(found))
        usable = false;
    if (usable)
        return found;
    free(found);
    return NULL;
}

static char *found_data_dir;

static void find_data_dir(void)
{
    char *own = own_path();
    if (own == NULL)
        return;
    found_data_dir = beside(own, "../share/yoke");
    if (found_data_dir == NULL)
        found_data_dir = beside(own, "../../share/yoke");
#ifdef YOKE_BUILD_DATA_DIR
    if (found_data_dir == NULL && is_in_build(own))
        found_data_dir = yoke_strdup(YOKE_BUILD_DATA_DIR);
#endif
    free(own);
}

const char *yoke_data_dir(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *wanted = getenv("YOKE_DATA_DIR");
    if (wanted != NULL && wanted[0] != '\0')
        return wanted;
    pthread_once(&once, find_data_dir);
    return found_data_dir != NULL ? found_data_dir : YOKE_INSTALL_DATA_DIR;
}

static int compare_names(const void *a, const void *b)
{
    return yoke_natural_compare(*(char *const *)a, *(char *const *)b);
}

yoke_status_t yoke_data_names(const char *folder, yoke_strings_t *out_names)
{
    yoke_status_t status = YOKE_OK;
    struct dirent *entry;
    size_t first = out_names->count;
    char *path = yoke_format("%s/%s", yoke_data_dir(), folder);
    if (path == NULL)
        return yoke_fail_memory();
    DIR *directory = opendir(path);
    free(path);
    while (status == YOKE_OK && directory != NULL &&
           (entry = readdir(directory)) != NULL) {
        size_t size = strlen(entry->d_name);
        if (size <= 5 || strcmp(entry->d_name + size - 5, ".json") != 0)
            continue;
        entry->d_name[size - 5] = '\0';
        status = yoke_strings_add(out_names, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    if (out_names->count > first)
        qsort(out_names->items + first, out_names->count - first,
              sizeof *out_names->items, compare_names);
    return status;
}
