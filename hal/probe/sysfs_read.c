/* SPDX-License-Identifier: Apache-2.0 */
/* Small reads below a root. A file that is not there is an answer, not an error. */
#include "hal/probe/sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

static bool path_below(char out_path[PATH_MAX], const char *root, const char *format,
                       va_list args)
{
    int used = snprintf(out_path, PATH_MAX, "%s", root);
    if (used < 0 || used >= PATH_MAX)
        return false;
    int more = vsnprintf(out_path + used, (size_t)(PATH_MAX - used), format, args);
    return more >= 0 && more < PATH_MAX - used;
}

static char *read_path(const char *path)
{
    char *data = NULL;
    size_t size = 0;
    return yoke_file_try_read(path, (size_t)1 << 20, &data, &size) ? data : NULL;
}

char *yoke_sysfs_text(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_below(path, root, format, args);
    va_end(args);
    return fits ? read_path(path) : NULL;
}

static char *first_line(char *data)
{
    if (data == NULL)
        return NULL;
    char *begin = data + strspn(data, " \t\r\n");
    size_t size = strcspn(begin, "\n");
    while (size > 0 && (unsigned char)begin[size - 1] <= ' ')
        size--;
    memmove(data, begin, size);
    data[size] = '\0';
    if (size > 0)
        return data;
    free(data);
    return NULL;
}

char *yoke_sysfs_line(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_below(path, root, format, args);
    va_end(args);
    return fits ? first_line(read_path(path)) : NULL;
}

int64_t yoke_sysfs_number(int64_t fallback, const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_below(path, root, format, args);
    va_end(args);
    char *line = fits ? first_line(read_path(path)) : NULL;
    char *end = NULL;
    int64_t value = line != NULL ? strtoll(line, &end, 0) : fallback;
    if (end == line || (end != NULL && *end != '\0'))
        value = fallback;
    free(line);
    return value;
}

static int by_name(const void *a, const void *b)
{
    return yoke_natural_compare(*(char *const *)a, *(char *const *)b);
}

yoke_status_t yoke_sysfs_list(const char *root, const char *folder,
                              yoke_strings_t *out_names)
{
    yoke_strings_t names = {0};
    yoke_status_t status = YOKE_OK;
    struct dirent *entry;
    char *path = yoke_format("%s%s", root, folder);
    if (path == NULL)
        return yoke_fail_memory();
    DIR *dir = opendir(path);
    free(path);
    while (dir != NULL && status == YOKE_OK && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            status = yoke_strings_add(&names, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    if (status != YOKE_OK) {
        yoke_strings_free(&names);
        return status;
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, by_name);
    *out_names = names;
    return YOKE_OK;
}

char *yoke_sysfs_link(const char *root, const char *format, ...)
{
    char path[PATH_MAX], target[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_below(path, root, format, args);
    va_end(args);
    ssize_t size = fits ? readlink(path, target, sizeof target - 1) : -1;
    if (size <= 0)
        return NULL;
    target[size] = '\0';
    const char *slash = strrchr(target, '/');
    return yoke_strdup(slash != NULL ? slash + 1 : target);
}

char *yoke_sysfs_real(const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_below(path, root, format, args);
    va_end(args);
    char *real = fits ? realpath(path, NULL) : NULL;
    char *base = root[0] != '\0' ? realpath(root, NULL) : NULL;
    if (real != NULL && base != NULL && strcmp(base, "/") != 0 &&
        strncmp(real, base, strlen(base)) == 0)
        memmove(real, real + strlen(base), strlen(real + strlen(base)) + 1);
    free(base);
    return real;
}
